/* RECORDS. Checking a certificate of gluing: what follows from other members is made again and compared, and its sections must cover its tensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/signed_envelope.h"
#include "core/context.h"
#include "core/file.h"
#include "glue/cover.h"
#include "glue/glue_certificate.h"
#include "glue/json.h"

/* Reads a Statement, or the one in an envelope with its signatures. `text` is the Statement's; free() and json_decref() them. */
static tk_status read_statement(tk_ctx *ctx, const char *path, char **text, json_t **statement, json_t **signatures)
{
    json_error_t error;
    size_t length;
    *text = NULL;
    *statement = *signatures = NULL;
    tk_status status = tki_file_read(ctx, path, TKI_ENVELOPE_MOST_BYTES, text, &length);
    if (status != TK_OK)
        return status;
    *statement = json_loadb(*text, length, JSON_REJECT_DUPLICATES, &error);
    if (!*statement)
        return tki_fail(ctx, TK_BAD_FILE, "%s: %s", path, error.text);
    if (!tki_is_envelope(*statement))
        return TK_OK;
    char *payload = NULL;
    status = tki_envelope_open(ctx, *statement, &payload, &length, signatures);
    json_decref(*statement);
    free(*text);
    *text = payload;
    *statement = status == TK_OK ? json_loadb(payload, length, JSON_REJECT_DUPLICATES, &error) : NULL;
    return status == TK_OK && !*statement ? tki_fail(ctx, TK_BAD_FILE, "%s: %s", path, error.text) : status;
}

static bool is_of_gluing(const json_t *statement)
{
    const char *type = json_string_value(json_object_get(statement, "predicateType"));
    return type && !strcmp(type, TKI_GLUE_PREDICATE_TYPE);
}

bool tki_is_glue_certificate(tk_ctx *ctx, const char *path)
{
    char *text;
    json_t *statement, *signatures;
    const bool is = read_statement(ctx, path, &text, &statement, &signatures) == TK_OK && is_of_gluing(statement);
    free(text);
    json_decref(statement);
    json_decref(signatures);
    return is;
}

/* -- What it says of itself ----------------------------------------------------------------------------------- */

/* A shape whose elements 63 bits count. */
static bool read_shape(const json_t *list, int64_t *shape, int *rank)
{
    int64_t elements = 1;
    if (!tki_json_read_sizes(list, shape, rank))
        return false;
    for (int d = 0; d < *rank; d++)
        if (__builtin_mul_overflow(elements, shape[d] ? shape[d] : 1, &elements))
            return false;
    return true;
}

static bool read_section(const json_t *section, size_t shards, const int64_t *shape, int rank, tki_box *box)
{
    static const char *const names[] = {"shard", "start", "size", "sha256", "name", "outvoted", NULL};
    const json_t *shard = json_object_get(section, "shard");
    int start_rank;
    return tki_json_has_only(section, names) && json_is_string(json_object_get(section, "sha256")) &&
           json_is_integer(shard) && json_integer_value(shard) >= 0 && (uint64_t)json_integer_value(shard) < shards &&
           tki_json_read_sizes(json_object_get(section, "start"), box->start, &start_rank) && start_rank == rank &&
           tki_json_read_sizes(json_object_get(section, "size"), box->size, &box->rank) && box->rank == rank &&
           tki_box_within(box, shape);
}

/* The sections of a tensor lie in it and leave no element out. Adds their number. */
static tk_status check_tensor(tk_ctx *ctx, const json_t *tensor, size_t shards, int64_t *sections)
{
    static const char *const names[] = {"tensor", "dtype", "shape", "sections", NULL};
    const json_t *list = json_object_get(tensor, "sections");
    const char *name = json_string_value(json_object_get(tensor, "tensor"));
    const size_t count = json_array_size(list);
    int64_t shape[TKI_TENSOR_MAX_RANK], missing = 0;
    int rank;
    if (!name || !tki_json_has_only(tensor, names) || !read_shape(json_object_get(tensor, "shape"), shape, &rank))
        return tki_fail(ctx, TK_BAD_FILE, "its cover has a tensor without name or shape");
    tki_box *boxes = calloc(count ? count : 1, sizeof *boxes), first;
    if (!boxes)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu sections", count);
    tk_status status = TK_OK;
    for (size_t i = 0; i < count && status == TK_OK; i++)
        if (!read_section(json_array_get(list, i), shards, shape, rank, &boxes[i]))
            status = tki_fail(ctx, TK_BAD_FILE, "section %zu of tensor %.200s is invalid", i, name);
    if (status == TK_OK)
        status = tki_cover_gaps(ctx, shape, rank, boxes, count, &missing, &first);
    if (status == TK_OK && missing)
        status = tki_fail(ctx, TK_BAD_FILE, "its sections miss %lld elements of tensor %.200s", (long long)missing,
                          name);
    *sections += (int64_t)count;
    free(boxes);
    return status;
}

static bool counted(const json_t *counts, const char *name, int64_t number)
{
    const json_t *value = json_object_get(counts, name);
    return json_is_integer(value) && json_integer_value(value) == number;
}

/* An outcome with a certificate has no obstruction, and chose if and only if it says what. */
static const char *verdict_problem(const json_t *predicate)
{
    const char *verdict = json_string_value(json_object_get(predicate, "verdict"));
    const json_t *comparisons = json_object_get(predicate, "comparisons");
    bool chose = json_array_size(json_object_get(predicate, "outvoted")) > 0;
    for (size_t i = 0; i < json_array_size(comparisons); i++)
        chose |= json_is_true(json_object_get(json_array_get(comparisons, i), "primary_taken"));
    if (!verdict || strcmp(verdict, tki_glue_verdict_name(chose ? TKI_CHOSEN : TKI_GLUED)))
        return "its verdict contradicts its choices";
    return NULL;
}

static bool is_same(const json_t *predicate, const char *name, json_t *made)
{
    const bool same = made && json_equal(json_object_get(predicate, name), made);
    json_decref(made);
    return same;
}

tk_status tki_glue_agrees(tk_ctx *ctx, const json_t *predicate)
{
    static const char *const names[] = {"verdict",  "placements", "shards",     "counts",    "comparisons",
                                        "outvoted", "primary",    "tokitai",    "cover",     "overlaps",
                                        "theorem",  "evidence",   "non_claims", "integrity", NULL};
    static const char *const count_names[] = {"tensors",           "sections",     "replicas", "overlaps",
                                              "elements_compared", "obstructions", NULL};
    const json_t *counts = json_object_get(predicate, "counts"), *cover = json_object_get(predicate, "cover");
    const size_t shards = json_array_size(json_object_get(predicate, "shards"));
    const char *version = json_string_value(json_object_get(predicate, "tokitai"));
    int64_t sections = 0;
    if (!tki_json_has_only(predicate, names) || !tki_json_has_only(counts, count_names))
        return tki_fail(ctx, TK_BAD_FILE, "it has a member that a glue certificate does not have");
    for (size_t i = 0; i < json_array_size(cover); i++) {
        tk_status status = check_tensor(ctx, json_array_get(cover, i), shards, &sections);
        if (status != TK_OK)
            return status;
    }
    if (!counted(counts, "tensors", (int64_t)json_array_size(cover)) || !counted(counts, "sections", sections) ||
        !counted(counts, "obstructions", 0))
        return tki_fail(ctx, TK_BAD_FILE, "its counts contradict its cover");
    const char *problem = verdict_problem(predicate);
    if (problem)
        return tki_fail(ctx, TK_BAD_FILE, "%s", problem);
    /* Another version may cite another theorem, in other words. */
    if (!version || strcmp(version, tk_version()))
        return version ? TK_OK : tki_fail(ctx, TK_BAD_FILE, "it lacks the version that wrote it");
    if (!is_same(predicate, "theorem", tki_glue_theorem()) ||
        !is_same(predicate, "evidence", tki_glue_evidence(predicate)) ||
        !is_same(predicate, "non_claims", tki_glue_non_claims()))
        return tki_fail(ctx, TK_BAD_FILE, "its theorem, evidence or non_claims contradict its other members");
    return TK_OK;
}

static tk_status describe(tk_ctx *ctx, const json_t *statement, char **line)
{
    const json_t *predicate = json_object_get(statement, "predicate"), *counts = json_object_get(predicate, "counts");
    const json_t *subjects = json_object_get(statement, "subject");
    const char *verdict = json_string_value(json_object_get(predicate, "verdict"));
    const char *name = json_string_value(json_object_get(json_array_get(subjects, 0), "name"));
    const char *digest = json_string_value(
        json_object_get(json_object_get(json_array_get(subjects, 0), "digest"), "sha256"));
    if (!verdict || !name || !digest || !counts)
        return tki_fail(ctx, TK_BAD_FILE, "not a glue certificate: verdict, subject or counts are missing");
    const size_t others = json_array_size(subjects) - 1;
    if (asprintf(line, "%s: %s%s, SHA-256 %s, of %lld tensors in %lld sections", verdict, name,
                 others ? " and others" : "", digest,
                 (long long)json_integer_value(json_object_get(counts, "tensors")),
                 (long long)json_integer_value(json_object_get(counts, "sections"))) < 0) {
        *line = NULL;
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate");
    }
    return TK_OK;
}

tk_status tki_glue_certificate_check(tk_ctx *ctx, const char *path, const tk_key *key, char **line, bool *is_signed)
{
    char *text, hash[TKI_HASH_HEX];
    json_t *statement, *signatures;
    *line = NULL;
    tk_status status = read_statement(ctx, path, &text, &statement, &signatures);
    const char *recorded = json_string_value(
        json_object_get(json_object_get(json_object_get(statement, "predicate"), "integrity"), "sha256"));
    char *canonical = status == TK_OK ? tki_statement_text(statement) : NULL;
    if (status == TK_OK && (!canonical || !tki_statement_hash(statement, hash)))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory to check %s", path);
    else if (status == TK_OK && (!is_of_gluing(statement) || !recorded))
        status = tki_fail(ctx, TK_BAD_FILE, "%s: not a glue certificate", path);
    else if (status == TK_OK && strcmp(hash, recorded))
        status = tki_fail(ctx, TK_BAD_FILE, "%s: altered: its content does not match its own SHA-256", path);
    else if (status == TK_OK && strcmp(text, canonical))
        status = tki_fail(ctx, TK_BAD_FILE,
                          "%s: altered: its text is not in the form in which certificates are written", path);
    if (status == TK_OK && tki_glue_agrees(ctx, json_object_get(statement, "predicate")) != TK_OK) {
        char why[1024];
        snprintf(why, sizeof why, "%s", tk_ctx_message(ctx));
        status = tki_fail(ctx, TK_BAD_FILE, "%s: contradicts itself: %s", path, why);
    }
    if (status == TK_OK && key) {
        const tk_certificate certificate = {.statement = statement, .signatures = signatures};
        status = tk_certificate_verify(ctx, &certificate, key);
    }
    *is_signed = json_array_size(signatures) > 0;
    if (status == TK_OK)
        status = describe(ctx, statement, line);
    free(canonical);
    free(text);
    json_decref(statement);
    json_decref(signatures);
    return status;
}
