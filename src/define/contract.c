/* DECIDES. The contract that a definition makes. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "define/syntax.h"
#include "model/attributes.h"
#include "model/contract_parts.h"
#include "model/op.h"

const tki_definition *tki_definition_of(const tk_contract *contract)
{
    return contract->op ? contract->op->definition : NULL;
}

const char *tk_contract_definition(const tk_contract *contract)
{
    const tki_definition *d = tki_definition_of(contract);
    return d ? d->text : NULL;
}

static void derive(tk_case *c)
{
    tki_definition_derive(tki_definition_of(c->contract), c);
}

static const char *refusal(const tk_case *c)
{
    int64_t values[TKI_MOST_NODES];
    const tki_definition *d = tki_definition_of(c->contract);
    const int numerics = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS);
    int found = tki_definition_settle(d, c, values);
    if (numerics == TKI_NUMERICS_TENSOR_CORE && !tki_has_matrix_unit_bounds(c->dtype))
        found = tki_refusal_of_all(TKI_REFUSED_TENSOR_CORE);
    if (numerics == TKI_NUMERICS_TF32 && c->dtype != TK_F32)
        found = tki_refusal_of_all(TKI_REFUSED_TF32);
    return found == TKI_NONE ? NULL : d->refusal_texts[found] ? d->refusal_texts[found] : "";
}

enum { ADDED_ATTRIBUTES = 2 };

typedef struct making {
    tki_reading *reading;
    const tki_definition *d;
    tk_contract contract;
} making;

static void *take(making *m, int count, size_t bytes)
{
    return tki_reading_take(m->reading, (size_t)count * bytes);
}

/* -- Sizes and tensors ------------------------------------------------------------------------------------------------- */

static void make_sizes(making *m)
{
    const tki_definition *d = m->d;
    const char **names = take(m, d->size_count, sizeof *names);
    const char **derived = take(m, d->size_count, sizeof *derived);
    for (int i = 0; i < d->size_count; i++) {
        names[i] = d->sizes[i].name;
        derived[i] = d->sizes[i].text;
    }
    m->contract.dim_count = d->size_count;
    m->contract.dim_names = names;
    m->contract.derived = d->derived_count > 0 ? derived : NULL;
    m->contract.derive = d->derived_count > 0 ? derive : NULL;
    m->contract.refusal = refusal;
}

/* An index that some reduction binds? */
static bool is_summed(const tki_definition *d, int index)
{
    for (int i = 0; i < d->node_count; i++)
        for (int k = 0; k < d->nodes[i].bound_count; k++)
            if (d->nodes[i].bound[k] == index)
                return true;
    return false;
}

/* The last axis of an input that a reduction runs along; -1. */
static int inner_axis(const tki_definition *d, int tensor)
{
    int found = -1;
    for (int i = 0; i < d->node_count; i++) {
        const tki_def_node *n = &d->nodes[i];
        for (int axis = 0; n->kind == TKI_NODE_READ && n->tensor == tensor && axis < d->tensors[tensor].rank; axis++)
            for (int t = 0; t < n->subscripts[axis].linear.count; t++) {
                const tki_def_int *atom = &d->ints[n->subscripts[axis].linear.terms[t].atom];
                if (atom->kind == TKI_INT_INDEX && is_summed(d, atom->which) && axis > found)
                    found = axis;
            }
    }
    return found;
}

/* Is the input read below a node, not through another reduction? */
static bool reads(const tki_definition *d, int node, int tensor)
{
    bool below[TKI_MOST_NODES] = {false};
    below[node] = true;
    for (int i = node; i >= 0; i--) {
        const tki_def_node *n = &d->nodes[i];
        if (below[i] && n->kind == TKI_NODE_READ && n->tensor == tensor)
            return true;
        for (int k = 0; k < 3 && below[i] && n->kind != TKI_NODE_OVER; k++)
            if (n->operand[k] >= 0)
                below[n->operand[k]] = true;
    }
    return false;
}

/* Where exponentials are added, or the largest is taken, what does not matter is very negative. */
static tk_neutral neutral(const tki_definition *d, int tensor)
{
    for (int i = 0; i < d->node_count; i++) {
        const tki_def_node *n = &d->nodes[i];
        if (n->kind == TKI_NODE_OVER &&
            (n->over == TKI_SOFTMAX || n->over == TKI_LOG_SOFTMAX || n->over == TKI_LOG_SUM_EXP ||
             n->over == TKI_MAXIMUM) &&
            reads(d, n->operand[0], tensor))
            return TK_NEUTRAL_LOW;
    }
    return TK_NEUTRAL_ZERO;
}

static tk_param make_param(making *m, int tensor)
{
    const tki_definition *d = m->d;
    const tki_def_tensor *t = &d->tensors[tensor];
    tk_param p = {.name = t->name,
                  .output = t->role == TKI_TENSOR_OUTPUT,
                  .kind = t->type == TKI_TYPE_INT    ? TK_KIND_INDEX
                          : t->type == TKI_TYPE_CASE ? TK_KIND_VALUE
                                                     : TK_KIND_FIXED,
                  .dtype = t->dtype,
                  .judged = t->role == TKI_TENSOR_OUTPUT && t->integer ? TK_BY_INTEGER : TK_BY_INTERVAL,
                  .rank = t->rank,
                  .indexed_dim = t->below >= 0 ? t->below : 0,
                  .inner_axis = -1,
                  .may_alias = t->shares >= 0 ? d->tensors[t->shares].param : -1};
    int *dim = take(m, TK_MAX_RANK, sizeof *dim);
    memcpy(dim, t->size, sizeof t->size);
    p.dim = dim;
    if (!p.output && !t->integer) {
        p.inner_axis = inner_axis(d, tensor);
        p.neutral = neutral(d, tensor);
    }
    if (t->ranged && !t->integer) {
        p.least = t->open_below ? nextafter(t->least, INFINITY) : t->least;
        p.most = t->open_above ? nextafter(t->most, -INFINITY) : t->most;
    }
    if (t->present.count > 0) {
        p.when_attribute = t->present.terms[0].attribute;
        p.when_choices = t->present.terms[0].choices;
    }
    return p;
}

static bool takes_case_type(const tki_definition *d)
{
    for (int i = 0; i < d->param_count; i++)
        if (d->tensors[d->params[i]].type == TKI_TYPE_CASE)
            return true;
    return false;
}

static void make_params(making *m)
{
    static const tk_types types[] = {{TK_F32, TK_F32}, {TK_F16, TK_F16}, {TK_BF16, TK_BF16}};
    tk_param *params = take(m, m->d->param_count, sizeof *params);
    for (int i = 0; i < m->d->param_count; i++)
        params[i] = make_param(m, m->d->params[i]);
    m->contract.param_count = m->d->param_count;
    m->contract.params = params;
    m->contract.types = types;
    m->contract.type_count = takes_case_type(m->d) ? 3 : 1;
}

/* Each element of the outputs from those at its place: all tensors have the same axes, and are read at the indices of the line. */
static bool is_elementwise(const tki_definition *d)
{
    const tki_def_tensor *first = &d->tensors[d->params[0]];
    for (int i = 0; i < d->param_count; i++) {
        const tki_def_tensor *t = &d->tensors[d->params[i]];
        if (t->rank != first->rank || t->type == TKI_TYPE_INT || t->present.count > 0 ||
            memcmp(t->size, first->size, (size_t)t->rank * sizeof *t->size) != 0)
            return false;
        for (int axis = 0; axis < t->rank - 1; axis++)
            if (t->size[axis] == t->size[t->rank - 1])
                return false;
    }
    const int *own = d->tensors[d->params[d->param_count - 1]].own;
    for (int i = 0; i < d->node_count; i++) {
        const tki_def_node *n = &d->nodes[i];
        if (n->kind == TKI_NODE_OVER || n->kind == TKI_NODE_PIECES || n->kind == TKI_NODE_INTEGER)
            return false;
        for (int axis = 0; n->kind == TKI_NODE_READ && axis < d->tensors[n->tensor].rank; axis++) {
            const tki_def_int *s = &d->ints[n->subscripts[axis].value];
            if (d->tensors[n->tensor].rank != first->rank || s->kind != TKI_INT_INDEX || s->which != own[axis])
                return false;
        }
    }
    return true;
}

/* -- Attributes -------------------------------------------------------------------------------------------------------- */

static void add_tried(tk_value tried[], int *count, const tki_def_attribute *a, tk_value value)
{
    const bool real = a->type == TK_ATTRIBUTE_REAL;
    const bool inside = real ? value.real >= a->least.real && value.real <= a->most.real
                             : value.integer >= a->least.integer && value.integer <= a->most.integer;
    bool again = real ? value.real == a->initial.real : value.integer == a->initial.integer;
    for (int i = 0; i < *count; i++)
        again |= real ? tried[i].real == value.real : tried[i].integer == value.integer;
    if (inside && !again)
        tried[(*count)++] = value;
}

/* Beside the default: the ends of its range where these are numbers of a usual size, and numbers next to the default. */
static void make_tried(making *m, const tki_def_attribute *a, tk_attribute *made)
{
    tk_value *tried = take(m, 4, sizeof *tried);
    int count = 0;
    if (a->type == TK_ATTRIBUTE_REAL) {
        const double values[] = {a->least.real, a->most.real, a->initial.real / 2,
                                 a->initial.real == 0 ? 1 : 2 * a->initial.real};
        for (int i = 0; i < 4; i++)
            if (fabs(values[i]) <= 0x1p64)
                add_tried(tried, &count, a, (tk_value){.real = values[i]});
    } else {
        const int64_t most = INT64_C(1) << 20, near = a->initial.integer;
        const int64_t values[] = {a->least.integer, a->most.integer, near < most ? near + 1 : near,
                                  near < most ? near + 2 : near};
        for (int i = 0; i < 4; i++)
            if (values[i] >= -most && values[i] <= most)
                add_tried(tried, &count, a, (tk_value){.integer = values[i]});
    }
    made->tried_count = count;
    made->tried = tried;
}

/* Sums of products are what matrix units compute. */
static bool sums_products(const tki_definition *d)
{
    for (int i = 0; i < d->node_count; i++) {
        const tki_def_node *n = &d->nodes[i];
        const bool sum = n->kind == TKI_NODE_OVER &&
                         (n->over == TKI_SUM || n->over == TKI_MEAN || n->over == TKI_CUMSUM);
        const tki_def_node *body = sum ? &d->nodes[n->operand[0]] : NULL;
        for (; body && body->kind == TKI_NODE_CHOICE; body = &d->nodes[body->operand[0]])
            ;
        if (body && body->kind == TKI_NODE_PRIMITIVE && body->primitive == TKI_MULTIPLY)
            return true;
    }
    return false;
}

/* Those that kernels do not see, behind those of the definition. */
static const tk_attribute added[ADDED_ATTRIBUTES] = {TKI_DEFINED_NUMERICS_ATTRIBUTE, TKI_MATRIX_UNIT_ATTRIBUTE};

static void add_numerics(making *m, tk_attribute *made)
{
    if (!sums_products(m->d) || m->d->attribute_count + ADDED_ATTRIBUTES > TK_MAX_ATTRIBUTES)
        return;
    memcpy(made + m->d->attribute_count, added, sizeof added);
    m->contract.attribute_count += ADDED_ATTRIBUTES;
}

static void make_attributes(making *m)
{
    tk_attribute *made = take(m, m->d->attribute_count + ADDED_ATTRIBUTES, sizeof *made);
    for (int i = 0; i < m->d->attribute_count; i++) {
        const tki_def_attribute *a = &m->d->attributes[i];
        made[i] = (tk_attribute){.name = a->name,
                                 .type = a->type,
                                 .initial = a->initial,
                                 .least = a->least,
                                 .most = a->most,
                                 .choice_count = a->choice_count,
                                 .seen_by_kernel = true};
        tk_choice *choices = take(m, a->choice_count, sizeof *choices);
        for (int k = 0; k < a->choice_count; k++)
            choices[k] = (tk_choice){a->choices[k], a->choices[k]};
        if (a->choice_count > 0)
            made[i].choices = choices;
        else
            make_tried(m, a, &made[i]);
    }
    m->contract.attribute_count = m->d->attribute_count;
    m->contract.attributes = made;
    add_numerics(m, made);
}

/* -- Clauses ------------------------------------------------------------------------------------------------------------- */

static bool has_output(const tki_definition *d, bool integer)
{
    for (int i = d->input_count; i < d->param_count; i++)
        if (d->tensors[d->params[i]].integer == integer)
            return true;
    return false;
}

static bool has_clause(const tki_definition *d, tki_defined_clause which)
{
    return which == TKI_DEFINED_SPECIAL   ? d->special_count > 0
           : which == TKI_DEFINED_INTEGER ? has_output(d, true)
                                          : has_output(d, false);
}

int tki_definition_clause(const tki_definition *definition, tki_defined_clause which)
{
    int position = 0;
    for (tki_defined_clause before = 0; before < which; before++)
        position += has_clause(definition, before);
    return has_clause(definition, which) ? position : TKI_NONE;
}

static void make_clauses(making *m)
{
    static const struct {
        tk_clause_kind kind;
        const char *ending;
    } all[TKI_DEFINED_COUNT] = {
        [TKI_DEFINED_ERR] = {TK_CLAUSE_ERROR, "ERR"},         [TKI_DEFINED_NAN] = {TK_CLAUSE_VALUE, "NAN"},
        [TKI_DEFINED_INF] = {TK_CLAUSE_VALUE, "INF"},         [TKI_DEFINED_OVERFLOW] = {TK_CLAUSE_VALUE, "OVERFLOW"},
        [TKI_DEFINED_SPECIAL] = {TK_CLAUSE_VALUE, "SPECIAL"}, [TKI_DEFINED_INTEGER] = {TK_CLAUSE_VALUE, "INTEGER"}};
    tk_clause *clauses = take(m, TKI_DEFINED_COUNT + 1, sizeof *clauses);
    for (tki_defined_clause i = 0; i < TKI_DEFINED_COUNT; i++) {
        if (!has_clause(m->d, i))
            continue;
        char *id = tki_reading_print(m->reading, "%s.%s", m->d->name, all[i].ending);
        for (char *p = id; *p; p++)
            *p = (char)toupper((unsigned char)*p);
        clauses[m->contract.clause_count++] = (tk_clause){all[i].kind, id, ""};
    }
    if (m->d->derived_count + m->d->constraint_count + m->d->check_count > 0)
        clauses[m->contract.clause_count++] = (tk_clause){.kind = TK_CLAUSE_SHAPE, .text = ""};
    m->contract.clauses = clauses;
}

void tki_make_contract(tki_reading *r, const tki_definition *definition, tk_contract *contract)
{
    making m = {r, definition, {0}};
    make_sizes(&m);
    make_params(&m);
    make_attributes(&m);
    make_clauses(&m);
    m.contract.name = definition->name;
    m.contract.elementwise = is_elementwise(definition);
    *contract = m.contract;
}
