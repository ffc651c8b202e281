(* The bound of softmax_bwd: from a sum s~ that is within Bs of s, both y (g - s) and y g - y s, in fp32 operations with
   subnormal numbers, are within B of ops/softmax/contract.c; and Bs itself by the theorems of sums.v. The results here
   are rounded to fp32 once more than the contract's value where the output is fp32, so that both kinds of output are
   covered: the last operation's exact result is within B too.
   Not proved: bf16 rows with more than 1500 nonzero products
   and sum|y g| < n 2^-136, whose Bs has no factor for the additions of what underflow has added; and overflow. *)
From Coq Require Import Reals ZArith Lia Lra.
From Flocq Require Import Core Plus_error.
From Tokitai Require Import formats sums.
Open Scope R_scope.

(* products: how many of the two products of y g - y s are rounded; 1 for 16-bit types, 2 for fp32. *)
Definition backward_bound (products y g s Bs : R) :=
  Rabs y * (20001 / 10000 * u * Rabs (g - s) + 10001 / 10000 * (Bs + products * u * Rabs s)) + pow2 (-149).

Lemma twice_150 : pow2 (-149) = 2 * pow2 (-150).
Proof. change (-149)%Z with (1 + -150)%Z. rewrite bpow_plus. reflexivity. Qed.

(* A rounding is relative, or absolute where the value is below 2^-126. *)
Lemma rn32_either : forall x, Rabs (rn32 x - x) <= u * Rabs x
  \/ (Rabs x < pow2 (-126) /\ Rabs (rn32 x - x) <= pow2 (-150)).
Proof.
  intros x. destruct (Rle_or_lt (pow2 (-126)) (Rabs x)) as [L | L].
  - left. apply rn32_error_normal; auto.
  - right. split; auto. apply rn32_error_subnormal; auto.
Qed.

(* Subnormal numbers are multiples of 2^-149, and so are their differences, up to 2^24 of it. *)
Lemma subnormal_difference : forall a b, Rabs a < pow2 (-126) -> Rabs b < pow2 (-126) -> F32 (rn32 a - rn32 b).
Proof.
  assert (M : forall x, Rabs x < pow2 (-126) -> exists k, rn32 x = IZR k * pow2 (-149) /\ (Z.abs k <= 2 ^ 23)%Z).
  { intros x X. destruct (FLT_elim emin32 prec32 (rn32 x) prec32_positive (rn32_format x)) as (m & e & E & _ & Le).
    exists (m * 2 ^ (e - -149))%Z.
    assert (Q : rn32 x = IZR (m * 2 ^ (e - -149)) * pow2 (-149)).
    { rewrite E, mult_IZR, (IZR_Zpower radix2) by (unfold emin32 in Le; lia). rewrite Rmult_assoc, <- bpow_plus.
      do 2 f_equal. lia. }
    split; auto. apply le_IZR. rewrite abs_IZR. change (IZR (2 ^ 23)) with (pow2 23).
    apply Rmult_le_reg_r with (pow2 (-149)); [apply bpow_gt_0 |]. rewrite <- bpow_plus.
    rewrite <- (Rabs_pos_eq (pow2 (-149))) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult, <- Q.
    apply abs_round_le_generic; auto with typeclass_instances; [| apply Rlt_le; exact X].
    apply generic_format_bpow. unfold FLT_exp, emin32, prec32. simpl. lia. }
  intros a b A B. destruct (M a A) as (k & -> & K). destruct (M b B) as (j & -> & J).
  replace (IZR k * pow2 (-149) - IZR j * pow2 (-149)) with (IZR (k - j) * pow2 (-149)) by (rewrite minus_IZR; ring).
  destruct (Z.eq_dec (Z.abs (k - j)) (2 ^ 24)) as [E | E].
  - assert (H : F32 (pow2 (-125))) by (apply generic_format_bpow; unfold FLT_exp, emin32, prec32; simpl; lia).
    assert (Q : pow2 (-125) = IZR (2 ^ 24) * pow2 (-149)).
    { change (IZR (2 ^ 24)) with (pow2 24). rewrite <- bpow_plus. reflexivity. }
    destruct (Z.abs_spec (k - j)) as [[_ X] | [_ X]]; rewrite E in X.
    + rewrite <- X, <- Q. exact H.
    + replace (k - j)%Z with (- 2 ^ 24)%Z by lia. rewrite opp_IZR, Ropp_mult_distr_l_reverse, <- Q.
      apply F32_opp. exact H.
  - apply FLT_intro; [exact prec32_positive | unfold prec32; lia | unfold emin32; lia].
Qed.

Section Element.
Variables (y g s st Bs Bt : R).
Hypothesis y_is : F32 y.
Hypothesis g_is : F32 g.
Hypothesis st_is : F32 st.
(* The bound has room for a little more than Bs. *)
Hypothesis st_near : Rabs (st - s) <= Bt.
Hypothesis Bt_is : Bt <= 100009 / 100000 * Bs.

Lemma bound_nonnegative : 0 <= Bt.
Proof. eapply Rle_trans; [apply Rabs_pos | exact st_near]. Qed.

Lemma difference_error : exists e, Rabs e <= u /\ rn32 (g - st) = (g - st) * (1 + e).
Proof.
  destruct (FLT_plus_error_N_ex radix2 emin32 prec32 (fun z => negb (Z.even z)) g (- st)) as (e & He & E); auto.
  { apply F32_opp; auto. }
  exists e. change (Znearest (fun z => negb (Z.even z))) with ZnearestE in E. split; [| exact E].
  rewrite u_is_roundoff in He. pose proof u_positive. eapply Rle_trans; [exact He |]. unfold Rdiv.
  rewrite <- (Rmult_1_r u) at 3. apply Rmult_le_compat_l; [lra |]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.

(* supports: SOFTMAX_BWD.ERR *)
(* says: y (g - s~), with s~ within Bs of s, is within B in fp32, before and after the product's rounding. *)
Theorem product_of_difference : forall products, 1 <= products -> let t := rn32 (g - st) in
  Rabs (y * t - y * (g - s)) <= backward_bound products y g s Bs
  /\ Rabs (rn32 (y * t) - y * (g - s)) <= backward_bound products y g s Bs.
Proof.
  intros k K t. destruct difference_error as (e & He & E). unfold t. rewrite E. clear t E.
  pose proof bound_nonnegative as PB. pose proof u_positive as U. pose proof (bpow_gt_0 radix2 (-150)) as T.
  assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  unfold backward_bound. rewrite twice_150. set (d := Rabs (g - s)). set (a := Rabs y).
  assert (Pa : 0 <= a) by apply Rabs_pos. assert (Pd : 0 <= d) by apply Rabs_pos.
  assert (Ps : 0 <= k * u * Rabs s) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rabs_pos]).
  set (v := y * ((g - st) * (1 + e))).
  (* v is y (g - s) with an error of (1 + u) Bt + u |g - s|, times |y| *)
  assert (V : Rabs (v - y * (g - s)) <= a * (u * d + (1 + u) * Bt)).
  { replace (v - y * (g - s)) with (y * ((g - s) * e + (s - st) * (1 + e))) by (unfold v; ring).
    rewrite Rabs_mult. fold a. apply Rmult_le_compat_l; auto. eapply Rle_trans; [apply Rabs_triang |].
    rewrite !Rabs_mult. fold d. assert (d * Rabs e <= d * u) by (apply Rmult_le_compat_l; auto).
    assert (Rabs (1 + e) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang |]; rewrite Rabs_R1; lra).
    rewrite (Rabs_minus_sym s st).
    assert (Rabs (st - s) * Rabs (1 + e) <= Bt * (1 + u)) by (apply Rmult_le_compat; auto; apply Rabs_pos). lra. }
  assert (QB : a * Bt <= a * (100009 / 100000 * Bs)) by (apply Rmult_le_compat_l; auto).
  assert (Q : 0 <= a * d /\ 0 <= a * Bt /\ 0 <= a * (k * u * Rabs s)) by (repeat split; apply Rmult_le_pos; auto).
  destruct Q as (Q1 & Q2 & Q3).
  assert (Q4 : u * (a * d) <= 1 / 1000000 * (a * d)) by (apply Rmult_le_compat_r; auto).
  assert (Q5 : u * (a * Bt) <= 1 / 1000000 * (a * Bt)) by (apply Rmult_le_compat_r; auto).
  assert (Q6 : u * (u * (a * d)) <= u * (1 / 1000000 * (a * d))) by (apply Rmult_le_compat_l; lra).
  assert (Q7 : u * (u * (a * Bt)) <= u * (1 / 1000000 * (a * Bt))) by (apply Rmult_le_compat_l; lra).
  assert (0 <= u * (a * d)) by (apply Rmult_le_pos; lra). assert (0 <= u * (a * Bt)) by (apply Rmult_le_pos; lra).
  split; [lra |].
  assert (V2 : Rabs v <= a * d + a * (u * d + (1 + u) * Bt)).
  { replace v with (y * (g - s) + (v - y * (g - s))) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite Rabs_mult. fold a d. lra. }
  pose proof (rn32_error v) as RE.
  assert (u * Rabs v <= u * (a * d + a * (u * d + (1 + u) * Bt))) by (apply Rmult_le_compat_l; lra).
  replace (rn32 v - y * (g - s)) with ((rn32 v - v) + (v - y * (g - s))) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. lra.
Qed.

(* supports: SOFTMAX_BWD.ERR *)
(* says: y g - y s~, both products rounded, the first one if products = 2 only unless it underflows, is within B. *)
Theorem difference_of_products : forall products, (products = 2 \/ (products = 1 /\ exact_or_subnormal (y * g))) ->
  let v := rn32 (y * g) - rn32 (y * st) in
  Rabs (v - y * (g - s)) <= backward_bound products y g s Bs
  /\ Rabs (rn32 v - y * (g - s)) <= backward_bound products y g s Bs.
Proof.
  intros k K v. pose proof bound_nonnegative as PB. pose proof u_positive as U.
  pose proof (bpow_gt_0 radix2 (-150)) as T.
  assert (U1 : u <= 1 / 1000000) by (rewrite u_value; lra).
  unfold backward_bound. rewrite twice_150. set (d := Rabs (g - s)). set (a := Rabs y). set (S := Rabs s).
  assert (Pa : 0 <= a) by apply Rabs_pos. assert (Pd : 0 <= d) by apply Rabs_pos.
  assert (PS : 0 <= S) by apply Rabs_pos.
  assert (G : Rabs (y * g) <= a * (d + S)).
  { rewrite Rabs_mult. apply Rmult_le_compat_l; auto. replace g with ((g - s) + s) by ring. apply Rabs_triang. }
  assert (H : Rabs (y * st) <= a * (S + Bt)).
  { rewrite Rabs_mult. apply Rmult_le_compat_l; auto. replace st with (s + (st - s)) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. fold S. lra. }
  (* The first product's error: E1 relative, or underflow; the second one's too. *)
  assert (E1 : Rabs (rn32 (y * g) - y * g) <= (k - 1) * (u * (a * (d + S)))
               \/ (Rabs (y * g) < pow2 (-126) /\ Rabs (rn32 (y * g) - y * g) <= pow2 (-150))).
  { destruct K as [-> | [-> [F | F]]].
    - destruct (rn32_either (y * g)) as [E | E]; auto. left. eapply Rle_trans; [exact E |].
      replace ((2 - 1) * (u * (a * (d + S)))) with (u * (a * (d + S))) by ring. apply Rmult_le_compat_l; lra.
    - left. rewrite rn32_exact by auto. replace (y * g - y * g) with 0 by ring. rewrite Rabs_R0. lra.
    - right. split; auto. apply rn32_error_subnormal; auto. }
  assert (E2 : Rabs (rn32 (y * st) - y * st) <= u * (a * (S + Bt))
               \/ (Rabs (y * st) < pow2 (-126) /\ Rabs (rn32 (y * st) - y * st) <= pow2 (-150))).
  { destruct (rn32_either (y * st)) as [E | E]; auto. left. eapply Rle_trans; [exact E |].
    apply Rmult_le_compat_l; lra. }
  assert (V0 : v - y * (g - s) = (rn32 (y * g) - y * g) - (rn32 (y * st) - y * st) - y * (st - s)) by (unfold v; ring).
  assert (YB : Rabs (y * (st - s)) <= a * Bt) by (rewrite Rabs_mult; apply Rmult_le_compat_l; auto).
  assert (V1 : Rabs (v - y * (g - s)) <= Rabs (rn32 (y * g) - y * g) + Rabs (rn32 (y * st) - y * st) + a * Bt).
  { rewrite V0. unfold Rminus at 1. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp.
    apply Rplus_le_compat; auto. unfold Rminus at 1. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp. lra. }
  assert (QB : a * Bt <= a * (100009 / 100000 * Bs)) by (apply Rmult_le_compat_l; auto).
  assert (Pk : 0 <= k - 1 <= 1) by (destruct K as [-> | [-> _]]; lra).
  assert (Q : 0 <= a * d /\ 0 <= a * Bt /\ 0 <= a * S) by (repeat split; apply Rmult_le_pos; auto).
  destruct Q as (Q1 & Q2 & Q3).
  set (ad := a * d) in *. set (aB := a * Bt) in *. set (aS := a * S) in *.
  assert (B1 : (k - 1) * (u * (a * (d + S))) <= u * ad + (k - 1) * (u * aS)).
  { replace (a * (d + S)) with (ad + aS) by (unfold ad, aS; ring).
    assert (0 <= u * ad) by (apply Rmult_le_pos; lra).
    assert ((k - 1) * (u * ad) <= 1 * (u * ad)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (B2 : u * (a * (S + Bt)) = u * aS + u * aB) by (unfold aS, aB; ring). rewrite B2 in E2.
  assert (L : forall x, 0 <= x -> 0 <= u * x <= 1 / 1000000 * x).
  { intros x X. split; [apply Rmult_le_pos | apply Rmult_le_compat_r]; lra. }
  pose proof (L ad Q1) as L1. pose proof (L aB Q2) as L2. pose proof (L aS Q3) as L3.
  pose proof (L (u * ad) ltac:(lra)) as L4. pose proof (L (u * aB) ltac:(lra)) as L5.
  pose proof (L (u * aS) ltac:(lra)) as L6.
  pose proof (L _ (Rlt_le _ _ T)) as L7.
  assert (Pks : 0 <= (k - 1) * (u * aS)) by (apply Rmult_le_pos; lra). pose proof (L _ Pks) as L8.
  assert (Goal1 : a * (20001 / 10000 * u * d + 10001 / 10000 * (Bs + k * u * S))
    = 20001 / 10000 * (u * ad) + 10001 / 10000 * (a * Bs + u * aS + (k - 1) * (u * aS))) by (unfold ad, aS; ring).
  rewrite Goal1.
  (* Where both products underflow, their difference is exact. *)
  assert (RN : forall X, Rabs (v - y * (g - s)) <= X -> Rabs (rn32 v - y * (g - s)) <= X + u * (ad + X)).
  { intros X HX. assert (Av : Rabs v <= ad + X).
    { replace v with (y * (g - s) + (v - y * (g - s))) by ring. eapply Rle_trans; [apply Rabs_triang |].
      rewrite Rabs_mult. fold a d ad. lra. }
    assert (R1 : Rabs (rn32 v - v) <= u * Rabs v).
    { unfold v, Rminus. apply addition_error_u; [apply rn32_format | apply F32_opp, rn32_format]. }
    assert (u * Rabs v <= u * (ad + X)) by (apply Rmult_le_compat_l; lra).
    replace (rn32 v - y * (g - s)) with ((rn32 v - v) + (v - y * (g - s))) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. lra. }
  destruct E1 as [E1 | [F1 E1]]; destruct E2 as [E2 | [F2 E2]].
  - set (X := u * ad + (k - 1) * (u * aS) + (u * aS + u * aB) + aB).
    assert (HX : Rabs (v - y * (g - s)) <= X) by (unfold X; lra).
    specialize (RN X HX). unfold X in *. split; lra.
  - set (X := u * ad + (k - 1) * (u * aS) + pow2 (-150) + aB).
    assert (HX : Rabs (v - y * (g - s)) <= X) by (unfold X; lra).
    specialize (RN X HX). unfold X in *. split; lra.
  - set (X := pow2 (-150) + (u * aS + u * aB) + aB). assert (HX : Rabs (v - y * (g - s)) <= X) by (unfold X; lra).
    specialize (RN X HX). unfold X in *. split; lra.
  - assert (X : Rabs (v - y * (g - s)) <= 2 * pow2 (-150) + aB) by lra.
    assert (RV : rn32 v = v) by (apply rn32_exact; apply subnormal_difference; auto). rewrite RV. split; lra.
Qed.

End Element.

(* s by any tree of fp32 additions and FMAs over the products y_j g_j of a row of n elements. *)
Section Sum.
Variables (row : tree) (n y g : R).
Hypothesis row_is : well_formed row.
Hypothesis products_are : INR (products row) <= n.
Hypothesis nonzero_are : INR (nonzero row) <= n.
Hypothesis y_is : F32 y.
Hypothesis g_is : F32 g.

(* Bs of the contract. *)
Definition sum_bound_16 (underflow : R) := additions (nonzero row) * u * magnitude row + underflow.
Definition sum_bound_32 := INR (nonzero row) * u * magnitude row + (1 + n * u) * (n * pow2 (-150)).

Definition both_forms (k Bs : R) : Prop := let st := computed32 row in let s := exact row in
  Rabs (rn32 (y * rn32 (g - st)) - y * (g - s)) <= backward_bound k y g s Bs
  /\ Rabs (rn32 (rn32 (y * g) - rn32 (y * st)) - y * (g - s)) <= backward_bound k y g s Bs.

Lemma both : forall k Bs, (k = 2 \/ (k = 1 /\ exact_or_subnormal (y * g))) ->
  Rabs (computed32 row - exact row) <= 100009 / 100000 * Bs -> both_forms k Bs.
Proof.
  intros k Bs K H. assert (F32 (computed32 row)) by (apply computed32_format; auto).
  split; [eapply product_of_difference | eapply difference_of_products]; eauto; try lra.
Qed.

Lemma with_room : forall x Bs, 0 <= Bs -> x <= Bs -> x <= 100009 / 100000 * Bs.
Proof. intros. lra. Qed.

Lemma errors_nonnegative : 0 <= additions (nonzero row) * u * magnitude row /\ 0 <= INR
  (nonzero row) * u * magnitude row.
Proof.
  pose proof u_positive. pose proof (magnitude_nonneg row). pose proof (pos_INR (nonzero row)).
  assert (0 <= additions (nonzero row)) by apply pos_INR.
  split; apply Rmult_le_pos; auto; apply Rmult_le_pos; lra.
Qed.

(* supports: SOFTMAX_BWD.ERR *)
(* says: In fp16, whose products are fp32 numbers, both forms are within B with Bs = (n' - 1) u sum|y g|. *)
Theorem softmax_backward_fp16 : all_products (fun p => F32 p) row -> F32 (y * g) -> both_forms 1 (sum_bound_16 0).
Proof.
  intros A F. apply both; [right; split; [reflexivity | left; auto] |]. unfold sum_bound_16. rewrite Rplus_0_r.
  apply with_room; [apply errors_nonnegative | apply any_order; auto].
Qed.

(* supports: SOFTMAX_BWD.ERR *)
(* says: In fp32 both forms are within B with Bs = n' u sum|y g| + (1 + n u) n 2^-150 and 2 u |s|. *)
Theorem softmax_backward_fp32 : both_forms 2 sum_bound_32.
Proof.
  apply both; auto. pose proof errors_nonnegative as [_ P].
  eapply Rle_trans; [apply rounded_products_any_order; auto |]. unfold sum_bound_32. apply with_room.
  { apply Rplus_le_le_0_compat; auto. pose proof u_positive. pose proof (pos_INR (products row)).
    apply Rmult_le_pos; [| apply Rmult_le_pos; [| left; apply bpow_gt_0]; lra].
    pose proof (Rmult_le_pos n u). lra. }
  apply Rplus_le_compat_l. pose proof u_positive. pose proof (bpow_gt_0 radix2 (-150)).
  pose proof (pos_INR (products row)).
  pose proof (pos_INR (nonzero row)).
  assert (INR (nonzero row) * u <= n * u) by (apply Rmult_le_compat_r; lra).
  assert (0 <= INR (nonzero row) * u) by (apply Rmult_le_pos; lra).
  apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra].
Qed.

(* supports: SOFTMAX_BWD.ERR *)
(* says: In bf16 both forms are within B, where n' <= 1500 or sum|y g| >= n 2^-136. *)
Theorem softmax_backward_bf16 : all_products exact_or_subnormal row -> exact_or_subnormal (y * g) ->
  (additions (nonzero row) <= 1500 \/ n * pow2 (-136) <= magnitude row) ->
  both_forms 1 (sum_bound_16 (n * pow2 (-150))).
Proof.
  intros A F C. apply both; [right; auto |]. destruct errors_nonnegative as [P _].
  eapply Rle_trans; [apply exact_or_subnormal_products_any_order; auto |]. unfold sum_bound_16.
  pose proof u_positive as U. assert (PA : 0 <= additions (nonzero row)) by apply pos_INR.
  pose proof (pos_INR (products row)) as PP. pose proof (bpow_gt_0 radix2 (-150)) as T.
  set (a := additions (nonzero row)) in *. set (e := n * pow2 (-150)).
  assert (E1 : 0 <= INR (products row) * pow2 (-150) <= e).
  { unfold e. split; [apply Rmult_le_pos | apply Rmult_le_compat_r]; lra. }
  assert (Pau : 0 <= a * u) by (apply Rmult_le_pos; lra).
  assert (E2 : (1 + a * u) * (INR (products row) * pow2 (-150)) <= (1 + a * u) * e) by (apply Rmult_le_compat_l; lra).
  assert (E3 : a * u * e <= 9 / 100000 * (a * u * magnitude row + e)); [| lra].
  destruct C as [C | C].
  - assert (a * u <= 9 / 100000). { rewrite u_value. lra. }
    assert (a * u * e <= 9 / 100000 * e) by (apply Rmult_le_compat_r; lra). lra.
  - assert (E4 : e <= 9 / 100000 * magnitude row).
    { replace (pow2 (-136)) with (16384 * pow2 (-150)) in C; [pose proof (magnitude_nonneg row); unfold e; lra |].
      change (-136)%Z with (14 + -150)%Z. rewrite bpow_plus. reflexivity. }
    assert (a * u * e <= a * u * (9 / 100000 * magnitude row)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

End Sum.
