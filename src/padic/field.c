/* SHOWS. Elimination modulo a prime below 2^26. Rows are added to without reduction: a product is below 2^52, so 2048 of them
 * and what was there stay below 2^64. Only what is read as a pivot is reduced. */
#include "padic/field.h"

#include <stdlib.h>

#include "ops/padic/contract.h"

enum { STEPS = 2048 }; /* between reductions of everything */

uint64_t padic_prime_below(uint64_t n)
{
    while (!tki_is_prime(--n))
        ;
    return n;
}

uint64_t padic_field_inverse(uint64_t x, uint64_t prime)
{
    uint64_t result = 1;
    for (uint64_t exponent = prime - 2; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * x % prime;
        x = x * x % prime;
    }
    return result;
}

static void add_multiple(uint64_t *restrict row, const uint32_t *restrict pivot, uint32_t factor, int64_t begin,
                         int64_t end)
{
    for (int64_t j = begin; j < end; j++)
        row[j] += (uint64_t)factor * pivot[j];
}

static void reduce_all(uint64_t *x, int64_t count, uint64_t prime)
{
    for (int64_t i = 0; i < count; i++)
        x[i] %= prime;
}

static void swap_rows(uint64_t *matrix, int64_t n, int64_t i, int64_t k)
{
    for (int64_t j = 0; j < n && i != k; j++) {
        const uint64_t x = matrix[i * n + j];
        matrix[i * n + j] = matrix[k * n + j];
        matrix[k * n + j] = x;
    }
}

/* The first row from `from` on that has a number in that column; -1: none. Reduces what it reads. */
static int64_t find_pivot(uint64_t *matrix, int64_t n, int64_t from, int64_t col, uint64_t prime)
{
    for (int64_t i = from; i < n; i++) {
        matrix[i * n + col] %= prime;
        if (matrix[i * n + col])
            return i;
    }
    return -1;
}

bool padic_field_invert(uint64_t *w, int64_t n, uint64_t prime)
{
    uint32_t *pivot = malloc((size_t)n * sizeof *pivot + 1);
    int64_t *swapped = malloc((size_t)n * sizeof *swapped + 1);
    bool good = pivot && swapped;
    for (int64_t c = 0; c < n && good; c++) {
        const int64_t found = find_pivot(w, n, c, c, prime);
        good = found >= 0;
        if (!good)
            break;
        swap_rows(w, n, c, found);
        swapped[c] = found;
        const uint64_t inverse = padic_field_inverse(w[c * n + c], prime);
        w[c * n + c] = 1;
        for (int64_t j = 0; j < n; j++) {
            w[c * n + j] = w[c * n + j] % prime * inverse % prime;
            pivot[j] = (uint32_t)w[c * n + j];
        }
        for (int64_t i = 0; i < n; i++) {
            const uint64_t factor = w[i * n + c] % prime;
            if (i == c)
                continue;
            w[i * n + c] = 0;
            if (factor)
                add_multiple(w + i * n, pivot, (uint32_t)(prime - factor), 0, n);
        }
        if (c % STEPS == STEPS - 1)
            reduce_all(w, n * n, prime);
    }
    /* Rows that were swapped are columns of the inverse. */
    for (int64_t c = n - 1; c >= 0 && good; c--)
        for (int64_t i = 0; i < n && swapped[c] != c; i++) {
            const uint64_t x = w[i * n + c];
            w[i * n + c] = w[i * n + swapped[c]];
            w[i * n + swapped[c]] = x;
        }
    if (good)
        reduce_all(w, n * n, prime);
    free(pivot);
    free(swapped);
    return good;
}

int64_t padic_field_rank(uint64_t *w, int64_t n, uint64_t prime, int64_t *rows, int64_t *cols, uint64_t *determinant)
{
    uint32_t *pivot = malloc((size_t)n * sizeof *pivot + 1);
    int64_t *order = malloc((size_t)n * sizeof *order + 1);
    int64_t rank = 0;
    uint64_t product = 1;
    for (int64_t i = 0; i < n && order; i++)
        order[i] = i;
    for (int64_t c = 0; c < n && pivot && order; c++) {
        const int64_t found = find_pivot(w, n, rank, c, prime);
        if (found < 0)
            continue;
        if (found != rank) {
            const int64_t row = order[found];
            order[found] = order[rank];
            order[rank] = row;
            product = prime - product; /* a swap of rows changes the sign */
        }
        swap_rows(w, n, rank, found);
        product = product * w[rank * n + c] % prime;
        const uint64_t inverse = padic_field_inverse(w[rank * n + c], prime);
        for (int64_t j = c; j < n; j++) {
            w[rank * n + j] %= prime;
            pivot[j] = (uint32_t)w[rank * n + j];
        }
        for (int64_t i = rank + 1; i < n; i++) {
            const uint64_t factor = w[i * n + c] % prime * inverse % prime;
            if (factor)
                add_multiple(w + i * n, pivot, (uint32_t)(prime - factor), c, n);
        }
        rows[rank] = order[rank];
        cols[rank] = c;
        rank++;
        if (rank % STEPS == 0)
            reduce_all(w, n * n, prime);
    }
    if (determinant)
        *determinant = rank == n ? product : 0;
    if (!pivot || !order)
        rank = -1;
    free(pivot);
    free(order);
    return rank;
}
