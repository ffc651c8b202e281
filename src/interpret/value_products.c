/* DECIDES. Products of matrices of values that are not exact: what is known of all terms of a sum at once, by products of what is known of the
 * factors. dgemm only multiplies and adds what is not negative, or has the error that follows from that. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "interpret/evaluate.h"
#include "interpret/known.h"
#include "interpret/products.h"

/* Lines of one factor. All but `v` are not negative. Lines in memory are SPARE longer than they need: powers of two apart they would share few
 * lines of the cache. */
enum { SPARE = 8, STRIP = 64 };
typedef struct panel {
    int64_t lines, places, stride;
    double *v, *size, *magnitude, *d, *e, *grown, *nonzero; /* [lines][stride] |v|; |v| + d; |v| + d + e; 1 or 0 */
    int64_t *end;                                           /* [lines] from there on all is zero */
    bool has_d, has_e;
    bool *negative, *positive, *special; /* [lines] */
    tki_value *values;                   /* [lines][stride] where `signs` has 0 */
    uint8_t *signs;                      /* [lines][stride] IS_..., and which signs there may be */
    void *memory;
} panel;

enum { IS_SIGNED = 1, MAY_BE_NEGATIVE = 2, MAY_BE_POSITIVE = 4, IS_NOT_ZERO = 8, IS_ABSENT = 16 };

/* The sums of all terms, [lines][lines]. */
typedef struct sums {
    double *v, *mass, *d, *e, *nonzero;
    void *memory;
} sums;

/* From here on products of errors are no doubles. */
#define LARGE 0x1p480

static bool panel_make(panel *p, int64_t lines, int64_t places)
{
    const size_t count = (size_t)(lines * (places + SPARE));
    *p = (panel){.lines = lines, .places = places, .stride = places + SPARE};
    p->memory = malloc(count * (sizeof *p->values + 7 * sizeof *p->v + sizeof *p->signs) +
                       (size_t)lines * (sizeof *p->end + 3 * sizeof(bool)) + 1);
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
    p->end = (int64_t *)(p->nonzero + count);
    p->negative = (bool *)(p->end + lines);
    p->positive = p->negative + lines;
    p->special = p->positive + lines;
    p->signs = (uint8_t *)(p->special + lines);
    memset(p->end, 0, (size_t)lines * sizeof *p->end);
    memset(p->negative, 0, 3 * (size_t)lines * sizeof(bool));
    return true;
}

/* Takes a value apart; one that is more than a number makes its line special, and counts as zero. */
static void take_apart(panel *p, int64_t line, int64_t place, const tki_value *a)
{
    const int64_t i = line * p->stride + place;
    const bool plain = (a->state & ~(unsigned)TKI_IS_ABSENT) == TKI_IS_FINITE && a->e < LARGE && a->d < LARGE;
    const tki_value y = plain ? *a : tki_value_exactly(0);
    p->values[i] = *a;
    p->signs[i] = 0;
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
    p->end[line] = tki_value_is_zero(&y) ? p->end[line] : place + 1;
}

/* The same of a block, whose values are numbers below LARGE. */
TKI_INLINE void plain_take_block_apart(panel *p, int64_t line, int64_t place, const tki_lines *x, int count)
{
    const int64_t at = line * p->stride + place;
    const tki_four zero = {0}, one = tki_fours(1);
    tki_four_bits negative = {0}, positive = {0}, off = {0}, error = {0};
    for (int i = 0; i < count; i += 4) { /* what is behind the line is its spare */
        const tki_known known = tki_known_at(x, i);
        const tki_four size = tki_four_size(known.v), magnitude = size + known.d;
        const tki_four_bits is_zero = tki_known_zero(&known), below = known.l<zero, above = known.h> zero;
        const tki_four_bits away = (known.l > zero) | (known.h < zero);
        tki_four_store(p->v + at + i, known.v);
        tki_four_store(p->size + at + i, size);
        tki_four_store(p->magnitude + at + i, magnitude);
        tki_four_store(p->d + at + i, known.d);
        tki_four_store(p->e + at + i, known.e);
        tki_four_store(p->grown + at + i, magnitude + known.e);
        tki_four_store(p->nonzero + at + i, tki_four_choose(is_zero, zero, one));
        for (int k = 0; k < 4; k++)
            p->signs[at + i + k] = (uint8_t)(IS_SIGNED | (below[k] & MAY_BE_NEGATIVE) | (above[k] & MAY_BE_POSITIVE) |
                                             (away[k] & IS_NOT_ZERO));
        negative |= below;
        positive |= above;
        off |= known.d > zero;
        error |= known.e > zero;
    }
    p->negative[line] |= tki_four_any(negative);
    p->positive[line] |= tki_four_any(positive);
    p->has_d |= tki_four_any(off);
    p->has_e |= tki_four_any(error);
    int last = count;
    while (last > 0 && p->nonzero[at + last - 1] == 0)
        last--;
    p->end[line] = last > 0 ? place + last : p->end[line];
}

TKI_FOR_WIDTHS(static, void, , take_block_apart,
               (panel * p, int64_t line, int64_t place, const tki_lines *x, int count), (p, line, place, x, count))

/* Of where it lies no more is kept than its sign, which is all that products ask. */
static tki_value value_at(const panel *p, int64_t line, int64_t place)
{
    const int64_t i = line * p->stride + place;
    const double least = p->signs[i] & IS_NOT_ZERO ? TKI_DOUBLE_TINY : 0;
    if (p->signs[i] == 0)
        return p->values[i];
    return (tki_value){.v = p->v[i],
                       .d = p->d[i],
                       .e = p->e[i],
                       .l = p->signs[i] & MAY_BE_NEGATIVE ? -INFINITY : least,
                       .h = p->signs[i] & MAY_BE_POSITIVE ? INFINITY : -least,
                       .state = TKI_IS_FINITE | (p->signs[i] & IS_ABSENT ? TKI_IS_ABSENT : 0u)};
}

/* Zeros, or what is absent. */
static void take_zeros(panel *p, int64_t line, int64_t place, int count, bool absent)
{
    double *const all[] = {p->v, p->size, p->magnitude, p->d, p->e, p->grown, p->nonzero};
    const int64_t at = line * p->stride + place;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memset(all[i] + at, 0, (size_t)count * sizeof *all[i]);
    memset(p->signs + at, IS_SIGNED | (absent ? IS_ABSENT : 0), (size_t)count);
}

/* One line's values, at all places of the sum. */
static bool fill_line(tki_thread *t, const tki_def_node *n, const tki_program *program, tki_lanes *w,
                      const int64_t index[], panel *p, int64_t line)
{
    int64_t bound[TK_MAX_RANK] = {0};
    tki_block room;
    for (int64_t done = 0; done < p->places; done += w->count) {
        /* Along the innermost index, as far as one goes, or over several. */
        const int inner = n->bound_count - 1;
        const int64_t left = p->places - done, in_run = tki_extent_of(t->in, n->bound[inner]) - bound[inner];
        const bool runs = w->index[n->bound[inner]] && in_run >= TKI_LANES / 4;
        const int64_t most = runs && in_run < left ? in_run : left;
        w->count = (int)(most < TKI_LANES ? most : TKI_LANES);
        w->run = runs ? n->bound[inner] : TKI_NONE;
        for (int i = 0; i < program->index_count; i++)
            for (int k = 0; k < w->count; k++)
                w->index[program->indices[i]][k] = index[program->indices[i]];
        for (int lane = 0; lane < w->count; lane++) {
            for (int k = 0; k < n->bound_count; k++)
                if (w->index[n->bound[k]])
                    w->index[n->bound[k]][lane] = bound[k];
            for (int k = inner; k >= 0 && ++bound[k] == tki_extent_of(t->in, n->bound[k]); k--)
                bound[k] = 0;
        }
        if (!tki_run(t, program, w))
            return false;
        const tki_block *block = tki_block_of(t, w, program->root, true, &room);
        if (block) {
            const tki_lines lines = tki_lines_of(block);
            take_block_apart(p, line, done, &lines, w->count);
            continue;
        }
        const tki_operand root = tki_operand_of(t, w, program->root);
        if (root.step == 0 && (root.at->state & ~(unsigned)TKI_IS_ABSENT) == TKI_IS_FINITE &&
            tki_value_is_zero(root.at)) {
            take_zeros(p, line, done, w->count, root.at->state & TKI_IS_ABSENT);
            continue;
        }
        for (int k = 0; k < w->count; k++)
            take_apart(p, line, done + k, &root.at[k * root.step]);
    }
    return true;
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
        if (!fill_line(t, n, program, w, index, p, line))
            return false;
    }
    return t->status == TK_OK;
}

/* Of lines `first` to `first` + `count` of the left factor, to where `places` end. */
static void multiply(const panel *a, const double *left, const panel *b, const double *right, int64_t first,
                     int64_t count, int64_t places, double *y)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)b->lines, (blasint)places, 1.0,
                left + first * a->stride, (blasint)a->stride, right, (blasint)b->stride, 1.0, y + first * b->lines,
                (blasint)b->lines);
}

static int64_t end_of(const panel *p, int64_t first, int64_t count)
{
    int64_t end = 0;
    for (int64_t line = first; line < first + count; line++)
        end = p->end[line] > end ? p->end[line] : end;
    return end;
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
    const int64_t end = end_of(b, 0, b->lines);
    for (int64_t first = 0; first < a->lines; first += STRIP) {
        const int64_t lines = a->lines - first < STRIP ? a->lines - first : STRIP, own = end_of(a, first, lines);
        const int64_t places = own < end ? own : end;
        multiply(a, a->v, b, b->v, first, lines, places, s->v);
        multiply(a, a->magnitude, b, b->magnitude, first, lines, places, s->mass);
        multiply(a, a->nonzero, b, b->nonzero, first, lines, places, s->nonzero);
        /* |a| eb + ea (|b| + eb), and the same of what is off here. */
        if (b->has_e)
            multiply(a, a->magnitude, b, b->e, first, lines, places, s->e);
        if (a->has_e)
            multiply(a, a->e, b, b->grown, first, lines, places, s->e);
        if (b->has_d)
            multiply(a, a->size, b, b->d, first, lines, places, s->d);
        if (a->has_d)
            multiply(a, a->d, b, b->magnitude, first, lines, places, s->d);
    }
    return true;
}

/* Each product is rounded, and so is each addition: K v of the sum of magnitudes, v = 2^-53, with v for each product. What is not negative comes out
 * too small by a share of (K + 1) v at most. */
static tki_sum sum_of(const panel *a, const panel *b, const sums *s, int64_t i, int64_t k)
{
    const int64_t at = i * b->lines + k;
    const double share = 1 + ((double)a->places + 8) * 0x1p-52, tiny = (double)a->places * TKI_DOUBLE_TINY;
    const double mass = s->mass[at] * share + tiny;
    tki_sum sum = {.sum = s->v[at],
                   .d = s->d[at] * share + ((double)a->places + 8) * 0x1p-53 * mass + tiny,
                   .mass = mass,
                   .error = s->e[at] * share + tiny,
                   .terms = a->places,
                   .nonzero = (int64_t)nearbyint(s->nonzero[at]),
                   .negative = (a->negative[i] && b->positive[k]) || (a->positive[i] && b->negative[k]),
                   .positive = (a->negative[i] && b->negative[k]) || (a->positive[i] && b->positive[k]),
                   .state = TKI_IS_FINITE};
    if (sum.nonzero == 0)
        sum.d = sum.error = sum.mass = 0;
    return sum;
}

/* The same, term by term. */
static tki_sum sum_by_terms(const tki_rules *rules, const panel *a, const panel *b, int64_t i, int64_t k)
{
    tki_sum sum;
    tki_sum_begin(&sum);
    for (int64_t place = 0; place < a->places; place++) {
        const tki_value left = value_at(a, i, place), right = value_at(b, k, place);
        tki_sum_take_product(rules, &sum, &left, &right);
    }
    return sum;
}

/* Did dgemm find what adding term by term finds? */
static bool confirmed(const tki_rules *rules, const panel *a, const panel *b, const sums *s, int64_t i, int64_t k)
{
    if (a->special[i] || b->special[k])
        return true;
    const tki_sum fast = sum_of(a, b, s, i, k), slow = sum_by_terms(rules, a, b, i, k);
    return fabs(fast.sum - (slow.sum + slow.lost)) <= fast.d + slow.d && fast.nonzero == slow.nonzero &&
           fast.mass >= slow.mass * (1 - 0x1p-40) && fast.mass <= slow.mass * (1 + 0x1p-20) + 0x1p-900 &&
           fast.error >= slow.error * (1 - 0x1p-40) && fast.error <= slow.error * (1 + 0x1p-20) + 0x1p-900 &&
           fast.d >= slow.d * (1 - 0x1p-40);
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
            const tki_sum sum = a->special[i] || b->special[k] ? sum_by_terms(rules, a, b, i, k)
                                                               : sum_of(a, b, s, i, k);
            entries[at] = tki_sum_value(rules, &sum, terms);
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
