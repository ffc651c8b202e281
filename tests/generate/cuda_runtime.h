/* As much of CUDA as plain loops call, for the host's C++ compiler: kernels are functions, a launch calls them for one thread after the other, and
 * what is behind a pointer is the host's memory. A test writes LAUNCH(kernel, blocks, threads, ...) for kernel<<<blocks, threads, ...>>>. */
#ifndef TKI_TESTS_CUDA_RUNTIME_H
#define TKI_TESTS_CUDA_RUNTIME_H

#include <stdlib.h>

#define __global__
#define __device__
#define __host__
#define TOKITAI_DEVICE static inline __attribute__((unused))

typedef struct host_place {
    unsigned x;
} host_place;

static thread_local host_place blockIdx, threadIdx, blockDim, gridDim;

typedef void *cudaStream_t;
enum { cudaSuccess };

static inline int cudaMallocAsync(void **memory, size_t bytes, cudaStream_t)
{
    *memory = malloc(bytes);
    return *memory ? cudaSuccess : 1;
}

static inline int cudaFreeAsync(void *memory, cudaStream_t)
{
    free(memory);
    return cudaSuccess;
}

static inline int cudaGetLastError()
{
    return cudaSuccess;
}

#define LAUNCH(kernel, blocks, threads, ...)                                                                 \
    for (gridDim.x = (blocks), blockDim.x = (threads), blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) \
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)                                       \
    kernel(__VA_ARGS__)

#endif
