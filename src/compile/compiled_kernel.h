/* CHOOSES. Kernels compiled at run time: source in the library, binary in the user's cache directory.
 *
 * The key of an artifact is the SHA-256 of its source and everything it includes, the options, the compiler's identity and version,
 * and the architecture. An entry is built in a temporary file, synced, renamed; another process that builds the same
 * one waits. Before every load its hash is checked again; a truncated, swapped or edited entry is reported and rebuilt. */
#pragma once

#include "core/export.h"
#include "drivers/backend.h"
#include "model/format.h"
#include "tokitai_cache.h"

/* Element types that device code is compiled for. */
static inline bool tki_is_compiled_type(tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    return f.number == TKI_FLOATING ? f.bits >= 16 : dtype == TK_U64;
}

enum { TKI_DIGEST_HEX = 65, TKI_COMPILED_KERNELS = TK_MAX_KERNELS };

typedef struct tki_compile_request {
    const tki_backend *backend; /* a GPU's */
    const char *source;         /* "ops/gelu/kernel.cu", one of those embedded in the library */
    const char *architecture;   /* "sm_90", "gfx942" */
    tk_types types; /* of floating point: -DTKI_DTYPE=0 for f16, 1 for bf16, 2 for f32; where the results are
                                 * of another type, -DTKI_RESULT_DTYPE= too */
} tki_compile_request;

typedef tk_kernel_resources tki_kernel_resources;

typedef struct tki_compiled_kernel {
    void *image; /* what the driver loads; a zero behind it, for PTX is text */
    size_t image_bytes;
    char key[TKI_DIGEST_HEX];
    char hash[TKI_DIGEST_HEX];        /* of the image */
    char source_hash[TKI_DIGEST_HEX]; /* of the source and everything it includes */
    char backend[8];
    char source[128];
    tk_types types;
    char architecture[32]; /* as compiled for: "sm_90a", or "compute_120" if the device is newer than the compiler */
    char compiler[256];    /* "NVRTC 13.0", "clang version 19.1.7" */
    char identity[512];    /* of the compiler: its version and what tells its file from another */
    char options[1024];
    char warnings[512]; /* of the compiler, one after the other; "" if none */
    char path[4096];    /* its file in the cache; "" if the cache could not be written */
    char note[512];     /* "" or what was wrong with the cache: a damaged entry that was rebuilt, a full disk */
    int kernel_count;
    tki_kernel_resources kernels[TKI_COMPILED_KERNELS];
    bool was_cached;
    double seconds; /* to find or build it */
    int hold;       /* a file descriptor plus 1 that keeps the entry from being removed to make room; 0: none */
} tki_compiled_kernel;

/* Finds or builds. Fails with TK_UNAVAILABLE if there is no compiler (the message names every one that was tried and why it did not
 * serve), TK_INTERNAL with the compiler's output if the source does not compile. */
TKI_EXPORT TK_MUST_USE tk_status tki_compiled_kernel_get(tk_ctx *ctx, const tki_compile_request *request,
                                                         tki_compiled_kernel *artifact);
TKI_EXPORT void tki_compiled_kernel_free(tki_compiled_kernel *artifact);

/* The i-th embedded kernel source; NULL past the end. */
const char *tki_compiled_source_at(int i);

/* The compiler that would be used for an architecture, or for any if it is NULL, with its version and path; or false, and why each
 * cannot be used. */
enum { TKI_COMPILERS_TEXT = 4608 }; /* room for whatever it says */
bool tki_compilers_describe(const tki_backend *backend, const char *architecture, char *text, size_t size);
