/* Kernel sources inside the library (compile/kernel_sources.c): they are those of the repository, and what they include is found. */
#include <stdlib.h>

#include "compile/kernel_sources.h"
#include "core/file.h"
#include "core/hash.h"
#include "tests/op_test.h"

#define FILE_OF(path, text)         \
    {                               \
        path, text, sizeof text - 1 \
    }

TEST(embedded_text_is_that_of_the_files)
{
    const char *root = getenv("SOURCE_DIR");
    if (!root)
        skip();
    tk_ctx *ctx = new_context();
    int kernels = 0;
    for (const tki_source_file *file = tki_source_files; file->path; file++) {
        char path[4096];
        char *data;
        size_t bytes;
        snprintf(path, sizeof path, "%s/src/%s", root, file->path);
        assert_ok(ctx, tki_file_read(ctx, path, 1 << 24, &data, &bytes));
        assert_int_equal(bytes, file->bytes);
        assert_memory_equal(data, file->text, bytes);
        assert_int_equal(file->text[bytes], 0);
        free(data);
        kernels += strstr(file->path, ".cu") != NULL;
    }
    assert_true(kernels > 0);
    assert_non_null(tki_compiled_source_at(kernels - 1));
    assert_null(tki_compiled_source_at(kernels));
    assert_null(tki_compiled_source_at(-1));
    tk_ctx_destroy(ctx);
}

TEST_WITH_CONTEXT(every_kernel_has_all_it_includes)
{
    const char *path;
    for (int i = 0; (path = tki_compiled_source_at(i)); i++) {
        tki_source_set set;
        assert_ok(ctx, tki_source_gather(ctx, tki_source_files, path, &set));
        assert_string_equal(set.source->path, path);
        bool device = false;
        for (int h = 0; h < set.header_count; h++)
            device |= !strcmp(set.headers[h].file->path, "kernels/device.h");
        assert_true(device);
    }
}

TEST(includes_are_followed)
{
    static const tki_source_file table[] = {
        FILE_OF("ops/a/kernel.cu", "#include \"kernels/device.h\"\n  #  include \"params.h\"\n#include <stdint.h>\n"
                                   "/* \"x.h\" */\n#include \"kernels/device.h\"\n"),
        FILE_OF("ops/a/params.h", "struct p;"),
        FILE_OF("ops/b/params.h", "struct q;"),
        FILE_OF("kernels/device.h", "#include \"kernels/device_more.h\"\n"),
        FILE_OF("kernels/device_more.h", "#include \"kernels/device.h\"\n"),
        {0},
    };
    tk_ctx *ctx = new_context();
    tki_source_set set;
    assert_ok(ctx, tki_source_gather(ctx, table, "ops/a/kernel.cu", &set));
    assert_int_equal(set.header_count, 3);
    assert_string_equal(set.headers[0].name, "kernels/device.h");
    assert_string_equal(set.headers[1].name, "kernels/device_more.h");
    assert_string_equal(set.headers[2].name, "params.h");
    assert_ptr_equal(set.headers[2].file, &table[1]);

    /* The hash is that of `cat`. */
    tki_digest digest;
    char got[TKI_DIGEST_HEX], expected[TKI_DIGEST_HEX], text[1024] = "";
    assert_ok(ctx, tki_digest_open(ctx, &digest));
    assert_true(tki_source_hash(&digest, &set, got));
    strcat(text, table[0].text);
    strcat(text, table[3].text);
    strcat(text, table[4].text);
    strcat(text, table[1].text);
    assert_true(tki_hash_bytes(text, strlen(text), expected));
    assert_string_equal(got, expected);
    tk_ctx_destroy(ctx);
}

TEST(what_is_not_there_is_named)
{
    static const tki_source_file table[] = {
        FILE_OF("ops/a/kernel.cu", "#include \"missing.h\"\n"),
        FILE_OF("ops/b/kernel.cu", "#include \"params.h\"\n#include \"ops/b/params.h\"\n"),
        FILE_OF("ops/b/params.h", ""),
        {0},
    };
    tk_ctx *ctx = new_context();
    tki_source_set set;
    assert_refused(ctx, tki_source_gather(ctx, table, "ops/a/kernel.cu", &set), TK_INTERNAL, "\"missing.h\"");
    assert_refused(ctx, tki_source_gather(ctx, table, "ops/b/kernel.cu", &set), TK_INTERNAL, "known before");
    assert_refused(ctx, tki_source_gather(ctx, table, "ops/c/kernel.cu", &set), TK_BAD_ARGUMENT, "ops/c/kernel.cu");
    assert_refused(ctx, tki_source_gather(ctx, table, "ops/b/params.h", &set), TK_BAD_ARGUMENT, "ops/b/params.h");
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedded_text_is_that_of_the_files),
        cmocka_unit_test(every_kernel_has_all_it_includes),
        cmocka_unit_test(includes_are_followed),
        cmocka_unit_test(what_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
