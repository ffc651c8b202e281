/* The worker on GPUs that are not there (tests/fake_gpu): what goes to the device and back, and what is seen on the way. */
#include "core/clock.h"
#include "isolate/worker_process.h"
#include "tests/fake_gpu/begin.h"
#include "tests/op_test.h"
#include "tests/worker_test.h"

enum { SIZE = 300 };

typedef struct trial {
    tk_ctx *ctx;
    tk_case c;
    uint16_t x[SIZE], y[SIZE];
    void *buffers[2];
    tki_overrun overrun;
    tki_worker *worker;
} trial;

static const char *const backends[] = {"cuda", "hip"};

static tk_status try_open(trial *t, const char *backend, const char *name)
{
    char kernel[64];
    *t = (trial){.ctx = new_context(), .c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16)};
    snprintf(kernel, sizeof kernel, "%s_%s", backend, name);
    for (int i = 0; i < SIZE; i++)
        t->x[i] = (uint16_t)(i * 7 + 1);
    t->c.dims[0] = SIZE - 1;
    t->buffers[0] = t->x;
    t->buffers[1] = t->y + 1; /* another alignment */
    tki_worker_options options = {.backend = tki_backend_find(backend, ""), .call_seconds = 2};
    return tki_worker_open(t->ctx, kernel_path(kernel), t->c.contract, &options, &t->worker);
}

static void open_worker(trial *t, const char *backend, const char *name)
{
    tk_status status = try_open(t, backend, name);
    assert_ok(t->ctx, status);
}

static tk_status call(trial *t, double *seconds)
{
    memset(t->y, 0xa5, sizeof t->y);
    return tki_worker_call(t->worker, &t->c, t->buffers, 1, seconds, &t->overrun);
}

static void finish(trial *t)
{
    tki_worker_close(t->worker);
    tk_ctx_destroy(t->ctx);
    assert_nothing_left();
}

TEST(correct)
{
    for (int b = 0; b < 2; b++) {
        trial t;
        open_worker(&t, backends[b], "copy");
        for (int i = 0; i < 10; i++) {
            double seconds = -1;
            assert_ok(t.ctx, call(&t, &seconds));
            assert_memory_equal(t.y + 1, t.x, 2 * (SIZE - 1));
            assert_int_equal(t.y[0], 0xa5a5);
            assert_int_equal(t.overrun.param, -1);
            assert_true(seconds >= 0 && seconds < 2);
        }
        finish(&t);
    }
}

TEST(outside_and_inside)
{
    for (int b = 0; b < 2; b++) {
        trial t;
        open_worker(&t, backends[b], "write_behind");
        assert_ok(t.ctx, call(&t, NULL));
        assert_int_equal(t.overrun.param, 1);
        assert_int_equal(t.overrun.offset, 2 * (SIZE - 1));
        finish(&t);
        /* The caller sees that its input changed. */
        open_worker(&t, backends[b], "write_to_input");
        assert_int_equal(t.x[0], 1);
        assert_ok(t.ctx, call(&t, NULL));
        assert_int_equal(t.x[0], 8);
        finish(&t);
    }
}

/* Every array lies on the device as it does in the caller's memory, whatever the others do, in memory of its own too. */
TEST(placements)
{
    static const size_t offsets[] = {0, 2, 4, 6, 8, 16, 24, 64, 128, 192, 254};
    enum { OFFSETS = sizeof offsets / sizeof *offsets, ROOM = 4 * 256 };
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tests/stand_in:%s", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : "..",
             getenv("PATH"));
    setenv("PATH", path, 1);
    for (int apart = 0; apart < 2; apart++) {
        trial t = {.ctx = new_context(), .c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16)};
        tki_worker_options options = {.backend = &tki_backends[TKI_CUDA],
                                      .sanitizer = apart ? TKI_SANITIZER_MEMCHECK : TKI_SANITIZER_NONE};
        assert_ok(t.ctx, tki_worker_open(t.ctx, kernel_path("cuda_tell_places"), t.c.contract, &options, &t.worker));
        unsigned char *x = aligned_alloc(256, ROOM), *y = aligned_alloc(256, ROOM);
        for (int i = 0; i < OFFSETS * OFFSETS; i++) {
            uint16_t seen[2];
            const size_t places[2] = {offsets[i % OFFSETS], offsets[i / OFFSETS]};
            t.c.dims[0] = 2 + i % 5; /* ragged ends */
            memset(x, 0, ROOM);
            memset(y, 0xa5, ROOM);
            assert_ok(t.ctx,
                      tki_worker_call(t.worker, &t.c, (void *[]){x + places[0], y + places[1]}, 1, NULL, &t.overrun));
            memcpy(seen, y + places[1], sizeof seen);
            assert_int_equal(seen[0], places[0]);
            assert_int_equal(seen[1], places[1]);
            assert_int_equal(t.overrun.param, -1);
        }
        free(x);
        free(y);
        finish(&t);
    }
}

TEST(faults)
{
    static const struct {
        const char *name;
        tk_status status;
        const char *text;
    } list[] = {
        {"illegal_address", TK_KERNEL_FAULT, "(700"},
        {"finish_late", TK_KERNEL_FAULT, "its result changed after its stream had finished"},
        {"endless", TK_TIMEOUT, "did not return within 2 seconds"},
        {"touch_device_memory", TK_KERNEL_FAULT, "signal 11"},
    };
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
            trial t;
            double start = tki_now();
            open_worker(&t, backends[b], list[i].name);
            /* The worker starts again, with a context of its own. */
            for (int k = 0; k < 2; k++) {
                assert_refused(t.ctx, call(&t, NULL), list[i].status, list[i].text);
                assert_int_equal(t.y[1], 0xa5a5);
            }
            assert_true(tki_now() - start < 20);
            finish(&t);
        }
}

TEST(no_device)
{
    trial t;
    fake_gpu_use("TOKITAI_CUDA_LIBRARY", "libcuda_without_launch.so");
    tk_status status = try_open(&t, "cuda", "copy");
    assert_refused(t.ctx, status, TK_UNAVAILABLE, "the worker has no device");
    finish(&t);
    setenv("TOKITAI_CUDA_LIBRARY", "/nowhere.so", 1);
    status = try_open(&t, "cuda", "copy");
    assert_refused(t.ctx, status, TK_UNAVAILABLE, "the worker has no device");
    finish(&t);
    status = try_open(&t, "hip", "copy");
    assert_ok(t.ctx, status);
    finish(&t);
}

static int begin(void **state)
{
    fake_gpu_use("TOKITAI_CUDA_LIBRARY", "libcuda.so.1");
    fake_gpu_use("TOKITAI_HIP_LIBRARY", "libamdhip64.so.6");
    return begin_worker_test(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct), cmocka_unit_test(outside_and_inside), cmocka_unit_test(placements),
        cmocka_unit_test(faults),  cmocka_unit_test(no_device),
    };
    return cmocka_run_group_tests(tests, begin, end_worker_test);
}
