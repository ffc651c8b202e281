/* How kernels of gelu_fwd are launched that take its arguments and nothing else. */
#ifndef DEVICE_KERNELS_GELU_LAUNCH_H
#define DEVICE_KERNELS_GELU_LAUNCH_H

#include "gelu.h"

static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y);

static int launch(int64_t blocks, const tokitai_call *call, int64_t n, const void *x, void *y)
{
    if (n > 0)
        gelu_kernel<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)call->stream>>>(*call, n, x, y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

/* An element to a thread. */
static inline int64_t blocks_of(int64_t n)
{
    return (n + THREADS - 1) / THREADS;
}

#endif
