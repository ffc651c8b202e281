(* The bound of gelu_fwd from the budget of docs/contracts.md: an argument of exp within 4 u, which the kernels' factors
   keep with a fused multiply-add, an exp within two units in the last place, 1 + e, and a quotient within 2 u. For
   y = x / (1 + exp(-2z)), the form that our kernels compute, and |2z| <= 104; t is 2z. Where the last operation
   underflows, and beyond 104, gelu_fwd is settled by exhaustion (exhaustion.txt). Not proved: gelu_bwd, whose bound is
   less than the sum of all its roundings at their limits; for 16-bit types it is settled by exhaustion. *)
From Coq Require Import Reals QArith Qreals Qminmax List Lra.
From Flocq Require Import Core.
From Interval Require Import Tactic.
From Tokitai Require Import dyadic constants bounds formats entropy softmax_sum.
Open Scope R_scope.

(* supports: GELU_FWD.ERR GELU_BWD.ERR *)
(* says: x (A + B x^2) by an fma, with factors within 2/5 u and a square within u, is within 4 u of itself. *)
Theorem argument_within : forall A B x a b e1 e2 e3, 0 < A -> 0 <= B ->
  Rabs a <= 2 / 5 * u -> Rabs b <= 2 / 5 * u -> Rabs e1 <= u -> Rabs e2 <= u -> Rabs e3 <= u ->
  let t := x * (A + B * (x * x)) in
  let computed := x * ((B * (1 + b) * (x * x * (1 + e1)) + A * (1 + a)) * (1 + e2)) * (1 + e3) in
  Rabs (computed - t) <= 4 * u * Rabs t.
Proof.
  intros A B x a b e1 e2 e3 PA PB Ha Hb H1 H2 H3 t computed. rewrite u_value in *.
  apply Rabs_le_inv in Ha, Hb, H1, H2, H3. set (s := B * (x * x)).
  assert (PS : 0 <= s) by (unfold s; pose proof (Rle_0_sqr x) as Q; unfold Rsqr in Q; apply Rmult_le_pos; lra).
  (* the sum, relative to A + s; each factor between two numbers *)
  assert (F1 : 1 - 15 / 10 / 16777216 <= (1 + b) * (1 + e1) <= 1 + 15 / 10 / 16777216).
  { split.
    - apply Rle_trans with ((1 - 2 / 5 / 16777216) * (1 - 1 / 16777216)); [lra | apply Rmult_le_compat; lra].
    - apply Rle_trans with ((1 + 2 / 5 / 16777216) * (1 + 1 / 16777216)); [apply Rmult_le_compat; lra | lra]. }
  set (q := (s * ((1 + b) * (1 + e1)) + A * (1 + a)) / (A + s)).
  assert (F2 : 1 - 15 / 10 / 16777216 <= q <= 1 + 15 / 10 / 16777216).
  { assert (K1 : s * (1 - 15 / 10 / 16777216) <= s * ((1 + b) * (1 + e1))) by (apply Rmult_le_compat_l; lra).
    assert (K2 : s * ((1 + b) * (1 + e1)) <= s * (1 + 15 / 10 / 16777216)) by (apply Rmult_le_compat_l; lra).
    assert (K3 : A * (1 - 15 / 10 / 16777216) <= A * (1 + a)) by (apply Rmult_le_compat_l; lra).
    assert (K4 : A * (1 + a) <= A * (1 + 15 / 10 / 16777216)) by (apply Rmult_le_compat_l; lra).
    unfold q. split; apply Rmult_le_reg_r with (A + s); try lra; unfold Rdiv;
      rewrite (Rmult_assoc (s * _ + _)), Rinv_l by lra; lra. }
  assert (F3 : 1 - 21 / 10 / 16777216 <= (1 + e2) * (1 + e3) <= 1 + 21 / 10 / 16777216).
  { split.
    - apply Rle_trans with ((1 - 1 / 16777216) * (1 - 1 / 16777216)); [lra | apply Rmult_le_compat; lra].
    - apply Rle_trans with ((1 + 1 / 16777216) * (1 + 1 / 16777216)); [apply Rmult_le_compat; lra | lra]. }
  assert (F4 : Rabs (q * ((1 + e2) * (1 + e3)) - 1) <= 4 / 16777216).
  { apply Rabs_le. split.
    - assert ((1 - 15 / 10 / 16777216) * (1 - 21 / 10 / 16777216) <= q * ((1 + e2) * (1 + e3))) by
        (apply Rmult_le_compat; lra). lra.
    - assert (q * ((1 + e2) * (1 + e3)) <= (1 + 15 / 10 / 16777216) * (1 + 21 / 10 / 16777216)) by
        (apply Rmult_le_compat; lra). lra. }
  replace (computed - t) with (t * (q * ((1 + e2) * (1 + e3)) - 1)).
  - rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos | lra].
  - unfold t, computed, q, s. field. unfold s in PS. lra.
Qed.

(* B of ops/gelu/contract.c. *)
Definition gelu_bound (x t sigma : R) :=
  dyadic_R TKI_U * Rabs (x * sigma) *
    (dyadic_R TKI_GELU_CONSTANT + dyadic_R TKI_GELU_PER_ARGUMENT * Rabs t * (1 - sigma))
  + dyadic_R TKI_FP32_SMALLEST_NORMAL * Rmin (Rabs x) (dyadic_R TKI_GELU_UNDERFLOW_CAP).

Lemma Q2R_min : forall p q, Q2R (Qmin p q) = Rmin (Q2R p) (Q2R q).
Proof.
  intros p q. destruct (Q.min_spec p q) as [[L E] | [L E]]; rewrite (Qeq_eqR _ _ E).
  - rewrite Rmin_left; auto. left. apply Qlt_Rlt. auto.
  - rewrite Rmin_right; auto. apply Qle_Rle. auto.
Qed.

(* supports: GELU_FWD.ERR *)
(* says: The B of gelu_forward is the one that bound_agreement.v compares with exact/gelu_bound.h. *)
Theorem gelu_bound_is_that_of_c : forall x t sigma, 0 <= dyadic_R x -> 0 <= dyadic_R t -> 0 <= dyadic_R sigma ->
  Q2R (gelu_fwd_bound x t sigma) = gelu_bound (dyadic_R x) (dyadic_R t) (dyadic_R sigma).
Proof.
  intros x t sigma X T S. unfold gelu_fwd_bound, unit_roundoff, gelu_bound.
  assert (O : Q2R 1 = 1) by (unfold Q2R; simpl; field). repeat rewrite ?Q2R_plus, ?Q2R_mult, ?Q2R_minus, ?Q2R_min.
  rewrite !dyadic_Q2R, O. rewrite (Rabs_pos_eq (dyadic_R x)), (Rabs_pos_eq (dyadic_R t)) by auto.
  rewrite Rabs_pos_eq by (apply Rmult_le_pos; auto). reflexivity.
Qed.

Lemma gelu_bound_at_least : forall x t sigma,
  Rabs (x * sigma) * (u * (8 + 4 * (Rabs t * (1 - sigma)))) <= gelu_bound x t sigma.
Proof.
  intros x t sigma. unfold gelu_bound.
  replace (dyadic_R TKI_U) with u; [| unfold u, TKI_U; rewrite dyadic_R_bpow; ring].
  change (dyadic_R TKI_GELU_CONSTANT) with 8. change (dyadic_R TKI_GELU_PER_ARGUMENT) with 4.
  assert (0 <= dyadic_R TKI_FP32_SMALLEST_NORMAL * Rmin (Rabs x) (dyadic_R TKI_GELU_UNDERFLOW_CAP)); [| lra].
  apply Rmult_le_pos.
  - unfold TKI_FP32_SMALLEST_NORMAL. rewrite dyadic_R_bpow. pose proof (bpow_gt_0 radix2 (-126)). lra.
  - apply Rmin_glb; [apply Rabs_pos |]. change (dyadic_R TKI_GELU_UNDERFLOW_CAP) with 4096. lra.
Qed.

Lemma exp_minus_1 : forall h, 0 <= h <= 1 / 2 -> exp h - 1 <= h * (1 + 2 * h).
Proof.
  intros h H. pose proof (tangent (- h)) as T. rewrite exp_Ropp in T. pose proof (exp_pos h) as P.
  assert (E : exp h * (1 - h) <= 1).
  { apply Rmult_le_reg_l with (/ exp h); [apply Rinv_0_lt_compat; auto |].
    rewrite <- Rmult_assoc, Rinv_l by lra. lra. }
  nra.
Qed.

(* supports: GELU_FWD.ERR *)
(* says: x / (1 + exp(-2z)), within the budget, is within B for |2z| <= 104, also where exp underflows. *)
Theorem gelu_forward : forall x t tau eps e d1 d2 d3 flushes, Rabs t <= 104 ->
  Rabs tau <= 4 * u -> Rabs eps <= 4 * u -> Rabs d1 <= u -> Rabs d2 <= u -> Rabs d3 <= u ->
  lands flushes (exp (- (t * (1 + tau))) * (1 + eps)) e ->
  let sigma := / (1 + exp (- t)) in
  Rabs (x / ((1 + e) * (1 + d1)) * (1 + d2) * (1 + d3) - x * sigma) <= gelu_bound x t sigma.
Proof.
  intros x t tau eps e d1 d2 d3 flushes HT Htau Heps H1 H2 H3 HL sigma.
  eapply Rle_trans; [| apply gelu_bound_at_least].
  set (E := exp (- t)) in *. assert (PE : 0 < E) by apply exp_pos.
  set (q := 1 - sigma). assert (Q : q = E / (1 + E)) by (unfold q, sigma; field; lra).
  assert (Pq : 0 < q < 1).
  { rewrite Q. split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_lt_reg_r with (1 + E); [lra |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  pose proof u_positive as U. destruct kappa_value as (K0 & K1 & K2). pose proof (Rabs_pos t) as PT.
  assert (U1 : u <= 1 / 16000000) by (rewrite u_value; lra).
  set (h := 4 * u * Rabs t + 4 * kappa). set (e' := exp (- (t * (1 + tau))) * (1 + eps)) in *.
  assert (Hh : 0 <= h <= 421 * u).
  { unfold h. assert (0 <= u * Rabs t <= u * 104) by (split; [apply Rmult_le_pos | apply Rmult_le_compat_l]; lra).
    lra. }
  (* exp is off by a factor of e^h at most *)
  assert (HE : E * exp (- h) <= e' <= E * exp h).
  { destruct (relative_error 4 eps) as [R1 R2]; auto; try lra.
    assert (TT : Rabs (t * tau) <= 4 * u * Rabs t).
    { rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; lra. }
    apply Rabs_le_inv in TT. unfold e', E, h. rewrite Ropp_plus_distr, !exp_plus, <- !Rmult_assoc.
    replace (- (t * (1 + tau))) with (- t + - (t * tau)) by ring. rewrite exp_plus.
    pose proof (exp_pos (- t)). pose proof (exp_pos (- (4 * u * Rabs t))). pose proof (exp_pos (- (4 * kappa))).
    assert (exp (- (4 * u * Rabs t)) <= exp (- (t * tau)) <= exp (4 * u * Rabs t)) by (split; apply exp_monotone; lra).
    split; (apply Rmult_le_compat; [| | apply Rmult_le_compat_l; lra | lra]); try lra; apply Rmult_le_pos; lra. }
  (* so is 1 + exp, by the share q of it *)
  set (H := q * (h * (1 + 2 * h))).
  assert (PH : 0 <= H) by (unfold H; apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
  assert (HD : (1 + E) * exp (- H) <= 1 + e' <= (1 + E) * exp H).
  { assert (QE : q * (1 + E) = E) by (rewrite Q; field; lra). split.
    - apply Rle_trans with ((1 + E) * (1 + q * (exp (- h) - 1))).
      + apply Rmult_le_compat_l; [lra |]. eapply Rle_trans; [| apply exp_below_chord; lra]. apply exp_monotone.
        unfold H. assert (q * h * 1 <= q * h * (1 + 2 * h)) by (apply Rmult_le_compat_l; [apply Rmult_le_pos |]; lra).
        lra.
      + replace ((1 + E) * (1 + q * (exp (- h) - 1))) with (1 + E + q * (1 + E) * (exp (- h) - 1)) by ring.
        rewrite QE. lra.
    - apply Rle_trans with ((1 + E) * (1 + q * (exp h - 1))).
      + replace ((1 + E) * (1 + q * (exp h - 1))) with (1 + E + q * (1 + E) * (exp h - 1)) by ring. rewrite QE. lra.
      + apply Rmult_le_compat_l; [lra |]. eapply Rle_trans; [| apply tangent]. apply Rplus_le_compat_l. unfold H.
        apply Rmult_le_compat_l; [lra |]. apply exp_minus_1. lra. }
  (* what underflow changes beside 1 *)
  assert (SU : 0 < small /\ 2 * small <= u / 1000) by (rewrite small_by_tiny, tiny_value, u_value; lra).
  destruct SU as [PS SU]. assert (Pe' : 0 < e').
  { eapply Rlt_le_trans; [| exact (proj1 HE)]. apply Rmult_lt_0_compat; auto. apply exp_pos. }
  assert (HU : (1 + e') * exp (- (2 * small)) <= 1 + e <= (1 + e') * exp (2 * small)).
  { assert (G : e' - small <= e <= e' + small).
    { assert (tiny <= small) by (rewrite small_by_tiny; pose proof tiny_positive; lra).
      unfold lands in HL. destruct HL as [P0 HL]. destruct flushes.
      - destruct HL as [-> | [-> HL]]; lra.
      - apply Rabs_le_inv in HL. lra. }
    assert (X1 : exp (- (2 * small)) <= 1 - small).
    { rewrite exp_Ropp. pose proof (tangent (2 * small)). apply Rle_trans with (/ (1 + 2 * small)).
      - apply Rinv_le_contravar; lra.
      - apply Rmult_le_reg_r with (1 + 2 * small); [lra |]. rewrite Rinv_l by lra. nra. }
    pose proof (tangent (2 * small)) as X2. split.
    - apply Rle_trans with ((1 + e') * (1 - small)); [apply Rmult_le_compat_l; lra |].
      assert (1 * small <= (1 + e') * small) by (apply Rmult_le_compat_r; lra). lra.
    - apply Rle_trans with ((1 + e') * (1 + small)); [| apply Rmult_le_compat_l; lra].
      assert (1 * small <= (1 + e') * small) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (relative_error 1 d1) as [A1 B1]; try lra. destruct (relative_error 1 d2) as [A2 B2]; try lra.
  destruct (relative_error 1 d3) as [A3 B3]; try lra.
  set (F := H + 2 * small + 3 * kappa). set (r := (1 + E) / ((1 + e) * (1 + d1)) * (1 + d2) * (1 + d3)).
  assert (P1 : 0 < 1 + d1) by (apply Rabs_le_inv in H1; lra).
  assert (Pe : 0 <= e) by apply HL.
  set (dd := (1 + e) * (1 + d1)). assert (Pd : 0 < dd) by (apply Rmult_lt_0_compat; lra).
  assert (DD : (1 + E) * exp (- (H + 2 * small + 1 * kappa)) <= dd <= (1 + E) * exp (H + 2 * small + 1 * kappa)).
  { rewrite !Ropp_plus_distr, !exp_plus, <- !Rmult_assoc. pose proof (exp_pos (- H)).
    pose proof (exp_pos (- (2 * small))).
    pose proof (exp_pos (- (1 * kappa))). pose proof (exp_pos (2 * small)). pose proof (exp_pos H).
    assert (0 <= (1 + E) * exp (- H)) by (apply Rmult_le_pos; lra). unfold dd. split.
    - apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra |].
      apply Rle_trans with ((1 + e') * exp (- (2 * small))); [apply Rmult_le_compat_r; lra | lra].
    - apply Rmult_le_compat; try lra.
      apply Rle_trans with ((1 + e') * exp (2 * small)); [lra | apply Rmult_le_compat_r; lra]. }
  assert (RR : exp (- F) <= r <= exp F).
  { assert (EF : exp (H + 2 * small + 1 * kappa) * exp (- (H + 2 * small + 1 * kappa)) = 1).
    { rewrite <- exp_plus, Rplus_opp_r. apply exp_0. }
    set (g := exp (H + 2 * small + 1 * kappa)) in *. set (g' := exp (- (H + 2 * small + 1 * kappa))) in *.
    assert (Pg : 0 < g) by apply exp_pos. assert (Pg' : 0 < g') by apply exp_pos.
    assert (I : g' <= (1 + E) / dd <= g).
    { split; apply Rmult_le_reg_r with dd; auto; replace ((1 + E) / dd * dd) with (1 + E) by (field; lra).
      - apply Rle_trans with (g' * ((1 + E) * g)); [apply Rmult_le_compat_l; lra |].
        replace (g' * ((1 + E) * g)) with (g * g' * (1 + E)) by ring. rewrite EF. lra.
      - apply Rle_trans with (g * ((1 + E) * g')); [| apply Rmult_le_compat_l; lra].
        replace (g * ((1 + E) * g')) with (g * g' * (1 + E)) by ring. rewrite EF. lra. }
    pose proof (exp_pos (- (1 * kappa))) as Pk. pose proof (exp_pos (1 * kappa)) as Pk'.
    replace (- F) with (- (H + 2 * small + 1 * kappa) + - (1 * kappa) + - (1 * kappa)) by (unfold F; ring).
    replace F with (H + 2 * small + 1 * kappa + 1 * kappa + 1 * kappa) by (unfold F; ring).
    rewrite (exp_plus (H + 2 * small + 1 * kappa + 1 * kappa)), (exp_plus (H + 2 * small + 1 * kappa)).
    rewrite (exp_plus (- (H + 2 * small + 1 * kappa) + - (1 * kappa))), (exp_plus (- (H + 2 * small + 1 * kappa))).
    fold g g'. unfold r. fold dd.
    split; (apply Rmult_le_compat; [| | apply Rmult_le_compat |]); try lra; apply Rmult_le_pos; lra. }
  assert (HF : H <= 4 * u * (Rabs t * q) + 41 / 10 * u /\ H <= 430 * u).
  { assert (qt : 0 <= Rabs t * q <= 104) by (split; [apply Rmult_le_pos; lra |]; rewrite <- (Rmult_1_r 104);
      apply Rmult_le_compat; lra).
    assert (qh : q * h = 4 * u * (Rabs t * q) + 4 * kappa * q) by (unfold h; ring).
    assert (4 * kappa * q <= 4 * kappa * 1) by (apply Rmult_le_compat_l; lra).
    assert (u * (Rabs t * q) <= u * 104) by (apply Rmult_le_compat_l; lra).
    assert (0 <= q * h) by (apply Rmult_le_pos; lra).
    assert (q * h * (2 * h) <= 421 * u * (2 * (421 * u))) by (apply Rmult_le_compat; lra).
    assert (421 * u * (2 * (421 * u)) <= 421 * u * (1 / 10000)) by (apply Rmult_le_compat_l; lra).
    assert (HH : H = q * h + q * h * (2 * h)) by (unfold H; ring). lra. }
  assert (FF : 0 <= F <= 434 * u) by (unfold F; lra).
  assert (Y : Rabs (r - 1) <= u * (8 + 4 * (Rabs t * q))).
  { assert (X1 : exp F - 1 <= F * (1 + 2 * F)) by (apply exp_minus_1; lra). pose proof (tangent (- F)) as X2.
    assert (X3 : F * (2 * F) <= 434 * u * (2 * (434 * u))) by (apply Rmult_le_compat; lra).
    assert (X4 : 434 * u * (2 * (434 * u)) <= 434 * u * (1 / 10000)) by (apply Rmult_le_compat_l; lra).
    assert (X5 : F <= u * (7 + 2 / 10 + 4 * (Rabs t * q))) by (unfold F; lra). apply Rabs_le. lra. }
  replace (x / dd * (1 + d2) * (1 + d3) - x * sigma) with (x * sigma * (r - 1)).
  - rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos |]. fold q. exact Y.
  - unfold r, sigma. fold E dd. field. lra.
Qed.
