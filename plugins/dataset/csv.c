/* csv.c - labelled rows from a table: every column is a feature but those of the label, the
 * client and the time, and those that are ignored.
 *
 * Classes are the distinct texts of the label column, in ascending order; clients, for
 * partition.plugin = "natural", those of the client column.  The time column says when a sample
 * came. */
#include "label_facts.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const separators[] = {"comma", "semicolon", "tab", "space", NULL};
static const char *const decimals[] = {"point", "comma", NULL};
static const char *const missing_rules[] = {"refuse", "drop", "mean", NULL};

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
               "Column of the label: its name, or its number from 1 as \"#3\" (\"3\" where no name "
               "is a number); \"\": the last"),
    OSAFL_INT(struct csv_config, classes, 0, 0, CSV_MAX_CLASSES,
              "Number of different labels; 0: as many as there are, unless they look like "
              "quantities",
              .flags = OSAFL_P_LATER),
    OSAFL_CHOICE(struct csv_config, target, TARGETS_CLASS, sample_targets_choices,
                 "Whether the label's column holds classes, or real numbers to be predicted "
                 "(model/network with loss = \"squared_error\")",
                 .flags = OSAFL_P_LATER),
    OSAFL_TEXT(struct csv_config, client, "",
               "Column of the client that a sample belongs to; \"\": none"),
    OSAFL_TEXT(struct csv_config, time, "",
               "Column of numbers that say when a sample came, in any unit, such as seconds since "
               "1970: where samples have owners, those of a client come in this order (see "
               "arrival/timed); \"\": none",
               .flags = OSAFL_P_LATER),
    OSAFL_TEXT(struct csv_config, ignore, "", "Columns that are not features, separated by commas"),
    OSAFL_TEXT(struct csv_config, categorical, "",
               "Columns of categories, separated by commas; \"*\": all that hold text alone (a "
               "column of texts and numbers must be named); each category becomes a value, 1 for "
               "its samples and 0 for others (one-hot)",
               .flags = OSAFL_P_LATER),
    OSAFL_CHOICE(struct csv_config, missing, MISSING_REFUSE, missing_rules,
                 "For an empty field (in columns of numbers also ?, NA, N/A, NaN, null, None): an "
                 "error; the row is left out; or the mean over the training samples, and no "
                 "category",
                 .flags = OSAFL_P_LATER),
    OSAFL_CHOICE(struct csv_config, header, HEADER_AUTO, headers,
                 "Whether the first row holds names; auto: if no field of it is a number"),
    OSAFL_CHOICE(struct csv_config, separator, 0, separators,
                 "Separator of fields; space: any run of spaces and tabs"),
    OSAFL_CHOICE(struct csv_config, decimal, 0, decimals,
                 "Decimal separator of numbers: 1.5 or 1,5", .flags = OSAFL_P_LATER),
    OSAFL_TEXT(struct csv_config, comment, "",
               "Lines that begin with it are left out, such as \"#\"; \"\": none",
               .flags = OSAFL_P_LATER),
    OSAFL_BOOL(struct csv_config, standardise, true,
               "Shift and scale each value of a sample to mean 0 and deviation 1 over the training "
               "samples, those of categories too; false: values are taken as they are"),
    OSAFL_INT(struct csv_config, channels, 1, 1, 1024,
              "Channels of a sample, for rows that are pictures in the order (channel, y, x)"),
    OSAFL_INT(struct csv_config, height, 1, 1, 65535, "Height of a sample, for pictures"),
};

/* Names of the classes. */
static osafl_status name_labels(struct sample_set *set, const struct vocabulary *labels,
                                struct io_message *m)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < labels->n; i++)
        bytes += strlen(labels->word[i].text) + 1;
    set->name_text = malloc(bytes);
    set->label_names = calloc(labels->n, sizeof *set->label_names);
    if (set->name_text == NULL || set->label_names == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    char *text = set->name_text;
    for (uint32_t i = 0; i < labels->n; i++) {
        set->label_names[labels->word[i].id] = text;
        text = stpcpy(text, labels->word[i].text) + 1;
    }
    return OSAFL_OK;
}

/* --- What is probably not meant */

static struct label_facts facts_of(const struct vocabulary *labels, uint64_t samples)
{
    struct label_facts f = {
        .samples = samples, .distinct = labels->n, .numbers = true, .whole = true};
    double least = INFINITY;
    double most = -INFINITY;
    for (uint32_t i = 0; i < labels->n; i++) {
        double value = 0.0;
        f.numbers = f.numbers && csv_number(labels->word[i].text, &value);
        f.whole = f.whole && value == floor(value);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    f.gapless = most - least + 1.0 == labels->n;
    return f;
}

/* The first label that is of the rarer sort, a number or a text; NULL: all are of one sort. */
static const struct word *odd_label(const struct vocabulary *labels)
{
    const struct word *first[2] = {NULL, NULL};
    uint32_t count[2] = {0, 0};
    double value = 0.0;
    for (uint32_t i = 0; i < labels->n; i++) {
        const struct word *word = &labels->word[i];
        const int number = csv_number(word->text, &value) ? 1 : 0;
        count[number]++;
        if (first[number] == NULL || word->line < first[number]->line)
            first[number] = word;
    }
    if (count[0] == 0 || count[1] == 0)
        return NULL;
    return first[count[1] < count[0] ? 1 : 0];
}

/* A text among numbers, such as inf or NaN, is a slip more often than a class. */
static osafl_status refuse_odd_label(const struct table *t, const struct word *odd)
{
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s:%" PRIu32
                   ": the label \"%.40s\" in %s stands among %s; correct it, leave it "
                   "empty if the class is unknown (dataset.csv.missing = \"drop\" leaves the row "
                   "out), or confirm the classes: dataset.csv.classes = %" PRIu32,
                   t->path, odd->line, odd->text, csv_place(&t->csv, t->label_column).text,
                   csv_number(odd->text, &(double){0}) ? "texts" : "numbers", t->labels.n);
}

static osafl_status check_classes(const struct table *t)
{
    const struct vocabulary *labels = &t->labels;
    const uint64_t n = t->samples->n;
    const struct label_facts facts = facts_of(labels, n);
    const struct word *odd = odd_label(labels);
    if (labels->n < 2)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s: all samples have the label \"%.60s\"; name another column as "
                       "dataset.csv.label",
                       t->path, labels->word[0].text);
    if (t->config->classes > 0 && t->config->classes != labels->n)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s: has %" PRIu32 " different labels, dataset.csv.classes says %" PRId64,
                       t->path, labels->n, t->config->classes);
    if (t->config->classes == 0 && odd != NULL)
        return refuse_odd_label(t, odd);
    if (t->config->classes > 0 || labels_look_like_classes(&facts))
        return OSAFL_OK;
    return io_fail(
        t->message, OSAFL_E_DATA,
        "%s: the labels in %s do not look like classes: %" PRIu32 " different %s (such as "
        "%.20s, %.20s) for %" PRIu64 " samples. To predict quantities, set dataset.csv.target = "
        "\"real\"; or make a few classes of them, name another column (dataset.csv.label), or "
        "confirm them: dataset.csv.classes = %" PRIu32,
        t->path, csv_place(&t->csv, t->label_column).text, labels->n,
        facts.numbers ? "numbers" : "texts", labels->word[0].text, labels->word[1].text, n,
        labels->n);
}

static void warn_of_twins(const struct table *t, const struct vocabulary *v, const char *what)
{
    const char *a = NULL;
    const char *b = NULL;
    if (vocabulary_twins(v, &a, &b))
        sample_set_warn(t->set,
                        "%s: %s \"%.60s\" and \"%.60s\" are taken for two; are they the same?",
                        t->path, what, a, b);
}

/* Nearly as many texts as rows name the rows; they say nothing about rows to come. */
static void warn_of_names(const struct table *t, const struct vocabulary *v, const char *place)
{
    const uint64_t n = t->samples->n;
    if (n >= 10 && v->n > n / 2)
        sample_set_warn(t->set,
                        "%s: %s has %" PRIu32 " different texts in %" PRIu64
                        " rows, each a feature of its own; if it names the rows, leave it out "
                        "with dataset.csv.ignore",
                        t->path, place, v->n, n);
}

static void warn_of_texts(const struct table *t)
{
    warn_of_twins(t, &t->labels, "labels");
    warn_of_twins(t, &t->clients, "clients");
    for (uint32_t k = 0; k < t->n_features; k++) {
        struct csv_place place = csv_place(&t->csv, t->feature[k].column);
        if (!t->feature[k].categorical)
            continue;
        warn_of_twins(t, &t->feature[k].category, place.text);
        warn_of_names(t, &t->feature[k].category, place.text);
    }
    for (uint32_t i = 0; i < t->labels.n; i++)
        if (table_missing(t->labels.word[i].text))
            sample_set_warn(
                t->set,
                "%s: the label \"%s\" is a class of its own; rows of unknown class have "
                "an empty label, and dataset.csv.missing = \"drop\" leaves them out",
                t->path, t->labels.word[i].text);
}

/* --- The set */

static osafl_status read_test_table(const struct table *train)
{
    struct table test = {.config = train->config,
                         .path = train->config->test_path,
                         .train = train,
                         .set = train->set,
                         .message = train->message,
                         .samples = &train->set->test_file};
    const osafl_status status = table_read(&test);
    table_free(&test);
    return status;
}

static osafl_status fill_missing(const struct table *t)
{
    size_t lacking = 0;
    const osafl_status status = sample_set_fill_missing(t->set, &lacking, t->message);
    if (status != OSAFL_E_DATA)
        return status;
    uint32_t k = 0;
    for (size_t at = 0; k < t->n_features; k++) {
        at += t->feature[k].categorical ? t->feature[k].category.n : 1;
        if (at > lacking)
            break;
    }
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s: no training sample has a value in %s, so there is no mean; leave it "
                   "out with dataset.csv.ignore",
                   t->path, csv_place(&t->csv, t->feature[k].column).text);
}

/* --- What is reported of the columns */

/* The name of a value of a sample, from malloc(): that of its column, with that of its category. */
static char *value_name(const struct table *t, const struct feature *feature, const char *category)
{
    char *name = NULL;
    const char *column = t->csv.name != NULL ? t->csv.name[feature->column] : "";
    const char *sign = category != NULL ? "=" : "";
    const char *text = category != NULL ? category : "";
    const int n = column[0] != '\0'
                      ? asprintf(&name, "%s%s%s", column, sign, text)
                      : asprintf(&name, "#%" PRIu32 "%s%s", feature->column + 1, sign, text);
    return n >= 0 ? name : NULL;
}

static bool name_values(const struct table *t, char **name)
{
    bool enough = true;
    for (uint32_t k = 0; k < t->n_features; k++) {
        const struct feature *feature = &t->feature[k];
        if (!feature->categorical)
            enough = (*name++ = value_name(t, feature, NULL)) != NULL && enough;
        for (uint32_t i = 0; feature->categorical && i < feature->category.n; i++) {
            const struct word *word = &feature->category.word[i];
            name[word->id] = value_name(t, feature, word->text);
            enough = enough && name[word->id] != NULL;
        }
        name += feature->categorical ? feature->category.n : 0;
    }
    return enough;
}

static osafl_status record_columns(const struct table *t)
{
    char text[64];
    char **name = calloc(t->values, sizeof *name);
    const bool enough = name != NULL && name_values(t, name);
    if (enough) {
        sample_set_record_text(t->set, "label", csv_place(&t->csv, t->label_column).text);
        sample_set_record_texts(t->set, "features", (const char *const *)name, t->values);
    }
    for (uint32_t i = 0; name != NULL && i < t->values; i++)
        free(name[i]);
    free(name);
    (void)snprintf(text, sizeof text, "%" PRIu64 " rows with missing values", t->dropped);
    if (t->dropped > 0)
        sample_set_record_text(t->set, "left_out", text);
    return enough ? OSAFL_OK : io_fail(t->message, OSAFL_E_NOMEM, "%s: out of memory", t->path);
}

/* What follows from the training table, and the test table. */
static osafl_status complete(struct table *train)
{
    const struct csv_config *config = train->config;
    struct sample_set *set = train->set;
    struct io_message *m = train->message;
    const bool real = config->target.index == TARGETS_REAL;
    if (!real)
        OSAFL_TRY(check_classes(train));
    warn_of_texts(train);
    set->classes = train->labels.n;
    set->targets = real ? 1 : 0;
    OSAFL_TRY(sample_set_shape(set, config->path, (uint32_t)config->channels,
                               (uint32_t)config->height, train->values, m));
    if (!real)
        OSAFL_TRY(name_labels(set, &train->labels, m));
    OSAFL_TRY(record_columns(train));
    if (config->test_path[0] != '\0')
        OSAFL_TRY(read_test_table(train));
    const double share = config->test_share * (double)set->train_file.n;
    OSAFL_TRY(
        sample_set_split(set, (uint64_t)fmax(1.0, round(share)), (uint64_t)config->validation, m));
    if (config->missing.index == MISSING_MEAN)
        OSAFL_TRY(fill_missing(train));
    if (config->standardise)
        return sample_set_standardise(set, m);
    sample_set_keep_values(set);
    return OSAFL_OK;
}

static osafl_status read_files(struct sample_set *set, const void *settings, struct io_message *m)
{
    const struct csv_config *config = settings;
    struct table train = {.config = config,
                          .path = config->path,
                          .set = set,
                          .message = m,
                          .samples = &set->train_file};
    osafl_status status = table_read(&train);
    if (status == OSAFL_OK)
        status = complete(&train);
    table_free(&train);
    return status;
}

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct csv_config *settings = config;
    if (settings->decimal.index != 0 && settings->separator.index == 0)
        return h->fail(c, OSAFL_E_CONFIG,
                       "dataset.csv: numbers with a decimal comma need another separator than "
                       "\"comma\"");
    if (settings->target.index == TARGETS_REAL && settings->classes > 0)
        return h->fail(
            c, OSAFL_E_CONFIG,
            "dataset.csv: real targets are not classes; leave classes out, or set target "
            "= \"class\"");
    return OSAFL_OK;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    return sample_set_create(h, c, read_files, config, self);
}

static const char *const features_declared[] = {"natural", "timed", NULL};

static const osafl_dataset_vt vtable = {
    .life = {.struct_size = sizeof(osafl_dataset_vt),
             .check = check,
             .create = create,
             .destroy = sample_set_destroy},
    .describe = sample_set_describe,
    .label = sample_set_label,
    .read = sample_set_read,
    .client_of = sample_set_client,
    .time_of = sample_set_time,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DATASET,
    .name = "csv",
    .version = "1.0.0",
    .summary = "labelled rows of numbers and categories from a table",
    .license = "MIT",
    .features = features_declared,
    OSAFL_PLUGIN_PARAMS(params, struct csv_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
