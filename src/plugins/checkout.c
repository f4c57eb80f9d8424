/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "text/json.h"

#define GITHUB        "https://github.com/"
#define MAX_WORD      50 /* bytes of owner, repository, ref and each part of the path in a key */
#define MAX_SHOWN     200
#define MAX_KEY       200
#define HASH_DIGITS   16
#define MAX_SEGMENTS  256
#define LOCK_PAUSE_NS 1000000

/* ---- words ---- */

static bool is_plain(char c)
{
    return ascii_alnum(c) || (c && strchr("._-", c));
}

static bool is_plain_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_plain(s.p[i]))
            return false;
    return s.n && s.p[0] != '-' && s.p[0] != '.';
}

/* After git's own rules for names of refs, and stricter where it is lenient: no '+' in front.
 */
static bool check_ref(struct str ref, struct error *e)
{
    bool bad = !ref.n || ref.n > GIT_REF_MAX || strchr("-+./@", ref.p[0]) ||
               strchr("./", ref.p[ref.n - 1]) || str_ends(ref, STR(".lock")) ||
               str_find(ref, STR("..")) != SIZE_MAX || str_find(ref, STR("@{")) != SIZE_MAX ||
               str_find(ref, STR("//")) != SIZE_MAX;

    for (size_t i = 0; !bad && i < ref.n; i++)
        bad = strchr(" ~^:?*[\\", ref.p[i]) != NULL;
    return !bad || error_set(e, ERR_INVALID, "'%.*s' is no name of a branch, tag or commit",
                             STR_F(utf8_cut(ref, GIT_REF_MAX)));
}

/* ---- the parts of what is written ---- */

/* Of a URL or a path, text split at each slash behind the host; empty segments are left out. */
struct segments {
    struct str v[MAX_SEGMENTS];
    size_t n;
};

struct parser {
    struct arena *a;
    struct error *e;
    struct str text; /* all of it, without slashes at the end */
    struct str head; /* up to where the segments begin: "https://host/", "user@host:", "/" */
    struct segments segs;
    bool local;        /* a directory on this disk */
    size_t local_from; /* in `text`: where the directory's name begins */
};

static bool split(struct parser *p)
{
    struct str rest = str_from(p->text, p->head.n), word;

    while (str_next(&rest, '/', &word)) {
        if (!word.n)
            continue;
        if (p->segs.n == MAX_SEGMENTS)
            return error_set(p->e, ERR_INVALID, "has more than %d segments", MAX_SEGMENTS);
        p->segs.v[p->segs.n++] = word;
    }
    return true;
}

static bool check_host(struct str authority, struct error *e)
{
    struct str user, host = authority, more;

    while (str_cut(host, '@', &user, &more))
        host = more;
    return (authority.n && host.n && authority.p[0] != '-' && host.p[0] != '-') ||
           error_set(e, ERR_INVALID, "names no host that git could connect to");
}

static bool read_url(struct parser *p, size_t colon)
{
    static const char *const schemes[] = { "https", "http", "ssh", "git", "file" };
    struct str scheme = str_upto(p->text, colon), rest = str_from(p->text, colon + 3);
    size_t slash = str_find_char(rest, '/'), i = 0;

    while (i < ARRAY_LEN(schemes) && !str_is(scheme, schemes[i]))
        i++;
    if (i == ARRAY_LEN(schemes))
        return error_set(p->e, ERR_INVALID,
                         "has a scheme that is none of https, http, ssh, git and file");
    if (slash == SIZE_MAX)
        return error_set(p->e, ERR_INVALID, "names no repository behind the host");
    p->local = str_is(scheme, "file");
    if (p->local && slash)
        return error_set(p->e, ERR_INVALID, "needs three slashes behind 'file:'");
    p->local_from = colon + 3;
    p->head = str_upto(p->text, colon + 3 + slash + 1);
    return p->local || check_host(str_upto(rest, slash), p->e);
}

/* user@host:path */
static bool read_scp(struct parser *p, size_t colon)
{
    struct str path = str_from(p->text, colon + 1);

    if (!path.n || path.p[0] == '-')
        return error_set(p->e, ERR_INVALID, "names no repository behind the host");
    p->head = str_upto(p->text, colon + 1);
    return check_host(str_upto(p->text, colon), p->e);
}

static bool read_short(struct parser *p)
{
    struct segments *s = &p->segs;

    if (!split(p))
        return false;
    if (s->n < 2 || !is_plain_word(s->v[0]) || !is_plain_word(s->v[1]) ||
        (s->n > 2 && (s->n < 4 || !str_is(s->v[2], "tree"))))
        return error_set(p->e, ERR_INVALID,
                         "is no URL, no absolute path and no 'owner/repo[/tree/<ref>[/path]]'");
    p->text = str_of(arena_printf(p->a, GITHUB "%.*s", STR_F(p->text)));
    p->head = STR(GITHUB);
    s->n = 0;
    return true;
}

static bool read_kind(struct parser *p)
{
    size_t colon = str_find_char(p->text, ':'), slash = str_find_char(p->text, '/');

    if (p->text.p[0] == '/') {
        p->local = true;
        p->head = str_upto(p->text, 1);
        return true;
    }
    if (colon == SIZE_MAX || slash < colon)
        return read_short(p);
    if (str_starts(str_from(p->text, colon), STR("://")))
        return read_url(p, colon);
    if (str_starts(str_from(p->text, colon), STR("::")))
        return error_set(p->e, ERR_INVALID, "calls a helper of git, which is not allowed");
    return read_scp(p, colon);
}

/* ---- /tree/<ref>[/path] ---- */

static bool is_repository(struct parser *p, size_t end)
{
    const char *dir =
        arena_z(p->a, str_from(str_upto(p->text, end), p->local ? p->local_from : 0));

    return file_exists(path_join(p->a, dir, "HEAD")) ||
           file_exists(path_join(p->a, dir, ".git"));
}

static size_t end_of(const struct parser *p, size_t segment)
{
    return (size_t)(p->segs.v[segment].p - p->text.p) + p->segs.v[segment].n;
}

/* *ret_last: the repository's last segment, when "tree" is the one at `at`. False: that is a
 * name like any other. */
static bool ends_before(struct parser *p, size_t at, size_t *ret_last)
{
    bool dash = at >= 3 && str_is(p->segs.v[at - 1], "-");

    *ret_last = at - (dash ? 2 : 1);
    if (str_ends(p->segs.v[*ret_last], STR(".git")))
        return true;
    if (p->local)
        return is_repository(p, end_of(p, *ret_last));
    return dash || at == 2;
}

static bool read_tree(struct parser *p, size_t at, struct git_source *ret)
{
    auto_buf path = BUF(GIT_SOURCE_MAX);

    if (!check_ref(p->segs.v[at + 1], p->e))
        return false;
    ret->ref = arena_str(p->a, p->segs.v[at + 1]);
    for (size_t i = at + 2; i < p->segs.n; i++) {
        if (str_is(p->segs.v[i], "..") || str_is(p->segs.v[i], ".") ||
            str_is(p->segs.v[i], ".git"))
            return error_set(p->e, ERR_INVALID, "has '%.*s' in the path behind 'tree/'",
                             STR_F(p->segs.v[i]));
        buf_addf(&path, "%s%.*s", path.n ? "/" : "", STR_F(p->segs.v[i]));
    }
    ret->path = arena_str(p->a, buf_str(&path));
    return true;
}

/* The place of the "tree" that counts, 0: none. A local repository that is gone (a disk that is
 * not there now) is taken to end before the last one: its checkout must still be found. */
static size_t tree_place(struct parser *p, size_t *ret_last)
{
    size_t guess = 0;

    for (size_t i = 1; i + 1 < p->segs.n; i++) {
        if (!str_is(p->segs.v[i], "tree"))
            continue;
        if (p->local && !guess && is_repository(p, p->text.n))
            return 0;
        if (ends_before(p, i, ret_last))
            return i;
        guess = i;
    }
    *ret_last = guess - 1;
    return p->local ? guess : 0;
}

static bool find_tree(struct parser *p, struct git_source *ret)
{
    size_t last, at = tree_place(p, &last);

    if (!p->segs.n)
        return error_set(p->e, ERR_INVALID, "names no repository");
    if (!at)
        return true;
    if (!read_tree(p, at, ret))
        return false;
    p->text = str_upto(p->text, end_of(p, last));
    p->segs.n = last + 1;
    return true;
}

/* ---- the key ---- */

static bool joins_plainly(struct str s)
{
    return is_plain_word(s) && s.n <= MAX_WORD && str_find(s, STR("--")) == SIZE_MAX &&
           !str_ends(s, STR("-"));
}

/* Words of which no two sources have the same: then the key needs no hash. */
static bool is_unique(const struct parser *p, const struct git_source *s)
{
    struct str rest = s->path, word;

    if (!str_is(p->head, GITHUB) || p->segs.n != 2 || s->key.n > MAX_KEY ||
        !joins_plainly(p->segs.v[0]) || !joins_plainly(p->segs.v[1]) ||
        (s->ref.n && !joins_plainly(s->ref)))
        return false;
    while (str_next(&rest, '/', &word))
        if (!joins_plainly(word))
            return false;
    return true;
}

static void put_word(struct buf *b, struct str s)
{
    s = str_upto(s, MAX_WORD);
    for (size_t i = 0; i < s.n; i++)
        buf_addc(b, is_plain(s.p[i]) && (b->n || !strchr(".-", s.p[i])) ? s.p[i] : '_');
}

static void put_words(struct buf *b, const struct parser *p, const struct git_source *s)
{
    struct str repo = p->segs.v[p->segs.n - 1], word, rest = s->path;

    if (str_ends(repo, STR(".git")))
        repo.n -= 4;
    put_word(b, p->segs.n > 1 ? p->segs.v[p->segs.n - 2] : STR("local"));
    buf_addz(b, "--");
    put_word(b, repo);
    if (s->ref.n) {
        buf_addc(b, '@');
        put_word(b, s->ref);
    }
    while (str_next(&rest, '/', &word)) {
        buf_addz(b, "--");
        put_word(b, word);
    }
}

/* 64 bits of a hash: that a second source had the same key must not be a matter of trying. The
 * '+' stands in no key without one. */
static void make_key(const struct parser *p, struct git_source *s)
{
    auto_buf key = BUF(2 * GIT_SOURCE_MAX), all = BUF(2 * GIT_SOURCE_MAX);
    char hex[SHA256_HEX_SIZE];

    put_words(&key, p, s);
    s->key = buf_str(&key);
    if (!is_unique(p, s)) {
        buf_addf(&all, "%.*s\n%.*s\n%.*s", STR_F(s->url), STR_F(s->ref), STR_F(s->path));
        sha256_hex(buf_str(&all), hex);
        if (key.n > MAX_KEY)
            buf_truncate(&key, MAX_KEY);
        buf_addf(&key, "+%.*s", HASH_DIGITS, hex);
    }
    s->key = arena_str(p->a, buf_str(&key));
}

/* ---- the whole ---- */

/* Without "user:password@", the user of ssh included: files and messages do without. */
static void make_shown(const struct parser *p, struct git_source *s)
{
    struct str url = s->url, front = { 0 }, rest = url;
    size_t scheme = str_find(url, STR("://")), at;

    if (scheme != SIZE_MAX) {
        front = str_upto(url, scheme + 3);
        rest = str_from(url, scheme + 3);
    }
    at = p->local ? SIZE_MAX : str_find_char(str_upto(rest, str_find_char(rest, '/')), '@');
    while (at != SIZE_MAX) {
        rest = str_from(rest, at + 1);
        at = str_find_char(str_upto(rest, str_find_char(rest, '/')), '@');
    }
    s->shown = str_of(arena_printf(p->a, "%.*s%.*s%s%.*s%s%.*s", STR_F(front), STR_F(rest),
                                   s->ref.n ? "/tree/" : "", STR_F(s->ref),
                                   s->path.n ? "/" : "", STR_F(s->path)));
}

static bool parse(struct parser *p, struct git_source *ret)
{
    struct str text = p->text;

    if (!text.n || text.n > GIT_SOURCE_MAX || str_has_control(text) || !utf8_valid(text))
        return error_set(p->e, ERR_INVALID,
                         "must be 1 to %d bytes of text without control characters",
                         GIT_SOURCE_MAX);
    if (text.p[0] == '-')
        return error_set(p->e, ERR_INVALID, "begins with '-', as an option of git would");
    while (p->text.n > 1 && p->text.p[p->text.n - 1] == '/')
        p->text.n--;
    if (!read_kind(p) || !split(p) || !find_tree(p, ret))
        return false;
    if (str_is(p->head, GITHUB) && str_ends(p->text, STR(".git"))) {
        p->text.n -= 4;
        p->segs.v[p->segs.n - 1].n -= 4;
    }
    ret->url = arena_str(p->a, p->text);
    make_shown(p, ret);
    make_key(p, ret);
    return true;
}

/* What may be a password is not shown, be the rest as wrong as it wants. */
static struct str without_secrets(struct str text)
{
    struct str front;

    while (str_cut(text, '@', &front, &text))
        continue;
    return utf8_cut(text, MAX_SHOWN);
}

bool git_source_parse(struct git_source *ret, struct arena *a, struct str text, struct error *e)
{
    struct parser *p = ARENA_NEW(a, struct parser);
    auto_buf shown = BUF(4 * MAX_SHOWN);

    *p = (struct parser){ .a = a, .e = e, .text = arena_str(a, text) };
    *ret = (struct git_source){ 0 };
    if (parse(p, ret))
        return true;
    utf8_put_clean(&shown, without_secrets(text));
    return error_wrap(e, "git source '%s'", buf_z(&shown));
}

/* ---- the checkout ---- */

const char *checkout_dir(struct arena *a, const char *cache_dir, const struct git_source *s)
{
    return path_join(a, cache_dir, arena_printf(a, "plugin-sources/%.*s", STR_F(s->key)));
}

const char *checkout_lock_path(struct arena *a, const char *cache_dir,
                               const struct git_source *s)
{
    return path_join(a, cache_dir,
                     arena_printf(a, "plugin-sources/.locks/%.*s", STR_F(s->key)));
}

bool checkout_meta_read(struct checkout_meta *ret, struct arena *a, const char *cache_dir,
                        const struct git_source *s)
{
    auto_buf text = BUF(CHECKOUT_META_MAX);
    auto_json doc = { 0 };

    if (!file_read(path_join(a, checkout_dir(a, cache_dir, s), CHECKOUT_META), &text, NULL) ||
        !json_parse(&doc, buf_str(&text), NULL))
        return false;
    *ret = (struct checkout_meta){
        .commit_sha = arena_str(a, json_str(json_get(doc.root, "commit_sha"))),
        .fetched_at = arena_str(a, json_str(json_get(doc.root, "fetched_at"))),
        .source_url = arena_str(a, json_str(json_get(doc.root, "source_url"))),
    };
    return ret->commit_sha.n && str_eq(ret->source_url, s->shown);
}

const char *checkout_find(struct arena *a, const char *cache_dir, const struct git_source *s,
                          struct error *e)
{
    struct checkout_meta meta;

    if (checkout_meta_read(&meta, a, cache_dir, s))
        return checkout_dir(a, cache_dir, s);
    error_set(e, ERR_NOT_FOUND, "'%.*s' is not fetched yet; run 'symposium plugin sync'",
              STR_F(s->shown));
    return NULL;
}

int checkout_read_lock(const char *cache_dir, const struct git_source *s)
{
    auto_arena a = ARENA;
    auto_close int fd = open(checkout_lock_path(&a, cache_dir, s), O_RDONLY | O_CLOEXEC);
    int64_t end = clock_ms() + CHECKOUT_LOCK_MS;

    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || clock_ms() >= end)
            return -1;
        nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
    }
    return take_fd(&fd);
}

void checkout_unlock(int fd)
{
    if (fd >= 0)
        close(fd);
}
