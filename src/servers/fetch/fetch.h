/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The fetch server (servers.md 5): a tool that downloads a URL for an agent, and obeys
 * robots.txt, and a prompt that does so for a person, and does not. Every address is checked
 * before it is connected to (FE-15). libcurl is opened by the first call.
 */
#ifndef SYM_SERVERS_FETCH_FETCH_H
#define SYM_SERVERS_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>

struct fetch_opts {
    bool ignore_robots;
    const char *user_agent; /* NULL: our own two (FE-12) */
    const char *proxy_url;  /* NULL: none */
    bool allow_private_network;
    const char *const *allow_hosts; /* HOST or HOST:PORT */
    size_t nallow_hosts;
};

/* Serves on stdin and stdout; the exit status. An option that cannot be used: a line on stderr
 * and 1. */
int fetch_run(const struct fetch_opts *o);

#endif
