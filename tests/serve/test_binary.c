/* Binary frames to a kernel program: cut anywhere, changed anywhere, and what stands in the reply. */
#include <stdlib.h>
#include <string.h>

#include "serve/binary.h"
#include "tests/unit_test.h"

enum { LIMIT = 1 << 20, QUERIES = 3, DIM = 2, VOCAB = 4, DIMS = 3, TENSORS = 3 };
enum { INDEX, WEIGHT, OUT };

typedef struct frame {
    tki_wire_head head;
    int64_t dims[DIMS];
    tki_wire_buffer tensors[TENSORS];
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
    return (frame){
        .head = {.header = {TKI_WIRE_MAGIC, TKI_WIRE_CALL, 0x123456789abcdef},
                 .op = "embedding_fwd",
                 .dtype = TK_BF16,
                 .result_dtype = TK_BF16,
                 .index_dtype = TK_I64,
                 .dim_count = DIMS,
                 .buffer_count = TENSORS},
        .dims = {QUERIES, DIM, VOCAB},
        .tensors =
            {{QUERIES * 8, offsetof(frame, index), TKI_WIRE_INLINE, 0, TK_I64, 1, {QUERIES}, "index"},
             {VOCAB * DIM * 2, offsetof(frame, weight), TKI_WIRE_INLINE, 0, TK_BF16, 2, {VOCAB, DIM}, "weight"},
             {QUERIES * DIM * 2, 0, TKI_WIRE_INLINE, 1, TK_BF16, 2, {QUERIES, DIM}, "out"}},
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
    const size_t fixed = tki_wire_reply_bytes(&s->reply.fixed);
    const size_t before = fixed + s->reply.text_bytes, total = before + s->reply.array_bytes;
    char *whole = malloc(total);
    assert_non_null(whole);
    memcpy(whole, &s->reply.fixed, sizeof s->reply.fixed);
    memcpy(whole + sizeof s->reply.fixed, s->reply.buffers, fixed - sizeof s->reply.fixed);
    memcpy(whole + fixed, s->reply.text, s->reply.text_bytes);
    if (s->reply.array_bytes > 0)
        memcpy(whole + before, s->reply.array, s->reply.array_bytes);
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
    const uint16_t *out = s->service->arrays[2].data;
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

static bool is_within(size_t byte, size_t from, size_t count)
{
    return byte >= from && byte < from + count;
}

static bool is_behind_name(size_t byte, const char *name, size_t from, size_t size)
{
    return is_within(byte, from + strlen(name) + 1, size - strlen(name) - 1);
}

/* Bytes that a reader has no use for. */
static bool is_spare(const frame *f, size_t byte)
{
    bool spare = is_within(byte, offsetof(frame, head.header.nonce), sizeof(uint64_t)) ||
                 is_behind_name(byte, f->head.op, offsetof(frame, head.op), sizeof f->head.op);
    for (int p = 0; p < TENSORS; p++) {
        const size_t at = offsetof(frame, tensors) + (size_t)p * sizeof(tki_wire_buffer);
        const size_t rank = (size_t)f->tensors[p].rank;
        spare |= is_behind_name(byte, f->tensors[p].name, at + offsetof(tki_wire_buffer, name), TKI_WIRE_NAME) ||
                 is_within(byte, at + offsetof(tki_wire_buffer, shape) + 8 * rank, 8 * (TKI_WIRE_RANK - rank));
    }
    return spare || is_within(byte, offsetof(frame, tensors[OUT].place), sizeof(uint64_t));
}

/* Where more than one value is right: an array may lie elsewhere in its frame, and the work is split among some threads. */
static bool is_free(size_t byte)
{
    return is_within(byte, offsetof(frame, head.threads), sizeof(int32_t)) ||
           is_within(byte, offsetof(frame, tensors[INDEX].place), sizeof(uint64_t)) ||
           is_within(byte, offsetof(frame, tensors[WEIGHT].place), sizeof(uint64_t));
}

/* Every bit of the call but its arrays turned over: refused, or it made no difference, never anything else. */
static void changed_anywhere(void **state)
{
    scene *s = *state;
    const frame original = good_frame();
    for (size_t bit = 0; bit < 8 * offsetof(frame, index); bit++) {
        frame f = original;
        ((unsigned char *)&f)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int status = serve(s, &f, sizeof f);
        assert_true(status == 0 || (status >= 2 && status <= 11));
        if (!is_free(bit / 8) && (status == 0) != is_spare(&original, bit / 8))
            fail_msg("bit %zu of byte %zu: status %d", bit % 8, bit / 8, status);
    }
}

/* Counts that no frame can have, or that this frame has not, whatever it takes to hold them. */
static void counts_that_lie(void **state)
{
    scene *s = *state;
    static const int32_t counts[] = {INT32_MIN, -1, 0, 1, 2, 4, 32, 33, 64, 65, 1 << 24, INT32_MAX};
    const size_t bytes = sizeof(tki_wire_call) + sizeof(frame);
    void *frame_with_room = calloc(1, bytes);
    assert_non_null(frame_with_room);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int which = 0; which < 3; which++) {
            frame f = good_frame();
            *(which == 0   ? &f.head.dim_count
              : which == 1 ? &f.head.attribute_count
                           : &f.head.buffer_count) = counts[i];
            memcpy(frame_with_room, &f, sizeof f);
            if (which == 1 && counts[i] == 0)
                continue; /* it has none */
            assert_int_equal(serve(s, &f, sizeof f), TKI_SERVE_BAD_HEADER);
            assert_int_equal(serve(s, frame_with_room, bytes), TKI_SERVE_BAD_HEADER);
        }
    free(frame_with_room);
}

/* An attribute in front of the tensors: well made, and with what only a reader of attributes sees. */
static void attributes_that_no_op_has(void **state)
{
    scene *s = *state;
    struct {
        tki_wire_head head;
        int64_t dims[DIMS];
        tki_wire_attribute attribute;
        tki_wire_buffer tensors[TENSORS];
        int64_t index[QUERIES];
        uint16_t weight[VOCAB * DIM];
    } g;
    for (int wrong = 0; wrong < 4; wrong++) {
        frame f = good_frame();
        memcpy(&g, &f, offsetof(frame, tensors));
        memcpy(&g.tensors, &f.tensors, sizeof f - offsetof(frame, tensors));
        g.tensors[INDEX].place += sizeof g.attribute;
        g.tensors[WEIGHT].place += sizeof g.attribute;
        g.head.attribute_count = 1;
        g.attribute = (tki_wire_attribute){.name = "scale", .type = TK_ATTRIBUTE_REAL, .value.real = 1};
        if (wrong == 1)
            memset(g.attribute.name, 'x', sizeof g.attribute.name);
        else if (wrong == 2)
            g.attribute.name[0] = 0;
        else if (wrong == 3)
            g.attribute.zero = 1;
        assert_int_equal(serve(s, &g, sizeof g), TKI_SERVE_BAD_HEADER);
        assert_non_null(
            strstr(tk_ctx_message(s->ctx), wrong ? "an attribute has no name" : "must be the op's defaults"));
    }
}

static void tensors_that_are_none(void **state)
{
    scene *s = *state;
    for (int32_t rank = -1; rank <= TKI_WIRE_RANK + 2; rank++) {
        frame f = good_frame();
        f.tensors[WEIGHT].rank = rank;
        assert_int_equal(serve(s, &f, sizeof f), rank == 2 ? 0 : TKI_SERVE_BAD_HEADER);
    }
    frame f = good_frame();
    memset(f.tensors[WEIGHT].name, 'w', sizeof f.tensors[WEIGHT].name);
    assert_int_equal(serve(s, &f, sizeof f), TKI_SERVE_BAD_HEADER);
    memset(f.tensors[WEIGHT].name, 0, sizeof f.tensors[WEIGHT].name);
    assert_int_equal(serve(s, &f, sizeof f), TKI_SERVE_BAD_HEADER);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "a tensor has no name or no valid rank"));
    f = good_frame();
    memset(f.head.op, 'o', sizeof f.head.op);
    assert_int_equal(serve(s, &f, sizeof f), TKI_SERVE_BAD_HEADER);
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

static void set_sizes(frame *f, const int64_t sizes[DIMS])
{
    memcpy(f->dims, sizes, sizeof f->dims);
    f->tensors[INDEX].shape[0] = f->tensors[OUT].shape[0] = sizes[0];
    f->tensors[WEIGHT].shape[1] = f->tensors[OUT].shape[1] = sizes[1];
    f->tensors[WEIGHT].shape[0] = sizes[2];
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
        set_sizes(&f, dims[i]);
        assert_int_equal(serve(s, &f, sizeof f), statuses[i]);
    }
    /* An output that would not fit in a reply, of inputs that are there. */
    frame f = good_frame();
    const int64_t vocab = f.dims[2] = (int64_t)1 << 40;
    strcpy(f.head.op, "embedding_bwd");
    f.tensors[1] = f.tensors[INDEX];
    f.tensors[0] = (tki_wire_buffer){
        QUERIES * DIM * 2, offsetof(frame, weight), TKI_WIRE_INLINE, 0, TK_BF16, 2, {QUERIES, DIM}, "grad_output"};
    f.tensors[2] = (tki_wire_buffer){
        (uint64_t)vocab * DIM * 2, 0, TKI_WIRE_INLINE, 1, TK_BF16, 2, {vocab, DIM}, "grad_weight"};
    assert_int_equal(serve(s, &f, offsetof(frame, weight) + QUERIES * DIM * 2), TKI_SERVE_DEVICE);
    assert_non_null(strstr(tk_ctx_message(s->ctx), "the limit of 1048576 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_that_lie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(attributes_that_no_op_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tensors_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trailing_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(products_that_overflow, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
