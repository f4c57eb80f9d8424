/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What fetch.c and search.c share. */
#ifndef PM_CARGO_TOOL_IMPL_H
#define PM_CARGO_TOOL_IMPL_H

#include "tool.h"

#define INSTALL_CARGO "install Rust, or name a cargo in SYMPOSIUM_CARGO"

struct tool {
    const struct session *session;
    char *home;
    const char *program;
    struct arena arena;
    const char **env;
};

/* Why cargo failed, from what it wrote to stderr. Returns false. */
bool tool_failure(const struct run_result *result, const char *what, struct error *e);

#endif
