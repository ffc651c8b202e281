/* RECORDS. Where sections lie: what shards say of themselves, what an index or a manifest says, or rules. docs/glue.md describes the forms.
 *
 * A placement is {"shard": 1, "of": 4, "checkpoint": id, "step": "100", "sections": {NAME: {"tensor": NAME, "shape": [...],
 * "start": [...], "sha256": "..."}}}, all of it optional. In a shard it is a string in __metadata__, TKI_PLACEMENT_KEY; in a manifest it
 * stands beside "file" and "sha256". */
#pragma once

#include "glue/checkpoint.h"

#define TKI_PLACEMENT_KEY "tokitai.placement"
#define TKI_MANIFEST_KEY "tokitai_manifest" /* its value is 1 */

enum { TKI_INDEX_MOST_BYTES = TKI_SAFETENSORS_HEADER_MOST };

/* An index or a manifest, whole and checked; the caller's. */
TK_MUST_USE tk_status tki_index_read(tk_ctx *ctx, const char *path, json_t **index);

/* The same of a text, for whoever has it; `what` is for messages. */
TK_MUST_USE tk_status tki_index_parse(tk_ctx *ctx, const char *what, const char *text, size_t length, json_t **index);

/* A placement from its text, checked; the caller's. */
TK_MUST_USE tk_status tki_placement_parse(tk_ctx *ctx, const char *what, const char *text, size_t length,
                                          json_t **placement);

/* Adds the section of a local tensor, by the shard's placement or as a whole tensor; a place that it does not fit is an obstruction. */
TK_MUST_USE tk_status tki_place_section(tk_ctx *ctx, tki_checkpoint *checkpoint, uint32_t shard,
                                        const tki_tensor *local);

/* Adds the sections of all tensors by rules. */
TK_MUST_USE tk_status tki_place_by_rules(tk_ctx *ctx, tki_checkpoint *checkpoint, const tki_rule *rules,
                                         size_t rule_count);

/* The first rule that fits the name; NULL: none. */
const tki_rule *tki_rule_for(const tki_rule *rules, size_t rule_count, const char *name);
