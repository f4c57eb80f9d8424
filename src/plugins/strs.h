/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists of texts, as most tables of a manifest hold them. */
#ifndef SYM_PLUGINS_STRS_H
#define SYM_PLUGINS_STRS_H

#include "text/json.h"

struct strs {
    struct str *v;
    size_t n, cap;
};

bool strs_has(const struct strs *l, struct str s);

/* "key":["a","b"] */
void strs_put(struct jw *w, const char *key, const struct strs *l);

#endif
