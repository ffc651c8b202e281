/* RECORDS. All members of certificates, each once. The schema, the pages, and what is compared are made from this table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In which certificates a member is, and what is done with it. */
enum {
    TKI_SINCE_1 = 1 << 0,  /* every certificate has it that is of its kinds of subjects */
    TKI_SINCE_2 = 1 << 1,  /* every one since the second form */
    TKI_READ = 1 << 2,     /* nothing is read that lacks it: a list if its type is one, an integer, or a text */
    TKI_REPLAYED = 1 << 3, /* a replay has to give the same */
    TKI_DIFFED = 1 << 4,   /* `diff` shows both, in the order of the table */
    TKI_OUTCOME = 1 << 5,  /* of a trial: what came out, not what it ran on */
};

/* Where pages show it. */
/* clang-format off */
typedef enum tki_page {
    TKI_PAGE_NONE, TKI_PAGE_WHAT, TKI_PAGE_HOW, TKI_PAGE_ERRORS, TKI_PAGE_EFFORT, TKI_PAGE_REFUTED, TKI_PAGE_ELEMENT, TKI_PAGE_COVERAGE,
    TKI_PAGE_NOT_COVERED, TKI_PAGE_WORKER, TKI_PAGE_LIMITS, TKI_PAGE_BUILT, TKI_PAGE_KERNEL, TKI_PAGE_MACHINE
} tki_page;
/* clang-format on */

/* Types: "object", whose rows are those with its path; a name that `in` of other rows has; "[T]", a list; "{T}", values by name; "a|b", one of
 * these texts; or a row of tki_value_types. */
typedef struct tki_member {
    const char *in; /* the object that has it: its path in the predicate, or a name that types use */
    const char *name, *type;
    const char *says;
    unsigned how;
    const char *title; /* in pages and differences */
    tki_page page;
    unsigned kinds; /* of subjects that have it, a bit for each of tki_member_kinds; 0: all */
} tki_member;

/* A row without a name ends it. */
extern const tki_member tki_members[];

/* What a value that is no object or list may be: one of these. */
enum {
    TKI_IS_INTEGER = 1 << 0, /* from `least` to `most` */
    TKI_IS_REAL = 1 << 1,    /* from `least` on */
    TKI_IS_TEXT = 1 << 2,    /* of `least` to `most` bytes, which `pattern` matches */
    TKI_IS_TRUE = 1 << 3,
    TKI_IS_FALSE = 1 << 4,
    TKI_IS_POWER_OF_TWO = 1 << 5, /* the integer */
    TKI_IS_DATE = 1 << 6,         /* the text: of a day that there is, and none of the future */
};

typedef struct tki_value_type {
    const char *name;
    unsigned is;
    int64_t least, most;
    const char *pattern; /* of whole texts, a POSIX extended one that JSON Schema reads alike; NULL: any */
    const char *words;   /* "a|b": texts in place of a number */
    const char *says;
} tki_value_type;

/* A row without a name ends it. */
extern const tki_value_type tki_value_types[];

/* Values of `run.kind`; NULL ends them. */
extern const char *const tki_member_kinds[];

/* Has a subject of that kind the member? */
bool tki_member_is_of(const tki_member *member, int kind);

/* The object, or the items of the list, or the values by name, that its type tells of: what `in` of their rows is; "" if it is none. */
void tki_member_object(const tki_member *member, char *in, size_t size);
