/* mix_measures.c - how good is the model for the labels that come now, and came before? */
#include "mix_measures.h"

#include <math.h>
#include <stdlib.h>

bool mix_measures_create(const struct session *s, struct mix_measures *m)
{
    *m = (struct mix_measures){.rounds = s->facts.rounds, .labels = s->dataset.labels};
    m->mix = calloc(m->rounds, m->labels * sizeof *m->mix);
    m->best = calloc(m->rounds, sizeof *m->best);
    return m->mix != NULL && m->best != NULL;
}

void mix_measures_destroy(struct mix_measures *m)
{
    free(m->mix);
    free(m->best);
    *m = (struct mix_measures){0};
}

/* NAN where the split has no sample of a label of the mix, and for a mix of nothing. */
static double weigh(const struct session *s, const struct evaluation *e, const double *mix)
{
    double sum = 0.0;
    double weight = 0.0;
    for (uint32_t l = 0; l < s->dataset.labels; l++) {
        if (mix[l] > 0.0)
            sum += mix[l] * e->label_mean[(size_t)l * s->model.n_measures];
        weight += mix[l];
    }
    return sum / weight;
}

void mix_measures_add(const struct session *s, const struct world *world,
                      const struct evaluation *e, struct mix_measures *m)
{
    /* Less is better of a loss: turned round, the worst is the smallest of both. */
    const double sign = s->model.measures[0].better != OSAFL_LOWER ? 1.0 : -1.0;
    double worst = INFINITY;
    double forgotten = 0.0;
    world_present_mix(world, m->mix + m->n * m->labels);
    m->best[m->n] = -INFINITY;
    m->n++;
    for (uint64_t k = 0; k < m->n; k++) {
        const double value = sign * weigh(s, e, m->mix + k * m->labels);
        m->best[k] = fmax(m->best[k], value); /* a NAN is no value */
        worst = value < worst || isnan(value) ? value : worst;
        forgotten += m->best[k] - value;
        m->value[MIX_PRESENT] = sign * value;
    }
    m->value[MIX_WORST] = sign * worst;
    m->value[MIX_FORGETTING] = m->n > 1 ? forgotten / (double)(m->n - 1) : (double)NAN;
}

osafl_status mix_measures_save(const struct mix_measures *m, osafl_writer *w)
{
    OSAFL_TRY(w->f64(w, "mix", m->mix, m->n * m->labels));
    return w->f64(w, "best", m->best, m->n);
}

osafl_status mix_measures_load(struct mix_measures *m, osafl_reader *r)
{
    OSAFL_TRY(r->count(r, "best", &m->n));
    if (m->n > m->rounds)
        return OSAFL_E_STATE;
    OSAFL_TRY(r->f64(r, "mix", m->mix, m->n * m->labels));
    return r->f64(r, "best", m->best, m->n);
}
