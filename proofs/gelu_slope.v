(* gelu of a sum, as linear_fwd has it: how far gelu of a value that is off by e can be. |g'| is at most 1.13 and
   |g''| at most 1, for all x; by the mean value theorem the value of gelu is then off by at most e min(|g'(v)| + e,
   1.13), the first term of the bound of ops/product/oracle.c. The second, the bound of gelu itself at arguments
   within e, is in gelu.v. Not proved: linear_grad_x with the derivative, whose factor has the bound of gelu_bwd. *)
From Coq Require Import Reals Lra.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants.
Open Scope R_scope.

(* 2 sqrt(2 / pi) and a: 2z = k (x + a x^3). *)
Definition gelu_k := 2 * sqrt (2 / PI).
Definition gelu_a := 44715 / 1000000.

(* 2z, its derivatives, and with E = exp(-2z) the value of gelu and its derivatives. *)
Definition two_z k x := k * (x + gelu_a * (x * x * x)).
Definition two_z' k x := k * (1 + 3 * gelu_a * (x * x)).
Definition two_z'' k x := k * (6 * gelu_a * x).
Definition value_at x E := x * / (1 + E).
Definition steepness E := E / ((1 + E) * (1 + E)).
Definition slope_at k x E := / (1 + E) + x * two_z' k x * steepness E.
Definition curvature_at k x E :=
  2 * two_z' k x * steepness E + x * two_z'' k x * steepness E +
  x * (two_z' k x * two_z' k x) * (steepness E * ((E - 1) / (1 + E))).

Definition gelu x := value_at x (exp (- two_z gelu_k x)).
Definition slope x := slope_at gelu_k x (exp (- two_z gelu_k x)).
Definition curvature x := curvature_at gelu_k x (exp (- two_z gelu_k x)).

Lemma positive_sum : forall t, 1 + exp t <> 0.
Proof. intros t. pose proof (exp_pos t). lra. Qed.

Lemma gelu_derivative : forall x, is_derive gelu x (slope x).
Proof.
  intros x. unfold gelu, slope, value_at, slope_at, steepness, two_z, two_z'. generalize gelu_k gelu_a. intros k a.
  auto_derive; [apply positive_sum|]. field. apply positive_sum.
Qed.

Lemma slope_derivative : forall x, is_derive slope x (curvature x).
Proof.
  intros x. unfold slope, curvature, slope_at, curvature_at, steepness, two_z, two_z', two_z''.
  generalize gelu_k gelu_a. intros k a.
  auto_derive; [pose proof (exp_pos (- (k * (x + a * (x * x * x))))); split; [lra|]; split; [nra | exact I]|].
  field. apply positive_sum.
Qed.

(* -- Beyond 8 ------------------------------------------------------------------------------------------------------ *)

Lemma k_bounds : 159 / 100 <= gelu_k <= 160 / 100.
Proof. unfold gelu_k. split; interval. Qed.

Lemma steepness_bounds : forall t, 0 <= steepness (exp (- t)) <= exp (- Rabs t).
Proof.
  assert (P : forall E, 0 < E -> 0 <= steepness E <= E).
  { intros E H. unfold steepness. split; [apply Rlt_le, Rdiv_lt_0_compat; nra|].
    apply Rmult_le_reg_r with ((1 + E) * (1 + E)); [nra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra. }
  intros t. destruct (Rle_or_lt 0 t) as [T | T].
  - rewrite Rabs_pos_eq by exact T. apply P, exp_pos.
  - rewrite Rabs_left, Ropp_involutive by exact T.
    replace (steepness (exp (- t))) with (steepness (exp t)); [apply P, exp_pos|].
    unfold steepness. rewrite exp_Ropp. pose proof (exp_pos t). field. split; nra.
Qed.

Lemma tail_small : forall T, 49 <= T -> T * T * exp (- T) <= 1 / 1000.
Proof.
  intros T H. assert (L : T / 4 <= exp (T / 4)).
  { destruct (Req_dec (T / 4) 0) as [Z | Z]; [lra|]. pose proof (exp_ineq1 (T / 4) Z). lra. }
  assert (S : T * T <= 16 * exp (T / 2)).
  { replace (T / 2) with (T / 4 + T / 4) by field. rewrite exp_plus.
    assert (T / 4 * (T / 4) <= exp (T / 4) * exp (T / 4)) by (apply Rmult_le_compat; lra). lra. }
  apply Rle_trans with (16 * exp (T / 2) * exp (- T)).
  - apply Rmult_le_compat_r; [apply Rlt_le, exp_pos | exact S].
  - rewrite Rmult_assoc, <- exp_plus. replace (T / 2 + - T) with (- (T / 2)) by field.
    apply Rle_trans with (16 * exp (- (49 / 2))); [|interval].
    apply Rmult_le_compat_l; [lra|]. destruct H as [H | <-]; [left; apply exp_increasing|]; lra.
Qed.

(* Everything in units of T = |2z|. *)
Lemma beyond : forall x, 8 <= Rabs x -> let T := Rabs (two_z gelu_k x) in
  49 <= T /\ Rabs (x * two_z' gelu_k x) <= 3 * T /\ 0 <= two_z' gelu_k x <= 3 * T /\
  Rabs (x * two_z'' gelu_k x) <= T.
Proof.
  intros x X T. pose proof k_bounds as K. unfold T, two_z, two_z', two_z'', gelu_a. clear T.
  set (X1 := Rabs x) in *. set (q := X1 * X1). assert (Q : 64 <= q) by (unfold q; nra).
  assert (Sq : x * x = q).
  { unfold q, X1. rewrite <- Rabs_mult, Rabs_pos_eq; [reflexivity|].
    pose proof (Rle_0_sqr x) as S. unfold Rsqr in S. lra. }
  assert (E1 : Rabs (gelu_k * (x + 44715 / 1000000 * (x * x * x))) = gelu_k * (X1 * (1 + 44715 / 1000000 * q))).
  { replace (x + 44715 / 1000000 * (x * x * x)) with (x * (1 + 44715 / 1000000 * q)) by (rewrite <- Sq; ring).
    rewrite !Rabs_mult, (Rabs_pos_eq gelu_k), (Rabs_pos_eq (1 + _)) by lra. reflexivity. }
  assert (E2 : Rabs (x * (gelu_k * (1 + 3 * (44715 / 1000000) * (x * x)))) =
    gelu_k * (X1 * (1 + 3 * (44715 / 1000000) * q))).
  { rewrite Sq, !Rabs_mult, (Rabs_pos_eq gelu_k), (Rabs_pos_eq (1 + _)) by lra. fold X1. ring. }
  assert (E3 : Rabs (x * (gelu_k * (6 * (44715 / 1000000) * x))) = gelu_k * (6 * (44715 / 1000000) * q)).
  { replace (x * (gelu_k * (6 * (44715 / 1000000) * x))) with (gelu_k * (6 * (44715 / 1000000) * q))
      by (rewrite <- Sq; ring).
    apply Rabs_pos_eq, Rmult_le_pos; lra. }
  rewrite E1, E2, E3, Sq. assert (XQ : 8 * q <= X1 * q) by (apply Rmult_le_compat_r; lra).
  assert (F : forall A B, A <= B -> gelu_k * A <= gelu_k * B) by (intros; apply Rmult_le_compat_l; lra).
  assert (G : forall A, 3 * (gelu_k * A) = gelu_k * (3 * A)) by (intros; ring).
  rewrite G. repeat split.
  - apply Rle_trans with (gelu_k * (30860 / 1000)); [lra | apply F; lra].
  - apply F. lra.
  - apply Rmult_le_pos; lra.
  - apply F. lra.
  - apply F. lra.
Qed.

(* -- For all x ----------------------------------------------------------------------------------------------------- *)

Lemma steepest_of_the_code : 1129 / 1000 <= dyadic_R TKI_GELU_STEEPEST.
Proof. cbv [dyadic_R exponent mantissa TKI_GELU_STEEPEST]. lra. Qed.

Theorem slope_within : forall x, Rabs (slope x) <= 1129 / 1000.
Proof.
  intros x. destruct (Rle_or_lt (Rabs x) 8) as [L | L].
  - apply Rabs_le_inv in L. unfold slope, slope_at, steepness, two_z', two_z, gelu_k, gelu_a.
    interval with (i_bisect x, i_autodiff x, i_depth 20).
  - destruct (beyond x (Rlt_le _ _ L)) as (T & A & _ & _). set (t := two_z gelu_k x) in *.
    unfold slope, slope_at. fold t. pose proof (steepness_bounds t) as [S0 S1]. pose proof (tail_small _ T) as Small.
    pose proof (exp_pos (- Rabs t)). pose proof (exp_pos (- t)).
    assert (Sigma : 0 <= / (1 + exp (- t)) <= 1).
    { split; [apply Rlt_le, Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
    assert (B : Rabs (x * two_z' gelu_k x * steepness (exp (- t))) <= 3 / 1000).
    { rewrite Rabs_mult, (Rabs_pos_eq (steepness _)) by exact S0.
      apply Rle_trans with (3 * Rabs t * exp (- Rabs t)); [apply Rmult_le_compat; auto using Rabs_pos|].
      assert (Rabs t * exp (- Rabs t) <= Rabs t * Rabs t * exp (- Rabs t)) by (apply Rmult_le_compat_r; nra). lra. }
    eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (/ _)) by lra. lra.
Qed.

Theorem curvature_within : forall x, Rabs (curvature x) <= 1.
Proof.
  intros x. destruct (Rle_or_lt (Rabs x) 8) as [L | L].
  - apply Rabs_le_inv in L. unfold curvature, curvature_at, steepness, two_z', two_z'', two_z, gelu_k, gelu_a.
    interval with (i_bisect x, i_autodiff x, i_depth 20).
  - destruct (beyond x (Rlt_le _ _ L)) as (T & A & B & C). set (t := two_z gelu_k x) in *.
    unfold curvature, curvature_at. fold t. pose proof (steepness_bounds t) as [S0 S1].
    pose proof (tail_small _ T) as Small. pose proof (exp_pos (- Rabs t)) as PE. pose proof (exp_pos (- t)) as Pt.
    set (s := steepness (exp (- t))) in *. set (R := Rabs t) in *. set (y := two_z' gelu_k x) in *.
    set (w := (exp (- t) - 1) / (1 + exp (- t))).
    assert (W : Rabs w <= 1).
    { unfold w. rewrite Rabs_div by lra. rewrite (Rabs_pos_eq (1 + _)) by lra.
      apply Rmult_le_reg_r with (1 + exp (- t)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      rewrite Rmult_1_r, Rmult_1_l. apply Rabs_le. lra. }
    assert (Unit : R * exp (- R) <= R * R * exp (- R)) by (apply Rmult_le_compat_r; nra).
    assert (F1 : Rabs (2 * y * s) <= 6 * (R * exp (- R))).
    { rewrite Rabs_pos_eq by (apply Rmult_le_pos; lra).
      assert (y * s <= 3 * R * exp (- R)) by (apply Rmult_le_compat; lra). lra. }
    assert (F2 : Rabs (x * two_z'' gelu_k x * s) <= R * exp (- R)).
    { rewrite Rabs_mult, (Rabs_pos_eq s) by exact S0. apply Rmult_le_compat; auto using Rabs_pos. }
    assert (F3 : Rabs (x * (y * y) * (s * w)) <= 9 * (R * R * exp (- R))).
    { replace (x * (y * y) * (s * w)) with (x * y * y * s * w) by ring. rewrite !Rabs_mult.
      rewrite (Rabs_pos_eq s) by exact S0. rewrite (Rabs_pos_eq y) by lra.
      rewrite Rabs_mult, (Rabs_pos_eq y) in A by lra.
      assert (Q : Rabs x * y * y <= 3 * R * (3 * R)).
      { apply Rmult_le_compat; try lra. apply Rmult_le_pos; [apply Rabs_pos | lra]. }
      assert (Q0 : 0 <= Rabs x * y * y) by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rabs_pos|]|]; lra).
      apply Rle_trans with (3 * R * (3 * R) * exp (- R) * 1); [|lra].
      apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra. }
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

Lemma between : forall f df v d, (forall x, is_derive f x (df x)) ->
  exists y, Rabs (y - v) <= Rabs d /\ f (v + d) - f v = df y * d.
Proof.
  intros f df v d D. destruct (MVT_gen f v (v + d) df) as (y & Y & E).
  - intros x _. apply D.
  - intros x _. apply derivable_continuous_pt. exists (df x). apply is_derive_Reals, D.
  - exists y. split; [|rewrite E; ring].
    unfold Rmin, Rmax in Y. destruct (Rle_dec v (v + d)); unfold Rabs; repeat destruct (Rcase_abs _); lra.
Qed.

(* supports: LINEAR_FWD.ERR *)
(* says: gelu of a value that is off by e is off by at most e min(|g'(v)| + e, 1.13), for all v. *)
Theorem gelu_of_what_is_off : forall v d e, Rabs d <= e ->
  Rabs (gelu (v + d) - gelu v) <= e * Rmin (Rabs (slope v) + e) (dyadic_R TKI_GELU_STEEPEST).
Proof.
  intros v d e H. pose proof (Rabs_pos d) as D0. destruct (between gelu slope v d gelu_derivative) as (y & Y & ->).
  rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos. apply Rmin_glb.
  - destruct (between slope curvature v (y - v) slope_derivative) as (z & _ & Z).
    replace (v + (y - v)) with y in Z by ring.
    replace (slope y) with (slope v + curvature z * (y - v)) by lra. eapply Rle_trans; [apply Rabs_triang|].
    apply Rplus_le_compat_l. rewrite Rabs_mult. pose proof (curvature_within z). pose proof (Rabs_pos (y - v)).
    apply Rle_trans with (1 * Rabs (y - v)); [apply Rmult_le_compat_r|]; lra.
  - eapply Rle_trans; [apply slope_within | apply steepest_of_the_code].
Qed.
