/* A linear layer and its gradients on Hopper's matrix units. */
#pragma once

#include "model/lowering.h"
#include "ops/gemm/launch_hopper.h"
#include "ops/linear/params.h"

/* Which product a row computes, behind its `kernels`. */
typedef struct tki_linear_hopper {
    tki_linear_params (*params)(const tk_case *c, void *const buffers[]);
    bool left_across, right_across; /* how its factors lie */
    /* With one of these tensors, which kernel; else the one that adds at most a bias. */
    struct {
        int tensor;
        tki_gemm_epilogue epilogue;
    } with[2];
    int with_count;
} tki_linear_hopper;

tki_choice tki_linear_choose_hopper(const tki_lowering *row, const tk_case *c);
int tki_linear_candidates_hopper(const tki_lowering *row, const tk_case *c, tki_choice *list, int most);
size_t tki_linear_scratch_hopper(const tki_call *call);
TK_MUST_USE tk_status tki_linear_launch_hopper(const tki_call *call);
