/* RECORDS. On what a certificate rests: the kernel's source, compiler and options, the artifact, the machine. */
#pragma once

#include "compile/compiled_kernel.h"
#include "core/hash.h"
#include "runtime/gpu.h"
#include "tokitai_verify.h"

typedef struct tki_provenance {
    /* What holds the kernel: the library, the program if it is static, or a file of the cache. */
    char artifact_path[4096];
    char artifact_hash[TKI_HASH_HEX];
    const char *source; /* "ops/gelu/kernel_cpu.c"; NULL for a function that we did not build */
    char source_hash[TKI_HASH_HEX];
    char text_hash[TKI_HASH_HEX]; /* of a kernel file as it was preprocessed; "" if that is not known */
    unsigned uses;                /* of a kernel file: bits 1 << tki_use */
    char compiler[256];
    char options[2048];
    tk_device device; /* the processor */
    bool on_gpu;      /* then also: */
    tki_gpu_info gpu;
    int kernel_count;
    tki_kernel_resources kernels[TKI_COMPILED_KERNELS];
    /* "" or what else is to be known of how it was built or found: a damaged entry of the cache, PTX. */
    char note[512];
    char log[4096]; /* a kernel file that does not compile: the beginning of what the compiler said */
} tki_provenance;

/* `lowering` may be NULL; `code` is an address inside the object file of a kernel that runs on the CPU. A GPU's kernel is compiled, or
 * found in the cache, for the device of the context. */
/* Of an implementation that a program registered: its code is the program's, and of its source is known what the program says. */
TK_MUST_USE tk_status tki_provenance_of_program(tk_ctx *ctx, const tk_implementation *implementation,
                                                tki_provenance *provenance);

TK_MUST_USE tk_status tki_provenance_find(tk_ctx *ctx, const tki_lowering *lowering, tk_types types, uintptr_t code,
                                          tki_provenance *provenance);

/* Of a kernel file. One that does not compile has its source for an artifact. */
TK_MUST_USE tk_status tki_provenance_of_file(tk_ctx *ctx, const tk_kernel_file *kernel, tki_provenance *provenance);

/* SHA-256 of contract, subject, settings (as tki_settings_text() has them), artifact, options and device: what a certificate is found
 * again by. */
TK_MUST_USE bool tki_provenance_key(const tki_provenance *provenance, const tk_contract *contract,
                                    const char *subject, const char *settings, char key[TKI_HASH_HEX]);
