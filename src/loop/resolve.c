/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/resolve.h"

#include <netdb.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "loop/work.h"

struct resolve {
    resolve_fn done; /* NULL: nobody waits any more */
    void *ctx;
    struct timer *deadline;
    struct work *work; /* NULL: the host is an address */
    int timeout_ms;
    /* the work's, until its end */
    char *host;
    struct netaddr v[RESOLVE_MAX + 1];
    size_t n;
    bool ok;
    struct error e;
};

static void add(const struct netaddr *addr, struct netaddr *v, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        if (netaddr_eq(&v[i], addr))
            return;
    }
    if (*n <= RESOLVE_MAX)
        v[(*n)++] = *addr;
}

static bool ask_system(const char *host, struct netaddr *v, size_t *n, struct error *e)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    struct netaddr addr;
    int code = getaddrinfo(host, NULL, &hints, &list);

    if (code != 0)
        return error_set(e, ERR_NOT_FOUND, "could not resolve host '%s': %s", host,
                         gai_strerror(code));
    for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
        if (netaddr_of(ai->ai_addr, ai->ai_addrlen, &addr))
            add(&addr, v, n);
    }
    freeaddrinfo(list);
    return true;
}

static resolve_source source = ask_system;

void resolve_use(resolve_source other)
{
    source = other ? other : ask_system;
}

static void on_run(void *ctx, struct work *w)
{
    struct resolve *r = ctx;

    (void)w;
    r->ok = source(r->host, r->v, &r->n, &r->e);
    if (r->ok && r->n == 0)
        r->ok = error_set(&r->e, ERR_NOT_FOUND, "host '%s' has no address", r->host);
    if (r->ok && r->n > RESOLVE_MAX)
        r->ok = error_set(&r->e, ERR_LIMIT, "host '%s' has more than %d addresses", r->host,
                          RESOLVE_MAX);
}

static void resolve_free(struct resolve *r)
{
    timer_free(r->deadline);
    free(r->host);
    free(r);
}

static void on_done(void *ctx, bool cancelled)
{
    struct resolve *r = ctx;

    if (r->done && !cancelled) /* cancelled with `done` set: the loop ends, nobody is called */
        r->done(r->ctx, r->v, r->ok ? r->n : 0, r->ok ? NULL : &r->e);
    resolve_free(r);
}

/* Its thread cannot be stopped; on_done() frees what it works on. */
static resolve_fn forget(struct resolve *r)
{
    resolve_fn done = take_ptr(&r->done);

    timer_free(take_ptr(&r->deadline));
    if (r->work)
        work_cancel(r->work);
    else
        resolve_free(r);
    return done;
}

static void on_literal(void *ctx)
{
    on_done(ctx, false);
}

static void on_deadline(void *ctx)
{
    struct resolve *r = ctx;
    void *owner = r->ctx; /* r may be gone before it is called */
    struct error e;

    error_set(&e, ERR_TIMEOUT, "host '%s' could not be resolved within %d ms", r->host,
              r->timeout_ms);
    forget(r)(owner, NULL, 0, &e);
}

struct resolve *resolve_start(struct loop *l, const char *host, int timeout_ms, resolve_fn done,
                              void *ctx)
{
    static const struct work_ops ops = { on_run, on_done };
    struct resolve *r = NEW(struct resolve);

    r->done = done;
    r->ctx = ctx;
    r->host = mem_strdup(host);
    r->timeout_ms = timeout_ms;
    if (source == ask_system && resolve_literal(host, &r->v[0])) {
        r->ok = true;
        r->n = 1;
        r->deadline = timer_new(l, on_literal, r);
        timer_set(r->deadline, 0);
        return r;
    }
    r->deadline = timer_new(l, on_deadline, r);
    timer_set(r->deadline, timeout_ms);
    r->work = work_start(l, WORK_LOOKUP, &ops, r);
    return r;
}

void resolve_forget(struct resolve *r)
{
    if (r)
        forget(r);
}

bool resolve_is_localhost(const char *host)
{
    struct str name = str_of(host);

    if (str_ends(name, STR(".")))
        name = str_upto(name, name.n - 1);
    return str_is(name, "localhost") || str_ends(name, STR(".localhost"));
}

bool resolve_literal(const char *host, struct netaddr *ret)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
    struct addrinfo *list = NULL;
    bool ok;

    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return false;
    ok = netaddr_of(list->ai_addr, list->ai_addrlen, ret);
    freeaddrinfo(list);
    return ok;
}
