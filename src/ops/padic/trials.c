/* CHOOSES. Which primes, precisions and elements trials of padic_gemm take: moduli at which a kernel changes its way, and elements
 * whose valuations add up to just below, exactly and just above the precision. */
#include "model/trial_hints.h"

#include "ops/padic/contract.h"

static int64_t below(tki_random *random, int64_t bound)
{
    return (int64_t)tki_random_below(random, (uint64_t)bound);
}

/* The most digits to that base. */
static int64_t most_precision(uint64_t prime)
{
    uint64_t modulus;
    int64_t precision = 1;
    while (precision < TKI_PADIC_MOST_PRECISION && tki_padic_modulus(prime, precision + 1, &modulus))
        precision++;
    return precision;
}

/* A prime of so many bits: the largest, whose residues leave the least room, or the next one from a drawn number on. */
static uint64_t prime_of_bits(int bits, tki_random *random)
{
    const uint64_t least = UINT64_C(1) << (bits - 1);
    const uint64_t drawn = least + (uint64_t)below(random, (int64_t)least) / 2;
    const bool largest = below(random, 2);
    uint64_t n = largest ? least - 1 + least : drawn;
    while (!tki_is_prime(n))
        n += largest ? UINT64_MAX : 1;
    return n;
}

static void draw(tk_case *c, const tk_draw *how, tki_random *random)
{
    static const uint64_t primes[] = {2, 2, 2, 3, 5, 7, 11, 65537, 2147483647, 4294967291, UINT64_C(67108859)};
    enum { PRIMES = sizeof primes / sizeof *primes };
    (void)how;
    const int64_t which = below(random, PRIMES + 3);
    const uint64_t prime = which < PRIMES ? primes[which] : prime_of_bits(2 + (int)below(random, 62), random);
    const int64_t most = most_precision(prime);
    /* The largest modulus as often as all the others: that is where sums overflow. */
    c->attributes[TKI_PADIC_PRIME].integer = (int64_t)prime;
    c->attributes[TKI_PADIC_PRECISION].integer = below(random, 2) ? most : 1 + below(random, most);
}

/* The largest moduli below sizes at which kernels add in other words or multiply in other parts, on sums so long that they fill
 * these: each for the largest residues, and for sums that are 0, 1 and p^N - 1. */
typedef struct edge {
    uint64_t prime;
    int64_t precision;
    int64_t k;
} edge;

static const edge edges[] = {
    {4093, 1, 2100},
    {65521, 1, 2100},
    {16777213, 1, 66000}, /* 2^24 */
    {67108859, 1, 2100},  /* 2^26 */
    {134217689, 1, 2100}, /* 2^27 */
    {2147483647, 1, 2100},
    {4294967291, 1, 2100},
    {67108859, 2, 2100}, /* 2^52 */
    {UINT64_C(4503599627370449), 1, 2100},
    {UINT64_C(9007199254740881), 1, 2100}, /* 2^53 */
    {2147483647, 2, 2100},                 /* 2^62 */
    {UINT64_C(2305843009213693951), 1, 2100},
    {UINT64_C(4611686018427387847), 1, 2100},
    {UINT64_C(9223372036854775783), 1, 2100}, /* 2^63 */
    {13, 17, 2100},
    {4294967291, 2, 2100}, /* 2^64 */
    {3, 40, 2100},
    {2, 63, 2100},
    {2, 64, 2100},
    /* Sums of products that 128 bits just do not hold. */
    {7, 20, 60000},
    {UINT64_C(72057594037927931), 1, 65600}, /* 2^56 */
    {UINT64_C(144115188075855859), 1, 16500},
    {UINT64_C(288230376151711717), 1, 4200},
    /* 2^32 itself and its neighbours, which 32 bits do not hold; the other powers of two, and of its root, whose squares leave room for few
     * products in 64 bits. */
    {2, 32, 1100},
    {2, 31, 1100},
    {2, 33, 1100},
    {65537, 2, 1100},
    {UINT64_C(4294967311), 1, 1100},
    {33554393, 1, 1100}, /* 2^25 */
    {47453111, 1, 1100},
    {94906249, 1, 1100},
    {189812507, 1, 1100}, /* 2^27.5 */
    {268435399, 1, 1100},
    {379625047, 1, 1100},
    {536870909, 1, 1100},
    {759250111, 1, 1100}, /* 2^29.5 */
    {1073741789, 1, 1100},
    {1518500213, 1, 1100},
    {UINT64_C(3037000493), 1, 1100}, /* 2^31.5 */
};

static void further(tk_case *c, int i, tki_random *random)
{
    const edge *e = &edges[i / 2];
    c->dims[TKI_PADIC_M] = 1 + below(random, 4);
    c->dims[TKI_PADIC_N] = 3 + below(random, 3);
    c->dims[TKI_PADIC_K] = i % 2 ? 2 + below(random, 90) : e->k + below(random, 64);
    c->attributes[TKI_PADIC_PRIME].integer = (int64_t)e->prime;
    c->attributes[TKI_PADIC_PRECISION].integer = e->precision;
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The valuation that every element at a place of the inner size has at least, so that those of a and b add up to one less
 * than the precision, to it, or to one more: the same for all columns of b, so that whole slices vanish, or for 32 columns
 * and 64 places, so that tiles do and slices do not. */
static int64_t valuation_at(const tk_case *c, int param, int64_t t, int64_t col)
{
    enum { TILE_PLACES = 64, TILE_COLS = 32 };
    const int64_t precision = c->attributes[TKI_PADIC_PRECISION].integer;
    const bool by_tiles = (c->dims[TKI_PADIC_N] / TILE_COLS + c->dims[TKI_PADIC_K]) % 2;
    const int64_t tile = param == TKI_PADIC_B && by_tiles ? col / TILE_COLS : 0;
    const uint64_t drawn = mixed((uint64_t)(by_tiles ? t / TILE_PLACES : t));
    const int64_t of_a = (int64_t)(drawn % (uint64_t)(precision + 1));
    const int64_t of_b = precision - of_a - 1 + (int64_t)(((drawn >> 32) + (uint64_t)tile) % 3);
    const int64_t v = param == TKI_PADIC_A ? of_a : of_b;
    return v < 0 ? 0 : v < precision ? v : precision;
}

static uint64_t residue_of(uint64_t modulus, uint64_t x)
{
    return modulus ? x % modulus : x;
}

/* The terms of two neighbouring places cancel; what is left is that of the last place: 0, 1 or -1 by the column, where all of a are 1. */
static void fill_cancelling(const tk_case *c, int param, uint64_t modulus, uint64_t *x, tki_random *random)
{
    const int64_t m = c->dims[TKI_PADIC_M], n = c->dims[TKI_PADIC_N], k = c->dims[TKI_PADIC_K];
    const bool left = param == TKI_PADIC_A;
    const int64_t lines = left ? m : n, place_stride = left ? 1 : n, line_stride = left ? k : 1;
    for (int64_t line = 0; line < lines; line++) {
        uint64_t *at = x + line * line_stride;
        for (int64_t t = 0; t < k; t++, at += place_stride) {
            const uint64_t drawn = residue_of(modulus, tki_random_u64(random));
            if (t == k - 1)
                *at = left ? 1 : line % 3 == 2 ? modulus - 1 : (uint64_t)(line % 3);
            else if (t == k - 2 && t % 2 == 0)
                *at = 0;
            else if (t % 2 == 0)
                *at = drawn;
            else
                *at = left ? at[-place_stride] : residue_of(modulus, modulus - at[-place_stride]);
        }
    }
}

static void fill(const tk_case *c, int param, tk_drawn how, void *data, tki_random *random)
{
    uint64_t modulus, power;
    const uint64_t prime = (uint64_t)c->attributes[TKI_PADIC_PRIME].integer;
    const int64_t precision = c->attributes[TKI_PADIC_PRECISION].integer;
    const int64_t cols = c->dims[param == TKI_PADIC_A ? TKI_PADIC_K : TKI_PADIC_N];
    const int64_t count = tk_case_elements(c, param);
    uint64_t *x = data;
    (void)tki_padic_modulus(prime, precision, &modulus);
    if (how == TK_DRAW_CANCEL) {
        fill_cancelling(c, param, modulus, x, random);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint64_t drawn = tki_random_u64(random);
        const int64_t v = valuation_at(c, param, param == TKI_PADIC_A ? i % cols : i / cols, i % cols);
        switch (how) {
        case TK_DRAW_BITS: x[i] = drawn; break;
        case TK_DRAW_LARGEST: x[i] = modulus - 1 - (drawn % 64 == 0); break;
        case TK_DRAW_PLAIN: x[i] = residue_of(modulus, drawn); break;
        case TK_DRAW_SPARSE: x[i] = drawn % 4 ? 0 : residue_of(modulus, drawn >> 2); break;
        case TK_DRAW_CANCEL: break; /* filled above */
        case TK_DRAW_TELLING:
            (void)tki_padic_modulus(prime, v, &power);
            x[i] = v == precision ? 0 : residue_of(modulus, drawn) / power * power;
            break;
        }
    }
}

const tki_trial_hints tki_padic_gemm_hints = {.draw = draw,
                                              .set_count = TKI_NO_SETS,
                                              .further_count = 2 * sizeof edges / sizeof *edges,
                                              .further = further,
                                              .fill = fill};
