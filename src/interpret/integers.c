/* DECIDES. Integers of a definition at one point: exact, or none. */
#include <string.h>

#include "exact/round.h"
#include "interpret/program.h"

double tki_input_value(const tki_interpreter *in, int tensor, int64_t element)
{
    const tk_dtype dtype = tki_dtype_of(in, tensor);
    const void *data = tki_input_of(in, tensor);
    if (dtype == TK_F32)
        return (double)((const float *)data)[element];
    if (in->decoded[tensor])
        return (double)in->decoded[tensor][((const uint16_t *)data)[element]];
    return tki_decode(dtype, tki_element_bits(dtype, data, element));
}

int64_t tki_input_integer(const tki_interpreter *in, int tensor, int64_t element)
{
    const tk_dtype dtype = tki_dtype_of(in, tensor);
    const tki_format f = tki_format_of(dtype);
    const char *at = (const char *)tki_input_of(in, tensor) + element * tki_format_bytes(f);
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)tki_format_bytes(f)); /* little-endian, as all machines that this is built for */
    if (f.number != TKI_SIGNED || f.bits == 64)
        return (int64_t)bits;
    return (int64_t)(bits << (64 - f.bits)) >> (64 - f.bits);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return quotient - (a % b < 0);
}

uint32_t tki_philox(uint64_t key, uint64_t word)
{
    const uint64_t counter = word / 4;
    uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t first = UINT64_C(0xD2511F53) * c[0], second = UINT64_C(0xCD9E8D57) * c[2];
        const uint32_t next[4] = {(uint32_t)(second >> 32) ^ c[1] ^ k[0], (uint32_t)second,
                                  (uint32_t)(first >> 32) ^ c[3] ^ k[1], (uint32_t)first};
        memcpy(c, next, sizeof c);
        k[0] += UINT32_C(0x9E3779B9);
        k[1] += UINT32_C(0xBB67AE85);
    }
    return c[word % 4];
}

static int64_t of_element(const tki_interpreter *in, const tki_def_int *e, const int64_t index[])
{
    const tki_def_tensor *t = &in->d->tensors[e->tensor];
    int64_t place[TK_MAX_RANK], flat = 0;
    for (int axis = 0; axis < t->rank; axis++) {
        const int64_t extent = in->constants[t->extent[axis]];
        place[axis] = tki_linear_value(in, &e->subscripts[axis].linear, index);
        if (place[axis] < 0 || place[axis] >= extent)
            return TKI_NO_INTEGER;
        flat = flat * extent + place[axis];
    }
    if (tki_is_given(in, e->tensor))
        return tki_input_integer(in, e->tensor, flat);
    const tki_value *kept = in->kept_tensor[e->tensor].entries;
    if (kept && tki_chooses(in, e->tensor))
        return kept[flat].state == TKI_IS_FINITE ? (int64_t)kept[flat].v : TKI_NO_INTEGER;
    /* A line of an integer: the same at that place. Its index list is the tensor's own. */
    const tki_def_node *value = &in->d->nodes[tki_resolved(in, t->value)];
    if (value->kind != TKI_NODE_INTEGER)
        return TKI_NO_INTEGER;
    int64_t inner[TKI_MOST_INDICES];
    for (int axis = 0; axis < t->rank; axis++)
        inner[t->own[axis]] = place[axis];
    return tki_integer_of(in, value->integer, inner);
}

int64_t tki_integer_by(tki_int_kind kind, int64_t a, int64_t b)
{
    int64_t y;
    if (a == TKI_NO_INTEGER || b == TKI_NO_INTEGER)
        return TKI_NO_INTEGER;
    switch (kind) {
    case TKI_INT_ADD: return __builtin_add_overflow(a, b, &y) ? TKI_NO_INTEGER : y;
    case TKI_INT_SUBTRACT: return __builtin_sub_overflow(a, b, &y) ? TKI_NO_INTEGER : y;
    case TKI_INT_MULTIPLY: return __builtin_mul_overflow(a, b, &y) ? TKI_NO_INTEGER : y;
    case TKI_INT_DIVIDE: return b == 1 ? a : b > 0 ? floor_divide(a, b) : TKI_NO_INTEGER;
    case TKI_INT_MODULO: return b == 1 ? 0 : b > 0 ? a - floor_divide(a, b) * b : TKI_NO_INTEGER;
    case TKI_INT_MIN: return a < b ? a : b;
    case TKI_INT_MAX: return a > b ? a : b;
    case TKI_INT_PHILOX: return tki_philox((uint64_t)a, (uint64_t)b);
    default: return TKI_NO_INTEGER; /* those that are always constant */
    }
}

int64_t tki_integer_of(const tki_interpreter *in, int which, const int64_t index[])
{
    const tki_def_int *e = &in->d->ints[which];
    if (e->constant)
        return in->constants[which];
    if (e->kind == TKI_INT_INDEX)
        return index[e->which];
    if (e->kind == TKI_INT_ELEMENT)
        return of_element(in, e, index);
    return tki_integer_by(e->kind, tki_integer_of(in, e->a, index), tki_integer_of(in, e->b, index));
}

int64_t tki_linear_value(const tki_interpreter *in, const tki_linear *linear, const int64_t index[])
{
    int64_t sum = in->constants[linear->offset], product;
    for (int i = 0; i < linear->count; i++) {
        const tki_def_int *atom = &in->d->ints[linear->terms[i].atom];
        const int64_t value = atom->kind == TKI_INT_INDEX ? index[atom->which]
                                                          : tki_integer_of(in, linear->terms[i].atom, index);
        if (value == TKI_NO_INTEGER ||
            __builtin_mul_overflow(value, in->constants[linear->terms[i].coefficient], &product) ||
            __builtin_add_overflow(sum, product, &sum))
            return TKI_NO_INTEGER;
    }
    return sum;
}

int tki_tests_hold(const tki_interpreter *in, const tki_test *tests, int count, const int64_t index[])
{
    int all = 1;
    for (int i = 0; i < count; i++) {
        const int64_t difference = tki_linear_value(in, &tests[i].difference, index);
        if (difference == TKI_NO_INTEGER)
            return -1;
        all &= tki_relation_holds(tests[i].relation, difference, 0);
    }
    return all;
}

int64_t tki_place_read(const tki_interpreter *in, const tki_def_node *read, const int64_t index[], int64_t place[])
{
    const tki_def_tensor *t = &in->d->tensors[read->tensor];
    int64_t flat = 0;
    for (int axis = 0; axis < t->rank; axis++) {
        const int64_t extent = in->constants[t->extent[axis]];
        place[axis] = tki_linear_value(in, &read->subscripts[axis].linear, index);
        if (place[axis] < 0 || place[axis] >= extent)
            return -1;
        flat = flat * extent + place[axis];
    }
    return flat;
}
