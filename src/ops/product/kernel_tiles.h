/* UNTRUSTED. A tile of a matrix product on any GPU: fp32 multiply-adds on panels in shared memory.
 *
 * A block computes a square of the output, walking along the sum in panels of DEPTH. Panels are brought to fp32 and laid out
 * [depth][line] on their way into shared memory, whichever way the factor lies, so that there is one inner loop. Every output
 * is one fp32 sum in ascending order from +0, padded with zero times zero to a whole panel: its bits depend neither on
 * the tile nor on the other rows and columns. Nothing is skipped, so that 0 times infinity is NaN. */
#ifndef TKI_OPS_GEMM_KERNEL_TILES_H
#define TKI_OPS_GEMM_KERNEL_TILES_H

#include "kernels/device.h"
#include "ops/product/params.h"

enum {
    PIECE = vector_elements,                   /* that a thread brings of each panel: 16 bytes */
    DEPTH = PIECE * TKI_GEMM_THREADS_PER_LINE, /* so that all threads bring a whole panel of each factor */
    ACROSS = 16,                               /* threads of a block along the columns */
    UNROLL = PIECE == 8 ? 16 : 4,              /* of fp32 more would spill */
    ROWS = 8                                   /* of the output in one thread: two groups of 4, half a tile apart */
};

struct alignas(16) quad {
    float value[4];
};

/* The two halves of a panel's depth have groups of 4 quads exchanged: a factor that lies along the sum is written by 16 lines
 * of both halves at once, which would otherwise meet in the same banks. */
DEVICE int swapped(int k, int quad_index)
{
    return quad_index ^ (k & PIECE) / (PIECE / 4);
}

/* What one thread brings of a factor: a piece of every panel, along the stride that is 1. */
struct piece {
    int line, k;       /* where it begins within a panel */
    int lines;         /* of the factor from that line on, at most PIECE; 0 or less beyond its end */
    const element *at; /* in the panel that comes next */
};

template <int TILE> DEVICE piece piece_of(const tki_gemm_factor &factor, int64_t lines, int64_t first_line)
{
    const int t = (int)thread_index();
    piece own;
    if (factor.inner_stride == 1) {
        own.line = t / 2;
        own.k = t % 2 * PIECE;
    } else {
        own.line = t % (TILE / PIECE) * PIECE;
        own.k = t / (TILE / PIECE);
    }
    const int64_t rest = lines - first_line - own.line;
    own.lines = rest < PIECE ? (int)rest : PIECE;
    own.at = (const element *)factor.data + (first_line + own.line) * factor.line_stride +
             own.k * factor.inner_stride;
    return own;
}

/* The piece of the next panel, of which the factor has `rest` places along the sum; zeros beyond its ends. */
DEVICE vector16 fetch(piece &own, const tki_gemm_factor &factor, int64_t rest)
{
    const element *at = own.at;
    own.at += DEPTH * factor.inner_stride;
    const int depth = (rest < DEPTH ? (int)rest : DEPTH) - own.k;
    int count = factor.inner_stride == 1 ? depth : own.lines;
    if (own.lines <= 0 || depth <= 0)
        count = 0;
    if (count >= PIECE && (uintptr_t)at % 16 == 0)
        return load16(at);
    vector16 v = {{0, 0, 0, 0}};
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        if (i < count)
            v.word[i / word_elements] |= (uint32_t)at[i] << 16 * (i % word_elements);
    return v;
}

/* Converts the piece into the panel, [DEPTH][TILE]. */
template <int TILE>
DEVICE void stash(quad (*panel)[TILE / 4], const tki_gemm_factor &factor, const piece &own, vector16 v)
{
    float value[PIECE];
#pragma unroll
    for (int i = 0; i < PIECE; i += word_elements)
        from_word(v.word[i / word_elements], &value[i]);
    if (factor.inner_stride == 1) {
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            panel[own.k + i][swapped(own.k, own.line / 4)].value[own.line % 4] = value[i];
    } else {
        panel[own.k][swapped(own.k, own.line / 4)] = {{value[0], value[1], value[2], value[3]}};
        if (PIECE > 4)
            panel[own.k][swapped(own.k, own.line / 4 + 1)] = {
                {value[PIECE - 4], value[PIECE - 3], value[PIECE - 2], value[PIECE - 1]}};
    }
}

/* 4 neighbours of a row, aligned to all of them. */
DEVICE void store_whole_quad(result_element *at, const float *value)
{
#if TKI_RESULT_DTYPE == 2
    store16(at, {{bits_of(value[0]), bits_of(value[1]), bits_of(value[2]), bits_of(value[3])}});
#else
    store8(at, to_pair(value[0], value[1]), to_pair(value[2], value[3]));
#endif
}

/* Up to 4 neighbours of a row; `left` of them exist. */
DEVICE void store_quad(result_element *at, int64_t left, const float *value)
{
    if (left >= 4 && (uintptr_t)at % (4 * sizeof *at) == 0) {
        store_whole_quad(at, value);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < left)
            at[i] = to_result(value[i]);
}

/* What becomes of up to 4 sums of a row, of which `left` exist. Kernels that do something else have it for params of their own. */
DEVICE void finish_quad(const tki_gemm_params &p, int64_t row, int64_t col, int64_t left, const float *sums)
{
    store_quad((result_element *)p.out + row * p.cols + col, left, sums);
}

/* The tile at that row and column, of tki_gemm_params or what is derived from it. `stage` is the half of the panels that is written next: it goes on from one tile to another. */
template <int TILE, class Params>
DEVICE void multiply_tile(const Params &p, int64_t first_row, int64_t first_col, int &stage)
{
    enum {
        COLS = TILE / ACROSS, /* of the output in one thread: groups of 4, half a tile apart */
        HALF = TILE / 2
    };
    SHARED quad left[2][DEPTH][TILE / 4];
    SHARED quad right[2][DEPTH][TILE / 4];

    /* 32 neighbouring threads cover 4 x 8 quads: what they read of each panel lies side by side or is the same. */
    const int t = (int)thread_index();
    const int down = t / 64 * 4 + t % 32 / 8;
    const int across = t / 32 % 2 * 8 + t % 8;

    float sum[ROWS][COLS] = {};

    piece own_left = piece_of<TILE>(p.left, p.rows, first_row);
    piece own_right = piece_of<TILE>(p.right, p.cols, first_col);
    vector16 next_left = fetch(own_left, p.left, p.inner);
    vector16 next_right = fetch(own_right, p.right, p.inner);
    for (int64_t rest = p.inner; rest > 0; rest -= DEPTH) {
        stash<TILE>(left[stage], p.left, own_left, next_left);
        stash<TILE>(right[stage], p.right, own_right, next_right);
        /* One barrier is enough: a buffer is written again only after the next one, which every thread reaches when it is
         * done reading. */
        block_barrier();
        next_left = fetch(own_left, p.left, rest - DEPTH);
        next_right = fetch(own_right, p.right, rest - DEPTH);
#pragma unroll UNROLL
        for (int d = 0; d < DEPTH; d++) {
            quad a[ROWS / 4], b[COLS / 4];
#pragma unroll
            for (int i = 0; i < ROWS / 4; i++)
                a[i] = left[stage][d][swapped(d, i * HALF / 4 + down)];
#pragma unroll
            for (int j = 0; j < COLS / 4; j++)
                b[j] = right[stage][d][swapped(d, j * HALF / 4 + across)];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLS; j++)
                    sum[i][j] = fma_f32(a[i / 4].value[i % 4], b[j / 4].value[j % 4], sum[i][j]);
        }
        stage ^= 1;
    }

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int64_t row = first_row + i / 4 * HALF + down * 4 + i % 4;
        if (row >= p.rows)
            continue;
#pragma unroll
        for (int j = 0; j < COLS; j += 4) {
            const int64_t col = first_col + j / 4 * HALF + across * 4;
            finish_quad(p, row, col, p.cols - col, &sum[i][j]);
        }
    }
}

#endif
