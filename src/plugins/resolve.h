/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * From configuration, workspace and dependencies to what exists and what may run: registries
 * are walked, manifests loaded, trust and enablement decided, gates evaluated. One resolution
 * is an immutable snapshot with its own arena; a newer one replaces it whole.
 *
 *   config.toml ─┐
 *   workspace ───┼─> plugins loaded ─> enablement ──> gates of plugins ──┬─> gates of parts ─>
 *   deps (pm) ───┤   registries,       disable, use,   (async: shell,    │   servers, groups,
 *   offers (pm) ─┘   workspace,        auto-enable,     custom)          │   subcommands
 *                    packages          dormant, trust   ^                │
 *                                                       └─ packages <─ gates of edges (PL-10)
 */
#ifndef SYM_PLUGINS_RESOLVE_H
#define SYM_PLUGINS_RESOLVE_H

#include "plugins/config.h"
#include "plugins/installation.h"
#include "plugins/package_source.h"
#include "plugins/workspace.h"

struct loop; /* loop/loop.h */

/* PL-38 */
enum plugin_state {
    PLUGIN_ACTIVE,
    PLUGIN_DORMANT,
    PLUGIN_CANDIDATE, /* embedded in a package, waiting for consent */
    PLUGIN_DECLINED,  /* [plugins] disable */
    PLUGIN_GATED,     /* its gate does not hold here */
    PLUGIN_ERROR,
};
const char *plugin_state_name(enum plugin_state s);

struct plugin_status {
    const struct plugin *plugin; /* NULL for a manifest that did not load */
    struct str name;             /* of a package: its name there, whatever the manifest says */
    struct str registry;         /* as struct plugin's */
    enum plugin_state state;
    /* For people: why it is active ("registry x", "workspace root", "workspace member",
     * "[plugins] use", "[plugins] auto-enable", "chained from y"), or why not and what to do.
     */
    struct str reason;
    bool trusted; /* PL-32: what runs a program may run; never of a candidate */
    const struct plugin *chained_from; /* the plugin whose edge brought it, else NULL (PL-10) */
};

/* A server whose plugin gate and entry gate hold, ready to start: paths absolute, variables
 * expanded, limits clamped (MS-10..15). */
struct active_server {
    struct str name;
    const struct plugin *plugin;
    const struct server_def *def;
    struct str path;       /* what is executed, where argv[0] is only a name; else empty */
    struct strs argv;      /* argv[0] resolved to an absolute path where it was found */
    struct key_values env; /* the entry's own, expanded */
    struct str cwd;        /* absolute */
    int startup_timeout_ms, tool_call_timeout_ms;
    /* A remote one: url is not empty, and path, argv and env are. What the connection needs of
     * the configuration is here too, so that a change of it is a change of the server. */
    struct str url;
    bool sse;                  /* transport = "sse" */
    struct key_values headers; /* expanded */
    bool private_addresses;    /* may be reached: not for a dependency's plugin (MS-63) */
    struct str proxy_url, ca_file;
    /* What has to be there before it starts (MS-59): pm/acquire.h. With plan.runs the first
     * `nprogram` words of argv are the installation's: what was there when this was resolved,
     * else its name alone. What is acquired takes their place. */
    struct install_plan plan;
    size_t nprogram;
};

/* Skills of an active plugin whose group gate holds. Skill gates come after loading (PL-23). */
struct active_group {
    const struct plugin *plugin;
    const struct skill_group *group;
    struct str dir; /* canonical, beneath the plugin's; it was there. Empty with git */
    struct str git; /* as written */
    bool trusted;   /* the plugin's: gates of its skills may run programs */
};

/* A subcommand of an active plugin whose gate holds, sorted by name; several plugins may have
 * one name, which is an error where it is called (PL-14). */
struct active_subcommand {
    const struct plugin *plugin;
    const struct subcommand *def;
    bool trusted; /* false: it must not run (PL-32) */
};

struct resolution {
    struct arena arena;
    struct config config;
    struct workspace workspace;
    struct deps deps;
    struct {
        struct active_server *v;
        size_t n, cap;
    } servers; /* sorted bytewise by name, names unique */
    struct {
        struct active_group *v;
        size_t n, cap;
    } groups; /* in the order of their plugins */
    struct {
        struct active_subcommand *v;
        size_t n, cap;
    } subcommands;
    struct strs problems; /* finished problem lines, without brackets ("x: reason") */
    struct strs remarks;  /* of the problems, those that do not stand under every reply: they
                             are as true before and after it, and no server lacks for them */
    struct strs warnings; /* for people only: nothing is missing because of them */
    struct {
        struct plugin_status *v;
        size_t n, cap;
    } plugins; /* in the order of PL-36, then what could not be loaded */
    struct {
        struct watched *v;
        size_t n, cap;
    } watch;
    bool pm_degraded; /* some package manager failed: do not cache as the truth */
};

struct resolve_opts {
    const struct dirs *dirs;
    const char *start_dir; /* cwd or --workspace */
    int shell_timeout_ms;  /* 0: 10 s (PL-22) */
    bool read_only_cache;  /* do not write the predicate cache */
    /* Servers, groups and subcommands are left out, and no program runs for their gates: for
     * who asks for plugins alone, as a hook does at each call. */
    bool plugins_only;
    /* Where packages come from; NULL: none are looked for. Copied; its ctx must live until
     * `done` or resolve_cancel(). May be given later, with resolve_packages(). */
    const struct package_source *packages;
};

#define RESOLVE_MAX_EDGES 1000 /* [[plugins]] edges followed in one resolution (PL-10) */

/* What the caller's package managers found; copied. */
struct found_deps {
    const struct dep *v;
    size_t n;
    const struct str *watch; /* more paths to watch (PM-2) */
    size_t nwatch;
    const struct str *problems; /* warnings of package managers */
    size_t nproblems;
    bool degraded;
};

struct resolver;
/*
 * Usually called through pm/resolving.h, which brings the package managers along.
 *
 * Two steps, because package managers stand above this folder: resolve_begin() reads config and
 * workspace at once (no child process, no network) and tells the caller; resolve_finish() takes
 * the dependencies and calls `done` when all gates are evaluated, never from inside. The
 * resolution is owned by the receiver: resolution_free(). The resolver itself, and what
 * resolve_config() and its like returned, is gone once `done` is called. The only processes
 * ever started are those of shell() and custom predicates.
 */
struct resolver *resolve_begin(struct loop *l, const struct resolve_opts *o, struct error *e);
const struct config *resolve_config(const struct resolver *r);
const struct workspace *resolve_workspace(const struct resolver *r);
/* As resolve_opts.packages, for a source that needs the configuration. Before resolve_finish().
 */
void resolve_packages(struct resolver *r, const struct package_source *packages);
void resolve_finish(struct resolver *r, const struct found_deps *deps,
                    void (*done)(void *ctx, struct resolution *res), void *ctx);
void resolve_cancel(struct resolver *r); /* frees; done is not called */
void resolution_free(struct resolution *res);

/* True when a watched path changed since (mtime, size, inode, existence). */
bool resolution_stale(const struct resolution *res);

/* The custom predicates of every enabled plugin (whether its own gate holds or not), for gates
 * that are evaluated after the resolution: those of skills and hooks (PL-23). */
struct evaluator; /* plugins/predicate_eval.h */
void resolution_define(const struct resolution *res, struct evaluator *ev);

#endif
