/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/command.h"

const struct option cli_globals[] = {
    { .name = "--workspace", .value = "DIR", .summary = "as if started in DIR" },
    { .name = "--json", .summary = "for programs: one JSON array of tagged events on stdout" },
    { .name = "--update",
      .value = "LEVEL",
      .summary = "none, check or fetch: what may be asked of registries" },
    { .name = "--quiet", .letter = "-q", .summary = "errors only, no progress line" },
    { .name = "--verbose", .letter = "-v", .summary = "say on stderr what is done" },
    { .name = "--help", .letter = "-h", .summary = "this text" },
    { 0 },
};

const struct option cli_server_globals[] = {
    { .name = "--help", .letter = "-h", .summary = "this text" },
    { .name = "--version", .letter = "-V", .summary = "version of symposium" },
    { 0 },
};

static const struct option init_options[] = {
    { .name = "--add-agent", .value = "NAME", .summary = "configure this agent; repeatable" },
    { .name = "--remove-agent", .value = "NAME", .summary = "no longer; repeatable" },
    { .name = "--hook-scope",
      .value = "SCOPE",
      .summary = "global or project: where hooks and entries are written" },
    { 0 },
};

static const struct option sync_options[] = {
    { .name = "--agent", .value = "NAME", .summary = "touch only this agent; repeatable" },
    { .name = "--dry-run", .summary = "write nothing, show a diff of each file" },
    { 0 },
};

static const struct option use_options[] = {
    { .name = "--global", .summary = "in every workspace, not only in this one" },
    { .name = "--remove", .summary = "no longer" },
    { 0 },
};

static const struct option plugin_options[] = {
    { .name = "--check-names", .summary = "validate: look up all dependencies named, online" },
    { 0 },
};

static const struct option package_info_options[] = {
    { .name = "--version", .value = "REQ", .summary = "a version or a requirement" },
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
      .summary = "arguments as an object (without one: as below)",
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

static const struct option import_options[] = {
    { .name = "--dry-run", .summary = "only show what would be moved" },
    { .name = "--yes", .letter = "-y", .summary = "do not ask" },
    { .name = "--no-check", .summary = "do not start each server once" },
    { .name = "--undo", .summary = "bring back what was before the last import" },
    { 0 },
};

static const struct option filesystem_options[] = {
    { .name = "--allow-root", .summary = "admit / as a directory" },
    { 0 },
};

static const struct option fetch_options[] = {
    { .name = "--ignore-robots-txt", .summary = "fetch what a site's robots.txt forbids too" },
    { .name = "--respect-robots-txt", .summary = "the default; the last of the two counts" },
    { .name = "--user-agent", .value = "UA", .summary = "instead of Symposium's own" },
    { .name = "--proxy-url",
      .value = "URL",
      .summary = "use this proxy; the environment's never" },
    { .name = "--allow-private-network",
      .summary = "admit private, loopback and link-local addresses" },
    { .name = "--allow-host",
      .value = "HOST[:PORT]",
      .summary = "admit this host, wherever it is; repeatable" },
    { 0 },
};

static const struct option memory_options[] = {
    { .name = "--memory-file", .value = "PATH", .summary = "instead of memory.jsonl" },
    { 0 },
};

static const struct option shell_options[] = {
    { .name = "--sandbox", .summary = "write only in the directories, no network" },
    { .name = "--allow-root", .summary = "admit / as a directory" },
    { 0 },
};

static const struct option task_options[] = {
    { .name = "--allow", .value = "KIND,...", .summary = "spawn: what the agent may do" },
    { .name = "--model", .value = "M", .summary = "spawn: model of the agent" },
    { .name = "--effort", .value = "E", .summary = "spawn: how hard it thinks" },
    { .name = "--option",
      .value = "NAME=VALUE",
      .summary = "spawn: another option of the agent; repeatable" },
    { .name = "--resume", .value = "SESSION", .summary = "spawn: go on with this session" },
    { .name = "--worktree", .summary = "spawn: work in a new git worktree" },
    { .name = "--deadline", .value = "SECONDS", .summary = "spawn: end it then" },
    { .name = "--priority",
      .value = "N",
      .summary = "spawn: -10 to 10, when it waits for room" },
    { .name = "--label", .value = "L", .summary = "spawn: repeatable; ls: only those with it" },
    { .name = "--initiator", .value = "ID", .summary = "spawn: who asks; ls: only theirs" },
    { .name = "--executor", .value = "ID", .summary = "spawn: who works" },
    { .name = "--parent", .value = "ID", .summary = "spawn: the task that it belongs to" },
    { .name = "--key", .value = "KEY", .summary = "spawn: once for this key and initiator" },
    { .name = "--max-output", .value = "BYTES", .summary = "spawn: of events that are kept" },
    { .name = "--follow", .summary = "spawn: show its events until it ends" },
    { .name = "--wait", .summary = "spawn: the same without events" },
    { .name = "--after", .value = "SEQ", .summary = "follow: only what came after this event" },
    { .name = "--any", .summary = "wait: for one of them" },
    { .name = "--timeout", .value = "SECONDS", .summary = "wait: no longer than this" },
    { .name = "--status", .value = "S", .summary = "ls: only those" },
    { .name = "--kind", .value = "K", .summary = "ls: acp, cli or agent" },
    { .name = "--here", .summary = "ls: only those of this directory" },
    { .name = "--limit", .value = "N", .summary = "ls: at most so many" },
    { .name = "--note", .value = "TEXT", .summary = "resolve: why" },
    { .name = "--reason", .value = "TEXT", .summary = "cancel: why" },
    { 0 },
};

static const struct option skills_options[] = {
    { .name = "--user", .summary = "the skills of the user's home too" },
    { 0 },
};

/* ---- texts, at most 80 columns ---- */

static const char init_help[] =
    "Chooses the agents that symposium is written into. On a terminal it asks, with\n"
    "those found here preselected; elsewhere it takes all that are found, unless\n"
    "agents are configured already. With the options it asks nothing. Agents' files\n"
    "are written at once where the scope is global; other settings stay.\n";

static const char init_example[] = "  symposium init\n"
                                   "  symposium init --add-agent claude --add-agent codex\n"
                                   "  symposium init --remove-agent codex\n";

static const char sync_help[] =
    "Brings this workspace up to date: registries and what they miss, plugins that\n"
    "apply, one MCP entry and the hooks in each configured agent's own files, and the\n"
    "skills that agents read. What else those files hold stays as it is. What was\n"
    "never fetched is, unless --update none; --update check looks for newer versions,\n"
    "fetch gets all anew. A package manager that fails is a line, not a failure.\n"
    "Exit status 1 when a file could not be written.\n";

static const char sync_example[] = "  symposium sync\n"
                                   "  symposium sync --dry-run\n"
                                   "  symposium sync --agent claude --update check\n";

static const char use_help[] =
    "Enables a plugin that does not apply by itself: one embedded in a package, or\n"
    "one of a registry that names no dependency. NAME may be 'pm:name'. It counts in\n"
    "this workspace unless --global. [plugins] disable of config.toml beats it.\n";

static const char use_example[] = "  symposium use widget\n"
                                  "  symposium use npm:@scope/tool --global\n"
                                  "  symposium use widget --remove\n";

static const char status_help[] =
    "Workspace, agents, registries, and every plugin with its state and the reason:\n"
    "active, dormant, candidate (waits for your word), declined, gated, error.\n"
    "'symposium doctor' says what does not work.\n";

static const char search_help[] =
    "Plugins of the registries by name, and packages of all package managers;\n"
    "with SOURCE: before the words those of that registry or package manager.\n"
    "With --update none only the registries on this machine.\n";

static const char plugin_help[] =
    "sync [REGISTRY]   fetch the git registries anew, or that one\n"
    "list              all plugins, by registry\n"
    "show NAME         what one holds, and whether it applies here\n"
    "validate PATH     check a plugin, a skill or a whole registry on disk; exit\n"
    "                  status 0 when all of it is right\n";

static const char plugin_example[] = "  symposium plugin list\n"
                                     "  symposium plugin show widget\n"
                                     "  symposium plugin validate ~/my-registry\n";

static const char package_info_help[] =
    "Where the source of a package is on this machine, fetched if it is not there,\n"
    "and the skills in it. Of a dependency the version of this workspace counts.\n";

static const char package_info_example[] =
    "  symposium package-info serde\n"
    "  symposium package-info npm:left-pad --version 1\n";

static const char tools_help[] =
    "Prints what an agent gets from list_tools: an index of all tools; with SERVERs\n"
    "or --full their TypeScript declarations; with --query the tools that fit best.\n"
    "A server whose tools are not known yet is started for this.\n";

static const char tools_example[] = "  symposium tools\n"
                                    "  symposium tools fs\n"
                                    "  symposium tools --query \"read a file\"\n";

static const char call_help[] =
    "Each value is converted to the type that the tool's schema gives its key:\n"
    "number, boolean, and JSON for objects and arrays; anything else stays a string.\n"
    "--json '{..}' gives whole arguments, key=value pairs are added to them. The\n"
    "tool's name may be written as in scripts (readFile for read_file).\n"
    "\n"
    "A text result is printed as text, anything else as JSON: one line, or indented\n"
    "on a terminal. An error result goes to stderr, exit status 1. A value that does\n"
    "not convert is exit status 2.\n";

static const char call_example[] =
    "  symposium call fs.list_directory path=notes\n"
    "  symposium call fs.read_text_file path=notes/a.md head=5\n"
    "  symposium call fs.read_text_file --json '{\"path\":\"notes/a.md\",\"head\":5}'\n";

static const char exec_help[] =
    "The same engine as execute: plain JavaScript in a sandbox, each server a global.\n"
    "The value of the last expression, or of a top-level return, goes to stdout as\n"
    "JSON; console output, notes and errors go to stderr. With -v a line tells how\n"
    "many bytes of tool results stayed in the sandbox. Exit status 1 on an error\n"
    "result. `-` reads the script from stdin.\n";

static const char exec_example[] =
    "  symposium exec todos.js\n"
    "  echo 'await fs.list_directory({path: \"notes\"})' | symposium exec -\n";

static const char import_help[] =
    "Shows the MCP servers that stand in agents' own files, and moves them into a\n"
    "plugin of yours (those of a project's files into its SYMPOSIUM.toml), so that\n"
    "every agent has them through symposium. Each is started once first; one that\n"
    "does not start stays, as do remote ones, disabled ones, and what only its agent\n"
    "understands. Nothing is changed without your yes; --undo brings all files back.\n";

static const char import_example[] = "  symposium import --dry-run\n"
                                     "  symposium import\n"
                                     "  symposium import --undo\n";

static const char trust_help[] =
    "A fresh clone may hold a SYMPOSIUM.toml that starts servers or runs commands.\n"
    "Nothing of it runs before you agreed: on a terminal this shows what would run,\n"
    "and asks; elsewhere running it is the consent. It is for these very bytes of the\n"
    "manifest; a changed one asks again.\n";

static const char trust_example[] = "  symposium trust --show\n"
                                    "  symposium trust\n"
                                    "  symposium trust --remove\n";

static const char doctor_help[] =
    "Workspace, configuration, package managers, plugins with the reason for their\n"
    "state, the script sandbox, and every server: each is started and lists its\n"
    "tools. Exit status 1 when something needs doing.\n";

static const char doctor_example[] = "  symposium doctor\n"
                                     "  symposium doctor --json\n";

static const char task_help[] =
    "spawn AGENT PROMPT  start an agent on it (- reads the prompt from stdin); prints\n"
    "                    the task's id. It runs on when this command ends\n"
    "show ID             one task, with the agent's last message (also: get)\n"
    "follow ID           its events, until it ends (also: events)\n"
    "wait ID...          until all of them have ended\n"
    "ls                  the tasks of this user, newest first (also: list)\n"
    "resolve ID WORD     your judgement: accepted, rejected, needs_followup or\n"
    "                    superseded\n"
    "cancel ID           end it, with all of its processes\n"
    "\n"
    "The agent may do only what --allow names: read, edit, delete, move, search,\n"
    "execute, think, fetch, other. --workspace is where it works, else the current\n"
    "directory. With --follow, --wait, and for follow and wait, the exit status tells\n"
    "how it ended: 0 succeeded, 1 failed, 3 cancelled. Ctrl-C ends the view alone.\n";

static const char task_example[] =
    "  symposium task spawn qwen \"Fix the test\" --allow edit,execute --follow\n"
    "  symposium task ls --here\n"
    "  symposium task resolve ID accepted --note \"works\"\n";

static const char completion_example[] =
    "  source <(symposium completion bash)      # in ~/.bashrc\n"
    "  source <(symposium completion zsh)       # in ~/.zshrc, after compinit\n";

static const char mcp_serve_help[] =
    "The one server that agents are configured with; it stands in front of all MCP\n"
    "servers that apply to the workspace it is started in.\n";

static const char hook_help[] =
    "What 'symposium init' and 'sync' put into an agent's hooks: the hooks of all\n"
    "plugins that apply, their answers as one. It reads what the agent says on stdin\n"
    "and answers in the agent's own form.\n";

static const char filesystem_help[] =
    "14 tools for files and directories in the DIRs and nowhere else; without a DIR\n"
    "in the current directory, or in the roots that the client names.\n";

static const char fetch_help[] =
    "The tool and the prompt fetch download a URL and return a web page as Markdown.\n"
    "The tool obeys robots.txt; both refuse addresses of private networks unless\n"
    "--allow-private-network or --allow-host admit them.\n";

static const char memory_help[] =
    "Entities, relations and observations: a knowledge graph in one file of JSON\n"
    "lines, which other memory servers read as well. The file is --memory-file, else\n"
    "MEMORY_FILE_PATH, else memory.jsonl in the current directory.\n";

static const char shell_help[] =
    "The tool execute_command runs one program with its arguments, no shell, started\n"
    "in the DIRs. That is no sandbox: programs do what you may do, unless --sandbox\n"
    "keeps them from writing elsewhere and from the network.\n";

static const char symm_help[] =
    "Seven tools hand work to other coding agents, watch it and record a judgement;\n"
    "all agents of a user share one list of tasks. At the end of input the tasks of\n"
    "this process are ended. Started as 'symm-mcp' the program is this server.\n";

static const char skills_help[] =
    "The skills of the workspace DIR (the current directory when absent), and with\n"
    "--user those of your home. A skill is loaded when it is activated.\n";

static const char agents_help[] =
    "The agents that the workspace DIR (the current directory when absent) defines in\n"
    ".agents/agents, .claude/agents, .codex/agents and .opencode/agents. Each runs\n"
    "against the model provider of its file, with the credential from the variable\n"
    "that the file names.\n";

/* ---- the table ---- */

const struct command cli_commands[] = {
    { .name = "init",
      .summary = "choose the agents that get symposium",
      .usage = "init [OPTION...]",
      .help = init_help,
      .example = init_example,
      .options = init_options,
      .run = cmd_init },
    { .name = "sync",
      .summary = "bring agents' files and skills up to date with this workspace",
      .usage = "sync [--agent NAME] [--dry-run] [--update none|check|fetch]",
      .help = sync_help,
      .example = sync_example,
      .options = sync_options,
      .run = cmd_sync },
    { .name = "import",
      .summary = "move MCP servers from agents' files into a plugin",
      .usage = "import [--dry-run] [--yes] [--no-check] | import --undo",
      .help = import_help,
      .example = import_example,
      .options = import_options,
      .run = cmd_import },
    { .name = "use",
      .summary = "enable a plugin, here or everywhere",
      .usage = "use NAME [--global] [--remove]",
      .help = use_help,
      .example = use_example,
      .options = use_options,
      .run = cmd_use },
    { .name = "status",
      .summary = "list plugins with their state and the reason",
      .usage = "status",
      .help = status_help,
      .example = "  symposium status\n",
      .run = cmd_status },
    { .name = "search",
      .summary = "find plugins and packages by name",
      .usage = "search [SOURCE:]WORD...",
      .help = search_help,
      .example = "  symposium search widget\n"
                 "  symposium search npm:left-pad\n",
      .run = cmd_search },
    { .name = "plugin",
      .summary = "fetch, list, show and check plugins",
      .usage = "plugin sync [REGISTRY] | list | show NAME | validate PATH",
      .help = plugin_help,
      .example = plugin_example,
      .options = plugin_options,
      .words = WORD_ACTION,
      .actions = "sync list show validate",
      .run = cmd_plugin },
    { .name = "package-info",
      .alias = "crate-info",
      .summary = "where a package's source is, and its skills",
      .usage = "package-info NAME [--version REQ]",
      .help = package_info_help,
      .example = package_info_example,
      .options = package_info_options,
      .run = cmd_package_info },
    { .name = "tools",
      .summary = "list servers and tools of this workspace",
      .usage = "tools [SERVER...] [--query Q] [--full]",
      .help = tools_help,
      .example = tools_example,
      .options = tools_options,
      .run = cmd_tools },
    { .name = "call",
      .summary = "call one tool of one server",
      .usage = "call SERVER.TOOL [key=value...] [--json '{..}']",
      .help = call_help,
      .example = call_example,
      .options = call_options,
      .run = cmd_call },
    { .name = "exec",
      .summary = "run a script over all tools, as an agent does",
      .usage = "exec FILE|-",
      .help = exec_help,
      .example = exec_example,
      .words = WORD_FILE,
      .run = cmd_exec },
    { .name = "task",
      .summary = "hand work to another agent, watch it, judge it",
      .usage = "task spawn AGENT PROMPT | ls | ACTION ID... [OPTION...]",
      .help = task_help,
      .example = task_example,
      .options = task_options,
      .words = WORD_ACTION,
      .actions = "spawn show follow wait ls resolve cancel",
      .run = cmd_task },
    { .name = "trust",
      .summary = "let this workspace's own manifests run programs",
      .usage = "trust [--show|--remove] [--yes]",
      .help = trust_help,
      .example = trust_example,
      .options = trust_options,
      .run = cmd_trust },
    { .name = "doctor",
      .summary = "show what was found, what works, and what to do",
      .usage = "doctor",
      .help = doctor_help,
      .example = doctor_example,
      .run = cmd_doctor },
    { .name = "completion",
      .summary = "print shell completion for bash or zsh",
      .usage = "completion bash|zsh",
      .example = completion_example,
      .words = WORD_SHELL,
      .run = cmd_completion },
    { .name = "help",
      .summary = "say more about a command",
      .usage = "help [COMMAND]",
      .example = "  symposium help call\n",
      .words = WORD_COMMAND,
      .run = cmd_help },
    { .name = "mcp-serve",
      .summary = "speak MCP on stdin and stdout: list_tools and execute",
      .for_agents = true,
      .usage = "mcp-serve",
      .help = mcp_serve_help,
      .example = "  claude mcp add symposium -- symposium mcp-serve\n",
      .run = cmd_mcp_serve },
    { .name = "symm",
      .summary = "speak MCP on stdin and stdout: hand work to other agents",
      .for_agents = true,
      .usage = "symm",
      .help = symm_help,
      .example = "  claude mcp add tasks -- symposium symm\n",
      .run = cmd_symm },
    { .name = "task-owner",
      .hidden = true,
      .summary = "run one task, which stdin describes",
      .usage = "task-owner",
      .example = "  symposium task-owner < arguments.json\n",
      .run = cmd_task_owner },
    { .name = "hook",
      .hidden = true,
      .summary = "answer one event of an agent for all plugins",
      .for_agents = true,
      .usage = "hook AGENT EVENT",
      .help = hook_help,
      .example = "  symposium hook claude PreToolUse < input.json\n",
      .words = WORD_NONE,
      .run = cmd_hook },
    { .name = "filesystem",
      .summary = "an MCP server for files and directories",
      .for_agents = true,
      .server = true,
      .usage = "filesystem [--allow-root] [DIR...]",
      .help = filesystem_help,
      .example = "  claude mcp add files -- symposium filesystem ~/notes\n",
      .options = filesystem_options,
      .words = WORD_DIRS,
      .run = cmd_filesystem },
    { .name = "fetch",
      .summary = "an MCP server for web pages",
      .for_agents = true,
      .server = true,
      .usage = "fetch [OPTION...]",
      .help = fetch_help,
      .example = "  claude mcp add fetch -- symposium fetch\n",
      .options = fetch_options,
      .words = WORD_NONE,
      .run = cmd_fetch },
    { .name = "memory",
      .summary = "an MCP server for a memory that lasts",
      .for_agents = true,
      .server = true,
      .usage = "memory [--memory-file PATH]",
      .help = memory_help,
      .example = "  claude mcp add memory -- symposium memory --memory-file ~/memory.jsonl\n",
      .options = memory_options,
      .words = WORD_NONE,
      .run = cmd_memory },
    { .name = "shell",
      .summary = "an MCP server for running programs",
      .for_agents = true,
      .server = true,
      .usage = "shell [--sandbox] [--allow-root] [DIR...]",
      .help = shell_help,
      .example = "  claude mcp add shell -- symposium shell --sandbox .\n",
      .options = shell_options,
      .words = WORD_DIRS,
      .run = cmd_shell },
    { .name = "skills",
      .summary = "an MCP server for Agent Skills",
      .for_agents = true,
      .server = true,
      .usage = "skills [--user] [DIR]",
      .help = skills_help,
      .example = "  claude mcp add skills -- symposium skills --user\n",
      .options = skills_options,
      .words = WORD_DIR,
      .run = cmd_skills },
    { .name = "agents",
      .summary = "an MCP server that runs the workspace's subagents",
      .for_agents = true,
      .server = true,
      .usage = "agents [DIR]",
      .help = agents_help,
      .example = "  claude mcp add agents -- symposium agents .\n",
      .words = WORD_DIR,
      .run = cmd_agents },
    { 0 },
};
