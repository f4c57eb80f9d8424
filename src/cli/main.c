/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/servers.h"
#include "cli/subcommand.h"
#include "lockdown/keeper.h"
#include "loop/spawn.h"
#include "sandbox/host.h"

/* In place of a command, also behind options. */
static bool asks_version(char **argv)
{
    while (*argv && *++argv && **argv == '-')
        if (!strcmp(*argv, "--version") || !strcmp(*argv, "-V"))
            return true;
    return false;
}

static int put_version(void)
{
    puts("symposium " SYM_VERSION);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    auto_arena a = ARENA;
    struct args args;
    struct error e;
    bool help;
    int at;

    if (cli_is_servers(argc, argv))
        return cli_servers(&a, argc, argv);
    if (asks_version(argv))
        return put_version();
    at = args_command_at(argc, argv);
    if (at < argc && !cli_find(str_of(argv[at])))
        return subcommand_run(&a, argv, at);
    if (!args_parse(&args, &a, argc, argv, &e))
        return args.command ? cli_usage(args.command, "%s", e.msg)
                            : cli_fail(EXIT_USAGE, "%s", e.msg);
    cli_set_globals(&args);
    help = args_has(&args, "--help");
    if (!args.command) {
        cli_put_overview(help ? stdout : stderr);
        if (help)
            subcommands_put(&a, &args, stdout);
        return help ? EXIT_OK : EXIT_USAGE;
    }
    if (help) {
        cli_put_help(stdout, args.command);
        return EXIT_OK;
    }
    return args.command->run(&a, &args);
}

/* `symm-mcp ...` is `symposium symm ...` (CL-3). */
static int run_as(int argc, char **argv)
{
    auto_arena a = ARENA;
    char **all;

    if (!argc || strcmp(path_base(argv[0]), "symm-mcp") != 0)
        return run(argc, argv);
    if (asks_version(argv))
        return put_version();
    all = ARENA_ARRAY(&a, char *, (size_t)argc + 2);
    all[0] = argv[0];
    all[1] = arena_z(&a, STR("symm"));
    memcpy(all + 2, argv + 1, (size_t)(argc - 1) * sizeof *all);
    return run(argc + 1, all);
}

/* The reader of a pipe went away: it wants no more, and needs no message. */
static bool nobody_reads(void)
{
    struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* What did not reach stdout must not look like success. */
static int flush(int status)
{
    bool lost = ferror(stdout) != 0;

    if (!fflush(stdout) && !lost)
        return status;
    if (!nobody_reads())
        cli_fail(EXIT_FAILED, "cannot write to stdout%s%s", lost ? "" : ": ",
                 lost ? "" : strerror(errno));
    return status ? status : EXIT_FAILED;
}

/* The number of a closed standard stream would go to the next file that is opened. Held the
 * wrong way round, it still fails whoever uses it. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
    /* The two that start often and hold nothing: before anything else is set up. */
    if (argc > 1 && !strcmp(argv[1], "worker"))
        return worker_main(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "keeper"))
        return keeper_main(argc - 1, argv + 1);
    hold_standard_streams();
    mem_give_back_large();
    self_exe_fd();
    /* cargo runs `cargo agents ...` as `cargo-agents agents ...` (CL-3). */
    if (argc > 1 && !strcmp(path_base(argv[0]), "cargo-agents") && !strcmp(argv[1], "agents")) {
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    return flush(run_as(argc, argv));
}
