/* DECIDES. Predicates that are turned round. */
#include "interpret/buckets.h"

#include <stdlib.h>
#include <string.h>

static bool is_bound(const tki_def_node *n, int index)
{
    for (int i = 0; i < n->bound_count; i++)
        if (n->bound[i] == index)
            return true;
    return false;
}

static bool depends_on_bound(const tki_interpreter *in, const tki_def_node *n, int integer)
{
    const tki_def_int *e = &in->d->ints[integer];
    for (int i = 0; i < e->index_count; i++)
        if (is_bound(n, e->indices[i]))
            return true;
    return false;
}

static bool add_to_group(tki_equation *q, int index)
{
    for (int i = 0; i < q->group_count; i++)
        if (q->group[i] == index)
            return true;
    if (q->group_count == TK_MAX_RANK)
        return false;
    q->group[q->group_count++] = index;
    return true;
}

/* The largest extent of an index that stands alone on the other side: of the rows that differ in it alone a term is in one. */
static bool sort_terms(const tki_interpreter *in, const tki_def_node *n, tki_equation *q)
{
    bool some = false;
    for (int i = 0; i < q->difference->count; i++) {
        const int atom = q->difference->terms[i].atom;
        const tki_def_int *e = &in->d->ints[atom];
        if (!depends_on_bound(in, n, atom))
            continue;
        some = true;
        for (int k = 0; k < e->index_count; k++)
            if (!is_bound(n, e->indices[k]) && !add_to_group(q, e->indices[k]))
                return false;
    }
    q->values = 1;
    for (int i = 0; i < q->difference->count; i++) {
        const tki_def_int *e = &in->d->ints[q->difference->terms[i].atom];
        bool grouped = false;
        for (int k = 0; k < q->group_count; k++)
            grouped |= q->group[k] == e->which;
        if (e->kind != TKI_INT_INDEX || is_bound(n, e->which) || grouped ||
            in->constants[q->difference->terms[i].coefficient] == 0)
            continue;
        if (tki_extent_of(in, e->which) > q->values)
            q->values = tki_extent_of(in, e->which);
    }
    return some && q->values > 1;
}

bool tki_find_equation(const tki_interpreter *in, int node, tki_equation *equation)
{
    const tki_def_node *n = &in->d->nodes[node];
    if (tki_over_keeps_axes(n->over) || n->over == TKI_ARGMAX || n->over == TKI_ARGMIN || n->over == TKI_TOPK)
        return false;
    for (int i = 0; i < n->test_count; i++) {
        *equation = (tki_equation){.difference = &n->tests[i].difference, .groups = 1, .terms = 1};
        if (n->tests[i].relation != TKI_IS_EQUAL || !sort_terms(in, n, equation))
            continue;
        for (int k = 0; k < equation->group_count; k++)
            if (__builtin_mul_overflow(equation->groups, tki_extent_of(in, equation->group[k]), &equation->groups))
                return false;
        for (int k = 0; k < n->bound_count; k++)
            if (__builtin_mul_overflow(equation->terms, tki_extent_of(in, n->bound[k]), &equation->terms))
                return false;
        return true;
    }
    return false;
}

/* The side that depends on bound indices, or the negated other one; false where it is no integer. */
static bool side_of(const tki_interpreter *in, const tki_def_node *n, const tki_linear *linear, bool bound,
                    const int64_t index[], int64_t *value)
{
    int64_t product;
    *value = bound ? 0 : in->constants[linear->offset];
    for (int i = 0; i < linear->count; i++) {
        if (depends_on_bound(in, n, linear->terms[i].atom) != bound)
            continue;
        const int64_t atom = tki_integer_of(in, linear->terms[i].atom, index);
        if (atom == TKI_NO_INTEGER ||
            __builtin_mul_overflow(atom, in->constants[linear->terms[i].coefficient], &product) ||
            __builtin_add_overflow(*value, product, value))
            return false;
    }
    return bound || !__builtin_sub_overflow((int64_t)0, *value, value);
}

static int by_value(const void *a, const void *b)
{
    const struct tki_bucket_term *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->place < y->place ? -1 : x->place > y->place;
}

static bool fill_group(const tki_interpreter *in, const tki_def_node *n, const tki_equation *q, int64_t group,
                       struct tki_bucket_term *terms)
{
    int64_t index[TKI_MOST_INDICES] = {0};
    for (int k = q->group_count - 1; k >= 0; k--) {
        index[q->group[k]] = group % tki_extent_of(in, q->group[k]);
        group /= tki_extent_of(in, q->group[k]);
    }
    bool sorted = true;
    for (int64_t place = 0; place < q->terms; place++) {
        terms[place].place = place;
        if (!side_of(in, n, q->difference, true, index, &terms[place].value))
            return false;
        sorted &= place == 0 || terms[place - 1].value <= terms[place].value;
        for (int k = n->bound_count - 1; k >= 0 && ++index[n->bound[k]] == tki_extent_of(in, n->bound[k]); k--)
            index[n->bound[k]] = 0;
    }
    if (!sorted)
        qsort(terms, (size_t)q->terms, sizeof *terms, by_value);
    return true;
}

tk_status tki_buckets_make(const tki_interpreter *in, int node, tki_buckets **made)
{
    tki_buckets *b = calloc(1, sizeof *b);
    bool good = true;
    *made = NULL;
    if (!b || !tki_find_equation(in, node, &b->equation)) {
        free(b);
        return b ? TK_INTERNAL : TK_NO_MEMORY;
    }
    const tki_equation *q = &b->equation;
    b->terms = malloc((size_t)(q->groups * q->terms + 1) * sizeof *b->terms);
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : good)
    for (int64_t group = 0; group < q->groups; group++)
        good = good && b->terms && fill_group(in, &in->d->nodes[node], q, group, b->terms + group * q->terms);
    const bool memory = b->terms != NULL;
    if (good && memory) {
        *made = b;
        return TK_OK;
    }
    tki_buckets_free(b);
    return memory ? TK_OK : TK_NO_MEMORY;
}

void tki_buckets_free(tki_buckets *b)
{
    if (b)
        free(b->terms);
    free(b);
}

/* The first term whose value is at least that. */
static int64_t lower_bound(const struct tki_bucket_term *terms, int64_t count, int64_t value)
{
    int64_t low = 0;
    while (low < count) {
        const int64_t middle = low + (count - low) / 2;
        if (terms[middle].value < value)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

const struct tki_bucket_term *tki_buckets_find(const tki_interpreter *in, const tki_buckets *b, int node,
                                               const int64_t index[], int64_t *count)
{
    const tki_equation *q = &b->equation;
    int64_t group = 0, value;
    for (int k = 0; k < q->group_count; k++)
        group = group * tki_extent_of(in, q->group[k]) + index[q->group[k]];
    const struct tki_bucket_term *terms = b->terms + group * q->terms;
    if (!side_of(in, &in->d->nodes[node], q->difference, false, index, &value)) {
        *count = q->terms; /* who looks at them finds that out */
        return terms;
    }
    const int64_t first = lower_bound(terms, q->terms, value);
    int64_t end = first;
    while (end < q->terms && terms[end].value == value)
        end++;
    *count = end - first;
    return terms + first;
}
