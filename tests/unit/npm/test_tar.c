/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "tar.h"
#include "unpack.h"

/* One entry of an archive that a test makes. */
struct made {
    const char *path;
    char type; /* 0: '0' */
    const char *data;
    const char *mode; /* NULL: "0000644" */
    const char *size; /* NULL: that of the data */
    const char *link;
    const char *prefix; /* of ustar */
    bool bad_sum;
};

static void put_padded(struct buf *b, struct str data)
{
    buf_add(b, data);
    buf_fill(b, 0, (512 - data.n % 512) % 512);
}

static void put_entry(struct buf *b, const struct made *m)
{
    unsigned char h[512] = { 0 };
    struct str data = str_of(m->data);
    unsigned sum = 0;

    memcpy(h, m->path, strnlen(m->path, 100));
    strcpy((char *)h + 100, m->mode ? m->mode : "0000644");
    snprintf((char *)h + 124, 12, "%011zo", data.n);
    if (m->size)
        memcpy(h + 124, m->size, 11);
    memset(h + 148, ' ', 8);
    h[156] = (unsigned char)(m->type ? m->type : '0');
    if (m->link)
        strcpy((char *)h + 157, m->link);
    memcpy(h + 257, "ustar\00000", 8);
    if (m->prefix)
        memcpy(h + 345, m->prefix, strnlen(m->prefix, 155));
    for (int i = 0; i < 512; i++)
        sum += h[i];
    snprintf((char *)h + 148, 8, "%06o", sum + m->bad_sum);
    buf_add(b, (struct str){ (const char *)h, sizeof h });
    put_padded(b, data);
}

static void put_end(struct buf *b)
{
    buf_fill(b, 0, 1024);
}

struct place {
    struct arena a;
    char top[PATH_MAX];
    const char *dir; /* top/package, empty */
};

static void place_make(struct place *p)
{
    *p = (struct place){ 0 };
    make_temp_dir(p->top);
    p->dir = path_join(&p->a, p->top, "package");
    assert_int_equal(mkdir(p->dir, 0700), 0);
}

static void place_free(struct place *p)
{
    remove_tree(p->top);
    arena_free(&p->a);
}

static bool try_unpack(struct place *p, const struct buf *archive, struct error *e)
{
    FILE *in = fmemopen(archive->p, archive->n, "r");
    bool ok;

    assert_non_null(in);
    *e = (struct error){ 0 };
    ok = unpack(in, p->dir, e);
    fclose(in);
    return ok;
}

static void assert_file(struct place *p, const char *rel, const char *text, mode_t mode)
{
    const char *path = path_join(&p->a, p->dir, rel);
    auto_buf got = BUF(1 << 20);
    struct error e = { 0 };
    struct stat st;

    if (!file_read(path, &got, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(buf_z(&got), text);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, mode);
}

/* PM-21 */
static void an_archive_is_unpacked_without_its_first_directory(void **state)
{
    auto_buf b = BUF(1 << 20), name = BUF(4096);
    struct place p;
    struct error e;

    (void)state;
    place_make(&p);
    umask(022);
    buf_addz(&name, "package/");
    buf_fill(&name, 'l', 150);
    buf_addz(&name, "/x.md");
    put_entry(&b, &(struct made){ .path = "package/", .type = '5', .mode = "0000777" });
    put_entry(&b, &(struct made){ .path = "package/package.json", .data = "{}" });
    put_entry(&b,
              &(struct made){ .path = "package/./bin//run", .data = "#!", .mode = "0004755" });
    put_entry(&b, &(struct made){ .path = "c.txt", .prefix = "package/a/b", .data = "c" });
    put_entry(&b, &(struct made){ .path = "pax",
                                  .type = 'x',
                                  .data = "19 path=package/p1\n13 mtime=1.5\n" });
    put_entry(&b, &(struct made){ .path = "short", .data = "pax" });
    put_entry(&b, &(struct made){ .path = "pax", .type = 'g', .data = "17 comment=hello\n" });
    put_entry(&b, &(struct made){ .path = "././@LongLink", .type = 'L', .data = buf_z(&name) });
    put_entry(&b, &(struct made){ .path = "package/cut", .data = "long" });
    put_entry(&b, &(struct made){ .path = "other/README", .data = "one" });
    put_entry(&b, &(struct made){ .path = "package/README", .data = "two" });
    put_entry(&b, &(struct made){ .path = "package/empty/", .type = '5' });
    put_entry(&b, &(struct made){ .path = "package/old/" });
    put_entry(&b, &(struct made){ .path = "package/old/file", .data = "in it" });
    put_entry(&b, &(struct made){ .path = "package/Readme", .data = "another" });
    put_entry(&b, &(struct made){ .path = "package/\xc3\xa9", .data = "composed" });
    put_entry(&b, &(struct made){ .path = "package/e\xcc\x81", .data = "decomposed" });
    put_end(&b);
    if (!try_unpack(&p, &b, &e))
        fail_msg("%s", e.msg);
    assert_file(&p, "package.json", "{}", 0644);
    assert_file(&p, "bin/run", "#!", 0755);
    assert_file(&p, "a/b/c.txt", "c", 0644);
    assert_file(&p, "p1", "pax", 0644);
    assert_file(&p, strchr(buf_z(&name), '/') + 1, "long", 0644);
    assert_file(&p, "README", "two", 0644);
    assert_file(&p, "Readme", "another", 0644);
    assert_file(&p, "old/file", "in it", 0644);
    assert_file(&p, "\xc3\xa9", "composed", 0644);
    assert_file(&p, "e\xcc\x81", "decomposed", 0644);
    assert_true(file_is_dir(path_join(&p.a, p.dir, "empty")));
    place_free(&p);
}

/* PM-21: no absolute path, no '..', no link, no device, nothing that is not what it says. */
static void a_hostile_archive_is_refused_and_nothing_is_written_outside(void **state)
{
    static const struct {
        const char *what;
        struct made entry[3];
    } cases[] = {
        { "an absolute path", { { .path = "/etc/x" } } },
        { "an absolute path by prefix", { { .path = "x", .prefix = "/etc" } } },
        { "a path with '..'", { { .path = "package/../../out" } } },
        { "'..' at the end", { { .path = "package/a/..", .type = '5' } } },
        { "'..' by prefix", { { .path = "out", .prefix = "package/.." } } },
        { "'..' by pax",
          { { .path = "p", .type = 'x', .data = "22 path=package/../x1\n" },
            { .path = "package/a" } } },
        { "'..' by a long name",
          { { .path = "l", .type = 'L', .data = "package/../../out" }, { .path = "a" } } },
        { "a symbolic link", { { .path = "package/l", .type = '2', .link = "../../out" } } },
        { "a hard link", { { .path = "package/l", .type = '1', .link = "/etc/passwd" } } },
        { "a character device", { { .path = "package/d", .type = '3' } } },
        { "a block device", { { .path = "package/d", .type = '4' } } },
        { "a FIFO", { { .path = "package/f", .type = '6' } } },
        { "a sparse file of GNU", { { .path = "package/s", .type = 'S' } } },
        { "a sparse file of pax",
          { { .path = "p", .type = 'x', .data = "22 GNU.sparse.major=1\n" },
            { .path = "package/a" } } },
        { "an unknown type", { { .path = "package/x", .type = 'Z' } } },
        { "a control character", { { .path = "package/a\x1b[31m" } } },
        { "a newline", { { .path = "package/a\nb" } } },
        { "no name", { { .path = "" } } },
        { "a file beside the package", { { .path = "package" } } },
        { "a wrong checksum", { { .path = "package/a", .bad_sum = true } } },
        { "a size that is none", { { .path = "package/a", .size = "zzzzzzzzzzz" } } },
        { "a size past the end",
          { { .path = "package/a", .data = "x", .size = "00000777777" } } },
        { "a size of 8 GiB", { { .path = "package/a", .size = "77777777777" } } },
        { "a size in base 256",
          { { .path = "package/a", .size = "\x80\0\0\0\0\0\0\0\1\0\0" } } },
        { "a pax size too large",
          { { .path = "p", .type = 'x', .data = "20 size=99999999999\n" },
            { .path = "package/a" } } },
        { "a pax size below zero",
          { { .path = "p", .type = 'x', .data = "11 size=-1\n" }, { .path = "package/a" } } },
        { "a pax record too long",
          { { .path = "p", .type = 'x', .data = "99 path=a\n" }, { .path = "package/a" } } },
        { "a pax record too short",
          { { .path = "p", .type = 'x', .data = "2 path=a\n" }, { .path = "package/a" } } },
        { "a pax record of length 0",
          { { .path = "p", .type = 'x', .data = "0 path=a\n" }, { .path = "package/a" } } },
        { "a pax path that is empty",
          { { .path = "p", .type = 'x', .data = "8 path=\n" }, { .path = "package/a" } } },
        { "a pax header too large", { { .path = "p", .type = 'x', .size = "00000300000" } } },
        { "an empty long name", { { .path = "l", .type = 'L' }, { .path = "package/a" } } },
        { "a directory of the old form with data", { { .path = "package/d/", .data = "x" } } },
        { "a directory with data", { { .path = "package/d", .type = '5', .data = "x" } } },
        { "a file where a directory is",
          { { .path = "package/a/b", .data = "x" }, { .path = "package/a", .data = "x" } } },
        { "a directory where a file is",
          { { .path = "package/a", .data = "x" }, { .path = "package/a/b", .data = "x" } } },
        { "a directory entry where a file is",
          { { .path = "package/a", .data = "x" }, { .path = "package/a", .type = '5' } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_buf b = BUF(1 << 20);
        struct place p;
        struct error e;

        place_make(&p);
        for (int k = 0; k < 3 && cases[i].entry[k].path; k++)
            put_entry(&b, &cases[i].entry[k]);
        put_end(&b);
        if (try_unpack(&p, &b, &e) || e.kind != ERR_INVALID)
            fail_msg("%s: %s", cases[i].what, e.kind ? e.msg : "unpacked");
        assert_false(file_exists(path_join(&p.a, p.top, "out")));
        place_free(&p);
    }
}

static void an_archive_that_is_cut_at_any_byte_is_refused(void **state)
{
    auto_buf b = BUF(1 << 20);
    size_t whole;

    (void)state;
    put_entry(&b, &(struct made){ .path = "p", .type = 'x', .data = "19 path=package/p1\n" });
    put_entry(&b, &(struct made){ .path = "short", .data = "data" });
    whole = b.n + 512;
    put_end(&b);
    for (size_t n = 1; n < whole; n += n % 512 == 511 ? 1 : 37) {
        struct buf cut = { .p = b.p, .n = n };
        struct place p;
        struct error e;

        place_make(&p);
        if (try_unpack(&p, &cut, &e) || e.kind != ERR_INVALID)
            fail_msg("%zu bytes", n);
        place_free(&p);
    }
}

static void bytes_entries_and_depth_are_bounded(void **state)
{
    auto_buf many = BUF(64 << 20), deep = BUF(1 << 20), name = BUF(4096);
    struct made empty = { .path = "package/", .type = '5' };
    struct place p;
    struct error e;

    (void)state;
    place_make(&p);
    for (int i = 0; i <= TAR_MAX_ENTRIES; i++)
        put_entry(&many, &empty);
    put_end(&many);
    assert_false(try_unpack(&p, &many, &e));
    assert_non_null(strstr(e.msg, "more than 50000 entries"));

    for (int i = 0; i < 100; i++)
        buf_addz(&name, "d/");
    buf_addc(&name, 'f');
    put_entry(&deep, &(struct made){ .path = "l", .type = 'L', .data = buf_z(&name) });
    put_entry(&deep, &(struct made){ .path = "x" });
    assert_false(try_unpack(&p, &deep, &e));
    assert_non_null(strstr(e.msg, "too many directories"));

    buf_clear(&deep);
    for (int i = 0; i < 3; i++) /* 256 MiB each, of which none is there */
        put_entry(&deep, &(struct made){ .path = "package/a", .size = "02000000000" });
    assert_false(try_unpack(&p, &deep, &e));
    assert_int_equal(e.kind, ERR_INVALID);

    buf_clear(&deep);
    for (int i = 0; i * 48 <= UNPACK_MAX_DIRS; i++) {
        buf_clear(&name);
        buf_addf(&name, "package/%d", i);
        for (int k = 0; k < 48; k++)
            buf_addz(&name, "/d");
        put_entry(&deep, &(struct made){ .path = "l", .type = 'L', .data = buf_z(&name) });
        put_entry(&deep, &(struct made){ .path = "x" });
    }
    put_end(&deep);
    assert_false(try_unpack(&p, &deep, &e));
    assert_non_null(strstr(e.msg, "more than 10000 directories"));
    place_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_unpacked_without_its_first_directory),
        cmocka_unit_test(a_hostile_archive_is_refused_and_nothing_is_written_outside),
        cmocka_unit_test(an_archive_that_is_cut_at_any_byte_is_refused),
        cmocka_unit_test(bytes_entries_and_depth_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
