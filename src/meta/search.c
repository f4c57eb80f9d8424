/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/search.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/utf8.h"

#define K1              1.2
#define B               0.75
#define MAX_QUERY_WORDS 16
#define PREFIX_MIN      3
#define DESCRIPTION_MAX 2000 /* bytes of a description that count */
#define PREFIX_FACTOR   0.1
/* More than any sum of terms: documents with a whole-word hit stand above those with prefix
 * hits alone, an exact name above all. */
#define WHOLE_BONUS 1e3
#define EXACT_BONUS 1e6

enum column { COL_NAME, COL_SERVER, COL_DESCRIPTION, COLUMNS };
static const double weights[COLUMNS] = { 3, 1, 1 };

/* ---- words ---- */

typedef void (*word_fn)(void *ctx, struct str word);

static bool is_word_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c >= 0x80;
}

/*
 * Lower case for the scripts that have simple one-to-one pairs in the ranges tool names are
 * written in: ASCII, Latin-1, Greek, Cyrillic.
 */
static uint32_t lower(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
        (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
        return c + 32;
    if (c >= 0x400 && c <= 0x40f)
        return c + 80;
    return c >= 0x100 && c <= 0x137 ? c | 1 : c;
}

static bool is_upper(uint32_t c)
{
    return lower(c) != c;
}

static void emit(struct buf *word, word_fn fn, void *ctx)
{
    if (word->n)
        fn(ctx, buf_str(word));
    buf_clear(word);
}

/* Splits at what is no letter or digit and, unless `whole`, at lower-to-upper borders. */
static void each_word(struct str text, bool whole, word_fn fn, void *ctx)
{
    auto_buf word = BUF(4096);
    bool was_lower = false;

    while (text.n) {
        uint32_t cp;
        size_t n = utf8_decode(text, &cp);

        if (!n || !is_word_byte((unsigned char)*text.p)) {
            emit(&word, fn, ctx);
            was_lower = false;
            n = n ? n : 1;
        } else {
            if (!whole && was_lower && is_upper(cp))
                emit(&word, fn, ctx);
            utf8_put(&word, lower(cp));
            was_lower = !is_upper(cp);
        }
        text = str_from(text, n);
    }
    emit(&word, fn, ctx);
}

static bool has_inner_border(struct str text)
{
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] >= 'A' && text.p[i] <= 'Z' && text.p[i - 1] >= 'a' &&
            text.p[i - 1] <= 'z')
            return true;
    return false;
}

/* ---- query ---- */

struct query {
    struct arena a;
    struct str words[MAX_QUERY_WORDS];
    size_t n;
    struct str whole; /* all words joined by a space */
};

static void add_query_word(void *ctx, struct str word)
{
    struct query *q = ctx;

    for (size_t i = 0; i < q->n; i++)
        if (str_eq(q->words[i], word))
            return;
    if (q->n < MAX_QUERY_WORDS)
        q->words[q->n++] = arena_str(&q->a, word);
}

static void join_word(void *ctx, struct str word)
{
    struct buf *b = ctx;

    if (b->n)
        buf_addc(b, ' ');
    buf_add(b, word);
}

static struct str joined(struct arena *a, struct str text)
{
    auto_buf b = BUF(8192);

    each_word(text, false, join_word, &b);
    return arena_str(a, buf_str(&b));
}

/* ---- scoring ---- */

struct counts {
    const struct query *q;
    unsigned column;
    double length;                 /* words of the document, weighted by column */
    double whole[MAX_QUERY_WORDS]; /* weighted frequency of whole-word hits */
    double prefix[MAX_QUERY_WORDS];
};

static void count_word(void *ctx, struct str word)
{
    struct counts *c = ctx;
    double w = weights[c->column];

    c->length += w;
    for (size_t i = 0; i < c->q->n; i++) {
        struct str want = c->q->words[i];

        if (str_eq(word, want))
            c->whole[i] += w;
        else if (want.n >= PREFIX_MIN && str_starts(word, want))
            c->prefix[i] += w;
    }
}

static void count_doc(struct counts *c, const struct search_doc *d)
{
    const struct str columns[COLUMNS] = { d->name, d->server,
                                          utf8_cut(d->description, DESCRIPTION_MAX) };

    for (c->column = 0; c->column < COLUMNS; c->column++) {
        each_word(columns[c->column], false, count_word, c);
        if (c->column == COL_NAME && has_inner_border(d->name))
            each_word(d->name, true, count_word, c);
    }
}

static double term(double frequency, double length, double mean, double idf)
{
    return idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean));
}

static int by_score(const void *a, const void *b)
{
    const struct search_doc *x = a, *y = b;
    int order;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    order = str_cmp(x->server, y->server);
    return order ? order : str_cmp(x->name, y->name);
}

static bool is_exact(struct query *q, const struct search_doc *d, struct str query)
{
    return str_icase_eq(d->name, query) || str_eq(joined(&q->a, d->name), q->whole);
}

static double score(const struct counts *c, const double idf[], double mean)
{
    double whole = 0, prefix = 0;

    for (size_t i = 0; i < c->q->n; i++) {
        whole += term(c->whole[i], c->length, mean, idf[i]);
        prefix += term(c->prefix[i], c->length, mean, idf[i]);
    }
    return (whole > 0 ? WHOLE_BONUS : 0) + whole + PREFIX_FACTOR * prefix;
}

size_t search_rank(struct search_doc *docs, size_t n, struct str query)
{
    struct query q = { 0 };
    struct counts *counts = mem_alloc((n ? n : 1) * sizeof *counts);
    double mean = 0, idf[MAX_QUERY_WORDS];
    size_t found = 0;

    query = str_trim(query);
    each_word(query, false, add_query_word, &q);
    each_word(query, true, add_query_word, &q);
    q.whole = joined(&q.a, query);
    for (size_t i = 0; i < n; i++) {
        counts[i].q = &q;
        count_doc(&counts[i], &docs[i]);
        mean += counts[i].length / (double)n;
    }
    for (size_t w = 0; w < q.n; w++) {
        double with = 0;

        for (size_t i = 0; i < n; i++)
            with += counts[i].whole[w] > 0 || counts[i].prefix[w] > 0;
        idf[w] = log(1 + ((double)n - with + 0.5) / (with + 0.5));
    }
    for (size_t i = 0; i < n; i++) {
        docs[i].score = score(&counts[i], idf, mean > 0 ? mean : 1);
        if (docs[i].score > 0 && is_exact(&q, &docs[i], query))
            docs[i].score += EXACT_BONUS;
    }
    qsort(docs, n, sizeof *docs, by_score);
    while (found < n && docs[found].score > 0)
        found++;
    free(counts);
    arena_free(&q.a);
    return found;
}
