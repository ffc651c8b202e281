/* CHOOSES. Which system calls foreign code may make: worker/sandbox_calls.def as a table, and the filter that is made from it. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>
#include <sys/syscall.h>

#include "worker/sandbox.h"

/* Not in every libc's headers. */
#ifndef __NR_close_range
#define __NR_close_range 436
#endif
#ifndef __NR_faccessat2
#define __NR_faccessat2 439
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

/* What a process is there for. A kernel on the CPU has the calls of LOAD and RUN at once: a library's constructors are the kernel's own
 * code, and libraries load others when they are first called. */
enum {
    TKI_PHASE_LOAD = 1,
    TKI_PHASE_RUN = 2,
    TKI_PHASE_COMPILE = 4,
    TKI_PHASE_GPU = 8,
    TKI_PHASE_WATCH = 16, /* compute-sanitizer, and the worker that it starts before that is shut in */
    TKI_PHASE_ALL = 31
};

/* How the arguments are checked. What a pointer leads to cannot be. */
typedef enum tki_call_check {
    TKI_CHECK_ANY,
    TKI_CHECK_SELF,   /* 0, or this process's number */
    TKI_CHECK_SIGNAL, /* of a kernel: this process's number. Of programs: where no signal leaves the sandbox */
    TKI_CHECK_CLONE,  /* no namespaces; of a kernel: threads alone */
    TKI_CHECK_MMAP, /* of a kernel on the CPU: shared memory without a file stays when all but a page of it is unmapped, uncounted */
    TKI_CHECK_MREMAP, /* an old size of 0, or an old mapping that stays, would map shared memory a second time */
    TKI_CHECK_CLOCK,  /* a negative number is the clock of another process */
    TKI_CHECK_OPEN, /* no set-user-ID files; nothing is emptied by who may only read it, as old Landlock lets it be */
    TKI_CHECK_OPENAT,
    TKI_CHECK_CREATE,
    TKI_CHECK_FIFO,
    TKI_CHECK_FIFO_AT,
    TKI_CHECK_FCNTL, /* no owner, who would be sent signals; no leases, no watches on folders */
    TKI_CHECK_IOCTL,
    TKI_CHECK_PRCTL,
    TKI_CHECK_SOCKET, /* Unix sockets, and no datagrams: they go to any socket that has a path */
    TKI_CHECK_SENDTO, /* no address */
    TKI_CALL_CHECKS
} tki_call_check;

typedef struct tki_call {
    const char *name;
    int number;
    unsigned phases; /* TKI_PHASE_... */
    tki_call_check check;
    const char *why;
} tki_call;

/* Up to one without a name. */
extern const tki_call tki_calls[];

/* For people; "" for TKI_CHECK_ANY. */
const char *tki_call_check_text(tki_call_check check);

unsigned tki_sandbox_phases(const tki_sandbox *sandbox);

enum { TKI_LONGEST_FILTER = 1024 };

typedef struct tki_filter {
    struct sock_filter code[TKI_LONGEST_FILTER];
    unsigned short length; /* TKI_LONGEST_FILTER: it did not fit */
} tki_filter;

/* `self`: the number of the process that will be confined. */
void tki_filter_build(tki_filter *filter, const tki_sandbox *sandbox, uint32_t self);
