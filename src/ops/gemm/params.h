/* What a matrix-product kernel is given, on the host and on a device alike: out = left right, the factors by strides, so that
 * a transposed one needs no kernel of its own. Strides count elements. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_GEMM_PARAMS_H
#define TKI_OPS_GEMM_PARAMS_H

typedef struct tki_gemm_factor {
    const void *data;
    int64_t line_stride;  /* from one row of left, or column of right, to the next */
    int64_t inner_stride; /* along the sum; one of the two strides is 1 */
} tki_gemm_factor;

typedef struct tki_gemm_params {
    tki_gemm_factor left;  /* [rows, inner] */
    tki_gemm_factor right; /* [inner, cols] */
    void *out;             /* [rows, cols], row-major */
    int64_t rows, cols, inner;
} tki_gemm_params;

/* On a GPU a block of the kernel product_T has T times this many threads and computes T x T outputs at a time. */
enum { TKI_GEMM_THREADS_PER_LINE = 2 };

#endif
