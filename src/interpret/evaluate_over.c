/* DECIDES. Reductions of the rows of many elements: their terms are brought together TKI_LANES at a time, whatever the sizes of rows are. */
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "interpret/evaluate.h"

static const tki_def_node *node_of(const tki_thread *t, int node)
{
    return &t->in->d->nodes[node];
}

/* -- Reductions ------------------------------------------------------------------------------------------------------ */

/* One reduction of the rows of some elements. */
typedef struct reduction {
    tki_thread *t;
    const tki_def_node *n;
    const tki_program *body;
    const tki_lanes *from; /* whose elements the rows are of */
    tki_lanes *w;          /* the terms that are brought together */
    tki_row *rows;         /* [TKI_LANES] */
    int left, right; /* the factors of a product, nodes[], whose terms are not rounded by themselves; else TKI_NONE */
    int pass;
    bool keeps_absent; /* terms that are absent may make it NaN */
} reduction;

/* A sum's terms that are products, if its body is one. */
static void find_factors(const tki_thread *t, const tki_def_node *n, int *left, int *right)
{
    const tki_def_node *root = node_of(t, tki_resolved(t->in, n->operand[0]));
    const bool sum = n->over == TKI_SUM || n->over == TKI_MEAN || n->over == TKI_CUMSUM;
    const bool product = root->kind == TKI_NODE_PRIMITIVE &&
                         (root->primitive == TKI_MULTIPLY || root->primitive == TKI_SQUARE);
    *left = *right = TKI_NONE;
    if (!sum || !product || tki_is_constant(t->in, tki_resolved(t->in, n->operand[0])))
        return;
    *left = root->operand[0];
    *right = root->primitive == TKI_SQUARE ? root->operand[0] : root->operand[1];
}

/* Which terms are there: predicates, and of what accumulates those up to the element. Unknown integers make a row unknown. */
static void find_active(reduction *r)
{
    const tki_def_node *n = r->n;
    tki_lanes *w = r->w;
    int64_t line[TKI_LANES];
    for (int i = 0; i < w->count; i++)
        w->active[i] = true;
    for (int test = 0; test < n->test_count; test++) {
        tki_line_of(r->t, r->body, w, &n->tests[test].difference, line);
        for (int i = 0; i < w->count; i++) {
            if (line[i] == TKI_NO_INTEGER) {
                const tki_value unknown = tki_value_of_state(TKI_IS_UNKNOWN);
                tki_row_take(&r->t->in->rules, &r->rows[w->owner[i]], &unknown);
            }
            w->active[i] &= line[i] != TKI_NO_INTEGER && tki_relation_holds(n->tests[test].relation, line[i], 0);
        }
    }
}

/* Evaluates the terms that have been brought together, and gives them to their rows. */
static void flush(reduction *r)
{
    tki_lanes *w = r->w;
    const tki_rules *rules = &r->t->in->rules;
    if (w->count == 0)
        return;
    find_active(r);
    if (!tki_run(r->t, r->body, w))
        return;
    const tki_operand term = tki_operand_of(r->t, w, r->n->operand[0]);
    const tki_operand a = r->left == TKI_NONE ? term : tki_operand_of(r->t, w, r->left);
    const tki_operand b = r->left == TKI_NONE ? term : tki_operand_of(r->t, w, r->right);
    for (int i = 0; i < w->count; i++) {
        tki_row *row = &r->rows[w->owner[i]];
        row->here = w->place[i];
        if (!w->active[i]) {
            if (r->keeps_absent && (term.at[i * term.step].state & TKI_IS_ANY))
                row->absent |= TKI_IS_NAN;
        } else if (r->pass == 1) {
            tki_row_take_again(rules, row, &term.at[i * term.step]);
        } else if (r->left != TKI_NONE) {
            tki_row_take_product(rules, row, &a.at[i * a.step], &b.at[i * b.step]);
        } else {
            tki_row_take(rules, row, &term.at[i * term.step]);
        }
    }
    w->count = 0;
}

/* All terms of the row of one element. */
static void bring(reduction *r, int element)
{
    const tki_interpreter *in = r->t->in;
    const tki_def_node *n = r->n;
    tki_lanes *w = r->w;
    int64_t bound[TKI_MOST_INDICES] = {0}, place = 0;
    const bool accumulates = n->over == TKI_CUMSUM || n->over == TKI_CUMPROD || n->over == TKI_CUMMAX ||
                             n->over == TKI_CUMMIN;
    const int outer_count = in->outer_count[n - in->d->nodes], *outer = in->outer[n - in->d->nodes];
    const int inner = n->bound_count - 1;
    for (int k = 0; k < n->bound_count; k++)
        if (tki_extent_of(in, n->bound[k]) == 0)
            return;
    for (bool more = true; more && r->t->status == TK_OK;) {
        /* Along the innermost index, as far as there is room. */
        int64_t end = tki_extent_of(in, n->bound[inner]);
        if (accumulates)
            end = r->from->index[n->at[0]][element] + 1;
        int64_t count = end - bound[inner];
        if (count > TKI_LANES - w->count)
            count = TKI_LANES - w->count;
        for (int k = 0; k < outer_count; k++)
            for (int64_t i = 0; i < count; i++)
                w->index[outer[k]][w->count + i] = r->from->index[outer[k]][element];
        for (int k = 0; k < inner; k++)
            for (int64_t i = 0; i < count; i++)
                w->index[n->bound[k]][w->count + i] = bound[k];
        for (int64_t i = 0; i < count; i++) {
            w->index[n->bound[inner]][w->count + i] = bound[inner] + i;
            w->owner[w->count + i] = element;
            w->place[w->count + i] = place + i;
        }
        w->count += (int)count;
        place += count;
        bound[inner] += count;
        if (w->count == TKI_LANES)
            flush(r);
        if (bound[inner] < end)
            continue;
        bound[inner] = 0;
        more = false;
        for (int k = inner - 1; k >= 0 && !more; k--) {
            more = ++bound[k] < tki_extent_of(in, n->bound[k]);
            if (!more)
                bound[k] = 0;
        }
    }
}

/* Rows of elements with the same indices come one after another, and are reduced once: first[i] is the element whose row is that of i. */
static void reduce_rows(reduction *r, const int first[])
{
    const tki_rules *rules = &r->t->in->rules;
    const int passes = tki_over_has_rows(r->n->over) ? 2 : 1;
    for (int i = 0; i < r->from->count; i++) {
        tki_row_begin(&r->rows[i], r->n->over);
        r->rows[i].ties_lower = r->n->ties_lower;
    }
    for (r->pass = 0; r->pass < passes; r->pass++) {
        for (int i = 0; i < r->from->count && r->pass == 1; i++)
            tki_row_turn(rules, &r->rows[i]);
        r->w->count = 0;
        for (int i = 0; i < r->from->count; i++)
            if (first[i] == i)
                bring(r, i);
        flush(r);
    }
}

static const tki_value *parameter_of(const tki_thread *t, const tki_def_node *n)
{
    return n->operand[1] == TKI_NONE ? NULL : &t->in->values[tki_resolved(t->in, n->operand[1])];
}

static bool open_reduction(tki_thread *t, int node, const tki_lanes *from, tki_row *rows, reduction *r)
{
    const tki_interpreter *in = t->in;
    *r = (reduction){.t = t,
                     .n = node_of(t, node),
                     .body = &in->of_body[node],
                     .from = from,
                     .w = tki_lanes_of(t, &in->of_body[node], &t->of_body[node]),
                     .rows = rows,
                     .keeps_absent = in->specials &&
                                     (in->d->nodes[node].over == TKI_SUM || in->d->nodes[node].over == TKI_MEAN)};
    find_factors(t, r->n, &r->left, &r->right);
    return r->w != NULL;
}

static bool same_indices(const tki_lanes *w, int count, const int *indices, int a, int b)
{
    for (int k = 0; k < count; k++)
        if (w->index[indices[k]][a] != w->index[indices[k]][b])
            return false;
    return true;
}

/* first[i]: the first of the elements before i, and i itself, whose indices in the list are the same up to i. */
static void find_first(const tki_lanes *w, int count, const int *indices, int first[])
{
    for (int i = 0; i < w->count; i++)
        first[i] = i > 0 && same_indices(w, count, indices, i, i - 1) ? first[i - 1] : i;
}

static tki_value with_absent(const tki_row *row, tki_value y)
{
    y.state |= row->absent;
    return y;
}

/* What collapses: a value for each row. */
static void compute_collapsed(tki_thread *t, int node, const tki_lanes *w, tki_value out[])
{
    const tki_def_node *n = node_of(t, node);
    reduction r;
    tki_row *rows = malloc(TKI_LANES * sizeof *rows);
    int first[TKI_LANES];
    find_first(w, n->index_count, n->indices, first);
    if (!rows)
        t->status = TK_NO_MEMORY;
    if (rows && open_reduction(t, node, w, rows, &r)) {
        reduce_rows(&r, first);
        const tki_terms terms = tki_terms_of_products(t->in, r.left, r.right);
        for (int i = 0; i < w->count; i++)
            out[i] = first[i] == i
                         ? with_absent(&rows[i], tki_row_end(&t->in->rules, &rows[i], terms, parameter_of(t, n)))
                         : out[first[i]];
    }
    free(rows);
}

/* The rows of elements of softmax, log_softmax and standardize. */
void tki_compute_rows(tki_thread *t, int node, const tki_lanes *w, const int first[], tki_row rows[])
{
    reduction r;
    if (!open_reduction(t, node, w, rows, &r))
        return;
    reduce_rows(&r, first);
    for (int i = 0; i < w->count; i++)
        if (first[i] == i)
            tki_row_finish(&t->in->rules, &rows[i], parameter_of(t, r.n));
}

/* Elements of what keeps its axes: their terms are those at `at`, or half an extent away. */
static tki_lanes *terms_at(tki_thread *t, int node, const tki_lanes *w, tki_value signs[])
{
    const tki_interpreter *in = t->in;
    const tki_def_node *n = node_of(t, node);
    tki_lanes *to = tki_lanes_of(t, &in->of_body[node], &t->of_body[node]);
    if (!to)
        return NULL;
    to->count = w->count;
    for (int k = 0; k < in->outer_count[node]; k++)
        memcpy(to->index[in->outer[node][k]], w->index[in->outer[node][k]], (size_t)w->count * sizeof(int64_t));
    memset(to->place, 0, sizeof to->place);
    for (int k = 0; k < n->bound_count; k++) {
        const int64_t extent = tki_extent_of(in, n->bound[k]), *at = w->index[n->at[k]];
        for (int i = 0; i < w->count; i++) {
            to->index[n->bound[k]][i] = at[i];
            to->place[i] = to->place[i] * extent + at[i];
        }
        for (int i = 0; i < w->count && n->over == TKI_ROTATE_HALF; i++) {
            const bool low = at[i] < extent / 2;
            to->index[n->bound[k]][i] = low ? at[i] + extent / 2 : at[i] - extent / 2;
            signs[i] = tki_value_exactly(low ? -1 : 1);
        }
    }
    return to;
}

static void compute_keeping(tki_thread *t, int node, const tki_lanes *w, tki_value out[])
{
    const tki_interpreter *in = t->in;
    const tki_def_node *n = node_of(t, node);
    const tki_table *table = &in->rows[node];
    tki_value signs[TKI_LANES];
    int64_t flat[TKI_LANES];
    int first[TKI_LANES];
    tki_row *rows = NULL;
    if (n->over != TKI_ROTATE_HALF && !table->entries) {
        rows = malloc(TKI_LANES * sizeof *rows);
        find_first(w, in->outer_count[node], in->outer[node], first);
        if (!rows)
            t->status = TK_NO_MEMORY;
        else
            tki_compute_rows(t, node, w, first, rows);
    } else if (table->entries) {
        tki_table_places(t, table, w, flat);
    }
    tki_lanes *to = t->status == TK_OK ? terms_at(t, node, w, signs) : NULL;
    if (to && tki_run(t, &in->of_body[node], to)) {
        const tki_operand term = tki_operand_of(t, to, n->operand[0]);
        for (int i = 0; i < w->count; i++) {
            const tki_value *x = &term.at[i * term.step];
            if (n->over == TKI_ROTATE_HALF)
                out[i] = signs[i].v < 0 ? tki_negated(x) : *x;
            else
                out[i] = tki_row_element(&in->rules,
                                         rows ? &rows[first[i]] : &((const tki_row *)table->entries)[flat[i]], x,
                                         to->place[i]);
        }
        int64_t line[TKI_LANES];
        for (int test = 0; test < n->test_count; test++) {
            tki_line_of(t, &in->of_body[node], to, &n->tests[test].difference, line);
            for (int i = 0; i < w->count; i++)
                if (line[i] == TKI_NO_INTEGER || !tki_relation_holds(n->tests[test].relation, line[i], 0)) {
                    out[i] = n->over == TKI_LOG_SOFTMAX ? tki_value_of_state(TKI_IS_MINUS_INF) : tki_value_exactly(0);
                    out[i].state |= n->over == TKI_LOG_SOFTMAX ? 0 : TKI_IS_ABSENT;
                }
        }
    }
    free(rows);
}

void tki_compute_over(tki_thread *t, int node, const tki_lanes *w, tki_value out[])
{
    const tki_over over = node_of(t, node)->over;
    const tki_table *table = &t->in->kept[node];
    if (table->entries) {
        int64_t flat[TKI_LANES];
        tki_table_places(t, table, w, flat);
        for (int i = 0; i < w->count; i++)
            out[i] = ((const tki_value *)table->entries)[flat[i]];
    } else if (over == TKI_SOFTMAX || over == TKI_LOG_SOFTMAX || over == TKI_STANDARDIZE || over == TKI_ROTATE_HALF) {
        compute_keeping(t, node, w, out);
    } else {
        compute_collapsed(t, node, w, out);
    }
}
