/* Which ops a shared library exports, read from bytes that may be anything. The library is compiled here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"
#include "core/file.h"
#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"
#include "tests/unit_test.h"

typedef struct library {
    tk_ctx *ctx;
    char folder[32];
    char *image;
    size_t bytes;
} library;

static int setup(void **state)
{
    library *l = calloc(1, sizeof *l);
    char command[1024];
    char path[64];
    assert_non_null(l);
    *state = l;
    assert_int_equal(tk_ctx_create(&l->ctx), TK_OK);
    snprintf(l->folder, sizeof l->folder, "/tmp/tokitai-test-XXXXXX");
    assert_non_null(mkdtemp(l->folder));
    snprintf(
        command, sizeof command,
        "cd %s && printf 'int shared = 1; int tokitai_gelu_fwd(void) { return shared; } static int "
        "tokitai_gemm(void) { return 0; }"
        "int tokitai_xent = 3; int tokitai_softmax_bwd(void); int tokitai_gelu_fwd_not(void) { return "
        "tokitai_softmax_bwd() + tokitai_gemm(); } int tokitai_embedding_bwd(void) { return 1; } int "
        "tokitai_gemm_grad_a_v2(void) { "
        "return 1; } int tokitai_softmax_fwd_v2_not(void) { return 1; } int tokitai_softmax_fwd_v(void) { return 1; "
        "}' >k.c && "
        "cc -fPIC -shared -o k.so k.c",
        l->folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/k.so", l->folder);
    assert_int_equal(tki_file_read(l->ctx, path, 1 << 24, &l->image, &l->bytes), TK_OK);
    return 0;
}

static int teardown(void **state)
{
    library *l = *state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", l->folder);
    assert_int_equal(system(command), 0);
    tk_ctx_destroy(l->ctx);
    free(l->image);
    free(l);
    return 0;
}

static int exported_count(const char *ops)
{
    int count = 0;
    for (int i = 0; tk_contract_at(i); i++)
        count += tki_exports_op(ops, tk_contract_at(i)->name);
    return count;
}

/* Of either version, with nothing before or behind the name; and of an op that nobody knows yet. */
TEST(test_lists)
{
    const char *ops = "my_gelu_fwd gelu_fwd_v2 gemm_grad_a softmax_fwd_v22 ";
    assert_true(tki_exports_op(ops, "gelu_fwd"));
    assert_true(tki_exports_op(ops, "gemm_grad_a"));
    assert_true(tki_exports_op(ops, "my_gelu_fwd"));
    assert_false(tki_exports_op(ops, "gemm"));
    assert_false(tki_exports_op(ops, "grad_a"));
    assert_false(tki_exports_op(ops, "softmax_fwd"));
    assert_false(tki_exports_op("", "gemm"));
}

/* Neither a static function, nor a variable, nor one that is only used, nor a longer name. */
static void test_functions_only(void **state)
{
    const library *l = *state;
    char ops[4096];
    assert_true(tki_exported_ops(l->image, l->bytes, ops, sizeof ops));
    assert_true(tki_exports_op(ops, "gelu_fwd"));
    assert_true(tki_exports_op(ops, "embedding_bwd"));
    assert_true(tki_exports_op(ops, "gemm_grad_a"));
    assert_int_equal(exported_count(ops), 3);
}

/* `shared` is reached as any program's of that name; what is only used of another library is not. */
static void test_reached_by_name(void **state)
{
    const library *l = *state;
    unsigned uses = 0;
    tki_uses_of_library(l->image, l->bytes, &uses);
    assert_int_equal(uses, 1u << TKI_USE_EXPORTS);
}

/* Every prefix, each in memory of its own, so that a sanitizer sees a read behind its end. */
static void test_cut(void **state)
{
    const library *l = *state;
    char ops[4096];
    for (size_t bytes = 0; bytes < l->bytes; bytes += bytes < 4096 ? 1 : 97) {
        char *part = malloc(bytes ? bytes : 1);
        assert_non_null(part);
        memcpy(part, l->image, bytes);
        unsigned uses = 0;
        (void)tki_exported_ops(part, bytes, ops, sizeof ops);
        tki_uses_of_library(part, bytes, &uses);
        free(part);
    }
    assert_false(tki_exported_ops(l->image, 10, ops, sizeof ops));
    assert_false(tki_exported_ops(l->image, l->bytes / 2, ops, sizeof ops));
}

/* Bytes changed one by one to the extremes: whatever is found, nothing outside is read. */
static void test_damaged(void **state)
{
    const library *l = *state;
    static const unsigned char values[] = {0, 0x7f, 0xff};
    char *copy = malloc(l->bytes);
    char ops[4096];
    int accepted = 0;
    assert_non_null(copy);
    memcpy(copy, l->image, l->bytes);
    for (size_t i = 0; i < l->bytes; i += i < 64 || i > l->bytes - 4096 ? 1 : 13)
        for (size_t v = 0; v < sizeof values; v++) {
            copy[i] = (char)values[v];
            unsigned uses = 0;
            accepted += tki_exported_ops(copy, l->bytes, ops, sizeof ops);
            tki_uses_of_library(copy, l->bytes, &uses);
            copy[i] = l->image[i];
        }
    assert_true(accepted > 0);
    assert_true(tki_exported_ops(copy, l->bytes, ops, sizeof ops));
    assert_int_equal(exported_count(ops), 3);
    memset(copy, 0xff, l->bytes);
    assert_false(tki_exported_ops(copy, l->bytes, ops, sizeof ops));
    free(copy);
}

TEST(test_names)
{
    static const char *const good[] = {"k.c", "k.cpp", "k.cc", "k.cu", "k.hip", "k.so", "a/b.d/k.x.c"};
    static const char *const bad[] = {"", "k", "k.", "k.C", "k.o", "k.c.txt", "c"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(tk_kernel_file_named(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tk_kernel_file_named(bad[i]));
    assert_false(tk_kernel_file_named(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_only), cmocka_unit_test(test_lists),           cmocka_unit_test(test_cut),
        cmocka_unit_test(test_damaged),        cmocka_unit_test(test_reached_by_name), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
