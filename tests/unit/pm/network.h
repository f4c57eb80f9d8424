/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SYM_TEST_PM_NETWORK_H
#define SYM_TEST_PM_NETWORK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Some interface besides the loopback (PM-7). */
static inline bool has_network(void)
{
    struct if_nameindex *l = if_nameindex();
    bool found = false;

    for (size_t i = 0; l && l[i].if_index; i++)
        found |= strcmp(l[i].if_name, "lo") != 0;
    if_freenameindex(l);
    return found;
}

#endif
