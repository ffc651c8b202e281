/* RECORDS. Inputs of the program, and what is wrong with them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "headers/headers.h"

void generate_refuse(generate_place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "tokitai-generate: %s:%d: ", at.path, at.line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

char *generate_read(const char *path)
{
    const generate_place nowhere = {path, 0};
    char *text = NULL;
    size_t bytes;
    FILE *file = fopen(path, "r");
    FILE *copy = file ? open_memstream(&text, &bytes) : NULL;
    if (!copy)
        generate_refuse(nowhere, "%s", strerror(errno));
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, copy);
    fclose(file);
    if (fclose(copy) != 0)
        generate_refuse(nowhere, "no memory");
    return text;
}
