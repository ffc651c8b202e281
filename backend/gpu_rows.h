/* How the kernels over device_rows.h and device_cluster.h are launched: how many threads a row gets, and in which form. The choice depends on
 * the number of columns alone, and where the tensors lie decides only between two kernels with the same bits. */
#ifndef TKI_BACKEND_GPU_ROWS_H
#define TKI_BACKEND_GPU_ROWS_H

#include "backend/gpu.h"

enum {
    TKI_ROWS_LANES_MOST = 1024,   /* columns of rows that a few lanes hold */
    TKI_ROWS_STAGED_FROM = 16385, /* columns from which on shared memory and clusters serve better */
};

/* 16 bytes each, so many to a thread. */
typedef struct tki_rows_plan {
    int packs; /* that a thread holds in registers; 0: the row is read again by each pass */
    int lanes; /* threads to a row, if fewer than a warp; else 0 */
    tki_gpu_grid grid;
} tki_rows_plan;

/* `most_packs`: what the op's widest kernel holds. */
tki_rows_plan tki_rows_plan_shared(int64_t rows, int64_t cols, int least_packs, int most_packs);

/* For rows of which `tensors` are staged together. */
tki_rows_plan tki_rows_plan_staged(int64_t rows, int64_t cols, int tensors);
/* Whether rows are too wide for registers and not too wide for the shared memory of a cluster. */
bool tki_rows_fit_stage(int64_t cols, int tensors);

/* Whether rows are made of whole packs at multiples of 16 bytes. */
bool tki_rows_are_whole(int64_t cols, const void *const tensors[], int count);

/* Runs kernel `whole` if they are, else `any`; both are loaded when a call is being prepared. */
TK_MUST_USE tk_status tki_rows_run(const tki_call *call, const char *source, const char *whole, const char *any,
                                   bool are_whole, const tki_rows_plan *plan, const void *params);

#endif
