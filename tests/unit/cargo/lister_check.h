/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of list_deps share, of cargo's and npm's. */
#ifndef SYM_TEST_LISTER_CHECK_H
#define SYM_TEST_LISTER_CHECK_H

#include "../check.h"

#include "common/list.h"
#include "fixture.h"
#include "text/json.h"

struct asked {
    struct lister *l;
    struct json doc; /* of the last answer */
};

static inline yyjson_val *ask(struct asked *g)
{
    struct error e = { 0 };
    struct str json;

    json_free(&g->doc);
    if (!lister_list(g->l, &json, &e) || !json_parse(&g->doc, json, &e))
        fail_msg("%s", e.msg);
    return g->doc.root;
}

static inline yyjson_val *deps_of(yyjson_val *answer)
{
    return json_is_arr(answer) ? answer : json_get(answer, "deps");
}

/* "name version" lines, as in the fixtures, each an id of this package manager. */
static inline void put_lines(struct buf *out, yyjson_val *answer, const char *pm)
{
    for (struct json_iter it = json_iter(deps_of(answer)); json_next(&it);) {
        assert_true(str_is(json_str(json_get(it.val, "pm")), pm));
        assert_int_equal(json_len(it.val), 3);
        buf_addf(out, "%.*s %.*s\n", STR_F(json_str(json_get(it.val, "name"))),
                 STR_F(json_str(json_get(it.val, "version"))));
    }
}

static inline void check_lists(struct asked *g, const char *pm, const char *what,
                               const char *want)
{
    auto_buf lines = BUF(1 << 16);

    put_lines(&lines, ask(g), pm);
    if (strcmp(buf_z(&lines), want) != 0)
        fail_msg("%s:\n%sinstead of\n%s", what, buf_z(&lines), want);
}

static inline void end(struct asked *g, struct fixture *f)
{
    json_free(&g->doc);
    lister_free(g->l);
    fixture_free(f);
}

#endif
