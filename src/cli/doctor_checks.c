/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/doctor.h"
#include "pm/locate.h"
#include "sandbox/host.h"
#include "tasks/adapter.h"

/* ---- what to do ---- */

/* The first row whose text occurs in the problem counts. */
static const struct {
    const char *said, *advice;
} advice[] = {
    { "run 'symposium trust'", "" },
    { "dormant, it names no dependency", "" },
    { "config.toml", "correct the file; until then all defaults apply" },
    { "skipping ", "correct that file; nothing in it counts until then" },
    { "HTTP 401", "give the credentials in 'headers' of this server" },
    { "HTTP 403", "check the credentials in 'headers' of this server" },
    { "could not resolve host", "check the host's name in 'url', and this machine's DNS" },
    { "TLS: ", "check 'url'; an authority of your own goes into [mcp] ca-file" },
    { "plain http is only", "" },
    { "without an answer", "check 'url': there is a web server, but none of MCP" },
    { "HTTP 404", "check the path in 'url'" },
    { "start failed at connect", "check 'url', and that the server runs" },
    { "would start itself", "remove this entry: symposium is not one of its own servers" },
    { "already has a server of this name",
      "rename one of the two, or list one plugin in [plugins] disable of config.toml" },
    { "is reserved", "" },
    { "no tools visible", "check 'enabled-tools' and 'disabled-tools', and [mcp] read-only" },
    { "changed since last seen",
      "look at what it does now; the next session takes it as known" },
    { "invalid input", "correct that file; until then the workspace has no dependencies" },
    { "package manager",
      "install it next to symposium or in PATH, or correct [[package-manager]]" },
    { "is not set",
      "set the variable where the agent starts, or give a default: ${NAME:-value}" },
    { "cannot be entered", "correct 'cwd', or make the directory" },
    { "No such file", "install the program, or give 'command' an absolute path" },
    { "no such program", "install the program, or give 'command' an absolute path" },
    { "not found", "install the program, or give 'command' an absolute path" },
    { "timed out", "if it is only slow, raise 'startup-timeout-secs' of this server" },
    { "within", "if it is only slow, raise 'startup-timeout-secs' of this server" },
    { "still being resolved", "a gate's shell() or predicate is slow; see the plugins above" },
};

/* What a server that ran said of itself can hold any word of the table. One that could not be
 * spawned said nothing: there it is our own keeper that speaks. */
static struct str without_stderr(struct str problem)
{
    if (str_find(problem, STR("start failed at spawn")) != SIZE_MAX)
        return problem;
    return str_upto(problem, str_find(problem, STR("; stderr: ")));
}

/* "cannot execute 'npx -y server'": a command line where a program belongs. */
static bool is_command_line(struct str problem)
{
    struct str begin = STR("cannot execute '"), name;
    size_t at = str_find(problem, begin);

    if (at == SIZE_MAX)
        return false;
    name = str_from(problem, at + begin.n);
    name = str_upto(name, str_find_char(name, '\''));
    return str_find_char(name, ' ') != SIZE_MAX;
}

const char *advice_for(struct str problem)
{
    problem = without_stderr(problem);
    if (is_command_line(problem))
        return "'command' is the program alone; its arguments belong into 'args'";
    for (size_t i = 0; i < ARRAY_LEN(advice); i++)
        if (str_find(problem, str_of(advice[i].said)) != SIZE_MAX)
            return advice[i].advice;
    return "run its command in a terminal to see what it says";
}

/* ---- saying it ---- */

static const struct {
    const char *type, *heading;
} sections[] = {
    { "version", NULL },
    { "workspace", "Workspace" },
    { "config", "Configuration" },
    { "package-manager", "Package managers" },
    { "plugin", "Plugins" },
    { "task-agent", "Agents for tasks" },
    { "sandbox", "Script sandbox" },
    { "server", "Servers" },
};

static enum paint paint_of(const char *state)
{
    struct str s = str_of(state);

    if (str_is(s, "ok") || str_is(s, "active"))
        return PAINT_GREEN;
    return str_is(s, "failed") || str_is(s, "error") ? PAINT_RED : PAINT_YELLOW;
}

static void put_heading(struct findings *f, const char *type)
{
    if (f->section && str_is(str_of(type), f->section))
        return;
    f->section = type;
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (str_is(str_of(type), sections[i].type) && sections[i].heading)
            printf("\n%s%s%s\n", out_paint(stdout, PAINT_BOLD), sections[i].heading,
                   out_paint(stdout, PAINT_OFF));
}

/* Step by step, as far as it got: a wrong name, a closed port and a wrong certificate want
 * different things done. */
static void put_route(struct buf *line, const struct mcp_route *r)
{
    if (r->addresses)
        buf_addf(line, "; DNS: %zu address%s in %d ms", r->addresses,
                 r->addresses == 1 ? "" : "es", r->resolve_ms);
    if (r->connect_ms >= 0)
        buf_addf(line, "; connected in %d ms", r->connect_ms);
    if (r->tls_ms >= 0)
        buf_addf(line, "; TLS in %d ms", r->tls_ms);
}

static void put_event_route(struct jw *w, const struct mcp_route *r)
{
    jw_kint(w, "addresses", (int64_t)r->addresses);
    if (r->resolve_ms >= 0)
        jw_kint(w, "dns_ms", r->resolve_ms);
    if (r->connect_ms >= 0)
        jw_kint(w, "connect_ms", r->connect_ms);
    if (r->tls_ms >= 0)
        jw_kint(w, "tls_ms", r->tls_ms);
}

static void put_for_people(struct findings *f, const struct row *row)
{
    auto_buf line = BUF(64 << 10);

    put_heading(f, row->type);
    utf8_put_clean(&line, row->name);
    while (line.n < 16)
        buf_addc(&line, ' ');
    buf_addz(&line, "  ");
    if (row->listed)
        buf_addf(&line, "%zu tool%s in %lld ms%s%s", row->tools, row->tools == 1 ? "" : "s",
                 (long long)row->ms, row->revision ? ", revision " : "",
                 row->revision ? row->revision : "");
    utf8_put_clean(&line, row->detail);
    if (row->route)
        put_route(&line, row->route);
    printf("  %s%-9s%s %s\n", out_paint(stdout, paint_of(row->state)), row->state,
           out_paint(stdout, PAINT_OFF), buf_z(&line));
}

void findings_row(struct findings *f, const struct row *row)
{
    struct jw *w;

    if (!cli.json) {
        put_for_people(f, row);
        return;
    }
    w = report_event(&f->report, row->type);
    jw_kstr(w, "name", row->name);
    jw_kstrz(w, "state", row->state);
    jw_kstr(w, "detail", row->detail);
    if (row->listed) {
        jw_kint(w, "tools", (int64_t)row->tools);
        jw_kint(w, "ms", row->ms);
    }
    if (row->revision)
        jw_kstrz(w, "revision", row->revision);
    if (row->route)
        put_event_route(w, row->route);
    jw_end(w);
}

void findings_problem(struct findings *f, struct str text, const char *what)
{
    if (strs_has(&f->problems, text))
        return;
    ARENA_PUSH(f->a, &f->problems) = arena_str(f->a, text);
    ARENA_PUSH(f->a, &f->advice) = str_of(what ? what : advice_for(text));
}

void findings_note(struct findings *f, struct str text)
{
    if (!strs_has(&f->notes, text))
        ARENA_PUSH(f->a, &f->notes) = arena_str(f->a, text);
}

static void end_for_people(const struct findings *f)
{
    putchar('\n');
    for (size_t i = 0; i < f->notes.n; i++) {
        printf("%snote:%s ", out_paint(stdout, PAINT_YELLOW), out_paint(stdout, PAINT_OFF));
        out_put_text(stdout, f->notes.v[i]);
    }
    for (size_t i = 0; i < f->problems.n; i++) {
        printf("%s%zu.%s ", out_paint(stdout, PAINT_RED), i + 1, out_paint(stdout, PAINT_OFF));
        out_put_text(stdout, f->problems.v[i]);
        if (f->advice.v[i].n)
            printf("   -> %.*s\n", STR_F(f->advice.v[i]));
    }
    if (f->problems.n)
        printf("%zu thing%s to do.\n", f->problems.n, f->problems.n == 1 ? "" : "s");
    else
        printf("Everything works.\n");
}

static bool end_for_programs(struct findings *f)
{
    struct jw *w;

    for (size_t i = 0; i < f->notes.n; i++)
        report_text(&f->report, "note", f->notes.v[i]);
    for (size_t i = 0; i < f->problems.n; i++) {
        w = report_event(&f->report, "problem");
        jw_kstr(w, "text", f->problems.v[i]);
        jw_kstr(w, "advice", f->advice.v[i]);
        jw_end(w);
    }
    return report_end(&f->report);
}

int findings_end(struct findings *f)
{
    bool ok = true;

    if (cli.json)
        ok = end_for_programs(f);
    else
        end_for_people(f);
    return ok && !f->problems.n ? EXIT_OK : EXIT_FAILED;
}

/* ---- the inventory ---- */

/* Why this directory is the root: the markers of CF-2 that it holds. */
static struct str markers(struct arena *a, const struct workspace *ws)
{
    static const char *const names[] = { "Cargo.toml", "package.json", "pyproject.toml",
                                         "go.mod", ".git" };
    const char *root = arena_z(a, ws->root);
    auto_buf out = BUF(1024);

    for (size_t i = 0; ws->found && i < ARRAY_LEN(names); i++)
        if (file_exists(path_join(a, root, names[i])))
            buf_addf(&out, "%s%s", out.n ? ", " : "it holds ", names[i]);
    if (!ws->found)
        buf_addz(&out, "no manifest and no .git above: the directory itself");
    if (ws->members.n)
        buf_addf(&out, "; %zu member%s", ws->members.n, ws->members.n == 1 ? "" : "s");
    return arena_str(a, buf_str(&out));
}

static void put_versions(struct findings *f)
{
    struct row row = { .type = "version", .name = STR("symposium"), .state = SYM_VERSION };

    row.detail = str_of(arena_printf(f->a, "%s; %s", sandbox_engine(), SYM_LIBRARIES));
    if (cli.json)
        findings_row(f, &row);
    else
        printf("symposium %s (%.*s)\n", SYM_VERSION, STR_F(row.detail));
}

static void put_config(struct findings *f, const struct config *config)
{
    const char *absent = file_exists(arena_z(f->a, config->path)) ? "" : "absent: all defaults";
    struct row row = { .type = "config",
                       .name = config->path,
                       .state = config->malformed ? "failed" : "ok",
                       .detail = str_of(absent) };

    findings_row(f, &row);
    for (size_t i = 0; i < config->warnings.n; i++)
        findings_problem(f, config->warnings.v[i],
                         config->malformed ? "correct the file; until then all defaults apply"
                                           : "correct that key; it has no effect");
    if (!config->mcp.enabled)
        findings_note(
            f, STR("the meta-server is off ([mcp] enabled = false): agents get no tools"));
}

/* Whom a task can be handed to (TK-17). */
static void put_task_agents(struct findings *f, const struct config *config)
{
    const char *path = getenv("PATH");
    struct adapters all;

    adapters_load(&all, f->a, config);
    for (size_t i = 0; i < all.n; i++) {
        struct row row = { .type = "task-agent", .name = str_of(adapter_name(all.v[i])) };
        struct error e;
        const char *program = adapter_program(all.v[i], path ? path : "", f->a, &e);

        row.state = program ? "ok" : "absent";
        row.detail = program ? str_of(program) : arena_str(f->a, str_of(e.msg));
        findings_row(f, &row);
    }
    for (size_t i = 0; i < all.problems.n; i++)
        findings_problem(f, all.problems.v[i], "correct that entry of config.toml");
}

static size_t count_deps(const struct resolution *res, const char *pm)
{
    size_t n = 0;

    for (size_t i = 0; i < res->deps.n; i++)
        n += str_is(res->deps.v[i].pm, pm);
    return n;
}

/* What it failed at when it was asked; empty: it answered. */
static struct str pm_failure(struct arena *a, const struct resolution *res, const char *pm)
{
    struct str begin = str_of(arena_printf(a, "package manager '%s': ", pm));

    for (size_t i = 0; i < res->problems.n; i++)
        if (str_starts(res->problems.v[i], begin))
            return str_from(res->problems.v[i], begin.n);
    return (struct str){ 0 };
}

static void put_package_managers(struct findings *f, const struct resolution *res,
                                 const struct dirs *dirs)
{
    struct pm_programs pms = { 0 };

    pm_locate(&pms, f->a, dirs, &res->config, &res->workspace);
    for (size_t i = 0; i < pms.n; i++) {
        const struct pm_program *pm = &pms.v[i];
        size_t n = count_deps(res, pm->name);
        struct row row = { .type = "package-manager", .name = str_of(pm->name) };

        row.detail = pm_failure(f->a, res, pm->name);
        row.state = row.detail.n ? "failed" : "ok";
        if (!row.detail.n)
            row.detail = str_of(arena_printf(f->a, "%zu direct dependenc%s (%s)", n,
                                             n == 1 ? "y" : "ies", pm->file));
        findings_row(f, &row);
    }
}

static void put_plugins(struct findings *f, const struct resolution *res)
{
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];
        struct row row = { .type = "plugin", .name = st->name, .detail = st->reason };

        row.state = plugin_state_name(st->state);
        if (st->state != PLUGIN_ACTIVE && st->registry.n)
            row.detail = str_of(
                arena_printf(f->a, "%.*s [%.*s]", STR_F(st->reason), STR_F(st->registry)));
        findings_row(f, &row);
    }
}

/* A workspace manifest that waits for consent shows itself in refused servers; one that has
 * only gates or hooks would go unseen. */
static void check_trust(struct findings *f, const struct resolution *res)
{
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (st->state == PLUGIN_GATED && str_find(st->reason, STR("not trusted")) != SIZE_MAX)
            findings_problem(f,
                             str_of(arena_printf(f->a, "plugin '%.*s': %.*s", STR_F(st->name),
                                                 STR_F(st->reason))),
                             "");
    }
}

/* A global under another name is worth knowing and needs nothing (MS-12). */
static void check_line(void *ctx, struct str line)
{
    struct findings *f = ctx;

    if (str_find(line, STR(": use the script variable ")) != SIZE_MAX)
        findings_note(f, line);
    else
        findings_problem(f, line, NULL);
}

void doctor_inventory(struct findings *f, const struct catalog *c, const struct dirs *dirs)
{
    const struct resolution *res = c->res;
    struct row root = { .type = "workspace", .name = res->workspace.root, .state = "ok" };

    put_versions(f);
    root.detail = markers(f->a, &res->workspace);
    findings_row(f, &root);
    put_config(f, &res->config);
    put_package_managers(f, res, dirs);
    put_plugins(f, res);
    put_task_agents(f, &res->config);
    check_trust(f, res);
    catalog_put_problems(c, check_line, f);
    doctor_idle(f, res);
    for (size_t i = 0; i < res->warnings.n; i++)
        if (!strs_has(&f->problems, res->warnings.v[i]))
            findings_note(f, res->warnings.v[i]);
    if (!res->plugins.n)
        findings_note(f,
                      str_of(arena_printf(f->a, "no plugins yet; the first goes to %s/plugins",
                                          dirs->config)));
}

/* ---- the sandbox ---- */

static void put_layer(struct findings *f, const char *name, bool on, const char *detail)
{
    struct row row = { .type = "sandbox",
                       .name = str_of(name),
                       .state = on ? "ok" : "off",
                       .detail = str_of(detail) };

    findings_row(f, &row);
}

void doctor_layers(struct findings *f)
{
    struct sandbox_layers l = sandbox_probe_layers();

    put_layer(f, "seccomp", l.seccomp,
              l.seccomp ? "system calls are on an allow list" : "this kernel has no filters");
    put_layer(f, "no-new-privs", l.no_new_privs, "");
    put_layer(f, "Landlock", l.landlock_abi > 0,
              l.landlock_abi
                  ? arena_printf(f->a, "ABI %d: no file can be opened", l.landlock_abi)
                  : "not in this kernel; the system-call filter keeps files closed");
    put_layer(f, "MDWE", l.mdwe,
              l.mdwe ? "no memory becomes executable" : "needs Linux 6.3; the filter does it");
    put_layer(f, "pidfd", l.pidfd,
              l.pidfd ? "" : "needs Linux 5.3; processes are killed by pid");
    if (!l.usable)
        findings_problem(
            f, STR("scripts cannot run: a worker cannot be locked down on this kernel"),
            "use a kernel with seccomp filters; SYMPOSIUM_ALLOW_UNSANDBOXED=1 runs "
            "scripts without, at your own risk");
}
