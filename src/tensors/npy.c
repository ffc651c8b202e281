/* RECORDS. .npy headers. They come from outside: the dictionary is read strictly, as NumPy writes it, and every number is checked. */
#include "tensors/npy.h"

#include <string.h>

static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { PREFIX = sizeof magic + 2, MOST_HEADER = 1 << 16 };

/* The text that is left. */
typedef struct reading {
    const char *at, *end;
} reading;

static void skip_blanks(reading *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n'))
        r->at++;
}

static bool take(reading *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reading *r, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_number(reading *r, int64_t *number)
{
    skip_blanks(r);
    const char *begin = r->at;
    *number = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*number, 10, number) || __builtin_add_overflow(*number, *r->at - '0', number))
            return false;
    return r->at > begin;
}

/* '<f2' */
static bool take_type(reading *r, tki_npy *npy)
{
    int64_t size;
    if (!take(r, '\'') || r->end - r->at < 2 || !strchr("<>|", r->at[0]) || !r->at[0])
        return false;
    npy->order = *r->at++;
    npy->kind = *r->at++;
    if (!take_number(r, &size) || size < 1 || size > 1024 || !take(r, '\''))
        return false;
    npy->size = (int)size;
    return true;
}

/* (), (3,), (3, 4) */
static bool take_shape(reading *r, tki_npy *npy)
{
    if (!take(r, '('))
        return false;
    npy->rank = 0;
    while (!take(r, ')')) {
        if (npy->rank == TKI_NPY_MAX_RANK || !take_number(r, &npy->shape[npy->rank]))
            return false;
        npy->rank++;
        if (!take(r, ',')) /* only behind the last of several */
            return npy->rank > 1 && take(r, ')');
    }
    return true;
}

/* {'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), } */
static const char *take_dictionary(reading *r, tki_npy *npy)
{
    enum { TYPE = 1, ORDER = 2, SHAPE = 4 };
    unsigned seen = 0;
    if (!take(r, '{'))
        return "the header is not a dictionary";
    while (!take(r, '}')) {
        unsigned key = take_word(r, "'descr'")           ? TYPE
                       : take_word(r, "'fortran_order'") ? ORDER
                       : take_word(r, "'shape'")         ? SHAPE
                                                         : 0;
        if (!key || seen & key || !take(r, ':'))
            return "the header has a member other than descr, fortran_order and shape, or one twice";
        seen |= key;
        if (key == TYPE && !take_type(r, npy))
            return "descr is not a simple type";
        npy->by_columns |= key == ORDER && take_word(r, "True");
        if (key == ORDER && !npy->by_columns && !take_word(r, "False"))
            return "fortran_order is neither True nor False";
        if (key == SHAPE && !take_shape(r, npy))
            return "shape is not a tuple of at most 8 sizes";
        if (!take(r, ',') && (skip_blanks(r), r->at == r->end || *r->at != '}'))
            return "the header is truncated";
    }
    skip_blanks(r);
    if (r->at != r->end)
        return "text after the dictionary of the header";
    return seen == (TYPE | ORDER | SHAPE) ? NULL : "the header lacks descr, fortran_order or shape";
}

/* The product of the sizes fills the rest of the file. */
static const char *count_elements(size_t bytes, tki_npy *npy)
{
    int64_t needed;
    bool empty = false, fits = true;
    npy->elements = 1;
    for (int i = 0; i < npy->rank; i++)
        empty |= npy->shape[i] == 0;
    for (int i = 0; i < npy->rank && !empty && fits; i++)
        fits = !__builtin_mul_overflow(npy->elements, npy->shape[i], &npy->elements);
    npy->elements = empty ? 0 : npy->elements;
    if (!fits || __builtin_mul_overflow(npy->elements, (int64_t)npy->size, &needed) ||
        (uint64_t)needed != bytes - npy->data_at)
        return "the shape does not match the size of the file";
    return NULL;
}

bool tki_npy_begins(const void *data, size_t bytes)
{
    return bytes >= sizeof magic && !memcmp(data, magic, sizeof magic);
}

const char *tki_npy_parse(const void *data, size_t bytes, tki_npy *npy)
{
    const unsigned char *u = data;
    *npy = (tki_npy){0};
    if (!tki_npy_begins(data, bytes))
        return "not an .npy file";
    const size_t length_bytes = bytes > PREFIX && u[sizeof magic] == 1 ? 2 : 4;
    if (bytes < PREFIX + length_bytes)
        return "the file ends within its header";
    if (u[sizeof magic] < 1 || u[sizeof magic] > 3)
        return "the .npy version is not 1, 2 or 3";
    size_t length = 0;
    for (size_t i = 0; i < length_bytes; i++)
        length |= (size_t)u[PREFIX + i] << 8 * i;
    if (length > MOST_HEADER || length > bytes - PREFIX - length_bytes)
        return "the file ends within its header";
    npy->data_at = PREFIX + length_bytes + length;
    const char *text = (const char *)u + PREFIX + length_bytes;
    reading r = {text, text + length};
    const char *reason = take_dictionary(&r, npy);
    return reason ? reason : count_elements(bytes, npy);
}
