/* DECIDES. The exact values of products of groups: each group is a product of exact/product.h. */
#include "exact/oracle.h"
#include "exact/product.h"
#include "model/attributes.h"
#include "model/case.h"

enum { M, N, K, G };
enum { GRAD_C, A = 0, B = 1, A_OF_GRAD_B = 1, ENDS = 2 };

/* Which rows the group has. */
typedef struct stretch {
    int64_t begin, end;
} stretch;

static int64_t end_of(const tki_oracle_job *job, int64_t group)
{
    return group < 0 ? 0 : tki_index_at(job->c, job->buffers[ENDS], group);
}

static bool sums_over_rows(const tk_case *c)
{
    return c->contract->params[c->contract->param_count - 1].rank == 3;
}

/* The group of a row: the first that ends behind it; g: none. `rows`: of that group, or behind the last end. */
static int64_t group_of(const tki_oracle_job *job, int64_t row, stretch *rows)
{
    int64_t low = 0, high = job->c->dims[G];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (end_of(job, middle) > row)
            high = middle;
        else
            low = middle + 1;
    }
    *rows = (stretch){end_of(job, low - 1), low < job->c->dims[G] ? end_of(job, low) : job->c->dims[M]};
    return low;
}

static const void *element_at(const tk_case *c, const void *data, int64_t i)
{
    return (const char *)data + i * (int64_t)tk_dtype_size(c->dtype);
}

static tki_product product_of(const tki_oracle_job *job, int64_t places)
{
    return (tki_product){.places = places,
                         .dtype = job->c->dtype,
                         .numerics = tki_choice_of_role(job->c->contract, job->c->attributes, TK_ROLE_NUMERICS),
                         .matrix_unit = tki_choice_of_role(job->c->contract, job->c->attributes, TK_ROLE_MATRIX_UNIT),
                         .tables = job->tables};
}

/* Rows from `first` on, all of the group. Of no group: a sum over nothing. */
static tki_product product_of_rows(const tki_oracle_job *job, int64_t group, int64_t first)
{
    const tk_case *c = job->c;
    const int64_t n = c->dims[N], k = c->dims[K];
    const bool grad_a = c->contract->params[job->output].dim[1] == K;
    const int64_t inner = grad_a ? n : k;
    tki_product p = product_of(job, group < c->dims[G] ? inner : 0);
    p.left = (tki_factor){element_at(c, job->buffers[A], first * inner), inner, 1};
    p.right.data = element_at(c, job->buffers[B], p.places ? group * k * n : 0);
    p.right.line_stride = grad_a ? n : 1;
    p.right.place_stride = grad_a ? 1 : n;
    return p;
}

static tki_product product_of_group(const tki_oracle_job *job, int64_t group)
{
    const tk_case *c = job->c;
    const stretch rows = {end_of(job, group - 1), end_of(job, group)};
    tki_product p = product_of(job, rows.end - rows.begin);
    p.left = (tki_factor){element_at(c, job->buffers[A_OF_GRAD_B], rows.begin * c->dims[K]), 1, c->dims[K]};
    p.right = (tki_factor){element_at(c, job->buffers[GRAD_C], rows.begin * c->dims[N]), 1, c->dims[N]};
    return p;
}

/* The product that has that row of the output matrix; `row` becomes its own, `left` the rows that it has from there on. */
static tki_product product_at(const tki_oracle_job *job, int64_t *row, int64_t *left)
{
    if (sums_over_rows(job->c)) {
        const int64_t k = job->c->dims[K], group = *row / k;
        *row %= k;
        *left = k - *row;
        return product_of_group(job, group);
    }
    stretch rows;
    const int64_t group = group_of(job, *row, &rows);
    *left = rows.end - *row;
    const tki_product p = product_of_rows(job, group, *row);
    *row = 0;
    return p;
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    (void)precision;
    int64_t left;
    const tki_product p = product_at(job, &row, &left);
    tki_product_exact(&p, row, col, lo);
    mpfr_set_prec(hi, mpfr_get_prec(lo));
    mpfr_set(hi, lo, MPFR_RNDN);
    return TK_OK;
}

static tk_status enclose_part(const tki_product *p, const tki_box *box, tki_enclosure *out)
{
    tki_product_box *sums;
    tk_status status = tki_product_box_make(p, box, &sums);
    if (status != TK_OK)
        return status;
    for (int64_t row = 0; row < box->row_end - box->row_begin; row++)
        for (int64_t col = 0; col < box->col_end - box->col_begin; col++, out++) {
            const tki_product_element e = tki_product_at(sums, row, col);
            int clause;
            const unsigned admits = tki_product_admits(e.sum, e.flags, &clause);
            *out = (tki_enclosure){.lo = e.lo,
                                   .hi = e.hi,
                                   .bound = tki_product_bound(e.sum),
                                   .admits = (uint16_t)admits,
                                   .clause = (uint8_t)clause};
        }
    tki_product_box_free(sums);
    return TK_OK;
}

/* A box may have rows of several groups. */
static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    tk_status status = TK_OK;
    const int64_t cols = box->col_end - box->col_begin;
    for (int64_t row = box->row_begin; row < box->row_end && status == TK_OK;) {
        int64_t own = row, left;
        const tki_product p = product_at(job, &own, &left);
        const int64_t rows = left < box->row_end - row ? left : box->row_end - row;
        const tki_box part = {own, own + rows, box->col_begin, box->col_end};
        status = enclose_part(&p, &part, out);
        out += rows * cols;
        row += rows;
    }
    return status;
}

const tki_oracle tki_grouped_gemm_oracle = {
    .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine};

const tki_oracle tki_grouped_gemm_grad_a_oracle = {
    .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine};

const tki_oracle tki_grouped_gemm_grad_b_oracle = {
    .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine};
