/* Options of other sizes than ours (core/sized_options.c), and the structs that have one. */
#include <string.h>

#include "core/sized_options.h"
#include "tests/op_test.h"
#include "tokitai_serve.h"
#include "tokitai_verify.h"

typedef struct ours {
    size_t size;
    int64_t first;
    double second;
} ours;

typedef struct older {
    size_t size;
    int64_t first;
} older;

typedef struct newer {
    size_t size;
    int64_t first;
    double second;
    int64_t third;
} newer;

static const ours defaults = {.size = sizeof(ours), .first = 7, .second = 0.5};

static tk_status take(tk_ctx *ctx, const void *given, ours *taken)
{
    *taken = defaults;
    return tki_options_take(ctx, "ours", given, taken, sizeof *taken);
}

TEST_WITH_CONTEXT(test_sizes)
{
    ours taken;
    assert_ok(ctx, take(ctx, NULL, &taken));
    assert_memory_equal(&taken, &defaults, sizeof taken);
    assert_ok(ctx, take(ctx, &(ours){.size = sizeof(ours), .first = 1}, &taken));
    assert_int_equal(taken.first, 1);
    assert_true(taken.second == 0);
    assert_ok(ctx, take(ctx, &(older){.size = sizeof(older), .first = 2}, &taken));
    assert_int_equal(taken.size, sizeof(ours));
    assert_int_equal(taken.first, 2);
    assert_true(taken.second == 0.5); /* the default, not zero */
    assert_ok(ctx, take(ctx, &(newer){.size = sizeof(newer), .first = 3, .second = 4}, &taken));
    assert_int_equal(taken.size, sizeof(ours));
    assert_int_equal(taken.first, 3);
    assert_true(taken.second == 4);
    assert_int_equal(take(ctx, &(newer){.size = sizeof(newer), .third = 1}, &taken), TK_BAD_ARGUMENT);
    assert_string_equal(tk_ctx_message(ctx), "ours sets a member that version 0.2.0 of the library does not know");
    assert_memory_equal(&taken, &defaults, sizeof taken);
    const size_t none[] = {0, 1, sizeof(size_t) - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(take(ctx, &(ours){.size = none[i]}, &taken), TK_BAD_ARGUMENT);
        assert_string_equal(tk_ctx_message(ctx), "ours has no valid size; start from its defaults");
    }
}

/* Every call that takes such a struct asks for its size. */
TEST_WITH_CONTEXT(test_calls)
{
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_certificate *certificate = NULL;
    tk_kernel_file *kernel = NULL;
    tk_server *server = NULL;
    tk_corpus_entry *entries = NULL;
    int count;
    bool same;
    char program[] = "/bin/false";
    const int64_t dims[] = {1};
    assert_int_equal(tk_certify(ctx, contract, TK_F16, TK_I32, &(tk_certify_options){0}, &certificate),
                     TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "tk_certify_options has no valid size"));
    assert_int_equal(tk_corpus_run(ctx, contract, TK_F16, &(tk_certify_options){0}, &entries, &count),
                     TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "tk_certify_options has no valid size"));
    assert_int_equal(tk_kernel_file_open(ctx, "x.c", &(tk_kernel_file_options){0}, &kernel), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "tk_kernel_file_options has no valid size"));
    assert_int_equal(tk_server_open(ctx, (char *[]){program, NULL}, &(tk_server_options){0}, &server),
                     TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "tk_server_options has no valid size"));

    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = dims;
    options.skip_mutants = true;
    options.size = offsetof(tk_certify_options, total_seconds); /* as if all that follows had been added since */
    options.total_seconds = -1;
    assert_ok(ctx, tk_certify(ctx, contract, TK_F16, TK_I32, &options, &certificate));
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_int_equal(tk_certificate_replay(ctx, certificate, &(tk_replay_options){0}, &same, NULL, NULL),
                     TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_ctx_message(ctx), "tk_replay_options has no valid size"));
    tk_certificate_destroy(certificate);
}

#define ENDS_WITH(type, member)                                                        \
    assert_int_equal(offsetof(type, member) + sizeof((type){0}.member), sizeof(type)); \
    assert_int_equal(offsetof(type, size), 0)

/* No padding behind the last member: a later one in its place would be taken for set in an older struct. */
TEST(test_no_room_at_the_end)
{
    ENDS_WITH(tk_certify_options, fresh_mutants);
    ENDS_WITH(tk_replay_options, progress_data);
    ENDS_WITH(tk_kernel_file_options, library_alone);
    ENDS_WITH(tk_server_options, reply_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_no_room_at_the_end),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
