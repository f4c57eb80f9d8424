/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The agents that symposium knows, as one table (docs/spec/plugins.md SY-1, SY-3, SY-9,
 * docs/reference/agents.md): how each is recognised, which file it reads, where in that file
 * our entry stands and what it looks like.
 *
 * Nothing here reads the environment: paths come from a `struct sync_env`, which a test fills
 * by hand and a command with sync_env_read().
 */
#ifndef SYM_SYNC_AGENT_H
#define SYM_SYNC_AGENT_H

#include "base/arena.h"
#include "base/error.h"
#include "plugins/plugin.h"

/* Absolute paths; NULL: not set. */
struct sync_env {
    const char *home; /* never NULL */
    const char *root; /* of the workspace, canonical; NULL: none, and no project files */
    const char *claude_config_dir, *codex_home, *xdg_config_home;
    const char *cline_data_dir, *cline_mcp_file; /* Cline's own: the latter wins */
    const char *path;                            /* PATH */
    const char *self;                            /* this very program */
    struct key_values carried; /* variables of ours that agents must pass on (SY-3) */
};

/* From the process: HOME, XDG_CONFIG_HOME, the agents' own CLAUDE_CONFIG_DIR, CODEX_HOME,
 * CLINE_DIR, CLINE_DATA_DIR and CLINE_MCP_SETTINGS_PATH, PATH and /proc/self/exe; carried are
 * SYMPOSIUM_HOME and XDG_{CONFIG,CACHE,STATE}_HOME. `root` may be NULL. ERR_NOT_FOUND without a
 * home directory, also when it is named and not there. */
bool sync_env_read(struct sync_env *ret, struct arena *a, const char *root, struct error *e);

enum sync_format { SYNC_JSON, SYNC_TOML, SYNC_YAML }; /* JSON with comments where they are */

/* Where a path begins. */
enum sync_base {
    BASE_NONE, /* there is no such file */
    BASE_ROOT,
    BASE_HOME,
    BASE_CONFIG,      /* XDG_CONFIG_HOME, or ~/.config */
    BASE_CLAUDE,      /* CLAUDE_CONFIG_DIR, or ~/.claude */
    BASE_CLAUDE_FILE, /* CLAUDE_CONFIG_DIR, or ~: .claude.json does not lie in ~/.claude */
    BASE_CODEX,       /* CODEX_HOME, or ~/.codex */
    BASE_CLINE,       /* CLINE_DATA_DIR, or CLINE_DIR/data, or ~/.cline/data */
};

struct sync_path {
    enum sync_base base;
    const char *rel;
};

/* One member of our entry. */
enum sync_member {
    MEMBER_FIXED,        /* `text` */
    MEMBER_COMMAND,      /* "symposium" */
    MEMBER_ARGS,         /* ["mcp-serve"] */
    MEMBER_COMMAND_LINE, /* both in one array */
    MEMBER_ENV,          /* only when variables are carried; each is a member of its own */
    MEMBER_TRUE,
    MEMBER_TIMEOUT, /* seconds: sync_job.tool_timeout_secs */
};

struct sync_shape {
    const char *key;
    enum sync_member what;
    const char *text;
    bool once; /* put in with the entry and never looked at again: it is the user's then */
};

#define SHAPE_MAX 6

/* How our hooks stand in an agent's file (HK-1). A handler is what holds the command, a group
 * an object {"matcher":..,"hooks":[handlers]}. */
enum hooks_form {
    HOOKS_NONE,
    HOOKS_GROUPED, /* <container>.<Event>[]: groups */
    HOOKS_FLAT,    /* <container>.<event>[]: handlers */
    HOOKS_MIXED,   /* groups of the events about tools, handlers of others */
};

/* A member of the root that must be there, too. */
struct hooks_also {
    const char *key, *json;
    bool in_project; /* only in the project's file */
};

#define HOOKS_ALSO_MAX 4

/* Members but for the command are put in with an entry and are the user's then. NULL, 0: none.
 */
struct agent_hooks {
    enum hooks_form form;
    struct sync_path project, user;
    const char *container; /* key of the root */
    const char *command;   /* the key of a handler's command */
    const char *type, *name;
    const char *matcher;       /* of a tool's name */
    const char *other_matcher; /* of events that are about no tool; NULL: the same */
    const char *timeout_key;
    int timeout;
    struct hooks_also also[HOOKS_ALSO_MAX]; /* ends with key NULL, or full */
    const char *note;                       /* said when they are registered */
};

/* A file for MCP servers alone: the agent may refuse it without the container, so that stays,
 * empty or not. */
#define MCP_ONLY_PROJECT 1u
#define MCP_ONLY_USER    2u
#define MCP_ONLY         (MCP_ONLY_PROJECT | MCP_ONLY_USER)

struct agent {
    const char *name;  /* in config.toml and on the command line */
    const char *title; /* for people */
    struct sync_path detect;
    struct sync_path project, user; /* of the MCP entry */
    const char *other_name; /* of both files: the one of that name is taken where it exists */
    enum sync_format format;
    const char *container; /* key of the root, whose member "symposium" is our entry */
    struct sync_shape shape[SHAPE_MAX]; /* ends with key NULL, or full */
    const char *const *args;            /* ends with NULL */
    bool lock_dir;                      /* of the user file (security.md 3.6) */
    unsigned mcp_only;                  /* MCP_ONLY_*: of which of its files that is true */
    /* Directories of skills (SY-12): the one in a project, and the user's, which is never
     * written. The same directory may be several agents'. */
    struct sync_path skills, user_skills;
    struct agent_hooks hooks; /* its events: plugins/hook_wire.h */
    const char *note;         /* said when its entry is put in; NULL */
    const char *project_note; /* the same of a project's file; NULL */
};

/* Where entries of ours once stood and no agent reads them (SY-9). */
struct former_place {
    const char *agent;
    struct sync_path path;
    enum sync_format format;
    const char *container; /* NULL: the root */
};

#define SYNC_ENTRY "symposium"

extern const struct agent sync_agents[];
extern const size_t sync_agents_n;
extern const struct former_place sync_former_places[];
extern const size_t sync_former_places_n;

/* A program of ours by its file's name: symposium, or cargo-agents, as it was called before. */
bool sync_is_ours(const char *program);

/* NULL when there is none of that name. */
const struct agent *agent_find(struct str name);
/* "claude, codex, ...", for messages. */
const char *agent_names(struct arena *a);

/* NULL for BASE_NONE, and for BASE_ROOT without a workspace. */
const char *sync_path_of(struct arena *a, const struct sync_env *env, struct sync_path p);

/* Its user directory or file exists. */
bool agent_detected(const struct agent *g, const struct sync_env *env);

/* The file of its MCP entry. An agent that has none in the project (or without a workspace)
 * gets the user file, and *ret_instead tells it. */
const char *agent_mcp_file(struct arena *a, const struct agent *g, const struct sync_env *env,
                           bool project, bool *ret_instead);

/* The file of the agent's other name beside `path`, whether it exists or not; NULL: it knows no
 * other name. */
const char *agent_other_file(struct arena *a, const struct agent *g, const char *path);

#endif
