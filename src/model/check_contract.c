/* DECIDES. Is it a contract? What no op can mean is refused, since the judge would take it for something else. */
#include <math.h>
#include <string.h>

#include "model/case.h"
#include "model/contract_parts.h"
#include "model/format.h"
#include "model/made_op.h"

static const char *wrong_dims(const tk_contract *c)
{
    if (c->dim_count < 1 || c->dim_count > TK_MAX_DIMS || !c->dim_names)
        return "dim_count is out of range, or dim_names is NULL";
    for (int i = 0; i < c->dim_count; i++) {
        if (!tki_is_name(c->dim_names[i], TKI_MOST_NAME))
            return "a name in dim_names is not of lower-case letters, digits and _";
        for (int k = 0; k < i; k++)
            if (!strcmp(c->dim_names[i], c->dim_names[k]))
                return "two sizes have the same name";
    }
    if (!c->derive != !c->derived)
        return "`derive` and `derived` must be set together";
    return NULL;
}

static bool may_share(const tk_contract *c, const tk_param *p)
{
    if (p->may_alias < 0 || p->may_alias >= c->param_count)
        return false;
    const tk_param *other = &c->params[p->may_alias];
    return !other->output && other->rank == p->rank && other->kind == p->kind &&
           (p->kind != TK_KIND_FIXED || other->dtype == p->dtype) &&
           !memcmp(other->dim, p->dim, (size_t)p->rank * sizeof *p->dim);
}

static bool same_condition(const tk_param *a, const tk_param *b)
{
    return a->when_choices == b->when_choices && (!a->when_choices || a->when_attribute == b->when_attribute);
}

/* Row by row, or one row of keys for all. */
static const char *wrong_order(const tk_contract *c, const tk_param *p)
{
    if (p->ordered_by < 0 || p->ordered_by >= c->param_count || c->params[p->ordered_by].output)
        return "ordered_by of an output is not an input";
    const tk_param *keys = &c->params[p->ordered_by];
    if (keys->rank != 1 &&
        (keys->rank != p->rank || memcmp(keys->dim, p->dim, (size_t)(p->rank - 1) * sizeof *p->dim) != 0))
        return "the input in ordered_by has other rows than the output";
    return keys->when_choices && !same_condition(keys, p)
               ? "the input in ordered_by is absent in some cases where the output is present"
               : NULL;
}

/* Before attributes are checked: only what the condition itself needs. */
static const char *wrong_condition(const tk_contract *c, const tk_param *p)
{
    if (p->when_attribute < 0 || p->when_attribute >= c->attribute_count || !c->attributes ||
        c->attributes[p->when_attribute].type != TK_ATTRIBUTE_CHOICE ||
        !c->attributes[p->when_attribute].seen_by_kernel)
        return "when_attribute of a tensor is not a choice seen by kernels";
    const int choices = c->attributes[p->when_attribute].choice_count;
    if (choices < 1 || choices > TK_MAX_CHOICES || p->when_choices & ~(UINT64_MAX >> (64 - choices)))
        return "when_choices of a tensor names a choice that does not exist";
    return NULL;
}

static const char *wrong_param(const tk_contract *c, int i)
{
    const tk_param *p = &c->params[i];
    if (!tki_is_name(p->name, TKI_MOST_NAME))
        return "a tensor's name is not of lower-case letters, digits and _";
    for (int k = 0; k < i; k++)
        if (!strcmp(p->name, c->params[k].name))
            return "two tensors have the same name";
    if ((unsigned)p->kind > TK_KIND_FIXED || (p->kind == TK_KIND_FIXED && !tki_is_dtype(p->dtype)))
        return "`kind` or `dtype` of a tensor is out of range";
    if (p->rank < 1 || p->rank > TK_MAX_RANK || !p->dim || p->inner_axis < -1 || p->inner_axis >= p->rank)
        return "a tensor's rank is not from 1 to 8, its `dim` is NULL, or its inner_axis is out of range";
    for (int axis = 0; axis < p->rank; axis++)
        if (p->dim[axis] < 0 || p->dim[axis] >= c->dim_count)
            return "`dim` of a tensor names a size that the op does not have";
    if (p->when_choices && wrong_condition(c, p))
        return wrong_condition(c, p);
    if (p->kind == TK_KIND_INDEX && (p->indexed_dim < 0 || p->indexed_dim >= c->dim_count))
        return "indexed_dim names a size that the op does not have";
    if ((unsigned)p->rule > TK_INDICES_ENDS || (unsigned)p->neutral > TK_NEUTRAL_LOW)
        return "`rule` or `neutral` of a tensor is out of range";
    const bool ranged = p->least != 0 || p->most != 0;
    if (ranged && (p->output || !(p->least < p->most) || !isfinite(p->most - p->least)))
        return "`least` and `most` of a tensor are not a finite range of an input";
    if (!isfinite(p->sums_to))
        return "sums_to of an output is not finite";
    if (p->rule == TK_INDICES_ENDS &&
        (p->kind != TK_KIND_INDEX || p->output || p->rank != 1 || p->dim[0] == p->indexed_dim))
        return "a tensor with the rule TK_INDICES_ENDS is not an input of indices with one axis, or its size is the "
               "one that it indexes";
    if ((unsigned)p->judged > TK_BY_ORDER)
        return "`judged` of a tensor is out of range";
    if (p->output && p->may_alias != -1 && !may_share(c, p))
        return "may_alias of an output is neither -1 nor an input of the same shape and type";
    return p->output && p->judged == TK_BY_ORDER ? wrong_order(c, p) : NULL;
}

static const char *wrong_params(const tk_contract *c)
{
    int outputs = 0, always = 0;
    if (c->param_count < 1 || c->param_count > TK_MAX_PARAMS || !c->params)
        return "param_count is out of range, or `params` is NULL";
    for (int i = 0; i < c->param_count; i++) {
        const char *wrong = wrong_param(c, i);
        if (wrong)
            return wrong;
        outputs += c->params[i].output;
        always += c->params[i].output && !c->params[i].when_choices;
    }
    return outputs == 0 ? "it has no output" : always == 0 ? "every output is absent in some cases" : NULL;
}

static bool is_range_of_integers(const tk_param *p, tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    const bool has_sign = f.number == TKI_SIGNED;
    const double end = dtype == TK_BOOL ? 2 : fmin(ldexp(1, f.bits - has_sign), 0x1p53);
    return p->kind != TK_KIND_INDEX && p->least == rint(p->least) && p->most == rint(p->most) &&
           p->least >= (has_sign ? -end : 0) && p->most < end && (dtype != TK_BOOL || p->most <= 1);
}

/* Real numbers are rounded, integers are exact; an order is one of indices. */
static const char *wrong_judged(const tk_contract *c)
{
    for (int i = 0; i < c->type_count; i++)
        for (int p = 0; p < c->param_count; p++) {
            const tk_param *param = &c->params[p];
            const tk_case typed = {.contract = c,
                                   .dtype = c->types[i].dtype,
                                   .result_dtype = c->types[i].result_dtype,
                                   .index_dtype = TK_I32};
            const bool real = tki_format_of(tk_case_param_dtype(&typed, p)).number == TKI_FLOATING;
            const bool exact = param->judged == TK_BY_INTEGER || param->judged == TK_BY_ORDER;
            if (param->output && real == exact)
                return real ? "an output of real numbers is judged as integers"
                            : "an output of integers is not judged by TK_BY_INTEGER or TK_BY_ORDER";
            if (!real && param->least != param->most && !is_range_of_integers(param, tk_case_param_dtype(&typed, p)))
                return "`least` and `most` of an input of integers are no integers of its type, or beyond 2^53, or "
                       "it "
                       "is one of indices";
            if (param->output && !real && param->sums_to != 0)
                return "sums_to is set for an output of integers";
        }
    return NULL;
}

/* At one place of all tensors: then each input can be tried by itself, in one long line. */
static const char *wrong_elementwise(const tk_contract *c)
{
    for (int i = 0; i < c->param_count && c->elementwise; i++) {
        const tk_param *p = &c->params[i], *first = &c->params[0];
        if (p->rank != first->rank || memcmp(p->dim, first->dim, (size_t)p->rank * sizeof *p->dim) != 0 ||
            p->kind == TK_KIND_INDEX || p->inner_axis >= 0 || (p->output && p->judged == TK_BY_ORDER))
            return "`elementwise` is set, but its tensors differ in shape, have an inner axis, or hold indices";
        if (p->when_choices)
            return "`elementwise` is set, but a tensor is absent in some cases";
        for (int axis = 0; axis < p->rank - 1; axis++)
            if (p->dim[axis] == p->dim[p->rank - 1])
                return "`elementwise` is set, but a tensor has the same size twice";
    }
    return NULL;
}

/* Of one assignment. */
static const char *wrong_tensor_types(const tk_contract *c, const tk_dtype types[])
{
    for (int i = 0; i < c->param_count; i++) {
        const tk_param *p = &c->params[i];
        if (p->kind == TK_KIND_INDEX ? types[i] != TK_I32 && types[i] != TK_I64 : !tki_is_dtype(types[i]))
            return "a type in `tensor_types` is out of range, or that of indices is neither TK_I32 nor TK_I64";
        if (p->kind == TK_KIND_FIXED && types[i] != p->dtype)
            return "a type in `tensor_types` is not the `dtype` of its tensor, whose kind is TK_KIND_FIXED";
        if (p->output && p->may_alias >= 0 && types[p->may_alias] != types[i])
            return "`tensor_types` gives an output another type than the input in its may_alias";
    }
    return NULL;
}

static const char *wrong_types(const tk_contract *c)
{
    if (c->type_count < 1 || c->type_count > TKI_DTYPE_COUNT * TKI_DTYPE_COUNT || !c->types)
        return "type_count is out of range, or `types` is NULL";
    for (int i = 0; i < c->type_count; i++)
        if (!tki_is_dtype(c->types[i].dtype) || !tki_is_dtype(c->types[i].result_dtype))
            return "a type in `types` is out of range";
    for (int i = 0; i < c->type_count; i++) {
        const tk_case typed = {.contract = c, .dtype = c->types[i].dtype, .result_dtype = c->types[i].result_dtype};
        if (tki_case_types(&typed) != i)
            return "two assignments in `types` are the same";
        const char *wrong = c->tensor_types ? wrong_tensor_types(c, c->tensor_types + i * c->param_count) : NULL;
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* What the judge makes of an attribute it does by the positions of its choices, and says by its name. */
static const tk_attribute roles[] = {TKI_DOMAIN_ATTRIBUTE, TKI_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE,
                                     TKI_OVERFLOW_ATTRIBUTE(TKI_OVERFLOW_NAN)};
static const tk_attribute defined_numerics = TKI_DEFINED_NUMERICS_ATTRIBUTE;

static bool same_choices(const tk_attribute *a, const tk_attribute *b)
{
    for (int k = 0; k < a->choice_count && a->choice_count == b->choice_count; k++)
        if (strcmp(a->choices[k].id, b->choices[k].id) != 0)
            return false;
    return a->choice_count == b->choice_count;
}

static bool keeps_its_role(const tk_attribute *a)
{
    for (size_t r = 0; r < sizeof roles / sizeof *roles; r++)
        if ((a->role == roles[r].role) != !strcmp(a->name, roles[r].name) ||
            (a->role == roles[r].role &&
             (a->seen_by_kernel ||
              !(same_choices(a, &roles[r]) || (a->role == TK_ROLE_NUMERICS && same_choices(a, &defined_numerics))))))
            return false;
    return (unsigned)a->role <= TK_ROLE_OVERFLOW;
}

static const char *wrong_attribute(const tk_contract *c, int i)
{
    const tk_attribute *a = &c->attributes[i];
    if (!tki_is_name(a->name, TKI_MOST_NAME) || !a->text || tk_attribute_find(c, a->name) != i)
        return "an attribute has no valid or unique name, or no text";
    const bool choice = a->type == TK_ATTRIBUTE_CHOICE;
    if ((unsigned)a->type > TK_ATTRIBUTE_INTEGER)
        return "`type` of an attribute is out of range";
    if (a->choice_count < 0 || a->choice_count > TK_MAX_CHOICES || (a->choice_count && (!a->choices || !choice)))
        return "choice_count of an attribute is out of range, `choices` is NULL, or its type is not "
               "TK_ATTRIBUTE_CHOICE";
    if (a->tried_count < 0 || a->tried_count > TK_MAX_CHOICES || (a->tried_count && (!a->tried || choice)))
        return "tried_count of an attribute is out of range, `tried` is NULL, or its type is TK_ATTRIBUTE_CHOICE";
    for (int k = 0; k < a->choice_count; k++)
        if (!tki_is_name(a->choices[k].id, TKI_MOST_NAME) || !a->choices[k].text ||
            tk_choice_find(a, a->choices[k].id) != k)
            return "a choice has no valid or unique id, or no text";
    if (a->type == TK_ATTRIBUTE_REAL && (isinf(a->least.real) || isinf(a->most.real)))
        return "the range of an attribute is not finite";
    if (!tki_attribute_allows(a, a->initial))
        return "`initial` of an attribute is out of range";
    for (int k = 0; k < a->tried_count; k++)
        if (!tki_attribute_allows(a, a->tried[k]))
            return "a value in `tried` is out of range";
    return keeps_its_role(a)
               ? NULL
               : "an attribute named domain, numerics, matrix_unit or overflow must have the role of that name "
                 "and its choices, and no other may have that role";
}

static const char *wrong_attributes(const tk_contract *c)
{
    if (c->attribute_count < 0 || c->attribute_count > TK_MAX_ATTRIBUTES || (c->attribute_count && !c->attributes))
        return "attribute_count is out of range, or `attributes` is NULL";
    for (int i = 0; i < c->attribute_count; i++) {
        const char *wrong = wrong_attribute(c, i);
        if (wrong)
            return wrong;
    }
    for (int p = 0; p < c->param_count; p++) {
        const int also = tki_index_attribute(c, p);
        if (c->params[p].also &&
            (c->params[p].kind != TK_KIND_INDEX || c->params[p].output || also < 0 ||
             c->params[p].rule == TK_INDICES_ENDS || c->attributes[also].type != TK_ATTRIBUTE_INTEGER))
            return "`also` of a tensor needs an input of indices that are not ends of groups, and an attribute of "
                   "integers";
    }
    return NULL;
}

/* Results in 8 bits may be too large for them; what they are then is a choice that the headline repeats. */
static const char *wrong_overflow(const tk_contract *c)
{
    if (tki_attribute_of_role(c, TK_ROLE_OVERFLOW) >= 0)
        return NULL;
    for (int i = 0; i < c->type_count; i++)
        for (int p = 0; p < c->param_count; p++) {
            const tk_case typed = {
                .contract = c, .dtype = c->types[i].dtype, .result_dtype = c->types[i].result_dtype};
            if (c->params[p].output && c->params[p].judged == TK_BY_INTERVAL &&
                tki_may_saturate(tk_case_param_dtype(&typed, p)))
                return "an output is of f8_e4m3 or f8_e5m2, and no attribute has the role TK_ROLE_OVERFLOW";
        }
    return NULL;
}

const char *tki_wrong_contract(const tk_contract *c)
{
    if (!tki_is_name(c->name, TKI_MOST_OP_NAME))
        return "`name` is not of lower-case letters, digits and _";
    if (!c->summary || !c->formula || !c->bound)
        return "`summary`, `formula` or `bound` is NULL";
    const char *(*const checks[])(const tk_contract *) = {wrong_dims,     wrong_params,      wrong_types,
                                                          wrong_judged,   wrong_elementwise, wrong_attributes,
                                                          wrong_overflow, tki_wrong_clauses};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *wrong = checks[i](c);
        if (wrong)
            return wrong;
    }
    return NULL;
}
