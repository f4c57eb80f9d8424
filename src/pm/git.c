/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/git.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "loop/work.h"
#include "pm/git_program.h"
#include "pm/place.h"
#include "pm/process.h"

#define LOCK_PAUSE_MS 50                /* between two tries */
#define WATCH_MS      200               /* how often the size of what comes in is looked at */
#define MAX_REFS      ((size_t)1 << 20) /* bytes of an answer of ls-remote */
#define MAX_SMALL     1000              /* of other answers */
#define COMMIT_DIGITS 40

enum step {
    LOCKING,
    ASKING,
    PREPARING,
    MAKING,
    FETCHING,
    NAMING,
    MEASURING,
    FILLING,
    SWAPPING,
    CLEARING,
    ENDED
};

static const char *const step_name[] = {
    [LOCKING] = "locking",     [ASKING] = "asking",     [PREPARING] = "preparing",
    [MAKING] = "making",       [FETCHING] = "fetching", [NAMING] = "naming",
    [MEASURING] = "measuring", [FILLING] = "filling",   [SWAPPING] = "swapping",
    [CLEARING] = "clearing",   [ENDED] = "ended",
};

static const unsigned next_of[] = {
    [LOCKING] = 1u << ASKING | 1u << PREPARING | 1u << ENDED,
    [ASKING] = 1u << PREPARING | 1u << ENDED,
    [PREPARING] = 1u << MAKING | 1u << ENDED,
    [MAKING] = 1u << FETCHING | 1u << CLEARING,
    [FETCHING] = 1u << NAMING | 1u << CLEARING,
    [NAMING] = 1u << MEASURING | 1u << CLEARING,
    [MEASURING] = 1u << FILLING | 1u << CLEARING,
    [FILLING] = 1u << SWAPPING | 1u << CLEARING,
    [SWAPPING] = 1u << CLEARING,
    [CLEARING] = 1u << ENDED,
    [ENDED] = 0,
};

/* Beside the loop's thread: it goes on when the fetch is cancelled, and keeps the lock so long.
 */
struct disk_job {
    struct git_fetch *f; /* NULL: cancelled */
    struct arena arena;
    struct place place;
    int lock; /* -1: the fetch has it */
    bool clear;
    struct error why;
};

struct git_fetch {
    struct loop *loop;
    struct arena arena;
    const char *cache_dir;
    struct git_source source;
    enum update_level level;
    struct place place;
    int64_t deadline; /* monotonic */
    int64_t began_ns; /* wall clock */
    enum step step;
    int lock;                  /* of fetching; -1: not held */
    bool waited;               /* for another process */
    struct checkout_meta meta; /* of what is there */
    bool present, changed;
    int retries;                    /* of the first fetch */
    char commit[COMMIT_DIGITS + 1]; /* being fetched */
    struct command *command;
    struct disk_job *job;
    struct timer *timer; /* of the step */
    struct timer *watch; /* of the size of what comes in */
    struct error why;
    git_done_fn done;
    void *ctx;
};

static void advance(struct git_fetch *f, enum step to);

static const char *const level_names[] = {
    [UPDATE_NONE] = "none", [UPDATE_CHECK] = "check", [UPDATE_FETCH] = "fetch"
};

const char *update_level_name(enum update_level level)
{
    return level_names[level];
}

bool update_level_parse(struct str name, enum update_level *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (str_is(name, level_names[i])) {
            *ret = (enum update_level)i;
            return true;
        }
    return false;
}

/* ---- the end ---- */

static void free_fetch(struct git_fetch *f)
{
    command_free(f->command);
    timer_free(f->timer);
    timer_free(f->watch);
    if (f->lock >= 0)
        close(f->lock);
    arena_free(&f->arena);
    free(f);
}

static void report(void *ctx)
{
    struct git_fetch *f = ctx;
    struct git_result r = { .changed = f->changed };

    if (f->lock >= 0)
        close(f->lock);
    f->lock = -1;
    if (f->present) {
        r.dir = f->place.dir;
        r.commit_sha = f->meta.commit_sha;
    }
    f->done(f->ctx, &r, f->why.kind ? &f->why : NULL);
    free_fetch(f);
}

static void fail(struct git_fetch *f, enum step to)
{
    log_debug("%.*s: %s", STR_F(f->source.shown), f->why.msg);
    advance(f, to);
}

static int remaining_ms(const struct git_fetch *f)
{
    int64_t left = f->deadline - clock_ms();

    return left > 1 ? (int)left : 1;
}

/* ---- the lock, and whether there is anything to do ---- */

static int64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* When somebody last tried; 0 when never, or in the future. */
static int64_t last_try_ns(const struct git_fetch *f)
{
    struct stat st;
    int64_t at;

    if (f->lock < 0 || fstat(f->lock, &st) != 0 || st.st_size == 0)
        return 0;
    at = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return at <= wall_ns() ? at : 0;
}

/* A lock just made has a time, too, but is empty. */
static void note_try(struct git_fetch *f)
{
    if (pwrite(f->lock, "\n", 1, 0) != 1 || futimens(f->lock, NULL) != 0)
        log_debug("%s: time of the check is not noted", f->place.fetch_lock);
}

static void read_present(struct git_fetch *f)
{
    f->present = checkout_meta_read(&f->meta, &f->arena, f->cache_dir, &f->source);
}

static bool is_commit(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.p[i]))
            return false;
    return s.n == COMMIT_DIGITS;
}

static enum step first_step(struct git_fetch *f)
{
    int64_t last = last_try_ns(f);

    if (!f->present)
        return PREPARING;
    if (f->waited && last >= f->began_ns)
        return ENDED; /* another process has just done it */
    if (f->level == UPDATE_FETCH)
        return PREPARING;
    if (last && wall_ns() - last < (int64_t)GIT_CHECK_SECS * 1000000000)
        return ENDED;
    if (is_commit(f->source.ref) && str_eq(f->source.ref, f->meta.commit_sha))
        return ENDED;
    return ASKING;
}

static void try_lock(struct git_fetch *f)
{
    if (f->lock < 0)
        f->lock = place_open_lock(&f->place, &f->why);
    if (f->lock < 0) {
        read_present(f);
        fail(f, ENDED);
        return;
    }
    if (flock(f->lock, LOCK_EX | LOCK_NB) == 0) {
        read_present(f);
        advance(f, first_step(f));
        return;
    }
    f->waited = true;
    if (clock_ms() < f->deadline) {
        timer_set(f->timer, LOCK_PAUSE_MS);
        return;
    }
    read_present(f);
    error_set(&f->why, ERR_TIMEOUT,
              "cannot fetch '%.*s': another process still does; try again later",
              STR_F(f->source.shown));
    close(f->lock);
    f->lock = -1;
    fail(f, ENDED);
}

/* ---- git ---- */

/* The command has ended: it is freed, and what it told stays. True when it did what it should.
 */
static bool ended_well(struct git_fetch *f, const struct command_end *how, const char *what)
{
    timer_clear(f->watch);
    if (!how->why)
        return true;
    git_explain(how, what, &f->source, &f->why);
    return false;
}

static void drop_command(struct git_fetch *f)
{
    struct command *c = f->command;

    f->command = NULL;
    command_free(c);
}

struct git_step {
    const char *const *args;
    bool in_repository, in_tree;
    int timeout_ms;
    size_t max_out;
    void (*done)(void *ctx, const struct command_end *how);
};

static void run(struct git_fetch *f, const struct git_step *s)
{
    int left = remaining_ms(f);
    struct git_command g = {
        .git_dir = s->in_repository ? f->place.git_dir : NULL,
        .work_tree = s->in_tree ? f->place.tree : NULL,
        .args = s->args,
        .timeout_ms = s->timeout_ms && s->timeout_ms < left ? s->timeout_ms : left,
        .max_out = s->max_out,
    };

    f->command = git_start(f->loop, &g, s->done, f);
}

/* ---- asking ---- */

/* The commit that a fetch of the ref would bring: a tag before a branch, as git has it, and
 * what an annotated tag points to. */
static struct str remote_commit(const struct git_fetch *f, struct str listing)
{
    struct str best = { 0 }, line, sha, name;
    int rank = 0;

    while (str_cut(listing, '\n', &line, &listing)) {
        int this = 0;

        if (!str_cut(line, '\t', &sha, &name) || !is_commit(sha))
            continue;
        if (!f->source.ref.n)
            this = str_is(name, "HEAD");
        else if (str_ends(name, STR("^{}")))
            this = str_starts(name, STR("refs/tags/")) ? 3 : 0;
        else if (str_starts(name, STR("refs/tags/")))
            this = 2;
        else
            this = str_starts(name, STR("refs/heads/"));
        if (this > rank) {
            rank = this;
            best = sha;
        }
    }
    return best;
}

static void on_asked(void *ctx, const struct command_end *how)
{
    struct git_fetch *f = ctx;
    bool well = ended_well(f, how, "cannot ask");
    bool same = well && str_eq(remote_commit(f, how->out), f->meta.commit_sha);

    drop_command(f);
    if (!well)
        fail(f, ENDED);
    else
        advance(f, same ? ENDED : PREPARING);
}

/* Full names match at any depth, so what comes back still has to be looked at. */
static void ask(struct git_fetch *f)
{
    struct arena *a = &f->arena;
    const char *ref = arena_z(a, f->source.ref), *url = arena_z(a, f->source.url);
    const char *const head[] = { "ls-remote", "--quiet", "--", url, "HEAD", NULL };
    const char *const named[] = { "ls-remote",
                                  "--quiet",
                                  "--",
                                  url,
                                  arena_printf(a, "refs/heads/%s", ref),
                                  arena_printf(a, "refs/tags/%s", ref),
                                  arena_printf(a, "refs/tags/%s^{}", ref),
                                  NULL };

    note_try(f);
    run(f, &(struct git_step){ .args = *ref ? named : head,
                               .timeout_ms = GIT_ASK_TIMEOUT_MS,
                               .max_out = MAX_REFS,
                               .done = on_asked });
}

/* ---- on disk ---- */

static void job_run(void *ctx, struct work *w)
{
    struct disk_job *j = ctx;

    if (j->clear)
        place_clear(&j->place);
    else
        place_prepare(&j->place, &j->why);
}

static void job_done(void *ctx, bool cancelled)
{
    struct disk_job *j = ctx;
    struct git_fetch *f = j->f;
    bool clear = j->clear;
    struct error why = j->why;

    if (cancelled && !why.kind)
        error_set(&why, ERR_CLOSED, "cannot fetch: the program ends");
    if (j->lock >= 0)
        close(j->lock);
    arena_free(&j->arena);
    free(j);
    if (!f)
        return;
    f->job = NULL;
    if (!clear && why.kind) {
        f->why = why;
        fail(f, ENDED);
        return;
    }
    advance(f, clear ? ENDED : MAKING);
}

static void start_job(struct git_fetch *f, bool clear)
{
    static const struct work_ops ops = { .run = job_run, .done = job_done };
    struct disk_job *j = f->job = NEW(struct disk_job);

    *j = (struct disk_job){ .f = f, .lock = -1, .clear = clear };
    place_of(&j->place, &j->arena, f->cache_dir, &f->source);
    work_start(f->loop, WORK_LONG, &ops, j);
}

/* ---- fetching ---- */

static void on_made(void *ctx, const struct command_end *how)
{
    struct git_fetch *f = ctx;
    bool well = ended_well(f, how, "cannot prepare the fetch of");

    drop_command(f);
    if (well)
        advance(f, FETCHING);
    else
        fail(f, CLEARING);
}

static void make(struct git_fetch *f)
{
    const char *const args[] = { "init", "--quiet",        "--bare", "--template=",
                                 "--",   f->place.git_dir, NULL };

    note_try(f);
    run(f, &(struct git_step){ .args = args, .done = on_made });
}

/* In the same step: what came so far, if anything, is git's to use. */
static bool retry_later(struct git_fetch *f)
{
    int ms = pm_backoff_ms(f->retries);

    if (f->present || f->why.kind != ERR_CLOSED || f->retries == PM_NETWORK_RETRIES ||
        clock_ms() + ms >= f->deadline)
        return false;
    log_debug("%.*s: %s; once more in %d ms", STR_F(f->source.shown), f->why.msg, ms);
    f->retries++;
    f->why = (struct error){ 0 };
    timer_set(f->timer, ms);
    return true;
}

static void on_fetched(void *ctx, const struct command_end *how)
{
    struct git_fetch *f = ctx;
    bool well = ended_well(f, how, "cannot fetch");

    drop_command(f);
    if (!well && retry_later(f))
        return;
    if (well)
        advance(f, NAMING);
    else
        fail(f, CLEARING);
}

static void on_watch(void *ctx)
{
    struct git_fetch *f = ctx;
    struct error e = { 0 };

    if (!f->command)
        return;
    timer_set(f->watch, WATCH_MS);
    if (place_received(&f->place) <= GIT_MAX_PACK)
        return;
    error_set(&e, ERR_LIMIT, "it is larger than %llu MiB",
              (unsigned long long)(GIT_MAX_PACK >> 20));
    command_kill(f->command, &e);
}

static void fetch(struct git_fetch *f)
{
    const char *ref = f->source.ref.n ? f->source.ref.p : "HEAD";
    const char *const args[] = {
        "fetch", "--quiet",       "--no-tags", "--depth=1", "--no-recurse-submodules",
        "--",    f->source.url.p, ref,         NULL
    };

    timer_set(f->watch, WATCH_MS);
    run(f, &(struct git_step){ .args = args, .in_repository = true, .done = on_fetched });
}

static void on_named(void *ctx, const struct command_end *how)
{
    struct git_fetch *f = ctx;
    struct str commit = str_trim(how->out);
    bool well = ended_well(f, how, "cannot use");

    if (well && !is_commit(commit)) {
        error_set(&f->why, ERR_INVALID, "cannot use '%.*s': its ref names no commit",
                  STR_F(f->source.shown));
        well = false;
    }
    if (well)
        memcpy(f->commit, commit.p, commit.n);
    drop_command(f);
    if (well)
        advance(f, MEASURING);
    else
        fail(f, CLEARING);
}

static void name(struct git_fetch *f)
{
    static const char *const args[] = { "rev-parse", "--verify", "FETCH_HEAD^{commit}", NULL };

    run(f, &(struct git_step){
               .args = args, .in_repository = true, .max_out = MAX_SMALL, .done = on_named });
}

/* ---- measuring ---- */

/* "<mode> <type> <object> <size>\t<path>", each ended by NUL; no size ("-") of a submodule. */
static bool measure(const struct git_fetch *f, struct str listing, struct error *e)
{
    uint64_t bytes = 0;
    size_t files = 0;
    struct str row, facts, path;

    while (str_cut(listing, '\0', &row, &listing)) {
        int64_t size = 0;
        size_t at;

        files++;
        if (!str_cut(row, '\t', &facts, &path))
            continue;
        at = facts.n;
        while (at && facts.p[at - 1] != ' ')
            at--;
        if (str_to_int(str_from(facts, at), 0, INT64_MAX, &size))
            bytes = bytes > UINT64_MAX - (uint64_t)size ? UINT64_MAX : bytes + (uint64_t)size;
    }
    if (files > GIT_MAX_FILES)
        return error_set(e, ERR_LIMIT, "cannot check out '%.*s': it has more than %d files",
                         STR_F(f->source.shown), GIT_MAX_FILES);
    if (bytes > GIT_MAX_BYTES)
        return error_set(e, ERR_LIMIT, "cannot check out '%.*s': it is larger than %llu MiB",
                         STR_F(f->source.shown), (unsigned long long)(GIT_MAX_BYTES >> 20));
    return true;
}

static void on_listed(void *ctx, const struct command_end *how)
{
    struct git_fetch *f = ctx;
    bool well = ended_well(f, how, "cannot use") && measure(f, how->out, &f->why);

    drop_command(f);
    if (well)
        advance(f, FILLING);
    else
        fail(f, CLEARING);
}

/* What is checked out is the sub-path's tree itself: nothing of the rest, and no link on the
 * way to it counts. */
static const char *tree_name(struct git_fetch *f)
{
    return arena_printf(&f->arena, "%s%s%.*s", f->commit, f->source.path.n ? ":" : "^{tree}",
                        STR_F(f->source.path));
}

static void list_files(struct git_fetch *f)
{
    const char *const args[] = {
        "ls-tree", "-r", "-z", "-l", "--full-tree", tree_name(f), NULL
    };

    run(f, &(struct git_step){ .args = args,
                               .in_repository = true,
                               .max_out = GIT_MAX_LISTING,
                               .done = on_listed });
}

/* ---- the new checkout ---- */

static void on_filled(void *ctx, const struct command_end *how)
{
    struct git_fetch *f = ctx;
    bool well = ended_well(f, how, "cannot check out") &&
                place_write_meta(&f->place, &f->source, str_of(f->commit), &f->why);

    drop_command(f);
    if (well)
        advance(f, SWAPPING);
    else
        fail(f, CLEARING);
}

static void fill(struct git_fetch *f)
{
    const char *const args[] = { "read-tree", "--reset", "-u", tree_name(f), NULL };

    run(f, &(struct git_step){
               .args = args, .in_repository = true, .in_tree = true, .done = on_filled });
}

static void swap(struct git_fetch *f)
{
    switch (place_exchange(&f->place, &f->why)) {
    case PLACE_SWAPPED:
        f->changed = !f->present || !str_is(f->meta.commit_sha, f->commit);
        read_present(f);
        if (!f->present)
            error_set(&f->why, ERR_CLOSED, "the checkout of '%.*s' vanished again",
                      STR_F(f->source.shown));
        advance(f, CLEARING);
        return;
    case PLACE_BUSY:
        if (clock_ms() < f->deadline) {
            timer_set(f->timer, LOCK_PAUSE_MS);
            return;
        }
        error_set(&f->why, ERR_TIMEOUT, "cannot replace the checkout of '%.*s': it is in use",
                  STR_F(f->source.shown));
        break;
    case PLACE_FAILED:
        break;
    }
    fail(f, CLEARING);
}

/* ---- the steps ---- */

static void enter(struct git_fetch *f, enum step to)
{
    assert(next_of[f->step] & 1u << to);
    log_debug("%.*s: %s", STR_F(f->source.shown), step_name[to]);
    f->step = to;
}

static void advance(struct git_fetch *f, enum step to)
{
    enter(f, to);
    switch (to) {
    case LOCKING:
        break;
    case ASKING:
        ask(f);
        break;
    case PREPARING:
        start_job(f, false);
        break;
    case MAKING:
        make(f);
        break;
    case FETCHING:
        fetch(f);
        break;
    case NAMING:
        name(f);
        break;
    case MEASURING:
        list_files(f);
        break;
    case FILLING:
        fill(f);
        break;
    case SWAPPING:
        swap(f);
        break;
    case CLEARING:
        start_job(f, true);
        break;
    case ENDED:
        timer_set(f->timer, 0);
        break;
    }
}

static void on_timer(void *ctx)
{
    struct git_fetch *f = ctx;

    if (f->step == LOCKING)
        try_lock(f);
    else if (f->step == FETCHING)
        fetch(f);
    else if (f->step == SWAPPING)
        swap(f);
    else if (f->step == ENDED)
        report(f);
}

static struct git_source copy_source(struct arena *a, const struct git_source *s)
{
    return (struct git_source){ .url = arena_str(a, s->url),
                                .shown = arena_str(a, s->shown),
                                .ref = arena_str(a, s->ref),
                                .path = arena_str(a, s->path),
                                .key = arena_str(a, s->key) };
}

/* UPDATE_NONE: what is there is there. */
static void only_look(struct git_fetch *f)
{
    read_present(f);
    if (!f->present)
        checkout_find(&f->arena, f->cache_dir, &f->source, &f->why);
    f->step = ENDED;
}

struct git_fetch *git_fetch_start(struct loop *l, const struct git_opts *o, git_done_fn done,
                                  void *ctx)
{
    struct git_fetch *f = NEW(struct git_fetch);

    f->loop = l;
    f->cache_dir = arena_z(&f->arena, str_of(o->cache_dir));
    f->source = copy_source(&f->arena, o->source);
    f->level = o->level;
    f->deadline = clock_ms() + (o->timeout_ms ? o->timeout_ms : GIT_TIMEOUT_MS);
    f->began_ns = wall_ns();
    f->lock = -1;
    f->timer = timer_new(l, on_timer, f);
    f->watch = timer_new(l, on_watch, f);
    f->done = done;
    f->ctx = ctx;
    place_of(&f->place, &f->arena, f->cache_dir, &f->source);
    if (f->level == UPDATE_NONE)
        only_look(f);
    timer_set(f->timer, 0);
    return f;
}

void git_fetch_cancel(struct git_fetch *f)
{
    if (!f)
        return;
    if (f->job) {
        f->job->f = NULL;
        f->job->lock = f->lock; /* what it does is still ours alone */
        f->lock = -1;
    }
    free_fetch(f);
}
