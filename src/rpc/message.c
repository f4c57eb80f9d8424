/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rpc/message.h"

#include <stdlib.h>

#include "base/mem.h"

struct rpc_doc *rpc_doc_parse(struct str text, struct error *e)
{
    struct json json;
    struct rpc_doc *d;

    if (!json_parse(&json, text, e))
        return NULL;
    d = NEW(struct rpc_doc);
    *d = (struct rpc_doc){ .json = json, .refs = 1 };
    return d;
}

struct rpc_doc *rpc_doc_ref(struct rpc_doc *d)
{
    d->refs++;
    return d;
}

void rpc_doc_unref(struct rpc_doc *d)
{
    if (!d || --d->refs > 0)
        return;
    json_free(&d->json);
    free(d);
}

static bool broken(struct error *e, const char *rule)
{
    return error_set(e, ERR_PROTOCOL, "not a JSON-RPC 2.0 message: %s", rule);
}

static bool read_id(struct rpc_msg *m, yyjson_val *id, struct error *e)
{
    if (json_is_str(id)) {
        struct buf b = BUF(RPC_ID_MAX);

        json_put_str(&b, json_str(id));
        if (!buf_ok(&b, NULL)) {
            buf_free(&b);
            return broken(e, "the id is too long");
        }
        m->id.n = b.n;
        m->id.p = m->id_owned = buf_take(&b);
        return true;
    }
    if (json_is_num(id) && json_num_text(id).n > RPC_ID_MAX)
        return broken(e, "the id is too long");
    if (!json_is_num(id) || !rpc_id_is_integer(json_num_text(id)))
        return broken(e, "the id must be a string or an integer");
    m->id = json_num_text(id);
    return true;
}

static bool read_call(struct rpc_msg *m, yyjson_val *v, yyjson_val *method, struct error *e)
{
    if (!json_is_str(method))
        return broken(e, "'method' must be a string");
    m->kind = m->id.n ? RPC_REQUEST : RPC_NOTIFICATION;
    m->method = json_str(method);
    m->params = json_get(v, "params");
    if (m->params && !json_is_obj(m->params) && !json_is_arr(m->params))
        return broken(e, "'params' must be an object or an array");
    return true;
}

static bool read_answer(struct rpc_msg *m, yyjson_val *result, yyjson_val *error,
                        struct error *e)
{
    if (!m->id.n)
        return broken(e, "an answer without an id");
    if (result) {
        m->kind = RPC_RESULT;
        m->result = result;
        return true;
    }
    m->kind = RPC_ERROR;
    if (!json_int(json_get(error, "code"), &m->code))
        return broken(e, "an error's 'code' must be an integer");
    if (!json_is_str(json_get(error, "message")))
        return broken(e, "an error's 'message' must be a string");
    m->message = json_str(json_get(error, "message"));
    m->data = json_get(error, "data");
    return true;
}

bool rpc_msg_read(struct rpc_msg *ret, struct rpc_doc *doc, yyjson_val *v, struct error *e)
{
    yyjson_val *id = json_get(v, "id"), *method = json_get(v, "method");
    yyjson_val *result = json_get(v, "result"), *error = json_get(v, "error");

    *ret = (struct rpc_msg){ .doc = doc };
    if (!json_is_obj(v))
        return broken(e, "a message is an object");
    if (id && !read_id(ret, id, e))
        return false;
    if (!str_is(json_str(json_get(v, "jsonrpc")), "2.0"))
        return broken(e, "'jsonrpc' must be \"2.0\"");
    if (!!method + !!result + !!error != 1)
        return broken(e, "exactly one of 'method', 'result' and 'error' is needed");
    return method ? read_call(ret, v, method, e) : read_answer(ret, result, error, e);
}

void rpc_msg_done(struct rpc_msg *m)
{
    free(m->id_owned);
    m->id_owned = NULL;
    m->id = (struct str){ 0 };
}
