/* The table of backends. */
#include "backend/backend.h"

#include <string.h>

static const tki_language cpu_languages[] = {
    {&tki_backends[TKI_CPU], ".c", "cc", "-O2", "-fPIC -shared", "-lm"},
    {&tki_backends[TKI_CPU], ".cpp", "c++", "-O2", "-fPIC -shared", "-lm"},
    {&tki_backends[TKI_CPU], ".cc", "c++", "-O2", "-fPIC -shared", "-lm"},
    {&tki_backends[TKI_CPU], ".so", NULL, NULL, NULL, NULL},
    {0},
};

static const tki_language cuda_languages[] = {
    {&tki_backends[TKI_CUDA], ".cu", "nvcc", "-O2 -lineinfo", "-Xcompiler -fPIC -shared", ""},
    {0},
};

static const tki_language hip_languages[] = {
    {&tki_backends[TKI_HIP], ".hip", "hipcc", "-O2", "-fPIC -shared", ""},
    {0},
};

const tki_backend tki_backends[TKI_BACKENDS] = {
    [TKI_CPU] =
        {
            .name = "cpu",
            .languages = cpu_languages,
        },
    [TKI_CUDA] =
        {
            .name = "cuda",
            .is_gpu = true,
            .languages = cuda_languages,
        },
    [TKI_HIP] =
        {
            .name = "hip",
            .is_gpu = true,
            .languages = hip_languages,
            .header = "hip/hip_runtime.h",
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
