/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcurl, opened on first use. Only for http*.c. */
#ifndef SYM_LOOP_HTTP_LIB_H
#define SYM_LOOP_HTTP_LIB_H

#define CURL_DISABLE_TYPECHECK /* its checks wrap the functions, which are pointers here */
#include <curl/curl.h>

#include "base/error.h"

#define HTTP_LIB_FUNCTIONS(X) \
    X(easy_cleanup)           \
    X(easy_getinfo)           \
    X(easy_init)              \
    X(easy_pause)             \
    X(easy_setopt)            \
    X(easy_strerror)          \
    X(free)                   \
    X(global_init)            \
    X(multi_add_handle)       \
    X(multi_assign)           \
    X(multi_cleanup)          \
    X(multi_info_read)        \
    X(multi_init)             \
    X(multi_remove_handle)    \
    X(multi_setopt)           \
    X(multi_socket_action)    \
    X(share_cleanup)          \
    X(share_init)             \
    X(share_setopt)           \
    X(slist_append)           \
    X(slist_free_all)         \
    X(url)                    \
    X(url_cleanup)            \
    X(url_get)                \
    X(url_set)                \
    X(url_strerror)           \
    X(version_info)

struct http_lib {
#define HTTP_LIB_MEMBER(name) __typeof__(curl_##name) *name;
    HTTP_LIB_FUNCTIONS(HTTP_LIB_MEMBER)
#undef HTTP_LIB_MEMBER
};

/* The same one every time, never closed; NULL with ERR_NOT_FOUND. On the loop's thread only. */
const struct http_lib *http_lib(struct error *e);

#endif
