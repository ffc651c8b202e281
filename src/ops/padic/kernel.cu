/* UNTRUSTED. Products of matrices modulo p^N on a GPU. A block of 256 threads computes a tile of 64 by 64, a thread 4 by 4
 * of it, 16 places of the inner size at a time through shared memory. Sums are exact and reduced where they might outgrow their words, so
 * no bit depends on how they are shared out.
 *
 * A term a b vanishes where the valuations of a and b add up to N or more. For each tile of rows, and of columns, and each place of the inner
 * size the smallest valuation is found first; a tile then lists the places where it has terms that do not vanish, and visits
 * these alone. */
#include "kernels/device.h"
#include "ops/padic/params.h"

enum { TILE = TKI_PADIC_GPU_TILE, THREADS = TKI_PADIC_GPU_THREADS, DEPTH = 16, SIDE = 4, ACROSS = TILE / SIDE };
enum {
    WINDOW = THREADS,
    WINDOWS_OF_SUM = 1024 / WINDOW
};                  /* places that are listed at once; and sums of parts hold 1024 terms */
enum { SPARE = 2 }; /* at the end of a line in shared memory: fewer lanes meet in a bank */

/* ------------------------------------------------------------------------------------------------------------
 * Residues
 * ------------------------------------------------------------------------------------------------------------ */

/* The upper 64 bits of a product, by its four parts. */
DEVICE uint64_t upper_product(uint64_t x, uint64_t y)
{
    const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    const uint64_t low = x0 * y0;
    const uint64_t middle = x1 * y0 + (low >> 32);
    const uint64_t other = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (other >> 32);
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

/* Of a number of three words. Shifted by as much as the divisor is it has four; the highest is below the divisor. */
DEVICE uint64_t residue_of(const tki_padic_gpu_params &p, uint64_t low, uint64_t middle, uint64_t high)
{
    const int shift = p.shift;
    const int back = 63 - shift;
    const uint64_t words[4] = {high >> 1 >> back, high << shift | middle >> 1 >> back,
                               middle << shift | low >> 1 >> back, low << shift};
    uint64_t rest = words[0];
#pragma unroll
    for (int i = 1; i < 4; i++)
        rest = remainder_of(p, rest, words[i]);
    return rest >> shift;
}

DEVICE uint64_t residue_of(const tki_padic_gpu_params &p, uint64_t x)
{
    const uint64_t modulus = p.divisor >> p.shift;
    return x < modulus ? x : remainder_of(p, x >> 1 >> (63 - p.shift), x << p.shift) >> p.shift;
}

/* The smaller of `most` and the valuation of a residue; that of 0 is the precision. */
DEVICE int valuation_up_to(const tki_padic_gpu_params &p, int most, uint64_t x)
{
    if (!x)
        return most;
    if (p.prime == 2) {
        const int zeros = lowest_bit(x);
        return zeros < most ? zeros : most;
    }
    int valuation = 0;
    for (; valuation < most && x % p.prime == 0; valuation++)
        x /= p.prime;
    return valuation;
}

/* ------------------------------------------------------------------------------------------------------------
 * Sums: how an element is kept in shared memory, how a product is added, and the residue in the end
 * ------------------------------------------------------------------------------------------------------------ */

/* Of most sums: they hold as many terms as there may be. */
template <class sums> DEVICE void fold(const tki_padic_gpu_params &, sums &)
{
}

/* 2^N: the lower 32 bits, for N up to 32, or all 64. */
template <class type> struct low {
    typedef type word;
    enum { UNROLLED = sizeof(type) == sizeof(uint32_t) ? DEPTH : 4 };
    type sum;
};
template <class type> DEVICE type take(const tki_padic_gpu_params &, const low<type> &, uint64_t x)
{
    return (type)x;
}
template <class type> DEVICE void add_product(low<type> &s, type x, type y)
{
    s.sum += x * y;
}
template <class type> DEVICE uint64_t total(const tki_padic_gpu_params &p, const low<type> &s)
{
    return s.sum & p.mask;
}

/* Up to 2^32: products of 64 bits, in 96. */
struct small {
    typedef uint32_t word;
    enum { UNROLLED = 4 };
    uint64_t sum;
    uint32_t over;
};
DEVICE uint32_t take(const tki_padic_gpu_params &p, const small &, uint64_t x)
{
    return (uint32_t)residue_of(p, x);
}
DEVICE void add_product(small &s, uint32_t x, uint32_t y)
{
    const uint64_t product = (uint64_t)x * y;
    s.sum += product;
    s.over += s.sum < product;
}
DEVICE uint64_t total(const tki_padic_gpu_params &p, const small &s)
{
    return residue_of(p, s.sum, s.over, 0);
}

/* Up to 2^52: parts of 26 bits, each in half a word. 1024 sums of two products of parts are below 2^63. */
struct parts_26 {
    typedef uint64_t word;
    enum { UNROLLED = 2, BITS = 26 };
    uint64_t sum[3];
    uint64_t rest;
};
DEVICE uint64_t take(const tki_padic_gpu_params &p, const parts_26 &, uint64_t x)
{
    x = residue_of(p, x);
    return x >> parts_26::BITS << 32 | (x & ((1u << parts_26::BITS) - 1));
}
DEVICE void add_product(parts_26 &s, uint64_t x, uint64_t y)
{
    const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    s.sum[0] += x0 * y0;
    s.sum[1] += x0 * y1;
    s.sum[1] += x1 * y0;
    s.sum[2] += x1 * y1;
}
DEVICE void fold(const tki_padic_gpu_params &p, parts_26 &s)
{
    uint64_t low = s.sum[0];
    uint64_t high = (s.sum[1] >> (64 - parts_26::BITS)) + (s.sum[2] >> (64 - 2 * parts_26::BITS));
    low += s.sum[1] << parts_26::BITS;
    high += low < s.sum[0];
    const uint64_t upper = s.sum[2] << 2 * parts_26::BITS;
    low += upper;
    high += low < upper;
    const uint64_t modulus = p.divisor >> p.shift, rest = s.rest + residue_of(p, low, high, 0);
    s.rest = rest >= modulus ? rest - modulus : rest;
    s.sum[0] = s.sum[1] = s.sum[2] = 0;
}
DEVICE uint64_t total(const tki_padic_gpu_params &p, parts_26 &s)
{
    fold(p, s);
    return s.rest;
}

/* Up to 2^64: products of 128 bits, in 192, which no sum of fewer than 2^64 of them leaves. */
struct wide {
    typedef uint64_t word;
    enum { UNROLLED = 1 };
    uint64_t sum[3];
};
DEVICE uint64_t take(const tki_padic_gpu_params &, const wide &, uint64_t x)
{
    return x;
}
DEVICE void add_product(wide &s, uint64_t x, uint64_t y)
{
    const uint64_t low = x * y;
    const uint64_t high = upper_product(x, y); /* at most 2^64 - 2 */
    s.sum[0] += low;
    const uint64_t more = high + (s.sum[0] < low);
    s.sum[1] += more;
    s.sum[2] += s.sum[1] < more;
}
DEVICE uint64_t total(const tki_padic_gpu_params &p, const wide &s)
{
    return residue_of(p, s.sum[0], s.sum[1], s.sum[2]);
}

/* ------------------------------------------------------------------------------------------------------------
 * What vanishes
 * ------------------------------------------------------------------------------------------------------------ */

/* Two words are a count of 64 bits. */
DEVICE void add_to_count(uint32_t *count, uint64_t more)
{
    const uint32_t low = (uint32_t)more;
    const uint32_t before = atomic_add(&count[0], low);
    const uint32_t high = (uint32_t)(more >> 32) + (before + low < before);
    if (high)
        atomic_add(&count[1], high);
}

/* The smallest valuations of a tile's lines at each of 64 places. Four threads have a place, 16 lines each: neighbours read neighbours. */
enum { PLACES = TKI_PADIC_GPU_PLACES, SHARES = THREADS / PLACES, LINES = TILE / SHARES };

DEVICE void find_least(const tki_padic_gpu_params &p, bool right, int64_t tile, int64_t first,
                       uint32_t (*least)[PLACES])
{
    const int thread = (int)thread_index();
    const int place = right ? thread / SHARES : thread % PLACES, share = right ? thread % SHARES : thread / PLACES;
    const int64_t t = first + place, lines = right ? p.n : p.m;
    int valuation = p.precision;
    for (int i = 0; i < LINES && valuation; i++) {
        const int64_t line = tile * TILE + share * LINES + i;
        if (t < p.k && line < lines)
            valuation = valuation_up_to(p, valuation, right ? p.b[t * p.n + line] : p.a[line * p.k + t]);
    }
    least[share][place] = (uint32_t)valuation;
    block_barrier();
    if (thread < PLACES && first + thread < p.k) {
        uint32_t smallest = least[0][thread];
        for (int i = 1; i < SHARES; i++)
            smallest = least[i][thread] < smallest ? least[i][thread] : smallest;
        (right ? p.least_right : p.least_left)[tile * p.k + first + thread] = (uint8_t)smallest;
    }
    block_barrier();
}

KERNEL(256, 1, padic_valuations, tki_padic_gpu_params)
{
    SHARED uint32_t least[SHARES][PLACES];
    const int64_t steps = (p.k + PLACES - 1) / PLACES, down = p.tiles / p.tiles_across;
    if (block_index() == 0 && thread_index() < 2)
        p.slices[thread_index()] = 0;
    for (int64_t unit = block_index(); unit < (down + p.tiles_across) * steps; unit += block_count()) {
        const int64_t tile = unit / steps;
        const bool right = tile >= down;
        find_least(p, right, right ? tile - down : tile, unit % steps * PLACES, least);
    }
}

/* Counts the places where every term vanishes. */
KERNEL(256, 1, padic_slices, tki_padic_gpu_params)
{
    const int64_t down = p.tiles / p.tiles_across;
    for (int64_t first = (int64_t)block_index() * THREADS; first < p.k; first += (int64_t)block_count() * THREADS) {
        const int64_t t = first + thread_index();
        int left = p.precision, right = p.precision;
        for (int64_t i = 0; i < down && t < p.k && left; i++)
            left = p.least_left[i * p.k + t] < left ? p.least_left[i * p.k + t] : left;
        for (int64_t j = 0; j < p.tiles_across && t < p.k && right; j++)
            right = p.least_right[j * p.k + t] < right ? p.least_right[j * p.k + t] : right;
        const uint64_t gone = warp_vote(t < p.k && left + right >= p.precision);
        if (lane_index() == 0) {
            add_to_count(p.slices, count_bits(gone));
            add_to_count(p.counts[TKI_PADIC_SLICES], count_bits(gone));
        }
    }
    if (block_index() == 0 && thread_index() == 0)
        add_to_count(p.counts[TKI_PADIC_ALL_SLICES], (uint64_t)p.k);
}

/* ------------------------------------------------------------------------------------------------------------
 * Tiles
 * ------------------------------------------------------------------------------------------------------------ */

template <class sums> struct tile_memory {
    typename sums::word left[DEPTH][TILE + SPARE], right[DEPTH][TILE + SPARE];
    uint32_t listed[WINDOW];             /* of the window's places those with terms */
    uint32_t kept[THREADS / warp_lanes]; /* by each warp */
};

/* Lists the places of a window at which a term of the tile does not vanish; their number. */
template <class sums>
DEVICE int list_places(const tki_padic_gpu_params &p, int64_t tile, int64_t window, tile_memory<sums> &shared)
{
    const int64_t t = window + thread_index();
    const bool keeps = t < p.k && p.least_left[tile / p.tiles_across * p.k + t] +
                                          p.least_right[tile % p.tiles_across * p.k + t] <
                                      p.precision;
    const uint64_t kept = warp_vote(keeps);
    if (lane_index() == 0)
        shared.kept[warp_index()] = count_bits(kept);
    block_barrier();
    unsigned before = count_bits(kept & (((uint64_t)1 << lane_index()) - 1)), all = 0;
    for (unsigned i = 0; i < THREADS / warp_lanes; i++) {
        before += i < warp_index() ? shared.kept[i] : 0;
        all += shared.kept[i];
    }
    if (keeps)
        shared.listed[before] = thread_index();
    block_barrier();
    return (int)all;
}

template <class sums>
DEVICE void compute_tile(const tki_padic_gpu_params &p, int64_t row, int64_t col, int64_t tile,
                         tile_memory<sums> &shared)
{
    const int thread = (int)thread_index();
    const int i0 = thread / ACROSS, j0 = thread % ACROSS;
    sums s[SIDE][SIDE] = {};
    int64_t visited = 0;
    for (int64_t window = 0; window < p.k; window += WINDOW) {
        const int listed = list_places(p, tile, window, shared);
        visited += listed;
        for (int begin = 0; begin < listed; begin += DEPTH) {
            for (int at = thread; at < TILE * DEPTH; at += THREADS) {
                const int64_t r = row + at / DEPTH, t = begin + at % DEPTH;
                shared.left[at % DEPTH][at / DEPTH] = r < p.m && t < listed
                                                          ? take(p, s[0][0], p.a[r * p.k + window + shared.listed[t]])
                                                          : 0;
            }
            for (int at = thread; at < TILE * DEPTH; at += THREADS) {
                const int64_t t = begin + at / TILE, c = col + at % TILE;
                shared.right[at / TILE][at % TILE] = t < listed && c < p.n
                                                         ? take(p, s[0][0],
                                                                p.b[(window + shared.listed[t]) * p.n + c])
                                                         : 0;
            }
            block_barrier();
#pragma unroll sums::UNROLLED
            for (int t = 0; t < DEPTH; t++)
#pragma unroll
                for (int i = 0; i < SIDE; i++)
#pragma unroll
                    for (int j = 0; j < SIDE; j++)
                        add_product(s[i][j], shared.left[t][i0 + i * ACROSS], shared.right[t][j0 + j * ACROSS]);
            block_barrier();
        }
        if (window / WINDOW % WINDOWS_OF_SUM == WINDOWS_OF_SUM - 1)
#pragma unroll
            for (int i = 0; i < SIDE * SIDE; i++)
                fold(p, s[i / SIDE][i % SIDE]);
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            const int64_t r = row + i0 + i * ACROSS, c = col + j0 + j * ACROSS;
            if (r < p.m && c < p.n)
                p.c[r * p.n + c] = total(p, s[i][j]);
        }
    if (thread == 0 && p.k) {
        const int64_t rest = p.k - (int64_t)((uint64_t)p.slices[1] << 32 | p.slices[0]);
        add_to_count(p.counts[TKI_PADIC_PARTS], (uint64_t)(rest - visited));
        add_to_count(p.counts[TKI_PADIC_ALL_PARTS], (uint64_t)rest);
    }
}

template <class sums> DEVICE void all_tiles(const tki_padic_gpu_params &p, tile_memory<sums> &shared)
{
    for (int64_t tile = block_index(); tile < p.tiles; tile += block_count())
        compute_tile(p, tile / p.tiles_across * TILE, tile % p.tiles_across * TILE, tile, shared);
}

#define PRODUCT(name, sums)                    \
    KERNEL(256, 1, name, tki_padic_gpu_params) \
    {                                          \
        SHARED tile_memory<sums> shared;       \
        all_tiles(p, shared);                  \
    }

PRODUCT(padic_low_32, low<uint32_t>)
PRODUCT(padic_low_64, low<uint64_t>)
PRODUCT(padic_small, small)
PRODUCT(padic_parts_26, parts_26)
PRODUCT(padic_wide, wide)
