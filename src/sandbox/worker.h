/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the parent has to know to start a worker. Its command line is `symposium worker MEMORY
 * STACK TIMEOUT [unsandboxed]` (bytes, bytes, milliseconds): the limits must hold before the
 * script is there. worker_main() is declared in host.h.
 */
#ifndef SYM_SANDBOX_WORKER_H
#define SYM_SANDBOX_WORKER_H

#define WORKER_SOCKET_FD 3
/* SYMPOSIUM_ALLOW_UNSANDBOXED=1: go on where a layer is missing. */
#define WORKER_UNSANDBOXED "unsandboxed"
#define WORKER_AS_SLACK    ((size_t)192 << 20) /* address space beyond the script's memory */
#define WORKER_STACK_SLACK ((size_t)1 << 20)   /* native stack beyond the script's */
#define WORKER_NICE        10 /* so that the meta-server keeps answering (MS-35) */

/* Exit statuses that are no script's doing; 3 is QUOTA_EXIT. */
#define WORKER_EXIT_USAGE    2
#define WORKER_EXIT_LOCKDOWN 4 /* a layer could not be put on */
#define WORKER_EXIT_ORPHAN   5 /* the parent is gone */

#endif
