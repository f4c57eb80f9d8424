/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/rand.h"
#include "tasks/ledger_sql.h"

#define BUSY_NAP_MAX_MS 10
/* The log is cut back to this after a checkpoint. */
#define WAL_KEPT_BYTES "16777216"

/* ---- where it is ---- */

static bool taken_for_network;

void db_take_for_network(bool always)
{
    taken_for_network = always;
}

/* linux/magic.h has not all of them. FUSE is among them: what is behind it, and whether memory
 * is shared there, nobody can tell. */
bool db_is_network(long fs_type)
{
    static const unsigned types[] = {
        0x6969,     /* NFS */
        0x517B,     /* SMB */
        0xFF534D42, /* CIFS */
        0xFE534D42, /* SMB 2 */
        0x65735546, /* FUSE */
        0x01021997, /* 9P */
        0x00C36400, /* Ceph */
        0x5346414F, /* AFS */
        0x6B414653, /* kAFS */
        0x73757245, /* Coda */
        0x564C,     /* NCP */
        0x0BD00BD0, /* Lustre */
        0x786F4256, /* VirtualBox */
        0xBACBACBC, /* VMware */
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if ((unsigned)fs_type == types[i])
            return true;
    }
    return false;
}

/* A link in the place of the directory or of the file may be somebody else's doing: what is
 * written through it would land wherever they like. */
static bool check_dir(struct db *d, struct error *e)
{
    struct statfs fs;
    struct stat st;

    auto_close int fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return error_set(e, ERR_DENIED, "'%s' must be a directory and no link", d->dir);
    if (fd < 0 || fstat(fd, &st) != 0)
        return error_set(e, ERR_SYS, "open '%s'", d->dir);
    if (st.st_uid != geteuid())
        return error_set(e, ERR_DENIED, "'%s' belongs to user %u, not to you", d->dir,
                         (unsigned)st.st_uid);
    if ((st.st_mode & 077) && fchmod(fd, 0700) != 0)
        return error_set(e, ERR_SYS, "chmod '%s'", d->dir);
    d->network = taken_for_network || (fstatfs(fd, &fs) == 0 && db_is_network((long)fs.f_type));
    return true;
}

/*
 * The file is made here because SQLite would make it readable for others, and its -wal and -shm
 * take its mode. One that exists is not opened, not even for a moment: closing would drop the
 * locks that this process may hold on it.
 */
static bool check_file(struct db *d, struct error *e)
{
    int fd = open(d->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat st;

    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno != EEXIST)
        return error_set(e, ERR_SYS, "make '%s'", d->path);
    if (lstat(d->path, &st) != 0)
        return error_set(e, ERR_SYS, "look at '%s'", d->path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return error_set(e, ERR_DENIED, "'%s' must be a regular file of yours", d->path);
    if ((st.st_mode & 077) && chmod(d->path, 0600) != 0)
        return error_set(e, ERR_SYS, "chmod '%s'", d->path);
    return true;
}

static bool find_place(struct db *d, struct error *e)
{
    const char *dir = d->config.state_dir;

    if (!file_mkdirs(dir, e))
        return false;
    d->dir = dir; /* for the check: of the name as it was given, not of what a link leads to */
    if (!check_dir(d, e))
        return false;
    d->dir = path_real(&d->arena, dir, e); /* SQLite refuses a link anywhere on the way */
    if (!d->dir)
        return false;
    d->path = path_join(&d->arena, d->dir, DB_FILE);
    d->owners = path_join(&d->arena, d->dir, "owners");
    return check_file(d, e);
}

/* ---- errors ---- */

bool db_failed(struct db *d, const char *what, struct error *e)
{
    int rc = sqlite3_errcode(d->sqlite);
    const char *said = sqlite3_errmsg(d->sqlite);

    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(e, ERR_TIMEOUT, "%s: '%s' is in use by others for %d ms", what,
                         d->path, LEDGER_BUSY_MS);
    case SQLITE_FULL:
        errno = ENOSPC;
        return error_set(e, ERR_SYS, "%s: write '%s'", what, d->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return error_set(e, ERR_DENIED, "%s: '%s' cannot be opened for writing (%s)", what,
                         d->path, said);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(e, ERR_INVALID,
                         "%s: '%s' is damaged (%s) and was left as it is; move it away and a "
                         "new one is made",
                         what, d->path, said);
    case SQLITE_IOERR:
        errno = sqlite3_system_errno(d->sqlite);
        if (errno)
            return error_set(e, ERR_SYS, "%s: '%s'", what, d->path);
        break;
    default:
        break;
    }
    return error_set(e, ERR_PROTOCOL, "%s: '%s': %s", what, d->path, said);
}

/* ---- statements ---- */

sqlite3_stmt *db_sql(struct db *d, enum db_sql which, struct error *e)
{
    sqlite3_stmt **at = &d->statements[which];

    if (*at) {
        sqlite3_reset(*at);
        sqlite3_clear_bindings(*at);
        return *at;
    }
    if (sqlite3_prepare_v3(d->sqlite, ledger_sql[which], -1, SQLITE_PREPARE_PERSISTENT, at,
                           NULL) != SQLITE_OK)
        db_failed(d, "prepare", e);
    return *at;
}

void db_bind_str(sqlite3_stmt *s, int at, struct str text)
{
    sqlite3_bind_text64(s, at, text.n ? text.p : "", text.n, SQLITE_STATIC, SQLITE_UTF8);
}

void db_bind_opt(sqlite3_stmt *s, int at, struct str text)
{
    if (text.n)
        db_bind_str(s, at, text);
    else
        sqlite3_bind_null(s, at);
}

struct str db_column(sqlite3_stmt *s, int at)
{
    const char *p = (const char *)sqlite3_column_text(s, at);

    return (struct str){ p, p ? (size_t)sqlite3_column_bytes(s, at) : 0 };
}

struct str db_column_copy(sqlite3_stmt *s, int at, struct arena *a)
{
    struct str text = db_column(s, at);

    return text.n ? arena_str(a, text) : (struct str){ 0 };
}

int db_step(struct db *d, sqlite3_stmt *s, const char *what, struct error *e)
{
    int rc = sqlite3_step(s);

    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE) {
        sqlite3_reset(s); /* lets go of its locks */
        return 0;
    }
    db_failed(d, what, e);
    sqlite3_reset(s);
    return -1;
}

bool db_run(struct db *d, sqlite3_stmt *s, const char *what, struct error *e)
{
    int rc;

    do
        rc = s ? db_step(d, s, what, e) : -1;
    while (rc > 0);
    return rc == 0;
}

bool db_number(struct db *d, sqlite3_stmt *s, const char *what, int64_t *ret, struct error *e)
{
    int rc = s ? db_step(d, s, what, e) : -1;

    *ret = rc > 0 ? sqlite3_column_int64(s, 0) : 0;
    if (rc > 0)
        sqlite3_reset(s);
    return rc >= 0;
}

/* ---- transactions ---- */

static bool execute(struct db *d, const char *sql, const char *what, struct error *e)
{
    return sqlite3_exec(d->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK || db_failed(d, what, e);
}

/* WAL with NORMAL loses nothing when a process dies; only FULL waits for the disk. */
static bool set_sync(struct db *d, bool full, struct error *e)
{
    if (d->full_sync == full)
        return true;
    if (!execute(d, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", "begin", e))
        return false;
    d->full_sync = full;
    return true;
}

bool db_begin(struct db *d, enum db_mode mode, struct error *e)
{
    if (mode == DB_READ)
        return execute(d, "BEGIN", "read", e);
    return set_sync(d, mode == DB_DURABLE, e) && execute(d, "BEGIN IMMEDIATE", "begin", e);
}

bool db_end(struct db *d, bool ok, struct error *e)
{
    ok = ok && execute(d, "COMMIT", "commit", e);
    for (size_t i = 0; i < SQL_COUNT && !ok; i++)
        sqlite3_reset(d->statements[i]); /* one that is in the middle keeps a lock */
    if (!ok && !sqlite3_get_autocommit(d->sqlite))
        sqlite3_exec(d->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

/* ---- opening ---- */

/* Not all at the same moment again. */
static void nap(int ms)
{
    long us = ms * 1000 - (long)(rand_u64() % 1000);

    nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* SQLite's own handler sleeps up to 100 ms: too long where writers hold the lock for one. */
static int on_busy(void *ctx, int count)
{
    struct db *d = ctx;
    int64_t now = clock_ms();

    if (count == 0)
        d->busy_since = now;
    if (now - d->busy_since >= LEDGER_BUSY_MS)
        return 0;
    nap(count < BUSY_NAP_MAX_MS ? 1 + count : BUSY_NAP_MAX_MS);
    return 1;
}

/* Two that make the same file: SQLite refuses one of them at once, as each waits for the
 * other. */
static bool set_journal(struct db *d, struct error *e)
{
    const char *sql = d->network ? "PRAGMA journal_mode=TRUNCATE" : "PRAGMA journal_mode=WAL";
    int64_t end = clock_ms() + LEDGER_BUSY_MS;

    while (!execute(d, sql, "open", e)) {
        if ((sqlite3_errcode(d->sqlite) & 0xff) != SQLITE_BUSY || clock_ms() >= end)
            return false;
        nap(BUSY_NAP_MAX_MS);
    }
    return true;
}

static bool pragma(struct db *d, const char *sql, int64_t *ret, struct error *e)
{
    sqlite3_stmt *s = NULL;
    bool ok;

    *ret = 0;
    ok = sqlite3_prepare_v2(d->sqlite, sql, -1, &s, NULL) == SQLITE_OK
             ? db_number(d, s, "open", ret, e)
             : db_failed(d, "open", e);
    sqlite3_finalize(s);
    return ok;
}

/* Reading only, within a transaction: another process may be making the tables. Whether the
 * file is a ledger, a new file, or to be left alone. */
static bool check_schema(struct db *d, int64_t *ret_version, struct error *e)
{
    int64_t id, tables;

    if (!pragma(d, "PRAGMA user_version", ret_version, e) ||
        !pragma(d, "PRAGMA application_id", &id, e) ||
        !pragma(d, "SELECT count(*) FROM sqlite_schema", &tables, e))
        return false;
    if (*ret_version > DB_SCHEMA_VERSION && id == DB_APPLICATION_ID)
        return error_set(
            e, ERR_INVALID,
            "'%s' has schema version %lld, this symposium knows %d: it was made by "
            "a newer one and was left as it is",
            d->path, (long long)*ret_version, DB_SCHEMA_VERSION);
    if ((*ret_version || tables) && id != DB_APPLICATION_ID)
        return error_set(e, ERR_INVALID, "'%s' is a database but no ledger; move it away",
                         d->path);
    return true;
}

/* Another process may have been quicker. */
static bool make_schema(struct db *d, struct error *e)
{
    int64_t version;
    bool ok;

    if (!db_begin(d, DB_DURABLE, e))
        return false;
    ok = check_schema(d, &version, e) &&
         (version == DB_SCHEMA_VERSION || execute(d, ledger_schema, "make the tables", e));
    return db_end(d, ok, e);
}

static void configure(struct db *d)
{
    sqlite3_busy_handler(d->sqlite, on_busy, d);
    sqlite3_extended_result_codes(d->sqlite, 1);
    sqlite3_db_config(d->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* Until its version is known, the last one out changes nothing either. */
    sqlite3_db_config(d->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

static bool prepare(struct db *d, struct error *e)
{
    int64_t version, size;

    configure(d);
    if (!db_begin(d, DB_READ, e) || !db_end(d, check_schema(d, &version, e), e) ||
        !execute(d,
                 "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA synchronous=FULL",
                 "open", e) ||
        /* A write, also where it changes nothing: only the first one does it. */
        (version == 0 && !execute(d, "PRAGMA auto_vacuum=INCREMENTAL", "open", e)))
        return false;
    d->full_sync = true;
    if (!set_journal(d, e) ||
        !execute(d, "PRAGMA journal_size_limit=" WAL_KEPT_BYTES, "open", e) ||
        (version < DB_SCHEMA_VERSION && !make_schema(d, e)) ||
        !pragma(d, "PRAGMA page_size", &size, e))
        return false;
    d->page_size = (uint64_t)size;
    sqlite3_db_config(d->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return true;
}

bool db_open(struct db *d, const struct ledger_config *c, struct error *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE;

    d->lock = -1;
    d->config = *c;
    d->config.state_dir = arena_z(&d->arena, str_of(c->state_dir));
    owner_self(&d->self);
    if (!ledger_lib_open(e) || !find_place(d, e))
        return false;
    if (sqlite3_open_v2(d->path, &d->sqlite, flags, NULL) != SQLITE_OK)
        return db_failed(d, "open", e);
    return prepare(d, e);
}

void db_close(struct db *d)
{
    if (d->sqlite) {
        for (size_t i = 0; i < SQL_COUNT; i++)
            sqlite3_finalize(d->statements[i]);
        sqlite3_close(d->sqlite);
    }
    if (d->lock >= 0)
        close(d->lock);
    arena_free(&d->arena);
}
