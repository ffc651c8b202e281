/* CHOOSES. Wrong kernels for the matrix products, each with one line saying what is wrong. One plain body serves all three ops. */
#include "ops/gemm/planted.h"

/* What is wrong with a product; all clear computes it right. */
typedef struct mutation {
    tki_product_mutation p;
    bool swapped, square_stride, square_transposed;
} mutation;

static void multiply_decoded(const tk_case *c, const mutation *m, const tki_gemm_product *v, const float *left,
                             const float *right)
{
    float sum = 0;
    int64_t rows = v->rows - tki_tail(v->rows, m->p.row_multiple);
    if (m->p.most_rows && rows > m->p.most_rows)
        rows = m->p.most_rows;
    bool tiled = m->p.tile && v->rows % m->p.tile == 0 && v->cols % m->p.tile == 0 && v->places % m->p.tile == 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < v->cols - m->p.dropped_columns - tiled; col++) {
            if (v->rows * v->cols - (row * v->cols + col) <= m->p.dropped_elements)
                continue;
            int64_t other = m->p.off_by_one && col + 1 < v->cols ? col + 1 : col;
            float start = m->p.adds_to_output     ? tki_get_result(c, v->out, row * v->cols + col)
                          : m->p.sum_carried_over ? sum
                                                  : 0;
            sum = tki_planted_inner_sum(c, &m->p, left + row * v->places, right + other * v->places, v->places,
                                        start);
            if (m->p.factor != 0)
                sum *= m->p.factor;
            if (m->p.through_16_bits)
                sum = tki_rounded(c, sum);
            tki_put_as(c, v->out, m->p.transposed_out ? col * v->rows + row : row * v->cols + col, sum, m->p.store);
        }
}

static int multiply(const tk_case *c, void *const b[], void *run)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    tki_gemm_product v = tki_gemm_product_of(c, b);
    if (m->swapped) {
        tki_planted_factor left = v.left;
        v.left.data = v.right.data;
        v.left.count = v.right.count;
        v.right.data = left.data;
        v.right.count = left.count;
    }
    if (m->p.transposed_left)
        v.left = tki_planted_transposed(v.left, v.rows, v.places);
    if (m->p.transposed_right || (m->square_transposed && v.cols == v.places && v.rows != v.cols))
        v.right = tki_planted_transposed(v.right, v.cols, v.places);
    /* The stride of a square matrix, whatever the matrix is. */
    if (m->square_stride && v.left.place_stride == 1)
        v.left.line_stride = v.rows;
    else if (m->square_stride)
        v.left.place_stride = v.places;
    if (v.places == 0 && m->p.nothing_without_places)
        return 0;
    float *left = tki_planted_decoded(c, &v.left, v.rows, v.places);
    float *right = tki_planted_decoded(c, &v.right, v.cols, v.places);
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
    {"adding", "adds to what the output held", WITH(.p.adds_to_output = true)},
    {"carried_over", "does not clear the sum between two output elements", WITH(.p.sum_carried_over = true)},
    {"last_dropped", "does not write the last element", WITH(.p.dropped_elements = 1)},
    {"last_column_dropped", "does not write the last column", WITH(.p.dropped_columns = 1)},
    {"last_rows_dropped", "does not write the rows after the last multiple of 4", WITH(.p.row_multiple = 4)},
    {"empty_sum_dropped", "writes nothing where the sum runs over nothing", WITH(.p.nothing_without_places = true)},
    {"first_product_dropped", "leaves out the first product of each sum", WITH(.p.skipped_places = 1)},
    {"last_product_dropped", "leaves out the last product of each sum", WITH(.p.dropped_places = 1)},
    {"last_product_twice", "counts the last product twice where the sum's length is no multiple of 8",
     WITH(.p.last_product_twice = true)},
    {"last_16_products_dropped", "leaves out the last 16 products of each longer sum", WITH(.p.dropped_places = 16)},
    {"tail_dropped", "sums over a multiple of 16 products only", WITH(.p.multiple = 16)},
    {"long_sums_cut", "sums over the first 4096 products only", WITH(.p.most_places = 4096)},
    {"off_by_one", "reads the right factor's next column", WITH(.p.off_by_one = true)},
    {"swapped", "takes each factor for the other", WITH(.swapped = true)},
    {"left_transposed", "reads the left factor transposed", WITH(.p.transposed_left = true)},
    {"right_transposed", "reads the right factor transposed", WITH(.p.transposed_right = true)},
    {"output_transposed", "writes the output transposed", WITH(.p.transposed_out = true)},
    {"square_stride", "takes the left factor for square when it computes places", WITH(.square_stride = true)},
    {"rounded_sum", "rounds the running sum to 16 bits after each product", WITH(.p.rounded_sum = true)},
    {"rounded_chunks", "rounds the sum of each 16 products to 16 bits", WITH(.p.chunk = 16)},
    {"rounded_halves", "rounds the sums of both halves to 16 bits before it adds them",
     WITH(.p.rounded_halves = true)},
    {"rounded_products", "rounds each product to 16 bits", WITH(.p.rounded_products = true)},
    {"truncating_store", "rounds the result toward zero when storing", WITH(.p.store = TKI_STORE_TRUNCATED)},
    {"outward_store", "rounds the result away from zero when storing", WITH(.p.store = TKI_STORE_OUTWARD)},
    {"wrong_factor", "multiplies the result by 1.001", WITH(.p.factor = 1.001f)},
    {"sign_lost", "takes the left factor's absolute values", WITH(.p.absolute_left = true)},
    {"left_zeros_skipped", "skips zeros of the left factor, and with them 0 times infinity",
     WITH(.p.skips_left_zeros = true)},
    {"right_zeros_skipped", "skips zeros of the right factor, and with them 0 times infinity",
     WITH(.p.skips_right_zeros = true)},
    {"nan_masked", "turns NaN into zero", WITH(.p.store = TKI_STORE_NAN_MASKED)},
    {"saturating", "returns the largest finite number instead of infinity", WITH(.p.store = TKI_STORE_SATURATED)},
    {"flushing_inputs", "takes subnormal inputs for zero", WITH(.p.flushed_inputs = true)},
    {"flushing_store", "flushes subnormal results to zero", WITH(.p.store = TKI_STORE_FLUSHED)},
    {"tiles_of_64_cut", "does not write the last column where all sizes are multiples of 64", WITH(.p.tile = 64)},
    {"tiles_of_128_cut", "does not write the last column where all sizes are multiples of 128", WITH(.p.tile = 128)},
    {"square_transposed", "reads the right factor transposed where it is square and the left one is not",
     WITH(.square_transposed = true)},
    TKI_CALL_MUTANTS(multiply),
    {"before_the_start", "writes one element before its output",
     TKI_CALL(.right = multiply, .before_the_start = true)},
    {"rows_beyond_1024_dropped", "does not write rows beyond the first 1024, the most threads of a block",
     WITH(.p.most_rows = 1024)},
    {"rows_beyond_2048_dropped", "does not write rows beyond the first 2048", WITH(.p.most_rows = 2048)},
    {"rows_beyond_65535_dropped",
     "does not write rows beyond the first 65535, the most blocks of a grid's second size",
     WITH(.p.most_rows = 65535)},
    {"longer_sums_cut", "sums over the first 65536 products only", WITH(.p.most_places = 65536)},
    {"dense_sums_cut",
     "leaves 700 products out of a sum where more than 40000 are not zero: no more than the bound of a dense sum "
     "hides",
     WITH(.p.most_dense = 40000)},
    {"through_16_bits", "rounds the result to 16 bits before it stores fp32", WITH(.p.through_16_bits = true),
     .only_f32_results = true},
    {0},
};

enum { LIST_LENGTH = sizeof tki_gemm_mutants / sizeof *tki_gemm_mutants };

extern const tki_mutant tki_gemm_grad_a_mutants[LIST_LENGTH] __attribute__((alias("tki_gemm_mutants")));
extern const tki_mutant tki_gemm_grad_b_mutants[LIST_LENGTH] __attribute__((alias("tki_gemm_mutants")));
