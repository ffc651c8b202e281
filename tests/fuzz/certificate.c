/* Fuzz target: a certificate's text. As it is, nearly every text is refused for its hash; so the same text is also tried with
 * the hash put right and in canonical form, as somebody would who edits with care. What is taken must be showable. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "tests/fuzz/escape.h"

/* What contradicts itself is not read, and must be showable nevertheless. */
static tk_certificate *contradictory(tk_ctx *ctx, const char *text, size_t length)
{
    json_t *statement = strstr(tk_ctx_message(ctx), "it contradicts itself: ") ? json_loadb(text, length, 0, NULL)
                                                                               : NULL;
    return json_is_object(json_object_get(statement, "predicate")) ? tki_certificate_of(statement) : NULL;
}

static void try_text(tk_ctx *ctx, const char *text, size_t length)
{
    tk_certificate *certificate = NULL;
    tk_status status = tk_certificate_parse(ctx, text, length, &certificate);
    if (status != TK_OK) {
        assert(!certificate && tk_ctx_message(ctx)[0]);
        certificate = contradictory(ctx, text, length);
        if (!certificate)
            return;
    }
    const char *page = tk_certificate_markdown(certificate);
    assert(page && is_visible(page, "\n"));
    const char *json = tk_certificate_json(certificate);
    bool enveloped = tk_certificate_signatures(certificate) > 0;
    char *line = tki_statement_line(certificate->statement);
    assert(json && line);
    assert(enveloped || (strlen(json) == length && !memcmp(json, text, length)) ||
           (strlen(line) == length && !memcmp(line, text, length)));
    free(line);
    int rejected = 0;
    assert(tk_certificate_mutants(certificate, &rejected) >= rejected);
    assert(tk_certificate_verdict(certificate) <= TK_UNKNOWN);
    assert(tk_certificate_subject(certificate) && tk_certificate_reason(certificate) &&
           tk_certificate_reproduce(certificate) && tk_certificate_scope(certificate));
    assert(is_visible(tk_certificate_headline(certificate), ""));
    char *remarks = NULL;
    assert(tk_certificate_agrees(ctx, certificate) == status && (status == TK_OK || status == TK_BAD_FILE));
    status = tk_certificate_remarks(ctx, certificate, &remarks);
    assert(status == TK_OK && (!remarks || remarks[0]));
    free(remarks);
    tk_citation citation;
    for (int i = 0; tk_certificate_cites(certificate, i, &citation); i++)
        assert(citation.file && citation.theorem && citation.sha256 && citation.state);
    tk_basis basis;
    for (int i = 0; tk_certificate_rests_on(certificate, i, &basis); i++)
        assert(basis.clause && basis.verdict && basis.kernel && basis.theorems >= -1);
    (void)tk_certificate_elements(certificate);
    (void)tk_certificate_worst_ulp(certificate);
    (void)tk_certificate_bound_used(certificate);
    (void)tk_certificate_seconds(certificate);
    tk_certificate_destroy(certificate);
}

static void try_sealed(tk_ctx *ctx, const char *text, size_t length)
{
    json_t *statement = json_loadb(text, length, 0, NULL);
    json_t *predicate = json_object_get(statement, "predicate");
    char hash[65];
    if (json_is_object(predicate) && tki_statement_hash(statement, hash)) {
        json_object_set_new(predicate, "integrity", json_pack("{s:s}", "sha256", hash));
        char *sealed = tki_statement_text(statement);
        char *line = tki_statement_line(statement);
        if (sealed)
            try_text(ctx, sealed, strlen(sealed));
        if (line)
            try_text(ctx, line, strlen(line));
        free(sealed);
        free(line);
    }
    json_decref(statement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 0;
    try_text(ctx, (const char *)data, size);
    try_sealed(ctx, (const char *)data, size);
    tk_ctx_destroy(ctx);
    return 0;
}
