(* Matrix units, as docs/contracts.md models them from publications and measurement: a block of products and the
   accumulator are aligned to an exponent E that the largest of them reaches (2^E <= max(a' b', |c|)), each is
   truncated at F fraction bits of it, the sum is exact, and it is truncated to fp32. The whole bound of a chain of
   blocks, with further terms where the accumulator begins or added in fp32 afterwards, is the one that the C code
   evaluates. That a device computes so is not proved: tests/matrix_unit_on_device.c measures it. Overflow and exact
   sums with further terms are in matrix_overflow.v. *)
From Coq Require Import Reals ZArith QArith Qreals Lia Lra List Bool.
From Flocq Require Import Core Relative.
From Tokitai Require Import dyadic constants bounds formats sums exact_sum products.
Import ListNotations.
Open Scope R_scope.
Local Arguments INR : simpl never.
Local Arguments Z.add : simpl never.

(* A nonzero product and the magnitude a' b' with which it is aligned. Products that are zero are in no list. *)
Definition operand := (R * R)%type.

Definition well_aligned (o : operand) := Rabs (fst o) <= snd o /\ 0 < snd o.

(* Truncation toward zero to a multiple of 2^g. *)
Definition aligned g x := IZR (Ztrunc (x * pow2 (- g))) * pow2 g.

Definition sum (xs : list R) := fold_right Rplus 0 xs.
Definition weight (block : list operand) := sum (map snd block).
Definition value_of (block : list operand) := sum (map fst block).

Definition reaches e c (block : list operand) :=
  pow2 e <= Rabs c \/ Exists (fun o => pow2 e <= snd o) block.

(* One step: the accumulator c and a block give the accumulator d. Of zeros alone nothing is aligned. *)
Definition step F c block d :=
  (c = 0 /\ block = [] /\ d = 0) \/
  exists e, reaches e c block /\
    d = rz32 (aligned (e - F) c + sum (map (fun o => aligned (e - F) (fst o)) block)).

Inductive chain (F : Z) : R -> list (list operand) -> R -> Prop :=
| chain_end : forall c, chain F c [] c
| chain_step : forall c block d rest r, step F c block d -> chain F d rest r -> chain F c (block :: rest) r.

(* -- Truncation ---------------------------------------------------------------------------------------------------- *)

Lemma Ztrunc_error : forall x, Rabs (IZR (Ztrunc x)) <= Rabs x /\ Rabs (IZR (Ztrunc x) - x) <= 1.
Proof.
  assert (P : forall x, 0 <= x -> Rabs (IZR (Ztrunc x)) <= Rabs x /\ Rabs (IZR (Ztrunc x) - x) <= 1).
  { intros x X. rewrite Ztrunc_floor by exact X. pose proof (Zfloor_lb x). pose proof (Zfloor_ub x).
    assert (0 <= IZR (Zfloor x)) by (apply IZR_le, Zfloor_lub; exact X).
    rewrite !Rabs_pos_eq by lra. split; [lra | apply Rabs_le; lra]. }
  intros x. destruct (Rle_or_lt 0 x) as [X | X]; [apply P, X|].
  destruct (P (- x)) as [A B]; [lra|]. rewrite Ztrunc_opp, opp_IZR in A, B. rewrite !Rabs_Ropp in A.
  split; [exact A|]. replace (IZR (Ztrunc x) - x) with (- (- IZR (Ztrunc x) - - x)) by ring. rewrite Rabs_Ropp. exact B.
Qed.

Lemma scaled_back : forall g x, x = x * pow2 (- g) * pow2 g.
Proof. intros g x. rewrite Rmult_assoc, <- bpow_plus, Z.add_opp_diag_l. simpl. ring. Qed.

Lemma aligned_le : forall g x, Rabs (aligned g x) <= Rabs x.
Proof.
  intros g x. unfold aligned. rewrite (scaled_back g x) at 2. rewrite !Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos|]. rewrite <- Rabs_mult. apply Ztrunc_error.
Qed.

Lemma aligned_error : forall g x, Rabs (aligned g x - x) <= pow2 g.
Proof.
  intros g x. unfold aligned. rewrite (scaled_back g x) at 2. rewrite <- Rmult_minus_distr_r, Rabs_mult.
  rewrite (Rabs_pos_eq (pow2 g)) by apply bpow_ge_0. rewrite <- (Rmult_1_l (pow2 g)) at 2.
  apply Rmult_le_compat_r; [apply bpow_ge_0 | apply Ztrunc_error].
Qed.

Lemma aligned_exact : forall g x, multiple g x -> aligned g x = x.
Proof.
  intros g x [m ->]. unfold aligned. f_equal. f_equal. rewrite Rmult_assoc, <- bpow_plus, Z.add_opp_diag_r. simpl.
  rewrite Rmult_1_r. apply Ztrunc_IZR.
Qed.

Lemma aligned_multiple : forall k g x, multiple k x -> multiple k (aligned g x).
Proof.
  intros k g x M. destruct (Z_le_gt_dec g k) as [L | L].
  - rewrite aligned_exact; [exact M | apply (multiple_coarser g k); assumption].
  - apply (multiple_coarser k g); [lia|]. exists (Ztrunc (x * pow2 (- g))). reflexivity.
Qed.

Lemma F32_multiple : forall x, F32 x -> multiple (cexp radix2 fexp32 x) x.
Proof. intros x F. exists (Ztrunc (scaled_mantissa radix2 fexp32 x)). exact F. Qed.

Lemma F32_multiple_149 : forall x, F32 x -> multiple (-149) x.
Proof.
  intros x F. apply (multiple_coarser _ (cexp radix2 fexp32 x)); [|apply F32_multiple, F].
  unfold cexp, FLT_exp, emin32. lia.
Qed.

(* The accumulator alone loses nothing: it has 24 bits. *)
Lemma accumulator_fits : forall F e c, (23 <= F)%Z -> F32 c -> pow2 e <= Rabs c -> multiple (e - F) c.
Proof.
  intros F e c HF Fc L. apply (multiple_coarser _ (cexp radix2 fexp32 c)); [|apply F32_multiple, Fc].
  unfold cexp, FLT_exp, prec32. assert (e < mag radix2 c)%Z; [|lia].
  apply (lt_bpow radix2). eapply Rle_lt_trans; [exact L | apply bpow_mag_gt].
Qed.

(* Truncation to fp32. *)
Lemma rz32_le : forall x, Rabs (rz32 x) <= Rabs x.
Proof.
  intros x. rewrite <- round_ZR_abs by auto with typeclass_instances.
  rewrite round_ZR_DN by apply Rabs_pos. apply round_DN_pt; auto with typeclass_instances.
Qed.

Lemma rz32_format : forall x, F32 (rz32 x).
Proof. intros x. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma rz32_exact : forall x, F32 x -> rz32 x = x.
Proof. intros x F. apply round_generic; auto with typeclass_instances. Qed.

Lemma rz32_error_normal : forall x, pow2 (-126) <= Rabs x -> Rabs (rz32 x - x) <= pow2 (-23) * Rabs x.
Proof.
  intros x H. apply Rlt_le. exact (relative_error_FLT radix2 emin32 prec32 prec32_positive Ztrunc x H).
Qed.

Lemma rz32_error : forall x, Rabs (rz32 x - x) <= pow2 (-23) * Rabs x + pow2 (-149).
Proof.
  intros x. assert (0 < pow2 (-149)) by apply bpow_gt_0.
  destruct (Rle_or_lt (pow2 (-126)) (Rabs x)) as [L | L]; [pose proof (rz32_error_normal x L); lra|].
  destruct (Req_dec x 0) as [-> | N].
  - rewrite rz32_exact, Rminus_diag_eq, Rabs_R0 by (apply F32_zero || reflexivity). lra.
  - pose proof (Rmult_le_pos (pow2 (-23)) (Rabs x) (bpow_ge_0 _ _) (Rabs_pos x)).
    apply Rle_trans with (pow2 (-149)); [|lra].
    apply Rlt_le. eapply Rlt_le_trans; [apply error_lt_ulp; auto with typeclass_instances|].
    rewrite ulp_FLT_small; auto with typeclass_instances; [apply Rle_refl|].
    eapply Rlt_trans; [exact L | apply bpow_lt; unfold emin32, prec32; lia].
Qed.

Lemma rz32_error_multiple : forall x, multiple (-149) x -> Rabs (rz32 x - x) <= pow2 (-23) * Rabs x.
Proof.
  intros x M. destruct (Rle_or_lt (pow2 (-126)) (Rabs x)) as [L | L]; [apply rz32_error_normal, L|].
  rewrite rz32_exact.
  - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rmult_le_pos; [apply bpow_ge_0 | apply Rabs_pos].
  - apply (multiple_format (-149)); [lia | exact M|]. eapply Rle_trans; [apply Rlt_le, L | apply bpow_le; lia].
Qed.

(* -- Sums over a block --------------------------------------------------------------------------------------------- *)

Lemma weight_nonneg : forall block, Forall well_aligned block -> 0 <= weight block.
Proof.
  intros block H. induction H as [|[p w] block [_ W] _ IH]; unfold weight in *; simpl in *; lra.
Qed.

Lemma value_le_weight : forall block, Forall well_aligned block -> Rabs (value_of block) <= weight block.
Proof.
  intros block H. induction H as [|[p w] block [P W] _ IH]; unfold weight, value_of in *; simpl in *.
  - rewrite Rabs_R0. lra.
  - eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

Lemma aligned_sum : forall g block, Forall well_aligned block ->
  let s := sum (map (fun o => aligned g (fst o)) block) in
  Rabs s <= weight block /\ Rabs (s - value_of block) <= INR (length block) * pow2 g.
Proof.
  intros g block H. induction H as [|[p w] block [P W] _ [IH1 IH2]]; unfold weight, value_of in *; simpl in *.
  - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. change (INR 0) with 0. lra.
  - rewrite S_INR. pose proof (aligned_le g p). pose proof (aligned_error g p).
    set (s := sum (map (fun o => aligned g (fst o)) block)) in *. set (v := sum (map fst block)) in *. split.
    + eapply Rle_trans; [apply Rabs_triang | lra].
    + replace (aligned g p + s - (p + v)) with ((aligned g p - p) + (s - v)) by ring.
      eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

Lemma sum_multiple : forall k (f : operand -> R) block, Forall (fun o => multiple k (f o)) block ->
  multiple k (sum (map f block)).
Proof.
  intros k f block H. induction H; simpl; [apply multiple_0 | apply multiple_add; assumption].
Qed.

Lemma reaches_le : forall e c block, Forall well_aligned block -> reaches e c block ->
  pow2 e <= Rabs c + weight block.
Proof.
  intros e c block H [L | E].
  - pose proof (weight_nonneg block H). lra.
  - pose proof (Rabs_pos c). induction H as [|[p w] block [P W] A IH]; [inversion E|].
    pose proof (weight_nonneg block A). unfold weight in *. simpl in *.
    inversion E as [o rest X | o rest X]; subst; simpl in *; [lra|]. specialize (IH X). lra.
Qed.

(* -- One step ------------------------------------------------------------------------------------------------------ *)

Definition has_product (block : list operand) := match block with [] => 0%nat | _ => 1%nat end.

(* What truncation below 2^-149 adds: nothing where all products are multiples of it. *)
Definition underflows (small : bool) (block : list operand) :=
  small = true \/ Forall (fun o => multiple (-149) (fst o)) block.
Definition lost (small : bool) := if small then pow2 (-149) else 0.

Lemma step_error : forall F small c block d t, (23 <= F)%Z -> F32 c -> Forall well_aligned block ->
  underflows small block -> Rabs c + weight block <= t -> step F c block d ->
  F32 d /\ Rabs d <= Rabs c + weight block /\
  Rabs (d - (c + value_of block)) <=
    (INR (length block) * pow2 (- F) + INR (has_product block) * (pow2 (- F) + pow2 (-23))) * t +
    INR (has_product block) * lost small.
Proof.
  intros F small c block d t HF Fc A Small T [(-> & -> & ->) | (e & R & ->)].
  - unfold weight, value_of in *. simpl in *. replace (0 - (0 + 0)) with 0 by ring. rewrite Rabs_R0.
    change (INR 0) with 0. repeat split; [apply F32_zero | lra | lra].
  - destruct block as [|o block'] eqn:B.
    + unfold weight, value_of in *. simpl in *. destruct R as [L | E]; [|inversion E].
      rewrite !Rplus_0_r, aligned_exact, rz32_exact by (try apply accumulator_fits; assumption).
      change (INR 0) with 0. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. repeat split; [exact Fc | lra | lra].
    + rewrite <- B in *. replace (has_product block) with 1%nat by (rewrite B; reflexivity). change (INR 1) with 1.
      set (g := (e - F)%Z). destruct (aligned_sum g block A) as [S1 S2].
      set (s := sum (map (fun o => aligned g (fst o)) block)) in *.
      pose proof (aligned_le g c) as C1. pose proof (aligned_error g c) as C2. set (a := aligned g c) in *.
      assert (G : pow2 g <= pow2 (- F) * t).
      { unfold g. replace (e - F)%Z with (- F + e)%Z by ring. rewrite bpow_plus.
        apply Rmult_le_compat_l; [apply bpow_ge_0|]. eapply Rle_trans; [apply (reaches_le e c block A R) | exact T]. }
      assert (X : Rabs (a + s) <= Rabs c + weight block) by (eapply Rle_trans; [apply Rabs_triang | lra]).
      assert (Z : Rabs (rz32 (a + s) - (a + s)) <= pow2 (-23) * t + lost small).
      { assert (pow2 (-23) * Rabs (a + s) <= pow2 (-23) * t) by (apply Rmult_le_compat_l; [apply bpow_ge_0 | lra]).
        destruct Small as [-> | M]; [pose proof (rz32_error (a + s)); change (lost true) with (pow2 (-149)); lra|].
        assert (0 <= lost small) by (destruct small; [apply bpow_ge_0 | apply Rle_refl]).
        assert (MX : multiple (-149) (a + s)).
        { apply multiple_add; [apply aligned_multiple, F32_multiple_149, Fc|]. apply sum_multiple.
          eapply Forall_impl; [|exact M]. intros. apply aligned_multiple. assumption. }
        pose proof (rz32_error_multiple _ MX). lra. }
      split; [apply rz32_format|]. split; [eapply Rle_trans; [apply rz32_le | exact X]|].
      replace (rz32 (a + s) - (c + value_of block)) with
        ((rz32 (a + s) - (a + s)) + ((a - c) + (s - value_of block))) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
      assert (INR (length block) * pow2 g <= INR (length block) * (pow2 (- F) * t)).
      { apply Rmult_le_compat_l; [apply pos_INR | exact G]. }
      lra.
Qed.

(* -- A chain ------------------------------------------------------------------------------------------------------- *)

Definition nonzeros (blocks : list (list operand)) := fold_right (fun b n => (length b + n)%nat) O blocks.
Definition nonempty (blocks : list (list operand)) := fold_right (fun b n => (has_product b + n)%nat) O blocks.
Definition weights (blocks : list (list operand)) := sum (map weight blocks).
Definition values (blocks : list (list operand)) := sum (map value_of blocks).

Definition chain_factor F k b := INR k * pow2 (- F) + INR b * (pow2 (- F) + pow2 (-23)).

Lemma weights_nonneg : forall blocks, Forall (Forall well_aligned) blocks -> 0 <= weights blocks.
Proof.
  intros blocks H. induction H as [|block blocks A _ IH]; unfold weights in *; simpl in *; [lra|].
  pose proof (weight_nonneg block A). lra.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: A chain of blocks of a matrix unit as modelled stays within (K' 2^-F + b (2^-F + 2^-23)) sum a' b', with b 2^-149 where products may be below 2^-149, and never grows beyond that sum. *)
Theorem chain_error : forall F small c blocks r, (23 <= F)%Z -> F32 c -> Forall (Forall well_aligned) blocks ->
  Forall (underflows small) blocks -> chain F c blocks r ->
  F32 r /\ Rabs r <= Rabs c + weights blocks /\
  Rabs (r - (c + values blocks)) <=
    chain_factor F (nonzeros blocks) (nonempty blocks) * (Rabs c + weights blocks) +
    INR (nonempty blocks) * lost small.
Proof.
  intros F small c blocks r HF Fc A Small C. set (t := Rabs c + weights blocks).
  assert (T : Rabs c + weights blocks <= t) by apply Rle_refl.
  assert (Main : F32 r /\ Rabs r <= Rabs c + weights blocks /\ Rabs (r - (c + values blocks)) <=
    chain_factor F (nonzeros blocks) (nonempty blocks) * t + INR (nonempty blocks) * lost small); [|exact Main].
  clearbody t. revert Fc A Small T. induction C as [c | c block d rest r S C IH]; intros Fc A Small T.
  - unfold weights, values, chain_factor in *. simpl in *. change (INR 0) with 0.
    rewrite !Rplus_0_r, Rminus_diag_eq, Rabs_R0 by reflexivity. repeat split; [exact Fc | lra | lra].
  - inversion A as [|x y Ab Ar]; subst. inversion Small as [|x y Sb Sr]; subst.
    unfold weights, values in *. simpl in *. fold (weights rest) in *. fold (values rest) in *.
    pose proof (weights_nonneg rest Ar) as W.
    destruct (step_error F small c block d t HF Fc Ab Sb) as (Fd & D1 & D2); [lra | exact S|].
    destruct IH as (Fr & R1 & R2); auto; [lra|].
    split; [exact Fr|]. split; [lra|].
    replace (r - (c + (value_of block + values rest))) with
      ((d - (c + value_of block)) + (r - (d + values rest))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold chain_factor in *. rewrite !plus_INR. lra.
Qed.

(* -- Operands of 16 bits ------------------------------------------------------------------------------------------- *)

(* A factor that is subnormal is not normalised: it counts as the smallest normal number. *)
Definition aligned_factor emin prec x := Rmax (Rabs x) (pow2 (emin + prec - 1)).

Definition operand_of emin prec (o : operand) := exists a b, a <> 0 /\ b <> 0 /\
  generic_format radix2 (FLT_exp emin prec) a /\ generic_format radix2 (FLT_exp emin prec) b /\
  o = (a * b, aligned_factor emin prec a * aligned_factor emin prec b).

Definition operand_in d :=
  match d with f16 => operand_of emin16 prec16 | bf16 => operand_of eminb16 precb16 | f32 => fun _ => False end.

(* Truncation at F bits of an exponent that the product itself reaches changes nothing: it has few bits. *)
Definition fits F (o : operand) := forall e, pow2 e <= snd o -> multiple (e - F) (fst o).

Lemma factor_bits : forall emin prec a, Prec_gt_0 prec -> generic_format radix2 (FLT_exp emin prec) a ->
  exists k, multiple k a /\ (emin <= k)%Z /\ aligned_factor emin prec a < pow2 (k + prec).
Proof.
  intros emin prec a P A. exists (cexp radix2 (FLT_exp emin prec) a). split; [|split].
  - exists (Ztrunc (scaled_mantissa radix2 (FLT_exp emin prec) a)). exact A.
  - unfold cexp, FLT_exp. lia.
  - unfold Prec_gt_0 in P. unfold aligned_factor. apply Rmax_lub_lt.
    + eapply Rlt_le_trans; [apply bpow_mag_gt|]. apply bpow_le. unfold cexp, FLT_exp. lia.
    + apply bpow_lt. unfold cexp, FLT_exp. lia.
Qed.

Lemma operand_fits : forall emin prec F o, Prec_gt_0 prec -> (2 * prec <= F)%Z -> operand_of emin prec o -> fits F o.
Proof.
  intros emin prec F o P HF (a & b & Na & Nb & A & B & ->) e L. cbn [fst snd] in *.
  destruct (factor_bits emin prec a P A) as (k & Ma & _ & La).
  destruct (factor_bits emin prec b P B) as (l & Mb & _ & Lb).
  assert (E : (e < (k + prec) + (l + prec))%Z).
  { apply (lt_bpow radix2). eapply Rle_lt_trans; [exact L|]. rewrite bpow_plus.
    apply Rmult_le_0_lt_compat; auto; unfold aligned_factor;
      (eapply Rle_trans; [apply Rabs_pos | apply Rmax_l]). }
  apply (multiple_coarser _ (k + l)); [lia | apply multiple_mul; assumption].
Qed.

Lemma operand_well_aligned : forall emin prec o, operand_of emin prec o -> well_aligned o.
Proof.
  intros emin prec o (a & b & Na & Nb & _ & _ & ->). unfold well_aligned, aligned_factor. simpl. split.
  - rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos, Rmax_l.
  - apply Rmult_lt_0_compat; (eapply Rlt_le_trans; [|apply Rmax_l]); apply Rabs_pos_lt; assumption.
Qed.

Lemma operand_in_fits : forall F d o, (23 <= F)%Z -> operand_in d o -> fits F o.
Proof.
  intros F [] o HF H; simpl in H; [| |contradiction].
  - apply (operand_fits emin16 prec16); [reflexivity | unfold prec16; lia | exact H].
  - apply (operand_fits eminb16 precb16); [reflexivity | unfold precb16; lia | exact H].
Qed.

Lemma operand_in_well_aligned : forall d o, operand_in d o -> well_aligned o.
Proof. intros [] o H; simpl in H; [| |contradiction]; eapply operand_well_aligned; exact H. Qed.

(* bf16 products may be below 2^-149. *)
Definition is_small d := match d with bf16 => true | _ => false end.

Lemma operand_in_underflows : forall d block, Forall (operand_in d) block -> underflows (is_small d) block.
Proof.
  intros [] block H; [right | left; reflexivity | right].
  - eapply Forall_impl; [|exact H]. intros o (a & b & _ & _ & A & B & ->). simpl.
    apply F32_multiple_149, fp16_product_exact; assumption.
  - eapply Forall_impl; [|exact H]. intros o [].
Qed.

(* One product in a block, the accumulator being zero, loses nothing but what is below 2^-149. *)
Lemma alone_in_step : forall F d o r, (23 <= F)%Z -> operand_in d o -> step F 0 [o] r ->
  Rabs (r - fst o) <= lost (is_small d).
Proof.
  intros F d o r HF O [(_ & E & _) | (e & R & ->)]; [discriminate|].
  assert (L : pow2 e <= snd o).
  { destruct R as [L | E]; [rewrite Rabs_R0 in L; pose proof (bpow_gt_0 radix2 e); lra|].
    inversion E as [x y X | x y X]; subst; [exact X | inversion X]. }
  pose proof (operand_in_fits F d o HF O e L) as M. simpl.
  rewrite (aligned_exact _ 0) by apply multiple_0. rewrite (aligned_exact _ _ M), Rplus_0_l, Rplus_0_r.
  destruct d; simpl in O; [| |contradiction]; destruct O as (a & b & _ & _ & A & B & ->); simpl fst.
  - rewrite rz32_exact by (apply fp16_product_exact; assumption).
    rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rle_refl.
  - change (lost (is_small bf16)) with (pow2 (-149)). destruct (bf16_product_exact a b A B) as [X | X].
    + rewrite rz32_exact by exact X. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply bpow_ge_0.
    + destruct (Req_dec (a * b) 0) as [Z | N].
      { rewrite Z, rz32_exact, Rminus_diag_eq, Rabs_R0 by (apply F32_zero || reflexivity). apply bpow_ge_0. }
      apply Rlt_le. eapply Rlt_le_trans; [apply error_lt_ulp; auto with typeclass_instances|].
      rewrite ulp_FLT_small; auto with typeclass_instances; [apply Rle_refl|].
      eapply Rlt_trans; [exact X | apply bpow_lt; unfold emin32, prec32; lia].
Qed.

Lemma empty_step : forall F c r, (23 <= F)%Z -> F32 c -> step F c [] r -> r = c.
Proof.
  intros F c r HF Fc S. assert (A : Forall well_aligned []) by constructor.
  assert (U : underflows false []) by (right; constructor).
  destruct (step_error F false c [] r _ HF Fc A U (Rle_refl _) S) as (_ & _ & E).
  unfold value_of in E. simpl in E. change (INR 0) with 0 in E.
  assert (E' : Rabs (r - (c + 0)) <= 0) by lra. apply Rabs_le_inv in E'. lra.
Qed.

(* Without products the accumulator stays. *)
Lemma empty_chain : forall F c blocks r, (23 <= F)%Z -> F32 c -> nonzeros blocks = O -> chain F c blocks r -> r = c.
Proof.
  intros F c blocks r HF Fc N C. induction C as [c | c block d rest r S C IH]; [reflexivity|].
  simpl in N. destruct block; [|simpl in N; lia].
  rewrite (empty_step F c d HF Fc S) in *. apply IH; auto.
Qed.

Lemma alone_in_chain : forall F d blocks r, (23 <= F)%Z -> Forall (Forall (operand_in d)) blocks ->
  nonzeros blocks = 1%nat -> chain F 0 blocks r ->
  Rabs (r - values blocks) <= lost (is_small d).
Proof.
  intros F d blocks r HF O N C. remember 0 as c eqn:Z. induction C as [c | c block x rest r S C IH]; [discriminate|].
  subst c. inversion O as [|y z Ob Or]; subst. unfold values in *. simpl in *.
  destruct block as [|o [|o' block]]; simpl in N; [| |lia].
  - rewrite (empty_step F 0 x HF F32_zero S) in *. unfold value_of at 1. simpl. rewrite Rplus_0_l. apply IH; auto.
  - assert (Fx : F32 x) by (destruct S as [(_ & E & _) | (e & _ & ->)]; [discriminate | apply rz32_format]).
    rewrite (empty_chain F x rest r HF Fx) by (auto; lia).
    inversion Ob as [|y z Oo _]; subst. pose proof (alone_in_step F d o x HF Oo S) as E.
    assert (V : sum (map value_of rest) = 0).
    { assert (N0 : nonzeros rest = 0%nat) by lia. clear - N0. induction rest as [|b rest IH]; [reflexivity|].
      simpl in *. destruct b; [|simpl in N0; lia]. rewrite IH by lia. unfold value_of. simpl. ring. }
    rewrite V. unfold value_of. simpl. rewrite !Rplus_0_r. exact E.
Qed.

(* -- Exact sums ---------------------------------------------------------------------------------------------------- *)

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: Where accumulator and products are multiples of q = 2^k and |c| + sum a' b' <= 2^24 q, a matrix unit with F >= 23 gives the exact sum. *)
Theorem chain_exact : forall F d k c blocks r, (23 <= F)%Z -> (-126 <= k)%Z -> F32 c ->
  Forall (Forall (operand_in d)) blocks -> multiple k c -> Forall (Forall (fun o => multiple k (fst o))) blocks ->
  Rabs c + weights blocks <= pow2 (24 + k) -> chain F c blocks r -> r = c + values blocks.
Proof.
  intros F d k c blocks r HF K Fc O Mc M T C. remember (pow2 (24 + k)) as limit eqn:E.
  assert (Limit : limit <= pow2 (24 + k) <= limit) by (rewrite E; split; apply Rle_refl). clear E. revert Fc O Mc M T.
  induction C as [c | c block x rest r S C IH]; intros Fc O Mc M T; [unfold values; simpl; ring|].
  inversion O as [|y z Ob Or]; subst. inversion M as [|y z Mb Mr]; subst.
  assert (A : Forall well_aligned block) by (eapply Forall_impl; [|exact Ob]; apply operand_in_well_aligned).
  assert (Ar : Forall (Forall well_aligned) rest).
  { eapply Forall_impl; [|exact Or]. intros b Hb. eapply Forall_impl; [|exact Hb]. apply operand_in_well_aligned. }
  pose proof (weights_nonneg rest Ar) as Wr. pose proof (weight_nonneg block A) as Wb.
  unfold weights, values in *. simpl in *. fold (weights rest) in *. fold (values rest) in *.
  assert (Step : x = c + value_of block).
  { destruct S as [(-> & -> & ->) | (e & R & ->)]; [unfold value_of; simpl; ring|].
    assert (Exact : aligned (e - F) c = c /\ sum (map (fun o => aligned (e - F) (fst o)) block) = value_of block).
    { pose proof (reaches_le e c block A R) as L.
      destruct (Z_le_gt_dec e (23 + k)) as [Low | High].
      - split; [apply aligned_exact, (multiple_coarser _ k); [lia | exact Mc]|].
        unfold value_of. f_equal. apply map_ext_in. intros o In. apply aligned_exact, (multiple_coarser _ k); [lia|].
        rewrite Forall_forall in Mb. apply Mb, In.
      - (* 2^e is all there can be: that operand is alone. *)
        assert (Top : limit <= pow2 e) by (eapply Rle_trans; [apply Limit | apply bpow_le; lia]).
        destruct R as [Lc | E].
        + assert (W0 : weight block = 0) by lra.
          assert (block = []) as ->.
          { destruct block as [|o block]; [reflexivity|]. inversion A as [|y z [_ Wo] A']; subst.
            pose proof (weight_nonneg block A') as W1. unfold weight in W0, W1. simpl in W0. lra. }
          split; [apply aligned_exact, accumulator_fits; assumption | reflexivity].
        + assert (Single : forall l, Forall well_aligned l -> Exists (fun o => pow2 e <= snd o) l ->
            weight l <= pow2 e -> exists o, l = [o] /\ pow2 e <= snd o).
          { intros l Al El Wl. destruct l as [|o l]; [inversion El|]. inversion Al as [|y z [_ Wo] Al']; subst.
            pose proof (weight_nonneg l Al') as W0. unfold weight in Wl, W0. simpl in Wl.
            inversion El as [y z X | y z X]; subst.
            - exists o. split; [|exact X]. destruct l as [|o' l]; [reflexivity|].
              inversion Al' as [|y z [_ Wo'] Al'']; subst. pose proof (weight_nonneg l Al'') as W1.
              unfold weight in W1. simpl in Wl. lra.
            - exfalso. pose proof (reaches_le e 0 l Al' (or_intror X)) as Y. rewrite Rabs_R0 in Y.
              unfold weight in Y. lra. }
          pose proof (Rabs_pos c). destruct (Single block A E) as (o & -> & Lo); [lra|].
          assert (c = 0) as ->.
          { unfold weight in T. simpl in T. destruct (Req_dec c 0) as [Z | N]; [exact Z|].
            apply Rabs_pos_lt in N. lra. }
          split; [apply aligned_exact, multiple_0|]. unfold value_of. simpl. inversion Ob as [|y z Oo _]; subst.
          rewrite aligned_exact; [reflexivity|]. apply (operand_in_fits F d o HF Oo e Lo). }
    destruct Exact as [-> ->]. apply rz32_exact. apply (multiple_format k); [lia| |].
    - apply multiple_add; [exact Mc | apply sum_multiple; exact Mb].
    - eapply Rle_trans; [|apply Limit]. eapply Rle_trans; [apply Rabs_triang|].
      pose proof (value_le_weight block A). lra. }
  assert (Fx : F32 x) by (destruct S as [(_ & _ & ->) | (e & _ & ->)]; [apply F32_zero | apply rz32_format]).
  assert (Mx : multiple k x) by (rewrite Step; apply multiple_add; [exact Mc | apply sum_multiple; exact Mb]).
  assert (Lx : Rabs x <= Rabs c + weight block).
  { rewrite Step. eapply Rle_trans; [apply Rabs_triang|]. pose proof (value_le_weight block A). lra. }
  rewrite IH by (auto; lra). rewrite Step. ring.
Qed.

(* -- The bound of the C code --------------------------------------------------------------------------------------- *)

Definition fraction_bits unit := match unit with unit_unknown => 23%Z | unit_sm_80 => 24%Z | unit_sm_90 => 25%Z end.

Lemma units_of_the_code : forall unit,
  dyadic_R (truncation_of unit) = pow2 (- fraction_bits unit) /\ (23 <= fraction_bits unit)%Z.
Proof.
  intros []; (split; [|simpl; lia]); simpl;
    unfold TKI_UNIT_UNKNOWN_truncation, TKI_UNIT_SM_80_truncation, TKI_UNIT_SM_90_truncation;
    rewrite dyadic_R_bpow; apply Rmult_1_l.
Qed.

(* What the oracle knows of one output element: blocks of the unit's length, the accumulator beginning with c0, its end
   c added in fp32, in any order, to `after` further nonzero terms of sum x and sum of absolute values mx. *)
Record computed_by_unit unit s c0 blocks c t x mx (after : nat) : Prop := {
  of_16_bits : factors s <> f32;
  begins : F32 c0;
  operands : Forall (Forall (operand_in (factors s))) blocks;
  chained : chain (fraction_bits unit) c0 blocks c;
  counted : nonzero_of s = Z.of_nat (nonzeros blocks);
  blocked : (Z.of_nat (length blocks) <= (products_of s + block_of unit - 1) / block_of unit)%Z;
  further : well_formed t;
  further_terms : products t = O;
  further_exact : exact t = c + x;
  further_magnitude : magnitude t <= Rabs c + mx;
  further_nonzero : (nonzero t <= is_nonzero c + after)%nat;
  extras_counted : extras_of s = Z.of_nat (is_nonzero c0 + after);
  enough : Rabs c0 + weights blocks + mx <= Q2R (whole_magnitude s);
  not_negative : 0 <= mx
}.

Lemma nonempty_bounds : forall blocks, (nonempty blocks <= nonzeros blocks)%nat /\
  (nonempty blocks <= length blocks)%nat /\ (1 <= nonzeros blocks -> 1 <= nonempty blocks)%nat.
Proof.
  induction blocks as [|[|o block] blocks (IH1 & IH2 & IH3)]; simpl; repeat split; intros; try lia.
Qed.

Lemma no_values : forall blocks, nonzeros blocks = 0%nat -> values blocks = 0.
Proof.
  unfold values. induction blocks as [|[|o block] blocks IH]; simpl; intros N; [reflexivity| |lia].
  rewrite IH by lia. unfold value_of. simpl. ring.
Qed.

Lemma smallest_of_the_code : Q2R (dyadic_Q TKI_FP32_SMALLEST) = pow2 (-149).
Proof. rewrite dyadic_Q2R. unfold TKI_FP32_SMALLEST. rewrite dyadic_R_bpow. apply Rmult_1_l. Qed.

Lemma store_of_the_code : Q2R (dyadic_Q TKI_MATRIX_UNIT_STORE) = pow2 (-23).
Proof. rewrite dyadic_Q2R. unfold TKI_MATRIX_UNIT_STORE. rewrite dyadic_R_bpow. apply Rmult_1_l. Qed.

Lemma growth_of_the_code : 1 <= Q2R (dyadic_Q TKI_PRODUCT_GROWTH).
Proof.
  rewrite dyadic_Q2R. unfold TKI_PRODUCT_GROWTH. rewrite dyadic_R_bpow. change (pow2 (-20)) with (/ 1048576). lra.
Qed.

Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma chain_bound_holds : forall unit s c0 blocks c t x mx after, computed_by_unit unit s c0 blocks c t x mx after ->
  F32 c /\ Rabs c <= Rabs c0 + weights blocks /\ Rabs (c - (c0 + values blocks)) <= Q2R (chain_bound unit s).
Proof.
  intros unit s c0 blocks c t x mx after H. destruct H as [D Fc O C N L W P Ex Mx Nx E T M0].
  destruct (units_of_the_code unit) as [Unit HF]. set (F := fraction_bits unit) in *.
  assert (A : Forall (Forall well_aligned) blocks).
  { eapply Forall_impl; [|exact O]. intros b Hb. eapply Forall_impl; [|exact Hb]. apply operand_in_well_aligned. }
  assert (U : Forall (underflows (is_small (factors s))) blocks).
  { eapply Forall_impl; [|exact O]. apply operand_in_underflows. }
  destruct (chain_error F _ c0 blocks c HF Fc A U C) as (Fd & D1 & D2).
  split; [exact Fd|]. split; [exact D1|].
  destruct (nonempty_bounds blocks) as (B1 & B2 & B3).
  pose proof (weights_nonneg blocks A) as W0. pose proof (Rabs_pos c0) as C0.
  set (b := blocks_of unit s).
  assert (B : (Z.of_nat (nonempty blocks) <= b)%Z) by (unfold b, blocks_of; lia).
  assert (Bk : INR (nonempty blocks) <= IZR b) by (rewrite INR_IZR_INZ; apply IZR_le; exact B).
  pose proof (pos_INR (nonempty blocks)) as B0.
  assert (S149 : 0 < pow2 (-149)) by apply bpow_gt_0.
  assert (Lost : 0 <= lost (is_small (factors s))) by
    (destruct (factors s); [apply Rle_refl | apply bpow_ge_0 | apply Rle_refl]).
  assert (Under : INR (nonempty blocks) * lost (is_small (factors s)) <=
    Q2R (match factors s with bf16 => inject_Z b * dyadic_Q TKI_FP32_SMALLEST | _ => 0 end)).
  { destruct (factors s); simpl is_small; unfold lost.
    - rewrite Q2R_0. lra.
    - rewrite Q2R_mult, Q2R_inject, smallest_of_the_code. apply Rmult_le_compat_r; lra.
    - rewrite Q2R_0. lra. }
  unfold chain_bound. fold b.
  destruct ((nonzero_of s + extras_of s <=? 1)%Z || (nonzero_of s =? 0)%Z) eqn:Alone.
  - rewrite Q2R_plus, Q2R_mult, Q2R_0, Rmult_0_l, Rplus_0_l. eapply Rle_trans; [|exact Under].
    destruct (Nat.eq_dec (nonzeros blocks) 0) as [Z | Z].
    + rewrite (empty_chain F c0 blocks c HF Fc Z C), (no_values blocks Z), Rplus_0_r.
      rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rmult_le_pos; lra.
    + apply orb_true_iff in Alone. rewrite Z.leb_le, Z.eqb_eq in Alone.
      assert (K1 : nonzeros blocks = 1%nat) by lia.
      assert (Z0 : c0 = 0) by (apply is_nonzero_0; lia). subst c0.
      pose proof (alone_in_chain F _ blocks c HF O K1 C) as X. rewrite Rplus_0_l. eapply Rle_trans; [exact X|].
      rewrite <- (Rmult_1_l (lost _)) at 1. apply Rmult_le_compat_r; [exact Lost|].
      change 1 with (INR 1). apply le_INR. lia.
  - rewrite Q2R_plus, Q2R_mult, Q2R_plus, !Q2R_mult, Q2R_plus, !Q2R_inject.
    rewrite store_of_the_code, (dyadic_Q2R (truncation_of unit)), Unit.
    eapply Rle_trans; [exact D2|]. apply Rplus_le_compat; [|exact Under].
    assert (F0 : 0 < pow2 (- F)) by apply bpow_gt_0. assert (S23 : 0 < pow2 (-23)) by apply bpow_gt_0.
    pose proof (pos_INR (nonzeros blocks)) as K0.
    unfold chain_factor. rewrite N, <- INR_IZR_INZ. apply Rmult_le_compat.
    + apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
    + lra.
    + apply Rplus_le_compat_l, Rmult_le_compat_r; lra.
    + lra.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: A chain of blocks of a matrix unit as modelled, with further terms in its accumulator or added in fp32 afterwards, is within the B of numerics tensor_core that the C code evaluates. *)
Theorem tensor_core_bound_holds : forall unit s c0 blocks c t x mx after,
  computed_by_unit unit s c0 blocks c t x mx after ->
  Rabs (computed32 t - (c0 + values blocks + x)) <= Q2R (tensor_core_bound unit s).
Proof.
  intros unit s c0 blocks c t x mx after H.
  destruct (chain_bound_holds unit s c0 blocks c t x mx after H) as (Fd & D1 & D2).
  destruct H as [D Fc O C N L W P Ex Mx Nx E T M0].
  destruct (units_of_the_code unit) as [_ HF]. pose proof u_positive as U.
  set (chain := Q2R (chain_bound unit s)) in *. assert (0 <= chain) by (eapply Rle_trans; [apply Rabs_pos | exact D2]).
  set (whole := Q2R (whole_magnitude s)) in *. pose proof (magnitude_nonneg t) as Mt.
  assert (M : magnitude t <= whole) by lra.
  pose proof (any_order t W (terms_all_products _ t P)) as A. rewrite Ex in A.
  unfold tensor_core_bound. rewrite Q2R_plus, !Q2R_mult, Q2R_plus, Q2R_inject, Q2R_u. fold chain whole.
  set (a := (if (0 <? nonzero_of s)%Z || (extras_of s =? 0)%Z then extras_of s else extras_of s - 1)%Z).
  assert (Ra : additions (nonzero t) <= IZR a).
  { unfold additions. rewrite INR_IZR_INZ. apply IZR_le. unfold a.
    destruct ((0 <? nonzero_of s)%Z || (extras_of s =? 0)%Z) eqn:G.
    - destruct (is_nonzero_cases c) as [[_ Z] | [_ Z]]; lia.
    - apply orb_false_iff in G. rewrite Z.ltb_ge, Z.eqb_neq in G.
      rewrite (empty_chain (fraction_bits unit) c0 blocks c HF Fc ltac:(lia) C) in Nx. lia. }
  pose proof (pos_INR (Nat.pred (nonzero t))) as R0. fold (additions (nonzero t)) in R0.
  pose proof growth_of_the_code as G. set (growth := Q2R (dyadic_Q TKI_PRODUCT_GROWTH)) in *.
  replace (computed32 t - (c0 + values blocks + x)) with
    ((c - (c0 + values blocks)) + (computed32 t - (c + x))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [exact D2|]. eapply Rle_trans; [exact A|].
  assert (Au : 0 <= additions (nonzero t) * u) by (apply Rmult_le_pos; lra).
  apply Rmult_le_compat; [exact Au | exact Mt | | lra].
  apply Rle_trans with (IZR a * u * 1); [rewrite Rmult_1_r; apply Rmult_le_compat_r; lra|].
  apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact G].
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: Such a result, rounded once to the type of the output, is accepted by the C code's B, if no sum overflows on the way. *)
Theorem matrix_unit_is_accepted : forall result unit s c0 blocks c t x mx after,
  computed_by_unit unit s c0 blocks c t x mx after -> numerics_of s = tensor_core unit -> is_exact s = false ->
  accepted_in result (c0 + values blocks + x) (Q2R (product_bound s)) (stored result (computed32 t)).
Proof.
  intros result unit s c0 blocks c t x mx after H I X. apply stored_accepted.
  unfold product_bound. rewrite X, I. apply (tensor_core_bound_holds unit s c0 blocks c t x mx after H).
Qed.

(* -- Chains that are split and joined in fp32 ---------------------------------------------------------------------- *)

Notation part := (list (list operand) * R)%type.
Definition total_nonzeros (parts : list part) := fold_right (fun p n => (nonzeros (fst p) + n)%nat) O parts.
Definition total_nonempty (parts : list part) := fold_right (fun p n => (nonempty (fst p) + n)%nat) O parts.

Lemma part_counts : forall parts p, Forall (fun p => (1 <= nonempty (fst p))%nat) parts -> In p parts ->
  (nonempty (fst p) + length parts <= total_nonempty parts + 1)%nat /\ (nonzeros (fst p) <= total_nonzeros parts)%nat.
Proof.
  assert (Least : forall parts, Forall (fun p : part => (1 <= nonempty (fst p))%nat) parts ->
    (length parts <= total_nonempty parts)%nat) by (intros parts H; induction H; simpl; lia).
  unfold total_nonempty, total_nonzeros in *.
  intros parts p H. induction H as [|q parts Q A IH]; cbn [fold_right length In]; [tauto|].
  intros [-> | I]; [specialize (Least parts A); lia | specialize (IH I); lia].
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: Chains from zero, each with a product, joined in any order by fp32 additions, stay within the bound of one chain with all their blocks. *)
Theorem split_chains : forall F small parts t, (23 <= F)%Z ->
  Forall (fun p => Forall (Forall well_aligned) (fst p) /\ Forall (underflows small) (fst p) /\
    chain F 0 (fst p) (snd p)) parts ->
  Forall (fun p => (1 <= nonempty (fst p))%nat) parts ->
  well_formed t -> products t = O -> exact t = sum (map snd parts) -> (nonzero t <= length parts)%nat ->
  magnitude t <= sum (map (fun p => Rabs (snd p)) parts) ->
  Rabs (computed32 t - sum (map (fun p => values (fst p)) parts)) <=
    chain_factor F (total_nonzeros parts) (total_nonempty parts) * sum (map (fun p => weights (fst p)) parts) +
    INR (total_nonempty parts) * lost small.
Proof.
  intros F small parts t HF C Some W P X N M. pose proof u_positive as U.
  set (joins := INR (length parts) - 1).
  set (f := chain_factor F (total_nonzeros parts) (total_nonempty parts) - joins * u).
  assert (F0 : 0 < pow2 (- F)) by apply bpow_gt_0. assert (U2 : u <= pow2 (-23)) by (apply bpow_le; lia).
  assert (Each : forall p, In p parts -> Rabs (snd p) <= weights (fst p) /\ 0 <= weights (fst p) /\
    Rabs (snd p - values (fst p)) <= f * weights (fst p) + INR (nonempty (fst p)) * lost small).
  { intros p I. rewrite Forall_forall in C. destruct (C p I) as (A & S & R).
    destruct (chain_error F small 0 (fst p) (snd p) HF F32_zero A S R) as (_ & L & E).
    pose proof (weights_nonneg _ A) as W0. rewrite Rabs_R0, !Rplus_0_l in *.
    split; [exact L|]. split; [exact W0|]. eapply Rle_trans; [exact E|].
    apply Rplus_le_compat_r, Rmult_le_compat_r; [exact W0|].
    destruct (part_counts parts p Some I) as [Cb Ck]. apply le_INR in Cb, Ck. rewrite !plus_INR in Cb.
    change (INR 1) with 1 in Cb. unfold f, chain_factor, joins.
    assert (INR (nonzeros (fst p)) * pow2 (- F) <= INR (total_nonzeros parts) * pow2 (- F)).
    { apply Rmult_le_compat_r; lra. }
    assert (INR (nonempty (fst p)) * (pow2 (- F) + pow2 (-23)) <=
      (INR (total_nonempty parts) + 1 - INR (length parts)) * (pow2 (- F) + pow2 (-23))).
    { apply Rmult_le_compat_r; lra. }
    assert (J : 0 <= INR (length parts) - 1).
    { assert (1 <= length parts)%nat by (destruct parts; [destruct I | simpl; lia]).
      assert (1 <= INR (length parts)) by (change 1 with (INR 1); apply le_INR; assumption). lra. }
    assert ((INR (length parts) - 1) * u <= (INR (length parts) - 1) * (pow2 (- F) + pow2 (-23))).
    { apply Rmult_le_compat_l; lra. }
    lra. }
  assert (All : forall l, (forall p, In p l -> In p parts) ->
    Rabs (sum (map snd l) - sum (map (fun p => values (fst p)) l)) <=
      f * sum (map (fun p => weights (fst p)) l) + INR (total_nonempty l) * lost small /\
    sum (map (fun p => Rabs (snd p)) l) <= sum (map (fun p => weights (fst p)) l)).
  { induction l as [|p l IH]; intros I; simpl.
    - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. change (INR 0) with 0. lra.
    - destruct IH as [IH1 IH2]; [intros q Q; apply I; right; exact Q|].
      destruct (Each p) as (E1 & E2 & E3); [apply I; left; reflexivity|]. rewrite plus_INR. split; [|lra].
      replace (snd p + sum (map snd l) - (values (fst p) + sum (map (fun p => values (fst p)) l))) with
        ((snd p - values (fst p)) + (sum (map snd l) - sum (map (fun p => values (fst p)) l))) by ring.
      eapply Rle_trans; [apply Rabs_triang | lra]. }
  destruct (All parts) as [A1 A2]; [auto|].
  pose proof (any_order t W (terms_all_products _ t P)) as A. rewrite X in A.
  set (r := sum (map snd parts)) in *. set (v := sum (map (fun p => values (fst p)) parts)) in *.
  set (w := sum (map (fun p => weights (fst p)) parts)) in *.
  assert (J : additions (nonzero t) * u * magnitude t <= joins * u * w).
  { pose proof (magnitude_nonneg t). destruct parts as [|p parts'].
    - assert (magnitude t = 0) as -> by (simpl in M; lra). unfold w. simpl. lra.
    - assert (additions (nonzero t) <= joins).
      { unfold additions, joins. assert (Few : (Nat.pred (nonzero t) <= length parts')%nat) by (simpl in N; lia).
        change (length (p :: parts')) with (1 + length parts')%nat. rewrite plus_INR. change (INR 1) with 1.
        apply le_INR in Few. lra. }
      assert (0 <= additions (nonzero t)) by apply pos_INR.
      apply Rmult_le_compat; [apply Rmult_le_pos; lra | assumption | apply Rmult_le_compat_r; lra | lra]. }
  replace (computed32 t - v) with ((computed32 t - r) + (r - v)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  replace (chain_factor F (total_nonzeros parts) (total_nonempty parts)) with (f + joins * u) by (unfold f; ring).
  lra.
Qed.
