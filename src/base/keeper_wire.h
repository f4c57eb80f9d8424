/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a keeper process (lockdown/keeper) and its owner (loop/child) say to each other over the
 * control socket, WK-8. Both ends are this very executable image, so there is no version. One
 * message is one datagram of a SOCK_SEQPACKET pair; the end of the socket, however it comes,
 * makes the keeper kill its whole tree and exit.
 */
#ifndef SYM_BASE_KEEPER_WIRE_H
#define SYM_BASE_KEEPER_WIRE_H

#include <stdint.h>

/* At start the keeper's 0, 1 and 2 are the program's own; this is the control socket. */
#define KEEPER_CONTROL_FD 3

/*
 * The keeper's command line: "keeper [option...] -- program argument...".
 *
 * "--command": the program is a command that ends by itself (servers.md SH-6, SH-7), not a
 * server. It leads its own session, and once it has exited its group stays identified (it is
 * not reaped) until KEEPER_LEAVE, KEEPER_TERM or KEEPER_KILL.
 *
 * "--as NAME": what the program gets as its argv[0]; else its path.
 *
 * "--sandbox": the program enters the Landlock ruleset of KEEPER_RULESET_FD and the filter of
 * seccomp_lock_command() before it is executed.
 *
 * "--offline": the keeper, and so its tree, goes into a network namespace without anything in
 * it, where the host allows that (lockdown/offline.h).
 */
#define KEEPER_OPT_COMMAND "--command"
#define KEEPER_OPT_AS      "--as"
#define KEEPER_OPT_SANDBOX "--sandbox"
#define KEEPER_OPT_OFFLINE "--offline"
#define KEEPER_RULESET_FD  4

/*
 * Each variable of the keeper's environment is one of the program's with this byte in front,
 * which the keeper takes off: what is meant for the program (LD_PRELOAD, LD_LIBRARY_PATH, ...)
 * must not act on the keeper.
 */
#define KEEPER_ENV_MARK '~'

/* From keeper to owner. */
enum keeper_event {
    /* value: pid of the program, which leads its own process group */
    KEEPER_STARTED = 1,
    /* value: errno of exec; followed by KEEPER_EMPTY */
    KEEPER_FAILED,
    /* value: wait status of the program as from waitpid(2) */
    KEEPER_EXITED,
    /* nothing is left in the tree (waitpid said ECHILD); the keeper exits next */
    KEEPER_EMPTY,
};

/* From owner to keeper. */
enum keeper_order {
    /* SIGTERM to the program's process group */
    KEEPER_TERM = 1,
    /* SIGKILL to everything in the tree until it is provably empty */
    KEEPER_KILL,
    /* With --command: SIGKILL to the program's group; the keeper exits, what left the group by
     * setsid lives on */
    KEEPER_LEAVE,
};

struct keeper_msg {
    int32_t kind; /* enum keeper_event or enum keeper_order */
    int32_t value;
};

#endif
