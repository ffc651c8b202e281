/* CHOOSES. The vendors' drivers, loaded at run time. Both have calls of the same shape, so that one struct of function pointers serves
 * both; cuda.c and hip.c say how the calls are named and do what is not the same. Included by drivers/, runtime/ and worker/ only; the rest of the house
 * uses gpu.h. */
#pragma once

#include "drivers/gpu_info.h"

/* cuLaunchKernelEx() takes these, laid out as in cuda.h. */
enum { TKI_LAUNCH_CLUSTER = 4, TKI_LAUNCH_EARLY = 6 };

typedef struct tki_launch_attribute {
    int id;
    union {
        _Alignas(8) char size[64];
        unsigned cluster[3];
        int early; /* 1: before the kernels that the stream has are done */
    } value;
} tki_launch_attribute;

typedef struct tki_launch_config {
    unsigned blocks[3];
    unsigned threads[3];
    unsigned shared_bytes;
    void *stream;
    tki_launch_attribute *attributes;
    unsigned attribute_count;
} tki_launch_config;

typedef struct tki_driver_calls {
#define CALL(result, name, arguments, cuda, hip) result(*name) arguments;
#include "drivers/driver_calls.def"
#undef CALL
} tki_driver_calls;

/* What the library calls them. */
typedef struct tki_driver_names {
#define CALL(result, name, arguments, cuda, hip) const char *name;
#include "drivers/driver_calls.def"
#undef CALL
} tki_driver_names;

_Static_assert(sizeof(tki_launch_attribute) == 72 && offsetof(tki_launch_attribute, value) == 8, "CUlaunchAttribute");
_Static_assert(sizeof(tki_launch_config) == 56 && offsetof(tki_launch_config, stream) == 32, "CUlaunchConfig");
_Static_assert(sizeof(tki_driver_names) == sizeof(tki_driver_calls), "a name for each call");

typedef struct tki_driver tki_driver;

enum { TKI_VENDOR_LIBRARIES = 6, TKI_VENDOR_NODES = 4 };

struct tki_vendor {
    const tki_backend *backend;
    const char *variable;                        /* in the environment: the path of the library to use instead */
    const char *libraries[TKI_VENDOR_LIBRARIES]; /* tried in this order; ends with NULL */
    const char *remedy;                          /* if none of them is there */
    const char *nodes[TKI_VENDOR_NODES];         /* files that its users must be able to open; ends with NULL */
    tki_driver_names names;
    const char *synchronize;          /* the call without arguments that waits for all that the device does */
    int oldest_version;               /* that has what is needed here */
    int version_major, version_minor; /* a version is major * version_major + minor * version_minor + ... */
    struct {
        int units, warp, shared_bytes, l2_bytes, major, minor;
    } attributes;
    const char *(*error_name)(const tki_driver *driver, int code); /* both may return NULL */
    const char *(*error_text)(const tki_driver *driver, int code);
    /* Fills in architecture, UUID and the text of the driver's version. */
    void (*describe)(const tki_driver *driver, int device, tki_gpu_info *info);
    /* Makes the device ready for use, and the opposite. `context` is handed to enter(). */
    int (*open)(const tki_driver *driver, int device, int ordinal, void **context, const char **call);
    void (*close)(const tki_driver *driver, int device);
    /* Makes the context current in this thread; *previous is what was, for leave(). Nothing is set that is set already. */
    int (*enter)(const tki_driver *driver, void *context, void **previous);
    void (*leave)(const tki_driver *driver, void *context, void *previous);
};

/* Those functions, in the file that has the vendor. */
#define TKI_VENDOR_FUNCTIONS                                                                       \
    .error_name = error_name, .error_text = error_text, .describe = describe, .open = open_device, \
    .close = close_device, .enter = enter, .leave = leave

extern const tki_vendor tki_vendor_cuda, tki_vendor_hip;

struct tki_driver {
    const tki_vendor *vendor;
    void *library;
    char library_name[256];
    int version;
    int device_count; /* at least 1 */
    tki_driver_calls calls;
};

/* Loads, finds the calls, initialises, counts the devices. False, and why, when there is nothing to be used; then nothing is kept. */
bool tki_driver_open(const tki_vendor *vendor, tki_driver *driver, char *reason, size_t reason_size);
void tki_driver_close(tki_driver *driver);

bool tki_driver_describe(const tki_driver *driver, int ordinal, tki_gpu_info *info, char *reason, size_t reason_size);

/* "cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (2, out of memory)" and, where it is known, what that means for the user. */
tk_status tki_driver_explain(const tki_driver *driver, const char *call, int code, char *text, size_t size);

/* What is wrong with the first of these device files that cannot be opened: it is not there, or there is no permission. "" if
 * nothing is. */
void tki_driver_check_nodes(const char *const nodes[], char *text, size_t size);
