/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fs_check.h"

#include <sys/socket.h>
#include <sys/un.h>

static struct fs_args first(const char *path, int64_t lines)
{
    return (struct fs_args){ .path = str_of(path), .head = lines, .has_head = true };
}

static struct fs_args last(const char *path, int64_t lines)
{
    return (struct fs_args){ .path = str_of(path), .tail = lines, .has_tail = true };
}

/* FS-2: which lines, and what becomes of their ends. */
static void head_and_tail_give_whole_lines_without_the_last_end(void **state)
{
    static const struct {
        const char *content;
        int64_t n;
        const char *head, *tail;
    } cases[] = {
        { "a\nb\nc\nd\ne\n", 2, "a\nb", "d\ne" },
        { "a\nb\nc\nd\ne\n", 0, "", "" },
        { "a\nb\nc\nd\ne\n", 5, "a\nb\nc\nd\ne", "a\nb\nc\nd\ne" },
        { "a\nb\nc\nd\ne\n", 10, "a\nb\nc\nd\ne", "a\nb\nc\nd\ne" },
        { "a\nb\nc\nd\ne\n", 4294967295, "a\nb\nc\nd\ne", "a\nb\nc\nd\ne" },
        { "a\nb", 1, "a", "b" },
        { "a\nb", 2, "a\nb", "a\nb" },
        { "a\r\nb\r\nc\r\n", 2, "a\nb", "b\nc" },
        { "a\r\nb\r\nc\r", 1, "a", "c\r" },
        { "a\rb\nc", 1, "a\rb", "c" },
        { "\n\n\n", 2, "\n", "\n" },
        { "\n", 1, "", "" },
        { "", 3, "", "" },
        { "x", 3, "x", "x" },
        { "a\n\nb\n\n", 2, "a\n", "b\n" },
        { "\xef\xbb\xbf"
          "a\nb\n",
          1,
          "\xef\xbb\xbf"
          "a",
          "b" },
    };
    struct place *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put(p, "f", cases[i].content);
        assert_says(call(p, fs_read_text, first("f", cases[i].n)), cases[i].head);
        assert_says(call(p, fs_read_text, last("f", cases[i].n)), cases[i].tail);
        assert_says(call(p, fs_read_text, with_path("f")), cases[i].content);
    }
}

/* What the two give is what splitting the whole gives, wherever a block of theirs ends. */
static void blocks_do_not_show(void **state)
{
    struct place *p = *state;
    auto_buf content = BUF(1 << 20), want = BUF(1 << 20);

    for (int lines = 1; lines < 60; lines += 7) {
        buf_clear(&content);
        for (int i = 0; i < lines; i++) {
            buf_fill(&content, (char)('a' + i % 26), (size_t)(65536 / 7 - 1 + i % 3));
            buf_addz(&content, i % 2 ? "\r\n" : "\n");
        }
        put_file(p, "f", buf_str(&content));
        for (int n = 1; n <= lines; n++) {
            struct str rest = buf_str(&content), line;

            buf_clear(&want);
            for (int i = 0; str_cut(rest, '\n', &line, &rest); i++) {
                if (i < lines - n)
                    continue;
                if (i > lines - n)
                    buf_addc(&want, '\n');
                buf_add(&want, str_ends(line, STR("\r")) ? str_upto(line, line.n - 1) : line);
            }
            assert_bytes(call(p, fs_read_text, last("f", n)).text, buf_str(&want));
        }
        assert_bytes(call(p, fs_read_text, first("f", lines)).text, buf_str(&want));
    }
}

/* FS-2: what the kernel makes when it is read has size 0 (/proc), or one that is too large
 * (/sys). */
static void files_without_their_size_have_ends_too(void **state)
{
    struct place *p = *state;
    const char *dirs[] = { p->in, "/proc", "/sys/kernel" };
    FILE *f = fopen("/proc/self/limits", "r");
    char line[256], want[256] = "";
    struct said s;

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        strcpy(want, line);
    fclose(f);
    access_unref(p->x);
    p->x = access_new(dirs, 3, false, NULL, NULL);
    s = call(p, fs_read_text, last("/proc/self/limits", 1));
    want[strcspn(want, "\n")] = '\0';
    assert_says(s, want);
    assert_true(call(p, fs_read_text, last("/proc/self/limits", 3)).text.n > strlen(want));
    s = call(p, fs_read_text, with_path("/proc/self/limits"));
    assert_bytes(call(p, fs_read_text, last("/proc/self/limits", 1000)).text,
                 str_upto(s.text, s.text.n - 1));
    if (access("/sys/kernel/uevent_seqnum", R_OK) == 0)
        assert_true(call(p, fs_read_text, last("/sys/kernel/uevent_seqnum", 1)).text.n > 0);
}

static void asking_for_both_ends_is_refused(void **state)
{
    struct fs_args in = first("f", 0);
    struct place *p = *state;

    put(p, "f", "x");
    in.has_tail = true;
    assert_fails(call(p, fs_read_text, in),
                 "Cannot specify both head and tail parameters simultaneously");
}

/* FS-3, SEC-65: a file of 10 GB, sparse. */
static void huge_files_are_read_at_their_ends_only(void **state)
{
    struct place *p = *state;
    int fd = open(at(p, "huge"), O_WRONLY | O_CREAT, 0600);
    int64_t before = clock_ms();
    struct said s;

    assert_int_equal(ftruncate(fd, (off_t)10 << 30), 0);
    assert_int_equal(pwrite(fd, "one\ntwo\n", 8, 0), 8);
    assert_int_equal(pwrite(fd, "\nlast\n", 6, ((off_t)10 << 30) - 6), 6);
    close(fd);
    s = call(p, fs_read_text, with_path("huge"));
    assert_fails(s, "it has 10737418240 bytes, more than 4718592");
    assert_has(s.text.p, "head or tail");
    assert_says(call(p, fs_read_text, first("huge", 2)), "one\ntwo");
    assert_says(call(p, fs_read_text, last("huge", 1)), "last");
    /* One line of 10 GB. */
    assert_fails(call(p, fs_read_text, first("huge", 3)), "have more than 4718592 bytes");
    assert_fails(call(p, fs_read_text, last("huge", 2)), "have more than 4718592 bytes");
    assert_true(clock_ms() - before < 1000 * slack());
}

static void the_limit_of_a_whole_read_is_exact(void **state)
{
    struct place *p = *state;
    auto_buf b = BUF(FS_READ_MAX + 1);

    buf_fill(&b, 'x', FS_READ_MAX);
    put_file(p, "f", buf_str(&b));
    assert_bytes(call(p, fs_read_text, with_path("f")).text, buf_str(&b));
    assert_bytes(call(p, fs_read_text, first("f", 1)).text, buf_str(&b));
    assert_bytes(call(p, fs_read_text, last("f", 1)).text, buf_str(&b));
    buf_addc(&b, 'x');
    put_file(p, "f", buf_str(&b));
    assert_fails(call(p, fs_read_text, with_path("f")), "it has 4718593 bytes");
    assert_fails(call(p, fs_read_text, first("f", 1)), "ask for fewer lines");
    assert_fails(call(p, fs_read_text, last("f", 1)), "ask for fewer lines");
}

/* SV-25, SEC-61. */
static void only_regular_files_are_read(void **state)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct place *p = *state;
    int64_t before = clock_ms();
    int s = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(mkfifo(at(p, "fifo"), 0600), 0);
    assert_int_equal(chdir(p->in), 0); /* its path would be too long for an address */
    strcpy(addr.sun_path, "sock");
    assert_int_equal(bind(s, (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(mkdir(at(p, "d"), 0755), 0);
    for (size_t i = 0; i < 2; i++) {
        const char *name = i ? "sock" : "fifo";

        assert_fails(call(p, fs_read_text, with_path(name)), "not a regular file");
        assert_fails(call(p, fs_read_text, first(name, 1)), "not a regular file");
        assert_fails(call(p, fs_read_text, last(name, 1)), "not a regular file");
        assert_fails(call(p, fs_read_media, with_path(name)), "not a regular file");
    }
    assert_fails(call(p, fs_read_text, with_path("d")), "Failed to read ");
    assert_fails(call(p, fs_read_text, with_path("d")), "/in/d: Is a directory");
    assert_true(clock_ms() - before < 1000 * slack());
    close(s);
}

/* SEC-57, SEC-58, SEC-63. */
static void what_lies_outside_is_refused(void **state)
{
    static const char *const links[][2] = {
        { "../out/secret", "file" },
        { "../out", "dir" },
        { "../out/none", "dangling" },
    };
    struct place *p = *state;
    auto_buf long_path = BUF(6000);

    put(p, "../out/secret", "s3cret");
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        assert_int_equal(symlink(links[i][0], at(p, links[i][1])), 0);
    assert_fails(call(p, fs_read_text, with_path("../out/secret")),
                 "Access denied - path outside");
    assert_fails(call(p, fs_read_text, with_path("//etc/passwd")),
                 "Access denied - path outside");
    assert_fails(call(p, fs_read_text, with_path("/etc/passwd")),
                 "Access denied - path outside");
    assert_fails(call(p, fs_read_text, with_path("file")), "Access denied - symlink target");
    assert_fails(call(p, fs_read_text, with_path("dir/secret")), "Access denied");
    assert_fails(call(p, fs_read_text, with_path("dangling")), "Access denied");
    assert_fails(call(p, fs_read_text, with_path("%2e%2e/out/secret")), "does not exist");
    put(p, "f", "x");
    assert_fails(call(p, fs_read_text, with_path("f/")), "Not a directory");
    assert_fails(call(p, fs_read_text, (struct fs_args){ .path = BYTES("f\0x") }), "NUL");
    assert_fails(call(p, fs_read_text, with_path("")), "empty");
    buf_fill(&long_path, 'x', 5000);
    assert_fails(call(p, fs_read_text, (struct fs_args){ .path = buf_str(&long_path) }),
                 "longer");
    buf_truncate(&long_path, 300);
    assert_fails(call(p, fs_read_text, (struct fs_args){ .path = buf_str(&long_path) }), "255");
}

/* FS-5. */
static void several_files_come_one_behind_the_other(void **state)
{
    struct str paths[] = { STR("a"), STR("missing"), STR("b"), STR("../out/x") };
    struct place *p = *state;
    struct said s;

    put(p, "a", "one\n");
    put(p, "b", "two");
    s = call(p, fs_read_multiple, (struct fs_args){ .paths = { paths, 4 } });
    assert_false(s.failed);
    assert_true(str_starts(s.text, STR("a:\none\n\n\n---\nmissing: Error - ")));
    assert_has(s.text.p,
               "\n---\nb:\ntwo\n\n---\n../out/x: Error - Access denied - path outside");
    s = call(p, fs_read_multiple, (struct fs_args){ .paths = { paths + 3, 1 } });
    assert_false(s.failed); /* also when all failed */
    assert_fails(call(p, fs_read_multiple, (struct fs_args){ 0 }),
                 "At least one file path must be provided");
}

static void several_files_have_limits_in_number_and_size(void **state)
{
    struct str paths[FS_PATHS_MAX + 1] = { STR("f"), STR("f"), STR("f"), STR("small") };
    struct place *p = *state;
    auto_buf b = BUF(FS_READ_MAX);
    struct said s;

    buf_fill(&b, 'x', FS_READ_MAX / 2 - 2);
    put_file(p, "f", buf_str(&b));
    put(p, "small", "abc");
    s = call(p, fs_read_multiple, (struct fs_args){ .paths = { paths, 4 } });
    assert_true(str_ends(s.text, STR("\n---\nf: Error - total size limit reached\n---\n"
                                     "small: Error - total size limit reached")));
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        paths[i] = STR("small");
    s = call(p, fs_read_multiple, (struct fs_args){ .paths = { paths, FS_PATHS_MAX } });
    assert_false(s.failed);
    assert_fails(
        call(p, fs_read_multiple, (struct fs_args){ .paths = { paths, FS_PATHS_MAX + 1 } }),
        "At most 1000 file paths");
}

/* FS-4: the three forms of a content item, which the structure repeats. */
static void media_are_images_audio_or_resources(void **state)
{
    struct place *p = *state;
    auto_buf want = BUF(20000);
    struct said s;

    put_file(p, "a.png", BYTES("\x89PNG"));
    s = call(p, fs_read_media, with_path("a.png"));
    assert_str(s.content,
               "{\"type\":\"image\",\"data\":\"iVBORw==\",\"mimeType\":\"image/png\"}");
    assert_str(s.structured, "{\"content\":[{\"type\":\"image\",\"data\":\"iVBORw==\","
                             "\"mimeType\":\"image/png\"}]}");
    put(p, "b.MP3", "abc");
    s = call(p, fs_read_media, with_path("b.MP3"));
    assert_str(s.content, "{\"type\":\"audio\",\"data\":\"YWJj\",\"mimeType\":\"audio/mpeg\"}");
    put(p, "c d%\xc3\xa9#.bin", "");
    s = call(p, fs_read_media, with_path("c d%\xc3\xa9#.bin"));
    buf_addf(
        &want,
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"file://%s/c%%20d%%25%%C3%%A9%%23.bin\","
        "\"mimeType\":\"application/octet-stream\",\"blob\":\"\"}}",
        p->in);
    assert_bytes(s.content, buf_str(&want));
    assert_int_equal(truncate(at(p, "a.png"), (off_t)FS_MEDIA_MAX), 0);
    assert_false(call(p, fs_read_media, with_path("a.png")).failed);
    assert_int_equal(truncate(at(p, "a.png"), (off_t)FS_MEDIA_MAX + 1), 0);
    assert_fails(call(p, fs_read_media, with_path("a.png")),
                 "it has 3670017 bytes, more than 3670016; use a smaller file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(head_and_tail_give_whole_lines_without_the_last_end),
        PLACE_TEST(blocks_do_not_show),
        PLACE_TEST(files_without_their_size_have_ends_too),
        PLACE_TEST(asking_for_both_ends_is_refused),
        PLACE_TEST(huge_files_are_read_at_their_ends_only),
        PLACE_TEST(the_limit_of_a_whole_read_is_exact),
        PLACE_TEST(only_regular_files_are_read),
        PLACE_TEST(what_lies_outside_is_refused),
        PLACE_TEST(several_files_come_one_behind_the_other),
        PLACE_TEST(several_files_have_limits_in_number_and_size),
        PLACE_TEST(media_are_images_audio_or_resources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
