/* dataset_saboteur.c - glyphs that may do a deed at "read" (on a worker) or "sample_of". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/dataset/glyphs.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_read(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                             const osafl_batch *b)
{
    OSAFL_TRY(read_samples(self, c, split, index, b));
    if (deed("read", ANY, ANY))
        b->x[0] = NAN;
    return OSAFL_OK;
}

static osafl_status bad_sample_of(void *self, osafl_call *c, int32_t digit, uint64_t k,
                                  uint64_t *sample)
{
    (void)deed("sample_of", ANY, ANY);
    return sample_of(self, c, digit, k, sample);
}

static const osafl_dataset_vt bad = {
    .life = {.struct_size = sizeof(osafl_dataset_vt), .create = create, .destroy = free},
    .describe = describe,
    .label = label,
    .read = bad_read,
    .sample_of = bad_sample_of,
};

SABOTEUR(&bad)
