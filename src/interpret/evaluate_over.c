/* DECIDES. Reductions of the rows of many elements: their terms are brought together TKI_LANES at a time, whatever the sizes of rows are. */
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "interpret/buckets.h"
#include "interpret/choices.h"
#include "interpret/row_blocks.h"

static const tki_def_node *node_of(const tki_thread *t, int node)
{
    return &t->in->d->nodes[node];
}

/* -- Reductions ------------------------------------------------------------------------------------------------------ */

/* One reduction of the rows of some elements. */
typedef struct reduction {
    tki_thread *t;
    int node;
    const tki_def_node *n;
    const tki_program *body;
    const tki_lanes *from; /* whose elements the rows are of */
    tki_lanes *w;          /* the terms that are brought together */
    tki_row *rows;         /* [TKI_LANES] */
    int left, right; /* the factors of a product, nodes[], whose terms are not rounded by themselves; else TKI_NONE */
    const tki_buckets *buckets; /* of whose terms those are brought that a row looks at; NULL: all */
    const int64_t *special; /* how many terms of a row are NaN or infinite, by special_place(); NULL: none matter */
    int64_t met[TKI_LANES]; /* and how many of these were brought */
    const int64_t *upto;    /* [TKI_LANES] of what accumulates: the last term of each row */
    tki_value **prefixes;   /* [TKI_LANES] where the results up to each term go, NULL: nowhere */
    const int64_t *since;   /* [TKI_LANES] from which term on */
    int64_t step;           /* and how far apart */
    tki_keys *keys;         /* what terms become instead, without rows */
    int64_t *counts;        /* [TKI_LANES] only those that are NaN or infinite are counted, without rows */
    double forms;
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
            if (line[i] == TKI_NO_INTEGER && r->keys) {
                r->keys->unknown = true;
            } else if (line[i] == TKI_NO_INTEGER) {
                const tki_value unknown = tki_value_of_state(TKI_IS_UNKNOWN);
                tki_row_take(&r->rows[w->owner[i]], &unknown);
            }
            w->active[i] &= line[i] != TKI_NO_INTEGER && tki_relation_holds(n->tests[test].relation, line[i], 0);
        }
    }
}

/* Where a careful evaluation finds the key; of one that may be NaN nothing is said. */
static void take_key(reduction *r, const tki_value *term, int64_t place)
{
    const tki_value key = r->n->over == TKI_ARGMIN ? tki_negated(term) : *term;
    const double off = (key.d + key.e * r->forms) * TKI_DOUBLE_SLACK;
    double l = INFINITY, h = -INFINITY;
    if (key.state & TKI_IS_FINITE) {
        l = off > 0 ? nextafter(key.v - off, -INFINITY) : key.v;
        h = off > 0 ? nextafter(key.v + off, INFINITY) : key.v;
    }
    r->keys->l[place] = key.state & (TKI_IS_MINUS_INF | TKI_IS_NAN) ? -INFINITY : l;
    r->keys->h[place] = key.state & (TKI_IS_PLUS_INF | TKI_IS_NAN) ? INFINITY : h;
    r->keys->unknown |= (key.state & TKI_IS_UNKNOWN) != 0;
}

static tki_value with_absent(const tki_row *row, tki_value y)
{
    y.state |= row->absent;
    return y;
}

/* What the row is reduced to up to here. */
static void put_prefix(reduction *r, const tki_row *row, int owner, int64_t place)
{
    const tki_terms terms = tki_terms_of_products(r->t->in, r->left, r->right);
    r->prefixes[owner][(place - r->since[owner]) * r->step] = with_absent(
        row, tki_row_end(&r->t->in->rules, row, terms, NULL));
}

/* Does a term that is left out make NaN? Zero times an infinity does, and an infinity that is added to the other one. */
static bool may_make_nan(tki_over over, const tki_value *term)
{
    const bool sum = over == TKI_SUM || over == TKI_MEAN;
    const unsigned infinite = sum ? TKI_IS_INFINITE : over == TKI_MINIMUM ? TKI_IS_MINUS_INF : TKI_IS_PLUS_INF;
    return term->state & (infinite | TKI_IS_NAN | TKI_IS_UNKNOWN);
}

static void take_term(reduction *r, int i, const tki_operand *term, const tki_operand *a, const tki_operand *b)
{
    const tki_lanes *w = r->w;
    const tki_rules *rules = &r->t->in->rules;
    tki_row *row = &r->rows[w->owner[i]];
    row->here = w->place[i];
    const bool special = r->keeps_absent && may_make_nan(r->n->over, &term->at[i * term->step]);
    r->met[w->owner[i]] += special;
    if (!w->active[i]) {
        row->absent |= special ? TKI_IS_NAN : 0;
    } else if (r->pass == 1) {
        tki_row_take_again(rules, row, &term->at[i * term->step]);
    } else if (r->left != TKI_NONE) {
        tki_row_take_product(rules, row, &a->at[i * a->step], &b->at[i * b->step]);
    } else {
        tki_row_take(row, &term->at[i * term->step]);
    }
    if (r->prefixes && w->place[i] >= r->since[w->owner[i]])
        put_prefix(r, row, w->owner[i], w->place[i]);
}

static void take_terms(reduction *r, int from, int end)
{
    const tki_operand term = tki_operand_of(r->t, r->w, r->n->operand[0]);
    const tki_operand a = r->left == TKI_NONE ? term : tki_operand_of(r->t, r->w, r->left);
    const tki_operand b = r->left == TKI_NONE ? term : tki_operand_of(r->t, r->w, r->right);
    for (int i = from; i < end; i++)
        take_term(r, i, &term, &a, &b);
}

/* Terms as blocks, those of each row that are there at once. */
static void take_blocks(reduction *r, const tki_block *a, const tki_block *b)
{
    const tki_lanes *w = r->w;
    const tki_rules *rules = &r->t->in->rules;
    for (int from = 0, end; from < w->count; from = end) {
        tki_row *row = &r->rows[w->owner[from]];
        for (end = from + 1; end < w->count && w->active[end] == w->active[from] && w->owner[end] == w->owner[from] &&
                             w->place[end] == w->place[from] + end - from;)
            end++;
        if (!w->active[from])
            continue;
        row->here = w->place[from];
        bool taken = true;
        if (r->pass == 1)
            taken = tki_row_take_block_again(rules, row, a, from, end - from);
        else if (b)
            tki_row_take_products(row, a, b, from, end - from);
        else
            taken = tki_row_take_block(row, a, from, end - from);
        if (!taken)
            take_terms(r, from, end);
    }
}

/* May those that are not there be passed over? */
static bool may_skip(const reduction *r)
{
    return !r->t->in->watch && !r->prefixes && !r->keeps_absent && !r->keys && !r->counts;
}

/* What terms become instead. */
static void note_terms(reduction *r)
{
    const tki_lanes *w = r->w;
    const tki_operand term = tki_operand_of(r->t, w, r->n->operand[0]);
    for (int i = 0; i < w->count; i++) {
        if (r->counts) {
            r->counts[w->owner[i]] += may_make_nan(r->n->over, &term.at[i * term.step]);
            continue;
        }
        r->keys->l[w->place[i]] = r->keys->h[w->place[i]] = NAN;
        if (w->active[i])
            take_key(r, &term.at[i * term.step], w->place[i]);
    }
}

/* Evaluates the terms that have been brought together, and gives them to their rows. */
static void flush(reduction *r)
{
    tki_lanes *w = r->w;
    tki_block room[2];
    const bool product = r->left != TKI_NONE && r->pass == 0;
    if (w->count == 0)
        return;
    if (!r->counts)
        find_active(r);
    const bool may = may_skip(r);
    if (may && !memchr(w->active, true, (size_t)w->count * sizeof *w->active)) {
        w->count = 0;
        return;
    }
    if (!tki_run(r->t, r->body, w))
        return;
    if (r->counts || r->keys) {
        note_terms(r);
        w->count = 0;
        return;
    }
    const tki_block *a = may ? tki_block_of(r->t, w, product ? r->left : r->n->operand[0], product, &room[0]) : NULL;
    const tki_block *b = a && product ? tki_block_of(r->t, w, r->right, true, &room[1]) : NULL;
    if (a && (b || !product))
        take_blocks(r, a, b);
    else
        take_terms(r, 0, w->count);
    w->count = 0;
}

static void set_outer(reduction *r, int element, int64_t count)
{
    const tki_interpreter *in = r->t->in;
    const int outer_count = in->outer_count[r->node], *outer = in->outer[r->node];
    for (int k = 0; k < outer_count; k++)
        for (int64_t i = 0; i < count; i++)
            r->w->index[outer[k]][r->w->count + i] = r->from->index[outer[k]][element];
}

/* The terms that the row of one element has to look at. */
static void bring_some(reduction *r, int element)
{
    const tki_interpreter *in = r->t->in;
    const tki_def_node *n = r->n;
    tki_lanes *w = r->w;
    int64_t index[TKI_MOST_INDICES], count;
    for (int k = 0; k < in->outer_count[r->node]; k++)
        index[in->outer[r->node][k]] = r->from->index[in->outer[r->node][k]][element];
    const struct tki_bucket_term *terms = tki_buckets_find(in, r->buckets, r->node, index, &count);
    w->run = TKI_NONE;
    for (int64_t i = 0; i < count && r->t->status == TK_OK; i++) {
        set_outer(r, element, 1);
        int64_t rest = terms[i].place;
        for (int k = n->bound_count - 1; k >= 0; k--) {
            const int64_t extent = tki_extent_of(in, n->bound[k]);
            w->index[n->bound[k]][w->count] = rest % extent;
            rest /= extent;
        }
        w->owner[w->count] = element;
        w->place[w->count] = terms[i].place;
        if (++w->count == TKI_LANES)
            flush(r);
    }
}

/* All terms of the row of one element, or those up to one. */
static void bring(reduction *r, int element)
{
    const tki_interpreter *in = r->t->in;
    const tki_def_node *n = r->n;
    tki_lanes *w = r->w;
    int64_t bound[TKI_MOST_INDICES] = {0}, place = 0;
    const int inner = n->bound_count - 1;
    for (int k = 0; k < n->bound_count; k++)
        if (tki_extent_of(in, n->bound[k]) == 0)
            return;
    if (w->count >= TKI_LANES / 4) /* a row of its own is faster */
        flush(r);
    for (bool more = true; more && r->t->status == TK_OK;) {
        /* Along the innermost index, as far as there is room. */
        int64_t end = tki_extent_of(in, n->bound[inner]);
        if (r->upto)
            end = r->upto[element] + 1;
        int64_t count = end - bound[inner];
        if (count > TKI_LANES - w->count)
            count = TKI_LANES - w->count;
        w->run = w->count == 0 ? n->bound[inner] : TKI_NONE;
        set_outer(r, element, count);
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

/* The place of the element's row in the table of special terms. */
static int64_t special_place(const reduction *r, int element)
{
    const tki_table *table = &r->t->in->special[r->node];
    int64_t flat = 0;
    for (int k = 0; k < table->index_count; k++)
        flat = flat * tki_extent_of(r->t->in, table->indices[k]) + r->from->index[table->indices[k]][element];
    return flat;
}

/* Rows of elements with the same indices come one after another, and are reduced once: first[i] is the element whose row is that of i. */
static void reduce_rows(reduction *r, const int first[])
{
    const tki_rules *rules = &r->t->in->rules;
    const int passes = tki_over_has_rows(r->n->over) ? 2 : 1;
    for (int i = 0; i < r->from->count; i++)
        tki_row_begin(&r->rows[i], r->n->over);
    for (r->pass = 0; r->pass < passes; r->pass++) {
        for (int i = 0; i < r->from->count && r->pass == 1; i++)
            tki_row_turn(rules, &r->rows[i]);
        r->w->count = 0;
        memset(r->met, 0, sizeof r->met);
        for (int i = 0; i < r->from->count; i++) {
            if (first[i] != i)
                continue;
            if (r->buckets)
                bring_some(r, i);
            else
                bring(r, i);
        }
        flush(r);
    }
    for (int i = 0; i < r->from->count && r->buckets && r->special; i++)
        if (first[i] == i && r->special[special_place(r, i)] > r->met[i])
            r->rows[i].absent |= TKI_IS_NAN;
}

static const tki_value *parameter_of(const tki_thread *t, const tki_def_node *n)
{
    return n->operand[1] == TKI_NONE ? NULL : &t->in->values[tki_resolved(t->in, n->operand[1])];
}

static bool open_reduction(tki_thread *t, int node, const tki_lanes *from, tki_row *rows, reduction *r)
{
    const tki_interpreter *in = t->in;
    *r = (reduction){.t = t,
                     .node = node,
                     .n = node_of(t, node),
                     .buckets = in->buckets[node],
                     .special = in->special[node].entries,
                     .body = &in->of_body[node],
                     .from = from,
                     .w = tki_lanes_of(t, &in->of_body[node], &t->of_body[node]),
                     .rows = rows,
                     .keeps_absent = tki_keeps_absent(in, &in->d->nodes[node])};
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

/* `with` says which terms are taken, and where results go. */
static void accumulate(tki_thread *t, int node, const tki_lanes *w, const reduction *with, const int first[])
{
    reduction r;
    tki_row *rows = malloc(TKI_LANES * sizeof *rows);
    if (!rows)
        t->status = TK_NO_MEMORY;
    if (rows && open_reduction(t, node, w, rows, &r)) {
        r.upto = with->upto;
        r.since = with->since;
        r.prefixes = with->prefixes;
        r.step = with->step;
        reduce_rows(&r, first);
    }
    free(rows);
}

void tki_compute_prefixes(tki_thread *t, int node, const tki_lanes *w, tki_value *out[], int64_t step)
{
    int64_t since[TKI_LANES] = {0}, upto[TKI_LANES];
    int first[TKI_LANES];
    const int64_t extent = tki_extent_of(t->in, node_of(t, node)->bound[0]);
    for (int i = 0; i < w->count; i++) {
        upto[i] = extent - 1;
        first[i] = i;
    }
    accumulate(t, node, w, &(reduction){.upto = upto, .since = since, .prefixes = out, .step = step}, first);
}

/* Of elements one behind the other in the same row the terms are taken once. */
static void compute_accumulated(tki_thread *t, int node, const tki_lanes *w, tki_value out[])
{
    const tki_interpreter *in = t->in;
    const int64_t *at = w->index[node_of(t, node)->at[0]];
    int64_t since[TKI_LANES], upto[TKI_LANES];
    tki_value *prefixes[TKI_LANES];
    int first[TKI_LANES];
    for (int i = 0; i < w->count; i++) {
        const bool next = i > 0 && at[i] == at[i - 1] + 1 &&
                          same_indices(w, in->outer_count[node], in->outer[node], i, i - 1);
        first[i] = next ? first[i - 1] : i;
        since[i] = at[i];
        prefixes[i] = &out[i];
        upto[first[i]] = at[i];
    }
    accumulate(t, node, w, &(reduction){.upto = upto, .since = since, .prefixes = prefixes, .step = 1}, first);
}

void tki_count_special(tki_thread *t, int node, const tki_lanes *w, int64_t counts[])
{
    reduction r;
    if (!open_reduction(t, node, w, NULL, &r))
        return;
    r.counts = counts;
    r.w->count = 0;
    memset(counts, 0, (size_t)w->count * sizeof *counts);
    for (int i = 0; i < w->count; i++)
        bring(&r, i);
    flush(&r);
}

/* Do neighbouring elements lie closer together in what the body reads than the terms of one do? */
static bool goes_by_columns(const tki_thread *t, int node, const tki_lanes *w)
{
    const tki_interpreter *in = t->in;
    const tki_def_node *n = node_of(t, node);
    const tki_program *body = &in->of_body[node];
    const bool sum = n->over == TKI_SUM || n->over == TKI_MEAN;
    bool outer = false;
    int by_element = 0, by_term = 0;
    for (int k = 0; k < in->outer_count[node]; k++)
        outer |= in->outer[node][k] == w->run;
    if (!sum || !outer || n->test_count > 0 || in->watch || w->count < TKI_LANES / 4)
        return false;
    for (int i = 0; i < body->count; i++) {
        const tki_def_node *read = node_of(t, body->order[i]);
        const int rank = read->kind == TKI_NODE_READ ? in->d->tensors[read->tensor].rank : 0;
        const tki_def_int *last = rank ? &in->d->ints[read->subscripts[rank - 1].value] : NULL;
        for (int k = 0; last && k < last->index_count; k++) {
            by_element += last->indices[k] == w->run;
            by_term += last->indices[k] == n->bound[n->bound_count - 1];
        }
    }
    return by_element > by_term;
}

/* Sums of all elements at once, a term of each at a time; false where that is for single terms. */
static bool add_by_columns(tki_thread *t, int node, const tki_lanes *w, tki_row rows[])
{
    const tki_interpreter *in = t->in;
    const tki_def_node *n = node_of(t, node);
    tki_lanes *to = tki_lanes_of(t, &in->of_body[node], &t->of_body[node]);
    int64_t bound[TK_MAX_RANK] = {0}, places = 1;
    int left, right;
    tki_columns columns;
    tki_block room[2];
    if (!to)
        return false;
    find_factors(t, n, &left, &right);
    const bool product = left != TKI_NONE;
    to->count = w->count;
    to->run = w->run;
    for (int k = 0; k < in->outer_count[node]; k++)
        memcpy(to->index[in->outer[node][k]], w->index[in->outer[node][k]], (size_t)w->count * sizeof(int64_t));
    for (int k = 0; k < n->bound_count; k++)
        places *= tki_extent_of(in, n->bound[k]);
    tki_columns_begin(&columns, w->count);
    for (int64_t place = 0; place < places; place++) {
        for (int k = 0; k < n->bound_count; k++)
            for (int i = 0; i < w->count; i++)
                to->index[n->bound[k]][i] = bound[k];
        if (!tki_run(t, &in->of_body[node], to))
            return false;
        const tki_block *a = tki_block_of(t, to, product ? left : n->operand[0], product, &room[0]);
        const tki_block *b = a && product ? tki_block_of(t, to, right, true, &room[1]) : NULL;
        if (!a || (product && !b))
            return false;
        tki_columns_take(&columns, a, b);
        for (int k = n->bound_count - 1; k >= 0 && ++bound[k] == tki_extent_of(in, n->bound[k]); k--)
            bound[k] = 0;
    }
    tki_columns_end(&columns, n->over, rows);
    return true;
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
        if (!goes_by_columns(t, node, w) || !add_by_columns(t, node, w, rows))
            reduce_rows(&r, first);
        const tki_terms terms = tki_terms_of_products(t->in, r.left, r.right);
        for (int i = 0; i < w->count; i++)
            out[i] = first[i] == i
                         ? with_absent(&rows[i], tki_row_end(&t->in->rules, &rows[i], terms, parameter_of(t, n)))
                         : out[first[i]];
    }
    free(rows);
}

void tki_collect_keys(tki_thread *t, int node, const tki_lanes *w, int element, double forms, tki_keys *keys)
{
    reduction r;
    keys->unknown = false;
    if (!open_reduction(t, node, w, NULL, &r))
        return;
    r.keys = keys;
    r.forms = forms;
    r.w->count = 0;
    bring(&r, element);
    flush(&r);
}

/* The rows of elements of softmax, log_softmax and standardize. */
void tki_compute_rows(tki_thread *t, int node, const tki_lanes *w, const int first[], tki_row rows[])
{
    reduction r;
    if (!open_reduction(t, node, w, rows, &r))
        return;
    reduce_rows(&r, first);
    for (int i = 0; i < w->count; i++)
        rows[i].state |= rows[i].absent;
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
    to->run = n->bound_count > 0 && n->over != TKI_ROTATE_HALF && w->run == n->at[n->bound_count - 1]
                  ? n->bound[n->bound_count - 1]
                  : TKI_NONE;
    for (int k = 0; k < in->outer_count[node]; k++)
        to->run = in->outer[node][k] == w->run ? TKI_NONE : to->run;
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

/* Which elements of what keeps its axes are there, by its predicate; true: all are. */
static bool find_present(tki_thread *t, int node, const tki_lanes *to, bool present[])
{
    const tki_def_node *n = node_of(t, node);
    int64_t line[TKI_LANES];
    bool all = true;
    for (int i = 0; i < to->count; i++)
        present[i] = true;
    for (int test = 0; test < n->test_count; test++) {
        tki_line_of(t, &t->in->of_body[node], to, &n->tests[test].difference, line);
        for (int i = 0; i < to->count; i++) {
            present[i] &= line[i] != TKI_NO_INTEGER && tki_relation_holds(n->tests[test].relation, line[i], 0);
            all &= present[i];
        }
    }
    return all;
}

/* What stands for an element that is not there. `row`: NaN of it is of all its elements; NULL: it has none. */
static tki_value absent_element(tki_over over, const tki_row *row)
{
    tki_value y = over == TKI_LOG_SOFTMAX ? tki_value_of_state(TKI_IS_MINUS_INF) : tki_value_exactly(0);
    y.state |= (over == TKI_LOG_SOFTMAX ? 0 : TKI_IS_ABSENT) | (row ? TKI_IS_NAN & row->state : 0);
    return y;
}

/* Elements from the rows that they are of. */
static tki_form keep_elements(tki_thread *t, int node, tki_lanes *to, const tki_row *only, const tki_row rows[],
                              const int64_t row_at[], const bool present[], bool all, tki_value out[],
                              tki_block *block)
{
    const tki_rules *rules = &t->in->rules;
    const tki_def_node *n = node_of(t, node);
    tki_block room;
    if (!tki_run(t, &t->in->of_body[node], to))
        return TKI_AS_VALUES;
    const tki_block *x = only ? tki_block_of(t, to, n->operand[0], false, &room) : NULL;
    if (x && tki_row_elements(rules, only, x, to->place, to->count, block)) {
        for (int i = 0; i < to->count && !all; i++)
            out[i] = present[i] ? tki_block_at(block, i) : absent_element(n->over, only);
        return all ? TKI_AS_BLOCK : TKI_AS_VALUES;
    }
    const tki_operand term = tki_operand_of(t, to, n->operand[0]);
    for (int i = 0; i < to->count; i++)
        out[i] = present[i] ? tki_row_element(rules, &rows[row_at[i]], &term.at[i * term.step], to->place[i])
                            : absent_element(n->over, &rows[row_at[i]]);
    return TKI_AS_VALUES;
}

static tki_form rotate_half(tki_thread *t, int node, tki_lanes *to, const tki_value signs[], tki_value out[])
{
    if (!tki_run(t, &t->in->of_body[node], to))
        return TKI_AS_VALUES;
    const tki_operand term = tki_operand_of(t, to, node_of(t, node)->operand[0]);
    for (int i = 0; i < to->count; i++) {
        const tki_value *one = &term.at[i * term.step];
        out[i] = signs[i].v < 0 ? tki_negated(one) : *one;
    }
    return TKI_AS_VALUES;
}

static tki_form compute_keeping(tki_thread *t, int node, const tki_lanes *w, tki_value out[], tki_block *block)
{
    const tki_def_node *n = node_of(t, node);
    const tki_table *table = &t->in->rows[node];
    const tki_row *rows = table->entries;
    tki_value signs[TKI_LANES];
    int64_t row_at[TKI_LANES];
    bool present[TKI_LANES], same = false;
    tki_row *made = NULL;
    tki_form form = TKI_AS_VALUES;
    tki_lanes *to = terms_at(t, node, w, signs);
    if (!to)
        return form;
    if (n->over == TKI_ROTATE_HALF)
        return rotate_half(t, node, to, signs, out);
    const bool all = find_present(t, node, to, present);
    if (!all && block && !tki_keeps_absent(t->in, n) && !memchr(present, true, (size_t)w->count * sizeof *present)) {
        out[0] = absent_element(n->over, NULL);
        return TKI_AS_ONE;
    }
    if (rows) {
        same = tki_table_places(t, table, w, row_at);
    } else if (!(rows = made = malloc(TKI_LANES * sizeof *made))) {
        t->status = TK_NO_MEMORY;
    } else {
        int first[TKI_LANES];
        find_first(w, t->in->outer_count[node], t->in->outer[node], first);
        tki_compute_rows(t, node, w, first, made);
        for (int i = 0; i < w->count; i++)
            row_at[i] = first[i];
        same = first[w->count - 1] == first[0];
        to = terms_at(t, node, w, signs); /* the rows were made with the same lanes */
    }
    if (t->status == TK_OK)
        form = keep_elements(t, node, to, block && same ? &rows[row_at[0]] : NULL, rows, row_at, present, all, out,
                             block);
    free(made);
    return form;
}

tki_form tki_compute_over(tki_thread *t, int node, const tki_program *p, const tki_lanes *w, tki_value out[],
                          tki_block *block)
{
    const tki_over over = node_of(t, node)->over;
    const tki_table *table = &t->in->kept[node];
    if (table->entries) {
        int64_t flat[TKI_LANES];
        const tki_value *stretch = block ? tki_table_stretch(t, table, w) : NULL;
        if (stretch) {
            w->given[w->slot[node]] = stretch;
            return TKI_AS_GIVEN;
        }
        const bool one = tki_table_places(t, table, w, flat) && block;
        for (int i = 0; i < (one ? 1 : w->count); i++)
            out[i] = ((const tki_value *)table->entries)[flat[i]];
        return one ? TKI_AS_ONE : TKI_AS_VALUES;
    }
    if (over == TKI_SOFTMAX || over == TKI_LOG_SOFTMAX || over == TKI_STANDARDIZE || over == TKI_ROTATE_HALF)
        return compute_keeping(t, node, w, out, block);
    if (tki_over_accumulates(over))
        compute_accumulated(t, node, w, out);
    else if (tki_over_chooses(over))
        tki_compute_places(t, node, p, w, out);
    else
        compute_collapsed(t, node, w, out);
    return TKI_AS_VALUES;
}
