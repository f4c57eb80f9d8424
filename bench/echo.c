/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The quickest MCP server that can be: what a call costs beside it is the gateway's cost.
 * Tools: echo {text}, sleep {ms}, and with ECHO_TOOLS=n n more, whose schemas are of
 * ECHO_SCHEMA_BYTES each; tools/list has ECHO_PAGE tools a page (default: all).
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>

#define SLEEPERS_MAX 64

static struct {
    char *id;
    int64_t due_ms;
} sleepers[SLEEPERS_MAX];
static long tools, schema_bytes, page;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static long number(const char *name, long otherwise)
{
    const char *s = getenv(name);

    return s ? strtol(s, NULL, 10) : otherwise;
}

static void answer(const char *id, const char *what)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", id, what);
    fflush(stdout); /* one write */
}

static void answer_text(const char *id, const char *json_text)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\","
           "\"text\":%s}]}}\n",
           id, json_text);
    fflush(stdout);
}

/* Properties until the schema is as long as was asked for. */
static void print_filler(long i)
{
    static const char *const nouns[] = { "record", "invoice", "branch", "message", "ticket" };
    static const char *const verbs[] = { "search", "create", "merge", "archive", "list" };
    long used = 0;

    printf(
        "{\"name\":\"%s_%s_%ld\",\"description\":\"Tool %ld: %ss each %s by field and date\","
        "\"inputSchema\":{\"type\":\"object\",\"properties\":{",
        verbs[i % 5], nouns[i / 5 % 5], i, i, verbs[i % 5], nouns[i / 5 % 5]);
    for (long p = 0; p == 0 || used < schema_bytes; p++)
        used +=
            printf("%s\"field_%ld\":{\"type\":\"%s\",\"description\":\"what field %ld holds, "
                   "in the words of tool %ld\"}",
                   p ? "," : "", p, p % 2 ? "string" : "number", p, i);
    printf("},\"required\":[\"field_0\"]}}");
}

static void answer_list(const char *id, long from)
{
    long to = page && from + page < tools ? from + page : tools;

    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[", id);
    if (from == 0)
        printf(
            "{\"name\":\"echo\",\"description\":\"Returns the text\",\"inputSchema\":{\"type\":"
            "\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]"
            "}"
            "},{\"name\":\"sleep\",\"description\":\"Waits, then answers\",\"inputSchema\":{"
            "\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"number\"}},\"required\":["
            "\"ms\"]}}");
    for (long i = from; i < to; i++) {
        printf("%s", i == from && from ? "" : ",");
        print_filler(i);
    }
    printf("]");
    if (to < tools)
        printf(",\"nextCursor\":\"%ld\"", to);
    printf("}}\n");
    fflush(stdout);
}

static void call(char *id, yyjson_val *params)
{
    yyjson_val *args = yyjson_obj_get(params, "arguments");
    const char *name = yyjson_get_str(yyjson_obj_get(params, "name"));

    if (name && !strcmp(name, "sleep")) {
        for (size_t i = 0; i < SLEEPERS_MAX; i++)
            if (!sleepers[i].id) {
                sleepers[i].id = strdup(id);
                sleepers[i].due_ms =
                    now_ms() + (int64_t)yyjson_get_num(yyjson_obj_get(args, "ms"));
                return;
            }
    }
    char *text = yyjson_val_write(yyjson_obj_get(args, "text"), 0, NULL);

    answer_text(id, text ? text : "\"\"");
    free(text);
}

static void on_line(char *line, size_t n)
{
    yyjson_doc *doc = yyjson_read(line, n, 0);
    yyjson_val *m = yyjson_doc_get_root(doc), *params = yyjson_obj_get(m, "params");
    const char *method = yyjson_get_str(yyjson_obj_get(m, "method"));
    char *id = yyjson_val_write(yyjson_obj_get(m, "id"), 0, NULL);

    if (id && method && !strcmp(method, "tools/call"))
        call(id, params);
    else if (id && method && !strcmp(method, "tools/list")) {
        const char *cursor = yyjson_get_str(yyjson_obj_get(params, "cursor"));

        answer_list(id, cursor ? strtol(cursor, NULL, 10) : 0);
    } else if (id && method && !strcmp(method, "initialize")) {
        char text[256];
        const char *v = yyjson_get_str(yyjson_obj_get(params, "protocolVersion"));

        snprintf(text, sizeof text,
                 "\"result\":{\"protocolVersion\":\"%.20s\",\"capabilities\":{\"tools\":{}},"
                 "\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}",
                 v ? v : "2025-06-18");
        answer(id, text);
    } else if (id && method && !strcmp(method, "ping"))
        answer(id, "\"result\":{}");
    else if (id && method)
        answer(id, "\"error\":{\"code\":-32601,\"message\":\"no such method\"}");
    free(id);
    yyjson_doc_free(doc);
}

/* Answers who slept long enough; milliseconds until the next, -1: nobody sleeps. */
static int wake(void)
{
    int64_t now = now_ms(), next = -1;

    for (size_t i = 0; i < SLEEPERS_MAX; i++) {
        if (sleepers[i].id && sleepers[i].due_ms <= now) {
            answer_text(sleepers[i].id, "\"slept\"");
            free(sleepers[i].id);
            sleepers[i].id = NULL;
        } else if (sleepers[i].id && (next < 0 || sleepers[i].due_ms - now < next)) {
            next = sleepers[i].due_ms - now;
        }
    }
    return (int)next;
}

int main(void)
{
    static char buf[1 << 20];
    size_t n = 0;

    tools = number("ECHO_TOOLS", 0);
    schema_bytes = number("ECHO_SCHEMA_BYTES", 0);
    page = number("ECHO_PAGE", 0);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (;;) {
        struct pollfd p = { .fd = 0, .events = POLLIN };
        char *end;

        if (poll(&p, 1, wake()) <= 0)
            continue;
        ssize_t r = read(0, buf + n, sizeof buf - n);

        if (r <= 0)
            return 0;
        n += (size_t)r;
        while ((end = memchr(buf, '\n', n))) {
            size_t len = (size_t)(end - buf);

            on_line(buf, len);
            n -= len + 1;
            memmove(buf, end + 1, n);
        }
    }
}
