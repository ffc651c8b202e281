/* CHOOSES. tk_op_define(): a text becomes an op of the context. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "define/defined_ops.h"
#include "define/syntax.h"
#include "model/op.h"

/* A function of its own, since a jump out of it leaves its locals undefined. */
static void make(tki_reading *r, const tki_definition *d, tk_contract *contract)
{
    if (setjmp(r->failed) == 0) {
        tki_make_contract(r, d, contract);
        tki_say_contract(r, d, contract);
    }
}

static tk_status register_definition(tk_ctx *ctx, const tki_definition *d, bool unnamed, const tk_contract **contract)
{
    tki_definition_error error;
    tki_reading r = {.arena = tki_arena_create(), .error = &error};
    tk_contract made;
    if (!r.arena)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the contract of %s", d->name);
    make(&r, d, &made);
    const tk_status status = r.status != TK_OK ? tki_fail(ctx, r.status, "no memory")
                             : unnamed         ? tki_contract_register_unnamed(ctx, &made, contract)
                                               : tk_contract_register(ctx, &made, 0, NULL, contract);
    tki_arena_destroy(r.arena);
    return status;
}

static void free_definitions(void *definitions)
{
    tki_definitions_free(definitions);
    free(definitions);
}

/* NULL, with the failure recorded, if the text has none that is meant. */
static const tki_definition *choose(tk_ctx *ctx, const tki_definitions *made, const char *name)
{
    const tki_definition *d = name ? tki_definition_named(made, name) : made->count == 1 ? &made->list[0] : NULL;
    char names[512] = "";
    for (int i = 0; i < made->count && strlen(names) < sizeof names - 1; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", made->list[i].name);
    if (!d && name)
        tki_fail(ctx, TK_BAD_ARGUMENT, "the text does not define %s, but %s", name, names);
    else if (!d)
        tki_fail(ctx, TK_BAD_ARGUMENT, "the text defines several ops, and one has to be named: %s", names);
    return d;
}

static tki_made_op *made_from(const tk_ctx *ctx, const char *text)
{
    for (tki_made_op *op = ctx->made_ops; op; op = op->next)
        if (op->op.definition && !strcmp(op->op.definition->text, text))
            return op;
    return NULL;
}

const tk_contract *tki_op_defined_by(const tk_ctx *ctx, const char *text)
{
    const tki_made_op *op = made_from(ctx, text);
    return op ? &op->contract : NULL;
}

/* One that came with a certificate gets its name, if that is free. */
static bool is_defined_already(tk_ctx *ctx, const tki_definition *d, bool unnamed, const tk_contract **contract)
{
    tki_made_op *op = made_from(ctx, d->text);
    if (!op || (op->unnamed && !unnamed && tk_ctx_contract_find(ctx, d->name)))
        return false;
    op->unnamed &= unnamed;
    *contract = &op->contract;
    return true;
}

static tk_status define(tk_ctx *ctx, tki_definitions *made, const tki_definition *d, bool unnamed,
                        const tk_contract **contract)
{
    if (is_defined_already(ctx, d, unnamed, contract))
        return TK_OK;
    tki_definitions *kept = malloc(sizeof *kept);
    if (!kept)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the definition of %s", d->name);
    const tk_status status = register_definition(ctx, d, unnamed, contract);
    if (status != TK_OK) {
        free(kept);
        return status;
    }
    *kept = *made;
    *made = (tki_definitions){0};
    tki_made_op *op = tki_made_op_of(ctx, *contract);
    op->op.definition = d;
    op->definitions = kept;
    op->free_definitions = free_definitions;
    return TK_OK;
}

static tk_status read_text(tk_ctx *ctx, const char *text, size_t size, tki_definitions *made)
{
    tki_definition_error error;
    char said[256];
    tk_status status = tki_definitions_read(text, size, made, &error);
    if (status == TK_BAD_ARGUMENT)
        return tki_fail(ctx, status, "line %d, column %d: %s", error.position.line, error.position.column,
                        tki_definition_error_text(&error, said, sizeof said));
    if (status == TK_OK && (status = tki_definitions_say(made)) != TK_OK)
        tki_definitions_free(made);
    return status == TK_OK ? TK_OK : tki_fail(ctx, status, "no memory");
}

tk_status tk_op_define(tk_ctx *ctx, const char *text, size_t size, const char *name, const tk_contract **contract)
{
    tki_definitions made;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!text || !contract)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no text, or no pointer for the contract");
    *contract = NULL;
    tk_status status = read_text(ctx, text, size, &made);
    if (status != TK_OK)
        return status;
    const tki_definition *d = choose(ctx, &made, name);
    status = d ? define(ctx, &made, d, false, contract) : TK_BAD_ARGUMENT;
    tki_definitions_free(&made);
    return status;
}

const char *tk_definition_at(int i, const char **text)
{
    const tki_defined_op *op = tki_defined_ops;
    while (op->name && i-- > 0)
        op++;
    *text = op->text;
    return op->name;
}

const char *tk_definition_find(const char *name)
{
    for (const tki_defined_op *op = tki_defined_ops; op->name; op++)
        if (name && !strcmp(op->name, name))
            return op->text;
    return NULL;
}

bool tki_definition_comes_along(const tk_contract *contract)
{
    const char *text = tk_contract_definition(contract), *ours = text ? tk_definition_find(contract->name) : NULL;
    tki_definitions made;
    tki_definition_error error;
    if (!ours || tki_definitions_read(ours, strlen(ours), &made, &error) != TK_OK)
        return false;
    const tki_definition *d = tki_definition_named(&made, contract->name);
    const bool same = d && !strcmp(d->text, text);
    tki_definitions_free(&made);
    return same;
}

tk_status tki_op_define_unnamed(tk_ctx *ctx, const char *text, const char *name, const tk_contract **contract)
{
    tki_definitions made;
    *contract = NULL;
    tk_status status = read_text(ctx, text, strlen(text), &made);
    if (status != TK_OK)
        return status;
    const bool normal = made.count == 1 && !strcmp(made.list[0].name, name) && !strcmp(made.list[0].text, text);
    status = normal ? define(ctx, &made, &made.list[0], true, contract)
                    : tki_fail(ctx, TK_BAD_ARGUMENT, "it is not the normal form of a definition of %s", name);
    tki_definitions_free(&made);
    return status;
}
