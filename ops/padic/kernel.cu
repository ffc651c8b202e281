/* UNTRUSTED. Products of matrices modulo p^N on a GPU. A block of 256 threads computes a tile of 64 by 64, a thread 4 by 4
 * of it, 16 places of the inner size at a time through shared memory. Products of 128 bits are added up in 192, which no sum
 * of fewer than 2^64 of them leaves, and reduced once: sums are exact, so no bit depends on how they are shared out.
 * Nothing is skipped. */
#include "backend/device.h"
#include "ops/padic/params.h"

enum { TILE = TKI_PADIC_GPU_TILE, THREADS = TKI_PADIC_GPU_THREADS, DEPTH = 16, SIDE = 4, ACROSS = TILE / SIDE };

/* The upper 64 bits of a product, by its four parts. */
DEVICE uint64_t upper_product(uint64_t x, uint64_t y)
{
    const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    const uint64_t low = x0 * y0;
    const uint64_t middle = x1 * y0 + (low >> 32);
    const uint64_t other = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (other >> 32);
}

struct sum {
    uint64_t word[3];
};

DEVICE void add_product(sum &s, uint64_t x, uint64_t y)
{
    const uint64_t low = x * y;
    const uint64_t high = upper_product(x, y); /* at most 2^64 - 2 */
    s.word[0] += low;
    const uint64_t more = high + (s.word[0] < low);
    s.word[1] += more;
    s.word[2] += s.word[1] < more;
}

/* The remainder of (high, low), shifted, by the divisor; high is below it. Moeller and Granlund's division of two words by
 * one. */
DEVICE uint64_t remainder_of(const tki_padic_gpu_params &p, uint64_t high, uint64_t low)
{
    const uint64_t q0 = p.reciprocal * high;
    const uint64_t lower = q0 + low;
    const uint64_t quotient = upper_product(p.reciprocal, high) + high + (lower < q0) + 1;
    uint64_t rest = low - quotient * p.divisor;
    if (rest > lower)
        rest += p.divisor;
    return rest >= p.divisor ? rest - p.divisor : rest;
}

DEVICE uint64_t residue_of(const tki_padic_gpu_params &p, const sum &s)
{
    if (p.power_of_two)
        return s.word[0] & p.mask;
    /* Shifted by as much as the divisor is, in four words; the highest is below the divisor. */
    const int shift = p.shift;
    const int back = 63 - shift;
    const uint64_t words[4] = {s.word[2] >> 1 >> back, s.word[2] << shift | s.word[1] >> 1 >> back,
                               s.word[1] << shift | s.word[0] >> 1 >> back, s.word[0] << shift};
    uint64_t rest = words[0];
#pragma unroll
    for (int i = 1; i < 4; i++)
        rest = remainder_of(p, rest, words[i]);
    return rest >> shift;
}

DEVICE void compute_tile(const tki_padic_gpu_params &p, int64_t row, int64_t col, uint64_t (*left)[TILE],
                         uint64_t (*right)[TILE])
{
    const int thread = (int)thread_index();
    const int i0 = thread / ACROSS, j0 = thread % ACROSS;
    sum s[SIDE][SIDE];
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++)
            s[i][j].word[0] = s[i][j].word[1] = s[i][j].word[2] = 0;
    for (int64_t begin = 0; begin < p.k; begin += DEPTH) {
        for (int at = thread; at < TILE * DEPTH; at += THREADS) {
            const int64_t r = row + at / DEPTH, t = begin + at % DEPTH;
            left[at % DEPTH][at / DEPTH] = r < p.m && t < p.k ? p.a[r * p.k + t] : 0;
        }
        for (int at = thread; at < TILE * DEPTH; at += THREADS) {
            const int64_t t = begin + at / TILE, c = col + at % TILE;
            right[at / TILE][at % TILE] = t < p.k && c < p.n ? p.b[t * p.n + c] : 0;
        }
        block_barrier();
#pragma unroll 1
        for (int t = 0; t < DEPTH; t++)
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++)
                    add_product(s[i][j], left[t][i0 + i * ACROSS], right[t][j0 + j * ACROSS]);
        block_barrier();
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            const int64_t r = row + i0 + i * ACROSS, c = col + j0 + j * ACROSS;
            if (r < p.m && c < p.n)
                p.c[r * p.n + c] = residue_of(p, s[i][j]);
        }
}

KERNEL(256, 1, padic_gemm, tki_padic_gpu_params)
{
    SHARED uint64_t left[DEPTH][TILE], right[DEPTH][TILE];
    for (int64_t tile = block_index(); tile < p.tiles; tile += block_count())
        compute_tile(p, tile / p.tiles_across * TILE, tile % p.tiles_across * TILE, left, right);
}
