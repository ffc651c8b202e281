/* Input families: repeatable, inside their buffers, and each with what its description promises; the trials of a level. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hash.h"
#include "core/random.h"
#include "exact/round.h"
#include "tests/op_test.h"
#include "verify/cases.h"
#include "verify/families.h"
#include "verify/guard.h"
#include "verify/trial.h"

/* A matrix product's inputs, summed along the columns of the one and the rows of the other, and an index beside them. */
static const tk_contract product = {
    .name = "product",
    .dim_count = 3,
    .dim_names = {"m", "n", "k"},
    .param_count = 4,
    .params =
        {
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = {0, 2}, .inner_axis = 1, .may_alias = -1},
            {.name = "b", .kind = TK_KIND_VALUE, .rank = 2, .dim = {2, 1}, .inner_axis = 0, .may_alias = -1},
            {.name = "index",
             .kind = TK_KIND_INDEX,
             .rank = 1,
             .dim = {0},
             .indexed_dim = 1,
             .inner_axis = -1,
             .may_alias = -1},
            {.name = "c",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = {0, 1},
             .inner_axis = -1,
             .may_alias = -1},
        },
};

/* The same with the first input summed along its rows. */
static const tk_contract down = {
    .name = "down",
    .dim_count = 2,
    .dim_names = {"k", "n"},
    .param_count = 2,
    .params =
        {
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = {0, 1}, .inner_axis = 0, .may_alias = -1},
            {.name = "c",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 1,
             .dim = {1},
             .inner_axis = -1,
             .may_alias = -1},
        },
};

/* As softmax takes its input. */
static const tk_contract row = {
    .name = "row",
    .dim_count = 2,
    .dim_names = {"r", "c"},
    .param_count = 3,
    .params =
        {
            {.name = "x",
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = {0, 1},
             .inner_axis = 1,
             .may_alias = -1,
             .low_background = true},
            {.name = "target",
             .kind = TK_KIND_INDEX,
             .rank = 1,
             .dim = {0},
             .indexed_dim = 1,
             .inner_axis = -1,
             .may_alias = -1},
            {.name = "y",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = {0, 1},
             .inner_axis = -1,
             .may_alias = -1},
        },
    .takes_xent_options = true,
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
    memcpy(c.dims, (int64_t[]){d0, d1, d2}, sizeof c.dims);
    return c;
}

static int family(const char *name)
{
    int f = tki_family_find(name);
    assert_true(f >= 0);
    return f;
}

static void names(void **state)
{
    (void)state;
    int count = 0;
    const char *what;
    for (const char *name; (name = tk_family_at(count, &what)); count++) {
        assert_int_equal(tki_family_find(name), count);
        assert_true(strlen(what) > 5);
    }
    assert_true(count >= 20);
    assert_null(tk_family_at(-1, NULL));
    assert_null(tk_family_at(count, NULL));
    assert_int_equal(tki_family_find("nothing"), -1);
    assert_int_equal(tki_family_find(""), -1);
    const tk_contract *gelu = tk_contract_find("gelu_fwd");
    assert_true(tki_family_applies(family("normal"), gelu));
    assert_false(tki_family_applies(family("cancel"), gelu));
    assert_false(tki_family_applies(family("zipf"), gelu));
    for (int f = 0; f < count; f++)
        assert_true(tki_family_applies(f, &product));
}

/* A draw in which chance plays no part for this op. */
static bool is_fixed(int f, const tk_contract *contract)
{
    return f == family("midpoint") && contract->params[0].low_background && !tk_contract_takes_index(contract);
}

static void repeatable_and_inside(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 0, 0}, {5, 0, 3}, {0, 4, 1}, {1, 1, 1}, {3, 5, 7}, {17, 33, 20}};
    for (int i = 0; contract_at(i); i++)
        for (int f = 0; tk_family_at(f, NULL); f++)
            for (int s = 0; s < 6; s++) {
                const tk_contract *contract = contract_at(i);
                if (!tki_family_applies(f, contract))
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
            for (int64_t i = 0; i < tk_case_elements(c, param); i++) {
                int64_t index = index_at(c, in.data[param], i);
                bool ignored = c->contract->takes_xent_options && index == c->xent.ignore_index;
                if (!ignored && (index < 0 || index >= bound))
                    fail_msg("%s of %s: index %lld is outside [0, %lld)", tk_family_at(f, NULL), c->contract->name,
                             (long long)index, (long long)bound);
            }
        }
    inputs_free(&in);
}

static void indices_are_in_range(void **state)
{
    (void)state;
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
                c.xent.ignore_index = ignored[k];
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

static void index_families(void **state)
{
    (void)state;
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

static void few_has_the_promised_counts(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 8, 16};
    static const int strides[] = {1, 16, 256};
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            const tk_contract *contract = contract_at(i);
            double nothing = !contract->params[0].low_background ? 0 : dtypes[d] == TK_F16 ? -32752 : -0x1.fep126;
            bool seen[4][3] = {{false}};
            lines v;
            draw_lines(&v, contract, dtypes[d], "few", 7);
            for (int l = 0; l < LINES; l++) {
                const double *line = &v.value[l * LENGTH];
                int found = 0;
                int last = -1;
                int distance = 0;
                for (int t = LENGTH - 1; t >= 0; t--) {
                    if (line[t] == nothing)
                        continue;
                    if (last >= 0 && distance)
                        assert_int_equal(last - t, distance);
                    if (last >= 0)
                        distance = last - t;
                    last = t;
                    found++;
                }
                assert_true(line[LENGTH - 1] != nothing);
                for (int k = 0; k < 4; k++)
                    for (int s = 0; s < 3; s++)
                        seen[k][s] |= found == counts[k] && (found == 1 || distance == strides[s]);
                assert_true(found == 1 || found == 2 || found == 8 || found == 16);
            }
            for (int k = 0; k < 4; k++)
                for (int s = 0; s < 3; s++)
                    assert_true(seen[k][s]);
            free_lines(&v);
        }
    /* A line shorter than the count still has its last place and stays inside. */
    for (int64_t length = 1; length < 20; length++) {
        tk_case c = make_case(&product, TK_F16, 24, 2, length);
        inputs in;
        inputs_make(&in, &c);
        tki_family_fill(family("few"), &c, 3, in.data);
        inputs_check(&in, &c);
        for (int l = 0; l < 24; l++)
            assert_true((((const uint16_t *)in.data[0])[l * length + length - 1] & 0x7fff) != 0);
        inputs_free(&in);
    }
}

/* A signalling NaN of each sign, a quiet one, both infinities, both zeros; for ops that sum and ops that do not. */
static void special_has_every_special_value(void **state)
{
    (void)state;
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

static void patterns_cover(void **state)
{
    (void)state;
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

static void shapes_of_values(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) {
            const tk_contract *contract = contract_at(i);
            bool low = contract->params[0].low_background;
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

static void shapes_of_lines(void **state)
{
    (void)state;
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
                assert_true(peaks >= 1 && peaks <= (contract->params[0].low_background ? 3 : 1));
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
static void midpoints_are_midpoints(void **state)
{
    (void)state;
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

/* -- Trials ---------------------------------------------------------------------------------------------------- */

static void all_patterns_of_the_domain(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
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
    tk_ctx_destroy(ctx);
}

static void trials_of_a_level(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    for (int i = 0; tk_contract_at(i); i++) {
        const tk_contract *contract = tk_contract_at(i);
        int64_t count[2];
        for (int level = TK_QUICK; level <= TK_FULL; level++) {
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.level = (tk_level)level;
            tki_trials trials;
            assert_ok(ctx, tki_trials_make(ctx, contract, TK_F16, TK_I64, &options, &trials));
            bool used[64] = {false};
            int64_t elements = 0;
            bool zero_size = false;
            for (int64_t t = 0; t < trials.count; t++) {
                const tki_trial *trial = &trials.list[t];
                assert_true(trial->family >= 0 && tki_family_applies(trial->family, contract));
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
                assert_int_equal(used[f], tki_family_applies(f, contract));
            assert_true(zero_size);
            if (level == TK_FULL) /* one wrong element in a million is seen with 99 % certainty */
                assert_true(elements >= 4600000);
            count[level] = trials.count;
            free(trials.list);
        }
        assert_true(count[TK_FULL] > count[TK_QUICK]);
    }
    tk_ctx_destroy(ctx);
}

static void restrictions_are_obeyed(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
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
    tk_ctx_destroy(ctx);
}

/* A certificate made here can be replayed elsewhere only if every compiler and processor draws the same inputs. The hash is
 * over all families and ops at one seed; it changes when a family does, and then on purpose. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tki_hash hash;
    char hex[TKI_HASH_HEX];
    tki_hash_begin(&hash);
    for (int op = 0; op < tk_contract_count(); op++)
        for (int family = 0; tk_family_at(family, NULL); family++) {
            tk_case c = tk_case_init(tk_contract_at(op), op % 2 ? TK_BF16 : TK_F16);
            for (int d = 0; d < c.contract->dim_count; d++)
                c.dims[d] = 17 + d;
            if (!tki_family_applies(family, c.contract))
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
    assert_string_equal(hex, "20a73b86921125a3340d1b81f86ee10a829bed137396e7b0fe4ca2898b73be36");
    tk_ctx_destroy(ctx);
}

/* Blocks of a large tensor are drawn side by side; what is drawn is what one long row of draws gives. */
static void large_tensors_are_drawn_in_order(void **state)
{
    (void)state;
    const int64_t m = 150;
    const int64_t n = 170;
    const int64_t k = 211;
    tk_case c = make_case(tk_contract_find("gemm"), TK_F16, m, n, k);
    inputs in;
    inputs_make(&in, &c);
    const int normal = family("normal");
    tki_family_fill(normal, &c, 77, in.data);
    tki_random of_a = tki_random_stream(77, (uint64_t)normal * 16);
    for (int64_t i = 0; i < m * k; i++)
        assert_int_equal(((uint16_t *)in.data[0])[i], tki_round_double(TK_F16, tki_random_normal(&of_a)));
    /* b is summed over its rows, so it is drawn column by column. */
    tki_random of_b = tki_random_stream(77, (uint64_t)normal * 16 + 1);
    for (int64_t i = 0; i < n * k; i++)
        assert_int_equal(((uint16_t *)in.data[1])[i % k * n + i / k],
                         tki_round_double(TK_F16, tki_random_normal(&of_b)));
    inputs_free(&in);

    tki_random drawn = tki_random_stream(77, 3);
    tki_random skipped = drawn;
    tki_random_skip(&skipped, 1000 * (uint64_t)TKI_RANDOM_NORMAL_DRAWS);
    for (int i = 0; i < 1000; i++)
        (void)tki_random_normal(&drawn);
    assert_int_equal(drawn.state, skipped.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(repeatable_and_inside),
        cmocka_unit_test(indices_are_in_range),
        cmocka_unit_test(index_families),
        cmocka_unit_test(few_has_the_promised_counts),
        cmocka_unit_test(special_has_every_special_value),
        cmocka_unit_test(patterns_cover),
        cmocka_unit_test(shapes_of_values),
        cmocka_unit_test(shapes_of_lines),
        cmocka_unit_test(midpoints_are_midpoints),
        cmocka_unit_test(all_patterns_of_the_domain),
        cmocka_unit_test(trials_of_a_level),
        cmocka_unit_test(restrictions_are_obeyed),
        cmocka_unit_test(large_tensors_are_drawn_in_order),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
