/* How the kernels over device_rows.h and device_cluster.h are launched: how many threads a row gets, and in which form. The choice depends on
 * the number of columns and their type alone, and where the tensors lie decides only between two kernels with the same bits. */
#ifndef TKI_BACKEND_GPU_ROWS_H
#define TKI_BACKEND_GPU_ROWS_H

#include "backend/gpu.h"

enum { TKI_ROWS_STAGED_ABOVE = 32 << 10 /* bytes of a row beyond which shared memory and clusters serve better */ };

/* One way of holding a row in registers. A pack is 16 bytes. */
typedef struct tki_rows_form {
    int64_t
        most_bytes; /* of a row. 0 ends an op's list, which is in ascending order: rows of any width are read again by each pass */
    int packs;   /* that a thread holds */
    bool narrow; /* lanes of one warp share a row; else a block has it */
    const char *kernel;
    const char *any; /* the same for rows that are not made of whole packs */
} tki_rows_form;

typedef struct tki_rows_plan {
    const char *kernel; /* for rows that are made of whole packs at multiples of 16 bytes */
    const char *any;    /* for others, with the same bits */
    int lanes;          /* threads to a row that is narrow; else 0 */
    tki_gpu_grid grid;
    unsigned any_shared_bytes;
} tki_rows_plan;

/* Of the call's values, which are [rows, cols]. */
int64_t tki_rows_bytes(const tki_call *call);

/* By the first of the forms that is wide enough. */
tki_rows_plan tki_rows_plan_held(int64_t rows, int64_t row_bytes, const tki_rows_form *forms);

/* For rows of which `tensors` are staged together by those kernels. */
tki_rows_plan tki_rows_plan_staged(int64_t rows, int64_t row_bytes, int tensors, const char *kernel, const char *any);
/* Whether rows are too wide for registers and not too wide for the shared memory of a cluster. */
bool tki_rows_fit_stage(int64_t row_bytes, int tensors);

/* Whether rows are made of whole packs at multiples of 16 bytes. */
bool tki_rows_are_whole(int64_t row_bytes, const void *const tensors[], int count);

/* Runs one of the plan's kernels; both are loaded when a call is being prepared. */
TK_MUST_USE tk_status tki_rows_run(const tki_call *call, const char *source, const tki_rows_plan *plan,
                                   bool are_whole, const void *params);

#endif
