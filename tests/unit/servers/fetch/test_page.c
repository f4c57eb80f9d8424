/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../check.h"

#include "servers/fetch/page.h"

static void check(struct page p, const char *want)
{
    auto_buf out = BUF(1 << 20);

    p.given = STR("http://h/p");
    p.url = STR("http://h/p");
    if (!p.max)
        p.max = 5000;
    page_render(&p, &out);
    assert_str(buf_str(&out), want);
}

#define RAW(type) \
    "Content type " type " cannot be simplified to markdown, but here is the raw content:\n"
#define HEAD "Contents of http://h/p:\n"

/* FE-3, FE-4 */
static void a_page_becomes_markdown_and_all_else_stays_as_it_is(void **state)
{
    check((struct page){ .body = BYTES("<p>a <b>b</b>"), .type = STR("text/html") },
          HEAD "a **b**");
    check((struct page){ .body = BYTES("<html><p>a"), .type = STR("application/xhtml+xml") },
          HEAD "a");
    check((struct page){ .body = BYTES("<!doctype html><p>a") }, HEAD "a");
    check((struct page){ .body = BYTES("{\"a\":1}"), .type = STR("application/json") },
          RAW("application/json") HEAD "{\"a\":1}");
    check((struct page){ .body = BYTES("a < b") }, RAW("") HEAD "a < b");
    check((struct page){ .body = BYTES("<p>a"),
                         .type = STR("text/html; charset=utf-8"),
                         .raw = true },
          RAW("text/html; charset=utf-8") HEAD "<p>a");
    check((struct page){ .body = BYTES("<div></div>"), .type = STR("text/html") },
          HEAD "<error>Page failed to be simplified from HTML</error>");
    check((struct page){ .body = BYTES("<p>a"), .type = STR("text/html"), .whole = true }, "a");
    check((struct page){ .body = BYTES("abc"), .type = STR("text/plain"), .whole = true },
          RAW("text/plain") "abc");
    (void)state;
}

/* FE-4: few bytes with a long <base> may become many; that is not a page without text. */
static void markdown_that_is_too_large_says_so(void **state)
{
    auto_buf body = BUF(1 << 20);

    buf_addz(&body, "<base href='http://h/");
    for (int i = 0; i < 2000; i++)
        buf_addc(&body, 'b');
    buf_addz(&body, "/'>");
    for (int i = 0; i < 10000; i++)
        buf_addz(&body, "<a href=a>x</a> ");
    check((struct page){ .body = buf_str(&body), .type = STR("text/html") }, HEAD
          "<error>The Markdown of this page would have more than 16777216 bytes; the fetch "
          "tool with raw set gives the page as it is</error>");
    (void)state;
}

/* FE-5 */
static void a_slice_is_counted_in_scalar_values(void **state)
{
#define T RAW("text/plain") HEAD
#define MORE(n)                                                                             \
    "\n\n<error>Content truncated. Call the fetch tool with a start_index of " n " to get " \
    "more content.</error>"
    /* clang-format off */
    static const struct { const char *body; int64_t start, max; const char *want; } rows[] = {
        { "aä😀d", 0, 4, T "aä😀d" },
        { "aä😀d", 0, 3, T "aä😀" MORE("3") },
        { "aä😀d", 1, 2, T "ä😀" MORE("3") },
        { "aä😀d", 3, 1, T "d" },
        { "aä😀d", 3, 999999, T "d" },
        { "aä😀d", 4, 1, T "<error>No more content available.</error>" },
        { "aä😀d", INT64_MAX, 999999, T "<error>No more content available.</error>" },
        { "", 0, 5, T "<error>No more content available.</error>" },
        { "a\xff" "b", 0, 2, T "a\xef\xbf\xbd" MORE("2") },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check((struct page){ .body = str_of(rows[i].body),
                             .type = STR("text/plain"),
                             .start = rows[i].start,
                             .max = rows[i].max },
              rows[i].want);
    (void)state;
}

/* FE-16 */
static void binary_data_is_named_and_not_shown(void **state)
{
#define BINARY(type, n) \
    "http://h/p holds binary data, which is not shown: content type " type ", " n " bytes"
    static const char *const text[] = {
        "text/css",
        "TEXT/plain",
        "application/json",
        "application/ld+json",
        "image/svg+xml",
        "application/xml",
        "application/javascript",
        "text/javascript;x=y",
        "application/x-www-form-urlencoded",
        "application/atom+xml; charset=utf-8",
        "",
    };

    check((struct page){ .body = BYTES("a\0b"), .type = STR("text/plain") },
          BINARY("text/plain", "3"));
    check((struct page){ .body = BYTES("%PDF-1.7"), .type = STR("application/pdf") },
          BINARY("application/pdf", "8"));
    check((struct page){ .body = BYTES("\x89PNG\0") }, BINARY("unknown", "5"));
    check((struct page){ .body = BYTES("x"),
                         .type = STR("application/vnd.openxmlformats-officedocument") },
          BINARY("application/vnd.openxmlformats-officedocument", "1"));
    check((struct page){ .body = BYTES("x"), .type = STR("image/p\x1b[31mng"), .raw = true },
          BINARY("image/png", "1"));
    /* UTF-16 is full of NUL bytes. */
    check((struct page){ .body = BYTES("\xff\xfe"
                                       "a\0b\0"),
                         .type = STR("text/plain") },
          T "ab");
    for (size_t i = 0; i < ARRAY_LEN(text); i++) {
        auto_buf out = BUF(1000);
        struct page p = {
            .body = STR("plain"), .type = str_of(text[i]), .max = 10, .given = STR("u")
        };

        page_render(&p, &out);
        assert_has(buf_z(&out), "\nplain");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_becomes_markdown_and_all_else_stays_as_it_is),
        cmocka_unit_test(markdown_that_is_too_large_says_so),
        cmocka_unit_test(a_slice_is_counted_in_scalar_values),
        cmocka_unit_test(binary_data_is_named_and_not_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
