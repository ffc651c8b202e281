/* RECORDS. DSSE envelopes: base64, what is signed, taking one apart, signing and verifying certificates. */
#include "certify/signed_envelope.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/signing_key.h"
#include "core/context.h"

/* -- Base64 (RFC 4648) --------------------------------------------------------------------------------------- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *tki_base64_encode(const void *data, size_t bytes)
{
    const unsigned char *in = data;
    if (bytes > SIZE_MAX / 4 * 3 - 4)
        return NULL;
    char *text = malloc((bytes + 2) / 3 * 4 + 1);
    if (!text)
        return NULL;
    char *out = text;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        uint32_t group = (uint32_t)in[i] << 16;
        group |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        group |= left > 2 ? in[i + 2] : 0;
        *out++ = alphabet[group >> 18];
        *out++ = alphabet[group >> 12 & 63];
        *out++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *out++ = left > 2 ? alphabet[group & 63] : '=';
    }
    *out = 0;
    return text;
}

/* The value of each character and 64 for all others; the last two characters are given. */
static void fill_values(unsigned char values[256], char sixty_two, char sixty_three)
{
    memset(values, 64, 256);
    for (unsigned char i = 0; i < 62; i++)
        values[(unsigned char)alphabet[i]] = i;
    values[(unsigned char)sixty_two] = 62;
    values[(unsigned char)sixty_three] = 63;
}

unsigned char *tki_base64_decode(const char *text, size_t length, size_t *bytes)
{
    if (length % 4)
        return NULL;
    size_t padding = 0;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    unsigned char values[256];
    bool url_safe = memchr(text, '-', length) || memchr(text, '_', length);
    fill_values(values, url_safe ? '-' : '+', url_safe ? '_' : '/');
    unsigned char *data = malloc(length / 4 * 3 + 1);
    if (!data)
        return NULL;
    size_t count = 0;
    uint32_t bits = 0; /* the last of them are not yet written */
    int waiting = 0;
    for (size_t i = 0; i < length - padding; i++) {
        unsigned char value = values[(unsigned char)text[i]];
        if (value == 64) {
            free(data);
            return NULL;
        }
        bits = bits << 6 | value;
        waiting += 6;
        if (waiting >= 8) {
            waiting -= 8;
            data[count++] = (unsigned char)(bits >> waiting);
        }
    }
    if (bits & ((1u << waiting) - 1)) {
        free(data);
        return NULL;
    }
    data[count] = 0;
    *bytes = count;
    return data;
}

/* -- The envelope -------------------------------------------------------------------------------------------- */

char *tki_envelope_signed_text(const char *type, const void *payload, size_t bytes, size_t *length)
{
    char *head = NULL;
    int head_length = asprintf(&head, "DSSEv1 %zu %s %zu ", strlen(type), type, bytes);
    if (head_length < 0)
        return NULL;
    char *text = realloc(head, (size_t)head_length + bytes + 1);
    if (!text) {
        free(head);
        return NULL;
    }
    if (bytes > 0)
        memcpy(text + head_length, payload, bytes);
    *length = (size_t)head_length + bytes;
    text[*length] = 0;
    return text;
}

bool tki_is_envelope(const json_t *value)
{
    return json_object_get(value, "payload") && !json_object_get(value, "_type");
}

/* One signature as struct tk_certificate has it, or NULL if it is not well formed. */
static json_t *read_signature(const json_t *item)
{
    const json_t *sig = json_object_get(item, "sig");
    const json_t *id = json_object_get(item, "keyid");
    size_t bytes = 0;
    if (!json_is_string(sig) || json_string_length(sig) > TKI_ENVELOPE_MOST_SIGNATURE || (id && !json_is_string(id)))
        return NULL;
    unsigned char *data = tki_base64_decode(json_string_value(sig), json_string_length(sig), &bytes);
    free(data);
    if (!data || bytes == 0)
        return NULL;
    return json_pack("{s:s, s:s}", "keyid", id ? json_string_value(id) : "", "sig", json_string_value(sig));
}

static tk_status read_signatures(tk_ctx *ctx, const json_t *list, json_t **signatures)
{
    size_t count = json_array_size(list);
    if (count == 0 || count > TKI_ENVELOPE_MOST_SIGNATURES)
        return tki_fail(ctx, TK_BAD_FILE,
                        "not an envelope of a certificate: the number of signatures is not from 1 to %d",
                        TKI_ENVELOPE_MOST_SIGNATURES);
    json_t *result = json_array();
    if (!result)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the signatures");
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(result, read_signature(json_array_get(list, i)))) {
            json_decref(result);
            return tki_fail(ctx, TK_BAD_FILE, "not an envelope of a certificate: signature %zu is malformed", i);
        }
    *signatures = result;
    return TK_OK;
}

tk_status tki_envelope_open(tk_ctx *ctx, const json_t *envelope, char **payload, size_t *bytes, json_t **signatures)
{
    const char *type = json_string_value(json_object_get(envelope, "payloadType"));
    const json_t *text = json_object_get(envelope, "payload");
    *payload = NULL;
    *signatures = NULL;
    if (!type || strcmp(type, TKI_PAYLOAD_TYPE) != 0)
        return tki_fail(ctx, TK_BAD_FILE, "not an envelope of a certificate: its payloadType is not %s",
                        TKI_PAYLOAD_TYPE);
    tk_status status = read_signatures(ctx, json_object_get(envelope, "signatures"), signatures);
    if (status != TK_OK)
        return status;
    if (json_is_string(text))
        *payload = (char *)tki_base64_decode(json_string_value(text), json_string_length(text), bytes);
    if (!*payload || *bytes > TKI_CERTIFICATE_MOST_BYTES) {
        free(*payload);
        json_decref(*signatures);
        *payload = NULL;
        *signatures = NULL;
        return tki_fail(ctx, TK_BAD_FILE,
                        "not an envelope of a certificate: its payload is not base64, or too large");
    }
    return TK_OK;
}

/* -- Certificates -------------------------------------------------------------------------------------------- */

int tk_certificate_signatures(const tk_certificate *certificate)
{
    return (int)json_array_size(certificate->signatures);
}

const char *tk_certificate_signer(const tk_certificate *certificate, int i)
{
    if (i < 0 || i >= tk_certificate_signatures(certificate))
        return NULL;
    return json_string_value(json_object_get(json_array_get(certificate->signatures, (size_t)i), "keyid"));
}

static char *signed_text(const tk_certificate *certificate, size_t *length)
{
    char *statement = tki_statement_text(certificate->statement);
    char *text = statement ? tki_envelope_signed_text(TKI_PAYLOAD_TYPE, statement, strlen(statement), length) : NULL;
    free(statement);
    return text;
}

/* Puts the signature in the place of an earlier one by the same key, or at the end. */
static bool add_signature(tk_certificate *certificate, const char *id, const unsigned char bytes[TKI_SIGNATURE_BYTES])
{
    char *sig = tki_base64_encode(bytes, TKI_SIGNATURE_BYTES);
    json_t *entry = sig ? json_pack("{s:s, s:s}", "keyid", id, "sig", sig) : NULL;
    free(sig);
    if (!entry)
        return false;
    if (!certificate->signatures)
        certificate->signatures = json_array();
    for (int i = 0; i < tk_certificate_signatures(certificate); i++)
        if (!strcmp(tk_certificate_signer(certificate, i), id))
            return json_array_set_new(certificate->signatures, (size_t)i, entry) == 0;
    return json_array_append_new(certificate->signatures, entry) == 0;
}

tk_status tk_certificate_sign(tk_ctx *ctx, tk_certificate *certificate, const tk_key *key)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !key)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or no key");
    if (!key->can_sign)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "a public key cannot sign");
    if (tk_certificate_signatures(certificate) >= TKI_ENVELOPE_MOST_SIGNATURES)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "a certificate can have at most %d signatures",
                        TKI_ENVELOPE_MOST_SIGNATURES);
    size_t length;
    unsigned char signature[TKI_SIGNATURE_BYTES];
    char *text = signed_text(certificate, &length);
    bool good = text && tki_key_sign(key, text, length, signature) && add_signature(certificate, key->id, signature);
    free(text);
    return good ? TK_OK : tki_fail(ctx, TK_NO_MEMORY, "no memory to sign the certificate");
}

static bool verifies(const json_t *signature, const tk_key *key, const char *text, size_t length)
{
    const json_t *sig = json_object_get(signature, "sig");
    size_t bytes = 0;
    unsigned char *data = tki_base64_decode(json_string_value(sig), json_string_length(sig), &bytes);
    bool good = data && tki_key_verify(key, text, length, data, bytes);
    free(data);
    return good;
}

tk_status tk_certificate_verify(tk_ctx *ctx, const tk_certificate *certificate, const tk_key *key)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!certificate || !key)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no certificate, or no key");
    int count = tk_certificate_signatures(certificate);
    if (count == 0)
        return tki_fail(ctx, TK_BAD_FILE, "not signed");
    size_t length;
    char *text = signed_text(certificate, &length);
    if (!text)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to verify the certificate");
    /* The ids are not signed, so they decide nothing but the message. */
    bool good = false;
    bool claimed = false;
    for (int i = 0; i < count && !good; i++) {
        good = verifies(json_array_get(certificate->signatures, (size_t)i), key, text, length);
        claimed |= !strcmp(tk_certificate_signer(certificate, i), key->id);
    }
    free(text);
    if (good)
        return TK_OK;
    if (claimed)
        return tki_fail(ctx, TK_BAD_FILE, "the signature of %s does not verify", key->id);
    return tki_fail(ctx, TK_BAD_FILE, "not signed by %s, but by %.80s%s", key->id,
                    tk_certificate_signer(certificate, 0)[0] ? tk_certificate_signer(certificate, 0)
                                                             : "an unnamed key",
                    count > 1 ? " and others" : "");
}

char *tk_certificate_envelope(tk_certificate *certificate)
{
    const char *statement = tk_certificate_signatures(certificate) > 0 ? tk_certificate_json(certificate) : NULL;
    char *payload = statement ? tki_base64_encode(statement, strlen(statement)) : NULL;
    if (!payload)
        return NULL;
    json_t *envelope = json_pack("{s:s, s:s, s:O}", "payload", payload, "payloadType", TKI_PAYLOAD_TYPE, "signatures",
                                 certificate->signatures);
    free(payload);
    char *text = envelope ? tki_statement_text(envelope) : NULL;
    json_decref(envelope);
    return text;
}
