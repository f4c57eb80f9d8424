/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A file's content, an old and a new text, parted by NULs. What is loaded is stored as it was;
 * an edit that fails changes nothing; one that succeeds on a text with '\n' alone, where the
 * old text stands in it, is the plain replacement; nothing invalid is ever stored.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "servers/fs/edit_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_stored(const struct edit_text *t, struct str want)
{
    auto_buf out = BUF(1 << 20);

    edit_text_store(t, &out);
    if (!str_eq(buf_str(&out), want))
        abort();
}

/* One byte of `ends` a line end, if there are two kinds. */
static void check_ends(const struct edit_text *t)
{
    struct str s = buf_str(&t->text);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n';
    if (t->ends.n != (t->mixed ? n : 0))
        abort();
}

static void check_replaced(const struct edit_text *t, struct str raw, const struct fs_edit *e)
{
    auto_buf want = BUF(1 << 20);
    size_t at = str_find(raw, e->old_text);

    if (at == SIZE_MAX || e->old_text.n == 0 || str_find_char(raw, '\r') != SIZE_MAX ||
        str_find_char(e->old_text, '\r') != SIZE_MAX || str_starts(raw, STR("\xef\xbb\xbf")) ||
        str_find_char(e->new_text, '\r') != SIZE_MAX)
        return;
    buf_add(&want, str_upto(raw, at));
    buf_add(&want, e->new_text);
    buf_add(&want, str_from(raw, at + e->old_text.n));
    check_stored(t, buf_str(&want));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str raw = { (const char *)data, size }, line;
    struct fs_edit edit = { 0 };
    struct edit_text t;
    bool ok;

    str_cut(raw, '\0', &raw, &edit.old_text);
    str_cut(edit.old_text, '\0', &edit.old_text, &edit.new_text);
    if (!edit_text_load(&t, raw, NULL)) {
        edit_text_free(&t);
        return 0;
    }
    check_stored(&t, raw);
    ok = edit_text_apply(&t, &edit, NULL);
    check_ends(&t);
    if (ok)
        check_replaced(&t, raw, &edit);
    else
        check_stored(&t, raw);
    if (utf8_valid(edit.old_text) && utf8_valid(edit.new_text) && !utf8_valid(buf_str(&t.text)))
        abort();
    edit_text_closest(&t, edit.old_text, &line);
    edit_text_free(&t);
    return 0;
}
