/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The everyday servers' own command line (servers.md 1): a subcommand or a selector flag, then
 * what belongs to that server and nothing else. Other programs start servers by it, so it is
 * kept exactly: a wrong choice of a server is exit status 1, a mistake of spelling 2.
 */
#include "cli/servers.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "cli/command.h"
#include "servers/fetch/fetch.h"
#include "servers/fs/fs.h"
#include "servers/memory/memory.h"
#include "servers/shell/shell.h"
#include "servers/skills/skills.h"

#define ALIAS "modelcontextprotocol"

/* A line as far as it was read. */
struct line {
    struct args args; /* command: the server that was selected */
    const char *program;
    bool by_flag;
    bool wrong_choice; /* not exactly one server */
    bool help, version;
};

static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1];
}

static const struct command *find_server(struct str name)
{
    const struct command *c = cli_find(name);

    return c && c->server ? c : NULL;
}

static const struct command *selected_by(struct str option)
{
    return str_starts(option, STR("--")) ? find_server(str_from(option, 2)) : NULL;
}

static const struct option *option_of(const struct command *c, struct str name)
{
    for (const struct option *o = c->options; o && o->name; o++)
        if (str_is(name, o->name))
            return o;
    return NULL;
}

static const struct option *option_of_any(struct str name)
{
    for (const struct command *c = cli_commands; c->name; c++) {
        const struct option *o = c->server ? option_of(c, name) : NULL;

        if (o)
            return o;
    }
    return NULL;
}

/* The name in "--name" or "--name=value"; *value is NULL without one. */
static struct str spell(const char *arg, const char **value)
{
    const char *eq = strchr(arg, '=');

    *value = eq ? eq + 1 : NULL;
    return eq ? (struct str){ arg, (size_t)(eq - arg) } : str_of(arg);
}

/* ---- whose command line is it? ---- */

/* Up to the first word that is no option: a server's name, or one of its options. */
bool cli_is_servers(int argc, char **argv)
{
    if (argc && !strcmp(path_base(argv[0]), ALIAS))
        return true;
    for (int i = 1; i < argc; i++) {
        const char *value;
        struct str name = spell(argv[i], &value);

        if (!is_option(argv[i]))
            return find_server(str_of(argv[i])) != NULL;
        if (selected_by(name) || option_of_any(name))
            return true;
        for (const struct option *o = cli_globals; o->name; o++)
            if (o->value && !value && str_is(name, o->name))
                i++;
    }
    return false;
}

/* ---- reading it ---- */

static bool take_selector(struct line *l, const struct command *c, const char *value,
                          struct error *e)
{
    if (l->args.command) {
        l->wrong_choice = true;
        return true;
    }
    if (value && c->words == WORD_NONE)
        return error_set(e, ERR_INVALID, "'--%s' takes no value", c->name);
    if (value)
        l->args.words[l->args.nwords++] = value;
    l->args.command = c;
    l->by_flag = true;
    return true;
}

static bool take_option(struct line *l, int argc, char **argv, int *at, struct error *e)
{
    const char *value, *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    struct str name = spell(argv[*at], &value);
    const struct command *selected = selected_by(name);
    const struct option *o = option_of_any(name);

    if (selected)
        return take_selector(l, selected, value, e);
    if (str_is(name, "--help") || str_is(name, "-h")) {
        l->help = true;
        return true;
    }
    if (str_is(name, "--version") || str_is(name, "-V")) {
        l->version = true;
        return true;
    }
    if (!o)
        return error_set(e, ERR_INVALID, "no option '%.*s' here", STR_F(name));
    if (!o->value && value)
        return error_set(e, ERR_INVALID, "'%s' takes no value", o->name);
    if (o->value && !value) {
        if (!next || is_option(next))
            return error_set(e, ERR_INVALID, "'%s' needs a value: %s %s", o->name, o->name,
                             o->value);
        value = next;
        (*at)++;
    }
    l->args.given[l->args.ngiven++] = (struct given){ o, value };
    return true;
}

/* The first word is a subcommand, unless a flag selected the server; the others are its
 * directories. */
static bool take_word(struct line *l, const char *word, struct error *e)
{
    const struct command *c = l->args.command;

    if (!c) {
        l->args.command = find_server(str_of(word));
        if (!l->args.command)
            return error_set(e, ERR_INVALID, "no server '%s'", word);
        l->wrong_choice |= l->args.ngiven > 0; /* its options stand behind it (SV-4) */
        return true;
    }
    if (c->words == WORD_NONE && l->by_flag && find_server(str_of(word))) {
        l->wrong_choice = true;
        return true;
    }
    if (c->words == WORD_NONE || (c->words == WORD_DIR && l->args.nwords))
        return error_set(e, ERR_INVALID, "unexpected argument '%s'", word);
    l->args.words[l->args.nwords++] = word;
    return true;
}

static bool read_line(struct line *l, int argc, char **argv, struct error *e)
{
    bool ended = false;

    for (int i = 1; i < argc; i++) {
        if (!ended && !strcmp(argv[i], "--"))
            ended = true;
        else if (!ended && is_option(argv[i])) {
            if (!take_option(l, argc, argv, &i, e))
                return false;
        } else if (!take_word(l, argv[i], e)) {
            return false;
        }
    }
    return true;
}

/* NULL unless it is exactly one server, with nothing that belongs to another (SV-2, SV-3). */
static const struct command *choice(const struct line *l)
{
    const struct command *c = l->wrong_choice ? NULL : l->args.command;

    for (size_t i = 0; c && i < l->args.ngiven; i++)
        if (!option_of(c, str_of(l->args.given[i].option->name)))
            c = NULL;
    return c;
}

/* ---- running it ---- */

/* Both forms of one server, or of all. */
static void put_usage(FILE *to, const char *program, const struct command *only)
{
    const char *lead = "usage:";

    for (const struct command *c = cli_commands; c->name; c++) {
        if (!c->server || (only && c != only))
            continue;
        fprintf(to, "%s %s %s\n", lead, program, c->usage);
        fprintf(to, "   or: %s --%s\n", program, c->usage);
        lead = "   or:";
    }
}

static int help(const struct line *l)
{
    if (l->args.command)
        cli_put_help(stdout, l->args.command);
    else
        put_usage(stdout, l->program, NULL);
    return EXIT_OK;
}

static void set_log_level(void)
{
    const char *name = getenv("SYMPOSIUM_LOG");
    enum log_level level;

    if (!name || !*name)
        return;
    if (log_level_parse(str_of(name), &level))
        log_set_level(level);
    else
        log_warn("SYMPOSIUM_LOG is '%s', but the levels are trace, debug, info, warn, error",
                 name);
}

int cli_servers(struct arena *a, int argc, char **argv)
{
    struct line l = {
        .args = { .words = ARENA_ARRAY(a, const char *, (size_t)argc + 1),
                  .given = ARENA_ARRAY(a, struct given, (size_t)argc + 1) },
        .program = strcmp(path_base(argv[0]), ALIAS) ? "symposium" : ALIAS,
    };
    const struct command *chosen;
    struct error e;

    if (!read_line(&l, argc, argv, &e)) {
        cli_fail(EXIT_USAGE, "%s", e.msg);
        put_usage(stderr, l.program, l.args.command);
        return EXIT_USAGE;
    }
    if (l.version) {
        puts("symposium " SYM_VERSION);
        return EXIT_OK;
    }
    if (l.help)
        return help(&l);
    chosen = choice(&l);
    if (!chosen) {
        /* The sentence last: who shows the end of stderr only, shows it. */
        put_usage(stderr, l.program, NULL);
        return cli_fail(EXIT_FAILED,
                        "exactly one server must be selected, and server-specific options "
                        "must belong to the selected server.");
    }
    set_log_level();
    cli_tell_person(chosen);
    return chosen->run(a, &l.args);
}

/* ---- what belongs to each ---- */

int cmd_filesystem(struct arena *a, const struct args *args)
{
    const struct fs_opts o = { .dirs = args->words,
                               .ndirs = args->nwords,
                               .allow_root = args_has(args, "--allow-root") };

    (void)a;
    return fs_run(&o);
}

int cmd_fetch(struct arena *a, const struct args *args)
{
    const char **hosts = ARENA_ARRAY(a, const char *, args->ngiven);
    struct fetch_opts o = {
        .user_agent = args_value(args, "--user-agent"),
        .proxy_url = args_value(args, "--proxy-url"),
        .allow_private_network = args_has(args, "--allow-private-network"),
        .allow_hosts = hosts,
    };

    for (size_t i = 0; i < args->ngiven; i++) {
        const struct given *g = &args->given[i];

        if (!strcmp(g->option->name, "--allow-host"))
            hosts[o.nallow_hosts++] = g->value;
        else if (!strcmp(g->option->name, "--ignore-robots-txt"))
            o.ignore_robots = true; /* of the two, the last one counts (FE-9) */
        else if (!strcmp(g->option->name, "--respect-robots-txt"))
            o.ignore_robots = false;
    }
    return fetch_run(&o);
}

int cmd_memory(struct arena *a, const struct args *args)
{
    const struct memory_opts o = { .file = args_value(args, "--memory-file") };

    (void)a;
    return memory_run(&o);
}

int cmd_shell(struct arena *a, const struct args *args)
{
    const struct shell_opts o = {
        .dirs = args->words,
        .ndirs = args->nwords,
        .allow_root = args_has(args, "--allow-root"),
        .sandbox = args_has(args, "--sandbox"),
    };

    (void)a;
    return shell_run(&o);
}

int cmd_skills(struct arena *a, const struct args *args)
{
    const struct skills_opts o = {
        .workspace = args->nwords ? path_expand_home(a, args->words[0]) : ".",
        .user = args_has(args, "--user"),
    };

    return skills_run(&o);
}
