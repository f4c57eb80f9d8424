/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger_lib.h"

#include <dlfcn.h>
#include <pthread.h>

#define LIB_FILE    "libsqlite3.so.0"
#define LIB_VERSION 3040000

struct ledger_lib ledger_lib;

static bool is_open;
static struct error why_not;

static bool look_up(void *lib, struct error *e)
{
#define LOOK_UP(name)                                                                         \
    /* POSIX wants a data pointer to become a function pointer here; C has no word for it. */ \
    *(void **)&ledger_lib.name = dlsym(lib, "sqlite3_" #name);                                \
    if (!ledger_lib.name)                                                                     \
        return error_set(e, ERR_NOT_FOUND, "%s has no sqlite3_%s: it is too old", LIB_FILE,   \
                         #name);
    LEDGER_LIB_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}

static bool open_lib(struct error *e)
{
    void *lib = dlopen(LIB_FILE, RTLD_NOW | RTLD_LOCAL);

    if (!lib)
        return error_set(e, ERR_NOT_FOUND,
                         "SQLite 3.40 or newer is needed for tasks (Debian's package "
                         "libsqlite3-0): %s",
                         dlerror());
    if (!look_up(lib, e))
        return false;
    if (sqlite3_libversion_number() < LIB_VERSION)
        return error_set(e, ERR_NOT_FOUND, "SQLite is %s, 3.40 or newer is needed for tasks",
                         sqlite3_libversion());
    return true;
}

static void open_once(void)
{
    is_open = open_lib(&why_not);
}

bool ledger_lib_open(struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_once);
    if (!is_open)
        *e = why_not;
    return is_open;
}
