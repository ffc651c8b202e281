/* WRONG op=gelu_fwd kind=early_saturation : early saturation, 0 below -6; bf16, x from about -13 to -6 */
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
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    for (int64_t i = 0; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        float r;
        if (v >= 6)
            r = v;
        else if (v <= -6)
            r = -0.0f;
        else
            r = v * sigma2z(v, 0);
        tokitai_store(*call, y, i, r);
    }
    return 0;
}
