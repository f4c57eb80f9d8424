/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

char *path_join(struct arena *a, const char *dir, const char *rel)
{
    struct str d = str_of(dir);

    if (path_is_abs(rel) || d.n == 0)
        return arena_z(a, str_of(rel));
    while (d.n > 1 && d.p[d.n - 1] == '/')
        d.n--;
    if (d.n == 1 && d.p[0] == '/')
        d.n = 0;
    return arena_printf(a, "%.*s/%s", STR_F(d), rel);
}

/*
 * Removes the last component of out[0..n), whose first `fixed` bytes ("/" or leading "../")
 * must stay. Returns the new length.
 */
static size_t drop_last(const char *out, size_t n, size_t fixed)
{
    while (n > fixed && out[n - 1] != '/')
        n--;
    return n > fixed ? n - 1 : n;
}

char *path_clean(struct arena *a, const char *path)
{
    bool absolute = path_is_abs(path);
    struct str rest = str_of(path), part;
    char *out = arena_alloc(a, rest.n + 2);
    size_t n = 0, fixed = 0;

    if (absolute)
        out[n++] = '/', fixed = 1;
    while (str_next(&rest, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            if (n > fixed) {
                n = drop_last(out, n, fixed);
                continue;
            }
            if (absolute)
                continue;
        }
        if (n && out[n - 1] != '/')
            out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
        if (str_is(part, ".."))
            fixed = n;
    }
    if (n == 0)
        out[n++] = '.';
    out[n] = '\0';
    return out;
}

char *path_dir(struct arena *a, const char *path)
{
    struct str p = str_of(path);

    while (p.n > 1 && p.p[p.n - 1] == '/')
        p.n--;
    while (p.n && p.p[p.n - 1] != '/')
        p.n--;
    if (p.n == 0)
        return arena_z(a, STR("."));
    while (p.n > 1 && p.p[p.n - 1] == '/')
        p.n--;
    return arena_z(a, p);
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool path_is_abs(const char *path)
{
    return path[0] == '/';
}

bool path_beneath(const char *dir, const char *path)
{
    size_t n = strlen(dir);

    if (strncmp(dir, path, n) != 0)
        return false;
    return path[n] == '\0' || path[n] == '/' || (n == 1 && dir[0] == '/');
}

char *path_real(struct arena *a, const char *path, struct error *e)
{
    auto_free char *real = realpath(path, NULL);

    if (!real) {
        if (errno == ENOENT)
            error_set(e, ERR_NOT_FOUND, "'%s' does not exist", path);
        else
            error_set(e, ERR_SYS, "resolve '%s'", path);
        return NULL;
    }
    return arena_z(a, str_of(real));
}

const char *path_of_file_uri(struct arena *a, struct str uri)
{
    static const struct str scheme = STR("file://"), local = STR("localhost");
    struct str at = str_from(uri, scheme.n);
    char *out, *end;

    if (!str_icase_eq(str_upto(uri, scheme.n), scheme))
        return NULL;
    if (str_icase_eq(str_upto(at, local.n), local))
        at = str_from(at, local.n);
    if (!at.n || at.p[0] != '/')
        return NULL;
    out = end = arena_alloc(a, at.n + 1);
    while (at.n) {
        bool escaped = at.p[0] == '%';
        int c = escaped ? str_percent(at) : at.p[0];

        if (c == '\0' || (escaped && c < 0))
            return NULL;
        *end++ = (char)c;
        at = str_from(at, escaped ? 3 : 1);
    }
    return out;
}

const char *path_expand_home(struct arena *a, const char *path)
{
    const char *home = getenv("HOME");

    if (path[0] != '~' || (path[1] && path[1] != '/') || !home || !path_is_abs(home))
        return path;
    return arena_printf(a, "%s%s", home, path + 1);
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *path_search(struct arena *a, const char *name, const char *path_var)
{
    struct str rest = str_of(path_var), dir;
    bool more = path_var != NULL;

    if (name[0] == '\0')
        return NULL;
    if (strchr(name, '/'))
        return is_program(name) ? arena_z(a, str_of(name)) : NULL;
    while (more) {
        char *candidate;

        more = str_cut(rest, ':', &dir, &rest);
        if (!more)
            dir = rest;
        /* An empty element means the current directory (POSIX). */
        candidate = path_join(a, dir.n ? arena_z(a, dir) : ".", name);
        if (is_program(candidate))
            return candidate;
    }
    return NULL;
}
