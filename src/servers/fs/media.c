/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* read_media_file (FS-4). */
#include <limits.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "servers/fs/content.h"
#include "servers/fs/mime.h"

/* What stands unencoded in the path of a URI; '/' too, since it is one. */
static bool is_plain(char c)
{
    return ascii_alnum(c) || (c && strchr("/-._~!$&'()*+,;=:@", c));
}

static void put_file_uri(struct buf *b, const char *path)
{
    buf_add(b, STR("file://"));
    for (; *path; path++) {
        if (is_plain(*path))
            buf_addc(b, *path);
        else
            buf_addf(b, "%%%02X", (unsigned char)*path);
    }
}

static void put_key_base64(struct jw *w, const char *key, struct str bytes)
{
    auto_buf b = BUF(base64_length(bytes.n) + 2);

    buf_addc(&b, '"');
    base64_put(&b, bytes);
    buf_addc(&b, '"');
    jw_key(w, key);
    jw_raw(w, buf_str(&b));
}

/* The one content block. */
static void put_item(struct buf *out, const char *real, struct str bytes)
{
    const char *type = mime_of(real);
    bool image = strncmp(type, "image/", 6) == 0, audio = strncmp(type, "audio/", 6) == 0;
    struct jw w = jw_to(out);
    auto_buf uri = BUF(4 * PATH_MAX);

    jw_obj(&w);
    if (image || audio) {
        jw_kstrz(&w, "type", image ? "image" : "audio");
        put_key_base64(&w, "data", bytes);
        jw_kstrz(&w, "mimeType", type);
    } else {
        put_file_uri(&uri, real);
        jw_kstrz(&w, "type", "resource");
        jw_key(&w, "resource");
        jw_obj(&w);
        jw_kstr(&w, "uri", buf_str(&uri));
        jw_kstrz(&w, "mimeType", type);
        put_key_base64(&w, "blob", bytes);
        jw_end(&w);
    }
    jw_end(&w);
}

void fs_read_media(struct fs_call *c)
{
    auto_buf bytes = BUF(FS_MEDIA_MAX);
    const char *real;
    struct error e;
    auto_close int fd = content_open(c, c->in.path, &real);

    if (fd < 0)
        return;
    if (!content_whole(c, fd, &bytes, &e)) {
        answer_error(c->out, "Failed to read %s: %s%s", real,
                     e.kind == ERR_SYS ? strerror(e.sys) : e.msg,
                     e.kind == ERR_LIMIT ? "; use a smaller file" : "");
        return;
    }
    put_item(&c->out->content, real, buf_str(&bytes));
    buf_add(&c->out->structured, STR("{\"content\":["));
    buf_add(&c->out->structured, buf_str(&c->out->content));
    buf_add(&c->out->structured, STR("]}"));
}
