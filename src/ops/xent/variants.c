/* CHOOSES. Correct kernels for xent that compute it in other ways than ours, each with one line saying what is different. All form
 * the target's gradient from the sum over the other classes: any other way cancels. */
#include <math.h>

#include "ops/variant_tools.h"
#include "ops/xent/contract.h"

typedef struct way {
    tki_order order;
    tki_exp_way exp;
    bool log_of_sum; /* ln Z of the whole sum, not log1p of the rest */
    bool log_form;   /* p = exp(-d - ln Z) */
    bool reciprocal; /* one division a row */
    bool in_double;
} way;

/* One row. */
typedef struct row {
    const float
        *half_d;  /* [cols], half of maximum less logit: the whole of it may overflow where the loss does not */
    float *terms; /* [cols], to sum in */
    int64_t cols, target;
    double eps, scale;
} row;

static float exp_of(const row *r, int64_t j, float shift, const way *w)
{
    return tki_exp_by(-2 * r->half_d[j] - shift, w->exp);
}

/* Of exp(-d) over all classes but one. */
static float sum_without(const row *r, int64_t left_out, const way *w)
{
    int64_t count = 0;
    for (int64_t j = 0; j < r->cols; j++)
        if (j != left_out)
            r->terms[count++] = exp_of(r, j, 0, w);
    return tki_sum(r->terms, count, w->order);
}

/* Of weight times d over all classes. */
static float weighted_sum(const row *r, float weight, const way *w)
{
    for (int64_t j = 0; j < r->cols; j++)
        r->terms[j] = 2 * weight * r->half_d[j];
    return tki_sum(r->terms, r->cols, w->order);
}

/* A class at the maximum. */
static int64_t place_of_max(const row *r)
{
    int64_t place = 0;
    while (r->half_d[place] != 0)
        place++;
    return place;
}

static void run_row(const tk_case *c, const row *r, const way *w, float *loss, void *grad, int64_t place)
{
    float eps = (float)r->eps;
    float scale = (float)r->scale;
    float classes = (float)r->cols;
    float rest = sum_without(r, place_of_max(r), w);
    float others = sum_without(r, r->target, w);
    float z = w->log_of_sum ? sum_without(r, -1, w) : 1 + rest;
    float log_z = w->log_of_sum ? logf(z) : log1pf(rest);
    float factor = 1 / z;
    *loss = log_z;
    if (eps < 1)
        *loss += 2 * (1 - eps) * r->half_d[r->target];
    if (eps > 0)
        *loss += weighted_sum(r, eps / classes, w);
    for (int64_t j = 0; j < r->cols; j++) {
        float p = w->log_form ? exp_of(r, j, log_z, w) : exp_of(r, j, 0, w) / z;
        if (w->reciprocal)
            p = exp_of(r, j, 0, w) * factor;
        float difference = j == r->target ? eps * (classes - 1) / classes - others / z : p - eps / classes;
        tki_put(c, grad, place + j, scale * difference);
    }
}

static void run_row_in_double(const tk_case *c, const row *r, float *loss, void *grad, int64_t place)
{
    double others = 0;
    double rest = 0;
    double spread = 0;
    double classes = (double)r->cols;
    int64_t max_at = place_of_max(r);
    for (int64_t j = 0; j < r->cols; j++) {
        double d = 2 * (double)r->half_d[j];
        others += j != r->target ? exp(-d) : 0;
        rest += j != max_at ? exp(-d) : 0;
        spread += d;
    }
    double value = log1p(rest);
    if (r->eps < 1)
        value += (1 - r->eps) * 2 * (double)r->half_d[r->target];
    if (r->eps > 0)
        value += r->eps / classes * spread;
    *loss = (float)value;
    for (int64_t j = 0; j < r->cols; j++) {
        double difference = j == r->target ? r->eps * (classes - 1) / classes - others / (1 + rest)
                                           : exp(-2 * (double)r->half_d[j]) / (1 + rest) - r->eps / classes;
        tki_put(c, grad, place + j, (float)(r->scale * difference));
    }
}

static void fill(const tk_case *c, int64_t cols, float value, float *loss, void *grad, int64_t place)
{
    *loss = value;
    for (int64_t j = 0; j < cols; j++)
        tki_put(c, grad, place + j, value);
}

/* False if the row is to be NaN. */
static bool take_row(const tk_case *c, const void *logits, int64_t place, int64_t cols, float *half_d)
{
    float max = -INFINITY;
    for (int64_t j = 0; j < cols; j++) {
        half_d[j] = 0.5f * tki_get(c, logits, place + j);
        if (isnan(half_d[j]))
            return false;
        max = fmaxf(max, half_d[j]);
    }
    for (int64_t j = 0; j < cols; j++)
        half_d[j] = max - half_d[j];
    return isfinite(max);
}

static int run_all(const tk_case *c, void *const b[], void *data)
{
    const way *w = tki_how(data);
    int64_t cols = c->dims[1];
    float *loss = b[2];
    float *half_d = malloc((size_t)(2 * cols + 1) * sizeof *half_d);
    for (int64_t i = 0; half_d && i < c->dims[0]; i++) {
        int64_t target = tki_get_index(c, b[1], i);
        row r = {.half_d = half_d,
                 .terms = half_d + cols,
                 .cols = cols,
                 .target = target,
                 .eps = c->attributes[TKI_XENT_LABEL_SMOOTHING].real,
                 .scale = c->attributes[TKI_XENT_SCALE].real};
        if (target == c->attributes[TKI_XENT_IGNORE_INDEX].integer)
            fill(c, cols, 0.0f, &loss[i], b[3], i * cols);
        else if (!take_row(c, b[0], i * cols, cols, half_d))
            fill(c, cols, NAN, &loss[i], b[3], i * cols);
        else if (w->in_double)
            run_row_in_double(c, &r, &loss[i], b[3], i * cols);
        else
            run_row(c, &r, w, &loss[i], b[3], i * cols);
    }
    free(half_d);
    return half_d ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(run_all, way, __VA_ARGS__)

const tki_variant tki_xent_variants[] = {
    {"reversed", "sums from the last class to the first", WITH(.order = TKI_REVERSED)},
    {"pairwise", "sums neighbours, then neighbouring sums", WITH(.order = TKI_PAIRWISE)},
    {"eight_lanes", "eight sums, each over every eighth class", WITH(.order = TKI_EIGHT_LANES)},
    {"blocks_of_64", "sums of 64 classes, then a tree of these", WITH(.order = TKI_BLOCKS)},
    {"kahan", "compensated summation", WITH(.order = TKI_KAHAN)},
    {"log_of_sum", "ln Z as the logarithm of the whole sum", WITH(.log_of_sum = true)},
    {"log_form", "p as exp(x - max - ln Z)", WITH(.log_form = true)},
    {"reciprocal", "multiplies by 1 / Z", WITH(.reciprocal = true)},
    {"base_2", "exp(x) as exp2(x / ln 2)", WITH(.exp = TKI_EXP_BASE_2)},
    {"polynomial", "exp by reduction and a polynomial of degree 7", WITH(.exp = TKI_EXP_POLYNOMIAL)},
    {"in_double", "all in double, rounded to fp32 and then to 16 bits", WITH(.in_double = true)},
    {0},
};
