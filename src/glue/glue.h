/* RECORDS. Sharded tensors, for the program: open a checkpoint, glue it, split it, compare two. An obstruction is no failure of a call: the
 * outcome lists it. docs/glue.md says what each means. */
#pragma once

#include "core/export.h"
#include "glue/obstruction.h"
#include "tokitai_verify.h"

/* -- Checkpoints --------------------------------------------------------------------------------------------- */

typedef struct tki_checkpoint tki_checkpoint;

/* How tensors with a name that fits the pattern (fnmatch) are cut: along an axis, which counts from the end if it is negative, or not. */
typedef struct tki_rule {
    const char *pattern;
    int axis;
    bool replicated;
    bool if_it_can; /* tensors without such an axis are replicated; otherwise that is an obstruction */
} tki_rule;

/* Opens shards: safetensors files; or one index.json or manifest that names them; or a folder of either. With rules the placements come
 * from these, the first that fits, and nothing else may place sections; tensors that none fits are replicated. */
TKI_EXPORT TK_MUST_USE tk_status tki_checkpoint_open(tk_ctx *ctx, char *const *paths, size_t count,
                                                     const tki_rule *rules, size_t rule_count,
                                                     tki_checkpoint **checkpoint);
TKI_EXPORT void tki_checkpoint_close(tki_checkpoint *checkpoint); /* NULL is allowed */
TKI_EXPORT const tki_obstructions *tki_checkpoint_obstructions(const tki_checkpoint *checkpoint);

/* -- Gluing and splitting ------------------------------------------------------------------------------------ */

/* Sections of tensors with a name that fits may differ by so many ulps, since they were computed on different devices. */
typedef struct tki_tolerance {
    const char *pattern;
    uint64_t ulps;
} tki_tolerance;

typedef struct tki_glue_options {
    const tki_tolerance *tolerances;
    size_t tolerance_count;
    const char
        *primary; /* path of the shard whose elements are taken where others differ within a tolerance; NULL: none */
    bool accept_majority; /* of at least three replicas */
    const tk_key *key;    /* signs the certificate; NULL: none */
    bool skip_certificate;
    tk_progress progress; /* may be NULL */
    void *progress_data;
} tki_glue_options;

typedef enum tki_glue_verdict { TKI_GLUED, TKI_CHOSEN, TKI_OBSTRUCTED } tki_glue_verdict;

TKI_EXPORT const char *tki_glue_verdict_name(tki_glue_verdict verdict); /* "GLUED", "CHOSEN", "OBSTRUCTED" */

typedef struct tki_glue_outcome {
    tki_glue_verdict verdict;
    size_t tensors, sections;
    int64_t bytes_read, bytes_written;
    size_t replicas, overlaps; /* pairs that were compared */
    int64_t elements_compared; /* against another section's */
    json_t *report;            /* verdict, counts, comparisons, obstructions; of the certificate, if there is one */
    char *certificate;         /* path; NULL: none */
} tki_glue_outcome;

TKI_EXPORT void tki_glue_outcome_free(tki_glue_outcome *outcome);

/* Writes OUT and OUT.glue.json, or nothing if there is an obstruction. */
TKI_EXPORT TK_MUST_USE tk_status tki_glue(tk_ctx *ctx, tki_checkpoint *checkpoint, const char *out,
                                          const tki_glue_options *options, tki_glue_outcome *outcome);

typedef struct tki_layout {
    int count;    /* parts */
    int replicas; /* of each part; at least 1 */
    int64_t halo; /* elements of its neighbours that a part has on each side */
    int axis;     /* of tensors that no rule fits */
    bool whole;   /* tensors that no rule fits are not cut: each goes to one shard */
    const tki_rule *rules;
    size_t rule_count;
    const char *step; /* NULL: as in what is split */
} tki_layout;

/* Glues and splits in one pass: writes PREFIX-00001-of-0000N.safetensors and so on, or nothing. */
TKI_EXPORT TK_MUST_USE tk_status tki_split(tk_ctx *ctx, tki_checkpoint *checkpoint, const char *prefix,
                                           const tki_layout *layout, const tki_glue_options *options,
                                           tki_glue_outcome *outcome);

/* -- Certificates -------------------------------------------------------------------------------------------- */

/* Whether a file looks like the certificate of gluing, by its predicate. */
TKI_EXPORT bool tki_is_glue_certificate(tk_ctx *ctx, const char *path);

/* TK_OK if every byte is as it was written, what it says agrees with itself, and it is signed by the key, if one is given; TK_BAD_FILE
 * otherwise. `line` says what it is about, free() it; `is_signed` whether anybody has signed it. */
TKI_EXPORT TK_MUST_USE tk_status tki_glue_certificate_check(tk_ctx *ctx, const char *path, const tk_key *key,
                                                            char **line, bool *is_signed);

/* -- Comparing ----------------------------------------------------------------------------------------------- */

typedef struct tki_difference {
    const char *tensor;
    const char *problem; /* "only in A", "only in B", "dtype", "shape"; NULL: both have it */
    const char *dtype;
    int rank;
    int64_t elements, differing;                                    /* bit by bit */
    int64_t nans;                                                   /* a NaN in one and a number in the other */
    uint64_t worst_ulps;                                            /* of those that are numbers, or NaN, in both */
    int64_t first[TKI_TENSOR_MAX_RANK], worst[TKI_TENSOR_MAX_RANK]; /* indices, if any differ */
    char texts[2][TKI_ELEMENT_TEXT];                                /* of the worst */
} tki_difference;

/* Calls `found` for each tensor by name, equal or not. Each checkpoint has to glue on its own: the first obstruction ends the call, with
 * TK_BAD_FILE. */
typedef void (*tki_difference_found)(const tki_difference *difference, void *data);
TKI_EXPORT TK_MUST_USE tk_status tki_checkpoint_diff(tk_ctx *ctx, tki_checkpoint *a, tki_checkpoint *b,
                                                     tki_difference_found found, void *found_data,
                                                     tk_progress progress, void *progress_data);
