(* Sums of fp32 numbers and of products, in any order: trees of additions and fused multiply-adds, each rounded to
   nearest even with subnormal numbers. The bounds have no terms of higher order (Jeannerod and Rump 2013): (n - 1) u
   times the sum of absolute values where only additions round, n u where products are rounded too, n being the number
   of nonzero terms. Products that underflow add (1 + passed u) K 2^-150. Overflow is left to overflow.v: here fp32 has
   no largest number. Kernels that add in another way (compensated, in fp64, elements before they are multiplied) are
   no such trees. *)
From Coq Require Import Reals ZArith Lia Lra Psatz List.
From Flocq Require Import Core Plus_error Relative.
From Tokitai Require Import formats.
Open Scope R_scope.
Local Arguments INR : simpl never.

(* A term is an fp32 number and enters as it is: an extra term, a hit of embedding_bwd, a zero to begin with. A product
   is a real number: by itself it is rounded, in a fused multiply-add the sum with it is. *)
Inductive tree :=
| Term (x : R)
| Product (p : R)
| Add (l r : tree)
| Fma (p : R) (t : tree).

(* What the kernel computes, with any rounding function. *)
Fixpoint computed (rnd : R -> R) t :=
  match t with
  | Term x => x
  | Product p => rnd p
  | Add l r => rnd (computed rnd l + computed rnd r)
  | Fma p s => rnd (p + computed rnd s)
  end.

Fixpoint exact t :=
  match t with
  | Term x | Product x => x
  | Add l r => exact l + exact r
  | Fma p s => p + exact s
  end.

(* The sum of the absolute values of all terms and products. *)
Fixpoint magnitude t :=
  match t with
  | Term x | Product x => Rabs x
  | Add l r => magnitude l + magnitude r
  | Fma p s => Rabs p + magnitude s
  end.

Definition is_nonzero x := if Req_EM_T x 0 then O else 1%nat.

(* How many terms and products are nonzero. *)
Fixpoint nonzero t :=
  match t with
  | Term x | Product x => is_nonzero x
  | Add l r => (nonzero l + nonzero r)%nat
  | Fma p s => (is_nonzero p + nonzero s)%nat
  end.

(* K, all products. *)
Fixpoint products t :=
  match t with
  | Term _ => O
  | Product _ => 1%nat
  | Add l r => (products l + products r)%nat
  | Fma _ s => S (products s)
  end.

(* Terms are fp32 numbers. *)
Fixpoint well_formed t :=
  match t with
  | Term x => F32 x
  | Product _ => True
  | Add l r => well_formed l /\ well_formed r
  | Fma _ s => well_formed s
  end.

Fixpoint all_products (P : R -> Prop) t :=
  match t with
  | Term _ => True
  | Product p => P p
  | Add l r => all_products P l /\ all_products P r
  | Fma p s => P p /\ all_products P s
  end.

Notation computed32 := (computed (fun x => rn32 x)).

Lemma computed32_format : forall t, well_formed t -> F32 (computed32 t).
Proof. destruct t; simpl; auto; intros _; apply rn32_format. Qed.

Lemma magnitude_nonneg : forall t, 0 <= magnitude t.
Proof. induction t; simpl; try apply Rabs_pos; [lra|]. pose proof (Rabs_pos p). lra. Qed.

Lemma exact_le_magnitude : forall t, Rabs (exact t) <= magnitude t.
Proof.
  induction t; simpl; try lra.
  - eapply Rle_trans; [apply Rabs_triang | lra].
  - eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

Lemma is_nonzero_0 : forall x, is_nonzero x = O -> x = 0.
Proof. intros x. unfold is_nonzero. destruct (Req_EM_T x 0); [auto | discriminate]. Qed.

Lemma is_nonzero_cases : forall x, (x = 0 /\ is_nonzero x = O) \/ (x <> 0 /\ is_nonzero x = 1%nat).
Proof. intros x. unfold is_nonzero. destruct (Req_EM_T x 0); auto. Qed.

(* -- One rounding -------------------------------------------------------------------------------------------------- *)

(* An addition of two fp32 numbers never underflows, and loses no more than either operand. *)
Lemma addition_error : forall x y, F32 x -> F32 y -> let d := rn32 (x + y) - (x + y) in
  Rabs d <= u / (1 + u) * Rabs (x + y) /\ Rabs d <= Rabs x /\ Rabs d <= Rabs y.
Proof.
  intros x y Hx Hy d. unfold d. split; [|split].
  - destruct (FLT_plus_error_N_ex radix2 emin32 prec32 (fun z => negb (Z.even z)) x y Hx Hy) as (e & He & E).
    rewrite E. replace ((x + y) * (1 + e) - (x + y)) with (e * (x + y)) by ring.
    rewrite Rabs_mult. rewrite u_is_roundoff in He. apply Rmult_le_compat_r; auto. apply Rabs_pos.
  - apply plus_error_le_l; auto with typeclass_instances.
  - apply plus_error_le_r; auto with typeclass_instances.
Qed.

Lemma addition_error_u : forall x y, F32 x -> F32 y -> Rabs (rn32 (x + y) - (x + y)) <= u * Rabs (x + y).
Proof.
  intros x y Hx Hy. destruct (addition_error x y Hx Hy) as (E & _ & _). eapply Rle_trans; [exact E|].
  apply Rmult_le_compat_r; [apply Rabs_pos|]. rewrite u_value. lra.
Qed.

(* Rounding p + y to nearest loses at most |p| where y is an fp32 number: y itself is that near. *)
Lemma fma_error_product : forall p y, F32 y -> Rabs (rn32 (p + y) - (p + y)) <= Rabs p.
Proof.
  intros p y Hy.
  assert (N := round_N_pt radix2 fexp32 (fun z => negb (Z.even z)) (p + y)).
  destruct N as [_ N]. specialize (N y Hy).
  replace (y - (p + y)) with (- p) in N by ring. rewrite Rabs_Ropp in N. exact N.
Qed.

Lemma nat_one_or_more : forall n, (1 <= n)%nat -> INR n = 1 \/ 2 <= INR n.
Proof.
  intros n H. destruct (Nat.eq_dec n 1) as [-> | D]; [left; reflexivity|].
  right. change 2 with (INR 2). apply le_INR. lia.
Qed.

(* What an addition of two partial sums loses, of nl and nr nonzero terms with sums of absolute values tl and tr. *)
Lemma node_error : forall nl nr x y tl tr, (1 <= nl)%nat -> (1 <= nr)%nat -> F32 x -> F32 y ->
  Rabs x <= (1 + INR nl * u) * tl -> Rabs y <= (1 + INR nr * u) * tr -> 0 <= tl -> 0 <= tr ->
  Rabs (rn32 (x + y) - (x + y)) <= u * (INR nr * tl + INR nl * tr).
Proof.
  assert (Swallowed : forall n m s t, (1 <= n)%nat -> (1 <= m)%nat -> 0 <= s -> 0 <= t -> t <= u * s ->
    (1 + INR n * u) * t <= u * (INR n * s + INR m * t)).
  { intros n m s t Hn Hm Hs Ht L. pose proof u_positive as U. pose proof u_value as V.
    assert (M : 1 <= INR m) by (change 1 with (INR 1); apply le_INR; lia).
    destruct (nat_one_or_more n Hn) as [E | G].
    - rewrite E. assert (1 * (u * t) <= INR m * (u * t)) by (apply Rmult_le_compat_r; [nra | lra]). nra.
    - assert (0 <= INR m * t) by nra.
      apply Rle_trans with ((1 + INR n * u) * (u * s)); [apply Rmult_le_compat_l; nra|].
      assert (1 + INR n * u <= INR n) by (rewrite V; lra).
      assert ((1 + INR n * u) * (u * s) <= INR n * (u * s)) by (apply Rmult_le_compat_r; nra). nra. }
  intros nl nr x y tl tr Hl Hr Fx Fy X Y Tl Tr.
  destruct (addition_error x y Fx Fy) as (E1 & E2 & E3).
  set (d := rn32 (x + y) - (x + y)) in *. pose proof u_positive as U.
  assert (Nl : 1 <= INR nl) by (change 1 with (INR 1); apply le_INR; lia).
  assert (Nr : 1 <= INR nr) by (change 1 with (INR 1); apply le_INR; lia).
  destruct (Rle_or_lt tr (u * tl)) as [C1 | C1]; [|destruct (Rle_or_lt tl (u * tr)) as [C2 | C2]].
  - eapply Rle_trans; [exact E3|]. eapply Rle_trans; [exact Y|]. apply Swallowed; auto.
  - eapply Rle_trans; [exact E2|]. eapply Rle_trans; [exact X|].
    rewrite (Rplus_comm (INR nr * tl)). apply Swallowed; auto.
  - eapply Rle_trans; [exact E1|].
    assert (A : Rabs (x + y) <= (1 + u) * (INR nr * tl + INR nl * tr)).
    { eapply Rle_trans; [apply Rabs_triang|].
      assert ((INR nl - 1) * (u * tl) <= (INR nl - 1) * tr) by (apply Rmult_le_compat_l; lra).
      assert ((INR nr - 1) * (u * tr) <= (INR nr - 1) * tl) by (apply Rmult_le_compat_l; lra).
      assert (0 <= u * ((INR nr - 1) * tl)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra).
      assert (0 <= u * ((INR nl - 1) * tr)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra). nra. }
    apply Rle_trans with (u / (1 + u) * ((1 + u) * (INR nr * tl + INR nl * tr))).
    + apply Rmult_le_compat_l; [|exact A]. apply Rlt_le, Rdiv_lt_0_compat; lra.
    + apply Req_le. field. lra.
Qed.

(* What a fused multiply-add loses: c roundings are behind the partial sum y. *)
Lemma fma_error : forall c p y t, 0 <= c -> F32 y -> Rabs y <= (1 + c * u) * t -> 0 <= t ->
  pow2 (-126) <= Rabs (p + y) -> Rabs (rn32 (p + y) - (p + y)) <= u * ((c + 1) * Rabs p + t).
Proof.
  intros c p y t C Fy Y T N. pose proof u_positive as U. pose proof (Rabs_pos p) as P.
  destruct (Rle_or_lt (Rabs p) (u * t)) as [L | L].
  - eapply Rle_trans; [apply fma_error_product; exact Fy|].
    assert (0 <= u * ((c + 1) * Rabs p)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra). lra.
  - eapply Rle_trans; [apply rn32_error_normal; exact N|]. apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply Rabs_triang|].
    assert (c * (u * t) <= c * Rabs p) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma rn32_error_subnormal : forall x, Rabs x < pow2 (-126) -> Rabs (rn32 x - x) <= pow2 (-150).
Proof.
  intros x H. eapply Rle_trans; [apply error_le_half_ulp; auto with typeclass_instances|].
  rewrite ulp_FLT_small; auto with typeclass_instances.
  - change emin32 with (-150 + 1)%Z. rewrite half_pow2. apply Rle_refl.
  - eapply Rlt_trans; [exact H|]. apply bpow_lt. unfold emin32, prec32. lia.
Qed.

(* -- Whole sums ---------------------------------------------------------------------------------------------------- *)

(* The roundings of n nonzero terms: n - 1 where products are fp32 numbers, one more where they are rounded. *)
Definition roundings (rounded : bool) n := if rounded then INR n else INR n - 1.

(* A product is an fp32 number unless it is subnormal. *)
Definition exact_or_subnormal p := F32 p \/ Rabs p < pow2 (-126).

Definition eta := pow2 (-150).

Lemma roundings_nonneg : forall b n, (1 <= n)%nat -> 0 <= roundings b n.
Proof.
  intros b n H. assert (1 <= INR n) by (change 1 with (INR 1); apply le_INR; lia). destruct b; simpl; lra.
Qed.

Lemma roundings_le : forall b n, roundings b n <= INR n.
Proof. destruct b; simpl; intros; lra. Qed.

Lemma roundings_add : forall b n m, (1 <= n)%nat -> roundings b (n + m) = roundings b n + INR m.
Proof. intros b n m H. destruct b; unfold roundings; rewrite plus_INR; lra. Qed.

Lemma products_eta : forall n m, INR n * eta <= INR (n + m) * eta.
Proof.
  intros. rewrite plus_INR. assert (0 < eta) by apply bpow_gt_0. pose proof (pos_INR m). nra.
Qed.

(* The computed sum is that of terms moved by at most 2^-150 for each product, with no underflow on the way. *)
Definition near b t v := exists s m,
  Rabs (s - exact t) <= INR (products t) * eta /\ 0 <= m /\ m <= magnitude t + INR (products t) * eta /\
  Rabs s <= m /\ Rabs (v - s) <= roundings b (nonzero t) * u * m.

Lemma near_magnitude : forall s m v r, Rabs s <= m -> Rabs (v - s) <= r * u * m -> Rabs v <= (1 + r * u) * m.
Proof.
  intros s m v r S V. replace v with ((v - s) + s) by ring. eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

Lemma product_near : forall b p, p <> 0 -> (b = false -> exact_or_subnormal p) ->
  near b (Product p) (rn32 p).
Proof.
  intros b p P H. unfold near. simpl. change (INR 1) with 1. assert (E : 0 < eta) by apply bpow_gt_0.
  replace (is_nonzero p) with 1%nat by (destruct (is_nonzero_cases p) as [[]|[]]; [contradiction | auto]).
  pose proof u_positive as U. pose proof (Rabs_pos p) as A.
  destruct (Rle_or_lt (pow2 (-126)) (Rabs p)) as [N | N].
  - exists p, (Rabs p). rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
    repeat split; try lra. destruct b; unfold roundings; change (INR 1) with 1.
    + replace (1 * u * Rabs p) with (u * Rabs p) by ring. apply rn32_error_normal; exact N.
    + destruct (H eq_refl) as [F | L]; [|lra]. rewrite rn32_exact by exact F.
      rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
  - exists (rn32 p), (Rabs (rn32 p)). pose proof (rn32_error_subnormal p N) as L. fold eta in L.
    rewrite (Rminus_diag_eq (rn32 p) (rn32 p)), Rabs_R0 by reflexivity.
    repeat split; try lra; try apply Rabs_pos.
    + replace (rn32 p) with ((rn32 p - p) + p) by ring. eapply Rle_trans; [apply Rabs_triang | lra].
    + apply Rmult_le_pos; [apply Rmult_le_pos; [apply roundings_nonneg; lia | lra] | apply Rabs_pos].
Qed.

Theorem sum_is_near : forall b t, well_formed t -> (b = false -> all_products exact_or_subnormal t) ->
  (nonzero t = O /\ computed32 t = 0 /\ exact t = 0) \/ ((1 <= nonzero t)%nat /\ near b t (computed32 t)).
Proof.
  intros b. assert (E : 0 < eta) by apply bpow_gt_0. pose proof u_positive as U.
  assert (Z0 : rn32 0 = 0) by (apply rn32_exact, F32_zero).
  induction t as [x | p | l IHl r IHr | p s IH]; simpl.
  - intros F _. destruct (is_nonzero_cases x) as [[-> ->] | [N Q]]; [left; auto|]. right. split; [lia|].
    exists x, (Rabs x). simpl. change (INR 0) with 0. rewrite Q, Rminus_diag_eq, Rabs_R0 by reflexivity.
    pose proof (Rabs_pos x). repeat split; try lra.
    apply Rmult_le_pos; [apply Rmult_le_pos; [apply roundings_nonneg; lia | lra] | lra].
  - intros _ H. destruct (is_nonzero_cases p) as [[-> ->] | [N ->]]; [left; auto|]. right. split; [lia|].
    apply product_near; auto.
  - intros [Wl Wr] H.
    assert (Hl : b = false -> all_products exact_or_subnormal l) by (intros B; apply (H B)).
    assert (Hr : b = false -> all_products exact_or_subnormal r) by (intros B; apply (H B)).
    specialize (IHl Wl Hl). specialize (IHr Wr Hr).
    pose proof (computed32_format l Wl) as Fl. pose proof (computed32_format r Wr) as Fr.
    pose proof (magnitude_nonneg l) as Ml. pose proof (magnitude_nonneg r) as Mr.
    pose proof (exact_le_magnitude l) as Al. pose proof (exact_le_magnitude r) as Ar.
    destruct IHl as [(Nl & Cl & El) | (Nl & sl & ml & D1 & D2 & D3 & D4 & D5)];
      destruct IHr as [(Nr & Cr & Er) | (Nr & sr & mr & G1 & G2 & G3 & G4 & G5)].
    + left. rewrite Nl, Nr, Cl, Cr, El, Er, Rplus_0_l. auto.
    + right. rewrite Nl, Cl, Rplus_0_l, rn32_exact by exact Fr. split; [lia|]. exists sr, mr. simpl.
      pose proof (products_eta (products r) (products l)). rewrite (Nat.add_comm (products r)) in *.
      rewrite Nl, El, Rplus_0_l. simpl. repeat split; lra.
    + right. rewrite Nr, Cr, Rplus_0_r, rn32_exact by exact Fl. split; [lia|]. exists sl, ml. simpl.
      pose proof (products_eta (products l) (products r)).
      rewrite Nr, Er, Rplus_0_r, Nat.add_0_r. repeat split; lra.
    + right. split; [lia|]. exists (sl + sr), (ml + mr). simpl. rewrite plus_INR.
      set (x := computed32 l) in *. set (y := computed32 r) in *.
      repeat split; try lra.
      * replace (sl + sr - (exact l + exact r)) with ((sl - exact l) + (sr - exact r)) by ring.
        eapply Rle_trans; [apply Rabs_triang | lra].
      * eapply Rle_trans; [apply Rabs_triang | lra].
      * assert (X : Rabs x <= (1 + INR (nonzero l) * u) * ml).
        { eapply Rle_trans; [apply (near_magnitude sl ml x _ D4 D5)|]. apply Rmult_le_compat_r; auto.
          pose proof (roundings_le b (nonzero l)). nra. }
        assert (Y : Rabs y <= (1 + INR (nonzero r) * u) * mr).
        { eapply Rle_trans; [apply (near_magnitude sr mr y _ G4 G5)|]. apply Rmult_le_compat_r; auto.
          pose proof (roundings_le b (nonzero r)). nra. }
        pose proof (node_error _ _ x y ml mr Nl Nr Fl Fr X Y D2 G2) as D.
        replace (rn32 (x + y) - (sl + sr)) with ((rn32 (x + y) - (x + y)) + ((x - sl) + (y - sr))) by ring.
        eapply Rle_trans; [apply Rabs_triang|].
        eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
        apply Rle_trans with (u * (INR (nonzero r) * ml + INR (nonzero l) * mr) +
          (roundings b (nonzero l) * u * ml + roundings b (nonzero r) * u * mr)); [lra|].
        replace ((roundings b (nonzero l + nonzero r)) * u * (ml + mr)) with
          ((roundings b (nonzero l + nonzero r)) * u * ml + (roundings b (nonzero r + nonzero l)) * u * mr)
          by (rewrite (Nat.add_comm (nonzero r)); ring).
        rewrite !roundings_add by assumption. apply Req_le. ring.
  - intros W H. pose proof (computed32_format s W) as Fs.
    specialize (IH W (fun B => proj2 (H B))).
    destruct (is_nonzero_cases p) as [[-> Np] | [Np' Np]].
    + rewrite Np, Rplus_0_l, rn32_exact by exact Fs. simpl.
      destruct IH as [(N & C & X) | (N & x & m & D1 & D2 & D3 & D4 & D5)]; [left; rewrite X; repeat split; auto; ring|].
      right. split; [exact N|]. exists x, m. simpl. rewrite Np, Rabs_R0.
      pose proof (products_eta (products s) 1) as Q. rewrite Nat.add_comm in Q. simpl plus in Q.
      rewrite !Rplus_0_l. repeat split; try lra. exact D5.
    + rewrite Np. right. split; [lia|].
      destruct IH as [(N & C & X) | (N & x & m & D1 & D2 & D3 & D4 & D5)].
      * rewrite C, Rplus_0_r.
        destruct (product_near b p Np' (fun B => proj1 (H B))) as (x & m & D1 & D2 & D3 & D4 & D5).
        exists x, m. simpl in *. rewrite Np in *. rewrite N, X. simpl. change (INR 1) with 1 in *.
        pose proof (products_eta 1 (products s)) as Q. simpl plus in Q. change (INR 1) with 1 in Q.
        pose proof (magnitude_nonneg s). rewrite Rplus_0_r. repeat split; lra.
      * set (y := computed32 s) in *.
        assert (Y : Rabs y <= (1 + roundings b (nonzero s) * u) * m) by (apply (near_magnitude x m y _ D4 D5)).
        pose proof (roundings_nonneg b _ N) as R0. unfold near. simpl exact. simpl magnitude. simpl nonzero.
        rewrite Np. change (products (Fma p s)) with (1 + products s)%nat.
        rewrite (Nat.add_comm 1 (products s)), (Nat.add_comm 1 (nonzero s)).
        rewrite roundings_add, plus_INR by exact N. change (INR 1) with 1.
        destruct (Rle_or_lt (pow2 (-126)) (Rabs (p + y))) as [L | L].
        -- exists (p + x), (Rabs p + m). pose proof (Rabs_pos p).
           pose proof (fma_error _ p y m R0 Fs Y D2 L) as D. repeat split; try lra.
           ++ replace (p + x - (p + exact s)) with (x - exact s) by ring. lra.
           ++ eapply Rle_trans; [apply Rabs_triang | lra].
           ++ replace (rn32 (p + y) - (p + x)) with ((rn32 (p + y) - (p + y)) + (y - x)) by ring.
              eapply Rle_trans; [apply Rabs_triang|].
              eapply Rle_trans; [apply Rplus_le_compat; [exact D | exact D5]|]. apply Req_le. ring.
        -- set (q := rn32 (p + y) - y). pose proof (rn32_error_subnormal _ L) as Q. fold eta in Q.
           replace (rn32 (p + y) - (p + y)) with (q - p) in Q by (unfold q; ring).
           pose proof (Rabs_pos q). pose proof (Rabs_pos p).
           assert (Rabs q <= Rabs p + eta).
           { replace q with ((q - p) + p) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
           exists (q + x), (Rabs q + m). repeat split; try lra.
           ++ replace (q + x - (p + exact s)) with ((q - p) + (x - exact s)) by ring.
              eapply Rle_trans; [apply Rabs_triang | lra].
           ++ eapply Rle_trans; [apply Rabs_triang | lra].
           ++ replace (rn32 (p + y) - (q + x)) with (y - x) by (unfold q; ring). eapply Rle_trans; [exact D5|].
              apply Rle_trans with (roundings b (nonzero s) * u * (Rabs q + m)).
              ** apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra.
              ** apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra.
Qed.

(* -- The bounds ---------------------------------------------------------------------------------------------------- *)

(* (n - 1) u, and 0 if n <= 1. *)
Definition additions n := INR (Nat.pred n).

Lemma additions_roundings : forall n, (1 <= n)%nat -> roundings false n = additions n.
Proof.
  intros [|n] H; [lia|]. unfold roundings, additions. simpl Nat.pred. rewrite S_INR. ring.
Qed.

Lemma near_bound : forall b t v r, near b t v -> roundings b (nonzero t) <= r -> 0 <= r ->
  Rabs (v - exact t) <= r * u * magnitude t + (1 + r * u) * (INR (products t) * eta).
Proof.
  intros b t v r (s & m & D1 & D2 & D3 & D4 & D5) L P. pose proof u_positive as U.
  replace (v - exact t) with ((v - s) + (s - exact t)) by ring. eapply Rle_trans; [apply Rabs_triang|].
  assert (r * u * m <= r * u * (magnitude t + INR (products t) * eta)).
  { apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra. }
  assert (roundings b (nonzero t) * u * m <= r * u * m).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra. }
  lra.
Qed.

Lemma nothing_bound : forall t r, 0 <= r -> nonzero t = O /\ computed32 t = 0 /\ exact t = 0 ->
  Rabs (computed32 t - exact t) <= r * u * magnitude t + (1 + r * u) * (INR (products t) * eta).
Proof.
  intros t r P (N & C & E). rewrite C, E, Rminus_diag_eq, Rabs_R0 by reflexivity.
  pose proof u_positive as U. pose proof (magnitude_nonneg t). assert (0 < eta) by apply bpow_gt_0.
  pose proof (pos_INR (products t)). assert (0 <= r * u) by nra.
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; nra.
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: In any order of fp32 additions and FMAs, a sum of products that are each rounded is within n u sum|terms| + (1 + n u) K 2^-150, n of the terms being nonzero and K of them products. *)
Theorem rounded_products_any_order : forall t, well_formed t ->
  Rabs (computed32 t - exact t) <=
    INR (nonzero t) * u * magnitude t + (1 + INR (nonzero t) * u) * (INR (products t) * pow2 (-150)).
Proof.
  intros t W. fold eta. destruct (sum_is_near true t W) as [N | [_ N]]; [discriminate| |].
  - apply nothing_bound; [apply pos_INR | exact N].
  - apply (near_bound true); [exact N | apply Rle_refl | apply pos_INR].
Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR *)
(* says: Where products are fp32 numbers unless they are below 2^-126, any order is within (n - 1) u sum|terms| + (1 + (n - 1) u) K 2^-150. *)
Theorem exact_or_subnormal_products_any_order : forall t, well_formed t -> all_products exact_or_subnormal t ->
  Rabs (computed32 t - exact t) <=
    additions (nonzero t) * u * magnitude t + (1 + additions (nonzero t) * u) * (INR (products t) * pow2 (-150)).
Proof.
  intros t W H. fold eta. destruct (sum_is_near false t W (fun _ => H)) as [N | [P N]].
  - apply nothing_bound; [apply pos_INR | exact N].
  - apply (near_bound false); [exact N | | apply pos_INR]. rewrite additions_roundings by exact P. apply Rle_refl.
Qed.

(* A product that is an fp32 number is a term. *)
Fixpoint as_terms t :=
  match t with
  | Term x | Product x => Term x
  | Add l r => Add (as_terms l) (as_terms r)
  | Fma p s => Add (Term p) (as_terms s)
  end.

Lemma as_terms_same : forall t, exact (as_terms t) = exact t /\ magnitude (as_terms t) = magnitude t /\
  nonzero (as_terms t) = nonzero t /\ products (as_terms t) = O.
Proof.
  induction t as [x | p | l (L1 & L2 & L3 & L4) r (R1 & R2 & R3 & R4) | p s (S1 & S2 & S3 & S4)]; simpl; auto.
  - rewrite L1, L2, L3, L4, R1, R2, R3, R4. auto.
  - rewrite S1, S2, S3, S4. auto.
Qed.

Lemma as_terms_computed : forall t, all_products (fun p => F32 p) t -> computed32 (as_terms t) = computed32 t.
Proof.
  induction t as [x | p | l IHl r IHr | p s IH]; simpl; auto.
  - intros F. symmetry. apply rn32_exact, F.
  - intros [Hl Hr]. rewrite IHl, IHr; auto.
  - intros [_ H]. rewrite IH; auto.
Qed.

Lemma as_terms_well_formed : forall t, well_formed t -> all_products (fun p => F32 p) t -> well_formed (as_terms t).
Proof. induction t; simpl; tauto. Qed.

Lemma terms_all_products : forall P t, products t = O -> all_products P t.
Proof. induction t; simpl; auto; try discriminate. intros H. split; [apply IHt1 | apply IHt2]; lia. Qed.

(* supports: GEMM.ERR GEMM_GRAD_A.ERR GEMM_GRAD_B.ERR GROUPED_GEMM.ERR GROUPED_GEMM_GRAD_A.ERR GROUPED_GEMM_GRAD_B.ERR LINEAR_FWD.ERR LINEAR_GRAD_X.ERR LINEAR_GRAD_W.ERR EMBEDDING_BWD.ERR SOFTMAX_BWD.ERR *)
(* says: Where all products are fp32 numbers, any order of additions and FMAs is within exactly (n - 1) u sum|terms|, n of them being nonzero: no terms of higher order, none for underflow. *)
Theorem any_order : forall t, well_formed t -> all_products (fun p => F32 p) t ->
  Rabs (computed32 t - exact t) <= additions (nonzero t) * u * magnitude t.
Proof.
  intros t W F. destruct (as_terms_same t) as (E & M & N & P).
  pose proof (exact_or_subnormal_products_any_order (as_terms t) (as_terms_well_formed t W F)
    (terms_all_products _ _ P)) as B.
  rewrite (as_terms_computed t F), E, M, N, P in B. change (INR 0) with 0 in B. lra.
Qed.

(* -- The depth form ------------------------------------------------------------------------------------------------ *)

(* The most additions that a term passes through. *)
Fixpoint depth t :=
  match t with
  | Term _ | Product _ => O
  | Add l r => S (Nat.max (depth l) (depth r))
  | Fma _ s => S (depth s)
  end.

Lemma terms_depth_bound : forall t, well_formed t -> products t = O ->
  Rabs (computed32 t - exact t) <= ((1 + u) ^ depth t - 1) * magnitude t.
Proof.
  pose proof u_positive as U.
  assert (Grow : forall m n, (m <= n)%nat -> (1 + u) ^ m <= (1 + u) ^ n) by (intros; apply Rle_pow; [lra | auto]).
  induction t as [x | p | l IHl r IHr | p s IH]; simpl; try discriminate.
  - intros _ _. rewrite !Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - intros [Wl Wr] P. specialize (IHl Wl ltac:(lia)). specialize (IHr Wr ltac:(lia)).
    set (d := Nat.max (depth l) (depth r)). set (g := (1 + u) ^ d).
    assert (Gl : (1 + u) ^ depth l <= g) by (apply Grow; lia).
    assert (Gr : (1 + u) ^ depth r <= g) by (apply Grow; lia).
    assert (G1 : 1 <= g) by (apply (Grow 0%nat); lia).
    pose proof (magnitude_nonneg l) as Ml. pose proof (magnitude_nonneg r) as Mr.
    assert (El : Rabs (computed32 l - exact l) <= (g - 1) * magnitude l).
    { eapply Rle_trans; [exact IHl | apply Rmult_le_compat_r; lra]. }
    assert (Er : Rabs (computed32 r - exact r) <= (g - 1) * magnitude r).
    { eapply Rle_trans; [exact IHr | apply Rmult_le_compat_r; lra]. }
    pose proof (addition_error_u _ _ (computed32_format l Wl) (computed32_format r Wr)) as D.
    set (x := computed32 l) in *. set (y := computed32 r) in *.
    assert (E : Rabs (x + y - (exact l + exact r)) <= (g - 1) * (magnitude l + magnitude r)).
    { replace (x + y - (exact l + exact r)) with ((x - exact l) + (y - exact r)) by ring.
      eapply Rle_trans; [apply Rabs_triang | lra]. }
    assert (M : Rabs (x + y) <= g * (magnitude l + magnitude r)).
    { replace (x + y) with ((x + y - (exact l + exact r)) + (exact l + exact r)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (exact l) (exact r)).
      pose proof (exact_le_magnitude l). pose proof (exact_le_magnitude r). lra. }
    replace (rn32 (x + y) - (exact l + exact r)) with
      ((rn32 (x + y) - (x + y)) + (x + y - (exact l + exact r))) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (u * Rabs (x + y) <= u * (g * (magnitude l + magnitude r))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma as_terms_depth : forall t, depth (as_terms t) = depth t.
Proof.
  induction t; simpl; auto.
Qed.

(* supports: SOFTMAX_FWD.ERR XENT.ERR *)
(* says: A sum in which no term passes more than D fp32 additions is within ((1 + u)^D - 1) sum|terms|. *)
Theorem any_order_depth : forall t, well_formed t -> all_products (fun p => F32 p) t ->
  Rabs (computed32 t - exact t) <= ((1 + u) ^ depth t - 1) * magnitude t.
Proof.
  intros t W F. destruct (as_terms_same t) as (E & M & _ & P).
  pose proof (terms_depth_bound (as_terms t) (as_terms_well_formed t W F) P) as B.
  rewrite (as_terms_computed t F), E, M, as_terms_depth in B. exact B.
Qed.
