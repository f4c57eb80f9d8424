/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* edit_file (FS-7 to FS-10). */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "servers/fs/content.h"
#include "servers/fs/edit_text.h"
#include "servers/fs/write.h"
#include "text/diff.h"

#define SHOWN_LINE_MAX 200 /* bytes of the closest line in a message */

/* Longest run of backticks. */
static size_t longest_fence(struct str s)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < s.n; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* A diff that no answer can hold is not shown: the edits are as good as others. */
static void put_diff(struct fs_call *c, const char *path, struct str before, struct str after)
{
    auto_buf diff = BUF(ANSWER_MAX), name = BUF(3 * PATH_MAX), old = BUF(4 * PATH_MAX),
             new = BUF(4 * PATH_MAX);
    struct buf *out = &c->out->text;
    size_t fence;

    fs_put_name(&name, str_of(path));
    buf_addf(&old, "%s\toriginal", buf_z(&name));
    buf_addf(&new, "%s\tmodified", buf_z(&name));
    diff_unified(&diff, before, after, buf_str(&old), buf_str(&new));
    if (diff.over || fs_cost(buf_str(&diff)) > FS_COST_MAX) {
        buf_addf(out, "%s %s. The diff is too long for an answer and not shown.",
                 c->in.dry_run ? "The edits fit" : "Successfully edited", path);
        return;
    }
    fence = longest_fence(buf_str(&diff)) + 1;
    fence = fence < 3 ? 3 : fence;
    buf_fill(out, '`', fence);
    buf_add(out, STR("diff\n"));
    buf_add(out, buf_str(&diff));
    buf_fill(out, '`', fence);
    buf_add(out, STR("\n\n"));
}

/* The old text is given back whole, however long; answer_error() has a ceiling. */
static void say_not_found(struct answer *out, const struct edit_text *t, struct str old)
{
    struct str line = { 0 };
    size_t number = edit_text_closest(t, old, &line);

    answer_error(out, "%s", "");
    buf_add(&out->text, STR("Could not find exact match for edit:\n"));
    buf_add(&out->text, old);
    buf_add(&out->text, STR("\nNothing was written. Read the file again and copy the text "
                            "to be replaced from it exactly."));
    if (number)
        buf_addf(&out->text, " The closest line is line %zu: %.*s", number,
                 STR_F(utf8_cut(line, SHOWN_LINE_MAX)));
    else
        buf_add(&out->text, STR(" No line is like it."));
}

static bool apply_all(struct fs_call *c, struct edit_text *t, const char *path)
{
    struct error e;

    for (size_t i = 0; i < c->in.nedits && !fs_cancelled(c); i++) {
        if (edit_text_apply(t, &c->in.edits[i], &e))
            continue;
        if (e.kind == ERR_NOT_FOUND)
            say_not_found(c->out, t, c->in.edits[i].old_text);
        else
            answer_error(c->out, "Failed to edit %s: edit %zu: %s", path, i + 1, e.msg);
        return false;
    }
    return !fs_cancelled(c);
}

static bool load(struct fs_call *c, struct buf *raw, const char **ret_real)
{
    auto_close int fd = content_open(c, c->in.path, ret_real);
    struct error e;

    if (fd < 0)
        return false;
    if (content_whole(c, fd, raw, &e))
        return true;
    return answer_error(c->out, "Failed to read %s: %s", *ret_real,
                        e.kind == ERR_SYS ? strerror(e.sys) : e.msg);
}

static void edit_loaded(struct fs_call *c, struct edit_text *t, struct str raw,
                        const char *real)
{
    auto_buf before = BUF(FS_EDIT_MAX), stored = BUF(2 * FS_EDIT_MAX + 3);

    buf_add(&before, buf_str(&t->text));
    if (!apply_all(c, t, real))
        return;
    edit_text_store(t, &stored);
    put_diff(c, real, buf_str(&before), buf_str(&t->text));
    if (!c->in.dry_run && !str_eq(buf_str(&stored), raw))
        write_content(c, c->in.path, buf_str(&stored));
}

static void edit(struct fs_call *c)
{
    auto_buf raw = BUF(FS_EDIT_MAX);
    struct edit_text t;
    const char *real;
    struct error e;

    if (!load(c, &raw, &real))
        return;
    if (edit_text_load(&t, buf_str(&raw), &e))
        edit_loaded(c, &t, buf_str(&raw), real);
    else
        answer_error(c->out, "Failed to edit %s: %s", real, e.msg);
    edit_text_free(&t);
}

void fs_edit_file(struct fs_call *c)
{
    const char *real;
    int fd = content_open(c, c->in.path, &real);

    if (fd < 0)
        return;
    close(fd); /* what it leads to once we are alone with the name may be another file */
    real = write_target(c, c->in.path);
    if (!real)
        return;
    write_lock(real);
    edit(c);
    write_unlock(real);
}
