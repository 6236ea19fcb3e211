/* libsvm.c - sparse samples as LIBSVM and SVMlight write them, a line each:
 *
 *     +1 3:0.5 17:1 120:-2.25   # comment
 *
 * a label, then features by ascending index; those that are not there are 0.  Classes are the
 * distinct labels, in ascending order: +1, 1 and 1.0 are one. */
#include "csv_reader.h"
#include "label_facts.h"
#include "sample_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLASSES 10000
#define MAX_FEATURES 1000000

struct libsvm_config {
    const char *path;
    const char *test_path;
    double test_share;
    int64_t validation;
    int64_t classes;
    int64_t features;
    int64_t first_index;
    bool standardise;
    int64_t channels;
    int64_t height;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct libsvm_config, path, NULL, "File of the training samples, plain or gzip",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_PATH(struct libsvm_config, test_path, "",
               "File of the test samples; none: a share of the training samples"),
    OSAFL_REAL(struct libsvm_config, test_share, 0.2, 0.0, 1.0,
               "Share of the samples held out for the test where there is no test_path: the same "
               "samples in every run",
               .flags = OSAFL_P_LO_OPEN | OSAFL_P_HI_OPEN),
    OSAFL_INT(struct libsvm_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_INT(struct libsvm_config, classes, 0, 0, MAX_CLASSES,
              "Number of different labels; 0: as many as there are, unless they look like "
              "quantities"),
    OSAFL_INT(struct libsvm_config, features, 0, 0, MAX_FEATURES,
              "Number of features; 0: up to the largest index of both files"),
    OSAFL_INT(struct libsvm_config, first_index, 1, 0, 1, "Index of the first feature"),
    OSAFL_BOOL(struct libsvm_config, standardise, false,
               "Shift and scale each feature to mean 0 and deviation 1 over the training samples; "
               "false: values are taken as they are"),
    OSAFL_INT(struct libsvm_config, channels, 1, 1, 1024,
              "Channels of a sample, for lines that are pictures in the order (channel, y, x)"),
    OSAFL_INT(struct libsvm_config, height, 1, 1, 65535, "Height of a sample, for pictures"),
};

/* What one file holds. */
struct sparse {
    const char *path;
    uint64_t n; /* samples */
    uint64_t room;
    double *label;   /* n */
    uint64_t *begin; /* n + 1: where each sample's entries are */
    uint64_t entries;
    uint64_t entry_room;
    uint32_t *index;   /* entries, from 0, ascending within a sample */
    float *value;      /* entries */
    uint32_t features; /* one more than the largest index */
};

static void sparse_free(struct sparse *s)
{
    free(s->label);
    free(s->begin);
    free(s->index);
    free(s->value);
}

/* Room for one sample and one entry more. */
static bool make_room(struct sparse *s)
{
    if (s->n + 1 >= s->room) {
        const uint64_t room = s->room == 0 ? 256 : 2 * s->room;
        double *label = realloc(s->label, room * sizeof *label);
        if (label != NULL)
            s->label = label;
        uint64_t *begin = realloc(s->begin, room * sizeof *begin);
        if (begin != NULL)
            s->begin = begin;
        if (label == NULL || begin == NULL)
            return false;
        s->room = room;
    }
    if (s->entries < s->entry_room)
        return true;
    const uint64_t room = s->entry_room == 0 ? 4096 : 2 * s->entry_room;
    uint32_t *index = realloc(s->index, room * sizeof *index);
    if (index != NULL)
        s->index = index;
    float *value = realloc(s->value, room * sizeof *value);
    if (value != NULL)
        s->value = value;
    if (index == NULL || value == NULL)
        return false;
    s->entry_room = room;
    return true;
}

/* --- Lines */

static osafl_status fail_at(const struct csv_reader *r, const char *field, const char *why)
{
    return io_fail(r->source->message, OSAFL_E_DATA, "%s:%" PRIu32 ": \"%.40s\" %s",
                   r->source->name, r->line, field, why);
}

/* Takes one "index:value". */
static osafl_status read_entry(struct sparse *s, const struct libsvm_config *config,
                               const struct csv_reader *r, char *field)
{
    char *colon = strchr(field, ':');
    double index = 0.0;
    double value = 0.0;
    if (colon == NULL)
        return fail_at(r, field, "is not a feature; write index:value");
    *colon = '\0';
    const bool numbers = csv_number(field, &index) && csv_number(colon + 1, &value);
    *colon = ':';
    if (!numbers || index != floor(index) || index < 0.0)
        return fail_at(r, field, "is not a feature: index and value are finite numbers");
    if (index < (double)config->first_index)
        return fail_at(r, field,
                       "comes before the first feature; where indices begin at 0, set "
                       "dataset.libsvm.first_index = 0");
    const double place = index - (double)config->first_index;
    if (place >= (config->features > 0 ? (double)config->features : MAX_FEATURES))
        return fail_at(r, field,
                       config->features > 0
                           ? "has an index beyond dataset.libsvm.features"
                           : "has an index beyond 1000000, the most that can be used");
    if (s->entries > s->begin[s->n] && place <= s->index[s->entries - 1])
        return fail_at(r, field, "comes after a feature of the same or a larger index");
    s->index[s->entries] = (uint32_t)place;
    s->value[s->entries] = (float)value;
    if (!isfinite(s->value[s->entries]))
        return fail_at(r, field, "is too large for a 32-bit float");
    s->entries++;
    if (place >= s->features)
        s->features = (uint32_t)place + 1;
    return OSAFL_OK;
}

static osafl_status read_line(struct sparse *s, const struct libsvm_config *config,
                              const struct csv_reader *r)
{
    struct io_message *m = r->source->message;
    if (r->field[0][0] == '#')
        return OSAFL_OK;
    if (!make_room(s))
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", s->path);
    if (!csv_number(r->field[0], &s->label[s->n]))
        return fail_at(r, r->field[0], "is not a label: a sample begins with one number");
    s->begin[s->n] = s->entries;
    for (uint32_t i = 1; i < r->n_fields && r->field[i][0] != '#'; i++) {
        if (!make_room(s))
            return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", s->path);
        OSAFL_TRY(read_entry(s, config, r, r->field[i]));
    }
    s->begin[++s->n] = s->entries;
    return OSAFL_OK;
}

static osafl_status read_sparse(struct sparse *s, const struct libsvm_config *config,
                                const char *path, struct io_message *m)
{
    struct byte_source source;
    struct csv_reader r;
    bool row = false;
    s->path = path;
    OSAFL_TRY(byte_source_open(&source, path, m));
    csv_open(&r, &source, ' ');
    osafl_status status = csv_next(&r, &row);
    while (status == OSAFL_OK && row) {
        status = read_line(s, config, &r);
        if (status == OSAFL_OK)
            status = csv_next(&r, &row);
    }
    csv_close(&r);
    byte_source_close(&source);
    if (status == OSAFL_OK && s->n == 0)
        return io_fail(m, OSAFL_E_DATA, "%s: holds no sample", path);
    return status;
}

/* --- Classes */

static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return *x < *y ? -1 : *x > *y;
}

static osafl_status check_classes(const struct libsvm_config *config, const struct sparse *s,
                                  const double *label, uint32_t n, struct io_message *m)
{
    struct label_facts facts = {.samples = s->n, .distinct = n, .numbers = true, .whole = true};
    for (uint32_t i = 0; i < n; i++)
        facts.whole = facts.whole && label[i] == floor(label[i]);
    facts.gapless = label[n - 1] - label[0] + 1.0 == n;
    if (n < 2)
        return io_fail(m, OSAFL_E_DATA, "%s: all samples have the label %g; add samples of another",
                       s->path, label[0]);
    if (config->classes > 0 && config->classes != n)
        return io_fail(m, OSAFL_E_DATA,
                       "%s: has %" PRIu32 " different labels, dataset.libsvm.classes says %" PRId64,
                       s->path, n, config->classes);
    if (n > MAX_CLASSES || (config->classes == 0 && !labels_look_like_classes(&facts)))
        return io_fail(
            m, OSAFL_E_DATA,
            "%s: the labels do not look like classes: %" PRIu32 " different numbers (such "
            "as %g, %g) for %" PRIu64 " samples. Make a few classes of them, or confirm up to "
            "10000: dataset.libsvm.classes = %" PRIu32
            "; quantities are predicted by dataset/npy and dataset/csv (target = \"real\")",
            s->path, n, label[0], label[1], s->n, n);
    return OSAFL_OK;
}

/* The distinct labels of the training file, ascending: *out [*n], from malloc(). */
static osafl_status find_classes(const struct libsvm_config *config, const struct sparse *s,
                                 double **out, uint32_t *n, struct io_message *m)
{
    double *label = malloc(s->n * sizeof *label);
    if (label == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", s->path);
    memcpy(label, s->label, s->n * sizeof *label);
    qsort(label, s->n, sizeof *label, by_value);
    uint64_t distinct = 0;
    for (uint64_t i = 0; i < s->n; i++)
        if (i == 0 || label[i] != label[distinct - 1])
            label[distinct++] = label[i];
    *out = label;
    *n = distinct < UINT32_MAX ? (uint32_t)distinct : UINT32_MAX;
    return check_classes(config, s, label, *n, m);
}

static osafl_status name_classes(struct sample_set *set, const double *label, struct io_message *m)
{
    enum { LONGEST = 32 };
    set->name_text = calloc(set->classes, LONGEST);
    set->label_names = calloc(set->classes, sizeof *set->label_names);
    if (set->name_text == NULL || set->label_names == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < set->classes; i++) {
        char *text = set->name_text + (size_t)i * LONGEST;
        (void)snprintf(text, LONGEST, "%.15g", label[i]);
        set->label_names[i] = text;
    }
    return OSAFL_OK;
}

/* --- The set */

static osafl_status take_samples(const struct sample_set *set, const struct sparse *s,
                                 const double *classes, struct samples *samples,
                                 struct io_message *m)
{
    const size_t size = (size_t)set->channels * set->height * set->width;
    samples->values = s->n <= SIZE_MAX / size ? calloc(s->n * size, sizeof *samples->values) : NULL;
    samples->label = malloc(s->n * sizeof *samples->label);
    if (samples->values == NULL || samples->label == NULL)
        return io_fail(m, OSAFL_E_NOMEM,
                       "%s: out of memory: %" PRIu64 " samples of %zu features are kept with their "
                       "zeros",
                       s->path, s->n, size);
    samples->n = s->n;
    for (uint64_t i = 0; i < s->n; i++) {
        const double *found =
            bsearch(&s->label[i], classes, set->classes, sizeof *classes, by_value);
        if (found == NULL)
            return io_fail(m, OSAFL_E_DATA,
                           "%s: no training sample has the label %g of sample %" PRIu64, s->path,
                           s->label[i], i);
        samples->label[i] = (int32_t)(found - classes);
        for (uint64_t k = s->begin[i]; k < s->begin[i + 1]; k++)
            samples->values[i * size + s->index[k]] = s->value[k];
    }
    return OSAFL_OK;
}

/* What follows from the files that were read. */
static osafl_status complete(struct sample_set *set, const struct libsvm_config *config,
                             const struct sparse *train, const struct sparse *test,
                             double **classes, struct io_message *m)
{
    uint32_t features = train->features > test->features ? train->features : test->features;
    if (config->features > 0)
        features = (uint32_t)config->features;
    if (features == 0)
        return io_fail(m, OSAFL_E_DATA, "%s: has no feature", config->path);
    OSAFL_TRY(sample_set_shape(set, config->path, (uint32_t)config->channels,
                               (uint32_t)config->height, features, m));
    OSAFL_TRY(find_classes(config, train, classes, &set->classes, m));
    OSAFL_TRY(name_classes(set, *classes, m));
    OSAFL_TRY(take_samples(set, train, *classes, &set->train_file, m));
    if (test->n > 0)
        OSAFL_TRY(take_samples(set, test, *classes, &set->test_file, m));
    const double share = config->test_share * (double)train->n;
    OSAFL_TRY(
        sample_set_split(set, (uint64_t)fmax(1.0, round(share)), (uint64_t)config->validation, m));
    if (config->standardise)
        return sample_set_standardise(set, m);
    sample_set_keep_values(set);
    return OSAFL_OK;
}

static osafl_status read_files(struct sample_set *set, const void *settings, struct io_message *m)
{
    const struct libsvm_config *config = settings;
    struct sparse train = {0};
    struct sparse test = {0};
    double *classes = NULL;
    osafl_status status = read_sparse(&train, config, config->path, m);
    if (status == OSAFL_OK && config->test_path[0] != '\0')
        status = read_sparse(&test, config, config->test_path, m);
    if (status == OSAFL_OK)
        status = complete(set, config, &train, &test, &classes, m);
    free(classes);
    sparse_free(&train);
    sparse_free(&test);
    return status;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    return sample_set_create(h, c, read_files, config, self);
}

static const osafl_dataset_vt vtable = {
    .life = {.struct_size = sizeof(osafl_dataset_vt),
             .create = create,
             .destroy = sample_set_destroy},
    .describe = sample_set_describe,
    .label = sample_set_label,
    .read = sample_set_read,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DATASET,
    .name = "libsvm",
    .version = "1.0.0",
    .summary = "sparse samples in the format of LIBSVM and SVMlight",
    .cite = "Chang and Lin 2011, LIBSVM: A library for support vector machines (format)",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct libsvm_config),
    .vtable = &vtable.life,
};

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
