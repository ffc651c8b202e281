/* Verdicts on mutants as a file (trials/kept_mutants.c): what is written is read, byte for byte; nothing else is; and folders that take nothing
 * or that others can write to. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "compile/cache_folder.h"
#include "core/context.h"
#include "core/file.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"
#include "tokitai_cache.h"
#include "trials/kept_mutants.h"

static tk_ctx *ctx;
static char notes[2048]; /* of the context */

static void take_note(const char *note, void *data)
{
    (void)data;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", note);
}

static void open_context(void)
{
    tk_ctx_destroy(ctx);
    ctx = new_context();
    notes[0] = 0;
    assert_ok(ctx, tk_ctx_set_note_listener(ctx, take_note, NULL));
}

static int begin(void **state)
{
    unsetenv("TOKITAI_CACHE_LIMIT");
    if (enter(state) || mkdir("cache", 0700) || setenv("TOKITAI_CACHE", "cache", 1))
        return -1;
    open_context();
    return 0;
}

static int end(void **state)
{
    tk_ctx_destroy(ctx);
    ctx = NULL;
    return leave(state);
}

/* Two verdicts, one of them on a survivor, of a build of its own for each letter. */
static tki_kept_mutants make(char letter)
{
    tki_kept_mutants kept = {.op = "gelu_fwd", .types = "f16-f32", .index = "", .count = 2};
    memset(kept.build, letter, sizeof kept.build - 1);
    memset(kept.machine, 'a', sizeof kept.machine - 1);
    assert_true(tki_mutants_seed(kept.build, kept.op, kept.types, kept.index, &kept.seed));
    assert_true(tki_kept_key(&kept, kept.key));
    tki_date_now(kept.date);
    kept.list = calloc(2, sizeof *kept.list);
    assert_non_null(kept.list);
    kept.list[0] = (tki_kept_mutant){"wrong", true, "GELU_FWD.ERR", "y[0] is 0; \xc2\xb1 1 is due"};
    kept.list[1] = (tki_kept_mutant){"not_seen", false, "", ""};
    return kept;
}

static void assert_same(const tki_kept_mutants *a, const tki_kept_mutants *b)
{
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->build, b->build);
    assert_string_equal(a->date, b->date);
    assert_true(a->seed == b->seed && a->count == b->count);
    for (int i = 0; i < a->count; i++) {
        assert_string_equal(a->list[i].name, b->list[i].name);
        assert_true(a->list[i].rejected == b->list[i].rejected);
        assert_string_equal(a->list[i].clause, b->list[i].clause);
        assert_string_equal(a->list[i].reason, b->list[i].reason);
    }
}

/* What the key leads to. */
static bool find(const tki_kept_mutants *like, tki_kept_mutants *found)
{
    *found = *like;
    found->list = NULL;
    found->count = 0;
    return tki_kept_load(ctx, found);
}

static void assert_not_found(const tki_kept_mutants *like, const char *note)
{
    tki_kept_mutants found;
    open_context();
    assert_false(find(like, &found));
    assert_string_equal(tk_ctx_message(ctx), "");
    if (note ? !strstr(notes, note) : notes[0] != 0)
        fail_msg("the notes are '%s', due is '%s'", notes, note ? note : "");
}

static void path_of(const tki_kept_mutants *kept, char path[256])
{
    snprintf(path, 256, "cache/%s.mutants", kept->key);
}

static int files(void)
{
    int count = 0;
    DIR *list = opendir("cache");
    assert_non_null(list);
    for (const struct dirent *e; (e = readdir(list));)
        count += e->d_name[0] != '.';
    closedir(list);
    return count;
}

static void saved_then_found(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b'), other = make('c'), found;
    char path[256];
    struct stat about;
    assert_not_found(&kept, NULL);
    tki_kept_save(ctx, &kept);
    assert_string_equal(notes, "");
    path_of(&kept, path);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_true(find(&kept, &found));
    assert_same(&kept, &found);
    tki_kept_free(&found);
    assert_not_found(&other, NULL); /* of another build */
    tki_kept_free(&kept);
    tki_kept_free(&other);
}

static void folder_is_made_for_its_user(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b');
    struct stat about;
    setenv("TOKITAI_CACHE", "a/b", 1);
    tki_kept_save(ctx, &kept);
    assert_int_equal(stat("a/b", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    tki_kept_free(&kept);
}

static void damage_is_found(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b'), found;
    char path[256], *data;
    size_t bytes;
    tki_kept_save(ctx, &kept);
    path_of(&kept, path);
    assert_ok(ctx, tki_file_read(ctx, path, 1 << 20, &data, &bytes));
    for (size_t i = 0; i < bytes; i++) {
        data[i] ^= 4;
        assert_ok(ctx, tki_file_create(ctx, path, data, bytes, 0600, true));
        assert_not_found(&kept, "ignored: it");
        data[i] ^= 4;
    }
    for (size_t length = 0; length < bytes; length += 7) {
        assert_ok(ctx, tki_file_create(ctx, path, data, length, 0600, true));
        assert_not_found(&kept, "ignored: it");
    }
    data = realloc(data, bytes + 1);
    assert_non_null(data);
    data[bytes] = '\n';
    assert_ok(ctx, tki_file_create(ctx, path, data, bytes + 1, 0600, true));
    assert_not_found(&kept, "it has data after its end");
    assert_ok(ctx, tki_file_create(ctx, path, data, bytes, 0600, true));
    assert_true(find(&kept, &found));
    tki_kept_free(&found);
    tki_kept_free(&kept);
    free(data);
}

/* One under another's name, and one whose fields do not follow from each other, though its hash fits. */
static void fields_are_held_to_each_other(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b'), other = make('c'), found;
    char path[256], other_path[256], problem[256];
    size_t bytes;
    tki_kept_save(ctx, &other);
    path_of(&kept, path);
    path_of(&other, other_path);
    assert_int_equal(rename(other_path, path), 0);
    assert_not_found(&kept, "its key is another");
    kept.seed++;
    char *data = tki_kept_encode(&kept, &bytes);
    assert_false(tki_kept_decode(data, bytes, kept.key, &found, problem, sizeof problem));
    assert_string_equal(problem, "its seed does not match its content");
    free(data);
    kept.seed--;
    kept.machine[0] = 'b';
    data = tki_kept_encode(&kept, &bytes);
    assert_false(tki_kept_decode(data, bytes, kept.key, &found, problem, sizeof problem));
    assert_string_equal(problem, "its key does not match its content");
    free(data);
    kept.list[0].reason[3] = '\n';
    assert_null(tki_kept_encode(&kept, &bytes));
    tki_kept_free(&kept);
    tki_kept_free(&other);
}

static void dates(void **state)
{
    (void)state;
    assert_true(tki_is_date("2026-11-18T05:42:33Z"));
    static const char *const others[] = {"",
                                         "2026-11-18",
                                         "2026-11-18T05:42:33",
                                         "2026-11-18T05:42:33Z ",
                                         "2026-11-18 05:42:33Z",
                                         "x026-11-18T05:42:33Z"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tki_is_date(others[i]));
    tki_kept_mutants kept = make('b');
    strcpy(kept.date, "2999-01-01T00:00:00Z");
    tki_kept_save(ctx, &kept);
    assert_not_found(&kept, "its date is in the future");
    tki_kept_free(&kept);
}

static void links_and_files_of_others(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b');
    char path[256];
    tki_kept_save(ctx, &kept);
    path_of(&kept, path);
    assert_int_equal(chmod(path, 0620), 0);
    assert_not_found(&kept, "others can write to it (mode 0620)");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(rename(path, "elsewhere"), 0);
    assert_int_equal(symlink("../elsewhere", path), 0);
    assert_not_found(&kept, "it is a symbolic link");
    tki_kept_save(ctx, &kept); /* replaces the link, not what it leads to */
    struct stat about;
    assert_true(lstat(path, &about) == 0 && S_ISREG(about.st_mode));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_not_found(&kept, "not a regular file");
    tki_kept_free(&kept);
}

static void folders_of_others(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b');
    tki_kept_save(ctx, &kept);
    assert_int_equal(chmod("cache", 0770), 0);
    assert_not_found(&kept, NULL); /* what lies there is nothing to us, and saving tells why */
    tki_kept_save(ctx, &kept);
    assert_non_null(strstr(notes, "the verdicts on mutants are not kept: cache has mode 0770: its group can"));
    tki_kept_free(&kept);
}

static void folders_that_take_nothing(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b');
    assert_ok(ctx, tki_file_write(ctx, "file", "", 0));
    setenv("TOKITAI_CACHE", "file", 1);
    tki_kept_save(ctx, &kept);
    assert_non_null(strstr(notes, "the verdicts on mutants are not kept: "));
    assert_string_equal(tk_ctx_message(ctx), "");
    assert_not_found(&kept, NULL);
    if (geteuid() != 0) { /* root may write anywhere */
        setenv("TOKITAI_CACHE", "cache", 1);
        assert_int_equal(chmod("cache", 0500), 0);
        open_context();
        tki_kept_save(ctx, &kept);
        assert_non_null(strstr(notes, "the verdicts on mutants are not kept: cannot write "));
        assert_int_equal(chmod("cache", 0700), 0);
    }
    tki_kept_free(&kept);
}

/* A reader meets an old file or a new one, never a part. */
static void several_write_at_once(void **state)
{
    (void)state;
    enum { WRITERS = 3, TIMES = 40 };
    tki_kept_mutants kept = make('b'), found;
    tki_kept_save(ctx, &kept);
    pid_t writers[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        assert_true(writers[w] >= 0);
        if (writers[w] == 0) {
            for (int i = 0; i < TIMES; i++)
                tki_kept_save(ctx, &kept);
            _exit(notes[0] != 0);
        }
    }
    for (int i = 0; i < 10 * TIMES; i++) {
        assert_true(find(&kept, &found));
        assert_same(&kept, &found);
        tki_kept_free(&found);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_int_equal(status, 0);
    }
    assert_string_equal(notes, "");
    assert_int_equal(files(), 1);
    tki_kept_free(&kept);
}

/* Those used longest ago go first, and TOKITAI_CACHE_LIMIT holds for them too. */
static void room_is_made(void **state)
{
    (void)state;
    char path[256], size[32];
    struct stat about;
    for (char letter = 'b'; letter <= 'd'; letter++) {
        tki_kept_mutants kept = make(letter);
        tki_kept_save(ctx, &kept);
        path_of(&kept, path);
        const struct timespec used = {.tv_sec = 1000 + letter};
        assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){used, used}, 0), 0);
        tki_kept_free(&kept);
    }
    assert_int_equal(files(), 3);
    assert_int_equal(stat(path, &about), 0);
    snprintf(size, sizeof size, "%lld", 2 * (long long)about.st_size);
    setenv("TOKITAI_CACHE_LIMIT", size, 1);
    tki_kept_mutants b = make('b'), c = make('c'), e = make('e'), found;
    assert_true(find(&b, &found)); /* used now */
    tki_kept_free(&found);
    tki_kept_save(ctx, &e);
    assert_int_equal(files(), 2);
    assert_true(find(&b, &found));
    tki_kept_free(&found);
    assert_true(find(&e, &found));
    tki_kept_free(&found);
    assert_not_found(&c, NULL);
    tki_kept_free(&b);
    tki_kept_free(&c);
    tki_kept_free(&e);
}

static void too_large(void **state)
{
    (void)state;
    tki_kept_mutants kept = make('b');
    char path[256];
    char *data = calloc(1, TKI_KEPT_MOST_BYTES + 1);
    assert_non_null(data);
    path_of(&kept, path);
    assert_ok(ctx, tki_file_create(ctx, path, data, TKI_KEPT_MOST_BYTES + 1, 0600, true));
    assert_not_found(&kept, "more than the");
    free(data);
    tki_kept_free(&kept);
}

static bool count_verdicts(const tk_kept_mutants *kept, void *data)
{
    int *counts = data;
    counts[0]++;
    counts[1] += kept->damage[0] != 0;
    if (!kept->damage[0]) {
        assert_string_equal(kept->op, "gelu_fwd");
        assert_string_equal(kept->types, "f16-f32");
        assert_true(kept->count == 2 && kept->rejected == 1 && !kept->is_current && tki_is_date(kept->date));
    }
    return true;
}

static void listed_and_cleared(void **state)
{
    (void)state;
    tki_kept_mutants b = make('b'), c = make('c');
    char path[256];
    int counts[2] = {0}, removed;
    int64_t bytes;
    tki_kept_save(ctx, &b);
    tki_kept_save(ctx, &c);
    path_of(&c, path);
    assert_ok(ctx, tki_file_create(ctx, path, "tokitai", 7, 0600, true));
    assert_ok(ctx, tk_kept_mutants_each(ctx, count_verdicts, counts));
    assert_true(counts[0] == 2 && counts[1] == 1);
    assert_ok(ctx, tk_cache_clear(ctx, c.key, &removed, &bytes));
    assert_true(removed == 1 && bytes == 7);
    assert_ok(ctx, tk_cache_clear(ctx, NULL, &removed, &bytes));
    assert_int_equal(removed, 1);
    assert_int_equal(files(), 0);
    tki_kept_free(&b);
    tki_kept_free(&c);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(saved_then_found),
                                       IN_FOLDER(folder_is_made_for_its_user),
                                       IN_FOLDER(damage_is_found),
                                       IN_FOLDER(fields_are_held_to_each_other),
                                       IN_FOLDER(dates),
                                       IN_FOLDER(links_and_files_of_others),
                                       IN_FOLDER(folders_of_others),
                                       IN_FOLDER(folders_that_take_nothing),
                                       IN_FOLDER(several_write_at_once),
                                       IN_FOLDER(room_is_made),
                                       IN_FOLDER(too_large),
                                       IN_FOLDER(listed_and_cleared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
