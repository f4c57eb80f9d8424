/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The six tools that change the graph: each plans its change and writes its answer. False: the
 * answer is an error and nothing is to be written. */
#ifndef SYM_SERVERS_MEMORY_MUTATE_H
#define SYM_SERVERS_MEMORY_MUTATE_H

#include "servers/memory/request.h"
#include "servers/server.h"

typedef bool (*mutate_fn)(const struct request *r, struct change *c, struct answer *a);

bool mutate_create_entities(const struct request *r, struct change *c, struct answer *a);
bool mutate_create_relations(const struct request *r, struct change *c, struct answer *a);
bool mutate_add_observations(const struct request *r, struct change *c, struct answer *a);
bool mutate_delete_entities(const struct request *r, struct change *c, struct answer *a);
bool mutate_delete_observations(const struct request *r, struct change *c, struct answer *a);
bool mutate_delete_relations(const struct request *r, struct change *c, struct answer *a);

#endif
