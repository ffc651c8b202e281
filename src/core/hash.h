/* CHOOSES. SHA-256, from libcrypto. */
#pragma once

#include <openssl/evp.h>

#include "tokitai.h"

enum { TKI_HASH_HEX = 65 }; /* 64 hexadecimal digits and the end of the string */

typedef struct tki_hash {
    EVP_MD_CTX *state;
    bool failed;
} tki_hash;

/* Failures of the library are remembered and come out of tki_hash_finish(). */
void tki_hash_begin(tki_hash *hash);
void tki_hash_add(tki_hash *hash, const void *data, size_t bytes);
void tki_hash_add_text(tki_hash *hash, const char *text); /* with its end, so that parts cannot run together */
bool tki_hash_finish(tki_hash *hash, char hex[TKI_HASH_HEX]);

bool tki_hash_bytes(const void *data, size_t bytes, char hex[TKI_HASH_HEX]);
bool tki_hash_file(const char *path, char hex[TKI_HASH_HEX]); /* false if it cannot be read */
