/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/skill_search.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "text/json.h"

#define MAX_WARNINGS 100 /* of one search; more would not be read */

struct search {
    struct arena *a;
    const struct skill_place *place;
    struct found_skills *ret;
    int home;
    struct map seen; /* "dev:ino" of directories: links may lead round in circles */
    size_t entries, bytes, warnings, skills;
    bool full;
};

__attribute__((format(printf, 2, 3))) static void warn(struct search *s, const char *fmt, ...)
{
    char line[ERROR_MSG_MAX + PATH_MAX];
    va_list ap;

    if (s->warnings++ >= MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    ARENA_PUSH(s->a, &s->ret->warnings) = arena_str(s->a, str_of(line));
}

static void stop(struct search *s, const char *where, const char *what, size_t max)
{
    if (!s->full)
        warn(s, "%s: more than %zu %s; the rest is left out", where, max, what);
    s->full = true;
}

bool skill_name_check(struct str name, struct error *e)
{
    const char *why = NULL;

    if (name.n > SKILL_DIR_NAME_MAX)
        return error_set(e, ERR_LIMIT, "its name is longer than %d bytes", SKILL_DIR_NAME_MAX);
    if (str_has_control(name) || str_find_char(name, '/') != SIZE_MAX)
        why = "it holds a slash or a control character";
    if (!name.n || name.p[0] == '.')
        why = "it is empty or begins with a dot";
    else if (!utf8_valid(name))
        why = "it is no valid UTF-8";
    return !why ||
           error_set(e, ERR_INVALID, "its name cannot be the name of a directory: %s", why);
}

/* ---- one skill ---- */

/* SY-13 */
static void origin_of(const char *file, char ret[SKILL_ORIGIN_SIZE])
{
    auto_buf json = BUF((size_t)8 * PATH_MAX);
    char hex[SHA256_HEX_SIZE];
    struct jw w = jw_to(&json);

    jw_str(&w, str_of(file));
    sha256_hex(buf_str(&json), hex);
    memcpy(ret, hex, SKILL_ORIGIN_SIZE - 1);
    ret[SKILL_ORIGIN_SIZE - 1] = '\0';
}

/* Through the descriptor, so that the path told is the path read. */
static bool read_file(int dir, struct buf *out, const char **ret_path, struct arena *a,
                      struct error *e)
{
    auto_close int fd = open_beneath(dir, SKILL_FILE_NAME, O_PATH);
    struct error why;
    char link[64];
    struct stat st;

    if (fd < 0 && (errno == EXDEV || errno == ELOOP))
        return error_set(e, ERR_DENIED, "it leads out of the skill's directory");
    if (fd < 0 || fstat(fd, &st) != 0)
        return error_set(e, ERR_SYS, "it cannot be read");
    if (!S_ISREG(st.st_mode))
        return error_set(e, ERR_INVALID, "it is no regular file");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    *ret_path = path_real(a, link, e);
    if (!*ret_path)
        return false;
    if (file_read(link, out, &why))
        return true;
    if (why.kind == ERR_LIMIT)
        return error_set(e, ERR_LIMIT, "it has more than %zu bytes", out->max);
    errno = why.sys;
    return error_set(e, ERR_SYS, "it cannot be read");
}

static bool has_front_matter(struct str text)
{
    return str_starts(utf8_skip_bom(text), STR("---"));
}

static bool parse(struct search *s, struct str text, struct found_skill *k, struct error *e)
{
    struct skill_front front = { 0 };
    bool lenient = s->place->lenient;

    if ((!lenient || has_front_matter(text)) && !skill_front_parse(s->a, text, &front, e))
        return false;
    if (!lenient && !front.name.n)
        return error_set(e, ERR_INVALID, "the front matter needs a 'name'");
    if (!lenient && !front.description.n)
        return error_set(e, ERR_INVALID, "the front matter needs a 'description'");
    k->name = arena_str(s->a, front.name.n ? front.name : str_of(path_base(k->dir)));
    k->description = arena_str(s->a, front.description);
    k->gate = front.gate;
    return skill_name_check(k->name, e);
}

static void add_skill(struct search *s, int dir, const char *path)
{
    auto_buf text = BUF(SKILL_MAX_BYTES);
    struct found_skill k = { .dir = path };
    struct error e = { 0 };

    if (s->skills == SKILL_SEARCH_MAX_SKILLS) {
        stop(s, s->place->dir, "skills", SKILL_SEARCH_MAX_SKILLS);
        return;
    }
    if (!read_file(dir, &text, &k.file, s->a, &e) || !parse(s, buf_str(&text), &k, &e)) {
        warn(s, "%s/" SKILL_FILE_NAME ": %s; the skill is left out", path, e.msg);
        return;
    }
    s->bytes += text.n;
    if (s->bytes > SKILL_SEARCH_MAX_BYTES) {
        stop(s, s->place->dir, "bytes of " SKILL_FILE_NAME, SKILL_SEARCH_MAX_BYTES);
        return;
    }
    origin_of(k.file, k.origin);
    sha256_hex(buf_str(&text), k.sha256);
    s->skills++;
    ARENA_PUSH(s->a, s->ret) = k;
}

/* ---- directories ---- */

struct names {
    char **v;
    size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Its subdirectories and what may lead to one, sorted. */
static void list(struct search *s, int fd, const char *path, struct names *ret)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct dirent *entry;

    if (!d && own >= 0)
        close(own);
    while (d && (entry = readdir(d)) != NULL) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (s->entries++ == SKILL_SEARCH_MAX_ENTRIES) {
            stop(s, path, "entries", SKILL_SEARCH_MAX_ENTRIES);
            break;
        }
        if (strcmp(entry->d_name, ".git") != 0 &&
            (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN))
            ARENA_PUSH(s->a, ret) = arena_z(s->a, str_of(entry->d_name));
    }
    if (d)
        closedir(d);
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_text);
}

static bool was_seen(struct search *s, const struct stat *st)
{
    char key[64];
    int n = snprintf(key, sizeof key, "%llu:%llu", (unsigned long long)st->st_dev,
                     (unsigned long long)st->st_ino);
    struct str k = { key, (size_t)n };

    if (map_has(&s->seen, k))
        return true;
    map_put(&s->seen, k, s);
    return false;
}

static bool has(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Sync's own copies lie beside a workspace's skills, each with an empty marker, and are no
 * news; a skill that somebody wrote and that looks like a copy is. */
static void warn_of_marked(struct search *s, int dir, const char *path)
{
    struct stat st;

    if (!has(dir, SKILL_FILE_NAME) || fstatat(dir, SKILL_MARKER, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (!s->place->lenient || !S_ISREG(st.st_mode) || st.st_size != 0)
        warn(s,
             "%s: holds '" SKILL_MARKER "', as copies that sync has made do; the skill is left "
             "out",
             path);
}

/* `rel` is relative to the home. */
static void search_dir(struct search *s, const char *rel, unsigned depth)
{
    auto_close int fd = open_beneath(s->home, rel, O_RDONLY | O_DIRECTORY);
    struct names names = { 0 };
    const char *path;
    char link[64];
    struct stat st;

    /* What is no directory, or a link that leads elsewhere, is none of ours. */
    if (fd < 0 && (errno == EACCES || errno == EIO))
        warn(s, "%s: cannot be read: %s", path_join(s->a, s->place->dir, rel), strerror(errno));
    if (fd < 0 || fstat(fd, &st) != 0 || was_seen(s, &st))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    path = path_real(s->a, link, NULL);
    if (!path)
        return;
    if (has(fd, SKILL_MARKER)) {
        warn_of_marked(s, fd, path);
        return;
    }
    if (has(fd, SKILL_FILE_NAME)) {
        add_skill(s, fd, path);
        return;
    }
    if (depth == SKILL_SEARCH_MAX_DEPTH) {
        warn(s, "%s: deeper than %d directories; it is left out", path, SKILL_SEARCH_MAX_DEPTH);
        return;
    }
    list(s, fd, path, &names);
    for (size_t i = 0; i < names.n && !s->full; i++)
        search_dir(s, *rel ? path_join(s->a, rel, names.v[i]) : names.v[i], depth + 1);
}

void skill_search(struct arena *a, const struct skill_place *p, struct found_skills *ret)
{
    const char *dir = path_real(a, p->dir, NULL), *home = p->home ? p->home : dir;
    auto_close int fd = dir ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct search s = { .a = a, .place = p, .ret = ret, .home = fd, .seen = MAP };

    if (fd < 0)
        return;
    if (!path_beneath(home, dir)) {
        warn(&s, "%s: leads out of %s; it is left out", p->dir, home);
        return;
    }
    dir += strlen(home);
    search_dir(&s, dir + strspn(dir, "/"), 0);
    map_free(&s.seen);
}
