/* inputs.c - hashes of what a run reads besides its settings. */
#include "inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/finite.h"
#include "base/memory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Samples that are read at a time. */
#define BATCH 64
/* Samples of an endless split: it is a function of its settings, which are in the manifest. */
#define ENDLESS_SAMPLES 256
/* Bytes of a file that are read at a time. */
#define FILE_BLOCK (1 << 16)

static osafl_status add_input(struct inputs *list, const char *name, XXH3_state_t *hash,
                              struct error *error)
{
    struct input *item = realloc(list->item, (list->n + 1) * sizeof *item);
    if (item != NULL)
        list->item = item;
    char *copy = strdup(name);
    if (item == NULL || copy == NULL) {
        free(copy);
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    }
    item[list->n].name = copy;
    snprintf(item[list->n].hash, sizeof item->hash, "%016llx",
             (unsigned long long)XXH3_64bits_digest(hash));
    list->n++;
    return OSAFL_OK;
}

void inputs_free(struct inputs *i)
{
    for (size_t k = 0; k < i->n; k++)
        free(i->item[k].name);
    free(i->item);
    *i = (struct inputs){0};
}

/* ---- samples ------------------------------------------------------------------------------- */

/* What training would find out later, and where a hash would not be the samples'. */
static osafl_status check_batch(const struct session *s, osafl_call *c, const osafl_batch *batch,
                                const uint64_t *index)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        if (batch->x != NULL && !all_finite(batch->x + i * s->sample_size, s->sample_size))
            return core_host.fail(c, OSAFL_E_DATA, "sample %llu holds a value that is not finite",
                                  (unsigned long long)index[i]);
        if (batch->label[i] < 0 || (uint32_t)batch->label[i] >= s->dataset.labels)
            return core_host.fail(c, OSAFL_E_DATA, "sample %llu has label %d outside 0..%u",
                                  (unsigned long long)index[i], (int)batch->label[i],
                                  s->dataset.labels - 1);
    }
    return OSAFL_OK;
}

static osafl_status hash_split(const struct session *s, uint32_t split, uint64_t n,
                               osafl_batch *batch, XXH3_state_t *hash, struct error *error)
{
    const struct instance *dataset = &s->instance[OSAFL_KIND_DATASET];
    for (uint64_t begin = 0; begin < n; begin += BATCH) {
        uint64_t index[BATCH];
        batch->n = n - begin < BATCH ? (uint32_t)(n - begin) : BATCH;
        for (uint32_t i = 0; i < batch->n; i++)
            index[i] = begin + i;
        if (s->context.cancelled != NULL && *s->context.cancelled != 0)
            return error_set(error, OSAFL_E_CANCELLED, "the run was stopped");
        osafl_call c;
        call_begin(&c, dataset, OSAFL_NO_CLIENT, 0);
        osafl_status status = session_dataset(s)->read(dataset->self, &c, split, index, batch);
        if (status == OSAFL_OK)
            status = check_batch(s, &c, batch, index);
        OSAFL_TRY(call_end_named(&c, status, error));
        if (batch->x != NULL)
            XXH3_64bits_update(hash, batch->x, batch->n * s->sample_size * sizeof *batch->x);
        else
            XXH3_64bits_update(hash, batch->x_int,
                               batch->n * s->sample_size * sizeof *batch->x_int);
        XXH3_64bits_update(hash, batch->label, batch->n * sizeof *batch->label);
        if (batch->target != NULL)
            XXH3_64bits_update(hash, batch->target,
                               (size_t)batch->n * s->dataset.target_size * sizeof *batch->target);
    }
    return OSAFL_OK;
}

/* The shape is padded to three sizes, as hashes of runs before it had a rank have it. */
static void hash_facts(const struct session *s, XXH3_state_t *hash)
{
    const osafl_dataset_info *info = &s->dataset;
    const uint64_t ones = info->rank < 3 ? 3 - info->rank : 0;
    const uint64_t one = 1;
    const uint64_t facts[] = {info->labels, info->n_train, s->evaluation_samples};
    for (uint64_t i = 0; i < ones; i++)
        XXH3_64bits_update(hash, &one, sizeof one);
    for (uint32_t i = 0; i < info->rank; i++) {
        const uint64_t size = info->shape[i];
        XXH3_64bits_update(hash, &size, sizeof size);
    }
    XXH3_64bits_update(hash, facts, sizeof facts);
}

static osafl_status hash_samples(const struct session *s, XXH3_state_t *hash, struct error *error)
{
    const osafl_dataset_info *info = &s->dataset;
    const bool real = info->target_type == OSAFL_TARGET_REAL;
    const bool integers = info->x_type == OSAFL_X_INT32;
    const uint64_t n_train = info->n_train == OSAFL_ENDLESS ? ENDLESS_SAMPLES : info->n_train;
    void *x = memory_zeroed(BATCH * s->sample_size, sizeof(float), VECTOR_ALIGNMENT);
    osafl_batch batch = {
        .struct_size = sizeof batch,
        .x = integers ? NULL : x,
        .x_int = integers ? x : NULL,
        .label = memory_zeroed(BATCH, sizeof(int32_t), VECTOR_ALIGNMENT),
        .target = real ? memory_zeroed(BATCH * (uint64_t)info->target_size, sizeof(float),
                                       VECTOR_ALIGNMENT)
                       : NULL,
    };
    osafl_status status = OSAFL_OK;
    if (x == NULL || batch.label == NULL || (real && batch.target == NULL))
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for a batch of samples");
    XXH3_64bits_reset(hash);
    hash_facts(s, hash);
    if (status == OSAFL_OK)
        status = hash_split(s, OSAFL_SPLIT_TRAIN, n_train, &batch, hash, error);
    if (status == OSAFL_OK)
        status =
            hash_split(s, session_evaluation_split(s), s->evaluation_samples, &batch, hash, error);
    memory_free(x);
    memory_free(batch.label);
    memory_free(batch.target);
    return status;
}

/* ---- files --------------------------------------------------------------------------------- */

static osafl_status hash_open_file(int fd, XXH3_state_t *hash)
{
    char block[FILE_BLOCK];
    ssize_t got = 0;
    XXH3_64bits_reset(hash);
    while ((got = read(fd, block, sizeof block)) > 0)
        XXH3_64bits_update(hash, block, (size_t)got);
    return got == 0 ? OSAFL_OK : OSAFL_E_IO;
}

/* Folders, devices and what does not exist are left to the plugin: *found says whether there is a
 * hash. */
static osafl_status hash_file(const char *path, XXH3_state_t *hash, bool *found,
                              struct error *error)
{
    struct stat facts;
    *found = false;
    if (path[0] == '\0' || stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return OSAFL_OK;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const osafl_status status = fd >= 0 ? hash_open_file(fd, hash) : OSAFL_E_IO;
    const int problem = errno;
    if (fd >= 0)
        close(fd);
    *found = status == OSAFL_OK;
    return *found ? OSAFL_OK : error_io(error, problem, "read", path);
}

/* The files that settings of a plugin name. */
static osafl_status add_files(const struct instance *i, XXH3_state_t *hash, struct inputs *out,
                              struct error *error)
{
    const osafl_plugin *p = i->plugin;
    for (uint32_t k = 0; k < p->n_params; k++) {
        const osafl_param *param = OSAFL_AT(osafl_param, p->params, p->param_size, k);
        if (param->type != OSAFL_T_PATH)
            continue;
        const char *path;
        bool found;
        char name[160];
        memcpy(&path, (const unsigned char *)i->config + param->offset, sizeof path);
        snprintf(name, sizeof name, "%s.%s.%s", kind_name(p->kind), p->name, param->name);
        OSAFL_TRY(hash_file(path, hash, &found, error));
        if (found)
            OSAFL_TRY(add_input(out, name, hash, error));
    }
    return OSAFL_OK;
}

osafl_status inputs_read(const struct session *s, struct inputs *out, struct error *error)
{
    *out = (struct inputs){0};
    XXH3_state_t *hash = XXH3_createState();
    if (hash == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    char name[160];
    snprintf(name, sizeof name, "samples of dataset/%s",
             s->instance[OSAFL_KIND_DATASET].plugin->name);
    osafl_status status = hash_samples(s, hash, error);
    if (status == OSAFL_OK)
        status = add_input(out, name, hash, error);
    bool found = false;
    if (status == OSAFL_OK && s->experiment->model.start != NULL)
        status = hash_file(s->experiment->model.start, hash, &found, error);
    if (status == OSAFL_OK && found)
        status = add_input(out, "model.start", hash, error);
    for (uint32_t kind = 1; status == OSAFL_OK && kind <= LOADER_KINDS; kind++)
        if (kind != OSAFL_KIND_DATASET && s->instance[kind].plugin != NULL)
            status = add_files(&s->instance[kind], hash, out, error);
    XXH3_freeState(hash);
    return status;
}
