/* SHOWS. Finding cuBLASLt, and products in its terms. It works on the context that is current in the thread, which is the device's around
 * each of its calls. */
#include "bench/cublaslt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"
#include "core/context.h"
#include "core/library.h"
#include "runtime/gpu.h"

/* As in cublasLt.h and library_types.h. */
enum { R_32F = 0, R_16F = 2, R_16BF = 14 };
enum { COMPUTE_32F = 68 };
enum { OP_N = 0, OP_T = 1 };
enum {
    DESCRIPTION_TRANSPOSE_A = 3,
    DESCRIPTION_TRANSPOSE_B = 4,
    DESCRIPTION_EPILOGUE = 7,
    DESCRIPTION_BIAS = 8,
    DESCRIPTION_AUX = 11,
    DESCRIPTION_AUX_PITCH = 12
};
enum { EPILOGUE_NONE = 1, EPILOGUE_BIAS = 4, EPILOGUE_GELU_AUX = 32 | 128, EPILOGUE_SLOPE = 64 | 128 };
enum { PREFERENCE_WORKSPACE_BYTES = 1 };

typedef struct algorithm {
    uint64_t opaque[8];
    size_t workspace_bytes;
    int status; /* 0: it can be used */
    float waves;
    int reserved[4];
} algorithm;

enum { MOST_ALGORITHMS = 32, WORKSPACE_BYTES = 64 << 20 };

typedef struct calls {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    size_t (*version)(void);
    int (*description_create)(void **description, int compute_type, int scale_type);
    int (*description_set)(void *description, int attribute, const void *value, size_t bytes);
    int (*description_destroy)(void *description);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t pitch);
    int (*layout_destroy)(void *layout);
    int (*preference_create)(void **preference);
    int (*preference_set)(void *preference, int attribute, const void *value, size_t bytes);
    int (*preference_destroy)(void *preference);
    int (*algorithms)(void *handle, void *description, void *a, void *b, void *c, void *d, void *preference, int most,
                      algorithm *list, int *count);
    int (*product)(void *handle, void *description, const void *alpha, const void *a, void *a_layout, const void *b,
                   void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                   const algorithm *algorithm, void *workspace, size_t workspace_bytes, void *stream);
} calls;

struct bench_cublaslt {
    tk_ctx *ctx;
    calls calls;
    void *handle;
    void *workspace;
    /* Of the case. */
    void *description, *preference;
    void *left, *right, *out; /* layouts; left is our right factor, see make_layouts() */
    bool fused;
    algorithm algorithms[MOST_ALGORITHMS];
};

/* -- Finding it --------------------------------------------------------------------------------------------------- */

/* Beside the programs on the PATH, so that the toolkit of its nvcc and the PyTorch of its python3 are found. */
static void *load_beside_programs(const char *name)
{
    char root[4096];
    void *library = NULL;
    for (const char *at = getenv("PATH"); at && !library; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        if (*at == '/' && snprintf(root, sizeof root, "%.*s/..", (int)strcspn(at, ":"), at) < (int)sizeof root)
            library = tki_library_search(root, name);
    }
    return library;
}

static void *search(void)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
    const char *roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda", "/usr/local/cuda-*"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
        library = tki_library_load(names[i]);
        for (size_t r = 0; r < sizeof roots / sizeof *roots && !library; r++)
            if (roots[r] && roots[r][0] == '/')
                library = tki_library_search(roots[r], names[i]);
        if (!library)
            library = load_beside_programs(names[i]);
    }
    return library;
}

static bool load_calls(void *library, calls *c)
{
    const struct {
        const char *name;
        void **place;
    } table[] = {
        {"cublasLtCreate", (void **)&c->create},
        {"cublasLtDestroy", (void **)&c->destroy},
        {"cublasLtGetVersion", (void **)&c->version},
        {"cublasLtMatmulDescCreate", (void **)&c->description_create},
        {"cublasLtMatmulDescSetAttribute", (void **)&c->description_set},
        {"cublasLtMatmulDescDestroy", (void **)&c->description_destroy},
        {"cublasLtMatrixLayoutCreate", (void **)&c->layout_create},
        {"cublasLtMatrixLayoutDestroy", (void **)&c->layout_destroy},
        {"cublasLtMatmulPreferenceCreate", (void **)&c->preference_create},
        {"cublasLtMatmulPreferenceSetAttribute", (void **)&c->preference_set},
        {"cublasLtMatmulPreferenceDestroy", (void **)&c->preference_destroy},
        {"cublasLtMatmulAlgoGetHeuristic", (void **)&c->algorithms},
        {"cublasLtMatmul", (void **)&c->product},
    };
    bool complete = true;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        *table[i].place = dlsym(library, table[i].name);
        complete = complete && *table[i].place;
    }
    return complete;
}

static bool find(calls *c, char *found, size_t size)
{
    const char *chosen = getenv("TOKITAI_CUBLASLT_LIBRARY");
    void *library = chosen ? tki_library_load(chosen) : search();
    if (!library) {
        const char *why = chosen ? dlerror() : NULL;
        snprintf(found, size, "cublaslt: %s", why ? why : "libcublasLt.so.13 and libcublasLt.so.12 not found");
        return false;
    }
    const char *path = tki_library_path(library);
    if (!load_calls(library, c)) {
        snprintf(found, size, "cublaslt: %s lacks required functions", path);
        return false;
    }
    const size_t version = c->version();
    snprintf(found, size, "cublasLt %zu.%zu.%zu, %s", version / 10000, version / 100 % 100, version % 100, path);
    return true;
}

bench_cublaslt *bench_cublaslt_open(tk_ctx *ctx, char *found, size_t size)
{
    void *previous;
    if (strcmp(ctx->backend->name, "cuda") != 0) {
        snprintf(found, size, "cublaslt: CUDA devices only");
        return NULL;
    }
    bench_cublaslt *lt = calloc(1, sizeof *lt);
    if (!lt) {
        snprintf(found, size, "cublaslt: no memory");
        return NULL;
    }
    lt->ctx = ctx;
    if (!find(&lt->calls, found, size)) {
        free(lt);
        return NULL;
    }
    int code = 0;
    tk_status status = tki_gpu_alloc(ctx, ctx->gpu, WORKSPACE_BYTES, &lt->workspace);
    if (status == TK_OK)
        status = tki_gpu_enter(ctx, ctx->gpu, &previous);
    if (status == TK_OK) {
        code = lt->calls.create(&lt->handle);
        tki_gpu_leave(ctx->gpu, previous);
    }
    if (status == TK_OK && code == 0)
        return lt;
    if (status != TK_OK)
        snprintf(found, size, "cublaslt: %s", tk_ctx_message(ctx));
    else
        snprintf(found, size, "cublaslt: cublasLtCreate failed with error %d", code);
    bench_cublaslt_close(lt);
    return NULL;
}

/* -- A case ------------------------------------------------------------------------------------------------------- */

static void forget_case(bench_cublaslt *lt)
{
    if (lt->description)
        (void)lt->calls.description_destroy(lt->description);
    if (lt->preference)
        (void)lt->calls.preference_destroy(lt->preference);
    void *const layouts[] = {lt->left, lt->right, lt->out};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i])
            (void)lt->calls.layout_destroy(layouts[i]);
    lt->description = lt->preference = lt->left = lt->right = lt->out = NULL;
}

void bench_cublaslt_close(bench_cublaslt *lt)
{
    void *previous;
    if (!lt)
        return;
    if (lt->handle && tki_gpu_enter(lt->ctx, lt->ctx->gpu, &previous) == TK_OK) {
        forget_case(lt);
        (void)lt->calls.destroy(lt->handle);
        tki_gpu_leave(lt->ctx->gpu, previous);
    }
    tki_gpu_free(lt->ctx->gpu, lt->workspace);
    free(lt);
}

static int type_of(tk_dtype dtype)
{
    return dtype == TK_F16 ? R_16F : dtype == TK_BF16 ? R_16BF : R_32F;
}

/* cuBLASLt takes columns for what are rows here, so that it sees each matrix transposed. It is asked for the transposed product: its
 * left factor is our right one. */
static bool make_layouts(bench_cublaslt *lt, const tk_case *c, const bench_product *p)
{
    const calls *call = &lt->calls;
    const uint64_t rows = (uint64_t)p->rows, cols = (uint64_t)p->cols, inner = (uint64_t)p->inner;
    const int type = type_of(c->dtype);
    const int left_op = p->b_transposed ? OP_T : OP_N;
    const int right_op = p->a_transposed ? OP_T : OP_N;
    return call->description_create(&lt->description, COMPUTE_32F, R_32F) == 0 &&
           call->description_set(lt->description, DESCRIPTION_TRANSPOSE_A, &left_op, sizeof left_op) == 0 &&
           call->description_set(lt->description, DESCRIPTION_TRANSPOSE_B, &right_op, sizeof right_op) == 0 &&
           (p->b_transposed ? call->layout_create(&lt->left, type, inner, cols, p->inner)
                            : call->layout_create(&lt->left, type, cols, inner, p->cols)) == 0 &&
           (p->a_transposed ? call->layout_create(&lt->right, type, rows, inner, p->rows)
                            : call->layout_create(&lt->right, type, inner, rows, p->inner)) == 0 &&
           call->layout_create(&lt->out, type_of(c->result_dtype), cols, rows, p->cols) == 0;
}

/* What a linear layer does beside its product. */
static int epilogue_of(const bench_product *p)
{
    const int beside = p->slope_at ? EPILOGUE_SLOPE : p->pre ? EPILOGUE_GELU_AUX : 0;
    const int all = beside | (p->bias ? EPILOGUE_BIAS : 0);
    return all ? all : EPILOGUE_NONE;
}

static bool set_epilogue(const bench_cublaslt *lt, const bench_product *p)
{
    const int epilogue = epilogue_of(p);
    const void *aux = p->slope_at ? p->slope_at : p->pre;
    const calls *call = &lt->calls;
    return (epilogue == EPILOGUE_NONE ||
            call->description_set(lt->description, DESCRIPTION_EPILOGUE, &epilogue, sizeof epilogue) == 0) &&
           (!p->bias || call->description_set(lt->description, DESCRIPTION_BIAS, &p->bias, sizeof p->bias) == 0) &&
           (!aux || (call->description_set(lt->description, DESCRIPTION_AUX, &aux, sizeof aux) == 0 &&
                     call->description_set(lt->description, DESCRIPTION_AUX_PITCH, &p->cols, sizeof p->cols) == 0));
}

/* Puts those that can be used at the beginning of the list. */
static int ask_algorithms(bench_cublaslt *lt)
{
    const size_t bytes = WORKSPACE_BYTES;
    int offered = 0, usable = 0;
    if (lt->calls.preference_create(&lt->preference) != 0 ||
        lt->calls.preference_set(lt->preference, PREFERENCE_WORKSPACE_BYTES, &bytes, sizeof bytes) != 0 ||
        lt->calls.algorithms(lt->handle, lt->description, lt->left, lt->right, lt->out, lt->out, lt->preference,
                             MOST_ALGORITHMS, lt->algorithms, &offered) != 0)
        return 0;
    for (int i = 0; i < offered && i < MOST_ALGORITHMS; i++)
        if (lt->algorithms[i].status == 0)
            lt->algorithms[usable++] = lt->algorithms[i];
    return usable;
}

/* The product without gelu: it goes where gelu then reads it, and what was multiplied by the slope goes where it belongs. */
static void leave_gelu(bench_product *p)
{
    p->c = p->pre ? p->pre : p->c;
    p->pre = NULL;
    p->slope_at = NULL;
}

static bool product_of(const bench_cublaslt *lt, const bench_work *work, bench_product *p)
{
    if (!bench_layer_of(work, p))
        return false;
    if (!lt->fused)
        leave_gelu(p);
    return true;
}

int bench_cublaslt_case(bench_cublaslt *lt, const bench_work *work, bool fused)
{
    bench_product p;
    void *previous;
    lt->fused = fused;
    if (tk_dtype_size(work->c.dtype) != sizeof(uint16_t) || !product_of(lt, work, &p) ||
        tki_gpu_enter(lt->ctx, lt->ctx->gpu, &previous) != TK_OK)
        return 0;
    forget_case(lt);
    const int count = make_layouts(lt, &work->c, &p) && set_epilogue(lt, &p) ? ask_algorithms(lt) : 0;
    tki_gpu_leave(lt->ctx->gpu, previous);
    return count;
}

bool bench_cublaslt_call(bench_cublaslt *lt, const bench_work *work, int chosen)
{
    static const float one = 1, zero = 0;
    bench_product p;
    void *previous;
    if (!product_of(lt, work, &p) || tki_gpu_enter(lt->ctx, lt->ctx->gpu, &previous) != TK_OK)
        return false;
    const void *before = p.residual ? p.residual : p.c;
    const bool set = set_epilogue(lt, &p);
    int code = set ? lt->calls.product(lt->handle, lt->description, &one, p.b, lt->left, p.a, lt->right,
                                       p.residual ? &one : &zero, before, lt->out, p.c, lt->out,
                                       &lt->algorithms[chosen], lt->workspace, WORKSPACE_BYTES, lt->ctx->stream)
                   : -1;
    tki_gpu_leave(lt->ctx->gpu, previous);
    return code == 0;
}
