/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A schema, a line break, a value: an answer, always the same, soon; and never a mismatch with
 * a schema that is true. */
#include <stdlib.h>

#include "text/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = { (const char *)data, size }, schema_text, value_text;
    auto_json schema = { 0 }, value = { 0 }, constant = { 0 };
    auto_buf b = BUF(1 << 20);
    enum schema_result r;

    if (!str_cut(input, '\n', &schema_text, &value_text) ||
        !json_parse(&schema, schema_text, NULL) || !json_parse(&value, value_text, NULL))
        return 0;
    r = schema_check(schema.root, schema.root, value.root);
    must(r == schema_check(schema.root, schema.root, value.root));

    /* Every value is equal to itself and is a kind of what its type says. */
    buf_addz(&b, "{\"const\":");
    json_put_val(&b, value.root);
    buf_addf(&b, ",\"type\":\"%s\"}", json_type_name(value.root));
    if (json_parse(&constant, buf_str(&b), NULL))
        must(schema_check(constant.root, constant.root, value.root) != SCHEMA_MISMATCH);
    return 0;
}
