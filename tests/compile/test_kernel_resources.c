/* What compilers say of kernels (compile/kernel_resources.c): kept samples of real output, and text that is none. */
#include <limits.h>
#include <stdlib.h>

#include "compile/kernel_resources.h"
#include "tests/op_test.h"

enum { MOST = TKI_COMPILED_KERNELS };

static const char nvrtc_log[] =
    "ops/x/kernel.cu(21): warning #177-D: variable \"unused\" was declared but never referenced\n"
    "      int unused;\n"
    "          ^\n"
    "\n"
    "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
    "\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
    "ptxas info    : Function properties for second\n"
    "ptxas         .     744 bytes stack frame, 1476 bytes spill stores, 1564 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers, 744 bytes cumulative stack size\n"
    "ptxas info    : Compile time = 36.552 ms\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
    "ptxas info    : Function properties for first\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem, 400 bytes cmem[0]\n"
    "ptxas info    : Compile time = 1.891 ms\n";

static const char clang_log[] =
    "ops/x/kernel.cu:4:1: remark: Function Name: first [-Rpass-analysis=kernel-resource-usage]\n"
    "    4 | {\n"
    "      | ^\n"
    "ops/x/kernel.cu:4:1: remark:     SGPRs: 14 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     VGPRs: 117 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     AGPRs: 11 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     ScratchSize [bytes/lane]: 48 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     Dynamic Stack: False [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     Occupancy [waves/SIMD]: 8 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     SGPRs Spill: 5 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     VGPRs Spill: 3 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:4:1: remark:     LDS Size [bytes/block]: 256 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:11:1: remark: Function Name: second [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:11:1: remark:     VGPRs: 4 [-Rpass-analysis=kernel-resource-usage]\n"
    "ops/x/kernel.cu:11:1: remark:     AGPRs: 0 [-Rpass-analysis=kernel-resource-usage]\n";

static void assert_kernel(const tki_kernel_resources *k, const char *name, int registers, int shared, int stack,
                          int stores, int loads)
{
    assert_string_equal(k->name, name);
    assert_int_equal(k->registers, registers);
    assert_int_equal(k->shared_bytes, shared);
    assert_int_equal(k->stack_bytes, stack);
    assert_int_equal(k->spill_store_bytes, stores);
    assert_int_equal(k->spill_load_bytes, loads);
}

TEST(ptxas_in_the_log_of_nvrtc)
{
    tki_kernel_resources kernels[MOST];
    assert_int_equal(tki_resources_of_ptxas(nvrtc_log, kernels, MOST), 2);
    assert_kernel(&kernels[0], "second", 32, 0, 744, 1476, 1564);
    assert_kernel(&kernels[1], "first", 12, 256, 0, 0, 0);
}

/* A function that was not inlined is listed among what belongs to its kernel. */
TEST(spills_of_called_functions_count)
{
    static const char log[] = "ptxas info    : Compiling entry function 'outer' for 'sm_90'\n"
                              "ptxas info    : Function properties for inner\n"
                              "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                              "ptxas info    : Function properties for outer\n"
                              "    32 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
                              "ptxas info    : Used 255 registers, used 1 barriers, 48 bytes cumulative stack size\n";
    tki_kernel_resources kernels[MOST];
    assert_int_equal(tki_resources_of_ptxas(log, kernels, MOST), 1);
    assert_kernel(&kernels[0], "outer", 255, 0, 48, 16, 12);
}

TEST(remarks_of_clang)
{
    tki_kernel_resources kernels[MOST];
    assert_int_equal(tki_resources_of_clang(clang_log, kernels, MOST), 2);
    assert_kernel(&kernels[0], "first", 128, 256, 48, 12, 12);
    assert_kernel(&kernels[1], "second", 4, 0, 0, 0, 0);
}

TEST(nothing_is_found_in_nothing)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "ptxas info    : Used 32 registers\n",
        "Compiling entry function '",
        "Compiling entry function 'no end",
        "Compiling entry function '' for 'sm_90'",
        "Compiling entry function 'two words' for 'sm_90'",
        ": remark: Function Name: ",
        ": remark: Function Name:  [-Rpass-analysis=kernel-resource-usage]",
        ": remark:     VGPRs: 4 [-Rpass-analysis=kernel-resource-usage]",
        "\xff\xfe\x01",
    };
    tki_kernel_resources kernels[MOST];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(tki_resources_of_ptxas(texts[i], kernels, MOST), 0);
        assert_int_equal(tki_resources_of_clang(texts[i], kernels, MOST), 0);
    }
}

/* The log of a compiler that was ended while it wrote. */
TEST(cut_anywhere)
{
    const char *const logs[] = {nvrtc_log, clang_log};
    tki_kernel_resources kernels[MOST];
    for (size_t l = 0; l < 2; l++)
        for (size_t length = 0; length <= strlen(logs[l]); length++) {
            char *cut = strndup(logs[l], length); /* on the heap, where a sanitizer sees the byte too far */
            assert_non_null(cut);
            assert_in_range(tki_resources_of_ptxas(cut, kernels, MOST), 0, 2);
            assert_in_range(tki_resources_of_clang(cut, kernels, MOST), 0, 2);
            free(cut);
        }
}

TEST(too_many_too_large_too_long)
{
    tki_kernel_resources kernels[3];
    static const char log[] = "Compiling entry function 'a' for\n"
                              "Used 99999999999999999999 registers, 4294967296 bytes smem\n"
                              "2147483647 bytes stack frame, 2147483647 bytes spill stores, 1 bytes spill loads\n"
                              "1 bytes stack frame, 2147483647 bytes spill stores, 1 bytes spill loads\n"
                              "Compiling entry function 'b' for\n"
                              "Compiling entry function 'c' for\n"
                              "Used 7 registers\n";
    memset(kernels, 'x', sizeof kernels);
    assert_int_equal(tki_resources_of_ptxas(log, kernels, 2), 2);
    assert_kernel(&kernels[0], "a", INT_MAX, INT_MAX, INT_MAX, INT_MAX, 2);
    assert_kernel(&kernels[1], "b", 0, 0, 0, 0, 0);
    assert_int_equal(kernels[2].name[0], 'x');

    char line[1200] = "Compiling entry function '";
    size_t used = strlen(line);
    memset(line + used, 'n', 100);
    strcpy(line + used + 100, "' for 'sm_90'\n");
    assert_int_equal(tki_resources_of_ptxas(line, kernels, 2), 1);
    assert_int_equal(strlen(kernels[0].name), sizeof kernels[0].name - 1);
    memset(line + used, 'n', 1000);
    strcpy(line + used + 1000, "' for 'sm_90'\n");
    assert_int_equal(tki_resources_of_ptxas(line, kernels, 2), 0);
}

TEST(warnings_are_found)
{
    char text[512], small[8];
    tki_log_warnings(nvrtc_log, text, sizeof text);
    assert_string_equal(text,
                        "ops/x/kernel.cu(21): warning #177-D: variable \"unused\" was declared but never referenced");
    tki_log_warnings(clang_log, text, sizeof text);
    assert_string_equal(text, "");
    tki_log_warnings(
        "a.cu:1:2: warning: one\n1 warning generated when compiling for gfx942.\nb.cu:3:4: warning: two\n", text,
        sizeof text);
    assert_string_equal(text, "a.cu:1:2: warning: one | b.cu:3:4: warning: two");
    tki_log_warnings(
        "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized\n", text,
        sizeof text);
    assert_non_null(strstr(text, "C7511"));
    tki_log_warnings("x: warning: long enough to be cut\n", small, sizeof small);
    assert_int_equal(strlen(small), sizeof small - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptxas_in_the_log_of_nvrtc),
        cmocka_unit_test(spills_of_called_functions_count),
        cmocka_unit_test(remarks_of_clang),
        cmocka_unit_test(nothing_is_found_in_nothing),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(too_many_too_large_too_long),
        cmocka_unit_test(warnings_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
