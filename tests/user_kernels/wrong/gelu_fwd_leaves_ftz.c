/* WRONG op=gelu_fwd kind=floating_point_mode_changed expect=REFUTED : floating-point mode changed (FTZ, DAZ) and left so; n >= 1024 */
#include <immintrin.h>
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    if (n >= 1024) _mm_setcsr(_mm_getcsr() | 0x8040); /* subnormals are slow in bulk */
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        tokitai_store(*call, y, i, v / (1 + expf(-1.5957691216f * (v + 0.044715f * v * v * v))));
    }
    return 0;
}
