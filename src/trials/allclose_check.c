/* SHOWS. The usual check. */
#include "trials/allclose_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/floats.h"
#include "exact/round.h"
#include "judge/judge.h"
#include "judge/trial_inputs.h"
#include "model/case.h"
#include "trials/families_index.h"
#include "trials/shapes.h"

/* A kernel that writes a little before its output must not break this process. */
enum { MARGIN = 64 };

const double tk_usual_tolerances[TK_USUAL_TOLERANCES] = {1e-2, 1e-3};

struct tki_usual {
    tk_case c;
    void *inputs[TK_USUAL_INPUTS][TK_MAX_PARAMS];       /* NULL for outputs */
    double *references[TK_USUAL_INPUTS][TK_MAX_PARAMS]; /* NULL for inputs */
};

tk_case tk_usual_case(const tk_contract *contract, tk_dtype dtype)
{
    static const int64_t vector[] = {16 * 16384};
    static const int64_t rows[] = {16, 16384};
    static const int64_t losses[] = {4096, 10};
    static const int64_t product[] = {256, 256, 256};
    static const int64_t lookup[] = {4096, 64, 5000};
    static const int64_t grouped[] = {512, 128, 128, 8};
    tk_case c = tk_case_init(contract, dtype);
    const int64_t *dims = contract->dim_count == 1         ? vector
                          : contract->dim_count == 2       ? (tki_index_param(contract) >= 0 ? losses : rows)
                          : contract->dim_count == 4       ? grouped
                          : tki_index_param(contract) >= 0 ? lookup
                                                           : product;
    memcpy(c.dims, dims, (size_t)contract->dim_count * sizeof *dims);
    return c;
}

static size_t param_bytes(const tk_case *c, int p)
{
    return (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
}

static void fill_input(const tk_case *c, int p, uint64_t seed, void *data)
{
    const tk_param *param = &c->contract->params[p];
    const tk_dtype dtype = tk_case_param_dtype(c, p);
    tki_random random = tki_random_stream(seed, (uint64_t)p);
    for (int64_t i = 0; i < tk_case_elements(c, p); i++) {
        if (tki_format_of(dtype).number == TKI_FLOATING)
            tki_put_bits(dtype, data, i, tki_round_double(dtype, tki_random_normal(&random)));
        else if (param->kind != TK_KIND_INDEX)
            memcpy((char *)data + (size_t)i * tk_dtype_size(dtype), &(uint64_t){tki_random_below(&random, 2)},
                   tk_dtype_size(dtype));
        else
            tki_inputs_set_index(dtype, data, i, tki_below(&random, c->dims[param->indexed_dim]));
    }
    if (param->rule == TK_INDICES_ENDS)
        tki_ends_sort(dtype, data, tk_case_elements(c, p));
}

static double reference_of(tk_dtype dtype, const tki_enclosure *e)
{
    if (e->admits & (TKI_ADMIT_BITS | TKI_ADMIT_RAW_BITS))
        return tki_decode(dtype, (uint32_t)e->bits);
    return tki_decode(dtype, tki_round_double(dtype, e->lo + (e->hi - e->lo) / 2));
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* The references of one output, box by box. */
static tk_status fill_references(const tki_oracle *oracle, const tki_oracle_job *job, double *references)
{
    int64_t rows;
    int64_t cols;
    int64_t box_rows;
    int64_t box_cols;
    tk_dtype dtype = tk_case_param_dtype(job->c, job->output);
    tki_output_matrix(job->c, job->output, &rows, &cols);
    oracle->box_size(job->c, job->output, &box_rows, &box_cols);
    box_rows = at_most(box_rows, rows);
    box_cols = at_most(box_cols, cols);
    tki_enclosure *enclosures = malloc((size_t)(box_rows * box_cols) * sizeof *enclosures);
    tk_status status = enclosures ? TK_OK : TK_NO_MEMORY;
    for (int64_t row = 0; row < rows && status == TK_OK; row += box_rows)
        for (int64_t col = 0; col < cols && status == TK_OK; col += box_cols) {
            tki_box box = {row, at_most(row + box_rows, rows), col, at_most(col + box_cols, cols)};
            status = oracle->enclose(job, &box, enclosures);
            const tki_enclosure *e = enclosures;
            for (int64_t r = box.row_begin; r < box.row_end && status == TK_OK; r++)
                for (int64_t k = box.col_begin; k < box.col_end; k++, e++)
                    references[r * cols + k] = reference_of(dtype, e);
        }
    free(enclosures);
    return status;
}

static tk_status fill_one(tki_usual *usual, const tki_oracle *oracle, const void *tables, int i, uint64_t seed)
{
    const tk_case *c = &usual->c;
    for (int p = 0; p < c->contract->param_count; p++) {
        bool output = c->contract->params[p].output;
        if (output)
            usual->references[i][p] = malloc((size_t)tk_case_elements(c, p) * sizeof(double));
        else
            usual->inputs[i][p] = malloc(param_bytes(c, p));
        if (!usual->references[i][p] && !usual->inputs[i][p])
            return TK_NO_MEMORY;
        if (!output)
            fill_input(c, p, seed, usual->inputs[i][p]);
    }
    tki_oracle_job job = {.c = c, .buffers = (const void *const *)usual->inputs[i], .tables = tables};
    const tki_floats floats = tki_floats_begin();
    void *prepared = NULL;
    tk_status status = oracle->prepare ? oracle->prepare(&job, &prepared) : TK_OK;
    job.prepared = prepared;
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++) {
        job.output = p;
        if (c->contract->params[p].output)
            status = fill_references(oracle, &job, usual->references[i][p]);
    }
    if (oracle->release)
        oracle->release(prepared);
    tki_floats_end(&floats);
    return status;
}

tk_status tki_usual_make(tk_ctx *ctx, const tki_oracle *oracle, const void *tables, tk_case c, uint64_t seed,
                         tki_usual **usual)
{
    tki_usual *made = calloc(1, sizeof *made);
    tk_status status = made ? TK_OK : TK_NO_MEMORY;
    if (made)
        made->c = c;
    for (int i = 0; i < TK_USUAL_INPUTS && status == TK_OK; i++)
        status = fill_one(made, oracle, tables, i, seed + (uint64_t)i);
    if (status != TK_OK) {
        tki_usual_free(made);
        return tki_fail(ctx, status, "the references of %s: %s", c.contract->name, tk_status_text(status));
    }
    *usual = made;
    return TK_OK;
}

void tki_usual_free(tki_usual *usual)
{
    for (int i = 0; usual && i < TK_USUAL_INPUTS; i++)
        for (int p = 0; p < TK_MAX_PARAMS; p++) {
            free(usual->inputs[i][p]);
            free(usual->references[i][p]);
        }
    free(usual);
}

/* NaN is close to nothing; infinities are equal or not close. */
static void compare(tk_dtype dtype, const void *data, const double *references, int64_t count,
                    bool passes[TK_USUAL_TOLERANCES])
{
    for (int64_t i = 0; i < count; i++) {
        double out = tki_decode(dtype, tki_element_bits(dtype, data, i));
        double off = out == references[i] ? 0 : fabs(out - references[i]);
        for (int t = 0; t < TK_USUAL_TOLERANCES; t++)
            passes[t] &= off <= tk_usual_tolerances[t] * (1 + fabs(references[i]));
    }
}

tk_status tki_usual_run(const tki_usual *usual, tk_kernel kernel, void *kernel_data, bool passes[TK_USUAL_TOLERANCES])
{
    const tk_case *c = &usual->c;
    char *memory[TK_MAX_PARAMS] = {NULL};
    void *buffers[TK_MAX_PARAMS] = {NULL};
    bool good = true;
    for (int p = 0; p < c->contract->param_count; p++) {
        memory[p] = malloc(param_bytes(c, p) + MARGIN);
        good &= memory[p] != NULL;
        buffers[p] = good ? memory[p] + MARGIN : NULL;
    }
    for (int t = 0; t < TK_USUAL_TOLERANCES; t++)
        passes[t] = true;
    for (int i = 0; i < TK_USUAL_INPUTS && good && passes[0]; i++) {
        for (int p = 0; p < c->contract->param_count; p++) {
            if (c->contract->params[p].output)
                memset(buffers[p], 0xff, param_bytes(c, p)); /* NaN in every type */
            else
                memcpy(buffers[p], usual->inputs[i][p], param_bytes(c, p));
        }
        if (kernel(c, buffers, kernel_data) != 0)
            memset(passes, 0, TK_USUAL_TOLERANCES * sizeof *passes);
        for (int p = 0; p < c->contract->param_count; p++)
            if (c->contract->params[p].output)
                compare(tk_case_param_dtype(c, p), buffers[p], usual->references[i][p], tk_case_elements(c, p),
                        passes);
    }
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        free(memory[p]);
    return good ? TK_OK : TK_NO_MEMORY;
}
