/* Kernels of gelu_fwd for the worker's tests on a GPU that is not there (tests/fake_gpu): two libraries for each function below, one for
 * either vendor, of which BEHAVIOUR() runs it. A correct one copies x to y; that is enough to see what the worker does. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dtype.h"
#include "tests/fake_gpu/fake_gpu.h"
#include "tokitai_kernel.h"

#pragma GCC diagnostic ignored "-Wunused-function" /* one is used in each library */

#if FAKE_HIP
#define API(cuda, hip) #hip
#define LIBRARY "TOKITAI_HIP_LIBRARY"
#else
#define API(cuda, hip) #cuda
#define LIBRARY "TOKITAI_CUDA_LIBRARY"
#endif

static void *driver;
static void *the_stream;
static const char *the_input;
static char *the_output;
static size_t the_bytes;

static void find(const char *name, void *function)
{
    void *found = dlsym(driver, name);
    if (!found)
        abort();
    memcpy(function, &found, sizeof found);
}

/* Returns the driver's error. The function of the last call is kept: the driver has room for so many. */
static int launch(const char *name, const void *from, void *to, size_t bytes)
{
    int (*module_load)(void **, const void *), (*get_function)(void **, void *, const char *);
    int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                         void **, void **);
    static void *module, *function;
    static char kept[64];
    find(API(cuModuleLoadData, hipModuleLoadData), &module_load);
    find(API(cuModuleGetFunction, hipModuleGetFunction), &get_function);
    find(API(cuLaunchKernel, hipModuleLaunchKernel), &launch_kernel);
    fake_copy_params params = {(uintptr_t)from, (uintptr_t)to, (int64_t)bytes};
    int code = module ? 0 : module_load(&module, "\177ELF");
    if (code == 0 && strcmp(kept, name) != 0)
        code = get_function(&function, module, name);
    if (code == 0)
        snprintf(kept, sizeof kept, "%s", name);
    return code ? code : launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, the_stream, (void *[]){&params}, NULL);
}

static int copy(void)
{
    return launch("fake_copy", the_input, the_output, the_bytes);
}

static int illegal_address(void)
{
    return launch("fake_copy", the_input, (char *)4096, the_bytes);
}

static int write_behind(void)
{
    return launch("fake_copy", the_input, the_output, the_bytes + 2);
}

static int write_to_input(void)
{
    return launch("fake_copy", the_input + 2, (char *)(uintptr_t)the_input, 2) || copy();
}

static int finish_late(void)
{
    return launch("fake_late_copy", the_input, the_output, the_bytes);
}

static int run_forever(const fake_launch *l, fake_host_function *host)
{
    (void)l;
    (void)host;
    while (pause())
        ;
    return 0;
}

static int endless(void)
{
    fake_define_function *define;
    find("fake_gpu_define", &define);
    define("endless", sizeof(fake_copy_params), run_forever);
    return launch("endless", the_input, the_output, the_bytes);
}

/* The op itself, in f16. `beyond`: elements that it reads behind its input. */
static int compute(const fake_launch *l, fake_host_function *host, int beyond)
{
    fake_copy_params p;
    memcpy(&p, l->params, sizeof p);
    const uint16_t *x = host((const void *)p.from, (size_t)p.bytes + 2 * (size_t)beyond);
    uint16_t *y = host((void *)p.to, (size_t)p.bytes);
    if (!x || !y)
        return 700;
    for (int64_t i = 0; i < p.bytes / 2; i++) {
        const double v = (double)tki_f16_to_f32(x[i]);
        const double z = 0.79788456080286535588 * (v + 0.044715 * v * v * v);
        y[i] = tki_f32_to_f16((float)(v / (1 + exp(-2 * z))));
    }
    return 0;
}

static int compute_gelu(const fake_launch *l, fake_host_function *host)
{
    return compute(l, host, 0);
}

static int compute_and_read_on(const fake_launch *l, fake_host_function *host)
{
    return compute(l, host, 1);
}

static int run_gelu(fake_kernel *kernel)
{
    fake_define_function *define;
    find("fake_gpu_define", &define);
    define("gelu", sizeof(fake_copy_params), kernel);
    return the_bytes ? launch("gelu", the_input, the_output, the_bytes) : 0;
}

/* What tests/stand_in/compute-sanitizer prints at its end as its own. */
static void tell(const char *tool, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/sins.%s", getenv("TMPDIR"), tool);
    FILE *file = fopen(path, "ae");
    if (!file)
        abort();
    fputs(text, file);
    fclose(file);
}

static int gelu(void)
{
    return run_gelu(compute_gelu);
}

static int gelu_that_reads_on(void)
{
    if (the_bytes)
        tell("memcheck",
             "========= Invalid __global__ read of size 2 bytes\n"
             "=========     at gelu+0x160 in gelu.cu:6\n"
             "=========     by thread (3,0,0) in block (0,0,0)\n"
             "=========     Access at 0x7f6510c00200 is out of bounds\n"
             "=========     and is 1 bytes after the nearest allocation at 0x7f6510c00000 of size 512 bytes\n"
             "========= \n");
    return run_gelu(compute_and_read_on);
}

/* From 256 elements on, as one block of threads has neighbours then. */
static int gelu_that_races(void)
{
    if (the_bytes >= 512)
        tell("racecheck", "========= Error: Race reported between Write access at gelu+0x90 in gelu.cu:41\n"
                          "=========     and Read access at gelu+0x100 in gelu.cu:51 [508 hazards]\n"
                          "========= \n");
    return gelu();
}

static int gelu_that_reads_nothing_written(void)
{
    if (the_bytes)
        tell("initcheck", "========= Uninitialized __global__ memory read of size 4 bytes\n"
                          "=========     at gelu+0x70 in gelu.cu:41\n"
                          "=========     by thread (31,0,0) in block (1,0,0)\n"
                          "=========     Access to 0x7f3c7ec000fc\n"
                          "========= \n");
    return gelu();
}

static int gelu_with_divergent_barrier(void)
{
    if (the_bytes)
        tell("synccheck", "========= Barrier error detected. Divergent thread(s) in block\n"
                          "=========     at gelu+0xf0 in gelu.cu:79\n"
                          "=========     by thread (37,0,0) in block (0,0,0)\n"
                          "========= \n");
    return gelu();
}

/* Writes where its arrays lie, from multiples of 256 bytes on. */
static int write_places(const fake_launch *l, fake_host_function *host)
{
    fake_copy_params p;
    memcpy(&p, l->params, sizeof p);
    uint16_t *y = host((void *)p.to, (size_t)p.bytes);
    if (!y || p.bytes < 4)
        return 700;
    y[0] = (uint16_t)(p.from % 256);
    y[1] = (uint16_t)(p.to % 256);
    return 0;
}

static int tell_places(void)
{
    fake_define_function *define;
    find("fake_gpu_define", &define);
    define("places", sizeof(fake_copy_params), write_places);
    return launch("places", the_input, the_output, the_bytes);
}

/* Takes device memory for host memory. */
static int touch_device_memory(void)
{
    memcpy(the_output, the_input, the_bytes);
    return 0;
}

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    driver = dlopen(getenv(LIBRARY), RTLD_NOW | RTLD_NOLOAD);
    the_stream = call->stream;
    the_input = x;
    the_output = y;
    the_bytes = (size_t)n * 2;
    return driver && the_stream ? BEHAVIOUR() : -1;
}
