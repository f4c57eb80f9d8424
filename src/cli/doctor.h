/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by doctor*.c: what is said, in both forms. */
#ifndef SYM_CLI_DOCTOR_H
#define SYM_CLI_DOCTOR_H

#include "cli/output.h"
#include "mcp/client.h"
#include "meta/catalog.h"
#include "meta/toolset.h"

/* One line of a section, or one event {"type","name","state","detail"[,"tools","ms"]
 * [,"revision"][,"addresses","dns_ms","connect_ms","tls_ms"]}. */
struct row {
    const char *type; /* "workspace", "config", "package-manager", "plugin", ... */
    struct str name;
    const char *state; /* "ok", "failed", "off", or a plugin's state */
    struct str detail;
    bool listed; /* a server that answered: the two below count */
    size_t tools;
    int64_t ms;
    const char *revision;          /* NULL: nothing was agreed on */
    const struct mcp_route *route; /* of a server with a URL; NULL: none */
};

struct findings {
    struct arena *a;
    struct report report; /* --json */
    const char *section;  /* whose heading stands already */
    struct strs problems; /* need doing */
    struct strs advice;   /* parallel to problems; may be empty */
    struct strs notes;
};

void findings_row(struct findings *f, const struct row *row);
/* `what` to do about it; NULL: looked up by what the text says. Said once, however often found.
 */
void findings_problem(struct findings *f, struct str text, const char *what);
void findings_note(struct findings *f, struct str text);
/* Notes, problems with advice, and the count. Returns the exit status. */
int findings_end(struct findings *f);

/* What to do about a problem line; "" when the line says it itself. */
const char *advice_for(struct str problem);

/* What was found without starting anything: versions to plugins, and their problems. */
void doctor_inventory(struct findings *f, const struct catalog *c, const struct dirs *dirs);
void doctor_layers(struct findings *f);

/* Notes on what is written down and has no effect here: names, package managers, directories.
 */
void doctor_idle(struct findings *f, const struct resolution *res);
/* A row for each server of an active plugin whose own conditions keep it out. */
void doctor_gated_servers(struct findings *f, const struct resolution *res);
/* Notes on enabled-tools and disabled-tools that the server, which listed `tools`, does not
 * have. */
void doctor_filters(struct findings *f, const struct active_server *s,
                    const struct toolset *tools);

#endif
