/* RECORDS. The certificate of gluing: an in-toto Statement like that of kernels, with a predicate of its own. */
#pragma once

#include "glue/join.h"

#define TKI_GLUE_PREDICATE_TYPE "urn:tokitai:glue-certificate:v1"

/* The theorem that an outcome without obstruction stands on; NULL if this version has none of that name. */
json_t *tki_glue_theorem(void);
/* The sentences of a certificate, made of the rest of its predicate. */
json_t *tki_glue_evidence(const json_t *predicate);
json_t *tki_glue_non_claims(void);

/* TK_BAD_FILE if something in a predicate does not follow from the rest of it, or its sections leave an element out. */
TK_MUST_USE tk_status tki_glue_agrees(tk_ctx *ctx, const json_t *predicate);

/* Writes PATH.glue.json and, if the options have a key, PATH.glue.dsse.json, for the files with these SHA-256. The predicate is the
 * outcome's report, completed here. */
TK_MUST_USE tk_status tki_glue_certificate_write(tki_join *join, const char *path, char *const *subjects,
                                                 char (*sha256)[TKI_HASH_HEX], size_t count);

/* Removes what that has written: its files did not appear. */
void tki_glue_certificate_withdraw(const tki_join *join, const char *path);

/* Refuses a path for which that would replace a shard, or what names the shards. */
TK_MUST_USE tk_status tki_glue_certificate_spares(const tki_join *join, const char *path);
