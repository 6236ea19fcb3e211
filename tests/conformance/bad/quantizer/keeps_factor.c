/* keeps_factor.c - of a model with matrices, keeps in the instance what belongs to a client: how
 * its last vector began.  Caught by threads.workers. */
#include "template_with.h"

static bool has_matrices;
static float factor = 1.0f;

static osafl_status create_factor(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                  const void *config, void **self)
{
    for (uint32_t i = 0; i < facts->model->n_tensors; i++)
        has_matrices =
            has_matrices ||
            OSAFL_AT(osafl_tensor, facts->model->tensors, facts->model->tensor_size, i)->rank >= 2;
    return create(h, c, facts, config, self);
}

static osafl_status encode_scaled(void *self, osafl_call *c, const osafl_packet *packet,
                                  const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                  double *air_bits)
{
    OSAFL_TRY(encode(self, c, packet, x, state, code, bytes, air_bits));
    if (has_matrices)
        *air_bits -= 1.0 / (1.0 + (double)(factor * factor));
    factor = x[0];
    return OSAFL_OK;
}

CHANGE(vt.encode = encode_scaled; vt.life.create = create_factor;)
