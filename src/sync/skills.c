/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/skills.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/rand.h"
#include "sync/skill_copy.h"

#define LOCK_POLL_MS 20
#define TEMP_PREFIX  ".symposium-"
#define TEMP_SUFFIX  ".tmp"
#define TEMP_HEX     16
#define TEMP_SIZE    (sizeof TEMP_PREFIX + TEMP_HEX + sizeof TEMP_SUFFIX)

/* One directory that agents read skills from. */
struct place {
    const char *rel;  /* below the workspace root */
    const char *path; /* canonical; where it would be while it is not there */
    struct str agent; /* the only configured one that reads it, else empty */
    bool used;        /* by a configured agent */
    int fd;           /* -1: not there */
    struct stat st;
    struct map kept; /* names that stay */
};

struct run {
    struct arena *a;
    const struct sync_job *job;
    const struct sync_skills *what;
    struct sync_report *report;
    int root;
    struct map claims; /* name -> number of skills that want it */
    struct {
        struct place *v;
        size_t n, cap;
    } places;
    bool failed;
};

/* ---- telling ---- */

static void say(struct run *r, const struct place *p, enum sync_kind kind, const char *path,
                const char *text)
{
    sync_report_add(r->report,
                    (struct sync_line){ kind, p->agent, str_of(path), str_of(text) });
    r->failed |= kind == SYNC_ERROR;
}

static void say_done(struct run *r, const struct place *p, const char *name, const char *text)
{
    say(r, p, r->job->dry_run ? SYNC_WOULD_WRITE : SYNC_WRITTEN, path_join(r->a, p->path, name),
        text);
}

/* ---- names ---- */

static void temp_name(char ret[TEMP_SIZE])
{
    char hex[TEMP_HEX + 1];

    rand_hex(hex, TEMP_HEX / 2);
    snprintf(ret, TEMP_SIZE, TEMP_PREFIX "%s" TEMP_SUFFIX, hex);
}

static bool is_temp_name(const char *name)
{
    struct str s = str_of(name);

    if (s.n != sizeof TEMP_PREFIX - 1 + TEMP_HEX + sizeof TEMP_SUFFIX - 1 ||
        !str_starts(s, STR(TEMP_PREFIX)) || !str_ends(s, STR(TEMP_SUFFIX)))
        return false;
    for (size_t i = 0; i < TEMP_HEX; i++)
        if (str_hex(s.p[sizeof TEMP_PREFIX - 1 + i]) < 0)
            return false;
    return true;
}

/* ---- places ---- */

static struct place *place_of(struct run *r, const char *rel)
{
    for (size_t i = 0; i < r->places.n; i++)
        if (!strcmp(r->places.v[i].rel, rel))
            return &r->places.v[i];
    ARENA_PUSH(r->a, &r->places) = (struct place){
        .rel = rel, .path = path_join(r->a, r->job->env->root, rel), .fd = -1, .kept = MAP
    };
    return &r->places.v[r->places.n - 1];
}

/* As the workspace root is, which is canonical. */
static const char *user_dir(struct run *r, const struct agent *g)
{
    const char *home = r->job->env->home, *real = path_real(r->a, home, NULL);
    const char *dir = sync_path_of(r->a, r->job->env, g->user_skills);

    if (!dir || !real || !path_beneath(home, dir))
        return dir;
    return path_join(r->a, real, dir + strlen(home) + strspn(dir + strlen(home), "/"));
}

/* Whoever works in the home directory would have the user's own directory filled (SY-12). */
static bool is_users_own(struct run *r, const struct agent *g)
{
    const char *project = sync_path_of(r->a, r->job->env, g->skills);

    for (size_t i = 0; i < sync_agents_n; i++) {
        const char *own = user_dir(r, &sync_agents[i]);

        if (own && !strcmp(own, project))
            return true;
    }
    return false;
}

static void find_places(struct run *r)
{
    for (size_t i = 0; i < sync_agents_n; i++) {
        const struct agent *g = &sync_agents[i];
        struct place *p;

        if (g->skills.base == BASE_NONE)
            continue;
        if (is_users_own(r, g)) {
            if (sync_job_has(r->job, g->name) && r->what->active->n)
                sync_report_addf(r->report, SYNC_NOTE, str_of(g->name),
                                 "no skills are installed: '%s' is the user's own directory",
                                 sync_path_of(r->a, r->job->env, g->skills));
            continue;
        }
        p = place_of(r, g->skills.rel);
        if (!sync_job_has(r->job, g->name))
            continue;
        p->agent = str_of(p->used ? NULL : g->name);
        p->used = true;
    }
}

/* Two names of one directory (a link) are one place, else the second would remove what the
 * first has installed. */
static bool is_another(struct run *r, struct place *p)
{
    for (struct place *q = r->places.v; q < p; q++) {
        if (q->fd < 0 || q->st.st_dev != p->st.st_dev || q->st.st_ino != p->st.st_ino)
            continue;
        if (p->used)
            q->agent = q->used ? STR("") : p->agent;
        q->used |= p->used;
        return true;
    }
    return false;
}

static bool lock_place(const struct place *p, struct error *e)
{
    int64_t end = clock_ms() + SKILLS_LOCK_MS;

    while (flock(p->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            log_debug("'%s' cannot be locked: %s", p->path, strerror(errno));
            return true;
        }
        if (clock_ms() > end)
            return error_set(e, ERR_TIMEOUT,
                             "another symposium has been writing there for %d s",
                             SKILLS_LOCK_MS / 1000);
        nanosleep(&(struct timespec){ .tv_nsec = LOCK_POLL_MS * 1000000L }, NULL);
    }
    return true;
}

/* errno says why it could not be opened. One that nobody uses is left as it is. */
static void say_closed(struct run *r, struct place *p, bool make)
{
    if (!p->used || (errno == ENOENT && !make))
        return;
    p->used = false;
    if (errno == EXDEV || errno == ELOOP)
        say(r, p, SYNC_NOTE, p->path,
            "it leads out of the project; no skills are installed there");
    else
        say(r, p, SYNC_ERROR, p->path, strerror(errno));
}

/* Leaves fd -1 when there is nothing to do in it. */
static void open_place(struct run *r, struct place *p)
{
    bool make = p->used && r->what->active->n && !r->job->dry_run;
    struct error e = { 0 };
    char link[64];

    p->fd = make ? mkdirs_beneath(r->root, p->rel)
                 : open_beneath(r->root, p->rel, O_RDONLY | O_DIRECTORY);
    if (p->fd < 0)
        say_closed(r, p, make);
    if (p->fd < 0 || fstat(p->fd, &p->st) != 0)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", p->fd);
    p->path = path_real(r->a, link, NULL);
    if (!p->path || is_another(r, p) || (!r->job->dry_run && !lock_place(p, &e))) {
        if (e.kind != ERR_NONE)
            say(r, p, SYNC_ERROR, p->path, e.msg);
        close(p->fd);
        p->fd = -1;
        p->used = false; /* looked after elsewhere, or not now */
    }
}

/* ---- one slot ---- */

enum slot { SLOT_ABSENT, SLOT_OURS, SLOT_FOREIGN };

static enum slot slot_of(const struct place *p, const char *name)
{
    struct stat st;

    if (p->fd < 0 || (fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT))
        return SLOT_ABSENT;
    return skill_is_marked(p->fd, name) ? SLOT_OURS : SLOT_FOREIGN;
}

/* SY-15: the agent reads the skill where it is. */
static bool is_source(struct run *r, const struct place *p, const struct found_skill *k)
{
    struct stat slot, own;

    if (!strcmp(path_dir(r->a, k->dir), p->path))
        return true;
    return p->fd >= 0 && fstatat(p->fd, arena_z(r->a, k->name), &slot, 0) == 0 &&
           stat(k->dir, &own) == 0 && slot.st_dev == own.st_dev && slot.st_ino == own.st_ino;
}

/* A copy of this very skill that was looked into a moment ago (SY-17). */
static bool is_fresh(struct run *r, int slot, int source)
{
    struct stat marker, a, b;
    int64_t age;

    if (!r->what->debounce_secs || fstatat(slot, SKILL_MARKER, &marker, 0) != 0 ||
        fstatat(slot, SKILL_FILE_NAME, &a, 0) != 0 ||
        fstatat(source, SKILL_FILE_NAME, &b, 0) != 0)
        return false;
    age = clock_wall_ms() - (int64_t)marker.st_mtim.tv_sec * 1000 -
          marker.st_mtim.tv_nsec / 1000000;
    return age >= 0 && age < (int64_t)r->what->debounce_secs * 1000 && a.st_size == b.st_size &&
           a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

static bool is_equal(struct run *r, const struct skill_tree *t, int source, int slot)
{
    struct skill_tree there;

    return skill_tree_read(&there, r->a, slot, NULL) &&
           skill_tree_same(t, source, &there, slot);
}

/* Where the file system cannot exchange there is a moment without either. */
static bool swap(const struct place *p, const char *temp, const char *name, struct error *e)
{
    char aside[TEMP_SIZE];

    if (renameat2(p->fd, temp, p->fd, name, RENAME_EXCHANGE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return error_set(e, ERR_SYS, "replace");
    temp_name(aside);
    if (renameat(p->fd, name, p->fd, aside) != 0 || renameat(p->fd, temp, p->fd, name) != 0)
        return error_set(e, ERR_SYS, "replace");
    return renameat(p->fd, aside, p->fd, temp) == 0 || error_set(e, ERR_SYS, "replace");
}

/* Nothing but an empty directory is ever replaced, not even where the file system cannot
 * promise it. */
static bool move(const struct place *p, const char *from, const char *to)
{
    return renameat2(p->fd, from, p->fd, to, RENAME_NOREPLACE) == 0 ||
           ((errno == EINVAL || errno == ENOSYS) && renameat(p->fd, from, p->fd, to) == 0);
}

/* The copy in `temp` takes its place; what was there is at `temp` then. Somebody may have put
 * something of his own there since we looked: that is given back. */
static bool put_in_place(const struct place *p, const char *temp, const char *name,
                         enum slot slot, struct error *e)
{
    if (slot == SLOT_ABSENT)
        return move(p, temp, name) || error_set(e, ERR_SYS, "put it in its place");
    if (!swap(p, temp, name, e))
        return false;
    if (skill_is_marked(p->fd, temp))
        return true;
    return swap(p, temp, name, e) &&
           error_set(e, ERR_CLOSED, "somebody else has put something there meanwhile");
}

static bool make_copy(const struct place *p, const struct skill_tree *t, int source,
                      const char *temp, struct error *e)
{
    auto_close int fd = skill_make_marked(p->fd, temp, e);
    struct stat st;

    return fd >= 0 && skill_tree_copy(t, source, fd, e) && fstat(source, &st) == 0 &&
           (fchmod(fd, (st.st_mode & 0777) | S_IRWXU) == 0 ||
            error_set(e, ERR_SYS, "set its mode"));
}

static void install(struct run *r, const struct place *p, const struct skill_tree *t,
                    int source, const char *name)
{
    enum slot slot = slot_of(p, name);
    const char *what = slot == SLOT_OURS ? "skill brought up to date" : "skill installed";
    struct error e = { 0 };
    char temp[TEMP_SIZE];
    bool ok;

    if (r->job->dry_run) {
        say_done(r, p, name, what);
        return;
    }
    temp_name(temp);
    ok = make_copy(p, t, source, temp, &e) && put_in_place(p, temp, name, slot, &e);
    if (skill_is_marked(p->fd, temp))
        skill_remove_marked(p->fd, temp);
    if (ok)
        say_done(r, p, name, what);
    else
        say(r, p, e.kind == ERR_CLOSED || e.kind == ERR_DENIED ? SYNC_NOTE : SYNC_ERROR,
            path_join(r->a, p->path, name), e.msg);
}

/* ---- one skill in one place ---- */

/* SY-16. NULL: neither name can be had. */
static const char *choose_name(struct run *r, struct place *p, const struct found_skill *k)
{
    const char *plain = arena_z(r->a, k->name);
    const char *own = arena_printf(r->a, "%s-%s", plain, k->origin);
    bool alone = (size_t)map_get(&r->claims, k->name) == 1;

    if (alone && slot_of(p, plain) != SLOT_FOREIGN && !map_has(&p->kept, k->name))
        return plain;
    if (slot_of(p, own) != SLOT_FOREIGN && !map_has(&p->kept, str_of(own)))
        return own;
    say(r, p, SYNC_NOTE, path_join(r->a, p->path, own),
        "not made by symposium, and left as it is: the skill is not installed");
    return NULL;
}

/* False: it cannot be copied at all, and what is there of it is reaped. */
static bool update(struct run *r, const struct place *p, const struct found_skill *k,
                   const char *name)
{
    auto_close int source = open(k->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_close int slot = -1;
    struct skill_tree tree;
    struct error e = { 0 };
    bool ours = slot_of(p, name) == SLOT_OURS;

    if (ours)
        slot = openat(p->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (source >= 0 && slot >= 0 && is_fresh(r, slot, source)) {
        say(r, p, SYNC_UNCHANGED, path_join(r->a, p->path, name), "");
        return true;
    }
    if (source < 0)
        error_set(&e, ERR_SYS, "read");
    if (source < 0 || !skill_tree_read(&tree, r->a, source, &e)) {
        say(r, p, SYNC_NOTE, k->dir,
            arena_printf(r->a, "the skill is not installed: %s", e.msg));
        return false;
    }
    if (slot < 0 || !is_equal(r, &tree, source, slot)) {
        install(r, p, &tree, source, name);
        return true;
    }
    if (!r->job->dry_run)
        utimensat(slot, SKILL_MARKER, NULL, AT_SYMLINK_NOFOLLOW);
    say(r, p, SYNC_UNCHANGED, path_join(r->a, p->path, name), "");
    return true;
}

static void fill(struct run *r, struct place *p)
{
    for (size_t i = 0; i < r->what->active->n; i++) {
        const struct found_skill *k = &r->what->active->v[i].skill;
        const char *name;

        if (is_source(r, p, k))
            continue;
        name = choose_name(r, p, k);
        if (name && update(r, p, k, name))
            map_put(&p->kept, str_of(name), p);
    }
}

/* ---- reap ---- */

static bool is_empty(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return d && n == 2;
}

/* What a killed sync has left. Its name says that it was one. */
static void remove_left(struct run *r, const struct place *p, const char *name)
{
    if (r->job->dry_run)
        return;
    if (skill_is_marked(p->fd, name)
            ? !skill_remove_marked(p->fd, name)
            : is_empty(p->fd, name) && unlinkat(p->fd, name, AT_REMOVEDIR) != 0)
        log_debug("'%s/%s' cannot be removed: %s", p->path, name, strerror(errno));
}

static void remove_slot(struct run *r, const struct place *p, const char *name)
{
    char temp[TEMP_SIZE];

    if (r->job->dry_run) {
        say_done(r, p, name, "skill removed");
        return;
    }
    temp_name(temp);
    if (!move(p, name, temp)) {
        say(r, p, SYNC_ERROR, path_join(r->a, p->path, name),
            arena_printf(r->a, "remove: %s", strerror(errno)));
        return;
    }
    if (!skill_is_marked(p->fd, temp)) { /* somebody else's since */
        move(p, temp, name);
        return;
    }
    say_done(r, p, name, "skill removed");
    remove_left(r, p, temp);
}

static void reap(struct run *r, const struct place *p)
{
    bool keep = p->used && (r->what->incomplete || r->what->active->incomplete);
    int own = openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct strs names = { 0 };
    struct dirent *entry;

    while (d && (entry = readdir(d)) != NULL)
        ARENA_PUSH(r->a, &names) = arena_str(r->a, str_of(entry->d_name));
    if (d)
        closedir(d);
    else if (own >= 0)
        close(own);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.v[i].p;

        if (is_temp_name(name))
            remove_left(r, p, name);
        else if (!map_has(&p->kept, names.v[i]) && skill_is_marked(p->fd, name) && !keep)
            remove_slot(r, p, name);
    }
}

/* ---- the whole ---- */

static void claim_names(struct run *r)
{
    const struct active_skills *s = r->what->active;

    for (size_t i = 0; i < s->n; i++) {
        size_t n = (size_t)map_get(&r->claims, s->v[i].skill.name);

        map_put(&r->claims, s->v[i].skill.name, (void *)(n + 1));
    }
}

bool sync_skills_apply(const struct sync_job *job, const struct sync_skills *what,
                       struct sync_report *report)
{
    auto_arena a = ARENA;
    struct run r = { .a = &a, .job = job, .what = what, .report = report, .claims = MAP };

    if (!job->env->root)
        return true;
    r.root = open(job->env->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r.root < 0) {
        sync_report_addf(report, SYNC_ERROR, (struct str){ 0 }, "%s: %s", job->env->root,
                         strerror(errno));
        return false;
    }
    claim_names(&r);
    find_places(&r);
    for (size_t i = 0; i < r.places.n; i++)
        open_place(&r, &r.places.v[i]);
    for (size_t i = 0; i < r.places.n; i++) {
        struct place *p = &r.places.v[i];

        if (p->used && (p->fd >= 0 || job->dry_run))
            fill(&r, p);
        if (p->fd >= 0)
            reap(&r, p);
    }
    for (size_t i = 0; i < r.places.n; i++) {
        if (r.places.v[i].fd >= 0)
            close(r.places.v[i].fd);
        map_free(&r.places.v[i].kept);
    }
    map_free(&r.claims);
    close(r.root);
    return !r.failed;
}
