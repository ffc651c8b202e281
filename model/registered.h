/* Ops that a program registers with a context. Their contracts are copies that the context owns, and begin a struct with what else is known
 * of the op; `contract->registered` says that there is one. */
#ifndef TKI_MODEL_REGISTERED_H
#define TKI_MODEL_REGISTERED_H

#include "core/export.h"
#include "model/lowering.h"
#include "tokitai.h"

typedef struct tki_registered {
    tk_contract contract; /* first, so that a pointer to it is one to the whole */
    tki_lowering rows[2]; /* one, and the end; or the end alone */
    tk_kernel run;        /* NULL: there is no implementation */
    void *run_data;
    void (*judge)(void); /* tk_enclose of tokitai_verify.h; NULL: no exact values are known */
    void *judge_data;
    struct tki_registered *next;
    void *pieces; /* what the contract points to */
} tki_registered;

/* NULL for an op of our own. */
static inline tki_registered *tki_registered_of(const tk_contract *contract)
{
    return contract->registered ? (tki_registered *)(uintptr_t)contract : NULL;
}

#endif
