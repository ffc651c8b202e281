/* The loads and stores of tokitai_kernel.h against the judge's own rounding, by the table of formats: every format of at most 16 bits, at every
 * value of fp32 that is near a border. */
#include <math.h>
#include <string.h>

#include <tokitai_kernel.h>

#include "exact/round.h"
#include "model/format.h"
#include "tests/unit_test.h"

/* The sign, the exponent and seven bits below the hidden one: every border of 8 bits. */
enum { UPPER = 1 << 16, BYTES = 16, FILL = 0x5a };
static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};

static const tk_dtype floating[] = {TK_F16, TK_BF16, TK_F32, TK_F8_E4M3, TK_F8_E5M2};
enum { FLOATING = sizeof floating / sizeof *floating };

static void assert_same_number(tk_dtype dtype, uint32_t got, uint32_t expected, float value)
{
    if (tki_is_nan(dtype, expected) ? !tki_is_nan(dtype, got) : got != expected)
        fail_msg("%s: %a became 0x%x, not 0x%x", tk_dtype_name(dtype), (double)value, got, expected);
}

TEST(every_format_of_floating_point_is_there)
{
    int found = 0;
    for (tk_dtype dtype = 0; tki_is_dtype(dtype); dtype++)
        found += tki_format_of(dtype).number == TKI_FLOATING;
    assert_int_equal(found, FLOATING);
}

TEST(stores_round_once_and_stay_in_their_element)
{
    unsigned char bytes[BYTES], expected[BYTES];
    for (int f = 0; f < FLOATING; f++) {
        const tk_dtype dtype = floating[f];
        for (uint32_t i = 0; i < UPPER * (uint32_t)(sizeof lower / sizeof *lower); i++) {
            const uint32_t pattern = i % UPPER << 16 | lower[i / UPPER];
            float value;
            memcpy(&value, &pattern, sizeof value);
            memset(bytes, FILL, sizeof bytes);
            tokitai_store_as((int32_t)dtype, bytes, 1, value);
            assert_same_number(dtype, tki_element_bits(dtype, bytes, 1), tki_round_double(dtype, (double)value),
                               value);
            memset(expected, FILL, sizeof expected);
            tki_put_bits(dtype, expected, 1, tki_element_bits(dtype, bytes, 1));
            assert_memory_equal(bytes, expected, sizeof bytes);
        }
    }
}

TEST(patterns_are_loaded_and_stored_again)
{
    for (int f = 0; f < FLOATING; f++) {
        const tk_dtype dtype = floating[f];
        for (uint32_t i = 0; i < UPPER && i <= (uint32_t)tki_last_pattern(dtype); i++) {
            const uint32_t pattern = dtype == TK_F32 ? i << 16 | i : i;
            uint32_t elements[2] = {0}, again[2] = {0};
            tki_put_bits(dtype, elements, 1, pattern);
            const float value = tokitai_load_as((int32_t)dtype, elements, 1);
            const double expected = tki_decode(dtype, pattern);
            assert_true(isnan(expected) ? isnan(value)
                                        : (double)value == expected && !signbit(value) == !signbit(expected));
            tokitai_store_as((int32_t)dtype, again, 1, value);
            assert_same_number(dtype, tki_element_bits(dtype, again, 1), pattern, value);
        }
    }
}

TEST(saturated_values_are_the_largest_numbers)
{
    for (int f = 0; f < FLOATING; f++) {
        const tk_dtype dtype = floating[f];
        const tki_format facts = tki_format_of(dtype);
        const float largest = (float)tki_decode(dtype, facts.largest);
        const float values[] = {0, 1, largest, nextafterf(largest, INFINITY), 2 * largest, INFINITY};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            const float due = tki_may_saturate(dtype) && values[i] > largest ? largest : values[i];
            assert_true(tokitai_saturated((int32_t)dtype, values[i]) == due);
            assert_true(tokitai_saturated((int32_t)dtype, -values[i]) == -due);
        }
        assert_true(isnan(tokitai_saturated((int32_t)dtype, NAN)));
    }
}

TEST(bytes_are_numbers_and_other_types_are_left_alone)
{
    unsigned char bytes[BYTES], before[BYTES];
    for (int i = 0; i < 256; i++) {
        memset(bytes, FILL, sizeof bytes);
        tokitai_store_as(TOKITAI_U8, bytes, 3, (float)i);
        assert_int_equal(bytes[3], i);
        assert_true(tokitai_load_as(TOKITAI_U8, bytes, 3) == (float)i);
        assert_int_equal(bytes[2], FILL);
        assert_int_equal(bytes[4], FILL);
    }
    tokitai_store_as(TOKITAI_BOOL, bytes, 3, 1);
    assert_true(bytes[3] == 1 && tokitai_load_as(TOKITAI_BOOL, bytes, 3) == 1);
    memcpy(before, bytes, sizeof bytes);
    for (int32_t dtype = TOKITAI_I32; dtype <= TOKITAI_U64; dtype++) {
        tokitai_store_as(dtype, bytes, 0, 7);
        assert_memory_equal(bytes, before, sizeof bytes);
    }
}

/* The header names the types by hand. */
TEST(types_have_the_numbers_of_the_library)
{
    static const int32_t numbers[] = {TOKITAI_F16, TOKITAI_BF16,    TOKITAI_F32,     TOKITAI_I32,  TOKITAI_I64,
                                      TOKITAI_U64, TOKITAI_F8_E4M3, TOKITAI_F8_E5M2, TOKITAI_BOOL, TOKITAI_U8};
    static const tk_dtype types[] = {TK_F16, TK_BF16,    TK_F32,     TK_I32,  TK_I64,
                                     TK_U64, TK_F8_E4M3, TK_F8_E5M2, TK_BOOL, TK_U8};
    assert_int_equal(sizeof numbers / sizeof *numbers, TKI_DTYPE_COUNT);
    for (int i = 0; i < TKI_DTYPE_COUNT; i++)
        assert_int_equal(numbers[i], types[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_of_floating_point_is_there),
        cmocka_unit_test(stores_round_once_and_stay_in_their_element),
        cmocka_unit_test(patterns_are_loaded_and_stored_again),
        cmocka_unit_test(saturated_values_are_the_largest_numbers),
        cmocka_unit_test(bytes_are_numbers_and_other_types_are_left_alone),
        cmocka_unit_test(types_have_the_numbers_of_the_library),
    };
    return cmocka_run_group_tests_name("kernel_elements", tests, NULL, NULL);
}
