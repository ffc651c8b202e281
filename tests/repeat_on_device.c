/* Every row of a GPU gives the same bits on every run: one call after the other, several streams at once, replays of a captured graph. For
 * tests/repeat_on_device.sh, which also runs it under compute-sanitizer.
 *     repeat_on_device RUNS all|small [VARIANT]      how often; which shapes; rows of this variant alone, such as hopper
 * Exits with 77, skipped, where there is no CUDA device. A plain program, so that it can be carried to a machine that has one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/backend.h"
#include "runtime/kernel_runner.h"
#include "model/case.h"
#include "tests/device_graph.h"

enum { SKIPPED = 77, STREAMS = 4, SEED = 20261116 };

/* A context of its own for each stream: scratch memory belongs to the context. */
typedef struct place {
    tk_ctx *ctx;
    void *stream;
    void *buffers[TK_MAX_PARAMS];
} place;

typedef struct scene {
    driver d;
    place places[STREAMS];
    int runs;
    bool small;
    const char *variant; /* or NULL */
    int cases;
} scene;

static size_t bytes_of(const tk_case *c, int param)
{
    return (size_t)tk_case_elements(c, param) * tk_dtype_size(tk_case_param_dtype(c, param));
}

static void draw(const tk_case *c, int param, void *data)
{
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    const tk_param *p = &c->contract->params[param];
    for (int64_t i = 0; i < tk_case_elements(c, param); i++) {
        const int64_t index = p->kind == TK_KIND_INDEX ? rand() % c->dims[p->indexed_dim] : 0;
        switch (dtype) {
        case TK_I32: ((int32_t *)data)[i] = (int32_t)index; break;
        case TK_I64: ((int64_t *)data)[i] = index; break;
        case TK_F32: ((float *)data)[i] = (float)(rand() % 4001 - 2000) / 1000; break;
        default:
            ((uint16_t *)data)[i] = (uint16_t)(rand() & 0xbfff);
            break; /* below 2 in both formats, of either sign */
        }
    }
}

static void make_buffers(scene *s, const tk_case *c)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        const size_t bytes = bytes_of(c, p);
        void *data = calloc(1, bytes + 1);
        if (!c->contract->params[p].output)
            draw(c, p, data);
        for (int i = 0; i < STREAMS; i++) {
            place *at = &s->places[i];
            at->buffers[p] = NULL;
            if (bytes == 0)
                continue;
            OK(at->ctx, tk_memory_alloc(at->ctx, bytes, &at->buffers[p]));
            OK(at->ctx, tk_memory_write(at->ctx, at->buffers[p], data, bytes));
        }
        free(data);
    }
}

static void free_buffers(scene *s, const tk_case *c)
{
    for (int i = 0; i < STREAMS; i++)
        for (int p = 0; p < c->contract->param_count; p++)
            tk_memory_free(s->places[i].ctx, s->places[i].buffers[p]);
}

static size_t output_bytes(const tk_case *c)
{
    size_t bytes = 0;
    for (int p = 0; p < c->contract->param_count; p++)
        bytes += c->contract->params[p].output ? bytes_of(c, p) : 0;
    return bytes;
}

/* Reads the outputs and leaves others in their place, so that the next run has to write them. */
static void take_outputs(place *at, const tk_case *c, unsigned char *outputs, unsigned char filler)
{
    OK(at->ctx, tk_ctx_synchronize(at->ctx));
    for (int p = 0; p < c->contract->param_count; p++) {
        const size_t bytes = bytes_of(c, p);
        if (!c->contract->params[p].output || bytes == 0)
            continue;
        unsigned char *other = malloc(bytes);
        memset(other, filler, bytes);
        OK(at->ctx, tk_memory_read(at->ctx, outputs, at->buffers[p], bytes));
        OK(at->ctx, tk_memory_write(at->ctx, at->buffers[p], other, bytes));
        free(other);
        outputs += bytes;
    }
}

static void check_same(place *at, const tk_case *c, const unsigned char *want, const char *id, const char *how,
                       int run)
{
    const size_t bytes = output_bytes(c);
    unsigned char *got = malloc(bytes + 1);
    take_outputs(at, c, got, (unsigned char)(run * 37 + 1));
    CHECK(!memcmp(got, want, bytes), "%s %lldx%lldx%lld: other bits, %s, run %d", id, (long long)c->dims[0],
          (long long)c->dims[1], (long long)c->dims[2], how, run);
    free(got);
}

static void repeat(scene *s, const tk_case *c, const tki_lowering *row, const char *id)
{
    tki_runner runners[STREAMS];
    const size_t bytes = output_bytes(c);
    unsigned char *want = malloc(bytes + 1);
    place *first = &s->places[0];
    make_buffers(s, c);
    for (int i = 0; i < STREAMS; i++)
        OK(s->places[i].ctx, tki_runner_open(s->places[i].ctx, &(tki_runnable){.lowering = row}, &runners[i]));
    OK(first->ctx, tki_runner_call(&runners[0], c, first->buffers, 0, NULL));
    take_outputs(first, c, want, 0xff);
    for (int run = 0; run < s->runs / 2; run += STREAMS) {
        for (int i = 0; i < STREAMS; i++)
            OK(s->places[i].ctx, tki_runner_call(&runners[i], c, s->places[i].buffers, 0, NULL));
        for (int i = 0; i < STREAMS; i++)
            check_same(&s->places[i], c, want, id, "streams at once", run + i);
    }
    recording graph = begin_recording(first->ctx, &s->d);
    OK(first->ctx, tki_runner_call(&runners[0], c, first->buffers, 0, NULL));
    OK(first->ctx, tki_runner_call(&runners[0], c, first->buffers, 0, NULL));
    end_recording(&s->d, &graph);
    for (int run = 0; run < s->runs / 2; run++) {
        play(&s->d, &graph);
        check_same(first, c, want, id, "a graph", run);
    }
    drop_recording(first->ctx, &s->d, &graph);
    OK(first->ctx, tk_ctx_set_stream(first->ctx, first->stream));
    for (int i = 0; i < STREAMS; i++)
        tki_runner_close(&runners[i]);
    free_buffers(s, c);
    free(want);
    s->cases++;
}

static void try_shapes(scene *s, tk_case c, const tki_lowering *row, int number)
{
    static const int64_t shapes[][3] = {{200, 264, 328},   {9, 520, 1032},     {77, 129, 65},
                                        {1500, 1608, 704}, {129, 1001, 40000}, {1000, 96, 500}};
    enum { SMALL = 3, SHAPES = sizeof shapes / sizeof *shapes };
    char id[128];
    (void)tk_lowering_id(&c, number, id, sizeof id);
    for (int i = 0; i < (s->small ? SMALL : SHAPES); i++) {
        for (int d = 0; d < c.contract->dim_count; d++)
            c.dims[d] = c.contract->dim_count == 1 ? shapes[i][0] * shapes[i][1] + i : shapes[i][d];
        if (!tk_lowering_refusal(s->places[0].ctx, &c, number))
            repeat(s, &c, row, id);
    }
}

/* With the attributes' defaults, and with each other choice of one that kernels see. */
static void try_attributes(scene *s, const tk_case *c, const tki_lowering *row, int number)
{
    try_shapes(s, *c, row, number);
    for (int a = 0; a < c->contract->attribute_count; a++) {
        const tk_attribute *attribute = &c->contract->attributes[a];
        for (int k = 0; attribute->seen_by_kernel && k < attribute->choice_count; k++) {
            tk_case other = *c;
            other.attributes[a].integer = k;
            if (k != c->attributes[a].integer)
                try_shapes(s, other, row, number);
        }
    }
}

static void try_all(scene *s)
{
    for (int op = 0; op < tk_contract_count(); op++) {
        const tk_contract *contract = tk_contract_at(op);
        const tki_lowering *rows = tki_lowerings_of(contract);
        for (int l = 0; rows[l].backend; l++) {
            if (strcmp(rows[l].backend->name, "cuda") != 0 ||
                (s->variant && strcmp(rows[l].variant, s->variant) != 0))
                continue;
            for (int t = 0; t < contract->type_count; t++) {
                tk_case c = tk_case_init(contract, contract->types[t].dtype);
                c.result_dtype = contract->types[t].result_dtype;
                try_attributes(s, &c, &rows[l], l);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static scene s;
    if (argc < 3)
        return 2;
    s.runs = atoi(argv[1]);
    s.small = !strcmp(argv[2], "small");
    s.variant = argc > 3 ? argv[3] : NULL;
    printf("seed %d\n", SEED);
    srand(SEED);
    for (int i = 0; i < STREAMS; i++) {
        place *at = &s.places[i];
        if (tk_ctx_create(&at->ctx) != TK_OK)
            return 1;
        if (tk_ctx_use_device(at->ctx, "cuda") != TK_OK) {
            printf("skipped: %s\n", tk_ctx_message(at->ctx));
            return SKIPPED;
        }
    }
    s.d = find_driver();
    void *context = NULL;
    CHECK(s.d.retain(&context, 0) == 0 && s.d.set_current(context) == 0, "the device's primary context");
    for (int i = 0; i < STREAMS; i++) {
        CHECK(s.d.stream_create(&s.places[i].stream, 1) == 0, "stream");
        OK(s.places[i].ctx, tk_ctx_set_stream(s.places[i].ctx, s.places[i].stream));
    }
    try_all(&s);
    for (int i = 0; i < STREAMS; i++) {
        tk_ctx_destroy(s.places[i].ctx);
        s.d.stream_destroy(s.places[i].stream);
    }
    printf("%d cases, %d runs of each: %s\n", s.cases, s.runs, failures ? "some checks failed" : "the same bits");
    return failures != 0 || s.cases == 0;
}
