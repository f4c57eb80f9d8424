/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The keeper (security.md WK-8): the hidden command `symposium keeper [option...] -- program
 * argument...`, whose options are in base/keeper_wire.h.
 *
 * One small process per program, its parent and the subreaper of all that comes from it, so
 * that nothing of the tree is ever lost: not after setsid and a double fork, and not when the
 * owner at the other end of the control socket is killed.
 *
 * Descriptors 0, 1, 2 are the program's, KEEPER_CONTROL_FD is the control socket
 * (base/keeper_wire.h). Until the tree is empty the keeper ignores every signal but SIGKILL.
 */
#ifndef SYM_LOCKDOWN_KEEPER_H
#define SYM_LOCKDOWN_KEEPER_H

/* argv: "keeper", options, "--", program, argument... Call it before anything else is set up.
 * Returns the exit status: 0 when the tree is empty, 2 when it was not started by an owner. */
int keeper_main(int argc, char **argv);

#endif
