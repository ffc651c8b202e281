/* What 'tokitai tune' keeps: its file, byte by byte, and which contexts use it. */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/tuning_file.h"
#include "core/context.h"
#include "runtime/lowering_choice.h"
#include "tests/fake_gpu/begin.h"
#include "tests/unit_test.h"
#include "tokitai_cache.h"

typedef struct scene {
    fake_gpu fake;
    tk_ctx *ctx;
    char notes[1024]; /* of the context */
} scene;

static void take_note(const char *note, void *data)
{
    scene *s = data;
    snprintf(s->notes + strlen(s->notes), sizeof s->notes - strlen(s->notes), "%s\n", note);
}

static void open_context(scene *s)
{
    s->notes[0] = 0;
    assert_int_equal(tk_ctx_create(&s->ctx), TK_OK);
    assert_int_equal(tk_ctx_set_note_listener(s->ctx, take_note, s), TK_OK);
    if (tk_ctx_use_device(s->ctx, "cuda") != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
}

static void open_again(scene *s)
{
    tk_ctx_destroy(s->ctx);
    open_context(s);
}

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    unsetenv("TOKITAI_TUNING");
    fake_gpu_begin(&s->fake, "cuda");
    open_context(s);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    tk_ctx_destroy(s->ctx);
    fake_gpu_end(&s->fake);
    free(s);
    return 0;
}

static tk_case case_of(tk_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    tk_case c = tk_case_init(tk_contract_find("gemm"), dtype);
    c.dims[0] = m;
    c.dims[1] = n;
    c.dims[2] = k;
    return c;
}

static const tki_lowering *row(void)
{
    const tki_lowering *hopper = tki_lowerings_of(tk_contract_find("gemm"));
    assert_string_equal(hopper->variant, "hopper");
    return hopper;
}

static bool same(tki_choice a, tki_choice b)
{
    return !memcmp(&a, &b, sizeof a);
}

/* One that the model does not choose. */
static tki_choice other_choice(const tk_case *c)
{
    tki_choice list[TKI_MOST_CANDIDATES];
    assert_true(row()->candidates(row(), c, list, TKI_MOST_CANDIDATES) > 3);
    assert_true(same(list[0], row()->choose(row(), c)));
    assert_false(same(list[3], list[0]));
    return list[3];
}

static void keep(scene *s, const tk_case *c, tki_choice choice)
{
    if (tki_chosen_keep(s->ctx, row(), c, choice, 2e-5, 1e-5) != TK_OK)
        fail_msg("%s", tk_ctx_message(s->ctx));
}

/* The file of tunings; there is one. */
static void find_file(const scene *s, char path[PATH_MAX])
{
    char pattern[PATH_MAX];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.tuning", s->fake.cache);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
    globfree(&found);
}

static size_t read_file(const char *path, char *data, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t bytes = fread(data, 1, size, file);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void a_kept_choice_is_used(void **state)
{
    scene *s = *state;
    const tk_case c = case_of(TK_BF16, 4096, 4096, 1024), bigger = case_of(TK_BF16, 4096, 4096, 1032),
                  f16 = case_of(TK_F16, 4096, 4096, 1024);
    const tki_choice other = other_choice(&c);
    keep(s, &c, other);
    open_again(s);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), other));
    assert_true(same(tki_chosen_for(s->ctx, row(), &bigger), row()->choose(row(), &bigger)));
    assert_true(same(tki_chosen_for(s->ctx, row(), &f16), row()->choose(row(), &f16)));
    /* What was not measured on this device counts for nothing. */
    setenv("FAKE_GPU_NAME", "Another GPU", 1);
    open_again(s);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), row()->choose(row(), &c)));
    unsetenv("FAKE_GPU_NAME");
    assert_int_equal(tk_ctx_use_device(s->ctx, "cuda"), TK_OK);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), other));
    assert_string_equal(s->notes, "");
}

static void it_can_be_ignored(void **state)
{
    scene *s = *state;
    const tk_case c = case_of(TK_F16, 4096, 4096, 1024);
    const tki_choice other = other_choice(&c), own = row()->choose(row(), &c);
    keep(s, &c, other);
    open_again(s);
    assert_int_equal(tk_ctx_use_tuning(s->ctx, false), TK_OK);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), own));
    assert_int_equal(tk_ctx_use_tuning(s->ctx, true), TK_OK);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), other));
    setenv("TOKITAI_TUNING", "off", 1);
    open_again(s);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), own));
    unsetenv("TOKITAI_TUNING");
    assert_int_equal(tk_ctx_use_tuning(NULL, true), TK_BAD_ARGUMENT);
}

static void cases_are_replaced_and_sorted(void **state)
{
    scene *s = *state;
    tki_tuning t;
    tki_digest digest;
    char path[PATH_MAX], data[8192], problem[256];
    for (int round = 0; round < 2; round++)
        for (int64_t m = 9; m <= 4096; m *= 3) {
            const tk_case c = case_of(TK_F16, m, 4096, 1024);
            tki_choice list[TKI_MOST_CANDIDATES];
            assert_true(row()->candidates(row(), &c, list, 2) == 2);
            keep(s, &c, list[round]);
        }
    find_file(s, path);
    const size_t bytes = read_file(path, data, sizeof data);
    assert_int_equal(tki_digest_open(s->ctx, &digest), TK_OK);
    assert_true(tki_tuning_decode(&digest, data, bytes, NULL, &t, problem, sizeof problem));
    assert_int_equal(t.case_count, 6);
    assert_string_equal(t.lowering, "cuda.gemm.f16.hopper");
    assert_string_equal(t.device, "Fake GPU 0");
    for (int i = 0; i + 1 < t.case_count; i++)
        assert_true(strcmp(t.cases[i].text, t.cases[i + 1].text) < 0);
    assert_int_equal(tki_tuning_find(&t, "81x4096x1024")->best_ns, 10000);
    assert_null(tki_tuning_find(&t, "81x4096x1025"));
    tki_tuning_free(&t);
    open_again(s);
    for (int64_t m = 9; m <= 4096; m *= 3) {
        const tk_case c = case_of(TK_F16, m, 4096, 1024);
        tki_choice list[2];
        assert_int_equal(row()->candidates(row(), &c, list, 2), 2);
        assert_true(same(tki_chosen_for(s->ctx, row(), &c), list[1]));
    }
}

/* Each byte changed, each length but the right one: the file is refused, and what the model chooses is used. */
static void a_damaged_file_is_ignored(void **state)
{
    scene *s = *state;
    const tk_case c = case_of(TK_F16, 4096, 4096, 1024);
    char path[PATH_MAX], data[2048], changed[2048], problem[256];
    tki_digest digest;
    tki_tuning t;
    keep(s, &c, other_choice(&c));
    find_file(s, path);
    const size_t bytes = read_file(path, data, sizeof data);
    assert_int_equal(tki_digest_open(s->ctx, &digest), TK_OK);
    for (size_t i = 0; i < bytes; i++) {
        memcpy(changed, data, bytes);
        changed[i] ^= 1;
        assert_false(tki_tuning_decode(&digest, changed, bytes, NULL, &t, problem, sizeof problem));
        assert_true(problem[0] && !t.cases);
        assert_false(tki_tuning_decode(&digest, data, i, NULL, &t, problem, sizeof problem));
        assert_true(problem[0] && !t.cases);
    }
    memcpy(changed, data, bytes);
    changed[bytes] = '\n';
    assert_false(tki_tuning_decode(&digest, changed, bytes + 1, NULL, &t, problem, sizeof problem));
    changed[bytes - 3] ^= 1;
    write_file(path, changed, bytes);
    open_again(s);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), row()->choose(row(), &c)));
    assert_non_null(strstr(s->notes, "of cuda.gemm.f16.hopper is damaged"));
    assert_string_equal(tk_ctx_message(s->ctx), "");
    /* A measurement replaces it. */
    keep(s, &c, other_choice(&c));
    open_again(s);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), other_choice(&c)));
    /* The right file under another name is that of something else. */
    write_file(path, data, bytes);
    memcpy(changed, path, strlen(path) + 1);
    char *digit = strrchr(changed, '/') + 1;
    *digit = *digit == '0' ? '1' : '0';
    assert_int_equal(rename(path, changed), 0);
    open_again(s);
    assert_true(same(tki_chosen_for(s->ctx, row(), &c), row()->choose(row(), &c)));
    assert_string_equal(s->notes, "");
}

/* Numbers that no measurement can have given, in a file whose hashes are right. */
static void a_wild_choice_is_never_used(void **state)
{
    scene *s = *state;
    const tk_case c = case_of(TK_F16, 4096, 4096, 1024);
    const tki_choice own = row()->choose(row(), &c);
    char path[PATH_MAX], data[2048], problem[256];
    tki_digest digest;
    static const int wild[] = {0, 1, 17, 4096, 1 << 20, INT32_MAX};
    keep(s, &c, other_choice(&c));
    find_file(s, path);
    assert_int_equal(tki_digest_open(s->ctx, &digest), TK_OK);
    int refused = 0;
    for (int n = 0; n < TKI_CHOICE_NUMBERS; n++)
        for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
            tki_choice choice = own, list[TKI_MOST_CANDIDATES];
            tki_tuning t;
            bool possible = false;
            const int count = row()->candidates(row(), &c, list, TKI_MOST_CANDIDATES);
            choice.number[n] = wild[i];
            for (int k = 0; k < count; k++)
                possible |= same(list[k], choice);
            size_t bytes = read_file(path, data, sizeof data);
            assert_true(tki_tuning_decode(&digest, data, bytes, NULL, &t, problem, sizeof problem));
            t.cases[0].choice = choice;
            char *encoded = tki_tuning_encode(&digest, &t, &bytes);
            assert_non_null(encoded);
            write_file(path, encoded, bytes);
            free(encoded);
            tki_tuning_free(&t);
            open_again(s);
            assert_true(same(tki_chosen_for(s->ctx, row(), &c), possible ? choice : own));
            assert_true(possible ? !s->notes[0] : strstr(s->notes, "has a choice that this version lacks") != NULL);
            assert_int_equal(tki_chosen_keep(s->ctx, row(), &c, choice, 1, 1), possible ? TK_OK : TK_INTERNAL);
            refused += !possible;
        }
    assert_true(refused > 12);
}

static bool count_tunings(const tk_tuning *tuning, void *data)
{
    int *count = data;
    assert_string_equal(tuning->damage, "");
    assert_string_equal(tuning->lowering, "cuda.gemm.f16.hopper");
    assert_string_equal(tuning->source, "ops/product/kernel_gemm_hopper.cu");
    assert_true(tuning->is_current);
    assert_int_equal(tuning->case_count, 1);
    ++*count;
    return true;
}

static void it_is_listed_and_cleared(void **state)
{
    scene *s = *state;
    const tk_case c = case_of(TK_F16, 4096, 4096, 1024);
    int count = 0, removed = 0;
    int64_t bytes = 0;
    assert_int_equal(tk_tuning_each(s->ctx, count_tunings, &count), TK_OK);
    assert_int_equal(count, 0);
    keep(s, &c, other_choice(&c));
    assert_int_equal(tk_tuning_each(s->ctx, count_tunings, &count), TK_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tk_cache_clear(s->ctx, NULL, &removed, &bytes), TK_OK);
    assert_int_equal(removed, 1);
    assert_true(bytes > 300);
    assert_int_equal(tk_tuning_each(s->ctx, count_tunings, &count), TK_OK);
    assert_int_equal(count, 1);
}

#define ON_FAKE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {ON_FAKE(a_kept_choice_is_used),         ON_FAKE(it_can_be_ignored),
                                       ON_FAKE(cases_are_replaced_and_sorted), ON_FAKE(a_damaged_file_is_ignored),
                                       ON_FAKE(a_wild_choice_is_never_used),   ON_FAKE(it_is_listed_and_cleared)};
    return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}
