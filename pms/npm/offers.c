/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "offers.h"

#include "base/log.h"
#include "base/path.h"
#include "common/layers.h"
#include "fetched.h"
#include "name.h"
#include "places.h"
#include "registry.h"

/* The `symposium` object of a package.json; NULL when there is none. */
static const struct toml_val *read_own_layer(struct arena *a, const char *dir)
{
    struct inputs in = { .arena = a };
    const char *path = path_join(a, dir, "package.json");
    const struct toml_val *layer;
    auto_json doc = { 0 };
    struct error why = { 0 };
    yyjson_val *own;

    if (!package_json_read(&in, path, &doc, &why)) {
        log_warn("%s", why.msg);
        return NULL;
    }
    own = json_get(doc.root, "symposium");
    if (!json_is_obj(own))
        return NULL;
    layer = toml_from_json(a, own, &why);
    if (!layer)
        log_warn("'%s': 'symposium' left out: %s", path, why.msg);
    return layer;
}

/* Nothing is put when the package embeds nothing, unless it was asked for by name. */
static void put_offer(struct jw *w, const struct installed *package, bool by_name)
{
    struct id id = { STR("npm"), package->name, package->version };
    auto_arena a = ARENA;
    struct embedded found;
    struct error why = { 0 };

    if (!embedded_read(&a, package->dir, read_own_layer(&a, package->dir), &found, &why))
        log_warn("'%s': %s", package->dir, why.msg);
    else if (w->b->n + found.manifest.n + PMS_MAX_LINE / 16 > OFFERS_MAX_JSON)
        log_warn("'%s' left out: the answer would be too long", package->dir);
    else if (found.any || by_name)
        offer_put(w, &id, package->dir, found.manifest);
}

void on_active_plugins(struct request *r)
{
    auto_buf json = BUF(OFFERS_MAX_JSON);
    struct jw w = jw_to(&json);
    struct ids ids = { 0 };
    struct places places;
    struct error e = { 0 };

    if (!ids_read(&r->arena, r->params, "npm", &ids, &e)) {
        request_bad_params(r, e.msg);
        return;
    }
    places_read(&places, &r->arena, r->session->workspace);
    jw_arr(&w);
    for (size_t i = 0; i < ids.n; i++) {
        struct installed package;

        if (places_find(&places, &ids.v[i], &package))
            put_offer(&w, &package, false);
    }
    jw_end(&w);
    places_free(&places);
    request_reply(r, buf_str(&json));
}

static void reply_offer(struct request *r, const struct installed *package)
{
    auto_buf json = BUF(OFFERS_MAX_JSON);
    struct jw w = jw_to(&json);

    jw_arr(&w);
    if (package)
        put_offer(&w, package, true);
    jw_end(&w);
    request_reply(r, buf_str(&json));
}

void on_load_plugin(struct request *r)
{
    enum update update = UPDATE_NONE;
    struct places places;
    struct installed package;
    struct error e = { 0 };
    struct id id;
    bool found;

    if (!update_read(r->params, &update, &e) ||
        (!id_read(json_get(r->params, "id"), "npm", &id, &e) && e.kind != ERR_NOT_FOUND)) {
        request_bad_params(r, e.msg);
        return;
    }
    if (e.kind != ERR_NONE || !npm_name_ok(id.name)) {
        reply_offer(r, NULL);
        return;
    }
    places_read(&places, &r->arena, r->session->workspace);
    found = places_find(&places, &id, &package) ||
            fetched_find(&places.in, r->session->cache_dir, &id, &package);
    places_free(&places);
    if (found || update == UPDATE_NONE)
        reply_offer(r, found ? &package : NULL);
    else
        fetch_package(r, &id, reply_offer);
}
