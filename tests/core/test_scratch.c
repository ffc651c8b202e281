/* Scratch folders (core/scratch.c): their owner's while it lives, and nobody's afterwards. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The path in the work folder that a scratch folder of this machine would have, with those six letters at its end. */
static const char *of_this_machine(const char *letters)
{
    static char path[PATH_MAX];
    tk_ctx *ctx = new_context();
    tki_scratch scratch;
    assert_ok(ctx, tki_scratch_make(ctx, &scratch));
    strcpy(path, scratch.path);
    strcpy(path + strlen(path) - 6, letters);
    tki_scratch_remove(&scratch);
    tk_ctx_destroy(ctx);
    return path;
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

TEST_WITH_CONTEXT(made_and_removed)
{
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
}

/* As deep as foreign code likes: deeper than a path can be, or descriptors reach. */
TEST_WITH_CONTEXT(deep_folders)
{
    enum { DEPTH = 3000 };
    tki_scratch scratch;
    assert_ok(ctx, tki_scratch_make(ctx, &scratch));
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", scratch.path);
    int folder = dup(scratch.folder);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(folder, "deeper", 0700), 0);
        if (i == 3) /* a name that removing would take itself */
            assert_int_equal(mkdirat(scratch.folder, ".tokitai-moved-1", 0700), 0);
        int inner = openat(folder, "deeper", O_RDONLY | O_DIRECTORY);
        assert_true(inner >= 0);
        close(folder);
        folder = inner;
    }
    close(folder);
    tki_scratch_remove(&scratch);
    assert_false(is_there(path));
}

TEST_WITH_CONTEXT(what_is_removed_and_what_stays)
{
    static const char *const ends[] = {"", "abcde", "abcdefg", "abc.ef", "abcdef~"};
    static const char *const others[] = {"tokitai-scratch-backup",          "tokitai-scratch-",
                                         "tokitai-scratch-notes123-backup", "tokitai-scratch--backup",
                                         ".tokitai-scratch-backup",         "tokitai-worker-backup"};
    tki_scratch held;
    put_folder("outside");
    put_file("outside/kept");
    assert_ok(ctx, tki_scratch_make(ctx, &held));
    put_folder(of_this_machine("Stale1"));
    fill(of_this_machine("Stale1"));
    put_folder(of_this_machine("000000")); /* empty */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        put_folder(of_this_machine(ends[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        put_folder(others[i]);
    put_file(of_this_machine("a1File"));
    assert_int_equal(symlink("outside", of_this_machine("a1Link")), 0);
    char deeper[PATH_MAX];
    snprintf(deeper, sizeof deeper, "tmp%s", strrchr(of_this_machine("deeper"), '/'));
    put_folder(deeper);
    tki_scratch_remove_stale(work);

    assert_false(is_there(of_this_machine("Stale1")));
    assert_false(is_there(of_this_machine("000000")));
    assert_true(is_there(held.path));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_true(is_there(of_this_machine(ends[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(is_there(others[i]));
    assert_true(is_there(of_this_machine("a1File")));
    assert_true(is_there(of_this_machine("a1Link")));
    assert_true(is_there("outside/kept"));
    assert_true(is_there(deeper));
    tki_scratch_remove(&held);
    tki_scratch_remove_stale("/nowhere/at/all");
}

TEST(other_users_keep_theirs)
{
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        skip();
    const char *theirs = of_this_machine("theirs");
    put_folder(theirs);
    fill(theirs);
    assert_int_equal(chown(theirs, NOBODY, NOBODY), 0);
    tki_scratch_remove_stale(work);
    assert_true(is_there(theirs));
    assert_int_equal(chown(theirs, 0, 0), 0);
    tki_scratch_remove_stale(work);
    assert_false(is_there(theirs));
}

/* In a folder that machines share, a lock may be seen by the one that took it alone. */
TEST(other_machines_keep_theirs)
{
    char path[PATH_MAX];
    strcpy(path, of_this_machine("theirs"));
    char *digits = strrchr(path, '/') + strlen("/tokitai-scratch-");
    assert_int_equal(strspn(digits, "0123456789abcdef"), 8);
    assert_string_equal(digits + 8, "-theirs");
    for (int i = 0; i < 8; i++) {
        char own = digits[i];
        digits[i] = own == '7' ? '8' : '7';
        put_folder(path);
        tki_scratch_remove_stale(work);
        assert_true(is_there(path));
        digits[i] = own;
    }
    put_folder(path);
    tki_scratch_remove_stale(work);
    assert_false(is_there(path));
}

enum { NOT_ALLOWED = 77 };

/* In a machine of another name, as it were; 0 if it left alone what is `here` and removed its own. */
static int clean_under_another_name(const char *here)
{
    static const char name[] = "tokitai-test-machine";
    tki_scratch there;
    if (unshare(CLONE_NEWUTS) || sethostname(name, strlen(name)))
        return NOT_ALLOWED;
    tk_ctx *ctx = new_context();
    tk_status status = tki_scratch_make(ctx, &there);
    tk_ctx_destroy(ctx);
    if (status != TK_OK)
        return 1;
    close(there.folder); /* stale from here on */
    tki_scratch_remove_stale(work);
    return !is_there(here) ? 2 : is_there(there.path) ? 3 : 0;
}

TEST(the_name_of_the_machine_decides)
{
    char here[PATH_MAX];
    strcpy(here, of_this_machine("itself"));
    put_folder(here);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(clean_under_another_name(here));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    tki_scratch_remove_stale(work);
    assert_false(is_there(here));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED)
        skip();
    assert_int_equal(status, 0);
}

/* Held as long as the process lives, and by nothing that it started. */
TEST(left_by_a_killed_process)
{
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

static void put_files(const char *folder, int count)
{
    char path[PATH_MAX + 16];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        put_file(path);
    }
}

/* A folder with more in it than may be removed at once goes bit by bit. */
TEST(bounded_work)
{
    const char *larger = of_this_machine("larger");
    put_folder(larger);
    put_files(larger, TKI_SCRATCH_MOST_ENTRIES + 100);
    tki_scratch_remove_stale(work);
    assert_true(is_there(larger));
    tki_scratch_remove_stale(work);
    assert_false(is_there(larger));
}

/* However many other names there are, and wherever the system lists the stale folders among them, these are found. */
TEST(among_many_names)
{
    enum { STALE = 40 };
    char path[PATH_MAX], letters[16];
    for (int i = 0; i < STALE; i++) {
        if (i == STALE / 2)
            put_files(work, TKI_SCRATCH_MOST_ENTRIES + 4096);
        snprintf(letters, sizeof letters, "%06d", i);
        strcpy(path, of_this_machine(letters));
        put_folder(path);
    }
    tki_scratch_remove_stale(work);
    for (int i = 0; i < STALE; i++) {
        snprintf(letters, sizeof letters, "%06d", i);
        assert_false(is_there(of_this_machine(letters)));
    }
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

TEST(side_by_side)
{
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
#define WITH_TMPDIR(function) cmocka_unit_test_setup_teardown(function, enter_with_tmpdir, leave)
    const struct CMUnitTest tests[] = {
        WITH_TMPDIR(made_and_removed),
        WITH_TMPDIR(deep_folders),
        WITH_TMPDIR(what_is_removed_and_what_stays),
        WITH_TMPDIR(other_users_keep_theirs),
        WITH_TMPDIR(other_machines_keep_theirs),
        WITH_TMPDIR(the_name_of_the_machine_decides),
        WITH_TMPDIR(left_by_a_killed_process),
        WITH_TMPDIR(bounded_work),
        WITH_TMPDIR(among_many_names),
        WITH_TMPDIR(side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
