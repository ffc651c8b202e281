/* RECORDS. Which compilers there are, in the order in which they are tried, and what they are told. */
#include "compile/compilers.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compile/kernel_resources.h"
#include "core/escape.h"

/* The version of clang that was tested most comes first. */
static const char *const clang_names[] = {"clang++-19", "clang++-20", "clang++-21", "clang++-22",
                                          "clang++-18", "clang++-17", "clang++",    NULL};
static const char *const nvcc_names[] = {"nvcc", NULL};
static const char *const hipcc_names[] = {"hipcc", NULL};
static const char *const cuda_folders[] = {"/usr/local/cuda/bin", NULL};
static const char *const hip_folders[] = {"/opt/rocm/bin", "/opt/rocm/llvm/bin", NULL};

static const tki_compiler_kind kinds[] = {
    {.backend = &tki_backends[TKI_CUDA],
     .name = "NVRTC",
     .rtc = &tki_nvrtc,
     .read_resources = tki_resources_of_ptxas},
    {.backend = &tki_backends[TKI_CUDA],
     .name = "nvcc",
     .programs = nvcc_names,
     .folders = cuda_folders,
     .file_begins = "",
     .lists_architectures = true,
     .read_resources = tki_resources_of_ptxas},
    {.backend = &tki_backends[TKI_HIP], .name = "HIPRTC", .rtc = &tki_hiprtc},
    {.backend = &tki_backends[TKI_HIP],
     .name = "hipcc",
     .programs = hipcc_names,
     .folders = hip_folders,
     .file_begins = "hipcc",
     .read_resources = tki_resources_of_clang},
    {.backend = &tki_backends[TKI_HIP],
     .name = "clang",
     .programs = clang_names,
     .folders = hip_folders,
     .file_begins = "",
     .read_resources = tki_resources_of_clang},
};

enum { KINDS = sizeof kinds / sizeof *kinds, DEFAULT_SECONDS = 300 };

void tki_text_flatten(char *text, size_t size)
{
    for (char *p = text; *p; p++)
        *p = *p == '\n' || *p == '\t' ? ' ' : *p;
    tki_escape_in_place(text, size);
}

void tki_compiler_identify(tki_compiler *compiler, const char *says)
{
    struct stat about = {0};
    (void)stat(compiler->path, &about);
    snprintf(compiler->identity, sizeof compiler->identity, "%s; %lld bytes of %lld.%09ld; %s", compiler->version,
             (long long)about.st_size, (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, says);
    tki_text_flatten(compiler->version, sizeof compiler->version);
    tki_text_flatten(compiler->identity, sizeof compiler->identity);
}

/* Does the user's choice mean this kind? `path` receives the choice if it is a path. */
static bool is_chosen(const tki_compiler_kind *kind, const char *choice, const char **path)
{
    const char *slash = strrchr(choice, '/');
    *path = slash ? choice : NULL;
    if (!slash)
        return !strcasecmp(choice, kind->name);
    if (kind->rtc || !strncmp(slash, "/lib", 4))
        return kind->rtc && !strncmp(slash, "/lib", 4);
    for (const tki_compiler_kind *k = kinds; k < kinds + KINDS; k++)
        if (k->backend == kind->backend && !k->rtc && !strncmp(slash + 1, k->file_begins, strlen(k->file_begins)))
            return k == kind;
    return false;
}

/* What all compilers of a backend are told. */
typedef struct dialect {
    const char *variable;     /* in the environment: which compiler to use */
    const char *architecture; /* for example */
    bool (*is_architecture)(const char *architecture);
    /* Sets job->architecture; false, with compiler->problem, if the compiler does not know it. */
    bool (*choose_architecture)(tki_compiler *compiler, const tki_compile_request *request, bool hopper,
                                tki_compile_job *job);
    void (*add_options)(tki_compile_job *job, const tki_compiler *compiler, tk_types types);
} dialect;

static const dialect *dialect_of(const tki_backend *backend);

bool tki_compiler_at(const tki_backend *backend, int i, tki_compiler *compiler)
{
    const tki_compiler_kind *kind = NULL;
    for (int k = 0; k < KINDS && !kind; k++)
        if (kinds[k].backend == backend && i-- == 0)
            kind = &kinds[k];
    if (!kind)
        return false;
    *compiler = (tki_compiler){.kind = kind, .name = kind->name};
    const char *variable = dialect_of(backend)->variable;
    const char *choice = getenv(variable);
    const char *path = NULL;
    if (choice && *choice && !is_chosen(kind, choice, &path))
        snprintf(compiler->problem, sizeof compiler->problem, "not used: %s is '%.200s'", variable, choice);
    else
        (kind->rtc ? tki_rtc_find : tki_program_find_compiler)(kind, path, compiler);
    return true;
}

/* "sm_90" gives 90; -1 if it is not of this form. */
static int cuda_number(const char *architecture)
{
    char *end;
    if (strncmp(architecture, "sm_", 3) != 0 || !isdigit((unsigned char)architecture[3]))
        return -1;
    long number = strtol(architecture + 3, &end, 10);
    return number < 1000 && (!*end || (isalpha((unsigned char)*end) && !end[1])) ? (int)number : -1;
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), end = strlen(ending);
    return length >= end && !strcmp(path + length - end, ending);
}

static bool is_hopper_source(const char *path)
{
    return ends_in(path, "_hopper.cu");
}

static bool is_tensor_source(const char *path)
{
    return ends_in(path, "_tensor.cu");
}

static double patience(void)
{
    const char *text = getenv("TOKITAI_COMPILE_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 && seconds < 86400 ? seconds : DEFAULT_SECONDS;
}

__attribute__((format(printf, 2, 3))) static void add_option(tki_compile_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->options[job->option_count++], sizeof job->options[0], format, arguments);
    va_end(arguments);
}

static void add_types(tki_compile_job *job, tk_types types)
{
    add_option(job, "-DTKI_DTYPE=%d", (int)types.dtype);
    if (types.result_dtype != types.dtype)
        add_option(job, "-DTKI_RESULT_DTYPE=%d", (int)types.result_dtype);
}

static void add_cuda_options(tki_compile_job *job, const tki_compiler *compiler, tk_types types)
{
    if (compiler->kind->rtc) {
        add_option(job, "--gpu-architecture=%s", job->architecture);
        add_option(job, "--std=c++17");
        add_option(job, "-default-device");
        add_option(job, "--ptxas-options=-v");
        if (compiler->has_own_cache)
            add_option(job, "--no-cache");
    } else {
        add_option(job, job->to_ptx ? "-ptx" : "-cubin");
        add_option(job, "-arch=%s", job->architecture);
        add_option(job, "-std=c++17");
        add_option(job, "-Xptxas=-v");
        add_option(job, "-I.");
    }
    add_option(job, "--fmad=false");
    add_types(job, types);
}

static void add_hip_options(tki_compile_job *job, const tki_compiler *compiler, tk_types types)
{
    add_option(job, "--offload-arch=%s", job->architecture);
    add_option(job, "-O3");
    add_option(job, "-std=c++17");
    add_option(job, "-ffp-contract=off");
    add_types(job, types);
    if (compiler->kind->rtc)
        return;
    add_option(job, "-nogpuinc");
    add_option(job, "-nogpulib");
    add_option(job, "--cuda-device-only");
    add_option(job, "--no-gpu-bundle-output");
    add_option(job, "-Rpass-analysis=kernel-resource-usage");
    add_option(job, "-I.");
    add_option(job, "-xhip");
}

static bool choose_cuda_architecture(tki_compiler *compiler, const tki_compile_request *request, bool hopper,
                                     tki_compile_job *job)
{
    int number = cuda_number(request->architecture);
    int known = compiler->architecture_count;
    int newest = known ? compiler->architectures[known - 1] : number;
    bool knows = known == 0;
    for (int i = 0; i < known; i++)
        knows |= compiler->architectures[i] == number;
    if (knows) {
        snprintf(job->architecture, sizeof job->architecture, "%s%s", request->architecture,
                 hopper && !strcmp(request->architecture, "sm_90") ? "a" : "");
        return true;
    }
    if (number > newest && !hopper) {
        job->to_ptx = true;
        snprintf(job->architecture, sizeof job->architecture, "compute_%d", newest);
        return true;
    }
    snprintf(compiler->problem, sizeof compiler->problem, "%s does not support %s; it supports sm_%d to sm_%d",
             compiler->version, request->architecture, compiler->architectures[0], newest);
    return false;
}

static bool is_cuda_architecture(const char *architecture)
{
    return cuda_number(architecture) >= 0;
}

static bool is_hip_architecture(const char *architecture)
{
    return !strncmp(architecture, "gfx", 3) && isxdigit((unsigned char)architecture[3]);
}

static bool choose_hip_architecture(tki_compiler *compiler, const tki_compile_request *request, bool hopper,
                                    tki_compile_job *job)
{
    (void)compiler;
    (void)hopper;
    snprintf(job->architecture, sizeof job->architecture, "%s", request->architecture);
    return true;
}

static const dialect *dialect_of(const tki_backend *backend)
{
    static const dialect dialects[TKI_BACKENDS] = {
        [TKI_CUDA] = {"TOKITAI_CUDA_COMPILER", "sm_90", is_cuda_architecture, choose_cuda_architecture,
                      add_cuda_options},
        [TKI_HIP] = {"TOKITAI_HIP_COMPILER", "gfx942", is_hip_architecture, choose_hip_architecture, add_hip_options},
    };
    return &dialects[backend - tki_backends];
}

tk_status tki_architecture_check(const tki_compile_request *request, char *problem, size_t size)
{
    const char *architecture = request->architecture;
    const dialect *d = dialect_of(request->backend);
    bool good = strlen(architecture) < 32 &&
                strspn(architecture, "abcdefghijklmnopqrstuvwxyz0123456789_:+-") == strlen(architecture) &&
                d->is_architecture(architecture);
    if (!good) {
        snprintf(problem, size, "'%.64s' is not an architecture of %s; an example is %s", architecture,
                 request->backend->name, d->architecture);
        return TK_BAD_ARGUMENT;
    }
    if (is_hopper_source(request->source) && cuda_number(architecture) != 90) {
        snprintf(problem, size, "%s is for sm_90 only, not for %s", request->source, architecture);
        return TK_UNSUPPORTED;
    }
    if (is_tensor_source(request->source) && !tki_has_matrix_units(architecture)) {
        snprintf(problem, size, "%s needs matrix units, which %s is not known to have", request->source,
                 architecture);
        return TK_UNSUPPORTED;
    }
    return TK_OK;
}

bool tki_compile_plan(tki_compiler *compiler, const tki_compile_request *request, const tki_source_set *sources,
                      tki_compile_job *job)
{
    *job = (tki_compile_job){.sources = sources, .seconds = patience()};
    const dialect *d = dialect_of(request->backend);
    if (!d->choose_architecture(compiler, request, is_hopper_source(sources->source->path), job))
        return false;
    d->add_options(job, compiler, request->types);
    return true;
}

/* A driver would refuse anything else, but less clearly: an ELF file, a bundle of them, or PTX. */
static bool is_image(const tki_compile_job *job, const char *image, size_t bytes)
{
    static const char elf[] = "\177ELF", bundle[] = "__CLANG_OFFLOAD_BUNDLE__", ptx[] = ".version";
    if (job->to_ptx)
        return memmem(image, bytes, ptx, sizeof ptx - 1) != NULL;
    return (bytes >= 64 && !memcmp(image, elf, sizeof elf - 1)) ||
           (bytes >= 64 && !memcmp(image, bundle, sizeof bundle - 1));
}

void tki_compile(const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled)
{
    *compiled = (tki_compiled){0};
    (compiler->kind->rtc ? tki_rtc_compile : tki_program_compile)(compiler, job, compiled);
    if (compiled->image && !is_image(job, compiled->image, compiled->image_bytes)) {
        snprintf(compiled->problem, sizeof compiled->problem,
                 "reported success, but its %zu bytes are not a kernel image", compiled->image_bytes);
        free(compiled->image);
        compiled->image = NULL;
    }
}

void tki_compiled_free(tki_compiled *compiled)
{
    free(compiled->image);
    free(compiled->log);
    *compiled = (tki_compiled){0};
}

bool tki_compilers_describe(const tki_backend *backend, const char *architecture, char *text, size_t size)
{
    const tki_compile_request request = {.backend = backend, .source = "", .architecture = architecture};
    tki_compiler compiler;
    size_t used = 0;
    if (architecture && tki_architecture_check(&request, text, size) != TK_OK)
        return false;
    if (size)
        text[0] = 0;
    for (int i = 0; tki_compiler_at(backend, i, &compiler); i++) {
        tki_compile_job job = {0};
        if (!compiler.problem[0] &&
            (!architecture || dialect_of(backend)->choose_architecture(&compiler, &request, false, &job))) {
            snprintf(text, size, "%s (%s)", compiler.version, compiler.path);
            return true;
        }
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s: %s", i ? "; " : "", compiler.name,
                                     compiler.problem);
    }
    return false;
}
