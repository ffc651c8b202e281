/* WRONG op=gelu_bwd kind=double_rounding narrow=no : the derivative is rounded to the storage type before it is multiplied by grad_output */
#include <math.h>
#include <tokitai_kernel.h>

static double slope(double x)
{
    if (isinf(x))
        return x > 0 ? 1.0 : 0.0;
    const double z2 = 1.5957691216057308 * x * (1.0 + 0.044715 * x * x);
    const double h = 1.5957691216057308 * x * (1.0 + 0.134145 * x * x);
    return 1.0 / (1.0 + exp(-z2)) * (1.0 + 1.0 / (1.0 + exp(z2)) * h);
}

int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    for (int64_t i = 0; i < n; i++) {
        uint16_t d;
        tokitai_store(*call, &d, 0, (float)slope(tokitai_load(*call, x, i)));
        tokitai_store(*call, grad_input, i, tokitai_load(*call, grad_output, i) * tokitai_load(*call, &d, 0));
    }
    return 0;
}
