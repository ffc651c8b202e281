/* Contexts on a GPU and the runner's copies in device memory, on a driver that does as it is told (tests/fake_gpu/). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "runtime/kernel_runner.h"
#include "runtime/gpu.h"
#include "runtime/gpu_context.h"
#include "tests/fake_gpu/begin.h"
#include "tests/fake_gpu/on_both.h"
#include "tests/unit_test.h"

/* One param struct for all the kernels of this test: a copy of n bytes, spoilt in the way that `fault` asks for. */
typedef struct params {
    uint64_t in, out;
    int64_t bytes;
    int64_t spill_at; /* this byte of `out` is written too */
    int64_t smudge;   /* the input's first byte is changed */
    uint64_t fault_word;
    int64_t bad_position; /* -1: none */
} params;

static params wanted; /* what the next launches are asked to do wrong */

static int run_copy(const fake_launch *launch, fake_host_function *host)
{
    params p;
    memcpy(&p, launch->params, sizeof p);
    unsigned char *in = host((const void *)(uintptr_t)p.in, (size_t)p.bytes);
    unsigned char *out = host((const void *)(uintptr_t)p.out, (size_t)p.bytes);
    if (p.bytes && (!in || !out))
        return 700;
    memmove(out, in, (size_t)p.bytes);
    if (p.spill_at)
        out[p.spill_at] ^= 0xff;
    if (p.smudge)
        in[0] ^= 0xff;
    uint64_t *word = host((const void *)(uintptr_t)p.fault_word, sizeof *word);
    if (p.bad_position >= 0 && (uint64_t)p.bad_position < *word)
        *word = (uint64_t)p.bad_position;
    return 0;
}

static tk_status launch_copy(const tki_call *call)
{
    params p = wanted;
    int out = call->c->contract->param_count - 1;
    int in = out == 1 ? 0 : 1; /* x of gelu_fwd, weight of embedding_fwd */
    p.in = (uintptr_t)call->buffers[in];
    p.out = (uintptr_t)call->buffers[out];
    p.bytes = tk_case_elements(call->c, out) * 2;
    p.fault_word = (uintptr_t)call->fault_word;
    return tki_gpu_run(call, "ops/product/kernel_gemm.cu", "copy", (tki_gpu_grid){.blocks = {1}, .threads = 32}, &p);
}

static size_t much_scratch(const tki_call *call)
{
    return (size_t)call->c->dims[0];
}

static const char *accept_all(const tk_case *c, const tki_gpu_info *device)
{
    (void)c;
    return device ? NULL : "no device";
}

static const tki_lowering copy_row = {.backend = &tki_backends[TKI_CUDA],
                                      .variant = "test",
                                      .accept = accept_all,
                                      .launch = launch_copy,
                                      .source = "ops/product/kernel_gemm.cu"};
static const tki_lowering scratch_row = {.backend = &tki_backends[TKI_CUDA],
                                         .variant = "test",
                                         .accept = accept_all,
                                         .launch = launch_copy,
                                         .scratch_bytes = much_scratch,
                                         .source = "ops/product/kernel_gemm.cu"};

typedef struct scene {
    fake_gpu fake;
    tk_ctx *ctx;
} scene;

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    fake_gpu_begin(&s->fake, *state);
    s->fake.define("copy", sizeof(params), run_copy);
    wanted = (params){.bad_position = -1};
    assert_int_equal(tk_ctx_create(&s->ctx), TK_OK);
    if (tk_ctx_use_device(s->ctx, *state) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    tk_ctx_destroy(s->ctx);
    fake_gpu_end(&s->fake);
    free(s);
    return 0;
}

static tk_case gelu_case(int64_t n)
{
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    c.dims[0] = n;
    return c;
}

/* Opens the row with host buffers and calls it once. */
static tk_status call_once(scene *s, const tk_case *c, void *const buffers[], tki_overrun *overrun)
{
    tki_runner runner;
    double seconds = -1;
    assert_int_equal(tki_runner_open(s->ctx, &(tki_runnable){.lowering = &copy_row, .host_buffers = true}, &runner),
                     TK_OK);
    tk_status status = tki_runner_call(&runner, c, buffers, 0, &seconds);
    *overrun = runner.caller.overrun;
    if (status == TK_OK)
        assert_true(seconds >= 0);
    tki_runner_close(&runner);
    return status;
}

enum { N = 1000 };

static void outputs_come_back_at_any_alignment(void **state)
{
    scene *s = *state;
    tk_case c = gelu_case(N);
    _Alignas(256) uint16_t x[N + 128];
    _Alignas(256) uint16_t y[N + 128];
    for (int shift = 0; shift < 128; shift += 9) {
        int other = 127 - shift;
        for (int i = 0; i < N + 128; i++) {
            x[i] = (uint16_t)(i * 31 + shift);
            y[i] = 0xdead;
        }
        tki_overrun overrun;
        assert_int_equal(call_once(s, &c, (void *[]){x + shift, y + other}, &overrun), TK_OK);
        assert_int_equal(overrun.param, -1);
        assert_memory_equal(y + other, x + shift, N * sizeof *x);
        for (int i = 0; i < N + 128; i++)
            if (i < other || i >= other + N)
                assert_int_equal(y[i], 0xdead);
        params seen;
        memcpy(&seen, s->fake.launch_at(shift / 9)->params, sizeof seen);
        assert_int_equal(seen.in % 256, (uintptr_t)(x + shift) % 256);
        assert_int_equal(seen.out % 256, (uintptr_t)(y + other) % 256);
    }
}

static void writes_outside_are_seen(void **state)
{
    scene *s = *state;
    tk_case c = gelu_case(N);
    uint16_t x[N] = {0};
    uint16_t y[N];
    const int64_t places[] = {-1, -4096, 2 * N, 2 * N + 4095};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        tki_overrun overrun;
        wanted.spill_at = places[i];
        assert_int_equal(call_once(s, &c, (void *[]){x, y}, &overrun), TK_OK);
        assert_int_equal(overrun.param, 1);
        assert_int_equal(overrun.offset, places[i]);
    }
}

static void changed_inputs_come_back_changed(void **state)
{
    scene *s = *state;
    tk_case c = gelu_case(N);
    uint16_t x[N] = {0x1234};
    uint16_t y[N];
    tki_overrun overrun;
    wanted.smudge = 1;
    assert_int_equal(call_once(s, &c, (void *[]){x, y}, &overrun), TK_OK);
    assert_int_not_equal(x[0], 0x1234);
}

static void nothing_to_do(void **state)
{
    scene *s = *state;
    tk_case c = gelu_case(0);
    tki_overrun overrun;
    assert_int_equal(call_once(s, &c, (void *[]){NULL, NULL}, &overrun), TK_OK);
    assert_int_equal(overrun.param, -1);
}

static void bad_indices_are_named_once(void **state)
{
    scene *s = *state;
    tk_case c = tk_case_init(tk_contract_find("embedding_fwd"), TK_F16);
    c.dims[0] = 7;
    c.dims[1] = 3;
    c.dims[2] = 7;
    int32_t index[7] = {0};
    uint16_t weight[21] = {0};
    uint16_t out[21];
    tki_overrun overrun;
    wanted.bad_position = 5;
    assert_int_equal(call_once(s, &c, (void *[]){index, weight, out}, &overrun), TK_BAD_INDEX);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "embedding_fwd: index[5]"));
    wanted.bad_position = -1;
    assert_int_equal(call_once(s, &c, (void *[]){index, weight, out}, &overrun), TK_OK);
    assert_int_equal(tk_ctx_synchronize(s->ctx), TK_OK);
}

static void failures_of_the_driver(void **state)
{
    scene *s = *state;
    tk_case c = gelu_case(N);
    uint16_t x[N] = {0};
    uint16_t y[N];
    static const char *const calls[] = {"cuMemAlloc_v2=2",      "cuMemcpyHtoDAsync_v2=1", "cuMemcpyDtoHAsync_v2=1",
                                        "cuLaunchKernelEx=701", "cuEventRecord=1",        "cuMemsetD8Async=1"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tki_overrun overrun;
        setenv("FAKE_GPU_FAIL", calls[i], 1);
        tk_status status = call_once(s, &c, (void *[]){x, y}, &overrun);
        if (i == 0)
            assert_int_equal(status, TK_NO_MEMORY);
        else
            assert_int_not_equal(status, TK_OK);
        assert_true(strlen(tk_ctx_message(s->ctx)) > 10);
        unsetenv("FAKE_GPU_FAIL");
        assert_int_equal(call_once(s, &c, (void *[]){x, y}, &overrun), TK_OK);
    }
}

static void devices_by_name(void **state)
{
    scene *s = *state;
    static const char *const bad[] = {"", "cud", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda1", "tpu", "hip:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tk_ctx_use_device(s->ctx, bad[i]), TK_BAD_ARGUMENT);
        assert_non_null(s->ctx->gpu); /* a wrong name changes nothing */
    }
    assert_int_equal(tk_ctx_use_device(s->ctx, NULL), TK_BAD_ARGUMENT);
    assert_int_equal(tk_ctx_use_device(NULL, "cuda"), TK_BAD_ARGUMENT);
    assert_int_equal(tk_ctx_use_device(s->ctx, "cuda:0"), TK_OK);
    assert_string_equal(tki_ctx_backend(s->ctx)->name, "cuda");
    assert_int_equal(tk_ctx_use_device(s->ctx, "cuda:7"), TK_UNAVAILABLE);
    assert_string_equal(tki_ctx_backend(s->ctx)->name, "cpu");
    assert_int_equal(tk_ctx_use_device(s->ctx, "cpu"), TK_OK);
    assert_int_equal(tk_ctx_set_stream(s->ctx, NULL), TK_BAD_ARGUMENT);
    assert_int_equal(tk_ctx_synchronize(s->ctx), TK_OK);
}

/* The same four calls on a device and on the CPU. */
static void memory_of_a_context(void **state)
{
    scene *s = *state;
    static const char *const devices[] = {"cuda", "cpu"};
    for (int d = 0; d < 2; d++) {
        char there[300];
        char back[300];
        void *memory = NULL;
        memset(there, 'a' + d, sizeof there);
        assert_int_equal(tk_ctx_use_device(s->ctx, devices[d]), TK_OK);
        assert_int_equal(tk_memory_alloc(s->ctx, sizeof there, &memory), TK_OK);
        assert_int_equal((uintptr_t)memory % 256, 0);
        assert_int_equal(tk_memory_write(s->ctx, memory, there, sizeof there), TK_OK);
        assert_int_equal(tk_memory_read(s->ctx, back, memory, sizeof back), TK_OK);
        assert_memory_equal(there, back, sizeof back);
        assert_int_equal(tk_memory_write(s->ctx, NULL, there, 1), TK_BAD_ARGUMENT);
        assert_int_equal(tk_memory_read(s->ctx, NULL, memory, 1), TK_BAD_ARGUMENT);
        assert_int_equal(tk_memory_read(s->ctx, NULL, NULL, 0), TK_OK);
        tk_memory_free(s->ctx, memory);
        assert_int_equal(tk_memory_alloc(s->ctx, SIZE_MAX, &memory), TK_NO_MEMORY);
        assert_null(memory);
        assert_int_equal(tk_memory_alloc(s->ctx, 1, NULL), TK_BAD_ARGUMENT);
    }
}

static tk_status run_with_scratch(scene *s, int64_t bytes)
{
    tki_runner runner;
    tk_case c = gelu_case(bytes);
    void *x;
    void *y;
    assert_int_equal(tk_memory_alloc(s->ctx, (size_t)bytes * 2, &x), TK_OK);
    assert_int_equal(tk_memory_alloc(s->ctx, (size_t)bytes * 2, &y), TK_OK);
    assert_int_equal(tki_runner_open(s->ctx, &(tki_runnable){.lowering = &scratch_row}, &runner), TK_OK);
    tk_status status = tki_runner_call(&runner, &c, (void *[]){x, y}, 0, NULL);
    tki_runner_close(&runner);
    if (status == TK_OK)
        status = tk_ctx_synchronize(s->ctx);
    tk_memory_free(s->ctx, x);
    tk_memory_free(s->ctx, y);
    return status;
}

static void scratch_in_device_memory(void **state)
{
    scene *s = *state;
    assert_int_equal(run_with_scratch(s, 1000), TK_OK);
    assert_int_equal(run_with_scratch(s, 5000), TK_OK);
    void *mine;
    assert_int_equal(tk_memory_alloc(s->ctx, 2048, &mine), TK_OK);
    assert_int_equal(tk_ctx_set_scratch(s->ctx, (char *)mine + 64, 1024), TK_BAD_ARGUMENT);
    assert_int_equal(tk_ctx_set_scratch(s->ctx, mine, 2048), TK_OK);
    assert_int_equal(run_with_scratch(s, 2048), TK_OK);
    assert_int_equal(run_with_scratch(s, 2049), TK_NO_MEMORY);
    assert_int_equal(tk_ctx_set_scratch(s->ctx, NULL, 0), TK_OK);
    assert_int_equal(run_with_scratch(s, 2049), TK_OK);
    tk_memory_free(s->ctx, mine);
}

static void nothing_is_allocated_during_a_capture(void **state)
{
    scene *s = *state;
    assert_int_equal(run_with_scratch(s, 1000), TK_OK);
    setenv("FAKE_GPU_CAPTURING", "1", 1);
    tk_case c = gelu_case(3000);
    tki_runner runner;
    assert_int_equal(tki_runner_open(s->ctx, &(tki_runnable){.lowering = &scratch_row}, &runner), TK_OK);
    assert_int_equal(tki_runner_call(&runner, &c, (void *[]){NULL, NULL}, 0, NULL), TK_UNAVAILABLE);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "tk_prepare"));
    tki_runner_close(&runner);
    unsetenv("FAKE_GPU_CAPTURING");
}

/* A graph may be launched again when its context has long grown another block. */
static void what_a_graph_uses_is_kept(void **state)
{
    scene *s = *state;
    char bytes[8];
    assert_int_equal(run_with_scratch(s, 1000), TK_OK);
    setenv("FAKE_GPU_CAPTURING", "1", 1);
    assert_int_equal(tki_device_reserve(s->ctx, 900), TK_OK); /* as a call does that is captured */
    unsetenv("FAKE_GPU_CAPTURING");
    const void *of_graph = s->ctx->device_scratch;
    assert_int_equal(run_with_scratch(s, 5000), TK_OK);
    const void *of_calls = s->ctx->device_scratch;
    assert_ptr_not_equal(of_calls, of_graph);
    assert_int_equal(tk_memory_read(s->ctx, bytes, of_graph, sizeof bytes), TK_OK);
    assert_int_equal(run_with_scratch(s, 9000), TK_OK);
    assert_int_equal(tk_memory_read(s->ctx, bytes, of_graph, sizeof bytes), TK_OK);
    assert_int_not_equal(tk_memory_read(s->ctx, bytes, of_calls, sizeof bytes), TK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(cuda, outputs_come_back_at_any_alignment),
        ON(cuda, writes_outside_are_seen),
        ON(cuda, changed_inputs_come_back_changed),
        ON(cuda, nothing_to_do),
        ON(cuda, bad_indices_are_named_once),
        ON(cuda, failures_of_the_driver),
        ON(cuda, devices_by_name),
        ON(cuda, memory_of_a_context),
        ON(cuda, scratch_in_device_memory),
        ON(cuda, nothing_is_allocated_during_a_capture),
        ON(cuda, what_a_graph_uses_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
