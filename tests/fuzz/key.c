/* Fuzz target: a key as its file defines it, in PEM; what is no PEM is tried as the DER in one, of the private half where it is longer than
 * the public one. What is taken is an Ed25519 key, and verifies what it has signed and nothing else. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "certify/signed_envelope.h"
#include "certify/signing_key.h"
#include "tests/fuzz/escape.h"

static void try_pem(tk_ctx *ctx, const char *text, size_t length)
{
    static const char data[] = "a text";
    unsigned char signature[TKI_SIGNATURE_BYTES];
    tk_key *key;
    tk_status status = tki_key_parse(ctx, "a file", text, length, &key);
    if (status != TK_OK) {
        assert(!key && status == TK_BAD_FILE && is_visible(tk_ctx_message(ctx), ""));
        return;
    }
    assert(strlen(tk_key_id(key)) == 64 && EVP_PKEY_is_a(key->pair, "ED25519"));
    if (tk_key_can_sign(key)) {
        assert(tki_key_sign(key, data, sizeof data, signature));
        assert(tki_key_verify(key, data, sizeof data, signature, sizeof signature));
        signature[0] ^= 1;
    } else {
        memset(signature, 1, sizeof signature);
    }
    assert(!tki_key_verify(key, data, sizeof data, signature, sizeof signature));
    tk_key_destroy(key);
}

static void try_der(tk_ctx *ctx, const char *label, const uint8_t *data, size_t size)
{
    char *base64 = tki_base64_encode(data, size), *pem = NULL;
    size_t length;
    FILE *out = base64 ? open_memstream(&pem, &length) : NULL;
    if (!out)
        abort();
    fprintf(out, "-----BEGIN %s-----\n", label);
    for (size_t at = 0; at < strlen(base64); at += 64)
        fprintf(out, "%.64s\n", base64 + at);
    fprintf(out, "-----END %s-----\n", label);
    if (fclose(out))
        abort();
    try_pem(ctx, pem, length);
    free(pem);
    free(base64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    char *text = calloc(size + 1, 1);
    if (!text || tk_ctx_create(&ctx) != TK_OK)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    if (strstr(text, "-----BEGIN "))
        try_pem(ctx, text, size);
    else
        try_der(ctx, size > 45 ? "PRIVATE KEY" : "PUBLIC KEY", data, size);
    tk_ctx_destroy(ctx);
    free(text);
    return 0;
}
