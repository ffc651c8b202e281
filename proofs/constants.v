(* Made from the C code by proofs/constants.c; tests/proofs_constants.sh --write makes it anew. *)
From Coq Require Import ZArith.
From Tokitai Require Import dyadic.

(* exact/fp32.h *)
Definition TKI_U := (Dyadic 1 (-24)).
Definition TKI_FP32_SMALLEST_NORMAL := (Dyadic 1 (-126)).
Definition TKI_FP32_SMALLEST := (Dyadic 1 (-149)).
Definition TKI_FP32_UNDERFLOW := (Dyadic 1 (-150)).
Definition TKI_FP32_OVERFLOW := (Dyadic 33554431 103).

(* model/format.h *)
Definition F16_precision := 11%Z.
Definition F16_exponent_min := (-14)%Z.
Definition F16_exponent_max := 15%Z.
Definition F16_exponent_lowest := (-24)%Z.
Definition F16_sign := 32768%Z.
Definition F16_largest := 31743%Z.
Definition F16_infinity := 31744%Z.
Definition F16_nan := 32256%Z.
Definition BF16_precision := 8%Z.
Definition BF16_exponent_min := (-126)%Z.
Definition BF16_exponent_max := 127%Z.
Definition BF16_exponent_lowest := (-133)%Z.
Definition BF16_sign := 32768%Z.
Definition BF16_largest := 32639%Z.
Definition BF16_infinity := 32640%Z.
Definition BF16_nan := 32704%Z.
Definition F32_precision := 24%Z.
Definition F32_exponent_min := (-126)%Z.
Definition F32_exponent_max := 127%Z.
Definition F32_exponent_lowest := (-149)%Z.
Definition F32_sign := 2147483648%Z.
Definition F32_largest := 2139095039%Z.
Definition F32_infinity := 2139095040%Z.
Definition F32_nan := 2143289344%Z.

(* exact/floats.h *)
Definition floats_round_to_nearest := 1%Z.
Definition floats_keep_subnormal := 1%Z.

(* exact/product_bound.h *)
Definition TKI_PRODUCT_ROUND_UP := (Dyadic 281474976710657 (-48)).
Definition TKI_MATRIX_UNIT_STORE := (Dyadic 1 (-23)).
Definition TKI_PRODUCT_GROWTH := (Dyadic 1048577 (-20)).
Definition TKI_PRODUCT_F16_EXTRAS := (Dyadic 1 100).
Definition TKI_UNIT_UNKNOWN_block := 4%Z.
Definition TKI_UNIT_UNKNOWN_truncation := (Dyadic 1 (-23)).
Definition TKI_UNIT_SM_80_block := 8%Z.
Definition TKI_UNIT_SM_80_truncation := (Dyadic 1 (-24)).
Definition TKI_UNIT_SM_90_block := 8%Z.
Definition TKI_UNIT_SM_90_truncation := (Dyadic 1 (-25)).

(* exact/exact_sum.h *)
Definition TKI_EXACT_UNITS := (Dyadic 1 24).
Definition TKI_EXACT_LARGEST_UNIT := (Dyadic 1 103).

(* exact/domain.h *)
Definition TKI_DOMAIN_LOWEST_EXPONENT := (-40)%Z.
Definition TKI_DOMAIN_HIGHEST_EXPONENT := 20%Z.

(* exact/exp_over_sum_bound.h *)
Definition TKI_SOFTMAX_FAR := (Dyadic 13 3).
Definition TKI_SOFTMAX_RESCALINGS := (Dyadic 1 5).
Definition TKI_SOFTMAX_PLATEAU := (Dyadic 1 24).
Definition TKI_SOFTMAX_PER_DISTANCE := (Dyadic 9 (-2)).
Definition TKI_SOFTMAX_CONSTANT := (Dyadic 19 0).
Definition TKI_SOFTMAX_PER_RESCALING := (Dyadic 9 0).
Definition TKI_SOFTMAX_SLACK := (Dyadic 4504049987333233 (-52)).
Definition TKI_SOFTMAX_LARGEST_W := (Dyadic 1 (-1)).
Definition TKI_SOFTMAX_PLATEAU_DEPTH := (Dyadic 1 6).
Definition TKI_SOFTMAX_PLATEAU_PER_MAXIMUM := (Dyadic 1 1).
Definition TKI_SOFTMAX_BLOCK := 256%Z.
Definition TKI_SOFTMAX_JOINED := 16%Z.

(* exact/gelu_bound.h *)
Definition TKI_GELU_ROUND_UP := (Dyadic 281474976710657 (-48)).
Definition TKI_GELU_UNDERFLOW_CAP := (Dyadic 1 12).
Definition TKI_GELU_BWD_UNDERFLOW := (Dyadic 1 (-150)).
Definition TKI_GELU_STEEPEST := (Dyadic 1272266894732165 (-50)).
Definition TKI_GELU_CONSTANT := (Dyadic 1 3).
Definition TKI_GELU_PER_ARGUMENT := (Dyadic 1 2).

(* kernels/cpu_polynomials.h *)
Definition LOG2_E := (Dyadic 12102203 (-23)).
Definition GELU_A := (Dyadic 9656161 (-22)).
Definition GELU_B := (Dyadic 1727101 (-24)).
Definition GELU_BY_K := (Dyadic 10513561 (-25)).
Definition GELU_THREE_BY_K := (Dyadic 341599 (-19)).
Definition EXP2_RAISED_0 := (Dyadic 1 64).
Definition EXP2_RAISED_1 := (Dyadic 2907289 42).
Definition EXP2_RAISED_2 := (Dyadic 1007301 42).
Definition EXP2_RAISED_3 := (Dyadic 468241 41).
Definition EXP2_RAISED_4 := (Dyadic 9654007 34).
Definition EXP2_RAISED_5 := (Dyadic 2017903 34).
Definition GELU_EXP2_0 := (Dyadic 1 0).
Definition GELU_EXP2_1 := (Dyadic 11629077 (-24)).
Definition GELU_EXP2_2 := (Dyadic 16121057 (-26)).
Definition GELU_EXP2_3 := (Dyadic 14900077 (-28)).
Definition GELU_EXP2_4 := (Dyadic 10384473 (-30)).
Definition GELU_EXP2_5 := (Dyadic 11398329 (-33)).
Definition GELU_EXP2_BY_K_0 := (Dyadic 10513561 (-25)).
Definition GELU_EXP2_BY_K_1 := (Dyadic 14574887 (-26)).
Definition GELU_EXP2_BY_K_2 := (Dyadic 5051187 (-26)).
Definition GELU_EXP2_BY_K_3 := (Dyadic 9337239 (-29)).
Definition GELU_EXP2_BY_K_4 := (Dyadic 13015007 (-32)).
Definition GELU_EXP2_BY_K_5 := (Dyadic 14285687 (-35)).
