/* DECIDES. Programs run on TKI_LANES elements at a time: the values of each node for all of them, one node after the other. Reductions bring their
 * terms together in the same way, whatever their sizes are. */
#include "interpret/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "exact/floats.h"
#include "exact/four.h"
#include "exact/round.h"
#include "interpret/functions.h"

static const tki_def_node *node_of(const tki_thread *t, int node)
{
    return &t->in->d->nodes[node];
}

/* -- Memory -------------------------------------------------------------------------------------------------------- */

static tki_lanes *make_lanes(tki_thread *t, const tki_program *p)
{
    const size_t line = TKI_LANES * sizeof(int64_t), nodes = (size_t)t->in->d->node_count + 1;
    const size_t values = ((size_t)p->count + 1) *
                          (sizeof(tki_value[TKI_LANES]) + sizeof(tki_block) + sizeof(tki_value *));
    tki_lanes *w = calloc(1, sizeof *w);
    char *memory = w ? malloc(values + (size_t)p->index_count * line + nodes * sizeof(int) + (size_t)p->count) : NULL;
    if (!memory) {
        free(w);
        t->status = TK_NO_MEMORY;
        return NULL;
    }
    w->memory = memory;
    w->run = TKI_NONE;
    w->values = (tki_value(*)[TKI_LANES])memory;
    w->blocks = (tki_block *)(w->values + p->count + 1);
    w->given = (const tki_value **)(w->blocks + p->count + 1);
    for (int i = 0; i < p->index_count; i++)
        w->index[p->indices[i]] = (int64_t *)(memory + values + (size_t)i * line);
    w->slot = (int *)(memory + values + (size_t)p->index_count * line);
    w->form = (unsigned char *)(w->slot + nodes);
    for (int i = 0; i < p->count; i++)
        w->slot[p->order[i]] = i;
    return w;
}

tki_lanes *tki_lanes_of(tki_thread *t, const tki_program *p, tki_lanes **place)
{
    if (!*place && t->status == TK_OK)
        *place = make_lanes(t, p);
    return *place;
}

bool tki_thread_begin(tki_thread *t, const tki_interpreter *in)
{
    *t = (tki_thread){.in = in,
                      .of_tensor = calloc((size_t)in->d->tensor_count + 1, sizeof *t->of_tensor),
                      .of_body = calloc(3 * ((size_t)in->d->node_count + 1), sizeof *t->of_body)};
    t->status = t->of_tensor && t->of_body ? TK_OK : TK_NO_MEMORY;
    for (int i = 0; i < 2 && t->of_body; i++)
        t->of_factor[i] = t->of_body + (i + 1) * (in->d->node_count + 1);
    return t->status == TK_OK;
}

static void free_lanes(tki_lanes *w)
{
    if (w)
        free(w->memory);
    free(w);
}

void tki_thread_end(tki_thread *t)
{
    for (int i = 0; t->of_tensor && i < t->in->d->tensor_count; i++)
        free_lanes(t->of_tensor[i]);
    for (int i = 0; t->of_body && i < 3 * (t->in->d->node_count + 1); i++)
        free_lanes(t->of_body[i]);
    free(t->of_tensor);
    free(t->of_body);
}

/* -- Indices --------------------------------------------------------------------------------------------------------- */

/* Those of one element, where single elements are asked for. */
static void indices_of(const tki_program *p, const tki_lanes *w, int lane, int64_t index[])
{
    for (int i = 0; i < p->index_count; i++)
        index[p->indices[i]] = w->index[p->indices[i]][lane];
}

static bool is_plain(const tki_thread *t, const tki_linear *linear)
{
    for (int i = 0; i < linear->count; i++)
        if (t->in->d->ints[linear->terms[i].atom].kind != TKI_INT_INDEX)
            return false;
    return true;
}

static void integers_one_by_one(const tki_thread *t, const tki_program *p, const tki_lanes *w, int which,
                                int64_t line[])
{
    int64_t index[TKI_MOST_INDICES];
    for (int i = 0; i < w->count; i++) {
        indices_of(p, w, i, index);
        line[i] = tki_integer_of(t->in, which, index);
    }
}

/* An integer for all elements. */
static void integers_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, int which, int64_t line[])
{
    const tki_def_int *e = &t->in->d->ints[which];
    int64_t other[TKI_LANES];
    if (e->constant) {
        for (int i = 0; i < w->count; i++)
            line[i] = t->in->constants[which];
    } else if (e->kind == TKI_INT_INDEX) {
        memcpy(line, w->index[e->which], (size_t)w->count * sizeof *line);
    } else if (e->kind == TKI_INT_ELEMENT) {
        integers_one_by_one(t, p, w, which, line);
    } else {
        integers_of(t, p, w, e->a, line);
        integers_of(t, p, w, e->b, other);
        for (int i = 0; i < w->count; i++)
            line[i] = tki_integer_by(e->kind, line[i], other[i]);
    }
}

/* A subscript for all elements; TKI_NO_INTEGER where there is none. */
void tki_line_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_linear *linear,
                 int64_t line[])
{
    const int64_t *constants = t->in->constants;
    int64_t made[TKI_LANES];
    if (linear->count == 1 && constants[linear->offset] == 0 && constants[linear->terms[0].coefficient] == 1) {
        integers_of(t, p, w, linear->terms[0].atom, line);
        return;
    }
    for (int i = 0; i < w->count; i++)
        line[i] = constants[linear->offset];
    for (int term = 0; term < linear->count; term++) {
        const tki_def_int *atom = &t->in->d->ints[linear->terms[term].atom];
        const int64_t *index = atom->kind == TKI_INT_INDEX ? w->index[atom->which] : made;
        const int64_t coefficient = constants[linear->terms[term].coefficient];
        int64_t product;
        if (index == made)
            integers_of(t, p, w, linear->terms[term].atom, made);
        for (int i = 0; i < w->count; i++)
            if (line[i] == TKI_NO_INTEGER || index[i] == TKI_NO_INTEGER ||
                __builtin_mul_overflow(index[i], coefficient, &product) ||
                __builtin_add_overflow(line[i], product, &line[i]))
                line[i] = TKI_NO_INTEGER;
    }
}

/* The places of a read where one index counts up alone and subscripts are sums of indices: then they rise evenly. */
typedef struct even_places {
    int64_t first, step;                           /* in the tensor */
    int64_t begin[TK_MAX_RANK], rise[TK_MAX_RANK]; /* of each subscript */
    int run; /* the index by which a program of the tensor's elements counts up */
} even_places;

/* False where they do not, or one is out of range: between two that are in range all are. */
static bool find_even_places(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                             even_places *at)
{
    const tki_def_tensor *tensor = &t->in->d->tensors[n->tensor];
    int64_t low[TKI_MOST_INDICES], high[TKI_MOST_INDICES];
    const int last = w->count - 1;
    int moving = 0;
    *at = (even_places){.run = TKI_NONE};
    if (w->run == TKI_NONE || last < 1)
        return false;
    indices_of(p, w, 0, low);
    indices_of(p, w, last, high);
    for (int axis = 0; axis < tensor->rank; axis++) {
        const tki_linear *linear = &n->subscripts[axis].linear;
        const int64_t extent = t->in->constants[tensor->extent[axis]];
        if (!is_plain(t, linear))
            return false;
        const int64_t begin = tki_linear_value(t->in, linear, low), end = tki_linear_value(t->in, linear, high);
        if (begin < 0 || begin >= extent || end < 0 || end >= extent)
            return false;
        at->begin[axis] = begin;
        at->rise[axis] = (end - begin) / last;
        at->first = at->first * extent + begin;
        at->step = at->step * extent + at->rise[axis];
        moving += begin != end;
        at->run = end - begin == last ? tensor->own[axis] : at->run;
    }
    at->run = moving == 1 ? at->run : TKI_NONE;
    return true;
}

static void put_evenly(int64_t line[], int64_t begin, int64_t step, int count)
{
    for (int i = 0; i < count; i++)
        line[i] = begin + i * step;
}

/* Where the elements of a read lie; -1 if out of range. With `to`, the subscripts become its indices `own`. */
static void scattered_places(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                             int64_t flat[], tki_lanes *to)
{
    const tki_def_tensor *tensor = &t->in->d->tensors[n->tensor];
    int64_t line[TKI_LANES];
    memset(flat, 0, (size_t)w->count * sizeof *flat);
    for (int axis = 0; axis < tensor->rank; axis++) {
        const int64_t extent = t->in->constants[tensor->extent[axis]];
        tki_line_of(t, p, w, &n->subscripts[axis].linear, line);
        for (int i = 0; i < w->count; i++) {
            const bool inside = flat[i] >= 0 && line[i] >= 0 && line[i] < extent;
            flat[i] = inside ? flat[i] * extent + line[i] : -1;
            if (to)
                to->index[tensor->own[axis]][i] = inside ? line[i] : 0;
        }
    }
}

/* The same without `to`; true: it is the same place for all. */
static bool places_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                      int64_t flat[])
{
    even_places at;
    if (!find_even_places(t, p, w, n, &at)) {
        scattered_places(t, p, w, n, flat, NULL);
        return false;
    }
    put_evenly(flat, at.first, at.step, w->count);
    return at.step == 0;
}

/* The elements of `to` are those that are read; false: some are out of range, which flat[] tells. */
static bool set_elements(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                         int64_t flat[], tki_lanes *to)
{
    const tki_def_tensor *tensor = &t->in->d->tensors[n->tensor];
    even_places at;
    bool inside = true;
    to->count = w->count;
    if (find_even_places(t, p, w, n, &at)) {
        for (int axis = 0; axis < tensor->rank; axis++)
            put_evenly(to->index[tensor->own[axis]], at.begin[axis], at.rise[axis], w->count);
        put_evenly(flat, at.first, at.step, w->count);
        to->run = at.run;
        return true;
    }
    scattered_places(t, p, w, n, flat, to);
    to->run = TKI_NONE;
    for (int i = 0; i < w->count; i++)
        inside &= flat[i] >= 0;
    return inside;
}

bool tki_table_places(const tki_thread *t, const tki_table *table, const tki_lanes *w, int64_t flat[])
{
    bool moves = w->run == TKI_NONE;
    memset(flat, 0, (size_t)w->count * sizeof *flat);
    for (int k = 0; k < table->index_count; k++) {
        const int64_t extent = tki_extent_of(t->in, table->indices[k]), *index = w->index[table->indices[k]];
        moves |= table->indices[k] == w->run;
        for (int i = 0; i < w->count; i++)
            flat[i] = flat[i] * extent + index[i];
    }
    return !moves;
}

const tki_value *tki_table_stretch(const tki_thread *t, const tki_table *table, const tki_lanes *w)
{
    int64_t flat = 0;
    if (table->index_count == 0 || w->run == TKI_NONE || w->run != table->indices[table->index_count - 1])
        return NULL;
    for (int k = 0; k < table->index_count; k++)
        flat = flat * tki_extent_of(t->in, table->indices[k]) + w->index[table->indices[k]][0];
    return (const tki_value *)table->entries + flat;
}

/* -- Reads ----------------------------------------------------------------------------------------------------------- */

static void read_input(const tki_thread *t, const tki_def_node *n, const int64_t flat[], int count, tki_value out[])
{
    const tki_interpreter *in = t->in;
    const tk_dtype dtype = tki_dtype_of(in, n->tensor);
    const void *data = tki_input_of(in, n->tensor);
    const float *decoded = in->decoded[n->tensor];
    if (in->d->tensors[n->tensor].integer) {
        for (int i = 0; i < count; i++)
            out[i] = flat[i] < 0 ? tki_value_of_state(TKI_IS_UNKNOWN)
                                 : tki_constant_of((double)tki_input_integer(in, n->tensor, flat[i]), 0);
        return;
    }
    for (int i = 0; i < count; i++) {
        const double x = flat[i] < 0       ? 0
                         : dtype == TK_F32 ? (double)((const float *)data)[flat[i]]
                         : decoded         ? (double)decoded[((const uint16_t *)data)[flat[i]]]
                                           : tki_input_value(in, n->tensor, flat[i]);
        out[i].v = out[i].l = out[i].h = x;
        out[i].d = out[i].e = out[i].mass = 0;
        out[i].depth = 0;
        out[i].state = TKI_IS_FINITE;
        if (flat[i] < 0 || !isfinite(x))
            out[i] = flat[i] < 0 ? tki_value_of_state(TKI_IS_UNKNOWN) : tki_value_of_input(x);
    }
}

/* Numbers of fp32 one behind the other. */
TKI_INLINE void plain_widen(const float *from, int count, double *to)
{
    typedef float four_floats __attribute__((vector_size(16)));
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        four_floats four;
        memcpy(&four, from + i, sizeof four);
        tki_four_store(to + i, __builtin_convertvector(four, tki_four));
    }
    for (; i < count; i++)
        to[i] = (double)from[i];
}

TKI_FOR_WIDTHS(static, void, , widen, (const float *from, int count, double *to), (from, count, to))

TKI_INLINE bool plain_all_finite(const double x[], int count)
{
    tki_four all = {0};
    double rest = 0;
    int i = 0;
    for (; i + 4 <= count; i += 4)
        all += 0 * tki_four_load(x + i); /* NaN of what is not finite */
    for (; i < count; i++)
        rest += 0 * x[i];
    return (all[0] + all[1]) + (all[2] + all[3]) + rest == 0;
}

TKI_FOR_WIDTHS(static, bool, return, all_finite, (const double x[], int count), (x, count))

static bool may_be_block(const tki_interpreter *in, const tki_def_node *n)
{
    return !in->watch && !in->d->tensors[n->tensor].integer &&
           (tki_dtype_of(in, n->tensor) == TK_F32 || in->decoded[n->tensor]);
}

static bool finish_block(tki_block *out, int count)
{
    out->exact = true;
    out->depth = 0;
    tki_block_fill(out, count);
    return all_finite(out->v, count);
}

/* Numbers that lie one behind the other as a block, where all are finite. */
static bool read_stretch(const tki_interpreter *in, const tki_def_node *n, int64_t first, int count, tki_block *out)
{
    const float *decoded = in->decoded[n->tensor];
    if (!may_be_block(in, n))
        return false;
    if (decoded) {
        const uint16_t *data = (const uint16_t *)tki_input_of(in, n->tensor) + first;
        for (int i = 0; i < count; i++)
            out->v[i] = (double)decoded[data[i]];
    } else {
        widen((const float *)tki_input_of(in, n->tensor) + first, count, out->v);
    }
    return finish_block(out, count);
}

/* The number at each place as a block, where all are finite; where there is none, what stands behind `else`, if that is exact. */
static bool read_block(const tki_thread *t, const tki_def_node *n, const int64_t flat[], int count, tki_block *out)
{
    const tki_interpreter *in = t->in;
    const void *data = tki_input_of(in, n->tensor);
    const float *decoded = in->decoded[n->tensor];
    const tki_value *other = n->operand[0] == TKI_NONE ? NULL : &in->values[tki_resolved(in, n->operand[0])];
    const bool has_other = other && other->state == TKI_IS_FINITE && tki_value_is_exact(other) &&
                           !(other->v == 0 && in->pads_by_absence);
    const double instead = has_other ? other->v : NAN;
    if (!may_be_block(in, n))
        return false;
    if (decoded)
        for (int i = 0; i < count; i++)
            out->v[i] = flat[i] < 0 ? instead : (double)decoded[((const uint16_t *)data)[flat[i]]];
    else
        for (int i = 0; i < count; i++)
            out->v[i] = flat[i] < 0 ? instead : (double)((const float *)data)[flat[i]];
    return finish_block(out, count);
}

static tki_form read_given(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                           int64_t flat[], tki_value out[], tki_block *block)
{
    even_places at;
    const bool even = find_even_places(t, p, w, n, &at);
    if (even && at.step == 1 && read_stretch(t->in, n, at.first, w->count, block))
        return TKI_AS_BLOCK;
    if (even && at.step == 0 && !t->in->watch) {
        read_input(t, n, &at.first, 1, out);
        return TKI_AS_ONE;
    }
    if (even)
        put_evenly(flat, at.first, at.step, w->count);
    else
        scattered_places(t, p, w, n, flat, NULL);
    if (read_block(t, n, flat, w->count, block))
        return TKI_AS_BLOCK;
    read_input(t, n, flat, w->count, out);
    return TKI_AS_VALUES;
}

/* By the program of the tensor's elements. */
static tki_form read_computed(tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                              int64_t flat[], tki_value out[], tki_block *block)
{
    const tki_interpreter *in = t->in;
    const tki_def_tensor *tensor = &in->d->tensors[n->tensor];
    const tki_program *inner = &in->of_tensor[n->tensor];
    tki_lanes *to = tki_lanes_of(t, inner, &t->of_tensor[n->tensor]);
    bool empty = false;
    for (int axis = 0; axis < tensor->rank; axis++)
        empty |= in->constants[tensor->extent[axis]] == 0;
    if (!to)
        return TKI_AS_VALUES;
    const bool inside = set_elements(t, p, w, n, flat, to);
    if (!empty && !tki_run(t, inner, to))
        return TKI_AS_VALUES;
    const int slot = to->slot[inner->root];
    if (inside && !tki_is_constant(in, inner->root) && (to->form[slot] & TKI_AS_BLOCK)) {
        tki_block_copy(&to->blocks[slot], 0, w->count, block);
        return TKI_AS_BLOCK;
    }
    const tki_operand root = empty ? (tki_operand){0} : tki_operand_of(t, to, inner->root);
    if (inside && root.step == 0 && !in->watch) {
        out[0] = root.at[0];
        return TKI_AS_ONE;
    }
    for (int i = 0; i < w->count; i++)
        out[i] = flat[i] < 0 ? tki_value_of_state(TKI_IS_UNKNOWN) : root.at[i * root.step];
    return TKI_AS_VALUES;
}

/* What stands behind `else`: of a product with 0 a kernel may leave the term out. */
static tki_value padding_of(const tki_interpreter *in, const tki_def_node *n)
{
    tki_value y = in->values[tki_resolved(in, n->operand[0])];
    if (y.state == TKI_IS_FINITE && tki_value_is_zero(&y) && in->pads_by_absence &&
        !in->d->tensors[n->tensor].integer)
        y.state |= TKI_IS_ABSENT;
    return y;
}

static tki_form read_tensor(tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n, int slot,
                            tki_value out[], tki_block *block)
{
    const tki_interpreter *in = t->in;
    const tki_table *table = &in->kept_tensor[n->tensor];
    int64_t flat[TKI_LANES];
    tki_form form = TKI_AS_VALUES;
    if (tki_is_given(in, n->tensor)) {
        form = read_given(t, p, w, n, flat, out, block);
    } else if (table->entries) {
        even_places at;
        if (!in->watch && find_even_places(t, p, w, n, &at) && at.step == 1) {
            w->given[slot] = (const tki_value *)table->entries + at.first;
            return TKI_AS_GIVEN;
        }
        const bool same = places_of(t, p, w, n, flat);
        for (int i = 0; i < (same ? 1 : w->count); i++)
            out[i] = flat[i] < 0 ? tki_value_of_state(TKI_IS_UNKNOWN) : ((const tki_value *)table->entries)[flat[i]];
        form = same ? TKI_AS_ONE : TKI_AS_VALUES;
    } else {
        form = read_computed(t, p, w, n, flat, out, block);
    }
    if (form == TKI_AS_VALUES && n->operand[0] != TKI_NONE) /* else */
        for (int i = 0; i < w->count; i++)
            if (flat[i] < 0)
                out[i] = padding_of(in, n);
    return form;
}

/* -- Numbers --------------------------------------------------------------------------------------------------------- */

tki_operand tki_operand_of(const tki_thread *t, const tki_lanes *w, int node)
{
    node = tki_resolved(t->in, node);
    if (tki_is_constant(t->in, node))
        return (tki_operand){&t->in->values[node], 0};
    const int slot = w->slot[node];
    if (w->form[slot] == TKI_AS_GIVEN)
        return (tki_operand){w->given[slot], 1};
    if (w->form[slot] == TKI_AS_BLOCK) {
        for (int i = 0; i < w->count; i++)
            w->values[slot][i] = tki_block_at(&w->blocks[slot], i);
        w->form[slot] |= TKI_AS_VALUES;
    }
    return (tki_operand){w->values[slot], w->form[slot] != TKI_AS_ONE};
}

const tki_block *tki_block_of(const tki_thread *t, const tki_lanes *w, int node, bool factors, tki_block *room)
{
    if (t->in->watch)
        return NULL;
    node = tki_resolved(t->in, node);
    const bool constant = tki_is_constant(t->in, node);
    if (!constant && (w->form[w->slot[node]] & TKI_AS_BLOCK))
        return &w->blocks[w->slot[node]];
    const tki_operand x = tki_operand_of(t, w, node);
    const bool taken = x.step == 0 ? tki_block_of_one(x.at, factors, w->count, room)
                                   : tki_block_of_values(x.at, factors, w->count, room);
    return taken ? room : NULL;
}

/* Is it the same for all elements? */
static bool is_one(const tki_thread *t, const tki_lanes *w, int node)
{
    node = node == TKI_NONE ? TKI_NONE : tki_resolved(t->in, node);
    return node == TKI_NONE || tki_is_constant(t->in, node) || w->form[w->slot[node]] == TKI_AS_ONE;
}

static bool compute_block(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_block *out)
{
    const tki_rules *rules = &t->in->rules;
    const tki_primitive primitive = n->primitive;
    const bool product = primitive == TKI_MULTIPLY || primitive == TKI_SQUARE || primitive == TKI_DIVIDE;
    const bool function = tki_function_of(primitive) != NULL;
    const bool other = primitive == TKI_ADD || primitive == TKI_SUBTRACT || primitive == TKI_MIN ||
                       primitive == TKI_MAX;
    tki_block room[2];
    if (!product && !function && !other)
        return false;
    const tki_block *a = tki_block_of(t, w, n->operand[0], product || function, &room[0]);
    const bool square = product && primitive != TKI_DIVIDE &&
                        (n->operand[1] == TKI_NONE ||
                         tki_resolved(t->in, n->operand[0]) == tki_resolved(t->in, n->operand[1]));
    if (!a)
        return false;
    if (function)
        return tki_function_block(rules, primitive, a, w->count, out);
    if (square)
        return tki_block_square(rules, a, w->count, out);
    const tki_block *b = tki_block_of(t, w, n->operand[1], product, &room[1]);
    if (!b)
        return false;
    if (primitive == TKI_DIVIDE)
        return tki_block_divide(rules, a, b, w->count, out);
    if (product)
        return tki_block_multiply(rules, a, b, w->count, out);
    if (primitive == TKI_MIN || primitive == TKI_MAX)
        return tki_block_larger(a, b, primitive == TKI_MIN, w->count, out);
    return tki_block_add(rules, a, b, primitive == TKI_SUBTRACT, w->count, out);
}

/* The exponent of a power, if it is a product of so many factors; else -1. */
static int factors_of(const tki_thread *t, int node)
{
    const tki_def_node *n = node_of(t, tki_resolved(t->in, node));
    const bool whole = n->kind == TKI_NODE_LITERAL && n->exact && n->nearest >= 0 && n->nearest <= 16 &&
                       n->nearest == floor(n->nearest);
    return whole ? (int)n->nearest : -1;
}

/* Of a sum it is the sum of the negated terms, which may begin with another number, too. */
static tki_value negated_sum(const tki_value *a)
{
    tki_value y = tki_negated(a);
    y.mass = a->mass;
    y.depth = a->depth;
    return y;
}

static void compute_values(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, int count, tki_value out[])
{
    const tki_rules *rules = &t->in->rules;
    const tki_operand a = tki_operand_of(t, w, n->operand[0]);
    const tki_operand b = n->operand[1] == TKI_NONE ? a : tki_operand_of(t, w, n->operand[1]);
    switch (n->primitive) {
    case TKI_ADD:
        for (int i = 0; i < count; i++)
            out[i] = tki_added(rules, a.at + i * a.step, b.at + i * b.step);
        return;
    case TKI_SUBTRACT:
        for (int i = 0; i < count; i++) {
            const tki_value minus = negated_sum(b.at + i * b.step);
            out[i] = tki_added(rules, a.at + i * a.step, &minus);
        }
        return;
    case TKI_MULTIPLY:
        if (tki_resolved(t->in, n->operand[0]) == tki_resolved(t->in, n->operand[1])) {
            for (int i = 0; i < count; i++)
                out[i] = tki_squared(rules, a.at + i * a.step);
            return;
        }
        for (int i = 0; i < count; i++)
            out[i] = tki_multiplied(rules, a.at + i * a.step, b.at + i * b.step);
        return;
    case TKI_DIVIDE:
        for (int i = 0; i < count; i++)
            out[i] = tki_divided(rules, a.at + i * a.step, b.at + i * b.step);
        return;
    case TKI_NEGATE:
        for (int i = 0; i < count; i++)
            out[i] = negated_sum(a.at + i * a.step);
        return;
    case TKI_FMA: {
        const tki_operand c = tki_operand_of(t, w, n->operand[2]);
        for (int i = 0; i < count; i++) {
            const tki_value product = tki_multiplied(rules, a.at + i * a.step, b.at + i * b.step);
            out[i] = tki_added(rules, &product, c.at + i * c.step);
        }
        return;
    }
    case TKI_SQUARE:
        for (int i = 0; i < count; i++)
            out[i] = tki_squared(rules, a.at + i * a.step);
        return;
    case TKI_ABS:
        for (int i = 0; i < count; i++)
            out[i] = tki_absolute(a.at + i * a.step);
        return;
    case TKI_MIN:
        for (int i = 0; i < count; i++)
            out[i] = tki_smaller(a.at + i * a.step, b.at + i * b.step);
        return;
    case TKI_MAX:
        for (int i = 0; i < count; i++)
            out[i] = tki_larger(a.at + i * a.step, b.at + i * b.step);
        return;
    case TKI_POW: {
        const int factors = factors_of(t, n->operand[1]);
        for (int i = 0; i < count; i++)
            out[i] = factors >= 0 ? tki_raised(rules, a.at + i * a.step, factors)
                                  : tki_power(rules, a.at + i * a.step, b.at + i * b.step);
        return;
    }
    default:
        for (int i = 0; i < count; i++)
            out[i] = tki_function_value(rules->tables, n->primitive, a.at + i * a.step, rules->flushes);
    }
}

static tki_form compute_primitive(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_value out[],
                                  tki_block *block)
{
    const bool one = !t->in->watch && is_one(t, w, n->operand[0]) && is_one(t, w, n->operand[1]) &&
                     is_one(t, w, n->operand[2]);
    if (!one && compute_block(t, w, n, block))
        return TKI_AS_BLOCK;
    compute_values(t, w, n, one ? 1 : w->count, out);
    return one ? TKI_AS_ONE : TKI_AS_VALUES;
}

/* Truths are kept in `state`. */
static void compute_truth(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_value out[])
{
    const tki_operand a = tki_operand_of(t, w, n->operand[0]), b = tki_operand_of(t, w, n->operand[1]);
    const bool same = tki_resolved(t->in, n->operand[0]) == tki_resolved(t->in, n->operand[1]);
    const bool real = n->kind == TKI_NODE_COMPARE && (node_of(t, n->operand[0])->type != TKI_INTEGER ||
                                                      node_of(t, n->operand[1])->type != TKI_INTEGER);
    for (int i = 0; i < w->count; i++) {
        const tki_value *x = a.at + i * a.step, *y = b.at + i * b.step;
        out[i].state = n->kind == TKI_NODE_AND ? tki_both(x->state, y->state)
                       : same                  ? tki_compared_with_itself(n->relation, x)
                                               : tki_compared(n->relation, x, y);
        out[i].state |= real ? TKI_OF_NUMBERS : 0;
    }
}

static void compute_select(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_value out[])
{
    const tki_operand c = tki_operand_of(t, w, n->operand[0]), a = tki_operand_of(t, w, n->operand[1]);
    const tki_operand b = tki_operand_of(t, w, n->operand[2]);
    for (int i = 0; i < w->count; i++)
        out[i] = tki_selected(c.at[i * c.step].state, a.at + i * a.step, b.at + i * b.step);
}

static void compute_integer(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                            tki_value out[])
{
    int64_t index[TKI_MOST_INDICES];
    for (int i = 0; i < w->count; i++) {
        indices_of(p, w, i, index);
        const int64_t value = tki_integer_of(t->in, n->integer, index);
        /* Beyond 2^53 a double has the integer that is next to it. */
        out[i] = value == TKI_NO_INTEGER ? tki_value_of_state(TKI_IS_UNKNOWN)
                                         : tki_constant_of((double)value, llabs(value) >> 53 ? 0x1p10 : 0);
    }
}

/* The element is in the last piece that begins at it or before. */
static void compute_pieces(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_value out[])
{
    const int64_t *index = w->index[n->which];
    for (int i = 0; i < w->count; i++)
        out[i] = tki_value_of_state(TKI_IS_UNKNOWN);
    for (int piece = 0; piece < n->piece_count; piece++) {
        const tki_operand a = tki_operand_of(t, w, n->pieces[piece].read);
        const int64_t start = t->in->constants[n->pieces[piece].start],
                      size = t->in->constants[n->pieces[piece].size];
        for (int i = 0; i < w->count; i++)
            if (index[i] >= start && index[i] - start < size)
                out[i] = a.at[i * a.step];
    }
}

/* -- Programs -------------------------------------------------------------------------------------------------------- */

static void show(const tki_thread *t, const tki_lanes *w, int node, tki_value out[])
{
    const tki_watch *watch = t->in->watch;
    const tki_def_node *n = node_of(t, node);
    tki_operand operands[3] = {{0}};
    for (int k = 0; k < 3 && n->kind == TKI_NODE_PRIMITIVE; k++)
        if (n->operand[k] != TKI_NONE)
            operands[k] = tki_operand_of(t, w, n->operand[k]);
    if (watch->see)
        watch->see(watch->context, node, w->count, operands, out);
    for (int i = 0; watch->exact && watch->exact[node] && i < w->count; i++)
        if (out[i].state & TKI_IS_FINITE)
            out[i] = (tki_value){.v = out[i].v,
                                 .d = out[i].d,
                                 .l = out[i].v - out[i].d,
                                 .h = out[i].v + out[i].d,
                                 .state = TKI_IS_FINITE};
}

bool tki_run(tki_thread *t, const tki_program *p, tki_lanes *w)
{
    for (int i = 0; i < p->count && t->status == TK_OK; i++) {
        const tki_def_node *n = node_of(t, p->order[i]);
        tki_value *out = w->values[i];
        tki_form form = TKI_AS_VALUES;
        switch (n->kind) {
        case TKI_NODE_INTEGER: compute_integer(t, p, w, n, out); break;
        case TKI_NODE_READ: form = read_tensor(t, p, w, n, i, out, &w->blocks[i]); break;
        case TKI_NODE_PRIMITIVE: form = compute_primitive(t, w, n, out, &w->blocks[i]); break;
        case TKI_NODE_CAST: {
            const tki_operand a = tki_operand_of(t, w, n->operand[0]);
            for (int k = 0; k < w->count; k++)
                out[k] = tki_cast_to(n->dtype, a.at + k * a.step);
            break;
        }
        case TKI_NODE_SELECT: compute_select(t, w, n, out); break;
        case TKI_NODE_COMPARE:
        case TKI_NODE_AND: compute_truth(t, w, n, out); break;
        case TKI_NODE_OVER:
            form = tki_compute_over(t, p->order[i], p, w, out, t->in->watch ? NULL : &w->blocks[i]);
            break;
        case TKI_NODE_PIECES: compute_pieces(t, w, n, out); break;
        default: t->status = TK_INTERNAL; /* constants and choices are in no program */
        }
        w->form[i] = (unsigned char)form;
        if (t->in->watch && t->status == TK_OK)
            show(t, w, p->order[i], out);
    }
    return t->status == TK_OK;
}

void tki_set_indices(const tki_interpreter *in, tki_lanes *w, int count, const int *indices, int64_t first)
{
    int64_t at[TKI_MOST_INDICES];
    for (int k = count - 1; k >= 0; k--) {
        const int64_t extent = tki_extent_of(in, indices[k]);
        at[k] = first % extent;
        first /= extent;
    }
    const bool moves = count > 0 && at[count - 1] + w->count <= tki_extent_of(in, indices[count - 1]);
    w->run = moves ? indices[count - 1] : TKI_NONE;
    for (int k = 0; k < count && moves; k++) {
        const int64_t step = k == count - 1;
        for (int i = 0; i < w->count; i++)
            w->index[indices[k]][i] = at[k] + i * step;
    }
    for (int i = 0; i < w->count && !moves; i++) {
        for (int k = 0; k < count; k++)
            w->index[indices[k]][i] = at[k];
        for (int k = count - 1; k >= 0 && ++at[k] == tki_extent_of(in, indices[k]); k--)
            at[k] = 0;
    }
}

/* How many elements are computed together: they end with the row, where that leaves enough of them. */
static int stretch_of(const tki_interpreter *in, const tki_program *p, int64_t first, int64_t left)
{
    enum { ENOUGH = TKI_LANES / 4 };
    const int64_t extent = p->index_count ? tki_extent_of(in, p->indices[p->index_count - 1]) : 1;
    const int64_t in_row = extent - first % extent;
    if (in_row >= ENOUGH && in_row < left)
        left = in_row;
    return (int)(left < TKI_LANES ? left : TKI_LANES);
}

/* The values of a program whose elements are numbered as a tensor's. */
static tk_status values_of(tki_thread *t, const tki_program *p, tki_lanes **place, int64_t first, int64_t count,
                           tki_value values[])
{
    tki_lanes *w = tki_lanes_of(t, p, place);
    for (int64_t done = 0; done < count && t->status == TK_OK; done += w->count) {
        w->count = stretch_of(t->in, p, first + done, count - done);
        tki_set_indices(t->in, w, p->index_count, p->indices, first + done);
        if (!tki_run(t, p, w))
            break;
        const bool constant = tki_is_constant(t->in, p->root);
        const tki_block *block = !constant && w->form[w->slot[p->root]] == TKI_AS_BLOCK ? &w->blocks[w->slot[p->root]]
                                                                                        : NULL;
        const tki_operand root = block ? (tki_operand){0} : tki_operand_of(t, w, p->root);
        for (int i = 0; i < w->count; i++)
            values[done + i] = block ? tki_block_at(block, i) : root.at[i * root.step];
    }
    return t->status;
}

/* -- Tables ---------------------------------------------------------------------------------------------------------- */

static bool is_among(int count, const int *indices, int index)
{
    for (int i = 0; i < count; i++)
        if (indices[i] == index)
            return true;
    return false;
}

/* What has no nodes: only indices. */
static tki_program bare_program(const tki_table *table)
{
    return (tki_program){.index_count = table->index_count, .indices = (int *)(uintptr_t)table->indices};
}

/* The rows of what accumulates: entries that differ in the index `at` alone. */
static void fill_prefixes(tki_thread *t, const tki_filling *f, const tki_table *table, tki_lanes *w, int64_t first,
                          int count, tki_value *entries)
{
    const tki_def_node *n = node_of(t, f->which);
    tki_value *rows[TKI_LANES];
    int64_t flat[TKI_LANES], step = 1;
    for (int k = table->index_count - 1; table->indices[k] != n->at[0]; k--)
        step *= tki_extent_of(t->in, table->indices[k]);
    w->count = count;
    tki_set_indices(t->in, w, t->in->outer_count[f->which], t->in->outer[f->which], first);
    memset(w->index[n->at[0]], 0, (size_t)count * sizeof(int64_t));
    (void)tki_table_places(t, table, w, flat);
    for (int i = 0; i < count; i++)
        rows[i] = entries + flat[i];
    tki_compute_prefixes(t, f->which, w, rows, step);
}

/* Some entries of a reduction's table, or of its rows', which are not the elements of a program. */
static void fill_reduction(tki_thread *t, const tki_filling *f, const tki_table *table, tki_lanes *w, int64_t first,
                           int count, void *entries)
{
    if (f->kind == TKI_KEPT_PREFIXES) {
        fill_prefixes(t, f, table, w, first, count, entries);
        return;
    }
    w->count = count;
    tki_set_indices(t->in, w, table->index_count, table->indices, first);
    if (f->kind == TKI_KEPT_SPECIAL) {
        for (int k = 0; k < t->in->outer_count[f->which]; k++) /* which stand in the predicate alone */
            if (!is_among(table->index_count, table->indices, t->in->outer[f->which][k]))
                memset(w->index[t->in->outer[f->which][k]], 0, (size_t)count * sizeof(int64_t));
        tki_count_special(t, f->which, w, (int64_t *)entries + first);
        return;
    }
    if (f->kind == TKI_KEPT_VALUE) {
        const tki_program p = bare_program(table);
        (void)tki_compute_over(t, f->which, &p, w, (tki_value *)entries + first, NULL);
        return;
    }
    int each[TKI_LANES];
    for (int i = 0; i < count; i++)
        each[i] = i;
    tki_compute_rows(t, f->which, w, each, (tki_row *)entries + first);
}

/* Lanes that have the indices of the entries, and of the rows that they are made of. */
static tki_lanes *bare_lanes(tki_thread *t, const tki_filling *f, const tki_table *table)
{
    int all[2 * TKI_MOST_INDICES];
    tki_program p = {.index_count = table->index_count, .indices = all};
    memcpy(all, table->indices, (size_t)table->index_count * sizeof *all);
    for (int k = 0; k < t->in->outer_count[f->which]; k++)
        if (!is_among(table->index_count, table->indices, t->in->outer[f->which][k]))
            all[p.index_count++] = t->in->outer[f->which][k];
    return make_lanes(t, &p);
}

static int64_t at_least(int64_t least, int64_t value)
{
    return value > least ? value : least;
}

tk_status tki_fill_table(const tki_interpreter *in, const tki_filling *f, void *entries)
{
    const tki_table *table = tki_table_of(in, f);
    tk_status status = TK_OK;
#pragma omp parallel if (table->count > 1)
    {
        const tki_floats floats = tki_floats_begin();
        tki_thread t;
        tki_lanes *w = tki_thread_begin(&t, in) && f->kind != TKI_KEPT_TENSOR ? bare_lanes(&t, f, table) : NULL;
        const int64_t all = f->kind == TKI_KEPT_PREFIXES
                                ? table->count / at_least(1, tki_extent_of(in, in->d->nodes[f->which].bound[0]))
                                : table->count;
        /* A few entries each where there are few. */
        const int64_t part = all / 16 < 1 ? 1 : all / 16 < TKI_LANES ? all / 16 : TKI_LANES;
#pragma omp for schedule(dynamic, 1)
        for (int64_t first = 0; first < all; first += part) {
            const int count = (int)(all - first < part ? all - first : part);
            if (t.status == TK_OK && f->kind == TKI_KEPT_TENSOR)
                (void)values_of(&t, &in->of_tensor[f->which], &t.of_tensor[f->which], first, count,
                                (tki_value *)entries + first);
            else if (t.status == TK_OK)
                fill_reduction(&t, f, table, w, first, count, entries);
        }
        if (t.status != TK_OK)
#pragma omp critical(tki_fill_table)
            status = t.status;
        free_lanes(w);
        tki_thread_end(&t);
        tki_floats_end(&floats);
    }
    return status;
}

tk_status tki_fill_not_made(const tki_interpreter *in, const tki_filling *f, tki_value entries[])
{
    const tki_table *table = tki_table_of(in, f);
    const tki_program p = bare_program(table);
    tk_status status = TK_OK;
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
        tki_thread t;
        tki_lanes *w = tki_thread_begin(&t, in) ? bare_lanes(&t, f, table) : NULL;
        tki_value made[TKI_LANES];
        int64_t which[TKI_LANES];
#pragma omp for schedule(dynamic, 1)
        for (int64_t first = 0; first < table->count; first += TKI_LANES) {
            const int64_t end = table->count - first < TKI_LANES ? table->count : first + TKI_LANES;
            int count = 0;
            for (int64_t i = first; i < end; i++)
                if (entries[i].state == TKI_NOT_MADE)
                    which[count++] = i;
            if (count == 0 || t.status != TK_OK)
                continue;
            for (int i = 0; i < count; i++) {
                int64_t flat = which[i];
                for (int k = table->index_count - 1; k >= 0; k--) {
                    w->index[table->indices[k]][i] = flat % tki_extent_of(in, table->indices[k]);
                    flat /= tki_extent_of(in, table->indices[k]);
                }
            }
            w->count = count;
            w->run = TKI_NONE;
            (void)tki_compute_over(&t, f->which, &p, w, made, NULL);
            for (int i = 0; i < count; i++)
                entries[which[i]] = made[i];
        }
        if (t.status != TK_OK)
#pragma omp critical(tki_fill_table)
            status = t.status;
        free_lanes(w);
        tki_thread_end(&t);
        tki_floats_end(&floats);
    }
    return status;
}

/* -- Outputs --------------------------------------------------------------------------------------------------------- */

static tk_status outputs_of(const tki_interpreter *in, const tki_program *p, int64_t first, int64_t count,
                            tki_value values[])
{
    tki_thread t;
    tki_lanes *w = NULL;
    if (tki_thread_begin(&t, in))
        (void)values_of(&t, p, &w, first, count, values);
    free_lanes(w);
    const tk_status status = t.status;
    tki_thread_end(&t);
    return status;
}

/* An absent term that is a result is a zero. */
tk_status tki_interpreter_values(const tki_interpreter *in, int tensor, int64_t first, int64_t count,
                                 tki_value values[])
{
    const tki_table *table = &in->kept_tensor[tensor];
    tk_status status = TK_OK;
    if (!table->entries || count == 0)
        status = outputs_of(in, &in->of_tensor[tensor], first, count, values);
    else
        memcpy(values, (const tki_value *)table->entries + first, (size_t)count * sizeof *values);
    for (int64_t i = 0; i < count && status == TK_OK; i++)
        values[i].state &= ~(unsigned)TKI_IS_ABSENT;
    return status;
}

tk_status tki_interpreter_stated(const tki_interpreter *in, int tensor, int64_t first, int64_t count,
                                 tki_value values[])
{
    return outputs_of(in, &in->stated[tensor], first, count, values);
}
