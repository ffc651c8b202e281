/* RIGHT op=gelu_bwd kind=table_of_derivative expect=HELD : the derivative of every pattern is tabulated in double for each dtype, then one product */
#include <pthread.h>
#include "kernel.h"
static double slope[2][65536];
static pthread_once_t once[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
static double derivative(double x) {
    if (isinf(x)) return x > 0 ? 1.0 : 0.0;
    const double c2 = 2.0 * 0.79788456080286535588;
    const double z2 = c2 * x * (1.0 + 0.044715 * x * x);
    const double h = c2 * x * (1.0 + 3.0 * 0.044715 * x * x);
    const double up = exp(z2), down = exp(-z2);
    const double sigma = 1.0 / (1.0 + down), rest = 1.0 / (1.0 + up);
    return sigma + sigma * rest * h;
}
static void fill_f16(void) {
    for (uint32_t p = 0; p < 65536; p++) slope[0][p] = derivative(tokitai_from_f16((uint16_t)p));
}
static void fill_bf16(void) {
    for (uint32_t p = 0; p < 65536; p++) slope[1][p] = derivative(tokitai_from_bf16((uint16_t)p));
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input) {
    const int bf16 = call->dtype == TOKITAI_BF16;
    pthread_once(&once[bf16], bf16 ? fill_bf16 : fill_f16);
    const double *d = slope[bf16];
    const uint16_t *in = x;
    for (int64_t i = 0; i < n; i++)
        tokitai_store(*call, grad_input, i, (float)(tokitai_load(*call, grad_output, i) * d[in[i]]));
    return 0;
}
