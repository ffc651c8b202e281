/* Entries of the kernel cache (compile/cache_entry.c): what was written is read, anything else is refused. */
#include <stdlib.h>

#include "compile/cache_entry.h"
#include "core/hash.h"
#include "tests/op_test.h"

static tki_digest digest;
static char image[300];

static tki_compiled_kernel sample(void)
{
    tki_compiled_kernel a = {.image = image,
                             .image_bytes = sizeof image,
                             .backend = "cuda",
                             .source = "ops/gelu/kernel.cu",
                             .types = {TK_BF16, TK_BF16},
                             .architecture = "sm_90a",
                             .compiler = "NVRTC 13.0",
                             .identity = "NVRTC 13.0; 5 bytes of 6.000000007; /usr/lib/libnvrtc.so.13",
                             .options = "--gpu-architecture=sm_90a -DTKI_DTYPE=1",
                             .note = "a note",
                             .kernel_count = 2,
                             .kernels = {{"gelu_fwd", 32, 1, 2, 3, 4}, {"gelu_bwd", 2147483647, 0, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (char)(i * 37);
    assert_true(tki_digest_bytes(&digest, "source", 6, a.source_hash));
    assert_true(tki_digest_bytes(&digest, image, sizeof image, a.hash));
    assert_true(tki_entry_key(&digest, &a, a.key));
    return a;
}

/* On the heap and no longer than it is, so that a sanitizer sees a byte too far. */
static bool decodes(const char *data, size_t bytes, const char *key, tki_compiled_kernel *got, char problem[256])
{
    char *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    bool good = tki_entry_decode(&digest, copy, bytes, key, true, got, problem, 256);
    free(copy);
    assert_true(good == !problem[0]);
    assert_true(good == (got->image != NULL));
    return good;
}

static int open_digest(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tki_digest_open(ctx, &digest));
    tk_ctx_destroy(ctx);
    return 0;
}

/* The hash that is loaded at run time is the one that libtokitai-verify is linked to. */
TEST(sha256_is_sha256)
{
    char got[TKI_DIGEST_HEX], expected[TKI_DIGEST_HEX];
    assert_true(tki_digest_bytes(&digest, "abc", 3, got));
    assert_string_equal(got, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(tki_digest_bytes(&digest, "", 0, got));
    assert_true(tki_hash_bytes("", 0, expected));
    assert_string_equal(got, expected);
}

TEST(written_then_read)
{
    tki_compiled_kernel a = sample(), got;
    char problem[256];
    size_t bytes;
    char *data = tki_entry_encode(&digest, &a, &bytes);
    assert_non_null(data);
    assert_true(decodes(data, bytes, a.key, &got, problem));
    assert_int_equal(got.image_bytes, sizeof image);
    assert_memory_equal(got.image, image, sizeof image);
    assert_int_equal(((char *)got.image)[sizeof image], 0);
    assert_string_equal(got.key, a.key);
    assert_string_equal(got.hash, a.hash);
    assert_string_equal(got.source_hash, a.source_hash);
    assert_string_equal(got.backend, a.backend);
    assert_string_equal(got.source, a.source);
    assert_memory_equal(&got.types, &a.types, sizeof a.types);
    assert_string_equal(got.architecture, a.architecture);
    assert_string_equal(got.compiler, a.compiler);
    assert_string_equal(got.identity, a.identity);
    assert_string_equal(got.options, a.options);
    assert_string_equal(got.note, a.note);
    assert_string_equal(got.warnings, "");
    assert_int_equal(got.kernel_count, 2);
    assert_memory_equal(got.kernels, a.kernels, sizeof a.kernels);
    free(got.image);

    assert_true(tki_entry_decode(&digest, data, bytes, NULL, false, &got, problem, sizeof problem));
    assert_null(got.image);
    assert_string_equal(got.key, a.key);
    free(data);
}

TEST(every_truncation_is_found)
{
    tki_compiled_kernel a = sample(), got;
    char problem[256];
    size_t bytes;
    char *data = tki_entry_encode(&digest, &a, &bytes);
    assert_non_null(data);
    for (size_t length = 0; length < bytes; length++)
        assert_false(decodes(data, length, a.key, &got, problem));
    free(data);
}

TEST(every_changed_bit_is_found)
{
    tki_compiled_kernel a = sample(), got;
    char problem[256];
    size_t bytes;
    char *data = tki_entry_encode(&digest, &a, &bytes);
    assert_non_null(data);
    for (size_t i = 0; i < bytes; i++)
        for (int bit = 0; bit < 8; bit++) {
            data[i] = (char)(data[i] ^ 1 << bit);
            assert_false(decodes(data, bytes, a.key, &got, problem));
            data[i] = (char)(data[i] ^ 1 << bit);
        }
    assert_true(decodes(data, bytes, a.key, &got, problem));
    free(got.image);
    free(data);
}

TEST(a_byte_too_many_is_found)
{
    tki_compiled_kernel a = sample(), got;
    char problem[256];
    size_t bytes;
    char *data = tki_entry_encode(&digest, &a, &bytes);
    assert_non_null(data);
    char *longer = realloc(data, bytes + 1);
    assert_non_null(longer);
    longer[bytes] = 0;
    assert_false(decodes(longer, bytes + 1, a.key, &got, problem));
    assert_non_null(strstr(problem, "its image has 301 bytes, not 300"));
    free(longer);
}

TEST(swapped_entries_are_found)
{
    tki_compiled_kernel a = sample(), b = sample(), got;
    char problem[256];
    size_t bytes;
    strcpy(b.options, "other");
    assert_true(tki_entry_key(&digest, &b, b.key));
    assert_string_not_equal(a.key, b.key);
    char *data = tki_entry_encode(&digest, &b, &bytes);
    assert_false(decodes(data, bytes, a.key, &got, problem));
    assert_non_null(strstr(problem, "key is another"));
    free(data);

    /* Under the wanted key, with all other hashes put right: the key is not that of what the entry says. */
    memcpy(b.key, a.key, sizeof b.key);
    data = tki_entry_encode(&digest, &b, &bytes);
    assert_false(decodes(data, bytes, a.key, &got, problem));
    assert_non_null(strstr(problem, "its key does not match its content"));
    free(data);
}

/* Each part of what a kernel depends on makes key is another. */
TEST(every_part_counts_in_the_key)
{
    tki_compiled_kernel a = sample();
    char *const parts[] = {a.backend, a.source, a.source_hash, a.architecture, a.options, a.identity};
    char key[TKI_DIGEST_HEX];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i][0]++;
        assert_true(tki_entry_key(&digest, &a, key));
        assert_string_not_equal(key, a.key);
        parts[i][0]--;
    }
    static const tk_types others[] = {{TK_F16, TK_F16}, {TK_F32, TK_F32}, {TK_BF16, TK_F32}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        a.types = others[i];
        assert_true(tki_entry_key(&digest, &a, key));
        assert_string_not_equal(key, a.key);
    }
    a.types = (tk_types){TK_BF16, TK_BF16};
    assert_true(tki_entry_key(&digest, &a, key));
    assert_string_equal(key, a.key);
}

TEST(an_entry_without_an_image_is_none)
{
    tki_compiled_kernel a = sample(), got;
    char problem[256];
    size_t bytes;
    a.image_bytes = 0;
    char *data = tki_entry_encode(&digest, &a, &bytes);
    assert_non_null(data);
    assert_false(decodes(data, bytes, a.key, &got, problem));
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_is_sha256),
        cmocka_unit_test(written_then_read),
        cmocka_unit_test(every_truncation_is_found),
        cmocka_unit_test(every_changed_bit_is_found),
        cmocka_unit_test(a_byte_too_many_is_found),
        cmocka_unit_test(swapped_entries_are_found),
        cmocka_unit_test(every_part_counts_in_the_key),
        cmocka_unit_test(an_entry_without_an_image_is_none),
    };
    return cmocka_run_group_tests(tests, open_digest, NULL);
}
