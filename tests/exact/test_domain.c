/* Domain normal, over every pattern: which lie in it, what stands for the others, and what it admits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/domain.h"
#include "tests/unit_test.h"
#include "trials/families.h"
#include "trials/levels.h"

static bool in_domain(double value)
{
    return value == 0 || (fabs(value) >= 0x1p-40 && fabs(value) <= 0x1p20);
}

TEST(every_pattern)
{
    for (int dtype = TK_F16; dtype <= TK_BF16; dtype++)
        for (uint32_t bits = 0; bits < 1 << 16; bits++) {
            tk_dtype t = (tk_dtype)dtype;
            double value = tki_decode(t, bits);
            uint32_t stands = tki_domain_nearest(t, bits);
            assert_int_equal(tki_domain_has(t, bits), in_domain(value));
            assert_true(in_domain(tki_decode(t, stands)));
            if (in_domain(value)) {
                assert_int_equal(stands, bits);
                continue;
            }
            uint32_t kept = t == TK_F16 ? 0x83ff : 0x807f;
            assert_int_equal(stands & kept, bits & kept);
            /* As near as whole binades allow: below 2^-39 for what is too small, from 2^19 or the type's last binade for the rest. */
            double magnitude = fabs(tki_decode(t, stands));
            if (fabs(value) < 1)
                assert_true(magnitude < 0x1p-39);
            else
                assert_true(magnitude >= (t == TK_F16 ? 0x1p15 : 0x1p19));
        }
}

/* Every family of every op: a trial in the domain is the trial of the whole domain, moved. */
TEST(trials_lie_in_it)
{
    for (int op = 0; tk_contract_at(op); op++)
        for (int family = 0; tk_family_at(family, NULL); family++) {
            const tk_contract *contract = tk_contract_at(op);
            if (!tk_family_applies(family, contract) || tk_attribute_find(contract, "domain") < 0)
                continue;
            tki_trial trial = {.c = tk_case_init(contract, TK_BF16), .family = family, .seed = 5};
            for (int d = 0; d < contract->dim_count; d++)
                trial.c.dims[d] = 19;
            static uint16_t memory[2][TK_MAX_PARAMS][19 * 19 * 19 * 4]; /* a tensor of three sizes */
            void *all[TK_MAX_PARAMS];
            void *normal[TK_MAX_PARAMS];
            for (int p = 0; p < TK_MAX_PARAMS; p++) {
                all[p] = memory[0][p];
                normal[p] = memory[1][p];
            }
            tki_trial_fill(&trial, all);
            tki_set_role(trial.c.contract, trial.c.attributes, TK_ROLE_DOMAIN, TKI_DOMAIN_NORMAL);
            tki_trial_fill(&trial, normal);
            for (int p = 0; p < contract->param_count; p++)
                for (int64_t i = 0; i < tk_case_elements(&trial.c, p); i++)
                    if (!contract->params[p].output && contract->params[p].kind == TK_KIND_VALUE)
                        assert_int_equal(memory[1][p][i], tki_domain_nearest(TK_BF16, memory[0][p][i]));
        }
}

TEST(zero_is_admitted_below_the_smallest_normal)
{
    const struct {
        double lo, hi, bound;
        unsigned admits, expected;
    } rows[] = {
        {0x1p-127, 0x1p-127, 0, TKI_ADMIT_INTERVAL, TKI_ADMIT_INTERVAL | TKI_ADMIT_ZERO},
        {-0x1p-127, -0x1p-127, 0, TKI_ADMIT_INTERVAL, TKI_ADMIT_INTERVAL | TKI_ADMIT_ZERO},
        {0x1p-126, 0x1p-126, 0, TKI_ADMIT_INTERVAL, TKI_ADMIT_INTERVAL},
        {-0x1p-126, -0x1p-126, 0, TKI_ADMIT_INTERVAL, TKI_ADMIT_INTERVAL},
        {0x1p-126, 0x1p-126, 0x1p-150, TKI_ADMIT_INTERVAL, TKI_ADMIT_INTERVAL | TKI_ADMIT_ZERO},
        {1, 1, 0x1p-24, TKI_ADMIT_INTERVAL, TKI_ADMIT_INTERVAL},
        {0, 0, 0, TKI_ADMIT_NAN, TKI_ADMIT_NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tki_enclosure e = {
            .lo = rows[i].lo, .hi = rows[i].hi, .bound = rows[i].bound, .admits = (uint8_t)rows[i].admits};
        tki_domain_admit(&e, 1);
        assert_int_equal(e.admits, rows[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern),
        cmocka_unit_test(trials_lie_in_it),
        cmocka_unit_test(zero_is_admitted_below_the_smallest_normal),
    };
    return cmocka_run_group_tests_name("domain", tests, NULL, NULL);
}
