/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/sse.h"

/* Events as "type=data|", a too long one as "!|"; ends with "id:retry". */
static bool on_event(void *ctx, const struct sse_event *event)
{
    if (event->too_long)
        buf_addz(ctx, "!|");
    else
        buf_addf(ctx, "%.*s=%.*s|", STR_F(event->type), STR_F(event->data));
    return !str_is(event->data, "stop");
}

static void read_in_pieces(struct str text, size_t piece, size_t max, struct buf *out)
{
    struct sse s;

    sse_init(&s, max);
    for (; text.n; text = str_from(text, piece))
        sse_feed(&s, str_upto(text, piece), on_event, out);
    buf_addf(out, "%.*s:%d", STR_F(buf_str(&s.id)), s.retry_ms);
    sse_free(&s);
}

static const struct {
    const char *in, *want;
} rows[] = {
    { "data: a\n\n", "=a|:-1" },
    { "data:a\r\n\r\ndata:b\r\rdata: c\n\n", "=a|=b|=c|:-1" },
    { "\xef\xbb\xbf"
      "data: a\n\n",
      "=a|:-1" },
    { "event: message\ndata: {\ndata: }\nid: 7\nretry: 50\n\n", "message={\n}|7:50" },
    { ": keep-alive\n\n:\n\ndata: a\n\n", "=a|:-1" },
    { "id: 1\ndata:\n\n", "1:-1" }, /* priming: no event, its id counts */
    { "id: 1\ndata: a\n\nid\ndata: b\n\n", "=a|=b|:-1" },
    { "data: cut off", ":-1" },
    { "data: cut off\n", ":-1" },
    { "event: x\n\ndata: a\n\n", "=a|:-1" }, /* a type without data is forgotten */
    { "retry: -1\nretry: 1x\nretry: 99999999\n", ":-1" },
    { "nonsense\ndatum: 1\ndata\ndata: a\n\n", "=\na|:-1" },
    { "data: stop\n\n", "=stop|:-1" },
};

static void events_are_read_wherever_the_bytes_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str in = str_of(rows[i].in);

        for (size_t piece = 1; piece <= in.n; piece++) {
            auto_buf out = BUF(1 << 16);

            read_in_pieces(in, piece, 1 << 10, &out);
            if (strcmp(buf_z(&out), rows[i].want) != 0)
                fail_msg("row %zu in pieces of %zu: '%s'", i, piece, buf_z(&out));
        }
    }
}

static void a_too_long_event_is_told_and_the_stream_goes_on(void **state)
{
    auto_buf in = BUF(1 << 20);

    (void)state;
    buf_addz(&in, "data: ");
    buf_fill(&in, 'x', 5000);
    buf_addz(&in, "\n\ndata: a\n\n:");
    buf_fill(&in, 'c', 5000); /* a comment may be as long as it likes */
    buf_addz(&in, "\n\ndata: b\n\n");
    for (size_t i = 0; i < 30; i++)
        buf_addz(&in, "data: 0123456789\n"); /* many lines are one event */
    buf_addz(&in, "\ndata: c\n\n");
    buf_fill(&in, 'f', 5000); /* a line that is no field we know: lost, so it is said */
    buf_addz(&in, "\ndata: d\n\ndata: e\n\n");
    for (size_t piece = 1; piece < in.n + 7; piece += 7) {
        auto_buf out = BUF(1 << 16);

        read_in_pieces(buf_str(&in), piece, 100, &out);
        assert_string_equal(buf_z(&out), "!|=a|=b|!|=c|!|=e|:-1");
    }
}

static void ids_that_cannot_stand_in_a_header_count_as_none(void **state)
{
    auto_buf in = BUF(1 << 20), out = BUF(1 << 20);

    (void)state;
    buf_addz(&in, "id: good\nid: ");
    buf_fill(&in, 'x', SSE_ID_MAX + 1);
    buf_addz(&in, "\nid: a");
    buf_add(&in, (struct str){ "\0b", 2 });
    buf_addz(&in, "\n\n");
    read_in_pieces(buf_str(&in), 11, 1 << 16, &out);
    assert_string_equal(buf_z(&out), "good:-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_wherever_the_bytes_are_cut),
        cmocka_unit_test(a_too_long_event_is_told_and_the_stream_goes_on),
        cmocka_unit_test(ids_that_cannot_stand_in_a_header_count_as_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
