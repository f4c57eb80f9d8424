/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A scripted MCP server for the client's tests. Each argument is a rule
 * "METHOD[#N]=>STEP;;STEP...": what it does when the N-th (default: any) message with that
 * method arrives; "start" happens at once, "*" catches the rest (default: nothing).
 *
 *   {...}         written as a line; $ID, $TOKEN, $STATE stand for the id, progress token and
 * requestState received, $N for how often the method came exit N, sleep MS, err TEXT (a line on
 * stderr), term (SIGTERM is ignored) many N TEXT   TEXT as a line N times; $I counts bytes N N
 * times 'x' without a newline; errs N: to stderr deep N        an answer to the message whose
 * result is N arrays in one another hold          stdin is never read again
 *
 * Every line received is appended to the file FAKE_LOG. At the end of stdin it exits 0, or
 * never after "term".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "text/json.h"

#define LINE_MAX_BYTES ((size_t)64 << 20)

struct received {
    struct str id, token, state;
    int n;
};

static int counts[64];
static const char *methods[64];
static bool ignores_term;

static int times_of(const char *method)
{
    size_t i = 0;

    while (i < ARRAY_LEN(methods) - 1 && methods[i] && strcmp(methods[i], method) != 0)
        i++;
    if (!methods[i])
        methods[i] = mem_strdup(method);
    return ++counts[i];
}

static void put_line(struct str text, const struct received *r, int count)
{
    auto_buf out = BUF(LINE_MAX_BYTES);
    const struct {
        const char *name;
        struct str value;
    } vars[] = {
        { "$ID", r->id },
        { "$TOKEN", r->token },
        { "$STATE", r->state },
    };

    while (text.n) {
        bool found = false;

        for (size_t i = 0; i < ARRAY_LEN(vars) && !found; i++)
            if (str_starts(text, str_of(vars[i].name))) {
                buf_add(&out, vars[i].value);
                text = str_from(text, strlen(vars[i].name));
                found = true;
            }
        if (!found && (str_starts(text, STR("$I")) || str_starts(text, STR("$N")))) {
            buf_addf(&out, "%d", text.p[1] == 'I' ? count : r->n);
            text = str_from(text, 2);
        } else if (!found) {
            buf_addc(&out, text.p[0]);
            text = str_from(text, 1);
        }
    }
    buf_addc(&out, '\n');
    fwrite(out.p, 1, out.n, stdout);
}

static void put_deep(struct str id, int64_t n)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":", STR_F(id));
    for (int64_t i = 0; i < n; i++)
        putchar('[');
    for (int64_t i = 0; i < n; i++)
        putchar(']');
    puts("}");
}

static void put_bytes(FILE *out, int64_t n)
{
    static char block[1 << 16];

    memset(block, 'x', sizeof block);
    for (; n > 0; n -= (int64_t)sizeof block)
        fwrite(block, 1, n < (int64_t)sizeof block ? (size_t)n : sizeof block, out);
    fflush(out);
}

static void step(struct str s, const struct received *r)
{
    struct str word = s, rest = STR("");
    int64_t n = 0;

    str_cut(s, ' ', &word, &rest);
    str_to_int(rest, 0, INT64_MAX, &n);
    if (str_is(word, "exit")) {
        fflush(stdout);
        _exit((int)n);
    } else if (str_is(word, "sleep")) {
        fflush(stdout);
        usleep((useconds_t)n * 1000);
    } else if (str_is(word, "err")) {
        fprintf(stderr, "%.*s\n", STR_F(rest));
    } else if (str_is(word, "term")) {
        signal(SIGTERM, SIG_IGN);
        ignores_term = true;
    } else if (str_is(word, "hold")) {
        fflush(stdout);
        for (;;)
            pause();
    } else if (str_is(word, "bytes")) {
        put_bytes(stdout, n);
    } else if (str_is(word, "errs")) {
        put_bytes(stderr, n);
    } else if (str_is(word, "deep")) {
        put_deep(r->id, n);
    } else if (str_is(word, "many")) {
        struct str count, text;

        if (str_cut(rest, ' ', &count, &text) && str_to_int(count, 0, 1 << 24, &n))
            for (int i = 0; i < n; i++)
                put_line(text, r, i);
    } else if (s.n) {
        put_line(s, r, 0);
    }
}

/* The steps of the first rule for this method and count, or NULL. */
static const char *rule_for(char **rules, const char *method, int n)
{
    for (; *rules; rules++) {
        const char *arrow = strstr(*rules, "=>");
        struct str head = { *rules, arrow ? (size_t)(arrow - *rules) : 0 }, name = head, nth;
        int64_t wanted = n;

        if (str_cut(head, '#', &name, &nth))
            str_to_int(nth, 1, 1 << 20, &wanted);
        if (arrow && wanted == n && (str_is(name, method) || str_is(name, "*")))
            return arrow + 2;
    }
    return NULL;
}

static void run(char **rules, const char *method, struct received *r)
{
    const char *at, *next;

    r->n = times_of(method);
    for (at = rule_for(rules, method, r->n); at; at = next) {
        next = strstr(at, ";;");
        step((struct str){ at, next ? (size_t)(next - at) : strlen(at) }, r);
        next = next ? next + 2 : NULL;
    }
    fflush(stdout);
}

static void log_line(struct str line)
{
    const char *path = getenv("FAKE_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "%.*s", STR_F(line));
    fclose(f);
}

static struct str text_of(struct buf *b, yyjson_val *v)
{
    if (v)
        json_put_val(b, v);
    return buf_str(b);
}

static void on_line(char **rules, struct str line)
{
    auto_json j = { 0 };
    auto_buf id = BUF(1 << 20), token = BUF(1 << 20), state = BUF(1 << 20);
    struct received r;
    auto_free char *method = NULL;

    log_line(line);
    if (!json_parse(&j, line, NULL))
        return;
    r.id = text_of(&id, json_get(j.root, "id"));
    r.token = text_of(&token, json_path(j.root, "params._meta.progressToken"));
    r.state = text_of(&state, json_path(j.root, "params.requestState"));
    method = str_dup(json_str(json_get(j.root, "method")));
    run(rules, *method ? method : "answer", &r);
}

int main(int argc, char **argv)
{
    struct received none = { 0 };
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    (void)argc;
    run(argv + 1, "start", &none);
    while ((n = getline(&line, &cap, stdin)) > 0)
        on_line(argv + 1, (struct str){ line, (size_t)n });
    free(line);
    while (ignores_term)
        pause();
    return 0;
}
