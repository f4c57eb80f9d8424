/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * MCP servers that stand in agents' own files, moved into plugins of ours (docs/spec/plugins.md
 * SY-22), and back.
 *
 *     struct import im = { .a = &arena, .dirs = dirs, .env = &env };
 *     import_scan(&im);                  what there is, and what may move
 *     ... the person agrees; import_decide() for what is asked one by one
 *     import_name(&im);                  names in the plugins
 *     import_begin(&im, &e)              every file concerned is kept aside
 *     import_write(&im, &e)              the plugins
 *     ... each server is started once; import_stay() for one that fails
 *     import_take_out(&im, &report)      entries that moved leave their files
 *     ... sync
 *     import_end(&im, &e)                what the files are now, for undo
 *
 * Killed anywhere, import_undo() brings back what was: it goes by the files kept aside.
 */
#ifndef SYM_SYNC_IMPORT_H
#define SYM_SYNC_IMPORT_H

#include "plugins/config.h"
#include "sync/agent.h"
#include "sync/report.h"

#define IMPORT_PLUGIN      "imported" /* of the user: <config>/plugins/imported */
#define IMPORT_MAX_ENTRIES 1000       /* further ones stay */

enum import_state {
    IMPORT_MOVES,
    IMPORT_ASKS, /* it holds a secret and stands in a project's file: into the user's plugin? */
    IMPORT_STAYS,
};

struct import_entry {
    const struct agent *agent;
    const char *path; /* of its file */
    bool in_project;
    struct str name; /* in the file */
    struct str json; /* as it stands there */
    enum import_state state;
    struct str reason;     /* why it stays or is asked about */
    struct server_def def; /* as a plugin says it; its name is the one there */
    bool secret;           /* a literal one: key, token, password */
    bool to_user;          /* into the user's plugin, else into the project's */
    bool again;            /* the server is there already, through another entry or before */
};

struct import {
    struct arena *a;
    const struct dirs *dirs;
    const struct sync_env *env;
    struct strs taken; /* names of servers of other plugins */
    struct {
        struct import_entry *v;
        size_t n, cap;
    } entries; /* by agent and file, in the order of the files */
    struct strs
        problems; /* files that cannot be read: "<path>: line 3, ...", left as they are */
    /* The rest is import's own. */
    struct strs broken; /* agents with such a file */
    const char *record; /* directory of this import's record */
    struct {
        struct import_kept *v;
        size_t n, cap;
    } kept;
    struct strs new_agents; /* that import itself added to config.toml */
};

/* Reads every file of SY-3. An agent with a file that cannot be read keeps all its entries: our
 * own could not be put there for them. */
void import_scan(struct import *im);

/* The answer for one that asks. */
void import_decide(struct import_entry *k, bool yes);
void import_stay(struct import *im, struct import_entry *k, const char *reason);

/* Equal servers become one, unequal ones of one name get "-2", "-3", ... False: a manifest that
 * would be added to does not parse. */
bool import_name(struct import *im, struct error *e);

/* How many move. */
size_t import_moving(const struct import *im);

/* The manifest that an entry goes to; it need not exist. */
const char *import_manifest(const struct import *im, bool of_user);

/* Also of the files that `sync` may change. */
bool import_begin(struct import *im, struct error *e);

/* Writes what moves and is not there yet, takes back what no longer moves. The user's plugin is
 * 0600 once it holds a secret. */
bool import_write(struct import *im, struct error *e);

/* As written; NULL: *e says why not, ERR_NOT_FOUND when there is no file. */
struct plugin *import_plugin(const struct import *im, bool of_user, struct error *e);

/* One line for each file. An entry that has changed since the scan stays, with a note. */
bool import_take_out(struct import *im, struct sync_report *r);

/* Agents whose entries moved and that are not configured. */
struct strs import_agents(const struct import *im, const struct config *config);

bool import_end(struct import *im, struct error *e);

/*
 * Undoes the last import that was not undone. A file that is as import left it gets its former
 * bytes; in another the entries are put back (servers taken out of a plugin, agents out of
 * config.toml) by span edits, and a note says so. ERR_NOT_FOUND: there is nothing to undo.
 * False also when a file could not be written; the record stays then.
 */
bool import_undo(struct arena *a, const struct dirs *dirs, struct sync_report *r,
                 struct error *e);

#endif
