/* padic_gemm, inverses, systems and determinants against FLINT, which is loaded if it is there. */
#include <stdlib.h>
#include <gmp.h>

#include "core/random.h"
#include "padic/solve.h"
#include "tests/op_test.h"
#include "tests/padic_flint.h"

/* Residues of all kinds: any, the largest, zeros, and multiples of powers of p that differ by slice. */
static uint64_t element(const padic_ring *ring, int kind, int64_t slice, tki_random *random)
{
    uint64_t x = padic_reduce(ring, tki_random_u64(random));
    switch (kind) {
    case 1: return ring->modulus - 1;
    case 2: return x % 5 ? 0 : x;
    case 3:
        for (int64_t v = slice % (ring->precision + 1); v > 0; v--)
            x = padic_multiply(ring, x, ring->prime);
        return x;
    default: return x;
    }
}

static void compare_product(tk_ctx *ctx, const padic_ring *ring, int kind, tki_random *random)
{
    enum { M = 17, N = 21, K = 70 };
    uint64_t a[M * K], b[K * N], c[M * N];
    matrix fa, fb, fc;
    f.nmod_mat_init(&fa, M, K, ring->modulus);
    f.nmod_mat_init(&fb, K, N, ring->modulus);
    f.nmod_mat_init(&fc, M, N, ring->modulus);
    for (int i = 0; i < M * K; i++) {
        a[i] = element(ring, kind, i % K, random);
        f.nmod_mat_set_entry(&fa, i / K, i % K, a[i]);
    }
    for (int i = 0; i < K * N; i++) {
        b[i] = element(ring, kind, i / N / 2, random);
        f.nmod_mat_set_entry(&fb, i / N, i % N, b[i]);
    }
    const tk_padic_gemm_options options = {.prime = (int64_t)ring->prime, .precision = ring->precision};
    f.nmod_mat_mul(&fc, &fa, &fb);
    assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, M, N, K, a, b, &options, c));
    for (int i = 0; i < M * N; i++)
        assert_true(c[i] == f.nmod_mat_get_entry(&fc, i / N, i % N));
    f.nmod_mat_clear(&fa);
    f.nmod_mat_clear(&fb);
    f.nmod_mat_clear(&fc);
}

/* Every precision that fits but 2^64, which is no modulus of theirs. */
TEST_WITH_CONTEXT(products)
{
    static const uint64_t primes[] = {2, 3, 5, 7, 65537, 2147483647};
    tki_random random = tki_random_stream(7, 1);
    enum { PRIMES = sizeof primes / sizeof *primes };
    for (int drawn = 0; drawn < effort_from(PRIMES); drawn++) {
        const int p = drawn % PRIMES;
        padic_ring ring;
        for (int64_t n = 1; n <= 64 && !padic_ring_make(&ring, primes[p], n) && ring.modulus; n++)
            for (int kind = 0; kind < 4; kind++)
                compare_product(ctx, &ring, kind, &random);
    }
}

TEST_WITH_CONTEXT(systems)
{
    tki_random random = tki_random_stream(7, 2);
    for (int drawn = 0; drawn < effort_from(4); drawn++) {
        const int64_t n = 1 + drawn % 4 * 13;
        char reason[256];
        padic_matrix a = {.rows = n, .cols = n}, b = {.rows = n, .cols = 1};
        matrix fa, fb, fx;
        padic_solution s;
        mpz_t numerator, denominator, product;
        int64_t determinant;
        a.values = calloc((size_t)(n * n), sizeof *a.values);
        b.values = calloc((size_t)n, sizeof *b.values);
        assert_true(a.values && b.values);
        f.fmpz_mat_init(&fa, n, n);
        f.fmpz_mat_init(&fb, n, 1);
        f.fmpq_mat_init(&fx, n, 1);
        f.fmpz_init(&determinant);
        mpz_inits(numerator, denominator, product, NULL);
        for (int64_t i = 0; i < n * n; i++) {
            a.values[i] = (uint64_t)((int64_t)tki_random_u64(&random) >> 32);
            f.fmpz_set_si(f.fmpz_mat_entry(&fa, i / n, i % n), (int64_t)a.values[i]);
        }
        for (int64_t i = 0; i < n; i++) {
            b.values[i] = (uint64_t)((int64_t)tki_random_u64(&random) >> 32);
            f.fmpz_set_si(f.fmpz_mat_entry(&fb, i, 0), (int64_t)b.values[i]);
        }
        assert_true(f.fmpq_mat_solve_fmpz_mat_dixon(&fx, &fa, &fb));
        assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_SOLVED);
        for (int64_t i = 0; i < n; i++) {
            f.fmpq_get_mpz_frac(numerator, denominator, f.fmpq_mat_entry(&fx, i, 0));
            mpz_mul(numerator, numerator, s.denominators[0]);
            mpz_mul(product, denominator, s.numerators[i]);
            assert_true(mpz_cmp(numerator, product) == 0);
        }
        f.fmpz_mat_det(&determinant, &fa);
        f.fmpz_get_mpz(numerator, &determinant);
        assert_int_equal(padic_determinant(ctx, &a, product, reason, sizeof reason), PADIC_SOLVED);
        assert_true(mpz_cmp(numerator, product) == 0);
        mpz_clears(numerator, denominator, product, NULL);
        f.fmpz_clear(&determinant);
        f.fmpz_mat_clear(&fa);
        f.fmpz_mat_clear(&fb);
        f.fmpq_mat_clear(&fx);
        padic_solution_free(&s);
        padic_matrix_free(&a);
        padic_matrix_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(systems)};
    if (!load_flint()) {
        puts("skipped: FLINT is not installed");
        return 77;
    }
    return cmocka_run_group_tests_name("padic.padic_flint", tests, NULL, NULL);
}
