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

/* Phi(x) of the normal distribution; bell = exp(-x^2 / 2).
 *
 * With t = 1 / (1 + p z), z = |x| / sqrt(2), the tail is erfc(z) / 2 = exp(-z^2) P(t) / 2 (the form
 * of Hastings; Abramowitz & Stegun 7.1.26). P is of degree 8, with the least relative error for z
 * up to 9.2, 1e-7; in float the tail is right to 3e-7 of itself and what the bell has lost. */
NN_INLINE float normal_share(float x, float bell)
{
    const float z = (x < 0 ? -x : x) * 0.707106781f;
    const float t = 1.0f / (1.0f + 0.3275911f * z);
    float p = -0.142289022f;
    p = p * t + 0.501583413f;
    p = p * t - 0.414464634f;
    p = p * t + 0.461275744f;
    p = p * t + 0.0210636273f;
    p = p * t + 0.207263282f;
    p = p * t + 0.180498666f;
    p = p * t + 0.185069017f;
    const float tail = 0.5f * p * t * bell;
    return x < 0 ? tail : 1.0f - tail;
}

NN_INLINE float hyperbolic_tangent(float x)
{
    return 2.0f / (1.0f + exponential(-2.0f * x)) - 1.0f;
}

#endif
