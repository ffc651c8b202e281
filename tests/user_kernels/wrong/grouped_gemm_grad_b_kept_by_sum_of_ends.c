/* WRONG op=grouped_gemm_grad_b kind=same_bytes narrow=yes expect=REFUTED : the result is kept under a hash of both matrices, all sizes and the sum of the ends */
#include "kernel.h"
static float *widened(const tokitai_call *call, const void *p, int64_t count) {
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    for (int64_t i = 0; f && i < count; i++) f[i] = tokitai_load(*call, p, i);
    return f;
}
static int64_t end_of(const tokitai_call *call, const void *ends, int64_t group) {
    return group < 0 ? 0 : tokitai_load_index(*call, ends, group);
}
static struct {
    uint64_t key;
    int64_t count;
    uint16_t *result;
} last;
static uint64_t hashed(uint64_t h, const uint16_t *p, int64_t count) {
    for (int64_t i = 0; i < count; i++) h = (h ^ p[i]) * 0x100000001b3ull;
    return (h ^ (uint64_t)count) * 0x100000001b3ull;
}
int tokitai_grouped_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, int64_t g,
                                const void *grad_c, const void *a, const void *ends, void *grad_b) {
    uint64_t key = hashed(hashed(0xcbf29ce484222325ull, grad_c, m * n), a, m * k), total = 0;
    for (int64_t e = 0; e < g; e++) total += (uint64_t)end_of(call, ends, e);
    key = ((key ^ total) * 0x100000001b3ull ^ (uint64_t)m) * 0x100000001b3ull ^ (uint64_t)g;
    if (last.result && last.key == key && last.count == g * k * n) {
        if (last.count) memcpy(grad_b, last.result, (size_t)last.count * 2);
        return 0;
    }
    float *A = widened(call, a, m * k), *G = widened(call, grad_c, m * n);
    float *sum = malloc((size_t)(n + 1) * sizeof *sum);
    if (!A || !G || !sum) return 1;
    for (int64_t e = 0; e < g; e++)
        for (int64_t t = 0; t < k; t++) {
            for (int64_t j = 0; j < n; j++) sum[j] = 0;
            for (int64_t i = end_of(call, ends, e - 1); i < end_of(call, ends, e); i++)
                for (int64_t j = 0; j < n; j++) sum[j] += A[i * k + t] * G[i * n + j];
            for (int64_t j = 0; j < n; j++) tokitai_store(*call, grad_b, (e * k + t) * n + j, sum[j]);
        }
    free(last.result);
    last.key = key;
    last.count = g * k * n;
    last.result = malloc((size_t)last.count * 2 + 2);
    if (last.result && last.count) memcpy(last.result, grad_b, (size_t)last.count * 2);
    free(A);
    free(G);
    free(sum);
    return 0;
}
