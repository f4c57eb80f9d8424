/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/command.h"
#include "cli/consent.h"
#include "cli/output.h"

static void put_manifest(struct arena *a, struct report *r, const struct plugin *p,
                         bool trusted)
{
    struct jw *w = report_event(r, "manifest");
    struct strs lines = { 0 };

    consent_lines(a, p, &lines);
    jw_kstr(w, "path", p->manifest_path);
    jw_kstr(w, "sha256", p->manifest_sha256);
    jw_kbool(w, "trusted", trusted);
    jw_key(w, "runs");
    jw_arr(w);
    for (size_t i = 0; i < lines.n; i++)
        jw_str(w, lines.v[i]);
    jw_end(w);
    jw_end(w);
}

static int report(struct arena *a, const struct consent *c, bool trusted)
{
    struct report r;

    report_begin(&r);
    for (size_t i = 0; i < c->plugins.n; i++)
        put_manifest(a, &r, c->plugins.v[i], trusted || c->config.trust_workspace_always);
    return report_end(&r) ? EXIT_OK : EXIT_FAILED;
}

static void say(const char *what, const struct consent *c)
{
    if (!cli.quiet && !cli.json)
        printf("%s %.*s\n", what, STR_F(c->workspace.root));
}

static int set(struct arena *a, const struct dirs *dirs, const struct consent *c, bool trusted)
{
    struct error e;

    if (!consent_set(a, dirs, c, trusted, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    say(trusted ? "Trusted:" : "No longer trusted:", c);
    return cli.json ? report(a, c, trusted) : EXIT_OK;
}

/* The question, where it can be asked; a program is told instead what it would be about. */
static bool agreed(struct arena *a, const struct args *args, const struct consent *c,
                   int *status)
{
    bool yes = args_has(args, "--yes");

    *status = EXIT_FAILED;
    if (!cli.quiet && !cli.json)
        consent_show(a, c, true);
    if (yes)
        return true;
    if (cli.json) {
        report(a, c, false);
        return false;
    }
    if (!out_is_terminal(stdin)) {
        cli_fail(EXIT_FAILED, "nobody can be asked here; 'symposium trust --yes' agrees to it");
        return false;
    }
    if (consent_ask("Trust it?"))
        return true;
    say("Not trusted:", c);
    return false;
}

int cmd_trust(struct arena *a, const struct args *args)
{
    const struct dirs *dirs = cli_dirs(a);
    const char *start_dir = dirs ? cli_start_dir(a, args) : NULL;
    struct consent c;
    struct error e;
    int status;

    if (args->nwords)
        return cli_usage(args->command,
                         "unexpected argument '%s'; --workspace names a directory",
                         args->words[0]);
    if (!start_dir)
        return EXIT_FAILED;
    if (!consent_find(&c, a, dirs, start_dir, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    if (args_has(args, "--remove"))
        return set(a, dirs, &c, false);
    if (!c.plugins.n) {
        say("No manifest of this workspace runs a program:", &c);
        return cli.json ? report(a, &c, false) : EXIT_OK;
    }
    if (!consent_missing(&c)) {
        say(c.config.trust_workspace_always ? "Trusted by [plugins] trust-workspace:"
                                            : "Already trusted:",
            &c);
        return cli.json ? report(a, &c, true) : EXIT_OK;
    }
    return agreed(a, args, &c, &status) ? set(a, dirs, &c, true) : status;
}
