/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * directory_tree (FS-15): the JSON is written while the tree is walked. What stands around a
 * name is the same for all entries of a depth, so it is made once for each.
 */
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "servers/fs/patterns.h"
#include "servers/fs/walk.h"

#define TRUNCATED "\xe2\x80\xa6 truncated"

/* A text and its fs_cost(). */
struct piece {
    struct str text;
    size_t cost;
};

/* Around the names of one depth. */
struct frame {
    struct piece open;     /* from the bracket or comma before the entry to its name */
    struct piece file;     /* behind the name of a file */
    struct piece dir;      /* behind the name of a directory, its children begun */
    struct piece dir_end;  /* behind the bracket that closes its children */
    struct piece list_end; /* before the bracket that closes the list */
};

struct tree {
    struct walk walk;
    struct patterns exclude;
    struct arena *arena;
    struct buf *out;
    struct buf name; /* the current one, made safe, in quotes */
    size_t cost;
    bool first; /* in its directory */
    bool full;
    struct frame *frames; /* FS_DEPTH_MAX + 1; made when first needed */
};

/* ---- pieces ---- */

static struct piece piece(const char *text)
{
    struct str s = str_of(text);

    return (struct piece){ s, fs_cost(s) };
}

static void put(struct tree *t, const struct piece *p)
{
    buf_add(t->out, p->text);
    t->cost += p->cost;
}

/* Two levels of indentation a directory: the list and the object. */
static const struct frame *frame(struct tree *t)
{
    size_t depth = t->walk.depth;
    struct frame *f = &t->frames[depth];
    int object = (int)(4 * depth + 2), member = object + 2;

    if (f->open.text.n)
        return f;
    f->open = piece(arena_printf(t->arena, ",\n%*s{\n%*s\"name\": ", object, "", member, ""));
    f->file =
        piece(arena_printf(t->arena, ",\n%*s\"type\": \"file\"\n%*s}", member, "", object, ""));
    f->dir = piece(arena_printf(t->arena, ",\n%*s\"type\": \"directory\",\n%*s\"children\": [",
                                member, "", member, ""));
    f->dir_end = piece(arena_printf(t->arena, "\n%*s}", object, ""));
    f->list_end = piece(arena_printf(t->arena, "\n%*s", object - 2, ""));
    return f;
}

/* ---- writing ---- */

/* The comma and the name; what the entry is comes behind. */
static void open_entry(struct tree *t, const struct frame *f, struct str quoted)
{
    struct piece open = f->open;

    if (t->first)
        open.text = str_from(open.text, 1);
    put(t, &open);
    put(t, &(struct piece){ quoted, fs_cost(quoted) });
    t->first = false;
}

static void put_truncated(struct tree *t)
{
    const struct frame *f = frame(t);

    open_entry(t, f, STR("\"" TRUNCATED "\""));
    put(t, &f->file);
}

static struct str quote_name(struct tree *t)
{
    auto_buf shown = BUF(4096);

    fs_put_name(&shown, t->walk.name);
    buf_clear(&t->name);
    json_put_str(&t->name, buf_str(&shown));
    return buf_str(&t->name);
}

static void add_current(struct tree *t)
{
    struct walk *w = &t->walk;
    const struct frame *f = frame(t);

    if (patterns_step(&t->exclude, w->depth, w->name).matches)
        return;
    if (t->cost > FS_COST_MAX) {
        t->full = true;
        put_truncated(t);
        return;
    }
    open_entry(t, f, quote_name(t));
    if (walk_is_dir(w)) {
        put(t, &f->dir);
        walk_enter(w);
        t->first = true;
    } else {
        put(t, &f->file);
    }
}

/* The current directory is done; false: it was the first one. */
static bool close_current(struct tree *t)
{
    if (t->walk.cut && !t->full)
        put_truncated(t);
    if (!t->first)
        put(t, &frame(t)->list_end);
    buf_addc(t->out, ']');
    t->first = false;
    if (!walk_leave(&t->walk))
        return false;
    put(t, &frame(t)->dir_end);
    return true;
}

static void walk_tree(struct tree *t)
{
    buf_addc(t->out, '[');
    t->first = true;
    for (;;) {
        if (!t->full && walk_next(&t->walk))
            add_current(t);
        else if (!close_current(t))
            return;
    }
}

void fs_tree(struct fs_call *c)
{
    struct tree t = { .arena = c->arena, .out = &c->out->text, .name = BUF(8192) };
    struct access_at at;
    struct error e;
    int fd;

    if (!patterns_compile(&t.exclude, c->arena, &c->in.exclude, PATTERNS_FOR_TAILS, &e)) {
        answer_error(c->out, "%s", e.msg);
        return;
    }
    fd = fs_open(c, c->in.path, O_RDONLY | O_DIRECTORY, &at);
    if (fd < 0)
        return;
    t.frames = ARENA_ARRAY(c->arena, struct frame, FS_DEPTH_MAX + 1);
    walk_begin(&t.walk, c, fd, WALK_SORTED);
    walk_tree(&t);
    walk_end(&t.walk);
    buf_free(&t.name);
}
