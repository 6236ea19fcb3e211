/* npy.c - arrays that NumPy saved: samples in one .npy file, their labels in another.
 *
 * Samples of shape (n, features), (n, height, width) or four dimensions.  Bytes (uint8) are pixels;
 * other numbers are taken as they are, and truth values as 0 and 1. */
#include "npy_format.h"
#include "sample_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLASSES 1000000
#define MAX_TARGETS 65536

enum { CHANNELS_FIRST, CHANNELS_LAST };

struct npy_config {
    const char *x;
    const char *y;
    const char *client;
    const char *time;
    const char *test_x;
    const char *test_y;
    double test_share;
    int64_t validation;
    int64_t classes;
    int64_t first_label;
    osafl_choice channels;
    osafl_choice pixels;
    bool standardise;
    osafl_choice target; /* enum sample_targets */
    bool tokens;
};

static const char *const channel_orders[] = {"first", "last", NULL};

static const osafl_param params[] = {
    OSAFL_PATH(struct npy_config, x, NULL,
               "Array of the training samples: FILE.npy, plain or gzip, or FILE.npz:NAME",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_PATH(struct npy_config, y, NULL,
               "Array of their labels, whole numbers from first_label, or of their targets",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_CHOICE(struct npy_config, target, TARGETS_CLASS, sample_targets_choices,
                 "Whether y holds classes, or real numbers to be predicted, one for each sample or "
                 "of shape (n, targets) (model/network with loss = \"squared_error\")",
                 .flags = OSAFL_P_LATER),
    OSAFL_PATH(struct npy_config, client, "",
               "Array of the clients that they belong to, from 0; none: no clients"),
    OSAFL_PATH(struct npy_config, time, "",
               "Array of numbers that say when they came, in any unit, such as seconds since 1970: "
               "where samples have owners, those of a client come in this order (see "
               "arrival/timed); none: no times",
               .flags = OSAFL_P_LATER),
    OSAFL_PATH(struct npy_config, test_x, "",
               "Array of the test samples; none: a share of the training samples"),
    OSAFL_PATH(struct npy_config, test_y, "", "Array of the test samples' labels"),
    OSAFL_REAL(struct npy_config, test_share, 0.2, 0.0, 1.0,
               "Share of the samples held out for the test where there is no test_x: the same "
               "samples in every run",
               .flags = OSAFL_P_LO_OPEN | OSAFL_P_HI_OPEN),
    OSAFL_INT(struct npy_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_INT(struct npy_config, classes, 0, 0, MAX_CLASSES,
              "Number of classes; 0: up to the largest training label, unless the labels look like "
              "quantities"),
    OSAFL_INT(struct npy_config, first_label, 0, -MAX_CLASSES, MAX_CLASSES,
              "Label of the first class, such as 1 where labels begin at 1",
              .flags = OSAFL_P_LATER),
    OSAFL_CHOICE(struct npy_config, channels, CHANNELS_FIRST, channel_orders,
                 "Whether four dimensions are (n, channels, height, width) or (n, height, width, "
                 "channels)"),
    OSAFL_CHOICE(
        struct npy_config, pixels, PIXELS_SIGNED, sample_pixels_choices,
        "Samples of bytes (uint8) are put in [-1, 1], in [0, 1], have mean 0 and deviation 1 "
        "over the training split, each channel its own, or are taken as they are, as "
        "numbers of other types always are; bools are 0 and 1",
        .flags = OSAFL_P_LATER),
    OSAFL_BOOL(struct npy_config, standardise, false,
               "Shift and scale each value of a sample to mean 0 and deviation 1 over the training "
               "samples, in place of pixels"),
    OSAFL_BOOL(struct npy_config, tokens, false,
               "Whether the values of a sample are whole numbers from 0 that name something, such "
               "as the words of a text: they are not scaled, and reach the model as integers "
               "(model/network with embedding)",
               .flags = OSAFL_P_LATER),
};

/* Opens a file and reads its header; the caller closes the source if OSAFL_OK. */
static osafl_status open_array(struct byte_source *s, const char *path, struct npy_header *h,
                               struct io_message *m)
{
    OSAFL_TRY(npy_open(s, path, m));
    const osafl_status status = npy_read_header(s, h);
    if (status != OSAFL_OK)
        byte_source_close(s);
    return status;
}

enum { SHAPE_BYTES = 3 * 24 };

/* The last `rank` of three sizes: "3 x 4". */
static const char *shape_text(uint32_t rank, const uint64_t shape[3], char text[SHAPE_BYTES])
{
    int used = 0;
    for (uint32_t i = 3 - rank; i < 3; i++)
        used += snprintf(text + used, (size_t)(SHAPE_BYTES - used), "%s%" PRIu64,
                         used > 0 ? " x " : "", shape[i]);
    return text;
}

/* Takes the shape of samples from the first array, and compares it with that of the second. */
static osafl_status set_shape(struct sample_set *set, const struct npy_config *config,
                              const char *path, const struct npy_header *h, struct io_message *m)
{
    const bool last = config->channels.index == CHANNELS_LAST;
    const uint32_t rank = h->rank - 1;
    uint64_t shape[3] = {1, 1, 1}; /* channels, height, width */
    if (h->rank == 1)
        return io_fail(m, OSAFL_E_DATA,
                       "%s: has one dimension; samples need two to four, the first counts them",
                       path);
    if (h->rank == 4)
        shape[0] = h->shape[last ? 3 : 1];
    if (h->rank >= 3)
        shape[1] = h->shape[h->rank == 4 && !last ? 2 : 1];
    shape[2] = h->shape[h->rank == 4 && last ? 2 : h->rank - 1];
    if (set->rank == 0) {
        set->rank = rank;
        set->channels = (uint32_t)shape[0];
        set->height = (uint32_t)shape[1];
        set->width = (uint32_t)shape[2];
    }
    if (shape[0] == set->channels && shape[1] == set->height && shape[2] == set->width)
        return OSAFL_OK;
    char texts[2][SHAPE_BYTES];
    const uint64_t others[] = {set->channels, set->height, set->width};
    return io_fail(m, OSAFL_E_DATA, "%s: samples have shape %s, training samples %s", path,
                   shape_text(rank, shape, texts[0]), shape_text(set->rank, others, texts[1]));
}

/* Reads the elements of an array as what they are to be. */
static osafl_status read_elements(struct byte_source *source, const struct npy_header *h,
                                  const struct npy_config *config, struct samples *samples,
                                  struct io_message *m)
{
    osafl_status status = OSAFL_E_NOMEM;
    if (config->tokens) {
        samples->tokens = malloc(h->n * sizeof *samples->tokens);
        if (samples->tokens != NULL)
            status = npy_read_numbers(source, h, 0, INT32_MAX, "", (uint32_t *)samples->tokens);
    } else if (h->kind == 'u' && h->size == 1 && !config->standardise) {
        /* Pixels stay bytes, a quarter of the memory; standardised ones are bytes no more. */
        samples->pixels = malloc(h->n);
        if (samples->pixels != NULL)
            status = npy_read_bytes(source, h, samples->pixels);
    } else {
        samples->values = malloc(h->n * sizeof *samples->values);
        if (samples->values != NULL)
            status = npy_read_floats(source, h, samples->values);
    }
    return samples->tokens == NULL && samples->pixels == NULL && samples->values == NULL
               ? io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", source->name)
               : status;
}

static osafl_status read_samples(struct sample_set *set, const struct npy_config *config,
                                 const char *path, struct samples *samples, struct io_message *m)
{
    struct byte_source source;
    struct npy_header h;
    OSAFL_TRY(open_array(&source, path, &h, m));
    osafl_status status = set_shape(set, config, path, &h, m);
    if (status == OSAFL_OK) {
        samples->n = h.shape[0];
        status = read_elements(&source, &h, config, samples, m);
    }
    byte_source_close(&source);
    const size_t last[] = {1, (size_t)set->width * set->channels, set->channels};
    if (status == OSAFL_OK && h.rank == 4 && config->channels.index == CHANNELS_LAST)
        status = sample_set_arrange(set, samples, last, m);
    return status;
}

/* Samples as messages name them. */
struct named_samples {
    const char *key;
    const char *path;
    uint64_t n;
};

/* A failure of the array that dataset.npy.KEY names. */
static osafl_status of_key(osafl_status status, const char *key, struct io_message *m)
{
    const struct io_message was = *m;
    if (status != OSAFL_OK)
        (void)io_fail(m, status, "dataset.npy.%s: %s", key, was.text);
    return status;
}

static osafl_status refuse_length(const char *path, const char *what, uint64_t has,
                                  const struct named_samples *of, struct io_message *m)
{
    return io_fail(m, OSAFL_E_DATA,
                   "%s: holds %" PRIu64 " %s for %" PRIu64
                   " samples of dataset.npy.%s (%s); write one for each sample, in their order",
                   path, has, what, of->n, of->key, of->path);
}

/* Opens an array of one number for each sample; the caller closes the source if OSAFL_OK.
 * columns: the remedy where there are several. */
static osafl_status open_numbers(struct byte_source *s, const char *path,
                                 const struct named_samples *of, const char *columns,
                                 struct npy_header *h, struct io_message *m)
{
    OSAFL_TRY(open_array(s, path, h, m));
    osafl_status status = OSAFL_OK;
    /* A column vector, as some tools write labels, is welcome too. */
    if (h->rank > 2 || (h->rank == 2 && h->shape[1] != 1))
        status = io_fail(m, OSAFL_E_DATA, "%s: must have one dimension, one number per sample; %s",
                         path, columns);
    else if (h->n != of->n)
        status = refuse_length(path, "numbers", h->n, of, m);
    if (status != OSAFL_OK)
        byte_source_close(s);
    return status;
}

static const char one_column[] = "of several columns, save one, such as a[:, 0]";

static osafl_status read_clients(const char *path, const struct named_samples *of,
                                 struct samples *samples, struct io_message *m)
{
    struct byte_source source;
    struct npy_header h;
    OSAFL_TRY(open_numbers(&source, path, of, one_column, &h, m));
    samples->client = malloc(h.n * sizeof *samples->client);
    const osafl_status status =
        samples->client != NULL
            ? npy_read_numbers(&source, &h, 0, OSAFL_NO_CLIENT, "", samples->client)
            : io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", path);
    byte_source_close(&source);
    return status;
}

static osafl_status read_times(const char *path, const struct named_samples *of,
                               struct samples *samples, struct io_message *m)
{
    struct byte_source source;
    struct npy_header h;
    OSAFL_TRY(open_numbers(&source, path, of, one_column, &h, m));
    samples->time = malloc(h.n * sizeof *samples->time);
    const osafl_status status =
        samples->time != NULL
            ? npy_read_doubles(&source, &h,
                               "a time must be a number, such as seconds since 1970; leave samples "
                               "without one out of all arrays",
                               samples->time)
            : io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", path);
    byte_source_close(&source);
    return status;
}

static osafl_status read_labels(const struct npy_config *config, const char *path,
                                const struct named_samples *of, struct samples *samples,
                                uint32_t classes, struct io_message *m)
{
    struct byte_source source;
    struct npy_header h;
    OSAFL_TRY(open_numbers(&source, path, of,
                           "of one column per class, numpy.argmax(y, axis=1) makes them", &h, m));
    uint32_t *numbers = malloc(h.n * sizeof *numbers);
    samples->label = malloc(h.n * sizeof *samples->label);
    const osafl_status status =
        numbers != NULL && samples->label != NULL
            ? npy_read_numbers(&source, &h, config->first_label, classes,
                               "; dataset.npy.first_label says which label is the first, "
                               "dataset.npy.classes how many there are; quantities need "
                               "dataset.npy.target = \"real\"",
                               numbers)
            : io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", path);
    for (uint64_t i = 0; status == OSAFL_OK && i < h.n; i++)
        samples->label[i] = (int32_t)numbers[i];
    free(numbers);
    byte_source_close(&source);
    return status;
}

/* Real numbers of n samples, of which the first array tells how many each has. */
static osafl_status read_targets(struct sample_set *set, const char *path,
                                 const struct named_samples *of, struct samples *samples,
                                 struct io_message *m)
{
    struct byte_source source;
    struct npy_header h;
    OSAFL_TRY(open_array(&source, path, &h, m));
    const uint64_t targets = h.rank == 2 ? h.shape[1] : 1;
    osafl_status status = OSAFL_OK;
    if (h.rank > 2 || targets > MAX_TARGETS || (set->targets > 0 && targets != set->targets))
        status = io_fail(m, OSAFL_E_DATA,
                         "%s: targets must have the shape (n) or (n, targets), with at most %d "
                         "targets, as many for the test as for the training",
                         path, MAX_TARGETS);
    else if (h.shape[0] != samples->n)
        status = refuse_length(path, "rows of targets", h.shape[0], of, m);
    if (status == OSAFL_OK) {
        set->targets = (uint32_t)targets;
        samples->target = malloc(h.n * sizeof *samples->target);
        samples->label = calloc(samples->n, sizeof *samples->label);
        status = samples->target != NULL && samples->label != NULL
                     ? npy_read_floats(&source, &h, samples->target)
                     : io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", path);
    }
    byte_source_close(&source);
    return status;
}

/* The classes of the training samples, and how many there are. */
static osafl_status read_classes(struct sample_set *set, const struct npy_config *config,
                                 const struct named_samples *of, struct io_message *m)
{
    struct samples *train = &set->train_file;
    set->classes = (uint32_t)config->classes;
    /* Without `classes` any label is fine here; the largest then gives their number. */
    OSAFL_TRY(read_labels(config, config->y, of, train,
                          set->classes > 0 ? set->classes : MAX_CLASSES, m));
    for (uint64_t i = 0; config->classes == 0 && i < train->n; i++)
        if ((uint32_t)train->label[i] >= set->classes)
            set->classes = (uint32_t)train->label[i] + 1;
    if (set->classes < 2)
        return io_fail(m, OSAFL_E_DATA, "%s: all labels are %" PRId64, config->y,
                       config->first_label);
    return sample_set_doubt_labels(set, config->y, "npy", config->classes > 0, m);
}

/* The training arrays. */
static osafl_status read_train(struct sample_set *set, const struct npy_config *config,
                               struct io_message *m)
{
    struct samples *train = &set->train_file;
    OSAFL_TRY(of_key(read_samples(set, config, config->x, train, m), "x", m));
    const struct named_samples of = {"x", config->x, train->n};
    const osafl_status status = config->target.index == TARGETS_REAL
                                    ? read_targets(set, config->y, &of, train, m)
                                    : read_classes(set, config, &of, m);
    OSAFL_TRY(of_key(status, "y", m));
    if (config->client[0] != '\0')
        OSAFL_TRY(of_key(read_clients(config->client, &of, train, m), "client", m));
    if (config->time[0] != '\0')
        OSAFL_TRY(of_key(read_times(config->time, &of, train, m), "time", m));
    return OSAFL_OK;
}

/* The test arrays, if there are any. */
static osafl_status read_test(struct sample_set *set, const struct npy_config *config,
                              struct io_message *m)
{
    struct samples *test = &set->test_file;
    if (config->test_x[0] == '\0')
        return OSAFL_OK;
    OSAFL_TRY(of_key(read_samples(set, config, config->test_x, test, m), "test_x", m));
    const struct named_samples of = {"test_x", config->test_x, test->n};
    const osafl_status status =
        set->targets > 0 ? read_targets(set, config->test_y, &of, test, m)
                         : read_labels(config, config->test_y, &of, test, set->classes, m);
    OSAFL_TRY(of_key(status, "test_y", m));
    if ((test->pixels == NULL) == (set->train_file.pixels == NULL))
        return OSAFL_OK;
    return io_fail(m, OSAFL_E_DATA, "%s: is of bytes, or %s is, but not both", config->test_x,
                   config->x);
}

static osafl_status read_files(struct sample_set *set, const void *settings, struct io_message *m)
{
    const struct npy_config *config = settings;
    struct samples *train = &set->train_file;
    OSAFL_TRY(read_train(set, config, m));
    OSAFL_TRY(read_test(set, config, m));
    const double share = config->test_share * (double)train->n;
    OSAFL_TRY(
        sample_set_split(set, (uint64_t)fmax(1.0, round(share)), (uint64_t)config->validation, m));
    if (train->pixels != NULL)
        return sample_set_pixels(set, (enum sample_pixels)config->pixels.index, m);
    if (config->pixels.index == PIXELS_UNIT || config->pixels.index == PIXELS_STANDARD)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%s: its elements are no bytes, which dataset.npy.pixels is about; "
                       "dataset.npy.standardise is for all numbers",
                       config->x);
    if (config->standardise)
        return sample_set_standardise(set, m);
    if (config->tokens)
        sample_set_record_text(set, "scaling", "none: values are tokens, whole numbers");
    else
        sample_set_keep_values(set);
    return OSAFL_OK;
}

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct npy_config *settings = config;
    if ((settings->test_x[0] == '\0') != (settings->test_y[0] == '\0'))
        return h->fail(c, OSAFL_E_CONFIG,
                       "dataset.npy: give both test_x and test_y, or neither of them");
    if (settings->standardise && settings->pixels.index != PIXELS_SIGNED)
        return h->fail(
            c, OSAFL_E_CONFIG,
            "dataset.npy: standardise = true takes the place of pixels; set one of them");
    if (settings->tokens && (settings->standardise || settings->pixels.index != PIXELS_SIGNED))
        return h->fail(c, OSAFL_E_CONFIG,
                       "dataset.npy: tokens = true is for numbers that name something and are not "
                       "scaled; leave pixels and standardise out");
    if (settings->target.index == TARGETS_REAL &&
        (settings->classes > 0 || settings->first_label != 0))
        return h->fail(c, OSAFL_E_CONFIG,
                       "dataset.npy: real targets are no classes; leave classes and first_label "
                       "out, or set target = \"class\"");
    return OSAFL_OK;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    return sample_set_create(h, c, read_files, config, self);
}

static const char *const features[] = {"natural", "timed", NULL};

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
    .name = "npy",
    .version = "1.0.0",
    .summary = "arrays of samples and labels that NumPy saved",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct npy_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
