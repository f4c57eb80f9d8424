/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tool_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/casefold.h"
#include "base/mem.h"
#include "base/path.h"

/* Nobody sits at a terminal: nothing is asked, and messages are plain text. */
static const char *const settings[] = {
    "CARGO_TERM_COLOR=never", "CARGO_TERM_PROGRESS_WHEN=never",
    "CARGO_NET_RETRY=0", /* whoever asks us tries again (PM-5); both would make sixteen tries */
    "GIT_TERMINAL_PROMPT=0",  "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
};

static bool is_replaced(const char *entry)
{
    if (strncmp(entry, "CARGO_HOME=", 11) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        size_t n = strcspn(settings[i], "=") + 1;

        if (strncmp(entry, settings[i], n) == 0)
            return true;
    }
    return false;
}

static const char **make_env(struct arena *a, const char *home)
{
    struct {
        const char **v;
        size_t n, cap;
    } env = { 0 };
    bool has_ssh = false;

    for (char **e = environ; *e; e++) {
        has_ssh = has_ssh || strncmp(*e, "GIT_SSH", 7) == 0;
        if (!is_replaced(*e))
            ARENA_PUSH(a, &env) = *e;
    }
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        ARENA_PUSH(a, &env) = settings[i];
    if (!has_ssh)
        ARENA_PUSH(a, &env) = "GIT_SSH_COMMAND=ssh -oBatchMode=yes";
    if (home)
        ARENA_PUSH(a, &env) = arena_printf(a, "CARGO_HOME=%s", home);
    ARENA_PUSH(a, &env) = NULL;
    return env.v;
}

/* It runs elsewhere: a path is taken from where we are. */
static const char *find_program(struct arena *a, const struct session *s)
{
    const char *given = session_env(s, "SYMPOSIUM_CARGO");
    char *here;

    if (!given || !*given)
        return "cargo";
    if (given[0] == '/' || !strchr(given, '/'))
        return given;
    here = getcwd(NULL, 0);
    given = here ? path_clean(a, path_join(a, here, given)) : given;
    free(here);
    return given;
}

struct tool *tool_new(const struct session *s, const char *home)
{
    struct tool *t = NEW(struct tool);

    t->session = s;
    t->home = mem_strdup(home);
    t->program = find_program(&t->arena, s);
    t->env = make_env(&t->arena, t->home);
    return t;
}

void tool_free(struct tool *t)
{
    if (!t)
        return;
    arena_free(&t->arena);
    free(t->home);
    free(t);
}

/* Only what names the network is one of its failures: those are asked again. */
static enum err_kind kind_of(struct str err)
{
    static const struct {
        const char *sign;
        enum err_kind kind;
    } signs[] = {
        { "no matching package", ERR_NOT_FOUND },
        { "failed to select a version", ERR_NOT_FOUND },
        { "got 404", ERR_NOT_FOUND },
        { "got 410", ERR_NOT_FOUND },
        { "no token found", ERR_DENIED },
        { "cargo login", ERR_DENIED },
        { "failed to authenticate", ERR_DENIED },
        { "authentication required", ERR_DENIED },
        { "got 401", ERR_DENIED },
        { "got 403", ERR_DENIED },
        { "got 429", ERR_CLOSED },
        { "got 5", ERR_CLOSED },
        { "could not resolve", ERR_CLOSED },
        { "couldn't resolve", ERR_CLOSED },
        { "failed to resolve", ERR_CLOSED },
        { "could not connect", ERR_CLOSED },
        { "couldn't connect", ERR_CLOSED },
        { "failed to connect", ERR_CLOSED },
        { "connection ", ERR_CLOSED }, /* refused, reset, closed, timed out */
        { "timed out", ERR_CLOSED },
        { "timeout", ERR_CLOSED },
        { "unreachable", ERR_CLOSED },
        { "no route to host", ERR_CLOSED },
        { "network", ERR_CLOSED },
        { "connect error", ERR_CLOSED }, /* SSL's */
        { "empty reply", ERR_CLOSED },
        { "failure when receiving", ERR_CLOSED },
        { "transferred a partial file", ERR_CLOSED },
        { "early eof", ERR_CLOSED },
        { "error sending request", ERR_CLOSED },
    };
    auto_buf folded = BUF(4 * RUN_MAX_STDERR);

    casefold_put(&folded, err);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_find(buf_str(&folded), str_of(signs[i].sign)) != SIZE_MAX)
            return signs[i].kind;
    return ERR_PROTOCOL;
}

/* Cargo says "error: what failed", then a chain of causes; what stands behind the last "Caused
 * by:" says most. */
static struct str last_cause(struct str err)
{
    struct str line, rest = err, cause = { 0 };
    bool next = false;

    while (str_cut(rest, '\n', &line, &rest)) {
        line = str_trim(line);
        if (next)
            cause = line;
        next = str_is(line, "Caused by:");
    }
    return next ? str_trim(rest) : cause;
}

bool tool_failure(const struct run_result *result, const char *what, struct error *e)
{
    struct str first = run_complaint(result->err), cause = last_cause(result->err);

    if (str_starts(first, STR("error: ")))
        first = str_from(first, 7);
    if (first.n == 0)
        return error_set(e, ERR_PROTOCOL, "%s failed and did not say why", what);
    error_set(e, kind_of(result->err), "%s: %.*s", what, STR_F(first));
    if (cause.n)
        error_set(e, e->kind, "%s: %.*s (%.*s)", what, STR_F(first), STR_F(cause));
    return false;
}
