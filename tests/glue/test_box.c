/* Boxes: overlaps and gaps against trying every pair and every point, on random covers; and 100,000 boxes of several kinds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "glue/cover.h"
#include "tests/unit_test.h"

static tk_ctx *ctx;
static uint64_t state = 20261116;

static int open_context(void **unused)
{
    (void)unused;
    printf("seed %llu\n", (unsigned long long)state);
    return tk_ctx_create(&ctx) != TK_OK;
}

static int close_context(void **unused)
{
    (void)unused;
    tk_ctx_destroy(ctx);
    return 0;
}

static int64_t draw(int64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

static tki_box draw_box(const int64_t *shape, int rank)
{
    tki_box box = {.rank = rank};
    for (int d = 0; d < rank; d++) {
        box.start[d] = draw(4) ? draw(shape[d] + 1) : 0;
        box.size[d] = draw(4) ? draw(shape[d] - box.start[d] + 1) : shape[d] - box.start[d];
    }
    return box;
}

enum { MOST = 200 };
static unsigned char pairs[MOST][MOST];

static bool note_pair(size_t a, size_t b, void *data)
{
    assert_true(a < b);
    pairs[a][b]++;
    ++*(size_t *)data;
    return true;
}

TEST(overlaps_are_those_of_all_pairs)
{
    for (int round = 0; round < effort(600); round++) {
        const int rank = (int)draw(5);
        const size_t count = (size_t)draw(MOST) + 1;
        int64_t shape[TKI_TENSOR_MAX_RANK];
        tki_box boxes[MOST], common;
        size_t found = 0, expected = 0;
        for (int d = 0; d < rank; d++)
            shape[d] = draw(3) ? 1 + draw(9) : 1 + draw(200);
        for (size_t i = 0; i < count; i++)
            boxes[i] = draw(8) || i == 0 ? draw_box(shape, rank) : boxes[draw((int64_t)i)];
        memset(pairs, 0, sizeof pairs);
        assert_int_equal(tki_box_overlaps(ctx, boxes, count, note_pair, &found), TK_OK);
        for (size_t a = 0; a < count; a++)
            for (size_t b = a + 1; b < count; b++) {
                const bool meet = tki_box_volume(&boxes[a]) && tki_box_volume(&boxes[b]) &&
                                  tki_box_meet(&boxes[a], &boxes[b], &common);
                assert_int_equal(pairs[a][b], meet);
                expected += meet;
            }
        assert_int_equal(found, expected);
    }
}

static bool stop_at_once(size_t a, size_t b, void *data)
{
    (void)a;
    (void)b;
    return ++*(size_t *)data < 3;
}

TEST(a_search_can_be_ended)
{
    tki_box boxes[MOST] = {0};
    size_t found = 0;
    for (int i = 0; i < MOST; i++)
        boxes[i] = (tki_box){.rank = 2, .size = {1, 1}};
    assert_int_equal(tki_box_overlaps(ctx, boxes, MOST, stop_at_once, &found), TK_OK);
    assert_int_equal(found, 3);
}

/* -- Covers -------------------------------------------------------------------------------------------------- */

typedef struct visit {
    const tki_box *boxes;
    const int64_t *shape;
    int rank;
    size_t count;
    int64_t next;
    int64_t taken[MOST]; /* elements of each box so far */
} visit;

/* The place of an element of the tensor within a box, row-major; -1: outside. */
static int64_t place_in(const visit *v, const tki_box *box, int64_t element)
{
    int64_t index[TKI_TENSOR_MAX_RANK], place = 0;
    for (int d = v->rank - 1; d >= 0; d--) {
        index[d] = element % v->shape[d];
        element /= v->shape[d];
    }
    for (int d = 0; d < v->rank; d++) {
        if (index[d] < box->start[d] || index[d] >= box->start[d] + box->size[d])
            return -1;
        place = place * box->size[d] + index[d] - box->start[d];
    }
    return place;
}

static tk_status check_run(const tki_run *run, void *data)
{
    visit *v = data;
    assert_int_equal(run->first, v->next);
    assert_true(run->count > 0);
    v->next += run->count;
    for (int64_t e = run->first; e < v->next; e++) {
        size_t k = 0;
        for (uint32_t b = 0; b < v->count; b++) {
            const int64_t place = place_in(v, &v->boxes[b], e);
            if (place < 0)
                continue;
            assert_true(k < run->box_count);
            assert_int_equal(run->boxes[k++], b);
            assert_int_equal(place, v->taken[b]++); /* in the section's own order */
        }
        assert_int_equal(k, run->box_count);
    }
    return TK_OK;
}

TEST(walks_take_each_section_in_its_order)
{
    for (int round = 0; round < effort(1500); round++) {
        const int rank = (int)draw(5);
        int64_t shape[TKI_TENSOR_MAX_RANK] = {0}, elements = 1, missing, expected = 0, first_missing = -1;
        tki_box boxes[MOST], first;
        visit v = {.boxes = boxes, .shape = shape, .rank = rank, .count = (size_t)draw(12)};
        for (int d = 0; d < rank; d++) {
            shape[d] = draw(30) ? 1 + draw(rank > 2 ? 5 : 12) : 0;
            elements *= shape[d];
        }
        for (size_t i = 0; i < v.count; i++)
            boxes[i] = draw_box(shape, rank);
        assert_int_equal(tki_cover_walk(ctx, shape, rank, boxes, v.count, check_run, &v), TK_OK);
        assert_int_equal(v.next, elements);
        for (size_t i = 0; i < v.count; i++)
            assert_int_equal(v.taken[i], tki_box_volume(&boxes[i]));
        for (int64_t e = 0; e < elements; e++) {
            bool covered = false;
            for (size_t b = 0; b < v.count; b++)
                covered |= place_in(&v, &boxes[b], e) >= 0;
            expected += !covered;
            if (!covered && first_missing < 0)
                first_missing = e;
        }
        assert_int_equal(tki_cover_gaps(ctx, shape, rank, boxes, v.count, &missing, &first), TK_OK);
        assert_int_equal(missing, expected);
        if (missing)
            assert_int_equal(place_in(&v, &first, first_missing), 0);
    }
}

static tk_status refuse_run(const tki_run *run, void *data)
{
    (void)run;
    ++*(int *)data;
    return TK_TIMEOUT;
}

TEST(a_walk_can_be_ended)
{
    int taken = 0;
    const int64_t shape[] = {4, 4};
    const tki_box box = {.rank = 2, .size = {4, 2}};
    assert_int_equal(tki_cover_walk(ctx, shape, 2, &box, 1, refuse_run, &taken), TK_TIMEOUT);
    assert_int_equal(taken, 1);
}

/* -- Many ---------------------------------------------------------------------------------------------------- */

enum { MANY = 100000 };

static bool count_pair(size_t a, size_t b, void *data)
{
    (void)a;
    (void)b;
    ++*(size_t *)data;
    return true;
}

/* What is promised is said of the program as it is installed: not of a sanitized build, nor under valgrind, which preloads its own. */
static bool has_full_speed(void)
{
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
    return false;
#else
    const char *preloaded = getenv("LD_PRELOAD");
    return !preloaded || !strstr(preloaded, "vgpreload");
#endif
}

static void expect_overlaps(const char *what, const tki_box *boxes, size_t expected)
{
    size_t found = 0;
    const clock_t begin = clock();
    assert_int_equal(tki_box_overlaps(ctx, boxes, MANY, count_pair, &found), TK_OK);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%s: %zu overlaps among %d boxes in %.3f s of a processor\n", what, found, MANY, seconds);
    assert_int_equal(found, expected);
    assert_true(seconds < 1 || !has_full_speed());
}

/* Covers for which a sweep along a fixed axis, or trying all pairs, takes 10^10 steps. */
TEST(many_boxes)
{
    tki_box *boxes = calloc(MANY, sizeof *boxes);
    assert_non_null(boxes);
    for (int axis = 0; axis < 2; axis++) {
        for (int64_t i = 0; i < MANY; i++) {
            boxes[i] = (tki_box){.rank = 2, .size = {1000, 1000}};
            boxes[i].start[axis] = 4 * i;
            boxes[i].size[axis] = 5; /* a halo of one */
        }
        expect_overlaps(axis ? "columns with halos" : "rows with halos", boxes, MANY - 1);
    }
    for (int64_t i = 0; i < MANY; i++)
        boxes[i] = (tki_box){.rank = 2, .start = {i / 250 * 8, i % 250 * 8}, .size = {8, 8}};
    expect_overlaps("a grid", boxes, 0);
    for (int64_t i = 0; i < MANY; i++)
        boxes[i].size[0] = boxes[i].size[1] = 9;
    expect_overlaps("a grid with halos", boxes, 400 * 249 + 399 * 250 + 2 * 399 * 249);
    for (int64_t i = 0; i < MANY; i++)
        boxes[i] = (tki_box){.rank = 3, .start = {i, i, MANY - i}, .size = {MANY, MANY, 1}};
    expect_overlaps("a staircase", boxes, 0);
    free(boxes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_are_those_of_all_pairs),
        cmocka_unit_test(a_search_can_be_ended),
        cmocka_unit_test(walks_take_each_section_in_its_order),
        cmocka_unit_test(a_walk_can_be_ended),
        cmocka_unit_test(many_boxes),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
