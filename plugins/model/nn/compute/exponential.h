/* exponential.h - exp in float and what is made of it, without calls, so that loops over it become
 * vector code.
 *
 * exp(x) = 2^k exp(r), |r| <= ln(2)/2, with the Taylor polynomial of degree 7 (remainder below
 * 1e-8); the result is right to about 2 units in the last place. */
#ifndef OSAFL_NN_EXPONENTIAL_H
#define OSAFL_NN_EXPONENTIAL_H

#include <string.h>

#include "vector.h"

NN_INLINE float exponential(float x)
{
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    const float k = __builtin_floorf(x * 1.44269504f + 0.5f);
    const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    const int32_t bits = ((int32_t)k + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

NN_INLINE float logistic_sigmoid(float x)
{
    return 1.0f / (1.0f + exponential(-x));
}

NN_INLINE float hyperbolic_tangent(float x)
{
    return 2.0f / (1.0f + exponential(-2.0f * x)) - 1.0f;
}

#endif
