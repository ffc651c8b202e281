/* DECIDES. A lowering: one implementation of one op on one backend. Each op folder's lowering.c lists its own, fastest
 * first, the portable one last; runtime/planner.c picks the first that accepts. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

struct tki_lowering;
typedef struct tki_backend tki_backend;   /* drivers/backend.h */
typedef struct tki_gpu tki_gpu;           /* drivers/gpu_info.h */
typedef struct tki_gpu_info tki_gpu_info; /* drivers/gpu_info.h */

/* How a lowering does a case, where it can do it in several ways: numbers that only the lowering understands. */
enum { TKI_CHOICE_NUMBERS = 4, TKI_MOST_CANDIDATES = 512 };
typedef struct tki_choice {
    int number[TKI_CHOICE_NUMBERS];
} tki_choice;

/* One launch. Sizes, alignment and overlap have been checked; index values have not. */
typedef struct tki_call {
    tk_ctx *ctx;
    const struct tki_lowering *lowering;
    const tk_case *c;
    void *const *buffers; /* in contract order; device memory if the lowering's backend is a GPU's */
    void *scratch;        /* 64-byte aligned (device memory: 256), as many bytes as the lowering asked for */
    tki_choice choice;    /* one of candidates(), of lowerings that have a choice */
    int threads;
    /* GPU lowerings only: where to launch, and the word in device memory that takes the first bad index. */
    tki_gpu *gpu;
    void *stream;
    uint64_t *fault_word;
    uint32_t (*left_out_words)[2]; /* the members of tki_left_out, each of two words: kernels add to them */
    bool prepare_only;             /* load the kernels that this call would launch, and launch none */
} tki_call;

typedef struct tki_lowering {
    const tki_backend *backend;
    const char *variant;
    /* NULL, or the reason why this lowering does not take the case. The only capability test there is. `device` is the GPU that
     * a GPU lowering would run on, NULL for those of the CPU. */
    const char *(*accept)(const tk_case *c, const tki_gpu_info *device);
    const char *(*refusal)(
        const tk_case *c); /* the same, in place of accept(), of what a program registered; NULL: it takes all */
    /* NULL: none. Buffers that are not known yet are NULL, and count as well aligned. */
    size_t (*scratch_bytes)(const tki_call *call);
    /* NULL: nothing to choose. What it returns depends on the lowering and the case alone; it is kept for calls that come again. */
    tki_choice (*choose)(const struct tki_lowering *lowering, const tk_case *c);
    /* With choose(): the choices by which the lowering can do the case, at most `most`, those that are expected to be the fastest first; their
     * number. What a file says is launched only if it is one of them. */
    int (*candidates)(const struct tki_lowering *lowering, const tk_case *c, tki_choice *list, int most);
    tk_status (*launch)(const tki_call *call);
    const void *
        kernels; /* the op's table for this lowering's instruction set; the tk_implementation of what a program registered */
    tk_determinism determinism;
    const char *promise; /* text for people, or NULL */
    /* Of a kernel that leaves terms out, and counts them in the context's left_out, on a GPU in left_out_words: the file and the two
     * theorems by which slices and parts of tiles may be. */
    const char *leaves_out_by[3];
    bool promises_bound; /* judged by the smaller bound that the oracle knows as the promise */
    bool promises_bits;  /* judged bit for bit */
    int numerics; /* matrix products: judged by this choice of the attribute, TKI_NUMERICS_IEEE or _TENSOR_CORE */
    bool only_16_bits;  /* takes no fp32 elements, and its source is not compiled for them; results may be fp32 */
    const char *source; /* the kernel's file, "ops/gelu/kernel_cpu.c": its hash goes into the certificate */
} tki_lowering;

/* Buffers come as void * for inputs and outputs alike; lowerings do not write inputs. */
static inline void *tki_input(const void *data)
{
    return (void *)(uintptr_t)data;
}

/* All lowerings of an op, fastest first; the list ends with one whose backend is NULL. */
TKI_EXPORT const tki_lowering *tki_lowerings_of(const tk_contract *contract);

enum { TKI_ID_SIZE = 128 };
enum { TKI_TYPES_TEXT = 16 }; /* room for "bf16-f32" */

/* "cpu.embedding_bwd.f16.scalar.i64"; truncated to fit. */
TKI_EXPORT void tki_lowering_id(const tki_lowering *lowering, const tk_case *c, char *text, size_t size);

/* The last part of an id: ".i64" for 64-bit indices, otherwise "". */
TKI_EXPORT const char *tki_id_ending(const tk_case *c);
