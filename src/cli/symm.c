/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/symm/symm.h"

#include "base/log.h"
#include "base/path.h"
#include "cli/command.h"

int cmd_symm(struct arena *a, const struct args *args)
{
    struct config *config = ARENA_NEW(a, struct config);
    struct symm_opts o = { .config = config };

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    if (args_value(args, "--update"))
        return cli_usage(args->command, "'--update' means nothing here");
    o.dirs = cli_dirs(a);
    o.cwd = o.dirs ? cli_start_dir(a, args) : NULL;
    if (!o.cwd)
        return EXIT_FAILED;
    o.self = path_real(a, "/proc/self/exe", NULL);
    config_load(config, o.dirs, a);
    for (size_t i = 0; i < config->warnings.n; i++)
        log_warn("%.*s", STR_F(config->warnings.v[i]));
    cli_tell_person(args->command);
    return symm_run(&o);
}
