/* RECORDS. The table of a safetensors file: parsed, checked, written. */
#include "tensors/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "core/escape.h"

static const char *const names[TKI_MALFORMED_KINDS] = {
    [TKI_WELL_FORMED] = "WELL_FORMED",
    [TKI_LENGTH_CUT] = "LENGTH_CUT",
    [TKI_HEADER_TOO_LARGE] = "HEADER_TOO_LARGE",
    [TKI_HEADER_CUT] = "HEADER_CUT",
    [TKI_HEADER_START] = "HEADER_START",
    [TKI_HEADER_NOT_UTF8] = "HEADER_NOT_UTF8",
    [TKI_HEADER_NOT_JSON] = "HEADER_NOT_JSON",
    [TKI_HEADER_DUPLICATE] = "HEADER_DUPLICATE",
    [TKI_HEADER_MINUS_ZERO] = "HEADER_MINUS_ZERO",
    [TKI_METADATA_NOT_TEXT] = "METADATA_NOT_TEXT",
    [TKI_NAME_EMPTY] = "NAME_EMPTY",
    [TKI_ENTRY_NOT_OBJECT] = "ENTRY_NOT_OBJECT",
    [TKI_ENTRY_MISSING_KEY] = "ENTRY_MISSING_KEY",
    [TKI_ENTRY_UNKNOWN_KEY] = "ENTRY_UNKNOWN_KEY",
    [TKI_DTYPE_UNKNOWN] = "DTYPE_UNKNOWN",
    [TKI_SHAPE_NOT_SIZES] = "SHAPE_NOT_SIZES",
    [TKI_SHAPE_RANK] = "SHAPE_RANK",
    [TKI_SHAPE_OVERFLOW] = "SHAPE_OVERFLOW",
    [TKI_SHAPE_PART_OF_BYTE] = "SHAPE_PART_OF_BYTE",
    [TKI_OFFSETS_NOT_TWO] = "OFFSETS_NOT_TWO",
    [TKI_OFFSETS_REVERSED] = "OFFSETS_REVERSED",
    [TKI_OFFSETS_SIZE] = "OFFSETS_SIZE",
    [TKI_OFFSETS_HOLE] = "OFFSETS_HOLE",
    [TKI_OFFSETS_OVERLAP] = "OFFSETS_OVERLAP",
    [TKI_DATA_CUT] = "DATA_CUT",
    [TKI_DATA_BEHIND] = "DATA_BEHIND",
};

const char *tki_malformed_name(tki_malformed kind)
{
    return names[kind];
}

/* -- Sizes --------------------------------------------------------------------------------------------------- */

/* Of the sizes that are not zero, so that a zero hides no overflow. */
static bool bits_of(const tki_tensor *tensor, int64_t *bits, int64_t *elements)
{
    int64_t product = tki_format_of(tensor->type).bits;
    *elements = 1;
    for (int d = 0; d < tensor->rank; d++) {
        if (tensor->shape[d] && __builtin_mul_overflow(product, tensor->shape[d], &product))
            return false;
        *elements *= tensor->shape[d]; /* at most the product */
    }
    *bits = *elements ? product : 0;
    return true;
}

bool tki_tensor_elements(const tki_tensor *tensor, int64_t *elements)
{
    int64_t bits;
    return bits_of(tensor, &bits, elements);
}

bool tki_tensor_bytes(const tki_tensor *tensor, int64_t *bytes)
{
    int64_t bits, elements;
    if (!bits_of(tensor, &bits, &elements) || bits % 8)
        return false;
    *bytes = bits / 8;
    return true;
}

/* -- Parsing ------------------------------------------------------------------------------------------------- */

typedef struct parser {
    tk_ctx *ctx;
    const char *what;
    tki_malformed *kind;
} parser;

/* "FILE: HEADER_CUT: ..."; the tensor's name, or NULL, stands behind. */
static tk_status refuse(const parser *p, tki_malformed kind, const char *text, const char *tensor)
{
    *p->kind = kind;
    if (tensor)
        return tki_fail(p->ctx, TK_BAD_FILE, "%s: %s: %s: tensor \"%.200s\"", p->what, names[kind], text, tensor);
    return tki_fail(p->ctx, TK_BAD_FILE, "%s: %s: %s", p->what, names[kind], text);
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t code;
        step = tki_utf8_next(text + at, length - at, &code);
        if (step == 0)
            return false;
    }
    return true;
}

static tk_status read_shape(const parser *p, const json_t *shape, tki_tensor *tensor)
{
    if (!json_is_array(shape))
        return refuse(p, TKI_SHAPE_NOT_SIZES, "the shape is not a list", tensor->name);
    if (json_array_size(shape) > TKI_TENSOR_MAX_RANK)
        return refuse(p, TKI_SHAPE_RANK, "the shape has more than 8 sizes", tensor->name);
    tensor->rank = (int)json_array_size(shape);
    for (int d = 0; d < tensor->rank; d++) {
        const json_t *size = json_array_get(shape, (size_t)d);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return refuse(p, TKI_SHAPE_NOT_SIZES, "a size is not an integer of at least 0", tensor->name);
        tensor->shape[d] = json_integer_value(size);
    }
    int64_t bits, elements;
    if (!bits_of(tensor, &bits, &elements))
        return refuse(p, TKI_SHAPE_OVERFLOW, "the product of the sizes is too large", tensor->name);
    if (bits % 8)
        return refuse(p, TKI_SHAPE_PART_OF_BYTE, "the elements do not fill whole bytes", tensor->name);
    return TK_OK;
}

static tk_status read_offsets(const parser *p, const json_t *offsets, tki_tensor *tensor)
{
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < 0)
        return refuse(p, TKI_OFFSETS_NOT_TWO, "data_offsets are not two integers of at least 0", tensor->name);
    tensor->begin = json_integer_value(begin);
    tensor->end = json_integer_value(end);
    if (tensor->end < tensor->begin)
        return refuse(p, TKI_OFFSETS_REVERSED, "data_offsets end before they begin", tensor->name);
    int64_t bytes = 0;
    if (!tki_tensor_bytes(tensor, &bytes) || bytes != tensor->end - tensor->begin)
        return refuse(p, TKI_OFFSETS_SIZE, "data_offsets do not match dtype and shape", tensor->name);
    return TK_OK;
}

static tk_status read_entry(const parser *p, const char *name, json_t *entry, tki_tensor *tensor)
{
    *tensor = (tki_tensor){.name = name};
    if (!name[0])
        return refuse(p, TKI_NAME_EMPTY, "a tensor has no name", NULL);
    if (!json_is_object(entry))
        return refuse(p, TKI_ENTRY_NOT_OBJECT, "its entry is not an object", name);
    const char *key;
    json_t *value;
    json_object_foreach(entry, key, value)
    {
        if (strcmp(key, "dtype") && strcmp(key, "shape") && strcmp(key, "data_offsets"))
            return refuse(p, TKI_ENTRY_UNKNOWN_KEY, "a key other than dtype, shape and data_offsets", name);
    }
    const json_t *dtype = json_object_get(entry, "dtype"), *shape = json_object_get(entry, "shape");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (!dtype || !shape || !offsets)
        return refuse(p, TKI_ENTRY_MISSING_KEY, "dtype, shape or data_offsets is missing", name);
    if (!json_is_string(dtype) || !tki_element_find(json_string_value(dtype), &tensor->type))
        return refuse(p, TKI_DTYPE_UNKNOWN, "unknown dtype", name);
    tk_status status = read_shape(p, shape, tensor);
    return status == TK_OK ? read_offsets(p, offsets, tensor) : status;
}

static tk_status read_metadata(const parser *p, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return refuse(p, TKI_METADATA_NOT_TEXT, "__metadata__ is not an object", NULL);
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return refuse(p, TKI_METADATA_NOT_TEXT, "a value of __metadata__ is not a string", NULL);
    }
    return TK_OK;
}

static int compare_places(const void *a, const void *b)
{
    const tki_tensor *first = a, *second = b;
    if (first->begin != second->begin)
        return first->begin < second->begin ? -1 : 1;
    if (first->end != second->end)
        return first->end < second->end ? -1 : 1;
    return strcmp(first->name, second->name);
}

/* Each tensor begins where the one before it ends, and the last ends with the file. */
static tk_status check_places(const parser *p, const tki_safetensors *file)
{
    int64_t at = 0;
    for (size_t i = 0; i < file->count; i++) {
        const tki_tensor *tensor = &file->tensors[i];
        if (tensor->begin > at)
            return refuse(p, TKI_OFFSETS_HOLE, "bytes before it belong to no tensor", tensor->name);
        if (tensor->begin < at)
            return refuse(p, TKI_OFFSETS_OVERLAP, "it shares bytes with another tensor", tensor->name);
        at = tensor->end;
    }
    const int64_t there = file->size - file->data_at;
    const char *last = file->count ? file->tensors[file->count - 1].name : NULL;
    if (at > there)
        return refuse(p, TKI_DATA_CUT, "the file ends before the last tensor does", last);
    if (at < there)
        return refuse(p, TKI_DATA_BEHIND, "bytes after the last tensor", last);
    return TK_OK;
}

static int compare_names(const void *a, const void *b, void *tensors)
{
    const tki_tensor *list = tensors;
    return strcmp(list[*(const size_t *)a].name, list[*(const size_t *)b].name);
}

static tk_status read_table(const parser *p, tki_safetensors *file)
{
    const size_t most = json_object_size(file->header) + 1;
    file->tensors = calloc(most, sizeof *file->tensors);
    file->by_name = calloc(most, sizeof *file->by_name);
    if (!file->tensors || !file->by_name)
        return tki_fail(p->ctx, TK_NO_MEMORY, "no memory for the table of %s", p->what);
    const char *key;
    json_t *value;
    json_object_foreach(file->header, key, value)
    {
        const bool is_metadata = !strcmp(key, TKI_SAFETENSORS_METADATA);
        tk_status status = is_metadata ? read_metadata(p, value)
                                       : read_entry(p, key, value, &file->tensors[file->count]);
        if (status != TK_OK)
            return status;
        file->count += !is_metadata;
    }
    qsort(file->tensors, file->count, sizeof *file->tensors, compare_places);
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i] = i;
    qsort_r(file->by_name, file->count, sizeof *file->by_name, compare_names, file->tensors);
    return check_places(p, file);
}

/* In a text that is JSON. Jansson reads it as the integer 0, the format's own library as no integer. */
static bool has_minus_zero(const char *text, size_t length)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == '-' && length - i > 2 && text[i + 1] == '0' && !strchr(".eE", text[i + 2]))
            return true;
    }
    return false;
}

static tk_status load_header(const parser *p, const char *text, size_t length, json_t **header)
{
    json_error_t error;
    if (length == 0 || text[0] != '{')
        return refuse(p, TKI_HEADER_START, "the header does not begin with {", NULL);
    if (!is_utf8(text, length))
        return refuse(p, TKI_HEADER_NOT_UTF8, "the header is not UTF-8", NULL);
    *header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (*header)
        return has_minus_zero(text, length) ? refuse(p, TKI_HEADER_MINUS_ZERO, "the header has the number -0", NULL)
                                            : TK_OK;
    switch (json_error_code(&error)) {
    case json_error_out_of_memory: return tki_fail(p->ctx, TK_NO_MEMORY, "no memory for the header of %s", p->what);
    case json_error_duplicate_key: return refuse(p, TKI_HEADER_DUPLICATE, error.text, NULL);
    default: return refuse(p, TKI_HEADER_NOT_JSON, error.text, NULL);
    }
}

static tk_status parse(const parser *p, const unsigned char *bytes, size_t size, tki_safetensors *file)
{
    uint64_t length = 0;
    if (size < 8)
        return refuse(p, TKI_LENGTH_CUT, "the file is shorter than the length of its header", NULL);
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    if (length > TKI_SAFETENSORS_HEADER_MOST)
        return refuse(p, TKI_HEADER_TOO_LARGE, "the header exceeds 100,000,000 bytes", NULL);
    if (length > size - 8)
        return refuse(p, TKI_HEADER_CUT, "the file ends within its header", NULL);
    file->size = (int64_t)size;
    file->data_at = 8 + (int64_t)length;
    tk_status status = load_header(p, (const char *)bytes + 8, (size_t)length, &file->header);
    return status == TK_OK ? read_table(p, file) : status;
}

tk_status tki_safetensors_parse(tk_ctx *ctx, const char *what, const void *bytes, size_t size, tki_safetensors *file,
                                tki_malformed *kind)
{
    const parser p = {ctx, what, kind};
    *file = (tki_safetensors){0};
    *kind = TKI_WELL_FORMED;
    if (size > INT64_MAX)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: too large", what);
    tk_status status = parse(&p, bytes, size, file);
    if (status != TK_OK)
        tki_safetensors_close(file);
    return status;
}

/* -- Files --------------------------------------------------------------------------------------------------- */

tk_status tki_safetensors_open(tk_ctx *ctx, const char *path, tki_safetensors *file, tki_malformed *kind)
{
    *file = (tki_safetensors){0};
    *kind = TKI_WELL_FORMED;
    struct stat about;
    /* Without O_NONBLOCK, a pipe that nobody writes to would hold us up before we see that it is one. */
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0 || fstat(opened, &about)) {
        tk_status status = tki_fail(ctx, TK_IO, "cannot read %s: %s", path, strerror(errno));
        if (opened >= 0)
            close(opened);
        return status;
    }
    if (!S_ISREG(about.st_mode)) {
        close(opened);
        return tki_fail(ctx, TK_IO, "cannot read %s: not a regular file", path);
    }
    const size_t size = (size_t)about.st_size;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, opened, 0) : NULL;
    const int error = errno;
    close(opened);
    if (bytes == MAP_FAILED)
        return tki_fail(ctx, TK_IO, "cannot map %s: %s", path, strerror(error));
    tk_status status = tki_safetensors_parse(ctx, path, bytes, size, file, kind);
    if (status == TK_OK) {
        file->bytes = bytes;
        file->device = about.st_dev;
        file->inode = about.st_ino;
        file->modified = about.st_mtim;
    } else if (bytes) {
        munmap(bytes, size);
    }
    return status;
}

bool tki_safetensors_is_unchanged(const tki_safetensors *file, const char *path)
{
    struct stat about;
    return !stat(path, &about) && about.st_dev == file->device && about.st_ino == file->inode &&
           about.st_size == file->size && about.st_mtim.tv_sec == file->modified.tv_sec &&
           about.st_mtim.tv_nsec == file->modified.tv_nsec;
}

void tki_safetensors_close(tki_safetensors *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, (size_t)file->size);
    json_decref(file->header);
    free(file->tensors);
    free(file->by_name);
    *file = (tki_safetensors){0};
}

const tki_tensor *tki_safetensors_find(const tki_safetensors *file, const char *name)
{
    size_t low = 0, high = file->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const tki_tensor *tensor = &file->tensors[file->by_name[middle]];
        const int order = strcmp(name, tensor->name);
        if (order == 0)
            return tensor;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *tki_safetensors_metadata(const tki_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, TKI_SAFETENSORS_METADATA), key));
}

/* -- Writing ------------------------------------------------------------------------------------------------- */

static int compare_layout(const void *a, const void *b)
{
    const tki_tensor *first = a, *second = b;
    const int difference = tki_format_of(second->type).bits - tki_format_of(first->type).bits;
    return difference ? difference : strcmp(first->name, second->name);
}

bool tki_safetensors_lay_out(tki_tensor *tensors, size_t count, int64_t *bytes)
{
    int64_t at = 0;
    if (count)
        qsort(tensors, count, sizeof *tensors, compare_layout);
    for (size_t i = 0; i < count; i++) {
        int64_t size;
        if (!tki_tensor_bytes(&tensors[i], &size))
            return false;
        tensors[i].begin = at;
        if (__builtin_add_overflow(at, size, &at))
            return false;
        tensors[i].end = at;
    }
    *bytes = at;
    return true;
}

static json_t *entry_of(const tki_tensor *tensor)
{
    json_t *shape = json_array();
    for (int d = 0; d < tensor->rank; d++)
        json_array_append_new(shape, json_integer(tensor->shape[d]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", tki_format_of(tensor->type).file_name, "shape", shape,
                     "data_offsets", (json_int_t)tensor->begin, (json_int_t)tensor->end);
}

static json_t *table_of(const tki_tensor *tensors, size_t count, const json_t *metadata)
{
    json_t *table = json_object();
    bool good = table != NULL;
    if (metadata && json_object_size(metadata))
        good = good && !json_object_set_new(table, TKI_SAFETENSORS_METADATA, json_deep_copy(metadata));
    for (size_t i = 0; good && i < count; i++)
        good = !json_object_set_new(table, tensors[i].name, entry_of(&tensors[i]));
    if (good)
        return table;
    json_decref(table);
    return NULL;
}

char *tki_safetensors_header(const tki_tensor *tensors, size_t count, const json_t *metadata, size_t *bytes)
{
    json_t *table = table_of(tensors, count, metadata);
    char *text = table ? json_dumps(table, JSON_COMPACT) : NULL;
    json_decref(table);
    const size_t length = text ? strlen(text) : 0;
    const size_t unit = TKI_SAFETENSORS_ALIGNMENT;
    const size_t filled = (8 + length + unit - 1) / unit * unit - 8;
    char *header = text && filled <= TKI_SAFETENSORS_HEADER_MOST ? malloc(8 + filled) : NULL;
    if (header) {
        for (int i = 0; i < 8; i++)
            header[i] = (char)(unsigned char)((uint64_t)filled >> (8 * i));
        memcpy(header + 8, text, length);
        memset(header + 8 + length, ' ', filled - length);
        *bytes = 8 + filled;
    }
    free(text);
    return header;
}
