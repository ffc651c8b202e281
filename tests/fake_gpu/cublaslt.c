/* A cuBLASLt on the fake driver, for f16. It writes what it is asked for to the file FAKE_CUBLASLT_LOG, and offers three algorithms for every
 * product, of which the second cannot be used and the last is the fastest. FAKE_CUBLASLT_FAIL names a call that returns an error; with
 * FAKE_CUBLASLT_WRONG its products are not those that were asked for. Of epilogues it does none. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dtype.h"

enum { OK = 0, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { SLOW = 1, UNUSABLE, FAST };

typedef struct object {
    const char *kind;
    uint64_t numbers[16]; /* in the order given; a description's attributes at their own place */
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

typedef int copy_function(void *to, const void *from, size_t bytes, void *stream);

static copy_function *copy_of(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, name) : NULL;
    copy_function *copy;
    memcpy(&copy, &found, sizeof copy);
    return copy;
}

/* A matrix by columns, as its layout says, taken from the device. */
static uint16_t *take(const object *layout, const void *data)
{
    const size_t bytes = (size_t)(layout->numbers[2] * layout->numbers[3]) * sizeof(uint16_t);
    uint16_t *copy = malloc(bytes);
    copy_function *read = copy_of("cuMemcpyDtoHAsync_v2");
    if (copy && read && read(copy, data, bytes, NULL) == 0)
        return copy;
    free(copy);
    return NULL;
}

static double element(const object *layout, const uint16_t *data, bool transposed, uint64_t row, uint64_t col)
{
    return (double)tki_f16_to_f32(transposed ? data[row * layout->numbers[3] + col]
                                             : data[col * layout->numbers[3] + row]);
}

static int multiply(const object *description, const void *a, const object *a_layout, const void *b,
                    const object *b_layout, void *d, const object *d_layout)
{
    const bool a_transposed = description->numbers[3], b_transposed = description->numbers[4];
    const uint64_t rows = d_layout->numbers[1], cols = d_layout->numbers[2],
                   inner = a_layout->numbers[a_transposed ? 1 : 2];
    uint16_t *left = take(a_layout, a), *right = take(b_layout, b), *out = take(d_layout, d);
    copy_function *write = copy_of("cuMemcpyHtoDAsync_v2");
    int code = left && right && out && write ? OK : INTERNAL_ERROR;
    for (uint64_t e = 0; code == OK && e < rows * cols; e++) {
        double sum = getenv("FAKE_CUBLASLT_WRONG") ? 1000 : 0;
        for (uint64_t i = 0; i < inner; i++)
            sum += element(a_layout, left, a_transposed, e % rows, i) *
                   element(b_layout, right, b_transposed, i, e / rows);
        out[e / rows * d_layout->numbers[3] + e % rows] = tki_f32_to_f16((float)sum);
    }
    if (code == OK)
        code = write(d, out, (size_t)(cols * d_layout->numbers[3]) * sizeof *out, NULL);
    free(left);
    free(right);
    free(out);
    return code;
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
    const int code = told_to_fail(__func__);
    return code == OK ? multiply(description, a, a_layout, b, b_layout, d, d_layout) : code;
}
