/* aircomp.c - clients send at once, uncoded, and the channel adds up their updates (Zhu, Wang and
 * Huang 2020; Amiri and Guenduez 2020; ALGORITHMS.md 6).
 *
 * Truncated channel inversion: client k, whose gain g_k is known as h_k, sends the symbols
 * lambda a_k x_k / sqrt(h_k), so that lambda sum of sqrt(g_k / h_k) a_k x_k + z arrives; z is the
 * receiver's noise, of power noise_w in each symbol. lambda is the largest with which every client
 * keeps to its power p_k:
 *
 *     lambda^2 = min over k of p_k h_k / (a_k^2 ||x_k||^2 / N)
 *     w <- w + eta_g (sum of sqrt(g_k / h_k) a_k x_k + z / lambda)
 *
 * Clients that are known to be far below the median gain stay silent: all others would have to send
 * as weakly as they. */
#include <math.h>
#include <string.h>

#include "osafl/aggregator.h"
#include "osafl/random.h"
#include "shared/participants.h"

/* Noise is drawn for this many elements at a time. */
#define TILE 256

struct config {
    double truncation_db;
    double server_learning_rate;
};

enum { METRIC_NOISE, METRIC_SILENT };

static const osafl_metric metrics[] = {
    {"noise_deviation", NULL, "Standard deviation of the noise in each element of the mean update",
     OSAFL_PER_ROUND, OSAFL_LOWER},
    {"silent", "clients", "Clients that the truncation left out", OSAFL_PER_ROUND, 0},
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The gain in the middle of the round's, or the upper one of two; sorted: [n]. */
static double median_gain(const osafl_updates *u, double *sorted)
{
    memcpy(sorted, u->gain, u->n * sizeof *sorted);
    qsort(sorted, u->n, sizeof *sorted, compare);
    return sorted[u->n / 2];
}

/* a_k over those who are heard, 0 for the others; returns how many are silent. */
static uint32_t weigh(const osafl_updates *u, double truncation_db, double *weight)
{
    double total = 0.0;
    uint32_t silent = 0;
    const double least = median_gain(u, weight) * pow(10.0, -truncation_db / 10.0);
    for (uint32_t k = 0; k < u->n; k++) {
        const bool heard = u->gain[k] >= least && u->gain[k] > 0.0 && u->power_w[k] > 0.0;
        weight[k] = heard ? u->alpha[k] : 0.0;
        total += weight[k];
        silent += !heard;
    }
    for (uint32_t k = 0; k < u->n && total > 0.0; k++)
        weight[k] /= total;
    return silent;
}

/* sqrt(noise_w) / lambda */
static osafl_status find_noise(const osafl_host *h, osafl_call *c, const osafl_updates *u,
                               const double *weight, double *deviation)
{
    double *square = h->scratch(c, (uint64_t)u->n * sizeof *square);
    if (square == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(u->ops->squared_norms(u, 0, square));
    *deviation = 0.0;
    for (uint32_t k = 0; k < u->n; k++) {
        if (weight[k] == 0.0)
            continue;
        const double symbol = weight[k] * sqrt(square[k] / (double)u->dim);
        const double noise = sqrt(u->noise_w / u->gain[k] / u->power_w[k]);
        *deviation = fmax(*deviation, symbol * noise);
    }
    return OSAFL_OK;
}

static void add_noise(const osafl_host *h, osafl_call *c, const osafl_updates *u, double deviation,
                      float *w)
{
    for (uint64_t begin = 0; begin < u->dim; begin += TILE) {
        uint32_t word[4 * TILE];
        const uint64_t n = u->dim - begin < TILE ? u->dim - begin : TILE;
        h->random_fill(c, 0, OSAFL_NO_CLIENT, u->round, begin / TILE, word, 4 * n);
        for (uint64_t i = 0; i < n; i++)
            w[begin + i] = (float)((double)w[begin + i] + deviation * osafl_normal(&word[4 * i]));
    }
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    double *weight = r->host->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (weight == NULL)
        return OSAFL_E_NOMEM;
    double deviation;
    const uint32_t silent = weigh(u, config->truncation_db, weight);
    OSAFL_TRY(find_noise(r->host, c, u, weight, &deviation));
    r->host->metric(c, METRIC_NOISE, OSAFL_NO_CLIENT, deviation);
    r->host->metric(c, METRIC_SILENT, OSAFL_NO_CLIENT, silent);
    for (uint32_t k = 0; k < u->n; k++)
        if (weight[k] > 0.0)
            weight[k] *= config->server_learning_rate * sqrt(u->channel_gain[k] / u->gain[k]);
    OSAFL_TRY(u->ops->add(u, 0, weight, w));
    if (deviation > 0.0)
        add_noise(r->host, c, u, config->server_learning_rate * deviation, w);
    return OSAFL_OK;
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, truncation_db, 20, 0, 300,
               "Clients whose gain is more than this below the median of the round are silent",
               .unit = "dB"),
    OSAFL_REAL(struct config, server_learning_rate, 1, 0, 1e6,
               "Factor of the server's step; 1 is FedAvg", .flags = OSAFL_P_LO_OPEN),
};

static const char *const features[] = {"scale_free", "analog", NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .create = stateless_create,
             .destroy = free},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "aircomp",
    .version = "1.0.0",
    .summary = "Lets the channel add up analog updates, with the noise of the receiver",
    .cite =
        "Zhu, Wang, Huang: Broadband Analog Aggregation for Low-Latency Federated Edge Learning, "
        "IEEE Trans. Wireless Commun. 19(1), 2020; Amiri, Gunduz: Federated Learning over "
        "Wireless Fading Channels, the same 19(5), 2020",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
