/* DECIDES. What the library checks of a case before it looks at buffers. */
#pragma once

#include "core/export.h"
#include "tokitai.h"

/* The next input of indices behind a parameter, -1 for the first; -1: none. */
TKI_EXPORT int tki_next_index_param(const tk_contract *contract, int after);
static inline int tki_index_param(const tk_contract *contract)
{
    return tki_next_index_param(contract, -1);
}

/* Is there an index that its elements could be, for each of them? An attribute that is one too does not count. */
TKI_EXPORT bool tki_indices_point_somewhere(const tk_case *c);

/* Or an attribute that is one? */
TKI_EXPORT bool tki_has_valid_indices(const tk_case *c);

/* The attribute whose value is a valid index too; -1: none. */
TKI_EXPORT int tki_index_attribute(const tk_contract *contract, int param);

/* Can an element of the input be that? Of ends, where `before` is the one before it, or 0 for the first; others do not read it. */
TKI_EXPORT bool tki_index_is_valid(const tk_case *c, int param, int64_t before, int64_t index);
/* How many values there are for one: those from 0 on. */
TKI_EXPORT int64_t tki_index_values(const tk_case *c, int param);
/* The first element that cannot be what it is; -1: none. */
TKI_EXPORT int64_t tki_first_bad_index(const tk_case *c, int param, const void *data);
/* An element of a tensor of that type, TK_I32 or TK_I64. */
static inline int64_t tki_index_at(tk_dtype dtype, const void *data, int64_t i)
{
    return dtype == TK_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}
static inline bool tki_index_fits(tk_dtype dtype, int64_t index)
{
    return dtype == TK_I64 || index == (int32_t)index;
}

/* The type of the tensors of that kind, TK_KIND_VALUE or TK_KIND_RESULT: of the first one. */
TKI_EXPORT tk_dtype tki_kind_dtype(const tk_case *c, tk_kind kind);

/* Which of the contract's `types` the case has; -1: none. */
TKI_EXPORT int tki_case_types(const tk_case *c);

TKI_EXPORT int tki_seen_attributes(const tk_contract *contract); /* how many of them kernels see */

/* Is it a value of that type, and in its range? */
TKI_EXPORT bool tki_attribute_allows(const tk_attribute *attribute, tk_value value);

/* Do sizes follow from others as the contract says, and does it refuse none of them? */
TKI_EXPORT bool tki_case_is_settled(const tk_case *c);

/* Sets the sizes that follow from others, and changes those that they follow from a little until the contract takes the case; false
 * if that does not come about. */
TKI_EXPORT bool tki_case_settle(tk_case *c);

/* Is the size one that follows from others? */
static inline bool tki_is_derived(const tk_contract *contract, int dim)
{
    return contract->derived && contract->derived[dim];
}

/* Types, attributes and sizes of the case. */
TKI_EXPORT TK_MUST_USE tk_status tki_case_check_shape(tk_ctx *ctx, const tk_case *c);

/* TK_BAD_INDEX: element `position` of an input of indices. `range`: of the size that it points into; < 0: the value is not known. */
TKI_EXPORT tk_status tki_fail_index(tk_ctx *ctx, const tk_contract *contract, int param, int64_t position,
                                    int64_t value, int64_t range);
