/* Kernels of gelu_fwd for the worker's tests on a GPU that is not there (tests/fake_gpu): two libraries for each function below, one for
 * either vendor, made with BEHAVIOUR as its name. A correct one copies x to y; that is enough to see what the worker does. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Returns the driver's error. */
static int launch(const char *name, const void *from, void *to, size_t bytes)
{
    int (*module_load)(void **, const void *), (*get_function)(void **, void *, const char *);
    int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                         void **, void **);
    void *module, *function;
    find(API(cuModuleLoadData, hipModuleLoadData), &module_load);
    find(API(cuModuleGetFunction, hipModuleGetFunction), &get_function);
    find(API(cuLaunchKernel, hipModuleLaunchKernel), &launch_kernel);
    fake_copy_params params = {(uintptr_t)from, (uintptr_t)to, (int64_t)bytes};
    int code = module_load(&module, "\177ELF");
    if (code == 0)
        code = get_function(&function, module, name);
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
