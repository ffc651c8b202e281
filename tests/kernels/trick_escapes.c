/* Kernels that reach for what is not theirs. Each is right as long as it gets nothing and answers zeros where it does, so that HELD
 * says that it was refused. Nothing here does harm where nothing is refused: signals are signal 0, files are few and small. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/trick.h"

/* ------------------------------------------------------------------------------------------------------------
 * The judge
 * ------------------------------------------------------------------------------------------------------------ */

/* True if a byte of that process's memory can be had. */
static bool can_read_memory_of(pid_t process)
{
    char path[64], byte;
    /* Where a program begins that is loaded at a fixed address, else where this one has its code. */
    void *const places[] = {(void *)0x400000, (void *)(uintptr_t)&can_read_memory_of};
    snprintf(path, sizeof path, "/proc/%d/mem", (int)process);
    int memory = open(path, O_RDONLY);
    bool had = memory >= 0;
    if (memory >= 0)
        close(memory);
    for (int i = 0; i < 2; i++) {
        struct iovec here = {&byte, 1}, there = {places[i], 1};
        had |= process_vm_readv(process, &here, 1, &there, 1, 0) >= 0;
    }
    return had;
}

static void memory_of_the_judge_read(void)
{
    bool had = false;
    /* By number: its own namespace hides the judge, and the numbers of others are small. */
    for (pid_t process = 1; process < 300; process++)
        had |= process != getpid() && can_read_memory_of(process);
    compute_if(!had && !can_read_memory_of(getppid()));
}

static void judge_traced(void)
{
    bool had = ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0;
    if (had)
        ptrace(PTRACE_DETACH, getppid(), NULL, NULL);
    compute_if(!had);
}

/* What the judge was started with, and with which files. */
static void other_processes_listed(void)
{
    bool had = false;
    DIR *list = opendir("/proc");
    for (struct dirent *entry; list && (entry = readdir(list));)
        had |= entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && atoi(entry->d_name) != getpid() &&
               atoi(entry->d_name) != getppid();
    if (list)
        closedir(list);
    compute_if(!had);
}

static void files_read(void)
{
    static const char *const files[] = {"/etc/passwd", "/root", "/home", "/tmp", "/var/tmp", "/proc/1/environ"};
    bool had = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int file = open(files[i], O_RDONLY);
        had |= file >= 0;
        if (file >= 0)
            close(file);
    }
    compute_if(!had);
}

/* ------------------------------------------------------------------------------------------------------------
 * Other processes
 * ------------------------------------------------------------------------------------------------------------ */

/* A child of a child, whose parent ended, in a session of its own. It ends after a minute by itself. */
static void daemon_left(void)
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            sleep(60);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    compute_if(child < 0);
}

static void program_started(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    compute_if(child < 0);
}

/* Signal 0 asks whether it could be sent. */
static void signals_to_everybody(void)
{
    compute_if(kill(-1, 0) != 0 && kill(getppid(), 0) != 0 && kill(1, 0) != 0 && kill(0, 0) != 0);
}

/* Out of the group and of the reach of a parent's end, and then for ever. */
static void endless_and_detached(void)
{
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setsid();
    setpgid(0, 0);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_IGN);
    for (;;)
        pause();
}

/* Anybody may trace a process that says so, and a dumpable one leaves a core. */
static void crash_with_a_core(void)
{
    static int *volatile nowhere = (int *)16;
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    prctl(PR_SET_DUMPABLE, 1);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    setrlimit(RLIMIT_CORE, &all);
    compute();
    signal(SIGSEGV, SIG_DFL);
    if (size > 0)
        *nowhere = 1;
}

/* ------------------------------------------------------------------------------------------------------------
 * The machine
 * ------------------------------------------------------------------------------------------------------------ */

enum { MEBIBYTE = 1 << 20 };

/* Mebibytes written to files, at most `most`. */
static int fill(const char *name, int most)
{
    static char block[MEBIBYTE];
    int written = 0;
    for (int i = 0; written < most; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s%d", name, i);
        int file = open(path, O_CREAT | O_WRONLY, 0600);
        int before = written;
        for (int k = 0; file >= 0 && k < 16 && written < most && write(file, block, sizeof block) == MEBIBYTE; k++)
            written++;
        if (file >= 0)
            close(file);
        if (written == before)
            break;
    }
    return written;
}

/* Once: 300 MiB of a disk that others need. */
static void disk_filled(void)
{
    static bool had, tried;
    if (!tried)
        had = fill("part", 300) == 300;
    tried = true;
    compute_if(!had);
}

/* Shared memory, which no limit of addresses counts while it is not mapped. */
static void memory_filled(void)
{
    static char block[MEBIBYTE];
    static bool had, tried;
    int written = 0;
    int memory = tried ? -1 : memfd_create("fill", MFD_CLOEXEC);
    for (; memory >= 0 && written < 300 && write(memory, block, sizeof block) == MEBIBYTE;)
        written++;
    if (memory >= 0)
        close(memory);
    had |= written == 300;
    tried = true;
    compute_if(!had);
}

static void files_without_end(void)
{
    enum { MANY = 20000 };
    static bool had, tried;
    int made = 0;
    for (int i = 0; i < MANY && !tried; i++) {
        char path[64];
        snprintf(path, sizeof path, "file%d", i);
        int file = open(path, O_CREAT | O_WRONLY, 0600);
        if (file < 0)
            break;
        close(file);
        made++;
    }
    had |= made == MANY;
    tried = true;
    compute_if(!had);
}

static void descriptors_without_end(void)
{
    enum { MANY = 10000 };
    struct rlimit all;
    getrlimit(RLIMIT_NOFILE, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_NOFILE, &all);
    int first = dup(0), last = first, count = 0;
    for (; count < MANY && last >= 0; count++)
        last = dup(0);
    for (int i = 0; i < count; i++)
        close(first + i);
    compute_if(count < MANY);
}

static void files_left_outside(void)
{
    static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm", "/run",
                                          "/",    "..",       "/usr",     "/proc/self/cwd/.."};
    bool had = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/tokitai-trick-left", folders[i]);
        int file = open(path, O_CREAT | O_WRONLY, 0600);
        had |= file >= 0;
        if (file >= 0)
            close(file);
        if (file >= 0)
            unlink(path);
    }
    compute_if(!had);
}

/* Shared memory of 16 MiB of which a page stays mapped, again and again, with 256 MiB of addresses. */
static void memory_behind_pages(void)
{
    enum { PARTS = 32, PART = 16 * MEBIBYTE };
    static bool had, tried;
    int made = 0, zeros = tried ? -1 : open("/dev/zero", O_RDWR);
    struct rlimit before, few;
    getrlimit(RLIMIT_AS, &before);
    few = (struct rlimit){256 * MEBIBYTE, before.rlim_max};
    for (int kind = 0; kind < 2 && !tried; kind++) {
        setrlimit(RLIMIT_AS, &few);
        for (int i = 0; i < PARTS; i++) {
            char *part = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED | (kind ? 0 : MAP_ANONYMOUS),
                              kind ? zeros : -1, 0);
            if (part == MAP_FAILED)
                break;
            memset(part, 1, PART);
            munmap(part + 4096, PART - 4096);
            made++;
        }
        setrlimit(RLIMIT_AS, &before);
    }
    if (zeros >= 0)
        close(zeros);
    had |= made > 0;
    tried = true;
    compute_if(!had);
}

/* A file of others under a name of its own: by a link, through a descriptor that opens nothing, by moving it. */
static void files_linked_in(void)
{
    static const char *const files[] = {"/etc/passwd", "/usr/bin/env", "/proc/self/exe", "/bin/sh"};
    bool had = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        int file = open(files[i], O_PATH | O_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        had |= linkat(AT_FDCWD, files[i], AT_FDCWD, "linked", AT_SYMLINK_FOLLOW) == 0;
        had |= linkat(AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW) == 0;
        had |= linkat(file, "", AT_FDCWD, "linked", AT_EMPTY_PATH) == 0;
        had |= rename(files[i], "moved") == 0;
        if (file >= 0)
            close(file);
    }
    compute_if(!had);
}

/* What one process leaves in its folder, another would find. */
static void left_for_the_next_process(void)
{
    static bool had, tried;
    int found = tried ? -1 : open("left", O_RDONLY);
    int file = open("left", O_CREAT | O_WRONLY, 0600);
    had |= found >= 0;
    tried = true;
    close(file);
    compute_if(!had);
}

/* Objects of the system that outlive a process or tell one from another, and what could watch or change this one. */
static void objects_made(void)
{
    int pair[2];
    char zeros[256] = {0};
    const long made[] = {
        syscall(SYS_shmget, 4711, 4096, 01600),
        syscall(SYS_msgget, 4711, 01600),
        syscall(SYS_semget, 4711, 1, 01600),
        syscall(SYS_mq_open, "tokitai-trick", O_CREAT | O_RDWR, 0600, NULL),
        syscall(SYS_add_key, "user", "tokitai-trick", "x", 1L, -4L),
        syscall(SYS_keyctl, 0, -4L, 0L),
        syscall(SYS_memfd_create, "x", 0),
        syscall(SYS_userfaultfd, 1),
        syscall(SYS_io_uring_setup, 1, zeros),
        syscall(SYS_pipe2, pair, 0),
        syscall(SYS_socket, 1, 1, 0),
        syscall(SYS_socketpair, 1, 1, 0, pair),
        syscall(SYS_eventfd2, 0, 0),
        syscall(SYS_timer_create, 1, NULL, pair),
        syscall(SYS_inotify_init1, 0),
        syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0L),
        syscall(SYS_pidfd_open, getppid(), 0),
        syscall(SYS_kcmp, getpid(), getppid(), 0, 0L, 0L),
        syscall(SYS_personality, 0x40000L),
        syscall(SYS_setpriority, 0, 0, 19),
        syscall(SYS_setitimer, 0, zeros, NULL),
        syscall(SYS_flock, 0, 1),
        syscall(SYS_fchmodat, AT_FDCWD, ".", 0755),
        syscall(SYS_remap_file_pages, (uintptr_t)output / 4096 * 4096, 4096L, 0L, 0L, 0L),
        syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1L),
        syscall(SYS_prctl, PR_SET_PTRACER, -1L),
    };
    bool had = false;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        had |= made[i] >= 0;
    compute_if(!had);
}

/* The process is not over with its first thread. */
static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void first_thread_ended(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) == 0)
        syscall(SYS_exit, 0);
}

/* Right, but for the end of its process. */
_Noreturn static void stay(void)
{
    for (;;)
        pause();
}

static void endless_at_the_end(void)
{
    static bool tried;
    if (!tried)
        atexit(stay);
    tried = true;
    compute();
}
