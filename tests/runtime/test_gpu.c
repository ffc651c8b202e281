/* The host side of both GPU backends, on a driver that does as it is told (tests/fake_gpu/). Most tests run twice, as CUDA and as
 * HIP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/compiled_kernel.h"
#include "core/context.h"
#include "drivers/driver.h"
#include "model/attributes.h"
#include "runtime/gpu.h"
#include "tests/fake_gpu/begin.h"
#include "tests/fake_gpu/on_both.h"
#include "tests/unit_test.h"

static const char source[] = "ops/product/kernel_gemm.cu";
static const tk_types f16 = {TK_F16, TK_F16};
static const tk_types bf16 = {TK_BF16, TK_BF16};

/* What a test works with. */
typedef struct scene {
    fake_gpu fake;
    const char *backend;
    const tki_backend *row;
    const tki_vendor *vendor;
    tk_ctx *ctx;
    tki_gpu *gpu;
} scene;

/* "allocate" of cuda is "cuMemAlloc_v2": FAKE_GPU_FAIL wants the driver's own names. */
#define FAIL(s, call, rest) fail_call((s)->vendor->names.call, rest)
static void fail_call(const char *name, const char *rest)
{
    char plan[256];
    snprintf(plan, sizeof plan, "%s=%s", name + (*name == '?'), rest);
    assert_int_equal(setenv("FAKE_GPU_FAIL", plan, 1), 0);
}

static int set_up(void **state)
{
    const char *backend = *state;
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    fake_gpu_begin(&s->fake, backend);
    s->backend = backend;
    s->row = tki_backend_find(backend, "");
    s->vendor = s->row->vendor;
    assert_int_equal(tk_ctx_create(&s->ctx), TK_OK);
    if (tki_gpu_open(s->ctx, s->row, 0, &s->gpu) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    fake_gpu_forget_settings();
    s->fake.reset();
    tki_gpu_close(s->gpu);
    fake_gpu_end(&s->fake);
    tk_ctx_destroy(s->ctx);
    free(s);
    return 0;
}

static void assert_says(const scene *s, const char *part)
{
    if (!strstr(tk_ctx_message(s->ctx), part))
        fail_msg("'%s' does not say '%s'", tk_ctx_message(s->ctx), part);
}

static void *allocate(scene *s, size_t bytes)
{
    void *memory = NULL;
    assert_int_equal(tki_gpu_alloc(s->ctx, s->gpu, bytes, &memory), TK_OK);
    assert_non_null(memory);
    return memory;
}

static tki_gpu_kernel *kernel(scene *s, const char *name)
{
    tki_gpu_kernel *k = NULL;
    if (tki_gpu_kernel_get(s->ctx, s->gpu, source, f16, name, &k) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    return k;
}

/* ------------------------------------------------------------------------------------------------------------
 * Finding and opening
 * ------------------------------------------------------------------------------------------------------------ */

static void test_description(void **state)
{
    scene *s = *state;
    const tki_gpu_info *info = tki_gpu_describe(s->gpu);
    bool hip = !strcmp(s->backend, "hip");
    assert_ptr_equal(info->backend, s->row);
    assert_string_equal(info->name, "Fake GPU 0");
    assert_string_equal(info->architecture, hip ? "gfx942" : "sm_90");
    assert_string_equal(info->uuid, hip ? "GPU-0123456789abcde0" : "GPU-10111213-1415-1617-1819-1a1b1c1d1e00");
    assert_non_null(strstr(info->driver, hip ? "HIP 6.2.41134" : "CUDA 12.4"));
    assert_int_equal(info->major, 9);
    assert_int_equal(info->minor, hip ? 4 : 0);
    assert_int_equal(info->units, 132);
    assert_int_equal(info->warp, hip ? 64 : 32);
    assert_int_equal(info->shared_bytes, hip ? 65536 : 232448);
    assert_int_equal(info->memory_bytes, 1 << 30);
    assert_int_equal(info->l2_bytes, 52428800);
}

static void test_devices(void **state)
{
    scene *s = *state;
    tki_gpu_info info;
    char reason[512];
    assert_false(tki_gpu_at(&tki_backends[TKI_CPU], 0, &info, reason, sizeof reason));
    assert_false(tki_gpu_at(s->row, -1, &info, reason, sizeof reason));
    assert_int_equal(setenv("FAKE_GPU_DEVICES", "3", 1), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(tki_gpu_at(s->row, i, &info, reason, sizeof reason));
        assert_int_equal(info.ordinal, i);
        assert_true(info.name[0] != '\0' && reason[0] == '\0');
    }
    assert_false(tki_gpu_at(s->row, 3, &info, reason, sizeof reason));

    tki_gpu *second = NULL;
    assert_int_equal(tki_gpu_open(s->ctx, s->row, 1, &second), TK_OK);
    assert_int_equal(tki_gpu_describe(second)->ordinal, 1);
    /* Two devices open at once: each call finds its own. */
    void *memory;
    assert_int_equal(tki_gpu_alloc(s->ctx, second, 16, &memory), TK_OK);
    assert_int_equal(tki_gpu_fill(s->ctx, s->gpu, NULL, memory, 0, 16), TK_OK);
    tki_gpu_free(second, memory);
    tki_gpu_close(second);
    assert_int_equal(tki_gpu_open(s->ctx, s->row, 3, &second), TK_UNAVAILABLE);
    assert_null(second);
    assert_says(s, "device 3; there are 3");
    assert_int_equal(tki_gpu_open(s->ctx, s->row, -1, &second), TK_UNAVAILABLE);
    assert_int_equal(tki_gpu_open(s->ctx, &tki_backends[TKI_CPU], 0, &second), TK_BAD_ARGUMENT);
    assert_says(s, "the CPU is not a GPU");
    tki_gpu_close(NULL);
    s->fake.reset();
}

static void assert_no_device(scene *s, const char *part)
{
    tki_gpu_info info;
    char reason[512];
    tki_gpu *gpu = s->gpu;
    assert_true(tki_gpu_at(s->row, 0, &info, reason, sizeof reason));
    assert_string_equal(info.name, "");
    assert_false(tki_gpu_at(s->row, 1, &info, reason, sizeof reason));
    assert_true(tki_gpu_at(s->row, 0, &info, reason, sizeof reason));
    if (!strstr(reason, part))
        fail_msg("'%s' does not say '%s'", reason, part);
    assert_int_equal(tki_gpu_open(s->ctx, s->row, 0, &gpu), TK_UNAVAILABLE);
    assert_null(gpu);
    assert_says(s, part);
}

static void test_no_device(void **state)
{
    scene *s = *state;
    FAIL(s, init, "100");
    assert_no_device(s, "no device found");
    FAIL(s, init, "304");
    assert_no_device(s, "perhaps no permission");
    FAIL(s, init, "800");
    assert_no_device(s, "no permission");
    FAIL(s, init, "803");
    assert_no_device(s, "have different versions");
    FAIL(s, get_count, "35");
    assert_no_device(s, "the driver is too old");
    FAIL(s, get_device, "46");
    assert_no_device(s, "another process uses the device");
    unsetenv("FAKE_GPU_FAIL");
    assert_int_equal(setenv("FAKE_GPU_DEVICES", "0", 1), 0);
    assert_no_device(s, ": no device found");
    unsetenv("FAKE_GPU_DEVICES");
    bool hip = !strcmp(s->backend, "hip");
    assert_int_equal(setenv("FAKE_GPU_VERSION", hip ? "40500000" : "10020", 1), 0);
    assert_no_device(s, hip ? "too old: it has version 4.5, 5.2 is needed"
                            : "too old: it has version 10.2, 11.4 is needed");
    unsetenv("FAKE_GPU_VERSION");
    assert_int_equal(setenv(s->vendor->variable, "/nowhere/libgpu.so", 1), 0);
    assert_no_device(s, "/nowhere/libgpu.so: cannot open shared object file");
    assert_no_device(s, hip ? "TOKITAI_HIP_LIBRARY is set to it" : "TOKITAI_CUDA_LIBRARY is set to it");
}

static void test_missing_function(void **state)
{
    scene *s = *state;
    fake_gpu_use("TOKITAI_CUDA_LIBRARY", "libcuda_without_launch.so");
    assert_no_device(s, "has no function cuLaunchKernel: the driver is too old");
}

TEST(test_device_files)
{
    char text[256], folder[] = "/tmp/tokitai-gpu-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/node", folder);
    const char *const nodes[] = {file, NULL};
    tki_driver_check_nodes(nodes, text, sizeof text);
    assert_non_null(strstr(text, "/tmp/tokitai-gpu-"));
    FILE *made = fopen(file, "w");
    assert_non_null(made);
    fclose(made);
    tki_driver_check_nodes(nodes, text, sizeof text);
    assert_string_equal(text, "");
    if (geteuid() != 0) { /* root may open anything */
        assert_int_equal(chmod(file, 0), 0);
        tki_driver_check_nodes(nodes, text, sizeof text);
        assert_non_null(strstr(text, "no permission to open /tmp/tokitai-gpu-"));
    }
    unlink(file);
    rmdir(folder);
}

/* Each call that opening makes may fail; what was made before is given back. */
static void test_open_fails(void **state)
{
    scene *s = *state;
    int before = s->fake.alive();
    const char *const calls[] = {
        s->vendor->names.allocate, s->vendor->names.fill, s->vendor->names.stream_synchronize,
        s->vendor->names.context_retain ? s->vendor->names.context_retain : s->vendor->names.device_set};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tki_gpu *gpu = s->gpu;
        fail_call(calls[i], "2");
        tk_status status = tki_gpu_open(s->ctx, s->row, 0, &gpu);
        unsetenv("FAKE_GPU_FAIL");
        if (status == TK_OK) { /* HIP need not set the device that is set */
            assert_string_equal(calls[i], "hipSetDevice");
            tki_gpu_close(gpu);
            continue;
        }
        assert_int_equal(status, TK_NO_MEMORY);
        assert_null(gpu);
        assert_says(s, calls[i]);
        assert_int_equal(s->fake.alive(), before);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Memory, streams, events
 * ------------------------------------------------------------------------------------------------------------ */

static void test_memory(void **state)
{
    scene *s = *state;
    unsigned char bytes[1000], back[1000];
    unsigned char *a = allocate(s, sizeof bytes), *b = allocate(s, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    assert_int_equal((uintptr_t)a % 256, 0);
    assert_int_equal(tki_gpu_write(s->ctx, s->gpu, NULL, a, bytes, sizeof bytes), TK_OK);
    assert_int_equal(tki_gpu_copy(s->ctx, s->gpu, NULL, b, a, sizeof bytes), TK_OK);
    assert_int_equal(tki_gpu_fill(s->ctx, s->gpu, NULL, b + 10, 0xab, 5), TK_OK);
    assert_int_equal(tki_gpu_read(s->ctx, s->gpu, NULL, back, b, sizeof back), TK_OK);
    memset(bytes + 10, 0xab, 5);
    assert_memory_equal(bytes, back, sizeof bytes);
    /* No bytes: nothing is asked of the driver. */
    assert_int_equal(tki_gpu_write(s->ctx, s->gpu, NULL, NULL, NULL, 0), TK_OK);
    assert_int_equal(tki_gpu_read(s->ctx, s->gpu, NULL, NULL, NULL, 0), TK_OK);
    assert_int_equal(tki_gpu_copy(s->ctx, s->gpu, NULL, NULL, NULL, 0), TK_OK);
    assert_int_equal(tki_gpu_fill(s->ctx, s->gpu, NULL, NULL, 1, 0), TK_OK);
    /* One byte beyond the block */
    assert_int_equal(tki_gpu_write(s->ctx, s->gpu, NULL, a + 1, bytes, sizeof bytes), TK_INTERNAL);
    assert_says(s, "copying 1000 bytes to the device on Fake GPU 0: ");
    assert_says(s, s->vendor->names.copy_in);
    tki_gpu_free(s->gpu, a);
    tki_gpu_free(s->gpu, b);
    tki_gpu_free(s->gpu, NULL);
    a = allocate(s, 0);
    tki_gpu_free(s->gpu, a);
}

static void test_memory_fails(void **state)
{
    scene *s = *state;
    char bytes[8] = {0};
    void *memory = s, *block = allocate(s, 8);
    assert_int_equal(setenv("FAKE_GPU_MEMORY", "4096", 1), 0);
    assert_int_equal(tki_gpu_alloc(s->ctx, s->gpu, 1 << 20, &memory), TK_NO_MEMORY);
    assert_null(memory);
    assert_says(s, "allocating 1048576 bytes on Fake GPU 0");
    assert_says(s, "(2, out of memory)");
    unsetenv("FAKE_GPU_MEMORY");
    FAIL(s, copy_in, "1");
    assert_int_equal(tki_gpu_write(s->ctx, s->gpu, NULL, block, bytes, 8), TK_INTERNAL);
    FAIL(s, copy_out, "1");
    assert_int_equal(tki_gpu_read(s->ctx, s->gpu, NULL, bytes, block, 8), TK_INTERNAL);
    FAIL(s, copy, "1");
    assert_int_equal(tki_gpu_copy(s->ctx, s->gpu, NULL, block, block, 8), TK_INTERNAL);
    FAIL(s, fill, "1");
    assert_int_equal(tki_gpu_fill(s->ctx, s->gpu, NULL, block, 0, 8), TK_INTERNAL);
    assert_says(s, s->vendor->names.fill);
    /* An error that has no name */
    FAIL(s, fill, "12345");
    assert_int_equal(tki_gpu_fill(s->ctx, s->gpu, NULL, block, 0, 8), TK_INTERNAL);
    assert_says(s, "12345");
    unsetenv("FAKE_GPU_FAIL");
    tki_gpu_free(s->gpu, block);
}

static void test_streams_and_events(void **state)
{
    scene *s = *state;
    void *stream, *begin, *end, *block = allocate(s, 8);
    double seconds = -1;
    bool capturing = true;
    stream = s->fake.stream_make();
    assert_int_equal(tki_gpu_event_create(s->ctx, s->gpu, &begin), TK_OK);
    assert_int_equal(tki_gpu_event_create(s->ctx, s->gpu, &end), TK_OK);
    assert_int_equal(tki_gpu_event_record(s->ctx, s->gpu, begin, stream), TK_OK);
    assert_int_equal(tki_gpu_fill(s->ctx, s->gpu, stream, block, 1, 8), TK_OK);
    assert_int_equal(usleep(2000), 0);
    assert_int_equal(tki_gpu_event_record(s->ctx, s->gpu, end, stream), TK_OK);
    assert_int_equal(tki_gpu_event_seconds(s->ctx, s->gpu, begin, end, &seconds), TK_OK);
    assert_true(seconds >= 0.002 && seconds < 60);
    assert_int_equal(tki_gpu_synchronize(s->ctx, s->gpu, stream), TK_OK);
    assert_int_equal(tki_gpu_is_capturing(s->ctx, s->gpu, stream, &capturing), TK_OK);
    assert_false(capturing);
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "1", 1), 0);
    assert_int_equal(tki_gpu_is_capturing(s->ctx, s->gpu, stream, &capturing), TK_OK);
    assert_true(capturing);
    assert_int_equal(tki_gpu_synchronize(s->ctx, s->gpu, stream), TK_UNAVAILABLE);
    assert_says(s, "being captured");
    unsetenv("FAKE_GPU_CAPTURING");
    FAIL(s, stream_is_capturing, "906");
    assert_int_equal(tki_gpu_is_capturing(s->ctx, s->gpu, NULL, &capturing), TK_UNAVAILABLE);
    FAIL(s, event_synchronize, "719");
    assert_int_equal(tki_gpu_event_seconds(s->ctx, s->gpu, begin, end, &seconds), TK_INTERNAL);
    assert_says(s, s->vendor->names.event_synchronize);
    FAIL(s, event_elapsed, "400");
    assert_int_equal(tki_gpu_event_seconds(s->ctx, s->gpu, begin, end, &seconds), TK_INTERNAL);
    assert_says(s, s->vendor->names.event_elapsed);
    FAIL(s, event_record, "400");
    assert_int_equal(tki_gpu_event_record(s->ctx, s->gpu, begin, NULL), TK_INTERNAL);
    void *none = s;
    FAIL(s, event_create, "2");
    assert_int_equal(tki_gpu_event_create(s->ctx, s->gpu, &none), TK_NO_MEMORY);
    assert_null(none);
    unsetenv("FAKE_GPU_FAIL");
    tki_gpu_event_destroy(s->gpu, begin);
    tki_gpu_event_destroy(s->gpu, end);
    tki_gpu_event_destroy(s->gpu, NULL);
    s->fake.stream_end(stream);
    tki_gpu_free(s->gpu, block);
}

/* Another library's context stays current for its owner, whatever is called in between. */
static void test_current_context(void **state)
{
    scene *s = *state;
    tki_driver driver;
    char reason[256];
    assert_true(tki_driver_open(s->vendor, &driver, reason, sizeof reason));
    int others;
    if (!strcmp(s->backend, "hip")) {
        assert_int_equal(driver.calls.device_set(5), 0);
        tki_gpu_free(s->gpu, allocate(s, 8));
        assert_int_equal(driver.calls.device_get(&others), 0);
        assert_int_equal(others, 5);
        assert_int_equal(driver.calls.device_set(0), 0);
    } else {
        void *now = s;
        assert_int_equal(driver.calls.context_get(&now), 0);
        assert_null(now);
        assert_int_equal(driver.calls.context_set(&others), 0);
        tki_gpu_free(s->gpu, allocate(s, 8));
        assert_int_equal(driver.calls.context_get(&now), 0);
        assert_ptr_equal(now, &others);
        assert_int_equal(driver.calls.context_set(NULL), 0);
        FAIL(s, context_set, "201");
        assert_int_equal(tki_gpu_synchronize(s->ctx, s->gpu, NULL), TK_INTERNAL);
        assert_says(s, "making the device current");
        unsetenv("FAKE_GPU_FAIL");
    }
    tki_driver_close(&driver);
}

/* ------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------ */

static void test_kernels_are_kept(void **state)
{
    scene *s = *state;
    int before = s->fake.alive();
    assert_null(tki_gpu_artifact(s->gpu, source, f16));
    tki_gpu_kernel *copy = kernel(s, "fake_copy");
    assert_int_equal(s->fake.alive(), before + 1);
    assert_string_equal(copy->name, "fake_copy");
    assert_string_equal(copy->source, source);
    assert_int_equal(copy->types.dtype, TK_F16);
    const tki_compiled_kernel *artifact = tki_gpu_artifact(s->gpu, source, f16);
    assert_non_null(artifact);
    assert_string_equal(artifact->architecture, tki_gpu_describe(s->gpu)->architecture);
    /* Equal names at other addresses are the same kernel; other kernels of the same source need no second module. */
    char same_source[64], same_name[64];
    tki_gpu_kernel *again = NULL;
    snprintf(same_source, sizeof same_source, "%s", source);
    snprintf(same_name, sizeof same_name, "fake_copy");
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, same_source, f16, same_name, &again), TK_OK);
    assert_ptr_equal(again, copy);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_ptr_not_equal(kernel(s, names[i]), copy);
    assert_int_equal(s->fake.alive(), before + 1);
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, bf16, "fake_copy", &again), TK_OK);
    assert_ptr_not_equal(again, copy);
    assert_int_equal(s->fake.alive(), before + 2);
    assert_ptr_equal(kernel(s, "fake_copy"), copy);
}

static void test_loading_fails(void **state)
{
    scene *s = *state;
    tki_gpu_kernel *k = NULL;
    int before = s->fake.alive();
    FAIL(s, module_load, "209");
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, f16, "k", &k), TK_UNAVAILABLE);
    assert_null(k);
    assert_says(s, s->vendor->names.module_load);
    assert_says(s, "compiled for another architecture");
    assert_says(s, source);
    assert_null(tki_gpu_artifact(s->gpu, source, f16));
    FAIL(s, module_load, "222");
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, f16, "k", &k), TK_UNAVAILABLE);
    assert_says(s, "update the driver, or set TOKITAI_CUDA_COMPILER");
    FAIL(s, module_function, "500");
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, f16, "k", &k), TK_INTERNAL);
    assert_says(s, "looking for kernel k in ops/product/kernel_gemm.cu");
    assert_int_equal(s->fake.alive(), before + 1); /* the module is good */
    if (s->vendor->names.function_load) {
        FAIL(s, function_load, "2");
        assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, f16, "k", &k), TK_NO_MEMORY);
    }
    unsetenv("FAKE_GPU_FAIL");
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, f16, "k", &k), TK_OK);
    assert_int_equal(setenv("FAKE_GPU_COMPILE", "error", 1), 0);
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, source, bf16, "k", &k), TK_INTERNAL);
    assert_null(k);
    assert_says(s, "the fake compiler was told to find an error");
    assert_int_equal(tki_gpu_kernel_get(s->ctx, s->gpu, "ops/none/kernel.cu", f16, "k", &k), TK_BAD_ARGUMENT);
}

static void test_launch(void **state)
{
    scene *s = *state;
    uint64_t words[32], back[32];
    void *from = allocate(s, sizeof words), *to = allocate(s, sizeof words), *stream;
    for (int i = 0; i < 32; i++)
        words[i] = (uint64_t)i * 0x123456789;
    tki_gpu_kernel *copy = kernel(s, "fake_copy");
    stream = s->fake.stream_make();
    assert_int_equal(tki_gpu_write(s->ctx, s->gpu, stream, from, words, sizeof words), TK_OK);
    fake_copy_params params = {(uintptr_t)from, (uintptr_t)to, sizeof words};
    tki_gpu_grid grid = {.blocks = {7, 0, 3}, .threads = 256, .shared_bytes = 1024};
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, stream, copy, grid, &params), TK_OK);
    const fake_launch *seen = s->fake.launch_at(0);
    assert_non_null(seen);
    assert_string_equal(seen->kernel, "fake_copy");
    assert_int_equal(seen->blocks[0], 7);
    assert_int_equal(seen->blocks[1], 1); /* 0 counts as 1 */
    assert_int_equal(seen->blocks[2], 3);
    assert_int_equal(seen->threads, 256);
    assert_int_equal(seen->shared_bytes, 1024);
    assert_ptr_equal(seen->stream, stream);
    assert_memory_equal(seen->params, &params, sizeof params);
    assert_int_equal(tki_gpu_read(s->ctx, s->gpu, stream, back, to, sizeof back), TK_OK);
    assert_memory_equal(words, back, sizeof words);
    assert_null(s->fake.launch_at(1));
    s->fake.stream_end(stream);
    tki_gpu_free(s->gpu, from);
    tki_gpu_free(s->gpu, to);
}

static void test_launch_fails(void **state)
{
    scene *s = *state;
    fake_copy_params params = {0};
    tki_gpu_kernel *copy = kernel(s, "fake_copy");
    tki_gpu_grid grid = {.blocks = {1}, .threads = 64};
    if (!strcmp(s->backend, "hip"))
        FAIL(s, launch, "701");
    else
        FAIL(s, launch_config, "701");
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, copy, grid, &params), TK_INTERNAL);
    assert_says(s, "launching fake_copy (ops/product/kernel_gemm.cu, f16) with 1x1x1 blocks of 64 threads");
    assert_says(s, "more registers or shared memory");
    unsetenv("FAKE_GPU_FAIL");
    /* A kernel that leaves its memory: the launch is fine, whoever waits next hears of it, and nothing works any more. */
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, copy, grid, &(fake_copy_params){8, 8, 8}), TK_OK);
    assert_int_equal(tki_gpu_synchronize(s->ctx, s->gpu, NULL), TK_INTERNAL);
    assert_says(s, "(700, ");
    assert_says(s, "the device's context is lost");
    void *memory;
    assert_int_equal(tki_gpu_alloc(s->ctx, s->gpu, 8, &memory), TK_INTERNAL);
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, copy, grid, &params), TK_INTERNAL);
    int op;
    int64_t position;
    assert_int_equal(tki_gpu_take_fault(s->ctx, s->gpu, NULL, &op, &position), TK_INTERNAL);
    s->fake.reset();
    /* The same, found by a copy */
    assert_int_equal(setenv("FAKE_GPU_FAIL", "async=719@1", 1), 0);
    void *block = allocate(s, 8);
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, kernel(s, "other"), grid, &params), TK_OK);
    assert_int_equal(tki_gpu_read(s->ctx, s->gpu, NULL, &memory, block, 8), TK_INTERNAL);
    assert_says(s, "a kernel failed while it ran");
    unsetenv("FAKE_GPU_FAIL");
    s->fake.reset();
    tki_gpu_free(s->gpu, block);
}

/* CUDA has to be told of large blocks of shared memory and of large clusters, once. */
static void test_large_launches(void **state)
{
    scene *s = *state;
    char params[64] = {0};
    tki_gpu_kernel *k = kernel(s, "wide");
    tki_gpu_grid grid = {.blocks = {32}, .threads = 128, .shared_bytes = 200 << 10};
    if (!strcmp(s->backend, "hip")) {
        assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_INTERNAL);
        grid = (tki_gpu_grid){.blocks = {32}, .threads = 128, .cluster = 4};
        assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_UNAVAILABLE);
        assert_says(s, "clusters");
        return;
    }
    FAIL(s, function_attribute, "1@2");
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_OK);
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_OK); /* not told again */
    grid.cluster = 4;
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_OK);
    assert_int_equal(s->fake.launch_at(2)->cluster, 4);
    assert_int_equal(s->fake.launch_at(2)->blocks[0], 32);
    assert_int_equal(s->fake.launch_at(2)->shared_bytes, 200 << 10);
    grid.cluster = 16;
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_INTERNAL);
    assert_says(s, "allowing wide clusters of 16 blocks");
    unsetenv("FAKE_GPU_FAIL");
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_OK);
    assert_int_equal(s->fake.launch_at(3)->cluster, 16);
    FAIL(s, launch_config, "912");
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_INTERNAL);
    assert_says(s, "cuLaunchKernelEx failed");
    unsetenv("FAKE_GPU_FAIL");
    grid.cluster = 0;
    grid.shared_bytes = 230 << 10; /* more than there is */
    assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, k, grid, params), TK_INTERNAL);
    assert_says(s, "allowing wide 235520 bytes of shared memory (a block can have 232448)");
}

/* A kernel may start before the earlier ones of its stream are done only where it waits for them by itself: if it was compiled for Hopper
 * or later, whatever the device is. */
static void test_early_launches(void **state)
{
    static const struct {
        const char *variable, *value;
        bool early;
    } settings[] = {{"FAKE_GPU_VERSION", "12040", true},
                    {"FAKE_GPU_VERSION", "12020", false},
                    {"FAKE_GPU_CAPABILITY", "80", false},
                    {"FAKE_GPU_CAPABILITY", "100", true}, /* as compute_90 */
                    {"FAKE_GPU_COMPILE", "old", false}};  /* as compute_80 */
    scene *s = *state;
    const bool hip = !strcmp(s->backend, "hip");
    const char params[64] = {0};
    for (size_t i = 0; i < (hip ? 1 : sizeof settings / sizeof *settings); i++) {
        for (unsigned cluster = 0; cluster <= (hip ? 0 : 2); cluster += 2) {
            tki_gpu_close(s->gpu);
            s->fake.reset();
            if (!hip)
                assert_int_equal(setenv(settings[i].variable, settings[i].value, 1), 0);
            assert_int_equal(tki_gpu_open(s->ctx, s->row, 0, &s->gpu), TK_OK);
            const tki_gpu_grid grid = {.blocks = {4}, .threads = 64, .cluster = cluster};
            assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, kernel(s, "k"), grid, params), TK_OK);
            const fake_launch *launch = s->fake.launch_at(0);
            if (launch->early != (!hip && settings[i].early))
                fail_msg("%s=%s: %searly", settings[i].variable, settings[i].value, launch->early ? "" : "not ");
            assert_int_equal(launch->cluster, cluster);
            assert_int_equal(launch->blocks[0], 4);
            const bool has_attributes = launch->early || cluster > 0;
            if (has_attributes)
                FAIL(s, launch_config, "701");
            else
                FAIL(s, launch, "701");
            assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, kernel(s, "k"), grid, params), TK_INTERNAL);
            assert_says(s, has_attributes ? "cuLaunchKernelEx failed" : "LaunchKernel failed");
            fake_gpu_forget_settings();
        }
    }
}

static void test_run(void **state)
{
    scene *s = *state;
    char params[64] = {0};
    tk_case c = tk_case_init(tk_contract_at(0), TK_BF16);
    tki_gpu_grid grid = {.blocks = {1}, .threads = 64, .shared_bytes = 60 << 10};
    tki_call call = {.ctx = s->ctx, .c = &c, .gpu = s->gpu};
    /* Nothing may be loaded while the stream is captured, and the driver is not even asked to. */
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "1", 1), 0);
    assert_int_equal(tki_gpu_run(&call, source, "k", grid, params), TK_UNAVAILABLE);
    assert_says(s, "kernel k (bf16) is not loaded yet");
    assert_null(tki_gpu_artifact(s->gpu, source, bf16));
    unsetenv("FAKE_GPU_CAPTURING");
    call.prepare_only = true;
    assert_int_equal(tki_gpu_run(&call, source, "k", grid, params), TK_OK);
    assert_null(s->fake.launch_at(0));
    assert_non_null(tki_gpu_artifact(s->gpu, source, bf16));
    /* Once loaded it is launched in a capture too. */
    call.prepare_only = false;
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "1", 1), 0);
    assert_int_equal(tki_gpu_run(&call, source, "k", grid, params), TK_OK);
    assert_string_equal(s->fake.launch_at(0)->kernel, "k");
    unsetenv("FAKE_GPU_CAPTURING");
    assert_int_equal(tki_gpu_run(&call, source, "another", grid, params), TK_OK);
    assert_string_equal(s->fake.launch_at(1)->kernel, "another");
}

static void test_bad_indices(void **state)
{
    scene *s = *state;
    tki_gpu_kernel *fault = kernel(s, "fake_fault");
    tki_gpu_grid grid = {.blocks = {1}, .threads = 1};
    int op = 99;
    int64_t position = 99;
    assert_int_equal(tki_gpu_take_fault(s->ctx, s->gpu, NULL, &op, &position), TK_OK);
    assert_int_equal(position, -1);
    const struct {
        int op;
        int64_t position;
    } bad[] = {{3, 1000}, {3, 17}, {3, INT64_C(1) << 40}, {tk_contract_count() - 1, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_fault_params params = {(uintptr_t)tki_gpu_fault_word(s->gpu, bad[i].op), bad[i].position};
        assert_int_equal(tki_gpu_launch(s->ctx, s->gpu, NULL, fault, grid, &params), TK_OK);
    }
    assert_int_equal(tki_gpu_take_fault(s->ctx, s->gpu, NULL, &op, &position), TK_OK);
    assert_int_equal(op, 3);
    assert_int_equal(position, 17);
    assert_int_equal(tki_gpu_take_fault(s->ctx, s->gpu, NULL, &op, &position), TK_OK);
    assert_int_equal(op, tk_contract_count() - 1);
    assert_int_equal(position, 0);
    assert_int_equal(tki_gpu_take_fault(s->ctx, s->gpu, NULL, &op, &position), TK_OK);
    assert_int_equal(position, -1);
}

/* What kernels count reaches the context once, as 64 bits, and bad indices are none of it. */
static void test_left_out(void **state)
{
    scene *s = *state;
    const uint32_t counted[4][2] = {{3, 0}, {7, 0}, {UINT32_MAX, 1}, {5, 2}};
    int op;
    int64_t position;
    assert_int_equal(tki_gpu_write(s->ctx, s->gpu, NULL, tki_gpu_left_out_words(s->gpu), counted, sizeof counted),
                     TK_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tki_gpu_take_fault(s->ctx, s->gpu, NULL, &op, &position), TK_OK);
        assert_int_equal(position, -1);
        assert_int_equal(s->ctx->left_out.slices, 3);
        assert_int_equal(s->ctx->left_out.all_slices, 7);
        assert_int_equal(s->ctx->left_out.parts, (INT64_C(2) << 32) - 1);
        assert_int_equal(s->ctx->left_out.all_parts, (INT64_C(2) << 32) + 5);
    }
}

TEST(test_accept)
{
    tk_case c = tk_case_init(tk_contract_at(0), TK_F16);
    tki_gpu_info hopper = {.backend = &tki_backends[TKI_CUDA], .architecture = "sm_90", .major = 9};
    tki_gpu_info other = {.backend = &tki_backends[TKI_HIP], .architecture = "gfx90a", .major = 9};
    assert_null(tki_gpu_accept_any(&c, &hopper));
    assert_null(tki_gpu_accept_any(&c, &other));
    assert_non_null(tki_gpu_accept_any(&c, NULL));
    assert_null(tki_gpu_accept_hopper(&c, &hopper));
    assert_non_null(tki_gpu_accept_hopper(&c, &other));
    assert_non_null(tki_gpu_accept_hopper(&c, NULL));
}

/* Streams have words of their own, captures too, and both get the same again. */
static void test_launch_words(void **state)
{
    scene *s = *state;
    enum { STREAMS = 70 }; /* more than are reserved at once */
    static uint32_t host[TKI_GPU_LAUNCH_WORDS];
    uint32_t *words[STREAMS], *again, *captured, *other;
    void *streams[STREAMS];
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, NULL, true, &again), TK_OK);
    assert_null(again);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = s->fake.stream_make();
        assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[i], false, &words[i]), TK_OK);
        assert_int_equal(tki_gpu_read(s->ctx, s->gpu, NULL, host, words[i], sizeof host), TK_OK);
        for (int w = 0; w < TKI_GPU_LAUNCH_WORDS; w++)
            assert_int_equal(host[w], 0);
        for (int j = 0; j < i; j++)
            assert_true(words[i] >= words[j] + TKI_GPU_LAUNCH_WORDS || words[j] >= words[i] + TKI_GPU_LAUNCH_WORDS);
    }
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[i], false, &again), TK_OK);
        assert_ptr_equal(again, words[i]);
    }
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "1", 1), 0);
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[0], false, &captured), TK_OK);
    assert_ptr_not_equal(captured, words[0]);
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[0], false, &again), TK_OK);
    assert_ptr_equal(again, captured);
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "2", 1), 0);
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[0], false, &other), TK_OK);
    assert_ptr_not_equal(other, captured);
    tk_status status = TK_OK;
    for (int i = 3; status == TK_OK && i < 200; i++) { /* nothing can be allocated in a capture */
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        assert_int_equal(setenv("FAKE_GPU_CAPTURING", number, 1), 0);
        status = tki_gpu_launch_words(s->ctx, s->gpu, streams[0], false, &other);
    }
    assert_int_equal(status, TK_UNAVAILABLE);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "tk_prepare()"));
    unsetenv("FAKE_GPU_CAPTURING");
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[0], true, &again), TK_OK);
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "300", 1), 0);
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, streams[0], false, &other), TK_OK);
    unsetenv("FAKE_GPU_CAPTURING");
    for (int i = 0; i <= 300; i++)
        s->fake.graph_end(i);
    for (int i = 0; i < STREAMS; i++)
        s->fake.stream_end(streams[i]);
}

static uint32_t *words_of_capture(scene *s, void *stream, int number)
{
    uint32_t *words;
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", text, 1), 0);
    if (tki_gpu_launch_words(s->ctx, s->gpu, stream, false, &words) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    return words;
}

/* A graph that is gone leaves its words to the next one, and only then: hundreds of captures get along with what was reserved once. */
static void test_words_of_graphs(void **state)
{
    scene *s = *state;
    uint32_t *words;
    void *stream = s->fake.stream_make();
    assert_int_equal(tki_gpu_launch_words(s->ctx, s->gpu, stream, true, &words), TK_OK);
    const int alive = s->fake.alive();
    uint32_t *kept = words_of_capture(s, stream, 1);
    for (int i = 2; i < 1000; i++) {
        uint32_t *mine = words_of_capture(s, stream, i);
        assert_ptr_not_equal(mine, kept);
        assert_ptr_equal(words_of_capture(s, stream, i), mine);
        s->fake.graph_end(i);
    }
    s->fake.graph_end(1);
    assert_int_equal(s->fake.alive(), alive);
    /* Where the driver cannot tell, words are kept. */
    FAIL(s, graph_retain, "1");
    uint32_t *first = words_of_capture(s, stream, 1001);
    s->fake.graph_end(1001);
    assert_ptr_not_equal(words_of_capture(s, stream, 1002), first);
    fake_gpu_forget_settings();
    s->fake.graph_end(1002);
    /* A graph that lives longer than its device. */
    (void)words_of_capture(s, stream, 1003);
    fake_gpu_forget_settings();
    s->fake.stream_end(stream);
    tki_gpu_close(s->gpu);
    s->gpu = NULL;
    s->fake.graph_end(1003);
}

static void test_maps(void **state)
{
    scene *s = *state;
    _Alignas(64) uint64_t map[16];
    void *memory;
    assert_int_equal(tki_gpu_alloc(s->ctx, s->gpu, 4096, &memory), TK_OK);
    const tki_gpu_box box = {.base = memory, .rows = 3, .cols = 60, .pitch = 64, .box_rows = 128, .box_cols = 64};
    assert_int_equal(tki_gpu_map(s->ctx, s->gpu, &box, map), TK_OK);
    assert_true(map[0] == (uintptr_t)memory && map[1] == 60 && map[2] == 3 && map[3] == 128);
    tki_gpu_box longer = box;
    longer.cols = 65;
    assert_int_equal(tki_gpu_map(s->ctx, s->gpu, &longer, map), TK_INTERNAL);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "3 x 65 elements"));
    tki_gpu_free(s->gpu, memory);
}

TEST(test_accept_tensor)
{
    tk_case c = tk_case_init(tk_contract_find("gemm"), TK_F16);
    const struct {
        const char *architecture;
        bool all, normal; /* the domains on which it accepts */
    } rows[] = {{"sm_75", false, false},       {"sm_80", true, true},    {"sm_90", true, true},
                {"sm_120", true, true},        {"gfx90a", false, true},  {"gfx90a:sramecc+", false, true},
                {"gfx942:xnack-", true, true}, {"gfx1100", true, true},  {"gfx1101", true, true},
                {"gfx1030", false, false},     {"gfx908", false, false}, {"gfx9420", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tki_gpu_info device = {0};
        snprintf(device.architecture, sizeof device.architecture, "%s", rows[i].architecture);
        tki_set_role(c.contract, c.attributes, TK_ROLE_DOMAIN, TKI_DOMAIN_ALL);
        assert_int_equal(!tki_gpu_accept_tensor(&c, &device), rows[i].all);
        tki_set_role(c.contract, c.attributes, TK_ROLE_DOMAIN, TKI_DOMAIN_NORMAL);
        assert_int_equal(!tki_gpu_accept_tensor(&c, &device), rows[i].normal);
    }
    assert_non_null(tki_gpu_accept_tensor(&c, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_description),
        ON_BOTH(test_devices),
        ON_BOTH(test_no_device),
        ON(cuda, test_missing_function),
        cmocka_unit_test(test_device_files),
        ON_BOTH(test_open_fails),
        ON_BOTH(test_memory),
        ON_BOTH(test_memory_fails),
        ON_BOTH(test_streams_and_events),
        ON_BOTH(test_current_context),
        ON_BOTH(test_kernels_are_kept),
        ON_BOTH(test_loading_fails),
        ON_BOTH(test_launch),
        ON_BOTH(test_launch_fails),
        ON_BOTH(test_large_launches),
        ON_BOTH(test_early_launches),
        ON_BOTH(test_run),
        ON_BOTH(test_bad_indices),
        ON_BOTH(test_left_out),
        ON(cuda, test_launch_words),
        ON(cuda, test_words_of_graphs),
        ON(cuda, test_maps),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_accept_tensor),
    };
    return cmocka_run_group_tests_name("gpu", tests, NULL, NULL);
}
