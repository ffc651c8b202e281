/* DECIDES. The attributes of the linear layer's ops beyond those of every matrix product, their choices, and where the tensors are. */
#pragma once

/* The place of linear_fwd's and linear_grad_x's `epilogue`, and of linear_grad_w's `accumulate`. */
enum { TKI_LINEAR_EPILOGUE = 3, TKI_LINEAR_ACCUMULATE = 3 };

/* linear_fwd */
enum {
    TKI_LINEAR_BIAS,
    TKI_LINEAR_BIAS_GELU,
    TKI_LINEAR_GELU,
    TKI_LINEAR_BIAS_RESIDUAL,
    TKI_LINEAR_RESIDUAL,
    TKI_LINEAR_NONE,
    TKI_LINEAR_EPILOGUES
};
enum { TKI_LINEAR_X, TKI_LINEAR_W, TKI_LINEAR_BIAS_IN, TKI_LINEAR_RESIDUAL_IN, TKI_LINEAR_Y, TKI_LINEAR_PRE };

/* linear_grad_x */
enum { TKI_LINEAR_GRAD_PLAIN, TKI_LINEAR_GRAD_GELU };
enum { TKI_LINEAR_GRAD_X_GRAD_Y, TKI_LINEAR_GRAD_X_W, TKI_LINEAR_GRAD_X_PRE, TKI_LINEAR_GRAD_X_OUT };

/* linear_grad_w */
enum { TKI_LINEAR_OVERWRITE, TKI_LINEAR_ADD };
enum { TKI_LINEAR_GRAD_W_GRAD_Y, TKI_LINEAR_GRAD_W_X, TKI_LINEAR_GRAD_W_BEFORE, TKI_LINEAR_GRAD_W_OUT };
