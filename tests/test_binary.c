/* Binary frames to a kernel program: cut anywhere, changed anywhere, and what stands in the reply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/binary.h"

enum { LIMIT = 1 << 20, QUERIES = 3, DIM = 2, VOCAB = 4 };

typedef struct frame {
    tki_wire_call call;
    int64_t index[QUERIES];
    uint16_t weight[VOCAB * DIM];
} frame;

typedef struct scene {
    tk_ctx *ctx;
    tki_service *service;
    tki_shared_set shared;
    tki_binary_reply reply;
} scene;

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_int_equal(tk_ctx_create(&s->ctx), TK_OK);
    assert_int_equal(tki_service_open(s->ctx, tki_serve_program_find("embedding"), "cpu", LIMIT, &s->service), TK_OK);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    tki_shared_unmap(&s->shared);
    tki_service_close(s->service);
    tk_ctx_destroy(s->ctx);
    free(s);
    return 0;
}

static frame good_frame(void)
{
    return (frame){.call = {.header = {TKI_WIRE_MAGIC, TKI_WIRE_CALL, 0x123456789abcdef},
                            .op = "embedding_fwd",
                            .dtype = TK_BF16,
                            .index_dtype = TK_I64,
                            .dims = {QUERIES, DIM, VOCAB},
                            .scale = 1,
                            .ignore_index = -100,
                            .buffer_count = 3,
                            .buffers = {{QUERIES * 8, offsetof(frame, index), TKI_WIRE_INLINE, 0},
                                        {VOCAB * DIM * 2, offsetof(frame, weight), TKI_WIRE_INLINE, 0},
                                        {QUERIES * DIM * 2, 0, TKI_WIRE_INLINE, 1}}},
                   .index = {3, 0, 2},
                   .weight = {10, 11, 20, 21, 30, 31, 40, 41}};
}

/* In a block of exactly its size, for the sanitizers. The reply must be one in any case. */
static int serve(scene *s, const void *data, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    int status = tki_service_binary(s->service, copy, bytes, NULL, 0, &s->shared, &s->reply);
    size_t total = sizeof s->reply.fixed + s->reply.text_bytes + s->reply.array_bytes;
    char *whole = malloc(total);
    assert_non_null(whole);
    memcpy(whole, &s->reply.fixed, sizeof s->reply.fixed);
    memcpy(whole + sizeof s->reply.fixed, s->reply.text, s->reply.text_bytes);
    if (s->reply.array_bytes > 0)
        memcpy(whole + sizeof s->reply.fixed + s->reply.text_bytes, s->reply.array, s->reply.array_bytes);
    tki_wire_header header = {0};
    if (bytes >= sizeof header)
        memcpy(&header, data, sizeof header);
    const char *wrong = tki_wire_check_reply(whole, total, TKI_WIRE_REPLY, header.nonce, 0);
    if (wrong)
        fail_msg("%s", wrong);
    assert_int_equal(s->reply.fixed.status, status);
    assert_int_equal(s->reply.array_bytes > 0, status == 0);
    assert_true(s->reply.fixed.text_bytes > 0);
    free(whole);
    free(copy);
    return status;
}

static void good(void **state)
{
    scene *s = *state;
    frame f = good_frame();
    static const uint16_t expected[] = {40, 41, 10, 11, 30, 31};
    static const char head[] = "DEVICE_NAME=";
    assert_int_equal(serve(s, &f, sizeof f), 0);
    assert_int_equal(s->reply.array_bytes, sizeof expected);
    assert_memory_equal(s->reply.text, head, sizeof head - 1);
    const uint16_t *out = tki_service_array(s->service, 2)->data;
    assert_ptr_equal(s->reply.array, out);
    assert_memory_equal(out, expected, sizeof expected);
    f.index[1] = VOCAB;
    assert_int_equal(serve(s, &f, sizeof f), TKI_SERVE_BAD_INDEX);
}

static void cut_anywhere(void **state)
{
    scene *s = *state;
    frame f = good_frame();
    for (size_t bytes = 0; bytes < sizeof f; bytes++)
        assert_int_equal(serve(s, &f, bytes), TKI_SERVE_BAD_HEADER);
    assert_int_equal(serve(s, &f, sizeof f), 0);
}

/* Every bit of the fixed part turned over: refused, or a request all the same, never anything else. */
static void changed_anywhere(void **state)
{
    scene *s = *state;
    int served = 0;
    for (size_t bit = 0; bit < 8 * sizeof(tki_wire_call); bit++) {
        frame f = good_frame();
        ((unsigned char *)&f)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int status = serve(s, &f, sizeof f);
        assert_true(status == 0 || (status >= 2 && status <= 11));
        served += status == 0;
        bool matters = bit / 8 < 8 || (bit / 8 >= 16 && bit / 8 < 80) || bit / 8 >= offsetof(tki_wire_call, buffers);
        bool is_dtype = bit == 8 * offsetof(tki_wire_call, dtype);
        bool is_spare = bit / 8 >= offsetof(tki_wire_call, buffers[2].place) &&
                        bit / 8 < offsetof(tki_wire_call, buffers[2].memory);
        bool is_unused = bit / 8 >= offsetof(tki_wire_call, buffers[3]);
        bool is_name_behind_its_end = bit / 8 > 16 + strlen("embedding_fwd") && bit / 8 < 48;
        /* An array may lie elsewhere in its frame. */
        bool is_place = status == 0 && (bit / 8 - offsetof(tki_wire_call, buffers)) % 24 / 8 == 1;
        if (matters && !is_dtype && !is_spare && !is_unused && !is_name_behind_its_end && !is_place && status == 0)
            fail_msg("bit %zu of byte %zu makes no difference", bit % 8, bit / 8);
    }
    assert_true(served > 0);
}

static void trailing_bytes(void **state)
{
    scene *s = *state;
    struct {
        frame f;
        char more[16];
    } longer = {.f = good_frame()};
    assert_int_equal(serve(s, &longer, sizeof longer.f + 7), 0); /* padding */
    assert_int_equal(serve(s, &longer, sizeof longer.f + 8), 6);
    assert_int_equal(serve(s, &longer, sizeof longer), 6);
}

static void products_that_overflow(void **state)
{
    scene *s = *state;
    static const int64_t dims[][3] = {{INT64_MAX, 2, VOCAB},
                                      {QUERIES, INT64_MAX, VOCAB},
                                      {QUERIES, 2, INT64_MAX},
                                      {(int64_t)1 << 61, DIM, VOCAB},
                                      {QUERIES, (int64_t)1 << 32, (int64_t)1 << 32}};
    static const int statuses[] = {5, 6, 6, 5, 6};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        frame f = good_frame();
        memcpy(f.call.dims, dims[i], sizeof f.call.dims);
        assert_int_equal(serve(s, &f, sizeof f), statuses[i]);
    }
    /* An output that would not fit in a reply, of inputs that are there. */
    frame f = good_frame();
    strcpy(f.call.op, "embedding_bwd");
    f.call.dims[2] = (int64_t)1 << 40;
    f.call.buffers[0] = (tki_wire_buffer){QUERIES * DIM * 2, offsetof(frame, weight), TKI_WIRE_INLINE, 0};
    f.call.buffers[1] = (tki_wire_buffer){QUERIES * 8, offsetof(frame, index), TKI_WIRE_INLINE, 0};
    f.call.buffers[2].bytes = (uint64_t)f.call.dims[2] * DIM * 2;
    assert_int_equal(serve(s, &f, offsetof(frame, weight) + QUERIES * DIM * 2), TKI_SERVE_DEVICE);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "more than the 1048576 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trailing_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(products_that_overflow, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
