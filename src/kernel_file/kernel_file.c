/* RECORDS. Kernel files. Compiling and running are the worker's; here is what a certificate says about them. */
#include "kernel_file/kernel_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/kernel_sources.h"
#include "core/context.h"
#include "model/op.h"
#include "core/escape.h"
#include "core/file.h"
#include "core/limits.h"
#include "core/sized_options.h"
#include "isolate/worker_spawn.h"
#include "kernel_file/source_uses.h"

enum { MOST_FILE_BYTES = 1 << 29, MOST_TEXT_BYTES = 1 << 28, MOST_LOG_BYTES = 1 << 16 };

/* Letters that an id cannot have become _. Names that differ in those alone must not become one: their hash tells them apart. */
static void set_name(tk_kernel_file *kernel)
{
    enum { HASH_LETTERS = 8, LONGEST = 63 };
    char hash[TKI_HASH_HEX];
    size_t length = strlen(kernel->path), used = 0;
    while (length > 1 && kernel->path[length - 1] == '/')
        length--;
    const char *end = kernel->path + length, *from = memrchr(kernel->path, '/', length);
    from = from ? from + 1 : kernel->path;
    const char *dot = memrchr(from, '.', (size_t)(end - from));
    const char *stop = dot && tki_language_of(NULL, kernel->path) ? dot : end;
    bool changed = stop == from || stop - from > LONGEST;
    for (const char *p = from; p < stop; p++) {
        bool good = (isalnum((unsigned char)*p) && (unsigned char)*p < 128) || *p == '-' || *p == '_';
        changed |= !good;
        if (used < LONGEST)
            kernel->name[used++] = good ? *p : '_';
    }
    if (changed && tki_hash_bytes(from, (size_t)(stop - from), hash))
        snprintf(kernel->name + used, sizeof kernel->name - used, "-%.*s", HASH_LETTERS, hash);
}

static tk_status set_backend(tk_ctx *ctx, tk_kernel_file *kernel, const char *asked)
{
    const char *colon = strchr(asked, ':');
    char rest = 0;
    if ((colon && sscanf(colon, ":%d%c", &kernel->device, &rest) != 1) || kernel->device < 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "unknown backend '%.40s'", asked);
    kernel->backend = tki_backend_find(asked, ":");
    if (!kernel->backend)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "kernel files run on cpu, cuda or hip, not on '%.40s'", asked);
    return TK_OK;
}

/* The first line of what it says to --version; nvcc has the version in its line with "release". */
static void note_version(tk_ctx *ctx, tk_kernel_file *kernel, const char *compiler)
{
    char *said;
    snprintf(kernel->version, sizeof kernel->version, "%s, of unknown version", compiler);
    if (tki_language_ask(ctx, compiler, (const char *const[]){"--version", NULL}, &kernel->terms, &said) == TK_OK &&
        said[0]) {
        char *line = strstr(said, "release ");
        while (line && line > said && line[-1] != '\n')
            line--;
        line = line ? line : said;
        line[strcspn(line, "\n")] = 0;
        tki_escape_line(line, strlen(line), kernel->version, sizeof kernel->version);
    }
    free(said);
}

/* A user's compiler may print without end, and anything. */
static char *clean_log(char *log)
{
    static const char cut[] = "\n[cut]\n";
    char *clean = log ? malloc(MOST_LOG_BYTES) : NULL;
    if (clean && tki_escape_lines(log, strlen(log), clean, MOST_LOG_BYTES - sizeof cut) < strlen(log))
        strcat(clean, cut);
    free(log);
    return clean;
}

/* Of our ops, or of those of the context. */
static bool defines_any(const tk_ctx *ctx, const tk_kernel_file *kernel)
{
    bool any = false;
    for (int i = 0; tk_contract_at(i); i++)
        any |= tk_kernel_file_defines(kernel, tk_contract_at(i));
    for (const tki_made_op *op = ctx->made_ops; op; op = op->next)
        any |= tk_kernel_file_defines(kernel, &op->contract);
    return any;
}

/* Of a file without a kernel: one function whose name begins as theirs do, or that there is none. */
static void say_what_is_defined(tk_kernel_file *kernel)
{
    enum { MOST_SHOWN = 80 };
    const size_t length = strcspn(kernel->defined, " ");
    if (length)
        snprintf(kernel->problem, sizeof kernel->problem,
                 "it defines no kernel: tokitai_%.*s is not the name of an op",
                 (int)(length < MOST_SHOWN ? length : MOST_SHOWN), kernel->defined);
    else
        snprintf(kernel->problem, sizeof kernel->problem,
                 "it defines no kernel: no function is named tokitai_OP after an op");
}

/* The compiler is foreign code: what it made is read once, and what was read is hashed and loaded. */
static tk_status take_artifact(tk_ctx *ctx, tk_kernel_file *kernel)
{
    char *image;
    size_t bytes;
    tk_status status = tki_file_read(ctx, kernel->is_library ? kernel->copy.file : kernel->build.artifact,
                                     MOST_FILE_BYTES, &image, &bytes);
    if (status != TK_OK)
        return status;
    bool good = tki_exported_ops(image, bytes, kernel->defined, sizeof kernel->defined) &&
                tki_hash_bytes(image, bytes, kernel->artifact_hash);
    tki_uses_of_library(image, bytes, &kernel->uses);
    if (good && !kernel->is_library)
        status = tki_kernel_copy_add(ctx, &kernel->copy, "kernel.so", image, bytes);
    free(image);
    if (status == TK_OK &&
        (kernel->is_library ? !(kernel->artifact = strdup(kernel->copy.file))
                            : asprintf(&kernel->artifact, "%s/kernel.so", kernel->copy.folder.path) < 0)) {
        kernel->artifact = NULL;
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a path");
    }
    if (!good)
        snprintf(kernel->problem, sizeof kernel->problem, "not a shared library for this machine");
    else if (!defines_any(ctx, kernel))
        say_what_is_defined(kernel);
    return status;
}

/* Of ours, as they were when this library was built; cmake/embed_kernels.cmake writes the table. They are there for every build. */
enum { COVERAGE_RUNTIME = 2, PARTS };
extern const tki_source_file tki_kernel_headers[];
static const char *const part_folders[PARTS] = {"headers", "headers", "parts"};

static void name_part(int part, char name[TKI_SOURCE_NAME])
{
    const char *path = tki_kernel_headers[part].path, *slash = strrchr(path, '/');
    snprintf(name, TKI_SOURCE_NAME, "%s/%s", part_folders[part], slash ? slash + 1 : path);
}

static tk_status add_parts(tk_ctx *ctx, const tk_kernel_file *kernel)
{
    tk_status status = TK_OK;
    for (int i = 0; i < PARTS && status == TK_OK; i++) {
        char name[TKI_SOURCE_NAME];
        name_part(i, name);
        status = tki_kernel_copy_add(ctx, &kernel->copy, name, tki_kernel_headers[i].text,
                                     tki_kernel_headers[i].bytes);
    }
    return status;
}

tk_status tki_kernel_file_compile(tk_ctx *ctx, const tk_kernel_file *kernel, tki_kernel_build how,
                                  tki_worker_build *build)
{
    const tki_kernel_copy *copy = &kernel->copy;
    char name[TKI_SOURCE_NAME];
    tki_strings includes = {0}, object = {0};
    tki_strings_add(&includes, "%s/headers", copy->folder.path);
    tki_strings_add(&includes, "%s/kernel", copy->folder.path);
    for (int i = 0; i < copy->includes; i++)
        tki_strings_add(&includes, "%s/include%d", copy->folder.path, i);
    name_part(COVERAGE_RUNTIME, name);
    tki_strings_add(&object, "%s/%s", copy->folder.path, name);
    const bool from_text = kernel->text && !how.from_source && !how.preprocess;
    tk_status status = includes.failed || object.failed
                           ? tki_fail(ctx, TK_NO_MEMORY, "no memory for a compilation")
                           : tki_worker_compile(ctx,
                                                &(tki_worker_source){.file = from_text ? kernel->text : copy->file,
                                                                     .shown = kernel->path,
                                                                     .compiler = kernel->compiler,
                                                                     .flags = kernel->options,
                                                                     .more_flags = how.more_flags,
                                                                     .object = how.watched ? object.items[0] : NULL,
                                                                     .language = tki_language_of(ctx, copy->file),
                                                                     .preprocess = how.preprocess,
                                                                     .folder = from_text ? copy->folder.path : NULL,
                                                                     .includes = (const char *const *)includes.items,
                                                                     .seconds = how.seconds,
                                                                     .terms = kernel->terms},
                                                build);
    tki_strings_free(&includes);
    tki_strings_free(&object);
    if (build->log)
        tki_kernel_copy_unname(copy, build->log);
    return status;
}

/* Of a file in the copy, as it was written. One of the source's own folder is put behind the others. */
static void note_uses_of_file(tk_ctx *ctx, tk_kernel_file *kernel, const char *path, FILE *own)
{
    char *source;
    size_t bytes;
    if (tki_file_read(ctx, path, MOST_TEXT_BYTES, &source, &bytes) != TK_OK)
        return;
    tki_uses_of_source(source, bytes, &kernel->uses);
    if (own) {
        fwrite(source, 1, bytes, own);
        fputc('\n', own);
    }
    free(source);
}

/* Macros that the user's flags define are as the source's own: the certificate has these flags. */
static void put_defined(const tk_kernel_file *kernel, FILE *own)
{
    for (const char *at = kernel->flags; at && (at = strstr(at, "-D")); at += 2)
        if (at == kernel->flags || isspace((unsigned char)at[-1]))
            fprintf(own, "#define %.*s\n", (int)strcspn(at + 2, "= \t\n"), at + 2);
}

/* Of the text, if there is one, and of each file that it came from. */
static void note_uses(tk_ctx *ctx, tk_kernel_file *kernel, const char *text, size_t bytes)
{
    char name[NAME_MAX + 64], path[PATH_MAX + NAME_MAX + 64], *sources = NULL;
    size_t length = 0;
    FILE *own = open_memstream(&sources, &length);
    if (!own) { /* the more is said */
        kernel->uses |= 1u << TKI_USE_OPTIONS;
        return;
    }
    put_defined(kernel, own);
    if (text)
        tki_uses_of_text(text, bytes, &kernel->uses);
    else
        note_uses_of_file(ctx, kernel, kernel->copy.file, own);
    tki_strings seen = {0};
    for (const char *at = text; text && tki_text_next_file(&at, text + bytes, name, sizeof name);) {
        int i = 0;
        while (i < seen.count && strcmp(seen.items[i], name) != 0)
            i++;
        if (i < seen.count)
            continue;
        tki_strings_add(&seen, "%s", name);
        snprintf(path, sizeof path, "%s/%s", kernel->copy.folder.path, name);
        note_uses_of_file(ctx, kernel, path, strncmp(name, "kernel/", 7) ? NULL : own);
    }
    tki_strings_free(&seen);
    if (fclose(own) == 0)
        tki_uses_of_conditions(sources, length, &kernel->uses);
    else
        kernel->uses |= 1u << TKI_USE_OPTIONS;
    free(sources);
}

/* The one text that is compiled from now on. A compiler that does not tell it apart from a library leaves none. */
static tk_status take_text(tk_ctx *ctx, tk_kernel_file *kernel, const tki_worker_build *made)
{
    const char *ending = strrchr(made->artifact, '.');
    char name[32], *text = NULL;
    size_t bytes;
    tk_status status = tki_file_read(ctx, made->artifact, MOST_TEXT_BYTES, &text, &bytes);
    if (status != TK_OK)
        return status;
    tki_kernel_copy_neutral(&kernel->copy, text, &bytes);
    note_uses(ctx, kernel, text, bytes);
    snprintf(name, sizeof name, "parts/kernel%s", ending);
    status = tki_hash_bytes(text, bytes, kernel->text_hash)
                 ? tki_kernel_copy_add(ctx, &kernel->copy, name, text, bytes)
                 : tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    free(text);
    if (status == TK_OK && asprintf(&kernel->text, "%s/%s", kernel->copy.folder.path, name) < 0) {
        kernel->text = NULL;
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a path");
    }
    return status;
}

static tk_status preprocess(tk_ctx *ctx, tk_kernel_file *kernel, double seconds)
{
    if (!tki_language_of(ctx, kernel->copy.file)->text) {
        note_uses(ctx, kernel, NULL, 0);
        return TK_OK;
    }
    tk_status status = tki_kernel_file_compile(
        ctx, kernel, (tki_kernel_build){.preprocess = true, .seconds = seconds}, &kernel->build);
    if (status == TK_OK && kernel->build.artifact[0])
        status = take_text(ctx, kernel, &kernel->build);
    if (status == TK_OK)
        tki_worker_build_close(&kernel->build);
    return status;
}

/* Of a text that does not compile, what the compiler says of its source is better: there it shows lines. A source that does compile, as
 * with options that read a text as something else, has no text then. */
static tk_status compile(tk_ctx *ctx, tk_kernel_file *kernel, double seconds)
{
    tk_status status = tki_kernel_file_compile(ctx, kernel, (tki_kernel_build){.seconds = seconds}, &kernel->build);
    if (status != TK_BAD_FILE || !kernel->text)
        return status;
    tki_worker_build_close(&kernel->build);
    status = tki_kernel_file_compile(ctx, kernel, (tki_kernel_build){.from_source = true, .seconds = seconds},
                                     &kernel->build);
    free(kernel->text);
    kernel->text = NULL;
    kernel->text_hash[0] = 0;
    return status;
}

static tk_status build(tk_ctx *ctx, tk_kernel_file *kernel, double seconds)
{
    if (kernel->is_library)
        return take_artifact(ctx, kernel);
    tk_status status = add_parts(ctx, kernel);
    if (status != TK_OK)
        return status;
    status = preprocess(ctx, kernel, seconds);
    if (status == TK_OK)
        status = compile(ctx, kernel, seconds);
    kernel->build.log = clean_log(kernel->build.log);
    if (status == TK_OK)
        return take_artifact(ctx, kernel);
    if (status != TK_BAD_FILE && status != TK_TIMEOUT && status != TK_UNAVAILABLE && status != TK_KERNEL_FAULT)
        return status;
    snprintf(kernel->problem, sizeof kernel->problem, "%.1000s", tk_ctx_message(ctx));
    kernel->unavailable = status == TK_UNAVAILABLE;
    return TK_OK;
}

tk_status tk_kernel_file_open(tk_ctx *ctx, const char *path, const tk_kernel_file_options *given,
                              tk_kernel_file **kernel)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!path || !kernel)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no path, or no pointer for the kernel");
    *kernel = NULL;
    tk_kernel_file_options options = TK_KERNEL_FILE_DEFAULTS;
    tk_status status = tki_options_take(ctx, "tk_kernel_file_options", given, &options, sizeof options);
    if (status == TK_OK)
        status = tki_limits_check(ctx, &options.limits);
    if (status != TK_OK)
        return status;
    tk_kernel_file *made = calloc(1, sizeof *made);
    if (!made)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a kernel file");
    made->call_seconds = options.call_seconds;
    made->library_alone = options.library_alone;
    made->terms = (tki_worker_terms){options.limits, options.allow_weak_sandbox};
    made->path = strdup(path);
    made->compiler = options.compiler ? strdup(options.compiler) : NULL;
    made->flags = options.flags ? strdup(options.flags) : NULL;
    made->include = options.include ? strdup(options.include) : NULL;
    made->instrumented = tki_instrumented_create();
    status = made->path && made->instrumented && !made->compiler == !options.compiler &&
                     !made->flags == !options.flags && !made->include == !options.include
                 ? tki_kernel_copy_make(ctx, path, options.include, tki_limits_of(&options.limits).folder_depth,
                                        &made->copy)
                 : tki_fail(ctx, TK_NO_MEMORY, "no memory for a kernel file");
    const tki_language *language = status == TK_OK ? tki_language_of(ctx, made->copy.file) : NULL;
    if (status == TK_OK)
        status = set_backend(ctx, made, options.backend ? options.backend : language->backend->name);
    if (status == TK_OK && ((options.sha256 && strcmp(made->copy.file_hash, options.sha256) != 0) ||
                            (options.tree_sha256 && strcmp(made->copy.tree_hash, options.tree_sha256) != 0)))
        status = tki_fail(ctx, TK_UNAVAILABLE, "'%.200s' is not the certified kernel: its SHA-256 differs", path);
    if (status == TK_OK) {
        set_name(made);
        made->is_library = !language->compiler;
        if (!made->is_library)
            note_version(ctx, made, made->compiler ? made->compiler : language->compiler);
        if (!made->is_library)
            made->options = tki_language_flags(ctx, language, made->compiler, made->flags, made->device,
                                               &made->terms);
        status = made->is_library || made->options ? build(ctx, made, options.compile_seconds)
                                                   : tki_fail(ctx, TK_NO_MEMORY, "no memory for a kernel file");
    }
    if (status == TK_OK)
        *kernel = made;
    else
        tk_kernel_file_close(made);
    return status;
}

void tk_kernel_file_close(tk_kernel_file *kernel)
{
    if (!kernel)
        return;
    tki_instrumented_close(kernel->instrumented);
    tki_worker_build_close(&kernel->build);
    tki_kernel_copy_close(&kernel->copy);
    free(kernel->artifact);
    free(kernel->text);
    free(kernel->include);
    free(kernel->path);
    free(kernel->compiler);
    free(kernel->flags);
    free(kernel->options);
    free(kernel);
}

tk_status tk_kernel_file_write_artifact(tk_ctx *ctx, const tk_kernel_file *kernel, const char *path)
{
    char *image;
    size_t bytes;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!kernel || !path)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no kernel file, or no path");
    if (!kernel->artifact)
        return tki_fail(ctx, TK_UNAVAILABLE, "%s", kernel->problem);
    tk_status status = tki_file_read(ctx, kernel->artifact, MOST_FILE_BYTES, &image, &bytes);
    if (status != TK_OK)
        return status;
    status = tki_file_create(ctx, path, image, bytes, 0644, true);
    free(image);
    return status;
}

const char *tk_kernel_file_problem(const tk_kernel_file *kernel)
{
    return kernel->problem;
}

const char *tk_kernel_file_log(const tk_kernel_file *kernel)
{
    return kernel->build.log ? kernel->build.log : "";
}

bool tk_kernel_file_named(const char *path)
{
    return path && tki_language_of(NULL, path);
}

const char *tk_kernel_file_backend(const tk_kernel_file *kernel)
{
    return kernel->backend->name;
}

bool tk_kernel_file_defines(const tk_kernel_file *kernel, const tk_contract *contract)
{
    return tki_exports_op(kernel->defined, contract->name);
}

tk_status tki_kernel_file_run(tk_ctx *ctx, const tk_kernel_file *kernel, const char *artifact,
                              const tk_contract *contract, tki_worker_options options, tki_runner *runner)
{
    options.backend = kernel->backend;
    options.device = kernel->device;
    options.terms = kernel->terms;
    return tki_runner_open(
        ctx, &(tki_runnable){.artifact = artifact, .contract = contract, .worker_options = options}, runner);
}

tk_status tki_kernel_file_start(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract, bool flushing,
                                tki_runner *runner)
{
    *runner = (tki_runner){0};
    if (kernel->problem[0])
        return tki_fail(ctx, kernel->unavailable ? TK_UNAVAILABLE : TK_BAD_FILE, "%s", kernel->problem);
    return tki_kernel_file_run(
        ctx, kernel, kernel->artifact, contract,
        (tki_worker_options){.call_seconds = kernel->call_seconds, .admits_flushing = flushing}, runner);
}

tk_status tki_kernel_file_start_watched(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                                        tki_sanitizer_tool tool, tki_runner *runner)
{
    enum { SECONDS = 120 };
    *runner = (tki_runner){0};
    if (kernel->problem[0])
        return tki_fail(ctx, TK_BAD_FILE, "%s", kernel->problem);
    const double seconds = kernel->call_seconds > SECONDS ? kernel->call_seconds : SECONDS;
    return tki_kernel_file_run(
        ctx, kernel, kernel->artifact, contract,
        (tki_worker_options){
            .start_seconds = SECONDS, .call_seconds = seconds, .sanitizer = tool, .admits_flushing = true},
        runner);
}
