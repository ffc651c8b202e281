/* CHOOSES. seccomp, which says what the operating system can be asked for. What is not listed fails with an error and does not kill: libraries try
 * calls and do without them. */
#include "worker/sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "which architecture does seccomp call this?"
#endif

/* From here on numbers are the same on all architectures, and came later than some of the systems that this runs on: libraries know what
 * to do without them. */
enum { FIRST_OF_THE_NEW = 424 };

enum { KEEP_OLD_MAPPING = 4 }; /* MREMAP_DONTUNMAP, since Linux 5.7 */

/* ------------------------------------------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------------------------------------------ */

#define LOAD TKI_PHASE_LOAD
#define RUN TKI_PHASE_RUN
#define COMPILE TKI_PHASE_COMPILE
#define GPU TKI_PHASE_GPU
#define WATCH TKI_PHASE_WATCH
#define EVERYWHERE TKI_PHASE_ALL
#define CALL(name, phases, check, why) {#name, __NR_##name, (phases), TKI_CHECK_##check, why},

const tki_call tki_calls[] = {
#include "worker/sandbox_calls.def"
    {0}};

const char *tki_call_check_text(tki_call_check check)
{
    static const char *const texts[TKI_CALL_CHECKS] = {
        [TKI_CHECK_ANY] = "",
        [TKI_CHECK_SELF] = "0 or its own number",
        [TKI_CHECK_SIGNAL] = "kernels: its own number; others: only where signals do not leave the sandbox",
        [TKI_CHECK_CLONE] = "no namespaces; kernels: threads alone",
        [TKI_CHECK_MMAP] = "kernels on the CPU: shared memory of a file alone",
        [TKI_CHECK_MREMAP] = "an old size that does not come to 0; nothing stays where it was",
        [TKI_CHECK_CLOCK] = "no clock of another process",
        [TKI_CHECK_OPEN] = "no set-user-ID; to empty it needs writing",
        [TKI_CHECK_OPENAT] = "no set-user-ID; to empty it needs writing",
        [TKI_CHECK_CREATE] = "no set-user-ID",
        [TKI_CHECK_FIFO] = "FIFOs alone",
        [TKI_CHECK_FIFO_AT] = "FIFOs alone",
        [TKI_CHECK_FCNTL] = "descriptors, flags, locks, seals; no owner, lease, watch",
        [TKI_CHECK_IOCTL] = "terminal or not, bytes to read, flags; on a GPU also the codes of nvidia, uvm, kfd, drm",
        [TKI_CHECK_PRCTL] = "names, slack, huge pages, vector lengths; to end with the parent",
        [TKI_CHECK_SOCKET] = "Unix, no datagrams",
        [TKI_CHECK_SENDTO] = "no address",
    };
    return (unsigned)check < TKI_CALL_CHECKS ? texts[check] : "";
}

unsigned tki_sandbox_phases(const tki_sandbox *sandbox)
{
    if (sandbox->watches)
        return TKI_PHASE_ALL;
    if (sandbox->programs)
        return TKI_PHASE_COMPILE;
    return TKI_PHASE_LOAD | TKI_PHASE_RUN | (sandbox->gpu ? TKI_PHASE_GPU : 0);
}

/* ------------------------------------------------------------------------------------------------------------
 * The filter
 * ------------------------------------------------------------------------------------------------------------ */

static void emit(tki_filter *f, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t k)
{
    if (f->length < TKI_LONGEST_FILTER)
        f->code[f->length++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(tki_filter *f, size_t offset)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static size_t low_half(int argument) /* of a little-endian machine */
{
    return offsetof(struct seccomp_data, args) + (size_t)argument * sizeof(uint64_t);
}

static size_t high_half(int argument)
{
    return low_half(argument) + sizeof(uint32_t);
}

static void allow(tki_filter *f)
{
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

static void refuse(tki_filter *f, int error)
{
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void allow_if(tki_filter *f, uint32_t value)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    allow(f);
}

static void refuse_if(tki_filter *f, uint32_t value)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    refuse(f, EPERM);
}

static void refuse_if_any(tki_filter *f, uint32_t bits)
{
    emit(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    refuse(f, EPERM);
}

static void allow_list(tki_filter *f, const uint32_t list[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        allow_if(f, list[i]);
}

#define ALLOW_LIST(f, list) allow_list(f, list, sizeof(list) / sizeof *(list))

/* A file with the bits would be one that others start as this user; without O_CREAT libraries pass no mode. */
static void check_mode(tki_filter *f, int argument)
{
    load(f, low_half(argument));
    refuse_if_any(f, S_ISUID | S_ISGID);
}

static void check_open(tki_filter *f, int flags)
{
    check_mode(f, flags + 1);
    load(f, low_half(flags));
    emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, O_TRUNC | O_ACCMODE);
    refuse_if(f, O_TRUNC | O_RDONLY);
    refuse_if(f, O_TRUNC | O_ACCMODE); /* neither reads nor writes, and is for drivers */
    allow(f);
}

static void check_fifo(tki_filter *f, int mode)
{
    check_mode(f, mode);
    load(f, low_half(mode));
    emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, S_IFMT);
    allow_if(f, S_IFIFO);
}

/* Descriptors, status flags, locks, seals. */
static const uint32_t fcntl_commands[] = {F_DUPFD,     F_DUPFD_CLOEXEC, F_GETFD,      F_SETFD,     F_GETFL,
                                          F_SETFL,     F_GETLK,         F_SETLK,      F_SETLKW,    F_OFD_GETLK,
                                          F_OFD_SETLK, F_OFD_SETLKW,    F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS};

/* Is it a terminal, how wide is it, how much can be read, and what fcntl() does, too. 0x802c542a is TCGETS2. */
static const uint32_t ioctl_requests[] = {TCGETS, 0x802c542a, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};

/* The second byte of a request says whose it is: NVIDIA's driver, DRM, AMD's kfd; NVIDIA's uvm numbers its own from 0. */
static const uint32_t gpu_ioctl_kinds[] = {0, 'F', 'd', 'K'};

enum { SVE_SET_VL = 50, SVE_GET_VL = 51, SME_SET_VL = 63, SME_GET_VL = 64, SET_VMA = 0x53564d41 };

static const uint32_t prctl_options[] = {PR_SET_NAME,        PR_SET_TSC,        PR_GET_NAME,
                                         PR_SET_PDEATHSIG,   PR_GET_PDEATHSIG,  PR_GET_DUMPABLE,
                                         PR_SET_TIMERSLACK,  PR_GET_TIMERSLACK, PR_SET_THP_DISABLE,
                                         PR_GET_THP_DISABLE, PR_GET_SECCOMP,    PR_GET_NO_NEW_PRIVS,
                                         PR_CAPBSET_READ,    SVE_SET_VL,        SVE_GET_VL,
                                         SME_SET_VL,         SME_GET_VL,        SET_VMA};
/* The worker under compute-sanitizer shuts itself in. */
static const uint32_t confining_options[] = {PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_SET_NO_NEW_PRIVS};

static void check_clone(tki_filter *f, const tki_sandbox *sandbox)
{
    load(f, low_half(0));
    refuse_if_any(f, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                         CLONE_NEWCGROUP);
    if (!sandbox->programs) {
        emit(f, BPF_JMP | BPF_JSET | BPF_K, 1, 0, CLONE_THREAD);
        refuse(f, EPERM);
    }
    allow(f);
}

static void check_ioctl(tki_filter *f, unsigned phases)
{
    load(f, low_half(1));
    ALLOW_LIST(f, ioctl_requests);
    if (phases & TKI_PHASE_GPU) {
        emit(f, BPF_ALU | BPF_RSH | BPF_K, 0, 0, 8);
        emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xff);
        ALLOW_LIST(f, gpu_ioctl_kinds);
    }
}

/* Datagrams go to any socket of a path, without connect(); of the others none goes where it is not connected. */
static void check_socket(tki_filter *f)
{
    enum { TYPE_MASK = 0xf };
    load(f, low_half(0));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_UNIX);
    refuse(f, EPERM);
    load(f, low_half(1));
    emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, TYPE_MASK);
    allow_if(f, SOCK_STREAM);
    allow_if(f, SOCK_SEQPACKET);
}

static void require_zero(tki_filter *f, size_t half)
{
    load(f, half);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
    refuse(f, EPERM);
}

/* Of a call that is in this phase: allows what passes; what comes to the end is refused. */
static void check_arguments(tki_filter *f, const tki_sandbox *sandbox, tki_call_check check, uint32_t self)
{
    const unsigned phases = tki_sandbox_phases(sandbox);
    switch (check) {
    case TKI_CHECK_ANY: allow(f); return;
    case TKI_CHECK_SELF:
        load(f, low_half(0));
        allow_if(f, 0);
        if (!sandbox->programs)
            allow_if(f, self);
        break;
    case TKI_CHECK_SIGNAL:
        load(f, low_half(0));
        if (!sandbox->programs)
            allow_if(f, self);
        else if (sandbox->own_pids || sandbox->keeps_signals)
            allow(f);
        break;
    case TKI_CHECK_CLONE: check_clone(f, sandbox); break;
    case TKI_CHECK_MMAP:
        if (!(phases & (TKI_PHASE_COMPILE | TKI_PHASE_GPU))) {
            load(f, low_half(3));
            emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, MAP_SHARED | MAP_ANONYMOUS);
            refuse_if(f, MAP_SHARED | MAP_ANONYMOUS);
        }
        allow(f);
        break;
    case TKI_CHECK_MREMAP:
        load(f, high_half(1)); /* rounded up to whole pages, the largest sizes are 0 */
        refuse_if_any(f, 0x80000000);
        load(f, low_half(3));
        refuse_if_any(f, KEEP_OLD_MAPPING);
        load(f, low_half(1));
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
        allow(f);
        load(f, high_half(1));
        refuse_if(f, 0);
        allow(f);
        break;
    case TKI_CHECK_CLOCK:
        load(f, low_half(0));
        refuse_if_any(f, 0x80000000);
        allow(f);
        break;
    case TKI_CHECK_OPEN: check_open(f, 1); break;
    case TKI_CHECK_OPENAT: check_open(f, 2); break;
    case TKI_CHECK_CREATE:
        check_mode(f, 1);
        allow(f);
        break;
    case TKI_CHECK_FIFO: check_fifo(f, 1); break;
    case TKI_CHECK_FIFO_AT: check_fifo(f, 2); break;
    case TKI_CHECK_FCNTL:
        load(f, low_half(1));
        ALLOW_LIST(f, fcntl_commands);
        break;
    case TKI_CHECK_IOCTL: check_ioctl(f, phases); break;
    case TKI_CHECK_PRCTL:
        load(f, low_half(0));
        ALLOW_LIST(f, prctl_options);
        if (phases & TKI_PHASE_WATCH)
            ALLOW_LIST(f, confining_options);
        break;
    case TKI_CHECK_SOCKET: check_socket(f); break;
    case TKI_CHECK_SENDTO:
        require_zero(f, low_half(4));
        require_zero(f, high_half(4));
        allow(f);
        break;
    case TKI_CALL_CHECKS: break;
    }
    refuse(f, EPERM);
}

/* With the call's number loaded, before and behind. */
static void add_call(tki_filter *f, const tki_sandbox *sandbox, const tki_call *call, uint32_t self)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)call->number);
    unsigned short start = f->length;
    check_arguments(f, sandbox, call->check, self);
    f->code[start - 1].jf = (uint8_t)(f->length - start);
}

void tki_filter_build(tki_filter *f, const tki_sandbox *sandbox, uint32_t self)
{
    const unsigned phases = tki_sandbox_phases(sandbox);
    f->length = 0;
    load(f, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, THIS_ARCHITECTURE);
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    emit(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); /* the x32 interface has other numbers */
    refuse(f, ENOSYS);
#endif
    /* Those with arguments first: of the others the system remembers the answer. */
    for (int checked = 1; checked >= 0; checked--)
        for (const tki_call *call = tki_calls; call->name; call++)
            if (call->phases & phases && (call->check != TKI_CHECK_ANY) == checked)
                add_call(f, sandbox, call, self);
    emit(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, FIRST_OF_THE_NEW);
    refuse(f, ENOSYS);
    refuse(f, EPERM);
}

void tki_sandbox_restrict_calls(tki_sandbox *sandbox)
{
    if (sandbox->without & TKI_CONFINE_SECCOMP) {
        tki_sandbox_say(sandbox, TKI_BY_SECCOMP, TKI_LEFT_OUT, 0, 0);
        return;
    }
    static tki_filter f;
    tki_filter_build(&f, sandbox, (uint32_t)getpid());
    struct sock_fprog program = {.len = f.length, .filter = f.code};
    int error = f.length == TKI_LONGEST_FILTER ? E2BIG : 0;
    /* Of all threads: a library that was loaded with the program may have started some. */
    long failed = error ? 0 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    error = failed < 0 ? errno : failed > 0 /* a thread that could not be */ ? EBUSY : error;
    sandbox->filtered = !error;
    tki_sandbox_say(sandbox, TKI_BY_SECCOMP, error,
                    sandbox->watches    ? TKI_FOR_SANITIZER
                    : sandbox->programs ? TKI_FOR_COMPILERS
                                        : TKI_FOR_KERNELS,
                    0);
}
