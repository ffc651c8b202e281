/* RECORDS. Provenance of a kernel: built into this process, or compiled for a GPU. */
#include "certify/provenance.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"
#include "kernel_file/kernel_file.h"
#include "runtime/lowering_choice.h"
#include "tokitai_build.h"

static const struct {
    const char *path, *hash;
} sources[] = {TKI_BUILD_SOURCES};

static const struct {
    const char *isa, *options;
} isas[] = {TKI_BUILD_ISA_OPTIONS};

/* The loader knows a shared library by its path, and the program itself only by the name it was started with. */
static bool object_path(uintptr_t code, char path[PATH_MAX])
{
    Dl_info info;
    if (dladdr((void *)code, &info) && info.dli_fname && strchr(info.dli_fname, '/') &&
        strstr(info.dli_fname, ".so") && realpath(info.dli_fname, path))
        return true;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return false;
    path[length] = 0;
    return true;
}

static tk_status find_built_in(tk_ctx *ctx, const tki_lowering *lowering, uintptr_t code, tki_provenance *provenance)
{
    char path[PATH_MAX];
    if (!object_path(code, path) || !tki_hash_file(path, provenance->artifact_hash))
        return tki_fail(ctx, TK_IO, "cannot read the object file that holds the kernel");
    snprintf(provenance->artifact_path, sizeof provenance->artifact_path, "%s", path);
    if (!lowering)
        return TK_OK;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!strcmp(sources[i].path, lowering->source))
            snprintf(provenance->source_hash, sizeof provenance->source_hash, "%s", sources[i].hash);
    if (!provenance->source_hash[0])
        return tki_fail(ctx, TK_INTERNAL, "this build has no hash of %s", lowering->source);
    snprintf(provenance->compiler, sizeof provenance->compiler, "%s", TKI_BUILD_COMPILER);
    const char *isa_options = "";
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (!strcmp(isas[i].isa, lowering->variant))
            isa_options = isas[i].options;
    snprintf(provenance->options, sizeof provenance->options, "%s %s", TKI_BUILD_KERNEL_OPTIONS, isa_options);
    return TK_OK;
}

static tk_status find_compiled(tk_ctx *ctx, const tki_lowering *lowering, tk_types types, tki_provenance *provenance)
{
    if (!ctx->device || lowering->backend != tki_ctx_backend(ctx))
        return tki_fail(ctx, TK_UNAVAILABLE, "the context has no %s device open", lowering->backend->name);
    /* The one that ran, if one did: a second look into the cache would find well what was damaged at the first. */
    tki_compiled_kernel found = {0};
    const tki_compiled_kernel *artifact = tki_gpu_artifact(ctx->gpu, lowering->source, types);
    if (!artifact) {
        tk_status status = tki_compiled_kernel_get(ctx,
                                                   &(tki_compile_request){.backend = lowering->backend,
                                                                          .source = lowering->source,
                                                                          .architecture = ctx->device->architecture,
                                                                          .types = types},
                                                   &found);
        if (status != TK_OK)
            return status;
        artifact = &found;
    }
    provenance->on_gpu = true;
    provenance->gpu = *ctx->device;
    if (artifact->path[0])
        snprintf(provenance->artifact_path, sizeof provenance->artifact_path, "%s", artifact->path);
    else /* not kept; this would be its name */
        snprintf(provenance->artifact_path, sizeof provenance->artifact_path, "%s.artifact", artifact->key);
    snprintf(provenance->artifact_hash, sizeof provenance->artifact_hash, "%s", artifact->hash);
    snprintf(provenance->source_hash, sizeof provenance->source_hash, "%s", artifact->source_hash);
    snprintf(provenance->compiler, sizeof provenance->compiler, "%s", artifact->compiler);
    snprintf(provenance->options, sizeof provenance->options, "%s", artifact->options);
    char tuning[160];
    tki_chosen_describe(ctx, lowering, types, tuning, sizeof tuning);
    snprintf(provenance->note, sizeof provenance->note, "%s%s%.300s", tuning,
             tuning[0] && artifact->note[0] ? "; " : "", artifact->note);
    provenance->kernel_count = artifact->kernel_count;
    memcpy(provenance->kernels, artifact->kernels, sizeof provenance->kernels);
    tki_compiled_kernel_free(&found);
    return TK_OK;
}

tk_status tki_provenance_find(tk_ctx *ctx, const tki_lowering *lowering, tk_types types, uintptr_t code,
                              tki_provenance *provenance)
{
    *provenance = (tki_provenance){.source = lowering ? lowering->source : NULL};
    if (!tk_device_at(0, &provenance->device))
        return tki_fail(ctx, TK_INTERNAL, "this machine's processor could not be described");
    if (lowering && lowering->backend->is_gpu)
        return find_compiled(ctx, lowering, types, provenance);
    return find_built_in(ctx, lowering, code, provenance);
}

tk_status tki_provenance_of_program(tk_ctx *ctx, const tk_implementation *implementation, tki_provenance *provenance)
{
    tk_status status = tki_provenance_find(ctx, NULL, (tk_types){TK_F32, TK_F32}, (uintptr_t)implementation->run,
                                           provenance);
    if (status != TK_OK || !implementation->source)
        return status;
    provenance->source = implementation->source;
    snprintf(provenance->compiler, sizeof provenance->compiler, "%s", implementation->compiler);
    snprintf(provenance->options, sizeof provenance->options, "%s", implementation->options);
    return tki_hash_file(implementation->source, provenance->source_hash)
               ? TK_OK
               : tki_fail(ctx, TK_IO, "implementation %s: cannot read its source %s", implementation->name,
                          implementation->source);
}

/* The worker opens the device, not this process; so it is described as `tokitai devices` does. */
static tk_status describe_gpu(tk_ctx *ctx, const tk_kernel_file *kernel, tki_gpu_info *gpu)
{
    tk_device device;
    int number = 0;
    for (int i = 0; tk_device_at(i, &device); i++) {
        if (strcmp(device.backend, kernel->backend->name) != 0 || number++ != kernel->device)
            continue;
        *gpu = (tki_gpu_info){.backend = kernel->backend, .units = device.units, .memory_bytes = device.memory_bytes};
        snprintf(gpu->name, sizeof gpu->name, "%s", device.name);
        snprintf(gpu->uuid, sizeof gpu->uuid, "%s", device.uuid);
        snprintf(gpu->architecture, sizeof gpu->architecture, "%s", device.architecture);
        snprintf(gpu->driver, sizeof gpu->driver, "%s", device.driver);
        return TK_OK;
    }
    return tki_fail(ctx, TK_UNAVAILABLE, "no %s device %d", kernel->backend->name, kernel->device);
}

tk_status tki_provenance_of_file(tk_ctx *ctx, const tk_kernel_file *kernel, tki_provenance *provenance)
{
    *provenance = (tki_provenance){.source = kernel->is_library ? NULL : kernel->path};
    if (!tk_device_at(0, &provenance->device))
        return tki_fail(ctx, TK_INTERNAL, "this machine's processor could not be described");
    bool compiled = kernel->artifact_hash[0] && !kernel->is_library;
    snprintf(provenance->artifact_path, sizeof provenance->artifact_path, compiled ? "%s.so" : "%s",
             compiled ? kernel->name : kernel->path);
    snprintf(provenance->artifact_hash, sizeof provenance->artifact_hash, "%s",
             kernel->artifact_hash[0] ? kernel->artifact_hash : kernel->copy.file_hash);
    snprintf(provenance->source_hash, sizeof provenance->source_hash, "%s", kernel->copy.file_hash);
    snprintf(provenance->text_hash, sizeof provenance->text_hash, "%s", kernel->text_hash);
    provenance->uses = kernel->uses;
    snprintf(provenance->compiler, sizeof provenance->compiler, "%s", kernel->version);
    snprintf(provenance->options, sizeof provenance->options, "%s", kernel->options ? kernel->options : "");
    if (kernel->problem[0])
        snprintf(provenance->log, sizeof provenance->log, "%.4000s", tk_kernel_file_log(kernel));
    provenance->on_gpu = kernel->backend->is_gpu;
    return provenance->on_gpu ? describe_gpu(ctx, kernel, &provenance->gpu) : TK_OK;
}

bool tki_provenance_key(const tki_provenance *provenance, const tk_contract *contract, const char *subject,
                        const char *settings, char key[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    tki_hash_add_text(&hash, contract->name);
    tki_hash_add_text(&hash, contract->bound);
    if (tk_contract_definition(contract))
        tki_hash_add_text(&hash, tk_contract_definition(contract));
    for (int i = 0; i < contract->clause_count; i++) {
        tki_hash_add_text(&hash, contract->clauses[i].id);
        tki_hash_add_text(&hash, contract->clauses[i].text);
    }
    tki_hash_add_text(&hash, subject);
    tki_hash_add_text(&hash, settings);
    tki_hash_add_text(&hash, provenance->artifact_hash);
    tki_hash_add_text(&hash, provenance->options);
    tki_hash_add_text(&hash, provenance->device.name);
    tki_hash_add_text(&hash, provenance->device.detail);
    if (provenance->on_gpu) {
        tki_hash_add_text(&hash, provenance->gpu.name);
        tki_hash_add_text(&hash, provenance->gpu.uuid);
        tki_hash_add_text(&hash, provenance->gpu.architecture);
        tki_hash_add_text(&hash, provenance->gpu.driver);
    }
    return tki_hash_finish(&hash, key);
}
