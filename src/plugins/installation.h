/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Installations (docs/spec/plugins.md PL-11): what has to be there before a program can run, in
 * which order, and the program's command line. Reading only: pm/acquire.h brings in what is
 * missing.
 *
 * A plan is the installations that one thing needs, each once and behind what it requires. It
 * does not point into the plugin, so that it may outlive it.
 *
 *     <cache>/binaries/<crate>/<version>/bin/    what cargo installed; without a version in the
 *                                                manifest: "latest"
 *     <cache>/binaries/.done/<stamp>             a step that was done; the name is a hash of
 *                                                all it consists of
 */
#ifndef SYM_PLUGINS_INSTALLATION_H
#define SYM_PLUGINS_INSTALLATION_H

#include "plugins/plugin.h"

#define INSTALL_MAX_STEPS 200 /* of one plan */

struct install_step {
    struct installation in; /* its requirements are in `needs` */
    struct str plugin;      /* name of the owner */
    struct str dir;         /* directory of the owner's manifest */
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

/* What wants to use an installation. */
struct install_use {
    struct str name;               /* of the installation to run; empty: none */
    struct strs requirements;      /* names; acquired first */
    struct str executable, script; /* of a hook: in place of the installation's own (PL-13) */
    struct strs args;              /* of a hook: the same */
};
struct install_use install_use_of_hook(const struct hook *hook);

/* All names are those of the owner's installations. ERR_NOT_FOUND "references unknown
 * installation ..", ERR_INVALID for a cycle and when there is nothing to run, ERR_LIMIT. */
bool install_plan_make(struct install_plan *ret, struct arena *a, const struct plugin *owner,
                       const struct install_use *use, struct error *e);
struct install_plan install_plan_copy(struct arena *a, const struct install_plan *p);
bool install_plan_same(const struct install_plan *x, const struct install_plan *y);
/* The same text for the same plan: for keys of caches. */
struct str install_plan_key(struct arena *a, const struct install_plan *p);

/* Nothing has to be fetched or run: every step was done, or there is nothing to do in it. */
bool install_plan_ready(const struct install_plan *p, const char *cache_dir);
bool install_step_ready(const struct install_step *s, const char *cache_dir);

/*
 * The command of the plan's program: its file, then its own args. `executable` and `script` are
 * relative to install_step_dir(), but cargo's `executable` is a name in bin/, where without one
 * the only program counts, or the one named as the crate. A bare `executable` that is not there
 * is left for the search in PATH; a `script` without the exec bit is run by sh.
 *
 * ERR_NOT_FOUND "installation '..' is not there yet; run 'symposium sync'".
 */
bool install_plan_argv(struct arena *a, const struct install_plan *p, const char *cache_dir,
                       struct strs *ret, struct error *e);

/* install_plan_make() and this in one, for a program without requirements of its own user: all
 * the steps must be there. */
bool installation_argv(struct arena *a, const char *cache_dir, const struct plugin *owner,
                       struct str name, struct strs *ret, struct error *e);

/* Where the step's files are and its commands run: github: the checkout, cargo: its root (the
 * commands run in the manifest's directory), else the manifest's directory. It need not exist.
 */
const char *install_step_dir(struct arena *a, const char *cache_dir,
                             const struct install_step *s);

/* For pm/acquire. */
bool install_crate_valid(struct str crate); /* a name that cargo takes for one */
/* root: cargo without `global`, else NULL. */
const char *install_root(struct arena *a, const char *cache_dir, const struct install_step *s);
const char *install_stamp_path(struct arena *a, const char *cache_dir,
                               const struct install_step *s);
const char *install_command_dir(struct arena *a, const char *cache_dir,
                                const struct install_step *s);

/* Directories of programs that these plugins' installations brought, "a:b"; empty when none:
 * what goes in front of a hook's PATH (HK-6). */
struct str install_path_prefix(struct arena *a, const char *cache_dir,
                               const struct plugin *const *v, size_t n);

#endif
