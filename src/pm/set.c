/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/set.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "loop/timer.h"

#define MAX_IDENTITY ((size_t)1 << 20)

struct member {
    struct member *next;
    char *name;
    struct str identity; /* owned */
    struct pm_process *process;
};

struct pm_set {
    struct loop *loop;
    struct member *members;
    struct timer *timer; /* reports the end of an empty set */
    size_t closing;      /* members not gone yet */
    bool offline;
    void (*gone)(void *ctx);
    void *gone_ctx;
};

static void put_part(struct buf *b, const char *z)
{
    buf_addz(b, z ? z : "");
    buf_addc(b, '\0');
}

/* All that decides what runs, as one owned string; parts end with NUL. */
static struct str identity_of(const struct pm_opts *o)
{
    struct buf b = BUF(MAX_IDENTITY);
    size_t n;

    put_part(&b, o->workspace);
    put_part(&b, o->cache_dir);
    put_part(&b, o->offline ? "offline" : "");
    for (const char *const *arg = o->argv; *arg; arg++)
        put_part(&b, *arg);
    put_part(&b, "");
    for (size_t i = 0; i < o->npass_env; i++) {
        buf_add(&b, o->pass_env[i]);
        buf_addc(&b, '\0');
    }
    n = b.n;
    return (struct str){ buf_take(&b), n };
}

static void on_end(void *ctx)
{
    struct pm_set *s = ctx;
    void (*gone)(void *) = s->gone;

    s->gone = NULL;
    if (gone)
        gone(s->gone_ctx);
}

struct pm_set *pm_set_new(struct loop *l)
{
    struct pm_set *s = NEW(struct pm_set);

    s->loop = l;
    s->timer = timer_new(l, on_end, s);
    return s;
}

void pm_set_offline(struct pm_set *s)
{
    s->offline = true;
}

static void free_member(struct member *m)
{
    pm_process_free(m->process);
    free(m->name);
    free((char *)m->identity.p);
    free(m);
}

static struct member **find(struct pm_set *s, struct str name)
{
    struct member **at = &s->members;

    while (*at && !str_is(name, (*at)->name))
        at = &(*at)->next;
    return at;
}

struct pm_process *pm_set_get(struct pm_set *s, const struct pm_opts *o)
{
    struct str identity = identity_of(o);
    struct member **at = find(s, str_of(o->name)), *m = *at;

    if (m && str_eq(identity, m->identity)) {
        free((char *)identity.p);
        return m->process;
    }
    if (m) {
        *at = m->next;
        free_member(m);
    }
    m = NEW(struct member);
    *m = (struct member){ .next = s->members,
                          .name = mem_strdup(o->name),
                          .identity = identity,
                          .process = pm_process_new(s->loop, o) };
    s->members = m;
    return m->process;
}

struct pm_process *pm_set_open(struct pm_set *s, const struct pm_program *p,
                               const char *workspace, const char *cache_dir)
{
    struct pm_opts o = { .name = p->name,
                         .argv = p->argv,
                         .pass_env = p->pass_env ? p->pass_env->v : NULL,
                         .npass_env = p->pass_env ? p->pass_env->n : 0,
                         .workspace = workspace,
                         .cache_dir = cache_dir,
                         .offline = s->offline };

    return pm_set_get(s, &o);
}

static void on_member_gone(void *ctx)
{
    struct pm_set *s = ctx;

    if (--s->closing == 0)
        on_end(s);
}

void pm_set_close(struct pm_set *s, void (*gone)(void *ctx), void *ctx)
{
    s->gone = gone;
    s->gone_ctx = ctx;
    if (!s->members)
        timer_set(s->timer, 0);
    for (struct member *m = s->members; m; m = m->next) {
        s->closing++;
        pm_process_close(m->process, on_member_gone, s);
    }
}

void pm_set_free(struct pm_set *s)
{
    if (!s)
        return;
    while (s->members) {
        struct member *m = s->members;

        s->members = m->next;
        free_member(m);
    }
    timer_free(s->timer);
    free(s);
}
