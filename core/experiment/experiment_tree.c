/* experiment_tree.c - what an experiment file says, as a tree that knows where each value stands.
 */
#include "experiment_tree.h"

#include <ctype.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diagnostics.h"
#include "prescan.h"
#include "settings_text.h"

/* Memory is taken in blocks and given back with the tree. */
struct block {
    struct block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

enum { BLOCK_BYTES = 8192 };

struct experiment_tree {
    struct block *blocks;
    struct node *root;
};

/* ---- memory ---- */

void *tree_alloc(struct experiment_tree *t, size_t bytes)
{
    const size_t unit = alignof(max_align_t);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    const size_t rounded = (bytes + unit - 1) / unit * unit;
    if (t->blocks == NULL || t->blocks->size - t->blocks->used < rounded) {
        const size_t size = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
        struct block *b = malloc(sizeof *b + size);
        if (b == NULL)
            return NULL;
        b->next = t->blocks;
        b->used = 0;
        b->size = size;
        t->blocks = b;
    }
    void *result = t->blocks->bytes + t->blocks->used;
    t->blocks->used += rounded;
    memset(result, 0, rounded);
    return result;
}

char *tree_string(struct experiment_tree *t, const char *s)
{
    const size_t n = strlen(s) + 1;
    char *copy = tree_alloc(t, n);
    if (copy != NULL)
        memcpy(copy, s, n);
    return copy;
}

static struct experiment_tree *tree_create(void)
{
    struct experiment_tree *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->root = tree_alloc(t, sizeof *t->root);
    if (t->root == NULL) {
        free(t);
        return NULL;
    }
    t->root->type = NODE_GROUP;
    t->root->tree = t;
    return t;
}

void tree_destroy(struct experiment_tree *t)
{
    if (t == NULL)
        return;
    while (t->blocks != NULL) {
        struct block *next = t->blocks->next;
        free(t->blocks);
        t->blocks = next;
    }
    free(t);
}

/* ---- nodes ---- */

struct node *tree_root(const struct experiment_tree *t)
{
    return t->root;
}

struct node *node_child(const struct node *group, const char *name)
{
    if (group == NULL || group->type != NODE_GROUP)
        return NULL;
    for (struct node *c = group->first; c != NULL; c = c->next) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

const char *node_type_words(enum node_type type)
{
    switch (type) {
    case NODE_GROUP:
        return "a group";
    case NODE_LIST:
        return "a list";
    case NODE_BOOL:
        return "true or false";
    case NODE_INT:
        return "a whole number";
    case NODE_REAL:
        return "a real number";
    case NODE_TEXT:
        return "a text";
    }
    return "?";
}

int node_text(const struct node *n, char *out, size_t size)
{
    int length = 0;
    switch (n->type) {
    case NODE_BOOL:
        return snprintf(out, size, "%s", n->value.boolean ? "true" : "false");
    case NODE_INT:
        return snprintf(out, size, "%" PRId64, n->value.integer);
    case NODE_REAL:
        return settings_real(n->value.real, out, size);
    case NODE_TEXT:
        return snprintf(out, size, "%s", n->value.text);
    case NODE_GROUP:
    case NODE_LIST:
        break;
    }
    if (size > 0)
        out[0] = '\0';
    for (const struct node *c = n->first; c != NULL && (size_t)length < size; c = c->next) {
        if (c != n->first)
            length += snprintf(out + length, size - (size_t)length, ",");
        if ((size_t)length < size)
            length += node_text(c, out + length, size - (size_t)length);
    }
    return length;
}

static void append(struct node *parent, struct node *child)
{
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
}

/* A copy of n and everything below it, in t's memory; NULL: out of memory. */
static struct node *copy_node(struct experiment_tree *t, const struct node *n, const char *name,
                              const char *layer)
{
    struct node *copy = tree_alloc(t, sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = *n;
    copy->first = copy->last = copy->next = copy->under = NULL;
    copy->tree = t;
    const char *layer_name = layer != NULL ? layer : n->layer;
    copy->name = name != NULL ? tree_string(t, name) : NULL;
    copy->file = n->file != NULL ? tree_string(t, n->file) : NULL;
    copy->layer = layer_name != NULL ? tree_string(t, layer_name) : NULL;
    if (n->type == NODE_TEXT)
        copy->value.text = tree_string(t, n->value.text);
    copy->written = n->written != NULL ? tree_string(t, n->written) : NULL;
    if ((name != NULL && copy->name == NULL) || (n->file != NULL && copy->file == NULL) ||
        (layer_name != NULL && copy->layer == NULL) ||
        (n->type == NODE_TEXT && copy->value.text == NULL) ||
        (n->written != NULL && copy->written == NULL))
        return NULL;
    for (const struct node *c = n->first; c != NULL; c = c->next) {
        struct node *child = copy_node(t, c, c->name, layer);
        if (child == NULL)
            return NULL;
        append(copy, child);
    }
    if (n->under != NULL) {
        copy->under = copy_node(t, n->under, n->under->name, layer);
        if (copy->under == NULL)
            return NULL;
    }
    return copy;
}

struct experiment_tree *tree_copy(const struct experiment_tree *t)
{
    struct experiment_tree *copy = tree_create();
    if (copy == NULL)
        return NULL;
    copy->root = copy_node(copy, t->root, NULL, NULL);
    if (copy->root == NULL) {
        tree_destroy(copy);
        return NULL;
    }
    return copy;
}

/* Puts a new value where old stands among group's children. */
static void replace(struct node *group, struct node *old, struct node *value)
{
    value->next = old->next;
    value->under = old;
    if (group->first == old)
        group->first = value;
    if (group->last == old)
        group->last = value;
    for (struct node *c = group->first; c != NULL; c = c->next) {
        if (c->next == old)
            c->next = value;
    }
    old->next = NULL;
}

static bool is_among(const char *name, const char *const *names)
{
    while (names != NULL && *names != NULL && strcmp(name, *names) != 0)
        names++;
    return names != NULL && *names != NULL;
}

static bool overlay(struct node *group, const struct node *over, const char *const *except,
                    const char *layer)
{
    for (const struct node *c = over->first; c != NULL; c = c->next) {
        if (is_among(c->name, except))
            continue;
        struct node *old = node_child(group, c->name);
        if (old != NULL && old->type == NODE_GROUP && c->type == NODE_GROUP) {
            if (!overlay(old, c, NULL, layer))
                return false;
            continue;
        }
        struct node *copy = copy_node(group->tree, c, c->name, layer);
        if (copy == NULL)
            return false;
        if (old != NULL)
            replace(group, old, copy);
        else
            append(group, copy);
    }
    return true;
}

bool tree_overlay(struct experiment_tree *t, const struct node *group, const char *const *except,
                  const char *layer)
{
    return overlay(t->root, group, except, layer);
}

/* Bytes of the name at the start of a line or key path; 0: none. */
static size_t name_bytes(const char *p)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*p))
        return 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-')
        n++;
    return n;
}

/* ---- from libconfig ---- */

struct reading {
    struct experiment_tree *tree;
    const struct prescan *scan;
    const char *last_file; /* of the prescan, and its copy in the tree */
    const char *last_copy;
};

static bool set_place(struct reading *r, struct node *n, unsigned line)
{
    const struct prescan_line *origin = prescan_origin(r->scan, line);
    if (r->last_file != origin->file) {
        r->last_copy = tree_string(r->tree, origin->file);
        r->last_file = origin->file;
    }
    n->file = r->last_copy;
    n->line = origin->line;
    return n->file != NULL;
}

/* Depth is bounded by the pre-scan. */
static struct node *convert(struct reading *r, const config_setting_t *setting)
{
    struct node *n = tree_alloc(r->tree, sizeof *n);
    if (n == NULL || !set_place(r, n, config_setting_source_line(setting)))
        return NULL;
    n->tree = r->tree;
    const char *name = config_setting_name(setting);
    if (name != NULL && (n->name = tree_string(r->tree, name)) == NULL)
        return NULL;
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_BOOL:
        n->type = NODE_BOOL;
        n->value.boolean = config_setting_get_bool(setting) != 0;
        return n;
    case CONFIG_TYPE_FLOAT:
        n->type = NODE_REAL;
        n->value.real = config_setting_get_float(setting);
        return n;
    case CONFIG_TYPE_STRING: {
        const char *text = config_setting_get_string(setting);
        n->type = NODE_TEXT;
        n->value.text = text != NULL ? tree_string(r->tree, text) : NULL;
        return n->value.text != NULL ? n : NULL;
    }
    case CONFIG_TYPE_GROUP:
        n->type = NODE_GROUP;
        break;
    case CONFIG_TYPE_LIST:
    case CONFIG_TYPE_ARRAY:
        n->type = NODE_LIST;
        break;
    default: /* the pre-scan has made every integer a 64-bit one */
        n->type = NODE_INT;
        n->value.integer = config_setting_get_int64(setting);
        return n;
    }
    const unsigned length = (unsigned)config_setting_length(setting);
    for (unsigned i = 0; i < length; i++) {
        struct node *child = convert(r, config_setting_get_elem(setting, i));
        /* libconfig itself does not notice when it has no memory for a name. */
        if (child == NULL || (n->type == NODE_GROUP && child->name == NULL))
            return NULL;
        append(n, child);
    }
    return n;
}

/* The setting that the one on this line repeats; NULL: not found.  libconfig keeps what it has read
 * before: the innermost group that is open is the last one at its depth. */
static const config_setting_t *first_of_two(const config_t *config, const struct prescan_line *at)
{
    char name[PRESCAN_MAX_NAME + 1];
    const config_setting_t *group = config_root_setting(config);
    const char *source = at->source + strspn(at->source, " \t\r");
    for (unsigned depth = 0; depth < at->depth && group != NULL; depth++) {
        const int n = config_setting_is_aggregate(group) ? config_setting_length(group) : 0;
        group = n > 0 ? config_setting_get_elem(group, (unsigned)n - 1) : NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)name_bytes(source), source);
    return group != NULL && config_setting_is_group(group) && name[0] != '\0'
               ? config_setting_get_member(group, name)
               : NULL;
}

/* libconfig says no more than "syntax error", so the line itself is shown. */
static void explain(const config_t *config, const struct prescan *scan, struct diagnostics *d)
{
    const struct prescan_line *at = prescan_origin(scan, (unsigned)config_error_line(config));
    const char *source = at->source + strspn(at->source, " \t\r");
    const int shown = (int)strcspn(source, "\r\n");
    const bool twice = strstr(config_error_text(config), "duplicate") != NULL;
    const config_setting_t *first = twice ? first_of_two(config, at) : NULL;
    /* A group whose own name is on the line: what is there twice lies within it. */
    if (first != NULL && config_setting_is_aggregate(first) &&
        config_setting_source_line(first) == (unsigned)config_error_line(config))
        first = NULL;
    if (first != NULL) {
        const struct prescan_line *before = prescan_origin(scan, config_setting_source_line(first));
        diagnostics_error(d, at->file, at->line,
                          "%s is set twice, before in %s:%u; a file of --overlay, or --set, "
                          "replaces settings",
                          config_setting_name(first), before->file, before->line);
        return;
    }
    diagnostics_error(d, at->file, at->line, "%s%s%.*s", config_error_text(config),
                      shown > 0 ? ": " : "", shown > 120 ? 120 : shown, source);
}

static struct experiment_tree *read_scanned(struct prescan *scan, struct diagnostics *d)
{
    if (scan == NULL)
        return NULL;
    struct experiment_tree *t = NULL;
    config_t config;
    config_init(&config);
    config_set_auto_convert(&config, CONFIG_FALSE);
    if (!config_read_string(&config, scan->text)) {
        explain(&config, scan, d);
    } else {
        struct reading r = {.tree = tree_create(), .scan = scan};
        t = r.tree;
        struct node *root = t != NULL ? convert(&r, config_root_setting(&config)) : NULL;
        if (root != NULL) {
            t->root = root;
        } else {
            diagnostics_no_memory(d);
            tree_destroy(t);
            t = NULL;
        }
    }
    config_destroy(&config);
    prescan_destroy(scan);
    return t;
}

struct experiment_tree *tree_read_file(const char *file, struct diagnostics *d)
{
    return read_scanned(prescan_file(file, d), d);
}

struct experiment_tree *tree_read_text(const char *text, size_t n, const char *file,
                                       struct diagnostics *d)
{
    return read_scanned(prescan_text(text, n, file, d), d);
}

/* ---- from the command line ---- */

static bool is_key_path(const char *p, size_t n)
{
    const char *end = p + n;
    for (;;) {
        const size_t name = name_bytes(p);
        p += name;
        if (name == 0 || p >= end)
            return name > 0 && p == end;
        if (*p++ != '.')
            return false;
    }
}

/* Group `name` below parent, made where it does not exist; at: the value to come. */
static struct node *enter_group(struct node *parent, const char *name, const struct node *at,
                                struct diagnostics *d)
{
    struct node *group = node_child(parent, name);
    if (group != NULL && group->type != NODE_GROUP) {
        diagnostics_error(d, at->file, at->line, "%s is %s and holds no settings", name,
                          node_type_words(group->type));
        return NULL;
    }
    if (group != NULL)
        return group;
    struct node empty = {.type = NODE_GROUP, .file = at->file, .line = at->line};
    group = copy_node(parent->tree, &empty, name, at->layer);
    if (group == NULL)
        diagnostics_no_memory(d);
    else
        append(parent, group);
    return group;
}

bool tree_put(struct experiment_tree *t, const char *key_path, const struct node *value,
              const char *layer, struct diagnostics *d)
{
    if (!is_key_path(key_path, strlen(key_path))) {
        diagnostics_error(d, value->file, value->line,
                          "\"%s\" is not a path to a setting, such as clients.count", key_path);
        return false;
    }
    struct node *group = t->root;
    for (;;) {
        const size_t n = name_bytes(key_path);
        char *name = tree_alloc(t, n + 1);
        if (name == NULL)
            break;
        memcpy(name, key_path, n);
        if (key_path[n] != '\0') {
            group = enter_group(group, name, value, d);
            if (group == NULL)
                return false;
            key_path += n + 1;
            continue;
        }
        struct node *copy = copy_node(t, value, name, layer);
        if (copy == NULL)
            break;
        struct node *old = node_child(group, name);
        if (old != NULL)
            replace(group, old, copy);
        else
            append(group, copy);
        return true;
    }
    diagnostics_no_memory(d);
    return false;
}

/* What is not written like a value of libconfig is a text, so that no shell needs to pass quotes:
 * aggregator.plugin=fedavg, dataset.idx.path=../data. */
static bool is_plain_text(const char *value)
{
    return strchr("\"[({", value[0]) == NULL && strcasecmp(value, "true") != 0 &&
           strcasecmp(value, "false") != 0 && !prescan_is_number(value);
}

/* A tree whose root has one child, the value. */
static struct experiment_tree *parse_value(const char *value, const char *place,
                                           struct diagnostics *d)
{
    char *text = NULL;
    const int n = asprintf(&text, "value = %s", value);
    if (n < 0) {
        diagnostics_no_memory(d);
        return NULL;
    }
    struct experiment_tree *t = tree_read_text(text, (size_t)n, place, d);
    free(text);
    if (t != NULL && t->root->first != t->root->last) {
        diagnostics_error(d, place, 0, "more than one value here");
        tree_destroy(t);
        t = NULL;
    }
    return t;
}

/* n and all below it; the depth is bounded by the pre-scan. */
static void place_at(struct node *n, const char *place)
{
    n->file = place;
    n->line = 0;
    for (struct node *c = n->first; c != NULL; c = c->next)
        place_at(c, place);
}

static bool set_value(struct experiment_tree *t, const char *place, const char *key_path,
                      const char *value, struct diagnostics *d)
{
    struct node text = {.type = NODE_TEXT, .file = place, .value.text = value};
    if (value[0] == '\0') {
        diagnostics_error(d, place, 0, "%s: a value is missing; an empty text is \"\"", key_path);
        return false;
    }
    if (is_plain_text(value)) {
        if (utf8_valid_bytes(value, strlen(value)) != strlen(value)) {
            diagnostics_error(d, place, 0, "%s: the value is not UTF-8", key_path);
            return false;
        }
        return tree_put(t, key_path, &text, NULL, d);
    }
    char *key_place = NULL;
    if (asprintf(&key_place, "%s %s", place, key_path) < 0) {
        diagnostics_no_memory(d);
        return false;
    }
    bool done = false;
    struct experiment_tree *parsed = parse_value(value, key_place, d);
    if (parsed != NULL && parsed->root->first->type == NODE_GROUP) {
        diagnostics_error(d, place, 0, "%s: set the settings of a group one by one", key_path);
    } else if (parsed != NULL) {
        place_at(parsed->root->first, place);
        parsed->root->first->written = value;
        done = tree_put(t, key_path, parsed->root->first, NULL, d);
    }
    tree_destroy(parsed);
    free(key_place);
    return done;
}

bool tree_set(struct experiment_tree *t, const char *place, const char *assignment,
              struct diagnostics *d)
{
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || !is_key_path(assignment, (size_t)(equals - assignment))) {
        diagnostics_error(d, place, 0,
                          "\"%s\" is not of the form key.path=value, such as clients.count=25",
                          assignment);
        return false;
    }
    char *key_path = strndup(assignment, (size_t)(equals - assignment));
    if (key_path == NULL) {
        diagnostics_no_memory(d);
        return false;
    }
    const bool done = set_value(t, place, key_path, equals + 1, d);
    free(key_path);
    return done;
}
