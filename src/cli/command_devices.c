/* SHOWS. tokitai devices: what this machine can run on, and the compilers on the PATH. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct arguments {
    bool json;
} arguments;

static const cli_option option_list[] = {CLI_JSON, {0}};

/* ------------------------------------------------------------------------------------------------------------
 * Compilers
 * ------------------------------------------------------------------------------------------------------------ */

static const char *const compiler_names[] = {"cc", "gcc", "clang", "nvcc", "hipcc"};

enum { COMPILERS = sizeof compiler_names / sizeof *compiler_names, PATIENCE_MS = 10000 };

typedef struct compiler {
    const char *name;
    char path[4096];
    char version[256]; /* "" if it did not say */
} compiler;

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static bool find_on_path(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        int length = (int)strcspn(folders, ":");
        int written = length > 0 ? snprintf(path, size, "%.*s/%s", length, folders, name) : 0;
        if (written > 0 && (size_t)written < size && is_program(path))
            return true;
        folders += length;
        folders += *folders == ':';
    }
    return false;
}

/* Starts `path --version` without a shell, its output going into the pipe. */
static bool start_version(char *path, int output, pid_t *child)
{
    char option[] = "--version";
    char *const words[] = {path, option, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool good = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn(child, path, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

/* Reads until the end, the buffer is full or patience is at an end. */
static size_t read_patiently(int input, char *text, size_t size)
{
    size_t used = 0;
    double deadline = cli_seconds() + PATIENCE_MS / 1000.0;
    while (used + 1 < size) {
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        double left = deadline - cli_seconds();
        int ready = left > 0 ? poll(&waiting, 1, (int)(left * 1000) + 1) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? read(input, text + used, size - 1 - used) : 0;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = '\0';
    return used;
}

/* The first line with a version number in it (nvcc begins with others), else the first line. */
static void pick_line(const char *text, char *line, size_t size)
{
    const char *chosen = text;
    for (const char *start = text; *start;) {
        size_t length = strcspn(start, "\n");
        bool numbered = false;
        for (size_t i = 0; i + 2 < length && !numbered; i++)
            numbered = start[i] >= '0' && start[i] <= '9' && start[i + 1] == '.' && start[i + 2] >= '0' &&
                       start[i + 2] <= '9';
        if (numbered) {
            chosen = start;
            break;
        }
        start += length + (start[length] == '\n');
    }
    snprintf(line, size, "%.*s", (int)strcspn(chosen, "\n"), chosen);
}

static void ask_version(compiler *c)
{
    int ends[2];
    pid_t child;
    char text[4096];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    bool started = start_version(c->path, ends[1], &child);
    close(ends[1]);
    if (started) {
        if (read_patiently(ends[0], text, sizeof text) > 0)
            pick_line(text, c->version, sizeof c->version);
        kill(child, SIGKILL); /* one that still runs has said what it had to say */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
}

static int find_compilers(compiler found[COMPILERS])
{
    int count = 0;
    for (int i = 0; i < COMPILERS; i++) {
        compiler *c = &found[count];
        *c = (compiler){.name = compiler_names[i]};
        if (!find_on_path(c->name, c->path, sizeof c->path))
            continue;
        ask_version(c);
        count++;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------------------
 * Output
 * ------------------------------------------------------------------------------------------------------------ */

static json_t *json_compilers(const compiler *found, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o}", "name", found[i].name, "path",
                                        cli_json_text(found[i].path), "version", cli_json_text(found[i].version)));
    return list;
}

static json_t *json_device(const tk_device *device)
{
    json_t *object = json_pack("{s:s, s:b, s:o, s:o, s:i, s:I}", "backend", device->backend, "usable",
                               (int)device->usable, "name", cli_json_text(device->name), "detail",
                               cli_json_text(device->detail), "units", device->units, "memory_bytes",
                               (json_int_t)device->memory_bytes);
    if (object && device->architecture[0]) {
        json_object_set_new(object, "uuid", cli_json_text(device->uuid));
        json_object_set_new(object, "architecture", cli_json_text(device->architecture));
        json_object_set_new(object, "driver", cli_json_text(device->driver));
    }
    if (object && device->compiler[0])
        json_object_set_new(object, "compiler", cli_json_text(device->compiler));
    return object;
}

static json_t *json_devices(void)
{
    json_t *list = json_array();
    tk_device device;
    for (int i = 0; tk_device_at(i, &device); i++)
        json_array_append_new(list, json_device(&device));
    return list;
}

enum { INDENT = 15 };

static void print_line(const char *label, const char *text)
{
    if (!text[0])
        return;
    printf("%*s%s", INDENT, "", label);
    int column = INDENT + (int)strlen(label);
    cli_wrap(column, column, text);
}

static void print_device(const tk_device *device)
{
    tk_backend_info backend = {0};
    (void)tk_backend_at(tk_backend_find(device->backend, ""), &backend);
    printf("%-6s ", device->backend);
    cli_print(device->usable ? CLI_GOOD : CLI_DOUBTFUL, device->usable    ? "usable"
                                                        : device->name[0] ? "unused"
                                                                          : "none  ");
    printf("  ");
    if (!device->name[0]) {
        cli_wrap(INDENT, INDENT, device->detail);
        print_line("compiler ", device->compiler);
        return;
    }
    cli_print(CLI_PLAIN, device->name);
    if (device->units > 0)
        printf(", %d %s", device->units, backend.is_gpu ? "multiprocessors" : "cores");
    if (device->memory_bytes > 0) {
        char memory[32];
        cli_format_bytes(device->memory_bytes, memory, sizeof memory);
        printf(", %s", memory);
    }
    putchar('\n');
    print_line("", device->detail);
    print_line("architecture ", device->architecture);
    print_line("UUID ", device->uuid);
    print_line("driver ", device->driver);
    print_line("compiler ", device->compiler);
}

static void print_compilers(const compiler *found, int count)
{
    cli_heading("Compilers on the PATH");
    for (int i = 0; i < COMPILERS; i++) {
        const compiler *c = NULL;
        for (int j = 0; j < count; j++)
            if (!strcmp(found[j].name, compiler_names[i]))
                c = &found[j];
        printf("%-6s ", compiler_names[i]);
        if (c) {
            cli_print(CLI_PLAIN, c->version[0] ? c->version : "found; version unknown");
            printf("\n%7s", "");
            cli_print(CLI_FAINT, c->path);
        } else {
            cli_print(CLI_FAINT, "not found");
        }
        putchar('\n');
    }
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    compiler found[COMPILERS];
    cli_parse(&cli_devices, argc, argv, &a);
    int count = find_compilers(found);
    if (a.json)
        return cli_print_json(
            json_pack("{s:o, s:o}", "devices", json_devices(), "compilers", json_compilers(found, count)));
    tk_device device;
    for (int i = 0; tk_device_at(i, &device); i++)
        print_device(&device);
    print_compilers(found, count);
    return CLI_HOLDS;
}

const cli_command cli_devices = {
    .name = "devices",
    .summary = "list the devices and compilers of this machine",
    .options = option_list,
    .run = run,
    .doc = "Lists the processor with its features; CUDA and HIP devices (name, UUID, architecture, memory, driver) "
           "or the reason why there is none; the compiler of kernels for them or the reason why there is none; and "
           "the compilers cc, gcc, clang, nvcc and hipcc on the PATH with their versions.",
};
