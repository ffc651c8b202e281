/* The driver of a GPU that is not there; fake_gpu.h says what it can be told to do. Compiled once as CUDA's and once as HIP's. */
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/fake_gpu/fake_gpu.h"

/* The same function under the name that each vendor gives it. */
#if FAKE_HIP
#define API(cuda, hip) hip
#else
#define API(cuda, hip) cuda
#endif

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_FAILED = 719,
    CAPTURE_UNSUPPORTED = 900,
};

/* ------------------------------------------------------------------------------------------------------------
 * What it is told
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct counter {
    char name[64];
    int calls;
} counter;

static counter counters[64];
static int lost;    /* the error of a lost context, returned by every call from then on */
static int pending; /* the error of a kernel that nobody has waited for yet */
static bool initialised;

static long long setting(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 0) : otherwise;
}

static int count_call(const char *name)
{
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (!counters[i].name[0])
            snprintf(counters[i].name, sizeof counters[i].name, "%s", name);
        if (!strcmp(counters[i].name, name))
            return ++counters[i].calls;
    }
    abort();
}

/* The error that this call is to return, 0 if none. */
static int told_to_fail(const char *name)
{
    int calls = count_call(name);
    const char *plan = getenv("FAKE_GPU_FAIL");
    size_t length = strlen(name);
    for (const char *item = plan; item && *item; item += strcspn(item, ","), item += *item == ',') {
        if (strncmp(item, name, length) != 0 || item[length] != '=')
            continue;
        char *end;
        int code = (int)strtol(item + length + 1, &end, 10);
        if (*end != '@' || strtol(end + 1, NULL, 10) == calls)
            return code;
    }
    return OK;
}

static bool capturing(void)
{
    return setting("FAKE_GPU_CAPTURING", 0) != 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * What it consists of
 * ------------------------------------------------------------------------------------------------------------ */

enum { ARENA_BYTES = 1 << 30, BLOCKS = 4096, GAP = 4096 };

typedef struct block {
    size_t offset, bytes; /* bytes 0: free */
} block;

static unsigned char *device_memory; /* addresses that nobody can read or write */
static unsigned char *host_memory;   /* the same bytes for the fake itself */
static block blocks[BLOCKS];
static int block_count;
static size_t bytes_used;

/* Of tests/emulated_gpu/device.hpp. */
typedef void emulated_kernel(const void *params);
typedef const char *emulated_launch_function(emulated_kernel *kernel, const void *params, const unsigned blocks[3],
                                             unsigned threads, unsigned shared_bytes, unsigned seed);

typedef enum kind { CONTEXT = 0x51ab0001, STREAM, EVENT, MODULE, FUNCTION, DEAD } kind;

typedef struct object {
    kind kind;
    double seconds;  /* EVENT: when it was recorded */
    char name[64];   /* FUNCTION */
    int shared_most; /* FUNCTION: dynamic shared memory allowed */
    bool large_clusters;
    void *library;           /* MODULE, where kernels are emulated */
    emulated_kernel *kernel; /* FUNCTION, likewise, and the two below */
    emulated_launch_function *emulate;
    size_t param_bytes;
} object;

static int objects_alive;
static int contexts_retained;
static _Thread_local void *current; /* CUDA: a context; HIP: &devices[i] */

static object *make(kind what)
{
    object *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    made->kind = what;
    objects_alive += what != FUNCTION;
    return made;
}

static bool is(const void *handle, kind what)
{
    return handle && ((const object *)handle)->kind == what;
}

static int destroy(void *handle, kind what)
{
    if (!is(handle, what))
        return INVALID_HANDLE;
    ((object *)handle)->kind = DEAD;
    free(handle);
    objects_alive--;
    return OK;
}

static bool make_arena(void)
{
    if (device_memory)
        return true;
    int file = memfd_create("fake_gpu", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, ARENA_BYTES) != 0)
        return false;
    void *host = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    void *device = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (host == MAP_FAILED || device == MAP_FAILED)
        return false;
    host_memory = host;
    device_memory = device;
    return true;
}

static void *to_host(const void *device, size_t bytes)
{
    uintptr_t offset = (uintptr_t)device - (uintptr_t)device_memory;
    for (int i = 0; device_memory && i < block_count; i++)
        if (offset >= blocks[i].offset && offset - blocks[i].offset <= blocks[i].bytes &&
            bytes <= blocks[i].bytes - (offset - blocks[i].offset) && blocks[i].bytes)
            return host_memory + offset;
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Every call that works on a device begins so. One that waits also reports what went wrong before. */
static int begin(const char *name, bool waits)
{
    int code = told_to_fail(name);
    if (code != OK)
        return code;
    if (!initialised)
        return NOT_INITIALIZED;
#if !FAKE_HIP
    if (!is(current, CONTEXT))
        return INVALID_CONTEXT;
#endif
    if (waits && pending && !lost)
        lost = pending;
    return lost;
}

/* Giving back works in a lost context too, although the call returns its error. */
static bool may_release(int code)
{
    return code == OK || code == lost;
}

/* ------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct definition {
    char name[64];
    size_t param_bytes;
    fake_kernel *run;
} definition;

static int run_copy(const fake_launch *launch, fake_host_function *host)
{
    fake_copy_params p;
    memcpy(&p, launch->params, sizeof p);
    void *from = host((const void *)(uintptr_t)p.from, (size_t)p.bytes);
    void *to = host((const void *)(uintptr_t)p.to, (size_t)p.bytes);
    if (!from || !to)
        return ILLEGAL_ADDRESS;
    memmove(to, from, (size_t)p.bytes);
    return OK;
}

static int run_fault(const fake_launch *launch, fake_host_function *host)
{
    fake_fault_params p;
    memcpy(&p, launch->params, sizeof p);
    uint64_t *word = host((const void *)(uintptr_t)p.fault_word, sizeof *word);
    if (!word)
        return ILLEGAL_ADDRESS;
    *word = *word < (uint64_t)p.position ? *word : (uint64_t)p.position;
    return OK;
}

static fake_launch late; /* the copy that is still to be made */

static int run_late_copy(const fake_launch *launch, fake_host_function *host)
{
    (void)host;
    late = *launch;
    return OK;
}

static definition definitions[64] = {
    {"fake_copy", sizeof(fake_copy_params), run_copy},
    {"fake_late_copy", sizeof(fake_copy_params), run_late_copy},
    {"fake_fault", sizeof(fake_fault_params), run_fault},
};
enum { LAUNCHES = 1024 };
static fake_launch launches[LAUNCHES]; /* the latest */
static int launch_count;

static void write_log(const fake_launch *launch)
{
    const char *path = getenv("FAKE_GPU_LOG");
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    fprintf(file, "%s blocks %u %u %u threads %u shared %u cluster %u\n", launch->kernel, launch->blocks[0],
            launch->blocks[1], launch->blocks[2], launch->threads, launch->shared_bytes, launch->cluster);
    fclose(file);
}

/* Kernels may touch what is allocated, and nothing beside it to the end of a page. */
static void open_memory(int protection)
{
    for (int i = 0; i < block_count; i++)
        if (blocks[i].bytes && mprotect(device_memory + blocks[i].offset, blocks[i].bytes, protection) != 0)
            abort();
}

static int emulate(const object *function, const fake_launch *l)
{
    open_memory(PROT_READ | PROT_WRITE);
    const char *problem = function->emulate(function->kernel, l->params, l->blocks, l->threads, l->shared_bytes,
                                            (unsigned)setting("FAKE_GPU_EMULATE", 0));
    open_memory(PROT_NONE);
    if (problem)
        fprintf(stderr, "emulated GPU: %s: %s\n", l->kernel, problem);
    return problem ? LAUNCH_FAILED : OK;
}

static int launch(const object *function, fake_launch l, void **params)
{
    const definition *defined = NULL;
    if (!is(function, FUNCTION) || (l.stream && !is(l.stream, STREAM)) || !params || !params[0])
        return INVALID_HANDLE;
    unsigned allowed = FAKE_HIP ? 65536 : function->shared_most > 49152 ? (unsigned)function->shared_most : 49152;
    if (!l.blocks[0] || !l.blocks[1] || !l.blocks[2] || l.blocks[0] > INT32_MAX || l.blocks[1] > 65535 ||
        l.blocks[2] > 65535 || !l.threads || l.threads > 1024 || l.shared_bytes > allowed ||
        l.cluster > (function->large_clusters ? 16 : 8) || (l.cluster && l.blocks[0] % l.cluster))
        return INVALID_VALUE;
    memcpy(l.kernel, function->name, sizeof l.kernel);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        if (!strcmp(definitions[i].name, l.kernel))
            defined = &definitions[i];
    if (defined || function->kernel) {
        l.param_bytes = defined ? defined->param_bytes : function->param_bytes;
        memcpy(l.params, params[0], l.param_bytes);
    }
    launches[launch_count++ % LAUNCHES] = l;
    write_log(&l);
    int code = told_to_fail("async");
    if (code == OK && defined && defined->run)
        code = defined->run(&l, to_host);
    else if (code == OK && function->kernel)
        code = emulate(function, &l);
    if (code != OK && !pending)
        pending = code;
    return OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * For tests
 * ------------------------------------------------------------------------------------------------------------ */

fake_define_function fake_gpu_define;
void fake_gpu_define(const char *name, size_t param_bytes, fake_kernel *run)
{
    if (param_bytes > FAKE_PARAM_BYTES)
        abort();
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        if (!definitions[i].name[0] || !strcmp(definitions[i].name, name)) {
            snprintf(definitions[i].name, sizeof definitions[i].name, "%s", name);
            definitions[i].param_bytes = param_bytes;
            definitions[i].run = run;
            return;
        }
    abort();
}

fake_launch_function fake_gpu_launch_at;
const fake_launch *fake_gpu_launch_at(int i)
{
    return i >= 0 && i < launch_count ? &launches[i % LAUNCHES] : NULL;
}

fake_alive_function fake_gpu_alive;
int fake_gpu_alive(void)
{
    int alive = objects_alive + contexts_retained;
    for (int i = 0; i < block_count; i++)
        alive += blocks[i].bytes != 0;
    return alive;
}

fake_reset_function fake_gpu_reset;
void fake_gpu_reset(void)
{
    memset(counters, 0, sizeof counters);
    launch_count = lost = pending = 0;
}

fake_stream_make_function fake_gpu_stream_make;
void *fake_gpu_stream_make(void)
{
    return make(STREAM);
}

fake_stream_end_function fake_gpu_stream_end;
void fake_gpu_stream_end(void *stream)
{
    destroy(stream, STREAM);
}

fake_host_function fake_gpu_host;
void *fake_gpu_host(const void *device, size_t bytes)
{
    return to_host(device, bytes);
}

/* ------------------------------------------------------------------------------------------------------------
 * The driver's own calls
 * ------------------------------------------------------------------------------------------------------------ */

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the vendors' headers are not needed to build this */

/* Once; the library stays. */
static void define_kernels(void)
{
    static void *library;
    const char *path = getenv("FAKE_GPU_KERNELS");
    if (library || !path || !*path)
        return;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "fake_gpu_kernels") : NULL;
    fake_kernels_function *define_all;
    if (!symbol)
        abort();
    memcpy(&define_all, &symbol, sizeof symbol);
    define_all(fake_gpu_define);
}

int API(cuInit, hipInit)(unsigned flags)
{
    int code = flags ? INVALID_VALUE : told_to_fail(__func__);
    initialised = code == OK && make_arena();
    define_kernels();
    return code;
}

int API(cuDriverGetVersion, hipDriverGetVersion)(int *version)
{
    *version = (int)setting("FAKE_GPU_VERSION", FAKE_HIP ? 60241134 : 12040);
    return told_to_fail(__func__);
}

int API(cuDeviceGetCount, hipGetDeviceCount)(int *count)
{
    *count = (int)setting("FAKE_GPU_DEVICES", 1);
    return told_to_fail(__func__);
}

int API(cuDeviceGet, hipDeviceGet)(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < setting("FAKE_GPU_DEVICES", 1) ? told_to_fail(__func__) : INVALID_DEVICE;
}

int API(cuDeviceGetName, hipDeviceGetName)(char *name, int size, int device)
{
    const char *given = getenv("FAKE_GPU_NAME");
    snprintf(name, (size_t)size, "%s %d", given ? given : "Fake GPU", device);
    return told_to_fail(__func__);
}

int API(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)setting("FAKE_GPU_MEMORY", ARENA_BYTES);
    return told_to_fail(__func__);
}

static const char *hip_architecture(void)
{
    const char *told = getenv("FAKE_GPU_ARCHITECTURE");
    return told ? told : "gfx942:sramecc+:xnack-";
}

int API(cuDeviceGetAttribute, hipDeviceGetAttribute)(int *value, int attribute, int device)
{
    (void)device;
    int capability = (int)setting("FAKE_GPU_CAPABILITY", FAKE_HIP ? 94 : 90);
    switch (attribute) {
    case API(16, 63): *value = 132; break;
    case API(10, 87): *value = FAKE_HIP && strncmp(hip_architecture(), "gfx9", 4) == 0 ? 64 : 32; break;
    case API(97, 74): *value = FAKE_HIP ? 65536 : 232448; break;
    case API(38, 19): *value = 52428800; break;
    case API(75, 23): *value = capability / 10; break;
    case API(76, 61): *value = capability % 10; break;
    default: return INVALID_VALUE;
    }
    return told_to_fail(__func__);
}

int API(cuDeviceGetUuid_v2, hipDeviceGetUuid)(unsigned char uuid[16], int device)
{
    if (FAKE_HIP)
        memcpy(uuid, "0123456789abcde", 15);
    for (int i = 0; i < 15 && !FAKE_HIP; i++)
        uuid[i] = (unsigned char)(0x10 + i);
    uuid[15] = (unsigned char)(FAKE_HIP ? '0' + device : device);
    return told_to_fail(__func__);
}

#if FAKE_HIP
static object devices[16];

int hipGetDevice(int *ordinal)
{
    *ordinal = current ? (int)((object *)current - devices) : 0;
    return told_to_fail(__func__);
}

int hipSetDevice(int ordinal)
{
    int code = told_to_fail(__func__);
    if (code == OK)
        current = &devices[ordinal];
    return code;
}

int hipGetDevicePropertiesR0600(char *properties, int device)
{
    (void)device;
    memset(properties, 0xee, 1472);
    snprintf(properties + 1160, 256, "%s", hip_architecture());
    return told_to_fail(__func__);
}

const char *hipGetErrorName(int code)
{
    return code == OUT_OF_MEMORY ? "hipErrorOutOfMemory" : code == 100 ? "hipErrorNoDevice" : "hipErrorFake";
}

const char *hipGetErrorString(int code)
{
    return code == OUT_OF_MEMORY ? "out of memory" : "a fake error";
}
#else
static object contexts[16];

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    int code = told_to_fail(__func__);
    if (code != OK)
        return code;
    contexts[device].kind = CONTEXT;
    contexts_retained++;
    *context = &contexts[device];
    return OK;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    if (contexts_retained-- <= 0 || contexts[device].kind != CONTEXT)
        abort();
    return told_to_fail(__func__);
}

int cuCtxGetCurrent(void **context)
{
    *context = current;
    return told_to_fail(__func__);
}

int cuCtxSetCurrent(void *context)
{
    int code = told_to_fail(__func__);
    if (code == OK)
        current = context;
    return code;
}

int cuGetErrorName(int code, const char **name)
{
    *name = code == 1     ? "CUDA_ERROR_INVALID_VALUE"
            : code == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == 100 ? "CUDA_ERROR_NO_DEVICE"
            : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                          : "CUDA_ERROR_FAKE";
    return code == 12345 ? INVALID_VALUE : OK;
}

int cuGetErrorString(int code, const char **text)
{
    *text = code == 2 ? "out of memory" : "a fake error";
    return code == 12345 ? INVALID_VALUE : OK;
}

int cuFuncSetAttribute(object *function, int attribute, int value)
{
    int code = begin(__func__, false);
    if (code != OK || !is(function, FUNCTION))
        return code ? code : INVALID_HANDLE;
    if (attribute == 8 && value <= 232448)
        function->shared_most = value;
    else if (attribute == 14)
        function->large_clusters = value != 0;
    else
        return INVALID_VALUE;
    return OK;
}

int cuFuncLoad(object *function)
{
    int code = begin(__func__, false);
    return code == OK && !is(function, FUNCTION) ? INVALID_HANDLE : code;
}

typedef struct launch_attribute {
    unsigned id, padding, value[16];
} launch_attribute;

typedef struct launch_config {
    unsigned blocks[3], threads[3], shared_bytes;
    void *stream;
    const launch_attribute *attributes;
    unsigned attribute_count;
} launch_config;

int cuLaunchKernelEx(const launch_config *config, object *function, void **params, void **extra)
{
    int code = begin(__func__, false);
    if (code != OK)
        return code;
    if (extra || config->attribute_count == 0 || config->threads[1] != 1 || config->threads[2] != 1)
        return INVALID_VALUE;
    fake_launch l = {.threads = config->threads[0], .shared_bytes = config->shared_bytes, .stream = config->stream};
    memcpy(l.blocks, config->blocks, sizeof l.blocks);
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const launch_attribute *a = &config->attributes[i];
        if (a->id == 4 && a->value[0] > 0 && a->value[1] == 1 && a->value[2] == 1)
            l.cluster = a->value[0];
        else if (a->id == 6 && a->value[0] == 1 && setting("FAKE_GPU_CAPABILITY", 90) >= 90)
            l.early = true;
        else
            return INVALID_VALUE;
    }
    return launch(function, l, params);
}
#endif

int API(cuMemAlloc_v2, hipMalloc)(void **memory, size_t bytes)
{
    int code = begin(__func__, false);
    if (code != OK || bytes == 0)
        return code ? code : INVALID_VALUE;
    if (capturing())
        return CAPTURE_UNSUPPORTED;
    while (block_count > 0 && !blocks[block_count - 1].bytes)
        block_count--;
    const block *last = block_count ? &blocks[block_count - 1] : NULL;
    size_t offset = last ? (last->offset + last->bytes + 2 * GAP - 1) / GAP * GAP : GAP;
    if (bytes > (size_t)setting("FAKE_GPU_MEMORY", ARENA_BYTES) - bytes_used || offset >= ARENA_BYTES - GAP ||
        bytes > ARENA_BYTES - GAP - offset || block_count == BLOCKS)
        return OUT_OF_MEMORY;
    blocks[block_count++] = (block){offset, bytes};
    bytes_used += bytes;
    *memory = device_memory + offset;
    return OK;
}

int API(cuMemFree_v2, hipFree)(void *memory)
{
    int code = begin(__func__, false);
    if (!may_release(code))
        return code;
    if (capturing())
        return CAPTURE_UNSUPPORTED;
    for (int i = 0; i < block_count; i++)
        if (blocks[i].bytes && (unsigned char *)memory == device_memory + blocks[i].offset) {
            bytes_used -= blocks[i].bytes;
            blocks[i].bytes = 0;
            return code;
        }
    return INVALID_VALUE;
}

int API(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(void *to, const void *from, size_t bytes, void *stream)
{
    int code = begin(__func__, true);
    void *there = to_host(to, bytes);
    if (code != OK || !there || (stream && !is(stream, STREAM)))
        return code ? code : INVALID_VALUE;
    memcpy(there, from, bytes);
    return OK;
}

int API(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *to, const void *from, size_t bytes, void *stream)
{
    int code = begin(__func__, true);
    const void *there = to_host(from, bytes);
    if (code != OK || !there || (stream && !is(stream, STREAM)))
        return code ? code : INVALID_VALUE;
    memcpy(to, there, bytes);
    return OK;
}

int API(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(void *to, const void *from, size_t bytes, void *stream)
{
    int code = begin(__func__, false);
    void *target = to_host(to, bytes);
    const void *source = to_host(from, bytes);
    if (code != OK || !target || !source || (stream && !is(stream, STREAM)))
        return code ? code : INVALID_VALUE;
    memmove(target, source, bytes);
    return OK;
}

int API(cuMemsetD8Async, hipMemsetD8Async)(void *to, unsigned char value, size_t bytes, void *stream)
{
    int code = begin(__func__, false);
    void *there = to_host(to, bytes);
    if (code != OK || !there || (stream && !is(stream, STREAM)))
        return code ? code : INVALID_VALUE;
    memset(there, value, bytes);
    return OK;
}

int API(cuStreamCreate, hipStreamCreateWithFlags)(void **stream, unsigned flags)
{
    int code = begin(__func__, false);
    if (code == OK && flags > 1)
        return INVALID_VALUE;
    if (code == OK)
        *stream = make(STREAM);
    return code;
}

int API(cuStreamDestroy_v2, hipStreamDestroy)(void *stream)
{
    int code = begin(__func__, false);
    int destroyed = may_release(code) ? destroy(stream, STREAM) : OK;
    return code ? code : destroyed;
}

int API(cuStreamSynchronize, hipStreamSynchronize)(void *stream)
{
    int code = begin(__func__, true);
    if (code == OK && capturing())
        return CAPTURE_UNSUPPORTED;
    return code == OK && stream && !is(stream, STREAM) ? INVALID_HANDLE : code;
}

int API(cuCtxSynchronize, hipDeviceSynchronize)(void)
{
    int code = begin(__func__, true);
    if (code == OK && late.param_bytes)
        code = run_copy(&late, to_host);
    late.param_bytes = 0;
    return code;
}

int API(cuStreamIsCapturing, hipStreamIsCapturing)(void *stream, int *status)
{
    int code = begin(__func__, false);
    *status = capturing();
    return code == OK && stream && !is(stream, STREAM) ? INVALID_HANDLE : code;
}

#if !FAKE_HIP
fake_graph_end_function fake_gpu_graph_end;

int cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *id)
{
    int code = begin(__func__, false);
    *status = capturing();
    *id = (uint64_t)setting("FAKE_GPU_CAPTURING", 0);
    return code == OK && stream && !is(stream, STREAM) ? INVALID_HANDLE : code;
}

/* The graph of a capture is its number. One user object at most is kept of each; fake_gpu_graph_end() is the end of the graph. */
enum { GRAPHS = 1024 };
static struct {
    void *data;
    void (*destroy)(void *data);
} graph_objects[GRAPHS], made_object;

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph, const void ***needs,
                              size_t *needed)
{
    int code = cuStreamGetCaptureInfo(stream, status, id);
    *graph = (void *)(uintptr_t)*id;
    return needs || needed ? INVALID_VALUE : code;
}

int cuUserObjectCreate(void **made, void *data, void (*last)(void *data), unsigned count, unsigned flags)
{
    int code = begin(__func__, false);
    made_object.data = data;
    made_object.destroy = last;
    *made = &made_object;
    return count == 1 && flags == 1 ? code : INVALID_VALUE;
}

int cuUserObjectRelease(void *kept, unsigned count)
{
    int code = begin(__func__, false);
    if (code != OK || kept != &made_object || count != 1)
        return code ? code : INVALID_VALUE;
    made_object.destroy(made_object.data);
    return OK;
}

int cuGraphRetainUserObject(void *graph, void *kept, unsigned count, unsigned flags)
{
    int code = begin(__func__, false);
    const uintptr_t number = (uintptr_t)graph;
    if (code != OK || kept != &made_object || count != 1 || flags != 1 || !number || number >= GRAPHS)
        return code ? code : INVALID_VALUE;
    graph_objects[number].data = made_object.data;
    graph_objects[number].destroy = made_object.destroy;
    return OK;
}

void fake_gpu_graph_end(int number)
{
    if (graph_objects[number].destroy)
        graph_objects[number].destroy(graph_objects[number].data);
    graph_objects[number].destroy = NULL;
}

/* A map holds where the tensor lies, its sizes and its pitch. A device fails where a row is longer than the pitch; here it is refused. */
int cuTensorMapEncodeTiled(uint64_t *map, int type, unsigned rank, void *base, const uint64_t *sizes,
                           const uint64_t *pitches, const unsigned *box, const unsigned *strides, int interleave,
                           int swizzle, int promotion, int filler)
{
    int code = begin(__func__, false);
    if (code != OK)
        return code;
    const bool wide = box[0] == 64;
    if (type != 1 || rank != 2 || (uintptr_t)base % 16 || pitches[0] % 16 || 2 * sizes[0] > pitches[0] || !sizes[0] ||
        !sizes[1] || box[0] * 2 > 128 || !box[1] || box[1] > 256 || strides[0] != 1 || strides[1] != 1 ||
        interleave || swizzle != (wide ? 3 : 2) || promotion > 3 || filler || (uintptr_t)map % 64)
        return INVALID_VALUE;
    memset(map, 0, 128);
    map[0] = (uintptr_t)base;
    map[1] = sizes[0];
    map[2] = sizes[1];
    map[3] = pitches[0];
    return OK;
}
#endif

int API(cuEventCreate, hipEventCreateWithFlags)(void **event, unsigned flags)
{
    int code = begin(__func__, false);
    if (code == OK && flags != 0)
        return INVALID_VALUE;
    if (code == OK)
        *event = make(EVENT);
    return code;
}

int API(cuEventDestroy_v2, hipEventDestroy)(void *event)
{
    int code = begin(__func__, false);
    int destroyed = may_release(code) ? destroy(event, EVENT) : OK;
    return code ? code : destroyed;
}

int API(cuEventRecord, hipEventRecord)(object *event, void *stream)
{
    int code = begin(__func__, false);
    if (code != OK || !is(event, EVENT) || (stream && !is(stream, STREAM)))
        return code ? code : INVALID_HANDLE;
    event->seconds = now();
    return OK;
}

int API(cuEventSynchronize, hipEventSynchronize)(void *event)
{
    int code = begin(__func__, true);
    if (code == OK && capturing())
        return CAPTURE_UNSUPPORTED;
    return code == OK && !is(event, EVENT) ? INVALID_HANDLE : code;
}

int API(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds, const object *from, const object *to)
{
    int code = begin(__func__, false);
    if (code != OK || !is(from, EVENT) || !is(to, EVENT) || from->seconds == 0 || to->seconds == 0)
        return code ? code : INVALID_HANDLE;
    *milliseconds = (float)((to->seconds - from->seconds) * 1e3);
    return OK;
}

/* A library out of memory; its bytes end with the table of sections. The file stays open: a second one of the same name would be taken for
 * the first. */
static void *open_image(const void *image)
{
    const Elf64_Ehdr *head = image;
    const size_t bytes = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
    char path[32];
    int file = memfd_create("emulated_kernel", MFD_CLOEXEC);
    if (file < 0 || write(file, image, bytes) != (ssize_t)bytes)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "emulated GPU: %s\n", dlerror());
    return library;
}

int API(cuModuleLoadData, hipModuleLoadData)(void **module, const void *image)
{
    int code = begin(__func__, false);
    if (code != OK)
        return code;
    if (capturing())
        return CAPTURE_UNSUPPORTED;
    if (!image || (memcmp(image, "\177ELF", 4) != 0 && memcmp(image, "// fake", 7) != 0))
        return INVALID_IMAGE;
    void *library = getenv("FAKE_GPU_EMULATE") ? open_image(image) : NULL;
    if (getenv("FAKE_GPU_EMULATE") && !library)
        return INVALID_IMAGE;
    object *made = make(MODULE);
    made->library = library;
    *module = made;
    return OK;
}

int API(cuModuleUnload, hipModuleUnload)(void *module)
{
    int code = begin(__func__, false);
    void *library = is(module, MODULE) ? ((object *)module)->library : NULL;
    int destroyed = may_release(code) ? destroy(module, MODULE) : OK;
    if (library && may_release(code))
        dlclose(library);
    return code ? code : destroyed;
}

/* Functions live as long as the process does. */
int API(cuModuleGetFunction, hipModuleGetFunction)(void **function, void *module, const char *name)
{
    static object functions[256];
    static int function_count;
    int code = begin(__func__, false);
    if (code != OK || !is(module, MODULE))
        return code ? code : INVALID_HANDLE;
    if (function_count == sizeof functions / sizeof *functions)
        abort();
    object *made = &functions[function_count++];
    made->kind = FUNCTION;
    snprintf(made->name, sizeof made->name, "%s", name);
    void *library = ((const object *)module)->library;
    if (library) {
        char size_name[96];
        snprintf(size_name, sizeof size_name, "%s_param_bytes", name);
        const size_t *param_bytes = dlsym(library, size_name);
        void *kernel = dlsym(library, name), *emulate_it = dlsym(library, "emulated_launch");
        if (!param_bytes || !kernel || !emulate_it || *param_bytes > FAKE_PARAM_BYTES)
            return INVALID_VALUE;
        made->param_bytes = *param_bytes;
        memcpy(&made->kernel, &kernel, sizeof kernel);
        memcpy(&made->emulate, &emulate_it, sizeof emulate_it);
    }
    *function = made;
    return OK;
}

#ifndef FAKE_WITHOUT_LAUNCH
int API(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned blocks_x, unsigned blocks_y,
                                               unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                                               unsigned threads_z, unsigned shared_bytes, void *stream, void **params,
                                               void **extra)
{
    int code = begin(__func__, false);
    if (code != OK)
        return code;
    if (threads_y != 1 || threads_z != 1 || extra)
        return INVALID_VALUE;
    return launch(function,
                  (fake_launch){.blocks = {blocks_x, blocks_y, blocks_z},
                                .threads = threads_x,
                                .shared_bytes = shared_bytes,
                                .stream = stream},
                  params);
}
#endif
