/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The command line as one table; each row is one file of this folder. Help and shell completion
 * are made from the same rows, so that they cannot say anything else than what is parsed.
 *
 * Exit status everywhere: 0 done, 1 failed, 2 the command line is wrong (CL-2). A command that
 * was ended by a signal ends by that signal once its servers are gone.
 */
#ifndef SYM_CLI_COMMAND_H
#define SYM_CLI_COMMAND_H

#include <stdio.h>

#include "base/arena.h"
#include "plugins/dirs.h"
#include "pm/git.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct option {
    const char *name;    /* "--query" */
    const char *letter;  /* "-q", or NULL */
    const char *value;   /* what stands for its value in help; NULL: a flag */
    const char *summary; /* one line */
    /* Takes a value only when that is a JSON object; without one it is the global flag of the
     * same name. For the --json of `call`. */
    bool object_only;
};

/* What completion offers for words that are no options. */
enum word_kind {
    WORD_NONE,
    WORD_FILE,
    WORD_COMMAND,
    WORD_SHELL,
    WORD_DIR,
    WORD_DIRS,
    WORD_ACTION, /* one of command.actions */
};

struct args;

struct command {
    const char *name;
    const char *alias;            /* another name that it answers to, or NULL */
    const char *summary;          /* one line, no capital, no full stop */
    const char *usage;            /* what follows the program's name */
    const char *help;             /* paragraphs, NULL: nothing beyond the summary */
    const char *example;          /* lines */
    const struct option *options; /* its own; ends with NULL name; NULL: none */
    bool for_agents;              /* listed apart in the overview */
    bool hidden;                  /* run by agents' files: in no list (CL-1) */
    bool server;                  /* has the command line of cli/servers.h */
    enum word_kind words;
    const char *actions; /* of WORD_ACTION, separated by blanks */
    int (*run)(struct arena *a, const struct args *args);
};

extern const struct command cli_commands[]; /* ends with NULL name; in the order of `help` */
/* Taken by every command but the servers, before or after its name. */
extern const struct option cli_globals[];
/* What the servers take instead. */
extern const struct option cli_server_globals[];
const struct command *cli_find(struct str name);
void cli_put_overview(FILE *to);
void cli_put_help(FILE *to, const struct command *c);
/* The script that a shell sources. False: no such shell. */
bool cli_put_completion(FILE *to, struct str shell);

/* ---- one command line ---- */

struct given {
    const struct option *option;
    const char *value; /* NULL: a flag */
};

struct args {
    const struct command *command; /* NULL: none was named */
    const char **words;            /* what is no option, in order */
    size_t nwords;
    struct given *given;
    size_t ngiven;
};

/*
 * Sorts a command line: options of the table anywhere, "--name VALUE" or "--name=VALUE", "--"
 * ends them. argv[0] is the program. False: *e says what is wrong with it; ret->command is the
 * command as far as it was found.
 */
bool args_parse(struct args *ret, struct arena *a, int argc, char **argv, struct error *e);

/* The place in argv of the command's name; argc when there is none. */
int args_command_at(int argc, char **argv);

/* The last value given; NULL when absent. `name` is the long name. */
const char *args_value(const struct args *args, const char *name);
/* A flag: an option with value does not count (--json '{..}' is no --json). */
bool args_has(const struct args *args, const char *name);

/* ---- what every command uses ---- */

struct globals {
    bool quiet, verbose, json;
};
extern struct globals cli;

/* One line on stderr, "symposium: ..."; returns status. Unsafe characters are taken out. */
__attribute__((format(printf, 2, 3))) int cli_fail(int status, const char *fmt, ...);
/* The same, then the usage of the command; returns EXIT_USAGE, or of `hook` EXIT_OK. */
__attribute__((format(printf, 2, 3))) int cli_usage(const struct command *c, const char *fmt,
                                                    ...);
/* -q, -v and --json of this command line, from here on. */
void cli_set_globals(const struct args *args);
/* For a server: one line on stderr when stdin is a terminal, where only a person can be. */
void cli_tell_person(const struct command *c);

/* --update, none without it; *ret_given may be NULL. False after a message. */
bool cli_update_level(const struct args *args, enum update_level *ret, bool *ret_given);

/* The directories, or NULL after a message. */
const struct dirs *cli_dirs(struct arena *a);
/* --workspace DIR or the current directory, canonical; NULL after a message. */
const char *cli_start_dir(struct arena *a, const struct args *args);

int cmd_init(struct arena *a, const struct args *args);
int cmd_sync(struct arena *a, const struct args *args);
int cmd_use(struct arena *a, const struct args *args);
int cmd_status(struct arena *a, const struct args *args);
int cmd_search(struct arena *a, const struct args *args);
int cmd_plugin(struct arena *a, const struct args *args);
int cmd_package_info(struct arena *a, const struct args *args);
int cmd_mcp_serve(struct arena *a, const struct args *args);
int cmd_tools(struct arena *a, const struct args *args);
int cmd_call(struct arena *a, const struct args *args);
int cmd_exec(struct arena *a, const struct args *args);
int cmd_trust(struct arena *a, const struct args *args);
int cmd_doctor(struct arena *a, const struct args *args);
int cmd_completion(struct arena *a, const struct args *args);
int cmd_import(struct arena *a, const struct args *args);
int cmd_help(struct arena *a, const struct args *args);
int cmd_hook(struct arena *a, const struct args *args);
int cmd_filesystem(struct arena *a, const struct args *args);
int cmd_fetch(struct arena *a, const struct args *args);
int cmd_memory(struct arena *a, const struct args *args);
int cmd_shell(struct arena *a, const struct args *args);
int cmd_skills(struct arena *a, const struct args *args);
int cmd_agents(struct arena *a, const struct args *args);
int cmd_symm(struct arena *a, const struct args *args);
int cmd_task(struct arena *a, const struct args *args);
int cmd_task_owner(struct arena *a, const struct args *args);

#endif
