/* Ops of programs on bytes: a cast with a scale to 8 bits, which saturates unless it is asked not to, and one with masks (bool) and levels
 * (u8), as inputs and as outputs. */
#include <math.h>

#include "exact/round.h"
#include "model/attributes.h"
#include "model/contract_parts.h"
#include "model/format.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

enum { FIRST, SECOND, THIRD };

/* -- y = RN(x scale) in 8 bits ------------------------------------------------------------------------------------ */

enum { BY_BOUND, BY_VALUE };

#define SCALED                                                                                                       \
    .name = "scaled_cast", .summary = "a cast to 8 bits", .formula = "y = x scale", .bound = "B = 0",                \
    .dim_count = 2, .dim_names = (const char *const[]){"rows", "cols"}, .param_count = 3,                            \
    .params =                                                                                                        \
        (const tk_param[]){                                                                                          \
            {.name = "x", .rank = 2, .dim = (const int[]){0, 1}, APART},                                             \
            {.name = "scale",                                                                                        \
             .kind = TK_KIND_FIXED,                                                                                  \
             .dtype = TK_F32,                                                                                        \
             .rank = 1,                                                                                              \
             .dim = (const int[]){0},                                                                                \
             APART,                                                                                                  \
             .least = 0x1p-6,                                                                                        \
             .most = 0x1p6},                                                                                         \
            {.name = "y", .output = true, .kind = TK_KIND_RESULT, .rank = 2, .dim = (const int[]){0, 1}, APART}},    \
    .type_count = 3, .types = (const tk_types[]){{TK_F32, TK_F8_E4M3}, {TK_BF16, TK_F8_E4M3}, {TK_F32, TK_F8_E5M2}}, \
    .clause_count = 2, .clauses = (const tk_clause[])                                                                \
    {                                                                                                                \
        [BY_BOUND] = {TK_CLAUSE_ERROR, "SCALED_CAST.ERR", "y is rounded once"}, [BY_VALUE] = {                       \
            TK_CLAUSE_VALUE,                                                                                         \
            "SCALED_CAST.SPECIAL",                                                                                   \
            "NaN and infinities stay"                                                                                \
        }                                                                                                            \
    }

static const tk_contract scaled = {SCALED, TKI_ATTRIBUTES(TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_SATURATE))};
static const tk_contract without_choice = {SCALED};

/* Exact in double: 24 bits by 24, and no product that is not 0 is below 2^-155. */
static double product(const tk_case *c, const void *const buffers[], int64_t i)
{
    return tki_decode(c->dtype, tki_element_bits(c->dtype, buffers[FIRST], i)) *
           (double)((const float *)buffers[SECOND])[i / c->dims[1]];
}

static tk_status enclose_product(const tk_case *c, const void *const buffers[], int output, int64_t first,
                                 int64_t count, tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        const double y = product(c, buffers, first + i);
        out[i] = isfinite(y) ? (tk_enclosure){.lo = y, .hi = y, .admits = TK_ADMIT_INTERVAL, .clause = BY_BOUND}
                             : (tk_enclosure){.admits = isnan(y) ? TK_ADMIT_NAN
                                                        : y > 0  ? TK_ADMIT_PLUS_INF
                                                                 : TK_ADMIT_MINUS_INF,
                                              .clause = BY_VALUE};
    }
    return TK_OK;
}

typedef enum way { RIGHT, SATURATES, OVERFLOWS, TOO_EARLY, NO_SCALE, LAST_BIT, ZERO_MASKED, WRAPS, WAYS } way;
#define WAY(how) ((void *)(intptr_t)(how))

static int cast(const tk_case *c, void *const buffers[], void *data)
{
    const way how = (way)(intptr_t)data;
    const tki_format f = tki_format_of(c->result_dtype);
    const bool asked = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_OVERFLOW) == TKI_OVERFLOW_SATURATE;
    const bool saturates = how == SATURATES || (how != OVERFLOWS && asked);
    const uint32_t most = how == TOO_EARLY ? f.largest - 1 : f.largest;
    for (int64_t i = 0; i < tk_case_elements(c, THIRD); i++) {
        const double y = how == NO_SCALE ? tki_decode(c->dtype, tki_element_bits(c->dtype, buffers[FIRST], i))
                                         : product(c, (const void *const *)buffers, i);
        uint32_t bits = tki_round_double(c->result_dtype, y);
        if (!isnan(y) && (bits & (f.sign - 1)) > most)
            bits = saturates || how == TOO_EARLY ? (bits & f.sign) | most : bits;
        ((uint8_t *)buffers[THIRD])[i] = (uint8_t)(how == LAST_BIT && bits == 0x21 ? 0x22 : bits);
    }
    return 0;
}

static const tk_contract *register_cast(tk_ctx *ctx)
{
    static const tk_implementation right = {.name = "plain", .run = cast, .user_data = WAY(RIGHT)};
    static const tk_planted mutants[] = {
        {"too_early", "saturates one number too early", cast, WAY(TOO_EARLY), TK_QUICK},
        {"no_scale", "forgets the scale", cast, WAY(NO_SCALE), TK_QUICK},
        {"last_bit", "is wrong in the last bit of one number", cast, WAY(LAST_BIT), TK_QUICK},
    };
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose_product;
    reference.mutant_count = sizeof mutants / sizeof *mutants;
    reference.mutants = mutants;
    assert_ok(ctx, tk_contract_register(ctx, &scaled, 1, &right, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    return op;
}

/* `overflow` NULL: the contract's own choice. `kernel` RIGHT: the implementation. */
static tk_certificate *certify_cast(tk_ctx *ctx, const tk_contract *op, tk_types types, const char *overflow, way how)
{
    const tk_setting settings[] = {{"overflow", overflow}};
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.result_dtype = &types.result_dtype;
    options.setting_count = overflow != NULL;
    options.settings = settings;
    if (how != RIGHT) {
        options.kernel = cast;
        options.kernel_name = "cast";
        options.kernel_data = WAY(how);
        options.skip_mutants = true;
    }
    return certify_one(ctx, op, types.dtype, TK_I32, options);
}

TEST_WITH_CONTEXT(a_cast_with_a_scale_saturates_unless_asked_not_to)
{
    const tk_contract *op = register_cast(ctx);
    for (int t = 0; t < op->type_count; t++)
        for (int asked = 0; asked < 3; asked++) {
            static const char *const choices[] = {NULL, "saturate", "nan"};
            const bool saturates = asked < 2;
            if (t > 0 && (asked == 1 || is_sanitized))
                continue;
            for (way how = RIGHT; how <= (t == 1 ? RIGHT : OVERFLOWS); how++) {
                tk_certificate *c = certify_cast(ctx, op, op->types[t], choices[asked], how);
                const bool right = how == RIGHT || saturates == (how == SATURATES);
                assert_int_equal(tk_certificate_verdict(c), right ? TK_HELD : TK_REFUTED);
                const char *said = saturates ? "with overflow=saturate" : "with overflow=nan";
                assert_non_null(strstr(tk_certificate_headline(c), said));
                assert_ok(ctx, tk_certificate_agrees(ctx, c));
                if (how == RIGHT) {
                    int rejected = 0;
                    assert_int_equal(tk_certificate_mutants(c, &rejected), 3);
                    assert_int_equal(rejected, 3);
                }
                tk_certificate_destroy(c);
            }
        }
}

TEST_WITH_CONTEXT(results_of_8_bits_need_the_choice)
{
    const tk_implementation right = {.name = "plain", .run = cast};
    const tk_contract *op = NULL;
    assert_refused(ctx, tk_contract_register(ctx, &without_choice, 1, &right, &op), TK_BAD_ARGUMENT,
                   "an output is of f8_e4m3 or f8_e5m2, and no attribute has the role TK_ROLE_OVERFLOW");
    assert_null(op);
}

/* -- z = mask ? level : other, and whether z is above a limit --------------------------------------------------------- */

enum { MASK, LEVEL, OTHER, Z, ABOVE };
enum { LIMIT = 100 };

static const tk_contract chosen = {
    .name = "chosen",
    .summary = "levels by a mask",
    .formula = "z = level where mask, else other; above = z > 100",
    .bound = "B = 0",
    .dim_count = 1,
    .dim_names = (const char *const[]){"n"},
    .param_count = 5,
    .params =
        (const tk_param[]){
            [MASK] =
                {.name = "mask", .kind = TK_KIND_FIXED, .dtype = TK_BOOL, .rank = 1, .dim = (const int[]){0}, APART},
            [LEVEL] = {.name = "level", .rank = 1, .dim = (const int[]){0}, APART},
            [OTHER] = {.name = "other", .rank = 1, .dim = (const int[]){0}, APART},
            [Z] = {.name = "z", .output = true, .judged = TK_BY_INTEGER, .rank = 1, .dim = (const int[]){0}, APART},
            [ABOVE] = {.name = "above",
                       .output = true,
                       .kind = TK_KIND_FIXED,
                       .dtype = TK_BOOL,
                       .judged = TK_BY_INTEGER,
                       .rank = 1,
                       .dim = (const int[]){0},
                       APART}},
    .elementwise = true,
    .type_count = 1,
    .types = (const tk_types[]){{TK_U8, TK_U8}},
    .clause_count = 1,
    .clauses = (const tk_clause[]){{TK_CLAUSE_ERROR, "CHOSEN.ERR",
                                    "z is the chosen level, above is whether it is large"}},
};

static int choose(const tk_case *c, void *const buffers[], void *data)
{
    const way how = (way)(intptr_t)data;
    const uint8_t *mask = buffers[MASK], *level = buffers[LEVEL], *other = buffers[OTHER];
    for (int64_t i = 0; i < c->dims[0]; i++) {
        const uint8_t z = mask[i] ? level[i] : how == ZERO_MASKED ? 0 : other[i];
        ((uint8_t *)buffers[Z])[i] = how == WRAPS ? z & 0x7f : z;
        ((uint8_t *)buffers[ABOVE])[i] = how == LAST_BIT ? (z > LIMIT) * 2 : z > LIMIT - (how == TOO_EARLY);
    }
    return 0;
}

static tk_status enclose_choice(const tk_case *c, const void *const buffers[], int output, int64_t first,
                                int64_t count, tk_enclosure *out, void *data)
{
    (void)c;
    (void)data;
    const uint8_t *mask = buffers[MASK], *level = buffers[LEVEL], *other = buffers[OTHER];
    for (int64_t i = 0; i < count; i++) {
        assert_true(mask[first + i] <= 1); /* the judge draws nothing else */
        const uint8_t z = mask[first + i] ? level[first + i] : other[first + i];
        out[i] = (tk_enclosure){.bits = output == Z ? z : z > LIMIT, .admits = TK_ADMIT_BITS};
    }
    return TK_OK;
}

TEST_WITH_CONTEXT(masks_and_levels_are_judged)
{
    static const tk_implementation right = {.name = "plain", .run = choose, .user_data = WAY(RIGHT)};
    static const tk_planted mutants[] = {
        {"zero_masked", "takes 0 where the mask is not set", choose, WAY(ZERO_MASKED), TK_QUICK},
        {"wraps", "keeps seven bits", choose, WAY(WRAPS), TK_QUICK},
        {"too_early", "is above one level too early", choose, WAY(TOO_EARLY), TK_QUICK},
        {"two_for_true", "writes a bool that is neither 0 nor 1", choose, WAY(LAST_BIT), TK_QUICK},
    };
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose_choice;
    reference.mutant_count = sizeof mutants / sizeof *mutants;
    reference.mutants = mutants;
    assert_ok(ctx, tk_contract_register(ctx, &chosen, 1, &right, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));

    uint8_t mask[] = {1, 0, 1}, level[] = {255, 1, 100}, other[] = {2, 101, 3}, z[3], above[3];
    tk_case c = tk_case_init(op, TK_U8);
    c.dims[0] = 3;
    assert_ok(ctx, tk_run(ctx, &c, (void *const[]){mask, level, other, z, above}));
    assert_memory_equal(z, ((uint8_t[]){255, 101, 100}), 3);
    assert_memory_equal(above, ((uint8_t[]){1, 1, 0}), 3);

    for (tk_level level_of = TK_QUICK; level_of <= TK_EXHAUSTIVE; level_of += TK_EXHAUSTIVE - TK_QUICK) {
        int rejected = 0;
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.level = level_of;
        tk_certificate *certificate = certify_one(ctx, op, TK_U8, TK_I32, options);
        assert_int_equal(tk_certificate_verdict(certificate), level_of == TK_QUICK ? TK_HELD : TK_PROVED);
        assert_int_equal(tk_certificate_mutants(certificate, &rejected), 4);
        assert_int_equal(rejected, 4);
        assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
        tk_certificate_destroy(certificate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cast_with_a_scale_saturates_unless_asked_not_to),
        cmocka_unit_test(results_of_8_bits_need_the_choice),
        cmocka_unit_test(masks_and_levels_are_judged),
    };
    return cmocka_run_group_tests_name("small_formats", tests, NULL, NULL);
}
