/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/session.h"
#include "meta/search.h"

struct tools {
    struct arena *a;
    const struct args *args;
    struct session *session;
    struct list_query query;
    struct listing *listing; /* under way */
};

/* The same arguments that an agent would send, so that one reader judges them. */
static bool read_query(struct tools *t, struct error *e)
{
    auto_buf text = BUF(OUTPUT_MAX);
    struct jw w = jw_to(&text);
    struct json *doc = ARENA_NEW(t->a, struct json);
    bool ok;

    jw_obj(&w);
    if (t->args->nwords) {
        jw_key(&w, "servers");
        jw_arr(&w);
        for (size_t i = 0; i < t->args->nwords; i++)
            jw_strz(&w, t->args->words[i]);
        jw_end(&w);
    }
    if (args_value(t->args, "--query"))
        jw_kstrz(&w, "query", args_value(t->args, "--query"));
    if (args_has(t->args, "--full"))
        jw_kstrz(&w, "detail", "full");
    jw_end(&w);
    ok = buf_ok(&text, e) && json_parse(doc, buf_str(&text), e) &&
         list_query_read(&t->query, doc->root, t->a, e);
    /* The query's slices point into the document. */
    if (ok) {
        t->query.query = arena_str(t->a, t->query.query);
        for (size_t i = 0; i < t->query.servers.n; i++)
            t->query.servers.v[i] = arena_str(t->a, t->query.servers.v[i]);
    }
    json_free(doc);
    return ok;
}

/* ---- for programs ---- */

static bool asked_for(const struct tools *t, const struct catalog_server *s)
{
    bool hit = !t->query.has_servers;

    for (size_t i = 0; !hit && i < t->query.servers.n; i++)
        hit =
            str_eq(t->query.servers.v[i], s->name) || str_eq(t->query.servers.v[i], s->global);
    return hit;
}

static void put_server(struct report *r, const struct catalog_server *s)
{
    const struct names *names = backend_names(s->backend);
    struct jw *w = report_event(r, "server");

    jw_kstr(w, "name", s->name);
    jw_kstr(w, "global", s->global);
    jw_kstr(w, "plugin", s->def->plugin->name);
    jw_kstrz(w, "state", backend_state_name(backend_state(s->backend)));
    jw_key(w, "tools");
    if (names)
        jw_int(w, (int64_t)names->n);
    else
        jw_null(w);
    jw_end(w);
}

static void put_tool(struct report *r, const struct catalog_server *s,
                     const struct tool_names *t)
{
    struct jw *w = report_event(r, "tool");

    jw_kstr(w, "server", s->name);
    jw_kstr(w, "name", t->tool->name);
    if (t->alias.n)
        jw_kstr(w, "alias", t->alias);
    jw_key(w, "definition");
    jw_val(w, t->tool->raw);
    jw_end(w);
}

static const struct names *names_of(const struct tools *t, size_t i)
{
    const struct catalog_server *s = &t->session->catalog->v[i];

    return asked_for(t, s) ? backend_names(s->backend) : NULL;
}

static void put_ranked(const struct tools *t, struct report *r)
{
    const struct catalog *c = t->session->catalog;
    struct search_doc *docs;
    size_t n = 0, hits;

    for (size_t i = 0; i < c->n; i++)
        n += names_of(t, i) ? names_of(t, i)->n : 0;
    docs = ARENA_ARRAY(t->a, struct search_doc, n + 1);
    n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct names *names = names_of(t, i);

        for (size_t k = 0; names && k < names->n; k++)
            docs[n++] = (struct search_doc){ .server = c->v[i].name,
                                             .name = names->v[k].tool->name,
                                             .description = names->v[k].tool->description,
                                             .index = i << 32 | k };
    }
    hits = search_rank(docs, n, t->query.query);
    for (size_t i = 0; i < hits && i < t->query.limit; i++) {
        const struct catalog_server *s = &c->v[docs[i].index >> 32];

        put_tool(r, s, &backend_names(s->backend)->v[docs[i].index & UINT32_MAX]);
    }
}

/* The lines below the last "Problems:", which hold what this request met as well. */
static struct str problems_in(struct str text)
{
    static const struct str head = { "Problems:\n", 10 };
    struct str found = { 0 };

    if (str_starts(text, head))
        found = str_from(text, head.n);
    for (size_t at; (at = str_find(text, STR("\nProblems:\n"))) != SIZE_MAX;)
        found = text = str_from(text, at + 1 + head.n);
    return found;
}

static void put_problems(struct report *r, struct str text)
{
    struct str line, rest = problems_in(text);

    while (str_next(&rest, '\n', &line))
        report_text(r, "problem", str_trim(line));
}

static bool put_report(const struct tools *t, struct str text)
{
    const struct catalog *c = t->session->catalog;
    struct report r;

    report_begin(&r);
    for (size_t i = 0; i < c->n; i++)
        if (asked_for(t, &c->v[i]))
            put_server(&r, &c->v[i]);
    if (t->query.query.n) {
        put_ranked(t, &r);
    } else {
        for (size_t i = 0; i < c->n; i++)
            for (size_t k = 0; names_of(t, i) && k < names_of(t, i)->n; k++)
                put_tool(&r, &c->v[i], &names_of(t, i)->v[k]);
    }
    put_problems(&r, text);
    return report_end(&r);
}

/* ---- for people ---- */

/* Index lines get colour: a server's name, the description behind " - ". */
static void put_line(struct str line)
{
    size_t dash = str_find(line, STR(" - "));
    bool head = line.n > 1 && line.p[0] != ' ' && line.p[line.n - 1] == ':';

    if (head)
        printf("%s%.*s%s\n", out_paint(stdout, PAINT_BOLD), STR_F(line),
               out_paint(stdout, PAINT_OFF));
    else if (dash != SIZE_MAX)
        printf("%.*s%s%.*s%s\n", STR_F(str_upto(line, dash)), out_paint(stdout, PAINT_DIM),
               STR_F(str_from(line, dash)), out_paint(stdout, PAINT_OFF));
    else
        printf("%.*s\n", STR_F(line));
}

static void put_index(struct str text)
{
    struct str line;

    while (str_cut(text, '\n', &line, &text))
        put_line(line);
    put_line(text);
}

/* Every server that was named is here and told its tools; if not, the text says why. */
static bool all_answered(const struct tools *t)
{
    for (size_t i = 0; i < t->query.servers.n; i++) {
        const struct catalog_server *s =
            catalog_find(t->session->catalog, t->query.servers.v[i]);

        if (!s || !backend_names(s->backend))
            return false;
    }
    return true;
}

static void on_listed(void *ctx, struct str text)
{
    struct tools *t = ctx;
    bool ok = true;

    t->listing = NULL;
    session_clear(t->session);
    if (cli.json)
        ok = put_report(t, text);
    else if (t->query.detail == DETAIL_NAMES && out_is_terminal(stdout))
        put_index(text);
    else
        out_put_text(stdout, text);
    session_end(t->session, ok && all_answered(t) ? EXIT_OK : EXIT_FAILED);
}

static void begin(struct session *s, void *ctx)
{
    struct tools *t = ctx;
    struct listing *l;

    t->session = s;
    l = list_tools_run(s->catalog, &t->query, on_listed, t);
    if (l)
        t->listing = l;
}

static void cancel(void *ctx)
{
    struct tools *t = ctx;

    list_tools_cancel(t->listing);
}

int cmd_tools(struct arena *a, const struct args *args)
{
    static const struct session_job job = { .begin = begin,
                                            .cancel = cancel,
                                            .asks_trust = true };
    struct tools t = { .a = a, .args = args };
    struct error e;

    if (!read_query(&t, &e))
        return cli_usage(args->command, "%s", e.msg);
    return session_run(a, args, &job, &t);
}
