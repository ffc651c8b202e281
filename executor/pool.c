/* Warm workers, kept for the next call of the same kernel. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/context.h"
#include "core/text_hash.h"
#include "executor/worker.h"

/* What makes two workers the same: the file as it was when it was loaded, and all that the worker was told. */
typedef struct identity {
    dev_t device;
    ino_t file;
    off_t bytes;
    struct timespec modified;
    const tk_contract *contract;
    char backend[16];
    uint64_t readable;          /* a hash of the list */
    tki_worker_options numbers; /* without its pointers */
} identity;

typedef struct entry {
    tki_worker *worker;
    identity about;
    bool in_use;
    unsigned long last; /* when it was given back */
} entry;

struct tki_worker_pool {
    pthread_mutex_t lock;
    entry *entries;
    int count, room;
    int most; /* that are kept idle */
    unsigned long clock;
};

tk_status tki_worker_pool_open(tk_ctx *ctx, int most, tki_worker_pool **pool)
{
    *pool = NULL;
    if (most < 1)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "a pool keeps at least one worker, not %d", most);
    tki_worker_pool *p = calloc(1, sizeof *p);
    if (!p)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a pool of workers");
    pthread_mutex_init(&p->lock, NULL);
    p->most = most;
    *pool = p;
    return TK_OK;
}

void tki_worker_pool_close(tki_worker_pool *pool)
{
    if (!pool)
        return;
    for (int i = 0; i < pool->count; i++)
        tki_worker_close(pool->entries[i].worker);
    free(pool->entries);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static uint64_t hash_list(const char *const *list)
{
    uint64_t hash = TKI_TEXT_HASH_BEGIN;
    for (; list && *list; list++)
        hash = tki_text_hash(hash, *list);
    return hash;
}

/* Compared as bytes, so that every byte is set, holes too. */
static bool identify(const char *artifact, const tk_contract *contract, const tki_worker_options *options,
                     identity *about)
{
    struct stat file;
    memset(about, 0, sizeof *about);
    if (stat(artifact, &file) != 0)
        return false;
    about->device = file.st_dev;
    about->file = file.st_ino;
    about->bytes = file.st_size;
    about->modified = file.st_mtim;
    about->contract = contract;
    snprintf(about->backend, sizeof about->backend, "%s", options && options->backend ? options->backend : "cpu");
    if (options) {
        memcpy(&about->numbers, options, sizeof *options);
        about->readable = hash_list(options->readable);
    }
    about->numbers.backend = NULL;
    about->numbers.readable = NULL;
    return true;
}

/* Takes the place out of the list; the others keep their order of age in `last`. */
static void forget(tki_worker_pool *pool, int i)
{
    pool->entries[i] = pool->entries[--pool->count];
}

static tki_worker *take_warm(tki_worker_pool *pool, const identity *about)
{
    tki_worker *found = NULL;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->count && !found; i++)
        if (!pool->entries[i].in_use && !memcmp(&pool->entries[i].about, about, sizeof *about)) {
            pool->entries[i].in_use = true;
            found = pool->entries[i].worker;
        }
    pthread_mutex_unlock(&pool->lock);
    return found;
}

static bool remember(tki_worker_pool *pool, tki_worker *worker, const identity *about)
{
    pthread_mutex_lock(&pool->lock);
    bool done = pool->count < pool->room;
    if (!done) {
        int room = pool->room ? 2 * pool->room : 8;
        entry *entries = realloc(pool->entries, (size_t)room * sizeof *entries);
        done = entries != NULL;
        if (done) {
            pool->entries = entries;
            pool->room = room;
        }
    }
    if (done)
        pool->entries[pool->count++] = (entry){.worker = worker, .about = *about, .in_use = true};
    pthread_mutex_unlock(&pool->lock);
    return done;
}

tk_status tki_worker_pool_take(tki_worker_pool *pool, tk_ctx *ctx, const char *artifact, const tk_contract *contract,
                               const tki_worker_options *options, tki_worker **worker)
{
    identity about;
    *worker = NULL;
    if (!identify(artifact, contract, options, &about))
        return tki_fail(ctx, TK_IO, "%s: %s", artifact, strerror(errno));
    *worker = take_warm(pool, &about);
    if (*worker) {
        tki_worker_set_context(*worker, ctx);
        return TK_OK;
    }
    tk_status status = tki_worker_open(ctx, artifact, contract, options, worker);
    if (status == TK_OK && !remember(pool, *worker, &about)) {
        tki_worker_close(*worker);
        *worker = NULL;
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a pool of workers");
    }
    return status;
}

void tki_worker_pool_give(tki_worker_pool *pool, tki_worker *worker)
{
    tki_worker *closed = NULL;
    pthread_mutex_lock(&pool->lock);
    int idle = 0, oldest = -1;
    for (int i = pool->count - 1; i >= 0; i--) {
        entry *e = &pool->entries[i];
        if (e->worker == worker) {
            e->in_use = false;
            e->last = pool->clock++;
        }
    }
    for (int i = 0; i < pool->count; i++) {
        const entry *e = &pool->entries[i];
        idle += !e->in_use;
        if (!e->in_use && (oldest < 0 || e->last < pool->entries[oldest].last))
            oldest = i;
        if (e->worker == worker && tki_worker_broken(worker)) {
            oldest = i;
            idle = pool->most + 1;
            break;
        }
    }
    if (idle > pool->most) {
        closed = pool->entries[oldest].worker;
        forget(pool, oldest);
    }
    pthread_mutex_unlock(&pool->lock);
    tki_worker_close(closed);
}
