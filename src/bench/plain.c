/* SHOWS. The plain loops of a definition as an arm: the library that certificates are of, compiled in the sandbox, and called in this process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"
#include "core/context.h"
#include "core/scratch.h"
#include "tokitai_kernel.h"
#include "tokitai_verify.h"

typedef struct plain {
    void *library;
    int (*run)(const tokitai_call3 *call);
    tokitai_attribute attributes[TK_MAX_ATTRIBUTES];
    tokitai_tensor3 tensors[TK_MAX_PARAMS];
    int64_t shapes[TK_MAX_PARAMS][TK_MAX_RANK];
    tokitai_call3 call;
} plain;

static int32_t dtype_of(tk_dtype dtype)
{
    static const int32_t numbers[] = {[TK_F16] = TOKITAI_F16,         [TK_BF16] = TOKITAI_BF16,
                                      [TK_F32] = TOKITAI_F32,         [TK_I32] = TOKITAI_I32,
                                      [TK_I64] = TOKITAI_I64,         [TK_U64] = TOKITAI_U64,
                                      [TK_F8_E4M3] = TOKITAI_F8_E4M3, [TK_F8_E5M2] = TOKITAI_F8_E5M2,
                                      [TK_BOOL] = TOKITAI_BOOL,       [TK_U8] = TOKITAI_U8};
    return numbers[dtype];
}

static void set_call(const bench_work *work, plain *p)
{
    const tk_case *c = &work->c;
    int count = 0;
    for (int i = 0; i < c->contract->param_count; i++) {
        const tk_param *param = &c->contract->params[i];
        const bool there = tk_case_has(c, i);
        for (int axis = 0; axis < param->rank; axis++)
            p->shapes[i][axis] = there ? c->dims[param->dim[axis]] : 0;
        p->tensors[i] = (tokitai_tensor3){.name = param->name,
                                          .data = work->buffers[i],
                                          .dtype = dtype_of(tk_case_param_dtype(c, i)),
                                          .output = param->output,
                                          .rank = param->rank,
                                          .shape = p->shapes[i]};
    }
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *a = &c->contract->attributes[i];
        if (!a->seen_by_kernel)
            continue;
        tokitai_attribute *to = &p->attributes[count++];
        *to = (tokitai_attribute){.name = a->name,
                                  .type = a->type == TK_ATTRIBUTE_REAL     ? TOKITAI_REAL
                                          : a->type == TK_ATTRIBUTE_CHOICE ? TOKITAI_CHOICE
                                                                           : TOKITAI_INTEGER};
        if (a->type == TK_ATTRIBUTE_REAL)
            to->real = c->attributes[i].real;
        else
            to->integer = c->attributes[i].integer;
    }
    p->call = (tokitai_call3){.size = sizeof p->call,
                              .threads = work->threads,
                              .tensor_count = c->contract->param_count,
                              .attribute_count = count,
                              .tensors = p->tensors,
                              .attributes = p->attributes};
}

static bool run_plain(bench_arm *arm)
{
    const plain *p = arm->state;
    return p->run(&p->call) == 0;
}

static void close_plain(bench_arm *arm)
{
    plain *p = arm->state;
    if (p->library)
        dlclose(p->library);
    free(p);
}

/* The library is written to a folder that is gone when it is loaded. */
static tk_status open_library(tk_ctx *ctx, const tk_kernel_file *kernel, plain *p)
{
    tki_scratch folder = {0};
    char *path = NULL;
    tk_status status = tki_scratch_make(ctx, &folder);
    if (status == TK_OK && asprintf(&path, "%s/plain.so", folder.path) < 0)
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a path");
    if (status == TK_OK)
        status = tk_kernel_file_write_artifact(ctx, kernel, path);
    if (status == TK_OK)
        p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    tki_scratch_remove(&folder);
    return status;
}

static tk_status load(tk_ctx *ctx, plain *p, const tk_contract *contract)
{
    char symbol[128];
    tk_kernel_file *kernel;
    tk_status status = tk_kernel_file_plain(ctx, contract, NULL, &kernel);
    if (status != TK_OK)
        return status;
    status = open_library(ctx, kernel, p);
    tk_kernel_file_close(kernel);
    if (status != TK_OK)
        return status;
    snprintf(symbol, sizeof symbol, "tokitai_%s_v3", contract->name);
    void *function = p->library ? dlsym(p->library, symbol) : NULL;
    memcpy(&p->run, &function, sizeof p->run);
    return function ? TK_OK : tki_fail(ctx, TK_UNAVAILABLE, "plain loops of %s: %s", contract->name, dlerror());
}

tk_status bench_plain_attach(const bench_work *work, const char *id, bench_arm *arm)
{
    plain *p = calloc(1, sizeof *p);
    if (!p)
        return tki_fail(work->ctx, TK_NO_MEMORY, "no memory for plain loops");
    snprintf(arm->name, sizeof arm->name, "%s", id);
    arm->run = run_plain;
    arm->close = close_plain;
    arm->state = p;
    set_call(work, p);
    return load(work->ctx, p, work->c.contract);
}
