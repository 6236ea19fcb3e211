/* table.c - the rows of a table as samples. */
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLIENTS 1000000
#define MAX_CATEGORIES 1000

void table_free(struct table *t)
{
    for (uint32_t k = 0; k < t->n_features; k++)
        vocabulary_free(&t->feature[k].category);
    free(t->feature);
    free(t->role);
    csv_close(&t->csv);
    vocabulary_free(&t->labels);
    vocabulary_free(&t->clients);
}

static osafl_status no_memory(const struct table *t)
{
    return io_fail(t->message, OSAFL_E_NOMEM, "%s: out of memory", t->path);
}

static osafl_status fail_at_line(const struct table *t, const char *text, const char *field)
{
    return io_fail(t->message, OSAFL_E_DATA, "%s:%" PRIu32 ": %s \"%.60s\"", t->path, t->csv.line,
                   text, field);
}

static osafl_status fail_at_field(const struct table *t, uint32_t column, const char *text)
{
    return io_fail(t->message, OSAFL_E_DATA, "%s:%" PRIu32 ": %s \"%.60s\" in %s", t->path,
                   t->csv.line, text, t->csv.field[column], csv_place(&t->csv, column).text);
}

/* --- Fields */

/* The id of a text; only a training table brings new ones.  A text that only the test table has
 * cannot be learnt: most likely it is misspelt. */
static osafl_status number_text(struct table *t, uint32_t column, struct vocabulary *own,
                                const struct vocabulary *known, uint32_t most, uint32_t *id)
{
    const bool label = t->role[column] == ROLE_LABEL;
    const char *text = table_trim(t->csv.field[column]);
    if (known != NULL) {
        const char *alike = NULL;
        if (vocabulary_find(known, text, id))
            return OSAFL_OK;
        alike = vocabulary_alike(known, text);
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": no training sample has the %s \"%.60s\"%s%.60s%s", t->path,
                       t->csv.line, label ? "label" : csv_place(&t->csv, column).text, text,
                       alike != NULL ? ", but some have \"" : "", alike != NULL ? alike : "",
                       alike != NULL ? "\"" : "");
    }
    if (!csv_is_text(text))
        return csv_refuse_bytes(&t->csv, text);
    if (!vocabulary_add(own, text, t->csv.line, id))
        return no_memory(t);
    if (own->n <= most)
        return OSAFL_OK;
    if (label)
        return fail_at_line(t, "more than 10000 different labels; is this a label:", text);
    if (t->role[column] == ROLE_CLIENT)
        return fail_at_line(t, "more than 1000000 different clients, such as", text);
    return fail_at_field(t, column, "more than 1000 different categories; is this one:");
}

static osafl_status read_feature(struct table *t, uint32_t k, float *out)
{
    struct feature *feature = &t->feature[k];
    const uint32_t column = feature->column;
    double value = 0.0;
    uint32_t id = 0;
    if (isnan(*out)) /* missing */
        return OSAFL_OK;
    if (feature->categorical) {
        OSAFL_TRY(number_text(t, column, &feature->category,
                              t->train != NULL ? &t->train->feature[k].category : NULL,
                              MAX_CATEGORIES, &id));
        *out = (float)id;
        return OSAFL_OK;
    }
    if (!csv_field_number(&t->csv, column, &value))
        return table_refuse_field(t, column);
    *out = (float)value;
    return isfinite(*out) ? OSAFL_OK : fail_at_field(t, column, "too large for a 32-bit float:");
}

static osafl_status read_target(struct table *t, float *target)
{
    double value = 0.0;
    if (!csv_field_number(&t->csv, t->label_column, &value))
        return fail_at_field(t, t->label_column, "a target must be a number, not");
    *target = (float)value;
    return isfinite(*target) ? OSAFL_OK
                             : fail_at_field(t, t->label_column, "too large for a 32-bit float:");
}

static osafl_status read_time(const struct table *t, uint32_t column, double *when)
{
    if (csv_field_number(&t->csv, column, when))
        return OSAFL_OK;
    return fail_at_field(t, column, "a time must be a number, such as seconds since 1970, not");
}

static osafl_status read_label(struct table *t, int32_t *label)
{
    uint32_t id = 0;
    OSAFL_TRY(number_text(t, t->label_column, &t->labels,
                          t->train != NULL ? &t->train->labels : NULL, CSV_MAX_CLASSES, &id));
    *label = (int32_t)id;
    return OSAFL_OK;
}

/* --- Rows */

/* The number of rows is known only at the end, so memory grows by doubling. */
static osafl_status make_room(struct table *t)
{
    struct samples *samples = t->samples;
    if (samples->n < t->capacity)
        return OSAFL_OK;
    const uint64_t capacity = t->capacity == 0 ? 256 : 2 * t->capacity;
    float *values = realloc(samples->values, capacity * t->n_features * sizeof *values);
    if (values != NULL)
        samples->values = values;
    int32_t *label = realloc(samples->label, capacity * sizeof *label);
    if (label != NULL)
        samples->label = label;
    float *target = realloc(samples->target, capacity * sizeof *target);
    if (target != NULL)
        samples->target = target;
    uint32_t *client = realloc(samples->client, capacity * sizeof *client);
    if (client != NULL)
        samples->client = client;
    double *when = realloc(samples->time, capacity * sizeof *when);
    if (when != NULL)
        samples->time = when;
    if (values == NULL || label == NULL || target == NULL || client == NULL || when == NULL)
        return no_memory(t);
    t->capacity = capacity;
    return OSAFL_OK;
}

/* Marks missing values of the present row in x[0 .. n_features) by NaN; *drop: it is left out. */
static osafl_status find_missing(struct table *t, float *x, bool *drop)
{
    static const char *const lacks[ROLE_IGNORED + 1] = {[ROLE_LABEL] = "label is empty",
                                                        [ROLE_CLIENT] = "client is empty",
                                                        [ROLE_TIME] = "time is missing"};
    const bool may_drop = t->config->missing.index == MISSING_DROP;
    *drop = false;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const enum column_role role = t->role[i];
        if (lacks[role] == NULL || (role != ROLE_LABEL && t->train != NULL))
            continue;
        const char *field = table_trim(t->csv.field[i]);
        if (field[0] != '\0' && !(role == ROLE_TIME && table_missing(field)))
            continue;
        if (!may_drop)
            return io_fail(t->message, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": the %s; complete it, or leave all rows with missing "
                           "values out: dataset.csv.missing = \"drop\"",
                           t->path, t->csv.line, lacks[role]);
        t->lacking[role]++;
        *drop = true;
    }
    for (uint32_t k = 0; k < t->n_features; k++) {
        struct feature *feature = &t->feature[k];
        const uint32_t column = feature->column;
        const char *field = t->csv.field[column];
        const bool missing =
            feature->categorical ? field[strspn(field, " \t")] == '\0' : table_missing(field);
        x[k] = missing ? NAN : 0.0F;
        if (missing && t->config->missing.index == MISSING_REFUSE)
            return table_refuse_field(t, column);
        feature->missing += missing ? 1 : 0;
        *drop = *drop || (missing && may_drop);
    }
    return OSAFL_OK;
}

static osafl_status refuse_length(const struct table *t)
{
    return io_fail(
        t->message, OSAFL_E_DATA,
        "%s:%" PRIu32 ": has %" PRIu32 " column%s, the %s %" PRIu32 "%s%s", t->path, t->csv.line,
        t->csv.n_fields, t->csv.n_fields == 1 ? "" : "s",
        t->csv.name != NULL ? "header" : "first row", t->n_columns,
        csv_oddity(&t->csv, t->n_columns),
        t->csv.field[0][0] == '#' ? "; to leave those out, set dataset.csv.comment = \"#\"" : "");
}

static osafl_status read_row(struct table *t)
{
    struct samples *samples = t->samples;
    bool drop = false;
    uint32_t client = OSAFL_NO_CLIENT;
    double when = (double)NAN;
    if (t->csv.n_fields != t->n_columns)
        return refuse_length(t);
    OSAFL_TRY(make_room(t));
    float *x = samples->values + samples->n * t->n_features;
    OSAFL_TRY(find_missing(t, x, &drop));
    if (drop) {
        t->dropped++;
        return OSAFL_OK;
    }
    for (uint32_t k = 0; k < t->n_features; k++)
        OSAFL_TRY(read_feature(t, k, &x[k]));
    samples->label[samples->n] = 0;
    if (t->config->target.index == TARGETS_REAL)
        OSAFL_TRY(read_target(t, &samples->target[samples->n]));
    else
        OSAFL_TRY(read_label(t, &samples->label[samples->n]));
    for (uint32_t i = 0; i < t->n_columns && t->train == NULL; i++) {
        if (t->role[i] == ROLE_CLIENT)
            OSAFL_TRY(number_text(t, i, &t->clients, NULL, MAX_CLIENTS, &client));
        else if (t->role[i] == ROLE_TIME)
            OSAFL_TRY(read_time(t, i, &when));
    }
    samples->time[samples->n] = when;
    samples->client[samples->n++] = client;
    return OSAFL_OK;
}

/* --- A test table */

/* Features are told apart by their places: another order would pass unseen. */
static osafl_status compare_features(const struct table *t)
{
    const struct table *train = t->train;
    if (t->n_features != train->n_features)
        return io_fail(t->message, OSAFL_E_DATA, "%s: has %" PRIu32 " features, %s has %" PRIu32,
                       t->path, t->n_features, train->path, train->n_features);
    for (uint32_t k = 0; k < t->n_features && t->csv.name != NULL && train->csv.name != NULL; k++)
        if (strcmp(t->csv.name[t->feature[k].column], train->csv.name[train->feature[k].column]) !=
            0)
            return io_fail(t->message, OSAFL_E_DATA,
                           "%s: its features have other names than those of %s, or another order: "
                           "%s instead of %s",
                           t->path, train->path, csv_place(&t->csv, t->feature[k].column).text,
                           csv_place(&train->csv, train->feature[k].column).text);
    return OSAFL_OK;
}

/* --- The table as a whole */

/* In how many rows a column is empty. */
static uint64_t missing_in(const struct table *t, uint32_t column)
{
    if (t->role[column] != ROLE_FEATURE)
        return t->lacking[t->role[column]];
    for (uint32_t k = 0; k < t->n_features; k++)
        if (t->feature[k].column == column)
            return t->feature[k].missing;
    return 0;
}

static osafl_status refuse_empty(const struct table *t)
{
    uint32_t column = 0;
    uint64_t most = 0;
    if (t->dropped == 0)
        return io_fail(t->message, OSAFL_E_DATA, "%s: holds no sample", t->path);
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const uint64_t missing = missing_in(t, i);
        if (missing > most) {
            column = i;
            most = missing;
        }
    }
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s: holds no sample without missing values; most are missing in %s (%" PRIu64
                   " of %" PRIu64 " rows)",
                   t->path, csv_place(&t->csv, column).text, most, t->dropped);
}

static osafl_status read_rows(struct table *t)
{
    bool row = false;
    bool header = false;
    OSAFL_TRY(csv_next(&t->csv, &row));
    if (row) {
        OSAFL_TRY(table_plan(t, &header));
        if (t->train != NULL)
            OSAFL_TRY(compare_features(t));
        if (header)
            OSAFL_TRY(csv_next(&t->csv, &row));
    }
    if (row)
        OSAFL_TRY(table_plan_categories(t));
    while (row) {
        OSAFL_TRY(read_row(t));
        OSAFL_TRY(csv_next(&t->csv, &row));
    }
    return t->samples->n > 0 ? OSAFL_OK : refuse_empty(t);
}

/* Numbers the texts of a training table in ascending order. */
static osafl_status sort_texts(struct table *t)
{
    struct samples *samples = t->samples;
    uint32_t *label = vocabulary_sort(&t->labels);
    uint32_t *client = vocabulary_sort(&t->clients);
    bool enough = label != NULL && client != NULL;
    for (uint64_t i = 0; enough && i < samples->n; i++) {
        if (t->labels.n > 0)
            samples->label[i] = (int32_t)label[samples->label[i]];
        if (t->clients.n > 0)
            samples->client[i] = client[samples->client[i]];
    }
    free(label);
    free(client);
    for (uint32_t k = 0; enough && k < t->n_features; k++) {
        uint32_t *id = t->feature[k].categorical ? vocabulary_sort(&t->feature[k].category) : NULL;
        enough = id != NULL || !t->feature[k].categorical;
        for (uint64_t i = 0; id != NULL && i < samples->n; i++) {
            float *x = &samples->values[i * t->n_features + k];
            if (!isnan(*x))
                *x = (float)id[(uint32_t)*x];
        }
        free(id);
    }
    return enough ? OSAFL_OK : no_memory(t);
}

/* Replaces each category by its row of a unit matrix. */
static osafl_status expand_categories(struct table *t)
{
    struct samples *samples = t->samples;
    const struct feature *feature = t->train != NULL ? t->train->feature : t->feature;
    uint64_t values = 0;
    for (uint32_t k = 0; k < t->n_features; k++)
        values += feature[k].categorical ? feature[k].category.n : 1;
    if (values == 0 || values > UINT32_MAX)
        return io_fail(t->message, OSAFL_E_DATA, "%s: has %s", t->path,
                       values == 0 ? "no value in any column of features" : "too many categories");
    t->values = (uint32_t)values;
    float *expanded = calloc(samples->n * values, sizeof *expanded);
    if (expanded == NULL)
        return no_memory(t);
    float *to = expanded;
    const float *from = samples->values;
    for (uint64_t i = 0; i < samples->n; i++)
        for (uint32_t k = 0; k < t->n_features; k++, from++) {
            if (!feature[k].categorical)
                *to++ = *from;
            else if (!isnan(*from))
                to[(uint32_t)*from] = 1.0F;
            if (feature[k].categorical)
                to += feature[k].category.n;
        }
    free(samples->values);
    samples->values = expanded;
    return OSAFL_OK;
}

osafl_status table_read(struct table *t)
{
    static const char characters[] = {',', ';', '\t', ' '};
    struct byte_source source;
    bool categories = false;
    OSAFL_TRY(byte_source_open(&source, t->path, t->message));
    csv_open(&t->csv, &source, characters[t->config->separator.index]);
    t->csv.decimal_comma = t->config->decimal.index != 0;
    t->csv.comment = t->config->comment;
    osafl_status status = read_rows(t);
    byte_source_close(&source);
    if (status == OSAFL_OK && t->train == NULL)
        status = table_doubt_first_row(t);
    if (status == OSAFL_OK && t->train == NULL)
        status = sort_texts(t);
    for (uint32_t k = 0; k < t->n_features; k++)
        categories = categories || t->feature[k].categorical;
    t->values = t->n_features;
    return status == OSAFL_OK && categories ? expand_categories(t) : status;
}
