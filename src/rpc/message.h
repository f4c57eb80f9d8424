/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JSON-RPC 2.0 messages as views of a parsed document. */
#ifndef SYM_RPC_MESSAGE_H
#define SYM_RPC_MESSAGE_H

#include "rpc/id.h"
#include "text/json.h"

/* Codes of the JSON-RPC 2.0 specification, section 5.1. */
enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
};

/* A document shared by the messages read from it; the last reference frees it. */
struct rpc_doc {
    struct json json;
    int refs;
};
struct rpc_doc *rpc_doc_parse(
    struct str text, struct error *e); /* one reference, the caller's; NULL: as json_parse */
struct rpc_doc *rpc_doc_ref(struct rpc_doc *d);
void rpc_doc_unref(struct rpc_doc *d);

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESULT, RPC_ERROR };

struct rpc_msg {
    enum rpc_kind kind;
    struct rpc_doc *doc; /* borrowed: take a reference to keep the views below */
    struct str
        id; /* JSON text: a number as received, a string re-encoded; empty for a notification */
    struct str method;  /* request, notification */
    yyjson_val *params; /* NULL when absent */
    yyjson_val *result; /* RPC_RESULT */
    int64_t code;       /* RPC_ERROR */
    struct str message;
    yyjson_val *data;
    char *id_owned; /* backing of a string id, freed by rpc_msg_done() */
};

/*
 * Checks one value against the JSON-RPC shape: "jsonrpc" is "2.0", the id a string or an
 * integer (1.0 is one; null, fractions, other types are refused), exactly one of method, result
 * and error, params an object or array, an error's code an integer and its message a string.
 * ERR_PROTOCOL says which rule is broken; ret->id is set even then when the id itself is good,
 * so that the sender can be answered. rpc_msg_done() ends *ret in both cases.
 */
bool rpc_msg_read(struct rpc_msg *ret, struct rpc_doc *doc, yyjson_val *v, struct error *e);
void rpc_msg_done(struct rpc_msg *m);

#endif
