/* Calls into a worker. */
#include "executor/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "executor/reply.h"
#include "executor/spawn.h"

enum { GPU_ZONE = 4096, GPU_ALIGNMENT = 256 };

struct tki_worker {
    tk_ctx *ctx;
    const tk_contract *contract;
    tki_strings arguments, environment; /* of the program */
    char *artifact;
    bool gpu;
    double call_seconds, start_seconds;
    tki_child child;
    bool broken;
    bool timed_out; /* its process will not end by itself */
    tki_sanitizer_tool sanitizer;
    char *sanitizer_log; /* what all of its processes printed; NULL: nothing yet */
    char confinement[TKI_WIRE_TEXT + 1];
};

static tk_status fault(tki_worker *worker, const char *text)
{
    worker->broken = true;
    return tki_fail(worker->ctx, TK_KERNEL_FAULT, "the kernel %s", text);
}

/* Waits for a frame of that kind and judges it; it points into `frame`. `c` is NULL while the kernel is loaded. */
static tk_status expect(tki_worker *worker, tki_wire_kind kind, uint64_t nonce, double deadline, const tk_case *c,
                        tki_frame *frame, const tki_wire_reply **reply)
{
    char text[256];
    tk_status status;
    switch (tki_child_receive(&worker->child, deadline, frame)) {
    case TKI_RECEIPT_FRAME:
        status = tki_reply_judge(worker->ctx, frame->bytes, frame->size, kind, nonce, c, reply);
        worker->broken |= status == TK_KERNEL_FAULT;
        return status;
    case TKI_RECEIPT_TIMEOUT:
        worker->broken = worker->timed_out = true;
        return tki_fail(worker->ctx, TK_TIMEOUT, "the kernel did not %s within %g seconds, and was ended",
                        c ? "return" : "load", c ? worker->call_seconds : worker->start_seconds);
    case TKI_RECEIPT_GARBLED: return fault(worker, "forged or garbled a reply: too long, or with descriptors");
    case TKI_RECEIPT_CLOSED: break;
    }
    tki_child_explain_end(&worker->child, text, sizeof text);
    return fault(worker, text);
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

static tk_status start(tki_worker *worker)
{
    tki_frame frame;
    const tki_wire_reply *reply;
    double deadline = tki_now() + worker->start_seconds;
    tk_status status = tki_child_start(worker->ctx, worker->arguments.items, worker->environment.items,
                                       worker->sanitizer != TKI_SANITIZER_NONE, &worker->child);
    if (status != TK_OK)
        return status;
    worker->broken = worker->timed_out = false;
    status = expect(worker, TKI_WIRE_CONFINED, 0, deadline, NULL, &frame, &reply);
    if (status == TK_KERNEL_FAULT && worker->sanitizer) {
        stop(worker);
        tki_sanitizer_report said;
        tki_sanitizer_read(worker->sanitizer_log ? worker->sanitizer_log : "", &said);
        status = tki_fail(worker->ctx, TK_UNAVAILABLE, "compute-sanitizer does not work here: %s", said.problem);
    } else if (status == TK_KERNEL_FAULT) { /* no foreign code has run yet */
        status = tki_fail(worker->ctx, TK_UNAVAILABLE,
                          "the program tokitai-worker does not work here, or is of another "
                          "version than this library");
    } else if (status == TK_OK) {
        tki_wire_text(reply, worker->confinement, sizeof worker->confinement);
        status = expect(worker, TKI_WIRE_REPLY, 0, deadline, NULL, &frame, &reply);
    }
    worker->broken |= status != TK_OK;
    return status;
}

/* TK_UNAVAILABLE: no compute-sanitizer. */
static tk_status prepare_arguments(tki_worker *worker, const char *artifact, const tki_worker_options *options)
{
    tki_strings *list = &worker->arguments;
    const char *backend = options->backend ? options->backend : "cpu";
    tki_strings known = {0};
    for (int i = 0; tk_contract_at(i); i++)
        tki_strings_add(&known, "%s%s ", i ? known.items[i - 1] : "", tk_contract_at(i)->name);
    list->failed |= known.failed;
    tki_strings_add(list, "artifact=%s", artifact);
    tki_strings_add(list, "op=%s", worker->contract->name);
    tki_strings_add(list, "known=%s", known.count ? known.items[known.count - 1] : "");
    tki_strings_add(list, "dims=%d", worker->contract->dim_count);
    tki_strings_add(list, "backend=%s", backend);
    tki_strings_add(list, "device=%d", options->device);
    tki_strings_add(list, "memory=%zu", options->memory_bytes);
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
        return tki_fail(worker->ctx, TK_UNAVAILABLE, "compute-sanitizer is not here");
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
    w->gpu = options->backend && strcmp(options->backend, "cpu") != 0;
    w->call_seconds = options->call_seconds > 0 ? options->call_seconds : 60;
    w->start_seconds = options->start_seconds > 0 ? options->start_seconds : 60;
    w->child.frames = w->child.control = w->child.output = -1;
    w->sanitizer = options->sanitizer;
    tk_status status = prepare_arguments(w, path, options);
    if (status == TK_OK)
        status = start(w);
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
    stop(worker);
    tki_strings_free(&worker->arguments);
    tki_strings_free(&worker->environment);
    free(worker->artifact);
    free(worker->sanitizer_log);
    free(worker);
}

const char *tki_worker_sanitizer_log(tki_worker *worker)
{
    stop(worker);
    return worker->sanitizer_log ? worker->sanitizer_log : "";
}

bool tki_worker_broken(const tki_worker *worker)
{
    return worker->broken;
}

const char *tki_worker_confinement(const tki_worker *worker)
{
    return worker->confinement;
}

void tki_worker_set_context(tki_worker *worker, tk_ctx *ctx)
{
    worker->ctx = ctx;
}

/* ------------------------------------------------------------------------------------------------------------
 * Memory that is shared for one call: the buffer at its place among whole pages, red zones in what is left of them
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct shared {
    int file;     /* -1: nothing to share */
    int same_as;  /* the parameter whose memory it is, or -1 */
    bool written; /* by the worker */
    size_t place, bytes, image_bytes;
} shared;

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* The guards of the caller's buffers carry over: a buffer that ends with a page does so here, with no accessible byte behind it. On
 * a device there are no such pages, so that both zones have a size of their own. */
static bool lay_out(const tki_worker *worker, const tk_case *c, void *const buffers[], shared s[])
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int p = 0; p < c->contract->param_count; p++) {
        s[p] = (shared){.file = -1, .same_as = -1, .written = worker->gpu || c->contract->params[p].output};
        s[p].bytes = (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
        if (s[p].bytes > SIZE_MAX / 2)
            return false;
        if (worker->gpu) {
            s[p].place = GPU_ZONE + (uintptr_t)buffers[p] % GPU_ALIGNMENT;
            s[p].image_bytes = round_up(s[p].place + s[p].bytes + GPU_ZONE, page);
        } else {
            s[p].place = s[p].bytes ? (uintptr_t)buffers[p] % page : 0;
            s[p].image_bytes = round_up(s[p].place + s[p].bytes, page);
        }
        for (int q = 0; q < p && s[p].bytes && s[p].same_as < 0; q++)
            if (buffers[p] == buffers[q] && s[q].bytes)
                s[p].same_as = q;
        if (s[p].same_as >= 0)
            s[s[p].same_as].written |= s[p].written;
    }
    return true;
}

/* Every array has zones of its own, so that a kernel that copies too much does not copy what was there. */
static uint64_t salt_of(uint64_t salt, int param)
{
    return salt + 0x51 * (uint64_t)param;
}

static unsigned char zone_byte(uint64_t salt, size_t i)
{
    return (unsigned char)((i * 131 + (i >> 8) * 17 + salt) ^ (salt >> 32));
}

/* All of them; returns 0 or an errno. Large blocks at a time, since a system call has its price. */
static int transfer(int file, unsigned char *data, size_t bytes, size_t offset, bool write)
{
    while (bytes > 0) {
        ssize_t n = write ? pwrite(file, data, bytes, (off_t)offset) : pread(file, data, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        data += n;
        bytes -= (size_t)n;
        offset += (size_t)n;
    }
    return 0;
}

static int write_all(int file, const unsigned char *data, size_t bytes, size_t offset)
{
    return transfer(file, (unsigned char *)(uintptr_t)data, bytes, offset, true);
}

static int read_all(int file, unsigned char *data, size_t bytes, size_t offset)
{
    return transfer(file, data, bytes, offset, false);
}

enum { ZONE_BLOCK = 4096 };

static int paint_zone(const shared *s, uint64_t salt, size_t begin, size_t end)
{
    unsigned char block[ZONE_BLOCK];
    int error = 0;
    for (size_t i = begin; i < end && !error; i += sizeof block) {
        size_t part = end - i < sizeof block ? end - i : sizeof block;
        for (size_t k = 0; k < part; k++)
            block[k] = zone_byte(salt, i + k);
        error = write_all(s->file, block, part, i);
    }
    return error;
}

static int create(shared *s, const void *data, uint64_t salt)
{
    enum { NOEXEC_SEAL = 8 }; /* some systems insist on it, those before Linux 6.3 do not know it */
    s->file = memfd_create("tokitai", MFD_CLOEXEC | MFD_ALLOW_SEALING | NOEXEC_SEAL);
    if (s->file < 0 && errno == EINVAL)
        s->file = memfd_create("tokitai", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->file < 0 || ftruncate(s->file, (off_t)s->image_bytes))
        return errno;
    int error = paint_zone(s, salt, 0, s->place);
    if (!error)
        error = write_all(s->file, data, s->bytes, s->place);
    if (!error)
        error = paint_zone(s, salt, s->place + s->bytes, s->image_bytes);
    int seals = F_SEAL_GROW | F_SEAL_SHRINK | (s->written ? 0 : F_SEAL_WRITE | F_SEAL_SEAL);
    if (!error && fcntl(s->file, F_ADD_SEALS, seals))
        error = errno;
    return error;
}

static void release(shared s[], int count)
{
    for (int p = 0; p < count; p++)
        if (s[p].file >= 0)
            close(s[p].file);
}

/* The first byte between begin and end that changed, relative to the buffer. */
static int check_zone(const shared *s, uint64_t salt, size_t begin, size_t end, int param, tki_overrun *overrun)
{
    unsigned char block[ZONE_BLOCK];
    int error = 0;
    for (size_t i = begin; i < end && !error && overrun->param < 0; i += sizeof block) {
        size_t part = end - i < sizeof block ? end - i : sizeof block;
        error = read_all(s->file, block, part, i);
        for (size_t k = 0; k < part && !error && overrun->param < 0; k++)
            if (block[k] != zone_byte(salt, i + k))
                *overrun = (tki_overrun){param, (int64_t)(i + k) - (int64_t)s->place};
    }
    return error;
}

/* Nobody can write there from now on. It fails if anybody has it mapped for writing, by whatever address. */
static tk_status seal(tki_worker *worker, const tk_case *c, const shared *s, int param)
{
    if (fcntl(s->file, F_ADD_SEALS, F_SEAL_WRITE) == 0)
        return TK_OK;
    int error = errno;
    worker->broken = true;
    return tki_fail(worker->ctx, TK_KERNEL_FAULT, "the kernel %s %s after it had returned",
                    error == EBUSY ? "could still write to" : "changed the seals of",
                    c->contract->params[param].name);
}

static tk_status collect(tki_worker *worker, const tk_case *c, void *const buffers[], const shared s[], uint64_t salt,
                         tki_overrun *overrun)
{
    int error = 0;
    tk_status status = TK_OK;
    for (int p = 0; p < c->contract->param_count && status == TK_OK; p++)
        if (s[p].file >= 0 && s[p].written)
            status = seal(worker, c, &s[p], p);
    for (int p = 0; p < c->contract->param_count && status == TK_OK && !error; p++) {
        if (s[p].file < 0 || !s[p].written)
            continue;
        error = check_zone(&s[p], salt_of(salt, p), 0, s[p].place, p, overrun);
        if (!error)
            error = check_zone(&s[p], salt_of(salt, p), s[p].place + s[p].bytes, s[p].image_bytes, p, overrun);
        if (!error)
            error = read_all(s[p].file, buffers[p], s[p].bytes, s[p].place);
    }
    if (error)
        status = tki_fail(worker->ctx, TK_IO, "shared memory could not be read: %s", strerror(error));
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * The call
 * ------------------------------------------------------------------------------------------------------------ */

static tki_wire_call describe(const tki_worker *worker, const tk_case *c, const shared s[], uint64_t nonce,
                              int files[], int *file_count)
{
    tki_wire_call call = {.header = {TKI_WIRE_MAGIC, TKI_WIRE_CALL, nonce},
                          .dtype = (int32_t)c->dtype,
                          .index_dtype = (int32_t)c->index_dtype,
                          .label_smoothing = c->xent.label_smoothing,
                          .scale = c->xent.scale,
                          .ignore_index = c->xent.ignore_index,
                          .threads = tki_ctx_threads(worker->ctx),
                          .buffer_count = c->contract->param_count};
    snprintf(call.op, sizeof call.op, "%s", c->contract->name);
    memcpy(call.dims, c->dims, sizeof call.dims);
    *file_count = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        int32_t memory = TKI_WIRE_NOWHERE;
        if (s[p].same_as >= 0)
            memory = call.buffers[s[p].same_as].memory;
        else if (s[p].file >= 0)
            files[memory = (*file_count)++] = s[p].file;
        call.buffers[p] = (tki_wire_buffer){s[p].bytes, s[p].place, memory, c->contract->params[p].output};
    }
    return call;
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
    char end[128], text[192];
    switch (tki_child_receive(&worker->child, 0, &frame)) {
    case TKI_RECEIPT_TIMEOUT: return TK_OK;
    case TKI_RECEIPT_FRAME:
        if (tki_reply_is_signal(frame.bytes, frame.size)) {
            worker->broken = true;
            return tki_reply_explain_signal(worker->ctx, frame.bytes, c);
        }
        break;
    case TKI_RECEIPT_GARBLED: break;
    case TKI_RECEIPT_CLOSED:
        tki_child_explain_end(&worker->child, end, sizeof end);
        snprintf(text, sizeof text, "%s after it had returned", end);
        return fault(worker, text);
    }
    return fault(worker, "sent a frame after it had returned");
}

/* Sends the call, lets it go, waits for its end. */
static tk_status converse(tki_worker *worker, const tk_case *c, const shared s[], double *seconds)
{
    uint64_t nonce;
    int files[TKI_WIRE_BUFFERS], file_count;
    tki_frame frame;
    const tki_wire_reply *reply;
    if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce)
        return tki_fail(worker->ctx, TK_IO, "no random numbers: %s", strerror(errno));
    double deadline = tki_now() + worker->call_seconds;
    tki_wire_call call = describe(worker, c, s, nonce, files, &file_count);
    /* If it cannot be sent the worker is gone; what is received then says how. */
    send_frame(&worker->child, &call, sizeof call, files, file_count);
    tk_status status = expect(worker, TKI_WIRE_READY, nonce, deadline, c, &frame, &reply);
    if (status != TK_OK)
        return status;
    tki_wire_header go = {TKI_WIRE_MAGIC, TKI_WIRE_GO, nonce};
    double begin = tki_now();
    send_frame(&worker->child, &go, sizeof go, NULL, 0);
    status = expect(worker, TKI_WIRE_REPLY, nonce, deadline, c, &frame, &reply);
    double elapsed = tki_now() - begin;
    if (status == TK_OK && seconds)
        *seconds = worker->gpu && reply->seconds > 0 && reply->seconds < elapsed ? reply->seconds : elapsed;
    return status;
}

tk_status tki_worker_call(tki_worker *worker, const tk_case *c, void *const buffers[], double *seconds,
                          tki_overrun *overrun)
{
    shared s[TK_MAX_PARAMS];
    tk_ctx *ctx = worker->ctx;
    *overrun = (tki_overrun){.param = -1};
    if (c->contract != worker->contract)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "this worker runs %s", worker->contract->name);
    if (worker->broken) {
        stop(worker);
        tk_status status = start(worker);
        if (status != TK_OK)
            return status;
    }
    tk_status status = check_quiet(worker, c);
    if (status == TK_OK && !lay_out(worker, c, buffers, s))
        status = tki_fail(ctx, TK_NO_MEMORY, "the buffers of this case do not fit in an address space");
    if (status != TK_OK) {
        if (worker->broken)
            stop(worker);
        return status;
    }
    uint64_t salt = 0;
    int error = getrandom(&salt, sizeof salt, 0) == sizeof salt ? 0 : errno;
    for (int p = 0; p < c->contract->param_count && !error; p++)
        if (s[p].same_as < 0 && s[p].image_bytes)
            error = create(&s[p], buffers[p], salt_of(salt, p));
    if (error)
        status = tki_fail(ctx, TK_NO_MEMORY, "no shared memory for the buffers of this case: %s", strerror(error));
    if (status == TK_OK)
        status = converse(worker, c, s, seconds);
    if (status == TK_OK)
        status = collect(worker, c, buffers, s, salt, overrun);
    if (status == TK_OK)
        status = check_quiet(worker, c);
    release(s, c->contract->param_count);
    if (worker->broken)
        stop(worker);
    return status;
}
