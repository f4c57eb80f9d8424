/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A package manager whose packages stand in a file: fake_catalog NAME FILE. The file is read
 * anew for each request, so that a test can change it in between:
 *
 *     {"active_plugins": X, "load_plugin": {"w": X, "w >=2": X}, "search": X, ..}
 *
 * where X is what to do: {"result": any}, {"error": code}, {"do": "die" and the like}. Methods
 * with an id are looked up by its "name requirement", then its name; what is not in the file is
 * -32001. Each start and each request adds a line to FILE.log: "start online" (or "offline"),
 * "method params".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "network.h"
#include "text/json.h"

#define MAX_FILE ((size_t)64 << 20)

static const char *name, *file;
static FILE *out_log;

static void say(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

static void answer(struct str id, const char *what, struct str json)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"%s\":%.*s}\n", STR_F(id), what, STR_F(json));
    fflush(stdout);
}

static void flood(size_t n)
{
    char block[4096];

    memset(block, 'x', sizeof block);
    for (size_t i = 0; i < n / sizeof block; i++)
        fwrite(block, 1, sizeof block, stdout);
    say("\n");
}

static void misbehave(struct str id, struct str how)
{
    if (str_is(how, "die"))
        fputs("last words\n", stderr), exit(3);
    if (str_is(how, "kill"))
        raise(SIGKILL);
    if (str_is(how, "half"))
        say("{\"jsonrpc\":\"2.0\",\"id\":2,\"resu"), exit(3);
    if (str_is(how, "garbage"))
        say("this is no JSON\n");
    if (str_is(how, "wrong-id"))
        say("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":[]}\n");
    if (str_is(how, "long"))
        flood((size_t)20 << 20);
    if (str_is(how, "silent"))
        return;
}

static void perform(struct str id, yyjson_val *x)
{
    auto_buf text = BUF(MAX_FILE);
    int64_t code = -32001;

    if (json_get(x, "do")) {
        misbehave(id, json_str(json_get(x, "do")));
    } else if (json_get(x, "result")) {
        json_put_val(&text, json_get(x, "result"));
        answer(id, "result", buf_str(&text));
    } else {
        json_int(json_get(x, "error"), &code);
        buf_addf(&text, "{\"code\":%lld,\"message\":\"because\"}", (long long)code);
        answer(id, "error", buf_str(&text));
    }
}

static yyjson_val *find(yyjson_val *catalog, struct str method, yyjson_val *params)
{
    yyjson_val *x = json_get_s(catalog, method), *id = json_get(params, "id"), *found;
    struct str package = json_str(json_get(id, "name")),
               version = json_str(json_get(id, "version"));
    auto_buf key = BUF(4096);

    if (!id)
        return x;
    buf_addf(&key, "%.*s %.*s", STR_F(package), STR_F(version));
    found = json_get_s(x, buf_str(&key));
    return found ? found : json_get_s(x, package);
}

static void on_request(struct str id, struct str method, yyjson_val *params)
{
    auto_buf text = BUF(MAX_FILE);
    auto_json catalog = { 0 };
    auto_buf shown = BUF(MAX_FILE);

    json_put_val(&shown, params);
    fprintf(out_log, "%.*s %.*s\n", STR_F(method), (int)shown.n, shown.n ? shown.p : "");
    fflush(out_log);
    if (!file_read(file, &text, NULL) || !json_parse(&catalog, buf_str(&text), NULL))
        exit(2);
    if (str_is(method, "initialize") && !json_get(catalog.root, "initialize")) {
        buf_clear(&shown);
        buf_addf(&shown, "{\"protocol_version\":1,\"name\":\"%s\"}", name);
        answer(id, "result", buf_str(&shown));
        return;
    }
    perform(id, find(catalog.root, method, params));
}

int main(int argc, char **argv)
{
    char *line = NULL, path[4096];
    size_t cap = 0;
    ssize_t n;

    if (argc != 3)
        return 2;
    name = argv[1];
    file = argv[2];
    snprintf(path, sizeof path, "%s.log", file);
    out_log = fopen(path, "a");
    if (!out_log)
        return 2;
    fprintf(out_log, "start %s\n", has_network() ? "online" : "offline");
    fflush(out_log);
    while ((n = getline(&line, &cap, stdin)) > 0) {
        auto_json doc = { 0 };

        if (!json_parse(&doc, (struct str){ line, (size_t)n }, NULL))
            return 2;
        on_request(json_num_text(json_get(doc.root, "id")),
                   json_str(json_get(doc.root, "method")), json_get(doc.root, "params"));
    }
    free(line);
    fclose(out_log);
    return 0;
}
