/* SHOWS. The text protocol: numbers in, KEY=value lines out. Both are made for requests of hundreds of megabytes: eight characters are
 * read as one word, and the digits of a value are written as one. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "serve/service.h"

enum { MOST_SHOWN = 32, WORD = 8 };

typedef struct reader {
    tki_service *service;
    const char *at, *end; /* zero bytes stand behind the end */
} reader;

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(reader *r)
{
    while (is_blank(*r->at))
        r->at++;
}

/* The beginning of the word at the reader, for a message. */
static const char *show_word(const reader *r, char shown[MOST_SHOWN + 4])
{
    size_t length = 0;
    for (const char *c = r->at; c < r->end && !is_blank(*c); c++) {
        if (length == MOST_SHOWN) {
            memcpy(shown + length, "...", 3);
            length += 3;
            break;
        }
        shown[length++] = *c ? *c : '?';
    }
    shown[length] = '\0';
    return shown;
}

/* ------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------ */

/* One decimal number in [least, most], up to the next blank or the end. Where it fails the reader stands at the word, or at the
 * end if there is none. */
static bool read_any_number(reader *r, int64_t least, int64_t most, int64_t *value)
{
    skip_blanks(r);
    const char *c = r->at;
    bool negative = *c == '-';
    uint64_t magnitude = 0;
    const char *digits = c += negative;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(magnitude, 10u, &magnitude) ||
            __builtin_add_overflow(magnitude, (uint64_t)(*c - '0'), &magnitude))
            return false;
    if (c == digits || !(is_blank(*c) || c == r->end) || magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    int64_t number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (number < least || number > most)
        return false;
    *value = number;
    r->at = c;
    return true;
}

/* The same, quick for what is common: up to seven digits with one blank behind, read where the reader stands. */
static inline bool read_number(reader *r, int64_t least, int64_t most, int64_t *value)
{
    uint64_t word;
    memcpy(&word, r->at, WORD);
    word = le64toh(word) ^ 0x3030303030303030;
    /* The top bit of every byte that is not 0 to 9. */
    uint64_t others = ((word & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676) | word;
    others &= 0x8080808080808080;
    int digits = others ? __builtin_ctzll(others) / 8 : WORD;
    if (digits == 0 || digits == WORD || !is_blank(r->at[digits]))
        return read_any_number(r, least, most, value);
    /* Leading zeros come in below; then neighbours are joined: digits to pairs, pairs to fours, fours to eight. */
    word <<= 8 * (WORD - digits);
    word = (word & 0x0f0f0f0f0f0f0f0f) * (1 + (10 << 8)) >> 8;
    word = (word & 0x00ff00ff00ff00ff) * (1 + (100 << 16)) >> 16;
    word = (word & 0x0000ffff0000ffff) * (1 + (UINT64_C(10000) << 32)) >> 32;
    if ((int64_t)word < least || (int64_t)word > most)
        return false;
    *value = (int64_t)word;
    r->at += digits + 1;
    return true;
}

static int fail_header(const reader *r, int h)
{
    char shown[MOST_SHOWN + 4];
    const char *name = r->service->program->headers[h];
    if (r->at == r->end)
        return tki_service_fail(r->service, TKI_SERVE_BAD_HEADER, TK_BAD_ARGUMENT, "header: %s is missing", name);
    return tki_service_fail(r->service, TKI_SERVE_BAD_HEADER, TK_BAD_ARGUMENT,
                            "header: %s: '%s' is not a 64-bit integer", name, show_word(r, shown));
}

static int fail_element(reader *r, const tki_serve_array *array, int64_t i, int64_t count, bool index)
{
    char shown[MOST_SHOWN + 4];
    skip_blanks(r);
    if (r->at == r->end)
        return tki_service_fail(r->service, array->missing, TK_BAD_ARGUMENT,
                                "%s[%" PRId64 "] is missing; expected %" PRId64 " elements", array->name, i, count);
    return tki_service_fail(r->service, array->missing, TK_BAD_ARGUMENT, "%s[%" PRId64 "]: '%s' is not %s",
                            array->name, i, show_word(r, shown),
                            index ? "a 32-bit integer" : "an integer from 0 to 65535");
}

/* An array of `count` elements. A request that is too short for them is found out by reading it; memory is taken for what its
 * length can hold, a digit and a blank each, and no more. */
static int read_array(reader *r, tki_request *request, const tki_serve_array *array)
{
    int64_t count = tk_case_elements(&request->c, array->param);
    int64_t possible = (r->end - r->at) / 2 + 1;
    bool index = request->c.contract->params[array->param].kind == TK_KIND_INDEX;
    if (count < 0)
        count = INT64_MAX;
    tki_block *memory = &r->service->arrays[array->param];
    if (!tki_block_reserve(memory, (size_t)(count < possible ? count : possible) * (index ? 4 : 2)))
        return tki_service_fail(r->service, TKI_SERVE_DEVICE, TK_NO_MEMORY, "no memory for %s", array->name);
    int64_t value;
    if (index) {
        int32_t *to = memory->data;
        for (int64_t i = 0; i < count; i++) {
            if (!read_number(r, INT32_MIN, INT32_MAX, &value))
                return fail_element(r, array, i, count, true);
            to[i] = (int32_t)value;
        }
    } else {
        uint16_t *to = memory->data;
        for (int64_t i = 0; i < count; i++) {
            if (!read_number(r, 0, UINT16_MAX, &value))
                return fail_element(r, array, i, count, false);
            to[i] = (uint16_t)value;
        }
    }
    request->buffers[array->param] = memory->data;
    return TKI_SERVE_DONE;
}

int tki_text_parse(tki_service *service, const char *text, size_t length, tki_request *request)
{
    reader r = {service, text, text + length};
    const tki_serve_program *program = service->program;
    *request = (tki_request){0};
    for (int h = 0; h < program->header_count; h++)
        if (!read_any_number(&r, INT64_MIN, INT64_MAX, &request->header[h]))
            return fail_header(&r, h);
    int result = tki_service_shape(service, request);
    for (int a = 0; result == TKI_SERVE_DONE && a < request->mode->array_count; a++)
        result = read_array(&r, request, &request->mode->arrays[a]);
    if (result != TKI_SERVE_DONE)
        return result;
    skip_blanks(&r);
    if (r.at == r.end)
        return TKI_SERVE_DONE;
    char shown[MOST_SHOWN + 4];
    const tki_serve_array *last = &request->mode->arrays[request->mode->array_count - 1];
    return tki_service_fail(service, last->missing, TK_BAD_ARGUMENT,
                            "unexpected '%s' after %s[%" PRId64 "], the last element", show_word(&r, shown),
                            last->name, tk_case_elements(&request->c, last->param) - 1);
}

/* ------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------ */

/* Characters of all values together, with a separator behind each. */
static size_t measure_values(const uint16_t *values, int64_t count)
{
    size_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        unsigned v = values[i];
        total += 2u + (v > 9) + (v > 99) + (v > 999) + (v > 9999);
    }
    return total;
}

/* Writes up to WORD bytes more than it says. */
static char *put_values(char *to, const uint16_t *values, int64_t count, char separator)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t v = values[i];
        uint64_t missing = 4u - (v > 9) - (v > 99) - (v > 999) - (v > 9999);
        /* First digit in the lowest byte. */
        uint64_t word = v / 10000 | v / 1000 % 10 << 8 | v / 100 % 10 << 16 | v / 10 % 10 << 24 | v % 10 << 32;
        word = (word | 0x3030303030 | (uint64_t)(unsigned char)separator << 40) >> 8 * missing;
        word = htole64(word);
        memcpy(to, &word, WORD);
        to += 6 - missing;
    }
    return to;
}

static int put_field(char *to, size_t size, const tki_service *service, const tki_request *request,
                     const tki_serve_field *field)
{
    const char *key = field->key;
    const unsigned *grid = request->grid;
    switch (field->value) {
    case TKI_SERVE_LABEL: return snprintf(to, size, "%s=%s\n", key, request->mode->label);
    case TKI_SERVE_DEVICE_NAME: return snprintf(to, size, "%s=%s\n", key, service->device_name);
    case TKI_SERVE_GFX: return snprintf(to, size, "%s=%s\n", key, request->gfx);
    case TKI_SERVE_HEADER: return snprintf(to, size, "%s=%" PRId64 "\n", key, request->header[field->header]);
    case TKI_SERVE_GRID: return snprintf(to, size, "%s=%" PRIu64 "\n", key, (uint64_t)grid[0] * grid[1] * grid[2]);
    case TKI_SERVE_GRID_X: return snprintf(to, size, "%s=%u\n", key, grid[0]);
    case TKI_SERVE_GRID_Y: return snprintf(to, size, "%s=%" PRIu64 "\n", key, (uint64_t)grid[1] * grid[2]);
    case TKI_SERVE_BLOCK: return snprintf(to, size, "%s=%u\n", key, request->threads);
    case TKI_SERVE_BLOCK_Y: return snprintf(to, size, "%s=1\n", key);
    case TKI_SERVE_MILLISECONDS: return snprintf(to, size, "%s=%.6f\n", key, request->seconds * 1e3);
    case TKI_SERVE_ELEMENTS: return 0;
    }
    return 0;
}

/* The longest value is the device's name; all of it fits. */
size_t tki_text_head(const tki_service *service, const tki_request *request, char head[TKI_TEXT_HEAD])
{
    const tki_serve_program *program = service->program;
    size_t used = 0;
    for (int f = 0; f < program->field_count; f++)
        used += (size_t)put_field(head + used, TKI_TEXT_HEAD - used, service, request, &program->fields[f]);
    return used;
}

int tki_text_print(tki_service *service, const tki_request *request, size_t *length)
{
    const tki_serve_program *program = service->program;
    const uint16_t *values = request->buffers[request->mode->output];
    int64_t count = tk_case_elements(&request->c, request->mode->output);
    tki_block *reply = &service->reply;
    size_t bytes = measure_values(values, count);
    char head[TKI_TEXT_HEAD];
    size_t used = tki_text_head(service, request, head);
    used += (size_t)snprintf(head + used, sizeof head - used, "%s=", program->fields[program->field_count - 1].key);
    if (bytes + used > service->limit || !tki_block_reserve(reply, used + bytes + WORD))
        return tki_service_fail(service, TKI_SERVE_DEVICE, TK_NO_MEMORY,
                                "the reply has %zu bytes, which exceeds the limit of %zu or the memory", bytes + used,
                                service->limit);
    char *to = reply->data;
    memcpy(to, head, used);
    to = put_values(to + used, values, count, program->separator);
    to[-1] = '\n';
    *length = (size_t)(to - (char *)reply->data);
    return TKI_SERVE_DONE;
}

int tki_service_text(tki_service *service, const char *text, size_t length, const char **reply, size_t *reply_length)
{
    tki_request request;
    tki_block *block = &service->reply;
    int result = tki_text_parse(service, text, length, &request);
    if (result == TKI_SERVE_DONE)
        result = tki_service_run(service, &request);
    if (result == TKI_SERVE_DONE)
        result = tki_text_print(service, &request, reply_length);
    if (result != TKI_SERVE_DONE) {
        const char *message = tk_ctx_message(service->ctx);
        *reply_length = 0;
        if (tki_block_reserve(block, strlen(message) + 2))
            *reply_length = (size_t)sprintf(block->data, "%s\n", message);
    }
    *reply = block->data;
    return result;
}
