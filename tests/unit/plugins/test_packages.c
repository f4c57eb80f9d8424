/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Packages in a resolution: what dependencies embed, `use`, chained plugins. The package
 * manager is a list in memory. */
#include "world.h"

#include "loop/timer.h"
#include "plugins/enablement.h"
#include "plugins/offer.h"

/* A package that the source knows. */
struct known {
    struct package_id id;
    const char *root;
    struct json manifest; /* root NULL: none */
    bool offered;         /* active_plugins names it */
};

struct open_question {
    struct open_question *next;
    struct packages *p;
    bool load;
    struct package_id id;
    package_offers_fn done;
    void *arg;
    struct timer *timer;
};

struct packages {
    struct world *w;
    struct package_source source;
    struct known v[2048];
    size_t n;
    struct open_question *open;
    struct strs asked;   /* "cargo:name requirement" of each load */
    const char *problem; /* of active_plugins */
    const char *never;   /* a load of this name is never answered */
    bool degraded;
    int locals; /* loads that must not fetch */
};

static void answer(void *ctx)
{
    struct open_question *q = ctx, **at = &q->p->open;
    struct packages *p = q->p;
    struct package_offer list[64];
    struct package_offers found = { .v = list };
    struct str problem = str_of(p->problem ? p->problem : "nothing of this name");
    struct open_question now = *q;

    for (size_t i = 0; i < p->n && found.n < ARRAY_LEN(list); i++) {
        struct package_offer o = { .id = p->v[i].id,
                                   .root = str_of(p->v[i].root),
                                   .manifest = p->v[i].manifest.root };

        if (q->load ? offer_answers(&o, &q->id, NULL) : p->v[i].offered)
            list[found.n++] = o;
    }
    found.degraded = p->degraded;
    if (q->load ? !found.n : p->problem != NULL) {
        found.problems = &problem;
        found.nproblems = 1;
    }
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    timer_free(q->timer);
    free(q);
    now.done(now.arg, &found);
}

static struct open_question *ask(struct packages *p, package_offers_fn done, void *arg)
{
    struct open_question *q = NEW(struct open_question);

    *q = (struct open_question){ .next = p->open, .p = p, .done = done, .arg = arg };
    q->timer = timer_new(p->w->loop, answer, q);
    p->open = q;
    timer_set(q->timer, 0);
    return q;
}

static void on_offers(void *ctx, const struct deps *deps, package_offers_fn done, void *arg)
{
    ask(ctx, done, arg);
}

static void on_load(void *ctx, const struct package_id *id, bool local, package_offers_fn done,
                    void *arg)
{
    struct packages *p = ctx;
    struct open_question *q = ask(p, done, arg);

    q->load = true;
    q->id = *id;
    p->locals += local;
    ARENA_PUSH(&p->w->t.a, &p->asked) = package_text(&p->w->t.a, id);
    if (p->never && str_is(id->name, p->never))
        timer_clear(q->timer);
}

static void on_drop(void *ctx, const void *arg)
{
    struct packages *p = ctx;

    for (struct open_question **at = &p->open, *q; (q = *at);) {
        if (q->arg != arg) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        timer_free(q->timer);
        free(q);
    }
}

static struct packages *packages_new(void)
{
    struct packages *p = NEW(struct packages);

    p->w = world_new();
    p->source = (struct package_source){ p, on_offers, on_load, on_drop };
    p->w->packages = &p->source;
    return p;
}

static void packages_free(struct packages *p)
{
    assert_null(p->open);
    for (size_t i = 0; i < p->n; i++)
        json_free(&p->v[i].manifest);
    world_free(p->w);
    free(p);
}

/* A package on disk that can be loaded; `manifest` is JSON, or NULL. */
static struct known *package(struct packages *p, const char *pm, const char *name,
                             const char *version, const char *manifest)
{
    struct known *k = &p->v[p->n++];
    struct error e;

    assert_true(p->n <= ARRAY_LEN(p->v));
    k->id = (struct package_id){ str_of(pm), str_of(name), str_of(version) };
    k->root = arena_z(
        &p->w->t.a,
        str_of(tree_put(&p->w->t,
                        arena_printf(&p->w->t.a, "store/%s/%s-%s/", pm, name, version), "")));
    k->root = path_clean(&p->w->t.a, k->root);
    if (manifest && !json_parse(&k->manifest, str_of(manifest), &e))
        fail_msg("%s", e.msg);
    return k;
}

/* The same of a direct dependency, which active_plugins names. */
static struct known *dependency(struct packages *p, const char *name, const char *version,
                                const char *manifest)
{
    struct known *k = package(p, "cargo", name, version, manifest);

    k->offered = true;
    add_dep(p->w, "cargo", name, version);
    return k;
}

static void config(struct packages *p, const char *text)
{
    tree_put(&p->w->t, "cfg/config.toml", text);
}

static void assert_asked(struct packages *p, const char *want)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < p->asked.n; i++)
        buf_addf(&b, "%s%.*s", i ? ", " : "", STR_F(p->asked.v[i]));
    assert_string_equal(buf_z(&b), want);
}

#define JSERVER(name)   "\"mcp_servers\":[{\"name\":\"" name "\",\"command\":\"/bin/sh\"}]"
#define EDGE(pm, value) "[[plugins]]\nsource = { " pm " = " value " }\n"
#define JEDGES(...)     "\"plugins\":[" __VA_ARGS__ "]"
#define JEDGE(name)     "{\"source\":{\"cargo\":\"" name "\"}}"
#define NO_GATE         "its depends-on or predicates do not hold here"
#define CANDIDATE(id, name) \
    "embedded in " id "; 'symposium use " name "' enables it, [plugins] disable hides it"

static size_t warnings_with(struct packages *p, const char *text)
{
    const struct strs *l = &p->w->res->warnings;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += str_find(l->v[i], str_of(text)) != SIZE_MAX;
    return n;
}

/* ---- enablement: PL-32, PL-33, PL-34, PL-38, CF-3 ---- */

/* Each row is a [plugins] table and what becomes of a dependency with a server. */
static void a_dependencys_plugin_needs_the_users_word(void **state)
{
    static const struct {
        const char *lists, *servers, *states;
    } cases[] = {
        { "", "", "widget candidate: " CANDIDATE("cargo:widget 1.2.0", "widget") "\n" },
        { "auto-enable = [\"widget\"]", "s", "widget active: [plugins] auto-enable\n" },
        { "auto-enable = [\"*\"]", "s", "widget active: [plugins] auto-enable\n" },
        { "auto-enable = [{ pm = \"cargo\", name = \"*\" }]", "s",
          "widget active: [plugins] auto-enable\n" },
        { "auto-enable = [{ pm = \"npm\", name = \"*\" }]", "",
          "widget candidate: " CANDIDATE("cargo:widget 1.2.0", "widget") "\n" },
        { "auto-enable = [{ pm = \"npm\", name = \"widget\" }]", "",
          "widget candidate: " CANDIDATE("cargo:widget 1.2.0", "widget") "\n" },
        { "use = [\"widget\"]", "s", "widget active: [plugins] use\n" },
        { "use = [{ name = \"widget\", pm = \"cargo\" }]", "s",
          "widget active: [plugins] use\n" },
        { "use = [{ name = \"widget\", workspace = \"/elsewhere\" }]", "",
          "widget candidate: " CANDIDATE("cargo:widget 1.2.0", "widget") "\n" },
        { "disable = [\"widget\"]", "", "widget declined: " DECLINED_REASON "\n" },
        { "disable = [\"widget\"]\nuse = [\"widget\"]\nauto-enable = [\"*\"]", "",
          "widget declined: " DECLINED_REASON "\n" },
        { "disable = [{ pm = \"npm\", name = \"widget\" }]\nauto-enable = [\"*\"]", "s",
          "widget active: [plugins] auto-enable\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct packages *p = packages_new();

        config(p, arena_printf(&p->w->t.a, "[plugins]\n%s\n", cases[i].lists));
        dependency(p, "widget", "1.2.0", "{" JSERVER("s") "}");
        resolve(p->w);
        assert_servers(p->w, cases[i].servers);
        assert_states(p->w, cases[i].states);
        assert_problems(p->w, "");
        assert_int_equal(p->w->res->plugins.v[0].trusted, *cases[i].servers != '\0');
        packages_free(p);
    }
}

/* PL-32, SEC-51: what a manifest calls itself, and what it says of trust, enables nothing; but
 * a disabled name stays disabled under another one. */
static void a_manifest_cannot_enable_itself(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"nice\"]\nuse = [\"nicer\"]\ndisable = [\"bad\"]\n");
    dependency(p, "evil", "1.0.0",
               "{\"name\":\"nice\",\"trusted\":true,\"enabled\":true,\"auto-enable\":[\"*\"],"
               "\"use\":[\"evil\"],\"trust\":\"always\"," JSERVER("s") "}");
    dependency(p, "other", "1.0.0", "{\"name\":\"nicer\"," JSERVER("t") "}");
    dependency(p, "renamed", "1.0.0", "{\"name\":\"bad\"," JSERVER("u") "}");
    package(p, "cargo", "nicer", "1.0.0", "{}");
    resolve(p->w);
    assert_servers(p->w, "");
    assert_states(p->w, "evil candidate: " CANDIDATE(
                            "cargo:evil 1.0.0",
                            "evil") "\n"
                                    "nicer active: [plugins] use\n"
                                    "other candidate: " CANDIDATE(
                                        "cargo:other 1.0.0",
                                        "other") "\n"
                                                 "renamed declined: " DECLINED_REASON "\n");
    packages_free(p);
}

/* PM-4: the manifest is validated like any other, `trusted` elsewhere is an unknown key. */
static void a_bad_manifest_is_an_error_of_that_package_alone(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"bad\", \"good\"]\n");
    dependency(p, "bad", "1.0.0", "{\"colour\":1}");
    dependency(p, "good", "1.0.0", "{" JSERVER("s") "}");
    dependency(p, "unasked", "1.0.0", "{\"mcp_servers\":[{\"name\":\"x\",\"trusted\":true}]}");
    dependency(p, "array", "1.0.0", "[]");
    resolve(p->w);
    assert_servers(p->w, "s");
    /* What nobody enabled puts no text under every reply. */
    assert_int_equal(p->w->res->problems.n, 1);
    assert_has(p->w->res->problems.v[0].p, "skipping cargo:bad 1.0.0: its manifest, in '/");
    assert_has(p->w->res->problems.v[0].p, "/bad-1.0.0': 'colour' is not a known key");
    assert_null(strstr(p->w->res->problems.v[0].p, "trusted"));
    assert_int_equal(warnings_with(p, "skipping cargo:"), 2);
    assert_int_equal(p->w->res->plugins.n, 4);
    assert_int_equal(p->w->res->plugins.v[1].state, PLUGIN_ERROR);
    packages_free(p);
}

/* PM-34: a program of a candidate never runs, not even to find out whether it applies. */
static void nothing_of_a_candidate_runs(void **state)
{
    struct packages *p = packages_new();

    dependency(p, "w", "1.0.0",
               "{\"predicates\":[\"shell(touch ran)\"],\"predicate\":[{\"name\":\"mine\","
               "\"command\":{\"executable\":\"/usr/bin/touch\",\"args\":[\"ran\"]}}]," JSERVER(
                   "s") ",\"plugins\":[{\"source\":{\"cargo\":\"more\"}}]}");
    user_plugin(p->w, "asks", ANY RUN("b") "predicates = [\"mine()\"]\n");
    resolve(p->w);
    assert_servers(p->w, "");
    assert_false(file_exists(tree_path(&p->w->t, "ws/ran")));
    assert_asked(p, "");
    packages_free(p);
}

/* PL-33: auto-enable covers existing dependencies only, `use` anything. */
static void only_dependencies_are_enabled_by_themselves(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"*\"]\n");
    dependency(p, "old", "1.0.0", "{" JSERVER("s") "}")->id.version = STR("2.0.0");
    package(p, "cargo", "stray", "1.0.0", "{" JSERVER("t") "}")->offered = true;
    resolve(p->w);
    assert_servers(p->w, "");
    assert_int_equal(p->w->res->plugins.v[0].state, PLUGIN_CANDIDATE);
    assert_int_equal(p->w->res->plugins.v[1].state, PLUGIN_CANDIDATE);
    config(p, "[plugins]\nauto-enable = [\"*\"]\nuse = [\"stray\"]\n");
    resolve(p->w);
    assert_servers(p->w, "t");
    packages_free(p);
}

/* PL-33, PL-38: `use` loads what nothing depends on; unknown names are errors that say so. */
static void use_loads_a_package_that_nothing_depends_on(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nuse = [\"lone\", { name = \"x\", pm = \"npm\" }, \"absent\", { name "
              "= \"far\", workspace = \"/elsewhere\" }, { name = \"y\", pm = \"user-plugins\" "
              "}, \"off\"]\ndisable = [\"off\"]\n");
    package(p, "cargo", "lone", "1.0.0", "{" JSERVER("a") "}");
    package(p, "npm", "lone", "3.0.0", "{" JSERVER("b") "}");
    package(p, "npm", "x", "1.0.0", "{" JSERVER("c") "}");
    package(p, "cargo", "x", "1.0.0", "{" JSERVER("d") "}");
    package(p, "cargo", "off", "1.0.0", "{" JSERVER("e") "}");
    resolve(p->w);
    assert_asked(p, "lone, npm:x, absent");
    assert_servers(p->w, "a b c");
    assert_states(p->w,
                  "lone active: [plugins] use\nlone active: [plugins] use\nx active: "
                  "[plugins] use\nabsent error: [plugins] use: package absent: nothing of "
                  "this name\n");
    assert_problems(p->w, "[plugins] use: package absent: nothing of this name\n");
    packages_free(p);
}

/* PL-23: a package's own gates still apply. */
static void enabled_is_not_active(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"*\"]\n");
    dependency(p, "a", "1.0.0", "{\"depends-on\":\"tokio\"," JSERVER("s") "}");
    dependency(
        p, "b", "1.0.0",
        "{\"mcp_servers\":[{\"name\":\"t\",\"command\":\"sh\",\"depends-on\":[\"b>=2\"]},"
        "{\"name\":\"u\",\"command\":\"sh\",\"depends-on\":[\"b>=1\"]}]}");
    resolve(p->w);
    assert_servers(p->w, "u");
    assert_states(p->w, "a gated: " NO_GATE "\nb active: [plugins] auto-enable\n");
    packages_free(p);
}

/* PL-36: by (pm, name) after the workspace's own; of two versions the newer; a registry's
 * plugin takes the place of the package of that name. */
static void packages_come_last_and_give_way_to_registries(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"*\"]\n");
    user_plugin(p->w, "z-reg", ANY);
    user_plugin(p->w, "my_crate", ANY RUN("from-registry"));
    tree_put(&p->w->t, "ws/SYMPOSIUM.toml", "");
    dependency(p, "my-crate", "1.0.0", "{" JSERVER("from-package") "}");
    dependency(p, "two", "1.9.0", "{" JSERVER("older") "}");
    dependency(p, "two", "1.10.0", "{" JSERVER("newer") "}");
    dependency(p, "b", "1.0.0", "{}");
    package(p, "npm", "a", "1.0.0", "{}")->offered = true;
    add_dep(p->w, "npm", "a", "1.0.0");
    resolve(p->w);
    assert_servers(p->w, "from-registry newer");
    assert_states(p->w, "my_crate active: registry user-plugins\nz-reg active: registry "
                        "user-plugins\nws active: workspace root\n"
                        "b active: [plugins] auto-enable\ntwo active: [plugins] auto-enable\n"
                        "a active: [plugins] auto-enable\n");
    assert_int_equal(warnings_with(p, "package cargo:my-crate is left out: registry "
                                      "'user-plugins' has a plugin of this name"),
                     1);
    packages_free(p);
}

/* ---- roots: PM-7, SEC-49 ---- */

static void an_offer_with_a_bad_root_is_dropped(void **state)
{
    static const struct {
        const char *root, *says;
    } cases[] = {
        { "/", "is the whole system" },
        { "//", "is the whole system" },
        { "/./", "is the whole system" },
        { "store", "is no absolute path" },
        { "", "is no absolute path" },
        { "@/store/../store", "holds '..'" },
        { "/..", "holds '..'" },
        { "@/vanished", "is not there" },
        { "@/file", "is no directory" },
        { "@/link", "is a symbolic link" },
        { "@/dangling", "is a symbolic link" },
        { "@/file/x", "is not there" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct packages *p = packages_new();
        struct arena *a = &p->w->t.a;
        const char *root = cases[i].root;

        tree_put(&p->w->t, "file", "");
        assert_int_equal(symlink("/etc", tree_path(&p->w->t, "link")), 0);
        assert_int_equal(symlink("/nowhere", tree_path(&p->w->t, "dangling")), 0);
        config(p, "[plugins]\nauto-enable = [\"w\"]\n");
        dependency(p, "good", "1.0.0", "{}");
        dependency(p, "w", "1.0.0", "{" JSERVER("s") "}")->root =
            *root == '@' ? arena_printf(a, "%s%s", p->w->t.root, root + 1) : root;
        resolve(p->w);
        assert_servers(p->w, "");
        assert_int_equal(p->w->res->problems.n, 1);
        assert_has(p->w->res->problems.v[0].p, "skipping cargo:w 1.0.0: its root '");
        assert_has(p->w->res->problems.v[0].p, cases[i].says);
        assert_int_equal(p->w->res->plugins.n, 2);
        packages_free(p);
    }
}

/* PM-4, SEC-49: skills are resolved beneath the root, also through links; PL-4: the default
 * group, once. */
static void skill_groups_stay_beneath_the_root(void **state)
{
    struct packages *p = packages_new();
    struct known *k;

    config(p, "[plugins]\nauto-enable = [\"*\"]\n");
    k = dependency(
        p, "w", "1.0.0",
        "{\"skills\":[{\"source\":{\"path\":\"in\"}},{\"source\":{\"path\":\"out\"}},"
        "{\"source\":{\"path\":\"absent\"}},{\"source\":{\"git\":\"https://h/o/r\"}},"
        "{\"source\":{\"path\":\"gated\"},\"depends-on\":\"tokio\"},"
        "{\"source\":{\"path\":\"skills\"}}]}");
    tree_put(&p->w->t, "store/cargo/w-1.0.0/in/", "");
    tree_put(&p->w->t, "store/cargo/w-1.0.0/gated/", "");
    tree_put(&p->w->t, "store/cargo/w-1.0.0/skills/", "");
    assert_int_equal(symlink("/etc", path_join(&p->w->t.a, k->root, "out")), 0);
    dependency(p, "x", "1.0.0", "{\"defaults\":{\"skills\":false}}");
    tree_put(&p->w->t, "store/cargo/x-1.0.0/skills/", "");
    resolve(p->w);
    assert_int_equal(p->w->res->groups.n, 3);
    assert_str(p->w->res->groups.v[0].dir, path_join(&p->w->t.a, k->root, "in"));
    assert_str(p->w->res->groups.v[1].git, "https://h/o/r");
    assert_str(p->w->res->groups.v[2].dir, path_join(&p->w->t.a, k->root, "skills"));
    assert_int_equal(warnings_with(p, "lead out of its directory"), 1);
    packages_free(p);

    /* a path out of it is no manifest at all */
    p = packages_new();
    config(p, "[plugins]\nauto-enable = [\"*\"]\n");
    dependency(p, "w", "1.0.0", "{\"skills\":[{\"source\":{\"path\":\"../../..\"}}]}");
    resolve(p->w);
    assert_int_equal(p->w->res->groups.n, 0);
    assert_has(p->w->res->problems.v[0].p, "must stay beneath");
    packages_free(p);
}

/* A member of the workspace is its own plugin, whoever offers it (PM-20). */
static void the_workspaces_own_directories_are_no_packages(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"*\"]\ntrust-workspace = \"ask\"\n");
    tree_put(&p->w->t, "ws/SYMPOSIUM.toml", "");
    dependency(p, "me", "1.0.0", "{" JSERVER("s") "}")->root = tree_path(&p->w->t, "ws");
    resolve(p->w);
    assert_servers(p->w, "");
    assert_states(p->w, "ws active: workspace root\n");
    packages_free(p);
}

/* ---- chained plugins: PL-10, PL-37 ---- */

/* PL-32: the edge of a trusted plugin vouches, over several hops. */
static void a_trusted_plugins_edges_vouch(void **state)
{
    struct packages *p = packages_new();

    user_plugin(p->w, "top", ANY EDGE("cargo", "\"one\""));
    package(p, "cargo", "one", "1.0.0",
            "{\"installations\":[{\"name\":\"t\",\"executable\":\"/bin/true\"}],"
            "\"subcommand\":{\"go\":{\"description\":\"d\",\"command\":\"t\"}}," JSERVER(
                "s1") "," JEDGES(JEDGE("two")) "}");
    package(p, "cargo", "two", "1.0.0",
            "{\"hooks\":[{\"name\":\"h\",\"event\":\"Stop\",\"command\":{\"executable\":"
            "\"/bin/true\"}}]," JSERVER("s2") "," JEDGES(
                "{\"source\":{\"npm\":{\"name\":\"@s/three\"}}}") "}");
    package(p, "npm", "@s/three", "1.0.0", "{" JSERVER("s3") "}");
    tree_put(&p->w->t, "store/cargo/one-1.0.0/skills/", "");
    resolve(p->w);
    assert_problems(p->w, "");
    assert_servers(p->w, "s1 s2 s3");
    assert_states(p->w, "top active: registry user-plugins\none active: chained from top\ntwo "
                        "active: chained from one\n@s/three active: chained from two\n");
    assert_asked(p, "cargo:one, cargo:two, npm:@s/three");
    assert_int_equal(p->w->res->subcommands.n, 1);
    assert_true(p->w->res->subcommands.v[0].trusted);
    assert_int_equal(p->w->res->groups.n, 1);
    assert_true(p->w->res->plugins.v[3].trusted);
    assert_ptr_equal(p->w->res->plugins.v[2].chained_from, p->w->res->plugins.v[1].plugin);
    packages_free(p);
}

/* The gate decides whether, `source` decides which. */
static void an_edges_gate_decides_whether(void **state)
{
    struct packages *p = packages_new();

    user_plugin(
        p->w, "top",
        ANY EDGE("cargo", "\"no\"") "depends-on = [\"tokio\"]\n" EDGE(
            "cargo",
            "\"yes\"") "depends-on = [\"serde\"]\n" EDGE("cargo",
                                                         "\"shell\"") "predicates = "
                                                                      "[\"shell(exit 0)\"]\n");
    user_plugin(p->w, "gated", "depends-on = [\"tokio\"]\n" EDGE("cargo", "\"never\""));
    user_plugin(p->w, "sleeps", "predicates = [\"env(HOME)\"]\n" RUN("x"));
    package(p, "cargo", "yes", "1.0.0", "{" JSERVER("s") "}");
    package(p, "cargo", "shell", "1.0.0", "{\"depends-on\":\"tokio\"," JSERVER("t") "}");
    add_dep(p->w, "cargo", "serde", "1.0.0");
    resolve(p->w);
    assert_asked(p, "cargo:yes, cargo:shell");
    assert_servers(p->w, "s");
    packages_free(p);
}

/* Cycles, cycles that only the names' hyphens hide, and diamonds: each package once. */
static void each_package_is_loaded_once(void **state)
{
    static const struct {
        const char *a, *b, *c, *states, *asked;
    } cases[] = {
        { JEDGE("pb"), JEDGE("pa"), "",
          "pa active: chained from top\npb active: chained from pa\n", "cargo:pa, cargo:pb" },
        { JEDGE("pa"), "", "", "pa active: chained from top\n", "cargo:pa" },
        { JEDGE("p_b") "," JEDGE("p-a") "," JEDGE("pb"), JEDGE("p-c"), JEDGE("p_c"),
          "pa active: chained from top\np-b active: chained from pa\np-a error: plugin 'pa': "
          "package cargo:p-a: nothing of this name\npb active: chained from pa\n",
          "cargo:pa, cargo:p_b, cargo:p-a, cargo:pb, cargo:p-c" },
        { JEDGE("pb") "," JEDGE("pc"), JEDGE("pd"), JEDGE("pd"),
          "pa active: chained from top\npb active: chained from pa\npc active: chained from "
          "pa\npd "
          "active: chained from pb\n",
          "cargo:pa, cargo:pb, cargo:pc, cargo:pd" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct packages *p = packages_new();
        struct arena *a = &p->w->t.a;

        if (i == 2)
            package(p, "cargo", "p-b", "1.0.0", NULL);
        user_plugin(p->w, "top", ANY EDGE("cargo", "\"pa\""));
        package(p, "cargo", "pa", "1.0.0", arena_printf(a, "{" JEDGES("%s") "}", cases[i].a));
        package(p, "cargo", "pb", "1.0.0", arena_printf(a, "{" JEDGES("%s") "}", cases[i].b));
        package(p, "cargo", "pc", "1.0.0", arena_printf(a, "{" JEDGES("%s") "}", cases[i].c));
        package(p, "cargo", "pd", "1.0.0", NULL);
        resolve(p->w);
        assert_asked(p, cases[i].asked);
        if (i != 2)
            assert_states(p->w, arena_printf(a, "top active: registry user-plugins\n%s",
                                             cases[i].states));
        packages_free(p);
    }
}

/* PL-20 on edges: for cargo '-' and '_' are one letter, for npm they are two. */
static void names_are_normalised_for_cargo_only(void **state)
{
    struct packages *p = packages_new();

    user_plugin(p->w, "top",
                ANY EDGE("cargo", "\"a-b\"") EDGE("cargo", "\"a_b\"") EDGE("npm", "\"a-b\"")
                    EDGE("npm", "\"a_b\""));
    package(p, "cargo", "a_b", "1.0.0", NULL);
    package(p, "npm", "a-b", "1.0.0", NULL);
    package(p, "npm", "a_b", "1.0.0", NULL);
    resolve(p->w);
    assert_asked(p, "cargo:a-b, npm:a-b, npm:a_b");
    assert_states(p->w, "top active: registry user-plugins\na_b active: chained from top\na-b "
                        "active: chained from top\na_b active: chained from top\n");
    packages_free(p);
}

/* The version is honoured: asked for as a requirement, an answer that does not fit is none;
 * what the workspace has is taken when it fits. PL-18: '=' of an atom is '^'. */
static void an_edges_version_is_honoured(void **state)
{
    static const struct {
        const char *edge, *have, *asked;
        bool loads;
    } cases[] = {
        { "\"w\"", "1.0.0", "cargo:w", true },
        { "\"w>=2\"", "2.1.0", "cargo:w >=2", true },
        { "\"w=2.1\"", "2.5.0", "cargo:w ^2.1", true },
        { "\"w==2.1.0\"", "2.1.0", "cargo:w =2.1.0", true },
        { "\"w==2.1.0\"", "2.1.1", "cargo:w =2.1.0", false },
        { "\"w>=1,<2\"", "2.0.0", "cargo:w >=1,<2", false },
        { "{ name = \"w\", version = \"^1\" }", "1.9.9", "cargo:w ^1", true },
        { "{ name = \"w\", version = \"=1.0\" }", "1.1.0", "cargo:w =1.0", false },
        { "{ name = \"w\", version = \"*\" }", "odd", "cargo:w", true },
        { "{ name = \"w\", version = \"^1\" }", "odd", "cargo:w ^1", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct packages *p = packages_new();

        user_plugin(p->w, "top",
                    arena_printf(&p->w->t.a, ANY EDGE("cargo", "%s"), cases[i].edge));
        package(p, "cargo", "w", cases[i].have, "{" JSERVER("s") "}");
        resolve(p->w);
        assert_asked(p, cases[i].asked);
        assert_servers(p->w, cases[i].loads ? "s" : "");
        assert_int_equal(p->w->res->problems.n, !cases[i].loads);
        packages_free(p);
    }
}

static void a_dependencys_own_version_is_preferred(void **state)
{
    struct packages *p = packages_new();

    user_plugin(p->w, "top", ANY EDGE("cargo", "\"w>=1\""));
    dependency(p, "w", "1.5.0", "{" JSERVER("s") "}");
    package(p, "cargo", "w", "1.9.0", "{" JSERVER("newer") "}");
    resolve(p->w);
    assert_asked(p, ""); /* it is at hand */
    assert_servers(p->w, "s");
    /* PL-32: no longer a candidate */
    assert_states(p->w, "top active: registry user-plugins\nw active: chained from top\n");
    packages_free(p);

    p = packages_new();
    user_plugin(p->w, "top", ANY EDGE("cargo", "\"w>=1.6\""));
    dependency(p, "w", "1.5.0", "{" JSERVER("s") "}");
    package(p, "cargo", "w", "1.9.0", "{" JSERVER("newer") "}");
    resolve(p->w);
    assert_asked(p, "cargo:w >=1.6");
    assert_servers(p->w, "newer");
    packages_free(p);
}

/* PL-33: disable beats edges; such a package is not even asked for. Opt-out of skills. */
static void a_disabled_package_is_not_chained(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\ndisable = [\"p-a\"]\n");
    user_plugin(p->w, "top", ANY EDGE("cargo", "\"p_a\"") EDGE("cargo", "\"pb\""));
    package(p, "cargo", "pb", "1.0.0", "{\"name\":\"top\"," JSERVER("s") "}");
    resolve(p->w);
    assert_asked(p, "cargo:pb");
    assert_servers(p->w, "s");
    assert_states(p->w, "top active: registry user-plugins\np_a declined: " DECLINED_REASON
                        "\npb active: chained from top\n");
    packages_free(p);
}

/* Bad metadata, a missing directory, another name: a warning at that edge, nothing else. */
static void a_bad_chained_package_is_an_error_of_its_own(void **state)
{
    struct packages *p = packages_new();
    const char *bad;

    user_plugin(p->w, "top",
                ANY EDGE("cargo", "\"bad\"") EDGE("cargo", "\"gone\"") EDGE("cargo", "\"none\"")
                    EDGE("cargo", "\"good\""));
    bad = package(p, "cargo", "bad", "1.0.0", "{\"hooks\":7}")->root;
    package(p, "cargo", "gone", "1.0.0", "{}")->root = "/nowhere/at/all";
    package(p, "cargo", "good", "1.0.0", "{" JSERVER("s") "}");
    resolve(p->w);
    assert_servers(p->w, "s");
    assert_states(
        p->w, arena_printf(
                  &p->w->t.a,
                  "top active: registry user-plugins\ngood active: chained from top\n"
                  "cargo:bad error: plugin 'top': package cargo:bad: its manifest, in '%s': "
                  "'hooks' must be an array of tables, not an integer\n"
                  "cargo:gone error: plugin 'top': package cargo:gone: its root "
                  "'/nowhere/at/all' is not there\n"
                  "cargo:none error: plugin 'top': package cargo:none: nothing of this name\n",
                  bad));
    assert_int_equal(p->w->res->problems.n, 3);
    packages_free(p);
}

/* PL-32: a workspace's own edges count, what they bring may run nothing before consent; a
 * package that a trusted plugin reaches, too, is trusted in either order. */
static void an_untrusted_workspace_vouches_for_nothing(void **state)
{
    struct packages *p = packages_new();

    tree_put(&p->w->t, "ws/SYMPOSIUM.toml",
             EDGE("cargo", "\"pa\"") EDGE("cargo", "\"shared\"")
                 EDGE("cargo", "\"pc\"") "predicates = [\"shell(touch ran)\"]\n");
    user_plugin(p->w, "top", ANY EDGE("cargo", "\"deep\""));
    package(p, "cargo", "deep", "1.0.0", "{" JEDGES(JEDGE("deeper")) "}");
    package(p, "cargo", "deeper", "1.0.0", "{" JEDGES(JEDGE("shared")) "}");
    package(p, "cargo", "shared", "1.0.0", "{" JSERVER("ok") "}");
    package(p, "cargo", "pa", "1.0.0", "{" JSERVER("no") "," JEDGES(JEDGE("pb")) "}");
    package(
        p, "cargo", "pb", "1.0.0",
        "{\"mcp_servers\":[{\"name\":\"nor\",\"command\":\"sh\",\"predicates\":[\"shell(touch "
        "ran)\"]}]}");
    tree_put(&p->w->t, "store/cargo/pb-1.0.0/skills/", "");
    resolve(p->w);
    assert_servers(p->w, "ok");
    assert_problems(p->w, "package cargo:pc of plugin 'ws': " UNTRUSTED "\nno: " UNTRUSTED
                          "\nnor: " UNTRUSTED "\n");
    assert_int_equal(p->w->res->groups.n, 1); /* skills need no consent */
    assert_false(p->w->res->groups.v[0].trusted);
    assert_int_equal(p->locals, 2); /* nothing is fetched on its word: pa, pb */
    assert_false(file_exists(tree_path(&p->w->t, "ws/ran")));
    /* A manifest with edges alone runs programs, too: consent is asked for. */
    for (size_t i = 0; i < p->w->res->plugins.n; i++)
        if (str_is(p->w->res->plugins.v[i].name, "ws"))
            assert_true(plugin_runs_programs(p->w->res->plugins.v[i].plugin));
    config(p, "[plugins]\ntrust-workspace = \"always\"\n");
    resolve(p->w);
    assert_servers(p->w, "no nor ok");
    assert_int_equal(p->locals, 2);
    packages_free(p);
}

/* PL-15, PL-37: custom predicates of a chained package serve whoever comes later. */
static void a_chained_package_brings_its_predicates(void **state)
{
    struct packages *p = packages_new();

    user_plugin(p->w, "top",
                ANY EDGE("cargo", "\"pa\"") RUN("s") "predicates = [\"yes()\"]\n" RUN(
                    "t") "predicates = [\"twice()\"]\n");
    package(p, "cargo", "pa", "1.0.0",
            "{\"predicate\":[{\"name\":\"yes\",\"command\":{\"executable\":\"/bin/true\"}},"
            "{\"name\":\"twice\",\"command\":{\"executable\":\"/bin/true\"}}]," JEDGES(
                JEDGE("pb")) "}");
    package(
        p, "cargo", "pb", "1.0.0",
        "{\"predicate\":[{\"name\":\"twice\",\"command\":{\"executable\":\"/bin/true\"}}]}");
    resolve(p->w);
    assert_servers(p->w, "s");
    assert_int_equal(p->w->res->problems.n, 1);
    assert_has(p->w->res->problems.v[0].p, "'twice' is defined more than once");
    packages_free(p);
}

/* No depth limit beyond RESOLVE_MAX_EDGES, which says so. */
static void a_long_chain_ends(void **state)
{
    struct packages *p = packages_new();
    struct arena *a = &p->w->t.a;

    user_plugin(p->w, "top", ANY EDGE("cargo", "\"p0\""));
    for (int i = 0; i < RESOLVE_MAX_EDGES + 5; i++)
        package(p, "cargo", arena_printf(a, "p%d", i), "1.0.0",
                arena_printf(a, "{" JEDGES("{\"source\":{\"cargo\":\"p%d\"}}") "}", i + 1));
    resolve(p->w);
    assert_int_equal(p->asked.n, RESOLVE_MAX_EDGES);
    assert_int_equal(p->w->res->plugins.n, RESOLVE_MAX_EDGES + 1);
    assert_problems(p->w, "plugins chain to more than 1000 packages; the rest is left out\n");
    packages_free(p);
}

/* PL-37, MS-11: one server name in two packages: the first in order keeps it. */
static void a_servers_name_belongs_to_the_first(void **state)
{
    struct packages *p = packages_new();

    config(p, "[plugins]\nauto-enable = [\"*\"]\n");
    dependency(p, "b", "1.0.0", "{" JSERVER("s") "}");
    dependency(p, "a", "1.0.0", "{" JSERVER("s") "}");
    resolve(p->w);
    assert_servers(p->w, "s");
    assert_str(p->w->res->servers.v[0].plugin->package, "a");
    assert_problems(p->w, "s: plugin 'a' already has a server of this name; the one of plugin "
                          "'b' is left out\n");
    packages_free(p);
}

/* ---- the source ---- */

/* PM-8: a package manager that fails takes nothing else with it. */
static void a_failing_source_degrades_and_nothing_more(void **state)
{
    struct packages *p = packages_new();

    p->problem = "package manager 'x': exited with status 7";
    p->degraded = true;
    user_plugin(p->w, "top", ANY RUN("s"));
    resolve(p->w);
    assert_servers(p->w, "s");
    assert_problems(p->w, "package manager 'x': exited with status 7\n");
    assert_true(p->w->res->pm_degraded);
    packages_free(p);
}

/* Without a source edges are not followed. */
static void without_a_source_there_are_no_packages(void **state)
{
    struct packages *p = packages_new();

    p->w->packages = NULL;
    user_plugin(p->w, "top", ANY EDGE("cargo", "\"pa\"") RUN("s"));
    resolve(p->w);
    assert_servers(p->w, "s");
    assert_problems(p->w, "");
    packages_free(p);
}

static void on_never(void *ctx, struct resolution *res)
{
    fail_msg("called");
}

static void stop(void *ctx)
{
    loop_stop(ctx);
}

/* A resolution that is given up asks for nothing any more, wherever it is. */
static void cancelling_drops_what_was_asked(void **state)
{
    for (int ms = 0; ms < 2; ms++) {
        struct packages *p = packages_new();
        struct resolve_opts o = { .dirs = &p->w->dirs,
                                  .start_dir = tree_path(&p->w->t, "ws"),
                                  .packages = &p->source };
        struct timer *t = timer_new(p->w->loop, stop, p->w->loop);
        struct resolver *r;

        p->never = "pa";
        user_plugin(p->w, "top", ANY EDGE("cargo", "\"pa\"") EDGE("cargo", "\"pb\""));
        r = resolve_begin(p->w->loop, &o, NULL);
        assert_non_null(r);
        resolve_finish(r, &(struct found_deps){ 0 }, on_never, NULL);
        if (ms) {
            timer_set(t, 50);
            loop_run(p->w->loop);
            assert_int_equal(p->asked.n, 2);
        }
        assert_non_null(p->open);
        resolve_cancel(r);
        timer_free(t);
        packages_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dependencys_plugin_needs_the_users_word),
        cmocka_unit_test(a_manifest_cannot_enable_itself),
        cmocka_unit_test(a_bad_manifest_is_an_error_of_that_package_alone),
        cmocka_unit_test(nothing_of_a_candidate_runs),
        cmocka_unit_test(only_dependencies_are_enabled_by_themselves),
        cmocka_unit_test(use_loads_a_package_that_nothing_depends_on),
        cmocka_unit_test(enabled_is_not_active),
        cmocka_unit_test(packages_come_last_and_give_way_to_registries),
        cmocka_unit_test(an_offer_with_a_bad_root_is_dropped),
        cmocka_unit_test(skill_groups_stay_beneath_the_root),
        cmocka_unit_test(the_workspaces_own_directories_are_no_packages),
        cmocka_unit_test(a_trusted_plugins_edges_vouch),
        cmocka_unit_test(an_edges_gate_decides_whether),
        cmocka_unit_test(each_package_is_loaded_once),
        cmocka_unit_test(names_are_normalised_for_cargo_only),
        cmocka_unit_test(an_edges_version_is_honoured),
        cmocka_unit_test(a_dependencys_own_version_is_preferred),
        cmocka_unit_test(a_disabled_package_is_not_chained),
        cmocka_unit_test(a_bad_chained_package_is_an_error_of_its_own),
        cmocka_unit_test(an_untrusted_workspace_vouches_for_nothing),
        cmocka_unit_test(a_chained_package_brings_its_predicates),
        cmocka_unit_test(a_long_chain_ends),
        cmocka_unit_test(a_servers_name_belongs_to_the_first),
        cmocka_unit_test(a_failing_source_degrades_and_nothing_more),
        cmocka_unit_test(without_a_source_there_are_no_packages),
        cmocka_unit_test(cancelling_drops_what_was_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
