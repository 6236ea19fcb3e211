/* dirichlet.c - every client's mix is a draw of a Dirichlet distribution over the labels that have
 * samples, C of them.
 *
 * With concentration a and shares s_l of the labels in the training split, the parameter of label l
 * is a in the symmetric form and a C s_l in the weighted one, which are the same where all shares
 * are.  The mean of a mix is flat in the first and s in the second; both have sum a C, so that with
 * larger a mixes come close to their mean. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "osafl/partition.h"
#include "osafl/random.h"
#include "shared/labels.h"

/* Attempts of a rejection loop.  One succeeds with probability above 0.95, so that all fail with
 * probability 1e-83; the mode of the distribution is taken then. */
#define ATTEMPTS 64

enum { FORM_SYMMETRIC, FORM_WEIGHTED };
static const char *const forms[] = {"symmetric", "weighted", NULL};

/* Larger concentrations change no mix, and their multiples overflow. */
#define CONCENTRATION_MOST 1e200
/* From here on each mix is one label, and the inverses of smaller ones overflow. */
#define CONCENTRATION_LEAST 1e-300

struct settings {
    double concentration;
    osafl_choice form;
};

static const osafl_param params[] = {
    OSAFL_REAL(
        struct settings, concentration, 0.3, 0.0, DBL_MAX,
        "Concentration of the Dirichlet distribution; the smaller, the more the clients differ",
        .flags = OSAFL_P_LO_OPEN),
    OSAFL_CHOICE(struct settings, form, FORM_SYMMETRIC, forms,
                 "Mean of the mixes: equal for all labels, whatever their shares in the data, or "
                 "weighted by these shares",
                 .flags = OSAFL_P_LATER),
};

struct dirichlet {
    const osafl_host *host;
    const struct settings *settings;
    const double *share;
    uint32_t labels;
    uint32_t with_samples; /* of them */
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    OSAFL_TRY(labels_required(h, c, facts));
    struct dirichlet *p = malloc(sizeof *p);
    if (p == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *p = (struct dirichlet){.host = h,
                            .settings = config,
                            .share = facts->label_share,
                            .labels = facts->dataset->labels,
                            .with_samples = labels_with_samples(facts)};
    *self = p;
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self;
    (void)c;
    out->gives = OSAFL_PARTITION_MIX;
    return OSAFL_OK;
}

/* Logarithm of a Gamma(shape, 1) variate: Marsaglia and Tsang 2000.  A shape below 1 is raised by
 * one and pulled back by U^(1/shape), here in the logarithm, because for small shapes the variate
 * itself underflows to 0 with all its companions. */
static double log_gamma_variate(const struct dirichlet *p, osafl_call *call, uint32_t client,
                                uint32_t draw, uint32_t label, double shape)
{
    const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
    const double c = 1.0 / sqrt(9.0 * d);
    double log_v = 0.0;
    double boost = 0.0;
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t word[8];
        p->host->random_fill(call, 0, client, draw, label * (uint64_t)ATTEMPTS + attempt, word, 8);
        if (attempt == 0 && shape < 1.0)
            boost = log(osafl_uniform(word + 6) + 0x1p-54) / shape;
        const double x = osafl_normal(word);
        const double root = 1.0 + c * x;
        if (root <= 0.0)
            continue;
        const double candidate = 3.0 * log(root);
        const double bound = 0.5 * x * x + d * (1.0 - root * root * root + candidate);
        if (log(osafl_uniform(word + 4)) < bound) {
            log_v = candidate;
            break;
        }
    }
    return fmax(log(d) + log_v + boost, -DBL_MAX);
}

static double parameter_of(const struct dirichlet *p, uint32_t label)
{
    const double concentration = p->settings->concentration;
    if (p->settings->form.index == FORM_SYMMETRIC)
        return fmax(concentration, CONCENTRATION_LEAST);
    return fmax(fmin(concentration, CONCENTRATION_MOST) * p->with_samples * p->share[label],
                DBL_TRUE_MIN);
}

static osafl_status mix_of(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix)
{
    const struct dirichlet *p = self;
    double largest = -HUGE_VAL;
    for (uint32_t l = 0; l < p->labels; l++) {
        if (p->share[l] <= 0.0)
            continue;
        mix[l] = log_gamma_variate(p, c, client, draw, l, parameter_of(p, l));
        largest = fmax(largest, mix[l]);
    }
    double sum = 0.0;
    for (uint32_t l = 0; l < p->labels; l++) {
        mix[l] = p->share[l] > 0.0 ? exp(mix[l] - largest) : 0.0;
        sum += mix[l]; /* at least 1: the largest one is exp(0) */
    }
    for (uint32_t l = 0; l < p->labels; l++)
        mix[l] /= sum;
    return OSAFL_OK;
}

static const osafl_partition_vt vtable = {
    .life = {.struct_size = sizeof(osafl_partition_vt), .create = create, .destroy = free},
    .describe = describe,
    .mix = mix_of,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_PARTITION,
    .name = "dirichlet",
    .version = "1.0.0",
    .summary = "Draws each client's label mix from a Dirichlet distribution",
    .cite = "Hsu, Qi and Brown, Measuring the Effects of Non-Identical Data Distribution, 2019",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
