/* best_model.c - the model of the round with the best first measure, while a run goes on. */
#include "best_model.h"

#include <string.h>

#include "base/error.h"
#include "base/finite.h"
#include "base/memory.h"

#define SECTION "best"
#define SECTION_VERSION 1

osafl_status best_model_create(struct best_model *b, uint64_t dim, struct error *error)
{
    *b = (struct best_model){.dim = dim, .w = memory_zeroed(dim, sizeof(float), VECTOR_ALIGNMENT)};
    return b->w != NULL ? OSAFL_OK
                        : error_set(error, OSAFL_E_NOMEM, "out of memory for the best model");
}

void best_model_free(struct best_model *b)
{
    memory_free(b->w);
    *b = (struct best_model){0};
}

void best_model_note(struct best_model *b, const struct results *r, uint32_t round, const float *w)
{
    const struct results_summary s = results_summary(r);
    if (b->w == NULL || s.evaluations == 0 || s.best_round != round)
        return;
    memcpy(b->w, w, b->dim * sizeof(float));
    b->round = round;
    b->is_set = true;
}

void best_model_save(const struct best_model *b, struct record_writer *to)
{
    if (b->w == NULL)
        return;
    const uint64_t facts[2] = {b->is_set, b->round};
    osafl_writer *w = record_writer_section(to, SECTION, SECTION_VERSION);
    (void)w->u64(w, "facts", facts, 2);
    (void)w->f32(w, "model", b->w, b->dim);
}

osafl_status best_model_load(struct best_model *b, const struct record_set *from,
                             struct error *error)
{
    struct record_reader r;
    uint64_t facts[2] = {0};
    if (b->w == NULL)
        return OSAFL_OK;
    OSAFL_TRY(record_reader_open(from, SECTION, &r, error));
    osafl_status status = r.base.u64(&r.base, "facts", facts, 2);
    if (status == OSAFL_OK)
        status = r.base.f32(&r.base, "model", b->w, b->dim);
    if (status != OSAFL_OK)
        return error_set(error, status, "%s", r.error.text);
    if (facts[0] > 1 || facts[1] > UINT32_MAX || !all_finite(b->w, b->dim))
        return error_set(error, OSAFL_E_STATE, "the checkpoint's best model is damaged");
    b->is_set = facts[0] == 1;
    b->round = (uint32_t)facts[1];
    return OSAFL_OK;
}
