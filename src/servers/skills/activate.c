/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tool activate_skill (SK-5 to SK-9). */
#include "mcp/content.h"
#include "servers/args.h"
#include "servers/job.h"
#include "servers/skills/impl.h"
#include "servers/skills/manifest.h"
#include "servers/skills/place.h"

static bool is_cancelled(const void *job)
{
    return job_cancelled(job);
}

static void put_structured(struct buf *out, const struct skill *skill, const struct document *d,
                           const struct manifest *m)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstr(&w, "name", d->name);
    jw_kstr(&w, "description", d->description);
    jw_kstrz(&w, "skill_dir", skill->dir);
    jw_kstr(&w, "instructions", d->body);
    jw_key(&w, "resources");
    jw_arr(&w);
    for (size_t i = 0; i < m->n; i++)
        jw_str(&w, m->v[i]);
    jw_end(&w);
    jw_end(&w);
}

static void put_text_block(struct buf *out, struct str text)
{
    struct jw w = jw_to(out);

    mcp_put_text_block(&w, text);
}

static void put_content(struct answer *out, const struct skill *skill)
{
    auto_buf done = BUF(256);

    put_text_block(&out->content, buf_str(&out->structured));
    buf_addc(&out->content, ',');
    buf_addf(&done,
             "Activated %.*s. Instructions and resource paths are available in structured "
             "content.",
             STR_F(skill->name));
    put_text_block(&out->content, buf_str(&done));
}

static void run(struct job *j)
{
    const struct skill *skill = j->ctx;
    auto_place p = { .fd = -1 };
    struct manifest m;
    struct document d;
    struct error e;

    if (!place_open(&p, skill, &e) || !place_document(&p, &j->arena, &d, &e) ||
        !manifest_read(&p, &j->arena, is_cancelled, j, &m, &e)) {
        answer_error(&j->answer, "%s", e.msg);
        return;
    }
    put_structured(&j->answer.structured, skill, &d, &m);
    put_content(&j->answer, skill);
}

void skills_activate(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct arg table[] = { { "name", ARG_STRING, 0, 0 }, { 0 } };
    struct skills *s = ctx;
    const struct skill *skill;
    struct error e;
    struct str name;
    struct job *j;

    if (json_len(args) == 0) {
        tool_fail(r, "missing arguments");
        return;
    }
    if (!args_read(mcp_req_arena(r), args, table, true, &name, &e)) {
        tool_fail(r, "%s", e.msg);
        return;
    }
    skill = skillset_find(&s->catalog, name);
    if (!skill) {
        tool_fail(r, "unknown skill: %.*s", STR_F(str_upto(name, 1000)));
        return;
    }
    j = job_new(s->server, r);
    j->ctx = (void *)skill;
    job_start(j, WORK_LONG, run);
}
