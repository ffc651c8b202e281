/* CHOOSES. The program tokitai-worker: libc alone. It shuts itself in, says how well that went, and only then loads a user kernel or becomes
 * a user's compiler. Started by libtokitai (isolate/worker_process.c), never by hand. */
#include "worker/worker_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------
 * Arguments: KEY=VALUE, and behind "--" a compiler's command
 * ------------------------------------------------------------------------------------------------------------ */

static bool take(const char *argument, const char *key, const char **value)
{
    size_t length = strlen(key);
    if (strncmp(argument, key, length) != 0 || argument[length] != '=')
        return false;
    *value = argument + length + 1;
    return true;
}

static bool has_limits(const tki_sandbox *sandbox)
{
    return sandbox->memory_bytes && sandbox->tasks > 0 && sandbox->output_bytes;
}

static bool read_arguments(int count, char **arguments, tki_worker_settings *settings)
{
    int readable = 0, hidden = 0, options = 0;
    settings->backend = &tki_backends[TKI_CPU];
    settings->sandbox.readable = settings->readable;
    settings->sandbox.hidden = settings->hidden;
    for (int i = 2; i < count; i++) {
        const char *value;
        if (!strcmp(arguments[i], "--")) {
            settings->compiler = arguments + i + 1;
            settings->sandbox.programs = true;
            return settings->compiler[0] && settings->sandbox.scratch && has_limits(&settings->sandbox);
        }
        if (take(arguments[i], "artifact", &value))
            settings->artifact = value;
        else if (take(arguments[i], "op", &value))
            settings->op = value;
        else if (take(arguments[i], "known", &value))
            settings->known = value;
        else if (take(arguments[i], "guarded", &value))
            settings->guards_heap = atoi(value) != 0;
        else if (take(arguments[i], "bare", &value))
            settings->bare = atoi(value) != 0;
        else if (take(arguments[i], "backend", &value))
            settings->backend = tki_backend_find(value, "");
        else if (take(arguments[i], "device", &value))
            settings->device = atoi(value);
        else if (take(arguments[i], "scratch", &value))
            settings->sandbox.scratch = value;
        else if (take(arguments[i], "memory", &value))
            settings->sandbox.memory_bytes = strtoull(value, NULL, 10);
        else if (take(arguments[i], "tasks", &value))
            settings->sandbox.tasks = atoi(value);
        else if (take(arguments[i], "output", &value))
            settings->sandbox.output_bytes = strtoull(value, NULL, 10);
        else if (take(arguments[i], "cpu", &value))
            settings->sandbox.cpu_seconds = strtod(value, NULL);
        else if (take(arguments[i], "tree", &value)) /* who starts this program once more says what it has made */
            settings->sandbox.keeps_files = atoi(value) != 0;
        else if (take(arguments[i], "holds-tasks", &value))
            settings->sandbox.holds_tasks = atoi(value) != 0;
        else if (take(arguments[i], "holds-memory", &value))
            settings->sandbox.holds_memory = atoi(value) != 0;
        else if (take(arguments[i], "weak", &value))
            settings->sandbox.allow_weak = atoi(value) != 0;
        else if (take(arguments[i], "without", &value))
            settings->sandbox.without = (unsigned)strtoul(value, NULL, 10);
        else if (take(arguments[i], "sanitizer", &value))
            settings->sanitizer = value;
        else if (take(arguments[i], "tool", &value))
            settings->tool = value;
        else if (take(arguments[i], "sanitizer-option", &value) && options < TKI_WORKER_MOST_OPTIONS)
            settings->sanitizer_options[options++] = value;
        else if (take(arguments[i], "report", &value))
            settings->report = value;
        else if (take(arguments[i], "read", &value) && readable < TKI_WORKER_MOST_READABLE)
            settings->readable[readable++] = value;
        else if (take(arguments[i], "hide", &value) && hidden < TKI_WORKER_MOST_HIDDEN)
            settings->hidden[hidden++] = value;
        else
            return false;
    }
    settings->sandbox.gpu = settings->backend && settings->backend->is_gpu;
    return settings->backend && settings->artifact && settings->op && settings->known && settings->sandbox.scratch &&
           has_limits(&settings->sandbox);
}

/* ------------------------------------------------------------------------------------------------------------
 * The process that runs foreign code
 * ------------------------------------------------------------------------------------------------------------ */

bool tki_worker_send(const tki_wire_reply *reply, const void *text)
{
    tki_wire_reply head = *reply;
    head.text_bytes = reply->text_bytes ? reply->text_bytes : (uint32_t)strnlen(text, TKI_WIRE_TEXT);
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)(uintptr_t)text, head.text_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent;
    while ((sent = sendmsg(TKI_WORKER_FRAMES, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent >= 0;
}

/* False: the parent is gone, or what could be set up is not enough to run foreign code, which the parent reads in the report. */
static bool confine_and_say(tki_worker_settings *settings)
{
    tki_sandbox_confine(&settings->sandbox);
    const tki_confinement *report = &settings->sandbox.report;
    tki_wire_reply confined = {.header = {.magic = TKI_WIRE_MAGIC, .kind = TKI_WIRE_CONFINED},
                               .param = -1,
                               .text_bytes = (uint32_t)((size_t)report->count * sizeof *report->means)};
    return tki_worker_send(&confined, report->means) && (settings->sandbox.strong || settings->sandbox.allow_weak);
}

/* compute-sanitizer takes the place of this process and starts the program once more, with what it was told and the report so far. Both are
 * shut in here, the second then further by itself. */
static int run_sanitizer(tki_worker_settings *settings, char **arguments)
{
    enum { MOST = 256 };
    const tki_confinement *so_far = &settings->sandbox.report;
    const unsigned char *bytes = (const unsigned char *)so_far->means;
    char report[8 + 2 * sizeof so_far->means] = "report=", *command[MOST + 1];
    char tree[16], tasks[24], memory[24];
    int count = 0;
    tki_sandbox_say(&settings->sandbox, TKI_BY_OUTER, 0, 0, 0);
    for (size_t i = 0; i < (size_t)so_far->count * sizeof *so_far->means; i++)
        sprintf(report + strlen("report=") + 2 * i, "%02x", bytes[i]);
    command[count++] = (char *)(uintptr_t)settings->sanitizer;
    for (int i = 0; settings->sanitizer_options[i]; i++)
        command[count++] = (char *)(uintptr_t)settings->sanitizer_options[i];
    command[count++] = settings->program;
    for (int i = 1; arguments[i] && count < MOST - 4; i++)
        command[count++] = arguments[i];
    command[count++] = tree;
    command[count++] = tasks;
    command[count++] = memory;
    command[count++] = report;
    command[count] = NULL;
    tki_sandbox outer = settings->sandbox;
    outer.programs = outer.watches = true;
    tki_sandbox_confine(&outer);
    snprintf(tree, sizeof tree, "tree=%d", settings->sandbox.keeps_files);
    snprintf(tasks, sizeof tasks, "holds-tasks=%d", outer.holds_tasks);
    snprintf(memory, sizeof memory, "holds-memory=%d", outer.holds_memory);
    if (!outer.strong && !outer.allow_weak) /* the parent is told by the same report as of any worker */
        return confine_and_say(settings), 1;
    execv(settings->sanitizer, command);
    fprintf(stderr, "%s could not be started: %s\n", settings->sanitizer, strerror(errno));
    return 127;
}

/* This process under compute-sanitizer: what the kernel prints must not stand among what that prints. */
static int run_watched(tki_worker_settings *settings)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        return 1;
    tki_confinement *report = &settings->sandbox.report;
    unsigned char *bytes = (unsigned char *)report->means;
    size_t read = 0;
    while (read < sizeof report->means && sscanf(settings->report + 2 * read, "%2hhx", bytes + read) == 1)
        read++;
    report->count = (int)(read / sizeof *report->means);
    return confine_and_say(settings) ? tki_worker_serve(settings) : 1;
}

static int run_foreign_code(tki_worker_settings *settings, char **arguments)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (settings->sanitizer)
        return run_sanitizer(settings, arguments);
    if (!settings->compiler) {
        tki_worker_seal();
        tki_worker_look(settings, arguments);
    }
    if (!confine_and_say(settings))
        return 1;
    if (!settings->compiler)
        return tki_worker_serve(settings);
    close(TKI_WORKER_FRAMES);
    execv(settings->compiler[0], settings->compiler);
    fprintf(stderr, "%s could not be started: %s\n", settings->compiler[0], strerror(errno));
    return 127;
}

/* ------------------------------------------------------------------------------------------------------------
 * The reaper
 * ------------------------------------------------------------------------------------------------------------ */

/* Ends and collects all descendants: orphans become children of this process, so that no child left means nobody left. In a namespace
 * of its own the end of this process does the same, and at once. */
static void end_descendants(pid_t foreign)
{
    char path[64], list[1 << 14];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int tries = 0; tries < 1000; tries++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? -1 : read(file, list, sizeof list - 1);
        if (file >= 0)
            close(file);
        list[length > 0 ? length : 0] = 0;
        char *next = list;
        for (long child; (child = strtol(next, &next, 10)) > 0;)
            kill((pid_t)child, SIGKILL);
        kill(-foreign, SIGKILL);
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            tries = 0;
        if (ended < 0 && errno == ECHILD)
            return;
        usleep(1000);
    }
}

static void reap(pid_t foreign)
{
    for (;;) {
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended == foreign) {
            tki_worker_end end = {TKI_WIRE_MAGIC, status};
            send(TKI_WORKER_CONTROL, &end, sizeof end, MSG_NOSIGNAL | MSG_DONTWAIT);
            return;
        }
        if (ended > 0)
            continue;
        struct pollfd parent = {.fd = TKI_WORKER_CONTROL, .events = POLLIN};
        /* SIGCHLD is blocked but here, so that no end of a child slips by. */
        sigset_t none;
        sigemptyset(&none);
        if (ppoll(&parent, 1, NULL, &none) > 0)
            return;
    }
}

static void wake(int number)
{
    (void)number;
}

static int supervise(tki_worker_settings *settings, char **arguments)
{
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, NULL);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = wake}, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    tki_sandbox_join(&settings->sandbox);
    if (settings->sandbox.own_pids)
        tki_worker_draw_number();
    tki_sandbox_mount(&settings->sandbox);
    pid_t foreign = fork();
    if (foreign < 0)
        return 1;
    if (foreign == 0) {
        close(TKI_WORKER_CONTROL);
        sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        sigprocmask(SIG_UNBLOCK, &child_ended, NULL);
        _exit(run_foreign_code(settings, arguments));
    }
    close(TKI_WORKER_FRAMES);
    reap(foreign);
    if (!settings->sandbox.own_pids)
        end_descendants(foreign);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * The keeper
 * ------------------------------------------------------------------------------------------------------------ */

/* compute-sanitizer starts it once more, from within the tree. */
static void note_program(tki_worker_settings *settings)
{
    int free_place = 0;
    ssize_t length = settings->sanitizer ? readlink("/proc/self/exe", settings->program, sizeof settings->program - 1)
                                         : 0;
    settings->program[length > 0 ? length : 0] = 0;
    while (settings->readable[free_place])
        free_place++;
    if (length > 0 && free_place < TKI_WORKER_MOST_READABLE)
        settings->readable[free_place] = settings->program;
}

int main(int count, char **arguments)
{
    static tki_worker_settings settings;
    if (count < 2 || strcmp(arguments[1], TKI_WORKER_VERSION) != 0 || !read_arguments(count, arguments, &settings)) {
        fputs("tokitai-worker is started by tokitai only\n", stderr);
        return TKI_WORKER_WRONG_VERSION;
    }
    if (settings.report)
        return run_watched(&settings);
    if (!settings.compiler && !settings.sanitizer)
        settings.sandbox.home = "/workspace";
    if (settings.bare)
        tki_worker_bare_needs(&settings.sandbox);
    note_program(&settings);
    tki_sandbox_separate(&settings.sandbox);
    pid_t reaper = fork();
    if (reaper == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(supervise(&settings, arguments));
    }
    close(TKI_WORKER_FRAMES);
    close(TKI_WORKER_CONTROL);
    int status = 0;
    while (reaper > 0 && waitpid(reaper, &status, 0) < 0 && errno == EINTR)
        ;
    tki_sandbox_end(&settings.sandbox);
    return reaper > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
