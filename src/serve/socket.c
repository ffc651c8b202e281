/* SHOWS. Connections to a Unix socket, a thread and a context each, so that a client that is slow or broken keeps nobody waiting. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "serve/server.h"

enum { CONNECTIONS = 16 }; /* at a time; more wait until one ends or has waited too long for its client */

/* Seconds that a client may be silent between two frames, and over one, when its place is wanted. */
static const double patience_between = 1, patience_inside = 10;

typedef struct connection {
    const tki_serve_listener *listener;
    const tk_ctx *parent; /* whose listener hears the notes */
    pthread_t thread;
    bool started;
    bool ended; /* by us, for the sake of another */
    atomic_bool done;
    tki_serve_watch watch;
    int socket;
    int wake; /* an eventfd: some connection is done */
} connection;

static void *serve_connection(void *argument)
{
    connection *c = argument;
    const tki_serve_listener *listener = c->listener;
    tk_ctx *ctx = NULL;
    tki_service *service = NULL;
    /* The client has been told what went wrong, or is gone. */
    if (tk_ctx_create(&ctx) == TK_OK &&
        tk_ctx_set_note_listener(ctx, c->parent->note_listener, c->parent->note_data) == TK_OK &&
        tki_service_open(ctx, listener->program, listener->device, listener->limit, &service) == TK_OK)
        (void)!tki_serve_frames(service, c->socket, c->socket, listener->binary, false, &c->watch);
    tki_service_close(service);
    tk_ctx_destroy(ctx);
    shutdown(c->socket, SHUT_RDWR);
    atomic_store(&c->done, true);
    eventfd_write(c->wake, 1);
    return NULL;
}

static void finish(connection *c)
{
    pthread_join(c->thread, NULL);
    close(c->socket);
    c->started = false;
}

static void start(connection *c, const tk_ctx *parent, const tki_serve_listener *listener, int socket, int wake)
{
    c->listener = listener;
    c->parent = parent;
    c->socket = socket;
    c->wake = wake;
    c->ended = false;
    atomic_init(&c->done, false);
    atomic_init(&c->watch.since, 0);
    atomic_init(&c->watch.inside, false);
    c->started = pthread_create(&c->thread, NULL, serve_connection, c) == 0;
    if (!c->started)
        close(socket);
}

/* Ends the connection whose client has kept it waiting for too long, if there is one. In how many milliseconds to look again; -1: when a
 * connection is done. */
static int make_place(connection connections[CONNECTIONS])
{
    connection *longest = NULL;
    double over = 0;
    for (int i = 0; i < CONNECTIONS; i++) {
        connection *c = &connections[i];
        if (c->ended)
            return -1;
        double since = atomic_load(&c->watch.since);
        double beyond = tki_now() - since - (atomic_load(&c->watch.inside) ? patience_inside : patience_between);
        if (since > 0 && (!longest || beyond > over)) {
            longest = c;
            over = beyond;
        }
    }
    if (!longest || over < 0)
        return longest ? (int)(-over * 1000) + 1 : (int)(patience_between * 1000);
    longest->ended = true;
    shutdown(longest->socket, SHUT_RDWR);
    return -1;
}

static bool is_readable(int file)
{
    return poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, 0) > 0;
}

/* Accepts and finishes connections until there is something to be read from `stop`. */
static void serve_connections(const tk_ctx *parent, const tki_serve_listener *listener, int listening, int wake)
{
    connection connections[CONNECTIONS] = {0};
    bool stopped = false;
    while (!stopped) {
        connection *idle = NULL;
        for (int i = 0; i < CONNECTIONS; i++) {
            if (connections[i].started && atomic_load(&connections[i].done))
                finish(&connections[i]);
            if (!connections[i].started)
                idle = &connections[i];
        }
        /* While all places are taken and somebody wants in, it is time that wakes us. */
        bool full = !idle && is_readable(listening);
        struct pollfd waiting[] = {
            {.fd = listener->stop, .events = POLLIN},
            {.fd = wake, .events = POLLIN},
            {.fd = full ? -1 : listening, .events = POLLIN},
        };
        if (poll(waiting, 3, full ? make_place(connections) : -1) < 0 && errno != EINTR)
            break;
        eventfd_t count;
        if (waiting[1].revents)
            eventfd_read(wake, &count);
        stopped = waiting[0].revents != 0;
        int socket = idle && waiting[2].revents ? accept4(listening, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (socket >= 0)
            start(idle, parent, listener, socket, wake);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        if (connections[i].started)
            shutdown(connections[i].socket, SHUT_RDWR);
    for (int i = 0; i < CONNECTIONS; i++)
        if (connections[i].started)
            finish(&connections[i]);
}

/* True if there is a socket at the path and nobody listens on it. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 &&
                   errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    return refused;
}

/* The user's own. The permissions are the descriptor's before it has a name: by then somebody else could have put another file there. */
static int open_listening(tk_ctx *ctx, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct sockaddr *generic = (const struct sockaddr *)&address;
    if (!path[0] || strlen(path) >= sizeof address.sun_path) { /* without one it would be open to all users */
        tki_fail(ctx, TK_BAD_ARGUMENT, "the path of a socket must have 1 to %zu bytes", sizeof address.sun_path - 1);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_private = listening >= 0 && fchmod(listening, 0600) == 0;
    bool bound = is_private && bind(listening, generic, sizeof address) == 0;
    if (is_private && !bound && errno == EADDRINUSE) {
        bound = is_stale(&address) && unlink(path) == 0 && bind(listening, generic, sizeof address) == 0;
        if (!bound)
            errno = EADDRINUSE;
    }
    if (bound && listen(listening, CONNECTIONS) == 0)
        return listening;
    tki_fail(ctx, TK_IO, "cannot open a socket at %s: %s", path, strerror(errno));
    if (bound)
        unlink(path);
    if (listening >= 0)
        close(listening);
    return -1;
}

int tki_serve_socket(tk_ctx *ctx, const tki_serve_listener *listener)
{
    tki_service *probe;
    if (tki_service_open(ctx, listener->program, listener->device, listener->limit, &probe) != TK_OK)
        return TKI_SERVE_DEVICE;
    tki_service_close(probe);
    int listening = open_listening(ctx, listener->path);
    if (listening < 0)
        return TKI_SERVE_BAD_HEADER;
    int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = TKI_SERVE_DONE;
    if (wake >= 0) {
        serve_connections(ctx, listener, listening, wake);
        close(wake);
    } else {
        tki_fail(ctx, TK_IO, "cannot make an eventfd: %s", strerror(errno));
        result = TKI_SERVE_DEVICE;
    }
    close(listening);
    unlink(listener->path);
    return result;
}
