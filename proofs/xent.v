(* xent: the two rearrangements that its contract rests on, p_t - q_t without cancellation and the loss as a sum of
   terms that are not negative; and the bound of its gradient, from the budgets of docs/contracts.md, with gradual
   underflow. Beside the target it is proved for the W of softmax_fwd, with a quotient within 2 u. At the target it is
   proved for any sum N of the other exponentials that is within its share of W and an absolute error of 2^-131; that
   flushing kernels have such an N is not true (see there). The loss is in xent_loss.v. Not proved: plateaus,
   a target whose other logits are all beyond 104, overflow. *)
From Coq Require Import Reals List Lra.
From Flocq Require Import Core.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants formats entropy softmax_sum softmax_row softmax_forward.
Import ListNotations.
Open Scope R_scope.

Section Exact.
Variables (M t eps C : R) (others : list R). (* t: the target's logit *)
Hypothesis cols : C = 1 + size others.

Let row := t :: others.
Let Z := exact_sum M row.
Let N := exact_sum M others.
Let p (x : R) := exp (- (M - x)) / Z.

Lemma Z_positive : 0 < Z.
Proof.
  unfold Z, row, exact_sum. simpl. pose proof (exp_pos (- (M - t))).
  assert (0 <= sum (fun x => exp (- (M - x))) others) by (apply sum_nonnegative; intros; left; apply exp_pos). lra.
Qed.

(* supports: XENT.ERR *)
(* says: p_t - q_t is eps (C - 1) / C - N / Z, N being the sum of exp(-d_j) over j other than t. *)
Theorem target_gradient : p t - (eps / C + (1 - eps)) = eps * (C - 1) / C - N / Z.
Proof.
  pose proof Z_positive. assert (1 <= C) by (rewrite cols; pose proof (size_positive others); lra).
  assert (E : exp (- (M - t)) = Z - N) by (unfold Z, N, row, exact_sum; simpl; ring).
  unfold p. rewrite E. field. split; lra.
Qed.

(* supports: XENT.LOSS *)
(* says: The cross-entropy sum_j q_j (- ln p_j) is ln Z + (1 - eps) d_t + (eps / C) sum_j d_j. *)
Theorem loss_identity :
  (eps / C + (1 - eps)) * - ln (p t) + sum (fun x => eps / C * - ln (p x)) others
  = ln Z + (1 - eps) * (M - t) + eps / C * sum (fun x => M - x) row.
Proof.
  pose proof Z_positive as P. assert (1 <= C) by (rewrite cols; pose proof (size_positive others); lra).
  assert (L : forall x, - ln (p x) = ln Z + (M - x)).
  { intros x. unfold p, Rdiv.
    rewrite ln_mult, ln_exp, ln_Rinv; auto; [ring | apply exp_pos | apply Rinv_0_lt_compat; auto]. }
  rewrite L, (sum_ext _ (fun x => eps / C * ln Z + eps / C * (M - x))) by (intros; rewrite L; ring).
  rewrite (sum_linear (eps / C) (eps / C) (fun _ => ln Z) (fun x => M - x)), sum_const. unfold row. simpl.
  replace (size others) with (C - 1) by (rewrite cols; ring). field. lra.
Qed.

End Exact.

(* B_grad of ops/xent/contract.c; r is W / (1 - W), 0 beyond 104 and 1 for the target if d2 is. *)
Definition grad_bound (scale P r Q : R) :=
  Rabs scale * (P * r + 3 * u * Q + 3 * u * Rabs (P - Q) + small) + tiny.

(* scale (p - Q'), Q' being a kernel's Q: a difference and a product, each rounded. *)
Definition gradient (scale p Q' g : R) : Prop := exists d1 d2, Rabs d1 <= u /\ Rabs d2 <= u /\
  Rabs (g - scale * ((p - Q') * (1 + d1)) * (1 + d2)) <= tiny.

(* supports: XENT.ERR *)
(* says: scale (P - Q), from a P within v P + 2^-128 and a Q within 2 u, is within B_grad for an r a little above v. *)
Theorem gradient_within : forall scale P Q p Q' v r g, 0 <= P -> 0 <= Q -> 0 <= v <= 1 ->
  v + u * (2 * v) - u * (99 / 100) <= r ->
  Rabs (p - P) <= P * v + small / 4 -> Rabs (Q' - Q) <= 2 * u * Q -> gradient scale p Q' g ->
  Rabs (g - scale * (P - Q)) <= grad_bound scale P r Q.
Proof.
  intros scale P Q p Q' v r g PP PQ V K HP HQ (d1 & d2 & D1 & D2 & G).
  pose proof u_positive as U. assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  set (m := Rabs (P - Q)). assert (Pm : 0 <= m) by apply Rabs_pos. assert (PS : 0 < small) by apply bpow_gt_0.
  set (s := Rabs scale). assert (Psc : 0 <= s) by apply Rabs_pos.
  set (e := (p - P) - (Q' - Q)). assert (HE : Rabs e <= P * v + small / 4 + 2 * u * Q).
  { unfold e, Rminus at 1. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp. lra. }
  set (f := (1 + d1) * (1 + d2) - 1).
  assert (F : Rabs f <= 2 * u + u * u).
  { replace f with (d1 + d2 + d1 * d2) by (unfold f; ring). eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult.
    assert (Rabs (d1 + d2) <= u + u) by (eapply Rle_trans; [apply Rabs_triang |]; lra).
    assert (Rabs d1 * Rabs d2 <= u * u) by (apply Rmult_le_compat; auto; apply Rabs_pos). lra. }
  assert (X : Rabs (scale * ((p - Q') * (1 + d1)) * (1 + d2) - scale * (P - Q))
              <= s * ((P * v + small / 4 + 2 * u * Q) * (1 + (2 * u + u * u)) + m * (2 * u + u * u))).
  { replace (scale * ((p - Q') * (1 + d1)) * (1 + d2) - scale * (P - Q)) with (scale * (e * (1 + f) + (P - Q) * f)) by
      (unfold e, f; ring).
    rewrite Rabs_mult. fold s. apply Rmult_le_compat_l; auto. eapply Rle_trans; [apply Rabs_triang |].
    rewrite !Rabs_mult. fold m.
    assert (Rabs (1 + f) <= 1 + (2 * u + u * u)) by (eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_R1; lra).
    assert (m * Rabs f <= m * (2 * u + u * u)) by (apply Rmult_le_compat_l; auto).
    assert (Rabs e * Rabs (1 + f) <= (P * v + small / 4 + 2 * u * Q) * (1 + (2 * u + u * u))) by
      (apply Rmult_le_compat; auto; apply Rabs_pos). lra. }
  assert (Y : (P * v + small / 4 + 2 * u * Q) * (1 + (2 * u + u * u)) + m * (2 * u + u * u)
              <= P * r + 3 * u * Q + 3 * u * m + small).
  { assert (PQM : P <= Q + m).
    { replace P with (Q + (P - Q)) by ring. apply Rplus_le_compat_l. apply Rle_abs. }
    assert (UU : u * u <= 1 / 1000000 * u) by (apply Rmult_le_compat_r; lra).
    assert (Y1 : P * (v + u * (2 * v) - u * (99 / 100)) <= P * r) by (apply Rmult_le_compat_l; auto).
    assert (Y2 : u * (99 / 100) * P <= u * (99 / 100) * (Q + m)) by (apply Rmult_le_compat_l; lra).
    assert (Pv : 0 <= P * v <= P) by nra.
    assert (Y3 : u * u * (P * v) <= 1 / 1000000 * u * (Q + m)).
    { apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
    assert (Y4 : 2 * u * Q * (2 * u + u * u) <= 2 * u * Q * (1 / 1000)) by (apply Rmult_le_compat_l; [| lra];
      apply Rmult_le_pos; lra).
    assert (Y5 : m * (u * u) <= m * (1 / 1000000 * u)) by (apply Rmult_le_compat_l; lra).
    assert (Y6 : small / 4 * (1 + (2 * u + u * u)) <= small / 4 * 2) by (apply Rmult_le_compat_l; lra).
    assert (Y7 : 0 <= u * Q) by (apply Rmult_le_pos; lra). assert (Y8 : 0 <= u * m) by (apply Rmult_le_pos; lra).
    lra. }
  assert (X2 : s * ((P * v + small / 4 + 2 * u * Q) * (1 + (2 * u + u * u)) + m * (2 * u + u * u))
    <= s * (P * r + 3 * u * Q + 3 * u * m + small)) by (apply Rmult_le_compat_l; auto).
  unfold grad_bound. fold s m.
  replace (g - scale * (P - Q)) with ((g - scale * ((p - Q') * (1 + d1)) * (1 + d2))
    + (scale * ((p - Q') * (1 + d1)) * (1 + d2) - scale * (P - Q))) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. lra.
Qed.

(* What a W of w has more than w - u pays for the roundings of p's own error. *)
Lemma room_in_w : forall w, u <= w -> w < 1 / 2 -> let v := (w - u) / (1 - (w - u)) in
  0 <= v <= 1 /\ v + u * (2 * v) - u * (99 / 100) <= w / (1 - w).
Proof.
  intros w W1 W2 v. pose proof u_positive as U. set (w' := w - u) in *. assert (W0 : 0 <= w' <= w) by (unfold w'; lra).
  assert (V : 0 <= v <= 1).
  { unfold v. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
    apply Rmult_le_reg_r with (1 - w'); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  split; auto. assert (I : w / (1 - w) = v + u / ((1 - w) * (1 - w'))).
  { unfold v. replace u with (w - w') by (unfold w'; ring). field. lra. }
  assert (J : 2 * v - 99 / 100 <= / ((1 - w) * (1 - w'))).
  { apply Rmult_le_reg_r with ((1 - w) * (1 - w')); [apply Rmult_lt_0_compat; lra |].
    rewrite Rinv_l by (apply Rgt_not_eq; apply Rmult_lt_0_compat; lra).
    replace ((2 * v - 99 / 100) * ((1 - w) * (1 - w'))) with ((2 * w' - 99 / 100 * (1 - w')) * (1 - w)) by
      (unfold v; field; lra). nra. }
  assert (u * (2 * v - 99 / 100) <= u * / ((1 - w) * (1 - w'))) by (apply Rmult_le_compat_l; lra).
  unfold Rdiv in I. lra.
Qed.

Section Row.
Variables (M : R) (l : list R) (D R z : R). (* the row's logits, in the order in which their exponentials are added *)
Hypothesis sum_is : row_sum M false M l D R z.
Hypothesis has_maximum : In M l.
Hypothesis rescalings : R <= most_rescalings.

Let C := size l.
Let Z := exact_sum M l.

(* A kernel's numerator over z, within 2 u: a division, or a reciprocal and a product. *)
Definition over (e q : Rdefinitions.R) : Prop :=
  0 <= q /\ exists eps, Rabs eps <= 2 * u /\ Rabs (q - e / z * (1 + eps)) <= tiny.

Lemma ln_C : 1 <= C /\ 0 <= ln C.
Proof.
  assert (N : 1 <= C) by (eapply size_nonempty; exact has_maximum). split; auto.
  rewrite <- ln_1. destruct N as [N | <-]; [left; apply ln_increasing |]; lra.
Qed.

(* A numerator X that is off by a factor of e^a and by an absolute error; the quotient then. *)
Lemma quotient_gradual : forall X e a w q, 0 < X -> 0 <= a -> growth D R <= 1 / 2 ->
  (exists e', X * exp (- a) <= e' <= X * exp a /\ Rabs (e - e') <= small / 32) ->
  a + 2 * kappa + beta l D R + eta l <= w -> w < 1 / 2 -> over e q ->
  Rabs (q - X / Z) <= X / Z * (w / (1 - w)) + small / 4.
Proof.
  intros X e a w q PX PA HG (e' & [E1 E2] & HE) HW W (_ & eps & EP & HQ).
  destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L). destruct ln_C as [C1 LC].
  pose proof (exact_sum_1 M l has_maximum) as Z1. fold Z in Z1.
  pose proof (row_sum_within M false l D R z sum_is has_maximum HG rescalings) as S. fold Z in S.
  destruct (relative_error 2 eps) as [R1 R2]; auto; try lra. destruct kappa_value as (K0 & _ & _).
  pose proof argument_value as AV. pose proof (exp_pos a) as Pe. pose proof (exp_pos (- a)) as Pe'.
  assert (PB : 0 <= beta l D R).
  { unfold beta, growth. fold C. pose proof (Rmult_le_pos argument (ln C)).
    assert (0 <= kappa * (8 + D + 9 * R)) by (apply Rmult_le_pos; lra). lra. }
  assert (PS : 0 < small) by apply bpow_gt_0.
  assert (HH : 0 <= eta l). { unfold eta. fold C. assert (0 <= C * small) by (apply Rmult_le_pos; lra). lra. }
  assert (P1 : 0 < X * exp (- a)) by (apply Rmult_lt_0_compat; auto).
  destruct (quotient_within X Z (e' * (1 + eps)) z (a + 2 * kappa) (beta l D R) (eta l) w) as (Q1 & [Q2 Q4] & Q3);
    auto; try lra.
  { replace (- (a + 2 * kappa)) with (- a + - (2 * kappa)) by ring. rewrite !exp_plus, <- !Rmult_assoc.
    pose proof (exp_pos (- (2 * kappa))). pose proof (exp_pos (2 * kappa)). split; apply Rmult_le_compat; lra. }
  assert (EA : exp (a + 2 * kappa) <= 33 / 20).
  { apply Rle_trans with (exp (1 / 2)); [apply exp_monotone; lra | interval]. }
  assert (Pz : 3 / 10 <= z).
  { assert (z * exp (a + 2 * kappa) <= z * (33 / 20)) by (apply Rmult_le_compat_l; lra).
    assert ((1 - w) * 1 <= (1 - w) * Z) by (apply Rmult_le_compat_l; lra). lra. }
  set (y := X / Z) in *. assert (Py : 0 < y) by (apply Rdiv_lt_0_compat; lra).
  assert (W0 : 0 <= w) by lra.
  assert (Y1 : y / (1 - w) = y + y * (w / (1 - w))) by (field; lra).
  assert (Y2 : y * w <= y * (w / (1 - w))).
  { apply Rmult_le_compat_l; [lra |]. unfold Rdiv. rewrite <- (Rmult_1_r w) at 1. apply Rmult_le_compat_l; [lra |].
    rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (D1 : Rabs ((e - e') / z * (1 + eps)) <= small / 5).
  { unfold Rdiv. rewrite !Rabs_mult. apply Rabs_le_inv in EP. assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
    assert (Rabs (1 + eps) <= 2) by (apply Rabs_le; lra).
    assert (Iz : 0 < / z <= 10 / 3).
    { split; [apply Rinv_0_lt_compat; lra |]. replace (10 / 3) with (/ (3 / 10)) by field.
      apply Rinv_le_contravar; lra. }
    rewrite (Rabs_pos_eq (/ z)) by lra. assert (Rabs (1 + eps) <= 1 + 2 / 1000000) by (apply Rabs_le; lra).
    assert (Rabs (e - e') * / z <= small / 32 * (10 / 3)) by (apply Rmult_le_compat; try lra; apply Rabs_pos).
    apply Rle_trans with (small / 32 * (10 / 3) * (1 + 2 / 1000000)); [| lra].
    apply Rmult_le_compat; try lra; [apply Rmult_le_pos; [apply Rabs_pos | lra] | apply Rabs_pos]. }
  assert (T20 : tiny <= small / 20) by (rewrite small_by_tiny; pose proof tiny_positive; lra).
  replace (q - y) with ((q - e / z * (1 + eps)) + ((e - e') / z * (1 + eps)) + (e' * (1 + eps) / z - y)) by (field;
    lra).
  eapply Rle_trans; [apply Rabs_triang |]. apply Rplus_le_reg_r with 0.
  assert (A : Rabs (q - e / z * (1 + eps) + (e - e') / z * (1 + eps)) <= small / 4).
  { eapply Rle_trans; [apply Rabs_triang |]. lra. }
  assert (B : Rabs (e' * (1 + eps) / z - y) <= y * (w / (1 - w))) by (apply Rabs_le; lra). lra.
Qed.

Let w1 (x : Rdefinitions.R) := softmax_w 1 C (ln C) D R (M - x).
Let w2 (d2 : Rdefinitions.R) := softmax_w 2 C (ln C) D R d2.

(* supports: XENT.ERR *)
(* says: The gradient of a logit with d <= 104 other than the target's is within B_grad, where W is below 1/2. *)
Theorem other_gradient_within : forall x e q scale Q Q' g, In x l -> M - x <= far_distance ->
  exp_within false (M - x) e -> over e q -> w1 x < 1 / 2 -> 0 <= Q -> Rabs (Q' - Q) <= 2 * u * Q ->
  gradient scale q Q' g ->
  Rabs (g - scale * (softmax M l x - Q)) <= grad_bound scale (softmax M l x) (w1 x / (1 - w1 x)) Q.
Proof.
  intros x e q scale Q Q' g Hx Hd HE HO W PQ HQ HG. destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N & L).
  destruct ln_C as [C1 LC]. assert (X : x <= M) by auto. pose proof u_positive as U.
  destruct kappa_value as (K0 & _ & K1).
  pose proof argument_value as AV. set (d := M - x) in *. assert (Pd : 0 <= d) by (unfold d; lra).
  assert (PS : 0 < C * small) by (apply Rmult_lt_0_compat; [lra | apply bpow_gt_0]).
  assert (HW : argument * d + 8 * kappa + 2 * kappa + beta l D R + eta l <= w1 x - u).
  { unfold w1, beta, eta, growth. fold C d. rewrite softmax_w_is, argument_is.
    assert (A1 : kappa * (18 + D + 9 * R) <= 100001 / 100000 * u * (18 + D + 9 * R)) by (apply Rmult_le_compat_r; lra).
    assert (A2 : 0 <= u * (D + 9 * R)) by (apply Rmult_le_pos; lra).
    assert (A3 : 0 <= u * (d + ln C)) by (apply Rmult_le_pos; lra). lra. }
  assert (HA : 0 <= argument * d) by (apply Rmult_le_pos; lra).
  assert (HB : 0 <= growth D R /\ 0 <= argument * ln C).
  { unfold growth. split; apply Rmult_le_pos; lra. }
  assert (HH : 0 <= eta l) by (unfold eta; fold C; lra). unfold beta in HW. fold C in HW.
  destruct (room_in_w (w1 x)) as [V K]; [lra | lra |].
  apply gradient_within with q Q' ((w1 x - u) / (1 - (w1 x - u))); auto.
  { unfold softmax. left. apply Rdiv_lt_0_compat; [apply exp_pos | pose proof (exact_sum_1 M l has_maximum); lra]. }
  unfold softmax. fold Z d. apply quotient_gradual with e (argument * d + 8 * kappa); auto; try lra; try apply exp_pos.
  destruct (exp_bounds false d e Pd HE) as (e' & [_ Le] & B1 & B2). exists e'. split.
  - replace (- (argument * d + 8 * kappa)) with (- (argument * d) + - (8 * kappa)) by ring.
    rewrite !exp_plus, <- !Rmult_assoc.
      replace (- ((1 + argument) * d)) with (- d + - (argument * d)) in B1 by ring.
      replace (- ((1 - argument) * d)) with (- d + argument * d) in B2 by ring. rewrite exp_plus in B1, B2. lra.
  - eapply Rle_trans; [exact Le |]. rewrite small_by_tiny. pose proof tiny_positive. lra.
Qed.

(* supports: XENT.ERR *)
(* says: The gradient of a logit with d > 104 is within B_grad without its term in W, if the W of d = 0 is below 1/2. *)
Theorem far_gradient_within : forall x e q scale Q Q' g, In x l -> far_distance < M - x ->
  exp_within false (M - x) e -> over e q -> w1 M < 1 / 2 -> 0 <= Q -> Rabs (Q' - Q) <= 2 * u * Q ->
  gradient scale q Q' g ->
  Rabs (g - scale * (softmax M l x - Q)) <= grad_bound scale (softmax M l x) 0 Q.
Proof.
  intros x e q scale Q Q' g Hx Hd HE (N & eps & EP & HO) W PQ HQ HG. pose proof u_positive as U.
  pose proof (exact_sum_1 M l has_maximum) as Z1.
  assert (P : 0 <= softmax M l x) by (left; apply Rdiv_lt_0_compat; [apply exp_pos | lra]).
  apply gradient_within with q Q' 0; auto; try lra. rewrite Rmult_0_r, Rplus_0_l.
  apply Rle_trans with (16 * tiny); [| rewrite small_by_tiny; pose proof tiny_positive; lra].
  apply (far_element M false l D R z sum_is has_maximum rescalings x e q); auto.
  - exists eps. split; [lra |]. split; auto.
  - unfold w1 in W. replace (M - M) with 0 in W by ring. exact W.
Qed.

(* At the target P = N / Z.
A kernel's N is within the exponent of a sum over elements at least d2 away from the maximum,
   and an absolute error of 2^-131.
   Gradual underflow keeps that for C up to 2^17 at least, with 2^-149 for each element;
   flushing does not: C - 1 = 1000 others at d = 88 have exponentials below 2^-126, are flushed, and N is 0 instead of
   1000 e^-88, which is more than 500 times 2^-126. *)
(* supports: XENT.ERR *)
(* says: The target's gradient is within B_grad, if N is within its share of W and 2^-131, and d2 <= 104. *)
Theorem target_gradient_within : forall d2 N n q scale Q Q' g, 0 < N -> 0 <= d2 -> w2 d2 < 1 / 2 ->
  (exists n', N * exp (- (growth D R + argument * (d2 + ln C))) <= n' <= N * exp (growth D R + argument * (d2 + ln C))
     /\ Rabs (n - n') <= small / 32) ->
  over n q -> 0 <= Q -> Rabs (Q' - Q) <= 2 * u * Q -> gradient scale q Q' g ->
  Rabs (g - scale * (N / Z - Q)) <= grad_bound scale (N / Z) (w2 d2 / (1 - w2 d2)) Q.
Proof.
  intros d2 N n q scale Q Q' g PN Pd W HN HO PQ HQ HG. destruct (row_levels _ _ _ _ _ _ _ sum_is) as (PD & PR & N1 & L).
  destruct ln_C as [C1 LC]. pose proof u_positive as U. destruct kappa_value as (K0 & _ & K1).
  pose proof argument_value as AV. assert (PS : 0 < C * small) by (apply Rmult_lt_0_compat; [lra | apply bpow_gt_0]).
  assert (HW : growth D R + argument * (d2 + ln C) + 2 * kappa + beta l D R + eta l <= w2 d2 - u).
  { unfold w2, beta, eta, growth. fold C. rewrite softmax_w_is, argument_is.
    assert (A1 : kappa * (18 + 2 * (D + 9 * R)) <= 100001 / 100000 * u * (18 + 2 * (D + 9 * R))) by
      (apply Rmult_le_compat_r; lra).
    assert (A2 : 0 <= u * (D + 9 * R)) by (apply Rmult_le_pos; lra).
    assert (A3 : 0 <= u * (d2 + ln C)) by (apply Rmult_le_pos; lra).
    assert (A4 : 0 <= u * ln C) by (apply Rmult_le_pos; lra). lra. }
  assert (HB : 0 <= growth D R /\ 0 <= argument * ln C /\ 0 <= argument * d2).
  { unfold growth. repeat split; apply Rmult_le_pos; lra. }
  assert (HH : 0 <= eta l) by (unfold eta; fold C; lra).
  assert (HZ : 1 <= Z) by (apply exact_sum_1; auto).
  destruct (room_in_w (w2 d2)) as [V K]; [unfold beta in HW; fold C in HW; lra | lra |].
  apply gradient_within with q Q' ((w2 d2 - u) / (1 - (w2 d2 - u))); auto.
  { left. apply Rdiv_lt_0_compat; lra. }
  apply quotient_gradual with n (growth D R + argument * (d2 + ln C)); auto; unfold beta in *; fold C in HW; try lra.
Qed.

End Row.
