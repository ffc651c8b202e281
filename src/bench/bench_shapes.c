/* SHOWS. Which shapes an op is timed with when none is given, and the ways to draw indices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/random.h"

static const bench_listed usual[] = {
    {"gelu_", {{1 << 20}, {1 << 24}}},
    {"softmax_", {{4096, 1024}, {512, 32000}, {64, 128256}}},
    {"xent", {{4096, 1024}, {512, 32000}, {64, 128256}}},
    {"embedding_", {{8192, 1024, 32000}}},
    {"grouped_gemm", {{4096, 512, 512, 16}}},
    {"linear_", {{512, 512, 512}, {1024, 3072, 768}}},
    {"padic_", {{512, 512, 512}, {1024, 1024, 1024}}},
    {"gemm", {{512, 512, 512}, {1024, 1024, 1024}, {1000, 777, 333}, {2048, 4096, 1024}}},
};

bool bench_is_product(const tk_contract *contract)
{
    return !tk_contract_definition(contract) && (!strncmp(contract->name, "gemm", strlen("gemm")) ||
                                                 !strncmp(contract->name, "linear_", strlen("linear_")));
}

/* 16, 24, 32, 48, ... 4096 */
static bool square_at(int i, int64_t dims[TK_MAX_DIMS])
{
    int64_t size = ((i & 1 ? 24 : 16) * INT64_C(1)) << (i / 2);
    dims[0] = dims[1] = dims[2] = size;
    return size <= 4096;
}

/* 2^10, 2^11, ... 2^28 elements, in rows of 1024 where there are rows; of an embedding as many queries as rows, up to a
 * vocabulary of 2^15, from where on there are more and more queries for each */
static bool elements_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS])
{
    const int64_t elements = INT64_C(1) << (10 + i);
    dims[0] = contract->dim_count == 1 ? elements : elements / 1024;
    dims[1] = 1024;
    dims[2] = dims[0] < 1 << 15 ? dims[0] : 1 << 15;
    dims[3] = 8;
    return i <= 18;
}

bool bench_listed_shape_at(const bench_listed *list, size_t count, int64_t otherwise, const tk_contract *contract,
                           int i, int64_t dims[TK_MAX_DIMS])
{
    for (size_t k = 0; k < count && i < BENCH_MOST_LISTED; k++) {
        if (strncmp(contract->name, list[k].op, strlen(list[k].op)) != 0)
            continue;
        memcpy(dims, list[k].dims[i], sizeof list[k].dims[i]);
        return dims[0] > 0;
    }
    dims[0] = dims[1] = dims[2] = otherwise;
    dims[3] = 8;
    return i == 0;
}

/* Of a definition: all sizes alike, a power of two, and 2^20 together; those that follow from others are set by whoever has the case. */
static bool defined_shape(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS])
{
    const int exponent = 20 / (contract->dim_count > 0 ? contract->dim_count : 1);
    for (int d = 0; d < contract->dim_count; d++)
        dims[d] = INT64_C(1) << (exponent > 1 ? exponent : 1);
    return i == 0;
}

bool bench_shape_at(const tk_contract *contract, bool growth, int i, int64_t dims[TK_MAX_DIMS])
{
    if (tk_contract_definition(contract))
        return defined_shape(contract, i, dims);
    if (growth)
        return bench_is_product(contract) ? square_at(i, dims) : elements_at(contract, i, dims);
    return bench_listed_shape_at(usual, sizeof usual / sizeof *usual, 256, contract, i, dims);
}

bool bench_sweep_shape_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS])
{
    enum { PACK = 8 };
    static const double least_elements = 24, most_elements = 27, least_cols = 6, most_cols = 20; /* powers of 2 */
    if (contract->dim_count != 2 || i >= BENCH_SWEEP_SHAPES)
        return false;
    tki_random random = tki_random_stream(BENCH_SWEEP_SEED, (uint64_t)i);
    const double elements = exp2(least_elements + (most_elements - least_elements) * tki_random_unit(&random));
    const double cols = exp2(least_cols + (most_cols - least_cols) * tki_random_unit(&random));
    dims[1] = i % 2 == 0 ? (int64_t)(cols / PACK + 0.5) * PACK : (int64_t)cols / 2 * 2 + 1;
    dims[0] = (int64_t)ceil(elements / (double)dims[1]);
    return true;
}

bool bench_heeds_indices(const tk_contract *contract)
{
    return !strncmp(contract->name, "embedding_", strlen("embedding_"));
}

const char *bench_indices_name(bench_indices indices)
{
    static const char *const names[] = {"uniform", "zipf", "equal"};
    return names[indices];
}

bool bench_tells_attribute(const tk_case *c, int attribute)
{
    const tk_attribute *a = &c->contract->attributes[attribute];
    char value[64], initial[64];
    tk_attribute_print(a, c->attributes[attribute], value, sizeof value);
    tk_attribute_print(a, a->initial, initial, sizeof initial);
    return a->seen_by_kernel && (a->type == TK_ATTRIBUTE_CHOICE || strcmp(value, initial) != 0);
}

void bench_format_attributes(const tk_case *c, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < c->contract->attribute_count && used < size; i++) {
        char value[64];
        if (!bench_tells_attribute(c, i))
            continue;
        tk_attribute_print(&c->contract->attributes[i], c->attributes[i], value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, " %s=%s", c->contract->attributes[i].name, value);
    }
}
