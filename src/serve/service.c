/* SHOWS. Running a request: sizes, memory, the launch through the runner, the time that it took. */
#include "serve/service.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "runtime/kernel_runner.h"
#include "runtime/gpu.h"
#include "runtime/planner.h"

enum { ALIGNMENT = 64, SMALLEST = 4096 };

/* Sizes are powers of two: a server that meets ever larger requests settles after a few, and pages that are never touched cost
 * nothing. */
bool tki_block_reserve(tki_block *block, size_t bytes)
{
    if (bytes <= block->bytes)
        return true;
    size_t size = SMALLEST;
    while (size < bytes && size <= SIZE_MAX / 2)
        size *= 2;
    tki_block_free(block);
    block->data = size >= bytes ? aligned_alloc(ALIGNMENT, size) : NULL;
    block->bytes = block->data ? size : 0;
    return block->data != NULL;
}

void tki_block_free(tki_block *block)
{
    free(block->data);
    *block = (tki_block){0};
}

int tki_service_fail(const tki_service *service, int result, tk_status status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)tki_fail(service->ctx, status, "%s: %s", service->program->name, text);
    return result;
}

static tk_status open_device(tki_service *service, const char *device)
{
    tk_ctx *ctx = service->ctx;
    tk_status status = tk_ctx_use_device(ctx, device);
    if (status != TK_OK)
        return status;
    if (!ctx->gpu) {
        tk_device cpu;
        snprintf(service->device_name, sizeof service->device_name, "%s",
                 tk_device_at(0, &cpu) ? cpu.name : "unknown");
        return TK_OK;
    }
    snprintf(service->device_name, sizeof service->device_name, "%s", ctx->device->name);
    status = tki_gpu_event_create(ctx, ctx->gpu, &service->begin);
    return status == TK_OK ? tki_gpu_event_create(ctx, ctx->gpu, &service->end) : status;
}

tk_status tki_service_open(tk_ctx *ctx, const tki_serve_program *program, const char *device, size_t limit,
                           tki_service **service)
{
    *service = calloc(1, sizeof **service);
    if (!*service)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a service");
    (*service)->ctx = ctx;
    (*service)->program = program;
    (*service)->limit = limit;
    tk_status status = open_device(*service, device);
    if (status != TK_OK) {
        tki_service_close(*service);
        *service = NULL;
    }
    return status;
}

void tki_service_close(tki_service *service)
{
    if (!service)
        return;
    tki_gpu *gpu = service->ctx->gpu;
    for (int p = 0; p < TK_MAX_PARAMS; p++) {
        tki_block_free(&service->arrays[p]);
        if (gpu)
            tki_gpu_free(gpu, service->device_arrays[p]);
    }
    if (service->begin)
        tki_gpu_event_destroy(gpu, service->begin);
    if (service->end)
        tki_gpu_event_destroy(gpu, service->end);
    tki_block_free(&service->reply);
    free(service);
}

/* ------------------------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------------------------ */

static int check_selector(tki_service *service, tki_request *request)
{
    const tki_serve_program *program = service->program;
    int64_t mode = program->selector < 0 ? 0 : request->header[program->selector];
    if (program->selector >= 0 && (mode < program->first_mode || mode >= program->first_mode + program->mode_count))
        return tki_service_fail(service, program->bad_selector, TK_BAD_ARGUMENT,
                                "%s is %lld; it must be %lld to %lld", program->headers[program->selector],
                                (long long)mode, (long long)program->first_mode,
                                (long long)program->first_mode + program->mode_count - 1);
    request->mode = &program->modes[mode - program->first_mode];
    return TKI_SERVE_DONE;
}

static int check_sizes(tki_service *service, const tki_request *request)
{
    const tki_serve_program *program = service->program;
    for (int h = 0; h < program->header_count; h++)
        if (h != program->selector && request->header[h] <= 0)
            return tki_service_fail(service, program->bad_size, TK_BAD_ARGUMENT, "%s is %lld; it must be positive",
                                    program->headers[h], (long long)request->header[h]);
    return TKI_SERVE_DONE;
}

int tki_service_shape(tki_service *service, tki_request *request)
{
    const tki_serve_program *program = service->program;
    bool sizes_first = program->bad_size < program->bad_selector;
    int result = sizes_first ? check_sizes(service, request) : check_selector(service, request);
    if (result == TKI_SERVE_DONE)
        result = sizes_first ? check_selector(service, request) : check_sizes(service, request);
    if (result != TKI_SERVE_DONE)
        return result;
    request->c = tk_case_init(tk_contract_find(request->mode->op), TK_F16);
    for (int d = 0; d < request->c.contract->dim_count; d++)
        request->c.dims[d] = request->header[program->dims[d]];
    return TKI_SERVE_DONE;
}

/* ------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------ */

static size_t param_bytes(const tk_case *c, int param)
{
    return (size_t)tk_case_elements(c, param) * tk_dtype_size(tk_case_param_dtype(c, param));
}

static tk_status upload(tki_service *service, const tki_request *request)
{
    tk_ctx *ctx = service->ctx;
    tk_status status = TK_OK;
    for (int p = 0; p < request->c.contract->param_count && status == TK_OK; p++) {
        size_t bytes = param_bytes(&request->c, p);
        if (bytes > service->device_bytes[p]) {
            tki_gpu_free(ctx->gpu, service->device_arrays[p]);
            service->device_arrays[p] = NULL;
            service->device_bytes[p] = 0;
            status = tki_gpu_alloc(ctx, ctx->gpu, bytes, &service->device_arrays[p]);
            if (status == TK_OK)
                service->device_bytes[p] = bytes;
        }
        if (status == TK_OK && !request->c.contract->params[p].output)
            status = tki_gpu_write(ctx, ctx->gpu, ctx->stream, service->device_arrays[p], request->buffers[p], bytes);
    }
    return status;
}

/* Loading a kernel is not part of its time, and events stand around the launches alone. */
static tk_status run_on_gpu(tki_service *service, tki_runner *runner, tki_request *request)
{
    tk_ctx *ctx = service->ctx;
    const tk_case *c = &request->c;
    int output = request->mode->output;
    tk_status status = upload(service, request);
    if (status == TK_OK)
        status = tk_prepare(ctx, c);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, service->begin, ctx->stream);
    if (status == TK_OK)
        status = tki_runner_call(runner, c, service->device_arrays, 0, NULL);
    if (status == TK_OK)
        status = tki_gpu_event_record(ctx, ctx->gpu, service->end, ctx->stream);
    if (status == TK_OK)
        status = tk_ctx_synchronize(ctx);
    if (status == TK_OK)
        status = tki_gpu_event_seconds(ctx, ctx->gpu, service->begin, service->end, &request->seconds);
    if (status == TK_OK)
        status = tk_memory_read(ctx, request->buffers[output], service->device_arrays[output],
                                param_bytes(c, output));
    tki_gpu_grid grid = tki_gpu_last_grid(ctx->gpu);
    memcpy(request->grid, grid.blocks, sizeof request->grid);
    request->threads = grid.threads;
    request->gfx = ctx->device->architecture;
    return status;
}

/* One block whose threads share memory, as a CPU's do. */
static tk_status run_on_cpu(tki_runner *runner, tki_request *request)
{
    memcpy(request->grid, (unsigned[3]){1, 1, 1}, sizeof request->grid);
    request->threads = (unsigned)tki_ctx_threads(runner->ctx);
    request->gfx = runner->executable.lowering->variant;
    return tki_runner_call(runner, &request->c, request->buffers, 0, &request->seconds);
}

static tk_status run(tki_service *service, tki_request *request)
{
    tk_ctx *ctx = service->ctx;
    tki_runner runner;
    tk_status status = tk_case_check(ctx, &request->c, request->buffers);
    if (status != TK_OK)
        return status;
    const tki_lowering *lowering = tki_plan_first(ctx, &request->c);
    if (!lowering) {
        tki_plan plan;
        tki_plan_case(ctx, &request->c, NULL, NULL, &plan);
        return tki_fail(ctx, TK_UNSUPPORTED, "%s: no lowering takes this case: %s", request->c.contract->name,
                        plan.refusals);
    }
    status = tki_runner_open(ctx, &(tki_runnable){.lowering = lowering}, &runner);
    if (status != TK_OK)
        return status;
    status = ctx->gpu ? run_on_gpu(service, &runner, request) : run_on_cpu(&runner, request);
    tki_runner_close(&runner);
    return status;
}

int tki_service_run(tki_service *service, tki_request *request)
{
    int output = request->mode->output;
    tki_block *memory = &service->arrays[output];
    int64_t elements = tk_case_elements(&request->c, output);
    if (!request->buffers[output]) {
        const char *name = request->c.contract->params[output].name;
        if (elements < 0 ||
            (uint64_t)elements > service->limit / tk_dtype_size(tk_case_param_dtype(&request->c, output)))
            return tki_service_fail(service, TKI_SERVE_DEVICE, TK_NO_MEMORY,
                                    "a reply with %s would exceed the limit of %zu bytes", name, service->limit);
        if (!tki_block_reserve(memory, param_bytes(&request->c, output)))
            return tki_service_fail(service, TKI_SERVE_DEVICE, TK_NO_MEMORY, "no memory for %lld elements of %s",
                                    (long long)elements, name);
        request->buffers[output] = memory->data;
    }
    switch (run(service, request)) {
    case TK_OK: return TKI_SERVE_DONE;
    case TK_BAD_INDEX: return TKI_SERVE_BAD_INDEX;
    default: return TKI_SERVE_DEVICE;
    }
}
