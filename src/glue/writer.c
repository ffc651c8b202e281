/* RECORDS. A queue of full buffers between the thread that fills them and the one that hashes and writes them. */
#include "glue/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"

enum {
    LARGEST_BUFFER = 1 << 18, /* stays in a core's own cache while it is hashed and written */
    SMALLEST_BUFFER = 1 << 16,
    ALL_BUFFERS = 1 << 26, /* bytes, about; the smallest buffers may take more */
    SPARE = 255 /* in the queue, beside those that are filled: so that the threads seldom wait for each other */
};

typedef struct buffer {
    struct buffer *next;
    size_t output, used;
    char *section; /* where the SHA-256 of the section that ends with it goes; NULL: it does not end */
    unsigned char *bytes;
} buffer;

struct tki_writer {
    tk_ctx *ctx;
    tki_output *outputs;
    size_t count, buffer_bytes;
    bool whole;
    buffer **filling; /* [count]; NULL: none */
    tki_hash *hashes; /* [count] of the file or of the present section */
    bool *has_hash;   /* [count] */
    buffer *buffers;  /* all of them */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    buffer *unused;
    buffer *first, *last; /* full ones */
    bool ended;
    int error; /* errno of the first failure */
    size_t failed_output;
    bool hash_failed;
};

static bool hash_buffer(tki_writer *w, const buffer *b)
{
    if (!w->has_hash[b->output])
        tki_hash_begin(&w->hashes[b->output]);
    w->has_hash[b->output] = true;
    tki_hash_add(&w->hashes[b->output], b->bytes, b->used);
    if (!b->section)
        return true;
    w->has_hash[b->output] = false;
    return tki_hash_finish(&w->hashes[b->output], b->section);
}

static void *write_buffers(void *data)
{
    tki_writer *w = data;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->first && !w->ended)
            pthread_cond_wait(&w->changed, &w->lock);
        buffer *b = w->first;
        if (!b)
            break;
        w->first = b->next;
        if (!w->first)
            w->last = NULL;
        bool failed = w->error != 0, hashed = true;
        pthread_mutex_unlock(&w->lock);
        if (!failed) {
            hashed = hash_buffer(w, b);
            failed = !tki_output_write(&w->outputs[b->output], b->bytes, b->used);
        }
        const int error = errno;
        pthread_mutex_lock(&w->lock);
        w->hash_failed |= !hashed;
        if (failed && !w->error) {
            w->error = error ? error : EIO;
            w->failed_output = b->output;
        }
        b->next = w->unused;
        w->unused = b;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void free_writer(tki_writer *w)
{
    for (size_t i = 0; w->buffers && i < w->count + SPARE; i++)
        free(w->buffers[i].bytes);
    for (size_t i = 0; w->has_hash && w->hashes && i < w->count; i++)
        if (w->has_hash[i]) {
            char unused[TKI_HASH_HEX];
            (void)tki_hash_finish(&w->hashes[i], unused);
        }
    free(w->buffers);
    free(w->filling);
    free(w->hashes);
    free(w->has_hash);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w);
}

tk_status tki_writer_start(tk_ctx *ctx, tki_output *outputs, size_t count, bool whole, tki_writer **writer)
{
    *writer = NULL;
    tki_writer *w = calloc(1, sizeof *w);
    if (!w)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for buffers");
    const size_t buffers = count + SPARE, each = ALL_BUFFERS / buffers;
    w->ctx = ctx;
    w->outputs = outputs;
    w->count = count;
    w->whole = whole;
    w->buffer_bytes = each > LARGEST_BUFFER ? LARGEST_BUFFER : each < SMALLEST_BUFFER ? SMALLEST_BUFFER : each;
    w->filling = calloc(count, sizeof *w->filling);
    w->hashes = calloc(count, sizeof *w->hashes);
    w->has_hash = calloc(count, sizeof *w->has_hash);
    w->buffers = calloc(buffers, sizeof *w->buffers);
    bool good = w->filling && w->hashes && w->has_hash && w->buffers;
    for (size_t i = 0; i < buffers && good; i++) {
        buffer *b = &w->buffers[i];
        b->bytes = malloc(w->buffer_bytes);
        b->next = w->unused;
        w->unused = b;
        good = b->bytes != NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (!good || pthread_create(&w->thread, NULL, write_buffers, w)) {
        free_writer(w);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for buffers, or no thread");
    }
    *writer = w;
    return TK_OK;
}

static tk_status report(const tki_writer *w)
{
    if (w->error)
        return tki_fail(w->ctx, TK_IO, "cannot write %s: %s", w->outputs[w->failed_output].path, strerror(w->error));
    if (w->hash_failed)
        return tki_fail(w->ctx, TK_NO_MEMORY, "no memory to hash what is written");
    return TK_OK;
}

/* An empty buffer for this file, once there is one. */
static tk_status take_buffer(tki_writer *w, size_t output)
{
    pthread_mutex_lock(&w->lock);
    while (!w->unused && !w->error)
        pthread_cond_wait(&w->changed, &w->lock);
    tk_status status = report(w);
    if (status == TK_OK) {
        buffer *b = w->unused;
        w->unused = b->next;
        b->output = output;
        b->used = 0;
        b->section = NULL;
        w->filling[output] = b;
    }
    pthread_mutex_unlock(&w->lock);
    return status;
}

static void submit(tki_writer *w, size_t output)
{
    buffer *b = w->filling[output];
    w->filling[output] = NULL;
    b->next = NULL;
    pthread_mutex_lock(&w->lock);
    if (w->last)
        w->last->next = b;
    else
        w->first = b;
    w->last = b;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

tk_status tki_writer_put(tki_writer *w, size_t output, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    while (bytes) {
        tk_status status = w->filling[output] ? TK_OK : take_buffer(w, output);
        if (status != TK_OK)
            return status;
        buffer *b = w->filling[output];
        const size_t room = w->buffer_bytes - b->used, step = bytes < room ? bytes : room;
        memcpy(b->bytes + b->used, at, step);
        b->used += step;
        at += step;
        bytes -= step;
        if (b->used == w->buffer_bytes)
            submit(w, output);
    }
    return TK_OK;
}

tk_status tki_writer_end_section(tki_writer *w, size_t output, char sha256[TKI_HASH_HEX])
{
    tk_status status = w->filling[output] ? TK_OK : take_buffer(w, output);
    if (status == TK_OK) {
        w->filling[output]->section = sha256;
        submit(w, output);
    }
    return status;
}

tk_status tki_writer_finish(tki_writer *w, char sha256[TKI_HASH_HEX])
{
    for (size_t i = 0; i < w->count; i++)
        if (w->filling[i])
            submit(w, i);
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    if (w->whole && w->has_hash[0]) {
        w->hash_failed |= !tki_hash_finish(&w->hashes[0], sha256);
        w->has_hash[0] = false;
    }
    tk_status status = report(w);
    free_writer(w);
    return status;
}
