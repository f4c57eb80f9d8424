/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One agent's definition (servers.md AG-2 to AG-4): a Markdown file with front matter, or a
 * TOML file, of our own kind or a vendor's. Both become JSON first, and one table of fields
 * reads that. No I/O.
 */
#ifndef SYM_SERVERS_AGENTS_DEFINITION_H
#define SYM_SERVERS_AGENTS_DEFINITION_H

#include "plugins/plugin.h"

#define AGENT_FILE_MAX     ((size_t)1 << 20)
#define AGENT_NAME_MAX     64
#define AGENT_TURNS        32 /* requests to the provider for one message of the user */
#define AGENT_TURNS_MAX    1000
#define AGENT_TOKENS       32000 /* max_tokens, messages API only */
#define AGENT_TOKENS_MAX   200000
#define AGENT_SERVERS_MAX  16  /* AG-26 */
#define AGENT_LIST_MAX     256 /* entries of one list: tools, skills, arguments */
#define AGENT_WARNINGS_MAX 32  /* about one file */

/* Whose folder the file lies in: which spelling it may have. */
enum agent_vendor { VENDOR_OURS, VENDOR_CLAUDE, VENDOR_CODEX, VENDOR_OPENCODE };

enum wire_api { WIRE_RESPONSES, WIRE_MESSAGES, WIRE_CHAT };

/* A server the agent gets its tools from; exactly one of the four is given. */
struct agent_server {
    struct str name;
    struct str builtin; /* one of ours, started on the workspace */
    bool whole;         /* builtin: named as a server, so all its tools are meant */
    bool active;        /* one of the active plugin set, by its name */
    struct str command; /* stdio */
    struct str url;     /* Streamable HTTP, or the older SSE */
    bool sse;
    struct strs args;
    struct key_values env, headers; /* values may hold ${NAME} */
};

struct agent_servers {
    struct agent_server *v;
    size_t n, cap;
};

struct agent_def {
    struct str name, description, instructions, model;
    struct str base_url; /* without a slash at its end */
    struct str env_key;  /* the variable of the credential; empty: none, loopback only */
    bool own_credential; /* it, or where it goes, is not the provider's default */
    enum wire_api wire;
    struct str effort;      /* empty: not sent */
    struct str temperature; /* a JSON number; empty: not sent */
    int max_turns, max_tokens;
    bool read_only;
    bool has_allow;          /* an empty list allows nothing */
    struct strs allow, deny; /* patterns, see toolset.h */
    struct strs skills;
    struct agent_servers servers;
    const char *file;
    struct str sha256; /* of the text, in hex; the roster's */
};

struct agent_settings {
    const struct key_values *models; /* [agents.models] */
    bool no_builtins;                /* [agents] builtin-servers = false */
};

struct agent_source {
    enum agent_vendor vendor;
    bool toml;
    const char *file; /* its path; the stem is a name for OpenCode */
    struct str text;
};

/*
 * Everything lives in the arena. ERR_INVALID says what is wrong and what to write instead.
 * `ignored`, when it fails: the file is none of ours on purpose (OpenCode's primary agents, one
 * that is disabled), nobody needs to hear of it. `warnings`: what is odd about one that loads.
 */
bool agent_parse(struct arena *a, const struct agent_source *src,
                 const struct agent_settings *settings, struct agent_def *ret,
                 struct strs *warnings, bool *ignored, struct error *e);

const char *wire_api_name(enum wire_api w);

/* Whether a run takes a person's consent (AG-28): the file says which programs or servers to
 * reach, a plugin's included, has a shell, or says which variable goes where as a
 * credential. */
bool agent_asks(const struct agent_def *d);

/* "localhost", 127.0.0.0/8, ::1 as the host of a URL. */
bool agent_url_is_loopback(struct str url);

#endif
