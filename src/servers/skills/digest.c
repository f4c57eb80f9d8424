/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/digest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/mem.h"
#include "servers/skills/place.h"

/* File times may tick this coarsely: a file changed so lately may change again unseen. */
#define SETTLE_NS (100 * 1000 * 1000LL)

struct digests {
    pthread_mutex_t lock;
    struct map kept; /* struct stamp, as bytes -> hex, owned */
};

struct stamp {
    uint64_t dev, ino;
    int64_t size, mtime_ns, ctime_ns;
};

static int64_t ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct stamp stamp_of(const struct stat *st)
{
    return (struct stamp){ st->st_dev, st->st_ino, st->st_size, ns(st->st_mtim),
                           ns(st->st_ctim) };
}

static bool is_settled(const struct stamp *s)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ns(now) - s->ctime_ns > SETTLE_NS;
}

struct digests *digests_new(void)
{
    struct digests *d = NEW(struct digests);

    pthread_mutex_init(&d->lock, NULL);
    return d;
}

static void forget(struct digests *d)
{
    void *hex;

    for (size_t i = 0; map_next(&d->kept, &i, NULL, &hex);)
        free(hex);
    map_free(&d->kept);
    d->kept = MAP;
}

void digests_free(struct digests *d)
{
    if (!d)
        return;
    forget(d);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static bool look_up(struct digests *d, struct str key, char ret_hex[SHA256_HEX_SIZE])
{
    const char *hex;

    pthread_mutex_lock(&d->lock);
    hex = map_get(&d->kept, key);
    if (hex)
        memcpy(ret_hex, hex, SHA256_HEX_SIZE);
    pthread_mutex_unlock(&d->lock);
    return hex != NULL;
}

static void keep(struct digests *d, struct str key, const char *hex)
{
    pthread_mutex_lock(&d->lock);
    if (map_count(&d->kept) == DIGEST_MAX_KEPT)
        forget(d);
    free(map_put(&d->kept, key, mem_strdup(hex)));
    pthread_mutex_unlock(&d->lock);
}

bool digests_get(struct digests *d, int fd, const struct stat *st,
                 char ret_hex[SHA256_HEX_SIZE], struct error *e)
{
    struct stamp stamp = stamp_of(st);
    struct str key = { (const char *)&stamp, sizeof stamp };
    auto_buf bytes = BUF(DIGEST_MAX_FILE);

    if (look_up(d, key, ret_hex))
        return true;
    if (!place_read(fd, &bytes, e))
        return false;
    if (bytes.n != (size_t)st->st_size)
        return error_set(e, ERR_LIMIT, "the file changed while it was read");
    sha256_hex(buf_str(&bytes), ret_hex);
    if (is_settled(&stamp))
        keep(d, key, ret_hex);
    return true;
}
