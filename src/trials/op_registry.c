/* TRUSTED. The verifying half of the list of ops. */
#include "trials/op_registry.h"

#include <string.h>

#include "judge/registered_oracle.h"
#include "model/registered.h"

#define OP(name, family)                            \
    extern const tki_oracle tki_##name##_oracle;    \
    extern const tki_mutant tki_##name##_mutants[]; \
    extern const tki_variant tki_##name##_variants[];
#include "ops/ops.def"
#undef OP

static const struct {
    const char *name;
    const tki_oracle *oracle;
    const tki_mutant *mutants;
    const tki_variant *variants;
} ops[] = {
#define OP(name, family) {#name, &tki_##name##_oracle, tki_##name##_mutants, tki_##name##_variants},
#include "ops/ops.def"
#undef OP
};

enum { OP_COUNT = sizeof ops / sizeof *ops };

static int op_index(const tk_contract *contract)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (!strcmp(ops[i].name, contract->name))
            return i;
    return -1;
}

const tki_oracle *tki_oracle_of(const tk_contract *contract)
{
    if (contract->registered)
        return tki_registered_of(contract)->judge ? &tki_reference_oracle : NULL;
    int i = op_index(contract);
    return i < 0 ? NULL : ops[i].oracle;
}

static const tki_mutant none[1];

const tki_mutant *tki_mutants_of(const tk_contract *contract)
{
    int i = op_index(contract);
    return i < 0 ? none : ops[i].mutants;
}

const tki_variant *tki_variants_of(const tk_contract *contract)
{
    int i = op_index(contract);
    return i < 0 ? none : ops[i].variants;
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
