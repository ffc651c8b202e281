/* Cases, contexts and the registry: sizes and their products, the checks before a run, scratch memory, names and ids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "drivers/backend.h"
#include "model/attributes.h"
#include "model/lowering.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

/* An op of every shape and kind of parameter that a contract can have; in place allowed from `b` to `out`. */
static const tk_contract fake = {
    .name = "fake",
    TKI_TYPES_16_BITS,
    .dim_count = 3,
    .dim_names = (const char *const[]){"r", "c", "v"},
    .param_count = 4,
    .params =
        (const tk_param[]){
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "b", .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "index",
             .kind = TK_KIND_INDEX,
             .rank = 1,
             .dim = (const int[]){0},
             .indexed_dim = 2,
             APART,
             .also = "ignore_index"},
            {.name = "out",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 1},
             .inner_axis = -1,
             .may_alias = 1},
        },
};

/* Two outputs, one of them fp32. */
static const tk_contract two_outputs = {
    .name = "two_outputs",
    TKI_TYPES_16_BITS,
    .dim_count = 2,
    .dim_names = (const char *const[]){"r", "c"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "x", .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "loss",
             .output = true,
             .kind = TK_KIND_FIXED,
             .dtype = TK_F32,
             .rank = 1,
             .dim = (const int[]){0},
             APART},
            {.name = "y",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 1},
             .inner_axis = -1,
             .may_alias = 0},
        },
    TEST_OPTIONS,
};

static tk_case fake_case(int64_t r, int64_t c, int64_t v)
{
    tk_case k = tk_case_init(&fake, TK_F16);
    k.dims[0] = r;
    k.dims[1] = c;
    k.dims[2] = v;
    return k;
}

TEST(init_gives_zeros_and_defaults)
{
    tk_case c = tk_case_init(&fake, TK_BF16);
    assert_ptr_equal(c.contract, &fake);
    assert_int_equal(c.dtype, TK_BF16);
    assert_int_equal(c.index_dtype, TK_I32);
    for (int d = 0; d < TK_MAX_DIMS; d++)
        assert_int_equal(c.dims[d], 0);
    c.index_dtype = TK_I64;
    assert_int_equal(tk_case_param_dtype(&c, 0), TK_BF16);
    assert_int_equal(tk_case_param_dtype(&c, 2), TK_I64);
    tk_case two = tk_case_init(&two_outputs, TK_BF16);
    assert_true(real_of(&two, "scale") == 1 && real_of(&two, "label_smoothing") == 0);
    assert_int_equal(integer_of(&two, "ignore_index"), -100);
    assert_int_equal(tk_case_param_dtype(&two, 1), TK_F32);
    assert_true(tk_contract_takes_index(&fake));
    assert_false(tk_contract_takes_index(&two_outputs));
}

/* What anybody who fills or judges a case relies on. */
TEST(attributes_of_the_contracts)
{
    for (int i = 0; tk_contract_at(i); i++) {
        const tk_contract *op = tk_contract_at(i);
        bool integers = op->types[0].dtype == TK_U64; /* nothing of them is subnormal or rounded */
        bool product = !integers && (strstr(op->name, "gemm") || !strncmp(op->name, "linear", 6));
        const bool overflow = tk_attribute_find(op, "overflow") >= 0;
        assert_int_equal(op->attribute_count - tki_seen_attributes(op), (integers ? 0 : product ? 3 : 1) + overflow);
        assert_int_equal(tk_attribute_find(op, "domain"), integers ? -1 : 0);
        assert_int_equal(tk_attribute_find(op, "numerics"), product ? 1 : -1);
        assert_int_equal(tk_attribute_find(op, "matrix_unit"), product ? 2 : -1);
        assert_int_equal(tk_attribute_find(op, ""), -1);
        for (int a = 0; a < op->attribute_count; a++) {
            const tk_attribute *attribute = &op->attributes[a];
            assert_int_equal(attribute->role == TK_ROLE_MATRIX_UNIT, product && a == 2);
            assert_true(attribute->text[0] && tki_attribute_allows(attribute, attribute->initial));
            assert_true(attribute->choice_count >= 2 || attribute->type != TK_ATTRIBUTE_CHOICE);
            for (int k = 0; k < attribute->choice_count; k++) {
                assert_true(attribute->choices[k].text[0]);
                assert_int_equal(tk_choice_find(attribute, attribute->choices[k].id), k);
            }
            assert_int_equal(tk_choice_find(attribute, "none such"), -1);
        }
        tk_case c = tk_case_init(op, TK_F16);
        for (int a = 0; a < TK_MAX_ATTRIBUTES; a++)
            assert_int_equal(c.attributes[a].integer,
                             a < op->attribute_count ? op->attributes[a].initial.integer : 0);
    }
}

TEST_WITH_CONTEXT(choices_that_are_none)
{
    tk_case c = tk_case_init(tk_contract_find("gemm"), TK_F16);
    void *const none[3] = {NULL};
    assert_ok(ctx, tk_case_check(ctx, &c, none));
    tki_set_role(c.contract, c.attributes, TK_ROLE_NUMERICS, TKI_NUMERICS_TENSOR_CORE);
    assert_ok(ctx, tk_case_check(ctx, &c, none));
    tki_set_role(c.contract, c.attributes, TK_ROLE_NUMERICS, 3);
    assert_refused(ctx, tk_case_check(ctx, &c, none), TK_BAD_ARGUMENT, "numerics has no choice 3");
}

TEST(elements_of_a_parameter)
{
    tk_case c = fake_case(3, 5, 7);
    assert_int_equal(tk_case_elements(&c, 0), 15);
    assert_int_equal(tk_case_elements(&c, 2), 3);
    c = fake_case(0, 5, 7);
    assert_int_equal(tk_case_elements(&c, 0), 0);
    assert_int_equal(tk_case_elements(&c, 2), 0);
}

TEST(elements_that_overflow)
{
    /* 2^62 elements of two bytes are 2^63 bytes, one less fits. */
    tk_case c = fake_case(INT64_C(1) << 62, 1, 0);
    assert_int_equal(tk_case_elements(&c, 0), -1);
    c.dims[0]--;
    assert_int_equal(tk_case_elements(&c, 0), (INT64_C(1) << 62) - 1);
    assert_int_equal(tk_case_elements(&c, 2), -1);        /* four bytes each */
    c = fake_case(INT64_C(1) << 32, INT64_C(1) << 32, 0); /* 2^64, which wraps to zero */
    assert_int_equal(tk_case_elements(&c, 0), -1);
    c = fake_case(INT64_MAX, INT64_MAX, 0); /* wraps to one */
    assert_int_equal(tk_case_elements(&c, 0), -1);
    c = fake_case(3037000500, 3037000500, 0); /* just past sqrt(2^63) */
    assert_int_equal(tk_case_elements(&c, 0), -1);
    c = fake_case(2147483648, 2147483647, 0); /* just below 2^62 */
    assert_int_equal(tk_case_elements(&c, 0), INT64_C(2147483648) * 2147483647);
}

/* No elements is no overflow, whatever the other size is; negative sizes stay wrong beside a zero. */
TEST(zero_beside_huge_sizes)
{
    tk_case c = fake_case(0, INT64_MAX, 0);
    assert_int_equal(tk_case_elements(&c, 0), 0);
    c = fake_case(INT64_MAX, 0, 0);
    assert_int_equal(tk_case_elements(&c, 0), 0);
    assert_int_equal(tk_case_elements(&c, 2), -1);
    c = fake_case(0, -1, 0);
    assert_int_equal(tk_case_elements(&c, 0), -1);
    c = fake_case(-1, 0, 0);
    assert_int_equal(tk_case_elements(&c, 0), -1);
    c = fake_case(INT64_MIN, INT64_MIN, 0);
    assert_int_equal(tk_case_elements(&c, 0), -1);
}

TEST_WITH_CONTEXT(sizes_and_types_are_checked)
{
    _Alignas(8) uint16_t memory[64] = {0};
    void *buffers[4] = {memory, memory + 8, memory + 16, memory + 32};
    tk_case c = fake_case(2, 2, 5);
    assert_ok(ctx, tk_case_check(ctx, &c, buffers));

    c.dims[1] = -1;
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "c is -1");
    c = fake_case(2, 2, -7); /* a size that only bounds the indices */
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "v is -7");
    c = fake_case(INT64_C(1) << 40, INT64_C(1) << 40, 1);
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "the size of a in bytes does not fit");
    c = fake_case(INT64_C(1) << 60, 1, 1); /* address arithmetic would wrap around */
    buffers[0] = (void *)(UINTPTR_MAX - 1025);
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "address space");
    buffers[0] = memory;

    c = fake_case(2, 2, 5);
    c.dtype = TK_F32;
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "types are f32 and f16");
    c.dtype = (tk_dtype)77;
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "unknown");
    c.dtype = c.result_dtype = TK_BF16;
    c.index_dtype = TK_F16;
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "index type is f16");

    tk_case x = tk_case_init(&two_outputs, TK_F16);
    x.index_dtype = TK_F32; /* not read: this op takes no index */
    void *none[3] = {0};
    assert_ok(ctx, tk_case_check(ctx, &x, none));
    static const float bad_smoothing[] = {-0.001f, 1.001f, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 5; i++) {
        set_real(&x, "label_smoothing", (double)bad_smoothing[i]);
        assert_refused(ctx, tk_case_check(ctx, &x, none), TK_BAD_ARGUMENT, "label_smoothing");
    }
    set_real(&x, "label_smoothing", 1);
    assert_ok(ctx, tk_case_check(ctx, &x, none));
    static const float bad_scale[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        set_real(&x, "scale", (double)bad_scale[i]);
        assert_refused(ctx, tk_case_check(ctx, &x, none), TK_BAD_ARGUMENT, "scale");
    }
}

TEST_WITH_CONTEXT(missing_things_are_refused)
{
    tk_case c = fake_case(0, 0, 0);
    void *buffers[4] = {0};
    assert_int_equal(tk_case_check(NULL, &c, buffers), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_case_check(ctx, NULL, buffers), TK_BAD_ARGUMENT, "no case");
    assert_refused(ctx, tk_case_check(ctx, &(tk_case){0}, buffers), TK_BAD_ARGUMENT, "no contract");
    assert_refused(ctx, tk_case_check(ctx, &c, NULL), TK_BAD_ARGUMENT, "no buffers");
    assert_ok(ctx, tk_case_check(ctx, &c, buffers)); /* without elements NULL is fine */
    c.dims[0] = 3;
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT,
                   "index is NULL"); /* a and b have no elements */
    c.dims[1] = 1;
    assert_refused(ctx, tk_case_check(ctx, &c, buffers), TK_BAD_ARGUMENT, "a is NULL");
    assert_int_equal(tk_run(NULL, &c, buffers), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_run(ctx, NULL, buffers), TK_BAD_ARGUMENT, "no case");
    size_t bytes;
    assert_int_equal(tk_scratch_size(NULL, &c, &bytes), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_scratch_size(ctx, NULL, &bytes), TK_BAD_ARGUMENT, "no case");
    assert_refused(ctx, tk_scratch_size(ctx, &c, NULL), TK_BAD_ARGUMENT, "no pointer");
    assert_refused(ctx, tk_scratch_size(ctx, &c, &bytes), TK_UNSUPPORTED,
                   "fake"); /* no lowering knows this contract */
}

TEST_WITH_CONTEXT(alignment_of_the_element_is_enough)
{
    _Alignas(16) unsigned char memory[512];
    for (int p = 0; p < 4; p++)
        for (int offset = 0; offset < 16; offset++)
            for (int wide = 0; wide < 2; wide++) {
                tk_case c = fake_case(2, 2, 5);
                c.index_dtype = wide ? TK_I64 : TK_I32;
                void *buffers[4] = {memory, memory + 64, memory + 128, memory + 192};
                buffers[p] = (unsigned char *)buffers[p] + offset;
                int element = p == 2 ? wide ? 8 : 4 : 2;
                tk_status status = tk_case_check(ctx, &c, buffers);
                assert_int_equal(status, offset % element ? TK_BAD_ARGUMENT : TK_OK);
                if (status != TK_OK)
                    assert_non_null(strstr(tk_ctx_message(ctx), "not aligned"));
                c.dims[0] = 0; /* nothing is read there */
                assert_ok(ctx, tk_case_check(ctx, &c, buffers));
            }
}

/* Every way in which one range can lie to another, in steps of an element; `allowed` says whether equality may be. */
static void check_overlap(tk_ctx *ctx, int param, bool equal_allowed)
{
    enum { COUNT = 4, PLACES = 3 * COUNT };
    uint16_t memory[PLACES + COUNT];
    uint16_t apart[3][COUNT];
    _Alignas(8) int32_t index[COUNT] = {0};
    for (int place = 0; place <= PLACES; place++) {
        tk_case c = fake_case(2, 2, 5);
        void *buffers[4] = {apart[0], apart[1], index, &memory[COUNT]};
        buffers[param] = &memory[place];
        int distance = place - COUNT;
        bool good = distance <= -COUNT || distance >= COUNT || (distance == 0 && equal_allowed);
        tk_status status = tk_case_check(ctx, &c, buffers);
        assert_int_equal(status, good ? TK_OK : TK_BAD_ARGUMENT);
        if (!good)
            assert_non_null(strstr(tk_ctx_message(ctx), "out overlaps"));
    }
}

TEST_WITH_CONTEXT(overlap_of_every_kind)
{
    check_overlap(ctx, 0, false);
    check_overlap(ctx, 1, true); /* may_alias */

    /* An output inside an index buffer and around it. */
    _Alignas(8) int32_t index[16] = {0};
    uint16_t a[4];
    uint16_t b[4];
    tk_case c = fake_case(2, 2, 5);
    for (int i = 0; i < 12; i++) {
        bool inside = i + 4 > 8 && i < 8 + 4;
        tk_status status = tk_case_check(ctx, &c, (void *[]){a, b, &index[4], (uint16_t *)index + i});
        assert_int_equal(status, inside ? TK_BAD_ARGUMENT : TK_OK);
    }
    /* Inputs may share memory. */
    assert_ok(ctx, tk_case_check(ctx, &c, (void *[]){a, a, index, b}));
    /* Without elements there is nothing to overlap. */
    c.dims[1] = 0;
    assert_ok(ctx, tk_case_check(ctx, &c, (void *[]){a, a, index, a}));

    /* Two outputs: the one may alias x, the other nothing, and not each other. */
    _Alignas(8) uint16_t memory[32];
    tk_case two = tk_case_init(&two_outputs, TK_F16);
    two.dims[0] = 2;
    two.dims[1] = 3;
    assert_ok(ctx, tk_case_check(ctx, &two, (void *[]){memory, memory + 8, memory}));
    assert_ok(ctx, tk_case_check(ctx, &two, (void *[]){memory, memory + 8, memory + 12}));
    assert_refused(ctx, tk_case_check(ctx, &two, (void *[]){memory, memory + 4, memory + 16}), TK_BAD_ARGUMENT,
                   "loss overlaps x");
    assert_refused(ctx, tk_case_check(ctx, &two, (void *[]){memory, memory + 12, memory + 15}), TK_BAD_ARGUMENT,
                   "loss overlaps y");
    assert_refused(ctx, tk_case_check(ctx, &two, (void *[]){memory, memory + 16, memory + 1}), TK_BAD_ARGUMENT,
                   "y overlaps x");
}

/* -- Context and scratch ------------------------------------------------------------------------------------- */

TEST(contexts)
{
    assert_int_equal(tk_ctx_create(NULL), TK_BAD_ARGUMENT);
    tk_ctx_destroy(NULL);
    assert_string_equal(tk_ctx_message(NULL), "no context");
    tk_ctx *ctx = new_context();
    assert_string_equal(tk_ctx_message(ctx), "");
    assert_int_equal(tk_ctx_set_threads(NULL, 1), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_ctx_set_threads(ctx, -1), TK_BAD_ARGUMENT, "-1");
    assert_true(tki_ctx_threads(ctx) >= 1); /* the refused number was not taken */
    assert_ok(ctx, tk_ctx_set_threads(ctx, 5));
    assert_int_equal(tki_ctx_threads(ctx), 5);
    assert_ok(ctx, tk_ctx_set_threads(ctx, 0));
    assert_true(tki_ctx_threads(ctx) >= 1);
    /* A message longer than its place is cut, not written past it. */
    char *text = malloc(5000);
    assert_non_null(text);
    memset(text, 'x', 4999);
    text[4999] = 0;
    assert_int_equal(tki_fail(ctx, TK_IO, "%s", text), TK_IO);
    assert_int_equal(strlen(tk_ctx_message(ctx)), sizeof ctx->message - 1);
    free(text);
    tk_ctx_destroy(ctx);
}

TEST_WITH_CONTEXT(scratch_of_the_context)
{
    _Alignas(64) unsigned char memory[256];
    assert_int_equal(tk_ctx_set_scratch(NULL, memory, 256), TK_BAD_ARGUMENT);
    for (int offset = 1; offset < 64; offset += 7)
        assert_refused(ctx, tk_ctx_set_scratch(ctx, memory + offset, 64), TK_BAD_ARGUMENT, "64-byte aligned");
    assert_ok(ctx, tki_ctx_reserve(ctx, 100));
    assert_int_equal((uintptr_t)ctx->scratch % 64, 0);
    memset(ctx->scratch, 1, 100);
    void *before = ctx->scratch;
    assert_ok(ctx, tki_ctx_reserve(ctx, 50));
    assert_ptr_equal(ctx->scratch, before); /* it does not shrink */
    assert_ok(ctx, tki_ctx_reserve(ctx, 5000));
    memset(ctx->scratch, 1, 5000);
    assert_refused(ctx, tki_ctx_reserve(ctx, SIZE_MAX), TK_NO_MEMORY, "no memory");

    assert_ok(ctx, tk_ctx_set_scratch(ctx, memory, 256)); /* frees the context's own */
    assert_ok(ctx, tki_ctx_reserve(ctx, 256));
    assert_ptr_equal(ctx->scratch, memory);
    assert_refused(ctx, tki_ctx_reserve(ctx, 257), TK_NO_MEMORY, "needs 257 bytes of scratch memory; 256 were");
    assert_refused(ctx, tk_ctx_set_scratch(ctx, memory + 8, 128), TK_BAD_ARGUMENT, "aligned");
    assert_ptr_equal(ctx->scratch, memory);             /* the refused block was not taken */
    assert_ok(ctx, tk_ctx_set_scratch(ctx, NULL, 999)); /* back to its own */
    assert_ok(ctx, tki_ctx_reserve(ctx, 300));
    assert_ptr_not_equal(ctx->scratch, memory);
}

/* The caller's block is used if it is just large enough; a byte less and the call fails before it writes. */
TEST(run_with_the_callers_scratch)
{
    const tk_contract *contract = tk_contract_find("embedding_bwd");
    if (!contract)
        skip();
    enum { QUERIES = 100, DIM = 3, VOCAB = 7 };
    tk_ctx *ctx = new_context();
    tk_case c = tk_case_init(contract, TK_F16);
    c.dims[0] = QUERIES;
    c.dims[1] = DIM;
    c.dims[2] = VOCAB;
    static uint16_t grad[QUERIES * DIM];
    static int32_t index[QUERIES];
    uint16_t out[VOCAB * DIM];
    uint16_t again[VOCAB * DIM];
    for (int i = 0; i < QUERIES * DIM; i++)
        grad[i] = 0x3c00;
    for (int i = 0; i < QUERIES; i++)
        index[i] = i % VOCAB;
    void *buffers[3] = {grad, index, out};
    assert_ok(ctx, tk_ctx_set_threads(ctx, 2));
    size_t bytes = 0;
    assert_ok(ctx, tk_scratch_size(ctx, &c, &bytes));
    assert_true(bytes > 0);
    assert_ok(ctx, tk_run(ctx, &c, buffers));
    unsigned char *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    assert_non_null(memory);
    memset(memory, 0xee, (bytes + 127) / 64 * 64);
    assert_ok(ctx, tk_ctx_set_scratch(ctx, memory, bytes));
    buffers[2] = again;
    assert_ok(ctx, tk_run(ctx, &c, buffers));
    assert_memory_equal(again, out, sizeof out);
    for (size_t i = bytes; i < (bytes + 127) / 64 * 64; i++)
        assert_int_equal(memory[i], 0xee);

    memset(again, 0x5a, sizeof again);
    memset(memory, 0xee, bytes);
    assert_ok(ctx, tk_ctx_set_scratch(ctx, memory, bytes - 1));
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_NO_MEMORY, "scratch");
    for (size_t i = 0; i < sizeof again; i++)
        assert_int_equal(((unsigned char *)again)[i], 0x5a);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(memory[i], 0xee);
    assert_ok(ctx, tk_ctx_set_scratch(ctx, NULL, 0));
    assert_ok(ctx, tk_run(ctx, &c, buffers));
    assert_memory_equal(again, out, sizeof out);
    tk_ctx_destroy(ctx);
    free(memory);
}

/* Ops that need no scratch run beside a block that is too small for anything. */
TEST_WITH_CONTEXT(run_without_scratch)
{
    _Alignas(64) unsigned char memory[64];
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    c.dims[0] = 3;
    size_t bytes = 99;
    assert_ok(ctx, tk_scratch_size(ctx, &c, &bytes));
    assert_int_equal(bytes, 0);
    assert_ok(ctx, tk_ctx_set_scratch(ctx, memory, 0));
    uint16_t x[3] = {0x3c00, 0, 0x7c00};
    uint16_t y[3];
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){x, y}));
    assert_int_equal(y[2], 0x7c00);
    c.dims[0] = -1;
    assert_refused(ctx, tk_scratch_size(ctx, &c, &bytes), TK_BAD_ARGUMENT, "negative");
}

/* Contexts do not see each other's messages, threads or scratch. */
TEST(contexts_are_apart)
{
    tk_ctx *a = new_context();
    tk_ctx *b = new_context();
    assert_int_equal(tk_ctx_set_threads(a, -5), TK_BAD_ARGUMENT);
    assert_string_equal(tk_ctx_message(b), "");
    assert_ok(b, tk_ctx_set_threads(b, 3));
    assert_int_equal(a->threads, 0);
    tk_ctx_destroy(a);
    assert_int_equal(tki_ctx_threads(b), 3);
    tk_ctx_destroy(b);
}

/* -- Names ----------------------------------------------------------------------------------------------------- */

TEST(names_and_version)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TK_VERSION_MAJOR, TK_VERSION_MINOR, TK_VERSION_PATCH);
    assert_string_equal(tk_version(), version);

    for (int s = TK_OK; s <= TK_INTERNAL; s++) {
        assert_string_not_equal(tk_status_text((tk_status)s), "");
        assert_string_not_equal(tk_status_text((tk_status)s), "unknown status");
        for (int t = TK_OK; t < s; t++)
            assert_string_not_equal(tk_status_text((tk_status)s), tk_status_text((tk_status)t));
    }
    assert_string_equal(tk_status_text((tk_status)-1), "unknown status");
    assert_string_equal(tk_status_text((tk_status)(TK_INTERNAL + 1)), "unknown status");

    static const char *const dtype_names[] = {"f16", "bf16",    "f32",     "i32",  "i64",
                                              "u64", "f8_e4m3", "f8_e5m2", "bool", "u8"};
    static const size_t dtype_sizes[] = {2, 2, 4, 4, 8, 8, 1, 1, 1, 1};
    for (int d = TK_F16; d <= TK_U8; d++) {
        assert_string_equal(tk_dtype_name((tk_dtype)d), dtype_names[d]);
        assert_int_equal(tk_dtype_size((tk_dtype)d), dtype_sizes[d]);
    }
    assert_string_equal(tk_dtype_name((tk_dtype)-1), "unknown");
    assert_string_equal(tk_dtype_name((tk_dtype)(TK_U8 + 1)), "unknown");
    assert_int_equal(tk_dtype_size((tk_dtype)(TK_U8 + 1)), 0);
    assert_string_equal(tk_determinism_name(TK_DETERMINISM_NONE), "none");
    assert_string_equal(tk_determinism_name(TK_CROSS_DEVICE), "cross_device");
    assert_string_equal(tk_determinism_name((tk_determinism)9), "unknown");
}

static bool is_word(const char *text, size_t length)
{
    if (length == 0 || !(text[0] >= 'A' && text[0] <= 'Z'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!(text[i] >= 'A' && text[i] <= 'Z') && !(text[i] >= '0' && text[i] <= '9') && text[i] != '_')
            return false;
    return true;
}

static void check_clauses(const tk_contract *contract)
{
    char prefix[64] = "";
    for (size_t i = 0; contract->name[i]; i++) {
        char letter = contract->name[i];
        prefix[i] = (char)(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
    }
    size_t length = strlen(prefix);
    assert_in_range(contract->clause_count, 4, TK_MAX_CLAUSES);
    bool write = false;
    bool shape = false;
    bool repeat = false;
    for (int i = 0; i < contract->clause_count; i++) {
        const char *id = contract->clauses[i].id;
        assert_non_null(id);
        const char *dot = strchr(id, '.');
        if (!dot || strncmp(id, prefix, length) != 0 || id + length != dot || !is_word(dot + 1, strlen(dot + 1)))
            fail_msg("the clause id %s of %s is not of the form %s.WORD", id, contract->name, prefix);
        assert_non_null(contract->clauses[i].text);
        assert_true(strlen(contract->clauses[i].text) > 10);
        write |= !strcmp(dot, ".WRITE");
        shape |= !strcmp(dot, ".SHAPE");
        repeat |= !strcmp(dot, ".REPEAT");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(id, contract->clauses[j].id);
    }
    if (!write || !shape || !repeat)
        fail_msg("%s lacks one of the clauses WRITE, SHAPE and REPEAT", contract->name);
}

static void check_param(const tk_contract *contract, int p)
{
    const tk_param *param = &contract->params[p];
    assert_non_null(param->name);
    assert_in_range(param->kind, TK_KIND_VALUE, TK_KIND_FIXED);
    assert_in_range(param->rank, 1, 3);
    for (int axis = 0; axis < param->rank; axis++)
        assert_in_range(param->dim[axis], 0, contract->dim_count - 1);
    for (int axis = 1; axis < param->rank; axis++)
        assert_int_not_equal(param->dim[axis - 1], param->dim[axis]);
    assert_true(param->inner_axis >= -1 && param->inner_axis < param->rank);
    assert_true(param->may_alias >= -1 && param->may_alias < contract->param_count);
    if (param->kind == TK_KIND_INDEX) {
        assert_false(param->output);
        assert_in_range(param->indexed_dim, 0, contract->dim_count - 1);
    }
    assert_true(param->rule != TK_INDICES_ENDS || (param->kind == TK_KIND_INDEX && param->rank == 1));
    if (!param->output)
        assert_int_equal(param->may_alias, -1);
    if (param->may_alias >= 0) {
        const tk_param *other = &contract->params[param->may_alias];
        assert_false(other->output);
        assert_int_equal(other->kind, param->kind);
        assert_int_equal(other->rank, param->rank);
        assert_memory_equal(other->dim, param->dim, sizeof(int) * (size_t)param->rank);
    }
    for (int q = 0; q < p; q++)
        assert_string_not_equal(param->name, contract->params[q].name);
}

TEST(signatures)
{
    static const char typed[] =
        "tk_status tk_xent(tk_ctx *ctx, tk_dtype dtype, tk_dtype index_dtype, int64_t rows, int64_t cols, "
        "const void *logits, const void *target, const tk_xent_options *options, float *loss, void *grad_logits);";
    static const char kernel[] = "int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, "
                                 "const void *logits, const void *target, float *loss, void *grad_logits);";
    char text[512];
    tk_contract_signature(tk_contract_find("xent"), text, sizeof text);
    assert_string_equal(text, typed);
    tk_contract_kernel_signature(tk_contract_find("xent"), text, sizeof text);
    assert_string_equal(text, kernel);
    tk_contract_signature(tk_contract_find("gelu_fwd"), text, sizeof text);
    assert_string_equal(text,
                        "tk_status tk_gelu_fwd(tk_ctx *ctx, tk_dtype dtype, int64_t n, const void *x, void *y);");
    tk_contract_signature(tk_contract_find("xent"), text, 20);
    assert_int_equal(strlen(text), 19);
    assert_memory_equal(text, typed, 19);
}

TEST(registry_is_sane)
{
    assert_true(tk_contract_count() >= 2);
    assert_null(tk_contract_at(-1));
    assert_null(tk_contract_at(tk_contract_count()));
    assert_null(tk_contract_find(NULL));
    assert_null(tk_contract_find(""));
    assert_null(tk_contract_find("gelu"));
    assert_null(tk_contract_find("gelu_fwd "));
    for (int i = 0; i < tk_contract_count(); i++) {
        const tk_contract *contract = tk_contract_at(i);
        assert_non_null(contract);
        assert_ptr_equal(tk_contract_find(contract->name), contract);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(contract->name, tk_contract_at(j)->name);
        assert_true(strlen(contract->summary) > 0 && !strchr(contract->summary, '\n'));
        assert_true(strlen(contract->formula) > 0);
        assert_true(strlen(contract->bound) > 0);
        char call[96], signature[4096];
        snprintf(call, sizeof call, "tk_status tk_%s(tk_ctx *ctx, ", contract->name);
        tk_contract_signature(contract, signature, sizeof signature);
        assert_memory_equal(signature, call, strlen(call));
        assert_in_range(contract->dim_count, 1, TK_MAX_DIMS);
        for (int d = 0; d < contract->dim_count; d++)
            assert_non_null(contract->dim_names[d]);
        assert_in_range(contract->param_count, 2, TK_MAX_PARAMS);
        int outputs = 0;
        for (int p = 0; p < contract->param_count; p++) {
            check_param(contract, p);
            outputs += contract->params[p].output;
            assert_non_null(strstr(signature, contract->params[p].name));
        }
        assert_true(outputs >= 1 && outputs < contract->param_count);
        assert_true(contract->params[contract->param_count - 1].output);
        check_clauses(contract);
    }
}

/* Written and read back: the public calls agree with each other. */
static void check_id(const tk_case *c, int lowering, const char *expected)
{
    char id[128], longer[160];
    tk_case named;
    int found = -1;
    assert_true(tk_lowering_id(c, lowering, id, sizeof id));
    assert_string_equal(id, expected);
    assert_true(tk_lowering_find(id, &named, &found));
    assert_int_equal(found, lowering);
    assert_ptr_equal(named.contract, c->contract);
    assert_int_equal(named.dtype, c->dtype);
    if (tk_contract_takes_index(c->contract))
        assert_int_equal(named.index_dtype, c->index_dtype);
    snprintf(longer, sizeof longer, "%s.i64", id);
    bool wider = c->index_dtype == TK_I32 && tk_contract_takes_index(c->contract);
    assert_int_equal(tk_lowering_find(longer, &named, &found), wider);
    id[strlen(id) - 1] = 0;
    assert_false(tk_lowering_find(id, &named, &found));
}

TEST(ids_that_are_none)
{
    static const char *const bad[] = {"",
                                      "cpu",
                                      ".",
                                      "...",
                                      "cpu.gelu_fwd",
                                      "cpu.gelu_fwd.f16",
                                      "cpu.gelu_fwd.f16.",
                                      "cpu.gelu_fwd.f16-f32.scalar",
                                      "cpu.gelu.f16.scalar",
                                      "cpu..f16.scalar",
                                      "tpu.gelu_fwd.f16.scalar",
                                      "cpu.gelu_fwd.f16.scalar.i64",
                                      "cpu.gelu_fwd.f16.scalar ",
                                      " cpu.gelu_fwd.f16.scalar"};
    const tk_case before = tk_case_init(tk_contract_at(0), TK_BF16);
    tk_case c = before;
    int lowering = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tk_lowering_find(bad[i], &c, &lowering));
    assert_false(tk_lowering_find(NULL, &c, &lowering));
    assert_memory_equal(&c, &before, sizeof c);
    assert_int_equal(lowering, 77);
}

TEST(backends)
{
    tk_backend_info info;
    int count = 0;
    for (; tk_backend_at(count, &info); count++) {
        char device[16], id[32];
        snprintf(device, sizeof device, "%s:1", info.name);
        snprintf(id, sizeof id, "%s.gemm.f16.x", info.name);
        assert_int_equal(tk_backend_find(info.name, ""), count);
        assert_int_equal(tk_backend_find(device, ":"), count);
        assert_int_equal(tk_backend_find(id, "."), count);
        assert_int_equal(tk_backend_find(device, "."), -1);
        assert_int_equal(info.kernel_ending[0], '.');
    }
    assert_int_equal(count, 3);
    assert_false(tk_backend_at(-1, &info));
    assert_false(tk_backend_at(0, NULL));
    assert_int_equal(tk_backend_find(NULL, ""), -1);
    assert_int_equal(tk_backend_find("", ""), -1);
    assert_int_equal(tk_backend_find("cud", ""), -1);
    assert_true(tk_backend_at(tk_backend_find("cpu", ""), &info));
    assert_false(info.is_gpu);
    assert_true(tk_backend_at(tk_backend_find("hip:2", ":"), &info));
    assert_true(info.is_gpu);
    assert_string_equal(info.kernel_header, "hip/hip_runtime.h");
}

TEST(lowering_ids)
{
    for (int i = 0; i < tk_contract_count(); i++) {
        const tk_contract *contract = tk_contract_at(i);
        tk_lowering_info info;
        int count = 0;
        char seen[32][128];
        for (; tk_lowering_at(contract, count, &info); count++) {
            assert_true(count < 32);
            const tki_lowering *row = &tki_lowerings_of(contract)[count];
            assert_string_equal(info.backend, row->backend->name);
            assert_string_equal(info.variant, row->variant);
            assert_non_null(row->accept);
            assert_non_null(row->launch);
            const tk_dtype second = contract->types[contract->type_count > 1].dtype;
            tk_case c = tk_case_init(contract, second);
            char expected[128];
            snprintf(expected, sizeof expected, "%s.%s.%s.%s", info.backend, contract->name, tk_dtype_name(second),
                     info.variant);
            tki_lowering_id(row, &c, seen[count], sizeof seen[count]);
            assert_string_equal(seen[count], expected);
            for (int j = 0; j < count; j++)
                assert_string_not_equal(seen[j], seen[count]);
            c.index_dtype = TK_I64;
            if (tk_contract_takes_index(contract))
                strncat(expected, ".i64", sizeof expected - strlen(expected) - 1);
            char id[128];
            tki_lowering_id(row, &c, id, sizeof id);
            assert_string_equal(id, expected);
            char cut[8];
            tki_lowering_id(row, &c, cut, sizeof cut);
            assert_int_equal(strlen(cut), 7);
            check_id(&c, count, expected);
            c.dtype = c.result_dtype = contract->types[0].dtype;
            assert_true(tk_lowering_id(&c, count, expected, sizeof expected));
            check_id(&c, count, expected);
            /* Beyond a promise there is text for people. */
            if (row->promises_bound || row->promises_bits)
                assert_non_null(row->promise);
        }
        assert_true(count >= 1);
        assert_false(tk_lowering_at(contract, -1, &info));
        assert_false(tk_lowering_at(contract, count + 1000, &info));
        char id[128];
        tk_case c = tk_case_init(contract, TK_F16);
        assert_false(tk_lowering_id(&c, -1, id, sizeof id));
        assert_false(tk_lowering_id(&c, count, id, sizeof id));
    }
    tk_lowering_info info;
    assert_false(tk_lowering_at(&fake, 0, &info));
}

/* What is printed is the number when it is read again, and no longer than it has to be. */
static void reals_are_printed_shortly(void **state)
{
    (void)state;
    static const struct {
        bool fp32;
        double value;
        const char *text;
    } list[] = {{false, 1e-6, "1e-06"},
                {false, 0.1, "0.1"},
                {false, 1.0 / 3, "0.3333333333333333"},
                {true, 0.1f, "0.1"},
                {true, 16777216, "16777216"},
                {false, -INFINITY, "-inf"},
                {false, 5e-324, "4.94066e-324"}};
    tk_attribute attribute = {.type = TK_ATTRIBUTE_REAL};
    char text[32];
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        attribute.fp32 = list[i].fp32;
        tk_attribute_print(&attribute, (tk_value){.real = list[i].value}, text, sizeof text);
        assert_string_equal(text, list[i].text);
    }
    attribute.fp32 = false;
    tki_random random = tki_random_stream(1, 1);
    for (int i = 0; i < effort(20000); i++) {
        uint64_t bits = tki_random_u64(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        tk_attribute_print(&attribute, (tk_value){.real = value}, text, sizeof text);
        assert_true(strtod(text, NULL) == value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_gives_zeros_and_defaults),
        cmocka_unit_test(attributes_of_the_contracts),
        cmocka_unit_test(choices_that_are_none),
        cmocka_unit_test(elements_of_a_parameter),
        cmocka_unit_test(elements_that_overflow),
        cmocka_unit_test(zero_beside_huge_sizes),
        cmocka_unit_test(sizes_and_types_are_checked),
        cmocka_unit_test(missing_things_are_refused),
        cmocka_unit_test(alignment_of_the_element_is_enough),
        cmocka_unit_test(overlap_of_every_kind),
        cmocka_unit_test(contexts),
        cmocka_unit_test(scratch_of_the_context),
        cmocka_unit_test(run_with_the_callers_scratch),
        cmocka_unit_test(run_without_scratch),
        cmocka_unit_test(contexts_are_apart),
        cmocka_unit_test(names_and_version),
        cmocka_unit_test(signatures),
        cmocka_unit_test(reals_are_printed_shortly),
        cmocka_unit_test(registry_is_sane),
        cmocka_unit_test(lowering_ids),
        cmocka_unit_test(ids_that_are_none),
        cmocka_unit_test(backends),
    };
    return cmocka_run_group_tests_name("case", tests, NULL, NULL);
}
