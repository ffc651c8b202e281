/* UNTRUSTED. What was measured to be the fastest choice of a lowering on a device, case by case: KEY.tuning in the folder of artifacts.
 *
 *     tokitai tuning 1
 *     key 5f1c...                      of the fields below up to the source's hash
 *     backend cuda
 *     device NVIDIA H200
 *     architecture sm_90
 *     units 132
 *     lowering cuda.gemm.bf16.hopper
 *     source ops/product/kernel_gemm_hopper.cu
 *     source_hash 77be...              of the source and everything it includes
 *     cases 1
 *     case 4096x4096x1024 1 16 0 2 61234 59876   the choice; nanoseconds of what the model chooses, and of this
 *     hash 9c01...                     SHA-256 of all lines above
 *
 * Nothing else is taken. The numbers of a choice are only a proposal: whoever launches asks the lowering first. */
#pragma once

#include "compile/digest.h"
#include "model/lowering.h"

enum { TKI_TUNED_CASES = 1 << 16, TKI_TUNED_TEXT = 160 };

typedef struct tki_tuned_case {
    char text[TKI_TUNED_TEXT]; /* tki_tuning_case_text() */
    tki_choice choice;
    uint64_t model_ns, best_ns;
} tki_tuned_case;

typedef struct tki_tuning {
    char key[TKI_DIGEST_HEX];
    char backend[8];
    char device[128];
    char architecture[32];
    int units;
    char lowering[TKI_ID_SIZE];
    char source[128];
    char source_hash[TKI_DIGEST_HEX];
    int case_count;
    tki_tuned_case *cases; /* [case_count] */
} tki_tuning;

/* The file's bytes; free() them. NULL without memory or if the digest failed. */
char *tki_tuning_encode(tki_digest *digest, const tki_tuning *tuning, size_t *bytes);

/* `key`, if not NULL, is the one it must have. On failure nothing has to be freed and `problem` says what is wrong. */
bool tki_tuning_decode(tki_digest *digest, const char *data, size_t bytes, const char *key, tki_tuning *tuning,
                       char *problem, size_t problem_size);
void tki_tuning_free(tki_tuning *tuning);

/* "4096x4096x1024", and what kernels see of attributes: "8x8x8,epilogue=bias" */
void tki_tuning_case_text(const tk_case *c, char text[TKI_TUNED_TEXT]);
const tki_tuned_case *tki_tuning_find(const tki_tuning *tuning, const char *text); /* or NULL */

/* Of a lowering on the context's GPU, for the types of this case. Without a file, or with one that is damaged, which is a note, it has no
 * cases. */
void tki_tuning_load(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, tki_tuning *tuning);

/* Adds the case to the file, or replaces it there. TK_IO if it cannot be written. */
TK_MUST_USE tk_status tki_tuning_keep(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c,
                                      const tki_tuned_case *tuned);
