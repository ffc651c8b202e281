/* Which shapes an op is timed with when none is given, and the ways to draw indices. */
#include <string.h>

#include "bench/bench.h"

enum { MOST = 4 };

static const struct {
    const char *op; /* a beginning of its name */
    int64_t dims[MOST][TK_MAX_DIMS];
} usual[] = {
    {"gelu_", {{1 << 20}, {1 << 24}}},
    {"softmax_", {{4096, 1024}, {512, 32000}, {64, 128256}}},
    {"xent", {{4096, 1024}, {512, 32000}, {64, 128256}}},
    {"embedding_", {{8192, 1024, 32000}}},
    {"gemm", {{512, 512, 512}, {1024, 1024, 1024}, {1000, 777, 333}, {2048, 4096, 1024}}},
};

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
    return i <= 18;
}

bool bench_shape_at(const tk_contract *contract, bool growth, int i, int64_t dims[TK_MAX_DIMS])
{
    if (growth)
        return !strncmp(contract->name, "gemm", 4) ? square_at(i, dims) : elements_at(contract, i, dims);
    for (size_t k = 0; k < sizeof usual / sizeof *usual && i < MOST; k++) {
        if (strncmp(contract->name, usual[k].op, strlen(usual[k].op)) != 0)
            continue;
        memcpy(dims, usual[k].dims[i], sizeof usual[k].dims[i]);
        return dims[0] > 0;
    }
    /* An op that nobody has chosen shapes for yet. */
    dims[0] = dims[1] = dims[2] = 256;
    return i == 0;
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
