/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Server-sent events, read as they come (the HTML standard, "interpreting an event stream").
 * Bytes may be cut anywhere; lines end with LF, CR or CRLF. An event that the end of the stream
 * cuts off is never told. No I/O; the time is linear, and what is kept has a ceiling.
 */
#ifndef SYM_TEXT_SSE_H
#define SYM_TEXT_SSE_H

#include "base/buf.h"

#define SSE_ID_MAX    1024 /* bytes; a longer id counts as none */
#define SSE_TYPE_MAX  64   /* a longer type is cut: it is none that we know */
#define SSE_RETRY_MAX 3600000

struct sse {
    struct buf line, data, type; /* of the event being read */
    struct buf id;               /* the last event id, for Last-Event-ID; may be empty */
    int retry_ms;                /* as the stream asked; -1: it did not */
    bool after_cr;               /* the last byte was a CR: an LF that follows belongs to it */
    bool has_data, begun, too_long;
};

/* An event with data. Valid during the call; the parser may be freed by its owner only after
 * sse_feed() is back. */
struct sse_event {
    struct str type; /* empty: "message" */
    struct str data; /* empty with too_long */
    bool too_long;   /* more than max_data bytes: discarded, and the stream goes on */
};
/* False: no more is wanted, what is left of the bytes is dropped. */
typedef bool (*sse_fn)(void *ctx, const struct sse_event *event);

void sse_init(struct sse *s, size_t max_data);
void sse_feed(struct sse *s, struct str rest, sse_fn on_event, void *ctx);
void sse_free(struct sse *s);

#endif
