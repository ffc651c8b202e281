/* CHOOSES. A worker's process looks as programs do, as far as that costs nothing: a kernel could be right where it finds that it is judged.
 * docs/tricks.md lists what still shows. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "worker/worker_program.h"

static const char *const programs[] = {"python3", "train", "bench", "a.out", "infer"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* Bytes of the process's first memory that the system shows. */
typedef struct block {
    char *next, *end;
} block;

static block block_of(char **words)
{
    block b = {words[0], words[0]};
    for (; *words; words++)
        b.end = *words + strlen(*words) + 1;
    memset(b.next, 0, (size_t)(b.end - b.next));
    return b;
}

/* If it fits. */
static bool add_word(block *b, const char *name, const char *value)
{
    const bool fits = strlen(name) + strlen(value) < (size_t)(b->end - b->next);
    if (fits)
        b->next = stpcpy(stpcpy(b->next, name), value) + 1;
    return fits;
}

/* One that takes what is left. */
static void fill(block *b, const char *name, const char *part)
{
    if (!add_word(b, name, ""))
        return;
    b->next--;
    for (size_t i = 0; b->next + 1 < b->end; i++)
        *b->next++ = part[i % strlen(part)];
}

static const char *copy_of(const char *text)
{
    const char *copy = text ? strdup(text) : NULL;
    return copy ? copy : text;
}

/* The settings point to the arguments. */
static void keep_settings(tki_worker_settings *settings)
{
    settings->artifact = copy_of(settings->artifact);
    settings->op = copy_of(settings->op);
    settings->known = copy_of(settings->known);
    settings->sandbox.scratch = copy_of(settings->sandbox.scratch);
    for (int i = 0; settings->readable[i]; i++)
        settings->readable[i] = copy_of(settings->readable[i]);
    for (int i = 0; settings->hidden[i]; i++)
        settings->hidden[i] = copy_of(settings->hidden[i]);
}

/* What a shell gives, in place of what the parent gave. */
static void set_environment(const char *home)
{
    const char *const path = copy_of(getenv("PATH"));
    const char *const variables[][2] = {{"PATH", path},   {"HOME", home},      {"USER", "user"},
                                        {"PWD", home},    {"LANG", "C.UTF-8"}, {"SHELL", "/bin/bash"},
                                        {"TMPDIR", home}, {"LOGNAME", "user"}, {"TERM", "xterm-256color"},
                                        {"SHLVL", "1"}};
    block shown = block_of(environ);
    clearenv();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!variables[i][1])
            continue;
        char name[16];
        snprintf(name, sizeof name, "%s=", variables[i][0]);
        setenv(variables[i][0], variables[i][1], 1);
        add_word(&shown, name, variables[i][1]);
    }
    fill(&shown, "LS_COLORS=", "di=01;34:ln=01;36:");
}

void tki_worker_look(tki_worker_settings *settings, char **arguments)
{
    uint32_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        drawn = 0;
    const char *const program = programs[drawn % PROGRAMS];
    keep_settings(settings);
    block shown = block_of(arguments);
    add_word(&shown, program, "");
    fill(&shown, "--data=/data", "/part");
    if (settings->sandbox.gpu) { /* its driver reads what it was given */
        setenv("HOME", settings->sandbox.scratch, 1);
        setenv("TMPDIR", settings->sandbox.scratch, 1);
    } else if (environ && *environ) {
        set_environment(settings->sandbox.scratch);
    }
    char *const started_as = (char *)getauxval(AT_EXECFN);
    if (started_as)
        snprintf(started_as, strlen(started_as) + 1, "/usr/bin/%s", program);
    program_invocation_name = program_invocation_short_name = (char *)(uintptr_t)program;
    prctl(PR_SET_NAME, program);
}

void tki_worker_draw_number(void)
{
    enum { LEAST = 1000, NUMBERS = 28000 };
    uint32_t drawn;
    int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && getrandom(&drawn, sizeof drawn, 0) == sizeof drawn)
        dprintf(file, "%u", LEAST + drawn % NUMBERS); /* refused, it is a small one */
    if (file >= 0)
        close(file);
}
