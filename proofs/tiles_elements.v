(* Index maps of kernels that take elements, vectors or tiles in turn, for all sizes: elementwise kernels
   (ops/gelu/kernel.cu), the loops by which blocks take tiles (ops/product/kernel_gemm.cu, kernel_tensor.cu,
   kernel_linear.cu, kernel_grouped.cu, ops/padic), how a warp stores the patch of sums that it has laid out
   (ops/product/kernel_tensor.cu), and p-adic products (ops/padic/kernel.cu). Not covered: how fragments of matrix
   units are read from a panel (kernels/device_mma.h), which depends on what the hardware makes of them. *)
From Coq Require Import ZArith Lia.
From Tokitai Require Import tiling.
Open Scope Z_scope.

(* -- In turn ------------------------------------------------------------------------------------------------------- *)

(* What a block, or a thread, takes in one of its turns, of `count` that take turns. *)
Definition taken_in_turn (count one turn : Z) : Z := one + turn * count.

(* supports: TILING *)
(* says: Where blocks take tiles in turn, or threads elements, every one is taken by exactly one of them, in one turn. *)
Theorem each_is_taken_once : forall count i, 0 < count -> 0 <= i ->
  exists one turn, (0 <= one < count /\ 0 <= turn /\ taken_in_turn count one turn = i) /\
    forall one' turn', 0 <= one' < count -> 0 <= turn' -> taken_in_turn count one' turn' = i ->
      one' = one /\ turn' = turn.
Proof.
  intros count i Hc Hi. unfold taken_in_turn. pose proof (quotient_bounds i count Hc).
  exists (i - i / count * count), (i / count).
  assert (0 <= i / count) by (apply Z.div_pos; lia). split; [lia|].
  intros one' turn' Ho Ht E. assert (Q : i / count = turn') by (apply quotient_is; lia). rewrite Q. lia.
Qed.

(* -- Lines that follow each other ---------------------------------------------------------------------------------- *)

(* Place i of lines of `width` places. *)
Definition line_of (width i : Z) : Z := i / width.
Definition place_of (width i : Z) : Z := i mod width.

(* supports: TILING *)
(* says: Threads that take the places of lines in turn take each place of each line exactly once, for any widths. *)
Theorem lines_are_taken_once : forall count width lines line place, 0 < count -> 0 < width ->
  0 <= line < lines -> 0 <= place < width ->
  exists one turn, (0 <= one < count /\ 0 <= turn /\ taken_in_turn count one turn < lines * width /\
      line_of width (taken_in_turn count one turn) = line /\ place_of width (taken_in_turn count one turn) = place) /\
    forall one' turn', 0 <= one' < count -> 0 <= turn' ->
      line_of width (taken_in_turn count one' turn') = line ->
      place_of width (taken_in_turn count one' turn') = place ->
      one' = one /\ turn' = turn.
Proof.
  intros count width lines line place Hc Hw Hl Hp. set (i := line * width + place).
  assert (Hi : 0 <= i < lines * width) by (unfold i; nia).
  destruct (each_is_taken_once count i Hc (proj1 Hi)) as (one & turn & (H1 & H2 & E) & U). exists one, turn. split.
  - rewrite E. unfold line_of, place_of. rewrite remainder_is by exact Hw.
    assert (i / width = line) as -> by (apply quotient_is; unfold i; lia). unfold i. lia.
  - intros one' turn' Ho Ht El Ep. apply U; auto. unfold line_of, place_of in *. rewrite remainder_is in Ep by exact Hw.
    unfold i. lia.
Qed.

(* -- Elements and vectors ------------------------------------------------------------------------------------------ *)

(* Vectors of `per` elements behind the first `head` of n; what is left of both ends is taken one by one. *)
Definition whole_vectors (n head per : Z) : Z := (n - head) / per.
Definition tail_begin (n head per : Z) : Z := head + whole_vectors n head per * per.

(* supports: TILING *)
(* says: Every element is in exactly one of head, whole vectors and tail, in one vector at one place, and none is beyond n. *)
Theorem elements_once : forall n head per i, 0 < per -> 0 <= head <= n -> 0 <= i < n ->
  (i < head /\ ~ head <= i) \/
  (head <= i < tail_begin n head per /\
   exists v e, (0 <= v < whole_vectors n head per /\ 0 <= e < per /\ i = head + v * per + e) /\
     forall v' e', 0 <= e' < per -> i = head + v' * per + e' -> v' = v /\ e' = e) \/
  (tail_begin n head per <= i < n).
Proof.
  intros n head per i Hp Hh Hi. unfold tail_begin. pose proof (quotient_bounds (n - head) per Hp) as B.
  fold (whole_vectors n head per) in B. destruct (Z_lt_le_dec i head) as [L | L]; [left; lia | right].
  destruct (Z_lt_le_dec i (head + whole_vectors n head per * per)) as [M | M]; [left | right; lia].
  split; [lia|]. pose proof (quotient_bounds (i - head) per Hp) as Q.
  pose proof (quotient_below (i - head) per (whole_vectors n head per) Hp ltac:(lia)) as W.
  exists ((i - head) / per), (i - head - (i - head) / per * per). split; [lia|].
  intros v' e' He E. assert ((i - head) / per = v') as -> by (apply quotient_is; lia). lia.
Qed.

(* Tiles of `each` vectors for each of the threads: thread t of block b has these in one of its turns. *)
Definition turn_begin (blocks threads each block turn : Z) : Z := (block + turn * blocks) * (threads * each).
Definition own_vector (threads begin thread k : Z) : Z := begin + thread + k * threads.

(* supports: TILING *)
(* says: Every vector is exactly one thread's of one block, in one turn, once. *)
Theorem vectors_once : forall blocks threads each v, 0 < blocks -> 0 < threads -> 0 < each -> 0 <= v ->
  exists block turn thread k,
    (0 <= block < blocks /\ 0 <= turn /\ 0 <= thread < threads /\ 0 <= k < each /\
     own_vector threads (turn_begin blocks threads each block turn) thread k = v) /\
    forall block' turn' thread' k', 0 <= block' < blocks -> 0 <= turn' -> 0 <= thread' < threads -> 0 <= k' < each ->
      own_vector threads (turn_begin blocks threads each block' turn') thread' k' = v ->
      block' = block /\ turn' = turn /\ thread' = thread /\ k' = k.
Proof.
  intros blocks threads each v Hb Ht He Hv. unfold own_vector, turn_begin. set (tile := threads * each).
  assert (Htile : 0 < tile) by (unfold tile; nia). pose proof (quotient_bounds v tile Htile) as B.
  assert (P : 0 <= v / tile) by (apply Z.div_pos; lia).
  destruct (each_is_taken_once blocks (v / tile) Hb P) as (block & turn & (H1 & H2 & E) & U).
  unfold taken_in_turn in *. remember (v - v / tile * tile) as r eqn:Er. pose proof (quotient_bounds r threads Ht) as R.
  assert (K : 0 <= r / threads < each).
  { apply quotient_below; [exact Ht|]. replace (each * threads) with tile by (unfold tile; ring). lia. }
  exists block, turn, (r - r / threads * threads), (r / threads). split; [rewrite E; lia|].
  intros block' turn' thread' k' Hb' Hn' Ht' Hk' E'.
  assert (In : 0 <= thread' + k' * threads < tile).
  { replace tile with (each * threads) by (unfold tile; ring). nia. }
  assert (Q : v / tile = block' + turn' * blocks) by (apply quotient_is; lia).
  destruct (U block' turn' Hb' Hn' (eq_sym Q)) as [-> ->].
  assert (S : r / threads = k') by (apply quotient_is; [exact Ht|]; rewrite Er, Q; lia).
  rewrite S, Er, Q. lia.
Qed.

(* -- p-adic products ----------------------------------------------------------------------------------------------- *)

(* A tile of side * across lines; the threads are across * across, each with sums that lie `across` apart. *)
Definition sparse_row (across thread i : Z) : Z := thread / across + i * across.
Definition sparse_col (across thread j : Z) : Z := thread mod across + j * across.

(* supports: TILING *)
(* says: In a p-adic product's tile every output is exactly one sum of exactly one thread. *)
Theorem sparse_sums_once : forall across side r c, 0 < across -> 0 < side ->
  0 <= r < side * across -> 0 <= c < side * across ->
  exists thread i j, (0 <= thread < across * across /\ 0 <= i < side /\ 0 <= j < side /\
      sparse_row across thread i = r /\ sparse_col across thread j = c) /\
    forall thread' i' j', 0 <= thread' < across * across -> 0 <= i' -> 0 <= j' ->
      sparse_row across thread' i' = r -> sparse_col across thread' j' = c ->
      thread' = thread /\ i' = i /\ j' = j.
Proof.
  intros across side r c Ha Hs Hr Hc. unfold sparse_row, sparse_col.
  pose proof (quotient_bounds r across Ha) as R. pose proof (quotient_bounds c across Ha) as C.
  pose proof (quotient_below r across side Ha Hr). pose proof (quotient_below c across side Ha Hc).
  set (x := r - r / across * across) in *. set (y := c - c / across * across) in *.
  assert (X : (x * across + y) / across = x) by (apply quotient_is; unfold x, y; lia).
  exists (x * across + y), (r / across), (c / across). rewrite remainder_is, X by exact Ha. split.
  - unfold x, y in *. repeat split; try lia; nia.
  - intros thread' i' j' Ht Hi Hj Er Ec. rewrite remainder_is in Ec by exact Ha.
    pose proof (quotient_bounds thread' across Ha) as T.
    pose proof (quotient_below thread' across across Ha Ht) as L.
    assert (I : r / across = i') by (apply quotient_is; lia).
    assert (J : c / across = j') by (apply quotient_is; lia).
    unfold x, y. rewrite I, J. repeat split; lia.
Qed.
