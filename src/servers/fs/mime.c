/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fs/mime.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/path.h"

struct mime {
    const char *extension, *type;
};

/* By extension; looked up by halves. */
/* clang-format off */
static const struct mime types[] = {
    { "3gp", "video/3gpp" }, { "7z", "application/x-7z-compressed" }, { "aac", "audio/aac" },
    { "aif", "audio/aiff" }, { "aiff", "audio/aiff" }, { "apng", "image/apng" },
    { "atom", "application/atom+xml" }, { "avi", "video/x-msvideo" }, { "avif", "image/avif" },
    { "bmp", "image/bmp" }, { "bz2", "application/x-bzip2" }, { "c", "text/x-c" },
    { "cc", "text/x-c" }, { "cjs", "text/javascript" }, { "conf", "text/plain" },
    { "cpp", "text/x-c" }, { "css", "text/css" }, { "csv", "text/csv" },
    { "doc", "application/msword" },
    { "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
    { "eot", "application/vnd.ms-fontobject" }, { "epub", "application/epub+zip" },
    { "flac", "audio/flac" }, { "flv", "video/x-flv" }, { "gif", "image/gif" },
    { "go", "text/x-go" }, { "gz", "application/gzip" }, { "h", "text/x-c" },
    { "heic", "image/heic" }, { "heif", "image/heif" }, { "hpp", "text/x-c" },
    { "htm", "text/html" }, { "html", "text/html" }, { "ico", "image/vnd.microsoft.icon" },
    { "ics", "text/calendar" }, { "ini", "text/plain" }, { "jar", "application/java-archive" },
    { "java", "text/x-java" }, { "jfif", "image/jpeg" }, { "jpe", "image/jpeg" },
    { "jpeg", "image/jpeg" }, { "jpg", "image/jpeg" }, { "js", "text/javascript" },
    { "json", "application/json" }, { "jsonl", "application/jsonl" },
    { "jxl", "image/jxl" }, { "log", "text/plain" }, { "m4a", "audio/mp4" },
    { "m4v", "video/x-m4v" }, { "markdown", "text/markdown" }, { "md", "text/markdown" },
    { "mid", "audio/midi" }, { "midi", "audio/midi" }, { "mjs", "text/javascript" },
    { "mkv", "video/x-matroska" }, { "mov", "video/quicktime" }, { "mp3", "audio/mpeg" },
    { "mp4", "video/mp4" }, { "mpeg", "video/mpeg" }, { "mpg", "video/mpeg" },
    { "odp", "application/vnd.oasis.opendocument.presentation" },
    { "ods", "application/vnd.oasis.opendocument.spreadsheet" },
    { "odt", "application/vnd.oasis.opendocument.text" }, { "oga", "audio/ogg" },
    { "ogg", "audio/ogg" }, { "ogv", "video/ogg" }, { "opus", "audio/ogg" },
    { "otf", "font/otf" }, { "pdf", "application/pdf" }, { "php", "application/x-httpd-php" },
    { "png", "image/png" }, { "ppt", "application/vnd.ms-powerpoint" },
    { "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation" },
    { "ps", "application/postscript" }, { "py", "text/x-python" },
    { "rar", "application/vnd.rar" }, { "rb", "text/x-ruby" }, { "rs", "text/x-rust" },
    { "rss", "application/rss+xml" }, { "rtf", "application/rtf" },
    { "sh", "application/x-sh" },
    { "sql", "application/sql" }, { "sqlite", "application/vnd.sqlite3" },
    { "svg", "image/svg+xml" }, { "tar", "application/x-tar" }, { "tgz", "application/gzip" },
    { "tif", "image/tiff" }, { "tiff", "image/tiff" }, { "toml", "application/toml" },
    { "ts", "text/x-typescript" }, { "tsv", "text/tab-separated-values" },
    { "ttf", "font/ttf" }, { "txt", "text/plain" }, { "wasm", "application/wasm" },
    { "wav", "audio/wav" }, { "weba", "audio/webm" }, { "webm", "video/webm" },
    { "webp", "image/webp" }, { "wmv", "video/x-ms-wmv" }, { "woff", "font/woff" },
    { "woff2", "font/woff2" }, { "xhtml", "application/xhtml+xml" },
    { "xls", "application/vnd.ms-excel" },
    { "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
    { "xml", "application/xml" }, { "xz", "application/x-xz" }, { "yaml", "application/yaml" },
    { "yml", "application/yaml" }, { "zip", "application/zip" }, { "zst", "application/zstd" },
};
/* clang-format on */

static int compare(const void *key, const void *member)
{
    return strcasecmp(key, ((const struct mime *)member)->extension);
}

const char *mime_of(const char *path)
{
    const char *name = path_base(path), *dot = strrchr(name, '.');
    const struct mime *found = NULL;

    if (dot && dot > name)
        found = bsearch(dot + 1, types, ARRAY_LEN(types), sizeof *types, compare);
    return found ? found->type : "application/octet-stream";
}
