/* CHOOSES. The list of ops, walked by the program's help, certify, tests and docs. Made from ops.def alone. */
#include <string.h>

#include "model/made_op.h"

#define OP(name, family, hints)                     \
    extern const tk_contract tki_##name##_contract; \
    extern const tki_lowering tki_##name##_lowerings[];
#include "ops/ops.def"
#undef OP

static tki_op ops[] = {
#define OP(name, family, hints) {.contract = &tki_##name##_contract, .lowerings = tki_##name##_lowerings},
#include "ops/ops.def"
#undef OP
};

enum { OP_COUNT = sizeof ops / sizeof *ops };

/* Before anything else of a program runs, so that no call has to ask whether it is done. */
__attribute__((constructor(101))) static void add_clauses(void)
{
    static tk_contract contracts[OP_COUNT];
    static tki_clauses clauses[OP_COUNT];
    for (int i = 0; i < OP_COUNT; i++) {
        contracts[i] = *ops[i].contract;
        if (!tki_clauses_of(ops[i].contract, &clauses[i]))
            continue; /* more than there is room for: none follows, and the tests notice */
        contracts[i].clause_count = clauses[i].count;
        contracts[i].clauses = clauses[i].list;
        ops[i].contract = &contracts[i];
    }
}

int tk_contract_count(void)
{
    return OP_COUNT;
}

const tk_contract *tk_contract_at(int i)
{
    return i >= 0 && i < OP_COUNT ? ops[i].contract : NULL;
}

const tk_contract *tk_contract_find(const char *name)
{
    for (int i = 0; name && i < OP_COUNT; i++)
        if (!strcmp(ops[i].contract->name, name))
            return ops[i].contract;
    return NULL;
}

const tki_op *tki_op_of(const tk_contract *contract)
{
    if (contract->op)
        return contract->op;
    for (int i = 0; i < OP_COUNT; i++)
        if (ops[i].contract == contract)
            return &ops[i];
    return NULL;
}

const tki_lowering *tki_lowerings_of(const tk_contract *contract)
{
    static const tki_lowering none[1];
    const tki_op *op = tki_op_of(contract);
    return op ? op->lowerings : none;
}
