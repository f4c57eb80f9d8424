/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rand.h"

struct result {
    struct result *newer;
    char id[RESULT_ID_SIZE];
    size_t n;
    char json[];
};

static void drop_oldest(struct results *r)
{
    struct result *old = r->oldest;

    r->oldest = old->newer;
    if (!r->oldest)
        r->newest = NULL;
    r->bytes -= old->n;
    free(old);
}

bool results_keep(struct results *r, struct str json, char ret_id[RESULT_ID_SIZE])
{
    struct result *new;

    if (json.n > RESULT_MAX_BYTES)
        return false;
    while (r->bytes + json.n > RESULTS_MAX_BYTES)
        drop_oldest(r);
    new = mem_alloc(sizeof *new + json.n + 1);
    new->n = json.n;
    memcpy(new->json, json.p, json.n);
    rand_hex(new->id, (RESULT_ID_SIZE - 1) / 2);
    if (r->newest)
        r->newest->newer = new;
    else
        r->oldest = new;
    r->newest = new;
    r->bytes += json.n;
    memcpy(ret_id, new->id, RESULT_ID_SIZE);
    return true;
}

struct str results_get(const struct results *r, struct str id)
{
    if (str_starts(id, STR(RESULT_URI_PREFIX)))
        id = str_from(id, sizeof RESULT_URI_PREFIX - 1);
    for (const struct result *v = r->oldest; v; v = v->newer)
        if (str_is(id, v->id))
            return (struct str){ v->json, v->n };
    return (struct str){ 0 };
}

void results_free(struct results *r)
{
    while (r->oldest)
        drop_oldest(r);
}
