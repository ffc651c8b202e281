/* A run-time compiler that takes any source and gives back an image that the fake driver takes. Compiled once as NVRTC and once as
 * HIPRTC. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FAKE_HIP
#define API(cuda, hip) hip
#else
#define API(cuda, hip) cuda
#endif

enum { OK = 0, OUT_OF_MEMORY = 1, COMPILATION_FAILED = 6 };

typedef struct program {
    char name[256];
    bool compiled;
} program;

static const char image[64] = "\177ELF, or so it seems";

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the vendors' headers are not needed to build this */

int API(nvrtcVersion, hiprtcVersion)(int *major, int *minor)
{
    *major = FAKE_HIP ? 6 : 12;
    *minor = FAKE_HIP ? 2 : 4;
    return OK;
}

const char *API(nvrtcGetErrorString, hiprtcGetErrorString)(int code)
{
    return code == COMPILATION_FAILED ? "compilation failed" : "a fake error";
}

int API(nvrtcCreateProgram, hiprtcCreateProgram)(program **made, const char *source, const char *name,
                                                 int header_count, const char *const *headers,
                                                 const char *const *header_names)
{
    (void)header_count, (void)headers, (void)header_names;
    *made = source ? calloc(1, sizeof **made) : NULL;
    if (!*made)
        return OUT_OF_MEMORY;
    snprintf((*made)->name, sizeof(*made)->name, "%s", name);
    return OK;
}

int API(nvrtcCompileProgram, hiprtcCompileProgram)(program *p, int option_count, const char *const *options)
{
    const char *told = getenv("FAKE_GPU_COMPILE");
    (void)option_count, (void)options;
    p->compiled = !told || strcmp(told, "error") != 0;
    return p->compiled ? OK : COMPILATION_FAILED;
}

static int write_log(const program *p, char *text, size_t *size)
{
    char log[512] = "";
    if (!p->compiled)
        snprintf(log, sizeof log, "%s(1): error: the fake compiler was told to find an error\n", p->name);
    if (size)
        *size = strlen(log) + 1;
    if (text)
        memcpy(text, log, strlen(log) + 1);
    return OK;
}

int API(nvrtcGetProgramLogSize, hiprtcGetProgramLogSize)(const program *p, size_t *size)
{
    return write_log(p, NULL, size);
}

int API(nvrtcGetProgramLog, hiprtcGetProgramLog)(const program *p, char *log)
{
    return write_log(p, log, NULL);
}

int API(nvrtcGetCUBINSize, hiprtcGetCodeSize)(const program *p, size_t *size)
{
    *size = sizeof image;
    return p->compiled ? OK : COMPILATION_FAILED;
}

int API(nvrtcGetCUBIN, hiprtcGetCode)(const program *p, char *code)
{
    memcpy(code, image, sizeof image);
    return p->compiled ? OK : COMPILATION_FAILED;
}

#if !FAKE_HIP
int nvrtcGetPTXSize(const program *p, size_t *size)
{
    return nvrtcGetCUBINSize(p, size);
}

int nvrtcGetPTX(const program *p, char *ptx)
{
    return nvrtcGetCUBIN(p, ptx);
}
#endif

int API(nvrtcDestroyProgram, hiprtcDestroyProgram)(program **p)
{
    free(*p);
    *p = NULL;
    return OK;
}
