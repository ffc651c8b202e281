/* DECIDES. The exact value of a matrix product, which exact/product.h sums. */
#include "exact/oracle.h"
#include "exact/product.h"
#include "exact/round.h"
#include "model/attributes.h"

/* The input that has size `dim` as one of its axes: the other axis is the one summed over. */
static tki_factor factor_with(const tki_oracle_job *job, int dim)
{
    const tk_contract *contract = job->c->contract;
    int p = 0;
    while (contract->params[p].dim[0] != dim && contract->params[p].dim[1] != dim)
        p++;
    int64_t row_length = job->c->dims[contract->params[p].dim[1]];
    bool lines_are_rows = contract->params[p].dim[0] == dim;
    return (tki_factor){.data = job->buffers[p],
                        .line_stride = lines_are_rows ? row_length : 1,
                        .place_stride = lines_are_rows ? 1 : row_length};
}

static tki_product product_of(const tki_oracle_job *job)
{
    const tk_param *output = &job->c->contract->params[job->output];
    int inner = 3 - output->dim[0] - output->dim[1]; /* the sizes are numbered 0, 1, 2 */
    return (tki_product){.left = factor_with(job, output->dim[0]),
                         .right = factor_with(job, output->dim[1]),
                         .places = job->c->dims[inner],
                         .dtype = job->c->dtype,
                         .numerics = tki_choice_of_role(job->c->contract, job->c->attributes, TK_ROLE_NUMERICS),
                         .matrix_unit = tki_choice_of_role(job->c->contract, job->c->attributes, TK_ROLE_MATRIX_UNIT),
                         .tables = job->tables};
}

static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    (void)precision;
    tki_product p = product_of(job);
    tki_product_exact(&p, row, col, lo);
    mpfr_set_prec(hi, mpfr_get_prec(lo));
    mpfr_set(hi, lo, MPFR_RNDN);
    return TK_OK;
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    tki_product p = product_of(job);
    tki_product_box *sums;
    tk_status status = tki_product_box_make(&p, box, &sums);
    if (status != TK_OK)
        return status;
    for (int64_t row = 0; row < box->row_end - box->row_begin; row++)
        for (int64_t col = 0; col < box->col_end - box->col_begin; col++, out++) {
            tki_product_element e = tki_product_at(sums, row, col);
            int clause;
            unsigned admits = tki_product_admits(e.sum, e.flags, &clause);
            *out = (tki_enclosure){.lo = e.lo,
                                   .hi = e.hi,
                                   .bound = tki_product_bound(e.sum),
                                   .admits = (uint16_t)admits,
                                   .clause = (uint8_t)clause};
        }
    tki_product_box_free(sums);
    return TK_OK;
}

const tki_oracle tki_gemm_oracle = {
    .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine};

const tki_oracle tki_gemm_grad_a_oracle = {
    .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine};

const tki_oracle tki_gemm_grad_b_oracle = {
    .open = tki_product_open, .box_size = tki_product_box_size, .enclose = enclose, .refine = refine};
