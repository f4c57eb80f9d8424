/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ledger's SQL text. */
#ifndef SYM_TASKS_LEDGER_SQL_H
#define SYM_TASKS_LEDGER_SQL_H

#include "tasks/ledger_db.h"

extern const char *const ledger_schema; /* of an empty database, with both version numbers */
extern const char *const ledger_sql[SQL_COUNT];

#endif
