/* RECORDS. SHA-256 through libcrypto's EVP calls, which have been the same since OpenSSL 1.1. */
#include "compile/digest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"

tk_status tki_digest_open(tk_ctx *ctx, tki_digest *digest)
{
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};
    *digest = (tki_digest){0};
    void *library = NULL;
    /* It registers functions to be called at exit, so it must not be unmapped before. */
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return tki_fail(ctx, TK_UNAVAILABLE, "SHA-256 of GPU kernels needs libcrypto.so.3 (OpenSSL): %s", dlerror());
    digest->state_new = (void *(*)(void))dlsym(library, "EVP_MD_CTX_new");
    digest->state_free = (void (*)(void *))dlsym(library, "EVP_MD_CTX_free");
    digest->sha256 = (const void *(*)(void))dlsym(library, "EVP_sha256");
    digest->init = (int (*)(void *, const void *, void *))dlsym(library, "EVP_DigestInit_ex");
    digest->update = (int (*)(void *, const void *, size_t))dlsym(library, "EVP_DigestUpdate");
    digest->final = (int (*)(void *, unsigned char *, unsigned *))dlsym(library, "EVP_DigestFinal_ex");
    bool complete = digest->state_new && digest->state_free && digest->sha256 && digest->init && digest->update &&
                    digest->final;
    dlclose(library);
    return complete ? TK_OK : tki_fail(ctx, TK_UNAVAILABLE, "libcrypto has no EVP functions for SHA-256");
}

void tki_digest_begin(tki_digest *digest)
{
    digest->state = digest->state_new();
    digest->failed = !digest->state || digest->init(digest->state, digest->sha256(), NULL) != 1;
}

void tki_digest_add(tki_digest *digest, const void *data, size_t bytes)
{
    if (!digest->failed && bytes)
        digest->failed = digest->update(digest->state, data, bytes) != 1;
}

void tki_digest_add_text(tki_digest *digest, const char *text)
{
    tki_digest_add(digest, text, strlen(text) + 1);
}

bool tki_digest_finish(tki_digest *digest, char hex[TKI_DIGEST_HEX])
{
    enum { SHA256_BYTES = 32, MOST_BYTES = 64 };
    unsigned char result[MOST_BYTES];
    unsigned length = 0;
    bool good = !digest->failed && digest->final(digest->state, result, &length) == 1 && length == SHA256_BYTES;
    digest->state_free(digest->state);
    digest->state = NULL;
    hex[0] = 0;
    for (unsigned i = 0; good && i < length; i++)
        snprintf(hex + (size_t)i * 2, 3, "%02x", result[i]);
    return good;
}

bool tki_digest_bytes(tki_digest *digest, const void *data, size_t bytes, char hex[TKI_DIGEST_HEX])
{
    tki_digest_begin(digest);
    tki_digest_add(digest, data, bytes);
    return tki_digest_finish(digest, hex);
}
