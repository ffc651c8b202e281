/* CHOOSES. What an instrumented kernel leaves behind while it runs: memory that its worker shares with the parent, written by the callbacks that
 * compilers insert (-fsanitize-coverage=trace-pc,trace-cmp). The kernel runs beside the callbacks and can write there what it likes: it
 * steers what is tried next and counts for nothing else. The parent reads copies, through tki_coverage_read() and no other way.
 *
 * Nothing in it depends on addresses or on the order in which threads run: places in the code are offsets in the library, and all are
 * sets, or smallest and largest values. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/export.h"

enum {
    TKI_COVERAGE_MAGIC = 0x31434b54, /* "TKC1" */
    TKI_COVERAGE_SITES = 1 << 11,    /* places of the tables; powers of two */
    TKI_COVERAGE_BLOCKS = 1 << 16,
    TKI_COVERAGE_EDGES = 1 << 15,
    TKI_COVERAGE_COUNTERS = 1 << 18 /* most bytes of gcov's counters */
};

/* How the operands of a comparison have been to each other. */
enum { TKI_LESS = 1, TKI_EQUAL = 2, TKI_GREATER = 4, TKI_UNORDERED = 8, TKI_OUTCOMES = 15 };

typedef enum tki_site_kind {
    TKI_SITE_INTEGERS, /* signed, of `bytes` bytes */
    TKI_SITE_CONSTANT, /* integers, of which the first is a constant of the code */
    TKI_SITE_FLOATS,   /* by their ranks */
    TKI_SITE_KINDS
} tki_site_kind;

/* A comparison in the code. */
typedef struct tki_site {
    uint64_t key; /* 1 + its offset in the library; of a switch the case's number above bit 40. 0: a free place */
    uint32_t kind, bytes;    /* tki_site_kind; 1, 2, 4 or 8 */
    uint32_t outcomes;       /* TKI_LESS and so on, of all calls so far */
    uint32_t met;            /* the outcomes of the last call alone */
    int64_t low[2], high[2]; /* the smallest and largest of both operands in the last call */
} tki_site;

typedef struct tki_coverage_memory {
    uint32_t magic;
    uint32_t quiet;         /* set by the parent: the callbacks do nothing, and gcov alone counts */
    uint32_t block_count;   /* of the tables below, over all calls */
    uint32_t edge_count;    /* in calls with one thread */
    uint32_t outcome_count; /* bits set in all `outcomes` */
    uint32_t lost;          /* what found no place in a table */
    uint32_t counter_bytes; /* what gcov wrote when it was asked to; 0: nothing, or too much */
    uint32_t unused;
    uint64_t steps; /* callbacks in the last call; with several threads about so many */
    tki_site sites[TKI_COVERAGE_SITES];
    uint32_t blocks[TKI_COVERAGE_BLOCKS]; /* 1 + offset; 0: free */
    uint64_t edges[TKI_COVERAGE_EDGES];   /* a block above bit 32, the one behind it below */
    unsigned char counters[TKI_COVERAGE_COUNTERS];
} tki_coverage_memory;

/* What the worker finds in an instrumented library. Nothing refers to it: a name would be a way to tell. */
#define TKI_COVERAGE_MARK                                                                              \
    {                                                                                                  \
        0x9b, 0x37, 0xe1, 0x5c, 0x02, 0xd8, 0x7f, 0xa4, 0x61, 0xc9, 0x1e, 0xb3, 0x88, 0x4d, 0xf6, 0x2a \
    }

typedef struct tki_coverage_hook {
    unsigned char mark[16];
    void (*attach)(tki_coverage_memory *memory, uintptr_t library); /* once; where the library begins */
    void (*begin_call)(int threads);
    void (*pause)(void);
    bool (*write)(void); /* gcov's counters; false: they are not compiled in */
} tki_coverage_hook;

/* A checked copy: counts are within their tables, sites are those met in the last call, by key. */
typedef struct tki_coverage_report {
    uint32_t block_count, edge_count, outcome_count;
    uint64_t steps;
    bool lost; /* a table was full */
    int site_count;
    tki_site sites[TKI_COVERAGE_SITES];
} tki_coverage_report;

/* False if the memory holds no report. It may change while it is read. */
TKI_EXPORT bool tki_coverage_read(const void *memory, size_t bytes, tki_coverage_report *report);

/* A number whose order among integers is that of the float among floats, and back. */
static inline int64_t tki_site_rank(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static inline double tki_site_float(int64_t rank)
{
    int64_t bits = rank < 0 ? INT64_MIN - rank : rank;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The parent's end of such memory. */
typedef struct tki_coverage {
    int file;
    tki_coverage_memory *memory;
} tki_coverage;

/* False if there is no memory for it. */
TKI_EXPORT bool tki_coverage_open(tki_coverage *coverage);
TKI_EXPORT void tki_coverage_close(tki_coverage *coverage); /* one that is zeroed or was not opened is fine */

/* gcov's counters, copied; NULL if there are none. free() them. */
TKI_EXPORT unsigned char *tki_coverage_counters(const tki_coverage *coverage, size_t *bytes);
