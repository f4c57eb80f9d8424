/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "plugins/manifest.h"
#include "plugins/predicate.h"

#define FIXTURES "tests/fixtures/plugins/"

static struct manifest_source source(enum plugin_origin origin)
{
    return (struct manifest_source){ .origin = origin,
                                     .registry = STR("r"),
                                     .subpath = STR("sub"),
                                     .dir = STR("/dir"),
                                     .fallback_name = STR("fallback"),
                                     .agents_syncing = true };
}

static struct plugin *parse(struct arena *a, enum plugin_origin origin, const char *text,
                            struct error *e)
{
    struct manifest_source src = source(origin);
    struct tree t = tree_new();
    struct plugin *p = manifest_load(a, tree_put(&t, "SYMPOSIUM.toml", text), &src, e);

    tree_free(&t);
    return p;
}

static struct plugin *load_fixture(struct arena *a, const char *name)
{
    struct manifest_source src = source(ORIGIN_REGISTRY);
    struct error e = { 0 };
    struct plugin *p =
        manifest_load(a, arena_printf(a, FIXTURES "%s/SYMPOSIUM.toml", name), &src, &e);

    if (!p)
        fail_msg("%s: %s", name, e.msg);
    return p;
}

/* ---- a plugin as text, to compare whole ones ---- */

static void put_strs(struct buf *b, const char *label, const struct strs *l)
{
    for (size_t i = 0; i < l->n; i++)
        buf_addf(b, " %s=%.*s", label, STR_F(l->v[i]));
}

static void put_str(struct buf *b, const char *label, struct str s)
{
    if (s.n)
        buf_addf(b, " %s=%.*s", label, STR_F(s));
}

static void put_gate(struct buf *b, const struct gate *g)
{
    for (size_t i = 0; i < g->n; i++) {
        buf_addz(b, " gate=");
        put_predicate(b, g->v[i]);
    }
}

static void put_pairs(struct buf *b, const char *label, const struct key_values *l)
{
    for (size_t i = 0; i < l->n; i++)
        buf_addf(b, " %s.%.*s=%.*s", label, STR_F(l->v[i].key), STR_F(l->v[i].value));
}

static void put_server(struct buf *b, const struct server_def *s)
{
    buf_addf(b, "server %.*s", STR_F(s->name));
    put_gate(b, &s->gate);
    put_str(b, "command", s->command);
    put_str(b, "installation", s->installation);
    put_str(b, "builtin", s->builtin);
    put_str(b, "url", s->url);
    buf_addf(b, " transport=%d", s->transport);
    put_strs(b, "arg", &s->args);
    put_pairs(b, "env", &s->env);
    put_pairs(b, "header", &s->headers);
    put_str(b, "cwd", s->cwd);
    put_strs(b, "req", &s->requirements);
    buf_addf(b, " secs=%d,%d allow=%d", s->startup_timeout_secs, s->tool_call_timeout_secs,
             s->has_enabled_tools);
    put_strs(b, "enabled", &s->enabled_tools);
    put_strs(b, "disabled", &s->disabled_tools);
    buf_addc(b, '\n');
}

static void put_parts(struct buf *b, const struct plugin *p)
{
    for (size_t i = 0; i < p->hooks.n; i++) {
        const struct hook *h = &p->hooks.v[i];

        buf_addf(b, "hook %.*s %d", STR_F(h->name), h->event);
        put_str(b, "command", h->command);
        put_str(b, "agent", h->agent);
        put_str(b, "matcher", h->matcher);
        put_str(b, "format", h->format);
        put_str(b, "exe", h->executable);
        put_str(b, "script", h->script);
        put_strs(b, "req", &h->requirements);
        put_strs(b, "arg", &h->args);
        put_gate(b, &h->gate);
        buf_addc(b, '\n');
    }
    for (size_t i = 0; i < p->subcommands.n; i++) {
        const struct subcommand *s = &p->subcommands.v[i];

        buf_addf(b, "subcommand %.*s (%.*s) %d %.*s", STR_F(s->name), STR_F(s->description),
                 s->for_humans, STR_F(s->command));
        put_gate(b, &s->gate);
        buf_addc(b, '\n');
    }
    for (size_t i = 0; i < p->predicates.n; i++) {
        const struct custom_predicate *c = &p->predicates.v[i];

        buf_addf(b, "predicate %.*s %.*s %d", STR_F(c->name), STR_F(c->command), c->owner == p);
        put_strs(b, "arg", &c->args);
        buf_addc(b, '\n');
    }
}

static void put_installation(struct buf *b, const struct installation *in)
{
    buf_addf(b, "installation %.*s %d %d", STR_F(in->name), in->source, in->global);
    put_str(b, "crate", in->crate);
    put_str(b, "version", in->version);
    put_str(b, "git", in->git);
    put_str(b, "url", in->url);
    put_str(b, "exe", in->executable);
    put_str(b, "script", in->script);
    put_strs(b, "req", &in->requirements);
    put_strs(b, "run", &in->install_commands);
    put_strs(b, "arg", &in->args);
    buf_addc(b, '\n');
}

static void put_plugin(struct buf *b, const struct plugin *p)
{
    buf_addf(b, "plugin %.*s mentions=%d", STR_F(p->name), p->mentions_dependency);
    put_gate(b, &p->gate);
    buf_addc(b, '\n');
    for (size_t i = 0; i < p->installations.n; i++)
        put_installation(b, &p->installations.v[i]);
    for (size_t i = 0; i < p->skills.n; i++) {
        buf_addz(b, "skills");
        put_str(b, "path", p->skills.v[i].path);
        put_str(b, "git", p->skills.v[i].git);
        put_gate(b, &p->skills.v[i].gate);
        buf_addc(b, '\n');
    }
    for (size_t i = 0; i < p->edges.n; i++) {
        const struct plugin_edge *e = &p->edges.v[i];

        buf_addf(b, "edge %.*s:%.*s %.*s", STR_F(e->pm), STR_F(e->name), STR_F(e->version));
        put_gate(b, &e->gate);
        buf_addc(b, '\n');
    }
    for (size_t i = 0; i < p->servers.n; i++)
        put_server(b, &p->servers.v[i]);
    put_parts(b, p);
}

static void assert_plugin(const struct plugin *p, const char *want)
{
    auto_buf got = BUF(1 << 20);

    put_plugin(&got, p);
    assert_string_equal(buf_z(&got), want);
}

/* ---- what is read ---- */

/* PL-7 to PL-15, meta-server.md 1.1 */
static void every_key_of_every_table_is_kept(void **state)
{
    auto_arena a = ARENA;

    assert_plugin(
        load_fixture(&a, "every-table"),
        "plugin every-table mentions=1 gate=any(depends-on(cargo:serde>=1,<2), "
        "depends-on(npm:@scope/widget), depends-on(*)) gate=not(env(SYMPOSIUM_FIXTURE_OFF)) "
        "gate=any(has_tool(git), path_exists(Cargo.toml))\n"
        "installation linter__req_1 0 0 script=prepare.sh\n"
        "installation linter 1 1 crate=some-linter version=1.2 "
        "git=https://example.com/some/linter exe=some-linter req=setup req=linter__req_1 "
        "arg=--quiet\n"
        "installation scripts 2 0 url=https://example.com/some/scripts/tree/main/hooks "
        "script=run.sh\n"
        "installation setup 0 0 run=true run=echo done\n"
        "installation greet 0 0 script=greet.sh req=setup arg=hello\n"
        "installation linted__req_1 0 0 script=extra.sh\n"
        "installation __pred_has_tool 0 0 script=has-tool.sh\n"
        "skills path=skills/serde gate=depends-on(serde)\n"
        "skills git=https://example.com/some/skills/tree/main/sub gate=workspace-member()\n"
        "edge cargo:widget >=1,<3 gate=depends-on(tokio)\n"
        "edge npm:@scope/gadget ^2.1\n"
        "edge cargo:any-version \n"
        "server files gate=depends-on(*) gate=env(HOME) command=npx transport=0 arg=-y "
        "arg=server-filesystem arg=${FIXTURE_DIR:-.} env.LEVEL=debug "
        "env.TOKEN=${FIXTURE_TOKEN} "
        "cwd=sub secs=7,8 allow=1 enabled=read_file\n"
        "server linted installation=linter transport=0 req=setup req=linted__req_1 secs=0,0 "
        "allow=0\n"
        "server notes builtin=memory transport=0 arg=--file arg=notes.json secs=0,0 allow=1\n"
        "server remote url=https://example.com/mcp transport=2 header.Authorization=Bearer "
        "${FIXTURE_TOKEN} secs=0,0 allow=0\n"
        "hook guard 0 command=setup agent=claude matcher=Bash format=claude exe=guard "
        "req=linter "
        "arg=--strict gate=depends-on(serde)\n"
        "hook greet 3 command=greet format=symposium\n"
        "subcommand lint (run the linter) 1 linter gate=depends-on(serde)\n"
        "subcommand explain (explain a finding) 0 scripts gate=path_exists(lint.toml)\n"
        "predicate has_tool __pred_has_tool 1 arg=--quiet\n");
}

static void older_forms_of_servers_are_read(void **state)
{
    auto_arena a = ARENA;

    assert_plugin(load_fixture(&a, "older-forms"),
                  "plugin older-forms mentions=1 gate=depends-on(*)\n"
                  "server streaming url=https://example.com/mcp transport=1 header.X-Key=k "
                  "secs=0,0 allow=0\n"
                  "server events url=https://example.com/sse transport=2 secs=0,0 allow=0\n"
                  "server local command=server transport=0 env.A=1 env.B= secs=0,0 allow=0\n");
}

/* PL-4 on the wire: the same schema as JSON, key for key. */
static void a_manifest_survives_the_way_through_json(void **state)
{
    static const char *const names[] = { "every-table", "older-forms", "minimal",
                                         "gated-servers" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(1 << 20), json = BUF(1 << 20), want = BUF(1 << 20);
        auto_json doc = { 0 };
        struct manifest_source src = source(ORIGIN_REGISTRY);
        struct error e = { 0 };
        struct plugin *p;

        put_plugin(&want, load_fixture(&a, names[i]));
        assert_true(
            file_read(arena_printf(&a, FIXTURES "%s/SYMPOSIUM.toml", names[i]), &text, &e));
        toml_put_json(&json, toml_parse(&a, buf_str(&text), &e));
        assert_true(json_parse(&doc, buf_str(&json), &e));
        p = manifest_from_json(&a, doc.root, &src, &e);
        if (!p)
            fail_msg("%s: %s", names[i], e.msg);
        assert_plugin(p, buf_z(&want));
        assert_str(p->manifest_path, "");
    }
}

static void the_hash_is_that_of_the_bytes(void **state)
{
    auto_arena a = ARENA;
    struct plugin *p = parse(&a, ORIGIN_REGISTRY, "name = \"x\"\n", NULL);

    assert_str(p->manifest_sha256,
               "3eb10e9d710d38dc9fe5566f14f7d2cb97ca68a5c6c6b00150b73c69064410cc");
}

/* PL-4 */
static void origin_decides_name_and_default_groups(void **state)
{
    static const struct {
        enum plugin_origin origin;
        bool agents_syncing;
        const char *text, *want, *error;
    } cases[] = {
        { ORIGIN_REGISTRY, true, "", NULL, "needs a 'name'" },
        { ORIGIN_REGISTRY, true, "name = \"\"", NULL, "must not be empty" },
        { ORIGIN_REGISTRY, true, "name = \"n\"", "plugin n mentions=0\n", NULL },
        { ORIGIN_REGISTRY, true, "name = \"n\"\n[defaults]\nskills = false", NULL,
          "'defaults'" },
        { ORIGIN_WORKSPACE, true, "",
          "plugin fallback mentions=0\nskills path=skills\n"
          "skills path=.agents/skills gate=workspace-member()\n",
          NULL },
        { ORIGIN_WORKSPACE, false, "", "plugin fallback mentions=0\nskills path=skills\n",
          NULL },
        { ORIGIN_WORKSPACE, true, "[defaults]\nskills = false", "plugin fallback mentions=0\n",
          NULL },
        { ORIGIN_WORKSPACE, true, "[defaults]\nsklls = false", NULL, "sklls" },
        { ORIGIN_PACKAGE, true, "name = \"n\"", "plugin n mentions=0\nskills path=skills\n",
          NULL },
        { ORIGIN_PACKAGE, true, "[defaults]",
          "plugin fallback mentions=0\nskills path=skills\n", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct manifest_source src = source(cases[i].origin);
        struct tree t = tree_new();
        struct error e = { 0 };
        struct plugin *p;

        src.agents_syncing = cases[i].agents_syncing;
        p = manifest_load(&a, tree_put(&t, "m.toml", cases[i].text), &src, &e);
        tree_free(&t);
        if (p && cases[i].want)
            assert_plugin(p, cases[i].want);
        else if (p || cases[i].want)
            fail_msg("case %zu: %s", i, p ? "accepted" : e.msg);
        else
            assert_has(e.msg, cases[i].error);
    }
}

/* PL-1 */
static void the_upper_case_name_wins(void **state)
{
    struct manifest_name m = { 0 };

    manifest_name_see(&m, "README.md");
    manifest_name_see(&m, "symposium.toml");
    assert_string_equal(m.name, "symposium.toml");
    manifest_name_see(&m, "SYMPOSIUM.toml");
    manifest_name_see(&m, "Symposium.toml");
    manifest_name_see(&m, "sYMPOSIUM.toml");
    assert_string_equal(m.name, "SYMPOSIUM.toml");
    assert_int_equal(m.found, 3);
}

/* ---- what is refused: PL-16, every error names line and key ---- */

#define N    "name = \"n\"\n"
#define SRV  N "[[mcp_servers]]\nname = \"s\"\n"
#define HOOK N "[[installations]]\nname = \"i\"\nscript = \"x\"\n[[hooks]]\nname = \"h\"\n"
#define SRC  N "[[skills]]\nsource = "
#define EDGE N "[[plugins]]\nsource = "
#define INST N "[[installations]]\nname = \"i\"\n"
#define SUB  "description = \"d\"\ncommand = \"i\"\n"

static const struct refusal {
    const char *id, *text, *error;
} refusals[] = {
    /* top level */
    { "PL-7", N "colour = 1", "line 2: 'colour' is not a known key" },
    { "PL-7", N "crates = [\"serde\"]", "line 2: 'crates' was renamed to 'depends-on'" },
    { "PL-7", N "depends-on = 3", "line 2: 'depends-on'" },
    { "PL-7", N "depends-on = [\"serde@1\"]", "line 2: 'depends-on' is wrong: " },
    { "PL-7", N "predicates = \"env(A)\"", "line 2: 'predicates' " },
    { "PL-7", N "predicates = [\n\"env(A)\",\n\"crate(x)\"]",
      "line 4: 'predicates[1]' is wrong: " },
    { "PL-7", N "name = \"m\"", "line 2" },
    { "PL-7", "name = \"a\\u0000b\"", "NUL" },
    { "PL-7", "name = \"a\\nb\"", "control" },
    { "PL-7", N "hooks = {}", "line 2: 'hooks' " },
    /* skills */
    { "PL-9", N "[[skills]]\npath = \"x\"", "'skills[0].path' is not a known key" },
    { "PL-9", N "[[skills]]\n", "line 2: 'skills[0]' needs a 'source'" },
    { "PL-9", SRC "\"serde\"", "[[plugins]]" },
    { "PL-9", SRC "{ crate = \"serde\" }", "[[plugins]]" },
    { "PL-9", SRC "{ crate_path = \"serde\" }", "[[plugins]]" },
    { "PL-9", SRC "{}", "exactly one of 'path' and 'git'" },
    { "PL-9", SRC "{ path = \"a\", git = \"b\" }", "exactly one of 'path' and 'git'" },
    { "PL-9", SRC "{ path = \"../a\" }", "'skills[0].source.path' must stay beneath" },
    { "PL-9", SRC "{ path = \"a/../../b\" }", "must stay beneath" },
    { "PL-9", SRC "{ path = \"/etc\" }", "must stay beneath" },
    { "PL-9", N "[[skills]]\ncrates = []\nsource = { path = \"a\" }", "renamed" },
    /* edges */
    { "PL-10", N "[[plugins]]\n", "'plugins[0]' needs a 'source'" },
    { "PL-10", EDGE "{ cargo = \"*\" }", "'plugins[0].source.cargo' must name one package" },
    { "PL-10", EDGE "{ cargo = \"a b\" }", "'plugins[0].source.cargo' is wrong: " },
    { "PL-10", EDGE "{ cargo = \"npm:a\" }", "package manager again" },
    { "PL-10", EDGE "{ cargo = { name = \"\" } }", "must not be empty" },
    { "PL-10", EDGE "{ cargo = { name = \"a\", version = \"one\" } }", "version' is wrong: " },
    { "PL-10", EDGE "{ cargo = { foo = \"1\" } }", "{ name = \"foo\", version = " },
    { "PL-10", EDGE "{ cargo = { name = \"a\", x = 1 } }", "is not a known key" },
    { "PL-10", EDGE "{ git = \"https://x\" }", "a package manager is required" },
    { "PL-10", EDGE "{ path = \"x\" }", "a package manager is required" },
    { "PL-10", EDGE "{ \"\" = \"x\" }", "is no name of a package manager" },
    { "PL-10", EDGE "{ \"a b\" = \"x\" }", "is no name of a package manager" },
    { "PL-10", EDGE "{ cargo = \"a\", npm = \"b\" }", "one package manager" },
    { "PL-10", EDGE "{ cargo = 1 }", "must be a string or" },
    /* installations */
    { "PL-11", N "[[installations]]\nscript = \"x\"", "needs a 'name'" },
    { "PL-11", INST "[[installations]]\nname = \"i\"", "clashes" },
    { "PL-11", INST "source = \"npm\"", "'installations[0].source' must be" },
    { "PL-11", INST "executable = \"a\"\nscript = \"b\"", "both 'executable' and 'script'" },
    { "PL-11", INST "source = \"cargo\"", "needs a 'crate'" },
    { "PL-11", INST "source = \"cargo\"\ncrate = \"c\"\nglobal = true",
      "needs an 'executable'" },
    { "PL-11", INST "source = \"cargo\"\ncrate = \"c\"\ngit = \"g\"", "needs an 'executable'" },
    { "PL-11", INST "source = \"github\"", "needs a 'url'" },
    { "PL-11", INST "source = \"github\"\nurl = \"u\"\ngit = \"g\"", "both 'url' and 'git'" },
    { "PL-11", INST "crate = \"c\"", "'installations[0].crate' does not go with" },
    { "PL-12", INST "requirements = [\"j\"]", "references unknown installation 'j'" },
    { "PL-12", HOOK "event = \"Stop\"\ncommand = \"z\"",
      "references unknown installation 'z'" },
    { "PL-12",
      N "[[installations]]\nname = \"h\"\n[[hooks]]\nname = \"h\"\nevent = \"Stop\"\n"
        "command = { script = \"x\" }",
      "clashes" },
    { "PL-12", HOOK "event = \"Stop\"\ncommand = { name = \"q\" }", "is not a known key" },
    /* hooks */
    { "PL-13", HOOK "command = \"i\"", "needs an 'event'" },
    { "PL-13", HOOK "event = \"Start\"\ncommand = \"i\"", "must be one of: PreToolUse, " },
    { "PL-13", HOOK "event = \"Stop\"", "needs a 'command'" },
    { "PL-13", HOOK "event = \"Stop\"\ncommand = \"i\"\ndepends-on = [\"a\"]",
      "use predicates" },
    { "PL-13", HOOK "event = \"Stop\"\ncommand = \"i\"\nformat = \"goose\"", "must be one of" },
    { "PL-13", HOOK "event = \"Stop\"\ncommand = \"i\"\nscript = \"y\"",
      "both name what to run" },
    { "PL-13", HOOK "event = \"Stop\"\ncommand = {}", "nothing to run" },
    { "PL-13",
      HOOK "event = \"Stop\"\ncommand = { script = \"x\", args = [\"a\"] }\nargs = [\"b\"]",
      "both give 'args'" },
    { "PL-13", HOOK "event = \"Stop\"\ncommand = \"i\"\nwhen = 1", "is not a known key" },
    /* subcommands */
    { "PL-14", INST "[subcommand.\"a b\"]\n" SUB, "letters, digits" },
    { "PL-14", INST "[subcommand.\"\"]\n" SUB, "needs a name" },
    { "PL-14", INST "[subcommand.doctor]\n" SUB, "command of symposium itself" },
    { "PL-14", INST "[subcommand.completion]\n" SUB, "command of symposium itself" },
    { "PL-14", INST "[subcommand.x]\ncommand = \"i\"", "needs a 'description'" },
    { "PL-14", INST "[subcommand.x]\ndescription = \"d\"", "needs a 'command'" },
    { "PL-14", INST "[subcommand.x]\naudience = \"all\"\n" SUB,
      "must be one of: agents, humans" },
    { "PL-14", INST "[subcommand]\nx = 1", "must be a table" },
    /* custom predicates */
    { "PL-15", INST "[[predicate]]\nname = \"env\"\ncommand = \"i\"", "'predicate[0].name'" },
    { "PL-15", INST "[[predicate]]\nname = \"1a\"\ncommand = \"i\"", "'predicate[0].name'" },
    { "PL-15", INST "[[predicate]]\nname = \"a\"", "needs a 'command'" },
    /* servers: meta-server.md 1.1 */
    { "MS", SRV, "(server 's') needs a 'command', a 'builtin', an 'installation', or a 'url'" },
    { "MS", SRV "url = \"u\"\ncommand = \"c\"",
      "(server 's') has both a 'url' and a 'command': it is reached one way or the other" },
    { "MS", SRV "url = \"u\"\ninstallation = \"c\"", "one way or the other" },
    { "MS", SRV "url = \"u\"\nargs = [\"a\"]", "child process" },
    { "MS", SRV "url = \"u\"\nenv = { A = \"b\" }", "child process" },
    { "MS", SRV "url = \"u\"\ncwd = \"d\"", "child process" },
    { "MS", SRV "command = \"c\"\nheaders = { A = \"b\" }", "'headers' but no 'url'" },
    { "MS", SRV "command = \"c\"\ninstallation = \"i\"",
      "both a 'command' and an 'installation'" },
    { "MS", SRV "builtin = \"memory\"\ncommand = \"c\"", "'builtin', which excludes" },
    { "MS", SRV "builtin = \"time\"", "names no 'builtin' that exists" },
    { "MS", SRV "url = \"u\"\ntransport = \"ws\"", "unknown 'transport'" },
    { "MS", SRV "url = \"u\"\ntype = \"stdio\"", "unknown 'type'" },
    { "MS", SRV "url = \"u\"\ntype = \"sse\"\ntransport = \"sse\"", "older name" },
    { "MS", SRV "command = \"c\"\ntransport = \"http\"", "but no 'url'" },
    { "MS", SRV "command = \"c\"\nenabled-tools = []\ndisabled-tools = []",
      "both 'enabled-tools'" },
    { "MS", SRV "command = \"c\"\ntimeout = 3",
      "server 's': line 5: 'mcp_servers[0].timeout' is not a known key" },
    { "MS", SRV "command = \"c\"\nstartup-timeout-secs = 0",
      "server 's': line 5: 'mcp_servers[0].startup-timeout-secs'" },
    { "MS", SRV "command = \"c\"\nenv = { A = 1 }", "'mcp_servers[0].env.A' must be a string" },
    { "MS", SRV "command = \"c\"\nenv = { \"A=B\" = \"1\" }", "without '='" },
    { "MS",
      SRV "command = \"c\"\nenv = [{ name = \"A\", value = \"1\" }, { name = \"A\", value = "
          "\"2\" }]",
      "gives 'A' twice" },
    { "MS", SRV "command = \"\"", "must not be empty" },
    { "MS", N "[[mcp_servers]]\ncommand = \"c\"", "'mcp_servers[0]' needs a 'name'" },
    { "MS", N "[[mcp_servers]]\nname = \"a\\tb\"\ncommand = \"c\"", "control" },
};

static void mistakes_are_named_with_line_and_key(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };

        if (parse(&a, ORIGIN_REGISTRY, refusals[i].text, &e))
            fail_msg("%s: accepted: %s", refusals[i].id, refusals[i].text);
        if (!strstr(e.msg, refusals[i].error))
            fail_msg("%s: %s\ngot  %s\nwant %s", refusals[i].id, refusals[i].text, e.msg,
                     refusals[i].error);
    }
}

/* PL-13: a hook of a cargo installation runs the crate's own binary. */
static void a_hook_of_a_crate_needs_no_executable(void **state)
{
    auto_arena a = ARENA;

    assert_non_null(parse(&a, ORIGIN_REGISTRY,
                          N "[[hooks]]\nname = \"h\"\nevent = \"Stop\"\n"
                            "command = { source = \"cargo\", crate = \"c\" }",
                          NULL));
}

/* PL-14 */
static void a_description_has_at_most_1024_bytes(void **state)
{
    for (int n = 1024; n <= 1025; n++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(4096);

        buf_addz(&text,
                 INST "script = \"x\"\n[subcommand.x]\ncommand = \"i\"\ndescription = \"");
        buf_fill(&text, 'd', (size_t)n);
        buf_addz(&text, "\"\n");
        assert_int_equal(parse(&a, ORIGIN_REGISTRY, buf_z(&text), NULL) != NULL, n == 1024);
    }
}

/* MS-11: an undeclared installation refuses the one server when it is resolved, not the plugin.
 */
static void an_undeclared_installation_of_a_server_is_no_manifest_error(void **state)
{
    auto_arena a = ARENA;

    assert_non_null(parse(&a, ORIGIN_REGISTRY, SRV "installation = \"gone\"", NULL));
}

static void lists_are_bounded(void **state)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(1 << 20);
    struct error e = { 0 };

    buf_addz(&text, N);
    for (int i = 0; i <= MANIFEST_MAX_ITEMS; i++)
        buf_addz(&text, "[[skills]]\nsource.path=\"a\"\n");
    assert_null(parse(&a, ORIGIN_REGISTRY, buf_z(&text), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_has(e.msg, "1000");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_every_table_is_kept),
        cmocka_unit_test(older_forms_of_servers_are_read),
        cmocka_unit_test(a_manifest_survives_the_way_through_json),
        cmocka_unit_test(the_hash_is_that_of_the_bytes),
        cmocka_unit_test(origin_decides_name_and_default_groups),
        cmocka_unit_test(the_upper_case_name_wins),
        cmocka_unit_test(mistakes_are_named_with_line_and_key),
        cmocka_unit_test(a_hook_of_a_crate_needs_no_executable),
        cmocka_unit_test(a_description_has_at_most_1024_bytes),
        cmocka_unit_test(an_undeclared_installation_of_a_server_is_no_manifest_error),
        cmocka_unit_test(lists_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
