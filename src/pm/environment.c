/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/environment.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

/* A name that ends in '*' stands for all that begin so. */
static const struct str allowed[] = {
    STR("PATH"),
    STR("HOME"),
    STR("USER"),
    STR("LANG"),
    STR("LC_*"),
    STR("TMPDIR"),
    STR("XDG_*"),
    STR("CARGO_*"),
    STR("RUSTUP_*"),
    STR("npm_config_*"),
    STR("NPM_CONFIG_*"),
    STR("NODE_EXTRA_CA_CERTS"),
    STR("SSL_CERT_FILE"),
    STR("SSL_CERT_DIR"),
    STR("SSH_AUTH_SOCK"),
    STR("GIT_SSH_COMMAND"),
    STR("SYMPOSIUM_CARGO"),
    STR("http_proxy"),
    STR("https_proxy"),
    STR("ftp_proxy"),
    STR("all_proxy"),
    STR("no_proxy"),
    STR("HTTP_PROXY"),
    STR("HTTPS_PROXY"),
    STR("FTP_PROXY"),
    STR("ALL_PROXY"),
    STR("NO_PROXY"),
};

static bool allows(struct str pattern, struct str name)
{
    if (pattern.n && pattern.p[pattern.n - 1] == '*')
        return str_starts(name, str_upto(pattern, pattern.n - 1));
    return str_eq(pattern, name);
}

static bool is_passed(struct str name, const struct str *pass, size_t npass)
{
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        if (allows(allowed[i], name))
            return true;
    for (size_t i = 0; i < npass; i++)
        if (str_eq(pass[i], name))
            return true;
    return false;
}

char **environment_new(const struct str *pass, size_t npass)
{
    struct {
        char **v;
        size_t n, cap;
    } list = { 0 };

    for (char **at = environ; at && *at; at++) {
        struct str name, value;

        if (str_cut(str_of(*at), '=', &name, &value) && is_passed(name, pass, npass))
            VEC_PUSH(&list) = mem_strdup(*at);
    }
    VEC_PUSH(&list) = NULL;
    return list.v;
}

void environment_free(char **env)
{
    for (char **at = env; at && *at; at++)
        free(*at);
    free(env);
}
