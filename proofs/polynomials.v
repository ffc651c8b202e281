(* The polynomials for 2^f in the CPU kernels, with the coefficients of kernels/cpu_polynomials.h: method error by
   interval arithmetic, rounding errors of Horner's scheme in fp32 with or without fused multiply-add, and the splitting
   of an exponent into an integer and f. Together: the exponentials of the row kernels are within 5 u, of the 8 u that
   the contract has for exp; those of gelu are within two units in the last place, 4 u. Underflow, which the kernels
   avoid by raising the results, is left out. *)
From Coq Require Import Reals ZArith List Lra.
From Flocq Require Import Core.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants formats entropy softmax_sum.
Import ListNotations.
Open Scope R_scope.

(* Coefficients, that of f^0 first. *)
Fixpoint value (cs : list R) (f : R) : R := match cs with [] => 0 | c :: cs' => value cs' f * f + c end.

(* Horner's scheme in fp32: e is 0 with a fused multiply-add. *)
Inductive horner (f : R) : list R -> R -> Prop :=
| begins : forall c, horner f [c] c
| continues : forall c cs r e d, horner f cs r -> Rabs e <= u -> Rabs d <= u ->
    horner f (c :: cs) ((r * f * (1 + e) + c) * (1 + d)).

Fixpoint rounding (cs : list R) (f : R) : R :=
  match cs with
  | [] | [_] => 0
  | c :: cs' => u * Rabs (value cs' f * f + c) + (1 + u) * (Rabs f * ((1 + u) * rounding cs' f + u * Rabs
    (value cs' f)))
  end.

Lemma rounding_nonnegative : forall cs f, 0 <= rounding cs f.
Proof.
  induction cs as [| c [| c' cs] IH]; intros f; try (simpl; lra). pose proof u_positive. specialize (IH f).
  change (0 <= u * Rabs (value (c' :: cs) f * f + c)
    + (1 + u) * (Rabs f * ((1 + u) * rounding (c' :: cs) f + u * Rabs (value (c' :: cs) f)))).
  repeat (apply Rplus_le_le_0_compat || apply Rmult_le_pos); try lra; apply Rabs_pos.
Qed.

Theorem horner_within : forall f cs r, horner f cs r -> Rabs (r - value cs f) <= rounding cs f.
Proof.
  intros f cs r H. pose proof u_positive as U. induction H as [c | c cs r e d H IH E D].
  - simpl. replace (c - (0 * f + c)) with 0 by ring. rewrite Rabs_R0. lra.
  - destruct cs as [| c' cs]; [inversion H |]. set (q := value (c' :: cs) f) in *.
    set (E' := rounding (c' :: cs) f) in *.
    change (Rabs ((r * f * (1 + e) + c) * (1 + d) - (q * f + c))
      <= u * Rabs (q * f + c) + (1 + u) * (Rabs f * ((1 + u) * E' + u * Rabs q))).
    replace ((r * f * (1 + e) + c) * (1 + d) - (q * f + c))
      with ((q * f + c) * d + f * ((r - q) * (1 + e) + q * e) * (1 + d)) by ring.
    assert (A : forall x, Rabs x <= u -> Rabs (1 + x) <= 1 + u).
    { intros x X. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_R1. lra. }
    eapply Rle_trans; [apply Rabs_triang |]. apply Rplus_le_compat.
    + rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos | auto].
    + rewrite !Rabs_mult. rewrite (Rmult_comm _ (Rabs (1 + d))). apply Rmult_le_compat; auto; try apply Rabs_pos.
      { apply Rmult_le_pos; apply Rabs_pos. }
      apply Rmult_le_compat_l; [apply Rabs_pos |]. eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult.
      apply Rplus_le_compat.
      * rewrite Rmult_comm. apply Rmult_le_compat; auto; apply Rabs_pos.
      * rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos | auto].
Qed.

Definition exp2 (t : R) := exp (t * ln 2).

Definition exp2_raised := map dyadic_R [EXP2_RAISED_0; EXP2_RAISED_1; EXP2_RAISED_2; EXP2_RAISED_3; EXP2_RAISED_4;
  EXP2_RAISED_5].
Definition gelu_exp2 := map dyadic_R [GELU_EXP2_0; GELU_EXP2_1; GELU_EXP2_2; GELU_EXP2_3; GELU_EXP2_4; GELU_EXP2_5].
Definition gelu_exp2_by_k := map dyadic_R
  [GELU_EXP2_BY_K_0; GELU_EXP2_BY_K_1; GELU_EXP2_BY_K_2; GELU_EXP2_BY_K_3; GELU_EXP2_BY_K_4; GELU_EXP2_BY_K_5].

(* Relative errors of a polynomial and of its evaluation add. *)
Lemma both_errors : forall cs f r scale a b, 0 < scale -> horner f cs r ->
  Rabs (value cs f / scale * exp (- (f * ln 2)) - 1) <= a -> rounding cs f / scale * exp (- (f * ln 2)) <= b ->
  Rabs (r - scale * exp2 f) <= (a + b) * (scale * exp2 f).
Proof.
  intros cs f r scale a b S H A B. pose proof (horner_within f cs r H) as W.
  assert (E : exp2 f * exp (- (f * ln 2)) = 1) by (unfold exp2; rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (P : 0 < exp2 f) by apply exp_pos. assert (PS : 0 < scale * exp2 f) by (apply Rmult_lt_0_compat; auto).
  assert (V : Rabs (value cs f - scale * exp2 f) <= a * (scale * exp2 f)).
  { replace (value cs f - scale * exp2 f) with ((value cs f / scale * exp (- (f * ln 2)) - 1) * (scale * exp2 f)).
    - rewrite Rabs_mult, (Rabs_pos_eq (scale * exp2 f)) by lra. apply Rmult_le_compat_r; lra.
    - transitivity (value cs f * (exp2 f * exp (- (f * ln 2))) - scale * exp2 f); [field; lra | rewrite E; ring]. }
  assert (R : rounding cs f <= b * (scale * exp2 f)).
  { replace (rounding cs f) with (rounding cs f / scale * exp (- (f * ln 2)) * (scale * exp2 f)).
    - apply Rmult_le_compat_r; lra.
    - transitivity (rounding cs f * (exp2 f * exp (- (f * ln 2)))); [field; lra | rewrite E; ring]. }
  replace (r - scale * exp2 f) with ((r - value cs f) + (value cs f - scale * exp2 f)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. lra.
Qed.

Ltac polynomial f := cbv [rounding value map exp2_raised gelu_exp2 gelu_exp2_by_k dyadic_R exponent mantissa
  EXP2_RAISED_0 EXP2_RAISED_1 EXP2_RAISED_2 EXP2_RAISED_3 EXP2_RAISED_4 EXP2_RAISED_5
  GELU_EXP2_0 GELU_EXP2_1 GELU_EXP2_2 GELU_EXP2_3 GELU_EXP2_4 GELU_EXP2_5 GELU_BY_K
  GELU_EXP2_BY_K_0 GELU_EXP2_BY_K_1 GELU_EXP2_BY_K_2 GELU_EXP2_BY_K_3 GELU_EXP2_BY_K_4 GELU_EXP2_BY_K_5];
  cbv [Z.mul Z.pow Z.pow_pos Pos.iter Pos.mul Pos.add Pos.succ]; rewrite ?u_value.

Lemma exp2_raised_method : forall f, -1 / 500 <= f <= 1 ->
  Rabs (value exp2_raised f / 18446744073709551616 * exp (- (f * ln 2)) - 1) <= 7 / 4 / 16777216.
Proof. intros f H. polynomial f. interval with (i_taylor f, i_bisect f, i_prec 60, i_degree 8). Qed.

Lemma exp2_raised_rounding : forall f, -1 / 500 <= f <= 1 ->
  rounding exp2_raised f / 18446744073709551616 * exp (- (f * ln 2)) <= 10 / 4 / 16777216.
Proof. intros f H. polynomial f. interval with (i_bisect f, i_prec 40). Qed.

Lemma gelu_method : forall f, -1 / 2 <= f <= 1 / 2 ->
  Rabs (value gelu_exp2 f / 1 * exp (- (f * ln 2)) - 1) <= 8 / 5 / 16777216.
Proof. intros f H. polynomial f. interval with (i_taylor f, i_bisect f, i_prec 60, i_degree 8). Qed.

Lemma gelu_rounding : forall f, -1 / 2 <= f <= 1 / 2 ->
  rounding gelu_exp2 f / 1 * exp (- (f * ln 2)) <= 21 / 10 / 16777216.
Proof. intros f H. polynomial f. interval with (i_bisect f, i_prec 40). Qed.

Lemma gelu_by_k_method : forall f, -1 / 2 <= f <= 1 / 2 ->
  Rabs (value gelu_exp2_by_k f / dyadic_R GELU_BY_K * exp (- (f * ln 2)) - 1) <= 37 / 20 / 16777216.
Proof. intros f H. polynomial f. interval with (i_taylor f, i_bisect f, i_prec 60, i_degree 8). Qed.

Lemma gelu_by_k_rounding : forall f, -1 / 2 <= f <= 1 / 2 ->
  rounding gelu_exp2_by_k f / dyadic_R GELU_BY_K * exp (- (f * ln 2)) <= 21 / 10 / 16777216.
Proof. intros f H. polynomial f. interval with (i_bisect f, i_prec 40). Qed.

Lemma weaker_error : forall x a b y, 0 <= y -> a <= b -> Rabs x <= a * y -> Rabs x <= b * y.
Proof. intros x a b y Y H X. assert (a * y <= b * y) by (apply Rmult_le_compat_r; lra). lra. Qed.

(* supports: GELU_FWD.ERR *)
(* says: The CPU kernels' polynomial for 2^f, |f| <= 1/2, is within two units in the last place, 4 u, of it. *)
Theorem gelu_exp2_within : forall f r, -1 / 2 <= f <= 1 / 2 -> horner f gelu_exp2 r ->
  Rabs (r - exp2 f) <= 4 * u * exp2 f.
Proof.
  intros f r F H. rewrite <- (Rmult_1_l (exp2 f)) at 1. rewrite <- (Rmult_1_l (exp2 f)) at 2.
  eapply weaker_error; [left; apply Rmult_lt_0_compat; [lra | apply exp_pos] | |
    apply (both_errors gelu_exp2 f r 1 _ _ ltac:(lra) H (gelu_method f F) (gelu_rounding f F))]. rewrite u_value. lra.
Qed.

(* supports: GELU_BWD.ERR *)
(* says: The CPU kernels' polynomial for 2^f / k is within 4 u of 2^f times the fp32 number that stands for 1 / k. *)
Theorem gelu_exp2_by_k_within : forall f r, -1 / 2 <= f <= 1 / 2 -> horner f gelu_exp2_by_k r ->
  Rabs (r - dyadic_R GELU_BY_K * exp2 f) <= 4 * u * (dyadic_R GELU_BY_K * exp2 f).
Proof.
  intros f r F H. assert (K : 0 < dyadic_R GELU_BY_K) by (cbv [dyadic_R exponent mantissa GELU_BY_K]; interval).
  eapply weaker_error; [left; apply Rmult_lt_0_compat; [lra | apply exp_pos] | |
    apply (both_errors gelu_exp2_by_k f r _ _ _ K H (gelu_by_k_method f F) (gelu_by_k_rounding f F))].
  rewrite u_value. lra.
Qed.

(* supports: SOFTMAX_FWD.PROMISE XENT.PROMISE *)
(* says: With s = n + f, f rounded to within u / 2, the CPU kernels' 2^n p(f) is within 5 u of 2^64 2^s: exp has 8 u. *)
Theorem exp2_raised_within : forall s n f r, Rabs (f - (s - n)) <= u / 2 -> -1 / 500 <= f <= 1 ->
  horner f exp2_raised r ->
  Rabs (r * exp2 n - 18446744073709551616 * exp2 s) <= 5 * u * (18446744073709551616 * exp2 s).
Proof.
  intros s n f r S F H. set (k := 18446744073709551616).
  pose proof (both_errors exp2_raised f r k _ _ ltac:(unfold k; lra) H (exp2_raised_method f F)
    (exp2_raised_rounding f F)) as B.
  set (d := f - (s - n)) in *. apply Rabs_le_inv in S. pose proof u_positive as U.
  assert (E : exp2 f * exp2 n = exp2 s * exp (d * ln 2)).
  { unfold exp2. rewrite <- !exp_plus. f_equal. unfold d. ring. }
  assert (Pn : 0 < exp2 n) by apply exp_pos. assert (Ps : 0 < exp2 s) by apply exp_pos.
  assert (L : 69 / 100 <= ln 2 <= 70 / 100) by (split; interval).
  assert (X : Rabs (exp (d * ln 2) - 1) <= 1 / 2 * u).
  { assert (D : Rabs (d * ln 2) <= 35 / 100 * u).
    { rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) by lra. assert (Rabs d <= u / 2) by (apply Rabs_le; lra).
      assert (Rabs d * ln 2 <= u / 2 * (70 / 100)) by (apply Rmult_le_compat; try lra; apply Rabs_pos). lra. }
    apply Rabs_le_inv in D. pose proof (tangent (d * ln 2)).
    assert (exp (d * ln 2) <= exp (35 / 100 * u)) by (apply exp_monotone; lra).
    assert (exp (35 / 100 * u) <= 1 + 1 / 2 * u) by (rewrite u_value; interval). apply Rabs_le. lra. }
  replace (r * exp2 n - k * exp2 s)
    with ((r - k * exp2 f) * exp2 n + k * (exp2 s * (exp (d * ln 2) - 1))) by
      (rewrite Rmult_minus_distr_r, Rmult_assoc, E; ring).
  eapply Rle_trans; [apply Rabs_triang |].
  assert (A : Rabs ((r - k * exp2 f) * exp2 n) <= (7 / 4 / 16777216 + 10 / 4 / 16777216) * (k * (exp2 s * exp
    (d * ln 2)))).
  { rewrite Rabs_mult, (Rabs_pos_eq (exp2 n)) by lra. rewrite <- E.
    replace ((7 / 4 / 16777216 + 10 / 4 / 16777216) * (k * (exp2 f * exp2 n)))
      with ((7 / 4 / 16777216 + 10 / 4 / 16777216) * (k * exp2 f) * exp2 n) by ring. apply Rmult_le_compat_r; lra. }
  assert (C : Rabs (k * (exp2 s * (exp (d * ln 2) - 1))) <= k * (exp2 s * (1 / 2 * u))).
  { rewrite !Rabs_mult, (Rabs_pos_eq k), (Rabs_pos_eq (exp2 s)) by (unfold k; lra).
    apply Rmult_le_compat_l; [unfold k; lra |]. apply Rmult_le_compat_l; lra. }
  apply Rabs_le_inv in X. assert (Y : k * (exp2 s * exp (d * ln 2)) <= k * (exp2 s * (1 + 1 / 2 * u))).
  { apply Rmult_le_compat_l; [unfold k; lra |]. apply Rmult_le_compat_l; lra. }
  assert (PK : 0 < k * exp2 s) by (unfold k; lra).
  replace (k * (exp2 s * exp (d * ln 2))) with (k * exp2 s * exp (d * ln 2)) in A, Y by ring.
  replace (k * (exp2 s * (1 + 1 / 2 * u))) with (k * exp2 s * (1 + 1 / 2 * u)) in Y by ring.
  replace (k * (exp2 s * (1 / 2 * u))) with (k * exp2 s * (1 / 2 * u)) in C by ring.
  rewrite u_value in *. lra.
Qed.

(* supports: SOFTMAX_FWD.PROMISE XENT.PROMISE *)
(* says: The kernels' log2(e) is within 0.23 u of it. *)
Theorem log2_e_within : Rabs (dyadic_R LOG2_E * ln 2 - 1) <= 23 / 100 / 16777216.
Proof. cbv [dyadic_R exponent mantissa LOG2_E]. interval with (i_prec 60). Qed.

(* supports: GELU_FWD.ERR GELU_BWD.ERR *)
(* says: The kernels' factors for log2(e) 2z = x (A + B x^2) are within 2/5 u of those numbers. *)
Theorem gelu_factors_within :
  Rabs (dyadic_R GELU_A / (2 * sqrt (2 / PI) / ln 2) - 1) <= 2 / 5 / 16777216 /\
  Rabs (dyadic_R GELU_B / (44715 / 1000000 * (2 * sqrt (2 / PI) / ln 2)) - 1) <= 2 / 5 / 16777216.
Proof. cbv [dyadic_R exponent mantissa GELU_A GELU_B]. split; interval with (i_prec 60). Qed.

(* supports: GELU_BWD.ERR *)
(* says: The kernels' factor 3 / (k log2(e)) of h / k is within u of that number, k = 4 sqrt(2 / pi). *)
Theorem gelu_three_by_k_within :
  Rabs (dyadic_R GELU_THREE_BY_K / (3 * ln 2 / (4 * sqrt (2 / PI))) - 1) <= 1 / 16777216.
Proof. cbv [dyadic_R exponent mantissa GELU_THREE_BY_K]. interval with (i_prec 60). Qed.
