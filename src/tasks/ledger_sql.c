/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger_sql.h"

#include <assert.h>

#define TEXT_OF(n)  TEXT_OF_(n)
#define TEXT_OF_(n) #n

/* The numbers below are the file's. */
static_assert(TASK_CREATED == 0 && TASK_STARTING == 1 && TASK_RUNNING == 2 &&
                  TASK_SUCCEEDED == 3 && TASK_FAILED == 4 && TASK_CANCELLED == 5,
              "a status is stored by its number");
static_assert(TASK_ACP == 0 && TASK_CLI == 1 && TASK_AGENT == 2, "so is a kind");
static_assert(TASK_EV_STDOUT == 4 && TASK_EV_STDERR == 5 && TASK_EV_MESSAGE == 7 &&
                  TASK_EV_THOUGHT == 8 && TASK_EV_TOOL_CALL == 9 && TASK_EV_TOOL_UPDATE == 10 &&
                  TASK_EV_ERROR == 16,
              "so is a type of event");
static_assert(DB_SEQ_BITS == 32, "the view and the ids of events take it as it is");

const char *const ledger_schema =
    "CREATE TABLE owner("
    " uuid TEXT PRIMARY KEY, pid INTEGER NOT NULL, pid_start INTEGER NOT NULL,"
    " boot_id TEXT NOT NULL, pidns INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE task("
    " no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " kind INTEGER NOT NULL, status INTEGER NOT NULL, priority INTEGER NOT NULL,"
    " owner TEXT NOT NULL,"
    /* trim_seq: no output event below it; capped: the `error` about the cap is written */
    " last_seq INTEGER NOT NULL DEFAULT 0, first_seq INTEGER NOT NULL DEFAULT 1,"
    " trim_seq INTEGER NOT NULL DEFAULT 1, bytes INTEGER NOT NULL DEFAULT 0,"
    " max_bytes INTEGER NOT NULL, capped INTEGER NOT NULL DEFAULT 0,"
    " created_ms INTEGER NOT NULL, started_ms INTEGER, finished_ms INTEGER,"
    " resolution INTEGER NOT NULL DEFAULT 0, resolved_ms INTEGER,"
    " cancel_requested INTEGER NOT NULL DEFAULT 0, exit_code INTEGER, signal INTEGER,"
    " pid INTEGER, pid_start INTEGER, keeper INTEGER, keeper_start INTEGER,"
    " agent TEXT NOT NULL, workspace TEXT NOT NULL, initiator_id TEXT NOT NULL,"
    " executor_id TEXT NOT NULL, parent_id TEXT NOT NULL, idempotency_key TEXT,"
    " session_id TEXT, stop_reason TEXT, worktree TEXT, branch TEXT,"
    " labels TEXT NOT NULL, options TEXT NOT NULL, usage TEXT, note TEXT, result_text TEXT,"
    " prompt TEXT NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX task_key ON task(initiator_id, idempotency_key)"
    " WHERE idempotency_key IS NOT NULL;"
    "CREATE INDEX task_open ON task(owner) WHERE status < 3;"
    "CREATE INDEX task_ended ON task(finished_ms) WHERE status >= 3;"
    "CREATE TABLE event("
    " id INTEGER PRIMARY KEY, type INTEGER NOT NULL, ts INTEGER NOT NULL,"
    " payload TEXT NOT NULL) STRICT;"
    "CREATE TABLE doomed(no INTEGER PRIMARY KEY) STRICT;"
    "CREATE VIEW task_event AS SELECT t.id AS task_id, e.id & 4294967295 AS seq, e.type,"
    " e.ts, e.payload FROM task t JOIN event e ON e.id > t.no << 32 AND e.id < t.no + 1 << 32;"
    "PRAGMA application_id=" TEXT_OF(DB_APPLICATION_ID) ";"
                                                        "PRAGMA user_version=" TEXT_OF(
                                                            DB_SCHEMA_VERSION);

/* What read_task() of ledger_read.c reads, in this order. */
#define RECORD                                                                           \
    "SELECT no, id, kind, status, resolution, agent, workspace, created_ms, started_ms," \
    " finished_ms, resolved_ms, exit_code, signal, stop_reason, session_id, note,"       \
    " initiator_id, executor_id, parent_id, labels, options, worktree, branch, usage,"   \
    " priority, last_seq, first_seq, cancel_requested, "
#define WHOLE RECORD "result_text, prompt FROM task "
#define BRIEF RECORD "NULL, substr(prompt, 1, " TEXT_OF(TASK_PROMPT_SHOWN) ") FROM task "

/* clang-format off */
const char *const ledger_sql[SQL_COUNT] = {
    [SQL_TASK_BY_ID] = WHOLE "WHERE id = ?1",
    [SQL_TASK_BRIEF] = BRIEF "WHERE id = ?1",
    [SQL_TASK_BY_KEY] = WHOLE "WHERE initiator_id = ?1 AND idempotency_key = ?2",
    [SQL_TASK_ADD] =
        "INSERT INTO task(id, kind, status, priority, owner, max_bytes, created_ms, agent,"
        " workspace, initiator_id, executor_id, parent_id, idempotency_key, labels, options,"
        " prompt, session_id)"
        " VALUES(?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [SQL_TASK_CHANGE] =
        "UPDATE task SET status = ?2, started_ms = coalesce(?3, started_ms),"
        " finished_ms = coalesce(?4, finished_ms), cancel_requested = cancel_requested OR ?5,"
        " resolution = coalesce(?6, resolution), resolved_ms = coalesce(?7, resolved_ms),"
        " note = CASE WHEN ?6 IS NULL THEN note ELSE ?8 END,"
        " stop_reason = coalesce(?9, stop_reason), session_id = coalesce(?10, session_id),"
        " usage = coalesce(?11, usage), worktree = coalesce(?12, worktree),"
        " branch = coalesce(?13, branch), result_text = coalesce(?14, result_text),"
        " exit_code = coalesce(?15, exit_code), signal = coalesce(?16, signal),"
        " pid = coalesce(?17, pid), pid_start = coalesce(?18, pid_start),"
        " keeper = coalesce(?19, keeper), keeper_start = coalesce(?20, keeper_start)"
        " WHERE no = ?1",
    [SQL_TASK_HEAD] =
        "SELECT no, status, last_seq, first_seq, trim_seq, bytes, max_bytes, capped"
        " FROM task WHERE id = ?1",
    [SQL_TASK_SET_HEAD] =
        "UPDATE task SET last_seq = ?2, first_seq = ?3, trim_seq = ?4, bytes = ?5, capped = ?6"
        " WHERE no = ?1",
    [SQL_TASK_LIST] = BRIEF
        "WHERE no < ?1 AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR kind = ?3)"
        " AND (?4 IS NULL OR workspace = ?4) AND (?5 IS NULL OR initiator_id = ?5)"
        " AND (?6 IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?6))"
        " ORDER BY no DESC LIMIT ?7",
    [SQL_TASK_CANCELS] = BRIEF "WHERE owner = ?1 AND status < 3 AND cancel_requested",
    [SQL_TASK_RUNNING] =
        "SELECT id, pid, pid_start, keeper, keeper_start FROM task"
        " WHERE status < 3 AND status > 0",
    [SQL_CLAIM_ROOM] =
        "SELECT count(*) FROM task WHERE status < 3 AND status > 0 AND kind < 2",
    [SQL_CLAIM_BETTER] =
        "SELECT t.owner, count(*), o.pid, o.pid_start, o.boot_id, o.pidns"
        " FROM task t LEFT JOIN owner o ON o.uuid = t.owner"
        " WHERE t.status < 3 AND t.status = 0 AND t.kind < 2"
        " AND (t.priority > ?1 OR (t.priority = ?1 AND t.no < ?2)) GROUP BY t.owner",
    [SQL_CLAIM_TAKE] = "SELECT no, status, priority FROM task WHERE id = ?1",
    [SQL_EVENT_ADD] = "INSERT INTO event(id, type, ts, payload) VALUES(?1, ?2, ?3, ?4)",
    [SQL_EVENT_READ] =
        "SELECT id, type, ts, payload FROM event WHERE id > ?1 AND id <= ?2"
        " AND (?3 = 0 OR ?3 >> type & 1) ORDER BY id LIMIT ?4",
    [SQL_EVENT_OUTPUT] =
        "SELECT id, payload FROM event WHERE id >= ?1 AND id <= ?2"
        " AND type IN (4, 5, 8, 10) ORDER BY id LIMIT 1",
    [SQL_EVENT_DELETE] = "DELETE FROM event WHERE id = ?1",
    [SQL_EVENT_FIRST] = "SELECT id FROM event WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT 1",
    [SQL_EVENT_SAID] =
        "SELECT type, payload FROM event WHERE id > ?1 AND id <= ?2"
        " AND type IN (7, 9) ORDER BY id",
    [SQL_OWNER_ADD] =
        "INSERT OR IGNORE INTO owner(uuid, pid, pid_start, boot_id, pidns)"
        " VALUES(?1, ?2, ?3, ?4, ?5)",
    [SQL_OWNER_DELETE] = "DELETE FROM owner WHERE uuid = ?1",
    [SQL_OWNER_HAS_TASKS] = "SELECT count(*) FROM task WHERE owner = ?1 AND status < 3",
    [SQL_OWNER_OTHERS] =
        "SELECT uuid, (SELECT count(*) FROM task WHERE owner = uuid AND status < 3),"
        " pid, pid_start, boot_id, pidns FROM owner WHERE uuid <> ?1"
        " UNION ALL SELECT owner, count(*), 0, 0, '', 0 FROM task"
        " WHERE status < 3 AND owner <> ?1 AND owner NOT IN (SELECT uuid FROM owner)"
        " GROUP BY owner",
    [SQL_OWNER_TASKS] =
        "SELECT id, status, pid, pid_start, keeper, keeper_start FROM task"
        " WHERE owner = ?1 AND status < 3",
    [SQL_DOOMED_FIRST] = "SELECT no FROM doomed LIMIT 1",
    [SQL_DOOMED_ADD] = "INSERT OR IGNORE INTO doomed(no) VALUES(?1)",
    [SQL_DOOMED_DELETE] = "DELETE FROM doomed WHERE no = ?1",
    [SQL_TASK_DELETE] = "DELETE FROM task WHERE no = ?1 AND status >= 3",
    [SQL_TASK_OLDEST] =
        "SELECT no, finished_ms FROM task WHERE status >= 3 ORDER BY finished_ms LIMIT 1",
    [SQL_TASK_ENDED_COUNT] = "SELECT count(*) FROM task WHERE status >= 3",
    [SQL_DATA_VERSION] = "PRAGMA data_version",
    [SQL_PAGE_COUNT] = "PRAGMA page_count",
    [SQL_FREE_COUNT] = "PRAGMA freelist_count",
    [SQL_VACUUM] = "PRAGMA incremental_vacuum(64)",
};
/* clang-format on */
