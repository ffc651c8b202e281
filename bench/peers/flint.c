/* FLINT: products modulo p^N by nmod_mat_mul() and by fmpz_mod_mat_mul(). Its matrices are filled before the clock runs; what
 * is timed is the product, and reading the result. */
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"

/* Its structs, with room for those of later releases. Numbers of its own, fmpz, are one word. */
typedef struct matrix {
    int64_t words[16];
} matrix;

static struct flint {
    void (*nmod_init)(matrix *, int64_t, int64_t, uint64_t);
    void (*nmod_clear)(matrix *);
    void (*nmod_set)(matrix *, int64_t, int64_t, uint64_t);
    uint64_t (*nmod_get)(const matrix *, int64_t, int64_t);
    void (*nmod_mul)(matrix *, const matrix *, const matrix *);
    void (*mod_init)(matrix *, int64_t, int64_t, const int64_t *);
    void (*mod_clear)(matrix *);
    int64_t *(*mod_entry)(const matrix *, int64_t, int64_t);
    void (*mod_mul)(matrix *, const matrix *, const matrix *);
    void (*number_init)(int64_t *, uint64_t);
    void (*number_set)(int64_t *, uint64_t);
    uint64_t (*number_get)(const int64_t *);
    void (*number_clear)(int64_t *);
    void (*set_threads)(int);
} f;

static const char *find(const char **missing)
{
    /* Of later releases fmpz_mod_mat_init() takes other arguments. */
    static const char *const names[] = {"libflint.so.17", NULL};
    const char *name = NULL;
    void *l = bench_load(names, &name);
    bench_symbol(l, "nmod_mat_init", &f.nmod_init);
    bench_symbol(l, "nmod_mat_clear", &f.nmod_clear);
    bench_symbol(l, "nmod_mat_set_entry", &f.nmod_set);
    bench_symbol(l, "nmod_mat_get_entry", &f.nmod_get);
    bench_symbol(l, "nmod_mat_mul", &f.nmod_mul);
    bench_symbol(l, "fmpz_mod_mat_init", &f.mod_init);
    bench_symbol(l, "fmpz_mod_mat_clear", &f.mod_clear);
    bench_symbol(l, "fmpz_mod_mat_entry", &f.mod_entry);
    bench_symbol(l, "fmpz_mod_mat_mul", &f.mod_mul);
    bench_symbol(l, "fmpz_init_set_ui", &f.number_init);
    bench_symbol(l, "fmpz_set_ui", &f.number_set);
    bench_symbol(l, "fmpz_get_ui", &f.number_get);
    bench_symbol(l, "fmpz_clear", &f.number_clear);
    bench_symbol(l, "flint_set_num_threads", &f.set_threads);
    const bool all = f.nmod_init && f.nmod_clear && f.nmod_set && f.nmod_get && f.nmod_mul && f.mod_init &&
                     f.mod_clear && f.mod_entry && f.mod_mul && f.number_init && f.number_set && f.number_get &&
                     f.number_clear && f.set_threads;
    if (!all)
        *missing = "libflint.so.17 was not found (libflint-dev)";
    return all ? name : NULL;
}

enum { A, B, C, MATRICES };
enum { NMOD, FMPZ_MOD, VARIANTS };

typedef struct state {
    matrix of[MATRICES];
    int64_t modulus; /* an fmpz */
    int variant;
} state;

static bool run(bench_arm *arm)
{
    const bench_work *work = arm->work;
    state *s = arm->state;
    const int64_t m = work->c.dims[0];
    const int64_t n = work->c.dims[1];
    uint64_t *c = work->buffers[C];
    f.set_threads(work->threads);
    if (s->variant == NMOD)
        f.nmod_mul(&s->of[C], &s->of[A], &s->of[B]);
    else
        f.mod_mul(&s->of[C], &s->of[A], &s->of[B]);
    for (int64_t i = 0; i < m * n; i++)
        c[i] = s->variant == NMOD ? f.nmod_get(&s->of[C], i / n, i % n)
                                  : f.number_get(f.mod_entry(&s->of[C], i / n, i % n));
    return true;
}

static void close_arm(bench_arm *arm)
{
    state *s = arm->state;
    for (int i = 0; i < MATRICES; i++)
        (s->variant == NMOD ? f.nmod_clear : f.mod_clear)(&s->of[i]);
    f.number_clear(&s->modulus);
    free(s);
}

static void fill(state *s, int which, int64_t rows, int64_t cols, const uint64_t *values, uint64_t modulus)
{
    if (s->variant == NMOD)
        f.nmod_init(&s->of[which], rows, cols, modulus);
    else
        f.mod_init(&s->of[which], rows, cols, &s->modulus);
    for (int64_t i = 0; values && i < rows * cols; i++)
        if (s->variant == NMOD)
            f.nmod_set(&s->of[which], i / cols, i % cols, values[i] % modulus);
        else
            f.number_set(f.mod_entry(&s->of[which], i / cols, i % cols), values[i] % modulus);
}

static bool attach(const bench_work *work, int variant, bench_arm *arm)
{
    const int prime = tk_attribute_find(work->c.contract, "prime");
    const int precision = tk_attribute_find(work->c.contract, "precision");
    if (variant >= VARIANTS || !bench_is(work, "padic_gemm") || prime < 0 || precision < 0)
        return false;
    uint64_t modulus = 1;
    for (int64_t i = 0; i < work->c.attributes[precision].integer; i++)
        modulus *= (uint64_t)work->c.attributes[prime].integer;
    state *s = calloc(1, sizeof *s);
    if (!modulus || !s) { /* 2^64 is no modulus of one word */
        free(s);
        return false;
    }
    const int64_t *dims = work->c.dims;
    s->variant = variant;
    f.number_init(&s->modulus, modulus);
    fill(s, A, dims[0], dims[2], work->buffers[A], modulus);
    fill(s, B, dims[2], dims[1], work->buffers[B], modulus);
    fill(s, C, dims[0], dims[1], NULL, modulus);
    strcat(arm->name, variant == NMOD ? " (nmod_mat)" : " (fmpz_mod_mat)");
    arm->state = s;
    arm->run = run;
    arm->close = close_arm;
    return true;
}

const bench_peer bench_peer_flint = {"flint", find, attach};
