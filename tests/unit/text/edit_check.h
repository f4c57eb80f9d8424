/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tests of the span editors are tables: a whole text before and after one edit. */
#ifndef SYM_TEST_EDIT_CHECK_H
#define SYM_TEST_EDIT_CHECK_H

#include "../check.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "text/edit.h"

struct edit_row {
    const char *what, *text;
    const char *key; /* the way, with dots; digits are elements */
    const char *value;
    const char *want;  /* NULL: it fails, and puts nothing out */
    const char *error; /* part of its message */
};

typedef bool (*edit_fn)(struct buf *out, struct str text, struct edit_at at, struct str value,
                        struct error *e);

static inline struct edit_at way(struct arena *a, const char *dotted)
{
    struct edit_step *v = ARENA_ARRAY(a, struct edit_step, 8);
    struct str rest = str_of(dotted), head;
    size_t n = 0;
    int64_t index;

    while (str_next(&rest, '.', &head)) {
        if (str_to_int(head, 0, 100, &index))
            v[n].index = (size_t)index;
        else
            v[n].key = arena_z(a, head);
        n++;
    }
    return (struct edit_at){ v, n };
}

static inline void check_edits(edit_fn edit, const struct edit_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct edit_row *r = &rows[i];
        auto_arena a = ARENA;
        auto_buf out = BUF(1 << 16);
        struct error e = { 0 };
        bool ok = edit(&out, str_of(r->text), way(&a, r->key), str_of(r->value), &e);

        if (!r->want) {
            if (ok || out.n)
                fail_msg("%s: should fail, gives\n%s", r->what, buf_z(&out));
            if (!strstr(e.msg, r->error ? r->error : ""))
                fail_msg("%s: says '%s'", r->what, e.msg);
            continue;
        }
        if (!ok)
            fail_msg("%s: %s", r->what, e.msg);
        if (strcmp(buf_z(&out), r->want) != 0)
            fail_msg("%s:\n%s\n-- instead of --\n%s", r->what, buf_z(&out), r->want);
    }
}

#endif
