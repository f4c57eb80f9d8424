/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A list of direct dependencies. */
#ifndef PMS_COMMON_DEPS_H
#define PMS_COMMON_DEPS_H

#include "base/arena.h"

struct dep {
    struct str name, version; /* version "*": not known */
};

struct deps {
    struct dep *v;
    size_t n, cap;
};

/* Bytewise by (name, version), each once. */
void deps_sort(struct deps *list);

#endif
