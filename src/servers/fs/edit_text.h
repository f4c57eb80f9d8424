/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The text of a file while it is edited (FS-7 to FS-9). Edits see it with '\n' alone; what the
 * file had is put back: the byte order mark, the line ends, a last line without one. In a file
 * with both kinds of line ends each line that no edit touches keeps its own, and new lines get
 * the kind that the file has more of.
 */
#ifndef SYM_SERVERS_FS_EDIT_TEXT_H
#define SYM_SERVERS_FS_EDIT_TEXT_H

#include "servers/fs/fs_impl.h"

struct edit_text {
    struct buf text; /* '\n' for each line end, no byte order mark */
    struct buf ends; /* of a mixed file: one END_* for each '\n'; else empty */
    bool bom, mixed;
    bool crlf; /* the kind of most line ends */
};

#define END_LF   'n'
#define END_CRLF 'r'

/* ERR_INVALID: it is no UTF-8. Ends with edit_text_free(). */
bool edit_text_load(struct edit_text *t, struct str raw, struct error *e);
void edit_text_free(struct edit_text *t);

/* As it is to be written. */
void edit_text_store(const struct edit_text *t, struct buf *out);

/*
 * One edit: the first occurrence of its old text, or the first run of lines that are the same
 * but for white space at both ends. ERR_INVALID: the old text is empty. ERR_NOT_FOUND: no
 * place; the caller words it. ERR_LIMIT: the text would pass FS_EDIT_MAX.
 */
bool edit_text_apply(struct edit_text *t, const struct fs_edit *edit, struct error *e);

/* The number, from 1, of the line that is most like the first line of `old` that is not blank,
 * and that line. 0: there is none alike. */
size_t edit_text_closest(const struct edit_text *t, struct str old, struct str *ret_line);

#endif
