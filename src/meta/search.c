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

/* Outside ASCII everything counts as a letter but punctuation, symbols and spaces. */
static bool is_word_char(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } marks[] = {
        { 0x80, 0xa9 },     { 0xab, 0xb4 },     { 0xb6, 0xb9 },       { 0xbb, 0xbf },
        { 0xd7, 0xd7 },     { 0xf7, 0xf7 },     { 0x2000, 0x206f },   { 0x20a0, 0x20cf },
        { 0x2190, 0x2bff }, { 0x2e00, 0x2e7f }, { 0x3000, 0x3004 },   { 0x3008, 0x3020 },
        { 0xfe30, 0xfe6f }, { 0xff00, 0xff0f }, { 0xff1a, 0xff20 },   { 0xff3b, 0xff40 },
        { 0xff5b, 0xff65 }, { 0xfff0, 0xffff }, { 0x1f000, 0x1faff },
    };

    if (c < 0x80)
        return ascii_alnum((int)c);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (c >= marks[i].from && c <= marks[i].to)
            return false;
    return true;
}

/*
 * Lower case for the scripts that have it, by range: `step` is the distance to the small
 * letter, or 1 where capitals and small letters alternate and `odd` says which are the
 * capitals.
 */
static uint32_t lower(uint32_t c)
{
    static const struct {
        uint32_t from, to, step;
        bool odd;
    } pairs[] = {
        { 'A', 'Z', 32, 0 },         { 0xc0, 0xde, 32, 0 },    { 0x100, 0x137, 1, 0 },
        { 0x139, 0x148, 1, 1 },      { 0x14a, 0x177, 1, 0 },   { 0x179, 0x17e, 1, 1 },
        { 0x1cd, 0x1dc, 1, 1 },      { 0x1de, 0x1ef, 1, 0 },   { 0x1f8, 0x21f, 1, 0 },
        { 0x222, 0x233, 1, 0 },      { 0x388, 0x38a, 37, 0 },  { 0x391, 0x3ab, 32, 0 },
        { 0x400, 0x40f, 80, 0 },     { 0x410, 0x42f, 32, 0 },  { 0x460, 0x481, 1, 0 },
        { 0x48a, 0x4bf, 1, 0 },      { 0x4d0, 0x52f, 1, 0 },   { 0x531, 0x556, 48, 0 },
        { 0x1e00, 0x1e95, 1, 0 },    { 0x1ea0, 0x1eff, 1, 0 }, { 0xff21, 0xff3a, 32, 0 },
        { 0x10400, 0x10427, 40, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs) && c >= pairs[i].from; i++)
        if (c <= pairs[i].to && c != 0xd7)
            return pairs[i].step == 1 && (c & 1) != pairs[i].odd ? c : c + pairs[i].step;
    return c;
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

/* Bytes at the front that are small ASCII letters or digits. */
static size_t small_run(struct str text)
{
    size_t n = 0;

    while (n < text.n &&
           ((text.p[n] >= 'a' && text.p[n] <= 'z') || (text.p[n] >= '0' && text.p[n] <= '9')))
        n++;
    return n;
}

static bool ends_word(struct str text, size_t at)
{
    return at == text.n || ((unsigned char)text.p[at] < 0x80 && !ascii_alnum(text.p[at]));
}

/*
 * Splits at what is no letter or digit and, unless `whole`, at lower-to-upper borders. Nearly
 * every word is a run of small ASCII letters: it is handed on as it stands in the text.
 */
static void each_word(struct str text, bool whole, word_fn fn, void *ctx)
{
    auto_buf word = BUF(4096);
    bool was_lower = false;

    while (text.n) {
        size_t n = word.n ? 0 : small_run(text);
        uint32_t cp;

        if (n && ends_word(text, n)) {
            fn(ctx, str_upto(text, n));
            text = str_from(text, n);
            was_lower = false;
            continue;
        }
        n = utf8_decode(text, &cp);
        if (!n || !is_word_char(cp)) {
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
    double mean = 0, idf[MAX_QUERY_WORDS] = { 0 };
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
        struct search_doc d = docs[i];

        d.score = score(&counts[i], idf, mean > 0 ? mean : 1);
        if (d.score <= 0)
            continue;
        /* A name that equals the query holds its first word. */
        if (counts[i].whole[0] > 0 && is_exact(&q, &d, query))
            d.score += EXACT_BONUS;
        docs[i] = docs[found];
        docs[found++] = d;
    }
    qsort(docs, found, sizeof *docs, by_score);
    free(counts);
    arena_free(&q.a);
    return found;
}
