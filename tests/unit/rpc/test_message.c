/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include "rpc/message.h"

static void good_messages_are_read(void **state)
{
    static const struct {
        const char *in;
        enum rpc_kind kind;
        const char *id, *method;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}", RPC_REQUEST, "7", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{}}", RPC_REQUEST,
          "\"a\"", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"\",\"params\":[1]}", RPC_REQUEST,
          "\"\"", "" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"\\\"\\u0041\\n\",\"method\":\"m\"}", RPC_REQUEST,
          "\"\\\"A\\n\"", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,\"method\":\"m\"}", RPC_REQUEST,
          "-9007199254740993", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"m\"}",
          RPC_REQUEST, "123456789012345678901234567890", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", RPC_REQUEST, "1.0", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1e2,\"method\":\"m\"}", RPC_REQUEST, "1e2", "m" },
        { "{\"method\":\"m\",\"jsonrpc\":\"2.0\",\"extra\":null}", RPC_NOTIFICATION, "", "m" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", RPC_RESULT, "1", "" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"result\":{}}", RPC_RESULT, "2", "" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\","
          "\"data\":[]}}",
          RPC_ERROR, "1", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error e = { 0 };
        struct rpc_doc *d = rpc_doc_parse(str_of(cases[i].in), &e);
        struct rpc_msg m;

        assert_non_null(d);
        if (!rpc_msg_read(&m, d, d->json.root, &e))
            fail_msg("%s: %s", cases[i].in, e.msg);
        assert_int_equal(m.kind, cases[i].kind);
        assert_str(m.id, cases[i].id);
        assert_str(m.method, cases[i].method);
        if (m.kind == RPC_ERROR) {
            assert_int_equal(m.code, RPC_METHOD_NOT_FOUND);
            assert_str(m.message, "no");
            assert_non_null(m.data);
        }
        rpc_msg_done(&m);
        rpc_doc_unref(d);
    }
    (void)state;
}

/* SEC-29, SEC-27. `id` is what can still be answered to. */
static void each_broken_rule_is_named(void **state)
{
    static const struct {
        const char *in, *id, *says;
    } cases[] = {
        { "7", "", "object" },
        { "null", "", "object" },
        { "[]", "", "object" },
        { "{}", "", "jsonrpc" },
        { "{\"id\":1,\"result\":{}}", "1", "jsonrpc" },
        { "{\"jsonrpc\":2.0,\"id\":1,\"result\":{}}", "1", "jsonrpc" },
        { "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", "1", "jsonrpc" },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":1}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1e-2,\"result\":1}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1e99999999999,\"result\":1}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":true,\"result\":1}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":[1],\"result\":1}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", "", "id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", "1", "exactly one" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"\"}}",
          "1", "exactly one" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"method\":\"m\"}", "1", "exactly one" },
        { "{\"jsonrpc\":\"2.0\",\"result\":1}", "", "without an id" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", "1", "method" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", "1", "params" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"m\",\"params\":\"p\"}", "\"x\"",
          "params" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"bad\"}", "1", "code" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,\"message\":\"\"}}", "1",
          "code" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", "1", "message" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error e = { 0 };
        struct rpc_doc *d = rpc_doc_parse(str_of(cases[i].in), &e);
        struct rpc_msg m;

        assert_non_null(d);
        if (rpc_msg_read(&m, d, d->json.root, &e))
            fail_msg("accepted: %s", cases[i].in);
        assert_int_equal(e.kind, ERR_PROTOCOL);
        if (!strstr(e.msg, cases[i].says))
            fail_msg("%s: '%s' does not say '%s'", cases[i].in, e.msg, cases[i].says);
        assert_str(m.id, cases[i].id);
        rpc_msg_done(&m);
        rpc_doc_unref(d);
    }
    (void)state;
}

static void an_endless_id_is_refused(void **state)
{
    static const char *const quotes[] = { "", "\"" };

    for (size_t i = 0; i < ARRAY_LEN(quotes); i++) {
        auto_buf b = BUF((size_t)1 << 16);
        struct rpc_doc *d;
        struct rpc_msg m;
        struct error e;

        buf_addf(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":%s", quotes[i]);
        buf_fill(&b, '1', RPC_ID_MAX + 1);
        buf_addf(&b, "%s}", quotes[i]);
        d = rpc_doc_parse(buf_str(&b), &e);
        assert_non_null(d);
        assert_false(rpc_msg_read(&m, d, d->json.root, &e));
        assert_int_equal(m.id.n, 0);
        rpc_msg_done(&m);
        rpc_doc_unref(d);
    }
    (void)state;
}

static void a_document_lives_until_its_last_reference_goes(void **state)
{
    struct error e;
    struct rpc_doc *d =
        rpc_doc_parse(STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"kept\"}"), &e);
    struct rpc_msg m;

    assert_true(rpc_msg_read(&m, d, d->json.root, &e));
    assert_ptr_equal(rpc_doc_ref(m.doc), d);
    rpc_doc_unref(d);
    assert_str(json_str(m.result), "kept");
    rpc_msg_done(&m);
    rpc_doc_unref(d);
    rpc_doc_unref(NULL);
    assert_null(rpc_doc_parse(STR("{\"jsonrpc\":"), &e));
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_messages_are_read),
        cmocka_unit_test(each_broken_rule_is_named),
        cmocka_unit_test(an_endless_id_is_refused),
        cmocka_unit_test(a_document_lives_until_its_last_reference_goes),
    };

    return cmocka_run_group_tests_name("rpc/message", tests, NULL, NULL);
}
