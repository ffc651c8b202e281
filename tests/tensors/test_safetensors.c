/* safetensors files: every kept input is refused for the reason in its name, or taken; headers are written and read again. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensors/safetensors.h"
#include "tests/unit_test.h"

static tk_ctx *ctx;

static int open_context(void **state)
{
    (void)state;
    return tk_ctx_create(&ctx) != TK_OK;
}

static int close_context(void **state)
{
    (void)state;
    tk_ctx_destroy(ctx);
    return 0;
}

TEST(corpus_is_judged_by_name)
{
    char folder[4096], path[8192];
    bool seen[TKI_MALFORMED_KINDS] = {false};
    const char *source = getenv("SOURCE_DIR");
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/safetensors", source ? source : ".");
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));) {
        tki_safetensors file;
        tki_malformed kind;
        if (entry->d_name[0] < 'A' || entry->d_name[0] > 'Z')
            continue; /* of the fuzzer's own finding */
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        tk_status status = tki_safetensors_open(ctx, path, &file, &kind);
        const char *name = tki_malformed_name(kind);
        if (strncmp(name, entry->d_name, strlen(name)) || entry->d_name[strlen(name)] != '.')
            fail_msg("%s was found %s: %s", entry->d_name, name, tk_ctx_message(ctx));
        assert_int_equal(status, kind == TKI_WELL_FORMED ? TK_OK : TK_BAD_FILE);
        if (status == TK_OK)
            tki_safetensors_close(&file);
        else
            assert_non_null(strstr(tk_ctx_message(ctx), name));
        seen[kind] = true;
    }
    closedir(list);
    for (int kind = 0; kind < TKI_MALFORMED_KINDS; kind++)
        if (!seen[kind])
            fail_msg("no kept file is %s", tki_malformed_name((tki_malformed)kind));
}

TEST(headers_are_laid_out)
{
    tki_tensor tensors[] = {
        {.name = "z", .type = TK_U8, .rank = 1, .shape = {3}},
        {.name = "b\"\n\xc3\xa9", .type = TK_F32, .rank = 2, .shape = {2, 5}},
        {.name = "a", .type = TK_F32, .rank = 0},
        {.name = "empty", .type = TKI_F64, .rank = 2, .shape = {0, 4}},
    };
    int64_t data;
    size_t head;
    tki_safetensors file;
    tki_malformed kind;
    assert_true(tki_safetensors_lay_out(tensors, 4, &data));
    assert_int_equal(data, 47);
    assert_string_equal(tensors[0].name, "empty");
    assert_string_equal(tensors[1].name, "a");
    json_t *metadata = json_pack("{s:s}", "format", "pt");
    char *header = tki_safetensors_header(tensors, 4, metadata, &head);
    json_decref(metadata);
    assert_non_null(header);
    assert_int_equal(head % TKI_SAFETENSORS_ALIGNMENT, 0);
    char *whole = calloc(head + 47, 1);
    assert_non_null(whole);
    memcpy(whole, header, head);
    assert_int_equal(tki_safetensors_parse(ctx, "x", whole, head + 47, &file, &kind), TK_OK);
    assert_int_equal(file.count, 4);
    assert_string_equal(tki_safetensors_metadata(&file, "format"), "pt");
    assert_null(tki_safetensors_metadata(&file, "step"));
    assert_int_equal(tki_safetensors_find(&file, "b\"\n\xc3\xa9")->shape[1], 5);
    assert_null(tki_safetensors_find(&file, "y"));
    tki_safetensors_close(&file);
    /* Every shorter part of it is refused. */
    for (size_t size = 0; size < head + 47; size++) {
        assert_int_equal(tki_safetensors_parse(ctx, "x", whole, size, &file, &kind), TK_BAD_FILE);
        assert_true(kind == TKI_LENGTH_CUT || kind == TKI_HEADER_CUT || kind == TKI_DATA_CUT);
    }
    free(whole);
    free(header);
}

TEST(a_layout_beyond_memory_is_refused)
{
    int64_t data;
    tki_tensor tensors[] = {
        {.name = "a", .type = TK_U8, .rank = 1, .shape = {INT64_MAX / 8}},
        {.name = "b", .type = TK_U8, .rank = 1, .shape = {INT64_MAX / 8}},
    };
    assert_true(tki_safetensors_lay_out(tensors, 2, &data));
    tensors[0].shape[0]++;
    assert_false(tki_safetensors_lay_out(tensors, 2, &data));
}

TEST(what_is_no_file_is_refused)
{
    tki_safetensors file;
    tki_malformed kind;
    assert_int_equal(tki_safetensors_open(ctx, "/nonexistent", &file, &kind), TK_IO);
    assert_int_equal(tki_safetensors_open(ctx, "/", &file, &kind), TK_IO);
    assert_int_equal(tki_safetensors_open(ctx, "/dev/null", &file, &kind), TK_IO);
}

/* -- Elements ------------------------------------------------------------------------------------------------ */

TEST(patterns_are_read_and_named)
{
    static const struct {
        tk_dtype type;
        uint64_t bits;
        const char *text;
    } table[] = {
        {TK_F16, 0x3c00, "0x3c00 (1)"},
        {TK_F16, 0x0001, "0x0001 (5.96046448e-08)"},
        {TK_F16, 0xfc00, "0xfc00 (-inf)"},
        {TK_F16, 0x7e00, "0x7e00 (NaN)"},
        {TK_BF16, 0x3f80, "0x3f80 (1)"},
        {TK_F32, 0x80000000, "0x80000000 (-0)"},
        {TK_F8_E4M3, 0x7e, "0x7e (448)"},
        {TK_F8_E4M3, 0x7f, "0x7f (NaN)"},
        {TK_F8_E5M2, 0x7b, "0x7b (57344)"},
        {TK_F8_E5M2, 0x7c, "0x7c (inf)"},
        {TKI_F8_E4M3FNUZ, 0x7f, "0x7f (240)"},
        {TKI_F8_E4M3FNUZ, 0x80, "0x80 (NaN)"},
        {TKI_F8_E5M2FNUZ, 0x7f, "0x7f (57344)"},
        {TKI_F8_E8M0, 0x7f, "0x7f (1)"},
        {TKI_F8_E8M0, 0xff, "0xff (NaN)"},
        {TKI_F4, 0x7, "0x7 (6)"},
        {TKI_F6_E2M3, 0x1f, "0x1f (7.5)"},
        {TKI_F6_E3M2, 0x1f, "0x1f (28)"},
        {TKI_I8, 0xff, "0xff (-1)"},
        {TK_U8, 0xff, "0xff (255)"},
        {TK_BOOL, 1, "0x01 (1)"},
        {TKI_F64, 0x3ff0000000000000, "0x3ff0000000000000 (1)"},
        {TKI_C64, 0xbf80000040000000, "0xbf80000040000000 (2-1i)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[TKI_ELEMENT_TEXT];
        tki_element_text(table[i].type, table[i].bits, text);
        assert_string_equal(text, table[i].text);
    }
    static const unsigned char bytes[] = {0x21, 0x43, 0x65};
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(tki_element_at(TKI_F4, bytes, i), i + 1);
    static const unsigned char sixes[] = {0xc1, 0x40, 0x20}; /* 1, 3, 4, 8 */
    assert_int_equal(tki_element_at(TKI_F6_E2M3, sixes, 0), 1);
    assert_int_equal(tki_element_at(TKI_F6_E2M3, sixes, 1), 3);
    assert_int_equal(tki_element_at(TKI_F6_E2M3, sixes, 2), 4);
    assert_int_equal(tki_element_at(TKI_F6_E2M3, sixes, 3), 8);
    assert_int_equal(tki_element_at(TKI_U16, bytes + 1, 0), 0x6543);
}

/* Sorted by value, neighbours of each 16-bit and 8-bit type are one ulp apart, and the zeros none. */
TEST(neighbours_are_one_ulp_apart)
{
    static const tk_dtype types[] = {TK_F16,          TK_BF16,     TK_F8_E4M3, TK_F8_E5M2,  TKI_F8_E4M3FNUZ,
                                     TKI_F8_E5M2FNUZ, TKI_F8_E8M0, TKI_F4,     TKI_F6_E2M3, TKI_F6_E3M2};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const int bits = tki_format_of(types[t]).bits;
        const bool has_sign = types[t] != TKI_F8_E8M0;
        const uint64_t end = (uint64_t)1 << (bits - has_sign);
        for (uint64_t a = 0; a + 1 < end; a++) {
            if (tki_element_is_nan(types[t], a + 1))
                continue;
            assert_int_equal(tki_element_ulps(types[t], a, a + 1), tki_element_is_nan(types[t], a) ? UINT64_MAX : 1);
            if (has_sign && a)
                assert_int_equal(tki_element_ulps(types[t], a, a | end), 2 * a);
        }
    }
    assert_int_equal(tki_element_ulps(TK_F16, 0, 0x8000), 0);
    assert_int_equal(tki_element_ulps(TK_F16, 0x7e00, 0x7e01), 0);
    assert_int_equal(tki_element_ulps(TK_F16, 0x7e00, 0), UINT64_MAX);
    assert_int_equal(tki_element_ulps(TK_I64, (uint64_t)INT64_MIN, INT64_MAX), UINT64_MAX);
    assert_int_equal(tki_element_ulps(TKI_I8, 0xff, 1), 2);
    assert_int_equal(tki_element_ulps(TKI_F64, 0xffefffffffffffff, 0x7fefffffffffffff), 0xffdffffffffffffe);
    assert_int_equal(tki_element_ulps(TKI_C64, 0x3f80000000000003, 0x3f80000100000001), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus_is_judged_by_name),          cmocka_unit_test(headers_are_laid_out),
        cmocka_unit_test(a_layout_beyond_memory_is_refused), cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(patterns_are_read_and_named),       cmocka_unit_test(neighbours_are_one_ulp_apart),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
