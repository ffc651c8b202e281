/* Files and directories (core/file.c): whole or not at all, and a clear error otherwise. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "core/hash.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"

static bool sweeper_is_faster;
static int locked; /* what the last flock() gave */

static void hold_for_a_moment(int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int own = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(syscall(SYS_flock, own, LOCK_EX | LOCK_NB), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        usleep(50000);
        _exit(0);
    }
    close(own); /* the child has it too, and the lock with it */
}

/* In place of the C library's: somebody who looks for abandoned files gets hold of the new one before its writer. */
int flock(int file, int operation)
{
    if (sweeper_is_faster)
        hold_for_a_moment(file);
    return locked = (int)syscall(SYS_flock, file, operation);
}

static int entries(const char *directory)
{
    int count = 0;
    DIR *list = opendir(directory);
    assert_non_null(list);
    for (const struct dirent *e; (e = readdir(list));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(list);
    return count;
}

static void assert_content(tk_ctx *ctx, const char *path, const char *expected, size_t length)
{
    char *data;
    size_t bytes;
    assert_ok(ctx, tki_file_read(ctx, path, 1 << 20, &data, &bytes));
    assert_int_equal(bytes, length);
    assert_memory_equal(data, expected, length);
    assert_int_equal(data[length], 0);
    free(data);
}

TEST_WITH_CONTEXT(write_then_read)
{
    static const char bytes[] = "with\0zeros\n\xff";
    assert_ok(ctx, tki_file_write(ctx, "a", bytes, sizeof bytes));
    assert_content(ctx, "a", bytes, sizeof bytes);
    assert_ok(ctx, tki_file_write(ctx, "a", "", 0)); /* replaced, and empty */
    assert_content(ctx, "a", "", 0);
    char absolute[64];
    snprintf(absolute, sizeof absolute, "%s/b", work);
    assert_ok(ctx, tki_file_write(ctx, absolute, "b", 1));
    assert_content(ctx, "b", "b", 1);
    struct stat about;
    assert_int_equal(stat("b", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
    assert_int_equal(entries("."), 2);
}

TEST_WITH_CONTEXT(the_lock_is_waited_for)
{
    locked = -1;
    sweeper_is_faster = true;
    tk_status status = tki_file_write(ctx, "a", "a", 1);
    sweeper_is_faster = false;
    assert_ok(ctx, status);
    assert_int_equal(locked, 0);
    int child;
    assert_true(wait(&child) > 0 && child == 0);
    assert_content(ctx, "a", "a", 1);
}

TEST_WITH_CONTEXT(write_replaces_links_not_their_targets)
{
    assert_ok(ctx, tki_file_write(ctx, "target", "old", 3));
    assert_int_equal(symlink("target", "link"), 0);
    assert_ok(ctx, tki_file_write(ctx, "link", "new", 3));
    assert_content(ctx, "target", "old", 3);
    assert_content(ctx, "link", "new", 3);
}

TEST_WITH_CONTEXT(write_errors_leave_nothing)
{
    assert_refused(ctx, tki_file_write(ctx, "nowhere/a", "x", 1), TK_IO, "cannot write nowhere/a: No such file");
    assert_ok(ctx, tki_file_write(ctx, "file", "old", 3));
    assert_refused(ctx, tki_file_write(ctx, "file/a", "x", 1), TK_IO, "file/a: Not a directory");
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_refused(ctx, tki_file_write(ctx, "folder", "x", 1), TK_IO, "cannot write folder: Is a directory");
    assert_refused(ctx, tki_file_write(ctx, "", "x", 1), TK_IO, "cannot write");
    char name[300];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    assert_refused(ctx, tki_file_write(ctx, name, "x", 1), TK_IO, "too long");
    assert_content(ctx, "file", "old", 3);
    assert_int_equal(entries("."), 2);
    assert_int_equal(entries("folder"), 0);
}

/* A disk that is full after some bytes: the old file stays, no part of the new one does. */
TEST_WITH_CONTEXT(full_disk_keeps_the_old_file)
{
    enum { SIZE = 100000 };
    char *data = malloc(SIZE);
    assert_non_null(data);
    memset(data, 'd', SIZE);
    assert_ok(ctx, tki_file_write(ctx, "a", "old", 3));
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, before.rlim_max}), 0);
    tk_status status = tki_file_write(ctx, "a", data, SIZE);
    tk_status fresh = tki_file_write(ctx, "b", data, SIZE);
    tk_status small = tki_file_write(ctx, "c", data, 4000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, TK_IO);
    assert_int_equal(fresh, TK_IO);
    assert_int_equal(small, TK_OK);
    assert_non_null(strstr(tk_ctx_message(ctx), "cannot write b: File too large"));
    assert_content(ctx, "a", "old", 3);
    assert_int_equal(entries("."), 2);
    free(data);
}

/* Readers that come while a writer replaces the file again and again see one version or the other. */
TEST_WITH_CONTEXT(readers_never_see_a_part)
{
    enum { SIZE = 60000, ROUNDS = 60 };
    char *data = malloc(SIZE);
    assert_non_null(data);
    memset(data, 'a', SIZE);
    assert_ok(ctx, tki_file_write(ctx, "shared", data, SIZE));
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        bool good = true;
        for (int i = 0; i < ROUNDS; i++) {
            memset(data, 'a' + i % 26, SIZE);
            good &= tki_file_write(ctx, "shared", data, (size_t)(SIZE - i * 100)) == TK_OK;
        }
        _exit(good ? 0 : 1);
    }
    int status = 0;
    for (bool running = true; running;) {
        running = waitpid(writer, &status, WNOHANG) == 0;
        char *seen;
        size_t bytes;
        assert_ok(ctx, tki_file_read(ctx, "shared", SIZE, &seen, &bytes));
        assert_true(bytes <= SIZE && bytes > SIZE - ROUNDS * 100);
        for (size_t i = 1; i < bytes; i++)
            if (seen[i] != seen[0])
                fail_msg("byte %zu is not of the same version", i);
        free(seen);
    }
    assert_int_equal(status, 0);
    assert_int_equal(entries("."), 1);
    free(data);
}

TEST_WITH_CONTEXT(read_limits_and_errors)
{
    char placeholder;
    char *data = &placeholder;
    size_t bytes;
    assert_ok(ctx, tki_file_write(ctx, "five", "12345", 5));
    assert_refused(ctx, tki_file_read(ctx, "five", 4, &data, &bytes), TK_BAD_FILE,
                   "five has 5 bytes, more than the 4");
    assert_null(data);
    assert_ok(ctx, tki_file_read(ctx, "five", 5, &data, &bytes));
    free(data);
    assert_refused(ctx, tki_file_read(ctx, "none", 5, &data, &bytes), TK_IO, "cannot read none: No such file");
    assert_null(data);
    assert_refused(ctx, tki_file_read(ctx, ".", 5, &data, &bytes), TK_IO, "not a regular file");
    assert_refused(ctx, tki_file_read(ctx, "/dev/null", 5, &data, &bytes), TK_IO, "not a regular file");
    assert_refused(ctx, tki_file_read(ctx, "five/x", 5, &data, &bytes), TK_IO, "Not a directory");
    /* Larger than memory, but only by its size. */
    int file = open("huge", O_CREAT | O_WRONLY, 0666);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, INT64_C(1) << 40), 0);
    close(file);
    assert_refused(ctx, tki_file_read(ctx, "huge", 64 << 20, &data, &bytes), TK_BAD_FILE, "more than");
}

/* A pipe that nobody writes to must not hold the reader up. */
TEST(reading_a_pipe_does_not_wait)
{
    assert_int_equal(mkfifo("pipe", 0666), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(5);
        tk_ctx *ctx;
        char *data;
        size_t bytes;
        if (tk_ctx_create(&ctx) != TK_OK)
            _exit(2);
        char hash[TKI_HASH_HEX];
        bool refused = tki_file_read(ctx, "pipe", 5, &data, &bytes) == TK_IO &&
                       strstr(tk_ctx_message(ctx), "regular") && !tki_hash_file("pipe", hash) &&
                       !tki_hash_file("/dev/zero", hash);
        _exit(refused ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_WITH_CONTEXT(directories)
{
    struct stat about;
    assert_ok(ctx, tki_directory_make(ctx, "a/b//c/", 0777));
    assert_int_equal(stat("a/b/c", &about), 0);
    assert_true(S_ISDIR(about.st_mode));
    assert_ok(ctx, tki_directory_make(ctx, "a/b//c/", 0777));
    assert_ok(ctx, tki_directory_make(ctx, ".", 0777));
    assert_ok(ctx, tki_directory_make(ctx, "/", 0777));
    assert_ok(ctx, tki_directory_make(ctx, "x", 0777));
    char absolute[64];
    snprintf(absolute, sizeof absolute, "%s/y/z", work);
    assert_ok(ctx, tki_directory_make(ctx, absolute, 0777));
    assert_ok(ctx, tki_file_write(ctx, "file", "", 0));
    assert_refused(ctx, tki_directory_make(ctx, "file", 0777), TK_IO, "directory file: Not a directory");
    assert_refused(ctx, tki_directory_make(ctx, "file/below", 0777), TK_IO, "Not a directory");
    assert_refused(ctx, tki_directory_make(ctx, "/proc/tokitai", 0777), TK_IO, "/proc/tokitai");
    /* No name is no directory: a file "in it" would land in the root. */
    assert_refused(ctx, tki_directory_make(ctx, "", 0777), TK_IO, "No such file");
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_refused(ctx, tki_directory_make(ctx, "dangling", 0777), TK_IO, "dangling");
    assert_int_equal(symlink("a", "link"), 0);
    assert_ok(ctx, tki_directory_make(ctx, "link/d", 0777));
}

TEST_WITH_CONTEXT(state_directory)
{
    char *path;
    setenv("HOME", "/home/somebody", 1);
    setenv("XDG_STATE_HOME", "/somewhere/state", 1);
    assert_ok(ctx, tki_state_directory(ctx, &path));
    assert_string_equal(path, "/somewhere/state/tokitai");
    free(path);
    /* The specification says that a relative path is to be ignored. */
    static const char *const ignored[] = {"", "state", "./state"};
    for (int i = 0; i < 3; i++) {
        setenv("XDG_STATE_HOME", ignored[i], 1);
        assert_ok(ctx, tki_state_directory(ctx, &path));
        assert_string_equal(path, "/home/somebody/.local/state/tokitai");
        free(path);
    }
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    if (tki_state_directory(ctx, &path) == TK_OK) { /* from the list of users */
        assert_non_null(strstr(path, "/.local/state/tokitai"));
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(write_then_read),
        ENTERED(the_lock_is_waited_for),
        ENTERED(write_replaces_links_not_their_targets),
        ENTERED(write_errors_leave_nothing),
        ENTERED(full_disk_keeps_the_old_file),
        ENTERED(readers_never_see_a_part),
        ENTERED(read_limits_and_errors),
        ENTERED(reading_a_pipe_does_not_wait),
        ENTERED(directories),
        cmocka_unit_test(state_directory),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
