/* CHOOSES. Inside the program tokitai-worker: calls of user kernels by ABI 1, whose functions have a type of their own for each op. The tables are
 * made from the contracts (headers/kernel_calls.c). */
#pragma once

#include "tokitai.h"
#include "tokitai_kernel.h"

typedef struct tki_kernel_call {
    const char *op; /* NULL ends the table */
    int size_count;
    int tensor_count;
    /* Returns what the kernel does. `function` is that of the op. */
    int (*call)(void *function, const tokitai_call *call, const int64_t *sizes, void *const *tensors);
} tki_kernel_call;

/* A member of tokitai_call that is an attribute. */
typedef struct tki_call_member {
    const char *name; /* NULL ends the table */
    bool real;        /* a float, else an int64_t */
    size_t offset;
} tki_call_member;

extern const tki_kernel_call tki_kernel_calls[];
extern const tki_call_member tki_call_members[];

/* NULL: ABI 1 has no function of that op. */
const tki_kernel_call *tki_kernel_call_find(const char *op);

/* Sets the member of that name, if there is one. */
void tki_kernel_call_set(tokitai_call *call, const char *attribute, tk_value value);
