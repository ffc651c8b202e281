/* SHOWS. libxsmm: its compiled small products over tiles of 64 x 64 x 256 of the operands widened to fp32. It knows no transposed
 * operands, so those are transposed after widening. */
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"

typedef void (*small_product)(const float *a, const float *b, float *c, ...);
typedef small_product (*dispatch_function)(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
                                           const float *alpha, const float *beta, const int *flags,
                                           const int *prefetch);

typedef struct state {
    bench_wide_product wide;
    float *turned; /* a transposed operand */
    dispatch_function dispatch;
} state;

enum { TILE = 64, DEPTH = 256 };

static const char *const libraries[] = {"libxsmm.so.1", "libxsmm.so", NULL};

static const char *find(const char **missing)
{
    *missing = "libxsmm.so.1 not found (Debian has only the archive; docs/benchmarks.md makes the library from it)";
    return bench_library(libraries);
}

/* to[cols, rows] = from[rows, cols] turned */
static void transpose(const float *from, float *to, int64_t rows, int64_t cols)
{
    enum { BLOCK = 16 };
    for (int64_t r = 0; r < rows; r += BLOCK)
        for (int64_t c = 0; c < cols; c += BLOCK)
            for (int64_t i = r; i < rows && i < r + BLOCK; i++)
                for (int64_t j = c; j < cols && j < c + BLOCK; j++)
                    to[j * rows + i] = from[i * cols + j];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Column-major C^T = B^T A^T, so the operands change places. */
static bool multiply_tile(const state *s, int64_t row, int64_t col)
{
    const bench_product *p = &s->wide.p;
    const int cols = (int)least(p->cols - col, TILE);
    const int rows = (int)least(p->rows - row, TILE);
    const int ld_b = (int)p->cols;
    const int ld_a = (int)p->inner;
    const float alpha = 1.0f;
    for (int64_t k = 0; k < p->inner; k += DEPTH) {
        const float beta = k ? 1.0f : 0.0f;
        small_product product = s->dispatch(cols, rows, (int)least(p->inner - k, DEPTH), &ld_b, &ld_a, &ld_b, &alpha,
                                            &beta, NULL, NULL);
        if (!product)
            return false;
        product(s->wide.b + k * p->cols + col, s->wide.a + row * p->inner + k, s->wide.c + row * p->cols + col);
    }
    return true;
}

static bool run(bench_arm *arm)
{
    const state *s = arm->state;
    const bench_product *p = &s->wide.p;
    bool good = true;
    bench_widen(arm->work, p->a, p->a_transposed ? s->turned : s->wide.a, p->rows * p->inner);
    if (p->a_transposed)
        transpose(s->turned, s->wide.a, p->inner, p->rows);
    bench_widen(arm->work, p->b, p->b_transposed ? s->turned : s->wide.b, p->inner * p->cols);
    if (p->b_transposed)
        transpose(s->turned, s->wide.b, p->cols, p->inner);
#pragma omp parallel for schedule(static) collapse(2) num_threads(arm->work->threads) reduction(&& : good) \
    if (arm->work->threads > 1)
    for (int64_t row = 0; row < p->rows; row += TILE)
        for (int64_t col = 0; col < p->cols; col += TILE)
            good = multiply_tile(s, row, col) && good;
    bench_narrow(arm->work, s->wide.c, p->c, p->rows * p->cols);
    return good;
}

static void close_arm(bench_arm *arm)
{
    state *s = arm->state;
    if (s) {
        bench_wide_product_close(&s->wide);
        free(s->turned);
    }
    free(s);
}

static bool attach(const bench_work *work, int variant, bench_arm *arm)
{
    const char *name;
    state *s = variant > 0 ? NULL : calloc(1, sizeof *s);
    arm->state = s;
    arm->run = run;
    arm->close = close_arm;
    if (!s || !bench_wide_product_open(work, &s->wide))
        return false;
    const bench_product *p = &s->wide.p;
    s->turned = bench_alloc(p->inner * (p->a_transposed ? p->rows : p->cols) * (int64_t)sizeof(float));
    bench_symbol(bench_load(libraries, &name), "libxsmm_smmdispatch", &s->dispatch);
    return s->turned && s->dispatch;
}

const bench_peer bench_peer_libxsmm = {"libxsmm", find, attach};
