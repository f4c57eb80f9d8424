/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SQLite, opened when the first ledger is: linked in, it would cost every command and every
 * idle server its start and its pages. Only for ledger*.c, which call its functions by their
 * own names, as SQLite's extensions do (sqlite3ext.h). */
#ifndef SYM_TASKS_LEDGER_LIB_H
#define SYM_TASKS_LEDGER_LIB_H

#include <sqlite3.h>

#include "base/error.h"

#define LEDGER_LIB_FUNCTIONS(X) \
    X(bind_int)                 \
    X(bind_int64)               \
    X(bind_null)                \
    X(bind_text64)              \
    X(busy_handler)             \
    X(clear_bindings)           \
    X(close)                    \
    X(column_bytes)             \
    X(column_int)               \
    X(column_int64)             \
    X(column_text)              \
    X(column_type)              \
    X(db_config)                \
    X(errcode)                  \
    X(errmsg)                   \
    X(exec)                     \
    X(extended_result_codes)    \
    X(finalize)                 \
    X(get_autocommit)           \
    X(libversion)               \
    X(libversion_number)        \
    X(open_v2)                  \
    X(prepare_v2)               \
    X(prepare_v3)               \
    X(reset)                    \
    X(step)                     \
    X(system_errno)             \
    X(total_changes64)

struct ledger_lib {
#define LEDGER_LIB_MEMBER(name) __typeof__(sqlite3_##name) *name;
    LEDGER_LIB_FUNCTIONS(LEDGER_LIB_MEMBER)
#undef LEDGER_LIB_MEMBER
};

extern struct ledger_lib ledger_lib;

/* Once in the process, from any thread; never closed. ERR_NOT_FOUND: it is not installed or too
 * old. Before it succeeded nothing below may be called. */
bool ledger_lib_open(struct error *e);

#define sqlite3_bind_int              ledger_lib.bind_int
#define sqlite3_bind_int64            ledger_lib.bind_int64
#define sqlite3_bind_null             ledger_lib.bind_null
#define sqlite3_bind_text64           ledger_lib.bind_text64
#define sqlite3_busy_handler          ledger_lib.busy_handler
#define sqlite3_clear_bindings        ledger_lib.clear_bindings
#define sqlite3_close                 ledger_lib.close
#define sqlite3_column_bytes          ledger_lib.column_bytes
#define sqlite3_column_int            ledger_lib.column_int
#define sqlite3_column_int64          ledger_lib.column_int64
#define sqlite3_column_text           ledger_lib.column_text
#define sqlite3_column_type           ledger_lib.column_type
#define sqlite3_db_config             ledger_lib.db_config
#define sqlite3_errcode               ledger_lib.errcode
#define sqlite3_errmsg                ledger_lib.errmsg
#define sqlite3_exec                  ledger_lib.exec
#define sqlite3_extended_result_codes ledger_lib.extended_result_codes
#define sqlite3_finalize              ledger_lib.finalize
#define sqlite3_get_autocommit        ledger_lib.get_autocommit
#define sqlite3_libversion            ledger_lib.libversion
#define sqlite3_libversion_number     ledger_lib.libversion_number
#define sqlite3_open_v2               ledger_lib.open_v2
#define sqlite3_prepare_v2            ledger_lib.prepare_v2
#define sqlite3_prepare_v3            ledger_lib.prepare_v3
#define sqlite3_reset                 ledger_lib.reset
#define sqlite3_step                  ledger_lib.step
#define sqlite3_system_errno          ledger_lib.system_errno
#define sqlite3_total_changes64       ledger_lib.total_changes64

#endif
