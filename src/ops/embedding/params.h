/* What an embedding kernel is given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_EMBEDDING_PARAMS_H
#define TKI_OPS_EMBEDDING_PARAMS_H

typedef struct tki_embedding_params {
    const void *index;       /* [queries], 8 bytes each if wide_index, else 4 */
    const void *weight;      /* [vocab, dim]; NULL in the backward pass */
    const void *grad_output; /* [queries, dim]; NULL in the forward pass */
    void *out;               /* [queries, dim] forward, [vocab, dim] backward */
    int64_t *offsets;        /* [vocab + 1] scratch; backward pass only */
    int64_t *positions;      /* [queries] scratch; backward pass only */
    int64_t queries, dim, vocab;
    int32_t wide_index;
} tki_embedding_params;

/* The rest is for GPUs.
 *
 * A row of dim elements is cut into units of 16 bytes, 4 bytes or one element, whatever all rows' alignment allows; a group of threads shares it,
 * each thread having several units in flight. */
#ifndef TKI_EMBEDDING_THREADS
#define TKI_EMBEDDING_THREADS 128 /* of a block that gathers or sums */
#endif
#ifndef TKI_EMBEDDING_FWD_UNITS
#define TKI_EMBEDDING_FWD_UNITS 2
#endif
#ifndef TKI_EMBEDDING_BWD_UNITS
#define TKI_EMBEDDING_BWD_UNITS 2
#endif

enum {
    TKI_EMBEDDING_HITS_IN_RUN = 64, /* clause BITS */
    TKI_EMBEDDING_DIGIT_BITS = 9,   /* of a row's number, at most, that one pass of the sort looks at */
    TKI_EMBEDDING_BINS = 1 << TKI_EMBEDDING_DIGIT_BITS,
    TKI_EMBEDDING_SORT_THREADS = TKI_EMBEDDING_BINS,
    TKI_EMBEDDING_MOST_TILES = 128, /* a block sums up the counts of all tiles by itself */
    /* Small tables: each block looks at all queries and sorts out the hits of a few rows. */
    TKI_EMBEDDING_PLACED_ROWS = 32,
    TKI_EMBEDDING_PLACING_BLOCKS = 128,
    TKI_EMBEDDING_PLACED_QUERIES = 1 << 14
};

typedef struct tki_embedding_hit {
    int64_t row, query;
} __attribute__((aligned(16))) tki_embedding_hit;

/* A row's hits in sorted order; begin = end = 0 if there are none. */
typedef struct tki_embedding_range {
    int64_t begin, end;
} __attribute__((aligned(16))) tki_embedding_range;

typedef struct tki_embedding_gpu_params {
    const void *index;       /* [queries], 8 bytes each if wide_index, else 4 */
    const void *weight;      /* [vocab, dim]; NULL in the backward pass */
    const void *grad_output; /* [queries, dim]; NULL in the forward pass */
    void *out;               /* [queries, dim] forward, [vocab, dim] backward */
    uint64_t *fault_word;
    int64_t queries, dim, vocab;
    int32_t wide_index;
    int32_t group_bits;   /* log2 of the threads that share a row */
    int32_t column_parts; /* the second axis of the grid: groups that share a row */

    /* The backward pass sorts hits by row, stably, the lowest digits first: pass k writes hits[k % 2]. A tile is what
     * one block sorts: 2^tile_bits hits in a row. */
    int32_t pass, passes, digit_bits;
    int32_t tile_bits, tiles;
    int32_t placed_rows;         /* of a small table in one block; 0: the table is not small */
    tki_embedding_hit *hits[2];  /* [queries] each; the second is NULL if one pass is enough */
    tki_embedding_hit *sorted;   /* that of the last pass */
    uint32_t *counts;            /* [passes, tiles, BINS]: hits of a tile with a digit */
    tki_embedding_range *ranges; /* [vocab] */
    int64_t windows;             /* ceil(queries / HITS_IN_RUN), or 0 if no row can have more than one run */
    float *partials;             /* [windows, 2, dim]: sums of runs, see kernel.cu */
} tki_embedding_gpu_params;

#endif
