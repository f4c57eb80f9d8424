/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a resolution needs from package managers, which stand above this folder: the plugins
 * that dependencies embed, and single packages by name. pm/offers.h is the one implementation
 * in the product. All of it is data from another program: offer.h decides what of it counts.
 */
#ifndef SYM_PLUGINS_PACKAGE_SOURCE_H
#define SYM_PLUGINS_PACKAGE_SOURCE_H

#include "plugins/plugin.h"
#include "text/json.h"

struct package_id {
    struct str pm, name; /* pm empty in a question: any, those that have it answer */
    struct str version;  /* in a question: a requirement, empty for any; else exact */
};

struct package_offer {
    struct package_id id;
    struct str root;      /* as the package manager said it */
    yyjson_val *manifest; /* NULL when absent; not yet looked at */
};

struct package_offers {
    const struct package_offer *v;
    size_t n;
    const struct str *watch; /* paths the answer rests on, absent ones included (MS-60) */
    size_t nwatch;
    const struct str *problems; /* finished lines: "package manager 'x': ..." */
    size_t nproblems;
    bool degraded; /* somebody failed: not the truth */
};

typedef void (*package_offers_fn)(void *ctx, const struct package_offers *found);

struct package_source {
    void *ctx;
    /*
     * Each calls `done` once, never from inside; what it is given is valid during the call.
     * `offers`: what the direct dependencies embed, from what is on this machine. `load`: one
     * package, whether or not anything depends on it; nothing found is an answer without
     * offers and a problem that says so. `local`: it is named by a workspace that nobody trusts
     * yet (PL-32), so nothing is fetched for it.
     */
    void (*offers)(void *ctx, const struct deps *deps, package_offers_fn done, void *arg);
    void (*load)(void *ctx, const struct package_id *id, bool local, package_offers_fn done,
                 void *arg);
    /* Forgets what was asked with this arg: `done` is not called any more. */
    void (*drop)(void *ctx, const void *arg);
};

#endif
