(* Gluing shards of a tensor. A box is a list of intervals [lo, hi) over Z, of any rank; a section over it is the list
   of its elements' bits in row-major order; restricting a section to a smaller box is slicing. Proved: shards that
   cover the whole box glue to exactly one section if they agree on all pairwise overlaps, and to none if two of them
   disagree; where an index is not covered, there is never exactly one. Not proved: that the C code reads, compares and
   writes the elements it means to. *)
From Coq Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

Definition box := list (Z * Z).
Definition index := list Z.

Fixpoint inside (b : box) (i : index) : Prop :=
  match b, i with
  | [], [] => True
  | (lo, hi) :: b', x :: i' => lo <= x < hi /\ inside b' i'
  | _, _ => False
  end.

Definition interval (lo hi : Z) : list Z := map (fun k => lo + Z.of_nat k) (seq 0 (Z.to_nat (hi - lo))).

(* In row-major order: the last dimension runs fastest. *)
Fixpoint indices (b : box) : list index :=
  match b with
  | [] => [[]]
  | (lo, hi) :: b' => flat_map (fun x => map (cons x) (indices b')) (interval lo hi)
  end.

Fixpoint overlap (b c : box) : box :=
  match b, c with
  | (lo, hi) :: b', (lo', hi') :: c' => (Z.max lo lo', Z.min hi hi') :: overlap b' c'
  | _, _ => []
  end.

Lemma in_interval : forall lo hi x, In x (interval lo hi) <-> lo <= x < hi.
Proof.
  intros lo hi x. unfold interval. rewrite in_map_iff. split.
  - intros (k & <- & H). apply in_seq in H. lia.
  - intros H. exists (Z.to_nat (x - lo)). rewrite in_seq. lia.
Qed.

Lemma in_indices : forall b i, In i (indices b) <-> inside b i.
Proof.
  induction b as [| [lo hi] b IH]; intros i; simpl.
  - destruct i; simpl; intuition congruence.
  - rewrite in_flat_map. split.
    + intros (x & Hx & H). apply in_map_iff in H. destruct H as (j & <- & H). apply in_interval in Hx. apply IH in H.
      auto.
    + destruct i as [| x i]; [tauto |]. intros [Hx H]. exists x. rewrite in_interval. split; auto.
      apply in_map. apply IH. auto.
Qed.

Lemma distinct_map : forall (A B : Type) (f : A -> B) l, (forall x y, f x = f y -> x = y) -> NoDup l -> NoDup (map f l).
Proof.
  intros A B f l F. induction 1 as [| x l N D IH]; simpl; constructor; auto.
  intros H. apply in_map_iff in H. destruct H as (y & E & H). apply F in E. subst. auto.
Qed.

Lemma distinct_indices : forall b, NoDup (indices b).
Proof.
  induction b as [| [lo hi] b IH]; simpl. { repeat constructor; auto. }
  assert (D : NoDup (interval lo hi)) by (apply distinct_map; [intros; lia | apply seq_NoDup]).
  induction D as [| x l N D IHl]; simpl; [constructor |].
  assert (H : NoDup (map (cons x) (indices b))) by (apply distinct_map; [congruence | auto]).
  assert (A : forall i, In i (map (cons x) (indices b)) -> ~ In i (flat_map (fun x => map (cons x) (indices b)) l)).
  { intros i H1 H2. apply in_map_iff in H1. destruct H1 as (j & <- & _). apply in_flat_map in H2.
    destruct H2 as (y & Hy & H2). apply in_map_iff in H2. destruct H2 as (k & E & _). congruence. }
  induction H as [| i m M Hm IHm]; simpl; auto. constructor.
  - rewrite in_app_iff. intros [? | ?]; auto. apply (A i); simpl; auto.
  - apply IHm. intros; apply A; simpl; auto.
Qed.

Lemma inside_overlap : forall b c i, inside b i -> inside c i -> inside (overlap b c) i.
Proof.
  induction b as [| [lo hi] b IH]; intros [| [lo' hi'] c] [| x i]; simpl; try tauto. intros [? ?] [? ?].
  split; auto. lia.
Qed.

Lemma overlap_inside : forall b c i, length b = length c -> inside (overlap b c) i -> inside b i /\ inside c i.
Proof.
  induction b as [| [lo hi] b IH]; intros [| [lo' hi'] c] i L H; simpl in *; try discriminate; auto.
  destruct i as [| x i]; [tauto |]. destruct H as [Hx H]. injection L as L. destruct (IH c i L H).
  repeat split; auto; lia.
Qed.

Section Values.
Variable V : Type. (* the bits of one element *)

Definition same (i j : index) : bool := if list_eq_dec Z.eq_dec i j then true else false.

Fixpoint find (keys : list index) (data : list V) (i : index) : option V :=
  match keys, data with
  | k :: keys', v :: data' => if same k i then Some v else find keys' data' i
  | _, _ => None
  end.

Definition shard := (box * list V)%type.
Definition sized (s : shard) : Prop := length (snd s) = length (indices (fst s)).

(* The element of a section at an index, and the part of a section over a box. *)
Definition element (s : shard) (i : index) : option V := find (indices (fst s)) (snd s) i.
Definition slice (s : shard) (c : box) : list (option V) := map (element s) (indices c).

Lemma same_true : forall i j, same i j = true <-> i = j.
Proof. intros i j. unfold same. destruct (list_eq_dec Z.eq_dec i j); split; congruence. Qed.

Lemma same_refl : forall i, same i i = true.
Proof. intros; apply same_true; reflexivity. Qed.

Lemma find_all : forall keys data, NoDup keys -> length data = length keys -> map (find keys data) keys = map Some data.
Proof.
  intros keys data D. revert data. induction D as [| k keys N D IH]; intros [| v data] L; try discriminate; auto.
  simpl. rewrite same_refl. f_equal. rewrite <- (IH data) by (simpl in L; lia). apply map_ext_in. intros i Hi.
  destruct (same k i) eqn:E; auto. apply same_true in E. subst. tauto.
Qed.

Lemma find_in : forall keys data i, length data = length keys -> In i keys -> exists v, find keys data i = Some v.
Proof.
  induction keys as [| k keys IH]; intros [| v data] i L H; simpl in *; try tauto; try discriminate.
  destruct (same k i) eqn:E. { exists v. reflexivity. } apply IH; [lia |]. destruct H as [-> | H]; auto.
  rewrite same_refl in E. discriminate.
Qed.

Lemma find_only : forall keys data i v, find keys data i = Some v -> In i keys.
Proof.
  induction keys as [| k keys IH]; intros [| w data] i v H; simpl in *; try discriminate.
  destruct (same k i) eqn:E; eauto. apply same_true in E. auto.
Qed.

Lemma whole_slice : forall s, sized s -> slice s (fst s) = map Some (snd s).
Proof. intros s H. apply find_all; auto. apply distinct_indices. Qed.

Lemma element_inside : forall s i, sized s -> (inside (fst s) i <-> exists v, element s i = Some v).
Proof.
  intros s i H. rewrite <- in_indices. split; [apply find_in; auto |]. intros [v E]. eapply find_only; exact E.
Qed.

Lemma pointwise : forall (A B : Type) (f g : A -> B) l, map f l = map g l -> forall x, In x l -> f x = g x.
Proof.
  induction l as [| y l IH]; simpl; [tauto |]. intros E x. injection E as E1 E2. intros [<- | H]; auto.
Qed.

Lemma some_injective : forall l m : list V, map Some l = map Some m -> l = m.
Proof.
  induction l as [| v l IH]; intros [| w m] E; simpl in E; try discriminate; auto. injection E as -> E. f_equal. auto.
Qed.

Lemma all_some : forall l : list (option V), (forall o, In o l -> o <> None) -> exists d, l = map Some d.
Proof.
  induction l as [| [v |] l IH]; intros H.
  - exists []. reflexivity.
  - destruct IH as [d ->]. { intros o Ho. apply H. simpl. auto. } exists (v :: d). reflexivity.
  - exfalso. apply (H None); simpl; auto.
Qed.

Variable whole : box.
Variable shards : list shard.

(* What a reader of the shards checks before anything else. *)
Definition well_formed : Prop := forall s, In s shards ->
  sized s /\ length (fst s) = length whole /\ (forall i, inside (fst s) i -> inside whole i).
Definition agree : Prop := forall s t, In s shards -> In t shards ->
  slice s (overlap (fst s) (fst t)) = slice t (overlap (fst s) (fst t)).
Definition covered (i : index) : Prop := exists s, In s shards /\ inside (fst s) i.
Definition cover : Prop := forall i, inside whole i -> covered i.

(* A section over the whole box that restricts to every shard. *)
Definition glued (g : list V) : Prop :=
  sized (whole, g) /\ forall s, In s shards -> slice (whole, g) (fst s) = map Some (snd s).

Lemma glued_element : forall g s i, well_formed -> glued g -> In s shards -> inside (fst s) i ->
  element (whole, g) i = element s i.
Proof.
  intros g s i W [_ G] Hs Hi. destruct (W s Hs) as (S & _ & _). specialize (G s Hs).
  rewrite <- (whole_slice s S) in G. eapply pointwise; [exact G |]. apply in_indices. auto.
Qed.

Lemma same_elements : forall g h, sized (whole, g) -> sized (whole, h) ->
  (forall i, inside whole i -> element (whole, g) i = element (whole, h) i) -> g = h.
Proof.
  intros g h Hg Hh E. apply some_injective. rewrite <- (whole_slice (whole, g) Hg : _ = map Some g).
  rewrite <- (whole_slice (whole, h) Hh : _ = map Some h). apply map_ext_in. intros i Hi. apply E.
  apply in_indices. auto.
Qed.

Fixpoint first_of (l : list shard) (i : index) : option V :=
  match l with [] => None | s :: l' => match element s i with Some v => Some v | None => first_of l' i end end.

Lemma first_of_covering : forall l i v, first_of l i = Some v -> exists s, In s l /\ element s i = Some v.
Proof.
  induction l as [| s l IH]; simpl; intros i v H; [discriminate |]. destruct (element s i) eqn:E.
  - exists s. split; auto. congruence.
  - destruct (IH i v H) as (t & Ht & Et). eauto.
Qed.

Lemma first_of_none : forall l i s, first_of l i = None -> In s l -> element s i = None.
Proof.
  induction l as [| t l IH]; simpl; intros i s H; [tauto |]. destruct (element t i) eqn:E; [discriminate |].
  intros [<- | Hs]; auto.
Qed.

Lemma exists_glued : well_formed -> cover -> agree -> exists g, glued g.
Proof.
  intros W C A. destruct (all_some (map (first_of shards) (indices whole))) as [g Hg].
  { intros o Ho. apply in_map_iff in Ho. destruct Ho as (i & <- & Hi). apply in_indices in Hi.
    destruct (C i Hi) as (s & Hs & H). destruct (W s Hs) as (Z & _ & _). apply element_inside in H; auto.
    destruct H as [v Hv]. intros N. rewrite (first_of_none _ _ s N Hs) in Hv. discriminate. }
  assert (L : sized (whole, g)). { unfold sized. simpl. rewrite <- (map_length Some), <- Hg, map_length. reflexivity. }
  exists g. split; auto. intros s Hs. destruct (W s Hs) as (Z & _ & I). rewrite <- (whole_slice s Z).
  apply map_ext_in. intros i Hi. apply in_indices in Hi.
  assert (F : element (whole, g) i = first_of shards i).
  { apply (pointwise _ _ (element (whole, g)) (first_of shards) (indices whole)); [| apply in_indices; auto].
    rewrite Hg. apply (whole_slice (whole, g) L). }
  rewrite F. destruct (first_of shards i) eqn:E.
  - destruct (first_of_covering _ _ _ E) as (t & Ht & Et). rewrite <- Et. symmetry.
    apply (pointwise _ _ _ _ _ (A s t Hs Ht)). apply in_indices. apply inside_overlap; auto.
    destruct (W t Ht) as (Zt & _ & _). apply element_inside; eauto.
  - symmetry. apply (first_of_none _ _ s E Hs).
Qed.

(* supports: GLUE.UNIQUE *)
(* says: Shards that cover the box and agree on all pairwise overlaps glue to exactly one section over it. *)
Theorem exactly_one_section : well_formed -> cover -> agree -> exists! g, glued g.
Proof.
  intros W C A. destruct (exists_glued W C A) as [g G]. exists g. split; auto. intros h H.
  apply same_elements; [apply G | apply H |]. intros i Hi. destruct (C i Hi) as (s & Hs & I).
  rewrite (glued_element g s), (glued_element h s); auto.
Qed.

(* supports: GLUE.UNIQUE *)
(* says: If two shards disagree on their overlap, no section restricts to all shards. *)
Theorem disagreement_glues_to_none : forall s t, well_formed -> In s shards -> In t shards ->
  slice s (overlap (fst s) (fst t)) <> slice t (overlap (fst s) (fst t)) -> ~ exists g, glued g.
Proof.
  intros s t W Hs Ht N [g G]. apply N. apply map_ext_in. intros i Hi. apply in_indices in Hi.
  destruct (W s Hs) as (_ & Ls & _). destruct (W t Ht) as (_ & Lt & _).
  apply overlap_inside in Hi; [| congruence]. destruct Hi as [Hi Hj].
  rewrite <- (glued_element g s i), <- (glued_element g t i); auto.
Qed.

Lemma put : forall g i v, well_formed -> glued g -> inside whole i -> ~ covered i ->
  exists h, glued h /\ element (whole, h) i = Some v.
Proof.
  intros g i v W [L G] I N. set (f := fun j => if same i j then Some v else element (whole, g) j).
  destruct (all_some (map f (indices whole))) as [h Hh].
  { intros o Ho. apply in_map_iff in Ho. destruct Ho as (j & <- & Hj). unfold f. destruct (same i j); [congruence |].
    apply in_indices in Hj. apply (element_inside (whole, g)) in Hj; auto. destruct Hj as [w ->]. congruence. }
  assert (M : sized (whole, h)). { unfold sized. simpl. rewrite <- (map_length Some), <- Hh, map_length. reflexivity. }
  assert (F : forall j, inside whole j -> element (whole, h) j = f j).
  { intros j Hj. apply (pointwise _ _ (element (whole, h)) f (indices whole)); [| apply in_indices; auto].
    rewrite Hh. apply (whole_slice (whole, h) M). }
  exists h. split; [split; auto |]; [| rewrite F by auto; unfold f; rewrite same_refl; reflexivity].
  intros s Hs. rewrite <- (G s Hs). apply map_ext_in. intros j Hj. apply in_indices in Hj.
  destruct (W s Hs) as (_ & _ & J). rewrite F by auto. unfold f. destruct (same i j) eqn:E; auto.
  apply same_true in E. subst j. exfalso. apply N. exists s. auto.
Qed.

(* supports: GLUE.UNIQUE *)
(* says: Where an index is not covered, the sections that restrict to all shards are none, or more than one. *)
Theorem gap_leaves_more_than_one : forall (a b : V) i, a <> b -> well_formed -> inside whole i -> ~ covered i ->
  (exists g, glued g) -> exists g h, glued g /\ glued h /\ g <> h.
Proof.
  intros a b i AB W I N [k K]. destruct (put k i a) as (g & G & Eg); auto. destruct (put k i b) as (h & H & Eh); auto.
  exists g, h. repeat split; try apply G; try apply H. intros E. subst. congruence.
Qed.

End Values.
