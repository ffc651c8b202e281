/* CHOOSES. Looks up the caller of an op, and the place of an attribute. */
#include "worker/worker_calls.h"

#include <string.h>

const tki_kernel_call *tki_kernel_call_find(const char *op)
{
    for (const tki_kernel_call *row = tki_kernel_calls; row->op; row++)
        if (!strcmp(row->op, op))
            return row;
    return NULL;
}

void tki_kernel_call_set(tokitai_call *call, const char *attribute, tk_value value)
{
    for (const tki_call_member *member = tki_call_members; member->name; member++) {
        if (strcmp(member->name, attribute) != 0)
            continue;
        char *place = (char *)call + member->offset;
        if (member->real)
            memcpy(place, &(float){(float)value.real}, sizeof(float));
        else
            memcpy(place, &value.integer, sizeof value.integer);
    }
}
