/* Ops of programs: checked, copied, and given a row of lowerings. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "drivers/backend.h"
#include "model/case.h"
#include "model/contract_parts.h"
#include "model/format.h"
#include "model/op.h"

/* -- Is it a contract? ------------------------------------------------------------------------------------- */

enum { MOST_OP_NAME = 63 }; /* bytes, as frames have room for */

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
            (a->role == roles[r].role && (a->seen_by_kernel || !same_choices(a, &roles[r]))))
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

/* Clauses that follow from sizes and tensors: those that a contract does not list are added to the copy of it. */
static const struct {
    tk_clause_kind kind;
    const char *ending; /* of the id, behind the op's name */
} usual[] = {{TK_CLAUSE_WRITE, ".WRITE"},
             {TK_CLAUSE_SHAPE, ".SHAPE"},
             {TK_CLAUSE_REPEAT, ".REPEAT"},
             {TK_CLAUSE_INDEX, ".INDEX"},
             {TK_CLAUSE_IN_PLACE, ".INPLACE"}};
enum { USUAL = sizeof usual / sizeof *usual, ID_ROOM = MOST_OP_NAME + 16 };

static bool follows(const tk_contract *c, tk_clause_kind kind)
{
    bool in_place = false;
    for (int i = 0; i < c->param_count; i++)
        in_place |= c->params[i].output && c->params[i].may_alias >= 0;
    return kind == TK_CLAUSE_IN_PLACE ? in_place : kind != TK_CLAUSE_INDEX || tki_index_param(c) >= 0;
}

static bool lists(const tk_contract *c, tk_clause_kind kind)
{
    for (int i = 0; i < c->clause_count; i++)
        if (c->clauses[i].kind == kind)
            return true;
    return false;
}

static void usual_id(const tk_contract *c, const char *ending, char id[ID_ROOM])
{
    size_t length = snprintf(id, ID_ROOM, "%s%s", c->name, ending) > 0 ? strlen(c->name) : 0;
    while (length-- > 0)
        id[length] = (char)toupper((unsigned char)id[length]);
}

/* Whatever a kernel can do wrong fails some clause: a failure without one could not be told from success. */
static const char *wrong_clauses(const tk_contract *c)
{
    if (c->clause_count < 1 || c->clause_count > TK_MAX_CLAUSES || !c->clauses)
        return "clause_count is out of range, or `clauses` is NULL";
    for (int i = 0; i < c->clause_count; i++) {
        const tk_clause *clause = &c->clauses[i];
        if ((unsigned)clause->kind > TK_CLAUSE_INDEX || !clause->id || !clause->id[0] || !clause->text)
            return "a clause has no valid kind, no id or no text";
        for (int k = 0; k < i; k++)
            if (!strcmp(clause->id, c->clauses[k].id))
                return "two clauses have the same id";
    }
    if (!lists(c, TK_CLAUSE_VALUE) && !lists(c, TK_CLAUSE_ERROR))
        return "it has no clause of kind TK_CLAUSE_VALUE or TK_CLAUSE_ERROR";
    int count = c->clause_count;
    for (int u = 0; u < USUAL; u++) {
        char id[ID_ROOM];
        usual_id(c, usual[u].ending, id);
        count += follows(c, usual[u].kind) && !lists(c, usual[u].kind);
        if (lists(c, usual[u].kind) && !follows(c, usual[u].kind))
            return usual[u].kind == TK_CLAUSE_INDEX
                       ? "it has a clause of kind TK_CLAUSE_INDEX and no input of indices"
                       : "it has a clause of kind TK_CLAUSE_IN_PLACE and no output with may_alias";
        for (int i = 0; i < c->clause_count && !lists(c, usual[u].kind); i++)
            if (!strcmp(c->clauses[i].id, id))
                return "a clause has the id of a clause of another kind that is added";
    }
    return count > TK_MAX_CLAUSES ? "it has too many clauses beside those that are added" : NULL;
}

static const char *wrong_contract(const tk_contract *c)
{
    if (!tki_is_name(c->name, MOST_OP_NAME))
        return "`name` is not of lower-case letters, digits and _";
    if (!c->summary || !c->formula || !c->bound)
        return "`summary`, `formula` or `bound` is NULL";
    const char *(*const checks[])(const tk_contract *) = {wrong_dims,     wrong_params,      wrong_types,
                                                          wrong_judged,   wrong_elementwise, wrong_attributes,
                                                          wrong_overflow, wrong_clauses};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *wrong = checks[i](c);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* -- A copy of it ------------------------------------------------------------------------------------------ */

typedef struct piece {
    struct piece *next;
    _Alignas(16) unsigned char data[];
} piece;

typedef struct copying {
    tki_made_op *op;
    bool failed;
} copying;

void *tki_made_op_keep(tki_made_op *op, const void *data, size_t bytes)
{
    piece *p = calloc(1, sizeof *p + bytes);
    if (!p)
        return NULL;
    p->next = op->pieces;
    op->pieces = p;
    if (bytes && data)
        memcpy(p->data, data, bytes);
    return p->data;
}

static void *copy(copying *all, const void *data, size_t bytes)
{
    void *kept = tki_made_op_keep(all->op, data, bytes);
    all->failed |= !kept;
    return kept;
}

static const char *copy_text(copying *all, const char *text)
{
    return text ? copy(all, text, strlen(text) + 1) : NULL;
}

static const char *const *copy_names(copying *all, const tk_contract *c)
{
    const char **names = copy(all, c->dim_names, (size_t)c->dim_count * sizeof *names);
    for (int i = 0; names && i < c->dim_count; i++)
        names[i] = copy_text(all, c->dim_names[i]);
    return names;
}

static const tk_param *copy_params(copying *all, const tk_contract *c)
{
    tk_param *params = copy(all, c->params, (size_t)c->param_count * sizeof *params);
    for (int i = 0; params && i < c->param_count; i++) {
        params[i].name = copy_text(all, c->params[i].name);
        params[i].also = copy_text(all, c->params[i].also);
        params[i].dim = copy(all, c->params[i].dim, (size_t)c->params[i].rank * sizeof *params[i].dim);
    }
    return params;
}

static const tk_choice *copy_choices(copying *all, const tk_attribute *a)
{
    tk_choice *choices = copy(all, a->choices, (size_t)a->choice_count * sizeof *choices);
    for (int i = 0; choices && i < a->choice_count; i++)
        choices[i] = (tk_choice){copy_text(all, a->choices[i].id), copy_text(all, a->choices[i].text)};
    return choices;
}

static const tk_attribute *copy_attributes(copying *all, const tk_contract *c)
{
    tk_attribute *attributes = copy(all, c->attributes, (size_t)c->attribute_count * sizeof *attributes);
    for (int i = 0; attributes && i < c->attribute_count; i++) {
        const tk_attribute *a = &c->attributes[i];
        attributes[i].name = copy_text(all, a->name);
        attributes[i].text = copy_text(all, a->text);
        attributes[i].choices = copy_choices(all, a);
        attributes[i].tried = copy(all, a->tried, (size_t)a->tried_count * sizeof *a->tried);
    }
    return attributes;
}

/* Words one behind the other: "a", "a and b", "a, b and c". */
typedef struct words {
    char text[TK_MAX_PARAMS * 128];
    int left; /* that are to come */
} words;

static void add_word(words *w, const char *word)
{
    const size_t length = strlen(w->text);
    snprintf(w->text + length, sizeof w->text - length, "%s%s", word,
             --w->left == 0 ? ""
             : w->left == 1 ? " and "
                            : ", ");
}

/* The names that its text needs: outputs; sizes that do not follow from others; outputs that may share a buffer, each with that. */
static void usual_words(const tk_contract *c, tk_clause_kind kind, words *w)
{
    *w = (words){.left = 0};
    for (int pass = 0; pass < 2; pass++) /* how many there are, and then what they are */
        for (int i = 0; i < (kind == TK_CLAUSE_SHAPE ? c->dim_count : c->param_count); i++) {
            const tk_param *p = kind == TK_CLAUSE_SHAPE ? NULL : &c->params[i];
            char text[2 * TKI_MOST_NAME + 32] = "";
            if (!p && !(c->derived && c->derived[i]))
                snprintf(text, sizeof text, "%s", c->dim_names[i]);
            else if (p && p->output && kind == TK_CLAUSE_WRITE)
                snprintf(text, sizeof text, "%s", p->name);
            else if (p && p->output && kind == TK_CLAUSE_IN_PLACE && p->may_alias >= 0)
                snprintf(text, sizeof text, TKI_IN_PLACE_TEXT("%s", "%s"), p->name, c->params[p->may_alias].name);
            if (text[0] && pass == 0)
                w->left++;
            else if (text[0])
                add_word(w, text);
        }
}

static const char *usual_text(const tk_contract *c, tk_clause_kind kind, const words *w, char *text, size_t size)
{
    const int index = tki_index_param(c);
    switch (kind) {
    case TK_CLAUSE_WRITE: snprintf(text, size, TKI_WRITE_TEXT("%s", TKI_INPUTS_STAY), w->text); return text;
    case TK_CLAUSE_SHAPE: snprintf(text, size, TKI_SHAPE_TEXT("%s"), w->text); return text;
    case TK_CLAUSE_REPEAT: return TKI_REPEAT_TEXT;
    case TK_CLAUSE_IN_PLACE: return w->text;
    default:
        return c->params[index].rule == TK_INDICES_ENDS
                   ? TKI_INDEX_TEXT("an end beyond what there is, or less than the one before it,")
                   : TKI_INDEX_TEXT("an index out of its range");
    }
}

static const tk_clause *copy_clauses(copying *all, const tk_contract *c, int *count)
{
    tk_clause *clauses = copy(all, NULL, ((size_t)c->clause_count + USUAL) * sizeof *clauses);
    *count = 0;
    for (int i = 0; clauses && i < c->clause_count; i++)
        clauses[(*count)++] = (tk_clause){c->clauses[i].kind, copy_text(all, c->clauses[i].id),
                                          copy_text(all, c->clauses[i].text)};
    for (int u = 0; clauses && u < USUAL; u++) {
        if (lists(c, usual[u].kind) || !follows(c, usual[u].kind))
            continue;
        words w;
        char id[ID_ROOM], text[sizeof w.text + 128];
        usual_id(c, usual[u].ending, id);
        usual_words(c, usual[u].kind, &w);
        clauses[(*count)++] = (tk_clause){usual[u].kind, copy_text(all, id),
                                          copy_text(all, usual_text(c, usual[u].kind, &w, text, sizeof text))};
    }
    return clauses;
}

static tk_contract copy_contract(copying *all, const tk_contract *c)
{
    tk_contract made = *c;
    made.name = copy_text(all, c->name);
    made.summary = copy_text(all, c->summary);
    made.formula = copy_text(all, c->formula);
    made.bound = copy_text(all, c->bound);
    made.notes = copy_text(all, c->notes);
    made.dim_names = copy_names(all, c);
    const char **derived = c->derived ? copy(all, c->derived, (size_t)c->dim_count * sizeof *derived) : NULL;
    for (int i = 0; derived && i < c->dim_count; i++)
        derived[i] = copy_text(all, c->derived[i]);
    made.derived = derived;
    made.params = copy_params(all, c);
    made.types = copy(all, c->types, (size_t)c->type_count * sizeof *c->types);
    made.tensor_types = c->tensor_types
                            ? copy(all, c->tensor_types,
                                   (size_t)c->type_count * (size_t)c->param_count * sizeof *c->tensor_types)
                            : NULL;
    made.attributes = copy_attributes(all, c);
    made.clauses = copy_clauses(all, c, &made.clause_count);
    return made;
}

static void free_op(tki_made_op *op)
{
    for (piece *p = op->pieces, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    if (op->free_definitions)
        op->free_definitions(op->definitions);
    free(op);
}

static void free_made_ops(tk_ctx *ctx)
{
    for (tki_made_op *op = ctx->made_ops, *next; op; op = next) {
        next = op->next;
        free_op(op);
    }
    ctx->made_ops = NULL;
}

/* -- Registering, finding, running -------------------------------------------------------------------------- */

/* An implementation has no way to say which index is bad, so that it is not given one. */
static tk_status check_indices(const tki_call *call)
{
    const tk_case *c = call->c;
    for (int p = -1; (p = tki_next_index_param(c->contract, p)) >= 0;) {
        const int64_t i = tki_first_bad_index(c, p, call->buffers[p]);
        if (i >= 0)
            return tki_fail_index(call->ctx, c->contract, p, i,
                                  tki_index_at(tk_case_param_dtype(c, p), call->buffers[p], i),
                                  c->dims[c->contract->params[p].indexed_dim]);
    }
    return TK_OK;
}

static tk_status launch(const tki_call *call)
{
    const tk_implementation *implementation = call->lowering->kernels;
    tk_status status = check_indices(call);
    if (status != TK_OK)
        return status;
    const int result = implementation->run(call->c, call->buffers, implementation->user_data);
    return result == 0 ? TK_OK
                       : tki_fail(call->ctx, TK_UNAVAILABLE, "%s: implementation %s returned %d",
                                  call->c->contract->name, implementation->name, result);
}

static const char *wrong_implementations(int count, const tk_implementation list[])
{
    if (count < 0 || count > TK_MAX_IMPLEMENTATIONS || (count && !list))
        return "implementation_count is out of range, or `implementations` is NULL";
    for (int i = 0; i < count; i++) {
        if (!tki_is_name(list[i].name, TKI_MOST_NAME) || !list[i].run)
            return "an implementation has no function, or its name is not of lower-case letters, digits and _";
        for (int k = 0; k < i; k++)
            if (!strcmp(list[i].name, list[k].name))
                return "two implementations have the same name";
        if ((unsigned)list[i].determinism > TK_CROSS_DEVICE)
            return "`determinism` of an implementation is out of range";
        if (!list[i].source != !list[i].compiler || !list[i].source != !list[i].options)
            return "`source`, `compiler` and `options` of an implementation must be set together";
    }
    return NULL;
}

/* Their rows, and the end. */
static const tki_lowering *make_rows(copying *all, int count, const tk_implementation list[])
{
    tki_lowering *rows = copy(all, NULL, ((size_t)count + 1) * sizeof *rows);
    tk_implementation *kept = copy(all, list, (size_t)count * sizeof *list);
    for (int i = 0; i < count && !all->failed; i++) {
        kept[i].name = copy_text(all, list[i].name);
        kept[i].promise = copy_text(all, list[i].promise);
        kept[i].source = copy_text(all, list[i].source);
        kept[i].compiler = copy_text(all, list[i].compiler);
        kept[i].options = copy_text(all, list[i].options);
        rows[i] = (tki_lowering){.backend = &tki_backends[TKI_CPU],
                                 .variant = kept[i].name,
                                 .refusal = kept[i].refusal,
                                 .launch = launch,
                                 .kernels = &kept[i],
                                 .determinism = kept[i].determinism,
                                 .promise = kept[i].promise,
                                 .promises_bound = kept[i].promises_bound};
    }
    return rows;
}

const tk_contract *tk_ctx_contract_find(const tk_ctx *ctx, const char *name)
{
    for (const tki_made_op *op = ctx && name ? ctx->made_ops : NULL; op; op = op->next)
        if (!strcmp(op->contract.name, name))
            return &op->contract;
    return tk_contract_find(name);
}

tk_status tk_contract_register(tk_ctx *ctx, const tk_contract *contract, int count,
                               const tk_implementation implementations[], const tk_contract **registered)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !registered)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or nowhere to put the registered one");
    const char *wrong = wrong_contract(contract);
    if (!wrong)
        wrong = wrong_implementations(count, implementations);
    if (wrong)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the contract of %.63s cannot be registered: %s",
                        contract->name ? contract->name : "nothing", wrong);
    if (tk_ctx_contract_find(ctx, contract->name))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "an op %s exists already", contract->name);
    copying all = {calloc(1, sizeof *all.op), false};
    if (all.op) {
        all.op->contract = copy_contract(&all, contract);
        all.op->op = (tki_op){.contract = &all.op->contract, .lowerings = make_rows(&all, count, implementations)};
    }
    if (!all.op || all.failed) {
        if (all.op)
            free_op(all.op);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the contract of %s", contract->name);
    }
    all.op->contract.op = &all.op->op;
    all.op->next = ctx->made_ops;
    ctx->made_ops = all.op;
    ctx->free_made_ops = free_made_ops;
    *registered = &all.op->contract;
    return TK_OK;
}
