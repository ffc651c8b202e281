/* CHOOSES. Wrong kernels for products of groups, each with one line saying what is wrong. One plain body serves all three ops. */
#include <math.h>

#include "ops/grouped/planted.h"

/* What is wrong; all clear computes it right. */
typedef struct mutation {
    tki_store store;
    bool rounded_sum, skips_zeros, absolute_left, through_16_bits, adds_to_output, last_product_dropped,
        first_product_dropped, off_by_one;
    /* Groups */
    int64_t late, early;     /* a group ends so many rows later; begins so many earlier */
    bool boundary_by_matrix; /* the last row of a group is multiplied by the next group's matrix */
    bool starts;             /* ends are taken for starts */
    bool sizes;              /* ends are taken for numbers of rows */
    bool empty_not_counted;  /* the matrices of groups without rows are not counted */
    bool stops_at_empty;
    bool rest_left;    /* rows of no group, or matrices of groups without rows, are not written */
    bool rest_to_last; /* rows of no group go to the last one */
    int64_t tile; /* rows of a tile, of which the last one of a group is stored in full: the last group is first */
    int64_t capacity;    /* more rows than this times an equal share are left out */
    int64_t bits;        /* of a group's number, if not 0 */
    int64_t end_bits;    /* of an end */
    int64_t padding;     /* sums go on to a multiple of it, with zeros of the left factor */
    int64_t last_groups; /* groups beyond this many are left out */
    int64_t sum_tile;    /* grad_b: sums go on to a multiple of it, into the next group */
    float factor;        /* of the result, if not 0 */
} mutation;

/* One group as a mutation sees it. */
typedef struct stretch {
    int64_t begin, end; /* rows */
    int64_t matrix;     /* the number of its matrix */
} stretch;

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static int64_t end_seen(const tk_case *c, void *const b[], const mutation *m, int64_t group)
{
    const int64_t end = tki_grouped_end(c, b, group);
    return m->end_bits ? end & ((INT64_C(1) << m->end_bits) - 1) : end;
}

/* `counted`: groups with rows before it; `before`: rows, if ends were numbers of them. */
static stretch stretch_of(const tk_case *c, void *const b[], const tki_grouped_product *v, const mutation *m,
                          int64_t group, int64_t counted, int64_t before)
{
    stretch s = {end_seen(c, b, m, group - 1), end_seen(c, b, m, group), group};
    if (m->starts)
        s = (stretch){s.end, group + 1 < v->g ? end_seen(c, b, m, group + 1) : v->m, group};
    if (m->sizes)
        s = (stretch){before, before + s.end, group};
    if (m->empty_not_counted)
        s.matrix = counted;
    if (m->bits)
        s.matrix &= (INT64_C(1) << m->bits) - 1;
    if (m->capacity && s.end - s.begin > m->capacity * ((v->m + v->g - 1) / v->g))
        s.end = s.begin + m->capacity * ((v->m + v->g - 1) / v->g);
    s.end += s.end > s.begin || !v->over_rows ? m->late : 0;
    s.begin -= s.end > s.begin ? m->early : 0;
    if (m->sum_tile && s.end > s.begin)
        s.end = s.begin + (s.end - s.begin + m->sum_tile - 1) / m->sum_tile * m->sum_tile;
    s.begin = within(s.begin, 0, v->m);
    s.end = within(s.end, s.begin, v->m);
    return s;
}

static float inner_sum(const tk_case *c, const mutation *m, const tki_grouped_product *v, int64_t line, int64_t col,
                       int64_t offset, int64_t begin, int64_t end, float start)
{
    float sum = start;
    begin += m->first_product_dropped && end - begin > 1;
    const int64_t last = end - (m->last_product_dropped && end - begin > 1);
    for (int64_t t = begin; t < last; t++) {
        float x = tki_grouped_at(&v->left, line, t, 0);
        const float y = tki_grouped_at(&v->right, col, t, offset);
        if (m->absolute_left)
            x = fabsf(x);
        if (m->skips_zeros && (x == 0 || y == 0))
            continue;
        sum += x * y;
        if (m->rounded_sum)
            sum = tki_rounded(c, sum);
    }
    for (int64_t t = last; m->padding && (t - begin) % m->padding; t++)
        sum += 0 * tki_grouped_at(&v->right, col, t, offset);
    return sum;
}

static void put(const tk_case *c, void *const b[], const mutation *m, int64_t at, float sum)
{
    if (m->factor != 0)
        sum *= m->factor;
    if (m->through_16_bits)
        sum = tki_rounded(c, sum);
    tki_put_as(c, b[TKI_GROUPED_OUT], at, sum, m->store);
}

static float start_of(const tk_case *c, void *const b[], const mutation *m, int64_t at)
{
    return m->adds_to_output ? tki_get_result(c, b[TKI_GROUPED_OUT], at) : 0;
}

static void multiply_rows(const tk_case *c, void *const b[], const tki_grouped_product *v, const mutation *m,
                          stretch s)
{
    int64_t end = s.end;
    if (m->tile)
        end = within(s.begin + (s.end - s.begin + m->tile - 1) / m->tile * m->tile, s.begin, v->m);
    for (int64_t row = s.begin; row < end; row++) {
        const bool next = m->boundary_by_matrix && row + 1 == s.end && s.matrix + 1 < v->g;
        const int64_t offset = within(s.matrix + next, 0, v->g - 1) * v->matrix;
        for (int64_t col = 0; col < v->cols; col++) {
            const int64_t at = row * v->cols + col;
            const int64_t other = m->off_by_one && col + 1 < v->cols ? col + 1 : col;
            put(c, b, m, at, inner_sum(c, m, v, row, other, offset, 0, v->places, start_of(c, b, m, at)));
        }
    }
}

static void multiply_matrix(const tk_case *c, void *const b[], const tki_grouped_product *v, const mutation *m,
                            stretch s)
{
    if ((m->rest_left && s.begin == s.end) || s.matrix >= v->g)
        return;
    for (int64_t line = 0; line < v->lines; line++)
        for (int64_t col = 0; col < v->cols; col++) {
            const int64_t at = s.matrix * v->matrix + line * v->cols + col;
            const int64_t other = m->off_by_one && col + 1 < v->cols ? col + 1 : col;
            put(c, b, m, at, inner_sum(c, m, v, line, other, 0, s.begin, s.end, start_of(c, b, m, at)));
        }
}

static void clear(const tk_case *c, void *const b[], const tki_grouped_product *v, const mutation *m)
{
    const int64_t first = m->rest_left && v->g ? within(tki_grouped_end(c, b, v->g - 1), 0, v->m) : v->m;
    const int64_t count = v->over_rows ? v->g * v->matrix : first * v->cols;
    for (int64_t i = 0; i < count && !m->adds_to_output && !(m->rest_left && (v->over_rows || v->g == 0)); i++)
        tki_put(c, b[TKI_GROUPED_OUT], i, 0);
}

/* In the order of the groups, or the last one first. */
static int multiply(const tk_case *c, void *const b[], void *run)
{
    static const mutation right_way = {0};
    const mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    tki_grouped_product v;
    if (!tki_grouped_product_of(c, b, &v))
        return 1;
    stretch *groups = malloc((size_t)(v.g + 1) * sizeof *groups);
    int64_t counted = 0, before = 0, count = 0;
    for (; groups && count < v.g && !(m->last_groups && count == m->last_groups); count++) {
        const int64_t rows = tki_grouped_end(c, b, count) - tki_grouped_end(c, b, count - 1);
        if (m->stops_at_empty && rows == 0)
            break;
        groups[count] = stretch_of(c, b, &v, m, count, counted, before);
        before += m->sizes ? tki_grouped_end(c, b, count) : 0;
        counted += rows > 0;
    }
    if (groups && m->rest_to_last && count > 0)
        groups[count - 1].end = v.m;
    if (groups)
        clear(c, b, &v, m);
    for (int64_t i = 0; groups && i < count; i++) {
        const stretch s = groups[m->tile ? count - 1 - i : i];
        if (v.over_rows)
            multiply_matrix(c, b, &v, m, s);
        else
            multiply_rows(c, b, &v, m, s);
    }
    const int status = groups ? 0 : 1;
    free(groups);
    tki_grouped_free(&v);
    return status;
}

#define WITH(...) TKI_PLANTED(multiply, mutation, __VA_ARGS__)

/* clang-format off */ /* one row below the other */
/* The same mistakes can be made in each of the three. */
#define MUTANTS                                                                                                       \
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},                                                           \
    {"stale", "leaves the output as it was", .kernel = tki_stale},                                                    \
    {"adding", "adds to what the output held", WITH(.adds_to_output = true)},                                         \
    {"boundary_late", "takes the row behind a group's end for one of its own", WITH(.late = 1)},                      \
    {"boundary_early", "takes the row before a group's first one for one of its own", WITH(.early = 1)},              \
    {"ends_as_starts", "takes ends for the beginnings of groups", WITH(.starts = true)},                              \
    {"ends_as_sizes", "takes ends for numbers of rows", WITH(.sizes = true)},                                         \
    {"empty_not_counted", "does not count groups without rows when it numbers matrices",                              \
     WITH(.empty_not_counted = true)},                                                                                \
    {"stops_at_empty", "stops at the first group without rows", WITH(.stops_at_empty = true)},                        \
    {"rest_to_last", "takes rows of no group for those of the last one", WITH(.rest_to_last = true)},                 \
    {"capacity", "leaves out rows of a group beyond twice an equal share", WITH(.capacity = 2)},                      \
    {"narrow_group", "keeps 8 bits of a group's number", WITH(.bits = 8)},                                            \
    {"narrow_end", "keeps 16 bits of an end", WITH(.end_bits = 16)},                                                  \
    {"groups_beyond_64", "leaves out groups beyond the first 64", WITH(.last_groups = 64)},                           \
    {"padded_with_neighbours", "fills sums up to a multiple of 64 with zeros times what lies behind",                 \
     WITH(.padding = 64)},                                                                                            \
    {"off_by_one", "reads the right factor's next column", WITH(.off_by_one = true)},                                 \
    {"first_product_dropped", "leaves out the first product of each sum", WITH(.first_product_dropped = true)},       \
    {"last_product_dropped", "leaves out the last product of each sum", WITH(.last_product_dropped = true)},          \
    {"rounded_sum", "rounds the running sum to 16 bits after each product", WITH(.rounded_sum = true)},               \
    {"truncating_store", "rounds the result toward zero when storing", WITH(.store = TKI_STORE_TRUNCATED)},           \
    {"wrong_factor", "multiplies the result by 1.001", WITH(.factor = 1.001f)},                                       \
    {"sign_lost", "takes the left factor's absolute values", WITH(.absolute_left = true)},                            \
    {"zeros_skipped", "skips zeros of a factor, and with them 0 times infinity", WITH(.skips_zeros = true)},          \
    {"nan_masked", "turns NaN into zero", WITH(.store = TKI_STORE_NAN_MASKED)},                                       \
    {"saturating", "returns the largest finite number instead of infinity", WITH(.store = TKI_STORE_SATURATED)},      \
    {"flushing_store", "flushes subnormal results to zero", WITH(.store = TKI_STORE_FLUSHED)},                        \
    TKI_CALL_MUTANTS(multiply),                                                                                       \
    {"before_the_start", "writes one element before its output",                                                      \
     TKI_CALL(.right = multiply, .before_the_start = true)},                                                          \
    {"through_16_bits", "rounds the result to 16 bits before it stores fp32", WITH(.through_16_bits = true),          \
     .only_f32_results = true}
/* clang-format on */

#define ROW_MUTANTS                                                                                      \
    {"last_row_by_next", "multiplies the last row of a group by the next group's matrix",                \
     WITH(.boundary_by_matrix = true)},                                                                  \
        {"rest_left", "does not write rows of no group", WITH(.rest_left = true)},                       \
        {"tile_overrun", "stores tiles of 16 rows in full, into the next group", WITH(.tile = 16)},      \
    {                                                                                                    \
        "large_tile_overrun", "stores tiles of 128 rows in full, into the next group", WITH(.tile = 128) \
    }

const tki_mutant tki_grouped_gemm_mutants[] = {MUTANTS, ROW_MUTANTS, {0}};

const tki_mutant tki_grouped_gemm_grad_a_mutants[] = {MUTANTS, ROW_MUTANTS, {0}};

const tki_mutant tki_grouped_gemm_grad_b_mutants[] = {
    MUTANTS,
    {"empty_left", "does not write the matrix of a group without rows", WITH(.rest_left = true)},
    {"sum_overrun", "sums over a multiple of 8 rows, into the next group", WITH(.sum_tile = 8)},
    {"large_sum_overrun", "sums over a multiple of 64 rows, into the next group", WITH(.sum_tile = 64)},
    {0},
};
