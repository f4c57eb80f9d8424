/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/subcommand.h"

/* The column of options: bytes of one, and columns when all are short. */
#define LEFT_MAX 64
#define LEFT_MIN 18

const struct command *cli_find(struct str name)
{
    for (const struct command *c = cli_commands; c->name; c++)
        if (str_is(name, c->name) || (c->alias && str_is(name, c->alias)))
            return c;
    return NULL;
}

static void put_commands(FILE *to, bool for_agents)
{
    for (const struct command *c = cli_commands; c->name; c++)
        if (c->for_agents == for_agents && !c->hidden)
            fprintf(to, "  %-13s %s\n", c->name, c->summary);
}

static void left_of(const struct option *o, char *left, size_t n)
{
    snprintf(left, n, "%s%s%s%s%s", o->letter ? o->letter : "", o->letter ? ", " : "", o->name,
             o->value ? " " : "", o->value ? o->value : "");
}

static int width_of(const struct option *options, int width)
{
    char left[LEFT_MAX];

    for (const struct option *o = options; o && o->name; o++) {
        left_of(o, left, sizeof left);
        if ((int)strlen(left) > width)
            width = (int)strlen(left);
    }
    return width;
}

static void put_options(FILE *to, const struct option *options, int width)
{
    char left[LEFT_MAX];

    for (const struct option *o = options; o && o->name; o++) {
        left_of(o, left, sizeof left);
        fprintf(to, "  %-*s %s\n", width, left, o->summary);
    }
}

void cli_put_overview(FILE *to)
{
    fputs("symposium - one MCP server in front of all your tools\n\n"
          "usage: symposium COMMAND [ARGUMENT...]\n\nFor people:\n",
          to);
    put_commands(to, false);
    fputs("\nFor agents:\n", to);
    put_commands(to, true);
    fputs("\nOptions of every command but the servers, which have their own:\n", to);
    put_options(to, cli_globals, LEFT_MIN);
    fputs("  -V, --version      version of symposium\n"
          "\n'symposium help COMMAND' says more, with an example.\n"
          "Exit status: 0 done, 1 failed, 2 the command line is wrong.\n",
          to);
}

void cli_put_help(FILE *to, const struct command *c)
{
    int width = width_of(c->options, LEFT_MIN);

    fprintf(to, "usage: symposium %s\n\n%c%s.\n", c->usage,
            toupper((unsigned char)c->summary[0]), c->summary + 1);
    if (c->help)
        fprintf(to, "\n%s", c->help);
    fputs("\nOptions:\n", to);
    put_options(to, c->options, width);
    put_options(to, c->server ? cli_server_globals : cli_globals, width);
    fprintf(to, "\nExample:\n%s", c->example);
}

/* ---- for programs ---- */

static void put_options_event(struct jw *w, const struct option *options)
{
    jw_key(w, "options");
    jw_arr(w);
    for (const struct option *o = options; o && o->name; o++) {
        jw_obj(w);
        jw_kstrz(w, "name", o->name);
        jw_kstrz(w, "letter", o->letter);
        jw_kstrz(w, "value", o->value);
        jw_kstrz(w, "summary", o->summary);
        jw_end(w);
    }
    jw_end(w);
}

static int put_report(struct arena *a, const struct args *args, const struct command *only)
{
    struct report r;

    report_begin(&r);
    for (const struct command *c = cli_commands; c->name; c++) {
        struct jw *w;

        if (only ? c != only : c->hidden)
            continue;
        w = report_event(&r, "command");
        jw_kstrz(w, "name", c->name);
        jw_kstrz(w, "summary", c->summary);
        jw_kstrz(w, "usage", c->usage);
        jw_kstrz(w, "audience", c->for_agents ? "agents" : "humans");
        put_options_event(w, c->options);
        jw_end(w);
    }
    if (!only)
        subcommands_put_events(a, args, &r);
    return report_end(&r) ? EXIT_OK : EXIT_FAILED;
}

int cmd_help(struct arena *a, const struct args *args)
{
    const struct command *c = args->nwords ? cli_find(str_of(args->words[0])) : NULL;

    if (args->nwords > 1)
        return cli_usage(args->command, "one command at a time");
    if (args->nwords && !c)
        return cli_fail(EXIT_USAGE, "no command '%s'; 'symposium help' lists them",
                        args->words[0]);
    if (cli.json)
        return put_report(a, args, c);
    if (c) {
        cli_put_help(stdout, c);
        return EXIT_OK;
    }
    cli_put_overview(stdout);
    subcommands_put(a, args, stdout);
    return EXIT_OK;
}
