/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "adapter_check.h"

#include "base/file.h"
#include "base/path.h"
#include "plugins/config.h"

static const char *const no_env[] = { "PATH=/usr/bin", NULL };

static bool plan(struct arena *a, const struct adapters *all, const struct asked *asked,
                 struct task_plan *ret, struct error *e)
{
    struct json options;
    const struct adapter *ad = adapter_find(all, str_of(asked->agent));
    struct plan_request req = {
        .prompt = str_of(asked->prompt ? asked->prompt : "do it"),
        .workspace = STR("/w"),
        .session_id = str_of(asked->session_id),
        .env = asked->env ? asked->env : no_env,
        .chain = asked->chain,
        .self = "/opt/symposium",
    };
    struct task_plan made;
    bool ok;

    assert_non_null(ad);
    if (!json_parse(&options, str_of(asked->options ? asked->options : "{}"), e))
        fail_msg("%s", e->msg);
    req.options = options.root;
    ok = adapter_plan(&made, a, ad, &req, e);
    json_free(&options); /* nothing of it may be needed any more */
    if (ok)
        task_plan_copy(ret, a, &made);
    return ok;
}

static void put_settings(struct buf *out, const struct acp_turn *t)
{
    for (size_t i = 0; i < t->nsettings; i++) {
        const struct acp_setting *s = &t->settings[i];

        if (s->how == ACP_CONFIG)
            buf_addf(out, " %s=%s", s->id, s->value);
        else
            buf_addf(out, " mode:%s", s->value);
    }
}

const char *plan_text(struct arena *a, const struct adapters *all, const struct asked *asked)
{
    auto_buf out = BUF(1 << 20);
    struct task_plan p;
    struct error e = { 0 };

    if (!plan(a, all, asked, &p, &e)) {
        assert_int_equal(e.kind, ERR_INVALID);
        return arena_printf(a, "! %s", e.msg);
    }
    for (size_t i = 0; p.argv[i]; i++)
        buf_addf(&out, "%s%s", i ? " " : "", p.argv[i]);
    buf_addz(&out, " |");
    put_settings(&out, &p.turn);
    buf_addz(&out, " |");
    if (p.turn.allow)
        buf_addf(&out, " allow=%u", p.turn.allow);
    if (p.turn.resume)
        buf_addf(&out, " resume=%s", p.turn.resume);
    if (p.turn.auth_method)
        buf_addf(&out, " auth=%s", p.turn.auth_method);
    for (size_t i = 0; i < p.turn.nservers; i++)
        buf_addf(&out, " %s:%s %s", p.turn.servers[i].name, p.turn.servers[i].command,
                 p.turn.servers[i].args[0]);
    if (p.turn.version == 2)
        buf_addz(&out, " v=2");
    if (p.prompt_stdin)
        buf_addf(&out, " stdin=%.*s", STR_F(p.prompt_text));
    if (p.kind == TASK_ACP) {
        assert_str(p.turn.prompt, asked->prompt ? asked->prompt : "do it");
        assert_string_equal(p.turn.cwd, "/w");
    }
    return arena_z(a, buf_str(&out));
}

const char *plan_env(struct arena *a, const struct adapters *all, const struct asked *asked)
{
    auto_buf out = BUF(1 << 20);
    struct task_plan p;
    struct error e = { 0 };

    if (!plan(a, all, asked, &p, &e))
        return arena_printf(a, "! %s", e.msg);
    for (size_t i = 0; p.env[i]; i++)
        buf_addf(&out, "%s\n", p.env[i]);
    for (size_t i = 0; p.turn.nservers && p.turn.servers[0].env[i]; i++)
        buf_addf(&out, "server %s\n", p.turn.servers[0].env[i]);
    return arena_z(a, buf_str(&out));
}

/* ---- configs ---- */

static void load(struct adapters *ret, struct arena *a, const char *toml)
{
    char dir[PATH_MAX];
    struct dirs dirs = { .config = dir, .state = dir, .cache = dir, .logs = dir };
    struct config *c = ARENA_NEW(a, struct config);

    make_temp_dir(dir);
    if (toml)
        assert_true(file_write_cache(path_join(a, dir, "config.toml"), str_of(toml), NULL));
    config_load(c, &dirs, a);
    remove_tree(dir);
    if (c->malformed)
        fail_msg("%.*s", STR_F(c->warnings.v[0]));
    adapters_load(ret, a, c);
}

void load_adapters(struct adapters *ret, struct arena *a, const char *toml)
{
    load(ret, a, toml);
    if (ret->problems.n)
        fail_msg("%.*s", STR_F(ret->problems.v[0]));
}

const char *load_refusal(struct arena *a, const char *toml)
{
    struct adapters all;

    load(&all, a, toml);
    return all.problems.n ? arena_z(a, all.problems.v[0]) : NULL;
}
