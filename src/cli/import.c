/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "cli/consent.h"
#include "cli/errand.h"
#include "cli/import_check.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/sync.h"
#include "plugins/enablement.h"
#include "plugins/manifest.h"
#include "plugins/registry.h"
#include "sync/config_file.h"
#include "sync/import.h"

#define SHOWN_MAX ((size_t)2000) /* bytes of one command; more is cut, visibly */

struct import_command {
    struct errand *errand;
    struct arena *a;
    struct config config;
    struct workspace workspace;
    struct sync_env env;
    struct import im;
    struct sync_report report;
    struct import_check *check;
    bool trusts; /* the project's manifest was trusted, or there was none */
    size_t failed;
};

/* ---- what is there ---- */

static void put_command(struct buf *b, const struct server_def *def)
{
    buf_add(b, def->command);
    for (size_t i = 0; i < def->args.n; i++)
        buf_addf(b, " %.*s", STR_F(def->args.v[i]));
}

static const char *fate(struct import_command *c, const struct import_entry *k)
{
    if (k->state != IMPORT_MOVES)
        return arena_printf(c->a, "%s: %.*s", k->state == IMPORT_STAYS ? "stays" : "asks",
                            STR_F(k->reason));
    return arena_printf(c->a, "%s %s%s%.*s%s", k->again ? "is already in" : "moves into",
                        k->to_user ? "your plugin" : "the project's plugin",
                        str_eq(k->def.name, k->name) ? "" : " as '",
                        STR_F(str_eq(k->def.name, k->name) ? STR("") : k->def.name),
                        str_eq(k->def.name, k->name) ? "" : "'");
}

static void show_entry(struct import_command *c, const struct import_entry *k)
{
    auto_buf command = BUF(4 * SHOWN_MAX);

    fputs("  ", stdout);
    out_put_words(stdout, k->name);
    if (k->def.command.n) {
        put_command(&command, &k->def);
        fputs("  ", stdout);
        out_put_words(stdout, utf8_cut(buf_str(&command), SHOWN_MAX));
        fputs(command.over || command.n > SHOWN_MAX ? " ..." : "", stdout);
    }
    fputs("\n      ", stdout);
    out_put_words(stdout, str_of(fate(c, k)));
    fputc('\n', stdout);
}

static void show(struct import_command *c)
{
    const struct import *im = &c->im;
    const char *last = "";

    for (size_t i = 0; i < im->problems.n; i++)
        cli_fail(EXIT_FAILED, "%.*s; it is left as it is", STR_F(im->problems.v[i]));
    if (cli.json || cli.quiet)
        return;
    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        if (strcmp(last, k->path) != 0) {
            printf("%s%s: ", i ? "\n" : "", k->agent->title);
            out_put_words(stdout, str_of(k->path));
            fputc('\n', stdout);
        }
        last = k->path;
        show_entry(c, k);
    }
    fflush(stdout);
}

static void put_entry_event(struct report *r, const struct import *im,
                            const struct import_entry *k)
{
    static const char *const states[] = {
        [IMPORT_MOVES] = "moves", [IMPORT_ASKS] = "asks", [IMPORT_STAYS] = "stays"
    };
    struct jw *w = report_event(r, "import-entry");

    jw_kstrz(w, "agent", k->agent->name);
    jw_kstrz(w, "path", k->path);
    jw_kstr(w, "name", k->name);
    jw_kstrz(w, "state", states[k->state]);
    if (k->state == IMPORT_MOVES) {
        jw_kstr(w, "server", k->def.name);
        jw_kstrz(w, "plugin", import_manifest(im, k->to_user));
        jw_kbool(w, "again", k->again);
    } else {
        jw_kstr(w, "reason", k->reason);
    }
    jw_kbool(w, "secret", k->secret);
    jw_end(w);
}

/* ---- the end ---- */

static int finish(struct import_command *c, int status, bool moved)
{
    struct report r;

    errand_clear(c->errand);
    if (c->report.failed || c->im.problems.n)
        status = EXIT_FAILED;
    if (!cli.json) {
        sync_report_print(&c->report);
        return status;
    }
    report_begin(&r);
    for (size_t i = 0; i < c->im.entries.n; i++)
        put_entry_event(&r, &c->im, &c->im.entries.v[i]);
    sync_report_events(&r, &c->report);
    struct jw *w = report_event(&r, "import");
    jw_kbool(w, "ok", status == EXIT_OK);
    jw_kint(w, "moved", moved ? (int64_t)import_moving(&c->im) : 0);
    jw_end(w);
    return report_end(&r) ? status : EXIT_FAILED;
}

static void fail(struct import_command *c, const char *why)
{
    sync_report_addf(&c->report, SYNC_ERROR, STR(""), "%s", why);
    errand_end(c->errand, finish(c, EXIT_FAILED, false));
}

/* ---- trust: what the user's agents ran before needs no second consent, but nothing else in
 * that manifest gets one on the way (PL-32) ---- */

static bool is_trusted(struct import_command *c)
{
    struct error e = { 0 };
    const struct plugin *p = import_plugin(&c->im, false, &e);
    auto_buf text = BUF(MANIFEST_MAX_BYTES);
    char sha256[SHA256_HEX_SIZE];

    if (!p)
        return e.kind == ERR_NOT_FOUND;
    if (c->config.trust_workspace_always || !plugin_runs_programs(p))
        return true;
    if (!file_read(import_manifest(&c->im, false), &text, NULL))
        return false;
    sha256_hex(buf_str(&text), sha256);
    return trust_has(c->errand->dirs, c->workspace.root, str_of(sha256));
}

static void trust_again(struct import_command *c)
{
    const char *path = import_manifest(&c->im, false);
    auto_buf text = BUF(MANIFEST_MAX_BYTES);
    char sha256[SHA256_HEX_SIZE];
    struct trust_entry entry;
    struct error e;
    bool concerned = false;

    for (size_t i = 0; i < c->im.entries.n; i++)
        concerned |= c->im.entries.v[i].state == IMPORT_MOVES && !c->im.entries.v[i].to_user;
    if (!concerned || c->config.trust_workspace_always || !file_read(path, &text, NULL))
        return;
    if (!c->trusts) {
        sync_report_addf(&c->report, SYNC_NOTE, STR(""),
                         "%s is not trusted yet; 'symposium trust' shows what it runs", path);
        return;
    }
    sha256_hex(buf_str(&text), sha256);
    entry = (struct trust_entry){ c->workspace.root, str_of(path), str_of(sha256) };
    if (!trust_set(c->errand->dirs, &entry, 1, true, &e))
        sync_report_addf(&c->report, SYNC_ERROR, STR(""), "%s", e.msg);
}

/* ---- moving ---- */

/* An agent whose servers moved gets ours. */
static void update_agents(struct import_command *c)
{
    struct agents_job job = { .dirs = c->errand->dirs, .config = &c->config, .env = &c->env };
    struct error e;

    for (size_t i = 0; i < c->im.new_agents.n; i++)
        if (!config_add_agent(c->errand->dirs, c->im.new_agents.v[i], NULL, &e))
            sync_report_addf(&c->report, SYNC_ERROR, c->im.new_agents.v[i], "%s", e.msg);
    config_load(&c->config, c->errand->dirs, c->a);
    agents_apply(&job, &c->report);
    if (c->config.mcp_scope_project)
        sync_report_addf(&c->report, SYNC_NOTE, STR(""),
                         "mcp-scope is \"project\": run 'symposium sync' in each other project "
                         "that used these servers");
}

static void say_failed(struct import_command *c)
{
    for (size_t i = 0; i < c->im.entries.n; i++) {
        const struct import_entry *k = &c->im.entries.v[i];

        if (k->state == IMPORT_STAYS && str_starts(k->reason, STR("it does not start")))
            sync_report_addf(&c->report, SYNC_NOTE, str_of(k->agent->name),
                             "'%.*s' stays in %s: %.*s", STR_F(k->name), k->path,
                             STR_F(k->reason));
    }
}

static void move(struct import_command *c)
{
    struct import *im = &c->im;
    size_t moving = import_moving(im);
    struct error e;

    errand_clear(c->errand);
    say_failed(c);
    if (c->failed && !import_write(im, &e)) {
        fail(c, e.msg);
        return;
    }
    if (!moving) {
        if (!import_end(im, &e) || !import_undo(c->a, c->errand->dirs, &c->report, &e))
            sync_report_addf(&c->report, SYNC_ERROR, STR(""), "%s", e.msg);
        errand_end(c->errand, finish(c, EXIT_FAILED, false));
        return;
    }
    import_take_out(im, &c->report);
    update_agents(c);
    trust_again(c);
    if (!import_end(im, &e))
        sync_report_addf(&c->report, SYNC_ERROR, STR(""), "%s", e.msg);
    sync_report_addf(&c->report, SYNC_NOTE, STR(""),
                     "%zu entr%s moved; restart your agents. 'symposium import --undo' brings "
                     "back what was",
                     moving, moving == 1 ? "y" : "ies");
    errand_end(c->errand, finish(c, c->failed ? EXIT_FAILED : EXIT_OK, true));
}

static void on_checked(void *ctx, size_t failed)
{
    struct import_command *c = ctx;

    c->failed = failed;
    move(c);
}

static void on_progress(void *ctx, struct str line)
{
    struct import_command *c = ctx;

    errand_say(c->errand, line);
}

static void start(struct import_command *c)
{
    struct import_check_opts check = { .im = &c->im,
                                       .config = &c->config,
                                       .workspace = &c->workspace,
                                       .progress = on_progress,
                                       .done = on_checked,
                                       .ctx = c };
    struct error e;

    c->trusts = is_trusted(c);
    c->im.new_agents = import_agents(&c->im, &c->config);
    if (!import_begin(&c->im, &e) || !import_write(&c->im, &e))
        fail(c, e.msg);
    else if (args_has(c->errand->args, "--no-check"))
        move(c);
    else
        c->check = import_check_start(c->errand->loop, &check);
}

/* ---- what else is there ---- */

/* Of two servers of one name only one is there (MS-11): those of other plugins keep theirs. */
static void find_taken(struct import_command *c)
{
    struct watch_list watch = { 0 };
    struct loaded loaded = { 0 };
    struct load_ctx load = { .a = c->a, .watch = &watch, .out = &loaded };

    registries_load(&load, &c->config, c->errand->dirs);
    workspace_plugins_load(&load, &c->workspace, c->config.agents_syncing);
    for (size_t i = 0; i < loaded.plugins.n; i++) {
        const struct plugin *p = loaded.plugins.v[i];

        if (str_is(p->manifest_path, import_manifest(&c->im, true)) ||
            str_is(p->manifest_path, import_manifest(&c->im, false)))
            continue;
        for (size_t k = 0; k < p->servers.n; k++)
            ARENA_PUSH(c->a, &c->im.taken) = p->servers.v[k].name;
    }
}

/* Where moved servers would be out of reach. */
static const char *why_not(const struct config *config)
{
    if (config->malformed)
        return "config.toml is malformed; mend it first";
    if (!config->mcp.enabled)
        return "'enabled = false' in [mcp] of config.toml: no agent would have the servers";
    if (!config->user_plugins)
        return "'user-plugins = false' in [defaults] of config.toml: your own plugin would not "
               "be read";
    for (size_t i = 0; i < config->disable.n; i++)
        if (str_is(config->disable.v[i].name, IMPORT_PLUGIN))
            return "the plugin '" IMPORT_PLUGIN "' is disabled in [plugins] of config.toml";
    return NULL;
}

/* ---- questions ---- */

static void ask_secrets(struct import_command *c)
{
    for (size_t i = 0; i < c->im.entries.n; i++) {
        struct import_entry *k = &c->im.entries.v[i];

        if (k->state != IMPORT_ASKS)
            continue;
        if (!cli_interactive() || args_has(c->errand->args, "--dry-run")) {
            import_stay(&c->im, k, arena_z(c->a, k->reason));
            continue;
        }
        out_put_words(stderr, k->name);
        fprintf(stderr, " in %s: %.*s.\n", k->path, STR_F(k->reason));
        import_decide(k, consent_ask("Move it into your own plugin, for all workspaces?"));
    }
}

/* True: go on. */
static bool agreed(struct import_command *c, int *ret_status)
{
    *ret_status = EXIT_OK;
    if (args_has(c->errand->args, "--dry-run"))
        return false;
    if (args_has(c->errand->args, "--yes"))
        return true;
    *ret_status = EXIT_FAILED;
    if (!cli_interactive()) {
        cli_fail(EXIT_FAILED, "nothing was changed; 'symposium import --yes' moves them");
        return false;
    }
    return consent_ask("Move them?");
}

static void begin_import(struct import_command *c)
{
    struct error e;
    int status = EXIT_OK;

    import_scan(&c->im);
    find_taken(c);
    ask_secrets(c);
    if (!import_name(&c->im, &e)) {
        fail(c, e.msg);
        return;
    }
    show(c);
    if (!import_moving(&c->im)) {
        if (!cli.json && !cli.quiet)
            puts("No MCP server of an agent's file can be moved.");
        errand_end(c->errand, finish(c, EXIT_OK, false));
    } else if (!agreed(c, &status)) {
        errand_end(c->errand, finish(c, status, false));
    } else {
        start(c);
    }
}

static void begin_undo(struct import_command *c)
{
    struct error e;

    if (import_undo(c->a, c->errand->dirs, &c->report, &e))
        errand_end(c->errand, finish(c, EXIT_OK, false));
    else
        fail(c, e.msg);
}

static void begin(struct errand *e, void *ctx)
{
    struct import_command *c = ctx;
    struct watch_list watch = { 0 };
    struct error why;

    c->errand = e;
    c->a = e->a;
    c->report = SYNC_REPORT(e->a);
    config_load(&c->config, e->dirs, e->a);
    if (!workspace_find(&c->workspace, e->start_dir, e->a, &watch, &why) ||
        !sync_env_read(&c->env, e->a, c->workspace.root.p, &why)) {
        fail(c, why.msg);
        return;
    }
    c->im = (struct import){ .a = e->a, .dirs = e->dirs, .env = &c->env };
    if (args_has(e->args, "--undo"))
        begin_undo(c);
    else if (why_not(&c->config))
        fail(c, why_not(&c->config));
    else
        begin_import(c);
}

static void cancel(void *ctx)
{
    struct import_command *c = ctx;

    import_check_free(c->check);
    c->check = NULL;
}

int cmd_import(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct import_command c = { 0 };

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    return errand_run(a, args, &job, &c);
}
