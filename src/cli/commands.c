/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/command.h"

const struct option cli_globals[] = {
    { .name = "--workspace", .value = "DIR", .summary = "as if started in DIR" },
    { .name = "--json", .summary = "for programs: one JSON array of tagged events on stdout" },
    { .name = "--quiet", .letter = "-q", .summary = "errors only, no progress line" },
    { .name = "--verbose", .letter = "-v", .summary = "say on stderr what is done" },
    { .name = "--help", .letter = "-h", .summary = "this text" },
    { 0 },
};

static const struct option tools_options[] = {
    { .name = "--query", .value = "Q", .summary = "ranked search over names and descriptions" },
    { .name = "--full", .summary = "TypeScript declarations instead of one line a tool" },
    { 0 },
};

static const struct option call_options[] = {
    { .name = "--json",
      .value = "'{..}'",
      .summary = "arguments as a JSON object (a --json without one is the global option)",
      .object_only = true },
    { 0 },
};

static const struct option trust_options[] = {
    { .name = "--remove", .summary = "take the consent back" },
    { .name = "--show",
      .summary = "only show what would run; status 1 when consent is missing" },
    { .name = "--yes", .letter = "-y", .summary = "do not ask" },
    { 0 },
};

/* clang-format off */
const struct command cli_commands[] = {
    { .name = "tools", .summary = "list servers and tools of this workspace",
      .usage = "tools [SERVER...] [--query Q] [--full]",
      .help = "Prints what an agent gets from list_tools: an index of all tools; with SERVERs or --full\n"
              "their TypeScript declarations; with --query the tools that fit best. A server whose tools\n"
              "are not known yet is started for this.\n",
      .example = "  symposium tools\n"
                 "  symposium tools fs\n"
                 "  symposium tools --query \"read a file\"\n",
      .options = tools_options, .run = cmd_tools },
    { .name = "call", .summary = "call one tool of one server",
      .usage = "call SERVER.TOOL [key=value...] [--json '{..}']",
      .help = "Each value is converted to the type that the tool's schema gives its key: number, boolean,\n"
              "and JSON for objects and arrays; anything else stays a string. --json '{..}' gives whole\n"
              "arguments, key=value pairs are added to them. The tool's name may be written as in scripts\n"
              "(readFile for read_file).\n"
              "\n"
              "A text result is printed as text, anything else as JSON: one line, or indented on a\n"
              "terminal. An error result goes to stderr, exit status 1. A value that does not convert is\n"
              "exit status 2.\n",
      .example = "  symposium call fs.list_directory path=notes\n"
                 "  symposium call fs.edit_file path=a.txt dryRun=true 'edits=[{\"oldText\":\"a\",\"newText\":\"b\"}]'\n"
                 "  symposium call fs.read_text_file --json '{\"path\":\"notes/a.md\",\"head\":5}'\n",
      .options = call_options, .run = cmd_call },
    { .name = "exec", .summary = "run a script over all tools, as an agent does",
      .usage = "exec FILE|-",
      .help = "The same engine as execute: plain JavaScript in a sandbox, each server a global. The value\n"
              "of the last expression, or of a top-level return, goes to stdout as JSON; console output,\n"
              "notes and errors go to stderr. With -v a line tells how many bytes of tool results stayed in\n"
              "the sandbox. Exit status 1 on an error result. `-` reads the script from stdin.\n",
      .example = "  symposium exec todos.js\n"
                 "  echo 'await fs.list_directory({path: \"notes\"})' | symposium exec -\n",
      .words = WORD_FILE, .run = cmd_exec },
    { .name = "trust", .summary = "let this workspace's own manifests run programs",
      .usage = "trust [--show|--remove] [--yes]",
      .help = "A fresh clone may hold a SYMPOSIUM.toml that starts servers or runs commands. Nothing of\n"
              "it runs before you agreed: on a terminal this shows what would run, and asks; elsewhere\n"
              "running it is the consent. It is for these very bytes of the manifest; a changed one asks\n"
              "again.\n",
      .example = "  symposium trust --show\n"
                 "  symposium trust\n"
                 "  symposium trust --remove\n",
      .options = trust_options, .run = cmd_trust },
    { .name = "doctor", .summary = "show what was found, what works, and what to do about the rest",
      .usage = "doctor",
      .help = "Workspace, configuration, package managers, plugins with the reason for their state, the\n"
              "script sandbox, and every server: each is started and lists its tools. Exit status 1 when\n"
              "something needs doing.\n",
      .example = "  symposium doctor\n"
                 "  symposium doctor --json\n",
      .run = cmd_doctor },
    { .name = "completion", .summary = "print shell completion for bash or zsh",
      .usage = "completion bash|zsh",
      .example = "  source <(symposium completion bash)      # in ~/.bashrc\n"
                 "  source <(symposium completion zsh)       # in ~/.zshrc, after compinit\n",
      .words = WORD_SHELL, .run = cmd_completion },
    { .name = "help", .summary = "say more about a command",
      .usage = "help [COMMAND]",
      .example = "  symposium help call\n",
      .words = WORD_COMMAND, .run = cmd_help },
    { .name = "mcp-serve", .summary = "speak MCP on stdin and stdout: list_tools and execute", .for_agents = true,
      .usage = "mcp-serve",
      .help = "The one server that agents are configured with; it stands in front of all MCP servers that\n"
              "apply to the workspace it is started in.\n",
      .example = "  claude mcp add symposium -- symposium mcp-serve\n",
      .run = cmd_mcp_serve },
    { 0 },
};
/* clang-format on */
