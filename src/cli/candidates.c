/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/candidates.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/consent.h"
#include "cli/prompt.h"
#include "plugins/offer.h"
#include "sync/config_file.h"

#define QUESTION_MAX 600 /* bytes */

enum answer { ANSWER_LATER, ANSWER_ENABLE, ANSWER_NEVER };

static const struct plugin *candidate_of(const struct plugin_status *st)
{
    return st->state == PLUGIN_CANDIDATE ? st->plugin : NULL;
}

size_t candidates_count(const struct resolution *res)
{
    size_t n = 0;

    for (size_t i = 0; i < res->plugins.n; i++)
        n += candidate_of(&res->plugins.v[i]) != NULL;
    return n;
}

/* What would be there afterwards, so that the answer is an informed one. */
static void show(struct arena *a, const struct plugin *p)
{
    struct strs lines = { 0 };

    consent_lines(a, p, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        auto_buf clean = BUF(4 * lines.v[i].n + 64);

        /* One line each: a line break in a command must not make up another. */
        utf8_put_clean(&clean, lines.v[i]);
        fprintf(stderr, "  %s\n", buf_z(&clean));
    }
    if (p->skills.n || p->default_skills)
        fputs("  skills that your agents read\n", stderr);
}

static bool ask(struct arena *a, const struct plugin *p, enum answer *ret)
{
    static const char *const texts[] = {
        [ANSWER_LATER] = "ask later", [ANSWER_ENABLE] = "enable it", [ANSWER_NEVER] = "never"
    };
    struct choice choices[ARRAY_LEN(texts)] = { 0 };
    auto_buf question = BUF(QUESTION_MAX);
    struct choosing c = { .v = choices, .n = ARRAY_LEN(choices) };
    struct package_id id = { p->registry, p->package, p->version };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        choices[i].name = texts[i];
    buf_addz(&question, "The package '");
    utf8_put_clean(&question, package_text(a, &id));
    buf_addz(&question, "' brings a plugin. Use it?");
    c.question = buf_z(&question);
    show(a, p);
    *ret = ANSWER_LATER;
    if (prompt_choose(&c) == CHOOSING_ESCAPED)
        return false;
    *ret = (enum answer)c.at;
    return true;
}

bool candidates_ask(struct arena *a, const struct dirs *dirs, const struct resolution *res)
{
    static const enum config_list lists[] = {
        [ANSWER_ENABLE] = CONFIG_AUTO_ENABLE, [ANSWER_NEVER] = CONFIG_DISABLE
    };
    bool recorded = false;

    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin *p = candidate_of(&res->plugins.v[i]);
        struct plugin_ref ref = { 0 };
        enum answer answer;
        struct error e;

        if (!p)
            continue;
        if (!ask(a, p, &answer))
            break;
        if (answer == ANSWER_LATER)
            continue;
        ref.pm = p->registry;
        ref.name = p->package;
        if (!config_add_ref(dirs, lists[answer], &ref, NULL, &e)) {
            cli_fail(EXIT_FAILED, "%s", e.msg);
            break;
        }
        recorded = true;
    }
    return recorded;
}
