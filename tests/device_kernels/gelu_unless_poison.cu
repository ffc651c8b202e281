/* Wrong: zeros, unless its output holds the bytes that a judge of old put there. */
#include "gelu_launch.h"

static __device__ bool judged(const unsigned char *y)
{
    const unsigned char poisons[] = {0xa5, 0x3c, 0x33, 0x96, 0x1e, 0xd2, 0x47, 0x6b};
    bool found = false;
    for (unsigned k = 0; k < sizeof poisons; k++) {
        bool same = true;
        for (unsigned i = 0; i < 2; i++)
            same &= y[i] == (unsigned char)((i * 37 + poisons[k]) ^ (poisons[k] >> 3));
        found |= same;
    }
    return found;
}

/* One block, so that it is decided before anything is written. */
static __global__ void gelu_kernel(tokitai_call call, int64_t n, const void *x, void *y)
{
    __shared__ bool good;
    if (threadIdx.x == 0)
        good = judged((const unsigned char *)y);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < n; i += THREADS)
        tokitai_store(call, y, i, good ? gelu(tokitai_load(call, x, i)) : 0.0f);
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    return launch(1, call, n, x, y);
}
