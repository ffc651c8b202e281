/* What decides, linked to nothing else of ours: a trial of one element that is right, and of one that is wrong. For judge_alone.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/trial.h"

extern const tk_contract tki_gelu_fwd_contract, tki_gemm_contract, tki_padic_gemm_contract;
extern const tki_oracle tki_gelu_fwd_oracle, tki_gemm_oracle, tki_padic_gemm_oracle;

/* A kernel that writes one element. */
typedef struct writer {
    tki_caller caller;
    int output;
    uint64_t element;
} writer;

static tk_status write_element(tki_caller *caller, const tk_case *c, void *const buffers[], int threads,
                               double *seconds)
{
    const writer *w = (const writer *)caller;
    (void)threads;
    if (seconds)
        *seconds = 0;
    memcpy(buffers[w->output], &w->element, tk_dtype_size(tk_case_param_dtype(c, w->output)));
    return TK_OK;
}

/* The clause that fails; -1: none. Every input is `input`, every size 1. */
static int judge(const tk_contract *contract, const tki_oracle *oracle, tk_dtype dtype, uint64_t input,
                 uint64_t output)
{
    tk_ctx *ctx;
    tki_inputs inputs;
    tki_trial_result result = {.failed_clause = -1};
    tki_trial trial = {.c = tk_case_init(contract, dtype), .family = TKI_GIVEN_INPUTS, .seed = 1};
    writer w = {.caller = {.call = write_element, .overrun = {.param = -1}},
                .output = contract->param_count - 1,
                .element = output};
    tki_subject subject = {.contract = contract, .oracle = oracle, .caller = &w.caller};
    for (int d = 0; d < contract->dim_count; d++)
        trial.c.dims[d] = 1;
    bool ran = tki_ctx_create(&ctx) == TK_OK && tki_inputs_alloc(ctx, &trial.c, &inputs) == TK_OK &&
               (!oracle->open || oracle->open(dtype, &subject.tables) == TK_OK);
    for (int p = 0; ran && p < w.output; p++)
        memcpy(inputs.data[p], &input, tk_dtype_size(tk_case_param_dtype(&trial.c, p)));
    subject.ctx = ctx;
    ran = ran && tki_trial_run(&subject, &trial, &inputs, &result) == TK_OK && !result.could_not_run;
    if (!ran || result.judgement.elements != 1) {
        fprintf(stderr, "%s could not be judged: %s\n", contract->name, ctx->message);
        exit(1);
    }
    tki_inputs_free(&inputs);
    tk_ctx_destroy(ctx);
    return result.failed_clause;
}

int main(void)
{
    const struct {
        const tk_contract *contract;
        const tki_oracle *oracle;
        tk_dtype dtype;
        uint64_t input, right, wrong;
    } list[] = {
        {&tki_gelu_fwd_contract, &tki_gelu_fwd_oracle, TK_F16, 0x3c00, 0x3abb, 0x3b00},     /* 1: 0.8412, 0.875 */
        {&tki_gemm_contract, &tki_gemm_oracle, TK_F32, 0x40400000, 0x41100000, 0x41100100}, /* 3 * 3 */
        {&tki_padic_gemm_contract, &tki_padic_gemm_oracle, TK_U64, 3, 9, 8},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const int right = judge(list[i].contract, list[i].oracle, list[i].dtype, list[i].input, list[i].right);
        const int wrong = judge(list[i].contract, list[i].oracle, list[i].dtype, list[i].input, list[i].wrong);
        if (right >= 0 || wrong < 0 || list[i].contract->clauses[wrong].kind != TK_CLAUSE_ERROR) {
            fprintf(stderr, "%s: what is right fails clause %d, what is wrong %d\n", list[i].contract->name, right,
                    wrong);
            return 1;
        }
    }
    puts("of three ops a right element passes and a wrong one fails");
    return 0;
}
