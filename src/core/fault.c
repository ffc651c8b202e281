/* DECIDES. Which clause a kernel breaks by what became of its call. */
#include "core/fault.h"

tk_clause_kind tki_fault_clause(const tki_fault *fault)
{
    switch (fault->kind) {
    case TKI_FAULT_SIGNAL: return fault->tensor >= 0 && fault->wrote ? TK_CLAUSE_WRITE : TK_CLAUSE_SHAPE;
    case TKI_FAULT_HEAP: return fault->wrote ? TK_CLAUSE_WRITE : TK_CLAUSE_SHAPE;
    case TKI_FAULT_KEPT:
    case TKI_FAULT_SEALED:
    case TKI_FAULT_OVERRUN:
    case TKI_FAULT_FLOAT_MODE:
    case TKI_FAULT_PROCESS: return TK_CLAUSE_WRITE;
    case TKI_FAULT_INDEX: return TK_CLAUSE_INDEX;
    default: return TK_CLAUSE_SHAPE; /* it does not take a shape that it must take */
    }
}
