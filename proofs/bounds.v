(* The bounds of the contracts as rational formulas in the numbers of constants.v, without the factor by which the C
   code rounds them up. They compute: bound_agreement.v compares them with what the C functions return
   (bound_points.v), and theorems are stated about them: product_bound, may_overflow and embedding_bwd_bound in
   products.v and overflow.v, softmax_relative_bound in softmax_forward.v, gelu_fwd_bound in gelu.v. The others are here
   for that comparison alone; softmax_backward.v and xent*.v state their bounds over the reals. *)
From Coq Require Import ZArith QArith Qminmax Bool.
From Tokitai Require Import dyadic constants.
Open Scope Q_scope.

Inductive dtype := f16 | bf16 | f32.
Inductive matrix_unit := unit_unknown | unit_sm_80 | unit_sm_90.
Inductive numerics := ieee | tensor_core (unit : matrix_unit).

(* tki_product_sum: K, K', the sum of absolute values, and the further terms. *)
Record product_sum := ProductSum {
  factors : dtype;
  numerics_of : numerics;
  is_exact : bool;
  products_of : Z;
  nonzero_of : Z;
  magnitude_of : dyadic;
  extras_of : Z;
  extra_magnitude_of : dyadic
}.

Definition unit_roundoff := dyadic_Q TKI_U.

Definition block_of unit :=
  match unit with
  | unit_unknown => TKI_UNIT_UNKNOWN_block
  | unit_sm_80 => TKI_UNIT_SM_80_block
  | unit_sm_90 => TKI_UNIT_SM_90_block
  end.

Definition truncation_of unit :=
  match unit with
  | unit_unknown => TKI_UNIT_UNKNOWN_truncation
  | unit_sm_80 => TKI_UNIT_SM_80_truncation
  | unit_sm_90 => TKI_UNIT_SM_90_truncation
  end.

(* All products and further terms. *)
Definition whole_magnitude s := dyadic_Q (magnitude_of s) + dyadic_Q (extra_magnitude_of s).

Definition blocks_of unit s := Z.min (nonzero_of s) ((products_of s + block_of unit - 1) / block_of unit).

(* The chain of blocks alone: what is added to it afterwards comes on top. *)
Definition chain_bound unit s : Q :=
  let alone := ((nonzero_of s + extras_of s <=? 1) || (nonzero_of s =? 0))%Z in
  let truncation := dyadic_Q (truncation_of unit) in
  let blocks := inject_Z (blocks_of unit s) in
  let factor := if alone then 0 else
    inject_Z (nonzero_of s) * truncation + blocks * (truncation + dyadic_Q TKI_MATRIX_UNIT_STORE) in
  let underflow := match factors s with bf16 => blocks * dyadic_Q TKI_FP32_SMALLEST | _ => 0 end in
  factor * whole_magnitude s + underflow.

Definition tensor_core_bound unit s : Q :=
  let chain := chain_bound unit s in
  let additions := (if (0 <? nonzero_of s) || (extras_of s =? 0) then extras_of s else extras_of s - 1)%Z in
  chain + inject_Z additions * unit_roundoff * dyadic_Q TKI_PRODUCT_GROWTH * (whole_magnitude s + chain).

Definition any_order_bound s : Q :=
  let terms := (nonzero_of s + extras_of s)%Z in
  let additions := Z.max 0 (terms - 1) in
  let roundings := match factors s with
    | f32 => if (0 <? nonzero_of s)%Z then terms else additions
    | _ => additions
    end in
  let passed := inject_Z (products_of s + extras_of s) in
  let underflow := match factors s with
    | f16 => 0
    | _ => (1 + passed * unit_roundoff) * inject_Z (products_of s) * dyadic_Q TKI_FP32_UNDERFLOW
    end in
  inject_Z roundings * unit_roundoff * whole_magnitude s + underflow.

(* B. *)
Definition product_bound s : Q :=
  if is_exact s then 0
  else match numerics_of s with tensor_core unit => tensor_core_bound unit s | ieee => any_order_bound s end.

(* What reaches this can overflow. *)
Definition overflow_reach s : Q :=
  (1 + inject_Z (products_of s + extras_of s) * unit_roundoff) * whole_magnitude s.

Definition never_overflows s : bool :=
  match factors s with
  | f16 => negb (Qle_bool (dyadic_Q TKI_PRODUCT_F16_EXTRAS) (dyadic_Q (extra_magnitude_of s)))
  | _ => false
  end.

Definition may_overflow s : bool :=
  negb (never_overflows s) && Qle_bool (dyadic_Q TKI_FP32_OVERFLOW) (overflow_reach s).

Definition embedding_bwd_bound (hits : Z) (magnitude : dyadic) (exact : bool) : Q :=
  if exact then 0 else inject_Z (Z.max 0 (hits - 1)) * unit_roundoff * dyadic_Q magnitude.

Definition embedding_bwd_reach (hits : Z) (magnitude : dyadic) : Q :=
  (1 + inject_Z hits * unit_roundoff) * dyadic_Q magnitude.

Definition sum_is_exact (magnitude unit : dyadic) : bool :=
  Qeq_bool (dyadic_Q magnitude) 0 ||
  (Qle_bool (dyadic_Q magnitude) (dyadic_Q TKI_EXACT_UNITS * dyadic_Q unit) &&
   Qle_bool (dyadic_Q TKI_FP32_SMALLEST_NORMAL) (dyadic_Q unit) &&
   Qle_bool (dyadic_Q unit) (dyadic_Q TKI_EXACT_LARGEST_UNIT)).

(* W / (1 - W). *)
Definition softmax_relative_bound (sums cols : Z) (ln_cols : dyadic) (depth rescalings : Z) (d : dyadic) : Q :=
  let per_distance := dyadic_Q TKI_SOFTMAX_PER_DISTANCE in
  let sums := inject_Z sums in
  let constant := per_distance * (dyadic_Q d + sums * dyadic_Q ln_cols) + dyadic_Q TKI_SOFTMAX_CONSTANT +
    sums * (inject_Z depth + dyadic_Q TKI_SOFTMAX_PER_RESCALING * inject_Z rescalings) in
  let w := dyadic_Q TKI_SOFTMAX_SLACK *
    (unit_roundoff * constant + inject_Z cols * dyadic_Q TKI_FP32_SMALLEST_NORMAL) in
  w / (1 - w).

(* Beyond TKI_SOFTMAX_FAR the C code has 2^-126 alone. *)
Definition softmax_fwd_bound (relative : Q) (y : dyadic) : Q :=
  dyadic_Q y * relative + dyadic_Q TKI_FP32_SMALLEST_NORMAL.

(* D and R of a row with so many elements that are near, so many at the maximum, and that maximum's absolute value. *)
Definition softmax_depth (terms cols : Z) (promised : bool) : Z :=
  let most := Z.max 0 (terms - 1) in
  let kept := ((cols + TKI_SOFTMAX_BLOCK - 1) / TKI_SOFTMAX_BLOCK + TKI_SOFTMAX_JOINED)%Z in
  if promised then Z.min kept most else most.

Definition softmax_sum_depth (cols near top : Z) (maximum : dyadic) (promised unit : bool) : Q :=
  let depth := inject_Z (softmax_depth near cols promised) in
  let plateau := if unit then 0
    else dyadic_Q TKI_SOFTMAX_PLATEAU_DEPTH + dyadic_Q TKI_SOFTMAX_PLATEAU_PER_MAXIMUM * dyadic_Q maximum in
  if (near =? top)%Z && Qle_bool (inject_Z near) (dyadic_Q TKI_SOFTMAX_PLATEAU) then Qmin plateau depth else depth.

Definition softmax_rescalings (near top : Z) : Q :=
  if (near =? top)%Z then 0 else Qmin (inject_Z (near - 1)) (dyadic_Q TKI_SOFTMAX_RESCALINGS).

Definition gelu_fwd_bound (x two_z sigma : dyadic) : Q :=
  let x := dyadic_Q x in
  unit_roundoff * (x * dyadic_Q sigma) * (dyadic_Q TKI_GELU_CONSTANT +
    dyadic_Q TKI_GELU_PER_ARGUMENT * dyadic_Q two_z * (1 - dyadic_Q sigma)) +
  dyadic_Q TKI_FP32_SMALLEST_NORMAL * Qmin x (dyadic_Q TKI_GELU_UNDERFLOW_CAP).

Definition gelu_bwd_bound (two_z sigma h : dyadic) : Q :=
  let two_z := dyadic_Q two_z in
  let sigma := dyadic_Q sigma in
  let h := dyadic_Q h in
  let constant := dyadic_Q TKI_GELU_CONSTANT in
  let per_argument := dyadic_Q TKI_GELU_PER_ARGUMENT in
  unit_roundoff * (sigma * (constant + per_argument * two_z * (1 - sigma)) +
    sigma * (1 - sigma) * h * (constant + per_argument * two_z)) +
  dyadic_Q TKI_FP32_SMALLEST_NORMAL * (1 + Qmin h (dyadic_Q TKI_GELU_UNDERFLOW_CAP)).

(* Decimal numbers of the contracts: the C code has the doubles that are nearest to them. *)
Definition slack_1 : Q := 10001 # 10000.
Definition slack_2 : Q := 20001 # 10000.

(* Bs and B of softmax_bwd. *)
Definition softmax_bwd_sum_bound d (exact : bool) (cols nonzero : Z) (magnitude : dyadic) : Q :=
  let n := inject_Z cols in
  let roundings := match d with f32 => nonzero | _ => Z.max 0 (nonzero - 1) end in
  let underflow := match d with
    | f16 => 0
    | bf16 => n * dyadic_Q TKI_FP32_UNDERFLOW
    | f32 => (1 + n * unit_roundoff) * n * dyadic_Q TKI_FP32_UNDERFLOW
    end in
  if exact then 0 else inject_Z roundings * unit_roundoff * dyadic_Q magnitude + underflow.

Definition softmax_bwd_bound d (y difference sum sum_bound : dyadic) : Q :=
  let products := match d with f32 => 2 | _ => 1 end in
  dyadic_Q y * (slack_2 * unit_roundoff * dyadic_Q difference +
    slack_1 * (dyadic_Q sum_bound + products * unit_roundoff * dyadic_Q sum)) + dyadic_Q TKI_FP32_SMALLEST.

(* Where the sum of a row of softmax_bwd, its difference g - s, and the smoothing's sum of xent reach 2^128 (1 - 2^-25). *)
Definition softmax_bwd_sum_reach (cols : Z) (magnitude : dyadic) : Q :=
  (1 + inject_Z cols * unit_roundoff) * dyadic_Q magnitude.

Definition softmax_bwd_difference_reach (difference sum sum_bound : dyadic) : Q :=
  dyadic_Q difference + slack_1 * (dyadic_Q sum_bound + unit_roundoff * dyadic_Q sum).

Definition xent_loss_reach (distance_depth : Z) (distances : dyadic) : Q :=
  (1 + (inject_Z distance_depth + 4) * unit_roundoff) * dyadic_Q distances.

(* tki_xent_row. *)
Record xent_row := XentRow {
  xent_cols : Z;
  depth_of : Z;
  distance_depth_of : Z;
  rescalings_of : Z;
  is_promised : bool;
  ln_cols_of : dyadic;
  smoothing_of : dyadic;
  scale_of : dyadic;
  ln_z_of : dyadic;
  target_distance_of : dyadic;
  second_distance_of : dyadic;
  other_distance_of : dyadic;
  distances_of : dyadic
}.

Definition is_near (d : dyadic) : bool := Qle_bool (dyadic_Q d) (dyadic_Q TKI_SOFTMAX_FAR).

Definition xent_relative row (sums : Z) (d : dyadic) : Q :=
  softmax_relative_bound sums (xent_cols row) (ln_cols_of row) (depth_of row) (rescalings_of row) d.

Definition xent_grad_bound row (relative : Q) (p q difference : dyadic) : Q :=
  dyadic_Q (scale_of row) * (dyadic_Q p * relative + 3 * unit_roundoff * (dyadic_Q q + dyadic_Q difference) +
    dyadic_Q TKI_FP32_SMALLEST_NORMAL) + dyadic_Q TKI_FP32_SMALLEST.

Definition xent_loss_bound row : Q :=
  let eps := dyadic_Q (smoothing_of row) in
  let target := 3 * (1 - eps) * dyadic_Q (target_distance_of row) in
  let spread := eps / inject_Z (xent_cols row) * (inject_Z (distance_depth_of row) + 4) * unit_roundoff *
    dyadic_Q (distances_of row) in
  let per_distance := dyadic_Q TKI_SOFTMAX_PER_DISTANCE in
  let ln_z := dyadic_Q (ln_z_of row) in
  let ln_cols := dyadic_Q (ln_cols_of row) in
  let rest := inject_Z (depth_of row) + dyadic_Q TKI_SOFTMAX_PER_RESCALING * inject_Z (rescalings_of row) + 20 in
  if is_promised row then
    let second := dyadic_Q (second_distance_of row) in
    let share := if is_near (second_distance_of row)
      then unit_roundoff * (per_distance * (second + ln_cols) + rest) else 1 in
    slack_1 * (unit_roundoff * target + ln_z * share) + spread + dyadic_Q TKI_FP32_SMALLEST_NORMAL
  else unit_roundoff * (target + 2 * ln_z + per_distance * ln_cols + rest) + spread.
