/* CHOOSES. Wrong kernels for products, layers and products of groups, each with one line saying what is wrong. One plain body serves all nine ops. */
#include "ops/product/planted.h"

/* What gelu or its derivative is taken for. */
typedef enum form { TANH, ERF, QUICK, SLOPPY_TANH, RELU } form;

/* What is wrong; all clear computes it right. */
typedef struct mutation {
    tki_store store;
    bool transposed_left, transposed_right, transposed_out, off_by_one, flushed_inputs, rounded_sum, rounded_products,
        rounded_halves, skips_left_zeros, skips_right_zeros, sum_carried_over, nothing_without_places, absolute_left,
        through_16_bits, last_product_twice, swapped, square_stride, square_transposed;
    bool adds_to_output;                       /* what it holds, whether there is something to add or not */
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
    /* In what is added */
    bool bias_dropped, bias_by_row, bias_in_halves, bias_rounded, bias_next, after_rounding, bias_without_last;
    bool other_dropped, other_twice, other_rounded, other_transposed, other_without_last, other_subtracted;
    bool adds_old_output; /* what the output holds in the place of what is to be added */
    bool clears_first;    /* the output, before anything is read */
    /* In gelu */
    form form;
    bool of_rounded, activated_pre, pre_dropped, pre_without_bias, no_activation, pre_last_column;
    bool at_sum, at_next, at_gelu, value_for_derivative, derivative_of_rounded, transposed_pre;
    /* In groups */
    int64_t late, early;     /* a group ends so many rows later; begins so many earlier */
    bool boundary_by_matrix; /* the last row of a group is multiplied by the next group's matrix */
    bool starts;             /* ends are taken for starts */
    bool sizes;              /* ends are taken for numbers of rows */
    bool empty_not_counted;  /* the matrices of groups without rows are not counted */
    bool stops_at_empty;
    bool rest_left;    /* rows of no group, or matrices of groups without rows, are not written */
    bool rest_to_last; /* rows of no group go to the last one */
    int64_t
        group_tile; /* rows of a tile, of which the last one of a group is stored in full: the last group is first */
    int64_t capacity;    /* more rows than this times an equal share are left out */
    int64_t bits;        /* of a group's number, if not 0 */
    int64_t end_bits;    /* of an end */
    int64_t padding;     /* sums go on to a multiple of it, with zeros of the left factor */
    int64_t last_groups; /* groups beyond this many are left out */
    int64_t sum_tile;    /* grad_b: sums go on to a multiple of it, into the next group */
} mutation;

/* -- Products ---------------------------------------------------------------------------------------------------- */

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

/* -- What is added ----------------------------------------------------------------------------------------------- */

static float bias_of(const mutation *m, const tki_planted_product *v, int64_t row, int64_t col)
{
    const bool last = m->bias_without_last && col + 1 == v->cols && col % 8;
    if (!v->bias || m->bias_dropped || last)
        return 0;
    const int64_t next = m->bias_next && col + 1 < v->cols ? col + 1 : col;
    const float bias = tki_get_as(v->bias_type, v->bias, m->bias_by_row ? row % v->cols : next);
    return m->bias_in_halves && v->places >= 512 ? 2 * bias : bias;
}

static float other_of(const tk_case *c, const mutation *m, const tki_planted_product *v, int64_t row, int64_t col)
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

static float with_terms(const tk_case *c, const mutation *m, const tki_planted_product *v, int64_t row, int64_t col,
                        float sum)
{
    if (m->after_rounding || m->through_16_bits)
        sum = tki_rounded(c, sum);
    const float bias = bias_of(m, v, row, col);
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

static float times_derivative(const tk_case *c, const mutation *m, const tki_planted_product *v, int64_t at,
                              float sum)
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
static void finish(const tk_case *c, const mutation *m, const tki_planted_product *v, int64_t row, int64_t col,
                   float sum)
{
    const int64_t at = row * v->cols + col;
    const int64_t to = m->transposed_out ? col * v->rows + row : at;
    const float before = m->adds_to_output ? tki_get_result(c, v->out, at) : 0;
    float value = with_terms(c, m, v, row, col, sum);
    value = m->adds_to_output ? value + before : value;
    value = times_derivative(c, m, v, at, value);
    if (m->factor != 0)
        value *= m->factor;
    if (!v->unactivated) {
        tki_put_as(c, v->out, to, value, m->store);
        return;
    }
    const float argument = m->of_rounded ? tki_rounded(c, value) : value;
    const float y = m->no_activation ? value : (float)gelu_of(m->form, (double)argument);
    if (!m->pre_dropped && !(m->pre_last_column && col + 1 == v->cols))
        tki_put_as(c, v->unactivated, to, m->activated_pre ? y : m->pre_without_bias ? sum : value, m->store);
    tki_put_as(c, v->out, to, y, m->store);
}

/* The lines of the right factor are `pitch` long, and go on behind the sum. */
static void multiply_decoded(const tk_case *c, const mutation *m, const tki_planted_product *v, const float *left,
                             const float *right, int64_t pitch)
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
            sum = inner_sum(c, m, left + row * v->places, right + other * pitch, v->places,
                            m->sum_carried_over ? sum : 0);
            for (int64_t t = v->places; t < pitch; t++)
                sum += 0 * right[other * pitch + t];
            finish(c, m, v, row, col, sum);
        }
}

/* One product, or that of one group. */
static bool multiply_one(const tk_case *c, const mutation *m, tki_planted_product v)
{
    if (m->swapped) {
        tki_planted_factor left = v.left;
        v.left.data = v.right.data;
        v.left.dtype = v.right.dtype;
        v.left.count = v.right.count;
        v.right.data = left.data;
        v.right.dtype = left.dtype;
        v.right.count = left.count;
    }
    if (m->transposed_left)
        v.left = tki_planted_transposed(v.left, v.rows, v.places);
    if (m->transposed_right || (m->square_transposed && v.cols == v.places && v.rows != v.cols))
        v.right = tki_planted_transposed(v.right, v.cols, v.places);
    /* The stride of a square matrix, whatever the matrix is. */
    v.left.wraps = v.right.wraps = m->square_stride || m->swapped;
    if (m->square_stride && v.left.place_stride == 1)
        v.left.line_stride = v.rows;
    else if (m->square_stride)
        v.left.place_stride = v.places;
    if ((v.places == 0 && m->nothing_without_places) || v.rows == 0 || v.cols == 0)
        return true;
    if (m->clears_first)
        memset(v.out, 0, (size_t)(v.rows * v.cols) * tk_dtype_size(tki_results_of(c)));
    const int64_t pitch = m->padding ? (v.places + m->padding - 1) / m->padding * m->padding : v.places;
    float *left = tki_planted_decoded(&v.left, v.rows, v.places);
    float *right = tki_planted_decoded(&v.right, v.cols, pitch);
    bool good = left && right;
    if (good)
        multiply_decoded(c, m, &v, left, right, pitch);
    free(left);
    free(right);
    return good;
}

/* -- Groups ------------------------------------------------------------------------------------------------------ */

/* One group as a mutation sees it. */
typedef struct stretch {
    int64_t begin, end; /* rows */
    int64_t matrix;     /* the number of its matrix */
} stretch;

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static int64_t end_seen(const tk_case *c, const tki_planted_product *v, const mutation *m, int64_t group)
{
    const int64_t end = tki_planted_end(c, v, group);
    return m->end_bits ? end & ((INT64_C(1) << m->end_bits) - 1) : end;
}

/* `counted`: groups with rows before it; `before`: rows, if ends were numbers of them. */
static stretch stretch_of(const tk_case *c, const tki_planted_product *v, const mutation *m, int64_t group,
                          int64_t counted, int64_t before)
{
    stretch s = {end_seen(c, v, m, group - 1), end_seen(c, v, m, group), group};
    if (m->starts)
        s = (stretch){s.end, group + 1 < v->groups ? end_seen(c, v, m, group + 1) : v->all_rows, group};
    if (m->sizes)
        s = (stretch){before, before + s.end, group};
    if (m->empty_not_counted)
        s.matrix = counted;
    if (m->bits)
        s.matrix &= (INT64_C(1) << m->bits) - 1;
    if (m->capacity && s.end - s.begin > m->capacity * ((v->all_rows + v->groups - 1) / v->groups))
        s.end = s.begin + m->capacity * ((v->all_rows + v->groups - 1) / v->groups);
    s.end += s.end > s.begin || !v->over_rows ? m->late : 0;
    s.begin -= s.end > s.begin ? m->early : 0;
    if (m->sum_tile && s.end > s.begin)
        s.end = s.begin + (s.end - s.begin + m->sum_tile - 1) / m->sum_tile * m->sum_tile;
    s.begin = within(s.begin, 0, v->all_rows);
    s.end = within(s.end, s.begin, v->all_rows);
    return s;
}

static bool multiply_rows(const tk_case *c, const mutation *m, const tki_planted_product *v, stretch s)
{
    const bool next = m->boundary_by_matrix && s.end > s.begin && s.matrix + 1 < v->groups;
    const int64_t matrix = within(s.matrix, 0, v->groups - 1);
    int64_t end = s.end - next;
    if (m->group_tile)
        end = within(s.begin + (s.end - s.begin + m->group_tile - 1) / m->group_tile * m->group_tile, s.begin,
                     v->all_rows);
    return multiply_one(c, m, tki_planted_group(c, *v, s.begin, end, matrix)) &&
           (!next || multiply_one(c, m, tki_planted_group(c, *v, s.end - 1, s.end, matrix + 1)));
}

static bool multiply_matrix(const tk_case *c, const mutation *m, const tki_planted_product *v, stretch s)
{
    return (m->rest_left && s.begin == s.end) || s.matrix >= v->groups ||
           multiply_one(c, m, tki_planted_group(c, *v, s.begin, s.end, s.matrix));
}

static void clear(const tk_case *c, const mutation *m, const tki_planted_product *v)
{
    const int64_t first = m->rest_left && v->groups ? within(tki_planted_end(c, v, v->groups - 1), 0, v->all_rows)
                                                    : v->all_rows;
    const int64_t count = v->over_rows ? v->groups * v->matrix : first * v->cols;
    for (int64_t i = 0; i < count && !m->adds_to_output && !(m->rest_left && (v->over_rows || v->groups == 0)); i++)
        tki_put(c, v->out, i, 0);
}

/* In the order of the groups, or the last one first. */
static bool multiply_groups(const tk_case *c, const mutation *m, const tki_planted_product *v)
{
    stretch *groups = malloc((size_t)(v->groups + 1) * sizeof *groups);
    int64_t counted = 0, before = 0, count = 0;
    for (; groups && count < v->groups && !(m->last_groups && count == m->last_groups); count++) {
        const int64_t rows = tki_planted_end(c, v, count) - tki_planted_end(c, v, count - 1);
        if (m->stops_at_empty && rows == 0)
            break;
        groups[count] = stretch_of(c, v, m, count, counted, before);
        before += m->sizes ? tki_planted_end(c, v, count) : 0;
        counted += rows > 0;
    }
    if (groups && m->rest_to_last && count > 0)
        groups[count - 1].end = v->all_rows;
    if (groups)
        clear(c, m, v);
    bool good = groups;
    for (int64_t i = 0; good && i < count; i++) {
        const stretch s = groups[m->group_tile ? count - 1 - i : i];
        good = v->over_rows ? multiply_matrix(c, m, v, s) : multiply_rows(c, m, v, s);
    }
    free(groups);
    return good;
}

static int multiply(const tk_case *c, void *const b[], void *run)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    const tki_planted_product v = tki_planted_product_of(c, b);
    return (v.ends ? multiply_groups(c, m, &v) : multiply_one(c, m, v)) ? 0 : 1;
}

#define WITH(...) TKI_PLANTED(multiply, mutation, __VA_ARGS__)
/* Products of numbers of 8 bits have at most 8 bits, too, and sums of those of e4m3 are finite. */
#define IN_8_BITS (1u << TK_F8_E4M3 | 1u << TK_F8_E5M2)
#define HAS(...) {__VA_ARGS__},
#define LACKS(...)

/* clang-format off */ /* one row below the other */
/* The same mistakes can be made in several ops. Of which ones a row is, the word before it says. */
#define MUTANTS(ALL, PRODUCT_LAYER, PRODUCT_GROUP, PRODUCT, LAYER, GROUP)                                                                               \
    ALL("all_zeros", "writes zeros", .kernel = tki_all_zeros)                                                                                           \
    ALL("stale", "leaves the output as it was", .kernel = tki_stale)                                                                                    \
    ALL("adding", "adds to what the output held", WITH(.adds_to_output = true))                                                                         \
    PRODUCT_LAYER("carried_over", "does not clear the sum between two output elements", WITH(.sum_carried_over = true))                                 \
    PRODUCT_LAYER("last_dropped", "does not write the last element", WITH(.dropped_elements = 1))                                                       \
    PRODUCT_LAYER("last_column_dropped", "does not write the last column", WITH(.dropped_columns = 1))                                                  \
    PRODUCT_LAYER("last_rows_dropped", "does not write the rows after the last multiple of 4", WITH(.row_multiple = 4))                                 \
    PRODUCT_LAYER("empty_sum_dropped", "writes nothing where the sum runs over nothing", WITH(.nothing_without_places = true))                          \
    GROUP("boundary_late", "takes the row behind a group's end for one of its own", WITH(.late = 1))                                                    \
    GROUP("boundary_early", "takes the row before a group's first one for one of its own", WITH(.early = 1))                                            \
    GROUP("ends_as_starts", "takes ends for the beginnings of groups", WITH(.starts = true))                                                            \
    GROUP("ends_as_sizes", "takes ends for numbers of rows", WITH(.sizes = true))                                                                       \
    GROUP("empty_not_counted", "does not count groups without rows when it numbers matrices", WITH(.empty_not_counted = true))                          \
    GROUP("stops_at_empty", "stops at the first group without rows", WITH(.stops_at_empty = true))                                                      \
    GROUP("rest_to_last", "takes rows of no group for those of the last one", WITH(.rest_to_last = true))                                               \
    GROUP("capacity", "leaves out rows of a group beyond twice an equal share", WITH(.capacity = 2))                                                    \
    GROUP("narrow_group", "keeps 8 bits of a group's number", WITH(.bits = 8))                                                                          \
    GROUP("narrow_end", "keeps 16 bits of an end", WITH(.end_bits = 16))                                                                                \
    GROUP("groups_beyond_64", "leaves out groups beyond the first 64", WITH(.last_groups = 64))                                                         \
    GROUP("padded_with_neighbours", "fills sums up to a multiple of 64 with zeros times what lies behind", WITH(.padding = 64))                         \
    GROUP("off_by_one", "reads the right factor's next column", WITH(.off_by_one = true))                                                               \
    ALL("first_product_dropped", "leaves out the first product of each sum", WITH(.skipped_places = 1))                                                 \
    ALL("last_product_dropped", "leaves out the last product of each sum", WITH(.dropped_places = 1))                                                   \
    PRODUCT("last_product_twice", "counts the last product twice where the sum's length is no multiple of 8",                                           \
        WITH(.last_product_twice = true))                                                                                                               \
    PRODUCT("last_16_products_dropped", "leaves out the last 16 products of each longer sum", WITH(.dropped_places = 16))                               \
    PRODUCT_LAYER("tail_dropped", "sums over a multiple of 16 products only", WITH(.multiple = 16))                                                     \
    PRODUCT_LAYER("long_sums_cut", "sums over the first 4096 products only", WITH(.most_places = 4096))                                                 \
    PRODUCT_LAYER("off_by_one", "reads the right factor's next column", WITH(.off_by_one = true))                                                       \
    PRODUCT("swapped", "takes each factor for the other", WITH(.swapped = true))                                                                        \
    PRODUCT_LAYER("left_transposed", "reads the left factor transposed", WITH(.transposed_left = true))                                                 \
    PRODUCT_LAYER("right_transposed", "reads the right factor transposed", WITH(.transposed_right = true))                                              \
    PRODUCT_LAYER("output_transposed", "writes the output transposed", WITH(.transposed_out = true))                                                    \
    PRODUCT("square_stride", "takes the left factor for square when it computes places", WITH(.square_stride = true))                                   \
    ALL("rounded_sum", "rounds the running sum to 16 bits after each product", WITH(.rounded_sum = true))                                               \
    PRODUCT("rounded_chunks", "rounds the sum of each 16 products to 16 bits", WITH(.chunk = 16))                                                       \
    PRODUCT_LAYER("rounded_halves", "rounds the sums of both halves to 16 bits before it adds them",                                                    \
        WITH(.rounded_halves = true))                                                                                                                   \
    PRODUCT_LAYER("rounded_products", "rounds each product to 16 bits", WITH(.rounded_products = true),                       \
        .right_in = IN_8_BITS, .right_of = IN_8_BITS)                                                 \
    ALL("truncating_store", "rounds the result toward zero when storing", WITH(.store = TKI_STORE_TRUNCATED))                                           \
    PRODUCT_LAYER("outward_store", "rounds the result away from zero when storing", WITH(.store = TKI_STORE_OUTWARD))                                   \
    ALL("wrong_factor", "multiplies the result by 1.001", WITH(.factor = 1.001f))                                                                       \
    ALL("sign_lost", "takes the left factor's absolute values", WITH(.absolute_left = true))                                                            \
    GROUP("zeros_skipped", "skips zeros of a factor, and with them 0 times infinity",                                                                   \
        WITH(.skips_left_zeros = true, .skips_right_zeros = true))                                                                                      \
    LAYER("zeros_skipped", "skips zeros, and with them 0 times infinity",                                                                               \
        WITH(.skips_left_zeros = true, .skips_right_zeros = true))                                                                                      \
    PRODUCT("left_zeros_skipped", "skips zeros of the left factor, and with them 0 times infinity",                                                     \
        WITH(.skips_left_zeros = true))                                                                                                                 \
    PRODUCT("right_zeros_skipped", "skips zeros of the right factor, and with them 0 times infinity",                                                   \
        WITH(.skips_right_zeros = true))                                                                                                                \
    ALL("nan_masked", "turns NaN into zero", WITH(.store = TKI_STORE_NAN_MASKED))                                                                       \
    ALL("saturating", "returns the largest finite number instead of infinity", WITH(.store = TKI_STORE_SATURATED), .right_of = 1u << TK_F8_E4M3)                                      \
    PRODUCT_LAYER("flushing_inputs", "takes subnormal inputs for zero", WITH(.flushed_inputs = true))                                                   \
    PRODUCT_GROUP("flushing_store", "flushes subnormal results to zero", WITH(.store = TKI_STORE_FLUSHED))                                              \
    PRODUCT_LAYER("tiles_of_64_cut", "does not write the last column where all sizes are multiples of 64", WITH(.tile = 64))                            \
    PRODUCT("tiles_of_128_cut", "does not write the last column where all sizes are multiples of 128", WITH(.tile = 128))                               \
    PRODUCT("square_transposed", "reads the right factor transposed where it is square and the left one is not",                                        \
        WITH(.square_transposed = true))                                                                                                                \
    TKI_CALL_MUTANTS(multiply),                                                                                                                         \
    PRODUCT_GROUP("before_the_start", "writes one element before its output",                                                                           \
        TKI_CALL(.right = multiply, .before_the_start = true))                                                                                          \
    LAYER("rows_beyond_1024_dropped", "does not write rows beyond the first 1024", WITH(.most_rows = 1024))                                             \
    PRODUCT("rows_beyond_1024_dropped", "does not write rows beyond the first 1024, the most threads of a block",                                       \
        WITH(.most_rows = 1024))                                                                                                                        \
    PRODUCT("rows_beyond_2048_dropped", "does not write rows beyond the first 2048", WITH(.most_rows = 2048))                                           \
    PRODUCT("rows_beyond_65535_dropped", "does not write rows beyond the first 65535, the most blocks of a grid's second size",                         \
        WITH(.most_rows = 65535))                                                                                                                       \
    PRODUCT("longer_sums_cut", "sums over the first 65536 products only", WITH(.most_places = 65536))                                                   \
    PRODUCT_LAYER("dense_sums_cut", "leaves 700 products out of a sum where more than 40000 are not zero: no more than the bound of a dense sum hides", \
        WITH(.most_dense = 40000))                                                                                                                      \
    PRODUCT_GROUP("through_16_bits", "rounds the result to 16 bits before it stores fp32",                                                              \
        WITH(.through_16_bits = true), .only_f32_results = true)                                                                                        \
    LAYER("through_16_bits", "rounds the product to 16 bits before it goes on in fp32",                                                                 \
        WITH(.through_16_bits = true), .only_f32_results = true)

#define OF_PRODUCTS MUTANTS(HAS, HAS, HAS, HAS, LACKS, LACKS)
#define OF_LAYERS MUTANTS(HAS, HAS, LACKS, LACKS, HAS, LACKS)
#define OF_GROUPS MUTANTS(HAS, LACKS, HAS, LACKS, LACKS, HAS)

const tki_mutant tki_gemm_mutants[] = {
    OF_PRODUCTS
    {0},
};

const tki_mutant tki_linear_fwd_mutants[] = {
    OF_LAYERS
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
    {"gelu_cancelling", "takes 1 + tanh, which cancels, in fp32", WITH(.form = SLOPPY_TANH), .right_in = 1u << TK_F8_E4M3},
    {"relu", "takes relu", WITH(.form = RELU)},
    {"not_activated", "leaves gelu out", WITH(.no_activation = true)},
    {"pre_activated", "stores pre after gelu", WITH(.activated_pre = true)},
    {"pre_dropped", "does not store pre", WITH(.pre_dropped = true)},
    {"pre_last_column_dropped", "does not store the last column of pre", WITH(.pre_last_column = true)},
    {"pre_without_bias", "stores pre before the bias is added", WITH(.pre_without_bias = true)},
    {0},
};

const tki_mutant tki_linear_grad_x_mutants[] = {
    OF_LAYERS
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
    OF_LAYERS
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

const tki_mutant tki_grouped_gemm_mutants[] = {
    OF_GROUPS
    {"last_row_by_next", "multiplies the last row of a group by the next group's matrix",
     WITH(.boundary_by_matrix = true)},
    {"rest_left", "does not write rows of no group", WITH(.rest_left = true)},
    {"tile_overrun", "stores tiles of 16 rows in full, into the next group", WITH(.group_tile = 16)},
    {"large_tile_overrun", "stores tiles of 128 rows in full, into the next group", WITH(.group_tile = 128)},
    {0},
};

const tki_mutant tki_grouped_gemm_grad_b_mutants[] = {
    OF_GROUPS
    {"empty_left", "does not write the matrix of a group without rows", WITH(.rest_left = true)},
    {"sum_overrun", "sums over a multiple of 8 rows, into the next group", WITH(.sum_tile = 8)},
    {"large_sum_overrun", "sums over a multiple of 64 rows, into the next group", WITH(.sum_tile = 64)},
    {0},
};

/* clang-format on */

#define SAME(op, as)                                                                                   \
    extern const tki_mutant tki_##op##_mutants[sizeof tki_##as##_mutants / sizeof *tki_##as##_mutants] \
        __attribute__((alias("tki_" #as "_mutants")))
SAME(gemm_grad_a, gemm);
SAME(gemm_grad_b, gemm);
SAME(grouped_gemm_grad_a, grouped_gemm);
