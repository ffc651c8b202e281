/* Reductions of the evaluator: evaluator.h includes this. */
#ifndef TKI_TESTS_EVALUATOR_ROWS_H
#define TKI_TESTS_EVALUATOR_ROWS_H

/* The terms of a row; of products their factors, if these are not rounded by themselves. */
typedef struct row {
    int count;
    mpfr_t *a, *b;
    bool products;
    int here; /* the term at the element's own place; -1 if it is absent */
} row;

static inline bool next_indices(evaluator *ev, const tki_def_node *n, int64_t index[])
{
    for (int k = n->bound_count - 1; k >= 0; k--) {
        if (++index[n->bound[k]] < extent_of(ev, n->bound[k]))
            return true;
        index[n->bound[k]] = 0;
    }
    return false;
}

/* Is the element's own term there? */
static inline bool holds_at(evaluator *ev, const tki_def_node *n, int64_t index[], const int64_t at[])
{
    for (int k = 0; k < n->bound_count; k++)
        index[n->bound[k]] = at[k];
    return holds(ev, n, index);
}

/* Absent terms of a sum may be multiplied by zero. */
static inline bool multiplies_absent(evaluator *ev, const tki_def_node *n)
{
    return ev->random && ev->way == 3 && n->over == TKI_SUM;
}

static inline row row_of_terms(evaluator *ev, const tki_def_node *n, int64_t index[], int64_t upto)
{
    row r = {.a = malloc(EVALUATOR_TERMS * sizeof(mpfr_t)), .b = malloc(EVALUATOR_TERMS * sizeof(mpfr_t))};
    bool more = true;
    int64_t at[TK_MAX_RANK] = {0};
    for (int k = 0; k < n->bound_count && n->at; k++)
        at[k] = index[n->at[k]];
    r.here = -1;
    r.products = ev->random && (n->over == TKI_SUM || n->over == TKI_MEAN) &&
                 is_primitive(ev, n->operand[0], TKI_MULTIPLY);
    for (int k = 0; k < n->bound_count; k++) {
        index[n->bound[k]] = 0;
        more &= extent_of(ev, n->bound[k]) > 0;
    }
    for (; more; more = next_indices(ev, n, index)) {
        const bool present = holds(ev, n, index);
        if ((!present && !multiplies_absent(ev, n)) || (upto >= 0 && index[n->bound[0]] > upto))
            continue;
        if (r.count == EVALUATOR_TERMS)
            abort();
        mpfr_inits2(EVALUATOR_BITS, r.a[r.count], r.b[r.count], (mpfr_ptr)0);
        bool here = n->at != NULL;
        for (int k = 0; k < n->bound_count && here; k++)
            here = index[n->bound[k]] == at[k];
        r.here = here ? r.count : r.here;
        if (r.products) {
            const tki_def_node *product = &ev->d->nodes[n->operand[0]];
            value_of(ev, product->operand[0], index, r.a[r.count]);
            value_of(ev, product->operand[1], index, r.b[r.count]);
            if (product->operand[0] == product->operand[1])
                mpfr_set(r.b[r.count], r.a[r.count], MPFR_RNDN);
        } else {
            value_of(ev, n->operand[0], index, r.a[r.count]);
            mpfr_set_ui(r.b[r.count], 1, MPFR_RNDN);
        }
        if (!present)
            mpfr_mul_ui(r.a[r.count], r.a[r.count], 0, MPFR_RNDN);
        r.count++;
    }
    return r;
}

static inline void free_row(row *r)
{
    for (int i = 0; i < r->count; i++)
        mpfr_clears(r->a[i], r->b[i], (mpfr_ptr)0);
    free(r->a);
    free(r->b);
}

/* a[i] b[i], rounded; b[i] is 1 then. */
static inline void multiply_out(evaluator *ev, row *r)
{
    for (int i = 0; i < r->count && r->products; i++) {
        mpfr_mul(r->a[i], r->a[i], r->b[i], MPFR_RNDN);
        mpfr_set_ui(r->b[i], 1, MPFR_RNDN);
        rounded(ev, r->a[i], 1);
    }
    r->products = false;
}

/* By size, the largest first; of products, too. */
static inline void sort_terms(row *r)
{
    mpfr_t one, other;
    mpfr_inits2(2 * EVALUATOR_BITS, one, other, (mpfr_ptr)0);
    for (int i = 1; i < r->count; i++)
        for (int k = i; k > 0; k--) {
            mpfr_mul(one, r->a[k], r->b[k], MPFR_RNDN);
            mpfr_mul(other, r->a[k - 1], r->b[k - 1], MPFR_RNDN);
            if (!mpfr_greater_p(one, other))
                break;
            mpfr_swap(r->a[k], r->a[k - 1]);
            mpfr_swap(r->b[k], r->b[k - 1]);
        }
    mpfr_clears(one, other, (mpfr_ptr)0);
}

static inline void sum_in_order(evaluator *ev, row *r, mpfr_ptr y)
{
    mpfr_t t;
    const bool fused = ev->way & 1;
    mpfr_init2(t, 2 * EVALUATOR_BITS);
    if (ev->way >= 4)
        sort_terms(r);
    if (!fused)
        multiply_out(ev, r);
    for (int i = 0; i < r->count; i++) {
        const int at = ev->way == 1 ? r->count - 1 - i : i;
        mpfr_mul(t, r->a[at], r->b[at], MPFR_RNDN);
        mpfr_add(y, y, t, MPFR_RNDN);
        rounded(ev, y, 1);
    }
    mpfr_clear(t);
}

/* Neighbours, or any two. */
static inline void sum_by_pairs(evaluator *ev, row *r, mpfr_ptr y)
{
    int left = r->count;
    multiply_out(ev, r);
    while (left > 1) {
        const int pairs = ev->way == 2 ? left / 2 : 1;
        for (int i = 0; i < pairs; i++) {
            int one = ev->way == 2 ? i : (int)tki_random_below(ev->random, (uint64_t)left);
            const int other = ev->way == 2 ? left - 1 - i : left - 1;
            if (one == other)
                one = 0;
            mpfr_add(r->a[one], r->a[one], r->a[other], MPFR_RNDN);
            rounded(ev, r->a[one], 1);
        }
        left -= pairs;
    }
    if (left == 1)
        mpfr_set(y, r->a[0], MPFR_RNDN);
}

static inline void sum_of(evaluator *ev, row *r, mpfr_ptr y)
{
    mpfr_set_zero(y, 1);
    if (ev->random && (ev->way == 2 || ev->way == 3))
        sum_by_pairs(ev, r, y);
    else
        sum_in_order(ev, r, y);
}

static inline bool begins_sum(evaluator *ev, int sum, mpfr_srcptr first, bool negative, int64_t index[], mpfr_ptr y)
{
    const tki_def_node *n = &ev->d->nodes[sum];
    int64_t own[TKI_MOST_INDICES];
    if (n->kind != TKI_NODE_OVER || n->over != TKI_SUM || ev->way < 3 || !(ev->way > 3 || tossed(ev)))
        return false;
    memcpy(own, index, sizeof own);
    row r = row_of_terms(ev, n, own, -1);
    for (int i = 0; i < r.count && negative; i++)
        mpfr_neg(r.a[i], r.a[i], MPFR_RNDN);
    if (r.count == EVALUATOR_TERMS)
        abort();
    mpfr_inits2(EVALUATOR_BITS, r.a[r.count], r.b[r.count], (mpfr_ptr)0);
    mpfr_set(r.a[r.count], first, MPFR_RNDN);
    mpfr_set_ui(r.b[r.count], 1, MPFR_RNDN);
    mpfr_swap(r.a[r.count], r.a[0]);
    mpfr_swap(r.b[r.count++], r.b[0]);
    sum_of(ev, &r, y);
    free_row(&r);
    return true;
}

/* Sum over n, by a quotient or a product with the literal 1/n. */
static inline void over_number(evaluator *ev, mpfr_ptr y, double n)
{
    if (tossed(ev) && n > 0)
        mpfr_mul_d(y, y, (double)(float)(1 / n), MPFR_RNDN);
    else
        mpfr_div_d(y, y, n, MPFR_RNDN);
    rounded(ev, y, 1);
}

/* Two passes, or Welford's way. */
static inline void moments_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr mean, mpfr_ptr squares,
                              int *count, mpfr_ptr own)
{
    row r = row_of_terms(ev, n, index, -1);
    mpfr_t t, u;
    mpfr_inits2(EVALUATOR_BITS, t, u, (mpfr_ptr)0);
    *count = r.count;
    if (r.here >= 0)
        mpfr_set(own, r.a[r.here], MPFR_RNDN);
    if (ev->random && ev->way == 1) {
        mpfr_set_zero(mean, 1);
        mpfr_set_zero(squares, 1);
        for (int i = 0; i < r.count; i++) {
            mpfr_sub(t, r.a[i], mean, MPFR_RNDN);
            rounded(ev, t, 1);
            mpfr_div_d(u, t, i + 1, MPFR_RNDN);
            rounded(ev, u, 1);
            mpfr_add(mean, mean, u, MPFR_RNDN);
            rounded(ev, mean, 1);
            mpfr_sub(u, r.a[i], mean, MPFR_RNDN);
            rounded(ev, u, 1);
            mpfr_mul(u, u, t, MPFR_RNDN);
            mpfr_add(squares, squares, u, MPFR_RNDN); /* fused */
            rounded(ev, squares, 1);
        }
    } else {
        row copy = row_of_terms(ev, n, index, -1);
        for (int i = 0; i < r.count; i++) /* the same terms: what is drawn is drawn once */
            mpfr_set(copy.a[i], r.a[i], MPFR_RNDN);
        sum_of(ev, &copy, mean);
        over_number(ev, mean, r.count);
        for (int i = 0; i < r.count; i++) {
            mpfr_sub(r.a[i], r.a[i], mean, MPFR_RNDN);
            rounded(ev, r.a[i], 1);
            mpfr_sqr(r.a[i], r.a[i], MPFR_RNDN);
            rounded(ev, r.a[i], 1);
        }
        sum_of(ev, &r, squares);
        free_row(&copy);
    }
    mpfr_clears(t, u, (mpfr_ptr)0);
    free_row(&r);
}

/* exp(x - top): a careful kernel rounds x - top, and the exponent of 2 made of it. */
static inline void exponential(evaluator *ev, mpfr_ptr x, mpfr_srcptr top)
{
    mpfr_sub(x, x, top, MPFR_RNDN);
    rounded(ev, x, 1);
    if (ev->random)
        mpfr_mul_d(x, x, 1 + signed_unit(ev) * 1.25 * 0x1p-24 * (1 - 0x1p-20), MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    rounded(ev, x, 8);
}

/* In one pass: the sum so far is rescaled where a larger term comes. The exponential of zero is the same whenever it is computed. */
static inline void sum_rescaled(evaluator *ev, row *r, mpfr_ptr sum, mpfr_ptr of_zero)
{
    mpfr_t top, t;
    mpfr_inits2(EVALUATOR_BITS, top, t, (mpfr_ptr)0);
    mpfr_set_ui(of_zero, 1, MPFR_RNDN);
    rounded(ev, of_zero, 8);
    mpfr_set_zero(sum, 1);
    for (int i = 0; i < r->count; i++) {
        if (i == 0 || mpfr_greater_p(r->a[i], top)) {
            mpfr_set(t, i == 0 ? r->a[i] : top, MPFR_RNDN);
            mpfr_set(top, r->a[i], MPFR_RNDN);
            exponential(ev, t, top);
            mpfr_mul(sum, sum, t, MPFR_RNDN);
            rounded(ev, sum, 1);
        }
        mpfr_set(t, r->a[i], MPFR_RNDN);
        if (mpfr_equal_p(t, top))
            mpfr_set(t, of_zero, MPFR_RNDN);
        else
            exponential(ev, t, top);
        mpfr_add(sum, sum, t, MPFR_RNDN);
        rounded(ev, sum, 1);
    }
    mpfr_clears(top, t, (mpfr_ptr)0);
}

/* The largest, the sum of exp(x - largest), and the element's own term, of softmax its exponential, which is the one that was added. */
static inline bool exponentials_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr top, mpfr_ptr sum,
                                   mpfr_ptr own)
{
    row r = row_of_terms(ev, n, index, -1);
    bool finite = true;
    mpfr_set_inf(top, -1);
    for (int i = 0; i < r.count; i++) {
        mpfr_max(top, top, r.a[i], MPFR_RNDN);
        finite &= mpfr_number_p(r.a[i]) != 0;
    }
    const bool present = r.here >= 0;
    if (present)
        mpfr_set(own, r.a[r.here], MPFR_RNDN);
    if (finite && tossed(ev)) {
        mpfr_t of_zero;
        mpfr_init2(of_zero, EVALUATOR_BITS);
        sum_rescaled(ev, &r, sum, of_zero);
        if (present && n->over == TKI_SOFTMAX && mpfr_equal_p(own, top))
            mpfr_set(own, of_zero, MPFR_RNDN);
        else if (present && n->over == TKI_SOFTMAX)
            exponential(ev, own, top);
        mpfr_clear(of_zero);
    } else {
        for (int i = 0; i < r.count; i++)
            exponential(ev, r.a[i], top);
        if (present && n->over == TKI_SOFTMAX)
            mpfr_set(own, r.a[r.here], MPFR_RNDN);
        sum_of(ev, &r, sum);
    }
    free_row(&r);
    return present;
}

/* 1 / sqrt(variance + eps) in place of the sum of squares. */
static inline void scale_of(evaluator *ev, const tki_def_node *n, int64_t index[], int count, mpfr_ptr squares)
{
    mpfr_t eps;
    mpfr_init2(eps, EVALUATOR_BITS);
    value_of(ev, n->operand[1], index, eps);
    over_number(ev, squares, count);
    mpfr_add(squares, squares, eps, MPFR_RNDN);
    rounded(ev, squares, 1);
    mpfr_rec_sqrt(squares, squares, MPFR_RNDN);
    rounded(ev, squares, 4);
    mpfr_clear(eps);
}

/* Is it `standardize`, or that times something (nodes[*by])? */
static inline int standardized_in(evaluator *ev, int node, int *by)
{
    const tki_def_node *n = &ev->d->nodes[node];
    *by = TKI_NONE;
    for (int i = 0; i < 2 && n->kind == TKI_NODE_PRIMITIVE && n->primitive == TKI_MULTIPLY; i++) {
        const tki_def_node *o = &ev->d->nodes[n->operand[i]];
        if (o->kind == TKI_NODE_OVER && o->over == TKI_STANDARDIZE && n->operand[0] != n->operand[1]) {
            *by = n->operand[1 - i];
            return n->operand[i];
        }
    }
    return n->kind == TKI_NODE_OVER && n->over == TKI_STANDARDIZE ? node : TKI_NONE;
}

static inline bool moves_line(evaluator *ev, int product, mpfr_srcptr b, int64_t index[], mpfr_ptr y)
{
    int by, count;
    const int node = standardized_in(ev, product, &by);
    int64_t own[TKI_MOST_INDICES];
    mpfr_t mean, scale;
    if (node == TKI_NONE || ev->d->nodes[node].test_count > 0 || (ev->way != 2 && ev->way < 4))
        return false;
    memcpy(own, index, sizeof own);
    mpfr_inits2(EVALUATOR_BITS, mean, scale, (mpfr_ptr)0);
    moments_of(ev, &ev->d->nodes[node], own, mean, scale, &count, y);
    scale_of(ev, &ev->d->nodes[node], index, count, scale);
    mpfr_mul(mean, mean, scale, MPFR_RNDN);
    if (by != TKI_NONE) {
        mpfr_t w;
        mpfr_init2(w, EVALUATOR_BITS);
        value_of(ev, by, index, w);
        mpfr_mul(mean, mean, w, MPFR_RNDN);
        mpfr_mul(scale, scale, w, MPFR_RNDN);
        rounded(ev, scale, 1);
        mpfr_clear(w);
    }
    rounded(ev, mean, 1);
    mpfr_sub(mean, b, mean, MPFR_RNDN);
    rounded(ev, mean, 1);
    mpfr_mul(y, y, scale, MPFR_RNDN);
    rounded(ev, y, 1);
    mpfr_add(y, y, mean, MPFR_RNDN);
    mpfr_clears(mean, scale, (mpfr_ptr)0);
    return true;
}

/* argmax, argmin, topk: the element that so many others come before. */
static inline int64_t chosen_of(evaluator *ev, const tki_def_node *n, int64_t index[])
{
    const int64_t extent = extent_of(ev, n->bound[0]);
    const int64_t position = n->over == TKI_TOPK ? integer_of(ev, n->integer, index) : 0;
    mpfr_t *keys = malloc((size_t)extent * sizeof *keys);
    bool *there = malloc((size_t)extent * sizeof *there);
    int64_t chosen = 0;
    for (int64_t i = 0; i < extent; i++) {
        index[n->bound[0]] = i;
        mpfr_init2(keys[i], EVALUATOR_BITS);
        there[i] = holds(ev, n, index);
        value_of(ev, n->operand[0], index, keys[i]);
        if (n->over == TKI_ARGMIN)
            mpfr_neg(keys[i], keys[i], MPFR_RNDN);
    }
    for (int64_t i = 0; i < extent; i++) {
        int64_t before = 0;
        for (int64_t k = 0; k < extent; k++)
            before += there[k] && (mpfr_greater_p(keys[k], keys[i]) || (k < i && mpfr_equal_p(keys[k], keys[i])));
        if (there[i] && before == position)
            chosen = i;
    }
    for (int64_t i = 0; i < extent; i++)
        mpfr_clear(keys[i]);
    free(keys);
    free(there);
    return chosen;
}

static inline void over_of(evaluator *ev, const tki_def_node *n, int64_t index[], mpfr_ptr y)
{
    mpfr_t a, b, c;
    int count = 0;
    mpfr_inits2(EVALUATOR_BITS, a, b, c, (mpfr_ptr)0);
    const bool keeps = n->at != NULL, cumulative = n->over >= TKI_CUMSUM && n->over <= TKI_CUMMIN;
    int64_t at[TK_MAX_RANK] = {0};
    for (int k = 0; k < n->bound_count && keeps; k++)
        at[k] = index[n->at[k]];
    switch (n->over) {
    case TKI_SOFTMAX:
    case TKI_LOG_SOFTMAX:
        if (!exponentials_of(ev, n, index, a, b, y)) {
            if (n->over == TKI_SOFTMAX)
                mpfr_set_zero(y, 1);
            else
                mpfr_set_inf(y, -1);
            break;
        }
        if (n->over == TKI_SOFTMAX) {
            mpfr_div(y, y, b, MPFR_RNDN);
            rounded(ev, y, 3);
        } else {
            mpfr_sub(y, y, a, MPFR_RNDN);
            rounded(ev, y, 1);
            mpfr_log(b, b, MPFR_RNDN);
            rounded(ev, b, 4);
            mpfr_sub(y, y, b, MPFR_RNDN);
            rounded(ev, y, 1);
        }
        break;
    case TKI_LOG_SUM_EXP:
        (void)exponentials_of(ev, n, index, a, b, y);
        mpfr_log(b, b, MPFR_RNDN);
        rounded(ev, b, 4);
        mpfr_add(y, a, b, MPFR_RNDN);
        rounded(ev, y, 1);
        break;
    case TKI_STANDARDIZE:
    case TKI_VAR:
        mpfr_set_zero(y, 1);
        moments_of(ev, n, index, a, b, &count, y);
        mpfr_set_ui(c, 0, MPFR_RNDN);
        if (n->over == TKI_VAR) {
            if (n->operand[1] != TKI_NONE)
                value_of(ev, n->operand[1], index, c);
            over_number(ev, b, count - mpfr_get_d(c, MPFR_RNDN));
            mpfr_set(y, b, MPFR_RNDN);
            break;
        }
        if (!holds_at(ev, n, index, at)) { /* an absent term of what it stands in */
            mpfr_set_zero(y, 1);
            break;
        }
        scale_of(ev, n, index, count, b);
        if (ev->random && ev->way == 2) { /* x r + (-m r) */
            mpfr_mul(a, a, b, MPFR_RNDN);
            rounded(ev, a, 1);
            mpfr_mul(y, y, b, MPFR_RNDN);
            rounded(ev, y, 1);
            mpfr_sub(y, y, a, MPFR_RNDN);
        } else {
            mpfr_sub(y, y, a, MPFR_RNDN);
            rounded(ev, y, 1);
            mpfr_mul(y, y, b, MPFR_RNDN);
        }
        rounded(ev, y, 1);
        break;
    case TKI_ROTATE_HALF: {
        const int64_t half = extent_of(ev, n->bound[0]) / 2;
        index[n->bound[0]] = at[0] < half ? at[0] + half : at[0] - half;
        value_of(ev, n->operand[0], index, y);
        if (at[0] < half)
            mpfr_neg(y, y, MPFR_RNDN);
        break;
    }
    default: {
        row r = row_of_terms(ev, n, index, cumulative ? at[0] : -1);
        if (n->over == TKI_SUM || n->over == TKI_CUMSUM || n->over == TKI_MEAN) {
            count = r.count;
            sum_of(ev, &r, y);
            if (n->over == TKI_MEAN)
                over_number(ev, y, count);
        } else {
            const bool product = n->over == TKI_PROD || n->over == TKI_CUMPROD;
            const bool most = n->over == TKI_MAXIMUM || n->over == TKI_CUMMAX;
            if (product)
                mpfr_set_ui(y, 1, MPFR_RNDN);
            else
                mpfr_set_inf(y, most ? -1 : 1);
            for (int i = 0; i < r.count; i++) {
                if (ev->random && ev->way > 1)
                    mpfr_swap(r.a[i], r.a[i + (int)tki_random_below(ev->random, (uint64_t)(r.count - i))]);
                mpfr_srcptr term = r.a[ev->way == 1 ? r.count - 1 - i : i];
                if (product)
                    mpfr_mul(y, y, term, MPFR_RNDN);
                else if (mpfr_nan_p(y) || mpfr_nan_p(term)) /* which MPFR's do not propagate */
                    mpfr_set_nan(y);
                else if (most)
                    mpfr_max(y, y, term, MPFR_RNDN);
                else
                    mpfr_min(y, y, term, MPFR_RNDN);
                rounded(ev, y, 1);
            }
        }
        free_row(&r);
    }
    }
    mpfr_clears(a, b, c, (mpfr_ptr)0);
}

#endif
