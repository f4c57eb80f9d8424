/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a plugin is, as data: the parsed and validated manifest (docs/spec/plugins.md sections 1
 * and 2), with every table, those that act in a later stage included. All memory belongs to the
 * arena it was loaded into; nothing here is changed after loading.
 */
#ifndef SYM_PLUGINS_PLUGIN_H
#define SYM_PLUGINS_PLUGIN_H

#include "plugins/strs.h"

struct predicate; /* plugins/predicate.h: a parsed tree */

struct key_value {
    struct str key, value;
};

struct key_values {
    struct key_value *v;
    size_t n, cap;
};

/* depends-on and predicates of one table, lowered to one ANDed list (PL-8, PL-21). Empty:
 * holds. */
struct gate {
    const struct predicate **v;
    size_t n, cap;
};

enum plugin_origin {
    ORIGIN_REGISTRY,  /* user-plugins or [[registry]] */
    ORIGIN_WORKSPACE, /* workspace root or a member directory */
    ORIGIN_PACKAGE,   /* embedded in a dependency */
};

enum server_transport { TRANSPORT_STDIO, TRANSPORT_HTTP, TRANSPORT_SSE };

/* [[mcp_servers]], meta-server.md 1.1. Strings are as written: ${VAR} is expanded by
 * server_expand(). */
struct server_def {
    struct str name;
    struct gate gate;
    struct str command, installation, builtin, url; /* exactly one is not empty */
    enum server_transport transport;
    struct strs args;
    struct key_values env, headers;
    struct str cwd; /* empty: workspace root */
    struct strs requirements;
    int startup_timeout_secs, tool_call_timeout_secs; /* 0: the default of [mcp] */
    bool has_enabled_tools;                           /* an empty allow-list exposes nothing */
    struct strs enabled_tools, disabled_tools;
    unsigned line; /* in the manifest; 0 when unknown */
};

struct skill_group {
    struct gate gate;
    struct str path, git; /* exactly one */
};

struct plugin_edge { /* [[plugins]], PL-10 */
    struct gate gate;
    struct str pm, name, version; /* version: a requirement as Cargo's; empty: any */
};

enum install_source { INSTALL_NONE, INSTALL_CARGO, INSTALL_GITHUB };

struct installation { /* PL-11 */
    struct str name;
    enum install_source source;
    struct str crate, version, git, url;
    bool global;
    struct strs requirements, install_commands, args;
    struct str executable, script;
};

enum hook_event {
    HOOK_PRE_TOOL_USE,
    HOOK_POST_TOOL_USE,
    HOOK_USER_PROMPT_SUBMIT,
    HOOK_SESSION_START,
    HOOK_STOP
};

struct hook { /* PL-13 */
    struct str name;
    enum hook_event event;
    struct str command; /* name of an installation, also for inline tables (PL-12) */
    struct str agent, matcher, format;
    struct strs requirements, args;
    struct str executable, script;
    struct gate gate;
};

struct subcommand { /* PL-14 */
    struct str name, description, command;
    bool for_humans;
    struct gate gate;
};

struct custom_predicate {     /* PL-15 */
    struct str name, command; /* command: installation name */
    struct strs args;
    const struct plugin *owner;
};

struct plugin {
    struct str name;
    enum plugin_origin origin;
    struct str registry; /* registry name; "workspace" for workspace plugins; the pm's name for
                            packages */
    struct str subpath;  /* key below the registry's root (PL-3) */
    struct str package, version; /* ORIGIN_PACKAGE: what it is embedded in, version exact */
    struct str dir;              /* absolute directory of the manifest */
    struct str manifest_path;    /* empty: an all-defaults plugin (PL-5) */
    struct str manifest_sha256;  /* hex, for consent (PL-32); empty without a file */
    struct gate gate;
    bool default_skills;      /* [defaults] skills */
    bool standalone_skill;    /* a SKILL.md alone (PL-6) */
    bool mentions_dependency; /* PL-24: false makes a registry plugin dormant */
    struct {
        struct skill_group *v;
        size_t n, cap;
    } skills;
    struct {
        struct installation *v;
        size_t n, cap;
    } installations;
    struct {
        struct hook *v;
        size_t n, cap;
    } hooks;
    struct {
        struct server_def *v;
        size_t n, cap;
    } servers;
    struct {
        struct subcommand *v;
        size_t n, cap;
    } subcommands;
    struct {
        struct custom_predicate *v;
        size_t n, cap;
    } predicates;
    struct {
        struct plugin_edge *v;
        size_t n, cap;
    } edges;
};

struct plugins {
    const struct plugin **v;
    size_t n, cap;
};

/* One direct dependency, as a package manager lists it (PM-15). */
struct dep {
    struct str pm, name, version; /* version may be "*" or unparsable */
};

struct deps {
    struct dep *v;
    size_t n, cap;
};

#endif
