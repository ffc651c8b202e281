/* CHOOSES. Binary frames: what a worker and its parent say to each other, and `tokitai kernel --binary` and its clients; docs/protocol.md
 * has it for people. A socket that keeps packets apart carries one frame a packet; on a byte stream each frame comes behind
 * its length, a little-endian u32. All numbers are little-endian. Structs have no holes, and a frame begins 8-byte aligned in memory.
 *
 * Everything that comes out of a worker is untrusted: it is read through the functions below and no other way. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are little-endian, and so must be the machine"
#endif

enum {
    TKI_WIRE_MAGIC = 0x33574b54, /* "TKW3": the version, too */
    TKI_WIRE_OP = 64,            /* bytes of an op's name with its end */
    TKI_WIRE_NAME = 32,          /* bytes of the name of a tensor or an attribute with its end */
    TKI_WIRE_RANK = 8,
    TKI_WIRE_SIZES = 64, /* most of each in a call */
    TKI_WIRE_ATTRIBUTES = 32,
    TKI_WIRE_BUFFERS = 64,
    TKI_WIRE_SLOT = 1 << 18,    /* bytes of the arena for each array of a call */
    TKI_WIRE_AT_ONCE = 1 << 19, /* up to this many bytes of arrays a worker runs a call without READY and GO */
    TKI_WIRE_TEXT = 4096        /* most bytes of text in a reply */
};

typedef enum tki_wire_kind {
    TKI_WIRE_CALL = 1, /* tki_wire_head, then its records, then arrays */
    TKI_WIRE_REPLY,    /* tki_wire_reply, then its records, then text, then arrays */
    /* Between a worker and its parent only. */
    TKI_WIRE_READY, /* tki_wire_reply: the buffers of the call are mapped; it waits for GO */
    TKI_WIRE_GO,    /* tki_wire_header: run now */
    TKI_WIRE_CONFINED, /* tki_wire_reply: the first frame, sent before foreign code is loaded; its text is the records of worker_start.h */
    TKI_WIRE_KEEP,     /* tki_wire_header with one descriptor: the arena of the calls that follow; no answer */
    TKI_WIRE_WATCH,    /* tki_wire_header with one descriptor: write coverage there */
    TKI_WIRE_WATCH_END /* tki_wire_header: and now gcov's counters */
} tki_wire_kind;

typedef struct tki_wire_header {
    uint32_t magic;
    uint32_t kind;
    uint64_t nonce; /* the caller draws it, the answer repeats it */
} tki_wire_header;

enum { TKI_WIRE_INLINE = -1, TKI_WIRE_NOWHERE = -2, TKI_WIRE_ARENA = -3 };

/* A tensor, and where its array lies. In a reply everything behind `output` is 0. */
typedef struct tki_wire_buffer {
    uint64_t bytes;
    uint64_t
        place; /* its first byte: from the frame's start if inline (8-byte aligned), else from that of the memory */
    int32_t
        memory; /* TKI_WIRE_INLINE; or the how-manieth descriptor of the frame it is in; or TKI_WIRE_NOWHERE; to a worker also TKI_WIRE_ARENA */
    uint32_t output; /* 1: the kernel writes it */
    int32_t dtype;   /* tk_dtype */
    int32_t rank;
    int64_t shape[TKI_WIRE_RANK];
    char name[TKI_WIRE_NAME]; /* zeros behind it */
} tki_wire_buffer;

/* An attribute that kernels see. */
typedef struct tki_wire_attribute {
    char name[TKI_WIRE_NAME];
    int32_t type; /* tk_attribute_type */
    int32_t zero;
    union {
        int64_t integer;
        double real;
    } value;
} tki_wire_attribute;

/* The beginning of a call: the case. Behind it are its sizes (i64 each), its attributes and its tensors, as many as it says, in contract
 * order. An output inline has no bytes in the frame: place is 0. */
typedef struct tki_wire_head {
    tki_wire_header header;
    char op[TKI_WIRE_OP]; /* "gelu_bwd", zeros behind it */
    int32_t dtype;        /* tk_dtype */
    int32_t result_dtype;
    int32_t index_dtype;
    int32_t threads; /* 0: as many as the machine has */
    int32_t dim_count;
    int32_t attribute_count;
    int32_t buffer_count;
    int32_t zero;
} tki_wire_head;

/* A call in memory, with room for all records. */
typedef struct tki_wire_call {
    tki_wire_head head;
    int64_t dims[TKI_WIRE_SIZES];
    tki_wire_attribute attributes[TKI_WIRE_ATTRIBUTES];
    tki_wire_buffer buffers[TKI_WIRE_BUFFERS];
} tki_wire_call;

/* Records of arrays follow, as many as it says, then the text. */
typedef struct tki_wire_reply {
    tki_wire_header header;
    int32_t status;   /* 0, or what went wrong: tki_wire_status from a worker, an exit status from `tokitai kernel` */
    int32_t detail;   /* the kernel's own number, the signal, the driver's error */
    double seconds;   /* the kernel's time as the answering side took it */
    uint64_t address; /* of a fault */
    int64_t offset;   /* of a fault, from the start of array `param` */
    int32_t param;    /* the array concerned, or -1 */
    uint32_t text_bytes; /* without an end; arrays follow at the next multiple of 8 */
    int32_t buffer_count;
    uint32_t flags; /* a worker: TKI_WIRE_... below; else 0 */
} tki_wire_reply;

enum {
    TKI_WIRE_WROTE = 2, /* of a signal: the access was a write */
    TKI_WIRE_LATE = 4,  /* of a signal: no call was running */
    TKI_WIRE_HEAP = 8   /* of a signal: at memory beside what the kernel had allocated, or had freed */
};

_Static_assert(sizeof(tki_wire_header) == 16 && sizeof(tki_wire_head) == 112, "no holes");
_Static_assert(sizeof(tki_wire_buffer) == 128 && sizeof(tki_wire_attribute) == 48, "no holes");
_Static_assert(sizeof(tki_wire_reply) == 64, "no holes");

typedef enum tki_wire_status {
    TKI_WIRE_DONE,
    TKI_WIRE_REFUSED,    /* the kernel returned a number other than 0 */
    TKI_WIRE_NOT_LOADED, /* the library, the function or the device could not be had */
    TKI_WIRE_NO_MEMORY,
    TKI_WIRE_SIGNAL, /* sent by the handler of a deadly signal, the last frame */
    TKI_WIRE_DEVICE_FAULT,
    TKI_WIRE_TOO_NEW,      /* the function is of an ABI that cannot say what this case is; the text says why */
    TKI_WIRE_HEAP_DAMAGED, /* the kernel wrote beside what it had allocated, or freed it twice */
    TKI_WIRE_STATUSES
} tki_wire_status;

/* True if [place, place + bytes) lies inside [0, size). */
static inline bool tki_wire_within(uint64_t place, uint64_t bytes, uint64_t size)
{
    return place <= size && bytes <= size - place;
}

/* What is wrong with a frame's arrays, or NULL. `inline_from` is where inline arrays may begin; the sizes of memory are the
 * caller's to check. Outputs of a call have no bytes in it. `arena`: inputs may lie there, each in its slot. */
static inline const char *tki_wire_check_buffers(const tki_wire_buffer buffers[], int32_t count, int memory_count,
                                                 uint64_t inline_from, uint64_t frame_bytes, bool is_call, bool arena)
{
    if (count < 0 || count > TKI_WIRE_BUFFERS)
        return "too many arrays";
    for (int i = 0; i < count; i++) {
        const tki_wire_buffer *b = &buffers[i];
        if (b->output > 1)
            return "an array is neither input nor output";
        if (b->memory == TKI_WIRE_NOWHERE || (b->memory == TKI_WIRE_INLINE && is_call && b->output))
            continue;
        if (b->memory == TKI_WIRE_INLINE) {
            if (b->place % 8 || b->place < inline_from || !tki_wire_within(b->place, b->bytes, frame_bytes))
                return "an array lies outside its frame";
        } else if (b->memory == TKI_WIRE_ARENA && arena) {
            const uint64_t slot = (uint64_t)i * TKI_WIRE_SLOT;
            if (b->output || b->place < slot || !tki_wire_within(b->place - slot, b->bytes, TKI_WIRE_SLOT))
                return "an array lies outside its slot";
        } else if (b->memory < 0 || b->memory >= memory_count) {
            return "an array lies in memory that was not passed";
        }
    }
    return NULL;
}

static inline bool tki_wire_is_name(const char *name, size_t size)
{
    return name[0] && memchr(name, 0, size);
}

/* Bytes of a call without its arrays. The counts have been checked. */
static inline size_t tki_wire_call_bytes(const tki_wire_head *head)
{
    return sizeof *head + (size_t)head->dim_count * sizeof(int64_t) +
           (size_t)head->attribute_count * sizeof(tki_wire_attribute) +
           (size_t)head->buffer_count * sizeof(tki_wire_buffer);
}

/* Writes the call without its arrays, tki_wire_call_bytes() of it. */
static inline void tki_wire_pack_call(const tki_wire_call *call, void *frame)
{
    const tki_wire_head *head = &call->head;
    char *at = frame;
    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    memcpy(at, call->dims, (size_t)head->dim_count * sizeof *call->dims);
    at += (size_t)head->dim_count * sizeof *call->dims;
    memcpy(at, call->attributes, (size_t)head->attribute_count * sizeof *call->attributes);
    at += (size_t)head->attribute_count * sizeof *call->attributes;
    memcpy(at, call->buffers, (size_t)head->buffer_count * sizeof *call->buffers);
}

/* What is wrong with the records of a call, or NULL. */
static inline const char *tki_wire_check_records(const tki_wire_call *call)
{
    for (int i = 0; i < call->head.attribute_count; i++)
        if (!tki_wire_is_name(call->attributes[i].name, TKI_WIRE_NAME) || call->attributes[i].zero)
            return "an attribute has no name, or a padding member that is not 0";
    for (int i = 0; i < call->head.buffer_count; i++)
        if (!tki_wire_is_name(call->buffers[i].name, TKI_WIRE_NAME) || call->buffers[i].rank < 1 ||
            call->buffers[i].rank > TKI_WIRE_RANK)
            return "a tensor has no name or no valid rank";
    return NULL;
}

/* What is wrong with a call, or NULL: then it is in *call. Sizes and types are the contract's to check. `memory_count`: descriptors that
 * came along. */
static inline const char *tki_wire_read_call(const void *frame, size_t bytes, int memory_count, bool arena,
                                             tki_wire_call *call)
{
    tki_wire_head *head = &call->head;
    if (bytes < sizeof *head)
        return "a short frame";
    memcpy(head, frame, sizeof *head);
    if (head->header.magic != TKI_WIRE_MAGIC || head->header.kind != TKI_WIRE_CALL)
        return "not the header of a call";
    if (!tki_wire_is_name(head->op, sizeof head->op))
        return "the op's name is not terminated";
    if (head->dim_count < 0 || head->dim_count > TKI_WIRE_SIZES || head->attribute_count < 0 ||
        head->attribute_count > TKI_WIRE_ATTRIBUTES || head->buffer_count < 0 ||
        head->buffer_count > TKI_WIRE_BUFFERS)
        return "too many sizes, attributes or arrays";
    if (head->zero)
        return "a padding member is not 0";
    if (bytes < tki_wire_call_bytes(head))
        return "a short frame";
    const char *at = (const char *)frame + sizeof *head;
    memcpy(call->dims, at, (size_t)head->dim_count * sizeof *call->dims);
    at += (size_t)head->dim_count * sizeof *call->dims;
    memcpy(call->attributes, at, (size_t)head->attribute_count * sizeof *call->attributes);
    at += (size_t)head->attribute_count * sizeof *call->attributes;
    memcpy(call->buffers, at, (size_t)head->buffer_count * sizeof *call->buffers);
    const char *wrong = tki_wire_check_records(call);
    return wrong ? wrong
                 : tki_wire_check_buffers(call->buffers, head->buffer_count, memory_count, tki_wire_call_bytes(head),
                                          bytes, true, arena);
}

/* The records of a checked reply, and its text. */
static inline const tki_wire_buffer *tki_wire_reply_buffers(const tki_wire_reply *reply)
{
    return (const tki_wire_buffer *)(const void *)(reply + 1);
}

static inline const char *tki_wire_reply_text(const tki_wire_reply *reply)
{
    return (const char *)(tki_wire_reply_buffers(reply) + reply->buffer_count);
}

/* Bytes of a reply without its text and its arrays. */
static inline size_t tki_wire_reply_bytes(const tki_wire_reply *reply)
{
    return sizeof *reply + (size_t)reply->buffer_count * sizeof(tki_wire_buffer);
}

/* What is wrong with the answer of that kind to the call with that nonce, or NULL. */
static inline const char *tki_wire_check_reply(const void *frame, size_t bytes, tki_wire_kind kind, uint64_t nonce,
                                               int memory_count)
{
    const tki_wire_reply *reply = frame;
    if (bytes < sizeof *reply)
        return "a short frame";
    if (reply->header.magic != TKI_WIRE_MAGIC)
        return "not the header of a frame";
    if (reply->header.kind != (uint32_t)kind)
        return "wrong kind of frame";
    if (reply->header.nonce != nonce)
        return "a reply to another call";
    if (reply->buffer_count < 0 || reply->buffer_count > TKI_WIRE_BUFFERS || bytes < tki_wire_reply_bytes(reply))
        return "too many arrays";
    const size_t fixed = tki_wire_reply_bytes(reply);
    if (reply->text_bytes > TKI_WIRE_TEXT || reply->text_bytes > bytes - fixed)
        return "its text is longer than the frame";
    if (reply->param < -1 || reply->param >= TKI_WIRE_BUFFERS)
        return "array number out of range";
    return tki_wire_check_buffers(tki_wire_reply_buffers(reply), reply->buffer_count, memory_count,
                                  (fixed + reply->text_bytes + 7) / 8 * 8, bytes, false, false);
}

/* Does a worker run this call as soon as it has it? Of small ones the time is not worth a message more. */
static inline bool tki_wire_at_once(const tki_wire_call *call, bool gpu)
{
    uint64_t bytes = 0;
    for (int i = 0; i < call->head.buffer_count; i++)
        bytes += call->buffers[i].bytes < TKI_WIRE_AT_ONCE ? call->buffers[i].bytes : TKI_WIRE_AT_ONCE;
    return !gpu && bytes < TKI_WIRE_AT_ONCE;
}
