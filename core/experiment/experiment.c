/* experiment.c - resolves an experiment: from a tree of values to checked structs. */
#include "experiment.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/diagnostics.h"
#include "experiment_tree.h"
#include "grid_plan.h"
#include "old_keys.h"
#include "plugin/plugin_host.h"
#include "schema.h"
#include "settings.h"

#define PLUGIN_KEY "plugin"
#define SHORTEST_CALL_LIMIT_S 0.1

/* A plugin that the file chose or has a group for. */
struct candidate {
    const struct loaded_plugin *loaded;
    const struct node *place; /* where it is named */
    const struct node *group; /* may be empty, never NULL */
    uint32_t kind;
    bool chosen;
    struct settings_table table;
};

struct resolver {
    struct experiment *e;
    struct loader *loader;
    struct diagnostics *d;
    struct node *root;
    struct candidate *candidates;
    size_t n_candidates;
    struct settings_table *tables; /* of the core and of all candidates */
    size_t n_tables;
};

static void out_of_memory(struct diagnostics *d)
{
    diagnostics_no_memory(d);
}

/* ---- plugins ---- */

/* "idx, glyphs": what a kind has to offer, for messages; to be freed. */
static char *list_names(struct loader *l, uint32_t kind)
{
    struct names names;
    if (loader_names(l, kind, &names) != OSAFL_OK)
        return NULL;
    char *list = names_join(&names);
    names_free(&names);
    return list;
}

/* As if the file named the plugin that stands for the kind. */
static const struct node *default_name(struct resolver *r, uint32_t kind, const struct node *group)
{
    const struct node *at = group != NULL ? group : r->root;
    struct node *name = tree_alloc(r->e->tree, sizeof *name);
    if (name == NULL) {
        out_of_memory(r->d);
        return NULL;
    }
    *name = (struct node){.type = NODE_TEXT,
                          .file = at->file,
                          .line = group != NULL ? at->line : 0,
                          .tree = r->e->tree};
    name->value.text = tree_string(r->e->tree, kind_default(kind));
    return name->value.text != NULL ? name : NULL;
}

/* The chosen plugin's name; NULL when none is given or an error was reported. */
static const struct node *chosen_name(struct resolver *r, uint32_t kind, const struct node *group)
{
    const struct node *name = node_child(group, PLUGIN_KEY);
    if (name != NULL && name->type != NODE_TEXT) {
        diagnostics_error(r->d, name->file, name->line,
                          "%s." PLUGIN_KEY ": must be a name in double quotes, but it is %s",
                          kind_name(kind), node_type_words(name->type));
        return NULL;
    }
    if (name == NULL && kind_default(kind) != NULL)
        return default_name(r, kind, group);
    /* Without an optimizer the aggregator chooses; nothing else is ever chosen silently. */
    if (name == NULL && kind != OSAFL_KIND_OPTIMIZER) {
        const struct node *at = group != NULL ? group : r->root;
        char *list = list_names(r->loader, kind);
        diagnostics_error(r->d, at->file, group != NULL ? at->line : 0,
                          "%s." PLUGIN_KEY ": missing; choose one of: %s", kind_name(kind),
                          list != NULL ? list : "");
        free(list);
    }
    return name;
}

static void add_candidate(struct resolver *r, uint32_t kind, const char *name,
                          const struct node *place, const struct node *group, bool chosen)
{
    const struct loaded_plugin *loaded =
        loader_load(r->loader, kind, name, r->d, place->file, place->line);
    if (loaded == NULL)
        return;
    const osafl_plugin *p = loaded->plugin;
    const size_t size = strlen(kind_name(kind)) + strlen(p->name) + 2;
    char *path = tree_alloc(r->e->tree, size);
    if (path == NULL) {
        out_of_memory(r->d);
        return;
    }
    snprintf(path, size, "%s.%s", kind_name(kind), p->name);
    struct candidate *c = &r->candidates[r->n_candidates++];
    *c = (struct candidate){.loaded = loaded,
                            .place = place,
                            .group = group,
                            .kind = kind,
                            .chosen = chosen,
                            .table = {.path = path}};
    c->table.params = p->params;
    c->table.n = p->n_params;
    c->table.stride = p->param_size;
    r->tables[r->n_tables++] = c->table;
}

/* Loads the chosen plugin of a kind and those that have a group. */
static void find_candidates(struct resolver *r, uint32_t kind)
{
    const struct node *group = node_child(r->root, kind_name(kind));
    if (!kind_is_of_experiments(kind)) {
        if (group != NULL)
            diagnostics_error(r->d, group->file, group->line,
                              "%s: an experiment names none, as it changes no result; remove this, "
                              "and give osafl run --%s NAME",
                              kind_name(kind), kind_name(kind));
        return;
    }
    if (group != NULL && group->type != NODE_GROUP) {
        const bool named = group->type == NODE_TEXT;
        diagnostics_error(r->d, group->file, group->line,
                          "%s: must be a group { ... }, but it is %s%s%s%s%.64s%s", kind_name(kind),
                          node_type_words(group->type), named ? "; did you mean " : "",
                          named ? kind_name(kind) : "", named ? "." PLUGIN_KEY " = \"" : "",
                          named ? group->value.text : "", named ? "\"?" : "");
        return;
    }
    const struct node *name = chosen_name(r, kind, group);
    const struct node *own = name != NULL ? node_child(group, name->value.text) : NULL;
    if (name != NULL && (own == NULL || own == name)) {
        /* Without a group of its own, what is missing in it is missing where it was chosen. */
        struct node *empty = tree_alloc(r->e->tree, sizeof *empty);
        if (empty == NULL) {
            out_of_memory(r->d);
            return;
        }
        *empty = (struct node){
            .type = NODE_GROUP, .file = name->file, .line = name->line, .tree = r->e->tree};
        add_candidate(r, kind, name->value.text, name, empty, true);
    }
    for (const struct node *n = group != NULL ? group->first : NULL; n != NULL; n = n->next) {
        if (strcmp(n->name, PLUGIN_KEY) != 0 && (n == own || n->type == NODE_GROUP))
            add_candidate(r, kind, n->name, n == own ? name : n, n, n == own);
    }
}

/* Settings of the core in the group of a kind: models have some. */
static struct settings_table own_settings(uint32_t kind)
{
    return (struct settings_table){.path = kind_name(kind),
                                   .params = schema_model,
                                   .n = kind == OSAFL_KIND_MODEL ? schema_n_model : 0,
                                   .stride = sizeof(osafl_param)};
}

/* Keys of a kind's group that are neither "plugin" nor a plugin's group. */
static void check_kind_group(struct resolver *r, uint32_t kind)
{
    const struct node *group = node_child(r->root, kind_name(kind));
    const struct settings_table own = own_settings(kind);
    if (group == NULL || group->type != NODE_GROUP || !kind_is_of_experiments(kind))
        return; /* said already */
    size_t n = 2;
    for (const struct node *c = group->first; c != NULL; c = c->next)
        n++;
    const char **known = tree_alloc(r->e->tree, n * sizeof *known);
    if (known == NULL) {
        out_of_memory(r->d);
        return;
    }
    known[0] = PLUGIN_KEY;
    n = 1;
    const struct node *name = node_child(group, PLUGIN_KEY);
    for (const struct node *c = group->first; c != NULL; c = c->next) {
        const bool chosen =
            name != NULL && name->type == NODE_TEXT && strcmp(c->name, name->value.text) == 0;
        if (c->type == NODE_GROUP || chosen)
            known[n++] = c->name;
    }
    settings_bind_among(&own, &r->e->model, group, known, r->tables, r->n_tables, r->d);
}

/* Rules between several settings, which only the plugin knows. */
static void check_candidate(struct resolver *r, const struct candidate *c, void *config)
{
    struct error error = {0};
    struct host_context context = {.seed = (uint64_t)r->e->general.seed,
                                   .log_level = OSAFL_LOG_WARN};
    struct instance i = {
        .plugin = c->loaded->plugin, .host = &core_host, .context = &context, .config = config};
    if (instance_check(&i, &error) == OSAFL_OK)
        return;
    /* Plugins may begin their message with the name of the group. */
    const size_t n = strlen(c->table.path);
    const bool named = strncmp(error.text, c->table.path, n) == 0;
    diagnostics_error(r->d, c->group->file, c->group->line, "%s%s%s", named ? "" : c->table.path,
                      named ? "" : ": ", error.text);
}

static void bind_candidate(struct resolver *r, const struct candidate *c)
{
    const osafl_plugin *p = c->loaded->plugin;
    void *config = NULL;
    if (p->config_size > 0 && (config = tree_alloc(r->e->tree, p->config_size)) == NULL) {
        out_of_memory(r->d);
        return;
    }
    const size_t errors_before = diagnostics_errors(r->d);
    settings_bind_among(&c->table, config, c->group, NULL, r->tables, r->n_tables, r->d);
    if (diagnostics_errors(r->d) == errors_before)
        check_candidate(r, c, config);
    if (c->chosen)
        r->e->chosen[c->kind] =
            (struct chosen_plugin){.loaded = c->loaded,
                                   .config = config,
                                   .file = c->place != NULL ? c->place->file : NULL,
                                   .line = c->place != NULL ? c->place->line : 0};
}

/* ---- the core's own settings ---- */

static void bind_core(struct resolver *r)
{
    /* Keys of the top level that are no settings: groups, kinds, and the parts of a grid. */
    const char *groups[48] = {0};
    size_t n = 0;
    for (size_t i = 0; grid_keys[i] != NULL; i++)
        groups[n++] = grid_keys[i];
    for (size_t i = 0; i < schema_n_groups; i++) {
        if (schema_groups[i].name[0] != '\0')
            groups[n++] = schema_groups[i].name;
    }
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        if (kind_is_of_experiments(kind) || node_child(r->root, kind_name(kind)) != NULL)
            groups[n++] = kind_name(kind); /* of the others it is said already */
    }
    for (size_t i = 0; i < schema_n_groups; i++) {
        const struct schema_group *g = &schema_groups[i];
        const bool top = g->name[0] == '\0';
        settings_bind_among(&r->tables[i], schema_values(g, r->e),
                            top ? r->root : node_child(r->root, g->name), top ? groups : NULL,
                            r->tables, r->n_tables, r->d);
    }
}

/* Where a setting was given, for messages about several settings. */
static void report_at(struct resolver *r, const char *group, const char *key, const char *text)
{
    const struct node *g = group[0] != '\0' ? node_child(r->root, group) : r->root;
    const struct node *n = node_child(g, key);
    const struct node *at = n != NULL ? n : r->root;
    diagnostics_error(r->d, at->file, n != NULL ? at->line : 0, "%s%s%s: %s", group,
                      group[0] != '\0' ? "." : "", key, text);
}

/* Names become folders. */
static bool is_folder_name(const char *name)
{
    if (!isalnum((unsigned char)name[0]))
        return false;
    size_t n = 1;
    while (isalnum((unsigned char)name[n]) || (name[n] != '\0' && strchr("._-", name[n]) != NULL))
        n++;
    return name[n] == '\0' && n <= 100;
}

static void check_core(struct resolver *r)
{
    const struct experiment *e = r->e;
    if (!is_folder_name(e->general.name))
        report_at(r, "", "name",
                  "becomes the name of a folder: letters, digits, \".\", \"_\" and \"-\" only, "
                  "the first a letter or digit, at most 100");
    if (e->general.call_limit_s > 0.0 && e->general.call_limit_s < SHORTEST_CALL_LIMIT_S)
        report_at(r, "", "call_limit_s",
                  "too short: on a busy machine any plugin may take that long; choose 0.1 s "
                  "or more, or 0 for no limit");
    const struct loaded_plugin *arrival = e->chosen[OSAFL_KIND_ARRIVAL].loaded;
    if (e->clients.arrivals > e->clients.storage &&
        (arrival == NULL || !plugin_has_feature(arrival->plugin, "own_numbers"))) {
        char text[160];
        snprintf(text, sizeof text,
                 "more samples would arrive in a round, %" PRId64
                 ", than clients.storage = %" PRId64 " holds; lower the one or raise the other",
                 e->clients.arrivals, e->clients.storage);
        report_at(r, "clients", "arrivals", text);
    }
}

/* ---- visiting ---- */

struct setting_visit {
    const struct experiment *e;
    setting_visitor *visitor;
    void *arg;
};

/* The name of a file as seen from the experiment file's folder, so that origins do not depend on
 * where the program was started. */
static const char *seen_from(const struct node *root, const char *file)
{
    const char *slash = strrchr(root->file, '/');
    const size_t n = slash != NULL ? (size_t)(slash + 1 - root->file) : 0;
    return strncmp(file, root->file, n) == 0 ? file + n : file;
}

/* Where the value stands, or `without` when it stands nowhere. */
static void print_origin(const struct node *root, const struct node *n, const char *without,
                         char *out, size_t size)
{
    const char *layer = n != NULL && n->layer != NULL ? n->layer : "";
    const char *separator = layer[0] != '\0' ? ", " : "";
    if (n == NULL)
        snprintf(out, size, "%s", without);
    else if (n->line == 0)
        snprintf(out, size, "%s%s%s", layer, separator, n->file);
    else
        snprintf(out, size, "%s%s%s:%u", layer, separator, seen_from(root, n->file), n->line);
}

/* kind: of the plugin that the setting chooses, 0 for any other. */
static osafl_status visit_one(const struct setting_visit *v, uint32_t kind, const char *group,
                              const char *key, const char *text, const osafl_param *p,
                              const struct node *n)
{
    char origin[4096 + 256];
    const bool wanted = kind == OSAFL_KIND_OPTIMIZER;
    print_origin(tree_root(v->e->tree), n, wanted ? "wanted by the aggregator" : "default", origin,
                 sizeof origin);
    struct setting s = {.group = group, .key = key, .text = text, .param = p, .origin = origin};
    char *default_text = NULL;
    if (p != NULL && (p->flags & OSAFL_P_LATER) != 0) {
        default_text = settings_default_text(p);
        if (default_text == NULL)
            return OSAFL_E_NOMEM;
    } else if (kind != 0 && kind_default(kind) != NULL &&
               asprintf(&default_text, "\"%s\"", kind_default(kind)) < 0) {
        return OSAFL_E_NOMEM;
    }
    s.earlier = default_text;
    const osafl_status status = v->visitor(v->arg, &s);
    free(default_text);
    return status;
}

static osafl_status visit_table(const struct setting_visit *v, const struct settings_table *t,
                                const void *config, const struct node *group)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const osafl_param *p = OSAFL_AT(osafl_param, t->params, t->stride, i);
        char *text = settings_text(p, config);
        if (text == NULL)
            return OSAFL_E_NOMEM;
        const osafl_status status =
            visit_one(v, 0, t->path, p->name, text, p, node_child(group, p->name));
        free(text);
        OSAFL_TRY(status);
    }
    return OSAFL_OK;
}

static osafl_status visit_plugin(const struct setting_visit *v, uint32_t kind)
{
    const struct chosen_plugin *chosen = &v->e->chosen[kind];
    if (chosen->loaded == NULL)
        return OSAFL_OK;
    const osafl_plugin *p = chosen->loaded->plugin;
    const struct node *group = node_child(tree_root(v->e->tree), kind_name(kind));
    char text[64];
    char path[80];
    snprintf(text, sizeof text, "\"%s\"", p->name);
    snprintf(path, sizeof path, "%s.%s", kind_name(kind), p->name);
    OSAFL_TRY(
        visit_one(v, kind, kind_name(kind), PLUGIN_KEY, text, NULL, node_child(group, PLUGIN_KEY)));
    const struct settings_table own = own_settings(kind);
    OSAFL_TRY(visit_table(v, &own, &v->e->model, group));
    const struct settings_table t = {
        .path = path, .params = p->params, .n = p->n_params, .stride = p->param_size};
    return visit_table(v, &t, chosen->config, node_child(group, p->name));
}

osafl_status experiment_visit(const struct experiment *e, setting_visitor *visit, void *arg)
{
    const struct setting_visit v = {.e = e, .visitor = visit, .arg = arg};
    const struct node *root = tree_root(e->tree);
    for (size_t i = 0; i < schema_n_groups; i++) {
        const struct schema_group *g = &schema_groups[i];
        const struct settings_table t = {
            .path = g->name, .params = g->table, .n = g->n, .stride = sizeof(osafl_param)};
        OSAFL_TRY(visit_table(&v, &t, schema_values_const(g, e),
                              g->name[0] != '\0' ? node_child(root, g->name) : root));
    }
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        OSAFL_TRY(visit_plugin(&v, kind));
    return OSAFL_OK;
}

/* ---- identity ---- */

static void hash_text(XXH3_state_t *state, const char *text)
{
    XXH3_128bits_update(state, text, strlen(text));
}

/* A line "group.key = value". */
static osafl_status hash_setting(void *arg, const struct setting *s)
{
    XXH3_state_t *state = arg;
    if (s->param != NULL && (s->param->flags & OSAFL_P_NO_EFFECT) != 0)
        return OSAFL_OK;
    if (s->earlier != NULL && strcmp(s->text, s->earlier) == 0)
        return OSAFL_OK;
    hash_text(state, s->group);
    hash_text(state, ".");
    hash_text(state, s->key);
    hash_text(state, " = ");
    hash_text(state, s->text);
    hash_text(state, "\n");
    return OSAFL_OK;
}

/* XXH3-128 of the canonical text of everything that can change a result. */
static osafl_status compute_identity(struct experiment *e)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    OSAFL_TRY(experiment_visit(e, hash_setting, &state));
    const XXH128_hash_t hash = XXH3_128bits_digest(&state);
    snprintf(e->identity, sizeof e->identity, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
             (uint64_t)hash.low64);
    return OSAFL_OK;
}

/* ---- loading ---- */

/* Memory for the tables of the core and of every plugin that the file may name. */
static bool allocate_tables(struct resolver *r)
{
    size_t n = LOADER_KINDS;
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        const struct node *group = node_child(r->root, kind_name(kind));
        for (const struct node *c = group != NULL ? group->first : NULL; c != NULL; c = c->next)
            n++;
    }
    r->candidates = tree_alloc(r->e->tree, n * sizeof *r->candidates);
    r->tables = tree_alloc(r->e->tree, (schema_n_groups + n) * sizeof *r->tables);
    if (r->candidates == NULL || r->tables == NULL)
        return false;
    for (size_t i = 0; i < schema_n_groups; i++) {
        const struct schema_group *g = &schema_groups[i];
        r->tables[r->n_tables++] = (struct settings_table){
            .path = g->name, .params = g->table, .n = g->n, .stride = sizeof(osafl_param)};
    }
    return true;
}

static void resolve(struct resolver *r)
{
    old_keys_refuse(r->root, r->d);
    if (!allocate_tables(r)) {
        out_of_memory(r->d);
        return;
    }
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        find_candidates(r, kind);
    bind_core(r);
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        check_kind_group(r, kind);
    for (size_t i = 0; i < r->n_candidates; i++)
        bind_candidate(r, &r->candidates[i]);
    check_core(r);
}

struct experiment *experiment_resolve(struct experiment_tree *tree, const char *case_name,
                                      const struct experiment_options *o, struct diagnostics *d)
{
    const size_t errors_before = diagnostics_errors(d);
    struct experiment *e = calloc(1, sizeof *e);
    if (e == NULL) {
        tree_destroy(tree);
        out_of_memory(d);
        return NULL;
    }
    e->tree = tree;
    e->case_name = tree_string(tree, case_name);
    if (e->case_name == NULL)
        out_of_memory(d);
    for (size_t i = 0; i < o->n_set; i++)
        tree_set(tree, PLACE_SET, o->set[i], d);
    struct resolver r = {.e = e, .loader = o->loader, .d = d, .root = tree_root(tree)};
    resolve(&r);
    if (diagnostics_errors(d) == errors_before && compute_identity(e) != OSAFL_OK)
        out_of_memory(d);
    if (diagnostics_errors(d) == errors_before)
        return e;
    experiment_destroy(e);
    return NULL;
}

void experiment_destroy(struct experiment *e)
{
    if (e == NULL)
        return;
    tree_destroy(e->tree);
    free(e);
}

static int32_t client_rows(int32_t choice, double clients)
{
    if (choice != CLIENT_ROWS_AUTO)
        return choice;
    return clients <= CLIENT_ROWS_LIMIT ? CLIENT_ROWS_ALL : CLIENT_ROWS_ASKED;
}

int32_t experiment_client_rows(const struct experiment *e)
{
    return client_rows(e->results.clients.index, (double)e->clients.count);
}

int32_t experiment_kept_client_rows(const char *setting, double clients)
{
    for (int32_t i = 0; setting != NULL && schema_client_rows[i] != NULL; i++) {
        if (strcmp(setting, schema_client_rows[i]) == 0)
            return client_rows(i, clients);
    }
    return CLIENT_ROWS_ALL;
}

osafl_status experiment_choose_optimizer(struct experiment *e, struct loader *l, const char *name,
                                         struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_OPTIMIZER;
    if (e->chosen[kind].loaded != NULL)
        return OSAFL_OK;
    const size_t errors_before = diagnostics_errors(d);
    struct candidate candidate = {.chosen = true};
    struct settings_table table;
    struct resolver r = {.e = e,
                         .loader = l,
                         .d = d,
                         .root = tree_root(e->tree),
                         .candidates = &candidate,
                         .tables = &table};
    const struct node empty = {.type = NODE_GROUP, .file = r.root->file, .tree = e->tree};
    const struct node *group = node_child(node_child(r.root, kind_name(kind)), name);
    add_candidate(&r, kind, name, &empty, group != NULL ? group : &empty, true);
    const bool found = r.n_candidates == 1;
    if (found)
        bind_candidate(&r, &candidate);
    if (diagnostics_lack_memory(d))
        return OSAFL_E_NOMEM;
    if (diagnostics_errors(d) != errors_before)
        return found ? OSAFL_E_CONFIG : OSAFL_E_UNSUPPORTED;
    const osafl_status status = compute_identity(e);
    if (status != OSAFL_OK)
        out_of_memory(d);
    return status;
}
