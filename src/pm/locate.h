/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which package managers concern a workspace, and which program each is (docs/spec/plugins.md
 * PM-11): the built-in ones are `symposium-pm-<name>` next to our own program, else in PATH; a
 * [[package-manager]] entry adds one or replaces one.
 */
#ifndef SYM_PM_LOCATE_H
#define SYM_PM_LOCATE_H

#include "plugins/config.h"
#include "plugins/dirs.h"
#include "plugins/installation.h"
#include "plugins/workspace.h"

struct pm_program {
    const char *name;
    const char *const *argv;     /* NULL-terminated; NULL: it cannot be run */
    const char *file;            /* the program or script on disk; NULL with argv */
    const struct strs *pass_env; /* NULL: none */
    struct str problem; /* argv NULL: why, and what to do, "package manager 'x': ..." */
};

struct pm_programs {
    struct pm_program *v; /* sorted by name, names unique */
    size_t n, cap;
};

/* `cargo` is asked only where there is a Cargo manifest, `npm` only where there is a
 * package.json; others always. */
bool pm_concerns(struct str name, const struct workspace *w);
void pm_locate(struct pm_programs *ret, struct arena *a, const struct dirs *dirs,
               const struct config *config, const struct workspace *workspace);

/* What has to be there before an entry's program can run; pm/acquire.h brings it in. False with
 * *e when there is nothing to run. */
bool pm_install_plan(struct install_plan *ret, struct arena *a, const struct dirs *dirs,
                     const struct pm_config *c, struct error *e);

/* It comes with us, and needs no entry in the configuration. */
bool pm_is_builtin(struct str name);

#endif
