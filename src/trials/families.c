/* CHOOSES. Input families: which there are, for which ops, and how the inputs of a case are filled. Values are drawn
 * as doubles and rounded to the tensor's type, or drawn as patterns; a tensor is walked as lines along the axis that
 * the op sums over, since that is where mistakes add up. Values: families_values.c, _sums.c, _exp.c, _ties.c.
 * Indices: families_index.c, families_ends.c. */
#include "trials/families.h"

#include <string.h>

#include "exact/exact_sum.h"
#include "exact/floats.h"
#include "model/case.h"
#include "trials/families_index.h"
#include "trials/families_lines.h"
#include "trials/op_registry.h"

static const struct {
    const char *name, *what;
    int kinds; /* of ops that it is for */
    bool needs_index;
} families[TKI_FAMILY_COUNT] = {
#define FAMILY(NAME, name, what, kinds, needs_index) {#name, what, kinds, needs_index},
#include "trials/families.def"
#undef FAMILY
};

const char *tk_family_at(int i, const char **what)
{
    if (i < 0 || i >= TKI_FAMILY_COUNT)
        return NULL;
    if (what)
        *what = families[i].what;
    return families[i].name;
}

int tki_family_find(const char *name)
{
    for (int i = 0; i < TKI_FAMILY_COUNT; i++)
        if (!strcmp(families[i].name, name))
            return i;
    return -1;
}

static tki_op_kind kind_of(const tk_contract *contract)
{
    bool adds = false;
    bool adds_exp = false;
    for (int p = 0; p < contract->param_count; p++) {
        adds |= contract->params[p].inner_axis >= 0;
        adds_exp |= contract->params[p].neutral == TK_NEUTRAL_LOW;
    }
    return adds_exp ? TKI_ADDS_EXP : adds ? TKI_ADDS : tki_index_param(contract) >= 0 ? TKI_COPIES : TKI_ELEMENTWISE;
}

/* What a definition adds it may subtract from, as norms do: one that is evaluated in a form that cancels shows it where all has an offset. */
static bool may_lose_an_offset(const tk_contract *contract)
{
    return tk_contract_definition(contract) && kind_of(contract) == TKI_ADDS;
}

bool tk_family_applies(int family, const tk_contract *contract)
{
    return family >= 0 && family < TKI_FAMILY_COUNT &&
           (!families[family].needs_index || tki_index_param(contract) >= 0) &&
           ((families[family].kinds & (int)kind_of(contract)) != 0 ||
            (family == TKI_FAMILY_OFFSET && may_lose_an_offset(contract)));
}

int tki_family_main(const tk_contract *contract, int turn)
{
    static const int of_copies[] = {TKI_FAMILY_BITS, TKI_FAMILY_INDEX_PERMUTED, TKI_FAMILY_INDEX_HIGH};
    static const int of_elements[] = {TKI_FAMILY_NORMAL, TKI_FAMILY_EACH_PATTERN};
    static const int of_scattered[] = {TKI_FAMILY_EXACT, TKI_FAMILY_INDEX_COUNTS, TKI_FAMILY_INDEX_RUNS,
                                       TKI_FAMILY_INDEX_PERMUTED};
    static const int of_exp[] = {TKI_FAMILY_PLATEAU, TKI_FAMILY_NORMAL};
    static const int of_targets[] = {TKI_FAMILY_PLATEAU, TKI_FAMILY_NORMAL, TKI_FAMILY_PLATEAU, TKI_FAMILY_CONFIDENT};
    switch (kind_of(contract)) {
    case TKI_COPIES: return of_copies[turn % 3];
    case TKI_ELEMENTWISE: return of_elements[turn % 2];
    case TKI_ADDS_EXP: return tki_index_param(contract) >= 0 ? of_targets[turn % 4] : of_exp[turn % 2];
    default: return tki_index_param(contract) >= 0 ? of_scattered[turn % 4] : TKI_FAMILY_EXACT;
    }
}

int tki_family_telling(const tk_contract *contract, int i)
{
    static const int of_sums[] = {TKI_FAMILY_TAIL, TKI_FAMILY_ORDER};
    static const int of_exp[] = {TKI_FAMILY_TAIL, TKI_FAMILY_CROWD};
    const tki_op_kind kind = kind_of(contract);
    if (i < 0 || i > 1 || !(kind & TKI_SUMS))
        return -1;
    return kind == TKI_ADDS ? of_sums[i] : of_exp[i];
}

/* What index families draw as values: something that shows where it went. */
static void fill_telling(const tki_lines *v, tki_random *random)
{
    if (v->kind == TKI_COPIES)
        tki_fill_patterns(v, random, false);
    else if (v->kind == TKI_ADDS)
        tki_fill_exact(v, random);
    else
        tki_fill_normal(v, random);
}

/* Every pattern equally likely; in most families, where sums should be told from overflow, small numbers; and the
 * ends of the range. */
static void fill_integers(tki_family family, tk_dtype dtype, void *data, int64_t count, tki_random *random)
{
    const size_t bytes = tk_dtype_size(dtype);
    const int kept = family == TKI_FAMILY_BITS || family == TKI_FAMILY_FINITE_BITS ? 0 : 64 - 12;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t drawn = tki_random_u64(random);
        uint64_t value = kept ? (uint64_t)((int64_t)drawn >> kept) : drawn;
        if (tki_format_of(dtype).number == TKI_UNSIGNED && kept)
            value = drawn >> kept;
        if (family == TKI_FAMILY_ZEROS || family == TKI_FAMILY_EQUAL)
            value = family == TKI_FAMILY_EQUAL;
        if (family == TKI_FAMILY_HUGE_VALUES || (family == TKI_FAMILY_SPECIAL && drawn % 8 == 0))
            value = UINT64_MAX >> (drawn & 1) << (drawn >> 1 & 1);
        value &= UINT64_MAX >> (64 - tki_pattern_bits(dtype));
        memcpy((char *)data + (size_t)i * bytes, &value, bytes);
    }
}

/* Of an op that draws its own integers. */
static tk_drawn drawn_of(tki_family family, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_BITS:
    case TKI_FAMILY_FINITE_BITS: return TK_DRAW_BITS;
    case TKI_FAMILY_HUGE_VALUES:
    case TKI_FAMILY_ONE_SIGN:
    case TKI_FAMILY_EQUAL: return TK_DRAW_LARGEST;
    case TKI_FAMILY_NORMAL: return TK_DRAW_PLAIN;
    case TKI_FAMILY_FEW:
    case TKI_FAMILY_ZEROS:
    case TKI_FAMILY_ONE_HOT: return TK_DRAW_SPARSE;
    case TKI_FAMILY_CANCEL: return TK_DRAW_CANCEL;
    /* On shapes of every kind: both. */
    case TKI_FAMILY_EXACT: return tki_random_below(random, 2) ? TK_DRAW_TELLING : TK_DRAW_PLAIN;
    default: return TK_DRAW_TELLING;
    }
}

static void fill_values(tki_family family, const tki_lines *v, tki_random *random)
{
    switch (family) {
    case TKI_FAMILY_INDEX_RUNS:
    case TKI_FAMILY_INDEX_TWO:
    case TKI_FAMILY_INDEX_PERMUTED:
    case TKI_FAMILY_INDEX_LAST:
    case TKI_FAMILY_INDEX_COUNTS:
    case TKI_FAMILY_INDEX_APART:
    case TKI_FAMILY_INDEX_HIGH: fill_telling(v, random); return;
    default: break;
    }
    /* Others of indices have plain values; so do the partners of what is chosen later. */
    if (!tki_fill_values(family, v, random) && !tki_fill_sums(family, v, random) &&
        !tki_fill_exp(family, v, random) && !tki_fill_structure(family, v, random))
        tki_fill_normal(v, random);
}

/* The tensor as lines along its inner axis, or along the last one; where others lie behind that axis, once for each
 * place before it. `unit`, if not 0: that of products to which it is added exactly. */
static void fill_tensor(tki_family family, const tk_case *c, int p, void *data, tki_lines v, double unit,
                        tki_random *random)
{
    const tk_param *param = &c->contract->params[p];
    const int axis = param->inner_axis < 0 ? param->rank - 1 : param->inner_axis;
    const int64_t elements = tk_case_elements(c, p);
    int64_t inner = 1;
    for (int behind = axis + 1; behind < param->rank; behind++)
        inner *= c->dims[param->dim[behind]];
    const bool last = axis == param->rank - 1;
    v.length = c->dims[param->dim[axis]];
    v.count = last ? elements / v.length : inner;
    v.line_stride = last ? v.length : 1;
    v.place_stride = last ? 1 : inner;
    const int64_t block = v.count * v.length;
    for (int64_t begin = 0; begin < elements; begin += block) {
        v.data = (char *)data + (size_t)begin * tk_dtype_size(v.dtype);
        if (unit > 0)
            tki_fill_exact_terms(&v, unit, random);
        else
            fill_values(family, &v, random);
        v.before += block;
    }
}

/* A power of two that divides all products of the factors, which lie before input p; 0: not all of them do. */
static double product_unit(const tk_case *c, int p, int factors, void *const data[])
{
    double unit = 1;
    for (int q = 0; q < p; q++) {
        const tk_param *param = &c->contract->params[q];
        if (param->output || param->kind == TK_KIND_INDEX || param->inner_axis < 0)
            continue;
        const tk_dtype dtype = tk_case_param_dtype(c, q);
        const int64_t elements = tk_case_elements(c, q);
        double least = INFINITY;
        for (int64_t i = 0; i < elements; i++) {
            const double value = tki_decode(dtype, tki_element_bits(dtype, data[q], i));
            least = value == 0 || !isfinite(value) ? least : fmin(least, tki_last_bit(value));
        }
        unit *= isfinite(least) ? least : 1;
        factors--;
    }
    return factors == 0 ? unit : 0;
}

/* Is it elementwise, with so many inputs and an output, all of floating point? */
static bool is_elementwise_of(const tk_case *c, int inputs)
{
    bool all = c->contract->elementwise && c->contract->param_count == inputs + 1;
    for (int p = 0; p <= inputs && all; p++)
        all = c->contract->params[p].output == (p == inputs) &&
              tki_format_of(tk_case_param_dtype(c, p)).number == TKI_FLOATING;
    return all;
}

/* How input p of zero_input is filled: consecutive numbers of trials, which go into seeds as thousands, give each pair of inputs in turn. */
static tki_family part_in_zero_input(const tk_case *c, int p, uint64_t seed)
{
    int inputs = 0, place = 0;
    for (int q = 0; q < c->contract->param_count; q++) {
        const bool value = !c->contract->params[q].output && c->contract->params[q].kind != TK_KIND_INDEX &&
                           tk_case_elements(c, q) > 0;
        place = q == p ? inputs : place;
        inputs += value;
    }
    if (inputs < 2)
        return TKI_FAMILY_ZERO_INPUT;
    const int pair = (int)(seed / 1000 % (uint64_t)(inputs * (inputs - 1)));
    const int zero = pair % inputs;
    const int special = (zero + 1 + pair / inputs) % inputs;
    if (place == zero)
        return TKI_FAMILY_ZERO_INPUT;
    /* What is added to products that are all zero shows to its last bit, however small it is. */
    if (place != special)
        return c->contract->params[p].inner_axis >= 0 ? TKI_FAMILY_NORMAL : TKI_FAMILY_SMALL_AMONG;
    return c->contract->params[p].inner_axis >= 0 ? TKI_FAMILY_ONE_SPECIAL : TKI_FAMILY_SPECIAL;
}

void tki_family_fill(int family, const tk_case *c, uint64_t seed, void *const data[])
{
    const tki_floats floats = tki_floats_begin();
    const tk_contract *contract = c->contract;
    const tki_trial_hints *hints = tki_hints_of(contract);
    bool first_input = true;
    int inputs = 0;
    int64_t before = 0;
    int last_value = 0;
    int factors = 0;
    for (int p = 0; p < contract->param_count; p++) {
        bool value = !contract->params[p].output && contract->params[p].kind != TK_KIND_INDEX &&
                     tki_format_of(tk_case_param_dtype(c, p)).number == TKI_FLOATING;
        last_value = value ? p : last_value;
        factors += value && contract->params[p].inner_axis >= 0;
    }
    for (int p = 0; p < contract->param_count; p++) {
        const tk_param *param = &contract->params[p];
        tki_random random = tki_random_stream(seed, (uint64_t)family * 16 + (uint64_t)p);
        tki_random whole = tki_random_stream(seed, (uint64_t)family * 16 + 15); /* the same for every input */
        if (param->output || tk_case_elements(c, p) == 0)
            continue;
        if (param->kind == TK_KIND_INDEX) {
            if (param->rule == TK_INDICES_ENDS)
                tki_family_fill_ends((tki_family)family, c, p, data[p], &random);
            else
                tki_family_fill_index((tki_family)family, c, p, data[p], &random);
            continue;
        }
        const tk_dtype dtype = tk_case_param_dtype(c, p);
        if (tki_format_of(dtype).number != TKI_FLOATING) {
            if (hints->fill)
                hints->fill(c, p, drawn_of((tki_family)family, &whole), data[p], &random);
            else
                fill_integers((tki_family)family, dtype, data[p], tk_case_elements(c, p), &random);
            continue;
        }
        const tki_lines like = {.dtype = dtype,
                                .format = tki_format_of(dtype),
                                .result = tki_kind_dtype(c, TK_KIND_RESULT),
                                .kind = kind_of(contract),
                                .low_background = (param->neutral == TK_NEUTRAL_LOW),
                                .summed = param->inner_axis >= 0,
                                .factors = factors,
                                .first_input = first_input,
                                .last_input = p == last_value,
                                .input = inputs++,
                                .before = before,
                                .seed = seed,
                                .turn = seed / 1000};
        /* What is paired is chosen for values of every size. */
        bool paired = family == TKI_FAMILY_NEAR_TIE && like.kind == TKI_ELEMENTWISE;
        const bool added = family == TKI_FAMILY_EXACT && like.kind == TKI_ADDS && !like.summed && factors == 2;
        const tki_family part = family == TKI_FAMILY_ZERO_INPUT ? part_in_zero_input(c, p, seed) : (tki_family)family;
        fill_tensor(paired ? TKI_FAMILY_LOG_UNIFORM : part, c, p, data[p], like,
                    added ? product_unit(c, p, factors, data) : 0, &random);
        if (paired && p == last_value && is_elementwise_of(c, 2))
            tki_choose_near_ties(c, data, 96, true, &random);
        if (family == TKI_FAMILY_NEAREST_TIES && p == last_value && is_elementwise_of(c, 2))
            tki_choose_near_ties(c, data, 4096, true, &random);
        else if (family == TKI_FAMILY_NEAREST_TIES && is_elementwise_of(c, 1))
            tki_choose_nearest_ties(c, data[p], &random);
        if (family == TKI_FAMILY_EACH_PATTERN && p == last_value && is_elementwise_of(c, 2))
            tki_choose_near_ties(c, data, 24, false, &random);
        before += tk_case_elements(c, p);
        first_input = false;
    }
    tki_floats_end(&floats);
}
