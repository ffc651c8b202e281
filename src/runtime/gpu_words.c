/* CHOOSES. Words for launches. A stream keeps its own; so does a captured graph, which may be launched at any time, until the driver says that the last
 * of its executables is gone. */
#include "runtime/gpu_words.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/context.h"

enum { USERS_AT_ONCE = 64 };

/* Shared with the driver, which tells the end of a graph from a thread of its own, perhaps after the device was closed: the last of the two
 * frees it. */
enum { ALIVE, CLOSED, ENDED };
typedef struct graph_end {
    atomic_int state;
} graph_end;

struct tki_word_user {
    void *stream;
    uint64_t capture; /* its number; 0: none */
    graph_end *end;   /* NULL: nobody will tell */
};

static void tell_end(void *data)
{
    graph_end *end = data;
    if (atomic_exchange(&end->state, ENDED) == CLOSED)
        free(end);
}

void tki_gpu_words_free(tki_gpu *gpu)
{
    tki_gpu_words *all = tki_gpu_words_of(gpu);
    for (int i = 0; i < all->count; i++)
        if (all->users[i].end && atomic_exchange(&all->users[i].end->state, CLOSED) == ENDED)
            free(all->users[i].end);
    for (int i = 0; i < all->room / USERS_AT_ONCE; i++)
        tki_gpu_free(gpu, all->chunks[i]);
    free(all->users);
    free(all->chunks);
    *all = (tki_gpu_words){0};
}

static tk_status add_words(tk_ctx *ctx, tki_gpu *gpu)
{
    tki_gpu_words *all = tki_gpu_words_of(gpu);
    const size_t bytes = (size_t)USERS_AT_ONCE * TKI_GPU_LAUNCH_WORDS * sizeof(uint32_t);
    const int chunks = all->room / USERS_AT_ONCE;
    tki_word_user *users = realloc(all->users, (size_t)(all->room + USERS_AT_ONCE) * sizeof *users);
    if (users)
        all->users = users;
    uint32_t **more = realloc(all->chunks, (size_t)(chunks + 1) * sizeof *more);
    if (more)
        all->chunks = more;
    if (!users || !more)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to keep streams apart");
    void *words;
    tk_status status = tki_gpu_alloc(ctx, gpu, bytes, &words);
    if (status != TK_OK)
        return status;
    status = tki_gpu_fill(ctx, gpu, NULL, words, 0, bytes);
    if (status == TK_OK)
        status = tki_gpu_synchronize(ctx, gpu, NULL);
    if (status != TK_OK) {
        tki_gpu_free(gpu, words);
        return status;
    }
    all->chunks[chunks] = words;
    all->room += USERS_AT_ONCE;
    return TK_OK;
}

static tk_status fail_call(tk_ctx *ctx, const tki_gpu *gpu, const char *call, int code)
{
    char why[768];
    tk_status status = tki_driver_explain(tki_gpu_driver_of(gpu), call, code, why, sizeof why);
    return tki_fail(ctx, status, "asking for a stream's capture on %s: %s", tki_gpu_describe(gpu)->name, why);
}

/* The number of the capture that the stream is in; 0: none. */
static tk_status find_capture(tk_ctx *ctx, tki_gpu *gpu, void *stream, uint64_t *capture)
{
    const tki_driver *driver = tki_gpu_driver_of(gpu);
    int capturing = 0;
    void *previous;
    *capture = 0;
    if (!driver->calls.capture_info)
        return tki_fail(ctx, TK_UNAVAILABLE, "the driver of %s is too old to tell captures apart",
                        tki_gpu_describe(gpu)->name);
    tk_status status = tki_gpu_enter(ctx, gpu, &previous);
    if (status != TK_OK)
        return status;
    const int code = driver->calls.capture_info(stream, &capturing, capture);
    tki_gpu_leave(gpu, previous);
    if (!capturing)
        *capture = 0;
    return code == 0 ? TK_OK : fail_call(ctx, gpu, driver->vendor->names.capture_info, code);
}

/* Has the graph that is being captured tell its end. NULL if it cannot: its words are then kept until the device is closed. */
static graph_end *watch_graph(tk_ctx *ctx, tki_gpu *gpu, void *stream)
{
    enum { NO_SYNCHRONISATION = 1, MOVE = 1 };
    const tki_driver_calls *calls = &tki_gpu_driver_of(gpu)->calls;
    void *graph = NULL, *object = NULL, *previous;
    int capturing = 0;
    uint64_t capture;
    if (!calls->capture_graph || !calls->user_object_create || !calls->user_object_release || !calls->graph_retain)
        return NULL;
    graph_end *end = malloc(sizeof *end);
    if (!end || tki_gpu_enter(ctx, gpu, &previous) != TK_OK) {
        free(end);
        return NULL;
    }
    atomic_init(&end->state, ALIVE);
    const bool made = calls->capture_graph(stream, &capturing, &capture, &graph, NULL, NULL) == 0 && capturing &&
                      graph && calls->user_object_create(&object, end, tell_end, 1, NO_SYNCHRONISATION) == 0;
    const bool watched = made && calls->graph_retain(graph, object, 1, MOVE) == 0;
    if (made && !watched) { /* the object has it, and frees it */
        atomic_store(&end->state, CLOSED);
        (void)calls->user_object_release(object, 1);
    }
    tki_gpu_leave(gpu, previous);
    if (!made)
        free(end);
    return watched ? end : NULL;
}

/* Words whose graph is gone; -1: none. */
static int find_unused(const tki_gpu_words *all)
{
    for (int i = 0; i < all->count; i++)
        if (all->users[i].end && atomic_load(&all->users[i].end->state) == ENDED)
            return i;
    return -1;
}

tk_status tki_gpu_launch_words(tk_ctx *ctx, tki_gpu *gpu, void *stream, bool only_reserve, uint32_t **words)
{
    tki_gpu_words *all = tki_gpu_words_of(gpu);
    uint64_t capture;
    *words = NULL;
    tk_status status = find_capture(ctx, gpu, stream, &capture);
    if (status != TK_OK)
        return status;
    int user = all->count;
    while (--user >= 0 && (all->users[user].stream != stream || all->users[user].capture != capture))
        ;
    const int unused = user < 0 || only_reserve ? find_unused(all) : -1;
    if ((user < 0 || only_reserve) && unused < 0 && all->count == all->room) {
        if (capture)
            return tki_fail(ctx, TK_UNAVAILABLE,
                            "the stream is being captured and memory must be allocated; call tk_prepare() before "
                            "the capture begins");
        status = add_words(ctx, gpu);
    }
    if (status != TK_OK || only_reserve)
        return status;
    if (user < 0) {
        user = unused >= 0 ? unused : all->count++;
        if (unused >= 0)
            free(all->users[user].end);
        all->users[user] = (tki_word_user){stream, capture, capture ? watch_graph(ctx, gpu, stream) : NULL};
    }
    *words = all->chunks[user / USERS_AT_ONCE] + (size_t)(user % USERS_AT_ONCE) * TKI_GPU_LAUNCH_WORDS;
    return TK_OK;
}
