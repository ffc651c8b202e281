/* CHOOSES. Starting a program without a shell, and making sure that it ends. */
#include "compile/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/spawn.h"

enum { MOST_OUTPUT = 1 << 20, POLL_MS = 20 };

static bool is_program(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

bool tki_program_find(const char *name, const char *const *folders, char *path, size_t size)
{
    const char *search = getenv("PATH");
    while (search && *search) {
        int length = (int)strcspn(search, ":");
        /* Not from the working directory, nor relative to it: the program is run from elsewhere. */
        int written = search[0] == '/' ? snprintf(path, size, "%.*s/%s", length, search, name) : 0;
        if (written > 0 && (size_t)written < size && is_program(path))
            return true;
        search += length;
        search += *search == ':';
    }
    for (; folders && *folders; folders++) {
        int written = snprintf(path, size, "%s/%s", *folders, name);
        if (written > 0 && (size_t)written < size && is_program(path))
            return true;
    }
    return false;
}

/* The environment with another TMPDIR; the strings are not copied. free() the list. */
static char **environment_with(char *temporary)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **list = calloc(count + 2, sizeof *list);
    size_t kept = 0;
    for (size_t i = 0; list && i < count; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            list[kept++] = environ[i];
    if (list)
        list[kept] = temporary;
    return list;
}

/* In a process group of its own, with default signals and no file of ours but the pipe. Returns an errno. */
static int start(char *const arguments[], const char *folder, char **environment, int output, pid_t *child)
{
    tki_spawn spawn;
    int error = tki_spawn_begin(&spawn);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&spawn.actions, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&spawn.actions, output, STDERR_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&spawn.actions, STDERR_FILENO + 1);
    if (!error && folder)
        error = posix_spawn_file_actions_addchdir_np(&spawn.actions, folder);
    if (!error)
        error = posix_spawn(child, arguments[0], &spawn.actions, &spawn.attributes, arguments, environment);
    tki_spawn_end(&spawn);
    return error;
}

/* Ended, but not yet waited for: until then its process group cannot be another's. */
static bool has_ended(pid_t child)
{
    siginfo_t about = {0};
    return waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid == child;
}

/* Reads until the program has ended and what it wrote is read, or the time is over. What does not fit is read and dropped. */
static bool read_until_end(int input, pid_t child, double deadline, char *output, size_t size)
{
    size_t used = 0;
    bool open = true;
    char rest[4096];
    for (;;) {
        bool ended = has_ended(child);
        struct pollfd waiting = {.fd = open ? input : -1, .events = POLLIN};
        int ready = poll(&waiting, 1, ended ? 0 : POLL_MS);
        ssize_t got = 0;
        if (ready > 0) {
            bool full = used + 1 >= size;
            got = read(input, full ? rest : output + used, full ? sizeof rest : size - 1 - used);
            open = got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
            used += got > 0 && !full ? (size_t)got : 0;
            output[used] = 0;
        }
        if (ended && got <= 0)
            return true;
        if (tki_now() > deadline)
            return false;
    }
}

static void judge_end(tki_process *process, int state)
{
    if (WIFEXITED(state)) {
        process->exit_code = WEXITSTATUS(state);
    } else {
        int number = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
        snprintf(process->problem, sizeof process->problem, "was ended by signal %d (%s)", number, strsignal(number));
    }
}

void tki_process_run(char *const arguments[], const char *folder, double seconds, tki_process *process)
{
    *process = (tki_process){.exit_code = -1, .output = calloc(1, MOST_OUTPUT)};
    char *temporary = NULL;
    char **environment = NULL;
    int ends[2];
    if (!process->output || (folder && asprintf(&temporary, "TMPDIR=%s", folder) < 0) ||
        (folder && !(environment = environment_with(temporary)))) {
        snprintf(process->problem, sizeof process->problem, "could not be started: no memory");
        free(temporary);
        return;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(process->problem, sizeof process->problem, "could not be started: %s", strerror(errno));
        free(environment);
        free(temporary);
        return;
    }
    pid_t child;
    int error = start(arguments, folder, environment ? environment : environ, ends[1], &child);
    close(ends[1]);
    if (error) {
        snprintf(process->problem, sizeof process->problem, "could not be started: %s", strerror(error));
    } else {
        bool ended = read_until_end(ends[0], child, tki_now() + seconds, process->output, MOST_OUTPUT);
        kill(-child, SIGKILL);
        int state = 0;
        pid_t waited;
        while ((waited = waitpid(child, &state, 0)) < 0 && errno == EINTR)
            ;
        if (!ended)
            snprintf(process->problem, sizeof process->problem, "did not end within %g seconds", seconds);
        else if (waited != child)
            snprintf(process->problem, sizeof process->problem, "gave no exit status (is SIGCHLD ignored?)");
        else
            judge_end(process, state);
    }
    close(ends[0]);
    free(environment);
    free(temporary);
}
