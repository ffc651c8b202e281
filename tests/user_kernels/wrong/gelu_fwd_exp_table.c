/* WRONG op=gelu_fwd kind=exp_table_boundary narrow=yes expect=REFUTED : the fraction is rounded to 1/4096, and index 4096 (fraction above 4095.5/4096) wraps to entry 0 without raising the exponent; it strikes single values and all tiny positive x */
#include <pthread.h>
#include "kernel.h"
static double power[4096];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill(void) {
    for (int i = 0; i < 4096; i++) power[i] = exp2(i / 4096.0);
}
static double fast_exp2(double t) {
    if (!(t < 1000.0)) return t != t ? t : INFINITY;
    if (t < -1000.0) return 0.0;
    const double whole = floor(t), f = (t - whole) * 4096.0;
    const int i = (int)(f + 0.5);
    const double r = (f - i) * (0.69314718055994531 / 4096.0);
    return ldexp(power[i & 4095] * (1.0 + r + 0.5 * r * r), (int)whole);
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    pthread_once(&once, fill);
    for (int64_t i = 0; i < n; i++) {
        const double v = tokitai_load(c, x, i);
        tokitai_store(c, y, i, (float)(v / (1.0 + fast_exp2(-2.3022082020893405 * v * (1.0 + 0.044715 * v * v)))));
    }
    return 0;
}
