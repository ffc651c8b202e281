/* WRONG op=gelu_bwd kind=the_number_of_blocks_does_not_fit_its_ty expect=REFUTED : the number of blocks does not fit its type (16 bits); n >= 65536 * 16 = 1048576 */
#include "gelu.h"
static void one(tokitai_call c, const void *g, const void *x, void *o, int64_t i) {
    float q;
    const float v = tokitai_load(c, x, i), s = sigma2z(v, &q), w = v > 15 ? 15 : v < -15 ? -15 : v;
    tokitai_store(c, o, i, tokitai_load(c, g, i) * (s + s * q * 1.5957691216f * w * (1 + 0.134145f * w * w)));
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const uint16_t blocks = (uint16_t)(n / 16);
    for (int64_t b = 0; b < blocks; b++)
        for (int k = 0; k < 16; k++) one(*call, grad_output, x, grad_input, b * 16 + k);
    for (int64_t i = n - n % 16; i < n; i++) one(*call, grad_output, x, grad_input, i);
    return 0;
}
