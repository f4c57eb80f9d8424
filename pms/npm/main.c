/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * symposium-pm-npm: what a JavaScript workspace depends on, and the plugins that its packages
 * carry, for Symposium. A package manager in the sense of docs/reference/package-managers.md.
 * It reads package.json, npm's lockfiles and node_modules; npm itself runs only for search and
 * for a fetch that may use the network (PM-18, PM-21), and scripts of packages never.
 */
#include "common/list.h"
#include "common/serve.h"
#include "direct.h"
#include "offers.h"
#include "registry.h"
#include "workspace.h"

static void *open_lister(const struct session *s)
{
    return lister_new(&npm_lister, s->workspace);
}

static void close_lister(void *state)
{
    lister_free(state);
}

static void on_list_deps(struct request *r)
{
    struct error e = { 0 };
    struct str json;

    if (lister_list(r->state, &json, &e))
        request_reply(r, json);
    else
        request_fail(r, &e);
}

static void put_workspace(struct jw *w, const struct npm_workspace *ws)
{
    jw_key(w, "workspace");
    jw_obj(w);
    jw_kstrz(w, "root", ws->root);
    jw_key(w, "members");
    jw_arr(w);
    for (size_t i = 1; i < ws->members.n; i++) /* the first is the root */
        jw_strz(w, ws->members.v[i]->dir);
    jw_end(w);
    jw_end(w);
}

/* Manifests further down (PM-22) are workspaces of their own, and none is said of the root. */
static void on_workspace_info(struct request *r)
{
    auto_buf json = BUF(LIST_MAX_JSON);
    struct inputs in = { .arena = &r->arena };
    struct jw w = jw_to(&json);
    struct error e = { 0 };
    struct npm_workspace ws;

    jw_obj(&w);
    if (r->session->workspace && workspace_read(&ws, &in, r->session->workspace, &e)) {
        put_workspace(&w, &ws);
        workspace_free(&ws);
    }
    jw_end(&w);
    if ((e.kind == ERR_NONE || e.kind == ERR_NOT_FOUND) && buf_ok(&json, &e))
        request_reply(r, buf_str(&json));
    else
        request_fail(r, &e);
}

/* Nothing is kept that could be older than what it came from. */
static void on_refresh(struct request *r)
{
    request_reply(r, STR("{\"refreshed\":false}"));
}

static const struct method methods[] = {
    { "list_deps", on_list_deps },
    { "workspace_info", on_workspace_info },
    { "active_plugins", on_active_plugins },
    { "search", on_search },
    { "load_plugin", on_load_plugin },
    { "fetch", on_fetch },
    { "refresh", on_refresh },
    { NULL, NULL },
};

static const char help[] =
    "usage: symposium-pm-npm [--version | --help]\n\n"
    "The npm package manager of Symposium, started by it. Speaks newline-delimited\n"
    "JSON-RPC on stdin and stdout:\n\n"
    "    {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
    "\"params\":{\"protocol_version\":1,\"workspace\":\"/path\"}}\n"
    "    {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"list_deps\"}\n";

static const struct pms_program program = {
    .name = "npm",
    .help = help,
    .capabilities = (const char *const[]){ "search", "list_deps", "workspace_info", NULL },
    .methods = methods,
    .open = open_lister,
    .close = close_lister,
};

int main(int argc, char **argv)
{
    return pms_main(&program, argc, argv);
}
