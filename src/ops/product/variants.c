/* CHOOSES. Correct products, layers and products of groups that differ from ours in order and blocking, in where further terms enter, or in how gelu is
 * computed, each with one line saying what is different. */
#include "ops/product/planted.h"
#include "ops/variant_tools.h"

enum { TILE_ROWS = 48, TILE_COLS = 40, TILE_PLACES = 32, SLICES = 4 };

typedef struct way {
    tki_order order;
    bool fused;          /* one FMA for each product */
    bool slices;         /* the sum cut into four parts of about one length */
    bool outer_products; /* all sums at once, one product of each after the other */
    bool tiles;          /* all sums of a tile at once, 32 products of each after the other */
    bool terms_first;    /* the sum begins with the further terms, as an accumulator does */
    bool residual_first; /* bias and residual are added to each other first */
    bool in_double;      /* everything in double, rounded to fp32 at the end */
    bool tanh_form;      /* gelu by tanh in double, which does not cancel there */
    bool backwards;      /* the last group first, and the last row of each */
} way;

static float inner_sum(const float *x, const float *y, int64_t places, float *terms, const way *w, float start)
{
    float sum = start;
    double wide = (double)start;
    if (w->in_double) {
        for (int64_t t = 0; t < places; t++)
            wide += (double)x[t] * (double)y[t];
        return (float)wide;
    }
    if (w->fused) {
        for (int64_t t = 0; t < places; t++)
            sum = fmaf(x[t], y[t], sum);
        return sum;
    }
    for (int64_t t = 0; t < places; t++)
        terms[t] = x[t] * y[t];
    if (!w->slices)
        return sum + tki_sum(terms, places, w->order);
    for (int64_t s = 0; s < SLICES; s++) {
        int64_t begin = places * s / SLICES;
        sum += tki_sum(terms + begin, places * (s + 1) / SLICES - begin, w->order);
    }
    return sum;
}

static double gelu(const way *w, double x)
{
    if (!w->tanh_form || x < -3)
        return tki_linear_gelu(x);
    return 0.5 * x * (1 + tanh(TKI_LINEAR_C * (x + TKI_LINEAR_A * x * x * x)));
}

/* One output element after the other. */
static void by_elements(const tk_case *c, const tki_planted_product *v, const float *left, const float *right,
                        float *terms, const way *w)
{
    for (int64_t i = 0; i < v->rows; i++)
        for (int64_t col = 0; col < v->cols; col++) {
            const int64_t row = w->backwards ? v->rows - 1 - i : i, at = row * v->cols + col;
            const float bias = v->bias ? tki_get_as(v->bias_type, v->bias, col) : 0;
            const float other = v->other ? tki_get_result(c, v->other, at) : 0;
            const float start = w->terms_first ? bias + other : 0;
            float sum = inner_sum(left + row * v->places, right + col * v->places, v->places, terms, w, start);
            if (!w->terms_first)
                sum = w->residual_first ? sum + (other + bias) : sum + bias + other;
            if (v->pre)
                sum *= (float)tki_linear_derivative((double)tki_get_result(c, v->pre, at));
            if (v->unactivated)
                tki_put(c, v->unactivated, at, sum);
            tki_put(c, v->out, at, v->unactivated ? (float)gelu(w, (double)sum) : sum);
        }
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* Adds the products of a part of the places to the sums of a part of the output. */
static void add_part(const tki_planted_product *v, const float *left, const float *right, float *sums, int64_t row,
                     int64_t row_end, int64_t col, int64_t col_end, int64_t place, int64_t place_end)
{
    for (int64_t t = place; t < place_end; t++)
        for (int64_t i = row; i < row_end; i++)
            for (int64_t j = col; j < col_end; j++)
                sums[i * v->cols + j] += left[i * v->places + t] * right[j * v->places + t];
}

/* `sums` begins as zeros. */
static void by_parts(const tk_case *c, const tki_planted_product *v, const float *left, const float *right,
                     float *sums, const way *w)
{
    int64_t rows = w->tiles ? TILE_ROWS : v->rows;
    int64_t cols = w->tiles ? TILE_COLS : v->cols;
    int64_t places = w->tiles ? TILE_PLACES : v->places;
    for (int64_t row = 0; row < v->rows; row += rows)
        for (int64_t col = 0; col < v->cols; col += cols)
            for (int64_t place = 0; place < v->places; place += places)
                add_part(v, left, right, sums, row, at_most(row + rows, v->rows), col, at_most(col + cols, v->cols),
                         place, at_most(place + places, v->places));
    for (int64_t i = 0; i < v->rows * v->cols; i++)
        tki_put(c, v->out, i, sums[i]);
}

/* One product, or that of one group. */
static bool multiply_one(const tk_case *c, const tki_planted_product *v, const way *w)
{
    bool all_at_once = w->outer_products || w->tiles;
    if (v->rows == 0 || v->cols == 0)
        return true;
    float *left = tki_planted_decoded(&v->left, v->rows, v->places);
    float *right = tki_planted_decoded(&v->right, v->cols, v->places);
    float *work = calloc((size_t)(all_at_once ? v->rows * v->cols : v->places) + 1, sizeof *work);
    bool good = left && right && work;
    if (good && all_at_once)
        by_parts(c, v, left, right, work, w);
    else if (good)
        by_elements(c, v, left, right, work, w);
    free(left);
    free(right);
    free(work);
    return good;
}

/* Of rows: the group behind the last one is that of the rows of none, whose sums run over nothing. */
static bool multiply_group(const tk_case *c, const tki_planted_product *v, int64_t group, const way *w)
{
    const int64_t begin = tki_planted_end(c, v, group - 1);
    const bool none = group == v->groups;
    tki_planted_product part = tki_planted_group(c, *v, begin, none ? v->all_rows : tki_planted_end(c, v, group),
                                                 none ? 0 : group);
    if (none)
        part.places = 0;
    return multiply_one(c, &part, w);
}

static int multiply(const tk_case *c, void *const b[], void *run)
{
    const way *w = tki_how(run);
    const tki_planted_product v = tki_planted_product_of(c, b);
    const int64_t groups = v.groups + !v.over_rows;
    bool good = v.ends || multiply_one(c, &v, w);
    for (int64_t i = 0; v.ends && good && i < groups; i++)
        good = multiply_group(c, &v, w->backwards ? groups - 1 - i : i, w);
    return good ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(multiply, way, __VA_ARGS__)
/* clang-format off */ /* one row below the other */
#define REVERSED {"reversed", "sums from the last product to the first", WITH(.order = TKI_REVERSED)}
#define PAIRWISE {"pairwise", "sums neighbours, then neighbouring sums", WITH(.order = TKI_PAIRWISE)}
#define BLOCKS {"blocks_of_64", "sums of 64 products, then a tree of these", WITH(.order = TKI_BLOCKS)}
#define KAHAN {"kahan", "compensated summation", WITH(.order = TKI_KAHAN)}
#define IN_DOUBLE {"in_double", "sums in double, rounded to fp32 and then to 16 bits", WITH(.order = TKI_IN_DOUBLE)}
#define FUSED {"fused", "one FMA for each product", WITH(.fused = true)}
#define SLICED {"slices", "four parts of each sum, added at the end, as split-K does", WITH(.slices = true)}
/* clang-format on */

const tki_variant tki_gemm_variants[] = {
    REVERSED,
    PAIRWISE,
    {"eight_lanes", "eight sums, each over every eighth product", WITH(.order = TKI_EIGHT_LANES)},
    BLOCKS,
    KAHAN,
    IN_DOUBLE,
    FUSED,
    SLICED,
    {"outer_products", "the sum's loop outermost: one outer product after the other", WITH(.outer_products = true)},
    {"tiles", "tiles of 48 by 40 by 32", WITH(.tiles = true)},
    {0},
};

const tki_variant tki_linear_fwd_variants[] = {
    REVERSED,
    PAIRWISE,
    KAHAN,
    {"in_double", "sums in double", WITH(.in_double = true)},
    FUSED,
    SLICED,
    {"terms_first", "begins each sum with what is to be added", WITH(.terms_first = true, .fused = true)},
    {"terms_together", "adds bias and residual to each other first", WITH(.residual_first = true)},
    {"tanh", "gelu by tanh where that does not cancel", WITH(.tanh_form = true)},
    {0},
};

const tki_variant tki_grouped_gemm_variants[] = {
    REVERSED,  PAIRWISE,
    BLOCKS,    KAHAN,
    IN_DOUBLE, FUSED,
    SLICED,    {"backwards", "the last group first, and in it the last row", WITH(.backwards = true)},
    {0},
};

#define SAME(op, as)                                                                                       \
    extern const tki_variant tki_##op##_variants[sizeof tki_##as##_variants / sizeof *tki_##as##_variants] \
        __attribute__((alias("tki_" #as "_variants")))
SAME(gemm_grad_a, gemm);
SAME(gemm_grad_b, gemm);
SAME(linear_grad_x, linear_fwd);
SAME(linear_grad_w, linear_fwd);
SAME(grouped_gemm_grad_a, grouped_gemm);
SAME(grouped_gemm_grad_b, grouped_gemm);
