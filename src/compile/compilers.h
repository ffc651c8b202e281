/* RECORDS. The compilers of GPU kernels: which there are here, and how each is called.
 *
 * In order: cuda: NVRTC, nvcc; hip: HIPRTC, hipcc, clang++. TOKITAI_CUDA_COMPILER and TOKITAI_HIP_COMPILER choose one: a name
 * out of these in lower case, or the path of a library or program. */
#pragma once

#include "compile/kernel_sources.h"

enum { TKI_MOST_ARCHITECTURES = 64, TKI_MOST_OPTIONS = 16 };

typedef struct tki_compiler {
    const struct tki_compiler_kind *kind;
    const char *name;   /* "NVRTC" */
    char problem[512];  /* why it cannot be used; "" if it can */
    char path[4096];    /* of its library or program */
    char version[256];  /* "NVRTC 13.0" */
    char identity[512]; /* version and what tells this file from another: size, time, all that it says of itself */
    void *library;      /* run-time compilers; stays loaded */
    bool has_own_cache; /* NVRTC since 12.9; what it finds there comes without the log that tells the resources */
    int architecture_count;
    int architectures[TKI_MOST_ARCHITECTURES]; /* CUDA: 90 for sm_90, ascending; none if the compiler does not tell */
} tki_compiler;

/* The i-th compiler of a backend, usable or not; false past the end. Asking a program for its version takes some time. */
bool tki_compiler_at(const tki_backend *backend, int i, tki_compiler *compiler);

typedef struct tki_compile_job {
    const tki_source_set *sources;
    char architecture[32]; /* as the option says it: "sm_90a" for a Hopper source, "compute_120" for PTX */
    bool to_ptx;           /* the device is newer than the compiler; its driver will do the rest */
    int option_count;
    char options[TKI_MOST_OPTIONS][64];
    double seconds; /* patience with a program */
} tki_compile_job;

typedef struct tki_compiled {
    void *image; /* NULL if it failed; malloc()ed, a zero behind it */
    size_t image_bytes;
    char *log; /* may be NULL; free() it */
    char problem[256];
} tki_compiled;

/* TK_BAD_ARGUMENT if the request's architecture is none of its backend, TK_UNSUPPORTED if its source is for another. */
TK_MUST_USE tk_status tki_architecture_check(const tki_compile_request *request, char *problem, size_t size);

/* Says what would be compiled how; false with compiler->problem set if the compiler does not know the architecture. */
bool tki_compile_plan(tki_compiler *compiler, const tki_compile_request *request, const tki_source_set *sources,
                      tki_compile_job *job);

void tki_compile(const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled);
void tki_compiled_free(tki_compiled *compiled);

typedef struct tki_rtc_library tki_rtc_library; /* compiler_rtc.c */
extern const tki_rtc_library tki_nvrtc, tki_hiprtc;

/* One way to compile. */
typedef struct tki_compiler_kind {
    const tki_backend *backend;
    const char *name; /* "NVRTC" */
    /* A program: its names on the PATH and the folders that are searched behind it, both up to NULL; and how the
     * name of a file begins that the user chose, where several kinds of the backend come into question. */
    const char *const *programs, *const *folders;
    const char *file_begins;
    bool lists_architectures;
    const tki_rtc_library *rtc; /* a library; NULL: a program */
    /* What the kernels use, out of what the compiler printed; NULL: it does not tell. The number of kernels. */
    int (*read_resources)(const char *log, tki_kernel_resources *kernels, int most);
} tki_compiler_kind;

/* compiler_rtc.c, compiler_program.c. `chosen` is the path that the user gave, or NULL. */
void tki_rtc_find(const tki_compiler_kind *kind, const char *chosen, tki_compiler *compiler);
void tki_rtc_compile(const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled);
void tki_program_find_compiler(const tki_compiler_kind *kind, const char *chosen, tki_compiler *compiler);
void tki_program_compile(const tki_compiler *compiler, const tki_compile_job *job, tki_compiled *compiled);

/* Sets compiler->identity out of compiler->version, `says` and the file at compiler->path. */
void tki_compiler_identify(tki_compiler *compiler, const char *says);

/* What another program said, on one line of what can be shown, in a place of `size` bytes. */
void tki_text_flatten(char *text, size_t size);
