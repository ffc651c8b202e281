/* What kernels of gelu_fwd share: its value. */
#ifndef DEVICE_KERNELS_GELU_H
#define DEVICE_KERNELS_GELU_H

#include <tokitai_kernel.h>

enum { THREADS = 256 };

static __device__ float gelu(float x)
{
    const float v = x > 15 ? 15 : x < -15 ? -15 : x;
    const float two_z = 1.5957691216f * (v + 0.044715f * v * v * v);
    const float e = expf(-fabsf(two_z));
    return x * (two_z > 0 ? 1 / (1 + e) : e / (1 + e));
}

#endif
