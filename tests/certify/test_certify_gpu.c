/* Certifying on a GPU from end to end: inputs drawn, copied into guarded device memory, launched, copied back, judged, written down. The
 * fake GPU (tests/fake_gpu/) runs matrix products written here, right and wrong ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "core/dtype.h"
#include "ops/product/params.h"
#include "tests/fake_gpu/begin.h"
#include "tests/fake_gpu/on_both.h"
#include "tests/unit_test.h"
#include "tokitai_verify.h"

typedef enum mistake { NONE, LAST_ELEMENT_DROPPED, BYTE_BEHIND_WRITTEN, BYTE_BEFORE_WRITTEN, INPUT_CHANGED } mistake;

static mistake wanted;
static tk_dtype dtype; /* a compiled kernel knows it; this one is told */

static double factor(const tki_gemm_factor *f, const uint16_t *data, int64_t line, int64_t i)
{
    uint16_t bits = data[line * f->line_stride + i * f->inner_stride];
    return (double)(dtype == TK_F16 ? tki_f16_to_f32(bits) : tki_bf16_to_f32(bits));
}

static int run_product(const fake_launch *launch, fake_host_function *host)
{
    tki_gemm_params p;
    memcpy(&p, launch->params, sizeof p);
    /* A product over nothing reads nothing, and its factors may be anywhere. */
    uint16_t *left = host(p.left.data, p.inner ? (size_t)(p.rows * p.inner) * 2 : 0);
    uint16_t *right = host(p.right.data, p.inner ? (size_t)(p.cols * p.inner) * 2 : 0);
    uint16_t *out = host(p.out, (size_t)(p.rows * p.cols) * 2);
    if (!out || (p.inner && (!left || !right)))
        return 700;
    int64_t count = p.rows * p.cols - (wanted == LAST_ELEMENT_DROPPED);
    for (int64_t e = 0; e < count; e++) {
        double sum = 0;
        for (int64_t i = 0; i < p.inner; i++)
            sum += factor(&p.left, left, e / p.cols, i) * factor(&p.right, right, e % p.cols, i);
        out[e] = dtype == TK_F16 ? tki_f32_to_f16((float)sum) : tki_f32_to_bf16((float)sum);
    }
    /* The block that all the copies lie in is larger than each of them. */
    unsigned char *bytes = (unsigned char *)out;
    if (wanted == BYTE_BEHIND_WRITTEN)
        bytes[p.rows * p.cols * 2] ^= 1;
    if (wanted == BYTE_BEFORE_WRITTEN)
        bytes[-1] ^= 1;
    if (wanted == INPUT_CHANGED)
        left[0] ^= 1;
    return 0;
}

typedef struct scene {
    fake_gpu fake;
    tk_ctx *ctx;
    const char *backend;
    tk_certificate *certificate;
} scene;

static int set_up(void **state)
{
    const char *backend = *state;
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    fake_gpu_begin(&s->fake, backend);
    assert_int_equal(setenv("FAKE_GPU_CAPABILITY", strcmp(backend, "hip") != 0 ? "80" : "94", 1),
                     0); /* Hopper has its own */
    s->backend = backend;
    static const char *const names[] = {"product_64",       "product_128",      "product_nn_large",
                                        "product_nn_small", "product_nn_pairs", "product_nt_large",
                                        "product_nt_small", "product_nt_pairs", "product_tn_large",
                                        "product_tn_small", "product_tn_pairs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        s->fake.define(names[i], sizeof(tki_gemm_params), run_product);
    assert_int_equal(tk_ctx_create(&s->ctx), TK_OK);
    if (tk_ctx_use_device(s->ctx, backend) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    wanted = NONE;
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    s->fake.reset();
    tk_certificate_destroy(s->certificate);
    tk_ctx_destroy(s->ctx);
    fake_gpu_end(&s->fake);
    free(s);
    return 0;
}

static tk_verdict certify(scene *s, const char *op, const int64_t dims[3])
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.backend = s->backend;
    options.dims = dims;
    options.skip_mutants = true;
    tk_certificate_destroy(s->certificate);
    s->certificate = NULL;
    tk_status status = tk_certify(s->ctx, tk_contract_find(op), dtype, TK_I32, &options, &s->certificate);
    if (status != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
    return tk_certificate_verdict(s->certificate);
}

static void assert_reason(const scene *s, const char *part)
{
    if (!strstr(tk_certificate_reason(s->certificate), part))
        fail_msg("'%s' does not say '%s'", tk_certificate_reason(s->certificate), part);
}

static void test_held(void **state)
{
    scene *s = *state;
    static const char *const ops[] = {"gemm", "gemm_grad_a", "gemm_grad_b"};
    static const int64_t shapes[][3] = {{1, 1, 1}, {17, 33, 9}, {5, 3, 0}, {0, 4, 4}, {64, 65, 130}};
    for (size_t op = 0; op < sizeof ops / sizeof *ops; op++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (dtype = TK_F16; dtype <= TK_BF16; dtype++) {
                const tk_verdict verdict = certify(s, ops[op], shapes[i]);
                /* Without an element there is nothing to hold. */
                const bool nothing = tk_certificate_elements(s->certificate) == 0;
                if (verdict != (nothing ? TK_UNKNOWN : TK_HELD))
                    fail_msg("%s: %s", ops[op], tk_certificate_reason(s->certificate));
                if (nothing)
                    assert_reason(s, "nothing was judged");
            }
    char subject[64];
    snprintf(subject, sizeof subject, "%s.gemm_grad_b.bf16.tensor", s->backend);
    assert_string_equal(tk_certificate_subject(s->certificate), subject);
    assert_true(tk_certificate_elements(s->certificate) > 0);
    const char *json = tk_certificate_json(s->certificate);
    assert_non_null(json);
    assert_non_null(strstr(json, "Fake GPU 0"));
    assert_non_null(strstr(json, !strcmp(s->backend, "hip") ? "gfx942" : "sm_80"));
    assert_non_null(strstr(json, !strcmp(s->backend, "hip") ? "HIPRTC 6.2" : "NVRTC 12.4"));
}

/* Matrix units are the default, judged by their numerics; who asks for ieee gets a lowering that promises that. */
static void test_numerics(void **state)
{
    scene *s = *state;
    static const int64_t shape[3] = {17, 33, 9};
    const struct {
        const char *asked, *variant, *judged;
    } rows[] = {{NULL, "tensor", "tensor_core"},
                {"any", "tensor", "tensor_core"},
                {"tensor_core", "tensor", "tensor_core"},
                {"ieee", "shared", "ieee"}};
    dtype = TK_F16;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tk_setting setting = {"numerics", rows[i].asked};
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.backend = s->backend;
        options.dims = shape;
        options.skip_mutants = true;
        options.settings = &setting;
        options.setting_count = rows[i].asked != NULL;
        tk_certificate_destroy(s->certificate);
        s->certificate = NULL;
        assert_int_equal(tk_certify(s->ctx, tk_contract_find("gemm"), TK_F16, TK_I32, &options, &s->certificate),
                         TK_OK);
        assert_int_equal(tk_certificate_verdict(s->certificate), TK_HELD);
        char subject[64];
        snprintf(subject, sizeof subject, "%s.gemm.f16.%s", s->backend, rows[i].variant);
        assert_string_equal(tk_certificate_subject(s->certificate), subject);
        assert_string_equal(tki_certificate_text(s->certificate, "run.attributes.numerics"), rows[i].judged);
    }
}

/* Which row a case gets: by its numerics and by its types. */
static void test_plan(void **state)
{
    scene *s = *state;
    const tk_contract *op = tk_contract_find("gemm_grad_a");
    const int numerics = tk_attribute_find(op, "numerics");
    const struct {
        tk_types types;
        const char *numerics, *variant;
    } rows[] = {{{TK_F16, TK_F16}, "any", "tensor"},   {{TK_F16, TK_F16}, "ieee", "shared"},
                {{TK_BF16, TK_F32}, "any", "tensor"},  {{TK_BF16, TK_F32}, "tensor_core", "tensor"},
                {{TK_BF16, TK_F32}, "ieee", "shared"}, {{TK_F32, TK_F32}, "any", "shared"},
                {{TK_F32, TK_F32}, "ieee", "shared"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tk_case c = tk_case_init(op, rows[i].types.dtype);
        c.result_dtype = rows[i].types.result_dtype;
        assert_int_equal(c.attributes[numerics].integer, tk_choice_find(&op->attributes[numerics], "any"));
        c.attributes[numerics].integer = tk_choice_find(&op->attributes[numerics], rows[i].numerics);
        tk_lowering_info info = {0};
        for (int row = 0; tk_lowering_at(op, row, &info); row++)
            if (!strcmp(info.backend, s->backend) && !tk_lowering_refusal(s->ctx, &c, row))
                break;
        assert_string_equal(info.variant, rows[i].variant);
    }
}

/* One source serves both vendors: each says that nothing is claimed of the other. */
static void test_other_vendor(void **state)
{
    scene *s = *state;
    static const int64_t shape[3] = {17, 33, 9};
    const char *const sentences[] = {
        "The same source is compiled for HIP as well; no run on an AMD device is claimed.",
        "The same source is compiled for CUDA as well; no run on an NVIDIA device is claimed."};
    const bool hip = !strcmp(s->backend, "hip");
    dtype = TK_F16;
    assert_int_equal(certify(s, "gemm", shape), TK_HELD);
    assert_non_null(strstr(tk_certificate_json(s->certificate), sentences[hip]));
    assert_null(strstr(tk_certificate_json(s->certificate), sentences[!hip]));
}

/* What the compiler tells of the kernels stands on the page for people too; HIPRTC does not tell. */
static void test_resources(void **state)
{
    scene *s = *state;
    static const int64_t shape[3] = {17, 33, 9};
    dtype = TK_F16;
    assert_int_equal(certify(s, "gemm", shape), TK_HELD);
    const char *page = tk_certificate_markdown(s->certificate);
    assert_non_null(page);
    const char *table = strstr(page,
                               "| kernel | registers | shared bytes | stack bytes | spilled bytes stored | spilled "
                               "bytes loaded |\n|---|---|---|---|---|---|\n| fake | 40 | 128 | 0 | 0 | 0 |\n");
    if (!strcmp(s->backend, "cuda"))
        assert_non_null(table);
    else
        assert_null(strstr(page, "registers"));
}

/* Names come from a compiler's output, by way of a file. */
static void test_foreign_names(void **state)
{
    scene *s = *state;
    static const int64_t shape[3] = {17, 33, 9};
    dtype = TK_F16;
    assert_int_equal(setenv("FAKE_GPU_COMPILE", "latin-1", 1), 0);
    assert_int_equal(certify(s, "gemm", shape), TK_HELD);
    const char *row = strstr(tk_certificate_markdown(s->certificate), "| f\\\\xe4ke | 40 | 128 | 0 | 0 | 0 |\n");
    assert_true((row != NULL) == !strcmp(s->backend, "cuda"));
}

static void test_refuted(void **state)
{
    scene *s = *state;
    static const int64_t shape[3] = {17, 33, 9};
    dtype = TK_F16;
    wanted = LAST_ELEMENT_DROPPED;
    assert_int_equal(certify(s, "gemm", shape), TK_REFUTED);
    assert_reason(s, "unwritten");
    wanted = BYTE_BEHIND_WRITTEN;
    assert_int_equal(certify(s, "gemm", shape), TK_REFUTED);
    assert_reason(s, "wrote outside c, at byte 2 of its 2");
    wanted = BYTE_BEFORE_WRITTEN;
    assert_int_equal(certify(s, "gemm", shape), TK_REFUTED);
    assert_reason(s, "wrote outside c, at byte -1 of its 2");
    wanted = INPUT_CHANGED;
    assert_int_equal(certify(s, "gemm", shape), TK_REFUTED);
    assert_reason(s, "changed its input a");
    wanted = NONE;
    assert_int_equal(certify(s, "gemm", shape), TK_HELD);
    assert_string_equal(tk_certificate_reason(s->certificate), "");
}

/* A device that fails is neither right nor wrong. */
static void test_unknown(void **state)
{
    scene *s = *state;
    static const int64_t shape[3] = {4, 4, 4};
    dtype = TK_F16;
    assert_int_equal(setenv("FAKE_GPU_FAIL", "async=700@2", 1), 0);
    assert_int_equal(certify(s, "gemm", shape), TK_UNKNOWN);
    assert_reason(s, "the device's context is lost");
    s->fake.reset();
    assert_int_equal(setenv("FAKE_GPU_FAIL", "cuLaunchKernel=1,hipModuleLaunchKernel=1", 1), 0);
    assert_int_equal(certify(s, "gemm", shape), TK_UNKNOWN);
    assert_reason(s, "launching product_nn_pairs");
    unsetenv("FAKE_GPU_FAIL");
    s->fake.reset();
    assert_int_equal(certify(s, "gemm", shape), TK_HELD);
}

/* A program that has captured nothing yet calls tk_prepare() first; then a captured call only launches. */
static void test_capture(void **state)
{
    scene *s = *state;
    tk_case c = tk_case_init(tk_contract_find("gemm"), TK_F16);
    c.dims[0] = c.dims[1] = c.dims[2] = 2;
    static const uint16_t one[4] = {0x3c00, 0, 0, 0x3c00}, numbers[4] = {0x3c00, 0x4000, 0x4200, 0x4400};
    uint16_t result[4];
    void *a, *b, *out;
    dtype = TK_F16;
    assert_int_equal(tk_memory_alloc(s->ctx, sizeof one, &a), TK_OK);
    assert_int_equal(tk_memory_alloc(s->ctx, sizeof one, &b), TK_OK);
    assert_int_equal(tk_memory_alloc(s->ctx, sizeof one, &out), TK_OK);
    assert_int_equal(tk_memory_write(s->ctx, a, one, sizeof one), TK_OK);
    assert_int_equal(tk_memory_write(s->ctx, b, numbers, sizeof numbers), TK_OK);
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "1", 1), 0);
    assert_int_equal(tk_run(s->ctx, &c, (void *[]){a, b, out}), TK_UNAVAILABLE);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "tk_prepare()"));
    assert_null(s->fake.launch_at(0));
    unsetenv("FAKE_GPU_CAPTURING");
    assert_int_equal(tk_prepare(s->ctx, &c), TK_OK);
    assert_null(s->fake.launch_at(0));
    assert_int_equal(setenv("FAKE_GPU_CAPTURING", "1", 1), 0);
    assert_int_equal(tk_run(s->ctx, &c, (void *[]){a, b, out}), TK_OK);
    unsetenv("FAKE_GPU_CAPTURING");
    assert_int_equal(tk_memory_read(s->ctx, result, out, sizeof result), TK_OK);
    assert_memory_equal(result, numbers, sizeof result);
    tk_memory_free(s->ctx, a);
    tk_memory_free(s->ctx, b);
    tk_memory_free(s->ctx, out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_held),         ON_BOTH(test_numerics),  ON_BOTH(test_plan),
        ON_BOTH(test_other_vendor), ON_BOTH(test_resources), ON_BOTH(test_foreign_names),
        ON_BOTH(test_refuted),      ON_BOTH(test_unknown),   ON_BOTH(test_capture),
    };
    return cmocka_run_group_tests_name("certify.certify_gpu", tests, NULL, NULL);
}
