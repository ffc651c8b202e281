/* Landlock, which says what files can be reached, and seccomp, which says what the kernel can be asked for. Whatever is refused fails
 * with an error and does not kill: libraries try calls and do without them. */
#include "executor/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------
 * Landlock. Its header came late to the distributions, so what is needed of it stands here.
 * ------------------------------------------------------------------------------------------------------------ */

enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD_RULE = 445, LANDLOCK_RESTRICT_SELF = 446 };
enum { LANDLOCK_VERSION_FLAG = 1, LANDLOCK_PATH_BENEATH = 1 };

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_TRUNCATE = 1 << 14,  /* version 3 */
    FS_IOCTL_DEV = 1 << 15, /* version 5 */
    FS_FIRST_VERSION = (1 << 13) - 1,
    FS_REFER = 1 << 13, /* version 2 */
    FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
    FS_LOOK = FS_READ_FILE | FS_READ_DIR | FS_EXECUTE,
    FS_DEVICE = FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV,
    NET_TCP = 3,   /* bind and connect; version 4 */
    SCOPE_BOTH = 3 /* abstract sockets and signals; version 6 */
};

typedef struct landlock_rules {
    uint64_t files, network, scoped; /* what is forbidden unless a rule allows it */
} landlock_rules;

typedef struct landlock_path {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed)) landlock_path;

/* Paths that do not exist need no rule. */
static void allow(int rules, const landlock_rules *handled, const char *path, uint64_t access)
{
    struct stat about;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return;
    access &= handled->files;
    if (fstat(file, &about) == 0 && !S_ISDIR(about.st_mode))
        access &= FS_OF_FILES;
    syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_PATH_BENEATH, &(landlock_path){access, file}, 0);
    close(file);
}

static void allow_list(int rules, const landlock_rules *handled, const char *const paths[], uint64_t access)
{
    for (int i = 0; paths && paths[i]; i++)
        allow(rules, handled, paths[i], access);
}

static void allow_pattern(int rules, const landlock_rules *handled, const char *pattern, uint64_t access)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            allow(rules, handled, found.gl_pathv[i], access);
    globfree(&found);
}

static const char *const system_paths[] = {"/usr",
                                           "/lib",
                                           "/lib32",
                                           "/lib64",
                                           "/opt",
                                           "/nix/store",
                                           "/gnu/store",
                                           "/etc/ld.so.cache",
                                           "/etc/ld.so.conf",
                                           "/etc/ld.so.conf.d",
                                           "/sys/devices/system",
                                           "/proc/self",
                                           "/proc/cpuinfo",
                                           "/proc/meminfo",
                                           "/proc/stat",
                                           "/proc/sys/vm/overcommit_memory",
                                           NULL};
static const char *const program_paths[] = {"/bin", "/sbin", "/etc/alternatives", NULL};
static const char *const device_paths[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", NULL};
static const char *const gpu_paths[] = {"/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/proc/version",
                                        "/sys/module",         "/sys/bus/pci",  "/sys/devices",  "/sys/class",
                                        "/proc/sys/vm",        "/etc/OpenCL",   "/etc/nvidia",   NULL};
static const char *const gpu_devices[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/*"};

static void add_rules(int rules, const landlock_rules *handled, const tki_sandbox *sandbox)
{
    allow_list(rules, handled, system_paths, FS_LOOK);
    allow_list(rules, handled, sandbox->readable, FS_LOOK);
    allow_list(rules, handled, device_paths, FS_DEVICE);
    if (sandbox->programs)
        allow_list(rules, handled, program_paths, FS_LOOK);
    /* What it starts reads its own maps and names its own threads, and /proc/self would be this process alone; and it looks for the
     * devices that it will be allowed. */
    if (sandbox->watches) {
        allow(rules, handled, "/proc", FS_LOOK | FS_WRITE_FILE | FS_TRUNCATE);
        allow(rules, handled, "/dev", FS_READ_DIR);
    }
    if (sandbox->gpu) {
        allow_list(rules, handled, gpu_paths, FS_LOOK);
        /* A driver that cannot name its threads does not start. */
        allow(rules, handled, "/proc/self/task", FS_LOOK | FS_WRITE_FILE | FS_TRUNCATE);
        for (size_t i = 0; i < sizeof gpu_devices / sizeof *gpu_devices; i++)
            allow_pattern(rules, handled, gpu_devices[i], FS_DEVICE);
    }
    allow(rules, handled, sandbox->scratch, handled->files & ~(uint64_t)FS_IOCTL_DEV);
}

void tki_sandbox_restrict_files(tki_sandbox *sandbox)
{
    if (sandbox->without & TKI_CONFINE_LANDLOCK) {
        tki_sandbox_say(sandbox, 0, "Landlock: left out");
        return;
    }
    long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION_FLAG);
    if (version < 1) {
        tki_sandbox_say(sandbox, errno, "Landlock");
        return;
    }
    landlock_rules handled = {.files = FS_FIRST_VERSION};
    handled.files |= version >= 2 ? FS_REFER : 0;
    handled.files |= version >= 3 ? FS_TRUNCATE : 0;
    handled.files |= version >= 5 ? FS_IOCTL_DEV : 0;
    handled.network = version >= 4 ? NET_TCP : 0;
    handled.scoped = version >= 6 ? SCOPE_BOTH : 0;
    size_t known = version >= 6 ? sizeof handled : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    int rules = (int)syscall(LANDLOCK_CREATE, &handled, known, 0);
    int error = rules < 0 ? errno : 0;
    if (!error) {
        add_rules(rules, &handled, sandbox);
        error = syscall(LANDLOCK_RESTRICT_SELF, rules, 0) ? errno : 0;
        close(rules);
    }
    tki_sandbox_say(sandbox, error, "Landlock, version %ld: files%s%s", version, handled.network ? ", TCP" : "",
                    handled.scoped ? ", signals, abstract sockets" : "");
}

/* ------------------------------------------------------------------------------------------------------------
 * System calls
 * ------------------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "which architecture does seccomp call this?"
#endif

/* Refused to kernels and compilers alike. */
static const int refused[] = {
    /* other processes */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, 438 /* pidfd_getfd */, SYS_setpriority,
    SYS_ioprio_set, 424 /* pidfd_send_signal */, 440 /* process_madvise */, 448 /* process_mrelease */,
    /* mounts and namespaces */
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, 428 /* open_tree */,
    429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_quotactl, SYS_swapon, SYS_swapoff,
    /* the machine and its clocks */
    SYS_clock_settime, SYS_clock_adjtime, SYS_settimeofday, SYS_adjtimex, SYS_reboot, SYS_kexec_load, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_sethostname, SYS_setdomainname, SYS_acct, SYS_syslog, SYS_vhangup,
    SYS_personality,
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    /* wide doors into the kernel */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, 425 /* io_uring_setup */, 426, 427, SYS_add_key, SYS_request_key,
    SYS_keyctl, SYS_fanotify_init,
    /* objects that outlive the process */
    SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open};

/* The CUDA driver binds a Unix socket without a file, which is seen in its own network namespace only. */
static const int refused_without_gpu[] = {SYS_bind, SYS_listen, SYS_accept, SYS_accept4};

/* A kernel has one process; a compiler starts others. */
static const int refused_to_kernels[] = {SYS_execve, SYS_execveat, SYS_tkill,
#ifdef SYS_fork
                                         SYS_fork, SYS_vfork
#endif
};

enum { LONGEST_FILTER = 400 };

typedef struct filter {
    struct sock_filter code[LONGEST_FILTER];
    unsigned short length;
} filter;

static void emit(filter *f, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t k)
{
    if (f->length < LONGEST_FILTER)
        f->code[f->length++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(filter *f, size_t offset)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void fail_with(filter *f, int error)
{
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (uint32_t)error);
}

/* With the call's number loaded. */
static void refuse(filter *f, int number, int error)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)number);
    fail_with(f, error);
}

static size_t low_half(int argument) /* of a little-endian machine */
{
    return offsetof(struct seccomp_data, args) + (size_t)argument * sizeof(uint64_t);
}

/* Allows the call if the low half of that argument, which is an int, has this value or `other`. The number is loaded before and after. */
static void require(filter *f, int number, int argument, uint32_t value, uint32_t other, int error)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)number);
    load(f, low_half(argument));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, value);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, other);
    fail_with(f, error);
    load(f, offsetof(struct seccomp_data, nr));
}

/* Refuses the call where its first argument has one of the bits or, with `missing`, has none of them. */
static void refuse_bits(filter *f, int number, uint32_t bits, bool missing)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)number);
    load(f, low_half(0));
    emit(f, BPF_JMP | BPF_JSET | BPF_K, missing ? 1 : 0, missing ? 0 : 1, bits);
    fail_with(f, EPERM);
    load(f, offsetof(struct seccomp_data, nr));
}

static void build_filter(filter *f, const tki_sandbox *sandbox)
{
    uint32_t self = (uint32_t)getpid();
    load(f, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, THIS_ARCHITECTURE);
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    emit(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); /* the x32 interface has other numbers */
    fail_with(f, ENOSYS);
#endif
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        refuse(f, refused[i], EPERM);
    if (!sandbox->watches)
        refuse(f, SYS_connect, ECONNREFUSED);
    if (sandbox->gpu)
        require(f, SYS_socket, 0, AF_UNIX, AF_UNIX, EACCES);
    else
        refuse(f, SYS_socket, EACCES);
    for (size_t i = 0; !sandbox->gpu && i < sizeof refused_without_gpu / sizeof *refused_without_gpu; i++)
        refuse(f, refused_without_gpu[i], EPERM);
    refuse(f, 435, ENOSYS); /* clone3, whose flags lie in memory; libc then takes clone */
    refuse_bits(f, SYS_clone,
                CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                    CLONE_NEWCGROUP,
                false);
    if (!sandbox->programs) {
        for (size_t i = 0; i < sizeof refused_to_kernels / sizeof *refused_to_kernels; i++)
            refuse(f, refused_to_kernels[i], EPERM);
        if (!sandbox->gpu)
            refuse(f, SYS_memfd_create, EPERM); /* no limit counts memory that is not mapped */
        refuse_bits(f, SYS_clone, CLONE_THREAD, true);
        require(f, SYS_kill, 0, self, self, EPERM);
        require(f, SYS_tgkill, 0, self, self, EPERM);
        require(f, SYS_rt_sigqueueinfo, 0, self, self, EPERM);
        require(f, SYS_rt_tgsigqueueinfo, 0, self, self, EPERM);
        require(f, SYS_prlimit64, 0, self, 0, EPERM);
        /* An old size of 0 would map shared memory a second time. */
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 6, SYS_mremap);
        load(f, low_half(1));
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
        load(f, low_half(1) + sizeof(uint32_t));
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        fail_with(f, EPERM);
        load(f, offsetof(struct seccomp_data, nr));
    }
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

void tki_sandbox_restrict_calls(tki_sandbox *sandbox)
{
    if (sandbox->without & TKI_CONFINE_SECCOMP) {
        tki_sandbox_say(sandbox, 0, "seccomp: left out");
        return;
    }
    filter f = {.length = 0};
    build_filter(&f, sandbox);
    struct sock_fprog program = {.len = f.length, .filter = f.code};
    int error = f.length == LONGEST_FILTER ? E2BIG : 0;
    /* Of all threads: a library that was loaded with the program may have started some. */
    long failed = error ? 0 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    error = failed < 0 ? errno : failed > 0 /* a thread that could not be */ ? EBUSY : error;
    tki_sandbox_say(sandbox, error, "seccomp: %s",
                    sandbox->watches    ? "for compute-sanitizer"
                    : sandbox->programs ? "for compilers"
                                        : "for kernels");
}
