/* The vendors' drivers, loaded at run time. Both have calls of the same shape, so that one struct of function pointers serves
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

/* Each returns 0 or an error code. A device pointer is a void * here; both drivers take it as one 64-bit word. */
typedef struct tki_driver_calls {
    int (*get_version)(int *version);
    int (*init)(unsigned flags);
    int (*get_count)(int *count);
    int (*get_device)(int *device, int ordinal);
    int (*get_name)(char *name, int size, int device);
    int (*get_memory)(size_t *bytes, int device);
    int (*get_attribute)(int *value, int attribute, int device);
    int (*get_uuid)(unsigned char uuid[16], int device);
    int (*allocate)(void **memory, size_t bytes);
    int (*release)(void *memory);
    int (*copy_in)(void *to, const void *from, size_t bytes, void *stream);
    int (*copy_out)(void *to, const void *from, size_t bytes, void *stream);
    int (*copy)(void *to, const void *from, size_t bytes, void *stream);
    int (*fill)(void *to, unsigned char value, size_t bytes, void *stream);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*stream_is_capturing)(void *stream, int *status); /* 0: no */
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*event_elapsed)(float *milliseconds, void *begin, void *end);
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned threads_x,
                  unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void *stream, void **params,
                  void **extra);
    /* CUDA alone */
    int (*launch_config)(const tki_launch_config *config, void *function, void **params, void **extra);
    int (*function_attribute)(void *function, int attribute, int value);
    int (*function_load)(void *function);
    int (*capture_info)(void *stream, int *status, uint64_t *id);
    int (*capture_graph)(void *stream, int *status, uint64_t *id, void **graph, const void ***needs, size_t *needed);
    int (*user_object_create)(void **object, void *data, void (*destroy)(void *data), unsigned count, unsigned flags);
    int (*user_object_release)(void *object, unsigned count);
    int (*graph_retain)(void *graph, void *object, unsigned count, unsigned flags);
    int (*encode_map)(void *map, int type, unsigned rank, void *base, const uint64_t *sizes, const uint64_t *pitches,
                      const unsigned *box, const unsigned *strides, int interleave, int swizzle, int promotion,
                      int filler);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_get)(void **context);
    int (*context_set)(void *context);
    int (*write_error_name)(int code, const char **name);
    int (*write_error_text)(int code, const char **text);
    /* HIP alone */
    int (*device_get)(int *ordinal);
    int (*device_set)(int ordinal);
    int (*get_properties)(void *properties, int device);
    int (*get_old_properties)(void *properties, int device);
    const char *(*error_name)(int code);
    const char *(*error_text)(int code);
} tki_driver_calls;

/* What the library calls them: the same members in the same order. NULL: this vendor has no such call. A '?' in front: it may be
 * missing. */
typedef struct tki_driver_names {
    const char *get_version, *init, *get_count, *get_device, *get_name, *get_memory, *get_attribute, *get_uuid;
    const char *allocate, *release, *copy_in, *copy_out, *copy, *fill;
    const char *stream_create, *stream_destroy, *stream_synchronize, *stream_is_capturing;
    const char *event_create, *event_destroy, *event_record, *event_synchronize, *event_elapsed;
    const char *module_load, *module_unload, *module_function, *launch;
    const char *launch_config, *function_attribute, *function_load, *capture_info, *capture_graph,
        *user_object_create, *user_object_release, *graph_retain, *encode_map, *context_retain, *context_release,
        *context_get, *context_set;
    const char *write_error_name, *write_error_text;
    const char *device_get, *device_set, *get_properties, *get_old_properties, *error_name, *error_text;
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
