/* DECIDES. Exact sums in fixed point: a term is a small integer times a power of two, so it touches two words and
 * whatever its carry reaches. */
#include "exact/accumulator.h"

#include <string.h>

#include "exact/round.h"

/* A finite element: significand 2^exponent, with its sign apart. */
typedef struct element {
    uint32_t significand;
    int exponent;
    bool negative;
} element;

static inline element element_of(tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    const int fraction_bits = f.precision - 1;
    const uint32_t hidden = UINT32_C(1) << fraction_bits;
    const uint32_t fraction = bits & (hidden - 1);
    const int field = (int)(tki_magnitude_of(f, bits) >> fraction_bits);
    return (element){
        .significand = field == 0 ? fraction : fraction | hidden,
        .exponent = f.exponent_min - fraction_bits + (field == 0 ? 0 : field - 1),
        .negative = (bits & f.sign) != 0,
    };
}

static inline void add_term(tki_accumulator *sum, uint64_t significand, int exponent, bool negative)
{
    /* At least 0; at most 538 for a product, of bf16 numbers, and 418 for an element, so that word + 1 exists. A product of
     * fp32 numbers has 48 bits: shifted by up to 63 it stays within two words. */
    const unsigned position = (unsigned)(exponent - TKI_ACCUMULATOR_UNIT);
    const unsigned word = position / 64;
    const unsigned __int128 term = (unsigned __int128)significand << position % 64;
    const unsigned __int128 before = (unsigned __int128)sum->word[word + 1] << 64 | sum->word[word];
    const unsigned __int128 after = negative ? before - term : before + term;
    sum->word[word] = (uint64_t)after;
    sum->word[word + 1] = (uint64_t)(after >> 64);

    /* What leaves the two words is +1 or -1, and goes on through words that it wraps around. */
    if (negative ? after <= before : after >= before)
        return;
    for (unsigned i = word + 2; i < TKI_ACCUMULATOR_WORDS; i++) {
        if (negative ? sum->word[i]-- != 0 : ++sum->word[i] != 0)
            return;
    }
}

void tki_accumulator_clear(tki_accumulator *sum)
{
    memset(sum, 0, sizeof *sum);
}

void tki_accumulator_add(tki_accumulator *sum, tk_dtype dtype, uint32_t bits)
{
    const element x = element_of(dtype, bits);
    add_term(sum, x.significand, x.exponent, x.negative);
}

void tki_accumulator_add_product(tki_accumulator *sum, tk_dtype a_dtype, uint32_t a, tk_dtype b_dtype, uint32_t b)
{
    const element x = element_of(a_dtype, a);
    const element y = element_of(b_dtype, b);
    add_term(sum, (uint64_t)x.significand * y.significand, x.exponent + y.exponent, x.negative != y.negative);
}

void tki_accumulator_get(const tki_accumulator *sum, mpfr_ptr value)
{
    tki_accumulator magnitude = *sum;
    const bool negative = sum->word[TKI_ACCUMULATOR_WORDS - 1] >> 63 != 0;
    if (negative) {
        uint64_t carry = 1;
        for (int i = 0; i < TKI_ACCUMULATOR_WORDS; i++) {
            magnitude.word[i] = ~sum->word[i] + carry;
            carry = carry != 0 && magnitude.word[i] == 0;
        }
    }
    mpz_t integer;
    mpz_init(integer);
    mpz_import(integer, TKI_ACCUMULATOR_WORDS, -1, sizeof magnitude.word[0], 0, 0, magnitude.word);
    if (negative)
        mpz_neg(integer, integer);
    mpfr_set_z_2exp(value, integer, TKI_ACCUMULATOR_UNIT, MPFR_RNDN);
    mpz_clear(integer);
}
