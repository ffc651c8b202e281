/* The portable vector layer converts as core/dtype.h does, lane by lane: every 16-bit pattern one way, and back from every
 * fp32 number whose lower half is one of a few that rounding cares about. */
#include "tests/unit_test.h"

#define TKI_ISA_PORTABLE
#include "kernels/cpu_vector.h"

static const tk_dtype dtypes[] = {TK_F16, TK_BF16};

static float widened(uint16_t bits, tk_dtype dtype)
{
    return dtype == TK_F16 ? tki_f16_to_f32(bits) : tki_bf16_to_f32(bits);
}

static uint16_t narrowed(float value, tk_dtype dtype)
{
    return dtype == TK_F16 ? tki_f32_to_f16(value) : tki_f32_to_bf16(value);
}

TEST(loads_every_pattern)
{
    for (int d = 0; d < 2; d++)
        for (uint32_t first = 0; first < 65536; first += VEC) {
            uint16_t bits[VEC];
            float lanes[VEC];
            for (int i = 0; i < VEC; i++)
                bits[i] = (uint16_t)(first + (uint32_t)i);
            vec_store(lanes, vec_load16(bits, dtypes[d]));
            for (int i = 0; i < VEC; i++) {
                float expected = widened(bits[i], dtypes[d]);
                /* Which NaN it is does not matter. */
                if (expected == expected)
                    assert_int_equal(tki_f32_bits(lanes[i]), tki_f32_bits(expected));
                else
                    assert_true(lanes[i] != lanes[i]);
            }
        }
}

TEST(stores_as_one_by_one)
{
    static const uint32_t lower[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x2000,
                                     0x3000, 0x7fff, 0x8000, 0x8001, 0xefff, 0xffff};
    for (int d = 0; d < 2; d++)
        for (uint32_t upper = 0; upper < 65536; upper++)
            for (size_t l = 0; l < sizeof lower / sizeof *lower; l += VEC) {
                float lanes[VEC];
                uint16_t stored[VEC];
                for (size_t i = 0; i < VEC; i++)
                    lanes[i] = tki_f32_from_bits(upper << 16 | lower[l + i]);
                vec_store16(stored, vec_load(lanes), dtypes[d]);
                for (int i = 0; i < VEC; i++)
                    assert_int_equal(stored[i], narrowed(lanes[i], dtypes[d]));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_every_pattern),
        cmocka_unit_test(stores_as_one_by_one),
    };
    return cmocka_run_group_tests_name("vector", tests, NULL, NULL);
}
