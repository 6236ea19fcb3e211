/* sample_set.c - labelled samples in memory, and their splits. */
#include "sample_set.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <Random123/philox.h>

#include "label_facts.h"
#include "osafl/preparation.h"
#include "osafl/random.h"

static void samples_free(struct samples *s)
{
    free(s->pixels);
    free(s->values);
    free(s->tokens);
    free(s->label);
    free(s->target);
    free(s->client);
    free(s->time);
}

void sample_set_destroy(void *self)
{
    struct sample_set *s = self;
    samples_free(&s->train_file);
    samples_free(&s->test_file);
    free(s->train.index);
    free(s->validation.index);
    free(s->test.index);
    free(s->pixel_value);
    free(s->name_text);
    free(s->label_names);
    free(s);
}

osafl_status sample_set_create(const osafl_host *h, osafl_call *c, sample_set_reader *read_files,
                               const void *config, void **self)
{
    struct io_message message;
    struct sample_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    set->host = h;
    set->call = c;
    const osafl_status status = read_files(set, config, &message);
    set->call = NULL;
    if (status != OSAFL_OK) {
        sample_set_destroy(set);
        return h->fail(c, status, "%s", message.text);
    }
    *self = set;
    return OSAFL_OK;
}

/* --- What is said of the samples */

static void record(const struct sample_set *s, const osafl_fact *fact)
{
    const osafl_preparation *to = s->host->extension(s->host, OSAFL_PREPARATION_ID);
    if (to != NULL)
        to->record(s->call, fact);
}

void sample_set_record_text(const struct sample_set *s, const char *key, const char *text)
{
    const osafl_fact fact = {
        .struct_size = sizeof fact, .single = 1, .key = key, .n = 1, .text = &text};
    record(s, &fact);
}

void sample_set_record_texts(const struct sample_set *s, const char *key, const char *const *text,
                             uint64_t n)
{
    record(s, &(osafl_fact){.struct_size = sizeof(osafl_fact), .key = key, .n = n, .text = text});
}

void sample_set_record_reals(const struct sample_set *s, const char *key, const double *v,
                             uint64_t n)
{
    record(s, &(osafl_fact){.struct_size = sizeof(osafl_fact), .key = key, .n = n, .real = v});
}

void sample_set_warn(const struct sample_set *s, const char *fmt, ...)
{
    struct io_message text;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text.text, sizeof text.text, fmt, args);
    va_end(args);
    s->host->log(s->call, OSAFL_LOG_WARN, "%s", text.text);
}

osafl_status sample_set_shape(struct sample_set *s, const char *file, uint32_t channels,
                              uint32_t height, uint32_t values, struct io_message *m)
{
    const uint32_t rows = channels * height;
    if (values % rows != 0)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%s: %" PRIu32 " features do not make %" PRIu32
                       " channels of height %" PRIu32,
                       file, values, channels, height);
    s->rank = channels > 1 ? 3 : height > 1 ? 2 : 1;
    s->channels = channels;
    s->height = height;
    s->width = values / rows;
    return OSAFL_OK;
}

/* Number i of a stream that is the same for every data set and run, in {0, ..., n - 1}. */
static uint32_t draw_below(uint32_t stream, uint32_t i, uint32_t n)
{
    const philox4x32_ctr_t counter = {{i, stream, 0, 0}};
    const philox4x32_key_t key = {{0x686f6c64u, 0x206f7574u}}; /* "hold out" */
    const philox4x32_ctr_t word = philox4x32(counter, key);
    return osafl_below(word.v, n);
}

/* Makes a split of all samples of a file. */
static osafl_status take_all(struct sample_split *split, const struct samples *from,
                             struct io_message *m)
{
    if (from->n > UINT32_MAX)
        return io_fail(m, OSAFL_E_DATA, "more than 2^32 samples in one file");
    split->from = from;
    split->n = (uint32_t)from->n;
    split->index = malloc(from->n * sizeof *split->index);
    if (split->index == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < split->n; i++)
        split->index[i] = i;
    return OSAFL_OK;
}

/* Moves `wanted` samples from one split to another by selection sampling (Knuth, TAOCP 2, 3.4.2,
 * algorithm S): each is taken with probability wanted / left, which makes all choices equally
 * likely and keeps the order. */
static osafl_status hold_out(struct sample_split *rest, struct sample_split *held, uint64_t wanted,
                             uint32_t stream, const char *what, struct io_message *m)
{
    if (wanted >= rest->n)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%" PRIu64 " samples for %s leave nothing of the %" PRIu32
                       " to train on; choose fewer",
                       wanted, what, rest->n);
    held->from = rest->from;
    held->index = malloc((wanted + 1) * sizeof *held->index);
    if (held->index == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rest->n; i++) {
        if (draw_below(stream, i, rest->n - i) < wanted - held->n)
            held->index[held->n++] = rest->index[i];
        else
            rest->index[kept++] = rest->index[i];
    }
    rest->n = kept;
    return OSAFL_OK;
}

/* The numbers of the samples of a split within the training file, from 0. */
static osafl_status record_split(const struct sample_set *s, const char *key,
                                 const struct sample_split *split, struct io_message *m)
{
    if (split->n == 0 || split->from != &s->train_file)
        return OSAFL_OK;
    double *number = malloc(split->n * sizeof *number);
    if (number == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < split->n; i++)
        number[i] = split->index[i];
    sample_set_record_reals(s, key, number, split->n);
    free(number);
    return OSAFL_OK;
}

osafl_status sample_set_split(struct sample_set *s, uint64_t test_held_out, uint64_t validation,
                              struct io_message *m)
{
    /* Each choice has a stream of its own, so that neither depends on the other's size. */
    OSAFL_TRY(take_all(&s->train, &s->train_file, m));
    if (s->test_file.n > 0)
        OSAFL_TRY(take_all(&s->test, &s->test_file, m));
    else
        OSAFL_TRY(hold_out(&s->train, &s->test, test_held_out, 0, "the test", m));
    OSAFL_TRY(hold_out(&s->train, &s->validation, validation, 1, "validation", m));
    OSAFL_TRY(record_split(s, "test_samples", &s->test, m));
    return record_split(s, "validation_samples", &s->validation, m);
}

const char *const sample_targets_choices[] = {"class", "real", NULL};

const char *const sample_pixels_choices[] = {"signed", "unit", "standard", "raw", NULL};

/* Mean and 1 / deviation of a channel's pixels over the training split; the latter is 0 where they
 * never change.  From a count of the 256 values, so that no order of summation matters. */
static void channel_moments(const struct sample_set *s, uint32_t channel, double *mean,
                            double *scale)
{
    const size_t area = (size_t)s->height * s->width;
    uint64_t count[256] = {0};
    for (uint32_t i = 0; i < s->train.n; i++) {
        const uint8_t *pixel =
            s->train_file.pixels + ((size_t)s->train.index[i] * s->channels + channel) * area;
        for (size_t j = 0; j < area; j++)
            count[pixel[j]]++;
    }
    const double n = (double)s->train.n * (double)area;
    double sum = 0.0;
    for (int v = 0; v < 256; v++)
        sum += (double)count[v] * v;
    *mean = sum / n / 255.0;
    double squares = 0.0;
    for (int v = 0; v < 256; v++)
        squares += (double)count[v] * (v / 255.0 - *mean) * (v / 255.0 - *mean);
    *scale = squares > 0.0 ? 1.0 / sqrt(squares / n) : 0.0;
}

/* Bytes that are no pixels are small. */
static void warn_of_small_bytes(const struct sample_set *s)
{
    const size_t n = s->train_file.n * s->channels * s->height * s->width;
    uint8_t most = 0;
    for (size_t i = 0; i < n && most < 128; i++)
        most = s->train_file.pixels[i] > most ? s->train_file.pixels[i] : most;
    if (most < 128)
        sample_set_warn(
            s,
            "no byte of the training samples is greater than %d, and all are divided by "
            "255, as those of pictures; pixels = \"raw\" takes them as they are",
            most);
}

/* What the 256 bytes mean in one channel, or in all. */
static void fill_pixel_table(enum sample_pixels how, double mean, double scale, float *value)
{
    for (int v = 0; v < 256; v++) {
        const float unit = (float)v / 255.0f;
        if (how == PIXELS_SIGNED) /* in this order of operations: another rounds differently */
            value[v] = (unit - 0.5f) / 0.5f;
        else if (how == PIXELS_UNIT)
            value[v] = unit;
        else if (how == PIXELS_RAW)
            value[v] = (float)v;
        else
            value[v] = (float)((v / 255.0 - mean) * scale);
    }
}

osafl_status sample_set_pixels(struct sample_set *s, enum sample_pixels how, struct io_message *m)
{
    static const char standard[] = "(v / 255 - mean) / deviation, of each channel over the "
                                   "training samples; 0 where the deviation is 0";
    static const char *const scaling[] = {
        [PIXELS_SIGNED] = "(v / 255 - 0.5) / 0.5, of bytes",
        [PIXELS_UNIT] = "v / 255, of bytes",
        [PIXELS_STANDARD] = standard,
        [PIXELS_RAW] = "none: bytes are numbers from 0 to 255",
    };
    const uint32_t tables = how == PIXELS_STANDARD ? s->channels : 1;
    if (how == PIXELS_SIGNED || how == PIXELS_UNIT)
        warn_of_small_bytes(s);
    s->pixel_tables = tables;
    s->pixel_value = malloc((size_t)tables * 256 * sizeof *s->pixel_value);
    double *mean = calloc(2 * (size_t)tables, sizeof *mean);
    if (s->pixel_value == NULL || mean == NULL) {
        free(mean);
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    }
    double *deviation = mean + tables;
    for (uint32_t channel = 0; channel < tables; channel++) {
        double scale = 0.0;
        if (how == PIXELS_STANDARD)
            channel_moments(s, channel, &mean[channel], &scale);
        deviation[channel] = scale > 0.0 ? 1.0 / scale : 0.0;
        fill_pixel_table(how, mean[channel], scale, s->pixel_value + (size_t)channel * 256);
    }
    sample_set_record_text(s, "scaling", scaling[how]);
    if (how == PIXELS_STANDARD) {
        sample_set_record_reals(s, "mean", mean, tables);
        sample_set_record_reals(s, "deviation", deviation, tables);
    }
    free(mean);
    return OSAFL_OK;
}

osafl_status sample_set_fill_missing(struct sample_set *s, size_t *lacking, struct io_message *m)
{
    const size_t size = (size_t)s->channels * s->height * s->width;
    double *mean = calloc(size, sizeof *mean);
    if (mean == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    osafl_status status = OSAFL_OK;
    for (size_t j = 0; j < size && status == OSAFL_OK; j++) {
        uint32_t known = 0;
        for (uint32_t i = 0; i < s->train.n; i++) {
            const float value = s->train_file.values[s->train.index[i] * size + j];
            known += isnan(value) ? 0 : 1;
            mean[j] += isnan(value) ? 0.0 : (double)value;
        }
        mean[j] /= known;
        *lacking = j;
        if (known == 0)
            status = io_fail(m, OSAFL_E_DATA, "value %zu is missing in all training samples", j);
    }
    if (status == OSAFL_OK)
        sample_set_record_reals(s, "filled_in", mean, size);
    struct samples *const files[] = {&s->train_file, &s->test_file};
    for (size_t f = 0; f < 2 && status == OSAFL_OK; f++)
        for (uint64_t i = 0; i < files[f]->n; i++)
            for (size_t j = 0; j < size; j++) {
                float *value = &files[f]->values[i * size + j];
                *value = isnan(*value) ? (float)mean[j] : *value;
            }
    free(mean);
    return status;
}

void sample_set_keep_values(const struct sample_set *s)
{
    sample_set_record_text(s, "scaling", "none: values are as the files have them");
}

osafl_status sample_set_standardise(struct sample_set *s, struct io_message *m)
{
    const size_t size = (size_t)s->channels * s->height * s->width;
    double *mean = calloc(2 * size, sizeof *mean);
    if (mean == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    double *scale = mean + size;
    /* Two passes, since mean square less squared mean loses the digits of values far from 0. */
    for (uint32_t i = 0; i < s->train.n; i++)
        for (size_t j = 0; j < size; j++)
            mean[j] += (double)s->train_file.values[s->train.index[i] * size + j];
    for (size_t j = 0; j < size; j++)
        mean[j] /= s->train.n;
    for (uint32_t i = 0; i < s->train.n; i++)
        for (size_t j = 0; j < size; j++) {
            const double d = (double)s->train_file.values[s->train.index[i] * size + j] - mean[j];
            scale[j] += d * d;
        }
    for (size_t j = 0; j < size; j++)
        scale[j] = sqrt(scale[j] / s->train.n);
    sample_set_record_text(
        s, "scaling",
        "(v - mean) / deviation, of each value over the training samples; 0 where "
        "the deviation is 0");
    sample_set_record_reals(s, "mean", mean, size);
    sample_set_record_reals(s, "deviation", scale, size);
    for (size_t j = 0; j < size; j++)
        scale[j] = scale[j] > 0.0 ? 1.0 / scale[j] : 0.0;
    /* Test and validation samples are shifted as the training samples are: nothing may be learnt
     * from them, not even their mean. */
    struct samples *const files[] = {&s->train_file, &s->test_file};
    for (size_t f = 0; f < 2; f++)
        for (uint64_t i = 0; i < files[f]->n; i++)
            for (size_t j = 0; j < size; j++) {
                float *value = &files[f]->values[i * size + j];
                *value = (float)(((double)*value - mean[j]) * scale[j]);
            }
    free(mean);
    return OSAFL_OK;
}

osafl_status sample_set_name_labels(struct sample_set *s, const char *names, const char *setting,
                                    struct io_message *m)
{
    if (names[0] == '\0')
        return OSAFL_OK;
    s->name_text = strdup(names);
    s->label_names = calloc(s->classes, sizeof *s->label_names);
    if (s->name_text == NULL || s->label_names == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    uint32_t n = 0;
    for (char *next = s->name_text; next != NULL; n++) {
        const char *name = strsep(&next, ",");
        name += strspn(name, " ");
        if (n < s->classes) /* counted on beyond that for the message */
            s->label_names[n] = name;
    }
    if (n != s->classes)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%s has %" PRIu32 " names for %" PRIu32
                       " classes; separate one name for each class by commas",
                       setting, n, s->classes);
    return OSAFL_OK;
}

osafl_status sample_set_arrange(const struct sample_set *s, struct samples *samples,
                                const size_t stride[3], struct io_message *m)
{
    const size_t size = (size_t)s->channels * s->height * s->width;
    const size_t element = samples->pixels != NULL ? 1 : sizeof *samples->values;
    unsigned char *data = samples->pixels != NULL   ? samples->pixels
                          : samples->values != NULL ? (unsigned char *)samples->values
                                                    : (unsigned char *)samples->tokens;
    if (stride[0] == (size_t)s->height * s->width && stride[1] == s->width && stride[2] == 1)
        return OSAFL_OK;
    unsigned char *spare = malloc(size * element);
    if (spare == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    for (uint64_t i = 0; i < samples->n; i++) {
        unsigned char *sample = data + i * size * element;
        unsigned char *to = sample;
        memcpy(spare, sample, size * element);
        for (size_t k = 0; k < s->channels; k++)
            for (size_t y = 0; y < s->height; y++)
                for (size_t x = 0; x < s->width; x++, to += element)
                    memcpy(to, spare + (k * stride[0] + y * stride[1] + x * stride[2]) * element,
                           element);
    }
    free(spare);
    return OSAFL_OK;
}

osafl_status sample_set_find_file(const struct sample_set *s, const char *path, char **name,
                                  struct io_message *m)
{
    const bool plain = access(path, F_OK) == 0;
    if (asprintf(name, "%s.gz", path) < 0) {
        *name = NULL;
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    }
    const bool packed = access(*name, F_OK) == 0;
    if (plain && packed)
        sample_set_warn(s, "%s: is read, and %s next to it is not; remove one of them", *name,
                        path);
    if (!packed)
        (*name)[strlen(path)] = '\0';
    if (!packed && !plain) {
        free(*name);
        *name = NULL;
    }
    return OSAFL_OK;
}

osafl_status sample_set_take_labels(const struct sample_set *s, struct samples *samples,
                                    const int32_t *labels, int64_t first_label, const char *name,
                                    const char *plugin, struct io_message *m)
{
    samples->label = malloc(samples->n * sizeof *samples->label);
    if (samples->label == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    for (uint64_t i = 0; i < samples->n; i++) {
        const int64_t label = labels[i] - first_label;
        if (label < 0 || label >= s->classes)
            return io_fail(m, OSAFL_E_DATA,
                           "%s: label %" PRId32 " of sample %" PRIu64 " is outside %" PRId64
                           " .. %" PRId64 "; dataset.%s.classes says how many there are, "
                           "dataset.%s.first_label which is the first",
                           name, labels[i], i, first_label, first_label + s->classes - 1, plugin,
                           plugin);
        samples->label[i] = (int32_t)label;
    }
    return OSAFL_OK;
}

/* Says which classes have no sample. */
static void warn_of_empty_classes(const struct sample_set *s, const uint32_t *count,
                                  uint32_t distinct, const char *file, const char *plugin)
{
    uint32_t empty = 0;
    while (count[empty] > 0)
        empty++;
    sample_set_warn(
        s,
        "%s: %" PRIu32 " of %" PRIu32 " classes %s no training sample, such as %" PRIu32 "%s%s%s",
        file, s->classes - distinct, s->classes, s->classes - distinct == 1 ? "has" : "have", empty,
        empty == 0 ? "; where labels begin at 1, set dataset." : "", empty == 0 ? plugin : "",
        empty == 0 ? ".first_label = 1" : "");
}

osafl_status sample_set_doubt_labels(const struct sample_set *s, const char *file,
                                     const char *plugin, bool declared, struct io_message *m)
{
    struct label_facts facts = {.samples = s->train_file.n, .numbers = true, .whole = true};
    uint32_t *count = calloc(s->classes, sizeof *count);
    uint32_t least = s->classes;
    uint32_t most = 0;
    if (count == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    for (uint64_t i = 0; i < s->train_file.n; i++) {
        const uint32_t label = (uint32_t)s->train_file.label[i];
        facts.distinct += count[label]++ == 0 ? 1 : 0;
        least = label < least ? label : least;
        most = label > most ? label : most;
    }
    facts.gapless = most - least + 1 == facts.distinct;
    const bool classes = declared || labels_look_like_classes(&facts);
    if (classes && facts.distinct < s->classes)
        warn_of_empty_classes(s, count, facts.distinct, file, plugin);
    free(count);
    if (classes)
        return OSAFL_OK;
    return io_fail(
        m, OSAFL_E_DATA,
        "%s: the labels do not look like classes: %" PRIu32 " different numbers for "
        "%" PRIu64
        " samples. Make a few classes of them, or confirm these: dataset.%s.classes = %" PRIu32
        "; quantities are predicted by dataset/npy and dataset/csv (target = \"real\")",
        file, facts.distinct, s->train_file.n, plugin, s->classes);
}

osafl_status sample_set_describe(void *self, osafl_call *c, osafl_dataset_info *out)
{
    (void)c;
    const struct sample_set *s = self;
    const uint32_t shape[] = {s->channels, s->height, s->width};
    out->rank = s->rank;
    memcpy(out->shape, shape + 3 - s->rank, s->rank * sizeof shape[0]);
    out->x_type = s->train_file.tokens != NULL ? OSAFL_X_INT32 : OSAFL_X_FLOAT;
    out->target_type = s->targets > 0 ? OSAFL_TARGET_REAL : OSAFL_TARGET_CLASS;
    out->target_size = s->targets > 0 ? s->targets : s->classes;
    out->labels = s->targets > 0 ? 1 : s->classes;
    out->n_train = s->train.n;
    out->n_validation = s->validation.n;
    out->n_test = s->test.n;
    out->label_names = s->label_names;
    return OSAFL_OK;
}

osafl_status sample_set_label(void *self, osafl_call *c, uint64_t i, int32_t *label)
{
    (void)c;
    const struct sample_set *s = self;
    assert(i < s->train.n);
    *label = s->train_file.label[s->train.index[i]];
    return OSAFL_OK;
}

osafl_status sample_set_client(void *self, osafl_call *c, uint64_t i, uint32_t *client)
{
    (void)c;
    const struct sample_set *s = self;
    const uint32_t *of_file = s->train_file.client;
    assert(i < s->train.n);
    *client = of_file != NULL ? of_file[s->train.index[i]] : OSAFL_NO_CLIENT;
    return OSAFL_OK;
}

osafl_status sample_set_time(void *self, osafl_call *c, uint64_t i, double *when)
{
    (void)c;
    const struct sample_set *s = self;
    const double *of_file = s->train_file.time;
    assert(i < s->train.n);
    *when = of_file != NULL ? of_file[s->train.index[i]] : (double)NAN;
    return OSAFL_OK;
}

/* What the bytes of one sample mean. */
static void read_pixels(const struct sample_set *s, const uint8_t *pixel, float *x)
{
    const size_t area = (size_t)s->height * s->width;
    for (uint32_t channel = 0; channel < s->channels; channel++) {
        const float *value = s->pixel_value + (s->pixel_tables > 1 ? channel * 256ul : 0);
        for (size_t j = channel * area; j < (channel + 1) * area; j++)
            x[j] = value[pixel[j]];
    }
}

osafl_status sample_set_read(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                             const osafl_batch *b)
{
    (void)c;
    const struct sample_set *s = self;
    const struct sample_split *part = split == OSAFL_SPLIT_TRAIN        ? &s->train
                                      : split == OSAFL_SPLIT_VALIDATION ? &s->validation
                                                                        : &s->test;
    const struct samples *from = part->from;
    const size_t size = (size_t)s->channels * s->height * s->width;
    for (uint32_t k = 0; k < b->n; k++) {
        assert(index[k] < part->n);
        const size_t i = part->index[index[k]];
        if (from->tokens != NULL)
            memcpy(b->x_int + k * size, from->tokens + i * size, size * sizeof *b->x_int);
        else if (from->pixels != NULL)
            read_pixels(s, from->pixels + i * size, b->x + k * size);
        else
            memcpy(b->x + k * size, from->values + i * size, size * sizeof *b->x);
        b->label[k] = from->label[i];
        if (s->targets > 0)
            memcpy(b->target + (size_t)k * s->targets, from->target + i * s->targets,
                   s->targets * sizeof *b->target);
    }
    return OSAFL_OK;
}
