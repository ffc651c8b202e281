/* Indices that argmax, argmin and topk may give, against all choices that a row admits: for drawn rows of a few keys, every sequence of indices is
 * compared with what follows from choosing a number for each key in its range. */
#include <stdio.h>

#include "tests/interpret/instance.h"

enum { KEYS = 4, MOST_CHOSEN = 3, DRAWN = 400 };

/* What the keys of a row are: numbers, or ranges of doubles. */
typedef struct row {
    double l[KEYS], h[KEYS];
    bool ties_lower;
} row;

/* The highest that is left, if numbers are chosen so as to favour the sequence: the first is as high as it can be, the next as high as the one
 * before and its own range let it, and so on; all others are as low as they can be. */
static bool admits(const row *r, int chosen, const int64_t sequence[])
{
    double last = INFINITY;
    int64_t last_index = -1;
    bool taken[KEYS] = {false};
    for (int k = 0; k < chosen; k++) {
        const int64_t i = sequence[k];
        if (i < 0 || i >= KEYS || taken[i] || r->l[i] > last)
            return false;
        if (r->ties_lower && r->l[i] == r->h[i] && r->h[i] == last && last_index >= 0 &&
            r->l[last_index] == r->h[last_index] && i < last_index)
            return false;
        taken[i] = true;
        if (r->h[i] <= last)
            last_index = i;
        last = fmin(last, r->h[i]);
    }
    for (int64_t i = 0; i < KEYS; i++) {
        if (taken[i])
            continue;
        if (r->l[i] > last)
            return false;
        for (int k = 0; k < chosen; k++) {
            const int64_t c = sequence[k];
            if (r->ties_lower && r->l[i] == r->h[i] && r->l[c] == r->h[c] && r->l[i] == r->l[c] && i < c)
                return false;
        }
    }
    return true;
}

/* All sequences at once: a row of the case for each. */
static int64_t compare(const char *form, const row *r, const float keys[], int chosen)
{
    static int64_t written[KEYS * KEYS * KEYS * 2 * MOST_CHOSEN], judged[KEYS * KEYS * KEYS * 2 * MOST_CHOSEN];
    int64_t sequences = 1, right = 0;
    char text[256];
    snprintf(text, sizeof text,
             "op a(x[r, c]; count: int in [1, 4] = %d) -> i[r, k]: int\n where k = count\n i[r, k] = %s", chosen,
             form);
    for (int k = 0; k < chosen; k++)
        sequences *= KEYS + 1; /* one that is out of range, too */
    instance it;
    read_instance(&it, text);
    const int64_t dims[TK_MAX_DIMS] = {sequences, KEYS};
    assert_true(settle(&it, dims));
    float *x = it.buffers[0] = malloc((size_t)(sequences * KEYS) * sizeof *x);
    for (int64_t s = 0; s < sequences; s++) {
        memcpy(x + s * KEYS, keys, KEYS * sizeof *x);
        int64_t rest = s;
        for (int k = 0; k < chosen; k++, rest /= KEYS + 1)
            written[s * chosen + k] = rest % (KEYS + 1);
    }
    tki_interpreter *in;
    const void *buffers[TK_MAX_PARAMS] = {x, written};
    assert_int_equal(tki_interpreter_make(it.d, &it.c, buffers, &in), TK_OK);
    const int tensor = it.d->params[1];
    assert_true(tki_chooses(in, tensor));
    assert_int_equal(tki_interpreter_choices(in, tensor, 2, 0, sequences * chosen, judged), TK_OK);
    for (int64_t s = 0; s < sequences; s++) {
        const bool accepted = !memcmp(judged + s * chosen, written + s * chosen, (size_t)chosen * sizeof *judged);
        if (accepted != admits(r, chosen, written + s * chosen))
            fail_msg("%s: keys %g %g %g %g: the sequence %lld, %lld, %lld is %s", text, (double)keys[0],
                     (double)keys[1], (double)keys[2], (double)keys[3], (long long)written[s * chosen],
                     (long long)(chosen > 1 ? written[s * chosen + 1] : -1),
                     (long long)(chosen > 2 ? written[s * chosen + 2] : -1), accepted ? "accepted" : "refused");
        right += accepted;
        for (int k = 0; k < chosen; k++) /* what is said instead is another one */
            assert_true(accepted || (judged[s * chosen + k] >= 0 && judged[s * chosen + k] < KEYS));
    }
    tki_interpreter_free(in);
    /* Without a kernel's choice: an index where there is one, and only there. */
    buffers[1] = NULL;
    assert_int_equal(tki_interpreter_make(it.d, &it.c, buffers, &in), TK_OK);
    assert_int_equal(tki_interpreter_choices(in, tensor, 2, 0, chosen, judged), TK_OK);
    for (int k = 0; k < chosen && right == 1; k++)
        assert_true(judged[k] >= 0);
    for (int k = 0; k < chosen && chosen == 1; k++)
        assert_int_equal(judged[k] >= 0, right == 1);
    tki_interpreter_free(in);
    free_instance(&it);
    return right;
}

static void draw_keys(float keys[KEYS])
{
    static const float all[] = {-1, -0.0f, 0, 1, 2, 2.5f, INFINITY, -INFINITY, NAN};
    const uint64_t most = 3 + below(7);
    for (int i = 0; i < KEYS; i++)
        keys[i] = all[below(most)];
}

TEST(exact_keys)
{
    static const char *const forms[] = {
        "topk[c](x, k)",
        "topk[c ties lower](x, k)",
        "topk[c](-x, k)",
    };
    int64_t right = 0;
    stream = tki_random_stream(73, 0);
    for (int i = 0; i < effort(DRAWN); i++) {
        float keys[KEYS];
        draw_keys(keys);
        const int form = (int)below(3);
        row r = {.ties_lower = form == 1};
        for (int k = 0; k < KEYS; k++) {
            const double key = form == 2 ? -(double)keys[k] : (double)keys[k];
            r.l[k] = isnan(key) ? -INFINITY : key;
            r.h[k] = isnan(key) ? INFINITY : key;
        }
        right += compare(forms[form], &r, keys, 1 + (int)below(MOST_CHOSEN));
    }
    printf("%lld right sequences\n", (long long)right);
}

/* x + x is rounded: its range has neighbours that were chosen close to each other. */
TEST(ranges)
{
    stream = tki_random_stream(74, 0);
    int64_t right = 0;
    for (int i = 0; i < effort(DRAWN); i++) {
        float keys[KEYS];
        row r = {.ties_lower = false};
        for (int k = 0; k < KEYS; k++) {
            keys[k] = 1 + (float)below(12) * 0x1p-23f;
            const double key = 3 * (double)keys[k], off = 2 * key * 0x1p-24;
            r.l[k] = key - off;
            r.h[k] = key + off;
        }
        right += compare("topk[c](x * 3, k)", &r, keys, 1 + (int)below(MOST_CHOSEN));
    }
    printf("%lld right sequences\n", (long long)right);
}

/* One place of a row; a predicate; and an index that another line reads, given or found. */
TEST(other_forms)
{
    static const struct {
        const char *text;
        int64_t dims[3], written[2], expected[2];
    } all[] = {
        {"op a(x[r, c]) -> i[r]: int\n i = argmax[c](x)", {1, 4}, {3}, {3}},
        {"op a(x[r, c]) -> i[r]: int\n i = argmax[c](x)", {1, 4}, {0}, {1}},
        {"op a(x[r, c]) -> i[r]: int\n i = argmax[c ties lower](x)", {1, 4}, {3}, {1}},
        {"op a(x[r, c]) -> i[r]: int\n i = argmin[c](x)", {1, 4}, {0}, {0}},
        {"op a(x[r, c]) -> i[r]: int\n i = argmax[c | c < 1](x)", {1, 4}, {1}, {0}},
        {"op a(x[r, c]) -> i[r]: int\n i = topk[c](x, 2)", {1, 4}, {2}, {2}},
        {"op a(x[r, c]) -> i[r]: int\n i = topk[c](x, 1)", {1, 4}, {3}, {3}},
        {"op a(x[r, c]) -> i[r]: int\n i = topk[c](x, 3)", {1, 4}, {1}, {0}},
    };
    const float x[4] = {1, 3, 2, 3};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        instance it;
        int64_t judged[2];
        tki_interpreter *in;
        read_instance(&it, all[i].text);
        assert_true(settle(&it, all[i].dims));
        const void *buffers[TK_MAX_PARAMS] = {x, all[i].written};
        assert_int_equal(tki_interpreter_make(it.d, &it.c, buffers, &in), TK_OK);
        assert_int_equal(tki_interpreter_choices(in, it.d->params[1], 2, 0, 1, judged), TK_OK);
        if (judged[0] != all[i].expected[0])
            fail_msg("%s: %lld", all[i].text, (long long)judged[0]);
        tki_interpreter_free(in);
        free_instance(&it);
    }
}

static void check_value(const char *text, const float x[4], const int64_t *chosen, unsigned state, double v)
{
    instance it;
    tki_interpreter *in;
    tki_value y;
    const int64_t dims[TK_MAX_DIMS] = {1, 4};
    mpfr_t lo, hi;
    read_instance(&it, text);
    assert_true(settle(&it, dims));
    const void *buffers[TK_MAX_PARAMS] = {x, NULL, chosen};
    assert_int_equal(tki_interpreter_make(it.d, &it.c, buffers, &in), TK_OK);
    assert_int_equal(tki_interpreter_values(in, it.d->params[1], 0, 1, &y), TK_OK);
    assert_int_equal(y.state, state);
    if (state == TKI_IS_FINITE) {
        mpfr_inits2(100, lo, hi, (mpfr_ptr)0);
        assert_true(y.v == v);
        assert_int_equal(tki_interpreter_exactly(in, it.d->params[1], 0, 100, lo, hi), TK_OK);
        assert_true(mpfr_get_d(lo, MPFR_RNDN) == v && mpfr_get_d(hi, MPFR_RNDN) == v);
        mpfr_clears(lo, hi, (mpfr_ptr)0);
    }
    tki_interpreter_free(in);
    free_instance(&it);
}

TEST(indices_that_are_read)
{
    static const char *const output = "op a(x[r, c]) -> y[r], i[r]: int\n i = argmax[c](x)\n y[r] = x[r, i[r]] * 2";
    static const char *const between = "op a(x[r, c]) -> y[r]\n i[r] = argmax[c](x)\n y[r] = x[r, i[r]] * 2 + i[r]";
    const float one[4] = {1, 3, 2, -3}, two[4] = {1, 3, 2, 3};
    check_value(output, one, (const int64_t[]){2}, TKI_IS_FINITE, 4); /* which is judged by itself */
    check_value(output, one, (const int64_t[]){7}, TKI_IS_UNKNOWN, 0);
    check_value(output, one, NULL, TKI_IS_FINITE, 6);
    check_value(output, two, NULL, TKI_IS_UNKNOWN, 0);
    check_value(between, one, NULL, TKI_IS_FINITE, 7);
    check_value(between, two, NULL, TKI_IS_UNKNOWN, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_keys), cmocka_unit_test(ranges),
                                       cmocka_unit_test(other_forms), cmocka_unit_test(indices_that_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
