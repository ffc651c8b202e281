/* CHOOSES. The GPUs of this machine, as their drivers describe them. */
#pragma once

#include "drivers/backend.h"
#include "model/lowering.h"

struct tki_gpu_info {
    const tki_backend *backend;
    int ordinal;
    char name[128];
    char uuid[48];         /* "GPU-1e2d3c4b-..." */
    char architecture[32]; /* as its compilers are told: "sm_90", "gfx942" */
    char driver[64];       /* version of the driver, or of the interface it offers */
    int major, minor;      /* CUDA: compute capability, 9 and 0 for sm_90; HIP: 9 and 4 for gfx942 */
    int units;             /* multiprocessors or compute units */
    int warp;              /* lanes that run together */
    int shared_bytes;      /* the most shared memory that one block can ask for */
    int64_t memory_bytes;
    int64_t l2_bytes;
};

/* Finds the i-th device of a backend without keeping it; false past the end. A driver that gives no device gives one entry with
 * an empty name and the reason: library missing, no device, driver too old, no permission, ... */
bool tki_gpu_at(const tki_backend *backend, int i, tki_gpu_info *info, char *reason, size_t reason_size);

/* Why nothing can be compiled for a device, whatever compilers are here; NULL if there is no such reason. */
const char *tki_gpu_no_architecture(const tki_gpu_info *info);
