/* WRONG op=grouped_gemm_grad_a kind=table_capacity narrow=yes expect=REFUTED : the table of tiles of 8 rows has a place for each share of an equal router and for 256 tiles more; what does not fit keeps the matrix of the last tile that did */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static float dot(const float *x, const float *y, int64_t count) {
    float sum = 0;
    for (int64_t t = 0; t < count; t++) sum += x[t] * y[t];
    return sum;
}
static int64_t end_of(const tokitai_call *call, const void *ends, int64_t group) {
    return group < 0 ? 0 : tokitai_load_index(*call, ends, group);
}
static void row_of(const tokitai_call *call, const float *x, const float *B, int64_t n, int64_t k, void *out,
                   int64_t row) {
    for (int64_t t = 0; t < k; t++) tokitai_store(*call, out, row * k + t, B ? dot(x, B + t * n, n) : 0);
}
int tokitai_grouped_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g,
                                const void *grad_c, const void *b, const void *ends, void *grad_a) {
    float *G = widened(call, grad_c, m * n), *B = widened(call, b, g * k * n);
    if (!G || !B) return 1;
    const int64_t places = m / 8 + 256;
    int32_t *group = malloc((size_t)(places + 1) * sizeof *group);
    int64_t *first = malloc((size_t)(places + 1) * sizeof *first), count = 0, last = 0;
    if (!group || !first) return 1;
    for (int64_t e = 0; e < g; e++)
        for (int64_t i = end_of(call, ends, e - 1); i < end_of(call, ends, e); i += 8) {
            if (count < places) {
                group[count] = (int32_t)e;
                first[count++] = i;
            }
            last = end_of(call, ends, e);
        }
    for (int64_t l = 0; l < count; l++) {
        const int64_t end = l + 1 < count ? first[l + 1] : last;
        for (int64_t i = first[l]; i < end; i++) row_of(call, G + i * n, B + group[l] * k * n, n, k, grad_a, i);
    }
    free(group);
    free(first);
    for (int64_t i = end_of(call, ends, g - 1); i < m; i++) row_of(call, G + i * n, NULL, n, k, grad_a, i);
    free(G);
    free(B);
    return 0;
}
