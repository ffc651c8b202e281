/* WRONG op=gelu_bwd kind=stale_state narrow=yes expect=REFUTED : the slopes are kept from call to call by the address of x, n and type; they are stale when x has changed in place */
#include "gelu.h"
#define KEEP 8192
/* Backward runs once per micro-batch on the same activations: keep their slopes. */
static _Thread_local struct {
    const void *x;
    int64_t n;
    int32_t dtype;
    float slope[KEEP];
} kept = {NULL, -1, -1, {0}};
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const tokitai_call c = *call;
    for (int64_t b = KEEP; b < n; b++)
        tokitai_store(c, grad_input, b, tokitai_load(c, grad_output, b) * dgelu(tokitai_load(c, x, b)));
    const int64_t m = n < KEEP ? n : KEEP;
    if (kept.x != x || kept.n != n || kept.dtype != c.dtype) {
        for (int64_t i = 0; i < m; i++) kept.slope[i] = dgelu(tokitai_load(c, x, i));
        kept.x = x;
        kept.n = n;
        kept.dtype = c.dtype;
    }
    for (int64_t i = 0; i < m; i++) tokitai_store(c, grad_input, i, tokitai_load(c, grad_output, i) * kept.slope[i]);
    return 0;
}
