/* What this machine can run on: the processor, then each GPU of each driver, or the reason why a driver gives none.
 * Drivers are loaded at run time. One whose initialisation succeeded stays mapped, because drivers leave threads and
 * exit handlers behind; any other is unloaded again. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h> /* HWCAP_... too */
#endif

#include "backend/cpu.h"
#include "tokitai.h"

/* ------------------------------------------------------------------------------------------------------------
 * The processor
 * ------------------------------------------------------------------------------------------------------------ */

static void add_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
}

typedef struct feature {
    const char *name;
    bool present;
} feature;

#if defined(__x86_64__) || defined(__i386__)
static void list_features(char *text, size_t size)
{
    __builtin_cpu_init();
    const feature features[] = {
        {"sse2", __builtin_cpu_supports("sse2")},
        {"sse4.2", __builtin_cpu_supports("sse4.2")},
        {"avx", __builtin_cpu_supports("avx")},
        {"avx2", __builtin_cpu_supports("avx2")},
        {"fma", __builtin_cpu_supports("fma")},
        {"f16c", tki_cpu_has_f16c()},
        {"avx512f", __builtin_cpu_supports("avx512f")},
        {"avx512bw", __builtin_cpu_supports("avx512bw")},
        {"avx512dq", __builtin_cpu_supports("avx512dq")},
        {"avx512vl", __builtin_cpu_supports("avx512vl")},
        {"avx512ifma", __builtin_cpu_supports("avx512ifma")},
        {"avx512vbmi", __builtin_cpu_supports("avx512vbmi")},
        {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
        {"avx512bf16", __builtin_cpu_supports("avx512bf16")},
    };
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (features[i].present)
            add_word(text, size, features[i].name);
}
#elif defined(__aarch64__)
static void list_features(char *text, size_t size)
{
    unsigned long first = getauxval(AT_HWCAP);
    unsigned long second = getauxval(AT_HWCAP2);
    const feature features[] = {
        {"asimd", (first & HWCAP_ASIMD) != 0},       {"fphp", (first & HWCAP_FPHP) != 0},
        {"asimdhp", (first & HWCAP_ASIMDHP) != 0},   {"asimddp", (first & HWCAP_ASIMDDP) != 0},
        {"asimdfhm", (first & HWCAP_ASIMDFHM) != 0}, {"sve", (first & HWCAP_SVE) != 0},
        {"sve2", (second & HWCAP2_SVE2) != 0},       {"i8mm", (second & HWCAP2_I8MM) != 0},
        {"bf16", (second & HWCAP2_BF16) != 0},
    };
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (features[i].present)
            add_word(text, size, features[i].name);
}
#else
static void list_features(char *text, size_t size)
{
    (void)text;
    (void)size;
}
#endif

/* The first line of /proc/cpuinfo that names the model; some architectures have none. */
static bool read_model(char *name, size_t size)
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "cpu", "uarch"};
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        size_t length = (size_t)(colon - line);
        while (length > 0 && (line[length - 1] == '\t' || line[length - 1] == ' '))
            length--;
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            found |= length == strlen(keys[k]) && !strncmp(line, keys[k], length);
        if (found) {
            const char *value = colon + 1 + strspn(colon + 1, " \t");
            snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
        }
    }
    fclose(file);
    return found && name[0];
}

#if defined(__aarch64__)
typedef struct arm_core {
    unsigned implementer, part; /* of MIDR_EL1 */
    const char *name;
} arm_core;

/* Which core this is. /proc/cpuinfo has it as bare numbers, and under QEMU older than 8.1 it is the host's. Where cores differ,
 * it is the one that this thread happens to run on. */
static bool name_core(char *name, size_t size)
{
    static const arm_core cores[] = {
        {0x00, 0x051, "QEMU"},
        {0x41, 0xd03, "Arm Cortex-A53"},
        {0x41, 0xd04, "Arm Cortex-A35"},
        {0x41, 0xd05, "Arm Cortex-A55"},
        {0x41, 0xd07, "Arm Cortex-A57"},
        {0x41, 0xd08, "Arm Cortex-A72"},
        {0x41, 0xd09, "Arm Cortex-A73"},
        {0x41, 0xd0a, "Arm Cortex-A75"},
        {0x41, 0xd0b, "Arm Cortex-A76"},
        {0x41, 0xd0c, "Arm Neoverse N1"},
        {0x41, 0xd0d, "Arm Cortex-A77"},
        {0x41, 0xd40, "Arm Neoverse V1"},
        {0x41, 0xd41, "Arm Cortex-A78"},
        {0x41, 0xd44, "Arm Cortex-X1"},
        {0x41, 0xd46, "Arm Cortex-A510"},
        {0x41, 0xd47, "Arm Cortex-A710"},
        {0x41, 0xd48, "Arm Cortex-X2"},
        {0x41, 0xd49, "Arm Neoverse N2"},
        {0x41, 0xd4f, "Arm Neoverse V2"},
        {0x46, 0x001, "Fujitsu A64FX"},
        {0x48, 0xd01, "HiSilicon TSV110"},
        {0x61, 0x022, "Apple M1 Icestorm"},
        {0x61, 0x023, "Apple M1 Firestorm"},
        {0xc0, 0xac3, "Ampere-1"},
    };
    if (!(getauxval(AT_HWCAP) & HWCAP_CPUID)) /* the kernel does not hand the register out */
        return false;
    uint64_t id;
    __asm__("mrs %0, MIDR_EL1" : "=r"(id));
    unsigned implementer = (unsigned)(id >> 24) & 0xff;
    unsigned part = (unsigned)(id >> 4) & 0xfff;
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (cores[i].implementer == implementer && cores[i].part == part) {
            snprintf(name, size, "%s", cores[i].name);
            return true;
        }
    snprintf(name, size, "AArch64, implementer 0x%02x, part 0x%03x", implementer, part);
    return true;
}
#else
static bool name_core(char *name, size_t size)
{
    (void)name;
    (void)size;
    return false;
}
#endif

static void describe_cpu(tk_device *device)
{
    device->backend = "cpu";
    device->usable = true;
    if (!name_core(device->name, sizeof device->name) && !read_model(device->name, sizeof device->name)) {
        struct utsname machine;
        snprintf(device->name, sizeof device->name, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
    }
    list_features(device->detail, sizeof device->detail);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    device->units = cores > 0 ? (int)cores : 0;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0 && __builtin_mul_overflow((int64_t)pages, page_bytes, &device->memory_bytes))
        device->memory_bytes = 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * GPUs. The CUDA driver and the HIP run-time have calls of the same shape.
 * ------------------------------------------------------------------------------------------------------------ */

enum { MAX_LIBRARIES = 5 };

typedef struct driver {
    const char *backend;
    const char *libraries[MAX_LIBRARIES]; /* tried in this order; ends with NULL */
    const char *init, *version, *count, *device, *name, *memory, *attribute, *error_name;
    bool error_name_is_result;  /* else it is written through a second argument */
    int major_unit, minor_unit; /* a version is major * major_unit + minor * minor_unit + ... */
    int units_attribute, major_attribute, minor_attribute;
} driver;

static const driver drivers[] = {
    {
        .backend = "cuda",
        .libraries = {"libcuda.so.1", NULL},
        .init = "cuInit",
        .version = "cuDriverGetVersion",
        .count = "cuDeviceGetCount",
        .device = "cuDeviceGet",
        .name = "cuDeviceGetName",
        .memory = "cuDeviceTotalMem_v2",
        .attribute = "cuDeviceGetAttribute",
        .error_name = "cuGetErrorName",
        .major_unit = 1000,
        .minor_unit = 10,
        .units_attribute = 16,
        .major_attribute = 75,
        .minor_attribute = 76,
    },
    {
        .backend = "hip",
        .libraries = {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5", "libamdhip64.so", NULL},
        .init = "hipInit",
        .version = "hipDriverGetVersion",
        .count = "hipGetDeviceCount",
        .device = "hipDeviceGet",
        .name = "hipDeviceGetName",
        .memory = "hipDeviceTotalMem",
        .attribute = "hipDeviceGetAttribute",
        .error_name = "hipGetErrorName",
        .error_name_is_result = true,
        .major_unit = 10000000,
        .minor_unit = 100000,
        .units_attribute = 63,
        .major_attribute = 23,
        .minor_attribute = 61,
    },
};

enum { DRIVERS = sizeof drivers / sizeof *drivers, NO_DEVICE = 100 /* the same number in both */ };

typedef struct driver_calls {
    void *library;
    const char *library_name;
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *count);
    int (*device)(int *device, int ordinal);
    int (*name)(char *name, int size, int device);
    int (*memory)(size_t *bytes, int device);
    int (*attribute)(int *value, int attribute, int device);
    void *error_name; /* may be missing */
} driver_calls;

/* Opens the first library that is there. A library that is there but lacks one it needs is worth more words than
 * those that are not there at all. */
static bool open_library(const driver *d, driver_calls *calls, char *why, size_t size)
{
    for (int i = 0; d->libraries[i]; i++) {
        calls->library_name = d->libraries[i];
        calls->library = dlopen(d->libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (calls->library)
            return true;
        const char *error = dlerror();
        if (!error)
            error = "cannot be loaded";
        if (i == 0 || strncmp(error, d->libraries[i], strlen(d->libraries[i])) != 0)
            snprintf(why, size, "%s", error);
    }
    return false;
}

static bool find_calls(const driver *d, driver_calls *calls, char *why, size_t size)
{
    const struct {
        const char *name;
        void *call; /* where the pointer goes */
    } wanted[] = {
        {d->init, &calls->init},           {d->version, &calls->version}, {d->count, &calls->count},
        {d->device, &calls->device},       {d->name, &calls->name},       {d->memory, &calls->memory},
        {d->attribute, &calls->attribute},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(calls->library, wanted[i].name);
        if (!symbol) {
            snprintf(why, size, "%s has no function %s", calls->library_name, wanted[i].name);
            return false;
        }
        memcpy(wanted[i].call, &symbol, sizeof symbol);
    }
    calls->error_name = dlsym(calls->library, d->error_name);
    return true;
}

static const char *error_name(const driver *d, const driver_calls *calls, int code)
{
    const char *name = NULL;
    if (calls->error_name && d->error_name_is_result) {
        const char *(*get)(int code);
        memcpy(&get, &calls->error_name, sizeof get);
        name = get(code);
    } else if (calls->error_name) {
        int (*get)(int code, const char **name);
        memcpy(&get, &calls->error_name, sizeof get);
        if (get(code, &name) != 0)
            name = NULL;
    }
    return name ? name : "no name for it";
}

static void explain_failure(const driver *d, const driver_calls *calls, const char *call, int code, char *why,
                            size_t size)
{
    snprintf(why, size, "%s: %s failed with error %d (%s)%s", calls->library_name, call, code,
             error_name(d, calls, code), code == NO_DEVICE ? ": no device found" : "");
}

/* Initialises the driver and counts its devices; false, and why, when there is none to count. */
static bool start_driver(const driver *d, const driver_calls *calls, int *count, char *why, size_t size)
{
    int code = calls->init(0);
    if (code != 0) {
        explain_failure(d, calls, d->init, code, why, size);
        return false;
    }
    /* From here on the library must stay where it is. */
    void *pinned = dlopen(calls->library_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
    if (pinned)
        dlclose(pinned);
    code = calls->count(count);
    if (code != 0) {
        explain_failure(d, calls, d->count, code, why, size);
        return false;
    }
    if (*count < 1) {
        snprintf(why, size, "%s: no device found", calls->library_name);
        return false;
    }
    return true;
}

static void describe_gpu(const driver *d, const driver_calls *calls, int ordinal, tk_device *device)
{
    int handle;
    int code = calls->device(&handle, ordinal);
    if (code != 0) {
        explain_failure(d, calls, d->device, code, device->detail, sizeof device->detail);
        return;
    }
    if (calls->name(device->name, (int)sizeof device->name, handle) != 0)
        device->name[0] = '\0';
    device->name[sizeof device->name - 1] = '\0';
    size_t bytes;
    if (calls->memory(&bytes, handle) == 0 && bytes <= INT64_MAX)
        device->memory_bytes = (int64_t)bytes;
    int units;
    if (calls->attribute(&units, d->units_attribute, handle) == 0 && units > 0)
        device->units = units;

    char driver_version[32] = "unknown";
    char architecture[32] = "unknown";
    int version, major, minor;
    if (calls->version(&version) == 0)
        snprintf(driver_version, sizeof driver_version, "%d.%d", version / d->major_unit,
                 version / d->minor_unit % 100);
    if (calls->attribute(&major, d->major_attribute, handle) == 0 &&
        calls->attribute(&minor, d->minor_attribute, handle) == 0)
        snprintf(architecture, sizeof architecture, "%d.%d", major, minor);
    snprintf(device->detail, sizeof device->detail, "driver %s, architecture %s; no kernels for this backend yet",
             driver_version, architecture);
}

/* Describes device `ordinal` of a driver, or, as its device 0, why there is none. Returns how many rows it has. */
static int describe_driver(const driver *d, int ordinal, tk_device *device)
{
    tk_device found = {.backend = d->backend};
    driver_calls calls = {0};
    int count = 0;
    if (open_library(d, &calls, found.detail, sizeof found.detail)) {
        if (find_calls(d, &calls, found.detail, sizeof found.detail) &&
            start_driver(d, &calls, &count, found.detail, sizeof found.detail) && ordinal < count)
            describe_gpu(d, &calls, ordinal, &found);
        dlclose(calls.library);
    }
    int rows = count > 0 ? count : 1;
    if (ordinal < rows)
        *device = found;
    return rows;
}

bool tk_device_at(int i, tk_device *device)
{
    if (i < 0 || !device)
        return false;
    *device = (tk_device){.backend = "cpu"};
    if (i == 0) {
        describe_cpu(device);
        return true;
    }
    i--;
    for (int d = 0; d < DRIVERS; d++) {
        int rows = describe_driver(&drivers[d], i, device);
        if (i < rows)
            return true;
        i -= rows;
    }
    return false;
}
