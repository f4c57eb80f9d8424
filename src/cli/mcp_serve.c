/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>

#include "cli/command.h"
#include "meta/service.h"

int cmd_mcp_serve(struct arena *a, const struct args *args)
{
    const struct dirs *dirs = cli_dirs(a);
    const char *start_dir = dirs ? cli_start_dir(a, args) : NULL;

    if (!start_dir)
        return EXIT_FAILED;
    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    if (args_value(args, "--update"))
        return cli_usage(args->command,
                         "'--update' is for people: a start makes no connection");
    cli_tell_person(args->command);
    /* -v and -q are about stderr: whoever asks for them looks there. */
    return service_run(dirs, start_dir, cli.verbose || cli.quiet ? NULL : dirs->logs);
}
