/* CHOOSES. Loading a driver, finding its calls, and saying in words what went wrong. A driver whose initialisation succeeded stays mapped,
 * because drivers leave threads and exit handlers behind; any other is unloaded again. */
#include "drivers/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------
 * Errors. The two vendors number them alike.
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct meaning {
    int first, last; /* codes */
    tk_status status;
    const char *text;
} meaning;

#define DEVICE_LOST "the device's context is lost; restart the program"

static const meaning meanings[] = {
    {2, 2, TK_NO_MEMORY, "the device has too little free memory"},
    {34, 34, TK_UNAVAILABLE, "this is a stub library for linking, not the driver; check LD_LIBRARY_PATH"},
    {35, 36, TK_UNAVAILABLE, "the driver is too old"},
    {46, 46, TK_UNAVAILABLE, "another process uses the device exclusively"},
    {100, 100, TK_UNAVAILABLE, "no device found"},
    {101, 102, TK_UNAVAILABLE, NULL},
    {209, 209, TK_UNAVAILABLE, "the kernel was compiled for another architecture"},
    {214, 214, TK_INTERNAL, "the device's memory is damaged; " DEVICE_LOST},
    {220, 220, TK_INTERNAL, DEVICE_LOST},
    {222, 222, TK_UNAVAILABLE,
     "the driver is older than the compiler that made the kernel; update the driver, or set TOKITAI_CUDA_COMPILER to "
     "the "
     "path of an NVRTC or nvcc that is not newer"},
    {226, 226, TK_INTERNAL, DEVICE_LOST},
    {304, 304, TK_UNAVAILABLE, "the operating system refused; perhaps no permission to use the device"},
    {700, 700, TK_INTERNAL, "a kernel accessed memory out of bounds; " DEVICE_LOST},
    {701, 701, TK_INTERNAL, "the kernel needs more registers or shared memory than the device has"},
    {702, 702, TK_INTERNAL, "the kernel ran too long; " DEVICE_LOST},
    {709, 709, TK_INTERNAL, DEVICE_LOST},
    {710, 710, TK_INTERNAL, DEVICE_LOST},
    {714, 719, TK_INTERNAL, "a kernel failed while it ran; " DEVICE_LOST},
    {721, 721, TK_INTERNAL, DEVICE_LOST},
    {800, 800, TK_UNAVAILABLE, "no permission"},
    {801, 801, TK_UNAVAILABLE, "not supported by this device or driver"},
    {802, 802, TK_UNAVAILABLE, "the machine's GPU services are not running yet"},
    {803, 803, TK_UNAVAILABLE, "the driver library and the kernel module have different versions"},
    {804, 804, TK_UNAVAILABLE, "the driver library is too new for this device's kernel module"},
    {805, 810, TK_UNAVAILABLE, "the service that shares the device among processes (MPS) does not respond"},
    {900, 908, TK_UNAVAILABLE, "not allowed while a stream is being captured into a graph"},
};

tk_status tki_driver_explain(const tki_driver *driver, const char *call, int code, char *text, size_t size)
{
    const meaning *known = NULL;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (code >= meanings[i].first && code <= meanings[i].last)
            known = &meanings[i];
    const char *name = driver->vendor->error_name(driver, code);
    const char *words = driver->vendor->error_text(driver, code);
    snprintf(text, size, "%s failed: %s (%d%s%s)%s%s", call + (*call == '?'), name ? name : "unnamed error", code,
             words ? ", " : "", words ? words : "", known && known->text ? ": " : "",
             known && known->text ? known->text : "");
    return known ? known->status : TK_INTERNAL;
}

void tki_driver_check_nodes(const char *const nodes[], char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; nodes[i]; i++) {
        if (access(nodes[i], R_OK | W_OK) == 0)
            continue;
        if (errno == ENOENT)
            snprintf(text, size,
                     "%s does not exist: its kernel module is not loaded, or this container was started without it",
                     nodes[i]);
        else if (errno == EACCES || errno == EPERM)
            snprintf(text, size, "no permission to open %s", nodes[i]);
        else
            snprintf(text, size, "%s: %s", nodes[i], strerror(errno));
        return;
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Loading
 * ------------------------------------------------------------------------------------------------------------ */

/* Opens the first library that is there; one that the program has loaded already goes first. A library that is there but lacks
 * another that it needs is worth more words than those that are not there at all. */
static bool open_library(tki_driver *driver, char *why, size_t size)
{
    const char *given = secure_getenv(driver->vendor->variable);
    const char *const only[] = {given, NULL};
    const char *const *names = given && *given ? only : driver->vendor->libraries;
    const char *name = NULL;
    for (int i = 0; names[i] && !driver->library; i++)
        driver->library = dlopen(name = names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (int i = 0; names[i] && !driver->library; i++) {
        driver->library = dlopen(name = names[i], RTLD_NOW | RTLD_LOCAL);
        const char *error = driver->library ? NULL : dlerror();
        if (error && (i == 0 || strncmp(error, name, strlen(name)) != 0))
            snprintf(why, size, "%s", error);
    }
    snprintf(driver->library_name, sizeof driver->library_name, "%s", name);
    size_t used = driver->library ? 0 : strlen(why);
    if (!driver->library && names == only)
        snprintf(why + used, size - used, "; %s is set to it: correct or unset that", driver->vendor->variable);
    else if (!driver->library)
        snprintf(why + used, size - used, "; %s", driver->vendor->remedy);
    return driver->library != NULL;
}

static bool find_call(const tki_driver *driver, const char *name, void **symbol, char *why, size_t size)
{
    bool optional = name[0] == '?';
    *symbol = dlsym(driver->library, name + optional);
    if (*symbol || optional)
        return true;
    snprintf(why, size, "%s has no function %s: the driver is too old", driver->library_name, name);
    return false;
}

static bool find_calls(tki_driver *driver, char *why, size_t size)
{
    enum { CALLS = sizeof(tki_driver_names) / sizeof(const char *) };
    const char *names[CALLS];
    void *symbols[CALLS] = {0};
    memcpy(names, &driver->vendor->names, sizeof names);
    for (int i = 0; i < CALLS; i++)
        if (names[i] && !find_call(driver, names[i], &symbols[i], why, size))
            return false;
    memcpy(&driver->calls, symbols, sizeof symbols);
    return true;
}

/* Asked before all calls are looked up, so that an old driver is called old. */
static bool is_recent(tki_driver *driver, char *why, size_t size)
{
    const tki_vendor *vendor = driver->vendor;
    void *symbol;
    if (!find_call(driver, vendor->names.get_version, &symbol, why, size))
        return false;
    memcpy(&driver->calls.get_version, &symbol, sizeof symbol);
    if (driver->calls.get_version(&driver->version) != 0 || driver->version >= vendor->oldest_version)
        return true;
    int have = driver->version, need = vendor->oldest_version;
    snprintf(why, size, "%s: the driver is too old: it has version %d.%d, %d.%d is needed", driver->library_name,
             have / vendor->version_major, have / vendor->version_minor % 100, need / vendor->version_major,
             need / vendor->version_minor % 100);
    return false;
}

static void explain_start(const tki_driver *driver, const char *call, int code, char *why, size_t size)
{
    char node[256];
    int used = snprintf(why, size, "%s: ", driver->library_name);
    if (used < 0 || (size_t)used >= size)
        return;
    tki_driver_explain(driver, call, code, why + used, size - (size_t)used);
    tki_driver_check_nodes(driver->vendor->nodes, node, sizeof node);
    used = (int)strlen(why);
    if (node[0])
        snprintf(why + used, size - (size_t)used, "; %s", node);
}

static bool start(tki_driver *driver, char *why, size_t size)
{
    const tki_vendor *vendor = driver->vendor;
    int code = driver->calls.init(0);
    if (code != 0) {
        explain_start(driver, vendor->names.init, code, why, size);
        return false;
    }
    /* From here on the library must stay where it is. */
    void *pinned = dlopen(driver->library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
    if (pinned)
        dlclose(pinned);
    code = driver->calls.get_count(&driver->device_count);
    if (code != 0) {
        explain_start(driver, vendor->names.get_count, code, why, size);
        return false;
    }
    if (driver->device_count < 1)
        snprintf(why, size, "%s: no device found", driver->library_name);
    return driver->device_count >= 1;
}

bool tki_driver_open(const tki_vendor *vendor, tki_driver *driver, char *reason, size_t reason_size)
{
    *driver = (tki_driver){.vendor = vendor};
    if (!open_library(driver, reason, reason_size))
        return false;
    reason[0] = '\0'; /* of a library that was tried before this one */
    if (is_recent(driver, reason, reason_size) && find_calls(driver, reason, reason_size) &&
        start(driver, reason, reason_size))
        return true;
    tki_driver_close(driver);
    return false;
}

void tki_driver_close(tki_driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 * Describing a device
 * ------------------------------------------------------------------------------------------------------------ */

static int attribute(const tki_driver *driver, int which, int device)
{
    int value;
    return driver->calls.get_attribute(&value, which, device) == 0 && value > 0 ? value : 0;
}

bool tki_driver_describe(const tki_driver *driver, int ordinal, tki_gpu_info *info, char *reason, size_t reason_size)
{
    const tki_vendor *vendor = driver->vendor;
    int device;
    int code = driver->calls.get_device(&device, ordinal);
    if (code != 0) {
        explain_start(driver, vendor->names.get_device, code, reason, reason_size);
        return false;
    }
    *info = (tki_gpu_info){
        .backend = vendor->backend,
        .ordinal = ordinal,
        .major = attribute(driver, vendor->attributes.major, device),
        .minor = attribute(driver, vendor->attributes.minor, device),
        .units = attribute(driver, vendor->attributes.units, device),
        .warp = attribute(driver, vendor->attributes.warp, device),
        .shared_bytes = attribute(driver, vendor->attributes.shared_bytes, device),
        .l2_bytes = attribute(driver, vendor->attributes.l2_bytes, device),
    };
    if (driver->calls.get_name(info->name, (int)sizeof info->name, device) != 0 || !info->name[0])
        snprintf(info->name, sizeof info->name, "%s device %d", vendor->backend->name, ordinal);
    info->name[sizeof info->name - 1] = '\0';
    size_t bytes;
    if (driver->calls.get_memory(&bytes, device) == 0 && bytes <= INT64_MAX)
        info->memory_bytes = (int64_t)bytes;
    vendor->describe(driver, device, info);
    return true;
}

bool tki_gpu_at(const tki_backend *backend, int i, tki_gpu_info *info, char *reason, size_t reason_size)
{
    tki_driver driver;
    if (!backend->vendor || i < 0)
        return false;
    *info = (tki_gpu_info){.backend = backend, .ordinal = i};
    reason[0] = '\0';
    if (!tki_driver_open(backend->vendor, &driver, reason, reason_size))
        return i == 0;
    bool found = i < driver.device_count;
    if (found && !tki_driver_describe(&driver, i, info, reason, reason_size))
        info->name[0] = '\0';
    tki_driver_close(&driver);
    return found;
}
