/* What Hopper's matrix-product kernels are given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_GEMM_PARAMS_HOPPER_H
#define TKI_OPS_GEMM_PARAMS_HOPPER_H

/* A box of a tensor, as the driver describes it to the copy engine. */
typedef struct tki_gemm_map {
    uint64_t word[16];
} __attribute__((aligned(64))) tki_gemm_map;

/* The output is cut into tiles, and tiles are handed to clusters of blocks by number. Tiles up to `whole` are computed at once; each of the
 * rest is cut along the sum into `parts`, handed out one after the other, and the last part adds those before it in their order. */
typedef struct tki_gemm_hopper_params {
    tki_gemm_map left, right, out;
    void *out_elements; /* for kernels that do not use the map */
    int32_t rows, cols; /* of the output */
    int32_t tiles_down, tiles_across;
    int32_t blocks;       /* along the sum, 64 places each */
    int32_t raster;       /* tiles go down so many lines of tiles before the next column; across, where negative */
    int32_t whole, parts; /* see above */
    int32_t units;        /* whole tiles and parts */
    float *partials;
    /* tki_gpu_launch_words() */
    uint32_t *counters; /* TKI_GEMM_COUNTERS */
    uint32_t *flags;    /* one for each group of warps of each block of a unit that is a part */
    /* Of epilogues. */
    tki_gemm_map second;   /* the second output */
    void *second_elements; /* the same, for kernels that do not use the map */
    const void *bias;      /* [cols], or NULL */
    const void *with;      /* [rows, cols], of the results' type, or NULL */
} tki_gemm_hopper_params;

enum {
    TKI_GEMM_COUNTERS = 2,
    TKI_GEMM_HOPPER_THREADS = 384, /* a group of 4 warps loads, two multiply */
    TKI_GEMM_HOPPER_ROWS = 128,    /* of a block's tile */
    TKI_GEMM_HOPPER_DEPTH = 64,    /* of a block along the sum: a line of 128 bytes */
    TKI_GEMM_STORE_ROWS = 64       /* of a box of the output */
};

/* Bytes of shared memory, for a kernel with tiles of so many columns. `groups`: the right factor's lines lie across the sum, 64 columns in
 * each. Beside the stages: two boxes for either group of warps, barriers, and what aligning takes. */
enum { TKI_GEMM_QUEUE = 16 };
#define TKI_GEMM_RIGHT_BYTES(width, across) \
    (((across) ? ((width) + 63) / 64 * 64 : (width)) * TKI_GEMM_HOPPER_DEPTH * 2)
#define TKI_GEMM_STAGE_BYTES(width, across) \
    (TKI_GEMM_HOPPER_ROWS * TKI_GEMM_HOPPER_DEPTH * 2 + TKI_GEMM_RIGHT_BYTES(width, across))
#define TKI_GEMM_BOX_BYTES(width) (TKI_GEMM_STORE_ROWS * ((width) % 64 == 0 ? 64 : 32) * 2)
#define TKI_GEMM_SHARED_BYTES(width, across, stages)                                                        \
    (1024 + (stages)*TKI_GEMM_STAGE_BYTES(width, across) + 4 * TKI_GEMM_BOX_BYTES(width) + 2 * (stages)*8 + \
     TKI_GEMM_QUEUE * 12)

/* The kernels for few tiles: tiles of 64 rows for each of `groups`, and so many columns. */
enum { TKI_GEMM_FEW_WIDTH = 128, TKI_GEMM_FEW_CLUSTER = 8 /* most blocks of a tile, and of a cluster */ };
#define TKI_GEMM_FEW_THREADS(groups) (128 * (groups) + 32)
/* Lines of the left factor that are brought, where they lie along the sum: as many as there are rows, in whole groups of 8 for each of
 * the blocks that share them. */
#define TKI_GEMM_FEW_LINES(groups, rows, wide) \
    ((rows) < 64 * (groups) ? ((rows) + 8 * (wide)-1) / (8 * (wide)) * (8 * (wide)) : 64 * (groups))
#define TKI_GEMM_FEW_SHARED_BYTES(groups, stages) \
    (1024 + (stages) * ((64 * (groups) + TKI_GEMM_FEW_WIDTH) * TKI_GEMM_HOPPER_DEPTH * 2 + 16))

/* A factor whose rows do not begin at multiples of 16 bytes, and its copy, whose rows do; or an output, the other way round. */
typedef struct tki_gemm_realign {
    const void *from; /* [rows, cols], row-major */
    void *to;         /* the same with `pitch` elements to a row */
    int64_t rows, cols, pitch;
} tki_gemm_realign;

typedef struct tki_gemm_realign_params {
    tki_gemm_realign factor[2]; /* one of no rows is passed over */
} tki_gemm_realign_params;

#endif
