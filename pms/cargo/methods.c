/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "methods.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "direct.h"
#include "package.h"
#include "tool.h"

#define MAX_ANSWER ((size_t)12 << 20) /* below the protocol's 16 MiB a line (PM-1) */

#define OFFER_ROOM ((size_t)64 << 10) /* of an offer, besides its manifest */

struct cargo {
    struct lister *lister;
    struct store *store;
    struct tool *tool;
};

/* CARGO_HOME, else ~/.cargo; NULL: neither is known. */
static const char *find_home(struct arena *a, const struct session *s)
{
    const char *given = session_env(s, "CARGO_HOME"), *home = session_env(s, "HOME");
    auto_free char *here = NULL;

    if (given && given[0] == '/')
        return path_clean(a, given);
    if (given && *given) {
        here = getcwd(NULL, 0);
        return here ? path_clean(a, path_join(a, here, given)) : NULL;
    }
    return home && home[0] == '/' ? path_clean(a, path_join(a, home, ".cargo")) : NULL;
}

void *cargo_open(const struct session *s)
{
    struct cargo *c = NEW(struct cargo);
    auto_arena a = ARENA;
    const char *home = find_home(&a, s);

    c->lister = lister_new(&cargo_lister, s->workspace);
    c->store = store_new(s->workspace, home);
    c->tool = tool_new(s, home);
    return c;
}

void cargo_close(void *state)
{
    struct cargo *c = state;

    lister_free(c->lister);
    store_free(c->store);
    tool_free(c->tool);
    free(c);
}

/* ---- from what is on this disk ---- */

static void on_list_deps(struct request *r)
{
    struct cargo *c = r->state;
    struct str json;
    struct error e = { 0 };

    if (lister_list(c->lister, &json, &e))
        request_reply(r, json);
    else
        request_fail(r, &e);
}

/* Whoever reads below it resolves paths beneath it: links on the way are resolved here, once.
 */
static const char *root_of(struct arena *a, const struct crate *c)
{
    const char *real = path_real(a, c->dir, NULL);

    return real ? real : c->dir;
}

/* Appends the offer of a crate that embeds something. What is wrong with one crate concerns no
 * other. */
static void add_offer(struct request *r, const struct id *id, struct jw *w)
{
    struct cargo *c = r->state;
    auto_arena a = ARENA;
    struct embedded embedded;
    struct crate crate;
    struct need need;
    struct error e = { 0 };

    if (!store_find(c->store, &a, id, STRICT, &crate, &need, &e)) {
        log_debug("no offer: %s", e.msg);
        return;
    }
    if (!package_embedded(&a, &crate, &embedded, &e))
        log_warn("no offer: %s", e.msg);
    else if (!embedded.any)
        return;
    else if (w->b->n + embedded.manifest.n > MAX_ANSWER - OFFER_ROOM)
        log_warn("no offer of '%s': the answer would be longer than %zu bytes", crate.dir,
                 MAX_ANSWER);
    else
        offer_put(w, &crate.id, root_of(&a, &crate), embedded.manifest);
}

static void on_active_plugins(struct request *r)
{
    struct cargo *c = r->state;
    auto_buf json = BUF(MAX_ANSWER);
    struct jw w = jw_to(&json);
    struct ids deps;
    struct error e = { 0 };

    if (!ids_read(&r->arena, r->params, "cargo", &deps, &e)) {
        request_bad_params(r, e.msg);
        return;
    }
    store_refresh(c->store);
    jw_arr(&w);
    for (size_t i = 0; i < deps.n; i++)
        add_offer(r, &deps.v[i], &w);
    jw_end(&w);
    if (buf_ok(&json, &e))
        request_reply(r, buf_str(&json));
    else
        request_fail(r, &e);
}

static void on_refresh(struct request *r)
{
    enum update update;
    struct error e = { 0 };

    /* The registry's index is cargo's own affair: it is asked when something is fetched. */
    if (update_read(r->params, &update, &e))
        request_reply(r, STR("{\"refreshed\":false}"));
    else
        request_bad_params(r, e.msg);
}

/* ---- fetched where it is allowed ---- */

struct asking {
    struct request *request;
    struct id id;
    struct need need;
    void (*found)(struct request *r, const struct crate *c);
};

/* What cargo said, unless something that is here already fits. */
static void fall_back(struct asking *a, const struct error *why)
{
    struct cargo *c = a->request->state;
    struct crate crate;

    if (a->need.source.n == 0 && store_fallback(c->store, &a->id, &crate, NULL))
        a->found(a->request, &crate);
    else
        request_fail(a->request, why);
}

static void on_fetched(void *ctx, const struct known *what, const struct error *why)
{
    struct asking *a = ctx;
    struct cargo *c = a->request->state;
    struct crate crate;
    struct error e = { 0 };

    store_renew(c->store);
    if (!what) {
        fall_back(a, why);
        return;
    }
    if (store_locate(c->store, what, &crate)) {
        a->found(a->request, &crate);
        return;
    }
    error_set(&e, ERR_NOT_FOUND, "cargo fetched '%.*s %.*s' to a place that is not known here",
              STR_F(what->name), STR_F(what->version));
    request_fail(a->request, &e);
}

static void find(struct request *r, bool network,
                 void (*found)(struct request *r, const struct crate *c))
{
    struct cargo *c = r->state;
    struct asking *a = ARENA_NEW(&r->arena, struct asking);
    struct crate crate;
    struct error e = { 0 };

    a->request = r;
    a->found = found;
    if (!id_read(json_get(r->params, "id"), "cargo", &a->id, &e)) {
        if (e.kind == ERR_NOT_FOUND)
            request_fail(r, &e);
        else
            request_bad_params(r, e.msg);
        return;
    }
    store_refresh(c->store);
    if (store_find(c->store, &r->arena, &a->id, LENIENT, &crate, &a->need, &e))
        found(r, &crate);
    else if (e.kind != ERR_NOT_FOUND)
        request_fail(r, &e);
    else if (network && a->need.name.n)
        tool_fetch(c->tool, r, &a->need, on_fetched, a);
    else
        fall_back(a, &e);
}

static void reply_root(struct request *r, const struct crate *c)
{
    auto_buf json = BUF(1 << 16);
    struct jw w = jw_to(&json);

    jw_obj(&w);
    jw_key(&w, "id");
    id_put(&w, &c->id);
    jw_kstrz(&w, "root", root_of(&r->arena, c));
    jw_end(&w);
    request_reply(r, buf_str(&json));
}

static void on_fetch(struct request *r)
{
    enum update update;
    struct error e = { 0 };

    if (update_read(r->params, &update, &e))
        find(r, update != UPDATE_NONE, reply_root);
    else
        request_bad_params(r, e.msg);
}

static void reply_offer(struct request *r, const struct crate *c)
{
    auto_buf json = BUF(MAX_ANSWER);
    struct jw w = jw_to(&json);
    struct embedded embedded;
    struct error e = { 0 };

    if (!package_embedded(&r->arena, c, &embedded, &e)) {
        request_fail(r, &e);
        return;
    }
    jw_arr(&w);
    offer_put(&w, &c->id, root_of(&r->arena, c), embedded.manifest);
    jw_end(&w);
    request_reply(r, buf_str(&json));
}

/* In the empty network namespace of a run that must not touch the network (PM-7) there is
 * nothing but a loopback interface. */
static bool has_network(void)
{
    auto_buf text = BUF(1 << 16);
    struct str line, rest, name;

    if (!file_read("/proc/self/net/dev", &text, NULL))
        return true;
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        if (str_cut(line, ':', &name, &line) && !str_is(str_trim(name), "lo"))
            return true;
    return false;
}

/* The protocol has no `update` here. Whoever sends one is heard; else the network is a last
 * resort where there is one. */
static void on_load_plugin(struct request *r)
{
    bool told = json_get(r->params, "update") != NULL;
    enum update update;
    struct error e = { 0 };

    if (update_read(r->params, &update, &e))
        find(r, told ? update != UPDATE_NONE : has_network(), reply_offer);
    else
        request_bad_params(r, e.msg);
}

static void on_search(struct request *r)
{
    struct cargo *c = r->state;
    struct str query = json_str(json_get(r->params, "query"));

    query = str_trim(query);
    if (query.n == 0 || query.n > SEARCH_MAX_QUERY || memchr(query.p, '\0', query.n))
        request_bad_params(r, "'query' must be a string of 1 to 256 bytes");
    else
        tool_search(c->tool, r, query);
}

const struct method cargo_methods[] = {
    { "active_plugins", on_active_plugins },
    { "load_plugin", on_load_plugin },
    { "list_deps", on_list_deps },
    { "search", on_search },
    { "fetch", on_fetch },
    { "refresh", on_refresh },
    { NULL, NULL },
};
