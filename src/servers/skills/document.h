/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SKILL.md, parsed: front matter and body (SK-2, SK-3, SK-4). */
#ifndef SYM_SERVERS_SKILLS_DOCUMENT_H
#define SYM_SERVERS_SKILLS_DOCUMENT_H

#include "text/yaml.h"

#define SKILL_FILE                  "SKILL.md"
#define SKILL_FILE_MAX              ((size_t)1 << 20)
#define SKILL_NAME_MAX              64
#define SKILL_DESCRIPTION_ADVISABLE 1024 /* characters; longer is only warned about */

struct document {
    const struct yaml *front; /* the whole mapping */
    struct str name;
    struct str description; /* without blanks around it */
    unsigned description_line;
    struct str body; /* byte for byte */
};

/* All of *ret lives as long as `text` and the arena. Errors begin with "line N: ", of the file.
 */
bool document_parse(struct arena *a, struct str text, struct document *ret, struct error *e);

#endif
