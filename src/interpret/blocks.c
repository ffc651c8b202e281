/* DECIDES. The rules of arithmetic for many numbers at a time. */
#include "interpret/blocks.h"

#include "interpret/known.h"

const double tki_zeros[TKI_LANES];

static int64_t depth_of(const tki_value *x, bool factors)
{
    return factors && x->depth > 0 ? 0 : x->depth;
}

/* Can the value stand in a block whose values have that depth? */
static bool fits(const tki_value *x, bool factors, int64_t depth)
{
    return x->state == TKI_IS_FINITE && depth <= 0 && depth_of(x, factors) == depth;
}

bool tki_block_of_one(const tki_value *x, bool factors, int count, tki_block *y)
{
    y->exact = tki_value_is_exact(x);
    y->depth = depth_of(x, factors);
    if (!fits(x, factors, y->depth))
        return false;
    for (int i = 0; i < tki_filled(count); i++)
        y->v[i] = x->v;
    for (int i = 0; i < tki_filled(count) && !y->exact; i++)
        tki_block_put(y, i, x);
    return true;
}

bool tki_block_of_values(const tki_value x[], bool factors, int count, tki_block *y)
{
    const int64_t depth = depth_of(x, factors);
    bool all = depth <= 0;
    for (int i = 0; i < count && all; i++)
        all = x[i].state == TKI_IS_FINITE && depth_of(&x[i], factors) == depth;
    if (!all)
        return false;
    y->exact = false;
    y->depth = depth;
    for (int i = 0; i < count; i++)
        tki_block_put(y, i, &x[i]);
    tki_block_fill(y, count);
    return true;
}

void tki_block_fill(tki_block *y, int count)
{
    const tki_value last = tki_block_at(y, count - 1);
    for (int i = count; i < tki_filled(count); i++) {
        y->v[i] = last.v;
        if (!y->exact)
            tki_block_put(y, i, &last);
    }
}

void tki_block_copy(const tki_block *x, int from, int count, tki_block *y)
{
    const size_t bytes = (size_t)count * sizeof *x->v;
    y->exact = x->exact;
    y->depth = x->depth;
    memcpy(y->v, x->v + from, bytes);
    if (!x->exact) {
        memcpy(y->d, x->d + from, bytes);
        memcpy(y->e, x->e + from, bytes);
        memcpy(y->l, x->l + from, bytes);
        memcpy(y->h, x->h + from, bytes);
    }
    tki_block_fill(y, count);
}

/* -- Sums of two ------------------------------------------------------------------------------------------------------ */

/* As tki_added(); and as tki_added_to_sum(), of what was normalised. */
TKI_INLINE bool plain_tki_block_add(const tki_rules *rules, const tki_block *left, const tki_block *right,
                                    bool subtract, int count, tki_block *y)
{
    const tki_lines a = tki_lines_of(left), b = tki_lines_of(right);
    const double t = tki_underflow(rules, 0);
    const bool of_left = left->depth == TKI_NORMALISED, of_right = right->depth == TKI_NORMALISED;
    const tki_four zero = {0};
    tki_four_bits overflow = {0};
    y->exact = false;
    y->depth = 0;
    for (int i = 0; i < count; i += 4) {
        const tki_known one = tki_known_at(&a, i), given = tki_known_at(&b, i);
        const tki_known other = subtract ? (tki_known){-given.v, given.d, given.e, -given.h, -given.l} : given;
        const tki_four v = one.v + other.v, least = one.l + other.l, most = one.h + other.h;
        tki_known sum = {.v = v,
                         .d = (one.d + other.d + TKI_DOUBLE_UNIT * tki_four_size(v)) * TKI_DOUBLE_SLACK,
                         .e = one.e + other.e};
        if (of_left || of_right) {
            const tki_four by_left = of_left ? tki_four_size(other.v) + other.d : tki_fours(INFINITY);
            const tki_four by_right = of_right ? tki_four_size(one.v) + one.d : tki_fours(INFINITY);
            sum.e = tki_four_error(v, sum.d, sum.e, 1, tki_fours(t)) + TKI_U * tki_four_below(by_left, by_right);
            sum.l = tki_fours(-INFINITY);
            sum.h = tki_fours(INFINITY);
            overflow |= tki_known_round(&sum, 0, zero);
        } else {
            sum.l = least - 2 * TKI_U * tki_four_size(least);
            sum.h = most + 2 * TKI_U * tki_four_size(most);
            overflow |= tki_known_round(&sum, 1, tki_fours(t));
        }
        tki_known_put(y, i, &sum);
    }
    return !tki_four_any(overflow);
}

TKI_FOR_WIDTHS(, bool, return, tki_block_add,
               (const tki_rules *rules, const tki_block *a, const tki_block *b, bool subtract, int count,
                tki_block *y),
               (rules, a, b, subtract, count, y))

/* -- Products ---------------------------------------------------------------------------------------------------------- */

TKI_INLINE bool plain_tki_block_multiply(const tki_rules *rules, const tki_block *left, const tki_block *right,
                                         int count, tki_block *y)
{
    const tki_lines a = tki_lines_of(left), b = tki_lines_of(right);
    const tki_four zero = {0}, end = tki_fours(INFINITY);
    const double t = tki_underflow(rules, TKI_FP32_UNDERFLOW);
    tki_four_bits overflow = {0}, some_zero = {0};
    y->exact = false;
    y->depth = left->depth == TKI_NORMALISED || right->depth == TKI_NORMALISED ? TKI_NORMALISED : 0;
    for (int i = 0; i < count; i += 4) {
        const tki_known one = tki_known_at(&a, i), other = tki_known_at(&b, i);
        const tki_four_bits is_zero = tki_known_zero(&one) | tki_known_zero(&other);
        tki_known product = tki_known_product(&one, &other);
        product.l = tki_four_choose(tki_known_same_sign(&one, &other), zero, -end);
        product.h = tki_four_choose(tki_known_other_sign(&one, &other), zero, end);
        overflow |= tki_known_round(&product, 1, tki_fours(t));
        product = (tki_known){tki_four_choose(is_zero, zero, product.v), tki_four_choose(is_zero, zero, product.d),
                              tki_four_choose(is_zero, zero, product.e), tki_four_choose(is_zero, zero, product.l),
                              tki_four_choose(is_zero, zero, product.h)};
        some_zero |= is_zero;
        tki_known_put(y, i, &product);
    }
    /* A zero has no depth. */
    return !tki_four_any(overflow) && (y->depth == 0 || !tki_four_any(some_zero));
}

TKI_FOR_WIDTHS(, bool, return, tki_block_multiply,
               (const tki_rules *rules, const tki_block *a, const tki_block *b, int count, tki_block *y),
               (rules, a, b, count, y))

TKI_INLINE bool plain_tki_block_square(const tki_rules *rules, const tki_block *of, int count, tki_block *y)
{
    const tki_lines a = tki_lines_of(of);
    const double t = tki_underflow(rules, TKI_FP32_UNDERFLOW);
    tki_four_bits overflow = {0};
    y->exact = false;
    y->depth = 0;
    for (int i = 0; i < count; i += 4) {
        const tki_known one = tki_known_at(&a, i);
        tki_known square = tki_known_product(&one, &one);
        square.l = tki_fours(0);
        square.h = tki_fours(INFINITY);
        overflow |= tki_known_round(&square, 1, tki_fours(t));
        tki_known_put(y, i, &square);
    }
    return !tki_four_any(overflow);
}

TKI_FOR_WIDTHS(, bool, return, tki_block_square,
               (const tki_rules *rules, const tki_block *a, int count, tki_block *y), (rules, a, count, y))

/* By numbers that have one sign, and are not near the ends of fp32. */
TKI_INLINE bool plain_tki_block_divide(const tki_rules *rules, const tki_block *left, const tki_block *right,
                                       int count, tki_block *y)
{
    const tki_lines a = tki_lines_of(left), b = tki_lines_of(right);
    const tki_four zero = {0}, end = tki_fours(INFINITY);
    const double t = tki_underflow(rules, TKI_FP32_SMALLEST);
    tki_four_bits odd = {0};
    y->exact = false;
    y->depth = 0;
    for (int i = 0; i < count; i += 4) {
        const tki_known x = tki_known_at(&a, i), z = tki_known_at(&b, i);
        const tki_four least = tki_four_choose(z.l > zero, z.l, tki_four_choose(z.h < zero, -z.h, zero));
        const tki_four first = tki_known_least(&z), last = tki_known_most(&z), middle = 0.5 * (first + last);
        const tki_four_bits exact = z.d == zero;
        const tki_four divisor = tki_four_choose(exact, z.v, middle);
        const tki_four off = tki_four_choose(exact, zero,
                                             tki_four_above(middle - first, last - middle) * TKI_DOUBLE_SLACK);
        const tki_four v = x.v / divisor, magnitude = tki_four_size(v) * TKI_DOUBLE_SLACK;
        const tki_four d = (x.d + magnitude * off) / least * TKI_DOUBLE_SLACK + 2 * TKI_DOUBLE_UNIT * magnitude +
                           TKI_DOUBLE_TINY;
        const tki_four_bits positive = ((x.l >= zero) & (z.v > zero)) | ((x.h <= zero) & (z.v < zero));
        const tki_four_bits negative = ((x.h <= zero) & (z.v > zero)) | ((x.l >= zero) & (z.v < zero));
        tki_known one = {.v = v,
                         .d = d * TKI_DOUBLE_SLACK,
                         .e = (x.e + (magnitude + d) * z.e) / least * TKI_DOUBLE_SLACK,
                         .l = tki_four_choose(positive, zero, -end),
                         .h = tki_four_choose(negative, zero, end)};
        odd |= tki_known_round(&one, 3, tki_fours(t));
        odd |= ~(least >= tki_fours(TKI_FP32_SMALLEST_NORMAL)) |
               (tki_four_size(z.v) + z.d + z.e > tki_fours(0x1p126));
        tki_known_put(y, i, &one);
    }
    return !tki_four_any(odd);
}

TKI_FOR_WIDTHS(, bool, return, tki_block_divide,
               (const tki_rules *rules, const tki_block *a, const tki_block *b, int count, tki_block *y),
               (rules, a, b, count, y))

/* -- Others ------------------------------------------------------------------------------------------------------------ */

bool tki_block_larger(const tki_block *a, const tki_block *b, bool smaller, int count, tki_block *y)
{
    if (!a->exact || !b->exact || a->depth != 0 || b->depth != 0)
        return false;
    y->exact = true;
    y->depth = 0;
    for (int i = 0; i < tki_filled(count); i++) {
        const double x = a->v[i], z = b->v[i];
        y->v[i] = smaller ? (z < x ? z : x) : (z > x ? z : x);
    }
    return true;
}
