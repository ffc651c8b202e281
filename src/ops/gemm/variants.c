/* CHOOSES. Correct matrix products that differ from ours in order and blocking, each with one line saying what is different. */
#include <math.h>

#include "ops/gemm/planted.h"
#include "ops/variant_tools.h"

enum { TILE_ROWS = 48, TILE_COLS = 40, TILE_PLACES = 32, SLICES = 4 };

typedef struct way {
    tki_order order;
    bool fused;          /* one FMA for each product */
    bool slices;         /* the sum cut into four parts of about one length */
    bool outer_products; /* all sums at once, one product of each after the other */
    bool tiles;          /* all sums of a tile at once, 32 products of each after the other */
} way;

static float inner_sum(const float *x, const float *y, int64_t places, float *terms, const way *w)
{
    float sum = 0;
    if (w->fused) {
        for (int64_t t = 0; t < places; t++)
            sum = fmaf(x[t], y[t], sum);
        return sum;
    }
    for (int64_t t = 0; t < places; t++)
        terms[t] = x[t] * y[t];
    if (!w->slices)
        return tki_sum(terms, places, w->order);
    for (int64_t s = 0; s < SLICES; s++) {
        int64_t begin = places * s / SLICES;
        sum += tki_sum(terms + begin, places * (s + 1) / SLICES - begin, w->order);
    }
    return sum;
}

/* One output element after the other. */
static void by_elements(const tk_case *c, const tki_gemm_product *v, const float *left, const float *right,
                        float *terms, const way *w)
{
    for (int64_t row = 0; row < v->rows; row++)
        for (int64_t col = 0; col < v->cols; col++) {
            float sum = inner_sum(left + row * v->places, right + col * v->places, v->places, terms, w);
            tki_put(c, v->out, row * v->cols + col, sum);
        }
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* Adds the products of a part of the places to the sums of a part of the output. */
static void add_part(const tki_gemm_product *v, const float *left, const float *right, float *sums, int64_t row,
                     int64_t row_end, int64_t col, int64_t col_end, int64_t place, int64_t place_end)
{
    for (int64_t t = place; t < place_end; t++)
        for (int64_t i = row; i < row_end; i++)
            for (int64_t j = col; j < col_end; j++)
                sums[i * v->cols + j] += left[i * v->places + t] * right[j * v->places + t];
}

/* `sums` begins as zeros. */
static void by_parts(const tk_case *c, const tki_gemm_product *v, const float *left, const float *right, float *sums,
                     const way *w)
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

static int multiply(const tk_case *c, void *const b[], void *run)
{
    const way *w = tki_how(run);
    bool all_at_once = w->outer_products || w->tiles;
    tki_gemm_product v = tki_gemm_product_of(c, b);
    float *left = tki_planted_decoded(c, &v.left, v.rows, v.places);
    float *right = tki_planted_decoded(c, &v.right, v.cols, v.places);
    float *work = calloc((size_t)(all_at_once ? v.rows * v.cols : v.places) + 1, sizeof *work);
    bool good = left && right && work;
    if (good && all_at_once)
        by_parts(c, &v, left, right, work, w);
    else if (good)
        by_elements(c, &v, left, right, work, w);
    free(left);
    free(right);
    free(work);
    return good ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(multiply, way, __VA_ARGS__)

const tki_variant tki_gemm_variants[] = {
    {"reversed", "sums from the last product to the first", WITH(.order = TKI_REVERSED)},
    {"pairwise", "sums neighbours, then neighbouring sums", WITH(.order = TKI_PAIRWISE)},
    {"eight_lanes", "eight sums, each over every eighth product", WITH(.order = TKI_EIGHT_LANES)},
    {"blocks_of_64", "sums of 64 products, then a tree of these", WITH(.order = TKI_BLOCKS)},
    {"kahan", "compensated summation", WITH(.order = TKI_KAHAN)},
    {"in_double", "sums in double, rounded to fp32 and then to 16 bits", WITH(.order = TKI_IN_DOUBLE)},
    {"fused", "one FMA for each product", WITH(.fused = true)},
    {"slices", "four parts of each sum, added at the end, as split-K does", WITH(.slices = true)},
    {"outer_products", "the sum's loop outermost: one outer product after the other", WITH(.outer_products = true)},
    {"tiles", "tiles of 48 by 40 by 32", WITH(.tiles = true)},
    {0},
};

enum { LIST_LENGTH = sizeof tki_gemm_variants / sizeof *tki_gemm_variants };

extern const tki_variant tki_gemm_grad_a_variants[LIST_LENGTH] __attribute__((alias("tki_gemm_variants")));
extern const tki_variant tki_gemm_grad_b_variants[LIST_LENGTH] __attribute__((alias("tki_gemm_variants")));
