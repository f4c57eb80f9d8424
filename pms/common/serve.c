/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "common/run.h"
#include "loop/lines.h"
#include "loop/pipe.h"
#include "loop/signal.h"
#include "loop/timer.h"
#include "rpc/peer.h"

#define SWEEP_MS 1000 /* for what is killed last */

struct server;

struct open_request {
    struct request r; /* first: the methods know only this part */
    struct server *server;
    struct rpc_doc *doc;
    struct str id;
    void (*on_end)(void *ctx);
    void *on_end_ctx;
    struct open_request *next, *prev;
};

struct server {
    const struct pms_program *program;
    struct session session;
    struct arena arena;         /* of the session */
    struct rpc_doc *initialize; /* NULL before it came */
    void *state;
    struct pipe *in, *out;
    struct lines lines;
    struct peer *peer;
    struct signals *signals;
    struct timer *patience;
    struct open_request *open;
    size_t nopen;
    bool ending;
};

/* ---- requests ---- */

static struct open_request *whole(const struct request *r)
{
    return (struct open_request *)r;
}

static void fail(struct server *s, struct str id, int64_t code, const char *message)
{
    peer_reply_error(s->peer, id, code, str_of(message), (struct str){ 0 }, NULL);
}

static void finish_when_idle(struct server *s);

static void drop(struct open_request *o)
{
    struct server *s = o->server;

    if (o->prev)
        o->prev->next = o->next;
    else
        s->open = o->next;
    if (o->next)
        o->next->prev = o->prev;
    s->nopen--;
    rpc_doc_unref(o->doc);
    arena_free(&o->r.arena);
    free(o);
    finish_when_idle(s);
}

static struct open_request *accept_request(struct server *s, const struct rpc_msg *m)
{
    struct open_request *o = NEW(struct open_request);

    o->server = s;
    o->doc = rpc_doc_ref(m->doc);
    o->id = arena_str(&o->r.arena, m->id);
    o->r.params = m->params;
    o->r.state = s->state;
    o->r.session = &s->session;
    o->next = s->open;
    if (s->open)
        s->open->prev = o;
    s->open = o;
    s->nopen++;
    return o;
}

void request_reply(struct request *r, struct str json)
{
    struct open_request *o = whole(r);
    struct error e = { 0 };

    if (!peer_reply(o->server->peer, o->id, json, &e))
        log_warn("answer lost: %s", e.msg);
    drop(o);
}

static int64_t code_of(const struct error *why)
{
    switch (why->kind) {
    case ERR_NOT_FOUND:
        return PMS_NOT_FOUND;
    case ERR_TIMEOUT:
    case ERR_CLOSED:
        return PMS_NETWORK;
    case ERR_INVALID:
    case ERR_LIMIT:
        return PMS_INVALID_INPUT;
    case ERR_DENIED:
        return PMS_AUTH_REQUIRED;
    case ERR_SYS:
        return why->sys == ENOPKG ? PMS_NO_PROGRAM : RPC_INTERNAL_ERROR;
    case ERR_NONE:
    case ERR_PROTOCOL:
        break;
    }
    return RPC_INTERNAL_ERROR;
}

void request_fail(struct request *r, const struct error *why)
{
    fail(whole(r)->server, whole(r)->id, code_of(why), why->msg);
    drop(whole(r));
}

void request_bad_params(struct request *r, const char *message)
{
    fail(whole(r)->server, whole(r)->id, RPC_INVALID_PARAMS, message);
    drop(whole(r));
}

void request_on_end(struct request *r, void (*fn)(void *ctx), void *ctx)
{
    whole(r)->on_end = fn;
    whole(r)->on_end_ctx = ctx;
}

bool request_ending(const struct request *r)
{
    return whole(r)->server->ending;
}

/* ---- the session ---- */

const char *session_env(const struct session *s, const char *name)
{
    yyjson_val *v = json_get(s->env, name);

    /* A NUL inside would cut it short: then it says nothing. */
    if (json_is_str(v) && strlen(json_str(v).p) == json_str(v).n)
        return json_str(v).p;
    return getenv(name);
}

static bool read_dir(struct server *s, yyjson_val *params, const char *key, const char **ret,
                     struct error *e)
{
    struct str text = { 0 };

    if (!json_opt_str(params, key, &text, e))
        return false;
    if (text.n == 0)
        return true;
    if (text.p[0] != '/' || memchr(text.p, '\0', text.n))
        return error_set(e, ERR_INVALID, "'%s' must be an absolute path", key);
    *ret = path_clean(&s->arena, arena_z(&s->arena, text));
    return true;
}

static bool read_session(struct server *s, yyjson_val *params, struct error *e)
{
    yyjson_val *env = json_get(params, "env");

    if (env && !json_is_obj(env))
        return error_set(e, ERR_INVALID, "'env' must be an object, not %s",
                         json_type_name(env));
    s->session.env = env;
    return read_dir(s, params, "workspace", &s->session.workspace, e) &&
           read_dir(s, params, "cache_dir", &s->session.cache_dir, e);
}

static void put_initialized(struct buf *out, const struct pms_program *p)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kint(&w, "protocol_version", PMS_PROTOCOL_VERSION);
    jw_kstrz(&w, "name", p->name);
    jw_key(&w, "capabilities");
    jw_arr(&w);
    for (size_t i = 0; p->capabilities[i]; i++)
        jw_strz(&w, p->capabilities[i]);
    jw_end(&w);
    jw_end(&w);
}

static void on_initialize(struct server *s, const struct rpc_msg *m)
{
    struct error e = { 0 };
    auto_buf result = BUF(1024);

    if (s->initialize) {
        fail(s, m->id, RPC_INVALID_REQUEST, "initialize comes once");
        return;
    }
    if (!read_session(s, m->params, &e)) {
        fail(s, m->id, RPC_INVALID_PARAMS, e.msg);
        return;
    }
    s->initialize = rpc_doc_ref(m->doc);
    s->state = s->program->open(&s->session);
    put_initialized(&result, s->program);
    peer_reply(s->peer, m->id, buf_str(&result), NULL);
}

/* ---- messages ---- */

static const struct method *find_method(const struct server *s, struct str name)
{
    for (const struct method *m = s->program->methods; m->name; m++)
        if (str_is(name, m->name))
            return m;
    return NULL;
}

static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct server *s = ctx;
    const struct method *method = find_method(s, m->method);

    if (m->params && !json_is_obj(m->params))
        fail(s, m->id, RPC_INVALID_PARAMS, "params must be an object");
    else if (str_is(m->method, "initialize"))
        on_initialize(s, m);
    else if (!method)
        fail(s, m->id, RPC_METHOD_NOT_FOUND, "not a method of this package manager");
    else if (!s->initialize)
        fail(s, m->id, RPC_INVALID_REQUEST, "initialize comes first");
    else if (s->nopen == PMS_MAX_OPEN)
        fail(s, m->id, RPC_INTERNAL_ERROR, "too many requests are open");
    else
        method->run(&accept_request(s, m)->r);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    log_debug("notification '%.*s' ignored", STR_F(m->method));
}

static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    log_warn("line ignored: %s", why->msg);
}

static bool send_line(void *ctx, struct str message, struct error *e)
{
    struct server *s = ctx;

    return pipe_write2(s->out, message, STR("\n"), e);
}

static bool on_line(void *ctx, struct str line, bool too_long)
{
    struct server *s = ctx;

    if (s->ending)
        return false;
    if (too_long)
        return peer_feed_too_long(s->peer, PMS_MAX_LINE);
    return peer_feed(s->peer, line);
}

/* ---- the end ---- */

static void on_flushed(void *ctx)
{
    struct server *s = ctx;

    loop_stop(s->session.loop);
}

static void finish_when_idle(struct server *s)
{
    if (s->ending && !s->open)
        pipe_finish(s->out, on_flushed, s);
}

static void on_impatient(void *ctx)
{
    struct server *s = ctx;

    log_warn("%zu requests are still open at the end", s->nopen);
    loop_stop(s->session.loop);
}

static void begin_end(struct server *s)
{
    if (s->ending)
        return;
    s->ending = true;
    timer_set(s->patience, PMS_END_MS);
    for (struct open_request *o = s->open, *next; o; o = next) {
        next = o->next;
        if (o->on_end)
            o->on_end(o->on_end_ctx);
        else
            drop(o);
    }
    finish_when_idle(s);
}

static void on_data(void *ctx, struct str bytes)
{
    struct server *s = ctx;

    lines_feed(&s->lines, bytes, on_line, s);
}

static void on_stdin_end(void *ctx, const struct error *why)
{
    struct server *s = ctx;
    struct str rest = lines_rest(&s->lines);

    if (rest.n && !s->ending)
        peer_feed(s->peer, rest);
    begin_end(s);
}

/* Whoever asked is gone, and so is what could not be written. */
static void on_stdout_end(void *ctx, const struct error *why)
{
    begin_end(ctx);
}

static void on_signal(void *ctx, int signo)
{
    begin_end(ctx);
}

static void end_server(struct server *s)
{
    runs_free(s->session.runs);
    for (struct open_request *o = s->open, *next; o; o = next) {
        next = o->next;
        drop(o);
    }
    if (s->initialize)
        s->program->close(s->state);
    timer_free(s->patience);
    signals_free(s->signals);
    pipe_free(s->in);
    pipe_free(s->out);
    peer_free(s->peer);
    lines_free(&s->lines);
    if (s->initialize)
        rpc_doc_unref(s->initialize);
    arena_free(&s->arena);
    loop_free(s->session.loop);
    reaper_sweep(SWEEP_MS);
}

static void serve(const struct pms_program *p)
{
    static const struct pipe_ops in_ops = { .on_data = on_data, .on_end = on_stdin_end },
                                 out_ops = { .on_end = on_stdout_end };
    static const struct peer_ops peer_ops = { .send = send_line,
                                              .on_request = on_request,
                                              .on_notification = on_notification,
                                              .on_fault = on_fault };
    struct server s = { .program = p, .session.loop = loop_new() };

    reaper_adopt_orphans();
    lines_init(&s.lines, PMS_MAX_LINE);
    s.session.runs = runs_new();
    s.signals = signals_new(s.session.loop, on_signal, &s);
    s.patience = timer_new(s.session.loop, on_impatient, &s);
    s.peer = peer_new(s.session.loop, &peer_ops, &s);
    s.out = pipe_new(s.session.loop, STDOUT_FILENO, NULL, &out_ops, &s);
    s.in = pipe_new(s.session.loop, STDIN_FILENO, NULL, &in_ops, &s);
    loop_run(s.session.loop);
    end_server(&s);
}

/* A descriptor that is closed at the start would be given to the next thing that is opened. */
static void hold_standard_fds(void)
{
    for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
        if (fd <= STDERR_FILENO)
            continue;
        close(fd);
        break;
    }
}

int pms_main(const struct pms_program *p, int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("symposium-pm-%s " SYM_VERSION "\n", p->name) < 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(p->help, stdout) < 0;
    if (argc > 1) {
        fputs(p->help, stderr);
        return 2;
    }
    hold_standard_fds();
    mem_give_back_large();
    serve(p);
    return EXIT_SUCCESS;
}
