/* Products of groups: which kernel runs on what. */
#include "drivers/cpu.h"
#include "model/attributes.h"
#include "ops/gemm/kernel_cpu.h"
#include "ops/grouped/launch_cpu.h"
#include "ops/grouped/launch_gpu.h"
#include "ops/grouped/launch_hopper.h"
#include "runtime/gpu.h"

TKI_CPU_TABLES_WITH_DOT(tki_gemm_cpu);

#define HOPPER_ROW(op)                                                                                 \
    {                                                                                                  \
        .backend = &tki_backends[TKI_CUDA], .variant = "hopper", .accept = tki_grouped_accept_hopper,  \
        .scratch_bytes = tki_grouped_scratch_hopper, .launch = tki_grouped_launch_hopper,              \
        .determinism = TK_BATCH_INVARIANT, .numerics = TKI_NUMERICS_TENSOR_CORE, .only_16_bits = true, \
        .source = "ops/grouped/kernel_" #op "_hopper.cu"                                               \
    }

/* Each group as gemm would, alone: other groups, and where the group lies, change no bit of it. */
#define OTHER_ROWS                                                                                            \
    TKI_GPU_SHARED_ROWS(tki_grouped_launch_gpu, .scratch_bytes = tki_grouped_scratch_gpu,                     \
                        .determinism = TK_BATCH_INVARIANT, .source = "ops/grouped/kernel.cu"),                \
        TKI_CPU_ROWS_WITH_DOT(tki_gemm_cpu, tki_grouped_launch_cpu, .scratch_bytes = tki_grouped_scratch_cpu, \
                              .determinism = TK_BATCH_INVARIANT, .source = "ops/gemm/kernel_cpu.c")

const tki_lowering tki_grouped_gemm_lowerings[] = {HOPPER_ROW(gemm), OTHER_ROWS, {0}};

const tki_lowering tki_grouped_gemm_grad_a_lowerings[] = {HOPPER_ROW(grad_a), OTHER_ROWS, {0}};

const tki_lowering tki_grouped_gemm_grad_b_lowerings[] = {HOPPER_ROW(grad_b), OTHER_ROWS, {0}};
