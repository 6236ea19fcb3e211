/* kept.c - a data set: which labelled samples exist, and what does sample i look like?
 *
 * As generated it has no file and no end: a sample of class k is a bright spot at the place of the
 * class, in noise.  Sample i is a function of i and the settings alone, and never of the run's
 * seed, so that every run sees the same samples.
 *
 * To make it yours, change describe(), label() and draw(); a set that is read from files does so in
 * create().  osafl/dataset.h tells more. */
#include <math.h>
#include <stdlib.h>

#include <osafl/dataset.h>
#include <osafl/random.h>

#define SIDE 16
#define PIXELS (SIDE * SIDE)
#define TAU 6.283185307179586

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    int64_t classes;
    int64_t test;
    double noise;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, classes, 8, 2, 16, "Number of classes"),
    OSAFL_INT(struct config, test, 500, 1, 1000000, "Size of the test split", .unit = "samples"),
    OSAFL_REAL(struct config, noise, 0.5, 0.0, 10.0, "Amplitude of the uniform noise of a pixel"),
};

/* One instance.  read() runs on several threads at once, so that nothing here changes in it. */
struct dataset {
    const osafl_host *host;
    const struct config *config;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts; /* number of clients and rounds: osafl/plugin.h */
    struct dataset *set = malloc(sizeof *set);
    if (set == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *set = (struct dataset){.host = h, .config = config};
    *self = set;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

/* Members that are left alone are 0: no validation split, labels without names. */
static osafl_status describe(void *self, osafl_call *c, osafl_dataset_info *out)
{
    (void)c;
    const struct dataset *set = self;
    out->rank = 3; /* channels, height, width */
    out->shape[0] = 1;
    out->shape[1] = SIDE;
    out->shape[2] = SIDE;
    out->x_type = OSAFL_X_FLOAT;
    out->target_type = OSAFL_TARGET_CLASS;
    out->target_size = (uint32_t)set->config->classes;
    out->labels = (uint32_t)set->config->classes;
    out->n_train = OSAFL_ENDLESS;
    out->n_test = (uint64_t)set->config->test;
    return OSAFL_OK;
}

/* Classes take turns, so that the k-th sample of a class is found at once. */
static osafl_status label(void *self, osafl_call *c, uint64_t i, int32_t *of_sample)
{
    (void)c;
    const struct dataset *set = self;
    *of_sample = (int32_t)(i % (uint64_t)set->config->classes);
    return OSAFL_OK;
}

static osafl_status sample_of(void *self, osafl_call *c, int32_t of_label, uint64_t k,
                              uint64_t *sample)
{
    (void)c;
    const struct dataset *set = self;
    *sample = k * (uint64_t)set->config->classes + (uint64_t)of_label;
    return OSAFL_OK;
}

/* 64 well mixed bits for pixel `pixel` of a sample (splitmix64, Steele, Lea and Flood 2014). */
static uint64_t mixed_bits(uint32_t split, uint64_t i, uint32_t pixel)
{
    uint64_t z = (i * PIXELS + pixel) * 4 + split;
    z = (z + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void draw(const struct dataset *set, uint32_t split, uint64_t i, int32_t of_label, float *x)
{
    const double angle = TAU * of_label / (double)set->config->classes;
    const double center_x = 0.5 * SIDE + 0.3 * SIDE * cos(angle);
    const double center_y = 0.5 * SIDE + 0.3 * SIDE * sin(angle);
    for (uint32_t pixel = 0; pixel < PIXELS; pixel++) {
        const double dx = pixel % SIDE + 0.5 - center_x;
        const double dy = pixel / SIDE + 0.5 - center_y;
        const uint32_t word = (uint32_t)(mixed_bits(split, i, pixel) >> 32);
        const double noise = 2.0 * (double)osafl_uniform_float(word) - 1.0;
        x[pixel] = (float)(exp(-0.25 * (dx * dx + dy * dy)) + set->config->noise * noise);
    }
}

/* Fills the batch with samples index[0..n) of a split. */
static osafl_status read_samples(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                                 const osafl_batch *b)
{
    const struct dataset *set = self;
    if (split != OSAFL_SPLIT_TRAIN && split != OSAFL_SPLIT_TEST)
        return set->host->fail(c, OSAFL_E_UNSUPPORTED, "there is no split number %u",
                               (unsigned)split);
    for (uint32_t k = 0; k < b->n; k++) {
        OSAFL_TRY(label(self, c, index[k], &b->label[k]));
        draw(set, split, index[k], b->label[k], b->x + (size_t)k * PIXELS);
    }
    return OSAFL_OK;
}

static const osafl_dataset_vt vtable = {
    .life = {.struct_size = sizeof(osafl_dataset_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .label = label,
    .read = read_samples,
    .sample_of = sample_of,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DATASET,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Endless pictures of a spot whose place tells the class",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
