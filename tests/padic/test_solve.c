/* Systems and determinants against elimination with rational numbers. */
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "padic/field.h"
#include "padic/solve.h"
#include "tests/op_test.h"

static padic_matrix make(int64_t rows, int64_t cols)
{
    padic_matrix m = {.rows = rows, .cols = cols, .values = calloc((size_t)(rows * cols) + 1, sizeof *m.values)};
    assert_non_null(m.values);
    return m;
}

static void draw(padic_matrix *m, int bits, tki_random *random)
{
    for (int64_t i = 0; i < m->rows * m->cols; i++)
        m->values[i] = (uint64_t)((int64_t)tki_random_u64(random) >> (64 - bits));
}

/* By elimination; 0 if singular. */
static void determinant_by_elimination(const padic_matrix *a, mpq_t determinant)
{
    const int64_t n = a->rows;
    mpq_t *w = malloc((size_t)(n * n) * sizeof *w + 1);
    mpq_t factor;
    assert_non_null(w);
    mpq_init(factor);
    for (int64_t i = 0; i < n * n; i++) {
        mpq_init(w[i]);
        mpq_set_si(w[i], (int64_t)a->values[i], 1);
    }
    mpq_set_ui(determinant, 1, 1);
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        while (pivot < n && !mpq_sgn(w[pivot * n + c]))
            pivot++;
        if (pivot == n) {
            mpq_set_ui(determinant, 0, 1);
            break;
        }
        for (int64_t j = 0; j < n && pivot != c; j++)
            mpq_swap(w[pivot * n + j], w[c * n + j]);
        if (pivot != c)
            mpq_neg(determinant, determinant);
        mpq_mul(determinant, determinant, w[c * n + c]);
        for (int64_t i = c + 1; i < n; i++) {
            mpq_div(factor, w[i * n + c], w[c * n + c]);
            for (int64_t j = c; j < n; j++) {
                mpq_t product;
                mpq_init(product);
                mpq_mul(product, factor, w[c * n + j]);
                mpq_sub(w[i * n + j], w[i * n + j], product);
                mpq_clear(product);
            }
        }
    }
    for (int64_t i = 0; i < n * n; i++)
        mpq_clear(w[i]);
    mpq_clear(factor);
    free(w);
}

static void assert_determinant(tk_ctx *ctx, const padic_matrix *a)
{
    char reason[256];
    mpq_t expected;
    mpz_t got;
    mpq_init(expected);
    mpz_init(got);
    determinant_by_elimination(a, expected);
    if (padic_determinant(ctx, a, got, reason, sizeof reason) != PADIC_SOLVED)
        fail_msg("%s", reason);
    assert_true(mpz_cmp(mpq_numref(expected), got) == 0 && mpz_cmp_ui(mpq_denref(expected), 1) == 0);
    mpq_clear(expected);
    mpz_clear(got);
}

/* A x = b, by a sum of its own; numerators and denominator have nothing in common. */
static void assert_solves(const padic_matrix *a, const padic_matrix *b, const padic_solution *s)
{
    mpz_t sum, term, common;
    mpz_inits(sum, term, common, NULL);
    for (int64_t j = 0; j < b->cols; j++) {
        mpz_set(common, s->denominators[j]);
        assert_true(mpz_sgn(common) > 0);
        for (int64_t i = 0; i < a->rows; i++) {
            mpz_set_ui(sum, 0);
            for (int64_t t = 0; t < a->cols; t++) {
                mpz_mul_si(term, s->numerators[t * b->cols + j], (int64_t)a->values[i * a->cols + t]);
                mpz_add(sum, sum, term);
            }
            mpz_mul_si(term, s->denominators[j], (int64_t)b->values[i * b->cols + j]);
            assert_true(mpz_cmp(sum, term) == 0);
            mpz_gcd(common, common, s->numerators[i * b->cols + j]);
        }
        assert_true(mpz_cmp_ui(common, 1) == 0);
    }
    mpz_clears(sum, term, common, NULL);
}

TEST_WITH_CONTEXT(drawn_systems)
{
    static const int widths[] = {2, 8, 32, 64};
    tki_random random = tki_random_stream(5, 1);
    int singular = 0;
    const int draws = effort_from(16 * 4);
    for (int drawn = 0; drawn < draws; drawn++) {
        const int64_t n = 1 + drawn / 4 % 16;
        const int w = drawn % 4;
        char reason[256];
        padic_matrix a = make(n, n), b = make(n, 2);
        padic_solution s;
        draw(&a, widths[w], &random);
        draw(&b, widths[w], &random);
        const padic_outcome outcome = padic_solve(ctx, &a, &b, &s, reason, sizeof reason);
        if (outcome == PADIC_FAILED)
            fail_msg("%s", reason);
        if (outcome == PADIC_SOLVED)
            assert_solves(&a, &b, &s);
        singular += outcome == PADIC_SINGULAR;
        assert_determinant(ctx, &a);
        padic_solution_free(&s);
        padic_matrix_free(&a);
        padic_matrix_free(&b);
    }
    assert_true(64 * singular < 12 * draws);
}

/* The last row is a combination of others, of every rank; and matrices that are singular modulo the first primes only. */
TEST_WITH_CONTEXT(singular_systems)
{
    enum { N = 9 };
    tki_random random = tki_random_stream(5, 2);
    char reason[256];
    padic_solution s;
    for (int drawn = 0; drawn < effort_from(N); drawn++) {
        const int64_t rank = drawn % N;
        padic_matrix a = make(N, N), b = make(N, 1);
        draw(&a, 30, &random);
        for (int64_t i = rank; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                int64_t sum = 0;
                for (int64_t t = 0; t < rank; t++)
                    sum += (i - t) * (int64_t)a.values[t * N + j];
                a.values[i * N + j] = (uint64_t)sum;
            }
        assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_SINGULAR);
        assert_non_null(strstr(reason, "singular"));
        assert_null(s.numerators);
        assert_determinant(ctx, &a);
        padic_matrix_free(&a);
        padic_matrix_free(&b);
    }
    const uint64_t first = padic_prime_below(UINT64_C(1) << PADIC_FIELD_BITS);
    padic_matrix a = make(2, 2), b = make(2, 1);
    a.values[0] = first * padic_prime_below(first);
    a.values[3] = first;
    b.values[0] = b.values[1] = 1;
    assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_SOLVED);
    assert_solves(&a, &b, &s);
    padic_solution_free(&s);
    assert_determinant(ctx, &a);
    padic_matrix_free(&a);
    padic_matrix_free(&b);
}

/* Entries at the ends of 64 bits, and right-hand sides of zeros. */
TEST_WITH_CONTEXT(extremes)
{
    char reason[256];
    padic_solution s;
    padic_matrix a = make(3, 3), b = make(3, 2);
    static const int64_t values[] = {INT64_MIN, INT64_MAX, 1, INT64_MAX, INT64_MIN, 0, -1, INT64_MAX, INT64_MAX};
    memcpy(a.values, values, sizeof values);
    b.values[0] = (uint64_t)INT64_MIN;
    b.values[2] = (uint64_t)INT64_MAX;
    assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_SOLVED);
    assert_solves(&a, &b, &s);
    assert_true(mpz_sgn(s.numerators[1]) == 0 && mpz_cmp_ui(s.denominators[1], 1) == 0);
    padic_solution_free(&s);
    assert_determinant(ctx, &a);
    a.cols = 2;
    assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_FAILED);
    assert_non_null(strstr(reason, "not square"));
    b.rows = 2;
    assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_FAILED);
    assert_non_null(strstr(reason, "right-hand side"));
    padic_matrix_free(&a);
    padic_matrix_free(&b);
}

/* No equation has one solution, and a determinant of 1: a product over nothing. */
TEST_WITH_CONTEXT(empty_systems)
{
    char reason[256];
    mpz_t determinant;
    mpz_init(determinant);
    for (int64_t cols = 0; cols < 3; cols++) {
        padic_matrix a = make(0, 0), b = make(0, cols);
        padic_solution s;
        assert_int_equal(padic_solve(ctx, &a, &b, &s, reason, sizeof reason), PADIC_SOLVED);
        assert_true(s.rows == 0 && s.cols == cols);
        assert_int_equal(padic_determinant(ctx, &a, determinant, reason, sizeof reason), PADIC_SOLVED);
        assert_true(mpz_cmp_ui(determinant, 1) == 0);
        padic_solution_free(&s);
        padic_matrix_free(&a);
        padic_matrix_free(&b);
    }
    mpz_clear(determinant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_systems), cmocka_unit_test(singular_systems),
                                       cmocka_unit_test(extremes), cmocka_unit_test(empty_systems)};
    return cmocka_run_group_tests_name("padic.solve", tests, NULL, NULL);
}
