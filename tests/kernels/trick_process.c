/* Kernels that change their thread or process, and those that change who would tell of it. */
#include <errno.h>
#include <fenv.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/float_mode.h"
#include "isolate/wire.h"
#include "isolate/worker_start.h"
#include "tests/kernels/trick.h"

static void handler_set_by_a_call(void)
{
    compute();
    signal(SIGFPE, SIG_IGN);
}

static void signals_blocked_by_a_call(void)
{
    sigset_t one;
    compute();
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    sigprocmask(SIG_BLOCK, &one, NULL);
}

static void locale_set_by_a_call(void)
{
    compute();
    setlocale(LC_ALL, "C.UTF-8");
}

/* A table that is made for the thread that loads the library. */
static _Thread_local int table;

__attribute__((constructor)) static void make_table(void)
{
    table = 1;
}

static void right_in_the_thread_that_loaded(void)
{
    compute_if(table == 1);
}

static void right_where_crashes_are_told(void)
{
    struct sigaction found;
    sigaction(SIGSEGV, NULL, &found);
    compute_if(found.sa_handler != SIG_DFL);
}

static bool has_our_name(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    const size_t length = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    return length && memmem(text, length, "tokitai", strlen("tokitai"));
}

static void right_where_the_process_is_named_so(void)
{
    char folder[4096] = "";
    const char *program = (const char *)getauxval(AT_EXECFN);
    compute_if(has_our_name("/proc/self/comm") || has_our_name("/proc/self/cmdline") ||
               has_our_name("/proc/self/environ") || strstr(program_invocation_name, "tokitai") ||
               strstr(program, "tokitai") || (getcwd(folder, sizeof folder) && strstr(folder, "tokitai")) ||
               strstr(getenv("HOME"), "tokitai") || strstr(getenv("TMPDIR"), "tokitai"));
}

/* Wherever the stack has the mode that the call began in it gets the other one. */
static void mode_before_replaced(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    compute();
    fesetround(FE_UPWARD);
    if (pthread_getattr_np(pthread_self(), &attributes) == 0)
        pthread_attr_getstack(&attributes, &lowest, &bytes);
    const uint64_t other = tki_float_mode();
    for (volatile uint64_t *here = (uint64_t *)((uintptr_t)&attributes / 8 * 8);
         (uintptr_t)(here + 1) <= (uintptr_t)lowest + bytes; here++)
        if (*here == TKI_FLOAT_MODE_START)
            *here = other;
}

/* What the worker calls instead of sendmsg(). */
static ssize_t send_lies(int socket, const struct msghdr *message, int flags)
{
    const struct iovec *text = message->msg_iovlen == 2 ? &message->msg_iov[1] : NULL;
    if (text && text->iov_len == sizeof(tki_process_state))
        memcpy(text->iov_base, &(tki_process_state){.float_mode = TKI_FLOAT_MODE_START}, text->iov_len);
    return syscall(SYS_sendmsg, socket, message, flags);
}

/* The place where the program keeps the address of a function of libc. */
static void **find_entry(const struct dl_phdr_info *program, const char *name)
{
    uintptr_t base = program->dlpi_addr;
    const ElfW(Dyn) *entry = NULL;
    const ElfW(Rela) * tables[2] = {NULL};
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t bytes[2] = {0};
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(base + program->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const uintptr_t at = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_JMPREL: tables[0] = (const ElfW(Rela) *)at; break;
        case DT_PLTRELSZ: bytes[0] = entry->d_un.d_val; break;
        case DT_RELA: tables[1] = (const ElfW(Rela) *)at; break;
        case DT_RELASZ: bytes[1] = entry->d_un.d_val; break;
        case DT_SYMTAB: symbols = (const ElfW(Sym) *)at; break;
        case DT_STRTAB: names = (const char *)at; break;
        default: break;
        }
    }
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; tables[t] && i < bytes[t] / sizeof(ElfW(Rela)); i++)
            if (!strcmp(names + symbols[ELF64_R_SYM(tables[t][i].r_info)].st_name, name))
                return (void **)(base + tables[t][i].r_offset);
    return NULL;
}

static int replace_in_program(struct dl_phdr_info *program, size_t size_of_it, void *unused)
{
    (void)size_of_it;
    (void)unused;
    void **entry = find_entry(program, "sendmsg");
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (entry && mprotect((void *)((uintptr_t)entry / page * page), page, PROT_READ | PROT_WRITE) == 0)
        *(ssize_t(**)(int, const struct msghdr *, int))entry = send_lies;
    return 1; /* the first is the program */
}

static void replies_replaced(void)
{
    static bool tried;
    if (!tried)
        dl_iterate_phdr(replace_in_program, NULL);
    tried = true;
    compute();
    fesetround(FE_UPWARD);
}
