/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* active_plugins and load_plugin (PM-20, PL-30): what installed packages embed. */
#ifndef PM_NPM_OFFERS_H
#define PM_NPM_OFFERS_H

#include "common/serve.h"

#define OFFERS_MAX_JSON ((size_t)12 << 20) /* of one answer; further offers are left out */

void on_active_plugins(struct request *r);
void on_load_plugin(struct request *r);

#endif
