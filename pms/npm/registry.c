/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "registry.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "common/run.h"
#include "common/scratch.h"
#include "fetched.h"
#include "name.h"
#include "places.h"
#include "text/semver.h"
#include "unpack.h"

#define COMPLAINT_MAX 500 /* bytes of npm's own words in an answer */
#define INSTALL_NPM   "install Node.js, which brings npm"
/* Whoever asks us tries again (PM-5); npm's own pauses are 10 s and longer. */
#define NPM_NO_RETRY "--fetch-retries=0"
#define NPM_NO_LOGS  "--logs-max=0" /* else a file in ~/.npm/_logs each time */

/* ---- npm's words ---- */

static const struct {
    const char *code;
    enum err_kind kind;
} codes[] = {
    { "E404", ERR_NOT_FOUND },
    { "ETARGET", ERR_NOT_FOUND },
    { "ENOVERSIONS", ERR_NOT_FOUND },
    { "E410", ERR_NOT_FOUND },
    { "E451", ERR_NOT_FOUND },
    { "EINVALIDPACKAGENAME", ERR_NOT_FOUND },
    { "ENOTCACHED", ERR_NOT_FOUND }, /* npm is told to be offline */
    { "E401", ERR_DENIED },
    { "E403", ERR_DENIED },
    { "ENEEDAUTH", ERR_DENIED },
    { "EOTP", ERR_DENIED },
    { "EINTEGRITY", ERR_INVALID },
    { "ENOTFOUND", ERR_CLOSED },
    { "EAI_AGAIN", ERR_CLOSED },
    { "EAI_FAIL", ERR_CLOSED },
    { "ECONNREFUSED", ERR_CLOSED },
    { "ECONNRESET", ERR_CLOSED },
    { "ECONNABORTED", ERR_CLOSED },
    { "ECONNTIMEOUT", ERR_CLOSED },
    { "ECONNECTIONTIMEOUT", ERR_CLOSED },
    { "ERESPONSETIMEOUT", ERR_CLOSED },
    { "ETRANSFERTIMEOUT", ERR_CLOSED },
    { "EIDLETIMEOUT", ERR_CLOSED },
    { "ETIMEDOUT", ERR_CLOSED },
    { "ESOCKETTIMEDOUT", ERR_CLOSED },
    { "ERR_SOCKET_TIMEOUT", ERR_CLOSED },
    { "FETCH_ERROR", ERR_CLOSED },
    { "ENETUNREACH", ERR_CLOSED },
    { "ENETDOWN", ERR_CLOSED },
    { "EHOSTUNREACH", ERR_CLOSED },
    { "EPIPE", ERR_CLOSED },
    { "E429", ERR_CLOSED },
    { "E500", ERR_CLOSED },
    { "E502", ERR_CLOSED },
    { "E503", ERR_CLOSED },
    { "E504", ERR_CLOSED },
};

static enum err_kind kind_of(struct str code)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (str_is(code, codes[i].code))
            return codes[i].kind;
    return ERR_PROTOCOL;
}

/* "npm error code E404"; older ones say ERR!. */
static struct str code_of(struct str err)
{
    struct str line, rest = err, word = { 0 };

    while (str_next(&rest, '\n', &line))
        if (str_starts(line, STR("npm ")) && str_cut(str_from(line, 4), ' ', &word, &line) &&
            str_starts(line, STR("code ")))
            return str_trim(str_from(line, 5));
    return (struct str){ 0 };
}

void npm_complaint(struct str out, struct str err, struct error *e)
{
    auto_buf clean = BUF(4 * COMPLAINT_MAX);
    auto_json doc = { 0 };
    struct str code, text;

    json_parse(&doc, out, NULL);
    code = json_str(json_path(doc.root, "error.code"));
    if (code.n == 0)
        code = code_of(err);
    text = json_str(json_path(doc.root, "error.summary"));
    if (text.n == 0)
        text = run_complaint(err);
    utf8_put_clean(&clean, utf8_cut(str_trim(text), COMPLAINT_MAX));
    error_set(e, kind_of(code), "npm: %s", clean.n ? buf_z(&clean) : "failed without a word");
}

/* ---- search ---- */

static void put_hit(struct jw *w, yyjson_val *hit)
{
    auto_buf text = BUF(4 * SEARCH_MAX_TEXT);
    struct str version = json_str(json_get(hit, "version"));
    struct id id = { STR("npm"), json_str(json_get(hit, "name")),
                     npm_version_ok(version) ? version : STR("*") };

    if (!npm_name_ok(id.name))
        return;
    utf8_put_clean(&text, utf8_cut(json_str(json_get(hit, "description")), SEARCH_MAX_TEXT));
    jw_obj(w);
    jw_key(w, "id");
    id_put(w, &id);
    if (text.n)
        jw_kstr(w, "description", buf_str(&text));
    jw_end(w);
}

static void on_searched(void *ctx, const struct run_result *result, const struct error *why)
{
    auto_buf json = BUF(64 << 10);
    auto_json doc = { 0 };
    struct jw w = jw_to(&json);
    struct request *r = ctx;
    struct error e = { 0 };

    if (why) {
        request_fail(r, why);
        return;
    }
    if (result->code != 0 || !json_parse(&doc, result->out, NULL) || !json_is_arr(doc.root)) {
        npm_complaint(result->out, result->err, &e);
        request_fail(r, &e);
        return;
    }
    jw_arr(&w);
    for (struct json_iter it = json_iter(doc.root); json_next(&it) && it.i <= SEARCH_MAX_HITS;)
        put_hit(&w, it.val);
    jw_end(&w);
    request_reply(r, buf_str(&json));
}

void on_search(struct request *r)
{
    const char **argv = ARENA_ARRAY(&r->arena, const char *, 10);
    struct str query = { 0 };
    struct error e = { 0 };

    if (!json_opt_str(r->params, "query", &query, &e)) {
        request_bad_params(r, e.msg);
        return;
    }
    query = str_trim(query);
    if (query.n == 0 || query.n > SEARCH_MAX_QUERY || str_has_control(query)) {
        request_bad_params(r, "'query' must be a line of 1 to 256 bytes");
        return;
    }
    argv[0] = "npm";
    argv[1] = "search";
    argv[2] = "--json";
    argv[3] = "--searchlimit=10";
    argv[4] = "--no-update-notifier";
    argv[5] = NPM_NO_RETRY;
    argv[6] = NPM_NO_LOGS;
    argv[7] = "--";
    argv[8] = arena_z(&r->arena, query);
    run_command(r,
                &(struct run_opts){ .argv = argv,
                                    .cwd = "/",
                                    .timeout_ms = SEARCH_TIMEOUT_MS,
                                    .progress = "searching the registry (npm search)",
                                    .install = INSTALL_NPM },
                on_searched, r);
}

/* ---- requirements ---- */

static void put_comparator(struct buf *out, const struct semver_comparator *c)
{
    static const char *const ops[] = {
        [SEMVER_EXACT] = "=", [SEMVER_GREATER] = ">",  [SEMVER_GREATER_EQ] = ">=",
        [SEMVER_LESS] = "<",  [SEMVER_LESS_EQ] = "<=", [SEMVER_TILDE] = "~",
        [SEMVER_CARET] = "^",
    };

    buf_addf(out, "%s%s%llu", out->n ? " " : "", ops[c->op], (unsigned long long)c->v.major);
    if (c->parts > 1)
        buf_addf(out, ".%llu", (unsigned long long)c->v.minor);
    if (c->parts > 2)
        buf_addf(out, ".%llu", (unsigned long long)c->v.patch);
    if (c->v.pre.n)
        buf_addf(out, "-%.*s", STR_F(c->v.pre));
}

bool npm_range(struct str requirement, struct buf *out, struct error *e)
{
    struct semver_req req;

    if (npm_version_ok(requirement)) {
        buf_add(out, requirement);
        return buf_ok(out, e);
    }
    if (!semver_req_parse(&req, requirement, e))
        return error_wrap(e, "version '%.*s'", STR_F(requirement));
    for (size_t i = 0; i < req.n; i++)
        put_comparator(out, &req.v[i]);
    if (req.n == 0)
        buf_addc(out, '*');
    return buf_ok(out, e);
}

/* ---- fetch ---- */

struct fetch {
    struct request *request;
    struct id id;
    package_fn found;
    const char *temp;    /* a directory of our own; removed at the end */
    const char *archive; /* the .tgz that npm left there */
    const char *tar, *package;
};

static void give_up(struct fetch *f, const struct error *why)
{
    scratch_remove(f->temp);
    request_fail(f->request, why);
}

static void reply_found(struct request *r, const struct installed *package)
{
    auto_buf json = BUF(32 << 10);
    struct jw w = jw_to(&json);
    struct id id = { STR("npm"), package->name, package->version };

    jw_obj(&w);
    jw_key(&w, "id");
    id_put(&w, &id);
    jw_kstrz(&w, "root", package->dir);
    jw_end(&w);
    request_reply(r, buf_str(&json));
}

/* It must be what was asked for. */
static bool check_package(const struct fetch *f, struct installed *ret, struct error *e)
{
    struct inputs in = { .arena = &f->request->arena };

    if (!installed_read(&in, f->package, ret))
        return error_set(e, ERR_INVALID, "the archive of '%.*s' holds no package.json",
                         STR_F(f->id.name));
    if (!str_eq(ret->name, f->id.name) || ret->version.n == 0 ||
        !id_fits(f->id.version, ret->version, true))
        return error_set(e, ERR_INVALID, "the archive of '%.*s' is of another package",
                         STR_F(f->id.name));
    return true;
}

static bool unpack_archive(const struct fetch *f, struct error *e)
{
    FILE *in;
    bool ok;

    if (mkdir(f->package, 0700) != 0)
        return error_set(e, ERR_SYS, "directory '%s'", f->package);
    in = fopen(f->tar, "re");
    if (!in)
        return error_set(e, ERR_SYS, "file '%s'", f->tar);
    ok = unpack(in, f->package, e);
    fclose(in);
    return ok;
}

static void on_gunzipped(void *ctx, const struct run_result *result, const struct error *why)
{
    struct fetch *f = ctx;
    struct request *r = f->request;
    struct installed package;
    struct error e = { 0 };

    if (why) {
        give_up(f, why);
        return;
    }
    if (result->code != 0 || result->err.n)
        error_set(&e, ERR_INVALID, "the archive of '%.*s' is no gzip", STR_F(f->id.name));
    else if (unpack_archive(f, &e) && check_package(f, &package, &e) &&
             fetched_keep(&r->arena, r->session->cache_dir, f->package, &package, &e)) {
        package.dir =
            fetched_dir(&r->arena, r->session->cache_dir, package.name, package.version);
        scratch_remove(f->temp);
        f->found(r, &package);
        return;
    }
    give_up(f, &e);
}

/* The one *.tgz in the directory. */
static const char *find_archive(struct arena *a, const char *dir)
{
    const char *found = NULL;
    struct dirent *d;
    DIR *stream = opendir(dir);

    if (!stream)
        return NULL;
    while (!found && (d = readdir(stream)))
        if (str_ends(str_of(d->d_name), STR(".tgz")))
            found = path_join(a, dir, d->d_name);
    closedir(stream);
    return found;
}

/* A bomb is cut off, and what is cut off is no whole archive. */
static void start_gunzip(struct fetch *f)
{
    struct arena *a = &f->request->arena;
    const char **argv = ARENA_ARRAY(a, const char *, 8);

    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = "{ gzip -dc -- \"$1\" || echo failed >&2; } | head -c \"$3\" >\"$2\"";
    argv[3] = "sh";
    argv[4] = f->archive;
    argv[5] = f->tar;
    argv[6] = GUNZIP_MAX_BYTES;
    run_command(
        f->request,
        &(struct run_opts){ .argv = argv, .cwd = f->temp, .timeout_ms = GUNZIP_TIMEOUT_MS },
        on_gunzipped, f);
}

static void on_packed(void *ctx, const struct run_result *result, const struct error *why)
{
    struct fetch *f = ctx;
    struct error e = { 0 };

    if (why) {
        give_up(f, why);
        return;
    }
    f->archive = find_archive(&f->request->arena, f->temp);
    if (result->code != 0 || !f->archive)
        npm_complaint(result->out, result->err, &e);
    else if (request_ending(f->request))
        error_set(&e, ERR_CLOSED, "ended before it was done");
    if (e.kind == ERR_NONE)
        start_gunzip(f);
    else
        give_up(f, &e);
}

static void start_pack(struct fetch *f, struct str range)
{
    struct arena *a = &f->request->arena;
    const char **argv = ARENA_ARRAY(a, const char *, 13);
    const char *what = arena_printf(a, "%.*s@%.*s", STR_F(f->id.name), STR_F(range));

    f->package = path_join(a, f->temp, "package");
    f->tar = path_join(a, f->temp, "package.tar");
    argv[0] = "npm";
    argv[1] = "pack";
    argv[2] = "--ignore-scripts";
    argv[3] = "--json";
    argv[4] = "--workspaces=false";
    argv[5] = "--no-update-notifier";
    argv[6] = NPM_NO_RETRY;
    argv[7] = NPM_NO_LOGS;
    argv[8] = arena_printf(a, "--prefix=%s", f->temp);
    argv[9] = arena_printf(a, "--pack-destination=%s", f->temp);
    argv[10] = "--";
    argv[11] = what;
    run_command(f->request,
                &(struct run_opts){ .argv = argv,
                                    .cwd = f->temp,
                                    .timeout_ms = PACK_TIMEOUT_MS,
                                    .progress = arena_printf(a, "fetching %s (npm pack)", what),
                                    .install = INSTALL_NPM },
                on_packed, f);
}

void fetch_package(struct request *r, const struct id *id, package_fn found)
{
    struct fetch *f = ARENA_NEW(&r->arena, struct fetch);
    auto_buf range = BUF(ID_MAX_TEXT * 2);
    struct error e = { 0 };

    *f = (struct fetch){ .request = r, .id = *id, .found = found };
    if (!r->session->cache_dir)
        error_set(&e, ERR_NOT_FOUND, "'%.*s' is not installed, and there is no cache directory",
                  STR_F(id->name));
    else if (npm_range(id->version, &range, &e))
        f->temp = fetched_temp(&r->arena, r->session->cache_dir, &e);
    if (f->temp)
        start_pack(f, buf_str(&range));
    else
        request_fail(r, &e);
}

/* On this machine already. "fetch" wants the newest that fits, unless the workspace has its
 * own. */
static bool find_local(struct request *r, const struct id *id, enum update update,
                       struct installed *ret)
{
    bool cached = update != UPDATE_FETCH || npm_version_ok(id->version), found;
    struct places places;

    places_read(&places, &r->arena, r->session->workspace);
    found = places_find(&places, id, ret) ||
            (cached && fetched_find(&places.in, r->session->cache_dir, id, ret));
    places_free(&places);
    return found;
}

void on_fetch(struct request *r)
{
    struct installed package;
    struct error e = { 0 };
    enum update update = UPDATE_NONE;
    struct id id;

    if (!update_read(r->params, &update, &e) ||
        (!id_read(json_get(r->params, "id"), "npm", &id, &e) && e.kind != ERR_NOT_FOUND)) {
        request_bad_params(r, e.msg);
        return;
    }
    if (e.kind == ERR_NONE && !npm_name_ok(id.name))
        error_set(&e, ERR_NOT_FOUND, "no package of npm can have this name");
    if (e.kind == ERR_NONE && find_local(r, &id, update, &package)) {
        reply_found(r, &package);
        return;
    }
    if (e.kind == ERR_NONE && update == UPDATE_NONE)
        error_set(&e, ERR_NOT_FOUND, "'%.*s' is not installed", STR_F(id.name));
    if (e.kind == ERR_NONE)
        fetch_package(r, &id, reply_found);
    else
        request_fail(r, &e);
}
