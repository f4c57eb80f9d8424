/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tar.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK 512

/* A header as it stands in the archive. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], uname[32], gname[32], major[8], minor[8], prefix[155], rest[12];
};
static_assert(sizeof(struct header) == BLOCK, "a header is one block");

void tar_open(struct tar *t, FILE *in)
{
    *t = (struct tar){ .in = in, .path = BUF(TAR_MAX_PATH), .longer = BUF(TAR_MAX_PATH) };
}

void tar_close(struct tar *t)
{
    buf_free(&t->path);
    buf_free(&t->longer);
}

static bool bad(struct error *e, const char *what)
{
    return error_set(e, ERR_INVALID, "the archive is damaged or hostile: %s", what);
}

static bool read_all(struct tar *t, void *to, size_t n, struct error *e)
{
    return fread(to, 1, n, t->in) == n || bad(e, "it ends too early");
}

/* ---- numbers ---- */

/* Octal digits between blanks and NULs. The form for more than 8 GiB is none. */
static bool read_octal(const char *field, size_t n, uint64_t *ret)
{
    size_t i = 0;

    *ret = 0;
    while (i < n && field[i] == ' ')
        i++;
    for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
        *ret = *ret * 8 + (uint64_t)(field[i] - '0');
    for (; i < n; i++)
        if (field[i] != ' ' && field[i] != '\0')
            return false;
    return true;
}

static bool sum_is_right(const struct header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    const size_t at = offsetof(struct header, sum);
    uint64_t want, sum = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= at && i < at + sizeof h->sum ? ' ' : p[i];
    return read_octal(h->sum, sizeof h->sum, &want) && want == sum;
}

static bool is_zero(const struct header *h)
{
    const char *p = (const char *)h;

    for (size_t i = 0; i < BLOCK; i++)
        if (p[i])
            return false;
    return true;
}

/* ---- names ---- */

static bool add_component(struct tar *t, struct str part, struct error *e)
{
    if (part.n == 0 || str_is(part, "."))
        return true;
    if (str_is(part, ".."))
        return bad(e, "a path with '..'");
    if (part.n > TAR_MAX_NAME)
        return bad(e, "a name of more than 255 bytes");
    if (str_has_control(part))
        return bad(e, "a control character in a name");
    if (t->path.n)
        buf_addc(&t->path, '/');
    buf_add(&t->path, part);
    return true;
}

static bool set_path(struct tar *t, struct str text, struct error *e)
{
    struct str part, rest = text;
    int depth = 0;

    buf_clear(&t->path);
    t->ends_with_slash = str_ends(text, STR("/"));
    if (str_starts(text, STR("/")))
        return bad(e, "an absolute path");
    while (str_cut(rest, '/', &part, &rest))
        if (!add_component(t, part, e) || (part.n && ++depth > TAR_MAX_DEPTH))
            return e->kind != ERR_NONE ? false : bad(e, "too many directories in a path");
    return add_component(t, rest, e) &&
           (buf_ok(&t->path, NULL) || bad(e, "a path of more than 4096 bytes"));
}

static struct str field_str(const char *field, size_t max)
{
    return (struct str){ field, strnlen(field, max) };
}

static bool take_path(struct tar *t, const struct header *h, struct error *e)
{
    auto_buf whole = BUF(sizeof h->prefix + 1 + sizeof h->name);
    bool posix = memcmp(h->magic, "ustar\0", sizeof h->magic) == 0;

    if (t->longer.n)
        return set_path(t, buf_str(&t->longer), e);
    if (posix && h->prefix[0]) {
        buf_add(&whole, field_str(h->prefix, sizeof h->prefix));
        buf_addc(&whole, '/');
    }
    buf_add(&whole, field_str(h->name, sizeof h->name));
    return whole.n ? set_path(t, buf_str(&whole), e) : bad(e, "an entry without a name");
}

/* ---- headers before an entry ---- */

static bool set_longer(struct tar *t, struct str name, struct error *e)
{
    buf_clear(&t->longer);
    buf_add(&t->longer, name);
    if (name.n == 0 || memchr(name.p, 0, name.n))
        return bad(e, "an odd long name");
    return buf_ok(&t->longer, NULL) || bad(e, "a path of more than 4096 bytes");
}

/* "<key>=<value>" of a pax header. Other keys are times and owners. */
static bool take_pax(struct tar *t, struct str record, struct error *e)
{
    struct str key, value;
    int64_t size;

    if (!str_cut(record, '=', &key, &value))
        return bad(e, "a pax record without '='");
    if (str_starts(key, STR("GNU.sparse.")))
        return bad(e, "a sparse file");
    if (str_is(key, "path"))
        return set_longer(t, value, e);
    if (!str_is(key, "size"))
        return true;
    if (!str_to_int(value, 0, (int64_t)TAR_MAX_BYTES, &size))
        return bad(e, "a size that is none or too large");
    t->pax_size = (uint64_t)size;
    t->has_pax_size = true;
    return true;
}

/* Records "<length> <key>=<value>\n"; the length is that of the whole record. */
static bool take_pax_records(struct tar *t, struct str text, struct error *e)
{
    while (text.n) {
        size_t blank = str_find_char(str_upto(text, 8), ' ');
        int64_t n = 0;

        if (blank == SIZE_MAX ||
            !str_to_int(str_upto(text, blank), (int64_t)blank + 3, (int64_t)text.n, &n) ||
            text.p[n - 1] != '\n')
            return bad(e, "a malformed pax header");
        if (!take_pax(t, str_from(str_upto(text, (size_t)n - 1), blank + 1), e))
            return false;
        text = str_from(text, (size_t)n);
    }
    return true;
}

/* Headers for the next entry ('x', 'L'), for all ('g'), and of a link's target ('K'). */
static bool take_extension(struct tar *t, char type, struct error *e)
{
    auto_buf text = BUF(TAR_MAX_PAX);
    size_t n = (size_t)t->left;
    char *to = t->left <= TAR_MAX_PAX ? buf_room(&text, n) : NULL;

    if (!to)
        return bad(e, "a header of more than 64 KiB");
    if (!read_all(t, to, n, e))
        return false;
    text.n = n;
    t->left = 0;
    if (type == 'x')
        return take_pax_records(t, buf_str(&text), e);
    if (type == 'L')
        return set_longer(t, field_str(buf_z(&text), n), e);
    return true;
}

/* ---- entries ---- */

static bool skip_rest(struct tar *t, struct error *e)
{
    char block[8192];
    size_t n;

    do {
        if (!tar_data(t, block, sizeof block, &n, e))
            return false;
    } while (n);
    if (!read_all(t, block, (size_t)t->pad, e))
        return false;
    t->pad = 0;
    return true;
}

static void begin_data(struct tar *t, uint64_t size)
{
    t->left = size;
    t->pad = (BLOCK - size % BLOCK) % BLOCK;
}

static bool begin_entry(struct tar *t, const struct header *h, uint64_t size,
                        struct tar_entry *ret, struct error *e)
{
    uint64_t mode;

    if (h->type != '0' && h->type != '\0' && h->type != '7' && h->type != '5')
        return bad(e, "an entry that is neither a file nor a directory");
    if (!read_octal(h->mode, sizeof h->mode, &mode))
        mode = 0;
    if (!take_path(t, h, e))
        return false;
    *ret = (struct tar_entry){ .path = buf_str(&t->path),
                               .is_dir = h->type == '5' || t->ends_with_slash,
                               .executable = mode & 0100 };
    ret->size = ret->is_dir ? 0 : t->has_pax_size ? t->pax_size : size;
    if (ret->is_dir && size)
        return bad(e, "a directory with data");
    buf_clear(&t->longer);
    t->has_pax_size = false;
    begin_data(t, ret->size);
    t->total += ret->size;
    return t->total <= TAR_MAX_BYTES || bad(e, "more than 256 MiB");
}

static bool read_header(struct tar *t, struct header *h, uint64_t *ret_size, struct error *e)
{
    if (!skip_rest(t, e) || !read_all(t, h, BLOCK, e))
        return false;
    if (is_zero(h))
        return true;
    if (++t->entries > TAR_MAX_ENTRIES)
        return bad(e, "more than 50000 entries");
    if (!sum_is_right(h))
        return bad(e, "a wrong checksum");
    if (!read_octal(h->size, sizeof h->size, ret_size) || *ret_size > TAR_MAX_BYTES)
        return bad(e, "a size that is none or too large");
    return true;
}

bool tar_next(struct tar *t, struct tar_entry *ret, struct error *e)
{
    struct header h;
    uint64_t size = 0;

    *e = (struct error){ 0 };
    for (;;) {
        if (!read_header(t, &h, &size, e))
            return false;
        if (is_zero(&h))
            return false; /* the end; what follows is padding */
        if (!h.type || !strchr("xgLK", h.type))
            return begin_entry(t, &h, size, ret, e);
        begin_data(t, size);
        if (!take_extension(t, h.type, e))
            return false;
    }
}

bool tar_data(struct tar *t, char *to, size_t max, size_t *ret_n, struct error *e)
{
    size_t n = t->left < max ? (size_t)t->left : max;

    if (!read_all(t, to, n, e))
        return false;
    t->left -= n;
    *ret_n = n;
    return true;
}
