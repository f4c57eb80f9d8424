/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What several commands say: agents' files (sync/report.h), plugins and their states (PL-38),
 * problem lines. In both forms, for people and as events (CL-2). */
#ifndef SYM_CLI_REPORT_H
#define SYM_CLI_REPORT_H

#include "cli/output.h"
#include "plugins/resolve.h"
#include "sync/report.h"

/* Diffs, what was written and notes on stdout, errors on stderr; with -q only diffs and errors,
 * without -v no lines about unchanged files. */
void sync_report_print(const struct sync_report *r);
void sync_report_events(struct report *to, const struct sync_report *r);

/* All values of an option that names agents. False after a message when one is none. */
struct args;
bool cli_agents(struct arena *a, const struct args *args, const char *option, struct strs *ret);

/* {"type":"plugin","name","registry","state","reason","trusted"[,"manifest","package",
 * "version"]} */
void put_plugin_event(struct report *r, const struct plugin_status *st);
/* "  name  state  reason"; `column`: bytes of names before the state. */
void put_plugin_line(const struct plugin_status *st, size_t column);
size_t plugin_column(const struct resolution *res); /* that lines most of the names up */

/* Each as "problem" event or on stderr. */
void put_problem_events(struct report *r, const struct strs *lines);
void put_problem_lines(const struct strs *lines);

#endif
