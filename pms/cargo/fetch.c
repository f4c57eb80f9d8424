/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * `cargo fetch` for one package. Cargo can fetch only what a package of ours depends on, so one
 * is made: empty, with that dependency, a workspace of its own, in a directory that is gone
 * afterwards. What cargo chose is read from its Cargo.lock.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "common/scratch.h"
#include "lock.h"
#include "manifest.h"
#include "name.h"
#include "tool_impl.h"

#define THROW_AWAY "symposium-fetch"

struct fetching {
    struct tool *tool;
    struct request *request;
    struct need need;
    fetched_fn done;
    void *ctx;
    const char *dir; /* NULL: none was made */
    bool respelled;  /* the name, after what cargo suggested */
    struct arena arena;
};

static void finish(struct fetching *f, const struct known *what, const struct error *why)
{
    scratch_remove(f->dir);
    f->done(f->ctx, what, why);
    arena_free(&f->arena);
    free(f);
}

/* ---- the throw-away package ---- */

/* A text of a lockfile, as a string of TOML: JSON's escapes are TOML's. */
static void put_member(struct buf *out, const char *key, struct str value)
{
    buf_addf(out, ", %s = ", key);
    json_put_str(out, value);
}

/* "git+https://host/r.git?branch=x" without the ends. */
static struct str url_of(struct str source)
{
    struct str head, tail, url = source;

    if (str_cut(url, '+', &head, &tail) && !str_is(head, "sparse"))
        url = tail;
    if (str_starts(source, STR("git+")) && str_cut(url, '?', &head, &tail))
        url = head;
    return url;
}

static void put_dependency(struct buf *out, const struct fetching *f)
{
    const struct need *n = &f->need;

    buf_addz(out, "it = { package = ");
    json_put_str(out, n->name);
    if (n->commit.n) {
        put_member(out, "git", url_of(n->source));
        put_member(out, "rev", n->commit);
    } else {
        put_member(out, "version", n->requirement);
        if (n->source.n && !lock_is_default(n->source))
            put_member(out, "registry-index", url_of(n->source));
    }
    buf_addz(out, ", default-features = false }\n");
}

static bool write_package(const struct fetching *f, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(1 << 16);

    buf_addz(&text, "[package]\nname = \"" THROW_AWAY "\"\nversion = \"0.0.0\"\n"
                    "edition = \"2018\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n\n"
                    "[dependencies]\n");
    put_dependency(&text, f);
    return buf_ok(&text, e) &&
           file_write_cache(path_join(&a, f->dir, "Cargo.toml"), buf_str(&text), e) &&
           file_write_cache(path_join(&a, f->dir, "lib.rs"), (struct str){ 0 }, e);
}

/*
 * Outside of the workspace, and below a directory that is the user's alone if there is one:
 * cargo reads the configuration of all directories above.
 */
static bool make_dir(struct fetching *f, struct error *e)
{
    const struct session *s = f->tool->session;
    const char *const places[] = { s->cache_dir, f->tool->home, getenv("TMPDIR"), "/tmp" };

    for (size_t i = 0; i < ARRAY_LEN(places) && !f->dir; i++)
        if (places[i] && places[i][0] == '/' &&
            !(s->workspace && path_beneath(s->workspace, places[i])))
            f->dir = scratch_new(&f->arena, places[i], "pm-cargo-", NULL);
    if (f->dir)
        return true;
    return error_set(e, ERR_DENIED, "no directory for cargo to work in; %s is not writable",
                     s->cache_dir ? s->cache_dir : "TMPDIR");
}

/* ---- what cargo chose ---- */

static bool read_choice(struct fetching *f, struct known *ret, struct error *e)
{
    struct inputs in = { .arena = &f->arena };
    const struct lock_package *own = NULL, *chosen;
    struct lock lock = { 0 };
    struct lock_ref ref;
    struct str text;
    bool ok;

    ok = input_read(&in, path_join(&f->arena, f->dir, "Cargo.lock"), &text, e) &&
         lock_parse(&lock, &f->arena, text, e);
    for (own = ok ? map_get(&lock.by_name, STR(THROW_AWAY)) : NULL; own && own->source.n;)
        own = own->same_name;
    ref = lock_ref_parse(toml_str(toml_at(own ? own->dependencies : NULL, 0)));
    chosen = ref.name.n ? lock_next(&lock, &ref, NULL) : NULL;
    if (chosen)
        *ret = (struct known){ .name = chosen->name,
                               .version = chosen->version,
                               .source = chosen->source,
                               .commit = chosen->commit };
    else if (ok)
        ok = error_set(e, ERR_NOT_FOUND, "cargo fetch chose no version of '%.*s'",
                       STR_F(f->need.name));
    lock_free(&lock);
    return ok;
}

/* What the workspace has locked comes from one place: a namesake from another is another
 * package. */
static bool is_wanted(const struct fetching *f, const struct known *what)
{
    const struct need *n = &f->need;

    if (!str_eq(what->name, n->name))
        return false;
    if (n->commit.n)
        return str_eq(what->commit, n->commit);
    return n->source.n == 0 || str_eq(what->source, n->source);
}

/* "perhaps you meant: cfg-if": the registry spells the name with the other of '-' and '_',
 * which are the same here (PL-20). */
static bool take_spelling(struct fetching *f, struct str err)
{
    static const struct str sign = { "perhaps you meant:", 18 };
    size_t at = str_find(err, sign);
    struct str name, tail;

    if (at == SIZE_MAX || f->respelled)
        return false;
    name = str_from(err, at + sign.n);
    if (str_cut(name, '\n', &name, &tail))
        name = str_trim(name);
    if (str_cut(name, ' ', &name, &tail))
        name = str_trim(name);
    if (!name_is_sound(name) ||
        !str_eq(name_key(&f->arena, name), name_key(&f->arena, f->need.name)))
        return false;
    f->need.name = arena_str(&f->arena, name);
    f->respelled = true;
    return true;
}

static void run(struct fetching *f);

static bool read_outcome(struct fetching *f, const struct run_result *result,
                         const struct error *why, struct known *ret, struct error *e)
{
    if (why) {
        *e = *why;
        return false;
    }
    if (result->code != 0)
        return tool_failure(result, "cargo fetch", e);
    if (!read_choice(f, ret, e))
        return false;
    if (!is_wanted(f, ret))
        return error_set(e, ERR_NOT_FOUND, "cargo fetched '%.*s' of '%.*s', which is another",
                         STR_F(ret->name), STR_F(ret->source));
    return true;
}

static void on_cargo_done(void *ctx, const struct run_result *result, const struct error *why)
{
    struct fetching *f = ctx;
    struct known what = { 0 };
    struct error e = { 0 };

    if (read_outcome(f, result, why, &what, &e))
        finish(f, &what, NULL);
    else if (e.kind == ERR_NOT_FOUND && !request_ending(f->request) &&
             take_spelling(f, result->err))
        run(f);
    else
        finish(f, NULL, &e);
}

/* ---- running it ---- */

static void run(struct fetching *f)
{
    const char **argv = ARENA_ARRAY(&f->arena, const char *, 3);
    struct run_opts opts = {
        .argv = argv,
        .env = f->tool->env,
        .cwd = f->dir,
        .timeout_ms = FETCH_TIMEOUT_MS,
        .install = INSTALL_CARGO,
    };
    auto_arena a = ARENA;
    struct error e = { 0 };

    argv[0] = f->tool->program;
    argv[1] = "fetch";
    opts.progress = arena_printf(&f->arena, "fetching %.*s %.*s (cargo fetch)",
                                 STR_F(f->need.name), STR_F(f->need.requirement));
    unlink(path_join(&a, f->dir, "Cargo.lock"));
    if (write_package(f, &e))
        run_command(f->request, &opts, on_cargo_done, f);
    else
        finish(f, NULL, &e);
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] > '~')
            return false;
    return true;
}

void tool_fetch(struct tool *t, struct request *r, const struct need *need, fetched_fn done,
                void *ctx)
{
    struct fetching *f = NEW(struct fetching);
    struct error e = { 0 };

    *f = (struct fetching){ .tool = t, .request = r, .need = *need, .done = done, .ctx = ctx };
    if (!is_plain(need->source) || !is_plain(need->commit))
        error_set(&e, ERR_INVALID, "the lockfile names no source that can be fetched from");
    else if (make_dir(f, &e)) {
        run(f);
        return;
    }
    finish(f, NULL, &e);
}
