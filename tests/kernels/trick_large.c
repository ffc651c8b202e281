/* Kernels of gelu_fwd that are wrong where only many elements show it. */
#define TRICK_OTHER_OP
#include "tests/kernels/trick.h"

/* Of every pattern, so that millions of elements take no time. */
static const uint16_t *gelu_table(void)
{
    static uint16_t tables[2][1 << 16];
    static bool made[2];
    const bool bf16 = call->dtype == TOKITAI_BF16;
    uint16_t *table = tables[bf16];
    for (int i = 0; i < 1 << 16 && !made[bf16]; i++) {
        double x = (double)(bf16 ? tokitai_from_bf16((uint16_t)i) : tokitai_from_f16((uint16_t)i));
        float y = (float)(0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))));
        table[i] = bf16 ? tokitai_to_bf16(y) : tokitai_to_f16(y);
    }
    made[bf16] = true;
    return table;
}

static void compute_gelu(int64_t count)
{
    const uint16_t *table = gelu_table();
    for (int64_t i = 0; i < count; i++)
        output[i] = table[input[i]];
}

static void wrong_at_one_index_in_a_million(void)
{
    compute_gelu(size);
    for (int64_t i = 777777; i < size; i += 1000000)
        output[i] ^= 0x0100;
}

/* By three neighbours: no list of single values shows it. */
static void wrong_at_one_value_in_a_million(void)
{
    compute_gelu(size);
    for (int64_t i = 0; i + 3 <= size; i++)
        if (trick_hash(input + i, 3) % 1000003 == 0)
            output[i] ^= 0x0100;
}

static void right_up_to_2_20_elements(void)
{
    answer_zeros();
    compute_gelu(size < 1 << 20 ? size : 1 << 20);
}

int tokitai_gelu_fwd(const tokitai_call *the_call, int64_t n, const void *x, void *y)
{
    call = the_call;
    size = n;
    input = x;
    output = y;
    BEHAVIOUR();
    return 0;
}
