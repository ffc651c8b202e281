/* CHOOSES. Starting the worker program, and making sure that it ends. */
#include "isolate/worker_spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/spawn.h"
#include "isolate/tool_folders.h"
#include "isolate/worker_start.h"

/* ------------------------------------------------------------------------------------------------------------
 * Strings
 * ------------------------------------------------------------------------------------------------------------ */

void tki_strings_add(tki_strings *strings, const char *format, ...)
{
    char **items = realloc(strings->items, ((size_t)strings->count + 2) * sizeof *items);
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (items)
        strings->items = items;
    if (!items || vasprintf(&text, format, arguments) < 0)
        strings->failed = true;
    va_end(arguments);
    if (strings->failed)
        return;
    strings->items[strings->count++] = text;
    strings->items[strings->count] = NULL;
}

void tki_strings_free(tki_strings *strings)
{
    for (int i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
    *strings = (tki_strings){0};
}

void tki_child_environment(tki_strings *environment, bool gpu)
{
    static const char *const for_gpus[] = {"LD_LIBRARY_PATH",      "CUDA_VISIBLE_DEVICES",  "CUDA_DEVICE_ORDER",
                                           "TOKITAI_CUDA_LIBRARY", "HIP_VISIBLE_DEVICES",   "ROCR_VISIBLE_DEVICES",
                                           "TOKITAI_HIP_LIBRARY",  "NVIDIA_VISIBLE_DEVICES"};
    const char *path = getenv("PATH");
    tki_strings_add(environment, "PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin");
    tki_strings_add(environment, "LANG=C");
    for (size_t i = 0; gpu && i < sizeof for_gpus / sizeof *for_gpus; i++)
        if (getenv(for_gpus[i]))
            tki_strings_add(environment, "%s=%s", for_gpus[i], getenv(for_gpus[i]));
    if (gpu)
        tki_strings_add(environment, "CUDA_CACHE_DISABLE=1");
}

/* ------------------------------------------------------------------------------------------------------------
 * The program
 * ------------------------------------------------------------------------------------------------------------ */

static bool found_beside(const char *file, char *program, size_t size)
{
    static const char *const places[] = {"", "../", "../libexec/tokitai/", "../../libexec/tokitai/"};
    const char *slash = file ? strrchr(file, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        int length = snprintf(program, size, "%.*s/%stokitai-worker", (int)(slash - file), file, places[i]);
        if (length > 0 && (size_t)length < size && access(program, X_OK) == 0)
            return true;
    }
    return false;
}

/* Named by the environment, or beside this program or this library, or where it is installed. */
static tk_status find_program(tk_ctx *ctx, char *program, size_t size)
{
    const char *given = secure_getenv("TOKITAI_WORKER");
    if (given && *given) {
        snprintf(program, size, "%s", given);
        return access(program, X_OK) == 0
                   ? TK_OK
                   : tki_fail(ctx, TK_UNAVAILABLE, "TOKITAI_WORKER=%s: %s", given, strerror(errno));
    }
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    Dl_info library = {0};
    if (found_beside(self, program, size) ||
        (dladdr(__extension__(void *) tk_version, &library) && found_beside(library.dli_fname, program, size)))
        return TK_OK;
    snprintf(program, size, "%s/tokitai-worker", TKI_LIBEXEC);
    if (access(program, X_OK) == 0)
        return TK_OK;
    return tki_fail(ctx, TK_UNAVAILABLE,
                    "tokitai-worker, the program that runs user kernels, is neither next to this program nor in %s; "
                    "set TOKITAI_WORKER to its path",
                    TKI_LIBEXEC);
}

/* ------------------------------------------------------------------------------------------------------------
 * Start and end
 * ------------------------------------------------------------------------------------------------------------ */

static void close_one(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

/* Numbers above those that the child is given, so that moving one there cannot close another. */
static bool move_up(int *file)
{
    enum { ABOVE = 10 };
    int moved = fcntl(*file, F_DUPFD_CLOEXEC, ABOVE);
    int error = errno;
    close_one(file);
    *file = moved;
    errno = error;
    return moved >= 0;
}

/* ours[] and theirs[]: frames, control, output. */
static bool make_ends(int ours[3], int theirs[3], bool output)
{
    int pair[2];
    for (int i = 0; i < (output ? 3 : 2); i++) {
        int error = i < 2 ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) : pipe2(pair, O_CLOEXEC);
        if (error)
            return false;
        ours[i] = pair[0];
        theirs[i] = pair[1];
        if (!move_up(&theirs[i]))
            return false;
    }
    return true;
}

/* Returns an errno. In a process group of its own, with default signals and no descriptor but those. */
static int spawn(const char *program, char *const arguments[], char *const environment[], const char *folder,
                 const int theirs[3], pid_t *process)
{
    tki_spawn fresh;
    int error = tki_spawn_begin(&fresh);
    if (error)
        return error;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && !error; i++)
        error = i == STDIN_FILENO || theirs[2] < 0
                    ? posix_spawn_file_actions_addopen(&fresh.actions, i, "/dev/null", O_RDWR, 0)
                    : posix_spawn_file_actions_adddup2(&fresh.actions, theirs[2], i);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&fresh.actions, theirs[0], TKI_WORKER_FRAMES);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&fresh.actions, theirs[1], TKI_WORKER_CONTROL);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&fresh.actions, TKI_WORKER_CONTROL + 1);
    if (!error)
        error = posix_spawn_file_actions_addchdir_np(&fresh.actions, folder);
    if (!error)
        error = posix_spawn(process, program, &fresh.actions, &fresh.attributes, arguments, environment);
    tki_spawn_end(&fresh);
    return error;
}

static tk_status start_in(tk_ctx *ctx, const char *program, char *const arguments[], char *const environment[],
                          bool output, tki_child *child)
{
    tki_strings all = {0}, variables = {0};
    int ours[3] = {-1, -1, -1}, theirs[3] = {-1, -1, -1};
    tki_strings_add(&all, "tokitai-worker");
    tki_strings_add(&all, "%s", TKI_WORKER_VERSION);
    tki_strings_add(&all, "scratch=%s", child->scratch.path);
    tki_strings_hide_homes(&all);
    for (int i = 0; arguments[i]; i++)
        tki_strings_add(&all, "%s", arguments[i]);
    for (int i = 0; environment[i]; i++)
        tki_strings_add(&variables, "%s", environment[i]);
    tki_strings_add(&variables, "HOME=%s", child->scratch.path);
    tki_strings_add(&variables, "TMPDIR=%s", child->scratch.path);
    int error = all.failed || variables.failed ? ENOMEM : make_ends(ours, theirs, output) ? 0 : errno;
    if (!error)
        error = spawn(program, all.items, variables.items, child->scratch.path, theirs, &child->process);
    for (int i = 0; i < 3; i++)
        close_one(&theirs[i]);
    child->frames = ours[0];
    child->control = ours[1];
    child->output = ours[2];
    tki_strings_free(&all);
    tki_strings_free(&variables);
    if (!error)
        return TK_OK;
    child->process = 0;
    tki_child_end(child);
    return tki_fail(ctx, error == ENOMEM ? TK_NO_MEMORY : TK_IO, "%s could not be started: %s", program,
                    strerror(error));
}

/* How many processes the system has ended for want of memory; -1 if it does not tell. */
static int64_t count_oom_kills(void)
{
    static const char name[] = "oom_kill ";
    char line[256];
    int64_t count = -1;
    FILE *file = fopen("/proc/vmstat", "re");
    while (file && count < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, name, sizeof name - 1))
            count = strtoll(line + sizeof name - 1, NULL, 10);
    if (file)
        fclose(file);
    return count;
}

tk_status tki_child_start(tk_ctx *ctx, char *const arguments[], char *const environment[], bool output,
                          tki_child *child)
{
    char program[PATH_MAX];
    bool own_scratch = !child->scratch.path[0];
    tk_status status = find_program(ctx, program, sizeof program);
    child->process = 0;
    child->frames = child->control = child->output = -1;
    child->oom_kills = count_oom_kills();
    if (status == TK_OK && own_scratch)
        status = tki_scratch_make(ctx, &child->scratch);
    if (status == TK_OK)
        status = start_in(ctx, program, arguments, environment, output, child);
    if (status != TK_OK && own_scratch)
        tki_scratch_remove(&child->scratch);
    return status;
}

void tki_child_dismiss(tki_child *child)
{
    close_one(&child->control);
    close_one(&child->frames);
    close_one(&child->output);
}

/* At once where the kernel has descriptors of processes (Linux 5.3), else at the next look. */
static void await_end(pid_t process, double deadline)
{
    enum { LOOK_MS = 1 };
    int file = (int)syscall(SYS_pidfd_open, process, 0);
    double left = file < 0 ? 1e-3 * LOOK_MS : deadline - tki_now();
    if (left > 0)
        (void)poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, (int)(1e3 * left) + 1);
    close_one(&file);
}

void tki_child_end(tki_child *child)
{
    /* Its reaper ends everything when the control socket closes, which takes long only while a driver stops a GPU. SIGKILL takes the
     * namespace along, or the children that it knows. */
    enum { PATIENCE_MS = 20000 };
    tki_child_dismiss(child);
    if (child->process <= 0)
        return;
    double deadline = tki_now() + 1e-3 * PATIENCE_MS;
    for (;;) {
        pid_t ended = waitpid(child->process, NULL, WNOHANG);
        if (ended == child->process || (ended < 0 && errno != EINTR))
            break;
        if (tki_now() > deadline) {
            kill(child->process, SIGKILL);
            while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR)
                ;
            break;
        }
        await_end(child->process, deadline);
    }
    child->process = 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * Frames
 * ------------------------------------------------------------------------------------------------------------ */

/* True when there is something to read before the deadline. */
static bool wait_until(int file, double deadline)
{
    for (;;) {
        double left = deadline - tki_now();
        struct timespec time = {.tv_sec = left > 0 ? (time_t)left : 0};
        time.tv_nsec = left > 0 ? (long)(1e9 * (left - (double)time.tv_sec)) : 0;
        int ready = ppoll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, &time, NULL);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

tki_receipt tki_child_receive(const tki_child *child, double deadline, tki_frame *frame)
{
    if (!wait_until(child->frames, deadline))
        return TKI_RECEIPT_TIMEOUT;
    /* No room for descriptors: the kernel drops them and says so. */
    struct iovec part = {frame->bytes, sizeof frame->bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t got;
    while ((got = recvmsg(child->frames, &message, MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    frame->size = got > 0 ? (size_t)got : 0;
    if (got > 0 && message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return TKI_RECEIPT_GARBLED;
    /* An empty packet reads like the end; only the end stays. */
    return got > 0 ? TKI_RECEIPT_FRAME : TKI_RECEIPT_CLOSED;
}

bool tki_child_wait(const tki_child *child, double deadline, int *status)
{
    tki_worker_end end;
    if (!wait_until(child->control, deadline))
        return false;
    ssize_t got = recv(child->control, &end, sizeof end, MSG_DONTWAIT);
    *status = got == sizeof end && end.magic == TKI_WIRE_MAGIC ? end.wait_status : -1;
    return true;
}

const char *tki_child_end_of(const tki_child *child, tki_fault *fault)
{
    enum { PATIENCE_MS = 1000 };
    int status;
    *fault = (tki_fault){.kind = TKI_FAULT_GONE, .tensor = -1};
    if (!tki_child_wait(child, tki_now() + 1e-3 * PATIENCE_MS, &status))
        return "closed its connection";
    if (status == -1) { /* the kernel cannot reach that process */
        fault->killed = true;
        return "was ended together with its parent process";
    }
    fault->kind = WIFEXITED(status) ? TKI_FAULT_EXIT : TKI_FAULT_SIGNAL;
    fault->number = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    /* SIGKILL without such an end is the kernel's own: it can send itself any signal. */
    fault->killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
                    (child->oom_kills < 0 || count_oom_kills() != child->oom_kills);
    return NULL;
}

bool tki_child_read_until_end(const tki_child *child, double deadline, char *text, size_t size, int *status)
{
    enum { POLL_MS = 20 };
    size_t used = 0;
    bool ended = false;
    char rest[4096];
    for (;;) {
        struct pollfd waiting = {.fd = child->output, .events = POLLIN};
        int ready = poll(&waiting, 1, ended ? 0 : POLL_MS);
        bool full = used + 1 >= size;
        ssize_t got = ready > 0 ? read(child->output, full ? rest : text + used, full ? sizeof rest : size - 1 - used)
                                : 0;
        used += got > 0 && !full ? (size_t)got : 0;
        text[used] = 0;
        if (ended && got <= 0)
            return true;
        if (tki_now() > deadline)
            return false;
        /* At the end of the output, or while there is none, wait here. */
        if (!ended && got <= 0)
            ended = tki_child_wait(child, tki_now() + (ready > 0 ? 1e-3 * POLL_MS : 0), status);
    }
}
