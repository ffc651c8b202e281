/* CHOOSES. The verifying half of the list of ops. */
#include "trials/op_registry.h"

#include <string.h>

#include "core/context.h"
#include "judge/definition_oracle.h"

#define OP(name, family, hints)                       \
    extern const tki_oracle tki_##name##_oracle;      \
    extern const tki_mutant tki_##name##_mutants[];   \
    extern const tki_variant tki_##name##_variants[]; \
    extern const tki_trial_hints hints;
#include "ops/ops.def"
#undef OP

const tki_trial_hints tki_no_hints = {0};

/* In the order of the list. */
static const tki_judging judgings[] = {
#define OP(name, family, hints_)        \
    {.oracle = &tki_##name##_oracle,    \
     .mutants = tki_##name##_mutants,   \
     .variants = tki_##name##_variants, \
     .hints = &hints_,                  \
     .is_of_this_build = true},
#include "ops/ops.def"
#undef OP
};

static const tki_mutant none[1];
static const tki_judging of_definitions = {
    .oracle = &tki_definition_oracle, .mutants = none, .variants = none, .hints = &tki_no_hints};

const tki_judging *tki_judging_of(const tk_contract *contract)
{
    const tki_op *op = tki_op_of(contract);
    if (op && op->definition)
        return &of_definitions;
    if (!op || op->judging)
        return op ? op->judging : NULL;
    for (int i = 0; i < tk_contract_count(); i++)
        if (tk_contract_at(i) == contract)
            return &judgings[i];
    return NULL;
}

const tki_oracle *tki_oracle_of(const tk_contract *contract)
{
    const tki_judging *judging = tki_judging_of(contract);
    return judging ? judging->oracle : NULL;
}

tk_status tki_oracle_open(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, const tki_oracle **oracle,
                          void **tables)
{
    *tables = NULL;
    *oracle = tki_oracle_of(contract);
    if (!*oracle)
        return tki_fail(ctx, TK_UNAVAILABLE, "%s has no exact values; tk_contract_judge_by() sets them",
                        contract->name);
    const tk_status status = (*oracle)->open ? (*oracle)->open(dtype, tables) : TK_OK;
    return status == TK_OK ? TK_OK : tki_fail(ctx, status, "the oracle's tables: %s", tk_status_text(status));
}

const tki_trial_hints *tki_hints_of(const tk_contract *contract)
{
    const tki_judging *judging = tki_judging_of(contract);
    return judging ? judging->hints : &tki_no_hints;
}

const tki_mutant *tki_mutants_of(const tk_contract *contract)
{
    const tki_judging *judging = tki_judging_of(contract);
    return judging ? judging->mutants : none;
}

const tki_variant *tki_variants_of(const tk_contract *contract)
{
    const tki_judging *judging = tki_judging_of(contract);
    return judging ? judging->variants : none;
}

static const tki_mutant *find(const tki_mutant *list, const char *name)
{
    for (; list->name; list++)
        if (!strcmp(list->name, name))
            return list;
    return NULL;
}

const tki_mutant *tki_mutant_find(const tk_contract *contract, const char *name)
{
    return find(tki_mutants_of(contract), name);
}

const tki_variant *tki_variant_find(const tk_contract *contract, const char *name)
{
    return find(tki_variants_of(contract), name);
}

static bool row_at(const tki_mutant *list, int i, const char **name, const char **what)
{
    for (; i > 0 && list->name; i--)
        list++;
    if (i < 0 || !list->name)
        return false;
    *name = list->name;
    *what = list->what;
    return true;
}

bool tk_mutant_at(const tk_contract *contract, int i, const char **name, const char **what)
{
    return row_at(tki_mutants_of(contract), i, name, what);
}

bool tk_variant_at(const tk_contract *contract, int i, const char **name, const char **what)
{
    return row_at(tki_variants_of(contract), i, name, what);
}

bool tk_mutant_is_of_f32(const tk_contract *contract, const char *name)
{
    const tki_mutant *mutant = tki_mutant_find(contract, name);
    return mutant && mutant->only_f32_results;
}

tk_level tk_mutant_level(const tk_contract *contract, const char *name)
{
    const tki_mutant *mutant = tki_mutant_find(contract, name);
    return mutant ? mutant->level : TK_QUICK;
}
