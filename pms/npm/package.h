/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One package.json, as far as this program needs it. Everything lives in the inputs' arena. */
#ifndef PM_NPM_PACKAGE_H
#define PM_NPM_PACKAGE_H

#include "common/inputs.h"
#include "text/json.h"
#include "text/pattern_set.h"

#define PACKAGE_MAX_DEPS     10000 /* of one package.json; the rest is left out with a warning */
#define PACKAGE_MAX_PATTERNS 1000  /* of `workspaces`, likewise */

/* A dependency of any kind. */
struct npm_dep {
    struct str key;  /* its directory below node_modules; npm_name_ok */
    struct str spec; /* as written; empty when it is no string */
    bool peer;       /* only a peer: counts where it is installed */
};

struct npm_package {
    const char *dir;    /* absolute */
    struct str name;    /* npm_name_ok, or empty */
    struct str manager; /* `packageManager`: "pnpm@9.1.0"; empty when absent */
    struct npm_deps {
        struct npm_dep *v;
        size_t n, cap;
    } deps;                         /* in the order of the file, each key once */
    struct pattern_list workspaces; /* the list of either form, as written */
};

/* NULL: ERR_NOT_FOUND when there is no package.json, ERR_INVALID "'<path>': .." when it is
 * malformed. Names that no package can have are left out with a warning. */
struct npm_package *package_read(struct inputs *in, const char *dir, struct error *e);

/* Notes the file and reads it as a JSON object, a byte order mark skipped. Errors as above. */
bool package_json_read(struct inputs *in, const char *path, struct json *ret, struct error *e);

/*
 * While it lasts, what is noted is unknown to whoever asks (inputs.h), who looks only at the
 * manifests of members and at lockfiles:
 *
 *     const char *known = inputs_foreign(in);
 *     ...
 *     in->known_root = known;
 */
const char *inputs_foreign(struct inputs *in);

#endif
