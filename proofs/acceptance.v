(* The acceptance rule: an output is accepted if and only if RN(S - B) <= out <= RN(S + B). Rounding is monotone, so
   the accepted outputs are exactly the roundings of values within B of S, infinities included. The judge knows S only
   as an enclosure [lo, hi]; what it decides from that is what it would decide from S. NaN is no value here: the rule
   refuses it, and clauses of their own admit it. -0 and +0 are one number. *)
From Coq Require Import Reals ZArith Lra.
From Flocq Require Import Core.
From Tokitai Require Import formats.
Open Scope R_scope.

(* A format with `prec` bits, smallest subnormal 2^emin, and infinity in place of 2^emax and beyond. *)
Section Format.
Variables emin prec emax : Z.
Context {prec_positive : Prec_gt_0 prec}.
Notation number := (generic_format radix2 (FLT_exp emin prec)).
Notation rn := (round radix2 (FLT_exp emin prec) ZnearestE).

Inductive value := Minus_infinity | Finite (x : R) | Plus_infinity.

(* What an element of the format can be, other than NaN. *)
Definition element v := match v with Finite x => number x /\ Rabs x < pow2 emax | _ => True end.

(* What the comparison of floating-point numbers says. *)
Definition at_most v w :=
  match v, w with
  | Minus_infinity, _ | _, Plus_infinity => True
  | Finite x, Finite y => x <= y
  | _, _ => False
  end.

(* RN, with what rounds to 2^emax or more becoming infinite. *)
Definition rounded x :=
  if Rle_lt_dec (pow2 emax) (rn x) then Plus_infinity
  else if Rle_lt_dec (rn x) (- pow2 emax) then Minus_infinity
  else Finite (rn x).

Definition accepted s b v := at_most (rounded (s - b)) v /\ at_most v (rounded (s + b)).

Lemma rounded_element : forall x, element (rounded x).
Proof.
  intros x. unfold rounded. destruct (Rle_lt_dec _ _); [exact I|]. destruct (Rle_lt_dec _ _); [exact I|].
  simpl. split; [apply generic_format_round; auto with typeclass_instances|]. apply Rabs_lt. lra.
Qed.

Lemma rounded_monotone : forall x y, x <= y -> at_most (rounded x) (rounded y).
Proof.
  intros x y L.
  assert (M : rn x <= rn y) by (apply round_le; auto with typeclass_instances).
  unfold rounded. repeat destruct (Rle_lt_dec _ _); simpl; auto; lra.
Qed.

Lemma rounded_of_element : forall x, element (Finite x) -> rounded x = Finite x.
Proof.
  intros x [F A]. apply Rabs_lt_inv in A.
  assert (E : rn x = x) by (apply round_generic; auto with typeclass_instances).
  unfold rounded. rewrite E. repeat destruct (Rle_lt_dec _ _); auto; lra.
Qed.

Lemma at_most_antisymmetric : forall v w, at_most v w -> at_most w v -> v = w.
Proof. intros [|x|] [|y|]; simpl; try tauto. intros. f_equal. lra. Qed.

(* supports: ACCEPTANCE *)
(* says: The rounding of every value within B of S is accepted, infinite or not. *)
Theorem acceptance_sound : forall s b x, Rabs (x - s) <= b -> accepted s b (rounded x).
Proof.
  intros s b x H. apply Rabs_le_inv in H. split; apply rounded_monotone; lra.
Qed.

(* supports: ACCEPTANCE *)
(* says: Every accepted element of the format, infinite or not, is the rounding of some value within B of S. *)
Theorem acceptance_complete : forall s b v, 0 <= b -> element v -> accepted s b v ->
  exists x, Rabs (x - s) <= b /\ rounded x = v.
Proof.
  intros s b v B E [L H].
  assert (Low : rounded (s - b) = v -> exists x, Rabs (x - s) <= b /\ rounded x = v).
  { intros R. exists (s - b). split; [apply Rabs_le; lra | exact R]. }
  assert (High : rounded (s + b) = v -> exists x, Rabs (x - s) <= b /\ rounded x = v).
  { intros R. exists (s + b). split; [apply Rabs_le; lra | exact R]. }
  destruct v as [|x|].
  - apply Low. apply at_most_antisymmetric; [exact L | exact I].
  - pose proof (rounded_of_element x E) as X.
    destruct (Rle_or_lt x (s - b)) as [C | C].
    + apply Low. apply at_most_antisymmetric; [exact L|]. rewrite <- X. apply rounded_monotone. exact C.
    + destruct (Rle_or_lt (s + b) x) as [D | D].
      * apply High. apply at_most_antisymmetric; [|exact H]. rewrite <- X. apply rounded_monotone. exact D.
      * exists x. split; [apply Rabs_le; lra | exact X].
  - apply High. apply at_most_antisymmetric; [|exact H]. destruct (rounded (s + b)); exact I.
Qed.

Lemma at_most_transitive : forall v w z, at_most v w -> at_most w z -> at_most v z.
Proof. intros [|x|] [|y|] [|z|]; simpl; try tauto. apply Rle_trans. Qed.

(* What judge/judge.c decides from lo <= S <= hi: accepted for certain, refused for certain, or open. *)
Definition surely_accepted lo hi b v := at_most (rounded (hi - b)) v /\ at_most v (rounded (lo + b)).
Definition possibly_accepted lo hi b v := at_most (rounded (lo - b)) v /\ at_most v (rounded (hi + b)).

(* supports: ACCEPTANCE *)
(* says: What is accepted for both ends of an enclosure of S is accepted, and what is refused for the whole of it is refused. *)
Theorem enclosure_decides : forall lo s hi b v, lo <= s <= hi ->
  (surely_accepted lo hi b v -> accepted s b v) /\ (accepted s b v -> possibly_accepted lo hi b v).
Proof.
  intros lo s hi b v H. split; intros [L U]; split; eapply at_most_transitive; eauto; apply rounded_monotone; lra.
Qed.

(* supports: ACCEPTANCE *)
(* says: A larger bound accepts whatever a smaller one does: rounding a bound up refuses nothing that is right. *)
Theorem larger_bound_accepts : forall s b c v, b <= c -> accepted s b v -> accepted s c v.
Proof.
  intros s b c v H [L U]. split; eapply at_most_transitive; eauto; apply rounded_monotone; lra.
Qed.

(* supports: ACCEPTANCE *)
(* says: With B = 0 the rounding of S is accepted and nothing else. *)
Theorem exact_accepts_one : forall s v, accepted s 0 v <-> v = rounded s.
Proof.
  intros s v. unfold accepted. rewrite Rminus_0_r, Rplus_0_r. split.
  - intros [L U]. apply at_most_antisymmetric; assumption.
  - intros ->. split; apply rounded_monotone; lra.
Qed.

End Format.
