/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/skills.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "servers/skills/impl.h"

#define INSTRUCTIONS                                                                        \
    "Skills are instructions for particular kinds of work. When a task matches the "        \
    "description of a skill, activate it with activate_skill before you begin: the "        \
    "result holds its instructions and the paths of its supporting files. Those files are " \
    "not loaded by themselves; read the ones that the instructions ask for."

#define DESCRIPTION                                                                         \
    "Activate a skill: returns its instructions, its directory and the paths of the files " \
    "that come with it. Nothing is executed and no supporting file is loaded."

#define OUTPUT_SCHEMA                                                                      \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"description\":" \
    "{\"type\":\"string\"},\"skill_dir\":{\"type\":\"string\"},\"instructions\":"          \
    "{\"type\":\"string\"},\"resources\":{\"type\":\"array\",\"items\":{\"type\":"         \
    "\"string\"}}},\"required\":[\"name\",\"description\",\"skill_dir\",\"instructions\"," \
    "\"resources\"]}"

/* Names and descriptions twice, each byte escaped, and what stands around them. */
#define TOOL_TEXT_MAX (2 * SKILLSET_MAX_TEXT + ((size_t)64 << 10))

static void put_description(struct buf *out, const struct skillset *c)
{
    buf_addz(out, DESCRIPTION "\n\nAvailable skills:\n");
    for (size_t i = 0; i < c->n; i++) {
        buf_addf(out, "%s- %.*s: ", i ? "\n" : "", STR_F(c->v[i].name));
        utf8_put_clean(out, c->v[i].description);
    }
}

static void put_input_schema(struct buf *out, const struct skillset *c)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstrz(&w, "type", "object");
    jw_key(&w, "properties");
    jw_obj(&w);
    jw_key(&w, "name");
    jw_obj(&w);
    jw_kstrz(&w, "type", "string");
    jw_key(&w, "enum");
    jw_arr(&w);
    for (size_t i = 0; i < c->n; i++)
        jw_str(&w, c->v[i].name);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    jw_key(&w, "required");
    jw_arr(&w);
    jw_strz(&w, "name");
    jw_end(&w);
    jw_kbool(&w, "additionalProperties", false);
    jw_end(&w);
}

static void on_start(void *ctx, struct server *server)
{
    struct skills *s = ctx;

    s->server = server;
}

static void warn(const char *line)
{
    log_warn("%s", line);
}

/* A home that is no absolute path is none. */
static const char *user_home(bool wanted)
{
    const char *home = wanted ? getenv("HOME") : NULL;

    if (home && path_is_abs(home))
        return home;
    if (wanted)
        log_warn("HOME is no absolute path: the user's skills are left out");
    return NULL;
}

/* Everything of the definition but the skills themselves. */
static struct server_spec definition(const struct tool *tool, size_t ntools)
{
    static const struct mcp_extension extension = { SKILLS_EXTENSION,
                                                    "{\"directoryRead\":true}" };
    static const struct mcp_method_def methods[] = {
        { "skills/list", skills_list },
        { "skills/get", skills_get },
        { "resources/directory/read", skills_directory_read },
    };

    return (struct server_spec){
        .mcp = {
            .name = "mcp-skills",
            .title = "Skills",
            .instructions = INSTRUCTIONS,
            .resources_modern_only = true,
            .resources_list = skills_resources_list,
            .resources_read = skills_resources_read,
            .extensions = &extension,
            .nextensions = 1,
            .methods = methods,
            .nmethods = ARRAY_LEN(methods),
        },
        .tools = tool,
        .ntools = ntools,
        .split_advice = "read the skill's files from its directory.",
        .start = on_start,
    };
}

int skills_run(const struct skills_opts *o)
{
    struct skills s = { .digests = digests_new() };
    auto_buf description = BUF(TOOL_TEXT_MAX), input = BUF(TOOL_TEXT_MAX);
    struct server_spec def;
    struct tool tool;
    struct error e;
    int status;

    if (!skillset_load(&s.catalog, o->workspace, user_home(o->user), warn, &e)) {
        fprintf(stderr, "Error: %s\n", e.msg);
        digests_free(s.digests);
        return 1;
    }
    put_description(&description, &s.catalog);
    put_input_schema(&input, &s.catalog);
    tool = (struct tool){
        .name = "activate_skill",
        .title = "Activate Skill",
        .description = buf_z(&description),
        .input = buf_z(&input),
        .output = OUTPUT_SCHEMA,
        .read_only = HINT_TRUE,
        .destructive = HINT_FALSE,
        .idempotent = HINT_TRUE,
        .open_world = HINT_FALSE,
        .call = skills_activate,
    };
    def = definition(&tool, s.catalog.n ? 1 : 0);
    status = server_run(&def, &s);
    skillset_free(&s.catalog);
    digests_free(s.digests);
    return status;
}
