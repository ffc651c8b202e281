/* What the tests of workers share: a folder of their own, and the proof that nothing is left behind. */
#ifndef TKI_TESTS_WORKER_TEST_H
#define TKI_TESTS_WORKER_TEST_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolate/worker_process.h"
#include "tests/op_test.h"

/* Of the test itself: under it lies every scratch folder. */
static char own_folder[64];
static char kernels[PATH_MAX];

static inline const char *kernel_path(const char *name)
{
    static char path[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/%s.so", kernels, name);
    return path;
}

/* ------------------------------------------------------------------------------------------------------------
 * What is left behind
 * ------------------------------------------------------------------------------------------------------------ */

static inline int entries(const char *folder)
{
    DIR *list = opendir(folder);
    int count = 0;
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* Living descendants of this process: orphans come to it, and a worker that runs foreign code looks like any program. */
static inline int processes_left(void)
{
    enum { MOST = 1 << 12 };
    static struct {
        int number, parent;
    } all[MOST];
    static bool descends[MOST];
    int count = 0, found = 0;
    DIR *list = opendir("/proc");
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list)) && count < MOST;) {
        char path[300], line[512] = "", state = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        int file = entry->d_name[0] < '0' || entry->d_name[0] > '9' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        if (read(file, line, sizeof line - 1) > 0 && strrchr(line, ')') &&
            sscanf(strrchr(line, ')'), ") %c %d", &state, &all[count].parent) == 2 && state != 'Z') {
            all[count].number = atoi(entry->d_name);
            descends[count++] = false;
        }
        close(file);
    }
    closedir(list);
    assert_true(count < MOST);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < count; i++) {
            bool child = all[i].parent == getpid();
            for (int k = 0; k < count && !child; k++)
                child = descends[k] && all[k].number == all[i].parent;
            more |= child && !descends[i];
            found += child && !descends[i];
            descends[i] |= child;
        }
    }
    return found;
}

static int descriptors_before;

static inline void assert_nothing_left(void)
{
    for (int i = 0; i < 2000 && processes_left(); i++)
        usleep(1000);
    assert_int_equal(processes_left(), 0);
    assert_int_equal(entries(own_folder), 0);
    assert_int_equal(entries("/proc/self/fd"), descriptors_before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(access("/dev/shm/tokitai-worker-outside", F_OK), -1);
    assert_int_equal(access("/tmp/tokitai-worker-outside", F_OK), -1);
}

static inline int begin_worker_test(void **state)
{
    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* Not below /tmp: one of the kernels tries to write there. */
    snprintf(own_folder, sizeof own_folder, "/var/tmp/tokitai-test-XXXXXX");
    assert_non_null(mkdtemp(own_folder));
    assert_int_equal(chmod(own_folder, 0777), 0);
    setenv("TMPDIR", own_folder, 1);
    setenv("TOKITAI_SECRET", "a key, perhaps", 1);
    ssize_t length = readlink("/proc/self/exe", kernels, sizeof kernels - 16);
    assert_true(length > 0);
    kernels[length] = 0;
    strcpy(strrchr(kernels, '/'), "/kernels");
    descriptors_before = entries("/proc/self/fd");
    return 0;
}

static inline int end_worker_test(void **state)
{
    (void)state;
    return rmdir(own_folder);
}

/* As certificates have it, a line for each means. */
static inline const char *report_text(const tki_confinement *confinement)
{
    static char text[TKI_MOST_MEANS * TKI_MEANS_TEXT];
    char line[TKI_MEANS_TEXT];
    text[0] = 0;
    for (int i = 0; i < confinement->count; i++) {
        tki_means_text(&confinement->means[i], line, sizeof line);
        strcat(strcat(text, line), "\n");
    }
    return text;
}

/* Could that means be set up on this system? */
static inline bool offered(const char *means, unsigned without)
{
    tk_ctx *ctx = new_context();
    tki_worker *worker;
    tki_worker_options options = {.without = without, .terms.allow_weak = true};
    assert_ok(ctx, tki_worker_open(ctx, kernel_path("correct"), tk_contract_find("gelu_fwd"), &options, &worker));
    const char *line = strstr(report_text(tki_worker_confinement(worker)), means);
    assert_non_null(line);
    const char *refused = strstr(line, "could not");
    bool there = !refused || refused > strchr(line, '\n');
    if (!there)
        print_message("not offered here: %s\n", means);
    tki_worker_close(worker);
    tk_ctx_destroy(ctx);
    return there;
}

#endif
