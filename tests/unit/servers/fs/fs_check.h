/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A directory with an access to it, and tools called as the thread pool calls them. */
#ifndef SYM_TEST_FS_CHECK_H
#define SYM_TEST_FS_CHECK_H

#include "../../check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/path.h"
#include "servers/fs/fs_impl.h"

struct place {
    char dir[PATH_MAX];     /* canonical, holds the two */
    char in[PATH_MAX + 8];  /* the root */
    char out[PATH_MAX + 8]; /* beside it: nobody's */
    struct access *x;
    struct arena arena;
};

static inline const char *at(struct place *p, const char *rel)
{
    return path_join(&p->arena, p->in, rel);
}

static inline void put_file(struct place *p, const char *rel, struct str content)
{
    FILE *f = fopen(at(p, rel), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(content.n ? content.p : "", 1, content.n, f), content.n);
    fclose(f);
}

static inline void put(struct place *p, const char *rel, const char *content)
{
    put_file(p, rel, str_of(content));
}

static inline void make_dir(struct place *p, const char *rel)
{
    assert_int_equal(mkdir(at(p, rel), 0755), 0);
}

/* The file's bytes; NULL p when it is not there. */
static inline struct str get_file(struct place *p, const char *rel)
{
    auto_buf b = BUF(64 << 20);
    FILE *f = fopen(at(p, rel), "rb");
    char block[4096];
    size_t n;

    if (!f)
        return (struct str){ 0 };
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(&b, (struct str){ block, n });
    fclose(f);
    return arena_str(&p->arena, buf_str(&b));
}

#define assert_file(p, rel, want) assert_str(get_file(p, rel), want)

static inline mode_t mode_of(struct place *p, const char *rel)
{
    struct stat st;

    assert_int_equal(lstat(at(p, rel), &st), 0);
    return st.st_mode & 07777;
}

static inline bool exists(struct place *p, const char *rel)
{
    struct stat st;

    return lstat(at(p, rel), &st) == 0;
}

static inline struct place *place_new(void)
{
    struct place *p = NEW(struct place);
    const char *dirs[1];
    char temp[PATH_MAX];

    make_temp_dir(temp);
    assert_non_null(realpath(temp, p->dir));
    snprintf(p->in, sizeof p->in, "%s/in", p->dir);
    snprintf(p->out, sizeof p->out, "%s/out", p->dir);
    assert_int_equal(mkdir(p->in, 0755) | mkdir(p->out, 0755), 0);
    dirs[0] = p->in;
    p->x = access_new(dirs, 1, false, NULL, NULL);
    assert_non_null(p->x);
    return p;
}

static inline void place_free(struct place *p)
{
    access_unref(p->x);
    remove_tree(p->dir);
    arena_free(&p->arena);
    free(p);
}

static inline int set_up(void **state)
{
    *state = place_new();
    return 0;
}

static inline int tear_down(void **state)
{
    place_free(*state);
    return 0;
}

struct said {
    bool failed;
    struct str text;       /* owned by the place */
    struct str content;    /* JSON */
    struct str structured; /* JSON */
};

static inline struct said call(struct place *p, void (*tool)(struct fs_call *c),
                               struct fs_args in)
{
    struct answer out = ANSWER;
    auto_arena a = ARENA;
    struct fs_call c = { .x = p->x, .arena = &a, .out = &out, .in = in };
    struct said said;

    if (!in.sort_by.p)
        c.in.sort_by = STR("name");
    tool(&c);
    said = (struct said){
        .failed = out.is_error,
        .text = arena_str(&p->arena, buf_str(&out.text)),
        .content = arena_str(&p->arena, buf_str(&out.content)),
        .structured = arena_str(&p->arena, buf_str(&out.structured)),
    };
    assert_false(out.text.over || out.content.over || out.structured.over);
    answer_free(&out);
    return said;
}

static inline struct fs_args with_path(const char *path)
{
    return (struct fs_args){ .path = str_of(path) };
}

/* It succeeds with exactly this text, or fails with a text that holds this. */
#define assert_says(said, want)  check_says((said), false, (want), __FILE__, __LINE__)
#define assert_fails(said, want) check_says((said), true, (want), __FILE__, __LINE__)

static inline void check_says(struct said s, bool failed, const char *want, const char *file,
                              int line)
{
    bool right = failed ? strstr(s.text.n ? s.text.p : "", want) != NULL : str_is(s.text, want);

    if (s.failed == failed && right)
        return;
    print_error("%s '%.*s'\nwant '%s'\n", s.failed ? "failed" : "said", STR_F(s.text), want);
    _fail(file, line);
}

#define PLACE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
