/* RECORDS. The element types of safetensors files: their sizes, the values of their bit patterns, and distances in ulps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tki_element_type {
    TKI_ELEMENT_BOOL,
    TKI_ELEMENT_F4,
    TKI_ELEMENT_F6_E2M3,
    TKI_ELEMENT_F6_E3M2,
    TKI_ELEMENT_U8,
    TKI_ELEMENT_I8,
    TKI_ELEMENT_F8_E5M2,
    TKI_ELEMENT_F8_E4M3,
    TKI_ELEMENT_F8_E8M0,
    TKI_ELEMENT_F8_E4M3FNUZ,
    TKI_ELEMENT_F8_E5M2FNUZ,
    TKI_ELEMENT_I16,
    TKI_ELEMENT_U16,
    TKI_ELEMENT_F16,
    TKI_ELEMENT_BF16,
    TKI_ELEMENT_I32,
    TKI_ELEMENT_U32,
    TKI_ELEMENT_F32,
    TKI_ELEMENT_C64,
    TKI_ELEMENT_F64,
    TKI_ELEMENT_I64,
    TKI_ELEMENT_U64,
    TKI_ELEMENT_TYPES
} tki_element_type;

const char *tki_element_name(tki_element_type type);
bool tki_element_find(const char *name, tki_element_type *type);
int tki_element_bits(tki_element_type type); /* 4 and 6 for some, else whole bytes */

/* The pattern of the element at this index of a dense array. */
uint64_t tki_element_at(tki_element_type type, const void *data, int64_t index);

bool tki_element_is_nan(tki_element_type type, uint64_t bits);

/* "0x3f80 (1)": the pattern and its value. */
enum { TKI_ELEMENT_TEXT = 96 };
void tki_element_text(tki_element_type type, uint64_t bits, char text[TKI_ELEMENT_TEXT]);

/* How many values of the type lie between two: 1 for neighbours, 0 for the two zeros; of integers their difference, of complex numbers the
 * larger distance of their parts. UINT64_MAX where exactly one is a NaN; 0 where both are. */
uint64_t tki_element_ulps(tki_element_type type, uint64_t a, uint64_t b);
