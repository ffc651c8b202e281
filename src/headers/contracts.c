/* CHOOSES. The contracts, and what ABI 1 of user kernels has of them. */
#include <stdlib.h>
#include <string.h>

#include "headers/headers.h"

#define OP(name, family, hints) extern const tk_contract tki_##name##_contract;
#include "ops/ops.def"
#undef OP

const tk_contract *generate_contract_at(int i)
{
    static const tk_contract *const contracts[] = {
#define OP(name, family, hints) &tki_##name##_contract,
#include "ops/ops.def"
#undef OP
    };
    return i >= 0 && i < (int)(sizeof contracts / sizeof *contracts) ? contracts[i] : NULL;
}

static int by_offset(const void *a, const void *b)
{
    const tk_attribute *const *left = a, *const *right = b;
    return (*left)->abi_1_offset - (*right)->abi_1_offset;
}

static bool is_listed(const tk_attribute *const *members, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(members[i]->name, name))
            return true;
    return false;
}

int generate_call_members(const tk_attribute *members[TK_MAX_ATTRIBUTES])
{
    int count = 0;
    const tk_contract *contract;
    for (int op = 0; (contract = generate_contract_at(op)); op++)
        for (int i = 0; i < contract->attribute_count && count < TK_MAX_ATTRIBUTES; i++)
            if (contract->attributes[i].abi_1_offset && !is_listed(members, count, contract->attributes[i].name))
                members[count++] = &contract->attributes[i];
    qsort(members, (size_t)count, sizeof *members, by_offset);
    return count;
}
