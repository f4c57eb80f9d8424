/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Text of agents made fit for models and people (docs/spec/tasks.md TK-18): without control
 * characters, escape sequences and what hides or turns text. The ledger keeps it as it came.
 */
#ifndef SYM_TASKS_CLEAN_H
#define SYM_TASKS_CLEAN_H

#include "text/json.h"

/* Appends the text; line breaks and tabs stay. */
void task_put_clean(struct buf *out, struct str text);

/* Appends the JSON value `json` with every string and key in it cleaned. What is clean already,
 * which is quick to see, is copied as it is; it must be JSON, and becomes null where a look
 * shows that it is none. */
void task_put_clean_json(struct buf *out, struct str json);

#endif
