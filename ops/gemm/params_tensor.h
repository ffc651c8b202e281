/* The tiles of kernel_tensor.cu, for it and for launch_gpu.c. Panels of all tiles are equally deep, so that sums are padded alike and have the
 * same bits. Shared memory holds STAGES panels of both factors where copies go on by themselves, else STAGED. */
#ifndef TKI_OPS_GEMM_PARAMS_TENSOR_H
#define TKI_OPS_GEMM_PARAMS_TENSOR_H

enum {
    TKI_TENSOR_DEPTH = 32,
    TKI_TENSOR_STAGES = 4,
    TKI_TENSOR_STAGED = 2,
    TKI_TENSOR_ROWS = 128, /* the large tile */
    TKI_TENSOR_COLS = 128,
    TKI_TENSOR_THREADS = 128,
    TKI_TENSOR_STAGED_ROWS = 128, /* the large tile where panels pass through registers, which needs more threads */
    TKI_TENSOR_STAGED_COLS = 128,
    TKI_TENSOR_STAGED_THREADS = 256,
    TKI_TENSOR_SMALL = 64, /* rows and columns */
    TKI_TENSOR_SMALL_THREADS = 128
};

#endif
