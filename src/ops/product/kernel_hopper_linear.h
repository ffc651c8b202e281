/* UNTRUSTED. A linear layer and its gradients on Hopper's matrix units: gemm's kernels (ops/gemm/kernel_hopper.h), with what follows the
 * product done in the registers that hold the fp32 sums. */
#define PIECES_ONLY
#include "kernels/device_gelu.h"
#include "ops/product/kernel_hopper.h"

/* Two neighbours from an even column on, as they are stored; `left` of them exist. */
struct stored_pair {
#if TKI_RESULT_DTYPE == TKI_DTYPE
    uint32_t bits;
#else
    float value[2];
#endif
};

DEVICE uint32_t fetch_elements(const element *from, int left, bool aligned)
{
    if (left >= 2 && aligned)
        return *(const uint32_t *)from;
    return (left >= 1 ? from[0] : 0u) | (left >= 2 ? (uint32_t)from[1] << 16 : 0u);
}

DEVICE stored_pair fetch_results(const tki_gemm_hopper_params &p, int row, int col)
{
    const int left = row < p.rows ? p.cols - col : 0;
    const result_element *from = (const result_element *)p.with + (int64_t)row * p.cols + col;
#if TKI_RESULT_DTYPE == TKI_DTYPE
    return {fetch_elements(from, left, pairs_are_aligned(p.with, p.cols))};
#else
    return {{left >= 1 ? from[0] : 0.0f, left >= 2 ? from[1] : 0.0f}};
#endif
}

DEVICE float_pair values_of(const stored_pair &pair)
{
#if TKI_RESULT_DTYPE == TKI_DTYPE
    return from_pair(pair.bits);
#else
    return {pair.value[0], pair.value[1]};
#endif
}

DEVICE uint32_t fetch_bias(const tki_gemm_hopper_params &p, int col)
{
    return fetch_elements((const element *)p.bias + col, p.cols - col, (uintptr_t)p.bias % 4 == 0);
}

/* Adds nothing where there is none: the sign of a zero stays. */
DEVICE void add_bias(const tki_gemm_hopper_params &p, uint32_t bias, float (&value)[2])
{
    if (!p.bias)
        return;
    const float_pair v = from_pair(bias);
    value[0] += v.low;
    value[1] += v.high;
}

/* A bias, a tensor of the output's size, both or neither. */
struct add_terms {
    enum { two_outputs = false };
    struct pair {
        uint32_t bias;
        stored_pair with;
    };
    DEVICE pair fetch(const tki_gemm_hopper_params &p, int row, int col)
    {
        pair in = {};
        if (p.bias)
            in.bias = fetch_bias(p, col);
        if (p.with)
            in.with = fetch_results(p, row, col);
        return in;
    }
    DEVICE void apply(const tki_gemm_hopper_params &p, const pair &in, float (&value)[2], float (&)[2])
    {
        add_bias(p, in.bias, value);
        if (p.with) {
            const float_pair v = values_of(in.with);
            value[0] += v.low;
            value[1] += v.high;
        }
    }
};

/* The bias alone. */
struct add_vector {
    enum { two_outputs = false };
    struct pair {
        uint32_t bias;
    };
    DEVICE pair fetch(const tki_gemm_hopper_params &p, int, int col)
    {
        return {p.bias ? fetch_bias(p, col) : 0};
    }
    DEVICE void apply(const tki_gemm_hopper_params &p, const pair &in, float (&value)[2], float (&)[2])
    {
        add_bias(p, in.bias, value);
    }
};

/* gelu of the sum with its bias, which is the second output. */
struct add_gelu {
    enum { two_outputs = true };
    typedef add_vector::pair pair;
    DEVICE pair fetch(const tki_gemm_hopper_params &p, int row, int col)
    {
        return add_vector::fetch(p, row, col);
    }
    DEVICE void apply(const tki_gemm_hopper_params &p, const pair &in, float (&value)[2], float (&second)[2])
    {
        add_bias(p, in.bias, value);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            second[i] = value[i];
            value[i] = gelu_of(value[i]);
        }
    }
};

/* The sum times gelu's derivative at another tensor's element. */
struct times_derivative {
    enum { two_outputs = false };
    struct pair {
        stored_pair with;
    };
    DEVICE pair fetch(const tki_gemm_hopper_params &p, int row, int col)
    {
        return {fetch_results(p, row, col)};
    }
    DEVICE void apply(const tki_gemm_hopper_params &, const pair &in, float (&value)[2], float (&)[2])
    {
        const float_pair v = values_of(in.with);
        value[0] *= gelu_derivative_of(v.low);
        value[1] *= gelu_derivative_of(v.high);
    }
};

/* The kernels of one epilogue; ops/gemm/launch_hopper.c has the same list. */
#if TKI_RESULT_DTYPE == TKI_DTYPE
#define WIDE(name, epilogue) PRODUCT(name##_256, LEFT_ACROSS, RIGHT_ACROSS, 256, true, 1, 4, false, epilogue)
#define IN_TURN(name, epilogue) PRODUCT(name##_128, LEFT_ACROSS, RIGHT_ACROSS, 128, false, 1, 5, false, epilogue)
#else
#define WIDE(name, epilogue)
#define IN_TURN(name, epilogue)
#endif
#define PRODUCTS(name, epilogue)                                                            \
    IN_TURN(name, epilogue)                                                                 \
    PRODUCT(name##_128_direct, LEFT_ACROSS, RIGHT_ACROSS, 128, false, 1, 5, true, epilogue) \
    FEW_PRODUCT(name##_few_64, 1, 8, epilogue)

WIDE(vector, add_vector)
PRODUCTS(vector, add_vector)
FEW_PRODUCT(vector_few_128, 2, 6, add_vector)
#if TKI_RESULT_DTYPE == TKI_DTYPE
PRODUCT(vector_256_down, LEFT_ACROSS, RIGHT_ACROSS, 256, true, 2, 4, false, add_vector)
#endif
