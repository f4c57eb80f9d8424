/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The seven tools (TK-7): texts, schemas, annotations. spawn_task's is made at the start, from
 * the agents that there are. */
#include "base/mem.h"
#include "servers/symm/impl.h"

#define SCHEMA_MAX ((size_t)256 << 10)

/* clang-format off */
#define STRING(text)  "{\"type\":\"string\",\"description\":\"" text "\"}"
#define TEXT(text, max) \
    "{\"type\":\"string\",\"maxLength\":" max ",\"description\":\"" text "\"}"
#define INTEGER(text, low, high, without) \
    "{\"type\":\"integer\",\"minimum\":" low ",\"maximum\":" high ",\"default\":" without \
    ",\"description\":\"" text "\"}"
#define WORDS(text, words) "{\"enum\":[" words "],\"description\":\"" text "\"}"
#define ARRAY(items)  "{\"type\":\"array\",\"items\":" items "}"
#define OBJECT(properties, required) \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]"
#define CLOSED ",\"additionalProperties\":false}"

#define S           "{\"type\":\"string\"}"
#define STRINGS     "{\"type\":\"array\",\"items\":" S "}"
#define I           "{\"type\":\"integer\"}"
#define S_OR_NULL   "{\"type\":[\"string\",\"null\"]}"
#define I_OR_NULL   "{\"type\":[\"integer\",\"null\"]}"
#define STATUSES \
    "\"created\",\"starting\",\"running\",\"succeeded\",\"failed\",\"cancelled\""
#define STATUS      "{\"enum\":[" STATUSES "]}"
#define RESOLUTIONS "\"accepted\",\"rejected\",\"needs_followup\",\"superseded\""
#define KINDS       "\"acp\",\"cli\",\"agent\""
#define EVENTS \
    "\"task_created\",\"status_changed\",\"process_started\",\"process_exited\",\"stdout\"," \
    "\"stderr\",\"session_started\",\"agent_message\",\"agent_thought\",\"tool_call\"," \
    "\"tool_call_update\",\"plan\",\"permission\",\"agent_update\",\"task_cancelled\"," \
    "\"task_resolved\",\"error\""

#define TASK_ID "\"task_id\":" STRING("Id of the task")

#define RECORD_PROPERTIES \
    "\"task_id\":" S ",\"kind\":{\"enum\":[" KINDS "]},\"agent\":" S ",\"workspace\":" S \
    ",\"prompt\":" S ",\"status\":" STATUS ",\"created_at\":" S ",\"started_at\":" S_OR_NULL \
    ",\"finished_at\":" S_OR_NULL ",\"exit_code\":" I_OR_NULL ",\"signal\":" I_OR_NULL \
    ",\"stop_reason\":" S_OR_NULL ",\"session_id\":" S_OR_NULL ",\"resolution\":" \
    "{\"enum\":[" RESOLUTIONS ",null]},\"note\":" S_OR_NULL ",\"resolved_at\":" S_OR_NULL \
    ",\"initiator_id\":" S_OR_NULL ",\"executor_id\":" S_OR_NULL ",\"parent_task_id\":" \
    S_OR_NULL ",\"labels\":" STRINGS ",\"last_seq\":" I ",\"usage\":" \
    "{\"type\":[\"object\",\"null\"]}"
#define RECORD_REQUIRED \
    "\"task_id\",\"agent\",\"workspace\",\"prompt\",\"status\",\"created_at\",\"started_at\"," \
    "\"finished_at\",\"exit_code\",\"signal\",\"stop_reason\",\"session_id\",\"resolution\"," \
    "\"note\",\"resolved_at\",\"last_seq\",\"usage\""
#define LISTED OBJECT(RECORD_PROPERTIES, RECORD_REQUIRED) "}"
#define RECORD \
    OBJECT(RECORD_PROPERTIES ",\"result_text\":" S, RECORD_REQUIRED ",\"result_text\"") "}"

#define WAITED \
    "{\"type\":\"object\",\"properties\":{\"tasks\":" \
    ARRAY(OBJECT("\"task_id\":" S ",\"status\":" STATUS ",\"cursor\":" I \
                 ",\"stop_reason\":" S, "\"task_id\",\"status\",\"cursor\"") "}") \
    ",\"ready\":" ARRAY(S) ",\"timed_out\":{\"type\":\"boolean\"},\"task_id\":" S \
    ",\"status\":" STATUS "},\"anyOf\":[{\"required\":[\"tasks\",\"ready\",\"timed_out\"]}," \
    "{\"required\":[\"task_id\",\"status\"]}]}"

#define READS HINT_TRUE, HINT_FALSE, HINT_TRUE, HINT_FALSE

/* In the order of their use; the first is made by symm_tools_make(). */
static const struct tool tools[SYMM_TOOLS] = {
    { "spawn_task", "Spawn Task", NULL, NULL,
      OBJECT("\"task_id\":" S ",\"status\":" STATUS ",\"error\":" S,
             "\"task_id\",\"status\"") "}",
      HINT_FALSE, HINT_TRUE, HINT_FALSE, HINT_TRUE, symm_spawn },
    { "get_task", "Get Task",
      "The record of a task: status, stop reason, resolution, usage, and result_text, the last "
      "message of the agent.",
      OBJECT(TASK_ID, "\"task_id\"") CLOSED, RECORD, READS, symm_get },
    { "get_events", "Get Events",
      "The events of a task after a seq, oldest first: messages, tool calls, permissions, "
      "errors. Pass the cursor of one answer as after_seq of the next.",
      OBJECT(TASK_ID ","
             "\"after_seq\":" INTEGER("Only events with a greater seq", "0", "9007199254740991",
                                      "0") ","
             "\"limit\":" INTEGER("Most events in the answer", "1", "5000", "500") ","
             "\"types\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"enum\":[" EVENTS "]},"
             "\"description\":\"Only these types\"},"
             "\"max_bytes\":" INTEGER("Most bytes of their data", "1", "4194304", "262144"),
             "\"task_id\"") CLOSED,
      OBJECT("\"events\":" ARRAY(OBJECT("\"seq\":" I ",\"type\":{\"enum\":[" EVENTS "]},"
                                        "\"ts\":" S ",\"data\":{\"type\":\"object\"}",
                                        "\"seq\",\"type\",\"ts\",\"data\"") "}")
             ",\"cursor\":" I ",\"status\":" STATUS ",\"more\":{\"type\":\"boolean\"},"
             "\"first_seq\":" I,
             "\"events\",\"cursor\",\"status\",\"more\",\"first_seq\"") "}",
      READS, symm_events },
    { "wait_tasks", "Wait for Tasks",
      "Waits until one of the tasks, or all of them, ended or had a new event. Never cancels "
      "anything: after timed_out just wait again.",
      OBJECT("\"task_ids\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,"
             "\"items\":{\"type\":\"string\"},\"description\":\"Ids of the tasks\"},"
             "\"mode\":" WORDS("One of them is enough, or all; default any",
                               "\"any\",\"all\"") ","
             "\"until\":" WORDS("The end, or any event after a seq; default terminal",
                                "\"terminal\",\"event\"") ","
             "\"after\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\","
             "\"minimum\":0},\"description\":\"With until event: seq by task_id; without one, "
             "from now on\"},"
             "\"timeout_s\":" INTEGER("Seconds; 0: as it is now", "0", "600", "45"),
             "\"task_ids\"") CLOSED,
      WAITED, READS, symm_wait },
    { "list_tasks", "List Tasks",
      "Tasks of this user, by whatever agent they were spawned, newest first.",
      OBJECT("\"status\":" WORDS("Only these", STATUSES) ","
             "\"kind\":" WORDS("Only these", KINDS) ","
             "\"workspace\":" TEXT("Only those in this directory", "4096") ","
             "\"label\":" TEXT("Only those with this label", "64") ","
             "\"initiator_id\":" TEXT("Only those of this initiator", "256") ","
             "\"cursor\":" TEXT("next_cursor of the answer before", "1024") ","
             "\"limit\":" INTEGER("Most tasks in the answer", "1", "500", "50"), "") CLOSED,
      OBJECT("\"tasks\":" ARRAY(LISTED) ",\"next_cursor\":" S, "\"tasks\"") "}",
      READS, symm_list },
    { "resolve_task", "Resolve Task",
      "Records your judgement of a task that has ended; it may be revised. It changes nothing "
      "else.",
      OBJECT(TASK_ID ",\"resolution\":" WORDS("Your judgement", RESOLUTIONS)
             ",\"note\":" TEXT("Why", "16384"), "\"task_id\",\"resolution\"") CLOSED,
      RECORD, HINT_FALSE, HINT_FALSE, HINT_TRUE, HINT_FALSE, symm_resolve },
    { "cancel_task", "Cancel Task",
      "Ends a task and all of its processes. One that has ended already comes back as it is.",
      OBJECT(TASK_ID ",\"reason\":" TEXT("Why, for the record", "4096"), "\"task_id\"") CLOSED,
      RECORD, HINT_FALSE, HINT_TRUE, HINT_TRUE, HINT_FALSE, symm_cancel },
};

#define SPAWN_PROPERTIES \
    "\"prompt\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1048576,\"description\":" \
    "\"What the agent shall do. It knows nothing of this conversation: name files, goal and " \
    "limits\"}," \
    "\"workspace\":" TEXT("Absolute path of the directory it works in; default: where this " \
                          "server was started", "4096") "," \
    "\"session_id\":" TEXT("Resume this session of the agent, in the same workspace", \
                           "1024") "," \
    "\"initiator_id\":" TEXT("Label of who asks", "256") "," \
    "\"executor_id\":" TEXT("Label of who works", "256") "," \
    "\"parent_task_id\":" STRING("Task that this one belongs to") "," \
    "\"deadline_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400,\"description\":" \
    "\"Seconds after which it is ended, and failed\"}," \
    "\"idempotency_key\":" TEXT("The same key of the same initiator gives the task that is " \
                                "there already", "128") "," \
    "\"priority\":" INTEGER("Among tasks that wait for room", "-10", "10", "0") "," \
    "\"labels\":{\"type\":\"array\",\"maxItems\":16,\"items\":{\"type\":\"string\"," \
    "\"minLength\":1,\"maxLength\":64},\"description\":\"For list_tasks\"}," \
    "\"max_output_bytes\":" INTEGER("Bytes of events that are kept", "4096", "67108864", \
                                    "67108864") "," \
    "\"worktree\":{\"type\":\"boolean\",\"default\":false,\"description\":" \
    "\"Work in a new git worktree of the workspace, on a branch of its own\"}"
/* clang-format on */

static void put_agents(struct jw *w, const struct adapters *all)
{
    jw_obj(w);
    jw_kstrz(w, "type", "string");
    jw_key(w, "enum");
    jw_arr(w);
    for (size_t i = 0; i < all->n; i++)
        jw_strz(w, adapter_name(all->v[i]));
    jw_end(w);
    jw_end(w);
}

/* Options may stand in `options` or beside it (TK-8). */
static void put_spawn_schema(struct buf *out, const struct adapters *all)
{
    auto_json fixed = { 0 };
    struct jw w = jw_to(out);

    json_parse(&fixed, STR("{" SPAWN_PROPERTIES "}"), NULL);
    jw_obj(&w);
    jw_kstrz(&w, "type", "object");
    jw_key(&w, "properties");
    jw_obj(&w);
    jw_key(&w, "agent");
    put_agents(&w, all);
    for (struct json_iter it = json_iter(fixed.root); json_next(&it);) {
        jw_key_s(&w, it.key);
        jw_val(&w, it.val);
    }
    jw_key(&w, "options");
    jw_obj(&w);
    jw_kstrz(&w, "type", "object");
    jw_kstrz(&w, "description", "Of the agent; each may also stand beside the other keys");
    jw_key(&w, "properties");
    jw_obj(&w);
    adapters_put_option_keys(&w, all);
    jw_end(&w);
    jw_kbool(&w, "additionalProperties", false);
    jw_end(&w);
    adapters_put_option_keys(&w, all);
    jw_end(&w);
    jw_key(&w, "required");
    jw_raw(&w, STR("[\"agent\",\"prompt\"]"));
    jw_kbool(&w, "additionalProperties", false);
    jw_end(&w);
}

static void put_spawn_description(struct buf *out, const struct adapters *all, const char *path,
                                  struct arena *a)
{
    struct error e;

    buf_addz(out,
             "Hands a prompt to another coding agent, which works on it in a process of its "
             "own, and answers once that runs. Then do other things, or wait_tasks. The agent "
             "may do only what 'allow' names; everything else it asks for is rejected.");
    for (size_t i = 0, missing = 0; i < all->n; i++)
        if (!adapter_program(all->v[i], path, a, &e))
            buf_addf(out, "%s%s",
                     missing++ ? ", " : " Not installed here: ", adapter_name(all->v[i]));
}

void symm_tools_make(struct symm_tools *ret, struct arena *a, const struct adapters *all,
                     const char *path)
{
    auto_buf schema = BUF(SCHEMA_MAX), description = BUF(SCHEMA_MAX);

    for (size_t i = 0; i < SYMM_TOOLS; i++)
        ret->v[i] = tools[i];
    put_spawn_schema(&schema, all);
    put_spawn_description(&description, all, path, a);
    ret->v[0].input = arena_z(a, buf_str(&schema));
    ret->v[0].description = arena_z(a, buf_str(&description));
}
