/* CHOOSES. Correct kernels of a linear layer and its gradients that differ from ours in order, in where the further terms enter, or in how gelu is
 * computed, each with one line saying what is different. */
#include "ops/linear/planted.h"
#include "ops/variant_tools.h"

enum { SLICES = 4 };

typedef struct way {
    tki_order order;
    bool fused;          /* one FMA for each product */
    bool slices;         /* the sum cut into four parts of about one length */
    bool terms_first;    /* the sum begins with the further terms, as an accumulator does */
    bool residual_first; /* bias and residual are added to each other first */
    bool in_double;      /* everything in double, rounded to fp32 at the end */
    bool tanh_form;      /* gelu by tanh in double, which does not cancel there */
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

static void compute(const tk_case *c, const tki_linear_view *v, const way *w, const float *left, const float *right,
                    float *terms)
{
    for (int64_t row = 0; row < v->rows; row++)
        for (int64_t col = 0; col < v->cols; col++) {
            const int64_t at = row * v->cols + col;
            const float bias = v->bias ? tki_get(c, v->bias, col) : 0;
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

static int layer(const tk_case *c, void *const b[], void *run)
{
    const way *w = tki_how(run);
    const tki_linear_view v = tki_linear_view_of(c, b);
    float *left = tki_planted_decoded(c, &v.left, v.rows, v.places);
    float *right = tki_planted_decoded(c, &v.right, v.cols, v.places);
    float *terms = malloc((size_t)(v.places + 1) * sizeof *terms);
    const bool good = left && right && terms;
    if (good)
        compute(c, &v, w, left, right, terms);
    free(left);
    free(right);
    free(terms);
    return good ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(layer, way, __VA_ARGS__)

const tki_variant tki_linear_fwd_variants[] = {
    {"reversed", "sums from the last product to the first", WITH(.order = TKI_REVERSED)},
    {"pairwise", "sums neighbours, then neighbouring sums", WITH(.order = TKI_PAIRWISE)},
    {"kahan", "compensated summation", WITH(.order = TKI_KAHAN)},
    {"in_double", "sums in double", WITH(.in_double = true)},
    {"fused", "one FMA for each product", WITH(.fused = true)},
    {"slices", "four parts of each sum, added at the end, as split-K does", WITH(.slices = true)},
    {"terms_first", "begins each sum with what is to be added", WITH(.terms_first = true, .fused = true)},
    {"terms_together", "adds bias and residual to each other first", WITH(.residual_first = true)},
    {"tanh", "gelu by tanh where that does not cancel", WITH(.tanh_form = true)},
    {0},
};

enum { LIST_LENGTH = sizeof tki_linear_fwd_variants / sizeof *tki_linear_fwd_variants };

extern const tki_variant tki_linear_grad_x_variants[LIST_LENGTH] __attribute__((alias("tki_linear_fwd_variants")));
extern const tki_variant tki_linear_grad_w_variants[LIST_LENGTH] __attribute__((alias("tki_linear_fwd_variants")));
