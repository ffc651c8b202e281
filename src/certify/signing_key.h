/* RECORDS. Ed25519 keys, from libcrypto. */
#pragma once

#include <openssl/evp.h>

#include "core/hash.h"
#include "tokitai_verify.h"

enum { TKI_SIGNATURE_BYTES = 64, TKI_KEY_MOST_BYTES = 64 << 10 };

struct tk_key {
    EVP_PKEY *pair; /* or the public half alone */
    bool can_sign;
    char id[TKI_HASH_HEX];
};

/* The key in a PEM text that ends in a zero byte; `path` is for the message. */
TK_MUST_USE tk_status tki_key_parse(tk_ctx *ctx, const char *path, const char *text, size_t length, tk_key **key);

/* false where libcrypto fails; the key must be able to sign. */
bool tki_key_sign(const tk_key *key, const void *data, size_t bytes, unsigned char signature[TKI_SIGNATURE_BYTES]);

/* Is this the key's signature of the data? */
bool tki_key_verify(const tk_key *key, const void *data, size_t bytes, const void *signature, size_t signature_bytes);
