/* What kernels of products of groups are given, on the host and on a device alike. Include <stdint.h> or device.h first, and ops/gemm/params.h. */
#ifndef TKI_OPS_GROUPED_PARAMS_H
#define TKI_OPS_GROUPED_PARAMS_H

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
