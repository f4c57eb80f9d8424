/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A package's archive: no path that it gives leads out, and no more bytes than it says. The
 * checksum of each block that could be a header is made right, or nothing would be reached. */
#include <stdlib.h>
#include <string.h>

#include "tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void mend_sum(uint8_t *h)
{
    unsigned sum = 0;
    char text[8];

    memset(h + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += h[i];
    snprintf(text, sizeof text, "%06o", sum);
    memcpy(h + 148, text, 7);
}

static void check_path(struct str path)
{
    struct str part, rest = path;
    bool more;

    if (path.n == 0)
        return;
    must(path.n <= TAR_MAX_PATH);
    do {
        part = rest;
        more = str_cut(rest, '/', &part, &rest);
        must(part.n > 0 && part.n <= TAR_MAX_NAME);
        must(!str_is(part, ".") && !str_is(part, ".."));
        must(!memchr(part.p, 0, part.n) && !memchr(part.p, '\n', part.n));
    } while (more);
}

static void read_data(struct tar *t, uint64_t want)
{
    struct error e = { 0 };
    char chunk[700];
    uint64_t got = 0;
    size_t n;

    do {
        if (!tar_data(t, chunk, sizeof chunk, &n, &e))
            return;
        got += n;
    } while (n);
    must(got == want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tar_entry entry;
    struct error e;
    struct tar t;
    uint8_t *copy;
    FILE *in;

    if (size < 512)
        return 0;
    copy = malloc(size);
    memcpy(copy, data, size);
    for (size_t at = 0; at + 512 <= size; at += 512)
        if (memcmp(copy + at + 257, "ustar", 5) == 0)
            mend_sum(copy + at);
    in = fmemopen(copy, size, "r");
    must(in != NULL);
    tar_open(&t, in);
    while (tar_next(&t, &entry, &e)) {
        check_path(entry.path);
        must(!entry.is_dir || entry.size == 0);
        if (entry.size % 3)
            read_data(&t, entry.size);
    }
    must(e.kind == ERR_NONE || e.kind == ERR_INVALID);
    tar_close(&t);
    fclose(in);
    free(copy);
    return 0;
}
