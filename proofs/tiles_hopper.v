(* The index maps of Hopper's products (ops/product/kernel_hopper.h, kernel_hopper_few.h, with the epilogues of
   kernel_hopper_linear.h), for all sizes and symbolic tiles: every output at every block of the sum is computed by
   exactly one unit, block, warp and lane; numbers stay in their ranges and, under what ops/product/launch_hopper.c
   checks before a launch, in the C types (the lists ..._steps have every value on the way). Not proved: what the
   hardware does (matrix units, the copy engine, barriers), and that rows and columns behind the ends are not stored,
   which the copy engine and comparisons see to. *)
From Coq Require Import ZArith Lia List.
From Tokitai Require Import tiling.
Import ListNotations.
Open Scope Z_scope.

(* -- unit_at(): which tile a unit is, and which blocks of the sum -------------------------------------------------- *)

Definition unit_tile (whole parts number : Z) : Z :=
  if number <? whole then number else whole + (number - whole) / parts.
Definition unit_which (whole parts number : Z) : Z := number - whole - (number - whole) / parts * parts.
Definition unit_part (whole number : Z) : Z := if number <? whole then -1 else number - whole.
Definition unit_begin (blocks whole parts number : Z) : Z :=
  if number <? whole then 0 else blocks * unit_which whole parts number / parts.
Definition unit_end (blocks whole parts number : Z) : Z :=
  if number <? whole then blocks else blocks * (unit_which whole parts number + 1) / parts.
Definition unit_row (raster down across tile : Z) : Z :=
  if 0 <? raster then band_line raster down across tile else band_place (- raster) across down tile.
Definition unit_col (raster down across tile : Z) : Z :=
  if 0 <? raster then band_place raster down across tile else band_line (- raster) across down tile.
Definition units_of (tiles whole parts : Z) : Z := whole + (tiles - whole) * parts.

Lemma unit_in_part : forall whole parts number, 0 < parts -> whole <= number ->
  0 <= unit_which whole parts number < parts /\
  number = whole + (number - whole) / parts * parts + unit_which whole parts number /\ 0 <= (number - whole) / parts.
Proof.
  intros whole parts number Hp Hn. unfold unit_which. pose proof (quotient_bounds (number - whole) parts Hp).
  assert (0 <= (number - whole) / parts) by (apply Z.div_pos; lia). lia.
Qed.

Lemma unit_tile_range : forall tiles whole parts number, 0 < parts -> 0 <= whole <= tiles ->
  0 <= number < units_of tiles whole parts -> 0 <= unit_tile whole parts number < tiles.
Proof.
  intros tiles whole parts number Hp Hw Hn. unfold unit_tile, units_of in *.
  destruct (Z.ltb_spec number whole); [lia|].
  pose proof (quotient_below (number - whole) parts (tiles - whole) Hp). lia.
Qed.

Lemma tile_row_col : forall raster down across tile, raster <> 0 -> 0 < down -> 0 < across ->
  0 <= tile < down * across ->
  0 <= unit_row raster down across tile < down /\ 0 <= unit_col raster down across tile < across.
Proof.
  intros raster down across tile Hr Hd Ha Ht. unfold unit_row, unit_col.
  destruct (Z.ltb_spec 0 raster).
  - apply band_in_range; lia.
  - pose proof (band_in_range (- raster) across down ltac:(lia) ltac:(lia) tile ltac:(lia)). tauto.
Qed.

Lemma tile_of_row_col : forall raster down across row col, raster <> 0 -> 0 < down -> 0 < across ->
  0 <= row < down -> 0 <= col < across ->
  exists! tile, 0 <= tile < down * across /\
    unit_row raster down across tile = row /\ unit_col raster down across tile = col.
Proof.
  intros raster down across row col Hr Hd Ha Hrow Hcol. unfold unit_row, unit_col. destruct (Z.ltb_spec 0 raster).
  - apply every_tile_in_one_band; lia.
  - destruct (every_tile_in_one_band (- raster) across down ltac:(lia) ltac:(lia) col row Hcol Hrow)
      as [tile [(Ht & El & Ep) Hu]].
    exists tile. split; [repeat split; try lia|]. intros t (H1 & H2 & H3). apply Hu. repeat split; lia.
Qed.

(* supports: TILING *)
(* says: A unit's tile lies in the output and its blocks in the sum; of sums with enough blocks no part is empty. *)
Theorem units_in_range : forall raster down across blocks whole parts number,
  raster <> 0 -> 0 < down -> 0 < across -> 0 <= blocks -> 0 < parts -> 0 <= whole <= down * across ->
  0 <= number < units_of (down * across) whole parts ->
  0 <= unit_row raster down across (unit_tile whole parts number) < down /\
  0 <= unit_col raster down across (unit_tile whole parts number) < across /\
  0 <= unit_begin blocks whole parts number <= unit_end blocks whole parts number /\
  unit_end blocks whole parts number <= blocks /\
  (parts <= blocks -> unit_begin blocks whole parts number < unit_end blocks whole parts number).
Proof.
  intros raster down across blocks whole parts number Hr Hd Ha Hb Hp Hw Hn.
  pose proof (unit_tile_range _ _ _ _ Hp Hw Hn) as Ht.
  pose proof (tile_row_col raster down across _ Hr Hd Ha Ht) as [Hrow Hcol].
  split; [exact Hrow|]. split; [exact Hcol|]. unfold unit_begin, unit_end.
  destruct (Z.ltb_spec number whole) as [_|Hge]; [lia|].
  pose proof (unit_in_part whole parts number Hp Hge) as [Hwhich _].
  pose proof (part_range blocks parts _ Hb Hp Hwhich) as H. unfold part_begin in H.
  split; [lia|]. split; [lia|]. intros He.
  exact (part_not_empty blocks parts (unit_which whole parts number) ltac:(lia) ltac:(lia)).
Qed.

(* supports: TILING *)
(* says: Every tile at every block of its sum is the work of exactly one unit: whole tiles, parts, bands, tail bands. *)
Theorem units_cover_once : forall raster down across blocks whole parts row col block,
  raster <> 0 -> 0 < down -> 0 < across -> 0 < parts -> 0 <= whole <= down * across ->
  0 <= row < down -> 0 <= col < across -> 0 <= block < blocks ->
  exists! number, 0 <= number < units_of (down * across) whole parts /\
    unit_row raster down across (unit_tile whole parts number) = row /\
    unit_col raster down across (unit_tile whole parts number) = col /\
    unit_begin blocks whole parts number <= block < unit_end blocks whole parts number.
Proof.
  intros raster down across blocks whole parts row col block Hr Hd Ha Hp Hw Hrow Hcol Hblock.
  destruct (tile_of_row_col raster down across row col Hr Hd Ha Hrow Hcol) as [tile [(Ht & Er & Ec) Hu]].
  destruct (Z_lt_dec tile whole) as [Hlt|Hge].
  - exists tile. unfold unit_tile, unit_begin, unit_end, units_of. split.
    + destruct (Z.ltb_spec tile whole); [|lia]. repeat split; try assumption; nia.
    + intros n (Hn & En & Em & Hblocks). destruct (Z.ltb_spec n whole).
      * apply Hu. repeat split; try assumption; lia.
      * exfalso. pose proof (unit_in_part whole parts n Hp ltac:(lia)) as [Hwhich [_ H0]].
        pose proof (unit_tile_range (down * across) whole parts n Hp Hw Hn) as Htn. unfold unit_tile in Htn.
        destruct (Z.ltb_spec n whole); [lia|].
        pose proof (Hu (whole + (n - whole) / parts) ltac:(repeat split; try assumption; lia)). lia.
  - destruct (every_block_in_one_part blocks parts block Hp Hblock) as [which [[Hwhich Hin] Huw]].
    exists (whole + (tile - whole) * parts + which).
    assert (Hq : (whole + (tile - whole) * parts + which - whole) / parts = tile - whole).
    { apply quotient_is; lia. }
    assert (Hge2 : whole <= whole + (tile - whole) * parts + which) by nia.
    unfold unit_tile, unit_begin, unit_end, unit_which, units_of. split.
    + destruct (Z.ltb_spec (whole + (tile - whole) * parts + which) whole); [lia|]. rewrite Hq.
      replace (whole + (tile - whole) * parts + which - whole - (tile - whole) * parts) with which by lia.
      replace (whole + (tile - whole)) with tile by lia.
      split; [nia|]. split; [exact Er|]. split; [exact Ec|]. exact Hin.
    + intros n (Hn & En & Em & Hblocks). destruct (Z.ltb_spec n whole).
      * exfalso. pose proof (Hu n ltac:(repeat split; try assumption; lia)). lia.
      * pose proof (unit_in_part whole parts n Hp ltac:(lia)) as (Hw2 & E2 & H02). unfold unit_which in Hw2, E2.
        assert (Htile : whole + (n - whole) / parts = tile).
        { symmetry. apply Hu. split; [|split; assumption].
          pose proof (quotient_below (n - whole) parts (down * across - whole) Hp). lia. }
        assert (n - whole - (n - whole) / parts * parts = which).
        { symmetry. apply Huw. split; [exact Hw2|]. exact Hblocks. }
        nia.
Qed.

(* All values on the way of unit_at(), for raster > 0, which is all that a launch takes. *)
Definition unit_steps (raster down across blocks whole parts number : Z) : list Z :=
  let part := number - whole in
  let cut := part / parts in
  let which := part - cut * parts in
  let tile := unit_tile whole parts number in
  let per := raster * across in
  let band := tile / per in
  let rest := tile - band * per in
  let first := band * raster in
  let lines := Z.min raster (down - first) in
  let col := rest / lines in
  [part; cut; cut * parts; which; whole + cut; blocks * which; which + 1; blocks * (which + 1); per; band; band * per;
   rest; first; down - first; col; first + rest; col * lines; first + rest - col * lines;
   blocks * which / parts; blocks * (which + 1) / parts].

(* What launch_hopper.c checks, in can_do() and tki_gemm_accept_hopper(), of sizes and of a cut. *)
Definition launch_allows (rows cols inner tile_rows tile_cols raster blocks whole parts : Z) : Prop :=
  0 < rows <= int_max - 1024 /\ 0 < cols <= int_max - 1024 /\ 0 <= inner <= int_max - 1024 /\
  blocks = divide_up inner 64 /\ 1 <= raster <= 65536 /\ raster * divide_up cols tile_cols <= int_max /\
  divide_up rows tile_rows * divide_up cols tile_cols <= int_max / 16 /\ 1 <= parts <= 16 /\
  0 <= whole <= divide_up rows tile_rows * divide_up cols tile_cols.

(* supports: TILING *)
(* says: Under what the launch checks no value on the way from a unit's number to its tile and blocks leaves an int. *)
Theorem unit_at_does_not_wrap : forall rows cols inner tile_rows tile_cols raster blocks whole parts number,
  0 < tile_rows -> 0 < tile_cols ->
  launch_allows rows cols inner tile_rows tile_cols raster blocks whole parts ->
  whole <= number < units_of (divide_up rows tile_rows * divide_up cols tile_cols) whole parts ->
  Forall int32 (unit_steps raster (divide_up rows tile_rows) (divide_up cols tile_cols) blocks whole parts number).
Proof.
  intros rows cols inner tile_rows tile_cols raster blocks whole parts number Htr Htc
    (Hrows & Hcols & Hinner & Hblocks & Hraster & Hband & Htiles & Hparts & Hwhole) Hn.
  pose proof (divide_up_positive rows tile_rows Htr ltac:(lia)) as Hdown.
  pose proof (divide_up_positive cols tile_cols Htc ltac:(lia)) as Hacross.
  pose proof (divide_up_bounds inner 64 ltac:(lia)) as Hi. rewrite <- Hblocks in Hi.
  unfold int_max in *. change (2147483647 / 16) with 134217727 in Htiles.
  set (down := divide_up rows tile_rows) in *. clearbody down.
  set (across := divide_up cols tile_cols) in *. clearbody across.
  assert (Hb : 0 <= blocks <= 33554417) by lia. clear Hrows Hcols Hinner Hblocks Hi Htr Htc.
  pose proof (factor_at_most down across 134217727 Hdown Hacross Htiles) as Hd.
  pose proof (unit_in_part whole parts number ltac:(lia) ltac:(lia)) as (Hwhich & Enumber & Hcut).
  pose proof (unit_tile_range (down * across) whole parts number ltac:(lia) Hwhole ltac:(lia)) as Ht.
  pose proof (product_at_most (down * across - whole) parts 134217727 16 ltac:(lia) ltac:(lia)) as Hunits.
  pose proof (quotient_at_most (number - whole) parts ltac:(lia) ltac:(lia)) as Hcut2.
  assert (Hlast : (number - whole) / parts < down * across - whole).
  { apply Z.div_lt_upper_bound; unfold units_of in Hn; lia. }
  unfold units_of in Hn. unfold unit_which in Hwhich, Enumber.
  pose proof (band_shape raster down across ltac:(lia) Hacross _ Ht) as (Hf & Hl & Hr & Et).
  pose proof (band_place_bounds raster down across ltac:(lia) Hacross _ Ht) as (Hp & Hm).
  pose proof (band_in_range raster down across ltac:(lia) Hacross _ Ht) as (Hline & _).
  unfold unit_steps. unfold band_line, band_place, band_lines, band_rest, band_first in *.
  set (tile := unit_tile whole parts number) in *. clearbody tile.
  assert (Hper : 0 < raster * across) by (apply Z.mul_pos_pos; lia).
  set (per := raster * across) in *. clearbody per.
  pose proof (quotient_at_most tile per ltac:(lia) ltac:(lia)) as Hbands.
  pose proof (quotient_bounds tile per ltac:(lia)) as Hbands2.
  set (cut := (number - whole) / parts) in *. clearbody cut.
  set (which := number - whole - cut * parts) in *.
  pose proof (product_at_most blocks which 33554417 16 ltac:(lia) ltac:(lia)) as Hx.
  pose proof (product_at_most blocks (which + 1) 33554417 16 ltac:(lia) ltac:(lia)) as Hy.
  pose proof (quotient_at_most (blocks * which) parts ltac:(lia) ltac:(lia)) as Hx2.
  pose proof (quotient_at_most (blocks * (which + 1)) parts ltac:(lia) ltac:(lia)) as Hy2.
  repeat apply Forall_cons; try apply Forall_nil; unfold int32; lia.
Qed.

(* Units are handed out by a counter: the number that ends a block's work, and those that come after it, fit too. *)
Lemma counter_does_not_wrap : forall tiles whole parts clusters words,
  0 <= whole <= tiles -> tiles <= int_max / 16 -> 0 <= clusters <= 2 ^ 20 -> 0 <= words <= 2 ^ 24 ->
  (tiles - whole) * parts <= words -> 0 < parts -> units_of tiles whole parts + 2 * clusters < 2 ^ 31.
Proof. unfold units_of, int_max. change (2147483647 / 16) with 134217727. lia. Qed.

(* Without the check of raster * across: as the kernel would compute where an int wraps. Everything else that a launch
   asks for holds (2^28 columns in tiles of 256 and two tiles down), and the row lies outside of the output. *)
Definition wrap32 (x : Z) : Z := (x + 2 ^ 31) mod 2 ^ 32 - 2 ^ 31.
Definition unit_row_wrapping (raster down across tile : Z) : Z :=
  let per := wrap32 (raster * across) in
  let band := tile / per in
  let rest := tile - band * per in
  let first := band * raster in
  let lines := Z.min raster (down - first) in
  first + rest - rest / lines * lines.

Lemma bands_could_wrap : exists raster down across tile,
  1 <= raster <= 65536 /\ down * across <= int_max / 16 /\ 0 <= tile < down * across /\
  ~ int32 (raster * across) /\ down <= unit_row_wrapping raster down across tile.
Proof.
  exists 4097, 2, (2 ^ 20), (2 ^ 20). unfold int32, int_max.
  repeat split; try (vm_compute; congruence). intros [_ H]. vm_compute in H. congruence.
Qed.

(* -- Rows and columns of the output -------------------------------------------------------------------------------- *)

(* bring(): where a block's share of both factors begins; multiply(): where the sums of a group of warps do. `share` is
   the group's index where two groups share a tile, and t, the upper or the lower half, where one has it alone. *)
Definition left_line (row down rank : Z) : Z := (row * down + rank) * 128.
Definition right_line (col width rank lines : Z) : Z := col * width + rank * lines.
Definition sums_row (row down rank share : Z) : Z := (row * down + rank) * 128 + share * 64.

(* store_sums(): element e of pair i of a lane. *)
Definition stored_row (first_row warp lane half : Z) : Z := first_row + warp * 16 + lane / 4 + 8 * half.
Definition stored_col (first_col lane i e : Z) : Z := first_col + 2 * (lane mod 4) + 8 * i + e.

(* The register that has it. *)
Definition sum_register (half i e : Z) : Z := 4 * i + 2 * half + e.

(* supports: TILING *)
(* says: The sums of a lane fill its registers, each one once: half a register to each column of the tile. *)
Theorem registers_once : forall width number, 0 < width -> width mod 8 = 0 -> 0 <= number < width / 2 ->
  exists half i e, (0 <= half < 2 /\ 0 <= i < width / 8 /\ 0 <= e < 2 /\ sum_register half i e = number) /\
    forall half' i' e', 0 <= half' < 2 -> 0 <= e' < 2 -> sum_register half' i' e' = number ->
      half' = half /\ i' = i /\ e' = e.
Proof.
  intros width number Hw H8 Hn. unfold sum_register.
  exists (number / 2 mod 2), (number / 4), (number mod 2). split; [|intros half' i' e' Hh He E];
    Z.to_euclidean_division_equations; lia.
Qed.

Record lane_place := { of_rank : Z; of_share : Z; of_warp : Z; of_lane : Z; of_half : Z; of_pair : Z; of_element : Z }.

Definition has_lane (down width : Z) (p : lane_place) : Prop :=
  0 <= of_rank p < down /\ 0 <= of_share p < 2 /\ 0 <= of_warp p < 4 /\ 0 <= of_lane p < 32 /\ 0 <= of_half p < 2 /\
  0 <= of_pair p < width / 8 /\ 0 <= of_element p < 2.

Definition output_row (down row : Z) (p : lane_place) : Z :=
  stored_row (sums_row row down (of_rank p) (of_share p)) (of_warp p) (of_lane p) (of_half p).
Definition output_col (width col : Z) (p : lane_place) : Z :=
  stored_col (col * width) (of_lane p) (of_pair p) (of_element p).

Ltac fields := cbn [of_rank of_share of_warp of_lane of_half of_pair of_element] in *.

Lemma lane_rows : forall r, 0 <= r < 128 ->
  let s := r / 64 in let w := (r - s * 64) / 16 in let h := (r - s * 64 - w * 16) / 8 in
  let q := r - s * 64 - w * 16 - h * 8 in
  0 <= s < 2 /\ 0 <= w < 4 /\ 0 <= h < 2 /\ 0 <= q < 8.
Proof. intros r Hr. cbv zeta. Z.to_euclidean_division_equations. lia. Qed.

(* supports: TILING *)
(* says: Every output is one sum in one lane: one tile, block, group, warp, lane and register, and none twice. *)
Theorem outputs_once : forall rows cols down width r c,
  0 < down -> 0 < width -> width mod 8 = 0 -> 0 <= r < rows -> 0 <= c < cols ->
  exists row col p,
    (0 <= row < divide_up rows (128 * down) /\ 0 <= col < divide_up cols width /\ has_lane down width p /\
     output_row down row p = r /\ output_col width col p = c) /\
    forall row' col' p', 0 <= row' -> 0 <= col' -> has_lane down width p' ->
      output_row down row' p' = r -> output_col width col' p' = c -> row' = row /\ col' = col /\ p' = p.
Proof.
  intros rows cols down width r c Hd Hw H8 Hr Hc.
  pose proof (quotient_bounds r (128 * down) ltac:(lia)) as Hrow.
  pose proof (quotient_bounds c width Hw) as Hcol.
  assert (0 <= r / (128 * down) < divide_up rows (128 * down)).
  { pose proof (divide_up_bounds rows (128 * down) ltac:(lia)). apply quotient_below; lia. }
  assert (0 <= c / width < divide_up cols width).
  { pose proof (divide_up_bounds cols width Hw). apply quotient_below; lia. }
  remember (r / (128 * down)) as row eqn:Erow. remember (c / width) as col eqn:Ecol.
  remember (r - row * (128 * down)) as r1 eqn:Er1. remember (c - col * width) as c1 eqn:Ec1.
  pose proof (quotient_bounds r1 128 ltac:(lia)) as Hrank.
  assert (0 <= r1 / 128 < down) by (apply quotient_below; lia).
  remember (r1 / 128) as rank eqn:Erank. remember (r1 - rank * 128) as r2 eqn:Er2.
  pose proof (lane_rows r2 ltac:(lia)) as HL. cbv zeta in HL.
  remember (r2 / 64) as s eqn:Es. remember ((r2 - s * 64) / 16) as w eqn:Ew.
  remember ((r2 - s * 64 - w * 16) / 8) as h eqn:Eh.
  remember (r2 - s * 64 - w * 16 - h * 8) as q eqn:Eq.
  assert (Hwidth : width = width / 8 * 8) by (pose proof (Z.div_mod width 8 ltac:(lia)); lia).
  pose proof (quotient_bounds c1 8 ltac:(lia)) as Hpair.
  assert (0 <= c1 / 8 < width / 8) by (apply quotient_below; lia).
  remember (c1 / 8) as i eqn:Ei. remember (c1 - i * 8) as c2 eqn:Ec2.
  pose proof (quotient_bounds c2 2 ltac:(lia)) as Hc2.
  assert (0 <= c2 / 2 < 4) by (apply quotient_below; lia). remember (c2 / 2) as m eqn:Em.
  assert (E4 : (q * 4 + m) / 4 = q) by (apply quotient_is; lia).
  assert (M4 : (q * 4 + m) mod 4 = m) by (rewrite remainder_is by lia; rewrite E4; lia).
  exists row, col, {| of_rank := rank; of_share := s; of_warp := w; of_lane := q * 4 + m; of_half := h;
                      of_pair := i; of_element := c2 - m * 2 |}.
  split.
  - unfold has_lane, output_row, output_col, stored_row, stored_col, sums_row; fields. rewrite E4, M4.
    repeat split; try lia.
  - intros row' col' [rank' s' w' l' h' i' e'] Hrow' Hcol' (G1 & G2 & G3 & G4 & G5 & G6 & G7) Er Ec. fields.
    unfold output_row, output_col, stored_row, stored_col, sums_row in Er, Ec; fields.
    pose proof (quotient_bounds l' 4 ltac:(lia)) as Hl.
    assert (Ml : l' mod 4 = l' - l' / 4 * 4) by (apply remainder_is; lia).
    assert (0 <= l' / 4 < 8) by (apply quotient_below; lia).
    remember (l' / 4) as q' eqn:Eq'. remember (l' mod 4) as m' eqn:Em'.
    assert (row' = row) by (rewrite Erow; symmetry; apply quotient_is; lia).
    assert (col' = col) by (rewrite Ecol; symmetry; apply quotient_is; lia).
    subst row' col'.
    assert (rank' = rank) by (rewrite Erank; symmetry; apply quotient_is; lia). subst rank'.
    assert (s' = s) by (rewrite Es; symmetry; apply quotient_is; lia). subst s'.
    assert (w' = w) by (rewrite Ew; symmetry; apply quotient_is; lia). subst w'.
    assert (h' = h) by (rewrite Eh; symmetry; apply quotient_is; lia). subst h'.
    assert (i' = i) by (rewrite Ei; symmetry; apply quotient_is; lia). subst i'.
    assert (m' = m) by (rewrite Em; symmetry; apply quotient_is; lia). assert (q' = q) by lia.
    assert (l' = q * 4 + m) by lia. assert (e' = c2 - m * 2) by lia.
    split; [reflexivity|]. split; [reflexivity|]. f_equal; assumption.
Qed.

(* Every value on the way to a row and a column of an output, in bring(), multiply() and store_sums(). *)
Definition output_steps (row col down width rank lines share warp lane half i : Z) : list Z :=
  [row * down; row * down + rank; left_line row down rank; share * 64; sums_row row down rank share; col * width;
   rank * lines; right_line col width rank lines; warp * 16; sums_row row down rank share + warp * 16; lane / 4;
   sums_row row down rank share + warp * 16 + lane / 4; 8 * half;
   stored_row (sums_row row down rank share) warp lane half;
   lane mod 4; 2 * (lane mod 4); col * width + 2 * (lane mod 4); 8 * i; stored_col (col * width) lane i 0].

(* supports: TILING *)
(* says: Under what the launch checks no row or column on the way leaves an int, tiles that stick out included. *)
Theorem output_places_do_not_wrap : forall rows cols down width row col lines p,
  0 < rows <= int_max - 1024 -> 0 < cols <= int_max - 1024 -> 0 < down <= 7 -> 0 < width <= 1024 -> width mod 8 = 0 ->
  0 <= lines -> lines * down <= width -> 0 <= row < divide_up rows (128 * down) -> 0 <= col < divide_up cols width ->
  has_lane down width p ->
  Forall int32 (output_steps row col down width (of_rank p) lines (of_share p) (of_warp p) (of_lane p) (of_half p)
                  (of_pair p)).
Proof.
  intros rows cols down width row col lines [rank s w l h i e] Hrows Hcols Hd Hw H8 Hl Hlines Hrow Hcol
    (G1 & G2 & G3 & G4 & G5 & G6 & G7). unfold int_max in *; fields.
  pose proof (divide_up_bounds rows (128 * down) ltac:(lia)). pose proof (divide_up_bounds cols width ltac:(lia)).
  assert (0 <= l / 4 < 8) by (apply quotient_below; lia). pose proof (Z.mod_pos_bound l 4 ltac:(lia)).
  assert (Hwidth : width = width / 8 * 8) by (pose proof (Z.div_mod width 8 ltac:(lia)); lia).
  assert (0 <= row * down) by nia. assert ((row * down + down) * 128 <= rows + 128 * down) by nia.
  assert (0 <= col * width <= cols) by (pose proof (product_at_most col width (divide_up cols width - 1) width); lia).
  assert (0 <= rank * lines <= width) by (pose proof (product_at_most rank lines down lines); lia).
  unfold output_steps, left_line, right_line, sums_row, stored_row, stored_col.
  repeat constructor; unfold int32; lia.
Qed.
