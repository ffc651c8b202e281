(* The rest of what Hopper's products compute with (ops/product/kernel_hopper.h, kernel_hopper_few.h, params_hopper.h),
   for all sizes: products with few tiles, whose blocks each have a stretch of the sum; the places where parts of sums
   wait; the regions of shared memory; and the copies of factors and outputs that the copy engine cannot take where
   they are. *)
From Coq Require Import ZArith Lia List.
From Tokitai Require Import tiling.
Import ListNotations.
Open Scope Z_scope.

(* -- few_product(): blocks of clusters of `wide` tiles by `deep` stretches of the sum ------------------------------ *)

Definition few_stretch (deep rank : Z) : Z := rank mod deep.
Definition few_tile (deep rank : Z) : Z := rank / deep.
Definition few_rank (deep stretch tile : Z) : Z := tile * deep + stretch.
Definition few_row (down height cluster : Z) : Z := cluster mod down * height.
Definition few_col (down wide width cluster tile : Z) : Z := (cluster / down * wide + tile) * width.
Definition few_blocks (down across wide deep : Z) : Z := down * divide_up across wide * wide * deep.

(* supports: TILING *)
(* says: With few tiles, every tile at every block of its sum belongs to exactly one block of threads. *)
Theorem few_cover_once : forall down across wide deep height width blocks i j k,
  0 < down -> 0 < across -> 0 < wide -> 0 < deep -> 0 < height -> 0 < width ->
  0 <= i < down -> 0 <= j < across -> 0 <= k < blocks ->
  exists cluster rank,
    (0 <= cluster < down * divide_up across wide /\ 0 <= rank < wide * deep /\
     few_row down height cluster = i * height /\ few_col down wide width cluster (few_tile deep rank) = j * width /\
     part_begin blocks deep (few_stretch deep rank) <= k < part_begin blocks deep (few_stretch deep rank + 1)) /\
    forall cluster' rank', 0 <= cluster' -> 0 <= rank' < wide * deep ->
      few_row down height cluster' = i * height ->
      few_col down wide width cluster' (few_tile deep rank') = j * width ->
      part_begin blocks deep (few_stretch deep rank') <= k < part_begin blocks deep (few_stretch deep rank' + 1) ->
      cluster' = cluster /\ rank' = rank.
Proof.
  intros down across wide deep height width blocks i j k Hd Ha Hw Hp Hh Hwd Hi Hj Hk.
  unfold few_row, few_col, few_tile, few_stretch.
  destruct (every_block_in_one_part blocks deep k Hp Hk) as [s [[Hs Hin] Us]].
  pose proof (quotient_bounds j wide Hw) as Bj. pose proof (divide_up_bounds across wide Hw) as Ba.
  pose proof (quotient_below j wide (divide_up across wide) Hw ltac:(lia)) as Lj.
  set (c := j / wide) in *. set (t := j - c * wide).
  assert (Q1 : (c * down + i) / down = c) by (apply quotient_is; lia).
  assert (Q2 : (t * deep + s) / deep = t) by (apply quotient_is; lia).
  exists (c * down + i), (t * deep + s). split.
  - rewrite !remainder_is, Q1, Q2 by lia.
    replace (c * down + i - c * down) with i by lia. replace (t * deep + s - t * deep) with s by lia.
    assert (0 <= t < wide) by (unfold t; lia).
    split; [|split; [|split; [lia|split; [unfold t; lia|exact Hin]]]].
    + pose proof (pair_names_one_place down (divide_up across wide) c i c i Hd Lj Hi). lia.
    + pose proof (pair_names_one_place deep wide t s t s Hp). lia.
  - intros cluster' rank' Hc' Hr' Er Ec Hin'. rewrite !remainder_is in * by lia.
    pose proof (quotient_bounds cluster' down Hd) as Bc. pose proof (quotient_bounds rank' deep Hp) as Br.
    pose proof (quotient_below rank' deep wide Hp ltac:(lia)) as Lr.
    assert (Ei : cluster' - cluster' / down * down = i) by (apply Z.mul_cancel_r in Er; lia).
    assert (Ej : cluster' / down * wide + rank' / deep = j) by (apply Z.mul_cancel_r in Ec; lia).
    assert (c = cluster' / down) by (apply quotient_is; lia).
    assert (s = rank' - rank' / deep * deep) by (apply Us; split; [lia|exact Hin']).
    unfold t. split; lia.
Qed.

(* The grid of it, under what the launch checks: at most 8 blocks in a cluster and 2^27 tiles. *)
Lemma few_grid_fits : forall down across wide deep, 0 < down -> 0 < across -> 0 < wide -> 0 < deep ->
  wide * deep <= 8 -> down * across <= int_max / 16 -> few_blocks down across wide deep < 2 ^ 31.
Proof.
  intros down across wide deep Hd Ha Hw Hp H8 Hall. unfold few_blocks, int_max in *.
  change (2147483647 / 16) with 134217727 in Hall. pose proof (divide_up_bounds across wide Hw) as B.
  assert (divide_up across wide <= across) by nia.
  assert (down * divide_up across wide <= 134217727) by nia. nia.
Qed.

(* add_and_store(): number i of a thread's fours; `fours` of them in a slice of the columns. *)
Definition slice_line (fours i : Z) : Z := i / fours.
Definition slice_place (stretch slice fours i : Z) : Z := stretch * slice + 4 * (i - i / fours * fours).

(* supports: TILING *)
(* says: The blocks of a tile add up and store every sum of it once, each a slice of the columns, four at a time. *)
Theorem slices_cover_once : forall deep fours rows r c, 0 < deep -> 0 < fours -> 0 <= r < rows ->
  0 <= c < deep * (4 * fours) ->
  exists stretch i e,
    (0 <= stretch < deep /\ 0 <= i < rows * fours /\ 0 <= e < 4 /\ slice_line fours i = r /\
     slice_place stretch (4 * fours) fours i + e = c) /\
    forall stretch' i' e', 0 <= stretch' -> 0 <= i' -> 0 <= e' < 4 -> slice_line fours i' = r ->
      slice_place stretch' (4 * fours) fours i' + e' = c -> stretch' = stretch /\ i' = i /\ e' = e.
Proof.
  intros deep fours rows r c Hd Hf Hr Hc. unfold slice_line, slice_place.
  pose proof (quotient_bounds c (4 * fours) ltac:(lia)) as B1.
  pose proof (quotient_below c (4 * fours) deep ltac:(lia) ltac:(lia)) as L1. set (s := c / (4 * fours)) in *.
  set (c1 := c - s * (4 * fours)). pose proof (quotient_bounds c1 4 ltac:(lia)) as B2.
  pose proof (quotient_below c1 4 fours ltac:(lia) ltac:(lia)) as L2. set (q := c1 / 4) in *.
  assert (Q : (r * fours + q) / fours = r) by (apply quotient_is; lia).
  exists s, (r * fours + q), (c1 - q * 4). split.
  - rewrite Q. pose proof (pair_names_one_place fours rows r q r q Hf Hr L2). unfold c1. lia.
  - intros s' i' e' Hs' Hi' He' Er Ec. pose proof (quotient_bounds i' fours Hf) as Bi. rewrite Er in *.
    assert (s = s') by (apply quotient_is; lia). subst s'.
    assert (q = i' - r * fours) by (unfold q, c1; apply quotient_is; lia). unfold c1. lia.
Qed.

(* -- join_parts(): where parts wait -------------------------------------------------------------------------------- *)

Definition slot_of (down groups part rank group : Z) : Z := (part * down + rank) * groups + group.
Definition slot_before (down groups slot before : Z) : Z := slot - before * down * groups.
(* Four sums of a thread: number j of its fours, of part t of its rows. *)
Definition partial_four (fours t j thread : Z) : Z := (t * fours + j) * 128 + thread.

(* supports: TILING *)
(* says: Parts of sums wait in places of their own, within what the launch has reserved, and are found there again. *)
Theorem parts_wait_apart : forall parts down groups part rank group part' rank' group' before,
  0 < down -> 0 < groups -> 0 <= part < parts -> 0 <= rank < down -> 0 <= group < groups ->
  0 <= part' -> 0 <= rank' < down -> 0 <= group' < groups ->
  0 <= slot_of down groups part rank group < parts * down * groups /\
  (slot_of down groups part rank group = slot_of down groups part' rank' group' ->
   part = part' /\ rank = rank' /\ group = group') /\
  slot_before down groups (slot_of down groups part rank group) before = slot_of down groups (part - before) rank group.
Proof.
  intros parts down groups part rank group part' rank' group' before Hd Hg Hp Hr Hgr Hp' Hr' Hg'.
  unfold slot_of, slot_before.
  destruct (pair_names_one_place down parts part rank part' rank' Hd Hp Hr Hp' Hr') as [B1 U1].
  destruct (pair_names_one_place groups (parts * down) (part * down + rank) group (part' * down + rank') group'
    Hg B1 Hgr ltac:(nia) Hg') as [B2 U2].
  split; [exact B2|]. split; [|ring]. intros E. destruct (U2 E) as [E1 ->]. destruct (U1 E1) as [-> ->]. repeat split.
Qed.

(* supports: TILING *)
(* says: Within a part's memory every four sums of every thread have a place of their own. *)
Theorem partials_apart : forall tall width t j thread t' j' thread', 0 < width -> width mod 8 = 0 ->
  0 <= t < tall -> 0 <= j < width / 8 -> 0 <= thread < 128 -> 0 <= t' -> 0 <= j' < width / 8 -> 0 <= thread' < 128 ->
  0 <= 4 * partial_four (width / 8) t j thread /\ 4 * partial_four (width / 8) t j thread + 4 <= tall * 64 * width /\
  (partial_four (width / 8) t j thread = partial_four (width / 8) t' j' thread' ->
   t = t' /\ j = j' /\ thread = thread').
Proof.
  intros tall width t j thread t' j' thread' Hw H8 Ht Hj Hth Ht' Hj' Hth'. unfold partial_four.
  assert (E8 : width = width / 8 * 8) by (pose proof (Z.div_mod width 8); lia). set (f := width / 8) in *.
  destruct (pair_names_one_place f tall t j t' j' ltac:(lia) Ht Hj Ht' Hj') as [B1 U1].
  destruct (pair_names_one_place 128 (tall * f) (t * f + j) thread (t' * f + j') thread' ltac:(lia) B1 Hth
    ltac:(nia) Hth') as [B2 U2].
  split; [lia|]. split; [nia|]. intros E. destruct (U2 E) as [E1 ->]. destruct (U1 E1) as [-> ->]. repeat split.
Qed.

(* -- places_of(): shared memory ------------------------------------------------------------------------------------ *)

Definition place_of_stages (memory : Z) : Z := (memory + 1023) / 1024 * 1024.
Definition place_of_boxes (memory stages stage_bytes : Z) : Z := place_of_stages memory + stages * stage_bytes.
Definition place_of_full (memory stages stage_bytes box_bytes : Z) : Z :=
  place_of_boxes memory stages stage_bytes + 4 * box_bytes.
Definition place_of_queue (memory stages stage_bytes box_bytes : Z) : Z :=
  place_of_full memory stages stage_bytes box_bytes + 8 * stages + 8 * stages + 8 * 16.
Definition shared_bytes (stages stage_bytes box_bytes : Z) : Z :=
  1024 + stages * stage_bytes + 4 * box_bytes + 2 * stages * 8 + 16 * 12.

(* supports: TILING *)
(* says: Stages, boxes, barriers and the queue of a product follow each other within the shared memory it is given. *)
Theorem shared_memory_fits : forall memory stages stage_bytes box_bytes, 0 <= memory -> 0 <= stages ->
  0 <= stage_bytes -> 0 <= box_bytes ->
  memory <= place_of_stages memory /\ place_of_stages memory mod 1024 = 0 /\
  place_of_queue memory stages stage_bytes box_bytes + 4 * 16 < memory + shared_bytes stages stage_bytes box_bytes.
Proof.
  intros memory stages stage_bytes box_bytes Hm Hs Hst Hb.
  unfold place_of_queue, place_of_full, place_of_boxes, shared_bytes, place_of_stages.
  pose proof (quotient_bounds (memory + 1023) 1024 ltac:(lia)). split; [lia|]. split; [apply Z.mod_mul; lia|]. lia.
Qed.

(* -- realign, hand_over -------------------------------------------------------------------------------------------- *)

(* A thread goes from piece to piece of all rows by `threads` at a time, without dividing on the way. *)
Definition realign_piece (threads pieces piece : Z) : Z :=
  let next := piece + (threads - threads / pieces * pieces) in if pieces <=? next then next - pieces else next.
Definition realign_row (threads pieces row piece : Z) : Z :=
  row + threads / pieces + (if pieces <=? piece + (threads - threads / pieces * pieces) then 1 else 0).

(* supports: TILING *)
(* says: Each turn takes a thread of realign to the piece that is as many further as there are threads. *)
Theorem realign_strides : forall threads pieces row piece, 0 < pieces -> 0 < threads -> 0 <= piece < pieces ->
  0 <= realign_piece threads pieces piece < pieces /\
  realign_row threads pieces row piece * pieces + realign_piece threads pieces piece = row * pieces + piece + threads.
Proof.
  intros threads pieces row piece Hp Ht Hpc. unfold realign_row, realign_piece. cbv zeta.
  pose proof (quotient_bounds threads pieces Hp).
  destruct (Z.leb_spec pieces (piece + (threads - threads / pieces * pieces))); lia.
Qed.

Definition hand_first (i shift : Z) : Z := i * 8 - shift.

(* supports: TILING *)
(* says: Every element of an output that is handed over is in exactly one group of 8, wherever the output begins. *)
Theorem hand_over_once : forall count shift j, 0 <= shift < 8 -> 0 <= j < count ->
  exists! i, 0 <= i /\ hand_first i shift < count /\ hand_first i shift <= j < hand_first i shift + 8.
Proof.
  intros count shift j Hs Hj. unfold hand_first. pose proof (quotient_bounds (j + shift) 8 ltac:(lia)).
  assert (0 <= (j + shift) / 8) by (apply Z.div_pos; lia). exists ((j + shift) / 8). split; [lia|].
  intros i (Hi & _ & Hin). apply quotient_is; lia.
Qed.
