/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/names.h"

#include "plugins/atom.h"
#include "plugins/enablement.h"

bool name_read(struct package_id *ret, struct str text, struct error *e)
{
    *ret = (struct package_id){ .name = text };
    /* A scoped name may hold any character but this one. */
    str_cut(text, ':', &ret->pm, &ret->name);
    if (!ret->name.n || ret->name.n > NAME_MAX_BYTES || (ret->name.n < text.n && !ret->pm.n))
        return error_set(e, ERR_INVALID, "'%.*s' is no name", STR_F(str_upto(text, 80)));
    return !str_has_control(text) ||
           error_set(e, ERR_INVALID, "a name holds no control characters");
}

bool name_is_registry(const struct config *c, struct str name)
{
    for (size_t i = 0; i < c->registries.n; i++)
        if (str_eq(c->registries.v[i].name, name))
            return true;
    return (c->user_plugins && str_is(name, "user-plugins")) ||
           (c->recommendations && c->recommendations_git.n && str_is(name, RECOMMENDATIONS));
}

bool name_means(const struct package_id *id, const struct plugin_status *st)
{
    struct plugin_ref ref = { .pm = id->pm, .name = id->name };

    if (st->plugin)
        return ref_names(&ref, st->plugin);
    return (!id->pm.n || str_eq(id->pm, st->registry)) && str_eq(id->name, st->name);
}

const struct plugin_status *name_find(const struct resolution *res, const struct package_id *id,
                                      size_t *ret_n)
{
    const struct plugin_status *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (!name_means(id, st))
            continue;
        n++;
        if (!found || (found->state != PLUGIN_ACTIVE && st->state == PLUGIN_ACTIVE))
            found = st;
    }
    if (ret_n)
        *ret_n = n;
    return found;
}
