/* Streams and graphs of plain programs that are carried to a machine with a GPU: CUDA's driver, loaded at run time. */
#ifndef TESTS_DEVICE_GRAPH_H
#define TESTS_DEVICE_GRAPH_H

#include <dlfcn.h>
#include <string.h>

#include "tests/device_check.h"
#include "tokitai.h"

static inline void check_ok(tk_ctx *ctx, tk_status status, int line)
{
    if (status != TK_OK) {
        failures++;
        printf("FAILED line %d: %s: %s\n", line, tk_status_text(status), tk_ctx_message(ctx));
    }
}
#define OK(ctx, call) check_ok(ctx, call, __LINE__)

/* The few calls of the driver that a program with graphs of its own makes. */
typedef struct driver {
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*begin_capture)(void *stream, int mode);
    int (*end_capture)(void *stream, void **graph);
    int (*instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*launch)(void *executable, void *stream);
    int (*executable_destroy)(void *executable);
    int (*graph_destroy)(void *graph);
} driver;

static inline void find(void *library, const char *name, void *place)
{
    void *found = dlsym(library, name);
    CHECK(found, "%s", name);
    memcpy(place, &found, sizeof found);
}

static inline driver find_driver(void)
{
    driver d = {0};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(library, "libcuda.so.1");
    find(library, "cuDevicePrimaryCtxRetain", &d.retain);
    find(library, "cuCtxSetCurrent", &d.set_current);
    find(library, "cuStreamCreate", &d.stream_create);
    find(library, "cuStreamDestroy_v2", &d.stream_destroy);
    find(library, "cuStreamBeginCapture_v2", &d.begin_capture);
    find(library, "cuStreamEndCapture", &d.end_capture);
    find(library, "cuGraphInstantiateWithFlags", &d.instantiate);
    find(library, "cuGraphLaunch", &d.launch);
    find(library, "cuGraphExecDestroy", &d.executable_destroy);
    find(library, "cuGraphDestroy", &d.graph_destroy);
    return d;
}

/* What a context runs between begin and end becomes a graph, to be launched on the same stream. */
typedef struct recording {
    void *stream, *graph, *executable;
} recording;

static inline recording begin_recording(tk_ctx *ctx, const driver *d)
{
    recording r = {0};
    CHECK(d->stream_create(&r.stream, 1) == 0, "stream");
    OK(ctx, tk_ctx_set_stream(ctx, r.stream));
    CHECK(d->begin_capture(r.stream, 1) == 0, "begin of capture");
    return r;
}

static inline void end_recording(const driver *d, recording *r)
{
    CHECK(d->end_capture(r->stream, &r->graph) == 0 && r->graph, "end of capture");
    CHECK(d->instantiate(&r->executable, r->graph, 0) == 0, "instantiate");
}

static inline void play(const driver *d, const recording *r)
{
    CHECK(d->launch(r->executable, r->stream) == 0, "graph launch");
}

static inline void drop_recording(tk_ctx *ctx, const driver *d, recording *r)
{
    d->executable_destroy(r->executable);
    d->graph_destroy(r->graph);
    OK(ctx, tk_ctx_set_stream(ctx, NULL));
    d->stream_destroy(r->stream);
}

#endif
