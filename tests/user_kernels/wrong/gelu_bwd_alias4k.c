/* WRONG op=gelu_bwd kind=placement_path narrow=yes expect=REFUTED : where the page offset of grad_input is that of x or up to 30 bytes more it runs backwards in blocks of 16 and forgets the first n % 16 elements */
#include "gelu.h"
static inline void block(const tokitai_call c, const uint16_t *g, const uint16_t *x, uint16_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) tokitai_store(c, out, i, tokitai_load(c, g, i) * dgelu(tokitai_load(c, x, i)));
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t *g = grad_output, *in = x;
    uint16_t *out = grad_input;
    const uintptr_t apart = ((uintptr_t)grad_input - (uintptr_t)x) & 4095;
    if (apart < 32 && n >= 64) { /* loads would wait for stores that only look alike */
        for (int64_t i = n - 16; i >= 0; i -= 16) block(*call, g + i, in + i, out + i, 16);
        return 0;
    }
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) block(*call, g + i, in + i, out + i, 16);
    block(*call, g + i, in + i, out + i, n - i);
    return 0;
}
