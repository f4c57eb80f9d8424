/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/task.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/utf8.h"

/* ---- words ---- */

static const char *const status_names[] = {
    [TASK_CREATED] = "created", [TASK_STARTING] = "starting",
    [TASK_RUNNING] = "running", [TASK_SUCCEEDED] = "succeeded",
    [TASK_FAILED] = "failed",   [TASK_CANCELLED] = "cancelled",
};

static const char *const resolution_names[] = {
    [TASK_UNRESOLVED] = NULL,         [TASK_ACCEPTED] = "accepted",
    [TASK_REJECTED] = "rejected",     [TASK_NEEDS_FOLLOWUP] = "needs_followup",
    [TASK_SUPERSEDED] = "superseded",
};

static const char *const kind_names[] = {
    [TASK_ACP] = "acp",
    [TASK_CLI] = "cli",
    [TASK_AGENT] = "agent",
};

static const struct {
    const char *name;
    bool output;
} events[TASK_EVENTS] = {
    [TASK_EV_CREATED] = { "task_created" },
    [TASK_EV_STATUS] = { "status_changed" },
    [TASK_EV_PROCESS_STARTED] = { "process_started" },
    [TASK_EV_PROCESS_EXITED] = { "process_exited" },
    [TASK_EV_STDOUT] = { "stdout", true },
    [TASK_EV_STDERR] = { "stderr", true },
    [TASK_EV_SESSION] = { "session_started" },
    [TASK_EV_MESSAGE] = { "agent_message" },
    [TASK_EV_THOUGHT] = { "agent_thought", true },
    [TASK_EV_TOOL_CALL] = { "tool_call" },
    [TASK_EV_TOOL_UPDATE] = { "tool_call_update", true },
    [TASK_EV_PLAN] = { "plan" },
    [TASK_EV_PERMISSION] = { "permission" },
    [TASK_EV_AGENT_UPDATE] = { "agent_update" },
    [TASK_EV_CANCELLED] = { "task_cancelled" },
    [TASK_EV_RESOLVED] = { "task_resolved" },
    [TASK_EV_ERROR] = { "error" },
};

const char *task_status_name(enum task_status s)
{
    return status_names[s];
}

const char *task_resolution_name(enum task_resolution r)
{
    return resolution_names[r];
}

const char *task_kind_name(enum task_kind k)
{
    return kind_names[k];
}

const char *task_event_name(enum task_event t)
{
    return events[t].name;
}

bool task_status_parse(struct str name, enum task_status *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(status_names); i++) {
        if (!str_is(name, status_names[i]))
            continue;
        *ret = (enum task_status)i;
        return true;
    }
    return false;
}

/* ---- transitions ---- */

static const unsigned next_of[] = {
    [TASK_CREATED] = 1u << TASK_STARTING | 1u << TASK_FAILED | 1u << TASK_CANCELLED,
    [TASK_STARTING] = 1u << TASK_RUNNING | 1u << TASK_FAILED | 1u << TASK_CANCELLED,
    [TASK_RUNNING] = 1u << TASK_SUCCEEDED | 1u << TASK_FAILED | 1u << TASK_CANCELLED,
    [TASK_SUCCEEDED] = 0,
    [TASK_FAILED] = 0,
    [TASK_CANCELLED] = 0,
};

bool task_is_terminal(enum task_status s)
{
    return !next_of[s];
}

bool task_may_become(enum task_status from, enum task_status to)
{
    return next_of[from] & 1u << to;
}

bool task_event_is_output(enum task_event t)
{
    return events[t].output;
}

/* ---- JSON ---- */

/* Empty is null. */
static void put_str(struct jw *w, const char *key, struct str s)
{
    jw_key(w, key);
    if (s.n)
        jw_str(w, s);
    else
        jw_null(w);
}

/* `none` when it is empty; and when it is no JSON: a file that was damaged, or changed by hand,
 * must not spoil the line that this is a part of. */
static void put_json(struct jw *w, const char *key, struct str json, const char *none)
{
    auto_json doc = { 0 };

    jw_key(w, key);
    if (json.n && json_parse(&doc, json, NULL))
        jw_val(w, doc.root);
    else
        jw_raw(w, str_of(none));
}

/* A negative number is null. */
static void put_count(struct jw *w, const char *key, int n)
{
    jw_key(w, key);
    if (n >= 0)
        jw_int(w, n);
    else
        jw_null(w);
}

void task_put_time(struct jw *w, const char *key, int64_t wall_ms)
{
    time_t s = (time_t)(wall_ms / 1000);
    char text[64];
    struct tm tm;
    size_t n;

    jw_key(w, key);
    if (wall_ms <= 0 || !gmtime_r(&s, &tm)) {
        jw_null(w);
        return;
    }
    n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(text + n, sizeof text - n, ".%03dZ", (int)(wall_ms % 1000));
    jw_str(w, (struct str){ text, n });
}

void task_put(struct jw *w, const struct task_record *t, bool with_result)
{
    jw_obj(w);
    jw_kstr(w, "task_id", t->id);
    jw_kstrz(w, "kind", task_kind_name(t->kind));
    jw_kstr(w, "agent", t->agent);
    jw_kstr(w, "workspace", t->workspace);
    jw_kstr(w, "prompt", utf8_cut(t->prompt, TASK_PROMPT_SHOWN));
    jw_kstrz(w, "status", task_status_name(t->status));
    task_put_time(w, "created_at", t->created_ms);
    task_put_time(w, "started_at", t->started_ms);
    task_put_time(w, "finished_at", t->finished_ms);
    put_count(w, "exit_code", t->exit_code);
    put_count(w, "signal", t->signal);
    put_str(w, "stop_reason", t->stop_reason);
    put_str(w, "session_id", t->session_id);
    jw_kstrz(w, "resolution", task_resolution_name(t->resolution));
    put_str(w, "note", t->note);
    task_put_time(w, "resolved_at", t->resolved_ms);
    put_str(w, "initiator_id", t->initiator_id);
    put_str(w, "executor_id", t->executor_id);
    put_str(w, "parent_task_id", t->parent_id);
    put_json(w, "labels", t->labels, "[]");
    jw_kint(w, "last_seq", t->last_seq);
    put_json(w, "usage", t->usage, "null");
    put_str(w, "worktree", t->worktree);
    put_str(w, "branch", t->branch);
    if (with_result)
        jw_kstr(w, "result_text", t->result_text);
    jw_end(w);
}

void task_put_event(struct jw *w, const struct task_event_row *ev)
{
    jw_obj(w);
    jw_kint(w, "seq", ev->seq);
    jw_kstrz(w, "type", task_event_name(ev->type));
    task_put_time(w, "ts", ev->ts_ms);
    put_json(w, "data", ev->data, "{}");
    jw_end(w);
}

/* ---- ids ---- */

/*
 * RFC 9562, 6.2, method 2: below the 48 bits of milliseconds stand 74 bits that are random for
 * the first id of a millisecond and grow by a random step for the next ones, so that ids rise
 * without being guessable. Time that goes back is not followed.
 */
#define STEP_BITS 32
#define LOW_BITS  62

static struct {
    pthread_mutex_t lock;
    uint64_t ms;
    uint64_t high; /* 12 bits, behind the version */
    uint64_t low;  /* 62 bits, behind the variant */
} last_id = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The first of a millisecond: room for many steps is left above. */
static void begin_ms(uint64_t ms)
{
    last_id.ms = ms;
    last_id.high = rand_u64() >> (64 - 11);
    last_id.low = rand_u64() >> (64 - LOW_BITS);
}

static void step(void)
{
    last_id.low += 1 + (rand_u64() >> (64 - STEP_BITS));
    if (last_id.low >> LOW_BITS == 0)
        return;
    last_id.low &= ((uint64_t)1 << LOW_BITS) - 1;
    if (++last_id.high >> 12)
        begin_ms(last_id.ms + 1);
}

void task_id_new(char ret[TASK_ID_LEN + 1])
{
    uint64_t now = (uint64_t)clock_wall_ms(), ms, high, low;

    pthread_mutex_lock(&last_id.lock);
    if (now > last_id.ms)
        begin_ms(now);
    else
        step();
    ms = last_id.ms & 0xffffffffffff;
    high = 0x7000 | last_id.high;
    low = (uint64_t)1 << 63 | last_id.low;
    pthread_mutex_unlock(&last_id.lock);
    snprintf(ret, TASK_ID_LEN + 1, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(ms >> 16),
             (unsigned)(ms & 0xffff), (unsigned)high, (unsigned)(low >> 48),
             (unsigned long long)(low & 0xffffffffffff));
}

static bool is_lower_hex(char c)
{
    return ascii_digit(c) || (c >= 'a' && c <= 'f');
}

bool task_id_valid(struct str s)
{
    if (s.n != TASK_ID_LEN)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? s.p[i] != '-' : !is_lower_hex(s.p[i]))
            return false;
    }
    return s.p[14] == '7' &&
           (s.p[19] == '8' || s.p[19] == '9' || s.p[19] == 'a' || s.p[19] == 'b');
}
