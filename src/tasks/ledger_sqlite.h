/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The engine of the local ledger: one SQLite database, <state>/tasks.db (docs/spec/tasks.md
 * TK-3), shared by all processes of the user. */
#ifndef SYM_TASKS_LEDGER_SQLITE_H
#define SYM_TASKS_LEDGER_SQLITE_H

struct ledger_engine;
extern const struct ledger_engine ledger_sqlite;

#endif
