/* Wrong kernels for the matrix products, each with one line saying what is wrong. One plain body serves all three ops. */
#include <math.h>

#include "ops/gemm/planted.h"

/* What is wrong with a product; all clear computes it right. */
typedef struct mutation {
    tki_store store;
    bool transposed_left, transposed_right, transposed_out, swapped, square_stride, off_by_one;
    bool flushed_inputs, rounded_sum, rounded_products, rounded_halves, skips_left_zeros, skips_right_zeros;
    bool through_16_bits, adds_to_output, sum_carried_over, nothing_without_places, last_product_twice, absolute_left,
        square_transposed;
    int64_t dropped_places, skipped_places;    /* at the end and at the beginning of each sum */
    int64_t most_places;                       /* longer sums are cut down to this */
    int64_t most_dense;                        /* of sums with more nonzero products 700 are left out */
    int64_t multiple;                          /* the sum's length is cut down to a multiple of this */
    int64_t chunk;                             /* partial sums of so many products are rounded to 16 bits */
    int64_t row_multiple;                      /* rows after the last multiple are not written */
    int64_t dropped_columns, dropped_elements; /* at the end, not written */
    int64_t most_rows;                         /* rows beyond are not written */
    int64_t tile; /* the last column is not written where all sizes are multiples of it */
    float factor; /* of the result, if not 0 */
} mutation;

static tki_gemm_factor transposed(tki_gemm_factor f, int64_t lines, int64_t places)
{
    bool was_by_rows = f.place_stride == 1 && f.line_stride == places;
    return was_by_rows ? tki_gemm_by_columns(f.data, lines, places) : tki_gemm_by_rows(f.data, lines, places);
}

/* Where the sum ends. */
static int64_t end_of_sum(const mutation *m, int64_t places)
{
    int64_t end = m->dropped_places < places ? places - m->dropped_places : places;
    end -= tki_tail(end, m->multiple);
    return m->most_places && m->most_places < end ? m->most_places : end;
}

static float product_of(const tk_case *c, const mutation *m, float x, float y)
{
    if (m->flushed_inputs) {
        x = tki_flushed(c, x);
        y = tki_flushed(c, y);
    }
    if (m->absolute_left)
        x = fabsf(x);
    if ((m->skips_left_zeros && x == 0) || (m->skips_right_zeros && y == 0))
        return 0;
    return m->rounded_products ? tki_rounded(c, x * y) : x * y;
}

/* Nothing is wrong with the products or the additions themselves. */
static bool adds_products_plainly(const mutation *m)
{
    return !m->flushed_inputs && !m->absolute_left && !m->skips_left_zeros && !m->skips_right_zeros &&
           !m->rounded_products && !m->last_product_twice && !m->chunk && !m->rounded_halves && !m->rounded_sum;
}

static int64_t nonzero_products(const float *x, const float *y, int64_t places)
{
    int64_t count = 0;
    for (int64_t t = 0; t < places; t++)
        count += x[t] != 0 && y[t] != 0;
    return count;
}

static float inner_sum(const tk_case *c, const mutation *m, const float *x, const float *y, int64_t places,
                       float start)
{
    int64_t end = end_of_sum(m, places);
    int64_t begin = m->skipped_places < end ? m->skipped_places : 0;
    float total = start;
    float partial = 0;
    if (adds_products_plainly(m)) {
        bool dense = m->most_dense && end > m->most_dense && nonzero_products(x, y, end) > m->most_dense;
        for (int64_t t = begin; t < end; t++)
            if (!dense || t < end / 2 || t >= end / 2 + 700)
                total += x[t] * y[t];
        return total;
    }
    for (int64_t t = begin; t < end; t++) {
        float z = product_of(c, m, x[t], y[t]);
        if (m->last_product_twice && t + 1 == end && end % 8)
            z *= 2;
        if (m->chunk || m->rounded_halves) {
            partial += z;
            bool ends = m->chunk ? (t + 1) % m->chunk == 0 : t + 1 == end / 2;
            if (ends || t + 1 == end) {
                total += tki_rounded(c, partial);
                partial = 0;
            }
            continue;
        }
        total = m->rounded_sum ? tki_rounded(c, total + z) : total + z;
    }
    return total;
}

static void multiply_decoded(const tk_case *c, const mutation *m, const tki_gemm_product *v, const float *left,
                             const float *right)
{
    float sum = 0;
    int64_t rows = v->rows - tki_tail(v->rows, m->row_multiple);
    if (m->most_rows && rows > m->most_rows)
        rows = m->most_rows;
    bool tiled = m->tile && v->rows % m->tile == 0 && v->cols % m->tile == 0 && v->places % m->tile == 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < v->cols - m->dropped_columns - tiled; col++) {
            if (v->rows * v->cols - (row * v->cols + col) <= m->dropped_elements)
                continue;
            int64_t other = m->off_by_one && col + 1 < v->cols ? col + 1 : col;
            float start = m->adds_to_output     ? tki_get_result(c, v->out, row * v->cols + col)
                          : m->sum_carried_over ? sum
                                                : 0;
            sum = inner_sum(c, m, left + row * v->places, right + other * v->places, v->places, start);
            if (m->factor != 0)
                sum *= m->factor;
            if (m->through_16_bits)
                sum = tki_rounded(c, sum);
            tki_put_as(c, v->out, m->transposed_out ? col * v->rows + row : row * v->cols + col, sum, m->store);
        }
}

static int multiply(const tk_case *c, void *const b[], void *run)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    tki_gemm_product v = tki_gemm_product_of(c, b);
    if (m->swapped) {
        tki_gemm_factor left = v.left;
        v.left.data = v.right.data;
        v.left.count = v.right.count;
        v.right.data = left.data;
        v.right.count = left.count;
    }
    if (m->transposed_left)
        v.left = transposed(v.left, v.rows, v.places);
    if (m->transposed_right || (m->square_transposed && v.cols == v.places && v.rows != v.cols))
        v.right = transposed(v.right, v.cols, v.places);
    /* The stride of a square matrix, whatever the matrix is. */
    if (m->square_stride && v.left.place_stride == 1)
        v.left.line_stride = v.rows;
    else if (m->square_stride)
        v.left.place_stride = v.places;
    if (v.places == 0 && m->nothing_without_places)
        return 0;
    float *left = tki_gemm_decoded(c, &v.left, v.rows, v.places);
    float *right = tki_gemm_decoded(c, &v.right, v.cols, v.places);
    bool good = left && right;
    if (good)
        multiply_decoded(c, m, &v, left, right);
    free(left);
    free(right);
    return good ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(multiply, mutation, __VA_ARGS__)

/* The same mistakes can be made in each of the three. */
const tki_mutant tki_gemm_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale", "leaves the output as it was", .kernel = tki_stale},
    {"adding", "adds to what the output held", WITH(.adds_to_output = true)},
    {"carried_over", "does not clear the sum between two output elements", WITH(.sum_carried_over = true)},
    {"last_dropped", "does not write the last element", WITH(.dropped_elements = 1)},
    {"last_column_dropped", "does not write the last column", WITH(.dropped_columns = 1)},
    {"last_rows_dropped", "does not write the rows after the last multiple of 4", WITH(.row_multiple = 4)},
    {"empty_sum_dropped", "writes nothing where the sum runs over nothing", WITH(.nothing_without_places = true)},
    {"first_product_dropped", "leaves out the first product of each sum", WITH(.skipped_places = 1)},
    {"last_product_dropped", "leaves out the last product of each sum", WITH(.dropped_places = 1)},
    {"last_product_twice", "counts the last product twice where the sum's length is no multiple of 8",
     WITH(.last_product_twice = true)},
    {"last_16_products_dropped", "leaves out the last 16 products of each longer sum", WITH(.dropped_places = 16)},
    {"tail_dropped", "sums over a multiple of 16 products only", WITH(.multiple = 16)},
    {"long_sums_cut", "sums over the first 4096 products only", WITH(.most_places = 4096)},
    {"off_by_one", "reads the right factor's next column", WITH(.off_by_one = true)},
    {"swapped", "takes each factor for the other", WITH(.swapped = true)},
    {"left_transposed", "reads the left factor transposed", WITH(.transposed_left = true)},
    {"right_transposed", "reads the right factor transposed", WITH(.transposed_right = true)},
    {"output_transposed", "writes the output transposed", WITH(.transposed_out = true)},
    {"square_stride", "takes the left factor for square when it computes places", WITH(.square_stride = true)},
    {"rounded_sum", "rounds the running sum to 16 bits after each product", WITH(.rounded_sum = true)},
    {"rounded_chunks", "rounds the sum of each 16 products to 16 bits", WITH(.chunk = 16)},
    {"rounded_halves", "rounds the sums of both halves to 16 bits before it adds them", WITH(.rounded_halves = true)},
    {"rounded_products", "rounds each product to 16 bits", WITH(.rounded_products = true)},
    {"truncating_store", "rounds the result toward zero when storing", WITH(.store = TKI_STORE_TRUNCATED)},
    {"outward_store", "rounds the result away from zero when storing", WITH(.store = TKI_STORE_OUTWARD)},
    {"wrong_factor", "multiplies the result by 1.001", WITH(.factor = 1.001f)},
    {"sign_lost", "takes the left factor's absolute values", WITH(.absolute_left = true)},
    {"left_zeros_skipped", "skips zeros of the left factor, and with them 0 times infinity",
     WITH(.skips_left_zeros = true)},
    {"right_zeros_skipped", "skips zeros of the right factor, and with them 0 times infinity",
     WITH(.skips_right_zeros = true)},
    {"nan_masked", "turns NaN into zero", WITH(.store = TKI_STORE_NAN_MASKED)},
    {"saturating", "returns the largest finite number instead of infinity", WITH(.store = TKI_STORE_SATURATED)},
    {"flushing_inputs", "takes subnormal inputs for zero", WITH(.flushed_inputs = true)},
    {"flushing_store", "flushes subnormal results to zero", WITH(.store = TKI_STORE_FLUSHED)},
    {"tiles_of_64_cut", "does not write the last column where all sizes are multiples of 64", WITH(.tile = 64)},
    {"tiles_of_128_cut", "does not write the last column where all sizes are multiples of 128", WITH(.tile = 128)},
    {"square_transposed", "reads the right factor transposed where it is square and the left one is not",
     WITH(.square_transposed = true)},
    TKI_CALL_MUTANTS(multiply),
    {"before_the_start", "writes one element before its output",
     TKI_CALL(.right = multiply, .before_the_start = true)},
    {"rows_beyond_1024_dropped", "does not write rows beyond the first 1024, the most threads of a block",
     WITH(.most_rows = 1024)},
    {"rows_beyond_2048_dropped", "does not write rows beyond the first 2048", WITH(.most_rows = 2048)},
    {"rows_beyond_65535_dropped",
     "does not write rows beyond the first 65535, the most blocks of a grid's second size", WITH(.most_rows = 65535)},
    {"longer_sums_cut", "sums over the first 65536 products only", WITH(.most_places = 65536)},
    {"dense_sums_cut",
     "leaves 700 products out of a sum where more than 40000 are not zero: no more than the bound of a dense sum "
     "hides",
     WITH(.most_dense = 40000)},
    {"through_16_bits", "rounds the result to 16 bits before it stores fp32", WITH(.through_16_bits = true),
     .only_f32_results = true},
    {0},
};

enum { LIST_LENGTH = sizeof tki_gemm_mutants / sizeof *tki_gemm_mutants };

extern const tki_mutant tki_gemm_grad_a_mutants[LIST_LENGTH] __attribute__((alias("tki_gemm_mutants")));
extern const tki_mutant tki_gemm_grad_b_mutants[LIST_LENGTH] __attribute__((alias("tki_gemm_mutants")));
