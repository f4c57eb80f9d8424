/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The methods of the protocol (PM-2), as cargo answers them. */
#ifndef PM_CARGO_METHODS_H
#define PM_CARGO_METHODS_H

#include "common/serve.h"

extern const struct method cargo_methods[];

void *cargo_open(const struct session *s);
void cargo_close(void *state);

#endif
