/* DECIDES. Sums of products in definitions, as products of matrices: the factors' elements are gathered into lines, with zeros where a subscript is
 * out of range. */
#include "interpret/products.h"

#include <stdlib.h>
#include <string.h>

#include "exact/floats.h"
#include "exact/product.h"
#include "exact/round.h"
#include "interpret/buckets.h"
#include "interpret/evaluate.h"

enum { WORTH_IT = 1 << 12 };
#define MOST_PANEL_BYTES (INT64_C(1) << 26) /* of each factor, in each thread */
#define VALUE_BYTES 128                     /* of a value on the way */

static const tki_def_node *node_of(const tki_interpreter *in, int node)
{
    return &in->d->nodes[in->resolved[node]];
}

static bool is_tabled(tk_dtype dtype)
{
    return dtype == TK_F16 || dtype == TK_BF16 || dtype == TK_F32;
}

static bool is_among(int count, const int *indices, int index)
{
    for (int i = 0; i < count; i++)
        if (indices[i] == index)
            return true;
    return false;
}

/* -- Recognising ------------------------------------------------------------------------------------------------------- */

/* Does an integer depend on indices that the reduction binds alone (1), on others alone (0), or on both (-1)? */
static int side_of(const tki_interpreter *in, const tki_def_node *n, int integer)
{
    const tki_def_int *e = &in->d->ints[integer];
    int bound = 0;
    for (int i = 0; i < e->index_count; i++)
        bound += is_among(n->bound_count, n->bound, e->indices[i]);
    return bound == 0 ? 0 : bound == e->index_count ? 1 : -1;
}

/* Does it need elements of a tensor? */
static bool reads_elements(const tki_interpreter *in, int integer)
{
    const tki_def_int *e = &in->d->ints[integer];
    if (e->constant || e->kind == TKI_INT_INDEX)
        return false;
    return e->kind == TKI_INT_ELEMENT || reads_elements(in, e->a) || reads_elements(in, e->b);
}

/* A subscript or the difference of a test that depends on the place in the sum and on the line, by a list of both. */
typedef struct mixed {
    const tki_linear *linear;
    int line_count, line[TKI_MOST_INDICES], place_count, place[TKI_MOST_INDICES];
    int64_t lines, places; /* how many values each of these takes */
    const tki_test *test;  /* NULL: it is a subscript, of an axis with: */
    int64_t extent;
    uint64_t step;
    int64_t *value; /* [lines][places] what it adds to the place of the element, or OUTSIDE */
    int32_t *at;    /* [places of the sum] which of its places that is */
} mixed;

enum { MOST_MIXED = 1 << 18, MOST_MIXED_LISTS = 2 * TK_MAX_RANK };
#define OUTSIDE INT64_MIN

static bool add_to_list(const tki_interpreter *in, int index, int *count, int list[], int64_t *values)
{
    if (is_among(*count, list, index))
        return true;
    list[(*count)++] = index;
    *values *= tki_extent_of(in, index);
    return *values <= MOST_MIXED;
}

/* False where the list would be long, or has no end. */
static bool describe_mixed(const tki_interpreter *in, const tki_def_node *n, const tki_linear *linear, mixed *x)
{
    *x = (mixed){.linear = linear, .lines = 1, .places = 1};
    for (int t = 0; t < linear->count; t++) {
        const tki_def_int *atom = &in->d->ints[linear->terms[t].atom];
        if (reads_elements(in, linear->terms[t].atom))
            return false;
        for (int i = 0; i < atom->index_count; i++) {
            const int index = atom->indices[i];
            const bool kept = is_among(n->bound_count, n->bound, index)
                                  ? add_to_list(in, index, &x->place_count, x->place, &x->places)
                                  : add_to_list(in, index, &x->line_count, x->line, &x->lines);
            if (!kept)
                return false;
        }
    }
    return x->lines * x->places <= MOST_MIXED;
}

static bool is_mixed(const tki_interpreter *in, const tki_def_node *n, const tki_linear *linear)
{
    for (int t = 0; t < linear->count; t++)
        if (side_of(in, n, linear->terms[t].atom) < 0)
            return true;
    return false;
}

/* The factor, 0 or 1, whose lines know whether the test holds; -1: none. */
static int factor_of_test(const tki_interpreter *in, const tki_def_node *n, const tki_test *test,
                          const tki_def_node *const reads[2])
{
    mixed x;
    if (!describe_mixed(in, n, &test->difference, &x))
        return -1;
    for (int which = 0; which < 2; which++) {
        bool all = true;
        for (int i = 0; i < x.line_count; i++)
            all &= is_among(reads[which]->index_count, reads[which]->indices, x.line[i]);
        if (all)
            return which;
    }
    return -1;
}

static void set_from_list(const tki_interpreter *in, int count, const int *list, int64_t flat, int64_t index[])
{
    for (int i = count - 1; i >= 0; i--) {
        index[list[i]] = flat % tki_extent_of(in, list[i]);
        flat /= tki_extent_of(in, list[i]);
    }
}

/* Is an integer at least `least` and below `end` wherever it is asked for, and where its term is left out? */
static bool is_always_inside(const tki_interpreter *in, const tki_def_node *n, const tki_linear *linear,
                             int64_t least, int64_t end)
{
    mixed x;
    int64_t index[TKI_MOST_INDICES] = {0};
    if (linear->count == 1 && in->d->ints[linear->terms[0].atom].kind == TKI_INT_INDEX &&
        in->constants[linear->terms[0].coefficient] == 1 && in->constants[linear->offset] == 0)
        return least <= 0 && tki_extent_of(in, in->d->ints[linear->terms[0].atom].which) <= end;
    if (!describe_mixed(in, n, linear, &x))
        return false;
    for (int64_t i = 0; i < x.lines * x.places; i++) {
        set_from_list(in, x.line_count, x.line, i / x.places, index);
        set_from_list(in, x.place_count, x.place, i % x.places, index);
        const int64_t value = tki_linear_value(in, linear, index);
        if (value < least || value >= end)
            return false;
    }
    return true;
}

static bool is_read_inside(const tki_interpreter *in, const tki_def_node *n, const tki_def_node *read)
{
    const tki_def_tensor *t = &in->d->tensors[read->tensor];
    bool inside = true;
    for (int axis = 0; axis < t->rank && inside && read->operand[0] == TKI_NONE; axis++)
        inside = is_always_inside(in, n, &read->subscripts[axis].linear, 0, in->constants[t->extent[axis]]);
    return inside;
}

/* Does each test of the predicate hold or not by one of the factors alone? Terms that an equation finds are few, and looked at one by one; of matrix
 * units it matters how many terms there are. */
static bool are_masks(const tki_interpreter *in, int node, const tki_def_node *a, const tki_def_node *b)
{
    const tki_def_node *n = &in->d->nodes[node], *const reads[2] = {a, b};
    tki_equation q;
    if (in->numerics != TKI_NUMERICS_IEEE || n->test_count > TK_MAX_RANK || tki_find_equation(in, node, &q) ||
        !is_read_inside(in, n, a) || !is_read_inside(in, n, b))
        return false;
    for (int i = 0; i < n->test_count; i++)
        if (factor_of_test(in, n, &n->tests[i], reads) < 0 ||
            !is_always_inside(in, n, &n->tests[i].difference, TKI_NO_INTEGER + 1, INT64_MAX))
            return false;
    return true;
}

/* A factor: an input, whose subscripts are sums of what depends on the place in the sum, and of what does not, or have a list; zero where it is out of
 * range. */
static bool is_factor(const tki_interpreter *in, const tki_def_node *n, const tki_def_node *read)
{
    if (read->kind != TKI_NODE_READ || in->d->tensors[read->tensor].role != TKI_TENSOR_INPUT ||
        in->d->tensors[read->tensor].integer)
        return false;
    if (read->operand[0] != TKI_NONE && !(in->values[in->resolved[read->operand[0]]].state == TKI_IS_FINITE &&
                                          tki_value_is_zero(&in->values[in->resolved[read->operand[0]]])))
        return false;
    for (int axis = 0; axis < in->d->tensors[read->tensor].rank; axis++) {
        mixed x;
        const tki_linear *linear = &read->subscripts[axis].linear;
        if (is_mixed(in, n, linear) && (read->operand[0] == TKI_NONE || !describe_mixed(in, n, linear, &x)))
            return false;
    }
    return true;
}

/* How many neighbours of an index give the same in all subscripts of a factor, in runs of the same length: 1 where they differ. */
static int64_t run_of(const tki_interpreter *in, const tki_def_node *n, const tki_def_node *read, int index)
{
    for (int i = 0; i < n->test_count; i++)
        for (int side = 0; side < 2; side++) {
            const tki_def_int *e = &in->d->ints[side ? n->tests[i].b : n->tests[i].a];
            if (is_among(e->index_count, e->indices, index))
                return 1;
        }
    const int64_t extent = tki_extent_of(in, index);
    int64_t at[TKI_MOST_INDICES], run = extent;
    for (int axis = 0; axis < in->d->tensors[read->tensor].rank; axis++)
        for (int t = 0; t < read->subscripts[axis].linear.count; t++) {
            const int atom = read->subscripts[axis].linear.terms[t].atom;
            const tki_def_int *e = &in->d->ints[atom];
            if (!is_among(e->index_count, e->indices, index))
                continue;
            if (e->index_count != 1)
                return 1;
            int64_t before = 0, length = 0;
            for (at[index] = 0; at[index] < extent; at[index]++) {
                const int64_t value = tki_integer_of(in, atom, at);
                if (at[index] > 0 && value != before) {
                    run = length < run ? length : run;
                    length = 0;
                }
                before = value;
                length++;
            }
        }
    if (extent % (run > 0 ? run : 1) != 0)
        return 1;
    /* Changes may come at multiples of the shortest run alone. */
    for (int axis = 0; axis < in->d->tensors[read->tensor].rank && run > 1; axis++)
        for (int t = 0; t < read->subscripts[axis].linear.count; t++) {
            const int atom = read->subscripts[axis].linear.terms[t].atom;
            const tki_def_int *e = &in->d->ints[atom];
            if (!is_among(e->index_count, e->indices, index))
                continue;
            int64_t before = 0;
            for (at[index] = 0; at[index] < extent; at[index]++) {
                const int64_t value = tki_integer_of(in, atom, at);
                if (at[index] % run != 0 && value != before)
                    return 1;
                before = value;
            }
        }
    return run;
}

static void add_index(tki_line_indices *to, int index, int64_t extent, int64_t step)
{
    to->index[to->count] = index;
    to->extent[to->count] = extent;
    to->step[to->count++] = step;
    to->lines *= extent;
}

/* Rows differ in indices that the left factor alone depends on, columns in those of the right one, batches in those of both. One whose neighbours
 * give the same to a factor, as the channels of a group do, is shared: between batches and the lines of the other one. */
static bool sort_indices(const tki_interpreter *in, const tki_def_node *n, const tki_def_node *a,
                         const tki_def_node *b, tki_matrices *m)
{
    m->rows.lines = m->cols.lines = m->batches.lines = 1;
    if (n->index_count > TK_MAX_RANK)
        return false;
    for (int i = 0; i < n->index_count; i++) {
        const int index = n->indices[i];
        const int64_t extent = tki_extent_of(in, index);
        const bool left = is_among(a->index_count, a->indices, index);
        const bool right = is_among(b->index_count, b->indices, index);
        if (extent == 0)
            return false;
        if (left != right) {
            add_index(left ? &m->rows : &m->cols, index, extent, 1);
            continue;
        }
        const bool may_run = left && right && m->gathered;
        const int64_t of_left = may_run ? run_of(in, n, a, index) : 1,
                      of_right = may_run ? run_of(in, n, b, index) : 1;
        const int64_t run = of_left > of_right ? of_left : of_right;
        add_index(&m->batches, index, extent / run, run);
        if (run > 1)
            add_index(of_left > of_right ? &m->cols : &m->rows, index, run, 1);
    }
    return true;
}

bool tki_find_matrices(const tki_interpreter *in, int node, tki_matrices *m)
{
    const tki_def_node *n = &in->d->nodes[node], *body = node_of(in, n->operand[0]);
    *m = (tki_matrices){.places = 1};
    if (n->over != TKI_SUM || body->kind != TKI_NODE_PRIMITIVE || body->primitive != TKI_MULTIPLY)
        return false;
    const tki_def_node *a = node_of(in, body->operand[0]), *b = node_of(in, body->operand[1]);
    if (a == b || tki_is_constant(in, in->resolved[body->operand[0]]) ||
        tki_is_constant(in, in->resolved[body->operand[1]]))
        return false;
    m->left = body->operand[0];
    m->right = body->operand[1];
    m->gathered = is_factor(in, n, a) && is_factor(in, n, b) && is_tabled(tki_dtype_of(in, a->tensor)) &&
                  tki_dtype_of(in, a->tensor) == tki_dtype_of(in, b->tensor);
    m->masked = n->test_count > 0;
    if (m->masked && !(m->gathered && are_masks(in, node, a, b)))
        return false;
    double places = 1;
    for (int k = 0; k < n->bound_count; k++)
        places *= (double)tki_extent_of(in, n->bound[k]);
    if (places < 1 || places * 16 * (m->gathered ? (double)sizeof(float) : VALUE_BYTES) > (double)MOST_PANEL_BYTES ||
        !sort_indices(in, n, a, b, m))
        return false;
    m->places = (int64_t)places;
    const double elements = (double)m->rows.lines * (double)m->cols.lines;
    if (!m->gathered && elements < 2 * (double)(m->rows.lines + m->cols.lines))
        return false;
    return elements >= 16 && elements * places >= WORTH_IT;
}

/* -- Gathering ------------------------------------------------------------------------------------------------------------ */

/* A factor's subscripts at each place of the sum, without what depends on the line. */
typedef struct gatherer {
    const tki_interpreter *in;
    const tki_def_node *n, *read;
    const char *data;
    int bytes, rank;
    bool checked; /* a subscript may be out of range */
    bool masked;  /* terms are left out */
    int64_t places, extent[TK_MAX_RANK];
    uint64_t step[TK_MAX_RANK]; /* of an axis in the tensor */
    bool is_mixed[TK_MAX_RANK]; /* or it is a sum: */
    int64_t *part;              /* [rank][places] */
    int64_t *flat;              /* [places] */
    int list_count;
    mixed lists[MOST_MIXED_LISTS];
} gatherer;

/* Of the atoms that depend on bound indices, or of the others with the offset; far out of range where it leaves 64 bits. */
static int64_t part_of(const tki_interpreter *in, const tki_def_node *n, const tki_linear *linear, int side,
                       const int64_t index[])
{
    int64_t sum = side ? 0 : in->constants[linear->offset], product;
    for (int t = 0; t < linear->count; t++) {
        if (side_of(in, n, linear->terms[t].atom) != side)
            continue;
        const int64_t atom = tki_integer_of(in, linear->terms[t].atom, index);
        if (atom == TKI_NO_INTEGER ||
            __builtin_mul_overflow(atom, in->constants[linear->terms[t].coefficient], &product) ||
            __builtin_add_overflow(sum, product, &sum))
            return INT64_MIN / 2;
    }
    return sum < INT64_MIN / 2 || sum > INT64_MAX / 2 ? INT64_MIN / 2 : sum;
}

static void first_place(const tki_def_node *n, int64_t index[])
{
    for (int k = 0; k < n->bound_count; k++)
        index[n->bound[k]] = 0;
}

static void next_place(const tki_interpreter *in, const tki_def_node *n, int64_t index[])
{
    for (int k = n->bound_count - 1; k >= 0 && ++index[n->bound[k]] == tki_extent_of(in, n->bound[k]); k--)
        index[n->bound[k]] = 0;
}

static int64_t place_in_list(const tki_interpreter *in, int count, const int *list, const int64_t index[])
{
    int64_t flat = 0;
    for (int i = 0; i < count; i++)
        flat = flat * tki_extent_of(in, list[i]) + index[list[i]];
    return flat;
}

/* What it adds there. An integer that has left 64 bits is no subscript that is in range; tests have none. */
static tk_status fill_list(const gatherer *g, mixed *x)
{
    int64_t index[TKI_MOST_INDICES] = {0};
    x->value = malloc((size_t)(x->lines * x->places) * sizeof *x->value);
    x->at = malloc((size_t)g->places * sizeof *x->at);
    if (!x->value || !x->at)
        return TK_NO_MEMORY;
    for (int64_t line = 0; line < x->lines; line++)
        for (int64_t place = 0; place < x->places; place++) {
            set_from_list(g->in, x->line_count, x->line, line, index);
            set_from_list(g->in, x->place_count, x->place, place, index);
            const int64_t value = tki_linear_value(g->in, x->linear, index);
            int64_t *to = &x->value[line * x->places + place];
            if (x->test && value == TKI_NO_INTEGER)
                return TK_INTERNAL;
            if (x->test)
                *to = tki_relation_holds(x->test->relation, value, 0) ? 0 : OUTSIDE;
            else
                *to = value >= 0 && value < x->extent ? (int64_t)((uint64_t)value * x->step) : OUTSIDE;
        }
    first_place(g->n, index);
    for (int64_t place = 0; place < g->places; place++) {
        x->at[place] = (int32_t)place_in_list(g->in, x->place_count, x->place, index);
        next_place(g->in, g->n, index);
    }
    return TK_OK;
}

/* Lists of the axes that need one, and of the tests that this factor, `which`, knows of. */
static tk_status make_lists(gatherer *g, int which, const tki_def_node *const reads[2])
{
    tk_status status = TK_OK;
    for (int axis = 0; axis < g->rank && status == TK_OK; axis++) {
        const tki_linear *linear = &g->read->subscripts[axis].linear;
        mixed *x = &g->lists[g->list_count];
        g->is_mixed[axis] = is_mixed(g->in, g->n, linear);
        if (!g->is_mixed[axis])
            continue;
        if (!describe_mixed(g->in, g->n, linear, x))
            return TK_INTERNAL;
        x->extent = g->extent[axis];
        x->step = g->step[axis];
        g->list_count++;
        status = fill_list(g, x);
    }
    for (int i = 0; i < g->n->test_count && status == TK_OK; i++) {
        mixed *x = &g->lists[g->list_count];
        if (factor_of_test(g->in, g->n, &g->n->tests[i], reads) != which)
            continue;
        if (!describe_mixed(g->in, g->n, &g->n->tests[i].difference, x))
            return TK_INTERNAL;
        x->test = &g->n->tests[i];
        g->list_count++;
        status = fill_list(g, x);
    }
    return status;
}

static tk_status gatherer_make(const tki_interpreter *in, const tki_def_node *n, int which, const int nodes[2],
                               int64_t places, gatherer *g)
{
    const tki_def_node *const reads[2] = {node_of(in, nodes[0]), node_of(in, nodes[1])}, *read = reads[which];
    const tki_def_tensor *t = &in->d->tensors[read->tensor];
    *g = (gatherer){.in = in,
                    .n = n,
                    .read = read,
                    .data = tki_input_of(in, read->tensor),
                    .bytes = (int)tk_dtype_size(tki_dtype_of(in, read->tensor)),
                    .rank = t->rank,
                    .checked = read->operand[0] != TKI_NONE,
                    .masked = n->test_count > 0,
                    .places = places,
                    .part = malloc((size_t)places * (size_t)(t->rank + 1) * sizeof *g->part)};
    if (!g->part)
        return TK_NO_MEMORY;
    g->flat = g->part + places * t->rank;
    uint64_t step = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        g->extent[axis] = in->constants[t->extent[axis]];
        g->step[axis] = step;
        step *= (uint64_t)g->extent[axis];
    }
    const tk_status status = make_lists(g, which, reads);
    if (status != TK_OK)
        return status;
    int64_t index[TKI_MOST_INDICES] = {0};
    for (int64_t place = 0; place < places; place++) {
        uint64_t flat = 0;
        for (int axis = 0; axis < t->rank; axis++) {
            const int64_t part = g->is_mixed[axis] ? 0 : part_of(in, n, &read->subscripts[axis].linear, 1, index);
            g->part[axis * places + place] = part;
            flat += (uint64_t)part * g->step[axis];
        }
        g->flat[place] = (int64_t)flat;
        next_place(in, n, index);
    }
    return TK_OK;
}

static void gatherer_free(gatherer *g)
{
    for (int i = 0; i < g->list_count; i++) {
        free(g->lists[i].value);
        free(g->lists[i].at);
    }
    free(g->part);
}

/* The number in a line, and its size, infinite if it is NaN. */
static double number_at(const gatherer *g, const char *line, int64_t place)
{
    const tk_dtype dtype = tki_dtype_of(g->in, g->read->tensor);
    return dtype == TK_F32 ? (double)((const float *)(const void *)line)[place]
                           : tki_decode(dtype, tki_element_bits(dtype, line, place));
}

static double size_at(const gatherer *g, const char *line, int64_t place)
{
    const double size = fabs(number_at(g, line, place));
    return isnan(size) ? INFINITY : size;
}

static void put_element(const gatherer *g, char *line, int64_t place, bool there, size_t flat)
{
    if (g->bytes == 2)
        ((uint16_t *)line)[place] = there ? ((const uint16_t *)g->data)[flat] : 0;
    else
        ((uint32_t *)line)[place] = there ? ((const uint32_t *)g->data)[flat] : 0;
}

/* One line of the factor. Whether an element is in range is said by its subscripts; where it lies, modulo 2^64, by the sum of both parts. Where
 * terms are left out, whole[] has them, too, and the largest of its elements is returned, infinite if there is NaN. */
static double gather(const gatherer *g, const int64_t index[], char *line, char *whole)
{
    uint64_t from = 0;
    int64_t base[TK_MAX_RANK];
    const int64_t *lists[MOST_MIXED_LISTS];
    double largest = 0;
    for (int axis = 0; axis < g->rank; axis++) {
        base[axis] = g->is_mixed[axis] ? 0 : part_of(g->in, g->n, &g->read->subscripts[axis].linear, 0, index);
        from += (uint64_t)base[axis] * g->step[axis];
    }
    for (int i = 0; i < g->list_count; i++)
        lists[i] = g->lists[i].value +
                   g->lists[i].places * place_in_list(g->in, g->lists[i].line_count, g->lists[i].line, index);
    for (int64_t place = 0; place < g->places; place++) {
        bool inside = true, there = true;
        uint64_t flat = from + (uint64_t)g->flat[place];
        for (int axis = 0; g->checked && axis < g->rank; axis++)
            inside &= (uint64_t)(base[axis] + g->part[axis * g->places + place]) < (uint64_t)g->extent[axis];
        for (int i = 0; i < g->list_count; i++) {
            const int64_t more = lists[i][g->lists[i].at[place]];
            flat += more == OUTSIDE ? 0 : (uint64_t)more;
            *(g->lists[i].test ? &there : &inside) &= more != OUTSIDE;
        }
        put_element(g, line, place, inside && there, (size_t)flat);
        if (g->masked)
            put_element(g, whole, place, inside, (size_t)flat);
    }
    for (int64_t place = 0; place < g->places && g->masked; place++)
        largest = tki_above(largest, size_at(g, whole, place));
    return largest;
}

void tki_add_line(const tki_line_indices *of, int64_t line, const int64_t *table_step, int64_t index[],
                  int64_t *table)
{
    for (int i = of->count - 1; i >= 0; i--) {
        const int64_t at = line % of->extent[i] * of->step[i];
        line /= of->extent[i];
        index[of->index[i]] += at;
        *table += at * table_step[of->index[i]];
    }
}

/* -- Filling ----------------------------------------------------------------------------------------------------------- */

/* Which signs there may be among the terms of a sum. */
typedef struct signs {
    bool negative, positive;
} signs;

/* The sum's enclosure, the sum of its products' magnitudes and how many of them are not zero are all that its bound needs. */
static tki_value value_of(const tki_interpreter *in, const tki_product_element *e, tki_terms terms, signs may_be)
{
    const tki_sum sum = {.sum = 0.5 * (e->lo + e->hi),
                         .d = 0.5 * (e->hi - e->lo) * TKI_DOUBLE_SLACK,
                         .mass = e->sum.magnitude,
                         .terms = (int64_t)e->sum.products,
                         .nonzero = (int64_t)e->sum.nonzero,
                         .negative = may_be.negative,
                         .positive = may_be.positive,
                         .state = TKI_IS_FINITE};
    tki_value y = tki_sum_value(&in->rules, &sum, terms);
    if (e->flags == 0)
        return y;
    const unsigned overflow = y.state & TKI_IS_ANY ? TKI_IS_NAN : 0;
    if (tki_sum_is_nan(e->flags))
        return tki_value_of_state(TKI_IS_NAN);
    return tki_value_of_state((e->flags & TKI_SUM_HAS_PLUS_INF ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF) | overflow);
}

/* What all boxes share, and what one thread has of its own. */
typedef struct filler {
    const tki_interpreter *in;
    const tki_def_node *n;
    tki_matrices m;
    gatherer left, right;
    tk_dtype dtype;
    const void *tables;
    tki_terms terms;
    int64_t down, across; /* lines of a box */
    int64_t *table_step;  /* [index_count] how far apart neighbours lie in the table */
    tki_value *entries;
} filler;

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* A box's lines of one factor, as they are multiplied and with what is left out. */
typedef struct gathered {
    const gatherer *g;
    char *lines, *whole;
    int64_t at[TKI_PRODUCT_BOX]; /* in the table */
    double largest[TKI_PRODUCT_BOX];
} gathered;

static bool is_left_out(const gathered *p, int64_t line, int64_t place)
{
    const int64_t at = (line * p->g->places + place) * p->g->bytes;
    return memcmp(p->lines + at, p->whole + at, (size_t)p->g->bytes) != 0;
}

/* May a product that is left out be no number? All factors are numbers. */
static bool may_one_overflow(const filler *f, const gathered *left, int64_t i, const gathered *right, int64_t k)
{
    const char *a = left->whole + i * f->m.places * left->g->bytes;
    const char *b = right->whole + k * f->m.places * right->g->bytes;
    for (int64_t place = 0; place < f->m.places; place++) {
        const double x = number_at(left->g, a, place), y = number_at(right->g, b, place);
        if (!(4 * fabs(x * y) >= TKI_FP32_OVERFLOW) || !(is_left_out(left, i, place) || is_left_out(right, k, place)))
            continue;
        const tki_value one = tki_value_exactly(x), other = tki_value_exactly(y);
        if (tki_multiplied(&f->in->rules, &one, &other).state != TKI_IS_FINITE)
            return true;
    }
    return false;
}

/* One element. An overflow has the sign that some term has, which is looked for where there may be one. */
static tki_value element_of(const filler *f, const tki_product_element *e, const gathered *left, int64_t i,
                            const gathered *right, int64_t k)
{
    const tki_value y = value_of(f->in, e, f->terms, (signs){true, true});
    if (e->flags != 0 || !(y.state & TKI_IS_INFINITE))
        return y;
    const char *a = left->lines + i * f->m.places * left->g->bytes;
    const char *b = right->lines + k * f->m.places * right->g->bytes;
    signs found = {false, false};
    for (int64_t place = 0; place < f->m.places; place++) {
        const double product = number_at(left->g, a, place) * number_at(right->g, b, place);
        found.negative |= product < 0;
        found.positive |= product > 0;
    }
    return value_of(f->in, e, f->terms, found);
}

/* A term that is left out is one more that makes the sum NaN, where it may be no number. */
static tki_value masked_value(const filler *f, const tki_product_element *e, const gathered *left, int64_t i,
                              const gathered *right, int64_t k)
{
    const double largest = left->largest[i] * right->largest[k];
    if (isinf(left->largest[i]) || isinf(right->largest[k]))
        return tki_value_of_state(TKI_NOT_MADE);
    tki_value y = element_of(f, e, left, i, right, k);
    if (4 * largest >= TKI_FP32_OVERFLOW && may_one_overflow(f, left, i, right, k))
        y.state |= TKI_IS_NAN;
    return y;
}

/* Gathers lines `first` to `first` + `count`, the indices of the batch being set. */
static void gather_lines(const filler *f, const tki_line_indices *of, int64_t first, int64_t count,
                         const int64_t batch[], gathered *to)
{
    int64_t index[TKI_MOST_INDICES];
    for (int64_t line = 0; line < count; line++) {
        const int64_t at = line * f->m.places * to->g->bytes;
        memcpy(index, batch, (size_t)f->in->d->index_count * sizeof *index);
        to->at[line] = 0;
        tki_add_line(of, first + line, f->table_step, index, &to->at[line]);
        to->largest[line] = gather(to->g, index, to->lines + at, to->whole + at);
    }
}

/* One box of one batch. */
static tk_status fill_box(const filler *f, int64_t which, char *panels)
{
    const int64_t boxes_across = (f->m.cols.lines + f->across - 1) / f->across;
    const int64_t boxes_down = (f->m.rows.lines + f->down - 1) / f->down;
    const int64_t row = which / boxes_across % boxes_down * f->down, col = which % boxes_across * f->across;
    const int64_t rows = at_most(f->down, f->m.rows.lines - row), cols = at_most(f->across, f->m.cols.lines - col);
    const int64_t of_left = f->down * f->m.places * f->left.bytes, of_right = f->across * f->m.places * f->left.bytes;
    int64_t batch[TKI_MOST_INDICES] = {0}, table = 0;
    const bool padded = f->in->pads_by_absence &&
                        (f->left.read->operand[0] != TKI_NONE || f->right.read->operand[0] != TKI_NONE);
    char *whole = f->m.masked ? panels + of_left + of_right : panels; /* which nobody asks for */
    gathered left = {.g = &f->left, .lines = panels, .whole = whole};
    gathered right = {.g = &f->right, .lines = panels + of_left, .whole = whole + of_left};
    tki_product_box *made;
    tki_add_line(&f->m.batches, which / boxes_across / boxes_down, f->table_step, batch, &table);
    gather_lines(f, &f->m.rows, row, rows, batch, &left);
    gather_lines(f, &f->m.cols, col, cols, batch, &right);
    const tki_product p = {.left = {left.lines, f->m.places, 1},
                           .right = {right.lines, f->m.places, 1},
                           .places = f->m.places,
                           .dtype = f->dtype,
                           .numerics = TKI_NUMERICS_IEEE,
                           .tables = f->tables};
    const tk_status status = tki_product_box_make(&p, &(tki_box){0, rows, 0, cols}, &made);
    if (status != TK_OK)
        return status;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < cols; k++) {
            const tki_product_element e = tki_product_at(made, i, k);
            f->entries[table + left.at[i] + right.at[k]] =
                padded && tki_sum_is_nan(e.flags)
                    ? tki_value_of_state(TKI_NOT_MADE) /* by what is out of range alone? */
                : f->m.masked ? masked_value(f, &e, &left, i, &right, k)
                              : element_of(f, &e, &left, i, &right, k);
        }
    tki_product_box_free(made);
    return TK_OK;
}

static tk_status fill_gathered(const filler *f)
{
    const int64_t boxes = f->m.batches.lines * ((f->m.rows.lines + f->down - 1) / f->down) *
                          ((f->m.cols.lines + f->across - 1) / f->across);
    tk_status status = TK_OK;
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
        char *panels = malloc((size_t)((f->down + f->across) * f->m.places * f->left.bytes) * (f->m.masked ? 2 : 1));
        tk_status found = panels ? TK_OK : TK_NO_MEMORY;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < boxes; i++)
            if (found == TK_OK)
                found = fill_box(f, i, panels);
        if (found != TK_OK)
#pragma omp critical(tki_fill_products)
            status = found;
        free(panels);
        tki_floats_end(&floats);
    }
    return status;
}

int64_t tki_value_box_lines(int64_t places)
{
    return at_most(TKI_PRODUCT_BOX, MOST_PANEL_BYTES / (places * VALUE_BYTES));
}

static tk_status fill_valued(const filler *f, int node)
{
    const int64_t lines = tki_value_box_lines(f->m.places);
    const int64_t across = (f->m.cols.lines + lines - 1) / lines, down = (f->m.rows.lines + lines - 1) / lines;
    void *tables;
    tk_status status = tki_product_open(TK_F32, &tables); /* which puts OpenBLAS to one thread */
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
        tki_thread t;
        (void)tki_thread_begin(&t, f->in);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < f->m.batches.lines * down * across; i++) {
            const int64_t row = i / across % down * lines, col = i % across * lines;
            int64_t batch[TKI_MOST_INDICES] = {0};
            tki_value_box box = {
                .m = &f->m,
                .node = node,
                .first = {row, col},
                .count = {at_most(lines, f->m.rows.lines - row), at_most(lines, f->m.cols.lines - col)},
                .batch = batch,
                .table_step = f->table_step};
            tki_add_line(&f->m.batches, i / across / down, f->table_step, batch, &box.table);
            if (t.status == TK_OK)
                (void)tki_fill_value_box(&t, &box, f->entries);
        }
        if (t.status != TK_OK)
#pragma omp critical(tki_fill_products)
            status = t.status;
        tki_thread_end(&t);
        tki_floats_end(&floats);
    }
    return status;
}

static tk_status fill_of_inputs(filler *f)
{
    void *tables;
    f->dtype = tki_dtype_of(f->in, node_of(f->in, f->m.left)->tensor);
    f->terms = tki_terms_of_products(f->in, f->m.left, f->m.right);
    f->down = f->across = at_most(TKI_PRODUCT_BOX,
                                  MOST_PANEL_BYTES / (f->m.places * (int64_t)tk_dtype_size(f->dtype)));
    tk_status status = tki_product_open(f->dtype, &tables);
    f->tables = tables;
    if (status == TK_OK)
        status = gatherer_make(f->in, f->n, 0, (const int[]){f->m.left, f->m.right}, f->m.places, &f->left);
    if (status == TK_OK)
        status = gatherer_make(f->in, f->n, 1, (const int[]){f->m.left, f->m.right}, f->m.places, &f->right);
    if (status == TK_OK)
        status = fill_gathered(f);
    gatherer_free(&f->left);
    gatherer_free(&f->right);
    return status;
}

tk_status tki_fill_products(const tki_interpreter *in, int node, tki_value entries[])
{
    int64_t step = 1;
    filler f = {.in = in, .n = &in->d->nodes[node], .entries = entries};
    if (!tki_find_matrices(in, node, &f.m))
        return TK_INTERNAL;
    f.table_step = calloc((size_t)in->d->index_count + 1, sizeof *f.table_step);
    if (!f.table_step)
        return TK_NO_MEMORY;
    for (int i = f.n->index_count - 1; i >= 0; i--) {
        f.table_step[f.n->indices[i]] = step;
        step *= tki_extent_of(in, f.n->indices[i]);
    }
    tk_status status = f.m.gathered ? fill_of_inputs(&f) : fill_valued(&f, node);
    free(f.table_step);
    if (status == TK_OK && (f.m.masked || in->pads_by_absence))
        status = tki_fill_not_made(in, &(tki_filling){TKI_KEPT_PRODUCT, node}, entries);
    return status;
}
