/* cifar100.c - CIFAR-100 in its binary version: a training file and a test file, each picture with
 * the label of one of 100 classes and of one of 20 groups of these.
 *
 * No augmentation (ALGORITHMS.md 3). */
#include "cifar_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files have no header: their length is all that tells a whole one from a part. */
#define TRAIN_RECORDS 50000
#define TEST_RECORDS 10000

enum { LABELS_FINE, LABELS_COARSE };

struct cifar100_config {
    const char *path;
    osafl_choice labels;
    int64_t validation;
    osafl_choice pixels;
};

static const char *const label_kinds[] = {"fine", "coarse", NULL};

static const osafl_param params[] = {
    OSAFL_PATH(struct cifar100_config, path, NULL,
               "Folder of train.bin and test.bin, plain or .gz; the classes' names are in "
               "fine_label_names.txt and coarse_label_names.txt, if these are there",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_CHOICE(struct cifar100_config, labels, LABELS_FINE, label_kinds,
                 "The 100 classes, or the 20 groups of five"),
    OSAFL_INT(struct cifar100_config, validation, 0, 0, UINT32_MAX,
              "Training samples held out for validation: the same ones in every run",
              .unit = "samples"),
    OSAFL_CHOICE(struct cifar100_config, pixels, PIXELS_SIGNED, sample_pixels_choices,
                 "Pixels are in [-1, 1], in [0, 1], have mean 0 and deviation 1 over the "
                 "training split, each channel its own, or are taken as they are, 0 to 255"),
};

/* Reads names from a file with one in a line: as a text with commas between, from malloc(). */
static osafl_status read_names(const char *path, char **names, struct io_message *m)
{
    enum { MOST = 8192 };
    struct byte_source source;
    uint64_t n = 0;
    *names = calloc(1, MOST + 1);
    if (*names == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    OSAFL_TRY(byte_source_open(&source, path, m));
    osafl_status status = byte_source_read(&source, *names, MOST, &n);
    if (status == OSAFL_OK)
        status = byte_source_end(&source);
    byte_source_close(&source);
    while (n > 0 && ((*names)[n - 1] == '\n' || (*names)[n - 1] == '\r'))
        (*names)[--n] = '\0';
    for (char *end = *names; (end = strchr(end, '\n')) != NULL;)
        *end = ',';
    return status;
}

static osafl_status name_labels(struct sample_set *set, const char *folder, const char *stem,
                                struct io_message *m)
{
    char *path = NULL;
    char *name = NULL;
    char *names = NULL;
    if (asprintf(&path, "%s/%s", folder, stem) < 0)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    osafl_status status = sample_set_find_file(set, path, &name, m);
    if (status == OSAFL_OK && name != NULL)
        status = read_names(name, &names, m);
    if (status == OSAFL_OK && names != NULL)
        status = sample_set_name_labels(set, names, name, m);
    free(path);
    free(name);
    free(names);
    return status;
}

static osafl_status read_files(struct sample_set *set, const void *config, struct io_message *m)
{
    const struct cifar100_config *settings = config;
    const bool fine = settings->labels.index == LABELS_FINE;
    const struct cifar_version version = {.name = "CIFAR-100",
                                          .folder = "cifar-100-binary",
                                          .setting = "dataset.cifar100.path",
                                          .label_bytes = 2,
                                          .label = fine ? 1 : 0,
                                          .classes = fine ? 100 : 20};
    set->rank = 3;
    set->channels = 3;
    set->height = 32;
    set->width = 32;
    set->classes = version.classes;
    OSAFL_TRY(cifar_allocate(&set->train_file, TRAIN_RECORDS, m));
    OSAFL_TRY(cifar_allocate(&set->test_file, TEST_RECORDS, m));
    OSAFL_TRY(cifar_read_file(set, &version, settings->path, "train", &set->train_file, 0,
                              TRAIN_RECORDS, m));
    OSAFL_TRY(cifar_read_file(set, &version, settings->path, "test", &set->test_file, 0,
                              TEST_RECORDS, m));
    OSAFL_TRY(name_labels(set, settings->path,
                          fine ? "fine_label_names.txt" : "coarse_label_names.txt", m));
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
    .name = "cifar100",
    .version = "1.0.0",
    .summary = "CIFAR-100 in its binary version",
    .cite = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct cifar100_config),
    .vtable = &vtable.life,
};

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
