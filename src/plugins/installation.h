/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Installations (docs/spec/plugins.md PL-11): what has to be there before a program can run, in
 * which order, and the program's command line. Reading only: pm/acquire.h brings in what is
 * missing.
 *
 * A plan is the installations that one thing needs, each once, what it requires before it. It
 * does not point into the plugin, so that it may outlive it.
 *
 *     <cache>/binaries/<crate>/<version>/bin/    what cargo installed
 *     <cache>/binaries/.done/<stamp>             this step was done; the name is a hash of all
 *                                                that the step consists of
 */
#ifndef SYM_PLUGINS_INSTALLATION_H
#define SYM_PLUGINS_INSTALLATION_H

#include "plugins/plugin.h"

#define INSTALL_MAX_STEPS 200 /* of one plan */

struct install_step {
    struct installation in; /* without its requirements: they are in `needs` */
    struct str plugin;      /* name of the owner */
    struct str dir;         /* directory of its manifest: executable, script, commands */
    struct {
        size_t *v; /* places of earlier steps */
        size_t n, cap;
    } needs;
};

struct install_plan {
    struct install_step *v;
    size_t n, cap;
    bool runs; /* the last step is the program; false: requirements only */
};

/*
 * `name`: the installation that is to run, empty for none. `requirements` come before it. Both
 * name installations of `owner`. ERR_NOT_FOUND "references unknown installation ..",
 * ERR_INVALID for a cycle (it is named) and when `name` is pure setup, ERR_LIMIT.
 */
bool install_plan_make(struct install_plan *ret, struct arena *a, const struct plugin *owner,
                       struct str name, struct strs requirements, struct error *e);
struct install_plan install_plan_copy(struct arena *a, const struct install_plan *p);
bool install_plan_same(const struct install_plan *x, const struct install_plan *y);

/* Nothing has to be fetched or run: every step was done, or there is nothing to do in it. */
bool install_plan_ready(const struct install_plan *p, const char *cache_dir);

/*
 * The command of the plan's program, then the entry's own args. `executable` and `script` are
 * paths relative to the manifest's directory (github: to the checkout; cargo: a name in bin/);
 * a bare `executable` that is not there is left for the search in PATH; a `script` without the
 * exec bit is run by sh. ERR_NOT_FOUND "... is not installed yet; 'symposium sync' does it".
 */
bool install_plan_argv(struct arena *a, const struct install_plan *p, const char *cache_dir,
                       struct strs *ret, struct error *e);

/* The same for one installation of a plugin: what runs with what is there now. */
bool installation_argv(struct arena *a, const struct plugin *owner, struct str name,
                       struct strs *ret, struct error *e);

/* Where the step's stamp lies, and the directory whose content it is about. */
const char *install_stamp_path(struct arena *a, const char *cache_dir,
                               const struct install_step *s);
/* cargo: <cache>/binaries/<crate>/<version>; NULL for other sources and for `global`. */
const char *install_root(struct arena *a, const char *cache_dir, const struct install_step *s);

/* Directories with programs that plugins installed, "a:b:c", for a hook's PATH (HK-6). */
struct str install_path_prefix(struct arena *a, const char *cache_dir,
                               const struct plugin *const *v, size_t n);

#endif
