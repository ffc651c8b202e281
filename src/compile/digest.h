/* CHOOSES. SHA-256 by libcrypto, loaded when it is first needed: libtokitai is linked to libc and OpenMP alone. */
#pragma once

#include "compile/compiled_kernel.h"

typedef struct tki_digest {
    void *state;
    bool failed; /* remembered until the end */
    void *(*state_new)(void);
    void (*state_free)(void *state);
    const void *(*sha256)(void);
    int (*init)(void *state, const void *type, void *engine);
    int (*update)(void *state, const void *data, size_t bytes);
    int (*final)(void *state, unsigned char *digest, unsigned *length);
} tki_digest;

/* TK_UNAVAILABLE without libcrypto. Nothing has to be closed: the library stays loaded. */
TK_MUST_USE tk_status tki_digest_open(tk_ctx *ctx, tki_digest *digest);

void tki_digest_begin(tki_digest *digest);
void tki_digest_add(tki_digest *digest, const void *data, size_t bytes);
void tki_digest_add_text(tki_digest *digest, const char *text); /* with its end, so that parts cannot run together */
bool tki_digest_finish(tki_digest *digest, char hex[TKI_DIGEST_HEX]);

bool tki_digest_bytes(tki_digest *digest, const void *data, size_t bytes, char hex[TKI_DIGEST_HEX]);
