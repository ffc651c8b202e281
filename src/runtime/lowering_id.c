/* RECORDS. Ids of lowerings, BACKEND.OP.TYPES.VARIANT with ".i64" appended for 64-bit indices: written and read here alone. */
#include <stdio.h>
#include <string.h>

#include "drivers/backend.h"
#include "model/lowering.h"

const char *tki_id_ending(const tk_case *c)
{
    return tk_contract_takes_index(c->contract) && c->index_dtype == TK_I64 ? ".i64" : "";
}

void tki_lowering_id(const tki_lowering *lowering, const tk_case *c, char *text, size_t size)
{
    char types[TKI_TYPES_TEXT];
    tk_types_name((tk_types){c->dtype, c->result_dtype}, types, sizeof types);
    snprintf(text, size, "%s.%s.%s.%s%s", lowering->backend->name, c->contract->name, types, lowering->variant,
             tki_id_ending(c));
}

/* The op that an id names in its second part. */
static const tk_contract *contract_of(const char *id)
{
    const char *name = strchr(id, '.');
    size_t length = name ? strcspn(++name, ".") : 0;
    const tk_contract *contract;
    for (int i = 0; length && (contract = tk_contract_at(i)); i++)
        if (strlen(contract->name) == length && !memcmp(contract->name, name, length))
            return contract;
    return NULL;
}

/* Reading is trying what writing gives, so that the two cannot differ. */
bool tk_lowering_find(const char *id, tk_case *c, int *i)
{
    const tk_contract *contract = id ? contract_of(id) : NULL;
    if (!contract)
        return false;
    const tki_lowering *lowerings = tki_lowerings_of(contract);
    tk_case tried = tk_case_init(contract, TK_F16);
    const tk_dtype widest = tk_contract_takes_index(contract) ? TK_I64 : TK_I32;
    for (int types = 0; types < contract->type_count; types++) {
        tried.dtype = contract->types[types].dtype;
        tried.result_dtype = contract->types[types].result_dtype;
        for (tried.index_dtype = TK_I32; tried.index_dtype <= widest; tried.index_dtype++)
            for (int l = 0; lowerings[l].backend; l++) {
                char text[TKI_ID_SIZE];
                tki_lowering_id(&lowerings[l], &tried, text, sizeof text);
                if (strcmp(text, id) != 0)
                    continue;
                *c = tried;
                *i = l;
                return true;
            }
    }
    return false;
}
