/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `cargo search`: a line a hit, 'name = "1.2.3"    # what it is for'. */
#include "base/mem.h"
#include "name.h"
#include "tool_impl.h"

#define MAX_ANSWER ((size_t)1 << 20)

/* False for a line that is no hit, such as "... and 12 crates more". */
static bool read_hit(struct str line, struct id *ret, struct str *ret_description)
{
    struct str name, rest, version, tail, blank;

    if (!str_cut(line, '=', &name, &rest))
        return false;
    rest = str_trim(rest);
    if (!str_starts(rest, STR("\"")) || !str_cut(str_from(rest, 1), '"', &version, &tail))
        return false;
    *ret = (struct id){ STR("cargo"), str_trim(name), version };
    *ret_description = (struct str){ 0 };
    if (str_cut(tail, '#', &blank, &tail))
        *ret_description = str_trim(tail);
    return name_is_sound(ret->name) && version.n;
}

static void put_hits(struct jw *w, struct str out)
{
    struct str line, rest = out, description;
    int hits = 0;

    jw_arr(w);
    while (hits < SEARCH_MAX && str_next(&rest, '\n', &line)) {
        struct id id;

        if (!read_hit(line, &id, &description))
            continue;
        jw_obj(w);
        jw_key(w, "id");
        id_put(w, &id);
        if (description.n)
            jw_kstr(w, "description", description);
        jw_end(w);
        hits++;
    }
    jw_end(w);
}

static void on_searched(void *ctx, const struct run_result *result, const struct error *why)
{
    struct request *r = ctx;
    auto_buf json = BUF(MAX_ANSWER);
    struct jw w = jw_to(&json);
    struct error e = { 0 };

    if (why)
        e = *why;
    else if (result->code != 0)
        tool_failure(result, "cargo search", &e);
    if (e.kind == ERR_NONE) {
        put_hits(&w, result->out);
        if (buf_ok(&json, &e)) {
            request_reply(r, buf_str(&json));
            return;
        }
    }
    request_fail(r, &e);
}

void tool_search(struct tool *t, struct request *r, struct str query)
{
    const char **argv = ARENA_ARRAY(&r->arena, const char *, 7);
    /* Not in the workspace: cargo would read its configuration. */
    struct run_opts opts = {
        .argv = argv,
        .env = t->env,
        .cwd = "/",
        .timeout_ms = SEARCH_TIMEOUT_MS,
        .install = INSTALL_CARGO,
    };

    argv[0] = t->program;
    argv[1] = "search";
    argv[2] = "--limit";
    argv[3] = arena_printf(&r->arena, "%d", SEARCH_MAX);
    argv[4] = "--";
    argv[5] = arena_z(&r->arena, query);
    opts.progress =
        arena_printf(&r->arena, "searching for '%.*s' (cargo search)", STR_F(query));
    run_command(r, &opts, on_searched, r);
}
