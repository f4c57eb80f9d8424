/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/process.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "pm/environment.h"
#include "rpc/peer.h"

#define NETWORK          (-32002) /* codes of PM-5 */
#define NO_PROGRAM       (-32005)
#define MAX_STDERR_SHOWN 200                /* bytes of its last line in a reason */
#define MAX_PARAMS       ((size_t)64 << 10) /* of initialize */

static const struct child_ladder ladder = { .term_ms = 500, .kill_ms = 2000 };

enum state { COLD, STARTING, READY, DEAD };

static const char *const state_name[] = {
    [COLD] = "cold", [STARTING] = "starting", [READY] = "ready", [DEAD] = "dead"
};

static const unsigned next_of[] = {
    [COLD] = 1u << STARTING | 1u << DEAD,
    [STARTING] = 1u << READY | 1u << DEAD,
    [READY] = 1u << DEAD,
    [DEAD] = 0,
};

/* Methods that a program may do without; it says which it has in `capabilities` (PM-2). */
static const char *const optional[] = { "search", "list_deps", "workspace_info", "refresh" };

enum call_state {
    WAITING, /* for the handshake, or for the reason of the end; the timer is the deadline */
    OPEN,    /* the peer has it, deadline included */
    BACKOFF, /* the timer sends it again */
    FAILED,  /* the timer (0 ms) reports `why` from the loop */
};

struct call {
    struct call *next;
    struct pm_process *p;
    char *method, *params;
    enum call_state state;
    struct timer *timer;
    int64_t deadline, sent; /* clock_ms() */
    int retries;
    bool dropped; /* open, but nobody wants the answer any more */
    struct error why;
    pm_answer_fn done;
    void *ctx;
};

struct pm_process {
    struct loop *loop;
    char *name, *workspace, *cache_dir;
    char **argv, **env;
    bool offline;
    enum state state;
    bool has[ARRAY_LEN(optional)];
    struct error why; /* DEAD: the reason */
    struct child *child;
    struct peer *peer;
    struct call *calls;       /* oldest first */
    struct timer *gone_timer; /* reports the end when there was no process to wait for */
    void (*gone)(void *ctx);
    void *gone_ctx;
};

static void enter(struct pm_process *p, enum state to)
{
    assert(next_of[p->state] & 1u << to);
    log_debug("package manager '%s': %s -> %s", p->name, state_name[p->state], state_name[to]);
    p->state = to;
}

/* ---- one call ---- */

/* Frees the call, which is on no list any more; the caller's function comes last, it may free
 * the process. */
static void report(struct call *c, yyjson_val *result, const struct error *why)
{
    struct call done = *c;

    timer_free(c->timer);
    free(c->method);
    free(c->params);
    free(c);
    if (!done.dropped)
        done.done(done.ctx, result, why);
}

static void finish(struct call *c, yyjson_val *result, const struct error *why)
{
    struct call **at = &c->p->calls;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    report(c, result, why);
}

static void fail_later(struct call *c, const struct error *why)
{
    c->state = FAILED;
    c->why = *why;
    timer_set(c->timer, 0);
}

/* ---- the end ---- */

/* The last thing it said, which is where programs put the reason; empty when it said nothing.
 */
static void put_last_words(struct buf *out, struct str text)
{
    struct str line, rest;

    text = str_trim(text);
    for (rest = text; str_cut(rest, '\n', &line, &rest);)
        continue;
    if (rest.n) {
        buf_addz(out, ": ");
        utf8_put_clean(out, utf8_cut(rest, MAX_STDERR_SHOWN));
    }
}

static void log_stderr(const struct pm_process *p)
{
    struct str line, rest = child_stderr(p->child);

    while (str_cut(rest, '\n', &line, &rest))
        log_debug("%s: %.*s", p->name, STR_F(line));
    if (rest.n)
        log_debug("%s: %.*s", p->name, STR_F(rest));
}

/* The other kinds are what an answer may say (process.h). */
static bool is_failure(enum err_kind kind)
{
    return kind == ERR_TIMEOUT || kind == ERR_LIMIT || kind == ERR_CLOSED ||
           kind == ERR_PROTOCOL;
}

/* Every failure of the process goes through here: open calls fail (from the loop), no call ever
 * starts it again. */
static void die(struct pm_process *p, const struct error *why)
{
    auto_buf text = BUF(4 * ERROR_MSG_MAX);

    if (p->state == DEAD)
        return;
    utf8_put_clean(&text, str_of(why->msg));
    error_set(&p->why, ERR_CLOSED, "package manager '%s': %s", p->name, buf_z(&text));
    p->why.kind = is_failure(why->kind) ? why->kind : ERR_SYS;
    log_debug("%s", p->why.msg);
    enter(p, DEAD);
    if (p->peer)
        peer_close(p->peer, &p->why);
    for (struct call *c = p->calls; c; c = c->next)
        if (c->state != FAILED)
            fail_later(c, &p->why);
    if (p->child) {
        log_stderr(p);
        child_stop(p->child, ladder);
    }
}

__attribute__((format(printf, 3, 4))) static void die_of(struct pm_process *p,
                                                         enum err_kind kind, const char *fmt,
                                                         ...)
{
    struct error why;
    char text[ERROR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    error_set(&why, kind, "%s", text);
    die(p, &why);
}

/* ---- answers ---- */

/* What an error answer means for whoever asked (PM-5). */
static void explain(const struct pm_process *p, const struct call *c,
                    const struct rpc_msg *reply, struct error *ret)
{
    static const struct {
        int64_t code;
        enum err_kind kind;
        const char *what;
    } codes[] = {
        { -32601, ERR_NOT_FOUND, "does not offer it" },
        { -32001, ERR_NOT_FOUND, "found nothing" },
        { NETWORK, ERR_CLOSED, "the network failed" },
        { -32003, ERR_INVALID, "invalid input" },
        { -32004, ERR_DENIED, "authentication required" },
        { NO_PROGRAM, ERR_SYS, "a program is missing" },
    };
    auto_buf message = BUF(ERROR_MSG_MAX * 4);
    enum err_kind kind = ERR_PROTOCOL;
    const char *what = "refused";

    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        if (codes[i].code == reply->code) {
            kind = codes[i].kind;
            what = codes[i].what;
        }
    }
    utf8_put_clean(&message, utf8_cut(reply->message, ERROR_MSG_MAX));
    error_set(ret, ERR_PROTOCOL, "package manager '%s': %s: %s: %s (code %lld)", p->name,
              c->method, what, buf_z(&message), (long long)reply->code);
    ret->kind = kind;
    ret->sys = reply->code == NETWORK ? ENETUNREACH : reply->code == NO_PROGRAM ? ENOPKG : 0;
}

bool pm_is_network(const struct error *why)
{
    return why->kind == ERR_CLOSED && why->sys == ENETUNREACH;
}

bool pm_is_missing(const struct error *why)
{
    return why->kind == ERR_SYS && why->sys == ENOPKG;
}

int pm_backoff_ms(int n)
{
    return 250 << 2 * n;
}

/* A try that cannot end before the deadline would end the process instead. */
static bool retry_later(struct call *c)
{
    int ms = pm_backoff_ms(c->retries);
    int64_t now = clock_ms(), took = now - c->sent;

    if (c->dropped || c->p->offline || c->retries == PM_NETWORK_RETRIES ||
        now + ms + took >= c->deadline)
        return false;
    c->retries++;
    c->state = BACKOFF;
    timer_set(c->timer, ms);
    return true;
}

static void on_reply(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct call *c = ctx;
    struct pm_process *p = c->p;
    struct error why = { 0 };

    if (p->state == DEAD) { /* from peer_close() in die() */
        fail_later(c, &p->why);
        return;
    }
    if (!e) {
        finish(c, reply->result, NULL);
        return;
    }
    if (reply) {
        if (reply->code == NETWORK && retry_later(c))
            return;
        explain(p, c, reply, &why);
        finish(c, NULL, &why);
        return;
    }
    c->state = FAILED; /* no longer the peer's */
    die(p, e);
    fail_later(c, &p->why);
}

static bool offers(const struct pm_process *p, const char *method)
{
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        if (strcmp(optional[i], method) == 0)
            return p->has[i];
    return true;
}

/* A write into a closed pipe is mostly the first sign of the exit, which says more and always
 * comes: as on_exit_seen() or as on_deaf(). */
static bool is_end_near(const struct error *of_write)
{
    return of_write->kind == ERR_CLOSED;
}

static void send_call(struct call *c)
{
    struct pm_process *p = c->p;
    struct peer_call call = { .method = c->method, .params = str_of(c->params) };
    int64_t left = c->deadline - clock_ms();
    struct error why = { 0 };

    if (!offers(p, c->method)) {
        error_set(&why, ERR_NOT_FOUND, "package manager '%s' does not offer %s", p->name,
                  c->method);
        fail_later(c, &why);
        return;
    }
    timer_clear(c->timer);
    c->state = OPEN;
    c->sent = clock_ms();
    call.timeout_ms = left > 0 ? (int)left : 1;
    if (peer_call(p->peer, &call, on_reply, c, &why))
        return;
    if (is_end_near(&why)) {
        c->state = WAITING;
        timer_set(c->timer, call.timeout_ms);
        return;
    }
    error_wrap(&why, "package manager '%s'", p->name);
    fail_later(c, &why);
}

static void on_timer(void *ctx)
{
    struct call *c = ctx;
    struct error why = c->why;

    switch (c->state) {
    case WAITING:
        die_of(c->p, ERR_TIMEOUT, "no answer to '%s' in time",
               c->p->state == STARTING ? "initialize" : c->method);
        break;
    case BACKOFF:
        send_call(c);
        break;
    case FAILED:
        finish(c, NULL, &why);
        break;
    case OPEN:
        break;
    }
}

/* ---- the handshake ---- */

static void read_capabilities(struct pm_process *p, yyjson_val *list)
{
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        p->has[i] = !json_is_arr(list); /* says nothing: each method will tell */
    for (struct json_iter it = json_iter(list); json_next(&it);)
        for (size_t i = 0; i < ARRAY_LEN(optional); i++)
            if (str_is(json_str(it.val), optional[i]))
                p->has[i] = true;
}

static void on_initialized(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct pm_process *p = ctx;
    int64_t version = 0;
    struct str name;

    if (p->state != STARTING)
        return;
    if (e) {
        die_of(p, reply ? ERR_PROTOCOL : e->kind, "%s", e->msg);
        return;
    }
    name = json_str(json_get(reply->result, "name"));
    if (!json_int(json_get(reply->result, "protocol_version"), &version) ||
        version != PM_PROTOCOL_VERSION) {
        die_of(p, ERR_PROTOCOL, "refused: it speaks protocol version %lld, not %d",
               (long long)version, PM_PROTOCOL_VERSION);
        return;
    }
    if (!str_is(name, p->name)) {
        auto_buf shown = BUF(1024);

        utf8_put_clean(&shown, utf8_cut(name, 64));
        die_of(p, ERR_PROTOCOL, "refused: it calls itself '%s'", buf_z(&shown));
        return;
    }
    read_capabilities(p, json_get(reply->result, "capabilities"));
    enter(p, READY);
    for (struct call *c = p->calls; c; c = c->next)
        if (c->state == WAITING)
            send_call(c);
}

static bool say_hello(struct pm_process *p, struct error *e)
{
    auto_buf params = BUF(MAX_PARAMS);
    const char *cargo = getenv("SYMPOSIUM_CARGO");
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_kint(&w, "protocol_version", PM_PROTOCOL_VERSION);
    if (p->workspace)
        jw_kstrz(&w, "workspace", p->workspace);
    if (p->cache_dir)
        jw_kstrz(&w, "cache_dir", p->cache_dir);
    jw_key(&w, "env");
    jw_obj(&w);
    if (cargo)
        jw_kstrz(&w, "SYMPOSIUM_CARGO", cargo);
    jw_end(&w);
    jw_end(&w);
    return buf_ok(&params, e) &&
           peer_call(p->peer,
                     &(struct peer_call){ .method = "initialize",
                                          .params = buf_str(&params),
                                          .timeout_ms = PM_HANDSHAKE_TIMEOUT_MS },
                     on_initialized, p, e);
}

/* ---- the program ---- */

static bool peer_send(void *ctx, struct str message, struct error *e)
{
    struct pm_process *p = ctx;

    if (!p->child)
        return error_set(e, ERR_CLOSED, "it has ended");
    return child_write_line(p->child, message, e);
}

/* Only we ask in this protocol. */
static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct pm_process *p = ctx;

    peer_reply_error(p->peer, m->id, RPC_METHOD_NOT_FOUND,
                     STR("a package manager answers only"), (struct str){ 0 }, NULL);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    struct pm_process *p = ctx;

    log_debug("%s: notification '%.*s' ignored", p->name, STR_F(m->method));
}

static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    struct pm_process *p = ctx;

    switch (fault) {
    case PEER_STRAY_ANSWER:
        /* With nothing open it harms nobody; otherwise somebody would wait for an answer that
         * came under a wrong id. */
        if (peer_inflight(p->peer))
            die_of(p, ERR_PROTOCOL, "answered a request that was not made");
        break;
    case PEER_NOT_JSON:
    case PEER_NOT_MESSAGE:
    case PEER_TOO_LONG:
        die_of(p, ERR_PROTOCOL, "malformed answer: %s", why->msg);
        break;
    }
}

static void on_line(void *ctx, struct str line, bool too_long)
{
    struct pm_process *p = ctx;

    if (p->state == DEAD)
        return;
    if (too_long)
        die_of(p, ERR_LIMIT, "sent a line of more than %zu bytes", PM_MAX_LINE);
    else
        peer_feed(p->peer, line); /* may free p */
}

static void on_exit_seen(void *ctx, const struct child_exit *how)
{
    struct pm_process *p = ctx;
    auto_buf words = BUF(4 * MAX_STDERR_SHOWN);

    put_last_words(&words, child_stderr(p->child));
    if (how->exec_errno)
        die_of(p, ERR_SYS, "cannot be executed: %s", strerror(how->exec_errno));
    else if (how->signal)
        die_of(p, ERR_CLOSED, "ended by signal %d%s", how->signal, buf_z(&words));
    else
        die_of(p, ERR_CLOSED, "exited with status %d%s", how->code, buf_z(&words));
    child_free(p->child);
    p->child = NULL;
    if (p->gone)
        timer_set(p->gone_timer, 0);
}

/* It lives, but can be asked no more. */
static void on_deaf(void *ctx, const struct error *why)
{
    die(ctx, why);
}

static bool start_child(struct pm_process *p, struct error *e)
{
    static const struct child_ops ops = { .on_line = on_line,
                                          .on_exit = on_exit_seen,
                                          .on_stdin_broken = on_deaf };
    struct child_opts o = {
        .argv = (const char *const *)p->argv,
        .env = (const char *const *)p->env,
        .cwd = p->workspace && file_is_dir(p->workspace) ? p->workspace : NULL,
        .max_line = PM_MAX_LINE,
        .keeper = p->offline,
        .offline = p->offline,
    };

    p->child = child_start(p->loop, &o, &ops, p, e);
    return p->child != NULL;
}

static void start(struct pm_process *p)
{
    static const struct peer_ops ops = { .send = peer_send,
                                         .on_request = on_request,
                                         .on_notification = on_notification,
                                         .on_fault = on_fault };
    struct error why = { 0 };

    enter(p, STARTING);
    p->peer = peer_new(p->loop, &ops, p);
    if (!start_child(p, &why))
        die(p, &why);
    else if (!say_hello(p, &why) && !is_end_near(&why))
        die(p, &why);
}

/* ---- outside ---- */

static char **copy_argv(const char *const *argv)
{
    size_t n = 0;
    char **copy;

    while (argv[n])
        n++;
    copy = mem_alloc((n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = mem_strdup(argv[i]);
    return copy;
}

static void on_gone_timer(void *ctx)
{
    struct pm_process *p = ctx;
    void (*gone)(void *) = p->gone;

    p->gone = NULL;
    if (gone)
        gone(p->gone_ctx);
}

struct pm_process *pm_process_new(struct loop *l, const struct pm_opts *o)
{
    struct pm_process *p = NEW(struct pm_process);

    p->loop = l;
    p->name = mem_strdup(o->name);
    p->argv = copy_argv(o->argv);
    p->env = environment_new(o->pass_env, o->npass_env);
    p->workspace = mem_strdup(o->workspace);
    p->cache_dir = mem_strdup(o->cache_dir);
    p->offline = o->offline;
    p->gone_timer = timer_new(l, on_gone_timer, p);
    return p;
}

void pm_process_call(struct pm_process *p, const char *method, struct str params,
                     int timeout_ms, pm_answer_fn done, void *ctx)
{
    struct call *c = NEW(struct call), **at = &p->calls;

    *c = (struct call){ .p = p,
                        .method = mem_strdup(method),
                        .params = str_dup(params),
                        .state = WAITING,
                        .timer = timer_new(p->loop, on_timer, c),
                        .deadline = clock_ms() + timeout_ms,
                        .done = done,
                        .ctx = ctx };
    while (*at)
        at = &(*at)->next;
    *at = c;
    timer_set(c->timer, timeout_ms);
    if (p->state == COLD)
        start(p);
    if (p->state == DEAD && c->state != FAILED)
        fail_later(c, &p->why);
    else if (p->state == READY)
        send_call(c);
}

void pm_process_drop(struct pm_process *p, const void *ctx)
{
    struct call *c = p->calls, *next;

    for (; c; c = next) {
        next = c->next;
        if (c->ctx != ctx)
            continue;
        c->dropped = true;
        if (c->state != OPEN) /* the peer still holds an open one */
            finish(c, NULL, &p->why);
    }
}

bool pm_process_dead(const struct pm_process *p)
{
    return p->state == DEAD;
}

void pm_process_close(struct pm_process *p, void (*gone)(void *ctx), void *ctx)
{
    p->gone = gone;
    p->gone_ctx = ctx;
    die_of(p, ERR_CLOSED, "closed");
    if (!p->child)
        timer_set(p->gone_timer, 0);
}

void pm_process_free(struct pm_process *p)
{
    if (!p)
        return;
    die_of(p, ERR_CLOSED, "closed");
    child_free(p->child);
    p->child = NULL;
    while (p->calls) {
        struct call *c = p->calls;

        p->calls = c->next;
        report(c, NULL, &p->why);
    }
    peer_free(p->peer);
    timer_free(p->gone_timer);
    environment_free(p->argv);
    environment_free(p->env);
    free(p->name);
    free(p->workspace);
    free(p->cache_dir);
    free(p);
}
