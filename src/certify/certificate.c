/* RECORDS. Certificates: canonical text, reading with every byte checked, writing, and what programs ask of them. */
#include "certify/certificate.h"
#include "certify/subject.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cause.h"
#include "certify/headline.h"
#include "certify/member_walk.h"
#include "certify/outcome.h"
#include "certify/replay_recipe.h"
#include "certify/reproduce.h"
#include "certify/signed_envelope.h"
#include "core/context.h"
#include "core/file.h"
#include "core/hash.h"
#include "model/case.h"
#include "model/op.h"
#include "trials/attribute_settings.h"

static char *dump(const json_t *statement, size_t spacing)
{
    char *text = json_dumps(statement, JSON_SORT_KEYS | spacing | JSON_REAL_PRECISION(17));
    if (!text)
        return NULL;
    size_t length = strlen(text);
    char *with_end = realloc(text, length + 2);
    if (!with_end) {
        free(text);
        return NULL;
    }
    with_end[length] = '\n';
    with_end[length + 1] = 0;
    return with_end;
}

char *tki_statement_text(const json_t *statement)
{
    return dump(statement, JSON_INDENT(1));
}

char *tki_statement_line(const json_t *statement)
{
    return dump(statement, JSON_COMPACT);
}

bool tki_statement_hash(const json_t *statement, char hex[65])
{
    json_t *copy = json_deep_copy(statement);
    if (!copy)
        return false;
    json_object_del(json_object_get(copy, "predicate"), "integrity");
    char *text = tki_statement_text(copy);
    json_decref(copy);
    bool good = text && tki_hash_bytes(text, strlen(text), hex);
    free(text);
    return good;
}

void tk_certificate_destroy(tk_certificate *certificate)
{
    if (!certificate)
        return;
    json_decref(certificate->statement);
    json_decref(certificate->predicate);
    json_decref(certificate->signatures);
    free(certificate->scope);
    free(certificate->headline);
    free(certificate->json);
    free(certificate->markdown);
    free(certificate);
}

/* The predicate of a certificate of the first form, in the present one. Three attributes were members of `run` itself, at their defaults too. */
static json_t *present_form(const json_t *predicate)
{
    static const char *const moved[] = {"domain", "numerics", "matrix_unit"};
    json_t *copy = json_copy((json_t *)(uintptr_t)predicate), *run = json_copy(json_object_get(predicate, "run"));
    const json_t *given = json_object_get(run, "attributes");
    json_t *attributes = json_is_object(given) ? json_copy((json_t *)(uintptr_t)given) : json_object();
    const tk_contract *contract = tk_contract_find(tki_text(run, "op"));
    const bool has_numerics = contract && tk_attribute_find(contract, "numerics") >= 0;
    const char *const initial[] = {"all", has_numerics ? "any" : "ieee", "unknown"};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        const char *value = tki_text(run, moved[i]);
        json_object_set_new(attributes, moved[i], value[0] && strcmp(value, initial[i]) ? json_string(value) : NULL);
        json_object_del(run, moved[i]);
    }
    json_object_del(run, "attributes");
    if (json_object_size(attributes))
        json_object_set(run, "attributes", attributes);
    json_decref(attributes);
    json_object_set_new(copy, "run", run);
    return copy;
}

/* Of another version: the reason and the command are shown as this version makes them of their data, or not at all. */
static json_t *with_own_texts(const json_t *predicate)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)predicate);
    const tk_contract *contract = tk_contract_find(tki_text(json_object_get(copy, "run"), "op"));
    char *reason = tki_reason(copy, contract), *command = tki_reproduce(copy, contract);
    json_object_set_new(
        copy, "reason",
        tki_text_json(reason ? reason
                             : "not shown: another version wrote it, and it cannot be made again from data"));
    json_object_set_new(copy, "reproduce", command && command[0] ? tki_text_json(command) : NULL);
    if (!command || !command[0])
        json_object_del(copy, "reproduce");
    free(reason);
    free(command);
    return copy;
}

bool tki_certificate_is_current(const tk_certificate *certificate)
{
    return !strcmp(tki_text(certificate->statement, "predicateType"), TKI_PREDICATE_TYPE);
}

tk_certificate *tki_certificate_of(json_t *statement)
{
    tk_certificate *certificate = calloc(1, sizeof *certificate);
    if (!certificate) {
        json_decref(statement);
        return NULL;
    }
    certificate->statement = statement;
    json_t *predicate = json_object_get(statement, "predicate");
    const bool current = tki_certificate_is_current(certificate);
    certificate->predicate = current ? json_incref(predicate) : present_form(predicate);
    if (!current || !tki_certificate_of_this_version(certificate)) {
        json_t *shown = with_own_texts(certificate->predicate);
        json_decref(certificate->predicate);
        certificate->predicate = shown;
    }
    certificate->scope = tki_scope(certificate->predicate);
    certificate->headline = tki_headline(certificate->predicate);
    if (certificate->scope && certificate->headline)
        return certificate;
    tk_certificate_destroy(certificate);
    return NULL;
}

/* -- What programs ask --------------------------------------------------------------------------------------- */

const json_t *tki_certificate_get(const tk_certificate *certificate, const char *path)
{
    const json_t *at = certificate->predicate;
    while (at && *path) {
        size_t length = strcspn(path, ".");
        char name[64];
        if (length >= sizeof name)
            return NULL;
        memcpy(name, path, length);
        name[length] = 0;
        at = json_object_get(at, name);
        path += length + (path[length] == '.');
    }
    return at;
}

const char *tki_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

json_int_t tki_integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

const char *tki_certificate_text(const tk_certificate *certificate, const char *path)
{
    const char *text = json_string_value(tki_certificate_get(certificate, path));
    return text ? text : "";
}

bool tki_certificate_is_of_file(const tk_certificate *certificate)
{
    const tki_subject_kind *kind = tki_subject_kind_named(tki_certificate_text(certificate, "run.kind"));
    return kind && kind->is_kernel_file;
}

int64_t tki_certificate_integer(const tk_certificate *certificate, const char *path)
{
    return json_integer_value(tki_certificate_get(certificate, path));
}

double tki_certificate_real(const tk_certificate *certificate, const char *path)
{
    const json_t *value = tki_certificate_get(certificate, path);
    if (json_is_string(value))
        return !strcmp(json_string_value(value), "infinity") ? INFINITY : NAN;
    return json_number_value(value);
}

tk_verdict tk_certificate_verdict(const tk_certificate *certificate)
{
    const char *name = tki_certificate_text(certificate, "verdict");
    for (int v = TK_PROVED; v < TK_UNKNOWN; v++)
        if (!strcmp(name, tk_verdict_name((tk_verdict)v)))
            return (tk_verdict)v;
    return TK_UNKNOWN;
}

bool tki_certificate_holds(const tk_certificate *certificate)
{
    tk_verdict verdict = tk_certificate_verdict(certificate);
    return verdict == TK_HELD || verdict == TK_PROVED;
}

bool tki_certificate_of_this_version(const tk_certificate *certificate)
{
    return !strcmp(tki_certificate_text(certificate, "tokitai"), tk_version());
}

const char *tk_certificate_headline(const tk_certificate *certificate)
{
    return certificate->headline;
}

const char *tk_certificate_scope(const tk_certificate *certificate)
{
    return certificate->scope;
}

const char *tk_certificate_subject(const tk_certificate *certificate)
{
    return tki_certificate_text(certificate, "run.subject");
}

int64_t tk_certificate_elements(const tk_certificate *certificate)
{
    return tki_certificate_integer(certificate, "result.elements");
}

double tk_certificate_worst_ulp(const tk_certificate *certificate)
{
    return tki_certificate_real(certificate, "result.worst_ulp");
}

double tk_certificate_accepted_ulp(const tk_certificate *certificate)
{
    /* Earlier versions did not tell them apart. */
    bool known = tki_certificate_get(certificate, "result.accepted.worst_ulp") != NULL;
    return known ? tki_certificate_real(certificate, "result.accepted.worst_ulp")
                 : tk_certificate_worst_ulp(certificate);
}

bool tk_certificate_refutation(const tk_certificate *certificate, tk_refutation *refutation)
{
    *refutation = (tk_refutation){
        .grade = tki_certificate_text(certificate, "result.refutation.grade"),
        .elements = tki_certificate_integer(certificate, "result.refutation.elements"),
        .judged = tki_certificate_integer(certificate, "result.refutation.of_elements"),
        .nan = tki_certificate_integer(certificate, "result.refutation.nan"),
        .median_ulp = tki_certificate_real(certificate, "result.refutation.median_up_to_ulp"),
        .worst_ulp = tki_certificate_real(certificate, "result.refutation.worst_ulp"),
    };
    return refutation->grade[0] != 0;
}

double tk_certificate_bound_used(const tk_certificate *certificate)
{
    return tki_certificate_real(certificate, "result.bound_used");
}

int64_t tk_certificate_lines(const tk_certificate *certificate, int64_t *run)
{
    if (!json_is_true(tki_certificate_get(certificate, "coverage.lines.known")))
        return -1;
    *run = tki_certificate_integer(certificate, "coverage.lines.run");
    return tki_certificate_integer(certificate, "coverage.lines.count");
}

double tk_certificate_seconds(const tk_certificate *certificate)
{
    return tki_certificate_real(certificate, "result.seconds");
}

const char *tk_certificate_reason(const tk_certificate *certificate)
{
    return tki_certificate_text(certificate, "reason");
}

const char *tk_certificate_reproduce(const tk_certificate *certificate)
{
    return tki_certificate_text(certificate, "reproduce");
}

int tk_certificate_mutants(const tk_certificate *certificate, int *rejected)
{
    const json_t *mutants = tki_certificate_get(certificate, "mutants");
    int count = 0;
    for (size_t i = 0; i < json_array_size(mutants); i++)
        count += json_is_true(json_object_get(json_array_get(mutants, i), "rejected"));
    if (rejected)
        *rejected = count;
    return (int)json_array_size(mutants);
}

const char *tk_certificate_mutants_kept(const tk_certificate *certificate)
{
    return tki_certificate_text(certificate, "run.mutants.kept");
}

const char *tk_certificate_json(tk_certificate *certificate)
{
    if (!certificate->json)
        certificate->json = tki_statement_text(certificate->statement);
    return certificate->json;
}

const char *tk_certificate_markdown(tk_certificate *certificate)
{
    if (!certificate->markdown)
        certificate->markdown = tki_certificate_render(certificate);
    return certificate->markdown;
}

const tk_contract *tki_certificate_contract(const tk_ctx *ctx, const tk_certificate *certificate)
{
    const char *definition = tki_certificate_text(certificate, "contract.definition");
    return definition[0] ? tki_op_defined_by(ctx, definition)
                         : tk_ctx_contract_find(ctx, tki_certificate_text(certificate, "run.op"));
}

tk_status tki_certificate_define(tk_ctx *ctx, const tk_certificate *certificate)
{
    const tk_contract *made;
    const char *definition = tki_certificate_text(certificate, "contract.definition");
    if (!definition[0])
        return TK_OK;
    const tk_status status = tki_op_define_unnamed(ctx, definition, tki_certificate_text(certificate, "run.op"),
                                                   &made);
    if (status != TK_BAD_ARGUMENT)
        return status;
    char message[sizeof ctx->message];
    snprintf(message, sizeof message, "%s", ctx->message);
    return tki_fail(ctx, TK_BAD_FILE, "it contradicts itself: its definition: %.400s", message);
}

/* -- Files --------------------------------------------------------------------------------------------------- */

static tk_status write_text(tk_ctx *ctx, const char *dir, const char *name, const char *ending, const char *text,
                            char **path)
{
    char *file = NULL;
    if (asprintf(&file, "%s/%s.%s", dir, name, ending) < 0)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
    tk_status status = tki_file_write(ctx, file, text, strlen(text));
    if (status == TK_OK && path)
        *path = file;
    else
        free(file);
    return status;
}

const json_t *tki_run_setting(const json_t *run, const tk_attribute *attribute)
{
    return json_object_get(json_object_get(run, attribute->seen_by_kernel ? "options" : "attributes"),
                           attribute->name);
}

/* The subject and, each behind a dot, the values that are not at their defaults: a run under others does not replace it. Of outputs that were
 * given also the beginning of the tensors' hash: others have another name. */
static void name_with_settings(const tk_ctx *ctx, const tk_certificate *certificate, char *name, size_t size)
{
    snprintf(name, size, "%s", tk_certificate_subject(certificate));
    const tk_contract *contract = tki_certificate_contract(ctx, certificate);
    tk_value values[TK_MAX_ATTRIBUTES] = {{0}};
    if (contract)
        tki_recipe_settings(tki_certificate_get(certificate, "run"), contract, values);
    for (int i = 0; contract && i < contract->attribute_count; i++) {
        char text[64];
        const size_t used = strlen(name);
        if (!tki_settings_is_restriction(contract, values, i))
            continue;
        tk_attribute_print(&contract->attributes[i], values[i], text, sizeof text);
        snprintf(name + used, size - used, ".%s", text);
    }
    const size_t used = strlen(name);
    if (tki_certificate_get(certificate, "run.given"))
        snprintf(name + used, size - used, ".%.12s", tki_certificate_text(certificate, "built.artifact_sha256"));
}

tk_status tk_certificate_write(tk_ctx *ctx, tk_certificate *certificate, const char *dir, char **path)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate");
    const char *json = tk_certificate_json(certificate);
    const char *markdown = tk_certificate_markdown(certificate);
    bool is_signed = tk_certificate_signatures(certificate) > 0;
    char *envelope = is_signed ? tk_certificate_envelope(certificate) : NULL;
    if (!json || !markdown || (is_signed && !envelope)) {
        free(envelope);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate's text");
    }
    char *state = NULL;
    char *state_dir = NULL;
    tk_status status = TK_OK;
    if (!dir) {
        status = tki_state_directory(ctx, &state);
        if (status == TK_OK && asprintf(&state_dir, "%s/certificates", state) < 0)
            status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a directory name");
    }
    /* One file per level, so that a quick run does not replace what an exhaustive one has shown. */
    char keyed[128];
    snprintf(keyed, sizeof keyed, "%.64s.%.32s", tki_certificate_text(certificate, "key"),
             tki_certificate_text(certificate, "run.level"));
    char subject[256];
    name_with_settings(ctx, certificate, subject, sizeof subject);
    const char *name = dir ? subject : keyed;
    const char *target = dir ? dir : state_dir;
    /* A function's name is anything its program chose; a file name is not. */
    if (status == TK_OK && (!name[0] || name[0] == '.' || strchr(name, '/')))
        status = tki_fail(ctx, TK_BAD_ARGUMENT, "'%s' cannot be a file name", name);
    if (status == TK_OK)
        status = tki_directory_make(ctx, target, dir ? 0777 : 0755);
    if (status == TK_OK)
        status = write_text(ctx, target, name, "md", markdown, NULL);
    if (status == TK_OK && is_signed)
        status = write_text(ctx, target, name, "dsse.json", envelope, NULL);
    if (status == TK_OK)
        status = write_text(ctx, target, name, "json", json, path);
    free(envelope);
    free(state);
    free(state_dir);
    return status;
}

tk_status tk_certificate_names_artifact(tk_ctx *ctx, const tk_certificate *certificate, const char *path)
{
    char hash[TKI_HASH_HEX];
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !path)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or no path");
    const char *judged = tki_certificate_text(certificate, "built.artifact_sha256");
    if (!tki_hash_file(path, hash))
        return tki_fail(ctx, TK_IO, "cannot read '%.200s'", path);
    return !strcmp(hash, judged)
               ? TK_OK
               : tki_fail(ctx, TK_BAD_FILE,
                          "'%.200s' is not the artifact that was judged: its SHA-256 is %s, that in "
                          "the certificate %.64s",
                          path, hash, judged);
}

/* Is every member that the library reads there, and of the right type? */
static const char *shape_problem(const tk_certificate *certificate, char path[TKI_MEMBER_PATH])
{
    if (strcmp(tki_text(certificate->statement, "_type"), TKI_STATEMENT_TYPE) != 0)
        return "not an in-toto Statement";
    const char *type = tki_text(certificate->statement, "predicateType");
    if (strcmp(type, TKI_PREDICATE_TYPE) != 0 && strcmp(type, TKI_PREDICATE_TYPE_1) != 0)
        return "its predicate is not a tokitai certificate of a known version";
    for (const tki_member *m = tki_members; m->name; m++) {
        const json_t *value = m->how & TKI_READ ? tki_member_get(certificate, m) : NULL;
        tki_member_path(m, path);
        if (m->how & TKI_READ && !(m->type[0] == '['           ? json_is_array(value)
                                   : !strcmp(m->type, "count") ? json_is_integer(value)
                                                               : json_is_string(value)))
            return path;
    }
    /* The hash does not cover this member, so nothing else may stand in it. */
    return json_object_size(tki_certificate_get(certificate, "integrity")) == 1 ? NULL : "integrity";
}

static tk_status load(tk_ctx *ctx, const char *text, size_t length, json_t **value)
{
    json_error_t error;
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!*value)
        return tki_fail(ctx, TK_BAD_FILE, "not JSON: line %d, column %d: %s", error.line, error.column, error.text);
    return TK_OK;
}

/* A certificate has one spelling in each of two forms: the canonical text, and the line. */
static tk_status check_spelling(tk_ctx *ctx, tk_certificate *read, const char *text, size_t length, bool may_be_line)
{
    const char *canonical = tk_certificate_json(read);
    char *line = may_be_line ? tki_statement_line(read->statement) : NULL;
    tk_status status = TK_OK;
    if (!canonical || (may_be_line && !line))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory to check the certificate");
    else if ((strlen(canonical) != length || memcmp(canonical, text, length) != 0) &&
             (!line || strlen(line) != length || memcmp(line, text, length) != 0))
        status = tki_fail(ctx, TK_BAD_FILE, "altered: its text is not canonical JSON");
    free(line);
    return status;
}

/* Takes over `statement`, which was read from `text`, also when it fails. */
static tk_status check_statement(tk_ctx *ctx, json_t *statement, const char *text, size_t length, bool may_be_line,
                                 tk_certificate **certificate)
{
    tk_certificate *read = tki_certificate_of(statement);
    if (!read)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the certificate");
    char hash[TKI_HASH_HEX], path[TKI_MEMBER_PATH];
    const char *problem = shape_problem(read, path);
    tk_status status = TK_OK;
    if (problem)
        status = tki_fail(ctx, TK_BAD_FILE, "not a certificate: missing or malformed: %s", problem);
    else if (!tki_statement_hash(statement, hash))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory to check the certificate");
    else if (strcmp(hash, tki_certificate_text(read, "integrity.sha256")) != 0)
        status = tki_fail(ctx, TK_BAD_FILE, "altered: its content does not match its own SHA-256");
    else
        status = check_spelling(ctx, read, text, length, may_be_line);
    if (status == TK_OK)
        status = tk_certificate_agrees(ctx, read);
    if (status == TK_OK)
        *certificate = read;
    else
        tk_certificate_destroy(read);
    return status;
}

static tk_status parse_envelope(tk_ctx *ctx, const json_t *envelope, tk_certificate **certificate)
{
    char *payload;
    size_t bytes;
    json_t *signatures;
    json_t *statement;
    tk_status status = tki_envelope_open(ctx, envelope, &payload, &bytes, &signatures);
    if (status != TK_OK)
        return status;
    status = load(ctx, payload, bytes, &statement);
    /* Its signatures are over the canonical text. */
    if (status == TK_OK)
        status = check_statement(ctx, statement, payload, bytes, false, certificate);
    if (status == TK_OK)
        (*certificate)->signatures = signatures;
    else
        json_decref(signatures);
    free(payload);
    return status;
}

tk_status tk_certificate_parse(tk_ctx *ctx, const char *text, size_t length, tk_certificate **certificate)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!text || !certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no text, or no pointer for the certificate");
    *certificate = NULL;
    json_t *value;
    tk_status status = load(ctx, text, length, &value);
    if (status != TK_OK)
        return status;
    if (!tki_is_envelope(value) && length > TKI_CERTIFICATE_MOST_BYTES) {
        json_decref(value);
        return tki_fail(ctx, TK_BAD_FILE, "not a certificate: too large");
    }
    if (!tki_is_envelope(value))
        return check_statement(ctx, value, text, length, true, certificate);
    status = parse_envelope(ctx, value, certificate);
    json_decref(value);
    return status;
}

tk_status tk_certificate_read(tk_ctx *ctx, const char *path, tk_certificate **certificate)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!path || !certificate)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no path, or no pointer for the certificate");
    char *text;
    size_t length;
    *certificate = NULL;
    tk_status status = tki_file_read(ctx, path, TKI_ENVELOPE_MOST_BYTES, &text, &length);
    if (status != TK_OK)
        return status;
    status = tk_certificate_parse(ctx, text, length, certificate);
    free(text);
    if (status != TK_OK) {
        char message[sizeof ctx->message];
        snprintf(message, sizeof message, "%s", ctx->message);
        return tki_fail(ctx, status, "%s: %s", path, message);
    }
    return TK_OK;
}
