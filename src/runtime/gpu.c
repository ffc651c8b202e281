/* CHOOSES. What is the same for both drivers: memory, streams, events, loading and launching. */
#include "runtime/gpu.h"
#include "runtime/gpu_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compiled_kernel.h"
#include "core/context.h"
#include "drivers/driver.h"

/* A compiled source, loaded. */
typedef struct module {
    const char *source;
    tk_types types;
    void *handle;
    tki_compiled_kernel artifact;
} module;

enum { LEFT_OUT = sizeof(tki_left_out) / sizeof(uint64_t) };

struct tki_gpu {
    tki_driver driver;
    tki_gpu_info info;
    int device;            /* the driver's handle */
    void *context;         /* what the vendor's enter() wants */
    uint64_t *reports;     /* in device memory: LEFT_OUT counts, and a word for each of op_count ops */
    uint64_t *report_copy; /* here */
    int op_count;          /* when it was opened: ops that were registered later have no kernels of ours */
    module **modules;
    int module_count;
    tki_gpu_kernel **kernels; /* each on its own, so that callers may keep it */
    int kernel_count;
    tki_gpu_grid last_grid;
    tki_gpu_words words;
};

/* ------------------------------------------------------------------------------------------------------------
 * Failing, entering, leaving
 * ------------------------------------------------------------------------------------------------------------ */

/* "allocating 4096 bytes on NVIDIA H200: cuMemAlloc_v2 failed: ...". `call` as in the vendor's names. */
__attribute__((format(printf, 5, 6), noinline, cold)) static tk_status fail(tk_ctx *ctx, const tki_gpu *gpu,
                                                                            const char *call, int code,
                                                                            const char *format, ...)
{
    char doing[512], why[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
    tk_status status = tki_driver_explain(&gpu->driver, call, code, why, sizeof why);
    return tki_fail(ctx, status, "%s on %s: %s", doing, gpu->info.name, why);
}

static inline int enter(const tki_gpu *gpu, void **previous)
{
    return gpu->driver.vendor->enter(&gpu->driver, gpu->context, previous);
}

static inline void leave(const tki_gpu *gpu, void *previous)
{
    gpu->driver.vendor->leave(&gpu->driver, gpu->context, previous);
}

__attribute__((noinline, cold)) static tk_status fail_enter(tk_ctx *ctx, const tki_gpu *gpu, int code)
{
    const tki_driver_names *names = &gpu->driver.vendor->names;
    return fail(ctx, gpu, names->context_set ? names->context_set : names->device_set, code,
                "making the device current");
}

tk_status tki_gpu_enter(tk_ctx *ctx, tki_gpu *gpu, void **previous)
{
    int code = enter(gpu, previous);
    return code == 0 ? TK_OK : fail_enter(ctx, gpu, code);
}

void tki_gpu_leave(tki_gpu *gpu, void *previous)
{
    leave(gpu, previous);
}

/* ------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------------------------------------------ */

static size_t report_bytes(const tki_gpu *gpu)
{
    return (size_t)(LEFT_OUT + gpu->op_count) * sizeof *gpu->reports;
}

static tk_status make_reports(tk_ctx *ctx, tki_gpu *gpu)
{
    void *words;
    gpu->op_count = tk_contract_count();
    gpu->report_copy = malloc(report_bytes(gpu));
    tk_status status = gpu->report_copy ? tki_gpu_alloc(ctx, gpu, report_bytes(gpu), &words)
                                        : tki_fail(ctx, TK_NO_MEMORY, "no memory for what a device reports");
    if (status != TK_OK)
        return status;
    gpu->reports = words;
    status = tki_gpu_fill(ctx, gpu, NULL, words, 0xff, report_bytes(gpu));
    if (status == TK_OK)
        status = tki_gpu_fill(ctx, gpu, NULL, words, 0, LEFT_OUT * sizeof *gpu->reports);
    return status == TK_OK ? tki_gpu_synchronize(ctx, gpu, NULL) : status;
}

static tk_status open_device(tk_ctx *ctx, tki_gpu *gpu, int ordinal)
{
    char reason[768];
    const tki_driver *driver = &gpu->driver;
    if (ordinal < 0 || ordinal >= driver->device_count)
        return tki_fail(ctx, TK_UNAVAILABLE, "no %s device %d; there are %d, counted from 0",
                        driver->vendor->backend->name, ordinal, driver->device_count);
    if (!tki_driver_describe(driver, ordinal, &gpu->info, reason, sizeof reason))
        return tki_fail(ctx, TK_UNAVAILABLE, "%s", reason);
    int code = driver->calls.get_device(&gpu->device, ordinal);
    const char *call = driver->vendor->names.get_device;
    if (code == 0)
        code = driver->vendor->open(driver, gpu->device, ordinal, &gpu->context, &call);
    if (code != 0)
        return fail(ctx, gpu, call, code, "opening device %d", ordinal);
    tk_status status = make_reports(ctx, gpu);
    if (status != TK_OK) {
        tki_gpu_free(gpu, gpu->reports);
        free(gpu->report_copy);
        driver->vendor->close(driver, gpu->device);
    }
    return status;
}

tk_status tki_gpu_open(tk_ctx *ctx, const tki_backend *backend, int ordinal, tki_gpu **gpu)
{
    char reason[1024];
    *gpu = NULL;
    if (!backend->vendor)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s is not a GPU", backend->title);
    tki_gpu *opened = calloc(1, sizeof *opened);
    if (!opened)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to open a device");
    if (!tki_driver_open(backend->vendor, &opened->driver, reason, sizeof reason)) {
        free(opened);
        return tki_fail(ctx, TK_UNAVAILABLE, "%s cannot be used: %s", backend->name, reason);
    }
    tk_status status = open_device(ctx, opened, ordinal);
    if (status != TK_OK) {
        tki_driver_close(&opened->driver);
        free(opened);
        return status;
    }
    *gpu = opened;
    return TK_OK;
}

void tki_gpu_close(tki_gpu *gpu)
{
    void *previous;
    if (!gpu)
        return;
    bool entered = enter(gpu, &previous) == 0;
    for (int i = 0; i < gpu->module_count; i++) {
        if (entered)
            gpu->driver.calls.module_unload(gpu->modules[i]->handle);
        tki_compiled_kernel_free(&gpu->modules[i]->artifact);
        free(gpu->modules[i]);
    }
    for (int i = 0; i < gpu->kernel_count; i++)
        free(gpu->kernels[i]);
    free(gpu->modules);
    free(gpu->kernels);
    free(gpu->report_copy);
    tki_gpu_words_free(gpu);
    if (entered) {
        gpu->driver.calls.release(gpu->reports);
        leave(gpu, previous);
    }
    gpu->driver.vendor->close(&gpu->driver, gpu->device);
    tki_driver_close(&gpu->driver);
    free(gpu);
}

tki_gpu_words *tki_gpu_words_of(tki_gpu *gpu)
{
    return &gpu->words;
}

const tki_driver *tki_gpu_driver_of(const tki_gpu *gpu)
{
    return &gpu->driver;
}

const tki_gpu_info *tki_gpu_describe(const tki_gpu *gpu)
{
    return &gpu->info;
}

/* ------------------------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------------------------ */

tk_status tki_gpu_alloc(tk_ctx *ctx, tki_gpu *gpu, size_t bytes, void **memory)
{
    void *previous;
    *memory = NULL;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.allocate(memory, bytes ? bytes : 1);
    leave(gpu, previous);
    if (code == 0)
        return TK_OK;
    *memory = NULL;
    return fail(ctx, gpu, gpu->driver.vendor->names.allocate, code, "allocating %zu bytes", bytes);
}

void tki_gpu_free(tki_gpu *gpu, void *memory)
{
    void *previous;
    if (!memory || enter(gpu, &previous) != 0)
        return;
    gpu->driver.calls.release(memory);
    leave(gpu, previous);
}

/* One of the driver's three copies, which differ in where their ends lie. */
typedef int copy_call(void *to, const void *from, size_t bytes, void *stream);

static tk_status copy(tk_ctx *ctx, tki_gpu *gpu, copy_call *call, const char *name, const char *where, void *stream,
                      void *to, const void *from, size_t bytes)
{
    void *previous;
    if (bytes == 0)
        return TK_OK;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = call(to, from, bytes, stream);
    leave(gpu, previous);
    return code == 0 ? TK_OK : fail(ctx, gpu, name, code, "copying %zu bytes%s", bytes, where);
}

tk_status tki_gpu_write(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from, size_t bytes)
{
    return copy(ctx, gpu, gpu->driver.calls.copy_in, gpu->driver.vendor->names.copy_in, " to the device", stream, to,
                from, bytes);
}

tk_status tki_gpu_read(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from, size_t bytes)
{
    return copy(ctx, gpu, gpu->driver.calls.copy_out, gpu->driver.vendor->names.copy_out, " from the device", stream,
                to, from, bytes);
}

tk_status tki_gpu_copy(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from, size_t bytes)
{
    return copy(ctx, gpu, gpu->driver.calls.copy, gpu->driver.vendor->names.copy, "", stream, to, from, bytes);
}

tk_status tki_gpu_fill(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, unsigned char value, size_t bytes)
{
    void *previous;
    if (bytes == 0)
        return TK_OK;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.fill(to, value, bytes, stream);
    leave(gpu, previous);
    if (code == 0)
        return TK_OK;
    return fail(ctx, gpu, gpu->driver.vendor->names.fill, code, "filling %zu bytes", bytes);
}

/* ------------------------------------------------------------------------------------------------------------
 * Streams and events
 * ------------------------------------------------------------------------------------------------------------ */

tk_status tki_gpu_synchronize(tk_ctx *ctx, tki_gpu *gpu, void *stream)
{
    void *previous;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.stream_synchronize(stream);
    leave(gpu, previous);
    if (code == 0)
        return TK_OK;
    return fail(ctx, gpu, gpu->driver.vendor->names.stream_synchronize, code, "waiting for what was launched");
}

tk_status tki_gpu_is_capturing(tk_ctx *ctx, tki_gpu *gpu, void *stream, bool *capturing)
{
    void *previous;
    int capture_status = 0;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.stream_is_capturing(stream, &capture_status);
    leave(gpu, previous);
    *capturing = capture_status != 0;
    if (code == 0)
        return TK_OK;
    return fail(ctx, gpu, gpu->driver.vendor->names.stream_is_capturing, code, "asking whether a stream is captured");
}

tk_status tki_gpu_event_create(tk_ctx *ctx, tki_gpu *gpu, void **event)
{
    void *previous;
    *event = NULL;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.event_create(event, 0);
    leave(gpu, previous);
    return code == 0 ? TK_OK : fail(ctx, gpu, gpu->driver.vendor->names.event_create, code, "making an event");
}

void tki_gpu_event_destroy(tki_gpu *gpu, void *event)
{
    void *previous;
    if (!event || enter(gpu, &previous) != 0)
        return;
    gpu->driver.calls.event_destroy(event);
    leave(gpu, previous);
}

tk_status tki_gpu_event_record(tk_ctx *ctx, tki_gpu *gpu, void *event, void *stream)
{
    void *previous;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.event_record(event, stream);
    leave(gpu, previous);
    return code == 0 ? TK_OK : fail(ctx, gpu, gpu->driver.vendor->names.event_record, code, "recording an event");
}

tk_status tki_gpu_event_seconds(tk_ctx *ctx, tki_gpu *gpu, void *begin, void *end, double *seconds)
{
    void *previous;
    float milliseconds = 0;
    const char *call = gpu->driver.vendor->names.event_synchronize;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.event_synchronize(end);
    if (code == 0) {
        call = gpu->driver.vendor->names.event_elapsed;
        code = gpu->driver.calls.event_elapsed(&milliseconds, begin, end);
    }
    leave(gpu, previous);
    *seconds = milliseconds * 1e-3;
    return code == 0 ? TK_OK : fail(ctx, gpu, call, code, "reading the time between two events");
}

/* ------------------------------------------------------------------------------------------------------------
 * Loading
 * ------------------------------------------------------------------------------------------------------------ */

static bool same(const char *a, const char *b)
{
    return a == b || !strcmp(a, b);
}

/* By address first, which is enough for a call that comes again; equal literals may have several addresses. */
static bool are_alike(tk_types a, tk_types b)
{
    return a.dtype == b.dtype && a.result_dtype == b.result_dtype;
}

static tki_gpu_kernel *find_kernel(const tki_gpu *gpu, const char *source, tk_types types, const char *name)
{
    for (int i = 0; i < gpu->kernel_count; i++) {
        tki_gpu_kernel *k = gpu->kernels[i];
        if (k->name == name && k->source == source && are_alike(k->types, types))
            return k;
    }
    for (int i = 0; i < gpu->kernel_count; i++) {
        tki_gpu_kernel *k = gpu->kernels[i];
        if (are_alike(k->types, types) && same(k->name, name) && same(k->source, source))
            return k;
    }
    return NULL;
}

static module *find_module(const tki_gpu *gpu, const char *source, tk_types types)
{
    for (int i = 0; i < gpu->module_count; i++)
        if (are_alike(gpu->modules[i]->types, types) && same(gpu->modules[i]->source, source))
            return gpu->modules[i];
    return NULL;
}

/* Makes room for one more pointer behind `count` of them. */
static bool grow(void *list, int count)
{
    void *old, *grown;
    memcpy(&old, list, sizeof old);
    if (count & (count - 1)) /* not a power of two: there is room */
        return true;
    grown = realloc(old, (count ? 2 * (size_t)count : 1) * sizeof(void *));
    if (grown)
        memcpy(list, &grown, sizeof grown);
    return grown != NULL;
}

static tk_status load_module(tk_ctx *ctx, tki_gpu *gpu, const char *source, tk_types types, module **loaded)
{
    module *m = grow(&gpu->modules, gpu->module_count) ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to load %s", source);
    m->source = source;
    m->types = types;
    char text[TKI_TYPES_TEXT];
    tk_types_name(types, text, sizeof text);
    tki_compile_request request = {
        .backend = gpu->info.backend, .source = source, .architecture = gpu->info.architecture, .types = types};
    tk_status status = tki_compiled_kernel_get(ctx, &request, &m->artifact);
    if (status != TK_OK) {
        free(m);
        return status;
    }
    void *previous;
    int code = enter(gpu, &previous);
    if (code != 0) {
        status = fail_enter(ctx, gpu, code);
    } else {
        code = gpu->driver.calls.module_load(&m->handle, m->artifact.image);
        leave(gpu, previous);
        if (code != 0)
            status = fail(ctx, gpu, gpu->driver.vendor->names.module_load, code,
                          "loading %s (%s), compiled by %s for %s", source, text, m->artifact.compiler,
                          m->artifact.architecture);
    }
    if (status != TK_OK) {
        tki_compiled_kernel_free(&m->artifact);
        free(m);
        return status;
    }
    *loaded = gpu->modules[gpu->module_count++] = m;
    return TK_OK;
}

enum { EARLY_FROM_ARCHITECTURE = 90, EARLY_FROM_DRIVER = 12030 /* since when also while a stream is captured */ };

/* Kernels compiled for Hopper or later wait by themselves for what comes before them (await_earlier_kernels() in device.h). Code for
 * an earlier architecture does not, even if the device is a later one. */
static bool can_start_early(const tki_gpu *gpu, const tki_compiled_kernel *artifact)
{
    const char *number = strchr(artifact->architecture, '_'); /* "sm_90a", "compute_90" */
    return gpu->driver.calls.launch_config && gpu->driver.version >= EARLY_FROM_DRIVER && number &&
           strtol(number + 1, NULL, 10) >= EARLY_FROM_ARCHITECTURE;
}

static tk_status load_kernel(tk_ctx *ctx, tki_gpu *gpu, const module *m, const char *name, tki_gpu_kernel **kernel)
{
    void *previous;
    const char *call = gpu->driver.vendor->names.module_function;
    tki_gpu_kernel *k = grow(&gpu->kernels, gpu->kernel_count) ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to load %s of %s", name, m->source);
    *k = (tki_gpu_kernel){.source = m->source,
                          .name = name,
                          .types = m->types,
                          .cluster_allowed = 8,
                          .starts_early = can_start_early(gpu, &m->artifact)};
    int code = enter(gpu, &previous);
    if (code != 0) {
        free(k);
        return fail_enter(ctx, gpu, code);
    }
    code = gpu->driver.calls.module_function(&k->function, m->handle, name);
    /* Else the driver may put the rest of the work off to the first launch, perhaps into the capture of a graph. */
    if (code == 0 && gpu->driver.calls.function_load) {
        call = gpu->driver.vendor->names.function_load;
        code = gpu->driver.calls.function_load(k->function);
    }
    leave(gpu, previous);
    if (code != 0) {
        free(k);
        return fail(ctx, gpu, call, code, "looking for kernel %s in %s", name, m->source);
    }
    *kernel = gpu->kernels[gpu->kernel_count++] = k;
    return TK_OK;
}

tk_status tki_gpu_kernel_get(tk_ctx *ctx, tki_gpu *gpu, const char *source, tk_types types, const char *name,
                             tki_gpu_kernel **kernel)
{
    *kernel = find_kernel(gpu, source, types, name);
    if (*kernel)
        return TK_OK;
    module *m = find_module(gpu, source, types);
    tk_status status = m ? TK_OK : load_module(ctx, gpu, source, types, &m);
    return status == TK_OK ? load_kernel(ctx, gpu, m, name, kernel) : status;
}

const tki_compiled_kernel *tki_gpu_artifact(const tki_gpu *gpu, const char *source, tk_types types)
{
    const module *m = find_module(gpu, source, types);
    return m ? &m->artifact : NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 * Launching
 * ------------------------------------------------------------------------------------------------------------ */

enum { ATTRIBUTE_DYNAMIC_SHARED = 8, ATTRIBUTE_LARGE_CLUSTERS = 14 };

/* CUDA wants to be told before a kernel gets more than the usual 48 KiB of shared memory, static and dynamic together, or
 * clusters of more than 8 blocks. The context is current. */
__attribute__((noinline, cold)) static tk_status allow(tk_ctx *ctx, tki_gpu *gpu, tki_gpu_kernel *kernel,
                                                       unsigned shared_bytes, unsigned cluster)
{
    const tki_driver *driver = &gpu->driver;
    const char *call = driver->vendor->names.function_attribute;
    if (cluster > 0 && !driver->calls.launch_config)
        return tki_fail(ctx, TK_UNAVAILABLE, "%s needs thread block clusters, which the driver of %s lacks",
                        kernel->name, gpu->info.name);
    if (shared_bytes > kernel->shared_allowed) {
        int code = driver->calls.function_attribute
                       ? driver->calls.function_attribute(kernel->function, ATTRIBUTE_DYNAMIC_SHARED,
                                                          (int)shared_bytes)
                       : 0;
        if (code != 0)
            return fail(ctx, gpu, call, code, "allowing %s %u bytes of shared memory (a block can have %d)",
                        kernel->name, shared_bytes, gpu->info.shared_bytes);
        kernel->shared_allowed = shared_bytes;
    }
    if (cluster > kernel->cluster_allowed) {
        int code = driver->calls.function_attribute(kernel->function, ATTRIBUTE_LARGE_CLUSTERS, 1);
        if (code != 0)
            return fail(ctx, gpu, call, code, "allowing %s clusters of %u blocks", kernel->name, cluster);
        kernel->cluster_allowed = cluster;
    }
    return TK_OK;
}

static inline bool is_allowed(const tki_gpu *gpu, const tki_gpu_kernel *kernel, unsigned shared_bytes,
                              unsigned cluster)
{
    return shared_bytes <= kernel->shared_allowed && cluster <= kernel->cluster_allowed &&
           (cluster == 0 || gpu->driver.calls.launch_config);
}

static inline bool takes_attributes(const tki_gpu_kernel *kernel, const tki_gpu_grid *grid)
{
    return grid->cluster > 0 || kernel->starts_early;
}

static int launch_with_attributes(const tki_driver_calls *calls, const tki_gpu_kernel *kernel,
                                  const tki_gpu_grid *grid, void *stream, void **arguments)
{
    tki_launch_attribute attributes[2];
    unsigned count = 0;
    if (kernel->starts_early)
        attributes[count++] = (tki_launch_attribute){.id = TKI_LAUNCH_EARLY, .value.early = 1};
    if (grid->cluster > 0)
        attributes[count++] = (tki_launch_attribute){.id = TKI_LAUNCH_CLUSTER,
                                                     .value.cluster = {grid->cluster, 1, 1}};
    const tki_launch_config config = {.blocks = {grid->blocks[0], grid->blocks[1], grid->blocks[2]},
                                      .threads = {grid->threads, 1, 1},
                                      .shared_bytes = grid->shared_bytes,
                                      .stream = stream,
                                      .attributes = attributes,
                                      .attribute_count = count};
    return calls->launch_config(&config, kernel->function, arguments, NULL);
}

/* A failure may be that of an earlier kernel, which drivers report with the next call. */
__attribute__((noinline, cold)) static tk_status fail_launch(tk_ctx *ctx, const tki_gpu *gpu,
                                                             const tki_gpu_kernel *kernel, const tki_gpu_grid *grid,
                                                             int code)
{
    const tki_driver_names *names = &gpu->driver.vendor->names;
    char text[TKI_TYPES_TEXT];
    tk_types_name(kernel->types, text, sizeof text);
    return fail(ctx, gpu, takes_attributes(kernel, grid) ? names->launch_config : names->launch, code,
                "launching %s (%s, %s) with %ux%ux%u blocks of %u threads and %u bytes of shared memory",
                kernel->name, kernel->source, text, grid->blocks[0], grid->blocks[1], grid->blocks[2], grid->threads,
                grid->shared_bytes);
}

tk_status tki_gpu_launch(tk_ctx *ctx, tki_gpu *gpu, void *stream, tki_gpu_kernel *kernel, tki_gpu_grid grid,
                         const void *params)
{
    const tki_driver_calls *calls = &gpu->driver.calls;
    void *arguments[] = {tki_input(params)};
    void *previous;
    for (int axis = 0; axis < 3; axis++)
        grid.blocks[axis] += grid.blocks[axis] == 0;
    int code = enter(gpu, &previous);
    if (__builtin_expect(code != 0, 0))
        return fail_enter(ctx, gpu, code);
    if (__builtin_expect(!is_allowed(gpu, kernel, grid.shared_bytes, grid.cluster), 0)) {
        tk_status status = allow(ctx, gpu, kernel, grid.shared_bytes, grid.cluster);
        if (status != TK_OK) {
            leave(gpu, previous);
            return status;
        }
    }
    if (takes_attributes(kernel, &grid))
        code = launch_with_attributes(calls, kernel, &grid, stream, arguments);
    else
        code = calls->launch(kernel->function, grid.blocks[0], grid.blocks[1], grid.blocks[2], grid.threads, 1, 1,
                             grid.shared_bytes, stream, arguments, NULL);
    leave(gpu, previous);
    gpu->last_grid = grid;
    return __builtin_expect(code == 0, 1) ? TK_OK : fail_launch(ctx, gpu, kernel, &grid, code);
}

tki_gpu_grid tki_gpu_last_grid(const tki_gpu *gpu)
{
    return gpu->last_grid;
}

static tk_types types_of(const tk_case *c)
{
    return (tk_types){c->dtype, c->result_dtype};
}

/* Loading takes memory and may wait for the device; both would spoil a capture. */
__attribute__((noinline, cold)) static tk_status load_for_call(const tki_call *call, const char *source,
                                                               const char *name, tki_gpu_kernel **kernel)
{
    bool capturing;
    char text[TKI_TYPES_TEXT];
    tk_types_name(types_of(call->c), text, sizeof text);
    tk_status status = tki_gpu_is_capturing(call->ctx, call->gpu, call->stream, &capturing);
    if (status != TK_OK)
        return status;
    if (capturing)
        return tki_fail(
            call->ctx, TK_UNAVAILABLE,
            "kernel %s (%s) is not loaded yet, and nothing can be loaded while the stream is being captured; "
            "call tk_prepare() before the capture begins",
            name, text);
    return tki_gpu_kernel_get(call->ctx, call->gpu, source, types_of(call->c), name, kernel);
}

static tk_status prepare(const tki_call *call, tki_gpu_kernel *kernel, const tki_gpu_grid *grid)
{
    void *previous;
    int code = enter(call->gpu, &previous);
    if (code != 0)
        return fail_enter(call->ctx, call->gpu, code);
    tk_status status = allow(call->ctx, call->gpu, kernel, grid->shared_bytes, grid->cluster);
    leave(call->gpu, previous);
    return status;
}

tk_status tki_gpu_run(const tki_call *call, const char *source, const char *name, tki_gpu_grid grid,
                      const void *params)
{
    tki_gpu_kernel *kernel = find_kernel(call->gpu, source, types_of(call->c), name);
    tk_status status = kernel ? TK_OK : load_for_call(call, source, name, &kernel);
    if (status != TK_OK)
        return status;
    return call->prepare_only ? prepare(call, kernel, &grid)
                              : tki_gpu_launch(call->ctx, call->gpu, call->stream, kernel, grid, params);
}

/* ------------------------------------------------------------------------------------------------------------
 * What kernels for Hopper are given
 * ------------------------------------------------------------------------------------------------------------ */

enum { MAP_UINT16 = 1, SWIZZLE_64_BYTES = 2, SWIZZLE_128_BYTES = 3, PROMOTE_TO_256_BYTES = 3, WIDE_BOX = 64 };

tk_status tki_gpu_map(tk_ctx *ctx, tki_gpu *gpu, const tki_gpu_box *box, void *map)
{
    const uint64_t sizes[3] = {(uint64_t)box->cols, (uint64_t)box->rows, (uint64_t)box->matrices};
    const uint64_t pitch = (uint64_t)box->pitch * sizeof(uint16_t), pitches[2] = {pitch, pitch * (uint64_t)box->rows};
    const unsigned boxes[3] = {(unsigned)box->box_cols, (unsigned)box->box_rows, 1}, strides[3] = {1, 1, 1};
    if (!gpu->driver.calls.encode_map)
        return tki_fail(ctx, TK_UNAVAILABLE, "the driver of %s has no tensor maps", gpu->info.name);
    void *previous;
    int code = enter(gpu, &previous);
    if (code != 0)
        return fail_enter(ctx, gpu, code);
    code = gpu->driver.calls.encode_map(
        map, MAP_UINT16, box->matrices ? 3 : 2, tki_input(box->base), sizes, pitches, boxes, strides, 0,
        box->box_cols == WIDE_BOX ? SWIZZLE_128_BYTES : SWIZZLE_64_BYTES, PROMOTE_TO_256_BYTES, 0);
    leave(gpu, previous);
    if (code == 0)
        return TK_OK;
    return fail(ctx, gpu, gpu->driver.vendor->names.encode_map, code,
                "describing a tensor of %lld x %lld elements at %p to the copy engine", (long long)box->rows,
                (long long)box->cols, box->base);
}

/* ------------------------------------------------------------------------------------------------------------
 * What kernels report: bad indices, and what they left out
 * ------------------------------------------------------------------------------------------------------------ */

uint64_t *tki_gpu_fault_word(tki_gpu *gpu, int op)
{
    return gpu->reports + LEFT_OUT + op;
}

uint32_t (*tki_gpu_left_out_words(tki_gpu *gpu))[2]
{
    return (uint32_t(*)[2])(void *)gpu->reports;
}

static tk_status take_left_out(tk_ctx *ctx, tki_gpu *gpu, void *stream)
{
    const uint64_t *counts = gpu->report_copy;
    ctx->left_out.slices += (int64_t)counts[0];
    ctx->left_out.all_slices += (int64_t)counts[1];
    ctx->left_out.parts += (int64_t)counts[2];
    ctx->left_out.all_parts += (int64_t)counts[3];
    return counts[0] | counts[1] | counts[2] | counts[3]
               ? tki_gpu_fill(ctx, gpu, stream, gpu->reports, 0, LEFT_OUT * sizeof *counts)
               : TK_OK;
}

tk_status tki_gpu_take_fault(tk_ctx *ctx, tki_gpu *gpu, void *stream, int *op, int64_t *position)
{
    const uint64_t *words = gpu->report_copy + LEFT_OUT;
    *op = -1;
    *position = -1;
    tk_status status = tki_gpu_read(ctx, gpu, stream, gpu->report_copy, gpu->reports, report_bytes(gpu));
    if (status == TK_OK)
        status = tki_gpu_synchronize(ctx, gpu, stream);
    if (status == TK_OK)
        status = take_left_out(ctx, gpu, stream);
    for (int i = 0; status == TK_OK && i < gpu->op_count; i++) {
        if (words[i] == UINT64_MAX)
            continue;
        *op = i;
        *position = (int64_t)words[i];
        return tki_gpu_fill(ctx, gpu, stream, tki_gpu_fault_word(gpu, i), 0xff, sizeof *words);
    }
    return status;
}
