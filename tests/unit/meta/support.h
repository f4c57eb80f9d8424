/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Backing servers that are scripts (tests/peers/peer), and a loop and directories for them. */
#ifndef SYM_TEST_META_SUPPORT_H
#define SYM_TEST_META_SUPPORT_H

#include "../check.h"

#include "meta/catalog.h"
#include "meta/inventory.h"

#define LOG_MAX ((size_t)4 << 20)

struct world {
    char dir[PATH_MAX];
    struct arena a;
    struct loop *loop;
    struct dirs dirs;
    struct backend_env env;
    unsigned changes; /* on_change calls */
};

void world_open(struct world *w);
void world_close(struct world *w);

/* Runs the loop until *flag; fails the test after ms * slack. */
void world_until(struct world *w, const bool *flag, int ms);
void world_run(struct world *w, int ms);

/* Writes a file below the world's directory; its path. */
const char *world_write(struct world *w, const char *name, const char *text);

/* A server whose behaviour is the JSON object `script` (see tests/peers/peer.h). It logs its
 * starts. The result may be changed before it is used. */
struct active_server *world_server(struct world *w, const char *name, const char *script);
/* How often a line of this beginning is in the server's log: "start", "term", "eof". */
unsigned world_logged(struct world *w, const char *name, const char *begin);
/* How many messages the server got that hold this text. */
unsigned world_received(struct world *w, const char *name, const char *part);

/* A catalog of these servers, which are sorted; problems as if from the resolution. */
struct catalog *world_catalog(struct world *w, struct active_server *const *servers, size_t n,
                              const struct catalog *before);

/* What a fresh cache of this server would hold, as if it had been listed in an earlier session.
 */
void world_cache(struct world *w, const struct active_server *s, const char *tools);

/* One call or description, as told to its callback. */
struct told {
    struct world *w;
    bool done;
    unsigned times;
    struct buf result; /* JSON text */
    struct str tool;   /* wire name, "" when it did not resolve */
    struct error why;  /* kind ERR_NONE: none */
    uint64_t handle;
};

void call_begin(struct told *t, struct world *w, struct backend *b, const char *key,
                const char *args);
void describe_begin(struct told *t, struct world *w, struct backend *b);
/* To its end. */
void call_tool(struct told *t, struct world *w, struct backend *b, const char *key,
               const char *args);
void describe(struct told *t, struct world *w, struct backend *b);
void told_free(struct told *t);

/* All problem lines of a backend, each with a newline. */
const char *problems_of(struct world *w, const struct backend *b);

/* The test's main: acts as the keeper or the script worker when started as one. */
int support_main(int argc, char **argv, int (*run)(void));

#define TEST_MAIN(tests)                                  \
    static int run_all(void)                              \
    {                                                     \
        return cmocka_run_group_tests(tests, NULL, NULL); \
    }                                                     \
    int main(int argc, char **argv)                       \
    {                                                     \
        return support_main(argc, argv, run_all);         \
    }

#endif
