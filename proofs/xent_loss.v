(* xent's loss: its bound, from the budgets of docs/contracts.md. The kernel adds the term of the smoothing last, to
   fma(1 - eps, d_t, ln Z), and the last addition is the rounding to fp32 that B does not count; its logarithm is within
   u of itself and 5 u. Other orders round the target's term once more than the 3 u that it has, and are not covered.
   Not proved: plateaus, flushing, overflow, and what our lowerings promise beyond the contract. *)
From Coq Require Import Reals List Lra.
From Flocq Require Import Core.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants formats entropy softmax_sum softmax_row.
Open Scope R_scope.

(* One rounding to nearest is within this of itself; three of them are within 3 u. *)
Definition nearest := u / (1 + u).

Lemma nearest_below_u : 0 < nearest <= u.
Proof. unfold nearest. rewrite u_value. lra. Qed.

Lemma three_roundings : forall a b c, Rabs a <= nearest -> Rabs b <= nearest -> Rabs c <= nearest ->
  Rabs ((1 + a) * (1 + b) * (1 + c) - 1) <= 3 * u.
Proof.
  intros a b c A B C. unfold nearest in *. rewrite u_value in *. apply Rabs_le_inv in A, B, C. apply Rabs_le.
  set (v := / 16777216 / (1 + / 16777216)) in *. assert (V : v = 1 / 16777217) by (unfold v; lra). rewrite V in *.
  assert (L1 : (1 - 1 / 16777217) * (1 - 1 / 16777217) <= (1 + a) * (1 + b)) by (apply Rmult_le_compat; lra).
  assert (L2 : (1 + a) * (1 + b) <= (1 + 1 / 16777217) * (1 + 1 / 16777217)) by (apply Rmult_le_compat; lra).
  assert (L3 : (1 - 1 / 16777217) * (1 - 1 / 16777217) * (1 - 1 / 16777217) <= (1 + a) * (1 + b) * (1 + c)) by
    (apply Rmult_le_compat; lra).
  assert (L4 : (1 + a) * (1 + b) * (1 + c) <= (1 + 1 / 16777217) * (1 + 1 / 16777217) * (1 + 1 / 16777217)) by
    (apply Rmult_le_compat; lra).
  lra.
Qed.

(* ln of a number that is off by a factor and an absolute error. *)
Lemma ln_within : forall Z z b h, 1 <= Z -> 0 <= b <= 1 -> 0 <= h <= 1 / 100 ->
  exp (- b) * Z - h <= z <= exp b * Z + h -> Rabs (ln z - ln Z) <= b + 4 * h.
Proof.
  intros Z z b h HZ HB HH [L U].
  assert (E1 : 36 / 100 <= exp (- b) <= 1).
  { split; [apply Rle_trans with (exp (- 1)); [interval | apply exp_monotone; lra] | apply exp_at_most_1; lra]. }
  assert (E2 : 1 <= exp b) by (apply exp_at_least_1; lra).
  assert (HZh : h <= h * Z) by (rewrite <- (Rmult_1_r h) at 1; apply Rmult_le_compat_l; lra).
  assert (Up : z <= exp (b + 4 * h) * Z).
  { rewrite exp_plus. pose proof (tangent (4 * h)).
    assert (exp b * (1 + 4 * h) <= exp b * exp (4 * h)) by (apply Rmult_le_compat_l; lra).
    assert (1 * h <= exp b * h) by (apply Rmult_le_compat_r; lra).
    assert ((exp b + h) * Z <= exp b * exp (4 * h) * Z) by (apply Rmult_le_compat_r; lra). lra. }
  assert (Lo : exp (- (b + 4 * h)) * Z <= z).
  { replace (- (b + 4 * h)) with (- b + - (4 * h)) by ring. rewrite exp_plus.
    (* e^-4h <= 1 - 4 h + 8 h^2 <= 1 - 3 h, and h <= e^-b 3 h *)
    assert (F : exp (- (4 * h)) <= 1 - 3 * h).
    { rewrite exp_Ropp. pose proof (tangent (4 * h)). apply Rle_trans with (/ (1 + 4 * h)).
      - apply Rinv_le_contravar; lra.
      - apply Rmult_le_reg_r with (1 + 4 * h); [lra |]. rewrite Rinv_l by lra. nra. }
    assert (exp (- b) * exp (- (4 * h)) <= exp (- b) * (1 - 3 * h)) by (apply Rmult_le_compat_l; lra).
    assert (h * (36 / 100) <= h * exp (- b)) by (apply Rmult_le_compat_l; lra).
    assert (exp (- b) * exp (- (4 * h)) * Z <= (exp (- b) - h) * Z) by (apply Rmult_le_compat_r; lra). lra. }
  pose proof (exp_pos (b + 4 * h)) as P1. pose proof (exp_pos (- (b + 4 * h))) as P2.
  assert (P3 : 0 < exp (- (b + 4 * h)) * Z) by (apply Rmult_lt_0_compat; lra). assert (Pz : 0 < z) by lra.
  assert (ln_mono : forall x y, 0 < x -> x <= y -> ln x <= ln y).
  { intros x y X [Y | <-]; [left; apply ln_increasing; auto | lra]. }
  pose proof (ln_mono _ _ P3 Lo) as A. pose proof (ln_mono _ _ Pz Up) as B.
  rewrite ln_mult, ln_exp in A by lra. rewrite ln_mult, ln_exp in B by lra. apply Rabs_le. lra.
Qed.

Section Row.
Variables (M : R) (flushes : bool) (l : list R) (D R z : R).
Hypothesis sum_is : row_sum M flushes M l D R z.
Hypothesis has_maximum : In M l.
Hypothesis rescalings : R <= most_rescalings.
Hypothesis not_too_deep : growth D R <= 1 / 2.
Hypothesis cols : size l <= 1 / u * (1 / u) * (1 / u). (* 2^72 *)

Let C := size l.
Let Z := exact_sum M l.

(* supports: XENT.LOSS *)
(* says: ln of the computed sum is within u (2.25 ln C + D + 9 R + 12.6) of ln Z. *)
Theorem ln_of_sum : Rabs (ln z - ln Z) <= u * (9 / 4 * ln C + D + 9 * R + 126 / 10) /\ 1 <= Z /\ 0 <= ln C.
Proof.
  destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L). pose proof (exact_sum_1 M l has_maximum) as Z1.
  fold Z in Z1. pose proof (row_sum_within M flushes l D R z sum_is has_maximum not_too_deep rescalings) as S.
  pose proof u_positive as U. assert (LC : 0 <= ln C).
  { rewrite <- ln_1. unfold C. destruct N as [N | <-]; [left; apply ln_increasing |]; lra. }
  assert (CB : ln C <= 60).
  { apply Rle_trans with (ln (1 / u * (1 / u) * (1 / u))); [| rewrite u_value; interval].
    unfold C. destruct cols as [K | <-]; [left; apply ln_increasing; lra | lra]. }
  assert (CS : C * small <= u / 100000).
  { unfold C. apply Rle_trans with (1 / u * (1 / u) * (1 / u) * small); [apply Rmult_le_compat_r; [left;
      apply bpow_gt_0 | auto] |].
    rewrite small_by_tiny, tiny_value, u_value. lra. }
  destruct kappa_value as (K0 & _ & _). unfold growth in *.
  assert (KG : kappa * (8 + D + 9 * R) <= u * (8 + D + 9 * R) + 9 / 2 * u).
  { assert (u * (8 + D + 9 * R) <= kappa * (8 + D + 9 * R)) by (apply Rmult_le_compat_r; destruct kappa_value; lra).
    unfold kappa. assert (9 * u * (u * (8 + D + 9 * R)) <= 9 * u * (1 / 2)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (PS : 0 <= C * small) by (unfold C; apply Rmult_le_pos; [lra | left; apply bpow_gt_0]).
  split; [| auto].
  assert (BB : 0 <= argument * ln C <= 1 / 1000).
  { pose proof argument_value. split; [apply Rmult_le_pos; lra |].
    apply Rle_trans with (1 / 1000000 * 60); [apply Rmult_le_compat; lra | lra]. }
  assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  assert (G0 : 0 <= kappa * (8 + D + 9 * R)) by (apply Rmult_le_pos; lra).
  eapply Rle_trans; [apply (ln_within Z z (beta l D R) (eta l)); auto |]; unfold beta, growth, eta in *; fold C;
    try lra.
  rewrite argument_is in *. lra.
Qed.

(* B_loss of ops/xent/contract.c. *)
Definition loss_bound (eps dt E sum_d : Rdefinitions.R) :=
  u * (3 * (1 - eps) * dt + 2 * ln Z + 9 / 4 * ln C + D + 9 * R + 20) + eps / C * (E + 4) * u * sum_d.

(* supports: XENT.LOSS *)
(* says: fma(1 - eps, d_t, ln Z) plus a smoothing's term within (E + 4) u of itself is within B_loss of the loss. *)
Theorem loss_within : forall eps dt E sum_d log a b c spread, 0 <= eps <= 1 -> 0 <= dt ->
  Rabs (log - ln z) <= u * Rabs (ln z) + 5 * u ->
  Rabs a <= nearest -> Rabs b <= nearest -> Rabs c <= nearest ->
  Rabs (spread - eps / C * sum_d) <= eps / C * (E + 4) * u * sum_d ->
  let computed := (log + (1 - eps) * (1 + a) * (dt * (1 + b))) * (1 + c) + spread in
  Rabs (computed - (ln Z + (1 - eps) * dt + eps / C * sum_d)) <= loss_bound eps dt E sum_d.
Proof.
  intros eps dt E sum_d log a b c spread HE Hd HL Ha Hb Hc HS computed. destruct ln_of_sum as (HZ & Z1 & LC).
  destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L). pose proof u_positive as U.
  assert (LZ : 0 <= ln Z). { rewrite <- ln_1. destruct Z1 as [X | <-]; [left; apply ln_increasing |]; lra. }
  assert (LZC : ln Z <= ln C).
  { assert (Z <= C).
    { unfold Z, C, exact_sum. rewrite <- (Rmult_1_l (size l)), <- sum_const. apply sum_le. intros x Hx.
      apply exp_at_most_1. specialize (L x Hx). lra. }
    destruct H as [H | ->]; [left; apply ln_increasing; lra | lra]. }
  assert (CB : ln C <= 60).
  { apply Rle_trans with (ln (1 / u * (1 / u) * (1 / u))); [| rewrite u_value; interval].
    unfold C. destruct cols as [K | <-]; [left; apply ln_increasing; lra | lra]. }
  set (A := (1 - eps) * dt). assert (PA : 0 <= A) by (apply Rmult_le_pos; lra).
  set (X := u * (9 / 4 * ln C + D + 9 * R + 126 / 10)) in *.
  assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  assert (PX : 0 <= X <= 1 / 2 + 1 / 1000).
  { assert (G : u * (8 + D + 9 * R) <= 1 / 2).
    { eapply Rle_trans; [| exact not_too_deep]. unfold growth. apply Rmult_le_compat_r; destruct kappa_value; lra. }
    unfold X. split; [apply Rmult_le_pos; lra |].
    assert (u * (9 / 4 * ln C + 46 / 10) <= 1 / 1000000 * 140) by (apply Rmult_le_compat; lra). lra. }
  (* the logarithm, and the addition's rounding of it *)
  assert (H1 : Rabs (log - ln Z) <= X + u * (ln Z + X) + 5 * u).
  { replace (log - ln Z) with ((log - ln z) + (ln z - ln Z)) by ring. eapply Rle_trans; [apply Rabs_triang |].
    assert (Rabs (ln z) <= ln Z + X).
    { replace (ln z) with (ln Z + (ln z - ln Z)) by ring. eapply Rle_trans; [apply Rabs_triang |].
      rewrite (Rabs_pos_eq (ln Z)) by lra. lra. }
    assert (u * Rabs (ln z) <= u * (ln Z + X)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Hn := nearest_below_u). assert (Hc' : Rabs c <= u) by lra.
  assert (H2 : Rabs (log * (1 + c) - ln Z) <= (X + u * (ln Z + X) + 5 * u) * (1 + u) + u * ln Z).
  { replace (log * (1 + c) - ln Z) with ((log - ln Z) * (1 + c) + ln Z * c) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult, (Rabs_pos_eq (ln Z)) by lra.
    assert (ln Z * Rabs c <= ln Z * u) by (apply Rmult_le_compat_l; lra).
    assert (Rabs (1 + c) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_R1; lra).
    assert (Rabs (log - ln Z) * Rabs (1 + c) <= (X + u * (ln Z + X) + 5 * u) * (1 + u)) by
      (apply Rmult_le_compat; auto; apply Rabs_pos). lra. }
  assert (H3 : Rabs ((1 - eps) * (1 + a) * (dt * (1 + b)) * (1 + c) - A) <= 3 * u * A).
  { replace ((1 - eps) * (1 + a) * (dt * (1 + b)) * (1 + c) - A) with (A * ((1 + a) * (1 + b) * (1 + c) - 1)) by
      (unfold A; ring).
    rewrite Rabs_mult, (Rabs_pos_eq A) by lra. rewrite (Rmult_comm (3 * u)). apply Rmult_le_compat_l; auto.
    apply three_roundings; auto. }
  assert (H4 : (X + u * (ln Z + X) + 5 * u) * (1 + u) + u * ln Z <= X + 2 * u * ln Z + 74 / 10 * u).
  { assert (u * X <= u * (1 / 2 + 1 / 1000)) by (apply Rmult_le_compat_l; lra).
    assert (u * ln Z <= u * 60) by (apply Rmult_le_compat_l; lra).
    assert (0 <= u * X) by (apply Rmult_le_pos; lra). assert (0 <= u * ln Z) by (apply Rmult_le_pos; lra).
    assert (u * (u * (ln Z + X)) <= u * (1 / 1000)) by (apply Rmult_le_compat_l; lra).
    assert (u * (5 * u) <= u * (1 / 1000)) by (apply Rmult_le_compat_l; lra). lra. }
  unfold loss_bound. fold A.
  replace (computed - (ln Z + A + eps / C * sum_d))
    with ((log * (1 + c) - ln Z) + ((1 - eps) * (1 + a) * (dt * (1 + b)) * (1 + c) - A) + (spread - eps / C * sum_d)) by
    (unfold computed; ring).
  eapply Rle_trans; [apply Rabs_triang |].
  assert (H5 : Rabs (log * (1 + c) - ln Z + ((1 - eps) * (1 + a) * (dt * (1 + b)) * (1 + c) - A))
    <= X + 2 * u * ln Z + 74 / 10 * u + 3 * u * A) by (eapply Rle_trans; [apply Rabs_triang |]; lra).
  unfold X in H5. replace (3 * (1 - eps) * dt) with (3 * A) by (unfold A; ring). lra.
Qed.

End Row.
