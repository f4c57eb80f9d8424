/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "acp/text.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

/* A text event in JSON: each byte may become an escape of six. */
#define EVENT_MAX (6 * ACP_PIECE_MAX + 8 * ACP_ID_MAX)

static void forget_id(struct acp_voice *v)
{
    free((char *)(uintptr_t)v->id.p);
    v->id = (struct str){ 0 };
}

void acp_text_init(struct acp_text *t, acp_text_fn fn, void *ctx)
{
    *t = (struct acp_text){ .fn = fn, .ctx = ctx, .pending = BUF(ACP_PIECE_MAX) };
    for (size_t i = 0; i < ARRAY_LEN(t->voices); i++)
        t->voices[i].said = BUF(ACP_PIECE_MAX);
}

void acp_text_free(struct acp_text *t)
{
    buf_free(&t->pending);
    for (size_t i = 0; i < ARRAY_LEN(t->voices); i++) {
        forget_id(&t->voices[i]);
        buf_free(&t->voices[i].said);
    }
}

/* ---- telling ---- */

void acp_text_flush(struct acp_text *t)
{
    struct acp_voice *v = &t->voices[t->kind];
    auto_buf data = BUF(EVENT_MAX);
    struct jw w = jw_to(&data);

    if (!t->pending.n && !t->replaces)
        return;
    jw_obj(&w);
    jw_kstr(&w, "text", buf_str(&t->pending));
    if (v->id.n)
        jw_kstr(&w, "message_id", v->id);
    if (t->replaces)
        jw_kbool(&w, "replaces", true);
    else if (v->told)
        jw_kbool(&w, "continues", true);
    jw_end(&w);
    v->told = true;
    t->replaces = false;
    buf_clear(&t->pending);
    t->fn(t->ctx, t->kind == ACP_TEXT_MESSAGE ? ACP_EV_MESSAGE : ACP_EV_THOUGHT,
          buf_str(&data));
}

void acp_text_break(struct acp_text *t)
{
    acp_text_flush(t);
    for (size_t i = 0; i < ARRAY_LEN(t->voices); i++)
        t->voices[i].open = false;
}

static void append(struct acp_text *t, struct str text)
{
    while (text.n) {
        struct str piece = utf8_cut(text, ACP_PIECE_MAX - t->pending.n);

        buf_add(&t->pending, piece);
        text = str_from(text, piece.n);
        if (text.n)
            acp_text_flush(t);
    }
}

/* ---- whose text it is ---- */

static bool is_same(const struct acp_voice *v, struct str id)
{
    return v->id.n ? str_eq(id, v->id) : v->open && !id.n;
}

static void begin(struct acp_voice *v, struct str id)
{
    forget_id(v);
    if (id.n)
        v->id = (struct str){ str_dup(id), id.n };
    v->told = false;
    buf_clear(&v->said);
}

/* Flushes what is of another message, and makes this one the current. */
static struct acp_voice *turn_to(struct acp_text *t, enum acp_text_kind kind, struct str id)
{
    struct acp_voice *v = &t->voices[kind];

    if (id.n > ACP_ID_MAX)
        id.n = 0;
    if (kind != t->kind) {
        acp_text_flush(t);
        t->voices[t->kind].open = false;
    }
    if (!is_same(v, id)) {
        acp_text_flush(t);
        begin(v, id);
    }
    t->kind = kind;
    v->open = true;
    return v;
}

void acp_text_chunk(struct acp_text *t, enum acp_text_kind kind, struct str id, struct str text)
{
    struct acp_voice *v = turn_to(t, kind, id);

    buf_add(&v->said, text);
    append(t, text);
}

void acp_text_whole(struct acp_text *t, enum acp_text_kind kind, struct str id, struct str text)
{
    struct acp_voice *v = turn_to(t, kind, id);
    struct str said = buf_str(&v->said);

    if (!v->said.over && str_starts(text, said)) {
        text = str_from(text, said.n);
    } else {
        buf_clear(&t->pending);
        buf_clear(&v->said);
        t->replaces = v->told;
    }
    buf_add(&v->said, text);
    append(t, text);
}
