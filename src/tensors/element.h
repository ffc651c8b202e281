/* RECORDS. Elements of tensors in files, of every format there is (model/format.h): their patterns, values, and distances in ulps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/format.h"

/* By its name in safetensors files. */
bool tki_element_find(const char *name, tk_dtype *type);

/* The pattern of the element at this index of a dense array. */
uint64_t tki_element_at(tk_dtype type, const void *data, int64_t index);

bool tki_element_is_nan(tk_dtype type, uint64_t bits);

/* "0x3f80 (1)": the pattern and its value. */
enum { TKI_ELEMENT_TEXT = 96 };
void tki_element_text(tk_dtype type, uint64_t bits, char text[TKI_ELEMENT_TEXT]);

/* How many values of the type lie between two: 1 for neighbours, 0 for the two zeros; of integers their difference, of complex numbers the
 * larger distance of their parts. UINT64_MAX where exactly one is a NaN; 0 where both are. */
uint64_t tki_element_ulps(tk_dtype type, uint64_t a, uint64_t b);
