/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/file.h"
#include "base/path.h"
#include "fixture.h"

#define MAX_FIXTURE ((size_t)1 << 20)

void fixture_write(struct fixture *f, const char *path, struct str text)
{
    const char *full = path_clean(&f->arena, path_join(&f->arena, f->root, path));
    struct error e = { 0 };

    if (!file_mkdirs(path_dir(&f->arena, full), &e) || !file_write_atomic(full, text, 0600, &e))
        fail_msg("%s", e.msg);
}

/* "-- path --" at the beginning of a line; *text moves behind it. */
static bool take_mark(struct str *text, struct str *ret_path)
{
    struct str line, rest;

    if (!str_cut(*text, '\n', &line, &rest) || !str_starts(line, STR("-- ")) ||
        !str_ends(line, STR(" --")))
        return false;
    *ret_path = (struct str){ line.p + 3, line.n - 6 };
    *text = rest;
    return true;
}

static struct str until_mark(struct str *text)
{
    struct str from = *text, mark, probe = *text, line;

    while (text->n && !take_mark(&probe, &mark)) {
        if (!str_cut(*text, '\n', &line, text))
            *text = str_from(*text, text->n);
        probe = *text;
    }
    return str_upto(from, from.n - text->n);
}

/* "path -> target" */
static void make_link(struct fixture *f, struct str text)
{
    size_t at = str_find(text, STR(" -> "));
    const char *path = path_join(&f->arena, f->root, arena_z(&f->arena, str_upto(text, at)));
    struct error e = { 0 };

    if (!file_mkdirs(path_dir(&f->arena, path), &e) ||
        symlink(arena_z(&f->arena, str_from(text, at + 4)), path) != 0)
        fail_msg("link '%s'", path);
}

static void unpack(struct fixture *f, struct str text)
{
    struct str path;

    until_mark(&text); /* the remark */
    while (take_mark(&text, &path)) {
        struct str content = until_mark(&text);

        if (str_is(path, "expected"))
            f->expected = arena_str(&f->arena, content);
        else if (str_find(path, STR(" -> ")) != SIZE_MAX)
            make_link(f, path);
        else
            fixture_write(f, arena_z(&f->arena, path), content);
    }
}

void fixture_make(struct fixture *f, const char *name)
{
    fixture_make_of(f, "cargo", name);
}

void fixture_make_of(struct fixture *f, const char *folder, const char *name)
{
    char top[PATH_MAX];
    auto_buf text = BUF(MAX_FIXTURE);
    struct error e = { 0 };

    *f = (struct fixture){ 0 };
    make_temp_dir(top);
    f->top = arena_z(&f->arena, str_of(top));
    f->root = path_join(&f->arena, f->top, "root");
    if (!file_mkdirs(f->root, &e))
        fail_msg("%s", e.msg);
    if (!name)
        return;
    if (!file_read(arena_printf(&f->arena, "tests/fixtures/%s/%s.txt", folder, name), &text,
                   &e))
        fail_msg("%s", e.msg);
    unpack(f, buf_str(&text));
}

void fixture_free(struct fixture *f)
{
    remove_tree(f->top);
    arena_free(&f->arena);
}
