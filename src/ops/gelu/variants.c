/* CHOOSES. Correct kernels for gelu that compute it in other ways than ours, each with one line saying what is different. */
#include <math.h>

#include "ops/variant_tools.h"

#define CUBIC 0.044715
#define ROOT 0.79788456080286535588 /* sqrt(2/pi) */
#define FAR 40.0                    /* beyond it sigma is 0 or 1 in double */

typedef enum form {
    SIGMA_FP32,     /* e = exp(-|2z|), sigma = 1 / (1 + e) or e / (1 + e) */
    SIGMA_DOUBLE,   /* 1 / (1 + exp(-2z)) */
    TANH_DOUBLE,    /* 0.5 (1 + tanh z) where that does not cancel, exp elsewhere */
    ONE_DENOMINATOR /* backward: (1 + e + e h) / (1 + e)^2 or e (1 + e + h) / (1 + e)^2 */
} form;

typedef struct way {
    form form;
    tki_exp_way exp;
    bool backwards; /* from the last element to the first */
    bool by_fours;  /* four elements a step, the rest one by one */
} way;

static double bounded(double x)
{
    return fmin(fmax(x, -FAR), FAR);
}

static double two_z_of(double x)
{
    return 2 * ROOT * (x + CUBIC * x * x * x);
}

static double slope_of(double x)
{
    return 2 * ROOT * x * (1 + 3 * CUBIC * x * x);
}

static double sigma_of(double x, const way *w)
{
    double two_z = two_z_of(x);
    if (w->form == TANH_DOUBLE && x > -1)
        return 0.5 * (1 + tanh(0.5 * two_z));
    if (w->form != SIGMA_FP32)
        return 1 / (1 + exp(-two_z));
    float e = tki_exp_by(-fabsf((float)two_z), w->exp);
    return (double)(two_z > 0 ? 1.0f / (1.0f + e) : e / (1.0f + e));
}

static float value_of(float x, const way *w)
{
    double sigma = sigma_of(bounded((double)x), w);
    return isnan(x) ? x : w->form == SIGMA_FP32 ? x * (float)sigma : (float)((double)x * sigma);
}

static float derivative_of(float x, const way *w)
{
    double near = bounded((double)x);
    double h = slope_of(near);
    if (isnan(x))
        return x;
    if (w->form == ONE_DENOMINATOR) {
        float e = expf(-fabsf((float)two_z_of(near)));
        float numerator = x > 0 ? 1 + (e + e * (float)h) : e * (1 + (e + (float)h));
        return numerator / ((1 + e) * (1 + e));
    }
    if (w->form == SIGMA_FP32)
        return (float)sigma_of(near, w) * (1 + (float)sigma_of(-near, w) * (float)h);
    return (float)(sigma_of(near, w) * (1 + sigma_of(-near, w) * h));
}

static void fwd_one(const tk_case *c, void *const b[], int64_t i, const way *w)
{
    tki_put(c, b[1], i, value_of(tki_get(c, b[0], i), w));
}

static void bwd_one(const tk_case *c, void *const b[], int64_t i, const way *w)
{
    tki_put(c, b[2], i, tki_get(c, b[0], i) * derivative_of(tki_get(c, b[1], i), w));
}

static int run_all(const tk_case *c, void *const b[], const way *w,
                   void (*one)(const tk_case *, void *const[], int64_t, const way *))
{
    int64_t n = c->dims[0];
    int64_t i = 0;
    for (; w->by_fours && i + 4 <= n; i += 4)
        for (int64_t j = 0; j < 4; j++)
            one(c, b, i + j, w);
    for (; i < n; i++)
        one(c, b, w->backwards ? n - 1 - i : i, w);
    return 0;
}

static int fwd(const tk_case *c, void *const b[], void *run)
{
    return run_all(c, b, tki_how(run), fwd_one);
}

static int bwd(const tk_case *c, void *const b[], void *run)
{
    return run_all(c, b, tki_how(run), bwd_one);
}

#define FWD(...) TKI_PLANTED(fwd, way, __VA_ARGS__)
#define BWD(...) TKI_PLANTED(bwd, way, __VA_ARGS__)

const tki_variant tki_gelu_fwd_variants[] = {
    {"sigma_in_double", "x / (1 + exp(-2z)) in double", FWD(.form = SIGMA_DOUBLE)},
    {"tanh_in_double", "0.5 x (1 + tanh z) in double from -1 up, exp below", FWD(.form = TANH_DOUBLE)},
    {"base_2", "fp32, exp(x) as exp2(x / ln 2)", FWD(.exp = TKI_EXP_BASE_2)},
    {"polynomial", "fp32, exp by reduction and a polynomial of degree 7", FWD(.exp = TKI_EXP_POLYNOMIAL)},
    {"backwards", "fp32, from the last element to the first", FWD(.backwards = true)},
    {"by_fours", "fp32, four elements a step", FWD(.by_fours = true)},
    {0},
};

const tki_variant tki_gelu_bwd_variants[] = {
    {"sigma_in_double", "the derivative in double, rounded to fp32 once", BWD(.form = SIGMA_DOUBLE)},
    {"tanh_in_double", "sigma from tanh in double from -1 up, from exp below", BWD(.form = TANH_DOUBLE)},
    {"one_denominator", "fp32, one division by (1 + e)^2", BWD(.form = ONE_DENOMINATOR)},
    {"base_2", "fp32, exp(x) as exp2(x / ln 2)", BWD(.exp = TKI_EXP_BASE_2)},
    {"polynomial", "fp32, exp by reduction and a polynomial of degree 7", BWD(.exp = TKI_EXP_POLYNOMIAL)},
    {"backwards", "fp32, from the last element to the first", BWD(.backwards = true)},
    {0},
};
