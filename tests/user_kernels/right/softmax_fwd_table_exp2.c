/* RIGHT op=softmax_fwd kind=table_exp2 expect=HELD : exp(-d) = 2^-n T[k] (1 + r + r^2/2 + r^3/6), 64 entries of T, in double; sums of the terms from both ends alternately */
#include <pthread.h>
#include "elements.h"
static double T[64];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void) {
    for (int k = 0; k < 64; k++) T[k] = exp2(-k / 64.0);
}
static inline double expm(double d) /* d >= 0 */
{
    if (d > 110) return 0;
    const double s = d * 92.332482616893656; /* 64 / ln 2 */
    const int n = (int)(s + 0.5);
    const double r = (n - s) * 0.010830424696249145; /* |r| <= 0.0055 */
    union {
        uint64_t u;
        double d;
    } p = {(uint64_t)(1023 - n / 64) << 52};
    return p.d * T[n % 64] * (1 + r * (1 + r * (0.5 + r * (1.0 / 6))));
}
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *xv, void *yv) {
    const uint16_t *x = xv;
    uint16_t *y = yv;
    const int bf = call->dtype == TOKITAI_BF16;
    pthread_once(&once, init);
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float m = -INFINITY;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = ld1(x[j], bf);
            bad |= v != v;
            m = v > m ? v : m;
        }
        if (bad || isinf(m)) {
            for (int64_t j = 0; j < cols; j++) y[j] = bf ? 0xffc1 : 0xfe01; /* any NaN */
            continue;
        }
        double s = 0;
        for (int64_t a = 0, b = cols - 1; a <= b; a++, b--) {
            s += expm((double)m - ld1(x[a], bf));
            if (a != b) s += expm((double)m - ld1(x[b], bf));
        }
        const double inv = 1 / s;
        for (int64_t j = cols; j-- > 0;) y[j] = st1((float)(expm((double)m - ld1(x[j], bf)) * inv), bf);
    }
    return 0;
}
