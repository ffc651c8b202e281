/* Arguments that several commands take: what is chosen by default, by name, and what is said of a name that is none. */
#include <string.h>

#include "tests/unit_test.h"

/* They belong to the program, not to a library. */
#include "model/attributes.h"
#include "cli/common_arguments.c" /* NOLINT(bugprone-suspicious-include) */
#include "cli/parse.c"            /* NOLINT(bugprone-suspicious-include) */

static char complaint[4096];

void cli_complain(const char *who, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(complaint, sizeof complaint, "%s: ", who);
    va_start(arguments, format);
    vsnprintf(complaint + length, sizeof complaint - (size_t)length, format, arguments);
    va_end(arguments);
}

/* No test here has any. */
void cli_settings_apply(const tk_setting *settings, int count, tk_case *c)
{
    (void)settings, (void)c;
    assert_int_equal(count, 0);
}

static void assert_complaint(const char *text)
{
    assert_string_equal(complaint, text);
    complaint[0] = 0;
}

TEST(ops)
{
    const tk_contract *chosen[CLI_MOST_OPS];
    char gemm[] = "gemm", xent[] = "xent", wrong[] = "gemmm";
    int all = cli_choose_ops("t", NULL, 0, chosen);
    assert_null(tk_contract_at(all));
    for (int i = 0; i < all; i++)
        assert_ptr_equal(chosen[i], tk_contract_at(i));
    assert_int_equal(cli_choose_ops("t", (char *[]){xent, gemm, xent, gemm}, 4, chosen), 2);
    assert_ptr_equal(chosen[0], tk_contract_find("xent"));
    assert_ptr_equal(chosen[1], tk_contract_find("gemm"));
    assert_complaint("");
    assert_int_equal(cli_choose_ops("t", (char *[]){xent, wrong}, 2, chosen), 0);
    assert_complaint("t: unknown op 'gemmm'; did you mean 'gemm'?");
}

TEST(backend)
{
    const char *device;
    tk_backend_info info;
    assert_true(cli_choose_backend("t", NULL, NULL, &device, &info));
    assert_string_equal(device, "cpu");
    assert_string_equal(info.name, "cpu");
    assert_true(cli_choose_backend("t", NULL, "best", &device, &info));
    assert_string_equal(device, "cpu");
    assert_true(cli_choose_backend("t", NULL, "hip.gemm.f16.shared", &device, &info));
    assert_string_equal(device, "hip");
    assert_string_equal(info.name, "hip");
    assert_true(cli_choose_backend("t", "cuda:1", "cuda.gemm.f16.shared", &device, &info));
    assert_string_equal(device, "cuda:1");
    assert_string_equal(info.name, "cuda");
    assert_true(info.is_gpu);
    assert_true(cli_find_backend("t", "hip", &info));
    assert_string_equal(info.kernel_ending, ".hip");
    assert_complaint("");
    assert_false(cli_choose_backend("t", "cpu", "cuda.gemm.f16.shared", &device, &info));
    assert_complaint("t: --lowering must be of backend 'cpu', not cuda.gemm.f16.shared");
    assert_false(cli_choose_backend("t", "cudda", NULL, &device, &info));
    assert_complaint("t: unknown backend 'cudda'; did you mean 'cuda'?");
    assert_false(cli_find_backend("t", "cuda:1", &info));
    assert_complaint("t: unknown backend 'cuda:1'; did you mean 'cuda'?");
}

TEST(types)
{
    const tk_contract *gemm = tk_contract_find("gemm");
    cli_types chosen;
    assert_true(cli_choose_types("t", NULL, &gemm, 1, &chosen));
    assert_true(cli_types_have(&chosen, (tk_types){TK_F16, TK_F16}));
    assert_true(cli_types_have(&chosen, (tk_types){TK_F32, TK_F32}));
    assert_int_equal(cli_index_dtypes(-1, 77), 77);
    assert_true(cli_choose_types("t", "bf16", &gemm, 1, &chosen));
    assert_true(cli_types_have(&chosen, (tk_types){TK_BF16, TK_BF16}));
    assert_false(cli_types_have(&chosen, (tk_types){TK_F16, TK_F16}));
    assert_false(cli_types_have(&chosen, (tk_types){TK_BF16, TK_F32}));
    assert_string_equal(cli_name_types((tk_types){TK_BF16, TK_F32}).text, "bf16-f32");
    assert_int_equal(cli_index_dtypes(0, 77), 1u << TK_I32);
    assert_int_equal(cli_index_dtypes(1, 77), 1u << TK_I64);
    assert_int_equal(cli_index_dtypes(2, 77), 1u << TK_I32 | 1u << TK_I64);
    assert_complaint("");
    const tk_contract list = {.name = "list", TKI_TYPES_SUM};
    const tk_contract *lists[] = {&list, gemm};
    assert_true(cli_choose_types("t", "f16-f32", lists, 2, &chosen));
    assert_false(cli_choose_types("t", "double", lists, 2, &chosen));
    assert_complaint("t: unknown dtype 'double'; choose from: f16, bf16, f32, f16-f32, bf16-f32, f8_e4m3, f8_e5m2, "
                     "f8_e4m3-f32, f8_e5m2-f32, f8_e4m3-f8_e5m2, f8_e5m2-f8_e4m3, all");
    assert_false(cli_choose_types("t", "i64", lists, 1, &chosen));
    assert_complaint("t: unknown dtype 'i64'; choose from: f16, bf16, f32, f16-f32, bf16-f32, all");
}

TEST(shape)
{
    const tk_contract *ops[] = {tk_contract_find("softmax_fwd"), tk_contract_find("gemm")};
    const cli_attributes none = {.count = 0};
    cli_shape chosen = {.count = 77};
    assert_true(cli_choose_shape("t", NULL, ops, 2, &none, 1, &chosen));
    assert_int_equal(chosen.count, 77);
    assert_true(cli_choose_shape("t", "3x0", ops, 1, &none, 0, &chosen));
    assert_true(chosen.count == 2 && chosen.sizes[0] == 3 && chosen.sizes[1] == 0);
    assert_complaint("");
    assert_false(cli_choose_shape("t", "3x0", ops, 1, &none, 1, &chosen));
    assert_complaint("t: --shape '3x0' leaves x without elements");
    assert_false(cli_choose_shape("t", "4294967296x4294967296", ops, 1, &none, 0, &chosen));
    assert_complaint("t: --shape '4294967296x4294967296' makes x too large to be addressed");
    assert_false(cli_choose_shape("t", "3x4", ops, 2, &none, 0, &chosen));
    assert_complaint("t: --shape '3x4' has 2 sizes, but gemm has 3: m, n, k");
}

TEST(numbers)
{
    uint64_t seed = 5;
    int alignment = 6;
    assert_true(cli_choose_seed("t", NULL, &seed));
    assert_true(cli_choose_alignment("t", NULL, &alignment));
    assert_true(seed == 5 && alignment == 6);
    assert_true(cli_choose_seed("t", "0xffffffffffffffff", &seed));
    assert_true(cli_choose_alignment("t", "64", &alignment));
    assert_true(seed == UINT64_MAX && alignment == 64);
    assert_complaint("");
    assert_false(cli_choose_seed("t", "-1", &seed));
    assert_complaint("t: --seed must be a number from 0 to 2^64 - 1, decimal or 0x, not '-1'");
    assert_false(cli_choose_alignment("t", "3", &alignment));
    assert_complaint("t: --alignment must be 0 or a power of two from 1 to 256, not '3'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops),   cmocka_unit_test(backend), cmocka_unit_test(types),
        cmocka_unit_test(shape), cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
