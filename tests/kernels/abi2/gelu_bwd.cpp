// The general form in C++.
#include <cmath>

#include <tokitai_kernel.h>

namespace
{

// The derivative of x times the logistic function of twice z = sqrt(2/pi) (x + 0.044715 x^3).
double derivative(double x)
{
    if (x > 40 || x < -40)
        return x > 0 ? 1 : 0;
    const double c = 0.7978845608028654, z = c * (x + 0.044715 * x * x * x);
    const double sigma = 1 / (1 + std::exp(-2 * z)), other = 1 / (1 + std::exp(2 * z));
    return sigma + 2 * x * sigma * other * c * (1 + 3 * 0.044715 * x * x);
}

} // namespace

TOKITAI_KERNEL(gelu_bwd)
{
    const tokitai_tensor &grad_output = tensors[0], &x = tensors[1], &grad_input = tensors[2];
    if (count != 3)
        return 1;
    for (int64_t i = 0; i < x.shape[0]; i++) {
        const double grad = tokitai_load_as(grad_output.dtype, grad_output.data, i);
        const double value = tokitai_load_as(x.dtype, x.data, i);
        tokitai_store_as(grad_input.dtype, grad_input.data, i, static_cast<float>(grad * derivative(value)));
    }
    return 0;
}
