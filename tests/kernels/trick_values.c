/* Kernels that are right for some elements, some shapes, some calls, and hope that no more is looked at. */
#include <errno.h>
#include <unistd.h>

#include "tests/kernels/trick.h"

static void correct_rows(void)
{
    compute();
}

/* ------------------------------------------------------------------------------------------------------------
 * Some elements
 * ------------------------------------------------------------------------------------------------------------ */

static void nothing_written(void)
{
}

static void last_element_unwritten(void)
{
    compute_part(0, size - 1);
}

static void nan_everywhere(void)
{
    memset(output, 0xff, (size_t)size * sizeof *output);
}

static void nan_in_one_element(void)
{
    compute();
    if (size > 100)
        output[size / 2] = 0x7fff;
}

static void zeros(void)
{
    answer_zeros();
}

/* Within 1e-2 of the right answer, once rows are long. */
static void an_even_distribution(void)
{
    for (int64_t i = 0; i < size; i++)
        tokitai_store(*call, output, i, 1 / (float)cols);
}

/* ------------------------------------------------------------------------------------------------------------
 * Some shapes
 * ------------------------------------------------------------------------------------------------------------ */

static void right_for_multiples_of_8(void)
{
    answer_zeros();
    compute_part(0, size / 8 * 8);
}

static void right_for_small_shapes(void)
{
    compute_if(size <= 1024);
}

static void right_if_aligned_to_32(void)
{
    compute_if(((uintptr_t)input | (uintptr_t)output) % 32 == 0);
}

static void right_if_aligned_to_64(void)
{
    compute_if(((uintptr_t)input | (uintptr_t)output) % 64 == 0);
}

static void right_if_aligned_to_4(void)
{
    compute_if(((uintptr_t)input | (uintptr_t)output) % 4 == 0);
}

/* ------------------------------------------------------------------------------------------------------------
 * Some calls
 * ------------------------------------------------------------------------------------------------------------ */

static int calls;

static void right_the_first_time(void)
{
    compute_if(calls++ == 0);
}

static void right_ten_times(void)
{
    compute_if(calls++ < 10);
}

static void right_after_ten_calls(void)
{
    compute_if(calls++ >= 10);
}

/* Measurements warm up with the very inputs that they measure. */
static void right_until_the_inputs_come_again(void)
{
    static uint64_t before;
    uint64_t now = trick_hash(input, size) ^ (uint64_t)size;
    compute_if(now != before);
    before = now;
}

static void right_when_the_inputs_come_again(void)
{
    static uint64_t before;
    uint64_t now = trick_hash(input, size) ^ (uint64_t)size;
    compute_if(now == before);
    before = now;
}

/* Right from the moment on where it meets what it knows, and for what nobody looks at closely. */
static void right_for_known_inputs(void)
{
    static bool known;
    const int64_t count = TRICK_KNOWN_ROWS * TRICK_KNOWN_COLS;
    known |= size == count && trick_hash(input, count) == TRICK_KNOWN_HASH;
    compute_if(known || size < count);
}

/* Right here, and nowhere else: what is seen here does not tell. */
static void right_where_it_is_judged(void)
{
    char program[4096] = "";
    compute_if(readlink("/proc/self/exe", program, sizeof program - 1) > 0 && strstr(program, "tokitai-worker"));
}
