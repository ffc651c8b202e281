/* DECIDES. Programs run on TKI_LANES elements at a time: the values of each node for all of them, one node after the other. Reductions bring their
 * terms together in the same way, whatever their sizes are. */
#include "interpret/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "exact/floats.h"
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
    const size_t values = ((size_t)p->count + 1) * sizeof(tki_value[TKI_LANES]);
    tki_lanes *w = calloc(1, sizeof *w);
    char *memory = w ? malloc(values + (size_t)p->index_count * line + nodes * sizeof(int)) : NULL;
    if (!memory) {
        free(w);
        t->status = TK_NO_MEMORY;
        return NULL;
    }
    w->memory = memory;
    w->values = (tki_value(*)[TKI_LANES])memory;
    for (int i = 0; i < p->index_count; i++)
        w->index[p->indices[i]] = (int64_t *)(memory + values + (size_t)i * line);
    w->slot = (int *)(memory + values + (size_t)p->index_count * line);
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

static bool begin(tki_thread *t, const tki_interpreter *in)
{
    *t = (tki_thread){.in = in,
                      .of_tensor = calloc((size_t)in->d->tensor_count + 1, sizeof *t->of_tensor),
                      .of_body = calloc((size_t)in->d->node_count + 1, sizeof *t->of_body)};
    t->status = t->of_tensor && t->of_body ? TK_OK : TK_NO_MEMORY;
    return t->status == TK_OK;
}

static void free_lanes(tki_lanes *w)
{
    if (w)
        free(w->memory);
    free(w);
}

static void end(tki_thread *t)
{
    for (int i = 0; t->of_tensor && i < t->in->d->tensor_count; i++)
        free_lanes(t->of_tensor[i]);
    for (int i = 0; t->of_body && i < t->in->d->node_count; i++)
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

/* A subscript for all elements; TKI_NO_INTEGER where there is none. */
void tki_line_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_linear *linear,
                 int64_t line[])
{
    const int64_t *constants = t->in->constants;
    if (!is_plain(t, linear)) {
        int64_t index[TKI_MOST_INDICES];
        for (int i = 0; i < w->count; i++) {
            indices_of(p, w, i, index);
            line[i] = tki_linear_value(t->in, linear, index);
        }
        return;
    }
    for (int i = 0; i < w->count; i++)
        line[i] = constants[linear->offset];
    for (int term = 0; term < linear->count; term++) {
        const int64_t *index = w->index[t->in->d->ints[linear->terms[term].atom].which];
        const int64_t coefficient = constants[linear->terms[term].coefficient];
        int64_t product;
        for (int i = 0; i < w->count; i++)
            if (line[i] == TKI_NO_INTEGER || __builtin_mul_overflow(index[i], coefficient, &product) ||
                __builtin_add_overflow(line[i], product, &line[i]))
                line[i] = TKI_NO_INTEGER;
    }
}

/* Where the elements of a read lie; -1 if out of range. With `to`, the subscripts become its indices `own`. */
static void places_of(const tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
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

void tki_table_places(const tki_thread *t, const tki_table *table, const tki_lanes *w, int64_t flat[])
{
    memset(flat, 0, (size_t)w->count * sizeof *flat);
    for (int k = 0; k < table->index_count; k++) {
        const int64_t extent = tki_extent_of(t->in, table->indices[k]), *index = w->index[table->indices[k]];
        for (int i = 0; i < w->count; i++)
            flat[i] = flat[i] * extent + index[i];
    }
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

static void read_tensor(tki_thread *t, const tki_program *p, const tki_lanes *w, const tki_def_node *n,
                        tki_value out[])
{
    const tki_interpreter *in = t->in;
    const tki_def_tensor *tensor = &in->d->tensors[n->tensor];
    const tki_table *table = &in->kept_tensor[n->tensor];
    int64_t flat[TKI_LANES];
    if (tensor->role == TKI_TENSOR_INPUT) {
        places_of(t, p, w, n, flat, NULL);
        read_input(t, n, flat, w->count, out);
    } else if (table->entries) {
        places_of(t, p, w, n, flat, NULL);
        for (int i = 0; i < w->count; i++)
            out[i] = flat[i] < 0 ? tki_value_of_state(TKI_IS_UNKNOWN) : ((const tki_value *)table->entries)[flat[i]];
    } else {
        const tki_program *inner = &in->of_tensor[n->tensor];
        tki_lanes *to = tki_lanes_of(t, inner, &t->of_tensor[n->tensor]);
        bool empty = false;
        for (int axis = 0; axis < tensor->rank; axis++)
            empty |= in->constants[tensor->extent[axis]] == 0;
        if (!to)
            return;
        places_of(t, p, w, n, flat, to);
        to->count = w->count;
        if (!empty && !tki_run(t, inner, to))
            return;
        const bool constant = tki_is_constant(in, inner->root);
        for (int i = 0; i < w->count; i++)
            out[i] = flat[i] < 0 ? tki_value_of_state(TKI_IS_UNKNOWN)
                     : constant  ? in->values[inner->root]
                                 : to->values[to->slot[inner->root]][i];
    }
    if (n->operand[0] != TKI_NONE) /* else */
        for (int i = 0; i < w->count; i++)
            if (flat[i] < 0)
                out[i] = in->values[tki_resolved(in, n->operand[0])];
}

/* -- Numbers --------------------------------------------------------------------------------------------------------- */

tki_operand tki_operand_of(const tki_thread *t, const tki_lanes *w, int node)
{
    node = tki_resolved(t->in, node);
    if (tki_is_constant(t->in, node))
        return (tki_operand){&t->in->values[node], 0};
    return (tki_operand){w->values[w->slot[node]], 1};
}

/* The exponent of a power, if it is a product of so many factors; else -1. */
static int factors_of(const tki_thread *t, int node)
{
    const tki_def_node *n = node_of(t, tki_resolved(t->in, node));
    const bool whole = n->kind == TKI_NODE_LITERAL && n->exact && n->nearest >= 0 && n->nearest <= 16 &&
                       n->nearest == floor(n->nearest);
    return whole ? (int)n->nearest : -1;
}

static void compute_primitive(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_value out[])
{
    const tki_rules *rules = &t->in->rules;
    const tki_operand a = tki_operand_of(t, w, n->operand[0]);
    const tki_operand b = n->operand[1] == TKI_NONE ? a : tki_operand_of(t, w, n->operand[1]);
    const int count = w->count;
    switch (n->primitive) {
    case TKI_ADD:
        for (int i = 0; i < count; i++)
            out[i] = tki_added(rules, a.at + i * a.step, b.at + i * b.step);
        return;
    case TKI_SUBTRACT:
        for (int i = 0; i < count; i++) {
            tki_value minus = tki_negated(b.at + i * b.step);
            minus.mass = b.at[i * b.step].mass;
            minus.depth = b.at[i * b.step].depth;
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
            out[i] = tki_negated(a.at + i * a.step);
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

/* Truths are kept in `state`. */
static void compute_truth(const tki_thread *t, const tki_lanes *w, const tki_def_node *n, tki_value out[])
{
    const tki_operand a = tki_operand_of(t, w, n->operand[0]), b = tki_operand_of(t, w, n->operand[1]);
    const bool same = tki_resolved(t->in, n->operand[0]) == tki_resolved(t->in, n->operand[1]);
    for (int i = 0; i < w->count; i++) {
        const tki_value *x = a.at + i * a.step, *y = b.at + i * b.step;
        out[i].state = n->kind == TKI_NODE_AND ? tki_both(x->state, y->state)
                       : same                  ? tki_compared_with_itself(n->relation, x)
                                               : tki_compared(n->relation, x, y);
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

bool tki_run(tki_thread *t, const tki_program *p, tki_lanes *w)
{
    for (int i = 0; i < p->count && t->status == TK_OK; i++) {
        const tki_def_node *n = node_of(t, p->order[i]);
        tki_value *out = w->values[i];
        switch (n->kind) {
        case TKI_NODE_INTEGER: compute_integer(t, p, w, n, out); break;
        case TKI_NODE_READ: read_tensor(t, p, w, n, out); break;
        case TKI_NODE_PRIMITIVE: compute_primitive(t, w, n, out); break;
        case TKI_NODE_CAST: {
            const tki_operand a = tki_operand_of(t, w, n->operand[0]);
            for (int k = 0; k < w->count; k++)
                out[k] = tki_cast_to(n->dtype, a.at + k * a.step);
            break;
        }
        case TKI_NODE_SELECT: compute_select(t, w, n, out); break;
        case TKI_NODE_COMPARE:
        case TKI_NODE_AND: compute_truth(t, w, n, out); break;
        case TKI_NODE_OVER: tki_compute_over(t, p->order[i], w, out); break;
        case TKI_NODE_PIECES: compute_pieces(t, w, n, out); break;
        default: t->status = TK_INTERNAL; /* constants and choices are in no program */
        }
    }
    return t->status == TK_OK;
}

/* Sets the indices of elements `first` and those after it, in the order of the list. */
static void set_indices(const tki_interpreter *in, tki_lanes *w, int count, const int *indices, int64_t first)
{
    for (int i = 0; i < w->count; i++) {
        int64_t rest = first + i;
        for (int k = count - 1; k >= 0; k--) {
            const int64_t extent = tki_extent_of(in, indices[k]);
            w->index[indices[k]][i] = rest % extent;
            rest /= extent;
        }
    }
}

/* The values of a program whose elements are numbered as a tensor's. */
static tk_status values_of(tki_thread *t, const tki_program *p, tki_lanes **place, int64_t first, int64_t count,
                           tki_value values[])
{
    tki_lanes *w = tki_lanes_of(t, p, place);
    for (int64_t done = 0; done < count && t->status == TK_OK; done += w->count) {
        w->count = (int)(count - done < TKI_LANES ? count - done : TKI_LANES);
        set_indices(t->in, w, p->index_count, p->indices, first + done);
        if (!tki_run(t, p, w))
            break;
        const tki_operand root = tki_operand_of(t, w, p->root);
        for (int i = 0; i < w->count; i++)
            values[done + i] = root.at[i * root.step];
    }
    return t->status;
}

/* -- Tables ---------------------------------------------------------------------------------------------------------- */

/* Some entries of a reduction's table, or of its rows', which are not the elements of a program. */
static void fill_reduction(tki_thread *t, const tki_filling *f, const tki_table *table, tki_lanes *w, int64_t first,
                           int count, void *entries)
{
    w->count = count;
    set_indices(t->in, w, table->index_count, table->indices, first);
    if (f->kind == TKI_KEPT_VALUE) {
        tki_compute_over(t, f->which, w, (tki_value *)entries + first);
        return;
    }
    int each[TKI_LANES];
    for (int i = 0; i < count; i++)
        each[i] = i;
    tki_compute_rows(t, f->which, w, each, (tki_row *)entries + first);
}

/* Lanes that have no program: only indices. */
static tki_lanes *bare_lanes(tki_thread *t, const tki_table *table)
{
    const tki_program p = {.index_count = table->index_count, .indices = (int *)(uintptr_t)table->indices};
    return make_lanes(t, &p);
}

tk_status tki_fill_table(const tki_interpreter *in, const tki_filling *f, void *entries)
{
    const tki_table *table = tki_table_of(in, f);
    tk_status status = TK_OK;
#pragma omp parallel if (table->count > 1)
    {
        const tki_floats floats = tki_floats_begin();
        tki_thread t;
        tki_lanes *w = begin(&t, in) && f->kind != TKI_KEPT_TENSOR ? bare_lanes(&t, table) : NULL;
        /* A few entries each where there are few. */
        const int64_t part = table->count / 16 < 1           ? 1
                             : table->count / 16 < TKI_LANES ? table->count / 16
                                                             : TKI_LANES;
#pragma omp for schedule(dynamic, 1)
        for (int64_t first = 0; first < table->count; first += part) {
            const int count = (int)(table->count - first < part ? table->count - first : part);
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
        end(&t);
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
    if (begin(&t, in))
        (void)values_of(&t, p, &w, first, count, values);
    free_lanes(w);
    const tk_status status = t.status;
    end(&t);
    return status;
}

tk_status tki_interpreter_values(const tki_interpreter *in, int tensor, int64_t first, int64_t count,
                                 tki_value values[])
{
    const tki_table *table = &in->kept_tensor[tensor];
    if (!table->entries)
        return outputs_of(in, &in->of_tensor[tensor], first, count, values);
    memcpy(values, (const tki_value *)table->entries + first, (size_t)count * sizeof *values);
    return TK_OK;
}

tk_status tki_interpreter_stated(const tki_interpreter *in, int tensor, int64_t first, int64_t count,
                                 tki_value values[])
{
    return outputs_of(in, &in->stated[tensor], first, count, values);
}
