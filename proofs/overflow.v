(* Overflow. fp32 arithmetic with infinities and NaN: where (1 + passed u) sum|terms| stays below 2^128 (1 - 2^-25), no
   partial sum overflows, whatever the order, and the results are those of sums.v. Where it does not, a sum is what
   sums.v says, or an infinity, or NaN: what the contracts admit. With infinities and NaN among the terms the sum is
   what the clauses on special values say. Matrix units are in matrix_overflow.v. *)
From Coq Require Import Reals ZArith QArith Qreals Lia Lra Bool.
From Flocq Require Import Core.
From Tokitai Require Import dyadic constants bounds formats sums acceptance products.
Open Scope R_scope.
Local Arguments INR : simpl never.

(* 2^128 (1 - 2^-25): from here on rounding to fp32 gives infinity. *)
Definition overflow_limit := dyadic_R TKI_FP32_OVERFLOW.

Lemma overflow_limit_value : overflow_limit = pow2 128 - pow2 103.
Proof.
  unfold overflow_limit, TKI_FP32_OVERFLOW. rewrite dyadic_R_bpow. change (pow2 128) with (pow2 (25 + 103)).
  rewrite bpow_plus. change (pow2 25) with 33554432. ring.
Qed.

Lemma F32_pow2_128 : F32 (pow2 128).
Proof. apply generic_format_bpow. unfold FLT_exp, prec32, emin32. lia. Qed.

Lemma pred_pow2_128 : pred radix2 fexp32 (pow2 128) = pow2 128 - pow2 104.
Proof.
  rewrite pred_bpow. unfold FLT_exp, prec32, emin32. reflexivity.
Qed.

Lemma largest_format : F32 (pow2 128 - pow2 104).
Proof. rewrite <- pred_pow2_128. apply generic_format_pred; [auto with typeclass_instances | apply F32_pow2_128]. Qed.

Lemma rounds_below : forall x, x < overflow_limit -> rn32 x <= pow2 128 - pow2 104.
Proof.
  intros x H. rewrite overflow_limit_value in H.
  apply round_N_le_midp; [auto with typeclass_instances | apply largest_format|].
  rewrite <- pred_pow2_128, succ_pred; [|auto with typeclass_instances | apply F32_pow2_128].
  rewrite pred_pow2_128. change (pow2 104) with (pow2 (103 + 1)). rewrite pow2_double. lra.
Qed.

Lemma no_overflow : forall x, Rabs x < overflow_limit -> Rabs (rn32 x) < pow2 128.
Proof.
  intros x H. apply Rabs_lt_inv in H. assert (0 < pow2 104) by apply bpow_gt_0.
  apply Rabs_lt. split.
  - assert (L : - x < overflow_limit) by lra. pose proof (rounds_below (- x) L) as R.
    rewrite round_NE_opp in R. lra.
  - pose proof (rounds_below x (proj2 H)). lra.
Qed.

(* A finite number of fp32 is below the limit. *)
Lemma finite_below_limit : forall x, F32 x -> Rabs x < pow2 128 -> Rabs x < overflow_limit.
Proof.
  intros x F H. assert (A : F32 (Rabs x)) by (apply generic_format_abs; exact F).
  pose proof (pred_ge_gt radix2 fexp32 _ _ A F32_pow2_128 H) as P. rewrite pred_pow2_128 in P.
  rewrite overflow_limit_value. assert (pow2 103 < pow2 104) by (apply bpow_lt; lia). lra.
Qed.

(* supports: GEMM.OVERFLOW GEMM_GRAD_A.OVERFLOW GEMM_GRAD_B.OVERFLOW GROUPED_GEMM.OVERFLOW GROUPED_GEMM_GRAD_A.OVERFLOW GROUPED_GEMM_GRAD_B.OVERFLOW LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW *)
(* says: Rounding to fp32 gives +infinity from 2^128 (1 - 2^-25) on, and nowhere below. *)
Theorem overflow_begins : forall x, rounded emin32 prec32 128 x = Plus_infinity <-> overflow_limit <= x.
Proof.
  intros x. split; intros H.
  - destruct (Rle_or_lt overflow_limit x) as [L | L]; [exact L | exfalso].
    unfold rounded in H. destruct (Rle_lt_dec (pow2 128) (rn32 x)) as [G | G].
    + pose proof (rounds_below x L). assert (0 < pow2 104) by apply bpow_gt_0. lra.
    + destruct (Rle_lt_dec _ _); discriminate.
  - assert (T : rn32 overflow_limit = pow2 128).
    { unfold round, scaled_mantissa.
      assert (C : cexp radix2 fexp32 overflow_limit = 104%Z).
      { unfold cexp. rewrite (mag_unique radix2 overflow_limit 128); [reflexivity|].
        rewrite overflow_limit_value. assert (pow2 103 < pow2 127) by (apply bpow_lt; lia).
        assert (0 < pow2 103) by apply bpow_gt_0. pose proof (pow2_double 127) as D. simpl (127 + 1)%Z in D.
        rewrite Rabs_pos_eq by lra. simpl (128 - 1)%Z. lra. }
      rewrite C. unfold F2R. cbn [Fnum Fexp].
      replace (overflow_limit * pow2 (- (104))) with (IZR 16777215 + / 2).
      - replace (ZnearestE (IZR 16777215 + / 2)) with 16777216%Z.
        + change (IZR 16777216) with (pow2 24). rewrite <- bpow_plus. reflexivity.
        + unfold Znearest. rewrite (Zfloor_imp 16777215) by (rewrite plus_IZR; lra).
          replace (IZR 16777215 + / 2 - IZR 16777215) with (/ 2) by ring.
          rewrite Rcompare_Eq by reflexivity. simpl negb. cbn iota.
          symmetry. apply Zceil_imp. rewrite minus_IZR. simpl. lra.
      - rewrite overflow_limit_value, Rmult_minus_distr_r, <- !bpow_plus. simpl Z.add.
        change (pow2 24) with 16777216. change (pow2 (-1)) with (/ 2). lra. }
    assert (M : pow2 128 <= rn32 x) by (rewrite <- T; apply rn32_monotone; exact H).
    unfold rounded. destruct (Rle_lt_dec _ _) as [G | G]; [reflexivity | lra].
Qed.

(* -- Arithmetic with infinities and NaN ---------------------------------------------------------------------------- *)

(* None is NaN. *)
Definition number := option value.
Definition rounded32 := rounded emin32 prec32 128.

(* Of two numbers, rounded once: an addition, or an FMA with its product as the first. *)
Definition add (v w : number) : number :=
  match v, w with
  | Some (Finite x), Some (Finite y) => Some (rounded32 (x + y))
  | Some (Finite _), Some y => Some y
  | Some x, Some (Finite _) => Some x
  | Some Plus_infinity, Some Plus_infinity => Some Plus_infinity
  | Some Minus_infinity, Some Minus_infinity => Some Minus_infinity
  | _, _ => None
  end.

(* The trees of sums.v, with terms and products that may be infinite or NaN. *)
Inductive wide_tree :=
| WTerm (x : number)
| WProduct (p : number)
| WAdd (l r : wide_tree)
| WFma (p : number) (t : wide_tree).

Definition zero : number := Some (Finite 0).

Fixpoint evaluated t : number :=
  match t with
  | WTerm x => x
  | WProduct p => add p zero
  | WAdd l r => add (evaluated l) (evaluated r)
  | WFma p s => add p (evaluated s)
  end.

Fixpoint widened t :=
  match t with
  | Term x => WTerm (Some (Finite x))
  | Product p => WProduct (Some (Finite p))
  | Add l r => WAdd (widened l) (widened r)
  | Fma p s => WFma (Some (Finite p)) (widened s)
  end.

Definition not_finite (v : number) := match v with Some (Finite _) => False | _ => True end.

Lemma add_not_finite : forall v w, not_finite v \/ not_finite w -> not_finite (add v w).
Proof. intros [[|x|]|] [[|y|]|]; simpl; tauto. Qed.

Lemma rounded32_cases : forall x, rounded32 x = Finite (rn32 x) \/ not_finite (Some (rounded32 x)).
Proof. intros x. unfold rounded32, rounded. repeat destruct (Rle_lt_dec _ _); simpl; auto. Qed.

(* supports: GEMM.OVERFLOW GEMM_GRAD_A.OVERFLOW GEMM_GRAD_B.OVERFLOW GROUPED_GEMM.OVERFLOW GROUPED_GEMM_GRAD_A.OVERFLOW GROUPED_GEMM_GRAD_B.OVERFLOW LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW EMBEDDING_BWD.ERR *)
(* says: A sum of finite terms that may overflow on the way is the sum without a limit, or an infinity, or NaN: nothing else. *)
Theorem overflow_is_visible : forall t,
  evaluated (widened t) = Some (Finite (computed32 t)) \/ not_finite (evaluated (widened t)).
Proof.
  induction t as [x | p | l IHl r IHr | p s IH]; simpl.
  - auto.
  - rewrite Rplus_0_r. destruct (rounded32_cases p) as [E | N]; [left; rewrite E | right]; auto.
  - destruct IHl as [-> | N]; [|right; apply add_not_finite; auto].
    destruct IHr as [-> | N]; [|right; apply add_not_finite; auto].
    simpl. destruct (rounded32_cases (computed32 l + computed32 r)) as [E | N]; [left; rewrite E | right]; auto.
  - destruct IH as [-> | N]; [|right; apply (add_not_finite (Some (Finite p))); auto].
    simpl. destruct (rounded32_cases (p + computed32 s)) as [E | N]; [left; rewrite E | right]; auto.
Qed.

(* -- No overflow --------------------------------------------------------------------------------------------------- *)

Lemma rounded32_finite : forall x, Rabs x < overflow_limit -> rounded32 x = Finite (rn32 x).
Proof.
  intros x H. pose proof (no_overflow x H) as N. apply Rabs_lt_inv in N.
  unfold rounded32, rounded. repeat destruct (Rle_lt_dec _ _); auto; lra.
Qed.

(* Every value that is rounded on the way is below the limit. *)
Fixpoint stays_finite t :=
  match t with
  | Term x => Rabs x < overflow_limit
  | Product p => Rabs p < overflow_limit
  | Add l r => stays_finite l /\ stays_finite r /\ Rabs (computed32 l + computed32 r) < overflow_limit
  | Fma p s => stays_finite s /\ Rabs (p + computed32 s) < overflow_limit
  end.

Lemma stays_finite_evaluated : forall t, stays_finite t -> evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  induction t as [x | p | l IHl r IHr | p s IH]; simpl; auto.
  - intros H. rewrite Rplus_0_r, rounded32_finite by exact H. reflexivity.
  - intros (Hl & Hr & H). rewrite IHl, IHr by assumption. simpl. rewrite rounded32_finite by exact H. reflexivity.
  - intros (Hs & H). rewrite IH by assumption. simpl. rewrite rounded32_finite by exact H. reflexivity.
Qed.

Lemma computed32_below : forall t, well_formed t -> stays_finite t -> Rabs (computed32 t) < overflow_limit.
Proof.
  intros t W H. assert (R : forall x, Rabs x < overflow_limit -> Rabs (rn32 x) < overflow_limit).
  { intros x L. apply finite_below_limit; [apply rn32_format | apply no_overflow, L]. }
  destruct t; simpl in *; auto.
  - apply R. tauto.
  - apply R. tauto.
Qed.

Lemma computed32_magnitude : forall t, well_formed t ->
  Rabs (computed32 t) <= (1 + INR (nonzero t) * u) * (magnitude t + INR (products t) * eta).
Proof.
  intros t W. pose proof u_positive as U. assert (E : 0 < eta) by apply bpow_gt_0.
  pose proof (pos_INR (nonzero t)). pose proof (pos_INR (products t)). pose proof (magnitude_nonneg t).
  assert (0 <= INR (nonzero t) * u) by (apply Rmult_le_pos; lra).
  assert (0 <= INR (products t) * eta) by (apply Rmult_le_pos; lra).
  destruct (sum_is_near true t W) as [(_ & -> & _) | (_ & s & m & _ & D2 & D3 & D4 & D5)]; [discriminate| |].
  - rewrite Rabs_R0. apply Rmult_le_pos; lra.
  - eapply Rle_trans; [apply (near_magnitude s m _ _ D4 D5)|]. simpl roundings.
    apply Rmult_le_compat_l; lra.
Qed.

(* With n nonzero terms, of which the last addition has not rounded yet. *)
Lemma reach_leaves_room : forall (n k : nat) p m, (1 <= n)%nat -> INR n <= p -> INR k <= p -> p <= pow2 64 -> 0 <= m ->
  (1 + p * u) * m < overflow_limit -> (1 + (INR n - 1) * u) * (m + INR k * eta) < overflow_limit.
Proof.
  intros n k p m N1 Np Kp P M H. pose proof u_positive as U. assert (E : 0 < eta) by apply bpow_gt_0.
  assert (N : 1 <= INR n) by (change 1 with (INR 1); apply le_INR; lia). pose proof (pos_INR k) as K0.
  assert (Pu : p * u <= pow2 40).
  { apply Rle_trans with (pow2 64 * u); [apply Rmult_le_compat_r; lra|].
    unfold u. rewrite <- bpow_plus. apply Rle_refl. }
  assert (Ke : INR k * eta <= pow2 (-86)).
  { apply Rle_trans with (pow2 64 * eta); [apply Rmult_le_compat_r; lra|].
    unfold eta. rewrite <- bpow_plus. apply Rle_refl. }
  assert (Tail : (1 + (INR n - 1) * u) * (INR k * eta) <= pow2 (-45)).
  { apply Rle_trans with ((1 + pow2 40) * pow2 (-86)).
    - apply Rmult_le_compat; try lra; [|apply Rmult_le_pos; lra|].
      { apply Rplus_le_le_0_compat; [lra | apply Rmult_le_pos; lra]. }
      apply Rplus_le_compat_l. eapply Rle_trans; [|exact Pu]. apply Rmult_le_compat_r; lra.
    - replace (pow2 (-45)) with (pow2 41 * pow2 (-86)) by (rewrite <- bpow_plus; reflexivity).
      apply Rmult_le_compat_r; [apply bpow_ge_0|].
      change (pow2 41) with (IZR (2 ^ 41)). change (pow2 40) with (IZR (2 ^ 40)).
      simpl. lra. }
  assert (Front : (1 + (INR n - 1) * u) * m <= (1 + p * u) * m - u * m).
  { replace ((1 + p * u) * m - u * m) with ((1 + (p - 1) * u) * m) by ring.
    apply Rmult_le_compat_r; [lra|]. apply Rplus_le_compat_l, Rmult_le_compat_r; lra. }
  rewrite Rmult_plus_distr_l.
  destruct (Rle_or_lt (pow2 (-21)) m) as [L | L].
  - assert (pow2 (-45) <= u * m).
    { replace (pow2 (-45)) with (u * pow2 (-21)) by (unfold u; rewrite <- bpow_plus; reflexivity).
      apply Rmult_le_compat_l; lra. }
    lra.
  - assert ((1 + (INR n - 1) * u) * m <= (1 + pow2 40) * pow2 (-21)).
    { apply Rmult_le_compat; try lra; [apply Rplus_le_le_0_compat; [lra|apply Rmult_le_pos; lra]|].
      apply Rplus_le_compat_l. eapply Rle_trans; [|exact Pu]. apply Rmult_le_compat_r; lra. }
    apply Rle_lt_trans with ((1 + pow2 40) * pow2 (-21) + pow2 (-45)); [lra|].
    rewrite overflow_limit_value.
    assert (pow2 103 + pow2 103 <= pow2 128).
    { apply Rle_trans with (pow2 104); [change 104%Z with (103 + 1)%Z; rewrite pow2_double; lra | apply bpow_le; lia]. }
    assert (pow2 64 <= pow2 103) by (apply bpow_le; lia).
    assert ((1 + pow2 40) * pow2 (-21) + pow2 (-45) < pow2 64).
    { change (pow2 40) with 1099511627776. change (pow2 (-21)) with (/ 2097152).
      change (pow2 (-45)) with (/ 35184372088832). change (pow2 64) with 18446744073709551616. lra. }
    lra.
Qed.

Lemma INR_plus_one : forall n, INR (1 + n) - 1 = INR n.
Proof. intros n. rewrite plus_INR. change (INR 1) with 1. lra. Qed.

(* Below the limit, of partial sums too. p is at least the number of terms and products that a term can pass. *)
Lemma below_limit_stays_finite : forall p t, p <= pow2 64 -> well_formed t ->
  INR (nonzero t) <= p -> INR (products t) <= p -> (1 + p * u) * magnitude t < overflow_limit -> stays_finite t.
Proof.
  intros p t P. pose proof u_positive as U. assert (E : 0 < eta) by apply bpow_gt_0.
  assert (Alone : forall m, 0 <= p -> 0 <= m -> (1 + p * u) * m < overflow_limit -> m < overflow_limit).
  { intros m P0 M H. assert (0 <= p * u * m) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra. }
  assert (P0' : forall n, INR n <= p -> 0 <= p) by (intros n H; pose proof (pos_INR n); lra).
  assert (Wide : forall m n q, 0 <= q -> q <= INR n - 1 -> 0 <= m -> (1 + q * u) * m <= (1 + (INR n - 1) * u) * m).
  { intros m n q Q L M. apply Rmult_le_compat_r; [lra|]. apply Rplus_le_compat_l, Rmult_le_compat_r; lra. }
  induction t as [x | x | l IHl r IHr | x s IH]; simpl.
  - intros _ N _ H. apply Alone; eauto. apply Rabs_pos.
  - intros _ N _ H. apply Alone; eauto. apply Rabs_pos.
  - intros [Wl Wr] N K H. rewrite plus_INR in N, K.
    pose proof (magnitude_nonneg l) as Ml. pose proof (magnitude_nonneg r) as Mr.
    pose proof (pos_INR (nonzero l)). pose proof (pos_INR (nonzero r)).
    pose proof (pos_INR (products l)). pose proof (pos_INR (products r)).
    assert (P0 : 0 <= p) by lra. assert (Pu : 0 <= p * u) by (apply Rmult_le_pos; lra).
    assert (0 <= p * u * magnitude l) by (apply Rmult_le_pos; lra).
    assert (0 <= p * u * magnitude r) by (apply Rmult_le_pos; lra).
    assert (Sl : stays_finite l) by (apply IHl; auto; lra). assert (Sr : stays_finite r) by (apply IHr; auto; lra).
    split; [exact Sl|]. split; [exact Sr|].
    destruct (Nat.eq_dec (nonzero l) 0) as [Zl | Zl].
    + destruct (sum_is_near true l Wl) as [(_ & -> & _) | (G & _)]; [discriminate| |lia].
      rewrite Rplus_0_l. apply computed32_below; assumption.
    + destruct (Nat.eq_dec (nonzero r) 0) as [Zr | Zr].
      * destruct (sum_is_near true r Wr) as [(_ & -> & _) | (G & _)]; [discriminate| |lia].
        rewrite Rplus_0_r. apply computed32_below; assumption.
      * set (n := (nonzero l + nonzero r)%nat). set (k := (products l + products r)%nat).
        eapply Rle_lt_trans; [|apply (reach_leaves_room n k p (magnitude l + magnitude r)); unfold n, k;
          try rewrite plus_INR; auto; try lia; lra].
        eapply Rle_trans; [apply Rabs_triang|].
        pose proof (computed32_magnitude l Wl) as Cl. pose proof (computed32_magnitude r Wr) as Cr.
        assert (0 <= INR (products l) * eta) by (apply Rmult_le_pos; lra).
        assert (0 <= INR (products r) * eta) by (apply Rmult_le_pos; lra).
        assert (Nl : 1 <= INR (nonzero l)) by (change 1 with (INR 1); apply le_INR; lia).
        assert (Nr : 1 <= INR (nonzero r)) by (change 1 with (INR 1); apply le_INR; lia).
        unfold k. rewrite plus_INR.
        replace ((1 + (INR n - 1) * u) * (magnitude l + magnitude r + (INR (products l) + INR (products r)) * eta)) with
          ((1 + (INR n - 1) * u) * (magnitude l + INR (products l) * eta) +
           (1 + (INR n - 1) * u) * (magnitude r + INR (products r) * eta)) by ring.
        apply Rplus_le_compat; (eapply Rle_trans; [eassumption|]); apply Wide; unfold n;
          try rewrite plus_INR; lra.
  - intros W N K H. rewrite plus_INR in N.
    change (S (products s)) with (1 + products s)%nat in K. rewrite plus_INR in K.
    pose proof (magnitude_nonneg s) as Ms. pose proof (Rabs_pos x) as X.
    pose proof (pos_INR (nonzero s)). pose proof (pos_INR (products s)). pose proof (pos_INR (is_nonzero x)).
    change (INR 1) with 1 in K.
    assert (P0 : 0 <= p) by lra. assert (Pu : 0 <= p * u) by (apply Rmult_le_pos; lra).
    assert (0 <= p * u * magnitude s) by (apply Rmult_le_pos; lra).
    assert (0 <= p * u * Rabs x) by (apply Rmult_le_pos; lra).
    assert (Ss : stays_finite s) by (apply IH; auto; lra). split; [exact Ss|].
    destruct (is_nonzero_cases x) as [[-> _] | [Nx Qx]]; [rewrite Rplus_0_l; apply computed32_below; assumption|].
    rewrite Qx in N. change (INR 1) with 1 in N.
    destruct (Nat.eq_dec (nonzero s) 0) as [Zs | Zs].
    + destruct (sum_is_near true s W) as [(_ & -> & _) | (G & _)]; [discriminate| |lia].
      rewrite Rplus_0_r. lra.
    + assert (Ns : 1 <= INR (nonzero s)) by (change 1 with (INR 1); apply le_INR; lia).
      eapply Rle_lt_trans; [|apply (reach_leaves_room (1 + nonzero s) (1 + products s) p (Rabs x + magnitude s));
        try rewrite plus_INR; change (INR 1) with 1; auto; try lia; lra].
      eapply Rle_trans; [apply Rabs_triang|]. pose proof (computed32_magnitude s W) as C.
      rewrite INR_plus_one, plus_INR. change (INR 1) with 1.
      assert (0 <= INR (products s) * eta) by (apply Rmult_le_pos; lra).
      assert (0 <= INR (nonzero s) * u) by (apply Rmult_le_pos; lra).
      assert (0 <= INR (nonzero s) * u * (Rabs x + eta)) by (apply Rmult_le_pos; lra).
      replace ((1 + INR (nonzero s) * u) * (Rabs x + magnitude s + (1 + INR (products s)) * eta)) with
        ((1 + INR (nonzero s) * u) * (magnitude s + INR (products s) * eta) + (Rabs x + eta) +
         INR (nonzero s) * u * (Rabs x + eta)) by ring.
      lra.
Qed.

Lemma may_not_overflow : forall s, may_overflow s = false -> never_overflows s = false ->
  Q2R (overflow_reach s) < overflow_limit.
Proof.
  intros s O V. unfold may_overflow in O. rewrite V in O. simpl in O.
  unfold overflow_limit. rewrite <- dyadic_Q2R. apply Qlt_Rlt. apply Qnot_le_lt.
  intros L. apply Qle_bool_iff in L. congruence.
Qed.

(* supports: GEMM.OVERFLOW GEMM_GRAD_A.OVERFLOW GEMM_GRAD_B.OVERFLOW GROUPED_GEMM.OVERFLOW GROUPED_GEMM_GRAD_A.OVERFLOW GROUPED_GEMM_GRAD_B.OVERFLOW LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW *)
(* says: Where the C code's (1 + passed u) sum|terms| is below 2^128 (1 - 2^-25), and the terms are at most 2^64, no partial sum overflows in any order. *)
Theorem no_partial_sum_overflows : forall s t, describes s t ->
  may_overflow s = false -> never_overflows s = false -> (products_of s + extras_of s <= 2 ^ 64)%Z ->
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros s t (W & _ & K & N & E & M) O V P. pose proof (may_not_overflow s O V) as H.
  assert (F : stays_finite t); [|split; [exact F | apply stays_finite_evaluated, F]].
  pose proof u_positive as U. pose proof (nonzero_split t). pose proof (nonzero_at_most_products t).
  unfold overflow_reach in H. rewrite Q2R_mult, Q2R_plus, Q2R_mult, Q2R_u, Q2R_inject in H.
  replace (Q2R 1) with 1 in H by (unfold Q2R; simpl; lra).
  replace (products_of s + extras_of s)%Z with (Z.of_nat (products t + extras t)) in * by lia.
  rewrite <- INR_IZR_INZ in H. pose proof (pos_INR (products t + extras t)) as P0.
  apply (below_limit_stays_finite (INR (products t + extras t))); auto.
  - rewrite INR_IZR_INZ. change (pow2 64) with (IZR (2 ^ 64)). apply IZR_le. exact P.
  - apply le_INR. lia.
  - apply le_INR. lia.
  - eapply Rle_lt_trans; [|exact H]. apply Rmult_le_compat_l; [|exact M].
    apply Rplus_le_le_0_compat; [lra | apply Rmult_le_pos; lra].
Qed.

(* supports: EMBEDDING_BWD.ERR *)
(* says: Where (1 + hits u) sum|g| is below 2^128 (1 - 2^-25), and the hits are at most 2^64, no partial sum of them overflows in any order. *)
Theorem no_sum_of_hits_overflows : forall t hits m, well_formed t -> products t = O ->
  (nonzero t <= Z.to_nat hits)%nat -> (0 <= hits <= 2 ^ 64)%Z -> magnitude t <= dyadic_R m ->
  Q2R (embedding_bwd_reach hits m) < overflow_limit ->
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros t hits m W P N L M H.
  assert (F : stays_finite t); [|split; [exact F | apply stays_finite_evaluated, F]].
  pose proof u_positive as U. unfold embedding_bwd_reach in H.
  rewrite Q2R_mult, Q2R_plus, Q2R_mult, Q2R_u, Q2R_inject, dyadic_Q2R in H.
  replace (Q2R 1) with 1 in H by (unfold Q2R; simpl; lra).
  assert (H0 : 0 <= IZR hits) by (apply IZR_le; lia).
  apply (below_limit_stays_finite (IZR hits)); auto.
  - change (pow2 64) with (IZR (2 ^ 64)). apply IZR_le. lia.
  - rewrite INR_IZR_INZ. apply IZR_le. lia.
  - rewrite P. exact H0.
  - eapply Rle_lt_trans; [|exact H]. apply Rmult_le_compat_l; [|exact M].
    apply Rplus_le_le_0_compat; [lra | apply Rmult_le_pos; lra].
Qed.

(* -- fp16 never overflows on the way ------------------------------------------------------------------------------- *)

Fixpoint extra_magnitude t :=
  match t with
  | Term x => Rabs x
  | Product _ => 0
  | Add l r => extra_magnitude l + extra_magnitude r
  | Fma _ s => extra_magnitude s
  end.

Lemma magnitude_of_small_products : forall b t, all_products (fun p => Rabs p <= b) t ->
  magnitude t <= INR (products t) * b + extra_magnitude t.
Proof.
  intros b. induction t as [x | p | l IHl r IHr | p s IH]; simpl.
  - intros _. change (INR 0) with 0. lra.
  - change (INR 1) with 1. lra.
  - intros [Hl Hr]. specialize (IHl Hl). specialize (IHr Hr). rewrite plus_INR. lra.
  - intros [Hp Hs]. specialize (IH Hs). change (S (products s)) with (1 + products s)%nat.
    rewrite plus_INR. change (INR 1) with 1. lra.
Qed.

Lemma small_products_never_overflow : forall t, well_formed t -> all_products (fun p => Rabs p <= pow2 40) t ->
  extra_magnitude t < dyadic_R TKI_PRODUCT_F16_EXTRAS -> (Z.of_nat (products t + extras t) <= 2 ^ 50)%Z ->
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros t W S X N.
  assert (F : stays_finite t); [|split; [exact F | apply stays_finite_evaluated, F]].
  pose proof (magnitude_of_small_products _ t S) as M.
  unfold TKI_PRODUCT_F16_EXTRAS in X. rewrite dyadic_R_bpow, Rmult_1_l in X.
  pose proof (nonzero_split t). pose proof (nonzero_at_most_products t).
  assert (P : INR (products t + extras t) <= pow2 50).
  { rewrite INR_IZR_INZ. change (pow2 50) with (IZR (2 ^ 50)). apply IZR_le. exact N. }
  assert (K : INR (products t) <= pow2 50) by (eapply Rle_trans; [apply le_INR|exact P]; lia).
  pose proof u_positive as U. pose proof (magnitude_nonneg t) as M0.
  apply (below_limit_stays_finite (pow2 50)); auto.
  - apply bpow_le. lia.
  - eapply Rle_trans; [apply le_INR | exact P]. lia.
  - assert (B : magnitude t <= pow2 101).
    { change 101%Z with (100 + 1)%Z. rewrite pow2_double.
      assert (INR (products t) * pow2 40 <= pow2 100).
      { apply Rle_trans with (pow2 50 * pow2 40); [apply Rmult_le_compat_r; [apply bpow_ge_0 | exact K]|].
        rewrite <- bpow_plus. apply bpow_le. lia. }
      lra. }
    apply Rle_lt_trans with ((1 + pow2 26) * pow2 101).
    + apply Rmult_le_compat; try lra.
      * apply Rplus_le_le_0_compat; [lra | apply Rmult_le_pos; [apply bpow_ge_0 | lra]].
      * unfold u. rewrite <- bpow_plus. apply Rle_refl.
    + rewrite Rmult_plus_distr_r, Rmult_1_l, <- bpow_plus, overflow_limit_value. simpl (26 + 101)%Z.
      pose proof (pow2_double 127) as D. simpl (127 + 1)%Z in D.
      assert (pow2 101 <= pow2 103) by (apply bpow_le; lia).
      assert (pow2 103 + pow2 103 < pow2 127).
      { apply Rle_lt_trans with (pow2 104); [|apply bpow_lt; lia].
        change 104%Z with (103 + 1)%Z. rewrite pow2_double. lra. }
      lra.
Qed.

Lemma product_at_most : forall a b e p, Rabs a <= pow2 e -> Rabs b <= pow2 e -> p = a * b -> (e <= 20)%Z ->
  Rabs p <= pow2 40.
Proof.
  intros a b e p Ha Hb -> E. rewrite Rabs_mult. apply Rle_trans with (pow2 (e + e)); [|apply bpow_le; lia].
  rewrite bpow_plus. apply Rmult_le_compat; auto using Rabs_pos.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW *)
(* says: Sums of at most 2^50 products of finite fp16 numbers, with further terms whose absolute values sum to less than 2^100, never overflow on the way. *)
Theorem fp16_never_overflows : forall t, well_formed t ->
  all_products (fun p => exists a b, Rabs a <= pow2 16 /\ Rabs b <= pow2 16 /\ p = a * b) t ->
  extra_magnitude t < dyadic_R TKI_PRODUCT_F16_EXTRAS -> (Z.of_nat (products t + extras t) <= 2 ^ 50)%Z ->
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros t W A. apply small_products_never_overflow; auto. eapply all_products_weaken; [|exact A].
  intros p (a & b & Ha & Hb & E). apply (product_at_most a b 16); auto. lia.
Qed.

(* supports: GEMM.OVERFLOW GEMM_GRAD_A.OVERFLOW GEMM_GRAD_B.OVERFLOW GROUPED_GEMM.OVERFLOW GROUPED_GEMM_GRAD_A.OVERFLOW GROUPED_GEMM_GRAD_B.OVERFLOW LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW *)
(* says: In domain normal, whose numbers are at most 2^20, sums of at most 2^50 products, with further terms that sum to less than 2^100, never overflow on the way. *)
Theorem domain_never_overflows : forall t, well_formed t ->
  all_products (fun p => exists a b, Rabs a <= pow2 TKI_DOMAIN_HIGHEST_EXPONENT /\
    Rabs b <= pow2 TKI_DOMAIN_HIGHEST_EXPONENT /\ p = a * b) t ->
  extra_magnitude t < dyadic_R TKI_PRODUCT_F16_EXTRAS -> (Z.of_nat (products t + extras t) <= 2 ^ 50)%Z ->
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros t W A. apply small_products_never_overflow; auto. eapply all_products_weaken; [|exact A].
  intros p (a & b & Ha & Hb & E). apply (product_at_most a b TKI_DOMAIN_HIGHEST_EXPONENT); auto. cbv. discriminate.
Qed.

(* -- Infinities and NaN among the terms ---------------------------------------------------------------------------- *)

Fixpoint has (v : number) t :=
  match t with
  | WTerm x | WProduct x => x = v
  | WAdd l r => has v l \/ has v r
  | WFma p s => p = v \/ has v s
  end.

Lemma has_nan : forall t, has None t -> evaluated t = None.
Proof.
  assert (L : forall v, add v None = None) by (intros [[|x|]|]; reflexivity).
  induction t as [x | p | l IHl r IHr | p s IH]; simpl; auto.
  - intros ->. reflexivity.
  - intros [H | H]; [rewrite IHl | rewrite IHr]; auto.
  - intros [-> | H]; [reflexivity | rewrite IH; auto].
Qed.

(* An infinity stays, or becomes NaN. *)
Lemma has_infinity : forall i t, i = Plus_infinity \/ i = Minus_infinity -> has (Some i) t ->
  evaluated t = Some i \/ evaluated t = None.
Proof.
  intros i t I.
  assert (L : forall v w, v = Some i \/ v = None -> add v w = Some i \/ add v w = None).
  { intros v w [-> | ->]; [|right; reflexivity]. destruct I as [-> | ->]; destruct w as [[|y|]|]; simpl; auto. }
  assert (R : forall v w, w = Some i \/ w = None -> add v w = Some i \/ add v w = None).
  { intros v w [-> | ->]; destruct v as [[|x|]|]; destruct I as [-> | ->]; simpl; auto. }
  induction t as [x | p | l IHl r IHr | p s IH]; simpl.
  - auto.
  - intros ->. apply L. auto.
  - intros [H | H]; [apply L | apply R]; auto.
  - intros [-> | H]; [apply L; auto | apply R; auto].
Qed.

(* supports: GEMM.NAN GEMM_GRAD_A.NAN GEMM_GRAD_B.NAN GROUPED_GEMM.NAN GROUPED_GEMM_GRAD_A.NAN GROUPED_GEMM_GRAD_B.NAN LINEAR_FWD.NAN LINEAR_GRAD_X.NAN LINEAR_GRAD_W.NAN EMBEDDING_BWD.NAN *)
(* says: In any order, a NaN or infinities of both signs among the terms give NaN. *)
Theorem special_terms_give_nan : forall t,
  has None t \/ (has (Some Plus_infinity) t /\ has (Some Minus_infinity) t) -> evaluated t = None.
Proof.
  intros t [H | [P M]]; [apply has_nan, H|].
  destruct (has_infinity Plus_infinity t (or_introl eq_refl) P) as [E | E]; [|exact E].
  destruct (has_infinity Minus_infinity t (or_intror eq_refl) M) as [F | F]; [congruence | exact F].
Qed.

(* The finite terms alone. *)
Definition finite_value (v : number) := match v with Some (Finite x) => x | _ => 0 end.

Fixpoint finite_part t :=
  match t with
  | WTerm x => Term (finite_value x)
  | WProduct p => Product (finite_value p)
  | WAdd l r => Add (finite_part l) (finite_part r)
  | WFma p s => Fma (finite_value p) (finite_part s)
  end.

(* Terms are finite or the infinity i. *)
Fixpoint finite_or (i : value) t :=
  match t with
  | WTerm x | WProduct x => x = Some i \/ exists y, x = Some (Finite y)
  | WAdd l r => finite_or i l /\ finite_or i r
  | WFma p s => (p = Some i \/ exists y, p = Some (Finite y)) /\ finite_or i s
  end.

(* supports: GEMM.INF GEMM_GRAD_A.INF GEMM_GRAD_B.INF GROUPED_GEMM.INF GROUPED_GEMM_GRAD_A.INF GROUPED_GEMM_GRAD_B.INF LINEAR_FWD.INF LINEAR_GRAD_X.INF LINEAR_GRAD_W.INF EMBEDDING_BWD.NAN *)
(* says: Infinities of one sign among the terms, and no NaN, give that infinity in any order, if the finite terms do not overflow. *)
Theorem one_infinity_stays : forall i t, i = Plus_infinity \/ i = Minus_infinity -> finite_or i t ->
  stays_finite (finite_part t) -> has (Some i) t -> evaluated t = Some i.
Proof.
  intros i t I.
  assert (Sum : forall v w, (v = Some i \/ exists x, v = Some (Finite x)) ->
    (w = Some i \/ exists y, w = Some (Finite y)) ->
    v = Some i \/ w = Some i -> add v w = Some i).
  { intros v w [-> | [x ->]] [-> | [y ->]] O; destruct I as [-> | ->]; simpl; auto;
      destruct O as [O | O]; discriminate. }
  assert (Both : forall t, finite_or i t -> stays_finite (finite_part t) ->
    (has (Some i) t /\ evaluated t = Some i) \/
    (~ has (Some i) t /\ evaluated t = Some (Finite (computed32 (finite_part t))))).
  { assert (NotI : forall x, Some (Finite x) <> Some i) by (intros x; destruct I as [-> | ->]; discriminate).
    clear t. induction t as [x | p | l IHl r IHr | p s IH]; simpl.
    - intros [-> | [y ->]] _; [left | right]; auto.
    - intros [-> | [y ->]] H; [left | right]; split; auto.
      + apply Sum; [auto | right; exists 0; reflexivity | auto].
      + simpl. rewrite Rplus_0_r, rounded32_finite by exact H. reflexivity.
    - intros [Fl Fr] (Sl & Sr & H). specialize (IHl Fl Sl). specialize (IHr Fr Sr).
      destruct IHl as [[Hl El] | [Hl El]]; destruct IHr as [[Hr Er] | [Hr Er]]; rewrite El, Er.
      + left. split; auto.
      + left. split; auto. apply Sum; eauto.
      + left. split; auto. apply Sum; eauto.
      + right. split; [tauto|]. simpl. rewrite rounded32_finite by exact H. reflexivity.
    - intros [Fp Fs] (Ss & H). specialize (IH Fs Ss).
      destruct Fp as [-> | [y ->]]; destruct IH as [[Hs Es] | [Hs Es]]; rewrite Es.
      + left. split; auto.
      + left. split; auto. apply Sum; eauto.
      + left. split; auto. apply Sum; eauto.
      + right. split; [intros [E | E]; [exact (NotI y E) | tauto]|].
        simpl in *. rewrite rounded32_finite by exact H. reflexivity. }
  intros F S H. destruct (Both t F S) as [[_ E] | [N _]]; [exact E | contradiction].
Qed.

(* supports: GEMM.OVERFLOW GEMM_GRAD_A.OVERFLOW GEMM_GRAD_B.OVERFLOW GROUPED_GEMM.OVERFLOW GROUPED_GEMM_GRAD_A.OVERFLOW GROUPED_GEMM_GRAD_B.OVERFLOW LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW EMBEDDING_BWD.NAN *)
(* says: Beside an infinite term, whatever the finite ones do, the sum is that infinity or NaN. *)
Theorem infinity_or_nan : forall i t, i = Plus_infinity \/ i = Minus_infinity -> has (Some i) t ->
  evaluated t = Some i \/ evaluated t = None.
Proof. exact has_infinity. Qed.
