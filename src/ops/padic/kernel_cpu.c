/* UNTRUSTED. Products of matrices modulo p^N on the CPU. Residues are split into parts so small that sums of many
 * products of parts fit in 64 bits; Karatsuba's identity saves a quarter of the products. Powers of two need the lower
 * bits alone. Sums are exact and reduced once for each block of the inner size, so no bit depends on the threads.
 *
 * A term a b vanishes where the valuations of a and b add up to N or more. Slices of the inner size that vanish for every
 * row and column are left out when matrices are packed; of what is left, each tile leaves out the parts that vanish for
 * its rows and columns. Terms alone are never looked at: a branch costs more than a product. */
#include "ops/padic/kernel_cpu.h"

#include <omp.h>
#include <stdbool.h>

#include "ops/padic/kernel_cpu_tile.h"

extern const tki_padic_cpu TKI_ISA_TABLE(tki_padic_cpu);

typedef unsigned __int128 u128;

/* The inner size in blocks, as long as the sums of every scheme allow; tiles skip in parts of it. */
enum { BLOCK_INNER = 1024, PART = 32, PARTS = BLOCK_INNER / PART };
enum { TILE_COLS = LOW_COLS, BLOCK_ROWS = 4 * ROWS, BLOCK_COLS = 1024 / TILE_COLS * TILE_COLS };
enum { WIDE_TILES = TILE_COLS / WIDE_COLS };
enum { MOST_PLANES = 6, MOST_PRECISION = 64 };

/* How residues are split, and which planes of parts are multiplied: `words` 32-bit numbers for each element. */
typedef enum scheme {
    ONE_PART,    /* below 2^27: sums of 1024 products stay below 2^64 */
    TWO_PARTS,   /* of 26 bits, to 2^52: a0 b0, a1 b1, (a0 + a1) (b0 + b1) */
    THREE_PARTS, /* of 22 bits, to 2^64: the squares, and one product for each pair */
    SMALL_52,    /* to 2^26, AVX512-IFMA: products are below 2^52 */
    HALVES_52,   /* to 2^52, AVX512-IFMA: lower and upper halves of the products */
    REMAINDERS,  /* to 2^64, AVX512-IFMA: the sum modulo 2^64, 2^52 - 1 and 2^25 - 1, which determine it */
    LOW_32,      /* powers of two: the lower 32 bits */
    LOW_52,      /* AVX512-IFMA: lower halves of the products */
    LOW_64,      /* a0 b0 in 64 bits; a0 b1 + a1 b0 in 32, as a product of twice the inner size */
    WHOLE_64     /* AVX-512 has a product of 64 bits */
} scheme;

/* Of REMAINDERS: 2^64 (2^52 - 1) (2^25 - 1) is more than 1024 products of 128 bits; the three have no common factor. */
enum { TWO_BITS = 26, THREE_BITS = 22, LONG_BITS = 52, SHORT_BITS = 25 };

static const int words_of[] = {[ONE_PART] = 1,   [TWO_PARTS] = 3, [THREE_PARTS] = 6, [SMALL_52] = 2, [HALVES_52] = 2,
                               [REMAINDERS] = 6, [LOW_32] = 1,    [LOW_52] = 2,      [LOW_64] = 3,   [WHOLE_64] = 2};

typedef struct ring {
    scheme scheme;
    uint64_t prime, modulus, mask; /* mask: of a power of two */
    int precision;
    uint64_t power[MOST_PRECISION + 1]; /* of odd primes */
    /* Of odd primes: the modulus with its highest bit set, and the reciprocal of that (Moeller and Granlund). */
    int shift;
    uint64_t divisor, reciprocal;
    uint64_t two_66, two_64, long_64; /* modulo it: 2^66, 2^64, 2^64 (2^52 - 1) */
} ring;

#ifdef TKI_PADIC_HAS_52
enum { HAS_52 = 1 };
#else
enum { HAS_52 = 0 };
#endif
#ifdef TKI_PADIC_HAS_WHOLE
enum { HAS_WHOLE = 1 };
#else
enum { HAS_WHOLE = 0 };
#endif

static scheme scheme_of(const tki_padic_params *p)
{
    if (p->prime == 2) {
        if (p->precision <= 32)
            return LOW_32;
        if (HAS_52 && p->precision <= 52)
            return LOW_52;
        return HAS_WHOLE ? WHOLE_64 : LOW_64;
    }
    if (HAS_52 && p->modulus <= UINT64_C(1) << 26)
        return SMALL_52;
    if (p->modulus <= UINT64_C(1) << 27)
        return ONE_PART;
    if (p->modulus <= UINT64_C(1) << 52)
        return HAS_52 ? HALVES_52 : TWO_PARTS;
    return HAS_52 ? REMAINDERS : THREE_PARTS;
}

/* The remainder of a number below 2^64 times the modulus. */
TKI_INLINE uint64_t reduce(const ring *r, u128 x)
{
    x <<= r->shift;
    const uint64_t upper = (uint64_t)(x >> 64);
    const uint64_t lower = (uint64_t)x;
    const u128 q = (u128)r->reciprocal * upper + x;
    uint64_t rest = lower - ((uint64_t)(q >> 64) + 1) * r->divisor;
    if (rest > (uint64_t)q)
        rest += r->divisor;
    if (rest >= r->divisor)
        rest -= r->divisor;
    return rest >> r->shift;
}

static ring make_ring(const tki_padic_params *p)
{
    ring r = {.scheme = scheme_of(p), .prime = p->prime, .modulus = p->modulus, .precision = p->precision};
    r.mask = p->modulus - 1;
    r.power[0] = 1;
    if (p->prime == 2)
        return r;
    for (int i = 1; i <= p->precision; i++)
        r.power[i] = r.power[i - 1] * p->prime;
    r.shift = __builtin_clzll(p->modulus);
    r.divisor = p->modulus << r.shift;
    r.reciprocal = (uint64_t)(((u128)~r.divisor << 64 | UINT64_MAX) / r.divisor);
    r.two_66 = (uint64_t)(((u128)1 << 66) % p->modulus);
    r.two_64 = (uint64_t)(((u128)1 << 64) % p->modulus);
    r.long_64 = (uint64_t)((u128)r.two_64 * ((UINT64_C(1) << LONG_BITS) - 1) % p->modulus);
    return r;
}

/* x modulo 2^bits - 1, where bits is 25 or more. */
TKI_INLINE uint64_t folded(uint64_t x, int bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    x = (x & mask) + (x >> bits);
    x = (x & mask) + (x >> bits);
    return x >= mask ? x - mask : x;
}

/* x / 2^by modulo 2^bits - 1, for x below it. */
TKI_INLINE uint64_t halved(uint64_t x, int by, int bits)
{
    return (x >> by | x << (bits - by)) & ((UINT64_C(1) << bits) - 1);
}

TKI_INLINE uint64_t residue(const ring *r, uint64_t x)
{
    return r->prime == 2 ? x & r->mask : x >= r->modulus ? x % r->modulus : x;
}

/* The smaller of `most` and the valuation of a residue; that of 0 is the precision. */
TKI_INLINE int valuation_up_to(const ring *r, int most, uint64_t x)
{
    if (!most || !x)
        return most;
    if (r->prime == 2) {
        const int zeros = __builtin_ctzll(x);
        return zeros < most ? zeros : most;
    }
    while (most && x % r->power[most])
        most--;
    return most;
}

/* -- Slices that vanish ------------------------------------------------------------------------------------------- */

/* Lists the places of the inner size at which some term is not zero; their number. */
static int64_t list_slices(const tki_padic_params *p, const ring *r, uint8_t *least, int64_t *kept)
{
    memset(least, r->precision, (size_t)p->k);
    bool some = true;
    for (int64_t i = 0; i < p->m && some; i++) {
        some = false;
        for (int64_t t = 0; t < p->k; t++)
            if (least[t]) {
                least[t] = (uint8_t)valuation_up_to(r, least[t], residue(r, p->a[i * p->k + t]));
                some |= least[t] > 0;
            }
    }
    int64_t count = 0;
    for (int64_t t = 0; t < p->k; t++) {
        int v = r->precision;
        for (int64_t j = 0; j < p->n && v + least[t] >= r->precision && v; j++)
            v = valuation_up_to(r, v, residue(r, p->b[t * p->n + j]));
        if (v + least[t] < r->precision)
            kept[count++] = t;
    }
    return count;
}

/* -- Packing ------------------------------------------------------------------------------------------------------ */

/* A panel of lines, rows of a or columns of b, with all its planes one behind the other. */
typedef struct panel {
    uint32_t *data;
    uint8_t *least; /* the smallest valuation in each part of the block */
} panel;

/* Where number `line` of a plane's panel lies among those of one place of the inner size. */
TKI_INLINE int64_t wide_place(bool right, int64_t inner, int64_t t, int line)
{
    if (!right)
        return t * ROWS + line;
    const int within = line % (2 * LANES);
    const int pair = line % WIDE_COLS / (2 * LANES);
    return (line / WIDE_COLS * inner + t) * WIDE_COLS + pair * 2 * LANES +
           (within < LANES ? 2 * within : 2 * (within - LANES) + 1);
}

TKI_INLINE void put(scheme s, bool right, uint32_t *data, int64_t inner, int64_t t, int line, uint64_t x)
{
    const int lines = right ? TILE_COLS : ROWS;
    const int64_t plane = inner * lines;
    uint32_t *wide = data + wide_place(right, inner, t, line);
    uint64_t *whole = (uint64_t *)(void *)data;
    const int64_t halves = right ? (line / COLS_52 * inner + t) * COLS_52 + line % COLS_52 : t * ROWS + line;
    switch (s) {
    case ONE_PART: wide[0] = (uint32_t)x; return;
    case TWO_PARTS: {
        const uint32_t lower = (uint32_t)x & ((1 << TWO_BITS) - 1);
        const uint32_t upper = (uint32_t)(x >> TWO_BITS);
        wide[0] = lower;
        wide[plane] = upper;
        wide[2 * plane] = lower + upper;
        return;
    }
    case THREE_PARTS: {
        const uint32_t mask = (1 << THREE_BITS) - 1;
        const uint32_t x0 = (uint32_t)x & mask;
        const uint32_t x1 = (uint32_t)(x >> THREE_BITS) & mask;
        const uint32_t x2 = (uint32_t)(x >> 2 * THREE_BITS);
        wide[0] = x0;
        wide[plane] = x1;
        wide[2 * plane] = x2;
        wide[3 * plane] = x0 + x1;
        wide[4 * plane] = x0 + x2;
        wide[5 * plane] = x1 + x2;
        return;
    }
    case HALVES_52: whole[halves] = x; return;
    case REMAINDERS:
        whole[halves] = folded(x, LONG_BITS);
        whole[plane + t * lines + line] = x;
        whole[2 * plane + t * lines + line] = folded(x, SHORT_BITS);
        return;
    case SMALL_52:
    case LOW_52:
    case WHOLE_64: whole[t * lines + line] = x; return;
    case LOW_32: data[t * lines + line] = (uint32_t)x; return;
    case LOW_64: {
        /* Places 2t and 2t + 1 of the second product. */
        uint32_t *cross = data + plane + 2 * t * lines + line;
        wide[0] = (uint32_t)x;
        cross[right ? lines : 0] = (uint32_t)x;
        cross[right ? 0 : lines] = (uint32_t)(x >> 32);
        return;
    }
    }
}

/* The lines from `first` on, `stride` apart, and `step` from one place of the inner size to the next. */
TKI_INLINE void pack_as(scheme s, bool right, const ring *r, const uint64_t *from, int64_t stride, int64_t step,
                        int count, const int64_t *kept, int64_t inner, panel to)
{
    const int lines = right ? TILE_COLS : ROWS;
    for (int64_t begin = 0; begin < inner; begin += PART) {
        int least = r->precision;
        const int64_t end = begin + PART < inner ? begin + PART : inner;
        for (int64_t t = begin; t < end; t++) {
            const uint64_t *place = from + kept[t] * step;
            for (int line = 0; line < lines; line++) {
                const uint64_t x = line < count ? residue(r, place[line * stride]) : 0;
                if (least)
                    least = valuation_up_to(r, least, x);
                put(s, right, to.data, inner, t, line, x);
            }
        }
        to.least[begin / PART] = (uint8_t)least;
    }
}

TKI_INLINE void pack(bool right, const ring *r, const uint64_t *from, int64_t stride, int64_t step, int count,
                     const int64_t *kept, int64_t inner, panel to)
{
    switch (r->scheme) {
    case ONE_PART: pack_as(ONE_PART, right, r, from, stride, step, count, kept, inner, to); return;
    case TWO_PARTS: pack_as(TWO_PARTS, right, r, from, stride, step, count, kept, inner, to); return;
    case THREE_PARTS: pack_as(THREE_PARTS, right, r, from, stride, step, count, kept, inner, to); return;
    case SMALL_52: pack_as(SMALL_52, right, r, from, stride, step, count, kept, inner, to); return;
    case HALVES_52: pack_as(HALVES_52, right, r, from, stride, step, count, kept, inner, to); return;
    case REMAINDERS: pack_as(REMAINDERS, right, r, from, stride, step, count, kept, inner, to); return;
    case LOW_52: pack_as(LOW_52, right, r, from, stride, step, count, kept, inner, to); return;
    case WHOLE_64: pack_as(WHOLE_64, right, r, from, stride, step, count, kept, inner, to); return;
    case LOW_32: pack_as(LOW_32, right, r, from, stride, step, count, kept, inner, to); return;
    case LOW_64: pack_as(LOW_64, right, r, from, stride, step, count, kept, inner, to); return;
    }
}

static void pack_rows(const ring *r, const tki_padic_params *p, int64_t row, int count, const int64_t *kept,
                      int64_t inner, panel to)
{
    pack(false, r, p->a + row * p->k, p->k, 1, count, kept, inner, to);
}

static void pack_cols(const ring *r, const tki_padic_params *p, int64_t col, int count, const int64_t *kept,
                      int64_t inner, panel to)
{
    pack(true, r, p->b + col, 1, p->n, count, kept, inner, to);
}

/* -- One tile ----------------------------------------------------------------------------------------------------- */

enum { SUMS = ROWS * TILE_COLS };

/* Sums of a tile: planes of [WIDE_TILES][ROWS][WIDE_COLS]; or [TILE_COLS / COLS_52][2][ROWS][COLS_52], and behind it, or
 * alone, planes of [ROWS][TILE_COLS]. */
typedef struct sums {
    uint64_t wide[MOST_PLANES * SUMS];
    uint32_t low[SUMS];
} sums;

/* Adds the terms of places [begin, end) of a block of `inner`. */
static void add_terms(scheme s, int64_t inner, int64_t begin, int64_t end, const uint32_t *left,
                      const uint32_t *right, sums *to)
{
    const int64_t count = end - begin;
    const int planes = s == LOW_64 ? 1 : words_of[s];
    if (s == LOW_32) {
        tile_low(count, left + begin * ROWS, right + begin * TILE_COLS, to->low);
        return;
    }
#ifdef TKI_PADIC_HAS_WHOLE
    const uint64_t *x = (const uint64_t *)(const void *)left + begin * ROWS;
    const uint64_t *y = (const uint64_t *)(const void *)right;
    if (s == WHOLE_64)
        tile_whole(count, x, y + begin * TILE_COLS, to->wide);
#ifdef TKI_PADIC_HAS_52
    if (s == SMALL_52 || s == LOW_52)
        tile_52_low(count, x, y + begin * TILE_COLS, to->wide);
    for (int v = 0; (s == HALVES_52 || s == REMAINDERS) && v < TILE_COLS / COLS_52; v++)
        tile_52(count, x, y + (v * inner + begin) * COLS_52, to->wide + v * 2 * ROWS * COLS_52);
    if (s == REMAINDERS) {
        tile_whole(count, x + inner * ROWS, y + (inner + begin) * TILE_COLS, to->wide + 2 * SUMS);
        tile_52_low(count, x + 2 * inner * ROWS, y + (2 * inner + begin) * TILE_COLS, to->wide + 3 * SUMS);
    }
#endif
    if (s == SMALL_52 || s == HALVES_52 || s == REMAINDERS || s == LOW_52 || s == WHOLE_64)
        return;
#endif
    for (int plane = 0; plane < planes; plane++)
        for (int v = 0; v < WIDE_TILES; v++)
            tile_wide(count, left + plane * inner * ROWS + begin * ROWS,
                      right + plane * inner * TILE_COLS + (v * inner + begin) * WIDE_COLS,
                      to->wide + (plane * WIDE_TILES + v) * ROWS * WIDE_COLS);
    if (s == LOW_64)
        tile_low(2 * count, left + inner * ROWS + 2 * begin * ROWS, right + inner * TILE_COLS + 2 * begin * TILE_COLS,
                 to->low);
}

/* The residue of a sum whose remainders are known. `halves`: the sum modulo 2^52 - 1, but for its reduction; the sum is
 * whole + 2^64 t, t = t1 + (2^52 - 1) t2, with t1 below 2^52 - 1 and t2 below 2^25 - 1. */
TKI_INLINE uint64_t from_remainders(const ring *r, uint64_t halves, uint64_t whole, uint64_t lowest)
{
    enum { THIRD = ((1 << (SHORT_BITS + 1)) - 1) / 3 }; /* 2^52 - 1 is 3 modulo 2^25 - 1; this is its inverse */
    const uint64_t most = (UINT64_C(1) << LONG_BITS) - 1;
    const uint64_t least = (UINT64_C(1) << SHORT_BITS) - 1;
    uint64_t t1 = folded(folded(halves, LONG_BITS) + most - folded(whole, LONG_BITS), LONG_BITS);
    t1 = halved(t1, 64 % LONG_BITS, LONG_BITS);
    uint64_t t2 = folded(folded(lowest, SHORT_BITS) + least - folded(whole, SHORT_BITS), SHORT_BITS);
    t2 = halved(t2, 64 % SHORT_BITS, SHORT_BITS);
    t2 = folded((t2 + least - folded(t1, SHORT_BITS)) * THIRD, SHORT_BITS);
    return reduce(r, whole + (u128)r->two_64 * t1 + (u128)r->long_64 * t2);
}

/* The residue of a sum. */
TKI_INLINE uint64_t finish(const ring *r, const sums *from, int row, int col)
{
    enum { PLANE = SUMS };
    const uint64_t *x = from->wide + (col / WIDE_COLS * ROWS + row) * WIDE_COLS + col % WIDE_COLS;
    const uint64_t *whole = from->wide + row * TILE_COLS + col;
    const uint64_t *halves = from->wide + (col / COLS_52 * 2 * ROWS + row) * COLS_52 + col % COLS_52;
    const uint32_t low = from->low[row * TILE_COLS + col];
    switch (r->scheme) {
    case ONE_PART: return reduce(r, x[0]);
    case TWO_PARTS: {
        const uint64_t middle = x[2 * PLANE] - x[0] - x[PLANE];
        return reduce(r, x[0] + ((u128)middle << TWO_BITS) + ((u128)x[PLANE] << 2 * TWO_BITS));
    }
    case THREE_PARTS: {
        const uint64_t x0 = x[0], x1 = x[PLANE], x2 = x[2 * PLANE];
        const u128 lower = x0 + ((u128)(x[3 * PLANE] - x0 - x1) << THREE_BITS) +
                           ((u128)(x[4 * PLANE] - x0 - x2 + x1) << 2 * THREE_BITS);
        const u128 upper = (u128)(x[5 * PLANE] - x1 - x2) + ((u128)x2 << THREE_BITS);
        const uint64_t first = reduce(r, lower);
        const uint64_t second = reduce(r, (u128)reduce(r, upper) * r->two_66);
        return first >= r->modulus - second ? first - (r->modulus - second) : first + second;
    }
    case SMALL_52: return reduce(r, whole[0]);
    case HALVES_52: return reduce(r, halves[0] + ((u128)halves[ROWS * COLS_52] << 52));
    case REMAINDERS:
        return from_remainders(r, halves[0] + halves[ROWS * COLS_52], whole[2 * PLANE], whole[3 * PLANE]);
    case LOW_52:
    case WHOLE_64: return whole[0] & r->mask;
    case LOW_32: return low & r->mask;
    case LOW_64: break;
    }
    return (x[0] + ((uint64_t)low << 32)) & r->mask;
}

/* Adds to c, or writes it. */
static void store(const ring *r, const tki_padic_params *p, const sums *from, int64_t row, int64_t col, bool first)
{
    const int rows = p->m - row < ROWS ? (int)(p->m - row) : ROWS;
    const int cols = p->n - col < TILE_COLS ? (int)(p->n - col) : TILE_COLS;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            uint64_t *c = &p->c[(row + i) * p->n + col + j];
            const uint64_t x = finish(r, from, i, j);
            if (first)
                *c = x;
            else if (r->prime == 2)
                *c = (*c + x) & r->mask;
            else
                *c = *c >= r->modulus - x ? *c - (r->modulus - x) : *c + x;
        }
}

/* -- All of it ---------------------------------------------------------------------------------------------------- */

typedef struct work {
    int64_t *kept;
    uint8_t *least;       /* of the columns of a */
    uint8_t *right_least; /* [columns / TILE_COLS][PARTS] */
    uint32_t *right;
    char *own; /* each thread's */
    size_t own_bytes, total;
    int64_t cols; /* in a block, whole tiles */
} work;

static size_t rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static work lay_out(const tki_padic_params *p, scheme s, int threads, char *scratch)
{
    work w = {0};
    const size_t k = (size_t)p->k;
    const size_t words = (size_t)words_of[s];
    const size_t inner = k < BLOCK_INNER ? k : BLOCK_INNER;
    w.cols = p->n < BLOCK_COLS ? (p->n + TILE_COLS - 1) / TILE_COLS * TILE_COLS : BLOCK_COLS;
    const size_t parts[] = {rounded(k * sizeof *w.kept), rounded(k), rounded((size_t)w.cols / TILE_COLS * PARTS),
                            rounded((size_t)w.cols * inner * words * sizeof *w.right)};
    w.kept = (int64_t *)(void *)scratch;
    w.least = (uint8_t *)scratch + parts[0];
    w.right_least = w.least + parts[1];
    w.right = (uint32_t *)(void *)(w.right_least + parts[2]);
    w.own = (char *)w.right + parts[3];
    w.own_bytes = rounded(BLOCK_ROWS / ROWS * PARTS) + rounded(BLOCK_ROWS * inner * words * sizeof *w.right);
    w.total = parts[0] + parts[1] + parts[2] + parts[3] + (size_t)threads * w.own_bytes;
    return w;
}

static size_t scratch_bytes(const tki_padic_params *p, int threads)
{
    return p->m && p->n ? lay_out(p, scheme_of(p), threads, NULL).total : 0;
}

static panel panel_at(const ring *r, uint32_t *data, uint8_t *least, int lines, int64_t inner, int64_t i)
{
    return (panel){data + i * lines * inner * words_of[r->scheme], least + i * PARTS};
}

/* One tile of a block. The number of parts that it left out. */
static int64_t tile(const ring *r, int64_t inner, panel left, panel right, sums *to)
{
    const int parts = (int)((inner + PART - 1) / PART);
    int64_t skipped = 0;
    memset(to, 0, sizeof *to);
    for (int begin = 0; begin < parts;) {
        int end = begin;
        while (end < parts && left.least[end] + right.least[end] < r->precision)
            end++;
        if (end > begin)
            add_terms(r->scheme, inner, begin * PART, end < parts ? end * PART : inner, left.data, right.data, to);
        skipped += end < parts;
        begin = end + 1;
    }
    return skipped;
}

/* A block of rows against the packed columns. */
static int64_t block_of_rows(const ring *r, const tki_padic_params *p, const work *w, char *own, const int64_t *kept,
                             int64_t inner, int64_t row, int64_t col, bool first)
{
    uint8_t *least = (uint8_t *)own;
    uint32_t *left = (uint32_t *)(void *)(own + rounded(BLOCK_ROWS / ROWS * PARTS));
    const int64_t rows = p->m - row < BLOCK_ROWS ? p->m - row : BLOCK_ROWS;
    const int64_t cols = p->n - col < w->cols ? p->n - col : w->cols;
    int64_t skipped = 0;
    sums to;
    for (int64_t i = 0; i < rows; i += ROWS)
        pack_rows(r, p, row + i, rows - i < ROWS ? (int)(rows - i) : ROWS, kept, inner,
                  panel_at(r, left, least, ROWS, inner, i / ROWS));
    for (int64_t j = 0; j < cols; j += TILE_COLS)
        for (int64_t i = 0; i < rows; i += ROWS) {
            skipped += tile(r, inner, panel_at(r, left, least, ROWS, inner, i / ROWS),
                            panel_at(r, w->right, w->right_least, TILE_COLS, inner, j / TILE_COLS), &to);
            store(r, p, &to, row + i, col + j, first);
        }
    return skipped;
}

static void product(const tki_padic_params *p, void *scratch, int threads, tki_padic_skipped *skipped)
{
    if (skipped)
        *skipped = (tki_padic_skipped){0};
    if (p->m == 0 || p->n == 0)
        return;
    const ring r = make_ring(p);
    const work w = lay_out(p, r.scheme, threads, scratch);
    const int64_t count = list_slices(p, &r, w.least, w.kept);
    const int64_t row_blocks = (p->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int64_t left_out = 0;
    if (count == 0)
        memset(p->c, 0, (size_t)p->m * (size_t)p->n * sizeof *p->c);
#pragma omp parallel num_threads(threads) reduction(+ : left_out)
    for (int64_t begin = 0; begin < count; begin += BLOCK_INNER)
        for (int64_t col = 0; col < p->n; col += w.cols) {
            const int64_t inner = count - begin < BLOCK_INNER ? count - begin : BLOCK_INNER;
            const int64_t cols = p->n - col < w.cols ? p->n - col : w.cols;
#pragma omp for schedule(static)
            for (int64_t j = 0; j < cols; j += TILE_COLS)
                pack_cols(&r, p, col + j, cols - j < TILE_COLS ? (int)(cols - j) : TILE_COLS, w.kept + begin, inner,
                          panel_at(&r, w.right, w.right_least, TILE_COLS, inner, j / TILE_COLS));
#pragma omp for schedule(dynamic)
            for (int64_t block = 0; block < row_blocks; block++)
                left_out += block_of_rows(&r, p, &w, w.own + (size_t)omp_get_thread_num() * w.own_bytes,
                                          w.kept + begin, inner, block * BLOCK_ROWS, col, begin == 0);
        }
    if (skipped)
        *skipped = (tki_padic_skipped){.slices = p->k - count,
                                       .parts = left_out,
                                       .all_parts = ((p->m + ROWS - 1) / ROWS) *
                                                    ((p->n + TILE_COLS - 1) / TILE_COLS) *
                                                    ((count + PART - 1) / PART)};
}

const tki_padic_cpu TKI_ISA_TABLE(tki_padic_cpu) = {.scratch_bytes = scratch_bytes, .product = product};
