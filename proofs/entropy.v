(* The entropy step of the softmax bounds. A kernel's exp has an argument that is off by a share t of the distance d
   from the maximum, so that its terms are exp(-d (1 + t')) with |t'| <= t instead of exp(-d). Distances may be as large
   as 104, but in the sum of a row the error is only t ln n: large distances have small weights. Proved for any list
   of n distances, without terms of higher order. *)
From Coq Require Import Reals List Lra.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum (f : R -> R) (l : list R) : R := match l with [] => 0 | d :: l' => f d + sum f l' end.
Definition size (l : list R) : R := INR (length l).

Lemma size_nil : size [] = 0.
Proof. reflexivity. Qed.

Lemma size_cons : forall x l, size (x :: l) = 1 + size l.
Proof. intros x l. unfold size. simpl length. rewrite S_INR. ring. Qed.

Lemma size_app : forall l m, size (l ++ m) = size l + size m.
Proof. intros l m. unfold size. rewrite app_length, plus_INR. reflexivity. Qed.

Lemma size_positive : forall l, 0 <= size l.
Proof. intros l. apply pos_INR. Qed.

Lemma size_nonempty : forall x l, In x l -> 1 <= size l.
Proof. intros x [| y l] H; [destruct H |]. rewrite size_cons. pose proof (size_positive l). lra. Qed.

Lemma sum_app : forall f l m, sum f (l ++ m) = sum f l + sum f m.
Proof. intros f l m. induction l; simpl; lra. Qed.

Lemma sum_le : forall f g l, (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  intros f g l. induction l as [| x l IH]; simpl; intros H; [lra |]. assert (f x <= g x) by (apply H; auto).
  assert (sum f l <= sum g l) by (apply IH; auto). lra.
Qed.

Lemma sum_ext : forall f g l, (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof. intros f g l H. apply Rle_antisym; apply sum_le; intros x Hx; rewrite (H x Hx); lra. Qed.

Lemma sum_linear : forall a b f g l, sum (fun x => a * f x + b * g x) l = a * sum f l + b * sum g l.
Proof. intros a b f g l. induction l; simpl; lra. Qed.

Lemma sum_scale : forall a f l, sum (fun x => a * f x) l = a * sum f l.
Proof. intros a f l. induction l; simpl; lra. Qed.

Lemma sum_const : forall a l, sum (fun _ => a) l = a * size l.
Proof. intros a l. induction l as [| x l IH]; simpl; [rewrite size_nil | rewrite size_cons, IH]; ring. Qed.

Lemma sum_nonnegative : forall f l, (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. intros f l H. pose proof (sum_le (fun _ => 0) f l H) as L. rewrite sum_const in L. lra. Qed.

Lemma sum_at_least : forall f l x, (forall y, In y l -> 0 <= f y) -> In x l -> f x <= sum f l.
Proof.
  intros f l x. induction l as [| y l IH]; simpl; intros P; [tauto |].
  assert (0 <= f y) by (apply P; auto). assert (0 <= sum f l) by (apply sum_nonnegative; auto).
  intros [<- | H']; [lra |]. assert (f x <= sum f l) by (apply IH; auto). lra.
Qed.

Lemma sum_map : forall f g l, sum f (map g l) = sum (fun x => f (g x)) l.
Proof. intros f g l. induction l; simpl; congruence. Qed.

Lemma size_map : forall g l, size (map g l) = size l.
Proof. intros g l. unfold size. rewrite map_length. reflexivity. Qed.

Lemma tangent : forall x, 1 + x <= exp x.
Proof. intros x. destruct (Req_dec x 0) as [-> | H]; [rewrite exp_0; lra | left; apply exp_ineq1; auto]. Qed.

Lemma exp_below_chord : forall t y, 0 <= t <= 1 -> exp (t * y) <= 1 + t * (exp y - 1).
Proof.
  intros t y H. pose proof (exp_pos (t * y)) as P.
  assert (A : exp (t * y) * (1 + (1 - t) * y) <= exp y).
  { replace y with (t * y + (1 - t) * y) at 3 by ring. rewrite exp_plus.
    apply Rmult_le_compat_l; [lra | apply tangent]. }
  assert (B : exp (t * y) * (1 + - (t * y)) <= 1).
  { apply Rle_trans with (exp (t * y) * exp (- (t * y))); [apply Rmult_le_compat_l; [lra | apply tangent] |].
    rewrite <- exp_plus, Rplus_opp_r, exp_0. lra. }
  assert (t * (exp (t * y) * (1 + (1 - t) * y)) <= t * exp y) by (apply Rmult_le_compat_l; lra).
  assert ((1 - t) * (exp (t * y) * (1 + - (t * y))) <= (1 - t) * 1) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Lemma exp_above_chord : forall t y, 0 <= t -> 1 - t * (exp y - 1) <= exp (- (t * y)).
Proof.
  intros t y H. eapply Rle_trans; [| apply tangent]. pose proof (tangent y).
  assert (t * y <= t * (exp y - 1)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Section Row.
Variable l : list R. (* the distances of a row, or of a part of it *)
Hypothesis nonempty : l <> [].

Definition total := sum (fun d => exp (- d)) l.
(* size / total: e to the mean entropy that is possible, e raised to ln n less ln Z. *)
Definition spread := size l / total.

Lemma total_positive : 0 < total.
Proof.
  unfold total. destruct l as [| d m]; [congruence |]. simpl. pose proof (exp_pos (- d)).
  assert (0 <= sum (fun d => exp (- d)) m) by (apply sum_nonnegative; intros; left; apply exp_pos). lra.
Qed.

Lemma spread_positive : 0 < spread.
Proof.
  unfold spread. apply Rdiv_lt_0_compat; [| apply total_positive]. destruct l as [| d m]; [congruence |].
  rewrite size_cons. pose proof (size_positive m). lra.
Qed.

Lemma exp_minus_spread : forall d, exp (d - ln spread) = exp d / spread.
Proof.
  intros d. unfold Rminus. rewrite exp_plus, exp_Ropp, exp_ln by apply spread_positive. reflexivity.
Qed.

Lemma size_by_spread : size l / spread = total.
Proof.
  pose proof total_positive. assert (0 < size l).
  { destruct l as [| d m]; [congruence |]. rewrite size_cons. pose proof (size_positive m). lra. }
  unfold spread. field. lra.
Qed.

Lemma weight : forall d, exp (- d) * (exp d / spread - 1) = / spread - exp (- d).
Proof.
  intros d. pose proof spread_positive. rewrite exp_Ropp. pose proof (exp_pos d). field. split; lra.
Qed.

Lemma weights_cancel : sum (fun d => exp (- d) * (exp d / spread - 1)) l = 0.
Proof.
  rewrite (sum_ext _ (fun d => / spread * 1 + -1 * exp (- d))) by (intros; rewrite weight; ring).
  rewrite (sum_linear (/ spread) (-1) (fun _ => 1) (fun d => exp (- d))). rewrite sum_const. fold total.
  rewrite <- size_by_spread. unfold Rdiv. ring.
Qed.

(* supports: SOFTMAX_FWD.ERR XENT.ERR XENT.LOSS *)
(* says: The mean distance under the weights exp(-d) / Z is at most ln (n / Z), and so at most ln n if Z >= 1. *)
Theorem mean_distance : sum (fun d => exp (- d) * d) l <= total * ln spread.
Proof.
  pose proof weights_cancel as C.
  assert (H : sum (fun d => exp (- d) * d) l
              <= sum (fun d => ln spread * exp (- d) + 1 * (exp (- d) * (exp d / spread - 1))) l).
  { apply sum_le. intros d _. rewrite <- exp_minus_spread. pose proof (exp_pos (- d)) as P.
    pose proof (tangent (d - ln spread)).
    assert (exp (- d) * (d - ln spread) <= exp (- d) * (exp (d - ln spread) - 1)) by (apply Rmult_le_compat_l; lra).
    lra. }
  rewrite sum_linear, C in H. fold total in H. lra.
Qed.

(* supports: SOFTMAX_FWD.ERR XENT.ERR XENT.LOSS *)
(* says: With every argument too small by a share t, the sum of n exponentials is at most (n / Z)^t times too large. *)
Theorem arguments_too_small : forall t, 0 <= t <= 1 ->
  sum (fun d => exp (- ((1 - t) * d))) l <= exp (t * ln spread) * total.
Proof.
  intros t Ht. pose proof weights_cancel as C.
  apply Rle_trans with (exp (t * ln spread) * sum (fun d => 1 * exp (- d) + t * (exp (- d) * (exp d / spread - 1))) l).
  - rewrite <- sum_scale. apply sum_le. intros d _.
    replace (- ((1 - t) * d)) with (t * ln spread + (- d + t * (d - ln spread))) by ring. rewrite !exp_plus.
    apply Rmult_le_compat_l; [left; apply exp_pos |]. rewrite <- exp_minus_spread.
    pose proof (exp_below_chord t (d - ln spread) Ht) as K. pose proof (exp_pos (- d)) as P.
    apply (Rmult_le_compat_l (exp (- d))) in K; lra.
  - rewrite sum_linear, C. fold total. apply Req_le. ring.
Qed.

(* supports: SOFTMAX_FWD.ERR XENT.ERR XENT.LOSS *)
(* says: With every argument too large by a share t, the sum of n exponentials is at most (n / Z)^t times too small. *)
Theorem arguments_too_large : forall t, 0 <= t ->
  exp (- (t * ln spread)) * total <= sum (fun d => exp (- ((1 + t) * d))) l.
Proof.
  intros t Ht. pose proof weights_cancel as C.
  apply Rle_trans with
    (exp (- (t * ln spread)) * sum (fun d => 1 * exp (- d) + - t * (exp (- d) * (exp d / spread - 1))) l).
  - rewrite sum_linear, C. fold total. apply Req_le. ring.
  - rewrite <- sum_scale. apply sum_le. intros d _.
    replace (- ((1 + t) * d)) with (- (t * ln spread) + (- d + - (t * (d - ln spread)))) by ring. rewrite !exp_plus.
    apply Rmult_le_compat_l; [left; apply exp_pos |]. rewrite <- exp_minus_spread.
    pose proof (exp_above_chord t (d - ln spread) Ht) as K. pose proof (exp_pos (- d)) as P.
    apply (Rmult_le_compat_l (exp (- d))) in K; lra.
Qed.

End Row.
