/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * html ROUNDS: turns the page on stdin into Markdown ROUNDS times. Prints the shortest time in
 * milliseconds, the Markdown's length and the number of "#" lines in it, so that an empty
 * answer is no good figure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "text/html.h"

#define PAGE_MAX ((size_t)64 << 20)

static void read_page(struct buf *page)
{
    char part[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, part, sizeof part)) > 0)
        buf_add(page, (struct str){ part, (size_t)n });
}

static int headings_in(struct str s)
{
    int n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '#' && (i == 0 || s.p[i - 1] == '\n');
    return n;
}

int main(int argc, char **argv)
{
    auto_buf page = BUF(PAGE_MAX), out = BUF(PAGE_MAX);
    int64_t best = INT64_MAX;
    struct error e;

    if (argc != 2)
        return 2;
    read_page(&page);
    for (int i = atoi(argv[1]); i > 0; i--) {
        int64_t began = clock_us(), took;

        buf_clear(&out);
        if (!html_to_markdown(buf_str(&page), STR("http://h.example/d/"), &out, &e)) {
            fprintf(stderr, "html: %s\n", e.msg);
            return 1;
        }
        took = clock_us() - began;
        best = took < best ? took : best;
    }
    printf("%.3f %zu %d\n", (double)best / 1000, out.n, headings_in(buf_str(&out)));
    return 0;
}
