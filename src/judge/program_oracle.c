/* DECIDES. What a program says of each element is an enclosure, or the judgement ends. */
#include "judge/program_oracle.h"

#include <math.h>
#include <stdlib.h>

#include "judge/judge.h"
#include "model/op.h"
#include "tokitai_verify.h"

enum { BOX = 4096 };

_Static_assert((int)TK_ADMIT_INTERVAL == TKI_ADMIT_INTERVAL && (int)TK_ADMIT_NAN == TKI_ADMIT_NAN &&
                   (int)TK_ADMIT_PLUS_INF == TKI_ADMIT_PLUS_INF && (int)TK_ADMIT_MINUS_INF == TKI_ADMIT_MINUS_INF &&
                   (int)TK_ADMIT_ZERO == TKI_ADMIT_ZERO && (int)TK_ADMIT_BITS == TKI_ADMIT_BITS &&
                   (int)TK_ADMIT_RAW_BITS == TKI_ADMIT_RAW_BITS && (int)TK_ADMIT_UNDEFINED == TKI_UNDEFINED,
               "the public names are those of exact/admit.h");

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    tki_box_of_elements(c, output, BOX, rows, cols);
}

/* Nothing that a program says is taken to be a clause, or a number. An integer is judged by its bits alone. */
static tk_status take(const tki_oracle_job *job, const tk_enclosure *given, tki_enclosure *out)
{
    const tk_contract *contract = job->c->contract;
    const unsigned bits = TK_ADMIT_BITS | TK_ADMIT_RAW_BITS | TK_ADMIT_UNDEFINED;
    if (given->clause < 0 || given->clause >= contract->clause_count || !(given->admits & TK_ADMIT_ANY))
        return TK_BAD_ARGUMENT;
    if ((given->admits & TK_ADMIT_INTERVAL) &&
        !(isfinite(given->lo) && isfinite(given->hi) && given->lo <= given->hi && given->bound >= 0 &&
          given->promised <= given->bound))
        return TK_BAD_ARGUMENT;
    if (contract->params[job->output].judged == TK_BY_INTEGER && !(given->admits & bits))
        return TK_BAD_ARGUMENT;
    *out = (tki_enclosure){.lo = given->lo,
                           .hi = given->hi,
                           .bound = job->promised && given->promised > 0 ? given->promised : given->bound,
                           .bits = given->bits,
                           .admits = (uint16_t)(given->admits & TK_ADMIT_ANY),
                           .clause = (uint8_t)given->clause};
    return TK_OK;
}

static tk_status enclose_stretch(const tki_oracle_job *job, int64_t first, int64_t count, tki_enclosure *out)
{
    const tk_reference *reference = job->c->contract->op->reference;
    tk_enclosure *given = calloc((size_t)count, sizeof *given);
    tk_status status = given ? reference->enclose(job->c, job->buffers, job->output, first, count, given,
                                                  reference->user_data)
                             : TK_NO_MEMORY;
    for (int64_t i = 0; i < count && status == TK_OK; i++)
        status = take(job, &given[i], &out[i]);
    free(given);
    return status;
}

static tk_status enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    return tki_enclose_by_stretches(job, box, enclose_stretch, out);
}

/* A sum of doubles, rounded towards `direction`. */
static bool add_up(const double parts[TK_REFINED_PARTS], mpfr_rnd_t direction, mpfr_ptr sum)
{
    mpfr_set_zero(sum, 1);
    for (int i = 0; i < TK_REFINED_PARTS; i++) {
        if (!isfinite(parts[i]))
            return false;
        mpfr_add_d(sum, sum, parts[i], direction);
    }
    return true;
}

/* Without a function for it, what the program said is all that is known: an element that it does not decide counts as undecided. */
static tk_status refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo, mpfr_ptr hi)
{
    const tk_reference *reference = job->c->contract->op->reference;
    int64_t rows, cols;
    tki_output_matrix(job->c, job->output, &rows, &cols);
    if (reference->refine) {
        tk_refined refined = {{0}, {0}};
        tk_status status = reference->refine(job->c, job->buffers, job->output, row * cols + col, precision, &refined,
                                             reference->user_data);
        mpfr_set_prec(lo, precision + 64);
        mpfr_set_prec(hi, precision + 64);
        if (status != TK_OK)
            return status;
        return add_up(refined.lo, MPFR_RNDD, lo) && add_up(refined.hi, MPFR_RNDU, hi) && mpfr_lessequal_p(lo, hi)
                   ? TK_OK
                   : TK_BAD_ARGUMENT;
    }
    tki_enclosure element;
    tk_status status = enclose_stretch(job, row * cols + col, 1, &element);
    if (status == TK_OK) {
        mpfr_set_d(lo, element.lo, MPFR_RNDD);
        mpfr_set_d(hi, element.hi, MPFR_RNDU);
    }
    return status;
}

const tki_oracle tki_program_oracle = {.box_size = box_size, .enclose = enclose, .refine = refine};
