/* A kernel program on a GPU: copies in and out, the fields of the reply, devices that fail. The fake GPU (tests/fake_gpu/) runs kernels
 * written here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/gelu/params.h"
#include "serve/service.h"
#include "tests/fake_gpu/begin.h"
#include "tests/fake_gpu/on_both.h"
#include "tests/unit_test.h"

enum { LIMIT = 1 << 22 };

typedef struct scene {
    fake_gpu fake;
    const char *backend;
    tk_ctx *ctx;
    tki_service *service;
    char *request;
    const char *reply;
    size_t reply_length;
} scene;

/* Not the gradient, but something of both inputs that the test can tell. */
static int run_difference(const fake_launch *launch, fake_host_function *host)
{
    tki_gelu_params p;
    memcpy(&p, launch->params, sizeof p);
    const uint16_t *grad = host(p.grad_output, (size_t)p.n * 2), *x = host(p.x, (size_t)p.n * 2);
    uint16_t *out = host(p.out, (size_t)p.n * 2);
    if (!grad || !x || !out)
        return 700;
    for (int64_t i = 0; i < p.n; i++)
        out[i] = (uint16_t)(grad[i] - x[i]);
    return 0;
}

static int set_up(void **state)
{
    const char *backend = *state;
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    fake_gpu_begin(&s->fake, backend);
    s->backend = backend;
    s->fake.define("gelu_bwd", sizeof(tki_gelu_params), run_difference);
    assert_int_equal(tk_ctx_create(&s->ctx), TK_OK);
    if (tki_service_open(s->ctx, tki_serve_program_find("gelu-bwd"), backend, LIMIT, &s->service) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    s->fake.reset();
    tki_service_close(s->service);
    tk_ctx_destroy(s->ctx);
    fake_gpu_end(&s->fake);
    free(s->request);
    free(s);
    return 0;
}

/* N elements: grad_output is i + 5, input i. */
static int ask(scene *s, int n)
{
    size_t size = (size_t)n * 14 + 64, length;
    free(s->request);
    s->request = calloc(size, 1);
    assert_non_null(s->request);
    length = (size_t)sprintf(s->request, "%d", n);
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < n; i++)
            length += (size_t)sprintf(s->request + length, " %d", a ? i : i + 5);
    return tki_service_text(s->service, s->request, length, &s->reply, &s->reply_length);
}

static void assert_says(const scene *s, const char *text)
{
    if (!memmem(s->reply, s->reply_length, text, strlen(text)))
        fail_msg("'%.*s' does not say '%s'", (int)s->reply_length, s->reply, text);
}

static void replies(void **state)
{
    scene *s = *state;
    bool hip = !strcmp(s->backend, "hip");
    static const int sizes[] = {1, 3, 1000, 2, 60000, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(ask(s, sizes[i]), 0);
        assert_says(s, hip ? "GFX=gfx942\n" : "GFX=sm_90\n");
        assert_says(s, "DEVICE_NAME=Fake GPU 0\n");
        assert_int_equal(s->reply[s->reply_length - 1], '\n');
        const char *values = memmem(s->reply, s->reply_length, "\nRESULTS=", 9);
        assert_non_null(values);
        values += 9;
        assert_int_equal(s->reply + s->reply_length - values, 2 * sizes[i]);
        for (int e = 0; e < sizes[i]; e++)
            assert_int_equal(values[2 * e], '5');
        char field[64];
        const fake_launch *launch = s->fake.launch_at((int)i);
        assert_non_null(launch);
        snprintf(field, sizeof field, "\nGRID=%u\nBLOCK=%u\nKERNEL_TIME_MS=", launch->blocks[0], launch->threads);
        assert_says(s, field);
    }
}

/* What goes wrong on the device is status 10, with the driver's word. */
static void device_errors(void **state)
{
    scene *s = *state;
    bool hip = !strcmp(s->backend, "hip");
    assert_int_equal(ask(s, 3), 0);
    setenv("FAKE_GPU_FAIL", hip ? "hipMalloc=2" : "cuMemAlloc_v2=2", 1);
    assert_int_equal(ask(s, 50000), TKI_SERVE_DEVICE);
    assert_says(s, hip ? "hipMalloc" : "cuMemAlloc");
    unsetenv("FAKE_GPU_FAIL");
    assert_int_equal(ask(s, 50000), 0);
    setenv("FAKE_GPU_FAIL", hip ? "hipModuleLaunchKernel=1" : "cuLaunchKernelEx=1", 1);
    assert_int_equal(ask(s, 3), TKI_SERVE_DEVICE);
    unsetenv("FAKE_GPU_FAIL");
    assert_int_equal(ask(s, 3), 0);
    setenv("FAKE_GPU_FAIL", "async=700", 1);
    assert_int_equal(ask(s, 3), TKI_SERVE_DEVICE);
    unsetenv("FAKE_GPU_FAIL");
    assert_int_equal(ask(s, 3), TKI_SERVE_DEVICE); /* the context is lost */
}

static void no_such_device(void **state)
{
    scene *s = *state;
    tk_ctx *ctx;
    tki_service *service;
    char device[32];
    snprintf(device, sizeof device, "%s:77", s->backend);
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_int_equal(tki_service_open(ctx, tki_serve_program_at(0), device, LIMIT, &service), TK_UNAVAILABLE);
    assert_null(service);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(replies),
        ON_BOTH(device_errors),
        ON_BOTH(no_such_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
