/* DECIDES. Indices that a kernel may choose. Each key lies in a range, where a careful evaluation finds it; one stands before another in every
 * evaluation if its range lies above the other's, or if both are the same number and the lowest index counts. A chosen index is right if all that
 * stand before it in every evaluation have been chosen for earlier positions, and it has not. */
#include "interpret/choices.h"

#include <stdlib.h>
#include <string.h>

#include "exact/floats.h"

/* A row at work: its keys, and at which position each has been chosen first. */
typedef struct choosing {
    const tki_interpreter *in;
    const tki_def_node *n;
    tki_keys keys;
    int64_t *position; /* [keys.count] INT64_MAX: none */
    int64_t *order;    /* [keys.count] without a choice: the first `made` keys, by the lower ends of their ranges */
    int64_t made;
    bool complete; /* an element was chosen for each position up to the last */
} choosing;

static const tki_def_node *node_of(const tki_interpreter *in, int node)
{
    return &in->d->nodes[tki_resolved(in, node)];
}

bool tki_chooses(const tki_interpreter *in, int tensor)
{
    const tki_def_tensor *t = &in->d->tensors[tensor];
    if (t->value == TKI_NONE || tki_resolved(in, t->value) == TKI_NONE)
        return false;
    const tki_def_node *n = node_of(in, t->value);
    return n->kind == TKI_NODE_OVER && tki_over_chooses(n->over);
}

static bool begin(choosing *c, const tki_interpreter *in, const tki_def_node *n)
{
    const int64_t count = tki_extent_of(in, n->bound[0]);
    double *ends = malloc((2 * (size_t)count + 1) * sizeof *ends);
    *c = (choosing){.in = in,
                    .n = n,
                    .keys = {.count = count, .l = ends, .h = ends + count},
                    .position = malloc((2 * (size_t)count + 1) * sizeof *c->position)};
    c->order = c->position + count;
    return ends && c->position;
}

static void end(choosing *c)
{
    free(c->keys.l);
    free(c->position);
}

/* -- Order ---------------------------------------------------------------------------------------------------------- */

static bool is_present(const choosing *c, int64_t key)
{
    return !isnan(c->keys.l[key]);
}

static bool is_before(const choosing *c, int64_t a, int64_t b)
{
    const double *l = c->keys.l, *h = c->keys.h;
    return l[a] > h[b] || (c->n->ties_lower && a < b && l[a] == h[a] && l[b] == h[b] && l[a] == l[b]);
}

/* Did all that stand before it in every evaluation come to earlier positions? */
static bool is_right_of_all(const choosing *c, int64_t key, int64_t position)
{
    for (int64_t i = 0; i < c->keys.count; i++)
        if (c->position[i] >= position && is_before(c, i, key))
            return false;
    return true;
}

/* The same where it is not known which elements came to earlier positions. */
static bool may_stand_at(const choosing *c, int64_t key, int64_t position)
{
    int64_t before = 0, possible = 0;
    for (int64_t i = 0; i < c->keys.count; i++) {
        before += is_before(c, i, key);
        possible += i != key && is_present(c, i) && !is_before(c, key, i);
    }
    return before <= position && position <= possible;
}

static bool is_right(const choosing *c, int64_t key, int64_t position)
{
    if (key < 0 || key >= c->keys.count || !is_present(c, key) || c->position[key] < position)
        return false;
    return c->complete ? is_right_of_all(c, key, position) : may_stand_at(c, key, position);
}

/* The one with the highest range of those that have not come to earlier positions; TKI_NO_INTEGER if there is none. */
static int64_t highest(const choosing *c, int64_t position)
{
    int64_t best = TKI_NO_INTEGER;
    for (int64_t i = 0; i < c->keys.count; i++)
        if (is_present(c, i) && c->position[i] >= position && (best < 0 || c->keys.l[i] > c->keys.l[best]))
            best = i;
    return best;
}

/* One that may stand there; TKI_NO_INTEGER if there is none. */
static int64_t another(const choosing *c, int64_t position)
{
    if (c->complete)
        return highest(c, position);
    for (int64_t i = 0; i < c->keys.count; i++)
        if (is_right(c, i, position))
            return i;
    return TKI_NO_INTEGER;
}

/* -- Without a choice -------------------------------------------------------------------------------------------------- */

/* Positions are given by the lower ends of ranges, as far as they are asked for. */
static int64_t only_at(choosing *c, int64_t position)
{
    if (c->keys.unknown || position < 0 || position >= c->keys.count)
        return TKI_NO_INTEGER;
    for (; c->made <= position; c->made++) {
        const int64_t key = highest(c, c->made);
        if (key < 0)
            return TKI_NO_INTEGER;
        c->position[key] = c->made;
        c->order[c->made] = key;
    }
    const int64_t key = c->order[position];
    for (int64_t i = 0; i < c->keys.count; i++)
        if (i != key && is_present(c, i) &&
            !(c->position[i] < position ? is_before(c, i, key) : is_before(c, key, i)))
            return TKI_NO_INTEGER;
    return key;
}

static int64_t position_of(const choosing *c, const tki_program *p, const tki_lanes *w, int lane)
{
    int64_t index[TKI_MOST_INDICES];
    if (c->n->over != TKI_TOPK)
        return 0;
    for (int i = 0; i < p->index_count; i++)
        index[p->indices[i]] = w->index[p->indices[i]][lane];
    return tki_integer_of(c->in, c->n->integer, index);
}

static void forget(choosing *c)
{
    c->made = 0;
    for (int64_t i = 0; i < c->keys.count; i++)
        c->position[i] = INT64_MAX;
}

static bool same_row(const choosing *c, const tki_lanes *w, int a, int b)
{
    const ptrdiff_t node = c->n - c->in->d->nodes;
    for (int k = 0; k < c->in->outer_count[node]; k++)
        if (w->index[c->in->outer[node][k]][a] != w->index[c->in->outer[node][k]][b])
            return false;
    return true;
}

void tki_compute_places(tki_thread *t, int node, const tki_program *p, const tki_lanes *w, tki_value out[])
{
    choosing c;
    if (!begin(&c, t->in, &t->in->d->nodes[node])) {
        t->status = TK_NO_MEMORY;
    } else {
        for (int i = 0; i < w->count && t->status == TK_OK; i++) {
            if (i == 0 || !same_row(&c, w, i, i - 1)) {
                tki_collect_keys(t, node, w, i, 1, &c.keys);
                forget(&c);
            }
            const int64_t key = only_at(&c, position_of(&c, p, w, i));
            out[i] = key < 0 ? tki_value_of_state(TKI_IS_UNKNOWN) : tki_value_exactly((double)key);
        }
    }
    end(&c);
}

/* -- As a kernel has chosen -------------------------------------------------------------------------------------------- */

/* The elements of one row of an output, numbered along the indices of the output that are none of the row's. */
typedef struct chosen_row {
    int free_count, free[TK_MAX_RANK]; /* axes */
    int64_t strides[TK_MAX_RANK], elements;
} chosen_row;

static chosen_row row_of(const choosing *c, const tki_def_tensor *t)
{
    const ptrdiff_t node = c->n - c->in->d->nodes;
    chosen_row r = {.elements = 1};
    int64_t stride = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        bool outer = false;
        for (int k = 0; k < c->in->outer_count[node]; k++)
            outer |= c->in->outer[node][k] == t->own[axis];
        r.strides[axis] = stride;
        stride *= c->in->constants[t->extent[axis]];
        if (outer)
            continue;
        r.free[r.free_count++] = axis;
        r.elements *= c->in->constants[t->extent[axis]];
    }
    return r;
}

/* Reads all that was chosen for the row of one element, whose place in the output is `flat`. */
static void read_row(choosing *c, int tensor, const chosen_row *r, const tki_program *p, tki_lanes *w, int lane,
                     int64_t flat)
{
    const tki_def_tensor *t = &c->in->d->tensors[tensor];
    int64_t saved[TK_MAX_RANK], last = -1, met = 0;
    forget(c);
    memset(c->order, 0, (size_t)c->keys.count * sizeof *c->order);
    for (int k = 0; k < r->free_count; k++) {
        saved[k] = w->index[t->own[r->free[k]]][lane];
        flat -= saved[k] * r->strides[r->free[k]];
    }
    for (int64_t element = 0; element < r->elements; element++) {
        int64_t rest = element, at = flat;
        for (int k = 0; k < r->free_count; k++) {
            const int64_t extent = c->in->constants[t->extent[r->free[k]]];
            w->index[t->own[r->free[k]]][lane] = rest % extent;
            at += rest % extent * r->strides[r->free[k]];
            rest /= extent;
        }
        const int64_t key = tki_input_integer(c->in, tensor, at), position = position_of(c, p, w, lane);
        if (position < 0 || position >= c->keys.count)
            continue;
        last = position > last ? position : last;
        met += c->order[position] == 0;
        c->order[position] = 1;
        if (key >= 0 && key < c->keys.count && position < c->position[key])
            c->position[key] = position;
    }
    c->complete = met == last + 1;
    for (int k = 0; k < r->free_count; k++)
        w->index[t->own[r->free[k]]][lane] = saved[k];
}

static int64_t judged(choosing *c, int tensor, int64_t position, int64_t flat)
{
    if (!tki_is_given(c->in, tensor))
        return only_at(c, position);
    const int64_t key = tki_input_integer(c->in, tensor, flat);
    if (c->keys.unknown || position < 0 || position >= c->keys.count)
        return TKI_NO_INTEGER;
    return is_right(c, key, position) ? key : another(c, position);
}

tk_status tki_interpreter_choices(const tki_interpreter *in, int tensor, double forms, int64_t first, int64_t count,
                                  int64_t indices[])
{
    const tki_def_tensor *of = &in->d->tensors[tensor];
    const tki_program *p = &in->of_tensor[tensor];
    const int node = tki_resolved(in, of->value);
    tki_thread t;
    choosing c = {.made = 0};
    tki_lanes *w = tki_thread_begin(&t, in) ? tki_lanes_of(&t, p, &t.of_tensor[tensor]) : NULL;
    if (w && !begin(&c, in, &in->d->nodes[node]))
        t.status = TK_NO_MEMORY;
    const chosen_row r = t.status == TK_OK ? row_of(&c, of) : (chosen_row){.elements = 0};
    for (int64_t done = 0; done < count && t.status == TK_OK; done += w->count) {
        w->count = (int)(count - done < TKI_LANES ? count - done : TKI_LANES);
        tki_set_indices(in, w, p->index_count, p->indices, first + done);
        for (int i = 0; i < w->count && t.status == TK_OK; i++) {
            const int64_t flat = first + done + i;
            if (i == 0 || !same_row(&c, w, i, i - 1)) {
                tki_collect_keys(&t, node, w, i, forms, &c.keys);
                if (tki_is_given(in, tensor))
                    read_row(&c, tensor, &r, p, w, i, flat);
                else
                    forget(&c);
            }
            indices[done + i] = judged(&c, tensor, position_of(&c, p, w, i), flat);
        }
    }
    end(&c);
    const tk_status status = t.status;
    tki_thread_end(&t);
    return status;
}
