/* SHOWS. OpenBLAS and BLIS: sgemm on operands widened to fp32, the product narrowed again; all of it is counted. */
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"
#include "drivers/cpu.h"

typedef void (*cblas_sgemm_function)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                                     const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
/* Any layout by strides: (row stride, column stride) behind each matrix. */
typedef void (*bli_sgemm_function)(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const float *alpha,
                                   const float *a, int64_t a_row, int64_t a_col, const float *b, int64_t b_row,
                                   int64_t b_col, const float *beta, float *c, int64_t c_row, int64_t c_col);

typedef struct state {
    bench_wide_product wide;
    cblas_sgemm_function cblas_sgemm;
    bli_sgemm_function bli_sgemm;
} state;

static const char *const openblas[] = {"libopenblas.so.0", "libopenblas.so", NULL};

/* Detection takes many virtual machines for older processors than they are. */
static void *blis(const char **name)
{
    static const char *const names[] = {"libblis.so.4", "libblis.so.3", "libblis.so", NULL};
    if (!tki_cpu_accept_avx512(NULL, NULL))
        setenv("BLIS_ARCH_TYPE", "0", 0); /* skx */
    return bench_load(names, name);
}

static const char *find_openblas(const char **missing)
{
    *missing = "libopenblas.so.0 not found";
    return bench_library(openblas);
}

static const char *find_blis(const char **missing)
{
    const char *name = NULL;
    *missing = "libblis.so.4 not found";
    return blis(&name) ? name : NULL;
}

static bool run(bench_arm *arm)
{
    const state *s = arm->state;
    const bench_product *p = &s->wide.p;
    const float one = 1.0f;
    const float zero = 0.0f;
    bench_widen(arm->work, p->a, s->wide.a, p->rows * p->inner);
    bench_widen(arm->work, p->b, s->wide.b, p->inner * p->cols);
    int64_t lda = p->a_transposed ? p->rows : p->inner;
    int64_t ldb = p->b_transposed ? p->inner : p->cols;
    if (s->cblas_sgemm)
        s->cblas_sgemm(101, p->a_transposed ? 112 : 111, p->b_transposed ? 112 : 111, (int)p->rows, (int)p->cols,
                       (int)p->inner, 1.0f, s->wide.a, (int)lda, s->wide.b, (int)ldb, 0.0f, s->wide.c, (int)p->cols);
    else
        s->bli_sgemm(0, 0, p->rows, p->cols, p->inner, &one, s->wide.a, p->a_transposed ? 1 : lda,
                     p->a_transposed ? lda : 1, s->wide.b, p->b_transposed ? 1 : ldb, p->b_transposed ? ldb : 1,
                     &zero, s->wide.c, p->cols, 1);
    bench_narrow(arm->work, s->wide.c, p->c, p->rows * p->cols);
    return true;
}

static void close_arm(bench_arm *arm)
{
    state *s = arm->state;
    if (s)
        bench_wide_product_close(&s->wide);
    free(s);
}

static state *attach_product(const bench_work *work, int variant, bench_arm *arm)
{
    state *s = variant > 0 ? NULL : calloc(1, sizeof *s);
    arm->state = s;
    arm->run = run;
    arm->close = close_arm;
    return s && bench_wide_product_open(work, &s->wide) ? s : NULL;
}

static bool attach_openblas(const bench_work *work, int variant, bench_arm *arm)
{
    const char *name;
    void (*set_threads)(int) = NULL;
    state *s = attach_product(work, variant, arm);
    if (!s)
        return false;
    void *library = bench_load(openblas, &name);
    bench_symbol(library, "cblas_sgemm", &s->cblas_sgemm);
    bench_symbol(library, "openblas_set_num_threads", &set_threads);
    if (set_threads)
        set_threads(work->threads);
    return s->cblas_sgemm != NULL;
}

static bool attach_blis(const bench_work *work, int variant, bench_arm *arm)
{
    const char *name;
    void (*set_threads)(int64_t) = NULL;
    state *s = attach_product(work, variant, arm);
    if (!s)
        return false;
    bench_symbol(blis(&name), "bli_sgemm", &s->bli_sgemm);
    bench_symbol(blis(&name), "bli_thread_set_num_threads", &set_threads);
    if (set_threads)
        set_threads(work->threads);
    return s->bli_sgemm != NULL;
}

const bench_peer bench_peer_openblas = {"openblas", find_openblas, attach_openblas};
const bench_peer bench_peer_blis = {"blis", find_blis, attach_blis};
