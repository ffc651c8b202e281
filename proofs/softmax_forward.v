(* The bound of softmax_fwd: W and B exactly as exact/exp_over_sum_bound.h and ops/softmax/contract.c have them, for every
   element of a row, for any order of additions and any rescalings that softmax_sum.v admits, with gradual underflow and
   with flushing. D and R are those of the kernel: with D = n' - 1, which no order exceeds, it is the contract's bound,
   with a smaller D the one that a lowering promises. The value is the one before the rounding to the type of the
   result. Not proved: plateaus (a smaller D for rows of equal elements), and that a given kernel's exp is within its
   budget. *)
From Coq Require Import Reals QArith Qreals List Lra.
From Flocq Require Import Core.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants bounds formats entropy softmax_sum softmax_row.
Import ListNotations.
Open Scope R_scope.

(* sums: 1 for exp(-d) / Z, 2 for a sum of exp(-d_j) over Z. *)
Definition softmax_w (sums n ln_n D R d : R) :=
  dyadic_R TKI_SOFTMAX_SLACK * (dyadic_R TKI_U *
    (dyadic_R TKI_SOFTMAX_PER_DISTANCE * (d + sums * ln_n) + dyadic_R TKI_SOFTMAX_CONSTANT +
     sums * (D + dyadic_R TKI_SOFTMAX_PER_RESCALING * R)) + n * dyadic_R TKI_FP32_SMALLEST_NORMAL).

Lemma softmax_w_is : forall sums n ln_n D R d, softmax_w sums n ln_n D R d =
  4504049987333233 / 4503599627370496 * (u * (9 / 4 * (d + sums * ln_n) + 19 + sums * (D + 9 * R)) + n * small).
Proof.
  intros. unfold softmax_w. replace (dyadic_R TKI_U) with u; [| unfold u, TKI_U; rewrite dyadic_R_bpow; ring].
  replace (dyadic_R TKI_FP32_SMALLEST_NORMAL) with small; [reflexivity |].
  unfold small, TKI_FP32_SMALLEST_NORMAL. rewrite dyadic_R_bpow. ring.
Qed.

Lemma Q2R_integer : forall z, Q2R (inject_Z z) = IZR z.
Proof. intros z. unfold Q2R. simpl. field. Qed.

(* The theorems' 1/2, where C has no bound any more. *)
Lemma largest_w_of_the_code : dyadic_R TKI_SOFTMAX_LARGEST_W = 1 / 2.
Proof. unfold TKI_SOFTMAX_LARGEST_W. rewrite dyadic_R_bpow. simpl. lra. Qed.

(* supports: SOFTMAX_FWD.ERR SOFTMAX_FWD.PROMISE XENT.ERR *)
(* says: The W of these theorems is the one that bound_agreement.v compares with exact/exp_over_sum_bound.h. *)
Theorem softmax_w_is_that_of_c : forall sums cols ln_cols depth rescalings d,
  let w := softmax_w (IZR sums) (IZR cols) (dyadic_R ln_cols) (IZR depth) (IZR rescalings) (dyadic_R d) in
  w <> 1 -> Q2R (softmax_relative_bound sums cols ln_cols depth rescalings d) = w / (1 - w).
Proof.
  intros sums cols ln_cols depth rescalings d w H. unfold softmax_relative_bound, unit_roundoff.
  assert (E : Q2R (dyadic_Q TKI_SOFTMAX_SLACK * (dyadic_Q TKI_U *
    (dyadic_Q TKI_SOFTMAX_PER_DISTANCE * (dyadic_Q d + inject_Z sums * dyadic_Q ln_cols) +
     dyadic_Q TKI_SOFTMAX_CONSTANT + inject_Z sums *
       (inject_Z depth + dyadic_Q TKI_SOFTMAX_PER_RESCALING * inject_Z rescalings)) +
    inject_Z cols * dyadic_Q TKI_FP32_SMALLEST_NORMAL)) = w).
  { rewrite !Q2R_mult, !Q2R_plus, !Q2R_mult, !Q2R_plus, !Q2R_mult, !Q2R_plus, !Q2R_mult, !Q2R_integer, !dyadic_Q2R.
    reflexivity. }
  set (q := (dyadic_Q TKI_SOFTMAX_SLACK * _)%Q) in *. assert (O : Q2R 1 = 1) by (unfold Q2R; simpl; field).
  rewrite Q2R_div, Q2R_minus, E, O; auto. intros C. apply Qeq_eqR in C. rewrite Q2R_minus, E, O in C.
  apply H. unfold Q2R in C. simpl in C. lra.
Qed.

(* B of the contract for elements that are not far. *)
Definition softmax_bound (y w : R) := y * (w / (1 - w)) + small.

(* A quotient of two numbers that are off by factors, its divisor by eta too; what its relative error is then. *)
Lemma quotient_within : forall X Z x z a b h w,
  0 < X -> 1 <= Z -> 0 <= a -> 0 <= b -> 0 <= h -> a + b + h <= w -> w < 1 ->
  X * exp (- a) <= x <= X * exp a -> exp (- b) * Z - h <= z <= exp b * Z + h ->
  (1 - w) * Z <= z * exp a /\ X / Z * (1 - w) <= x / z <= X / Z / (1 - w) /\ 0 < z.
Proof.
  intros X Z x z a b h w PX PZ A B H HW W [X1 X2] [Z1 Z2].
  assert (Ea : exp (- a) * exp a = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (Eb : exp (- b) * exp b = 1) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  pose proof (exp_pos a) as Pa. pose proof (exp_pos (- a)) as Pa'. pose proof (exp_pos b) as Pb.
  assert (La : exp (- a) <= 1) by (apply exp_at_most_1; lra). assert (Lb : 1 <= exp b) by (apply exp_at_least_1; lra).
  assert (K1 : 1 - w <= exp (- a) * (exp (- b) - h)).
  { pose proof (tangent (- a + - b)) as K. rewrite exp_plus in K.
    assert (exp (- a) * h <= 1 * h) by (apply Rmult_le_compat_r; lra). lra. }
  assert (K2 : (1 - w) * (exp b + h) <= exp (- a)).
  { apply Rle_trans with ((1 - w) * (exp b * exp h)).
    - apply Rmult_le_compat_l; [lra |]. pose proof (tangent h).
      assert (1 * h <= exp b * h) by (apply Rmult_le_compat_r; lra).
      assert (exp b * (1 + h) <= exp b * exp h) by (apply Rmult_le_compat_l; lra). lra.
    - apply Rle_trans with (exp (- w) * (exp b * exp h)).
      + apply Rmult_le_compat_r; [apply Rmult_le_pos; left; apply exp_pos |]. pose proof (tangent (- w)). lra.
      + rewrite <- !exp_plus. apply exp_monotone. lra. }
  assert (HZ : h <= h * Z). { rewrite <- (Rmult_1_r h) at 1. apply Rmult_le_compat_l; lra. }
  assert (Z3 : (1 - w) * Z <= z * exp a).
  { assert ((1 - w) * Z <= exp (- a) * (exp (- b) - h) * Z) by (apply Rmult_le_compat_r; lra).
    assert (exp (- a) * (exp (- b) - h) <= exp (- b) - h) by
      (rewrite <- (Rmult_1_l (exp (- b) - h)) at 2; apply Rmult_le_compat_r; nra).
    assert (E1 : 1 <= exp a) by (apply exp_at_least_1; lra).
    assert ((exp (- b) - h) * Z <= z) by lra.
    assert (0 <= (exp (- b) - h) * Z) by (apply Rmult_le_pos; nra).
    assert (z * 1 <= z * exp a) by (apply Rmult_le_compat_l; lra).
    assert (exp (- a) * (exp (- b) - h) * Z <= (exp (- b) - h) * Z) by (apply Rmult_le_compat_r; lra). lra. }
  assert (Pz : 0 < z).
  { assert (0 < (1 - w) * Z) by (apply Rmult_lt_0_compat; lra). apply Rmult_lt_reg_r with (exp a); auto. lra. }
  assert (Px : 0 < X * exp (- a)) by (apply Rmult_lt_0_compat; lra).
  split; auto. split; auto. split.
  - (* z <= Z (exp b + h), and (1 - w) (exp b + h) <= exp (- a) *)
    apply Rmult_le_reg_r with z; auto. replace (x / z * z) with x by (field; lra).
    apply Rle_trans with (X * exp (- a)); auto. apply Rle_trans with (X / Z * ((1 - w) * ((exp b + h) * Z))).
    + rewrite Rmult_assoc. apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra |].
      apply Rmult_le_compat_l; lra.
    + replace (X / Z * ((1 - w) * ((exp b + h) * Z))) with (X * ((1 - w) * (exp b + h))) by (field; lra).
      apply Rmult_le_compat_l; lra.
  - apply Rmult_le_reg_r with (z * (1 - w)); [apply Rmult_lt_0_compat; lra |].
    replace (x / z * (z * (1 - w))) with (x * (1 - w)) by (field; lra).
    replace (X / Z / (1 - w) * (z * (1 - w))) with (X * (z / Z)) by (field; lra).
    apply Rle_trans with (X * exp a * (1 - w)); [apply Rmult_le_compat_r; lra |].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra |].
    apply Rmult_le_reg_r with Z; [lra |]. replace (z / Z * Z) with z by (field; lra).
    apply Rle_trans with (exp a * (exp (- a) * (exp (- b) - h)) * Z).
    + apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
    + replace (exp a * (exp (- a) * (exp (- b) - h)) * Z) with (exp (- a) * exp a * (exp (- b) - h) * Z) by ring.
      rewrite Ea. lra.
Qed.

Section Row.
Variable M : R.
Variable flushes : bool.

(* A kernel's e / z, by a division or by a reciprocal and a product. *)
Definition divided (e z q : R) : Prop := exists eps, Rabs eps <= 3 * u /\ lands flushes (e / z * (1 + eps)) q.

Definition softmax (l : list R) (x : R) := exp (- (M - x)) / exact_sum M l.

(* Exponents of the numerator's error, with the division. *)
Definition alpha (d : R) := argument * d + 11 * kappa.

Lemma w_covers : forall n D R d, 1 <= n -> 0 <= D -> 0 <= R -> 0 <= d ->
  alpha d + (growth D R + argument * ln n) + 100006 / 100000 * (n * small) <= softmax_w 1 n (ln n) D R d.
Proof.
  intros n D R d N PD PR Pd. rewrite softmax_w_is. unfold alpha, growth. destruct kappa_value as (K0 & _ & K).
  pose proof u_positive as U.
  assert (0 <= ln n) by (rewrite <- ln_1; destruct N as [N | <-]; [left; apply ln_increasing |]; lra).
  assert (PS : 0 < n * small) by (apply Rmult_lt_0_compat; [lra | apply bpow_gt_0]).
  assert (A1 : kappa * (19 + D + 9 * R) <= 100001 / 100000 * u * (19 + D + 9 * R)) by (apply Rmult_le_compat_r; lra).
  assert (A2 : 0 <= u * (19 + D + 9 * R)) by (apply Rmult_le_pos; lra).
  assert (A3 : 0 <= u * (d + ln n)) by (apply Rmult_le_pos; lra).
  rewrite argument_is. lra.
Qed.

Lemma w_growth : forall n D R d, 1 <= n -> 0 <= D -> 0 <= R -> 0 <= d -> softmax_w 1 n (ln n) D R d < 1 / 2 ->
  growth D R <= 1 / 2.
Proof.
  intros n D R d N PD PR Pd W. pose proof (w_covers n D R d N PD PR Pd) as C. destruct kappa_value as (K0 & _ & _).
  assert (0 <= ln n) by (rewrite <- ln_1; destruct N as [N | <-]; [left; apply ln_increasing |]; lra).
  assert (PS : 0 < n * small) by (apply Rmult_lt_0_compat; [lra | apply bpow_gt_0]). pose proof argument_value.
  assert (0 <= argument * ln n) by (apply Rmult_le_pos; lra). assert (0 <= argument * d) by (apply Rmult_le_pos; lra).
  unfold alpha in C. lra.
Qed.

Section Elements.
Variables (l : list R) (D R z : R). (* the row, in the order in which it is added; its computed sum *)
Hypothesis sum_is : row_sum M flushes M l D R z.
Hypothesis has_maximum : In M l.
Hypothesis rescalings : R <= most_rescalings.

Let n := size l.
Let Z := exact_sum M l.

Lemma quotient_of_element : forall x e' eps, x <= M -> softmax_w 1 n (ln n) D R (M - x) < 1 / 2 -> Rabs eps <= 3 * u ->
  exp (- ((1 + argument) * (M - x))) * exp (- (8 * kappa)) <= e'
    <= exp (- ((1 - argument) * (M - x))) * exp (8 * kappa) ->
  let w := softmax_w 1 n (ln n) D R (M - x) in
  softmax l x * (1 - w) <= e' / z * (1 + eps) <= softmax l x / (1 - w) /\ 1 / 4 <= z.
Proof.
  intros x e' eps X W E [E1 E2] w. destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L).
  pose proof (exact_sum_1 M l has_maximum) as Z1. fold Z in Z1. set (d := M - x) in *.
  assert (Pd : 0 <= d) by (unfold d; lra).
  pose proof (w_covers n D R d N PD PR Pd) as C. fold w in W, C.
  pose proof (row_sum_within M flushes l D R z sum_is has_maximum (w_growth n D R d N PD PR Pd W) rescalings) as S.
  destruct (relative_error 3 eps) as [R1 R2]; auto; try lra. destruct kappa_value as (K0 & _ & _).
  pose proof argument_value as AV. pose proof (exp_pos (- d)) as Pe.
  assert (PS : 0 < n * small) by (unfold n; apply Rmult_lt_0_compat; [lra | apply bpow_gt_0]).
  assert (LN : 0 <= ln n) by (rewrite <- ln_1; unfold n; destruct N as [N | <-]; [left; apply ln_increasing |]; lra).
  assert (PA : 0 <= alpha d) by (unfold alpha; pose proof (Rmult_le_pos argument d); lra).
  assert (PB : 0 <= beta l D R).
  { unfold beta, growth. fold n. pose proof (Rmult_le_pos argument (ln n)).
    assert (0 <= kappa * (8 + D + 9 * R)) by (apply Rmult_le_pos; lra). lra. }
  assert (Pe' : 0 < e').
  { eapply Rlt_le_trans; [| exact E1]. apply Rmult_lt_0_compat; apply exp_pos. }
  assert (HW : alpha d + beta l D R + eta l <= w) by (unfold beta, eta; fold n; lra).
  assert (HH : 0 <= eta l) by (unfold eta; fold n; lra).
  destruct (quotient_within (exp (- d)) Z (e' * (1 + eps)) z (alpha d) (beta l D R) (eta l) w) as (Q1 & Q2 & Q3);
    auto; try lra.
  - unfold alpha. replace (- (argument * d + 11 * kappa)) with (- (argument * d) + - (8 * kappa) + - (3 * kappa))
      by ring.
    replace (argument * d + 11 * kappa) with (argument * d + 8 * kappa + 3 * kappa) by ring. rewrite !exp_plus.
    replace (- ((1 + argument) * d)) with (- d + - (argument * d)) in E1 by ring.
    replace (- ((1 - argument) * d)) with (- d + argument * d) in E2 by ring. rewrite exp_plus in E1, E2.
    pose proof (exp_pos (- (3 * kappa))). pose proof (exp_pos (- (8 * kappa))). pose proof (exp_pos (- (argument * d))).
    split; [rewrite <- !Rmult_assoc | rewrite <- !Rmult_assoc]; apply Rmult_le_compat; try lra.
    rewrite Rmult_assoc. apply Rmult_le_pos; [| apply Rmult_le_pos]; lra.
  - replace (e' / z * (1 + eps)) with (e' * (1 + eps) / z) by (field; lra). split; [exact Q2 |].
    assert (EA : exp (alpha d) <= 33 / 20).
    { apply Rle_trans with (exp (1 / 2)); [apply exp_monotone; lra | interval]. }
    assert (z * exp (alpha d) <= z * (33 / 20)) by (apply Rmult_le_compat_l; lra).
    assert ((1 - w) * 1 <= (1 - w) * Z) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* supports: SOFTMAX_FWD.ERR SOFTMAX_FWD.PROMISE *)
(* says: Every element with d <= 104 is within B = y W / (1 - W) + 2^-126, where W is below 1/2. *)
Theorem softmax_forward : forall x e q, In x l -> M - x <= far_distance ->
  exp_within flushes (M - x) e -> divided e z q -> softmax_w 1 n (ln n) D R (M - x) < 1 / 2 ->
  Rabs (q - softmax l x) <= softmax_bound (softmax l x) (softmax_w 1 n (ln n) D R (M - x)).
Proof.
  intros x e q Hx Hd HE (eps & HP & HQ) W. destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L).
  assert (X : x <= M) by auto. destruct (exp_bounds flushes (M - x) e) as (e' & Le & E'); auto; [lra |].
  destruct (quotient_of_element x e' eps X W HP E') as [V Pz]. set (w := softmax_w 1 n (ln n) D R (M - x)) in *.
  set (y := softmax l x) in *. pose proof tiny_positive as T. pose proof u_positive as U.
  assert (Py : 0 < y) by (apply Rdiv_lt_0_compat; [apply exp_pos | pose proof (exact_sum_1 M l has_maximum); lra]).
  pose proof (w_covers n D R (M - x) N PD PR ltac:(lra)) as C. fold w in C.
  assert (PS : 0 < n * small) by (unfold n; apply Rmult_lt_0_compat; [lra | apply bpow_gt_0]).
  assert (LN : 0 <= ln n) by (rewrite <- ln_1; unfold n; destruct N as [N | <-]; [left; apply ln_increasing |]; lra).
  destruct kappa_value as (K0 & _ & _). pose proof argument_value as AV.
  assert (PB : 0 <= growth D R + argument * ln n).
  { unfold growth. pose proof (Rmult_le_pos argument (ln n)).
    assert (0 <= kappa * (8 + D + 9 * R)) by (apply Rmult_le_pos; lra).
    lra. }
  assert (PA : 0 <= alpha (M - x)) by (unfold alpha; pose proof (Rmult_le_pos argument (M - x)); lra).
  assert (Pw : 0 < w) by lra.
  assert (Y1 : y / (1 - w) = y + y * (w / (1 - w))) by (field; lra).
  assert (Y2 : y * w <= y * (w / (1 - w))).
  { apply Rmult_le_compat_l; [lra |]. unfold Rdiv. rewrite <- (Rmult_1_r w) at 1. apply Rmult_le_compat_l; [lra |].
    rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (HE3 := HP). apply Rabs_le_inv in HE3. assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  unfold softmax_bound. unfold lands in *. destruct Le as [E0 Le]. destruct HQ as [Q0 HQ]. destruct flushes.
  - destruct Le as [-> | [-> Le]].
    + destruct HQ as [-> | [-> HQ]]; [pose proof (bpow_gt_0 radix2 (-126)); fold small in *; apply Rabs_le; lra |].
      rewrite Rminus_0_l, Rabs_Ropp, Rabs_pos_eq; lra.
    + assert (Q : q = 0). { destruct HQ as [-> | [-> _]]; [unfold Rdiv; ring | auto]. }
      rewrite Q, Rminus_0_l, Rabs_Ropp, Rabs_pos_eq by lra.
      (* The exact exponential is hardly more than the one that became zero. *)
      assert (A : exp (- (M - x)) * exp (- alpha (M - x)) <= small).
      { eapply Rle_trans; [| exact (Rle_trans _ _ _ (proj1 E') Le)].
        replace (- ((1 + argument) * (M - x))) with (- (M - x) + - (argument * (M - x))) by ring.
        rewrite <- !exp_plus. apply exp_monotone. unfold alpha. lra. }
      pose proof (exact_sum_1 M l has_maximum) as Z1. fold Z in Z1.
      assert (B : y * (1 - alpha (M - x)) <= small).
      { assert (y <= exp (- (M - x))).
        { unfold y, softmax. fold Z. pose proof (exp_pos (- (M - x))). apply Rmult_le_reg_r with Z; [lra |].
          unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
          assert (exp (- (M - x)) * 1 <= exp (- (M - x)) * Z) by (apply Rmult_le_compat_l; lra). lra. }
        apply Rle_trans with (exp (- (M - x)) * exp (- alpha (M - x))); auto.
        apply Rmult_le_compat; try lra. pose proof (tangent (- alpha (M - x))). lra. }
      assert (y * alpha (M - x) <= y * w) by (apply Rmult_le_compat_l; lra). lra.
  - apply Rabs_le_inv in HQ. apply Rabs_le_inv in Le.
    assert (D1 : - (4 * tiny) <= (e - e') / z <= 4 * tiny).
    { assert (Pi : 0 < / z <= 4).
      { split; [apply Rinv_0_lt_compat; lra |]. replace 4 with (/ (1 / 4)) by field. apply Rinv_le_contravar; lra. }
      unfold Rdiv. split.
      - apply Rle_trans with (- tiny * / z); [| apply Rmult_le_compat_r; lra].
        assert (tiny * / z <= tiny * 4) by (apply Rmult_le_compat_l; lra). lra.
      - apply Rle_trans with (tiny * / z); [apply Rmult_le_compat_r; lra |].
        assert (tiny * / z <= tiny * 4) by (apply Rmult_le_compat_l; lra). lra. }
    assert (D2 : e / z * (1 + eps) = e' / z * (1 + eps) + (e - e') / z * (1 + eps)) by (field; lra).
    assert (D3 : - (5 * tiny) <= (e - e') / z * (1 + eps) <= 5 * tiny).
    { set (t := (e - e') / z) in *. split; nra. }
    rewrite small_by_tiny. apply Rabs_le. lra.
Qed.

Lemma far_element : forall x e q, In x l -> far_distance < M - x ->
  exp_within flushes (M - x) e -> divided e z q -> softmax_w 1 n (ln n) D R 0 < 1 / 2 ->
  Rabs (q - softmax l x) <= 16 * tiny.
Proof.
  intros x e q Hx Hd HE (eps & HP & HQ) W. destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L).
  destruct (exp_bounds flushes (M - x) e) as (e' & Le & E1 & E2); auto. { rewrite far_distance_is in *. lra. }
  pose proof (exact_sum_1 M l has_maximum) as Z1. pose proof tiny_positive as T. pose proof u_positive as U.
  assert (Pz : 1 / 4 <= z).
  { apply (quotient_of_element M 1 0); try lra; unfold n; rewrite ?Rminus_diag_eq by reflexivity; auto.
    - rewrite Rabs_R0. lra.
    - rewrite !Rmult_0_r, !Ropp_0, exp_0. destruct kappa_value as (K0 & _ & _).
      pose proof (exp_at_most_1 (- (8 * kappa))). pose proof (exp_at_least_1 (8 * kappa)). lra. }
  assert (Y : 0 <= softmax l x <= tiny).
  { unfold softmax. pose proof (far_term M 0 x ltac:(pose proof argument_value; lra) Hd) as F.
    rewrite Rminus_0_r, Rmult_1_l in F.
    pose proof (exp_pos (- (M - x))). split; [left; apply Rdiv_lt_0_compat; lra |].
    apply Rmult_le_reg_r with (exact_sum M l); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (tiny * 1 <= tiny * exact_sum M l) by (apply Rmult_le_compat_l; lra). lra. }
  assert (EE : e <= 3 * tiny).
  { assert (0 < e') by (eapply Rlt_le_trans; [| exact E1]; apply Rmult_lt_0_compat; apply exp_pos).
    apply lands_upper in Le; [| lra]. pose proof (far_term M argument x ltac:(pose proof argument_value; lra) Hd) as F.
    assert (exp (8 * kappa) <= 2). { unfold kappa. rewrite u_value. interval. }
    assert (exp (- ((1 - argument) * (M - x))) * exp (8 * kappa) <= tiny * 2) by
      (apply Rmult_le_compat; try lra; left; apply exp_pos). lra. }
  assert (E0 : 0 <= e) by apply Le. apply Rabs_le_inv in HP. assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  assert (V : 0 <= e / z * (1 + eps) <= 14 * tiny).
  { assert (0 < / z <= 4).
    { split; [apply Rinv_0_lt_compat; lra |]. replace 4 with (/ (1 / 4)) by field. apply Rinv_le_contravar; lra. }
    unfold Rdiv. assert (0 <= e * / z <= 3 * tiny * 4) by (split; [apply Rmult_le_pos | apply Rmult_le_compat]; lra).
    split; [apply Rmult_le_pos; lra |]. apply Rle_trans with (3 * tiny * 4 * (10 / 9)); [| lra].
    apply Rmult_le_compat; lra. }
  assert (0 <= q) by apply HQ. apply lands_upper in HQ; [| lra]. apply Rabs_le. lra.
Qed.

(* supports: SOFTMAX_FWD.ERR SOFTMAX_FWD.PROMISE *)
(* says: Every element with d > 104 is within 2^-126, in rows whose W at the maximum is below 1/2. *)
Theorem softmax_forward_far : forall x e q, In x l -> far_distance < M - x ->
  exp_within flushes (M - x) e -> divided e z q -> softmax_w 1 n (ln n) D R 0 < 1 / 2 ->
  Rabs (q - softmax l x) <= small.
Proof.
  intros x e q Hx Hd HE HQ W. eapply Rle_trans; [apply (far_element x e q); auto |]. rewrite small_by_tiny.
  pose proof tiny_positive. lra.
Qed.

End Elements.
End Row.
