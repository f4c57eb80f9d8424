/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/worktree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "loop/child.h"
#include "loop/timer.h"

#define SAID_MAX ((size_t)1 << 10) /* bytes of git's last words */

/* The repository's own configuration still counts (filters make its files what they are), but
 * nothing of it that runs beside, and nothing that asks. */
static const char *const settings[] = {
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "credential.interactive=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
};
static const char *const variables[] = {
    "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0",
    "SSH_ASKPASS_REQUIRE=never",
    "GCM_INTERACTIVE=never",
    "LC_ALL=C",
};
/* They would lead git to another repository than that of the workspace. */
static const char *const misleading[] = {
    "GIT_DIR=",    "GIT_WORK_TREE=",        "GIT_INDEX_FILE=", "GIT_COMMON_DIR=",
    "GIT_PREFIX=", "GIT_OBJECT_DIRECTORY=", "GIT_NAMESPACE=",
};

struct words {
    const char **v;
    size_t n, cap;
};

struct worktree_job {
    struct arena arena;
    struct worktree_opts o;
    struct child *child;
    struct timer *timer; /* deadline; also reports a failed start, at 0 ms */
    struct buf said;
    struct error why;
    bool removing, branch; /* the branch is being removed, the worktree is gone */
    worktree_fn done;
    void *ctx;
};

bool worktree_possible(const char *dir, struct error *e)
{
    auto_arena a = ARENA;

    for (const char *at = path_clean(&a, dir);; at = path_dir(&a, at)) {
        if (file_exists(path_join(&a, at, ".git")))
            return true;
        if (!strcmp(at, "/") || !path_is_abs(at))
            break;
    }
    return error_set(e, ERR_INVALID, "'worktree' needs a git work tree, and '%s' is in none",
                     dir);
}

const char *worktree_path(struct arena *a, const char *state_dir, struct str id)
{
    return path_join(a, path_join(a, state_dir, "worktrees"), arena_z(a, id));
}

const char *worktree_branch(struct arena *a, struct str id)
{
    return arena_printf(a, "symposium/%.*s", STR_F(id));
}

void worktree_job_free(struct worktree_job *j)
{
    if (!j)
        return;
    child_free(j->child);
    timer_free(j->timer);
    buf_free(&j->said);
    arena_free(&j->arena);
    free(j);
}

/* ---- git ---- */

static const char *const *make_argv(struct worktree_job *j, const char *const *args)
{
    struct words w = { 0 };

    ARENA_PUSH(&j->arena, &w) = "git";
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        ARENA_PUSH(&j->arena, &w) = "-c";
        ARENA_PUSH(&j->arena, &w) = settings[i];
    }
    for (; *args; args++)
        ARENA_PUSH(&j->arena, &w) = *args;
    ARENA_PUSH(&j->arena, &w) = NULL;
    return w.v;
}

static bool is_listed(const char *const *names, size_t n, const char *entry)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(entry, names[i], strcspn(names[i], "=") + 1))
            return true;
    return false;
}

static const char *const *make_env(struct worktree_job *j)
{
    struct words w = { 0 };

    for (char **at = environ; *at; at++)
        if (!is_listed(variables, ARRAY_LEN(variables), *at) &&
            !is_listed(misleading, ARRAY_LEN(misleading), *at))
            ARENA_PUSH(&j->arena, &w) = *at;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        ARENA_PUSH(&j->arena, &w) = variables[i];
    ARENA_PUSH(&j->arena, &w) = NULL;
    return w.v;
}

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    struct worktree_job *j = ctx;

    (void)stream;
    buf_add_last(&j->said, bytes);
}

static void finish(struct worktree_job *j)
{
    struct error why = j->why;
    worktree_fn done = j->done;
    void *ctx = j->ctx;

    worktree_job_free(j);
    done(ctx, why.kind ? &why : NULL);
}

static void explain(struct worktree_job *j, const struct child_exit *how)
{
    auto_buf words = BUF(4 * SAID_MAX);

    if (how->exec_errno) {
        error_set(&j->why, ERR_NOT_FOUND, "cannot execute 'git': %s",
                  strerror(how->exec_errno));
        return;
    }
    utf8_put_clean(&words, str_trim(buf_str(&j->said)));
    error_set(&j->why, ERR_CLOSED, "cannot %s the worktree '%s': %s",
              j->removing ? "remove" : "make", j->o.path,
              words.n ? buf_z(&words) : "git failed without a word");
}

static void run(struct worktree_job *j, const char *const *args);

static void on_exit_(void *ctx, const struct child_exit *how)
{
    struct worktree_job *j = ctx;
    const char *const branch[] = { "-C", j->o.workspace, "branch",    "-q",
                                   "-d", "--",           j->o.branch, NULL };

    child_free(take_ptr(&j->child));
    if (!j->why.kind && !j->branch && how->code != 0) {
        explain(j, how);
    } else if (!j->why.kind && j->removing && !j->branch) {
        /* One with commits that are nowhere else stays: git says so, which is no failure. */
        j->branch = true;
        run(j, branch);
        return;
    }
    finish(j);
}

static void on_timer(void *ctx)
{
    struct worktree_job *j = ctx;

    if (!j->child) {
        finish(j);
        return;
    }
    error_set(&j->why, ERR_TIMEOUT, "git did not end within %d s", WORKTREE_MS / 1000);
    child_stop(j->child, (struct child_ladder){ 0, 1000 });
}

static void run(struct worktree_job *j, const char *const *args)
{
    static const struct child_ops ops = { .on_bytes = on_bytes, .on_exit = on_exit_ };
    struct child_opts o = { .argv = make_argv(j, args),
                            .env = make_env(j),
                            .cwd = "/",
                            .keeper = true,
                            .no_stdin = true };

    j->child = child_start(j->o.loop, &o, &ops, j, &j->why);
    timer_set(j->timer, j->child ? WORKTREE_MS : 0);
}

static struct worktree_job *job_new(const struct worktree_opts *o, worktree_fn done, void *ctx)
{
    struct worktree_job *j = NEW(struct worktree_job);

    *j = (struct worktree_job){ .done = done, .ctx = ctx, .said = BUF(SAID_MAX) };
    j->o.loop = o->loop;
    j->o.workspace = arena_z(&j->arena, str_of(o->workspace));
    j->o.path = arena_z(&j->arena, str_of(o->path));
    j->o.branch = arena_z(&j->arena, str_of(o->branch));
    j->timer = timer_new(o->loop, on_timer, j);
    return j;
}

struct worktree_job *worktree_add(const struct worktree_opts *o, worktree_fn done, void *ctx)
{
    struct worktree_job *j = job_new(o, done, ctx);
    const char *const args[] = { "-C",        j->o.workspace, "worktree", "add",  "-q", "-b",
                                 j->o.branch, "--",           j->o.path,  "HEAD", NULL };

    if (file_mkdirs(path_dir(&j->arena, j->o.path), &j->why))
        run(j, args);
    else
        timer_set(j->timer, 0);
    return j;
}

struct worktree_job *worktree_remove(const struct worktree_opts *o, worktree_fn done, void *ctx)
{
    struct worktree_job *j = job_new(o, done, ctx);
    const char *const args[] = { "-C", j->o.workspace, "worktree", "remove",
                                 "--", j->o.path,      NULL };

    j->removing = true;
    run(j, args);
    return j;
}
