/* Signed certificates: base64, what is signed, keys and their files, signatures that hold, and everything that must not. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/pem.h>

#include "certify/certificate.h"
#include "certify/signed_envelope.h"
#include "certify/signing_key.h"
#include "core/file.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"

/* Three elements of an op whose oracle makes no tables. */
static tk_certificate *small_certificate(tk_ctx *ctx)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = (int64_t[]){3, 1, 2};
    options.family = "normal";
    return certify_one(ctx, tk_contract_find("embedding_fwd"), TK_F16, TK_I32, options);
}

static tk_key *new_key(tk_ctx *ctx)
{
    tk_key *key = NULL;
    assert_ok(ctx, tk_key_generate(ctx, &key));
    return key;
}

static char *signed_envelope(tk_ctx *ctx, const tk_key *key)
{
    tk_certificate *certificate = small_certificate(ctx);
    assert_null(tk_certificate_envelope(certificate));
    assert_ok(ctx, tk_certificate_sign(ctx, certificate, key));
    char *text = tk_certificate_envelope(certificate);
    assert_non_null(text);
    tk_certificate_destroy(certificate);
    return text;
}

static void write_file(tk_ctx *ctx, const char *path, const char *text)
{
    assert_ok(ctx, tki_file_write(ctx, path, text, strlen(text)));
}

/* -- Base64 and what is signed ------------------------------------------------------------------------------- */

TEST(base64)
{
    /* RFC 4648, section 10 */
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"}};
    size_t bytes;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        char *text = tki_base64_encode(vectors[i][0], strlen(vectors[i][0]));
        assert_string_equal(text, vectors[i][1]);
        unsigned char *data = tki_base64_decode(text, strlen(text), &bytes);
        assert_non_null(data);
        assert_int_equal(bytes, strlen(vectors[i][0]));
        assert_string_equal((char *)data, vectors[i][0]);
        free(data);
        free(text);
    }
    unsigned char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    for (size_t n = 0; n <= sizeof all; n++) {
        char *text = tki_base64_encode(all + sizeof all - n, n);
        unsigned char *data = tki_base64_decode(text, strlen(text), &bytes);
        assert_true(data && bytes == n && !memcmp(data, all + sizeof all - n, n));
        free(data);
        free(text);
    }
    unsigned char *data = tki_base64_decode("-_-_", 4, &bytes);
    assert_true(data && bytes == 3 && !memcmp(data, "\xfb\xff\xbf", 3));
    free(data);
    static const char *const wrong[] = {
        "Z",     "Zg",    "Zg=",  "Zg===",    "Zh==", "Zm9=", "====", "=",        "Z===",   "Zm9v\n",
        "Zm 9v", "Zm9v ", "Z=9v", "Zg==Zg==", "Zm9*", "+_+_", "-/-/", "Zm9v====", "\x80m9v"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (tki_base64_decode(wrong[i], strlen(wrong[i]), &bytes))
            fail_msg("'%s' was taken for base64", wrong[i]);
    assert_null(tki_base64_decode("Zm9v\0Zm9", 8, &bytes));
}

/* The example of the DSSE specification. */
TEST(signed_text)
{
    size_t length;
    char *text = tki_envelope_signed_text("http://example.com/HelloWorld", "hello world", 11, &length);
    assert_string_equal(text, "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    assert_int_equal(length, strlen(text));
    free(text);
    text = tki_envelope_signed_text("", NULL, 0, &length);
    assert_string_equal(text, "DSSEv1 0  0 ");
    free(text);
}

/* -- Keys ---------------------------------------------------------------------------------------------------- */

static size_t from_hex(const char *hex, unsigned char *bytes)
{
    size_t count = strlen(hex) / 2;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (unsigned char)value;
    }
    return count;
}

/* RFC 8032, section 7.1, tests 1 to 3; the keys come through our own reading of PEM. */
TEST_WITH_CONTEXT(rfc_8032)
{
    static const struct {
        const char *secret;
        const char *public_half;
        const char *message;
        const char *signature;
    } vectors[] = {
        {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
         "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
        {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
         "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
        {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
         "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        unsigned char raw[32];
        unsigned char message[2];
        unsigned char expected[TKI_SIGNATURE_BYTES];
        unsigned char signature[TKI_SIGNATURE_BYTES];
        size_t length = from_hex(vectors[i].message, message);
        assert_int_equal(from_hex(vectors[i].signature, expected), TKI_SIGNATURE_BYTES);
        from_hex(vectors[i].secret, raw);
        EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, raw, sizeof raw);
        FILE *file = fopen("secret.pem", "w");
        assert_true(pair && file && PEM_write_PKCS8PrivateKey(file, pair, NULL, NULL, 0, NULL, NULL));
        fclose(file);
        EVP_PKEY_free(pair);
        from_hex(vectors[i].public_half, raw);
        pair = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, sizeof raw);
        file = fopen("public.pem", "w");
        assert_true(pair && file && PEM_write_PUBKEY(file, pair));
        fclose(file);
        EVP_PKEY_free(pair);
        tk_key *secret = NULL;
        tk_key *public_half = NULL;
        assert_int_equal(chmod("secret.pem", 0644), 0);
        assert_refused(ctx, tk_key_read(ctx, "secret.pem", &secret), TK_BAD_FILE, "(mode 0644); chmod 600");
        assert_int_equal(chmod("secret.pem", 0600), 0);
        assert_ok(ctx, tk_key_read(ctx, "secret.pem", &secret));
        assert_ok(ctx, tk_key_read(ctx, "public.pem", &public_half));
        assert_true(tk_key_can_sign(secret) && !tk_key_can_sign(public_half));
        assert_string_equal(tk_key_id(secret), tk_key_id(public_half));
        assert_true(tki_key_sign(secret, message, length, signature));
        assert_memory_equal(signature, expected, sizeof expected);
        assert_false(tki_key_sign(public_half, message, length, signature));
        assert_true(tki_key_verify(public_half, message, length, expected, sizeof expected));
        assert_false(tki_key_verify(public_half, "other", 5, expected, sizeof expected));
        assert_false(tki_key_verify(public_half, message, length, expected, sizeof expected - 1));
        tk_key_destroy(secret);
        tk_key_destroy(public_half);
    }
}

/* Points of small order, and encodings that are not the one of their point: of keys, and of the first half of signatures. */
TEST_WITH_CONTEXT(keys_under_which_anything_verifies)
{
    static const char *const points[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "f5ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    tk_key *key = new_key(ctx), *weak = NULL;
    unsigned char signature[TKI_SIGNATURE_BYTES] = {0};
    for (size_t i = 0; i < 2 * (sizeof points / sizeof *points); i++) {
        unsigned char raw[32];
        from_hex(points[i / 2], raw);
        raw[31] = (unsigned char)(raw[31] | (i % 2 ? 0x80 : 0));
        EVP_PKEY *pair = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, sizeof raw);
        FILE *file = fopen("weak.pem", "w");
        assert_true(pair && file && PEM_write_PUBKEY(file, pair));
        fclose(file);
        EVP_PKEY_free(pair);
        assert_refused(ctx, tk_key_read(ctx, "weak.pem", &weak), TK_BAD_FILE,
                       "small order, or not in its canonical encoding");
        assert_null(weak);
        memcpy(signature, raw, sizeof raw);
        assert_false(tki_key_verify(key, "text", 4, signature, sizeof signature));
    }
    /* One next to them is a key. */
    unsigned char raw[32];
    from_hex("0300000000000000000000000000000000000000000000000000000000000000", raw);
    EVP_PKEY *pair = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, sizeof raw);
    FILE *file = fopen("weak.pem", "w");
    assert_true(pair && file && PEM_write_PUBKEY(file, pair));
    fclose(file);
    EVP_PKEY_free(pair);
    assert_ok(ctx, tk_key_read(ctx, "weak.pem", &weak));
    tk_key_destroy(weak);
    tk_key_destroy(key);
}

TEST_WITH_CONTEXT(key_files)
{
    tk_key *key = new_key(ctx);
    tk_key *other = new_key(ctx);
    tk_key *read = NULL;
    struct stat about;
    umask(0);
    assert_int_equal(strlen(tk_key_id(key)), 64);
    assert_string_not_equal(tk_key_id(key), tk_key_id(other));
    assert_ok(ctx, tk_key_write(ctx, key, "key", false));
    assert_int_equal(stat("key", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    for (int i = 0; i < 2; i++) {
        assert_ok(ctx, tk_key_read(ctx, i ? "key.pub" : "key", &read));
        assert_int_equal(tk_key_can_sign(read), i == 0);
        assert_string_equal(tk_key_id(read), tk_key_id(key));
        if (i)
            assert_refused(ctx, tk_key_write(ctx, read, "half", false), TK_BAD_ARGUMENT, "no private half");
        tk_key_destroy(read);
    }
    /* Neither half of a pair that is there is touched, and nothing is left of the attempt. */
    assert_refused(ctx, tk_key_write(ctx, other, "key", false), TK_IO, "key.pub: File exists");
    assert_int_equal(unlink("key.pub"), 0);
    assert_refused(ctx, tk_key_write(ctx, other, "key", false), TK_IO, "key: File exists");
    assert_int_not_equal(access("key.pub", F_OK), 0);
    assert_ok(ctx, tk_key_read(ctx, "key", &read));
    assert_string_equal(tk_key_id(read), tk_key_id(key));
    tk_key_destroy(read);
    assert_ok(ctx, tk_key_write(ctx, other, "key", true));
    assert_ok(ctx, tk_key_read(ctx, "key.pub", &read));
    assert_string_equal(tk_key_id(read), tk_key_id(other));
    tk_key_destroy(read);
    assert_refused(ctx, tk_key_write(ctx, key, "nowhere/key", false), TK_IO, "nowhere/key");

    read = NULL;
    assert_refused(ctx, tk_key_read(ctx, "none", &read), TK_IO, "none");
    write_file(ctx, "garbage", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assert_refused(ctx, tk_key_read(ctx, "garbage", &read), TK_BAD_FILE, "garbage: not an Ed25519 key");
    write_file(ctx, "empty", "");
    assert_refused(ctx, tk_key_read(ctx, "empty", &read), TK_BAD_FILE, "not a PEM key");
    FILE *file = fopen("locked", "w");
    assert_true(file && PEM_write_PKCS8PrivateKey(file, key->pair, EVP_aes_128_cbc(), "word", 4, NULL, NULL));
    fclose(file);
    assert_refused(ctx, tk_key_read(ctx, "locked", &read), TK_BAD_FILE, "password");
    EVP_PKEY *curve = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    file = fopen("curve", "w");
    assert_true(curve && file && PEM_write_PUBKEY(file, curve));
    fclose(file);
    EVP_PKEY_free(curve);
    assert_refused(ctx, tk_key_read(ctx, "curve", &read), TK_BAD_FILE, "not an Ed25519 key as RFC 8410");
    assert_int_equal(truncate("curve", TKI_KEY_MOST_BYTES + 1), 0);
    assert_refused(ctx, tk_key_read(ctx, "curve", &read), TK_BAD_FILE, "more than");
    assert_null(read);
    assert_refused(ctx, tk_key_read(ctx, NULL, &read), TK_BAD_ARGUMENT, "no path");
    assert_refused(ctx, tk_key_generate(ctx, NULL), TK_BAD_ARGUMENT, "no pointer");
    assert_int_equal(tk_key_generate(NULL, &read), TK_BAD_ARGUMENT);
    tk_key_destroy(NULL);
    tk_key_destroy(key);
    tk_key_destroy(other);
}

/* -- Envelopes ----------------------------------------------------------------------------------------------- */

TEST_WITH_CONTEXT(round_trip)
{
    tk_key *key = new_key(ctx);
    tk_key *second = new_key(ctx);
    tk_key *other_key = new_key(ctx);
    tk_certificate *certificate = small_certificate(ctx);
    tk_certificate *read = NULL;
    char *path = NULL;
    assert_int_equal(tk_certificate_signatures(certificate), 0);
    assert_null(tk_certificate_signer(certificate, 0));
    assert_refused(ctx, tk_certificate_verify(ctx, certificate, key), TK_BAD_FILE, "not signed");
    assert_ok(ctx, tk_certificate_write(ctx, certificate, "unsigned", NULL));
    assert_ok(ctx, tk_certificate_sign(ctx, certificate, key));
    assert_ok(ctx, tk_certificate_sign(ctx, certificate, second));
    assert_ok(ctx, tk_certificate_sign(ctx, certificate, key));
    assert_int_equal(tk_certificate_signatures(certificate), 2);
    assert_ok(ctx, tk_certificate_write(ctx, certificate, "signed", &path));
    char file[512];
    snprintf(file, sizeof file, "unsigned/%s.dsse.json", tk_certificate_subject(certificate));
    assert_int_not_equal(access(file, F_OK), 0);
    snprintf(file, sizeof file, "signed/%s.json", tk_certificate_subject(certificate));
    assert_string_equal(path, file);
    assert_ok(ctx, tk_certificate_read(ctx, path, &read));
    assert_int_equal(tk_certificate_signatures(read), 0);
    tk_certificate_destroy(read);
    snprintf(file, sizeof file, "signed/%s.dsse.json", tk_certificate_subject(certificate));
    assert_ok(ctx, tk_certificate_read(ctx, file, &read));
    assert_string_equal(tk_certificate_json(read), tk_certificate_json(certificate));
    assert_string_equal(tk_certificate_signer(read, 0), tk_key_id(key));
    assert_string_equal(tk_certificate_signer(read, 1), tk_key_id(second));
    assert_null(tk_certificate_signer(read, 2));
    assert_null(tk_certificate_signer(read, -1));
    assert_ok(ctx, tk_certificate_verify(ctx, read, key));
    assert_ok(ctx, tk_certificate_verify(ctx, read, second));
    assert_refused(ctx, tk_certificate_verify(ctx, read, other_key), TK_BAD_FILE, "and others");
    bool same = false;
    assert_ok(ctx, tk_certificate_replay(ctx, read, NULL, &same, NULL, NULL));
    assert_true(same);
    assert_refused(ctx, tk_certificate_sign(ctx, NULL, key), TK_BAD_ARGUMENT, "no certificate");
    assert_refused(ctx, tk_certificate_verify(ctx, read, NULL), TK_BAD_ARGUMENT, "no key");
    assert_ok(ctx, tk_key_write(ctx, key, "key", false));
    tk_key *public_half = NULL;
    assert_ok(ctx, tk_key_read(ctx, "key.pub", &public_half));
    assert_refused(ctx, tk_certificate_sign(ctx, read, public_half), TK_BAD_ARGUMENT, "cannot sign");
    assert_ok(ctx, tk_certificate_verify(ctx, read, public_half));
    tk_key_destroy(public_half);
    free(path);
    tk_certificate_destroy(read);
    tk_certificate_destroy(certificate);
    tk_key_destroy(key);
    tk_key_destroy(second);
    tk_key_destroy(other_key);
}

/* Is the text an intact certificate with this key's signature? */
static bool trusted(tk_ctx *ctx, const char *text, size_t length, const tk_key *key)
{
    tk_certificate *read = NULL;
    bool good = tk_certificate_parse(ctx, text, length, &read) == TK_OK &&
                tk_certificate_verify(ctx, read, key) == TK_OK;
    tk_certificate_destroy(read);
    return good;
}

static void flip_each_byte(tk_ctx *ctx, char *text, const char *member, const tk_key *key)
{
    size_t length = strlen(text);
    char *at = strstr(text, member);
    assert_non_null(at);
    at += strlen(member);
    size_t count = strcspn(at, "\"");
    assert_true(count >= 88);
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 8; bit++) {
            at[i] = (char)(at[i] ^ 1 << bit);
            if (trusted(ctx, text, length, key))
                fail_msg("bit %d of byte %zu of %s changed unnoticed", bit, i, member);
            at[i] = (char)(at[i] ^ 1 << bit);
        }
}

TEST_WITH_CONTEXT(every_flipped_byte_is_refused)
{
    tk_key *key = new_key(ctx);
    char *text = signed_envelope(ctx, key);
    assert_true(trusted(ctx, text, strlen(text), key));
    flip_each_byte(ctx, text, "\"payload\": \"", key);
    flip_each_byte(ctx, text, "\"sig\": \"", key);
    assert_true(trusted(ctx, text, strlen(text), key));
    /* All but the line feed at the end is needed. */
    for (size_t length = 0; length + 1 < strlen(text); length++)
        assert_false(trusted(ctx, text, length, key));
    free(text);
    tk_key_destroy(key);
}

/* A Statement that was edited and sealed anew is intact, but no longer signed. */
TEST_WITH_CONTEXT(a_careful_forger_is_found)
{
    tk_key *key = new_key(ctx);
    tk_key *forger = new_key(ctx);
    tk_certificate *certificate = small_certificate(ctx);
    assert_ok(ctx, tk_certificate_sign(ctx, certificate, key));
    json_t *predicate = json_object_get(certificate->statement, "predicate");
    char hash[65];
    json_object_set_new(predicate, "created", json_string("2026-01-01T00:00:00Z"));
    assert_true(tki_statement_hash(certificate->statement, hash));
    json_object_set_new(predicate, "integrity", json_pack("{s:s}", "sha256", hash));
    char *text = tk_certificate_envelope(certificate);
    tk_certificate *read = NULL;
    assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
    assert_refused(ctx, tk_certificate_verify(ctx, read, key), TK_BAD_FILE, "does not verify");
    /* Nor does it help to sign with another key under the name of the right one: ids are not believed. */
    assert_ok(ctx, tk_certificate_sign(ctx, read, forger));
    json_object_set_new(json_array_get(read->signatures, 1), "keyid", json_string(tk_key_id(key)));
    assert_refused(ctx, tk_certificate_verify(ctx, read, key), TK_BAD_FILE, "does not verify");
    assert_ok(ctx, tk_certificate_verify(ctx, read, forger));
    free(text);
    tk_certificate_destroy(read);
    tk_certificate_destroy(certificate);
    tk_key_destroy(key);
    tk_key_destroy(forger);
}

/* Changes one member of an envelope, which must then be refused with that message, or with NULL still be trusted. */
static void try_member(tk_ctx *ctx, const char *text, const tk_key *key, const char *member, json_t *value,
                       const char *message)
{
    json_t *envelope = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(envelope);
    assert_int_equal(json_object_set_new(envelope, member, value), 0);
    char *changed = json_dumps(envelope, JSON_COMPACT);
    tk_certificate *read = NULL;
    if (message)
        assert_refused(ctx, tk_certificate_parse(ctx, changed, strlen(changed), &read), TK_BAD_FILE, message);
    else
        assert_true(trusted(ctx, changed, strlen(changed), key));
    assert_null(read);
    free(changed);
    json_decref(envelope);
}

TEST_WITH_CONTEXT(envelopes_that_are_none)
{
    tk_key *key = new_key(ctx);
    char *text = signed_envelope(ctx, key);
    json_t *envelope = json_loads(text, 0, NULL);
    json_t *entry = json_array_get(json_object_get(envelope, "signatures"), 0);
    const char *sig = json_string_value(json_object_get(entry, "sig"));
    /* What DSSE allows: any layout, unknown members, no key id, signatures of other schemes beside ours. */
    try_member(ctx, text, key, "remark", json_string("passed over"), NULL);
    try_member(ctx, text, key, "signatures", json_pack("[{s:s}]", "sig", sig), NULL);
    try_member(ctx, text, key, "signatures",
               json_pack("[{s:s,s:s,s:i},O]", "sig", "AAAA", "keyid", "x", "new", 1, entry), NULL);
    /* What it does not. */
    try_member(ctx, text, key, "payloadType", json_string("application/json"), "payloadType");
    try_member(ctx, text, key, "payloadType", json_integer(1), "payloadType");
    try_member(ctx, text, key, "payload", json_integer(1), "payload");
    try_member(ctx, text, key, "payload", json_string("Zg="), "payload");
    try_member(ctx, text, key, "payload", json_string(""), "not JSON");
    try_member(ctx, text, key, "payload", json_string("e30="), "not a certificate");
    try_member(ctx, text, key, "signatures", json_array(), "from 1 to");
    try_member(ctx, text, key, "signatures", json_null(), "from 1 to");
    try_member(ctx, text, key, "signatures", json_pack("[{s:s}]", "keyid", "x"), "signature 0");
    try_member(ctx, text, key, "signatures", json_pack("[O,i]", entry, 1), "signature 1");
    try_member(ctx, text, key, "signatures", json_pack("[{s:s}]", "sig", ""), "signature 0");
    try_member(ctx, text, key, "signatures", json_pack("[{s:s}]", "sig", "A"), "signature 0");
    try_member(ctx, text, key, "signatures", json_pack("[{s:s,s:i}]", "sig", sig, "keyid", 1), "signature 0");
    json_t *many = json_array();
    for (int i = 0; i <= TKI_ENVELOPE_MOST_SIGNATURES; i++)
        json_array_append(many, entry);
    try_member(ctx, text, key, "signatures", many, "from 1 to");
    char *long_one = malloc(TKI_ENVELOPE_MOST_SIGNATURE + 5);
    memset(long_one, 'A', TKI_ENVELOPE_MOST_SIGNATURE + 4);
    long_one[TKI_ENVELOPE_MOST_SIGNATURE + 4] = 0;
    try_member(ctx, text, key, "signatures", json_pack("[{s:s}]", "sig", long_one), "signature 0");
    free(long_one);
    tk_certificate *read = NULL;
    static const char twice[] = "{\"payload\": \"\", \"payload\": \"\"}";
    assert_refused(ctx, tk_certificate_parse(ctx, twice, strlen(twice), &read), TK_BAD_FILE, "duplicate");
    /* An envelope in an envelope is not a certificate. */
    char *nested = tki_base64_encode(text, strlen(text));
    try_member(ctx, text, key, "payload", json_string(nested), "not a certificate");
    free(nested);
    /* Signatures are over the canonical text, so the line is none that could be signed. */
    assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
    char *line = tki_statement_line(read->statement);
    assert_non_null(line);
    char *in_line = tki_base64_encode(line, strlen(line));
    try_member(ctx, text, key, "payload", json_string(in_line), "not canonical");
    tk_certificate_destroy(read);
    free(in_line);
    free(line);
    json_decref(envelope);
    free(text);
    tk_key_destroy(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64),
        cmocka_unit_test(signed_text),
        ENTERED(rfc_8032),
        ENTERED(keys_under_which_anything_verifies),
        ENTERED(key_files),
        ENTERED(round_trip),
        cmocka_unit_test(every_flipped_byte_is_refused),
        cmocka_unit_test(a_careful_forger_is_found),
        cmocka_unit_test(envelopes_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
