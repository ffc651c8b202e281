/* RIGHT op=gelu_bwd kind=vector_ext_threads expect=HELD : four doubles at a time with a Taylor exp, odd and even blocks of 512 taken in turn by threads */
#include <cmath>
#include <pthread.h>
#include <vector>
#include "tokitai_kernel.h"
typedef double v4 __attribute__((vector_size(32)));
typedef int64_t i4 __attribute__((vector_size(32)));
static const double LOG2E = 1.4426950408889634, LN2 = 0.69314718055994531;
static inline void exp4(v4 *v) /* |v| <= 600 */
{
    const v4 shift = {0x1.8p52, 0x1.8p52, 0x1.8p52, 0x1.8p52};
    const v4 biased = *v * LOG2E + shift, r = *v - (biased - shift) * LN2;
    v4 p = r * 0 + 1.0;
    for (int k = 12; k > 0; k--) p = 1.0 + p * r / (double)k;
    const i4 e = ((i4)biased - (i4)shift + 1023) << 52;
    *v = p * (v4)e;
}
static void group(const tokitai_call &c, const void *g, const void *x, void *out, int64_t i, int64_t count) {
    v4 v = {0, 0, 0, 0};
    for (int64_t k = 0; k < count; k++) {
        const float f = tokitai_load(c, x, i + k);
        v[k] = f > 18.0f ? 18.0 : f < -18.0f ? -18.0 : f;
    }
    const v4 vv = v * v;
    v4 e = -1.5957691216057308 * v * (1.0 + 0.044715 * vv); /* |e| < 450 */
    exp4(&e);
    const v4 s = 1.0 / (1.0 + e), slope = s * (1.0 + e * s * 1.5957691216057308 * v * (1.0 + 0.134145 * vv));
    for (int64_t k = 0; k < count; k++) {
        const float f = tokitai_load(c, x, i + k);
        const float d = f == -INFINITY ? NAN : (float)slope[k];
        tokitai_store(c, out, i + k, tokitai_load(c, g, i + k) * d);
    }
}
struct job {
    const tokitai_call *c;
    const void *g, *x;
    void *out;
    int64_t n, first, step;
};
static void *work(void *p) {
    const job &j = *(const job *)p;
    for (int64_t b = j.first * 512; b < j.n; b += j.step * 512)
        for (int64_t i = b; i < b + 512 && i < j.n; i += 4)
            group(*j.c, j.g, j.x, j.out, i, j.n - i < 4 ? j.n - i : 4);
    return nullptr;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    int64_t threads = call->threads < 8 ? call->threads : 8;
    if (n < 2048) threads = 1;
    job jobs[8];
    pthread_t id[8];
    bool started[8] = {};
    for (int64_t t = 0; t < threads; t++) jobs[t] = {call, grad_output, x, grad_input, n, t, threads};
    for (int64_t t = 1; t < threads; t++) started[t] = pthread_create(&id[t], nullptr, work, &jobs[t]) == 0;
    for (int64_t t = 0; t < threads; t++)
        if (!started[t]) work(&jobs[t]);
    for (int64_t t = 1; t < threads; t++)
        if (started[t]) pthread_join(id[t], nullptr);
    return 0;
}
