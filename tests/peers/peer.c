/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEY_VERSION "io.modelcontextprotocol/protocolVersion"
#define POLL_MAX_MS 60000

struct peer peer;
static volatile sig_atomic_t terminated;

int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void die(const char *what)
{
    dprintf(2, "peer: %s\n", what);
    _exit(70);
}

/* --- text
 * ----------------------------------------------------------------------------------------------------------
 */
void text_add(struct text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->cap = (t->n + n + 1) * 2;
        t->p = realloc(t->p, t->cap);
        if (!t->p)
            die("out of memory");
    }
    if (n)
        memcpy(t->p + t->n, s, n);
    t->n += n;
    t->p[t->n] = '\0';
}

void text_addz(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_printf(struct text *t, const char *format, ...)
{
    char *s = NULL;
    va_list ap;

    va_start(ap, format);
    if (vasprintf(&s, format, ap) < 0)
        die("out of memory");
    va_end(ap);
    text_addz(t, s);
    free(s);
}

void write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);

        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            _exit(0); /* nobody listens any more */
        p += w;
        n -= (size_t)w;
    }
}

static void append_file(const char *path, const char *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0)
        die("cannot write a log");
    write_all(fd, p, n);
    close(fd);
}

static void append_line(const char *key, const char *a, const char *b, size_t bn)
{
    const char *path = yyjson_get_str(yyjson_obj_get(peer.cfg, key));
    struct text t = { 0 };

    if (!path)
        return;
    text_printf(&t, "%s ", a);
    text_add(&t, b, bn);
    text_addz(&t, "\n");
    append_file(path, t.p, t.n); /* one write: lines of several processes do not mix */
    free(t.p);
}

void log_line(const char *what)
{
    char pid[24];
    int n = snprintf(pid, sizeof pid, "%d", (int)getpid());

    append_line("log", what, pid, (size_t)n);
}

char *json_text(yyjson_val *v)
{
    char *s = v ? yyjson_val_write(v, 0, NULL) : strdup("null");

    if (!s)
        die("cannot write JSON");
    return s;
}

/* --- answers
 * -------------------------------------------------------------------------------------------------------
 */
void answer_result(const struct run *r, const char *json)
{
    struct text t = { 0 };

    if (!r->id)
        return;
    text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", r->id);
    if (r->modern && json[0] == '{' && !strstr(json, "\"resultType\"")) {
        text_addz(&t, "{\"resultType\":\"complete\"");
        text_addz(&t, json[1] == '}' ? "" : ",");
        text_addz(&t, json + 1);
    } else {
        text_addz(&t, json);
    }
    text_addz(&t, "}\n");
    write_all(1, t.p, t.n);
    free(t.p);
}

static void answer_error(const struct run *r, int code, const char *message, const char *data)
{
    struct text t = { 0 };

    text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"%s\"",
                r->id, code, message);
    if (data)
        text_printf(&t, ",\"data\":%s", data);
    text_addz(&t, "}}\n");
    write_all(1, t.p, t.n);
    free(t.p);
}

static char *config_json(const char *key, const char *fallback)
{
    yyjson_val *v = yyjson_obj_get(peer.cfg, key);

    return v ? json_text(v) : strdup(fallback);
}

static yyjson_val *params_of(const struct run *r)
{
    return r->doc ? yyjson_obj_get(yyjson_doc_get_root(r->doc), "params") : NULL;
}

static void answer_initialize(const struct run *r)
{
    static const char *const known[] = { "2025-11-25", "2025-06-18", "2025-03-26",
                                         "2024-11-05" };
    const char *asked = yyjson_get_str(yyjson_obj_get(params_of(r), "protocolVersion"));
    yyjson_val *versions = yyjson_obj_get(peer.cfg, "versions"), *v;
    const char *chosen = versions ? yyjson_get_str(yyjson_arr_get_first(versions)) : known[0];
    char *info = config_json("info", "{\"name\":\"peer\",\"version\":\"1\"}");
    char *capabilities = config_json("capabilities", "{\"tools\":{\"listChanged\":true}}");
    struct text t = { 0 };
    size_t i, n;

    yyjson_arr_foreach(versions, i, n, v) if (asked && yyjson_equals_str(v, asked)) chosen =
        asked;
    for (i = 0; !versions && asked && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], asked) == 0)
            chosen = known[i];
    text_printf(&t, "{\"protocolVersion\":\"%s\",\"capabilities\":%s,\"serverInfo\":%s}",
                chosen, capabilities, info);
    answer_result(r, t.p);
    free(t.p);
    free(info);
    free(capabilities);
}

static void answer_discover(const struct run *r)
{
    char *info = config_json("info", "{\"name\":\"peer\",\"version\":\"1\"}");
    char *capabilities = config_json("capabilities", "{\"tools\":{\"listChanged\":true}}");
    struct text t = { 0 };

    text_printf(
        &t,
        "{\"supportedVersions\":[\"" MODERN_VERSION "\"],\"capabilities\":%s,\"ttlMs\":0,"
        "\"cacheScope\":\"private\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":%s}}",
        capabilities, info);
    answer_result(r, t.p);
    free(t.p);
    free(info);
    free(capabilities);
}

static void add_generated(struct text *t, yyjson_val *gen, size_t from, size_t to)
{
    const char *pattern = yyjson_get_str(yyjson_obj_get(gen, "tool"));

    for (size_t i = from; i < to; i++) {
        text_addz(t, i > from ? "," : "");
        for (const char *p = pattern; *p; p++) {
            if (p[0] == '$' && p[1] == 'I') {
                text_printf(t, "%zu", i);
                p++;
            } else {
                text_add(t, p, 1);
            }
        }
    }
}

static void answer_list(const struct run *r)
{
    yyjson_val *gen = yyjson_obj_get(peer.cfg, "generate");
    size_t count = gen ? (size_t)yyjson_get_sint(yyjson_obj_get(gen, "count"))
                       : yyjson_arr_size(peer.tools);
    size_t page = (size_t)yyjson_get_sint(yyjson_obj_get(gen ? gen : peer.cfg, "page"));
    const char *cursor = yyjson_get_str(yyjson_obj_get(params_of(r), "cursor"));
    size_t from = cursor ? strtoul(cursor, NULL, 10) : 0;
    size_t to = page && from + page < count ? from + page : count;
    struct text t = { 0 };

    text_addz(&t, "{\"tools\":[");
    if (gen)
        add_generated(&t, gen, from, to);
    for (size_t i = from; !gen && i < to; i++) {
        char *tool = json_text(yyjson_arr_get(peer.tools, i));

        text_printf(&t, "%s%s", i > from ? "," : "", tool);
        free(tool);
    }
    text_addz(&t, "]");
    if (to < count)
        text_printf(&t, ",\"nextCursor\":\"%zu\"", to);
    text_printf(&t, "%s}", r->modern ? ",\"ttlMs\":0,\"cacheScope\":\"private\"" : "");
    answer_result(r, t.p);
    free(t.p);
}

static void answer_listen(const struct run *r)
{
    char *wanted = json_text(yyjson_obj_get(params_of(r), "notifications"));
    struct text t = { 0 };

    peer.listen_id = strdup(r->id);
    text_printf(
        &t,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
        "acknowledged\",\"params\":{"
        "\"notifications\":%s,\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\n",
        wanted, r->id);
    write_all(1, t.p, t.n);
    free(t.p);
    free(wanted);
}

void answer_builtin(struct run *r)
{
    const char *era = yyjson_get_str(yyjson_obj_get(peer.cfg, "era"));
    bool speaks_modern = era && strcmp(era, "legacy") != 0,
         speaks_legacy = !era || strcmp(era, "modern") != 0;

    if (!r->id)
        return;
    if (r->modern ? !speaks_modern : !speaks_legacy) {
        if (r->modern)
            answer_error(r, -32601, "Method not found", NULL);
        else
            answer_error(r, -32022, "Unsupported protocol version",
                         "{\"supported\":[\"" MODERN_VERSION "\"],\"requested\":\"\"}");
    } else if (strcmp(r->method, "initialize") == 0 && !r->modern) {
        answer_initialize(r);
    } else if (strcmp(r->method, "server/discover") == 0 && r->modern) {
        answer_discover(r);
    } else if (strcmp(r->method, "subscriptions/listen") == 0 && r->modern) {
        answer_listen(r);
    } else if (strcmp(r->method, "tools/list") == 0) {
        answer_list(r);
    } else if (strcmp(r->method, "ping") == 0 && !r->modern) {
        answer_result(r, "{}");
    } else {
        answer_error(r, -32601, "Method not found", NULL);
    }
}

/* --- requests
 * ------------------------------------------------------------------------------------------------------
 */
static void run_free(struct run *r)
{
    free(r->id);
    free(r->args);
    free(r->token);
    free(r->method);
    yyjson_doc_free(r->doc);
    free(r);
}

static void run_start(struct run *r)
{
    struct run **at = &peer.runs;

    while (*at)
        at = &(*at)->next;
    *at = r;
}

static void run_due(void)
{
    for (struct run **at = &peer.runs; *at;) {
        struct run *r = *at;

        if (r->due_ms <= now_ms() && run_steps(r)) {
            for (at = &peer.runs; *at != r; at = &(*at)->next)
                ;
            *at = r->next;
            run_free(r);
            at = &peer.runs;
        } else {
            at = &r->next;
        }
    }
}

static yyjson_val *program_of(const struct run *r, yyjson_val *params)
{
    yyjson_val *program = yyjson_obj_get(yyjson_obj_get(peer.cfg, "on"), r->method);

    if (program || strcmp(r->method, "tools/call") != 0)
        return program;
    yyjson_val *calls = yyjson_obj_get(peer.cfg, "calls"),
               *name = yyjson_obj_get(params, "name");

    program = name ? yyjson_obj_getn(calls, yyjson_get_str(name), yyjson_get_len(name)) : NULL;
    return program ? program : yyjson_obj_get(calls, "*");
}

static void note_cancelled(yyjson_val *params)
{
    char *id = json_text(yyjson_obj_get(params, "requestId"));

    for (struct run *r = peer.runs; r; r = r->next)
        if (r->id && strcmp(r->id, id) == 0)
            r->cancelled = true;
    free(id);
}

static void on_message(const char *line, size_t n)
{
    yyjson_doc *doc = yyjson_read(line, n, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(doc), *id = yyjson_obj_get(root, "id");
    yyjson_val *params = yyjson_obj_get(root, "params"),
               *meta = yyjson_obj_get(params, "_meta");
    const char *method = yyjson_get_str(yyjson_obj_get(root, "method"));

    if (!method) { /* an answer to a request of ours: it is in the record */
        yyjson_doc_free(doc);
        return;
    }
    struct run *r = calloc(1, sizeof *r);

    if (!r)
        die("out of memory");
    r->doc = doc;
    r->method = strdup(method);
    r->id = id ? json_text(id) : NULL;
    r->args = json_text(yyjson_obj_get(params, "arguments"));
    r->token = json_text(yyjson_obj_get(meta, "progressToken"));
    r->modern = yyjson_obj_get(meta, KEY_VERSION) != NULL;
    r->steps = program_of(r, params);
    if (strcmp(method, "notifications/cancelled") == 0)
        note_cancelled(params);
    if (!r->steps && strcmp(method, "tools/call") == 0) {
        static const char echo[] = "[{\"echo\":true}]";
        static yyjson_doc *echo_doc;

        echo_doc = echo_doc ? echo_doc : yyjson_read(echo, sizeof echo - 1, 0);
        r->steps = yyjson_doc_get_root(echo_doc);
    }
    if (!r->steps) {
        answer_builtin(r);
        run_free(r);
        return;
    }
    run_start(r);
}

static void on_event(const char *name)
{
    yyjson_val *steps = yyjson_obj_get(peer.cfg, name);
    struct run *r = steps ? calloc(1, sizeof *r) : NULL;

    if (!r)
        return;
    r->steps = steps;
    r->method = strdup(name);
    r->args = strdup("null");
    r->token = strdup("null");
    run_start(r);
}

/* --- main
 * ----------------------------------------------------------------------------------------------------------
 */
static void on_term(int signal_number)
{
    (void)signal_number;
    terminated = 1;
}

static void on_start(void)
{
    const char *counter = yyjson_get_str(yyjson_obj_get(peer.cfg, "counter"));
    int64_t delay = yyjson_get_sint(yyjson_obj_get(peer.cfg, "start_delay_ms"));

    log_line("start");
    if (counter) {
        int fd = open(counter, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

        write_all(fd, ".", 1);
        if (lseek(fd, 0, SEEK_CUR) <=
            yyjson_get_sint(yyjson_obj_get(peer.cfg, "fail_starts"))) {
            dprintf(2, "peer: this start fails on purpose\n");
            _exit(1);
        }
        close(fd);
    }
    if (delay)
        usleep((useconds_t)delay * 1000);
    on_event("on_start");
}

static int next_timeout(void)
{
    int64_t soonest = POLL_MAX_MS;

    for (struct run *r = peer.runs; r; r = r->next)
        if (r->due_ms - now_ms() < soonest)
            soonest = r->due_ms - now_ms();
    return soonest > 0 ? (int)soonest : 0;
}

static void feed(struct text *in)
{
    char chunk[65536], pid[24];
    ssize_t n = read(0, chunk, sizeof chunk);
    char *line, *end;

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        peer.eof = true;
        log_line("eof");
        if (!yyjson_get_bool(yyjson_obj_get(peer.cfg, "ignore_eof")))
            _exit(0);
        return;
    }
    text_add(in, chunk, (size_t)n);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    for (line = in->p; (end = memchr(line, '\n', in->n - (size_t)(line - in->p)));
         line = end + 1) {
        append_line("record", pid, line, (size_t)(end - line));
        on_message(line, (size_t)(end - line));
    }
    in->n -= (size_t)(line - in->p);
    memmove(in->p, line, in->n);
}

int main(int argc, char **argv)
{
    struct sigaction term = { .sa_handler = on_term };
    yyjson_read_err problem;
    yyjson_doc *doc = argc > 1 ? yyjson_read_file(argv[1], 0, NULL, &problem) : NULL;
    struct text in = { 0 };

    if (!doc)
        die("needs the path of a JSON file");
    peer.cfg = yyjson_doc_get_root(doc);
    peer.tools = yyjson_obj_get(peer.cfg, "tools");
    sigaction(SIGTERM, &term, NULL);
    on_start();
    for (;;) {
        run_due();
        struct pollfd p = { .fd = peer.deaf || peer.eof ? -1 : 0, .events = POLLIN };

        if (poll(&p, 1, next_timeout()) > 0)
            feed(&in);
        if (terminated) {
            terminated = 0;
            log_line("term");
            if (!yyjson_get_bool(yyjson_obj_get(peer.cfg, "ignore_term")))
                _exit(0);
        }
    }
}
