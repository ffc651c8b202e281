/* The tiles of kernel_tensor.cu, for it and for launch_gpu.c. Shared memory holds STAGES panels of both factors, each DEPTH deep along the
 * sum. STAGED: where panels pass through registers, as all do on AMD devices and pairs everywhere. Sums are padded to a multiple of PADDED,
 * which all depths divide, so that they have the same bits in all tiles. */
#ifndef TKI_OPS_GEMM_PARAMS_TENSOR_H
#define TKI_OPS_GEMM_PARAMS_TENSOR_H

enum {
    TKI_TENSOR_PADDED = 64,
    TKI_TENSOR_ROWS = 128, /* the large tile */
    TKI_TENSOR_COLS = 256,
    TKI_TENSOR_THREADS = 256,
    TKI_TENSOR_DEPTH = 64,
    TKI_TENSOR_STAGES = 3,
    TKI_TENSOR_SMALL = 64, /* rows and columns */
    TKI_TENSOR_SMALL_THREADS = 128,
    TKI_TENSOR_SMALL_DEPTH = 64,
    TKI_TENSOR_SMALL_STAGES = 3,
    TKI_TENSOR_STAGED_ROWS = 128, /* the large tile, which needs more threads then */
    TKI_TENSOR_STAGED_COLS = 128,
    TKI_TENSOR_STAGED_THREADS = 256,
    TKI_TENSOR_STAGED_DEPTH = 32,
    TKI_TENSOR_STAGED_STAGES = 2,
    TKI_TENSOR_PAIRS_DEPTH = 64 /* on CUDA devices, where loads wait in registers */
};

#endif
