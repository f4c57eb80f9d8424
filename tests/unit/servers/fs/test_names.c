/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fs_check.h"

#include "servers/fs/mime.h"

/* FS-14. */
static void sizes_have_two_decimals_and_binary_units(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *want;
    } cases[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 1023, "1023 B" },
        { 1024, "1.00 KB" },
        { 1152, "1.13 KB" }, /* 1.125: half up */
        { 1536, "1.50 KB" },
        { 1048575, "1024.00 KB" },
        { 1048576, "1.00 MB" },
        { UINT64_C(1) << 30, "1.00 GB" },
        { UINT64_C(1) << 40, "1.00 TB" },
        { UINT64_C(5) << 50, "5120.00 TB" },
        { UINT64_MAX, "16777216.00 TB" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        fs_put_size(&b, cases[i].bytes);
        assert_str(buf_str(&b), cases[i].want);
    }
}

/* FS-12, SEC-63: whatever a name holds, it is shown on one line. */
static void names_are_shown_on_one_line(void **state)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "plain.txt", "plain.txt" },
        { "caf\xc3\xa9 \xe2\x9c\x93", "caf\xc3\xa9 \xe2\x9c\x93" },
        { "a\nb", "a\\nb" },
        { "a\tb\r", "a\\tb\\x0d" },
        { "\x1b[31m", "\\x1b[31m" },
        { "\x7f", "\\x7f" },
        { "\xc2\x85", "\\x85" },
        { "a\xff"
          "b",
          "a\xef\xbf\xbd"
          "b" },
        { "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "back\\slash", "back\\slash" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        fs_put_name(&b, str_of(cases[i].name));
        assert_str(buf_str(&b), cases[i].want);
    }
}

/* FS-4. */
static void media_types_go_by_the_extension(void **state)
{
    static const struct {
        const char *path, *want;
    } cases[] = {
        { "a.png", "image/png" },
        { "/x.d/A.JPG", "image/jpeg" },
        { "a.jpeg", "image/jpeg" },
        { "a.gif", "image/gif" },
        { "a.webp", "image/webp" },
        { "a.bmp", "image/bmp" },
        { "a.svg", "image/svg+xml" },
        { "a.mp3", "audio/mpeg" },
        { "a.wav", "audio/wav" },
        { "a.ogg", "audio/ogg" },
        { "a.flac", "audio/flac" },
        { "a.txt", "text/plain" },
        { "a.pdf", "application/pdf" },
        { "a.mp4", "video/mp4" },
        { "a.json", "application/json" },
        { "a.html", "text/html" },
        { "a.css", "text/css" },
        { "a.js", "text/javascript" },
        { "a.csv", "text/csv" },
        { "a.xml", "application/xml" },
        { "a.zip", "application/zip" },
        { "a.tar.gz", "application/gzip" },
        { "a.3gp", "video/3gpp" },
        { "a.zst", "application/zstd" },
        { "a.unknown", "application/octet-stream" },
        { "a", "application/octet-stream" },
        { "a.", "application/octet-stream" },
        { ".png", "application/octet-stream" },
        { "a.png/b", "application/octet-stream" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(mime_of(cases[i].path), cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_two_decimals_and_binary_units),
        cmocka_unit_test(names_are_shown_on_one_line),
        cmocka_unit_test(media_types_go_by_the_extension),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
