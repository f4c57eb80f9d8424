/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/report.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/command.h"
#include "sync/agent.h"

#define LINE_MAX_BYTES ((size_t)64 << 20) /* of one line of a report; a diff is one */
#define COLUMN_MAX     ((size_t)40)       /* bytes of names that are lined up */

/* ---- agents' files ---- */

static bool is_shown(const struct sync_line *l)
{
    switch (l->kind) {
    case SYNC_UNCHANGED:
        return cli.verbose;
    case SYNC_WRITTEN:
    case SYNC_WOULD_WRITE:
    case SYNC_NOTE:
        return !cli.quiet;
    case SYNC_DIFF:
    case SYNC_ERROR:
        return true;
    }
    return true;
}

void sync_report_print(const struct sync_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        FILE *to = r->v[i].kind == SYNC_ERROR || r->v[i].kind == SYNC_NOTE ? stderr : stdout;
        auto_buf line = BUF(LINE_MAX_BYTES);

        if (!is_shown(&r->v[i]))
            continue;
        sync_line_put_text(&line, &r->v[i]);
        /* Two streams that may be one terminal. */
        fflush(stdout);
        out_put_text(to, buf_str(&line));
    }
}

void sync_report_events(struct report *to, const struct sync_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        struct jw *w = report_event(to, sync_kind_name(r->v[i].kind));

        sync_line_put_json(w, &r->v[i]);
        jw_end(w);
    }
}

bool cli_agents(struct arena *a, const struct args *args, const char *option, struct strs *ret)
{
    for (size_t i = 0; i < args->ngiven; i++) {
        const struct given *g = &args->given[i];

        if (strcmp(g->option->name, option) != 0)
            continue;
        if (!agent_find(str_of(g->value))) {
            cli_usage(args->command, "no agent '%s'; there are %s", g->value, agent_names(a));
            return false;
        }
        ARENA_PUSH(a, ret) = str_of(g->value);
    }
    return true;
}

/* ---- plugins ---- */

void put_plugin_event(struct report *r, const struct plugin_status *st)
{
    struct jw *w = report_event(r, "plugin");

    jw_kstr(w, "name", st->name);
    jw_kstr(w, "registry", st->registry);
    jw_kstrz(w, "state", plugin_state_name(st->state));
    jw_kstr(w, "reason", st->reason);
    jw_kbool(w, "trusted", st->trusted);
    if (st->plugin) {
        jw_kstr(w, "dir", st->plugin->dir);
        if (st->plugin->manifest_path.n)
            jw_kstr(w, "manifest", st->plugin->manifest_path);
        if (st->plugin->origin == ORIGIN_PACKAGE)
            jw_kstr(w, "version", st->plugin->version);
    }
    jw_end(w);
}

static enum paint paint_of(enum plugin_state s)
{
    switch (s) {
    case PLUGIN_ACTIVE:
        return PAINT_GREEN;
    case PLUGIN_CANDIDATE:
        return PAINT_YELLOW;
    case PLUGIN_ERROR:
        return PAINT_RED;
    case PLUGIN_DORMANT:
    case PLUGIN_DECLINED:
    case PLUGIN_GATED:
        return PAINT_DIM;
    }
    return PAINT_OFF;
}

size_t plugin_column(const struct resolution *res)
{
    size_t longest = 0;

    for (size_t i = 0; i < res->plugins.n; i++)
        if (res->plugins.v[i].name.n > longest)
            longest = res->plugins.v[i].name.n;
    return longest < COLUMN_MAX ? longest : COLUMN_MAX;
}

void put_plugin_line(const struct plugin_status *st, size_t column)
{
    struct str name = st->name;

    fputs("  ", stdout);
    out_put_words(stdout, name);
    for (size_t i = name.n; i < column; i++)
        putchar(' ');
    printf("  %s%-9s%s  ", out_paint(stdout, paint_of(st->state)), plugin_state_name(st->state),
           out_paint(stdout, PAINT_OFF));
    out_put_words(stdout, st->reason);
    putchar('\n');
}

/* ---- problems ---- */

/* Two questions to one package manager that is not there give one line twice. */
static bool is_new(struct map *seen, struct str line)
{
    bool before = map_has(seen, line);

    map_put(seen, line, seen);
    return !before;
}

void put_problem_events(struct report *r, const struct strs *lines)
{
    struct map seen = MAP;

    for (size_t i = 0; i < lines->n; i++)
        if (is_new(&seen, lines->v[i]))
            report_text(r, "problem", lines->v[i]);
    map_free(&seen);
}

void put_problem_lines(const struct strs *lines)
{
    struct map seen = MAP;

    fflush(stdout);
    for (size_t i = 0; i < lines->n; i++)
        if (is_new(&seen, lines->v[i]))
            out_put_text(stderr, lines->v[i]);
    map_free(&seen);
}
