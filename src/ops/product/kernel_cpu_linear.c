/* UNTRUSTED. A linear layer and its gradients on the CPU: gemm's sums, and what follows done to each block of them while it is in the
 * first-level cache. What is added is added to the sum in fp32, bias first; gelu and its derivative see the sum unrounded. */
#include "ops/product/kernel_cpu_linear.h"

#define PRODUCT_IS_FINISHED 1
#include "kernels/cpu_gelu.h"
#include "kernels/cpu_product.h"

extern const tki_linear_cpu TKI_ISA_TABLE(tki_linear_cpu);

/* Sums [row][place ..] of a block, of which `count` lanes exist. */
typedef struct spot {
    int64_t row, place;
    int count;
} spot;

/* The elements of `data`, [rows, cols] like the output, that belong to these sums. They lie in a column if the factors are exchanged. */
TKI_INLINE vec load_like(const cut *w, const void *data, spot at, tk_dtype dtype)
{
    if (!w->exchanged) {
        const void *first = element_at(data, at.row * w->p.cols + at.place, dtype);
        return at.count == VEC ? vec_load_elements(first, dtype) : vec_load_elements_part(first, at.count, dtype);
    }
    float lanes[VEC] = {0};
    for (int i = 0; i < at.count; i++)
        lanes[i] = element_get(data, (at.place + i) * w->p.rows + at.row, dtype);
    return vec_load(lanes);
}

TKI_INLINE vec load_bias(const cut *w, const void *bias, spot at, tk_dtype dtype)
{
    if (w->exchanged)
        return vec_set(element_get(bias, at.row, dtype));
    const void *first = element_at(bias, at.place, dtype);
    return at.count == VEC ? vec_load_elements(first, dtype) : vec_load_elements_part(first, at.count, dtype);
}

/* Two vectors of sums from `place` on; the second may be none. */
TKI_INLINE void finish_pair(const cut *w, float *sums, const tile *to, int64_t r, int64_t c, bool activates,
                            tk_dtype dtype, tk_dtype result)
{
    const tki_linear_params *p = w->p.more;
    vec v[2] = {vec_set(0.0f), vec_set(0.0f)}, slope[2] = {vec_set(0.0f), vec_set(0.0f)};
    const int vecs = c + VEC < to->cols ? 2 : 1;
    for (int j = 0; j < vecs; j++) {
        const spot at = {to->row + r, to->col + c + j * VEC, (int)least(VEC, to->cols - c - j * VEC)};
        v[j] = finished(vec_load(sums + c + j * VEC));
        if (activates)
            continue;
        if (p->bias)
            v[j] = vec_add(v[j], load_bias(w, p->bias, at, dtype));
        if (p->other)
            v[j] = vec_add(v[j], load_like(w, p->other, at, result));
        if (p->pre)
            slope[j] = load_like(w, p->pre, at, result);
    }
    if (activates)
        gelu_pair(v, false);
    if (!activates && p->pre)
        gelu_pair(slope, true);
    for (int j = 0; j < vecs; j++)
        vec_store(sums + c + j * VEC, !activates && p->pre ? vec_mul(v[j], slope[j]) : v[j]);
}

TKI_INLINE void finish_block(const cut *w, float *sums, const tile *to, tk_dtype dtype, tk_dtype result)
{
    const tki_linear_params *p = w->p.more;
    if (p->bias || p->other || p->pre)
        for (int64_t r = 0; r < to->rows; r++)
            for (int64_t c = 0; c < to->cols; c += 2 * VEC)
                finish_pair(w, sums + r * STRIP_COLS, to, r, c, false, dtype, result);
    if (p->unactivated) {
        store_sums(w, p->unactivated, sums, to, result);
        for (int64_t r = 0; r < to->rows; r++)
            for (int64_t c = 0; c < to->cols; c += 2 * VEC)
                finish_pair(w, sums + r * STRIP_COLS, to, r, c, true, dtype, result);
    }
    store_sums(w, p->out, sums, to, result);
}

static product_params params_of(const tki_linear_params *p)
{
    return (product_params){.left = {p->left.data, p->left.line_stride, p->left.inner_stride},
                            .right = {p->right.data, p->right.line_stride, p->right.inner_stride},
                            .out = p->out,
                            .rows = p->rows,
                            .cols = p->cols,
                            .inner = p->inner,
                            .more = p};
}

static void layer(const tki_linear_params *p, tk_dtype dtype, tk_dtype result, void *scratch, int threads)
{
    const product_params params = params_of(p);
    multiply(&params, dtype, result, scratch, threads);
}

static size_t scratch_bytes(const tki_linear_params *p, int threads)
{
    const product_params params = params_of(p);
    return product_scratch_bytes(&params, threads);
}

const tki_linear_cpu TKI_ISA_TABLE(tki_linear_cpu) = {.layer = layer, .scratch_bytes = scratch_bytes};
