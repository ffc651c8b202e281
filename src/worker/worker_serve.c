/* CHOOSES. The process that runs a user kernel: loads it, maps what the parent passes, calls it, unmaps, answers. Foreign code shares this
 * address space and may do anything to it, so that nothing here protects anybody; the parent does. */
#include "worker/worker_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/float_mode.h"
#include "worker/worker_calls.h"

/* Inaccessible memory on both sides of every buffer; a stride that leaps over it may still land in other memory. */
enum { GUARD_BYTES = 1 << 20 };

/* One memory of the parent's, as mapped for one call. */
typedef struct mapping {
    unsigned char *reserved; /* guard, image, guard; NULL: none */
    size_t reserved_bytes;
    unsigned char *image;
    size_t image_bytes;
    int param; /* whose buffer it is; of several the first */
    unsigned char *data;
    bool in_room; /* the reservation stays, the image goes */
    bool kept;    /* both stay */
} mapping;

static struct {
    uint64_t nonce;
    bool running;
    unsigned calls;
    int count;
    mapping mappings[TKI_WIRE_BUFFERS]; /* after the call: where they were */
} current;

static fenv_t as_loaded; /* the mode that the kernel's library has left when it was loaded */

static tki_wire_reply reply_of(tki_wire_kind kind, int status)
{
    return (tki_wire_reply){
        .header = {.magic = TKI_WIRE_MAGIC, .kind = kind, .nonce = current.nonce}, .status = status, .param = -1};
}

/* ------------------------------------------------------------------------------------------------------------
 * Deadly signals
 * ------------------------------------------------------------------------------------------------------------ */

/* Was it a write that failed? False where the processor's answer is not known. */
static bool was_write(int number, const ucontext_t *context)
{
    if (number != SIGSEGV)
        return false;
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#elif defined(__aarch64__)
    enum { SYNDROME = 0x45535201 }; /* the record with the exception's syndrome, whose bit 6 is set by a write */
    const unsigned char *place = (const unsigned char *)context->uc_mcontext.__reserved;
    for (uint32_t record[2]; memcpy(record, place, sizeof record), record[0] && record[1]; place += record[1]) {
        uint64_t syndrome;
        memcpy(&syndrome, place + sizeof record, sizeof syndrome);
        if (record[0] == SYNDROME)
            return syndrome >> 6 & 1;
    }
    return false;
#else
    (void)context;
    return false;
#endif
}

/* Says what happened, then lets the signal do its work. */
static void on_deadly_signal(int number, siginfo_t *about, void *context)
{
    if (number == SIGSEGV && tki_worker_answers_counter(about, context))
        return;
    tki_wire_reply reply = reply_of(TKI_WIRE_REPLY, TKI_WIRE_SIGNAL);
    reply.detail = number;
    bool has_address = about->si_code > 0 && (number == SIGSEGV || number == SIGBUS);
    const unsigned char *address = has_address ? about->si_addr : NULL;
    reply.address = (uintptr_t)address;
    for (int i = 0; i < current.count && has_address; i++) {
        const mapping *m = &current.mappings[i];
        if (address >= m->reserved && address < m->reserved + m->reserved_bytes) {
            reply.param = m->param;
            reply.offset = address - m->data;
        }
    }
    reply.flags = (was_write(number, context) ? TKI_WIRE_WROTE : 0u) | (current.running ? 0u : TKI_WIRE_LATE) |
                  (has_address && tki_worker_heap_owns(address) ? TKI_WIRE_HEAP : 0u);
    tki_worker_send(&reply, "");
    signal(number, SIG_DFL);
    if (about->si_code <= 0)
        raise(number);
}

static void catch_deadly_signals(void)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP, SIGXCPU};
    static unsigned char stack[1 << 16]; /* the usual one may be what overflowed */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_deadly_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaction(deadly[i], &action, NULL);
}

/* ------------------------------------------------------------------------------------------------------------
 * Frames
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct received {
    _Alignas(8) unsigned char frame[sizeof(tki_wire_call)]; /* as large as the largest without arrays */
    size_t bytes;                                           /* 0: the parent closed */
    int memory[TKI_WIRE_BUFFERS];
    int memory_count;
} received;

static void receive(received *r)
{
    union {
        char space[CMSG_SPACE(sizeof r->memory)];
        struct cmsghdr align;
    } control;
    struct iovec part = {r->frame, sizeof r->frame};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    while ((got = recvmsg(TKI_WORKER_FRAMES, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    r->bytes = got > 0 ? (size_t)got : 0;
    r->memory_count = 0;
    const struct cmsghdr *about = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (about && about->cmsg_level == SOL_SOCKET && about->cmsg_type == SCM_RIGHTS) {
        r->memory_count = (int)((about->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(r->memory, CMSG_DATA(about), (size_t)r->memory_count * sizeof(int));
    }
}

/* ------------------------------------------------------------------------------------------------------------
 * Mapping
 * ------------------------------------------------------------------------------------------------------------ */

/* A worker has two sets of addresses, and each call draws one: what a kernel keeps by address, or leaves to be written later, meets
 * other arrays there as often as none. Each is reserved once, with nothing accessible around it. */
enum { SETS = 2, ROOM = 1 << 20 };

static unsigned char *rooms[SETS][TKI_WIRE_BUFFERS];       /* for images that come with a call, of up to ROOM bytes */
static unsigned char *arena_rooms[SETS][TKI_WIRE_BUFFERS]; /* for the slots of the arena, where there is one */

static unsigned char *reserve(size_t bytes)
{
    void *reserved = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return reserved == MAP_FAILED ? NULL : reserved;
}

static void keep_arena(const received *r)
{
    struct stat about = {0};
    const bool good = r->memory_count == 1 && fstat(r->memory[0], &about) == 0;
    for (int set = 0; set < SETS && good; set++)
        for (int i = 0; i < TKI_WIRE_BUFFERS && i < about.st_size / TKI_WIRE_SLOT; i++) {
            unsigned char *room = arena_rooms[set][i] ? NULL : reserve(2 * GUARD_BYTES + TKI_WIRE_SLOT);
            if (room && mmap(room + GUARD_BYTES, TKI_WIRE_SLOT, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                             r->memory[0], (off_t)i * TKI_WIRE_SLOT) != MAP_FAILED)
                arena_rooms[set][i] = room;
        }
    for (int i = 0; i < r->memory_count; i++)
        close(r->memory[i]);
}

static bool map_slot(mapping *m, int set, const tki_wire_buffer *b)
{
    unsigned char *room = arena_rooms[set][m->param];
    if (!room)
        return false;
    m->reserved = room;
    m->reserved_bytes = 2 * GUARD_BYTES + TKI_WIRE_SLOT;
    m->image = room + GUARD_BYTES;
    m->image_bytes = TKI_WIRE_SLOT;
    m->kept = true;
    m->data = m->image + (b->place - (uint64_t)m->param * TKI_WIRE_SLOT);
    return true;
}

static bool map(mapping *m, int set, int memory, bool writable)
{
    struct stat about = {0};
    if (memory >= 0 && fstat(memory, &about) != 0)
        return false;
    m->image_bytes = (size_t)about.st_size;
    m->in_room = m->image_bytes <= ROOM;
    m->reserved_bytes = 2 * GUARD_BYTES + (m->in_room ? (size_t)ROOM : m->image_bytes);
    m->reserved = m->in_room ? rooms[set][m->param] : NULL;
    if (!m->reserved)
        m->reserved = reserve(m->reserved_bytes);
    if (!m->reserved)
        return false;
    if (m->in_room)
        rooms[set][m->param] = m->reserved;
    m->image = m->reserved + GUARD_BYTES;
    return m->image_bytes == 0 || mmap(m->image, m->image_bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                                       MAP_SHARED | MAP_FIXED | MAP_POPULATE, memory, 0) != MAP_FAILED;
}

static void unmap_all(void)
{
    current.running = false;
    for (int i = 0; i < current.count; i++) {
        const mapping *m = &current.mappings[i];
        if (m->in_room && m->image_bytes)
            mmap(m->image, m->image_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        else if (!m->in_room && !m->kept && m->reserved)
            munmap(m->reserved, m->reserved_bytes);
    }
}

/* Gives every array its address; arrays in one memory share its mapping. */
static bool map_all(const tki_wire_call *call, const received *r, bool gpu, int mapping_of[TKI_WIRE_BUFFERS])
{
    const int set = (call->head.header.nonce & TKI_NONCE_SET) != 0;
    current.count = 0;
    for (int i = 0; i < call->head.buffer_count; i++) {
        const tki_wire_buffer *b = &call->buffers[i];
        mapping_of[i] = -1;
        for (int j = 0; j < i; j++)
            if (b->memory >= 0 && call->buffers[j].memory == b->memory)
                mapping_of[i] = mapping_of[j];
        if (mapping_of[i] >= 0)
            continue;
        bool writable = gpu;
        for (int j = i; j < call->head.buffer_count; j++)
            writable |= call->buffers[j].output && (j == i || call->buffers[j].memory == b->memory);
        mapping *m = &current.mappings[mapping_of[i] = current.count++];
        *m = (mapping){.param = i};
        if (b->memory == TKI_WIRE_ARENA) {
            if (!map_slot(m, set, b))
                return false;
            continue;
        }
        if (!map(m, set, b->memory >= 0 ? r->memory[b->memory] : -1, writable))
            return false;
        if (!tki_wire_within(b->place, b->bytes, m->image_bytes) && b->bytes)
            return false;
        m->data = m->image + b->place;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * The call
 * ------------------------------------------------------------------------------------------------------------ */

enum { SYMBOL_SIZE = TKI_WIRE_OP + 16 };

typedef struct entry {
    void *function;
    int abi;
    const tki_kernel_call *caller; /* of ABI 1 */
} entry;

typedef int (*kernel_v2)(const tokitai_call *call, const tokitai_tensor *tensors, int count);
typedef int (*kernel_v3)(const tokitai_call3 *call);

/* What the header of ABI 2, and of ABI 1, does not know of a case; false if it knows all. A function that was written by it is not called
 * then. */
enum { ABI_2_RANK = 4 };
static bool is_too_new(const tki_wire_call *call, char *reason, size_t size)
{
    for (int i = 0; i < call->head.buffer_count; i++) {
        const tki_wire_buffer *b = &call->buffers[i];
        if (b->dtype > TOKITAI_U64)
            snprintf(reason, size, "%.*s has an element type that ABI 2 lacks", TKI_WIRE_NAME, b->name);
        else if (b->rank > ABI_2_RANK)
            snprintf(reason, size, "%.*s has rank %d; ABI 2 allows at most %d", TKI_WIRE_NAME, b->name, b->rank,
                     ABI_2_RANK);
        else
            continue;
        return true;
    }
    for (int i = 0; i < call->head.attribute_count; i++) {
        const tki_wire_attribute *a = &call->attributes[i];
        if (a->type != TOKITAI_REAL || (double)(float)a->value.real == a->value.real)
            continue;
        snprintf(reason, size, "%.*s is not an fp32 number; ABI 2 has no others", TKI_WIRE_NAME, a->name);
        return true;
    }
    return false;
}

/* What the functions of all versions are told. */
static void list_attributes(const tki_wire_call *call, tokitai_attribute attributes[TKI_WIRE_ATTRIBUTES])
{
    for (int i = 0; i < call->head.attribute_count; i++) {
        const tki_wire_attribute *a = &call->attributes[i];
        attributes[i] = (tokitai_attribute){.name = a->name, .type = a->type};
        if (a->type == TOKITAI_REAL)
            attributes[i].real = a->value.real;
        else
            attributes[i].integer = a->value.integer;
    }
}

static int call_v3(void *function, const tki_wire_call *call, void *stream, void **pointers)
{
    tokitai_attribute attributes[TKI_WIRE_ATTRIBUTES];
    tokitai_tensor3 tensors[TKI_WIRE_BUFFERS];
    kernel_v3 kernel;
    memcpy(&kernel, &function, sizeof kernel);
    list_attributes(call, attributes);
    for (int i = 0; i < call->head.buffer_count; i++) {
        const tki_wire_buffer *b = &call->buffers[i];
        tensors[i] = (tokitai_tensor3){.name = b->name,
                                       .data = pointers[i],
                                       .dtype = b->dtype,
                                       .output = (int32_t)b->output,
                                       .rank = b->rank,
                                       .shape = b->shape};
    }
    tki_worker_dirty_stacks(!stream);
    return kernel(&(tokitai_call3){.size = sizeof(tokitai_call3),
                                   .threads = call->head.threads,
                                   .stream = stream,
                                   .tensor_count = call->head.buffer_count,
                                   .attribute_count = call->head.attribute_count,
                                   .tensors = tensors,
                                   .attributes = attributes});
}

static int call_v2(void *function, const tokitai_call *head, const tki_wire_call *call, void **pointers)
{
    tokitai_tensor tensors[TKI_WIRE_BUFFERS];
    kernel_v2 kernel;
    memcpy(&kernel, &function, sizeof kernel);
    for (int i = 0; i < call->head.buffer_count; i++) {
        const tki_wire_buffer *b = &call->buffers[i];
        tensors[i] = (tokitai_tensor){
            .name = b->name, .data = pointers[i], .dtype = b->dtype, .output = (int32_t)b->output, .rank = b->rank};
        memcpy(tensors[i].shape, b->shape, sizeof tensors[i].shape);
    }
    tki_worker_dirty_stacks(!head->stream);
    return kernel(head, tensors, call->head.buffer_count);
}

static int call_kernel(const entry *kernel, const tki_wire_call *call, void *stream, void **pointers)
{
    if (kernel->abi == 3)
        return call_v3(kernel->function, call, stream, pointers);
    tokitai_attribute attributes[TKI_WIRE_ATTRIBUTES];
    tokitai_call head = {.abi = TOKITAI_KERNEL_ABI,
                         .dtype = call->head.dtype,
                         .index_dtype = call->head.index_dtype,
                         .threads = call->head.threads,
                         .stream = stream,
                         .result_dtype = call->head.result_dtype,
                         .attribute_count = call->head.attribute_count,
                         .attributes = attributes};
    list_attributes(call, attributes);
    for (int i = 0; i < call->head.attribute_count; i++)
        tki_kernel_call_set(&head, call->attributes[i].name,
                            (tk_value){.integer = call->attributes[i].value.integer});
    if (!kernel->caller)
        return call_v2(kernel->function, &head, call, pointers);
    tki_worker_dirty_stacks(!stream);
    return kernel->caller->call(kernel->function, &head, call->dims, pointers);
}

/* A reply that all went well. */
static bool send_state(tki_wire_reply reply, const tki_process_state *state)
{
    reply.text_bytes = sizeof *state;
    return tki_worker_send(&reply, state);
}

static bool wait_for_go(void)
{
    received r;
    receive(&r);
    const tki_wire_header *go = (const tki_wire_header *)(const void *)r.frame;
    return r.bytes == sizeof *go && go->magic == TKI_WIRE_MAGIC && go->kind == TKI_WIRE_GO &&
           go->nonce == current.nonce;
}

/* False if the parent wants no more. */
static bool serve_call(const tki_worker_settings *settings, const entry *kernel, tki_worker_gpu *gpu, received *r)
{
    static tki_wire_call taken; /* a kernel may keep the names of tensors and attributes */
    const tki_wire_call *call = &taken;
    if (tki_wire_read_call(r->frame, r->bytes, r->memory_count, true, &taken))
        return false;
    current.nonce = call->head.header.nonce;
    int mapping_of[TKI_WIRE_BUFFERS];
    bool mapped = map_all(call, r, gpu != NULL, mapping_of);
    for (int i = 0; i < r->memory_count; i++)
        close(r->memory[i]);

    void *pointers[TKI_WIRE_BUFFERS] = {0}, *stream = NULL;
    tki_worker_image images[TKI_WIRE_BUFFERS] = {{0}};
    char reason[1024] = "not enough memory for its buffers";
    tki_wire_reply reply = reply_of(TKI_WIRE_READY, mapped ? TKI_WIRE_DONE : TKI_WIRE_NO_MEMORY);
    for (int i = 0; i < call->head.buffer_count && mapped; i++) {
        const mapping *m = &current.mappings[mapping_of[i]];
        images[i] = (tki_worker_image){.host = m->image,
                                       .bytes = m->image_bytes,
                                       .place = call->buffers[i].place,
                                       .array_bytes = call->buffers[i].bytes,
                                       .output = call->buffers[i].output,
                                       .same_as = m->param == i ? -1 : m->param};
        pointers[i] = m->param == i ? m->data : m->image + call->buffers[i].place;
    }
    if (mapped && gpu) {
        reply.status = tki_worker_gpu_begin(gpu, images, call->head.buffer_count, &stream, reason, sizeof reason);
        for (int i = 0; i < call->head.buffer_count; i++)
            pointers[i] = (char *)images[i].device + images[i].place;
    }
    if (!reply.status && kernel->abi < 3 && is_too_new(call, reason, sizeof reason))
        reply.status = TKI_WIRE_TOO_NEW;
    const bool at_once = tki_wire_at_once(call, gpu != NULL);
    if (at_once && reply.status)
        reply.header.kind = TKI_WIRE_REPLY;
    if ((!at_once || reply.status) && !tki_worker_send(&reply, reply.status ? reason : ""))
        return false;
    if (reply.status) {
        unmap_all();
        return true;
    }
    if (!at_once && !wait_for_go())
        return false;

    tki_worker_watch_call(call->head.threads);
    if (settings->guards_heap)
        tki_worker_move_clocks();
    current.running = true;
    current.calls++;
    if (gpu)
        tki_worker_gpu_mark(gpu, false);
    if (current.nonce & TKI_NONCE_AS_LOADED)
        fesetenv(&as_loaded);
    if (current.calls & 2)
        tki_float_flags_raise();
    int result = call_kernel(kernel, call, stream, pointers);
    /* The parent knows how it was, and no copy of that lies where the kernel could have reached it. */
    tki_process_state state = {.float_mode = tki_float_mode()};
    tki_float_mode_reset();
    reply = reply_of(TKI_WIRE_REPLY, result ? TKI_WIRE_REFUSED : TKI_WIRE_DONE);
    reply.detail = result;
    /* A driver does with its signals what it likes. And these are a hundred system calls: the 1st, 2nd, 4th, 8th ... call pays for them. */
    if (!gpu && !(current.calls & (current.calls - 1)))
        tki_worker_state_compare(&state);
    if (settings->guards_heap && tki_worker_heap_is_damaged())
        reply.status = TKI_WIRE_HEAP_DAMAGED;
    tki_worker_watch_pause();
    reason[0] = 0;
    if (gpu) {
        tki_worker_gpu_mark(gpu, true);
        int detail = 0;
        int status = tki_worker_gpu_finish(gpu, images, call->head.buffer_count, &reply.seconds, &detail, reason,
                                           sizeof reason);
        if (status) {
            reply.status = status;
            reply.detail = detail;
        }
    }
    unmap_all();
    return reply.status ? tki_worker_send(&reply, reason) : send_state(reply, &state);
}

/* ------------------------------------------------------------------------------------------------------------
 * Loading
 * ------------------------------------------------------------------------------------------------------------ */

static const char *const endings[] = {"", "_v2", "_v3"}; /* of the names of functions of ABI 1 to 3 */

/* Which of the known ops the library has. */
static void list_ops(void *library, const char *known, char *text, size_t size)
{
    text[0] = 0;
    for (const char *name = known; *name;) {
        int length = (int)strcspn(name, " ");
        char symbol[SYMBOL_SIZE];
        for (size_t version = 0; version < sizeof endings / sizeof *endings; version++) {
            snprintf(symbol, sizeof symbol, "tokitai_%.*s%s", length, name, endings[version]);
            size_t used = strlen(text);
            if (dlsym(library, symbol))
                snprintf(text + used, size - used, "%s%s", used ? ", " : "", symbol);
        }
        name += length;
        name += *name == ' ';
    }
}

/* The function of the latest version, if there are several. */
static bool find(void *library, const char *op, entry *kernel)
{
    char symbol[SYMBOL_SIZE];
    for (int abi = 3; abi >= 1; abi--) {
        snprintf(symbol, sizeof symbol, "tokitai_%s%s", op, endings[abi - 1]);
        *kernel = (entry){.abi = abi, .caller = abi == 1 ? tki_kernel_call_find(op) : NULL};
        kernel->function = abi > 1 || kernel->caller ? dlsym(library, symbol) : NULL;
        if (kernel->function)
            return true;
    }
    return false;
}

static bool load(const tki_worker_settings *settings, void **opened, entry *kernel, char *reason, size_t size)
{
    char others[512];
    void *library = *opened = dlopen(settings->artifact, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(reason, size, "cannot be loaded: %s", why ? why : "no reason given");
        return false;
    }
    if (find(library, settings->op, kernel))
        return true;
    list_ops(library, settings->known, others, sizeof others);
    /* Some ops have the general form alone. */
    char typed[SYMBOL_SIZE + 8] = "", declared[SYMBOL_SIZE + 48] = "";
    if (tki_kernel_call_find(settings->op))
        snprintf(typed, sizeof typed, "tokitai_%s or ", settings->op);
    else
        snprintf(declared, sizeof declared, ", which TOKITAI_KERNEL3(%s) declares", settings->op);
    snprintf(reason, size, "has no function %stokitai_%s_v3%s; %s%s", typed, settings->op, declared,
             others[0] ? "it has " : "nor has it that of any other op: are they declared by tokitai_kernel.h?",
             others);
    return false;
}

/* False if that is not what the frame is about. */
static bool serve_watch(const tki_worker_settings *settings, void *function, received *r)
{
    const tki_wire_header *header = (const tki_wire_header *)(const void *)r->frame;
    if (r->bytes != sizeof *header || header->magic != TKI_WIRE_MAGIC)
        return false;
    current.nonce = header->nonce;
    tki_wire_reply reply = reply_of(TKI_WIRE_REPLY, TKI_WIRE_DONE);
    if (header->kind == TKI_WIRE_WATCH && r->memory_count == 1) {
        if (!tki_worker_watch(settings, r->memory[0], function))
            reply.status = TKI_WIRE_NO_MEMORY;
        close(r->memory[0]);
    } else if (header->kind == TKI_WIRE_WATCH_END) {
        tki_worker_watch_end();
    } else {
        return false;
    }
    return tki_worker_send(&reply, "");
}

/* A thread's stack is as large as the first thread's may become; libc gives it addresses to allocate from. */
enum { MOST_STACK = 1 << 26, ARENA = 1 << 27 };

static size_t stack_bytes(void)
{
    struct rlimit now;
    const bool known = getrlimit(RLIMIT_STACK, &now) == 0 && now.rlim_cur >= (rlim_t)PTHREAD_STACK_MIN;
    return known && now.rlim_cur < MOST_STACK ? now.rlim_cur : MOST_STACK;
}

void tki_worker_bare_needs(tki_sandbox *sandbox)
{
    sandbox->own_tasks = 1;
    sandbox->own_bytes = stack_bytes() + ARENA;
}

typedef struct service {
    const tki_worker_settings *settings;
    const entry *kernel;
    tki_worker_gpu *gpu;
    int status;
} service;

/* Calls until the parent closes. */
static void *serve_calls(void *given)
{
    service *s = given;
    tki_worker_state_note();
    for (;;) {
        received r;
        receive(&r);
        if (!r.bytes)
            return NULL;
        const tki_wire_header *header = (const tki_wire_header *)(const void *)r.frame;
        if (r.bytes == sizeof *header && header->magic == TKI_WIRE_MAGIC && header->kind == TKI_WIRE_KEEP) {
            keep_arena(&r);
            continue;
        }
        if (!serve_watch(s->settings, s->kernel->function, &r) && !serve_call(s->settings, s->kernel, s->gpu, &r)) {
            s->status = 1;
            return NULL;
        }
    }
}

/* False: there is no other thread. */
static bool serve_in_another_thread(service *s)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    const bool started = pthread_attr_setstacksize(&attributes, stack_bytes()) == 0 &&
                         pthread_create(&thread, &attributes, serve_calls, s) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

int tki_worker_serve(const tki_worker_settings *settings)
{
    char reason[2048] = "";
    void *library = NULL;
    tki_worker_gpu *gpu = NULL;
    if (!settings->bare)
        catch_deadly_signals();
    /* A part of the addresses that there may be, so that most are left to the kernel. */
    if (settings->guards_heap) {
        tki_worker_heap_guard(settings->sandbox.memory_bytes / 8);
        if (!settings->sandbox.gpu) /* drivers read it all the time */
            tki_worker_trap_counter();
    }
    if (settings->sandbox.gpu)
        gpu = tki_worker_gpu_open(settings->backend, settings->device, settings->tool, reason, sizeof reason);
    tki_wire_reply reply = reply_of(TKI_WIRE_REPLY, TKI_WIRE_DONE);
    reply.detail = settings->sandbox.gpu && !gpu; /* the device is missing, not the kernel */
    entry kernel = {0};
    tki_worker_state_note();
    tki_float_mode_reset();
    const bool loaded = !reply.detail && load(settings, &library, &kernel, reason, sizeof reason);
    tki_process_state state = {.float_mode = tki_float_mode()};
    fegetenv(&as_loaded);
    tki_float_mode_reset();
    tki_worker_state_compare(&state);
    reply.status = loaded ? TKI_WIRE_DONE : TKI_WIRE_NOT_LOADED;
    if (!(loaded ? send_state(reply, &state) : tki_worker_send(&reply, reason)) || !loaded)
        return 1;
    service s = {settings, &kernel, gpu, 0};
    if (!settings->bare || !serve_in_another_thread(&s))
        serve_calls(&s);
    return s.status;
}
