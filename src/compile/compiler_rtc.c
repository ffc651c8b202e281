/* RECORDS. NVRTC and HIPRTC: libraries with the same calls under two prefixes, loaded when first needed. */
#include "compile/compilers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/run_program.h"
#include "core/library.h"

enum { MOST_IMAGE = 1 << 28, MOST_LOG = 1 << 24, COMPILATION_FAILED = 6 };

typedef struct rtc_calls {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *text, const char *name, int header_count, const char *const *headers,
                  const char *const *names);
    int (*compile)(void *program, int option_count, const char *const *options);
    int (*destroy)(void **program);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *log);
    int (*image_size)(void *program, size_t *size);
    int (*image)(void *program, char *image);
    int (*ptx_size)(void *program, size_t *size); /* NVRTC only */
    int (*ptx)(void *program, char *ptx);
    const char *(*error)(int code);
    int (*architecture_count)(int *count); /* NVRTC since 11.2; else NULL */
    int (*architectures)(int *list);
} rtc_calls;

struct tki_rtc_library {
    const char *prefix;             /* of its calls */
    const char *image_size, *image; /* what gives the compiled kernel */
    bool gives_ptx;
    const char *libraries[5]; /* up to NULL */
    const char *variables[2]; /* in the environment: where the vendor's files are */
    const char *folders[2];   /* where they usually are */
    const char *program;      /* beside which it lies, if that is on the PATH */
    const char *missing;
    int cache_major, cache_minor; /* since when it keeps a cache of its own; 0: it does not */
};

const tki_rtc_library tki_nvrtc = {
    .prefix = "nvrtc",
    .image_size = "GetCUBINSize",
    .image = "GetCUBIN",
    .gives_ptx = true,
    .libraries = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", NULL},
    .variables = {"CUDA_PATH", "CUDA_HOME"},
    .folders = {"/usr/local/cuda", "/usr/local/cuda-*"},
    .program = "nvcc",
    .missing = "libnvrtc.so was not found",
    .cache_major = 12,
    .cache_minor = 9,
};

const tki_rtc_library tki_hiprtc = {
    .prefix = "hiprtc",
    .image_size = "GetCodeSize",
    .image = "GetCode",
    .libraries = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", NULL},
    .variables = {"ROCM_PATH", "HIP_PATH"},
    .folders = {"/opt/rocm", "/opt/rocm-*"},
    .program = "hipcc",
    .missing = "libhiprtc.so was not found",
};

static void *call_of(void *library, const char *prefix, const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    return dlsym(library, symbol);
}

static bool load_calls(void *library, const tki_rtc_library *rtc, rtc_calls *calls)
{
    const struct {
        const char *name;
        void **place;
        bool required;
    } table[] = {
        {"Version", (void **)&calls->version, true},
        {"CreateProgram", (void **)&calls->create, true},
        {"CompileProgram", (void **)&calls->compile, true},
        {"DestroyProgram", (void **)&calls->destroy, true},
        {"GetProgramLogSize", (void **)&calls->log_size, true},
        {"GetProgramLog", (void **)&calls->log, true},
        {rtc->image_size, (void **)&calls->image_size, true},
        {rtc->image, (void **)&calls->image, true},
        {"GetPTXSize", (void **)&calls->ptx_size, rtc->gives_ptx},
        {"GetPTX", (void **)&calls->ptx, rtc->gives_ptx},
        {"GetErrorString", (void **)&calls->error, true},
        {"GetNumSupportedArchs", (void **)&calls->architecture_count, false},
        {"GetSupportedArchs", (void **)&calls->architectures, false},
    };
    *calls = (rtc_calls){0};
    bool complete = true;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        *table[i].place = call_of(library, rtc->prefix, table[i].name);
        complete = complete && (*table[i].place || !table[i].required);
    }
    return complete;
}

/* ------------------------------------------------------------------------------------------------------------
 * Finding the library
 * ------------------------------------------------------------------------------------------------------------ */

static void *search(const tki_rtc_library *rtc)
{
    /* The environment's own choice first, then the usual places, then where the compiler on the PATH lies. */
    const char *roots[] = {getenv(rtc->variables[0]), getenv(rtc->variables[1]), rtc->folders[0], rtc->folders[1],
                           NULL};
    enum { ROOTS = sizeof roots / sizeof *roots };
    char program[4096];
    if (tki_program_find(rtc->program, NULL, program, sizeof program)) {
        char *real = realpath(program, NULL);
        snprintf(program, sizeof program, "%s", real ? real : "");
        free(real);
        for (int up = 0; up < 2 && strrchr(program, '/'); up++)
            *strrchr(program, '/') = 0;
        roots[ROOTS - 1] = program;
    }
    void *library = NULL;
    for (int i = 0; rtc->libraries[i] && !library; i++)
        library = tki_library_load(rtc->libraries[i]);
    for (int r = 0; r < ROOTS && !library; r++)
        for (int i = 0; roots[r] && roots[r][0] == '/' && rtc->libraries[i] && !library; i++)
            library = tki_library_search(roots[r], rtc->libraries[i]);
    return library;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void ask_architectures(const rtc_calls *calls, tki_compiler *compiler)
{
    enum { LIMIT = 1024 };
    int count = 0;
    if (!calls->architecture_count || !calls->architectures || calls->architecture_count(&count) || count < 1 ||
        count > LIMIT)
        return;
    int *list = calloc((size_t)count, sizeof *list);
    if (list && calls->architectures(list) == 0) {
        qsort(list, (size_t)count, sizeof *list, ascending);
        /* Of too many, the newest count. */
        int skipped = count > TKI_MOST_ARCHITECTURES ? count - TKI_MOST_ARCHITECTURES : 0;
        compiler->architecture_count = count - skipped;
        memcpy(compiler->architectures, list + skipped, (size_t)compiler->architecture_count * sizeof *list);
    }
    free(list);
}

void tki_rtc_find(const tki_compiler_kind *kind, const char *chosen, tki_compiler *compiler)
{
    const tki_rtc_library *rtc = kind->rtc;
    rtc_calls calls;
    int major = 0, minor = 0;
    compiler->library = chosen ? tki_library_load(chosen) : search(rtc);
    if (!compiler->library) {
        const char *why = chosen ? dlerror() : NULL;
        snprintf(compiler->problem, sizeof compiler->problem, "%s", why ? why : rtc->missing);
        return;
    }
    snprintf(compiler->path, sizeof compiler->path, "%s", tki_library_path(compiler->library));
    if (!load_calls(compiler->library, rtc, &calls)) {
        snprintf(compiler->problem, sizeof compiler->problem, "%.400s lacks required functions", compiler->path);
        return;
    }
    int code = calls.version(&major, &minor);
    if (code) {
        snprintf(compiler->problem, sizeof compiler->problem, "%.400s does not report its version (error %d)",
                 compiler->path, code);
        return;
    }
    snprintf(compiler->version, sizeof compiler->version, "%s %d.%d", kind->name, major, minor);
    compiler->has_own_cache = rtc->cache_major &&
                              (major > rtc->cache_major || (major == rtc->cache_major && minor >= rtc->cache_minor));
    ask_architectures(&calls, compiler);
    tki_compiler_identify(compiler, compiler->path);
}

/* ------------------------------------------------------------------------------------------------------------
 * Compiling
 * ------------------------------------------------------------------------------------------------------------ */

static char *fetch(void *program, int (*size_call)(void *, size_t *), int (*call)(void *, char *), size_t most,
                   size_t *bytes)
{
    *bytes = 0;
    if (size_call(program, bytes) || *bytes == 0 || *bytes > most)
        return NULL;
    char *data = malloc(*bytes + 1);
    if (data && call(program, data)) {
        free(data);
        return NULL;
    }
    if (data)
        data[*bytes] = 0;
    return data;
}

void tki_rtc_compile(const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled)
{
    const tki_source_set *sources = job->sources;
    const char *headers[TKI_SOURCE_HEADERS], *names[TKI_SOURCE_HEADERS], *options[TKI_MOST_OPTIONS];
    rtc_calls calls;
    void *program = NULL;
    for (int i = 0; i < sources->header_count; i++) {
        headers[i] = sources->headers[i].file->text;
        names[i] = sources->headers[i].name;
    }
    for (int i = 0; i < job->option_count; i++)
        options[i] = job->options[i];
    if (!load_calls(compiler->library, compiler->kind->rtc, &calls)) {
        snprintf(compiled->problem, sizeof compiled->problem, "lacks required functions");
        return;
    }
    int code = calls.create(&program, sources->source->text, sources->source->path, sources->header_count, headers,
                            names);
    if (!code) {
        size_t log_bytes;
        code = calls.compile(program, job->option_count, options);
        compiled->log = fetch(program, calls.log_size, calls.log, MOST_LOG, &log_bytes);
    }
    if (code == COMPILATION_FAILED) {
        snprintf(compiled->problem, sizeof compiled->problem, "could not compile it");
    } else if (code) {
        const char *text = calls.error(code);
        snprintf(compiled->problem, sizeof compiled->problem, "failed: %.200s", text ? text : "unknown error");
    } else {
        compiled->image = job->to_ptx
                              ? fetch(program, calls.ptx_size, calls.ptx, MOST_IMAGE, &compiled->image_bytes)
                              : fetch(program, calls.image_size, calls.image, MOST_IMAGE, &compiled->image_bytes);
        if (!compiled->image)
            snprintf(compiled->problem, sizeof compiled->problem, "reported success, but gave no image (%zu bytes)",
                     compiled->image_bytes);
    }
    if (program)
        (void)calls.destroy(&program);
}
