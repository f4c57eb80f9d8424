/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/charset.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/html.h"

#define UTF8        "UTF-8"
#define UTF16LE     "UTF-16LE"
#define UTF16BE     "UTF-16BE"
#define REPLACEMENT STR("\xef\xbf\xbd")
#define LABEL_MAX   32                 /* bytes of the longest label, and more */
#define STEP        ((size_t)32 << 10) /* bytes converted at once */

/* Labels are separated by spaces and in lower case. */
/* clang-format off */
static const struct encoding {
    const char *name; /* iconv's */
    const char *labels;
} encodings[] = {
    { UTF8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8" },
    { "CP1252", "windows-1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 latin1 l1 "
                "us-ascii ascii ansi_x3.4-1968 cp1252 cp819 csisolatin1 ibm819 iso-ir-100 x-cp1252" },
    { "ISO-8859-2", "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 latin2 l2 csisolatin2 "
                    "iso-ir-101" },
    { "ISO-8859-3", "iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 latin3 l3 csisolatin3 "
                    "iso-ir-109" },
    { "ISO-8859-4", "iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 latin4 l4 csisolatin4 "
                    "iso-ir-110" },
    { "ISO-8859-5", "iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 cyrillic "
                    "csisolatincyrillic iso-ir-144" },
    { "ISO-8859-6", "iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 arabic csisolatinarabic "
                    "asmo-708 ecma-114 iso-8859-6-e iso-8859-6-i csiso88596e csiso88596i iso-ir-127" },
    { "ISO-8859-7", "iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 greek greek8 "
                    "csisolatingreek ecma-118 elot_928 sun_eu_greek iso-ir-126" },
    { "ISO-8859-8", "iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 hebrew visual "
                    "csisolatinhebrew iso-8859-8-e iso-8859-8-i csiso88598e csiso88598i logical "
                    "iso-ir-138" },
    { "ISO-8859-10", "iso-8859-10 iso8859-10 iso885910 latin6 l6 csisolatin6 iso-ir-157" },
    { "ISO-8859-13", "iso-8859-13 iso8859-13 iso885913" },
    { "ISO-8859-14", "iso-8859-14 iso8859-14 iso885914" },
    { "ISO-8859-15", "iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 csisolatin9" },
    { "ISO-8859-16", "iso-8859-16" },
    { "CP874", "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620" },
    { "CP1250", "windows-1250 cp1250 x-cp1250" },
    { "CP1251", "windows-1251 cp1251 x-cp1251" },
    { "CP1253", "windows-1253 cp1253 x-cp1253" },
    { "CP1254", "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 "
                "iso_8859-9:1989 latin5 l5 csisolatin5 iso-ir-148" },
    { "CP1255", "windows-1255 cp1255 x-cp1255" },
    { "CP1256", "windows-1256 cp1256 x-cp1256" },
    { "CP1257", "windows-1257 cp1257 x-cp1257" },
    { "CP1258", "windows-1258 cp1258 x-cp1258" },
    { "KOI8-R", "koi8-r koi8 koi koi8_r cskoi8r" },
    { "KOI8-U", "koi8-u koi8-ru" },
    { "CP866", "ibm866 866 cp866 csibm866" },
    { "MACINTOSH", "macintosh mac x-mac-roman csmacintosh" },
    { "MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian" },
    { "GB18030", "gb18030 gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 x-gbk "
                 "iso-ir-58" },
    { "BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5" },
    { "EUC-JP", "euc-jp x-euc-jp cseucpkdfmtjapanese" },
    { "ISO-2022-JP", "iso-2022-jp csiso2022jp" },
    { "CP932", "shift_jis shift-jis sjis x-sjis ms932 ms_kanji windows-31j csshiftjis" },
    { "UHC", "euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 cseuckr csksc56011987 "
             "windows-949 iso-ir-149" },
    { UTF16LE, "utf-16 utf-16le ucs-2 iso-10646-ucs-2 unicode unicodefeff csunicode" },
    { UTF16BE, "utf-16be unicodefffe" },
};
/* clang-format on */

static bool has_label(const char *labels, struct str label)
{
    struct str list = str_of(labels), one;

    while (str_cut(list, ' ', &one, &list)) {
        if (str_eq(one, label))
            return true;
    }
    return str_eq(list, label);
}

static const char *find(struct str label)
{
    char low[LABEL_MAX];

    label = str_trim(label);
    if (!label.n || label.n > sizeof low)
        return UTF8;
    for (size_t i = 0; i < label.n; i++)
        low[i] =
            (char)(label.p[i] >= 'A' && label.p[i] <= 'Z' ? label.p[i] | 0x20 : label.p[i]);
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
        if (has_label(encodings[i].labels, (struct str){ low, label.n }))
            return encodings[i].name;
    }
    return UTF8;
}

/* The charset parameter of "text/html; charset=x"; empty when there is none. */
static struct str parameter(struct str content_type)
{
    struct str one, rest, key, value;

    if (!str_cut(content_type, ';', &one, &rest))
        return (struct str){ 0 };
    for (;;) {
        bool more = str_cut(rest, ';', &one, &rest);

        if (!more)
            one = rest;
        if (str_cut(one, '=', &key, &value) && str_icase_eq(str_trim(key), STR("charset"))) {
            value = str_trim(value);
            if (value.n >= 2 && strchr("\"'", value.p[0]) && value.p[value.n - 1] == value.p[0])
                value = (struct str){ value.p + 1, value.n - 2 };
            return value;
        }
        if (!more)
            return (struct str){ 0 };
    }
}

static const struct mark {
    struct str bytes;
    const char *encoding;
} marks[] = {
    { { "\xef\xbb\xbf", 3 }, UTF8 },
    { { "\xff\xfe", 2 }, UTF16LE },
    { { "\xfe\xff", 2 }, UTF16BE },
};

static const struct mark *mark_of(struct str bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_starts(bytes, marks[i].bytes))
            return &marks[i];
    }
    return NULL;
}

const char *charset_of(struct str bytes, struct str content_type)
{
    struct str label = parameter(content_type);
    const struct mark *mark = mark_of(bytes);

    /* "utf-16" alone leaves the order of bytes to the mark. */
    if (label.n && !(mark && str_icase_eq(label, STR("utf-16")) && mark != marks))
        return find(label);
    if (mark)
        return mark->encoding;
    return find(html_meta_charset(bytes));
}

/* One round of iconv; false when there is nothing more to do. */
static bool convert(iconv_t cd, struct str *in, size_t unit, struct buf *out)
{
    char *from =
        (char *)(uintptr_t)in->p; /* iconv does not write there, whatever its type says */
    size_t left = in->n < STEP ? in->n : STEP, room = left * CHARSET_GROWTH + 16, was = left;
    size_t free_room = room;
    char *to = buf_room(out, room), *at = to;
    bool last = left == in->n;
    int err = 0;

    if (!to)
        return false;
    if (iconv(cd, &from, &left, &at, &free_room) == (size_t)-1)
        err = errno;
    out->n += (size_t)(at - to);
    *in = str_from(*in, was - left);
    /* EINVAL: cut within a character, by the step or by the end of all. */
    if (err == EILSEQ || (err == EINVAL && (last || was == left))) {
        buf_add(out, REPLACEMENT);
        *in = str_from(*in, unit);
        iconv(cd, NULL, NULL, NULL, NULL);
    }
    return in->n > 0 && !out->over;
}

void charset_decode(struct str bytes, const char *encoding, struct buf *out)
{
    const struct mark *mark = mark_of(bytes);
    iconv_t cd = (iconv_t)-1;

    if (mark && strcmp(mark->encoding, encoding) == 0)
        bytes = str_from(bytes, mark->bytes.n);
    if (strcmp(encoding, UTF8) != 0)
        cd = iconv_open(UTF8, encoding);
    if (cd == (iconv_t)-1) { /* UTF-8, or this libc came without its tables */
        utf8_put_lossy(out, bytes);
        return;
    }
    while (bytes.n && convert(cd, &bytes, strncmp(encoding, "UTF-16", 6) == 0 ? 2 : 1, out))
        continue;
    iconv_close(cd);
}
