/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A requirement, a line break, two versions: order is an order, and "=v" selects v. */
#include <stdlib.h>

#include "base/arena.h"
#include "text/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = { (const char *)data, size }, req_text, a_text, b_text;
    struct semver a, b;
    struct semver_req req, exact;
    auto_arena arena = ARENA;
    struct error e;

    if (!str_cut(input, '\n', &req_text, &a_text) || !str_cut(a_text, '\n', &a_text, &b_text))
        return 0;
    if (!semver_parse(&a, a_text, &e))
        return 0;
    if (semver_req_parse(&req, req_text, &e))
        semver_req_fits(&req, &a);
    must(semver_cmp(&a, &a) == 0);
    if (a_text.n < SEMVER_TEXT_MAX) {
        must(
            semver_req_parse(&exact, str_of(arena_printf(&arena, "=%.*s", STR_F(a_text))), &e));
        must(semver_req_fits(&exact, &a));
    }
    if (semver_parse(&b, b_text, &e)) {
        int there = semver_cmp(&a, &b), back = semver_cmp(&b, &a);

        must((there > 0) == (back < 0) && (there == 0) == (back == 0));
    }
    return 0;
}
