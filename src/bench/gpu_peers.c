/* SHOWS. The process of the GPU's peers. A socket pair is its standard input and output; whatever its libraries print goes nowhere. */
#include "bench/gpu_peers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/peers.h"
#include "core/clock.h"
#include "model/lowering.h"

enum { LINE = 512 };

/* Against a process that hangs; starting and compiling take their time. */
static const double START_SECONDS = 120;
static const double CASE_SECONDS = 300;
static const double RUN_SECONDS = 60;

struct bench_gpu_peers {
    pid_t process; /* 0 once it is lost */
    int socket;
};

static void lose(bench_gpu_peers *peers)
{
    if (!peers->process)
        return;
    close(peers->socket);
    kill(peers->process, SIGKILL);
    (void)waitpid(peers->process, NULL, 0);
    peers->process = 0;
}

/* The next line, without its end; false, and the process is lost, if it does not come in time. */
static bool hear(bench_gpu_peers *peers, double seconds, char line[LINE])
{
    const double end = tki_now() + seconds;
    size_t length = 0;
    while (peers->process && length < LINE - 1) {
        struct pollfd wait = {.fd = peers->socket, .events = POLLIN};
        const double left = end - tki_now();
        if (left <= 0 || (poll(&wait, 1, (int)(1e3 * left) + 1) < 0 && errno != EINTR))
            break;
        ssize_t got = recv(peers->socket, line + length, 1, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            break;
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
        length++;
    }
    lose(peers);
    return false;
}

__attribute__((format(printf, 2, 3))) static bool say(bench_gpu_peers *peers, const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!peers->process || length >= LINE)
        return false;
    if (send(peers->socket, line, (size_t)length, MSG_NOSIGNAL) == length)
        return true;
    lose(peers);
    return false;
}

static bool start(bench_gpu_peers *peers, const char *python, const char *script, int ordinal, const char *list)
{
    extern char **environ;
    char number[16];
    int ends[2];
    snprintf(number, sizeof number, "%d", ordinal);
    char *const arguments[] = {tki_input(python), tki_input(script), number, tki_input(list ? list : "all"), NULL};
    posix_spawn_file_actions_t actions;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    bool good = posix_spawn_file_actions_init(&actions) == 0;
    if (good) {
        good = posix_spawn_file_actions_adddup2(&actions, ends[1], 0) == 0 &&
               posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0 &&
               posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
               posix_spawnp(&peers->process, python, &actions, NULL, arguments, environ) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    peers->socket = ends[0];
    if (!good) {
        close(ends[0]);
        peers->process = 0;
    }
    return good;
}

/* The first line is "found WHAT" or "missing WHY". */
bench_gpu_peers *bench_gpu_peers_open(int ordinal, const char *list, char *found, size_t size)
{
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    char script[PATH_MAX];
    char line[LINE];
    snprintf(found, size, "python3 or bench/peers/gpu.py not found");
    bench_gpu_peers *peers = bench_script_find("gpu.py", script) ? calloc(1, sizeof *peers) : NULL;
    for (size_t i = 0; peers && i < sizeof pythons / sizeof *pythons; i++) {
        if (!start(peers, pythons[i], script, ordinal, list) || !hear(peers, START_SECONDS, line))
            continue;
        const char *space = strchr(line, ' ');
        snprintf(found, size, "%s", space ? space + 1 : line);
        if (!strncmp(line, "found ", 6))
            return peers;
        lose(peers);
    }
    free(peers);
    return NULL;
}

void bench_gpu_peers_close(bench_gpu_peers *peers)
{
    if (peers)
        lose(peers);
    free(peers);
}

int bench_gpu_peers_case(bench_gpu_peers *peers, const tk_case *c, bench_indices indices, int64_t rotate,
                         char names[BENCH_GPU_PEER_ARMS][BENCH_GPU_PEER_NAME])
{
    char line[LINE];
    char sizes[TK_MAX_DIMS * 24] = "";
    size_t length = 0;
    int count = 0;
    char op[128];
    snprintf(op, sizeof op, "%s", c->contract->name);
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (attribute->seen_by_kernel && attribute->type == TK_ATTRIBUTE_CHOICE)
            snprintf(op + strlen(op), sizeof op - strlen(op), ":%s", attribute->choices[c->attributes[i].integer].id);
    }
    for (int d = 0; d < c->contract->dim_count; d++)
        length += (size_t)snprintf(sizes + length, sizeof sizes - length, " %lld", (long long)c->dims[d]);
    if (!say(peers, "case %s %s %s %s %lld%s\n", op, tk_dtype_name(c->dtype), bench_indices_name(indices),
             tk_dtype_name(c->index_dtype), (long long)rotate, sizes) ||
        !hear(peers, CASE_SECONDS, line) || strncmp(line, "arms", 4) != 0)
        return 0;
    char *rest = NULL;
    for (char *name = strtok_r(line + 4, " ", &rest); name && count < BENCH_GPU_PEER_ARMS;
         name = strtok_r(NULL, " ", &rest))
        snprintf(names[count++], BENCH_GPU_PEER_NAME, "%s", name);
    return count;
}

bool bench_gpu_peers_time(bench_gpu_peers *peers, int arm, int64_t calls, double *seconds)
{
    char line[LINE];
    return say(peers, "run %d %lld\n", arm, (long long)calls) && hear(peers, RUN_SECONDS, line) &&
           sscanf(line, "%lf", seconds) == 1 && *seconds > 0;
}

void bench_gpu_peers_end(bench_gpu_peers *peers)
{
    char line[LINE];
    if (say(peers, "end\n"))
        (void)hear(peers, RUN_SECONDS, line);
}
