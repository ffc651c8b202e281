/* RIGHT op=gelu_fwd kind=log_space expect=HELD : y = x exp(-log1p(exp(-2z))) in double, odd and even elements in two passes */
#include "kernel.h"
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y) {
    for (int64_t first = 0; first < 2; first++)
        for (int64_t i = first; i < n; i += 2) {
            const double v = tokitai_load(*call, x, i);
            const double t = -1.5957691216057307117597842397375 * (v + 0.044715 * v * v * v);
            const double soft = t > 40.0 ? t : log1p(exp(t));
            tokitai_store(*call, y, i, (float)(v * exp(-soft)));
        }
    return 0;
}
