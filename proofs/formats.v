(* The element formats fp16, bf16 and fp32 as sets of real numbers, rounding to nearest even in each, and what every
   other file needs of them: results are numbers of the format, rounding is monotone, and the error of one rounding
   with subnormal numbers included. The formats have no largest number here: overflow.v and acceptance.v put the
   infinities on top. Precisions, least exponents and u are those of the C code (formats_of_the_code, u_of_the_code).
   *)
From Coq Require Import Reals ZArith Lia Lra.
From Flocq Require Import Core Relative.
From Tokitai Require Import dyadic constants.
Open Scope R_scope.

Notation pow2 := (bpow radix2).

(* Significand bits with the hidden one, and the exponent of the smallest subnormal number. *)
Definition prec16 := 11%Z.
Definition emin16 := (-24)%Z.
Definition precb16 := 8%Z.
Definition eminb16 := (-133)%Z.
Definition prec32 := 24%Z.
Definition emin32 := (-149)%Z.

Lemma formats_of_the_code :
  (prec16 = F16_precision /\ emin16 = F16_exponent_lowest) /\
  (precb16 = BF16_precision /\ eminb16 = BF16_exponent_lowest) /\
  (prec32 = F32_precision /\ emin32 = F32_exponent_lowest).
Proof. repeat split. Qed.

(* The bits of a number of 16 or 32 bits, from those that the C code has: the fraction below, the exponent above it with
   nothing but ones for infinity, the sign on top; the largest finite number comes before infinity, and a NaN has the
   fraction's first bit. *)
Definition is_encoding (bits precision exponent_min exponent_max lowest sign largest infinity nan : Z) : Prop :=
  (exponent_min = lowest + precision - 1 /\ sign = 2 ^ (bits - 1) /\ infinity = sign - 2 ^ (precision - 1) /\
   largest = infinity - 1 /\ nan = infinity + 2 ^ (precision - 2) /\
   exponent_max = exponent_min + infinity / 2 ^ (precision - 1) - 2)%Z.

Lemma encodings_of_the_code :
  is_encoding 16 F16_precision F16_exponent_min F16_exponent_max F16_exponent_lowest F16_sign F16_largest F16_infinity
    F16_nan /\
  is_encoding 16 BF16_precision BF16_exponent_min BF16_exponent_max BF16_exponent_lowest BF16_sign BF16_largest
    BF16_infinity BF16_nan /\
  is_encoding 32 F32_precision F32_exponent_min F32_exponent_max F32_exponent_lowest F32_sign F32_largest F32_infinity
    F32_nan.
Proof. repeat split. Qed.

(* The oracles' own arithmetic rounds to nearest and keeps subnormal numbers, whatever its caller has set. *)
Lemma arithmetic_of_the_code : floats_round_to_nearest = 1%Z /\ floats_keep_subnormal = 1%Z.
Proof. split; reflexivity. Qed.

Global Instance prec16_positive : Prec_gt_0 prec16. Proof. reflexivity. Qed.
Global Instance precb16_positive : Prec_gt_0 precb16. Proof. reflexivity. Qed.
Global Instance prec32_positive : Prec_gt_0 prec32. Proof. reflexivity. Qed.

Notation fexp16 := (FLT_exp emin16 prec16).
Notation fexpb16 := (FLT_exp eminb16 precb16).
Notation fexp32 := (FLT_exp emin32 prec32).

(* Is a number of the format. *)
Notation F16 := (generic_format radix2 fexp16).
Notation FB16 := (generic_format radix2 fexpb16).
Notation F32 := (generic_format radix2 fexp32).

(* The number of the format nearest to a real number, ties to even. *)
Notation rn16 := (round radix2 fexp16 ZnearestE).
Notation rnb16 := (round radix2 fexpb16 ZnearestE).
Notation rn32 := (round radix2 fexp32 ZnearestE).
(* Truncation toward zero. *)
Notation rz32 := (round radix2 fexp32 Ztrunc).

(* Half a unit in the last place of fp32 at 1. *)
Definition u := pow2 (-24).

Lemma u_of_the_code : dyadic_R TKI_U = u.
Proof. unfold TKI_U. rewrite dyadic_R_bpow. apply Rmult_1_l. Qed.

Lemma u_positive : 0 < u.
Proof. apply bpow_gt_0. Qed.

Lemma u_value : u = / 16777216.
Proof. reflexivity. Qed.

Lemma u_below_1 : u < 1.
Proof. rewrite u_value. lra. Qed.

Lemma half_pow2 : forall e, / 2 * pow2 (e + 1) = pow2 e.
Proof. intros e. rewrite bpow_plus. change (pow2 1) with 2. lra. Qed.

Lemma pow2_double : forall e, pow2 (e + 1) = 2 * pow2 e.
Proof. intros e. rewrite bpow_plus. change (pow2 1) with 2. lra. Qed.

Lemma u_is_roundoff : u_ro radix2 prec32 = u.
Proof. exact (half_pow2 (-24)). Qed.

Lemma rn32_format : forall x, F32 (rn32 x).
Proof. intros x. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma rn16_format : forall x, F16 (rn16 x).
Proof. intros x. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma rnb16_format : forall x, FB16 (rnb16 x).
Proof. intros x. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma rn32_exact : forall x, F32 x -> rn32 x = x.
Proof. intros x H. apply round_generic; auto with typeclass_instances. Qed.

Lemma rn32_monotone : forall x y, x <= y -> rn32 x <= rn32 y.
Proof. intros x y H. apply round_le; auto with typeclass_instances. Qed.

Lemma F32_zero : F32 0.
Proof. apply generic_format_0. Qed.

Lemma F32_opp : forall x, F32 x -> F32 (- x).
Proof. apply generic_format_opp. Qed.

(* fp16 and bf16 numbers are fp32 numbers. *)
Lemma F16_in_F32 : forall x, F16 x -> F32 x.
Proof.
  intros x. apply generic_inclusion_mag. intros _. unfold FLT_exp, emin16, emin32, prec16, prec32. lia.
Qed.

Lemma FB16_in_F32 : forall x, FB16 x -> F32 x.
Proof.
  intros x. apply generic_inclusion_mag. intros _. unfold FLT_exp, eminb16, emin32, precb16, prec32. lia.
Qed.

(* m 2^e with m below 2^prec and e at least emin is a number of the format, and every number of it is one. *)
Lemma FLT_intro : forall emin prec m e, Prec_gt_0 prec ->
  (Z.abs m < 2 ^ prec)%Z -> (emin <= e)%Z -> generic_format radix2 (FLT_exp emin prec) (IZR m * pow2 e).
Proof.
  intros emin prec m e P M E. apply generic_format_FLT. exists (Float radix2 m e); auto.
Qed.

Lemma FLT_elim : forall emin prec x, Prec_gt_0 prec -> generic_format radix2 (FLT_exp emin prec) x ->
  exists m e, x = IZR m * pow2 e /\ (Z.abs m < 2 ^ prec)%Z /\ (emin <= e)%Z.
Proof.
  intros emin prec x P H. apply FLT_format_generic in H; [|exact P].
  destruct H as [[m e] E M L]. exists m, e. auto.
Qed.

(* One rounding to nearest, of any real number: relative to it, or half of the smallest subnormal number. *)
Lemma FLT_rounding_error : forall emin prec x, Prec_gt_0 prec ->
  Rabs (round radix2 (FLT_exp emin prec) ZnearestE x - x) <= Rmax (pow2 (- prec) * Rabs x) (pow2 (emin - 1)).
Proof.
  intros emin prec x P.
  destruct (Rle_or_lt (pow2 (emin + prec - 1)) (Rabs x)) as [L | L].
  - eapply Rle_trans; [|apply Rmax_l].
    eapply Rle_trans; [apply relative_error_N_FLT; auto|].
    rewrite half_pow2. apply Rle_refl.
  - eapply Rle_trans; [|apply Rmax_r].
    eapply Rle_trans; [apply error_le_half_ulp; auto with typeclass_instances|].
    rewrite ulp_FLT_small; auto.
    + replace emin with (emin - 1 + 1)%Z at 1 by ring. rewrite half_pow2. apply Rle_refl.
    + eapply Rlt_trans; [exact L|]. apply bpow_lt. lia.
Qed.

(* The same as a sum of the two, in fp32: the standard model with an underflow term. *)
Lemma rn32_error : forall x, Rabs (rn32 x - x) <= u * Rabs x + pow2 (-150).
Proof.
  intros x. eapply Rle_trans; [apply (FLT_rounding_error emin32 prec32 x prec32_positive)|].
  change (pow2 (- prec32)) with u. change (pow2 (emin32 - 1)) with (pow2 (-150)).
  pose proof u_positive. pose proof (Rabs_pos x). pose proof (bpow_gt_0 radix2 (-150)).
  apply Rmax_lub; [|pose proof (Rmult_le_pos u (Rabs x))]; lra.
Qed.

(* From the smallest normal number on there is no underflow term. *)
Lemma rn32_error_normal : forall x, pow2 (-126) <= Rabs x -> Rabs (rn32 x - x) <= u * Rabs x.
Proof.
  intros x H.
  pose proof (relative_error_N_FLT radix2 emin32 prec32 prec32_positive (fun z => negb (Z.even z)) x H) as E.
  change (- prec32 + 1)%Z with (-24 + 1)%Z in E. rewrite half_pow2 in E. exact E.
Qed.
