/* CHOOSES. Correct products of groups that differ from ours in order, each with one line saying what is different. */
#include <math.h>

#include "ops/grouped/planted.h"
#include "ops/variant_tools.h"

typedef struct way {
    tki_order order;
    bool fused;     /* one FMA for each product */
    bool slices;    /* the sum cut into four parts of about one length */
    bool backwards; /* the last group first, and the last row of each */
} way;

enum { SLICES = 4 };

static float inner_sum(const tki_grouped_product *v, int64_t line, int64_t col, int64_t offset, int64_t begin,
                       int64_t end, float *terms, const way *w)
{
    float sum = 0;
    const int64_t places = end - begin;
    for (int64_t t = 0; t < places; t++) {
        const float x = tki_grouped_at(&v->left, line, begin + t, 0);
        const float y = tki_grouped_at(&v->right, col, begin + t, offset);
        if (w->fused)
            sum = fmaf(x, y, sum);
        else
            terms[t] = x * y;
    }
    if (w->fused)
        return sum;
    if (!w->slices)
        return tki_sum(terms, places, w->order);
    for (int64_t s = 0; s < SLICES; s++) {
        const int64_t first = places * s / SLICES;
        sum += tki_sum(terms + first, places * (s + 1) / SLICES - first, w->order);
    }
    return sum;
}

/* Of rows: group g stands for none. */
static void multiply_group(const tk_case *c, void *const b[], const tki_grouped_product *v, int64_t group,
                           float *terms, const way *w)
{
    const int64_t begin = tki_grouped_end(c, b, group - 1);
    const int64_t end = group < v->g ? tki_grouped_end(c, b, group) : v->m;
    const int64_t lines = v->over_rows ? v->lines : end - begin;
    for (int64_t i = 0; i < lines; i++) {
        const int64_t line = (v->over_rows ? 0 : begin) + (w->backwards ? lines - 1 - i : i);
        for (int64_t col = 0; col < v->cols; col++) {
            const float sum = v->over_rows   ? inner_sum(v, line, col, 0, begin, end, terms, w)
                              : group < v->g ? inner_sum(v, line, col, group * v->matrix, 0, v->places, terms, w)
                                             : 0;
            tki_put(c, b[TKI_GROUPED_OUT], (v->over_rows ? group * v->matrix : 0) + line * v->cols + col, sum);
        }
    }
}

static int multiply(const tk_case *c, void *const b[], void *run)
{
    const way *w = tki_how(run);
    tki_grouped_product v;
    if (!tki_grouped_product_of(c, b, &v))
        return 1;
    float *terms = malloc((size_t)((v.over_rows ? v.m : v.places) + 1) * sizeof *terms);
    const int64_t groups = v.g + !v.over_rows;
    for (int64_t i = 0; terms && i < groups; i++)
        multiply_group(c, b, &v, w->backwards ? groups - 1 - i : i, terms, w);
    const int status = terms ? 0 : 1;
    free(terms);
    tki_grouped_free(&v);
    return status;
}

#define WITH(...) TKI_PLANTED(multiply, way, __VA_ARGS__)

const tki_variant tki_grouped_gemm_variants[] = {
    {"reversed", "sums from the last product to the first", WITH(.order = TKI_REVERSED)},
    {"pairwise", "sums neighbours, then neighbouring sums", WITH(.order = TKI_PAIRWISE)},
    {"blocks_of_64", "sums of 64 products, then a tree of these", WITH(.order = TKI_BLOCKS)},
    {"kahan", "compensated summation", WITH(.order = TKI_KAHAN)},
    {"in_double", "sums in double, rounded to fp32 and then to 16 bits", WITH(.order = TKI_IN_DOUBLE)},
    {"fused", "one FMA for each product", WITH(.fused = true)},
    {"slices", "four parts of each sum, added at the end, as split-K does", WITH(.slices = true)},
    {"backwards", "the last group first, and in it the last row", WITH(.backwards = true)},
    {0},
};

enum { LIST_LENGTH = sizeof tki_grouped_gemm_variants / sizeof *tki_grouped_gemm_variants };

extern const tki_variant tki_grouped_gemm_grad_a_variants[LIST_LENGTH]
    __attribute__((alias("tki_grouped_gemm_variants")));
extern const tki_variant tki_grouped_gemm_grad_b_variants[LIST_LENGTH]
    __attribute__((alias("tki_grouped_gemm_variants")));
