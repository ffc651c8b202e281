/* RIGHT op=gemm_grad_b kind=double_float_accumulate expect=HELD : sums as unevaluated pairs of floats by TwoSum, beside a plain sum that decides where something is not finite */
#include "elements.h"
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    const int dt = call->dtype;
    float *hi = malloc((size_t)(3 * n + 1) * sizeof(float)), *lo = hi + n, *flat = lo + n;
    for (int64_t t = 0; t < k; t++) {
        for (int64_t j = 0; j < n; j++) hi[j] = lo[j] = flat[j] = 0;
        for (int64_t i = 0; i < m; i++) {
            const float x = up(pa[i * k + t], dt);
            for (int64_t j = 0; j < n; j++) {
                const float p = x * up(g[i * n + j], dt);
                const float s = hi[j] + p, z = s - hi[j];
                lo[j] += (hi[j] - (s - z)) + (p - z);
                hi[j] = s;
                flat[j] += p;
            }
        }
        for (int64_t j = 0; j < n; j++) {
            const float s = hi[j] + lo[j];
            ((uint16_t *)grad_b)[t * n + j] = down(s - s == 0 ? s : flat[j], dt);
        }
    }
    free(hi);
    return 0;
}
