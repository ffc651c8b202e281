(* Products of groups of rows (ops/product/kernel_groups.h, kernel_grouped.cu, kernel_hopper_grouped.h), for all
   sizes, numbers of groups and ends: the table of tiles that one block makes, the search in it, and the tasks that
   are handed out. Every row of the output, at every tile of columns, belongs to exactly one task; empty groups have
   none. Where sums run over rows, every matrix's tiles have one task each. Ends are taken to be in order and within
   the rows: find_groups() looks at that, and otherwise gives the table no tiles. Numbers fit an int under what
   ops/product/launch_grouped_hopper.c checks. *)
From Coq Require Import ZArith Lia List.
From Tokitai Require Import tiling.
Import ListNotations.
Open Scope Z_scope.

(* -- The table: tiles before each group ---------------------------------------------------------------------------- *)

(* find_groups() adds over ever greater distances: after k rounds thread t has the sum of the last 2^k values up to its
   own. P is the sum of the values before a thread. *)
Fixpoint scan (x : Z -> Z) (rounds : nat) (t : Z) : Z :=
  match rounds with
  | O => x t
  | S n => scan x n t + (if 2 ^ Z.of_nat n <=? t then scan x n (t - 2 ^ Z.of_nat n) else 0)
  end.

Lemma scan_is_difference : forall x P, P 0 = 0 -> (forall t, 0 <= t -> P (t + 1) = P t + x t) ->
  forall rounds t, 0 <= t -> scan x rounds t = P (t + 1) - P (Z.max 0 (t + 1 - 2 ^ Z.of_nat rounds)).
Proof.
  intros x P H0 HP rounds. induction rounds as [|n IH]; intros t Ht.
  - cbn [scan]. change (2 ^ Z.of_nat 0) with 1. rewrite HP by lia. replace (Z.max 0 (t + 1 - 1)) with t by lia. lia.
  - cbn [scan]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
    assert (0 < 2 ^ Z.of_nat n) by (apply Z.pow_pos_nonneg; lia). set (d := 2 ^ Z.of_nat n) in *.
    rewrite IH by lia. destruct (Z.leb_spec d t).
    + rewrite IH by lia. replace (t - d + 1) with (Z.max 0 (t + 1 - d)) by lia.
      replace (Z.max 0 (Z.max 0 (t + 1 - d) - d)) with (Z.max 0 (t + 1 - 2 * d)) by lia. lia.
    + replace (Z.max 0 (t + 1 - d)) with 0 by lia. replace (Z.max 0 (t + 1 - 2 * d)) with 0 by lia. lia.
Qed.

(* supports: TILING *)
(* says: The scan that numbers the groups' tiles gives each thread the sum of the values of all threads up to it. *)
Theorem scan_sums : forall x P rounds t, P 0 = 0 -> (forall t, 0 <= t -> P (t + 1) = P t + x t) ->
  0 <= t < 2 ^ Z.of_nat rounds -> scan x rounds t = P (t + 1).
Proof.
  intros x P rounds t H0 HP Ht. rewrite (scan_is_difference x P H0 HP) by lia.
  replace (Z.max 0 (t + 1 - 2 ^ Z.of_nat rounds)) with 0 by lia. lia.
Qed.

(* -- group_with(): the search -------------------------------------------------------------------------------------- *)

Definition search_middle (low high : Z) : Z := (low + high + 1) / 2.

Fixpoint search (first : Z -> Z) (tile : Z) (fuel : nat) (low high : Z) : Z :=
  match fuel with
  | O => low
  | S n => if low <? high then
             if first (search_middle low high) <=? tile then search first tile n (search_middle low high) high
             else search first tile n low (search_middle low high - 1)
           else low
  end.

Lemma search_finds : forall first tile groups, rises first groups -> forall fuel low high,
  0 <= low <= high -> high <= groups -> high - low <= Z.of_nat fuel -> first low <= tile ->
  (high < groups -> tile < first (high + 1)) ->
  low <= search first tile fuel low high <= high /\ first (search first tile fuel low high) <= tile /\
  (search first tile fuel low high < groups -> tile < first (search first tile fuel low high + 1)).
Proof.
  intros first tile groups Hr fuel. induction fuel as [|n IH]; intros low high Hl Hh Hf Hlow Hhigh; cbn [search].
  - replace high with low in * by lia. tauto || (split; [lia|]; split; [assumption|]; auto).
  - destruct (Z.ltb_spec low high) as [Hlt|Hge].
    + assert (Hm : low < search_middle low high <= high).
      { unfold search_middle. pose proof (quotient_bounds (low + high + 1) 2 ltac:(lia)). lia. }
      destruct (Z.leb_spec (first (search_middle low high)) tile) as [Hle|Hgt].
      * destruct (IH (search_middle low high) high ltac:(lia) Hh ltac:(lia) Hle Hhigh) as (A & B & C).
        split; [lia|]. split; assumption.
      * destruct (IH low (search_middle low high - 1) ltac:(lia) ltac:(lia) ltac:(lia) Hlow) as (A & B & C).
        { intros _. replace (search_middle low high - 1 + 1) with (search_middle low high) by lia. assumption. }
        split; [lia|]. split; assumption.
    + replace high with low in * by lia. split; [lia|]. split; assumption.
Qed.

(* supports: TILING *)
(* says: The search finds the one group whose tiles have a given number, past all groups without rows. *)
Theorem search_is_right : forall first tile groups fuel, 0 <= groups -> rises first (groups + 1) ->
  groups <= Z.of_nat fuel -> first 0 <= tile < first (groups + 1) ->
  let g := search first tile fuel 0 groups in
  0 <= g <= groups /\ first g <= tile < first (g + 1) /\
  forall g', 0 <= g' <= groups -> first g' <= tile < first (g' + 1) -> g' = g.
Proof.
  intros first tile groups fuel Hg Hr Hf Ht g.
  assert (Hr' : rises first groups) by (intros i Hi; apply Hr; lia).
  destruct (search_finds first tile groups Hr' fuel 0 groups ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia))
    as (A & B & C). fold g in A, B, C.
  assert (D : tile < first (g + 1)).
  { destruct (Z.eq_dec g groups) as [->|]; [lia|]. apply C. lia. }
  split; [exact A|]. split; [lia|]. intros g' Hg' Ht'.
  destruct (one_stair first (groups + 1) tile ltac:(lia) Hr Ht) as [w [Hw Hu]].
  rewrite <- (Hu g) by lia. symmetry. apply Hu. lia.
Qed.

(* -- Tasks: tiles of rows of all groups, in bands ------------------------------------------------------------------ *)

Definition task_line (total across number : Z) : Z := band_line 16 total across number.
Definition task_across (total across number : Z) : Z := band_place 16 total across number.
Definition task_row (begin line first tile : Z) : Z := begin + (line - first) * tile.

Section Groups.
Variables (groups rows tile across : Z) (begin first : Z -> Z).
Hypotheses (Hgroups : 0 <= groups) (Htile : 0 < tile) (Hacross : 0 < across).
(* begin (groups + 1) is where group `groups`, of the rows of no group, ends. *)
Hypotheses (Hbegin : begin 0 = 0) (Hends : rises begin (groups + 1)) (Hrows : begin (groups + 1) = rows).
Hypotheses (Hfirst : first 0 = 0)
           (Hnext : forall i, 0 <= i <= groups -> first (i + 1) = first i + divide_up (begin (i + 1) - begin i) tile).

Lemma first_rises : rises first (groups + 1).
Proof.
  intros i Hi. rewrite Hnext by lia. specialize (Hends i Hi).
  pose proof (divide_up_nonnegative (begin (i + 1) - begin i) tile Htile ltac:(lia)). lia.
Qed.

Lemma total_bound : forall i, 0 <= i -> i <= groups + 1 -> first i * tile <= begin i + i * (tile - 1).
Proof.
  apply (natlike_ind (fun i => i <= groups + 1 -> first i * tile <= begin i + i * (tile - 1))).
  - rewrite Hfirst, Hbegin. lia.
  - intros i Hi IH Hle. specialize (IH ltac:(lia)). unfold Z.succ. rewrite Hnext by lia.
    pose proof (divide_up_bounds (begin (i + 1) - begin i) tile Htile). lia.
Qed.

(* tki_grouped_accept_hopper() takes no product with (rows / 128 + groups + 1) (cols / 128 + 1) above 2^30. *)
Lemma tasks_fit : forall cols width, tile = 128 -> 128 <= width -> 0 < cols -> across = divide_up cols width ->
  (rows + 128 * (groups + 1)) * (cols + 128) <= 2 ^ 30 * (128 * 128) -> first (groups + 1) * across <= 2 ^ 30.
Proof.
  intros cols width H128 Hw Hc Ea Hall. pose proof (total_bound (groups + 1) ltac:(lia) ltac:(lia)) as Ht.
  rewrite H128, Hrows in Ht. pose proof (divide_up_bounds cols width ltac:(lia)) as Hup. rewrite <- Ea in Hup.
  assert (Hac : across * 128 <= cols + 128) by nia.
  pose proof (rises_far first (groups + 1) 0 (groups + 1) first_rises ltac:(lia) ltac:(lia)) as H0.
  set (total := first (groups + 1)) in *. clearbody total. change (2 ^ 30) with 1073741824 in *.
  assert (total * 128 * (across * 128) <= (rows + 128 * (groups + 1)) * (cols + 128)).
  { apply Z.mul_le_mono_nonneg; lia. }
  lia.
Qed.

(* The group of a line of tiles, as search_is_right says it is found. *)
Definition is_group (g line : Z) : Prop := 0 <= g <= groups /\ first g <= line < first (g + 1).

Lemma group_rows : forall g line, is_group g line ->
  begin g <= task_row (begin g) line (first g) tile < begin (g + 1).
Proof.
  intros g line [Hg Hl]. rewrite Hnext in Hl by lia. unfold task_row.
  pose proof (divide_up_bounds (begin (g + 1) - begin g) tile Htile). nia.
Qed.

(* supports: TILING *)
(* says: Every row is in exactly one of the lines of tiles of all groups, before the end of its group. *)
Theorem group_lines_once : forall r, 0 <= r < rows ->
  exists line g, (0 <= line < first (groups + 1) /\ is_group g line /\
    (let row := task_row (begin g) line (first g) tile in row <= r < Z.min (row + tile) (begin (g + 1)))) /\
  forall line' g', is_group g' line' ->
    (let row := task_row (begin g') line' (first g') tile in row <= r < Z.min (row + tile) (begin (g' + 1))) ->
    line' = line /\ g' = g.
Proof.
  intros r Hr. unfold task_row.
  destruct (one_stair begin (groups + 1) r ltac:(lia) Hends ltac:(lia)) as [g [[Hg Hin] Hug]].
  pose proof (quotient_bounds (r - begin g) tile Htile) as Hq.
  assert (Hk : 0 <= (r - begin g) / tile < divide_up (begin (g + 1) - begin g) tile).
  { pose proof (divide_up_bounds (begin (g + 1) - begin g) tile Htile). apply quotient_below; lia. }
  set (k := (r - begin g) / tile) in *. exists (first g + k), g. split.
  - pose proof (rises_far first (groups + 1) 0 g first_rises ltac:(lia) ltac:(lia)).
    pose proof (rises_far first (groups + 1) (g + 1) (groups + 1) first_rises ltac:(lia) ltac:(lia)).
    unfold is_group. rewrite (Hnext g) in * by lia. cbv zeta. lia.
  - intros line' g' [Hg' Hl'] Hrow'. cbv zeta in Hrow'.
    assert (g' = g) by (symmetry; apply Hug; split; [lia|]; assert (begin g' <= r) by nia; lia). subst g'.
    split; [|reflexivity]. assert (k = line' - first g) by (apply quotient_is; lia). lia.
Qed.

(* supports: TILING *)
(* says: Every row, in every tile of columns, is stored by exactly one task, which stops where the row's group ends. *)
Theorem group_rows_once : forall r col, 0 <= r < rows -> 0 <= col < across ->
  exists number g, (0 <= number < first (groups + 1) * across /\ task_across (first (groups + 1)) across number = col /\
    is_group g (task_line (first (groups + 1)) across number) /\
    let row := task_row (begin g) (task_line (first (groups + 1)) across number) (first g) tile in
    row <= r < Z.min (row + tile) (begin (g + 1))) /\
  forall number' g', 0 <= number' < first (groups + 1) * across ->
    task_across (first (groups + 1)) across number' = col ->
    is_group g' (task_line (first (groups + 1)) across number') ->
    (let row := task_row (begin g') (task_line (first (groups + 1)) across number') (first g') tile in
     row <= r < Z.min (row + tile) (begin (g' + 1))) -> number' = number /\ g' = g.
Proof.
  intros r col Hr Hcol. set (total := first (groups + 1)) in *. unfold task_line, task_across, task_row.
  destruct (one_stair begin (groups + 1) r ltac:(lia) Hends ltac:(lia)) as [g [[Hg Hin] Hug]].
  pose proof (quotient_bounds (r - begin g) tile Htile) as Hq.
  assert (Hk : 0 <= (r - begin g) / tile < divide_up (begin (g + 1) - begin g) tile).
  { pose proof (divide_up_bounds (begin (g + 1) - begin g) tile Htile). apply quotient_below; lia. }
  set (k := (r - begin g) / tile) in *.
  assert (Hline : 0 <= first g + k < total).
  { pose proof (rises_far first (groups + 1) 0 g first_rises ltac:(lia) ltac:(lia)).
    pose proof (rises_far first (groups + 1) (g + 1) (groups + 1) first_rises ltac:(lia) ltac:(lia)).
    rewrite Hnext in * by lia. unfold total. lia. }
  destruct (every_tile_in_one_band 16 total across ltac:(lia) Hacross (first g + k) col Hline Hcol)
    as [number [(Hn & El & Ep) Hun]].
  exists number, g. split.
  - split; [exact Hn|]. split; [exact Ep|]. rewrite El. unfold is_group. rewrite Hnext by lia. cbv zeta. lia.
  - intros number' g' Hn' Ep' [Hg' Hl'] Hrow'. cbv zeta in Hrow'.
    set (line' := band_line 16 total across number') in *.
    assert (g' = g).
    { symmetry. apply Hug. split; [lia|].
      assert (begin g' <= r) by nia. lia. }
    subst g'. split; [|reflexivity]. symmetry. apply Hun. split; [exact Hn'|]. split; [|exact Ep'].
    fold line'. assert (k = line' - first g) by (apply quotient_is; lia). lia.
Qed.

End Groups.

(* -- Tasks of sums over rows: a matrix of tiles for each group ----------------------------------------------------- *)

Definition over_place (down across number : Z) : Z := number / (down * across).
Definition over_col (down across number : Z) : Z := (number - over_place down across number * (down * across)) / down.
Definition over_row (down across number : Z) : Z :=
  number - over_place down across number * (down * across) - over_col down across number * down.

(* supports: TILING *)
(* says: Where sums run over rows, every tile of every group's matrix is exactly one task. *)
Theorem over_rows_once : forall groups down across place row col, 0 < down -> 0 < across ->
  0 <= place < groups -> 0 <= row < down -> 0 <= col < across ->
  exists! number, 0 <= number < groups * down * across /\ over_place down across number = place /\
    over_row down across number = row /\ over_col down across number = col.
Proof.
  intros groups down across place row col Hd Ha Hp Hr Hc. unfold over_row, over_col, over_place.
  assert (Hper : 0 < down * across) by nia.
  exists (place * (down * across) + col * down + row).
  assert (Hrest : 0 <= col * down + row < down * across) by nia.
  assert (Q : (place * (down * across) + col * down + row) / (down * across) = place) by (apply quotient_is; lia).
  split.
  - rewrite Q.
    replace (place * (down * across) + col * down + row - place * (down * across)) with (col * down + row) by lia.
    assert (Q2 : (col * down + row) / down = col) by (apply quotient_is; lia). rewrite Q2.
    split; [|lia]. assert (groups * down * across = groups * (down * across)) by lia. nia.
  - intros number (Hn & E1 & E2 & E3). rewrite E3, E1 in E2. lia.
Qed.

(* -- Numbers fit an int -------------------------------------------------------------------------------------------- *)

Definition task_steps (total across width cols number group begin line first : Z) : list Z :=
  let per := 16 * across in
  let band := number / per in
  let rest := number - band * per in
  let lines := Z.min 16 (total - band * 16) in
  let col := rest / lines in
  [per; band; band * per; rest; band * 16; total - band * 16; col; band * 16 + rest; col * lines;
   band * 16 + rest - col * lines; line - first; (line - first) * 128; task_row begin line first 128; col * width;
   cols - col * width; 2 + group; total * 1; total * across].

(* supports: TILING *)
(* says: Under what the launch checks no value on the way from a task's number to its row and column leaves an int. *)
Theorem task_at_does_not_wrap : forall total across width cols number group begin first line rows,
  0 < total -> 0 < across -> total * across <= 2 ^ 30 -> across = divide_up cols width -> 128 <= width <= 256 ->
  0 < cols <= int_max - 1024 -> 0 <= number < total * across -> line = task_line total across number ->
  0 <= begin -> 0 <= first <= line -> task_row begin line first 128 < rows -> rows <= int_max - 1024 ->
  0 <= group <= int_max - 1024 -> Forall int32 (task_steps total across width cols number group begin line first).
Proof.
  intros total across width cols number group begin first line rows Ht Ha Hall Eacross Hw Hcols Hn Eline Hb Hf Hrow
    Hrows Hgroup.
  pose proof (band_shape 16 total across ltac:(lia) Ha number Hn) as (Hfirst & Hl & Hr & E).
  pose proof (band_place_bounds 16 total across ltac:(lia) Ha number Hn) as (Hp & Hm).
  pose proof (band_in_range 16 total across ltac:(lia) Ha number Hn) as (Hline & _).
  pose proof (divide_up_bounds cols width ltac:(lia)) as Hup. rewrite <- Eacross in Hup.
  assert (across <= 16777216) by (unfold int_max in *; nia).
  pose proof (factor_at_most total across (2 ^ 30) Ht Ha Hall) as Htotal.
  unfold task_line in Eline. unfold task_steps, task_row in *.
  unfold band_line, band_place, band_lines, band_rest, band_first in *.
  set (per := 16 * across) in *. assert (Hper : 0 < per) by lia.
  pose proof (quotient_at_most number per ltac:(lia) Hper) as Hband.
  set (band := number / per) in *. set (lines := Z.min 16 (total - band * 16)) in *.
  set (col := (number - band * per) / lines) in *.
  pose proof (product_at_most col width (across - 1) width ltac:(lia) ltac:(lia)) as Hcolumn.
  change (2 ^ 30) with 1073741824 in *. unfold int_max in *. rewrite Eline in *.
  repeat apply Forall_cons; try apply Forall_nil; unfold int32; lia.
Qed.
