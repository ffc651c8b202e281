/* CHOOSES. Calls into a worker. */
#include "isolate/worker_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/float_mode.h"
#include "isolate/array_image.h"
#include "isolate/wire_case.h"
#include "isolate/worker_reply.h"
#include "isolate/worker_spawn.h"

/* Of its process. A bare one has nothing of ours that meets signals, and calls the kernel from another thread than the one that loaded it. */
typedef enum tki_look { PLAIN, BARE, GUARDED } tki_look;

struct tki_worker {
    tk_ctx *ctx;
    const tk_contract *contract;
    tki_strings arguments, environment; /* of the program */
    char *artifact;
    bool gpu;
    tki_worker_terms terms;
    double call_seconds, start_seconds;
    const tki_coverage *coverage; /* NULL: not instrumented */
    tki_child child;
    tki_child next; /* started ahead for tki_worker_renew */
    tki_look next_look;
    tki_arena arena;
    bool arena_sent; /* to the child that runs now */
    int64_t calls;   /* of that child, and since when it has been there */
    double began;
    bool broken;
    bool timed_out; /* its process will not end by itself */
    tki_sanitizer_tool sanitizer;
    char *sanitizer_log; /* what all of its processes printed; NULL: nothing yet */
    tki_confinement confinement;
    bool admits_flushing;
    tki_process_state loading;
};

static tk_status fail(tki_worker *worker, const tki_fault *fault, const char *words)
{
    worker->broken = true;
    return tki_fail_fault(worker->ctx, fault, worker->contract, words);
}

static tk_status fail_ended(tki_worker *worker, bool late)
{
    tki_fault fault;
    const char *words = tki_child_end_of(&worker->child, &fault);
    fault.late = late;
    return fail(worker, &fault, words);
}

/* Waits for a frame of that kind and judges it; it points into `frame`. `c` is NULL while the kernel is loaded. */
static tk_status expect(tki_worker *worker, tki_wire_kind kind, uint64_t nonce, double deadline, const tk_case *c,
                        tki_frame *frame, const tki_wire_reply **reply)
{
    tk_status status;
    switch (tki_child_receive(&worker->child, deadline, frame)) {
    case TKI_RECEIPT_FRAME:
        status = tki_reply_judge(worker->ctx, frame->bytes, frame->size, kind, nonce, c, reply);
        worker->broken |= status == TK_KERNEL_FAULT;
        return status;
    case TKI_RECEIPT_TIMEOUT:
        worker->broken = worker->timed_out = true;
        if (tki_ctx_out_of_time(worker->ctx))
            return tki_ctx_fail_late(worker->ctx);
        return fail(worker,
                    &(tki_fault){TKI_FAULT_TIMEOUT, .tensor = -1, .loading = !c,
                                 .seconds = c ? worker->call_seconds : worker->start_seconds},
                    NULL);
    case TKI_RECEIPT_GARBLED:
        return fail(worker, &(tki_fault){TKI_FAULT_FORGED, .tensor = -1, .rule = "too long, or with descriptors"},
                    NULL);
    case TKI_RECEIPT_CLOSED: break;
    }
    return fail_ended(worker, false);
}

/* How code left its thread and process; `began`: the floating-point mode that it found. An instrumented build is watched, not judged. */
static void judge_state(const tki_worker *worker, const tki_process_state *state, uint64_t began, tki_fault *left)
{
    *left = (tki_fault){.tensor = -1};
    if (worker->coverage)
        return;
    if (state->float_mode != began)
        *left = (tki_fault){TKI_FAULT_FLOAT_MODE, .tensor = -1, .mode = tki_float_deviations(state->float_mode)};
    else if (state->changed & TKI_CHANGED_TO_REFUTE)
        *left = (tki_fault){TKI_FAULT_PROCESS, .tensor = -1, .number = state->signal,
                            .changed = state->changed & TKI_CHANGED_TO_REFUTE};
}

static tk_status fail_stateless(tki_worker *worker)
{
    return fail(worker, &(tki_fault){TKI_FAULT_FORGED, .tensor = -1, .rule = "no state of its process"}, NULL);
}

/* What its library's constructors do, all code of the process meets, and whoever loads it. */
static tk_status judge_loading(tki_worker *worker, const tki_wire_reply *reply)
{
    tki_fault left;
    if (!tki_reply_state(reply, &worker->loading))
        return fail_stateless(worker);
    const bool flushes = worker->admits_flushing &&
                         !(tki_float_deviations(worker->loading.float_mode) & ~(unsigned)TKI_FLUSHES);
    judge_state(worker, &worker->loading, flushes ? worker->loading.float_mode : TKI_FLOAT_MODE_START, &left);
    left.loading = true;
    return left.kind == TKI_FAULT_NONE ? TK_OK : fail(worker, &left, NULL);
}

/* ------------------------------------------------------------------------------------------------------------
 * Start and end
 * ------------------------------------------------------------------------------------------------------------ */

static void stop(tki_worker *worker)
{
    if (worker->sanitizer && worker->child.process > 0 && !worker->timed_out)
        tki_sanitizer_finish(&worker->child, &worker->sanitizer_log);
    tki_child_end(&worker->child);
    tki_scratch_remove(&worker->child.scratch);
    worker->broken = true;
}

static bool send_frame(const tki_child *child, const void *frame, size_t bytes, const int files[], int file_count);

/* A frame without arrays, and its answer. */
static tk_status ask(tki_worker *worker, tki_wire_kind kind, int file, double deadline)
{
    tki_frame frame;
    const tki_wire_reply *reply;
    tki_wire_header header = {TKI_WIRE_MAGIC, kind, 0};
    send_frame(&worker->child, &header, sizeof header, &file, file >= 0);
    return expect(worker, TKI_WIRE_REPLY, 0, deadline, NULL, &frame, &reply);
}

static tk_status launch(tki_worker *worker, tki_look look, tki_child *child)
{
    tki_strings arguments = {0};
    for (int i = 0; i < worker->arguments.count; i++)
        tki_strings_add(&arguments, "%s", worker->arguments.items[i]);
    tki_strings_add(&arguments, "guarded=%d", look == GUARDED);
    tki_strings_add(&arguments, "bare=%d", look == BARE);
    tk_status status = arguments.failed ? tki_fail(worker->ctx, TK_NO_MEMORY, "no memory for a worker")
                                        : tki_child_start(worker->ctx, arguments.items, worker->environment.items,
                                                          worker->sanitizer != TKI_SANITIZER_NONE, child);
    tki_strings_free(&arguments);
    return status;
}

static void discard_next(tki_worker *worker)
{
    tki_child_end(&worker->next);
    tki_scratch_remove(&worker->next.scratch);
    worker->next = (tki_child)TKI_NO_CHILD;
}

/* Of fresh processes, to which trials come again. A device belongs to the thread that opened it. */
static tki_look look_again(const tki_worker *worker, bool guarded)
{
    return worker->gpu || worker->sanitizer || worker->coverage ? PLAIN : guarded ? GUARDED : BARE;
}

static tk_status start(tki_worker *worker, tki_look look)
{
    tki_frame frame;
    const tki_wire_reply *reply;
    double deadline = tki_ctx_deadline(worker->ctx, worker->start_seconds);
    tk_status status = TK_OK;
    if (worker->next.process && worker->next_look != look)
        discard_next(worker);
    if (worker->next.process) {
        worker->child = worker->next;
        worker->next = (tki_child)TKI_NO_CHILD;
    } else {
        status = launch(worker, look, &worker->child);
    }
    if (status != TK_OK)
        return status;
    worker->broken = worker->timed_out = false;
    worker->arena_sent = false;
    worker->calls = 0;
    worker->began = tki_now();
    status = expect(worker, TKI_WIRE_CONFINED, 0, deadline, NULL, &frame, &reply);
    if (status == TK_KERNEL_FAULT && worker->sanitizer) {
        stop(worker);
        tki_sanitizer_report said;
        tki_sanitizer_read(worker->sanitizer_log ? worker->sanitizer_log : "", &said);
        status = tki_fail(worker->ctx, TK_UNAVAILABLE, "compute-sanitizer does not work here: %s", said.problem);
    } else if (status == TK_KERNEL_FAULT) { /* no foreign code has run yet */
        status = tki_fail(worker->ctx, TK_UNAVAILABLE,
                          "tokitai-worker does not run on this system, or its version differs from the library's");
    } else if (status == TK_OK) {
        tki_confinement_read(reply, worker->sanitizer, &worker->confinement);
        status = tki_terms_accept(worker->ctx, &worker->terms, &worker->confinement);
        if (status == TK_OK)
            status = expect(worker, TKI_WIRE_REPLY, 0, deadline, NULL, &frame, &reply);
        if (status == TK_OK)
            status = judge_loading(worker, reply);
    }
    if (status == TK_OK && worker->coverage)
        status = ask(worker, TKI_WIRE_WATCH, worker->coverage->file, deadline);
    worker->broken |= status != TK_OK;
    return status;
}

/* TK_UNAVAILABLE: no compute-sanitizer. */
static tk_status prepare_arguments(tki_worker *worker, const char *artifact, const tki_worker_options *options)
{
    tki_strings *list = &worker->arguments;
    const tki_backend *backend = options->backend ? options->backend : &tki_backends[TKI_CPU];
    tki_strings known = {0};
    for (int i = 0; tk_contract_at(i); i++)
        tki_strings_add(&known, "%s%s ", i ? known.items[i - 1] : "", tk_contract_at(i)->name);
    list->failed |= known.failed;
    tki_strings_add(list, "artifact=%s", artifact);
    tki_strings_add(list, "op=%s", worker->contract->name);
    tki_strings_add(list, "known=%s", known.count ? known.items[known.count - 1] : "");
    tki_strings_add(list, "backend=%s", backend->name);
    tki_strings_add(list, "device=%d", options->device);
    tki_terms_add(&options->terms, list);
    tki_strings_add(list, "cpu=%g", options->cpu_seconds);
    tki_strings_add(list, "without=%u", options->without);
    tki_strings_add(list, "read=%s", artifact);
    for (int i = 0; options->readable && options->readable[i]; i++)
        tki_strings_add(list, "read=%s", options->readable[i]);
    tki_strings_free(&known);
    tki_child_environment(&worker->environment, worker->gpu);
    if (worker->gpu && getenv("TOKITAI_CUDA_LIBRARY"))
        tki_strings_add(list, "read=%s", getenv("TOKITAI_CUDA_LIBRARY"));
    if (worker->gpu && getenv("TOKITAI_HIP_LIBRARY"))
        tki_strings_add(list, "read=%s", getenv("TOKITAI_HIP_LIBRARY"));
    if (worker->sanitizer && !tki_sanitizer_arguments(worker->sanitizer, list))
        return tki_fail(worker->ctx, TK_UNAVAILABLE, "compute-sanitizer was not found");
    return list->failed || worker->environment.failed ? tki_fail(worker->ctx, TK_NO_MEMORY, "no memory for a worker")
                                                      : TK_OK;
}

tk_status tki_worker_open(tk_ctx *ctx, const char *artifact, const tk_contract *contract,
                          const tki_worker_options *options, tki_worker **worker)
{
    static const tki_worker_options defaults;
    options = options ? options : &defaults;
    *worker = NULL;
    char *path = realpath(artifact, NULL);
    if (!path)
        return tki_fail(ctx, TK_IO, "%s: %s", artifact, strerror(errno));
    tki_worker *w = calloc(1, sizeof *w);
    if (!w) {
        free(path);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a worker");
    }
    *w = (tki_worker){.ctx = ctx, .contract = contract, .artifact = path};
    w->gpu = options->backend && options->backend->is_gpu;
    w->call_seconds = options->call_seconds > 0 ? options->call_seconds : 60;
    w->start_seconds = options->start_seconds > 0 ? options->start_seconds : 60;
    w->coverage = options->coverage;
    w->terms = options->terms;
    w->admits_flushing = options->admits_flushing;
    w->child = w->next = (tki_child)TKI_NO_CHILD;
    w->arena.file = -1;
    if (!w->gpu) /* without one every call brings all of its memory */
        (void)tki_arena_open(&w->arena, w->contract->param_count);
    w->sanitizer = options->sanitizer;
    tk_status status = prepare_arguments(w, path, options);
    if (status == TK_OK)
        status = start(w, PLAIN);
    if (status != TK_OK)
        tki_worker_close(w);
    else
        *worker = w;
    return status;
}

void tki_worker_close(tki_worker *worker)
{
    if (!worker)
        return;
    tki_child_dismiss(&worker->next);
    stop(worker);
    discard_next(worker);
    tki_strings_free(&worker->arguments);
    tki_strings_free(&worker->environment);
    tki_arena_close(&worker->arena);
    free(worker->artifact);
    free(worker->sanitizer_log);
    free(worker);
}

void tki_worker_prepare(tki_worker *worker, bool guarded)
{
    /* A process on a GPU holds a good part of a second and of the device's memory; compute-sanitizer is to be heard to the end. */
    if (worker->gpu || worker->sanitizer || worker->next.process)
        return;
    worker->next_look = look_again(worker, guarded);
    (void)launch(worker, worker->next_look, &worker->next);
}

tk_status tki_worker_renew(tki_worker *worker, bool guarded)
{
    if (worker->sanitizer)
        stop(worker);
    tki_child old = worker->child;
    worker->child = (tki_child)TKI_NO_CHILD;
    tki_child_dismiss(&old);
    tk_status status = start(worker, look_again(worker, guarded));
    /* Nothing is called in the new process while the old one could still write to what both map. */
    tki_child_end(&old);
    tki_scratch_remove(&old.scratch);
    return status;
}

const char *tki_worker_sanitizer_log(tki_worker *worker)
{
    stop(worker);
    return worker->sanitizer_log ? worker->sanitizer_log : "";
}

tk_status tki_worker_end_coverage(tki_worker *worker)
{
    if (worker->broken || !worker->coverage)
        return tki_fail(worker->ctx, TK_KERNEL_FAULT, "the worker has ended; its coverage counts are lost");
    return ask(worker, TKI_WIRE_WATCH_END, -1, tki_ctx_deadline(worker->ctx, worker->start_seconds));
}

bool tki_worker_broken(const tki_worker *worker)
{
    return worker->broken;
}

tki_age tki_worker_age(const tki_worker *worker)
{
    return (tki_age){worker->calls, tki_now() - worker->began};
}

const tki_process_state *tki_worker_loading(const tki_worker *worker)
{
    return &worker->loading;
}

const tki_confinement *tki_worker_confinement(const tki_worker *worker)
{
    return &worker->confinement;
}

/* ------------------------------------------------------------------------------------------------------------
 * The call
 * ------------------------------------------------------------------------------------------------------------ */

static void describe(const tk_case *c, const tki_image images[], int threads, uint64_t nonce, tki_wire_call *call,
                     int files[], int *file_count)
{
    tki_wire_describe(c, threads, call);
    call->head.header.nonce = nonce;
    *file_count = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tki_image *image = &images[p];
        int32_t memory = image->in_arena ? TKI_WIRE_ARENA : TKI_WIRE_NOWHERE;
        if (image->same_as >= 0)
            memory = call->buffers[image->same_as].memory;
        else if (image->file >= 0)
            files[memory = (*file_count)++] = image->file;
        call->buffers[p].bytes = image->bytes;
        call->buffers[p].place = image->place;
        call->buffers[p].memory = memory;
    }
}

static bool send_frame(const tki_child *child, const void *frame, size_t bytes, const int files[], int file_count)
{
    union {
        char space[CMSG_SPACE(TKI_WIRE_BUFFERS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)frame, bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file_count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)file_count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN((size_t)file_count * sizeof(int));
        memcpy(CMSG_DATA(rights), files, (size_t)file_count * sizeof(int));
    }
    ssize_t sent;
    /* The worker reads each frame before it is sent another, so that a full socket is a broken worker. */
    while ((sent = sendmsg(child->frames, &message, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    return sent >= 0;
}

/* A frame that nobody asked for, or a worker that has ended since: what an earlier call left running. */
static tk_status check_quiet(tki_worker *worker, const tk_case *c)
{
    tki_frame frame;
    switch (tki_child_receive(&worker->child, 0, &frame)) {
    case TKI_RECEIPT_TIMEOUT: return TK_OK;
    case TKI_RECEIPT_FRAME:
        if (tki_reply_is_signal(frame.bytes, frame.size)) {
            worker->broken = true;
            return tki_reply_explain_signal(worker->ctx, frame.bytes, c);
        }
        break;
    case TKI_RECEIPT_GARBLED: break;
    case TKI_RECEIPT_CLOSED: return fail_ended(worker, true);
    }
    return fail(worker, &(tki_fault){TKI_FAULT_SPOKE_LATE, .tensor = -1}, NULL);
}

/* The worker maps the arena once; a worker that cannot answers the calls that use it with a failure. */
static void send_arena(tki_worker *worker)
{
    if (worker->arena_sent || !worker->arena.memory)
        return;
    tki_wire_header about = {TKI_WIRE_MAGIC, TKI_WIRE_KEEP, 0};
    worker->arena_sent = send_frame(&worker->child, &about, sizeof about, &worker->arena.file, 1);
}

/* Sends the call, lets it go, waits for its end. */
static tk_status converse(tki_worker *worker, const tk_case *c, const tki_image images[], int threads,
                          double *seconds, tki_overrun *overrun)
{
    uint64_t nonce;
    int files[TKI_WIRE_BUFFERS], file_count;
    tki_frame frame;
    const tki_wire_reply *reply;
    tk_status status = TK_OK;
    if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce)
        return tki_fail(worker->ctx, TK_IO, "no random numbers: %s", strerror(errno));
    double begin = tki_now();
    double deadline = tki_ctx_deadline(worker->ctx, worker->call_seconds);
    tki_wire_call call;
    _Alignas(8) unsigned char packed[sizeof call];
    describe(c, images, threads, nonce, &call, files, &file_count);
    tki_wire_pack_call(&call, packed);
    send_arena(worker);
    /* If it cannot be sent the worker is gone; what is received then says how. */
    send_frame(&worker->child, packed, tki_wire_call_bytes(&call.head), files, file_count);
    if (!tki_wire_at_once(&call, worker->gpu)) {
        status = expect(worker, TKI_WIRE_READY, nonce, deadline, c, &frame, &reply);
        if (status != TK_OK)
            return status;
        tki_wire_header go = {TKI_WIRE_MAGIC, TKI_WIRE_GO, nonce};
        begin = tki_now();
        send_frame(&worker->child, &go, sizeof go, NULL, 0);
    }
    status = expect(worker, TKI_WIRE_REPLY, nonce, deadline, c, &frame, &reply);
    double elapsed = tki_now() - begin;
    if (status == TK_OK && seconds)
        *seconds = worker->gpu && reply->seconds > 0 && reply->seconds < elapsed ? reply->seconds : elapsed;
    tki_process_state state;
    if (status == TK_OK && !tki_reply_state(reply, &state))
        status = fail_stateless(worker);
    if (status == TK_OK)
        judge_state(worker, &state, nonce & TKI_NONCE_AS_LOADED ? worker->loading.float_mode : TKI_FLOAT_MODE_START,
                    &overrun->left);
    return status;
}

/* Everything that the kernel could write, once nobody can write it any more. */
static tk_status collect(tki_worker *worker, const tk_case *c, void *const buffers[], const tki_image images[],
                         tki_overrun *overrun)
{
    for (int p = 0; p < c->contract->param_count; p++) {
        int error = images[p].file >= 0 && images[p].written ? tki_image_seal(&images[p]) : 0;
        if (!error)
            continue;
        return fail(worker, &(tki_fault){error == EBUSY ? TKI_FAULT_KEPT : TKI_FAULT_SEALED, .tensor = p}, NULL);
    }
    int error = tki_images_read(c, buffers, images, overrun);
    return error ? tki_fail(worker->ctx, TK_IO, "shared memory could not be read: %s", strerror(error)) : TK_OK;
}

tk_status tki_worker_call(tki_worker *worker, const tk_case *c, void *const buffers[], int threads, double *seconds,
                          tki_overrun *overrun)
{
    tki_image images[TK_MAX_PARAMS];
    tk_ctx *ctx = worker->ctx;
    *overrun = (tki_overrun){.param = -1};
    if (c->contract != worker->contract)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "this worker runs %s", worker->contract->name);
    if (worker->broken) {
        stop(worker);
        tk_status status = start(worker, PLAIN);
        if (status != TK_OK)
            return status;
    }
    tk_status status = check_quiet(worker, c);
    if (status == TK_OK && !tki_images_lay_out(c, buffers, worker->gpu, &worker->arena, images))
        status = tki_fail(ctx, TK_NO_MEMORY, "the buffers of this case do not fit into the address space");
    if (status != TK_OK) {
        if (worker->broken)
            stop(worker);
        return status;
    }
    uint64_t salt = 0;
    int error = getrandom(&salt, sizeof salt, 0) == sizeof salt ? 0 : errno;
    if (!error)
        error = tki_images_write(c, buffers, &worker->arena, images, salt);
    if (error)
        status = tki_fail(ctx, TK_NO_MEMORY, "no shared memory for the buffers of this case: %s", strerror(error));
    if (status == TK_OK)
        status = converse(worker, c, images, threads, seconds, overrun);
    worker->calls++;
    if (status == TK_OK)
        status = collect(worker, c, buffers, images, overrun);
    if (status == TK_OK)
        status = check_quiet(worker, c);
    tki_images_close(images, c->contract->param_count);
    if (worker->broken)
        stop(worker);
    return status;
}
