/* What Hopper's kernels of products of groups are given, on the host and on a device alike. Include params.h and params_hopper.h first. */
#ifndef TKI_OPS_PRODUCT_PARAMS_HOPPER_GROUPED_H
#define TKI_OPS_PRODUCT_PARAMS_HOPPER_GROUPED_H

/* The maps of the right factor, and of an output with a matrix for each group, have three axes: places beyond a matrix are not the
 * next one's. */
typedef struct tki_grouped_hopper_params {
    tki_gemm_map left, right, out;
    tki_grouped_groups of;
    void *out_elements;               /* for what the engine does not store */
    int32_t rows, cols;               /* of the output, or of one group's matrix of it */
    int32_t tiles_down, tiles_across; /* tiles_down: of one group's matrix */
    int32_t blocks;                   /* along the sum, 64 places each, where it does not run over rows */
    uint32_t *counters;               /* TKI_GEMM_COUNTERS of tki_gpu_launch_words() */
} tki_grouped_hopper_params;

#endif
