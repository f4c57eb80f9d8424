/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/definition_impl.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "text/frontmatter.h"
#include "text/toml.h"
#include "text/url.h"
#include "text/yaml_json.h"

#define JSON_TEXT_MAX ((size_t)16 << 20) /* a file as JSON: each byte may need six */
#define MODEL_MAX     256
#define KEY_NAME_MAX  128

static const char *const wire_names[] = {
    [WIRE_RESPONSES] = "responses",
    [WIRE_MESSAGES] = "anthropic-messages",
    [WIRE_CHAT] = "chat-completions",
};

const char *wire_api_name(enum wire_api w)
{
    return wire_names[w];
}

/* ---- the file as JSON ---- */

void reader_warn(struct reader *r, const char *fmt, ...)
{
    char line[1024];
    va_list ap;

    if (r->warnings->n == AGENT_WARNINGS_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    ARENA_PUSH(r->a, r->warnings) = arena_str(r->a, str_of(line));
}

static bool markdown_json(struct reader *r, struct buf *out)
{
    struct frontmatter parts;
    const struct yaml *front;
    struct jw w = jw_to(out);

    if (!frontmatter_split(r->src->text, &parts, r->e))
        return false;
    front = yaml_parse(r->a, parts.yaml, r->e);
    if (!front)
        return false;
    if (!yaml_is(front, YAML_MAP))
        return error_set(r->e, ERR_INVALID, "the front matter must be a mapping");
    yaml_put_json(&w, front);
    r->body = str_trim(parts.body);
    return true;
}

static bool toml_json(struct reader *r, struct buf *out)
{
    const struct toml_val *root = toml_parse(r->a, r->src->text, r->e);

    if (root)
        toml_put_json(out, root);
    return root != NULL;
}

/* ---- single values ---- */

yyjson_val *reader_get(yyjson_val *obj, const char *const *keys, const char **ret_key)
{
    for (; *keys; keys++) {
        yyjson_val *v = json_get(obj, *keys);

        if (v && !json_is_null(v)) {
            *ret_key = *keys;
            return v;
        }
    }
    return NULL;
}

#define KEYS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A number is a fine name or model. Blank counts as absent. */
static bool read_text(struct reader *r, const char *const *keys, struct str *ret)
{
    const char *key;
    yyjson_val *v = reader_get(r->root, keys, &key);
    struct str s;

    if (!v)
        return true;
    if (!json_is_str(v) && !json_is_num(v))
        return error_set(r->e, ERR_INVALID, "'%s' must be a text, not %s", key,
                         json_type_name(v));
    s = str_trim(json_is_num(v) ? json_num_text(v) : json_str(v));
    if (s.n)
        *ret = arena_str(r->a, s);
    return true;
}

static bool read_int(struct reader *r, const char *const *keys, int max, int *ret)
{
    const char *key;
    yyjson_val *v = reader_get(r->root, keys, &key);
    int64_t n;

    if (!v)
        return true;
    if (!json_int(v, &n) || n < 1 || n > max)
        return error_set(r->e, ERR_INVALID, "'%s' must be a whole number from 1 to %d", key,
                         max);
    *ret = (int)n;
    return true;
}

bool reader_list(struct reader *r, yyjson_val *v, const char *key, struct strs *ret)
{
    struct str text = json_str(v);
    size_t from = 0;
    int depth = 0;

    if (!v)
        return true;
    if (!json_is_str(v) && !json_is_arr(v))
        return error_set(r->e, ERR_INVALID, "'%s' must be a list, or a text with commas", key);
    for (struct json_iter it = json_iter(json_is_arr(v) ? v : NULL); json_next(&it);) {
        if (!json_is_str(it.val))
            return error_set(r->e, ERR_INVALID, "'%s' must hold texts alone", key);
        if (str_trim(json_str(it.val)).n)
            ARENA_PUSH(r->a, ret) = arena_str(r->a, str_trim(json_str(it.val)));
    }
    for (size_t i = 0; i <= text.n; i++) {
        char c = i < text.n ? text.p[i] : ',';
        struct str piece;

        depth += c == '(';
        depth -= c == ')' && depth;
        if (i < text.n && (c != ',' || depth))
            continue;
        piece = str_trim(str_part(text, from, i));
        from = i + 1;
        if (piece.n)
            ARENA_PUSH(r->a, ret) = arena_str(r->a, piece);
    }
    if (ret->n > AGENT_LIST_MAX)
        return error_set(r->e, ERR_LIMIT, "'%s' has more than %d entries", key, AGENT_LIST_MAX);
    return true;
}

/* ---- name, description, instructions ---- */

/* [a-z0-9] with single '_' or '-' inside */
static bool is_name(struct str s)
{
    bool after_mark = true;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool word = (c >= 'a' && c <= 'z') || ascii_digit(c);

        if (!word && ((c != '-' && c != '_') || after_mark))
            return false;
        after_mark = !word;
    }
    return s.n && s.n <= AGENT_NAME_MAX && !after_mark;
}

static struct str stem(const char *file)
{
    struct str base = str_of(path_base(file));
    size_t n = base.n;

    while (n && base.p[n - 1] != '.')
        n--;
    return n > 1 ? str_upto(base, n - 1) : base;
}

static bool read_identity(struct reader *r)
{
    struct agent_def *d = r->def;

    if (!read_text(r, KEYS("name"), &d->name) ||
        !read_text(r, KEYS("description"), &d->description))
        return false;
    if (!d->name.n && r->src->vendor == VENDOR_OPENCODE)
        d->name = arena_str(r->a, stem(r->src->file));
    if (!d->name.n)
        return error_set(r->e, ERR_INVALID, "'name' is missing");
    if (!is_name(d->name))
        return error_set(r->e, ERR_INVALID,
                         "'name' must be 1 to %d lower-case letters and digits, with single "
                         "'-' or '_' between them; it is '%.*s'",
                         AGENT_NAME_MAX, STR_F(str_upto(d->name, 80)));
    if (!d->description.n)
        return error_set(r->e, ERR_INVALID, "'description' is missing: say when to use it");
    if (!r->src->toml)
        d->instructions = arena_str(r->a, r->body);
    else if (!read_text(r, KEYS("instructions", "developer_instructions"), &d->instructions))
        return false;
    if (d->instructions.n)
        return true;
    return error_set(r->e, ERR_INVALID,
                     r->src->toml ? "'developer_instructions' is missing"
                                  : "there are no instructions behind the front matter");
}

/* ---- provider and model ---- */

enum provider { PROVIDER_NONE, PROVIDER_OPENAI, PROVIDER_ANTHROPIC, PROVIDER_CUSTOM };

static const char *const provider_names[] = { "", "openai", "anthropic", "custom" };

static enum provider provider_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(provider_names); i++)
        if (str_is(name, provider_names[i]))
            return (enum provider)i;
    return PROVIDER_NONE;
}

static struct str mapped(const struct reader *r, struct str alias)
{
    const struct key_values *m = r->settings->models;

    for (size_t i = 0; m && i < m->n; i++)
        if (str_eq(m->v[i].key, alias))
            return m->v[i].value;
    return (struct str){ 0 };
}

/* What vendors' own programs make of it only they know: the user says it in config.toml. */
static bool is_vendor_alias(struct str s)
{
    static const char *const aliases[] = { "sonnet", "opus", "haiku", "inherit" };

    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_is(s, aliases[i]))
            return true;
    return false;
}

static bool read_model(struct reader *r)
{
    struct agent_def *d = r->def;
    struct str alias, model;

    if (!read_text(r, KEYS("model"), &d->model))
        return false;
    if (!d->model.n && r->src->vendor == VENDOR_OURS)
        return error_set(r->e, ERR_INVALID, "'model' is missing");
    alias = d->model.n ? d->model : STR("inherit");
    model = mapped(r, alias);
    if (model.n)
        d->model = arena_str(r->a, model);
    else if (!d->model.n || (r->src->vendor == VENDOR_CLAUDE && is_vendor_alias(alias)))
        return error_set(r->e, ERR_INVALID,
                         "%s: give '%.*s' under [agents.models] of config.toml, e.g. %.*s = "
                         "\"<model id>\"",
                         d->model.n ? "the model is an alias" : "no model is named",
                         STR_F(alias), STR_F(alias));
    if (d->model.n > MODEL_MAX || str_has_control(d->model))
        return error_set(r->e, ERR_INVALID, "'model' is no model id: at most %d bytes",
                         MODEL_MAX);
    return true;
}

/* OpenCode writes provider/model. */
static bool split_model(struct reader *r, enum provider *ret)
{
    struct str prefix, rest;
    enum provider p;

    if (!str_cut(r->def->model, '/', &prefix, &rest))
        return true;
    p = str_is(prefix, "openrouter") ? PROVIDER_CUSTOM : provider_of(prefix);
    if (p == PROVIDER_NONE && *ret == PROVIDER_NONE)
        return error_set(r->e, ERR_INVALID,
                         "the provider '%.*s' is not known: give 'modelProvider: custom', "
                         "'baseUrl', 'envKey' and 'wireApi'",
                         STR_F(str_upto(prefix, 80)));
    if (p == PROVIDER_NONE || !rest.n)
        return true;
    r->def->model = rest;
    if (*ret == PROVIDER_NONE)
        *ret = p;
    return true;
}

static bool read_provider(struct reader *r, enum provider *ret)
{
    static const enum provider without[] = { [VENDOR_OURS] = PROVIDER_NONE,
                                             [VENDOR_CLAUDE] = PROVIDER_ANTHROPIC,
                                             [VENDOR_CODEX] = PROVIDER_OPENAI,
                                             [VENDOR_OPENCODE] = PROVIDER_NONE };
    struct str name = { 0 };

    if (!read_text(r, KEYS("modelProvider", "model_provider"), &name))
        return false;
    *ret = provider_of(name);
    if (name.n && *ret == PROVIDER_NONE)
        return error_set(r->e, ERR_INVALID,
                         "'modelProvider' is openai, anthropic or custom, not '%.*s'",
                         STR_F(str_upto(name, 80)));
    if (r->src->vendor == VENDOR_OPENCODE && !split_model(r, ret))
        return false;
    if (*ret == PROVIDER_NONE)
        *ret = r->src->toml ? PROVIDER_OPENAI : without[r->src->vendor];
    if (*ret != PROVIDER_NONE)
        return true;
    if (r->src->vendor == VENDOR_OPENCODE)
        return error_set(
            r->e, ERR_INVALID, "the model '%.*s' must be provider/model, e.g. openai/%.*s",
            STR_F(str_upto(r->def->model, 80)), STR_F(str_upto(r->def->model, 80)));
    return error_set(r->e, ERR_INVALID,
                     "'modelProvider' is missing: openai, anthropic or custom");
}

static struct str host_of(struct str url)
{
    struct str authority = url_split(url).authority, host = authority, port;

    if (authority.n && authority.p[0] == '[') {
        size_t end = str_find_char(authority, ']');

        return end == SIZE_MAX ? STR("") : str_part(authority, 1, end);
    }
    str_cut(authority, ':', &host, &port);
    return host;
}

bool agent_url_is_loopback(struct str url)
{
    struct str host = host_of(url), rest = host, piece;
    int64_t n;
    int parts = 0;

    if (str_icase_eq(host, STR("localhost")) || str_is(host, "::1"))
        return true;
    if (!str_starts(host, STR("127.")))
        return false;
    while (str_next(&rest, '.', &piece)) {
        if (!str_to_int(piece, 0, 255, &n))
            return false;
        parts++;
    }
    return parts == 4;
}

static bool check_url(struct reader *r)
{
    struct str url = r->def->base_url;
    struct url_parts p = url_split(url);
    bool plain = str_icase_eq(p.scheme, STR("http"));

    if (!host_of(url).n || p.query.p || p.fragment.p || str_has_control(url) ||
        str_find_char(p.authority, '@') != SIZE_MAX || url.n > 2048)
        return error_set(r->e, ERR_INVALID,
                         "'baseUrl' must be an https URL without user, query and fragment");
    if (!str_icase_eq(p.scheme, STR("https")) && !(plain && agent_url_is_loopback(url)))
        return error_set(r->e, ERR_INVALID,
                         "'baseUrl' must be https; http is for localhost, 127.0.0.0/8 and ::1");
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    if (r->def->wire == WIRE_MESSAGES && str_ends(url, STR("/v1")))
        url.n -= 3; /* the path of this interface brings it (AG-23) */
    r->def->base_url = url;
    return true;
}

static bool read_wire(struct reader *r, enum provider p)
{
    struct str name = { 0 };
    enum wire_api w = WIRE_RESPONSES;

    if (!read_text(r, KEYS("wireApi", "wire_api"), &name))
        return false;
    while (name.n && w <= WIRE_CHAT && !str_is(name, wire_names[w]))
        w++;
    if (w > WIRE_CHAT || (!name.n && p == PROVIDER_CUSTOM))
        return error_set(r->e, ERR_INVALID,
                         "'wireApi' must be responses, anthropic-messages or chat-completions");
    if (!name.n && p == PROVIDER_ANTHROPIC)
        w = WIRE_MESSAGES;
    if ((p == PROVIDER_OPENAI && w == WIRE_MESSAGES) ||
        (p == PROVIDER_ANTHROPIC && w != WIRE_MESSAGES))
        return error_set(r->e, ERR_INVALID, "the provider %s does not speak '%s'",
                         provider_names[p], wire_names[w]);
    r->def->wire = w;
    return true;
}

static bool is_variable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_' && !ascii_letter(s.p[i]) && (!i || !ascii_digit(s.p[i])))
            return false;
    return s.n && s.n <= KEY_NAME_MAX;
}

static bool read_endpoint(struct reader *r)
{
    static const char *const urls[] = { "", "https://api.openai.com/v1",
                                        "https://api.anthropic.com", "" };
    static const char *const keys[] = { "", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "" };
    struct agent_def *d = r->def;
    enum provider p;

    if (!read_provider(r, &p) || !read_wire(r, p))
        return false;
    d->base_url = str_of(urls[p]);
    d->env_key = str_of(keys[p]);
    if (!read_text(r, KEYS("baseUrl", "base_url"), &d->base_url) ||
        !read_text(r, KEYS("envKey", "env_key"), &d->env_key))
        return false;
    if (!d->base_url.n)
        return error_set(r->e, ERR_INVALID, "'baseUrl' is missing: a custom provider needs it");
    if (!check_url(r))
        return false;
    if (d->env_key.n && !is_variable(d->env_key))
        return error_set(r->e, ERR_INVALID,
                         "'envKey' must be the name of an environment variable, never the "
                         "credential itself");
    d->own_credential =
        d->env_key.n && (!str_is(d->base_url, urls[p]) || !str_is(d->env_key, keys[p]));
    return d->env_key.n || agent_url_is_loopback(d->base_url) ||
           error_set(r->e, ERR_INVALID,
                     "'envKey' is missing: the variable that holds the credential");
}

bool agent_asks(const struct agent_def *d)
{
    bool asks = d->own_credential;

    for (size_t i = 0; i < d->servers.n; i++) {
        const struct agent_server *s = &d->servers.v[i];

        asks |= s->active || s->command.n || s->url.n || str_is(s->builtin, "shell");
    }
    return asks;
}

/* Files are shared and committed; a credential in one is a leak. */
static bool check_secrets(struct reader *r)
{
    static const char *const names[] = { "api_key", "apiKey", "token", "access_token",
                                         "accessToken" };
    yyjson_val *provider = json_get(r->root, "provider");

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (json_get(r->root, names[i]) || json_get(provider, names[i]))
            return error_set(r->e, ERR_INVALID,
                             "'%s' stands in the file: put the credential into an environment "
                             "variable and name that in 'envKey'",
                             names[i]);
    return true;
}

/* ---- how it works ---- */

static bool read_effort(struct reader *r)
{
    static const char *const words[] = { "none", "minimal", "low", "medium",
                                         "high", "xhigh",   "max" };
    struct str s = { 0 };
    bool ok = r->src->toml
                  ? read_text(r, KEYS("model_reasoning_effort", "reasoning_effort"), &s)
                  : read_text(r, KEYS("effort", "reasoningEffort", "reasoning_effort"), &s);

    for (size_t i = 0; ok && s.n && i < ARRAY_LEN(words); i++)
        if (str_icase_eq(s, str_of(words[i])))
            r->def->effort = str_of(words[i]);
    if (!ok || !s.n || r->def->effort.n)
        return ok;
    return error_set(r->e, ERR_INVALID,
                     "the effort is one of none, minimal, low, medium, high, xhigh, max, not "
                     "'%.*s'",
                     STR_F(str_upto(s, 40)));
}

static bool read_temperature(struct reader *r)
{
    yyjson_val *v = json_get(r->root, "temperature");
    int max = r->def->wire == WIRE_MESSAGES ? 1 : 2;
    double t;

    if (!v || json_is_null(v))
        return true;
    if (!json_num(v, &t) || !(t >= 0 && t <= max))
        return error_set(r->e, ERR_INVALID, "'temperature' must be a number from 0 to %d", max);
    r->def->temperature = arena_str(r->a, json_num_text(v));
    return true;
}

struct mode {
    const char *word;
    enum { MODE_DEFAULT, MODE_READ_ONLY, MODE_REJECTED } is;
};

static bool read_mode(struct reader *r, const char *const *keys, const struct mode *modes)
{
    struct str s = { 0 };
    const char *key;

    if (json_is_obj(reader_get(r->root, keys, &key)))
        return true; /* a permission map: definition_tools.c */
    if (!read_text(r, keys, &s))
        return false;
    if (!s.n)
        return true;
    for (; modes->word; modes++) {
        if (!str_is(s, modes->word))
            continue;
        if (modes->is == MODE_REJECTED)
            break;
        r->def->read_only |= modes->is == MODE_READ_ONLY;
        return true;
    }
    return error_set(r->e, ERR_INVALID, "'%s' of '%.*s' is not offered here: %s", keys[0],
                     STR_F(str_upto(s, 40)),
                     str_is(str_of(keys[0]), "isolation") ? "only none"
                                                          : "only default and read-only");
}

static bool read_modes(struct reader *r)
{
    static const struct mode permissions[] = {
        { "default", MODE_DEFAULT },     { "acceptEdits", MODE_DEFAULT },
        { "read-only", MODE_READ_ONLY }, { "readonly", MODE_READ_ONLY },
        { "plan", MODE_READ_ONLY },      { NULL, MODE_REJECTED }
    };
    static const struct mode sandboxes[] = { { "default", MODE_DEFAULT },
                                             { "read-only", MODE_READ_ONLY },
                                             { NULL, MODE_REJECTED } };
    static const struct mode isolations[] = { { "none", MODE_DEFAULT },
                                              { NULL, MODE_REJECTED } };

    return read_mode(r, KEYS("permission", "permissionMode", "permission_mode"), permissions) &&
           read_mode(r, KEYS("sandbox", "sandbox_mode"), sandboxes) &&
           read_mode(r, KEYS("isolation"), isolations);
}

static bool read_limits(struct reader *r)
{
    r->def->max_turns = AGENT_TURNS;
    r->def->max_tokens = AGENT_TOKENS;
    return read_int(r, KEYS("maxTurns", "max_turns", "steps", "maxSteps"), AGENT_TURNS_MAX,
                    &r->def->max_turns) &&
           read_int(r, KEYS("maxTokens", "max_tokens"), AGENT_TOKENS_MAX, &r->def->max_tokens);
}

static bool read_skills(struct reader *r)
{
    yyjson_val *v = json_get(r->root, "skills");

    if (json_is_obj(v)) { /* Codex: which of its own skills are on */
        reader_warn(r, "'skills' is a table here and is ignored: name the skills in a list");
        return true;
    }
    return reader_list(r, json_is_null(v) ? NULL : v, "skills", &r->def->skills);
}

/* Claude's fields grow with its releases, and one of our own may be misspelt: it might
 * matter. */
static void warn_unknown(struct reader *r)
{
    static const char *const known[] = {
        "name",
        "description",
        "tools",
        "disallowedTools",
        "disallowed_tools",
        "model",
        "permissionMode",
        "permission",
        "maxTurns",
        "max_turns",
        "steps",
        "skills",
        "mcpServers",
        "mcp_servers",
        "effort",
        "reasoningEffort",
        "reasoning_effort",
        "isolation",
        "sandbox",
        "color",
        "memory",
        "background",
        "hooks",
        "initialPrompt",
        "modelProvider",
        "model_provider",
        "baseUrl",
        "base_url",
        "envKey",
        "env_key",
        "wireApi",
        "wire_api",
        "temperature",
        "maxTokens",
        "max_tokens",
        "instructions",
        "developer_instructions",
        "model_reasoning_effort",
        "permission_mode",
        "sandbox_mode",
    };
    static const char *const inert[] = { "hooks", "memory", "background", "initialPrompt" };

    for (struct json_iter it = json_iter(r->root); json_next(&it);) {
        bool is_known = false, is_inert = false;

        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            is_known |= str_is(it.key, known[i]);
        for (size_t i = 0; i < ARRAY_LEN(inert); i++)
            is_inert |= str_is(it.key, inert[i]);
        if (!is_known || is_inert)
            reader_warn(r, "'%.*s' is ignored: %s", STR_F(str_upto(it.key, 80)),
                        is_inert ? "it does not exist here" : "the field is not known");
    }
}

/* Primary agents talk to people and hand out work themselves. */
static bool is_ignored(const struct reader *r)
{
    return r->src->vendor == VENDOR_OPENCODE &&
           (str_is(json_str(json_get(r->root, "mode")), "primary") ||
            json_is_true(json_get(r->root, "disable")));
}

bool agent_parse(struct arena *a, const struct agent_source *src,
                 const struct agent_settings *settings, struct agent_def *ret,
                 struct strs *warnings, bool *ignored, struct error *e)
{
    struct reader r = { a, src, settings, NULL, { 0 }, ret, warnings, e };
    auto_buf text = BUF(JSON_TEXT_MAX);
    auto_json doc = { 0 };

    *ret = (struct agent_def){ .file = src->file };
    *ignored = false;
    if (src->text.n > AGENT_FILE_MAX)
        return error_set(e, ERR_LIMIT, "the file has more than %zu bytes", AGENT_FILE_MAX);
    if (!utf8_valid(src->text))
        return error_set(e, ERR_INVALID, "the file is not UTF-8");
    if (!(src->toml ? toml_json(&r, &text) : markdown_json(&r, &text)) || !buf_ok(&text, e) ||
        !json_parse(&doc, buf_str(&text), e))
        return false;
    r.root = doc.root;
    if (is_ignored(&r)) {
        *ignored = true;
        return error_set(e, ERR_INVALID, "a primary agent, or one that is disabled");
    }
    if (!check_secrets(&r) || !read_identity(&r) || !read_model(&r) || !read_endpoint(&r) ||
        !read_effort(&r) || !read_temperature(&r) || !read_limits(&r) || !read_modes(&r) ||
        !read_skills(&r) || !reader_servers(&r) || !reader_tools(&r))
        return false;
    if (src->vendor == VENDOR_CLAUDE || src->vendor == VENDOR_OURS)
        warn_unknown(&r);
    return true;
}
