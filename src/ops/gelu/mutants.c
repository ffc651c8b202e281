/* CHOOSES. Wrong kernels for gelu, each with one line saying what is wrong. Slow and plain on purpose. */
#include <math.h>

#include "ops/mutant_tools.h"

#define CUBIC 0.044715f
#define ROOT 0.7978845608f /* sqrt(2/pi) */
#define FAR 15.0f          /* beyond it sigma is 0 or 1 in fp32 */

/* All clear is right, whichever of the two it is. */
typedef struct mutation {
    tki_store store;
    bool swapped, off_by_one, no_second_term, cube_factor_lost, poor_exp, rounded_sigma, rounded_derivative;
    bool rounded_cube, clipped, cut_at_4, distributed, tanh_form, erf_form, quick_form, adding, one_in_a_million;
    float cubic, root;         /* another constant, if not 0 */
    int64_t dropped, multiple; /* elements at the end; what is left after the last multiple */
    int64_t most_elements;     /* elements beyond are not written, if not 0 */
} mutation;

/* (1 + x/1024)^1024 */
static float poor_exp(float x)
{
    float power = 1.0f + x / 1024.0f;
    for (int i = 0; i < 10; i++)
        power *= power;
    return x < -1024.0f ? 0.0f : power;
}

static float two_z_of(const tk_case *c, const mutation *m, float x)
{
    float root = m->root != 0 ? m->root : ROOT;
    float cubic = m->cubic != 0 ? m->cubic : CUBIC;
    if (m->quick_form)
        return 1.702f * x;
    float cube = cubic * x * x * x;
    return 2.0f * root * (x + (m->rounded_cube ? tki_rounded(c, cube) : cube));
}

static float sigma_of(const tk_case *c, const mutation *m, float x)
{
    float two_z = two_z_of(c, m, x);
    float e = m->poor_exp ? poor_exp(-fabsf(two_z)) : expf(-fabsf(two_z));
    return two_z > 0 ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

static float bounded(float x)
{
    return fminf(fmaxf(x, -FAR), FAR);
}

static float value_of(const tk_case *c, const mutation *m, float x)
{
    if (isnan(x))
        return x;
    if (m->erf_form)
        return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    if (m->tanh_form)
        return 0.5f * x * (1.0f + tanhf(0.5f * two_z_of(c, m, x)));
    if (m->cut_at_4 && fabsf(x) > 4)
        return x > 0 ? x : 0;
    if (m->clipped)
        x = fminf(fmaxf(x, -10.0f), 10.0f);
    float sigma = sigma_of(c, m, bounded(x));
    return x * (m->rounded_sigma ? tki_rounded(c, sigma) : sigma);
}

static float derivative_of(const tk_case *c, const mutation *m, float x)
{
    float near = bounded(x);
    float slope = m->cube_factor_lost ? CUBIC : 3.0f * (m->cubic != 0 ? m->cubic : CUBIC);
    float h = 2.0f * (m->root != 0 ? m->root : ROOT) * near * (1.0f + slope * near * near);
    if (isnan(x))
        return x;
    if (m->tanh_form) {
        float t = tanhf(0.5f * two_z_of(c, m, x));
        return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * ROOT * (1.0f + slope * x * x);
    }
    if (m->quick_form)
        h = 1.702f * near;
    if (m->cut_at_4 && fabsf(x) > 4)
        return x > 0 ? 1 : 0;
    float sigma = sigma_of(c, m, near);
    float derivative = m->no_second_term ? sigma : sigma * (1.0f + sigma_of(c, m, -near) * h);
    return m->rounded_derivative ? tki_rounded(c, derivative) : derivative;
}

static float gradient_of(const tk_case *c, const mutation *m, float grad, float x)
{
    float derivative = derivative_of(c, m, x);
    if (!m->distributed)
        return grad * derivative;
    float sigma = sigma_of(c, m, bounded(x));
    return grad * sigma + grad * (derivative - sigma);
}

/* The place alone decides: a defect of the memory path rather than of the arithmetic. */
static bool is_one_in_a_million(int64_t i)
{
    return i % 1000003 == 777777;
}

static int run_all(const tk_case *c, void *const b[], void *run, bool forward)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    int64_t n = c->dims[0];
    const void *x = forward || m->swapped ? b[0] : b[1];
    const void *grad = m->swapped ? b[1] : b[0];
    void *out = b[forward ? 1 : 2];
    if (m->most_elements && n > m->most_elements)
        n = m->most_elements;
    for (int64_t i = 0; i < n - m->dropped - tki_tail(n, m->multiple); i++) {
        float element = tki_get(c, x, m->off_by_one && i + 1 < n ? i + 1 : i);
        float result = forward ? value_of(c, m, element) : gradient_of(c, m, tki_get(c, grad, i), element);
        if (m->adding)
            result += tki_get_result(c, out, i);
        if (m->one_in_a_million && is_one_in_a_million(i))
            result = 0;
        tki_put_as(c, out, i, result, m->store);
    }
    return 0;
}

static int fwd(const tk_case *c, void *const b[], void *run)
{
    return run_all(c, b, run, true);
}

static int bwd(const tk_case *c, void *const b[], void *run)
{
    return run_all(c, b, run, false);
}

#define FWD(...) TKI_PLANTED(fwd, mutation, __VA_ARGS__)
#define BWD(...) TKI_PLANTED(bwd, mutation, __VA_ARGS__)

/* `--level exhaustive` proves these right for every input of 8 bits. */
#define IN_E4M3 (1u << TK_F8_E4M3)
#define IN_8_BITS (1u << TK_F8_E4M3 | 1u << TK_F8_E5M2)

const tki_mutant tki_gelu_fwd_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"last_dropped", "does not write the last element", FWD(.dropped = 1)},
    {"tail_dropped", "does not write the elements after the last multiple of 8", FWD(.multiple = 8)},
    {"off_by_one", "reads the next element's input", FWD(.off_by_one = true)},
    {"adding", "adds to what the output held", FWD(.adding = true)},
    {"truncating_store", "rounds the result toward zero when storing", FWD(.store = TKI_STORE_TRUNCATED)},
    {"outward_store", "rounds the result away from zero when storing", FWD(.store = TKI_STORE_OUTWARD)},
    {"rounded_sigma", "rounds sigma to 16 bits before multiplying", FWD(.rounded_sigma = true)},
    {"rounded_cube", "rounds 0.044715 x^3 to 16 bits", FWD(.rounded_cube = true), .right_in = IN_8_BITS},
    {"nan_masked", "turns NaN into zero", FWD(.store = TKI_STORE_NAN_MASKED)},
    {"erf_form", "computes the erf form of GELU", FWD(.erf_form = true), .right_in = IN_E4M3},
    {"tanh_form", "the usual fp32 tanh form, which cancels for negative x", FWD(.tanh_form = true),
     .right_in = IN_8_BITS},
    {"quick_form", "x sigmoid(1.702 x), another approximation", FWD(.quick_form = true)},
    {"cubic_constant", "0.0447 instead of 0.044715", FWD(.cubic = 0.0447f), .right_in = IN_8_BITS},
    {"root_constant", "0.798 instead of sqrt(2/pi)", FWD(.root = 0.798f), .right_in = IN_8_BITS},
    {"poor_exp", "exp as (1 + x/1024)^1024", FWD(.poor_exp = true), .right_in = IN_E4M3},
    {"cut_at_4", "takes sigma for 0 or 1 beyond 4", FWD(.cut_at_4 = true), .right_in = IN_8_BITS},
    {"clipped", "clips x to 10 in size", FWD(.clipped = true)},
    {"saturating", "returns the largest finite number instead of infinity", FWD(.store = TKI_STORE_SATURATED),
     .right_in = IN_E4M3},
    {"flushing", "flushes subnormal results to zero", FWD(.store = TKI_STORE_FLUSHED)},
    TKI_CALL_MUTANTS(fwd),
    {"before_the_start", "writes one element before its output", TKI_CALL(.right = fwd, .before_the_start = true)},
    {"one_in_a_million", "gives zero at one place in a million", FWD(.one_in_a_million = true), .level = TK_FULL},
    {"beyond_2_24_dropped", "does not write elements beyond the first 2^24", FWD(.most_elements = 1 << 24),
     .level = TK_FULL},
    {0},
};

const tki_mutant tki_gelu_bwd_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"tanh_form", "the usual fp32 tanh form, which cancels for negative x", BWD(.tanh_form = true),
     .right_in = IN_E4M3},
    {"last_dropped", "does not write the last element", BWD(.dropped = 1)},
    {"tail_dropped", "does not write the elements after the last multiple of 32", BWD(.multiple = 32)},
    {"off_by_one", "reads the next element's x", BWD(.off_by_one = true)},
    {"adding", "adds to what the output held", BWD(.adding = true)},
    {"swapped", "takes x for grad_output and grad_output for x", BWD(.swapped = true)},
    {"truncating_store", "rounds the result toward zero when storing", BWD(.store = TKI_STORE_TRUNCATED)},
    {"outward_store", "rounds the result away from zero when storing", BWD(.store = TKI_STORE_OUTWARD)},
    {"rounded_derivative", "rounds the derivative to 16 bits before multiplying", BWD(.rounded_derivative = true)},
    {"rounded_cube", "rounds 0.044715 x^3 to 16 bits", BWD(.rounded_cube = true)},
    {"nan_masked", "turns NaN into zero", BWD(.store = TKI_STORE_NAN_MASKED)},
    {"no_second_term", "leaves out the derivative of sigma", BWD(.no_second_term = true)},
    {"distributed", "multiplies both terms by grad_output, which may be infinite, before it adds them",
     BWD(.distributed = true), .right_in = IN_E4M3},
    {"cube_factor_lost", "takes 0.044715 x^2 for the derivative of the cube's part", BWD(.cube_factor_lost = true)},
    {"quick_form", "the derivative of x sigmoid(1.702 x), another approximation", BWD(.quick_form = true)},
    {"cubic_constant", "0.0447 instead of 0.044715", BWD(.cubic = 0.0447f)},
    {"root_constant", "0.798 instead of sqrt(2/pi)", BWD(.root = 0.798f)},
    {"poor_exp", "exp as (1 + x/1024)^1024", BWD(.poor_exp = true)},
    {"cut_at_4", "takes the derivative for 0 or 1 beyond 4", BWD(.cut_at_4 = true)},
    {"saturating", "returns the largest finite number instead of infinity", BWD(.store = TKI_STORE_SATURATED)},
    {"flushing", "flushes subnormal results to zero", BWD(.store = TKI_STORE_FLUSHED)},
    TKI_CALL_MUTANTS(bwd),
    {"one_in_a_million", "gives zero at one place in a million", BWD(.one_in_a_million = true), .level = TK_FULL},
    {"beyond_2_24_dropped", "does not write elements beyond the first 2^24", BWD(.most_elements = 1 << 24),
     .level = TK_FULL},
    {0},
};
