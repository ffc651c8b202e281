/* Tests of padic_gemm. */
#include <gmp.h>
#include <stdlib.h>

#include "core/random.h"
#include "exact/oracle.h"
#include "ops/padic/contract.h"
#include "tests/op_test.h"

/* The kernel for AVX512-IFMA over a definition of its two instructions, so that its way of computing is tested on every
 * processor. */
#define TKI_ISA ifma_model
#define TKI_ISA_PORTABLE
#define TKI_PADIC_IFMA_MODEL
#include "ops/padic/kernel_cpu.c"

extern const tki_oracle tki_padic_gemm_oracle;

static const uint64_t primes[] = {2, 3, 5, 7, 65537, 2147483647};
enum { PRIMES = sizeof primes / sizeof *primes };

typedef struct problem {
    int64_t m, n, k;
    uint64_t prime;
    int64_t precision;
    uint64_t modulus;
    uint64_t *a, *b, *c;
} problem;

static problem make(int64_t m, int64_t n, int64_t k, uint64_t prime, int64_t precision)
{
    problem p = {.m = m, .n = n, .k = k, .prime = prime, .precision = precision};
    assert_true(tki_padic_modulus(prime, precision, &p.modulus));
    p.a = calloc((size_t)(m * k) + 1, sizeof *p.a);
    p.b = calloc((size_t)(k * n) + 1, sizeof *p.b);
    p.c = calloc((size_t)(m * n) + 1, sizeof *p.c);
    assert_true(p.a && p.b && p.c);
    return p;
}

static void release(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

static uint64_t drawn_residue(const problem *p, tki_random *random)
{
    const uint64_t x = tki_random_u64(random);
    return p->modulus ? x % p->modulus : x;
}

static void draw_factors(const problem *p, tki_random *random)
{
    for (int64_t i = 0; i < p->m * p->k; i++)
        p->a[i] = drawn_residue(p, random);
    for (int64_t i = 0; i < p->k * p->n; i++)
        p->b[i] = drawn_residue(p, random);
}

static tk_status multiply(tk_ctx *ctx, const problem *p)
{
    const tk_padic_gemm_options options = {.prime = (int64_t)p->prime, .precision = p->precision};
    return tk_padic_gemm(ctx, TK_U64, p->m, p->n, p->k, p->a, p->b, &options, p->c);
}

/* By GMP, one product after the other: not as the oracle does it. */
static uint64_t expected_at(const problem *p, int64_t i, int64_t j)
{
    mpz_t sum, modulus, factor;
    mpz_inits(sum, modulus, factor, NULL);
    mpz_ui_pow_ui(modulus, p->prime, (unsigned long)p->precision);
    for (int64_t t = 0; t < p->k; t++) {
        mpz_set_ui(factor, p->a[i * p->k + t]);
        mpz_addmul_ui(sum, factor, p->b[t * p->n + j]);
    }
    mpz_mod(sum, sum, modulus);
    const uint64_t rest = mpz_get_ui(sum);
    mpz_clears(sum, modulus, factor, NULL);
    return rest;
}

static void assert_product(const problem *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (p->c[i * p->n + j] != expected_at(p, i, j))
                fail_msg("%llu^%lld, %lldx%lldx%lld: c[%lld,%lld] = %llu, not %llu", (unsigned long long)p->prime,
                         (long long)p->precision, (long long)p->m, (long long)p->n, (long long)p->k, (long long)i,
                         (long long)j, (unsigned long long)p->c[i * p->n + j],
                         (unsigned long long)expected_at(p, i, j));
}

/* PADIC_GEMM.ERR: by hand. Modulo 7^2 = 49: (1 2; 3 48) (5; 40) = (85; 15 + 1920) = (36; 24). */
TEST_WITH_CONTEXT(known_values)
{
    const uint64_t a[] = {1, 2, 3, 48};
    const uint64_t b[] = {5, 40};
    uint64_t c[2];
    const tk_padic_gemm_options options = {.prime = 7, .precision = 2};
    assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, 2, 1, 2, a, b, &options, c));
    assert_true(c[0] == 36 && c[1] == 24);
}

/* PADIC_GEMM.ERR: every precision that fits, on drawn residues and on the largest ones. */
TEST_WITH_CONTEXT(every_precision)
{
    tki_random random = tki_random_stream(17, 1);
    for (int drawn = 0; drawn < effort_from(PRIMES); drawn++) {
        const int i = drawn % PRIMES;
        uint64_t modulus;
        for (int64_t precision = 1; precision <= 64 && tki_padic_modulus(primes[i], precision, &modulus); precision++)
            for (int largest = 0; largest < 2; largest++) {
                problem p = make(7, 19, 37, primes[i], precision);
                draw_factors(&p, &random);
                for (int64_t e = 0; largest && e < 7 * 37; e++)
                    p.a[e] = modulus - 1;
                for (int64_t e = 0; largest && e < 37 * 19; e++)
                    p.b[e] = modulus - 1;
                assert_ok(ctx, multiply(ctx, &p));
                assert_product(&p);
                release(&p);
            }
    }
}

/* PADIC_GEMM.ERR: inner sizes around a block's end, with the largest residues of each way of splitting. */
TEST_WITH_CONTEXT(long_sums)
{
    static const struct {
        uint64_t prime;
        int64_t precision;
    } largest[] = {{134217689, 1}, {67108859, 1}, {67108859, 2}, {4294967291, 2}, {9223372036854775783, 1},
                   {2, 32},        {2, 33},       {2, 52},       {2, 53},         {2, 63},
                   {2, 64},        {3, 40},       {3, 33},       {3, 32}};
    static const int64_t inner[] = {1023, 1024, 1025, 2100};
    tki_random random = tki_random_stream(17, 2);
    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++)
        for (size_t s = 0; s < sizeof inner / sizeof *inner; s++) {
            problem p = make(13, 9, inner[s], largest[i].prime, largest[i].precision);
            draw_factors(&p, &random);
            for (int64_t e = 0; e < p.m * p.k; e++)
                p.a[e] = e / p.k % 2 ? p.a[e] : p.modulus - 1;
            for (int64_t e = 0; e < p.k * p.n; e++)
                p.b[e] = e % p.n % 2 ? p.b[e] : p.modulus - 1;
            assert_ok(ctx, multiply(ctx, &p));
            assert_product(&p);
            release(&p);
        }
}

/* x times p^v, as a residue. */
static uint64_t shifted(const problem *p, uint64_t x, int64_t v)
{
    uint64_t power;
    if (v >= p->precision)
        return 0;
    (void)tki_padic_modulus(p->prime, v, &power);
    return x / power * power;
}

/* PADIC_GEMM.ERR: what is skipped vanishes, whether slices or parts of tiles; and what vanishes is skipped. */
TEST_WITH_CONTEXT(skipping)
{
    tki_random random = tki_random_stream(17, 3);
    for (int i = 0; i < PRIMES; i++)
        for (int by_tiles = 0; by_tiles < 2; by_tiles++) {
            const int64_t precision = primes[i] == 2147483647 ? 2 : 3;
            problem p = make(50, 70, 1100, primes[i], precision);
            draw_factors(&p, &random);
            for (int64_t e = 0; e < p.m * p.k; e++) {
                const int64_t group = by_tiles ? e / p.k / 12 + e % p.k / 64 : e % p.k;
                p.a[e] = shifted(&p, p.a[e], group % (precision + 1));
            }
            for (int64_t e = 0; e < p.k * p.n; e++) {
                const int64_t group = by_tiles ? e % p.n / 32 + e / p.n / 64 : e / p.n / 2;
                p.b[e] = shifted(&p, p.b[e], group % (precision + 1));
            }
            assert_ok(ctx, multiply(ctx, &p));
            assert_product(&p);
            const tki_padic_params params = {p.a, p.b, p.c, p.m, p.n, p.k, p.prime, p.modulus, (int32_t)precision};
            void *scratch = aligned_alloc(64, rounded(scratch_bytes(&params, 2)));
            tki_padic_skipped skipped;
            assert_non_null(scratch);
            product(&params, scratch, 2, &skipped);
            assert_product(&p);
            assert_true(by_tiles ? skipped.parts > 100 : skipped.slices > 300);
            free(scratch);
            release(&p);
        }
}

/* PADIC_GEMM.ERR: moduli of 28 to 52 bits, and others, by the tile for 52-bit products. */
TEST(ifma_model)
{
    tki_random random = tki_random_stream(17, 4);
    int by_halves = 0;
    for (int i = 0; i < PRIMES; i++)
        for (int64_t precision = 1; precision <= 64; precision++) {
            uint64_t modulus;
            if (!tki_padic_modulus(primes[i], precision, &modulus))
                break;
            problem p = make(8, 33, 70, primes[i], precision);
            draw_factors(&p, &random);
            for (int64_t e = 0; e < 3 * p.k; e++)
                p.a[e] = modulus - 1;
            for (int64_t e = 0; e < 5 * p.n; e++)
                p.b[e] = modulus - 1;
            const tki_padic_params params = {p.a, p.b, p.c, p.m, p.n, p.k, p.prime, p.modulus, (int32_t)precision};
            by_halves += scheme_of(&params) == HALVES_52;
            void *scratch = aligned_alloc(64, rounded(scratch_bytes(&params, 1)));
            assert_non_null(scratch);
            product(&params, scratch, 1, NULL);
            assert_product(&p);
            free(scratch);
            release(&p);
        }
    assert_true(by_halves > 30);
}

/* Against a sieve, and numbers that pass many bases. */
TEST(primality)
{
    enum { BELOW = 100000 };
    static bool composite[BELOW];
    for (int i = 2; i < BELOW; i++)
        for (int j = 2 * i; j < BELOW && !composite[i]; j += i)
            composite[j] = true;
    assert_false(tki_is_prime(0) || tki_is_prime(1));
    for (int i = 2; i < BELOW; i++)
        assert_int_equal(tki_is_prime((uint64_t)i), !composite[i]);
    static const uint64_t pseudoprimes[] = {3215031751, 3474749660383, 341550071728321, 3825123056546413051,
                                            UINT64_C(18446744073709551615)};
    for (size_t i = 0; i < sizeof pseudoprimes / sizeof *pseudoprimes; i++)
        assert_false(tki_is_prime(pseudoprimes[i]));
    assert_true(tki_is_prime(UINT64_C(18446744073709551557)) && tki_is_prime(4294967291) && tki_is_prime(2147483647));
    uint64_t modulus;
    assert_true(tki_padic_modulus(2, 64, &modulus) && modulus == 0);
    assert_true(tki_padic_modulus(3, 40, &modulus) && modulus == UINT64_C(12157665459056928801));
    assert_false(tki_padic_modulus(3, 41, &modulus) || tki_padic_modulus(2, 65, &modulus));
    assert_false(tki_padic_modulus(4294967311, 2, &modulus));
}

/* Of matrices that are multiplied: A (B C) = (A B) C and A (B + C) = A B + A C, with what was not reduced. */
TEST_WITH_CONTEXT(laws)
{
    enum { SIZE = 21, COUNT = SIZE * SIZE };
    tki_random random = tki_random_stream(17, 5);
    for (int drawn = 0; drawn < effort_from(PRIMES); drawn++) {
        const int i = drawn % PRIMES;
        const tk_padic_gemm_options options = {.prime = (int64_t)primes[i], .precision = 2};
        const uint64_t modulus = primes[i] * primes[i];
        uint64_t m[8][COUNT];
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < COUNT; e++)
                m[k][e] = tki_random_u64(&random) >> 1;
        for (int e = 0; e < COUNT; e++)
            m[7][e] = m[1][e] + m[2][e];
        assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, m[0], m[1], &options, m[3]));
        assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, m[3], m[2], &options, m[4]));
        assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, m[1], m[2], &options, m[5]));
        assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, m[0], m[5], &options, m[6]));
        assert_memory_equal(m[4], m[6], sizeof m[4]);
        assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, m[0], m[2], &options, m[5]));
        assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, m[0], m[7], &options, m[6]));
        for (int e = 0; e < COUNT; e++)
            assert_true((m[3][e] + m[5][e]) % modulus == m[6][e]);
    }
}

/* PADIC_GEMM.SHAPE, PADIC_GEMM.REPEAT: every number of threads, a sum over nothing. */
TEST_WITH_CONTEXT(threads_and_empty_sums)
{
    tki_random random = tki_random_stream(17, 6);
    problem p = make(61, 1050, 40, 5, 21);
    draw_factors(&p, &random);
    assert_ok(ctx, multiply(ctx, &p));
    uint64_t *once = malloc((size_t)(p.m * p.n) * sizeof *once);
    assert_non_null(once);
    memcpy(once, p.c, (size_t)(p.m * p.n) * sizeof *once);
    for (int threads = 1; threads <= 3; threads++) {
        assert_ok(ctx, tk_ctx_set_threads(ctx, threads));
        memset(p.c, 0xff, (size_t)(p.m * p.n) * sizeof *once);
        assert_ok(ctx, multiply(ctx, &p));
        assert_memory_equal(once, p.c, (size_t)(p.m * p.n) * sizeof *once);
    }
    p.k = 0;
    assert_ok(ctx, multiply(ctx, &p));
    for (int64_t i = 0; i < p.m * p.n; i++)
        assert_true(p.c[i] == 0);
    free(once);
    release(&p);
}

/* PADIC_GEMM.SHAPE, PADIC_GEMM.WRITE */
TEST_WITH_CONTEXT(bad_arguments_write_nothing)
{
    uint64_t a[1] = {3}, b[1] = {4}, c[1] = {99};
    const struct {
        tk_padic_gemm_options options;
        const char *text;
    } bad[] = {{{.prime = 9, .precision = 2}, "not a prime"},
               {{.prime = 3, .precision = 41}, "larger than 2^64"},
               {{.prime = 2, .precision = 65}, "precision is 65"},
               {{.prime = 2, .precision = 0}, "precision is 0"},
               {{.prime = 1, .precision = 1}, "prime is 1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(ctx, tk_padic_gemm(ctx, TK_U64, 1, 1, 1, a, b, &bad[i].options, c), TK_BAD_ARGUMENT,
                       bad[i].text);
    assert_refused(ctx, tk_padic_gemm(ctx, TK_F16, 1, 1, 1, a, b, NULL, c), TK_BAD_ARGUMENT, "it takes u64");
    assert_refused(ctx, tk_padic_gemm(ctx, TK_U64, 1, 1, 1, a, b, NULL, a), TK_BAD_ARGUMENT, "overlaps");
    assert_int_equal(c[0], 99);
}

/* PADIC_GEMM.ERR: the certificate says how much was left out, by which theorems, and how large products were checked. */
TEST_WITH_CONTEXT(certificate_says_what_was_left_out)
{
    tk_certificate *certificate;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.skip_mutants = true;
    assert_ok(ctx, tk_certify(ctx, tk_contract_find("padic_gemm"), TK_U64, TK_I32, &options, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    const char *text = strstr(tk_certificate_json(certificate), "By its own count the kernel left out ");
    long long slices, all_slices, parts, all_parts;
    assert_non_null(text);
    assert_int_equal(sscanf(text,
                            "By its own count the kernel left out %lld of %lld slices of the inner size, and of the "
                            "rest %lld of %lld parts",
                            &slices, &all_slices, &parts, &all_parts),
                     4);
    assert_true(1000 < slices && slices < all_slices && 100 < parts && parts < all_parts);
    assert_non_null(strstr(text, "skipping_terms and skipping_tiles in proofs/padic.v, SHA-256 "));
    assert_non_null(strstr(text, "passed Freivalds' check as a whole, each with "));
    tk_certificate_destroy(certificate);
}

/* Freivalds' check of the oracle refuses an output with one digit of one element wrong, and knows how many vectors to take. */
TEST_WITH_CONTEXT(screening)
{
    static const struct {
        uint64_t prime;
        int64_t precision;
        int vectors;
    } rings[] = {{2, 64, 65},   {3, 40, 41},        {7, 16, 23},
                 {65537, 3, 4}, {2147483647, 2, 3}, {9223372036854775783, 1, 2}};
    tki_random random = tki_random_stream(17, 8);
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        problem p = make(512, 512, 64, rings[i].prime, rings[i].precision);
        draw_factors(&p, &random);
        assert_ok(ctx, multiply(ctx, &p));
        tk_case c = tk_case_init(tk_contract_find("padic_gemm"), TK_U64);
        memcpy(c.dims, (int64_t[]){p.m, p.n, p.k}, 3 * sizeof *c.dims);
        c.attributes[TKI_PADIC_PRIME].integer = (int64_t)p.prime;
        c.attributes[TKI_PADIC_PRECISION].integer = p.precision;
        const tki_oracle_job job = {.c = &c, .buffers = (const void *const[]){p.a, p.b, NULL}, .output = TKI_PADIC_C};
        int vectors;
        bool passes;
        assert_int_equal(tki_padic_gemm_oracle.screen(&job, p.c, 5, &vectors, &passes), TK_OK);
        assert_true(passes && vectors == rings[i].vectors);
        const uint64_t highest = p.modulus / p.prime + (p.modulus == 0) * (UINT64_C(1) << 63);
        p.c[100000] = p.c[100000] >= highest ? p.c[100000] - highest : p.c[100000] + highest;
        assert_int_equal(tki_padic_gemm_oracle.screen(&job, p.c, 5, &vectors, &passes), TK_OK);
        assert_false(passes);
        release(&p);
    }
}

/* PADIC_GEMM.REPEAT and all of the above */
TEST(certified_and_mutants_refuted)
{
    assert_op_certifies("padic_gemm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(every_precision),
        cmocka_unit_test(long_sums),
        cmocka_unit_test(skipping),
        cmocka_unit_test(ifma_model),
        cmocka_unit_test(primality),
        cmocka_unit_test(laws),
        cmocka_unit_test(threads_and_empty_sums),
        cmocka_unit_test(bad_arguments_write_nothing),
        cmocka_unit_test(certificate_says_what_was_left_out),
        cmocka_unit_test(screening),
        cmocka_unit_test(certified_and_mutants_refuted),
    };
    return cmocka_run_group_tests_name("padic", tests, NULL, NULL);
}
