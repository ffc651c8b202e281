/* SHOWS. From a binary frame to a run and back. Nothing of a frame is used before all of it has been checked. */
#include "serve/binary.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"
#include "isolate/wire_case.h"
#include "model/lowering.h"

static int fail_frame(tki_service *service, int result, const char *what)
{
    return tki_service_fail(service, result, TK_BAD_ARGUMENT, "invalid frame: %s", what);
}

static int find_mode(tki_service *service, const char *op)
{
    const tki_serve_program *program = service->program;
    for (int mode = 0; mode < program->mode_count; mode++)
        if (!strcmp(op, program->modes[mode].op))
            return mode;
    return tki_service_fail(service, -1, TK_BAD_ARGUMENT, "op '%s' is not an op of this program", op);
}

static bool takes_types(const tk_contract *contract, int32_t dtype, int32_t result_dtype)
{
    for (int i = 0; i < contract->type_count; i++)
        if ((int32_t)contract->types[i].dtype == dtype && (int32_t)contract->types[i].result_dtype == result_dtype)
            return true;
    return false;
}

static int read_types(tki_service *service, const tki_wire_head *head, tk_case *c)
{
    if (!takes_types(c->contract, head->dtype, head->result_dtype))
        return fail_frame(service, TKI_SERVE_BAD_HEADER, "the op does not take this dtype and result_dtype");
    c->dtype = (tk_dtype)head->dtype;
    c->result_dtype = (tk_dtype)head->result_dtype;
    if (!tk_contract_takes_index(c->contract))
        return TKI_SERVE_DONE;
    if (head->index_dtype != TK_I32 && head->index_dtype != TK_I64)
        return fail_frame(service, TKI_SERVE_BAD_HEADER, "index_dtype must be i32 or i64");
    c->index_dtype = (tk_dtype)head->index_dtype;
    return TKI_SERVE_DONE;
}

static bool same_tensor(const tki_wire_buffer *one, const tki_wire_buffer *other)
{
    return one->output == other->output && one->dtype == other->dtype && one->rank == other->rank &&
           !strcmp(one->name, other->name) &&
           !memcmp(one->shape, other->shape, (size_t)one->rank * sizeof *one->shape);
}

/* A client that means another op by this name is refused, not served something else. Requests in text have no attributes, so that
 * a program has the defaults alone. */
static int check_records(tki_service *service, const tki_wire_call *call, const tk_case *c)
{
    tki_wire_call expected;
    tki_wire_describe(c, 0, &expected);
    if (call->head.attribute_count != expected.head.attribute_count ||
        memcmp(call->attributes, expected.attributes,
               (size_t)expected.head.attribute_count * sizeof *call->attributes))
        return fail_frame(service, TKI_SERVE_BAD_HEADER, "attributes must be the op's defaults");
    if (call->head.buffer_count != expected.head.buffer_count)
        return fail_frame(service, TKI_SERVE_BAD_HEADER, "the number of arrays is not the op's");
    for (int p = 0; p < expected.head.buffer_count; p++)
        if (!same_tensor(&call->buffers[p], &expected.buffers[p]))
            return fail_frame(service, TKI_SERVE_BAD_HEADER, "the name, type or shape of a tensor is not the op's");
    return TKI_SERVE_DONE;
}

/* Sizes and types; the sizes as if they had come as header fields of a text. */
static int read_case(tki_service *service, const tki_wire_call *call, int mode, tki_request *request)
{
    const tki_serve_program *program = service->program;
    const tk_contract *contract = tk_contract_find(program->modes[mode].op);
    if (call->head.dim_count != contract->dim_count)
        return fail_frame(service, TKI_SERVE_BAD_HEADER, "the number of sizes is not the op's");
    for (int d = 0; d < contract->dim_count; d++)
        request->header[program->dims[d]] = call->dims[d];
    if (program->selector >= 0)
        request->header[program->selector] = program->first_mode + mode;
    int result = tki_service_shape(service, request);
    if (result != TKI_SERVE_DONE)
        return result;
    result = read_types(service, &call->head, &request->c);
    if (result == TKI_SERVE_DONE)
        result = check_records(service, call, &request->c);
    if (result != TKI_SERVE_DONE)
        return result;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (call->head.threads < 0 || (call->head.threads > processors && processors > 0))
        return fail_frame(service, TKI_SERVE_BAD_HEADER, "threads must be from 0 to the number of processors");
    return tk_ctx_set_threads(service->ctx, call->head.threads) == TK_OK ? TKI_SERVE_DONE : TKI_SERVE_DEVICE;
}

static int fail_array(tki_service *service, const tki_request *request, int param, const char *what)
{
    const tki_serve_mode *mode = request->mode;
    (void)tki_service_fail(service, 0, TK_BAD_ARGUMENT, "%s: %s", request->c.contract->params[param].name, what);
    for (int a = 0; a < mode->array_count; a++)
        if (mode->arrays[a].param == param)
            return mode->arrays[a].missing;
    return TKI_SERVE_DEVICE; /* the output */
}

/* A memory with an output in it is mapped once, for both: inputs that overlap the output are then seen by their addresses. */
static bool has_output(const tki_wire_call *call, int memory)
{
    for (int p = 0; p < call->head.buffer_count; p++)
        if (call->buffers[p].memory == memory && call->buffers[p].output)
            return true;
    return false;
}

/* Where the array lies in memory that the client shares. Indices are copied: they are checked before they are used, and the client
 * could change them in between. */
static int find_shared(tki_service *service, tki_request *request, int param, const tki_wire_call *call, int file,
                       tki_shared_set *set)
{
    const tki_wire_buffer *buffer = &call->buffers[param];
    const tki_shared *shared;
    if (tki_shared_map(service->ctx, set, file, has_output(call, buffer->memory), &shared) != TK_OK)
        return fail_array(service, request, param, tk_ctx_message(service->ctx));
    if (buffer->place % 8 || !tki_wire_within(buffer->place, buffer->bytes, shared->bytes))
        return fail_array(service, request, param, "outside its memory, or not at a multiple of 8 bytes");
    void *data = (char *)shared->data + buffer->place;
    if (request->c.contract->params[param].kind == TK_KIND_INDEX) {
        tki_block *copy = &service->arrays[param];
        if (!tki_block_reserve(copy, buffer->bytes))
            return fail_array(service, request, param, "no memory for a copy");
        memcpy(copy->data, data, buffer->bytes);
        data = copy->data;
    }
    request->buffers[param] = data;
    return TKI_SERVE_DONE;
}

static int find_array(tki_service *service, tki_request *request, int param, const void *frame,
                      const tki_wire_call *call, const int files[], tki_shared_set *set)
{
    const tki_wire_buffer *buffer = &call->buffers[param];
    int64_t elements = tk_case_elements(&request->c, param);
    uint64_t bytes = (uint64_t)elements * tk_dtype_size(tk_case_param_dtype(&request->c, param));
    if (elements < 0 || buffer->bytes != bytes)
        return fail_array(service, request, param, "the number of bytes does not match the shape");
    if (buffer->memory == TKI_WIRE_NOWHERE)
        return fail_array(service, request, param, "no data");
    if (buffer->memory != TKI_WIRE_INLINE)
        return find_shared(service, request, param, call, files[buffer->memory], set);
    if (!buffer->output)
        request->buffers[param] = tki_input((const char *)frame + buffer->place);
    return TKI_SERVE_DONE;
}

/* A frame ends with its last array, or the padding behind it. */
static int check_end(tki_service *service, const tki_request *request, const tki_wire_call *call, size_t bytes)
{
    uint64_t end = tki_wire_call_bytes(&call->head);
    int last = request->mode->arrays[request->mode->array_count - 1].param;
    for (int p = 0; p < call->head.buffer_count; p++)
        if (call->buffers[p].memory == TKI_WIRE_INLINE && !call->buffers[p].output)
            end = call->buffers[p].place + call->buffers[p].bytes > end
                      ? call->buffers[p].place + call->buffers[p].bytes
                      : end;
    return bytes - end < 8 ? TKI_SERVE_DONE : fail_array(service, request, last, "bytes after the last array");
}

static int serve(tki_service *service, const void *frame, size_t bytes, const int files[], int file_count,
                 tki_shared_set *shared, tki_wire_call *call, tki_request *request)
{
    *request = (tki_request){0};
    const char *wrong = tki_wire_read_call(frame, bytes, file_count, false, call);
    if (wrong)
        return fail_frame(service, TKI_SERVE_BAD_HEADER, wrong);
    int chosen = find_mode(service, call->head.op);
    if (chosen < 0)
        return service->program->bad_selector;
    const tki_serve_mode *mode = &service->program->modes[chosen];
    int result = read_case(service, call, chosen, request);
    for (int a = 0; result == TKI_SERVE_DONE && a < mode->array_count; a++)
        result = find_array(service, request, mode->arrays[a].param, frame, call, files, shared);
    if (result == TKI_SERVE_DONE)
        result = check_end(service, request, call, bytes);
    if (result == TKI_SERVE_DONE)
        result = find_array(service, request, mode->output, frame, call, files, shared);
    return result == TKI_SERVE_DONE ? tki_service_run(service, request) : result;
}

/* Text, then zeros up to a multiple of 8. */
static void put_text(tki_binary_reply *reply, const char *text, size_t length)
{
    if (length > TKI_WIRE_TEXT)
        length = TKI_WIRE_TEXT;
    memcpy(reply->text, text, length);
    reply->fixed.text_bytes = (uint32_t)length;
    reply->text_bytes = (length + 7) / 8 * 8;
    memset(reply->text + length, 0, reply->text_bytes - length);
}

/* Every op here has one output. */
static void put_output(const tki_request *request, const tki_wire_call *call, tki_binary_reply *reply)
{
    reply->fixed.buffer_count = call->head.buffer_count;
    for (int p = 0; p < call->head.buffer_count; p++) {
        const tki_wire_buffer *asked = &call->buffers[p];
        tki_wire_buffer *buffer = &reply->buffers[p];
        *buffer = (tki_wire_buffer){.memory = TKI_WIRE_NOWHERE};
        if (asked->output)
            *buffer = (tki_wire_buffer){
                .bytes = asked->bytes, .place = asked->place, .memory = asked->memory, .output = asked->output};
        if (!buffer->output || buffer->memory != TKI_WIRE_INLINE)
            continue;
        buffer->place = tki_wire_reply_bytes(&reply->fixed) + reply->text_bytes;
        reply->array = request->buffers[p];
        reply->array_bytes = buffer->bytes;
    }
}

int tki_service_binary(tki_service *service, const void *frame, size_t bytes, const int files[], int file_count,
                       tki_shared_set *shared, tki_binary_reply *reply)
{
    tki_wire_call call;
    tki_request request;
    char head[TKI_TEXT_HEAD];
    int result = serve(service, frame, bytes, files, file_count, shared, &call, &request);
    memset(reply, 0, offsetof(tki_binary_reply, buffers));
    reply->array = NULL;
    reply->array_bytes = 0;
    reply->fixed.header = (tki_wire_header){TKI_WIRE_MAGIC, TKI_WIRE_REPLY, 0};
    if (bytes >= sizeof(tki_wire_header))
        reply->fixed.header.nonce = ((const tki_wire_header *)frame)->nonce;
    reply->fixed.status = result;
    reply->fixed.param = -1;
    if (result != TKI_SERVE_DONE) {
        const char *message = tk_ctx_message(service->ctx);
        put_text(reply, message, strlen(message));
        return result;
    }
    reply->fixed.seconds = request.seconds;
    put_text(reply, head, tki_text_head(service, &request, head));
    put_output(&request, &call, reply);
    return TKI_SERVE_DONE;
}
