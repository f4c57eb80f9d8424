/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The tools of one backing server, parsed once from the raw objects the server sent (or the
 * cache kept). Raw JSON is preserved verbatim; the fields here are views into it. Immutable
 * after loading; the whole set is replaced when the list changes.
 */
#ifndef SYM_META_TOOLSET_H
#define SYM_META_TOOLSET_H

#include "base/sha256.h"
#include "text/json.h"

struct tool {
    struct str name;        /* wire name */
    struct str description; /* as sent: sanitise before showing (MS-65) */
    yyjson_val *raw;
    yyjson_val *input;          /* inputSchema or NULL */
    yyjson_val *output;         /* outputSchema, unwrapped (MS-48), or NULL */
    bool unwrap;                /* structuredContent {"result": x} stands for x (MS-48) */
    bool read_only;             /* readOnlyHint true and destructiveHint not true (MS-62) */
    bool needs_task;            /* execution.taskSupport "required": cannot be called by us */
    bool changed;               /* its hash differs from when it was last seen (MS-74) */
    char hash[SHA256_HEX_SIZE]; /* see tool_hash(); empty until asked for */
};

struct toolset {
    struct json doc;
    struct tool
        *v; /* server's order; a repeated wire name is kept once, the first wins (MS-25) */
    size_t n;
    size_t bad; /* entries dropped: no object, or no name string */
};

/* `tools` is a JSON array of tool objects. */
bool toolset_load(struct toolset *ret, struct str tools, struct error *e);
/* The same from an array within a parsed document, which is taken. `hashes` (may be NULL):
 * object of hashes known by name, of which those that are there are not computed. */
void toolset_take(struct toolset *ret, struct json *doc, yyjson_val *tools, yyjson_val *hashes);
void toolset_free(struct toolset *t);

/* Hex of the hash over name, description, inputSchema and outputSchema in canonical JSON.
 * Computed at the first need: most of a large list's cost is there. */
const char *tool_hash(struct tool *t);

/* The structuredContent of a call's result, and what it wraps where the schema says so (MS-48).
 * NULL when there is none, and for a result that is an error. */
yyjson_val *tool_structured(const struct tool *t, yyjson_val *call_result);

/* Marks in `now` each tool that `before` also has with another hash; returns how many. */
size_t toolset_mark_changes(struct toolset *now, const struct toolset *before);

/* Which tools of a server may be seen at all (MS-21): listing, search and calling use the same
 * filter. */
struct tool_filter {
    bool has_enabled;
    const struct str *enabled;
    size_t nenabled;
    const struct str *disabled;
    size_t ndisabled;
    bool read_only; /* [mcp] read-only: annotated tools alone, and none that changed (MS-62) */
};
bool tool_visible(const struct tool *t, const struct tool_filter *f);

#endif
