/* idx.c - MNIST, Fashion-MNIST, EMNIST and others in their four IDX files.
 *
 * No augmentation (ALGORITHMS.md 3). */
#include "idx_format.h"
#include "sample_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct idx_config {
    const char *path;
    const char *prefix;
    int64_t classes;
    const char *class_names;
    int64_t validation;
    osafl_choice pixels;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct idx_config, path, NULL,
               "Folder of the four files, such as train-images-idx3-ubyte, plain or .gz",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_TEXT(struct idx_config, prefix, "",
               "What the files' names begin with, such as \"emnist-balanced-\""),
    OSAFL_INT(struct idx_config, classes, 10, 2, 256, "Number of classes"),
    OSAFL_TEXT(struct idx_config, class_names, "", "Names of the classes, with commas between"),
    OSAFL_INT(struct idx_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_CHOICE(struct idx_config, pixels, PIXELS_SIGNED, sample_pixels_choices,
                 "Pixels are in [-1, 1], in [0, 1], have mean 0 and deviation 1 over the "
                 "training split, or are taken as they are, 0 to 255",
                 .flags = OSAFL_P_LATER),
};

/* Debian ships Fashion-MNIST: for a newcomer the quickest way to a data set. */
static const char *remedy(const char *folder)
{
    return strstr(folder, "fashion-mnist") != NULL
               ? "install it with: apt install dataset-fashion-mnist"
               : "dataset.idx.path must be the folder with the four files of the MNIST family";
}

/* Finds the file of a part ("train", "test") and content ("images", "labels") in one of the
 * spellings in use; *name is from malloc(). */
static osafl_status find_file(const struct idx_config *settings, const char *part,
                              const char *content, int dimensions, char **name,
                              struct io_message *m)
{
    const bool test = strcmp(part, "test") == 0;
    for (unsigned spelling = 0; spelling < 8; spelling++) {
        const char *gz = (spelling & 1) != 0 ? "" : ".gz";
        const char separator = (spelling & 2) != 0 ? '.' : '-';
        /* MNIST calls its test files t10k, EMNIST test. */
        const char *begin = test && (spelling & 4) == 0 ? "t10k" : part;
        if (asprintf(name, "%s/%s%s-%s%cidx%d-ubyte%s", settings->path, settings->prefix, begin,
                     content, separator, dimensions, gz) < 0) {
            *name = NULL;
            return io_fail(m, OSAFL_E_NOMEM, "out of memory");
        }
        if (access(*name, F_OK) == 0)
            return OSAFL_OK;
        free(*name);
        *name = NULL;
    }
    return io_fail(m, OSAFL_E_IO, "%s/%s%s-%s-idx%d-ubyte: no such file, with or without .gz; %s",
                   settings->path, settings->prefix, test ? "t10k" : part, content, dimensions,
                   remedy(settings->path));
}

static osafl_status read_images(const struct idx_config *settings, const char *part,
                                struct idx_images *images, struct io_message *m)
{
    char *name = NULL;
    struct byte_source source;
    OSAFL_TRY(find_file(settings, part, "images", 3, &name, m));
    osafl_status status = byte_source_open(&source, name, m);
    if (status == OSAFL_OK) {
        status = idx_read_images(&source, images);
        byte_source_close(&source);
    }
    free(name);
    return status;
}

/* Reads the labels of one part of `set` into its samples. */
static osafl_status read_labels(const struct idx_config *settings, const char *part,
                                const struct sample_set *set, struct samples *samples,
                                struct io_message *m)
{
    char *name = NULL;
    struct idx_labels labels = {0};
    struct byte_source source;
    OSAFL_TRY(find_file(settings, part, "labels", 1, &name, m));
    osafl_status status = byte_source_open(&source, name, m);
    if (status == OSAFL_OK) {
        status = idx_read_labels(&source, &labels);
        byte_source_close(&source);
    }
    if (status == OSAFL_OK && labels.n != samples->n)
        status = io_fail(m, OSAFL_E_DATA,
                         "%s: holds %" PRIu32 " labels for the %" PRIu64
                         " images beside it; the two files do not belong together",
                         name, labels.n, samples->n);
    if (status == OSAFL_OK) {
        samples->label = malloc(samples->n * sizeof *samples->label);
        if (samples->label == NULL)
            status = io_fail(m, OSAFL_E_NOMEM, "out of memory");
    }
    if (status == OSAFL_OK) {
        for (uint64_t i = 0; i < samples->n; i++)
            samples->label[i] = labels.labels[i];
        status = sample_set_check_labels(set, samples, name, m);
    }
    free(labels.labels);
    free(name);
    return status;
}

static osafl_status read_files(struct sample_set *set, const void *config, struct io_message *m)
{
    const struct idx_config *settings = config;
    struct idx_images train = {0};
    struct idx_images test = {0};
    const osafl_status train_status = read_images(settings, "train", &train, m);
    set->train_file = (struct samples){.n = train.n, .pixels = train.pixels};
    OSAFL_TRY(train_status);
    const osafl_status test_status = read_images(settings, "test", &test, m);
    set->test_file = (struct samples){.n = test.n, .pixels = test.pixels};
    OSAFL_TRY(test_status);
    if (test.height != train.height || test.width != train.width)
        return io_fail(m, OSAFL_E_DATA,
                       "%s: training images have %" PRIu32 "x%" PRIu32
                       " pixels, test images %" PRIu32 "x%" PRIu32,
                       settings->path, train.height, train.width, test.height, test.width);
    set->channels = 1;
    set->height = train.height;
    set->width = train.width;
    set->classes = (uint32_t)settings->classes;
    OSAFL_TRY(read_labels(settings, "train", set, &set->train_file, m));
    OSAFL_TRY(read_labels(settings, "test", set, &set->test_file, m));
    OSAFL_TRY(sample_set_name_labels(set, settings->class_names, "dataset.idx.class_names", m));
    OSAFL_TRY(sample_set_split(set, 0, (uint64_t)settings->validation, m));
    return sample_set_pixels(set, (enum sample_pixels)settings->pixels.index, m);
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
    .name = "idx",
    .version = "1.0.0",
    .summary = "MNIST, Fashion-MNIST and other sets in IDX files",
    .cite = "LeCun et al. 1998 (MNIST, IDX format); Xiao et al. 2017 (Fashion-MNIST)",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct idx_config),
    .vtable = &vtable.life,
};

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
