(* Numbers m 2^e, as the constants of the C code are: every double is one. constants.v is a list of them; here they
   become rational numbers, which compute, and real numbers, about which theorems speak. *)
From Coq Require Import Reals ZArith QArith Qreals Lia Lra.
From Flocq Require Import Core.

Record dyadic := Dyadic { mantissa : Z; exponent : Z }.

Definition dyadic_Q d : Q :=
  match exponent d with
  | Zneg k => mantissa d # (2 ^ k)
  | e => inject_Z (mantissa d * 2 ^ e)
  end.

(* As a quotient of two integers, which the tactics on intervals can read once it is unfolded. *)
Definition dyadic_R d : R :=
  match exponent d with
  | Zneg k => (IZR (mantissa d) / IZR (2 ^ Zpos k))%R
  | e => IZR (mantissa d * 2 ^ e)
  end.

Open Scope R_scope.

Lemma dyadic_R_bpow : forall m e, dyadic_R (Dyadic m e) = IZR m * bpow radix2 e.
Proof.
  intros m [|k|k]; unfold dyadic_R; simpl exponent; simpl mantissa.
  - simpl. rewrite Z.mul_1_r. ring.
  - rewrite <- (IZR_Zpower radix2) by lia. rewrite <- mult_IZR. reflexivity.
  - change (Zneg k) with (- Zpos k)%Z. rewrite bpow_opp. rewrite <- (IZR_Zpower radix2) by lia. reflexivity.
Qed.

Lemma dyadic_Q2R : forall d, Q2R (dyadic_Q d) = dyadic_R d.
Proof.
  intros [m [|k|k]]; unfold dyadic_Q, dyadic_R, Q2R, inject_Z; cbn [exponent mantissa Qnum Qden].
  - unfold Rdiv. rewrite Rinv_1, Rmult_1_r. reflexivity.
  - unfold Rdiv. rewrite Rinv_1, Rmult_1_r. reflexivity.
  - rewrite Pos2Z.inj_pow. reflexivity.
Qed.
