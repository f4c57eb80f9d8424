/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Drives one MCP server over stdio and times it from outside, with so little of its own that a
 * tenth of a millisecond can be seen.
 *
 *   probe COMMAND [ARG...] <STEPS      the server's working directory and environment are ours
 *   probe --exit N COMMAND [ARG...]    N times from spawn to exit, one figure a line
 *
 * A step is a line of fields separated by tabs; MESSAGE is the inside of a JSON object without
 * "jsonrpc" and "id". Every figure is one JSON line on stdout, times in milliseconds.
 *
 *   note   MESSAGE                     a notification
 *   ask    LABEL MESSAGE               {label, ms, since_spawn, bytes, cpu_ms, answer}; cpu_ms:
 *                                      processor time of the server's process
 *   loop   LABEL COUNT PAUSE_MS MESSAGE   the same, COUNT times, a pause before each
 *   begin  LABEL MESSAGE, then end     like ask; what stands between happens before the answer
 *   watch  LABEL MESSAGE               {.., slowest_ping, pings}: pings every 10 ms meanwhile
 *   memory LABEL [NAME]                {label, rss_mb, pss_mb, processes, of}: the process
 * tree, programs called NAME left out sleep  MS eof    LABEL                       {label, ms,
 * left}: input closed until exit; left alive
 */
#include "probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>

#define ANSWER_MAX_MS 120000
#define EXIT_MAX_MS   3000 /* then it is killed, and the figure is above this */
#define PING_EVERY_MS 10
#define SHOWN_MAX     ((size_t)64 << 10) /* a longer answer is not repeated in the output */
#define FIELDS_MAX    5

static struct {
    pid_t pid;
    int in, out;
    double spawned;
    char *buf; /* what was read and is not yet a line */
    size_t n, cap;
    long long next_id;
} server;

struct answer {
    double at;
    char *line; /* malloc */
    size_t n;
};

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
    fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
    if (server.pid)
        kill(server.pid, SIGKILL);
    exit(1);
}

static pid_t start(char **argv, int in, int out)
{
    posix_spawn_file_actions_t acts;
    pid_t pid;

    posix_spawn_file_actions_init(&acts);
    if (in >= 0) {
        posix_spawn_file_actions_adddup2(&acts, in, 0);
        posix_spawn_file_actions_adddup2(&acts, out, 1);
    }
    errno = posix_spawnp(&pid, argv[0], &acts, NULL, argv, environ);
    if (errno)
        die(argv[0]);
    posix_spawn_file_actions_destroy(&acts);
    return pid;
}

static void start_server(char **argv)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        die("pipe");
    server.spawned = now_ms();
    server.pid = start(argv, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    server.in = in[1];
    server.out = out[0];
}

static void put(const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(server.in, p, n);

        if (w < 0)
            die("write to the server");
        p += w;
        n -= (size_t)w;
    }
}

/* One request, or a notification where `id` is 0; in one write, as clients do. */
static void say(long long id, const char *message)
{
    char *line = NULL;
    int n = id ? asprintf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%lld,%s}\n", id, message)
               : asprintf(&line, "{\"jsonrpc\":\"2.0\",%s}\n", message);

    if (n < 0)
        die("memory");
    put(line, (size_t)n);
    free(line);
}

/* The next line, or false when `until` passes first. The time is that of the line's last byte.
 */
static bool read_line(double until, struct answer *ret)
{
    size_t seen = 0;

    for (;;) {
        char *end = server.n > seen ? memchr(server.buf + seen, '\n', server.n - seen) : NULL;
        struct pollfd p = { .fd = server.out, .events = POLLIN };
        double left = until - now_ms();

        if (end) {
            size_t n = (size_t)(end - server.buf);

            *ret = (struct answer){ now_ms(), strndup(server.buf, n), n };
            server.n -= n + 1;
            memmove(server.buf, end + 1, server.n);
            return true;
        }
        seen = server.n;
        if (left <= 0 || poll(&p, 1, (int)left + 1) == 0)
            return false;
        if (server.cap - server.n < (size_t)64 << 10) {
            server.cap = server.cap * 2 + ((size_t)256 << 10);
            server.buf = realloc(server.buf, server.cap);
            if (!server.buf)
                die("memory");
        }
        ssize_t r = read(server.out, server.buf + server.n, server.cap - server.n);

        if (r <= 0)
            die("the server closed its output");
        server.n += (size_t)r;
    }
}

/* What a client must answer: ping, roots; everything else is declined. */
static void answer_server(yyjson_val *m)
{
    char *id = yyjson_val_write(yyjson_obj_get(m, "id"), 0, NULL), *text = NULL;
    const char *method = yyjson_get_str(yyjson_obj_get(m, "method"));
    const char *what = "\"error\":{\"code\":-32601,\"message\":\"not supported\"}";

    if (!strcmp(method, "ping"))
        what = "\"result\":{}";
    else if (!strcmp(method, "roots/list"))
        what = "\"result\":{\"roots\":[]}";
    if (asprintf(&text, "\"id\":%s,%s", id, what) < 0)
        die("memory");
    say(0, text);
    free(text);
    free(id);
}

/* The id that a line answers; 0: none. */
static long long id_of(const struct answer *a)
{
    yyjson_doc *doc = yyjson_read(a->line, a->n, 0);
    yyjson_val *m = yyjson_doc_get_root(doc), *id = yyjson_obj_get(m, "id");
    long long found = 0;

    if (yyjson_is_str(yyjson_obj_get(m, "method"))) {
        if (id)
            answer_server(m);
    } else if (id) {
        found = yyjson_get_sint(id);
    }
    yyjson_doc_free(doc);
    return found;
}

static struct answer wait_for(long long id)
{
    double until = now_ms() + ANSWER_MAX_MS;
    struct answer a;

    while (read_line(until, &a)) {
        if (id_of(&a) == id)
            return a;
        free(a.line);
    }
    errno = ETIMEDOUT;
    die("no answer");
    abort();
}

/* Processor time of the server's own process until now. */
static double cpu_ms(void)
{
    char path[40];
    double ns = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)server.pid);
    f = fopen(path, "re");
    if (f && fscanf(f, "%lf", &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return ns / 1e6;
}

static void print_answer(const char *label, double sent, const struct answer *a,
                         const char *more)
{
    printf(
        "{\"label\":\"%s\",\"ms\":%.4f,\"since_spawn\":%.4f,\"bytes\":%zu%s,\"answer\":%s}\n",
        label, a->at - sent, a->at - server.spawned, a->n, more,
        a->n <= SHOWN_MAX ? a->line : "null");
    free(a->line);
}

static void ask(const char *label, const char *message)
{
    long long id = ++server.next_id;
    double cpu = cpu_ms(), sent = now_ms();
    char more[40];

    say(id, message);
    struct answer a = wait_for(id);

    snprintf(more, sizeof more, ",\"cpu_ms\":%.3f", cpu_ms() - cpu);
    print_answer(label, sent, &a, more);
}

/* A request whose answer `end` waits for. */
static struct {
    char *label;
    long long id;
    double sent;
} begun;

static void begin(const char *label, const char *message)
{
    free(begun.label);
    begun.label = strdup(label);
    begun.id = ++server.next_id;
    begun.sent = now_ms();
    say(begun.id, message);
}

static void end(void)
{
    struct answer a = wait_for(begun.id);

    print_answer(begun.label, begun.sent, &a, "");
}

static void watch(const char *label, const char *message)
{
    long long id = ++server.next_id, ping = 0;
    double sent = now_ms(), next = sent, asked = sent, slowest = 0;
    int pings = 0;
    struct answer a;

    say(id, message);
    for (;;) {
        if (!ping && now_ms() >= next) {
            ping = ++server.next_id;
            asked = now_ms();
            say(ping, "\"method\":\"ping\"");
        }
        if (!read_line(ping ? sent + ANSWER_MAX_MS : next, &a)) {
            if (ping)
                die("no answer to a ping");
            continue;
        }
        long long of = id_of(&a);

        if (of == id)
            break;
        if (of == ping && ping) {
            slowest = a.at - asked > slowest ? a.at - asked : slowest;
            next = a.at + PING_EVERY_MS;
            ping = 0;
            pings++;
        }
        free(a.line);
    }
    double answered = a.at;
    struct answer late;

    if (ping) { /* an answer that stands behind the end of the script is late too */
        late = wait_for(ping);
        slowest = late.at - asked > slowest ? late.at - asked : slowest;
        free(late.line);
    }
    char more[80];

    a.at = answered;
    snprintf(more, sizeof more, ",\"slowest_ping\":%.3f,\"pings\":%d", slowest, pings);
    print_answer(label, sent, &a, more);
}

static void pause_ms(double ms)
{
    struct timespec t = { (time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000L };

    nanosleep(&t, NULL);
}

/* Waits for the exit without asking again and again: on a busy machine that would be seen. */
static void wait_exit(double until)
{
    struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, server.pid, 0), .events = POLLIN };
    double left = until - now_ms();

    if (p.fd < 0)
        die("pidfd");
    if (poll(&p, 1, left > 0 ? (int)left : 0) == 0)
        kill(server.pid, SIGKILL);
    waitpid(server.pid, NULL, 0);
    close(p.fd);
}

static void eof(const char *label)
{
    static struct tree before, after;

    tree_read(server.pid, &before);
    double from = now_ms();

    close(server.in);
    wait_exit(from + EXIT_MAX_MS);
    double ms = now_ms() - from;

    pause_ms(100); /* the children's own exits */
    tree_left(&before, &after);
    printf("{\"label\":\"%s\",\"ms\":%.3f,\"left\":%zu}\n", label, ms, after.n);
    for (size_t i = 0; i < after.n; i++)
        kill(after.pids[i], SIGKILL);
    server.pid = 0;
}

static void step(char **f, int n)
{
    if (n == 2 && !strcmp(f[0], "note"))
        say(0, f[1]);
    else if (n == 3 && !strcmp(f[0], "ask"))
        ask(f[1], f[2]);
    else if (n == 5 && !strcmp(f[0], "loop"))
        for (int i = atoi(f[2]); i > 0; i--) {
            pause_ms(atof(f[3]));
            ask(f[1], f[4]);
        }
    else if (n == 3 && !strcmp(f[0], "begin"))
        begin(f[1], f[2]);
    else if (n == 1 && !strcmp(f[0], "end"))
        end();
    else if (n == 3 && !strcmp(f[0], "watch"))
        watch(f[1], f[2]);
    else if (n >= 2 && !strcmp(f[0], "memory"))
        memory_print(server.pid, f[1], n > 2 ? f[2] : "");
    else if (n == 2 && !strcmp(f[0], "sleep"))
        pause_ms(atof(f[1]));
    else if (n == 2 && !strcmp(f[0], "eof"))
        eof(f[1]);
    else
        die(f[0]);
}

static int time_exits(int count, char **argv)
{
    for (int i = 0; i < count; i++) {
        double from = now_ms();
        pid_t pid = start(argv, -1, -1);

        waitpid(pid, NULL, 0);
        printf("%.4f\n", now_ms() - from);
    }
    return 0;
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (argc > 3 && !strcmp(argv[1], "--exit"))
        return time_exits(atoi(argv[2]), argv + 3);
    if (argc < 2) {
        fputs("usage: probe COMMAND [ARG...] <STEPS\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a server leaves behind is found below us */
    start_server(argv + 1);
    while ((n = getline(&line, &cap, stdin)) > 0) {
        char *f[FIELDS_MAX], *rest = line;
        int nf = 0;

        line[n - (line[n - 1] == '\n')] = '\0';
        while (rest && nf < FIELDS_MAX)
            f[nf++] = strsep(&rest, "\t");
        step(f, nf);
        fflush(stdout);
    }
    free(line);
    free(server.buf);
    free(begun.label);
    if (server.pid)
        eof("end");
    return 0;
}
