/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../plugins/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/rand.h"
#include "base/tree.h"
#include "sync/skill_copy.h"
#include "sync/skills.h"

/* A project "ws" and skills in "src", in one tree. */
struct desk {
    struct tree t;
    struct sync_env env;
    struct dirs dirs;
    struct sync_job job;
    struct active_skills active;
    struct sync_skills what;
    const char *report; /* of the last run, one line each */
};

static struct desk *desk_new(const char *agents)
{
    struct desk *d = NEW(struct desk);
    struct str rest = str_of(agents), one;

    d->t = tree_new();
    d->env =
        (struct sync_env){ .home = tree_path(&d->t, "home"), .root = tree_path(&d->t, "ws") };
    d->job = (struct sync_job){ .dirs = &d->dirs, .env = &d->env, .project = true };
    d->dirs.state = tree_path(&d->t, "state");
    d->what.active = &d->active;
    while (str_cut(rest, ' ', &one, &rest))
        ARENA_PUSH(&d->t.a, &d->job.agents) = one;
    if (rest.n)
        ARENA_PUSH(&d->t.a, &d->job.agents) = rest;
    tree_put(&d->t, "ws/", "");
    tree_put(&d->t, "home/", "");
    return d;
}

static void desk_free(struct desk *d)
{
    arena_free(&d->active.arena);
    tree_free(&d->t);
    free(d);
}

static void put_skill(struct desk *d, const char *dir, const char *name)
{
    tree_put(&d->t, arena_printf(&d->t.a, "%s/SKILL.md", dir),
             arena_printf(&d->t.a, "---\nname: %s\ndescription: d\n---\n", name));
}

/* The skills that apply: those found in these directories, separated by blanks. */
static void activate(struct desk *d, const char *dirs)
{
    struct str rest = str_of(dirs), one;

    d->active.n = 0;
    while (rest.n) {
        struct found_skills found = { 0 };
        struct skill_place p = { .home = d->t.root };

        if (!str_cut(rest, ' ', &one, &rest)) {
            one = rest;
            rest.n = 0;
        }
        p.dir = tree_path(&d->t, arena_z(&d->t.a, one));
        skill_search(&d->active.arena, &p, &found);
        for (size_t i = 0; i < found.n; i++)
            ARENA_PUSH(&d->active.arena, &d->active) =
                (struct active_skill){ found.v[i], NULL };
    }
}

static bool run(struct desk *d)
{
    struct sync_report r = SYNC_REPORT(&d->t.a);
    auto_buf text = BUF(1 << 20);
    bool ok = sync_skills_apply(&d->job, &d->what, &r);

    for (size_t i = 0; i < r.n; i++) {
        sync_line_put_text(&text, &r.v[i]);
        buf_addc(&text, '\n');
    }
    d->report = arena_z(&d->t.a, buf_str(&text));
    assert_true(ok == !r.failed);
    return ok;
}

static bool exists(struct desk *d, const char *rel)
{
    struct stat st;

    return lstat(tree_path(&d->t, rel), &st) == 0;
}

static const char *content(struct desk *d, const char *rel)
{
    auto_buf b = BUF(1 << 20);

    return file_read(tree_path(&d->t, rel), &b, NULL) ? arena_z(&d->t.a, buf_str(&b)) : NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory, sorted, with blanks between. */
static const char *names_in(struct desk *d, const char *rel)
{
    DIR *dir = opendir(tree_path(&d->t, rel));
    struct dirent *entry;
    const char *v[100], *all = "";
    size_t n = 0;

    while (dir && (entry = readdir(dir)) && n < ARRAY_LEN(v))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            v[n++] = arena_z(&d->t.a, str_of(entry->d_name));
    if (dir)
        closedir(dir);
    qsort(v, n, sizeof *v, by_text);
    for (size_t i = 0; i < n; i++)
        all = arena_printf(&d->t.a, "%s%s%s", all, i ? " " : "", v[i]);
    return all;
}

static const char *origin(struct desk *d, size_t i)
{
    return d->active.v[i].skill.origin;
}

/* SY-12 */
static void each_agent_has_its_directory(void **state)
{
    static const struct {
        const char *agent, *dir;
    } cases[] = {
        { "claude", ".claude/skills" },    { "codex", ".agents/skills" },
        { "goose", ".agents/skills" },     { "opencode", ".agents/skills" },
        { "pi", ".agents/skills" },        { "copilot", ".agents/skills" },
        { "gemini", ".agents/skills" },    { "antigravity", ".agents/skills" },
        { "kiro", ".kiro/skills" },        { "cursor", NULL },
        { "claude kiro", ".kiro/skills" }, { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct desk *d = desk_new(cases[i].agent);

        put_skill(d, "src/a", "a");
        activate(d, "src");
        assert_true(run(d));
        if (cases[i].dir)
            assert_true(exists(d, arena_printf(&d->t.a, "ws/%s/a/SKILL.md", cases[i].dir)));
        else
            assert_string_equal(names_in(d, "ws"), "");
        assert_string_equal(names_in(d, "home"), "");
        desk_free(d);
    }
}

/* SY-12: the user's directories are not written, not even when the project is the home. */
static void a_home_directory_gets_no_skills(void **state)
{
    struct desk *d = desk_new("claude codex");

    (void)state;
    put_skill(d, "src/a", "a");
    put_skill(d, "home/.claude/skills/mine", "mine");
    tree_put(&d->t, "home/.claude/skills/mine/.symposium", "");
    activate(d, "src");
    d->env.root = d->env.home;
    assert_true(run(d));
    assert_has(d->report, "the user's own directory");
    assert_string_equal(names_in(d, "home"), ".claude");
    assert_true(exists(d, "home/.claude/skills/mine/SKILL.md"));
    d->env.root = NULL;
    assert_true(run(d));
    desk_free(d);
}

static mode_t mode_of(struct desk *d, const char *rel)
{
    struct stat st;

    assert_int_equal(lstat(tree_path(&d->t, rel), &st), 0);
    return st.st_mode & 07777;
}

/* SY-14 */
static void the_whole_directory_is_copied(void **state)
{
    struct desk *d = desk_new("claude");
    char target[100] = "";

    (void)state;
    put_skill(d, "src/a", "a");
    tree_put(&d->t, "src/a/scripts/deep/run.sh", "#!/bin/sh\n");
    tree_put(&d->t, "src/a/.hidden", "h");
    tree_put(&d->t, "src/a/empty/", "");
    tree_put(&d->t, "src/a/.gitignore", "target\n");
    tree_put(&d->t, "src/a/sub/.gitignore", "x\n");
    tree_put(&d->t, "src/a/.git/config", "secret");
    chmod(tree_path(&d->t, "src/a/scripts/deep/run.sh"), 04755);
    chmod(tree_path(&d->t, "src/a/.hidden"), 0440);
    assert_int_equal(symlink("scripts/deep", tree_path(&d->t, "src/a/link")), 0);
    assert_int_equal(symlink("../SKILL.md", tree_path(&d->t, "src/a/scripts/up")), 0);
    activate(d, "src");
    assert_true(run(d));
    assert_has(d->report, "claude: written ");
    assert_has(d->report, "/ws/.claude/skills/a: skill installed\n");
    assert_string_equal(names_in(d, "ws/.claude/skills/a"),
                        ".gitignore .hidden .symposium SKILL.md empty link scripts sub");
    assert_string_equal(content(d, "ws/.claude/skills/a/.gitignore"), "*\n");
    assert_string_equal(content(d, "ws/.claude/skills/a/.symposium"), "");
    assert_string_equal(content(d, "ws/.claude/skills/a/sub/.gitignore"), "x\n");
    assert_string_equal(content(d, "ws/.claude/skills/a/link/run.sh"), "#!/bin/sh\n");
    assert_true(readlink(tree_path(&d->t, "ws/.claude/skills/a/scripts/up"), target, 99) > 0);
    assert_string_equal(target, "../SKILL.md");
    assert_int_equal(mode_of(d, "ws/.claude/skills/a/scripts/deep/run.sh"), 0755);
    assert_int_equal(mode_of(d, "ws/.claude/skills/a/.hidden"), 0440);
    assert_string_equal(names_in(d, "ws/.claude/skills"), "a");
    desk_free(d);
}

/* SY-14 */
static void what_cannot_be_copied_is_named_and_not_installed(void **state)
{
    static const struct {
        const char *target, *note;
    } cases[] = {
        { "../../b/SKILL.md", "'x/y' leads out of" },
        { "../../../../../etc/passwd", "'x/y' leads out of" },
        { "/etc/passwd", "'x/y' leads out of" },
        { "nowhere", "'x/y' leads nowhere" },
        { "y", "'x/y' leads out of" }, /* a circle */
        { NULL, "'x/y' is neither file, directory nor link" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct desk *d = desk_new("claude");
        const char *path = tree_path(&d->t, "src/a/x/y");

        put_skill(d, "src/a", "a");
        put_skill(d, "src/b", "b");
        activate(d, "src");
        assert_true(run(d));
        tree_put(&d->t, "src/a/x/", "");
        assert_int_equal(cases[i].target ? symlink(cases[i].target, path) : mkfifo(path, 0600),
                         0);
        assert_true(run(d));
        assert_has(d->report, "/src/a: the skill is not installed: ");
        assert_has(d->report, cases[i].note);
        assert_has(d->report, "/skills/a: skill removed");
        assert_string_equal(names_in(d, "ws/.claude/skills"), "b");
        desk_free(d);
    }
}

/* SY-15 */
static void what_is_not_ours_is_never_touched(void **state)
{
    struct desk *d = desk_new("claude codex");
    const char *own;

    (void)state;
    put_skill(d, "src/a", "a");
    put_skill(d, "src/f", "f");
    tree_put(&d->t, "ws/.claude/skills/a/SKILL.md", "mine");
    tree_put(&d->t, "ws/.claude/skills/f", "a file");
    tree_put(&d->t, "ws/.claude/skills/other/notes", "mine");
    tree_put(&d->t, "ws/.claude/skills/other/.symposium", "no marker of ours: that is empty");
    activate(d, "src");
    own = arena_printf(&d->t.a, "a a-%s f f-%s other", origin(d, 0), origin(d, 1));
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), own);
    assert_string_equal(content(d, "ws/.claude/skills/a/SKILL.md"), "mine");
    assert_string_equal(content(d, "ws/.claude/skills/f"), "a file");

    /* Both names taken. */
    tree_put(&d->t, arena_printf(&d->t.a, "ws/.agents/skills/a-%s/SKILL.md", origin(d, 0)),
             "mine");
    tree_put(&d->t, "ws/.agents/skills/a/SKILL.md", "mine");
    unlink(tree_path(&d->t, "ws/.agents/skills/a/.symposium"));
    assert_true(run(d));
    assert_has(d->report, "not made by symposium");
    assert_string_equal(content(d, "ws/.agents/skills/a/SKILL.md"), "mine");

    activate(d, "");
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "a f other");
    desk_free(d);
}

/* SY-15 */
static void a_skill_that_the_agent_reads_already_is_skipped(void **state)
{
    struct desk *d = desk_new("claude codex");

    (void)state;
    put_skill(d, "ws/.agents/skills/own", "own");
    put_skill(d, "ws/.agents/skills/dir", "another-name");
    put_skill(d, "ws/lib/linked", "linked");
    assert_int_equal(symlink("../../lib/linked", tree_path(&d->t, "ws/.agents/skills/linked")),
                     0);
    activate(d, "ws/.agents/skills");
    assert_int_equal(d->active.n, 3);
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.agents/skills"), "dir linked own");
    assert_string_equal(names_in(d, "ws/.agents/skills/own"), "SKILL.md");
    assert_string_equal(names_in(d, "ws/.claude/skills"), "another-name linked own");
    desk_free(d);
}

/* SY-16, SY-13 */
static void two_of_one_name_get_their_origin_and_lose_it_again(void **state)
{
    struct desk *d = desk_new("claude");
    const char *both;

    (void)state;
    put_skill(d, "one/x", "n");
    put_skill(d, "two/x", "n");
    tree_put(&d->t, "one/x/file", "1");
    tree_put(&d->t, "two/x/file", "2");
    activate(d, "one");
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "n");

    activate(d, "one two"); /* demotion */
    both = strcmp(origin(d, 0), origin(d, 1)) < 0
               ? arena_printf(&d->t.a, "n-%s n-%s", origin(d, 0), origin(d, 1))
               : arena_printf(&d->t.a, "n-%s n-%s", origin(d, 1), origin(d, 0));
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), both);
    assert_string_equal(
        content(d, arena_printf(&d->t.a, "ws/.claude/skills/n-%s/file", origin(d, 1))), "2");

    activate(d, "two"); /* promotion */
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "n");
    assert_string_equal(content(d, "ws/.claude/skills/n/file"), "2");

    activate(d, "one"); /* and its place to the other, within the debounce */
    d->what.debounce_secs = 1000;
    assert_true(run(d));
    assert_string_equal(content(d, "ws/.claude/skills/n/file"), "1");
    desk_free(d);
}

static struct timespec marker_time(struct desk *d)
{
    struct stat st;

    assert_int_equal(stat(tree_path(&d->t, "ws/.claude/skills/a/.symposium"), &st), 0);
    return st.st_mtim;
}

static void age_marker(struct desk *d, time_t secs)
{
    struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - secs } };

    assert_int_equal(
        utimensat(AT_FDCWD, tree_path(&d->t, "ws/.claude/skills/a/.symposium"), t, 0), 0);
}

/* SY-17 */
static void a_young_copy_is_not_compared_an_old_one_is(void **state)
{
    struct desk *d = desk_new("claude");
    struct timespec before;

    (void)state;
    put_skill(d, "src/a", "a");
    tree_put(&d->t, "src/a/f", "1");
    activate(d, "src");
    d->what.debounce_secs = 60;
    assert_true(run(d));
    tree_put(&d->t, "src/a/f", "2");
    assert_true(run(d));
    assert_string_equal(content(d, "ws/.claude/skills/a/f"), "1");
    assert_has(d->report, "unchanged");
    age_marker(d, 61);
    assert_true(run(d));
    assert_string_equal(content(d, "ws/.claude/skills/a/f"), "2");
    assert_has(d->report, "skill brought up to date");

    age_marker(d, 61); /* equal: only the marker is touched */
    before = marker_time(d);
    assert_true(run(d));
    assert_has(d->report, "unchanged");
    assert_true(marker_time(d).tv_sec > before.tv_sec);

    age_marker(d, -1000); /* a clock that was set back does not stop it */
    tree_put(&d->t, "src/a/f", "3");
    assert_true(run(d));
    assert_string_equal(content(d, "ws/.claude/skills/a/f"), "3");
    desk_free(d);
}

/* SY-17 */
static void every_difference_is_seen(void **state)
{
    static const char *const changes[] = {
        "echo x >> src/a/f",
        "echo y > src/a/f",
        "rm src/a/f",
        "chmod 755 src/a/f",
        "touch src/a/new",
        "mkdir src/a/newdir",
        "rm src/a/f; mkdir src/a/f",
        "chmod 755 src/a/sub",
        "ln -sf sub/g src/a/l",
        "rm src/a/l; cp src/a/f src/a/l",
        "rm -r src/a/sub",
        "echo z > ws/.claude/skills/a/f",
        "touch ws/.claude/skills/a/extra",
        "rm ws/.claude/skills/a/SKILL.md",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct desk *d = desk_new("claude");
        const char *diff;

        put_skill(d, "src/a", "a");
        tree_put(&d->t, "src/a/f", "x\n");
        tree_put(&d->t, "src/a/sub/g", "g");
        assert_int_equal(symlink("f", tree_path(&d->t, "src/a/l")), 0);
        activate(d, "src");
        assert_true(run(d));
        assert_true(run(d));
        assert_has(d->report, "unchanged");
        assert_int_equal(system(arena_printf(&d->t.a, "cd %s && %s", d->t.root, changes[i])),
                         0);
        run(d);
        if (!strcmp(changes[i], "rm src/a/f")) { /* the link leads nowhere then */
            assert_has(d->report, "leads nowhere");
        } else {
            assert_has(d->report, "skill brought up to date");
            diff = arena_printf(&d->t.a,
                                "cd %s && diff -r --no-dereference -x .symposium -x .gitignore "
                                "src/a ws/.claude/skills/a >/dev/null",
                                d->t.root);
            assert_int_equal(system(diff), 0);
        }
        desk_free(d);
    }
}

/* SY-18 */
static void what_nothing_brings_any_more_is_removed(void **state)
{
    struct desk *d = desk_new("claude codex kiro");

    (void)state;
    put_skill(d, "src/a", "a");
    put_skill(d, "src/b", "b");
    tree_put(&d->t, "src/b/read/only", "");
    chmod(tree_path(&d->t, "src/b/read"), 0500);
    activate(d, "src");
    assert_true(run(d));
    activate(d, "src/a");
    assert_true(run(d));
    assert_has(d->report, "/ws/.agents/skills/b: skill removed\n");
    assert_string_equal(names_in(d, "ws/.agents/skills"), "a");
    d->job.agents.n = 2; /* kiro is no longer configured */
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.kiro/skills"), "");
    d->job.agents.n = 0;
    d->what.incomplete = true;
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "");
    assert_string_equal(names_in(d, "ws/.agents/skills"), "");
    desk_free(d);
}

/* A package manager that fails takes no skill away from an agent at work. */
static void nothing_is_removed_while_not_everything_is_known(void **state)
{
    struct desk *d = desk_new("claude");

    (void)state;
    put_skill(d, "src/a", "a");
    activate(d, "src");
    assert_true(run(d));
    activate(d, "");
    d->what.incomplete = true;
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "a");
    d->what.incomplete = false;
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "");
    desk_free(d);
}

/* SY-11 */
static void a_dry_run_writes_nothing(void **state)
{
    struct desk *d = desk_new("claude codex");

    (void)state;
    put_skill(d, "src/a", "a");
    activate(d, "src");
    d->job.dry_run = true;
    assert_true(run(d));
    assert_has(d->report, "claude: would write ");
    assert_has(d->report, "/ws/.claude/skills/a: skill installed");
    assert_string_equal(names_in(d, "ws"), "");
    d->job.dry_run = false;
    assert_true(run(d));
    tree_put(&d->t, "src/a/f", "");
    put_skill(d, "src/b", "b");
    activate(d, "src/a");
    d->job.dry_run = true;
    assert_true(run(d));
    assert_has(d->report, "skill brought up to date");
    assert_false(exists(d, "ws/.claude/skills/a/f"));
    activate(d, "src/b");
    assert_true(run(d));
    assert_has(d->report, "/ws/.claude/skills/a: skill removed");
    assert_string_equal(names_in(d, "ws/.claude/skills"), "a");
    desk_free(d);
}

static void a_directory_with_two_names_is_one(void **state)
{
    struct desk *d = desk_new("claude codex");

    (void)state;
    put_skill(d, "src/a", "a");
    activate(d, "src");
    tree_put(&d->t, "ws/.claude/", "");
    tree_put(&d->t, "ws/.agents/skills/", "");
    assert_int_equal(symlink("../.agents/skills", tree_path(&d->t, "ws/.claude/skills")), 0);
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.agents/skills"), "a");
    d->job.agents.n = 1;
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.agents/skills"), "a");
    desk_free(d);
}

static void a_directory_that_leads_out_is_left_alone(void **state)
{
    struct desk *d = desk_new("claude");

    (void)state;
    put_skill(d, "src/a", "a");
    tree_put(&d->t, "elsewhere/marked/.symposium", "");
    tree_put(&d->t, "ws/.claude/", "");
    assert_int_equal(symlink("../../elsewhere", tree_path(&d->t, "ws/.claude/skills")), 0);
    activate(d, "src");
    assert_true(run(d));
    assert_has(d->report, "leads out of the project");
    assert_string_equal(names_in(d, "elsewhere"), "marked");
    desk_free(d);
}

static void a_read_only_directory_is_an_error_for_it_alone(void **state)
{
    struct desk *d;

    (void)state;
    if (geteuid() == 0)
        skip();
    d = desk_new("claude codex");
    put_skill(d, "src/a", "a");
    tree_put(&d->t, "ws/.claude/skills/", "");
    chmod(tree_path(&d->t, "ws/.claude/skills"), 0500);
    activate(d, "src");
    assert_false(run(d));
    assert_string_equal(names_in(d, "ws/.agents/skills"), "a");
    chmod(tree_path(&d->t, "ws/.claude/skills"), 0700);
    desk_free(d);
}

/* ---- killed ---- */

#define FILES 12

static void put_version(struct desk *d, int version)
{
    for (int i = 0; i < FILES; i++)
        tree_put(&d->t, arena_printf(&d->t.a, "src/a/d%d/f", i),
                 arena_printf(&d->t.a, "version %d", version));
}

/* Every entry of the skills directory is whole, or marked, or empty. */
static void check_left(struct desk *d)
{
    int parent = open(tree_path(&d->t, "ws/.claude/skills"), O_RDONLY | O_DIRECTORY);
    struct str rest = str_of(names_in(d, "ws/.claude/skills")), name;
    const char *first = content(d, "ws/.claude/skills/a/d0/f");

    while (rest.n) {
        if (!str_cut(rest, ' ', &name, &rest)) {
            name = rest;
            rest.n = 0;
        }
        if (!str_is(name, "mine") && !skill_is_marked(parent, arena_z(&d->t.a, name)))
            assert_string_equal(
                names_in(d, arena_printf(&d->t.a, "ws/.claude/skills/%.*s", STR_F(name))), "");
    }
    close(parent);
    assert_string_equal(content(d, "ws/.claude/skills/mine/f"), "mine");
    if (!exists(d, "ws/.claude/skills/a"))
        return;
    assert_non_null(first);
    for (int i = 1; i < FILES; i++)
        assert_string_equal(content(d, arena_printf(&d->t.a, "ws/.claude/skills/a/d%d/f", i)),
                            first);
    assert_true(exists(d, "ws/.claude/skills/a/SKILL.md"));
}

/* One is killed anywhere; in the next round the copy is removed, so that this is hit too. */
static void killed_at_any_moment_a_slot_holds_old_or_new(void **state)
{
    struct desk *d = desk_new("claude");

    (void)state;
    put_skill(d, "src/a", "a");
    tree_put(&d->t, "ws/.claude/skills/mine/f", "mine");
    for (int i = 0; i < 150; i++) {
        pid_t pid;

        put_version(d, i);
        activate(d, i % 3 == 2 ? "" : "src");
        pid = fork();
        if (pid == 0) {
            run(d);
            _exit(0);
        }
        usleep((useconds_t)(rand_u64() % 6000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        check_left(d);
    }
    activate(d, "src");
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "a mine");
    assert_string_equal(content(d, "ws/.claude/skills/a/d3/f"), "version 149");
    desk_free(d);
}

/* Two at a time take turns; neither sees the other's half. */
static void syncs_at_the_same_time_take_turns(void **state)
{
    struct desk *d = desk_new("claude codex");
    pid_t pid[4];

    (void)state;
    for (int i = 0; i < 5; i++)
        put_skill(d, arena_printf(&d->t.a, "src/%d", i), arena_printf(&d->t.a, "s%d", i));
    for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            bool ok = true;

            for (int k = 0; k < 20 && ok; k++) {
                activate(d, k % 2 ? "src/1 src/3" : "src");
                ok = run(d);
            }
            if (!ok)
                print_error("%s\n", d->report);
            _exit(!ok);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
        int status = -1;

        waitpid(pid[i], &status, 0);
        assert_int_equal(status, 0);
    }
    activate(d, "src");
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"), "s0 s1 s2 s3 s4");
    desk_free(d);
}

/* A directory of the user's that has the form of a temp name is not emptied. */
static void only_marked_or_empty_leftovers_are_removed(void **state)
{
    struct desk *d = desk_new("claude");

    (void)state;
    tree_put(&d->t, "ws/.claude/skills/.symposium-0123456789abcdef.tmp/f", "");
    tree_put(&d->t, "ws/.claude/skills/.symposium-0123456789abcde0.tmp/", "");
    tree_put(&d->t, "ws/.claude/skills/.symposium-0123456789abcde1.tmp/.symposium", "");
    tree_put(&d->t, "ws/.claude/skills/.symposium-0123456789abcde1.tmp/x/y", "");
    tree_put(&d->t, "ws/.claude/skills/.symposium-zzzz.tmp/", "");
    assert_true(run(d));
    assert_string_equal(names_in(d, "ws/.claude/skills"),
                        ".symposium-0123456789abcdef.tmp .symposium-zzzz.tmp");
    desk_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_agent_has_its_directory),
        cmocka_unit_test(a_home_directory_gets_no_skills),
        cmocka_unit_test(the_whole_directory_is_copied),
        cmocka_unit_test(what_cannot_be_copied_is_named_and_not_installed),
        cmocka_unit_test(what_is_not_ours_is_never_touched),
        cmocka_unit_test(a_skill_that_the_agent_reads_already_is_skipped),
        cmocka_unit_test(two_of_one_name_get_their_origin_and_lose_it_again),
        cmocka_unit_test(a_young_copy_is_not_compared_an_old_one_is),
        cmocka_unit_test(every_difference_is_seen),
        cmocka_unit_test(what_nothing_brings_any_more_is_removed),
        cmocka_unit_test(nothing_is_removed_while_not_everything_is_known),
        cmocka_unit_test(a_dry_run_writes_nothing),
        cmocka_unit_test(a_directory_with_two_names_is_one),
        cmocka_unit_test(a_directory_that_leads_out_is_left_alone),
        cmocka_unit_test(a_read_only_directory_is_an_error_for_it_alone),
        cmocka_unit_test(killed_at_any_moment_a_slot_holds_old_or_new),
        cmocka_unit_test(syncs_at_the_same_time_take_turns),
        cmocka_unit_test(only_marked_or_empty_leftovers_are_removed),
    };

    umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
