/* The planner: fastest first, portable last, one capability test. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

void tki_lowering_id(const tki_lowering *lowering, const tk_case *c, char *text, size_t size)
{
    bool wide_index = tk_contract_takes_index(c->contract) && c->index_dtype == TK_I64;
    snprintf(text, size, "%s.%s.%s.%s%s", lowering->backend, c->contract->name, tk_dtype_name(c->dtype),
             lowering->variant, wide_index ? ".i64" : "");
}

bool tk_lowering_at(const tk_contract *contract, int i, tk_lowering_info *info)
{
    const tki_lowering *row = tki_lowerings_of(contract);
    for (; i > 0 && row->backend; i--)
        row++;
    if (i < 0 || !row->backend)
        return false;
    *info = (tk_lowering_info){row->backend, row->variant, row->determinism, row->promise};
    return true;
}

const char *tk_lowering_refusal(const tk_case *c, int i)
{
    const tki_lowering *row = tki_lowerings_of(c->contract);
    for (; i > 0 && row->backend; i--)
        row++;
    return row->backend && i == 0 ? row->accept(c) : "there is no such lowering";
}

void tki_plan_case(const tk_case *c, const char *backend, const char *id, tki_plan *plan)
{
    size_t used = 0;
    *plan = (tki_plan){0};
    for (const tki_lowering *row = tki_lowerings_of(c->contract); row->backend; row++) {
        char row_id[128];
        tki_lowering_id(row, c, row_id, sizeof row_id);
        if ((backend && strcmp(backend, row->backend) != 0) || (id && strcmp(id, row_id) != 0))
            continue;
        const char *reason = row->accept(c);
        if (!reason) {
            plan->lowering = row;
            return;
        }
        int length = snprintf(plan->refusals + used, sizeof plan->refusals - used, "%s%s: %s", used ? "; " : "",
                              row_id, reason);
        used += length > 0 && (size_t)length < sizeof plan->refusals - used ? (size_t)length : 0;
    }
}
