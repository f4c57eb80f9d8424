/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An ACP agent for the tests of a run: "fake_agent WORD...". It answers initialize, session/new
 * and session/prompt, and ends at the end of stdin; each word makes it behave worse:
 *
 *   deaf        ignores SIGTERM, the end of stdin and session/cancel
 *   hang        the prompt is answered only after session/cancel
 *   setsid      leaves a grandchild in a session of its own, deaf too; its pid on stderr
 *   orphan      the same, in our process group
 *   flood=N     N thoughts of 1 KB after the prompt;   messages=N: messages
 *   die         exits with 3 in the middle of the turn
 *   mute        answers nothing at all;   closed: closes its stdout instead of answering
 *   stop=WORD   the stop reason
 *   ask=KIND    asks for permission first, and says what it got as a message
 *   reject      a rejected permission ends the turn with "cancelled"
 *   chain       says SYMPOSIUM_TASK_CHAIN and its directory as messages
 *   bytes       writes bytes that are no UTF-8 to stderr
 *   session=ID  refuses to load
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **words;

/* The value of the word, "" if it has none; NULL: it was not given. */
static const char *word(const char *name)
{
    size_t n = strlen(name);

    for (char **at = words; *at; at++)
        if (!strncmp(*at, name, n) && (!(*at)[n] || (*at)[n] == '='))
            return (*at)[n] ? *at + n + 1 : "";
    return NULL;
}

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

static void update(const char *kind, const char *text)
{
    printf(
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\","
        "\"update\":{\"sessionUpdate\":\"%s\",\"content\":{\"type\":\"text\",\"text\":\"%s\"}"
        "}}}\n",
        kind, text);
    fflush(stdout);
}

static void leave_grandchild(bool own_session)
{
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGTERM, SIG_IGN);
        if (own_session)
            setsid();
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        sleep(1000);
        _exit(0);
    }
    fprintf(stderr, "left %d\n", (int)pid);
}

static void flood(const char *kind, const char *count)
{
    char text[1001] = "";

    memset(text, 'x', sizeof text - 1);
    for (long n = count ? atol(count) : 0; n > 0; n--)
        update(kind, text);
}

static bool read_line(char *line, size_t size)
{
    return fgets(line, (int)size, stdin) != NULL;
}

static int id_of(const char *line)
{
    const char *id = strstr(line, "\"id\":");

    return id ? atoi(id + 5) : -1;
}

static void answer_id(int id, const char *result)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}\n", id, result);
    fflush(stdout);
}

static void answer(const char *line, const char *result)
{
    answer_id(id_of(line), result);
}

/* True: it was allowed. */
static bool ask(const char *kind)
{
    char line[8192];
    bool allowed;

    printf(
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"session/request_permission\",\"params\":{"
        "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"c1\",\"kind\":\"%s\",\"title\":"
        "\"do\"},\"options\":[{\"optionId\":\"yes\",\"name\":\"y\",\"kind\":\"allow_once\"},{"
        "\"optionId\":\"no\",\"name\":\"n\",\"kind\":\"reject_once\"}]}}\n",
        kind);
    fflush(stdout);
    if (!read_line(line, sizeof line))
        exit(0);
    allowed = strstr(line, "\"yes\"") != NULL;
    update("agent_message_chunk", allowed                  ? "allowed"
                                  : strstr(line, "\"no\"") ? "rejected"
                                                           : "cancelled");
    return allowed;
}

static void turn(const char *line)
{
    char result[128], dir[4096];
    const char *reason = word("stop") ? word("stop") : "end_turn";

    update("agent_message_chunk", "hello");
    if (word("bytes"))
        fwrite("ok \xff\xfe \xe2\x82", 1, 8, stderr);
    if (word("die"))
        exit(3);
    if (word("chain")) {
        update("agent_message_chunk", getenv("SYMPOSIUM_TASK_CHAIN"));
        update("agent_message_chunk", getcwd(dir, sizeof dir));
    }
    flood("agent_thought_chunk", word("flood"));
    flood("agent_message_chunk", word("messages"));
    if (word("ask") && !ask(word("ask")) && word("reject"))
        reason = "cancelled";
    snprintf(result, sizeof result, "{\"stopReason\":\"%s\",\"usage\":{\"totalTokens\":7}}",
             reason);
    answer(line, result);
}

static void handle(const char *line)
{
    static int prompt;

    if (word("mute"))
        return;
    if (strstr(line, "\"initialize\"")) {
        if (word("closed"))
            close(STDOUT_FILENO);
        answer(line, "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":false}}");
    } else if (strstr(line, "\"session/new\"")) {
        answer(line, "{\"sessionId\":\"s1\"}");
    } else if (strstr(line, "\"session/prompt\"")) {
        prompt = id_of(line);
        if (word("hang"))
            update("agent_message_chunk", "hanging");
        else
            turn(line);
    } else if (strstr(line, "\"session/cancel\"") && word("hang") && !word("deaf")) {
        answer_id(prompt, "{\"stopReason\":\"cancelled\"}");
    }
}

int main(int argc, char **argv)
{
    static char line[4 << 20];

    words = argv + 1;
    (void)argc;
    if (word("deaf"))
        signal(SIGTERM, SIG_IGN);
    if (word("setsid"))
        leave_grandchild(true);
    if (word("orphan"))
        leave_grandchild(false);
    while (read_line(line, sizeof line))
        handle(line);
    while (word("deaf"))
        sleep(1000);
    say(""); /* late, and blank */
    return 0;
}
