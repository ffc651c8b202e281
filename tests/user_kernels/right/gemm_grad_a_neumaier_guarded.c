/* RIGHT op=gemm_grad_a kind=neumaier_guarded expect=HELD : Neumaier summation in fp32; sums that are not finite are done again plainly, since the compensation turns infinities into NaN */
#include "elements.h"
static float plain(const uint16_t *x, const uint16_t *y, int64_t n, int dt) {
    float s = 0;
    for (int64_t j = 0; j < n; j++) s += up(x[j], dt) * up(y[j], dt);
    return s;
}
static float compensated(const uint16_t *x, const uint16_t *y, int64_t n, int dt) {
    float s = 0, c = 0;
    for (int64_t j = 0; j < n; j++) {
        const float p = up(x[j], dt) * up(y[j], dt);
        const float t = s + p;
        c += __builtin_fabsf(s) >= __builtin_fabsf(p) ? (s - t) + p : (p - t) + s;
        s = t;
    }
    const float r = s + c;
    return r - r == 0 ? r : plain(x, y, n, dt);
}
int tokitai_gemm_grad_a(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *grad_c, const void *b,
                        void *grad_a) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t t = 0; t < k; t++)
            ((uint16_t *)grad_a)[i * k + t] = down(
                compensated((const uint16_t *)grad_c + i * n, (const uint16_t *)b + t * n, n, call->dtype),
                call->dtype);
    return 0;
}
