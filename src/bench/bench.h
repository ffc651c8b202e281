/* SHOWS. The bench engine: one piece of work, several ways (arms) of doing it, timed in turn. Part of the program, not of the
 * libraries. Peers are found at run time by dlopen() and never linked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokitai.h"

/* How often a row of an embedding is asked for: all alike; the k-th in proportion to 1/k, as words occur in text; one
 * row alone. */
typedef enum bench_indices { BENCH_UNIFORM, BENCH_ZIPF, BENCH_EQUAL } bench_indices;

/* One case with its buffers, which every arm shares. */
typedef struct bench_work {
    tk_ctx *ctx;
    tk_case c;
    bench_indices indices;
    void *buffers[TK_MAX_PARAMS]; /* in contract order, 64-byte aligned */
    int64_t bytes[TK_MAX_PARAMS];
    int threads;
    bool processor_time;
} bench_work;

typedef enum bench_kind { BENCH_LOWERING, BENCH_PEER, BENCH_LIMIT } bench_kind;

typedef struct bench_arm {
    char name[128];
    bench_kind kind;
    int threads;
    bool separate; /* timed by itself, not in turn with the others */
    bool differs;  /* a peer whose result is not ours, so that it was not timed */
    double best;   /* seconds for the whole work */
    double median;
    int64_t samples;
    /* Of the engine and of the adapter that made the arm. */
    bool (*run)(struct bench_arm *arm);
    void (*close)(struct bench_arm *arm); /* may be NULL */
    const bench_work *work;
    void *state;
    double scale; /* of a sample: a limit may do a part of the work */
} bench_arm;

enum { BENCH_ARMS = 24 };

typedef struct bench_result {
    tk_case c;
    bench_indices indices;
    int threads;
    bench_arm arms[BENCH_ARMS];
    int arm_count;
    double work_bytes; /* least traffic of the op */
    double work_flops; /* 0 unless it is a GEMM */
    double elements;   /* of the larger side: what a time per element is per */
    bool processor_time;
    bool by_median;   /* limit, best peer and ratios are of medians; else of best times */
    double limit;     /* seconds; 0 if it was not measured */
    double best_peer; /* seconds; 0 without a peer */
    const char *best_peer_name;
} bench_result;

/* The time of an arm that counts. */
static inline double bench_time(const bench_result *r, const bench_arm *arm)
{
    return r->by_median ? arm->median : arm->best;
}

typedef struct bench_options {
    bench_indices indices;
    int threads;
    bool scaling;      /* every lowering and limit with one thread too, each thread bound to a processor; no peers */
    double seconds;    /* for each case */
    const char *peers; /* NULL for all, "none", or names with commas */
    bool in_turn;      /* no peer that has to be timed apart */
    bool processor_time; /* what this thread used, instead of what passed */
} bench_options;

/* The machine's own limits on buffers far larger than its caches. */
typedef struct bench_limits {
    double copy;         /* bytes read and written, per second */
    double stream_copy;  /* the same with non-temporal stores */
    double multiply_add; /* operations per second, two for each */
} bench_limits;

TK_MUST_USE bool bench_limits_measure(const bench_options *options, double seconds, bench_limits *limits);

/* Times the named lowerings of a case, the limit and the peers, in turn. Certificates are the caller's business. False when
 * it could not be done; the context has the reason. */
TK_MUST_USE bool bench_measure(tk_ctx *ctx, const tk_case *c, const char *const lowerings[], int count,
                               const bench_options *options, bench_result *result);

/* Whether a list as in bench_options names that peer. */
bool bench_is_listed(const char *list, const char *name);

/* Other libraries are asked for 16-bit cases only. */
bool bench_has_peers(const tk_case *c);

/* Parts of it that the engine on a GPU shares: what the case's inputs hold, its size, and the statistics of an arm. */
void bench_work_sizes(bench_work *work); /* the bytes of each tensor */
void bench_draw_values(const tk_case *c, int param, void *values, int64_t count);
/* Small integers: every sum of their products is exact, in any order. */
void bench_draw_exact(const tk_case *c, int param, void *values, int64_t count);
void bench_draw_indices(const bench_work *work, int param, void *data); /* [elements of the parameter] */
void bench_measure_size(const bench_work *work, bench_result *result);
/* Outputs in host memory, each at its parameter's place. Up to 2^20 elements of each, evenly spread; a hundredth of their size on average may
 * be off. */
bool bench_agrees(const bench_work *work, void *const reference[], void *const results[]);
double bench_median(double *samples, int count); /* sorts them; at least one */
/* The best and the median of samples, which it sorts; those of the first run stay if there are none. */
void bench_arm_settle(bench_arm *arm, double *samples, int count);

/* Whether an attribute of a case is told with it: one that kernels see, a choice, or a number that is not the usual one. */
bool bench_tells_attribute(const tk_case *c, int attribute);
/* " epilogue=bias_gelu", one behind the other; cut to fit. */
void bench_format_attributes(const tk_case *c, char *text, size_t size);

/* Whether the speed of an op depends on which indices it gets. */
bool bench_heeds_indices(const tk_contract *contract);
const char *bench_indices_name(bench_indices indices); /* "uniform", "zipf", "equal" */

/* The arm of that name and so many threads that was timed, or NULL. */
const bench_arm *bench_find_arm(const bench_result *result, const char *name, int threads);

/* Matrix products, and linear layers. */
bool bench_is_product(const tk_contract *contract);

/* Bytes that a case needs for its buffers; peers may need as much again. */
int64_t bench_case_bytes(const tk_case *c);

/* The peers that this program knows: name, what was found (or why it is not there); false past the end. */
bool bench_peer_at(int i, const char **name, const char **found, bool *present);

/* The shapes that a case is timed with when none is given: the i-th, false past the end. With `growth` a series of
 * rising size. */
bool bench_shape_at(const tk_contract *contract, bool growth, int i, int64_t dims[TK_MAX_DIMS]);

/* Shapes of the ops whose names begin so; a first size of 0 ends them. */
enum { BENCH_MOST_LISTED = 7 };

typedef struct bench_listed {
    const char *op;
    int64_t dims[BENCH_MOST_LISTED][TK_MAX_DIMS];
} bench_listed;

/* The i-th shape that the list has for an op; of one that it does not have, a single one with sizes of `otherwise`. */
bool bench_listed_shape_at(const bench_listed *list, size_t count, int64_t otherwise, const tk_contract *contract,
                           int i, int64_t dims[TK_MAX_DIMS]);

/* Shapes that nobody has chosen, for ops on rows: the i-th of BENCH_SWEEP_SHAPES, drawn from BENCH_SWEEP_SEED. Elements and columns are
 * log-uniform, and every second shape has rows of whole 16-byte packs in every type, the others an odd number of columns. False past the
 * end, and for ops that have no rows. */
enum { BENCH_SWEEP_SHAPES = 100, BENCH_SWEEP_SEED = 20261116 };
bool bench_sweep_shape_at(const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS]);

/* Over the results of a lowering: shares of the limit, or times of a peer by ours; sorted, `shares` has room for `count`. */
int bench_shares_of(const bench_result *results, int count, const char *lowering, const char *peer, double *shares);

/* What is averaged over the cases of a lowering, all of them better when larger. */
typedef enum bench_figure {
    BENCH_TO_PEER,  /* a peer's best time by ours */
    BENCH_OF_LIMIT, /* the limit by our best time */
    BENCH_SPEEDUP,  /* our best time with one thread by that with all */
    BENCH_SPEEDUP_MEDIAN
} bench_figure;

typedef struct bench_mean {
    int cases;    /* that have the figure; without any the others are 0 */
    double mean;  /* geometric */
    double least; /* of all, in the case */
    const bench_result *worst;
} bench_mean;

/* A ratio of two times that are level: what differs by less than this, another run may show the other way round. */
#define BENCH_LEVEL 1.03
static inline bool bench_is_level(double ratio)
{
    return ratio <= BENCH_LEVEL && ratio >= 1 / BENCH_LEVEL;
}

/* `peer` is the name of an arm, or NULL for the best of each case; only BENCH_TO_PEER looks at it. */
bench_mean bench_mean_of(const bench_result *results, int count, const char *lowering, bench_figure figure,
                         const char *peer);

/* A cliff is a step from one size to the next at which the time of a lowering per element (of a product: per
 * multiply-add) grows more than BENCH_CLIFF times as much as that of the limit, which is taken to grow by 1 where it falls. */
#define BENCH_CLIFF 1.5

typedef struct bench_step {
    double growth, limit_growth; /* of the time per element, from one result to the next */
    bool is_cliff;
} bench_step;

/* False if the two are not of the same op, types and indices, or do not both have the lowering. */
bool bench_step_of(const bench_result *from, const bench_result *to, const char *lowering, bench_step *step);

/* A chart of results as SVG. False with errno if it cannot be written. */
typedef enum bench_chart {
    BENCH_BARS,   /* for single shapes */
    BENCH_CURVES, /* for growth */
    BENCH_MAP     /* for a sweep: shares of the limit over rows and columns */
} bench_chart;
TK_MUST_USE bool bench_chart_write(const char *path, const bench_result *results, int count, bench_chart chart);
