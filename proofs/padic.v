(* Skipping by valuation in matrix products modulo p^N. "The valuation of a is at least v" is (p^v | a), v >= 0: that is
   all a kernel needs to know, and a valuation that was cut off at N serves as well. Proved: the laws for products and
   sums, that terms whose valuations add up to N or more vanish, that the test is as sharp as it can be for one term,
   and that leaving out single terms, slices or tiles, with or without reductions on the way, leaves the product
   unchanged modulo p^N. Not proved: that the C code computes the valuations it compares. *)
From Coq Require Import ZArith List Bool Lia Znumtheory.
Import ListNotations.
Open Scope Z_scope.

Definition at_least (p v a : Z) : Prop := (p ^ v | a).
Definition valuation (p v a : Z) : Prop := at_least p v a /\ ~ at_least p (v + 1) a.

Lemma weaker : forall p v w a, 0 <= v <= w -> at_least p w a -> at_least p v a.
Proof.
  intros p v w a H [x ->]. exists (x * p ^ (w - v)). rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia. repeat f_equal. lia.
Qed.

(* supports: PADIC_GEMM.ERR *)
(* says: The valuation of a product is at least the sum of the valuations of its factors. *)
Theorem valuation_of_product : forall p v w a b, 0 <= v -> 0 <= w ->
  at_least p v a -> at_least p w b -> at_least p (v + w) (a * b).
Proof. intros p v w a b Hv Hw [x ->] [y ->]. exists (x * y). rewrite Z.pow_add_r by lia. ring. Qed.

(* supports: PADIC_GEMM.ERR *)
(* says: The valuation of a sum is at least the smaller one of its terms' valuations. *)
Theorem valuation_of_sum : forall p v w a b, 0 <= v -> 0 <= w ->
  at_least p v a -> at_least p w b -> at_least p (Z.min v w) (a + b).
Proof.
  intros p v w a b Hv Hw Ha Hb. apply Z.divide_add_r; eapply weaker; try eassumption; lia.
Qed.

(* supports: PADIC_GEMM.ERR *)
(* says: For a prime p the valuation of a product is exactly the sum of the exact valuations of its factors. *)
Theorem exact_valuation_of_product : forall p v w a b, prime p -> 0 <= v -> 0 <= w ->
  valuation p v a -> valuation p w b -> valuation p (v + w) (a * b).
Proof.
  intros p v w a b Hp Hv Hw [[x ->] Hx] [[y ->] Hy]. assert (1 < p) by (destruct Hp; auto).
  assert (P : forall k, 0 <= k -> p ^ k <> 0) by (intros; apply Z.pow_nonzero; lia).
  split. { apply valuation_of_product; try lia; [exists x | exists y]; reflexivity. }
  intros [z Hz].
  assert (E : x * y = z * p).
  { apply (Z.mul_reg_r _ _ (p ^ (v + w))); [apply P; lia |].
    rewrite Z.pow_add_r in * by lia. rewrite Z.pow_add_r in Hz by lia. rewrite Z.pow_1_r in Hz. lia. }
  destruct (prime_mult p Hp x y) as [[k ->] | [k ->]]. { exists z. exact E. }
  - apply Hx. exists k. rewrite Z.pow_add_r by lia. rewrite Z.pow_1_r. ring.
  - apply Hy. exists k. rewrite Z.pow_add_r by lia. rewrite Z.pow_1_r. ring.
Qed.

(* supports: PADIC_GEMM.ERR *)
(* says: Terms of different exact valuations have a sum of the smaller one. *)
Theorem exact_valuation_of_sum : forall p v w a b, 1 < p -> 0 <= v < w ->
  valuation p v a -> at_least p w b -> valuation p v (a + b).
Proof.
  intros p v w a b Hp Hv [Ha Na] Hb. split.
  - apply Z.divide_add_r; auto. eapply weaker; try eassumption; lia.
  - intros H. apply Na. replace a with (a + b - b) by ring. apply Z.divide_sub_r; auto.
    eapply weaker; try eassumption; lia.
Qed.

(* supports: PADIC_GEMM.ERR *)
(* says: A product of two numbers whose valuations add up to N or more is 0 modulo p^N. *)
Theorem term_vanishes : forall p N v w a b, 0 <= N <= v + w -> 0 <= v -> 0 <= w ->
  at_least p v a -> at_least p w b -> (a * b) mod p ^ N = 0.
Proof.
  intros p N v w a b HN Hv Hw Ha Hb. apply Zdivide_mod. apply (weaker p N (v + w)); auto.
  apply valuation_of_product; auto.
Qed.

(* supports: PADIC_GEMM.ERR *)
(* says: With exact valuations and p prime a term vanishes modulo p^N only if they add up to N or more. *)
Theorem term_vanishes_only : forall p N v w a b, prime p -> 0 <= N -> 0 <= v -> 0 <= w ->
  valuation p v a -> valuation p w b -> (a * b) mod p ^ N = 0 -> N <= v + w.
Proof.
  intros p N v w a b Hp HN Hv Hw Ha Hb H. assert (1 < p) by (destruct Hp; auto).
  destruct (Z_le_gt_dec N (v + w)) as [| G]; auto. exfalso.
  destruct (exact_valuation_of_product p v w a b Hp Hv Hw Ha Hb) as [_ C]. apply C.
  apply (weaker p _ N); [lia |]. apply Zmod_divide; auto. apply Z.pow_nonzero; lia.
Qed.

(* Matrices are functions of row and column; inner indices are k = 0 .. K-1. *)
Definition matrix := nat -> nat -> Z.

Fixpoint entry (A B : matrix) (i j K : nat) : Z :=
  match K with O => 0 | S k => entry A B i j k + A i k * B k j end.

(* What a kernel computes that leaves out the terms which `skip` names. *)
Fixpoint entry_skipping (skip : nat -> nat -> nat -> bool) (A B : matrix) (i j K : nat) : Z :=
  match K with
  | O => 0
  | S k => entry_skipping skip A B i j k + (if skip i j k then 0 else A i k * B k j)
  end.

(* A term may be left out if some lower bounds of the valuations of its factors add up to N. *)
Definition may_skip (p N : Z) (skip : nat -> nat -> nat -> bool) (A B : matrix) (K : nat) : Prop :=
  forall i j k, (k < K)%nat -> skip i j k = true ->
  exists v w, 0 <= v /\ 0 <= w /\ N <= v + w /\ at_least p v (A i k) /\ at_least p w (B k j).

(* supports: PADIC_GEMM.ERR *)
(* says: Leaving out any set of terms whose factors' valuations add up to N keeps every entry modulo p^N. *)
Theorem skipping_terms : forall p N skip A B K, 1 < p -> 0 <= N -> may_skip p N skip A B K ->
  forall i j, entry_skipping skip A B i j K mod p ^ N = entry A B i j K mod p ^ N.
Proof.
  intros p N skip A B K Hp HN. induction K as [| K IH]; intros M i j; simpl; auto.
  assert (Q : p ^ N <> 0) by (apply Z.pow_nonzero; lia).
  assert (E : (if skip i j K then 0 else A i K * B K j) mod p ^ N = (A i K * B K j) mod p ^ N).
  { destruct (skip i j K) eqn:S; auto. destruct (M i j K) as (v & w & Hv & Hw & H & Ha & Hb); auto.
    rewrite Z.mod_0_l by auto. symmetry. apply (term_vanishes p N v w); auto; lia. }
  rewrite Z.add_mod, IH, E, <- Z.add_mod; auto. intros a b k Hk. apply M. lia.
Qed.

(* Tiles: rows i of one row block, columns j of one column block, inner indices k of one slice. `va` and `vb` are lower
   bounds of the valuations of a whole slice of A in a row block, and of B in a column block. *)
Definition by_tiles (N : Z) (row_block column_block slice : nat -> nat) (va vb : nat -> nat -> Z) (i j k : nat) :=
  N <=? va (row_block i) (slice k) + vb (slice k) (column_block j).

(* supports: PADIC_GEMM.ERR *)
(* says: Leaving out whole slices of tiles whose least valuations add up to N keeps every entry modulo p^N. *)
Theorem skipping_tiles : forall p N row_block column_block slice va vb A B K, 1 < p -> 0 <= N ->
  (forall r s, 0 <= va r s) -> (forall s c, 0 <= vb s c) ->
  (forall i k, (k < K)%nat -> at_least p (va (row_block i) (slice k)) (A i k)) ->
  (forall k j, (k < K)%nat -> at_least p (vb (slice k) (column_block j)) (B k j)) ->
  forall i j, entry_skipping (by_tiles N row_block column_block slice va vb) A B i j K mod p ^ N
              = entry A B i j K mod p ^ N.
Proof.
  intros p N rb cb sl va vb A B K Hp HN Pa Pb Ha Hb. apply skipping_terms; auto.
  intros i j k Hk S. apply Z.leb_le in S. exists (va (rb i) (sl k)), (vb (sl k) (cb j)). repeat split; auto.
Qed.

(* A kernel may reduce its accumulator whenever it likes, or never: after each term it holds any number that is
   congruent to the sum so far. *)
Inductive reduces_to (q : Z) : list Z -> Z -> Prop :=
| begins : reduces_to q [] 0
| continues : forall terms sum term next, reduces_to q terms sum -> next mod q = (sum + term) mod q ->
    reduces_to q (terms ++ [term]) next.

(* supports: PADIC_GEMM.ERR *)
(* says: Reductions modulo p^N at any places of the sum, over the terms that are left, give the entry modulo p^N. *)
Theorem reductions_anywhere : forall p N skip A B K i j out, 1 < p -> 0 <= N -> may_skip p N skip A B K ->
  reduces_to (p ^ N) (map (fun k => if skip i j k then 0 else A i k * B k j) (seq 0 K)) out ->
  out mod p ^ N = entry A B i j K mod p ^ N.
Proof.
  intros p N skip A B K i j out Hp HN M R. rewrite <- (skipping_terms p N skip A B K) by auto. clear M.
  assert (Q : p ^ N <> 0) by (apply Z.pow_nonzero; lia). revert out R.
  induction K as [| K IH]; intros out R.
  - inversion R as [| terms sum term next H E X]; auto. destruct terms; discriminate.
  - rewrite seq_S, map_app in R.
    inversion R as [X | terms sum term next H E X]. { symmetry in X. apply app_eq_nil in X. destruct X; discriminate. }
    apply app_inj_tail in X. destruct X as [-> ->]. simpl. rewrite E, Z.add_mod, (IH sum H), <- Z.add_mod; auto.
Qed.
