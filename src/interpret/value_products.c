/* DECIDES. Products of matrices of values that are not exact: what is known of all terms of a sum at once, by products of what is known of the
 * factors. dgemm only multiplies and adds what is not negative, or has the error that follows from that. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "interpret/evaluate.h"
#include "interpret/products.h"

/* Lines of one factor. All but `v` are not negative. */
typedef struct panel {
    int64_t lines, places;
    double *v, *size, *magnitude, *d, *e, *grown, *nonzero; /* [lines][places] |v|; |v| + d; |v| + d + e; 1 or 0 */
    bool has_d, has_e;
    bool *negative, *positive, *special; /* [lines] */
    tki_value *values;                   /* [lines][places] */
    void *memory;
} panel;

/* The sums of all terms, [lines][lines]. */
typedef struct sums {
    double *v, *mass, *d, *e, *nonzero;
    void *memory;
} sums;

/* From here on products of errors are no doubles. */
#define LARGE 0x1p480

static bool panel_make(panel *p, int64_t lines, int64_t places)
{
    const size_t count = (size_t)(lines * places);
    *p = (panel){.lines = lines, .places = places};
    p->memory = malloc(count * (sizeof *p->values + 7 * sizeof *p->v) + 3 * (size_t)lines * sizeof(bool) + 1);
    if (!p->memory)
        return false;
    p->values = p->memory;
    p->v = (double *)(p->values + count);
    p->size = p->v + count;
    p->magnitude = p->size + count;
    p->d = p->magnitude + count;
    p->e = p->d + count;
    p->grown = p->e + count;
    p->nonzero = p->grown + count;
    p->negative = (bool *)(p->nonzero + count);
    p->positive = p->negative + lines;
    p->special = p->positive + lines;
    memset(p->negative, 0, 3 * (size_t)lines * sizeof(bool));
    return true;
}

/* One line's values, at all places of the sum. */
static bool evaluate_line(tki_thread *t, const tki_def_node *n, const tki_program *program, tki_lanes *w,
                          const int64_t index[], int64_t places, tki_value values[])
{
    int64_t bound[TK_MAX_RANK] = {0};
    w->run = n->bound_count == 1 && w->index[n->bound[0]] ? n->bound[0] : TKI_NONE;
    for (int64_t done = 0; done < places; done += w->count) {
        w->count = (int)(places - done < TKI_LANES ? places - done : TKI_LANES);
        for (int i = 0; i < program->index_count; i++)
            for (int k = 0; k < w->count; k++)
                w->index[program->indices[i]][k] = index[program->indices[i]];
        for (int lane = 0; lane < w->count; lane++) {
            for (int k = 0; k < n->bound_count; k++)
                if (w->index[n->bound[k]])
                    w->index[n->bound[k]][lane] = bound[k];
            for (int k = n->bound_count - 1; k >= 0 && ++bound[k] == tki_extent_of(t->in, n->bound[k]); k--)
                bound[k] = 0;
        }
        if (!tki_run(t, program, w))
            return false;
        const tki_operand root = tki_operand_of(t, w, program->root);
        for (int k = 0; k < w->count; k++)
            values[done + k] = root.at[k * root.step];
    }
    return true;
}

/* Takes a value apart; one that is more than a number makes its line special, and counts as zero. */
static void take_apart(panel *p, int64_t line, int64_t i)
{
    const tki_value *a = &p->values[i];
    const bool plain = (a->state & ~(unsigned)TKI_IS_ABSENT) == TKI_IS_FINITE && a->e < LARGE && a->d < LARGE;
    const tki_value y = plain ? *a : tki_value_exactly(0);
    p->special[line] |= !plain;
    p->negative[line] |= y.l < 0;
    p->positive[line] |= y.h > 0;
    p->v[i] = y.v;
    p->size[i] = fabs(y.v);
    p->magnitude[i] = tki_value_magnitude(&y);
    p->d[i] = y.d;
    p->e[i] = y.e;
    p->grown[i] = tki_value_magnitude(&y) + y.e;
    p->nonzero[i] = !tki_value_is_zero(&y);
    p->has_d |= y.d > 0;
    p->has_e |= y.e > 0;
}

static bool panel_fill(tki_thread *t, const tki_value_box *box, int which, panel *p)
{
    const tki_def_node *n = &t->in->d->nodes[box->node];
    const tki_line_indices *of = which ? &box->m->cols : &box->m->rows;
    const tki_program *program = &t->in->of_factor[which][box->node];
    tki_lanes *w = tki_lanes_of(t, program, &t->of_factor[which][box->node]);
    int64_t index[TKI_MOST_INDICES], table = 0;
    for (int64_t line = 0; w && line < p->lines; line++) {
        memcpy(index, box->batch, (size_t)t->in->d->index_count * sizeof *index);
        tki_add_line(of, box->first[which] + line, box->table_step, index, &table);
        if (!evaluate_line(t, n, program, w, index, p->places, p->values + line * p->places))
            return false;
        for (int64_t i = line * p->places; i < (line + 1) * p->places; i++)
            take_apart(p, line, i);
    }
    return t->status == TK_OK;
}

static void multiply(const panel *a, const double *left, const panel *b, const double *right, double beta, double *y)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)a->lines, (blasint)b->lines, (blasint)a->places,
                1.0, left, (blasint)a->places, right, (blasint)b->places, beta, y, (blasint)b->lines);
}

static bool sums_make(sums *s, const panel *a, const panel *b)
{
    const size_t count = (size_t)(a->lines * b->lines);
    s->memory = s->v = calloc(5 * count + 1, sizeof *s->v);
    if (!s->memory)
        return false;
    s->mass = s->v + count;
    s->d = s->mass + count;
    s->e = s->d + count;
    s->nonzero = s->e + count;
    multiply(a, a->v, b, b->v, 0, s->v);
    multiply(a, a->magnitude, b, b->magnitude, 0, s->mass);
    multiply(a, a->nonzero, b, b->nonzero, 0, s->nonzero);
    /* |a| eb + ea (|b| + eb), and the same of what is off here. */
    if (b->has_e)
        multiply(a, a->magnitude, b, b->e, 1, s->e);
    if (a->has_e)
        multiply(a, a->e, b, b->grown, 1, s->e);
    if (b->has_d)
        multiply(a, a->size, b, b->d, 1, s->d);
    if (a->has_d)
        multiply(a, a->d, b, b->magnitude, 1, s->d);
    return true;
}

/* Each product is rounded, and so is each addition: K v of the sum of magnitudes, v = 2^-53, with v for each product. What is not negative comes out
 * too small by a share of (K + 1) v at most. */
static tki_row row_of(const panel *a, const panel *b, const sums *s, int64_t i, int64_t k)
{
    const int64_t at = i * b->lines + k;
    const double share = 1 + ((double)a->places + 8) * 0x1p-52, tiny = (double)a->places * TKI_DOUBLE_TINY;
    const double mass = s->mass[at] * share + tiny;
    tki_row row;
    tki_row_begin(&row, TKI_SUM);
    row.terms = a->places;
    row.sum = (tki_sum){.sum = s->v[at],
                        .d = s->d[at] * share + ((double)a->places + 8) * 0x1p-53 * mass + tiny,
                        .mass = mass,
                        .error = s->e[at] * share + tiny,
                        .terms = a->places,
                        .nonzero = (int64_t)nearbyint(s->nonzero[at]),
                        .negative = (a->negative[i] && b->positive[k]) || (a->positive[i] && b->negative[k]),
                        .positive = (a->negative[i] && b->negative[k]) || (a->positive[i] && b->positive[k]),
                        .state = TKI_IS_FINITE};
    if (row.sum.nonzero == 0)
        row.sum.d = row.sum.error = row.sum.mass = 0;
    return row;
}

/* The same, term by term. */
static tki_row row_by_terms(const tki_rules *rules, const panel *a, const panel *b, int64_t i, int64_t k)
{
    tki_row row;
    tki_row_begin(&row, TKI_SUM);
    for (int64_t place = 0; place < a->places; place++)
        tki_row_take_product(rules, &row, &a->values[i * a->places + place], &b->values[k * b->places + place]);
    return row;
}

/* Did dgemm find what adding term by term finds? */
static bool confirmed(const tki_rules *rules, const panel *a, const panel *b, const sums *s, int64_t i, int64_t k)
{
    if (a->special[i] || b->special[k])
        return true;
    const tki_row fast = row_of(a, b, s, i, k), slow = row_by_terms(rules, a, b, i, k);
    return fabs(fast.sum.sum - (slow.sum.sum + slow.sum.lost)) <= fast.sum.d + slow.sum.d &&
           fast.sum.nonzero == slow.sum.nonzero && fast.sum.mass >= slow.sum.mass * (1 - 0x1p-40) &&
           fast.sum.mass <= slow.sum.mass * (1 + 0x1p-20) + 0x1p-900 &&
           fast.sum.error >= slow.sum.error * (1 - 0x1p-40) &&
           fast.sum.error <= slow.sum.error * (1 + 0x1p-20) + 0x1p-900 && fast.sum.d >= slow.sum.d * (1 - 0x1p-40);
}

static void put_box(const tki_thread *t, const tki_value_box *box, const panel *a, const panel *b, const sums *s,
                    tki_value entries[])
{
    const tki_rules *rules = &t->in->rules;
    const tki_terms terms = tki_terms_of_products(t->in, box->m->left, box->m->right);
    int64_t index[TKI_MOST_INDICES] = {0};
    for (int64_t i = 0; i < a->lines; i++) {
        int64_t row_at = box->table;
        tki_add_line(&box->m->rows, box->first[0] + i, box->table_step, index, &row_at);
        for (int64_t k = 0; k < b->lines; k++) {
            int64_t at = row_at;
            tki_add_line(&box->m->cols, box->first[1] + k, box->table_step, index, &at);
            const tki_row row = a->special[i] || b->special[k] ? row_by_terms(rules, a, b, i, k)
                                                               : row_of(a, b, s, i, k);
            entries[at] = tki_row_end(rules, &row, terms, NULL);
        }
    }
}

bool tki_fill_value_box(tki_thread *t, const tki_value_box *box, tki_value entries[])
{
    panel a = {.memory = NULL}, b = {.memory = NULL};
    sums s = {.memory = NULL};
    if (!panel_make(&a, box->count[0], box->m->places) || !panel_make(&b, box->count[1], box->m->places))
        t->status = TK_NO_MEMORY;
    else if (panel_fill(t, box, 0, &a) && panel_fill(t, box, 1, &b)) {
        if (!sums_make(&s, &a, &b))
            t->status = TK_NO_MEMORY;
        else if (!confirmed(&t->in->rules, &a, &b, &s, a.lines / 2, b.lines / 2) ||
                 !confirmed(&t->in->rules, &a, &b, &s, a.lines - 1, b.lines - 1))
            t->status = TK_INTERNAL;
        else
            put_box(t, box, &a, &b, &s, entries);
    }
    free(a.memory);
    free(b.memory);
    free(s.memory);
    return t->status == TK_OK;
}
