/* DECIDES. Reductions of blocks. */
#include "interpret/row_blocks.h"

#include "exact/exp_over_sum_bound.h"
#include "interpret/known.h"

/* The terms from one on; *room has them where they are not the first ones. Behind them may be those of other rows. */
static const tki_block *part_of(const tki_block *x, int from, int count, tki_block *room)
{
    if (from == 0)
        return x;
    tki_block_copy(x, from, count, room);
    return room;
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

static void take_one(tki_sum *s, const tki_lines *x, int i)
{
    const double magnitude = fabs(x->v[i]) + x->d[i];
    tki_sum_add(s, x->v[i]);
    s->d += x->d[i];
    s->mass += magnitude;
    s->error += x->e[i];
    s->nonzero += magnitude + x->e[i] > 0;
    s->negative |= x->l[i] < 0;
    s->positive |= x->h[i] > 0;
}

/* Four sums side by side, each with what it lost. Together they have as many additions as one. */
TKI_INLINE void plain_take_lines(tki_sum *s, const tki_lines *x, bool exact, int count)
{
    const tki_four zero = {0};
    tki_four sum = zero, lost = zero, mass = zero, all_d = zero, error = zero;
    tki_four_bits nonzero = {0}, negative = {0}, positive = {0};
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        const tki_four v = tki_four_load(x->v + i);
        const tki_known one = exact ? (tki_known){v, zero, zero, v, v} : tki_known_at(x, i);
        const tki_four magnitude = tki_four_size(v) + one.d, next = sum + v, added = next - sum;
        lost += (sum - (next - added)) + (v - added);
        sum = next;
        mass += magnitude;
        all_d += one.d;
        error += one.e;
        nonzero -= magnitude + one.e > zero;
        negative |= one.l < zero;
        positive |= one.h > zero;
    }
    for (int k = 0; k < 4; k++) {
        tki_sum_add(s, sum[k]);
        s->lost += lost[k];
        s->d += all_d[k];
        s->mass += mass[k];
        s->error += error[k];
        s->nonzero += nonzero[k];
        s->negative |= negative[k] != 0;
        s->positive |= positive[k] != 0;
    }
    for (; i < count; i++)
        take_one(s, x, i);
}

TKI_FOR_WIDTHS(static, void, , take_lines, (tki_sum * s, const tki_lines *x, bool exact, int count),
               (s, x, exact, count))

static void take_terms(tki_sum *s, const tki_block *x, int count)
{
    const tki_lines lines = tki_lines_of(x);
    s->terms += count;
    take_lines(s, &lines, x->exact, count);
}

/* As of tki_sum_take_product(): what is exactly zero adds nothing. In l and h only signs are right. */
TKI_INLINE void plain_multiply_terms(const tki_lines *a, const tki_lines *b, bool exact, int count, tki_block *y)
{
    const tki_four zero = {0}, some = tki_fours(1);
    y->exact = exact;
    y->depth = 0;
    for (int i = 0; i < count && exact; i += 4)
        tki_four_store(y->v + i, tki_four_load(a->v + i) * tki_four_load(b->v + i));
    for (int i = 0; i < count && !exact; i += 4) {
        const tki_known one = tki_known_at(a, i), other = tki_known_at(b, i);
        const tki_four_bits is_zero = tki_known_zero(&one) | tki_known_zero(&other);
        tki_known product = tki_known_product(&one, &other);
        product = (tki_known){tki_four_choose(is_zero, zero, product.v), tki_four_choose(is_zero, zero, product.d),
                              tki_four_choose(is_zero, zero, product.e),
                              tki_four_choose(is_zero | tki_known_same_sign(&one, &other), zero, -some),
                              tki_four_choose(is_zero | tki_known_other_sign(&one, &other), zero, some)};
        tki_known_put(y, i, &product);
    }
}

TKI_FOR_WIDTHS(static, void, , multiply_terms,
               (const tki_lines *a, const tki_lines *b, bool exact, int count, tki_block *y), (a, b, exact, count, y))

void tki_row_take_products(tki_row *row, const tki_block *a, const tki_block *b, int from, int count)
{
    tki_block terms, room[2];
    const tki_block *left = part_of(a, from, count, &room[0]), *right = part_of(b, from, count, &room[1]);
    const tki_lines of_left = tki_lines_of(left), of_right = tki_lines_of(right);
    multiply_terms(&of_left, &of_right, a->exact && b->exact, count, &terms);
    take_terms(&row->sum, &terms, count);
    row->terms += count;
}

void tki_columns_begin(tki_columns *c, int count)
{
    memset(c, 0, sizeof *c);
    c->count = count;
}

TKI_INLINE void plain_add_columns(tki_columns *c, const tki_lines *x, bool exact)
{
    const tki_four zero = {0};
    for (int i = 0; i < c->count; i += 4) {
        const tki_four v = tki_four_load(x->v + i), sum = tki_four_load(c->sum + i);
        const tki_known one = exact ? (tki_known){v, zero, zero, v, v} : tki_known_at(x, i);
        const tki_four magnitude = tki_four_size(v) + one.d, next = sum + v, added = next - sum;
        tki_four_bits nonzero, negative, positive;
        tki_four_store(c->lost + i, tki_four_load(c->lost + i) + ((sum - (next - added)) + (v - added)));
        tki_four_store(c->sum + i, next);
        tki_four_store(c->mass + i, tki_four_load(c->mass + i) + magnitude);
        if (!exact) {
            tki_four_store(c->d + i, tki_four_load(c->d + i) + one.d);
            tki_four_store(c->error + i, tki_four_load(c->error + i) + one.e);
        }
        memcpy(&nonzero, c->nonzero + i, sizeof nonzero);
        memcpy(&negative, c->negative + i, sizeof negative);
        memcpy(&positive, c->positive + i, sizeof positive);
        nonzero += magnitude + one.e > zero;
        negative |= one.l < zero;
        positive |= one.h > zero;
        memcpy(c->nonzero + i, &nonzero, sizeof nonzero);
        memcpy(c->negative + i, &negative, sizeof negative);
        memcpy(c->positive + i, &positive, sizeof positive);
    }
}

TKI_FOR_WIDTHS(static, void, , add_columns, (tki_columns * c, const tki_lines *x, bool exact), (c, x, exact))

void tki_columns_take(tki_columns *c, const tki_block *a, const tki_block *b)
{
    tki_block products;
    const tki_block *terms = b ? &products : a;
    if (b) {
        const tki_lines of_a = tki_lines_of(a), of_b = tki_lines_of(b);
        multiply_terms(&of_a, &of_b, a->exact && b->exact, c->count, &products);
    }
    const tki_lines lines = tki_lines_of(terms);
    add_columns(c, &lines, terms->exact);
    c->terms++;
}

void tki_columns_end(const tki_columns *c, tki_over over, tki_row rows[])
{
    for (int i = 0; i < c->count; i++) {
        tki_row_begin(&rows[i], over);
        rows[i].terms = c->terms;
        rows[i].sum = (tki_sum){.sum = c->sum[i],
                                .lost = c->lost[i],
                                .d = c->d[i],
                                .mass = c->mass[i],
                                .error = c->error[i],
                                .terms = c->terms,
                                .nonzero = -c->nonzero[i],
                                .negative = c->negative[i] != 0,
                                .positive = c->positive[i] != 0,
                                .state = TKI_IS_FINITE};
    }
}

/* -- Extrema --------------------------------------------------------------------------------------------------------- */

static bool take_extremum(tki_row *row, const tki_block *x, int count)
{
    const bool most = row->over == TKI_MAXIMUM || row->over == TKI_CUMMAX;
    const bool begins = row->value.state == TKI_IS_PLUS_INF || row->value.state == TKI_IS_MINUS_INF;
    if (!x->exact || !(begins || (row->value.state == TKI_IS_FINITE && tki_value_is_exact(&row->value))))
        return false;
    double extremum = x->v[0];
    for (int i = 1; i < count; i++)
        extremum = most ? tki_above(extremum, x->v[i]) : tki_below(extremum, x->v[i]);
    const tki_value one = tki_value_exactly(extremum);
    row->value = most ? tki_larger(&row->value, &one) : tki_smaller(&row->value, &one);
    return true;
}

/* -- Exponentials ----------------------------------------------------------------------------------------------------- */

static bool is_of_exponentials(tki_over over)
{
    return over == TKI_SOFTMAX || over == TKI_LOG_SOFTMAX || over == TKI_LOG_SUM_EXP;
}

static void take_arguments(tki_row *row, const tki_block *x, int count)
{
    const tki_lines a = tki_lines_of(x);
    tki_four tops = tki_fours(a.v[0]);
    int at = 0;
    for (; at + 4 <= count; at += 4)
        tops = tki_four_above(tops, tki_four_load(a.v + at));
    double top = tki_above(tki_above(tops[0], tops[1]), tki_above(tops[2], tops[3]));
    for (; at < count; at++)
        top = tki_above(top, a.v[at]);
    at = 0;
    while (a.v[at] != top)
        at++;
    if (top > row->top) {
        row->top = top;
        row->place = row->here + at;
    }
    for (int i = 0; i < count && !x->exact; i++) {
        row->radius = tki_above(row->radius, a.d[i]);
        row->farthest = tki_above(row->farthest, a.e[i]);
    }
    row->surely = true;
    row->state |= TKI_IS_FINITE;
}

/* exp(e) of numbers that are not negative, as tki_grown_by(); false: one is too large. */
static bool grow(const tki_rules *rules, const double e[], int count, double y[])
{
    for (int i = 0; i < count; i++)
        if (!(e[i] < 700))
            return false;
    tki_exp_minus_all(rules->tables, e, count, y);
    for (int i = 0; i < count; i++)
        y[i] = e[i] == 0 ? 1 : 1 / y[i] * (1 + 0x1p-40);
    return true;
}

static double sum_of(const double x[], int count)
{
    tki_four sum = {0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        sum += tki_four_load(x + i);
    double all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; i < count; i++)
        all += x[i];
    return all;
}

static bool take_exponentials(const tki_rules *rules, tki_row *row, const tki_block *x, int count)
{
    const tki_lines a = tki_lines_of(x);
    double distance[TKI_LANES], y[TKI_LANES], grown[TKI_LANES];
    int64_t near = 0, highest = 0;
    if (!x->exact && !grow(rules, a.e, count, grown))
        return false;
    for (int i = 0; i < count; i++)
        distance[i] = row->top - a.v[i];
    tki_exp_minus_all(rules->tables, distance, count, y);
    for (int i = 0; i < count; i++)
        grown[i] = x->exact ? y[i] : y[i] * grown[i];
    for (int i = 0; i < count; i++)
        highest += distance[i] == 0;
    for (int i = 0; i < count; i++)
        near += distance[i] - (a.d[i] + a.e[i] + row->radius + row->farthest) <= TKI_SOFTMAX_FAR;
    row->near += near;
    row->highest += highest;
    row->exponentials += sum_of(y, count);
    row->grown += sum_of(grown, count);
    const int64_t top = row->place - row->here;
    if (top >= 0 && top < count) /* all but the first at the top */
        y[top] = grown[top] = 0;
    row->rest += sum_of(y, count);
    row->rest_grown += sum_of(grown, count);
    return true;
}

/* -- Rows ---------------------------------------------------------------------------------------------------------- */

bool tki_row_take_block(tki_row *row, const tki_block *x, int from, int count)
{
    tki_block room;
    if (row->over == TKI_PROD || row->over == TKI_CUMPROD)
        return false;
    x = part_of(x, from, count, &room);
    switch (row->over) {
    case TKI_MAXIMUM:
    case TKI_CUMMAX:
    case TKI_MINIMUM:
    case TKI_CUMMIN:
        if (!take_extremum(row, x, count))
            return false;
        break;
    case TKI_SOFTMAX:
    case TKI_LOG_SOFTMAX:
    case TKI_LOG_SUM_EXP: take_arguments(row, x, count); break;
    default: take_terms(&row->sum, x, count);
    }
    row->terms += count;
    return true;
}

/* x minus the row's mean. */
static bool subtract_mean(const tki_rules *rules, const tki_row *row, const tki_block *x, int count, tki_block *y)
{
    tki_block mean;
    return tki_block_of_one(&row->mean, false, count, &mean) && tki_block_add(rules, x, &mean, true, count, y);
}

bool tki_row_take_block_again(const tki_rules *rules, tki_row *row, const tki_block *x, int from, int count)
{
    tki_block room, difference, square;
    x = part_of(x, from, count, &room);
    if (is_of_exponentials(row->over)) {
        if (row->state != TKI_IS_FINITE || !take_exponentials(rules, row, x, count))
            return false;
    } else {
        if (!subtract_mean(rules, row, x, count, &difference) ||
            !tki_block_square(rules, &difference, count, &square))
            return false;
        take_terms(&row->sum, &square, count);
    }
    row->terms += count;
    return true;
}

/* -- Elements ---------------------------------------------------------------------------------------------------------- */

/* What x r - m r rounds beside (x - m) r, which y has. */
TKI_INLINE bool plain_standardize(const tki_row *row, const tki_lines *x, int count, tki_block *y)
{
    const double scale = tki_value_magnitude(&row->value) + row->value.e;
    const double mean = 2 * (tki_value_magnitude(&row->mean) + row->mean.e);
    const tki_lines of_y = tki_lines_of(y);
    tki_four_bits overflow = {0};
    for (int i = 0; i < count; i += 4) {
        const tki_known term = tki_known_at(x, i);
        tki_known product = tki_known_at(&of_y, i);
        product.e += TKI_U * scale * (tki_four_size(term.v) + term.d + term.e + mean);
        product.l = tki_fours(-INFINITY);
        product.h = tki_fours(INFINITY);
        overflow |= tki_known_round(&product, 0, tki_fours(0));
        tki_known_put(y, i, &product);
    }
    return !tki_four_any(overflow);
}

TKI_FOR_WIDTHS(static, bool, return, standardize, (const tki_row *row, const tki_lines *x, int count, tki_block *y),
               (row, x, count, y))

static bool standardized(const tki_rules *rules, const tki_row *row, const tki_block *x, int count, tki_block *y)
{
    tki_block difference, scale;
    const tki_lines lines = tki_lines_of(x);
    if (!tki_both_finite(&row->mean, &row->value) || !subtract_mean(rules, row, x, count, &difference) ||
        !tki_block_of_one(&row->value, false, count, &scale) ||
        !tki_block_multiply(rules, &difference, &scale, count, y) || !standardize(row, &lines, count, y))
        return false;
    y->depth = TKI_NORMALISED;
    return true;
}

/* By how much errors of the arguments may move elements of softmax, of exp(-distance) = term and exp(e) = grown: the rule of reduce.c, where nothing
 * is far from the top and the row's other terms are not zero. *odd: it is not so. */
TKI_INLINE tki_four softmax_moved(const tki_row *row, tki_four y, tki_four term, tki_four grown, tki_four_bits *odd)
{
    const tki_four zero = {0}, o = (row->exponentials - term) / term;
    const tki_four others = tki_four_above(row->grown - term * grown, row->exponentials - term);
    const tki_four more = (others + tki_row_grown_slack(row)) * grown / term, less = o * (o / more);
    const tki_four up = (more - o) / ((1 + o) * (1 + more)), down = (o - less) / ((1 + o) * (1 + less));
    *odd |= ~((more < tki_fours(0x1p500)) & (o > zero));
    return tki_four_below(tki_four_above(y, 1 - y) + 2 * TKI_U, tki_four_above(up, down) + 0x1p-36 * y);
}

/* `grown` NULL: no argument is off. */
TKI_INLINE bool plain_softmax_all(const tki_row *row, const tki_lines *x, const double distances[],
                                  const double terms[], const double grown[], int count, tki_block *y)
{
    tki_four_bits odd = {0};
    for (int i = 0; i < count; i += 4) {
        const tki_four term = tki_four_load(terms + i), distance = tki_four_load(distances + i);
        const tki_four d = tki_four_load(x->d + i), e = tki_four_load(x->e + i);
        const tki_four v = 1 / (1 + (row->exponentials - term) / term);
        const tki_four within = tki_four_above(v, 1 - v) * TKI_DOUBLE_SLACK;
        const tki_four shift = d + row->radius;
        const tki_four near = v * (2 * row->relative_radius + (distance + 16) * 0x1p-52 + 2 * shift);
        const tki_four radius = tki_four_below(within, near);
        const tki_four moved = grown ? softmax_moved(row, v, term, tki_four_load(grown + i), &odd) : tki_fours(0);
        const tki_four reach = distance + 2 * (e + row->farthest + d + row->radius);
        const tki_four w = row->at_most + row->per_distance * reach;
        const tki_four_bits far = reach > tki_fours(TKI_SOFTMAX_FAR);
        const tki_four relative = tki_four_choose(far, tki_fours(1), w / (1 - w) * TKI_DOUBLE_SLACK);
        tki_known one = {.v = v, .d = radius, .l = tki_fours(0), .h = tki_fours(1 + 4 * TKI_U)};
        one.e = moved + ((v + radius + moved) * relative + 1.0001 * TKI_FP32_SMALLEST_NORMAL);
        odd |= tki_known_round(&one, 0, tki_fours(0));
        odd |= ~((distance < tki_fours(300)) & (radius < tki_fours(0x1p-30)) & (shift <= tki_fours(0.5)) &
                 (far | (w < tki_fours(TKI_SOFTMAX_LARGEST_W))));
        tki_known_put(y, i, &one);
    }
    return !tki_four_any(odd);
}

TKI_FOR_WIDTHS(static, bool, return, softmax_all,
               (const tki_row *row, const tki_lines *x, const double distance[], const double terms[],
                const double grown[], int count, tki_block *y),
               (row, x, distance, terms, grown, count, y))

/* The element at the top is made of `rest`, by the rule of one. One that is above the top is not in the row, and what it gets is not read. */
static bool softmax_elements(const tki_rules *rules, const tki_row *row, const tki_block *of, const int64_t place[],
                             int count, tki_block *y)
{
    const tki_lines x = tki_lines_of(of);
    double distance[TKI_LANES], terms[TKI_LANES], grown[TKI_LANES];
    for (int i = 0; i < tki_filled(count); i++)
        distance[i] = tki_above(0, row->top - x.v[i]);
    tki_exp_minus_all(rules->tables, distance, tki_filled(count), terms);
    const bool moves = row->farthest > 0;
    if (moves && !grow(rules, x.e, tki_filled(count), grown))
        return false;
    if (!softmax_all(row, &x, distance, terms, moves ? grown : NULL, count, y))
        return false;
    for (int i = 0; i < count; i++)
        if (place[i] == row->place) {
            const tki_value term = tki_block_at(of, i), top = tki_row_element(rules, row, &term, place[i]);
            if (top.state != TKI_IS_FINITE)
                return false;
            tki_block_put(y, i, &top);
        }
    return true;
}

TKI_INLINE bool plain_log_softmax_all(const tki_rules *rules, const tki_row *row, const tki_lines *x, int count,
                                      tki_block *y)
{
    const double log = row->log, t = tki_underflow(rules, 0);
    const double radius = row->relative_radius + fabs(log) * TKI_ELEMENTARY_ERROR + row->radius;
    const tki_four zero = {0};
    tki_four_bits overflow = {0};
    for (int i = 0; i < count; i += 4) {
        const tki_known term = tki_known_at(x, i);
        const tki_four distance = row->top - term.v, size = tki_four_size(distance);
        tki_known one = {.v = -distance - log, .l = tki_fours(-INFINITY), .h = tki_fours(INFINITY)};
        one.d = (radius + term.d) * TKI_DOUBLE_SLACK + TKI_DOUBLE_UNIT * 4 * (size + fabs(log));
        one.e = term.e + row->moved + row->rounded +
                TKI_U * (8 * fabs(log) + 2 * (tki_four_above(zero, distance) + row->farthest + term.e));
        overflow |= tki_known_round(&one, 2, tki_fours(t));
        tki_known_put(y, i, &one);
    }
    return !tki_four_any(overflow);
}

TKI_FOR_WIDTHS(static, bool, return, log_softmax_all,
               (const tki_rules *rules, const tki_row *row, const tki_lines *x, int count, tki_block *y),
               (rules, row, x, count, y))

bool tki_row_elements(const tki_rules *rules, const tki_row *row, const tki_block *x, const int64_t place[],
                      int count, tki_block *y)
{
    y->exact = false;
    y->depth = 0;
    if (row->over == TKI_STANDARDIZE)
        return standardized(rules, row, x, count, y);
    if (!tki_row_is_plain(row))
        return false;
    if (row->over == TKI_SOFTMAX)
        return softmax_elements(rules, row, x, place, count, y);
    const tki_lines lines = tki_lines_of(x);
    return log_softmax_all(rules, row, &lines, count, y);
}
