/* CHOOSES. SHA-256 of memory and of files. */
#include "core/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tki_hash_begin(tki_hash *hash)
{
    hash->state = EVP_MD_CTX_new();
    hash->failed = !hash->state || !EVP_DigestInit_ex(hash->state, EVP_sha256(), NULL);
}

void tki_hash_add(tki_hash *hash, const void *data, size_t bytes)
{
    if (!hash->failed && bytes)
        hash->failed = !EVP_DigestUpdate(hash->state, data, bytes);
}

void tki_hash_add_text(tki_hash *hash, const char *text)
{
    tki_hash_add(hash, text, strlen(text) + 1);
}

bool tki_hash_finish(tki_hash *hash, char hex[TKI_HASH_HEX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    bool good = !hash->failed && EVP_DigestFinal_ex(hash->state, digest, &length) && length == 32;
    EVP_MD_CTX_free(hash->state);
    hash->state = NULL;
    hex[0] = 0;
    for (unsigned i = 0; good && i < length; i++)
        snprintf(hex + (size_t)i * 2, 3, "%02x", digest[i]);
    return good;
}

bool tki_hash_bytes(const void *data, size_t bytes, char hex[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    tki_hash_add(&hash, data, bytes);
    return tki_hash_finish(&hash, hex);
}

bool tki_hash_file(const char *path, char hex[TKI_HASH_HEX])
{
    struct stat about;
    /* A pipe that nobody writes to would keep us waiting, and a device has no end. */
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = opened >= 0 && !fstat(opened, &about) && S_ISREG(about.st_mode) ? fdopen(opened, "rb") : NULL;
    if (!file) {
        if (opened >= 0)
            close(opened);
        return false;
    }
    tki_hash hash;
    tki_hash_begin(&hash);
    static const size_t chunk = 1 << 14;
    unsigned char buffer[1 << 14];
    size_t got;
    while ((got = fread(buffer, 1, chunk, file)) > 0)
        tki_hash_add(&hash, buffer, got);
    bool read_all = !ferror(file);
    fclose(file);
    return tki_hash_finish(&hash, hex) && read_all;
}
