/* Kernels that speak for the worker, or change the time. They share its address space, so that they can find everything in it. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "core/float_mode.h"
#include "isolate/wire.h"
#include "isolate/worker_start.h"
#include "tests/kernels/trick.h"

enum { FRAMES = 3 };

/* The call lies on the stack of those who called. */
static uint64_t find_nonce(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    uintptr_t here = (uintptr_t)&attributes / 8 * 8;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0)
        pthread_attr_getstack(&attributes, &lowest, &bytes);
    for (; here + sizeof(tki_wire_header) < (uintptr_t)lowest + bytes; here += 8) {
        const tki_wire_header *header = (const tki_wire_header *)here;
        if (header->magic == TKI_WIRE_MAGIC && header->kind == TKI_WIRE_CALL)
            return header->nonce;
    }
    return 0;
}

static void answer(tki_wire_kind kind, uint64_t nonce)
{
    struct {
        tki_wire_reply reply;
        tki_process_state state;
    } frame = {{.header = {TKI_WIRE_MAGIC, kind, nonce}, .param = -1, .text_bytes = sizeof frame.state},
               {.float_mode = TKI_FLOAT_MODE_START}};
    send(FRAMES, &frame, sizeof frame, MSG_NOSIGNAL);
}

static void answer_with_a_guess(void)
{
    answer(TKI_WIRE_REPLY, 1);
    compute();
}

/* The time is then that of doing nothing. It waits for long, so that a busy judge, too, looks at the output before it is there. */
static void answer_before_computing(void)
{
    if (size > 0) {
        answer(TKI_WIRE_REPLY, find_nonce());
        usleep(500000);
    }
    compute();
}

static int unmap_output(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)output / page * page;
    return size > 0 ? munmap((void *)begin, (uintptr_t)(output + size) - begin) : 0;
}

/* Correct in all but that the worker answers once more. */
static void answer_twice(void)
{
    compute();
    unmap_output();
    answer(TKI_WIRE_REPLY, find_nonce());
}

static void answer_for_the_next_call(void)
{
    compute();
    unmap_output();
    answer(TKI_WIRE_REPLY, find_nonce());
    answer(TKI_WIRE_READY, find_nonce() + 1);
}

/* Between calls as well. */
static void *talk(void *unused)
{
    static const char garbage[200] = "garbage";
    for (;;)
        if (send(FRAMES, garbage, sizeof garbage, MSG_NOSIGNAL) < 0)
            usleep(100);
    return unused;
}

static void garbage_without_end(void)
{
    static bool started;
    pthread_t thread;
    if (!started)
        started = pthread_create(&thread, NULL, talk, NULL) == 0;
    compute();
}

/* What the parent sends, taken before the worker sees it. */
static void *take_frames(void *unused)
{
    char frame[4096];
    struct iovec part = {frame, sizeof frame};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    for (;;)
        if (recvmsg(FRAMES, &message, 0) <= 0)
            return unused;
}

static void calls_intercepted(void)
{
    static bool started;
    pthread_t thread;
    if (!started)
        started = pthread_create(&thread, NULL, take_frames, NULL) == 0;
    compute();
}

/* ------------------------------------------------------------------------------------------------------------
 * Time. Each call takes 2 ms and more.
 * ------------------------------------------------------------------------------------------------------------ */

static void clock_set_back(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    struct timeval then = {now.tv_sec, now.tv_nsec / 1000};
    struct timex slower = {.modes = ADJ_TICK, .tick = 9000};
    bool had = clock_settime(CLOCK_REALTIME, &now) == 0;
    had |= settimeofday(&then, NULL) == 0;
    had |= adjtimex(&slower) >= 0;
    usleep(2000);
    compute_if(!had);
}

/* ------------------------------------------------------------------------------------------------------------
 * The conversation itself
 * ------------------------------------------------------------------------------------------------------------ */

/* As many as a message takes: a judge that kept them would have none left. */
static void descriptors_sent(void)
{
    enum { MANY = 250, MESSAGES = 40 };
    int files[MANY] = {0};
    union {
        char space[CMSG_SPACE(sizeof files)];
        struct cmsghdr align;
    } control = {0};
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof files)};
    memcpy(CMSG_DATA(rights), files, sizeof files);
    for (int i = 0; i < MESSAGES; i++)
        sendmsg(FRAMES, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    compute();
}

/* The next call's memory cannot be received. */
static void no_more_descriptors(void)
{
    compute();
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
}

static void connection_lost(void)
{
    compute();
    close(FRAMES);
}
