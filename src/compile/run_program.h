/* CHOOSES. Runs a program and waits for it, for so long: input from nowhere, output kept, its descendants ended with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct tki_process {
    int exit_code;     /* 0 and an empty problem: it did what it was asked */
    char problem[160]; /* it could not be started, was ended by a signal, took too long; else "" */
    char *output;      /* standard output and error as they came, cut after a while; free() it. NULL without memory */
} tki_process;

/* `folder`, if not NULL, becomes its working directory and where it puts temporary files. arguments[0] is the program's path. */
void tki_process_run(char *const arguments[], const char *folder, double seconds, tki_process *process);

/* The path of a program on the PATH, or in one of the further folders (the list ends with NULL, and may be NULL). */
bool tki_program_find(const char *name, const char *const *folders, char *path, size_t size);
