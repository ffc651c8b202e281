/* Matrices in files: text and .npy. What is read comes from outside; sizes are checked before anything is allocated. */
#include "padic/matrix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES_SHIFT = 34, MOST_NUMBER = 4096, READ_CHUNK = 1 << 16 };

/* What is being read. */
typedef struct reading {
    const padic_ring *ring;
    padic_matrix *matrix;
    int64_t capacity;
    char *reason;
    size_t size;
} reading;

__attribute__((format(printf, 2, 3))) static const char *fail(reading *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->reason, r->size, format, arguments);
    va_end(arguments);
    padic_matrix_free(r->matrix);
    return r->reason;
}

void padic_matrix_free(padic_matrix *matrix)
{
    free(matrix->values);
    *matrix = (padic_matrix){0};
}

/* -- Text --------------------------------------------------------------------------------------------------------- */

static bool append(reading *r, int64_t count, uint64_t value)
{
    if (count == r->capacity) {
        const int64_t capacity = r->capacity ? 2 * r->capacity : 64;
        uint64_t *larger = realloc(r->matrix->values, (size_t)capacity * sizeof *larger);
        if (!larger)
            return false;
        r->matrix->values = larger;
        r->capacity = capacity;
    }
    r->matrix->values[count] = value;
    return true;
}

/* A word of text as an element; NULL, or the reason. */
static const char *convert(const padic_ring *ring, const char *word, uint64_t *value)
{
    if (ring)
        return padic_from_text(ring, word, value);
    mpq_t x;
    mpq_init(x);
    const char *reason = NULL;
    if (!padic_parse_number(word, x))
        reason = "it is not a number";
    else if (mpz_cmp_ui(mpq_denref(x), 1) != 0)
        reason = "it is not an integer";
    else if (!mpz_fits_slong_p(mpq_numref(x)))
        reason = "it does not fit in 64 bits";
    else
        *value = (uint64_t)mpz_get_si(mpq_numref(x));
    mpq_clear(x);
    return reason;
}

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r' || c == '[' || c == ']';
}

/* The numbers of one line, from `begin` to `end`. */
static const char *parse_line(reading *r, const char *begin, const char *end, int64_t line, int64_t *count)
{
    int64_t cols = 0;
    while (begin < end && *begin != '#') {
        char word[MOST_NUMBER];
        size_t length = 0;
        if (is_between(*begin)) {
            begin++;
            continue;
        }
        while (begin + length < end && !is_between(begin[length]) && begin[length] != '#')
            length++;
        if (length >= sizeof word)
            return fail(r, "line %lld: a number of %zu characters", (long long)line, length);
        memcpy(word, begin, length);
        word[length] = 0;
        uint64_t value;
        const char *reason = strlen(word) == length ? convert(r->ring, word, &value) : "it is not a number";
        if (reason)
            return fail(r, "line %lld, number %lld: '%s': %s", (long long)line, (long long)cols + 1, word, reason);
        if (!append(r, (*count)++, value))
            return fail(r, "no memory for it");
        cols++;
        begin += length;
    }
    if (cols && r->matrix->rows && cols != r->matrix->cols)
        return fail(r, "line %lld has %lld numbers, those before it %lld", (long long)line, (long long)cols,
                    (long long)r->matrix->cols);
    if (cols) {
        r->matrix->rows++;
        r->matrix->cols = cols;
    }
    return NULL;
}

static const char *parse_text(reading *r, const char *data, size_t bytes)
{
    int64_t count = 0;
    int64_t line = 1;
    const char *const all = data + bytes;
    for (; data < all; line++) {
        const char *end = memchr(data, '\n', (size_t)(all - data));
        const char *reason = parse_line(r, data, end ? end : all, line, &count);
        if (reason)
            return reason;
        data = end ? end + 1 : all;
    }
    return r->matrix->rows ? NULL : fail(r, "there is no number in it");
}

/* -- NumPy -------------------------------------------------------------------------------------------------------- */

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1 };

/* Behind a key of the header's dictionary; NULL if it is not there. */
static const char *value_of(const char *header, const char *key)
{
    const char *found = strstr(header, key);
    if (!found)
        return NULL;
    found += strlen(key);
    return found + strspn(found, " :");
}

/* "(3, 4)", "(3,)": one size is a column. */
static bool parse_shape(const char *text, int64_t *rows, int64_t *cols)
{
    char *end;
    if (*text != '(')
        return false;
    errno = 0;
    *rows = strtoll(text + 1, &end, 10);
    if (end == text + 1 || *rows < 0 || errno)
        return false;
    *cols = 1;
    end += strspn(end, ", ");
    if (*end == ')')
        return true;
    text = end;
    *cols = strtoll(text, &end, 10);
    end += strspn(end, ", ");
    return end != text && *cols >= 0 && !errno && *end == ')';
}

/* An element of so many bytes, little-endian. */
static uint64_t integer_at(const unsigned char *data, int bytes, bool has_sign)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)data[i] << 8 * i;
    const int unused = 64 - 8 * bytes;
    return has_sign ? (uint64_t)((int64_t)(x << unused) >> unused) : x;
}

/* Of an integer of 64 bits, with a sign or without. */
static uint64_t residue_of(const padic_ring *ring, uint64_t x, bool has_sign)
{
    return has_sign && (int64_t)x < 0 ? padic_negate(ring, 0 - x) : padic_reduce(ring, x);
}

static const char *parse_elements(reading *r, const unsigned char *data, size_t bytes, int element, bool has_sign,
                                  bool by_columns)
{
    const int64_t rows = r->matrix->rows;
    const int64_t cols = r->matrix->cols;
    int64_t count, needed;
    if (__builtin_mul_overflow(rows, cols, &count) || __builtin_mul_overflow(count, (int64_t)element, &needed) ||
        (uint64_t)needed != bytes)
        return fail(r, "the shape asks for another number of bytes than the file has");
    r->matrix->values = malloc((size_t)count * sizeof *r->matrix->values + 1);
    if (!r->matrix->values)
        return fail(r, "no memory for it");
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = by_columns ? i % cols * rows + i / cols : i;
        const uint64_t x = integer_at(data + at * element, element, has_sign);
        if (!r->ring && !has_sign && x >> 63)
            return fail(r, "element %lld does not fit in 64 bits with a sign", (long long)i);
        r->matrix->values[i] = r->ring ? residue_of(r->ring, x, has_sign) : x;
    }
    return NULL;
}

static const char *parse_npy(reading *r, const char *data, size_t bytes)
{
    enum { PREFIX = MAGIC + 2, MOST_HEADER = 4096 };
    const unsigned char *u = (const unsigned char *)data;
    char header[MOST_HEADER + 1];
    const int length_bytes = bytes > PREFIX && u[MAGIC] == 1 ? 2 : 4;
    if (bytes < (size_t)PREFIX + (size_t)length_bytes)
        return fail(r, "it ends within its header");
    const size_t length = (size_t)integer_at(u + PREFIX, length_bytes, false);
    const size_t begin = PREFIX + (size_t)length_bytes;
    if (length > MOST_HEADER || length > bytes - begin)
        return fail(r, "it ends within its header");
    memcpy(header, data + begin, length);
    header[length] = 0;
    const char *type = value_of(header, "'descr'");
    const char *order = value_of(header, "'fortran_order'");
    const char *shape = value_of(header, "'shape'");
    if (!type || !order || !shape)
        return fail(r, "its header lacks descr, fortran_order or shape");
    const bool has_sign = type[0] == '\'' && type[1] && type[2] == 'i';
    const int element = type[0] == '\'' && type[1] && type[2] ? type[3] - '0' : 0;
    if (type[0] != '\'' || (type[1] != '<' && type[1] != '|') || (!has_sign && type[2] != 'u') ||
        (element != 1 && element != 2 && element != 4 && element != 8) || type[4] != '\'')
        return fail(r, "its elements are not integers of 1 to 8 bytes, little-endian (descr %.8s)", type);
    if (!parse_shape(shape, &r->matrix->rows, &r->matrix->cols))
        return fail(r, "its shape is not one or two sizes");
    return parse_elements(r, u + begin + length, bytes - begin - length, element, has_sign, *order == 'T');
}

const char *padic_matrix_parse(const char *data, size_t bytes, const padic_ring *ring, padic_matrix *matrix,
                               char *reason, size_t size)
{
    *matrix = (padic_matrix){0};
    reading r = {.ring = ring, .matrix = matrix, .reason = reason, .size = size};
    return bytes >= MAGIC && !memcmp(data, magic, MAGIC) ? parse_npy(&r, data, bytes) : parse_text(&r, data, bytes);
}

/* -- Files -------------------------------------------------------------------------------------------------------- */

const char *padic_matrix_read(const char *path, const padic_ring *ring, padic_matrix *matrix, char *reason,
                              size_t size)
{
    *matrix = (padic_matrix){0};
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *data = NULL;
    size_t bytes = 0;
    size_t capacity = 0;
    bool good = file != NULL;
    while (good) {
        if (bytes + READ_CHUNK > capacity) {
            capacity = 2 * capacity + READ_CHUNK;
            char *larger = capacity >> MOST_BYTES_SHIFT ? NULL : realloc(data, capacity);
            errno = larger ? errno : ENOMEM;
            good = larger != NULL;
            data = larger ? larger : data;
        }
        const size_t got = good ? fread(data + bytes, 1, READ_CHUNK, file) : 0;
        bytes += got;
        good = good && !ferror(file);
        if (!got)
            break;
    }
    if (good)
        reason = (char *)(uintptr_t)padic_matrix_parse(data ? data : "", bytes, ring, matrix, reason, size);
    else
        snprintf(reason, size, "%s", strerror(errno));
    if (file && file != stdin)
        fclose(file);
    free(data);
    return reason;
}

bool padic_matrix_write_text(FILE *out, const padic_matrix *matrix)
{
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t j = 0; j < matrix->cols; j++)
            fprintf(out, "%llu%c", (unsigned long long)matrix->values[i * matrix->cols + j],
                    j + 1 < matrix->cols ? ' ' : '\n');
    return !ferror(out);
}

bool padic_matrix_write_npy(FILE *out, const padic_matrix *matrix)
{
    enum { HEADER = 118 }; /* so that the elements begin at a multiple of 64 */
    char text[HEADER + 1];
    const int used = snprintf(text, sizeof text, "{'descr': '<u8', 'fortran_order': False, 'shape': (%lld, %lld), }",
                              (long long)matrix->rows, (long long)matrix->cols);
    memset(text + used, ' ', (size_t)(HEADER - used));
    text[HEADER - 1] = '\n';
    fwrite(magic, 1, MAGIC, out);
    fwrite((const char[]){1, 0, HEADER, 0}, 1, 4, out);
    fwrite(text, 1, HEADER, out);
    for (int64_t i = 0; i < matrix->rows * matrix->cols; i++) {
        unsigned char bytes[8];
        for (int b = 0; b < 8; b++)
            bytes[b] = (unsigned char)(matrix->values[i] >> 8 * b);
        fwrite(bytes, 1, sizeof bytes, out);
    }
    return !ferror(out);
}
