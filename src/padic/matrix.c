/* SHOWS. Matrices in files: text and .npy. What is read comes from outside; sizes are checked before anything is allocated. */
#include "padic/matrix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/npy.h"

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
        reason = "not a number";
    else if (mpz_cmp_ui(mpq_denref(x), 1) != 0)
        reason = "not an integer";
    else if (!mpz_fits_slong_p(mpq_numref(x)))
        reason = "does not fit in 64 bits";
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
        const char *reason = strlen(word) == length ? convert(r->ring, word, &value) : "not a number";
        if (reason)
            return fail(r, "line %lld, number %lld: '%s': %s", (long long)line, (long long)cols + 1, word, reason);
        if (!append(r, (*count)++, value))
            return fail(r, "no memory for the matrix");
        cols++;
        begin += length;
    }
    if (cols && r->matrix->rows && cols != r->matrix->cols)
        return fail(r, "line %lld has %lld numbers, the lines before it have %lld", (long long)line, (long long)cols,
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
    return r->matrix->rows ? NULL : fail(r, "no numbers");
}

/* -- NumPy -------------------------------------------------------------------------------------------------------- */

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

static const char *parse_elements(reading *r, const unsigned char *data, int64_t count, int element, bool has_sign,
                                  bool by_columns)
{
    const int64_t rows = r->matrix->rows;
    const int64_t cols = r->matrix->cols;
    r->matrix->values = malloc((size_t)count * sizeof *r->matrix->values + 1);
    if (!r->matrix->values)
        return fail(r, "no memory for the matrix");
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = by_columns ? i % cols * rows + i / cols : i;
        const uint64_t x = integer_at(data + at * element, element, has_sign);
        if (!r->ring && !has_sign && x >> 63)
            return fail(r, "element %lld does not fit in 64 bits with a sign", (long long)i);
        r->matrix->values[i] = r->ring ? residue_of(r->ring, x, has_sign) : x;
    }
    return NULL;
}

/* One size is a column. */
static const char *parse_npy(reading *r, const char *data, size_t bytes)
{
    tki_npy npy;
    const char *reason = tki_npy_parse(data, bytes, &npy);
    if (reason)
        return fail(r, "%s", reason);
    if ((npy.kind != 'i' && npy.kind != 'u') || npy.size > 8 || (npy.order == '>' && npy.size > 1))
        return fail(r, "the elements are not little-endian integers of 1 to 8 bytes (descr '%c%c%d')", npy.order,
                    npy.kind, npy.size);
    if (npy.rank != 1 && npy.rank != 2)
        return fail(r, "the shape must have one or two sizes");
    r->matrix->rows = npy.shape[0];
    r->matrix->cols = npy.rank == 2 ? npy.shape[1] : 1;
    return parse_elements(r, (const unsigned char *)data + npy.data_at, npy.elements, npy.size, npy.kind == 'i',
                          npy.by_columns);
}

const char *padic_matrix_parse(const char *data, size_t bytes, const padic_ring *ring, padic_matrix *matrix,
                               char *reason, size_t size)
{
    *matrix = (padic_matrix){0};
    reading r = {.ring = ring, .matrix = matrix, .reason = reason, .size = size};
    return tki_npy_begins(data, bytes) ? parse_npy(&r, data, bytes) : parse_text(&r, data, bytes);
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
    fputs("\x93NUMPY", out);
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
