(* The bounds of sums of products in fp32, as the C code evaluates them (product_bound and embedding_bwd_bound of
   bounds.v): products of fp16 numbers are fp32 numbers, those of bf16 numbers too unless they are subnormal, those of
   fp32 numbers are rounded; bias, residual and what a gradient is added to are further terms. Then the rounding to the
   type of the result, subnormal numbers included. Matrix units are in tensor_core.v, overflow on the way in
   overflow.v. *)
From Coq Require Import Reals ZArith QArith Qreals Lia Lra Bool.
From Flocq Require Import Core.
From Tokitai Require Import dyadic constants bounds formats sums exact_sum acceptance.
Open Scope R_scope.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR SOFTMAX_BWD.ERR *)
(* says: The product of two fp16 numbers is an fp32 number. *)
Theorem fp16_product_exact : forall a b, F16 a -> F16 b -> F32 (a * b).
Proof.
  intros a b A B.
  destruct (FLT_elim _ _ a prec16_positive A) as (m & e & -> & M & E).
  destruct (FLT_elim _ _ b prec16_positive B) as (n & f & -> & N & F).
  replace (IZR m * pow2 e * (IZR n * pow2 f)) with (IZR (m * n) * pow2 (e + f)) by (rewrite mult_IZR, bpow_plus; ring).
  apply FLT_intro; [reflexivity| |unfold emin16, emin32 in *; lia].
  rewrite Z.abs_mul. change (2 ^ prec16)%Z with 2048%Z in *. change (2 ^ prec32)%Z with 16777216%Z. nia.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR SOFTMAX_BWD.ERR *)
(* says: The product of two bf16 numbers is an fp32 number, or it is below 2^-126. *)
Theorem bf16_product_exact : forall a b, FB16 a -> FB16 b -> exact_or_subnormal (a * b).
Proof.
  intros a b A B.
  destruct (FLT_elim _ _ a precb16_positive A) as (m & e & -> & M & E).
  destruct (FLT_elim _ _ b precb16_positive B) as (n & f & -> & N & F).
  replace (IZR m * pow2 e * (IZR n * pow2 f)) with (IZR (m * n) * pow2 (e + f)) by (rewrite mult_IZR, bpow_plus; ring).
  change (2 ^ precb16)%Z with 256%Z in *.
  assert (L : (Z.abs (m * n) < 2 ^ 16)%Z) by (rewrite Z.abs_mul; change (2 ^ 16)%Z with 65536%Z; nia).
  destruct (Z_le_gt_dec (-149) (e + f)) as [H | H]; [left | right].
  - apply FLT_intro; [reflexivity | change (2 ^ prec32)%Z with (2 ^ 24)%Z; lia | exact H].
  - rewrite Rabs_mult, (Rabs_pos_eq (pow2 (e + f))), <- abs_IZR by apply bpow_ge_0.
    apply Rlt_le_trans with (pow2 16 * pow2 (e + f)).
    + apply Rmult_lt_compat_r; [apply bpow_gt_0|]. change (pow2 16) with (IZR (2 ^ 16)). apply IZR_lt. exact L.
    + rewrite <- bpow_plus. apply bpow_le. lia.
Qed.

(* -- What a sum of products is ------------------------------------------------------------------------------------- *)

Definition number_of d :=
  match d with
  | f16 => generic_format radix2 fexp16
  | bf16 => generic_format radix2 fexpb16
  | f32 => generic_format radix2 fexp32
  end.

Definition product_in d p := exists a b, number_of d a /\ number_of d b /\ p = a * b.

Fixpoint nonzero_products t :=
  match t with
  | Term _ => O
  | Product p => is_nonzero p
  | Add l r => (nonzero_products l + nonzero_products r)%nat
  | Fma p s => (is_nonzero p + nonzero_products s)%nat
  end.

(* Further terms other than zero. *)
Fixpoint extras t :=
  match t with
  | Term x => is_nonzero x
  | Product _ => O
  | Add l r => (extras l + extras r)%nat
  | Fma _ s => extras s
  end.

Lemma nonzero_split : forall t, nonzero t = (nonzero_products t + extras t)%nat.
Proof. induction t; simpl; lia. Qed.

Lemma nonzero_at_most_products : forall t, (nonzero_products t <= products t)%nat.
Proof.
  induction t; simpl; try lia.
  - unfold is_nonzero. destruct (Req_EM_T p 0); lia.
  - unfold is_nonzero. destruct (Req_EM_T p 0); lia.
Qed.

(* What the oracle knows of one output element: the counts are those of the sum, its magnitudes no less than the exact
   ones. *)
Definition describes s t :=
  well_formed t /\ all_products (product_in (factors s)) t /\
  products_of s = Z.of_nat (products t) /\ nonzero_of s = Z.of_nat (nonzero_products t) /\
  extras_of s = Z.of_nat (extras t) /\ magnitude t <= Q2R (whole_magnitude s).

Lemma all_products_weaken : forall (P Q : R -> Prop) t, (forall p, P p -> Q p) -> all_products P t -> all_products Q t.
Proof. intros P Q t H. induction t; simpl; auto; intros []; split; auto. Qed.

Lemma no_nonzero_products : forall t, nonzero_products t = O -> all_products (fun p => F32 p) t.
Proof.
  induction t; simpl; auto.
  - intros H. rewrite (is_nonzero_0 p H). apply F32_zero.
  - intros H. split; [apply IHt1 | apply IHt2]; lia.
  - intros H. split; [|apply IHt; lia]. rewrite (is_nonzero_0 p); [apply F32_zero | lia].
Qed.

Lemma Q2R_inject : forall z, Q2R (inject_Z z) = IZR z.
Proof. intros z. unfold Q2R, inject_Z. simpl. lra. Qed.

Lemma Q2R_u : Q2R unit_roundoff = u.
Proof. unfold unit_roundoff. rewrite dyadic_Q2R. apply u_of_the_code. Qed.

Lemma Q2R_underflow : Q2R (dyadic_Q TKI_FP32_UNDERFLOW) = pow2 (-150).
Proof. rewrite dyadic_Q2R. unfold TKI_FP32_UNDERFLOW. rewrite dyadic_R_bpow. apply Rmult_1_l. Qed.

Lemma additions_Z : forall n, IZR (Z.max 0 (Z.of_nat n - 1)) = additions n.
Proof.
  intros n. unfold additions. rewrite INR_IZR_INZ. f_equal. lia.
Qed.

Lemma additions_le : forall n, additions n <= INR n.
Proof. intros n. apply le_INR. lia. Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: A sum of products and further terms, in any order of fp32 additions and FMAs, is within the B of numerics ieee that the C code evaluates. *)
Theorem any_order_bound_holds : forall s t, describes s t ->
  Rabs (computed32 t - exact t) <= Q2R (any_order_bound s).
Proof.
  intros s t (W & P & K & N & E & M). unfold any_order_bound.
  pose proof u_positive as U. pose proof (magnitude_nonneg t) as M0.
  assert (eta0 : 0 < pow2 (-150)) by apply bpow_gt_0.
  pose proof (nonzero_split t) as Split. pose proof (nonzero_at_most_products t) as Few.
  assert (Terms : (nonzero_of s + extras_of s)%Z = Z.of_nat (nonzero t)) by lia.
  assert (Passed : (products_of s + extras_of s)%Z = Z.of_nat (products t + extras t)) by lia.
  rewrite Terms, Passed, K.
  assert (Most : INR (nonzero t) <= INR (products t + extras t)) by (apply le_INR; lia).
  pose proof (pos_INR (products t)) as K0. pose proof (pos_INR (nonzero t)) as N0.
  assert (Enough : forall r, 0 <= r <= INR (nonzero t) ->
    r * u * magnitude t + (1 + r * u) * (INR (products t) * pow2 (-150)) <=
    r * u * Q2R (whole_magnitude s) + (1 + INR (products t + extras t) * u) * INR (products t) * pow2 (-150)).
  { intros r [R0 R1]. apply Rplus_le_compat; [apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra|].
    rewrite Rmult_assoc. apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|].
    apply Rplus_le_compat_l, Rmult_le_compat_r; lra. }
  assert (A : 0 <= additions (nonzero t) <= INR (nonzero t)) by (split; [apply pos_INR | apply additions_le]).
  rewrite Q2R_plus, !Q2R_mult, Q2R_u, Q2R_inject.
  destruct (factors s) eqn:F.
  - rewrite additions_Z. replace (Q2R 0) with 0 by (unfold Q2R; simpl; lra). rewrite Rplus_0_r.
    eapply Rle_trans; [apply any_order; [exact W|]|].
    + eapply all_products_weaken; [|exact P]. intros p (a & b & Ha & Hb & ->). apply fp16_product_exact; assumption.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra.
  - rewrite additions_Z, !Q2R_mult, Q2R_plus, Q2R_mult, Q2R_u, Q2R_underflow, !Q2R_inject, <- !INR_IZR_INZ.
    replace (Q2R 1) with 1 by (unfold Q2R; simpl; lra).
    eapply Rle_trans; [apply exact_or_subnormal_products_any_order; [exact W|]|apply Enough, A].
    eapply all_products_weaken; [|exact P]. intros p (a & b & Ha & Hb & ->). apply bf16_product_exact; assumption.
  - rewrite !Q2R_mult, Q2R_plus, Q2R_mult, Q2R_u, Q2R_underflow, !Q2R_inject, <- !INR_IZR_INZ.
    replace (Q2R 1) with 1 by (unfold Q2R; simpl; lra).
    destruct (Z.ltb_spec 0 (nonzero_of s)) as [L | L].
    + rewrite <- INR_IZR_INZ. eapply Rle_trans; [apply rounded_products_any_order; exact W|].
      apply Enough. split; lra.
    + rewrite additions_Z. eapply Rle_trans; [apply exact_or_subnormal_products_any_order; [exact W|]|apply Enough, A].
      apply all_products_weaken with (fun p => F32 p); [left; assumption|]. apply no_nonzero_products. lia.
Qed.

(* supports: LINEAR_GRAD_W.ERR LINEAR_FWD.ERR *)
(* says: fp16 products added to one further nonzero fp32 number, in any order, are within K' u (sum|a b| + |c|). *)
Theorem accumulate_bound : forall s t, describes s t -> factors s = f16 -> extras t = 1%nat ->
  Rabs (computed32 t - exact t) <= INR (nonzero_products t) * u * magnitude t.
Proof.
  intros s t (W & P & _) F E. rewrite F in P.
  eapply Rle_trans; [apply any_order; [exact W|]|].
  - eapply all_products_weaken; [|exact P]. intros p (a & b & Ha & Hb & ->). apply fp16_product_exact; assumption.
  - unfold additions. rewrite nonzero_split, E, Nat.add_1_r. apply Rle_refl.
Qed.

(* What tki_sum_is_exact() decides for a sum: all terms are multiples of a unit, and are few of it. *)
Definition decided_exact t := magnitude t = 0 \/
  exists e, (-126 <= e <= 103)%Z /\ all_leaves (multiple e) t /\ magnitude t <= pow2 24 * pow2 e.

Lemma rn32_keeps_normal : keeps_normal (fun x => rn32 x).
Proof. intros x F _ _. apply rn32_exact, F. Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: For numerics ieee the sum in any order is within product_bound, the B of the C code, exact sums included, where B = 0. *)
Theorem product_bound_holds : forall s t, describes s t -> numerics_of s = ieee ->
  (is_exact s = true -> decided_exact t) -> Rabs (computed32 t - exact t) <= Q2R (product_bound s).
Proof.
  intros s t D I X. unfold product_bound. rewrite I. destruct (is_exact s); [|apply any_order_bound_holds, D].
  replace (Q2R 0) with 0 by (unfold Q2R; simpl; lra).
  replace (computed32 t) with (exact t); [rewrite Rminus_diag_eq, Rabs_R0; lra|].
  destruct (X eq_refl) as [Z | (e & E & L & M)].
  - destruct (zero_sum (fun x => rn32 x) t) as [-> ->]; auto. apply rn32_exact, F32_zero.
  - symmetry. apply (exact_sum _ e); auto. apply rn32_keeps_normal.
Qed.

(* The limits of constants.v are those of decided_exact. *)
Lemma exact_limits_of_the_code :
  dyadic_R TKI_EXACT_UNITS = pow2 24 /\ dyadic_R TKI_FP32_SMALLEST_NORMAL = pow2 (-126) /\
  dyadic_R TKI_EXACT_LARGEST_UNIT = pow2 103.
Proof. unfold TKI_EXACT_UNITS, TKI_FP32_SMALLEST_NORMAL, TKI_EXACT_LARGEST_UNIT. rewrite !dyadic_R_bpow. lra. Qed.

(* -- embedding_bwd ------------------------------------------------------------------------------------------------- *)

(* supports: EMBEDDING_BWD.ERR *)
(* says: The hits of a row, added in any order in fp32, are within (hits - 1) u sum|g| of the exact sum, or exact where the C code says so. *)
Theorem embedding_bwd_bound_holds : forall t hits m b, well_formed t -> products t = O ->
  (nonzero t <= Z.to_nat hits)%nat -> (0 <= hits)%Z -> magnitude t <= dyadic_R m -> (b = true -> decided_exact t) ->
  Rabs (computed32 t - exact t) <= Q2R (embedding_bwd_bound hits m b).
Proof.
  intros t hits m b W P H H0 M X. unfold embedding_bwd_bound. destruct b.
  - replace (computed32 t) with (exact t); [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; unfold Q2R; simpl; lra|].
    destruct (X eq_refl) as [Z | (e & E & L & N)].
    + destruct (zero_sum (fun x => rn32 x) t) as [-> ->]; auto. apply rn32_exact, F32_zero.
    + symmetry. apply (exact_sum _ e); auto. apply rn32_keeps_normal.
  - rewrite !Q2R_mult, Q2R_inject, Q2R_u, dyadic_Q2R.
    eapply Rle_trans; [apply any_order; [exact W | apply terms_all_products; exact P]|].
    rewrite <- (Z2Nat.id hits), additions_Z by exact H0.
    pose proof u_positive. pose proof (magnitude_nonneg t).
    assert (additions (nonzero t) <= additions (Z.to_nat hits)) by (apply le_INR; lia).
    pose proof (pos_INR (Nat.pred (nonzero t))). fold (additions (nonzero t)) in *.
    apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat_r; lra.
Qed.

(* -- The rounding to the type of the result ------------------------------------------------------------------------ *)

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR EMBEDDING_BWD.ERR *)
(* says: A value within B of S is stored within B + max(2^-p (|S| + B), half of the smallest subnormal number) of S, in fp16, bf16 and fp32. *)
Theorem store_error : forall emin prec v s b, Prec_gt_0 prec -> Rabs (v - s) <= b ->
  Rabs (round radix2 (FLT_exp emin prec) ZnearestE v - s) <=
    b + Rmax (pow2 (- prec) * (Rabs s + b)) (pow2 (emin - 1)).
Proof.
  intros emin prec v s b P H. pose proof (FLT_rounding_error emin prec v P) as E.
  set (r := round radix2 (FLT_exp emin prec) ZnearestE v) in *.
  replace (r - s) with ((v - s) + (r - v)) by ring. eapply Rle_trans; [apply Rabs_triang|].
  apply Rplus_le_compat; [exact H|]. eapply Rle_trans; [exact E|].
  apply Rle_max_compat_r, Rmult_le_compat_l; [apply bpow_ge_0|].
  replace v with (s + (v - s)) by ring. eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

Definition exponent_beyond d := match d with f16 => 16%Z | bf16 | f32 => 128%Z end.

Lemma exponents_of_the_code : exponent_beyond f16 = (F16_exponent_max + 1)%Z /\
  exponent_beyond bf16 = (BF16_exponent_max + 1)%Z /\ exponent_beyond f32 = (F32_exponent_max + 1)%Z.
Proof. repeat split. Qed.

(* The rounding to a type, infinities included, and the acceptance rule for it. *)
Definition stored d :=
  match d with
  | f16 => rounded emin16 prec16 (exponent_beyond f16)
  | bf16 => rounded eminb16 precb16 (exponent_beyond bf16)
  | f32 => rounded emin32 prec32 (exponent_beyond f32)
  end.

Definition accepted_in d :=
  match d with
  | f16 => accepted emin16 prec16 (exponent_beyond f16)
  | bf16 => accepted eminb16 precb16 (exponent_beyond bf16)
  | f32 => accepted emin32 prec32 (exponent_beyond f32)
  end.

Lemma stored_accepted : forall d s b v, Rabs (v - s) <= b -> accepted_in d s b (stored d v).
Proof. intros [] s b v H; apply acceptance_sound; auto with typeclass_instances. Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: A kernel that adds in any order in fp32, without overflow on the way, and rounds once to the type of the result is accepted by the C code's B. *)
Theorem sum_of_products_is_accepted : forall result s t, describes s t -> numerics_of s = ieee ->
  (is_exact s = true -> decided_exact t) ->
  accepted_in result (exact t) (Q2R (product_bound s)) (stored result (computed32 t)).
Proof. intros result s t D I X. apply stored_accepted, product_bound_holds; assumption. Qed.

(* supports: EMBEDDING_BWD.ERR *)
(* says: A kernel that adds a row's hits in any order in fp32, without overflow on the way, and rounds once is accepted by the C code's B. *)
Theorem sum_of_hits_is_accepted : forall result t hits m b, well_formed t -> products t = O ->
  (nonzero t <= Z.to_nat hits)%nat -> (0 <= hits)%Z -> magnitude t <= dyadic_R m -> (b = true -> decided_exact t) ->
  accepted_in result (exact t) (Q2R (embedding_bwd_bound hits m b)) (stored result (computed32 t)).
Proof. intros. apply stored_accepted, embedding_bwd_bound_holds; assumption. Qed.
