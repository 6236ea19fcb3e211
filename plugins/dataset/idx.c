/* idx.c - MNIST, Fashion-MNIST, EMNIST and others in their four IDX files.
 *
 * Bytes are pixels; elements of other types are taken as they are.  No augmentation (ALGORITHMS.md
 * 3). */
#include "idx_format.h"
#include "sample_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS_FIRST, CHANNELS_LAST };

static const char *const channel_orders[] = {"first", "last", NULL};

struct idx_config {
    const char *path;
    const char *prefix;
    int64_t classes;
    const char *class_names;
    int64_t validation;
    osafl_choice pixels;
    int64_t first_label;
    bool transpose;
    osafl_choice channels;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct idx_config, path, NULL,
               "Folder of the four files, such as train-images-idx3-ubyte, plain or .gz",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_TEXT(struct idx_config, prefix, "",
               "What the files' names begin with, such as \"emnist-balanced-\""),
    OSAFL_INT(struct idx_config, classes, 10, 2, 256, "Number of classes"),
    OSAFL_TEXT(struct idx_config, class_names, "", "Names of the classes, separated by commas"),
    OSAFL_INT(struct idx_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_CHOICE(struct idx_config, pixels, PIXELS_SIGNED, sample_pixels_choices,
                 "Pixels are in [-1, 1], in [0, 1], have mean 0 and deviation 1 over the "
                 "training split, or are taken as they are, 0 to 255; values of other types than "
                 "bytes always are",
                 .flags = OSAFL_P_LATER),
    OSAFL_INT(struct idx_config, first_label, 0, INT32_MIN, INT32_MAX,
              "Label of the first class, such as 1 for EMNIST's letters", .flags = OSAFL_P_LATER),
    OSAFL_BOOL(struct idx_config, transpose, false,
               "Whether pictures are stored column by column, as those of EMNIST, and are turned "
               "upright",
               .flags = OSAFL_P_LATER),
    OSAFL_CHOICE(struct idx_config, channels, CHANNELS_FIRST, channel_orders,
                 "Whether four dimensions are (n, channels, height, width) or (n, height, width, "
                 "channels)",
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
static osafl_status find_file(const struct sample_set *set, const struct idx_config *settings,
                              const char *part, const char *content, char **name,
                              struct io_message *m)
{
    static const char *const endings[] = {"ubyte", "byte", "short", "int", "float", "double"};
    static const unsigned dimensions[] = {3, 4, 2};
    const bool images = strcmp(content, "images") == 0;
    const bool test = strcmp(part, "test") == 0;
    const unsigned ranks = images ? 3 : 1;
    /* The usual spelling first: endings change slowest. */
    for (unsigned spelling = 0; spelling < 6 * 4 * ranks; spelling++) {
        char *path = NULL;
        const unsigned rank = images ? dimensions[spelling / 4 % ranks] : 1;
        if (asprintf(&path, "%s/%s%s-%s%cidx%u-%s", settings->path, settings->prefix,
                     /* MNIST calls its test files t10k, EMNIST test. */
                     test && (spelling & 2) == 0 ? "t10k" : part, content,
                     (spelling & 1) != 0 ? '.' : '-', rank, endings[spelling / (4 * ranks)]) < 0)
            return io_fail(m, OSAFL_E_NOMEM, "out of memory");
        const osafl_status status = sample_set_find_file(set, path, name, m);
        free(path);
        if (status != OSAFL_OK || *name != NULL)
            return status;
    }
    return io_fail(m, OSAFL_E_IO, "%s/%s%s-%s-idx%d-ubyte: no such file, with or without .gz; %s",
                   settings->path, settings->prefix, test ? "t10k" : part, content, images ? 3 : 1,
                   remedy(settings->path));
}

/* Takes the shape of pictures from the training images, and compares that of the test images with
 * it; brings both into order. */
static osafl_status arrange(struct sample_set *set, const struct idx_config *settings,
                            const struct idx_images *images, struct samples *samples,
                            struct io_message *m)
{
    const bool last = images->rank == 4 && settings->channels.index == CHANNELS_LAST;
    const uint32_t *shape = images->shape;
    const uint32_t channels = images->rank < 4 ? 1 : shape[last ? 3 : 1];
    const uint32_t lines = images->rank == 2 ? 1 : shape[images->rank == 4 && !last ? 2 : 1];
    const uint32_t per_line = shape[last ? 2 : images->rank - 1];
    const uint32_t height = settings->transpose ? per_line : lines;
    const uint32_t width = settings->transpose ? lines : per_line;
    const size_t step = last ? channels : 1;
    const size_t line = step * per_line;
    const size_t stride[] = {last ? 1 : line * lines, settings->transpose ? step : line,
                             settings->transpose ? line : step};
    if (samples == &set->train_file) {
        set->rank = images->rank == 2 ? 1 : 3;
        set->channels = channels;
        set->height = height;
        set->width = width;
    } else if (channels != set->channels || height != set->height || width != set->width) {
        return io_fail(
            m, OSAFL_E_DATA,
            "%s: training images have %" PRIu32 "x%" PRIu32 " pixels, test images %" PRIu32
            "x%" PRIu32 " (channels: %" PRIu32 ", %" PRIu32 ")",
            settings->path, set->height, set->width, height, width, set->channels, channels);
    }
    return sample_set_arrange(set, samples, stride, m);
}

static osafl_status read_images(struct sample_set *set, const struct idx_config *settings,
                                const char *part, struct samples *samples, struct io_message *m)
{
    char *name = NULL;
    struct byte_source source;
    struct idx_images images = {0};
    OSAFL_TRY(find_file(set, settings, part, "images", &name, m));
    osafl_status status = byte_source_open(&source, name, m);
    if (status == OSAFL_OK) {
        status = idx_read_images(&source, &images);
        byte_source_close(&source);
    }
    free(name);
    *samples = (struct samples){.n = images.n, .pixels = images.pixels, .values = images.values};
    return status == OSAFL_OK ? arrange(set, settings, &images, samples, m) : status;
}

/* Reads the labels of one part of `set` into its samples. */
static osafl_status read_labels(const struct sample_set *set, const struct idx_config *settings,
                                const char *part, struct samples *samples, struct io_message *m)
{
    char *name = NULL;
    struct idx_labels labels = {0};
    struct byte_source source;
    OSAFL_TRY(find_file(set, settings, part, "labels", &name, m));
    osafl_status status = byte_source_open(&source, name, m);
    if (status == OSAFL_OK) {
        status = idx_read_labels(&source, &labels);
        byte_source_close(&source);
    }
    if (status == OSAFL_OK && labels.n != samples->n)
        status = io_fail(m, OSAFL_E_DATA,
                         "%s: holds %" PRIu32 " labels for the %" PRIu64
                         " images next to it; the two files do not belong together",
                         name, labels.n, samples->n);
    if (status == OSAFL_OK)
        status = sample_set_take_labels(set, samples, labels.labels, settings->first_label, name,
                                        "idx", m);
    if (status == OSAFL_OK && samples == &set->train_file)
        status = sample_set_doubt_labels(set, name, "idx", true, m);
    free(labels.labels);
    free(name);
    return status;
}

static osafl_status read_files(struct sample_set *set, const void *config, struct io_message *m)
{
    const struct idx_config *settings = config;
    OSAFL_TRY(read_images(set, settings, "train", &set->train_file, m));
    OSAFL_TRY(read_images(set, settings, "test", &set->test_file, m));
    if ((set->train_file.pixels == NULL) != (set->test_file.pixels == NULL))
        return io_fail(m, OSAFL_E_DATA,
                       "%s: training images are of bytes, or test images are, but not both",
                       settings->path);
    set->classes = (uint32_t)settings->classes;
    OSAFL_TRY(read_labels(set, settings, "train", &set->train_file, m));
    OSAFL_TRY(read_labels(set, settings, "test", &set->test_file, m));
    OSAFL_TRY(sample_set_name_labels(set, settings->class_names, "dataset.idx.class_names", m));
    OSAFL_TRY(sample_set_split(set, 0, (uint64_t)settings->validation, m));
    if (set->train_file.pixels != NULL)
        return sample_set_pixels(set, (enum sample_pixels)settings->pixels.index, m);
    if (settings->pixels.index == PIXELS_UNIT || settings->pixels.index == PIXELS_STANDARD)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%s: its images are not bytes, so they are taken as they are, without "
                       "dataset.idx.pixels",
                       settings->path);
    sample_set_keep_values(set);
    return OSAFL_OK;
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

OSAFL_PLUGIN_ENTRY(plugin);
