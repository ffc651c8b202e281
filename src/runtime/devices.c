/* RECORDS. What this machine can run on: the processor, then each GPU of each driver, or the reason why a driver gives none. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h> /* HWCAP_... too */
#endif

#include "compile/compiled_kernel.h"
#include "drivers/backend.h"
#include "drivers/cpu.h"
#include "runtime/gpu.h"

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
    device->backend = tki_backends[TKI_CPU].name;
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
 * GPUs
 * ------------------------------------------------------------------------------------------------------------ */

static bool has_kernels(const tki_backend *backend)
{
    tk_lowering_info lowering;
    for (int i = 0; tk_contract_at(i); i++)
        for (int l = 0; tk_lowering_at(tk_contract_at(i), l, &lowering); l++)
            if (!strcmp(lowering.backend, backend->name))
                return true;
    return false;
}

/* What compiles for it, be there a device or not. */
static bool describe_compiler(const tki_backend *backend, tk_device *device)
{
    enum { PREFIX = sizeof "none: " - 1 };
    _Static_assert(sizeof device->compiler >= PREFIX + TKI_COMPILERS_TEXT, "nothing is cut");
    memcpy(device->compiler, "none: ", PREFIX);
    const char *architecture = device->architecture[0] ? device->architecture : NULL;
    char *text = device->compiler + PREFIX;
    bool found = tki_compilers_describe(backend, architecture, text, sizeof device->compiler - PREFIX);
    if (found)
        memmove(device->compiler, text, strlen(text) + 1);
    return found;
}

static void describe_gpu(const tki_gpu_info *info, tk_device *device)
{
    snprintf(device->name, sizeof device->name, "%s", info->name);
    snprintf(device->uuid, sizeof device->uuid, "%s", info->uuid);
    snprintf(device->architecture, sizeof device->architecture, "%s", info->architecture);
    snprintf(device->driver, sizeof device->driver, "%s", info->driver);
    device->units = info->units;
    device->memory_bytes = info->memory_bytes;
    bool compiles = describe_compiler(info->backend, device);
    const char *no_architecture = tki_gpu_no_architecture(info);
    device->usable = compiles && has_kernels(info->backend);
    if (!device->usable)
        snprintf(device->detail, sizeof device->detail, "%s",
                 no_architecture ? no_architecture
                 : compiles      ? "this version has no kernels for this backend"
                                 : "no compiler for its kernels");
}

bool tk_backend_at(int i, tk_backend_info *info)
{
    if (i < 0 || i >= TKI_BACKENDS || !info)
        return false;
    const tki_backend *found = &tki_backends[i];
    *info = (tk_backend_info){found->name, found->is_gpu, found->languages[0].ending, found->header};
    return true;
}

int tk_backend_find(const char *text, const char *end)
{
    const tki_backend *found = tki_backend_find(text, end);
    return found ? (int)(found - tki_backends) : -1;
}

bool tk_device_at(int i, tk_device *device)
{
    if (i < 0 || !device)
        return false;
    if (i == 0) {
        *device = (tk_device){0};
        describe_cpu(device);
        return true;
    }
    for (const tki_backend *backend = tki_backends; backend < tki_backends + TKI_BACKENDS; backend++) {
        tki_gpu_info info;
        *device = (tk_device){.backend = backend->name};
        for (int ordinal = 0; tki_gpu_at(backend, ordinal, &info, device->detail, sizeof device->detail); ordinal++)
            if (--i == 0) {
                if (info.name[0])
                    describe_gpu(&info, device);
                else
                    (void)describe_compiler(backend, device);
                return true;
            }
    }
    return false;
}
