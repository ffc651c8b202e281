/* tk_op_define(): a text becomes an op of the context. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "define/syntax.h"
#include "model/op.h"

/* A function of its own, since a jump out of it leaves its locals undefined. */
static void make(tki_reading *r, const tki_definition *d, tk_contract *contract)
{
    if (setjmp(r->failed) == 0)
        tki_make_contract(r, d, contract);
}

static tk_status register_definition(tk_ctx *ctx, const tki_definition *d, const tk_contract **contract)
{
    tki_definition_error error;
    tki_reading r = {.arena = tki_arena_create(), .error = &error};
    tk_contract made;
    if (!r.arena)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the contract of %s", d->name);
    make(&r, d, &made);
    const tk_status status = r.status != TK_OK ? tki_fail(ctx, r.status, "%s", error.text)
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

static bool is_defined_already(tk_ctx *ctx, const tki_definition *d, const tk_contract **contract)
{
    const tk_contract *before = tk_ctx_contract_find(ctx, d->name);
    const char *text = before ? tk_contract_definition(before) : NULL;
    if (text && !strcmp(text, d->text))
        *contract = before;
    return text && *contract == before;
}

static tk_status define(tk_ctx *ctx, tki_definitions *made, const char *name, const tk_contract **contract)
{
    const tki_definition *d = choose(ctx, made, name);
    if (!d)
        return TK_BAD_ARGUMENT;
    if (is_defined_already(ctx, d, contract))
        return TK_OK;
    tki_definitions *kept = malloc(sizeof *kept);
    if (!kept)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the definition of %s", d->name);
    const tk_status status = register_definition(ctx, d, contract);
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

tk_status tk_op_define(tk_ctx *ctx, const char *text, size_t size, const char *name, const tk_contract **contract)
{
    tki_definitions made;
    tki_definition_error error;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!text || !contract)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no text, or nowhere to put the contract");
    *contract = NULL;
    tk_status status = tki_definitions_read(text, size, &made, &error);
    if (status == TK_BAD_ARGUMENT)
        return tki_fail(ctx, status, "line %d, column %d: %s", error.position.line, error.position.column,
                        error.text);
    if (status != TK_OK)
        return tki_fail(ctx, status, "%s", error.text);
    status = define(ctx, &made, name, contract);
    tki_definitions_free(&made);
    return status;
}
