/* SHOWS. Systems over the integers, solved by p-adic lifting. The inverse modulo a prime of 26 bits is lifted to one modulo its
 * square, q (two products of matrices); each step of Dixon's iteration then finds the solution's next digit to base q. A
 * rational number is recovered from its residue modulo a large power of q, and the solution is checked by substitution. */
#include "padic/solve.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "padic/field.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

/* n 2^63 q must stay below 2^127. */
enum { MOST_ROWS = 2048, PRIMES_TRIED = 64, LIFTED = 2 };

/* What one question needs. */
typedef struct work {
    tk_ctx *ctx;
    int64_t n;
    const int64_t *a;  /* [n, n] */
    uint64_t prime, q; /* q = prime^2 */
    uint64_t *inverse; /* of a, modulo q */
    double det_bits;   /* an upper bound of log2 |det a|, by Hadamard */
    double least_bits; /* of the length of the shortest column */
    char *reason;
    size_t size;
} work;

__attribute__((format(printf, 2, 3))) static padic_outcome fail(work *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->reason, w->size, format, arguments);
    va_end(arguments);
    return PADIC_FAILED;
}

static mpz_t *new_numbers(int64_t count)
{
    mpz_t *numbers = malloc((size_t)count * sizeof *numbers + 1);
    for (int64_t i = 0; numbers && i < count; i++)
        mpz_init(numbers[i]);
    return numbers;
}

static void free_numbers(mpz_t *numbers, int64_t count)
{
    for (int64_t i = 0; numbers && i < count; i++)
        mpz_clear(numbers[i]);
    free(numbers);
}

void padic_solution_free(padic_solution *s)
{
    free_numbers(s->numerators, s->rows * s->cols);
    free_numbers(s->denominators, s->cols);
    *s = (padic_solution){0};
}

static uint64_t residue(int64_t x, uint64_t modulus)
{
    const uint64_t rest = (x < 0 ? 0 - (uint64_t)x : (uint64_t)x) % modulus;
    return x < 0 && rest ? modulus - rest : rest;
}

static void reduce_matrix(const work *w, uint64_t modulus, uint64_t *to)
{
    for (int64_t i = 0; i < w->n * w->n; i++)
        to[i] = residue(w->a[i], modulus);
}

/* The logarithm of a column's length, rounded up. */
static double length_bits(const int64_t *column, int64_t count, int64_t stride)
{
    double square = 0;
    for (int64_t i = 0; i < count; i++)
        square += (double)column[i * stride] * (double)column[i * stride];
    return square > 0 ? 0.5 * log2(square) + 1e-6 : 0;
}

static void bound(work *w)
{
    w->det_bits = 0;
    w->least_bits = w->n ? INFINITY : 0;
    for (int64_t j = 0; j < w->n; j++) {
        const double bits = length_bits(w->a + j, w->n, w->n);
        w->det_bits += bits;
        w->least_bits = fmin(w->least_bits, bits);
    }
}

/* X (2 - A X) modulo q, where X is the inverse modulo the prime. */
static tk_status lift_inverse(work *w, uint64_t *a, uint64_t *product)
{
    const tk_padic_gemm_options ring = {.prime = (int64_t)w->prime, .precision = LIFTED};
    const int64_t n = w->n;
    reduce_matrix(w, w->q, a);
    tk_status status = tk_padic_gemm(w->ctx, TK_U64, n, n, n, a, w->inverse, &ring, product);
    for (int64_t i = 0; i < n * n; i++) {
        const uint64_t two = i % (n + 1) == 0 ? 2 : 0;
        product[i] = (two + w->q - product[i]) % w->q;
    }
    if (status == TK_OK)
        status = tk_padic_gemm(w->ctx, TK_U64, n, n, n, w->inverse, product, &ring, a);
    memcpy(w->inverse, a, (size_t)(n * n) * sizeof *a);
    return status;
}

/* Sets prime, q and the inverse. PADIC_SINGULAR: singular modulo that prime. */
static padic_outcome invert(work *w, uint64_t prime)
{
    const size_t count = (size_t)(w->n * w->n);
    uint64_t *memory = malloc(2 * count * sizeof *memory + 1);
    padic_outcome outcome = PADIC_SOLVED;
    w->prime = prime;
    w->q = prime * prime;
    if (!memory)
        return fail(w, "no memory for %lld rows", (long long)w->n);
    reduce_matrix(w, prime, w->inverse);
    if (!padic_field_invert(w->inverse, w->n, prime))
        outcome = PADIC_SINGULAR;
    else if (lift_inverse(w, memory, memory + count) != TK_OK)
        outcome = fail(w, "%s", tk_ctx_message(w->ctx));
    free(memory);
    return outcome;
}

/* x = inverse r modulo q, and r = (r - a x) / q, which is exact. */
static void next_digits(const work *w, i128 *r, uint64_t *rest, uint64_t *x)
{
    const int64_t n = w->n;
    for (int64_t i = 0; i < n; i++) {
        const i128 remainder = r[i] % (i128)w->q;
        rest[i] = (uint64_t)(remainder < 0 ? remainder + (i128)w->q : remainder);
    }
    for (int64_t i = 0; i < n; i++) {
        u128 sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (u128)w->inverse[i * n + j] * rest[j];
        x[i] = (uint64_t)(sum % w->q);
    }
    for (int64_t i = 0; i < n; i++) {
        i128 sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (i128)w->a[i * n + j] * (i128)x[j];
        r[i] = (r[i] - sum) / (i128)w->q;
    }
}

/* The number with the digits [begin, end), `stride` apart, to base q; powers[l] = q^(2^l). */
static void assemble(const uint64_t *digits, int64_t stride, int64_t count, mpz_t *powers, mpz_t to)
{
    int level = 0;
    if (count == 0)
        mpz_set_ui(to, 0);
    if (count == 1)
        mpz_set_ui(to, digits[0]);
    if (count < 2)
        return;
    while (INT64_C(2) << level < count)
        level++;
    mpz_t upper;
    mpz_init(upper);
    assemble(digits + (INT64_C(1) << level) * stride, stride, count - (INT64_C(1) << level), powers, upper);
    assemble(digits, stride, INT64_C(1) << level, powers, to);
    mpz_addmul(to, upper, powers[level]);
    mpz_clear(upper);
}

/* numerator = x denominator modulo `modulus`, |numerator| <= 2^bits: the first such that Euclid's algorithm meets. */
static void reconstruct(const mpz_t x, const mpz_t modulus, double bits, mpz_t numerator, mpz_t denominator)
{
    mpz_t r0, r1, t0, t1, quotient, rest;
    mpz_inits(r0, r1, t0, t1, quotient, rest, NULL);
    mpz_set(r0, modulus);
    mpz_mod(r1, x, modulus);
    mpz_set_ui(t1, 1);
    while ((double)mpz_sizeinbase(r1, 2) > bits + 1 && mpz_sgn(r1)) {
        mpz_tdiv_qr(quotient, rest, r0, r1);
        mpz_swap(r0, r1);
        mpz_swap(r1, rest);
        mpz_submul(t0, quotient, t1);
        mpz_swap(t0, t1);
    }
    mpz_set(numerator, r1);
    mpz_abs(denominator, t1);
    if (mpz_sgn(t1) < 0)
        mpz_neg(numerator, numerator);
    mpz_clears(r0, r1, t0, t1, quotient, rest, NULL);
}

/* All entries over one denominator, given their residues. */
static void recover(mpz_t *x, int64_t n, const mpz_t modulus, double bits, mpz_t denominator)
{
    mpz_t y, numerator, factor, half;
    mpz_inits(y, numerator, factor, half, NULL);
    mpz_fdiv_q_2exp(half, modulus, 1);
    mpz_set_ui(denominator, 1);
    for (int64_t i = 0; i < n; i++) {
        mpz_mul(y, x[i], denominator);
        mpz_mod(y, y, modulus);
        if (mpz_cmp(y, half) > 0)
            mpz_sub(y, y, modulus);
        if ((double)mpz_sizeinbase(y, 2) > bits + 1) {
            reconstruct(y, modulus, bits, numerator, factor);
            mpz_mul(denominator, denominator, factor);
            for (int64_t k = 0; k < i; k++)
                mpz_mul(x[k], x[k], factor);
            mpz_set(y, numerator);
        }
        mpz_set(x[i], y);
    }
    mpz_clears(y, numerator, factor, half, NULL);
}

/* Divides by what numerators and denominator have in common. */
static void cancel(mpz_t *x, int64_t n, mpz_t denominator)
{
    mpz_t common;
    mpz_init_set(common, denominator);
    for (int64_t i = 0; i < n && mpz_cmp_ui(common, 1) != 0; i++)
        mpz_gcd(common, common, x[i]);
    for (int64_t i = 0; i < n && mpz_cmp_ui(common, 1) != 0; i++)
        mpz_divexact(x[i], x[i], common);
    mpz_divexact(denominator, denominator, common);
    mpz_clear(common);
}

static void add_product(mpz_t sum, const mpz_t x, int64_t factor)
{
    if (factor >= 0)
        mpz_addmul_ui(sum, x, (unsigned long)factor);
    else
        mpz_submul_ui(sum, x, 0 - (unsigned long)factor);
}

/* A x = denominator b, where x has a number for each of these columns of A (NULL: for the first ones)? */
static bool is_solution(const int64_t *a, int64_t n, const int64_t *cols, int64_t count, mpz_t *x,
                        const mpz_t denominator, const int64_t *b, int64_t b_stride)
{
    bool good = true;
    mpz_t sum;
    mpz_init(sum);
    for (int64_t i = 0; i < n && good; i++) {
        mpz_set_ui(sum, 0);
        for (int64_t j = 0; j < count; j++)
            add_product(sum, x[j], a[i * n + (cols ? cols[j] : j)]);
        mpz_neg(sum, sum);
        add_product(sum, denominator, b[i * b_stride]);
        good = mpz_sgn(sum) == 0;
    }
    mpz_clear(sum);
    return good;
}

/* One right-hand side. The inverse is there. */
static padic_outcome solve_column(work *w, const int64_t *b, mpz_t *x, mpz_t denominator)
{
    const int64_t n = w->n;
    const double digit_bits = log2((double)w->q) - 1e-9;
    /* Cramer: a numerator is the determinant with b in the place of a column. */
    const double numerator_bits = w->det_bits - w->least_bits + length_bits(b, n, 1) + 1;
    const int64_t steps = (int64_t)((numerator_bits + w->det_bits + 4) / digit_bits) + 2;
    enum { LEVELS = 40 };
    i128 *r = malloc((size_t)n * sizeof *r + 1);
    uint64_t *digits = malloc((size_t)(n * (steps + 1)) * sizeof *digits + 1);
    mpz_t *powers = new_numbers(LEVELS);
    padic_outcome outcome = PADIC_SOLVED;
    if (!r || !digits || !powers)
        outcome = fail(w, "no memory for %lld digits of %lld numbers", (long long)steps, (long long)n);
    if (outcome == PADIC_SOLVED) {
        for (int64_t i = 0; i < n; i++)
            r[i] = b[i];
        for (int64_t s = 0; s < steps; s++)
            next_digits(w, r, digits + steps * n, digits + s * n);
        mpz_t modulus;
        mpz_init(modulus);
        mpz_ui_pow_ui(modulus, w->q, (unsigned long)steps);
        mpz_set_ui(powers[0], w->q);
        for (int l = 1; INT64_C(1) << l < steps; l++)
            mpz_mul(powers[l], powers[l - 1], powers[l - 1]);
        for (int64_t i = 0; i < n; i++)
            assemble(digits + i, n, steps, powers, x[i]);
        recover(x, n, modulus, numerator_bits, denominator);
        cancel(x, n, denominator);
        mpz_clear(modulus);
        if (!is_solution(w->a, n, NULL, n, x, denominator, b, 1))
            outcome = fail(w, "the solution found does not solve the system; this is a bug of tokitai");
    }
    free_numbers(powers, LEVELS);
    free(digits);
    free(r);
    return outcome;
}

/* Singular modulo the prime: is there a vector that the matrix itself takes to zero? PADIC_SOLVED: none was found, so another
 * prime may do. */
static padic_outcome show_singular(work *w)
{
    const int64_t n = w->n;
    const size_t count = (size_t)(n * n);
    uint64_t *spoilt = malloc(count * sizeof *spoilt + 1);
    int64_t *part = malloc(count * sizeof *part + 1);
    uint64_t *inverse = malloc(count * sizeof *inverse + 1);
    int64_t *places = calloc((size_t)(3 * n) + 1, sizeof *places);
    mpz_t *x = new_numbers(n + 1);
    padic_outcome outcome = PADIC_SOLVED;
    if (!spoilt || !part || !inverse || !places || !x) {
        outcome = fail(w, "no memory for %lld rows", (long long)n);
    } else {
        int64_t *rows = places, *cols = places + n, *b = places + 2 * n;
        reduce_matrix(w, w->prime, spoilt);
        const int64_t rank = padic_field_rank(spoilt, n, w->prime, rows, cols, NULL);
        /* A column without a pivot as a combination of those with one, in the rows that have one. */
        int64_t free_col = 0;
        while (free_col < rank && cols[free_col] == free_col)
            free_col++;
        for (int64_t i = 0; i < rank; i++) {
            b[i] = w->a[rows[i] * n + free_col];
            for (int64_t j = 0; j < rank; j++)
                part[i * rank + j] = w->a[rows[i] * n + cols[j]];
        }
        work smaller = *w;
        smaller.n = rank;
        smaller.a = part;
        smaller.inverse = inverse;
        bound(&smaller);
        mpz_set_ui(x[n], 1);
        if (rank < 0)
            outcome = fail(w, "no memory for %lld rows", (long long)n);
        else if (rank > 0 && invert(&smaller, w->prime) != PADIC_SOLVED)
            outcome = fail(w, "%s", w->reason);
        else if (rank > 0)
            outcome = solve_column(&smaller, b, x, x[n]);
        if (outcome == PADIC_SOLVED && is_solution(w->a, n, cols, rank, x, x[n], w->a + free_col, n)) {
            snprintf(w->reason, w->size, "the matrix is singular, of rank %lld or more", (long long)rank);
            outcome = PADIC_SINGULAR;
        }
    }
    free_numbers(x, n + 1);
    free(places);
    free(inverse);
    free(part);
    free(spoilt);
    return outcome;
}

/* The inverse modulo the square of some prime, or a proof that there is none. */
static padic_outcome prepare(work *w)
{
    uint64_t prime = UINT64_C(1) << PADIC_FIELD_BITS;
    bound(w);
    for (int i = 0; i < PRIMES_TRIED; i++) {
        prime = padic_prime_below(prime);
        padic_outcome outcome = invert(w, prime);
        if (outcome != PADIC_SINGULAR)
            return outcome;
        outcome = show_singular(w);
        if (outcome != PADIC_SOLVED)
            return outcome;
    }
    return fail(w, "the matrix is singular modulo %d primes, but not over the integers", (int)PRIMES_TRIED);
}

static padic_outcome begin(work *w, tk_ctx *ctx, const padic_matrix *a, char *reason, size_t size)
{
    *w = (work){
        .ctx = ctx, .n = a->rows, .a = (const int64_t *)(const void *)a->values, .reason = reason, .size = size};
    if (a->rows != a->cols)
        return fail(w, "the matrix is not square: %lld rows, %lld columns", (long long)a->rows, (long long)a->cols);
    if (a->rows > MOST_ROWS)
        return fail(w, "the matrix has %lld rows; the limit is %d", (long long)a->rows, (int)MOST_ROWS);
    w->inverse = malloc((size_t)(w->n * w->n) * sizeof *w->inverse + 1);
    return w->inverse ? prepare(w) : fail(w, "no memory for %lld rows", (long long)w->n);
}

padic_outcome padic_solve(tk_ctx *ctx, const padic_matrix *a, const padic_matrix *b, padic_solution *solution,
                          char *reason, size_t size)
{
    work w = {.reason = reason, .size = size};
    *solution = (padic_solution){0};
    if (a->rows != b->rows)
        return fail(&w, "the matrix has %lld rows, the right-hand side %lld", (long long)a->rows, (long long)b->rows);
    padic_outcome outcome = begin(&w, ctx, a, reason, size);
    if (outcome == PADIC_SOLVED) {
        *solution = (padic_solution){.rows = b->rows,
                                     .cols = b->cols,
                                     .numerators = new_numbers(b->rows * b->cols),
                                     .denominators = new_numbers(b->cols)};
        mpz_t *x = new_numbers(w.n);
        int64_t *column = malloc((size_t)w.n * sizeof *column + 1);
        if (!solution->numerators || !solution->denominators || !x || !column)
            outcome = fail(&w, "no memory for the solution");
        for (int64_t j = 0; j < b->cols && outcome == PADIC_SOLVED; j++) {
            for (int64_t i = 0; i < w.n; i++)
                column[i] = (int64_t)b->values[i * b->cols + j];
            outcome = solve_column(&w, column, x, solution->denominators[j]);
            for (int64_t i = 0; i < w.n; i++)
                mpz_swap(solution->numerators[i * b->cols + j], x[i]);
        }
        free(column);
        free_numbers(x, w.n);
    }
    if (outcome != PADIC_SOLVED)
        padic_solution_free(solution);
    free(w.inverse);
    return outcome;
}

/* The determinant is a multiple of every denominator of a solution; the quotient is small, and known modulo enough primes. */
static padic_outcome find_determinant(work *w, mpz_t determinant)
{
    const int64_t n = w->n;
    const size_t count = (size_t)(n * n);
    uint64_t *spoilt = malloc(count * sizeof *spoilt + 1);
    int64_t *places = malloc((size_t)(2 * n) * sizeof *places + 1);
    int64_t *b = malloc((size_t)n * sizeof *b + 1);
    mpz_t *x = new_numbers(n + 1);
    padic_outcome outcome = PADIC_SOLVED;
    mpz_t quotient, modulus, step;
    mpz_inits(quotient, modulus, step, NULL);
    if (!spoilt || !places || !b || !x)
        outcome = fail(w, "no memory for %lld rows", (long long)n);
    for (int64_t i = 0; i < n && b; i++)
        b[i] = (int64_t)(((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15)) >> 44) - (1 << 19);
    if (outcome == PADIC_SOLVED)
        outcome = solve_column(w, b, x, x[n]);
    if (outcome == PADIC_SOLVED) {
        const double bits = w->det_bits - (double)mpz_sizeinbase(x[n], 2) + 3;
        uint64_t prime = UINT64_C(1) << PADIC_FIELD_BITS;
        mpz_set_ui(modulus, 1);
        while ((double)mpz_sizeinbase(modulus, 2) <= bits + 1) {
            uint64_t value;
            prime = padic_prime_below(prime);
            const uint64_t known = mpz_fdiv_ui(x[n], prime);
            if (!known)
                continue;
            reduce_matrix(w, prime, spoilt);
            if (padic_field_rank(spoilt, n, prime, places, places + n, &value) < 0) {
                outcome = fail(w, "no memory for %lld rows", (long long)n);
                break;
            }
            value = value * padic_field_inverse(known, prime) % prime;
            /* quotient + modulus t, with t such that it is that modulo this prime too. */
            const uint64_t have = mpz_fdiv_ui(quotient, prime);
            const uint64_t t = (value + prime - have) % prime *
                               padic_field_inverse(mpz_fdiv_ui(modulus, prime), prime) % prime;
            mpz_addmul_ui(quotient, modulus, t);
            mpz_mul_ui(modulus, modulus, prime);
        }
        mpz_fdiv_q_2exp(step, modulus, 1);
        if (mpz_cmp(quotient, step) > 0)
            mpz_sub(quotient, quotient, modulus);
        mpz_mul(determinant, quotient, x[n]);
    }
    mpz_clears(quotient, modulus, step, NULL);
    free_numbers(x, n + 1);
    free(b);
    free(places);
    free(spoilt);
    return outcome;
}

padic_outcome padic_determinant(tk_ctx *ctx, const padic_matrix *a, mpz_t determinant, char *reason, size_t size)
{
    work w;
    padic_outcome outcome = begin(&w, ctx, a, reason, size);
    if (outcome == PADIC_SINGULAR)
        mpz_set_ui(determinant, 0);
    else if (outcome == PADIC_SOLVED)
        outcome = find_determinant(&w, determinant);
    free(w.inverse);
    return outcome == PADIC_SINGULAR ? PADIC_SOLVED : outcome;
}
