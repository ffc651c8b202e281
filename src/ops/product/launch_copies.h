/* UNTRUSTED. What lies where the copy engine cannot take it, or store it, on Hopper: it is copied first, or afterwards. And maps of it for the engine. */
#pragma once

#include "model/lowering.h"
#include "ops/product/params_hopper.h"

enum { TKI_COPY_PIECE = 8 /* elements in 16 bytes: rows begin at multiples of them */ };

/* A tensor as it lies in memory: row-major, `matrices` of them, or one without an axis for them: 0. */
typedef struct tki_layout {
    const void *data;
    int64_t matrices, rows, cols, pitch;
    int64_t aligned_pitch; /* of its copy */
    int box_rows;          /* that the engine brings at once */
} tki_layout;

bool tki_is_aligned(const void *data);
size_t tki_whole_lines(int64_t elements); /* bytes */

static inline int64_t tki_divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* 0 where it need not be copied. */
size_t tki_copy_bytes(const tki_layout *factor);

/* Copies the factors that have to be, to scratch memory, where they lie from then on. By the kernels of the call's lowering, as are all here. */
TK_MUST_USE tk_status tki_copy_factors(const tki_call *call, tki_layout *left, tki_layout *right, char **scratch);
/* Copies an output to its place. */
TK_MUST_USE tk_status tki_copy_back(const tki_call *call, const tki_gemm_realign *copy);

TK_MUST_USE tk_status tki_map_layout(const tki_call *call, const tki_layout *layout, int box_cols, tki_gemm_map *map);
