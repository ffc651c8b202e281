/* RECORDS. nvcc, hipcc and clang++: programs, run in a temporary folder that holds the sources. */
#include "compile/compilers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/run_program.h"
#include "core/context.h"
#include "core/file.h"
#include "core/scratch.h"

enum { MOST_IMAGE = 1 << 28, OLDEST_CLANG = 17 };
static const double version_seconds = 20;

/* ------------------------------------------------------------------------------------------------------------
 * Finding the program
 * ------------------------------------------------------------------------------------------------------------ */

static bool search(const tki_compiler_kind *kind, tki_compiler *compiler)
{
    for (const char *const *name = kind->programs; *name; name++)
        if (tki_program_find(*name, kind->folders, compiler->path, sizeof compiler->path))
            return true;
    compiler->path[0] = 0;
    return false;
}

/* The first line with a number like 13.0 in it, of those that nvcc, hipcc and clang write; the name before it if it is not in it. */
static void pick_version(const char *name, const char *text, char *version, size_t size)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; i + 2 < length; i++)
            if (line[i] >= '0' && line[i] <= '9' && line[i + 1] == '.' && line[i + 2] >= '0' && line[i + 2] <= '9') {
                bool named = memmem(line, length, name, strlen(name)) != NULL;
                snprintf(version, size, "%s%s%.*s", named ? "" : name, named ? "" : ": ", (int)length, line);
                return;
            }
        line += length + (line[length] == '\n');
    }
}

/* "compute_90" a line. */
static void ask_architectures(tki_compiler *compiler)
{
    static char list_option[] = "--list-gpu-arch";
    char *const arguments[] = {compiler->path, list_option, NULL};
    tki_process process;
    tki_process_run(arguments, NULL, version_seconds, &process);
    const char *place = process.problem[0] || process.exit_code ? NULL : process.output;
    while (place && (place = strstr(place, "compute_")) && compiler->architecture_count < TKI_MOST_ARCHITECTURES) {
        place += strlen("compute_");
        int number = atoi(place);
        int i = compiler->architecture_count;
        if (number <= 0 || number >= 1000)
            continue;
        for (; i > 0 && compiler->architectures[i - 1] > number; i--)
            compiler->architectures[i] = compiler->architectures[i - 1];
        compiler->architectures[i] = number;
        compiler->architecture_count++;
    }
    free(process.output);
}

void tki_program_find_compiler(const tki_compiler_kind *kind, const char *chosen, tki_compiler *compiler)
{
    static char version_option[] = "--version";
    if (chosen)
        snprintf(compiler->path, sizeof compiler->path, "%s", chosen);
    else if (!search(kind, compiler)) {
        snprintf(compiler->problem, sizeof compiler->problem, "not found on the PATH");
        return;
    }
    char *const arguments[] = {compiler->path, version_option, NULL};
    tki_process process;
    tki_process_run(arguments, NULL, version_seconds, &process);
    const char *says = process.output ? process.output : "";
    pick_version(kind->name, says, compiler->version, sizeof compiler->version);
    const char *number = strstr(says, "clang version ");
    int clang = number ? atoi(number + strlen("clang version ")) : 0;
    if (process.problem[0])
        snprintf(compiler->problem, sizeof compiler->problem, "%.200s %s", compiler->path, process.problem);
    else if (process.exit_code || !compiler->version[0])
        snprintf(compiler->problem, sizeof compiler->problem,
                 "%.200s does not report its version (exit status %d): %.100s", compiler->path, process.exit_code,
                 says);
    else if (number && clang < OLDEST_CLANG)
        snprintf(compiler->problem, sizeof compiler->problem, "%.200s has version %d; the oldest supported one is %d",
                 compiler->path, clang, OLDEST_CLANG);
    tki_text_flatten(compiler->problem, sizeof compiler->problem);
    if (!compiler->problem[0]) {
        if (kind->lists_architectures)
            ask_architectures(compiler);
        tki_compiler_identify(compiler, says);
    }
    free(process.output);
}

/* ------------------------------------------------------------------------------------------------------------
 * Compiling
 * ------------------------------------------------------------------------------------------------------------ */

/* FOLDER/PATH with the file's text, in folders as in the repository. */
static tk_status put_file(tk_ctx *ctx, const char *folder, const tki_source_file *file)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, file->path) >= (int)sizeof path)
        return tki_fail(ctx, TK_IO, "the path of the temporary folder is too long");
    char *slash = strrchr(path, '/');
    *slash = 0;
    tk_status status = tki_directory_make(ctx, path, 0777);
    *slash = '/';
    return status == TK_OK ? tki_file_write(ctx, path, file->text, file->bytes) : status;
}

static tk_status put_sources(tk_ctx *ctx, const char *folder, const tki_source_set *sources)
{
    tk_status status = put_file(ctx, folder, sources->source);
    for (int i = 0; status == TK_OK && i < sources->header_count; i++)
        status = put_file(ctx, folder, sources->headers[i].file);
    return status;
}

static void run_compiler(tk_ctx *ctx, const tki_compiler *compiler, const tki_compile_job *job, const char *folder,
                         tki_compiled *compiled)
{
    static const char output_name[] = "image";
    char output_option[] = "-o", output[sizeof output_name], source[TKI_SOURCE_NAME], program[sizeof compiler->path];
    tki_compile_job own = *job; /* posix_spawn() takes arguments that it could write to */
    char *arguments[TKI_MOST_OPTIONS + 5];
    int count = 0;
    memcpy(output, output_name, sizeof output_name);
    memcpy(program, compiler->path, sizeof program);
    snprintf(source, sizeof source, "%s", job->sources->source->path);
    arguments[count++] = program;
    for (int i = 0; i < own.option_count; i++)
        arguments[count++] = own.options[i];
    arguments[count++] = source;
    arguments[count++] = output_option;
    arguments[count++] = output;
    arguments[count] = NULL;

    tki_process process;
    tki_process_run(arguments, folder, job->seconds, &process);
    compiled->log = process.output;
    if (process.problem[0]) {
        snprintf(compiled->problem, sizeof compiled->problem, "%s", process.problem);
    } else if (process.exit_code) {
        snprintf(compiled->problem, sizeof compiled->problem, "could not compile it (exit status %d)",
                 process.exit_code);
    } else {
        char path[4096];
        char *image;
        if (snprintf(path, sizeof path, "%s/%s", folder, output_name) < (int)sizeof path &&
            tki_file_read(ctx, path, MOST_IMAGE, &image, &compiled->image_bytes) == TK_OK)
            compiled->image = image;
        else
            snprintf(compiled->problem, sizeof compiled->problem, "reported success, but wrote no image");
    }
}

void tki_program_compile(const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled)
{
    tki_scratch scratch;
    tk_ctx *ctx; /* for messages that are not the caller's */
    if (tk_ctx_create(&ctx) != TK_OK) {
        snprintf(compiled->problem, sizeof compiled->problem, "could not be run: no memory");
        return;
    }
    tk_status status = tki_scratch_make(ctx, &scratch);
    if (status == TK_OK)
        status = put_sources(ctx, scratch.path, job->sources);
    if (status == TK_OK)
        run_compiler(ctx, compiler, job, scratch.path, compiled);
    else
        snprintf(compiled->problem, sizeof compiled->problem, "could not be run: %.200s", tk_ctx_message(ctx));
    tki_scratch_remove(&scratch);
    tk_ctx_destroy(ctx);
}
