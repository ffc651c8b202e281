(* The formulas of bounds.v against what the functions of the C code return at the points of bound_points.v. A bound in
   C is evaluated in double and rounded up: it is no less than the formula, and larger by no more than 2^-40 of it.
   This is a comparison at these points, which notices a changed formula; it is no proof for all arguments. *)
From Coq Require Import ZArith QArith List Bool.
From Tokitai Require Import dyadic constants bounds bound_points.
Open Scope Q_scope.

Definition tolerance : Q := 1 # (2 ^ 40).

(* The C code's number is the formula's, rounded up. *)
Definition rounded_up (formula : Q) (c : dyadic) : bool :=
  Qle_bool formula (dyadic_Q c) && Qle_bool (dyadic_Q c) (formula * (1 + tolerance)).

(* The C code's caller rounds up. *)
Definition nearly (formula : Q) (c : dyadic) : bool :=
  Qle_bool (formula * (1 - tolerance)) (dyadic_Q c) && Qle_bool (dyadic_Q c) (formula * (1 + tolerance)).

(* Says that it reaches the limit wherever it does, and only where it does so nearly. *)
Definition reaches (reach : Q) (limit : dyadic) (c : bool) : bool :=
  if c then Qle_bool (dyadic_Q limit) (reach * (1 + tolerance)) else negb (Qle_bool (dyadic_Q limit) reach).

Definition product_agrees (point : product_sum * dyadic * bool) : bool :=
  let '(s, bound, overflow) := point in
  rounded_up (product_bound s) bound &&
  (if never_overflows s then negb overflow else reaches (overflow_reach s) TKI_FP32_OVERFLOW overflow).

Definition embedding_bwd_agrees (point : Z * dyadic * bool * dyadic * bool) : bool :=
  let '(hits, magnitude, exact, bound, overflow) := point in
  rounded_up (embedding_bwd_bound hits magnitude exact) bound &&
  reaches (embedding_bwd_reach hits magnitude) TKI_FP32_OVERFLOW overflow.

Definition exact_sum_agrees (point : dyadic * dyadic * bool) : bool :=
  let '(magnitude, unit, exact) := point in eqb (sum_is_exact magnitude unit) exact.

Definition softmax_agrees (point : Z * Z * dyadic * Z * Z * dyadic * dyadic * dyadic * dyadic) : bool :=
  let '(sums, cols, ln_cols, depth, rescalings, d, relative, y, bound) := point in
  let formula := softmax_relative_bound sums cols ln_cols depth rescalings d in
  nearly formula relative && rounded_up (softmax_fwd_bound formula y) bound.

Definition softmax_bwd_agrees
    (point : dtype * bool * Z * Z * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic) : bool :=
  let '(d, exact, cols, nonzero, magnitude, y, difference, sum, sum_bound, bound) := point in
  rounded_up (softmax_bwd_sum_bound d exact cols nonzero magnitude) sum_bound &&
  rounded_up (softmax_bwd_bound d y difference sum sum_bound) bound.

Definition xent_agrees
    (point : xent_row * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic) : bool :=
  let '(row, d, p, q, difference, grad, target_grad, loss) := point in
  let other := other_distance_of row in
  rounded_up (xent_grad_bound row (if is_near d then xent_relative row 1 d else 0) p q difference) grad &&
  rounded_up (xent_grad_bound row (if is_near other then xent_relative row 2 other else 1) p q difference)
    target_grad &&
  rounded_up (xent_loss_bound row) loss.

Definition gelu_agrees (point : dyadic * dyadic * dyadic * dyadic * dyadic * dyadic) : bool :=
  let '(x, two_z, sigma, h, forward, backward) := point in
  rounded_up (gelu_fwd_bound x two_z sigma) forward && rounded_up (gelu_bwd_bound two_z sigma h) backward.

Definition softmax_depth_agrees (point : Z * Z * Z * dyadic * bool * bool * dyadic * dyadic) : bool :=
  let '(cols, near, top, maximum, promised, unit, depth, rescalings) := point in
  nearly (softmax_sum_depth cols near top maximum promised unit) depth &&
  Qeq_bool (softmax_rescalings near top) (dyadic_Q rescalings).

Definition softmax_overflow_agrees
    (point : dtype * Z * dyadic * dyadic * dyadic * dyadic * bool * bool) : bool :=
  let '(d, cols, magnitude, difference, sum, sum_bound, of_sum, of_difference) := point in
  match d with
  | f16 => negb of_sum && negb of_difference
  | _ => reaches (softmax_bwd_sum_reach cols magnitude) TKI_FP32_OVERFLOW of_sum &&
         reaches (softmax_bwd_difference_reach difference sum sum_bound) TKI_FP32_OVERFLOW of_difference
  end.

Definition xent_overflow_agrees (point : bool * Z * dyadic * bool) : bool :=
  let '(smoothed, depth, distances, overflow) := point in
  if smoothed then reaches (xent_loss_reach depth distances) TKI_FP32_OVERFLOW overflow else negb overflow.

(* What bounds are rounded up by is more than 16 roundings of their evaluation in double, and less than the tolerance. *)
Lemma roundings_up_of_the_code :
  forallb (fun c => Qle_bool (1 + (16 # (2 ^ 53))) (dyadic_Q c) && Qle_bool (dyadic_Q c) (1 + tolerance))
    (TKI_PRODUCT_ROUND_UP :: TKI_GELU_ROUND_UP :: nil) = true.
Proof. vm_compute. reflexivity. Qed.

(* The gradient of gelu has the underflow of one product. *)
Lemma gelu_underflow_of_the_code : TKI_GELU_BWD_UNDERFLOW = TKI_FP32_UNDERFLOW.
Proof. reflexivity. Qed.

Theorem tki_product_may_overflow_agrees : forallb product_agrees near_overflow_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_softmax_depth_agrees : forallb softmax_depth_agrees softmax_depth_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_softmax_overflow_agrees : forallb softmax_overflow_agrees softmax_overflow_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_xent_overflow_agrees : forallb xent_overflow_agrees xent_overflow_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_product_bound_agrees : forallb product_agrees product_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_embedding_bwd_bound_agrees : forallb embedding_bwd_agrees embedding_bwd_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_sum_is_exact_agrees : forallb exact_sum_agrees exact_sum_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_softmax_fwd_bound_agrees : forallb softmax_agrees softmax_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_gelu_bound_agrees : forallb gelu_agrees gelu_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_softmax_bwd_bound_agrees : forallb softmax_bwd_agrees softmax_bwd_points = true.
Proof. vm_compute. reflexivity. Qed.

Theorem tki_xent_bound_agrees : forallb xent_agrees xent_points = true.
Proof. vm_compute. reflexivity. Qed.
