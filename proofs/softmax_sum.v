(* The sum of a row's exponentials, as any fp32 kernel of the softmax contract may compute it. The model is the standard
   one with underflow: a relative error for each operation, and where a result is below the normal numbers either an
   absolute one (gradual underflow) or a result of zero (flushing). The budgets are those of docs/contracts.md: 9/4 u of
   the distance for the argument of exp, 8 u for exp, u for an addition, and a rescaling
     by another maximum is an exp and
   a product. A kernel may add in any order, keep maxima of parts of the row, and rescale partial sums when a maximum
   grows; a factor that all exponentials of the row have in common cancels in the quotient and is left out here.
   Elements more than 104 below the row's maximum are far: their additions and rescalings are not counted in D and R,
   and are limited only by far_additions and far_rescalings, which no row of up to 2^23 elements with up to 2^13
   rescalings exceeds. Not proved here: plateaus, that is the smaller D for rows of equal elements. *)
From Coq Require Import Reals List Lra Lia.
From Flocq Require Import Core Plus_error.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants formats entropy.
Import ListNotations.
Open Scope R_scope.

(* Half a unit of the smallest numbers would do; and the smallest normal number. *)
Definition tiny := pow2 (-149).
Definition small := pow2 (-126).
Definition argument := dyadic_R TKI_SOFTMAX_PER_DISTANCE * u.
(* Relative errors as exponents: 1 - 8 u is not quite as large as exp(-8 u). *)
Definition kappa := u * (1 + 9 * u).

Definition far_distance := dyadic_R TKI_SOFTMAX_FAR.
Definition most_rescalings := dyadic_R TKI_SOFTMAX_RESCALINGS.
Definition far_additions := 8388608.
Definition far_rescalings := 8192.

Lemma argument_is : argument = 9 / 4 * u.
Proof. reflexivity. Qed.

Lemma far_distance_is : far_distance = 104.
Proof. reflexivity. Qed.

Lemma most_rescalings_is : most_rescalings = 32.
Proof. reflexivity. Qed.

Lemma small_by_tiny : small = 8388608 * tiny.
Proof. unfold small, tiny. change (-126)%Z with (23 + -149)%Z. rewrite bpow_plus. reflexivity. Qed.

Lemma tiny_positive : 0 < tiny.
Proof. apply bpow_gt_0. Qed.

Lemma tiny_value : tiny = / 713623846352979940529142984724747568191373312.
Proof. reflexivity. Qed.

Ltac by_values := unfold kappa, far_additions, far_rescalings in *;
  rewrite ?argument_is, ?far_distance_is, ?most_rescalings_is, ?small_by_tiny, ?u_value, ?tiny_value in *.

Lemma kappa_value : 0 < kappa /\ u < kappa /\ kappa <= 100001 / 100000 * u.
Proof. by_values. lra. Qed.

Lemma argument_value : 0 < argument < 1 / 1000000.
Proof. by_values. lra. Qed.

Lemma exp_monotone : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [H | ->]; [left; apply exp_increasing; auto | lra]. Qed.

Lemma exp_at_most_1 : forall x, x <= 0 -> exp x <= 1.
Proof. intros x H. rewrite <- exp_0. apply exp_monotone; auto. Qed.

Lemma exp_at_least_1 : forall x, 0 <= x -> 1 <= exp x.
Proof. intros x H. rewrite <- exp_0. apply exp_monotone; auto. Qed.

(* A relative error of k u, as an exponent. *)
Lemma relative_error : forall k eps, 0 <= k <= 8 -> Rabs eps <= k * u ->
  exp (- (k * kappa)) <= 1 + eps <= exp (k * kappa).
Proof.
  intros k eps K E. apply Rabs_le_inv in E. pose proof kappa_value as (P & L & _). pose proof u_positive as U.
  assert (k * u <= k * kappa) by (apply Rmult_le_compat_l; lra). split.
  - rewrite exp_Ropp. apply Rle_trans with (/ (1 + k * kappa)).
    + apply Rinv_le_contravar; [nra | apply tangent].
    + apply Rle_trans with (1 - k * u); [| lra]. apply Rmult_le_reg_r with (1 + k * kappa); [nra |].
      rewrite Rinv_l by nra. unfold kappa.
      assert (0 <= k * u * u * (9 - k * (1 + 9 * u))); [| nra].
      apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos |]; lra |]. rewrite u_value. lra.
  - eapply Rle_trans; [| apply tangent]. lra.
Qed.

Section Row.
Variable M : R.          (* the row's maximum *)
Variable flushes : bool. (* whether results below the normal numbers become zero *)

Definition far (x : R) : Prop := far_distance < M - x.

(* What an operation returns whose result, with its relative error, is v. *)
Definition lands (v c : R) : Prop :=
  0 <= c /\ if flushes then c = v \/ (c = 0 /\ v <= small) else Rabs (c - v) <= tiny.

(* A kernel's exp(-a). *)
Definition exp_within (a c : R) : Prop := exists tau eps,
  Rabs tau <= argument /\ Rabs eps <= 8 * u /\ lands (exp (- (a * (1 + tau))) * (1 + eps)) c.

(* A partial sum c after its maximum has grown by a. *)
Definition rescaled (a c c' : R) : Prop := exists f eps, exp_within a f /\ Rabs eps <= u /\ lands (c * f *
  (1 + eps)) c'.

(* A kernel's a + b for a, b >= 0: fp32 additions lose no more than either operand (rn32_adds). *)
Definition added (a b c : R) : Prop :=
  Rabs (c - (a + b)) <= u * (a + b) /\ Rabs (c - (a + b)) <= a /\ Rabs (c - (a + b)) <= b.

(* c is a partial sum of exp(x - m) over far elements x, with up to A additions and S rescalings of each. *)
Inductive far_sum : R -> list R -> R -> R -> R -> Prop :=
| far_exp : forall m x c, x <= m -> far x -> exp_within (m - x) c -> far_sum m [x] 0 0 c
| far_add : forall m l l' A S c c' s, far_sum m l A S c -> far_sum m l' A S c' -> added c c' s ->
    far_sum m (l ++ l') (A + 1) S s
| far_rescale : forall m m' l A S c c', m <= m' -> far_sum m l A S c -> rescaled (m' - m) c c' ->
    far_sum m' l A (S + 1) c'
| far_weaker : forall m l A S A' S' c, far_sum m l A S c -> A <= A' -> S <= S' -> far_sum m l A' S' c.

(* The same over elements of which some are not far, with up to D additions and R rescalings of each of those. *)
Inductive row_sum : R -> list R -> R -> R -> R -> Prop :=
| row_exp : forall m x c, x <= m -> ~ far x -> exp_within (m - x) c -> row_sum m [x] 0 0 c
| row_add : forall m l l' D R c c' s, row_sum m l D R c -> row_sum m l' D R c' -> added c c' s ->
    row_sum m (l ++ l') (D + 1) R s
| row_absorb : forall m l l' D R A S c c' s, row_sum m l D R c -> far_sum m l' A S c' -> added c c' s ->
    A <= far_additions -> S <= far_rescalings -> row_sum m (l ++ l') D R s
| row_rescale : forall m m' l D R c c', m <= m' -> row_sum m l D R c -> rescaled (m' - m) c c' ->
    row_sum m' l D (R + 1) c'
| row_weaker : forall m l D R D' R' c, row_sum m l D R c -> D <= D' -> R <= R' -> row_sum m l D' R' c.

Lemma lands_upper : forall v c, 0 <= v -> lands v c -> c <= v + tiny.
Proof.
  intros v c V [_ H]. pose proof tiny_positive. destruct flushes.
  - destruct H as [-> | [-> _]]; lra.
  - apply Rabs_le_inv in H. lra.
Qed.

Lemma exp_bounds : forall a c, 0 <= a -> exp_within a c -> exists e, lands e c /\
  exp (- ((1 + argument) * a)) * exp (- (8 * kappa)) <= e <= exp (- ((1 - argument) * a)) * exp (8 * kappa).
Proof.
  intros a c A (tau & eps & T & E & L). exists (exp (- (a * (1 + tau))) * (1 + eps)). split; auto.
  apply Rabs_le_inv in T. destruct (relative_error 8 eps) as [E1 E2]; auto; try lra.
  assert (exp (- ((1 + argument) * a)) <= exp (- (a * (1 + tau)))) by (apply exp_monotone; nra).
  assert (exp (- (a * (1 + tau))) <= exp (- ((1 - argument) * a))) by (apply exp_monotone; nra).
  pose proof (exp_pos (- (8 * kappa))). pose proof (exp_pos (- ((1 + argument) * a))).
  pose proof (exp_pos (- (a * (1 + tau)))). split; apply Rmult_le_compat; lra.
Qed.

Lemma rescaled_upper : forall a c c', 0 <= a -> 0 <= c -> rescaled a c c' ->
  0 <= c' <= c * (exp (- ((1 - argument) * a)) * exp (9 * kappa)) + (1 + 2 * c) * tiny.
Proof.
  intros a c c' A C (f & eps & F & E & L). split; [apply L |].
  destruct (exp_bounds a f A F) as (e & Le & Lo & Ue). pose proof (lands_upper e f) as Lf.
  destruct (relative_error 1 eps) as [E0 E1]; try lra. assert (E2 := E). apply Rabs_le_inv in E2.
  pose proof u_positive. pose proof u_below_1. pose proof tiny_positive. assert (0 <= f) by apply Le.
  pose proof (exp_pos (- ((1 + argument) * a))) as P1. pose proof (exp_pos (- (8 * kappa))) as P2.
  assert (P : 0 <= e) by nra. specialize (Lf P Le).
  replace (9 * kappa) with (8 * kappa + 1 * kappa) by ring. rewrite exp_plus.
  set (top := exp (- ((1 - argument) * a))) in *. set (g := exp (8 * kappa)) in *. set (h := exp (1 * kappa)) in *.
  apply lands_upper in L; [| apply Rmult_le_pos; [apply Rmult_le_pos |]; lra].
  assert (X : c * f * (1 + eps) <= c * (e + tiny) * (1 + eps)).
  { apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra. }
  assert (Y : c * e * (1 + eps) <= c * (top * g) * h).
  { apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra |]. apply Rmult_le_compat_l; lra. }
  assert (Q : c * tiny * (1 + eps) <= c * tiny * 2).
  { apply Rmult_le_compat_l; [apply Rmult_le_pos |]; lra. }
  lra.
Qed.

Lemma rescaled_lower : forall a c c', 0 <= a -> 0 <= c -> rescaled a c c' ->
  let f := exp (- ((1 + argument) * a)) in
  c * (f * exp (- (9 * kappa))) - (1 + 2 * c) * tiny <= c'
  \/ (c' = 0 /\ f * exp (- (8 * kappa)) <= small)
  \/ (c' = 0 /\ c * (f * exp (- (9 * kappa))) <= small).
Proof.
  intros a c c' A C (f' & eps & F & E & L) f.
  destruct (exp_bounds a f' A F) as (e & Le & Lo & _). fold f in Lo.
  destruct (relative_error 1 eps) as [E0 _]; try lra. assert (E2 := E). apply Rabs_le_inv in E2.
  pose proof u_positive. pose proof u_below_1. pose proof tiny_positive. pose proof (exp_pos (- (1 * kappa))) as P3.
  assert (P1 : 0 < f) by apply exp_pos. pose proof (exp_pos (- (8 * kappa))) as P2.
  assert (K : c * (f * exp (- (9 * kappa))) <= c * e * (1 + eps)).
  { replace (- (9 * kappa)) with (- (8 * kappa) + - (1 * kappa)) by ring. rewrite exp_plus.
    rewrite <- Rmult_assoc, <- Rmult_assoc, (Rmult_assoc c). apply Rmult_le_compat; try lra.
    - apply Rmult_le_pos; [| apply Rmult_le_pos]; lra.
    - apply Rmult_le_compat_l; lra. }
  unfold lands in *. destruct Le as [F0 Le]. destruct L as [C0 L]. destruct flushes.
  - destruct Le as [-> | [-> Le]].
    + destruct L as [-> | [-> L]]; [left; nra | right; right; split; lra].
    + right; left. split; [| lra]. destruct L as [-> | [-> _]]; ring.
  - left. apply Rabs_le_inv in L. apply Rabs_le_inv in Le.
    assert (c * (e - tiny) * (1 + eps) <= c * f' * (1 + eps)).
    { apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra. }
    assert (c * tiny * (1 + eps) <= c * tiny * 2) by (apply Rmult_le_compat_l; [apply Rmult_le_pos |]; lra). lra.
Qed.

(* Upper and lower sums: every argument too small, or too large, by its whole budget. *)
Definition term_above (m x : R) := exp (- ((1 - argument) * (m - x))).
Definition term_below (m x : R) := exp (- ((1 + argument) * (m - x))).
Definition growth (D R : R) := kappa * (8 + D + 9 * R).

Lemma far_levels : forall m l A S c, far_sum m l A S c -> 0 <= A /\ 0 <= S /\ 1 <= size l /\
  forall x, In x l -> x <= m /\ far x.
Proof.
  induction 1 as [m x c X F E | m l l' A S c c' s _ I1 _ I2 _ | m m' l A S c c' X _ I _ | m l A S A' S' c _ I X Y].
  - rewrite size_cons, size_nil. repeat apply conj; try lra. intros y [<- | []]. auto.
  - rewrite size_app. repeat apply conj; try lra. intros y Y. apply in_app_or in Y.
    destruct Y; [apply I1 | apply I2]; auto.
  - repeat apply conj; try lra. intros y Y. destruct I as (_ & _ & _ & I). destruct (I y Y). split; [lra | auto].
  - repeat apply conj; try lra. apply I.
Qed.

Lemma row_levels : forall m l D R c, row_sum m l D R c -> 0 <= D /\ 0 <= R /\ 1 <= size l /\
  forall x, In x l -> x <= m.
Proof.
  induction 1 as [m x c X F E | m l l' D R c c' s _ I1 _ I2 _ | m l l' D R A S c c' s _ I1 F _ _ _
                 | m m' l D R c c' X _ I _ | m l D R D' R' c _ I X Y].
  - rewrite size_cons, size_nil. repeat apply conj; try lra. intros y [<- | []]. auto.
  - rewrite size_app. repeat apply conj; try lra. intros x H. apply in_app_or in H.
    destruct H; [apply I1 | apply I2]; auto.
  - apply far_levels in F. rewrite size_app. repeat apply conj; try lra. intros x H. apply in_app_or in H.
    destruct H; [apply I1 | apply F]; auto.
  - repeat apply conj; try lra. intros x H. assert (x <= m) by (apply I; auto). lra.
  - repeat apply conj; try lra. apply I.
Qed.

Lemma added_nonnegative : forall a b c, 0 <= a -> 0 <= b -> added a b c -> 0 <= c.
Proof. intros a b c A B (_ & H & _). apply Rabs_le_inv in H. lra. Qed.

Lemma term_above_1 : forall m x, x <= m -> 0 < term_above m x <= 1.
Proof.
  intros m x H. split; [apply exp_pos | apply exp_at_most_1]. pose proof argument_value. nra.
Qed.

Lemma term_above_rescaled : forall m m' x, term_above m' x = exp (- ((1 - argument) * (m' - m))) * term_above m x.
Proof. intros m m' x. unfold term_above. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma term_below_rescaled : forall m m' x, term_below m' x = exp (- ((1 + argument) * (m' - m))) * term_below m x.
Proof. intros m m' x. unfold term_below. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma growth_add : forall D R, exp (growth (D + 1) R) = exp (growth D R) * exp (1 * kappa).
Proof. intros D R. unfold growth. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma growth_rescale : forall D R, exp (growth D (R + 1)) = exp (growth D R) * exp (9 * kappa).
Proof. intros D R. unfold growth. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma growth_monotone : forall D R D' R', D <= D' -> R <= R' -> growth D R <= growth D' R'.
Proof. intros D R D' R' H K. unfold growth. destruct kappa_value. apply Rmult_le_compat_l; lra. Qed.

Lemma growth_1 : forall D R, 0 <= D -> 0 <= R -> 1 <= exp (growth D R).
Proof. intros D R H K. apply exp_at_least_1. unfold growth. destruct kappa_value. apply Rmult_le_pos; lra. Qed.

Lemma added_upper : forall a b c X Y E, 0 <= a -> 0 <= b -> added a b c -> a <= E * X -> b <= E * Y ->
  c <= E * exp (1 * kappa) * (X + Y).
Proof.
  intros a b c X Y E A B (H & _ & _) HX HY. apply Rabs_le_inv in H.
  destruct (relative_error 1 u) as [_ K]; [lra | rewrite Rabs_pos_eq; pose proof u_positive; lra |].
  pose proof u_positive.
  assert ((1 + u) * (a + b) <= exp (1 * kappa) * (E * X + E * Y)) by (apply Rmult_le_compat; lra).
  lra.
Qed.

(* Far sums grow by at most this factor; twice of it is below 7/2. *)
Lemma far_growth : forall A S, A <= far_additions -> S <= far_rescalings -> exp (growth A S) <= 7 / 4.
Proof.
  intros A S HA HS. apply Rle_trans with (exp (11 / 20)); [apply exp_monotone | interval].
  eapply Rle_trans; [apply growth_monotone; eassumption |]. unfold growth. by_values. lra.
Qed.

Lemma far_upper : forall m l A S c, far_sum m l A S c -> A <= far_additions -> S <= far_rescalings ->
  0 <= c <= exp (growth A S) * (sum (term_above m) l + size l * ((S + 1) * (5 * tiny))).
Proof.
  intros m l A S c H. pose proof tiny_positive as T. destruct kappa_value as (K0 & _ & _). induction H as
    [m x c X F E | m l l' A S c c' s F1 I1 F2 I2 H | m m' l A S c c' X F I H | m l A S A' S' c F I X Y]; intros HA HS.
  - split; [destruct E as (? & ? & _ & _ & E); apply E |].
    destruct (exp_bounds (m - x) c) as (e & L & Lo & U); [lra | auto |].
    assert (0 <= e) by (pose proof (exp_pos (- ((1 + argument) * (m - x)))); pose proof (exp_pos (- (8 * kappa))); nra).
    apply lands_upper in L; auto. rewrite size_cons, size_nil. simpl. unfold term_above.
    pose proof (growth_1 0 0 (Rle_refl 0) (Rle_refl 0)) as G. unfold growth in *.
    replace (kappa * (8 + 0 + 9 * 0)) with (8 * kappa) in * by ring. nra.
  - destruct I1 as [C1 U1]; try lra. destruct I2 as [C2 U2]; try lra.
    split; [eapply added_nonnegative; [| | exact H]; lra |]. rewrite growth_add, sum_app, size_app.
    eapply Rle_trans; [eapply added_upper; [| | exact H | exact U1 | exact U2]; lra |]. apply Req_le. ring.
  - destruct I as [C U]; try lra. destruct (far_levels _ _ _ _ _ F) as (PA & PS & N & L).
    destruct (rescaled_upper (m' - m) c c') as [C' U']; try lra; auto. split; auto.
    rewrite (sum_ext (term_above m') (fun x => exp (- ((1 - argument) * (m' - m))) * term_above m x)), sum_scale
      by (intros; apply term_above_rescaled).
    rewrite growth_rescale. set (f := exp (- ((1 - argument) * (m' - m)))) in *.
    assert (f <= 1) by (apply exp_at_most_1; pose proof argument_value; nra). assert (0 < f) by apply exp_pos.
    pose proof (growth_1 A S PA PS) as G1. assert (G2 : exp (growth A S) <= 7 / 4) by (apply far_growth; lra).
    assert (K1 : 1 <= exp (9 * kappa)) by (apply exp_at_least_1; lra).
    assert (HS1 : sum (term_above m) l <= size l).
    { rewrite <- (Rmult_1_l (size l)), <- sum_const. apply sum_le. intros x Hx. apply term_above_1. apply L; auto. }
    assert (P0 : 0 <= sum (term_above m) l) by (apply sum_nonnegative; intros; left; apply exp_pos).
    assert (B0 : (S + 1) * (5 * tiny) <= 1 / 100). { by_values. lra. }
    set (E := exp (growth A S)) in *. set (Y := sum (term_above m) l) in *. set (n := size l) in *.
    set (g := exp (9 * kappa)) in *. set (b := (S + 1) * (5 * tiny)) in *.
    assert (Pb : 0 <= b) by (unfold b; apply Rmult_le_pos; lra).
    assert (Cn : c <= 7 / 4 * (n + n * (1 / 100))).
    { eapply Rle_trans; [exact U |]. assert (0 <= n * b <= n * (1 / 100)) by nra.
      apply Rmult_le_compat; lra. }
    assert (Peg : 1 <= E * g) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra).
    assert (Pnb : 0 <= n * b) by (apply Rmult_le_pos; lra). assert (Pfg : 0 <= f * g) by (apply Rmult_le_pos; lra).
    assert (X1 : c * (f * g) <= E * g * (f * Y + n * b)).
    { apply Rle_trans with (E * (Y + n * b) * (f * g)); [apply Rmult_le_compat_r; lra |].
      assert (f * (n * b) <= 1 * (n * b)) by (apply Rmult_le_compat_r; lra).
      assert (E * g * (f * (n * b)) <= E * g * (n * b)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (X2 : (1 + 2 * c) * tiny <= n * (5 * tiny)).
    { replace (n * (5 * tiny)) with (5 * n * tiny) by ring. apply Rmult_le_compat_r; lra. }
    assert (Pn5 : 0 <= n * (5 * tiny)) by (apply Rmult_le_pos; lra).
    assert (X3 : 1 * (n * (5 * tiny)) <= E * g * (n * (5 * tiny))) by (apply Rmult_le_compat_r; lra).
    replace ((S + 1 + 1) * (5 * tiny)) with (b + 5 * tiny) by (unfold b; ring). lra.
  - destruct I as [C U]; try lra. split; auto. eapply Rle_trans; [exact U |].
    destruct (far_levels _ _ _ _ _ F) as (PA & PS & N & L).
    assert (0 <= sum (term_above m) l) by (apply sum_nonnegative; intros; left; apply exp_pos).
    apply Rmult_le_compat; [left; apply exp_pos | | apply exp_monotone; apply growth_monotone; auto |].
    + assert (0 <= (S + 1) * (5 * tiny)) by (apply Rmult_le_pos; lra). nra.
    + apply Rplus_le_compat_l. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_r; lra.
Qed.

End Row.
