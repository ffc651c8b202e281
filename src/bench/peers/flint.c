/* SHOWS. FLINT: products modulo p^N by nmod_mat_mul(), fmpz_mod_mat_mul() and padic_mat_mul(). Its matrices are filled before the clock runs; what
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
    void (*padic_context)(matrix *, const int64_t *, int64_t, int64_t, int);
    void (*padic_context_clear)(matrix *);
    void (*padic_init)(matrix *, int64_t, int64_t, int64_t);
    void (*padic_clear)(matrix *);
    int64_t *(*padic_entry)(const matrix *, int64_t, int64_t);
    void (*padic_reduce)(matrix *, const matrix *);
    void (*padic_mul)(matrix *, const matrix *, const matrix *, const matrix *);
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
    bench_symbol(l, "padic_ctx_init", &f.padic_context);
    bench_symbol(l, "padic_ctx_clear", &f.padic_context_clear);
    bench_symbol(l, "padic_mat_init2", &f.padic_init);
    bench_symbol(l, "padic_mat_clear", &f.padic_clear);
    bench_symbol(l, "padic_mat_entry", &f.padic_entry);
    bench_symbol(l, "padic_mat_reduce", &f.padic_reduce);
    bench_symbol(l, "padic_mat_mul", &f.padic_mul);
    bench_symbol(l, "fmpz_init_set_ui", &f.number_init);
    bench_symbol(l, "fmpz_set_ui", &f.number_set);
    bench_symbol(l, "fmpz_get_ui", &f.number_get);
    bench_symbol(l, "fmpz_clear", &f.number_clear);
    bench_symbol(l, "flint_set_num_threads", &f.set_threads);
    const bool all = f.nmod_init && f.nmod_clear && f.nmod_set && f.nmod_get && f.nmod_mul && f.mod_init &&
                     f.mod_clear && f.mod_entry && f.mod_mul && f.padic_context && f.padic_context_clear &&
                     f.padic_init && f.padic_clear && f.padic_entry && f.padic_reduce && f.padic_mul &&
                     f.number_init && f.number_set && f.number_get && f.number_clear && f.set_threads;
    if (!all)
        *missing = "libflint.so.17 not found (libflint-dev)";
    return all ? name : NULL;
}

enum { A, B, C, MATRICES };
enum { NMOD, FMPZ_MOD, PADIC, VARIANTS };
enum {
    PADIC_VALUATION = 4
}; /* the word behind the integers of a padic_mat, which stand for themselves times p to that */

typedef struct state {
    matrix of[MATRICES];
    matrix context;  /* of padic_mat */
    int64_t modulus; /* an fmpz */
    int64_t base;    /* the prime, an fmpz */
    uint64_t prime;
    int64_t precision;
    int variant;
} state;

static void read_product(const state *s, int64_t m, int64_t n, uint64_t *c)
{
    uint64_t scale = 1;
    for (int64_t v = 0; s->variant == PADIC && v < s->of[C].words[PADIC_VALUATION]; v++)
        scale *= s->prime;
    for (int64_t i = 0; i < m * n; i++)
        switch (s->variant) {
        case NMOD: c[i] = f.nmod_get(&s->of[C], i / n, i % n); break;
        case FMPZ_MOD: c[i] = f.number_get(f.mod_entry(&s->of[C], i / n, i % n)); break;
        default: c[i] = f.number_get(f.padic_entry(&s->of[C], i / n, i % n)) * scale; break;
        }
}

static bool run(bench_arm *arm)
{
    const bench_work *work = arm->work;
    state *s = arm->state;
    f.set_threads(work->threads);
    switch (s->variant) {
    case NMOD: f.nmod_mul(&s->of[C], &s->of[A], &s->of[B]); break;
    case FMPZ_MOD: f.mod_mul(&s->of[C], &s->of[A], &s->of[B]); break;
    default: f.padic_mul(&s->of[C], &s->of[A], &s->of[B], &s->context); break;
    }
    read_product(s, work->c.dims[0], work->c.dims[1], work->buffers[C]);
    return true;
}

static void close_arm(bench_arm *arm)
{
    state *s = arm->state;
    void (*const clear[])(matrix *) = {f.nmod_clear, f.mod_clear, f.padic_clear};
    for (int i = 0; i < MATRICES; i++)
        clear[s->variant](&s->of[i]);
    if (s->variant == PADIC)
        f.padic_context_clear(&s->context);
    f.number_clear(&s->modulus);
    f.number_clear(&s->base);
    free(s);
}

static void fill(state *s, int which, int64_t rows, int64_t cols, const uint64_t *values, uint64_t modulus)
{
    matrix *to = &s->of[which];
    switch (s->variant) {
    case NMOD: f.nmod_init(to, rows, cols, modulus); break;
    case FMPZ_MOD: f.mod_init(to, rows, cols, &s->modulus); break;
    default: f.padic_init(to, rows, cols, s->precision); break;
    }
    for (int64_t i = 0; values && i < rows * cols; i++)
        switch (s->variant) {
        case NMOD: f.nmod_set(to, i / cols, i % cols, values[i] % modulus); break;
        case FMPZ_MOD: f.number_set(f.mod_entry(to, i / cols, i % cols), values[i] % modulus); break;
        default: f.number_set(f.padic_entry(to, i / cols, i % cols), values[i] % modulus); break;
        }
    if (s->variant == PADIC && values)
        f.padic_reduce(to, &s->context);
}

static bool attach(const bench_work *work, int variant, bench_arm *arm)
{
    const int prime = tk_attribute_find(work->c.contract, "prime");
    const int precision = tk_attribute_find(work->c.contract, "precision");
    if (variant >= VARIANTS || !bench_is(work, "padic_gemm") || prime < 0 || precision < 0)
        return false;
    uint64_t modulus = 1;
    state *s = calloc(1, sizeof *s);
    for (int64_t i = 0; i < work->c.attributes[precision].integer; i++)
        modulus *= (uint64_t)work->c.attributes[prime].integer;
    if (!modulus || !s) { /* 2^64 is no modulus of one word */
        free(s);
        return false;
    }
    const int64_t *dims = work->c.dims;
    static const char *const names[] = {" (nmod_mat)", " (fmpz_mod_mat)", " (padic_mat)"};
    s->variant = variant;
    s->prime = (uint64_t)work->c.attributes[prime].integer;
    s->precision = work->c.attributes[precision].integer;
    f.number_init(&s->modulus, modulus);
    f.number_init(&s->base, s->prime);
    if (variant == PADIC)
        f.padic_context(&s->context, &s->base, 0, s->precision, 0);
    fill(s, A, dims[0], dims[2], work->buffers[A], modulus);
    fill(s, B, dims[2], dims[1], work->buffers[B], modulus);
    fill(s, C, dims[0], dims[1], NULL, modulus);
    strcat(arm->name, names[variant]);
    arm->state = s;
    arm->run = run;
    arm->close = close_arm;
    return true;
}

const bench_peer bench_peer_flint = {"flint", find, attach};
