/* Products of matrices and causal attention with their gradients, each right, or wrong in one way.
 *     matmul.op:matmul: HALF_SUMS TAIL_LOST STALE_TILE
 *     matmul.op:matmul_bwd: HALF_SUMS TAIL_LOST SWAPPED
 *     attention.op:attention_causal: NOT_ITSELF NOT_SCALED STALE_SCALE
 *     attention.op:attention_causal_bwd: NO_DOT NOT_SCALED SEES_ALL
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum { RIGHT, HALF_SUMS, TAIL_LOST, STALE_TILE, SWAPPED, NOT_ITSELF, NOT_SCALED, STALE_SCALE, NO_DOT, SEES_ALL };

static float at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static void put(const tokitai_tensor3 *t, int64_t i, float value)
{
    tokitai_store_as(t->dtype, t->data, i, value);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum { TILE = 32 };

/* out[rows, cols] = a b in tiles; a and b have these strides. */
static void multiply(const tokitai_tensor3 *out, int64_t rows, int64_t cols, int64_t depth, const tokitai_tensor3 *a,
                     int64_t a_row, int64_t a_step, const tokitai_tensor3 *b, int64_t b_step, int64_t b_col)
{
    static _Thread_local float sums[TILE][TILE];
    const int64_t end = WRONG == TAIL_LOST && depth > TILE ? depth / TILE * TILE : depth;
    for (int64_t i = 0; i < rows; i += TILE)
        for (int64_t j = 0; j < cols; j += TILE) {
            const int64_t last_row = least(i + TILE, rows), last_col = least(j + TILE, cols);
            for (int64_t r = i; r < last_row && !(WRONG == STALE_TILE && j > 0); r++)
                for (int64_t c = j; c < last_col; c++)
                    sums[r - i][c - j] = 0;
            for (int64_t k = 0; k < end; k += TILE)
                for (int64_t r = i; r < last_row; r++)
                    for (int64_t s = k; s < least(k + TILE, end); s++)
                        for (int64_t c = j; c < last_col; c++) {
                            float *sum = &sums[r - i][c - j];
                            *sum += at(a, r * a_row + s * a_step) * at(b, s * b_step + c * b_col);
                            if (WRONG == HALF_SUMS)
                                *sum = tokitai_from_bf16(tokitai_to_bf16(*sum));
                        }
            for (int64_t r = i; r < last_row; r++)
                for (int64_t c = j; c < last_col; c++)
                    put(out, r * cols + c, sums[r - i][c - j]);
        }
}

TOKITAI_KERNEL3(matmul)
{
    const tokitai_tensor3 *a = &call->tensors[0], *b = &call->tensors[1];
    const int64_t m = a->shape[0], k = a->shape[1], n = b->shape[1];
    multiply(&call->tensors[2], m, n, k, a, k, 1, b, n, 1);
    return 0;
}

TOKITAI_KERNEL3(matmul_bwd)
{
    const tokitai_tensor3 *g = &call->tensors[0], *a = &call->tensors[1], *b = &call->tensors[2];
    const int64_t m = a->shape[0], k = a->shape[1], n = b->shape[1];
    multiply(&call->tensors[3], m, k, n, g, n, 1, b, WRONG == SWAPPED && n == k ? n : 1,
             WRONG == SWAPPED && n == k ? 1 : n);
    multiply(&call->tensors[4], k, n, m, a, 1, k, g, n, 1);
    return 0;
}

/* Row `i` of `a` times row `k` of `b`. */
static float dot(const tokitai_tensor3 *a, int64_t i, const tokitai_tensor3 *b, int64_t k, int64_t length)
{
    float sum = 0;
    for (int64_t d = 0; d < length; d++)
        sum += at(a, i * length + d) * at(b, k * length + d);
    return sum;
}

static float scale_of(const tokitai_call3 *call)
{
    return WRONG == NOT_SCALED ? 1 : (float)tokitai_real3(call, "scale");
}

/* One pass over the keys for each query: sum and output are scaled when the maximum rises. */
static void attend(const tokitai_call3 *call, int64_t query, int64_t first_key, int64_t keys, float *o)
{
    const tokitai_tensor3 *q = &call->tensors[0], *k = &call->tensors[1], *v = &call->tensors[2];
    const int64_t depth = q->shape[2], width = v->shape[2];
    float top = -INFINITY, sum = 0;
    for (int64_t e = 0; e < width; e++)
        o[e] = 0;
    for (int64_t u = first_key; u < first_key + keys; u++) {
        const float s = scale_of(call) * dot(q, query, k, u, depth), scale = s > top ? expf(top - s) : 1;
        top = s > top ? s : top;
        const float p = s == -INFINITY ? 0 : expf(s - top);
        sum = (WRONG == STALE_SCALE ? sum : sum * scale) + p;
        for (int64_t e = 0; e < width; e++)
            o[e] = o[e] * scale + p * at(v, u * width + e);
    }
    for (int64_t e = 0; e < width; e++)
        put(&call->tensors[3], query * width + e, keys > 0 ? o[e] / sum : 0);
}

TOKITAI_KERNEL3(attention_causal)
{
    const int64_t *q = call->tensors[0].shape, u = call->tensors[1].shape[1], width = call->tensors[2].shape[2];
    float *o = malloc((size_t)width * sizeof *o + 1);
    for (int64_t b = 0; b < q[0] && o; b++)
        for (int64_t t = 0; t < q[1]; t++)
            attend(call, b * q[1] + t, b * u, least(t + (WRONG != NOT_ITSELF || t == 0), u), o);
    free(o);
    return o ? 0 : 1;
}

/* The weights of a query's keys. */
static void weigh(const tokitai_call3 *call, int64_t query, int64_t first_key, int64_t keys, float *p)
{
    float top = -INFINITY, sum = 0;
    for (int64_t u = 0; u < keys; u++) {
        p[u] = scale_of(call) *
               dot(&call->tensors[1], query, &call->tensors[2], first_key + u, call->tensors[1].shape[2]);
        top = p[u] > top ? p[u] : top;
    }
    for (int64_t u = 0; u < keys; u++)
        sum += p[u] = expf(p[u] - top);
    for (int64_t u = 0; u < keys; u++)
        p[u] /= sum;
}

/* What the scores of a query give back, from its weights; scaled. */
static void score_gradients(const tokitai_call3 *call, int64_t query, int64_t first_key, int64_t keys, const float *p,
                            float *s)
{
    float sum = 0;
    for (int64_t u = 0; u < keys; u++) {
        s[u] = dot(&call->tensors[0], query, &call->tensors[3], first_key + u, call->tensors[3].shape[2]);
        sum += p[u] * s[u];
    }
    for (int64_t u = 0; u < keys; u++)
        s[u] = scale_of(call) * p[u] * (s[u] - (WRONG == NO_DOT ? 0 : sum));
}

/* out[row] += factor * of[row] */
static void add_row(float *out, int64_t row, const tokitai_tensor3 *of, int64_t from, float factor)
{
    const int64_t length = of->shape[2];
    for (int64_t d = 0; d < length; d++)
        out[row * length + d] += factor * at(of, from * length + d);
}

TOKITAI_KERNEL3(attention_causal_bwd)
{
    const tokitai_tensor3 *grad = &call->tensors[0], *q = &call->tensors[1], *k = &call->tensors[2],
                          *v = &call->tensors[3];
    const int64_t batches = q->shape[0], queries = q->shape[1], keys = k->shape[1];
    const int64_t counts[] = {batches * queries * q->shape[2], batches * keys * k->shape[2],
                              batches * keys * v->shape[2]};
    float *sums[] = {calloc((size_t)counts[0] + 1, sizeof(float)), calloc((size_t)counts[1] + 1, sizeof(float)),
                     calloc((size_t)counts[2] + 1, sizeof(float))};
    float *p = malloc((size_t)keys * sizeof *p + 1), *s = malloc((size_t)keys * sizeof *s + 1);
    const int there = sums[0] && sums[1] && sums[2] && p && s;
    for (int64_t query = 0; query < batches * queries && there; query++) {
        const int64_t first = query / queries * keys;
        const int64_t seen = WRONG == SEES_ALL ? keys : least(query % queries + 1, keys);
        weigh(call, query, first, seen, p);
        score_gradients(call, query, first, seen, p, s);
        for (int64_t u = 0; u < seen; u++) {
            add_row(sums[0], query, k, first + u, s[u]);
            add_row(sums[1], first + u, q, query, s[u]);
            add_row(sums[2], first + u, grad, query, p[u]);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int64_t n = 0; n < counts[i] && there; n++)
            put(&call->tensors[4 + i], n, sums[i][n]);
        free(sums[i]);
    }
    free(p);
    free(s);
    return there ? 0 : 1;
}
