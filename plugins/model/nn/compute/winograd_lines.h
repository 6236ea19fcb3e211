/* winograd_lines.h - the one-dimensional transforms of F(4, 3) minimal filtering.
 *
 * Lavin & Gray, CVPR 2016: with d a 6x6 patch of the input, g a 3x3 filter and y the 4x4 outputs,
 *     y = A' [(G g G') . (B' d B)] A        ("." elementwise, summed over input channels)
 * Each function applies one of the matrices to a line; applied to lines and then to columns they
 * are the two-dimensional transforms.  step: from one result to the next. */
#ifndef OSAFL_NN_WINOGRAD_LINES_H
#define OSAFL_NN_WINOGRAD_LINES_H

#include "vector.h"

enum { ELEMENTS = 36, TILE = 4, PATCH = 6, TAPS = 9 };

/* B' of one line of a patch. */
NN_INLINE void patch_line(const vec d[PATCH], vec *t, int step)
{
    const vec a = d[4] - 4.0f * d[2];
    const vec b = d[3] - 4.0f * d[1];
    const vec e = d[4] - d[2];
    const vec f = 2.0f * (d[3] - d[1]);
    t[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
    t[step] = a + b;
    t[2 * step] = a - b;
    t[3 * step] = e + f;
    t[4 * step] = e - f;
    t[5 * step] = 4.0f * d[1] - 5.0f * d[3] + d[5];
}

/* A' of one line of 6 elements: 4 outputs. */
NN_INLINE void output_line(const vec m[PATCH], vec *y, int step)
{
    const vec a = m[1] + m[2];
    const vec b = m[1] - m[2];
    const vec c = m[3] + m[4];
    const vec d = m[3] - m[4];
    y[0] = m[0] + a + c;
    y[step] = b + 2.0f * d;
    y[2 * step] = a + 4.0f * c;
    y[3 * step] = b + 8.0f * d + m[5];
}

/* A of one line of 4 output gradients: 6 elements. */
NN_INLINE void gradient_line(const vec y[TILE], vec *m, int step)
{
    const vec a = y[0] + y[2];
    const vec b = y[1] + y[3];
    const vec c = y[0] + 4.0f * y[2];
    const vec d = 2.0f * y[1] + 8.0f * y[3];
    m[0] = y[0];
    m[step] = a + b;
    m[2 * step] = a - b;
    m[3 * step] = c + d;
    m[4 * step] = c - d;
    m[5 * step] = y[3];
}

/* G of one line of 3 taps: 6 elements. */
NN_INLINE void filter_line(const vec g[3], vec *u, int step)
{
    const vec a = (-1.0f / 6) * (g[0] + g[2]);
    const vec b = (1.0f / 6) * g[1];
    const vec c = (1.0f / 24) * g[0] + (1.0f / 6) * g[2];
    const vec d = (1.0f / 12) * g[1];
    u[0] = 0.25f * g[0];
    u[step] = a - b;
    u[2 * step] = a + b;
    u[3 * step] = c + d;
    u[4 * step] = c - d;
    u[5 * step] = g[2];
}

/* G' of one line of 6 elements: 3 taps. */
NN_INLINE void filter_gradient_line(const vec u[PATCH], vec *g, int step)
{
    const vec a = u[1] + u[2];
    const vec b = u[2] - u[1];
    const vec c = u[3] + u[4];
    const vec d = u[3] - u[4];
    g[0] = 0.25f * u[0] - (1.0f / 6) * a + (1.0f / 24) * c;
    g[step] = (1.0f / 6) * b + (1.0f / 12) * d;
    g[2 * step] = (1.0f / 6) * (c - a) + u[5];
}

#endif
