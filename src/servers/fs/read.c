/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* read_file, read_text_file, read_multiple_files (FS-2, FS-3, FS-5). */
#include <string.h>

#include "base/mem.h"
#include "servers/fs/content.h"

/* The text of a failure behind "Failed to read <path>: ". */
static const char *reason(const struct error *e)
{
    return e->kind == ERR_SYS ? strerror(e->sys) : e->msg;
}

void fs_read_text(struct fs_call *c)
{
    const struct fs_args *in = &c->in;
    struct buf text = BUF(FS_READ_MAX);
    const char *real, *advice = "";
    struct error e;
    bool ok;

    if (in->has_head && in->has_tail) {
        answer_error(c->out, "Cannot specify both head and tail parameters simultaneously");
        return;
    }
    auto_close int fd = content_open(c, in->path, &real);
    if (fd < 0)
        return;
    if (in->has_head)
        ok = content_head(c, fd, (uint64_t)in->head, &text, &e);
    else if (in->has_tail)
        ok = content_tail(c, fd, (uint64_t)in->tail, &text, &e);
    else
        ok = content_whole(c, fd, &text, &e);
    if (!ok && e.kind == ERR_LIMIT)
        advice = in->has_head || in->has_tail ? "; ask for fewer lines"
                                              : "; read it in parts, with head or tail";
    if (!ok) {
        buf_free(&text);
        answer_error(c->out, "Failed to read %s: %s%s", real, reason(&e), advice);
        return;
    }
    c->out->text = text;
}

/* One file into the text; its own answer holds what went wrong. */
static bool read_one(struct fs_call *c, struct str path, size_t *left, struct answer *own)
{
    struct buf text = BUF(*left);
    struct fs_call one = *c;
    const char *real;
    struct error e;

    one.out = own;
    auto_close int fd = content_open(&one, path, &real);
    if (fd < 0)
        return false;
    if (!content_whole(c, fd, &text, &e)) {
        buf_free(&text);
        if (e.kind == ERR_LIMIT) {
            *left = 0;
            return answer_error(own, "total size limit reached");
        }
        return answer_error(own, "Failed to read %s: %s", real, reason(&e));
    }
    *left -= text.n;
    own->text = text;
    return true;
}

void fs_read_multiple(struct fs_call *c)
{
    const struct arg_strings *paths = &c->in.paths;
    struct buf *out = &c->out->text;
    size_t left = FS_READ_MAX;

    if (paths->n == 0) {
        answer_error(c->out, "At least one file path must be provided");
        return;
    }
    if (paths->n > FS_PATHS_MAX) {
        answer_error(c->out, "At most %d file paths can be given at once, not %zu",
                     FS_PATHS_MAX, paths->n);
        return;
    }
    for (size_t i = 0; i < paths->n && !fs_cancelled(c); i++) {
        struct answer own = ANSWER;
        bool ok = left ? read_one(c, paths->v[i], &left, &own)
                       : answer_error(&own, "total size limit reached");

        if (i)
            buf_add(out, STR("\n---\n"));
        buf_add(out, paths->v[i]);
        buf_add(out, ok ? STR(":\n") : STR(": Error - "));
        buf_add(out, buf_str(&own.text));
        if (ok)
            buf_addc(out, '\n');
        answer_free(&own);
        fs_advance(c, 1);
    }
}
