/* CHOOSES. A case written into a frame. */
#include "isolate/wire_case.h"

_Static_assert((int)TKI_WIRE_SIZES == TK_MAX_DIMS && (int)TKI_WIRE_ATTRIBUTES == TK_MAX_ATTRIBUTES &&
                   (int)TKI_WIRE_BUFFERS == TK_MAX_PARAMS && (int)TKI_WIRE_RANK == TK_MAX_RANK,
               "a frame has room for every case");

/* Zeros behind it; a longer name is cut. */
static void put_name(char *place, size_t size, const char *name)
{
    size_t length = strlen(name);
    memset(place, 0, size);
    memcpy(place, name, length < size ? length : size - 1);
}

static void put_attributes(const tk_case *c, tki_wire_call *call)
{
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (!attribute->seen_by_kernel)
            continue;
        tki_wire_attribute *record = &call->attributes[call->head.attribute_count++];
        *record = (tki_wire_attribute){.type = (int32_t)attribute->type, .value.integer = c->attributes[i].integer};
        put_name(record->name, sizeof record->name, attribute->name);
    }
}

static void put_tensors(const tk_case *c, tki_wire_call *call)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        const tk_dtype dtype = tk_case_param_dtype(c, p);
        call->buffers[p] = (tki_wire_buffer){.bytes = (uint64_t)tk_case_elements(c, p) * tk_dtype_size(dtype),
                                             .output = param->output,
                                             .dtype = (int32_t)dtype,
                                             .rank = param->rank};
        for (int axis = 0; axis < param->rank; axis++)
            call->buffers[p].shape[axis] = tk_case_has(c, p) ? c->dims[param->dim[axis]] : 0;
        put_name(call->buffers[p].name, sizeof call->buffers[p].name, param->name);
    }
}

void tki_wire_describe(const tk_case *c, int threads, tki_wire_call *call)
{
    call->head = (tki_wire_head){.header = {.magic = TKI_WIRE_MAGIC, .kind = TKI_WIRE_CALL},
                                 .dtype = (int32_t)c->dtype,
                                 .result_dtype = (int32_t)c->result_dtype,
                                 .index_dtype = (int32_t)c->index_dtype,
                                 .threads = threads,
                                 .dim_count = c->contract->dim_count,
                                 .buffer_count = c->contract->param_count};
    put_name(call->head.op, sizeof call->head.op, c->contract->name);
    memcpy(call->dims, c->dims, (size_t)c->contract->dim_count * sizeof *call->dims);
    put_attributes(c, call);
    put_tensors(c, call);
}
