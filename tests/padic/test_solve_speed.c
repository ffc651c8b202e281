/* How long padic_gemm and `padic solve` take beside FLINT, in one run: best CPU times of arms that run in turn, on one thread. Times
 * are printed; what is asserted is that the results are equal. RUNS in the environment: how often each arm runs (3). */
#include <gmp.h>
#include <stdlib.h>
#include <time.h>

#include "core/random.h"
#include "padic/freivalds.h"
#include "padic/solve.h"
#include "tests/op_test.h"
#include "tests/padic_flint.h"

enum { SIZE = 1024, COUNT = SIZE * SIZE, SYSTEM = 500 };

static int runs(void)
{
    const char *text = getenv("RUNS");
    return text && atoi(text) > 0 ? atoi(text) : 3;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_best(double *best, double begin)
{
    const double took = cpu_seconds() - begin;
    if (*best == 0 || took < *best)
        *best = took;
}

static tk_ctx *one_thread(void)
{
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tk_ctx_set_threads(ctx, 1));
    return ctx;
}

static uint64_t *new_matrix(void)
{
    uint64_t *m = calloc(COUNT, sizeof *m);
    assert_non_null(m);
    return m;
}

static void draw(const padic_ring *ring, uint64_t *m, tki_random *random)
{
    for (int i = 0; i < COUNT; i++)
        m[i] = padic_reduce(ring, tki_random_u64(random));
}

static void multiply(tk_ctx *ctx, const padic_ring *ring, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const tk_padic_gemm_options options = {.prime = (int64_t)ring->prime, .precision = ring->precision};
    assert_ok(ctx, tk_padic_gemm(ctx, TK_U64, SIZE, SIZE, SIZE, a, b, &options, c));
}

/* FLINT's three ways, each with a, b and c. */
typedef struct theirs {
    matrix nmod[3], mod[3], padic[3], context;
    int64_t modulus, prime;
} theirs;

static void open_theirs(theirs *t, const padic_ring *ring, const uint64_t *a, const uint64_t *b)
{
    f.fmpz_init(&t->modulus);
    f.fmpz_init(&t->prime);
    f.fmpz_set_ui(&t->modulus, ring->modulus);
    f.fmpz_set_ui(&t->prime, ring->prime);
    f.padic_ctx_init(&t->context, &t->prime, 0, ring->precision, 0);
    for (int m = 0; m < 3; m++) {
        f.nmod_mat_init(&t->nmod[m], SIZE, SIZE, ring->modulus);
        f.fmpz_mod_mat_init(&t->mod[m], SIZE, SIZE, &t->modulus);
        f.padic_mat_init2(&t->padic[m], SIZE, SIZE, ring->precision);
        for (int i = 0; i < COUNT && m < 2; i++) {
            const uint64_t x = (m ? b : a)[i];
            f.nmod_mat_set_entry(&t->nmod[m], i / SIZE, i % SIZE, x);
            f.fmpz_set_ui(f.fmpz_mod_mat_entry(&t->mod[m], i / SIZE, i % SIZE), x);
            f.fmpz_set_ui(f.padic_mat_entry(&t->padic[m], i / SIZE, i % SIZE), x);
        }
        f.padic_mat_reduce(&t->padic[m], &t->context);
    }
}

static void close_theirs(theirs *t)
{
    for (int m = 0; m < 3; m++) {
        f.nmod_mat_clear(&t->nmod[m]);
        f.fmpz_mod_mat_clear(&t->mod[m]);
        f.padic_mat_clear(&t->padic[m]);
    }
    f.padic_ctx_clear(&t->context);
    f.fmpz_clear(&t->modulus);
    f.fmpz_clear(&t->prime);
}

static void assert_same(const theirs *t, const uint64_t *c)
{
    for (int i = 0; i < COUNT; i++) {
        assert_true(c[i] == f.nmod_mat_get_entry(&t->nmod[2], i / SIZE, i % SIZE));
        assert_true(c[i] == f.fmpz_get_ui(f.fmpz_mod_mat_entry(&t->mod[2], i / SIZE, i % SIZE)));
    }
}

static void compare(tk_ctx *ctx, uint64_t prime, int64_t precision)
{
    padic_ring ring;
    theirs t;
    uint64_t *a = new_matrix(), *b = new_matrix(), *c = new_matrix();
    tki_random random = tki_random_stream(17, 1);
    double ours = 0, nmod = 0, mod = 0, padic = 0;
    assert_null(padic_ring_make(&ring, prime, precision));
    draw(&ring, a, &random);
    draw(&ring, b, &random);
    open_theirs(&t, &ring, a, b);
    for (int run = 0; run < runs(); run++) {
        for (int twice = 0; twice < 2; twice++) {
            const double begin = cpu_seconds();
            multiply(ctx, &ring, a, b, c);
            keep_best(&ours, begin);
        }
        double begin = cpu_seconds();
        f.nmod_mat_mul(&t.nmod[2], &t.nmod[0], &t.nmod[1]);
        keep_best(&nmod, begin);
        begin = cpu_seconds();
        f.fmpz_mod_mat_mul(&t.mod[2], &t.mod[0], &t.mod[1]);
        keep_best(&mod, begin);
        begin = cpu_seconds();
        f.padic_mat_mul(&t.padic[2], &t.padic[0], &t.padic[1], &t.context);
        keep_best(&padic, begin);
    }
    assert_same(&t, c);
    const double best = nmod < mod ? (nmod < padic ? nmod : padic) : mod < padic ? mod : padic;
    printf("%10llu^%-2lld ours %6.1f ms  nmod_mat %6.0f  fmpz_mod_mat %6.0f  padic_mat %6.0f  FLINT's best / ours "
           "%5.2f\n",
           (unsigned long long)prime, (long long)precision, 1e3 * ours, 1e3 * nmod, 1e3 * mod, 1e3 * padic,
           best / ours);
    fflush(stdout);
    close_theirs(&t);
    free(a);
    free(b);
    free(c);
}

TEST(products)
{
    static const struct {
        uint64_t prime;
        int64_t precision;
    } rings[] = {{2, 16},    {2, 32}, {2, 52}, {2, 63}, {7, 5},  {7, 9},          {2147483647, 1}, {3, 20},
                 {65537, 3}, {7, 16}, {5, 22}, {3, 32}, {7, 22}, {2147483647, 2}, {3, 40}};
    tk_ctx *ctx = one_thread();
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        compare(ctx, rings[i].prime, rings[i].precision);
    tk_ctx_destroy(ctx);
}

/* Valuations that grow with the place of the inner size: those of a and b add up to N or more at half of the places. */
TEST(graded)
{
    static const struct {
        uint64_t prime;
        int64_t precision;
    } rings[] = {{2, 32}, {2, 64}, {3, 20}, {7, 16}, {3, 40}};
    tk_ctx *ctx = one_thread();
    for (size_t r = 0; r < sizeof rings / sizeof *rings; r++) {
        padic_ring ring;
        uint64_t *a = new_matrix(), *b = new_matrix(), *c = new_matrix(), *d = new_matrix(), *e = new_matrix();
        tki_random random = tki_random_stream(17, 2);
        double dense = 0, skipping = 0;
        assert_null(padic_ring_make(&ring, rings[r].prime, rings[r].precision));
        draw(&ring, a, &random);
        draw(&ring, b, &random);
        for (int i = 0; i < COUNT; i++) {
            /* Of both together 2 N t / SIZE. */
            uint64_t power_a = 1, power_b = 1;
            for (int v = 0; v < ring.precision * (i % SIZE) / SIZE; v++)
                power_a *= ring.prime;
            for (int v = 0; v < (ring.precision * (i / SIZE) + SIZE - 1) / SIZE; v++)
                power_b *= ring.prime;
            d[i] = padic_multiply(&ring, a[i], power_a);
            e[i] = padic_multiply(&ring, b[i], power_b);
        }
        const padic_matrix left = {SIZE, SIZE, d}, right = {SIZE, SIZE, e};
        const int64_t slices = padic_vanishing_slices(&ring, &left, &right);
        for (int run = 0; run < 2 * runs(); run++) {
            double begin = cpu_seconds();
            multiply(ctx, &ring, a, b, c);
            keep_best(&dense, begin);
            begin = cpu_seconds();
            multiply(ctx, &ring, d, e, c);
            keep_best(&skipping, begin);
        }
        printf("%10llu^%-2lld dense %6.1f ms  %lld of %d slices vanish %6.1f ms  dense / that %5.2f\n",
               (unsigned long long)ring.prime, (long long)ring.precision, 1e3 * dense, (long long)slices, (int)SIZE,
               1e3 * skipping, dense / skipping);
        assert_true(padic_check_product(&ring, &left, &right, &(padic_matrix){SIZE, SIZE, c}, 1, 3));
        free(a);
        free(b);
        free(c);
        free(d);
        free(e);
    }
    tk_ctx_destroy(ctx);
}

TEST(systems)
{
    tk_ctx *ctx = one_thread();
    tki_random random = tki_random_stream(17, 3);
    padic_matrix a = {SYSTEM, SYSTEM, calloc(SYSTEM * SYSTEM, sizeof *a.values)};
    padic_matrix b = {SYSTEM, 1, calloc(SYSTEM, sizeof *b.values)};
    matrix fa, fb, fx;
    double ours = 0, dixon = 0;
    char reason[256];
    assert_true(a.values && b.values);
    f.fmpz_mat_init(&fa, SYSTEM, SYSTEM);
    f.fmpz_mat_init(&fb, SYSTEM, 1);
    f.fmpq_mat_init(&fx, SYSTEM, 1);
    for (int64_t i = 0; i < SYSTEM * SYSTEM; i++) {
        a.values[i] = (uint64_t)((int64_t)tki_random_u64(&random) >> 32);
        f.fmpz_set_si(f.fmpz_mat_entry(&fa, i / SYSTEM, i % SYSTEM), (int64_t)a.values[i]);
    }
    for (int64_t i = 0; i < SYSTEM; i++) {
        b.values[i] = (uint64_t)((int64_t)tki_random_u64(&random) >> 32);
        f.fmpz_set_si(f.fmpz_mat_entry(&fb, i, 0), (int64_t)b.values[i]);
    }
    for (int run = 0; run < runs(); run++) {
        padic_solution s;
        mpz_t numerator, denominator, product;
        double begin = cpu_seconds();
        assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_SOLVED);
        keep_best(&ours, begin);
        begin = cpu_seconds();
        assert_true(f.fmpq_mat_solve_fmpz_mat_dixon(&fx, &fa, &fb));
        keep_best(&dixon, begin);
        mpz_inits(numerator, denominator, product, NULL);
        for (int64_t i = 0; i < SYSTEM; i++) {
            f.fmpq_get_mpz_frac(numerator, denominator, f.fmpq_mat_entry(&fx, i, 0));
            mpz_mul(numerator, numerator, s.denominators[0]);
            mpz_mul(product, denominator, s.numerators[i]);
            assert_true(mpz_cmp(numerator, product) == 0);
        }
        mpz_clears(numerator, denominator, product, NULL);
        padic_solution_free(&s);
    }
    printf("%d x %d of 32 bits: ours %.3f s  Dixon %.3f s  ratio %.2f\n", (int)SYSTEM, (int)SYSTEM, ours, dixon,
           dixon / ours);
    f.fmpz_mat_clear(&fa);
    f.fmpz_mat_clear(&fb);
    f.fmpq_mat_clear(&fx);
    padic_matrix_free(&a);
    padic_matrix_free(&b);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graded), cmocka_unit_test(systems),
                                       cmocka_unit_test(products)};
    if (!load_flint()) {
        puts("skipped: FLINT is not installed");
        return 77;
    }
    return cmocka_run_group_tests_name("padic.solve_speed", tests, NULL, NULL);
}
