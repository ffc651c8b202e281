/* Kernels that compute, for programs that find the fake driver by themselves: FAKE_GPU_KERNELS names this library. An image of the fake
 * compiler does not say which type it was made for: these are for f16. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "ops/gelu/params.h"
#include "ops/product/params.h"
#include "ops/product/params_hopper.h"
#include "tests/fake_gpu/fake_gpu.h"

static uint16_t gelu(uint16_t bits)
{
    const double x = (double)tki_f16_to_f32(bits);
    const double z = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    return tki_f32_to_f16((float)(x / (1 + exp(-2 * z))));
}

static int run_gelu_fwd(const fake_launch *launch, fake_host_function *host)
{
    tki_gelu_params p;
    memcpy(&p, launch->params, sizeof p);
    const uint16_t *x = host(p.x, (size_t)p.n * sizeof *x);
    uint16_t *out = host(p.out, (size_t)p.n * sizeof *out);
    if (!x || !out)
        return 700;
    for (int64_t i = 0; i < p.n; i++)
        out[i] = gelu(x[i]);
    return 0;
}

static double factor(const tki_gemm_factor *f, const uint16_t *data, int64_t line, int64_t i)
{
    return (double)tki_f16_to_f32(data[line * f->line_stride + i * f->inner_stride]);
}

/* Hopper's kernels run in clusters. One of them has a name of this one's: it leaves its output as it was, which is wrong. */
static int run_product(const fake_launch *launch, fake_host_function *host)
{
    tki_gemm_params p;
    if (launch->cluster)
        return 0;
    memcpy(&p, launch->params, sizeof p);
    if (p.rows == 0 || p.cols == 0)
        return 0;
    /* A product over nothing reads nothing, and its factors may be anywhere. */
    const uint16_t *left = p.inner ? host(p.left.data, (size_t)(p.rows * p.inner) * sizeof *left) : NULL;
    const uint16_t *right = p.inner ? host(p.right.data, (size_t)(p.cols * p.inner) * sizeof *right) : NULL;
    uint16_t *out = host(p.out, (size_t)(p.rows * p.cols) * sizeof *out);
    if (!out || (p.inner && (!left || !right)))
        return 700;
    for (int64_t e = 0; e < p.rows * p.cols; e++) {
        double sum = 0;
        for (int64_t i = 0; i < p.inner; i++)
            sum += factor(&p.left, left, e / p.cols, i) * factor(&p.right, right, e % p.cols, i);
        out[e] = tki_f32_to_f16((float)sum);
    }
    return 0;
}

/* What the driver wrote about a tensor: where it lies, columns, rows, bytes from row to row. */
static double element(const tki_gemm_map *map, const uint16_t *data, int64_t row, int64_t col)
{
    return (double)tki_f16_to_f32(data[row * (int64_t)map->word[3] / 2 + col]);
}

static const uint16_t *tensor(const tki_gemm_map *map, fake_host_function *host)
{
    const uint64_t last_row = (map->word[2] - 1) * map->word[3];
    return host((const void *)(uintptr_t)map->word[0], (size_t)(last_row + 2 * map->word[1]));
}

/* [rows, inner] times [inner, cols] */
static int run_hopper(const fake_launch *launch, fake_host_function *host)
{
    tki_gemm_hopper_params p;
    memcpy(&p, launch->params, sizeof p);
    const uint16_t *left = tensor(&p.left, host), *right = tensor(&p.right, host);
    const int64_t elements = (int64_t)p.rows * p.cols, inner = (int64_t)p.left.word[1];
    uint16_t *out = host(p.out_elements, (size_t)elements * sizeof *out);
    if (!left || !right || !out || (int64_t)p.right.word[2] != inner)
        return 700;
    for (int64_t e = 0; e < elements; e++) {
        double sum = 0;
        for (int64_t i = 0; i < inner; i++)
            sum += element(&p.left, left, e / p.cols, i) * element(&p.right, right, i, e % p.cols);
        out[e] = tki_f32_to_f16((float)sum);
    }
    return 0;
}

static int run_realign(const fake_launch *launch, fake_host_function *host)
{
    tki_gemm_realign_params p;
    memcpy(&p, launch->params, sizeof p);
    for (int i = 0; i < 2; i++) {
        const tki_gemm_realign *copy = &p.factor[i];
        if (copy->rows == 0)
            continue;
        const uint16_t *from = host(copy->from, (size_t)(copy->rows * copy->cols) * sizeof *from);
        uint16_t *to = host(copy->to, (size_t)(copy->rows * copy->pitch) * sizeof *to);
        if (!from || !to)
            return 700;
        for (int64_t row = 0; row < copy->rows; row++)
            memcpy(to + row * copy->pitch, from + row * copy->cols, (size_t)copy->cols * sizeof *to);
    }
    return 0;
}

fake_kernels_function fake_gpu_kernels;
void fake_gpu_kernels(fake_define_function *define)
{
    define("gelu_fwd", sizeof(tki_gelu_params), run_gelu_fwd);
    define("gelu_fwd_elements", sizeof(tki_gelu_params), run_gelu_fwd);
    define("product_64", sizeof(tki_gemm_params), run_product);
    define("product_128", sizeof(tki_gemm_params), run_product);
    static const char *const hopper[] = {"product_256",        "product_256_down", "product_160",
                                         "product_128_direct", "product_few_64",   "product_few_128"};
    for (size_t i = 0; i < sizeof hopper / sizeof *hopper; i++)
        define(hopper[i], sizeof(tki_gemm_hopper_params), run_hopper);
    define("realign", sizeof(tki_gemm_realign_params), run_realign);
}
