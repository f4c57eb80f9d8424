/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The memory server (servers.md 6): a knowledge graph in one JSONL file that other programs may
 * read and write too. Nothing is touched before the first request.
 */
#ifndef SYM_SERVERS_MEMORY_MEMORY_H
#define SYM_SERVERS_MEMORY_MEMORY_H

struct memory_opts {
    const char *file; /* NULL or empty: $MEMORY_FILE_PATH, else memory.jsonl (ME-1) */
};

/* Serves on stdin and stdout; the exit status. */
int memory_run(const struct memory_opts *o);

#endif
