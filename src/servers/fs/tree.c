/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* directory_tree (FS-15): the JSON is written while the tree is walked. */
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "servers/fs/patterns.h"
#include "servers/fs/walk.h"

/* What the answer may take of a line (SV-30), with the levels that are still to be closed and
 * what stands around the result. */
#define TREE_MAX (ANSWER_MAX - ((size_t)64 << 10))

#define TRUNCATED "\xe2\x80\xa6 truncated"

struct tree {
    struct walk walk;
    struct patterns exclude;
    struct buf *out;
    struct buf shown; /* the current name, made safe */
    size_t cost;      /* bytes of an answer that holds it twice, as text and as structure */
    size_t counted;   /* of `out` in cost */
    bool first;       /* in its directory */
};

/* What the bytes added since the last time take inside a JSON string, twice. */
static void count_cost(struct tree *t)
{
    for (; t->counted < t->out->n; t->counted++) {
        char c = t->out->p[t->counted];

        t->cost += c == '"' || c == '\\' || c == '\n' ? 4 : 2;
    }
}

static void indent(struct tree *t, size_t levels)
{
    buf_fill(t->out, ' ', 2 * levels);
}

/* Begins an entry up to where a directory's children follow. Two levels a directory: the array
 * and the object. */
static void put_entry(struct tree *t, struct str name, bool dir)
{
    size_t level = 2 * t->walk.depth + 1;

    buf_add(t->out, t->first ? STR("\n") : STR(",\n"));
    t->first = false;
    indent(t, level);
    buf_add(t->out, STR("{\n"));
    indent(t, level + 1);
    buf_add(t->out, STR("\"name\": "));
    json_put_str(t->out, name);
    buf_add(t->out, STR(",\n"));
    indent(t, level + 1);
    buf_add(t->out, dir ? STR("\"type\": \"directory\"") : STR("\"type\": \"file\""));
}

static void end_entry(struct tree *t)
{
    buf_addc(t->out, '\n');
    indent(t, 2 * t->walk.depth + 1);
    buf_addc(t->out, '}');
}

static void put_truncated(struct tree *t)
{
    put_entry(t, STR(TRUNCATED), false);
    end_entry(t);
}

static void begin_children(struct tree *t)
{
    buf_add(t->out, STR(",\n"));
    indent(t, 2 * t->walk.depth + 2);
    buf_add(t->out, STR("\"children\": ["));
    t->first = true;
}

static void end_array(struct tree *t)
{
    if (!t->first) {
        buf_addc(t->out, '\n');
        indent(t, 2 * t->walk.depth);
    }
    buf_addc(t->out, ']');
    t->first = false;
}

/* False when there is no room for more. */
static bool add_current(struct tree *t)
{
    struct walk *w = &t->walk;
    bool dir;

    if (patterns_step(&t->exclude, w->depth, w->name).matches)
        return true;
    count_cost(t);
    if (t->cost > TREE_MAX)
        return false;
    dir = walk_is_dir(w);
    buf_clear(&t->shown);
    fs_put_name(&t->shown, w->name);
    put_entry(t, buf_str(&t->shown), dir);
    if (dir) {
        begin_children(t);
        walk_enter(w);
    } else {
        end_entry(t);
    }
    return true;
}

/* The current directory is done, `full` or not; false: it was the first one. */
static bool close_current(struct tree *t, bool full)
{
    if (full)
        put_truncated(t);
    end_array(t);
    if (!walk_leave(&t->walk))
        return false;
    end_entry(t);
    return true;
}

static void walk_tree(struct tree *t)
{
    bool full = false;

    buf_addc(t->out, '[');
    t->first = true;
    for (;;) {
        if (!full && walk_next(&t->walk)) {
            full = !add_current(t);
            if (full)
                put_truncated(t);
        } else if (!close_current(t, t->walk.cut && !full)) {
            return;
        }
    }
}

void fs_tree(struct fs_call *c)
{
    struct tree t = { .out = &c->out->text, .shown = BUF(4096) };
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
    walk_begin(&t.walk, c, fd, WALK_SORTED);
    walk_tree(&t);
    walk_end(&t.walk);
    buf_free(&t.shown);
}
