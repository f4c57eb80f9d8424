/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/list_tools.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "meta/inventory.h"
#include "meta/search.h"
#include "text/glob.h"

#define SLICE_US          4000
#define SLICE_GAP_MS      1 /* not 0: the loop looks at its descriptors in between */
#define LIST_PROBLEMS_MAX ((size_t)4 << 20)

/* One server of the answer. */
struct item {
    struct listing *l;
    const struct catalog_server *s;
    struct inventory *inv;     /* counted; NULL: could not be described */
    const struct names *names; /* of inv */
    bool *chosen;              /* parallel to names->v */
    size_t nchosen;
    uint64_t wait; /* 0: known */
    size_t order;  /* place of its best hit */
};

/*
 * loading (caches are read) -> waiting (for servers being started) -> declaring -> done.
 * Loading and declaring go on in slices, so that a large inventory never keeps the loop from
 * others.
 */
struct listing {
    struct catalog *catalog;
    const struct list_query *q;
    list_done_fn done;
    void *ctx;
    struct arena a;
    struct item *items;
    size_t n, loaded, pending;
    struct strs problems; /* lines of this request */
    struct map asked;     /* names of q->tools */
    bool qualified;       /* one of them may be "server.tool" */
    struct timer *slice;  /* the next one is due */
    struct buf out;
    bool composed;
    struct tsdecl *decl; /* declaring */
};

/* ---- the query ---- */

static bool read_strings(struct strs *ret, bool *given, yyjson_val *args, const char *key,
                         struct arena *a, struct error *e)
{
    yyjson_val *v = json_get(args, key);

    *given = json_len(v) > 0; /* [] asks for nothing in particular */
    if (!v || json_is_null(v))
        return true;
    if (!json_is_arr(v))
        return error_set(e, ERR_INVALID, "'%s' must be an array of strings, not %s", key,
                         json_type_name(v));
    if (json_len(v) > LIST_MAX_NAMES)
        return error_set(e, ERR_INVALID, "'%s' must hold at most %d names", key,
                         LIST_MAX_NAMES);
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (!json_is_str(it.val))
            return error_set(e, ERR_INVALID, "'%s' must hold strings only, not %s", key,
                             json_type_name(it.val));
        ARENA_PUSH(a, ret) = json_str(it.val);
    }
    return true;
}

/* null counts as absent: clients that fill in every optional argument send it. */
static bool read_text(struct str *ret, yyjson_val *args, const char *key, struct error *e)
{
    if (json_is_null(json_get(args, key)))
        return true;
    if (!json_opt_str(args, key, ret, e))
        return false;
    return ret->n <= LIST_MAX_WORDS ||
           error_set(e, ERR_INVALID, "'%s' must be at most %d bytes", key, LIST_MAX_WORDS);
}

bool list_query_read(struct list_query *ret, yyjson_val *args, struct arena *a, struct error *e)
{
    struct str detail = { 0 };
    int64_t limit = LIST_LIMIT_DEFAULT;
    bool narrowed;

    *ret = (struct list_query){ 0 };
    if (!read_strings(&ret->servers, &ret->has_servers, args, "servers", a, e) ||
        !read_strings(&ret->tools, &ret->has_tools, args, "tools", a, e) ||
        !read_text(&ret->pattern, args, "pattern", e) ||
        !read_text(&ret->query, args, "query", e) || !read_text(&detail, args, "detail", e))
        return false;
    if (!json_is_null(json_get(args, "limit")) &&
        !json_opt_int(args, "limit", INT64_MIN, INT64_MAX, &limit, e))
        return false;
    ret->query = str_trim(ret->query);
    ret->limit = limit < 1 ? 1 : limit > LIST_LIMIT_MAX ? LIST_LIMIT_MAX : (size_t)limit;
    narrowed = ret->has_servers || ret->has_tools;
    if (str_is(detail, "signatures"))
        ret->detail = DETAIL_SIGNATURES;
    else
        ret->detail = narrowed || str_is(detail, "full") ? DETAIL_FULL : DETAIL_NAMES;
    return true;
}

/* ---- choosing ---- */

static void add_problem(void *ctx, struct str line)
{
    struct listing *l = ctx;

    ARENA_PUSH(&l->a, &l->problems) = arena_str(&l->a, line);
}

static void note_asked(struct listing *l)
{
    for (size_t i = 0; i < l->q->tools.n; i++) {
        struct str name = l->q->tools.v[i];

        map_put(&l->asked, name, l);
        l->qualified |= str_find_char(name, '.') != SIZE_MAX;
    }
}

static bool asked_qualified(const struct listing *l, const struct item *it, struct str name)
{
    auto_buf key = BUF((size_t)4 << 20);

    buf_addf(&key, "%.*s.%.*s", STR_F(it->s->name), STR_F(name));
    return map_has(&l->asked, buf_str(&key));
}

/* A name asked for is the wire name, a declared alias, or either as "server.tool". */
static bool asked_for(const struct listing *l, const struct item *it,
                      const struct tool_names *t)
{
    struct str name = t->tool->name, alias = t->alias;

    if (map_has(&l->asked, name) || (alias.n && map_has(&l->asked, alias)))
        return true;
    return l->qualified &&
           (asked_qualified(l, it, name) || (alias.n && asked_qualified(l, it, alias)));
}

static bool wanted(const struct listing *l, const struct item *it, const struct tool_names *t)
{
    return (!l->q->has_tools || asked_for(l, it, t)) &&
           (!l->q->pattern.n || glob_name(l->q->pattern, t->tool->name));
}

static void choose(struct listing *l, struct item *it)
{
    bool narrowed = l->q->has_tools || l->q->pattern.n || l->q->query.n;

    it->chosen = ARENA_ARRAY(&l->a, bool, it->names->n + 1);
    for (size_t i = 0; i < it->names->n; i++) {
        it->chosen[i] = wanted(l, it, &it->names->v[i]);
        it->nchosen += it->chosen[i];
    }
    if (!it->names->n && it->names->hidden && !narrowed)
        add_problem(l,
                    str_of(arena_printf(&l->a, "%.*s: no tools visible (%zu hidden by filters)",
                                        STR_F(it->s->name), it->names->hidden)));
}

/* ---- search ---- */

struct hits {
    struct search_doc *docs;
    size_t n;
};

static struct hits rank(struct listing *l)
{
    struct hits h = { 0 };
    size_t total = 0;

    for (size_t i = 0; i < l->n; i++)
        total += l->items[i].nchosen;
    h.docs = ARENA_ARRAY(&l->a, struct search_doc, total + 1);
    total = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct item *it = &l->items[i];

        for (size_t k = 0; it->names && k < it->names->n; k++) {
            const struct tool *t = it->names->v[k].tool;

            if (it->chosen[k])
                h.docs[total++] =
                    (struct search_doc){ it->s->name, t->name, t->description, 0, i << 32 | k };
        }
    }
    h.n = search_rank(h.docs, total, l->q->query);
    if (h.n > l->q->limit)
        h.n = l->q->limit;
    return h;
}

/* Leaves only the hits chosen, and orders servers by their best one. */
static void keep_hits(struct listing *l, const struct hits *h)
{
    for (size_t i = 0; i < l->n; i++) {
        for (size_t k = 0; l->items[i].names && k < l->items[i].names->n; k++)
            l->items[i].chosen[k] = false;
        l->items[i].nchosen = 0;
        l->items[i].order = SIZE_MAX;
    }
    for (size_t i = 0; i < h->n; i++) {
        struct item *it = &l->items[h->docs[i].index >> 32];

        it->chosen[h->docs[i].index & 0xffffffff] = true;
        it->nchosen++;
        if (it->order == SIZE_MAX)
            it->order = i;
    }
}

static int by_order(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- text ---- */

/* The first line of a description, cleaned, at most LIST_LINE_CHARS characters, cut at a word
 * border. */
static void put_first_line(struct buf *out, struct str description)
{
    auto_buf clean = BUF(4096);
    struct str line = str_trim(description), head, tail;

    if (str_cut(line, '\n', &head, &tail))
        line = head;
    utf8_put_clean(&clean, utf8_cut(line, 2048));
    line = str_trim(buf_str(&clean));
    head = utf8_cut_chars(line, LIST_LINE_CHARS);
    if (head.n < line.n) {
        head = utf8_cut_chars(line, LIST_LINE_CHARS - 1);
        for (size_t i = head.n; i > head.n / 2; i--) {
            if (head.p[i - 1] == ' ') {
                head.n = i - 1;
                break;
            }
        }
    }
    buf_add(out, head);
    if (head.n < line.n)
        buf_addz(out, "\xe2\x80\xa6");
}

static void put_name(struct buf *out, struct str name)
{
    auto_buf clean = BUF(1024);

    utf8_put_clean(&clean, utf8_cut(name, 512));
    buf_add(out, utf8_cut_chars(buf_str(&clean), 128));
}

static void put_described(struct buf *out, const struct tool *t)
{
    struct str text = str_trim(t->description);

    put_name(out, t->name);
    if (t->needs_task)
        buf_addz(out, " (runs only as a task: cannot be called)");
    if (text.n) {
        buf_addz(out, " - ");
        put_first_line(out, text);
    }
    buf_addc(out, '\n');
}

static void put_index_block(struct buf *out, const struct item *it)
{
    put_name(out, it->s->name);
    buf_addz(out, ":\n");
    for (size_t i = 0; i < it->names->n; i++) {
        if (it->chosen[i]) {
            buf_addz(out, "  ");
            put_described(out, it->names->v[i].tool);
        }
    }
}

static void put_index_names(struct buf *out, const struct item *it)
{
    const char *before = ": ";

    put_name(out, it->s->name);
    for (size_t i = 0; i < it->names->n; i++) {
        if (it->chosen[i]) {
            buf_addz(out, before);
            put_name(out, it->names->v[i].tool->name);
            before = ", ";
        }
    }
    buf_addc(out, '\n');
}

static void put_index_count(struct buf *out, const struct item *it)
{
    put_name(out, it->s->name);
    buf_addf(out, ": %zu tool%s\n", it->nchosen, it->nchosen == 1 ? "" : "s");
}

#define COARSEST 2

/* The index at one of three grains; false when it passes the bound. The coarsest is cut there.
 */
static bool put_index_at(struct buf *out, const struct listing *l, int grain)
{
    static void (*const put[])(struct buf *, const struct item *) = { put_index_block,
                                                                      put_index_names,
                                                                      put_index_count };
    size_t left_out = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct item *it = &l->items[i];
        size_t before = out->n;

        if (!it->names || !it->nchosen)
            continue;
        if (!left_out)
            put[grain](out, it);
        if (out->n > LIST_INDEX_MAX) {
            if (grain < COARSEST)
                return false;
            buf_truncate(out, before);
            left_out++;
        } else {
            left_out += left_out > 0;
        }
    }
    if (left_out)
        buf_addf(out, "... and %zu more servers\n", left_out);
    return true;
}

static void put_index(struct buf *out, const struct listing *l)
{
    static const char *const notes[] = {
        "",
        "(descriptions left out: use query, or servers for declarations)\n",
        "(tool names left out: use query to find tools, or servers to list some)\n",
    };
    int grain = 0;

    for (; !put_index_at(out, l, grain) && grain < COARSEST; grain++)
        buf_clear(out);
    buf_addz(out, notes[grain]);
}

static void put_hits(struct buf *out, const struct listing *l, const struct hits *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct item *it = &l->items[h->docs[i].index >> 32];

        put_name(out, it->s->name);
        buf_addc(out, '.');
        put_described(out, it->names->v[h->docs[i].index & 0xffffffff].tool);
    }
}

static void begin_declarations(struct listing *l)
{
    struct decl_server *servers = ARENA_ARRAY(&l->a, struct decl_server, l->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct item *it = &l->items[i];

        if (it->nchosen)
            servers[n++] = (struct decl_server){ it->s->global, it->names, it->chosen };
    }
    l->decl = tsdecl_new(&l->out, servers, n, l->q->detail, l->catalog->globals, l->catalog->n);
}

static void put_problems(struct buf *out, struct listing *l)
{
    catalog_put_problems(l->catalog, add_problem, l);
    if (!l->problems.n)
        return;
    buf_addz(out, out->n ? "\nProblems:\n" : "Problems:\n");
    for (size_t i = 0; i < l->problems.n; i++) {
        buf_addz(out, "  ");
        utf8_put_clean(out, l->problems.v[i]);
        buf_addc(out, '\n');
    }
}

/* Writes the answer, or begins to, where it is declarations. */
static void put_chosen(struct listing *l)
{
    struct buf *out = &l->out;
    struct hits h;
    size_t total = 0;

    note_asked(l);
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].names)
            choose(l, &l->items[i]);
    if (l->q->query.n) {
        h = rank(l);
        if (l->q->detail == DETAIL_NAMES) {
            put_hits(out, l, &h);
            if (!h.n)
                buf_addz(out, "No tools matched.\n");
            return;
        }
        keep_hits(l, &h);
        qsort(l->items, l->n, sizeof *l->items, by_order);
    }
    for (size_t i = 0; i < l->n; i++)
        total += l->items[i].nchosen;
    if (!total)
        buf_addz(out, "No tools matched.\n");
    else if (l->q->detail == DETAIL_NAMES)
        put_index(out, l);
    else
        begin_declarations(l);
}

static void free_listing(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        inventory_unref(l->items[i].inv);
    tsdecl_free(l->decl);
    timer_free(l->slice);
    map_free(&l->asked);
    buf_free(&l->out);
    catalog_unref(l->catalog);
    arena_free(&l->a);
    free(l);
}

static void finish(struct listing *l)
{
    list_done_fn done = l->done;
    void *ctx = l->ctx;
    auto_buf out = BUF(LIST_TEXT_MAX + LIST_PROBLEMS_MAX);

    if (buf_ok(&l->out, NULL))
        buf_add(&out, buf_str(&l->out));
    else
        buf_addf(&out,
                 "What was asked for is longer than %zu MiB: ask for less with servers, "
                 "tools, pattern or query.\n",
                 LIST_TEXT_MAX >> 20);
    put_problems(&out, l);
    free_listing(l);
    done(ctx, str_trim(buf_str(&out)));
}

/* ---- describing ---- */

static void advance(struct listing *l);

static void on_known(void *ctx, const struct error *why)
{
    struct item *it = ctx;
    struct listing *l = it->l;

    it->wait = 0;
    /* A server that is not tried again tells so itself. */
    if (why && backend_state(it->s->backend) != BACKEND_FAILED)
        add_problem(l, str_of(arena_printf(&l->a, "%.*s: %s", STR_F(it->s->name), why->msg)));
    if (--l->pending == 0 && l->loaded == l->n)
        advance(l);
}

struct named {
    struct str name;
    bool found;
};

static void look_for(void *ctx, struct str line)
{
    struct named *n = ctx;

    n->found |= str_starts(line, n->name) && str_starts(str_from(line, n->name.n), STR(": "));
}

/* There is one of that name, which a line about it says to be refused. */
static bool is_left_out(const struct catalog *c, struct str name)
{
    struct named n = { name, false };

    catalog_put_problems(c, look_for, &n);
    return n.found;
}

static void select_servers(struct listing *l)
{
    const struct catalog *c = l->catalog;
    auto_buf names = BUF(4096);

    l->items = ARENA_ARRAY(&l->a, struct item, c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        bool hit = !l->q->has_servers;

        for (size_t k = 0; !hit && k < l->q->servers.n; k++)
            hit = catalog_find(c, l->q->servers.v[k]) == &c->v[i];
        if (hit)
            l->items[l->n++] = (struct item){ .l = l, .s = &c->v[i] };
        buf_addf(&names, "%s%.*s", i ? ", " : "", STR_F(c->v[i].name));
    }
    for (size_t k = 0; c->n && k < l->q->servers.n; k++) {
        struct str name = l->q->servers.v[k];

        if (!catalog_find(c, name) && !is_left_out(c, name))
            add_problem(l, str_of(arena_printf(&l->a, "%.*s: no such server; available: %s",
                                               STR_F(utf8_cut(name, 100)), buf_z(&names))));
    }
}

/* True: the caches of all servers have been read, and those without one are being started. */
static bool load_some(struct listing *l, int64_t until_us)
{
    while (l->loaded < l->n) {
        struct item *it = &l->items[l->loaded++];

        if (!backend_names(it->s->backend)) {
            l->pending++;
            it->wait = backend_describe(it->s->backend, on_known, it);
        }
        if (clock_us() >= until_us)
            break;
    }
    return l->loaded == l->n;
}

static void compose(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct item *it = &l->items[i];
        struct inventory *inv = backend_inventory(it->s->backend);

        if (inv) {
            it->inv = inventory_ref(inv);
            it->names = &inv->names;
        }
    }
    if (!l->catalog->n)
        buf_addz(&l->out, "No MCP servers apply to this workspace.\n");
    else
        put_chosen(l);
    l->composed = true;
}

/* Goes on until there is something to wait for, be it the next slice. */
static bool advance_within(struct listing *l, int64_t until_us)
{
    if (!load_some(l, until_us)) {
        timer_set(l->slice, SLICE_GAP_MS);
        return false;
    }
    if (l->pending)
        return false;
    if (!l->composed)
        compose(l);
    if (!l->decl || tsdecl_step(l->decl, until_us))
        return true;
    timer_set(l->slice, SLICE_GAP_MS);
    return false;
}

static void advance(struct listing *l)
{
    if (advance_within(l, clock_us() + SLICE_US))
        finish(l);
}

static void on_slice(void *ctx)
{
    advance(ctx);
}

struct listing *list_tools_run(struct catalog *c, const struct list_query *q, list_done_fn done,
                               void *ctx)
{
    struct listing *l = NEW(struct listing);

    *l = (struct listing){ .catalog = catalog_ref(c), .q = q, .done = done, .ctx = ctx };
    l->out = BUF(LIST_TEXT_MAX);
    if (c->n)
        l->slice = timer_new(backend_loop(c->v[0].backend), on_slice, l);
    select_servers(l);
    if (!advance_within(l, clock_us() + SLICE_US))
        return l;
    finish(l);
    return NULL;
}

void list_tools_cancel(struct listing *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].wait)
            backend_cancel(l->items[i].s->backend, l->items[i].wait);
    free_listing(l);
}
