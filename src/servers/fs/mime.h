/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The media type of a file by its name (FS-4). */
#ifndef SYM_SERVERS_FS_MIME_H
#define SYM_SERVERS_FS_MIME_H

/* By what follows the last dot, in any case; "application/octet-stream" for what is not known
 * or has none (".png" is a name, no extension). */
const char *mime_of(const char *path);

#endif
