/* SHOWS. Freivalds' check, and slices that vanish. Arithmetic of padic.c alone, none of a kernel. */
#include "padic/freivalds.h"

#include <stdlib.h>

#include "core/random.h"

int padic_check_vectors(const padic_ring *ring)
{
    int vectors = 0;
    for (unsigned __int128 odds = 1; odds <= (unsigned __int128)1 << 64; odds *= ring->prime)
        vectors++;
    return vectors;
}

/* to = m x */
static void apply(const padic_ring *ring, const padic_matrix *m, const uint64_t *x, uint64_t *to)
{
    for (int64_t i = 0; i < m->rows; i++) {
        uint64_t sum = 0;
        for (int64_t j = 0; j < m->cols; j++)
            sum = padic_add(ring, sum, padic_multiply(ring, m->values[i * m->cols + j], x[j]));
        to[i] = sum;
    }
}

bool padic_check_product(const padic_ring *ring, const padic_matrix *a, const padic_matrix *b, const padic_matrix *c,
                         uint64_t seed, int vectors)
{
    uint64_t *memory = malloc((size_t)(2 * c->rows + b->rows + c->cols) * sizeof *memory + 1);
    uint64_t *x = memory;
    uint64_t *bx = x + c->cols;
    uint64_t *abx = bx + b->rows;
    uint64_t *cx = abx + c->rows;
    bool good = memory && a->rows == c->rows && b->cols == c->cols && a->cols == b->rows;
    for (int v = 0; v < vectors && good; v++) {
        tki_random random = tki_random_stream(seed, (uint64_t)v);
        for (int64_t j = 0; j < c->cols; j++)
            x[j] = ring->modulus ? tki_random_below(&random, ring->modulus) : tki_random_u64(&random);
        apply(ring, b, x, bx);
        apply(ring, a, bx, abx);
        apply(ring, c, x, cx);
        for (int64_t i = 0; i < c->rows; i++)
            good &= abx[i] == cx[i];
    }
    free(memory);
    return good;
}

int64_t padic_vanishing_slices(const padic_ring *ring, const padic_matrix *a, const padic_matrix *b)
{
    int64_t slices = 0;
    for (int64_t t = 0; t < a->cols; t++) {
        int of_a = ring->precision;
        int of_b = ring->precision;
        for (int64_t i = 0; i < a->rows && of_a; i++) {
            const int v = padic_valuation(ring, a->values[i * a->cols + t]);
            of_a = v < of_a ? v : of_a;
        }
        for (int64_t j = 0; j < b->cols && of_a + of_b >= ring->precision; j++) {
            const int v = padic_valuation(ring, b->values[t * b->cols + j]);
            of_b = v < of_b ? v : of_b;
        }
        slices += of_a + of_b >= ring->precision;
    }
    return slices;
}
