/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a crate embeds (PM-17, PL-29). */
#ifndef PM_CARGO_PACKAGE_H
#define PM_CARGO_PACKAGE_H

#include "common/layers.h"
#include "store.h"

/* As embedded_read(), with [package.metadata.symposium] of its Cargo.toml as the first layer; a
 * malformed Cargo.toml is logged and gives none. */
bool package_embedded(struct arena *a, const struct crate *c, struct embedded *ret,
                      struct error *e);

#endif
