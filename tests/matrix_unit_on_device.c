/* The constants of numerics tensor_core, confirmed on a real GPU by sums that tell them apart: how many fraction bits a block of products
 * keeps (F) and how many products it has (L), of products, accumulators and subnormal factors; and that what is lost is truncated. They must
 * be at least those that the contract has for the device (docs/contracts.md). Exits with 77, skipped, where there is no device with a
 * lowering of these numerics. A plain program, so that it can be carried to a machine that has one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "tests/device_check.h"
#include "tokitai.h"

enum { SKIPPED = 77, PLACES = 32, MOST_SUMS = 128, LEAST_BITS = 20, MOST_BITS = 30 };

/* Sum i is output (i, i) of one product of a square; what is beside the diagonal is nobody's. */
typedef struct sums {
    tk_dtype dtype;
    int count;
    double left[MOST_SUMS][PLACES], right[MOST_SUMS][PLACES];
    float result[MOST_SUMS];
} sums;

/* 2^e as a product of two numbers that are normal in both formats, for e from -28 to 30. */
static void put_power(sums *s, int place, double sign, int e)
{
    s->left[s->count][place] = sign * ldexp(1, e / 2);
    s->right[s->count][place] = ldexp(1, e - e / 2);
}

static void put(sums *s, int place, double left, double right)
{
    s->left[s->count][place] = left;
    s->right[s->count][place] = right;
}

static uint16_t bits_of(tk_dtype dtype, double value)
{
    return dtype == TK_F16 ? tki_f32_to_f16((float)value) : tki_f32_to_bf16((float)value);
}

static double exact_of(const sums *s, int i)
{
    double sum = 0;
    for (int t = 0; t < PLACES; t++)
        sum += s->left[i][t] * s->right[i][t];
    return sum;
}

static void run(tk_ctx *ctx, const tk_contract *op, sums *s)
{
    const int n = s->count;
    uint16_t *a = calloc((size_t)n * PLACES, sizeof *a), *b = calloc((size_t)n * PLACES, sizeof *b);
    float *c = malloc((size_t)n * (size_t)n * sizeof *c);
    void *buffers[3] = {NULL};
    const size_t factor = (size_t)n * PLACES * sizeof *a, result = (size_t)n * (size_t)n * sizeof *c;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < PLACES; t++) {
            a[i * PLACES + t] = bits_of(s->dtype, s->left[i][t]);
            b[t * n + i] = bits_of(s->dtype, s->right[i][t]);
        }
    tk_case product = tk_case_init(op, s->dtype);
    product.result_dtype = TK_F32;
    product.dims[0] = product.dims[1] = n;
    product.dims[2] = PLACES;
    tk_status status = tk_memory_alloc(ctx, factor, &buffers[0]);
    status = status == TK_OK ? tk_memory_alloc(ctx, factor, &buffers[1]) : status;
    status = status == TK_OK ? tk_memory_alloc(ctx, result, &buffers[2]) : status;
    status = status == TK_OK ? tk_memory_write(ctx, buffers[0], a, factor) : status;
    status = status == TK_OK ? tk_memory_write(ctx, buffers[1], b, factor) : status;
    status = status == TK_OK ? tk_run(ctx, &product, buffers) : status;
    status = status == TK_OK ? tk_ctx_synchronize(ctx) : status;
    status = status == TK_OK ? tk_memory_read(ctx, c, buffers[2], result) : status;
    CHECK(status == TK_OK, "%s", tk_ctx_message(ctx));
    for (int i = 0; i < n; i++)
        s->result[i] = status == TK_OK ? c[i * n + i] : NAN;
    for (int i = 0; i < 3; i++)
        tk_memory_free(ctx, buffers[i]);
    free(a);
    free(b);
    free(c);
}

/* Where the sums of one question begin. A question has one for each number of bits. */
typedef struct places {
    int products, accumulator, low_accumulator, subnormal, blocks, truncated, sum, alone, beside_zero, swamped;
} places;

/* Something of 2^0 and its negative, with 2^-bits between them: what comes out is 2^-bits if it was kept. */
static places ask(sums *s)
{
    places p;
    p.products = s->count;
    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++, s->count++) {
        put_power(s, 0, 1, 0);
        put_power(s, 1, 1, -bits);
        put_power(s, 2, -1, 0);
    }
    p.accumulator = s->count;
    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++, s->count++) {
        put_power(s, 0, 1, 0);
        put_power(s, 16, 1, -bits);
        put_power(s, 17, -1, 0);
    }
    p.low_accumulator = s->count;
    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++, s->count++) {
        put_power(s, 0, 1, -bits);
        put_power(s, 16, 1, 0);
        put_power(s, 17, -1, 0);
    }
    /* The smallest subnormal number times what makes the smallest normal one 2^0, and its negative of normal numbers. */
    const int normal = s->dtype == TK_F16 ? -14 : -126, tiny = s->dtype == TK_F16 ? -24 : -133;
    p.subnormal = s->count;
    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++, s->count++) {
        put(s, 0, ldexp(1, tiny), ldexp(1, -normal));
        put_power(s, 1, 1, -bits);
        put_power(s, 2, -1, tiny - normal);
    }
    p.blocks = s->count;
    for (int last = 2; last < 16; last++, s->count++) {
        put_power(s, 0, 1, 0);
        put_power(s, 1, 1, -24); /* below the last bit of an fp32 sum of 2^0 */
        put_power(s, last, -1, 0);
    }
    p.truncated = s->count;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int bits = 23; bits <= 25; bits++, s->count++) {
            put_power(s, 0, 1, 0);
            put(s, 1, sign * 1.75 * ldexp(1, -12), ldexp(1, 12 - bits)); /* 1.11 in binary, from 2^-bits down */
            put_power(s, 2, -1, 0);
        }
    p.sum = s->count;
    for (int sign = 1; sign >= -1; sign -= 2, s->count++) {
        put_power(s, 0, sign, 0);
        put_power(s, 1, sign, -24);
        put_power(s, 2, sign, -25);
    }
    p.alone = s->count;
    put(s, 3, ldexp(1, tiny), s->dtype == TK_F16 ? ldexp(1, tiny) : 1);
    s->count++;
    p.beside_zero = s->count;
    put(s, 0, 0, s->dtype == TK_F16 ? 65504 : 0x1p127);
    put_power(s, 1, 1, -28);
    put_power(s, 2, 1, -27);
    s->count++;
    p.swamped = s->count;
    for (int bits = 22; bits <= 28; bits++, s->count++)
        for (int t = 0; t < PLACES; t++)
            put_power(s, t, 1, t ? -bits : 0);
    return p;
}

/* The most bits of which 2^-bits came out. */
static int bits_kept(const sums *s, int first)
{
    int kept = 0;
    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++)
        if (s->result[first + bits - LEAST_BITS] == (float)ldexp(1, -bits))
            kept = bits;
    return kept;
}

static int block_of(const sums *s, int first)
{
    int block = 2;
    for (int last = 2; last < 16; last++)
        if (s->result[first + last - 2] == 0x1p-24F)
            block = last + 1;
    return block;
}

static void check(const sums *s, const places *p, int least_block, int least_bits)
{
    const int products = bits_kept(s, p->products), accumulator = bits_kept(s, p->accumulator);
    const int low = bits_kept(s, p->low_accumulator), subnormal = bits_kept(s, p->subnormal);
    const int block = block_of(s, p->blocks);
    printf("%s: F = %d of products, %d and %d of accumulators, %d below subnormal factors; L = %d%s; the contract "
           "has F = %d, L = %d\n",
           s->dtype == TK_F16 ? "f16" : "bf16", products, accumulator, low, subnormal, block,
           block == 16 ? " or more" : "", least_bits, least_block);
    CHECK(products >= least_bits, "F = %d", products);
    CHECK(accumulator >= least_bits && low >= least_bits, "F = %d, %d", accumulator, low);
    CHECK(subnormal >= least_bits, "F = %d", subnormal);
    CHECK(least_bits < 24 || block >= least_block, "L = %d", block);
    /* Toward zero, whatever is kept. */
    for (int i = p->truncated; i < p->alone; i++) {
        const double exact = exact_of(s, i);
        printf("    %a gave %a\n", exact, (double)s->result[i]);
        CHECK(fabs((double)s->result[i]) <= fabs(exact) && (double)s->result[i] * exact >= 0, "%a from %a",
              (double)s->result[i], exact);
    }
    CHECK((double)s->result[p->alone] == exact_of(s, p->alone), "one product is exact: %a",
          (double)s->result[p->alone]);
    CHECK((double)s->result[p->beside_zero] == exact_of(s, p->beside_zero), "zero times much: %a",
          (double)s->result[p->beside_zero]);
    for (int i = p->swamped; i < s->count; i++) {
        const double exact = exact_of(s, i), cut = ldexp(1, -least_bits);
        const double blocks = (double)((PLACES + least_block - 1) / least_block);
        const double bound = (PLACES * cut + blocks * (cut + 0x1p-23)) * exact;
        const double error = exact - (double)s->result[i];
        printf("    swamped: %.3g of the bound\n", error / bound);
        CHECK(error >= 0 && error <= bound, "%a from %a", (double)s->result[i], exact);
    }
}

/* The lowering that takes a product of these types by default; false if its numerics are ieee. */
static bool name_lowering(tk_ctx *ctx, const tk_contract *op, tk_dtype dtype)
{
    tk_case c = tk_case_init(op, dtype), ieee = c;
    char id[128];
    c.result_dtype = ieee.result_dtype = TK_F32;
    const int numerics = tk_attribute_find(op, "numerics");
    ieee.attributes[numerics].integer = tk_choice_find(&op->attributes[numerics], "ieee");
    for (int i = 0; tk_lowering_id(&c, i, id, sizeof id); i++)
        if (!strncmp(id, "cuda.", 5) && !tk_lowering_refusal(ctx, &c, i)) {
            printf("%s\n", id);
            return tk_lowering_refusal(ctx, &ieee, i) != NULL;
        }
    return false;
}

int main(void)
{
    tk_ctx *ctx = NULL;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    const tk_contract *op = tk_contract_find("gemm");
    if (tk_ctx_use_device(ctx, "cuda") != TK_OK || !name_lowering(ctx, op, TK_F16)) {
        printf("skipped: no CUDA device with matrix units: %s\n", tk_ctx_message(ctx));
        tk_ctx_destroy(ctx);
        return SKIPPED;
    }
    tk_device device = {0};
    for (int i = 0; tk_device_at(i, &device) && strcmp(device.backend, "cuda") != 0; i++)
        ;
    const long number = strtol(device.architecture + 3, NULL, 10);
    printf("%s, %s\n", device.name, device.architecture);
    for (tk_dtype dtype = TK_F16; dtype <= TK_BF16; dtype++) {
        sums *s = calloc(1, sizeof *s);
        if (!s)
            return 1;
        s->dtype = dtype;
        const places p = ask(s);
        run(ctx, op, s);
        check(s, &p, 8, number >= 90 ? 25 : 24);
        free(s);
    }
    tk_ctx_destroy(ctx);
    printf("%s\n", failures ? "some checks failed" : "the constants are confirmed");
    return failures != 0;
}
