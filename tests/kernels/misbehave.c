/* Kernels of gelu_fwd for the worker's tests: a library for each function below, made with BEHAVIOUR as its name. Each computes the right
 * result and then does what its name says, so that only that can be the reason for what the worker reports. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/dtype.h"
#include "executor/wire.h"
#include "tokitai_kernel.h"

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
    int pipes[2];
    if (pipe(pipes))
        return;
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
    memcpy(CMSG_DATA(rights), pipes, sizeof(int));
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
