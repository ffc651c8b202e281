/* A cuBLASLt that computes nothing. It writes what it is asked for to the file FAKE_CUBLASLT_LOG, and offers three algorithms for every
 * product, of which the second cannot be used and the last is the fastest. FAKE_CUBLASLT_FAIL names a call that returns an error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { SLOW = 1, UNUSABLE, FAST };

typedef struct object {
    const char *kind;
    uint64_t numbers[8]; /* in the order given; a description's attributes at their own place */
} object;

typedef struct heuristic {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} heuristic;

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the vendor's headers are not needed to build this */

static int told_to_fail(const char *call)
{
    const char *name = getenv("FAKE_CUBLASLT_FAIL");
    return name && !strcmp(name, call) ? INTERNAL_ERROR : OK;
}

static FILE *open_log(void)
{
    const char *path = getenv("FAKE_CUBLASLT_LOG");
    return path ? fopen(path, "ae") : NULL;
}

static int make(void **made, const char *call, object filled)
{
    object *o = malloc(sizeof *o);
    *made = o;
    if (!o)
        return INTERNAL_ERROR;
    *o = filled;
    return told_to_fail(call);
}

static int set(object *o, int attribute, const void *value, size_t bytes)
{
    memcpy(&o->numbers[attribute], value, bytes);
    return OK;
}

static int end(object *o)
{
    free(o);
    return OK;
}

size_t cublasLtGetVersion(void)
{
    return 130102;
}

int cublasLtCreate(void **handle)
{
    return make(handle, __func__, (object){.kind = "handle"});
}

int cublasLtDestroy(object *handle)
{
    return end(handle);
}

int cublasLtMatmulDescCreate(void **description, int compute_type, int scale_type)
{
    return make(description, __func__,
                (object){.kind = "description", .numbers = {(uint64_t)compute_type, (uint64_t)scale_type}});
}

int cublasLtMatmulDescSetAttribute(object *description, int attribute, const void *value, size_t bytes)
{
    return set(description, attribute, value, bytes);
}

int cublasLtMatmulDescDestroy(object *description)
{
    return end(description);
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t cols, int64_t pitch)
{
    return make(layout, __func__,
                (object){.kind = "layout", .numbers = {(uint64_t)type, rows, cols, (uint64_t)pitch}});
}

int cublasLtMatrixLayoutDestroy(object *layout)
{
    return end(layout);
}

int cublasLtMatmulPreferenceCreate(void **preference)
{
    return make(preference, __func__, (object){.kind = "preference"});
}

int cublasLtMatmulPreferenceSetAttribute(object *preference, int attribute, const void *value, size_t bytes)
{
    return set(preference, attribute, value, bytes);
}

int cublasLtMatmulPreferenceDestroy(object *preference)
{
    return end(preference);
}

static void log_layout(FILE *log, const char *name, const object *layout)
{
    fprintf(log, " %s type %d %dx%d pitch %d", name, (int)layout->numbers[0], (int)layout->numbers[1],
            (int)layout->numbers[2], (int)layout->numbers[3]);
}

int cublasLtMatmulAlgoGetHeuristic(const object *handle, const object *description, const object *a, const object *b,
                                   const object *c, const object *d, const object *preference, int most,
                                   heuristic *list, int *count)
{
    FILE *log = open_log();
    if (log) {
        fprintf(log, "asked compute %d scale %d transposed %d %d", (int)description->numbers[0],
                (int)description->numbers[1], (int)description->numbers[3], (int)description->numbers[4]);
        log_layout(log, "a", a);
        log_layout(log, "b", b);
        log_layout(log, "d", d);
        fprintf(log, " workspace %d most %d\n", (int)preference->numbers[1], most);
        fclose(log);
    }
    *count = 3;
    for (int i = 0; i < *count; i++)
        list[i] = (heuristic){.algorithm = {(uint64_t)(SLOW + i)},
                              .status = SLOW + i == UNUSABLE ? NOT_SUPPORTED : OK};
    return !strcmp(handle->kind, "handle") && c == d ? told_to_fail(__func__) : INTERNAL_ERROR;
}

int cublasLtMatmul(const object *handle, const object *description, const float *alpha, const void *a,
                   const object *a_layout, const void *b, const object *b_layout, const float *beta, const void *c,
                   const object *c_layout, void *d, const object *d_layout, const uint64_t *algorithm,
                   void *workspace, size_t workspace_bytes, void *stream)
{
    (void)stream;
    if (strcmp(handle->kind, "handle") != 0 || strcmp(description->kind, "description") != 0 || *alpha != 1 ||
        *beta != 0 || c != d || c_layout != d_layout || !a_layout || !b_layout || !workspace ||
        workspace_bytes != 64 << 20 || ((uintptr_t)a | (uintptr_t)b | (uintptr_t)d) % 256)
        return INTERNAL_ERROR;
    FILE *log = open_log();
    if (log) {
        fprintf(log, "algorithm %d\n", (int)algorithm[0]);
        fclose(log);
    }
    if (algorithm[0] == SLOW)
        usleep(2000);
    return told_to_fail(__func__);
}
