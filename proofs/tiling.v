(* How index maps cut work, for all sizes: the lemmas on which the proofs about our kernels' maps stand (tiles_*.v).
   Everything is integer arithmetic over Z; "exactly once" is written exists!. That values fit the C types is stated
   apart, by int32, uint32 and int64. C divides towards zero and Coq downwards: the maps divide nothing negative, and
   the tie to the sources (proofs/index) evaluates both. *)
From Coq Require Import ZArith Lia List.
Import ListNotations.
Open Scope Z_scope.

Definition int32 (x : Z) := - 2 ^ 31 <= x < 2 ^ 31.
Definition uint32 (x : Z) := 0 <= x < 2 ^ 32.
Definition int64 (x : Z) := - 2 ^ 63 <= x < 2 ^ 63.
Definition int_max : Z := 2147483647.

Definition divide_up (a b : Z) : Z := (a + b - 1) / b.
Definition round_up (a b : Z) : Z := divide_up a b * b.

(* -- One axis ------------------------------------------------------------------------------------------------------ *)

Lemma quotient_is : forall a b q, 0 < b -> q * b <= a < q * b + b -> a / b = q.
Proof. intros a b q Hb H. symmetry. apply (Z.div_unique a b q (a - q * b)); lia. Qed.

Lemma quotient_bounds : forall a b, 0 < b -> a / b * b <= a < a / b * b + b.
Proof. intros a b Hb. pose proof (Z.div_mod a b). pose proof (Z.mod_pos_bound a b). lia. Qed.

Lemma remainder_is : forall a b, 0 < b -> a mod b = a - a / b * b.
Proof. intros a b Hb. rewrite Z.mod_eq by lia. lia. Qed.

Lemma quotient_below : forall a b n, 0 < b -> 0 <= a < n * b -> 0 <= a / b < n.
Proof.
  intros a b n Hb H. pose proof (quotient_bounds a b Hb). split; [apply Z.div_pos; lia|].
  apply Z.div_lt_upper_bound; lia.
Qed.

Lemma divide_up_bounds : forall a b, 0 < b -> (divide_up a b - 1) * b < a <= divide_up a b * b.
Proof. intros a b Hb. unfold divide_up. pose proof (quotient_bounds (a + b - 1) b Hb). lia. Qed.

Lemma divide_up_positive : forall a b, 0 < b -> 0 < a -> 0 < divide_up a b.
Proof. intros a b Hb Ha. pose proof (divide_up_bounds a b Hb). nia. Qed.

Lemma divide_up_nonnegative : forall a b, 0 < b -> 0 <= a -> 0 <= divide_up a b.
Proof. intros a b Hb Ha. pose proof (divide_up_bounds a b Hb). nia. Qed.

Lemma product_at_most : forall a b x y, 0 <= a <= x -> 0 <= b <= y -> 0 <= a * b <= x * y.
Proof. intros. nia. Qed.

Lemma quotient_at_most : forall a b, 0 <= a -> 0 < b -> 0 <= a / b <= a.
Proof. intros a b Ha Hb. split; [apply Z.div_pos; lia|]. apply Z.div_le_upper_bound; nia. Qed.

Lemma factor_at_most : forall a b n, 0 < a -> 0 < b -> a * b <= n -> a <= n.
Proof. intros. nia. Qed.

(* Tiles of `width` places: every place is in exactly one tile, the last of which may be cut off. *)
Theorem every_place_in_one_tile : forall size width i, 0 < width -> 0 <= i < size ->
  exists! t, 0 <= t < divide_up size width /\ t * width <= i < t * width + width.
Proof.
  intros size width i Hw Hi. pose proof (divide_up_bounds size width Hw) as Hup.
  pose proof (quotient_bounds i width Hw) as Hq. exists (i / width). split.
  - split; [|exact Hq]. apply quotient_below; lia.
  - intros t [_ Ht]. apply quotient_is; assumption.
Qed.

(* The pair (quotient, remainder) names a place of [0, n * width) in one way. *)
Theorem pair_names_one_place : forall width n q r q' r', 0 < width ->
  0 <= q < n -> 0 <= r < width -> 0 <= q' -> 0 <= r' < width ->
  (0 <= q * width + r < n * width) /\ (q * width + r = q' * width + r' -> q = q' /\ r = r').
Proof.
  intros width n q r q' r' Hw Hq Hr Hq' Hr'. split; [nia|]. intros E.
  assert (q = q') by nia. subst. lia.
Qed.

(* -- A loop that begins at `first` and goes on by `step` ----------------------------------------------------------- *)

(* Threads 0 .. step - 1 share out [0, n): each number is some thread's, in some round, once. *)
Theorem strides_cover : forall step n i, 0 < step -> 0 <= i < n ->
  exists! t, 0 <= t < step /\ exists round, 0 <= round /\ i = t + round * step.
Proof.
  intros step n i Hs Hi. pose proof (quotient_bounds i step Hs) as Hq.
  assert (0 <= i / step) by (apply Z.div_pos; lia).
  exists (i mod step). rewrite remainder_is by lia. split.
  - split; [lia|]. exists (i / step). lia.
  - intros t [Ht [round [Hround E]]]. assert (i / step = round) by (apply quotient_is; lia). nia.
Qed.

Theorem stride_round_unique : forall step t round round', 0 < step ->
  t + round * step = t + round' * step -> round = round'.
Proof. intros. nia. Qed.

(* -- Stairs: ranges that follow each other ------------------------------------------------------------------------- *)

Definition rises (f : Z -> Z) (n : Z) := forall i, 0 <= i < n -> f i <= f (i + 1).

Lemma rises_far : forall f n i j, rises f n -> 0 <= i <= j -> j <= n -> f i <= f j.
Proof.
  intros f n i j Hr [Hi Hij] Hj. revert j Hij Hj.
  apply (Zlt_lower_bound_ind (fun j => j <= n -> f i <= f j)). intros j IH Hij Hj.
  destruct (Z.eq_dec i j) as [->|Hne]; [lia|].
  specialize (IH (j - 1) ltac:(lia) ltac:(lia)). specialize (Hr (j - 1) ltac:(lia)).
  replace (j - 1 + 1) with j in Hr by lia. lia.
Qed.

Theorem one_stair : forall f n x, 0 <= n -> rises f n -> f 0 <= x < f n ->
  exists! w, 0 <= w < n /\ f w <= x < f (w + 1).
Proof.
  intros f n x Hn Hr Hx.
  assert (exists w, 0 <= w < n /\ f w <= x < f (w + 1)) as [w Hw].
  { revert n Hn Hr Hx. apply (natlike_ind (fun n => rises f n -> f 0 <= x < f n ->
      exists w, 0 <= w < n /\ f w <= x < f (w + 1))); [lia|].
    intros n Hn IH Hr Hx. destruct (Z_lt_dec x (f n)) as [Hlt|Hge].
    - destruct IH as [w Hw]; [intros i Hi; apply Hr; lia|lia|]. exists w. lia.
    - exists n. replace (n + 1) with (Z.succ n) by lia. lia. }
  exists w. split; [exact Hw|]. intros v Hv.
  destruct (Z.lt_trichotomy w v) as [H|[H|H]]; [|assumption|].
  - pose proof (rises_far f n (w + 1) v Hr ltac:(lia) ltac:(lia)). lia.
  - pose proof (rises_far f n (v + 1) w Hr ltac:(lia) ltac:(lia)). lia.
Qed.

(* -- A sum of `blocks` blocks, cut into `parts` parts -------------------------------------------------------------- *)

Definition part_begin (blocks parts which : Z) : Z := blocks * which / parts.

Lemma part_begin_rises : forall blocks parts, 0 <= blocks -> 0 < parts -> rises (part_begin blocks parts) parts.
Proof. intros blocks parts Hb Hp i Hi. unfold part_begin. apply Z.div_le_mono; nia. Qed.

Lemma part_begin_first : forall blocks parts, part_begin blocks parts 0 = 0.
Proof. intros. unfold part_begin. rewrite Z.mul_0_r. destruct parts; reflexivity. Qed.

Lemma part_begin_last : forall blocks parts, 0 < parts -> part_begin blocks parts parts = blocks.
Proof. intros. unfold part_begin. apply Z.div_mul. lia. Qed.

(* supports: TILING *)
(* says: Cutting a sum into parts leaves every block of it to exactly one part, for any numbers of both. *)
Theorem every_block_in_one_part : forall blocks parts block, 0 < parts -> 0 <= block < blocks ->
  exists! which, 0 <= which < parts /\
    part_begin blocks parts which <= block < part_begin blocks parts (which + 1).
Proof.
  intros blocks parts block Hp Hb. apply one_stair; [lia|apply part_begin_rises; lia|].
  rewrite part_begin_first, part_begin_last by lia. exact Hb.
Qed.

Lemma part_range : forall blocks parts which, 0 <= blocks -> 0 < parts -> 0 <= which < parts ->
  0 <= part_begin blocks parts which <= part_begin blocks parts (which + 1) /\
  part_begin blocks parts (which + 1) <= blocks.
Proof.
  intros blocks parts which Hb Hp Hw. pose proof (part_begin_rises blocks parts Hb Hp) as Hr.
  pose proof (rises_far _ _ 0 which Hr ltac:(lia) ltac:(lia)) as H0.
  pose proof (rises_far _ _ (which + 1) parts Hr ltac:(lia) ltac:(lia)) as H1.
  pose proof (Hr which ltac:(lia)). rewrite part_begin_first in H0. rewrite part_begin_last in H1 by lia. lia.
Qed.

(* As many blocks as there are parts, or more: none is empty. *)
Lemma part_not_empty : forall blocks parts which, 0 < parts <= blocks -> 0 <= which ->
  part_begin blocks parts which < part_begin blocks parts (which + 1).
Proof.
  intros blocks parts which Hp Hw. unfold part_begin.
  pose proof (quotient_bounds (blocks * which) parts ltac:(lia)).
  pose proof (quotient_bounds (blocks * (which + 1)) parts ltac:(lia)). nia.
Qed.

(* -- Bands --------------------------------------------------------------------------------------------------------- *)

(* Tiles are numbered down `raster` lines of tiles before the next column; the last band may have fewer lines. *)
Definition band_first (raster across tile : Z) : Z := tile / (raster * across) * raster.
Definition band_lines (raster down across tile : Z) : Z := Z.min raster (down - band_first raster across tile).
Definition band_rest (raster across tile : Z) : Z := tile - tile / (raster * across) * (raster * across).
Definition band_place (raster down across tile : Z) : Z :=
  band_rest raster across tile / band_lines raster down across tile.
Definition band_line (raster down across tile : Z) : Z :=
  band_first raster across tile + band_rest raster across tile -
  band_place raster down across tile * band_lines raster down across tile.

(* The number of the tile in that line and place. *)
Definition band_number (raster down across line place : Z) : Z :=
  line / raster * raster * across + place * Z.min raster (down - line / raster * raster) +
  (line - line / raster * raster).

Section Bands.
Variables raster down across : Z.
Hypotheses (Hraster : 0 < raster) (Hacross : 0 < across).

Lemma band_shape : forall tile, 0 <= tile < down * across ->
  0 <= band_first raster across tile < down /\ 0 < band_lines raster down across tile <= raster /\
  0 <= band_rest raster across tile < band_lines raster down across tile * across /\
  tile = band_first raster across tile * across + band_rest raster across tile.
Proof.
  intros tile Ht. unfold band_lines, band_rest, band_first.
  assert (Hper : 0 < raster * across) by nia.
  pose proof (quotient_bounds tile (raster * across) Hper) as Hq.
  assert (0 <= tile / (raster * across)) as H0 by (apply Z.div_pos; lia).
  set (b := tile / (raster * across)) in *.
  assert (b * raster * across <= tile) by lia.
  assert (b * raster < down) by nia.
  assert (E : b * (raster * across) = b * raster * across) by lia. rewrite E in *.
  set (f := b * raster) in *. assert (0 <= f) by (unfold f; nia).
  destruct (Z.min_spec raster (down - f)) as [[Hs Hm]|[Hs Hm]]; rewrite Hm; repeat split; try lia; nia.
Qed.

Lemma band_place_bounds : forall tile, 0 <= tile < down * across ->
  0 <= band_place raster down across tile < across /\
  0 <= band_line raster down across tile - band_first raster across tile < band_lines raster down across tile.
Proof.
  intros tile Ht. pose proof (band_shape tile Ht) as (Hf & Hl & Hr & _).
  unfold band_line, band_place.
  pose proof (quotient_bounds (band_rest raster across tile) (band_lines raster down across tile) ltac:(lia)).
  split; [apply quotient_below; lia|lia].
Qed.

Theorem band_in_range : forall tile, 0 <= tile < down * across ->
  0 <= band_line raster down across tile < down /\ 0 <= band_place raster down across tile < across.
Proof.
  intros tile Ht. pose proof (band_shape tile Ht) as (Hf & Hl & _). pose proof (band_place_bounds tile Ht) as (Hp & Hm).
  unfold band_lines in *. lia.
Qed.

Theorem band_number_of : forall tile, 0 <= tile < down * across ->
  band_number raster down across (band_line raster down across tile) (band_place raster down across tile) = tile.
Proof.
  intros tile Ht. pose proof (band_shape tile Ht) as (Hf & Hl & Hr & E).
  pose proof (band_place_bounds tile Ht) as (Hp & Hm).
  assert (Q : band_line raster down across tile / raster = tile / (raster * across)).
  { apply quotient_is; [lia|]. fold (band_first raster across tile). lia. }
  unfold band_number. rewrite Q. fold (band_first raster across tile). fold (band_lines raster down across tile).
  unfold band_line. lia.
Qed.

Lemma band_number_bounds : forall line place, 0 <= line < down -> 0 <= place < across ->
  0 <= band_number raster down across line place < down * across /\
  band_line raster down across (band_number raster down across line place) = line /\
  band_place raster down across (band_number raster down across line place) = place.
Proof.
  intros line place Hl Hp. pose proof (quotient_bounds line raster Hraster) as Hq.
  assert (0 <= line / raster) by (apply Z.div_pos; lia).
  remember (line / raster) as b. set (first := b * raster) in *. set (lines := Z.min raster (down - first)).
  assert (Hlines : 0 < lines <= raster) by (unfold lines; lia).
  assert (Hfirst : 0 <= first) by (unfold first; nia).
  assert (Hrest : 0 <= place * lines + (line - first) < lines * across).
  { assert (0 <= line - first < lines) by (unfold lines; lia). nia. }
  assert (Hnumber : band_number raster down across line place = first * across + (place * lines + (line - first))).
  { unfold band_number. rewrite <- Heqb. fold first. fold lines. lia. }
  set (number := band_number raster down across line place) in *.
  assert (Hband : number / (raster * across) = b).
  { apply quotient_is; [nia|]. rewrite Hnumber. unfold first in *. nia. }
  assert (Hf : band_first raster across number = first) by (unfold band_first; rewrite Hband; reflexivity).
  assert (Hr : band_rest raster across number = place * lines + (line - first)).
  { unfold band_rest. rewrite Hband, Hnumber. unfold first. lia. }
  assert (Hls : band_lines raster down across number = lines) by (unfold band_lines; rewrite Hf; reflexivity).
  assert (Hplace : band_place raster down across number = place).
  { unfold band_place. rewrite Hr, Hls. apply quotient_is; [lia|]. unfold lines in *. lia. }
  assert (lines <= down - first) by (unfold lines; lia).
  split; [rewrite Hnumber; nia|]. split; [|exact Hplace].
  unfold band_line. rewrite Hplace, Hf, Hr, Hls. lia.
Qed.

(* supports: TILING *)
(* says: Tiles are numbered in bands, the last one with the lines that are left: every tile has exactly one number. *)
Theorem every_tile_in_one_band : forall line place, 0 <= line < down -> 0 <= place < across ->
  exists! tile, 0 <= tile < down * across /\
    band_line raster down across tile = line /\ band_place raster down across tile = place.
Proof.
  intros line place Hl Hp. exists (band_number raster down across line place).
  split; [apply band_number_bounds; assumption|].
  intros tile (Ht & <- & <-). apply band_number_of. exact Ht.
Qed.

End Bands.
