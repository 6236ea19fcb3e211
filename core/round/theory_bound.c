/* theory_bound.c - the convergence bound of one round, computed from its parts. */
#include "theory_bound.h"

#include <math.h>

/* Sums over the clients; x = alpha delta, p = v (1 + q - v). */
struct sums {
    double score;     /* x */
    double absent;    /* alpha (delta (1 - v))^2: S1 */
    double present;   /* alpha (v delta)^2 */
    double present_k; /* ... kappa */
    double present_kk;
    double noise; /* p x^2: S2 */
    double noise_k;
    double noise_kk;
    double noise_kkk;
    double steps; /* v x^2 / kappa */
    double kappa; /* largest */
};

static struct sums add_up(const struct theory_facts *f)
{
    struct sums s = {0};
    for (size_t i = 0; i < f->n; i++) {
        const struct theory_client *c = &f->client[i];
        const double x = c->alpha * c->delta;
        const double away = c->delta * (1.0 - c->v);
        const double here = c->delta * c->v;
        const double noise = c->v * (1.0 + f->q - c->v) * x * x;
        s.score += x;
        s.absent += c->alpha * away * away;
        s.present += c->alpha * here * here;
        s.present_k += c->alpha * here * here * c->kappa;
        s.present_kk += c->alpha * here * here * c->kappa * c->kappa;
        s.noise += noise;
        s.noise_k += noise * c->kappa;
        s.noise_kk += noise * c->kappa * c->kappa;
        s.noise_kkk += noise * c->kappa * c->kappa * c->kappa;
        s.steps += c->v * x * x / c->kappa;
        if (x > 0.0)
            s.kappa = fmax(s.kappa, c->kappa);
    }
    return s;
}

/* beta_t: of what stands for f^t; the last term of it without eta_gl where `printed`. */
static double omega_sigma(const struct theory_facts *f, const struct sums *s, double beta_t,
                          bool printed)
{
    const double ef2 = f->eta_ef * f->eta_ef;
    const double lo2 = f->eta_lo * f->eta_lo;
    const double beta2 = f->beta * f->beta;
    return 2.0 * (2.0 + f->q) * beta_t * f->eta_gl * f->eta_lo * f->sigma2 * ef2 * s->steps +
           8.0 * f->eta_ef * beta2 * f->sigma2 * lo2 * s->present_k +
           24.0 * f->sigma2 * (printed ? 1.0 : f->eta_gl) * ef2 * beta_t * beta2 * lo2 * f->eta_lo *
               s->noise_kk;
}

static double omega_varpi(const struct theory_facts *f, const struct sums *s, double beta_t)
{
    const double ef2 = f->eta_ef * f->eta_ef;
    const double lo2 = f->eta_lo * f->eta_lo;
    const double beta2 = f->beta * f->beta;
    return 4.0 * f->eta_ef * f->varpi2 * s->absent +
           48.0 * f->eta_ef * beta2 * f->varpi2 * lo2 * s->present_kk +
           6.0 * beta_t * f->eta_gl * f->eta_lo * ef2 * f->varpi2 * s->noise_k +
           144.0 * f->eta_gl * f->varpi2 * ef2 * beta_t * beta2 * lo2 * f->eta_lo * s->noise_kkk;
}

/* 1, 0, or NAN where a side is not known. */
static double holds(double small, double large)
{
    return isnan(small) || isnan(large) ? (double)NAN : small < large;
}

static void find_conditions(const struct theory_facts *f, const struct sums *s,
                            struct theory_bound *b)
{
    const double beta2 = f->beta * f->beta;
    const double lo2 = f->eta_lo * f->eta_lo;
    b->step_small = holds(f->eta_gl * f->eta_lo, 1.0 / (f->beta * f->eta_ef));
    b->rate_small = holds(f->eta_lo, 1.0 / (8.0 * f->beta * s->kappa));
    b->slack = 4.0 - 16.0 * s->absent - 33.0 * s->kappa * s->noise;
    b->scores_small = holds(192.0 * s->kappa * s->kappa * beta2 * s->present * lo2, b->slack);
    b->t6 = 1.0 - 4.0 * s->absent - 48.0 * s->kappa * s->kappa * beta2 * lo2 * s->present -
            33.0 / 4.0 * s->kappa * s->noise;
}

static void repair(const struct theory_facts *f, const struct sums *s, struct theory_bound *b)
{
    const double beta_f = f->beta * fmax(1.0, s->score);
    const double step = f->eta_gl * f->eta_lo * f->eta_ef;
    const double beta2 = f->beta * f->beta;
    const double lo2 = f->eta_lo * f->eta_lo;
    b->t6_repaired = 1.0 - 4.0 * s->absent - 48.0 * beta2 * lo2 * s->present_kk -
                     6.0 * beta_f * step * s->noise_k -
                     144.0 * beta_f * beta2 * step * lo2 * s->noise_kkk;
    b->rhs_repaired = b->descent + omega_sigma(f, s, beta_f, false) + omega_varpi(f, s, beta_f);
    b->repaired_applies = isnan(b->t6_repaired) || isnan(b->rate_small)
                              ? (double)NAN
                              : step * beta_f <= 1.0 && b->rate_small > 0.0 && b->t6_repaired > 0.0;
}

struct theory_bound theory_bound(const struct theory_facts *f)
{
    const struct sums s = add_up(f);
    struct theory_bound b = {
        .sum_score = s.score,
        .kappa = s.kappa,
        .lhs = f->eta_ef * f->gradient2,
        .descent = 2.0 * (f->value - f->expected) / (f->eta_gl * f->eta_lo),
        .omega_sigma = omega_sigma(f, &s, f->beta, false),
        .omega_sigma_printed = omega_sigma(f, &s, f->beta, true),
        .omega_varpi = omega_varpi(f, &s, f->beta),
    };
    b.rhs = b.descent + b.omega_sigma + b.omega_varpi;
    b.rhs_printed = b.descent + b.omega_sigma_printed + b.omega_varpi;
    find_conditions(f, &s, &b);
    repair(f, &s, &b);
    return b;
}

bool theory_conditions_hold(const struct theory_bound *b)
{
    return b->step_small > 0.0 && b->rate_small > 0.0 && b->scores_small > 0.0;
}
