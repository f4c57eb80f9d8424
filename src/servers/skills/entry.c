/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <unistd.h>

#include "base/mem.h"
#include "servers/skills/impl.h"
#include "servers/skills/manifest.h"
#include "servers/skills/place.h"
#include "text/yaml_json.h"

/* Name and description are strings whatever they look like; all else is typed as YAML types it.
 */
static void put_front(struct jw *w, const struct yaml *front)
{
    jw_obj(w);
    for (const struct yaml *v = front->first; v; v = v->next) {
        jw_key_s(w, v->key);
        if (str_is(v->key, "name") || str_is(v->key, "description"))
            jw_str(w, yaml_str(v));
        else
            yaml_put_json(w, v);
    }
    jw_end(w);
}

struct listing {
    const struct place *place;
    const struct task *task;
    struct arena *a;
    size_t bytes; /* of the files so far */
};

static bool put_file(struct jw *w, struct listing *l, struct str rel, struct error *e)
{
    char hex[SHA256_HEX_SIZE];
    auto_buf text = BUF(2 * SKILL_URI_MAX);
    struct stat st;
    auto_close int fd = place_file(l->place, l->a, rel, &st, e);

    if (fd < 0)
        return false;
    if ((size_t)st.st_size > ENTRY_MAX_BYTES - l->bytes)
        return error_set(e, ERR_LIMIT, "more than %zu bytes", ENTRY_MAX_BYTES);
    if (task_cancelled(l->task) || !digests_get(l->task->skills->digests, fd, &st, hex, e))
        return false;
    l->bytes += (size_t)st.st_size;
    jw_obj(w);
    skill_uri_put(&text, l->place->skill->name, rel);
    jw_kstr(w, "uri", buf_str(&text));
    buf_clear(&text);
    buf_addf(&text, "sha256:%s", hex);
    jw_kstr(w, "digest", buf_str(&text));
    jw_kint(w, "size", st.st_size);
    jw_end(w);
    return true;
}

/* SKILL.md first. False: not all of them can be told. */
static bool put_files(struct buf *out, const struct place *p, const struct task *t,
                      struct arena *a)
{
    struct listing l = { .place = p, .task = t, .a = a };
    struct jw w = jw_to(out);
    struct manifest m;
    struct error e;

    if (!manifest_read(p, a, task_cancelled, t, &m, &e) || m.n + 1 > ENTRY_MAX_FILES)
        return false;
    jw_arr(&w);
    if (!put_file(&w, &l, STR(SKILL_FILE), &e))
        return false;
    for (size_t i = 0; i < m.n; i++)
        if (!put_file(&w, &l, m.v[i], &e))
            return false;
    jw_end(&w);
    return !out->over;
}

bool entry_put(struct buf *out, const struct skill *skill, const struct task *t, size_t room,
               struct error *e)
{
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    auto_buf uri = BUF(2 * SKILL_URI_MAX), files = BUF(room);
    struct document d;
    struct jw w = jw_to(out);

    if (!place_open(&p, skill, e) || !place_document(&p, &a, &d, e))
        return false;
    skill_uri_put(&uri, skill->name, STR(SKILL_FILE));
    jw_obj(&w);
    jw_kstr(&w, "uri", buf_str(&uri));
    jw_key(&w, "frontmatter");
    put_front(&w, d.front);
    jw_key(&w, "resources");
    if (put_files(&files, &p, t, &a))
        jw_raw(&w, buf_str(&files));
    else
        jw_strz(&w, "dynamic");
    jw_end(&w);
    return buf_ok(out, e);
}
