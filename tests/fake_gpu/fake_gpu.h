/* A GPU that exists only in a test's memory: libcuda.so.1 and libamdhip64.so made of driver.c, libnvrtc.so and libhiprtc.so made of
 * compiler.c. They do what they are told by the environment, which is read anew in each call:
 *
 *     FAKE_GPU_FAIL=cuMemAlloc_v2=2,cuLaunchKernel=719@3    calls that return an error; @3: only the third from now on
 *     FAKE_GPU_FAIL=async=700                               kernels that fail after their launch has returned 0; the context is lost
 *     FAKE_GPU_DEVICES=2  FAKE_GPU_NAME=...  FAKE_GPU_VERSION=12040  FAKE_GPU_CAPABILITY=90  FAKE_GPU_MEMORY=1048576
 *     FAKE_GPU_CAPTURING=1                                  every stream is being captured, in the capture of this number; what spoils
 *                                                           it returns 900
 *     FAKE_GPU_LOG=FILE                                     a line for each launch
 *     FAKE_GPU_COMPILE=error                                the compilers reject every source
 *     FAKE_GPU_KERNELS=LIBRARY                              kernels that compute: its fake_gpu_kernels() is called by cuInit
 *     FAKE_GPU_ARCHITECTURE=gfx1100                         of HIP
 *     FAKE_GPU_EMULATE=SEED                                 images are libraries that tests/emulated_gpu/hipcc has made, and their kernels run,
 *                                                           their threads in the order of this seed: 0 upwards, 1 downwards, else any
 *
 * Device memory cannot be touched through its address: whoever takes it for host memory gets a segmentation fault. A call without a
 * current context, or with a handle that is not one, fails as it would on a device.
 *
 * A test program reaches the rest by dlsym() in the library that the code under test has loaded. */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_PARAM_BYTES = 1024 };

typedef struct fake_launch {
    char kernel[64];
    unsigned blocks[3];
    unsigned threads;
    unsigned shared_bytes;
    unsigned cluster;
    bool early; /* before the stream's earlier kernels are done */
    void *stream;
    size_t param_bytes; /* 0 if the kernel is not defined */
    unsigned char params[FAKE_PARAM_BYTES];
} fake_launch;

/* Where device memory lies for the fake itself and for its kernels; NULL if this is not wholly inside one allocated block. */
typedef void *fake_host_function(const void *device, size_t bytes);

/* A kernel's body. Returns 0, or the error that the next call that waits will report. */
typedef int fake_kernel(const fake_launch *launch, fake_host_function *host);

/* fake_gpu_define: kernels of that name run this from now on. Defined from the start: fake_copy, fake_fault, and
 * fake_late_copy, which copies when the whole device is waited for: work on another stream. */
typedef void fake_define_function(const char *name, size_t param_bytes, fake_kernel *run);
/* fake_gpu_kernels: of a library with kernels (kernels.c); defines them. */
typedef void fake_kernels_function(fake_define_function *define);
/* fake_gpu_launch_at: the i-th launch since the last reset, 0 the first; NULL past the end. */
typedef const fake_launch *fake_launch_function(int i);
/* fake_gpu_alive: blocks of memory, streams, events, modules and retained contexts together. */
typedef int fake_alive_function(void);
/* fake_gpu_reset: forgets launches, errors and how often each call was made; what is alive stays. */
typedef void fake_reset_function(void);

/* fake_gpu_stream_make, fake_gpu_stream_end: a stream of another part of the program. */
typedef void *fake_stream_make_function(void);
typedef void fake_stream_end_function(void *stream);

/* fake_gpu_graph_end, of CUDA alone: the graph of the capture with this number, below 1024, is gone, and all that was made of it. */
typedef void fake_graph_end_function(int number);

typedef struct fake_copy_params {
    uint64_t from, to;
    int64_t bytes;
} fake_copy_params;

typedef struct fake_fault_params {
    uint64_t fault_word;
    int64_t position;
} fake_fault_params;

#endif
