/* What the trials of quick reach whatever the seed: situations in which wrong kernels of the ops with groups, further terms or a modulus were
 * held by chance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "judge/trial_inputs.h"
#include "model/attributes.h"
#include "model/case.h"
#include "ops/padic/contract.h"
#include "tests/op_test.h"
#include "trials/families.h"
#include "trials/levels.h"

enum { SEEDS = 6 };

static tki_trials quick_trials(tk_ctx *ctx, const char *op, tk_dtype dtype, uint64_t seed)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.seed = seed;
    tki_trials trials;
    assert_ok(ctx, tki_trials_make(ctx, tk_contract_find(op), dtype, TK_I64, &options, &trials));
    return trials;
}

/* The inputs of a trial; the caller frees them. */
static tki_inputs inputs_of(tk_ctx *ctx, const tki_trial *trial)
{
    tki_inputs drawn;
    assert_ok(ctx, tki_inputs_alloc(ctx, &trial->c, &drawn));
    tki_trial_fill(trial, drawn.data);
    return drawn;
}

static int64_t attribute_of(const tk_case *c, const char *name)
{
    return c->attributes[tk_attribute_find(c->contract, name)].integer;
}

/* A row in a group beyond the 1024th, groups of more than 8192 rows, and a last row that is a group of its own. */
TEST_WITH_CONTEXT(groups_of_every_number_and_size)
{
    enum { M = 0, G = 3, ENDS = 2 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "grouped_gemm", TK_F16, seed);
        bool high = false, large = false, last_alone = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            if (c->dims[M] == 0 || c->dims[G] < 2)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            const int64_t *ends = in.data[ENDS];
            for (int64_t e = 1; e < c->dims[G]; e++) {
                const int64_t rows = ends[e] - ends[e - 1];
                assert_true(rows >= 0 && ends[e] <= c->dims[M]);
                high |= e > 1024 && rows > 0;
                large |= rows > 8192;
                last_alone |= e == c->dims[G] - 1 && rows == 1 && ends[e] == c->dims[M] && c->dims[M] > c->dims[G];
            }
            tki_inputs_free(&in);
        }
        if (!high || !large || !last_alone)
            fail_msg("seed %d: high %d, large %d, last alone %d", (int)seed, high, large, last_alone);
        free(trials.list);
    }
}

/* A group of more than 4096 rows whose sums are exact: what is lost on the way shows in the last bit. */
TEST_WITH_CONTEXT(long_groups_have_exact_sums)
{
    enum { M = 0, G = 3, ENDS = 2 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "grouped_gemm_grad_b", TK_F16, seed);
        bool met = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const char *family = tki_trial_family_name(&trials.list[t]);
            if (c->dims[M] <= 4096 || (strcmp(family, "two_indices") != 0 && strcmp(family, "exact") != 0))
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            const int64_t *ends = in.data[ENDS];
            for (int64_t e = 0; e < c->dims[G]; e++)
                met |= ends[e] - (e ? ends[e - 1] : 0) > 4096;
            tki_inputs_free(&in);
        }
        assert_true(met);
        free(trials.list);
    }
}

/* What is added to products is subnormal with each epilogue that has it, where the products are nothing beside it; and the epilogue with the
 * most inputs meets more rows, and more columns, than 16 bits count. */
TEST_WITH_CONTEXT(further_terms_are_small_and_many)
{
    enum { M, N, K, BIAS = 2, RESIDUAL = 3, BIAS_RESIDUAL = 3, EPILOGUES = 6 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "linear_fwd", TK_F32, seed);
        bool small[EPILOGUES][2] = {{false}}, rows = false, cols = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const int64_t epilogue = attribute_of(c, "epilogue");
            rows |= epilogue == BIAS_RESIDUAL && c->dims[M] > 65536;
            cols |= epilogue == BIAS_RESIDUAL && c->dims[N] > 65536;
            const bool without_products = c->dims[K] == 0;
            if (strcmp(tki_trial_family_name(&trials.list[t]), without_products ? "small_among" : "subnormal") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int p = BIAS; p <= RESIDUAL; p++)
                for (int64_t i = 0; i < tk_case_elements(c, p); i++) {
                    const float value = ((const float *)in.data[p])[i];
                    small[epilogue][without_products] |= value != 0 && fabsf(value) < 0x1p-126f;
                }
            tki_inputs_free(&in);
        }
        for (int epilogue = 0; epilogue < EPILOGUES; epilogue++) {
            const bool has_terms = epilogue != 2 && epilogue != 5; /* gelu, none */
            assert_true(small[epilogue][0] == has_terms && small[epilogue][1] == has_terms);
        }
        assert_true(rows && cols);
        free(trials.list);
    }
}

/* The argument of gelu's derivative goes beyond 5 where sums are short, and their error small. */
TEST_WITH_CONTEXT(derivatives_have_wide_arguments)
{
    enum { PRE = 2 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "linear_grad_x", TK_F16, seed);
        int64_t wide = 0;
        for (int64_t t = 0; t < trials.count; t++) {
            if (strcmp(tki_trial_family_name(&trials.list[t]), "few") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int64_t i = 0; i < tk_case_elements(&trials.list[t].c, PRE); i++) {
                const double value = tki_decode(TK_F16, ((const uint16_t *)in.data[PRE])[i]);
                wide += value > 5 && value < 5.5;
            }
            tki_inputs_free(&in);
        }
        assert_true(wide > 2);
        free(trials.list);
    }
}

/* Primes below 2^27 and 2^63 that leave no room meet the largest residues in long sums, and sums modulo a Mersenne prime are 0, 1 and -1. */
TEST_WITH_CONTEXT(moduli_are_at_their_ends)
{
    const uint64_t mersenne = (UINT64_C(1) << 61) - 1;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "padic_gemm", TK_U64, seed);
        bool small = false, large = false, sums[3] = {false};
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const uint64_t prime = (uint64_t)attribute_of(c, "prime");
            const int64_t k = c->dims[TKI_PADIC_K], n = c->dims[TKI_PADIC_N];
            const char *family = tki_trial_family_name(&trials.list[t]);
            const bool one_digit = attribute_of(c, "precision") == 1;
            small |= one_digit && prime == 134217689 && k > 2048 && !strcmp(family, "one_sign");
            large |= one_digit && prime == UINT64_C(9223372036854775783) && k > 2048 && !strcmp(family, "one_sign");
            if (!one_digit || prime != mersenne || strcmp(family, "cancel") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            const uint64_t *a = in.data[TKI_PADIC_A], *b = in.data[TKI_PADIC_B];
            for (int64_t at = 0; at < c->dims[TKI_PADIC_M] * n; at++) {
                uint64_t sum = 0;
                for (int64_t place = 0; place < k; place++)
                    sum = (uint64_t)((sum + (unsigned __int128)a[at / n * k + place] * b[place * n + at % n]) %
                                     mersenne);
                assert_true(sum < 2 || sum == mersenne - 1);
                sums[sum < 2 ? sum : 2] = true;
            }
            tki_inputs_free(&in);
        }
        assert_true(small && large && sums[0] && sums[1] && sums[2]);
        free(trials.list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_every_number_and_size),  cmocka_unit_test(long_groups_have_exact_sums),
        cmocka_unit_test(further_terms_are_small_and_many), cmocka_unit_test(derivatives_have_wide_arguments),
        cmocka_unit_test(moduli_are_at_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
