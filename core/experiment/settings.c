/* settings.c - binds a table of osafl_param to the values of an experiment file. */
#include "settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/suggest.h"
#include "base/text.h"
#include "experiment_tree.h"
#include "old_keys.h"
#include "settings_text.h"

struct binding {
    const struct settings_table *table;
    unsigned char *config; /* NULL: only check */
    const struct node *group;
    const struct settings_table *others;
    size_t n_others;
    const char *const *extra_keys;
    struct diagnostics *d;
};

static const osafl_param *param_at(const struct settings_table *t, uint32_t i)
{
    return OSAFL_AT(osafl_param, t->params, t->stride, i);
}

static const osafl_param *find_param(const struct settings_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (strcmp(param_at(t, i)->name, name) == 0)
            return param_at(t, i);
    }
    return NULL;
}

/* "aggregator.osafl." or nothing, to stand before a key. */
static const char *dot(const char *path)
{
    return path[0] != '\0' ? "." : "";
}

OSAFL_PRINTF(4, 5)
static void report_error(const struct binding *b, const struct node *at, const char *key,
                         const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    diagnostics_error(b->d, at->file, at->line, "%s%s%s: %s", b->table->path, dot(b->table->path),
                      key, text);
}

static bool in_bounds(const osafl_param *p, double v)
{
    const bool above = (p->flags & OSAFL_P_LO_OPEN) != 0 ? v > p->lo.r : v >= p->lo.r;
    const bool below = (p->flags & OSAFL_P_HI_OPEN) != 0 ? v < p->hi.r : v <= p->hi.r;
    return above && below;
}

static bool in_integer_bounds(const osafl_param *p, int64_t v)
{
    const bool above = (p->flags & OSAFL_P_LO_OPEN) != 0 ? v > p->lo.i : v >= p->lo.i;
    const bool below = (p->flags & OSAFL_P_HI_OPEN) != 0 ? v < p->hi.i : v <= p->hi.i;
    return above && below;
}

static void report_bounds(const struct binding *b, const struct node *at, const osafl_param *p,
                          const char *value)
{
    char interval[128];
    settings_interval(p, interval, sizeof interval);
    const bool two_sided = interval[0] == '[' || interval[0] == '(';
    report_error(b, at, p->name, "%s is %s %s%s%s", value, two_sided ? "outside" : "not", interval,
                 p->unit != NULL ? " " : "", p->unit != NULL ? p->unit : "");
}

static void report_type(const struct binding *b, const struct node *at, const osafl_param *p,
                        const char *wanted)
{
    report_error(b, at, p->name, "must be %s, but it is %s", wanted, node_type_words(at->type));
}

/* A whole number will do where a real is wanted. */
static bool to_real(const struct node *n, double *out)
{
    if (n->type == NODE_REAL)
        *out = n->value.real;
    else if (n->type == NODE_INT)
        *out = (double)n->value.integer;
    return n->type == NODE_REAL || n->type == NODE_INT;
}

static bool read_real(const struct binding *b, const struct node *n, const osafl_param *p,
                      const char *wanted, double *out)
{
    char shown[40];
    if (!to_real(n, out)) {
        report_type(b, n, p, wanted);
        return false;
    }
    if (in_bounds(p, *out))
        return true;
    if (n->type == NODE_INT)
        snprintf(shown, sizeof shown, "%" PRId64, n->value.integer);
    else
        settings_real(*out, shown, sizeof shown);
    report_bounds(b, n, p, shown);
    return false;
}

static bool read_choice(const struct binding *b, const struct node *n, const osafl_param *p,
                        osafl_choice *out)
{
    char list[512];
    settings_choices(p, list, sizeof list);
    if (n->type != NODE_TEXT) {
        report_error(b, n, p->name, "must be one of %s, but it is %s", list,
                     node_type_words(n->type));
        return false;
    }
    struct suggestion s = suggest_begin(n->value.text);
    for (int32_t i = 0; p->choices[i] != NULL; i++) {
        if (strcmp(p->choices[i], n->value.text) == 0) {
            out->index = i;
            return true;
        }
        suggest_offer(&s, p->choices[i]);
    }
    if (s.best != NULL)
        report_error(b, n, p->name, "\"%s\" is not one of %s; did you mean \"%s\"?", n->value.text,
                     list, s.best);
    else
        report_error(b, n, p->name, "\"%s\" is not one of %s", n->value.text, list);
    return false;
}

/* A word that stands for a number. */
static bool read_word(const struct binding *b, const struct node *n, const osafl_param *p,
                      int64_t *out)
{
    osafl_choice word;
    if (!read_choice(b, n, p, &word))
        return false;
    *out = -1 - (int64_t)word.index;
    return true;
}

static bool read_integer(const struct binding *b, const struct node *n, const osafl_param *p,
                         int64_t *out)
{
    char shown[32];
    if (n->type == NODE_REAL) {
        report_error(b, n, p->name, "must be a whole number, written without point and exponent");
        return false;
    }
    if (n->type == NODE_LIST && b->table->path[0] == '\0' && strcmp(p->name, "seed") == 0) {
        report_error(b, n, p->name, "must be a whole number, but it is %s; several: seeds = [1, 2]",
                     node_type_words(n->type));
        return false;
    }
    if (p->choices != NULL && n->type == NODE_TEXT)
        return read_word(b, n, p, out);
    if (n->type != NODE_INT) {
        report_type(b, n, p, "a whole number");
        return false;
    }
    *out = n->value.integer;
    if (in_integer_bounds(p, *out))
        return true;
    snprintf(shown, sizeof shown, "%" PRId64, *out);
    report_bounds(b, n, p, shown);
    return false;
}

static bool read_range(const struct binding *b, const struct node *n, const osafl_param *p,
                       osafl_range *out)
{
    static const char wanted[] = "a number or a pair [lowest, highest]";
    if (n->type != NODE_LIST) {
        if (!read_real(b, n, p, wanted, &out->lo))
            return false;
        out->hi = out->lo;
        return true;
    }
    if (n->first == NULL || n->first->next == NULL || n->first->next != n->last) {
        report_error(b, n, p->name, "must be %s", wanted);
        return false;
    }
    const bool lo = read_real(b, n->first, p, wanted, &out->lo);
    const bool hi = read_real(b, n->last, p, wanted, &out->hi);
    if (!lo || !hi)
        return false;
    if (out->lo > out->hi) {
        report_error(b, n, p->name, "the lower end comes first: [%g, %g]", out->hi, out->lo);
        return false;
    }
    return true;
}

static bool read_reals(const struct binding *b, const struct node *n, const osafl_param *p,
                       osafl_reals *out)
{
    static const char wanted[] = "a list of numbers [a, b, ...]";
    if (n->type != NODE_LIST) {
        report_type(b, n, p, wanted);
        return false;
    }
    uint64_t count = 0;
    for (const struct node *c = n->first; c != NULL; c = c->next)
        count++;
    double *v = tree_alloc(n->tree, (size_t)count * sizeof *v);
    if (v == NULL) {
        diagnostics_no_memory(b->d);
        return false;
    }
    bool good = true;
    uint64_t i = 0;
    for (const struct node *c = n->first; c != NULL; c = c->next)
        good = read_real(b, c, p, wanted, &v[i++]) && good;
    *out = (osafl_reals){.v = v, .n = count};
    return good;
}

/* Each row is bound as a group of its own: PATH[0], PATH[1], ... in messages. */
static bool read_rows(const struct binding *b, const struct node *n, const osafl_param *p,
                      osafl_rows *out)
{
    const osafl_row_type *type = p->def.row;
    int64_t count = 0;
    if (n->type != NODE_LIST) {
        report_type(b, n, p, "a list of groups ({ ... }, ...)");
        return false;
    }
    for (const struct node *c = n->first; c != NULL; c = c->next)
        count++;
    if (!in_integer_bounds(p, count)) {
        char shown[64];
        snprintf(shown, sizeof shown, "the number of rows, %" PRId64 ",", count);
        report_bounds(b, n, p, shown);
        return false;
    }
    unsigned char *v = tree_alloc(n->tree, (size_t)count * type->size);
    osafl_origin *at = tree_alloc(n->tree, (size_t)count * sizeof *at);
    if (v == NULL || at == NULL) {
        diagnostics_no_memory(b->d);
        return false;
    }
    const size_t before = diagnostics_errors(b->d);
    size_t i = 0;
    for (const struct node *c = n->first; c != NULL; c = c->next, i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s%s[%zu]", b->table->path, dot(b->table->path), p->name, i);
        at[i] = (osafl_origin){.file = c->file, .line = c->line};
        settings_bind(type->params, type->n_params, type->param_size, v + i * type->size, c, path,
                      NULL, b->d);
    }
    *out = (osafl_rows){.v = v, .at = at, .n = (uint64_t)count};
    return diagnostics_errors(b->d) == before;
}

/* A leading "~/" is the user's home folder, which the shell puts in for words of its own alone.  A
 * relative path of a file is against the file's folder, one of the command line against the
 * working directory.  The result is absolute, so that it means the same from everywhere; the
 * folder is canonical, the path below it is left as written but for leading "./" and "../". */
static const char *resolve_path(struct experiment_tree *tree, const char *path, const char *file)
{
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && getenv("HOME") != NULL) {
        const char *home = getenv("HOME");
        const size_t bytes = strlen(home) + strlen(path);
        char *below_home = tree_alloc(tree, bytes);
        if (below_home != NULL)
            snprintf(below_home, bytes, "%s%s", home, path + 1);
        path = below_home;
    }
    if (path == NULL || path[0] == '\0' || path[0] == '/')
        return path;
    const char *slash = strcmp(file, PLACE_SET) != 0 ? strrchr(file, '/') : NULL;
    char *folder = slash != NULL ? strndup(file, (size_t)(slash + 1 - file)) : strdup(".");
    char *base = folder != NULL ? realpath(folder, NULL) : NULL;
    free(folder);
    if (base == NULL)
        return path;
    while (path[0] == '.') {
        if (path[1] == '/' || path[1] == '\0') {
            path += path[1] == '/' ? 2 : 1;
        } else if (path[1] == '.' && (path[2] == '/' || path[2] == '\0')) {
            path += path[2] == '/' ? 3 : 2;
            *strrchr(base, '/') = '\0';
            if (base[0] == '\0')
                strcpy(base, "/");
        } else {
            break;
        }
        path += strspn(path, "/");
    }
    const char *separator = base[1] == '\0' || path[0] == '\0' ? "" : "/";
    const size_t size = strlen(base) + strlen(path) + 2;
    char *resolved = tree_alloc(tree, size);
    if (resolved != NULL)
        snprintf(resolved, size, "%s%s%s", base, separator, path);
    free(base);
    return resolved;
}

static bool read_text(const struct binding *b, const struct node *n, const osafl_param *p,
                      const char **out)
{
    /* On the command line a number or a truth value may be meant as a text. */
    const bool scalar = n->type == NODE_INT || n->type == NODE_REAL || n->type == NODE_BOOL;
    const char *text = n->type == NODE_TEXT ? n->value.text : scalar ? n->written : NULL;
    if (text == NULL) {
        report_type(b, n, p,
                    p->type == OSAFL_T_PATH ? "a path in double quotes"
                                            : "a text in double quotes");
        return false;
    }
    *out = text;
    if (p->type == OSAFL_T_PATH && text[0] == '\0' && (p->flags & OSAFL_P_REQUIRED) != 0) {
        report_error(b, n, p->name, "is empty; name a file or folder");
        return false;
    }
    if (p->type == OSAFL_T_PATH)
        *out = resolve_path(n->tree, text, n->file);
    if (*out == NULL)
        diagnostics_no_memory(b->d);
    return *out != NULL;
}

/* One value of each member type. */
union value {
    bool boolean;
    int64_t integer;
    double real;
    const char *text;
    osafl_choice choice;
    osafl_range range;
    osafl_reals reals;
    osafl_rows rows;
};

/* Checks a value and reads it; returns the bytes of the member, 0 when the value is wrong. */
static size_t read_value(const struct binding *b, const struct node *n, const osafl_param *p,
                         union value *out)
{
    switch (p->type) {
    case OSAFL_T_BOOL:
        out->boolean = n->type == NODE_BOOL && n->value.boolean;
        if (n->type != NODE_BOOL)
            report_type(b, n, p, "true or false");
        return n->type == NODE_BOOL ? sizeof out->boolean : 0;
    case OSAFL_T_INT:
        return read_integer(b, n, p, &out->integer) ? sizeof out->integer : 0;
    case OSAFL_T_REAL:
        return read_real(b, n, p, "a number", &out->real) ? sizeof out->real : 0;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH:
        return read_text(b, n, p, &out->text) ? sizeof out->text : 0;
    case OSAFL_T_CHOICE:
        return read_choice(b, n, p, &out->choice) ? sizeof out->choice : 0;
    case OSAFL_T_RANGE:
        return read_range(b, n, p, &out->range) ? sizeof out->range : 0;
    case OSAFL_T_REALS:
        return read_reals(b, n, p, &out->reals) ? sizeof out->reals : 0;
    case OSAFL_T_ROWS:
        return read_rows(b, n, p, &out->rows) ? sizeof out->rows : 0;
    default: /* the loader refuses such tables */
        return 0;
    }
}

static void bind_value(const struct binding *b, const struct node *n, const osafl_param *p)
{
    union value v;
    const size_t bytes = read_value(b, n, p, &v);
    if (bytes > 0)
        memcpy(b->config + p->offset, &v, bytes);
    for (const struct node *under = n->under; under != NULL; under = under->under)
        read_value(b, under, p, &v);
}

static void bind_default(const struct binding *b, const osafl_param *p)
{
    unsigned char *m = b->config + p->offset;
    switch (p->type) {
    case OSAFL_T_BOOL:
        *(bool *)m = p->def.i != 0;
        break;
    case OSAFL_T_INT:
        memcpy(m, &p->def.i, sizeof p->def.i);
        break;
    case OSAFL_T_REAL:
        memcpy(m, &p->def.r, sizeof p->def.r);
        break;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH: {
        const char *s = p->def.s != NULL ? p->def.s : "";
        memcpy(m, &s, sizeof s);
        break;
    }
    case OSAFL_T_CHOICE: {
        const osafl_choice c = {.index = (int32_t)p->def.i};
        memcpy(m, &c, sizeof c);
        break;
    }
    case OSAFL_T_RANGE: {
        const osafl_range r = {.lo = p->def.r, .hi = p->def_hi.r};
        memcpy(m, &r, sizeof r);
        break;
    }
    default: /* OSAFL_T_REALS, OSAFL_T_ROWS: empty */
        break;
    }
}

static bool is_extra(const struct binding *b, const char *name)
{
    for (size_t i = 0; b->extra_keys != NULL && b->extra_keys[i] != NULL; i++) {
        if (strcmp(b->extra_keys[i], name) == 0)
            return true;
    }
    return false;
}

/* The setting of that very name in another table. */
static const struct settings_table *find_elsewhere(const struct binding *b, const char *name)
{
    for (size_t i = 0; i < b->n_others; i++) {
        if (b->others[i].params != b->table->params && find_param(&b->others[i], name) != NULL)
            return &b->others[i];
    }
    return NULL;
}

static void offer_table(struct suggestion *s, const struct settings_table *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        suggest_offer(s, param_at(t, i)->name);
}

/* The names that there are; at the top level these are groups and parts of a grid as well. */
static void report_with_list(const struct binding *b, const struct node *n)
{
    char list[1024] = "";
    for (uint32_t i = 0; i < b->table->n; i++)
        text_append_item(list, sizeof list, ", ", param_at(b->table, i)->name);
    for (size_t i = 0;
         b->table->path[0] == '\0' && b->extra_keys != NULL && b->extra_keys[i] != NULL; i++)
        text_append_item(list, sizeof list, ", ", b->extra_keys[i]);
    if (list[0] == '\0')
        report_error(b, n, n->name, "unknown setting; there are none here");
    else
        report_error(b, n, n->name, "unknown setting; known are %s", list);
}

/* Whether the best offer is as good as the name but for a slip: one letter in four may be wrong. */
static bool is_slip(const struct suggestion *s, const char *name)
{
    return s->best != NULL && 4 * s->best_edits <= strlen(name);
}

/* The setting of another group that n was perhaps meant to be. */
static const char *find_close(const struct binding *b, const struct node *n,
                              const struct settings_table **elsewhere)
{
    struct suggestion s = suggest_begin(n->name);
    const char *best = NULL;
    for (size_t i = 0; i < b->n_others; i++) {
        offer_table(&s, &b->others[i]);
        if (s.best != best)
            *elsewhere = &b->others[i];
        best = s.best;
    }
    return is_slip(&s, n->name) ? s.best : NULL;
}

static void report_unknown(const struct binding *b, const struct node *n)
{
    /* A group is no value of a setting. */
    const struct settings_table *elsewhere =
        n->type != NODE_GROUP ? find_elsewhere(b, n->name) : NULL;
    const char *remedy = old_keys_remedy(b->table->path, n->name);
    if (remedy != NULL) {
        report_error(b, n, n->name, "unknown setting; %s", remedy);
        return;
    }
    struct suggestion here = suggest_begin(n->name);
    offer_table(&here, b->table);
    for (size_t i = 0; b->extra_keys != NULL && b->extra_keys[i] != NULL; i++)
        suggest_offer(&here, b->extra_keys[i]);
    if (elsewhere != NULL && !is_slip(&here, n->name)) {
        report_error(b, n, n->name, "unknown setting; did you mean \"%s%s%s\"?", elsewhere->path,
                     dot(elsewhere->path), n->name);
        return;
    }
    if (here.best != NULL) {
        report_error(b, n, n->name, "unknown setting; did you mean \"%s\"?", here.best);
        return;
    }
    const char *close = find_close(b, n, &elsewhere);
    if (close != NULL) {
        report_error(b, n, n->name, "unknown setting; did you mean \"%s%s%s\"?", elsewhere->path,
                     dot(elsewhere->path), close);
        return;
    }
    report_with_list(b, n);
}

void settings_bind_among(const struct settings_table *table, void *config, const struct node *group,
                         const char *const *extra_keys, const struct settings_table *others,
                         size_t n_others, struct diagnostics *d)
{
    const struct binding b = {.table = table,
                              .config = config,
                              .group = group,
                              .others = others,
                              .n_others = n_others,
                              .extra_keys = extra_keys,
                              .d = d};
    for (uint32_t i = 0; i < table->n; i++)
        bind_default(&b, param_at(table, i));
    if (group != NULL && group->type != NODE_GROUP) {
        diagnostics_error(d, group->file, group->line, "%s: must be a group { ... }, but it is %s",
                          table->path, node_type_words(group->type));
        return;
    }
    for (const struct node *n = group != NULL ? group->first : NULL; n != NULL; n = n->next) {
        const osafl_param *p = find_param(table, n->name);
        if (p != NULL)
            bind_value(&b, n, p);
        else if (!is_extra(&b, n->name))
            report_unknown(&b, n);
    }
    for (uint32_t i = 0; i < table->n; i++) {
        const osafl_param *p = param_at(table, i);
        if ((p->flags & OSAFL_P_REQUIRED) != 0 && node_child(group, p->name) == NULL)
            diagnostics_error(d, group != NULL ? group->file : NULL,
                              group != NULL ? group->line : 0,
                              "%s%s%s: missing, and it has no default (%s)", table->path,
                              dot(table->path), p->name, p->doc);
    }
}

void settings_bind(const osafl_param *table, uint32_t n, uint32_t stride, void *config,
                   const struct node *group, const char *path, const char *const *extra_keys,
                   struct diagnostics *d)
{
    const struct settings_table t = {.path = path, .params = table, .n = n, .stride = stride};
    settings_bind_among(&t, config, group, extra_keys, NULL, 0, d);
}
