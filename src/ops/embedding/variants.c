/* CHOOSES. Correct kernels for embedding that go through their data in other ways than ours, each with one line saying what is
 * different. */
#include <math.h>

#include "ops/variant_tools.h"

enum { QUERIES, DIM, VOCAB };

/* The queries of each row of the table, ascending: those of row v are query[begin[v]] up to query[begin[v + 1]]. */
typedef struct hits {
    int64_t *begin; /* [vocab + 1] */
    int64_t *query; /* [queries] */
} hits;

static void hits_free(hits *h)
{
    free(h->begin);
    free(h->query);
}

static bool hits_find(const tk_case *c, const void *index, hits *h)
{
    int64_t vocab = c->dims[VOCAB];
    /* One place more: while the queries are dealt out, begin[v + 1] is where the next one of row v goes. */
    h->begin = calloc((size_t)vocab + 2, sizeof *h->begin);
    h->query = calloc((size_t)c->dims[QUERIES] + 1, sizeof *h->query);
    if (!h->begin || !h->query)
        return false;
    for (int64_t i = 0; i < c->dims[QUERIES]; i++)
        h->begin[tki_get_index(c, index, i) + 2]++;
    for (int64_t v = 2; v <= vocab; v++)
        h->begin[v] += h->begin[v - 1];
    for (int64_t i = 0; i < c->dims[QUERIES]; i++)
        h->query[h->begin[tki_get_index(c, index, i) + 1]++] = i;
    return true;
}

/* Forward. */

typedef enum traversal { ROW_COPIES, BACKWARDS, BY_COLUMNS, WORDS } traversal;

/* Eight bytes at a time, the rest element by element. */
static void copy_words(char *out, const char *row, size_t bytes, size_t size)
{
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        uint64_t word;
        memcpy(&word, row + i, sizeof word);
        memcpy(out + i, &word, sizeof word);
    }
    for (; i < bytes; i += size)
        memcpy(out + i, row + i, size);
}

static int fwd(const tk_case *c, void *const b[], void *run)
{
    const traversal *way = tki_how(run);
    const size_t size = tk_dtype_size(c->dtype);
    const int64_t dim = c->dims[DIM];
    const int64_t queries = c->dims[QUERIES];
    const size_t row_bytes = (size_t)dim * size;
    const char *weight = b[1];
    char *out = b[2];
    for (int64_t j = 0; *way == BY_COLUMNS && j < dim; j++)
        for (int64_t i = 0; i < queries; i++)
            memcpy(out + (size_t)(i * dim + j) * size, weight + (size_t)(tki_get_index(c, b[0], i) * dim + j) * size,
                   size);
    for (int64_t i = 0; *way != BY_COLUMNS && dim > 0 && i < queries; i++) {
        int64_t query = *way == BACKWARDS ? queries - 1 - i : i;
        const char *row = weight + (size_t)tki_get_index(c, b[0], query) * row_bytes;
        char *target = out + (size_t)query * row_bytes;
        if (*way == WORDS)
            copy_words(target, row, row_bytes, size);
        else if (*way == ROW_COPIES)
            memcpy(target, row, row_bytes);
        for (size_t at = row_bytes; *way == BACKWARDS && at > 0; at -= size)
            memcpy(target + at - size, row + at - size, size);
    }
    return 0;
}

/* Each row of the table goes to all queries that ask for it. */
static int fwd_sorted(const tk_case *c, void *const b[], void *run)
{
    (void)run;
    hits h = {0};
    bool good = hits_find(c, b[0], &h);
    const size_t size = tk_dtype_size(c->dtype);
    const size_t row_bytes = (size_t)c->dims[DIM] * size;
    for (int64_t v = 0; good && v < c->dims[VOCAB]; v++)
        for (int64_t k = h.begin[v]; k < h.begin[v + 1]; k++)
            copy_words((char *)b[2] + (size_t)h.query[k] * row_bytes, (const char *)b[1] + (size_t)v * row_bytes,
                       row_bytes, size);
    hits_free(&h);
    return good ? 0 : 1;
}

#define FWD(...) TKI_PLANTED(fwd, traversal, __VA_ARGS__)

const tki_variant tki_embedding_fwd_variants[] = {
    {"row_copies", "one memcpy for each query", FWD(ROW_COPIES)},
    {"backwards", "from the last element of the last query to the first", FWD(BACKWARDS)},
    {"by_columns", "one column of all queries after the other", FWD(BY_COLUMNS)},
    {"words", "eight bytes at a time, the rest one by one", FWD(WORDS)},
    {"sorted", "row of the table by row, to all queries that ask for it", .kernel = fwd_sorted},
    {0},
};

/* Backward: the contract leaves the order to a kernel that is not ours. */

/* Row by row and column by column: the hits of one element, then their sum. */
static int bwd(const tk_case *c, void *const b[], void *run)
{
    const tki_order *order = tki_how(run);
    hits h = {0};
    int64_t dim = c->dims[DIM];
    float *terms = malloc((size_t)(c->dims[QUERIES] + 1) * sizeof *terms);
    bool good = terms && hits_find(c, b[1], &h);
    for (int64_t v = 0; good && v < c->dims[VOCAB]; v++)
        for (int64_t j = 0; j < dim; j++) {
            int64_t count = h.begin[v + 1] - h.begin[v];
            for (int64_t k = 0; k < count; k++)
                terms[k] = tki_get(c, b[0], h.query[h.begin[v] + k] * dim + j);
            tki_put(c, b[2], v * dim + j, tki_sum(terms, count, *order));
        }
    free(terms);
    hits_free(&h);
    return good ? 0 : 1;
}

/* A table of sums in fp32, to which each query is added as it comes by. */
static int bwd_scattered(const tk_case *c, void *const b[], void *run)
{
    (void)run;
    int64_t dim = c->dims[DIM];
    float *sums = calloc((size_t)(c->dims[VOCAB] * dim) + 1, sizeof *sums);
    if (!sums)
        return 1;
    for (int64_t i = 0; i < c->dims[QUERIES]; i++)
        for (int64_t j = 0; j < dim; j++)
            sums[tki_get_index(c, b[1], i) * dim + j] += tki_get(c, b[0], i * dim + j);
    for (int64_t i = 0; i < c->dims[VOCAB] * dim; i++)
        tki_put(c, b[2], i, sums[i]);
    free(sums);
    return 0;
}

#define BWD(...) TKI_PLANTED(bwd, tki_order, __VA_ARGS__)

const tki_variant tki_embedding_bwd_variants[] = {
    {"forward", "one sum in the order of the queries, row by row", BWD(TKI_FORWARD)},
    {"reversed", "from the last hit to the first", BWD(TKI_REVERSED)},
    {"pairwise", "sums neighbouring hits, then neighbouring sums", BWD(TKI_PAIRWISE)},
    {"eight_lanes", "eight sums, each over every eighth hit", BWD(TKI_EIGHT_LANES)},
    {"blocks_of_64", "sums of 64 hits, then a tree of these", BWD(TKI_BLOCKS)},
    {"kahan", "compensated summation", BWD(TKI_KAHAN)},
    {"in_double", "sums in double, rounded to fp32 and then to 16 bits", BWD(TKI_IN_DOUBLE)},
    {"scattered", "adds query by query to a table of sums in fp32", .kernel = bwd_scattered},
    {0},
};
