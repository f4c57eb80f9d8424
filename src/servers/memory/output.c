/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/output.h"

#include "text/json.h"

void output_strings(struct buf *b, const struct str *v, size_t n)
{
    buf_addc(b, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(b, ',');
        json_put_str(b, v[i]);
    }
    buf_addc(b, ']');
}

static void put_member(struct buf *b, const char *lead, struct str value)
{
    buf_addz(b, lead);
    json_put_str(b, value);
}

void output_entity(struct buf *b, const struct entity *e)
{
    put_member(b, "{\"name\":", e->name);
    put_member(b, ",\"entityType\":", e->type);
    buf_addz(b, ",\"observations\":");
    output_strings(b, e->obs, e->nobs);
    buf_addc(b, '}');
}

void output_relation(struct buf *b, const struct relation *r)
{
    put_member(b, "{\"from\":", r->from);
    put_member(b, ",\"to\":", r->to);
    put_member(b, ",\"relationType\":", r->type);
    buf_addc(b, '}');
}

/* A buffer that is over takes nothing more: the rest of a large graph need not be looked at. */
void output_view(struct buf *b, const struct view *v)
{
    buf_addz(b, "{\"entities\":[");
    for (size_t i = 0; i < v->nentities && !b->over; i++) {
        if (i)
            buf_addc(b, ',');
        output_entity(b, v->entities[i]);
    }
    buf_addz(b, "],\"relations\":[");
    for (size_t i = 0; i < v->nrelations && !b->over; i++) {
        if (i)
            buf_addc(b, ',');
        output_relation(b, v->relations[i]);
    }
    buf_addz(b, "]}");
}

static void new_line(struct buf *b, size_t depth)
{
    buf_addc(b, '\n');
    buf_fill(b, ' ', 2 * depth);
}

/* Bytes of the string at the front of s, both quotes included. */
static size_t string_length(struct str s)
{
    size_t i = 1;

    while (i < s.n && s.p[i] != '"')
        i += s.p[i] == '\\' ? 2 : 1;
    return i < s.n ? i + 1 : s.n;
}

void output_pretty(struct buf *b, struct str json)
{
    size_t depth = 0;

    for (size_t i = 0; i < json.n && !b->over; i++) {
        char c = json.p[i];

        if (c == '"') {
            size_t n = string_length(str_from(json, i));

            buf_add(b, str_upto(str_from(json, i), n));
            i += n - 1;
        } else if ((c == '{' || c == '[') && i + 1 < json.n && json.p[i + 1] == c + 2) {
            buf_add(b, str_upto(str_from(json, i), 2)); /* '{' + 2 is '}', '[' + 2 is ']' */
            i++;
        } else if (c == '{' || c == '[') {
            buf_addc(b, c);
            new_line(b, ++depth);
        } else if (c == '}' || c == ']') {
            new_line(b, --depth);
            buf_addc(b, c);
        } else {
            buf_addc(b, c);
            if (c == ',')
                new_line(b, depth);
            else if (c == ':')
                buf_addc(b, ' ');
        }
    }
}
