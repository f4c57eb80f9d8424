/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What people and programs see. A terminal gets colour (unless NO_COLOR is set), indented JSON,
 * and no character that it would act on; a pipe gets the bytes as they are. What goes to stderr
 * is for people wherever it leads (agents show it in their own terminal): no such character.
 */
#ifndef SYM_CLI_OUTPUT_H
#define SYM_CLI_OUTPUT_H

#include <stdio.h>

#include "text/json.h"

#define OUTPUT_MAX ((size_t)128 << 20) /* bytes that one command may print */

enum paint { PAINT_OFF, PAINT_BOLD, PAINT_DIM, PAINT_RED, PAINT_GREEN, PAINT_YELLOW };

bool out_is_terminal(FILE *f);
/* The escape sequence, "" where there is no colour. */
const char *out_paint(FILE *f, enum paint p);

/* Characters that a line may have which is erased again, with `rest` more of its own: it must
 * fit one row, else only its last row is erased. At most `most`. */
size_t out_row_room(size_t most, size_t rest);

/* The process dies of the signal that ended its command, as a shell expects it. */
void out_die_of(int signo);

/* A name, a path, a line: no newline is added. */
void out_put_words(FILE *f, struct str words);

/* Ends with one newline whether or not the text does; nothing for an empty text. */
void out_put_text(FILE *f, struct str text);

/* Appends it as a terminal gets it: lines and tabs stay. */
void out_add_clean(struct buf *b, struct str text);

/* JSON on one line; on a terminal indented, and a text that is the only member of an object is
 * printed as the text it is. */
void out_put_value(FILE *f, yyjson_val *v);
void out_put_indented(struct buf *b, yyjson_val *v, unsigned indent);

/*
 * --json: one array of events on stdout, each an object that begins with its "type".
 *
 *     struct jw *w = report_event(&r, "plugin"); jw_kstr(w, "name", name); jw_end(w);
 */
struct report {
    struct buf text;
    struct jw w;
};
void report_begin(struct report *r);
struct jw *report_event(struct report *r, const char *type);
void report_text(struct report *r, const char *type, struct str text); /* {"type","text"} */
/* Prints it; false after a message when it was too long. */
bool report_end(struct report *r);

#endif
