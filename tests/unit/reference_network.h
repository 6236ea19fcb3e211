/* reference_network.h - the layers of plugins/model/nn once more: in double precision, with plain
 * loops over [sample][channel][y][x], from the definitions.  It shares the description of a
 * network with the code under test, and no arithmetic. */
#ifndef OSAFL_TEST_REFERENCE_NETWORK_H
#define OSAFL_TEST_REFERENCE_NETWORK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/model/nn/network.h"

struct reference {
    const struct network *net;
    uint32_t n;
    const float *picture;
    const int32_t *label;
    double *w; /* every tensor in the order in which it is exported, at its offset */
    double *dw;
    double *value[NETWORK_MAX_ACTIVATIONS];
    double *gradient[NETWORK_MAX_ACTIVATIONS];
    double *factor[NETWORK_MAX_LAYERS]; /* of dropout; NULL: off */
    double near_ties; /* sum of |gradient| at windows whose maximum is met twice, up to rounding */
};

static inline size_t reference_floats(const struct reference *r, int a)
{
    const struct activation *q = &r->net->activation[a];
    return (size_t)q->height * q->width * q->channels * r->n;
}

static inline double *reference_zeros(size_t n)
{
    double *p = calloc(n > 0 ? n : 1, sizeof *p);
    if (p == NULL)
        abort();
    return p;
}

static inline struct reference reference_open(const struct network *net, uint32_t n,
                                              const float *picture, const int32_t *label)
{
    struct reference r = {.net = net, .n = n, .picture = picture, .label = label};
    r.w = reference_zeros(net->n_weights);
    r.dw = reference_zeros(net->n_weights);
    for (int a = 0; a < net->n_activations; a++) {
        r.value[a] = reference_zeros(reference_floats(&r, a));
        r.gradient[a] = reference_zeros(reference_floats(&r, a));
    }
    return r;
}

static inline void reference_close(struct reference *r)
{
    free(r->w);
    free(r->dw);
    for (int a = 0; a < r->net->n_activations; a++) {
        free(r->value[a]);
        free(r->gradient[a]);
    }
    for (int i = 0; i < r->net->n_layers; i++)
        free(r->factor[i]);
}

/* The layer's input as doubles; the picture is converted into a copy, to be freed. */
static inline double *reference_input(const struct reference *r, const struct layer *l)
{
    const size_t n = (size_t)l->in_channels * l->in_height * l->in_width * r->n;
    double *x = reference_zeros(n);
    for (size_t i = 0; i < n; i++)
        x[i] = l->input < 0 ? (double)r->picture[i] : r->value[l->input][i];
    return x;
}

/* One pair of planes that a filter tap connects: for the positions at which both lie inside, y +=
 * w x, or dx += w dy, or the sum of x dy (returned). */
enum reference_mode { REFERENCE_FORWARD, REFERENCE_INPUT, REFERENCE_WEIGHT };

static inline double reference_tap(const struct layer *l, enum reference_mode mode, size_t row,
                                   size_t column, double w, double *x, double *y)
{
    double sum = 0;
    for (size_t v = 0; v < l->out_height; v++) {
        const long in_y = (long)(v * l->stride + row) - (long)l->padding;
        if (in_y < 0 || in_y >= (long)l->in_height)
            continue;
        for (size_t u = 0; u < l->out_width; u++) {
            const long in_x = (long)(u * l->stride + column) - (long)l->padding;
            if (in_x < 0 || in_x >= (long)l->in_width)
                continue;
            double *xp = &x[(size_t)in_y * l->in_width + (size_t)in_x];
            double *yp = &y[v * l->out_width + u];
            if (mode == REFERENCE_FORWARD)
                *yp += w * *xp;
            else if (mode == REFERENCE_INPUT)
                *xp += w * *yp;
            else
                sum += *xp * *yp;
        }
    }
    return sum;
}

/* All taps between all planes in the given mode; x and y are values or gradients. */
static inline void reference_taps(struct reference *r, const struct layer *l,
                                  enum reference_mode mode, double *x, double *y)
{
    const struct parameter *p = &r->net->parameter[l->weight];
    const size_t in_plane = (size_t)l->in_height * l->in_width;
    const size_t out_plane = (size_t)l->out_height * l->out_width;
    const size_t out_all = r->net->activation[l->output].channels;
    const size_t taps = (size_t)l->kernel_height * l->kernel_width;
    for (size_t n = 0; n < r->n; n++)
        for (size_t o = 0; o < l->out_channels; o++)
            for (size_t i = 0; i < l->in_channels; i++)
                for (size_t t = 0; t < taps; t++) {
                    const size_t at = p->offset + (o * l->in_channels + i) * taps + t;
                    const double s =
                        reference_tap(l, mode, t / l->kernel_width, t % l->kernel_width, r->w[at],
                                      x + (n * l->in_channels + i) * in_plane,
                                      y + (n * out_all + l->out_first + o) * out_plane);
                    if (mode == REFERENCE_WEIGHT)
                        r->dw[at] += s;
                }
}

/* Value or gradient number i of the layer's own channels, counted (n, o, y, x). */
static inline double *reference_own(const struct reference *r, const struct layer *l, double *at,
                                    size_t i)
{
    const size_t own = (size_t)l->out_channels * l->out_height * l->out_width;
    const size_t plane = (size_t)l->out_height * l->out_width;
    const size_t all = (size_t)r->net->activation[l->output].channels * plane;
    return &at[i / own * all + l->out_first * plane + i % own];
}

static inline void reference_convolution_forward(struct reference *r, const struct layer *l)
{
    double *x = reference_input(r, l);
    double *y = r->value[l->output];
    const size_t plane = (size_t)l->out_height * l->out_width;
    const size_t n = plane * l->out_channels * r->n;
    for (size_t i = 0; i < n; i++)
        *reference_own(r, l, y, i) =
            l->bias < 0 ? 0 : r->w[r->net->parameter[l->bias].offset + i / plane % l->out_channels];
    reference_taps(r, l, REFERENCE_FORWARD, x, y);
    for (size_t i = 0; i < n && l->relu; i++)
        *reference_own(r, l, y, i) = fmax(*reference_own(r, l, y, i), 0);
    free(x);
}

static inline void reference_convolution_backward(struct reference *r, const struct layer *l)
{
    double *x = reference_input(r, l);
    double *dy = r->gradient[l->output];
    const size_t plane = (size_t)l->out_height * l->out_width;
    const size_t n = plane * l->out_channels * r->n;
    for (size_t i = 0; i < n; i++) {
        double *d = reference_own(r, l, dy, i);
        if (l->relu && *reference_own(r, l, r->value[l->output], i) <= 0)
            *d = 0;
        if (l->bias >= 0)
            r->dw[r->net->parameter[l->bias].offset + i / plane % l->out_channels] += *d;
    }
    if (l->input >= 0)
        reference_taps(r, l, REFERENCE_INPUT, r->gradient[l->input], dy);
    reference_taps(r, l, REFERENCE_WEIGHT, x, dy);
    free(x);
}

/* Forward (backward = false) finds the maximum; backward finds it again and hands it dy. */
static inline void reference_max_pool(struct reference *r, const struct layer *l, bool backward)
{
    const size_t in_plane = (size_t)l->in_height * l->in_width;
    const size_t out_plane = (size_t)l->out_height * l->out_width;
    for (size_t i = 0; i < out_plane * l->out_channels * r->n; i++) {
        const size_t y = i % out_plane / l->out_width;
        const size_t x = i % l->out_width;
        size_t best = SIZE_MAX;
        size_t second = SIZE_MAX;
        const double *in = r->value[l->input] + i / out_plane * in_plane;
        for (size_t v = y * l->stride; v < y * l->stride + l->kernel_height; v++)
            for (size_t u = x * l->stride; u < x * l->stride + l->kernel_width; u++) {
                if (v < l->padding || v - l->padding >= l->in_height || u < l->padding ||
                    u - l->padding >= l->in_width)
                    continue;
                const size_t at = (v - l->padding) * l->in_width + u - l->padding;
                if (best == SIZE_MAX || in[at] > in[best]) {
                    second = best;
                    best = at;
                } else if (second == SIZE_MAX || in[at] > in[second]) {
                    second = at;
                }
            }
        if (!backward) {
            r->value[l->output][i] = in[best];
            continue;
        }
        r->gradient[l->input][i / out_plane * in_plane + best] += r->gradient[l->output][i];
        if (second != SIZE_MAX && in[best] - in[second] < 1e-5 * fabs(in[best]))
            r->near_ties += fabs(r->gradient[l->output][i]);
    }
}

/* Mean and deviation of the group that starts at x. */
static inline void reference_moments(const double *x, size_t m, double *mean, double *deviation)
{
    *mean = 0;
    for (size_t i = 0; i < m; i++)
        *mean += x[i] / (double)m;
    double variance = 0;
    for (size_t i = 0; i < m; i++)
        variance += (x[i] - *mean) * (x[i] - *mean) / (double)m;
    *deviation = sqrt(variance + 1e-5);
}

static inline void reference_group_norm_forward(struct reference *r, const struct layer *l)
{
    const size_t plane = (size_t)l->in_height * l->in_width;
    const size_t m = l->in_channels / l->groups * plane;
    const double *gamma = r->w + r->net->parameter[l->weight].offset;
    const double *beta = r->w + r->net->parameter[l->bias].offset;
    for (size_t g = 0; g < (size_t)r->n * l->groups; g++) {
        double mean;
        double deviation;
        const double *x = r->value[l->input] + g * m;
        reference_moments(x, m, &mean, &deviation);
        for (size_t i = 0; i < m; i++) {
            const size_t c = (g * m + i) / plane % l->in_channels;
            double y = (x[i] - mean) / deviation * gamma[c] + beta[c];
            if (l->residual >= 0)
                y += r->value[l->residual][g * m + i];
            r->value[l->output][g * m + i] = l->relu && y < 0 ? 0 : y;
        }
    }
}

static inline void reference_group_norm_backward(struct reference *r, const struct layer *l)
{
    const size_t plane = (size_t)l->in_height * l->in_width;
    const size_t m = l->in_channels / l->groups * plane;
    const double *gamma = r->w + r->net->parameter[l->weight].offset;
    double *dgamma = r->dw + r->net->parameter[l->weight].offset;
    double *dbeta = r->dw + r->net->parameter[l->bias].offset;
    for (size_t g = 0; g < (size_t)r->n * l->groups; g++) {
        double mean;
        double deviation;
        const double *x = r->value[l->input] + g * m;
        double *d = r->gradient[l->output] + g * m;
        reference_moments(x, m, &mean, &deviation);
        double s1 = 0;
        double s2 = 0;
        for (size_t i = 0; i < m; i++) {
            const size_t c = (g * m + i) / plane % l->in_channels;
            const double z = (x[i] - mean) / deviation;
            if (l->relu && r->value[l->output][g * m + i] <= 0)
                d[i] = 0;
            if (l->residual >= 0)
                r->gradient[l->residual][g * m + i] += d[i];
            dgamma[c] += d[i] * z;
            dbeta[c] += d[i];
            s1 += gamma[c] * d[i];
            s2 += gamma[c] * d[i] * z;
        }
        for (size_t i = 0; i < m; i++) {
            const size_t c = (g * m + i) / plane % l->in_channels;
            const double z = (x[i] - mean) / deviation;
            r->gradient[l->input][g * m + i] +=
                (gamma[c] * d[i] - (s1 + z * s2) / (double)m) / deviation;
        }
    }
}

static inline void reference_average(struct reference *r, const struct layer *l, bool backward)
{
    const size_t plane = (size_t)l->in_height * l->in_width;
    for (size_t i = 0; i < (size_t)r->n * l->in_channels; i++) {
        if (!backward)
            r->value[l->output][i] = 0;
        for (size_t p = 0; p < plane; p++) {
            if (backward)
                r->gradient[l->input][i * plane + p] += r->gradient[l->output][i] / (double)plane;
            else
                r->value[l->output][i] += r->value[l->input][i * plane + p] / (double)plane;
        }
    }
}

static inline void reference_dropout(struct reference *r, const struct layer *l, bool backward)
{
    const double *factor = r->factor[l - r->net->layer];
    for (size_t i = 0; i < reference_floats(r, l->input); i++) {
        const double f = factor != NULL ? factor[i] : 1;
        if (backward)
            r->gradient[l->input][i] += f * r->gradient[l->output][i];
        else
            r->value[l->output][i] = f * r->value[l->input][i];
    }
}

static inline void reference_layer(struct reference *r, const struct layer *l, bool backward)
{
    switch (l->type) {
    case LAYER_PICTURE_CONVOLUTION:
    case LAYER_CONVOLUTION:
        if (backward)
            reference_convolution_backward(r, l);
        else
            reference_convolution_forward(r, l);
        break;
    case LAYER_MAX_POOL:
        reference_max_pool(r, l, backward);
        break;
    case LAYER_GROUP_NORM:
        if (backward)
            reference_group_norm_backward(r, l);
        else
            reference_group_norm_forward(r, l);
        break;
    case LAYER_AVERAGE:
        reference_average(r, l, backward);
        break;
    case LAYER_DROPOUT:
        reference_dropout(r, l, backward);
        break;
    default:
        abort(); /* the reference has the network of single layers; test_network.c the others */
    }
}

/* Mean cross-entropy; its gradient by the logits goes where backward starts. */
static inline double reference_loss(struct reference *r)
{
    const struct network *net = r->net;
    for (int i = 0; i < net->n_layers; i++)
        reference_layer(r, &net->layer[i], false);
    double loss = 0;
    for (size_t s = 0; s < r->n; s++) {
        const double *z = r->value[net->n_activations - 1] + s * net->classes;
        double *dz = r->gradient[net->n_activations - 1] + s * net->classes;
        double sum = 0;
        for (size_t j = 0; j < net->classes; j++)
            sum += exp(z[j]);
        loss += (log(sum) - z[r->label[s]]) / r->n;
        for (size_t j = 0; j < net->classes; j++)
            dz[j] = (exp(z[j]) / sum - (j == (size_t)r->label[s])) / r->n;
    }
    return loss;
}

/* Loss, and dw. */
static inline double reference_gradient(struct reference *r)
{
    const struct network *net = r->net;
    memset(r->dw, 0, net->n_weights * sizeof *r->dw);
    r->near_ties = 0;
    for (int a = 0; a < net->n_activations; a++)
        memset(r->gradient[a], 0, reference_floats(r, a) * sizeof(double));
    const double loss = reference_loss(r);
    for (int i = net->n_layers - 1; i >= 0; i--)
        reference_layer(r, &net->layer[i], true);
    return loss;
}

#endif
