/* SHOWS. The usual check of kernel benchmarks, to compare with: five inputs of normal numbers at one shape, and every output
 * element within atol + rtol |reference| of a reference, as torch.allclose() has it. Whatever that leaves open is settled in its
 * favour: the reference is the exact result rounded to the output's type, and outputs begin as NaN, so that what is not written is
 * never taken for a result. */
#pragma once

#include "exact/oracle.h"
#include "tokitai_verify.h"

/* Inputs and references of one op and dtype; read only once they are made. */
typedef struct tki_usual tki_usual;

TK_MUST_USE tk_status tki_usual_make(tk_ctx *ctx, const tki_oracle *oracle, const void *tables, tk_case c,
                                     uint64_t seed, tki_usual **usual);
void tki_usual_free(tki_usual *usual); /* NULL is fine */

/* Which tolerances does the kernel pass with? Safe to call from several threads at once. */
TK_MUST_USE tk_status tki_usual_run(const tki_usual *usual, tk_kernel kernel, void *kernel_data,
                                    bool passes[TK_USUAL_TOLERANCES]);
