/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "package.h"

#include "base/log.h"
#include "base/path.h"
#include "manifest.h"

/* Most crates never name us: their manifests need not be parsed. */
static bool names_us(struct arena *a, const char *dir)
{
    auto_buf text = BUF(INPUT_MAX_FILE);

    return file_read(path_join(a, dir, "Cargo.toml"), &text, NULL) &&
           str_find(buf_str(&text), STR("symposium")) != SIZE_MAX;
}

bool package_embedded(struct arena *a, const struct crate *c, struct embedded *ret,
                      struct error *e)
{
    struct inputs unnoted = { .arena = a };
    const struct manifest *m = NULL;
    struct error why = { 0 };

    if (names_us(a, c->dir)) {
        m = manifest_read(&unnoted, c->dir, NULL, &why);
        if (!m)
            log_warn("metadata left out: %s", why.msg);
    }
    return embedded_read(a, c->dir, m ? m->metadata : NULL, ret, e);
}
