/* DECIDES. Sums of products. One dgemm gives a box of sums S, a second one the sums of absolute values that bound its error, a third
 * one, where zeros occur, the numbers of nonzero products. Products of two numbers of 8, 16 or 32 bits are exact in double, so only
 * additions round. What this leaves open is for tki_product_exact(): one sum in a wide accumulator.
 * dgemm is not taken at its word either: two elements of every box are checked against their exact sums. */
#include "exact/product.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/accumulator.h"
#include "exact/four.h"
#include "exact/kept_table.h"
#include "exact/round.h"

enum { DEPTH = 512 };

/* What a pattern stands for; both numbers are exact in fp32. The unit is the power of two of the last bit, of which the
 * value is an odd multiple; infinite for 0, NaN and infinities. */
typedef struct decoded {
    float value, unit;
} decoded;

/* A factor with its table: of a type of 8 or 16 bits, NULL for fp32. */
typedef struct source {
    tki_factor factor;
    const decoded *table;
    bool bytes; /* 8 bits */
} source;

/* A block of a factor in double, in the factor's own order. Rows in memory are SPARE longer than they need: powers of two apart they would share few
 * lines of the cache. */
enum { SPARE = 8 };
typedef struct panel {
    int64_t lines, places;
    bool by_line; /* [lines, places], else [places, lines] */
    int64_t stride;
    source from;
    int64_t first;     /* line 0, place 0 is this element of it */
    double *value;     /* 0 where it is not finite */
    double *magnitude; /* |value|; on matrix units no less than the smallest normal number, unless 0 */
    double *nonzero;   /* 1 where value != 0 */
    double *unit;      /* [lines]: every value of the line so far is a multiple of it */
    bool has_zero, has_special;
} panel;

/* Arrays are row-major over the box, and follow it in memory. */
struct tki_product_box {
    tki_product p;
    panel left, right;
    double *sum;       /* S, with dgemm's error */
    double *magnitude; /* sum of |products|, with dgemm's error */
    double *nonzero;   /* number of nonzero products, without those in `dense` */
    double dense;      /* products in blocks without any zero */
    uint8_t *flags;    /* TKI_SUM_HAS_... */
};

static tk_dtype right_dtype(const tki_product *p)
{
    return p->mixed ? p->right_dtype : p->dtype;
}

/* What a factor other than zero counts for at least in a magnitude: 0, or the smallest normal number. */
static double least_of(const tki_product *p)
{
    if (p->numerics != TKI_NUMERICS_TENSOR_CORE)
        return 0;
    return tki_exact_power_of_two(tki_format_of(p->dtype).exponent_min);
}

/* -- Exactly --------------------------------------------------------------------------------------------------- */

/* The absolute value of a factor, as magnitudes count it. */
static uint32_t magnitude_of(const tki_product *p, tk_dtype dtype, uint32_t bits)
{
    const tki_format f = tki_format_of(dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    const uint32_t smallest_normal = UINT32_C(1) << (f.precision - 1);
    return least_of(p) > 0 && magnitude && magnitude < smallest_normal ? smallest_normal : magnitude;
}

/* S, or the sum of `magnitudes`. */
static void exact_sum(const tki_product *p, int64_t row, int64_t col, bool magnitudes, mpfr_ptr value)
{
    tki_accumulator sum;
    tki_accumulator_clear(&sum);
    for (int64_t t = 0; t < p->places; t++) {
        uint32_t x = tki_element_bits(p->dtype, p->left.data, row * p->left.line_stride + t * p->left.place_stride);
        uint32_t y = tki_element_bits(right_dtype(p), p->right.data,
                                      col * p->right.line_stride + t * p->right.place_stride);
        tki_accumulator_add_product(&sum, p->dtype, magnitudes ? magnitude_of(p, p->dtype, x) : x, right_dtype(p),
                                    magnitudes ? magnitude_of(p, right_dtype(p), y) : y);
    }
    mpfr_set_prec(value, TKI_ACCUMULATOR_BITS);
    tki_accumulator_get(&sum, value);
}

void tki_product_exact(const tki_product *p, int64_t row, int64_t col, mpfr_ptr value)
{
    exact_sum(p, row, col, false, value);
}

/* -- A box by dgemm -------------------------------------------------------------------------------------------- */

static inline decoded decode(double value)
{
    bool has_unit = isfinite(value) && value != 0;
    return (decoded){.value = (float)value, .unit = has_unit ? (float)tki_last_bit(value) : INFINITY};
}

static inline decoded element_of(const source *f, int64_t i)
{
    if (f->table)
        return f->table[f->bytes ? ((const uint8_t *)f->factor.data)[i] : ((const uint16_t *)f->factor.data)[i]];
    return decode((double)((const float *)f->factor.data)[i]);
}

/* What a row of a panel is loaded to: the least of the units goes to unit[0], or each to its own. */
typedef struct loaded {
    double *value, *magnitude, *unit;
    bool by_line, has_zero, has_special;
    double least;
} loaded;

static void load_one(loaded *to, int64_t i, decoded element)
{
    double *unit = &to->unit[to->by_line ? 0 : i];
    const bool finite = isfinite(element.value);
    const double value = finite ? (double)element.value : 0;
    to->value[i] = value;
    to->magnitude[i] = value == 0 || fabs(value) > to->least ? fabs(value) : to->least;
    to->has_zero |= value == 0;
    to->has_special |= !finite;
    *unit = element.unit < *unit ? element.unit : *unit;
}

typedef float four_floats __attribute__((vector_size(16)));
typedef int32_t four_words __attribute__((vector_size(16)));

/* Numbers of fp32: without its lowest bit a magnitude is less by the last bit of the number, but that the fraction of a power of two has none. */
TKI_INLINE void plain_load_numbers(const float *from, int64_t count, loaded *to)
{
    const four_floats infinite = {INFINITY, INFINITY, INFINITY, INFINITY};
    const tki_four zero = {0}, least = tki_fours(to->least);
    four_floats units = infinite;
    four_words some_special = {0};
    tki_four_bits some_zero = {0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        four_words bits;
        memcpy(&bits, from + i, sizeof bits);
        const four_words magnitude = bits & INT32_MAX, fraction = bits & 0x7fffff;
        const four_words special = magnitude >= 0x7f800000, none = special | (magnitude == 0);
        const four_words rest = magnitude & (magnitude - 1) & (fraction != 0) & ~none;
        const four_floats last = (four_floats)(magnitude & ~none) - (four_floats)rest;
        const four_floats unit = (four_floats)(((four_words)last & ~none) | ((four_words)infinite & none));
        const tki_four value = __builtin_convertvector((four_floats)(bits & ~special), tki_four);
        const tki_four size = tki_four_size(value);
        const tki_four_bits is_zero = value == zero;
        some_special |= special;
        some_zero |= is_zero;
        tki_four_store(to->value + i, value);
        tki_four_store(to->magnitude + i, tki_four_choose(is_zero | (size > least), size, least));
        if (to->by_line) {
            const four_words less = unit < units;
            units = (four_floats)(((four_words)unit & less) | ((four_words)units & ~less));
        } else {
            const tki_four wide = __builtin_convertvector(unit, tki_four);
            tki_four_store(to->unit + i, tki_four_below(tki_four_load(to->unit + i), wide));
        }
    }
    for (int k = 0; k < 4; k++) {
        to->has_special |= some_special[k] != 0;
        if (to->by_line && (double)units[k] < to->unit[0])
            to->unit[0] = (double)units[k];
    }
    to->has_zero |= tki_four_any(some_zero);
    for (; i < count; i++)
        load_one(to, i, decode((double)from[i]));
}

TKI_FOR_WIDTHS(static, void, , load_numbers, (const float *from, int64_t count, loaded *to), (from, count, to))

static void panel_load(panel *p, int64_t line, int64_t place, int64_t places, double least)
{
    const tki_factor *from = &p->from.factor;
    p->places = places;
    p->by_line = from->place_stride == 1;
    p->first = line * from->line_stride + place * from->place_stride;
    p->has_zero = p->has_special = false;
    const int64_t outer = p->by_line ? p->lines : places, inner = p->by_line ? places : p->lines;
    const int64_t source_stride = p->by_line ? from->line_stride : from->place_stride;
    p->stride = inner + SPARE;
    for (int64_t o = 0; o < outer; o++) {
        const int64_t first = p->first + o * source_stride;
        loaded to = {.value = p->value + o * p->stride,
                     .magnitude = p->magnitude + o * p->stride,
                     .unit = p->by_line ? &p->unit[o] : p->unit,
                     .by_line = p->by_line,
                     .least = least};
        if (p->from.table)
            for (int64_t i = 0; i < inner; i++)
                load_one(&to, i, element_of(&p->from, first + i));
        else
            load_numbers((const float *)from->data + first, inner, &to);
        p->has_zero |= to.has_zero;
        p->has_special |= to.has_special;
    }
}

static void panel_mark_nonzero(panel *p)
{
    const int64_t outer = p->by_line ? p->lines : p->places, inner = p->by_line ? p->places : p->lines;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = o * p->stride; i < o * p->stride + inner; i++)
            p->nonzero[i] = p->value[i] != 0;
}

/* sums[rows, cols] += left right. With alpha = 1 and beta = 1 dgemm only multiplies and adds. */
static void add_product(double *sums, const panel *left, const double *left_data, const panel *right,
                        const double *right_data)
{
    cblas_dgemm(CblasRowMajor, left->by_line ? CblasNoTrans : CblasTrans, right->by_line ? CblasTrans : CblasNoTrans,
                (blasint)left->lines, (blasint)right->lines, (blasint)left->places, 1.0, left_data,
                (blasint)left->stride, right_data, (blasint)right->stride, 1.0, sums, (blasint)right->lines);
}

/* Marks every output whose sum contains a NaN or an infinity of `of`; element (line of `of`, line of `other`) of the box is
 * at line * own_step + other_line * other_step. */
static void mark_special(const panel *of, const panel *other, uint8_t *flags, int64_t own_step, int64_t other_step)
{
    for (int64_t line = 0; line < of->lines && of->has_special; line++) {
        bool all_nan = false;
        for (int64_t t = 0; t < of->places && !all_nan; t++) {
            float x = element_of(&of->from,
                                 of->first + line * of->from.factor.line_stride + t * of->from.factor.place_stride)
                          .value;
            if (isfinite(x))
                continue;
            int64_t partners = other->first + t * other->from.factor.place_stride;
            all_nan = true;
            for (int64_t o = 0; o < other->lines; o++) {
                uint8_t *flag = &flags[line * own_step + o * other_step];
                float y = element_of(&other->from, partners + o * other->from.factor.line_stride).value;
                *flag |= (uint8_t)tki_sum_flag((double)x * y);
                all_nan &= tki_sum_is_nan(*flag);
            }
        }
    }
}

static void add_places(tki_product_box *w)
{
    add_product(w->sum, &w->left, w->left.value, &w->right, w->right.value);
    add_product(w->magnitude, &w->left, w->left.magnitude, &w->right, w->right.magnitude);
    if (w->left.has_zero || w->right.has_zero) {
        panel_mark_nonzero(&w->left);
        panel_mark_nonzero(&w->right);
        add_product(w->nonzero, &w->left, w->left.nonzero, &w->right, w->right.nonzero);
    } else {
        w->dense += (double)w->left.places;
    }
    mark_special(&w->left, &w->right, w->flags, w->right.lines, 1);
    mark_special(&w->right, &w->left, w->flags, 1, w->right.lines);
}

/* With v = 2^-53, any order and FMA or not: n nonzero products, exact in double, are summed with n - 1 roundings, hence with
 * an error of at most (n-1) v T, T the exact sum of |products|. (Jeannerod and Rump; adding zero is exact, and nothing
 * overflows or underflows: |products| lie in [2^-298, 2^256].) So dgemm's sum T' of |products| is at least T (1 - Kv), and
 * T <= T' (1 + 2Kv) as long as Kv <= 1/2, which K < 2^52 gives. Eight more units v cover the roundings of computing this,
 * of the radius and of the bound from it.
 * Every partial sum is a multiple of the product of the lines' units; if T is below 2^53 of them, none was rounded. That is so of the sum
 * of |products|, too, also with factors raised to the smallest normal number, which is a multiple of the units of all below it: where it is
 * at most 2^53 units it is exact, else it comes out as no less, and the clause of exact sums is decided as it is written. */
void tki_product_box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = TKI_PRODUCT_BOX;
    *cols = TKI_PRODUCT_BOX;
}

tki_product_element tki_product_at(const tki_product_box *w, int64_t row, int64_t col)
{
    int64_t i = row * w->right.lines + col;
    double places = (double)w->p.places;
    double nonzero = w->nonzero[i] + w->dense;
    double magnitude = w->magnitude[i] * (1 + (places + 4) * 0x1p-52);
    double unit = w->left.unit[row] * w->right.unit[col];
    bool exact = nonzero <= 1 || magnitude < 0x1p53 * unit;
    double radius = exact ? 0 : (nonzero - 1) * 0x1p-53 * magnitude;
    return (tki_product_element){.lo = exact ? w->sum[i] : tki_down(w->sum[i] - radius),
                                 .hi = exact ? w->sum[i] : tki_up(w->sum[i] + radius),
                                 .unit = unit,
                                 .magnitude = w->magnitude[i],
                                 .flags = w->flags[i],
                                 .sum = {.dtype = w->p.dtype,
                                         .numerics = w->p.numerics,
                                         .matrix_unit = w->p.matrix_unit,
                                         .exact = tki_sum_is_exact(w->magnitude[i], unit),
                                         .products = places,
                                         .nonzero = nonzero,
                                         .magnitude = magnitude}};
}

/* Are S and the sum of |products| of this element what dgemm made us believe? */
static bool confirmed(const tki_product_box *w, const tki_box *box, int64_t i)
{
    if (w->flags[i])
        return true;
    const tki_product *p = &w->p;
    int64_t row = i / w->right.lines;
    int64_t col = i % w->right.lines;
    tki_product_element e = tki_product_at(w, row, col);
    mpfr_t exact;
    mpfr_init2(exact, TKI_ACCUMULATOR_BITS);
    exact_sum(p, box->row_begin + row, box->col_begin + col, false, exact);
    bool good = mpfr_cmp_d(exact, e.lo) >= 0 && mpfr_cmp_d(exact, e.hi) <= 0;
    exact_sum(p, box->row_begin + row, box->col_begin + col, true, exact);
    double slack = ((double)p->places + 1) * 0x1p-52 * w->magnitude[i];
    good = good && mpfr_cmp_d(exact, w->magnitude[i] - slack) >= 0 && mpfr_cmp_d(exact, w->magnitude[i] + slack) <= 0;
    mpfr_clear(exact);
    return good;
}

/* One block of memory for all arrays, zeroed where sums start. */
static tki_product_box *box_alloc(const tki_product *p, const void *right_table, int64_t rows, int64_t cols,
                                  int64_t places)
{
    size_t outputs = (size_t)(rows * cols);
    size_t left = (size_t)((rows + SPARE) * (places + SPARE));
    size_t right = (size_t)((cols + SPARE) * (places + SPARE));
    size_t doubles = 3 * outputs + 3 * left + 3 * right + (size_t)(rows + cols);
    tki_product_box *w = malloc(sizeof *w + doubles * sizeof(double) + outputs);
    if (!w)
        return NULL;
    const bool bytes = tk_dtype_size(p->dtype) == 1;
    *w = (tki_product_box){.p = *p,
                           .left = {.lines = rows, .from = {p->left, p->tables, bytes}},
                           .right = {.lines = cols, .from = {p->right, right_table, bytes}}};
    w->sum = (double *)(w + 1);
    w->magnitude = w->sum + outputs;
    w->nonzero = w->magnitude + outputs;
    w->left.value = w->nonzero + outputs;
    w->left.magnitude = w->left.value + left;
    w->left.nonzero = w->left.magnitude + left;
    w->right.value = w->left.nonzero + left;
    w->right.magnitude = w->right.value + right;
    w->right.nonzero = w->right.magnitude + right;
    w->left.unit = w->right.nonzero + right;
    w->right.unit = w->left.unit + rows;
    w->flags = (uint8_t *)(w->right.unit + cols);
    memset(w->sum, 0, 3 * outputs * sizeof(double));
    memset(w->flags, 0, outputs);
    for (int64_t i = 0; i < rows + cols; i++)
        w->left.unit[i] = INFINITY; /* and right.unit, which follows it */
    return w;
}

static void fill(tk_dtype dtype, void *entries)
{
    decoded *table = entries;
    for (uint32_t bits = 0; bits <= (uint32_t)tki_last_pattern(dtype); bits++)
        table[bits] = decode(tki_decode(dtype, bits));
}

static tk_status open_table(tk_dtype dtype, void **table)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(decoded), .fill = fill, .any_width = true};
    return tki_kept_table_open(&kept, dtype, table);
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

tk_status tki_product_box_make(const tki_product *p, const tki_box *box, tki_product_box **made)
{
    int64_t rows = box->row_end - box->row_begin;
    int64_t cols = box->col_end - box->col_begin;
    void *right_table = (void *)(uintptr_t)p->tables;
    const tk_status status = p->mixed ? open_table(p->right_dtype, &right_table) : TK_OK;
    tki_product_box *w = status == TK_OK ? box_alloc(p, right_table, rows, cols, at_most(p->places, DEPTH)) : NULL;
    if (!w)
        return TK_NO_MEMORY;
    const double least = least_of(p);
    for (int64_t place = 0; place < p->places; place += DEPTH) {
        int64_t places = at_most(p->places - place, DEPTH);
        panel_load(&w->left, box->row_begin, place, places, least);
        panel_load(&w->right, box->col_begin, place, places, least);
        add_places(w);
    }
    if (rows * cols == 0 || (confirmed(w, box, rows * cols / 2) && confirmed(w, box, rows * cols - 1))) {
        *made = w;
        return TK_OK;
    }
    free(w);
    return TK_INTERNAL;
}

void tki_product_box_free(tki_product_box *box)
{
    free(box);
}

/* Every pattern decoded; fp32 has too many and is decoded where it is read. Also puts OpenBLAS, whose number of threads is global to the
 * process, to one: the judge calls from threads of its own. It stays so, since another certificate may be at work; concurrent calls are
 * safe with any number, and results stay within the same error. */
tk_status tki_product_open(tk_dtype dtype, void **tables)
{
    openblas_set_num_threads(1);
    if (!tki_is_tabled(dtype)) {
        *tables = NULL;
        return TK_OK;
    }
    return open_table(dtype, tables);
}
