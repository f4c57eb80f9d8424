/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The nine tools (ME-6 to ME-15), sorted by name. */
#include "base/mem.h"
#include "servers/memory/calls.h"

static void add_observations(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct mutation what = { request_observations, mutate_add_observations };

    calls_mutate(ctx, r, args, &what);
}

static void create_entities(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct mutation what = { request_entities, mutate_create_entities };

    calls_mutate(ctx, r, args, &what);
}

static void create_relations(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct mutation what = { request_relations, mutate_create_relations };

    calls_mutate(ctx, r, args, &what);
}

static void delete_entities(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct mutation what = { request_entity_names, mutate_delete_entities };

    calls_mutate(ctx, r, args, &what);
}

static void delete_observations(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct mutation what = { request_deletions, mutate_delete_observations };

    calls_mutate(ctx, r, args, &what);
}

static void delete_relations(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct mutation what = { request_relations, mutate_delete_relations };

    calls_mutate(ctx, r, args, &what);
}

static void open_nodes(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct reading what = { request_names, query_open };

    calls_read(ctx, r, args, &what);
}

static void read_graph(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct reading what = { request_nothing, query_all };

    calls_read(ctx, r, args, &what);
}

static void search_nodes(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    static const struct reading what = { request_query, query_search };

    calls_read(ctx, r, args, &what);
}

/* ---- schemas ---- */

/* clang-format off */
#define STRING(text) "{\"type\":\"string\",\"description\":\"" text "\"}"
#define STRINGS(text) \
    "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"" text "\"}"
#define ARRAY(items) "{\"type\":\"array\",\"items\":" items "}"
#define ENTITY_REF "{\"$ref\":\"#/$defs/Entity\"}"
#define ENTITY \
    "{\"type\":\"object\",\"properties\":{" \
    "\"name\":" STRING("Unique name, by which it is found") "," \
    "\"entityType\":" STRING("Kind of thing: person, project, decision ...") "," \
    "\"observations\":" STRINGS("Facts about it, one each") "}," \
    "\"required\":[\"name\",\"entityType\",\"observations\"]}"
#define RELATION \
    "{\"type\":\"object\",\"properties\":{" \
    "\"from\":" STRING("Name of the entity it starts at") "," \
    "\"to\":" STRING("Name of the entity it leads to") "," \
    "\"relationType\":" STRING("In active voice: works on, depends on ...") "}," \
    "\"required\":[\"from\",\"to\",\"relationType\"]}"
#define ABOUT(key, text) \
    "{\"type\":\"object\",\"properties\":{" \
    "\"entityName\":" STRING("Name of the entity") ",\"" key "\":" STRINGS(text) "}," \
    "\"required\":[\"entityName\",\"" key "\"]}"
#define OBJECT(key, value) \
    "{\"type\":\"object\",\"properties\":{\"" key "\":" value "},\"required\":[\"" key "\"]"
#define DEFS ",\"$defs\":{\"Entity\":" ENTITY "}"
#define GRAPH \
    "{\"type\":\"object\",\"properties\":{\"entities\":" ARRAY(ENTITY_REF) \
    ",\"relations\":" ARRAY(RELATION) "},\"required\":[\"entities\",\"relations\"]" DEFS "}"
#define DONE \
    "{\"type\":\"object\",\"properties\":{\"success\":{\"type\":\"boolean\"}," \
    "\"message\":{\"type\":\"string\"}},\"required\":[\"success\",\"message\"]}"

#define CREATES HINT_FALSE, HINT_FALSE, HINT_FALSE, HINT_FALSE
#define DELETES HINT_FALSE, HINT_TRUE, HINT_TRUE, HINT_FALSE
#define READS   HINT_TRUE, HINT_FALSE, HINT_TRUE, HINT_FALSE

const struct tool memory_tools[] = {
    { "add_observations", "Add Observations",
      "Add facts to entities that exist. Those an entity already has are left out; the answer "
      "lists what was new. An unknown entity fails the whole call.",
      OBJECT("observations", ARRAY(ABOUT("contents", "Facts to add"))) "}",
      OBJECT("results", ARRAY(ABOUT("addedObservations", "Those that were new"))) "}",
      CREATES, add_observations },
    { "create_entities", "Create Entities",
      "Add entities to the knowledge graph. A name that exists already is left as it is; the "
      "answer lists what was added.",
      OBJECT("entities", ARRAY(ENTITY_REF)) DEFS "}",
      OBJECT("entities", ARRAY(ENTITY_REF)) DEFS "}",
      CREATES, create_entities },
    { "create_relations", "Create Relations",
      "Add directed relations between entities that exist, in active voice. Those that exist "
      "already are left out. An unknown entity fails the whole call.",
      OBJECT("relations", ARRAY(RELATION)) "}",
      OBJECT("relations", ARRAY(RELATION)) "}",
      CREATES, create_relations },
    { "delete_entities", "Delete Entities",
      "Delete entities and every relation from or to them. Unknown names are ignored.",
      OBJECT("entityNames", STRINGS("Names of the entities")) "}", DONE,
      DELETES, delete_entities },
    { "delete_observations", "Delete Observations",
      "Delete facts from entities, by their exact text. What is unknown is ignored.",
      OBJECT("deletions", ARRAY(ABOUT("observations", "Facts to delete"))) "}", DONE,
      DELETES, delete_observations },
    { "delete_relations", "Delete Relations",
      "Delete relations, given as they were created. Unknown ones are ignored.",
      OBJECT("relations", ARRAY(RELATION)) "}", DONE,
      DELETES, delete_relations },
    { "open_nodes", "Open Nodes",
      "Get entities by their exact names, and the relations from or to them.",
      OBJECT("names", STRINGS("Names of the entities")) "}", GRAPH,
      READS, open_nodes },
    { "read_graph", "Read Graph",
      "Get the whole knowledge graph. Once it is large, use search_nodes and open_nodes.",
      "{\"type\":\"object\",\"properties\":{}}", GRAPH,
      READS, read_graph },
    { "search_nodes", "Search Nodes",
      "Find entities that have the query, whatever its case, in their name, type or a fact, "
      "and the relations from or to them. If none has it and it has several words: entities with "
      "any of the words, most words first.",
      OBJECT("query", STRING("Text to look for; empty finds all")) "}", GRAPH,
      READS, search_nodes },
};
/* clang-format on */

const size_t memory_ntools = ARRAY_LEN(memory_tools);
