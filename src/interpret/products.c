/* DECIDES. Sums of products in definitions, as products of matrices: the factors' elements are gathered into lines, with zeros where a subscript is
 * out of range. */
#include "interpret/products.h"

#include <stdlib.h>
#include <string.h>

#include "exact/floats.h"
#include "exact/product.h"
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

/* A factor: an input, whose subscripts are sums of what depends on the place in the sum, and of what does not; zero where it is out of range. */
static bool is_factor(const tki_interpreter *in, const tki_def_node *n, const tki_def_node *read)
{
    if (read->kind != TKI_NODE_READ || in->d->tensors[read->tensor].role != TKI_TENSOR_INPUT ||
        in->d->tensors[read->tensor].integer)
        return false;
    if (read->operand[0] != TKI_NONE && !(in->values[in->resolved[read->operand[0]]].state == TKI_IS_FINITE &&
                                          tki_value_is_zero(&in->values[in->resolved[read->operand[0]]])))
        return false;
    for (int axis = 0; axis < in->d->tensors[read->tensor].rank; axis++)
        for (int t = 0; t < read->subscripts[axis].linear.count; t++)
            if (side_of(in, n, read->subscripts[axis].linear.terms[t].atom) < 0)
                return false;
    return true;
}

/* How many neighbours of an index give the same in all subscripts of a factor, in runs of the same length: 1 where they differ. */
static int64_t run_of(const tki_interpreter *in, const tki_def_node *read, int index)
{
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
        const int64_t of_left = may_run ? run_of(in, a, index) : 1, of_right = may_run ? run_of(in, b, index) : 1;
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
    if (n->over != TKI_SUM || n->test_count || body->kind != TKI_NODE_PRIMITIVE || body->primitive != TKI_MULTIPLY)
        return false;
    const tki_def_node *a = node_of(in, body->operand[0]), *b = node_of(in, body->operand[1]);
    if (a == b || tki_is_constant(in, in->resolved[body->operand[0]]) ||
        tki_is_constant(in, in->resolved[body->operand[1]]))
        return false;
    m->left = body->operand[0];
    m->right = body->operand[1];
    m->gathered = is_factor(in, n, a) && is_factor(in, n, b) && is_tabled(tki_dtype_of(in, a->tensor)) &&
                  tki_dtype_of(in, a->tensor) == tki_dtype_of(in, b->tensor);
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
    int64_t places, extent[TK_MAX_RANK];
    int64_t *part; /* [rank][places] */
    int64_t *flat; /* [places] */
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

static tk_status gatherer_make(const tki_interpreter *in, const tki_def_node *n, int node, int64_t places,
                               gatherer *g)
{
    const tki_def_node *read = node_of(in, node);
    const tki_def_tensor *t = &in->d->tensors[read->tensor];
    *g = (gatherer){.in = in,
                    .n = n,
                    .read = read,
                    .data = tki_input_of(in, read->tensor),
                    .bytes = (int)tk_dtype_size(tki_dtype_of(in, read->tensor)),
                    .rank = t->rank,
                    .checked = read->operand[0] != TKI_NONE,
                    .places = places,
                    .part = malloc((size_t)places * (size_t)(t->rank + 1) * sizeof *g->part)};
    if (!g->part)
        return TK_NO_MEMORY;
    g->flat = g->part + places * t->rank;
    int64_t index[TKI_MOST_INDICES] = {0};
    for (int64_t place = 0; place < places; place++) {
        uint64_t flat = 0;
        for (int axis = 0; axis < t->rank; axis++) {
            g->extent[axis] = in->constants[t->extent[axis]];
            const int64_t part = part_of(in, n, &read->subscripts[axis].linear, 1, index);
            g->part[axis * places + place] = part;
            flat = flat * (uint64_t)g->extent[axis] + (uint64_t)part;
        }
        g->flat[place] = (int64_t)flat;
        for (int k = n->bound_count - 1; k >= 0 && ++index[n->bound[k]] == tki_extent_of(in, n->bound[k]); k--)
            index[n->bound[k]] = 0;
    }
    return TK_OK;
}

/* One line of the factor. Whether an element is in range is said by its subscripts; where it lies, modulo 2^64, by the sum of both parts. `there`, or
 * NULL, gets which are in range. */
static void gather(const gatherer *g, const int64_t index[], char *line, bool *there)
{
    uint64_t from = 0;
    int64_t base[TK_MAX_RANK];
    for (int axis = 0; axis < g->rank; axis++) {
        base[axis] = part_of(g->in, g->n, &g->read->subscripts[axis].linear, 0, index);
        from = from * (uint64_t)g->extent[axis] + (uint64_t)base[axis];
    }
    for (int64_t place = 0; place < g->places; place++) {
        bool inside = true;
        for (int axis = 0; g->checked && axis < g->rank; axis++)
            inside &= (uint64_t)(base[axis] + g->part[axis * g->places + place]) < (uint64_t)g->extent[axis];
        const size_t flat = (size_t)(from + (uint64_t)g->flat[place]);
        if (g->bytes == 2)
            ((uint16_t *)line)[place] = inside ? ((const uint16_t *)g->data)[flat] : 0;
        else
            ((uint32_t *)line)[place] = inside ? ((const uint32_t *)g->data)[flat] : 0;
        if (there)
            there[place] = inside;
    }
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

/* The sum's enclosure, the sum of its products' magnitudes and how many of them are not zero are all that its bound needs. */
static tki_value value_of(const tki_interpreter *in, const tki_product_element *e, tki_terms terms)
{
    const tki_sum sum = {.sum = 0.5 * (e->lo + e->hi),
                         .d = 0.5 * (e->hi - e->lo) * TKI_DOUBLE_SLACK,
                         .mass = e->sum.magnitude,
                         .terms = (int64_t)e->sum.products,
                         .nonzero = (int64_t)e->sum.nonzero,
                         .negative = true,
                         .positive = true,
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

/* Gathers lines `first` to `first` + `count`, the indices of the batch being set; offsets[] in the table. */
static void gather_lines(const filler *f, const gatherer *g, const tki_line_indices *of, int64_t first, int64_t count,
                         const int64_t batch[], char *panel, bool *there, int64_t offsets[])
{
    int64_t index[TKI_MOST_INDICES];
    for (int64_t line = 0; line < count; line++) {
        memcpy(index, batch, (size_t)f->in->d->index_count * sizeof *index);
        offsets[line] = 0;
        tki_add_line(of, first + line, f->table_step, index, &offsets[line]);
        gather(g, index, panel + line * g->places * g->bytes, there ? there + line * g->places : NULL);
    }
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* One line's element at a place; what is out of range is an absent term. */
static tki_value element_of_line(const gatherer *g, const char *line, const bool *there, int64_t place)
{
    const float *decoded = g->in->decoded[g->read->tensor];
    tki_value y = tki_value_of_input(g->bytes == 2 ? (double)decoded[((const uint16_t *)line)[place]]
                                                   : (double)((const float *)line)[place]);
    y.state |= there[place] ? 0 : TKI_IS_ABSENT;
    return y;
}

/* A sum that is NaN, term by term: it may be so by what is out of range alone. */
static tki_value padded_value(const filler *f, const char *left, const bool *of_left, const char *right,
                              const bool *of_right)
{
    tki_row row;
    tki_row_begin(&row, TKI_SUM);
    for (int64_t place = 0; place < f->m.places && row.sum.state != TKI_IS_NAN; place++) {
        const tki_value a = element_of_line(&f->left, left, of_left, place);
        const tki_value b = element_of_line(&f->right, right, of_right, place);
        tki_row_take_product(&f->in->rules, &row, &a, &b);
    }
    return row.sum.state == TKI_IS_NAN ? tki_value_of_state(TKI_IS_NAN)
                                       : tki_row_end(&f->in->rules, &row, f->terms, NULL);
}

/* One box of one batch. */
static tk_status fill_box(const filler *f, int64_t which, char *panels)
{
    const int64_t boxes_across = (f->m.cols.lines + f->across - 1) / f->across;
    const int64_t boxes_down = (f->m.rows.lines + f->down - 1) / f->down;
    const int64_t row = which / boxes_across % boxes_down * f->down, col = which % boxes_across * f->across;
    const int64_t rows = at_most(f->down, f->m.rows.lines - row), cols = at_most(f->across, f->m.cols.lines - col);
    int64_t batch[TKI_MOST_INDICES] = {0}, table = 0, row_at[TKI_PRODUCT_BOX], col_at[TKI_PRODUCT_BOX];
    const int64_t bytes = f->m.places * f->left.bytes;
    char *right = panels + f->down * bytes;
    const bool padded = f->in->pads_by_absence && (f->left.checked || f->right.checked);
    bool *of_left = padded ? (bool *)(right + f->across * bytes) : NULL;
    bool *of_right = padded ? of_left + f->down * f->m.places : NULL;
    tki_product_box *made;
    tki_add_line(&f->m.batches, which / boxes_across / boxes_down, f->table_step, batch, &table);
    gather_lines(f, &f->left, &f->m.rows, row, rows, batch, panels, of_left, row_at);
    gather_lines(f, &f->right, &f->m.cols, col, cols, batch, right, of_right, col_at);
    const tki_product p = {.left = {panels, f->m.places, 1},
                           .right = {right, f->m.places, 1},
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
            f->entries[table + row_at[i] + col_at[k]] = padded && tki_sum_is_nan(e.flags)
                                                            ? padded_value(
                                                                  f, panels + i * bytes, of_left + i * f->m.places,
                                                                  right + k * bytes, of_right + k * f->m.places)
                                                            : value_of(f->in, &e, f->terms);
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
        char *panels = malloc((size_t)((f->down + f->across) * f->m.places * (f->left.bytes + 1)));
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
        status = gatherer_make(f->in, f->n, f->m.left, f->m.places, &f->left);
    if (status == TK_OK)
        status = gatherer_make(f->in, f->n, f->m.right, f->m.places, &f->right);
    if (status == TK_OK)
        status = fill_gathered(f);
    free(f->left.part);
    free(f->right.part);
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
    const tk_status status = f.m.gathered ? fill_of_inputs(&f) : fill_valued(&f, node);
    free(f.table_step);
    return status;
}
