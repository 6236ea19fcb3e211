/* field.c - a random field as a sum of sinusoids (Cai and Giannakis 2003). */
#include "field.h"

#include <math.h>

#include "osafl/random.h"

void field_draw(const struct cell_source *s, uint32_t stream, double decorrelation_m,
                struct field *out)
{
    for (uint32_t n = 0; n < FIELD_WAVES; n++) {
        uint32_t word[6];
        s->fill(s, stream, OSAFL_NO_CLIENT, n, word, 6);
        /* The spectrum of exp(-r / d) in a plane has 1 / sqrt(1 + (k d)^2) of its power above the
         * wave number k; each wave has an equal part of it. */
        const double above = ((double)(FIELD_WAVES - n) - osafl_uniform(word)) / FIELD_WAVES;
        const double per_m = sqrt(1.0 / (above * above) - 1.0) / decorrelation_m;
        const double angle = CELL_TWO_PI * osafl_uniform(word + 2);
        out->x_per_m[n] = per_m * cos(angle);
        out->y_per_m[n] = per_m * sin(angle);
        out->phase[n] = CELL_TWO_PI * osafl_uniform(word + 4);
    }
}

double field_at(const struct field *f, double x_m, double y_m)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < FIELD_WAVES; n++)
        sum += cos(f->x_per_m[n] * x_m + f->y_per_m[n] * y_m + f->phase[n]);
    return sum * sqrt(2.0 / FIELD_WAVES);
}

double field_uniform_at(const struct field *f, double x_m, double y_m)
{
    return fmin(0.5 * erfc(-field_at(f, x_m, y_m) / sqrt(2.0)), 1.0 - 0x1p-53);
}
