/* WRONG op=gelu_fwd kind=the_tail_is_the_last_eight_elements_once expect=REFUTED : the tail is the last eight elements once more, which lie before the array; n < 8 */
#include "gelu.h"
static void eight(tokitai_call c, const uint16_t *x, uint16_t *y) {
    for (int k = 0; k < 8; k++) {
        const float v = tokitai_load(c, x, k);
        tokitai_store(c, y, k, v * sigma2z(v, 0));
    }
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    const uint16_t *in = x;
    uint16_t *out = y;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) eight(*call, in + i, out + i);
    if (i < n) eight(*call, in + n - 8, out + n - 8);
    return 0;
}
