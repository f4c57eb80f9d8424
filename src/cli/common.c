/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdarg.h>

#include "base/log.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"

#define MESSAGE_MAX 8192 /* bytes of one message */

struct globals cli;

/* Line breaks stay: a server's message may have several lines. */
__attribute__((format(printf, 1, 0))) static void complain(const char *fmt, va_list ap)
{
    char text[MESSAGE_MAX];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    struct str all = { text, n < 0                     ? 0
                             : (size_t)n < sizeof text ? (size_t)n
                                                       : sizeof text - 1 };

    fprintf(stderr, "%ssymposium:%s ", out_paint(stderr, PAINT_RED),
            out_paint(stderr, PAINT_OFF));
    out_put_text(stderr, utf8_cut(all, all.n));
}

int cli_fail(int status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(fmt, ap);
    va_end(ap);
    return status;
}

int cli_usage(const struct command *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(fmt, ap);
    va_end(ap);
    fprintf(stderr, "usage: symposium %s\n", c->usage);
    /* Agents take a hook's status 2 for a denial. */
    return c->run == cmd_hook ? EXIT_OK : EXIT_USAGE;
}

void cli_set_globals(const struct args *args)
{
    cli.quiet = args_has(args, "--quiet");
    cli.verbose = args_has(args, "--verbose");
    cli.json = args_has(args, "--json");
    log_set_level(cli.verbose ? LOG_DEBUG : cli.quiet ? LOG_ERROR : LOG_WARN);
}

bool cli_update_level(const struct args *args, enum update_level *ret, bool *ret_given)
{
    const char *given = args_value(args, "--update");

    *ret = UPDATE_NONE;
    if (ret_given)
        *ret_given = given != NULL;
    if (!given || update_level_parse(str_of(given), ret))
        return true;
    cli_fail(EXIT_USAGE, "'--update' is none, check or fetch, not '%s'", given);
    return false;
}

void cli_tell_person(const struct command *c)
{
    if (out_is_terminal(stdin) && !cli.quiet)
        fprintf(stderr,
                "This is for agents: it speaks MCP on stdin and stdout, and ends with Ctrl-D. "
                "'symposium help %s' shows the entry.\n",
                c->name);
}

const struct dirs *cli_dirs(struct arena *a)
{
    struct dirs *d = ARENA_NEW(a, struct dirs);
    struct error e;

    if (dirs_find(d, a, &e))
        return d;
    cli_fail(EXIT_FAILED, "%s", e.msg);
    return NULL;
}

const char *cli_start_dir(struct arena *a, const struct args *args)
{
    const char *given = args_value(args, "--workspace"), *dir;
    struct error e;

    dir = path_real(a, given ? path_expand_home(a, given) : ".", &e);
    if (!dir)
        cli_fail(EXIT_FAILED, "%s%s", given ? "" : "the current directory: ", e.msg);
    return dir;
}
