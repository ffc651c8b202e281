/* SHOWS. What an adapter to a peer looks like. Each file in bench/peers/ exports one; bench/peers.c lists them. */
#pragma once

#include <limits.h>

#include "bench/bench.h"
#include "bench/isa/machine.h"

typedef struct bench_peer {
    const char *name;
    /* What was found ("libopenblas.so.0"), or NULL with the reason in *missing. Called more than once. */
    const char *(*find)(const char **missing);
    /* The variant-th way in which this peer does the work: fills run, state and close, and may append to the name. False
     * past the last way, or if it does not do such work. */
    bool (*attach)(const bench_work *work, int variant, bench_arm *arm);
} bench_peer;

extern const bench_peer bench_peer_plain, bench_peer_sleef, bench_peer_openblas, bench_peer_blis, bench_peer_onednn,
    bench_peer_libxsmm, bench_peer_flint;

extern const bench_peer *const bench_peers[]; /* ends with NULL; PyTorch is apart */

/* The first of the names (ending with NULL) that can be loaded; *name tells which. */
void *bench_load(const char *const names[], const char **name);

/* The same, where the name alone is of use; NULL: none of them. */
const char *bench_library(const char *const names[]);

/* A function of a loaded library, or of none: `*function` becomes NULL. */
void bench_symbol(void *library, const char *symbol, void *function);

/* A GEMM in row-major terms: C[rows, cols] = op(A) op(B), inner long. Which buffers are read, and which is transposed. */
typedef struct bench_product {
    int64_t rows, cols, inner;
    const uint16_t *a; /* [rows, inner], or [inner, rows] if transposed */
    const uint16_t *b; /* [inner, cols], or [cols, inner] if transposed */
    uint16_t *c;       /* [rows, cols] */
    bool a_transposed, b_transposed;
    /* What a linear layer does beside; NULL where it does not. */
    const void *bias;     /* [cols], added */
    const void *residual; /* [rows, cols], of the results' type, added */
    void *pre;            /* [rows, cols], the sum; C is gelu of it */
    const void *slope_at; /* [rows, cols], C is times the derivative of gelu there */
} bench_product;

/* False if the work is not a GEMM and nothing else. */
bool bench_product_of(const bench_work *work, bench_product *product);
/* Linear layers, too. */
bool bench_layer_of(const bench_work *work, bench_product *product);

/* One whose operands are widened to fp32 first, with memory for that. Closing is due in any case, of a zeroed one too. */
typedef struct bench_wide_product {
    bench_product p;
    float *a, *b, *c; /* as many elements as p's */
} bench_wide_product;

bool bench_wide_product_open(const bench_work *work, bench_wide_product *product);
void bench_wide_product_close(bench_wide_product *product);

/* Conversions by all threads of the work. */
void bench_widen(const bench_work *work, const uint16_t *from, float *to, int64_t count);
void bench_narrow(const bench_work *work, const float *from, uint16_t *to, int64_t count);

bool bench_is(const bench_work *work, const char *op);
void *bench_alloc(int64_t bytes); /* 64-byte aligned; free() it */

/* Where a script of bench/peers/ lies: beside the sources or installed. */
bool bench_script_find(const char *name, char path[PATH_MAX]);

/* PyTorch, in a process of its own: false if there is none here or it does not do such work. */
bool bench_pytorch_time(const bench_work *work, double seconds, double *best, double *median, int64_t *samples);
const char *bench_pytorch_find(const char **missing);
