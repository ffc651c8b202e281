/* CHOOSES. Which lines of a source ran, as gcov prints it. The text is untrusted: it was made by a tool that read what the kernel's process
 * wrote. */
#pragma once

#include "tokitai.h"

/* Lines from `first` to `last`, of which none that holds code ran. */
typedef struct tki_line_range {
    int file; /* 0: the one that is compiled; else one of tki_lines.files */
    int64_t first, last;
} tki_line_range;

typedef struct tki_lines {
    int64_t count, run; /* lines that hold code, and those of them that ran */
    tki_line_range *missed;
    int missed_count;
    char **files; /* names in the folder; the first is the one that is compiled */
    int file_count;
} tki_lines;

/* Reads what `gcov -t` printed about the sources in that folder, whose name ends with a slash, of which `file` is the one that is compiled;
 * lines of other files do not count. False if it says nothing about any of them, or memory ran out. tki_lines_free() in any case. */
TK_MUST_USE bool tki_lines_read(const char *text, const char *folder, const char *file, tki_lines *lines);
void tki_lines_free(tki_lines *lines);
