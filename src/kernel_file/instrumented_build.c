/* CHOOSES. Builds, starts and reads out instrumented kernels. */
#include "kernel_file/instrumented_build.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "core/file.h"
#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"

enum { MOST_NOTES_BYTES = 1 << 24, TOOL_SECONDS = 60, MORE_TIME = 10 };

tki_instrumented *tki_instrumented_create(void)
{
    tki_instrumented *made = calloc(1, sizeof *made);
    if (made)
        pthread_mutex_init(&made->lock, NULL);
    return made;
}

void tki_instrumented_close(tki_instrumented *instrumented)
{
    if (!instrumented)
        return;
    tki_worker_build_close(&instrumented->build);
    pthread_mutex_destroy(&instrumented->lock);
    free(instrumented);
}

/* Code that needs the optimiser (arguments that must be constants after inlining) gets it; where gcov's part cannot be had
 * (its library is missing, say), callbacks alone will do. */
static void build(tk_ctx *ctx, const tk_kernel_file *kernel, tki_instrumented *made)
{
    const tki_backend *backend = kernel->backend;
    const char *reason = kernel->is_library     ? "the kernel file is a compiled library"
                         : backend->no_coverage ? backend->no_coverage
                         : kernel->problem[0]   ? kernel->problem
                         : kernel->uses & TKI_USES_OF_BUILD
                             ? "its source could tell an instrumented build from the judged one: it names what such "
                               "builds call, looks at its own code, or has the assembler choose"
                             : NULL;
    if (reason) {
        snprintf(made->problem, sizeof made->problem, "%.400s", reason);
        return;
    }
    const bool gcc = backend->gcc_lines && !strstr(kernel->version, "clang");
    const char *more[][2] = {{backend->counters, gcc ? backend->gcc_lines : ""}, {backend->counters, ""}, {"", ""}};
    enum { TRIES = sizeof more / sizeof *more };
    const char *lighter = kernel->uses & 1u << TKI_USE_FOLDING ? "" : backend->lighter;
    tk_status status = TK_OK;
    bool built = false;
    for (int i = gcc && *lighter ? 0 : 1; i < TRIES && !built; i++) {
        char flags[512];
        snprintf(flags, sizeof flags, "%s%s%s%s", backend->callbacks, lighter, more[i][0], more[i][1]);
        tki_worker_build_close(&made->build);
        status = tki_kernel_file_compile(ctx, kernel, (tki_kernel_build){.more_flags = flags, .watched = true},
                                         &made->build);
        built = status != TK_BAD_FILE;
        made->counts_lines = status == TK_OK && i < TRIES - 1;
    }
    if (!made->counts_lines)
        snprintf(made->no_lines, sizeof made->no_lines, "the compiler does not support --coverage");
    if (status != TK_OK)
        snprintf(made->problem, sizeof made->problem, "the instrumented build failed: %.400s", tk_ctx_message(ctx));
}

const char *tki_instrumented_build(tk_ctx *ctx, const tk_kernel_file *kernel)
{
    tki_instrumented *made = kernel->instrumented;
    pthread_mutex_lock(&made->lock);
    if (!made->tried) {
        made->tried = true;
        build(ctx, kernel, made);
    }
    pthread_mutex_unlock(&made->lock);
    return made->problem;
}

tk_status tki_instrumented_start(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                                 const tki_coverage *coverage, tki_runner *runner)
{
    double seconds = kernel->call_seconds > 0 ? kernel->call_seconds : 60;
    return tki_kernel_file_run(ctx, kernel, kernel->instrumented->build.artifact, contract,
                               (tki_worker_options){.call_seconds = MORE_TIME * seconds, .coverage = coverage},
                               runner);
}

/* ------------------------------------------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------------------------------------------ */

/* The largest file in the folder with that ending: nvcc leaves a second, small one. The folder was a compiler's: links are not followed. */
static bool find_notes(tk_ctx *ctx, const char *folder, char **notes, size_t *bytes)
{
    static const char ending[] = ".gcno";
    DIR *list = opendir(folder);
    off_t largest = -1;
    char name[NAME_MAX + 1] = "";
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        size_t length = strlen(entry->d_name);
        struct stat about;
        if (length < sizeof ending || strcmp(entry->d_name + length - (sizeof ending - 1), ending) != 0 ||
            fstatat(dirfd(list), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) || !S_ISREG(about.st_mode) ||
            about.st_size <= largest)
            continue;
        largest = about.st_size;
        snprintf(name, sizeof name, "%s", entry->d_name);
    }
    int file = name[0] ? openat(dirfd(list), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool good = file >= 0 && tki_file_read_open(ctx, file, name, MOST_NOTES_BYTES, notes, bytes) == TK_OK;
    if (file >= 0)
        close(file);
    if (list)
        closedir(list);
    return good;
}

/* gcov of the compiler's own version stands beside it: gcc-12 and gcov-12, clang and llvm-cov. */
static bool find_gcov(const tk_kernel_file *kernel, char *path, size_t size, bool *llvm)
{
    char compiler[PATH_MAX];
    const tki_language *language = tki_language_of(NULL, kernel->copy.file);
    const char *host = kernel->backend->host_compiler;
    const char *name = host ? host : kernel->compiler ? kernel->compiler : language->compiler;
    *llvm = !host && strstr(kernel->version, "clang");
    if (!tki_language_compiler(name, compiler, sizeof compiler))
        return false;
    char *real = realpath(compiler, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    const char *dash = slash ? strrchr(slash, '-') : NULL;
    const char *version = dash && dash[1] >= '0' && dash[1] <= '9' ? dash : "";
    bool found = false;
    if (slash) {
        *slash = 0;
        snprintf(path, size, "%s/%s%s", real, *llvm ? "llvm-cov" : "gcov", version);
        found = access(path, X_OK) == 0;
    }
    free(real);
    return found || tki_language_compiler(*llvm ? "llvm-cov" : "gcov", path, size);
}

static tk_status run_gcov(tk_ctx *ctx, const tki_scratch *folder, const char *gcov, bool llvm, const char *sources,
                          const tki_worker_terms *terms, char **text)
{
    char counters[PATH_MAX + 16];
    snprintf(counters, sizeof counters, "%s/kernel.gcda", folder->path);
    const char *gnu_command[] = {gcov, "-t", counters, NULL};
    const char *llvm_command[] = {gcov, "gcov", "-t", counters, NULL};
    return tki_worker_tool(ctx, folder, llvm ? llvm_command : gnu_command, (const char *const[]){sources, NULL},
                           TOOL_SECONDS, terms, text);
}

bool tki_instrumented_lines(tk_ctx *ctx, const tk_kernel_file *kernel, const tki_coverage *coverage, tki_lines *lines,
                            char *why, size_t size)
{
    const tki_instrumented *made = kernel->instrumented;
    char gcov[PATH_MAX], sources[PATH_MAX + 16], *notes = NULL, *text = NULL;
    size_t note_bytes, counter_bytes;
    bool llvm, good = false;
    tki_scratch folder = {0};
    *lines = (tki_lines){0};
    if (!made->counts_lines) {
        snprintf(why, size, "%s", made->no_lines);
        return false;
    }
    if (!find_gcov(kernel, gcov, sizeof gcov, &llvm)) {
        snprintf(why, size, "this compiler has no %s", llvm ? "llvm-cov" : "gcov");
        return false;
    }
    const char *main_file = strrchr(kernel->copy.file, '/') + 1;
    snprintf(sources, sizeof sources, "%s/kernel/", kernel->text ? TKI_SOURCE_LINK : kernel->copy.folder.path);
    unsigned char *counters = tki_coverage_counters(coverage, &counter_bytes);
    snprintf(why, size, "gcov's counters are missing");
    if (counters && find_notes(ctx, made->build.scratch.path, &notes, &note_bytes)) {
        tk_status status = tki_scratch_make(ctx, &folder);
        if (status == TK_OK)
            status = tki_file_add(ctx, folder.folder, "kernel.gcno", notes, note_bytes);
        if (status == TK_OK)
            status = tki_file_add(ctx, folder.folder, "kernel.gcda", counters, counter_bytes);
        if (status == TK_OK && symlinkat(kernel->copy.folder.path, folder.folder, TKI_SOURCE_LINK))
            status = tki_fail(ctx, TK_IO, "cannot write to '%.200s'", folder.path);
        if (status == TK_OK)
            status = run_gcov(ctx, &folder, gcov, llvm, kernel->copy.folder.path, &kernel->terms, &text);
        if (status != TK_OK)
            snprintf(why, size, "%s", tk_ctx_message(ctx));
        else
            good = tki_lines_read(text, sources, main_file, lines);
        if (status == TK_OK && !good)
            snprintf(why, size, "gcov reports nothing about the kernel's files");
    }
    tki_scratch_remove(&folder);
    free(counters);
    free(notes);
    free(text);
    return good;
}
