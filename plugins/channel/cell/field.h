/* field.h - a standard normal number at each point of a plane, alike at points that are near: a
 * Gaussian random field of covariance exp(-distance / decorrelation distance). */
#ifndef OSAFL_CHANNEL_FIELD_H
#define OSAFL_CHANNEL_FIELD_H

#include "cell.h"

enum { FIELD_WAVES = 128 };

struct field {
    double x_per_m[FIELD_WAVES]; /* wave vectors */
    double y_per_m[FIELD_WAVES];
    double phase[FIELD_WAVES];
};

void field_draw(const struct cell_source *s, uint32_t stream, double decorrelation_m,
                struct field *out);
double field_at(const struct field *f, double x_m, double y_m);
/* Uniform in [0, 1) instead: the normal distribution function of the number. */
double field_uniform_at(const struct field *f, double x_m, double y_m);

#endif
