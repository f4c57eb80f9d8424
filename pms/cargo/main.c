/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * symposium-pm-cargo: what a Rust workspace depends on, and the plugins that its crates embed,
 * for Symposium. It reads Cargo.toml, Cargo.lock and cargo's own caches; only where a request
 * allows the network it runs cargo.
 */
#include "common/serve.h"
#include "methods.h"

static const char help[] =
    "usage: symposium-pm-cargo [--version | --help]\n\n"
    "The cargo package manager of Symposium, started by it. Speaks newline-delimited\n"
    "JSON-RPC on stdin and stdout:\n\n"
    "    {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
    "\"params\":{\"protocol_version\":1,\"workspace\":\"/path\"}}\n"
    "    {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"list_deps\"}\n";

static const struct pms_program program = {
    .name = "cargo",
    .help = help,
    .capabilities = (const char *const[]){ "search", "list_deps", NULL },
    .methods = cargo_methods,
    .open = cargo_open,
    .close = cargo_close,
};

int main(int argc, char **argv)
{
    return pms_main(&program, argc, argv);
}
