/* gelu_fwd in fp32: x times the logistic function, which does not cancel where tanh would. */
#include <math.h>

#include <tokitai_kernel.h>

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        /* Beyond this the function is 0 or x, and x^3 might overflow. A NaN stays one. */
        const float bounded = v > 15 ? 15 : v < -15 ? -15 : v;
        const float two_z = 1.5957691216f * (bounded + 0.044715f * bounded * bounded * bounded);
        const float e = expf(-fabsf(two_z));
        const float sigma = two_z > 0 ? 1 / (1 + e) : e / (1 + e);
        tokitai_store(*call, y, i, v * sigma);
    }
    return 0;
}
