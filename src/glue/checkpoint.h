/* RECORDS. A checkpoint: shards, and where the sections in them lie in whole tensors. */
#pragma once

#include "core/hash.h"
#include "glue/glue.h"
#include "glue/obstruction.h"

typedef struct tki_shard {
    char *path;
    tki_safetensors file;
    bool is_open;
    json_t *placement; /* as placement.h has it; NULL: none */
    json_t *recorded;  /* the entry of the manifest, in which also the file's SHA-256 may be; or NULL */
    char *step;        /* as it is written there; NULL: unknown */
} tki_shard;

typedef struct tki_section {
    const char *tensor; /* name of the whole tensor; into a shard's or the manifest's JSON */
    uint32_t shard;
    const tki_tensor *local;
    int rank; /* of the whole tensor */
    int64_t shape[TKI_TENSOR_MAX_RANK];
    tki_box box;
    const char *expected; /* SHA-256 that was recorded for its bytes; NULL: none */
    char sha256[TKI_HASH_HEX];
    bool outvoted; /* by the other replicas */
} tki_section;

/* A tensor with all of its sections. */
typedef struct tki_whole {
    const char *name;
    tk_dtype type;
    int rank;
    int64_t shape[TKI_TENSOR_MAX_RANK];
    tki_section *sections; /* [count] */
    size_t count;
    bool obstructed; /* its sections do not even fit together; no data is compared */
    bool has_gap;
} tki_whole;

struct tki_checkpoint {
    const char *placed_by; /* "metadata", "index", "manifest", "options" */
    tki_shard *shards;
    size_t shard_count;
    json_t *index;    /* the index or the manifest; or NULL */
    char *index_path; /* or NULL */
    tki_section *sections;
    size_t section_count, section_room;
    tki_whole *tensors; /* [tensor_count], by name */
    size_t tensor_count;
    int64_t bytes; /* of all sections */
    tki_obstructions obstructions;
};

/* Refuses an output, a path and an ending behind it, that is one of the shards or their index, by whatever name: they are what the result
 * can be checked against. */
TK_MUST_USE tk_status tki_checkpoint_spares(tk_ctx *ctx, const tki_checkpoint *checkpoint, const char *out,
                                            const char *ending);

/* Refuses a pattern that matches no tensor, unless a shard is missing, which may have one. `what` is for the message. */
TK_MUST_USE tk_status tki_checkpoint_fits(tk_ctx *ctx, const tki_checkpoint *checkpoint, const char *what,
                                          const char *pattern);

/* The same of all rules that have to match. */
TK_MUST_USE tk_status tki_rules_fit(tk_ctx *ctx, const tki_checkpoint *checkpoint, const tki_rule *rules,
                                    size_t count);

/* All tensors as tki_safetensors_lay_out() orders them; free() it. NULL: no memory. */
tki_whole **tki_checkpoint_ordered(const tki_checkpoint *checkpoint);

/* Refuses shards that were written to since they were opened: what was hashed may not be what was compared. */
TK_MUST_USE tk_status tki_checkpoint_is_unchanged(tk_ctx *ctx, const tki_checkpoint *checkpoint);

static inline const unsigned char *tki_section_bytes(const tki_checkpoint *checkpoint, const tki_section *section)
{
    const tki_safetensors *file = &checkpoint->shards[section->shard].file;
    return file->bytes + file->data_at + section->local->begin;
}
