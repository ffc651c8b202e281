/* Kernels that compute, for programs that find the fake driver by themselves: FAKE_GPU_KERNELS names this library. An image of the fake
 * compiler does not say which type it was made for: these are for f16. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "ops/gelu/params.h"
#include "tests/fake_gpu/fake_gpu.h"

static uint16_t gelu(uint16_t bits)
{
    const double x = (double)tki_f16_to_f32(bits);
    const double z = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    return tki_f32_to_f16((float)(x / (1 + exp(-2 * z))));
}

static int run_gelu_fwd(const fake_launch *launch, fake_host_function *host)
{
    tki_gelu_params p;
    memcpy(&p, launch->params, sizeof p);
    const uint16_t *x = host(p.x, (size_t)p.n * sizeof *x);
    uint16_t *out = host(p.out, (size_t)p.n * sizeof *out);
    if (!x || !out)
        return 700;
    for (int64_t i = 0; i < p.n; i++)
        out[i] = gelu(x[i]);
    return 0;
}

fake_kernels_function fake_gpu_kernels;
void fake_gpu_kernels(fake_define_function *define)
{
    define("gelu_fwd", sizeof(tki_gelu_params), run_gelu_fwd);
    define("gelu_fwd_elements", sizeof(tki_gelu_params), run_gelu_fwd);
}
