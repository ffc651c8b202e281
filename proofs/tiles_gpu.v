(* The index maps of products on any GPU (ops/product/kernel_gemm.cu and kernel_tiles.h, with
   ops/product/kernel_linear.cu and ops/product/kernel_grouped.cu) and on matrix units (ops/product/kernel_tensor.cu,
   kernels/device_mma.h), for all sizes: every output is one sum in one thread, every element of a panel is brought
   by one thread. Numbers of tiles are int64_t there: sizes of tensors are below 2^63 bytes, and so are these. *)
From Coq Require Import ZArith Lia.
From Tokitai Require Import tiling tiles_swizzle.
Open Scope Z_scope.

(* -- Tiles in turn: multiply() of kernel.cu ------------------------------------------------------------------------ *)

Definition tile_row (across size tile : Z) : Z := tile / across * size.
Definition tile_col (across size tile : Z) : Z := tile mod across * size.

(* supports: TILING *)
(* says: Every output lies in exactly one of the tiles that blocks take in turn, whatever the sizes and the tile. *)
Theorem tiles_cover_once : forall rows cols size r c, 0 < size -> 0 <= r < rows -> 0 <= c < cols ->
  exists! tile, 0 <= tile < divide_up rows size * divide_up cols size /\
    tile_row (divide_up cols size) size tile <= r < tile_row (divide_up cols size) size tile + size /\
    tile_col (divide_up cols size) size tile <= c < tile_col (divide_up cols size) size tile + size.
Proof.
  intros rows cols size r c Hs Hr Hc.
  pose proof (divide_up_bounds rows size Hs). pose proof (divide_up_bounds cols size Hs).
  pose proof (quotient_below r size (divide_up rows size) Hs ltac:(lia)) as Hqr.
  pose proof (quotient_below c size (divide_up cols size) Hs ltac:(lia)) as Hqc.
  pose proof (quotient_bounds r size Hs). pose proof (quotient_bounds c size Hs).
  set (across := divide_up cols size) in *. set (down := divide_up rows size) in *. clearbody across down.
  assert (Ha : 0 < across) by lia.
  exists (r / size * across + c / size). unfold tile_row, tile_col.
  assert (Eq : (r / size * across + c / size) / across = r / size) by (apply quotient_is; lia).
  split.
  - rewrite remainder_is by lia. rewrite Eq. split; [|lia].
    pose proof (pair_names_one_place across down (r / size) (c / size) (r / size) (c / size) Ha Hqr Hqc). lia.
  - intros tile (Ht & Htr & Htc). rewrite remainder_is in Htc by lia. pose proof (quotient_bounds tile across Ha).
    assert (r / size = tile / across) by (apply quotient_is; lia).
    assert (c / size = tile - tile / across * across) by (apply quotient_is; lia). lia.
Qed.

(* -- The threads of a tile: multiply_tile() ------------------------------------------------------------------------ *)

Definition thread_down (t : Z) : Z := t / 64 * 4 + t mod 32 / 8.
Definition thread_across (t : Z) : Z := t / 32 mod 2 * 8 + t mod 8.
Definition sum_row (tile t i : Z) : Z := i / 4 * (tile / 2) + thread_down t * 4 + i mod 4.
Definition sum_col (tile t j : Z) : Z := j / 4 * (tile / 2) + thread_across t * 4 + j mod 4.

Lemma thread_of : forall t, 0 <= t ->
  t = t / 64 * 64 + t / 32 mod 2 * 32 + t mod 32 / 8 * 8 + t mod 8 /\
  0 <= t / 32 mod 2 < 2 /\ 0 <= t mod 32 / 8 < 4 /\ 0 <= t mod 8 < 8.
Proof. intros t Ht. Z.to_euclidean_division_equations. lia. Qed.

Lemma thread_decoded : forall t down across, 0 <= t -> thread_down t = down -> thread_across t = across ->
  0 <= down -> 0 <= across < 16 -> t = down / 4 * 64 + across / 8 * 32 + down mod 4 * 8 + across mod 8.
Proof.
  intros t down across Ht Hd Ha H0 H1. unfold thread_down, thread_across in *.
  destruct (thread_of t Ht) as (E & B1 & B2 & B3).
  assert (Q1 : down / 4 = t / 64) by (apply quotient_is; lia).
  assert (Q2 : across / 8 = t / 32 mod 2) by (apply quotient_is; lia).
  rewrite !remainder_is by lia. rewrite Q1, Q2. lia.
Qed.

Lemma thread_encoded : forall down across, 0 <= down -> 0 <= across < 16 ->
  let t := down / 4 * 64 + across / 8 * 32 + down mod 4 * 8 + across mod 8 in
  0 <= t < (down / 4 + 1) * 64 /\ thread_down t = down /\ thread_across t = across.
Proof.
  intros down across Hd Ha. cbv zeta. unfold thread_down, thread_across. Z.to_euclidean_division_equations. lia.
Qed.

(* Two groups of h fours each, half a tile apart: i says which group and which of a four, d which four. *)
Lemma line_once : forall h r, 0 < h -> 0 <= r < 8 * h ->
  exists i d, (0 <= i < 8 /\ 0 <= d < h /\ i / 4 * (4 * h) + d * 4 + i mod 4 = r) /\
    forall i' d', 0 <= i' < 8 -> 0 <= d' < h -> i' / 4 * (4 * h) + d' * 4 + i' mod 4 = r -> i' = i /\ d' = d.
Proof.
  intros h r Hh Hr. pose proof (quotient_bounds r (4 * h) ltac:(lia)) as Bg.
  pose proof (quotient_below r (4 * h) 2 ltac:(lia) ltac:(lia)) as Lg. remember (r / (4 * h)) as g eqn:Eg.
  remember (r - g * (4 * h)) as r1 eqn:Er1. pose proof (quotient_bounds r1 4 ltac:(lia)) as Bd.
  pose proof (quotient_below r1 4 h ltac:(lia) ltac:(lia)) as Ld. remember (r1 / 4) as d eqn:Ed.
  assert (Q : (g * 4 + (r1 - d * 4)) / 4 = g) by (apply quotient_is; lia).
  exists (g * 4 + (r1 - d * 4)), d. split.
  - rewrite remainder_is by lia. rewrite Q. lia.
  - intros i' d' Hi' Hd' E. pose proof (quotient_bounds i' 4 ltac:(lia)) as Bi. rewrite remainder_is in E by lia.
    assert (g = i' / 4) by (rewrite Eg; apply quotient_is; lia).
    assert (d = d') by (rewrite Ed; apply quotient_is; lia). lia.
Qed.

(* One group of 16 fours. *)
Lemma col_once : forall c, 0 <= c < 64 ->
  exists j a, (0 <= j < 4 /\ 0 <= a < 16 /\ j / 4 * 32 + a * 4 + j mod 4 = c) /\
    forall j' a', 0 <= j' < 4 -> 0 <= a' < 16 -> j' / 4 * 32 + a' * 4 + j' mod 4 = c -> j' = j /\ a' = a.
Proof.
  intros c Hc. exists (c mod 4), (c / 4). split; [|intros j' a' Hj' Ha' E]; Z.to_euclidean_division_equations; lia.
Qed.

(* supports: TILING *)
(* says: In a tile of 64 or 128, every output is exactly one sum of exactly one thread. *)
Theorem threads_cover_tile : forall tile r c, tile = 64 \/ tile = 128 -> 0 <= r < tile -> 0 <= c < tile ->
  exists t i j,
    (0 <= t < 2 * tile /\ 0 <= i < 8 /\ 0 <= j < tile / 16 /\ sum_row tile t i = r /\ sum_col tile t j = c) /\
    forall t' i' j', 0 <= t' < 2 * tile -> 0 <= i' < 8 -> 0 <= j' < tile / 16 ->
      sum_row tile t' i' = r -> sum_col tile t' j' = c -> t' = t /\ i' = i /\ j' = j.
Proof.
  intros tile r c Htile Hr Hc.
  assert (H : exists h width half, tile = 8 * h /\ tile / 16 = width /\ tile / 2 = half /\ half = 4 * h /\
    (h = 8 \/ h = 16) /\
    exists j a, (0 <= j < width /\ 0 <= a < 16 /\ j / 4 * half + a * 4 + j mod 4 = c) /\
      forall j' a', 0 <= j' < width -> 0 <= a' < 16 -> j' / 4 * half + a' * 4 + j' mod 4 = c -> j' = j /\ a' = a).
  { destruct Htile as [-> | ->].
    - exists 8, 4, 32. repeat split; try reflexivity; try lia. apply col_once. lia.
    - exists 16, 8, 64. repeat split; try reflexivity; try lia. apply (line_once 16 c); lia. }
  destruct H as (h & width & half & Et & Ew & Eh & Eh4 & Ch & j & a & (Lj & La & Ec) & Uc).
  destruct (line_once h r ltac:(lia) ltac:(lia)) as (i & d & (Li & Ld & Er) & Ur). rewrite <- Eh4 in Er, Ur.
  unfold sum_row, sum_col. rewrite Ew, Eh.
  destruct (thread_encoded d a ltac:(lia) La) as (Bt & Ed & Ea).
  exists (d / 4 * 64 + a / 8 * 32 + d mod 4 * 8 + a mod 8), i, j. split.
  - rewrite Ed, Ea. assert (d / 4 < h / 4).
    { destruct Ch; subst h; [change (8 / 4) with 2|change (16 / 4) with 4]; apply Z.div_lt_upper_bound; lia. }
    assert (h / 4 * 64 = 2 * tile) by (destruct Ch; subst h tile; reflexivity). lia.
  - intros t' i' j' Ht' Hi' Hj' Er' Ec'. destruct (thread_of t' ltac:(lia)) as (E & C1 & C2 & C3).
    assert (0 <= t' / 64 < h / 4).
    { apply quotient_below; [lia|]. destruct Ch; subst h; [change (8 / 4) with 2|change (16 / 4) with 4]; lia. }
    assert (Hd' : 0 <= thread_down t' < h).
    { unfold thread_down. destruct Ch; subst h; [change (8 / 4) with 2 in *|change (16 / 4) with 4 in *]; lia. }
    assert (Ha' : 0 <= thread_across t' < 16) by (unfold thread_across; lia).
    destruct (Ur i' (thread_down t') Hi' Hd' Er') as [-> Edown].
    destruct (Uc j' (thread_across t') Hj' Ha' Ec') as [-> Eacross].
    split; [apply thread_decoded; lia|]. split; reflexivity.
Qed.

(* -- What a thread brings of a panel: piece_of() ------------------------------------------------------------------- *)

Definition piece_line_along (t : Z) : Z := t / 2.
Definition piece_place_along (piece t : Z) : Z := t mod 2 * piece.
Definition piece_line_across (tile piece t : Z) : Z := t mod (tile / piece) * piece.
Definition piece_place_across (tile piece t : Z) : Z := t / (tile / piece).

(* supports: TILING *)
(* says: Each number of a panel, TILE lines by 2 PIECE places, is brought by exactly one thread, in both layouts. *)
Theorem panel_is_brought_once : forall tile piece line place, 0 < piece -> 0 < tile -> tile mod piece = 0 ->
  0 <= line < tile -> 0 <= place < 2 * piece ->
  (exists t i, (0 <= t < 2 * tile /\ 0 <= i < piece /\ piece_line_along t = line /\
                piece_place_along piece t + i = place) /\
     forall t' i', 0 <= t' < 2 * tile -> 0 <= i' < piece -> piece_line_along t' = line ->
       piece_place_along piece t' + i' = place -> t' = t /\ i' = i) /\
  (exists t i, (0 <= t < 2 * tile /\ 0 <= i < piece /\ piece_line_across tile piece t + i = line /\
                piece_place_across tile piece t = place) /\
     forall t' i', 0 <= t' < 2 * tile -> 0 <= i' < piece -> piece_line_across tile piece t' + i' = line ->
       piece_place_across tile piece t' = place -> t' = t /\ i' = i).
Proof.
  intros tile piece line place Hp Ht Hm Hl Hk. unfold piece_line_along, piece_place_along, piece_line_across,
    piece_place_across. split.
  - pose proof (quotient_bounds place piece Hp). pose proof (quotient_below place piece 2 Hp ltac:(lia)).
    set (h := place / piece) in *.
    assert (Q : (line * 2 + h) / 2 = line) by (apply quotient_is; lia).
    exists (line * 2 + h), (place - h * piece). split.
    + rewrite remainder_is by lia. rewrite Q. replace (line * 2 + h - line * 2) with h by lia. lia.
    + intros t' i' Ht' Hi' E1 E2. pose proof (quotient_bounds t' 2 ltac:(lia)). rewrite remainder_is in E2 by lia.
      assert (h = t' - t' / 2 * 2) by (apply quotient_is; lia). lia.
  - set (n := tile / piece). assert (En : tile = n * piece) by (pose proof (Z.div_mod tile piece); unfold n; lia).
    assert (Hn : 0 < n) by nia. pose proof (quotient_bounds line piece Hp).
    pose proof (quotient_below line piece n Hp ltac:(lia)). set (q := line / piece) in *.
    assert (Q : (place * n + q) / n = place) by (apply quotient_is; lia).
    exists (place * n + q), (line - q * piece). split.
    + rewrite remainder_is by lia. rewrite Q. replace (place * n + q - place * n) with q by lia.
      repeat split; try lia; nia.
    + intros t' i' Ht' Hi' E1 E2. pose proof (quotient_bounds t' n Hn). rewrite remainder_is in E1 by lia.
      assert (q = t' - t' / n * n) by (apply quotient_is; lia). subst place. lia.
Qed.

(* -- Matrix units: where a lane's sums lie in a square of 16 by 16 ------------------------------------------------- *)

Definition mma_row (lane s : Z) : Z := lane / 4 + s mod 4 / 2 * 8.
Definition mma_col (lane s : Z) : Z := s / 4 * 8 + lane mod 4 * 2 + s mod 2.
Definition wmma_row (lane s : Z) : Z := 2 * s + lane / 16.
Definition mfma_row (lane s : Z) : Z := lane / 16 * 4 + s.
Definition amd_col (lane : Z) : Z := lane mod 16.

(* supports: TILING *)
(* says: The lanes of a warp have each sum of a square of 16 by 16 exactly once, for mma.sync, WMMA and MFMA. *)
Theorem squares_once : forall r c, 0 <= r < 16 -> 0 <= c < 16 ->
  (exists lane s, (0 <= lane < 32 /\ 0 <= s < 8 /\ mma_row lane s = r /\ mma_col lane s = c) /\
     forall lane' s', 0 <= lane' < 32 -> 0 <= s' < 8 -> mma_row lane' s' = r -> mma_col lane' s' = c ->
       lane' = lane /\ s' = s) /\
  (exists lane s, (0 <= lane < 32 /\ 0 <= s < 8 /\ wmma_row lane s = r /\ amd_col lane = c) /\
     forall lane' s', 0 <= lane' < 32 -> 0 <= s' < 8 -> wmma_row lane' s' = r -> amd_col lane' = c ->
       lane' = lane /\ s' = s) /\
  (exists lane s, (0 <= lane < 64 /\ 0 <= s < 4 /\ mfma_row lane s = r /\ amd_col lane = c) /\
     forall lane' s', 0 <= lane' < 64 -> 0 <= s' < 4 -> mfma_row lane' s' = r -> amd_col lane' = c ->
       lane' = lane /\ s' = s).
Proof.
  intros r c Hr Hc. unfold mma_row, mma_col, wmma_row, mfma_row, amd_col. repeat split.
  - exists (r mod 8 * 4 + c mod 8 / 2), (c / 8 * 4 + r / 8 * 2 + c mod 2). split.
    + Z.to_euclidean_division_equations. lia.
    + intros lane' s' Hl Hs Er Ec. Z.to_euclidean_division_equations. lia.
  - exists (r mod 2 * 16 + c), (r / 2). split.
    + Z.to_euclidean_division_equations. lia.
    + intros lane' s' Hl Hs Er Ec. Z.to_euclidean_division_equations. lia.
  - exists (r / 4 * 16 + c), (r mod 4). split.
    + Z.to_euclidean_division_equations. lia.
    + intros lane' s' Hl Hs Er Ec. Z.to_euclidean_division_equations. lia.
Qed.

(* -- Matrix units: what a thread brings of a panel (piece_feed, pair_feed) ----------------------------------------- *)

(* Number i of a thread's pieces: its row and its chunk, of `width` to a row; pair_feed has pairs instead of chunks. *)
Definition feed_row (threads width t i : Z) : Z := t / width + i * (threads / width).
Definition feed_chunk (width t : Z) : Z := t mod width.

(* supports: TILING *)
(* says: A panel's rows of pieces are shared out among the threads, each piece to one of them, in one of its turns. *)
Theorem feed_covers_once : forall threads width rows row chunk, 0 < width -> 0 < threads -> threads mod width = 0 ->
  rows * width mod threads = 0 -> 0 <= row < rows -> 0 <= chunk < width ->
  exists t i, (0 <= t < threads /\ 0 <= i < rows * width / threads /\
               feed_row threads width t i = row /\ feed_chunk width t = chunk) /\
    forall t' i', 0 <= t' < threads -> 0 <= i' -> feed_row threads width t' i' = row -> feed_chunk width t' = chunk ->
      t' = t /\ i' = i.
Proof.
  intros threads width rows row chunk Hw Hth Hm Hmr Hr Hc. unfold feed_row, feed_chunk.
  set (step := threads / width).
  assert (Es : threads = step * width) by (pose proof (Z.div_mod threads width); unfold step; lia).
  assert (Hs : 0 < step) by nia.
  pose proof (quotient_bounds row step Hs) as Hq. assert (0 <= row / step) by (apply Z.div_pos; lia).
  set (i := row / step) in *. set (q := row - i * step).
  assert (Q : (q * width + chunk) / width = q) by (apply quotient_is; lia).
  exists (q * width + chunk), i. split.
  - rewrite remainder_is by lia. rewrite Q. unfold q. repeat split; try lia; try nia.
    set (count := rows * width / threads).
    assert (Ec : rows * width = count * threads) by (pose proof (Z.div_mod (rows * width) threads); unfold count; lia).
    assert (rows = count * step) by nia. unfold i. apply quotient_below; lia.
  - intros t' i' Ht' Hi' Er Ec. pose proof (quotient_bounds t' width Hw). rewrite remainder_is in Ec by lia.
    assert (0 <= t' / width < step) by (apply quotient_below; lia).
    assert (i = i') by (unfold i; apply quotient_is; lia). subst i'. unfold q. nia.
Qed.

(* fetch_share(): which share of a panel's copies number i belongs to. *)
Definition share_of (shares all i : Z) : Z := i * shares / all.

Lemma shares_cover : forall shares all i, 0 < shares -> 0 < all -> 0 <= i < all -> 0 <= share_of shares all i < shares.
Proof. intros. unfold share_of. apply quotient_below; [lia|]. nia. Qed.

(* Where a warp's sums begin in a tile, and the squares of a warp: DOWN by ACROSS warps. *)
Definition warp_row (across warp_rows warp : Z) : Z := warp / across * warp_rows.
Definition warp_col (across warp_cols warp : Z) : Z := warp mod across * warp_cols.

(* supports: TILING *)
(* says: Each square of 16 by 16 of a tile on matrix units belongs to exactly one warp, once. *)
Theorem warps_cover_tile : forall down across squares_down squares_across i j,
  0 < down -> 0 < across -> 0 < squares_down -> 0 < squares_across ->
  0 <= i < down * squares_down -> 0 <= j < across * squares_across ->
  exists warp a b,
    (0 <= warp < down * across /\ 0 <= a < squares_down /\ 0 <= b < squares_across /\
     warp_row across (squares_down * 16) warp + a * 16 = i * 16 /\
     warp_col across (squares_across * 16) warp + b * 16 = j * 16) /\
    forall warp' a' b', 0 <= warp' < down * across -> 0 <= a' < squares_down -> 0 <= b' < squares_across ->
      warp_row across (squares_down * 16) warp' + a' * 16 = i * 16 ->
      warp_col across (squares_across * 16) warp' + b' * 16 = j * 16 -> warp' = warp /\ a' = a /\ b' = b.
Proof.
  intros down across sd sa i j Hd Ha Hsd Hsa Hi Hj. unfold warp_row, warp_col.
  pose proof (quotient_bounds i sd Hsd). pose proof (quotient_below i sd down Hsd ltac:(lia)).
  pose proof (quotient_bounds j sa Hsa). pose proof (quotient_below j sa across Hsa ltac:(lia)).
  set (x := i / sd) in *. set (y := j / sa) in *.
  assert (Q : (x * across + y) / across = x) by (apply quotient_is; lia).
  exists (x * across + y), (i - x * sd), (j - y * sa). split.
  - rewrite remainder_is by lia. rewrite Q. replace (x * across + y - x * across) with y by lia.
    repeat split; try lia; nia.
  - intros warp' a' b' Hw' Ha' Hb' E1 E2. pose proof (quotient_bounds warp' across Ha).
    rewrite remainder_is in E2 by lia.
    assert (x = warp' / across) by (apply quotient_is; lia).
    assert (y = warp' - warp' / across * across) by (apply quotient_is; lia). lia.
Qed.
