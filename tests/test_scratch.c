/* Scratch folders (core/scratch.c): their owner's while it lives, and nobody's afterwards. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"

static int enter_with_tmpdir(void **state)
{
    return enter(state) || mkdir("tmp", 0700) || setenv("TMPDIR", work, 1) ? -1 : 0;
}

static bool is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static void put_file(const char *path)
{
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    close(file);
}

static void put_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

/* The folder has something of each kind, and at its bottom one that nobody may enter. */
static void fill(const char *folder)
{
    char path[PATH_MAX + 32], target[128];
    snprintf(path, sizeof path, "%s/file", folder);
    put_file(path);
    snprintf(path, sizeof path, "%s/link", folder);
    snprintf(target, sizeof target, "%s/outside", work);
    assert_int_equal(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/inner", folder);
    put_folder(path);
    snprintf(path, sizeof path, "%s/inner/bottom", folder);
    put_folder(path);
    snprintf(path, sizeof path, "%s/inner/bottom/file", folder);
    put_file(path);
    snprintf(path, sizeof path, "%s/inner/bottom", folder);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(folder, 0), 0);
}

static void made_and_removed(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tki_scratch scratch, none = {0};
    struct stat about;
    put_folder("outside");
    put_file("outside/kept");
    /* The path has no links in it, whatever TMPDIR says. */
    assert_int_equal(symlink("tmp", "tmp_link"), 0);
    char by_link[128], real[PATH_MAX];
    snprintf(by_link, sizeof by_link, "%s/tmp_link", work);
    setenv("TMPDIR", by_link, 1);
    assert_ok(ctx, tki_scratch_make(ctx, &scratch));
    assert_non_null(realpath(scratch.path, real));
    assert_string_equal(scratch.path, real);
    assert_int_equal(stat(scratch.path, &about), 0);
    assert_true(S_ISDIR(about.st_mode));
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(fcntl(scratch.folder, F_GETFD), FD_CLOEXEC);
    fill(scratch.path);
    int folder = scratch.folder;
    tki_scratch_remove(&scratch);
    assert_string_equal(scratch.path, "");
    assert_false(is_there(real));
    assert_int_equal(fcntl(folder, F_GETFD), -1);
    assert_true(is_there("outside/kept"));
    tki_scratch_remove(&scratch);
    tki_scratch_remove(&none);

    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_refused(ctx, tki_scratch_make(ctx, &scratch), TK_IO, "/nowhere/at/all");
    assert_string_equal(scratch.path, "");
    tk_ctx_destroy(ctx);
}

static void what_is_removed_and_what_stays(void **state)
{
    (void)state;
    static const char *const others[] = {
        "tokitai-scratch-",       "tokitai-scratch-abcde",   "tokitai-scratch-abcdefg",
        "tokitai-scratch-abc.ef", "tokitai-scratch-abcdef~", "tokitai-worker-abcdef",
        "tokitai-scratch_abcdef", ".tokitai-scratch-abcdef", "Tokitai-scratch-abcdef"};
    tk_ctx *ctx = new_context();
    tki_scratch held;
    put_folder("outside");
    put_file("outside/kept");
    assert_ok(ctx, tki_scratch_make(ctx, &held));
    put_folder("tokitai-scratch-Stale1");
    fill("tokitai-scratch-Stale1");
    put_folder("tokitai-scratch-000000"); /* empty */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        put_folder(others[i]);
    put_file("tokitai-scratch-a1File");
    assert_int_equal(symlink("outside", "tokitai-scratch-a1Link"), 0);
    put_folder("tmp/tokitai-scratch-deeper");
    tki_scratch_remove_stale(work);

    assert_false(is_there("tokitai-scratch-Stale1"));
    assert_false(is_there("tokitai-scratch-000000"));
    assert_true(is_there(held.path));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(is_there(others[i]));
    assert_true(is_there("tokitai-scratch-a1File"));
    assert_true(is_there("tokitai-scratch-a1Link"));
    assert_true(is_there("outside/kept"));
    assert_true(is_there("tmp/tokitai-scratch-deeper"));
    tki_scratch_remove(&held);
    tki_scratch_remove_stale("/nowhere/at/all");
    tk_ctx_destroy(ctx);
}

static void other_users_keep_theirs(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        skip();
    put_folder("tokitai-scratch-theirs");
    put_file("tokitai-scratch-theirs/kept");
    assert_int_equal(chown("tokitai-scratch-theirs", NOBODY, NOBODY), 0);
    tki_scratch_remove_stale(work);
    assert_true(is_there("tokitai-scratch-theirs/kept"));
    assert_int_equal(chown("tokitai-scratch-theirs", 0, 0), 0);
    tki_scratch_remove_stale(work);
    assert_false(is_there("tokitai-scratch-theirs"));
}

/* Held as long as the process lives, and by nothing that it started. */
static void left_by_a_killed_process(void **state)
{
    (void)state;
    tki_scratch theirs;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t owner = fork();
    assert_true(owner >= 0);
    if (owner == 0) {
        tk_ctx *ctx = new_context();
        close(ends[0]);
        setpgid(0, 0);
        if (tki_scratch_make(ctx, &theirs) != TK_OK)
            _exit(1);
        fill(theirs.path);
        if (vfork() == 0) {
            execl("/bin/sleep", "sleep", "60", (char *)NULL);
            _exit(1);
        }
        if (write(ends[1], &theirs, sizeof theirs) != sizeof theirs)
            _exit(1);
        sleep(60);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &theirs, sizeof theirs), sizeof theirs);
    tki_scratch_remove_stale(work);
    assert_true(is_there(theirs.path));
    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    assert_true(is_there(theirs.path));
    /* valgrind makes a fork() of vfork(): its child may have the lock until it has become the other program. */
    for (int i = 0; i < 10000 && is_there(theirs.path); i++, usleep(1000))
        tki_scratch_remove_stale(work);
    assert_false(is_there(theirs.path));
    assert_int_equal(kill(-owner, SIGKILL), 0); /* the program that it started still ran */
    close(ends[0]);
}

/* A folder with more in it than may be looked at at once goes bit by bit. */
static void bounded_work(void **state)
{
    (void)state;
    char path[64];
    put_folder("tokitai-scratch-larger");
    for (int i = 0; i < TKI_SCRATCH_MOST_ENTRIES + 100; i++) {
        snprintf(path, sizeof path, "tokitai-scratch-larger/%d", i);
        put_file(path);
    }
    tki_scratch_remove_stale(work);
    assert_true(is_there("tokitai-scratch-larger"));
    tki_scratch_remove_stale(work);
    assert_false(is_there("tokitai-scratch-larger"));
}

/* Makes folders and removes those of others, as it were; 0 if its own were there as long as it had them. */
static int make_and_clean(void)
{
    enum { ROUNDS = 200 };
    tk_ctx *ctx = new_context();
    for (int i = 0; i < ROUNDS; i++) {
        tki_scratch own;
        char file[PATH_MAX + 8];
        if (tki_scratch_make(ctx, &own) != TK_OK)
            return 1;
        snprintf(file, sizeof file, "%s/file", own.path);
        int made = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (made < 0)
            return 2;
        close(made);
        tki_scratch_remove_stale(work);
        if (!is_there(file))
            return 3;
        if (i % 2)
            tki_scratch_remove(&own);
        else
            close(own.folder); /* stale from here on */
    }
    tk_ctx_destroy(ctx);
    return 0;
}

static void side_by_side(void **state)
{
    (void)state;
    enum { PROCESSES = 6 };
    pid_t processes[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fork();
        assert_true(processes[i] >= 0);
        if (processes[i] == 0)
            _exit(make_and_clean());
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
        assert_int_equal(status, 0);
    }
    tki_scratch_remove_stale(work);
    assert_int_equal(rmdir("tmp"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(work), 0); /* nothing else was in it */
    put_folder(work);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, enter_with_tmpdir, leave)
    const struct CMUnitTest tests[] = {
        TEST(made_and_removed),
        TEST(what_is_removed_and_what_stays),
        TEST(other_users_keep_theirs),
        TEST(left_by_a_killed_process),
        TEST(bounded_work),
        TEST(side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
