(* The index maps of kernels that work on rows: which columns a member of a team holds (kernels/device_rows.h), and how
   embedding shares out rows, units and runs of hits (ops/embedding/kernel.cu), for all sizes. Not covered: the stages
   and chunks in which a cluster brings its stretches (kernels/device_cluster.h), and the sort of embedding's hits. *)
From Coq Require Import ZArith Lia.
From Tokitai Require Import tiling.
Open Scope Z_scope.

(* -- A row in the registers of a team ------------------------------------------------------------------------------ *)

(* span_of() and places_of(): vector k of member m, in a team of n, of a row of `cols` columns that begins `shift`
   places behind the beginning of its first vector. A place of it is the row's from span_begin on, before
   span_end. *)
Definition span_first (pack m : Z) : Z := m * pack.
Definition span_step (pack n : Z) : Z := n * pack.
Definition span_left (pack cols shift m : Z) : Z := cols + shift - span_first pack m.
Definition span_begin (pack shift m k : Z) : Z := if k =? 0 then shift - span_first pack m else 0.
Definition span_end (pack cols shift n m k : Z) : Z := span_left pack cols shift m - k * span_step pack n.
Definition span_column (pack shift n m k e : Z) : Z := span_first pack m + k * span_step pack n + e - shift.

(* supports: TILING *)
(* says: Every column of a row is held once by one member of its team, and no place counts that is not the row's. *)
Theorem rows_are_held_once : forall pack n cols shift c, 0 < pack -> 0 < n -> 0 <= shift < pack -> 0 <= c < cols ->
  (exists m k e,
    (0 <= m < n /\ 0 <= k /\ 0 <= e < pack /\ span_begin pack shift m k <= e < span_end pack cols shift n m k /\
     span_column pack shift n m k e = c) /\
    forall m' k' e', 0 <= m' < n -> 0 <= k' -> 0 <= e' < pack -> span_column pack shift n m' k' e' = c ->
      m' = m /\ k' = k /\ e' = e) /\
  (forall m k e, 0 <= m < n -> 0 <= k -> 0 <= e < pack ->
     span_begin pack shift m k <= e < span_end pack cols shift n m k -> 0 <= span_column pack shift n m k e < cols).
Proof.
  intros pack n cols shift c Hp Hn Hs Hc.
  unfold span_begin, span_end, span_left, span_column, span_first, span_step.
  assert (E : forall m k e, m * pack + k * (n * pack) + e = (k * n + m) * pack + e) by (intros; ring). split.
  - pose proof (quotient_bounds (c + shift) pack Hp) as Bv. assert (0 <= (c + shift) / pack) by (apply Z.div_pos; lia).
    set (v := (c + shift) / pack) in *. pose proof (quotient_bounds v n Hn) as Bk.
    assert (0 <= v / n) by (apply Z.div_pos; lia). set (k := v / n) in *.
    exists (v - k * n), k, (c + shift - v * pack).
    assert (Ev : (v - k * n) * pack + k * (n * pack) = v * pack) by ring. split.
    + split; [lia|]. split; [lia|]. split; [lia|]. split; [|lia].
      split; [|lia]. destruct (Z.eqb_spec k 0) as [K0|]; [rewrite K0 in *; lia|lia].
    + intros m' k' e' Hm' Hk' He' Ec. rewrite E in Ec.
      assert (v = k' * n + m') by (apply quotient_is; lia). assert (k = k') by (apply quotient_is; lia). subst k'. lia.
  - intros m k e Hm Hk He [Hb Hend]. rewrite E.
    assert (Hlast : (k * n + m) * pack + e - shift < cols).
    { assert ((k * n + m) * pack = m * pack + k * (n * pack)) by ring. lia. }
    split; [|exact Hlast]. destruct (Z.eqb_spec k 0) as [->|Hk0]; [lia|].
    assert (1 <= k * n + m) by nia. assert (pack <= (k * n + m) * pack) by nia. lia.
Qed.

(* -- A row in stretches, one for each block of a cluster: part_of() and stretch_packs() of device_cluster.h --------- *)

Definition stretch_packs (pack blocks cols : Z) : Z := divide_up (divide_up cols pack) blocks.
Definition stretch_begin (pack blocks cols rank : Z) : Z := stretch_packs pack blocks cols * pack * rank.
Definition stretch_first (pack blocks cols rank thread : Z) : Z := stretch_begin pack blocks cols rank + thread * pack.
Definition stretch_end (pack blocks cols rank : Z) : Z :=
  Z.min cols (stretch_begin pack blocks cols rank + stretch_packs pack blocks cols * pack).

(* supports: TILING *)
(* says: Every column of a row that a cluster has belongs to one thread of one block, once, before the stretch's end. *)
Theorem stretches_cover_once : forall pack blocks threads cols c, 0 < pack -> 0 < blocks -> 0 < threads ->
  0 <= c < cols ->
  exists rank thread k e,
    (0 <= rank < blocks /\ 0 <= thread < threads /\ 0 <= k /\ 0 <= e < pack /\
     stretch_first pack blocks cols rank thread + k * (threads * pack) + e = c /\
     c < stretch_end pack blocks cols rank) /\
    forall rank' thread' k' e', 0 <= rank' < blocks -> 0 <= thread' < threads -> 0 <= k' -> 0 <= e' < pack ->
      stretch_first pack blocks cols rank' thread' + k' * (threads * pack) + e' = c ->
      c < stretch_end pack blocks cols rank' -> rank' = rank /\ thread' = thread /\ k' = k /\ e' = e.
Proof.
  intros pack blocks threads cols c Hp Hb Ht Hc. unfold stretch_first, stretch_end, stretch_begin.
  pose proof (divide_up_bounds cols pack Hp) as U1. pose proof (divide_up_positive cols pack Hp ltac:(lia)) as P1.
  pose proof (divide_up_bounds (divide_up cols pack) blocks Hb) as U2.
  pose proof (divide_up_positive (divide_up cols pack) blocks Hb P1) as P2. fold (stretch_packs pack blocks cols) in *.
  set (s := stretch_packs pack blocks cols) in *. clearbody s.
  assert (Hall : cols <= blocks * (s * pack)).
  { assert (divide_up cols pack * pack <= s * blocks * pack) by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  assert (Hs : 0 < s * pack) by (apply Z.mul_pos_pos; lia).
  assert (E : forall r t k e, s * pack * r + t * pack + k * (threads * pack) + e =
              r * (s * pack) + ((k * threads + t) * pack + e)) by (intros; ring).
  assert (Eb : forall r, s * pack * r = r * (s * pack)) by (intros; ring).
  pose proof (quotient_bounds c (s * pack) Hs) as B1.
  pose proof (quotient_below c (s * pack) blocks Hs ltac:(lia)) as L1.
  remember (c / (s * pack)) as r eqn:Er. remember (c - r * (s * pack)) as i eqn:Ei.
  pose proof (quotient_bounds i pack Hp) as B2. assert (0 <= i / pack) by (apply Z.div_pos; lia).
  remember (i / pack) as v eqn:Ev. pose proof (quotient_bounds v threads Ht) as B3.
  assert (0 <= v / threads) by (apply Z.div_pos; lia). remember (v / threads) as k eqn:Ek.
  exists r, (v - k * threads), k, (i - v * pack). split.
  - rewrite E, Eb. replace (k * threads + (v - k * threads)) with v by lia. lia.
  - intros r' t' k' e' Hr' Ht' Hk' He' Ec Hend. rewrite E in Ec. rewrite Eb in Hend.
    assert (0 <= (k' * threads + t') * pack) by (apply Z.mul_nonneg_nonneg; nia).
    assert (r = r') by (rewrite Er; apply quotient_is; lia). subst r'.
    assert (v = k' * threads + t') by (rewrite Ev; apply quotient_is; lia).
    assert (k = k') by (rewrite Ek; apply quotient_is; lia). subst k'. repeat split; lia.
Qed.

(* -- Embedding: groups of threads, items and units ----------------------------------------------------------------- *)

(* this_group() and the loops of gather(), sum_rows() and sum_few(). *)
Definition group_lane (lanes thread : Z) : Z := thread mod lanes.
Definition group_item (lanes threads block thread : Z) : Z := block * (threads / lanes) + thread / lanes.
Definition group_stride (lanes threads blocks : Z) : Z := blocks * (threads / lanes).
Definition unit_first (lanes count y lane : Z) : Z := y * (lanes * count) + lane.
Definition unit_step (lanes count parts : Z) : Z := parts * (lanes * count).

(* supports: TILING *)
(* says: Every item is one group's in one of its turns, and groups of different blocks begin with different items. *)
Theorem items_once : forall lanes threads blocks items i, 0 < lanes -> 0 < threads -> threads mod lanes = 0 ->
  0 < blocks -> 0 <= i < items ->
  exists block member round,
    (0 <= block < blocks /\ 0 <= member < threads / lanes /\ 0 <= round /\
     group_item lanes threads block (member * lanes) + round * group_stride lanes threads blocks = i) /\
    forall block' member' round', 0 <= block' < blocks -> 0 <= member' < threads / lanes -> 0 <= round' ->
      group_item lanes threads block' (member' * lanes) + round' * group_stride lanes threads blocks = i ->
      block' = block /\ member' = member /\ round' = round.
Proof.
  intros lanes threads blocks items i Hl Ht Hm Hb Hi. unfold group_item, group_stride.
  assert (Et : threads = threads / lanes * lanes) by (pose proof (Z.div_mod threads lanes); lia).
  set (g := threads / lanes) in *. assert (Hg : 0 < g) by nia.
  assert (Hq : forall x, x * lanes / lanes = x) by (intros; apply Z.div_mul; lia).
  assert (E : forall b m r, b * g + m + r * (blocks * g) = (r * blocks + b) * g + m) by (intros; ring).
  pose proof (quotient_bounds i g Hg) as B1. assert (0 <= i / g) by (apply Z.div_pos; lia). set (x := i / g) in *.
  pose proof (quotient_bounds x blocks Hb) as B2. assert (0 <= x / blocks) by (apply Z.div_pos; lia).
  set (r := x / blocks) in *. exists (x - r * blocks), (i - x * g), r. split.
  - rewrite Hq, E. replace (r * blocks + (x - r * blocks)) with x by lia. lia.
  - intros b' m' r' Hb' Hm' Hr' Ei. rewrite Hq, E in Ei.
    assert (x = r' * blocks + b') by (apply quotient_is; lia). assert (r = r') by (apply quotient_is; lia). lia.
Qed.

(* supports: TILING *)
(* says: Every unit of a row is moved once: by one part of the columns, one lane, one turn and one of its units. *)
Theorem row_units_once : forall lanes count parts units u, 0 < lanes -> 0 < count -> 0 < parts -> 0 <= u < units ->
  exists y lane round k,
    (0 <= y < parts /\ 0 <= lane < lanes /\ 0 <= round /\ 0 <= k < count /\
     unit_first lanes count y lane + round * unit_step lanes count parts + k * lanes = u) /\
    forall y' lane' round' k', 0 <= y' < parts -> 0 <= lane' < lanes -> 0 <= round' -> 0 <= k' < count ->
      unit_first lanes count y' lane' + round' * unit_step lanes count parts + k' * lanes = u ->
      y' = y /\ lane' = lane /\ round' = round /\ k' = k.
Proof.
  intros lanes count parts units u Hl Hc Hp Hu. unfold unit_first, unit_step.
  assert (E : forall y l r k, y * (lanes * count) + l + r * (parts * (lanes * count)) + k * lanes =
              ((r * parts + y) * count + k) * lanes + l) by (intros; ring).
  pose proof (quotient_bounds u lanes Hl) as B1. assert (0 <= u / lanes) by (apply Z.div_pos; lia).
  set (a := u / lanes) in *. pose proof (quotient_bounds a count Hc) as B2.
  assert (0 <= a / count) by (apply Z.div_pos; lia). set (b := a / count) in *.
  pose proof (quotient_bounds b parts Hp) as B3. assert (0 <= b / parts) by (apply Z.div_pos; lia).
  set (r := b / parts) in *. exists (b - r * parts), (u - a * lanes), r, (a - b * count). split.
  - rewrite E. replace (r * parts + (b - r * parts)) with b by lia. replace (b * count + (a - b * count)) with a by lia.
    lia.
  - intros y' l' r' k' Hy' Hl' Hr' Hk' Eu. rewrite E in Eu.
    assert (Ea : a = (r' * parts + y') * count + k') by (apply quotient_is; lia).
    assert (Eb : b = r' * parts + y') by (apply quotient_is; lia). assert (r = r') by (apply quotient_is; lia).
    subst r'. assert (y' = b - r * parts) by lia. split; [assumption|].
    assert (k' = a - b * count) by (rewrite Ea, Eb; ring). split; [|split; [reflexivity|assumption]]. lia.
Qed.

(* -- Embedding: where the sum of a run of hits waits --------------------------------------------------------------- *)

(* run_at(): in window w, the run that begins there, of a row whose hits begin at b. combine: the window of run q. *)
Definition run_begin (run b w : Z) : Z := b + (w * run - b + run - 1) / run * run.
Definition run_window (run b q : Z) : Z := b / run + q.

(* supports: TILING *)
(* says: Each run of a long row but the first has the window that is looked for later, whose first hit is the row's. *)
Theorem runs_have_windows : forall run b e q, 0 < run -> 0 <= b -> 1 <= q -> b + q * run < e ->
  run_begin run b (run_window run b q) = b + q * run /\
  b < run_window run b q * run < e /\
  forall w, b < w * run -> run_begin run b w = b + q * run -> w = run_window run b q.
Proof.
  intros run b e q Hr Hb Hq He. unfold run_begin, run_window. pose proof (quotient_bounds b run Hr) as B.
  set (x := b / run) in *.
  assert (Q : ((x + q) * run - b + run - 1) / run = q) by (apply quotient_is; lia).
  rewrite Q. split; [reflexivity|]. split; [nia|]. intros w Hw E.
  pose proof (quotient_bounds (w * run - b + run - 1) run Hr) as Bw.
  set (y := (w * run - b + run - 1) / run) in *. assert (y = q) by nia. subst q.
  assert (w * run - run < y * run + b <= w * run + run - 1) by lia. nia.
Qed.

(* supports: TILING *)
(* says: The first run of a long row has the first window that begins within it, and no other. *)
Theorem first_runs_have_windows : forall run b e, 0 < run -> 0 <= b -> run < e - b ->
  exists! w, b <= w * run < e /\ w * run - b < run.
Proof.
  intros run b e Hr Hb He. pose proof (divide_up_bounds b run Hr). exists (divide_up b run). split; [lia|].
  intros w [Hw Hb']. nia.
Qed.
