/* CHOOSES. NVIDIA's driver, libcuda. The numbers are those of cuda.h, which have not changed since they were given. */
#include <stdio.h>
#include <string.h>

#include "drivers/driver.h"

static const char *error_name(const tki_driver *driver, int code)
{
    const char *name = NULL;
    return driver->calls.write_error_name && driver->calls.write_error_name(code, &name) == 0 ? name : NULL;
}

static const char *error_text(const tki_driver *driver, int code)
{
    const char *text = NULL;
    return driver->calls.write_error_text && driver->calls.write_error_text(code, &text) == 0 ? text : NULL;
}

/* "580.82.07" out of the line "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed ...". */
static bool read_module_version(char *version, size_t size)
{
    char line[512] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (!file)
        return false;
    bool found = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\n", &rest); found && word; word = strtok_r(NULL, " \t\n", &rest))
        if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
            snprintf(version, size, "%s", word);
            return true;
        }
    return false;
}

static void describe(const tki_driver *driver, int device, tki_gpu_info *info)
{
    unsigned char uuid[16];
    if (driver->calls.get_uuid(uuid, device) == 0) {
        int used = snprintf(info->uuid, sizeof info->uuid, "GPU-");
        for (int i = 0; i < 16; i++)
            used += snprintf(info->uuid + used, sizeof info->uuid - (size_t)used, "%s%02x",
                             i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    }
    snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", info->major, info->minor);
    char module[32];
    bool known = read_module_version(module, sizeof module);
    snprintf(info->driver, sizeof info->driver, "%s%sCUDA %d.%d", known ? module : "", known ? ", " : "",
             driver->version / 1000, driver->version / 10 % 100);
}

/* The primary context is the one that the CUDA run-time library, and so PyTorch, works in. */
static int open_device(const tki_driver *driver, int device, int ordinal, void **context, const char **call)
{
    (void)ordinal;
    *call = driver->vendor->names.context_retain;
    return driver->calls.context_retain(context, device);
}

static void close_device(const tki_driver *driver, int device)
{
    driver->calls.context_release(device);
}

static int enter(const tki_driver *driver, void *context, void **previous)
{
    int code = driver->calls.context_get(previous);
    return code == 0 && *previous != context ? driver->calls.context_set(context) : code;
}

static void leave(const tki_driver *driver, void *context, void *previous)
{
    if (previous != context)
        driver->calls.context_set(previous);
}

const tki_vendor tki_vendor_cuda = {
    .backend = &tki_backends[TKI_CUDA],
    .variable = "TOKITAI_CUDA_LIBRARY",
    .libraries = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", NULL},
    .remedy =
        "install NVIDIA's driver, start the container with its GPUs, or set TOKITAI_CUDA_LIBRARY to the path of "
        "its libcuda.so.1",
    .nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm", NULL},
    .names =
        {
#define CALL(result, name, arguments, cuda, hip) .name = cuda,
#include "drivers/driver_calls.def"
#undef CALL
        },
    .synchronize = "cuCtxSynchronize",
    .oldest_version = 11040,
    .version_major = 1000,
    .version_minor = 10,
    .attributes = {.units = 16, .warp = 10, .shared_bytes = 97, .l2_bytes = 38, .major = 75, .minor = 76},
    TKI_VENDOR_FUNCTIONS,
};
