(* How products are cut on the CPU (kernels/cpu_product.h), for all sizes: workers' shares, tiles, panels and strips
   nest, every output is in exactly one strip, and the sums and cells that wait in scratch memory have places of their
   own that stay in it. Sizes are int64_t, of tensors that fit into memory. Not proved: how scratch memory is shared out
   to workers, and what vector instructions do. *)
From Coq Require Import ZArith Lia.
From Tokitai Require Import tiling.
Open Scope Z_scope.

Definition cpu_parts_of (size part : Z) : Z := size / part + (if size mod part =? 0 then 0 else 1).
Definition cpu_round_up (size multiple : Z) : Z := cpu_parts_of size multiple * multiple.
Definition cpu_even_part (size limit multiple : Z) : Z :=
  cpu_round_up (if size <=? limit then size else cpu_parts_of size (cpu_parts_of size limit)) multiple.

Lemma cpu_parts_of_is : forall size part, 0 < part -> cpu_parts_of size part = divide_up size part.
Proof.
  intros size part Hp. unfold cpu_parts_of, divide_up. pose proof (quotient_bounds size part Hp).
  pose proof (remainder_is size part Hp). symmetry. destruct (Z.eqb_spec (size mod part) 0); apply quotient_is; lia.
Qed.

Lemma cpu_round_up_bounds : forall size multiple, 0 < multiple ->
  size <= cpu_round_up size multiple < size + multiple /\ (cpu_round_up size multiple) mod multiple = 0.
Proof.
  intros size multiple Hm. unfold cpu_round_up. rewrite cpu_parts_of_is by lia.
  pose proof (divide_up_bounds size multiple Hm). split; [lia|]. apply Z.mod_mul. lia.
Qed.

(* supports: TILING *)
(* says: Parts of even size are multiples of what is asked for, not empty, and cover all in as many as asked for. *)
Theorem even_parts_cover : forall size limit multiple, 0 < size -> 0 < limit -> 0 < multiple ->
  0 < cpu_even_part size limit multiple /\ (cpu_even_part size limit multiple) mod multiple = 0 /\
  size <= cpu_parts_of size limit * cpu_even_part size limit multiple.
Proof.
  intros size limit multiple Hs Hl Hm. unfold cpu_even_part.
  assert (Hparts : 0 < cpu_parts_of size limit) by (rewrite cpu_parts_of_is by lia; apply divide_up_positive; lia).
  destruct (Z.leb_spec size limit).
  - destruct (cpu_round_up_bounds size multiple Hm) as [B M]. split; [lia|]. split; [exact M|]. nia.
  - rewrite (cpu_parts_of_is size (cpu_parts_of size limit)) by lia.
    pose proof (divide_up_bounds size (cpu_parts_of size limit) Hparts).
    pose proof (divide_up_positive size (cpu_parts_of size limit) Hparts ltac:(lia)).
    destruct (cpu_round_up_bounds (divide_up size (cpu_parts_of size limit)) multiple Hm) as [B M].
    split; [lia|]. split; [exact M|]. nia.
Qed.

(* -- Loops in loops ------------------------------------------------------------------------------------------------ *)

(* for (x = first; x < stop; x += step) comes by x. *)
Definition starts (first stop step x : Z) : Prop := (exists k, 0 <= k /\ x = first + k * step) /\ x < stop.

Lemma starts_behind : forall first stop step x, 0 < step -> starts first stop step x -> first <= x.
Proof. intros first stop step x Hs [[k [Hk ->]] _]. nia. Qed.

Lemma loop_once : forall first stop step i, 0 < step -> first <= i < stop ->
  exists x, (starts first stop step x /\ x <= i < Z.min (x + step) stop) /\
    forall x', starts first stop step x' -> x' <= i < Z.min (x' + step) stop -> x' = x.
Proof.
  intros first stop step i Hs Hi. pose proof (quotient_bounds (i - first) step Hs) as Hq.
  assert (0 <= (i - first) / step) by (apply Z.div_pos; lia).
  exists (first + (i - first) / step * step). split.
  - split; [split; [exists ((i - first) / step); lia|lia]|lia].
  - intros x' [[k [Hk ->]] _] Hx. assert ((i - first) / step = k) by (apply quotient_is; lia). subst k. lia.
Qed.

(* multiply_share(): where a worker's share begins on one axis, and where it ends. *)
Definition share_first (number share : Z) : Z := number * share.
Definition share_end (size number share : Z) : Z := Z.min size (share_first number share + share).
Definition worker_down (across worker : Z) : Z := worker / across.
Definition worker_across (across worker : Z) : Z := worker mod across.

(* supports: TILING *)
(* says: On either axis every line is in one strip of one panel of one tile of one worker's share, for all sizes. *)
Theorem strips_cover_once : forall size workers share tile panel strip i,
  0 < share -> 0 < tile -> 0 < panel -> 0 < strip -> size <= workers * share -> 0 <= i < size ->
  exists w t p s,
    (0 <= w < workers /\ starts (share_first w share) (share_end size w share) tile t /\
     starts t (Z.min (t + tile) (share_end size w share)) panel p /\
     starts p (Z.min (p + panel) (Z.min (t + tile) (share_end size w share))) strip s /\
     s <= i < Z.min (s + strip) (Z.min (p + panel) (Z.min (t + tile) (share_end size w share)))) /\
    forall w' t' p' s', 0 <= w' < workers ->
      starts (share_first w' share) (share_end size w' share) tile t' ->
      starts t' (Z.min (t' + tile) (share_end size w' share)) panel p' ->
      starts p' (Z.min (p' + panel) (Z.min (t' + tile) (share_end size w' share))) strip s' ->
      s' <= i < Z.min (s' + strip) (Z.min (p' + panel) (Z.min (t' + tile) (share_end size w' share))) ->
      w' = w /\ t' = t /\ p' = p /\ s' = s.
Proof.
  intros size workers share tile panel strip i Hsh Ht Hp Hs Hcover Hi. unfold share_end, share_first.
  pose proof (quotient_bounds i share Hsh) as Hq. pose proof (quotient_below i share workers Hsh ltac:(lia)) as Hw.
  set (w := i / share) in *.
  destruct (loop_once (w * share) (Z.min size (w * share + share)) tile i Ht ltac:(lia)) as (t & [St It] & Ut).
  destruct (loop_once t (Z.min (t + tile) (Z.min size (w * share + share))) panel i Hp ltac:(lia))
    as (p & [Sp Ip] & Up).
  destruct (loop_once p (Z.min (p + panel) (Z.min (t + tile) (Z.min size (w * share + share)))) strip i Hs ltac:(lia))
    as (s & [Ss Is] & Us).
  exists w, t, p, s. split; [repeat split; try tauto; try lia; try apply St; try apply Sp; try apply Ss|].
  intros w' t' p' s' Hw' St' Sp' Ss' Is'.
  pose proof (starts_behind _ _ _ _ Ht St') as Bt. pose proof (starts_behind _ _ _ _ Hp Sp') as Bp.
  pose proof (starts_behind _ _ _ _ Hs Ss') as Bs.
  assert (w' = w) by (unfold w; symmetry; apply quotient_is; lia). subst w'.
  assert (t' = t) by (apply Ut; [exact St'|lia]). subst t'.
  assert (p' = p) by (apply Up; [exact Sp'|lia]). subst p'.
  assert (s' = s) by (apply Us; [exact Ss'|lia]). subst s'. repeat split.
Qed.

(* Workers are numbered along the rows of shares: each share has one number. *)
Theorem workers_once : forall down across d a, 0 < across -> 0 <= d < down -> 0 <= a < across ->
  exists! worker, 0 <= worker < down * across /\ worker_down across worker = d /\ worker_across across worker = a.
Proof.
  intros down across d a Ha Hd Ha'. unfold worker_down, worker_across.
  assert (Q : (d * across + a) / across = d) by (apply quotient_is; lia).
  exists (d * across + a). split.
  - rewrite remainder_is, Q by lia. split; [nia|]. lia.
  - intros worker (Hw & E1 & E2). rewrite remainder_is in E2 by lia. pose proof (quotient_bounds worker across Ha). lia.
Qed.

(* -- Places in scratch memory -------------------------------------------------------------------------------------- *)

(* multiply_panel() and multiply_strip(): where sum [r][c] of the strip at (row, col) of a tile waits. *)
Definition waiting_at (strip_rows strip_cols tile_cols row col r c : Z) : Z :=
  row * tile_cols + col * strip_rows + r * strip_cols + c.

(* supports: TILING *)
(* says: Sums of a tile that wait for the runs to come have places of their own, all within the tile's memory. *)
Theorem waiting_sums_apart : forall sr sc n m a b r c a' b' r' c',
  0 < sr -> 0 < sc -> 0 <= a < m -> 0 <= b < n -> 0 <= r < sr -> 0 <= c < sc ->
  0 <= a' < m -> 0 <= b' < n -> 0 <= r' < sr -> 0 <= c' < sc ->
  (0 <= waiting_at sr sc (n * sc) (a * sr) (b * sc) r c < m * sr * (n * sc)) /\
  (waiting_at sr sc (n * sc) (a * sr) (b * sc) r c = waiting_at sr sc (n * sc) (a' * sr) (b' * sc) r' c' ->
   a = a' /\ b = b' /\ r = r' /\ c = c').
Proof.
  intros sr sc n m a b r c a' b' r' c' Hsr Hsc Ha Hb Hr Hc Ha' Hb' Hr' Hc'.
  assert (E : forall a b r c, waiting_at sr sc (n * sc) (a * sr) (b * sc) r c = ((a * n + b) * sr + r) * sc + c).
  { intros. unfold waiting_at. ring. }
  rewrite !E.
  destruct (pair_names_one_place n m a b a' b' ltac:(lia) Ha Hb ltac:(lia) Hb') as [B1 U1].
  destruct (pair_names_one_place sr (m * n) (a * n + b) r (a' * n + b') r' Hsr B1 Hr ltac:(nia) Hr') as [B2 U2].
  destruct (pair_names_one_place sc (m * n * sr) ((a * n + b) * sr + r) c ((a' * n + b') * sr + r') c' Hsc B2 Hc
    ltac:(nia) Hc') as [B3 U3].
  split; [lia|]. intros Eq. destruct (U3 Eq) as [Eq2 ->]. destruct (U2 Eq2) as [Eq1 ->]. destruct (U1 Eq1) as [-> ->].
  repeat split.
Qed.

(* strip_at() with groups of lines that are neighbours: cell t of a row of left's panel. *)
Definition packed_at (width depth row t : Z) : Z := row / width * width * depth + row mod width + t * width.

Lemma strip_in_group : forall strip x y z r, 0 < strip -> 0 <= r < strip ->
  z * (y * strip) <= x * strip < z * (y * strip) + y * strip -> x * strip - z * (y * strip) + r < y * strip.
Proof.
  intros strip x y z r Hs Hr [_ Hx]. assert (x < (z + 1) * y).
  { apply (Z.mul_lt_mono_pos_r strip); [lia|]. lia. }
  assert ((x - z * y + 1) * strip <= y * strip) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

(* supports: TILING *)
(* says: The cells of left's panel have places of their own within it, and a strip's rows lie in one group of lines. *)
Theorem packed_cells_apart : forall width depth strip groups row t row' t' r,
  0 < width -> 0 < strip -> width mod strip = 0 -> row mod strip = 0 -> 0 <= r < strip ->
  0 <= row < groups * width -> 0 <= t < depth -> 0 <= row' < groups * width -> 0 <= t' < depth ->
  0 <= packed_at width depth row t < groups * width * depth /\
  (packed_at width depth row t = packed_at width depth row' t' -> row = row' /\ t = t') /\
  packed_at width depth (row + r) t = packed_at width depth row t + r.
Proof.
  intros width depth strip groups row t row' t' r Hw Hs Hm Hrs Hr Hrow Ht Hrow' Ht'.
  assert (E : forall x u, packed_at width depth x u = (x / width * depth + u) * width + x mod width).
  { intros. unfold packed_at. ring. }
  rewrite !E. pose proof (quotient_below row width groups Hw Hrow) as Hq.
  pose proof (quotient_below row' width groups Hw Hrow') as Hq'.
  pose proof (Z.mod_pos_bound row width Hw) as Bm. pose proof (Z.mod_pos_bound row' width Hw) as Bm'.
  destruct (pair_names_one_place depth groups (row / width) t (row' / width) t' ltac:(lia) Hq Ht ltac:(lia) Ht')
    as [B1 U1].
  destruct (pair_names_one_place width (groups * depth) (row / width * depth + t) (row mod width)
    (row' / width * depth + t') (row' mod width) Hw B1 Bm ltac:(nia) Bm') as [B2 U2].
  split; [nia|]. split.
  - intros Eq. destruct (U2 Eq) as [Eq1 Em]. destruct (U1 Eq1) as [Ed ->].
    rewrite !remainder_is in Em by lia. nia.
  - assert (Hfit : row mod width + r < width).
    { assert (Ew : width = width / strip * strip) by (pose proof (Z.div_mod width strip); lia).
      assert (Er : row = row / strip * strip) by (pose proof (Z.div_mod row strip); lia).
      rewrite remainder_is by lia. pose proof (quotient_bounds row width Hw) as Hb.
      set (z := row / width) in *. clearbody z. rewrite Er, Ew in Hb |- *. apply strip_in_group; lia. }
    assert (Q : (row + r) / width = row / width).
    { apply quotient_is; [lia|]. rewrite remainder_is in Hfit by lia. pose proof (quotient_bounds row width Hw). lia. }
    rewrite (remainder_is (row + r)), Q, (remainder_is row) by lia. lia.
Qed.
