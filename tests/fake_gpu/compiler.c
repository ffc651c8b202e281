/* A run-time compiler that takes any source and gives back an image that the fake driver takes. Compiled once as NVRTC and once as
 * HIPRTC. FAKE_GPU_COMPILE makes it misbehave: "error" and "internal" fail, "garbage", "nothing" and "huge" give an image that is
 * none, "mute" tells no version, "old" knows nothing later than sm_80, "caching" is NVRTC 12.9 that finds everything in a cache of its
 * own, where no log is kept, "silent" leaves no log at all. It adds a letter to the file FAKE_GPU_COMPILE_COUNT for each compilation, and
 * its log says what it was given. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FAKE_HIP
#define API(cuda, hip) hip
#else
#define API(cuda, hip) cuda
#endif

enum { OK = 0, OUT_OF_MEMORY = 1, COMPILATION_FAILED = 6, INTERNAL_ERROR = 11 };

typedef struct program {
    char log[8192];
    bool compiled;
} program;

static const char image[64] = "\177ELF, or so it seems";

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the vendors' headers are not needed to build this */

static bool told(const char *behaviour)
{
    const char *text = getenv("FAKE_GPU_COMPILE");
    return text && !strcmp(text, behaviour);
}

static void say(program *p, const char *before, const char *text)
{
    size_t used = strlen(p->log);
    snprintf(p->log + used, sizeof p->log - used, "%s%s\n", before, text);
}

int API(nvrtcVersion, hiprtcVersion)(int *major, int *minor)
{
    *major = FAKE_HIP ? 6 : 12;
    *minor = FAKE_HIP ? 2 : told("caching") ? 9 : 4;
    return told("mute") ? INTERNAL_ERROR : OK;
}

const char *API(nvrtcGetErrorString, hiprtcGetErrorString)(int code)
{
    return code == COMPILATION_FAILED ? "compilation failed" : "a fake error";
}

int API(nvrtcCreateProgram, hiprtcCreateProgram)(program **made, const char *source, const char *name,
                                                 int header_count, const char *const *headers,
                                                 const char *const *header_names)
{
    *made = source ? calloc(1, sizeof **made) : NULL;
    if (!*made)
        return OUT_OF_MEMORY;
    say(*made, "source ", name);
    for (int i = 0; i < header_count; i++)
        if (headers[i][0])
            say(*made, "header ", header_names[i]);
    return OK;
}

int API(nvrtcCompileProgram, hiprtcCompileProgram)(program *p, int option_count, const char *const *options)
{
    const char *path = getenv("FAKE_GPU_COMPILE_COUNT");
    FILE *count = path ? fopen(path, "ae") : NULL;
    if (count) {
        fputc('x', count);
        fclose(count);
    }
    bool keeps_log = !told("caching") && !told("silent");
    for (int i = 0; i < option_count; i++) {
        say(p, "option ", options[i]);
        keeps_log = keeps_log || (told("caching") && !strcmp(options[i], "--no-cache"));
    }
    p->compiled = !told("error") && !told("internal");
    if (told("error"))
        say(p, "kernel.cu(1): error: ", "the fake compiler was told to find an error");
    say(p, "ptxas info    : Compiling entry function ",
        told("latin-1") ? "'f\xe4ke' for 'sm_90'" : "'fake' for 'sm_90'");
    say(p, "ptxas info    : Used 40 registers, ", "used 0 barriers, 128 bytes smem");
    if (!keeps_log)
        p->log[0] = 0;
    return told("error") ? COMPILATION_FAILED : p->compiled ? OK : INTERNAL_ERROR;
}

int API(nvrtcGetProgramLogSize, hiprtcGetProgramLogSize)(const program *p, size_t *size)
{
    *size = strlen(p->log) + 1;
    return OK;
}

int API(nvrtcGetProgramLog, hiprtcGetProgramLog)(const program *p, char *log)
{
    memcpy(log, p->log, strlen(p->log) + 1);
    return OK;
}

int API(nvrtcGetCUBINSize, hiprtcGetCodeSize)(const program *p, size_t *size)
{
    *size = told("nothing") ? 0 : told("huge") ? (size_t)-1 : sizeof image;
    return p->compiled ? OK : COMPILATION_FAILED;
}

int API(nvrtcGetCUBIN, hiprtcGetCode)(const program *p, char *code)
{
    memcpy(code, image, sizeof image);
    if (told("garbage"))
        code[0] = 'x';
    return p->compiled ? OK : COMPILATION_FAILED;
}

#if !FAKE_HIP
int nvrtcGetNumSupportedArchs(int *count)
{
    *count = told("old") ? 2 : 3;
    return OK;
}

int nvrtcGetSupportedArchs(int *list)
{
    memcpy(list, told("old") ? (int[]){75, 80} : (int[]){90, 75, 80}, (told("old") ? 2 : 3) * sizeof *list);
    return OK;
}

static const char ptx[] = "// fake\n.version 8.8\n.target sm_90\n";

int nvrtcGetPTXSize(const program *p, size_t *size)
{
    *size = sizeof ptx;
    return p->compiled ? OK : COMPILATION_FAILED;
}

int nvrtcGetPTX(const program *p, char *text)
{
    memcpy(text, ptx, sizeof ptx);
    return p->compiled ? OK : COMPILATION_FAILED;
}
#endif

int API(nvrtcDestroyProgram, hiprtcDestroyProgram)(program **p)
{
    free(*p);
    *p = NULL;
    return OK;
}
