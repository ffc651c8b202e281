/* What a kernel of a linear layer or of its gradients is given, on the host and on a device alike: s = left right, and what is done
 * with it before it is stored. Tensors that are not there are NULL. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_LINEAR_PARAMS_H
#define TKI_OPS_LINEAR_PARAMS_H

typedef struct tki_linear_factor {
    const void *data;
    int64_t line_stride;  /* from one row of left, or column of right, to the next, in elements */
    int64_t inner_stride; /* along the sum; one of the two strides is 1 */
} tki_linear_factor;

/* v = s + bias + other; out = v, or with `unactivated` v to there and gelu(v) to out, or with `pre` v g'(pre). */
typedef struct tki_linear_params {
    tki_linear_factor left;  /* [rows, inner] */
    tki_linear_factor right; /* [inner, cols] */
    void *out;               /* [rows, cols], row-major, as all below; of the result's type */
    int64_t rows, cols, inner;
    const void *bias; /* [cols], of the factors' type */
    const void
        *other; /* [rows, cols], of the result's type: residual, or what a gradient is added to, which may be `out` */
    const void *pre;   /* [rows, cols], of the result's type */
    void *unactivated; /* [rows, cols], of the result's type */
} tki_linear_params;

/* On a GPU a block computes TILE x TILE outputs at a time, with so many threads for each row of them. */
enum { TKI_LINEAR_TILE = 64, TKI_LINEAR_THREADS_PER_LINE = 2 };

#endif
