/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A log file of its own for each run (docs/spec/plugins.md CF-5). */
#ifndef SYM_BASE_LOG_DIR_H
#define SYM_BASE_LOG_DIR_H

#include "base/log.h"

#define LOG_DIR_KEPT 10 /* log files in the directory, rotated ones and our own included */

/*
 * Logs from now on to <dir>/symposium-YYYYMMDD-HHMMSS.log, the time being UTC; processes
 * started in the same second share one. The directory is made if need be, and the oldest files
 * with such names are removed from it. False: the log stays where it was.
 */
bool log_to_dir(const char *dir, struct error *e);

#endif
