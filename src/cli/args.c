/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"

/* A word of the command line that may be an option: "--name", "--name=value", "-n". */
struct spelling {
    struct str name;
    const char *value; /* behind "="; NULL: none */
};

static struct spelling spell(const char *arg)
{
    const char *eq = strchr(arg, '=');

    if (!strncmp(arg, "--", 2) && eq)
        return (struct spelling){ { arg, (size_t)(eq - arg) }, eq + 1 };
    return (struct spelling){ str_of(arg), NULL };
}

static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1];
}

static const struct option *find_in(const struct option *options, struct str name)
{
    for (const struct option *o = options; o && o->name; o++)
        if (str_is(name, o->name) || (o->letter && str_is(name, o->letter)))
            return o;
    return NULL;
}

static bool is_object(const char *value)
{
    return value && str_starts(str_trim(str_of(value)), STR("{"));
}

/* The option meant by a spelling; `next` is the argument behind it. The command's own row wins,
 * unless it wants an object and there is none. */
static const struct option *find_option(const struct command *c, const struct spelling *s,
                                        const char *next)
{
    const struct option *own = c ? find_in(c->options, s->name) : NULL;

    if (own && (!own->object_only || s->value || is_object(next)))
        return own;
    return find_in(cli_globals, s->name);
}

/* Takes argv[*at], and the value behind it. */
static bool take_option(struct args *ret, int argc, char **argv, int *at, struct error *e)
{
    struct spelling s = spell(argv[*at]);
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    const struct option *o = find_option(ret->command, &s, next);

    if (!o)
        return error_set(e, ERR_INVALID, "no option '%.*s' here", STR_F(s.name));
    if (!o->value && s.value)
        return error_set(e, ERR_INVALID, "'%s' takes no value", o->name);
    if (o->value && !s.value) {
        if (!next)
            return error_set(e, ERR_INVALID, "'%s' needs a value: %s %s", o->name, o->name,
                             o->value);
        s.value = next;
        (*at)++;
    }
    if (o->object_only && !is_object(s.value))
        return error_set(e, ERR_INVALID, "'%s=' must be a JSON object", o->name);
    ret->given[ret->ngiven++] = (struct given){ o, s.value };
    return true;
}

/* The place of the command's name: the first word that is no global option and no value of one.
 */
int args_command_at(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct spelling s = spell(argv[i]);
        const struct option *o = find_in(cli_globals, s.name);

        if (!is_option(argv[i]))
            return i;
        if (o && o->value && !s.value)
            i++;
    }
    return argc;
}

bool args_parse(struct args *ret, struct arena *a, int argc, char **argv, struct error *e)
{
    int name_at = args_command_at(argc, argv);
    bool ended = false;

    *ret = (struct args){ .words = ARENA_ARRAY(a, const char *, (size_t)argc + 1),
                          .given = ARENA_ARRAY(a, struct given, (size_t)argc + 1) };
    if (name_at < argc) {
        ret->command = cli_find(str_of(argv[name_at]));
        if (!ret->command)
            return error_set(e, ERR_INVALID, "no command '%s'; 'symposium help' lists them",
                             argv[name_at]);
    }
    for (int i = 1; i < argc; i++) {
        if (i == name_at)
            continue;
        if (!ended && !strcmp(argv[i], "--"))
            ended = true;
        else if (ended || !is_option(argv[i]))
            ret->words[ret->nwords++] = argv[i];
        else if (!take_option(ret, argc, argv, &i, e))
            return false;
    }
    return true;
}

const char *args_value(const struct args *args, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < args->ngiven; i++)
        if (args->given[i].value && !strcmp(args->given[i].option->name, name))
            value = args->given[i].value;
    return value;
}

bool args_has(const struct args *args, const char *name)
{
    for (size_t i = 0; i < args->ngiven; i++)
        if (!args->given[i].value && !strcmp(args->given[i].option->name, name))
            return true;
    return false;
}
