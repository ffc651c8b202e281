/* TRUSTED. The exact value of a matrix product. One dgemm gives a box of sums S, a second one the sums of absolute values that
 * bound its error, a third one, where zeros occur, the numbers of nonzero products. Products of two numbers of 16 or 32 bits
 * are exact in double, so only additions round. What this leaves open is refined: that one sum in a wide accumulator, exactly.
 * dgemm is not taken at its word either: two elements of every box are checked against their exact sums. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/attributes.h"
#include "exact/accumulator.h"
#include "exact/exact_sum.h"
#include "exact/kept_table.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/gemm/contract.h"

enum { BOX = 256, DEPTH = 512 };

/* What a pattern stands for; both numbers are exact in fp32. The unit is the power of two of the last bit, of which the
 * value is an odd multiple; infinite for 0, NaN and infinities. */
typedef struct decoded {
    float value, unit;
} decoded;

/* One factor. A line is a row of the left or a column of the right one; places run along the sum. */
typedef struct factor {
    const void *data;
    const decoded *table;              /* of a 16-bit type; NULL for fp32 */
    int64_t line_stride, place_stride; /* one of them is 1 */
} factor;

typedef struct product {
    factor left, right;
    int64_t places;
    tk_dtype dtype;
    int numerics, matrix_unit;
    double
        least; /* what a factor other than zero counts for at least in a magnitude: 0, or the smallest normal number */
} product;

/* A block of a factor in double, in the factor's own order. */
typedef struct panel {
    int64_t lines, places;
    bool by_line; /* [lines, places], else [places, lines] */
    factor from;
    int64_t first;     /* line 0, place 0 is this element of it */
    double *value;     /* 0 where it is not finite */
    double *magnitude; /* |value|; on matrix units no less than the smallest normal number, unless 0 */
    double *nonzero;   /* 1 where value != 0 */
    double *unit;      /* [lines]: every value of the line so far is a multiple of it */
    bool has_zero, has_special;
} panel;

/* One box at work; arrays are row-major over the box. */
typedef struct work {
    panel left, right;
    double *sum;       /* S, with dgemm's error */
    double *magnitude; /* sum of |products|, with dgemm's error */
    double *nonzero;   /* number of nonzero products, without those in `dense` */
    double dense;      /* products in blocks without any zero */
    uint8_t *flags;    /* TKI_GEMM_HAS_... */
} work;

/* The input that has size `dim` as one of its axes: the other axis is the one summed over. */
static factor factor_with(const tki_oracle_job *job, int dim)
{
    const tk_contract *contract = job->c->contract;
    int p = 0;
    while (contract->params[p].dim[0] != dim && contract->params[p].dim[1] != dim)
        p++;
    int64_t row_length = job->c->dims[contract->params[p].dim[1]];
    bool lines_are_rows = contract->params[p].dim[0] == dim;
    return (factor){.data = job->buffers[p],
                    .table = job->tables,
                    .line_stride = lines_are_rows ? row_length : 1,
                    .place_stride = lines_are_rows ? 1 : row_length};
}

static product product_of(const tki_oracle_job *job)
{
    const tk_param *output = &job->c->contract->params[job->output];
    int inner = 3 - output->dim[0] - output->dim[1]; /* the sizes are numbered 0, 1, 2 */
    return (product){.left = factor_with(job, output->dim[0]),
                     .right = factor_with(job, output->dim[1]),
                     .places = job->c->dims[inner],
                     .dtype = job->c->dtype,
                     .numerics = (int)job->c->attributes[TKI_NUMERICS].integer,
                     .matrix_unit = (int)job->c->attributes[TKI_MATRIX_UNIT].integer,
                     .least = job->c->attributes[TKI_NUMERICS].integer != TKI_NUMERICS_TENSOR_CORE ? 0
                              : job->c->dtype == TK_F16                                            ? 0x1p-14
                                                                                                   : 0x1p-126};
}

/* -- Exactly --------------------------------------------------------------------------------------------------- */

/* The absolute value of a factor, as magnitudes count it. */
static uint32_t magnitude_of(const product *p, uint32_t bits)
{
    const tki_format f = tki_format_of(p->dtype);
    const uint32_t magnitude = tki_magnitude_of(f, bits);
    const uint32_t smallest_normal = UINT32_C(1) << (f.precision - 1);
    return p->least > 0 && magnitude && magnitude < smallest_normal ? smallest_normal : magnitude;
}

/* S, or the sum of `magnitudes`. */
static void exact_sum(const product *p, int64_t row, int64_t col, bool magnitudes, mpfr_ptr value)
{
    tki_accumulator sum;
    tki_accumulator_clear(&sum);
    for (int64_t t = 0; t < p->places; t++) {
        uint32_t x = tki_element_bits(p->dtype, p->left.data, row * p->left.line_stride + t * p->left.place_stride);
        uint32_t y = tki_element_bits(p->dtype, p->right.data,
                                      col * p->right.line_stride + t * p->right.place_stride);
        tki_accumulator_add_product(&sum, p->dtype, magnitudes ? magnitude_of(p, x) : x,
                                    magnitudes ? magnitude_of(p, y) : y);
    }
    mpfr_set_prec(value, TKI_ACCUMULATOR_BITS);
    tki_accumulator_get(&sum, value);
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    (void)precision;
    product p = product_of(job);
    exact_sum(&p, row, col, false, lo);
    mpfr_set_prec(hi, TKI_ACCUMULATOR_BITS);
    mpfr_set(hi, lo, MPFR_RNDN);
    return TK_OK;
}

/* -- A box by dgemm -------------------------------------------------------------------------------------------- */

static inline decoded decode(double value)
{
    bool has_unit = isfinite(value) && value != 0;
    return (decoded){.value = (float)value, .unit = has_unit ? (float)tki_last_bit(value) : INFINITY};
}

static inline decoded element_of(const factor *f, int64_t i)
{
    if (f->table)
        return f->table[((const uint16_t *)f->data)[i]];
    return decode((double)((const float *)f->data)[i]);
}

static void panel_load(panel *p, const factor *from, int64_t line, int64_t place, int64_t places, double least)
{
    p->places = places;
    p->by_line = from->place_stride == 1;
    p->from = *from;
    p->first = line * from->line_stride + place * from->place_stride;
    p->has_zero = p->has_special = false;
    int64_t outer = p->by_line ? p->lines : places;
    int64_t inner = p->by_line ? places : p->lines;
    int64_t source_stride = p->by_line ? from->line_stride : from->place_stride;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            decoded element = element_of(from, p->first + o * source_stride + i);
            double *unit = &p->unit[p->by_line ? o : i];
            bool finite = isfinite(element.value);
            double value = finite ? (double)element.value : 0;
            p->value[o * inner + i] = value;
            p->magnitude[o * inner + i] = value == 0 || fabs(value) > least ? fabs(value) : least;
            p->has_zero |= value == 0;
            p->has_special |= !finite;
            *unit = element.unit < *unit ? element.unit : *unit;
        }
}

static void panel_mark_nonzero(panel *p)
{
    for (int64_t i = 0; i < p->lines * p->places; i++)
        p->nonzero[i] = p->value[i] != 0;
}

/* sums[rows, cols] += left right. With alpha = 1 and beta = 1 dgemm only multiplies and adds. */
static void add_product(double *sums, const panel *left, const double *left_data, const panel *right,
                        const double *right_data)
{
    cblas_dgemm(CblasRowMajor, left->by_line ? CblasNoTrans : CblasTrans, right->by_line ? CblasTrans : CblasNoTrans,
                (blasint)left->lines, (blasint)right->lines, (blasint)left->places, 1.0, left_data,
                (blasint)(left->by_line ? left->places : left->lines), right_data,
                (blasint)(right->by_line ? right->places : right->lines), 1.0, sums, (blasint)right->lines);
}

static unsigned product_flags(float x, float y)
{
    double z = (double)x * y;
    return isnan(z) ? TKI_GEMM_HAS_NAN : !isinf(z) ? 0u : z > 0 ? TKI_GEMM_HAS_PLUS_INF : TKI_GEMM_HAS_MINUS_INF;
}

/* Marks every output whose sum contains a NaN or an infinity of `of`; element (line of `of`, line of `other`) of the box is
 * at line * own_step + other_line * other_step. */
static void mark_special(const panel *of, const panel *other, uint8_t *flags, int64_t own_step, int64_t other_step)
{
    for (int64_t line = 0; line < of->lines && of->has_special; line++) {
        bool all_nan = false;
        for (int64_t t = 0; t < of->places && !all_nan; t++) {
            float x =
                element_of(&of->from, of->first + line * of->from.line_stride + t * of->from.place_stride).value;
            if (isfinite(x))
                continue;
            int64_t partners = other->first + t * other->from.place_stride;
            all_nan = true;
            for (int64_t o = 0; o < other->lines; o++) {
                uint8_t *flag = &flags[line * own_step + o * other_step];
                float y = element_of(&other->from, partners + o * other->from.line_stride).value;
                *flag |= (uint8_t)product_flags(x, y);
                all_nan &= tki_gemm_is_nan(*flag);
            }
        }
    }
}

static void add_places(work *w)
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
static tki_enclosure enclosure_of(const work *w, int64_t row, int64_t col, const product *p)
{
    int64_t i = row * w->right.lines + col;
    double places = (double)p->places;
    double nonzero = w->nonzero[i] + w->dense;
    double magnitude = w->magnitude[i] * (1 + (places + 4) * 0x1p-52);
    bool exact = nonzero <= 1 || magnitude < 0x1p53 * w->left.unit[row] * w->right.unit[col];
    double radius = exact ? 0 : (nonzero - 1) * 0x1p-53 * magnitude;
    tki_gemm_sum sum = {.dtype = p->dtype,
                        .numerics = p->numerics,
                        .matrix_unit = p->matrix_unit,
                        .exact = tki_sum_is_exact(w->magnitude[i], w->left.unit[row] * w->right.unit[col]),
                        .products = places,
                        .nonzero = nonzero,
                        .magnitude = magnitude};
    int clause;
    unsigned admits = tki_gemm_admits(sum, w->flags[i], &clause);
    return (tki_enclosure){.lo = exact ? w->sum[i] : tki_down(w->sum[i] - radius),
                           .hi = exact ? w->sum[i] : tki_up(w->sum[i] + radius),
                           .bound = tki_gemm_bound(sum),
                           .admits = (uint8_t)admits,
                           .clause = (uint8_t)clause};
}

/* Are S and the sum of |products| of this element what dgemm made us believe? */
static bool confirmed(const product *p, const work *w, const tki_box *box, int64_t i, const tki_enclosure *e)
{
    if (w->flags[i])
        return true;
    int64_t row = box->row_begin + i / w->right.lines;
    int64_t col = box->col_begin + i % w->right.lines;
    mpfr_t exact;
    mpfr_init2(exact, TKI_ACCUMULATOR_BITS);
    exact_sum(p, row, col, false, exact);
    bool good = mpfr_cmp_d(exact, e->lo) >= 0 && mpfr_cmp_d(exact, e->hi) <= 0;
    exact_sum(p, row, col, true, exact);
    double slack = ((double)p->places + 1) * 0x1p-52 * w->magnitude[i];
    good = good && mpfr_cmp_d(exact, w->magnitude[i] - slack) >= 0 && mpfr_cmp_d(exact, w->magnitude[i] + slack) <= 0;
    mpfr_clear(exact);
    return good;
}

/* One block of memory for all arrays, zeroed where sums start. */
static double *work_alloc(work *w, int64_t rows, int64_t cols, int64_t places)
{
    size_t outputs = (size_t)(rows * cols);
    size_t left = (size_t)(rows * places);
    size_t right = (size_t)(cols * places);
    double *memory = malloc((3 * outputs + 3 * left + 3 * right + (size_t)(rows + cols)) * sizeof *memory + outputs);
    if (!memory)
        return NULL;
    *w = (work){.left = {.lines = rows}, .right = {.lines = cols}};
    w->sum = memory;
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
    memset(memory, 0, 3 * outputs * sizeof *memory);
    memset(w->flags, 0, outputs);
    for (int64_t i = 0; i < rows + cols; i++)
        w->left.unit[i] = INFINITY; /* and right.unit, which follows it */
    return memory;
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    product p = product_of(job);
    int64_t rows = box->row_end - box->row_begin;
    int64_t cols = box->col_end - box->col_begin;
    work w;
    double *memory = work_alloc(&w, rows, cols, at_most(p.places, DEPTH));
    if (!memory)
        return TK_NO_MEMORY;
    for (int64_t place = 0; place < p.places; place += DEPTH) {
        int64_t places = at_most(p.places - place, DEPTH);
        panel_load(&w.left, &p.left, box->row_begin, place, places, p.least);
        panel_load(&w.right, &p.right, box->col_begin, place, places, p.least);
        add_places(&w);
    }
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++)
            out[row * cols + col] = enclosure_of(&w, row, col, &p);
    int64_t middle = rows * cols / 2;
    int64_t last = rows * cols - 1;
    bool good = confirmed(&p, &w, box, middle, &out[middle]) && confirmed(&p, &w, box, last, &out[last]);
    free(memory);
    return good ? TK_OK : TK_INTERNAL;
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = BOX;
    *cols = BOX;
}

static void fill(tk_dtype dtype, void *entries)
{
    decoded *table = entries;
    for (uint32_t bits = 0; bits < TKI_PATTERNS; bits++)
        table[bits] = decode(tki_decode(dtype, bits));
}

/* Every pattern decoded; fp32 has too many and is decoded where it is read. Also puts OpenBLAS, whose number of threads is global to the process, to one: the judge calls from
 * threads of its own. It stays so, since another certificate may be at work; concurrent calls are safe with any number,
 * and results stay within the same error. */
static tk_status open_table(tk_dtype dtype, void **tables)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(decoded), .fill = fill};
    openblas_set_num_threads(1);
    if (dtype == TK_F32) {
        *tables = NULL;
        return TK_OK;
    }
    return tki_kept_table_open(&kept, dtype, tables);
}

const tki_oracle tki_gemm_oracle = {.open = open_table, .box_size = box_size, .enclose = enclose, .refine = refine};

const tki_oracle tki_gemm_grad_a_oracle = {
    .open = open_table, .box_size = box_size, .enclose = enclose, .refine = refine};

const tki_oracle tki_gemm_grad_b_oracle = {
    .open = open_table, .box_size = box_size, .enclose = enclose, .refine = refine};
