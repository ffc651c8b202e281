(* Places in shared memory where the pieces of a line are exchanged by an exclusive or with something that depends on
   the line: every such map is a bijection, whatever the mask. Then the patterns that our kernels use: the boxes of
   Hopper's results (ops/product/kernel_hopper.h, ops/product/kernel_hopper_grouped.h), the panels of kernel_tensor.cu
   (chunk_at() of kernels/device_mma.h) and those of kernel_tiles.h (swapped()). Not proved: that banks do not meet,
   and that the copy engine exchanges pieces as box_place does, which its documentation says. *)
From Coq Require Import ZArith Lia Bool.
From Tokitai Require Import tiling.
Open Scope Z_scope.

Lemma lxor_below : forall k a b, 0 <= k -> 0 <= a < 2 ^ k -> 0 <= b < 2 ^ k -> 0 <= Z.lxor a b < 2 ^ k.
Proof.
  intros k a b Hk Ha Hb. assert (0 <= Z.lxor a b) by (apply Z.lxor_nonneg; lia). split; [assumption|].
  destruct (Z.eq_dec (Z.lxor a b) 0) as [->|Hne]; [apply Z.pow_pos_nonneg; lia|].
  apply Z.log2_lt_pow2; [lia|].
  assert (Hlog : forall x, 0 <= x < 2 ^ k -> Z.log2 x < k \/ x = 0).
  { intros x Hx. destruct (Z.eq_dec x 0); [right; assumption|]. left. apply Z.log2_lt_pow2; lia. }
  pose proof (Z.log2_lxor a b ltac:(lia) ltac:(lia)).
  assert (k <> 0) by (intros ->; simpl in *; assert (a = 0) by lia; assert (b = 0) by lia; subst; auto).
  assert (Z.log2 0 = 0) by reflexivity.
  destruct (Hlog a Ha) as [|Ea]; destruct (Hlog b Hb) as [|Eb]; try rewrite Ea in *; try rewrite Eb in *; lia.
Qed.

Lemma lxor_twice : forall a b, Z.lxor (Z.lxor a b) b = a.
Proof. intros. rewrite Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_r. reflexivity. Qed.

(* The upper part of a number is left alone by an exclusive or with a small one. *)
Lemma lxor_low : forall k q r c, 0 <= k -> 0 <= r < 2 ^ k -> 0 <= c < 2 ^ k ->
  Z.lxor (q * 2 ^ k + r) c = q * 2 ^ k + Z.lxor r c.
Proof.
  intros k q r c Hk Hr Hc.
  assert (Hland : forall x, 0 <= x < 2 ^ k -> Z.land (q * 2 ^ k) x = 0).
  { intros x Hx. rewrite <- Z.shiftl_mul_pow2 by lia. apply Z.bits_inj'. intros n Hn.
    rewrite Z.land_spec, Z.bits_0, Z.shiftl_spec by lia. destruct (Z_lt_dec n k).
    - rewrite (Z.testbit_neg_r q) by lia. reflexivity.
    - replace (Z.testbit x n) with false; [apply andb_false_r|]. symmetry.
      destruct (Z.eq_dec x 0) as [->|]; [apply Z.bits_0|]. apply Z.bits_above_log2; [lia|].
      assert (Z.log2 x < k) by (apply Z.log2_lt_pow2; lia). lia. }
  rewrite (Z.add_nocarry_lxor _ r) by (apply Hland; lia).
  rewrite (Z.add_nocarry_lxor _ (Z.lxor r c)) by (apply Hland; apply lxor_below; lia).
  apply Z.lxor_assoc.
Qed.

Definition exchanged_place (width line piece mask : Z) : Z := line * width + Z.lxor piece mask.

(* supports: TILING *)
(* says: Exchanging the pieces of each line by an exclusive or with any mask below their number is a bijection. *)
Theorem exchange_is_bijection : forall k lines (mask : Z -> Z), 0 <= k ->
  (forall line, 0 <= line < lines -> 0 <= mask line < 2 ^ k) ->
  (forall line piece, 0 <= line < lines -> 0 <= piece < 2 ^ k ->
     0 <= exchanged_place (2 ^ k) line piece (mask line) < lines * 2 ^ k) /\
  (forall place, 0 <= place < lines * 2 ^ k -> exists line piece,
     (0 <= line < lines /\ 0 <= piece < 2 ^ k /\ exchanged_place (2 ^ k) line piece (mask line) = place) /\
     forall line' piece', 0 <= line' < lines -> 0 <= piece' < 2 ^ k ->
       exchanged_place (2 ^ k) line' piece' (mask line') = place -> line' = line /\ piece' = piece).
Proof.
  intros k lines mask Hk Hmask. assert (Hw : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia). unfold exchanged_place. split.
  - intros line piece Hl Hp. pose proof (lxor_below k piece (mask line) Hk Hp (Hmask line Hl)). nia.
  - intros place Hplace. pose proof (quotient_bounds place (2 ^ k) Hw) as Hq.
    pose proof (quotient_below place (2 ^ k) lines Hw Hplace) as Hline.
    set (line := place / 2 ^ k) in *. set (rest := place - line * 2 ^ k).
    assert (Hrest : 0 <= rest < 2 ^ k) by (unfold rest; lia).
    exists line, (Z.lxor rest (mask line)). split.
    + split; [exact Hline|]. split; [apply lxor_below; auto|]. rewrite lxor_twice. unfold rest. lia.
    + intros line' piece' Hl' Hp' E. pose proof (lxor_below k piece' (mask line') Hk Hp' (Hmask line' Hl')).
      assert (line' = line) by (unfold line; symmetry; apply quotient_is; lia). subst line'.
      split; [reflexivity|]. assert (Er : Z.lxor piece' (mask line) = rest) by (unfold rest; lia).
      rewrite <- Er. symmetry. apply lxor_twice.
Qed.

(* -- Boxes of the output: 64 lines of 128 bytes, or of 64, in pieces of 16 bytes ----------------------------------- *)

Definition box_mask (box_cols line : Z) : Z := if box_cols =? 64 then line mod 8 else line / 2 mod 4.
Definition box_place (box_cols line piece : Z) : Z :=
  if box_cols =? 64 then line * 128 + Z.lxor piece (line mod 8) * 16
  else line * 64 + Z.lxor piece (line / 2 mod 4) * 16.

(* store_box_of(): the row of a box and the piece that a lane of a warp names for matrices i. *)
Definition box_line (warp lane : Z) : Z := warp * 16 + lane mod 16.
Definition box_piece (i lane : Z) : Z := 2 * i + lane / 16.

Lemma box_place_is_exchange : forall line piece,
  box_place 64 line piece = 16 * exchanged_place (2 ^ 3) line piece (box_mask 64 line) /\
  box_place 32 line piece = 16 * exchanged_place (2 ^ 2) line piece (box_mask 32 line).
Proof. intros. unfold box_place, exchanged_place, box_mask. simpl Z.eqb. cbv iota. lia. Qed.

(* supports: TILING *)
(* says: The pieces of a box of results lie in distinct places that fill the box, with 64 columns and with 32. *)
Theorem boxes_are_filled : forall box_cols k, (box_cols = 64 /\ k = 3) \/ (box_cols = 32 /\ k = 2) ->
  forall place, 0 <= place < 64 * 2 ^ k -> exists line piece,
    (0 <= line < 64 /\ 0 <= piece < 2 ^ k /\ box_place box_cols line piece = 16 * place) /\
    forall line' piece', 0 <= line' < 64 -> 0 <= piece' < 2 ^ k ->
      box_place box_cols line' piece' = 16 * place -> line' = line /\ piece' = piece.
Proof.
  intros box_cols k H place Hplace.
  assert (Hmask : forall line, 0 <= line < 64 -> 0 <= box_mask box_cols line < 2 ^ k).
  { intros line _. unfold box_mask. destruct H as [[-> ->]|[-> ->]]; simpl Z.eqb; cbv iota; simpl (2 ^ _);
      [apply Z.mod_pos_bound|apply Z.mod_pos_bound]; lia. }
  assert (Hbox : forall line piece, box_place box_cols line piece =
                 16 * exchanged_place (2 ^ k) line piece (box_mask box_cols line)).
  { intros line piece. destruct H as [[-> ->]|[-> ->]]; apply box_place_is_exchange. }
  destruct (exchange_is_bijection k 64 (box_mask box_cols) ltac:(lia) Hmask) as [_ Hb].
  destruct (Hb place Hplace) as (line & piece & (Hl & Hp & E) & Hu).
  exists line, piece. split; [repeat split; try lia; rewrite Hbox; lia|].
  intros line' piece' Hl' Hp' E'. apply Hu; try assumption. rewrite Hbox in E'. lia.
Qed.

(* -- chunk_at(): panels of CHUNKS pieces to a row ------------------------------------------------------------------ *)

Definition chunk_mask (hip : bool) (mfma : bool) (along : bool) (chunks row : Z) : Z :=
  if hip && negb along then (if mfma then row / 4 mod 4 * 2 else 0)
  else if chunks =? 4 then row / 2 mod 4 else row mod 8.
Definition chunk_at (hip : bool) (mfma : bool) (along : bool) (chunks row chunk : Z) : Z :=
  row * chunks + Z.lxor chunk (chunk_mask hip mfma along chunks row).

Lemma chunk_mask_below : forall hip mfma along k row, 2 <= k -> (along = false -> 3 <= k) ->
  0 <= chunk_mask hip mfma along (2 ^ k) row < 2 ^ k.
Proof.
  intros hip mfma along k row Hk Hacross. unfold chunk_mask.
  assert (H4 : 2 ^ 2 <= 2 ^ k) by (apply Z.pow_le_mono_r; lia). change (2 ^ 2) with 4 in H4.
  pose proof (Z.mod_pos_bound (row / 4) 4 ltac:(lia)). pose proof (Z.mod_pos_bound (row / 2) 4 ltac:(lia)).
  pose proof (Z.mod_pos_bound row 8 ltac:(lia)).
  assert (H8 : 3 <= k -> 2 ^ 3 <= 2 ^ k) by (intros; apply Z.pow_le_mono_r; lia). change (2 ^ 3) with 8 in H8.
  destruct (hip && negb along) eqn:E.
  - destruct along; [rewrite andb_false_r in E; discriminate|]. specialize (H8 (Hacross eq_refl)).
    destruct mfma; lia.
  - destruct (Z.eqb_spec (2 ^ k) 4) as [E4|E4]; [lia|].
    assert (3 <= k); [|specialize (H8 H2); lia].
    destruct (Z.eq_dec k 2) as [->|]; [exfalso; apply E4; reflexivity|lia].
Qed.

(* supports: TILING *)
(* says: The pieces of a panel lie in distinct places that fill it, for each device's pattern and both layouts. *)
Theorem panels_are_filled : forall hip mfma along k rows, 2 <= k -> (along = false -> 3 <= k) ->
  forall place, 0 <= place < rows * 2 ^ k -> exists row chunk,
    (0 <= row < rows /\ 0 <= chunk < 2 ^ k /\ chunk_at hip mfma along (2 ^ k) row chunk = place) /\
    forall row' chunk', 0 <= row' < rows -> 0 <= chunk' < 2 ^ k ->
      chunk_at hip mfma along (2 ^ k) row' chunk' = place -> row' = row /\ chunk' = chunk.
Proof.
  intros hip mfma along k rows Hk Hacross.
  apply (exchange_is_bijection k rows (chunk_mask hip mfma along (2 ^ k)) ltac:(lia)).
  intros row _. apply chunk_mask_below; assumption.
Qed.

(* Rows that are 16 apart, and for CUDA 8, are exchanged alike: pieces are stored and read by adding to one place. *)
Theorem rows_are_alike : forall hip mfma along chunks row chunk n,
  chunk_at hip mfma along chunks (row + 16 * n) chunk = chunk_at hip mfma along chunks row chunk + 16 * n * chunks /\
  chunk_at false mfma along chunks (row + 8 * n) chunk = chunk_at false mfma along chunks row chunk + 8 * n * chunks.
Proof.
  intros. unfold chunk_at, chunk_mask.
  assert (E1 : (row + 16 * n) mod 8 = row mod 8).
  { replace (row + 16 * n) with (row + (2 * n) * 8) by lia. apply Z.mod_add. lia. }
  assert (E2 : (row + 8 * n) mod 8 = row mod 8).
  { replace (row + 8 * n) with (row + n * 8) by lia. apply Z.mod_add. lia. }
  assert (E3 : (row + 16 * n) / 2 mod 4 = row / 2 mod 4).
  { replace (row + 16 * n) with (row + (8 * n) * 2) by lia. rewrite Z.div_add by lia.
    replace (row / 2 + 8 * n) with (row / 2 + (2 * n) * 4) by lia. apply Z.mod_add. lia. }
  assert (E4 : (row + 8 * n) / 2 mod 4 = row / 2 mod 4).
  { replace (row + 8 * n) with (row + (4 * n) * 2) by lia. rewrite Z.div_add by lia.
    replace (row / 2 + 4 * n) with (row / 2 + n * 4) by lia. apply Z.mod_add. lia. }
  assert (E5 : (row + 16 * n) / 4 mod 4 = row / 4 mod 4).
  { replace (row + 16 * n) with (row + (4 * n) * 4) by lia. rewrite Z.div_add by lia.
    replace (row / 4 + 4 * n) with (row / 4 + n * 4) by lia. apply Z.mod_add. lia. }
  rewrite E1, E2, E3, E4, E5. cbn [andb]. split; ring.
Qed.

(* load() of a fragment goes `step` chunks further by an exclusive or with the place in bytes. *)
Theorem chunks_further : forall hip mfma along k row chunk step, 2 <= k -> (along = false -> 3 <= k) ->
  0 <= chunk < 2 ^ k -> 0 <= step < 2 ^ k ->
  Z.lxor (chunk_at hip mfma along (2 ^ k) row chunk) step = chunk_at hip mfma along (2 ^ k) row (Z.lxor chunk step).
Proof.
  intros hip mfma along k row chunk step Hk Hacross Hc Hs. unfold chunk_at.
  pose proof (chunk_mask_below hip mfma along k row Hk Hacross) as Hm.
  rewrite lxor_low by (try apply lxor_below; lia). f_equal.
  rewrite Z.lxor_assoc, (Z.lxor_comm _ step), <- Z.lxor_assoc. reflexivity.
Qed.

(* -- swapped() of kernel_tiles.h: the two halves of a panel's depth ------------------------------------------------ *)

Definition swapped (piece k quad : Z) : Z := Z.lxor quad (Z.land k piece / (piece / 4)).

Lemma swapped_mask : forall piece k, piece = 4 \/ piece = 8 -> 0 <= k < 2 * piece ->
  Z.land k piece / (piece / 4) = k / piece * 4.
Proof.
  intros piece k Hp Hk.
  assert (H : forall n, 0 <= n < 16 -> Z.land n 8 / 2 = n / 8 * 4 /\ (n < 8 -> Z.land n 4 / 1 = n / 4 * 4)).
  { intros n Hn. assert (n = 0 \/ n = 1 \/ n = 2 \/ n = 3 \/ n = 4 \/ n = 5 \/ n = 6 \/ n = 7 \/ n = 8 \/ n = 9 \/
      n = 10 \/ n = 11 \/ n = 12 \/ n = 13 \/ n = 14 \/ n = 15) as C by lia.
    repeat (destruct C as [->|C]; [split; [reflexivity|intros; first [reflexivity|lia]]|]).
    subst. split; [reflexivity|intros; first [reflexivity|lia]]. }
  destruct Hp as [-> | ->].
  - change (4 / 4) with 1. apply H; lia.
  - change (8 / 4) with 2. apply H; lia.
Qed.

(* supports: TILING *)
(* says: A panel of kernel_tiles.h is filled, each of its fours once; a piece is read where it was stashed. *)
Theorem tiles_panel_is_filled : forall piece k line, piece = 4 \/ piece = 8 -> 3 <= k -> 0 <= line < 2 * piece ->
  (forall quad, 0 <= quad < 2 ^ k -> 0 <= swapped piece line quad < 2 ^ k /\
     swapped piece line (swapped piece line quad) = quad) /\
  (forall i, (line = 0 \/ line = piece) -> 0 <= i < piece -> forall quad,
     swapped piece (line + i) quad = swapped piece line quad).
Proof.
  intros piece k line Hp Hk Hl. split.
  - intros quad Hq. unfold swapped. rewrite swapped_mask by assumption. split.
    + apply lxor_below; [lia|lia|]. assert (8 <= 2 ^ k) by (change 8 with (2 ^ 3); apply Z.pow_le_mono_r; lia).
      pose proof (quotient_below line piece 2 ltac:(lia) ltac:(lia)). lia.
    + apply lxor_twice.
  - intros i Hline Hi quad. unfold swapped. rewrite !swapped_mask by lia.
    replace ((line + i) / piece) with (line / piece); [reflexivity|].
    destruct Hline as [-> | ->].
    + rewrite Z.div_0_l by lia. symmetry. apply Z.div_small. lia.
    + rewrite Z.div_same by lia. symmetry. apply quotient_is; lia.
Qed.
