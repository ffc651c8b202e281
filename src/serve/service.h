/* SHOWS. One kernel program at work: it takes one request at a time and keeps its memory from one to the next, so that a server's
 * size settles at its largest request. Several services run side by side, each with a context of its own. */
#pragma once

#include "core/export.h"
#include "serve/program.h"

/* Memory that is kept and only grows; 64-byte aligned. */
typedef struct tki_block {
    void *data;
    size_t bytes;
} tki_block;

/* False if there is no memory. Where it grows, its contents are lost. */
bool tki_block_reserve(tki_block *block, size_t bytes);
void tki_block_free(tki_block *block);

typedef struct tki_request {
    const tki_serve_mode *mode;
    int64_t header[TKI_SERVE_HEADERS];
    tk_case c;
    void *buffers[TK_MAX_PARAMS]; /* host memory, in contract order */
    /* What came of it. */
    const char *gfx; /* instruction set or architecture */
    unsigned grid[3];
    unsigned threads;
    double seconds;
} tki_request;

/* The memory of its arrays and of its reply is kept from one request to the next. */
typedef struct tki_service {
    tk_ctx *ctx;
    const tki_serve_program *program;
    size_t limit; /* bytes of a request, and of a reply */
    char device_name[128];
    tki_block arrays[TK_MAX_PARAMS], reply;
    /* On a GPU. */
    void *device_arrays[TK_MAX_PARAMS];
    size_t device_bytes[TK_MAX_PARAMS];
    void *begin, *end; /* events */
} tki_service;

/* `device` as for tk_ctx_use_device(). No request and no reply may have more than `limit` bytes. The context carries the
 * messages of everything that fails; it must live as long as the service. */
TKI_EXPORT TK_MUST_USE tk_status tki_service_open(tk_ctx *ctx, const tki_serve_program *program, const char *device,
                                                  size_t limit, tki_service **service);
TKI_EXPORT void tki_service_close(tki_service *service); /* NULL is fine */

/* Sets the context's message, with the program's name before it. Returns `result`, an exit status. */
__attribute__((format(printf, 4, 5))) int tki_service_fail(const tki_service *service, int result, tk_status status,
                                                           const char *format, ...);

/* Makes the case of a request out of mode and header fields. Returns an exit status, as everything below does. */
TK_MUST_USE int tki_service_shape(tki_service *service, tki_request *request);

/* Runs the case. Buffers of the inputs are set; that of the output may be. Else it is the service's own and goes into the reply, and
 * what would be too long for one is refused before anything is allocated. */
TK_MUST_USE int tki_service_run(tki_service *service, tki_request *request);

/* A text request and its reply. There are TKI_TEXT_SLACK zero bytes behind the text. The reply is valid until the next call;
 * that of a failed request is the message, with a newline. */
enum { TKI_TEXT_SLACK = 8 };
TK_MUST_USE int tki_service_text(tki_service *service, const char *text, size_t length, const char **reply,
                                 size_t *reply_length);

/* The reply's lines before the elements, "DEVICE_NAME=...\nGFX=..."; returns their length. */
enum { TKI_TEXT_HEAD = 2048 };
size_t tki_text_head(const tki_service *service, const tki_request *request, char head[TKI_TEXT_HEAD]);

/* The two halves of tki_service_text(). */
TK_MUST_USE int tki_text_parse(tki_service *service, const char *text, size_t length, tki_request *request);
TK_MUST_USE int tki_text_print(tki_service *service, const tki_request *request, size_t *length);
