/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ids, offers and params of the protocol as JSON (docs/spec/plugins.md PM-2 to PM-4). */
#ifndef PMS_COMMON_OFFER_H
#define PMS_COMMON_OFFER_H

#include "base/error.h"
#include "text/json.h"

#define ID_MAX_TEXT  512   /* bytes of a name or of a version */
#define ID_MAX_COUNT 65536 /* ids of one request */

struct id {
    struct str pm, name, version; /* version "*": no requirement; never empty */
};

/*
 * An id of a request: ERR_INVALID says what is wrong with it (answer: -32602). An absent or
 * empty version is "*". Of another package manager than `pm` it is ERR_NOT_FOUND. The texts
 * belong to `v`. `e` must not be NULL.
 */
bool id_read(yyjson_val *v, const char *pm, struct id *ret, struct error *e);

void id_put(struct jw *w, const struct id *id);

/* `deps` of active_plugins, those of another package manager left out. ERR_INVALID as above,
 * ERR_LIMIT. */
struct ids {
    struct id *v; /* the texts belong to params */
    size_t n, cap;
};
bool ids_read(struct arena *a, yyjson_val *params, const char *pm, struct ids *ret,
              struct error *e);

enum update { UPDATE_NONE, UPDATE_CHECK, UPDATE_FETCH };

/* `update` of fetch and refresh; absent: UPDATE_NONE. Another word is ERR_INVALID. */
bool update_read(yyjson_val *params, enum update *ret, struct error *e);

/* {"id":..,"root":..,"manifest":{..}}; `manifest` is JSON text. */
void offer_put(struct jw *w, const struct id *id, const char *root, struct str manifest);

#endif
