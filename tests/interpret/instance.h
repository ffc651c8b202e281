/* A definition with a case and drawn inputs, for tests of the interpreter. */
#ifndef TKI_TESTS_INSTANCE_H
#define TKI_TESTS_INSTANCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "exact/round.h"
#include "interpret/program.h"
#include "tests/definition_error.h"
#include "tests/unit_test.h"

static tki_random stream;

static inline uint64_t below(uint64_t n)
{
    return tki_random_below(&stream, n);
}

typedef struct instance {
    tki_definitions made;
    const tki_definition *d;
    tk_contract contract;
    tk_param params[TK_MAX_PARAMS];
    tk_case c;
    void *buffers[TK_MAX_PARAMS];
    int64_t constants[TKI_MOST_NODES];
    int dims[TK_MAX_PARAMS][TK_MAX_RANK];
} instance;

static inline void read_instance(instance *it, const char *text)
{
    tki_definition_error error;
    *it = (instance){.d = NULL};
    if (tki_definitions_read(text, strlen(text), &it->made, &error) != TK_OK)
        fail_msg("%d:%d: %s\n%s", error.position.line, error.position.column, said(&error), text);
    it->d = &it->made.list[0];
}

/* What tk_case_elements() and tk_case_param_dtype() look at, and no more. False: the definition refuses the case. */
static inline bool settle_as(instance *it, const int64_t dims[], tk_dtype dtype, tk_dtype index_dtype,
                             const tk_value attributes[])
{
    it->c = (tk_case){.contract = &it->contract, .dtype = dtype, .result_dtype = dtype, .index_dtype = index_dtype};
    memcpy(it->c.dims, dims, (size_t)it->d->size_count * sizeof *dims);
    for (int i = 0; i < it->d->attribute_count; i++)
        it->c.attributes[i] = attributes ? attributes[i] : it->d->attributes[i].initial;
    if (tki_definition_settle(it->d, &it->c, it->constants) != TKI_NONE)
        return false;
    for (int i = 0; i < it->d->size_count; i++)
        if (it->d->sizes[i].derived != TKI_NONE)
            it->c.dims[i] = it->constants[it->d->sizes[i].derived];
    for (int p = 0; p < it->d->param_count; p++) {
        const tki_def_tensor *t = &it->d->tensors[it->d->params[p]];
        memcpy(it->dims[p], t->size, sizeof it->dims[p]);
        it->params[p] = (tk_param){.name = t->name,
                                   .output = p >= it->d->input_count,
                                   .kind = t->type == TKI_TYPE_CASE  ? TK_KIND_VALUE
                                           : t->type == TKI_TYPE_INT ? TK_KIND_INDEX
                                                                     : TK_KIND_FIXED,
                                   .dtype = t->dtype,
                                   .rank = t->rank,
                                   .dim = it->dims[p]};
    }
    it->contract = (tk_contract){
        .param_count = it->d->param_count, .params = it->params, .dim_count = it->d->size_count};
    return true;
}

static inline bool settle(instance *it, const int64_t dims[])
{
    return settle_as(it, dims, TK_F32, TK_I32, NULL);
}

/* Ordinary numbers, with zeros, of many sizes, small integers, far from zero for their spread, large, where products overflow. */
enum { FAMILIES = 7 };

static inline float drawn_number(int family)
{
    const double unit = tki_random_unit(&stream) * 2 - 1;
    switch (family) {
    case 0: return (float)(unit * 4);
    case 1: return below(4) ? 0 : (float)(unit * 4);
    case 2: return (float)ldexp(unit, (int)below(40) - 20);
    case 3: return (float)((double)below(9) - 4);
    case 4: return (float)(100 + unit);
    case 5: return (float)(unit * 30);
    default: return (float)ldexp(unit, below(3) ? 0 : 60 + (int)below(68));
    }
}

/* What is too large for 16 bits becomes the largest number there. */
static inline void put_element(void *data, tk_dtype dtype, int64_t i, double x)
{
    uint32_t bits;
    float y = (float)x;
    switch (dtype) {
    case TK_I32: ((int32_t *)data)[i] = (int32_t)x; break;
    case TK_I64: ((int64_t *)data)[i] = (int64_t)x; break;
    case TK_F16:
        ((uint16_t *)data)[i] = (uint16_t)tki_round_double(TK_F16, isinf(x) ? x : fmin(fmax(x, -65504), 65504));
        break;
    case TK_BF16:
        memcpy(&bits, &y, sizeof bits);
        ((uint16_t *)data)[i] = (uint16_t)(bits >> 16 | (isnan(x) ? 0x40 : 0));
        break;
    default: ((float *)data)[i] = y;
    }
}

static inline void draw_inputs(instance *it, int family)
{
    for (int p = 0; p < it->d->input_count; p++) {
        const tki_def_tensor *t = &it->d->tensors[it->d->params[p]];
        const int64_t count = tk_case_elements(&it->c, p);
        const tk_dtype dtype = tk_case_param_dtype(&it->c, p);
        it->buffers[p] = malloc((size_t)count * tk_dtype_size(dtype) + 1);
        for (int64_t i = 0; i < count; i++)
            if (t->integer)
                put_element(it->buffers[p], dtype, i, (double)below((uint64_t)it->c.dims[t->below]));
            else
                put_element(it->buffers[p], dtype, i, (double)drawn_number(family));
    }
}

static inline void free_instance(instance *it)
{
    for (int p = 0; p < it->d->input_count; p++)
        free(it->buffers[p]);
    tki_definitions_free(&it->made);
}

#endif
