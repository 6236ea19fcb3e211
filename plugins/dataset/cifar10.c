/* cifar10.c - CIFAR-10 in its binary version: five training batches and a test batch.
 *
 * No augmentation (ALGORITHMS.md 3). */
#include "cifar_format.h"

#include <inttypes.h>
#include <stdio.h>

/* The files have no header: their length is all that tells a whole one from a part. */
#define BATCHES 5
#define BATCH_RECORDS 10000

static const struct cifar_version version = {.name = "CIFAR-10",
                                             .folder = "cifar-10-batches-bin",
                                             .setting = "dataset.cifar10.path",
                                             .label_bytes = 1,
                                             .classes = 10};

struct cifar10_config {
    const char *path;
    int64_t validation;
    osafl_choice pixels;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct cifar10_config, path, NULL,
               "Folder of data_batch_1.bin .. data_batch_5.bin and test_batch.bin, plain or .gz",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_INT(struct cifar10_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_CHOICE(struct cifar10_config, pixels, PIXELS_SIGNED, sample_pixels_choices,
                 "Pixels are in [-1, 1], in [0, 1], have mean 0 and deviation 1 over the "
                 "training split, each channel its own, or are taken as they are, 0 to 255",
                 .flags = OSAFL_P_LATER),
};

static osafl_status read_files(struct sample_set *set, const void *config, struct io_message *m)
{
    const struct cifar10_config *settings = config;
    set->rank = 3;
    set->channels = 3;
    set->height = 32;
    set->width = 32;
    set->classes = version.classes;
    OSAFL_TRY(cifar_allocate(&set->train_file, BATCHES * BATCH_RECORDS, m));
    OSAFL_TRY(cifar_allocate(&set->test_file, BATCH_RECORDS, m));
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        char stem[32];
        (void)snprintf(stem, sizeof stem, "data_batch_%" PRIu32, batch + 1);
        OSAFL_TRY(cifar_read_file(set, &version, settings->path, stem, &set->train_file,
                                  batch * BATCH_RECORDS, BATCH_RECORDS, m));
    }
    OSAFL_TRY(cifar_read_file(set, &version, settings->path, "test_batch", &set->test_file, 0,
                              BATCH_RECORDS, m));
    OSAFL_TRY(sample_set_name_labels(
        set, "airplane,automobile,bird,cat,deer,dog,frog,horse,ship,truck", "class names", m));
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
    .name = "cifar10",
    .version = "1.0.0",
    .summary = "CIFAR-10 in its binary version",
    .cite = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct cifar10_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
