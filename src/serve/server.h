/* SHOWS. A kernel program's main loop: one request, or frames until the input ends. Returns an exit status; the message of a failure is in
 * the service's context. Prints nothing. */
#pragma once

#include <stdatomic.h>

#include "core/export.h"
#include "serve/service.h"

/* One text request, which ends with the input. Only a reply that is none of a failure is written. */
TKI_EXPORT TK_MUST_USE int tki_serve_once(tki_service *service, int input, int output);

/* What a server is doing, for another thread to see. */
typedef struct tki_serve_watch {
    _Atomic double since; /* it waits for its client since then, on tki_now()'s clock; 0: it is at work */
    atomic_bool inside;   /* in the middle of a frame: it is known to have one to come, or to be taken */
} tki_serve_watch;

/* Frames until the input ends or a request fails, which is answered all the same; or one frame only. `watch` may be NULL. */
TKI_EXPORT TK_MUST_USE int tki_serve_frames(tki_service *service, int input, int output, bool binary, bool only_one,
                                            tki_serve_watch *watch);

/* A listening Unix socket of type SOCK_STREAM at `path`: each connection is served as by tki_serve_frames(), several at a time, until
 * `stop` can be read. Where no more can be served, a connection that has waited long for its client is ended for one that wants in. A failed request ends its own connection and nothing else. A socket that nobody listens on any more is replaced; the
 * file is removed at the end. The listener to the notes of `ctx` hears those of the connections too, from their threads. */
typedef struct tki_serve_listener {
    const tki_serve_program *program;
    const char *device;
    size_t limit;
    bool binary;
    const char *path;
    int stop;
} tki_serve_listener;

TKI_EXPORT TK_MUST_USE int tki_serve_socket(tk_ctx *ctx, const tki_serve_listener *listener);
