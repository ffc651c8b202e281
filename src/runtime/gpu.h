/* CHOOSES. A GPU behind one set of calls. drivers/cuda.c and drivers/hip.c know the two drivers; gpu.c does everything that is the same
 * for both: memory, streams, events, loading and launching. Drivers are loaded at run time; building needs none.
 *
 * A device serves one thread at a time. Each call makes the device's context current in its thread and puts back what was current
 * before. A message of a failed call names the driver's function, its error and what that means. */
#pragma once

#include "core/export.h"
#include "drivers/gpu_info.h"

/* Opens a device: its primary context, which the vendor's run-time library and PyTorch share. */
TK_MUST_USE tk_status tki_gpu_open(tk_ctx *ctx, const tki_backend *backend, int ordinal, tki_gpu **gpu);
/* Frees what came with the device, its kernels too; memory, streams and events are their makers' to free first. NULL is fine. */
void tki_gpu_close(tki_gpu *gpu);
const tki_gpu_info *tki_gpu_describe(const tki_gpu *gpu);

/* Makes the device's context current in this thread, for another library that works on whatever is; tki_gpu_leave() puts back what
 * was current before. */
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_enter(tk_ctx *ctx, tki_gpu *gpu, void **previous);
TKI_EXPORT void tki_gpu_leave(tki_gpu *gpu, void *previous);

/* Memory. A stream is the driver's own handle (CUstream, hipStream_t); NULL is the default stream. Copies from and to pageable
 * host memory return when the host memory may be used again. */
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_alloc(tk_ctx *ctx, tki_gpu *gpu, size_t bytes, void **memory);
TKI_EXPORT void tki_gpu_free(tki_gpu *gpu, void *memory);
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_write(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from,
                                               size_t bytes);
TK_MUST_USE tk_status tki_gpu_read(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from, size_t bytes);
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_copy(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, const void *from,
                                              size_t bytes);
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_fill(tk_ctx *ctx, tki_gpu *gpu, void *stream, void *to, unsigned char value,
                                              size_t bytes);

TK_MUST_USE tk_status tki_gpu_synchronize(tk_ctx *ctx, tki_gpu *gpu, void *stream);
TK_MUST_USE tk_status tki_gpu_is_capturing(tk_ctx *ctx, tki_gpu *gpu, void *stream, bool *capturing);

TKI_EXPORT TK_MUST_USE tk_status tki_gpu_event_create(tk_ctx *ctx, tki_gpu *gpu, void **event);
TKI_EXPORT void tki_gpu_event_destroy(tki_gpu *gpu, void *event);
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_event_record(tk_ctx *ctx, tki_gpu *gpu, void *event, void *stream);
/* Waits for `end`. */
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_event_seconds(tk_ctx *ctx, tki_gpu *gpu, void *begin, void *end,
                                                       double *seconds);

/* A loaded kernel. It belongs to the device and lives as long as it is open. */
typedef struct tki_gpu_kernel {
    void *function;
    const char *source; /* "ops/gelu/kernel.cu" */
    const char *name;   /* "gelu_bwd" */
    tk_types types;
    unsigned shared_allowed; /* dynamic shared memory that the driver has been told of so far */
    unsigned cluster_allowed;
    bool starts_early; /* before what its stream already has is done, which it waits for by itself */
} tki_gpu_kernel;

/* Compiles (or finds in the cache), checks and loads the kernel on first use; afterwards a short search. `source` and `name` are
 * string literals: they are kept, and compared by address first. Not to be called for the first time while a stream is captured. */
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_kernel_get(tk_ctx *ctx, tki_gpu *gpu, const char *source, tk_types types,
                                                    const char *name, tki_gpu_kernel **kernel);

typedef struct tki_gpu_grid {
    unsigned blocks[3]; /* 0 counts as 1 */
    unsigned threads;
    unsigned shared_bytes; /* dynamic */
    unsigned cluster;      /* blocks in a cluster, along the first axis; 0: none. CUDA only */
} tki_gpu_grid;

/* Every kernel takes one struct by value. Returns at once. */
TKI_EXPORT TK_MUST_USE tk_status tki_gpu_launch(tk_ctx *ctx, tki_gpu *gpu, void *stream, tki_gpu_kernel *kernel,
                                                tki_gpu_grid grid, const void *params);

/* What the last launch on this device used; all zero if there was none. */
TKI_EXPORT tki_gpu_grid tki_gpu_last_grid(const tki_gpu *gpu);

/* The artifact that a loaded kernel came out of; NULL if it is not loaded. */
TKI_EXPORT const struct tki_compiled_kernel *tki_gpu_artifact(const tki_gpu *gpu, const char *source, tk_types types);

/* A tensor of 16-bit elements, row-major, or several of one size behind each other, and the boxes that Hopper's copy engine moves of it: `base` at a multiple of 16 bytes, rows
 * `pitch` elements apart, a multiple of 8. Boxes are 64 or 32 columns wide; in shared memory their 16-byte pieces are permuted by the
 * number of the row. Writes the 128 bytes that a kernel passes on to the engine. */
typedef struct tki_gpu_box {
    const void *base;
    int64_t matrices; /* the third axis, of which a box has one place; 0: there is none */
    int64_t rows, cols, pitch;
    int box_rows, box_cols;
} tki_gpu_box;
TK_MUST_USE tk_status tki_gpu_map(tk_ctx *ctx, tki_gpu *gpu, const tki_gpu_box *box, void *map);

/* Words in device memory that are zero, for the next launch on this stream, which leaves them zero. Streams have words of their own, and
 * so has each capture of a graph, until the graph and what was made of it are gone: launches share them only where they must not overlap
 * anyhow, as two executables of one captured graph. `only_reserve`: makes sure that a capture to come finds some. */
enum { TKI_GPU_LAUNCH_WORDS = 4096 };
TK_MUST_USE tk_status tki_gpu_launch_words(tk_ctx *ctx, tki_gpu *gpu, void *stream, bool only_reserve,
                                           uint32_t **words);

/* Words in device memory, one for each op of tk_contract_at(), that a kernel lowers to the first bad position it meets
 * (device.h: report_bad_index). */
uint64_t *tki_gpu_fault_word(tki_gpu *gpu, int op);
/* The members of tki_left_out in device memory, each in two words, to which kernels add. */
uint32_t (*tki_gpu_left_out_words(tki_gpu *gpu))[2];
/* Waits for the stream and adds what was counted to the context's left_out; `position` receives -1, or the first bad position of the op that has one, which is then forgotten. */
TK_MUST_USE tk_status tki_gpu_take_fault(tk_ctx *ctx, tki_gpu *gpu, void *stream, int *op, int64_t *position);

/* A call of a GPU lowering: finds `name` in `source` for the call's types and launches it on the call's stream. A kernel that is not
 * loaded yet cannot be loaded while the stream is being captured: TK_UNAVAILABLE then. Only loads it if call->prepare_only. */
TK_MUST_USE tk_status tki_gpu_run(const tki_call *call, const char *source, const char *name, tki_gpu_grid grid,
                                  const void *params);

/* accept() of lowerings that any device of their backend can run; reads their needs from nothing but the device. */
const char *tki_gpu_accept_any(const tk_case *c, const tki_gpu_info *device);
const char *tki_gpu_accept_hopper(const tk_case *c, const tki_gpu_info *device); /* clusters, sm_90 */
/* Matrix units, of 16-bit elements. Those of gfx90a flush subnormal elements: its cases are on the domain normal. */
const char *tki_gpu_accept_tensor(const tk_case *c, const tki_gpu_info *device);

/* The lowerings of an op whose kernel.cu serves both vendors; the rest are further members of both. */
#define TKI_GPU_SHARED_LOWERING(backend_, launch_function, ...)                                            \
    {                                                                                                      \
        .backend = backend_, .variant = "shared", .accept = tki_gpu_accept_any, .launch = launch_function, \
        __VA_ARGS__                                                                                        \
    }
#define TKI_GPU_SHARED_LOWERINGS(launch_function, ...)                              \
    TKI_GPU_SHARED_LOWERING(&tki_backends[TKI_CUDA], launch_function, __VA_ARGS__), \
        TKI_GPU_SHARED_LOWERING(&tki_backends[TKI_HIP], launch_function, __VA_ARGS__)
