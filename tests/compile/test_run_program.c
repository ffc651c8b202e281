/* Running a compiler (compile/run_program.c): whatever it does, it ends, and what it wrote is there. */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/run_program.h"
#include "core/clock.h"
#include "tests/op_test.h"

static tki_process shell(const char *script, double seconds)
{
    char program[] = "/bin/sh", option[] = "-c", text[512];
    snprintf(text, sizeof text, "%s", script);
    char *const arguments[] = {program, option, text, NULL};
    tki_process process;
    tki_process_run(arguments, NULL, seconds, &process);
    assert_non_null(process.output);
    return process;
}

TEST(exit_status_and_output)
{
    tki_process p = shell("echo out; echo err >&2; exit 7", 60);
    assert_string_equal(p.problem, "");
    assert_int_equal(p.exit_code, 7);
    assert_string_equal(p.output, "out\nerr\n");
    free(p.output);
    p = shell("cat", 60); /* standard input is empty */
    assert_int_equal(p.exit_code, 0);
    assert_string_equal(p.output, "");
    free(p.output);
}

TEST(a_program_that_is_not_there)
{
    char program[] = "/nowhere/nvcc";
    char *const arguments[] = {program, NULL};
    tki_process p;
    tki_process_run(arguments, NULL, 60, &p);
    assert_string_equal(p.problem, "could not be started: No such file or directory");
    assert_int_not_equal(p.exit_code, 0);
    free(p.output);
}

TEST(a_signal_ends_it)
{
    tki_process p = shell("echo before; kill -SEGV $$", 60);
    assert_non_null(strstr(p.problem, "signal 11"));
    assert_string_equal(p.output, "before\n");
    free(p.output);
}

/* Hanging, also with closed output, also with a child that holds the output open, also deaf to signals. */
TEST(what_hangs_is_ended)
{
    static const char *const scripts[] = {"echo said; sleep 300", "echo said; exec >&- 2>&-; sleep 300",
                                          "echo said; trap '' TERM INT HUP; sleep 300; sleep 300",
                                          "echo said; sleep 300 & wait"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        double start = tki_now();
        tki_process p = shell(scripts[i], 0.5);
        assert_true(tki_now() - start < 60);
        assert_string_equal(p.problem, "did not end within 0.5 seconds");
        assert_string_equal(p.output, "said\n");
        free(p.output);
    }
}

/* It has ended, so nobody waits for what it left behind; and that is ended too. */
TEST(what_it_leaves_behind_is_ended)
{
    double start = tki_now();
    tki_process p = shell("sleep 300 & echo $!", 200);
    assert_true(tki_now() - start < 100);
    assert_string_equal(p.problem, "");
    assert_int_equal(p.exit_code, 0);
    pid_t left = (pid_t)atoi(p.output);
    assert_true(left > 1);
    for (int i = 0; i < 1000 && kill(left, 0) == 0; i++) {
        /* Ended, it may wait for the first process to collect it. */
        char path[64], text[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)left);
        FILE *file = fopen(path, "re");
        if (!file || !fgets(text, sizeof text, file) || strstr(text, ") Z"))
            i = 1000;
        if (file)
            fclose(file);
        usleep(10000);
        assert_int_not_equal(i, 999);
    }
    free(p.output);
}

TEST(much_output_is_cut)
{
    tki_process p = shell("head -c 5000000 /dev/zero | tr '\\0' x; exit 3", 100);
    assert_string_equal(p.problem, "");
    assert_int_equal(p.exit_code, 3);
    assert_in_range(strlen(p.output), 500000, 2000000);
    free(p.output);
}

TEST(folder_and_environment)
{
    char program[] = "/bin/sh", option[] = "-c", text[] = "pwd; echo $TMPDIR; ls -l /proc/self/fd | wc -l";
    char *const arguments[] = {program, option, text, NULL};
    int leaked = dup(STDERR_FILENO);
    tki_process with, without;
    tki_process_run(arguments, "/usr", 60, &with);
    close(leaked);
    assert_int_equal(with.exit_code, 0);
    assert_int_equal(strncmp(with.output, "/usr\n/usr\n", 10), 0);
    tki_process_run(arguments, "/usr", 60, &without);
    assert_string_equal(with.output, without.output);
    free(with.output);
    free(without.output);
}

TEST(programs_are_found)
{
    static const char *const further[] = {"/nowhere", "/bin", NULL};
    char path[256], *kept = strdup(getenv("PATH") ? getenv("PATH") : "");
    assert_int_equal(setenv("PATH", "relative:/usr/share:/bin", 1), 0);
    assert_true(tki_program_find("sh", NULL, path, sizeof path));
    assert_string_equal(path, "/bin/sh");
    assert_false(tki_program_find("no_such_program", further, path, sizeof path));
    assert_false(tki_program_find("sh", NULL, path, 4));
    assert_int_equal(setenv("PATH", "", 1), 0);
    assert_false(tki_program_find("sh", NULL, path, sizeof path));
    assert_true(tki_program_find("sh", further, path, sizeof path));
    assert_int_equal(setenv("PATH", kept, 1), 0);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_status_and_output),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(a_signal_ends_it),
        cmocka_unit_test(what_hangs_is_ended),
        cmocka_unit_test(what_it_leaves_behind_is_ended),
        cmocka_unit_test(much_output_is_cut),
        cmocka_unit_test(folder_and_environment),
        cmocka_unit_test(programs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
