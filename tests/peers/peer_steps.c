/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "peer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum step_end { STEP_NEXT, STEP_WAIT, STEP_AGAIN, STEP_STOP };

typedef enum step_end (*step_fn)(struct run *r, yyjson_val *v);

/* Text with $ID, $ARGS, $TOKEN and $PID filled in. */
static struct text fill(const struct run *r, const char *pattern)
{
    char pid[24];
    const struct {
        const char *name, *value;
    } names[] = {
        { "$ID", r->id ? r->id : "null" },
        { "$ARGS", r->args },
        { "$TOKEN", r->token },
        { "$PID", pid },
        { "$LISTEN", peer.listen_id ? peer.listen_id : "null" },
    };
    struct text t = { 0 };

    snprintf(pid, sizeof pid, "%d", (int)getpid());
    text_addz(&t, "");
    for (const char *p = pattern; *p;) {
        size_t i = 0;

        while (i < 5 && strncmp(p, names[i].name, strlen(names[i].name)) != 0)
            i++;
        if (i < 5) {
            text_addz(&t, names[i].value);
            p += strlen(names[i].name);
        } else {
            text_add(&t, p++, 1);
        }
    }
    return t;
}

static void answer_text(const struct run *r, const char *s, size_t n, bool failed)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc),
                   *content = yyjson_mut_obj_add_arr(doc, root, "content");
    yyjson_mut_val *block = yyjson_mut_arr_add_obj(doc, content);

    yyjson_mut_obj_add_str(doc, block, "type", "text");
    yyjson_mut_obj_add_strn(doc, block, "text", s, n);
    if (failed)
        yyjson_mut_obj_add_bool(doc, root, "isError", true);
    yyjson_mut_doc_set_root(doc, root);
    char *json = yyjson_mut_write(doc, 0, NULL);

    answer_result(r, json);
    free(json);
    yyjson_mut_doc_free(doc);
}

static enum step_end do_echo(struct run *r, yyjson_val *v)
{
    (void)v;
    answer_text(r, r->args, strlen(r->args), false);
    return STEP_NEXT;
}

static enum step_end do_text(struct run *r, yyjson_val *v)
{
    answer_text(r, yyjson_get_str(v), yyjson_get_len(v), false);
    return STEP_NEXT;
}

static enum step_end do_fail(struct run *r, yyjson_val *v)
{
    answer_text(r, yyjson_get_str(v), yyjson_get_len(v), true);
    return STEP_NEXT;
}

static enum step_end do_result(struct run *r, yyjson_val *v)
{
    char *json = json_text(v);

    answer_result(r, json);
    free(json);
    return STEP_NEXT;
}

static enum step_end do_result_text(struct run *r, yyjson_val *v)
{
    struct text t = fill(r, yyjson_get_str(v));

    answer_result(r, t.p);
    free(t.p);
    return STEP_NEXT;
}

static enum step_end do_error(struct run *r, yyjson_val *v)
{
    char *json = json_text(v);
    struct text t = { 0 };

    text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":%s}\n", r->id ? r->id : "null",
                json);
    write_all(1, t.p, t.n);
    free(t.p);
    free(json);
    return STEP_NEXT;
}

static void write_line(struct run *r, const char *pattern)
{
    struct text t = fill(r, pattern);

    text_addz(&t, "\n");
    write_all(1, t.p, t.n);
    free(t.p);
}

static enum step_end do_line(struct run *r, yyjson_val *v)
{
    write_line(r, yyjson_get_str(v));
    return STEP_NEXT;
}

static enum step_end do_hex(struct run *r, yyjson_val *v)
{
    const char *s = yyjson_get_str(v);
    struct text t = { 0 };

    (void)r;
    for (unsigned byte; sscanf(s, "%2x", &byte) == 1; s += 2) {
        char c = (char)byte;

        text_add(&t, &c, 1);
    }
    write_all(1, t.p, t.n);
    free(t.p);
    return STEP_NEXT;
}

/* `bytes` of `text` over and over; -1: for ever. */
static enum step_end do_flood(struct run *r, yyjson_val *v)
{
    const char *text = yyjson_get_str(yyjson_obj_get(v, "text"));
    int fd = yyjson_obj_get(v, "fd") ? yyjson_get_int(yyjson_obj_get(v, "fd")) : 1;
    int64_t left = yyjson_get_sint(yyjson_obj_get(v, "bytes"));
    struct text block = { 0 };

    (void)r;
    while (block.n < 65536)
        text_addz(&block, text);
    while (left) {
        size_t n = left > 0 && (uint64_t)left < block.n ? (size_t)left : block.n;

        write_all(fd, block.p, n);
        left -= left > 0 ? (int64_t)n : 0;
    }
    free(block.p);
    return STEP_NEXT;
}

static enum step_end do_nest(struct run *r, yyjson_val *v)
{
    int depth = yyjson_get_int(v);
    struct text t = { 0 };

    text_addz(&t, "{\"content\":[],\"structuredContent\":{\"deep\":");
    for (int i = 0; i < depth; i++)
        text_add(&t, "[", 1);
    for (int i = 0; i < depth; i++)
        text_add(&t, "]", 1);
    text_addz(&t, "}}");
    answer_result(r, t.p);
    free(t.p);
    return STEP_NEXT;
}

static enum step_end do_bloat(struct run *r, yyjson_val *v)
{
    size_t n = (size_t)yyjson_get_sint(v);
    char *s = malloc(n);

    if (!s)
        die("out of memory");
    memset(s, 'x', n);
    answer_text(r, s, n, false);
    free(s);
    return STEP_NEXT;
}

static enum step_end do_sleep(struct run *r, yyjson_val *v)
{
    r->due_ms = now_ms() + yyjson_get_sint(v);
    return STEP_WAIT;
}

static enum step_end do_exit(struct run *r, yyjson_val *v)
{
    (void)r;
    _exit(yyjson_get_int(v));
}

static enum step_end do_signal(struct run *r, yyjson_val *v)
{
    (void)r;
    signal(yyjson_get_int(v), SIG_DFL);
    raise(yyjson_get_int(v));
    return STEP_NEXT;
}

static void write_pid(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    dprintf(fd, "%d\n", (int)getpid());
    close(fd);
}

/* A daemon as they are made: two forks, a session of its own, our stdout still open in it. */
static enum step_end do_daemon(struct run *r, yyjson_val *v)
{
    int ready[2];
    char c;

    (void)r;
    if (pipe(ready))
        die("pipe");
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        write_pid(yyjson_get_str(v));
        write_all(ready[1], "r", 1);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (read(ready[0], &c, 1) != 1)
        die("the daemon did not start");
    close(ready[0]);
    return STEP_NEXT;
}

static enum step_end do_fork(struct run *r, yyjson_val *v)
{
    (void)r;
    if (fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        write_pid(yyjson_get_str(v));
        for (;;)
            pause();
    }
    return STEP_NEXT;
}

static enum step_end do_deaf(struct run *r, yyjson_val *v)
{
    (void)r;
    peer.deaf = yyjson_get_bool(v);
    return STEP_NEXT;
}

static enum step_end do_close_stdout(struct run *r, yyjson_val *v)
{
    (void)r;
    (void)v;
    close(1);
    return STEP_NEXT;
}

static enum step_end do_stderr(struct run *r, yyjson_val *v)
{
    struct text t = fill(r, yyjson_get_str(v));

    text_addz(&t, "\n");
    write_all(2, t.p, t.n);
    free(t.p);
    return STEP_NEXT;
}

static enum step_end do_builtin(struct run *r, yyjson_val *v)
{
    (void)v;
    answer_builtin(r);
    return STEP_NEXT;
}

static enum step_end do_repeat(struct run *r, yyjson_val *v)
{
    size_t times = (size_t)yyjson_get_sint(yyjson_obj_get(v, "times"));
    int64_t every = yyjson_get_sint(yyjson_obj_get(v, "every_ms"));

    while (r->repeated < times) {
        write_line(r, yyjson_get_str(yyjson_obj_get(v, "line")));
        r->repeated++;
        if (every) {
            r->due_ms = now_ms() + every;
            return STEP_AGAIN;
        }
    }
    r->repeated = 0;
    return STEP_NEXT;
}

static enum step_end do_set_tools(struct run *r, yyjson_val *v)
{
    (void)r;
    peer.tools = v;
    return STEP_NEXT;
}

static enum step_end do_unless_cancelled(struct run *r, yyjson_val *v)
{
    (void)v;
    return r->cancelled ? STEP_STOP : STEP_NEXT;
}

static const struct {
    const char *name;
    step_fn run;
} steps[] = {
    { "echo", do_echo },
    { "text", do_text },
    { "fail", do_fail },
    { "result", do_result },
    { "result_text", do_result_text },
    { "error", do_error },
    { "line", do_line },
    { "hex", do_hex },
    { "flood", do_flood },
    { "nest", do_nest },
    { "bloat", do_bloat },
    { "sleep", do_sleep },
    { "exit", do_exit },
    { "signal", do_signal },
    { "daemon", do_daemon },
    { "fork", do_fork },
    { "deaf", do_deaf },
    { "close_stdout", do_close_stdout },
    { "stderr", do_stderr },
    { "builtin", do_builtin },
    { "repeat", do_repeat },
    { "set_tools", do_set_tools },
    { "unless_cancelled", do_unless_cancelled },
};

static enum step_end run_step(struct run *r, yyjson_val *step)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        yyjson_val *v = yyjson_obj_get(step, steps[i].name);

        if (v)
            return steps[i].run(r, v);
    }
    die("unknown step");
    return STEP_STOP;
}

bool run_steps(struct run *r)
{
    while (r->at < yyjson_arr_size(r->steps)) {
        enum step_end end = run_step(r, yyjson_arr_get(r->steps, r->at));

        if (end == STEP_STOP)
            return true;
        if (end == STEP_AGAIN)
            return false;
        r->at++;
        if (end == STEP_WAIT)
            return false;
    }
    return true;
}
