/* CHOOSES. AMD's run-time library, libamdhip64. The numbers are those of hip_runtime_api.h, the same from ROCm 5.2 to 7. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "drivers/driver.h"

static const char *error_name(const tki_driver *driver, int code)
{
    return driver->calls.error_name ? driver->calls.error_name(code) : NULL;
}

static const char *error_text(const tki_driver *driver, int code)
{
    return driver->calls.error_text ? driver->calls.error_text(code) : NULL;
}

/* The architecture's name stands only in a large struct of properties, of which ROCm 6 has another layout than ROCm 5. */
static bool read_architecture(const tki_driver *driver, int device, char *name, size_t size)
{
    enum { NAME = 1160, OLD_NAME = 396, NAME_SIZE = 256, STRUCT_SIZE = 8192 /* 1472 and 792, and room to grow */ };
    char properties[STRUCT_SIZE] = {0};
    const char *found = NULL;
    if (driver->calls.get_properties && driver->calls.get_properties(properties, device) == 0)
        found = properties + NAME;
    else if (!driver->calls.get_properties && driver->calls.get_old_properties &&
             driver->calls.get_old_properties(properties, device) == 0)
        found = properties + OLD_NAME;
    if (!found || strncmp(found, "gfx", 3) != 0)
        return false;
    /* "gfx942:sramecc+:xnack-": code for plain gfx942 runs with every setting of these. */
    size_t length = strnlen(found, NAME_SIZE);
    const char *colon = memchr(found, ':', length);
    snprintf(name, size, "%.*s", (int)(colon ? colon - found : (ptrdiff_t)length), found);
    return true;
}

static const char unknown[] = "unknown";

const char *tki_gpu_no_architecture(const tki_gpu_info *info)
{
    return strcmp(info->architecture, unknown) != 0
               ? NULL
               : "the driver does not report its architecture, so nothing can be compiled for it; install a ROCm "
                 "that knows the device, or set TOKITAI_HIP_LIBRARY to the path of that one's libamdhip64.so";
}

static void describe(const tki_driver *driver, int device, tki_gpu_info *info)
{
    /* The 16 bytes are 16 characters, not a number. */
    unsigned char uuid[16];
    if (driver->calls.get_uuid && driver->calls.get_uuid(uuid, device) == 0) {
        int used = snprintf(info->uuid, sizeof info->uuid, "GPU-");
        for (int i = 0; i < 16; i++)
            used += snprintf(info->uuid + used, sizeof info->uuid - (size_t)used, isalnum(uuid[i]) ? "%c" : "%02x",
                             uuid[i]);
    }
    if (!read_architecture(driver, device, info->architecture, sizeof info->architecture))
        snprintf(info->architecture, sizeof info->architecture, "%s", unknown);
    snprintf(info->driver, sizeof info->driver, "HIP %d.%d.%d", driver->version / 10000000,
             driver->version / 100000 % 100, driver->version % 100000);
}

/* HIP has no contexts worth the name: a thread has a current device, and that is all. enter() wants the ordinal as a pointer. */
static int open_device(const tki_driver *driver, int device, int ordinal, void **context, const char **call)
{
    (void)device;
    int before = 0;
    *context = (void *)(intptr_t)ordinal;
    *call = driver->vendor->names.device_get;
    int code = driver->calls.device_get(&before);
    if (code != 0)
        return code;
    *call = driver->vendor->names.device_set;
    code = driver->calls.device_set(ordinal);
    if (code == 0 && before != ordinal)
        code = driver->calls.device_set(before);
    return code;
}

static void close_device(const tki_driver *driver, int device)
{
    (void)driver;
    (void)device;
}

static int enter(const tki_driver *driver, void *context, void **previous)
{
    int current = 0;
    int code = driver->calls.device_get(&current);
    *previous = (void *)(intptr_t)current;
    return code == 0 && *previous != context ? driver->calls.device_set((int)(intptr_t)context) : code;
}

static void leave(const tki_driver *driver, void *context, void *previous)
{
    if (previous != context)
        driver->calls.device_set((int)(intptr_t)previous);
}

const tki_vendor tki_vendor_hip = {
    .backend = &tki_backends[TKI_HIP],
    .variable = "TOKITAI_HIP_LIBRARY",
    .libraries = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
                  "/opt/rocm/lib/libamdhip64.so", NULL},
    .remedy = "install ROCm's HIP run-time, or set TOKITAI_HIP_LIBRARY to the path of its libamdhip64.so",
    .nodes = {"/dev/kfd", NULL},
    .names =
        {
#define CALL(result, name, arguments, cuda, hip) .name = hip,
#include "drivers/driver_calls.def"
#undef CALL
        },
    .synchronize = "hipDeviceSynchronize",
    .oldest_version = 50200000,
    .version_major = 10000000,
    .version_minor = 100000,
    .attributes = {.units = 63, .warp = 87, .shared_bytes = 74, .l2_bytes = 19, .major = 23, .minor = 61},
    TKI_VENDOR_FUNCTIONS,
};
