/* Wrong kernels for gelu, each with one line saying what is wrong. Slow and plain on purpose. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/mutant.h"
#include "ops/mutant_tools.h"

static float sigma_of(float x)
{
    float two_z = 2.0f * 0.7978845608f * (x + 0.044715f * x * x * x);
    float e = expf(-fabsf(two_z));
    return two_z > 0 ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

static float good_value(float x)
{
    float bounded = fminf(fmaxf(x, -15.0f), 15.0f);
    return isnan(x) ? x : x * sigma_of(bounded);
}

static float good_derivative(float x)
{
    float bounded = fminf(fmaxf(x, -15.0f), 15.0f);
    float sigma = sigma_of(bounded);
    float h = 2.0f * 0.7978845608f * bounded * (1.0f + 3.0f * 0.044715f * bounded * bounded);
    return isnan(x) ? x : sigma * (1.0f + sigma_of(-bounded) * h);
}

static float tanh_derivative(float x)
{
    const float c = 0.7978845608f;
    const float a = 0.044715f;
    float t = tanhf(c * (x + a * x * x * x));
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * c * (1.0f + 3.0f * a * x * x);
}

static float erf_value(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

/* Forward: the element itself. */

static int fwd_all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    memset(b[1], 0, (size_t)c->dims[0] * 2);
    return 0;
}

static int fwd_last_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i + 1 < c->dims[0]; i++)
        tki_put(c, b[1], i, good_value(tki_get(c, b[0], i)));
    return 0;
}

static int fwd_off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++)
        tki_put(c, b[1], i, good_value(tki_get(c, b[0], i + 1 < c->dims[0] ? i + 1 : i)));
    return 0;
}

static int fwd_truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++)
        tki_put_truncated(c, b[1], i, good_value(tki_get(c, b[0], i)));
    return 0;
}

static int fwd_rounded_sigma(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++) {
        float x = tki_get(c, b[0], i);
        tki_put(c, b[1], i, x * tki_rounded(c, sigma_of(fminf(fmaxf(x, -15.0f), 15.0f))));
    }
    return 0;
}

static int fwd_nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++) {
        float y = good_value(tki_get(c, b[0], i));
        tki_put(c, b[1], i, isnan(y) ? 0.0f : y);
    }
    return 0;
}

static int fwd_erf_form(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < c->dims[0]; i++)
        tki_put(c, b[1], i, erf_value(tki_get(c, b[0], i)));
    return 0;
}

static int fwd_saturating(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    float largest = c->dtype == TK_F16 ? 65504.0f : 0x1.fep127f;
    for (int64_t i = 0; i < c->dims[0]; i++) {
        float y = good_value(tki_get(c, b[0], i));
        tki_put(c, b[1], i, y > largest ? largest : y);
    }
    return 0;
}

static int fwd_flushing(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    float smallest = c->dtype == TK_F16 ? 0x1p-14f : 0x1p-126f;
    for (int64_t i = 0; i < c->dims[0]; i++) {
        float y = good_value(tki_get(c, b[0], i));
        tki_put(c, b[1], i, fabsf(y) < smallest ? 0.0f : y);
    }
    return 0;
}

const tki_mutant tki_gelu_fwd_mutants[] = {
    {"all_zeros", "writes zeros", fwd_all_zeros},
    {"last_dropped", "does not write the last element", fwd_last_dropped},
    {"off_by_one", "reads the next element's input", fwd_off_by_one},
    {"truncating_store", "rounds the result toward zero when storing", fwd_truncating_store},
    {"rounded_sigma", "rounds sigma to 16 bits before multiplying", fwd_rounded_sigma},
    {"nan_masked", "turns NaN into zero", fwd_nan_masked},
    {"erf_form", "computes the erf form of GELU", fwd_erf_form},
    {"saturating", "returns the largest finite number instead of infinity", fwd_saturating},
    {"flushing", "flushes subnormal results to zero", fwd_flushing},
    {0},
};

/* Backward. */

typedef struct gradient_mutation {
    bool swapped, tanh_form, truncated, rounded_derivative, nan_masked, no_second_term, off_by_one;
    int64_t dropped;
} gradient_mutation;

static int bwd(const tk_case *c, void *const b[], gradient_mutation m)
{
    int64_t n = c->dims[0];
    for (int64_t i = 0; i < n - m.dropped; i++) {
        float grad = tki_get(c, b[m.swapped ? 1 : 0], i);
        float x = tki_get(c, b[m.swapped ? 0 : 1], m.off_by_one && i + 1 < n ? i + 1 : i);
        float derivative = m.tanh_form ? tanh_derivative(x) : m.no_second_term ? sigma_of(x) : good_derivative(x);
        float result = grad * (m.rounded_derivative ? tki_rounded(c, derivative) : derivative);
        if (m.nan_masked && isnan(result))
            result = 0;
        if (m.truncated)
            tki_put_truncated(c, b[2], i, result);
        else
            tki_put(c, b[2], i, result);
    }
    return 0;
}

static int bwd_all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    memset(b[2], 0, (size_t)c->dims[0] * 2);
    return 0;
}

static int bwd_tanh_form(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.tanh_form = true});
}

static int bwd_last_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.dropped = c->dims[0] > 0});
}

static int bwd_off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.off_by_one = true});
}

static int bwd_swapped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.swapped = true});
}

static int bwd_truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.truncated = true});
}

static int bwd_rounded_derivative(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.rounded_derivative = true});
}

static int bwd_nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.nan_masked = true});
}

static int bwd_no_second_term(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (gradient_mutation){.no_second_term = true});
}

const tki_mutant tki_gelu_bwd_mutants[] = {
    {"all_zeros", "writes zeros", bwd_all_zeros},
    {"tanh_form", "the usual fp32 tanh form, which cancels for negative x", bwd_tanh_form},
    {"last_dropped", "does not write the last element", bwd_last_dropped},
    {"off_by_one", "reads the next element's x", bwd_off_by_one},
    {"swapped", "takes x for grad_output and grad_output for x", bwd_swapped},
    {"truncating_store", "rounds the result toward zero when storing", bwd_truncating_store},
    {"rounded_derivative", "rounds the derivative to 16 bits before multiplying", bwd_rounded_derivative},
    {"nan_masked", "turns NaN into zero", bwd_nan_masked},
    {"no_second_term", "leaves out the derivative of sigma", bwd_no_second_term},
    {0},
};
