/* For test programs: puts the fake GPU of one vendor in place of a real one, with an empty cache of kernels. */
#ifndef FAKE_GPU_BEGIN_H
#define FAKE_GPU_BEGIN_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake_gpu/fake_gpu.h"
#include "tests/unit_test.h"

typedef struct fake_gpu {
    char cache[32];
    fake_define_function *define;
    fake_launch_function *launch_at;
    fake_alive_function *alive;
    fake_reset_function *reset;
    fake_stream_make_function *stream_make;
    fake_stream_end_function *stream_end;
    fake_graph_end_function *graph_end; /* NULL on HIP */
} fake_gpu;

/* The libraries lie beside the test programs. */
static inline void fake_gpu_use(const char *variable, const char *name)
{
    char program[PATH_MAX / 2], path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(length > 0);
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(path, sizeof path, "%s/fake_gpu/%s", program, name);
    assert_int_equal(setenv(variable, path, 1), 0);
}

static inline void fake_gpu_forget_settings(void)
{
    static const char *const settings[] = {
        "FAKE_GPU_FAIL",      "FAKE_GPU_DEVICES",    "FAKE_GPU_NAME",    "FAKE_GPU_VERSION", "FAKE_GPU_MEMORY",
        "FAKE_GPU_CAPTURING", "FAKE_GPU_CAPABILITY", "FAKE_GPU_COMPILE", "FAKE_GPU_LOG",     "FAKE_GPU_KERNELS"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        unsetenv(settings[i]);
}

static inline void fake_gpu_find(void *library, const char *name, void *place)
{
    void *found = dlsym(library, name);
    assert_non_null(found);
    memcpy(place, &found, sizeof found);
}

static inline void fake_gpu_begin(fake_gpu *fake, const char *backend)
{
    fake_gpu_forget_settings();
    fake_gpu_use("TOKITAI_CUDA_LIBRARY", "libcuda.so.1");
    fake_gpu_use("TOKITAI_HIP_LIBRARY", "libamdhip64.so.6");
    fake_gpu_use("TOKITAI_CUDA_COMPILER", "libnvrtc.so");
    fake_gpu_use("TOKITAI_HIP_COMPILER", "libhiprtc.so");
    snprintf(fake->cache, sizeof fake->cache, "/tmp/tokitai-gpu-XXXXXX");
    assert_non_null(mkdtemp(fake->cache));
    assert_int_equal(setenv("TOKITAI_CACHE", fake->cache, 1), 0);
    const char *path = getenv(!strcmp(backend, "hip") ? "TOKITAI_HIP_LIBRARY" : "TOKITAI_CUDA_LIBRARY");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        fail_msg("%s", dlerror());
    fake_gpu_find(library, "fake_gpu_define", &fake->define);
    fake_gpu_find(library, "fake_gpu_launch_at", &fake->launch_at);
    fake_gpu_find(library, "fake_gpu_alive", &fake->alive);
    fake_gpu_find(library, "fake_gpu_reset", &fake->reset);
    fake_gpu_find(library, "fake_gpu_stream_make", &fake->stream_make);
    fake_gpu_find(library, "fake_gpu_stream_end", &fake->stream_end);
    if (!strcmp(backend, "cuda"))
        fake_gpu_find(library, "fake_gpu_graph_end", &fake->graph_end);
    dlclose(library);
    fake->reset();
    assert_int_equal(fake->alive(), 0);
}

/* Whatever the test did, nothing may be left on the device. */
static inline void fake_gpu_end(fake_gpu *fake)
{
    char command[64];
    fake_gpu_forget_settings();
    assert_int_equal(fake->alive(), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", fake->cache);
    assert_int_equal(system(command), 0);
}

#endif
