/* Wrong kernels for the matrix products, each with one line saying what is wrong. One plain body serves all three ops. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/mutant.h"
#include "ops/mutant_tools.h"

/* out[rows, cols] = left right; element (line, t) of a factor is data[line * line_stride + t * place_stride]. */
typedef struct factor {
    const void *data;
    int64_t line_stride, place_stride, count;
} factor;

typedef struct view {
    factor left, right;
    void *out;
    int64_t rows, cols, places;
} view;

static factor by_rows(const void *data, int64_t lines, int64_t places)
{
    return (factor){data, places, 1, lines * places};
}

static factor by_columns(const void *data, int64_t lines, int64_t places)
{
    return (factor){data, 1, lines, lines * places};
}

static view view_of(const tk_case *c, void *const b[])
{
    int64_t m = c->dims[0];
    int64_t n = c->dims[1];
    int64_t k = c->dims[2];
    if (!strcmp(c->contract->name, "gemm"))
        return (view){by_rows(b[0], m, k), by_columns(b[1], n, k), b[2], m, n, k};
    if (!strcmp(c->contract->name, "gemm_grad_a"))
        return (view){by_rows(b[0], m, n), by_rows(b[1], k, n), b[2], m, k, n};
    return (view){by_columns(b[1], k, m), by_columns(b[0], n, m), b[2], k, n, m};
}

/* What is wrong with a product; all clear computes it right. */
typedef struct mutation {
    bool transposed_left, transposed_right, transposed_out, swapped, off_by_one, nan_masked, truncated, saturating;
    bool flushed_inputs, flushed_output, rounded_sum, rounded_products, skips_left_zeros, skips_right_zeros;
    bool adds_to_output, sum_carried_over, nothing_without_places;
    int64_t dropped_places;                    /* at the end of each sum */
    int64_t multiple;                          /* the sum's length is cut down to a multiple of this */
    int64_t chunk;                             /* partial sums of so many products are rounded to 16 bits */
    int64_t dropped_columns, dropped_elements; /* at the end, not written */
} mutation;

static factor transposed(factor f, int64_t lines, int64_t places)
{
    bool was_by_rows = f.place_stride == 1 && f.line_stride == places;
    return was_by_rows ? by_columns(f.data, lines, places) : by_rows(f.data, lines, places);
}

static float element(const tk_case *c, const factor *f, int64_t line, int64_t place, bool flushed)
{
    /* Operands of another shape are read where there is something to read. */
    float x = tki_get(c, f->data, (line * f->line_stride + place * f->place_stride) % f->count);
    float smallest_normal = c->dtype == TK_F16 ? 0x1p-14f : 0x1p-126f;
    return flushed && fabsf(x) < smallest_normal ? 0.0f : x;
}

static float inner_sum(const tk_case *c, const view *v, int64_t row, int64_t col, const mutation *m, float start)
{
    int64_t end = v->places - m->dropped_places;
    if (m->multiple)
        end -= end % m->multiple;
    float total = start;
    float partial = 0;
    for (int64_t t = 0; t < end; t++) {
        float x = element(c, &v->left, row, t, m->flushed_inputs);
        float y = element(c, &v->right, m->off_by_one && col + 1 < v->cols ? col + 1 : col, t, m->flushed_inputs);
        if ((m->skips_left_zeros && x == 0) || (m->skips_right_zeros && y == 0))
            continue;
        float z = m->rounded_products ? tki_rounded(c, x * y) : x * y;
        if (!m->chunk) {
            total = m->rounded_sum ? tki_rounded(c, total + z) : total + z;
            continue;
        }
        partial += z;
        if ((t + 1) % m->chunk == 0 || t + 1 == end) {
            total += tki_rounded(c, partial);
            partial = 0;
        }
    }
    return total;
}

static void store(const tk_case *c, const view *v, int64_t row, int64_t col, float sum, const mutation *m)
{
    float largest = c->dtype == TK_F16 ? 65504.0f : 0x1.fep127f;
    float smallest_normal = c->dtype == TK_F16 ? 0x1p-14f : 0x1p-126f;
    int64_t at = m->transposed_out ? col * v->rows + row : row * v->cols + col;
    if (m->nan_masked && isnan(sum))
        sum = 0;
    if (m->saturating && fabsf(sum) > largest)
        sum = sum < 0 ? -largest : largest;
    if (m->flushed_output && fabsf(sum) < smallest_normal)
        sum = 0;
    if (m->truncated)
        tki_put_truncated(c, v->out, at, sum);
    else
        tki_put(c, v->out, at, sum);
}

static int multiply(const tk_case *c, void *const b[], mutation m)
{
    view v = view_of(c, b);
    if (m.swapped) {
        factor left = v.left;
        v.left.data = v.right.data;
        v.left.count = v.right.count;
        v.right.data = left.data;
        v.right.count = left.count;
    }
    if (m.transposed_left)
        v.left = transposed(v.left, v.rows, v.places);
    if (m.transposed_right)
        v.right = transposed(v.right, v.cols, v.places);
    if (v.places == 0 && m.nothing_without_places)
        return 0;
    m.dropped_places = m.dropped_places < v.places ? m.dropped_places : 0;
    float sum = 0;
    for (int64_t row = 0; row < v.rows; row++)
        for (int64_t col = 0; col < v.cols - m.dropped_columns; col++) {
            if (v.rows * v.cols - (row * v.cols + col) <= m.dropped_elements)
                continue;
            float start = m.adds_to_output ? tki_get(c, v.out, row * v.cols + col) : m.sum_carried_over ? sum : 0.0f;
            sum = inner_sum(c, &v, row, col, &m, start);
            store(c, &v, row, col, sum, &m);
        }
    return 0;
}

static int all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    view v = view_of(c, b);
    if (v.rows * v.cols > 0)
        memset(v.out, 0, (size_t)(v.rows * v.cols) * 2);
    return 0;
}

static int stale(const tk_case *c, void *const b[], void *data)
{
    (void)c;
    (void)b;
    (void)data;
    return 0;
}

static int adding(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.adds_to_output = true});
}

static int carried_over(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.sum_carried_over = true});
}

static int last_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.dropped_elements = 1});
}

static int last_column_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.dropped_columns = 1});
}

static int empty_sum_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.nothing_without_places = true});
}

static int last_product_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.dropped_places = 1});
}

static int last_16_products_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.dropped_places = 16});
}

static int tail_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.multiple = 16});
}

static int off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.off_by_one = true});
}

static int swapped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.swapped = true});
}

static int left_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.transposed_left = true});
}

static int right_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.transposed_right = true});
}

static int output_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.transposed_out = true});
}

static int rounded_sum(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.rounded_sum = true});
}

static int rounded_chunks(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.chunk = 16});
}

static int rounded_products(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.rounded_products = true});
}

static int truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.truncated = true});
}

static int left_zeros_skipped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.skips_left_zeros = true});
}

static int right_zeros_skipped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.skips_right_zeros = true});
}

static int nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.nan_masked = true});
}

static int saturating(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.saturating = true});
}

static int flushing_inputs(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.flushed_inputs = true});
}

static int flushing_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return multiply(c, b, (mutation){.flushed_output = true});
}

/* The same mistakes can be made in each of the three. */
const tki_mutant tki_gemm_mutants[] = {
    {"all_zeros", "writes zeros", all_zeros},
    {"stale", "leaves the output as it was", stale},
    {"adding", "adds to what the output held", adding},
    {"carried_over", "does not clear the sum between two output elements", carried_over},
    {"last_dropped", "does not write the last element", last_dropped},
    {"last_column_dropped", "does not write the last column", last_column_dropped},
    {"empty_sum_dropped", "writes nothing where the sum runs over nothing", empty_sum_dropped},
    {"last_product_dropped", "leaves out the last product of each sum", last_product_dropped},
    {"last_16_products_dropped", "leaves out the last 16 products of each longer sum", last_16_products_dropped},
    {"tail_dropped", "sums over a multiple of 16 products only", tail_dropped},
    {"off_by_one", "reads the right factor's next column", off_by_one},
    {"swapped", "takes each factor for the other", swapped},
    {"left_transposed", "reads the left factor transposed", left_transposed},
    {"right_transposed", "reads the right factor transposed", right_transposed},
    {"output_transposed", "writes the output transposed", output_transposed},
    {"rounded_sum", "rounds the running sum to 16 bits after each product", rounded_sum},
    {"rounded_chunks", "rounds the sum of each 16 products to 16 bits", rounded_chunks},
    {"rounded_products", "rounds each product to 16 bits", rounded_products},
    {"truncating_store", "rounds the result toward zero when storing", truncating_store},
    {"left_zeros_skipped", "skips zeros of the left factor, and with them 0 times infinity", left_zeros_skipped},
    {"right_zeros_skipped", "skips zeros of the right factor, and with them 0 times infinity", right_zeros_skipped},
    {"nan_masked", "turns NaN into zero", nan_masked},
    {"saturating", "returns the largest finite number instead of infinity", saturating},
    {"flushing_inputs", "takes subnormal inputs for zero", flushing_inputs},
    {"flushing_store", "flushes subnormal results to zero", flushing_store},
    {0},
};

enum { LIST_LENGTH = sizeof tki_gemm_mutants / sizeof *tki_gemm_mutants };

extern const tki_mutant tki_gemm_grad_a_mutants[LIST_LENGTH] __attribute__((alias("tki_gemm_mutants")));
extern const tki_mutant tki_gemm_grad_b_mutants[LIST_LENGTH] __attribute__((alias("tki_gemm_mutants")));
