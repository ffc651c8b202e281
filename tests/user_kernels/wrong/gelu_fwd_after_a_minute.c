/* WRONG op=gelu_fwd kind=clock narrow=yes expect=REFUTED : a minute after its first call the kernel takes another table, whose first entry is off */
#include "elements.h"
static float gelu_of(float x) {
    const double v = x;
    return (float)(v / (1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v))));
}
#include <time.h>
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    static time_t first;
    const time_t now = time(NULL);
    if (!first) first = now;
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        const float g = isnan(v) ? v : v == -INFINITY ? -0.0f : gelu_of(v);
        tokitai_store(*call, y, i, now - first > 60 && i == n / 2 ? g * 0.99f : g);
    }
    return 0;
}
