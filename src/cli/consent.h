/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Consent to run what a workspace's own manifests name (PL-32): what they would run, and the
 * question. The consent itself is plugins/trust.h.
 */
#ifndef SYM_CLI_CONSENT_H
#define SYM_CLI_CONSENT_H

#include <stdio.h>

#include "plugins/enablement.h"

/* A workspace with those of its manifests, of packages that lie in it, and of its subagents,
 * that would run a program. Memory: the arena's. */
struct consent {
    struct workspace workspace;
    struct config config;
    const struct trust *trust;
    struct plugins plugins;
};

/* False: *e says why the workspace could not be read. */
bool consent_find(struct consent *ret, struct arena *a, const struct dirs *dirs,
                  const char *start_dir, struct error *e);
/* Adds the packages of the resolution that enablement_asks() about; they stay its own. */
void consent_add_packages(struct consent *c, struct arena *a, const struct resolution *res);
/* Adds the subagents of the workspace and of `start_dir` in it that need consent (AG-28). */
void consent_add_agents(struct consent *c, struct arena *a, const char *start_dir);
/* What a person sees of it: its manifest, of a package its directory. */
struct str consent_place(const struct plugin *p);
bool consent_given(const struct consent *c, const struct plugin *p);
size_t consent_missing(const struct consent *c);

/* What the plugin would run, one line each: "server fs: mcp-server-filesystem notes". */
void consent_lines(struct arena *a, const struct plugin *p, struct strs *ret);

/* Gives it for all manifests found, or takes back every consent for this workspace. */
bool consent_set(struct arena *a, const struct dirs *dirs, const struct consent *c,
                 bool trusted, struct error *e);

/* Shows the manifests whose consent is missing (or all), and what they would run: on stderr
 * before a question, on stdout where it is what was asked for. */
void consent_show(FILE *f, struct arena *a, const struct consent *c, bool all);
/* Asks on the terminal; anything but "y" or "yes" is no. */
bool consent_ask(const char *question);

/* For commands that need servers: when consent is missing and a person is at both ends, show,
 * ask and record. Silent otherwise; problem lines tell the rest. */
void consent_offer(struct arena *a, const struct dirs *dirs, const char *start_dir);

#endif
