/* What kernels of products, of layers and of products of groups are given, on the host and on a device alike. Include <stdint.h> or
 * device.h first. */
#ifndef TKI_OPS_PRODUCT_PARAMS_H
#define TKI_OPS_PRODUCT_PARAMS_H

/* out = left right, the factors by strides, so that a transposed one needs no kernel of its own. Strides count elements. */
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

/* -- Layers ---------------------------------------------------------------------------------------------------- */

/* s = left right, and what is done with it before it is stored; tensors that are not there are NULL. v = s + bias + other; out = v, or with
 * `unactivated` v to there and gelu(v) to out, or with `pre` v g'(pre). */
typedef struct tki_linear_params {
    tki_gemm_factor left;  /* [rows, inner] */
    tki_gemm_factor right; /* [inner, cols] */
    void *out;             /* [rows, cols], row-major, as all below; of the result's type */
    int64_t rows, cols, inner;
    const void *bias; /* [cols], of the factors' type */
    const void
        *other; /* [rows, cols], of the result's type: residual, or what a gradient is added to, which may be `out` */
    const void *pre;   /* [rows, cols], of the result's type */
    void *unactivated; /* [rows, cols], of the result's type */
} tki_linear_params;

/* On a GPU a block computes TILE x TILE outputs at a time, with so many threads for each row of them. */
enum { TKI_LINEAR_TILE = 64, TKI_LINEAR_THREADS_PER_LINE = 2 };

/* -- Products of groups ---------------------------------------------------------------------------------------- */

/* What a kernel of its own finds out about the ends before the products begin, in device memory: int64_t words, TKI_GROUPED_TABLE_WORDS(g) of
 * them. Group g stands for the rows of no group. */
enum {
    TKI_GROUPED_GOOD,  /* 1; 0 where an end is bad: then nothing is written */
    TKI_GROUPED_TOTAL, /* tiles of rows of all groups; 0 where an end is bad */
    TKI_GROUPED_FIRST /* from here on: tiles of rows before each group, and all of them; or groups, those with the most rows first */
};
#define TKI_GROUPED_TABLE_WORDS(groups) (TKI_GROUPED_FIRST + (groups) + 2)

enum {
    TKI_GROUPED_THREADS = 1024, /* of the block that makes the table */
    TKI_GROUPED_MOST_SORTED = 256,
    TKI_GROUPED_TILE = 64 /* rows and columns of a tile on any GPU */
};

typedef struct tki_grouped_groups {
    const void *ends; /* [groups] */
    int64_t groups, rows;
    int32_t wide_index; /* ends have 64 bits */
    int32_t tile;       /* rows of a tile; 0: groups are put in order */
    int64_t *table;
    uint64_t *fault_word;
} tki_grouped_groups;

/* Where the sums run over nothing. */
typedef struct tki_grouped_clear {
    const int64_t *table;
    void *out;
    int64_t count; /* elements of the result */
} tki_grouped_clear;

/* One product for each group. Rows of the left factor and of the output are cut into groups, and the right one has a matrix for each; or
 * the places of the sums are, in both factors, and the output has a matrix for each. */
typedef struct tki_grouped_params {
    tki_gemm_params all; /* as if there was one group, of all rows */
    tki_grouped_groups of;
    int32_t over_rows;
    int32_t right_along; /* the right factor lies along the sum, which its strides do not tell where a size is 1 */
} tki_grouped_params;

#endif
