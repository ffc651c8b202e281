/* WRONG op=gemm_grad_b kind=split_bf16_without_low_low narrow=yes expect=REFUTED : fp16 is split into two bf16 parts, and the product of the two low parts is left out */
#include "elements.h"
/* For units that multiply bf16 only: x = hi + lo exactly, x y = hi hi + hi lo + lo hi (+ what is too small to matter). */
static inline void split(float x, float *hi, float *lo) {
    union tokitai_float f;
    f.value = x;
    f.bits &= 0xffff0000u;
    *hi = f.value;
    *lo = x - f.value;
}
int tokitai_gemm_grad_b(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *a,
                        void *grad_b) {
    const uint16_t *g = grad_c, *pa = a;
    const int dt = call->dtype;
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t i = 0; i < m; i++) {
                const float x = up(pa[i * k + t], dt), y = up(g[i * n + j], dt);
                if (dt == TOKITAI_F16 && x - x == 0 && y - y == 0) {
                    float xh, xl, yh, yl;
                    split(x, &xh, &xl);
                    split(y, &yh, &yl);
                    s += xh * yh + (xh * yl + xl * yh);
                } else {
                    s += x * y;
                }
            }
            ((uint16_t *)grad_b)[t * n + j] = down(s, dt);
        }
    return 0;
}
