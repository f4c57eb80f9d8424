/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ledger_check.h"

int main(void)
{
    return 0;
}
