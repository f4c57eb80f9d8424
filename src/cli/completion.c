/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Completion scripts, made from the command table: they never call back into the program. */
#include <string.h>

#include "cli/command.h"

static void put_options(FILE *to, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++)
        fprintf(to, " %s", o->name);
}

static void put_names(FILE *to)
{
    for (const struct command *c = cli_commands; c->name; c++)
        if (!c->hidden)
            fprintf(to, "%s%s", c == cli_commands ? "" : " ", c->name);
}

/* What completes the value of an option: compgen's flag. NULL: nothing does. */
static const char *value_files(const struct option *o)
{
    return !o->value                   ? NULL
           : !strcmp(o->value, "DIR")  ? "-d"
           : !strcmp(o->value, "PATH") ? "-f"
                                       : NULL;
}

/* ---- bash ---- */

static void put_bash_values(FILE *to, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++)
        if (value_files(o))
            fprintf(to, "    %s) files=%s ;;\n", o->name, value_files(o));
}

/* "$cur" from the file system. */
static void put_bash_files(FILE *to)
{
    fputs("    if [[ $files ]]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen $files -- \"$cur\")\n"
          "        return\n"
          "    fi\n",
          to);
}

static void put_bash_words(FILE *to, const struct command *c)
{
    switch (c->words) {
    case WORD_NONE:
    case WORD_FILE:
    case WORD_DIR:
    case WORD_DIRS:
        break;
    case WORD_SHELL:
        fputs("bash zsh", to);
        break;
    case WORD_ACTION:
        fputs(c->actions, to);
        break;
    case WORD_COMMAND:
        put_names(to);
        break;
    }
}

static const char *bash_files(const struct command *c)
{
    switch (c->words) {
    case WORD_NONE:
    case WORD_COMMAND:
    case WORD_SHELL:
    case WORD_ACTION:
        return "";
    case WORD_FILE:
        return " files=-f";
    case WORD_DIR:
    case WORD_DIRS:
        return " files=-d";
    }
    return "";
}

static void put_bash(FILE *to)
{
    fputs("_symposium() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= i\n"
          "    local options= words= files=\n"
          "    COMPREPLY=()\n"
          "    case $prev in\n",
          to);
    put_bash_values(to, cli_globals);
    for (const struct command *c = cli_commands; c->name; c++)
        put_bash_values(to, c->options);
    fputs("    esac\n", to);
    put_bash_files(to);
    fputs("    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n"
          "        --workspace|--update) ((i++)) ;;\n"
          "        -*) ;;\n"
          "        *) cmd=${COMP_WORDS[i]}; break ;;\n"
          "        esac\n"
          "    done\n"
          "    case $cmd in\n"
          "    '') words=\"",
          to);
    put_names(to);
    fputs("\" options=\"--version", to);
    put_options(to, cli_globals);
    fputs("\" ;;\n", to);
    for (const struct command *c = cli_commands; c->name; c++) {
        fprintf(to, "    %s) words=\"", c->name);
        put_bash_words(to, c);
        fputs("\" options=\"", to);
        put_options(to, c->options);
        put_options(to, c->server ? cli_server_globals : cli_globals);
        fprintf(to, "\"%s ;;\n", bash_files(c));
    }
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then words=$options files=; fi\n",
          to);
    put_bash_files(to);
    fputs("    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "}\n"
          "complete -F _symposium symposium cargo-agents modelcontextprotocol\n",
          to);
}

/* ---- zsh ---- */

/* Text inside single quotes, and inside the brackets of _arguments. */
static void put_zsh_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else if (strchr(":[]\\", *text))
            fprintf(to, "\\%c", *text);
        else
            putc(*text, to);
    }
}

static void put_zsh_options(FILE *to, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++) {
        if (o->object_only)
            continue; /* the global row of the same name completes it */
        fprintf(to, " \\\n            '%s[", o->name);
        put_zsh_text(to, o->summary);
        putc(']', to);
        if (o->value) {
            putc(':', to);
            put_zsh_text(to, o->value);
            fputs(!value_files(o)                 ? ": "
                  : !strcmp(value_files(o), "-d") ? ":_files -/"
                                                  : ":_files",
                  to);
        }
        putc('\'', to);
    }
}

static void put_zsh_words(FILE *to, const struct command *c)
{
    static const char *const actions[] = {
        [WORD_NONE] = "",
        [WORD_FILE] = " \\\n            '*:file:_files'",
        [WORD_COMMAND] = " \\\n            '1:command:_symposium_commands'",
        [WORD_SHELL] = " \\\n            '1:shell:(bash zsh)'",
        [WORD_DIR] = " \\\n            '1:directory:_files -/'",
        [WORD_DIRS] = " \\\n            '*:directory:_files -/'",
        [WORD_ACTION] = " \\\n            '*:path:_files'",
    };

    if (c->actions)
        fprintf(to, " \\\n            '1:action:(%s)'", c->actions);
    fputs(actions[c->words], to);
}

static void put_zsh(FILE *to)
{
    fputs("#compdef symposium cargo-agents modelcontextprotocol\n"
          "_symposium_commands() {\n"
          "    local -a commands=(\n",
          to);
    for (const struct command *c = cli_commands; c->name; c++) {
        if (c->hidden)
            continue;
        fprintf(to, "        '%s:", c->name);
        put_zsh_text(to, c->summary);
        fputs("'\n", to);
    }
    fputs("    )\n"
          "    _describe command commands\n"
          "}\n"
          "_symposium() {\n"
          "    local curcontext=$curcontext state line\n"
          "    _arguments -C",
          to);
    put_zsh_options(to, cli_globals);
    fputs(" \\\n            '--version[version of symposium]'"
          " \\\n            '1:command:_symposium_commands' '*::argument:->rest'\n"
          "    [[ $state == rest ]] || return\n"
          "    case $words[1] in\n",
          to);
    for (const struct command *c = cli_commands; c->name; c++) {
        fprintf(to, "    %s) _arguments", c->name);
        put_zsh_options(to, c->options);
        put_zsh_options(to, c->server ? cli_server_globals : cli_globals);
        put_zsh_words(to, c);
        fputs(" ;;\n", to);
    }
    fputs("    esac\n"
          "}\n"
          "compdef _symposium symposium cargo-agents modelcontextprotocol\n",
          to);
}

bool cli_put_completion(FILE *to, struct str shell)
{
    if (str_is(shell, "bash"))
        put_bash(to);
    else if (str_is(shell, "zsh"))
        put_zsh(to);
    else
        return false;
    return true;
}

int cmd_completion(struct arena *a, const struct args *args)
{
    (void)a;
    if (args->nwords != 1)
        return cli_usage(args->command, "name one shell: bash or zsh");
    if (!cli_put_completion(stdout, str_of(args->words[0])))
        return cli_usage(args->command, "no completion for '%s', only for bash and zsh",
                         args->words[0]);
    return EXIT_OK;
}
