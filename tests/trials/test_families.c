/* Input families: repeatable, inside their buffers, and each with what its description promises; the trials of a level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/random.h"
#include "exact/round.h"
#include "judge/guard.h"
#include "judge/trial.h"
#include "kernel_file/kernel_file.h"
#include "model/attributes.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "trials/families.h"
#include "trials/levels.h"

/* A matrix product's inputs, summed along the columns of the one and the rows of the other, and an index beside them. */
static const tk_contract product = {
    .name = "product",
    TKI_TYPES_16_BITS,
    .dim_count = 3,
    .dim_names = (const char *const[]){"m", "n", "k"},
    .param_count = 4,
    .params =
        (const tk_param[]){
            {.name = "a",
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 2},
             .inner_axis = 1,
             .may_alias = -1},
            {.name = "b",
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){2, 1},
             .inner_axis = 0,
             .may_alias = -1},
            {.name = "index", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){0}, .indexed_dim = 1, APART},
            {.name = "c", .output = true, .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
        },
};

/* The same with the first input summed along its rows. */
static const tk_contract down = {
    .name = "down",
    TKI_TYPES_16_BITS,
    .dim_count = 2,
    .dim_names = (const char *const[]){"k", "n"},
    .param_count = 2,
    .params =
        (const tk_param[]){
            {.name = "a",
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 1},
             .inner_axis = 0,
             .may_alias = -1},
            {.name = "c", .output = true, .kind = TK_KIND_VALUE, .rank = 1, .dim = (const int[]){1}, APART},
        },
};

/* As softmax takes its input. */
static const tk_contract row = {
    .name = "row",
    TKI_TYPES_16_BITS,
    .dim_count = 2,
    .dim_names = (const char *const[]){"r", "c"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "x",
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 1},
             .inner_axis = 1,
             .may_alias = -1,
             .neutral = TK_NEUTRAL_LOW},
            {.name = "target",
             .kind = TK_KIND_INDEX,
             .rank = 1,
             .dim = (const int[]){0},
             .indexed_dim = 1,
             APART,
             .also = "ignore_index"},
            {.name = "y", .output = true, .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
        },
    TEST_OPTIONS,
};

static const tk_contract *contract_at(int i)
{
    static const tk_contract *const made_up[] = {&product, &down, &row};
    if (i < 3)
        return made_up[i];
    return tk_contract_at(i - 3);
}

typedef struct inputs {
    tki_guarded guard[TK_MAX_PARAMS];
    void *data[TK_MAX_PARAMS];
    size_t bytes[TK_MAX_PARAMS];
} inputs;

static void inputs_make(inputs *in, const tk_case *c)
{
    *in = (inputs){0};
    for (int p = 0; p < c->contract->param_count; p++) {
        size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
        in->bytes[p] = (size_t)tk_case_elements(c, p) * element;
        assert_true(tki_guard_alloc(&in->guard[p], (tki_placement){.alignment = 1}, in->bytes[p], element));
        in->data[p] = in->guard[p].data;
        memset(in->data[p], 0x5a, in->bytes[p]);
    }
}

/* Nothing around the buffers changed, and no output did. */
static void inputs_check(const inputs *in, const tk_case *c)
{
    int64_t offset;
    for (int p = 0; p < c->contract->param_count; p++) {
        assert_true(tki_guard_intact(&in->guard[p], &offset));
        for (size_t i = 0; c->contract->params[p].output && i < in->bytes[p]; i++)
            assert_int_equal(((const unsigned char *)in->data[p])[i], 0x5a);
    }
}

static void inputs_free(inputs *in)
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        tki_guard_free(&in->guard[p]);
}

static bool inputs_equal(const inputs *a, const inputs *b, const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (memcmp(a->data[p], b->data[p], a->bytes[p]) != 0)
            return false;
    return true;
}

static tk_case make_case(const tk_contract *contract, tk_dtype dtype, int64_t d0, int64_t d1, int64_t d2)
{
    tk_case c = tk_case_init(contract, dtype);
    memcpy(c.dims, (int64_t[]){d0, d1, d2, 3}, 4 * sizeof(int64_t));
    return c;
}

static int family(const char *name)
{
    int f = tki_family_find(name);
    assert_true(f >= 0);
    return f;
}

TEST(names)
{
    int count = 0;
    const char *what;
    for (const char *name; (name = tk_family_at(count, &what)); count++) {
        assert_int_equal(tki_family_find(name), count);
        assert_true(strlen(what) > 5);
    }
    assert_true(count >= 20);
    assert_null(tk_family_at(-1, NULL));
    assert_null(tk_family_at(count, NULL));
    assert_false(tk_family_applies(-1, tk_contract_at(0)));
    assert_false(tk_family_applies(count, tk_contract_at(0)));
    assert_int_equal(tki_family_find("nothing"), -1);
    assert_int_equal(tki_family_find(""), -1);
    const tk_contract *gelu = tk_contract_find("gelu_fwd");
    assert_true(tk_family_applies(family("normal"), gelu));
    assert_false(tk_family_applies(family("cancel"), gelu));
    assert_false(tk_family_applies(family("zipf"), gelu));
    assert_true(tk_family_applies(family("exact"), tk_contract_find("embedding_bwd")));
    assert_false(tk_family_applies(family("exact"), tk_contract_find("softmax_fwd")));
    assert_false(tk_family_applies(family("plateau"), tk_contract_find("gemm")));
    assert_false(tk_family_applies(family("each_pattern"), tk_contract_find("embedding_fwd")));
    assert_false(tk_family_applies(family("offset"), tk_contract_find("gemm")));
    for (int f = 0; f < count; f++) {
        bool applies = false;
        for (int i = 0; tk_contract_at(i); i++)
            applies |= tk_family_applies(f, tk_contract_at(i));
        assert_true(applies);
    }
    for (int i = 0; tk_contract_at(i); i++)
        for (int turn = 0; turn < 12; turn++)
            assert_true(tk_family_applies(tki_family_main(tk_contract_at(i), turn), tk_contract_at(i)));
}

/* What a definition adds may be subtracted from: norms show in it which form they are evaluated in. */
TEST_WITH_CONTEXT(offsets_are_for_definitions_that_add)
{
    static const struct {
        const char *text;
        bool applies;
    } rows[] = {{"op rms(x[r, c]) -> y[r, c]\n    y = x * rsqrt(mean[c](square(x)) + 1)\n", true},
                {"op normed(x[r, c]) -> y[r, c]\n    y = standardize[c](x, 1e-5)\n", true},
                {"op share(x[r, c]) -> y[r, c]\n    y = softmax[c](x)\n", true},
                {"op twice(x[r, c]) -> y[r, c]\n    y = 2 * x\n", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tk_contract *op;
        assert_ok(ctx, tk_op_define(ctx, rows[i].text, strlen(rows[i].text), NULL, &op));
        assert_int_equal(tk_family_applies(family("offset"), op), rows[i].applies);
    }
}

/* A draw in which chance plays no part for this op. */
static bool is_fixed(int f, const tk_contract *contract)
{
    if (f == family("structure") || f == family("ones") || f == family("lone") ||
        f == family("spread")) /* an identity is one; a short line has each of its terms */
        return true;
    return f == family("midpoint") && (contract->params[0].neutral == TK_NEUTRAL_LOW) &&
           !tk_contract_takes_index(contract);
}

TEST(repeatable_and_inside)
{
    static const int64_t shapes[][3] = {{0, 0, 0}, {5, 0, 3}, {0, 4, 1}, {1, 1, 1}, {3, 5, 7}, {17, 33, 20}};
    for (int i = 0; contract_at(i); i++)
        for (int f = 0; tk_family_at(f, NULL); f++)
            for (int s = 0; s < 6; s++) {
                const tk_contract *contract = contract_at(i);
                if (!tk_family_applies(f, contract))
                    continue;
                tk_case c = make_case(contract, (i + f + s) & 1 ? TK_F16 : TK_BF16, shapes[s][0], shapes[s][1],
                                      shapes[s][2]);
                c.index_dtype = f & 1 ? TK_I64 : TK_I32;
                inputs a;
                inputs b;
                inputs_make(&a, &c);
                inputs_make(&b, &c);
                tki_family_fill(f, &c, 42, a.data);
                tki_family_fill(f, &c, 42, b.data);
                inputs_check(&a, &c);
                assert_true(inputs_equal(&a, &b, &c));
                bool differs = false;
                for (uint64_t seed = 43; seed < 46 && !differs; seed++) {
                    tki_family_fill(f, &c, seed, b.data);
                    differs = !inputs_equal(&a, &b, &c);
                }
                if (s == 5 && !differs && !is_fixed(f, contract))
                    fail_msg("%s of %s is the same for every seed", tk_family_at(f, NULL), contract->name);
                inputs_free(&a);
                inputs_free(&b);
            }
}

static int64_t index_at(const tk_case *c, const void *data, int64_t i)
{
    return c->index_dtype == TK_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

static void check_indices(const tk_case *c, int param)
{
    inputs in;
    inputs_make(&in, c);
    int64_t bound = c->dims[c->contract->params[param].indexed_dim];
    for (int f = 0; tk_family_at(f, NULL); f++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            tki_family_fill(f, c, seed, in.data);
            inputs_check(&in, c);
            for (int64_t i = 0, before = 0; i < tk_case_elements(c, param); i++) {
                int64_t index = index_at(c, in.data[param], i);
                if (!tki_index_is_valid(c, param, before, index))
                    fail_msg("%s of %s: index %lld is outside [0, %lld)", tk_family_at(f, NULL), c->contract->name,
                             (long long)index, (long long)bound);
                before = index;
            }
        }
    inputs_free(&in);
}

/* Every kind of groups that kernels treat apart occurs in some draw. */
TEST(ends_of_every_kind)
{
    enum { FIRST_EMPTY, MIDDLE_EMPTY, LAST_EMPTY, ALL_EMPTY, ONE_HAS_ALL, REST, EQUAL, WHOLE_TILES, KINDS };
    bool seen[KINDS] = {false};
    tk_case c = make_case(tk_contract_find("grouped_gemm"), TK_F16, 192, 1, 1);
    c.dims[3] = 6;
    inputs in;
    inputs_make(&in, &c);
    for (int f = 0; tk_family_at(f, NULL); f++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            tki_family_fill(f, &c, seed, in.data);
            const int64_t last = index_at(&c, in.data[2], 5);
            int empty = 0, tiles = 0, equal = 0;
            for (int i = 0; i < 6; i++) {
                const int64_t places = index_at(&c, in.data[2], i) - (i ? index_at(&c, in.data[2], i - 1) : 0);
                empty += places == 0;
                tiles += places > 0 && places % 32 == 0;
                equal += places == 32;
                seen[FIRST_EMPTY] |= i == 0 && places == 0 && last > 0;
                seen[MIDDLE_EMPTY] |= i == 3 && places == 0 && index_at(&c, in.data[2], 2) > 0 &&
                                      last > index_at(&c, in.data[2], 3);
                seen[LAST_EMPTY] |= i == 5 && places == 0 && last == 192;
            }
            seen[ALL_EMPTY] |= empty == 6;
            seen[ONE_HAS_ALL] |= empty == 5 && last == 192;
            seen[REST] |= last > 0 && last < 192;
            seen[EQUAL] |= equal == 6;
            seen[WHOLE_TILES] |= tiles > 1 && equal < 6;
        }
    for (int k = 0; k < KINDS; k++)
        if (!seen[k])
            fail_msg("no ends of kind %d", k);
    inputs_free(&in);
}

TEST(indices_are_in_range)
{
    static const int64_t bounds[] = {1, 2, 3, 5, 64};
    for (int b = 0; b < 5; b++)
        for (int wide = 0; wide < 2; wide++) {
            tk_case c = make_case(&product, TK_F16, 100, bounds[b], 1);
            c.index_dtype = wide ? TK_I64 : TK_I32;
            check_indices(&c, 2);
            c = make_case(&row, TK_F16, 100, bounds[b], 0);
            c.index_dtype = wide ? TK_I64 : TK_I32;
            /* What an i32 cannot hold is never drawn as one. */
            static const int64_t ignored[] = {-100, 0, -1, INT64_MIN, INT64_MAX, (INT64_C(1) << 32) + 7};
            for (int k = 0; k < 6; k++) {
                set_integer(&c, "ignore_index", ignored[k]);
                check_indices(&c, 1);
            }
        }
    /* With nothing to point at, only an ignored target is valid. */
    tk_case c = make_case(&row, TK_F16, 30, 0, 0);
    check_indices(&c, 1);
    /* Far beyond i32. Only the index is filled: the other inputs have no elements. */
    c = make_case(&product, TK_F16, 1000, INT64_C(1) << 40, 0);
    c.index_dtype = TK_I64;
    for (int f = 0; tk_family_at(f, NULL); f++) {
        static int64_t index[1000];
        tki_family_fill(f, &c, 5, (void *[]){NULL, NULL, index, NULL});
        for (int i = 0; i < 1000; i++)
            assert_true(index[i] >= 0 && index[i] < INT64_C(1) << 40);
    }
}

TEST(index_families)
{
    enum { COUNT = 500, BOUND = 1000 };
    tk_case c = make_case(&product, TK_F16, COUNT, BOUND, 0);
    static int32_t index[COUNT];
    void *data[] = {NULL, NULL, index, NULL};
    tki_family_fill(family("same_index"), &c, 1, data);
    for (int i = 1; i < COUNT; i++)
        assert_int_equal(index[i], index[0]);
    tki_family_fill(family("sorted_index"), &c, 1, data);
    for (int i = 1; i < COUNT; i++)
        assert_true(index[i] >= index[i - 1]);
    assert_true(index[COUNT - 1] > BOUND / 2);
    tki_family_fill(family("each_once"), &c, 1, data);
    bool seen[BOUND] = {false};
    for (int i = 0; i < COUNT; i++) {
        assert_false(seen[index[i]]);
        seen[index[i]] = true;
    }
    tki_family_fill(family("ends"), &c, 1, data);
    int first = 0;
    int last = 0;
    for (int i = 0; i < COUNT; i++) {
        first += index[i] == 0;
        last += index[i] == BOUND - 1;
    }
    assert_int_equal(first + last, COUNT);
    assert_true(first > 100 && last > 100);
    tki_family_fill(family("zipf"), &c, 1, data);
    int zeros = 0;
    int large = 0;
    for (int i = 0; i < COUNT; i++) {
        zeros += index[i] == 0;
        large += index[i] > BOUND / 10;
    }
    assert_true(zeros > COUNT / 3 && large > 0);
}

/* -- What the values promise ----------------------------------------------------------------------------------- */

enum { LINES = 48, LENGTH = 5000 };

static const tk_dtype dtypes[] = {TK_F16, TK_BF16};

/* The first input of each made-up op as LINES lines of LENGTH, whatever way it is stored. */
typedef struct lines {
    double *value; /* [LINES, LENGTH] */
    uint16_t *bits;
} lines;

static void draw_lines(lines *v, const tk_contract *contract, tk_dtype dtype, const char *name, uint64_t seed)
{
    bool down_rows = contract == &down;
    tk_case c = contract == &product ? make_case(contract, dtype, LINES, 2, LENGTH)
                : down_rows          ? make_case(contract, dtype, LENGTH, LINES, 0)
                                     : make_case(contract, dtype, LINES, LENGTH, 0);
    inputs in;
    inputs_make(&in, &c);
    tki_family_fill(family(name), &c, seed, in.data);
    v->value = malloc(sizeof *v->value * LINES * LENGTH);
    v->bits = malloc(sizeof *v->bits * LINES * LENGTH);
    assert_non_null(v->value);
    assert_non_null(v->bits);
    for (int l = 0; l < LINES; l++)
        for (int t = 0; t < LENGTH; t++) {
            uint16_t bits = ((const uint16_t *)in.data[0])[down_rows ? t * LINES + l : l * LENGTH + t];
            v->bits[l * LENGTH + t] = bits;
            v->value[l * LENGTH + t] = tki_decode(dtype, bits);
        }
    inputs_free(&in);
}

static void free_lines(lines *v)
{
    free(v->value);
    free(v->bits);
}

/* Terms at one stride up to the last place, from the first, up to any place, and terms everywhere. */
TEST(few_has_the_promised_counts)
{
    static const int counts[] = {1, 2, 8, 16};
    static const int strides[] = {1, 16, 256};
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            const tk_contract *contract = contract_at(i);
            double nothing = !(contract->params[0].neutral == TK_NEUTRAL_LOW) ? 0
                             : dtypes[d] == TK_F16                            ? -32752
                                                                              : -0x1.fep126;
            bool seen[4][3] = {{false}};
            int last = 0;
            int first = 0;
            int early = 0;
            int uneven = 0;
            lines v;
            draw_lines(&v, contract, dtypes[d], "few", 7);
            for (int l = 0; l < LINES; l++) {
                const double *line = &v.value[l * LENGTH];
                int places[16];
                int found = 0;
                for (int t = 0; t < LENGTH; t++)
                    if (line[t] != nothing) {
                        assert_true(found < 16);
                        places[found++] = t;
                    }
                assert_true(found > 0);
                bool even = true;
                for (int k = 2; k < found; k++)
                    even &= places[k] - places[k - 1] == places[1] - places[0];
                uneven += !even;
                for (int k = 0; k < 4; k++)
                    for (int j = 0; j < 3; j++)
                        seen[k][j] |= even && found == counts[k] &&
                                      (found == 1 || places[1] - places[0] == strides[j]);
                last += places[found - 1] == LENGTH - 1;
                first += places[0] == 0;
                early += places[found - 1] < LENGTH - 256 * 16;
            }
            for (int k = 0; k < 4; k++)
                for (int j = 0; j < 3; j++)
                    assert_true(seen[k][j]);
            assert_true(last >= LINES / 4 && first >= LINES / 4 && early >= 4 && uneven >= 4);
            free_lines(&v);
        }
    /* A line shorter than the count has a term, and stays inside. */
    for (int64_t length = 1; length < 20; length++) {
        tk_case c = make_case(&product, TK_F16, 24, 2, length);
        inputs in;
        inputs_make(&in, &c);
        tki_family_fill(family("few"), &c, 3, in.data);
        inputs_check(&in, &c);
        for (int l = 0; l < 24; l++) {
            int terms = 0;
            for (int64_t t = 0; t < length; t++)
                terms += (((const uint16_t *)in.data[0])[l * length + t] & 0x7fff) != 0;
            assert_true(terms > 0);
        }
        inputs_free(&in);
    }
}

/* A signalling NaN of each sign, a quiet one, both infinities, both zeros; for ops that sum and ops that do not. */
TEST(special_has_every_special_value)
{
    static const char *const elementwise = "gelu_bwd";
    for (int i = 0; i < 4; i++)
        for (int d = 0; d < 2; d++) {
            uint16_t infinity = (uint16_t)tki_round_double(dtypes[d], INFINITY);
            const uint16_t special[] = {(uint16_t)(infinity | 1),
                                        (uint16_t)tki_canonical_nan(dtypes[d]),
                                        infinity,
                                        (uint16_t)(infinity | 0x8000),
                                        0,
                                        0x8000,
                                        (uint16_t)(infinity | 0x8001)};
            const tk_contract *contract = i < 3 ? contract_at(i) : tk_contract_find(elementwise);
            tk_case c = make_case(contract, dtypes[d], 300, 40, 40);
            inputs in;
            inputs_make(&in, &c);
            tki_family_fill(family("special"), &c, 1, in.data);
            for (int p = 0; p < contract->param_count; p++) {
                if (contract->params[p].output || contract->params[p].kind != TK_KIND_VALUE)
                    continue;
                int64_t n = tk_case_elements(&c, p);
                int64_t finite = 0;
                for (int k = 0; k < 7; k++) {
                    int64_t found = 0;
                    for (int64_t e = 0; e < n; e++)
                        found += ((const uint16_t *)in.data[p])[e] == special[k];
                    if (found == 0)
                        fail_msg("0x%04x is not among %s of %s", special[k], contract->params[p].name,
                                 contract->name);
                }
                for (int64_t e = 0; e < n; e++)
                    finite += tki_is_finite(dtypes[d], ((const uint16_t *)in.data[p])[e]);
                assert_true(finite > n / 4);
            }
            inputs_free(&in);
        }
}

TEST(patterns_cover)
{
    enum { N = 1 << 20 };
    const tk_contract *gelu = tk_contract_find("gelu_fwd");
    uint16_t *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (int finite = 0; finite < 2; finite++)
        for (int d = 0; d < 2; d++) {
            static bool seen[65536];
            memset(seen, 0, sizeof seen);
            tk_case c = make_case(gelu, dtypes[d], N, 0, 0);
            tki_family_fill(family(finite ? "finite_bits" : "bits"), &c, 20261115, (void *[]){x, NULL});
            for (int i = 0; i < N; i++)
                seen[x[i]] = true;
            for (uint32_t bits = 0; bits < 65536; bits++)
                assert_int_equal(seen[bits], !finite || tki_is_finite(dtypes[d], bits));
        }
    free(x);
}

TEST(shapes_of_values)
{
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            const tk_contract *contract = contract_at(i);
            bool low = (contract->params[0].neutral == TK_NEUTRAL_LOW);
            double infinity_at = dtypes[d] == TK_F16 ? 65504 : 0x1.fep127;
            double smallest = dtypes[d] == TK_F16 ? 0x1p-14 : 0x1p-126;
            lines v;
            draw_lines(&v, contract, dtypes[d], "subnormal", 1);
            int64_t subnormal = 0;
            for (int k = 0; k < LINES * LENGTH; k++) {
                assert_true(fabs(v.value[k]) <= 1.26 * smallest);
                subnormal += fabs(v.value[k]) < smallest && v.value[k] != 0;
            }
            assert_true(subnormal > LINES * LENGTH / 2 && subnormal < LINES * LENGTH);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "huge", 1);
            int64_t huge = 0;
            for (int k = 0; k < LINES * LENGTH; k++)
                huge += fabs(v.value[k]) >= infinity_at / 2.1 && isfinite(v.value[k]);
            assert_true(huge > LINES * LENGTH / 2);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "equal", 1);
            for (int k = 1; k < LINES * LENGTH; k++)
                assert_int_equal(v.bits[k], v.bits[0]);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "alternating", 1);
            for (int k = 0; k < LINES * LENGTH; k++)
                assert_true((v.value[k] < 0) == (k % LENGTH % 2 == 1) && v.value[k] != 0);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "sorted", 1);
            for (int k = 0; k < LINES * LENGTH; k++)
                assert_true(k % LENGTH == 0 || v.value[k] >= v.value[k - 1]);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "constant_rows", 1);
            bool lines_differ = false;
            for (int k = 0; k < LINES * LENGTH; k++) {
                assert_true(k % LENGTH == 0 || v.bits[k] == v.bits[k - 1]);
                lines_differ |= v.bits[k] != v.bits[0];
            }
            assert_true(lines_differ);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "one_hot", 1);
            for (int l = 0; l < LINES; l++) {
                int ones = 0;
                for (int t = 0; t < LENGTH; t++)
                    ones += v.value[l * LENGTH + t] == 1;
                assert_int_equal(ones, 1);
            }
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "mixed", 1);
            double least = INFINITY;
            double most = 0;
            for (int k = 0; k < LINES * LENGTH; k++) {
                least = fmin(least, fabs(v.value[k]));
                most = fmax(most, fabs(v.value[k]));
            }
            assert_true(most / least >= (low ? 16 : 0x1p20));
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "cancel", 1);
            int64_t cancelling = 0;
            for (int k = 0; k < LINES * LENGTH; k += 2)
                cancelling += v.value[k] == (low ? v.value[k + 1] : -v.value[k + 1]);
            assert_true(cancelling > LINES * LENGTH / 20 * 9 && cancelling < LINES * LENGTH / 2);
            free_lines(&v);
        }
}

TEST(shapes_of_lines)
{
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            const tk_contract *contract = contract_at(i);
            lines v;
            draw_lines(&v, contract, dtypes[d], "minus_inf", 1);
            int all = 0;
            int some = 0;
            int none = 0;
            for (int l = 0; l < LINES; l++) {
                int infinite = 0;
                for (int t = 0; t < LENGTH; t++)
                    infinite += v.value[l * LENGTH + t] == -INFINITY;
                all += infinite == LENGTH;
                some += infinite > 0 && infinite < LENGTH;
                none += infinite == 0;
            }
            assert_true(all > 0 && some > 0 && none > 0);
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "confident", 1);
            for (int l = 0; l < LINES; l++) {
                int peaks = 0;
                for (int t = 0; t < LENGTH; t++)
                    peaks += v.value[l * LENGTH + t] >= 11.9;
                assert_true(peaks >= 1 && peaks <= ((contract->params[0].neutral == TK_NEUTRAL_LOW) ? 3 : 1));
            }
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "swamp", 1);
            for (int l = 0; l < LINES; l++) {
                int large = 0;
                for (int t = 0; t < LENGTH; t++)
                    large += fabs(v.value[l * LENGTH + t]) >= 4;
                assert_int_equal(large, 1);
            }
            free_lines(&v);

            draw_lines(&v, contract, dtypes[d], "zero_inf", 1);
            for (int l = 0; l < LINES; l++) {
                int infinite = 0;
                int zeros = 0;
                for (int t = 0; t < LENGTH; t++) {
                    infinite += isinf(v.value[l * LENGTH + t]) != 0;
                    zeros += v.value[l * LENGTH + t] == 0;
                    assert_true(!isnan(v.value[l * LENGTH + t]));
                }
                assert_true(infinite == 1 || (infinite == 0 && zeros > LENGTH / 6));
            }
            free_lines(&v);
        }
}

/* Each line of `midpoint` sums, against partners of one, to a midpoint or the smallest nudge beside one, and all three occur. */
TEST(midpoints_are_midpoints)
{
    for (int d = 0; d < 2; d++) {
        double ulp = dtypes[d] == TK_F16 ? 0x1p-10 : 0x1p-7;
        lines v;
        draw_lines(&v, &product, dtypes[d], "midpoint", 1);
        int side[3] = {0};
        for (int l = 0; l < LINES; l++) {
            double sum = 0;
            for (int t = 0; t < LENGTH; t++)
                sum += v.value[l * LENGTH + t];
            double from_midpoint = (fmod(sum / ulp, 1) - 0.5) * ulp;
            assert_true(fabs(from_midpoint) <= ulp * ulp);
            side[from_midpoint > 0 ? 2 : from_midpoint < 0 ? 0 : 1]++;
        }
        assert_true(side[0] > 0 && side[1] > 0 && side[2] > 0);
        free_lines(&v);
    }
}

/* -- Inputs without slack -------------------------------------------------------------------------------------------- */

/* The largest power of two that divides it. */
static double unit_of(double value)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    while (fraction != floor(fraction)) {
        fraction *= 2;
        exponent--;
    }
    while (fmod(fraction, 2) == 0) {
        fraction /= 2;
        exponent++;
    }
    return ldexp(1, exponent);
}

/* The factors of an op's sums, as the family drew them: one or two tensors of `count` lines of `length`. */
typedef struct factor {
    double *value;
    int64_t count, length;
} factor;

static int draw_factors(factor f[2], const tk_case *c, const char *name, uint64_t seed)
{
    inputs in;
    int found = 0;
    inputs_make(&in, c);
    tki_family_fill(family(name), c, seed, in.data);
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->output || param->kind != TK_KIND_VALUE)
            continue;
        int64_t rows = c->dims[param->dim[0]];
        int64_t cols = c->dims[param->dim[1]];
        bool down_rows = param->inner_axis == 0;
        factor *here = &f[found++];
        *here = (factor){.count = down_rows ? cols : rows, .length = down_rows ? rows : cols};
        here->value = malloc((size_t)(rows * cols) * sizeof *here->value);
        assert_non_null(here->value);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t k = 0; k < cols; k++)
                here->value[down_rows ? k * rows + r : r * cols + k] = tki_decode(
                    c->dtype, ((const uint16_t *)in.data[p])[r * cols + k]);
    }
    inputs_free(&in);
    return found;
}

static const char *const summing_ops[] = {"gemm", "gemm_grad_a", "gemm_grad_b", "softmax_bwd", "embedding_bwd"};

/* A case of one of them whose sums have that length, with few of them. */
static tk_case summing_case(const char *op, tk_dtype dtype, int64_t length)
{
    tk_case c = make_case(tk_contract_find(op), dtype, 3, 3, 3);
    for (int p = 0; p < c.contract->param_count; p++)
        if (c.contract->params[p].inner_axis >= 0)
            c.dims[c.contract->params[p].dim[c.contract->params[p].inner_axis]] = length;
    return c;
}

/* Every term is a multiple of one power of two, and the magnitudes of any line's terms together are at most 2^24 of it. */
TEST(exact_sums_are_exact)
{
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 17, 64, 300, 4099, 65536, 200003};
    for (int o = 0; o < 5; o++)
        for (int d = 0; d < 2; d++)
            for (int k = 0; k < 11; k++) {
                tk_case c = summing_case(summing_ops[o], dtypes[d], lengths[k]);
                factor f[2] = {{0}, {0}};
                int factors = draw_factors(f, &c, "exact", 5 + (uint64_t)k);
                double unit = 1;
                for (int i = 0; i < factors; i++) {
                    double here = INFINITY;
                    for (int64_t e = 0; e < f[i].count * f[i].length; e++) {
                        assert_true(f[i].value[e] != 0 && isfinite(f[i].value[e]));
                        here = fmin(here, unit_of(f[i].value[e]));
                    }
                    assert_int_equal(f[i].length, lengths[k]);
                    unit *= here;
                }
                assert_true(unit >= 0x1p-126 && unit <= 0x1p103);
                /* With the largest factor of any line at each place: no sum has larger terms. */
                double sum = 0;
                for (int64_t t = 0; t < lengths[k]; t++) {
                    double term = 1;
                    for (int i = 0; i < factors; i++) {
                        double largest = 0;
                        for (int64_t l = 0; l < f[i].count; l++)
                            largest = fmax(largest, fabs(f[i].value[l * f[i].length + t]));
                        term *= largest;
                    }
                    sum += term;
                }
                assert_true(sum <= 0x1p24 * unit);
                for (int i = 0; i < factors; i++)
                    free(f[i].value);
            }
}

/* A term that is lost changes the rounded sum more often than not. */
TEST(exact_sums_show_each_term)
{
    static const int64_t lengths[] = {2, 17, 300, 4099};
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 4; k++) {
            tk_case c = summing_case("gemm", dtypes[d], lengths[k]);
            factor f[2];
            int64_t shown = 0;
            assert_int_equal(draw_factors(f, &c, "exact", 9), 2);
            for (int line = 0; line < 9; line++) {
                const double *a = &f[0].value[line / 3 * lengths[k]];
                const double *b = &f[1].value[line % 3 * lengths[k]];
                double sum = 0;
                for (int64_t t = 0; t < lengths[k]; t++)
                    sum += a[t] * b[t];
                for (int64_t t = 0; t < lengths[k]; t++)
                    shown += tki_round_double(dtypes[d], sum) != tki_round_double(dtypes[d], sum - a[t] * b[t]);
            }
            if (shown < lengths[k] * 9 * 3 / 4)
                fail_msg("%lld of %lld terms show", (long long)shown, (long long)lengths[k] * 9);
            free(f[0].value);
            free(f[1].value);
        }
}

/* Every element is at the maximum or more than 104 below it; what stands there and how often varies as promised. */
TEST(plateaus_are_plateaus)
{
    for (int d = 0; d < 2; d++) {
        int zero = 0;
        int telling = 0;
        int all = 0;
        int infinite = 0;
        int first = 0;
        int middle = 0;
        int last = 0;
        int lines_seen = 0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            lines v;
            draw_lines(&v, &row, dtypes[d], "plateau", seed);
            for (int l = 0; l < LINES; l++) {
                const double *line = &v.value[l * LENGTH];
                double highest = -INFINITY;
                int64_t count = 0;
                for (int t = 0; t < LENGTH; t++)
                    highest = fmax(highest, line[t]);
                assert_true(isfinite(highest));
                bool has_infinity = false;
                for (int t = 0; t < LENGTH; t++) {
                    assert_true(line[t] == highest || highest - line[t] > 104);
                    count += line[t] == highest;
                    has_infinity |= isinf(line[t]);
                    middle += line[t] == highest && t > 100 && t < LENGTH - 4096 && count == 1;
                }
                uint32_t share = tki_round_double(dtypes[d], 1 / (double)count);
                telling += share != tki_round_double(dtypes[d], 1 / (double)(count + 1)) &&
                           (count == 1 || share != tki_round_double(dtypes[d], 1 / (double)(count - 1)));
                /* A confident target of an even line stands on it. */
                assert_true(l & 1 || line[(7 * l + 3) % LENGTH] == highest);
                zero += highest == 0;
                all += count == LENGTH;
                infinite += has_infinity;
                first += line[0] == highest;
                last += line[LENGTH - 1] == highest;
                lines_seen++;
            }
            free_lines(&v);
        }
        assert_true(zero > lines_seen / 3 && telling > lines_seen / 3 && all > lines_seen / 10);
        assert_true(infinite > lines_seen / 8 && first > lines_seen / 8 && last > lines_seen / 8 && middle > 8);
    }
}

/* Lines that underflow without their maximum and lines that overflow, and moderate ones of either sign. */
TEST(offsets_reach_both_ways)
{
    for (int d = 0; d < 2; d++) {
        int below = 0;
        int above = 0;
        int moderate[2] = {0};
        int far = 0;
        for (uint64_t seed = 1; seed <= 2; seed++) {
            lines v;
            draw_lines(&v, &row, dtypes[d], "offset", seed);
            for (int l = 0; l < LINES; l++) {
                double highest = -INFINITY;
                double lowest = INFINITY;
                for (int t = 0; t < LENGTH; t++) {
                    assert_true(isfinite(v.value[l * LENGTH + t]));
                    highest = fmax(highest, v.value[l * LENGTH + t]);
                    lowest = fmin(lowest, v.value[l * LENGTH + t]);
                }
                below += highest < -104 && highest > -400;
                above += lowest > 89;
                far += fabs(highest) > 800;
                double middle = (highest + lowest) / 2;
                moderate[middle > 0] += fabs(middle) < 80;
            }
            free_lines(&v);
        }
        assert_true(below >= 3 && above >= 3 && far >= 6 && moderate[0] >= 15 && moderate[1] >= 15);
    }
}

/* Sums of two products beside a midpoint by less than three units squared, on either side, never on it. */
TEST(near_ties_are_near)
{
    for (int d = 0; d < 2; d++) {
        double ulp = dtypes[d] == TK_F16 ? 0x1p-10 : 0x1p-7;
        int side[2] = {0};
        tk_case c = make_case(tk_contract_find("gemm"), dtypes[d], 40, 5, 333);
        factor f[2];
        assert_int_equal(draw_factors(f, &c, "near_tie", 4), 2);
        for (int i = 0; i < 200; i++) {
            double sum = 0;
            int terms = 0;
            for (int64_t t = 0; t < 333; t++) {
                double term = f[0].value[i / 5 * 333 + t] * f[1].value[i % 5 * 333 + t];
                sum += term;
                terms += term != 0;
            }
            assert_int_equal(terms, 2);
            double places = fabs(sum) / tki_ulp(dtypes[d], sum);
            double from = places - floor(places) - 0.5;
            /* Just below a power of two the unit is half as large, and the sum may end up on a number itself. */
            if (fabs(from) > 0.4)
                continue;
            assert_true(from != 0 && fabs(from) <= 4 * ulp);
            side[from > 0]++;
        }
        assert_true(side[0] > 40 && side[1] > 40);
        free(f[0].value);
        free(f[1].value);
    }
}

static double gelu_derivative(double x)
{
    double two_z = 2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    double sigma = 1 / (1 + exp(-two_z));
    return sigma * (1 + (1 - sigma) * 2 * 0.79788456080286535588 * x * (1 + 3 * 0.044715 * x * x));
}

/* The gradients that come in are chosen for each x: the products lie nearer to midpoints than those of any others would. */
TEST(near_ties_of_the_gradient_are_near)
{
    enum { N = 3000 };
    for (int d = 0; d < 2; d++) {
        tk_case c = make_case(tk_contract_find("gelu_bwd"), dtypes[d], N, 0, 0);
        inputs in;
        inputs_make(&in, &c);
        tki_family_fill(family("near_tie"), &c, 3, in.data);
        inputs_check(&in, &c);
        int near = 0;
        int counted = 0;
        for (int i = 0; i < N; i++) {
            double x = tki_decode(dtypes[d], ((const uint16_t *)in.data[1])[i]);
            double gradient = tki_decode(dtypes[d], ((const uint16_t *)in.data[0])[i]);
            assert_true(isfinite(gradient));
            double value = gradient * gelu_derivative(x);
            /* Far out every product is the gradient itself or nothing. */
            if (!(fabs(x) < 4 && fabs(x) > 0x1p-6 && fabs(value) > 0x1p-14 && fabs(value) < 60000))
                continue;
            double places = fabs(value) / tki_ulp(dtypes[d], value);
            near += fabs(places - floor(places) - 0.5) < 1.0 / 32;
            counted++;
        }
        assert_true(counted > 50 && near > counted * 3 / 4);
        inputs_free(&in);
    }
}

TEST(one_special_at_a_time)
{
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            int lines_with[2] = {0};
            int first = 0;
            int last = 0;
            for (uint64_t seed = 1; seed <= 4; seed++) {
                lines v;
                draw_lines(&v, contract_at(i), dtypes[d], "one_special", seed);
                for (int l = 0; l < LINES; l++) {
                    int found = 0;
                    for (int t = 0; t < LENGTH; t++) {
                        bool here = !isfinite(v.value[l * LENGTH + t]);
                        found += here;
                        first += here && t == 0;
                        last += here && t == LENGTH - 1;
                    }
                    assert_true(found <= 1);
                    lines_with[found]++;
                }
                free_lines(&v);
            }
            assert_true(lines_with[0] > LINES && lines_with[1] > LINES / 2 && first > 0 && last > 0);
        }
}

/* In both factors, but not in lines that meet. */
TEST(small_numbers_among_normal_ones)
{
    for (int o = 0; o < 2; o++)
        for (int d = 0; d < 2; d++) {
            tk_case c = make_case(tk_contract_find(o ? "softmax_bwd" : "gelu_bwd"), dtypes[d], o ? 20 : 2000, 100, 0);
            double smallest = dtypes[d] == TK_F16 ? 0x1p-14 : 0x1p-126;
            inputs in;
            inputs_make(&in, &c);
            tki_family_fill(family("small_among"), &c, 2, in.data);
            for (int p = 0; p < 2; p++) {
                int subnormal = 0;
                int zeros[2] = {0};
                int normal = 0;
                for (int e = 0; e < 2000; e++) {
                    uint16_t bits = ((const uint16_t *)in.data[p])[e];
                    double value = fabs(tki_decode(dtypes[d], bits));
                    subnormal += value > 0 && value < smallest;
                    zeros[bits >> 15] += value == 0;
                    normal += value >= 0.01;
                }
                assert_true(subnormal > 100 && zeros[0] > 50 && zeros[1] > 50 && normal > 400);
            }
            inputs_free(&in);
        }
}

TEST(peaks_stand_where_code_changes)
{
    int first = 0;
    int last = 0;
    int edge = 0;
    int several = 0;
    int descending = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        lines v;
        draw_lines(&v, &row, TK_F16, "peaks", seed);
        for (int l = 0; l < LINES; l++) {
            const double *line = &v.value[l * LENGTH];
            int highest = 0;
            int count = 0;
            bool falls = true;
            for (int t = 1; t < LENGTH; t++) {
                highest = line[t] > line[highest] ? t : highest;
                falls &= line[t] <= line[t - 1];
            }
            for (int t = 0; t < LENGTH; t++)
                count += line[t] == line[highest];
            descending += falls;
            first += highest == 0 && !falls;
            last += highest == LENGTH - 1;
            edge += highest > 0 && highest < LENGTH - 1 && (highest % 64 == 0 || highest % 64 == 63);
            several += count > 1 && !falls;
        }
        free_lines(&v);
    }
    assert_true(first > 3 && last > 3 && edge > 10 && several > 30 && descending > 30);
}

/* All 65536 in as many elements, of the input that the op is a function of, at every seed. */
TEST(each_pattern_comes)
{
    enum { N = 65536 };
    static const char *const ops[] = {"gelu_fwd", "gelu_bwd"};
    for (int o = 0; o < 2; o++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            static bool seen[N];
            memset(seen, 0, sizeof seen);
            tk_case c = make_case(tk_contract_find(ops[o]), dtypes[seed & 1], N, 0, 0);
            inputs in;
            inputs_make(&in, &c);
            tki_family_fill(family("each_pattern"), &c, seed, in.data);
            for (int i = 0; i < N; i++)
                seen[((const uint16_t *)in.data[o])[i]] = true;
            for (int i = 0; i < N; i++)
                assert_true(seen[i]);
            for (int i = 0; o && i < N; i++)
                seen[((const uint16_t *)in.data[0])[i]] = false;
            int others = 0;
            for (int i = 0; i < N; i++)
                others += !seen[i];
            assert_true(!o || others > 5000);
            inputs_free(&in);
        }
}

TEST(thresholds_come_with_neighbours)
{
    static const double some[] = {1, 0.5, 10, 20, 87.3, 88, 88.7, 103.9, 104, 15, 17, 65504};
    static bool seen[65536];
    for (int d = 0; d < 2; d++) {
        memset(seen, 0, sizeof seen);
        lines v;
        draw_lines(&v, &row, dtypes[d], "thresholds", 1);
        for (int k = 0; k < LINES * LENGTH; k++) {
            seen[v.bits[k]] = true;
            assert_true(isfinite(v.value[k]));
        }
        for (int k = 0; k < 12; k++)
            for (int sign = 0; sign < 2; sign++)
                for (int step = -1; step <= 1; step++) {
                    uint32_t bits = tki_round_double(dtypes[d], some[k]) + (uint32_t)step;
                    if (tki_is_finite(dtypes[d], bits))
                        assert_true(seen[bits | (sign ? 0x8000u : 0)]);
                }
        free_lines(&v);
    }
}

TEST(every_exponent_comes)
{
    enum { N = 20000 };
    for (int d = 0; d < 2; d++) {
        bool seen[2][256] = {{false}};
        tk_case c = make_case(tk_contract_find("gelu_fwd"), dtypes[d], N, 0, 0);
        inputs in;
        inputs_make(&in, &c);
        tki_family_fill(family("log_uniform"), &c, 2, in.data);
        int shift = dtypes[d] == TK_F16 ? 10 : 7;
        for (int i = 0; i < N; i++) {
            uint16_t bits = ((const uint16_t *)in.data[0])[i];
            seen[bits >> 15][(bits & 0x7fff) >> shift] = true;
        }
        for (int e = 0; e < (dtypes[d] == TK_F16 ? 31 : 255); e++)
            assert_true(seen[0][e] && seen[1][e]);
        inputs_free(&in);
    }
}

TEST(hits_are_counted_and_placed)
{
    enum { COUNT = 6000, BOUND = 70000, LARGE = (1 << 24) + 99 };
    static int32_t index[COUNT];
    static int hits[BOUND];
    void *data[] = {NULL, NULL, index, NULL};
    tk_case c = make_case(&product, TK_F16, COUNT, BOUND, 0);

    tki_family_fill(family("counted"), &c, 1, data);
    memset(hits, 0, sizeof hits);
    for (int i = 0; i < COUNT; i++)
        hits[index[i]]++;
    static const int promised[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    int lines_of[12] = {0};
    for (int v = 0; v < BOUND; v++)
        for (int k = 0; k < 12; k++)
            lines_of[k] += hits[v] == promised[k];
    for (int k = 0; k < 12; k++)
        assert_true(lines_of[k] >= 2);

    tki_family_fill(family("index_runs"), &c, 1, data);
    int lengths[300] = {0};
    for (int i = 0, length = 0; i < COUNT; i++) {
        length++;
        if (i + 1 == COUNT || index[i + 1] != index[i]) {
            lengths[length < 300 ? length : 0]++;
            length = 0;
        }
    }
    int exact = 0;
    for (int k = 0; k < 12; k++)
        exact += lengths[promised[k]] > 0;
    assert_true(exact >= 8);

    bool far_apart = false;
    for (uint64_t seed = 1; seed < 6; seed++) {
        tki_family_fill(family("two_indices"), &c, seed, data);
        for (int i = 2; i < COUNT; i++)
            assert_int_equal(index[i], index[i - 2]);
        far_apart |= abs(index[1] - index[0]) == 1 << 16;
    }
    assert_true(far_apart);

    memset(hits, 0, sizeof hits);
    int ascending = 0;
    tki_family_fill(family("permuted"), &c, 2, data);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(hits[index[i]]++, 0);
        ascending += i > 0 && index[i] == index[i - 1] + 1;
    }
    assert_true(ascending < COUNT / 10);

    tki_family_fill(family("last_indices"), &c, 1, data);
    memset(hits, 0, sizeof hits);
    for (int i = 0; i < COUNT; i++)
        hits[index[i]]++;
    for (int v = 0; v < BOUND; v++)
        assert_int_equal(hits[v] > 0, v >= BOUND - 8);

    c = make_case(&product, TK_F16, COUNT, LARGE, 0);
    tki_family_fill(family("high_indices"), &c, 1, data);
    static const int32_t some[] = {127,   128,   255,   256,           257,     32767,         32768,
                                   65535, 65536, 65537, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, LARGE - 1};
    for (int k = 0; k < 14; k++) {
        bool found = false;
        for (int i = 0; i < COUNT; i++)
            found |= index[i] == some[k];
        assert_true(found);
    }
}

TEST(targets_are_ignored_in_every_way)
{
    enum { ROWS = 50 };
    static int32_t target[ROWS];
    void *data[] = {NULL, target, NULL};
    uint16_t *x = malloc(ROWS * 9 * sizeof *x);
    assert_non_null(x);
    data[0] = x;
    tk_case c = make_case(&row, TK_F16, ROWS, 9, 0);
    bool none = false;
    bool all = false;
    bool first = false;
    bool last = false;
    bool some = false;
    for (uint64_t seed = 0; seed < 200; seed++) {
        int ignored = 0;
        tki_family_fill(family("normal"), &c, seed, data);
        for (int i = 0; i < ROWS; i++)
            ignored += target[i] == -100;
        none |= ignored == 0;
        all |= ignored == ROWS;
        first |= ignored == 1 && target[0] == -100;
        last |= ignored == 1 && target[ROWS - 1] == -100;
        some |= ignored > 1 && ignored < ROWS / 2;
    }
    assert_true(none && all && first && last && some);
    free(x);
}

/* -- Trials ---------------------------------------------------------------------------------------------------- */

TEST_WITH_CONTEXT(all_patterns_of_the_domain)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.level = TK_EXHAUSTIVE;
    static const char *const ops[] = {"gelu_fwd", "gelu_bwd"};
    for (int o = 0; o < 2; o++) {
        tki_trials trials;
        assert_ok(ctx, tki_trials_make(ctx, tk_contract_find(ops[o]), TK_F16, TK_I32, &options, &trials));
        int64_t patterns = 0;
        int64_t chunks = 0;
        for (int64_t i = 0; i < trials.count; i++) {
            const tki_trial *trial = &trials.list[i];
            if (trial->family != TKI_ALL_PATTERNS)
                continue;
            assert_string_equal(tki_trial_family_name(trial), "all_patterns");
            assert_int_equal(trial->chunk, chunks++);
            /* The pairs of a few chunks: each the next after the one before, the last input running fastest. */
            if (chunks % 4001 == 1) {
                inputs in;
                inputs_make(&in, &trial->c);
                tki_trial_fill(trial, in.data);
                inputs_check(&in, &trial->c);
                for (int64_t k = 0; k < trial->c.dims[0]; k++) {
                    uint32_t fast = ((const uint16_t *)in.data[o])[k];
                    uint32_t slow = o ? ((const uint16_t *)in.data[0])[k] : 0;
                    assert_true((int64_t)(slow << 16 | fast) == patterns + k);
                }
                inputs_free(&in);
            }
            patterns += trial->c.dims[0];
        }
        assert_true(patterns == (o ? INT64_C(1) << 32 : 1 << 16));
        free(trials.list);
    }
}

TEST_WITH_CONTEXT(trials_of_a_level)
{
    for (int i = 0; tk_contract_at(i); i++) {
        const tk_contract *contract = tk_contract_at(i);
        int64_t count[2];
        for (int level = TK_QUICK; level <= TK_FULL; level++) {
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.level = (tk_level)level;
            tki_trials trials;
            assert_ok(ctx, tki_trials_make(ctx, contract, TK_F16, TK_I64, &options, &trials));
            bool used[96] = {false};
            int64_t elements = 0;
            bool zero_size = false;
            for (int64_t t = 0; t < trials.count; t++) {
                const tki_trial *trial = &trials.list[t];
                assert_true(trial->family >= 0 && tk_family_applies(trial->family, contract));
                assert_int_equal(trial->c.index_dtype, TK_I64);
                used[trial->family] = true;
                for (int p = 0; p < contract->param_count; p++) {
                    assert_true(tk_case_elements(&trial->c, p) >= 0);
                    if (contract->params[p].output)
                        elements += tk_case_elements(&trial->c, p);
                    zero_size |= tk_case_elements(&trial->c, p) == 0;
                }
            }
            for (int f = 0; tk_family_at(f, NULL); f++)
                if (used[f] != tk_family_applies(f, contract))
                    fail_msg("%s: family %s is used: %d", contract->name, tk_family_at(f, NULL), used[f]);
            assert_true(zero_size);
            if (level == TK_FULL) /* one wrong element in a million is seen with 99 % certainty */
                assert_true(elements >= 4600000);
            count[level] = trials.count;
            free(trials.list);
        }
        assert_true(count[TK_FULL] > count[TK_QUICK]);
    }
}

static const uint64_t trial_seeds[] = {TK_SEED_DEFAULT, 1, 0xfedcba9876543210};

static tki_trials trials_for(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_level level, uint64_t seed)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.level = level;
    options.seed = seed;
    tki_trials trials;
    assert_ok(ctx, tki_trials_make(ctx, contract, dtype, TK_I64, &options, &trials));
    return trials;
}

/* Whatever the seed, each size of each op has each residue modulo 32 at quick. */
TEST_WITH_CONTEXT(residues_are_covered)
{
    for (int i = 0; tk_contract_at(i); i++)
        for (int s = 0; s < 3; s++)
            for (int d = 0; d < 2; d++) {
                const tk_contract *contract = tk_contract_at(i);
                tki_trials trials = trials_for(ctx, contract, dtypes[d], TK_QUICK, trial_seeds[s]);
                for (int dim = 0; dim < contract->dim_count; dim++) {
                    uint32_t seen = 0;
                    for (int64_t t = 0; t < trials.count; t++)
                        if (trials.list[t].c.dims[dim] > 0)
                            seen |= UINT32_C(1) << trials.list[t].c.dims[dim] % 32;
                    assert_int_equal(seen, UINT32_MAX);
                }
                free(trials.list);
            }
}

/* Which choice of the attribute that kernels see a trial has; -1: there is none, or it is no choice. */
static int64_t choice_of(const tki_trial *trial, int *choices)
{
    const tk_contract *contract = trial->c.contract;
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel && contract->attributes[i].type == TK_ATTRIBUTE_CHOICE) {
            *choices = contract->attributes[i].choice_count;
            return trial->c.attributes[i].integer;
        }
    return -1;
}

enum { CHOICE_ALIGNED, CHOICE_RAGGED, CHOICE_KINDS_OF_FAMILY };
enum { CHOICE_NONE, CHOICE_ONE, CHOICE_1024, CHOICE_4096, CHOICE_SIZES };

/* Whatever the seed, each choice meets each size at 0, 1, 1024 and 4096, and values that skipped products hide, aligned and ragged. */
TEST_WITH_CONTEXT(each_choice_meets_each_kind_of_size)
{
    static const int64_t sizes[CHOICE_SIZES] = {0, 1, 1024, 4096};
    static const char *const families[] = {"special", "zero_nan", "zero_inf", "exact"};
    enum { FAMILIES = 4, MOST_CHOICES = 8 };
    int contracts = 0;
    for (int i = 0; tk_contract_at(i); i++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            const tk_contract *contract = tk_contract_at(i);
            tki_trials trials = trials_for(ctx, contract, TK_F16, TK_QUICK, seed);
            bool met[MOST_CHOICES][TK_MAX_DIMS][CHOICE_SIZES] = {0};
            bool valued[MOST_CHOICES][FAMILIES][CHOICE_KINDS_OF_FAMILY] = {0};
            int choices = 0;
            for (int64_t t = 0; t < trials.count; t++) {
                const tki_trial *trial = &trials.list[t];
                const int64_t choice = choice_of(trial, &choices);
                bool aligned = true, ragged = true, any = true;
                for (int d = 0; d < contract->dim_count; d++) {
                    aligned &= trial->c.dims[d] % 16 == 0;
                    ragged &= trial->c.dims[d] % 8 != 0;
                    any &= trial->c.dims[d] > 0;
                }
                if (choice < 0)
                    continue;
                for (int f = 0; f < FAMILIES && any; f++) {
                    const bool same = !strcmp(families[f], tki_trial_family_name(trial));
                    valued[choice][f][CHOICE_ALIGNED] |= same && aligned;
                    valued[choice][f][CHOICE_RAGGED] |= same && ragged;
                }
                for (int d = 0; d < contract->dim_count; d++)
                    for (int s = 0; s < CHOICE_SIZES; s++)
                        met[choice][d][s] |= trial->c.dims[d] == sizes[s];
            }
            contracts += choices > 0;
            for (int choice = 0; choice < choices; choice++) {
                for (int d = 0; d < contract->dim_count; d++)
                    for (int s = 0; s < CHOICE_SIZES; s++)
                        assert_true(met[choice][d][s]);
                for (int f = 0; f < FAMILIES; f++)
                    assert_true(valued[choice][f][CHOICE_ALIGNED] && valued[choice][f][CHOICE_RAGGED]);
            }
            free(trials.list);
        }
    assert_int_equal(contracts, 3 * 6); /* linear_fwd, linear_grad_x, linear_grad_w */
}

/* Every ordered pair of inputs has a trial among consecutive numbers, one of them zeros, the other with NaN and infinities. */
TEST(zero_inputs_come_in_pairs)
{
    tk_case c = tk_case_init(tk_contract_find("linear_fwd"), TK_F16);
    c.attributes[tk_attribute_find(c.contract, "epilogue")].integer = 3; /* bias_residual: four inputs */
    memcpy(c.dims, (const int64_t[]){9, 7, 13}, 3 * sizeof *c.dims);
    bool met[4][4] = {{false}};
    for (uint64_t number = 0; number < 12; number++) {
        inputs in;
        inputs_make(&in, &c);
        tki_family_fill(tki_family_find("zero_input"), &c, 77 + 1000 * number, in.data);
        int zeros = -1, special = -1;
        for (int p = 0; p < 4; p++) {
            int64_t nonzero = 0, infinite = 0;
            for (int64_t i = 0; i < tk_case_elements(&c, p); i++) {
                const double value = tki_decode(TK_F16, ((const uint16_t *)in.data[p])[i]);
                nonzero += value != 0;
                infinite += !isfinite(value);
            }
            assert_true(zeros < 0 || nonzero);
            assert_true(special < 0 || !infinite);
            zeros = nonzero ? zeros : p;
            special = infinite ? p : special;
        }
        assert_true(zeros >= 0 && special >= 0 && !met[zeros][special]);
        met[zeros][special] = true;
        inputs_free(&in);
    }
}

/* Tiles, squares, wide rows and long ones: what has code of its own in many kernels is tried at quick. */
TEST_WITH_CONTEXT(shapes_that_kernels_treat_apart)
{
    for (int i = 0; tk_contract_at(i); i++)
        for (int s = 0; s < 3; s++) {
            const tk_contract *contract = tk_contract_at(i);
            tki_trials trials = trials_for(ctx, contract, TK_BF16, TK_QUICK, trial_seeds[s]);
            int dims = contract->dim_count;
            bool tiles[5] = {false};
            bool squares[3][2] = {{false}};
            bool beyond[4][4] = {{false}};
            bool widths[14] = {false};
            int patterns = 0;
            static const int64_t tile[] = {8, 16, 32, 64, 128};
            static const int64_t limits[] = {1024, 2048, 4096, 65536};
            static const int64_t wide[] = {512,  768,  1000, 1024, 1536, 2048, 3072,
                                           4096, 8192, 255,  256,  257,  1023, 1025};
            for (int64_t t = 0; t < trials.count; t++) {
                const int64_t *size = trials.list[t].c.dims;
                for (int k = 0; k < 5; k++) {
                    bool all = true;
                    for (int d = 0; d < dims && d < 3; d++) /* the fourth counts groups */
                        all &= size[d] > 0 && size[d] % tile[k] == 0;
                    tiles[k] |= all;
                }
                for (int d = 0; d < 3 && dims == 3; d++) {
                    bool square = size[d] == size[(d + 1) % 3] && size[d] != size[(d + 2) % 3] && size[d] > 15;
                    squares[d][size[d] % 16 == 0] |= square;
                }
                for (int d = 0; d < dims; d++)
                    for (int k = 0; k < 4; k++)
                        beyond[d][k] |= size[d] > limits[k];
                for (int k = 0; k < 14; k++)
                    widths[k] |= dims == 2 && size[1] == wide[k];
                patterns += trials.list[t].family == family("each_pattern") && size[0] >= 65536;
            }
            for (int k = 0; k < (dims == 2 ? 4 : 5); k++)
                if (!tiles[k])
                    fail_msg("%s has no shape of multiples of %lld", contract->name, (long long)tile[k]);
            for (int d = 0; d < 3 && dims == 3; d++)
                assert_true(squares[d][0] && (squares[d][1] || tk_contract_takes_index(contract)));
            for (int d = 0; d < dims; d++)
                for (int k = 0; k < 4; k++)
                    assert_true(beyond[d][k]);
            for (int k = 0; k < 14 && dims == 2; k++)
                assert_true(widths[k]);
            assert_true(dims > 1 || patterns > 0);
            free(trials.list);
        }
}

TEST_WITH_CONTEXT(large_shapes_at_full)
{
    const int64_t many = 1 << 24;
    for (int i = 0; tk_contract_at(i); i++) {
        const tk_contract *contract = tk_contract_at(i);
        tki_trials trials = trials_for(ctx, contract, TK_F16, TK_FULL, 7);
        bool sizes[4] = {false};
        bool tensors = false;
        bool beyond = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tki_trial *trial = &trials.list[t];
            int64_t most = 0;
            for (int p = 0; p < contract->param_count; p++)
                most = tk_case_elements(&trial->c, p) > most ? tk_case_elements(&trial->c, p) : most;
            beyond |= most > INT64_C(1) << 32;
            /* What may be left out is what no machine must have the memory for. */
            assert_int_equal(trial->where_memory_allows, most > INT64_C(1) << 30);
            tensors |= most > many && !trial->where_memory_allows;
            for (int d = 0; d < contract->dim_count; d++)
                sizes[d] |= trial->c.dims[d] > many && !trial->where_memory_allows;
        }
        assert_true(tensors && beyond);
        for (int d = 0; d < contract->dim_count; d++)
            assert_true(sizes[d]);
        free(trials.list);
    }
}

static bool same_trial(const tki_trial *a, const tki_trial *b)
{
    return a->family == b->family && a->seed == b->seed && !memcmp(a->c.dims, b->c.dims, sizeof a->c.dims) &&
           !memcmp(a->c.attributes, b->c.attributes, sizeof a->c.attributes);
}

/* Seed, level, op and types decide, not what runs or how many processors there are; full begins with all of quick; no trial comes twice. */
TEST_WITH_CONTEXT(the_same_trials_everywhere)
{
    for (int i = 0; tk_contract_at(i); i++) {
        const tk_contract *contract = tk_contract_at(i);
        assert_ok(ctx, tk_ctx_set_threads(ctx, 1));
        tki_trials quick = trials_for(ctx, contract, TK_F16, TK_QUICK, 3);
        assert_ok(ctx, tk_ctx_set_threads(ctx, 7));
        tki_trials full = trials_for(ctx, contract, TK_F16, TK_FULL, 3);
        tki_trials others = trials_for(ctx, contract, TK_F16, TK_QUICK, 4);
        static const tk_kernel_file file = {0};
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.seed = 3;
        options.kernel_file = &file;
        tki_trials brought;
        assert_ok(ctx, tki_trials_make(ctx, contract, TK_F16, TK_I64, &options, &brought));
        assert_int_equal(brought.count, quick.count);
        assert_true(full.count > quick.count && others.count == quick.count);
        int other_shapes = 0;
        for (int64_t t = 0; t < quick.count; t++) {
            assert_true(same_trial(&quick.list[t], &full.list[t]));
            assert_true(same_trial(&quick.list[t], &brought.list[t]));
            other_shapes += memcmp(quick.list[t].c.dims, others.list[t].c.dims, sizeof quick.list[t].c.dims) != 0;
        }
        assert_true(other_shapes > 50);
        for (int64_t a = 0; a < full.count; a++)
            for (int64_t b = 0; b < a; b++)
                assert_false(same_trial(&full.list[a], &full.list[b]));
        free(quick.list);
        free(full.list);
        free(others.list);
        free(brought.list);
    }
}

TEST_WITH_CONTEXT(options_are_drawn)
{
    for (int s = 0; s < 3; s++) {
        tki_trials trials = trials_for(ctx, tk_contract_find("xent"), TK_F16, TK_QUICK, trial_seeds[s]);
        int smoothing[5] = {0};
        int scale[5] = {0};
        int ignored[8] = {0};
        for (int64_t t = 0; t < trials.count; t++) {
            const float eps = (float)real_of(&trials.list[t].c, "label_smoothing");
            const float drawn_scale = (float)real_of(&trials.list[t].c, "scale");
            const int64_t k = integer_of(&trials.list[t].c, "ignore_index");
            assert_true(eps >= 0 && eps <= 1 && isfinite(drawn_scale));
            smoothing[eps == 0 ? 0 : eps < 0.01f ? 1 : eps < 0.5f ? 2 : eps < 1 ? 3 : 4]++;
            scale[drawn_scale == 0 ? 0 : drawn_scale < 0 ? 1 : drawn_scale < 0.01f ? 2 : drawn_scale <= 1 ? 3 : 4]++;
            ignored[k == -100                                ? 0
                    : k < -100 && k >= INT32_MIN             ? 1
                    : k >= 0 && k < trials.list[t].c.dims[1] ? 2
                    : k > 255 && k < 65536                   ? 3
                    : k >= 65536 && k <= INT32_MAX           ? 4
                    : k > INT32_MAX                          ? 5
                    : k < INT32_MIN                          ? 6
                                                             : 7]++;
        }
        for (int i = 0; i < 5; i++)
            assert_true(smoothing[i] > 0 && scale[i] > 0);
        for (int i = 0; i < 7; i++)
            assert_true(ignored[i] > 0);
        free(trials.list);
    }
}

/* An index that is neither in range nor ignored would be refused, not judged. */
TEST_WITH_CONTEXT(targets_of_all_trials_are_valid)
{
    static const tk_dtype index_dtypes[] = {TK_I32, TK_I64};
    for (int i = 0; tk_contract_at(i); i++)
        for (int wide = 0; wide < 2 && tk_contract_takes_index(tk_contract_at(i)); wide++) {
            const tk_contract *contract = tk_contract_at(i);
            const tk_certify_options options = TK_CERTIFY_DEFAULTS;
            tki_trials trials;
            assert_ok(ctx, tki_trials_make(ctx, contract, TK_F16, index_dtypes[wide], &options, &trials));
            int64_t ignored = 0;
            for (int64_t t = 0; t < trials.count; t++) {
                const tki_trial *trial = &trials.list[t];
                inputs in;
                inputs_make(&in, &trial->c);
                tki_trial_fill(trial, in.data);
                for (int p = 0; p < contract->param_count; p++)
                    for (int64_t e = 0, before = 0;
                         contract->params[p].kind == TK_KIND_INDEX && e < tk_case_elements(&trial->c, p); e++) {
                        int64_t index = index_at(&trial->c, in.data[p], e);
                        const int also = tki_index_attribute(contract, tki_index_param(contract));
                        ignored += also >= 0 && index == trial->c.attributes[also].integer;
                        assert_true(tki_index_is_valid(&trial->c, p, before, index));
                        before = index;
                    }
                inputs_free(&in);
            }
            assert_true(ignored > 100 || tki_index_attribute(contract, tki_index_param(contract)) < 0);
            free(trials.list);
        }
}

TEST_WITH_CONTEXT(restrictions_are_obeyed)
{
    const tk_contract *gelu = tk_contract_find("gelu_fwd");
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    tki_trials trials;
    options.dims = (int64_t[]){123};
    assert_ok(ctx, tki_trials_make(ctx, gelu, TK_BF16, TK_I32, &options, &trials));
    assert_true(trials.count > 3);
    for (int64_t t = 0; t < trials.count; t++) {
        assert_int_equal(trials.list[t].c.dims[0], 123);
        assert_int_equal(trials.list[t].seed, TK_SEED_DEFAULT); /* the seed that a command line gives again */
    }
    free(trials.list);
    options.family = "huge";
    assert_ok(ctx, tki_trials_make(ctx, gelu, TK_BF16, TK_I32, &options, &trials));
    assert_int_equal(trials.count, 1);
    assert_string_equal(tki_trial_family_name(&trials.list[0]), "huge");
    free(trials.list);
    options.family = "zipf";
    assert_refused(ctx, tki_trials_make(ctx, gelu, TK_BF16, TK_I32, &options, &trials), TK_BAD_ARGUMENT, "zipf");
}

/* A certificate made here can be replayed elsewhere only if every compiler and processor draws the same inputs. The hash is
 * over all families and ops at one seed; it changes when a family does, and then on purpose. */
/* Ops of integers apart, which came later. */
static bool has_integers(const tk_contract *contract)
{
    return contract->types[0].dtype == TK_U64;
}

enum { FIRST_OF_LATER_FAMILIES = TKI_FAMILY_LONE, LATER_TRIALS = 40000 };

static void assert_same_bits(bool integers, bool later, const char *expected)
{
    tk_ctx *ctx = new_context();
    tki_hash hash;
    char hex[TKI_HASH_HEX];
    tki_hash_begin(&hash);
    for (int op = 0; op < tk_contract_count(); op++)
        for (int family = 0; tk_family_at(family, NULL); family++) {
            tk_case c = tk_case_init(tk_contract_at(op), op % 2 ? TK_BF16 : TK_F16);
            for (int d = 0; d < c.contract->dim_count; d++)
                c.dims[d] = 17 + d;
            if (!tk_family_applies(family, c.contract) || has_integers(c.contract) != integers ||
                (family >= FIRST_OF_LATER_FAMILIES) != later)
                continue;
            tki_inputs drawn;
            assert_ok(ctx, tki_inputs_alloc(ctx, &c, &drawn));
            tki_family_fill(family, &c, 7, drawn.data);
            for (int p = 0; p < c.contract->param_count; p++)
                if (drawn.data[p])
                    tki_hash_add(&hash, drawn.data[p],
                                 (size_t)tk_case_elements(&c, p) * tk_dtype_size(tk_case_param_dtype(&c, p)));
            tki_inputs_free(&drawn);
        }
    assert_true(tki_hash_finish(&hash, hex));
    assert_string_equal(hex, expected);
    tk_ctx_destroy(ctx);
}

TEST(same_bits_everywhere)
{
    assert_same_bits(false, false, "7a6d7e366e12dfd7bad993973191aaf01169bc9149611efbb7f407c798619704");
    assert_same_bits(false, true, "0e12a1ca19d2bf35b6e4871394857429db8f62fedc6732cfdcf5d21503a1f9d0");
    assert_same_bits(true, true, "35a1635fbcfdb1bfb1bd9f98ca33bcbb012247b9189a35937fe1700631581882");
    assert_same_bits(true, false, "88fd51d434f295e3e035c4bdea5d737aa21a6df66bdc4856211a25f09c7330d8");
}

/* The same of the trials themselves. */
static void assert_same_trials(bool integers, bool later, const char *expected)
{
    enum { SEED = 7, EACH = 1000 };
    tk_ctx *ctx = new_context();
    tki_hash hash;
    char hex[TKI_HASH_HEX];
    tki_hash_begin(&hash);
    for (int op = 0; op < tk_contract_count(); op++) {
        if (has_integers(tk_contract_at(op)) != integers)
            continue;
        tki_trials trials = trials_for(ctx, tk_contract_at(op), op % 2 ? TK_BF16 : TK_F16, TK_FULL, SEED);
        for (int64_t t = 0; t < trials.count; t++) {
            const tki_trial *trial = &trials.list[t];
            if ((trial->seed >= SEED + (uint64_t)EACH * LATER_TRIALS) != later)
                continue;
            const int dims = trial->c.contract->dim_count;
            tki_hash_add(&hash, trial->c.dims, (size_t)(dims < 3 ? 3 : dims) * sizeof *trial->c.dims);
            tki_hash_add(&hash, &trial->family, sizeof trial->family);
            tki_hash_add(&hash, &trial->seed, sizeof trial->seed);
            for (int i = 0; integers && i < trial->c.contract->attribute_count; i++)
                tki_hash_add(&hash, &trial->c.attributes[i].integer, sizeof trial->c.attributes[i].integer);
            const bool options = tki_seen_attributes(trial->c.contract) > 0;
            const float smoothing = (float)real_of(&trial->c, "label_smoothing");
            const float scale = options ? (float)real_of(&trial->c, "scale") : 1;
            const int64_t ignored = options ? integer_of(&trial->c, "ignore_index") : -100;
            tki_hash_add(&hash, &smoothing, sizeof smoothing);
            tki_hash_add(&hash, &scale, sizeof scale);
            tki_hash_add(&hash, &ignored, sizeof ignored);
        }
        free(trials.list);
    }
    assert_true(tki_hash_finish(&hash, hex));
    assert_string_equal(hex, expected);
    tk_ctx_destroy(ctx);
}

TEST(same_trials_everywhere)
{
    assert_same_trials(false, false, "1adc794e0fb5da42f91152bba2a22a291c73e36d52ef585df13403d4ed4aa33f");
    assert_same_trials(false, true, "406599580eed3f0c8fc0eaaa9fa4683a4292e5f34f3e59608eb9a925b7d869bf");
    assert_same_trials(true, true, "27096e781be12812bb4352759b93bac4aa1eca886c4f9e99373b13d13d3b3a9f");
    assert_same_trials(true, false, "25938122eba3f45df1f8819f778a8fb2bbace5cb5920f50ee5639c1fa9d49d84");
}

/* What a cheap look takes for something else: inputs of the same bytes that are not symmetric, what has the diagonal and the sums of an
 * identity and is none, products that add up to exactly nothing. */
TEST(what_a_cheap_look_mistakes)
{
    enum { SIZE = 12 };
    tk_case c = make_case(tk_contract_find("gemm"), TK_F32, SIZE, SIZE, SIZE);
    inputs in;
    inputs_make(&in, &c);
    const float *a = in.data[0], *b = in.data[1];
    bool twins = false, like_identity = false;
    for (uint64_t turn = 0; turn < 3 * TKI_STRUCTURES; turn++) {
        tki_family_fill(family("structure"), &c, 1000 * turn, in.data);
        twins |= !memcmp(a, b, SIZE * SIZE * sizeof *a) && a[1] != a[SIZE];
        bool like = true, is_one = true;
        for (int l = 0; l < SIZE; l++) {
            float line = 0, column = 0;
            for (int t = 0; t < SIZE; t++) {
                line += a[l * SIZE + t];
                column += a[t * SIZE + l];
                is_one &= a[l * SIZE + t] == (float)(t == l);
            }
            like &= a[l * SIZE + l] == 1 && line == 1 && column == 1;
        }
        like_identity |= like && !is_one;
    }
    assert_true(twins && like_identity);
    tki_family_fill(family("zero_results"), &c, 0, in.data);
    for (int l = 0; l < SIZE; l++) {
        float sum = 0;
        for (int t = 0; t < SIZE; t++)
            sum += a[l * SIZE + t] * b[t * SIZE + 5];
        assert_true(a[l * SIZE] != 0 && (sum == 0) == (l % 4 != 3));
    }
    inputs_free(&in);
}

/* Element i of input p is the i-th that is drawn, times `times`: line by line along the rows of k elements, or down the columns. */
static void assert_drawn_in_order(const tk_case *c, int p, int64_t k, bool down_rows, double times)
{
    const int normal = family("normal");
    const int64_t count = tk_case_elements(c, p);
    inputs in;
    inputs_make(&in, c);
    tki_family_fill(normal, c, 77, in.data);
    tki_random random = tki_random_stream(77, (uint64_t)normal * 16 + (uint64_t)p);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(tki_element_bits(c->dtype, in.data[p], down_rows ? i % k * (count / k) + i / k : i),
                         tki_round_double(c->dtype, times * tki_random_normal(&random)));
    inputs_free(&in);
}

/* Blocks of a large tensor are drawn side by side, and numbers four at a time; what is drawn is what one long row of draws gives. */
TEST(large_tensors_are_drawn_in_order)
{
    static const tk_dtype types[] = {TK_F16, TK_BF16, TK_F32};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int64_t k = 1; k <= 211; k += 70) {
            const tk_case products = make_case(tk_contract_find("gemm"), types[t], 350, 371, k);
            assert_drawn_in_order(&products, 0, k, false, 1);
            assert_drawn_in_order(&products, 1, k, true, 1);
            const tk_case rows = make_case(tk_contract_find("softmax_fwd"), types[t], 371, k, 0);
            assert_drawn_in_order(&rows, 0, k, false, 3);
        }
    tki_random drawn = tki_random_stream(77, 3);
    tki_random skipped = drawn;
    tki_random_skip(&skipped, 1000 * (uint64_t)TKI_RANDOM_NORMAL_DRAWS);
    for (int i = 0; i < effort(1000); i++)
        (void)tki_random_normal(&drawn);
    assert_int_equal(drawn.state, skipped.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_for_definitions_that_add),
        cmocka_unit_test(names),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(same_trials_everywhere),
        cmocka_unit_test(what_a_cheap_look_mistakes),
        cmocka_unit_test(repeatable_and_inside),
        cmocka_unit_test(indices_are_in_range),
        cmocka_unit_test(ends_of_every_kind),
        cmocka_unit_test(index_families),
        cmocka_unit_test(few_has_the_promised_counts),
        cmocka_unit_test(special_has_every_special_value),
        cmocka_unit_test(patterns_cover),
        cmocka_unit_test(shapes_of_values),
        cmocka_unit_test(shapes_of_lines),
        cmocka_unit_test(midpoints_are_midpoints),
        cmocka_unit_test(exact_sums_are_exact),
        cmocka_unit_test(exact_sums_show_each_term),
        cmocka_unit_test(plateaus_are_plateaus),
        cmocka_unit_test(offsets_reach_both_ways),
        cmocka_unit_test(near_ties_are_near),
        cmocka_unit_test(near_ties_of_the_gradient_are_near),
        cmocka_unit_test(one_special_at_a_time),
        cmocka_unit_test(small_numbers_among_normal_ones),
        cmocka_unit_test(peaks_stand_where_code_changes),
        cmocka_unit_test(each_pattern_comes),
        cmocka_unit_test(thresholds_come_with_neighbours),
        cmocka_unit_test(every_exponent_comes),
        cmocka_unit_test(hits_are_counted_and_placed),
        cmocka_unit_test(targets_are_ignored_in_every_way),
        cmocka_unit_test(all_patterns_of_the_domain),
        cmocka_unit_test(trials_of_a_level),
        cmocka_unit_test(residues_are_covered),
        cmocka_unit_test(each_choice_meets_each_kind_of_size),
        cmocka_unit_test(zero_inputs_come_in_pairs),
        cmocka_unit_test(shapes_that_kernels_treat_apart),
        cmocka_unit_test(large_shapes_at_full),
        cmocka_unit_test(the_same_trials_everywhere),
        cmocka_unit_test(options_are_drawn),
        cmocka_unit_test(targets_of_all_trials_are_valid),
        cmocka_unit_test(restrictions_are_obeyed),
        cmocka_unit_test(large_tensors_are_drawn_in_order),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
