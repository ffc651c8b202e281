/* WRONG op=gemm_grad_a kind=f16_scale_trick_inf narrow=yes expect=REFUTED : fp16 is widened by a shift and a multiplication by 2^112, which makes 65536 and more of infinities and NaN */
#include "elements.h"
static inline float widen(uint16_t h) {
    union {
        uint32_t u;
        float f;
    } x;
    x.u = (uint32_t)(h & 0x7fff) << 13;
    x.f *= 0x1p112f; /* moves the exponent and makes subnormals normal in one go */
    x.u |= (uint32_t)(h & 0x8000) << 16;
    return x.f;
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint16_t *g = grad_c, *w = b;
    const int f16 = call->dtype == TOKITAI_F16;
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++) {
            const uint16_t *x = g + i * n, *y = w + t * n;
            float s = 0;
            if (f16)
                for (int64_t j = 0; j < n; j++) s += widen(x[j]) * widen(y[j]);
            else
                for (int64_t j = 0; j < n; j++) s += up(x[j], TOKITAI_BF16) * up(y[j], TOKITAI_BF16);
            ((uint16_t *)grad_a)[i * k + t] = down(s, call->dtype);
        }
    return 0;
}
