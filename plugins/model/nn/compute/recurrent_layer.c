/* recurrent_layer.c - one layer of torch.nn.LSTM and torch.nn.GRU, from h = c = 0 on.
 *
 * With a = W_ih x + b_ih and b = W_hh h + b_hh, by gates:
 *   LSTM  i, f, o = sigmoid(a + b), g = tanh(a + b); c' = f c + i g; h' = o tanh(c')
 *   GRU   r, z = sigmoid(a + b), n = tanh(a_n + r b_n); h' = (1 - z) n + z h
 * Everything lies as [step][sample][value].  The first products of all steps are one; backward,
 * gradients by a and b of all steps are kept, so that those of the weights are one product each. */
#include <string.h>

#include "dense.h"
#include "exponential.h"

/* A layer's memory. */
struct recurrence {
    size_t n;
    size_t steps;
    size_t hidden;
    size_t gates; /* values of all gates */
    float *gate;  /* saved: gates of all steps, after their functions */
    float *h;     /* saved: hidden values */
    float *extra; /* saved: LSTM: cells; GRU: b_n */
    float *da;    /* scratch: gradients by a, and by b (the same for LSTM) */
    float *db;
    float *dh; /* what a step hands back */
    float *dc;
};

static struct recurrence recurrence_of(const struct layer *l, const struct pass *pass)
{
    struct recurrence r = {.n = pass->n,
                           .steps = l->in_width,
                           .hidden = l->out_channels,
                           .gates = (l->type == LAYER_LSTM ? 4 : 3) * (size_t)l->out_channels,
                           .gate = pass_memory(pass, l->saved_offset),
                           .da = pass_scratch(pass)};
    r.h = r.gate + r.steps * r.n * r.gates;
    r.extra = r.h + r.steps * r.n * r.hidden;
    r.db = r.da + r.steps * r.n * r.gates;
    r.dh = r.db + r.steps * r.n * r.gates;
    r.dc = r.dh + r.n * r.hidden;
    return r;
}

/* The part of b of one sample, at its step: all gates, without bias. */
static void lstm_cell(const struct recurrence *r, const float *bias, float *gate,
                      const float *before, float *c, float *h)
{
    const size_t m = r->hidden;
    float *i = gate;
    float *f = gate + m;
    float *g = gate + 2 * m;
    float *o = gate + 3 * m;
    for (size_t j = 0; j < m; j++) {
        i[j] = logistic_sigmoid(i[j] + bias[j]);
        f[j] = logistic_sigmoid(f[j] + bias[m + j]);
        g[j] = hyperbolic_tangent(g[j] + bias[2 * m + j]);
        o[j] = logistic_sigmoid(o[j] + bias[3 * m + j]);
        c[j] = i[j] * g[j] + (before != NULL ? f[j] * before[j] : 0);
        h[j] = o[j] * hyperbolic_tangent(c[j]);
    }
}

/* b: W_hh h without bias; q: b_n with bias, to be saved. */
static void gru_cell(const struct recurrence *r, const float *bias, const float *b, float *gate,
                     const float *before, float *q, float *h)
{
    const size_t m = r->hidden;
    for (size_t j = 0; j < m; j++) {
        const float reset = logistic_sigmoid(gate[j] + (b[j] + bias[j]));
        const float update = logistic_sigmoid(gate[m + j] + (b[m + j] + bias[m + j]));
        q[j] = b[2 * m + j] + bias[2 * m + j];
        const float fresh = hyperbolic_tangent(gate[2 * m + j] + reset * q[j]);
        gate[j] = reset;
        gate[m + j] = update;
        gate[2 * m + j] = fresh;
        h[j] = (1 - update) * fresh + (before != NULL ? update * before[j] : 0);
    }
}

static void forward(const struct layer *l, const struct pass *pass)
{
    const struct recurrence r = recurrence_of(l, pass);
    const bool lstm = l->type == LAYER_LSTM;
    const float *bias = pass_weights(pass, l->second_bias);
    float *b = r.da; /* GRU: of one step */
    dense_forward(pass, l->weight, pass_weights(pass, l->bias), r.steps * r.n,
                  pass_values(pass, l->input), l->in_channels, r.gate, r.gates, false);
    if (!lstm)
        memset(b, 0, r.n * r.gates * sizeof *b);
    for (size_t t = 0; t < r.steps; t++) {
        float *gate = r.gate + t * r.n * r.gates;
        const size_t at = t * r.n * r.hidden;
        const size_t row = r.n * r.hidden;
        if (t > 0)
            dense_forward(pass, l->second_weight, NULL, r.n, r.h + at - row, r.hidden,
                          lstm ? gate : b, r.gates, lstm);
        for (size_t i = 0; i < r.n; i++) {
            float *g = gate + i * r.gates;
            const size_t k = at + i * r.hidden;
            if (lstm)
                lstm_cell(&r, bias, g, t > 0 ? r.extra + k - row : NULL, r.extra + k, r.h + k);
            else
                gru_cell(&r, bias, b + i * r.gates, g, t > 0 ? r.h + k - row : NULL, r.extra + k,
                         r.h + k);
        }
    }
    const size_t first = l->last ? r.steps - 1 : 0;
    memcpy(pass_values(pass, l->output), r.h + first * r.n * r.hidden,
           (r.steps - first) * r.n * r.hidden * sizeof(float));
}

/* Gradients of one sample at one step: from dh and dc, of what the step gave, to those of what it
 * got.  before: cells of the step before; NULL: 0. */
static void lstm_back(const struct recurrence *r, const float *gate, const float *before,
                      const float *c, const float *dh, float *dc, float *d)
{
    const size_t m = r->hidden;
    for (size_t j = 0; j < m; j++) {
        const float i = gate[j];
        const float f = gate[m + j];
        const float g = gate[2 * m + j];
        const float o = gate[3 * m + j];
        const float squashed = hyperbolic_tangent(c[j]);
        const float cell = dc[j] + dh[j] * o * (1 - squashed * squashed);
        d[j] = cell * g * i * (1 - i);
        d[m + j] = before != NULL ? cell * before[j] * f * (1 - f) : 0;
        d[2 * m + j] = cell * i * (1 - g * g);
        d[3 * m + j] = dh[j] * squashed * o * (1 - o);
        dc[j] = cell * f;
    }
}

/* dh becomes its part that does not go through W_hh. */
static void gru_back(const struct recurrence *r, const float *gate, const float *before,
                     const float *q, float *dh, float *da, float *db)
{
    const size_t m = r->hidden;
    for (size_t j = 0; j < m; j++) {
        const float reset = gate[j];
        const float update = gate[m + j];
        const float fresh = gate[2 * m + j];
        const float h = before != NULL ? before[j] : 0;
        const float d = dh[j];
        const float dn = d * (1 - update) * (1 - fresh * fresh);
        const float dz = d * (h - fresh) * update * (1 - update);
        const float dr = dn * q[j] * reset * (1 - reset);
        da[j] = db[j] = dr;
        da[m + j] = db[m + j] = dz;
        da[2 * m + j] = dn;
        db[2 * m + j] = dn * reset;
        dh[j] = d * update;
    }
}

/* Step t, whose dh is complete; then dh is that of the step before. */
static void step_back(const struct layer *l, const struct pass *pass, const struct recurrence *r,
                      size_t t, const float *transposed)
{
    const bool lstm = l->type == LAYER_LSTM;
    const size_t row = r->n * r->hidden;
    for (size_t i = 0; i < r->n; i++) {
        const size_t gate = (t * r->n + i) * r->gates;
        const size_t k = t * row + i * r->hidden;
        float *dh = r->dh + i * r->hidden;
        if (lstm)
            lstm_back(r, r->gate + gate, t > 0 ? r->extra + k - row : NULL, r->extra + k, dh,
                      r->dc + i * r->hidden, r->db + gate);
        else
            gru_back(r, r->gate + gate, t > 0 ? r->h + k - row : NULL, r->extra + k, dh,
                     r->da + gate, r->db + gate);
    }
    if (t > 0)
        dense_input(pass, l->second_weight, transposed, r->n, r->db + t * r->n * r->gates, r->gates,
                    r->dh, r->hidden, !lstm);
}

static void backward(const struct layer *l, const struct pass *pass)
{
    const struct recurrence r = recurrence_of(l, pass);
    const size_t row = r.n * r.hidden;
    const size_t rows = r.steps * r.n;
    const float *dy = pass_gradient(pass, l->output);
    const float *x = pass_values(pass, l->input);
    float *da = l->type == LAYER_LSTM ? r.db : r.da;
    float *second = pass_scratch_fixed(pass);
    float *first = second + r.gates * r.hidden;
    dense_transpose(pass, l->second_weight, second);
    dense_transpose(pass, l->weight, first);
    memset(r.dh, 0, row * sizeof *r.dh);
    memset(r.dc, 0, row * sizeof *r.dc);
    for (size_t t = r.steps; t-- > 0;) {
        const float *d = l->last ? dy : dy + t * row;
        for (size_t k = 0; (!l->last || t == r.steps - 1) && k < row; k++)
            r.dh[k] += d[k];
        step_back(l, pass, &r, t, second);
    }
    dense_input(pass, l->weight, first, rows, da, r.gates, pass_gradient(pass, l->input),
                l->in_channels, l->adds_input_gradient);
    dense_weights(pass, l->weight, rows, x, l->in_channels, da, r.gates);
    dense_weights(pass, l->second_weight, rows - r.n, r.h, r.hidden, r.db + r.n * r.gates, r.gates);
    bias_gradient(pass, l->bias, (struct block){da, rows, r.gates, r.gates});
    bias_gradient(pass, l->second_bias, (struct block){r.db, rows, r.gates, r.gates});
}

void lstm_forward(const struct layer *l, const struct pass *pass)
{
    forward(l, pass);
}

void lstm_backward(const struct layer *l, const struct pass *pass)
{
    backward(l, pass);
}

void gru_forward(const struct layer *l, const struct pass *pass)
{
    forward(l, pass);
}

void gru_backward(const struct layer *l, const struct pass *pass)
{
    backward(l, pass);
}
