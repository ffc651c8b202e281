/* WRONG op=gemm_grad_a kind=row_prescale narrow=yes expect=REFUTED : bf16 rows of grad_c below 2^-63 are scaled up to a maximum of 1 to 2: sums with elements of b near 2^127 overflow, though the true ones are about 2^60 and less */
#include "elements.h"
/* bf16 gradients span the range of fp32: scale each row by an exact power of two, sum, scale back. */
static float pow2(int e) /* of the biased exponent e */
{
    union tokitai_float f;
    f.bits = (uint32_t)e << 23;
    return f.value;
}
static float unscale(float s, int e) {
    /* 2^(e - 127) in two steps, so that neither factor leaves the normal range */
    const int h = (e - 127) / 2;
    return s * pow2(127 + h) * pow2(127 + (e - 127) - h);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    const uint16_t *g = grad_c, *w = b;
    const int dt = call->dtype;
    float *row = malloc((size_t)(n + 1) * sizeof(float));
    for (int64_t i = 0; i < m; i++) {
        uint16_t top = 0;
        for (int64_t j = 0; j < n; j++)
            if ((g[i * n + j] & 0x7fff) > top) top = g[i * n + j] & 0x7fff;
        int e = 127;
        if (dt == TOKITAI_BF16 && top != 0 && top < 0x2000) /* only rows below 2^-63 need it */
            e = top >> 7;
        const float scale = pow2(254 - e);
        for (int64_t j = 0; j < n; j++) row[j] = e == 127 ? up(g[i * n + j], dt) : up(g[i * n + j], dt) * scale;
        for (int64_t t = 0; t < k; t++) {
            float s = 0;
            for (int64_t j = 0; j < n; j++) s += row[j] * up(w[t * n + j], dt);
            ((uint16_t *)grad_a)[i * k + t] = down(e == 127 ? s : unscale(s, e), dt);
        }
    }
    free(row);
    return 0;
}
