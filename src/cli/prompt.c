/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/prompt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/output.h"

#define DRAWING_MAX     ((size_t)1 << 20)
#define COLUMNS_DEFAULT 80
#define ROW_MIN         8 /* columns; a narrower terminal wraps */
#define SEQUENCE_MAX    8 /* bytes of one key */

/* ---- keys ---- */

static const struct {
    const char *bytes;
    enum key key;
} sequences[] = {
    { "\033[A", KEY_UP },   { "\033OA", KEY_UP }, { "\033[B", KEY_DOWN },
    { "\033OB", KEY_DOWN }, { "k", KEY_UP },      { "j", KEY_DOWN },
    { " ", KEY_SPACE },     { "\r", KEY_ENTER },  { "\n", KEY_ENTER },
    { "a", KEY_ALL },       { "q", KEY_ESCAPE },  { "\003", KEY_INTERRUPT },
    { "\004", KEY_ESCAPE },
};

/* A sequence that we do not know: up to its final byte. 0: it has none yet. */
static size_t sequence_end(struct str bytes)
{
    if (bytes.n < 2)
        return 0;
    if (bytes.p[1] != '[' && bytes.p[1] != 'O')
        return 1;
    for (size_t i = 2; i < bytes.n && i < SEQUENCE_MAX; i++)
        if (bytes.p[i] >= '@' && bytes.p[i] <= '~')
            return i + 1;
    return bytes.n >= SEQUENCE_MAX ? SEQUENCE_MAX : 0;
}

enum key key_read(struct str bytes, bool complete, size_t *ret_n)
{
    *ret_n = 0;
    if (!bytes.n)
        return KEY_NONE;
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
        if (str_starts(bytes, str_of(sequences[i].bytes))) {
            *ret_n = strlen(sequences[i].bytes);
            return sequences[i].key;
        }
    }
    if (bytes.p[0] != '\033') {
        *ret_n = 1;
        return KEY_NONE;
    }
    *ret_n = sequence_end(bytes);
    if (!*ret_n && complete)
        *ret_n = bytes.n;
    return *ret_n == 1 ? KEY_ESCAPE : KEY_NONE;
}

/* ---- the state ---- */

static void toggle_all(struct choosing *c)
{
    bool all = true;

    for (size_t i = 0; i < c->n; i++)
        all &= c->v[i].chosen;
    for (size_t i = 0; i < c->n; i++)
        c->v[i].chosen = !all;
}

enum choosing_end choosing_key(struct choosing *c, enum key k)
{
    switch (k) {
    case KEY_NONE:
    case KEY_INTERRUPT:
        break;
    case KEY_UP:
        c->at = c->at ? c->at - 1 : c->n - 1;
        break;
    case KEY_DOWN:
        c->at = c->at + 1 < c->n ? c->at + 1 : 0;
        break;
    case KEY_SPACE:
        if (c->several)
            c->v[c->at].chosen = !c->v[c->at].chosen;
        break;
    case KEY_ALL:
        if (c->several)
            toggle_all(c);
        break;
    case KEY_ENTER:
        if (!c->several)
            c->v[c->at].chosen = true;
        return CHOOSING_DONE;
    case KEY_ESCAPE:
        return CHOOSING_ESCAPED;
    }
    return CHOOSING_ON;
}

static void put_row(const struct choosing *c, size_t i, size_t columns, struct buf *out)
{
    auto_buf row = BUF(DRAWING_MAX);
    struct str shown;

    buf_addz(&row, i == c->at ? "> " : "  ");
    if (c->several)
        buf_addz(&row, c->v[i].chosen ? "[x] " : "[ ] ");
    utf8_put_clean(&row, str_of(c->v[i].name));
    if (c->v[i].note) {
        buf_addz(&row, "  ");
        utf8_put_clean(&row, str_of(c->v[i].note));
    }
    shown = utf8_cut_chars(buf_str(&row), columns > ROW_MIN ? columns - 1 : ROW_MIN);
    buf_add(out, shown);
    buf_addz(out, "\033[K\r\n");
}

void choosing_draw(const struct choosing *c, size_t columns, struct buf *out)
{
    for (size_t i = 0; i < c->n; i++)
        put_row(c, i, columns, out);
}

/* ---- the terminal ---- */

static size_t columns_of(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? COLUMNS_DEFAULT : size.ws_col;
}

static void draw(const struct choosing *c, bool again)
{
    auto_buf out = BUF(DRAWING_MAX);

    if (again)
        buf_addf(&out, "\033[%zuA\r", c->n);
    choosing_draw(c, columns_of(STDERR_FILENO), &out);
    fwrite(buf_z(&out), 1, out.n, stderr);
}

/* One read of what was typed. False: the terminal is gone. *ret_complete: nothing more came. */
static bool fill(char *bytes, size_t *n, bool wait, bool *ret_complete)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    ssize_t got;

    *ret_complete = poll(&p, 1, wait ? -1 : PROMPT_ESCAPE_MS) == 0;
    if (*ret_complete)
        return true;
    got = read(STDIN_FILENO, bytes + *n, SEQUENCE_MAX - *n);
    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0)
        return false;
    *n += (size_t)got;
    return true;
}

static enum key next_key(char *bytes, size_t *n)
{
    bool complete = false;

    for (;;) {
        size_t used;
        enum key k = key_read((struct str){ bytes, *n }, complete, &used);

        if (used) {
            memmove(bytes, bytes + used, *n - used);
            *n -= used;
            return k;
        }
        if (!fill(bytes, n, *n == 0, &complete))
            return KEY_ESCAPE;
    }
}

enum choosing_end prompt_choose(struct choosing *c)
{
    struct termios before, raw;
    char bytes[SEQUENCE_MAX];
    size_t n = 0;
    enum choosing_end end = CHOOSING_ON;
    enum key k = KEY_NONE;

    if (!c->n || tcgetattr(STDIN_FILENO, &before))
        return CHOOSING_ESCAPED;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_iflag &= ~(tcflag_t)IXON; /* Ctrl-S is no reason to stand still */
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    fprintf(stderr, "%s%s%s\n%s\n", out_paint(stderr, PAINT_BOLD), c->question,
            out_paint(stderr, PAINT_OFF),
            c->several ? "(arrows move, space selects, a all, enter takes, escape leaves)"
                       : "(arrows move, enter takes, escape leaves the rest undecided)");
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    draw(c, false);
    while (end == CHOOSING_ON && k != KEY_INTERRUPT) {
        k = next_key(bytes, &n);
        end = choosing_key(c, k);
        draw(c, true);
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    if (k == KEY_INTERRUPT) {
        fputs("\r\n", stderr);
        out_die_of(SIGINT);
    }
    return end == CHOOSING_DONE ? CHOOSING_DONE : CHOOSING_ESCAPED;
}
