/* What only a real GPU can show, beside what `tokitai certify` shows there: calls on device pointers and a stream, inside the capture
 * of a CUDA graph, close behind each other, from two contexts, with bad indices. Exits with 77, skipped, where there is no CUDA device. A plain program, so
 * that it can be carried to a machine that has one. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device_graph.h"
#include "tokitai.h"

enum { SKIPPED = 77, N = 100003, QUERIES = 1000, DIM = 96, VOCAB = 500 };

static void *on_device(tk_ctx *ctx, const void *data, size_t bytes)
{
    void *memory = NULL;
    OK(ctx, tk_memory_alloc(ctx, bytes, &memory));
    if (data)
        OK(ctx, tk_memory_write(ctx, memory, data, bytes));
    return memory;
}

static uint16_t *patterns(size_t count, unsigned step)
{
    uint16_t *data = malloc(count * sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = (uint16_t)((i * step) & 0x3fff); /* finite and positive in both formats */
    return data;
}

/* A graph of three ops, one with scratch memory, gives the bits of direct calls, replay after replay. */
static void in_a_graph(tk_ctx *ctx, const driver *d)
{
    uint16_t *x = patterns(N, 31);
    uint16_t *grad = patterns((size_t)QUERIES * DIM, 17);
    int32_t index[QUERIES];
    for (int i = 0; i < QUERIES; i++)
        index[i] = i * 7 % VOCAB;
    void *device_x = on_device(ctx, x, N * sizeof *x);
    void *device_y = on_device(ctx, NULL, N * sizeof *x);
    void *device_grad = on_device(ctx, grad, sizeof *grad * QUERIES * DIM);
    void *device_index = on_device(ctx, index, sizeof index);
    void *device_weight = on_device(ctx, NULL, sizeof *grad * VOCAB * DIM);
    size_t weight_bytes = sizeof *grad * VOCAB * DIM;
    uint16_t *direct = malloc(N * sizeof *x + weight_bytes);
    uint16_t *replayed = malloc(N * sizeof *x + weight_bytes);

    tk_case gelu = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    gelu.dims[0] = N;
    tk_case embedding = tk_case_init(tk_contract_find("embedding_bwd"), TK_F16);
    embedding.dims[0] = QUERIES;
    embedding.dims[1] = DIM;
    embedding.dims[2] = VOCAB;
    OK(ctx, tk_prepare(ctx, &gelu));
    OK(ctx, tk_prepare(ctx, &embedding));
    void *gelu_buffers[] = {device_x, device_y};
    void *embedding_buffers[] = {device_grad, device_index, device_weight};
    OK(ctx, tk_run(ctx, &gelu, gelu_buffers));
    OK(ctx, tk_run(ctx, &embedding, embedding_buffers));
    OK(ctx, tk_ctx_synchronize(ctx));
    OK(ctx, tk_memory_read(ctx, direct, device_y, N * sizeof *x));
    OK(ctx, tk_memory_read(ctx, direct + N, device_weight, weight_bytes));

    recording graph = begin_recording(ctx, d);
    OK(ctx, tk_run(ctx, &gelu, gelu_buffers));
    OK(ctx, tk_run(ctx, &embedding, embedding_buffers));
    /* What was not prepared is refused and does not spoil the capture. */
    tk_case other = tk_case_init(tk_contract_find("gelu_bwd"), TK_BF16);
    other.dims[0] = 8;
    CHECK(tk_run(ctx, &other, (void *[]){device_x, (char *)device_x + 16, device_y}) == TK_UNAVAILABLE, "%s",
          tk_ctx_message(ctx));
    end_recording(d, &graph);
    for (int replay = 0; replay < 3; replay++) {
        memset(replayed, 0xee, N * sizeof *x + weight_bytes);
        OK(ctx, tk_memory_write(ctx, device_y, replayed, N * sizeof *x));
        OK(ctx, tk_memory_write(ctx, device_weight, replayed, weight_bytes));
        play(d, &graph);
        OK(ctx, tk_ctx_synchronize(ctx));
        OK(ctx, tk_memory_read(ctx, replayed, device_y, N * sizeof *x));
        OK(ctx, tk_memory_read(ctx, replayed + N, device_weight, weight_bytes));
        CHECK(!memcmp(direct, replayed, N * sizeof *x + weight_bytes), "replay %d has other bits", replay);
    }
    drop_recording(ctx, d, &graph);
    void *const blocks[] = {device_x, device_y, device_grad, device_index, device_weight};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        tk_memory_free(ctx, blocks[i]);
    free(x);
    free(grad);
    free(direct);
    free(replayed);
}

/* -- Kernels that start before the earlier ones are done -------------------------------------------------------------- */

enum { ROWS = 1024, COLS = 4096, COLUMNS_OF_PRODUCT = 64, STEPS = 8, CYCLES = 4, ROUNDS = 10, TENSORS = 9 };

/* Eight calls in a circle: each takes what the one before has just written, or overwrites what it has just read, scratch memory too. */
typedef struct circle {
    void *tensors[TENSORS];
    size_t bytes[TENSORS];
    struct {
        tk_case c;
        void *buffers[3];
    } steps[STEPS];
} circle;

static circle make_circle(tk_ctx *ctx)
{
    enum { A, B, C, LOOKED_UP, WEIGHT, WEIGHT_AGAIN, PRODUCT, INDEX, INDEX_AGAIN };
    static const size_t counts[TENSORS] = {(size_t)ROWS * COLS,        (size_t)ROWS * COLS, (size_t)ROWS * COLS,
                                           (size_t)QUERIES * DIM,      (size_t)VOCAB * DIM, (size_t)VOCAB * DIM,
                                           VOCAB * COLUMNS_OF_PRODUCT, QUERIES * 2,         QUERIES * 2};
    static const struct {
        const char *op;
        int64_t dims[3];
        int buffers[3];
    } plan[STEPS] = {{"gelu_fwd", {ROWS * COLS}, {A, B}},
                     {"softmax_fwd", {ROWS, COLS}, {B, A}},
                     {"gelu_bwd", {ROWS * COLS}, {B, A, C}},
                     {"embedding_bwd", {QUERIES, DIM, VOCAB}, {C, INDEX, WEIGHT}},
                     {"embedding_fwd", {QUERIES, DIM, VOCAB}, {INDEX_AGAIN, WEIGHT, LOOKED_UP}},
                     {"embedding_bwd", {QUERIES, DIM, VOCAB}, {LOOKED_UP, INDEX_AGAIN, WEIGHT_AGAIN}},
                     {"gemm", {VOCAB, COLUMNS_OF_PRODUCT, DIM}, {WEIGHT_AGAIN, LOOKED_UP, PRODUCT}},
                     {"gelu_bwd", {ROWS * COLS}, {C, B, A}}};
    circle s = {0};
    for (int i = 0; i < TENSORS; i++) {
        s.bytes[i] = counts[i] * sizeof(uint16_t);
        s.tensors[i] = on_device(ctx, NULL, s.bytes[i]);
    }
    for (int i = 0; i < STEPS; i++) {
        s.steps[i].c = tk_case_init(tk_contract_find(plan[i].op), TK_F16);
        memcpy(s.steps[i].c.dims, plan[i].dims, sizeof plan[i].dims);
        for (int p = 0; p < s.steps[i].c.contract->param_count; p++)
            s.steps[i].buffers[p] = s.tensors[plan[i].buffers[p]];
        OK(ctx, tk_prepare(ctx, &s.steps[i].c));
    }
    return s;
}

/* The values fade within a few cycles, so that there are several rounds. */
static void start_circle(tk_ctx *ctx, const circle *s, int round)
{
    for (int i = 0; i < TENSORS; i++) {
        uint16_t *data = patterns(s->bytes[i] / sizeof *data, 31 + 2 * (unsigned)round);
        int32_t *index = (int32_t *)data;
        for (int k = 0; i >= TENSORS - 2 && k < QUERIES; k++)
            index[k] = k * (i == TENSORS - 1 ? 7 : 3) % VOCAB;
        OK(ctx, tk_memory_write(ctx, s->tensors[i], data, s->bytes[i]));
        free(data);
    }
}

static void go_round(tk_ctx *ctx, circle *s, bool wait)
{
    for (int i = 0; i < STEPS; i++) {
        OK(ctx, tk_run(ctx, &s->steps[i].c, s->steps[i].buffers));
        if (wait)
            OK(ctx, tk_ctx_synchronize(ctx));
    }
}

static unsigned char *read_circle(tk_ctx *ctx, const circle *s, size_t *bytes)
{
    *bytes = 0;
    for (int i = 0; i < TENSORS; i++)
        *bytes += s->bytes[i];
    unsigned char *read = malloc(*bytes);
    OK(ctx, tk_ctx_synchronize(ctx));
    for (size_t i = 0, at = 0; i < TENSORS; at += s->bytes[i++])
        OK(ctx, tk_memory_read(ctx, read + at, s->tensors[i], s->bytes[i]));
    return read;
}

static void check_circle(tk_ctx *ctx, const circle *s, const unsigned char *want, const char *how)
{
    size_t bytes;
    unsigned char *got = read_circle(ctx, s, &bytes);
    CHECK(!memcmp(got, want, bytes), "%s: other bits than one call at a time", how);
    free(got);
}

static void run_circle(tk_ctx *ctx, circle *s, int round, bool wait)
{
    start_circle(ctx, s, round);
    for (int i = 0; i < CYCLES; i++)
        go_round(ctx, s, wait);
}

static void one_after_another(tk_ctx *ctx, const driver *d)
{
    circle s = make_circle(ctx);
    recording graph = begin_recording(ctx, d);
    go_round(ctx, &s, false);
    go_round(ctx, &s, false);
    end_recording(d, &graph);
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes;
        OK(ctx, tk_ctx_set_stream(ctx, NULL));
        run_circle(ctx, &s, round, true);
        unsigned char *want = read_circle(ctx, &s, &bytes);
        run_circle(ctx, &s, round, false);
        check_circle(ctx, &s, want, "the default stream");
        OK(ctx, tk_ctx_set_stream(ctx, graph.stream));
        run_circle(ctx, &s, round, false);
        check_circle(ctx, &s, want, "a stream");
        start_circle(ctx, &s, round);
        for (int i = 0; i < CYCLES / 2; i++)
            play(d, &graph);
        check_circle(ctx, &s, want, "a graph");
        free(want);
    }
    drop_recording(ctx, d, &graph);
    for (int i = 0; i < TENSORS; i++)
        tk_memory_free(ctx, s.tensors[i]);
}

/* The first bad position of many, reported once; what came before in the queue is unharmed. */
static void bad_index(tk_ctx *ctx)
{
    int64_t index[QUERIES];
    for (int i = 0; i < QUERIES; i++)
        index[i] = i % VOCAB;
    index[600] = VOCAB;
    index[123] = -1;
    index[999] = INT64_MIN;
    uint16_t *weight = patterns((size_t)VOCAB * DIM, 5);
    void *device_index = on_device(ctx, index, sizeof index);
    void *device_weight = on_device(ctx, weight, sizeof *weight * VOCAB * DIM);
    void *device_out = on_device(ctx, NULL, sizeof *weight * QUERIES * DIM);
    OK(ctx, tk_embedding_fwd(ctx, TK_F16, TK_I64, QUERIES, DIM, VOCAB, device_index, device_weight, device_out));
    CHECK(tk_ctx_synchronize(ctx) == TK_BAD_INDEX, "%s", tk_ctx_message(ctx));
    CHECK(strstr(tk_ctx_message(ctx), "embedding_fwd: index[123]"), "%s", tk_ctx_message(ctx));
    OK(ctx, tk_ctx_synchronize(ctx));
    index[123] = index[600] = index[999] = 0;
    OK(ctx, tk_memory_write(ctx, device_index, index, sizeof index));
    OK(ctx, tk_embedding_fwd(ctx, TK_F16, TK_I64, QUERIES, DIM, VOCAB, device_index, device_weight, device_out));
    OK(ctx, tk_ctx_synchronize(ctx));
    uint16_t row[DIM];
    OK(ctx, tk_memory_read(ctx, row, (char *)device_out + sizeof row * 124, sizeof row));
    CHECK(!memcmp(row, weight + (size_t)124 * DIM, sizeof row), "row 124");
    tk_memory_free(ctx, device_index);
    tk_memory_free(ctx, device_weight);
    tk_memory_free(ctx, device_out);
    free(weight);
}

/* Two contexts on one device, in turn, and one that closes before the other. */
static void side_by_side(tk_ctx *first)
{
    tk_ctx *second = NULL;
    OK(first, tk_ctx_create(&second));
    OK(second, tk_ctx_use_device(second, "cuda"));
    uint16_t *x = patterns(N, 13);
    void *device_x = on_device(first, x, N * sizeof *x);
    void *y[2] = {on_device(first, NULL, N * sizeof *x), on_device(second, NULL, N * sizeof *x)};
    OK(first, tk_gelu_fwd(first, TK_BF16, N, device_x, y[0]));
    OK(second, tk_gelu_fwd(second, TK_BF16, N, device_x, y[1]));
    OK(first, tk_ctx_synchronize(first));
    OK(second, tk_ctx_synchronize(second));
    uint16_t *read[2] = {malloc(N * sizeof *x), malloc(N * sizeof *x)};
    OK(first, tk_memory_read(first, read[0], y[0], N * sizeof *x));
    OK(second, tk_memory_read(second, read[1], y[1], N * sizeof *x));
    CHECK(!memcmp(read[0], read[1], N * sizeof *x), "two contexts, two results");
    tk_memory_free(second, y[1]);
    tk_ctx_destroy(second);
    OK(first, tk_gelu_fwd(first, TK_F16, N, device_x, y[0]));
    OK(first, tk_ctx_synchronize(first));
    tk_memory_free(first, y[0]);
    tk_memory_free(first, device_x);
    free(x);
    free(read[0]);
    free(read[1]);
}

int main(void)
{
    tk_ctx *ctx = NULL;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    if (tk_ctx_use_device(ctx, "cuda") != TK_OK) {
        printf("skipped: %s\n", tk_ctx_message(ctx));
        tk_ctx_destroy(ctx);
        return SKIPPED;
    }
    driver d = find_driver();
    void *context = NULL;
    CHECK(d.retain(&context, 0) == 0 && d.set_current(context) == 0, "the device's primary context");
    in_a_graph(ctx, &d);
    one_after_another(ctx, &d);
    bad_index(ctx);
    side_by_side(ctx);
    tk_ctx_destroy(ctx);
    printf("%s\n", failures ? "some checks failed" : "all checks on the device held");
    return failures != 0;
}
