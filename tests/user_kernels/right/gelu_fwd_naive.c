/* RIGHT op=gelu_fwd kind=x expect=HELD : x / (1 + exp(-2z)) without any clamp, in fp32; infinities cancel where they occur */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        const float t = -1.5957691216f * (v + 0.044715f * v * v * v);
        tokitai_store(*call, y, i, v / (1 + expf(t)));
    }
    return 0;
}
