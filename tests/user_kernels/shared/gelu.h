/* GELU and its derivative, as several authors compute them. */
#ifndef STRANGERS_GELU_H
#define STRANGERS_GELU_H
#include "kernel.h"
static double gelu_in_double(double v) { return v / (1 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v))); }
static inline float sigma2z(float v, float *other) {
    const float b = v > 15 ? 15 : v < -15 ? -15 : v;
    const float t = 1.5957691216f * (b + 0.044715f * b * b * b), e = expf(-fabsf(t)), r = 1 / (1 + e);
    if (other) *other = t > 0 ? e * r : r;
    return t > 0 ? r : e * r;
}
static inline float dgelu(float v) {
    if (v == -INFINITY) return NAN;
    const double x = v > 40.0f ? 40.0 : v < -40.0f ? -40.0 : v;
    const double t = 1.5957691216057308 * x * (1.0 + 0.044715 * x * x);
    const double s = 1.0 / (1.0 + exp(-t)), o = 1.0 / (1.0 + exp(t));
    return (float)(s + s * o * 1.5957691216057308 * x * (1.0 + 0.134145 * x * x));
}
static double derivative(double v) {
    if (v > 20 || v < -20) return v > 0;
    const double c = 0.79788456080286535588, a = 0.044715, e = exp(-2 * c * (v + a * v * v * v));
    return (1 + 2 * c * v * (1 + 3 * a * v * v) * e / (1 + e)) / (1 + e);
}
static float gelu_of_abs(float v) {
    const double x = v;
    const double e = exp(-1.5957691216057308 * fabs(x) * (1 + 0.044715 * x * x));
    return (float)(x < 0 ? x * (e / (1 + e)) : x / (1 + e));
}
static float slope1(float x) {
    const float c = x > 16.0f ? 16.0f : x < -16.0f ? -16.0f : x; /* a NaN stays */
    const float t = 1.5957691216057308f * c * (1.0f + 0.044715f * c * c);
    const float s = 1.0f / (1.0f + expf(-t)), r = 1.0f / (1.0f + expf(t));
    const float h = 1.5957691216057308f * c * (1.0f + 0.134145f * c * c);
    return s * (1.0f + r * h);
}
static inline float gelu_rounded(float v) {
    const double x = v;
    return (float)(x / (1.0 + exp(-1.5957691216057308 * x * (1.0 + 0.044715 * x * x))));
}
static float gelu1(float x) {
    const float t = 1.5957691216057308f * x * (1.0f + 0.044715f * x * x);
    return x / (1.0f + expf(-t));
}
static double slope_in_double(double x) {
    if (isinf(x)) return x > 0 ? 1.0 : 0.0;
    const double z2 = 1.5957691216057308 * x * (1.0 + 0.044715 * x * x);
    const double h = 1.5957691216057308 * x * (1.0 + 0.134145 * x * x);
    return 1.0 / (1.0 + exp(-z2)) * (1.0 + 1.0 / (1.0 + exp(z2)) * h);
}
#endif
