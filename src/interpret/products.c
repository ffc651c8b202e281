/* DECIDES. Products of matrices in definitions. */
#include "interpret/products.h"

#include "exact/floats.h"
#include "exact/product.h"

enum { WORTH_IT = 1 << 12 };

static const tki_def_node *node_of(const tki_interpreter *in, int node)
{
    return &in->d->nodes[in->resolved[node]];
}

/* The index that is a subscript by itself; TKI_NONE for any other. */
static int lone_index(const tki_interpreter *in, const tki_subscript *subscript)
{
    const tki_linear *linear = &subscript->linear;
    if (linear->count != 1 || in->constants[linear->offset] != 0 || in->constants[linear->terms[0].coefficient] != 1)
        return TKI_NONE;
    const tki_def_int *atom = &in->d->ints[linear->terms[0].atom];
    return atom->kind == TKI_INT_INDEX ? atom->which : TKI_NONE;
}

/* A factor: an input read at indices alone, all different; how far apart elements lie that differ by one in that index, 0 if it has none. */
static bool is_factor(const tki_interpreter *in, const tki_def_node *n)
{
    if (n->kind != TKI_NODE_READ || in->d->tensors[n->tensor].role != TKI_TENSOR_INPUT ||
        in->d->tensors[n->tensor].integer || n->operand[0] != TKI_NONE)
        return false;
    for (int axis = 0; axis < in->d->tensors[n->tensor].rank; axis++) {
        const int index = lone_index(in, &n->subscripts[axis]);
        for (int k = 0; k < axis; k++)
            if (lone_index(in, &n->subscripts[k]) == index)
                return false;
        if (index == TKI_NONE)
            return false;
    }
    return true;
}

static int64_t stride_of(const tki_interpreter *in, const tki_def_node *n, int index)
{
    const tki_def_tensor *t = &in->d->tensors[n->tensor];
    int64_t stride = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        if (lone_index(in, &n->subscripts[axis]) == index)
            return stride;
        stride *= in->constants[t->extent[axis]];
    }
    return 0;
}

/* The one index of `n` but for `bound` that `other` does not have: TKI_NONE if there is none; false if there are several. */
static bool find_line(const tki_interpreter *in, const tki_def_node *n, const tki_def_node *other, int bound,
                      int *line)
{
    *line = TKI_NONE;
    for (int axis = 0; axis < in->d->tensors[n->tensor].rank; axis++) {
        const int index = lone_index(in, &n->subscripts[axis]);
        if (index == bound || stride_of(in, other, index) != 0)
            continue;
        if (*line != TKI_NONE)
            return false;
        *line = index;
    }
    return true;
}

/* One of the strides has to be 1; of a single line it may be said to be. */
static bool settle_strides(int64_t lines, int64_t *line, int64_t *place)
{
    if (lines == 1 && *place != 1)
        *line = 1;
    return *line == 1 || *place == 1;
}

bool tki_find_matrices(const tki_interpreter *in, int node, tki_matrices *m)
{
    const tki_def_node *n = &in->d->nodes[node], *body = node_of(in, n->operand[0]);
    if (n->over != TKI_SUM || n->test_count || n->bound_count != 1 || body->kind != TKI_NODE_PRIMITIVE ||
        body->primitive != TKI_MULTIPLY)
        return false;
    const tki_def_node *a = node_of(in, body->operand[0]), *b = node_of(in, body->operand[1]);
    const int bound = n->bound[0];
    if (a == b || !is_factor(in, a) || !is_factor(in, b))
        return false;
    const tk_dtype dtype = tki_dtype_of(in, a->tensor);
    *m = (tki_matrices){.left = body->operand[0],
                        .right = body->operand[1],
                        .places = tki_extent_of(in, bound),
                        .left_place = stride_of(in, a, bound),
                        .right_place = stride_of(in, b, bound),
                        .batches = 1};
    if (dtype != tki_dtype_of(in, b->tensor) || (dtype != TK_F16 && dtype != TK_BF16 && dtype != TK_F32) ||
        !m->left_place || !m->right_place || !find_line(in, a, b, bound, &m->row) ||
        !find_line(in, b, a, bound, &m->col))
        return false;
    m->rows = m->row == TKI_NONE ? 1 : tki_extent_of(in, m->row);
    m->cols = m->col == TKI_NONE ? 1 : tki_extent_of(in, m->col);
    m->left_line = m->row == TKI_NONE ? 0 : stride_of(in, a, m->row);
    m->right_line = m->col == TKI_NONE ? 0 : stride_of(in, b, m->col);
    for (int i = 0; i < n->index_count; i++)
        if (n->indices[i] != m->row && n->indices[i] != m->col)
            m->batches *= tki_extent_of(in, n->indices[i]);
    return settle_strides(m->rows, &m->left_line, &m->left_place) &&
           settle_strides(m->cols, &m->right_line, &m->right_place) && m->rows * m->cols >= 16 &&
           m->rows * m->cols * m->places >= WORTH_IT;
}

/* -- Filling ----------------------------------------------------------------------------------------------------------- */

/* Where a batch begins in the factors and in the table, and how far apart its lines and columns are there. */
typedef struct batch {
    int64_t left, right, table, row_step, col_step;
} batch;

static batch batch_of(const tki_interpreter *in, int node, const tki_matrices *m, int64_t which)
{
    const tki_def_node *n = &in->d->nodes[node];
    batch b = {.left = 0};
    int64_t step = 1;
    for (int i = n->index_count - 1; i >= 0; i--) {
        const int index = n->indices[i];
        const int64_t extent = tki_extent_of(in, index);
        if (index == m->row) {
            b.row_step = step;
        } else if (index == m->col) {
            b.col_step = step;
        } else {
            const int64_t at = which % extent;
            which /= extent;
            b.left += at * stride_of(in, node_of(in, m->left), index);
            b.right += at * stride_of(in, node_of(in, m->right), index);
            b.table += at * step;
        }
        step *= extent;
    }
    return b;
}

/* The sum's enclosure, the sum of its products' magnitudes and how many of them are not zero are all that its bound needs. */
static tki_value value_of(const tki_interpreter *in, const tki_product_element *e, tki_terms terms)
{
    tki_row row;
    tki_row_begin(&row, TKI_SUM);
    row.terms = (int64_t)e->sum.products;
    row.sum = (tki_sum){.sum = 0.5 * (e->lo + e->hi),
                        .d = 0.5 * (e->hi - e->lo) * TKI_DOUBLE_SLACK,
                        .mass = e->sum.magnitude,
                        .terms = row.terms,
                        .nonzero = (int64_t)e->sum.nonzero,
                        .negative = true,
                        .positive = true,
                        .state = TKI_IS_FINITE};
    tki_value y = tki_row_end(&in->rules, &row, terms, NULL);
    if (e->flags == 0)
        return y;
    const unsigned overflow = y.state & TKI_IS_ANY ? TKI_IS_NAN : 0;
    if (tki_sum_is_nan(e->flags))
        return tki_value_of_state(TKI_IS_NAN);
    return tki_value_of_state((e->flags & TKI_SUM_HAS_PLUS_INF ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF) | overflow);
}

static tk_status fill_box(const tki_interpreter *in, const tki_product *p, const tki_box *box, const batch *b,
                          tki_terms terms, tki_value entries[])
{
    tki_product_box *made;
    const tk_status status = tki_product_box_make(p, box, &made);
    if (status != TK_OK)
        return status;
    for (int64_t row = box->row_begin; row < box->row_end; row++)
        for (int64_t col = box->col_begin; col < box->col_end; col++) {
            const tki_product_element e = tki_product_at(made, row - box->row_begin, col - box->col_begin);
            entries[b->table + row * b->row_step + col * b->col_step] = value_of(in, &e, terms);
        }
    tki_product_box_free(made);
    return TK_OK;
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

tk_status tki_fill_products(const tki_interpreter *in, int node, tki_value entries[])
{
    tki_matrices m;
    void *tables;
    if (!tki_find_matrices(in, node, &m))
        return TK_INTERNAL;
    const int left = node_of(in, m.left)->tensor, right = node_of(in, m.right)->tensor;
    const tk_dtype dtype = tki_dtype_of(in, left);
    const int64_t bytes = (int64_t)tk_dtype_size(dtype);
    const tki_terms terms = tki_terms_of_products(in, m.left, m.right);
    tk_status status = tki_product_open(dtype, &tables);
    const int64_t down = (m.rows + TKI_PRODUCT_BOX - 1) / TKI_PRODUCT_BOX;
    const int64_t across = (m.cols + TKI_PRODUCT_BOX - 1) / TKI_PRODUCT_BOX;
    if (status != TK_OK)
        return status;
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < m.batches * down * across; i++) {
            const batch b = batch_of(in, node, &m, i / (down * across));
            const int64_t row = i / across % down * TKI_PRODUCT_BOX, col = i % across * TKI_PRODUCT_BOX;
            const tki_box box = {row, at_most(row + TKI_PRODUCT_BOX, m.rows), col,
                                 at_most(col + TKI_PRODUCT_BOX, m.cols)};
            const tki_product p = {
                .left = {(const char *)tki_input_of(in, left) + b.left * bytes, m.left_line, m.left_place},
                .right = {(const char *)tki_input_of(in, right) + b.right * bytes, m.right_line, m.right_place},
                .places = m.places,
                .dtype = dtype,
                .numerics = TKI_NUMERICS_IEEE,
                .tables = tables};
            const tk_status found = fill_box(in, &p, &box, &b, terms, entries);
            if (found != TK_OK)
#pragma omp critical(tki_fill_products)
                status = found;
        }
        tki_floats_end(&floats);
    }
    return status;
}
