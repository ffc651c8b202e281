/* RECORDS. Ed25519 keys: making, reading and writing them in PEM, signing and verifying. */
#include "certify/signing_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "core/file.h"

void tk_key_destroy(tk_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->pair);
    free(key);
}

const char *tk_key_id(const tk_key *key)
{
    return key->id;
}

bool tk_key_can_sign(const tk_key *key)
{
    return key->can_sign;
}

/* RFC 8410 leaves one encoding of either half, where a private key has neither attributes nor its public half beside it: these bytes, and the
 * 32 of the key. */
enum { KEY_BYTES = 32, PRIVATE_HEAD = 16, PUBLIC_HEAD = 12 };
static const unsigned char private_head[PRIVATE_HEAD] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                                         0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
static const unsigned char public_head[PUBLIC_HEAD] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                                       0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

/* An encoded point of the curve: y, low byte first, and the sign of x in the highest bit. Multiples of a point of small order are few, so that
 * under such a key, or with such a first half, a signature verifies for many texts or for all; and there is one encoding of each point, that
 * of y below p = 2^255 - 19, without a sign where x is 0. */
static bool is_proper_point(const unsigned char point[KEY_BYTES])
{
    /* y of the points whose order divides 8: 0, 1, p - 1 and the two of order 8. */
    static const unsigned char small[][KEY_BYTES] = {
        {0},
        {1},
        {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
        {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
         0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
        {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
         0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a}};
    unsigned char y[KEY_BYTES];
    memcpy(y, point, KEY_BYTES);
    y[KEY_BYTES - 1] &= 0x7f;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (!memcmp(y, small[i], KEY_BYTES))
            return false;
    size_t ones = 1; /* bytes from the second on, as they are in p */
    while (ones < KEY_BYTES && y[ones] == (ones == KEY_BYTES - 1 ? 0x7f : 0xff))
        ones++;
    return ones < KEY_BYTES || y[0] < 0xed;
}

/* Takes over `pair`, also when it fails. Its name is the hash of the public half's encoding. */
static tk_status wrap(tk_ctx *ctx, const char *path, EVP_PKEY *pair, bool can_sign, tk_key **key)
{
    unsigned char der[PUBLIC_HEAD + KEY_BYTES];
    size_t length = KEY_BYTES;
    memcpy(der, public_head, PUBLIC_HEAD);
    tk_key *made = calloc(1, sizeof *made);
    bool good = made && EVP_PKEY_get_raw_public_key(pair, der + PUBLIC_HEAD, &length) == 1 && length == KEY_BYTES &&
                tki_hash_bytes(der, sizeof der, made->id);
    if (!good || !is_proper_point(der + PUBLIC_HEAD)) {
        ERR_clear_error();
        free(made);
        EVP_PKEY_free(pair);
        return good ? tki_fail(ctx, TK_BAD_FILE, "%s: a public key of small order, or not in its canonical encoding",
                               path)
                    : tki_fail(ctx, TK_NO_MEMORY, "no memory for a key");
    }
    made->pair = pair;
    made->can_sign = can_sign;
    *key = made;
    return TK_OK;
}

tk_status tk_key_generate(tk_ctx *ctx, tk_key **key)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!key)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no pointer for the key");
    *key = NULL;
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (!pair) {
        ERR_clear_error();
        return tki_fail(ctx, TK_UNAVAILABLE, "libcrypto could not make an Ed25519 key");
    }
    return wrap(ctx, "a new key", pair, true, key);
}

/* -- Files --------------------------------------------------------------------------------------------------- */

typedef enum pem_kind { PEM_OTHER, PEM_ENCRYPTED, PEM_PUBLIC, PEM_PRIVATE } pem_kind;

static pem_kind pem_kind_of(const char *label, const char *header)
{
    if (!strcmp(label, "ENCRYPTED PRIVATE KEY") || strstr(header, "ENCRYPTED"))
        return PEM_ENCRYPTED;
    return !strcmp(label, "PRIVATE KEY") ? PEM_PRIVATE : !strcmp(label, "PUBLIC KEY") ? PEM_PUBLIC : PEM_OTHER;
}

/* NULL where it is not exactly that encoding: libcrypto sees the key alone, none of its decoders the text. */
static EVP_PKEY *decode(pem_kind kind, const unsigned char *der, long length)
{
    const bool private_half = kind == PEM_PRIVATE;
    const unsigned char *head = private_half ? private_head : public_head;
    const size_t head_bytes = private_half ? PRIVATE_HEAD : PUBLIC_HEAD;
    if (length != (long)head_bytes + KEY_BYTES || memcmp(der, head, head_bytes) != 0)
        return NULL;
    return private_half ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, der + head_bytes, KEY_BYTES)
                        : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, der + head_bytes, KEY_BYTES);
}

/* The first private key among the blocks of the text, or else the first public one; *kind is that of the best block there was. */
static EVP_PKEY *find_key(const char *text, size_t length, pem_kind *kind)
{
    EVP_PKEY *found = NULL;
    char *label, *header;
    unsigned char *der;
    long bytes;
    *kind = PEM_OTHER;
    BIO *bio = BIO_new_mem_buf(text, (int)length);
    while (bio && *kind != PEM_PRIVATE && PEM_read_bio(bio, &label, &header, &der, &bytes)) {
        const pem_kind this_kind = pem_kind_of(label, header);
        if (this_kind > *kind) {
            EVP_PKEY_free(found);
            found = this_kind == PEM_ENCRYPTED ? NULL : decode(this_kind, der, bytes);
            *kind = this_kind;
        }
        OPENSSL_free(label);
        OPENSSL_free(header);
        OPENSSL_clear_free(der, (size_t)bytes);
    }
    BIO_free(bio);
    ERR_clear_error();
    return found;
}

tk_status tki_key_parse(tk_ctx *ctx, const char *path, const char *text, size_t length, tk_key **key)
{
    pem_kind kind;
    *key = NULL;
    EVP_PKEY *pair = find_key(text, length, &kind);
    if (pair)
        return wrap(ctx, path, pair, kind == PEM_PRIVATE, key);
    return tki_fail(ctx, TK_BAD_FILE, "%s: %s", path,
                    kind == PEM_OTHER       ? "not a PEM key"
                    : kind == PEM_ENCRYPTED ? "an encrypted key; keys with a password are not supported"
                                            : "not an Ed25519 key as RFC 8410 encodes it, without attributes");
}

static tk_status read_key_file(tk_ctx *ctx, const char *path, char **text, size_t *length, mode_t *mode)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &about)) {
        tk_status status = tki_fail(ctx, TK_IO, "cannot read %s: %s", path, strerror(errno));
        if (file >= 0)
            close(file);
        return status;
    }
    *mode = about.st_mode & 07777;
    tk_status status = tki_file_read_open(ctx, file, path, TKI_KEY_MOST_BYTES, text, length);
    close(file);
    return status;
}

tk_status tk_key_read(tk_ctx *ctx, const char *path, tk_key **key)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!path || !key)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no path, or no pointer for the key");
    *key = NULL;
    char *text;
    size_t length;
    mode_t mode = 0;
    tk_status status = read_key_file(ctx, path, &text, &length, &mode);
    if (status != TK_OK)
        return status;
    status = tki_key_parse(ctx, path, text, length, key);
    OPENSSL_cleanse(text, length);
    free(text);
    if (status == TK_OK && (*key)->can_sign && mode & (S_IRWXG | S_IRWXO)) {
        tk_key_destroy(*key);
        *key = NULL;
        return tki_fail(ctx, TK_BAD_FILE,
                        "%s: others can read or write this private key (mode %04o); chmod 600 it, and make a new key "
                        "if others could have read it",
                        path, (unsigned)mode);
    }
    return status;
}

/* The private half comes from memory that libcrypto wipes when it is freed. */
static BIO *encode(const tk_key *key, bool private_half)
{
    BIO *bio = BIO_new(private_half ? BIO_s_secmem() : BIO_s_mem());
    bool good = bio && (private_half ? PEM_write_bio_PKCS8PrivateKey(bio, key->pair, NULL, NULL, 0, NULL, NULL)
                                     : PEM_write_bio_PUBKEY(bio, key->pair));
    if (!good) {
        ERR_clear_error();
        BIO_free(bio);
        return NULL;
    }
    return bio;
}

static tk_status write_half(tk_ctx *ctx, const tk_key *key, bool private_half, const char *path, bool replace)
{
    char *text;
    BIO *bio = encode(key, private_half);
    if (!bio)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the text of a key");
    long length = BIO_get_mem_data(bio, &text);
    tk_status status = tki_file_create(ctx, path, text, (size_t)length, private_half ? 0600 : 0644, replace);
    BIO_free(bio);
    return status;
}

tk_status tk_key_write(tk_ctx *ctx, const tk_key *key, const char *path, bool replace)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!key || !path)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no key, or no path");
    if (!key->can_sign)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the key has no private half");
    char *public_path = NULL;
    if (asprintf(&public_path, "%s.pub", path) < 0)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
    tk_status status = TK_OK;
    if (!replace && access(public_path, F_OK) == 0)
        status = tki_fail(ctx, TK_IO, "cannot write %s: %s", public_path, strerror(EEXIST));
    if (status == TK_OK)
        status = write_half(ctx, key, true, path, replace);
    if (status == TK_OK) {
        status = write_half(ctx, key, false, public_path, replace);
        if (status != TK_OK && !replace)
            unlink(path); /* it was made just now, and nobody has used it */
    }
    free(public_path);
    return status;
}

/* -- Signatures ---------------------------------------------------------------------------------------------- */

bool tki_key_sign(const tk_key *key, const void *data, size_t bytes, unsigned char signature[TKI_SIGNATURE_BYTES])
{
    size_t length = TKI_SIGNATURE_BYTES;
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    bool good = state && key->can_sign && EVP_DigestSignInit(state, NULL, NULL, NULL, key->pair) == 1 &&
                EVP_DigestSign(state, signature, &length, data, bytes) == 1 && length == TKI_SIGNATURE_BYTES;
    EVP_MD_CTX_free(state);
    ERR_clear_error();
    return good;
}

bool tki_key_verify(const tk_key *key, const void *data, size_t bytes, const void *signature, size_t signature_bytes)
{
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    bool good = state && signature_bytes == TKI_SIGNATURE_BYTES && is_proper_point(signature) &&
                EVP_DigestVerifyInit(state, NULL, NULL, NULL, key->pair) == 1 &&
                EVP_DigestVerify(state, signature, signature_bytes, data, bytes) == 1;
    EVP_MD_CTX_free(state);
    ERR_clear_error();
    return good;
}
