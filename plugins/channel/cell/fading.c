/* fading.c - Rayleigh and Rician fading by a sum of sinusoids. */
#include "fading.h"

#include <math.h>

#include "cell.h"
#include "osafl/random.h"

enum { WAVES = 32, WORDS = 4 };

/* The phase of a wave that comes from `angle` (a share of the circle), in rad. */
static double phase_of(const struct fading *f, uint32_t round, double angle, double start)
{
    return CELL_TWO_PI * (f->cycles * (double)round * cos(CELL_TWO_PI * angle) + start);
}

double fading_gain(const struct fading *f, osafl_call *c, uint32_t client, uint32_t round,
                   bool in_sight)
{
    uint32_t word[(WAVES + 1) * WORDS];
    f->host->random_fill(c, CELL_STREAM_FADING, client, 0, 0, word, (WAVES + 1) * WORDS);
    double re = 0.0;
    double im = 0.0;
    /* One wave from each of as many sectors: averaged over the angles, their correlation is
     * J0(2 pi cycles rounds) exactly. */
    for (uint32_t n = 0; n < WAVES; n++) {
        const uint32_t *w = &word[n * WORDS];
        const double angle = ((double)n + osafl_uniform(w)) / WAVES;
        const double phase = phase_of(f, round, angle, osafl_uniform(w + 2));
        re += cos(phase);
        im += sin(phase);
    }
    if (f->kind == FADING_RAYLEIGH || (f->kind == FADING_SIGHT && !in_sight))
        return (re * re + im * im) / WAVES;
    const uint32_t *w = &word[WAVES * WORDS];
    const double direct = phase_of(f, round, osafl_uniform(w), osafl_uniform(w + 2));
    const double share = f->k / (f->k + 1.0); /* of the direct path */
    const double scattered = sqrt((1.0 - share) / WAVES);
    re = sqrt(share) * cos(direct) + scattered * re;
    im = sqrt(share) * sin(direct) + scattered * im;
    return re * re + im * im;
}
