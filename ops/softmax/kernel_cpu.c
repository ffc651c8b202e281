/* UNTRUSTED. Row softmax and its gradient on the CPU. A row is walked in blocks of 256 and summed in 256 lanes, one
 * per place in a block, which are then added in pairs: no element passes through more than ceil(cols / 256) + 8
 * additions, and the order is fixed by the number of columns alone. One thread computes a row, so its bits depend on
 * nothing else. */
#include "ops/softmax/kernel_cpu.h"

#include "backend/cpu_math.h"

extern const tki_softmax_cpu TKI_ISA_TABLE(tki_softmax_cpu);

enum { BLOCK = 256, KEPT = 16 * BLOCK, PARALLEL_FROM = 1 << 13 };

static const uint32_t QUIET_NAN = 0x7fc00000;

/* Patterns as integers in the order of their values, a NaN beyond the infinity of its sign. Its own inverse. */
TKI_INLINE int16_t ordered(uint16_t bits)
{
    return (int16_t)(bits ^ ((uint16_t)((int16_t)bits >> 15) & 0x7fff));
}

typedef struct extremes {
    int16_t least, greatest; /* ordered patterns */
} extremes;

TKI_INLINE extremes row_extremes(const uint16_t *restrict x, int64_t cols)
{
    extremes e = {INT16_MAX, INT16_MIN};
    for (int64_t i = 0; i < cols; i++) {
        int16_t key = ordered(x[i]);
        e.least = key < e.least ? key : e.least;
        e.greatest = key > e.greatest ? key : e.greatest;
    }
    return e;
}

/* The smallest power of two that holds every place of a block in use: short rows do not pay for 256 lanes. */
TKI_INLINE int lanes_in_use(int64_t cols)
{
    int lanes = BLOCK;
    while (lanes / 2 >= cols)
        lanes /= 2;
    return lanes;
}

TKI_INLINE void clear_lanes(float *restrict lane, int lanes)
{
    for (int i = 0; i < lanes; i++)
        lane[i] = 0.0f;
}

/* In pairs: 8 additions deep from 256 lanes. */
TKI_INLINE float sum_of_lanes(float *lane, int lanes)
{
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

TKI_INLINE int block_size(int64_t begin, int64_t cols)
{
    return cols - begin < BLOCK ? (int)(cols - begin) : BLOCK;
}

/* e[0..count) = exp(x - max) */
TKI_INLINE void exp_block(float *restrict e, const uint16_t *x, int64_t begin, int count, float max, tk_dtype dtype)
{
    tki_load_block(e, x, begin, count, dtype);
    for (int i = 0; i < count; i++)
        e[i] = tki_exp_nonpositive(e[i] - max);
}

TKI_INLINE void fwd_row(const uint16_t *restrict x, uint16_t *restrict y, int64_t cols, tk_dtype dtype)
{
    const int16_t infinity = dtype == TK_F16 ? 0x7c00 : 0x7f80;
    const int16_t minus_infinity = (int16_t)(-infinity - 1);
    extremes e = row_extremes(x, cols);
    if (e.greatest >= infinity || e.greatest == minus_infinity || e.least < minus_infinity) {
        for (int64_t i = 0; i < cols; i++)
            tki_store_element(y, i, tki_f32_from_bits(QUIET_NAN), dtype);
        return;
    }
    uint16_t max_bits = (uint16_t)ordered((uint16_t)e.greatest);
    float max = tki_load_element(&max_bits, 0, dtype);

    /* Rows up to KEPT columns keep their exponentials; in longer ones they are computed twice, to the same bits. */
    float kept[KEPT];
    float lane[BLOCK];
    const int lanes = lanes_in_use(cols);
    clear_lanes(lane, lanes);
    for (int64_t begin = 0; begin < cols; begin += BLOCK) {
        float *block = &kept[begin % KEPT];
        int count = block_size(begin, cols);
        exp_block(block, x, begin, count, max, dtype);
        for (int i = 0; i < count; i++)
            lane[i] += block[i];
    }
    const float sum = sum_of_lanes(lane, lanes);
    for (int64_t begin = 0; begin < cols; begin += BLOCK) {
        float *block = &kept[begin % KEPT];
        int count = block_size(begin, cols);
        if (cols > KEPT)
            exp_block(block, x, begin, count, max, dtype);
        for (int i = 0; i < count; i++)
            block[i] = block[i] / sum;
        tki_store_block(y, begin, count, block, dtype);
    }
}

TKI_INLINE void bwd_row(const uint16_t *restrict grad_output, const uint16_t *restrict y,
                        uint16_t *restrict grad_input, int64_t cols, tk_dtype dtype)
{
    float grad[BLOCK];
    float weight[BLOCK];
    float lane[BLOCK];
    const int lanes = lanes_in_use(cols);
    clear_lanes(lane, lanes);
    for (int64_t begin = 0; begin < cols; begin += BLOCK) {
        int count = block_size(begin, cols);
        tki_load_block(grad, grad_output, begin, count, dtype);
        tki_load_block(weight, y, begin, count, dtype);
        for (int i = 0; i < count; i++)
            lane[i] += weight[i] * grad[i];
    }
    const float sum = sum_of_lanes(lane, lanes);
    for (int64_t begin = 0; begin < cols; begin += BLOCK) {
        int count = block_size(begin, cols);
        tki_load_block(grad, grad_output, begin, count, dtype);
        tki_load_block(weight, y, begin, count, dtype);
        for (int i = 0; i < count; i++)
            grad[i] = weight[i] * (grad[i] - sum);
        tki_store_block(grad_input, begin, count, grad, dtype);
    }
}

TKI_INLINE void fwd(const tki_softmax_params *p, int threads, tk_dtype dtype)
{
    if (p->cols == 0)
        return;
#pragma omp parallel for schedule(static) num_threads(threads) if (p->rows > 1 && p->rows * p->cols >= PARALLEL_FROM)
    for (int64_t row = 0; row < p->rows; row++)
        fwd_row((const uint16_t *)p->in + row * p->cols, (uint16_t *)p->out + row * p->cols, p->cols, dtype);
}

TKI_INLINE void bwd(const tki_softmax_params *p, int threads, tk_dtype dtype)
{
    if (p->cols == 0)
        return;
#pragma omp parallel for schedule(static) num_threads(threads) if (p->rows > 1 && p->rows * p->cols >= PARALLEL_FROM)
    for (int64_t row = 0; row < p->rows; row++)
        bwd_row((const uint16_t *)p->grad_output + row * p->cols, (const uint16_t *)p->in + row * p->cols,
                (uint16_t *)p->out + row * p->cols, p->cols, dtype);
}

static void fwd_f16(const tki_softmax_params *p, int threads)
{
    fwd(p, threads, TK_F16);
}

static void fwd_bf16(const tki_softmax_params *p, int threads)
{
    fwd(p, threads, TK_BF16);
}

static void bwd_f16(const tki_softmax_params *p, int threads)
{
    bwd(p, threads, TK_F16);
}

static void bwd_bf16(const tki_softmax_params *p, int threads)
{
    bwd(p, threads, TK_BF16);
}

const tki_softmax_cpu TKI_ISA_TABLE(tki_softmax_cpu) = {.fwd = {fwd_f16, fwd_bf16}, .bwd = {bwd_f16, bwd_bf16}};
