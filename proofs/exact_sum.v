(* Exact sums: where all terms are multiples of one power of two q, and the sum of their absolute values is at most
   2^24 q, every product, every addition and every FMA has a result that fp32 can represent, so that the sum is exact
   in every order, in every rounding mode, flushing subnormal numbers or not. And the domain `normal`: where all terms
   are multiples of 2^-126 nothing becomes subnormal, and a kernel that flushes computes what one does that does not.
   *)
From Coq Require Import Reals ZArith Lia Lra.
From Flocq Require Import Core.
From Tokitai Require Import constants formats sums.
Open Scope R_scope.

Definition multiple e x := exists m : Z, x = IZR m * pow2 e.

Fixpoint all_leaves (P : R -> Prop) t :=
  match t with
  | Term x | Product x => P x
  | Add l r => all_leaves P l /\ all_leaves P r
  | Fma p s => P p /\ all_leaves P s
  end.

Lemma multiple_0 : forall e, multiple e 0.
Proof. intros e. exists 0%Z. ring. Qed.

Lemma multiple_add : forall e x y, multiple e x -> multiple e y -> multiple e (x + y).
Proof. intros e x y [m ->] [n ->]. exists (m + n)%Z. rewrite plus_IZR. ring. Qed.

(* The unit of a product of two lines is the product of their units. *)
Lemma multiple_mul : forall e f x y, multiple e x -> multiple f y -> multiple (e + f) (x * y).
Proof. intros e f x y [m ->] [n ->]. exists (m * n)%Z. rewrite mult_IZR, bpow_plus. ring. Qed.

Lemma multiple_coarser : forall e f x, (e <= f)%Z -> multiple f x -> multiple e x.
Proof.
  intros e f x L [m ->]. exists (m * 2 ^ (f - e))%Z. rewrite mult_IZR.
  change 2%Z with (radix_val radix2). rewrite IZR_Zpower by lia. rewrite Rmult_assoc, <- bpow_plus.
  replace (f - e + e)%Z with f by ring. reflexivity.
Qed.

(* A multiple other than zero is at least the unit. *)
Lemma multiple_least : forall e x, multiple e x -> x = 0 \/ pow2 e <= Rabs x.
Proof.
  intros e x [m ->]. destruct (Z.eq_dec m 0) as [-> | N]; [left; ring | right].
  rewrite Rabs_mult, (Rabs_pos_eq (pow2 e)) by apply bpow_ge_0.
  rewrite <- (Rmult_1_l (pow2 e)) at 1. apply Rmult_le_compat_r; [apply bpow_ge_0|].
  rewrite <- abs_IZR. apply IZR_le. lia.
Qed.

(* Multiples of a power of two up to 2^24 of it are fp32 numbers. *)
Lemma multiple_format : forall e x, (-149 <= e)%Z -> multiple e x -> Rabs x <= pow2 (24 + e) -> F32 x.
Proof.
  intros e x E [m X] L.
  assert (M : (Z.abs m <= 2 ^ 24)%Z).
  { apply le_IZR. rewrite abs_IZR. change (IZR (2 ^ 24)) with (pow2 24).
    apply Rmult_le_reg_r with (pow2 e); [apply bpow_gt_0|].
    rewrite <- bpow_plus. rewrite X, Rabs_mult, (Rabs_pos_eq (pow2 e)) in L by apply bpow_ge_0. exact L. }
  destruct (Z.eq_dec (Z.abs m) (2 ^ 24)) as [Q | Q].
  - assert (exists s, (s = 1 \/ s = -1)%Z /\ m = (s * 2 ^ 24)%Z) as (s & S & ->).
    { destruct (Z.abs_spec m) as [[_ A] | [_ A]]; [exists 1%Z | exists (-1)%Z]; lia. }
    replace x with (IZR s * pow2 (24 + e)).
    + apply FLT_intro; [reflexivity | destruct S as [-> | ->]; reflexivity | unfold emin32; lia].
    + rewrite X, mult_IZR, bpow_plus. change (IZR (2 ^ 24)) with (pow2 24). ring.
  - rewrite X. apply FLT_intro; [reflexivity | change (2 ^ prec32)%Z with (2 ^ 24)%Z; lia | exact E].
Qed.

(* What every rounding mode of fp32 does, flushing or not: a normal number or zero stays, up to 2^127. *)
Definition keeps_normal (rnd : R -> R) :=
  forall x, F32 x -> x = 0 \/ pow2 (-126) <= Rabs x -> Rabs x <= pow2 127 -> rnd x = x.

Lemma magnitude_leaves : forall t, Rabs (exact t) <= magnitude t.
Proof. exact exact_le_magnitude. Qed.

Lemma exact_multiple : forall e t, all_leaves (multiple e) t -> multiple e (exact t).
Proof.
  induction t; simpl; auto.
  - intros [L R]. apply multiple_add; auto.
  - intros [P S]. apply multiple_add; auto.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR EMBEDDING_BWD.ERR SOFTMAX_BWD.ERR *)
(* says: Where all terms are multiples of q = 2^e, 2^-126 <= q <= 2^103, and sum|terms| <= 2^24 q, every order gives the exact sum, in every rounding mode. *)
Theorem exact_sum : forall rnd e t, keeps_normal rnd -> (-126 <= e <= 103)%Z ->
  all_leaves (multiple e) t -> magnitude t <= pow2 24 * pow2 e -> computed rnd t = exact t.
Proof.
  intros rnd e t K E. set (limit := pow2 24 * pow2 e).
  assert (Keep : forall x, multiple e x -> Rabs x <= limit -> rnd x = x).
  { intros x M L. unfold limit in L. rewrite <- bpow_plus in L. apply K.
    - apply (multiple_format e); auto. lia.
    - destruct (multiple_least e x M) as [Z | G]; [left; exact Z | right].
      eapply Rle_trans; [|exact G]. apply bpow_le. lia.
    - eapply Rle_trans; [exact L|]. apply bpow_le. lia. }
  induction t as [x | p | l IHl r IHr | p s IH]; simpl.
  - reflexivity.
  - intros M L. apply Keep; auto.
  - intros [Ml Mr] L. pose proof (magnitude_nonneg l). pose proof (magnitude_nonneg r).
    rewrite (IHl Ml), (IHr Mr) by lra. apply Keep; [apply multiple_add; apply exact_multiple; auto|].
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (magnitude_leaves l). pose proof (magnitude_leaves r). lra.
  - intros [Mp Ms] L. pose proof (magnitude_nonneg s). pose proof (Rabs_pos p).
    rewrite (IH Ms) by lra. apply Keep; [apply multiple_add; [|apply exact_multiple]; auto|].
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (magnitude_leaves s). lra.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR EMBEDDING_BWD.ERR SOFTMAX_BWD.ERR *)
(* says: Where all terms are zero, every order gives zero. *)
Theorem zero_sum : forall rnd t, rnd 0 = 0 -> magnitude t = 0 -> computed rnd t = 0 /\ exact t = 0.
Proof.
  intros rnd t R. induction t as [x | p | l IHl r IHr | p s IH]; simpl; intros M.
  - assert (x = 0) by (apply Rabs_eq_R0; exact M). auto.
  - assert (p = 0) by (apply Rabs_eq_R0; exact M). subst. auto.
  - pose proof (magnitude_nonneg l). pose proof (magnitude_nonneg r).
    destruct IHl as [-> ->]; [lra|]. destruct IHr as [-> ->]; [lra|]. rewrite Rplus_0_l. auto.
  - pose proof (magnitude_nonneg s). pose proof (Rabs_pos p). assert (p = 0) by (apply Rabs_eq_R0; lra). subst.
    destruct IH as [-> ->]; [lra|]. rewrite Rplus_0_l. auto.
Qed.

(* -- Domain normal ------------------------------------------------------------------------------------------------- *)

(* Rounding keeps multiples of a power of two. *)
Lemma multiple_rounded : forall rnd e x, Valid_rnd rnd -> multiple e x -> multiple e (round radix2 fexp32 rnd x).
Proof.
  intros rnd e x V M. set (c := cexp radix2 fexp32 x).
  destruct (Z_le_gt_dec c e) as [L | G].
  - rewrite round_generic; auto. destruct M as [m ->]. fold (F2R (Float radix2 m e)).
    apply generic_format_F2R. intros _. fold (F2R (Float radix2 m e)) in c. exact L.
  - apply (multiple_coarser e c); [lia|].
    exists (rnd (scaled_mantissa radix2 fexp32 x)). reflexivity.
Qed.

Lemma computed_multiple : forall e t, all_leaves (multiple e) t -> multiple e (computed32 t).
Proof.
  induction t; simpl; auto.
  - apply multiple_rounded; auto with typeclass_instances.
  - intros [L R]. apply multiple_rounded; [auto with typeclass_instances|]. apply multiple_add; auto.
  - intros [P S]. apply multiple_rounded; [auto with typeclass_instances|]. apply multiple_add; auto.
Qed.

(* A kernel that flushes: results below the smallest normal number become zero. *)
Definition flushed x := if Rlt_dec (Rabs x) (pow2 (-126)) then 0 else x.

Lemma flushed_multiple : forall x, multiple (-126) x -> flushed x = x.
Proof.
  intros x M. unfold flushed. destruct (Rlt_dec _ _) as [L | L]; auto.
  destruct (multiple_least _ _ M) as [Z | G]; [symmetry; exact Z | lra].
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR EMBEDDING_BWD.ERR *)
(* says: In domain normal all terms are multiples of 2^-126; there a sum with subnormal numbers flushed to zero has the bits of one without. *)
Theorem nothing_is_flushed : forall t, all_leaves (multiple (-126)) t ->
  computed (fun x => flushed (rn32 (flushed x))) t = computed32 t.
Proof.
  assert (One : forall x, multiple (-126) x -> flushed (rn32 (flushed x)) = rn32 x).
  { intros x M. rewrite (flushed_multiple x M). apply flushed_multiple.
    apply multiple_rounded; auto with typeclass_instances. }
  induction t as [x | p | l IHl r IHr | p s IH]; simpl; auto.
  - intros [L R]. rewrite IHl, IHr by assumption. apply One. apply multiple_add; apply computed_multiple; assumption.
  - intros [P S]. rewrite IH by assumption. apply One. apply multiple_add; [|apply computed_multiple]; assumption.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR EMBEDDING_BWD.ERR *)
(* says: fp32 numbers that are 0 or at least 2^-40 are multiples of 2^-63, and their products multiples of 2^-126. *)
Theorem domain_products : forall a b,
  F32 a -> F32 b -> a = 0 \/ pow2 TKI_DOMAIN_LOWEST_EXPONENT <= Rabs a ->
  b = 0 \/ pow2 TKI_DOMAIN_LOWEST_EXPONENT <= Rabs b ->
  multiple (-63) a /\ multiple (-63) b /\ multiple (-126) (a * b).
Proof.
  change TKI_DOMAIN_LOWEST_EXPONENT with (-40)%Z.
  assert (One : forall a, F32 a -> a = 0 \/ pow2 (-40) <= Rabs a -> multiple (-63) a).
  { intros a F [-> | L]; [apply multiple_0|].
    assert (C : (-63 <= cexp radix2 fexp32 a)%Z).
    { unfold cexp, FLT_exp. pose proof (mag_ge_bpow radix2 a (-39) L). unfold prec32. lia. }
    apply (multiple_coarser _ _ a C). exists (Ztrunc (scaled_mantissa radix2 fexp32 a)). exact F. }
  intros a b Fa Fb La Lb. pose proof (One a Fa La) as A. pose proof (One b Fb Lb) as B.
  split; [exact A|]. split; [exact B|]. exact (multiple_mul _ _ a b A B).
Qed.
