/* TRUSTED. The verifying half of the list of ops. */
#include "verify/registry.h"

#include <string.h>

#define OP(name, family)                         \
    extern const tki_oracle tki_##name##_oracle; \
    extern const tki_mutant tki_##name##_mutants[];
#include "ops/ops.def"
#undef OP

static const struct {
    const char *name;
    const tki_oracle *oracle;
    const tki_mutant *mutants;
} ops[] = {
#define OP(name, family) {#name, &tki_##name##_oracle, tki_##name##_mutants},
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
    int i = op_index(contract);
    return i < 0 ? NULL : ops[i].oracle;
}

const tki_mutant *tki_mutants_of(const tk_contract *contract)
{
    static const tki_mutant none[1];
    int i = op_index(contract);
    return i < 0 ? none : ops[i].mutants;
}

const tki_mutant *tki_mutant_find(const tk_contract *contract, const char *name)
{
    for (const tki_mutant *m = tki_mutants_of(contract); m->name; m++)
        if (!strcmp(m->name, name))
            return m;
    return NULL;
}

bool tk_mutant_at(const tk_contract *contract, int i, const char **name, const char **what)
{
    const tki_mutant *m = tki_mutants_of(contract);
    for (; i > 0 && m->name; i--)
        m++;
    if (i < 0 || !m->name)
        return false;
    *name = m->name;
    *what = m->what;
    return true;
}
