/* The element types. Kernels include this header and no other public one: what a kernel includes is in the hash that its certificates
 * name, and a comment on a call should not change that. */
#ifndef TOKITAI_TYPES_H
#define TOKITAI_TYPES_H

typedef enum tk_dtype {
    TK_F16 = 0, /* IEEE binary16 */
    TK_BF16,    /* the upper half of IEEE binary32 */
    TK_F32,     /* IEEE binary32 */
    TK_I32,     /* indices and targets */
    TK_I64,
    TK_U64,     /* exact integers */
    TK_F8_E4M3, /* OCP's 8-bit formats: this one has no infinity */
    TK_F8_E5M2,
    TK_BOOL, /* a byte, 0 or 1 */
    TK_U8
} tk_dtype;

#endif
