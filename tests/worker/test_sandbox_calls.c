/* The filter of system calls, run instruction by instruction in this process, over all numbers; and the table that docs/worker.md has of
 * it. tests/kernels/misbehave.c makes the calls for real. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/unit_test.h"
#include "worker/sandbox_calls.h"

enum { SELF = 4711, OTHER = 4712, NUMBERS = 1024, X32 = 0x40000000 };

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define ANOTHER_ARCHITECTURE AUDIT_ARCH_I386
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define ANOTHER_ARCHITECTURE AUDIT_ARCH_ARM
#endif

/* What the operating system would answer. */
static uint32_t evaluate(const tki_filter *f, const struct seccomp_data *data)
{
    uint32_t a = 0;
    for (size_t i = 0; i < f->length; i++) {
        const struct sock_filter *c = &f->code[i];
        bool holds = false;
        switch (c->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(c->k % 4 == 0 && c->k + 4 <= sizeof *data);
            memcpy(&a, (const char *)data + c->k, sizeof a);
            continue;
        case BPF_ALU | BPF_AND | BPF_K: a &= c->k; continue;
        case BPF_ALU | BPF_RSH | BPF_K: a >>= c->k; continue;
        case BPF_RET | BPF_K: return c->k;
        case BPF_JMP | BPF_JEQ | BPF_K: holds = a == c->k; break;
        case BPF_JMP | BPF_JGE | BPF_K: holds = a >= c->k; break;
        case BPF_JMP | BPF_JSET | BPF_K: holds = a & c->k; break;
        default: fail_msg("instruction %zu has the code 0x%x", i, c->code);
        }
        i += holds ? c->jt : c->jf;
    }
    fail_msg("the filter has no end");
    return 0;
}

typedef struct kind {
    const char *name;
    tki_sandbox sandbox;
    tki_filter filter;
} kind;

enum { CPU, ON_GPU, COMPILER, COMPILER_IN_THE_OPEN, SANITIZER, KINDS };

static kind kinds[KINDS] = {
    [CPU] = {.name = "a kernel on the CPU"},
    [ON_GPU] = {.name = "a kernel on a GPU", .sandbox = {.gpu = true}},
    [COMPILER] = {.name = "a compiler", .sandbox = {.programs = true, .own_pids = true}},
    [COMPILER_IN_THE_OPEN] = {.name = "a compiler without a namespace", .sandbox = {.programs = true}},
    [SANITIZER] = {.name = "compute-sanitizer",
                   .sandbox = {.programs = true, .watches = true, .gpu = true, .own_pids = true}},
};

static int build_all(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++)
        tki_filter_build(&kinds[i].filter, &kinds[i].sandbox, SELF);
    return 0;
}

static uint32_t answer(int of, int number, const uint64_t arguments[6])
{
    struct seccomp_data data = {.nr = number, .arch = ARCHITECTURE};
    if (arguments)
        memcpy(data.args, arguments, sizeof data.args);
    return evaluate(&kinds[of].filter, &data);
}

static bool refused(uint32_t answer)
{
    return answer == (SECCOMP_RET_ERRNO | EPERM) || answer == (SECCOMP_RET_ERRNO | ENOSYS);
}

static const tki_call *find(int number, unsigned phases)
{
    for (const tki_call *call = tki_calls; call->name; call++)
        if (call->number == number && call->phases & phases)
            return call;
    return NULL;
}

TEST(every_number)
{
    for (int k = 0; k < KINDS; k++) {
        const unsigned phases = tki_sandbox_phases(&kinds[k].sandbox);
        assert_true(kinds[k].filter.length < TKI_LONGEST_FILTER);
        for (int number = 0; number < NUMBERS; number++) {
            const tki_call *call = find(number, phases);
            if (!call && !refused(answer(k, number, NULL)))
                fail_msg("%s may make the call %d, which is not listed", kinds[k].name, number);
            if (call && call->check == TKI_CHECK_ANY && answer(k, number, NULL) != SECCOMP_RET_ALLOW)
                fail_msg("%s may not make the call %s", kinds[k].name, call->name);
#ifdef __x86_64__
            assert_int_equal(answer(k, X32 | number, NULL), SECCOMP_RET_ERRNO | ENOSYS);
#endif
        }
        assert_true(refused(answer(k, -1, NULL)));
        for (const tki_call *call = tki_calls; call->name; call++)
            assert_true(call->number >= 0 && call->number < NUMBERS);
        assert_int_equal(
            evaluate(&kinds[k].filter, &(struct seccomp_data){.nr = __NR_read, .arch = ANOTHER_ARCHITECTURE}),
            SECCOMP_RET_KILL_PROCESS);
    }
}

/* A call, its arguments, and who may make it: a bit for each kind. */
enum {
    BIT_CPU = 1 << CPU,
    BIT_GPU = 1 << ON_GPU,
    BIT_COMPILER = 1 << COMPILER,
    BIT_OPEN = 1 << COMPILER_IN_THE_OPEN,
    BIT_SANITIZER = 1 << SANITIZER,
    KERNELS = BIT_CPU | BIT_GPU,
    PROGRAMS = BIT_COMPILER | BIT_OPEN | BIT_SANITIZER,
    DEVICES = BIT_GPU | BIT_SANITIZER,
    ALL = KERNELS | PROGRAMS
};

TEST(arguments)
{
    static const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    const struct {
        int number;
        unsigned allowed;
        uint64_t arguments[6];
    } list[] = {
        {__NR_kill, KERNELS | BIT_COMPILER | BIT_SANITIZER, {SELF, 9}},
        {__NR_kill, BIT_COMPILER | BIT_SANITIZER, {OTHER, 9}},
        {__NR_kill, BIT_COMPILER | BIT_SANITIZER, {(uint64_t)-1, 9}},
        {__NR_kill, BIT_COMPILER | BIT_SANITIZER, {0, 9}},
        {__NR_tgkill, KERNELS | BIT_COMPILER | BIT_SANITIZER, {SELF, SELF, 6}},
        {__NR_tgkill, BIT_COMPILER | BIT_SANITIZER, {OTHER, OTHER, 6}},
        {__NR_clone, ALL, {thread}},
        {__NR_clone, PROGRAMS, {CLONE_VM | CLONE_VFORK | 17}},
        {__NR_clone, 0, {thread | CLONE_NEWUSER}},
        {__NR_clone, 0, {CLONE_NEWNS}},
        {__NR_clone, 0, {CLONE_NEWPID | 17}},
        {__NR_mremap, 0, {4096, 0, 4096, 1}},
        {__NR_mremap, ALL, {4096, 4096, 8192, 1}},
        {__NR_mremap, ALL, {4096, (uint64_t)1 << 32, (uint64_t)1 << 33, 1}},
        {__NR_mremap, 0, {4096, UINT64_MAX, 4096, 1}}, /* 0, when it is rounded up */
        {__NR_mremap, 0, {4096, 4096, 4096, 1 | 4}},   /* MREMAP_DONTUNMAP */
        {__NR_mmap, ALL, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX}},
        {__NR_mmap, ALL, {0, 4096, 3, MAP_SHARED, 5}},
        {__NR_mmap, PROGRAMS | BIT_GPU, {0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, UINT64_MAX}},
        {__NR_mmap, PROGRAMS | BIT_GPU, {0, 4096, 3, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, UINT64_MAX}},
        {__NR_sched_setaffinity, ALL, {0}},
        {__NR_sched_setaffinity, KERNELS, {SELF}},
        {__NR_sched_setaffinity, 0, {OTHER}},
        {__NR_sched_getaffinity, 0, {OTHER}},
        {__NR_prlimit64, ALL, {0}},
        {__NR_prlimit64, 0, {OTHER}},
        {__NR_sched_setscheduler, 0, {0}},
        {__NR_sched_setattr, 0, {0}},
        {__NR_clock_gettime, ALL, {1}},
        {__NR_clock_gettime, 0, {(uint32_t)(~OTHER * 8 + 2)}},
        {__NR_openat, ALL, {0, 0, O_RDONLY | O_CLOEXEC, 0}},
        {__NR_openat, ALL, {0, 0, O_CREAT | O_WRONLY | O_TRUNC, 0666}},
        {__NR_openat, 0, {0, 0, O_CREAT | O_WRONLY, 04755}},
        {__NR_openat, 0, {0, 0, O_CREAT | O_WRONLY, 02755}},
        {__NR_openat, 0, {0, 0, O_RDONLY | O_TRUNC, 0}},
        {__NR_openat, 0, {0, 0, O_ACCMODE | O_TRUNC, 0}},
        {__NR_openat, ALL, {0, 0, O_RDWR | O_TRUNC, 0}},
        {__NR_fcntl, ALL, {3, F_GETFL}},
        {__NR_fcntl, ALL, {3, F_SETLKW}},
        {__NR_fcntl, 0, {3, F_SETOWN, OTHER}},
        {__NR_fcntl, 0, {3, F_SETOWN_EX, OTHER}},
        {__NR_fcntl, 0, {3, F_SETSIG, 9}},
        {__NR_fcntl, 0, {3, F_NOTIFY, 1}},
        {__NR_fcntl, 0, {3, F_SETLEASE, 1}},
        {__NR_ioctl, ALL, {1, TCGETS}},
        {__NR_ioctl, 0, {1, TIOCSTI}},
        {__NR_ioctl, 0, {1, TIOCLINUX}},
        {__NR_ioctl, 0, {1, FIOSETOWN}},
        {__NR_ioctl, 0, {1, FIOASYNC}},
        {__NR_ioctl, DEVICES, {1, 0xc020462a}}, /* NV_ESC_RM_ALLOC and its kin */
        {__NR_ioctl, DEVICES, {1, 0x30000001}}, /* UVM_INITIALIZE */
        {__NR_ioctl, DEVICES, {1, 0xc0104b01}}, /* kfd */
        {__NR_prctl, ALL, {PR_SET_NAME}},
        {__NR_prctl, 0, {PR_SET_MM}},
        {__NR_prctl, 0, {PR_SET_PTRACER}},
        {__NR_prctl, 0, {PR_SET_SECCOMP}},
        {__NR_prctl, 0, {PR_SET_DUMPABLE, 1}},
        {__NR_prctl, BIT_SANITIZER, {PR_CAPBSET_DROP}},
        {__NR_socket, DEVICES, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC}},
        {__NR_socket, DEVICES, {AF_UNIX, SOCK_STREAM}},
        {__NR_socket, 0, {AF_UNIX, SOCK_DGRAM}},
        {__NR_socket, 0, {AF_UNIX, SOCK_RAW}}, /* a datagram socket by another name */
        {__NR_socket, 0, {AF_INET, SOCK_STREAM}},
        {__NR_socket, 0, {AF_NETLINK, SOCK_RAW}},
        {__NR_socketpair, DEVICES, {AF_UNIX, SOCK_STREAM}},
        {__NR_socketpair, 0, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC}},
        {__NR_sendto, DEVICES | BIT_CPU, {3, 4096, 1, 0, 0, 0}},
        {__NR_sendto, 0, {3, 4096, 1, 0, 4096, 2}},
        {__NR_sendto, 0, {3, 4096, 1, 0, (uint64_t)1 << 32, 2}},
        {__NR_mknodat, BIT_SANITIZER, {0, 0, S_IFIFO | 0600}},
        {__NR_mknodat, 0, {0, 0, S_IFCHR | 0600}},
        {__NR_mknodat, 0, {0, 0, S_IFIFO | 04600}},
        {__NR_connect, BIT_SANITIZER, {3}},
        {__NR_execve, PROGRAMS, {0}},
        {__NR_memfd_create, DEVICES, {0}},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int k = 0; k < KINDS; k++) {
            uint32_t got = answer(k, list[i].number, list[i].arguments);
            bool allowed = list[i].allowed >> k & 1;
            if (allowed ? got != SECCOMP_RET_ALLOW : !refused(got))
                fail_msg("line %zu, call %d: %s gets 0x%x", i, list[i].number, kinds[k].name, got);
        }
}

/* What must never come in again, by name. */
TEST(never)
{
    static const int list[] = {__NR_ptrace,
                               __NR_process_vm_readv,
                               __NR_process_vm_writev,
                               __NR_fchmod,
                               __NR_fchmodat,
                               __NR_fchown,
                               __NR_fchownat,
                               __NR_utimensat,
                               __NR_setxattr,
                               __NR_fsetxattr,
                               __NR_removexattr,
                               __NR_truncate,
                               __NR_mount,
                               __NR_umount2,
                               __NR_pivot_root,
                               __NR_chroot,
                               __NR_unshare,
                               __NR_setns,
                               __NR_bpf,
                               __NR_perf_event_open,
                               __NR_inotify_init1,
                               __NR_fanotify_init,
                               __NR_userfaultfd,
                               __NR_keyctl,
                               __NR_shmget,
                               __NR_mq_open,
                               __NR_sendmmsg,
                               __NR_get_robust_list,
                               __NR_migrate_pages,
                               __NR_personality,
                               __NR_open_by_handle_at,
                               __NR_setuid,
                               425 /* io_uring_setup */,
                               434 /* pidfd_open */,
                               435 /* clone3 */,
                               447 /* memfd_secret */};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int k = 0; k < KINDS; k++)
            assert_true(refused(answer(k, list[i], NULL)));
}

/* ------------------------------------------------------------------------------------------------------------
 * The table for people
 * ------------------------------------------------------------------------------------------------------------ */

#ifdef __x86_64__ /* the page has this architecture's table; AArch64 has fewer calls */
static void print_phases(FILE *out, unsigned phases)
{
    static const char *const names[] = {"load", "run", "compile", "GPU", "sanitizer"};
    const char *between = "";
    if (phases == TKI_PHASE_ALL) {
        fputs("all", out);
        return;
    }
    for (int i = 0; i < 5; i++)
        if (phases >> i & 1) {
            fprintf(out, "%s%s", between, names[i]);
            between = ", ";
        }
}

/* A row for calls that follow each other and differ in nothing but their names. */
static char *expected_table(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    fputs("| call | phases | arguments | why |\n|---|---|---|---|\n", out);
    for (const tki_call *call = tki_calls, *next; call->name; call = next) {
        fprintf(out, "| `%s`", call->name);
        for (next = call + 1; next->name && next->phases == call->phases && next->check == call->check &&
                              !strcmp(next->why, call->why);
             next++)
            fprintf(out, " `%s`", next->name);
        fputs(" | ", out);
        print_phases(out, call->phases);
        fprintf(out, " | %s | %s |\n", tki_call_check_text(call->check), call->why);
    }
    fclose(out);
    return text;
}
#endif

TEST(documentation)
{
#ifdef __x86_64__
    char path[4096];
    snprintf(path, sizeof path, "%s/docs/worker.md", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : "..");
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    static char page[1 << 18];
    size_t bytes = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[bytes] = 0;
    char *table = expected_table();
    const char *found = strstr(page, table);
    if (!found) {
        fputs(table, stderr); /* longer than a message may be */
        fail_msg("docs/worker.md has not this table");
    }
    assert_int_equal(found[strlen(table)], '\n'); /* and it ends there */
    free(table);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number),
        cmocka_unit_test(arguments),
        cmocka_unit_test(never),
        cmocka_unit_test(documentation),
    };
    return cmocka_run_group_tests(tests, build_all, NULL);
}
