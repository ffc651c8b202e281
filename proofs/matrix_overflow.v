(* Overflow and exact sums on matrix units as tensor_core.v models them: where the C code says that no sum can overflow,
   no value that a unit truncates on its way reaches 2^128 (1 - 2^-25), nor does one of the fp32 additions behind it;
   and where it says that a sum is exact, it is. Not proved: what a unit returns where a sum does overflow, which the
   contracts leave open but for infinities and NaN; and the same for chains that are joined afterwards. *)
From Coq Require Import Reals ZArith QArith Qreals Lia Lra Bool List.
From Flocq Require Import Core.
From Tokitai Require Import dyadic constants bounds formats sums exact_sum acceptance products overflow tensor_core.
Import ListNotations.
Open Scope R_scope.
Local Arguments INR : simpl never.

Lemma weights_app : forall a b, weights (a ++ b) = weights a + weights b.
Proof.
  intros a b. unfold weights. rewrite map_app. induction (map weight a) as [|x xs IH]; simpl; [ring | rewrite IH; ring].
Qed.

Lemma operands_aligned : forall d blocks, Forall (Forall (operand_in d)) blocks -> Forall (Forall well_aligned) blocks.
Proof.
  intros d blocks H. eapply Forall_impl; [|exact H]. intros block B. eapply Forall_impl; [|exact B].
  intros o O. apply (operand_in_well_aligned d), O.
Qed.

(* Every value that the unit truncates to fp32. *)
Definition unit_stays_finite F c0 blocks := forall before block behind m e,
  blocks = before ++ block :: behind -> chain F c0 before m ->
  let before_store := aligned (e - F) m + sum (map (fun o => aligned (e - F) (fst o)) block) in
  Rabs before_store < overflow_limit /\ Rabs (rz32 before_store) < overflow_limit.

Lemma below_limit : forall unit s c0 blocks c t x mx after p, computed_by_unit unit s c0 blocks c t x mx after ->
  INR (nonzero t) <= p -> p <= pow2 64 -> (1 + p * u) * (Rabs c0 + weights blocks + mx) < overflow_limit ->
  unit_stays_finite (fraction_bits unit) c0 blocks /\
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros unit s c0 blocks c t x mx after p [D Fc O C N L W P Ex Mx Nx E T M0] Np P64 H.
  pose proof u_positive as U. pose proof (pos_INR (nonzero t)) as N0. pose proof (operands_aligned _ _ O) as A.
  destruct (units_of_the_code unit) as [_ HF]. pose proof (Rabs_pos c0) as C0. pose proof (weights_nonneg _ A) as W0.
  assert (PM : 0 <= p * u * (Rabs c0 + weights blocks + mx)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  split.
  - intros before block behind m e B Cm. subst blocks. cbv zeta.
    apply Forall_app in A. destruct A as [A1 A2]. inversion A2 as [|y z Ab Ar]; subst.
    rewrite weights_app in *. change (weights (block :: behind)) with (weight block + weights behind) in *.
    assert (Small : Forall (underflows true) before) by (apply Forall_forall; left; reflexivity).
    destruct (chain_error _ true c0 before m HF Fc A1 Small Cm) as (_ & Bm & _).
    pose proof (weights_nonneg _ Ar). destruct (aligned_sum (e - fraction_bits unit) block Ab) as [S _].
    pose proof (aligned_le (e - fraction_bits unit) m) as Am.
    set (v := aligned _ m + sum _). assert (V : Rabs v < overflow_limit).
    { eapply Rle_lt_trans; [apply Rabs_triang|]. lra. }
    split; [exact V|]. eapply Rle_lt_trans; [apply rz32_le | exact V].
  - assert (F : stays_finite t); [|split; [exact F | apply stays_finite_evaluated, F]].
    assert (Small : Forall (underflows true) blocks) by (apply Forall_forall; left; reflexivity).
    destruct (chain_error _ true c0 blocks c HF Fc A Small C) as (_ & Bc & _).
    apply (below_limit_stays_finite p); auto; [rewrite P; change (INR 0) with 0; lra|].
    eapply Rle_lt_trans; [|exact H]. apply Rmult_le_compat_l; [|lra].
    apply Rplus_le_le_0_compat; [lra | apply Rmult_le_pos; lra].
Qed.

Lemma no_blocks : forall F c c', chain F c [] c' -> c' = c.
Proof. intros F c c' H. inversion H. reflexivity. Qed.

Lemma further_terms_counted : forall unit s c0 blocks c t x mx after,
  computed_by_unit unit s c0 blocks c t x mx after -> (0 <= products_of s)%Z ->
  INR (nonzero t) <= IZR (products_of s + extras_of s).
Proof.
  intros unit s c0 blocks c t x mx after [D Fc O C N L W P Ex Mx Nx E T M0] K0.
  rewrite INR_IZR_INZ. apply IZR_le. rewrite E.
  assert (Cn : (is_nonzero c <= 1)%nat) by (unfold is_nonzero; destruct (Req_EM_T c 0); lia).
  destruct blocks as [|block blocks].
  - apply no_blocks in C. subst c. lia.
  - assert (Bl : (1 <= block_of unit)%Z) by (destruct unit; cbv; discriminate).
    assert (1 <= (products_of s + block_of unit - 1) / block_of unit)%Z by (simpl length in L; lia).
    assert (1 <= products_of s)%Z; [|lia].
    destruct (Z_le_gt_dec 1 (products_of s)) as [G | G]; [exact G | exfalso].
    assert ((products_of s + block_of unit - 1) / block_of unit < 1)%Z; [|lia].
    apply Z.div_lt_upper_bound; lia.
Qed.

(* supports: GEMM.OVERFLOW GEMM_GRAD_A.OVERFLOW GEMM_GRAD_B.OVERFLOW GROUPED_GEMM.OVERFLOW GROUPED_GEMM_GRAD_A.OVERFLOW GROUPED_GEMM_GRAD_B.OVERFLOW LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW *)
(* says: Where the C code says that nothing can overflow, and the terms are at most 2^64, no sum of a matrix unit as modelled does, nor one of the additions behind it. *)
Theorem no_accumulator_overflows : forall unit s c0 blocks c t x mx after,
  computed_by_unit unit s c0 blocks c t x mx after -> may_overflow s = false -> never_overflows s = false ->
  (0 <= products_of s)%Z -> (products_of s + extras_of s <= 2 ^ 64)%Z ->
  unit_stays_finite (fraction_bits unit) c0 blocks /\
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros unit s c0 blocks c t x mx after H V N K0 K.
  pose proof (further_terms_counted _ _ _ _ _ _ _ _ _ H K0) as Nt. pose proof (may_not_overflow s V N) as R.
  unfold overflow_reach in R. rewrite Q2R_mult, Q2R_plus, Q2R_mult, Q2R_u, Q2R_inject in R.
  replace (Q2R 1) with 1 in R by (unfold Q2R; simpl; lra).
  apply (below_limit unit s c0 blocks c t x mx after (IZR (products_of s + extras_of s)) H Nt).
  - change (pow2 64) with (IZR (2 ^ 64)). apply IZR_le. exact K.
  - destruct H as [_ _ _ _ _ _ _ _ _ _ _ _ T _]. pose proof (pos_INR (nonzero t)). pose proof u_positive.
    eapply Rle_lt_trans; [|exact R]. apply Rmult_le_compat_l; [|exact T].
    apply Rplus_le_le_0_compat; [lra | apply Rmult_le_pos; lra].
Qed.

Lemma weights_at_most : forall w blocks, Forall (Forall (fun o => snd o <= w)) blocks ->
  weights blocks <= INR (nonzeros blocks) * w.
Proof.
  intros w blocks H. induction H as [|block blocks B _ IH]; [unfold weights; simpl; change (INR 0) with 0; lra|].
  change (nonzeros (block :: blocks)) with (length block + nonzeros blocks)%nat.
  change (weights (block :: blocks)) with (weight block + weights blocks).
  rewrite plus_INR. assert (weight block <= INR (length block) * w); [|lra]. clear IH.
  induction B as [|o block Ho _ IHb]; [unfold weight; simpl; change (INR 0) with 0; lra|].
  change (weight (o :: block)) with (snd o + weight block). simpl length. rewrite S_INR. lra.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.OVERFLOW LINEAR_GRAD_X.OVERFLOW LINEAR_GRAD_W.OVERFLOW *)
(* says: With at most 2^50 products of finite fp16 numbers and further terms below 2^100 no sum of a matrix unit as modelled overflows, nor one of the additions behind it. *)
Theorem fp16_unit_never_overflows : forall unit s c0 blocks c t x mx after,
  computed_by_unit unit s c0 blocks c t x mx after -> Forall (Forall (fun o => snd o <= pow2 32)) blocks ->
  Rabs c0 + mx < dyadic_R TKI_PRODUCT_F16_EXTRAS -> (0 <= products_of s)%Z ->
  (nonzero_of s <= products_of s)%Z -> (products_of s + extras_of s <= 2 ^ 50)%Z ->
  unit_stays_finite (fraction_bits unit) c0 blocks /\
  stays_finite t /\ evaluated (widened t) = Some (Finite (computed32 t)).
Proof.
  intros unit s c0 blocks c t x mx after H A X K0 Nk K.
  pose proof (further_terms_counted _ _ _ _ _ _ _ _ _ H K0) as Nt. pose proof (weights_at_most _ _ A) as Wt.
  assert (K1 : IZR (products_of s + extras_of s) <= pow2 50) by (change (pow2 50) with (IZR (2 ^ 50)); apply IZR_le, K).
  replace (dyadic_R TKI_PRODUCT_F16_EXTRAS) with (pow2 100) in X
    by (unfold TKI_PRODUCT_F16_EXTRAS; rewrite dyadic_R_bpow; ring).
  apply (below_limit unit s c0 blocks c t x mx after (pow2 50) H); [lra | apply bpow_le; lia|].
  assert (Kn : INR (nonzeros blocks) <= pow2 50).
  { destruct H as [_ _ _ _ N _ _ _ _ _ _ E _ _]. rewrite INR_IZR_INZ, <- N. eapply Rle_trans; [|exact K1].
    apply IZR_le. lia. }
  assert (Wm : weights blocks <= pow2 82).
  { eapply Rle_trans; [exact Wt|]. change (pow2 82) with (pow2 (50 + 32)). rewrite bpow_plus.
    apply Rmult_le_compat_r; [apply bpow_ge_0 | exact Kn]. }
  assert (pow2 82 <= pow2 100) by (apply bpow_le; lia).
  assert (Pu : pow2 50 * u = pow2 26) by (unfold u; rewrite <- bpow_plus; reflexivity).
  assert (E25 : pow2 26 = 2 * pow2 25) by exact (pow2_double 25).
  assert (E99 : pow2 100 = 2 * pow2 99) by exact (pow2_double 99).
  assert (L82 : pow2 82 <= pow2 99) by (apply bpow_le; lia).
  assert (L25 : 1 <= pow2 25) by (apply (bpow_le radix2 0); lia).
  rewrite Pu. apply Rle_lt_trans with (3 * pow2 25 * (3 * pow2 99)).
  - destruct H as [_ _ O _ _ _ _ _ _ _ _ _ _ M0]. pose proof (weights_nonneg _ (operands_aligned _ _ O)).
    pose proof (Rabs_pos c0). apply Rmult_le_compat; lra.
  - replace (3 * pow2 25 * (3 * pow2 99)) with (9 * pow2 124)
      by (change 124%Z with (25 + 99)%Z; rewrite bpow_plus; ring).
    rewrite overflow_limit_value. replace (pow2 128) with (16 * pow2 124)
      by (change 128%Z with (4 + 124)%Z; rewrite bpow_plus; reflexivity).
    assert (pow2 103 <= pow2 124) by (apply bpow_le; lia). assert (0 < pow2 124) by apply bpow_gt_0. lra.
Qed.

(* -- Exact sums ---------------------------------------------------------------------------------------------------- *)

(* What tki_sum_is_exact() decides for a sum on a matrix unit, where magnitudes are those of alignment. *)
Definition unit_decided_exact c0 blocks t mx := Rabs c0 + weights blocks + mx = 0 \/
  exists k, (-126 <= k <= 103)%Z /\ multiple k c0 /\ Forall (Forall (fun o => multiple k (fst o))) blocks /\
    all_leaves (multiple k) t /\ Rabs c0 + weights blocks + mx <= pow2 24 * pow2 k.

Lemma no_weight_no_operands : forall blocks, Forall (Forall well_aligned) blocks -> weights blocks = 0 ->
  values blocks = 0.
Proof.
  intros blocks A H. unfold weights, values in *. induction A as [|block blocks B A IH]; simpl in *; [reflexivity|].
  pose proof (weight_nonneg block B). pose proof (weights_nonneg blocks A) as W. unfold weights in W.
  pose proof (value_le_weight block B) as V. assert (Z : weight block = 0) by lra. rewrite Z in V.
  assert (value_of block = 0) as -> by (apply Rabs_eq_R0; pose proof (Rabs_pos (value_of block)); lra).
  rewrite IH by lra. ring.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: Where the C code says that a sum is exact, B = 0 accepts what a matrix unit as modelled gives, with further terms in its accumulator or added in fp32 afterwards. *)
Theorem exact_unit_is_accepted : forall result unit s c0 blocks c t x mx after,
  computed_by_unit unit s c0 blocks c t x mx after -> is_exact s = true -> unit_decided_exact c0 blocks t mx ->
  computed32 t = c0 + values blocks + x /\
  accepted_in result (c0 + values blocks + x) (Q2R (product_bound s)) (stored result (computed32 t)).
Proof.
  intros result unit s c0 blocks c t x mx after H I X.
  assert (E : computed32 t = c0 + values blocks + x).
  { destruct H as [D Fc O C N L W P Ex Mx Nx E T M0]. pose proof (operands_aligned _ _ O) as A.
    destruct (units_of_the_code unit) as [_ HF]. pose proof (Rabs_pos c0). pose proof (weights_nonneg _ A).
    assert (Small : Forall (underflows true) blocks) by (apply Forall_forall; left; reflexivity).
    destruct (chain_error _ true c0 blocks c HF Fc A Small C) as (_ & Bc & _).
    pose proof (Rabs_pos c). pose proof (magnitude_nonneg t).
    destruct X as [Z | (k & K & Mc & Mb & Ml & S)].
    - destruct (zero_sum (fun y => rn32 y) t) as [E1 E2]; [apply rn32_exact, F32_zero | lra|].
      rewrite (no_weight_no_operands blocks A) by lra.
      assert (c0 = 0) as -> by (apply Rabs_eq_R0; lra). assert (c = 0) by (apply Rabs_eq_R0; lra). lra.
    - rewrite (chain_exact (fraction_bits unit) (factors s) k c0 blocks c) in Ex; auto; try lia.
      + rewrite <- Ex. apply (exact_sum _ k); auto; [apply rn32_keeps_normal|]. lra.
      + rewrite bpow_plus. lra. }
  split; [exact E|]. apply stored_accepted. unfold product_bound. rewrite I, E, Rminus_diag_eq, Rabs_R0 by reflexivity.
  unfold Q2R. simpl. lra.
Qed.
