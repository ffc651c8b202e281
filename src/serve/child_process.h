/* SHOWS. A child process behind a socket: its standard input and output are one end, its standard error a pipe. One request is exchanged for
 * one reply before a deadline; after anything else the child is only fit to be ended. */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "serve/service.h"

enum { TKI_PEER_ERRORS = 16384 };

typedef struct tki_peer {
    pid_t process; /* 0: none */
    int socket;
    int errors;      /* -1: it has closed its standard error */
    int wait_status; /* of the last that ended; -1: none did */
    int starts;
    char log[TKI_PEER_ERRORS + 1]; /* the end of what came from standard error, of all children in turn */
    size_t log_length;
} tki_peer;

/* Starts a program in a process group of its own. Returns 0 or an errno. */
int tki_peer_start(tki_peer *peer, char *const argv[]);

/* Ends its input and waits up to `seconds`, then kills its process group; reaps it in any case. */
void tki_peer_end(tki_peer *peer, double seconds);

/* False if it has ended or said something unasked. */
bool tki_peer_is_quiet(tki_peer *peer);

typedef enum tki_exchange {
    TKI_EXCHANGE_DONE,
    TKI_EXCHANGE_LATE,
    TKI_EXCHANGE_ENDED,    /* before or within its reply */
    TKI_EXCHANGE_TOO_LONG, /* a reply of more than `most` bytes */
    TKI_EXCHANGE_NO_MEMORY
} tki_exchange;

/* Sends the parts, which it changes, with a descriptor beside the first byte (-1: none), and receives a frame. A child may answer
 * before it has read everything. */
tki_exchange tki_peer_exchange(tki_peer *peer, struct iovec *parts, int count, int file, double deadline, size_t most,
                               tki_block *reply, size_t *reply_bytes);
