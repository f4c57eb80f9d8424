/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the import*.c files only. */
#ifndef SYM_SYNC_IMPORT_IMPL_H
#define SYM_SYNC_IMPORT_IMPL_H

#include "base/sha256.h"
#include "sync/import.h"

typedef void (*import_file_fn)(struct import *im, const struct agent *g, const char *path,
                               bool project);

/* Every file of SY-3 once, under both of its names, whether or not it exists. */
void import_each_file(struct import *im, import_file_fn fn);

/* As a name of a server of ours. */
bool import_name_fits(struct str name, struct error *e);

/* The text of one of the two manifests, validated. */
struct plugin *import_parse(struct arena *a, const char *path, bool of_user, struct str text,
                            struct error *e);

/* What a server is, its name left out: equal ones are equal. */
struct str import_identity(struct arena *a, const struct server_def *def);
const struct server_def *import_find_server(const struct plugin *p, struct str name,
                                            size_t *ret_index);

/* With what a new manifest begins. */
const char *import_head(bool of_user);

/* Takes the [[mcp_servers]] of that number out of *now. */
bool import_drop_server(struct buf *now, size_t index, struct error *e);

/* A file as it was before the import. */
enum kept_kind { KEPT_AGENT, KEPT_PLUGIN, KEPT_CONFIG };

struct import_kept {
    enum kept_kind kind;
    const char *path;
    const struct agent *agent; /* whose entries may be in it; NULL: none */
    bool project; /* of the agent's files the project's; of plugins the project's */
    char before[SHA256_HEX_SIZE], after[SHA256_HEX_SIZE]; /* empty: the file is not there */
};

#endif
