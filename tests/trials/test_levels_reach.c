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
    const tk_contract *contract = tk_contract_find(op);
    const char *text = tk_definition_find(op);
    if (!contract)
        assert_ok(ctx, tk_op_define(ctx, text, strlen(text), op, &contract));
    assert_ok(ctx, tki_trials_make(ctx, contract, dtype, TK_I64, &options, &trials));
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
        bool small = false, large = false, exact = false, between = false, sums[3] = {false};
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const uint64_t prime = (uint64_t)attribute_of(c, "prime");
            const int64_t k = c->dims[TKI_PADIC_K], n = c->dims[TKI_PADIC_N];
            const char *family = tki_trial_family_name(&trials.list[t]);
            const bool one_digit = attribute_of(c, "precision") == 1;
            small |= one_digit && prime == 134217689 && k > 2048 && !strcmp(family, "one_sign");
            exact |= prime == 2 && attribute_of(c, "precision") == 32 && k > 1024 && !strcmp(family, "one_sign");
            between |= one_digit && prime == 189812507 && k > 1024 && !strcmp(family, "one_sign");
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
        assert_true(small && large && exact && between && sums[0] && sums[1] && sums[2]);
        free(trials.list);
    }
}

/* One infinity in each line, in each of the last places of one or another, of each factor, ragged by every width; and lines that choose a place
 * of another factor. */
TEST_WITH_CONTEXT(lone_infinities_are_in_every_last_place)
{
    enum { FACTORS = 2, PLACES = 64 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "gemm_grad_a", TK_F32, seed);
        bool met[FACTORS][PLACES] = {{false}}, chosen[FACTORS] = {false};
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            if (strcmp(tki_trial_family_name(&trials.list[t]), "lone") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int p = 0; p < FACTORS; p++) {
                const int64_t length = c->dims[c->contract->params[p].dim[1]];
                const int64_t lines = tk_case_elements(c, p) / length;
                assert_int_equal(length % 32, 3);
                for (int64_t l = 0; l < lines; l++) {
                    const float *line = (const float *)in.data[p] + l * length;
                    int64_t infinities = 0, ones = 0, place = -1;
                    for (int64_t i = 0; i < length; i++) {
                        infinities += isinf(line[i]);
                        ones += line[i] == 1;
                        place = isinf(line[i]) ? length - 1 - i : place;
                    }
                    assert_true(infinities + ones == length || (infinities == 0 && ones == 1));
                    chosen[p] |= ones == 1;
                    if (place >= 0)
                        met[p][place] = true;
                }
            }
            tki_inputs_free(&in);
        }
        for (int p = 0; p < FACTORS; p++) {
            assert_true(chosen[p]);
            for (int i = 0; i < PLACES; i++)
                assert_true(met[p][i]);
        }
        free(trials.list);
    }
}

/* The bytes of all inputs of a trial, one after the other. */
static size_t bytes_of(tk_ctx *ctx, const tki_trial *trial, unsigned char *bytes, size_t most)
{
    size_t count = 0;
    tki_inputs in = inputs_of(ctx, trial);
    for (int p = 0; p < trial->c.contract->param_count; p++)
        if (in.data[p] && trial->c.contract->params[p].kind != TK_KIND_INDEX) {
            const size_t more = tki_param_bytes(&trial->c, p);
            assert_true(more <= most - count);
            memcpy(bytes + count, in.data[p], more);
            count += more;
        }
    tki_inputs_free(&in);
    return count;
}

/* What follows at once upon a trial, with the same bytes: other sizes, another choice, or other ends of groups. */
TEST_WITH_CONTEXT(the_same_bytes_follow_each_other)
{
    enum { MOST = 1 << 16, EPILOGUES = 6 };
    static unsigned char before[MOST], here[MOST];
    static const char *const ops[] = {"gemm", "gemm_grad_a", "linear_fwd", "grouped_gemm_grad_b", "embedding_bwd"};
    for (int o = 0; o < 5; o++) {
        tki_trials trials = quick_trials(ctx, ops[o], TK_F16, TK_SEED_DEFAULT);
        bool split = false, moved = false, after[EPILOGUES][EPILOGUES] = {{false}};
        for (int64_t t = 1; t < trials.count; t++) {
            const tki_trial *trial = &trials.list[t], *last = trial - 1;
            const char *name = tki_trial_family_name(trial);
            if (strcmp(tki_trial_family_name(last), "stream") != 0 || trial->seed != last->seed)
                continue;
            const size_t count = bytes_of(ctx, last, before, MOST), bytes = bytes_of(ctx, trial, here, MOST);
            const bool same = count == bytes && !memcmp(before, here, count);
            split |= same && memcmp(trial->c.dims, last->c.dims, sizeof last->c.dims) != 0;
            moved |= same && !strcmp(name, "moved");
            if (o == 2 && !memcmp(trial->c.dims, last->c.dims, sizeof last->c.dims))
                after[attribute_of(&last->c, "epilogue")][attribute_of(&trial->c, "epilogue")] = true;
        }
        assert_true(split == (o < 4) && moved == (o > 2));
        for (int a = 0; a < EPILOGUES && o == 2; a++)
            for (int b = 0; b < EPILOGUES; b++)
                assert_true(after[a][b] == (a != b));
        free(trials.list);
    }
}

/* Equal shares but for two ends in the middle, more groups of one row than a table has places, and one group with all of the rows. */
TEST_WITH_CONTEXT(groups_look_alike)
{
    enum { M = 0, G = 3, ENDS = 2 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "grouped_gemm_grad_b", TK_F16, seed);
        bool alike = false, single = false, one_has_all = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const int64_t groups = c->dims[G], share = groups ? c->dims[M] / groups : 0;
            if (c->dims[M] == 0 || groups < 5)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            const int64_t *ends = in.data[ENDS];
            int64_t ones = 0, longest = 0, sum = 0, others = 0;
            for (int64_t e = 0; e < groups; e++) {
                const int64_t rows = ends[e] - (e ? ends[e - 1] : 0);
                ones += rows == 1;
                longest = rows > longest ? rows : longest;
                sum += ends[e] - (e + 1) * share;
                others += ends[e] != (e + 1) * share;
            }
            alike |= share >= 64 && share * groups == c->dims[M] && sum == 0 && others == 2 && ends[0] == share &&
                     ends[groups / 2] == (groups / 2 + 1) * share && ends[groups - 1] == c->dims[M];
            single |= ones == groups && groups > 350;
            one_has_all |= groups > 16 && longest > 20000;
            tki_inputs_free(&in);
        }
        assert_true(alike && single && one_has_all);
        free(trials.list);
    }
}

/* A share of one row of two sweeps across the smallest number of the format, and numbers in the thousands are not all alike. */
TEST_WITH_CONTEXT(distances_end_the_format)
{
    enum { ROWS, COLS, STEPS = 5 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "softmax_fwd", TK_F16, seed);
        bool met[STEPS] = {false}, far = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            if (strcmp(tki_trial_family_name(&trials.list[t]), "distances") != 0 || c->dims[COLS] != 2)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int64_t row = 0; row < c->dims[ROWS]; row++) {
                const uint16_t *x = (const uint16_t *)in.data[0] + 2 * row;
                const double distance = fabs(tki_decode(TK_F16, x[0]) - tki_decode(TK_F16, x[1]));
                far |= fabs(tki_decode(TK_F16, x[0])) > 4000 && distance > 0 && distance <= 8;
                for (int step = 0; step < STEPS; step++)
                    met[step] |= fabs(distance - (16.7 + 0.25 * step)) < 0.1;
            }
            tki_inputs_free(&in);
        }
        assert_true(met[0] && met[1] && met[2] && met[3] && met[4] && far);
        free(trials.list);
    }
}

/* The last of 65536 rows, and rows 2^18 apart; a run of more than 256 indices in order, and one with two of them swapped. */
TEST_WITH_CONTEXT(indices_that_narrow_counters_lose)
{
    enum { QUERIES, DIM, VOCAB };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "embedding_fwd", TK_F16, seed);
        bool last = false, apart = false, run = false, swapped = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const int64_t queries = c->dims[QUERIES], vocab = c->dims[VOCAB];
            if (queries == 0 || vocab < 600)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            const int64_t *index = in.data[0];
            int64_t in_place = 0;
            for (int64_t i = 0; i < queries; i++) {
                last |= vocab == 65536 && index[i] == 65535;
                apart |= i > 1 && index[i] == index[i - 2] && llabs(index[i] - index[i - 1]) == 1 << 18;
                in_place += index[i] == i;
            }
            run |= queries == vocab && in_place == queries;
            swapped |= queries == vocab && in_place == queries - 2 && index[queries / 2] == queries / 2;
            tki_inputs_free(&in);
        }
        assert_true(last && apart && run && swapped);
        free(trials.list);
    }
}

/* Sums that a product with 3 would take beyond the largest number. */
TEST_WITH_CONTEXT(products_with_a_sum_are_too_large)
{
    enum { ROWS, COLS };
    static const tk_dtype dtypes[] = {TK_BF16, TK_F32};
    for (int d = 0; d < 2; d++) {
        tki_trials trials = quick_trials(ctx, "softmax_bwd", dtypes[d], TK_SEED_DEFAULT);
        bool met[2] = {false};
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            if (strcmp(tki_trial_family_name(&trials.list[t]), "large_sums") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int64_t row = 0; row < c->dims[ROWS]; row++) {
                double sum = 0, largest[2] = {0, 0};
                for (int64_t i = row * c->dims[COLS]; i < (row + 1) * c->dims[COLS]; i++) {
                    const double y = tki_decode(dtypes[d], tki_element_bits(dtypes[d], in.data[0], i));
                    const double g = tki_decode(dtypes[d], tki_element_bits(dtypes[d], in.data[1], i));
                    sum += y * g;
                    largest[0] = fmax(largest[0], y);
                    largest[1] = fmax(largest[1], g);
                }
                assert_true(sum < 0x1p127);
                met[0] |= sum * largest[0] >= 0x1p128 && largest[0] < 4;
                met[1] |= sum * largest[1] >= 0x1p128 && largest[1] < 4;
            }
            tki_inputs_free(&in);
        }
        assert_true(met[0] && met[1]);
        free(trials.list);
    }
}

/* Element (l, t) of the product's factor `p`, whose lines are walked along the sum. */
static double factor(const tki_trial *trial, const tki_inputs *in, int p, int64_t l, int64_t t)
{
    const tk_case *c = &trial->c;
    const tk_param *param = &c->contract->params[p];
    const int64_t inner = c->dims[param->dim[param->inner_axis]];
    const int64_t others = c->dims[param->dim[1 - param->inner_axis]];
    return tki_decode(c->dtype,
                      tki_element_bits(c->dtype, in->data[p], param->inner_axis ? l * inner + t : t * others + l));
}

/* Of a factor: how many lines are infinities and NaN throughout, the last line with one, and whether it is an identity. */
typedef struct look {
    int64_t lines, length, special, last_special;
    bool identity;
} look;
static look look_at(const tki_trial *trial, const tki_inputs *in, int p)
{
    const tk_param *param = &trial->c.contract->params[p];
    look seen = {.lines = trial->c.dims[param->dim[1 - param->inner_axis]],
                 .length = trial->c.dims[param->dim[param->inner_axis]],
                 .last_special = -1};
    seen.identity = seen.lines > 1 && seen.lines == seen.length;
    for (int64_t l = 0; l < seen.lines; l++) {
        int64_t special = 0;
        for (int64_t t = 0; t < seen.length; t++) {
            const double value = factor(trial, in, p, l, t);
            special += !isfinite(value);
            seen.identity &= value == (t == l);
        }
        seen.special += special == seen.length && special > 0;
        seen.last_special = special > 0 ? l : seen.last_special;
    }
    return seen;
}

/* Each factor as an identity beside one with an infinity or NaN; and with one line of these alone, the last one and another, longer than
 * blocks. */
TEST_WITH_CONTEXT(specials_beside_structures_and_in_one_line)
{
    static const char *const ops[] = {"gemm", "gemm_grad_a", "gemm_grad_b"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            tki_trials trials = quick_trials(ctx, ops[i], TK_F16, seed);
            bool identity[2] = {false}, last[2] = {false}, before[2] = {false};
            for (int64_t t = 0; t < trials.count; t++) {
                const char *family = tki_trial_family_name(&trials.list[t]);
                if (strcmp(family, "structure") != 0 && strcmp(family, "special_line") != 0)
                    continue;
                tki_inputs in = inputs_of(ctx, &trials.list[t]);
                for (int p = 0; p < 2; p++) {
                    const look own = look_at(&trials.list[t], &in, p), other = look_at(&trials.list[t], &in, 1 - p);
                    const bool one = own.special == 1 && other.last_special < 0 && own.length > 1024;
                    identity[p] |= own.identity && other.last_special >= 0;
                    last[p] |= one && own.last_special == own.lines - 1;
                    before[p] |= one && own.last_special < own.lines - 1;
                }
                tki_inputs_free(&in);
            }
            for (int p = 0; p < 2; p++)
                if (!identity[p] || !last[p] || !before[p])
                    fail_msg("%s, seed %d, factor %d: identity %d, last %d, before %d", ops[i], (int)seed, p,
                             identity[p], last[p], before[p]);
            free(trials.list);
        }
}

/* Products below 16, of one sign, whose sums have more units of 2^-48 than 63 bits hold. */
TEST_WITH_CONTEXT(sums_of_one_sign_are_long)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "gemm", TK_F16, seed);
        bool met = false;
        for (int64_t t = 0; t < trials.count; t++) {
            if (strcmp(tki_trial_family_name(&trials.list[t]), "one_sign") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            const look a = look_at(&trials.list[t], &in, 0), b = look_at(&trials.list[t], &in, 1);
            double sum = 0, largest = 0;
            for (int64_t place = 0; a.lines && b.lines && place < a.length; place++) {
                const double x = factor(&trials.list[t], &in, 0, 0, place),
                             y = factor(&trials.list[t], &in, 1, 0, place);
                sum += x * y;
                largest = fmax(largest, fmax(fabs(x), fabs(y)));
            }
            met |= fabs(sum) >= 0x1p15 && largest < 4;
            tki_inputs_free(&in);
        }
        assert_true(met);
        free(trials.list);
    }
}

/* Whatever the seed: a crowd whose terms are below 1e-7 each and count together; two classes at each distance of fp16 from 4 to 8, and so far
 * apart that double holds no difference to one. */
TEST_WITH_CONTEXT(crowds_are_level_and_distances_swept)
{
    enum { ROWS, COLS, STEPS = 1 << 10 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tki_trials trials = quick_trials(ctx, "xent", TK_F16, seed);
        bool level = false, far = false, met[STEPS] = {false};
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            const char *family = tki_trial_family_name(&trials.list[t]);
            const bool swept = !strcmp(family, "swept") && c->dims[COLS] == 2;
            if (!swept && (strcmp(family, "crowd") != 0 || c->dims[COLS] < 65536))
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int64_t row = 0; row < c->dims[ROWS]; row++) {
                const uint16_t *x = (const uint16_t *)in.data[0] + c->dims[COLS] * row;
                int64_t low = 0;
                for (int64_t j = 0; j < c->dims[COLS]; j++)
                    low += tki_decode(TK_F16, x[j]) == -16.125;
                level |= !swept && low == c->dims[COLS] - 1;
                const double distance = fabs(tki_decode(TK_F16, x[0]) - tki_decode(TK_F16, x[1]));
                far |= swept && distance > 40;
                if (swept && distance >= 4 && distance < 8)
                    met[(int)((distance - 4) * STEPS / 4)] = true;
            }
            tki_inputs_free(&in);
        }
        assert_true(level && far);
        for (int step = 0; step < STEPS; step++)
            assert_true(met[step]);
        free(trials.list);
    }
}

static double element(const tki_trial *trial, const tki_inputs *in, int param, int64_t i)
{
    const tk_dtype dtype = tk_case_param_dtype(&trial->c, param);
    return tki_decode(dtype, tki_element_bits(dtype, in->data[param], i));
}

/* Exact sums between the largest number and the tie above it, at the tie and behind it, each of both signs. */
TEST_WITH_CONTEXT(sums_end_where_infinity_begins)
{
    enum { BELOW, WITHIN, TIE, BEHIND, KINDS, N = 1, K = 2 };
    static const tk_dtype dtypes[] = {TK_F16, TK_BF16};
    for (int d = 0; d < 2; d++) {
        const double largest = d ? 0x1.fep127 : 0x1.ffcp15, tie = d ? 0x1.ffp127 : 0x1.ffep15;
        tki_trials trials = quick_trials(ctx, "gemm", dtypes[d], TK_SEED_DEFAULT);
        int met[2][KINDS] = {{0}};
        for (int64_t t = 0; t < trials.count; t++) {
            const int64_t n = trials.list[t].c.dims[N], k = trials.list[t].c.dims[K];
            if (strcmp(tki_trial_family_name(&trials.list[t]), "overflow_edge") != 0)
                continue;
            tki_inputs in = inputs_of(ctx, &trials.list[t]);
            for (int64_t i = 0; i < trials.list[t].c.dims[0]; i++)
                for (int64_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (int64_t s = 0; s < k; s++)
                        sum += element(&trials.list[t], &in, 0, i * k + s) *
                               element(&trials.list[t], &in, 1, s * n + j);
                    assert_true(fabs(sum) >= largest && fabs(sum) < 2 * tie - largest);
                    const double size = fabs(sum);
                    met[sum < 0][size == largest ? BELOW : size < tie ? WITHIN : size == tie ? TIE : BEHIND]++;
                }
            tki_inputs_free(&in);
        }
        for (int kind = 0; kind < KINDS; kind++)
            assert_true(met[0][kind] > 0 && met[1][kind] > 0);
        free(trials.list);
    }
}

/* Gradients of a product with inputs of one shape that differ in their last element, and in one that is anywhere. */
TEST_WITH_CONTEXT(inputs_differ_in_one_element)
{
    tki_trials trials = quick_trials(ctx, "gemm_grad_a", TK_F32, TK_SEED_DEFAULT);
    bool last = false, before = false;
    for (int64_t t = 0; t < trials.count; t++) {
        if (strcmp(tki_trial_family_name(&trials.list[t]), "nearly_alike") != 0)
            continue;
        tki_inputs in = inputs_of(ctx, &trials.list[t]);
        const int64_t elements = tk_case_elements(&trials.list[t].c, 0);
        int64_t differ = 0;
        assert_int_equal(elements, tk_case_elements(&trials.list[t].c, 1));
        for (int64_t i = 0; i < elements; i++) {
            const bool other = element(&trials.list[t], &in, 0, i) != element(&trials.list[t], &in, 1, i);
            differ += other;
            last |= other && i == elements - 1;
            before |= other && i < elements - 1;
        }
        assert_int_equal(differ, 1);
        tki_inputs_free(&in);
    }
    assert_true(last && before);
    free(trials.list);
}

/* Each size of an op of many, and each two that lie side by side in a tensor, beyond what 16 bits count. */
TEST_WITH_CONTEXT(sizes_pass_16_bits)
{
    static const struct {
        const char *op;
        int first, behind; /* the sizes whose product is large; as many as lie from the first to before the other */
    } rows[] = {{"max_pool2d", 2, 4}, {"max_pool2d", 2, 3}, {"max_pool2d", 3, 4}, {"rope", 1, 2},
                {"rope", 1, 3},       {"rope", 2, 4},       {"rope", 0, 1},       {"topk", 1, 2}};
    for (size_t r = 0; r < SEEDS * sizeof rows / sizeof *rows; r++) {
        const char *op = rows[r / SEEDS].op;
        const int first = rows[r / SEEDS].first, behind = rows[r / SEEDS].behind;
        tki_trials trials = quick_trials(ctx, op, TK_F16, 1 + r % SEEDS);
        bool met = false;
        for (int64_t t = 0; t < trials.count; t++) {
            const tk_case *c = &trials.list[t].c;
            int64_t product = 1, written = 0;
            for (int d = first; d < behind; d++)
                product *= c->dims[d];
            for (int p = 0; p < c->contract->param_count; p++)
                written += c->contract->params[p].output ? tk_case_elements(c, p) : 0;
            met |= product > 65600 && written > 0;
        }
        if (!met)
            fail_msg("%s, seed %d: sizes from the %d. to before the %d. are small", op, (int)(1 + r % SEEDS), first,
                     behind);
        free(trials.list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_every_number_and_size),
        cmocka_unit_test(long_groups_have_exact_sums),
        cmocka_unit_test(further_terms_are_small_and_many),
        cmocka_unit_test(derivatives_have_wide_arguments),
        cmocka_unit_test(moduli_are_at_their_ends),
        cmocka_unit_test(lone_infinities_are_in_every_last_place),
        cmocka_unit_test(the_same_bytes_follow_each_other),
        cmocka_unit_test(groups_look_alike),
        cmocka_unit_test(distances_end_the_format),
        cmocka_unit_test(indices_that_narrow_counters_lose),
        cmocka_unit_test(products_with_a_sum_are_too_large),
        cmocka_unit_test(specials_beside_structures_and_in_one_line),
        cmocka_unit_test(sums_of_one_sign_are_long),
        cmocka_unit_test(crowds_are_level_and_distances_swept),
        cmocka_unit_test(sums_end_where_infinity_begins),
        cmocka_unit_test(inputs_differ_in_one_element),
        cmocka_unit_test(sizes_pass_16_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
