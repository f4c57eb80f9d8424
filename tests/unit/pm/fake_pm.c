/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A package manager for the tests of src/pm: fake_pm NAME MODE [ARG]. It reads requests line by
 * line and answers each as MODE says; "good" is what a decent one does. With FAKE_PM_LOG in its
 * environment it appends one byte to that file per start.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "text/json.h"

#define MAX_LINE ((size_t)1 << 20)

struct request {
    struct str id, method; /* id as JSON text */
    yyjson_val *params;
};

static const char *name = "fake", *mode = "good", *arg = "[]";
static int lists; /* list_deps so far */

static void say(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

static void answer(const struct request *r, const char *json)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}\n", STR_F(r->id), json);
    fflush(stdout);
}

static void answer_error(const struct request *r, const char *code)
{
    printf(
        "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%s,\"message\":\"because\"}}\n",
        STR_F(r->id), code);
    fflush(stdout);
}

static bool is(const char *m)
{
    return strcmp(mode, m) == 0;
}

static void flood(FILE *to, size_t n, const char *end)
{
    char block[4096];

    memset(block, 'x', sizeof block);
    for (size_t i = 0; i < n / sizeof block; i++)
        fwrite(block, 1, sizeof block, to);
    fputs(end, to);
    fflush(to);
}

/* What cannot be told through `arg`: its own environment, and what initialize told it. */
static char *hello_params;

static void answer_names(const struct request *r)
{
    auto_buf out = BUF(MAX_LINE);
    struct jw w = jw_to(&out);

    jw_arr(&w);
    for (char **at = environ; *at; at++) {
        struct str key, value;

        if (!str_cut(str_of(*at), '=', &key, &value))
            continue;
        jw_obj(&w);
        jw_kstrz(&w, "pm", name);
        jw_kstr(&w, "name", key);
        jw_kstrz(&w, "version", "1");
        jw_end(&w);
    }
    jw_end(&w);
    answer(r, buf_z(&out));
}

static void on_initialize(const struct request *r)
{
    auto_buf out = BUF(4096);
    auto_buf params = BUF(MAX_LINE);

    json_put_val(&params, r->params);
    hello_params = buf_take(&params);
    if (is("no-list"))
        buf_addf(&out, "{\"protocol_version\":1,\"name\":\"%s\",\"capabilities\":[\"search\"]}",
                 name);
    else
        buf_addf(&out, "{\"protocol_version\":%s,\"name\":\"%s\"}", is("version") ? arg : "1",
                 is("name") ? arg : name);
    if (is("hello-error"))
        answer_error(r, arg);
    else if (is("hello-not-object"))
        answer(r, "7");
    else if (!is("hello-silent"))
        answer(r, buf_z(&out));
}

/* Closes its stdin, answers, and then exits a little later, or stays. */
static void go_deaf(const struct request *r)
{
    close(STDIN_FILENO);
    answer(r, "[]");
    if (strcmp(arg, "stays") == 0)
        pause();
    usleep(50 * 1000);
    fputs("last words\n", stderr);
    exit(3);
}

static void on_list(const struct request *r)
{
    lists++;
    if (is("good"))
        answer(r, arg);
    else if (is("names"))
        answer_names(r);
    else if (is("params"))
        answer(r, hello_params);
    else if (is("error"))
        answer_error(r, arg);
    else if (is("network")) /* fails `arg` times */
        lists <= atoi(arg) ? answer_error(r, "-32002") : answer(r, "[]");
    else if (is("slow-network"))
        usleep((useconds_t)atoi(arg) * 1000), answer_error(r, "-32002");
    else if (is("garbage"))
        say("this is no JSON\n");
    else if (is("half"))
        say("{\"jsonrpc\":\"2.0\",\"id\":2,\"resu"), exit(3);
    else if (is("die"))
        fputs("first words\nlast \033[31mwords\n", stderr), exit(3);
    else if (is("kill"))
        raise(SIGKILL);
    else if (is("wrong-id"))
        say("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":[]}\n");
    else if (is("string-id"))
        printf("{\"jsonrpc\":\"2.0\",\"id\":\"%.*s\",\"result\":[]}\n", STR_F(r->id)),
            fflush(stdout);
    else if (is("both"))
        printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":[],\"error\":{\"code\":1,"
               "\"message\":\"\"}}\n",
               STR_F(r->id)),
            fflush(stdout);
    else if (is("long"))
        flood(stdout, (size_t)20 << 20, "\n"), answer(r, "[]");
    else if (is("deaf"))
        go_deaf(r);
    else if (is("stderr"))
        flood(stderr, (size_t)1 << 20, "\nthe end\n"), answer(r, arg);
    else if (is("twice"))
        answer(r, arg), answer(r, "[]");
    else if (is("asks"))
        say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\","
            "\"method\":\"note\"}\n"),
            answer(r, arg);
}

/* Answers two requests in the opposite order. */
static void on_any(const struct request *r)
{
    static char *held;

    if (!is("swap")) {
        answer_error(r, "-32601");
        return;
    }
    if (!held) {
        held = str_dup(r->id);
        return;
    }
    answer(r, "\"second\"");
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"first\"}\n", held);
    fflush(stdout);
}

static void handle(struct str line)
{
    struct request r;
    struct json doc;

    if (!json_parse(&doc, line, NULL))
        exit(2);
    r = (struct request){ .id = json_num_text(json_get(doc.root, "id")),
                          .method = json_str(json_get(doc.root, "method")),
                          .params = json_get(doc.root, "params") };
    if (str_is(r.method, "initialize"))
        on_initialize(&r);
    else if (str_is(r.method, "list_deps"))
        on_list(&r);
    else
        on_any(&r);
    json_free(&doc);
}

static void log_start(void)
{
    const char *path = getenv("FAKE_PM_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd >= 0 && write(fd, "x", 1) == 1)
        close(fd);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    name = argc > 1 ? argv[1] : name;
    mode = argc > 2 ? argv[2] : mode;
    arg = argc > 3 ? argv[3] : arg;
    log_start();
    if (is("exit"))
        return 7;
    if (is("banner"))
        say("welcome\n");
    if (is("stubborn"))
        signal(SIGTERM, SIG_IGN);
    while ((n = getline(&line, &cap, stdin)) > 0)
        handle((struct str){ line, (size_t)n });
    while (is("stubborn"))
        pause();
    free(line);
    free(hello_params);
    return 0;
}
