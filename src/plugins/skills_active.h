/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which skills apply in a workspace (docs/spec/plugins.md PL-23, PL-27, PL-28, SY-13): the
 * skill groups of a resolution, whose own gates held, are searched, the gates of the skills
 * found are evaluated, and one skill that several groups lead to counts once.
 *
 *   resolution.groups ─> skill_search() ─> gates of skills (async) ─> dedup ─> active_skills
 *     path, or checkout of git
 */
#ifndef SYM_PLUGINS_SKILLS_ACTIVE_H
#define SYM_PLUGINS_SKILLS_ACTIVE_H

#include "plugins/resolve.h"
#include "plugins/skill_search.h"

struct active_skill {
    struct found_skill skill;
    const struct plugin *plugin; /* the first that brings it; the resolution's */
};

/* A snapshot with its own arena; the resolution must outlive it for `plugin` only. While it
 * exists the checkouts it points into are not exchanged. */
struct active_skills {
    struct arena arena;
    struct active_skill *v; /* in the order of their groups; no two of one name and origin */
    size_t n, cap;
    struct strs warnings; /* for people: what is left out, and why */
    bool incomplete;      /* a git group is not fetched: skills may be missing */
    struct {
        int *v;
        size_t n, cap;
    } locks; /* of checkouts */
};

struct skills_query {
    const struct resolution *res; /* must live until `done` */
    const struct dirs *dirs;      /* its cache holds checkouts and answers of predicates */
    int shell_timeout_ms;         /* 0: 10 s (PL-22) */
    bool read_only_cache;
};

struct skills_finding;

/*
 * A condition of a workspace's own skill runs a program only with consent to the text of its
 * SKILL.md, given as for a manifest, or to all workspaces (PL-32).
 *
 * Nothing connects: a git group counts with the checkout that is there (pm/git.h fetches), else
 * it is a warning. `done` is called once, never from inside; its receiver owns the snapshot.
 */
struct skills_finding *active_skills_find(struct loop *l, const struct skills_query *q,
                                          void (*done)(void *ctx, struct active_skills *s),
                                          void *ctx);
void active_skills_cancel(struct skills_finding *f); /* no `done`; NULL is accepted */
void active_skills_free(struct active_skills *s);

#endif
