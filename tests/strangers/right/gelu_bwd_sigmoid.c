/* RIGHT op=gelu_bwd kind=sigma : sigma (1 + (1 - sigma) h), clamped for the exponential and h alone */
#include <math.h>
#include <tokitai_kernel.h>
static inline float sigma2z(float v, float *other)
{
    const float b = v > 15 ? 15 : v < -15 ? -15 : v;
    const float t = 1.5957691216f * (b + 0.044715f * b * b * b), e = expf(-fabsf(t)), r = 1 / (1 + e);
    if (other)
        *other = t > 0 ? e * r : r;
    return t > 0 ? r : e * r;
}
int tokitai_gelu_bwd(const tokitai_call *call, int64_t n, const void *grad_output, const void *x, void *grad_input)
{
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i), g = tokitai_load(*call, grad_output, i);
        float o;
        const float s = sigma2z(v, &o), w = v > 15 ? 15 : v < -15 ? -15 : v;
        const float h = 1.5957691216f * w * (1 + 3 * 0.044715f * w * w);
        tokitai_store(*call, grad_input, i, g * (s + s * o * h));
    }
    return 0;
}
