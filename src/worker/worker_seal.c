/* CHOOSES. What a kernel could write over to silence the checks that are made in its own process: code, and the tables by which functions are
 * found. Sealed, they stay as they are (Linux 6.10); elsewhere they are read-only until somebody asks for more. */
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/worker_program.h"

enum { MSEAL = 462 }; /* not in every libc's headers */

static void seal(uintptr_t begin, uintptr_t end)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    begin = begin / page * page;
    if (begin < end)
        syscall(MSEAL, begin, end - begin, 0);
}

static int seal_library(struct dl_phdr_info *about, size_t size, void *unused)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const bool is_loader = about->dlpi_addr ==
                           getauxval(AT_BASE); /* it writes its own for a library with an executable stack */
    (void)size;
    (void)unused;
    for (int i = 0; i < about->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &about->dlpi_phdr[i];
        const uintptr_t begin = about->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            seal(begin, (end + page - 1) / page * page);
        else if (part->p_type == PT_GNU_RELRO && !is_loader)
            seal(begin, end / page * page);
    }
    return 0;
}

void tki_worker_seal(void)
{
    dl_iterate_phdr(seal_library, NULL);
}
