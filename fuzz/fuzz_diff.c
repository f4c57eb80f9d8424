/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two texts, parted by a NUL: the changes make the new one of the old one, are in order and
 * apart, and never more than all lines; the unified form can be written. */
#include <stdlib.h>

#include "base/mem.h"
#include "text/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str take_line(struct str *s)
{
    size_t at = str_find_char(*s, '\n');
    struct str line = at == SIZE_MAX ? *s : str_upto(*s, at + 1);

    *s = str_from(*s, line.n);
    return line;
}

static void skip_lines(struct str *s, size_t n)
{
    while (n--) {
        if (take_line(s).n == 0)
            abort();
    }
}

static void copy_lines(struct buf *out, struct str *s, size_t n)
{
    while (n--) {
        struct str line = take_line(s);

        if (line.n == 0)
            abort();
        buf_add(out, line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = { (const char *)data, size }, old = all, new = { 0 }, from_old, from_new;
    auto_buf got = BUF(1 << 20), out = BUF(8 << 20);
    struct diff_changes c;
    size_t at = 0, new_at = 0;

    str_cut(all, '\0', &old, &new);
    diff_lines(old, new, &c);
    from_old = old;
    from_new = new;
    for (size_t i = 0; i < c.n; i++) {
        const struct diff_change *v = &c.v[i];

        if (v->old_at < at || (i && v->old_at == at) || v->old_n + v->new_n == 0 ||
            v->new_at - new_at != v->old_at - at)
            abort();
        copy_lines(&got, &from_old, v->old_at - at);
        skip_lines(&from_new, v->new_at - new_at);
        skip_lines(&from_old, v->old_n);
        copy_lines(&got, &from_new, v->new_n);
        at = v->old_at + v->old_n;
        new_at = v->new_at + v->new_n;
    }
    buf_add(&got, from_old);
    if (!str_eq(buf_str(&got), new))
        abort();
    diff_unified(&out, old, new, STR("a"), STR("b"));
    free(c.v);
    return 0;
}
