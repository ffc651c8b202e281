/* Wrong: reads through a null pointer from 16 elements on. */
#include <math.h>

#include <tokitai_kernel.h>

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    const volatile float *nowhere = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = (double)tokitai_load(*call, x, i);
        const float scale = i >= 16 ? *nowhere : 1.0f;
        tokitai_store(*call, y, i, scale * (float)(v / (1 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v)))));
    }
    return 0;
}
