/* SHOWS. oneDNN. GEMMs by dnnl_sgemm on widened operands, and for bf16 also by its own bf16 product. Elementwise ops and softmax
 * by primitives: in bf16 on the tensors themselves where it has such a primitive, else in fp32 by chunks that stay in
 * the cache. Primitives are those of version 2, whose descriptors are structs that only oneDNN looks into. */
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"

/* -- Version 2 of the interface, as far as it is used ------------------------------------------------------------ */

enum { DNNL_BF16 = 2, DNNL_F32 = 3 };
enum { DNNL_FORWARD = 96, DNNL_BACKWARD_DATA = 160, DNNL_FORWARD_TRAINING = 64 };
enum { DNNL_GELU_TANH = 0xcf };
enum { DNNL_SRC = 1, DNNL_DST = 17, DNNL_DIFF_SRC = 129, DNNL_DIFF_DST = 145 };

/* Larger than any descriptor of version 2. */
typedef struct descriptor {
    _Alignas(16) unsigned char bytes[8192];
} descriptor;

typedef struct dnnl_argument {
    int which;
    void *memory;
} dnnl_argument;

typedef int (*gemm_function)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const void *a,
                             int64_t lda, const void *b, int64_t ldb, float beta, float *c, int64_t ldc);

typedef struct interface {
    gemm_function sgemm, bf16_gemm;
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*memory_desc)(descriptor *d, int ndims, const int64_t *dims, int type, const int64_t *strides);
    int (*memory_create)(void **memory, const descriptor *d, void *engine, void *handle);
    int (*memory_set)(void *memory, void *handle);
    int (*eltwise_forward)(descriptor *d, int prop, int algorithm, const descriptor *data, float alpha, float beta);
    int (*eltwise_backward)(descriptor *d, int algorithm, const descriptor *diff, const descriptor *data, float alpha,
                            float beta);
    int (*softmax_forward)(descriptor *d, int prop, const descriptor *data, int axis);
    int (*softmax_backward)(descriptor *d, const descriptor *diff, const descriptor *data, int axis);
    int (*primitive_desc)(void **pd, const descriptor *d, const void *attr, void *engine, const void *hint);
    int (*primitive_create)(void **primitive, const void *pd);
    int (*execute)(const void *primitive, void *stream, int count, const dnnl_argument *arguments);
    int (*memory_destroy)(void *memory);
    int (*primitive_destroy)(void *primitive);
    int (*primitive_desc_destroy)(void *pd);
    int (*stream_destroy)(void *stream);
    int (*engine_destroy)(void *engine);
} interface;

static const char *const libraries[] = {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so", NULL};

static const char *find(const char **missing)
{
    *missing = "libdnnl.so.2 not found";
    return bench_library(libraries);
}

static interface load(void)
{
    interface f = {0};
    const char *name;
    void *l = bench_load(libraries, &name);
    bench_symbol(l, "dnnl_sgemm", &f.sgemm);
    bench_symbol(l, "dnnl_gemm_bf16bf16f32", &f.bf16_gemm);
    bench_symbol(l, "dnnl_engine_create", &f.engine_create);
    bench_symbol(l, "dnnl_stream_create", &f.stream_create);
    bench_symbol(l, "dnnl_stream_wait", &f.stream_wait);
    bench_symbol(l, "dnnl_memory_desc_init_by_strides", &f.memory_desc);
    bench_symbol(l, "dnnl_memory_create", &f.memory_create);
    bench_symbol(l, "dnnl_memory_set_data_handle", &f.memory_set);
    bench_symbol(l, "dnnl_eltwise_forward_desc_init", &f.eltwise_forward);
    bench_symbol(l, "dnnl_eltwise_backward_desc_init", &f.eltwise_backward);
    bench_symbol(l, "dnnl_softmax_forward_desc_init", &f.softmax_forward);
    bench_symbol(l, "dnnl_softmax_backward_desc_init", &f.softmax_backward);
    bench_symbol(l, "dnnl_primitive_desc_create", &f.primitive_desc);
    bench_symbol(l, "dnnl_primitive_create", &f.primitive_create);
    bench_symbol(l, "dnnl_primitive_execute", &f.execute);
    bench_symbol(l, "dnnl_memory_destroy", &f.memory_destroy);
    bench_symbol(l, "dnnl_primitive_destroy", &f.primitive_destroy);
    bench_symbol(l, "dnnl_primitive_desc_destroy", &f.primitive_desc_destroy);
    bench_symbol(l, "dnnl_stream_destroy", &f.stream_destroy);
    bench_symbol(l, "dnnl_engine_destroy", &f.engine_destroy);
    return f;
}

enum { TENSORS = 3 }; /* of a primitive at most */

typedef struct state {
    interface f;
    bench_product p;         /* GEMMs */
    float *wide[TENSORS];    /* widened operands or chunks */
    bool native;             /* on 16-bit elements themselves */
    int64_t rows, cols;      /* the whole as the primitive sees it */
    int64_t chunk_rows;      /* rows of one call */
    int tensor_count;        /* the last one is the output */
    int which[TENSORS];      /* the primitive's name of each */
    uint16_t *data[TENSORS]; /* the tensors themselves */
    void *engine, *stream;
    void *memory[2][TENSORS], *primitive[2]; /* of whole chunks, of the last one */
} state;

static void close_arm(bench_arm *arm)
{
    state *s = arm->state;
    if (!s)
        return;
    for (int t = 0; t < TENSORS; t++)
        free(s->wide[t]);
    for (int i = 0; i < 2; i++) {
        for (int t = 0; t < TENSORS; t++)
            if (s->memory[i][t])
                s->f.memory_destroy(s->memory[i][t]);
        if (s->primitive[i])
            s->f.primitive_destroy(s->primitive[i]);
    }
    if (s->stream)
        s->f.stream_destroy(s->stream);
    if (s->engine)
        s->f.engine_destroy(s->engine);
    free(s);
}

/* -- GEMMs -------------------------------------------------------------------------------------------------------- */

static bool run_gemm(bench_arm *arm)
{
    const state *s = arm->state;
    const bench_product *p = &s->p;
    const void *a = p->a;
    const void *b = p->b;
    if (!s->native) {
        bench_widen(arm->work, p->a, s->wide[0], p->rows * p->inner);
        bench_widen(arm->work, p->b, s->wide[1], p->inner * p->cols);
        a = s->wide[0];
        b = s->wide[1];
    }
    gemm_function gemm = s->native ? s->f.bf16_gemm : s->f.sgemm;
    int status = gemm(p->a_transposed ? 'T' : 'N', p->b_transposed ? 'T' : 'N', p->rows, p->cols, p->inner, 1.0f, a,
                      p->a_transposed ? p->rows : p->inner, b, p->b_transposed ? p->inner : p->cols, 0.0f, s->wide[2],
                      p->cols);
    bench_narrow(arm->work, s->wide[2], p->c, p->rows * p->cols);
    return status == 0;
}

static bool attach_gemm(const bench_work *work, int variant, bench_arm *arm, state *s)
{
    const bench_product *p = &s->p;
    s->native = variant == 1;
    if (s->native ? work->c.dtype != TK_BF16 || !s->f.bf16_gemm : !s->f.sgemm)
        return false;
    strcat(arm->name, s->native ? " (bf16)" : " (sgemm)");
    arm->run = run_gemm;
    s->wide[0] = s->native ? NULL : bench_alloc(p->rows * p->inner * (int64_t)sizeof(float));
    s->wide[1] = s->native ? NULL : bench_alloc(p->inner * p->cols * (int64_t)sizeof(float));
    s->wide[2] = bench_alloc(p->rows * p->cols * (int64_t)sizeof(float));
    return s->wide[2] && (s->native || (s->wide[0] && s->wide[1]));
}

/* -- Primitives --------------------------------------------------------------------------------------------------- */

static int64_t chunk_of(const state *s, int64_t row)
{
    return s->rows - row < s->chunk_rows ? s->rows - row : s->chunk_rows;
}

static bool run_primitive(bench_arm *arm)
{
    const state *s = arm->state;
    const int out = s->tensor_count - 1;
    for (int64_t row = 0; row < s->rows; row += s->chunk_rows) {
        const int64_t rows = chunk_of(s, row);
        const int which = rows == s->chunk_rows ? 0 : 1;
        dnnl_argument arguments[TENSORS];
        for (int t = 0; t < s->tensor_count; t++) {
            uint16_t *part = s->data[t] + row * s->cols;
            if (s->native && s->f.memory_set(s->memory[which][t], part) != 0)
                return false;
            if (!s->native && t != out)
                bench_widen(arm->work, part, s->wide[t], rows * s->cols);
            arguments[t] = (dnnl_argument){s->which[t], s->memory[which][t]};
        }
        if (s->f.execute(s->primitive[which], s->stream, s->tensor_count, arguments) || s->f.stream_wait(s->stream))
            return false;
        if (!s->native)
            bench_narrow(arm->work, s->wide[out], s->data[out] + row * s->cols, rows * s->cols);
    }
    return true;
}

static bool describe(const bench_work *work, const state *s, const descriptor *data, int64_t rows, void **pd)
{
    descriptor d = {{0}};
    const interface *f = &s->f;
    const bool backward = s->tensor_count == 3;
    const bool softmax = !bench_is(work, "gelu_fwd") && !bench_is(work, "gelu_bwd");
    void *hint = NULL;
    (void)rows;
    int status = softmax ? f->softmax_forward(&d, DNNL_FORWARD_TRAINING, data, 1)
                         : f->eltwise_forward(&d, DNNL_FORWARD_TRAINING, DNNL_GELU_TANH, data, 0, 0);
    if (status || f->primitive_desc(&hint, &d, NULL, s->engine, NULL))
        return false;
    *pd = hint;
    if (!backward)
        return true;
    *pd = NULL;
    memset(&d, 0, sizeof d);
    status = softmax ? f->softmax_backward(&d, data, data, 1)
                     : f->eltwise_backward(&d, DNNL_GELU_TANH, data, data, 0, 0);
    if (!status)
        status = f->primitive_desc(pd, &d, NULL, s->engine, hint);
    f->primitive_desc_destroy(hint);
    return status == 0;
}

/* The primitive for calls of `rows` rows, and its memory. */
static bool make_primitive(const bench_work *work, state *s, int which, int64_t rows)
{
    const interface *f = &s->f;
    const int64_t dims[2] = {rows, s->cols};
    const int64_t strides[2] = {s->cols, 1};
    descriptor data = {{0}};
    void *pd = NULL;
    if (f->memory_desc(&data, 2, dims, s->native ? DNNL_BF16 : DNNL_F32, strides) ||
        !describe(work, s, &data, rows, &pd))
        return false;
    bool good = f->primitive_create(&s->primitive[which], pd) == 0;
    f->primitive_desc_destroy(pd);
    for (int t = 0; t < s->tensor_count && good; t++)
        good = f->memory_create(&s->memory[which][t], &data, s->engine,
                                s->native ? (void *)s->data[t] : (void *)s->wide[t]) == 0;
    return good;
}

/* What the tensors are to the primitive, in the order in which we name them; the output last. */
static bool name_tensors(const bench_work *work, state *s)
{
    const bool gelu = bench_is(work, "gelu_fwd") || bench_is(work, "gelu_bwd");
    const bool backward = bench_is(work, "gelu_bwd") || bench_is(work, "softmax_bwd");
    if (!gelu && !backward && !bench_is(work, "softmax_fwd"))
        return false;
    s->tensor_count = backward ? 3 : 2;
    s->rows = gelu ? 1 : work->c.dims[0];
    s->cols = gelu ? work->c.dims[0] : work->c.dims[1];
    for (int t = 0; t < s->tensor_count; t++)
        s->data[t] = work->buffers[t];
    s->which[0] = backward ? DNNL_DIFF_DST : DNNL_SRC;
    s->which[1] = !backward ? DNNL_DST : gelu ? DNNL_SRC : DNNL_DST;
    s->which[2] = DNNL_DIFF_SRC;
    return s->rows > 0 && s->cols > 0;
}

/* A flat tensor is cut into rows that stay in the cache; what does not fill a row is left to a row of its own. */
enum { CHUNK = 1 << 14 };

static bool attach_primitive(const bench_work *work, int variant, bench_arm *arm, state *s)
{
    const interface *f = &s->f;
    s->native = variant == 1;
    if (!f->memory_desc || !f->eltwise_forward || !f->softmax_forward || !f->softmax_backward || !f->execute ||
        !f->primitive_desc || !name_tensors(work, s) || (s->native && work->c.dtype != TK_BF16))
        return false;
    strcat(arm->name, s->native ? " (bf16)" : " (fp32 chunks)");
    arm->run = run_primitive;
    const int64_t chunk = (int64_t)CHUNK * work->threads;
    if (s->rows == 1 && s->cols % chunk == 0) {
        s->rows = s->cols / chunk;
        s->cols = chunk;
    }
    s->chunk_rows = s->native ? s->rows : s->cols >= chunk ? 1 : chunk / s->cols;
    if (s->chunk_rows > s->rows)
        s->chunk_rows = s->rows;
    for (int t = 0; t < s->tensor_count && !s->native; t++)
        if (!(s->wide[t] = bench_alloc(s->chunk_rows * s->cols * (int64_t)sizeof(float))))
            return false;
    if (f->engine_create(&s->engine, 1, 0) || f->stream_create(&s->stream, s->engine, 1))
        return false;
    const int64_t last = s->rows % s->chunk_rows;
    return make_primitive(work, s, 0, s->chunk_rows) && (!last || make_primitive(work, s, 1, last));
}

static bool attach(const bench_work *work, int variant, bench_arm *arm)
{
    if (variant > 1)
        return false;
    state *s = calloc(1, sizeof *s);
    arm->state = s;
    arm->close = close_arm;
    if (!s)
        return false;
    s->f = load();
    return bench_product_of(work, &s->p) ? attach_gemm(work, variant, arm, s)
                                         : attach_primitive(work, variant, arm, s);
}

const bench_peer bench_peer_onednn = {"onednn", find, attach};
