/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arguments of the nine tools, copied into an arena. */
#ifndef SYM_SERVERS_MEMORY_REQUEST_H
#define SYM_SERVERS_MEMORY_REQUEST_H

#include "servers/args.h"
#include "servers/memory/change.h"

struct new_entity {
    struct str name, type;
    struct arg_strings obs;
};

/* Observations of one entity, to add or to delete. */
struct about {
    struct str name;
    struct arg_strings obs;
};

/* Each tool fills one of these. */
struct request {
    struct new_entity *entities;
    struct triple *triples;
    struct about *abouts;
    size_t n; /* of the three above */
    struct arg_strings names;
    struct str query;
};

/* ERR_INVALID: "entities[2]: missing field `name`". */
typedef bool (*request_fn)(struct arena *a, yyjson_val *args, struct request *ret,
                           struct error *e);
bool request_entities(struct arena *a, yyjson_val *args, struct request *ret, struct error *e);
bool request_relations(struct arena *a, yyjson_val *args, struct request *ret, struct error *e);
bool request_observations(struct arena *a, yyjson_val *args, struct request *ret,
                          struct error *e);
bool request_deletions(struct arena *a, yyjson_val *args, struct request *ret, struct error *e);
bool request_entity_names(struct arena *a, yyjson_val *args, struct request *ret,
                          struct error *e);
bool request_names(struct arena *a, yyjson_val *args, struct request *ret, struct error *e);
bool request_query(struct arena *a, yyjson_val *args, struct request *ret, struct error *e);
bool request_nothing(struct arena *a, yyjson_val *args, struct request *ret, struct error *e);

#endif
