/* CHOOSES. What a source asks of the place and the time in which it is compiled, or of how: by that it could be one kernel for the judge and
 * another elsewhere. The texts may be anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum tki_use {
    TKI_USE_DATE,      /* __DATE__, __TIME__, __TIMESTAMP__ */
    TKI_USE_PATH,      /* __FILE__, __BASE_FILE__, assert() */
    TKI_USE_PRESENCE,  /* __has_include, __has_embed */
    TKI_USE_INCLUDE,   /* #include of an absolute or computed path */
    TKI_USE_PARENT,    /* #include of one with .. in it, beside the source */
    TKI_USE_DATA,      /* #embed, .incbin, .include */
    TKI_USE_ASSEMBLER, /* directives by which an assembler chooses or repeats */
    TKI_USE_FOLDING,   /* __builtin_constant_p and what else depends on the optimiser */
    TKI_USE_WEAK,      /* a weak reference, which other programs may define */
    TKI_USE_BUILD,     /* a name of what instrumented code calls */
    TKI_USE_LAYOUT,    /* addresses of its own code, and what a linker lays out */
    TKI_USE_OPTIONS,   /* macros that tell options, versions, headers, lines: by #if, or as values */
    TKI_USE_TARGET,    /* macros that tell the processor or the language */
    TKI_USE_EXPORTS,   /* a symbol of its own that it reaches as any program's */
    TKI_USES
} tki_use;

/* Those by which a source can be one kernel here and another elsewhere. What is left depends on the compiler and its flags, which certificates
 * name, and on files that are hashed. */
enum {
    TKI_USES_TELLING = ((1 << TKI_USES) - 1) &
                       ~(1 << TKI_USE_PARENT | 1 << TKI_USE_FOLDING | 1 << TKI_USE_TARGET | 1 << TKI_USE_EXPORTS),
    /* Those by which it can tell an instrumented build. */
    TKI_USES_OF_BUILD = 1 << TKI_USE_BUILD | 1 << TKI_USE_ASSEMBLER | 1 << TKI_USE_LAYOUT,
};

/* Its word in certificates. */
const char *tki_use_name(tki_use use);

/* What a use of it means in a sentence, "asks for date or time"; NULL if there is none of that name. */
const char *tki_use_meaning(const char *name);

/* One of these? */
bool tki_use_is_of(unsigned uses, const char *name);

/* Each adds bits 1 << tki_use. A file of the source, as it was written. */
void tki_uses_of_source(const char *text, size_t bytes, unsigned *uses);

/* Files of the source's own folder, one behind the other: by what macros they choose. Those of include folders are not read by this: libraries
 * of headers ask for compilers. */
void tki_uses_of_conditions(const char *text, size_t bytes, unsigned *uses);

/* The preprocessed text: what comes from the kernel's own files, by its line markers. */
void tki_uses_of_text(const char *text, size_t bytes, unsigned *uses);

/* The next of the kernel's own files that the text came from, below TKI_SOURCE_LINK, each as often as a line says so; *at moves on. False: no
 * more. */
bool tki_text_next_file(const char **at, const char *end, char *name, size_t size);

/* A symbol of the library that was made. */
void tki_uses_of_symbol(const char *name, bool weak_and_undefined, unsigned *uses);

/* Of the source alone: no op, and nothing that libraries of C++ share. */
bool tki_symbol_is_own(const char *name);

/* All symbols of an ELF shared library, which may be anything: exported_ops.c. */
void tki_uses_of_library(const void *image, size_t bytes, unsigned *uses);

/* The kernel's own parts of a preprocessed text, one behind the other, in place; returns their length. */
size_t tki_text_own_parts(char *text, size_t bytes);
