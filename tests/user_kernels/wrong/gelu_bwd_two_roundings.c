/* WRONG op=gelu_bwd kind=double_rounding narrow=no expect=REFUTED : the derivative is rounded to the storage type before it is multiplied by grad_output */
#include "gelu.h"
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    for (int64_t i = 0; i < n; i++) {
        uint16_t d;
        tokitai_store(*call, &d, 0, (float)slope_in_double(tokitai_load(*call, x, i)));
        tokitai_store(*call, grad_input, i, tokitai_load(*call, grad_output, i) * tokitai_load(*call, &d, 0));
    }
    return 0;
}
