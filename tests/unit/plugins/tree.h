/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A temporary directory tree for one test; its paths are canonical. */
#ifndef SYM_TESTS_PLUGINS_TREE_H
#define SYM_TESTS_PLUGINS_TREE_H

#include "../check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/predicate.h"

struct tree {
    struct arena a;
    const char *root;
};

static inline struct tree tree_new(void)
{
    char name[PATH_MAX];
    struct tree t = { 0 };

    make_temp_dir(name);
    t.root = path_real(&t.a, name, NULL);
    return t;
}

static inline void tree_free(struct tree *t)
{
    remove_tree(t->root);
    arena_free(&t->a);
}

static inline const char *tree_path(struct tree *t, const char *rel)
{
    return path_clean(&t->a, path_join(&t->a, t->root, rel));
}

/* Makes parents; a path that ends with '/' is a directory. */
static inline const char *tree_put(struct tree *t, const char *rel, const char *text)
{
    const char *path = tree_path(t, rel);
    struct error e = { 0 };

    if (rel[0] && rel[strlen(rel) - 1] == '/') {
        assert_true(file_mkdirs(path, &e));
        return path;
    }
    assert_true(file_mkdirs(path_dir(&t->a, path), &e));
    assert_true(file_write_atomic(path, str_of(text), 0644, &e));
    return path;
}

/* "any(depends-on(a), depends-on(b)) env(C)": how lists of atoms were lowered is visible
 * (PL-21). */
static inline void put_predicate(struct buf *b, const struct predicate *p)
{
    if (p->kind == PRED_DEPENDS_ON)
        buf_addf(b, "depends-on(%.*s)", STR_F(p->atom.text));
    else if (p->n == 0)
        buf_add(b, p->text);
    for (size_t i = 0; i < p->n; i++) {
        buf_addf(b, "%.*s", STR_F(i ? STR(", ") : p->name));
        buf_addz(b, i ? "" : "(");
        put_predicate(b, p->v[i]);
    }
    if (p->n)
        buf_addc(b, ')');
}

#endif
