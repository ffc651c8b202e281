/* CHOOSES. Correct kernels for softmax that compute it in other ways than ours, each with one line saying what is different. */
#include <math.h>

#include "ops/variant_tools.h"

enum { RESCALINGS = 32 /* that the contract pays for */ };

/* Forward. */

typedef struct fwd_way {
    tki_order order;
    tki_exp_way exp;
    bool online;     /* maximum and sum in one pass, in at most 32 blocks, the sum rescaled where the maximum grows */
    bool log_form;   /* exp(x - max - ln sum) */
    bool reciprocal; /* one division a row */
    bool fused;      /* exp2(x log2(e) - max log2(e)) by one FMA: exp(0) is 1 within |max| u */
    bool in_double;
} fwd_way;

static float row_max(const float *x, int64_t cols)
{
    float max = -INFINITY;
    for (int64_t j = 0; j < cols; j++)
        max = fmaxf(max, x[j]);
    return max;
}

/* Beyond 2^16 the rounding of max log2(e) is too much. */
static float fwd_exp(float x, float max, const fwd_way *w)
{
    const float log2_e = 1.44269504f;
    return w->fused && fabsf(max) <= 0x1p16f ? exp2f(fmaf(x, log2_e, -(max * log2_e))) : tki_exp_by(x - max, w->exp);
}

/* A NaN, which fmaxf() passes over, gets into the sum here. */
static float block_sum(const float *x, int64_t count, float max, float *terms, const fwd_way *w)
{
    for (int64_t j = 0; j < count; j++)
        terms[j] = max == -INFINITY && x[j] == -INFINITY ? 0 : fwd_exp(x[j], max, w);
    return tki_sum(terms, count, w->order);
}

/* `max` becomes that of the whole row. */
static float online_sum(const float *x, int64_t cols, float *terms, const fwd_way *w, float *max)
{
    int64_t block = cols / RESCALINGS + 1;
    float sum = 0;
    *max = -INFINITY;
    for (int64_t begin = 0; begin < cols; begin += block) {
        int64_t count = cols - begin < block ? cols - begin : block;
        float larger = fmaxf(*max, row_max(x + begin, count));
        if (larger > *max)
            sum *= tki_exp_by(*max - larger, w->exp);
        *max = larger;
        sum += block_sum(x + begin, count, larger, terms, w);
    }
    return sum;
}

static void fwd_row_in_double(const tk_case *c, const float *x, int64_t cols, void *out, int64_t place)
{
    double max = (double)row_max(x, cols);
    double sum = 0;
    for (int64_t j = 0; j < cols; j++)
        sum += exp((double)x[j] - max);
    for (int64_t j = 0; j < cols; j++)
        tki_put(c, out, place + j, (float)(exp((double)x[j] - max) / sum));
}

static void fwd_row(const tk_case *c, const float *x, int64_t cols, float *terms, void *out, int64_t place,
                    const fwd_way *w)
{
    float max = row_max(x, cols);
    float sum = w->online ? online_sum(x, cols, terms, w, &max) : block_sum(x, cols, max, terms, w);
    /* A row with nothing but -inf has no sum; what it has instead makes all of it NaN. */
    if (isinf(max))
        sum = NAN;
    float factor = 1 / sum;
    float log_sum = logf(sum);
    for (int64_t j = 0; j < cols; j++) {
        float y = w->log_form ? tki_exp_by((x[j] - max) - log_sum, w->exp) : fwd_exp(x[j], max, w) / sum;
        if (w->reciprocal)
            y = fwd_exp(x[j], max, w) * factor;
        tki_put(c, out, place + j, y);
    }
}

static int fwd(const tk_case *c, void *const b[], void *run)
{
    const fwd_way *w = tki_how(run);
    int64_t cols = c->dims[1];
    float *x = malloc((size_t)(2 * cols + 1) * sizeof *x);
    for (int64_t row = 0; x && row < c->dims[0]; row++) {
        for (int64_t j = 0; j < cols; j++)
            x[j] = tki_get(c, b[0], row * cols + j);
        if (w->in_double)
            fwd_row_in_double(c, x, cols, b[1], row * cols);
        else
            fwd_row(c, x, cols, x + cols, b[1], row * cols, w);
    }
    free(x);
    return x ? 0 : 1;
}

#define FWD(...) TKI_PLANTED(fwd, fwd_way, __VA_ARGS__)

const tki_variant tki_softmax_fwd_variants[] = {
    {"reversed", "sums from the last column to the first", FWD(.order = TKI_REVERSED)},
    {"pairwise", "sums neighbours, then neighbouring sums", FWD(.order = TKI_PAIRWISE)},
    {"eight_lanes", "eight sums, each over every eighth column", FWD(.order = TKI_EIGHT_LANES)},
    {"blocks_of_64", "sums of 64 columns, then a tree of these", FWD(.order = TKI_BLOCKS)},
    {"kahan", "compensated summation", FWD(.order = TKI_KAHAN)},
    {"online", "maximum and sum in one pass over 32 blocks, the sum rescaled where the maximum grows",
     FWD(.online = true)},
    {"reciprocal", "multiplies by 1 / sum", FWD(.reciprocal = true)},
    {"log_form", "exp(x - max - ln sum)", FWD(.log_form = true)},
    {"base_2", "exp(x) as exp2(x / ln 2)", FWD(.exp = TKI_EXP_BASE_2)},
    {"fused", "exp(x - max) as exp2 of one FMA, so that exp(0) is not 1", FWD(.fused = true)},
    {"fused_blocks", "the same, sums of 64 columns, then a tree of these", FWD(.fused = true, .order = TKI_BLOCKS)},
    {"polynomial", "exp by reduction and a polynomial of degree 7", FWD(.exp = TKI_EXP_POLYNOMIAL)},
    {"in_double", "all in double, rounded to fp32 and then to 16 bits", FWD(.in_double = true)},
    {0},
};

/* Backward. */

typedef struct bwd_way {
    tki_order order;
    bool fused;      /* one FMA for each product */
    bool sums_first; /* of all rows, before any element */
} bwd_way;

static float bwd_sum(const tk_case *c, void *const b[], int64_t row, float *terms, const bwd_way *w)
{
    int64_t cols = c->dims[1];
    float sum = 0;
    for (int64_t j = 0; j < cols; j++) {
        float grad = tki_get(c, b[0], row * cols + j);
        float y = tki_get(c, b[1], row * cols + j);
        terms[j] = y * grad;
        sum = fmaf(y, grad, sum);
    }
    return w->fused ? sum : tki_sum(terms, cols, w->order);
}

static void bwd_row(const tk_case *c, void *const b[], int64_t row, float sum)
{
    int64_t cols = c->dims[1];
    for (int64_t i = row * cols; i < (row + 1) * cols; i++)
        tki_put(c, b[2], i, tki_get(c, b[1], i) * (tki_get(c, b[0], i) - sum));
}

static int bwd(const tk_case *c, void *const b[], void *run)
{
    const bwd_way *w = tki_how(run);
    int64_t rows = c->dims[0];
    float *sums = malloc((size_t)(rows + c->dims[1] + 1) * sizeof *sums);
    if (!sums)
        return 1;
    for (int64_t row = 0; row < rows; row++) {
        sums[row] = bwd_sum(c, b, row, sums + rows, w);
        if (!w->sums_first)
            bwd_row(c, b, row, sums[row]);
    }
    for (int64_t row = rows - 1; w->sums_first && row >= 0; row--)
        bwd_row(c, b, row, sums[row]);
    free(sums);
    return 0;
}

#define BWD(...) TKI_PLANTED(bwd, bwd_way, __VA_ARGS__)

const tki_variant tki_softmax_bwd_variants[] = {
    {"reversed", "sums from the last column to the first", BWD(.order = TKI_REVERSED)},
    {"pairwise", "sums neighbours, then neighbouring sums", BWD(.order = TKI_PAIRWISE)},
    {"eight_lanes", "eight sums, each over every eighth column", BWD(.order = TKI_EIGHT_LANES)},
    {"blocks_of_64", "sums of 64 columns, then a tree of these", BWD(.order = TKI_BLOCKS)},
    {"kahan", "compensated summation", BWD(.order = TKI_KAHAN)},
    {"in_double", "sums in double, rounded to fp32", BWD(.order = TKI_IN_DOUBLE)},
    {"fused", "one FMA for each product", BWD(.fused = true)},
    {"sums_first", "the sums of all rows, then the elements, last row first", BWD(.sums_first = true)},
    {0},
};
