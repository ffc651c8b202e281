/* Fuzz target: every argument parser of the program on the same text. What is taken must keep its promises. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The parsers belong to the program, not to a library. */
#include "cli/parse.c" /* NOLINT(bugprone-suspicious-include) */

static const tk_contract ops[] = {
    {.name = "vector", .dim_count = 1, .dim_names = (const char *const[]){"n"}},
    {.name = "rows", .dim_count = 2, .dim_names = (const char *const[]){"rows", "cols"}},
    {.name = "product", .dim_count = 3, .dim_names = (const char *const[]){"m", "n", "k"}},
};

static void try_numbers(const char *text)
{
    uint64_t wide;
    int64_t narrow;
    float real;
    int count;
    if (cli_parse_signed(text, &narrow) && narrow >= 0 && text[0] != '-')
        assert(cli_parse_unsigned(text, &wide) && wide == (uint64_t)narrow);
    if (cli_parse_float(text, &real))
        assert(isfinite(real));
    if (cli_parse_count(text, -3, 9, &count))
        assert(count >= -3 && count <= 9);
    cli_types types;
    if (cli_parse_types(text, &types) && types.one)
        assert(tk_dtype_size(types.types.dtype) != 0 && tk_dtype_size(types.types.result_dtype) != 0);
}

static void try_shape(const char *text)
{
    cli_shape shape;
    cli_error error;
    if (!cli_parse_shape(text, &shape, &error)) {
        assert(error.text[0]);
        return;
    }
    assert(shape.count >= 1 && shape.count <= TK_MAX_DIMS);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        tk_case c = {.contract = &ops[i], .dims = {-1, -1, -1}};
        if (!cli_shape_fit(&shape, &c, &error))
            continue;
        for (int d = 0; d < ops[i].dim_count; d++)
            assert(c.dims[d] >= 0);
    }
}

static void try_input(const char *text)
{
    static const tk_dtype types[] = {TK_F16, TK_I32, TK_I64};
    cli_error error;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        cli_input input;
        if (!cli_parse_input(text, &input, &error)) {
            assert(!input.bits && error.text[0]);
            return;
        }
        if (cli_input_fit(&input, types[t], &error))
            for (int64_t i = 0; i < input.count; i++) {
                assert(types[t] != TK_F16 || input.bits[i] <= 0xffff);
                assert(types[t] != TK_I32 || (uint64_t)(int32_t)input.bits[i] == input.bits[i]);
            }
        cli_input_free(&input);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"gelu_fwd", "gelu_bwd", "softmax_fwd", "exhaustive", "x"};
    char *text = calloc(size + 1, 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    try_numbers(text);
    try_shape(text);
    try_input(text);
    cli_nearest(text, names, sizeof names / sizeof *names);
    free(text);
    return 0;
}
