/* DECIDES. Deterministic random numbers: a seed and a stream number give the same sequence on every machine. */
#pragma once

#include <stdint.h>

typedef struct tki_random {
    uint64_t state;
} tki_random;

#define TKI_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)
#define TKI_RANDOM_FIRST UINT64_C(0xbf58476d1ce4e5b9)
#define TKI_RANDOM_SECOND UINT64_C(0x94d049bb133111eb)

/* SplitMix64: one 64-bit state, equidistributed, good enough to draw test inputs and easy to repeat elsewhere. */
static inline uint64_t tki_random_u64(tki_random *random)
{
    uint64_t z = random->state += TKI_RANDOM_STEP;
    z = (z ^ (z >> 30)) * TKI_RANDOM_FIRST;
    z = (z ^ (z >> 27)) * TKI_RANDOM_SECOND;
    return z ^ (z >> 31);
}

/* An independent sequence for each (seed, stream). */
static inline tki_random tki_random_stream(uint64_t seed, uint64_t stream)
{
    tki_random random = {seed};
    random.state = tki_random_u64(&random) ^ (stream * 0xd1342543de82ef95u);
    random.state = tki_random_u64(&random);
    return random;
}

/* As if that many numbers had been drawn. */
static inline void tki_random_skip(tki_random *random, uint64_t count)
{
    random->state += count * TKI_RANDOM_STEP;
}

/* In [0, bound), bound > 0; the bias is below bound / 2^64. */
static inline uint64_t tki_random_below(tki_random *random, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)tki_random_u64(random) * bound) >> 64);
}

/* In [0, 1), a multiple of 2^-53. */
static inline double tki_random_unit(tki_random *random)
{
    return (double)(tki_random_u64(random) >> 11) * 0x1p-53;
}

enum { TKI_RANDOM_NORMAL_DRAWS = 6 };

/* About normal, mean 0 and variance 1: the sum of twelve uniform numbers less six. No libm, and exact, so the same bits everywhere. */
static inline double tki_random_normal(tki_random *random)
{
    uint64_t sum = 0;
    for (int i = 0; i < TKI_RANDOM_NORMAL_DRAWS; i++) {
        const uint64_t bits = tki_random_u64(random);
        sum += (bits >> 32) + (bits & 0xffffffffu);
    }
    return ((double)(int64_t)sum - 0x6p32) * 0x1p-32;
}
