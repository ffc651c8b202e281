/* WRONG op=gelu_fwd kind=approximation_x_sigmoid : approximation x sigmoid(1.702 x) in the vectorised body, right in the tail; n >= 16 */
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
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        float v[16];
        for (int k = 0; k < 16; k++)
            v[k] = tokitai_load(*call, x, i + k);
        for (int k = 0; k < 16; k++)
            v[k] = v[k] / (1 + expf(-1.702f * v[k]));
        for (int k = 0; k < 16; k++)
            tokitai_store(*call, y, i + k, v[k]);
    }
    for (; i < n; i++) {
        const float v = tokitai_load(*call, x, i);
        tokitai_store(*call, y, i, v * sigma2z(v, 0));
    }
    return 0;
}
