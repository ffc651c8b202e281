/* RECORDS. What is taken over from a certificate for the making of a kernel. It may be forged: what it names is used only if it can do
 * nothing but what it is for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A compiler by its plain name, in one of the system's folders: never by a path, and not through the PATH. False: it is not taken. */
bool tki_vetted_compiler(const char *name, char *path, size_t size);

/* Flags that say how to optimise, for which processor and language, what to warn of, which macros to define and which libraries of the system to
 * link. One that names a file, a folder or a program, or that is not known here, is none of them: `refused` receives it, cut to fit. */
bool tki_vetted_flags(const char *flags, char *refused, size_t size);
