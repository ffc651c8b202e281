/* Wrong: as softmax_fwd.cu, without the barrier between the last read of a reduction and the first write of the next. A warp that is ahead
 * overwrites what another has not read. Mostly none is, and the bits are right; racecheck sees it every time. */
#include <tokitai_kernel.h>

enum { THREADS = 256, MOST_BLOCKS = 1 << 20 };

/* All threads get the result. A NaN is left out of the maximum and spoils the sum. */
static __device__ float reduce(float value, bool maximum)
{
    __shared__ float part[THREADS];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const float other = part[threadIdx.x + half];
            part[threadIdx.x] = maximum ? fmaxf(part[threadIdx.x], other) : part[threadIdx.x] + other;
        }
        __syncthreads();
    }
    return part[0];
}

static __global__ void softmax_fwd_kernel(tokitai_call call, int64_t rows, int64_t cols, const void *x, void *y)
{
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t begin = row * cols;
        float max = -INFINITY;
        float sum = 0;
        for (int64_t j = threadIdx.x; j < cols; j += THREADS)
            max = fmaxf(max, tokitai_load(call, x, begin + j));
        max = reduce(max, true);
        for (int64_t j = threadIdx.x; j < cols; j += THREADS)
            sum += expf(tokitai_load(call, x, begin + j) - max);
        sum = reduce(sum, false);
        for (int64_t j = threadIdx.x; j < cols; j += THREADS)
            tokitai_store(call, y, begin + j, expf(tokitai_load(call, x, begin + j) - max) / sum);
    }
}

int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    if (rows == 0 || cols == 0)
        return 0;
    const unsigned blocks = rows < MOST_BLOCKS ? (unsigned)rows : MOST_BLOCKS;
    softmax_fwd_kernel<<<blocks, THREADS, 0, (cudaStream_t)call->stream>>>(*call, rows, cols, x, y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
