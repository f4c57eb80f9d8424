/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files as the vendors' users have them: loaded, or refused with a reason one can act on. */
#include "../../check.h"

#include "base/mem.h"
#include "servers/agents/definition.h"

struct row {
    const char *what;
    enum agent_vendor vendor;
    const char *text; /* "---" first: Markdown, else TOML */
    const char *want; /* parts of the summary, or of the error, divided by '|' */
    const char *warning;
};

#define OURS(more) \
    "---\nname: a\ndescription: d\nmodelProvider: openai\nmodel: gpt-5\n" more "---\nBody.\n"
#define CLAUDE(more) \
    "---\nname: code-reviewer\ndescription: Reviews code\n" more "---\nYou review code.\n"
#define CODEX(more) \
    "name = \"explorer\"\ndescription = \"Looks\"\ndeveloper_instructions = \"Look.\"\n" more
#define OPENCODE(more) "---\ndescription: Reviews code\nmode: subagent\n" more "---\nReview.\n"

static const struct row rows[] = {
    /* AG-2, AG-3: our own */
    { "AG-3: the defaults of openai", VENDOR_OURS, OURS(""),
      "name=a|model=gpt-5|wire=responses|url=https://api.openai.com/v1|env=OPENAI_API_KEY|"
      "turns=32",
      NULL },
    { "AG-3: of anthropic", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: anthropic\nmodel: m\n---\nB\n",
      "wire=anthropic-messages|url=https://api.anthropic.com|env=ANTHROPIC_API_KEY", NULL },
    { "AG-3: custom says where", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: custom\nmodel: m\n---\nB\n", "!wireApi",
      NULL },
    { "AG-3: custom on loopback needs no key", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: custom\nbaseUrl: http://localhost:1/v1\n"
      "wireApi: chat-completions\nmodel: m\n---\nB\n",
      "wire=chat-completions|url=http://localhost:1/v1|env=,", NULL },
    { "AG-3: custom elsewhere needs one", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: custom\nbaseUrl: https://x.example/v1\n"
      "wireApi: chat-completions\nmodel: m\n---\nB\n",
      "!envKey", NULL },
    { "AG-2: plain http elsewhere", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: custom\nbaseUrl: http://x.example/v1\n"
      "wireApi: chat-completions\nenvKey: K\nmodel: m\n---\nB\n",
      "!baseUrl", NULL },
    { "AG-3: a key in the file", VENDOR_OURS, OURS("apiKey: sk-1\n"), "!apiKey", NULL },
    { "AG-2: no such provider", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: mistral\nmodel: m\n---\nB\n",
      "!modelProvider", NULL },
    { "AG-2: a name with spaces", VENDOR_OURS,
      "---\nname: My Agent\ndescription: d\nmodelProvider: openai\nmodel: m\n---\nB\n", "!name",
      NULL },
    { "AG-2: no instructions", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: openai\nmodel: m\n---\n \n",
      "!instructions", NULL },
    { "AG-2: turns out of range", VENDOR_OURS, OURS("maxTurns: 0\n"), "!maxTurns", NULL },
    { "AG-2: full access is never given", VENDOR_OURS, OURS("permission: full-access\n"),
      "!permission", NULL },
    { "AG-2: reading alone", VENDOR_OURS, OURS("permission: plan\n"), "ro=1", NULL },
    { "AG-2: worktrees are not made", VENDOR_OURS, OURS("isolation: worktree\n"), "!isolation",
      NULL },
    { "AG-3: a misspelt field of our own warns", VENDOR_OURS, OURS("enKey: K\n"), "name=a",
      "enKey" },
    { "AG-2: what TOML calls otherwise is known", VENDOR_OURS,
      "name = \"t\"\ndescription = \"d\"\ndeveloper_instructions = \"i\"\nmodel = \"m\"\n"
      "sandbox_mode = \"read-only\"\npermission_mode = \"plan\"\nsteps = 3\nodd = 1\n",
      "name=t|ro=1|turns=3", "odd" },
    { "AG-2: no number of JSON's", VENDOR_OURS,
      "name = \"t\"\ndescription = \"d\"\ninstructions = \"i\"\nmodel = \"m\"\n"
      "temperature = nan\n",
      "!temperature", NULL },
    { "AG-23: /v1 counts once", VENDOR_OURS,
      "---\nname: a\ndescription: d\nmodelProvider: anthropic\nmodel: m\nbaseUrl: "
      "https://x.example/v1/\nenvKey: K\n---\nB\n",
      "url=https://x.example,", NULL },
    { "no front matter", VENDOR_OURS, "# Agent\n", "!---", NULL },
    { "AG-2: TOML of our own", VENDOR_OURS,
      "name = \"t\"\ndescription = \"d\"\ninstructions = \"i\"\nmodel = \"m\"\n"
      "model_reasoning_effort = \"High\"\ntemperature = 0.5\n",
      "name=t|effort=high|temperature=0.5", NULL },
    { "AG-2: servers of its own", VENDOR_OURS,
      OURS("mcpServers:\n  gh:\n    command: gh-mcp\n    args: [stdio]\n  docs:\n    type: "
           "http\n"
           "    url: https://d.example/mcp\n"),
      "gh:gh-mcp|docs:https://d.example/mcp", NULL },

    /* AG-4: Claude Code */
    { "AG-4: tools as a comma string, the model by its alias", VENDOR_CLAUDE,
      CLAUDE("tools: Read, Grep, Glob, Bash\nmodel: sonnet\n"),
      "model=big|wire=anthropic-messages|filesystem|shell", NULL },
    { "AG-4: an alias nobody mapped", VENDOR_CLAUDE, CLAUDE("model: opus\n"),
      "!opus|[agents.models]", NULL },
    { "AG-4: no model is 'inherit'", VENDOR_CLAUDE, CLAUDE(""), "model=same|filesystem", NULL },
    { "a full model name is taken", VENDOR_CLAUDE, CLAUDE("model: claude-opus-4-1\n"),
      "model=claude-opus-4-1", NULL },
    { "AG-4: a colon in the description", VENDOR_CLAUDE,
      "---\nname: x\ndescription: Use when: tests fail\nmodel: sonnet\n---\nB\n", "name=x",
      NULL },
    { "AG-3: fields of later versions warn", VENDOR_CLAUDE,
      CLAUDE("model: sonnet\nsomeday: 1\n"), "model=big", "someday" },
    { "AG-4: bypassing permissions is not offered", VENDOR_CLAUDE,
      CLAUDE("model: sonnet\npermissionMode: bypassPermissions\n"), "!permission", NULL },
    { "AG-4: servers as a list of names", VENDOR_CLAUDE,
      CLAUDE("model: sonnet\nmcpServers: [github]\n"), "github:active", NULL },
    { "AG-4: unknown tools are ignored", VENDOR_CLAUDE,
      CLAUDE("model: sonnet\ntools: Read, TodoWrite\n"), "filesystem", "TodoWrite" },

    /* Codex */
    { "AG-4: Codex, openai by default", VENDOR_CODEX,
      CODEX("model = \"gpt-5-codex\"\nmodel_reasoning_effort = \"medium\"\n"
            "sandbox_mode = \"read-only\"\n"),
      "name=explorer|model=gpt-5-codex|wire=responses|effort=medium|ro=1", NULL },
    { "Codex: a sandbox that writes", VENDOR_CODEX,
      CODEX("model = \"m\"\nsandbox_mode = \"danger-full-access\"\n"), "!sandbox", NULL },
    { "Codex: servers", VENDOR_CODEX,
      CODEX("model = \"m\"\n[mcp_servers.docs]\nurl = \"https://d.example/mcp\"\n"
            "http_headers = { Authorization = \"Bearer ${T}\" }\n"),
      "docs:https://d.example/mcp", NULL },
    { "Codex: no TOML", VENDOR_CODEX, "name = \n", "!line 1", NULL },

    /* OpenCode */
    { "AG-4: the provider before the slash, the name from the file", VENDOR_OPENCODE,
      OPENCODE("model: anthropic/claude-sonnet-4\n"),
      "name=file|model=claude-sonnet-4|wire=anthropic-messages", NULL },
    { "AG-4: false denies", VENDOR_OPENCODE,
      OPENCODE("model: openai/gpt-5\ntools:\n  write: false\n  edit: false\n"),
      "deny=|write_file", NULL },
    { "AG-4: deny wins, and what asks is denied", VENDOR_OPENCODE,
      OPENCODE("model: openai/gpt-5\npermission:\n  edit: deny\n  bash: ask\n"),
      "deny=|edit_file", NULL },
    { "AG-3: a primary agent is none of ours", VENDOR_OPENCODE,
      "---\ndescription: d\nmode: primary\nmodel: openai/x\n---\nB\n", "!ignored", NULL },
};

static void put_list(struct buf *out, const char *key, const struct strs *l)
{
    buf_addf(out, "%s=", key);
    for (size_t i = 0; i < l->n; i++)
        buf_addf(out, "%.*s;", STR_F(l->v[i]));
    buf_addz(out, ",");
}

static void summary(struct buf *out, const struct agent_def *d)
{
    buf_addf(out,
             "name=%.*s,model=%.*s,wire=%s,url=%.*s,env=%.*s,effort=%.*s,temperature=%.*s,",
             STR_F(d->name), STR_F(d->model), wire_api_name(d->wire), STR_F(d->base_url),
             STR_F(d->env_key), STR_F(d->effort), STR_F(d->temperature));
    buf_addf(out, "turns=%d,ro=%d,", d->max_turns, d->read_only);
    put_list(out, "allow", &d->allow);
    put_list(out, "deny", &d->deny);
    for (size_t i = 0; i < d->servers.n; i++) {
        const struct agent_server *s = &d->servers.v[i];
        struct str how = s->active      ? STR("active")
                         : s->builtin.n ? s->builtin
                         : s->url.n     ? s->url
                                        : s->command;

        buf_addf(out, "%.*s:%.*s,", STR_F(s->name), STR_F(how));
    }
}

static void has_parts(const char *text, const char *parts, const char *what)
{
    struct str part, rest = str_of(parts);

    while (str_next(&rest, '|', &part))
        if (str_find(str_of(text), part) == SIZE_MAX)
            fail_msg("%s: '%.*s' is not in: %s", what, STR_F(part), text);
}

static void check(const struct row *r)
{
    struct key_value known[] = { { STR("sonnet"), STR("big") },
                                 { STR("inherit"), STR("same") } };
    struct key_values models = { .v = known, .n = ARRAY_LEN(known) };
    struct agent_settings settings = { .models = &models };
    struct agent_source src = { .vendor = r->vendor,
                                .toml = r->text[0] != '-' && r->text[0] != '#',
                                .file = "/w/file.md",
                                .text = str_of(r->text) };
    auto_arena a = ARENA;
    auto_buf out = BUF(1 << 16);
    struct agent_def d;
    struct strs warnings = { 0 };
    struct error e = { 0 };
    bool ignored = false, ok = agent_parse(&a, &src, &settings, &d, &warnings, &ignored, &e);

    if (r->want[0] == '!') {
        if (ok)
            fail_msg("%s: it was taken", r->what);
        has_parts(ignored ? "ignored" : e.msg, r->want + 1, r->what);
        return;
    }
    if (!ok)
        fail_msg("%s: refused: %s", r->what, e.msg);
    summary(&out, &d);
    has_parts(buf_z(&out), r->want, r->what);
    if (r->warning && !warnings.n)
        fail_msg("%s: no warning", r->what);
    if (r->warning)
        has_parts(arena_z(&a, warnings.v[0]), r->warning, r->what);
}

static void files_are_loaded_or_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        files_are_loaded_or_refused_with_a_reason) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
