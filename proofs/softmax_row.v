(* How far the sum of a row's exponentials, computed as softmax_sum.v has it, is from the exact one. Relative errors are
   kept as exponents, so that there are no terms of higher order: e to the minus beta times Z, less eta, is the least,
   e to the beta times Z, plus eta, the most. *)
From Coq Require Import Reals List Lra.
From Flocq Require Import Core Plus_error.
From Interval Require Import Tactic.
From Tokitai Require Import formats entropy softmax_sum.
Import ListNotations.
Open Scope R_scope.

Section Row.
Variable M : R.
Variable flushes : bool.
Notation row_sum := (row_sum M flushes).

(* 1 for elements that are not far; far ones are weighted by what their sums may grow. *)
Definition near_weight (x : R) : R := if Rle_dec (M - x) far_distance then 1 else 0.
Definition far_weight (x : R) : R := if Rle_dec (M - x) far_distance then 1 else 7 / 2.
Definition above (m x : R) : R := far_weight x * term_above m x.
Definition below (m x : R) : R := near_weight x * term_below m x.
Definition near_count (l : list R) : R := sum near_weight l.

(* Absolute errors for each element: of absorbed far sums, and of each rescaling. *)
Definition absorbed := 262144 * tiny.
Definition unit_loss := 14 * tiny.

Lemma weights_near : forall x, ~ far M x -> near_weight x = 1 /\ far_weight x = 1.
Proof. intros x H. unfold near_weight, far_weight, far in *. destruct (Rle_dec (M - x) far_distance); lra. Qed.

Lemma weights_far : forall x, far M x -> near_weight x = 0 /\ far_weight x = 7 / 2.
Proof. intros x H. unfold near_weight, far_weight, far in *. destruct (Rle_dec (M - x) far_distance); lra. Qed.

Lemma weights : forall x, 0 <= near_weight x <= 1 /\ 1 <= far_weight x <= 7 / 2.
Proof. intros x. unfold near_weight, far_weight. destruct (Rle_dec (M - x) far_distance); lra. Qed.

Lemma near_count_bounds : forall l, 0 <= near_count l <= size l.
Proof.
  intros l. unfold near_count. split; [apply sum_nonnegative; intros; apply weights |].
  rewrite <- (Rmult_1_l (size l)), <- sum_const. apply sum_le. intros; apply weights.
Qed.

Lemma above_bounds : forall m l, (forall x, In x l -> x <= m) -> 0 <= sum (above m) l <= 7 / 2 * size l.
Proof.
  intros m l H. split.
  - apply sum_nonnegative. intros x X. unfold above. pose proof (weights x). pose proof (term_above_1 m x (H x X)).
    apply Rmult_le_pos; lra.
  - rewrite <- sum_const. apply sum_le. intros x X. unfold above. pose proof (weights x).
    pose proof (term_above_1 m x (H x X)). nra.
Qed.

Lemma term_below_1 : forall m x, x <= m -> 0 < term_below m x <= 1.
Proof. intros m x H. split; [apply exp_pos | apply exp_at_most_1]. pose proof argument_value. nra. Qed.

Lemma below_bounds : forall m l, (forall x, In x l -> x <= m) -> 0 <= sum (below m) l <= near_count l.
Proof.
  intros m l H. split.
  - apply sum_nonnegative. intros x X. unfold below. pose proof (weights x). pose proof (term_below_1 m x (H x X)).
    apply Rmult_le_pos; lra.
  - apply sum_le. intros x X. unfold below. pose proof (weights x). pose proof (term_below_1 m x (H x X)). nra.
Qed.

Lemma growth_limit : forall D R, growth D R <= 1 / 2 -> exp (growth D R) <= 33 / 20.
Proof. intros D R H. apply Rle_trans with (exp (1 / 2)); [apply exp_monotone; auto | interval]. Qed.

Lemma sum_limit : forall m l D R c, row_sum m l D R c -> growth D R <= 1 / 2 -> R <= most_rescalings ->
  c <= exp (growth D R) * (sum (above m) l + size l * (absorbed + R * unit_loss)) -> c <= 6 * size l.
Proof.
  intros m l D R c S G HR H. destruct (row_levels _ _ _ _ _ _ _ S) as (PD & PR & N & L).
  pose proof (above_bounds m l L) as [A0 A1]. pose proof (growth_limit D R G) as G1.
  assert (B : 0 <= absorbed + R * unit_loss <= 1 / 100).
  { unfold absorbed, unit_loss. pose proof tiny_positive.
    assert (0 <= R * (14 * tiny) <= 32 * (14 * tiny)).
    { rewrite most_rescalings_is in *. split; [apply Rmult_le_pos | apply Rmult_le_compat_r]; lra. }
    rewrite tiny_value in *. lra. }
  assert (0 <= size l * (absorbed + R * unit_loss) <= size l * (1 / 100)).
  { split; [apply Rmult_le_pos | apply Rmult_le_compat_l]; lra. }
  eapply Rle_trans; [exact H |]. apply Rle_trans with (33 / 20 * (7 / 2 * size l + size l * (1 / 100))); [| lra].
  apply Rmult_le_compat; try lra. left; apply exp_pos.
Qed.

(* One rescaling's absolute error. *)
Lemma rescaling_loss : forall n c, 1 <= n -> c <= 6 * n -> (1 + 2 * c) * tiny <= n * unit_loss.
Proof.
  intros n c N C. unfold unit_loss. pose proof tiny_positive.
  replace (n * (14 * tiny)) with (14 * n * tiny) by ring. apply Rmult_le_compat_r; lra.
Qed.

Lemma row_upper : forall m l D R c, row_sum m l D R c -> growth D R <= 1 / 2 -> R <= most_rescalings ->
  0 <= c <= exp (growth D R) * (sum (above m) l + size l * (absorbed + R * unit_loss)).
Proof.
  intros m l D R c H. pose proof tiny_positive as T. destruct kappa_value as (K0 & _ & _). induction H as
    [m x c X F E | m l l' D R c c' s F1 I1 F2 I2 H | m l l' D R A S c c' s F1 I1 F2 H HA HS
    | m m' l D R c c' X F I H | m l D R D' R' c F I X Y]; intros HG HR.
  - split; [destruct E as (? & ? & _ & _ & E); apply E |].
    destruct (exp_bounds flushes (m - x) c) as (e & L & Lo & U); [lra | auto |].
    assert (0 <= e) by (pose proof (exp_pos (- ((1 + argument) * (m - x)))); pose proof (exp_pos (- (8 * kappa))); nra).
    apply lands_upper in L; auto. rewrite size_cons, size_nil. simpl. unfold above, term_above.
    rewrite (proj2 (weights_near x F)).
    pose proof (growth_1 0 0 (Rle_refl 0) (Rle_refl 0)) as G. unfold growth, absorbed in *.
    replace (kappa * (8 + 0 + 9 * 0)) with (8 * kappa) in * by ring. nra.
  - assert (G' : growth D R <= growth (D + 1) R) by (apply growth_monotone; lra).
    destruct I1 as [C1 U1]; try lra. destruct I2 as [C2 U2]; try lra.
    split; [eapply added_nonnegative; [| | exact H]; lra |]. rewrite growth_add, sum_app, size_app.
    eapply Rle_trans; [eapply added_upper; [| | exact H | exact U1 | exact U2]; lra |]. apply Req_le. ring.
  - destruct I1 as [C1 U1]; try lra. destruct (far_upper M flushes m l' A S c' F2 HA HS) as [C2 U2].
    split; [eapply added_nonnegative; [| | exact H]; lra |].
    destruct (far_levels _ _ _ _ _ _ _ F2) as (PA & PS & N' & L').
    destruct (row_levels _ _ _ _ _ _ _ F1) as (PD & PR & N & L).
    assert (G3 : exp (growth A S) <= 7 / 4) by (apply far_growth; auto).
    pose proof (growth_1 D R PD PR) as G1. rewrite sum_app, size_app.
    assert (EQ : sum (above m) l' = 7 / 2 * sum (term_above m) l').
    { rewrite <- sum_scale. apply sum_ext. intros x Hx. unfold above. rewrite (proj2 (weights_far x (proj2 (L' x Hx)))).
      reflexivity. }
    rewrite EQ. assert (P0 : 0 <= sum (term_above m) l') by (apply sum_nonnegative; intros; left; apply exp_pos).
    destruct H as (_ & _ & H). apply Rabs_le_inv in H.
    set (E := exp (growth D R)) in *. set (Y := sum (above m) l) in *. set (Y' := sum (term_above m) l') in *.
    set (n := size l) in *. set (n' := size l') in *.
    assert (B : (S + 1) * (5 * tiny) * (7 / 2) <= absorbed). { unfold absorbed, far_rescalings in *. nra. }
    assert (Pb : 0 <= (S + 1) * (5 * tiny)) by (apply Rmult_le_pos; lra).
    assert (Pn : 0 <= n' * ((S + 1) * (5 * tiny))) by (apply Rmult_le_pos; lra).
    assert (Q : c' <= 7 / 4 * (Y' + n' * ((S + 1) * (5 * tiny)))).
    { eapply Rle_trans; [exact U2 |]. apply Rmult_le_compat_r; lra. }
    assert (Q2 : 2 * c' <= 7 / 2 * Y' + n' * absorbed).
    { assert (n' * ((S + 1) * (5 * tiny) * (7 / 2)) <= n' * absorbed) by (apply Rmult_le_compat_l; lra). lra. }
    assert (PR' : 0 <= R * unit_loss) by (unfold unit_loss; apply Rmult_le_pos; lra).
    assert (Q3 : 0 <= n' * (R * unit_loss)) by (apply Rmult_le_pos; lra).
    set (W := 7 / 2 * Y' + n' * (absorbed + R * unit_loss)).
    assert (Q4 : 1 * W <= E * W).
    { apply Rmult_le_compat_r; [| lra]. unfold W, absorbed in *. nra. }
    unfold W in Q4. lra.
  - assert (G' : growth D R <= growth D (R + 1)) by (apply growth_monotone; lra).
    destruct I as [C U]; try lra. destruct (row_levels _ _ _ _ _ _ _ F) as (PD & PR & N & L).
    assert (Cn : c <= 6 * size l) by (apply (sum_limit m l D R); auto; lra).
    destruct (rescaled_upper flushes (m' - m) c c') as [C' U']; try lra; auto. split; auto.
    rewrite (sum_ext (above m') (fun x => exp (- ((1 - argument) * (m' - m))) * above m x)), sum_scale
      by (intros; unfold above; rewrite (term_above_rescaled m m'); ring).
    rewrite growth_rescale. set (f := exp (- ((1 - argument) * (m' - m)))) in *.
    assert (f <= 1) by (apply exp_at_most_1; pose proof argument_value; nra). assert (0 < f) by apply exp_pos.
    pose proof (growth_1 D R PD PR) as G1. assert (K1 : 1 <= exp (9 * kappa)) by (apply exp_at_least_1; lra).
    pose proof (rescaling_loss (size l) c N Cn) as X2. destruct (above_bounds m l L) as [P0 _].
    set (E := exp (growth D R)) in *. set (Y := sum (above m) l) in *. set (n := size l) in *.
    set (g := exp (9 * kappa)) in *. set (b := absorbed + R * unit_loss) in *.
    assert (PU : 0 <= unit_loss) by (unfold unit_loss; lra).
    assert (Pb : 0 <= b) by (unfold b, absorbed; pose proof (Rmult_le_pos R unit_loss); lra).
    assert (Peg : 1 <= E * g) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra).
    assert (Pnb : 0 <= n * b) by (apply Rmult_le_pos; lra). assert (Pfg : 0 <= f * g) by (apply Rmult_le_pos; lra).
    assert (X1 : c * (f * g) <= E * g * (f * Y + n * b)).
    { apply Rle_trans with (E * (Y + n * b) * (f * g)); [apply Rmult_le_compat_r; lra |].
      assert (f * (n * b) <= 1 * (n * b)) by (apply Rmult_le_compat_r; lra).
      assert (E * g * (f * (n * b)) <= E * g * (n * b)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (Pn5 : 0 <= n * unit_loss) by (apply Rmult_le_pos; lra).
    assert (X3 : 1 * (n * unit_loss) <= E * g * (n * unit_loss)) by (apply Rmult_le_compat_r; lra).
    replace (absorbed + (R + 1) * unit_loss) with (b + unit_loss) by (unfold b; ring). lra.
  - assert (G' : growth D R <= growth D' R') by (apply growth_monotone; lra).
    destruct I as [C U]; try lra. split; auto. eapply Rle_trans; [exact U |].
    destruct (row_levels _ _ _ _ _ _ _ F) as (PD & PR & N & L). destruct (above_bounds m l L) as [P0 _].
    assert (PU : 0 <= unit_loss) by (unfold unit_loss; lra).
    assert (0 <= R * unit_loss <= R' * unit_loss) by (split; [apply Rmult_le_pos | apply Rmult_le_compat_r]; lra).
    assert (0 < absorbed) by (unfold absorbed; lra).
    apply Rmult_le_compat; [left; apply exp_pos | | apply exp_monotone; auto |].
    + assert (0 <= size l * (absorbed + R * unit_loss)) by (apply Rmult_le_pos; lra). lra.
    + apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra.
Qed.

(* How an element can be lost by flushing: once, alone or with its partial sum. So either k of the elements that are not
   far were lost, and not all of them, or what the sum should have is no more than what they all may lose. *)
Definition bounded_below (m : R) (l : list R) (D R c : R) : Prop :=
  let least := exp (- growth D R) * sum (below m) l in
  (exists k, 0 <= k <= near_count l - 1 /\ least - (k * small + size l * ((R + 1) * unit_loss)) <= c)
  \/ least <= near_count l * small + size l * ((R + 1) * unit_loss).

Lemma fall_add : forall D R, exp (- growth (D + 1) R) = exp (- growth D R) * exp (- (1 * kappa)).
Proof. intros D R. unfold growth. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma fall_rescale : forall D R, exp (- growth D (R + 1)) = exp (- growth D R) * exp (- (9 * kappa)).
Proof. intros D R. unfold growth. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma fall_1 : forall D R, 0 <= D -> 0 <= R -> 0 < exp (- growth D R) <= exp (- (8 * kappa)).
Proof.
  intros D R H K. split; [apply exp_pos | apply exp_monotone]. unfold growth. destruct kappa_value as (P & _ & _). nra.
Qed.

Lemma row_lower : forall m l D R c, row_sum m l D R c -> growth D R <= 1 / 2 -> R <= most_rescalings ->
  bounded_below m l D R c.
Proof.
  intros m l D R c H. pose proof tiny_positive as T. destruct kappa_value as (K0 & _ & _).
  assert (PU : 0 < unit_loss) by (unfold unit_loss; lra). assert (PS : 0 < small) by apply bpow_gt_0.
  assert (PK : 0 < exp (- (1 * kappa)) <= 1) by (split; [apply exp_pos | apply exp_at_most_1; lra]).
  induction H as
    [m x c X F E | m l l' D R c c' s F1 I1 F2 I2 H | m l l' D R A S c c' s F1 I1 F2 H HA HS
    | m m' l D R c c' X F I H | m l D R D' R' c F I X Y]; intros HG HR.
  - destruct (exp_bounds flushes (m - x) c) as (e & L & Lo & _); [lra | auto |].
    unfold bounded_below. unfold near_count. rewrite size_cons, size_nil. simpl.
    unfold below. rewrite (proj1 (weights_near x F)). unfold term_below, growth.
    replace (- (kappa * (8 + 0 + 9 * 0))) with (- (8 * kappa)) by ring.
    set (t := exp (- ((1 + argument) * (m - x)))) in *. set (g := exp (- (8 * kappa))) in *.
    unfold lands in L. destruct L as [C L]. destruct flushes.
    + destruct L as [-> | [-> L]]; [left; exists 0 | right]; lra.
    + left. exists 0. apply Rabs_le_inv in L. unfold unit_loss. lra.
  - assert (G' : growth D R <= growth (D + 1) R) by (apply growth_monotone; lra).
    assert (U1 : 0 <= c) by (apply (row_upper m l D R c F1); lra).
    assert (U2 : 0 <= c') by (apply (row_upper m l' D R c' F2); lra).
    specialize (I1 ltac:(lra) HR). specialize (I2 ltac:(lra) HR).
    destruct (row_levels _ _ _ _ _ _ _ F1) as (PD & PR & N & L).
    destruct (row_levels _ _ _ _ _ _ _ F2) as (_ & _ & N' & L').
    destruct (below_bounds m l L) as [B0 _]. destruct (below_bounds m l' L') as [B0' _].
    pose proof (near_count_bounds l) as [NC _]. pose proof (near_count_bounds l') as [NC' _].
    unfold bounded_below in *. rewrite fall_add, size_app, sum_app. unfold near_count in *. rewrite sum_app.
    destruct H as (H & _ & _). apply Rabs_le_inv in H.
    destruct (relative_error 1 (- u)) as [K _]; [lra | rewrite Rabs_Ropp, Rabs_pos_eq; pose proof u_positive; lra |].
    assert (S1 : exp (- (1 * kappa)) * (c + c') <= s).
    { apply Rle_trans with ((1 - u) * (c + c')); [apply Rmult_le_compat_r; lra | lra]. }
    set (E := exp (- growth D R)) in *. set (h := exp (- (1 * kappa))) in *.
    set (Y := sum (below m) l) in *. set (Y' := sum (below m) l') in *.
    set (b := (R + 1) * unit_loss) in *. set (n := size l) in *. set (n' := size l') in *.
    set (j := sum near_weight l) in *. set (j' := sum near_weight l') in *.
    assert (Pb : 0 <= b) by (unfold b; apply Rmult_le_pos; lra).
    assert (Pn : 0 <= n * b) by (apply Rmult_le_pos; lra). assert (Pn' : 0 <= n' * b) by (apply Rmult_le_pos; lra).
    (* What is lost of a sum is not more after the factor h. *)
    assert (shrink : forall y loss sum, y - loss <= sum -> 0 <= loss -> h * y - loss <= h * sum).
    { intros y loss sum H1 H2. assert (h * (y - loss) <= h * sum) by (apply Rmult_le_compat_l; lra).
      assert (h * loss <= 1 * loss) by (apply Rmult_le_compat_r; lra). lra. }
    assert (Pj : 0 <= j * small) by (apply Rmult_le_pos; lra).
    assert (Pj' : 0 <= j' * small) by (apply Rmult_le_pos; lra).
    destruct I1 as [(k & Hk & I1) | I1]; destruct I2 as [(k' & Hk' & I2) | I2].
    + left. exists (k + k'). split; [lra |]. assert (0 <= k * small) by (apply Rmult_le_pos; lra).
      assert (0 <= k' * small) by (apply Rmult_le_pos; lra).
      pose proof (shrink _ _ _ I1). pose proof (shrink _ _ _ I2). lra.
    + left. exists (k + j'). split; [lra |]. assert (0 <= k * small) by (apply Rmult_le_pos; lra).
      pose proof (shrink _ _ _ I1). pose proof (shrink (E * Y') (j' * small + n' * b) c'). lra.
    + left. exists (j + k'). split; [lra |]. assert (0 <= k' * small) by (apply Rmult_le_pos; lra).
      pose proof (shrink _ _ _ I2). pose proof (shrink (E * Y) (j * small + n * b) c). lra.
    + right. pose proof (shrink (E * Y') (j' * small + n' * b) 0). pose proof (shrink (E * Y) (j * small + n * b) 0).
      lra.
  - specialize (I1 HG HR). destruct (row_levels _ _ _ _ _ _ _ F1) as (PD & PR & N & L).
    destruct (far_levels _ _ _ _ _ _ _ F2) as (_ & _ & N' & L'). destruct H as (_ & _ & H). apply Rabs_le_inv in H.
    assert (Z1 : sum (below m) l' = 0).
    { rewrite (sum_ext _ (fun _ => 0)), sum_const; [ring |]. intros x Hx. unfold below.
      rewrite (proj1 (weights_far x (proj2 (L' x Hx)))). ring. }
    assert (Z2 : sum near_weight l' = 0).
    { rewrite (sum_ext _ (fun _ => 0)), sum_const; [ring |]. intros x Hx. apply weights_far. apply L'. auto. }
    unfold bounded_below, near_count in *. rewrite size_app, !sum_app, Z1, Z2, !Rplus_0_r.
    assert (0 <= size l' * ((R + 1) * unit_loss)) by (apply Rmult_le_pos; [| apply Rmult_le_pos]; lra).
    destruct I1 as [(k & Hk & I1) | I1]; [left; exists k | right]; lra.
  - assert (G' : growth D R <= growth D (R + 1)) by (apply growth_monotone; lra).
    destruct (row_upper m l D R c F) as [C U]; try lra. destruct (row_levels _ _ _ _ _ _ _ F) as (PD & PR & N & L).
    assert (Cn : c <= 6 * size l) by (apply (sum_limit m l D R); auto; lra).
    pose proof (rescaling_loss (size l) c N Cn) as X2. destruct (below_bounds m l L) as [B0 B1].
    pose proof (near_count_bounds l) as [NC _]. specialize (I ltac:(lra) ltac:(lra)).
    assert (C' : 0 <= c') by (apply (rescaled_upper flushes (m' - m) c c'); auto; lra).
    pose proof (rescaled_lower flushes (m' - m) c c' ltac:(lra) C H) as Q. cbv zeta in Q.
    unfold bounded_below in *.
    rewrite (sum_ext (below m') (fun x => exp (- ((1 + argument) * (m' - m))) * below m x)), sum_scale
      by (intros; unfold below; rewrite (term_below_rescaled m m'); ring).
    rewrite fall_rescale. pose proof (fall_1 D R PD PR) as FL.
    set (f := exp (- ((1 + argument) * (m' - m)))) in *.
    assert (f <= 1) by (apply exp_at_most_1; pose proof argument_value; nra). assert (0 < f) by apply exp_pos.
    assert (PG : 0 < exp (- (9 * kappa)) <= 1) by (split; [apply exp_pos | apply exp_at_most_1; lra]).
    assert (P8 : 0 < exp (- (8 * kappa))) by apply exp_pos.
    set (E := exp (- growth D R)) in *. set (g := exp (- (9 * kappa))) in *. set (g8 := exp (- (8 * kappa))) in *.
    set (Y := sum (below m) l) in *. set (b := (R + 1) * unit_loss) in *. set (n := size l) in *.
    set (j := near_count l) in *.
    replace ((R + 1 + 1) * unit_loss) with (b + unit_loss) by (unfold b; ring).
    assert (Pb : 0 <= b) by (unfold b; apply Rmult_le_pos; lra).
    assert (Pn : 0 <= n * b) by (apply Rmult_le_pos; lra).
    assert (Pn5 : 0 <= n * unit_loss) by (apply Rmult_le_pos; lra).
    assert (Pj : 0 <= j * small) by (apply Rmult_le_pos; lra).
    assert (Pfg : 0 <= f * g <= 1) by (split; [apply Rmult_le_pos; lra | rewrite <- (Rmult_1_l 1);
      apply Rmult_le_compat; lra]).
    replace (E * g * (f * Y)) with (f * g * (E * Y)) by ring.
    assert (shrink : forall y loss sum, y - loss <= sum -> 0 <= loss -> f * g * y - loss <= f * g * sum).
    { intros y loss sum Q1 Q2. assert (f * g * (y - loss) <= f * g * sum) by (apply Rmult_le_compat_l; lra).
      assert (f * g * loss <= 1 * loss) by (apply Rmult_le_compat_r; lra). lra. }
    destruct I as [(k & Hk & I) | I].
    + assert (Pk : 0 <= k * small) by (apply Rmult_le_pos; lra). pose proof (shrink _ _ _ I) as W.
      destruct Q as [Q | [[-> Q] | [-> Q]]].
      * left. exists k. split; [lra |]. lra.
      * right. assert (E * Y <= g8 * j) by (apply Rmult_le_compat; lra).
        assert (g * (E * Y) <= 1 * (g8 * j)) by (apply Rmult_le_compat; try lra; apply Rmult_le_pos; lra).
        assert (f * (g * (E * Y)) <= f * (1 * (g8 * j))) by (apply Rmult_le_compat_l; lra).
        assert (f * g8 * j <= small * j) by (apply Rmult_le_compat_r; lra). lra.
      * right. assert ((k + 1) * small <= j * small) by (apply Rmult_le_compat_r; lra). lra.
    + right. pose proof (shrink (E * Y) (j * small + n * b) 0) as W. lra.
  - assert (G' : growth D R <= growth D' R') by (apply growth_monotone; lra).
    specialize (I ltac:(lra) ltac:(lra)). destruct (row_levels _ _ _ _ _ _ _ F) as (PD & PR & N & L).
    destruct (below_bounds m l L) as [B0 _]. unfold bounded_below in *.
    assert (exp (- growth D' R') * sum (below m) l <= exp (- growth D R) * sum (below m) l).
    { apply Rmult_le_compat_r; auto. apply exp_monotone. lra. }
    assert (size l * ((R + 1) * unit_loss) <= size l * ((R' + 1) * unit_loss)).
    { apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_r; lra. }
    destruct I as [(k & Hk & I) | I]; [left; exists k | right]; lra.
Qed.

(* The exact sum, and how far the computed one may be from it. *)
Definition exact_sum (l : list R) : R := sum (fun x => exp (- (M - x))) l.
Definition beta (l : list R) (D R : R) := growth D R + argument * ln (size l).
Definition eta (l : list R) : R := 100006 / 100000 * (size l * small).

Lemma far_term : forall t x, 0 <= t <= argument -> far M x -> exp (- ((1 - t) * (M - x))) <= tiny.
Proof.
  intros t x Ht F. unfold far in F. rewrite far_distance_is in F. pose proof argument_value as A.
  apply Rle_trans with (exp (- (104 * (1 - 1 / 1000000)))); [apply exp_monotone; nra |]. rewrite tiny_value. interval.
Qed.

Lemma ln_spread : forall l, In M l -> 1 <= exact_sum l ->
  let d := map (fun x => M - x) l in d <> [] /\ total d = exact_sum l /\ ln (spread d) <= ln (size l).
Proof.
  intros l H Z d. assert (E : total d = exact_sum l).
  { unfold total, d, exact_sum. rewrite sum_map. reflexivity. }
  assert (N : d <> []). { unfold d. destruct l; [destruct H | discriminate]. }
  repeat split; auto. pose proof (spread_positive d N) as P. unfold spread in *. unfold d at 1. rewrite size_map, E.
  unfold d in P. rewrite size_map in P. fold d in P. rewrite E in P.
  assert (1 <= size l) by (eapply size_nonempty; eauto).
  assert (Q : size l / exact_sum l <= size l).
  { apply Rmult_le_reg_r with (exact_sum l); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  destruct Q as [Q | Q]; [left; apply ln_increasing; auto | rewrite Q; lra].
Qed.

Lemma exact_sum_1 : forall l, In M l -> 1 <= exact_sum l.
Proof.
  intros l H. unfold exact_sum. rewrite <- exp_0. replace 0 with (- (M - M)) by ring.
  apply (sum_at_least (fun x => exp (- (M - x)))); auto. intros; left; apply exp_pos.
Qed.

(* supports: SOFTMAX_FWD.ERR SOFTMAX_FWD.PROMISE XENT.ERR XENT.LOSS *)
(* says: A computed sum of exponentials is off by a factor of at most e^beta, and by eta. *)
Theorem row_sum_within : forall l D R c, row_sum M l D R c -> In M l -> growth D R <= 1 / 2 -> R <= most_rescalings ->
  exp (- beta l D R) * exact_sum l - eta l <= c <= exp (beta l D R) * exact_sum l + eta l.
Proof.
  intros l D R c S H G HR. destruct (row_upper M l D R c S G HR) as [C U]. pose proof (row_lower M l D R c S G HR) as B.
  destruct (row_levels _ _ _ _ _ _ _ S) as (PD & PR & N & L). pose proof (exact_sum_1 l H) as Z1.
  destruct (ln_spread l H Z1) as (ND & ET & LS). set (d := map (fun x => M - x) l) in *.
  pose proof (arguments_too_small d ND argument ltac:(pose proof argument_value; lra)) as AS.
  pose proof (arguments_too_large d ND argument ltac:(pose proof argument_value; lra)) as AL.
  rewrite ET in *. unfold d in AS at 1. unfold d in AL at 2. rewrite sum_map in AS, AL.
  change (sum (fun x => exp (- ((1 - argument) * (M - x)))) l) with (sum (term_above M) l) in AS.
  change (sum (fun x => exp (- ((1 + argument) * (M - x)))) l) with (sum (term_below M) l) in AL.
  pose proof argument_value as AV. pose proof tiny_positive as T. rewrite most_rescalings_is in HR.
  assert (X1 : argument * ln (spread d) <= argument * ln (size l)) by (apply Rmult_le_compat_l; lra).
  assert (X2 : sum (above M) l <= sum (term_above M) l + 5 / 2 * tiny * size l).
  { rewrite <- sum_const, <- (Rmult_1_l (sum (term_above M) l)), <- (Rmult_1_l (sum (fun _ => 5 / 2 * tiny) l)).
    rewrite <- sum_linear. apply sum_le. intros x Hx. unfold above.
    destruct (Rle_or_lt (M - x) far_distance) as [F | F].
    - rewrite (proj2 (weights_near x ltac:(unfold far; lra))). lra.
    - rewrite (proj2 (weights_far x F)). pose proof (far_term argument x ltac:(lra) F). unfold term_above. lra. }
  assert (X3 : sum (term_below M) l <= sum (below M) l + tiny * (size l - near_count l)).
  { unfold near_count. rewrite <- (Rmult_1_l (size l)), <- sum_const.
    replace (tiny * (sum (fun _ => 1) l - sum near_weight l)) with
      (1 * sum (fun x => tiny * 1 + - tiny * near_weight x) l) by (rewrite sum_linear; ring).
    rewrite <- (Rmult_1_l (sum (below M) l)), <- sum_linear. apply sum_le. intros x Hx. unfold below.
    destruct (Rle_or_lt (M - x) far_distance) as [F | F].
    - rewrite (proj1 (weights_near x ltac:(unfold far; lra))). lra.
    - rewrite (proj1 (weights_far x F)). pose proof (far_term 0 x ltac:(lra) F). unfold term_below.
      assert (exp (- ((1 + argument) * (M - x))) <= exp (- ((1 - 0) * (M - x)))).
      { apply exp_monotone. pose proof (L x Hx). nra. } lra. }
  pose proof (near_count_bounds l) as NC. pose proof (growth_limit D R G) as GL. destruct (fall_1 D R PD PR) as [F0 F1].
  assert (F2 : exp (- growth D R) <= 1).
  { eapply Rle_trans; [exact F1 |]. apply exp_at_most_1. destruct kappa_value. lra. }
  pose proof (growth_1 D R PD PR) as G1. unfold beta. rewrite Ropp_plus_distr, !exp_plus.
  unfold eta. unfold bounded_below in B.
  set (n := size l) in *. set (Z := exact_sum l) in *. split.
  - assert (Y1 : exp (- (argument * ln n)) * Z <= exp (- (argument * ln (spread d))) * Z).
    { apply Rmult_le_compat_r; [lra |]. apply exp_monotone. lra. }
    assert (Y2 : exp (- growth D R) * (exp (- (argument * ln n)) * Z)
                 <= exp (- growth D R) * (sum (below M) l + tiny * (n - near_count l))).
    { apply Rmult_le_compat_l; lra. }
    assert (Y3 : exp (- growth D R) * (tiny * (n - near_count l)) <= 1 * (tiny * (n - near_count l))).
    { apply Rmult_le_compat_r; [apply Rmult_le_pos |]; lra. }
    assert (Y4 : exp (- growth D R) * sum (below M) l - (near_count l * small + n * ((R + 1) * unit_loss)) <= c).
    { destruct B as [(k & Hk & B) | B]; [| lra]. assert (k * small <= near_count l * small); [| lra].
      apply Rmult_le_compat_r; [left; apply bpow_gt_0 | lra]. }
    assert (Y5 : n * ((R + 1) * unit_loss) <= n * (33 * (14 * tiny))).
    { apply Rmult_le_compat_l; [lra |]. unfold unit_loss. apply Rmult_le_compat_r; lra. }
    assert (Y6 : tiny * (n - near_count l) <= small * (n - near_count l)).
    { apply Rmult_le_compat_r; [lra |]. rewrite small_by_tiny. lra. }
    assert (Y7 : n * (33 * (14 * tiny)) <= 6 / 100000 * (n * small)).
    { rewrite small_by_tiny. assert (0 < n * tiny) by (apply Rmult_lt_0_compat; lra). lra. }
    lra.
  - assert (Y1 : exp (argument * ln (spread d)) * Z <= exp (argument * ln n) * Z).
    { apply Rmult_le_compat_r; [lra |]. apply exp_monotone. lra. }
    assert (Y2 : exp (growth D R) * (sum (above M) l + n * (absorbed + R * unit_loss))
      <= exp (growth D R) * (exp (argument * ln n) * Z + n * (300000 * tiny))).
    { apply Rmult_le_compat_l; [lra |]. unfold absorbed, unit_loss.
      assert (R * (14 * tiny) <= 32 * (14 * tiny)) by (apply Rmult_le_compat_r; lra).
      assert (n * (262144 * tiny + R * (14 * tiny)) <= n * (262144 * tiny + 32 * (14 * tiny))) by
        (apply Rmult_le_compat_l; lra). assert (0 < n * tiny) by (apply Rmult_lt_0_compat; lra). lra. }
    assert (P : 0 < n * tiny) by (apply Rmult_lt_0_compat; lra).
    assert (Y3 : exp (growth D R) * (n * (300000 * tiny)) <= 33 / 20 * (n * (300000 * tiny))) by
      (apply Rmult_le_compat_r; lra).
    rewrite small_by_tiny. lra.
Qed.

(* Every order of additions has a D of n' - 1, n' being the number of elements that are not far. *)
(* supports: SOFTMAX_FWD.ERR XENT.ERR XENT.LOSS *)
(* says: Whatever the order, no element passes more than n' - 1 additions to others that are not far. *)
Theorem additions_at_most : forall m l D R c, row_sum m l D R c -> row_sum m l
  (near_count l - 1) R c /\ 1 <= near_count l.
Proof.
  induction 1 as
    [m x c X F E | m l l' D R c c' s F1 I1 F2 I2 H | m l l' D R A S c c' s F1 I1 F2 H HA HS
    | m m' l D R c c' X F I H | m l D R D' R' c F I X Y].
  - unfold near_count. simpl. rewrite (proj1 (weights_near x F)). split; [| lra].
    apply row_weaker with 0 0; try lra. apply row_exp; auto.
  - destruct I1 as [I1 N1]. destruct I2 as [I2 N2]. unfold near_count in *. rewrite sum_app. split; [| lra].
    set (a := sum near_weight l) in *. set (b := sum near_weight l') in *.
    apply row_weaker with (a + b - 2 + 1) R; try lra. apply row_add with c c'; auto;
      [apply row_weaker with (a - 1) R | apply row_weaker with (b - 1) R]; auto; lra.
  - destruct I1 as [I1 N1]. unfold near_count in *. rewrite sum_app.
    assert (E : sum near_weight l' = 0).
    { rewrite (sum_ext _ (fun _ => 0)), sum_const; [ring |]. intros x Hx. apply weights_far.
      apply (far_levels _ _ _ _ _ _ _ F2). auto. }
    rewrite E, Rplus_0_r. split; auto. apply row_absorb with A S c c'; auto.
  - destruct I as [I N]. split; auto. apply row_rescale with m c; auto.
  - destruct I as [I N]. split; auto. apply row_weaker with (near_count l - 1) R; auto; lra.
Qed.

End Row.

(* supports: SOFTMAX_FWD.ERR XENT.ERR XENT.LOSS *)
(* says: An fp32 addition of numbers that are not negative is an addition of this model. *)
Theorem rn32_adds : forall a b, F32 a -> F32 b -> 0 <= a -> 0 <= b -> added a b (rn32 (a + b)).
Proof.
  intros a b Fa Fb A B. unfold added. repeat split.
  - destruct (FLT_plus_error_N_ex radix2 emin32 prec32 (fun z => negb (Z.even z)) a b Fa Fb) as (e & He & E).
    change (Znearest (fun z => negb (Z.even z))) with ZnearestE in E. rewrite E.
    replace ((a + b) * (1 + e) - (a + b)) with (e * (a + b)) by ring. rewrite Rabs_mult, (Rabs_pos_eq (a + b)) by lra.
    rewrite u_is_roundoff in He. pose proof u_positive. apply Rmult_le_compat_r; [lra |].
    eapply Rle_trans; [exact He |].
    unfold Rdiv. rewrite <- (Rmult_1_r u) at 3. apply Rmult_le_compat_l; [lra |]. rewrite <- Rinv_1.
    apply Rinv_le_contravar; lra.
  - rewrite <- (Rabs_pos_eq a) at 3 by auto. apply plus_error_le_l; auto with typeclass_instances.
  - rewrite <- (Rabs_pos_eq b) at 3 by auto. apply plus_error_le_r; auto with typeclass_instances.
Qed.
