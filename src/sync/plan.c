/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/plan.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "sync/rewrite.h"
#include "text/diff.h"

struct planned {
    struct sync_edit edit;
    const char *what; /* it changed, in the last run; NULL: nothing */
};

struct sync_plan_file {
    const char *path; /* as the first edit names it */
    const char *real;
    struct planned *v;
    size_t n, cap;
    struct planned *failed; /* in the last run */
};

const char *sync_real_path(struct arena *a, const char *path)
{
    const char *real = path_real(a, path, NULL), *dir;

    if (real)
        return real;
    dir = path_real(a, path_dir(a, path), NULL);
    return dir ? path_join(a, dir, path_base(path)) : path;
}

static struct sync_plan_file *file_of(struct sync_plan *p, const char *path)
{
    const char *real = sync_real_path(p->a, path);
    struct sync_plan_file *f;

    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->v[i]->real, real))
            return p->v[i];
    f = ARENA_NEW(p->a, struct sync_plan_file);
    *f = (struct sync_plan_file){ .path = path, .real = real };
    ARENA_PUSH(p->a, p) = f;
    return f;
}

void sync_plan_add(struct sync_plan *p, const struct sync_edit *edit)
{
    struct sync_plan_file *f = file_of(p, edit->path);

    ARENA_PUSH(p->a, f) = (struct planned){ .edit = *edit };
}

/* ---- one file ---- */

/* rewrite_fn: all edits, one after the other. */
static bool run_edits(void *ctx, struct str text, struct buf *out, struct error *e)
{
    struct sync_plan_file *f = ctx;
    auto_buf now = BUF(REWRITE_MAX_BYTES), next = BUF(REWRITE_MAX_BYTES);

    f->failed = NULL;
    buf_add(&now, text);
    for (size_t i = 0; i < f->n; i++) {
        struct planned *p = &f->v[i];

        p->what = NULL;
        if (!p->edit.run(p->edit.ctx, buf_str(&now), &next, &p->what, e) || !buf_ok(&next, e)) {
            f->failed = p;
            return false;
        }
        if (str_eq(buf_str(&now), buf_str(&next)))
            p->what = NULL;
        else if (!p->what)
            p->what = "changed";
        buf_swap(&now, &next);
        buf_clear(&next);
    }
    buf_add(out, buf_str(&now));
    return true;
}

static bool only_cleans_up(const struct sync_plan_file *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!f->v[i].edit.clean_up)
            return false;
    return true;
}

/* A file that does not exist or does not name us holds nothing of ours. One that cannot be read
 * may. */
static bool may_hold_ours(const struct sync_plan_file *f)
{
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    struct error e = { 0 };

    if (!file_read(f->path, &text, &e))
        return e.kind != ERR_NOT_FOUND && e.kind != ERR_INVALID;
    return str_find(buf_str(&text), STR("symposium")) != SIZE_MAX ||
           str_find(buf_str(&text), STR("cargo-agents")) != SIZE_MAX;
}

/* `same`: what one edit did another one undid. */
static void report_file(const struct sync_plan_file *f, bool same, enum sync_kind changed,
                        struct sync_report *r)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct planned *p = &f->v[i];
        const char *what = same ? NULL : p->what;

        if (!what && p->edit.clean_up)
            continue;
        sync_report_add(r, (struct sync_line){ what ? changed : SYNC_UNCHANGED,
                                               str_of(p->edit.agent), str_of(p->edit.path),
                                               str_of(what) });
        for (size_t k = 0; what && k < SYNC_EDIT_NOTES && p->edit.notes[k]; k++)
            sync_report_addf(r, SYNC_NOTE, str_of(p->edit.agent), "%s", p->edit.notes[k]);
    }
}

static void report_diff(const struct sync_plan_file *f, const struct buf *old,
                        const struct buf *new, struct sync_report *r)
{
    auto_buf diff = BUF(4 * REWRITE_MAX_BYTES);
    struct str name = str_of(f->path);

    diff_unified(&diff, buf_str(old), buf_str(new),
                 file_exists(f->path) ? name : STR("/dev/null"), name);
    sync_report_add(r, (struct sync_line){ SYNC_DIFF, { 0 }, name, buf_str(&diff) });
}

static bool report_failure(const struct sync_plan_file *f, enum sync_kind kind,
                           const struct error *e, struct sync_report *r)
{
    const struct planned *blamed = f->failed ? f->failed : &f->v[0];
    const char *prefix = f->path;
    struct str text = str_of(e->msg);

    /* The path has a place of its own in the line. */
    if (str_starts(text, str_of(prefix)) &&
        str_starts(str_from(text, strlen(prefix)), STR(": ")))
        text = str_from(text, strlen(prefix) + 2);
    sync_report_add(r, (struct sync_line){ kind, str_of(blamed->edit.agent),
                                           str_of(blamed->edit.path), text });
    return kind != SYNC_ERROR;
}

static struct rewrite rewrite_of(struct sync_plan_file *f, const struct dirs *dirs)
{
    struct rewrite w = { .dirs = dirs, .path = f->path, .edit = run_edits, .ctx = f };

    for (size_t i = 0; i < f->n; i++) {
        const struct sync_edit *edit = &f->v[i].edit;

        w.lock_dir |= edit->lock_dir;
        w.mode = w.mode ? w.mode : edit->mode;
    }
    w.mode = w.mode ? w.mode : REWRITE_NEW_MODE;
    return w;
}

/* First without lock or trace: mostly nothing is to be done. */
static bool run_file(struct sync_plan_file *f, const struct dirs *dirs, bool dry_run,
                     struct sync_report *r)
{
    auto_buf old = BUF(REWRITE_MAX_BYTES), new = BUF(REWRITE_MAX_BYTES);
    struct rewrite w = rewrite_of(f, dirs);
    bool cleans = only_cleans_up(f);
    enum rewrite_end end;
    struct error e = { 0 };

    if (cleans && !may_hold_ours(f))
        return true;
    w.dry_run = true;
    if (!rewrite_file(&w, &end, &old, &new, &e))
        return report_failure(f, cleans ? SYNC_NOTE : SYNC_ERROR, &e, r);
    if (end == REWRITE_DONE && !dry_run) {
        w.dry_run = false;
        if (!rewrite_file(&w, &end, &old, &new, &e))
            return report_failure(f, SYNC_ERROR, &e, r);
    }
    report_file(f, end == REWRITE_SAME, dry_run ? SYNC_WOULD_WRITE : SYNC_WRITTEN, r);
    if (dry_run && end == REWRITE_DONE)
        report_diff(f, &old, &new, r);
    return true;
}

bool sync_plan_run(struct sync_plan *p, const struct dirs *dirs, bool dry_run,
                   struct sync_report *r)
{
    bool ok = true;

    for (size_t i = 0; i < p->n; i++)
        ok &= run_file(p->v[i], dirs, dry_run, r);
    return ok;
}
