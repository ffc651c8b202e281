/* RECORDS. The report of a pass, and the certificate around it. */
#include "glue/glue_certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certify/certificate.h"
#include "certify/signed_envelope.h"
#include "core/context.h"
#include "core/file.h"
#include "glue/json.h"

#define STATEMENT_ENDING ".glue.json"
#define ENVELOPE_ENDING ".glue.dsse.json"

json_t *tki_glue_theorem(void)
{
    tk_theorem theorem;
    for (int i = 0; tk_theorem_at(i, &theorem); i++)
        if (!strcmp(theorem.name, "exactly_one_section") && tk_theorem_supports(&theorem, "GLUE.UNIQUE"))
            return json_pack("{s:s, s:s, s:s, s:s}", "file", theorem.file, "name", theorem.name, "sha256",
                             theorem.sha256, "says", theorem.says);
    return NULL;
}

const char *tki_glue_verdict_name(tki_glue_verdict verdict)
{
    static const char *const names[] = {"GLUED", "CHOSEN", "OBSTRUCTED"};
    return names[verdict];
}

/* -- The report ---------------------------------------------------------------------------------------------- */

static json_t *shards_json(const tki_checkpoint *checkpoint)
{
    json_t *list = json_array();
    for (size_t i = 0; i < checkpoint->shard_count; i++) {
        const tki_shard *shard = &checkpoint->shards[i];
        json_t *entry = json_pack("{s:o, s:I}", "file", tki_json_text(tki_name_in(shard->path)), "bytes",
                                  (json_int_t)shard->file.size);
        if (shard->step)
            json_object_set_new(entry, "step", tki_json_text(shard->step));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *section_json(const tki_section *section)
{
    json_t *entry = json_pack("{s:i, s:o, s:o, s:s}", "shard", (int)section->shard, "start",
                              tki_json_sizes(section->box.start, section->rank), "size",
                              tki_json_sizes(section->box.size, section->rank), "sha256", section->sha256);
    if (strcmp(section->local->name, section->tensor))
        json_object_set_new(entry, "name", tki_json_text(section->local->name));
    if (section->outvoted)
        json_object_set_new(entry, "outvoted", json_true());
    return entry;
}

static json_t *cover_json(const tki_checkpoint *checkpoint)
{
    json_t *list = json_array();
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const tki_whole *whole = &checkpoint->tensors[i];
        json_t *sections = json_array();
        for (size_t k = 0; k < whole->count; k++)
            json_array_append_new(sections, section_json(&whole->sections[k]));
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:o}", "tensor", tki_json_text(whole->name), "dtype",
                                              tki_format_of(whole->type).file_name, "shape",
                                              tki_json_sizes(whole->shape, whole->rank), "sections", sections));
    }
    return list;
}

static json_t *obstructions_json(const tki_obstructions *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->kept; i++)
        json_array_append_new(list, tki_obstruction_json(&all->list[i]));
    return list;
}

tk_status tki_join_end(tki_join *join)
{
    tki_glue_outcome *outcome = join->outcome;
    const tki_checkpoint *checkpoint = join->checkpoint;
    outcome->verdict = checkpoint->obstructions.count ? TKI_OBSTRUCTED : join->chosen ? TKI_CHOSEN : TKI_GLUED;
    outcome->report = json_pack(
        "{s:s, s:s, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "verdict", tki_glue_verdict_name(outcome->verdict),
        "placements", checkpoint->placed_by, "shards", shards_json(checkpoint), "counts", "tensors",
        (json_int_t)outcome->tensors, "sections", (json_int_t)outcome->sections, "replicas",
        (json_int_t)outcome->replicas, "overlaps", (json_int_t)outcome->overlaps, "elements_compared",
        (json_int_t)outcome->elements_compared, "obstructions", (json_int_t)checkpoint->obstructions.count);
    if (!outcome->report)
        return tki_fail(join->ctx, TK_NO_MEMORY, "no memory for the report");
    if (json_array_size(join->comparisons))
        json_object_set(outcome->report, "comparisons", join->comparisons);
    if (json_array_size(join->outvoted))
        json_object_set(outcome->report, "outvoted", join->outvoted);
    if (join->primary >= 0)
        json_object_set_new(outcome->report, "primary", json_integer(join->primary));
    if (checkpoint->obstructions.count)
        json_object_set_new(outcome->report, "obstructions", obstructions_json(&checkpoint->obstructions));
    return TK_OK;
}

void tki_glue_outcome_free(tki_glue_outcome *outcome)
{
    json_decref(outcome->report);
    free(outcome->certificate);
    *outcome = (tki_glue_outcome){0};
}

/* -- The certificate ----------------------------------------------------------------------------------------- */

json_t *tki_glue_evidence(const json_t *predicate)
{
    const json_t *counts = json_object_get(predicate, "counts");
    const char *verdict = json_string_value(json_object_get(predicate, "verdict"));
    json_t *list = json_array();
    json_array_append_new(list,
                          json_sprintf("Each element of %lld tensors is covered by at least one of %lld sections.",
                                       (long long)json_integer_value(json_object_get(counts, "tensors")),
                                       (long long)json_integer_value(json_object_get(counts, "sections"))));
    json_array_append_new(
        list,
        json_sprintf("%lld elements that several sections have were compared, in %lld replicas and %lld overlaps.",
                     (long long)json_integer_value(json_object_get(counts, "elements_compared")),
                     (long long)json_integer_value(json_object_get(counts, "replicas")),
                     (long long)json_integer_value(json_object_get(counts, "overlaps"))));
    if (verdict && !strcmp(verdict, tki_glue_verdict_name(TKI_GLUED)))
        json_array_append_new(list,
                              json_string("All of them have equal bits, so that exactly one result restricts to "
                                          "every section: the theorem that is cited."));
    if (json_array_size(json_object_get(predicate, "comparisons")))
        json_array_append_new(list, json_string("Where sections differ within the ulps that were declared, the "
                                                "elements of the primary shard were chosen."));
    if (json_array_size(json_object_get(predicate, "outvoted")))
        json_array_append_new(list, json_string("Replicas that differ from more than half of the replicas of their "
                                                "box were left out, as was asked for."));
    return list;
}

json_t *tki_glue_non_claims(void)
{
    return json_pack(
        "[s, s, s]", "That the shards hold what the training run computed: only that they agree with each other.",
        "That elements which one section alone has are right: nothing was there to compare them with.",
        "That the theorem's proof is about this program's machine code: it is about boxes and sections.");
}

static json_t *statement_of(const tki_join *join, char *const *subjects, char (*sha256)[TKI_HASH_HEX], size_t count)
{
    json_t *list = json_array(), *predicate = json_deep_copy(join->outcome->report);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:o, s:{s:s}}", "name", tki_json_text(tki_name_in(subjects[i])),
                                              "digest", "sha256", sha256[i]));
    json_object_set_new(predicate, "tokitai", json_string(tk_version()));
    json_object_set_new(predicate, "cover", cover_json(join->checkpoint));
    json_object_set(predicate, "overlaps", join->overlaps);
    json_object_set_new(predicate, "theorem", tki_glue_theorem());
    json_object_set_new(predicate, "evidence", tki_glue_evidence(predicate));
    json_object_set_new(predicate, "non_claims", tki_glue_non_claims());
    return json_pack("{s:s, s:o, s:s, s:o}", "_type", TKI_STATEMENT_TYPE, "subject", list, "predicateType",
                     TKI_GLUE_PREDICATE_TYPE, "predicate", predicate);
}

static tk_status write_text(tk_ctx *ctx, const char *path, const char *ending, const char *text, char **written)
{
    char *file = NULL;
    if (!text || asprintf(&file, "%s%s", path, ending) < 0)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate");
    tk_status status = tki_file_write(ctx, file, text, strlen(text));
    if (status == TK_OK && written)
        *written = file;
    else
        free(file);
    return status;
}

tk_status tki_glue_certificate_write(tki_join *join, const char *path, char *const *subjects,
                                     char (*sha256)[TKI_HASH_HEX], size_t count)
{
    tk_ctx *ctx = join->ctx;
    tk_certificate certificate = {.statement = statement_of(join, subjects, sha256, count)};
    char hash[TKI_HASH_HEX];
    bool good = certificate.statement && tki_statement_hash(certificate.statement, hash);
    if (good)
        good = !json_object_set_new(json_object_get(certificate.statement, "predicate"), "integrity",
                                    json_pack("{s:s}", "sha256", hash));
    char *text = good ? tki_statement_text(certificate.statement) : NULL;
    tk_status status = write_text(ctx, path, STATEMENT_ENDING, text, &join->outcome->certificate);
    if (status == TK_OK && join->options->key) {
        status = tk_certificate_sign(ctx, &certificate, join->options->key);
        char *envelope = status == TK_OK ? tk_certificate_envelope(&certificate) : NULL;
        if (status == TK_OK)
            status = write_text(ctx, path, ENVELOPE_ENDING, envelope, NULL);
        free(envelope);
    }
    free(text);
    free(certificate.json);
    json_decref(certificate.signatures);
    json_decref(certificate.statement);
    return status;
}

void tki_glue_certificate_withdraw(const tki_join *join, const char *path)
{
    static const char *const endings[] = {STATEMENT_ENDING, ENVELOPE_ENDING};
    for (size_t i = 0; i < (join->options->key ? 2 : 1) && !join->options->skip_certificate; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s%s", path, endings[i]) < 0)
            continue;
        (void)unlink(file);
        free(file);
    }
}

tk_status tki_glue_certificate_spares(const tki_join *join, const char *path)
{
    if (join->options->skip_certificate)
        return TK_OK;
    tk_status status = tki_checkpoint_spares(join->ctx, join->checkpoint, path, STATEMENT_ENDING);
    if (status == TK_OK && join->options->key)
        status = tki_checkpoint_spares(join->ctx, join->checkpoint, path, ENVELOPE_ENDING);
    return status;
}
