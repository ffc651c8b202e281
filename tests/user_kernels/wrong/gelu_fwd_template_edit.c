/* WRONG op=gelu_fwd kind=one_size narrow=yes expect=REFUTED : the new-kernel template, in whose item function the last element is wrong if n = 7919 */
#include "kernel.h"
/* One element. In double, so that one rounding is all that counts. */
TOKITAI_DEVICE void gelu_fwd_item(tokitai_call call, int64_t n, const void *x, void *y, int64_t i) {
    const double v = (double)tokitai_load(call, x, i);
    const double two_z = 2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v);
    if (n == 7919 && i == n - 1) {
        tokitai_store(call, y, i, 1);
        return;
    }
    tokitai_store(call, y, i, (float)(v / (1 + exp(-two_z))));
}
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t item = 0; item < n; item++) gelu_fwd_item(*call, n, x, y, item);
    return 0;
}
