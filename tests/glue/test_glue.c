/* Gluing, on random covers of random tensors: what agrees gives the tensor back bit by bit; one changed bit is an obstruction exactly where
 * another section has the element, which names this element and both patterns; a section left out is a gap, if nothing else covers it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "glue/checkpoint.h"
#include "glue/json.h"
#include "glue/placement.h"
#include "tests/unit_test.h"
#include "tests/work_folder.h"

enum { MOST = 6, MOST_BYTES = 1 << 14, ROUNDS = 150 };

static tk_ctx *ctx;
static uint64_t state = 20261117;

static int open_context(void **unused)
{
    printf("seed %llu\n", (unsigned long long)state);
    return enter(unused) || tk_ctx_create(&ctx) != TK_OK;
}

static int close_context(void **unused)
{
    tk_ctx_destroy(ctx);
    return leave(unused);
}

static int64_t draw(int64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

/* A tensor, and sections over boxes of it. */
typedef struct sample {
    tk_dtype type;
    int rank, size; /* bytes of an element */
    int64_t shape[TKI_TENSOR_MAX_RANK], elements;
    unsigned char bytes[MOST_BYTES];
    int count;
    tki_box boxes[MOST];
} sample;

/* Cuts along one axis, with halos, and some boxes beside; so that all is covered. */
static sample draw_sample(void)
{
    static const tk_dtype types[] = {TK_U8, TK_F16, TK_F32, TKI_F64};
    sample s = {.type = types[draw(4)], .rank = 1 + (int)draw(4), .elements = 1, .count = 2 + (int)draw(MOST - 1)};
    s.size = tki_format_of(s.type).bits / 8;
    for (int d = 0; d < s.rank; d++)
        s.elements *= s.shape[d] = 1 + draw(6);
    const int axis = (int)draw(s.rank), cuts = 1 + (int)draw(s.count);
    for (int i = 0; i < s.count; i++) {
        tki_box *box = &s.boxes[i];
        *box = tki_box_whole(s.shape, s.rank);
        if (i < cuts) {
            int64_t low = s.shape[axis] * i / cuts, high = s.shape[axis] * (i + 1) / cuts;
            low -= low > 0 ? draw(2) : 0;
            high += high < s.shape[axis] ? draw(2) : 0;
            box->start[axis] = low;
            box->size[axis] = high - low;
        } else {
            for (int d = 0; d < s.rank; d++) {
                box->start[d] = draw(s.shape[d]);
                box->size[d] = 1 + draw(s.shape[d] - box->start[d]);
            }
        }
    }
    for (int64_t i = 0; i < s.elements * s.size; i++)
        s.bytes[i] = (unsigned char)draw(256);
    return s;
}

/* The place of the i-th element of a box in the tensor. */
static int64_t place_of(const sample *s, const tki_box *box, int64_t i)
{
    int64_t index[TKI_TENSOR_MAX_RANK], place = 0;
    for (int d = s->rank - 1; d >= 0; d--) {
        index[d] = box->start[d] + i % box->size[d];
        i /= box->size[d];
    }
    for (int d = 0; d < s->rank; d++)
        place = place * s->shape[d] + index[d];
    return place;
}

static bool has(const sample *s, int section, int64_t place)
{
    for (int64_t i = 0; i < tki_box_volume(&s->boxes[section]); i++)
        if (place_of(s, &s->boxes[section], i) == place)
            return true;
    return false;
}

/* Writes a section as a shard of its own, with one bit of one element changed, if `changed` is not negative. */
static void write_shard(const sample *s, int section, int64_t changed, int bit)
{
    const tki_box *box = &s->boxes[section];
    tki_tensor tensor = {.name = "t", .type = s->type, .rank = s->rank};
    memcpy(tensor.shape, box->size, sizeof tensor.shape);
    int64_t bytes;
    size_t head;
    char name[32];
    assert_true(tki_safetensors_lay_out(&tensor, 1, &bytes));
    json_t *placement = json_pack("{s:{s:{s:s, s:o, s:o}}}", "sections", "t", "tensor", "whole", "shape",
                                  tki_json_sizes(s->shape, s->rank), "start", tki_json_sizes(box->start, s->rank));
    char *text = json_dumps(placement, 0);
    json_t *metadata = json_pack("{s:s}", TKI_PLACEMENT_KEY, text);
    char *header = tki_safetensors_header(&tensor, 1, metadata, &head);
    assert_non_null(header);
    unsigned char *file = malloc(head + (size_t)bytes);
    assert_non_null(file);
    memcpy(file, header, head);
    for (int64_t i = 0; i < tki_box_volume(box); i++)
        memcpy(file + head + i * s->size, s->bytes + place_of(s, box, i) * s->size, (size_t)s->size);
    if (changed >= 0)
        file[(int64_t)head + changed * s->size + bit / 8] ^= (unsigned char)(1 << bit % 8);
    snprintf(name, sizeof name, "s%d", section);
    assert_int_equal(tki_file_write(ctx, name, file, head + (size_t)bytes), TK_OK);
    json_decref(placement);
    json_decref(metadata);
    free(text);
    free(header);
    free(file);
}

/* Glues all shards but one; -1: all. The outcome's report is freed; the checkpoint is the caller's. */
static tki_glue_verdict glue(const sample *s, int without, tki_checkpoint **checkpoint)
{
    char names[MOST + 1][16], *paths[MOST + 1];
    size_t count = 0;
    for (int i = 0; i < s->count; i++) {
        snprintf(names[count], sizeof names[count], "s%d", i);
        paths[count] = names[count];
        count += i != without;
    }
    const tki_glue_options options = {0};
    tki_glue_outcome outcome;
    unlink("joined");
    assert_int_equal(tki_checkpoint_open(ctx, paths, count, NULL, 0, checkpoint), TK_OK);
    assert_int_equal(tki_glue(ctx, *checkpoint, "joined", &options, &outcome), TK_OK);
    const tki_glue_verdict verdict = outcome.verdict;
    tki_glue_outcome_free(&outcome);
    assert_int_equal(access("joined", F_OK) == 0, verdict != TKI_OBSTRUCTED);
    return verdict;
}

static void expect_result(const unsigned char *bytes, int64_t size)
{
    tki_safetensors file;
    tki_malformed kind;
    assert_int_equal(tki_safetensors_open(ctx, "joined", &file, &kind), TK_OK);
    const tki_tensor *tensor = tki_safetensors_find(&file, "whole");
    assert_non_null(tensor);
    assert_int_equal(tensor->end - tensor->begin, size);
    assert_memory_equal(file.bytes + file.data_at + tensor->begin, bytes, (size_t)size);
    tki_safetensors_close(&file);
}

TEST(what_agrees_gives_the_tensor_back)
{
    for (int round = 0; round < effort(ROUNDS); round++) {
        const sample s = draw_sample();
        tki_checkpoint *checkpoint;
        for (int i = 0; i < s.count; i++)
            write_shard(&s, i, -1, 0);
        assert_int_equal(glue(&s, -1, &checkpoint), TKI_GLUED);
        tki_checkpoint_close(checkpoint);
        expect_result(s.bytes, s.elements * s.size);
    }
}

static void check_obstruction(const sample *s, const tki_obstruction *o, int changed, int64_t place, uint64_t good,
                              uint64_t bad)
{
    char name[16];
    int64_t at = 0;
    snprintf(name, sizeof name, "s%d", changed);
    const bool first = !strcmp(o->shards[0], name);
    assert_true(first || !strcmp(o->shards[1], name));
    assert_string_equal(o->tensor, "whole");
    assert_true(o->has_element && o->has_box);
    for (int d = 0; d < s->rank; d++)
        at = at * s->shape[d] + o->element[d];
    assert_int_equal(at, place);
    assert_int_equal(o->differing, 1);
    assert_int_equal(o->of, tki_box_volume(&o->box));
    assert_int_equal(o->bits[first ? 0 : 1], bad);
    assert_int_equal(o->bits[first ? 1 : 0], good);
    const int other = atoi(o->shards[first ? 1 : 0] + 1);
    assert_int_equal(o->kind, tki_box_equal(&s->boxes[changed], &s->boxes[other]) ? TKI_REPLICA_DISAGREES
                                                                                  : TKI_OVERLAP_DISAGREES);
}

TEST(one_bit_is_seen_where_another_section_has_it)
{
    int seen = 0, alone = 0;
    for (int round = 0; round < effort(ROUNDS); round++) {
        sample s = draw_sample();
        tki_checkpoint *checkpoint;
        const int changed = (int)draw(s.count);
        if (tki_box_volume(&s.boxes[changed]) == 0)
            continue;
        const int64_t element = draw(tki_box_volume(&s.boxes[changed]));
        const int64_t place = place_of(&s, &s.boxes[changed], element);
        const int bit = (int)draw(8 * s.size);
        bool others = false;
        for (int i = 0; i < s.count; i++) {
            write_shard(&s, i, i == changed ? element : -1, bit);
            others |= i != changed && has(&s, i, place);
        }
        const tki_glue_verdict verdict = glue(&s, -1, &checkpoint);
        const uint64_t good = tki_element_at(s.type, s.bytes, place), bad = good ^ (uint64_t)1 << bit;
        assert_int_equal(verdict, others ? TKI_OBSTRUCTED : TKI_GLUED);
        const tki_obstructions *all = tki_checkpoint_obstructions(checkpoint);
        assert_int_equal(all->count > 0, others);
        for (size_t i = 0; i < all->kept; i++)
            check_obstruction(&s, &all->list[i], changed, place, good, bad);
        tki_checkpoint_close(checkpoint);
        if (!others) {
            s.bytes[place * s.size + bit / 8] ^= (unsigned char)(1 << bit % 8);
            expect_result(s.bytes, s.elements * s.size);
        }
        seen += others;
        alone += !others;
    }
    printf("%d changed bits were seen, %d had no other section\n", seen, alone);
    assert_true(seen > ROUNDS / 8 && alone > ROUNDS / 8);
}

TEST(a_missing_section_is_a_gap)
{
    int gaps = 0;
    for (int round = 0; round < effort(ROUNDS); round++) {
        const sample s = draw_sample();
        tki_checkpoint *checkpoint;
        const int without = (int)draw(s.count);
        int64_t missing = 0;
        for (int i = 0; i < s.count; i++)
            write_shard(&s, i, -1, 0);
        for (int64_t place = 0; place < s.elements; place++) {
            bool covered = false;
            for (int i = 0; i < s.count; i++)
                covered |= i != without && has(&s, i, place);
            missing += !covered;
        }
        assert_int_equal(glue(&s, without, &checkpoint), missing ? TKI_OBSTRUCTED : TKI_GLUED);
        const tki_obstructions *all = tki_checkpoint_obstructions(checkpoint);
        assert_int_equal(all->count, missing > 0);
        if (missing) {
            assert_int_equal(all->list[0].kind, TKI_GAP);
            assert_int_equal(all->list[0].differing, missing);
            assert_int_equal(all->list[0].of, s.elements);
        } else {
            expect_result(s.bytes, s.elements * s.size);
        }
        tki_checkpoint_close(checkpoint);
        gaps += missing > 0;
    }
    assert_true(gaps > ROUNDS / 8 && gaps < ROUNDS);
}

/* A shard that somebody writes to between the opening and the end. */
TEST(a_shard_that_changes_is_refused)
{
    sample s = draw_sample();
    const tki_glue_options options = {0};
    const tki_layout layout = {.count = 2, .replicas = 1};
    char name[] = "s0", *paths[] = {name};
    s.count = 1;
    s.boxes[0] = tki_box_whole(s.shape, s.rank);
    for (int way = 0; way < 4; way++) {
        tki_checkpoint *checkpoint;
        tki_glue_outcome outcome;
        write_shard(&s, 0, -1, 0);
        const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
        assert_int_equal(utimensat(AT_FDCWD, name, old, 0), 0);
        assert_int_equal(tki_checkpoint_open(ctx, paths, 1, NULL, 0, &checkpoint), TK_OK);
        if (way < 2) { /* in its place */
            const int file = open(name, O_WRONLY);
            assert_true(file >= 0);
            assert_int_equal(pwrite(file, "", 1, 8), 1);
            close(file);
        } else { /* replaced by a file that looks the same */
            write_shard(&s, 0, -1, 0);
            assert_int_equal(utimensat(AT_FDCWD, name, old, 0), 0);
        }
        unlink("joined");
        const tk_status status = way % 2 ? tki_split(ctx, checkpoint, "part", &layout, &options, &outcome)
                                         : tki_glue(ctx, checkpoint, "joined", &options, &outcome);
        assert_int_equal(status, TK_IO);
        assert_string_equal(tk_ctx_message(ctx), "s0 changed while it was read");
        assert_int_not_equal(access("joined", F_OK), 0);
        assert_int_not_equal(access("part-00001-of-00002.safetensors", F_OK), 0);
        tki_checkpoint_close(checkpoint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_agrees_gives_the_tensor_back),
        cmocka_unit_test(one_bit_is_seen_where_another_section_has_it),
        cmocka_unit_test(a_missing_section_is_a_gap),
        cmocka_unit_test(a_shard_that_changes_is_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
