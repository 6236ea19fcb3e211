/* csv.c - labelled rows of numbers from a table: every column is a feature but the label's, the
 * client's and those that are ignored.
 *
 * Classes are the distinct texts of the label column, in ascending order; clients, for
 * partition.scheme = "natural", those of the client column. */
#include "csv_reader.h"
#include "sample_set.h"
#include "vocabulary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLASSES 10000
#define MAX_CLIENTS 1000000

enum { HEADER_AUTO, HEADER_YES, HEADER_NO };

struct csv_config {
    const char *path;
    const char *test_path;
    double test_share;
    int64_t validation;
    const char *label;
    const char *client;
    const char *ignore;
    osafl_choice header;
    osafl_choice separator;
    bool standardise;
    int64_t channels;
    int64_t height;
};

static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const separators[] = {"comma", "semicolon", "tab", "space", NULL};

static const osafl_param params[] = {
    OSAFL_PATH(struct csv_config, path, NULL, "Table of the training samples, plain or gzip",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_PATH(struct csv_config, test_path, "",
               "Table of the test samples; none: a share of the training table"),
    OSAFL_REAL(struct csv_config, test_share, 0.2, 0.0, 1.0,
               "Share of the table held out for the test where there is no test_path: the same "
               "samples in every run",
               .flags = OSAFL_P_LO_OPEN | OSAFL_P_HI_OPEN),
    OSAFL_INT(struct csv_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_TEXT(struct csv_config, label, "",
               "Column of the label: its name, its number from 1 if there is no header, or \"\" "
               "for the last"),
    OSAFL_TEXT(struct csv_config, client, "",
               "Column that says to whom a sample belongs; \"\": there is none"),
    OSAFL_TEXT(struct csv_config, ignore, "", "Columns that are no features, with commas between"),
    OSAFL_CHOICE(struct csv_config, header, HEADER_AUTO, headers,
                 "Whether the first row holds names; auto: if no field of it is a number"),
    OSAFL_CHOICE(struct csv_config, separator, 0, separators, "What stands between fields"),
    OSAFL_BOOL(struct csv_config, standardise, true,
               "Shift and scale features to mean 0 and deviation 1 over the training samples"),
    OSAFL_INT(struct csv_config, channels, 1, 1, 1024,
              "Channels of a sample, for rows that are pictures in the order (channel, y, x)"),
    OSAFL_INT(struct csv_config, height, 1, 1, 65535, "Height of a sample, for pictures"),
};

enum role { FEATURE, LABEL, CLIENT, IGNORED };

/* The columns of one table. */
struct columns {
    uint32_t n;
    uint32_t features;
    enum role *role;
    char *feature_names; /* of the header, one a line; NULL without a header */
};

struct table_reader {
    const struct csv_config *config;
    struct csv_reader csv;
    struct columns columns;
    struct samples *samples;
    uint64_t capacity; /* samples for which there is room */
    struct vocabulary *labels;
    struct vocabulary *clients; /* NULL: samples belong to nobody */
    bool labels_known;          /* a label that is not in the vocabulary is an error */
    struct io_message *message;
};

static osafl_status no_memory(const struct table_reader *t)
{
    return io_fail(t->message, OSAFL_E_NOMEM, "%s: out of memory", t->csv.source->name);
}

static osafl_status fail_at_line(const struct table_reader *t, const char *text, const char *field)
{
    return io_fail(t->message, OSAFL_E_DATA, "%s:%" PRIu32 ": %s \"%.60s\"", t->csv.source->name,
                   t->csv.line, text, field);
}

/* --- Columns */

static bool is_header(const struct table_reader *t)
{
    if (t->config->header.index != HEADER_AUTO)
        return t->config->header.index == HEADER_YES;
    /* Samples hold numbers and names do not, as a rule; the settings are for the exceptions. */
    double value = 0.0;
    for (uint32_t i = 0; i < t->csv.n_fields; i++)
        if (csv_number(t->csv.field[i], &value))
            return false;
    return true;
}

/* Gives the column of this name, or of this number where there is no header, a role. */
static osafl_status assign(struct table_reader *t, bool header, const char *name, enum role role,
                           const char *setting)
{
    int64_t column = -1;
    if (header) {
        column = csv_find(&t->csv, name);
    } else {
        double number = 0.0;
        if (csv_number(name, &number) && number >= 1.0 && number <= t->columns.n &&
            number == floor(number))
            column = (int64_t)number - 1;
    }
    if (column < 0)
        return io_fail(t->message, OSAFL_E_CONFIG,
                       header ? "%s: dataset.csv.%s: no column is named \"%s\""
                              : "%s: dataset.csv.%s: \"%s\" is no number of a column, and the "
                                "table has no header",
                       t->csv.source->name, setting, name);
    if (t->columns.role[column] != FEATURE)
        return io_fail(t->message, OSAFL_E_CONFIG,
                       "%s: dataset.csv.%s: column \"%s\" has another role already",
                       t->csv.source->name, setting, name);
    t->columns.role[column] = role;
    return OSAFL_OK;
}

static osafl_status assign_ignored(struct table_reader *t, bool header)
{
    char *names = strdup(t->config->ignore);
    if (names == NULL)
        return no_memory(t);
    osafl_status status = OSAFL_OK;
    for (char *next = names; status == OSAFL_OK && next != NULL;) {
        const char *name = strsep(&next, ",");
        name += strspn(name, " ");
        status = assign(t, header, name, IGNORED, "ignore");
    }
    free(names);
    return status;
}

/* Finds the roles of the columns from the first row. */
static osafl_status plan_columns(struct table_reader *t, bool header)
{
    const struct csv_config *config = t->config;
    struct columns *columns = &t->columns;
    columns->n = t->csv.n_fields;
    columns->role = calloc(columns->n, sizeof *columns->role);
    if (columns->role == NULL)
        return no_memory(t);
    if (config->label[0] == '\0')
        columns->role[columns->n - 1] = LABEL;
    else
        OSAFL_TRY(assign(t, header, config->label, LABEL, "label"));
    if (config->client[0] != '\0')
        OSAFL_TRY(assign(t, header, config->client, CLIENT, "client"));
    if (config->ignore[0] != '\0')
        OSAFL_TRY(assign_ignored(t, header));
    size_t name_bytes = 1;
    for (uint32_t i = 0; i < columns->n; i++)
        if (columns->role[i] == FEATURE) {
            columns->features++;
            name_bytes += strlen(t->csv.field[i]) + 1;
        }
    columns->feature_names = header ? calloc(1, name_bytes) : NULL;
    if (header && columns->feature_names == NULL)
        return no_memory(t);
    char *end = columns->feature_names;
    for (uint32_t i = 0; header && i < columns->n; i++)
        if (columns->role[i] == FEATURE)
            end = stpcpy(stpcpy(end, t->csv.field[i]), "\n");
    if (columns->features == 0)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s: has no column of features; is the separator right?",
                       t->csv.source->name);
    return OSAFL_OK;
}

/* --- Rows */

/* The number of rows is known only at the end, so memory grows by doubling. */
static osafl_status make_room(struct table_reader *t)
{
    struct samples *samples = t->samples;
    if (samples->n < t->capacity)
        return OSAFL_OK;
    const uint64_t capacity = t->capacity == 0 ? 256 : 2 * t->capacity;
    float *values = realloc(samples->values, capacity * t->columns.features * sizeof *values);
    if (values != NULL)
        samples->values = values;
    int32_t *label = realloc(samples->label, capacity * sizeof *label);
    if (label != NULL)
        samples->label = label;
    uint32_t *client = realloc(samples->client, capacity * sizeof *client);
    if (client != NULL)
        samples->client = client;
    if (values == NULL || label == NULL || client == NULL)
        return no_memory(t);
    t->capacity = capacity;
    return OSAFL_OK;
}

/* Cuts the spaces around a text off, in place. */
static const char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        text[--n] = '\0';
    return text;
}

static osafl_status read_label(struct table_reader *t, char *field, int32_t *label)
{
    uint32_t id = 0;
    const char *text = trim(field);
    if (text[0] == '\0')
        return fail_at_line(t, "the label is empty:", field);
    /* A label that only the test table has cannot be learnt: most likely it is misspelt. */
    if (t->labels_known) {
        if (!vocabulary_find(t->labels, text, &id))
            return fail_at_line(t, "no training sample has the label", text);
    } else {
        if (!vocabulary_add(t->labels, text, &id))
            return no_memory(t);
        if (t->labels->n > MAX_CLASSES)
            return fail_at_line(t, "more than 10000 different labels; is this a label:", text);
    }
    *label = (int32_t)id;
    return OSAFL_OK;
}

static osafl_status read_client(struct table_reader *t, char *field, uint32_t *client)
{
    const char *text = trim(field);
    if (text[0] == '\0')
        return fail_at_line(t, "the client is empty:", field);
    if (!vocabulary_add(t->clients, text, client))
        return no_memory(t);
    if (t->clients->n > MAX_CLIENTS)
        return fail_at_line(t, "more than 1000000 different clients, such as", text);
    return OSAFL_OK;
}

static osafl_status read_row(struct table_reader *t)
{
    struct csv_reader *csv = &t->csv;
    struct samples *samples = t->samples;
    if (csv->n_fields != t->columns.n)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": has %" PRIu32 " columns, the first row %" PRIu32,
                       csv->source->name, csv->line, csv->n_fields, t->columns.n);
    OSAFL_TRY(make_room(t));
    samples->client[samples->n] = OSAFL_NO_CLIENT;
    float *x = samples->values + samples->n * t->columns.features;
    for (uint32_t i = 0; i < t->columns.n; i++) {
        double value = 0.0;
        switch (t->columns.role[i]) {
        case FEATURE:
            OSAFL_TRY(csv_need_number(csv, i, &value));
            *x = (float)value;
            if (!isfinite(*x++))
                return fail_at_line(t, "too large for a 32-bit float:", csv->field[i]);
            break;
        case LABEL:
            OSAFL_TRY(read_label(t, csv->field[i], &samples->label[samples->n]));
            break;
        case CLIENT:
            if (t->clients != NULL)
                OSAFL_TRY(read_client(t, csv->field[i], &samples->client[samples->n]));
            break;
        default: /* IGNORED */
            break;
        }
    }
    samples->n++;
    return OSAFL_OK;
}

static osafl_status read_rows(struct table_reader *t)
{
    bool row = false;
    OSAFL_TRY(csv_next(&t->csv, &row));
    if (row) {
        const bool header = is_header(t);
        OSAFL_TRY(plan_columns(t, header));
        if (header)
            OSAFL_TRY(csv_next(&t->csv, &row));
    }
    while (row) {
        OSAFL_TRY(read_row(t));
        OSAFL_TRY(csv_next(&t->csv, &row));
    }
    if (t->samples->n == 0)
        return io_fail(t->message, OSAFL_E_DATA, "%s: holds no sample", t->csv.source->name);
    return OSAFL_OK;
}

static void free_columns(struct columns *columns)
{
    free(columns->role);
    free(columns->feature_names);
}

/* Reads one table into t->samples; the caller frees t->columns. */
static osafl_status read_table(struct table_reader *t, const char *path)
{
    static const char characters[] = {',', ';', '\t', ' '};
    struct byte_source source;
    OSAFL_TRY(byte_source_open(&source, path, t->message));
    csv_open(&t->csv, &source, characters[t->config->separator.index]);
    const osafl_status status = read_rows(t);
    csv_close(&t->csv);
    byte_source_close(&source);
    return status;
}

/* --- The set */

/* Numbers labels and clients of the training table in ascending order, and keeps the labels'
 * texts as names. */
static osafl_status sort_names(struct sample_set *set, struct vocabulary *labels,
                               struct vocabulary *clients, struct io_message *m)
{
    uint32_t *label = vocabulary_sort(labels);
    uint32_t *client = vocabulary_sort(clients);
    size_t bytes = 0;
    for (uint32_t i = 0; i < labels->n; i++)
        bytes += strlen(labels->word[i].text) + 1;
    set->name_text = malloc(bytes);
    set->label_names = calloc(labels->n, sizeof *set->label_names);
    const bool enough =
        label != NULL && client != NULL && set->name_text != NULL && set->label_names != NULL;
    if (enough) {
        for (uint64_t i = 0; i < set->train_file.n; i++) {
            set->train_file.label[i] = (int32_t)label[set->train_file.label[i]];
            if (clients->n > 0)
                set->train_file.client[i] = client[set->train_file.client[i]];
        }
        char *text = set->name_text;
        for (uint32_t i = 0; i < labels->n; i++) {
            set->label_names[labels->word[i].id] = text;
            text = stpcpy(text, labels->word[i].text) + 1;
        }
    }
    free(label);
    free(client);
    return enough ? OSAFL_OK : io_fail(m, OSAFL_E_NOMEM, "out of memory");
}

static osafl_status set_shape(struct sample_set *set, const struct csv_config *config,
                              uint32_t features, struct io_message *m)
{
    const uint32_t rows = (uint32_t)(config->channels * config->height);
    if (features % rows != 0)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%s: %" PRIu32 " features do not make %" PRId64 " channels of height "
                       "%" PRId64,
                       config->path, features, config->channels, config->height);
    set->channels = (uint32_t)config->channels;
    set->height = (uint32_t)config->height;
    set->width = features / rows;
    return OSAFL_OK;
}

static osafl_status read_test_table(struct sample_set *set, const struct table_reader *train,
                                    struct io_message *m)
{
    const struct csv_config *config = train->config;
    struct table_reader test = {.config = config,
                                .samples = &set->test_file,
                                .labels = train->labels,
                                .labels_known = true,
                                .message = m};
    osafl_status status = read_table(&test, config->test_path);
    const char *train_names = train->columns.feature_names;
    const char *test_names = test.columns.feature_names;
    if (status == OSAFL_OK && test.columns.features != train->columns.features)
        status = io_fail(m, OSAFL_E_DATA, "%s: has %" PRIu32 " features, %s has %" PRIu32,
                         config->test_path, test.columns.features, config->path,
                         train->columns.features);
    /* Features are told apart by their places: another order would pass unseen. */
    else if (status == OSAFL_OK && train_names != NULL && test_names != NULL &&
             strcmp(train_names, test_names) != 0)
        status = io_fail(m, OSAFL_E_DATA,
                         "%s: its features have other names than those of %s, or another order",
                         config->test_path, config->path);
    free_columns(&test.columns);
    return status;
}

/* What follows from the training table, and the test table. */
static osafl_status complete(struct sample_set *set, const struct table_reader *train,
                             struct io_message *m)
{
    const struct csv_config *config = train->config;
    if (train->labels->n < 2)
        return io_fail(m, OSAFL_E_DATA, "%s: all samples have the label \"%.60s\"", config->path,
                       train->labels->word[0].text);
    set->classes = train->labels->n;
    OSAFL_TRY(set_shape(set, config, train->columns.features, m));
    OSAFL_TRY(sort_names(set, train->labels, train->clients, m));
    if (config->test_path[0] != '\0')
        OSAFL_TRY(read_test_table(set, train, m));
    const double share = config->test_share * (double)set->train_file.n;
    OSAFL_TRY(
        sample_set_split(set, (uint64_t)fmax(1.0, round(share)), (uint64_t)config->validation, m));
    return config->standardise ? sample_set_standardise(set, m) : OSAFL_OK;
}

static osafl_status read_files(struct sample_set *set, const void *settings,
                               struct io_message *m)
{
    const struct csv_config *config = settings;
    struct vocabulary labels = {0};
    struct vocabulary clients = {0};
    struct table_reader train = {.config = config,
                                 .samples = &set->train_file,
                                 .labels = &labels,
                                 .clients = &clients,
                                 .message = m};
    osafl_status status = read_table(&train, config->path);
    if (status == OSAFL_OK)
        status = complete(set, &train, m);
    free_columns(&train.columns);
    vocabulary_free(&labels);
    vocabulary_free(&clients);
    return status;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    return sample_set_create(h, c, read_files, config, self);
}

static const char *const features_declared[] = {"natural", NULL};

static const osafl_dataset_vt vtable = {
    .life = {.struct_size = sizeof(osafl_dataset_vt), .create = create, .destroy = sample_set_destroy},
    .describe = sample_set_describe,
    .label = sample_set_label,
    .read = sample_set_read,
    .client_of = sample_set_client,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DATASET,
    .name = "csv",
    .version = "1.0.0",
    .summary = "labelled rows of numbers from a table",
    .license = "MIT",
    .features = features_declared,
    OSAFL_PLUGIN_PARAMS(params, struct csv_config),
    .vtable = &vtable.life,
};

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
