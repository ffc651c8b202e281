/* UNTRUSTED. How the kernels over device_rows.h and device_cluster.h are launched: how many threads a row gets, and in which form. The choice depends on
 * the number of columns, their type and the device alone; where the tensors lie decides only between two kernels with the same bits. */
#pragma once

#include "runtime/gpu.h"

/* One way of holding a row in registers. */
typedef struct tki_rows_form {
    int64_t most_bytes; /* of a row; 0 ends a list: wider rows are read again by each pass */
    int packs;          /* of 16 bytes, that a thread holds */
    int narrow_threads; /* of a block whose warps' lanes share out rows among them; 0: a block has one row */
    int chunks;         /* tensors of which the block's rows are moved to shared memory together; 0: none */
    const char *kernel; /* for rows that lie alike in all tensors */
    const char *apart;  /* for others */
} tki_rows_form;

/* Lists in ascending order of most_bytes. Narrow forms with the same one compete: that with the fewest empty packs is taken. */
typedef struct tki_rows_forms {
    const tki_rows_form *whole; /* for rows of whole packs */
    const tki_rows_form *odd;
} tki_rows_forms;

/* For stretches that are long: they come in chunks, and need not fit into shared memory. */
typedef struct tki_rows_long_form {
    int64_t most_bytes;   /* of a block's stretches; 0 ends a list: any */
    int64_t shared_bytes; /* at most */
    int threads, odd_threads;
} tki_rows_long_form;

/* How rows are staged in the shared memory of clusters. */
typedef struct tki_rows_staging {
    int tensors;                          /* of which rows are staged together */
    int64_t stretch_bytes;                /* of one tensor's row in a block, as long as clusters can grow */
    int64_t long_above;                   /* bytes of a block's stretches */
    const tki_rows_long_form *long_forms; /* in ascending order */
    const char *whole, *odd, *long_whole, *long_odd;
    const char *apart; /* for rows that do not lie alike in all tensors */
} tki_rows_staging;

typedef struct tki_rows_plan {
    const char *kernel, *apart;
    int lanes;            /* threads to a row that is narrow; else 0 */
    unsigned chunk_bytes; /* of shared memory for `kernel` only */
    tki_gpu_grid grid;
} tki_rows_plan;

/* Of the call's values, which are [rows, cols]. */
int64_t tki_rows_bytes(const tki_call *call);

tki_rows_plan tki_rows_plan_held(const tki_call *call, int64_t rows, const tki_rows_forms *forms);

/* Whether rows are so wide that shared memory and clusters serve better than registers. */
bool tki_rows_are_wide(int64_t row_bytes);
/* For such rows, on Hopper. */
tki_rows_plan tki_rows_plan_staged(int64_t rows, int64_t row_bytes, const tki_rows_staging *staging);

/* Whether the rows of all tensors that are not NULL begin equally far behind a multiple of 16 bytes: at it, if they are whole packs. */
bool tki_rows_lie_alike(int64_t row_bytes, const void *const tensors[], int count);

/* Runs one of the plan's kernels; both are loaded when a call is being prepared. */
TK_MUST_USE tk_status tki_rows_run(const tki_call *call, const char *source, const tki_rows_plan *plan, bool alike,
                                   const void *params);
