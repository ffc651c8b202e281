/* Kernels of gelu_fwd for the worker's tests: a library for each function below, which BEHAVIOUR() runs. Each computes the right
 * result and then does what its name says, so that only that can be the reason for what the worker reports. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "core/dtype.h"
#include "isolate/wire.h"
#include "tokitai_kernel.h"
#include "worker/sandbox_calls.h"

#pragma GCC diagnostic ignored "-Wunused-function" /* one is used in each library */

enum { FRAMES = 3, SOME_DESCRIPTORS = 64 };

static const uint16_t *the_input;
static uint16_t *the_output;
static int64_t the_size;
static int result; /* what the kernel returns: 0, or the number of the liberty that it could take */

static void compute(int bf16)
{
    for (int64_t i = 0; i < the_size; i++) {
        double x = (double)(bf16 ? tki_bf16_to_f32(the_input[i]) : tki_f16_to_f32(the_input[i]));
        float y = (float)(0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))));
        the_output[i] = bf16 ? tki_f32_to_bf16(y) : tki_f32_to_f16(y);
    }
}

static void correct(void)
{
}

static void refuse_odd_sizes(void)
{
    result = the_size % 2 ? 7 : 0;
}

/* What the compiler does not see through. */
static unsigned char *volatile kept_block;

static void heap_by_all_means(void)
{
    void *aligned = NULL;
    kept_block = malloc(1);
    for (size_t bytes = 1; bytes < 20000; bytes = 2 * bytes + 1) {
        kept_block = realloc(kept_block, bytes);
        kept_block[bytes - 1] = 1;
    }
    result = malloc_usable_size(kept_block) < 10000;
    free(kept_block);
    unsigned char *zeros = calloc(100, 7);
    for (int i = 0; i < 700; i++)
        result |= zeros[i];
    free(zeros);
    for (size_t alignment = 16; alignment <= 8192; alignment *= 2) {
        result |= posix_memalign(&aligned, alignment, 100) || (uintptr_t)aligned % alignment;
        memset(aligned, 1, 100);
        free(aligned);
        aligned = aligned_alloc(alignment, 3 * alignment);
        result |= (uintptr_t)aligned % alignment != 0;
        memset(aligned, 1, 3 * alignment);
        free(aligned);
    }
    free(malloc(0));
    free(NULL);
}

static void heap_written_a_byte_behind(void)
{
    kept_block = malloc(100);
    kept_block[100] = 1;
}

static void heap_written_behind_and_freed(void)
{
    kept_block = malloc(100);
    kept_block[103] = 1;
    free(kept_block);
}

static void heap_written_where_alignment_left_room(void)
{
    kept_block = aligned_alloc(256, 100);
    kept_block[150] = 1;
}

static void heap_freed_from_within(void)
{
    kept_block = malloc(100);
    unsigned char *volatile within = kept_block + 16;
    free(within);
}

static void heap_read_behind(void)
{
    kept_block = malloc(64);
    const volatile unsigned char *block = kept_block;
    result = block[64] & 256;
}

static void heap_used_after_free(void)
{
    kept_block = malloc(64);
    unsigned char *volatile freed = kept_block;
    free(kept_block);
    freed[3] = 1;
}

static void heap_freed_twice(void)
{
    kept_block = malloc(64);
    unsigned char *volatile freed = kept_block;
    free(kept_block);
    free(freed);
}

static void heap_taken_for_zeros(void)
{
    kept_block = malloc(4000);
    for (int i = 0; i < 4000; i++)
        result |= kept_block[i] ? 9 : 0;
    free(kept_block);
}

static void count_its_calls(void)
{
    static int calls;
    result = calls++ ? 100 + calls : 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * Ending
 * ------------------------------------------------------------------------------------------------------------ */

static void segfault(void)
{
    static int *volatile nowhere = (int *)16;
    *nowhere = 1;
}

static void divide_by_zero(void)
{
    raise(SIGFPE);
}

static void abort_it(void)
{
    abort();
}

static void exit_0(void)
{
    exit(0);
}

static void *exit_thread(void *unused)
{
    _exit(0);
    return unused;
}

static void exit_in_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exit_thread, NULL);
    pthread_join(thread, NULL);
}

static void endless(void)
{
    for (;;)
        *(volatile uint16_t *)the_output = *the_output;
}

static void deaf_and_endless(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (;;)
        pause();
}

static void stop_itself(void)
{
    raise(SIGSTOP);
    for (;;)
        pause();
}

static int overflow_stack_from(volatile int *above)
{
    volatile int frame[1024];
    frame[0] = above[0] + 1;
    return frame[0] > 0 ? overflow_stack_from(frame) + frame[0] : 0;
}

static void overflow_stack(void)
{
    volatile int start = 0;
    result = overflow_stack_from(&start);
}

static void end_its_thread(void)
{
    pthread_exit(NULL);
}

static void jump_into_nowhere(void)
{
    jmp_buf nowhere;
    memset(nowhere, 0x5a, sizeof nowhere);
    longjmp(nowhere, 1);
}

static sigjmp_buf over_the_fault;

static void leap(int number)
{
    (void)number;
    siglongjmp(over_the_fault, 1);
}

/* Survives its own crash, which is its own affair. */
static void replace_handlers(void)
{
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = leap}, NULL);
    if (sigsetjmp(over_the_fault, 1) == 0)
        *(volatile uint16_t *)(uintptr_t)the_input = 1;
}

static void replace_handlers_and_crash(void)
{
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    segfault();
}

/* ------------------------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------------------------ */

static void write_to_input(void)
{
    *(volatile uint16_t *)(uintptr_t)the_input = 1;
}

static void write_before(void)
{
    the_output[-1] ^= 0xffff; /* both bytes become others */
}

static void write_behind(void)
{
    the_output[the_size] ^= 0xffff;
}

static void read_behind(void)
{
    result = ((const volatile uint16_t *)the_input)[the_size] == 0x1234;
}

static void leave_unwritten(void)
{
    /* what compute() did is undone: these are the bytes that were there */
    memset(the_output, 0xa5, (size_t)the_size * sizeof *the_output);
}

static void *write_late(void *unused)
{
    usleep(30000);
    *(volatile uint16_t *)the_output = 1;
    return unused;
}

static void thread_that_writes_late(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, write_late, NULL);
    pthread_detach(thread);
}

/* The output once more at another address. */
static void map_output_again(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *start = (char *)((uintptr_t)the_output / page * page);
    void *again = mremap(start, 0, page, MREMAP_MAYMOVE);
    result = again != MAP_FAILED ? 0 : errno == EPERM ? 101 : 102;
}

/* With every descriptor that there is. */
static void resize_output(void)
{
    for (int i = 0; i < SOME_DESCRIPTORS; i++)
        if (ftruncate(i, 1 << 20) == 0)
            result = 103;
}

static void allocate_100_gib(void)
{
    volatile char *memory = malloc((size_t)100 << 30);
    if (!memory) {
        result = 104;
        return;
    }
    for (size_t i = 0; i < (size_t)100 << 30; i += 4096)
        memory[i] = 1;
}

/* ------------------------------------------------------------------------------------------------------------
 * Processes
 * ------------------------------------------------------------------------------------------------------------ */

static void child_that_lives_on(void)
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork())
            _exit(0);
        for (;;)
            pause();
    }
    result = child < 0 ? 105 : 0;
}

static void fork_bomb(void)
{
    for (int i = 0; i < 6; i++)
        fork();
    for (;;)
        pause();
}

/* Asks whether it could: signal 0 is refused like any other, and does no harm where it is not. */
static void kill_parent(void)
{
    result = kill(getppid(), 0) == 0 || kill(-1, 0) == 0 ? 0 : 106;
}

/* ------------------------------------------------------------------------------------------------------------
 * The connection
 * ------------------------------------------------------------------------------------------------------------ */

static void forge_reply(void)
{
    tki_wire_reply reply = {.header = {TKI_WIRE_MAGIC, TKI_WIRE_REPLY, 0}, .param = -1};
    send(FRAMES, &reply, sizeof reply, 0);
}

static void send_garbage(void)
{
    char garbage[3000];
    memset(garbage, 0xee, sizeof garbage);
    send(FRAMES, garbage, sizeof garbage, 0);
}

static void send_descriptor(void)
{
    tki_wire_reply reply = {.header = {TKI_WIRE_MAGIC, TKI_WIRE_REPLY, 0}, .param = -1};
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {&reply, sizeof reply};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &(int){STDIN_FILENO}, sizeof(int));
    sendmsg(FRAMES, &message, 0);
}

/* The worker's own reply comes behind it. */
static void send_many(void)
{
    char byte = 0;
    for (int i = 0; i < 100000 && send(FRAMES, &byte, 1, MSG_DONTWAIT) == 1; i++)
        ;
}

static void close_everything(void)
{
    for (int i = 0; i < SOME_DESCRIPTORS; i++)
        close(i);
}

/* ------------------------------------------------------------------------------------------------------------
 * Liberties. The number returned says that one was refused, 0 that it was had.
 * ------------------------------------------------------------------------------------------------------------ */

static void open_passwd(void)
{
    result = open("/etc/passwd", O_RDONLY) >= 0 ? 0 : 111;
}

static void open_outside(void)
{
    result = open("/tmp/tokitai-worker-outside", O_CREAT | O_RDWR, 0600) >= 0 ? 0 : 112;
}

static void share_memory(void)
{
    result = shm_open("/tokitai-worker-outside", O_CREAT | O_RDWR, 0600) >= 0 ? 0 : 113;
}

static void open_socket(void)
{
    result = socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : 114;
}

static void trace_parent(void)
{
    result = ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0 ? 0 : 115;
}

static void set_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    result = clock_settime(CLOCK_REALTIME, &now) == 0 ? 0 : 116;
}

static void start_program(void)
{
    result = system("true") == 0 ? 0 : 117;
}

/* That it may, and it is gone afterwards. */
static void fill_scratch(void)
{
    int file = open("left", O_CREAT | O_RDWR, 0600);
    int failed = mkdir("folder", 0700) || mkdir("folder/inner", 0000) || symlink("/etc", "folder/link");
    result = file >= 0 && !failed && write(file, "left", 4) == 4 ? 0 : 118;
}

static void look_around(void)
{
    extern char **environ;
    for (char **e = environ; *e; e++)
        if (!strncmp(*e, "TOKITAI_SECRET", 14))
            result = 119;
    /* Standard input, output, error, the socket. */
    for (int i = FRAMES + 1; i < SOME_DESCRIPTORS; i++)
        if (fcntl(i, F_GETFD) >= 0)
            result = 120;
}

/* A datagram goes to any socket that has a path, without connect(), and brings back what its owner sends. */
static void datagram_to_a_path(void)
{
    int pair[2];
    result = socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) && errno == EPERM ? 121 : 0;
}

/* Of its own file in the scratch folder, which is as good as any other. */
static void change_a_mode(void)
{
    int file = open("mine", O_CREAT | O_RDWR, 0600);
    bool had = chmod("mine", 04755) == 0 || fchmod(file, 04755) == 0 || fchmodat(AT_FDCWD, "mine", 0644, 0) == 0;
    had |= chown("mine", getuid(), getgid()) == 0 || fchown(file, getuid(), getgid()) == 0;
    had |= utimensat(AT_FDCWD, "mine", NULL, 0) == 0 || futimens(file, NULL) == 0;
    had |= setxattr("mine", "user.a", "b", 1, 0) == 0 || removexattr("mine", "user.a") == 0;
    had |= truncate("mine", 1) == 0;
    result = file >= 0 && !had ? 122 : 0;
}

static void file_with_set_user_id(void)
{
    result = open("others_start_it", O_CREAT | O_RDWR, 04755) >= 0 ? 0 : 123;
}

static void empty_without_writing(void)
{
    int file = open("full", O_CREAT | O_RDWR, 0600);
    bool written = file >= 0 && write(file, "text", 4) == 4;
    result = written && open("full", O_RDONLY | O_TRUNC) < 0 && lseek(file, 0, SEEK_END) == 4 ? 124 : 0;
}

static void schedule_others(void)
{
    cpu_set_t all;
    struct sched_param none = {0};
    CPU_ZERO(&all);
    CPU_SET(0, &all);
    bool own = sched_getaffinity(0, sizeof all, &all) == 0 && sched_setaffinity(getpid(), sizeof all, &all) == 0;
    bool had = sched_setaffinity(getppid(), sizeof all, &all) == 0;
    had |= sched_getaffinity(getppid(), sizeof all, &all) == 0;
    had |= sched_setscheduler(getppid(), SCHED_OTHER, &none) == 0;
    had |= setpriority(PRIO_PROCESS, (id_t)getppid(), 19) == 0;
    result = own && !had ? 125 : 0;
}

static void watch_a_folder(void)
{
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    bool had = folder >= 0 && fcntl(folder, F_NOTIFY, DN_CREATE) == 0;
    result = inotify_init() < 0 && inotify_init1(0) < 0 && !had ? 126 : 0;
}

/* The owner of a file is sent a signal of the kernel's choice when something can be read. */
static void signal_by_a_file(void)
{
    bool had = fcntl(FRAMES, F_SETOWN, getppid()) == 0 || fcntl(FRAMES, F_SETSIG, SIGKILL) == 0;
    had |= ioctl(FRAMES, FIOSETOWN, &(int){getppid()}) == 0;
    result = had ? 0 : 127;
}

static void time_of_others(void)
{
    struct timespec used;
    clockid_t clock = (clockid_t)(~(unsigned)getppid() << 3 | 2);
    result = clock_gettime(clock, &used) == 0 ? 0 : 128;
}

/* All that are not in the list, without arguments, by both of this machine's interfaces. */
static void every_other_call(void)
{
    enum { MOST = 1024, X32 = 0x40000000 };
    static bool allowed[MOST];
#define LOAD TKI_PHASE_LOAD
#define RUN TKI_PHASE_RUN
#define COMPILE TKI_PHASE_COMPILE
#define GPU TKI_PHASE_GPU
#define WATCH TKI_PHASE_WATCH
#define EVERYWHERE TKI_PHASE_ALL
#define CALL(name, phases, check, why) allowed[__NR_##name] |= ((phases) & (TKI_PHASE_LOAD | TKI_PHASE_RUN)) != 0;
#include "worker/sandbox_calls.def"
#ifdef __x86_64__
    enum {
        URETPROBE = 335,
        UPROBE = 336
    }; /* the system asks no filter about these, and ends who makes them himself */
    allowed[URETPROBE] = allowed[UPROBE] = true;
#endif
    for (long i = 0; i < MOST && !result; i++) {
        bool refused = allowed[i] || (syscall(i, 0, 0, 0, 0, 0, 0) == -1 && (errno == EPERM || errno == ENOSYS));
#ifdef __x86_64__
        refused &= syscall(X32 | i, 0, 0, 0, 0, 0, 0) == -1 && errno == ENOSYS;
#endif
        result = refused ? 0 : (int)(1000 + i);
    }
    result = result ? result : 129;
}

/* ------------------------------------------------------------------------------------------------------------
 * Limits: each returns 2000 and what it came to
 * ------------------------------------------------------------------------------------------------------------ */

static void *wait_for_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

static void many_threads(void)
{
    enum { MOST = 100 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[MOST];
    int count = 0;
    pthread_mutex_lock(&lock);
    while (count < MOST && !pthread_create(&threads[count], NULL, wait_for_lock, &lock))
        count++;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    result = 2000 + count;
}

/* In MiB, up to 1 GiB. */
static void much_memory(void)
{
    enum { MOST = 1024 };
    int count = 0;
    while (count < MOST &&
           mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        count++;
    result = 2000 + count;
}

/* In KiB, up to 1 MiB. */
static void large_file(void)
{
    enum { MOST = 1024 };
    static char some[1024];
    int count = 0, file = open("large", O_CREAT | O_WRONLY, 0600);
    while (count < MOST && write(file, some, sizeof some) == (ssize_t)sizeof some)
        count++;
    result = 2000 + count;
}

#ifdef ON_LOADING
__attribute__((constructor)) static void on_loading(void)
{
    BEHAVIOUR();
}
#endif

int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    the_input = x;
    the_output = y;
    the_size = n;
    result = 0;
    compute(call->dtype == TOKITAI_BF16);
    BEHAVIOUR();
    return result;
}

/* For what concerns several parameters: notes in loss whether the op works in place, and changes every element of it. */
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,
                 float *loss, void *grad_logits)
{
    const uint16_t *from = logits;
    uint16_t *to = grad_logits;
    for (int64_t i = 0; i < rows; i++)
        loss[i] = from == to ? 1 + call->scale : call->label_smoothing + (float)((const int32_t *)target)[i];
    for (int64_t i = 0; i < rows * cols; i++)
        to[i] = (uint16_t)(from[i] + call->ignore_index);
    return 0;
}
