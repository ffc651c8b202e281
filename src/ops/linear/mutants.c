/* CHOOSES. Wrong kernels for a linear layer and its gradients, each with one line saying what is wrong. One plain body serves all three ops. */
#include "ops/linear/planted.h"

/* What gelu or its derivative is taken for. */
typedef enum form { TANH, ERF, QUICK, SLOPPY_TANH, RELU } form;

/* What is wrong; all clear computes it right. */
typedef struct mutation {
    tki_product_mutation p;
    /* in what is added */
    bool bias_dropped, bias_by_row, bias_in_halves, bias_rounded, bias_next, after_rounding, bias_without_last;
    bool other_dropped, other_twice, other_rounded, other_transposed, other_without_last, other_subtracted;
    bool adds_old_output; /* what the output holds in the place of what is to be added */
    bool clears_first;    /* the output, before anything is read */
    /* in gelu */
    form form;
    bool of_rounded, activated_pre, pre_dropped, pre_without_bias, no_activation, pre_last_column;
    bool at_sum, at_next, at_gelu, value_for_derivative, derivative_of_rounded, transposed_pre;
} mutation;

/* -- What is added ----------------------------------------------------------------------------------------------- */

static float bias_of(const tk_case *c, const mutation *m, const tki_linear_view *v, int64_t row, int64_t col)
{
    const bool last = m->bias_without_last && col + 1 == v->cols && col % 8;
    if (!v->bias || m->bias_dropped || last)
        return 0;
    const int64_t next = m->bias_next && col + 1 < v->cols ? col + 1 : col;
    const float bias = tki_get(c, v->bias, m->bias_by_row ? row % v->cols : next);
    return m->bias_in_halves && v->places >= 512 ? 2 * bias : bias;
}

static float other_of(const tk_case *c, const mutation *m, const tki_linear_view *v, int64_t row, int64_t col)
{
    const int64_t at = m->other_transposed ? col * v->rows + row : row * v->cols + col;
    if (!v->other || m->other_dropped || (m->other_without_last && col + 1 == v->cols))
        return 0;
    const float other = tki_get_result(c, m->adds_old_output ? v->out : v->other, at);
    return m->other_rounded      ? tki_rounded(c, other)
           : m->other_twice      ? 2 * other
           : m->other_subtracted ? -other
                                 : other;
}

static float with_terms(const tk_case *c, const mutation *m, const tki_linear_view *v, int64_t row, int64_t col,
                        float sum)
{
    if (m->after_rounding || m->p.through_16_bits)
        sum = tki_rounded(c, sum);
    const float bias = bias_of(c, m, v, row, col);
    if (v->bias)
        sum = m->bias_rounded ? tki_rounded(c, sum + bias) : sum + bias;
    return v->other ? sum + other_of(c, m, v, row, col) : sum;
}

/* -- gelu -------------------------------------------------------------------------------------------------------- */

static double gelu_of(form f, double x)
{
    switch (f) {
    case ERF: return 0.5 * x * erfc(-x * 0.70710678118654752440);
    case QUICK: return x / (1 + exp(-1.702 * x));
    case RELU: return x > 0 || isnan(x) ? x : 0;
    case SLOPPY_TANH:
        return (double)(0.5f * (float)x * (1.0f + tanhf((float)(TKI_LINEAR_C * (x + TKI_LINEAR_A * x * x * x)))));
    default: return tki_linear_gelu(x);
    }
}

static double derivative_of(form f, double x)
{
    switch (f) {
    case ERF: return 0.5 * erfc(-x * 0.70710678118654752440) + x * exp(-0.5 * x * x) * 0.39894228040143267794;
    case QUICK: {
        const double sigma = 1 / (1 + exp(-1.702 * x));
        return sigma + 1.702 * x * sigma * (1 - sigma);
    }
    case RELU: return isnan(x) ? x : x > 0;
    default: return tki_linear_derivative(x);
    }
}

static float times_derivative(const tk_case *c, const mutation *m, const tki_linear_view *v, int64_t at, float sum)
{
    const int64_t row = at / v->cols, col = at % v->cols;
    if (!v->pre || m->no_activation)
        return sum;
    if (m->transposed_pre)
        at = col * v->rows + row;
    if (m->at_next && col + 1 < v->cols)
        at++;
    double x = m->at_sum ? (double)sum : (double)tki_get_result(c, v->pre, at);
    if (m->at_gelu)
        x = gelu_of(TANH, x);
    double derivative = m->value_for_derivative ? gelu_of(TANH, x) : derivative_of(m->form, x);
    if (m->derivative_of_rounded)
        derivative = (double)tki_rounded(c, (float)derivative);
    if (m->of_rounded)
        sum = tki_rounded(c, sum);
    return sum * (float)derivative;
}

/* Stores what has been summed, and what gelu makes of it. */
static void finish(const tk_case *c, const mutation *m, const tki_linear_view *v, int64_t row, int64_t col, float sum)
{
    const int64_t at = row * v->cols + col;
    const int64_t to = m->p.transposed_out ? col * v->rows + row : at;
    const float before = m->p.adds_to_output ? tki_get_result(c, v->out, at) : 0;
    float value = with_terms(c, m, v, row, col, sum);
    value = m->p.adds_to_output ? value + before : value;
    value = times_derivative(c, m, v, at, value);
    if (m->p.factor != 0)
        value *= m->p.factor;
    if (!v->unactivated) {
        tki_put_as(c, v->out, to, value, m->p.store);
        return;
    }
    const float argument = m->of_rounded ? tki_rounded(c, value) : value;
    const float y = m->no_activation ? value : (float)gelu_of(m->form, (double)argument);
    if (!m->pre_dropped && !(m->pre_last_column && col + 1 == v->cols))
        tki_put_as(c, v->unactivated, to, m->activated_pre ? y : m->pre_without_bias ? sum : value, m->p.store);
    tki_put_as(c, v->out, to, y, m->p.store);
}

static void multiply_decoded(const tk_case *c, const mutation *m, const tki_linear_view *v, const float *left,
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
            sum = tki_planted_inner_sum(c, &m->p, left + row * v->places, right + other * v->places, v->places,
                                        m->p.sum_carried_over ? sum : 0);
            finish(c, m, v, row, col, sum);
        }
}

static int layer(const tk_case *c, void *const b[], void *run)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    tki_linear_view v = tki_linear_view_of(c, b);
    if (m->p.transposed_left)
        v.left = tki_planted_transposed(v.left, v.rows, v.places);
    if (m->p.transposed_right)
        v.right = tki_planted_transposed(v.right, v.cols, v.places);
    if (v.places == 0 && m->p.nothing_without_places)
        return 0;
    if (m->clears_first && v.rows * v.cols > 0)
        memset(v.out, 0, (size_t)(v.rows * v.cols) * tk_dtype_size(c->result_dtype));
    float *left = tki_planted_decoded(c, &v.left, v.rows, v.places);
    float *right = tki_planted_decoded(c, &v.right, v.cols, v.places);
    bool good = left && right;
    if (good)
        multiply_decoded(c, m, &v, left, right);
    free(left);
    free(right);
    return good ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(layer, mutation, __VA_ARGS__)

/* clang-format off */ /* one row below the other */
/* Mistakes that can be made in each of the three. */
#define MUTANTS_OF_PRODUCTS                                                                                             \
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},                                                             \
    {"stale", "leaves the output as it was", .kernel = tki_stale},                                                      \
    {"adding", "adds to what the output held", WITH(.p.adds_to_output = true)},                                           \
    {"carried_over", "does not clear the sum between two output elements", WITH(.p.sum_carried_over = true)},             \
    {"last_dropped", "does not write the last element", WITH(.p.dropped_elements = 1)},                                   \
    {"last_column_dropped", "does not write the last column", WITH(.p.dropped_columns = 1)},                              \
    {"last_rows_dropped", "does not write the rows after the last multiple of 4", WITH(.p.row_multiple = 4)},             \
    {"empty_sum_dropped", "writes nothing where the sum runs over nothing", WITH(.p.nothing_without_places = true)},      \
    {"first_product_dropped", "leaves out the first product of each sum", WITH(.p.skipped_places = 1)},                   \
    {"last_product_dropped", "leaves out the last product of each sum", WITH(.p.dropped_places = 1)},                     \
    {"tail_dropped", "sums over a multiple of 16 products only", WITH(.p.multiple = 16)},                                 \
    {"long_sums_cut", "sums over the first 4096 products only", WITH(.p.most_places = 4096)},                             \
    {"off_by_one", "reads the right factor's next column", WITH(.p.off_by_one = true)},                                   \
    {"left_transposed", "reads the left factor transposed", WITH(.p.transposed_left = true)},                             \
    {"right_transposed", "reads the right factor transposed", WITH(.p.transposed_right = true)},                          \
    {"output_transposed", "writes the output transposed", WITH(.p.transposed_out = true)},                                \
    {"rounded_sum", "rounds the running sum to 16 bits after each product", WITH(.p.rounded_sum = true)},                 \
    {"rounded_halves", "rounds the sums of both halves to 16 bits before it adds them", WITH(.p.rounded_halves = true)},  \
    {"rounded_products", "rounds each product to 16 bits", WITH(.p.rounded_products = true)},                             \
    {"truncating_store", "rounds the result toward zero when storing", WITH(.p.store = TKI_STORE_TRUNCATED)},             \
    {"outward_store", "rounds the result away from zero when storing", WITH(.p.store = TKI_STORE_OUTWARD)},               \
    {"wrong_factor", "multiplies the result by 1.001", WITH(.p.factor = 1.001f)},                                         \
    {"sign_lost", "takes the left factor's absolute values", WITH(.p.absolute_left = true)},                              \
    {"zeros_skipped", "skips zeros, and with them 0 times infinity", WITH(.p.skips_left_zeros = true, .p.skips_right_zeros = true)},                        \
    {"nan_masked", "turns NaN into zero", WITH(.p.store = TKI_STORE_NAN_MASKED)},                                         \
    {"saturating", "returns the largest finite number instead of infinity", WITH(.p.store = TKI_STORE_SATURATED)},        \
    {"flushing_inputs", "takes subnormal inputs for zero", WITH(.p.flushed_inputs = true)},                               \
    {"tiles_of_64_cut", "does not write the last column where all sizes are multiples of 64", WITH(.p.tile = 64)},        \
    TKI_CALL_MUTANTS(layer),                                                                                            \
    {"rows_beyond_1024_dropped", "does not write rows beyond the first 1024", WITH(.p.most_rows = 1024)},                 \
    {"dense_sums_cut",                                                                                                  \
     "leaves 700 products out of a sum where more than 40000 are not zero: no more than the bound of a dense sum hides", \
     WITH(.p.most_dense = 40000)},                                                                                        \
    {"through_16_bits", "rounds the product to 16 bits before it goes on in fp32", WITH(.p.through_16_bits = true),       \
     .only_f32_results = true}
/* clang-format on */

const tki_mutant tki_linear_fwd_mutants[] = {
    MUTANTS_OF_PRODUCTS,
    {"bias_dropped", "adds no bias", WITH(.bias_dropped = true)},
    {"bias_by_row", "takes the bias of the row", WITH(.bias_by_row = true)},
    {"bias_next", "takes the bias of the next column", WITH(.bias_next = true)},
    {"bias_without_last", "adds no bias to the last column where it is none of 8", WITH(.bias_without_last = true)},
    {"bias_after_rounding", "adds bias and residual to the product rounded to 16 bits", WITH(.after_rounding = true)},
    {"bias_rounded", "rounds to 16 bits after the bias, before anything else", WITH(.bias_rounded = true)},
    {"bias_in_halves", "adds the bias to both halves of a sum that is split from 512 products on",
     WITH(.bias_in_halves = true)},
    {"residual_dropped", "adds no residual", WITH(.other_dropped = true)},
    {"residual_without_last", "adds no residual in the last column", WITH(.other_without_last = true)},
    {"residual_twice", "adds the residual twice", WITH(.other_twice = true)},
    {"residual_transposed", "reads the residual transposed", WITH(.other_transposed = true)},
    {"residual_subtracted", "subtracts the residual", WITH(.other_subtracted = true)},
    {"gelu_of_rounded", "takes gelu of the sum rounded to 16 bits", WITH(.of_rounded = true)},
    {"gelu_by_erf", "takes the form of gelu with erf", WITH(.form = ERF)},
    {"quick_gelu", "takes x sigmoid(1.702 x)", WITH(.form = QUICK)},
    {"gelu_cancelling", "takes 1 + tanh, which cancels, in fp32", WITH(.form = SLOPPY_TANH)},
    {"relu", "takes relu", WITH(.form = RELU)},
    {"not_activated", "leaves gelu out", WITH(.no_activation = true)},
    {"pre_activated", "stores pre after gelu", WITH(.activated_pre = true)},
    {"pre_dropped", "does not store pre", WITH(.pre_dropped = true)},
    {"pre_last_column_dropped", "does not store the last column of pre", WITH(.pre_last_column = true)},
    {"pre_without_bias", "stores pre before the bias is added", WITH(.pre_without_bias = true)},
    {0},
};

const tki_mutant tki_linear_grad_x_mutants[] = {
    MUTANTS_OF_PRODUCTS,
    {"derivative_dropped", "leaves the derivative out", WITH(.no_activation = true)},
    {"derivative_of_sum", "takes the derivative at the sum", WITH(.at_sum = true)},
    {"derivative_of_next", "takes the derivative at the next column's pre", WITH(.at_next = true)},
    {"derivative_of_gelu", "takes the derivative at gelu(pre)", WITH(.at_gelu = true)},
    {"derivative_transposed", "reads pre transposed", WITH(.transposed_pre = true)},
    {"gelu_for_derivative", "multiplies by gelu(pre)", WITH(.value_for_derivative = true)},
    {"derivative_by_erf", "takes the derivative of the form with erf", WITH(.form = ERF)},
    {"quick_derivative", "takes the derivative of x sigmoid(1.702 x)", WITH(.form = QUICK)},
    {"relu_derivative", "takes the derivative of relu", WITH(.form = RELU)},
    {"derivative_of_rounded", "rounds the derivative to 16 bits", WITH(.derivative_of_rounded = true)},
    {"product_rounded", "rounds the product to 16 bits before the derivative", WITH(.of_rounded = true)},
    {0},
};

const tki_mutant tki_linear_grad_w_mutants[] = {
    MUTANTS_OF_PRODUCTS,
    {"overwrites", "leaves out what was there", WITH(.other_dropped = true)},
    {"before_twice", "adds what was there twice", WITH(.other_twice = true)},
    {"before_subtracted", "subtracts what was there", WITH(.other_subtracted = true)},
    {"before_transposed", "reads what was there transposed", WITH(.other_transposed = true)},
    {"before_without_last", "leaves out what was there in the last column", WITH(.other_without_last = true)},
    {"before_after_rounding", "adds what was there to the product rounded to 16 bits", WITH(.after_rounding = true)},
    {"before_rounded", "rounds what was there to 16 bits", WITH(.other_rounded = true), .only_f32_results = true},
    {"adds_to_output", "adds what its output held: right in place only", WITH(.adds_old_output = true)},
    {"clears_first", "clears its output before it reads: wrong in place", WITH(.clears_first = true)},
    {0},
};
