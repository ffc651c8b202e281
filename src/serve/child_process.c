/* SHOWS. Starting, talking to and ending a child process without ever blocking past a deadline or raising a signal. */
#include "serve/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/spawn.h"
#include "serve/frames.h"

/* ------------------------------------------------------------------------------------------------------------
 * Starting and ending
 * ------------------------------------------------------------------------------------------------------------ */

static void close_pair(const int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* In a caller that has closed its standard streams, new descriptors would take their numbers and be overwritten in the child. */
static bool lift(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        int lifted = ends[i] > STDERR_FILENO ? ends[i] : fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (lifted < 0)
            return false;
        if (lifted != ends[i])
            close(ends[i]);
        ends[i] = lifted;
    }
    return true;
}

static int spawn(pid_t *process, char *const argv[], int standard, int errors)
{
    tki_spawn fresh;
    int error = tki_spawn_begin(&fresh);
    if (error)
        return error;
    if (!(error = posix_spawn_file_actions_adddup2(&fresh.actions, standard, STDIN_FILENO)) &&
        !(error = posix_spawn_file_actions_adddup2(&fresh.actions, standard, STDOUT_FILENO)) &&
        !(error = posix_spawn_file_actions_adddup2(&fresh.actions, errors, STDERR_FILENO)) &&
        !(error = posix_spawn_file_actions_addclosefrom_np(&fresh.actions, STDERR_FILENO + 1)))
        error = posix_spawnp(process, argv[0], &fresh.actions, &fresh.attributes, argv, environ);
    tki_spawn_end(&fresh);
    return error;
}

int tki_peer_start(tki_peer *peer, char *const argv[])
{
    int standard[2] = {-1, -1}, errors[2] = {-1, -1};
    pid_t process = 0;
    int error = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, standard) != 0 || pipe2(errors, O_CLOEXEC) != 0 ||
        !lift(standard) || !lift(errors) || fcntl(errors[0], F_SETFL, O_NONBLOCK) != 0)
        error = errno;
    if (!error)
        error = spawn(&process, argv, standard[1], errors[1]);
    if (error) {
        close_pair(standard);
        close_pair(errors);
        return error;
    }
    close(standard[1]);
    close(errors[1]);
    peer->process = process;
    peer->socket = standard[0];
    peer->errors = errors[0];
    peer->starts++;
    return 0;
}

/* Keeps the end of it. */
static void keep_errors(tki_peer *peer, const char *text, size_t length)
{
    size_t room = TKI_PEER_ERRORS - peer->log_length;
    if (length > room) {
        size_t drop = length - room;
        memmove(peer->log, peer->log + drop, peer->log_length - drop);
        peer->log_length -= drop;
    }
    memcpy(peer->log + peer->log_length, text, length);
    peer->log_length += length;
    peer->log[peer->log_length] = '\0';
}

/* What is there now, and no more than a pipe holds: a child that never stops writing must not keep us from our deadline. */
static void drain_errors(tki_peer *peer)
{
    char text[4096];
    for (int i = 0; peer->errors >= 0 && i < 16; i++) {
        ssize_t got = read(peer->errors, text, sizeof text);
        if (got > 0) {
            keep_errors(peer, text, (size_t)got);
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            close(peer->errors);
            peer->errors = -1;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

/* A zombie keeps its number until it is reaped, so nobody else can be hit. Where the caller ignores SIGCHLD, the system reaps. */
static bool reap(tki_peer *peer, int options)
{
    int status;
    pid_t got;
    do
        got = waitpid(peer->process, &status, options);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    peer->wait_status = got > 0 ? status : -1;
    return true;
}

void tki_peer_end(tki_peer *peer, double seconds)
{
    if (!peer->process)
        return;
    double deadline = tki_now() + seconds;
    siginfo_t info = {0};
    shutdown(peer->socket, SHUT_RDWR);
    close(peer->socket);
    /* Looked at, not reaped: its group is killed first, while its number is still taken. */
    while (waitid(P_PID, (id_t)peer->process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0 &&
           tki_now() < deadline) {
        drain_errors(peer);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(-peer->process, SIGKILL);
    kill(peer->process, SIGKILL); /* it may have joined another group */
    reap(peer, 0);
    drain_errors(peer);
    if (peer->errors >= 0)
        close(peer->errors);
    peer->errors = -1;
    peer->process = 0;
}

bool tki_peer_is_quiet(tki_peer *peer)
{
    char byte;
    drain_errors(peer);
    ssize_t got = recv(peer->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EINTR);
}

/* ------------------------------------------------------------------------------------------------------------
 * Exchanging
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct sending {
    struct iovec *parts;
    int count;
    int file;
} sending;

/* As much as the socket takes. A child that no longer listens may still have something to say. */
static void send_some(tki_peer *peer, sending *s)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = s->parts, .msg_iovlen = (size_t)s->count};
    if (s->file >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(part), &s->file, sizeof s->file);
    }
    ssize_t sent = sendmsg(peer->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR)
            s->count = 0;
        return;
    }
    s->file = -1;
    while (s->count > 0 && (size_t)sent >= s->parts->iov_len) {
        sent -= (ssize_t)s->parts->iov_len;
        s->parts++;
        s->count--;
    }
    if (s->count > 0) {
        s->parts->iov_base = (char *)s->parts->iov_base + sent;
        s->parts->iov_len -= (size_t)sent;
    }
}

typedef struct receiving {
    unsigned char head[TKI_FRAME_LENGTH_BYTES];
    size_t got; /* head included */
    size_t length;
    size_t most;
    tki_block *reply;
} receiving;

/* True when it is over, one way or the other. */
static bool receive_some(tki_peer *peer, receiving *r, tki_exchange *outcome)
{
    bool in_head = r->got < sizeof r->head;
    char *to = in_head ? (char *)r->head + r->got : (char *)r->reply->data + (r->got - sizeof r->head);
    size_t missing = (in_head ? sizeof r->head : sizeof r->head + r->length) - r->got;
    ssize_t got = recv(peer->socket, to, missing, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        *outcome = TKI_EXCHANGE_ENDED;
        return true;
    }
    r->got += (size_t)got;
    if (in_head && r->got == sizeof r->head) {
        r->length = tki_frame_length(r->head);
        if (r->length > r->most) {
            *outcome = TKI_EXCHANGE_TOO_LONG;
            return true;
        }
        if (!tki_block_reserve(r->reply, r->length + 1)) {
            *outcome = TKI_EXCHANGE_NO_MEMORY;
            return true;
        }
    }
    *outcome = TKI_EXCHANGE_DONE;
    return r->got >= sizeof r->head && r->got == sizeof r->head + r->length;
}

tki_exchange tki_peer_exchange(tki_peer *peer, struct iovec *parts, int count, int file, double deadline, size_t most,
                               tki_block *reply, size_t *reply_bytes)
{
    sending s = {parts, count, file};
    receiving r = {.most = most, .reply = reply};
    tki_exchange outcome = TKI_EXCHANGE_LATE;
    for (;;) {
        double left = deadline - tki_now();
        if (left <= 0)
            return TKI_EXCHANGE_LATE;
        struct pollfd waiting[] = {
            {.fd = peer->socket, .events = (short)(POLLIN | (s.count > 0 ? POLLOUT : 0))},
            {.fd = peer->errors, .events = POLLIN},
        };
        if (poll(waiting, 2, (int)fmin(ceil(left * 1e3), 60e3)) < 0 && errno != EINTR)
            return TKI_EXCHANGE_ENDED;
        if (waiting[1].revents)
            drain_errors(peer);
        if (s.count > 0 && waiting[0].revents & (POLLOUT | POLLERR | POLLHUP))
            send_some(peer, &s);
        if (waiting[0].revents & (POLLIN | POLLERR | POLLHUP) && receive_some(peer, &r, &outcome))
            break;
    }
    *reply_bytes = r.length;
    return outcome;
}
