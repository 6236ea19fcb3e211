/* dropout.c - inverted dropout (Srivastava et al., JMLR 2014), drawn from the run's streams with a
 * resolution of 1/65536. */
#include <string.h>

#include "arithmetic.h"

static size_t count(const struct layer *l, const struct pass *pass)
{
    return (size_t)l->in_height * l->in_width * l->in_channels * pass->n;
}

void dropout_forward(const struct layer *l, const struct pass *pass)
{
    const size_t n = count(l, pass);
    const float *x = pass_values(pass, l->input);
    float *y = pass_values(pass, l->output);
    if (pass->step == NULL || !pass->step->training) {
        memcpy(y, x, n * sizeof *y);
        return;
    }
    /* Each word decides about two values. */
    float *factor = pass_memory(pass, l->saved_offset);
    uint32_t *word = (uint32_t *)pass_scratch(pass);
    const osafl_step *s = pass->step;
    pass->host->random_fill(pass->call, NETWORK_STREAM_DROPOUT + l->ordinal, s->client, s->round,
                            s->step, word, (n + 1) / 2);
    const uint32_t rounded = (uint32_t)(l->drop * 65536 + 0.5f);
    const uint32_t dropped = rounded < 65536 ? rounded : 65535;
    /* By the rounded probability: the mean is exact. */
    const float kept = 65536.0f / (float)(65536 - dropped);
    for (size_t i = 0; i < n; i++) {
        factor[i] = (word[i / 2] >> i % 2 * 16 & 0xffff) < dropped ? 0 : kept;
        y[i] = factor[i] * x[i];
    }
}

void dropout_backward(const struct layer *l, const struct pass *pass)
{
    const size_t n = count(l, pass);
    const bool training = pass->step != NULL && pass->step->training;
    const float *factor = pass_memory(pass, l->saved_offset);
    const float *dy = pass_gradient(pass, l->output);
    float *dx = pass_gradient(pass, l->input);
    for (size_t i = 0; i < n; i++) {
        const float d = training ? factor[i] * dy[i] : dy[i];
        dx[i] = l->adds_input_gradient ? dx[i] + d : d;
    }
}
