/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../check.h"

#include "base/utf8.h"
#include "servers/fetch/charset.h"

/* FE-8 */
static void header_then_mark_then_meta_then_utf8(void **state)
{
    /* clang-format off */
    static const struct { struct str bytes; const char *type, *name; } rows[] = {
        { BYTES("x"), "", "UTF-8" },
        { BYTES("x"), "text/html", "UTF-8" },
        { BYTES("x"), "text/html; charset=ISO-8859-1", "CP1252" },
        { BYTES("x"), "text/html;charset=\"windows-1251\"; x=y", "CP1251" },
        { BYTES("x"), "text/html; x=y; CHARSET = 'koi8-r'", "KOI8-R" },
        { BYTES("x"), "text/html; charset=Shift_JIS", "CP932" },
        { BYTES("x"), "text/html; charset=gb2312", "GB18030" },
        { BYTES("x"), "text/html; charset=nonsense", "UTF-8" },
        { BYTES("x"), "text/html; charset=utf-8//TRANSLIT", "UTF-8" },
        { BYTES("x"), "text/html; charset=../../x", "UTF-8" },
        { BYTES("x"), "text/html; charset=latin", "UTF-8" }, /* a part of a label is none */
        { BYTES("x"), "text/html; charset=", "UTF-8" },
        { BYTES("\xef\xbb\xbfx"), "", "UTF-8" },
        { BYTES("\xff\xfex\0"), "", "UTF-16LE" },
        { BYTES("\xfe\xff\0x"), "", "UTF-16BE" },
        { BYTES("\xfe\xff\0x"), "text/plain; charset=utf-16", "UTF-16BE" },
        { BYTES("x\0"), "text/plain; charset=utf-16", "UTF-16LE" },
        { BYTES("\xef\xbb\xbfx"), "text/html; charset=latin1", "CP1252" },
        { BYTES("<meta charset=euc-kr>"), "text/html", "UHC" },
        { BYTES("<meta charset=euc-kr>"), "text/html; charset=big5", "BIG5-HKSCS" },
        { BYTES("\xef\xbb\xbf<meta charset=euc-kr>"), "text/html", "UTF-8" },
        { BYTES("<meta http-equiv=content-type content='text/html; charset=iso-8859-2'>"), "", "ISO-8859-2" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *got = charset_of(rows[i].bytes, str_of(rows[i].type));

        if (strcmp(got, rows[i].name) != 0)
            fail_msg("row %zu: %s, not %s", i, got, rows[i].name);
    }
    (void)state;
}

static void bytes_become_utf8_and_what_is_wrong_a_replacement(void **state)
{
    /* clang-format off */
    static const struct { struct str in; const char *name, *out; } rows[] = {
        { BYTES("\xef\xbb\xbf\xc3\xa4"), "UTF-8", "ä" },
        { BYTES("a\xff" "b\xc3"), "UTF-8", "a\xef\xbf\xbd" "b\xef\xbf\xbd" },
        { BYTES("\xe4\x80\x93"), "CP1252", "ä€“" },
        { BYTES("a\x81" "b"), "CP1252", "a\xef\xbf\xbd" "b" },
        { BYTES("\xcf\xf0\xe8"), "CP1251", "При" },
        { BYTES("\xf0\xd2\xc9"), "KOI8-R", "При" },
        { BYTES("\x93\xfa\x96\x7b"), "CP932", "日本" },
        { BYTES("\x93\xfa\x96"), "CP932", "日\xef\xbf\xbd" },
        { BYTES("\xc6\xfc\xcb\xdc"), "EUC-JP", "日本" },
        { BYTES("\x1b$BF|K\\\x1b(Bx"), "ISO-2022-JP", "日本x" },
        { BYTES("\xd6\xd0\xce\xc4"), "GB18030", "中文" },
        { BYTES("\xa4\xa4\xa4\xe5"), "BIG5-HKSCS", "中文" },
        { BYTES("\xc7\xd1"), "UHC", "한" },
        { BYTES("\xff\xfe\xe4\0\x3d\xd8\0\xde"), "UTF-16LE", "ä😀" },
        { BYTES("\xfe\xff\0\xe4"), "UTF-16BE", "ä" },
        { BYTES("\xe4\0\x3d\xd8x\0y"), "UTF-16LE", "ä\xef\xbf\xbdx\xef\xbf\xbd" },
        { BYTES(""), "CP1252", "" },
        { BYTES("\xe4"), "NO-SUCH-TABLE", "\xef\xbf\xbd" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(rows[i].in.n * CHARSET_GROWTH + 64);

        charset_decode(rows[i].in, rows[i].name, &out);
        if (!str_is(buf_str(&out), rows[i].out))
            print_error("row %zu\n", i);
        assert_str(buf_str(&out), rows[i].out);
    }
    (void)state;
}

/* Every label leads to a table that this libc has, and no bytes make it give anything but UTF-8
 * within the room that was promised. */
static void every_encoding_takes_any_bytes(void **state)
{
    static const char *const labels[] = {
        "utf-8",        "latin1",       "iso-8859-2",   "iso-8859-3",
        "iso-8859-4",   "iso-8859-5",   "iso-8859-6",   "iso-8859-7",
        "iso-8859-8",   "iso-8859-10",  "iso-8859-13",  "iso-8859-14",
        "l9",           "iso-8859-16",  "windows-874",  "windows-1250",
        "windows-1251", "windows-1253", "latin5",       "windows-1255",
        "windows-1256", "windows-1257", "windows-1258", "koi8-r",
        "koi8-u",       "ibm866",       "macintosh",    "x-mac-cyrillic",
        "gbk",          "big5",         "euc-jp",       "iso-2022-jp",
        "sjis",         "euc-kr",       "utf-16le",     "utf-16be",
    };
    auto_buf in = BUF(1 << 20);
    uint32_t x = 1;

    for (int i = 0; i < 200000; i++)
        buf_addc(&in, (char)((x = x * 1664525 + 1013904223) >> 24));
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        auto_buf out = BUF(in.n * CHARSET_GROWTH + 64), type = BUF(100), ascii = BUF(100);
        const char *name;

        buf_addf(&type, "text/plain; charset=%s", labels[i]);
        name = charset_of(STR("x"), buf_str(&type));
        if (i > 0)
            assert_string_not_equal(name, "UTF-8");
        charset_decode(buf_str(&in), name, &out);
        assert_false(out.over);
        assert_true(out.n > 10000);
        assert_true(utf8_valid(buf_str(&out)));
        if (strncmp(name, "UTF-16", 6) == 0)
            continue;
        charset_decode(STR("<p>plain ASCII</p>"), name, &ascii);
        assert_str(buf_str(&ascii), "<p>plain ASCII</p>"); /* the table exists, and is one */
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_then_mark_then_meta_then_utf8),
        cmocka_unit_test(bytes_become_utf8_and_what_is_wrong_a_replacement),
        cmocka_unit_test(every_encoding_takes_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
