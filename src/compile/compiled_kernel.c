/* RECORDS. From a request to an image: the first compiler that serves, its entry in the cache, else a build. */
#include "compile/compiled_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/cache_folder.h"
#include "compile/compilers.h"
#include "compile/kernel_resources.h"
#include "core/clock.h"
#include "core/context.h"

typedef struct work {
    const tki_compile_request *request;
    tki_source_set sources;
    tki_digest digest;
    tki_store store;
    char source_hash[TKI_DIGEST_HEX];
    char note[sizeof((tki_compiled_kernel *)0)->note]; /* what was wrong with the cache */
    char tried[1536];                                  /* compilers that did not serve, and why */
    bool compiler_failed;                              /* one was there, but could not compile */
} work;

/* Appends a sentence; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    if (used && used + 2 < size) {
        memcpy(text + used, "; ", 3);
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void describe(work *w, const tki_compiler *compiler, const tki_compile_job *job, tki_compiled_kernel *a)
{
    *a = (tki_compiled_kernel){.types = w->request->types};
    memcpy(a->source_hash, w->source_hash, sizeof a->source_hash);
    snprintf(a->backend, sizeof a->backend, "%s", w->request->backend->name);
    snprintf(a->source, sizeof a->source, "%s", w->request->source);
    snprintf(a->architecture, sizeof a->architecture, "%s", job->architecture);
    snprintf(a->compiler, sizeof a->compiler, "%s", compiler->version);
    snprintf(a->identity, sizeof a->identity, "%s", compiler->identity);
    size_t used = 0;
    for (int i = 0; i < job->option_count; i++)
        used += (size_t)snprintf(a->options + used, sizeof a->options - used, "%s%s", i ? " " : "", job->options[i]);
}

static bool find_entry(tk_ctx *ctx, work *w, const char *key, tki_compiled_kernel *artifact)
{
    char problem[256], types[TKI_TYPES_TEXT];
    tk_types_name(w->request->types, types, sizeof types);
    tki_store_result result = tki_store_load(ctx, &w->store, &w->digest, key, artifact, problem, sizeof problem);
    if (result == TKI_STORE_DAMAGED && !strstr(w->note, problem))
        append(w->note, sizeof w->note, "cache entry %.12s... of %s (%s) was damaged (%s); compiled again", key,
               w->request->source, types, problem);
    return result == TKI_STORE_FOUND;
}

/* Takes over what the compiler left: image, resources, warnings. */
static bool accept_image(work *w, const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled,
                         tki_compiled_kernel *a)
{
    const char *log = compiled->log ? compiled->log : "";
    a->image = compiled->image;
    a->image_bytes = compiled->image_bytes;
    compiled->image = NULL;
    if (job->to_ptx)
        append(a->note, sizeof a->note,
               "%s is newer than %s supports: compiled to PTX for %s, which the driver compiles further",
               w->request->architecture, compiler->version, job->architecture);
    if (compiler->kind->read_resources && !job->to_ptx)
        a->kernel_count = compiler->kind->read_resources(log, a->kernels, TKI_COMPILED_KERNELS);
    if (a->kernel_count == 0)
        append(a->note, sizeof a->note, "the compiler did not report the kernels' resources");
    tki_log_warnings(log, a->warnings, sizeof a->warnings);
    tki_text_flatten(a->note, sizeof a->note);
    return tki_digest_bytes(&w->digest, a->image, a->image_bytes, a->hash);
}

static void record_failure(work *w, const tki_compiler *compiler, const tki_compiled *compiled)
{
    append(w->tried, sizeof w->tried, "%s %s%s%.1100s", compiler->version, compiled->problem,
           compiled->log && compiled->log[0] ? ": " : "", compiled->log ? compiled->log : "");
    tki_text_flatten(w->tried, sizeof w->tried);
    w->compiler_failed = true;
}

/* Under the key's lock, if there can be one. True if the artifact is there, built by us or by the one we waited for. */
static bool build(tk_ctx *ctx, work *w, const tki_compiler *compiler, const tki_compile_job *job,
                  tki_compiled_kernel *a)
{
    tki_compiled_kernel found;
    int lock = tki_store_lock(&w->store, a->key, job->seconds);
    if (lock >= 0 && find_entry(ctx, w, a->key, &found)) {
        tki_store_unlock(&w->store, a->key, lock);
        *a = found;
        return true;
    }
    tki_compiled compiled;
    tki_compile(compiler, job, &compiled);
    bool good = compiled.image && accept_image(w, compiler, job, &compiled, a);
    if (good)
        tki_store_save(ctx, &w->store, &w->digest, a);
    else
        record_failure(w, compiler, &compiled);
    tki_store_unlock(&w->store, a->key, lock);
    tki_compiled_free(&compiled);
    return good;
}

static bool try_compiler(tk_ctx *ctx, work *w, tki_compiler *compiler, tki_compiled_kernel *artifact)
{
    tki_compile_job job;
    if (compiler->problem[0] || !tki_compile_plan(compiler, w->request, &w->sources, &job)) {
        append(w->tried, sizeof w->tried, "%s: %s", compiler->name, compiler->problem);
        return false;
    }
    tki_compiled_kernel wanted, found;
    describe(w, compiler, &job, &wanted);
    if (!tki_entry_key(&w->digest, &wanted, wanted.key)) {
        append(w->tried, sizeof w->tried, "%s: SHA-256 failed", compiler->name);
        return false;
    }
    if (find_entry(ctx, w, wanted.key, &found)) {
        *artifact = found;
        return true;
    }
    if (!build(ctx, w, compiler, &job, &wanted)) {
        tki_compiled_kernel_free(&wanted);
        return false;
    }
    *artifact = wanted;
    return true;
}

/* What was met on the way, to the artifact and to whoever listens. */
static void finish_note(tk_ctx *ctx, const work *w, tki_compiled_kernel *artifact)
{
    char parts[3][sizeof w->note] = {""};
    snprintf(parts[0], sizeof parts[0], "%s", w->note);
    if (w->store.problem[0])
        snprintf(parts[1], sizeof parts[1], "not kept in the cache: %s", w->store.problem);
    if (w->tried[0] && w->compiler_failed)
        snprintf(parts[2], sizeof parts[2], "%.200s", w->tried);
    tki_note(ctx, artifact->note);
    for (int i = 0; i < 3; i++) {
        if (!parts[i][0])
            continue;
        tki_text_flatten(parts[i], sizeof parts[i]);
        tki_note(ctx, parts[i]);
        append(artifact->note, sizeof artifact->note, "%s", parts[i]);
    }
}

tk_status tki_compiled_kernel_get(tk_ctx *ctx, const tki_compile_request *request, tki_compiled_kernel *artifact)
{
    double start = tki_now();
    *artifact = (tki_compiled_kernel){0};
    if (!tki_is_compiled_type(request->types.dtype) || !tki_is_compiled_type(request->types.result_dtype))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "kernels are compiled for f16, bf16, f32 and u64");
    work *w = calloc(1, sizeof *w);
    tki_compiler *compiler = calloc(1, sizeof *compiler);
    if (!w || !compiler) {
        free(compiler);
        free(w);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to compile %s", request->source);
    }
    w->request = request;
    char problem[256], types[TKI_TYPES_TEXT];
    tk_types_name(request->types, types, sizeof types);
    tk_status status = tki_source_gather(ctx, tki_source_files, request->source, &w->sources);
    if (status == TK_OK && (status = tki_architecture_check(request, problem, sizeof problem)) != TK_OK)
        (void)tki_fail(ctx, status, "%s", problem);
    if (status == TK_OK)
        status = tki_digest_open(ctx, &w->digest);
    if (status == TK_OK && !tki_source_hash(&w->digest, &w->sources, w->source_hash))
        status = tki_fail(ctx, TK_INTERNAL, "SHA-256 of %s failed", request->source);
    bool there = false;
    if (status == TK_OK) {
        tki_store_open(ctx, &w->store, true);
        for (int i = 0; !there && tki_compiler_at(request->backend, i, compiler); i++)
            there = try_compiler(ctx, w, compiler, artifact);
        if (!there)
            status = tki_fail(ctx, w->compiler_failed ? TK_INTERNAL : TK_UNAVAILABLE, "%s %s for %s (%s): %s",
                              w->compiler_failed ? "cannot compile" : "no compiler for", request->source,
                              request->architecture, types, w->tried);
    }
    if (there) {
        finish_note(ctx, w, artifact);
        artifact->seconds = tki_now() - start;
    }
    free(compiler);
    free(w);
    return status;
}

void tki_compiled_kernel_free(tki_compiled_kernel *artifact)
{
    free(artifact->image);
    if (artifact->hold > 0)
        close(artifact->hold - 1);
    *artifact = (tki_compiled_kernel){0};
}
