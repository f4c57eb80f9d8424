/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Paths beneath roots against a model. At the start some trees full of links are made, in
 * memory where the machine has such a place, each with the same tree as a table. An input is an
 * operation, a tree and a path; what access.c finds, with openat2 and without, must be what the
 * model finds by walking its table: the same inode, or the same refusal.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "servers/access.h"

#define TREES      24
#define NODES      48
#define LINKS      40
#define PIECES_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* ---- the trees ---- */

enum { TOP, IN, TWO, OUT, ALIAS, FIRST_RANDOM };

struct node {
    int up;
    char name[8];
    char kind;                   /* 'd', 'f', 'l', 'p' (a FIFO) */
    char target[128], path[128]; /* spelled out */
    ino_t ino;
};

struct tree {
    struct node v[NODES];
    int n;
    char place[64]; /* of TOP */
    struct access *access;
    int root[3]; /* the node of each root */
};

static struct tree trees[TREES];

static unsigned pick(unsigned below) /* the same trees every time */
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state % below);
}

static int child(const struct tree *t, int dir, struct str name)
{
    for (int i = 0; i < t->n; i++)
        if (i != TOP && t->v[i].up == dir && str_is(name, t->v[i].name))
            return i;
    return -1;
}

/* "@" is the tree's place. Into ret, as much as fits. */
static void spell(const struct tree *t, const char *text, char *ret, size_t size)
{
    for (size_t n = 0; n < size; text++) {
        const char *at = text[0] == '@' ? t->place : (char[]){ text[0], '\0' };

        n += (size_t)snprintf(ret + n, size - n, "%s", at);
        if (!*text)
            return;
    }
}

static void add(struct tree *t, int up, const char *name, char kind, const char *target)
{
    struct node *node = &t->v[t->n];
    struct stat st;

    if (t->n == NODES || t->v[up].kind != 'd' || child(t, up, str_of(name)) >= 0)
        return;
    *node = (struct node){ .up = up, .kind = kind };
    snprintf(node->name, sizeof node->name, "%s", name);
    snprintf(node->path, sizeof node->path, "%s/%s", t->v[up].path, name);
    spell(t, target, node->target, sizeof node->target);
    t->n++;
    if (kind == 'd')
        must(mkdir(node->path, 0755) == 0);
    else if (kind == 'l')
        must(symlink(node->target, node->path) == 0);
    else
        must(mknod(node->path, (kind == 'p' ? S_IFIFO : S_IFREG) | 0644, 0) == 0);
    must(lstat(node->path, &st) == 0);
    node->ino = st.st_ino;
}

static void random_target(char *ret, size_t size)
{
    static const char *const starts[] = { "",       "../",     "../../", "@/in/",    "@/two/",
                                          "@/out/", "@/in/a/", "/",      "@/alias/", "@/" };
    static const char *const parts[] = { "a", "b", "c", "..", ".", "in", "two", "a/", "b//c" };
    const char *start = starts[pick(10)];
    int n = snprintf(ret, size, "%s", start);

    for (unsigned i = pick(4); i && (size_t)n < size - 8; i--)
        n += snprintf(ret + n, size - (size_t)n, "%s%s", n && ret[n - 1] != '/' ? "/" : "",
                      parts[pick(9)]);
    if (n == 0)
        snprintf(ret, size, ".");
}

static void fill(struct tree *t)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    char target[48];

    for (int tries = 0; tries < 200 && t->n < NODES; tries++) {
        int up = IN + (int)pick((unsigned)t->n - IN);

        random_target(target, sizeof target);
        add(t, up, names[pick(5)], "ddllllfp"[pick(8)], target);
    }
}

/* The roots: in; two, called alias; and every second time in/a, a root within a root. */
static void open_tree(struct tree *t, bool nested)
{
    int a = child(t, IN, STR("a"));
    const char *dirs[] = { t->v[IN].path, t->v[ALIAS].path, nested ? t->v[a].path : NULL };

    t->access = access_new(dirs, nested ? 3 : 2, false, NULL, NULL);
    must(t->access && t->access->n == (nested ? 3u : 2u));
    t->root[0] = IN, t->root[1] = TWO, t->root[2] = nested ? a : -1;
}

static char base[48];

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    return remove(path);
}

static void clean_up(void)
{
    nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_trees(void)
{
    snprintf(base, sizeof base, "%s/symposium-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    must(mkdtemp(base) != NULL);
    atexit(clean_up);
    for (int i = 0; i < TREES; i++) {
        struct tree *t = &trees[i];
        struct stat st;

        snprintf(t->place, sizeof t->place, "%s/%d", base, i);
        must(mkdir(t->place, 0755) == 0 && stat(t->place, &st) == 0);
        t->v[t->n] = (struct node){ .kind = 'd', .ino = st.st_ino };
        snprintf(t->v[t->n++].path, sizeof t->v->path, "%s", t->place);
        add(t, TOP, "in", 'd', "");
        add(t, TOP, "two", 'd', "");
        add(t, TOP, "out", 'd', "");
        add(t, TOP, "alias", 'l', "two");
        if (i % 2)
            add(t, IN, "a", 'd', "");
        fill(t);
        open_tree(t, i % 2);
    }
}

/* ---- the model ---- */

enum verdict {
    FOUND,
    DENIED,
    MISSING, /* only the last component is */
    NO_PARENT,
    NOT_DIR,
    IS_DIR,
    TOO_MANY,
    SPECIAL,
};

enum goal { FILE_ITSELF, ENTRY, TARGET };

struct spot {
    const struct tree *t;
    enum goal goal;
    int root;            /* -1: outside, at `text` */
    int node;            /* -1: a missing last component */
    char text[PATH_MAX]; /* "" is "/" */
    int dir;             /* the last component's directory, -1 when it was reached otherwise */
    char name[16];
    int links;
};

static void enter(struct spot *s)
{
    for (int i = 0; i < 3 && s->root < 0; i++)
        if (s->t->root[i] >= 0 && strcmp(s->text, s->t->v[s->t->root[i]].path) == 0)
            s->root = i;
    if (s->root < 0 && strcmp(s->text, s->t->v[ALIAS].path) == 0)
        s->root = 1;
    if (s->root >= 0)
        s->node = s->t->root[s->root];
}

static void step_up(struct spot *s)
{
    char *slash;

    if (s->root >= 0 && s->node != s->t->root[s->root]) {
        s->node = s->t->v[s->node].up;
        return;
    }
    if (s->root >= 0)
        snprintf(s->text, sizeof s->text, "%s", s->t->v[s->node].path);
    s->root = -1;
    slash = strrchr(s->text, '/');
    if (slash)
        *slash = '\0';
    enter(s);
}

static enum verdict model_path(struct spot *s, const char *path, bool last);

/* `last`: nothing comes after this name, not even a slash. */
static enum verdict model_name(struct spot *s, struct str name, bool last)
{
    const struct node *v = s->t->v;
    int dir = s->node, found;

    if (s->root < 0) {
        size_t n = strlen(s->text);

        snprintf(s->text + n, sizeof s->text - n, "/%.*s", STR_F(name));
        enter(s);
        return FOUND;
    }
    found = child(s->t, dir, name);
    if (found < 0 && !(last && s->goal != FILE_ITSELF))
        return last ? MISSING : NO_PARENT;
    if (found >= 0 && v[found].kind == 'l' && !(last && s->goal == ENTRY))
        return ++s->links > LINKS ? TOO_MANY : model_path(s, v[found].target, last);
    if (found >= 0 && v[found].kind != 'd' && !last)
        return NOT_DIR;
    s->node = found;
    if (last) {
        s->dir = dir;
        snprintf(s->name, sizeof s->name, "%.*s", STR_F(name));
    }
    return FOUND;
}

static enum verdict model_path(struct spot *s, const char *path, bool last)
{
    struct str rest = str_of(path), name;
    enum verdict verdict = FOUND;

    if (str_starts(rest, STR("/"))) {
        s->root = -1;
        s->text[0] = '\0';
    }
    while (rest.n && verdict == FOUND) {
        bool more = str_cut(rest, '/', &name, &rest);

        if (!more)
            name = rest, rest.n = 0;
        if (str_is(name, ".."))
            step_up(s);
        else if (name.n && !str_is(name, "."))
            verdict = model_name(s, name, last && !more);
    }
    return verdict;
}

/* The path as text: cleaned, then the longest root. False when it lies in none. */
static bool model_locate(struct arena *a, const struct tree *t, const char *asked,
                         struct spot *s, const char **ret_rel)
{
    const char *names[] = { t->v[IN].path, t->v[TWO].path,
                            t->root[2] >= 0 ? t->v[t->root[2]].path : NULL, t->v[ALIAS].path };
    struct str part,
        rest = str_of(asked[0] == '/' ? asked : arena_printf(a, "%s/%s", names[0], asked));
    char clean[PATH_MAX] = "";
    size_t best = 0;

    while (rest.n) {
        if (!str_cut(rest, '/', &part, &rest))
            part = rest, rest.n = 0;
        if (str_is(part, ".."))
            *(strrchr(clean, '/') ? strrchr(clean, '/') : clean) = '\0';
        else if (part.n && !str_is(part, "."))
            snprintf(clean + strlen(clean), sizeof clean - strlen(clean), "/%.*s", STR_F(part));
    }
    for (int i = 0; i < 4; i++) {
        size_t n = names[i] ? strlen(names[i]) : 0;

        if (n <= best || strncmp(clean, names[i], n) != 0 || (clean[n] && clean[n] != '/'))
            continue;
        best = n;
        s->root = i == 3 ? 1 : i;
        *ret_rel = arena_z(a, str_of(clean[n] ? clean + n + 1 : ""));
    }
    s->node = best ? t->root[s->root] : -1;
    return best > 0;
}

static enum verdict model(struct arena *a, const char *asked, struct spot *s, bool content)
{
    struct str text = str_of(asked);
    bool directory = str_ends(text, STR("/")) || str_ends(text, STR("/.")) || str_is(text, ".");
    const char *rel;
    enum verdict verdict;
    char kind;

    if (!*asked)
        return SPECIAL;
    if (!model_locate(a, s->t, asked, s, &rel))
        return DENIED;
    if (s->goal != FILE_ITSELF && !*rel)
        return DENIED;
    verdict = model_path(s, rel, true);
    if (verdict != FOUND)
        return verdict;
    if (s->root < 0)
        return DENIED;
    if (s->goal != FILE_ITSELF && s->dir < 0)
        return IS_DIR;
    kind = s->node >= 0 ? s->t->v[s->node].kind : 0;
    if (directory && kind && kind != 'd')
        return NOT_DIR;
    if (directory && !kind && s->goal == TARGET)
        return IS_DIR;
    return content && kind == 'p' ? SPECIAL : FOUND;
}

/* ---- both ---- */

static enum verdict verdict_of(const struct error *e)
{
    switch (e->kind) {
    case ERR_DENIED:
        return DENIED;
    case ERR_NOT_FOUND:
        return NO_PARENT;
    case ERR_INVALID:
        return SPECIAL;
    default:
        must(e->kind == ERR_SYS);
    }
    switch (e->sys) {
    case ENOENT:
        return MISSING;
    case ENOTDIR:
        return NOT_DIR;
    case EISDIR:
        return IS_DIR;
    default:
        must(e->sys == ELOOP);
        return TOO_MANY;
    }
}

static void check_open(struct arena *a, const struct tree *t, const char *path, bool content)
{
    struct spot s = { .t = t, .goal = FILE_ITSELF, .node = -1, .dir = -1 };
    enum verdict want = model(a, path, &s, content), got = FOUND;
    struct access_at at;
    struct error e;
    struct stat st;
    int fd = -1;

    if (access_locate(t->access, a, str_of(path), &at, &e))
        fd = access_open(t->access, &at, content ? O_RDONLY : O_PATH, &e);
    got = fd >= 0 ? FOUND : verdict_of(&e);
    must(got == want);
    if (fd < 0)
        return;
    must(fstat(fd, &st) == 0 && st.st_ino == t->v[s.node].ino);
    close(fd);
}

static void check_entry(struct arena *a, const struct tree *t, const char *path, bool follow)
{
    struct spot s = { .t = t, .goal = follow ? TARGET : ENTRY, .node = -1, .dir = -1 };
    enum verdict want = model(a, path, &s, false), got = FOUND;
    struct access_entry entry = { .dir = -1 };
    struct access_at at;
    struct error e;
    struct stat st;

    if (!access_locate(t->access, a, str_of(path), &at, &e) ||
        !access_entry(t->access, a, &at, follow, &entry, &e))
        got = verdict_of(&e);
    must(got == want);
    if (got != FOUND) {
        must(entry.dir < 0);
        return;
    }
    must(fstat(entry.dir, &st) == 0 && st.st_ino == t->v[s.dir].ino);
    must(s.node >= 0 || str_is(str_of(s.name), entry.name) ||
         strlen(entry.name) >= sizeof s.name);
    if (s.node >= 0)
        must(fstatat(entry.dir, entry.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
             st.st_ino == t->v[s.node].ino);
    close(entry.dir);
}

/* Each byte is a piece of the path. */
static const char *read_path(struct arena *a, const struct tree *t, struct str pieces)
{
    static const char *const words[] = { "a",    "b",     "c",     "d",        "e",
                                         "/",    "/",     "/",     "..",       ".",
                                         "/../", "@/in/", "@",     "@/two/",   "in",
                                         "two",  "@/a/",  "@/out", "@/alias/", "~" };
    char path[PIECES_MAX * 8 + 1] = "", *spelled = arena_alloc(a, PATH_MAX);

    for (size_t i = 0; i < pieces.n; i++)
        strcat(path, words[(uint8_t)pieces.p[i] % ARRAY_LEN(words)]);
    spell(t, path, spelled, PATH_MAX);
    return spelled;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    const struct tree *t;
    const char *path;

    if (!trees[0].n) {
        unsetenv("HOME");
        make_trees();
    }
    if (size < 3 || size > PIECES_MAX)
        return 0;
    t = &trees[data[1] % TREES];
    path = read_path(&a, t, (struct str){ (const char *)data + 2, size - 2 });
    for (int without = 0; without < 2; without++) {
        access_without_openat2(without);
        if (data[0] % 2)
            check_open(&a, t, path, data[0] & 2);
        else
            check_entry(&a, t, path, data[0] & 2);
    }
    return 0;
}
