/* CHOOSES. The table of backends. */
#include "drivers/backend.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/driver.h"

static const tki_language cpu_languages[] = {
    {&tki_backends[TKI_CPU], ".c", "cc", "-O2", "-fPIC -shared", "-lm", ".i"},
    {&tki_backends[TKI_CPU], ".cpp", "c++", "-O2", "-fPIC -shared", "-lm", ".ii"},
    {&tki_backends[TKI_CPU], ".cc", "c++", "-O2", "-fPIC -shared", "-lm", ".ii"},
    {&tki_backends[TKI_CPU], ".so", NULL, NULL, NULL, NULL, NULL},
    {0},
};

static const tki_language cuda_languages[] = {
    {&tki_backends[TKI_CUDA], ".cu", "nvcc", "-O2 -lineinfo", "-Xcompiler -fPIC -shared", "", NULL},
    {0},
};

static const tki_language hip_languages[] = {
    {&tki_backends[TKI_HIP], ".hip", "hipcc", "-O2", "-fPIC -shared", "", NULL},
    {0},
};

static const char *const nvcc_architecture_options[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                                        "-code", "--gpu-code",         NULL};

/* No flag here may define a macro, name a header or leave a symbol where the source could see it: the build would differ
 * by what the source reads, and not only by what is inserted into it. */
#define CALLBACKS "-fsanitize-coverage=trace-pc,trace-cmp"
/* Its own symbols are nobody's but its. */
#define GCOV_HIDDEN                                                                                        \
    "-Wl,--exclude-libs,libgcov.a:libclang_rt.profile.a:libclang_rt.profile-x86_64.a:libclang_rt.profile-" \
    "aarch64.a"
#define COUNTERS " --coverage -Wl,-u,__gcov_dump " GCOV_HIDDEN
/* Before it inserts counters, GCC at -O1 turns a branch into a select, or a line into an argument of what follows. */
#define GCC_LINES " -Og -fno-tree-ccp -fno-tree-forwprop -fno-tree-fre"
/* Only host code. nvcc takes a comma for the end of an option, and no second -O; without --keep it removes what gcov
 * needs. */
#define NVCC_CALLBACKS "--keep -Xcompiler -fsanitize-coverage=trace-pc -Xcompiler -fsanitize-coverage=trace-cmp"
#define NVCC_COUNTERS \
    " -Xcompiler --coverage -Xlinker -u -Xlinker __gcov_dump -Xlinker --exclude-libs -Xlinker libgcov.a"

const tki_backend tki_backends[TKI_BACKENDS] = {
    [TKI_CPU] =
        {
            .name = "cpu",
            .title = "the CPU",
            .languages = cpu_languages,
            .callbacks = CALLBACKS,
            .lighter = " -O1",
            .counters = COUNTERS,
            .gcc_lines = GCC_LINES,
        },
    [TKI_CUDA] =
        {
            .name = "cuda",
            .title = "CUDA",
            .maker = "NVIDIA",
            .vendor = &tki_vendor_cuda,
            .is_gpu = true,
            .languages = cuda_languages,
            .architecture_options = nvcc_architecture_options,
            .has_sanitizer = true,
            .callbacks = NVCC_CALLBACKS,
            .lighter = "",
            .counters = NVCC_COUNTERS,
            .host_compiler = "gcc",
        },
    [TKI_HIP] =
        {
            .name = "hip",
            .title = "HIP",
            .maker = "AMD",
            .vendor = &tki_vendor_hip,
            .is_gpu = true,
            .languages = hip_languages,
            .header = "hip/hip_runtime.h",
            .no_coverage = "hipcc is not known to instrument host code alone",
        },
};

const tki_backend *tki_backend_find(const char *text, const char *end)
{
    size_t length = text ? strcspn(text, end) : 0;
    for (int i = 0; i < TKI_BACKENDS && text; i++)
        if (strlen(tki_backends[i].name) == length && !memcmp(tki_backends[i].name, text, length))
            return &tki_backends[i];
    return NULL;
}

bool tki_has_matrix_units(const char *architecture)
{
    static const char *const amd[] = {"gfx90a", "gfx942", "gfx1100", "gfx1101"};
    if (!strncmp(architecture, "sm_", 3))
        return strtol(architecture + 3, NULL, 10) >= 80;
    const size_t length = strcspn(architecture, ":"); /* features follow */
    for (size_t i = 0; i < sizeof amd / sizeof *amd; i++)
        if (strlen(amd[i]) == length && !strncmp(architecture, amd[i], length))
            return true;
    return false;
}
