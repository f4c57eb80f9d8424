/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/http_lib.h"

#include <dlfcn.h>

#define LIB_FILE    "libcurl.so.4"
#define LIB_VERSION 0x075800 /* 7.88: CURLU_PUNYCODE */

#ifdef easy_setopt
#error "curl's macros must not replace the members of struct http_lib"
#endif

static bool look_up(void *lib, struct http_lib *to, struct error *e)
{
#define LOOK_UP(name)                                                                  \
    /* POSIX wants a data pointer to become a function pointer here; C has no word for \
     * it. */                                                                          \
    *(void **)&to->name = dlsym(lib, "curl_" #name);                                   \
    if (!to->name)                                                                     \
        return error_set(e, ERR_NOT_FOUND, "%s has no curl_%s: it is too old", LIB_FILE, #name);
    HTTP_LIB_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}

static bool open_lib(struct http_lib *to, struct error *e)
{
    void *lib = dlopen(LIB_FILE, RTLD_NOW | RTLD_LOCAL);
    const curl_version_info_data *v;

    if (!lib)
        return error_set(
            e, ERR_NOT_FOUND,
            "libcurl 7.88 or newer is needed for HTTP (Debian's package libcurl4): %s",
            dlerror());
    if (!look_up(lib, to, e))
        return false;
    v = to->version_info(CURLVERSION_NOW);
    if (v->version_num < LIB_VERSION)
        return error_set(e, ERR_NOT_FOUND, "libcurl is %s, 7.88 or newer is needed for HTTP",
                         v->version);
    if (to->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(e, ERR_NOT_FOUND, "libcurl %s does not start", v->version);
    return true;
}

const struct http_lib *http_lib(struct error *e)
{
    static struct http_lib lib;
    static bool is_open;

    if (!is_open && !open_lib(&lib, e))
        return NULL;
    is_open = true;
    return &lib;
}
