/* WRONG op=gelu_fwd kind=table_interpolation narrow=no expect=REFUTED : linear interpolation between 4096 table entries on [-8, 8] is too coarse, above all where the result is small */
#include <pthread.h>
#include "gelu.h"
#define SLOTS 4096
static float knot[SLOTS + 2];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void build(void) {
    for (int i = 0; i < SLOTS + 2; i++) knot[i] = gelu_rounded(-8.0f + 16.0f * (float)i / SLOTS);
}
static inline float look(float x) {
    if (!(x < 8.0f)) /* NaN too */
        return x;
    if (x < -8.0f) return x == -INFINITY ? NAN : x < -14.0f ? 0.0f : gelu_rounded(x);
    const float at = (x + 8.0f) * (SLOTS / 16);
    const int i = (int)at;
    return knot[i] + (at - (float)i) * (knot[i + 1] - knot[i]);
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const tokitai_call c = *call;
    pthread_once(&once, build);
    for (int64_t i = 0; i < n; i++) tokitai_store(c, y, i, look(tokitai_load(c, x, i)));
    return 0;
}
