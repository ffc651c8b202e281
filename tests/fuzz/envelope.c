/* Fuzz target: a DSSE envelope, and base64. What is taken apart must come out the same when it is put together again. The
 * payload of an input is rarely a certificate, so the envelope is also opened by itself. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/signed_envelope.h"

static void try_base64(const char *text, size_t length)
{
    size_t bytes;
    unsigned char *data = tki_base64_decode(text, length, &bytes);
    if (!data)
        return;
    assert(bytes <= length / 4 * 3 && data[bytes] == 0);
    char *again = tki_base64_encode(data, bytes);
    assert(again && strlen(again) == length);
    bool url_safe = memchr(text, '-', length) || memchr(text, '_', length);
    assert(url_safe || !memcmp(again, text, length));
    free(again);
    free(data);
}

static void try_envelope(tk_ctx *ctx, const json_t *envelope)
{
    char *payload;
    size_t bytes;
    json_t *signatures;
    if (tki_envelope_open(ctx, envelope, &payload, &bytes, &signatures) != TK_OK) {
        assert(!payload && !signatures && tk_ctx_message(ctx)[0]);
        return;
    }
    assert(payload && bytes <= TKI_CERTIFICATE_MOST_BYTES);
    assert(json_array_size(signatures) >= 1 && json_array_size(signatures) <= TKI_ENVELOPE_MOST_SIGNATURES);
    free(payload);
    json_decref(signatures);
}

static void try_certificate(tk_ctx *ctx, const char *text, size_t length)
{
    tk_certificate *certificate = NULL;
    if (tk_certificate_parse(ctx, text, length, &certificate) != TK_OK) {
        assert(!certificate);
        return;
    }
    int count = tk_certificate_signatures(certificate);
    for (int i = 0; i < count; i++)
        assert(tk_certificate_signer(certificate, i));
    char *envelope = tk_certificate_envelope(certificate);
    assert(!envelope == (count == 0));
    tk_certificate *again = NULL;
    assert(!envelope || tk_certificate_parse(ctx, envelope, strlen(envelope), &again) == TK_OK);
    assert(!envelope || !strcmp(tk_certificate_json(again), tk_certificate_json(certificate)));
    free(envelope);
    tk_certificate_destroy(again);
    tk_certificate_destroy(certificate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 0;
    try_base64((const char *)data, size);
    json_t *value = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (value)
        try_envelope(ctx, value);
    json_decref(value);
    try_certificate(ctx, (const char *)data, size);
    tk_ctx_destroy(ctx);
    return 0;
}
