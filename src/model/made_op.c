/* DECIDES. A contract with all that it points to, copied into one op. */
#include <stdlib.h>
#include <string.h>

#include "model/made_op.h"

typedef struct piece {
    struct piece *next;
    _Alignas(16) unsigned char data[];
} piece;

void *tki_made_op_keep(tki_made_op *op, const void *data, size_t bytes)
{
    piece *p = calloc(1, sizeof *p + bytes);
    op->is_incomplete |= !p;
    if (!p)
        return NULL;
    p->next = op->pieces;
    op->pieces = p;
    if (bytes && data)
        memcpy(p->data, data, bytes);
    return p->data;
}

const char *tki_made_op_keep_text(tki_made_op *op, const char *text)
{
    return text ? tki_made_op_keep(op, text, strlen(text) + 1) : NULL;
}

static const char *const *copy_names(tki_made_op *op, const tk_contract *c)
{
    const char **names = tki_made_op_keep(op, c->dim_names, (size_t)c->dim_count * sizeof *names);
    for (int i = 0; names && i < c->dim_count; i++)
        names[i] = tki_made_op_keep_text(op, c->dim_names[i]);
    return names;
}

static const tk_param *copy_params(tki_made_op *op, const tk_contract *c)
{
    tk_param *params = tki_made_op_keep(op, c->params, (size_t)c->param_count * sizeof *params);
    for (int i = 0; params && i < c->param_count; i++) {
        params[i].name = tki_made_op_keep_text(op, c->params[i].name);
        params[i].also = tki_made_op_keep_text(op, c->params[i].also);
        params[i].dim = tki_made_op_keep(op, c->params[i].dim, (size_t)c->params[i].rank * sizeof *params[i].dim);
    }
    return params;
}

static const tk_choice *copy_choices(tki_made_op *op, const tk_attribute *a)
{
    tk_choice *choices = tki_made_op_keep(op, a->choices, (size_t)a->choice_count * sizeof *choices);
    for (int i = 0; choices && i < a->choice_count; i++)
        choices[i] = (tk_choice){tki_made_op_keep_text(op, a->choices[i].id),
                                 tki_made_op_keep_text(op, a->choices[i].text)};
    return choices;
}

static const tk_attribute *copy_attributes(tki_made_op *op, const tk_contract *c)
{
    tk_attribute *attributes = tki_made_op_keep(op, c->attributes, (size_t)c->attribute_count * sizeof *attributes);
    for (int i = 0; attributes && i < c->attribute_count; i++) {
        const tk_attribute *a = &c->attributes[i];
        attributes[i].name = tki_made_op_keep_text(op, a->name);
        attributes[i].text = tki_made_op_keep_text(op, a->text);
        attributes[i].choices = copy_choices(op, a);
        attributes[i].tried = tki_made_op_keep(op, a->tried, (size_t)a->tried_count * sizeof *a->tried);
    }
    return attributes;
}

static const tk_clause *copy_clauses(tki_made_op *op, const tk_contract *c, int *count)
{
    tki_clauses all;
    *count = tki_clauses_of(c, &all) ? all.count : 0;
    tk_clause *clauses = tki_made_op_keep(op, all.list, (size_t)*count * sizeof *clauses);
    for (int i = 0; clauses && i < *count; i++) {
        clauses[i].id = tki_made_op_keep_text(op, clauses[i].id);
        clauses[i].text = tki_made_op_keep_text(op, clauses[i].text);
    }
    return clauses;
}

static tk_contract copy_contract(tki_made_op *op, const tk_contract *c)
{
    tk_contract made = *c;
    made.name = tki_made_op_keep_text(op, c->name);
    made.summary = tki_made_op_keep_text(op, c->summary);
    made.formula = tki_made_op_keep_text(op, c->formula);
    made.bound = tki_made_op_keep_text(op, c->bound);
    made.notes = tki_made_op_keep_text(op, c->notes);
    made.dim_names = copy_names(op, c);
    const char **derived = c->derived ? tki_made_op_keep(op, c->derived, (size_t)c->dim_count * sizeof *derived)
                                      : NULL;
    for (int i = 0; derived && i < c->dim_count; i++)
        derived[i] = tki_made_op_keep_text(op, c->derived[i]);
    made.derived = derived;
    made.params = copy_params(op, c);
    made.types = tki_made_op_keep(op, c->types, (size_t)c->type_count * sizeof *c->types);
    made.tensor_types = c->tensor_types ? tki_made_op_keep(op, c->tensor_types,
                                                           (size_t)c->type_count * (size_t)c->param_count *
                                                               sizeof *c->tensor_types)
                                        : NULL;
    made.attributes = copy_attributes(op, c);
    made.clauses = copy_clauses(op, c, &made.clause_count);
    return made;
}

tki_made_op *tki_made_op_create(const tk_contract *contract)
{
    tki_made_op *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    op->contract = copy_contract(op, contract);
    op->contract.op = &op->op;
    op->op.contract = &op->contract;
    return op;
}

void tki_made_op_free(tki_made_op *op)
{
    if (!op)
        return;
    for (piece *p = op->pieces, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    if (op->free_definitions)
        op->free_definitions(op->definitions);
    free(op);
}
