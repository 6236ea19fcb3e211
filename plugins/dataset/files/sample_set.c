/* sample_set.c - labelled samples in memory, and their splits. */
#include "sample_set.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <Random123/philox.h>

#include "osafl/random.h"

static void samples_free(struct samples *s)
{
    free(s->pixels);
    free(s->values);
    free(s->label);
    free(s->client);
}

void sample_set_destroy(struct sample_set *s)
{
    samples_free(&s->train);
    samples_free(&s->test);
    free(s->train_index);
    free(s->validation_index);
    free(s->name_text);
    free(s->label_names);
}

void sample_set_pixels_symmetric(struct sample_set *s)
{
    for (int v = 0; v < 256; v++) {
        const float unit = (float)v / 255.0f;
        s->pixel_value[v] = (unit - 0.5f) / 0.5f;
    }
}

/* Word pair number i of a stream that is the same for every data set and run. */
static uint32_t draw_below(uint64_t i, uint32_t n)
{
    const philox4x32_ctr_t counter = {{(uint32_t)i, (uint32_t)(i >> 32), 0, 0}};
    const philox4x32_key_t key = {{0x76616c69u, 0x64617465u}}; /* "validate" */
    const philox4x32_ctr_t word = philox4x32(counter, key);
    return osafl_below(word.v, n);
}

osafl_status sample_set_hold_out(struct sample_set *s, uint64_t held_out, struct io_message *m)
{
    if (held_out >= s->train.n)
        return io_fail(m, OSAFL_E_CONFIG,
                       "validation = %" PRIu64 " leaves nothing of the %" PRIu64
                       " training samples; choose less",
                       held_out, s->train.n);
    if (s->train.n > UINT32_MAX)
        return io_fail(m, OSAFL_E_DATA, "more than 2^32 training samples");
    s->n_validation = held_out;
    s->n_train = s->train.n - held_out;
    s->train_index = malloc(s->n_train * sizeof *s->train_index);
    s->validation_index = malloc((held_out + 1) * sizeof *s->validation_index);
    if (s->train_index == NULL || s->validation_index == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    /* Selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S): each sample is taken with the
     * probability wanted / left, which makes every choice of held_out samples equally likely. */
    uint64_t trained = 0;
    uint64_t held = 0;
    for (uint64_t i = 0; i < s->train.n; i++) {
        const uint32_t left = (uint32_t)(s->train.n - i);
        if (draw_below(i, left) < held_out - held)
            s->validation_index[held++] = (uint32_t)i;
        else
            s->train_index[trained++] = (uint32_t)i;
    }
    assert(held == s->n_validation && trained == s->n_train);
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
        if (n < s->classes)
            s->label_names[n] = name;
    }
    if (n != s->classes)
        return io_fail(m, OSAFL_E_CONFIG,
                       "%s has %" PRIu32 " names for %" PRIu32
                       " classes; separate one name for each class by commas",
                       setting, n, s->classes);
    return OSAFL_OK;
}

osafl_status sample_set_check_labels(const struct sample_set *s, const struct samples *samples,
                                     const char *name, struct io_message *m)
{
    for (uint64_t i = 0; i < samples->n; i++) {
        const int32_t label = samples->label[i];
        if (label < 0 || (uint32_t)label >= s->classes)
            return io_fail(m, OSAFL_E_DATA,
                           "%s: label %" PRId32 " of sample %" PRIu64 " is outside 0 .. %" PRIu32
                           "; is the number of classes right?",
                           name, label, i, s->classes - 1);
    }
    return OSAFL_OK;
}

osafl_status sample_set_describe(void *self, osafl_call *c, osafl_dataset_info *out)
{
    (void)c;
    const struct sample_set *s = self;
    out->channels = s->channels;
    out->height = s->height;
    out->width = s->width;
    out->target_type = OSAFL_TARGET_CLASS;
    out->target_size = s->classes;
    out->labels = s->classes;
    out->n_train = s->n_train;
    out->n_validation = s->n_validation;
    out->n_test = s->test.n;
    out->label_names = s->label_names;
    return OSAFL_OK;
}

int32_t sample_set_label(void *self, uint64_t i)
{
    const struct sample_set *s = self;
    assert(i < s->n_train);
    return s->train.label[s->train_index[i]];
}

uint32_t sample_set_client(void *self, uint64_t i)
{
    const struct sample_set *s = self;
    assert(i < s->n_train && s->train.client != NULL);
    return s->train.client[s->train_index[i]];
}

osafl_status sample_set_read(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                             const osafl_batch *b)
{
    (void)c;
    const struct sample_set *s = self;
    const struct samples *from = split == OSAFL_SPLIT_TEST ? &s->test : &s->train;
    const uint32_t *map = split == OSAFL_SPLIT_TRAIN        ? s->train_index
                          : split == OSAFL_SPLIT_VALIDATION ? s->validation_index
                                                            : NULL;
    const size_t size = (size_t)s->channels * s->height * s->width;
    for (uint32_t k = 0; k < b->n; k++) {
        const uint64_t i = map != NULL ? map[index[k]] : index[k];
        assert(i < from->n);
        float *x = b->x + k * size;
        if (from->pixels != NULL) {
            const uint8_t *pixel = from->pixels + i * size;
            for (size_t j = 0; j < size; j++)
                x[j] = s->pixel_value[pixel[j]];
        } else {
            memcpy(x, from->values + i * size, size * sizeof *x);
        }
        b->label[k] = from->label[i];
    }
    return OSAFL_OK;
}
