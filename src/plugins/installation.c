/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/installation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "plugins/checkout.h"
#include "text/json.h"

#define MAX_STAMP_TEXT ((size_t)8 << 20)
#define MAX_VERSION    64 /* bytes of one that is a directory's name as it is */
#define MAX_PROGRAMS   100
#define HASH_DIGITS    16

/* ---- the plan ---- */

struct planner {
    struct install_plan *plan;
    struct arena *a;
    const struct plugin *owner;
    const struct installation *open[INSTALL_MAX_STEPS]; /* whose requirements are being added */
    size_t nopen;
    struct error *e;
};

static const struct installation *find(const struct plugin *owner, struct str name)
{
    for (size_t i = 0; i < owner->installations.n; i++)
        if (str_eq(owner->installations.v[i].name, name))
            return &owner->installations.v[i];
    return NULL;
}

static bool place_of(const struct install_plan *p, struct str name, size_t *ret)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i].in.name, name)) {
            *ret = i;
            return true;
        }
    return false;
}

static bool check_no_cycle(const struct planner *p, const struct installation *in)
{
    auto_buf chain = BUF(2000);

    for (size_t i = 0; i < p->nopen; i++) {
        if (p->open[i] != in)
            continue;
        for (size_t k = i; k < p->nopen; k++)
            buf_addf(&chain, "'%.*s' -> ", STR_F(p->open[k]->name));
        return error_set(p->e, ERR_INVALID, "installations require each other: %s'%.*s'",
                         buf_z(&chain), STR_F(in->name));
    }
    return p->nopen < INSTALL_MAX_STEPS ||
           error_set(p->e, ERR_LIMIT, "more than %d installations in a row", INSTALL_MAX_STEPS);
}

/* Depth first, so that what is required stands before what requires it. */
static bool add(struct planner *p, struct str name, size_t *ret_place)
{
    const struct installation *in = find(p->owner, name);
    struct install_step step = { .plugin = p->owner->name, .dir = p->owner->dir };
    size_t need;

    if (!in) {
        error_set(p->e, ERR_NOT_FOUND, "references unknown installation '%.*s'", STR_F(name));
        return false;
    }
    if (place_of(p->plan, name, ret_place))
        return true;
    if (!check_no_cycle(p, in))
        return false;
    p->open[p->nopen++] = in;
    for (size_t i = 0; i < in->requirements.n; i++) {
        if (!add(p, in->requirements.v[i], &need))
            return false;
        ARENA_PUSH(p->a, &step.needs) = need;
    }
    p->nopen--;
    if (p->plan->n >= INSTALL_MAX_STEPS) {
        error_set(p->e, ERR_LIMIT, "more than %d installations for one program",
                  INSTALL_MAX_STEPS);
        return false;
    }
    step.in = *in;
    step.in.requirements = (struct strs){ 0 };
    *ret_place = p->plan->n;
    ARENA_PUSH(p->a, p->plan) = step;
    return true;
}

/* The one that runs stands last, in its own place even when another requires it. */
static bool add_program(struct planner *p, const struct install_use *use)
{
    size_t place;
    struct install_step last;

    if (!add(p, use->name, &place))
        return false;
    last = p->plan->v[place];
    if (use->executable.n || use->script.n) {
        last.in.executable = use->executable;
        last.in.script = use->script;
    }
    if (use->args.n)
        last.in.args = use->args;
    if (!last.in.executable.n && !last.in.script.n && last.in.source != INSTALL_CARGO)
        return error_set(p->e, ERR_INVALID,
                         "installation '%.*s' has no 'executable' or 'script' to run",
                         STR_F(use->name));
    if (place + 1 == p->plan->n)
        p->plan->n--;
    ARENA_PUSH(p->a, p->plan) = last;
    p->plan->runs = true;
    return true;
}

struct install_use install_use_of_hook(const struct hook *hook)
{
    return (struct install_use){ .name = hook->command,
                                 .requirements = hook->requirements,
                                 .executable = hook->executable,
                                 .script = hook->script,
                                 .args = hook->args };
}

bool install_plan_make(struct install_plan *ret, struct arena *a, const struct plugin *owner,
                       const struct install_use *use, struct error *e)
{
    struct planner *p = ARENA_NEW(a, struct planner);
    size_t place;

    *ret = (struct install_plan){ 0 };
    *p = (struct planner){ .plan = ret, .a = a, .owner = owner, .e = e };
    for (size_t i = 0; i < use->requirements.n; i++)
        if (!add(p, use->requirements.v[i], &place))
            return false;
    return !use->name.n || add_program(p, use);
}

/* ---- copies ---- */

static struct strs copy_strs(struct arena *a, const struct strs *from)
{
    struct strs to = { 0 };

    for (size_t i = 0; i < from->n; i++)
        ARENA_PUSH(a, &to) = arena_str(a, from->v[i]);
    return to;
}

static struct installation copy_installation(struct arena *a, const struct installation *in)
{
    return (struct installation){
        .name = arena_str(a, in->name),
        .source = in->source,
        .crate = arena_str(a, in->crate),
        .version = arena_str(a, in->version),
        .git = arena_str(a, in->git),
        .url = arena_str(a, in->url),
        .global = in->global,
        .install_commands = copy_strs(a, &in->install_commands),
        .args = copy_strs(a, &in->args),
        .executable = arena_str(a, in->executable),
        .script = arena_str(a, in->script),
    };
}

struct install_plan install_plan_copy(struct arena *a, const struct install_plan *p)
{
    struct install_plan copy = { .runs = p->runs };

    for (size_t i = 0; i < p->n; i++) {
        const struct install_step *s = &p->v[i];
        struct install_step step = { .in = copy_installation(a, &s->in),
                                     .plugin = arena_str(a, s->plugin),
                                     .dir = arena_str(a, s->dir) };

        for (size_t k = 0; k < s->needs.n; k++)
            ARENA_PUSH(a, &step.needs) = s->needs.v[k];
        ARENA_PUSH(a, &copy) = step;
    }
    return copy;
}

/* ---- the same ---- */

/* What is acquired, without what is run afterwards. */
static void put_source(struct jw *w, const struct installation *in)
{
    jw_kint(w, "source", in->source);
    jw_kstr(w, "crate", in->crate);
    jw_kstr(w, "version", in->version);
    jw_kstr(w, "git", in->git);
    jw_kstr(w, "url", in->url);
    jw_kbool(w, "global", in->global);
    strs_put(w, "install_commands", &in->install_commands);
}

static void put_step(struct jw *w, const struct install_step *s)
{
    jw_obj(w);
    jw_kstr(w, "name", s->in.name);
    jw_kstr(w, "dir", s->dir);
    put_source(w, &s->in);
    strs_put(w, "args", &s->in.args);
    jw_kstr(w, "executable", s->in.executable);
    jw_kstr(w, "script", s->in.script);
    jw_end(w);
}

static void put_plan(struct buf *b, const struct install_plan *p)
{
    struct jw w = jw_to(b);

    jw_arr(&w);
    for (size_t i = 0; i < p->n; i++)
        put_step(&w, &p->v[i]);
    jw_bool(&w, p->runs);
    jw_end(&w);
}

bool install_plan_same(const struct install_plan *x, const struct install_plan *y)
{
    auto_buf a = BUF(MAX_STAMP_TEXT), b = BUF(MAX_STAMP_TEXT);

    if (x->n != y->n)
        return false;
    put_plan(&a, x);
    put_plan(&b, y);
    return str_eq(buf_str(&a), buf_str(&b));
}

struct str install_plan_key(struct arena *a, const struct install_plan *p)
{
    auto_buf text = BUF(MAX_STAMP_TEXT);
    char hex[SHA256_HEX_SIZE];

    put_plan(&text, p);
    sha256_hex(buf_str(&text), hex);
    return arena_str(a, str_of(hex));
}

/* ---- places ---- */

static bool is_version_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!ascii_alnum(c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    return s.n && s.n <= MAX_VERSION && ascii_digit(s.p[0]);
}

/* A requirement or a repository is no name of a directory: a hash of it is. */
static const char *version_name(struct arena *a, const struct installation *in)
{
    char hex[SHA256_HEX_SIZE];

    if (!in->git.n && !in->version.n)
        return "latest";
    if (!in->git.n && is_version_name(in->version))
        return arena_z(a, in->version);
    sha256_hex(str_of(arena_printf(a, "%.*s\n%.*s", STR_F(in->version), STR_F(in->git))), hex);
    return arena_printf(a, "%s-%.*s", in->git.n ? "git" : "req", HASH_DIGITS, hex);
}

/* Names of crates have no other characters, and cargo takes one with '-' in front for an
 * option.
 */
bool install_crate_valid(struct str crate)
{
    for (size_t i = 0; i < crate.n; i++) {
        char c = crate.p[i];

        if (!ascii_alnum(c) && c != '_' && !(c == '-' && i))
            return false;
    }
    return crate.n && crate.n <= MAX_VERSION;
}

const char *install_root(struct arena *a, const char *cache_dir, const struct install_step *s)
{
    const struct installation *in = &s->in;

    if (in->source != INSTALL_CARGO || in->global || !cache_dir ||
        !install_crate_valid(in->crate))
        return NULL;
    return path_join(
        a, cache_dir,
        arena_printf(a, "binaries/%.*s/%s", STR_F(in->crate), version_name(a, in)));
}

static const char *checkout_of(struct arena *a, const char *cache_dir,
                               const struct install_step *s)
{
    struct git_source source;

    if (!cache_dir || !git_source_parse(&source, a, s->in.url, NULL))
        return NULL;
    return checkout_dir(a, cache_dir, &source);
}

const char *install_step_dir(struct arena *a, const char *cache_dir,
                             const struct install_step *s)
{
    const char *dir = NULL;

    if (s->in.source == INSTALL_GITHUB)
        dir = checkout_of(a, cache_dir, s);
    else if (s->in.source == INSTALL_CARGO)
        dir = install_root(a, cache_dir, s);
    return dir ? dir : arena_z(a, s->dir);
}

const char *install_command_dir(struct arena *a, const char *cache_dir,
                                const struct install_step *s)
{
    return s->in.source == INSTALL_GITHUB ? install_step_dir(a, cache_dir, s)
                                          : arena_z(a, s->dir);
}

/* A directory that was replaced is another one, whatever its name: commands must run again. */
static void put_identity(struct jw *w, const char *dir)
{
    struct statx st;

    jw_kstrz(w, "dir", dir);
    if (statx(AT_FDCWD, dir, 0, STATX_INO | STATX_BTIME, &st) != 0)
        return;
    jw_kint(w, "ino", (int64_t)st.stx_ino);
    jw_kint(w, "born", st.stx_btime.tv_sec);
    jw_kint(w, "born_ns", st.stx_btime.tv_nsec);
}

const char *install_stamp_path(struct arena *a, const char *cache_dir,
                               const struct install_step *s)
{
    auto_buf text = BUF(MAX_STAMP_TEXT);
    char hex[SHA256_HEX_SIZE];
    struct jw w = jw_to(&text);

    jw_obj(&w);
    put_source(&w, &s->in);
    if (s->in.install_commands.n)
        put_identity(&w, install_command_dir(a, cache_dir, s));
    jw_end(&w);
    sha256_hex(buf_str(&text), hex);
    return path_join(a, cache_dir, arena_printf(a, "binaries/.done/%s", hex));
}

/* ---- what is there ---- */

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Where `cargo install` puts programs without --root. */
static const char *find_global(struct arena *a, struct str name)
{
    static const struct {
        const char *var, *sub;
    } places[] = { { "CARGO_INSTALL_ROOT", "bin" },
                   { "CARGO_HOME", "bin" },
                   { "HOME", ".cargo/bin" } };
    const char *file = arena_z(a, name);

    if (strchr(file, '/'))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *dir = getenv(places[i].var), *path;

        if (!dir || !path_is_abs(dir))
            continue;
        path = path_join(a, path_join(a, dir, places[i].sub), file);
        if (is_program(path))
            return path;
    }
    return path_search(a, file, getenv("PATH"));
}

static bool source_ready(struct arena *a, const struct install_step *s, const char *cache_dir)
{
    struct git_source source;
    const char *root;

    switch (s->in.source) {
    case INSTALL_NONE:
        return true;
    case INSTALL_CARGO:
        root = install_root(a, cache_dir, s);
        return s->in.global ? find_global(a, s->in.executable) != NULL
                            : root && file_is_dir(root);
    case INSTALL_GITHUB:
        return cache_dir && git_source_parse(&source, a, s->in.url, NULL) &&
               checkout_find(a, cache_dir, &source, NULL);
    }
    return false;
}

bool install_step_ready(const struct install_step *s, const char *cache_dir)
{
    auto_arena a = ARENA;

    if (!source_ready(&a, s, cache_dir))
        return false;
    if (!s->in.install_commands.n)
        return true;
    return cache_dir && file_exists(install_stamp_path(&a, cache_dir, s));
}

bool install_plan_ready(const struct install_plan *p, const char *cache_dir)
{
    for (size_t i = 0; i < p->n; i++)
        if (!install_step_ready(&p->v[i], cache_dir))
            return false;
    return true;
}

/* ---- the command ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool only_program(struct arena *a, const char *bin, const struct installation *in,
                         const char **ret, struct error *e)
{
    const char *names[MAX_PROGRAMS], *crate = path_join(a, bin, arena_z(a, in->crate));
    auto_buf list = BUF(8000);
    size_t n = 0;
    DIR *d = opendir(bin);

    for (struct dirent *ent; d && n < MAX_PROGRAMS && (ent = readdir(d));)
        if (is_program(path_join(a, bin, ent->d_name)))
            names[n++] = arena_z(a, str_of(ent->d_name));
    if (d)
        closedir(d);
    *ret = n == 1 ? path_join(a, bin, names[0]) : is_program(crate) ? crate : NULL;
    if (*ret)
        return true;
    if (!n)
        return error_set(e, ERR_INVALID, "crate '%.*s' installs no program", STR_F(in->crate));
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++)
        buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    return error_set(e, ERR_INVALID,
                     "crate '%.*s' installs several programs (%s); name one with 'executable'",
                     STR_F(in->crate), buf_z(&list));
}

static bool find_cargo_program(struct arena *a, const char *cache_dir,
                               const struct install_step *s, const char **ret, struct error *e)
{
    const struct installation *in = &s->in;
    const char *root = install_root(a, cache_dir, s), *bin;

    if (in->global) {
        *ret = find_global(a, in->executable);
        return *ret || error_set(e, ERR_NOT_FOUND, "crate '%.*s' installed no program '%.*s'",
                                 STR_F(in->crate), STR_F(in->executable));
    }
    if (!root)
        return error_set(e, ERR_INVALID, "'%.*s' is no name of a crate", STR_F(in->crate));
    bin = path_join(a, root, "bin");
    if (!in->executable.n)
        return only_program(a, bin, in, ret, e);
    *ret = path_join(a, bin, arena_z(a, in->executable));
    return (!path_is_abs(arena_z(a, in->executable)) &&
            path_beneath(bin, path_clean(a, *ret)) && is_program(*ret)) ||
           error_set(e, ERR_NOT_FOUND, "crate '%.*s' installed no program '%.*s'",
                     STR_F(in->crate), STR_F(in->executable));
}

static bool find_program(struct arena *a, const char *cache_dir, const struct install_step *s,
                         struct strs *ret, struct error *e)
{
    const struct installation *in = &s->in;
    struct str as_written = in->script.n ? in->script : in->executable;
    const char *dir, *path;

    if (in->source == INSTALL_CARGO && !in->script.n) {
        if (!find_cargo_program(a, cache_dir, s, &path, e))
            return error_wrap(e, "installation '%.*s'", STR_F(in->name));
        ARENA_PUSH(a, ret) = str_of(path);
        return true;
    }
    dir = in->source == INSTALL_GITHUB ? install_step_dir(a, cache_dir, s) : arena_z(a, s->dir);
    path = path_clean(a, path_join(a, dir, arena_z(a, as_written)));
    if (in->script.n && access(path, X_OK) != 0)
        ARENA_PUSH(a, ret) = STR("/bin/sh");
    if (!in->script.n && str_find_char(as_written, '/') == SIZE_MAX && !file_exists(path))
        ARENA_PUSH(a, ret) = as_written;
    else
        ARENA_PUSH(a, ret) = str_of(path);
    return true;
}

static bool is_there(const struct install_step *s, const char *cache_dir, struct error *e)
{
    return install_step_ready(s, cache_dir) ||
           error_set(e, ERR_NOT_FOUND,
                     "installation '%.*s' is not there yet; run 'symposium sync'",
                     STR_F(s->in.name));
}

bool install_plan_argv(struct arena *a, const struct install_plan *p, const char *cache_dir,
                       struct strs *ret, struct error *e)
{
    const struct install_step *s = p->n && p->runs ? &p->v[p->n - 1] : NULL;

    if (!s)
        return error_set(e, ERR_INVALID, "there is nothing to run");
    if (!is_there(s, cache_dir, e) || !find_program(a, cache_dir, s, ret, e))
        return false;
    for (size_t i = 0; i < s->in.args.n; i++)
        ARENA_PUSH(a, ret) = s->in.args.v[i];
    return true;
}

bool installation_argv(struct arena *a, const char *cache_dir, const struct plugin *owner,
                       struct str name, struct strs *ret, struct error *e)
{
    struct install_plan plan;

    if (!install_plan_make(&plan, a, owner, &(struct install_use){ .name = name }, e))
        return false;
    for (size_t i = 0; i < plan.n; i++)
        if (!is_there(&plan.v[i], cache_dir, e))
            return false;
    return install_plan_argv(a, &plan, cache_dir, ret, e);
}

/* ---- PATH ---- */

static bool has_dir(struct str list, const char *dir)
{
    struct str rest = list, one;

    while (str_next(&rest, ':', &one))
        if (str_is(one, dir))
            return true;
    return false;
}

struct str install_path_prefix(struct arena *a, const char *cache_dir,
                               const struct plugin *const *v, size_t n)
{
    struct str list = { 0 };

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i]->installations.n; k++) {
            struct install_step s = { .in = v[i]->installations.v[k], .dir = v[i]->dir };
            const char *root = install_root(a, cache_dir, &s),
                       *bin = root ? path_join(a, root, "bin") : NULL;

            if (bin && file_is_dir(bin) && !strchr(bin, ':') && !has_dir(list, bin))
                list = str_of(arena_printf(a, "%.*s%s%s", STR_F(list), list.n ? ":" : "", bin));
        }
    return list;
}
