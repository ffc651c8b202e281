/* CHOOSES. The worker's device. Driver and context are the library's own code (drivers/driver.c), compiled into this program too. What foreign host
 * code does to them cannot be prevented here; docs/worker.md says what follows from that. */
#include "worker/worker_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/driver.h"

enum { ALIGNMENT = 256, DRIFT = 7 };

struct tki_worker_gpu {
    tki_driver driver;
    void *context;
    int (*synchronize)(void); /* the whole device */
    void *stream;             /* of the present call */
    void *begin, *end;        /* events */
    char *block;              /* device memory of all images */
    size_t block_bytes;
    bool apart;     /* every array has memory of its own: under compute-sanitizer */
    bool unwritten; /* outputs are not uploaded */
    void *own[TKI_WIRE_BUFFERS];
    unsigned calls;
};

/* Describes a failed call. Errors of the device itself are the kernel's doing. */
static int failed(const tki_worker_gpu *gpu, const char *call, int code, int *detail, char *reason, size_t size)
{
    tk_status status = tki_driver_explain(&gpu->driver, call, code, reason, size);
    if (detail)
        *detail = code;
    return status == TK_NO_MEMORY ? TKI_WIRE_NO_MEMORY : TKI_WIRE_DEVICE_FAULT;
}

static bool open_context(tki_worker_gpu *gpu, int ordinal, char *reason, size_t size)
{
    const tki_driver *driver = &gpu->driver;
    const char *call = driver->vendor->names.get_device;
    void *previous;
    int device;
    int code = driver->calls.get_device(&device, ordinal);
    if (code == 0)
        code = driver->vendor->open(driver, device, ordinal, &gpu->context, &call);
    if (code == 0)
        code = driver->vendor->enter(driver, gpu->context, &previous);
    if (code == 0) {
        call = driver->vendor->names.event_create;
        code = driver->calls.event_create(&gpu->begin, 0);
    }
    if (code == 0)
        code = driver->calls.event_create(&gpu->end, 0);
    if (code != 0)
        tki_driver_explain(driver, call, code, reason, size);
    return code == 0;
}

tki_worker_gpu *tki_worker_gpu_open(const tki_backend *backend, int device, const char *tool, char *reason,
                                    size_t size)
{
    tki_worker_gpu *gpu = calloc(1, sizeof *gpu);
    snprintf(reason, size, "no driver found");
    if (!gpu || !tki_driver_open(backend->vendor, &gpu->driver, reason, size)) {
        free(gpu);
        return NULL;
    }
    gpu->apart = tool != NULL;
    gpu->unwritten = tool && !strcmp(tool, "initcheck");
    const char *name = backend->vendor->synchronize;
    void *symbol = dlsym(gpu->driver.library, name);
    memcpy(&gpu->synchronize, &symbol, sizeof symbol);
    if (!symbol)
        snprintf(reason, size, "the driver has no function %s", name);
    if (symbol && open_context(gpu, device, reason, size))
        return gpu;
    free(gpu);
    return NULL;
}

static int reserve(tki_worker_gpu *gpu, size_t bytes)
{
    if (bytes <= gpu->block_bytes)
        return 0;
    if (gpu->block)
        gpu->driver.calls.release(gpu->block);
    gpu->block = NULL;
    gpu->block_bytes = 0;
    void *block = NULL;
    int code = gpu->driver.calls.allocate(&block, bytes);
    if (code == 0) {
        gpu->block = block;
        gpu->block_bytes = bytes;
    }
    return code;
}

/* The part of an image that has its like on the device: all of it, or the array alone. */
typedef struct part {
    size_t from, bytes;
} part;

static part part_of(const tki_worker_gpu *gpu, const tki_worker_image *image)
{
    if (image->same_as >= 0)
        return (part){0};
    return gpu->apart ? (part){image->place, image->array_bytes} : (part){0, image->bytes};
}

/* No input shares the memory. */
static bool only_output(const tki_worker_image images[], int count, int i)
{
    bool only = images[i].output;
    for (int k = 0; k < count; k++)
        only &= images[k].same_as != i || images[k].output;
    return only;
}

/* Copies every image one way, and waits. */
static int copy_all(tki_worker_gpu *gpu, tki_worker_image images[], int count, bool in, unsigned char *to,
                    const char **call)
{
    const tki_driver *driver = &gpu->driver;
    int code = 0;
    *call = in ? driver->vendor->names.copy_in : driver->vendor->names.copy_out;
    for (int i = 0; i < count && code == 0; i++) {
        tki_worker_image *image = &images[i];
        const part p = part_of(gpu, image);
        if (!p.bytes || (in && gpu->unwritten && only_output(images, count, i)))
            continue;
        void *device = (char *)image->device + p.from;
        if (in)
            code = driver->calls.copy_in(device, image->host + p.from, p.bytes, gpu->stream);
        else
            code = driver->calls.copy_out(to ? to : image->host + p.from, device, p.bytes, gpu->stream);
        to += to ? p.bytes : 0;
    }
    if (code == 0) {
        *call = driver->vendor->names.stream_synchronize;
        code = driver->calls.stream_synchronize(gpu->stream);
    }
    return code;
}

/* One block for all of them, at another place in each call. */
static int place_together(tki_worker_gpu *gpu, tki_worker_image images[], int count)
{
    size_t place = (size_t)(gpu->calls++ % DRIFT) * ALIGNMENT, offset[TKI_WIRE_BUFFERS];
    for (int i = 0; i < count; i++) {
        offset[i] = place;
        if (images[i].same_as < 0)
            place += (images[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    int code = reserve(gpu, place + ALIGNMENT);
    for (int i = 0; i < count && code == 0; i++)
        images[i].device = images[i].same_as >= 0 ? images[images[i].same_as].device : gpu->block + offset[i];
    return code;
}

static void release_own(tki_worker_gpu *gpu)
{
    for (int i = 0; i < TKI_WIRE_BUFFERS; i++) {
        if (gpu->own[i])
            gpu->driver.calls.release(gpu->own[i]);
        gpu->own[i] = NULL;
    }
}

/* Memory that begins at most ALIGNMENT - 1 bytes before its array, which has its alignment, and ends with it. */
static int place_apart(tki_worker_gpu *gpu, tki_worker_image images[], int count)
{
    int code = 0;
    release_own(gpu);
    for (int i = 0; i < count && code == 0; i++) {
        if (images[i].same_as >= 0) {
            images[i].device = images[images[i].same_as].device;
            continue;
        }
        size_t before = images[i].place % ALIGNMENT, bytes = before + images[i].array_bytes;
        code = gpu->driver.calls.allocate(&gpu->own[i], bytes ? bytes : 1);
        images[i].device = (void *)((uintptr_t)gpu->own[i] + before - images[i].place);
    }
    return code;
}

int tki_worker_gpu_begin(tki_worker_gpu *gpu, tki_worker_image images[], int count, void **stream, char *reason,
                         size_t size)
{
    const tki_driver *driver = &gpu->driver;
    const char *call = driver->vendor->names.allocate;
    void *previous;
    int code = driver->vendor->enter(driver, gpu->context, &previous); /* the kernel may have left another current */
    if (code == 0)
        code = gpu->apart ? place_apart(gpu, images, count) : place_together(gpu, images, count);
    if (code == 0) {
        call = driver->vendor->names.stream_create;
        code = driver->calls.stream_create(&gpu->stream, 1 /* does not wait for the default stream */);
    }
    if (code == 0)
        code = copy_all(gpu, images, count, true, NULL, &call);
    *stream = gpu->stream;
    return code == 0 ? 0 : failed(gpu, call, code, NULL, reason, size);
}

void tki_worker_gpu_mark(tki_worker_gpu *gpu, bool end)
{
    gpu->driver.calls.event_record(end ? gpu->end : gpu->begin, gpu->stream);
}

static bool same_as_before(const tki_worker_gpu *gpu, const tki_worker_image images[], int count,
                           const unsigned char *now)
{
    for (int i = 0; i < count; i++) {
        const part p = part_of(gpu, &images[i]);
        if (!p.bytes)
            continue;
        if (memcmp(images[i].host + p.from, now, p.bytes) != 0)
            return false;
        now += p.bytes;
    }
    return true;
}

int tki_worker_gpu_finish(tki_worker_gpu *gpu, tki_worker_image images[], int count, double *seconds, int *detail,
                          char *reason, size_t size)
{
    const tki_driver *driver = &gpu->driver;
    size_t bytes = 1;
    for (int i = 0; i < count; i++)
        bytes += images[i].same_as < 0 ? images[i].bytes : 0;
    unsigned char *again = malloc(bytes);
    if (!again) {
        snprintf(reason, size, "no memory for %zu bytes", bytes);
        return TKI_WIRE_NO_MEMORY;
    }
    void *previous;
    float milliseconds = 0;
    const char *call = driver->vendor->names.stream_synchronize;
    int code = driver->vendor->enter(driver, gpu->context, &previous);
    if (code == 0)
        code = driver->calls.stream_synchronize(gpu->stream);
    if (code == 0)
        code = copy_all(gpu, images, count, false, NULL, &call);
    if (code == 0) {
        call = "waiting for the device";
        code = gpu->synchronize();
    }
    if (code == 0)
        code = copy_all(gpu, images, count, false, again, &call);
    if (code == 0 && driver->calls.event_elapsed(&milliseconds, gpu->begin, gpu->end) == 0)
        *seconds = 1e-3 * (double)milliseconds;
    int status = code == 0 ? 0 : failed(gpu, call, code, detail, reason, size);
    if (status == 0 && !same_as_before(gpu, images, count, again)) {
        snprintf(reason, size, "its result changed after its stream had finished: it uses another stream");
        status = TKI_WIRE_DEVICE_FAULT;
    }
    free(again);
    if (code == 0)
        driver->calls.stream_destroy(gpu->stream);
    return status;
}
