/* DECIDES. What the parts of the checker share. */
#pragma once

#include "define/syntax.h"

enum { TKI_COMBINATION_WORDS = TKI_MOST_COMBINATIONS / 64, TKI_MOST_SCOPES = TKI_MOST_NESTING * TK_MAX_RANK };

/* A set of combinations of all choices. */
typedef struct tki_combinations {
    uint64_t bits[TKI_COMBINATION_WORDS];
} tki_combinations;

/* What the checker knows of a tensor beside what is kept. */
typedef struct tki_tensor_facts {
    tki_combinations present;
    const tki_syntax *head; /* of outputs */
    int lines;              /* that give it a value */
} tki_tensor_facts;

typedef struct tki_checker {
    tki_reading *reading;
    tki_definition *made;
    /* The arrays of `made`, as they grow. */
    tki_def_size *sizes;
    const tki_syntax **size_values; /* [size_count] behind `where`, or NULL */
    bool *size_is_open;             /* [size_count] its derivation has begun and not ended */
    int *size_ints;                 /* [size_count] ints[], or TKI_NONE */
    int *derivation;
    tki_def_attribute *attributes;
    tki_def_tensor *tensors;
    tki_tensor_facts *facts;
    tki_def_index *indices;
    int *levels; /* [index_count] how many scopes are around each */
    tki_def_int *ints;
    tki_def_node *nodes;
    tki_test *constraints;
    tki_range_check *checks;
    tki_complaint *refusals;
    int size_room, tensor_room, index_room, int_room, node_room, constraint_room, check_room, refusal_room;
    int combination_count;
    tki_combinations here;     /* those in which what is being read counts */
    const tki_syntax *outputs; /* of the head */
    int defining;              /* the tensor whose further line is being read; TKI_NONE */
    bool axes_unnamed;         /* the line that is being read names none on its left */
    /* Names that are bound. */
    struct {
        const char *name;
        int index;
        bool written; /* its extent is */
    } scopes[TKI_MOST_SCOPES];
    int scope_count, level;
} tki_checker;

/* A number: ints[id], or nodes[id]. */
typedef struct tki_value {
    bool integer;
    int id;
} tki_value;

/* What was wrong, at the place of a piece of syntax. */
#define tki_wrong(c, syntax, ...) tki_reading_fail((c)->reading, (syntax)->position, __VA_ARGS__)

/* Room for one more at the end of an array, `room` growing with it. */
void *tki_checker_grow(tki_checker *c, void *array, int count, int *room, size_t bytes);

int tki_size_find(const tki_checker *c, const char *name);
int tki_tensor_find(const tki_checker *c, const char *name);
int tki_attribute_named(const tki_checker *c, const char *name);
int tki_output_head_find(const tki_checker *c, const char *name, const tki_syntax **head); /* position, or TKI_NONE */

/* A format by its name in the language: "f16", "e4m3". */
bool tki_type_named(const char *name, tk_dtype *dtype);

/* -- check_integers.c ------------------------------------------------------------------------------------------------ */

int tki_int_literal(tki_checker *c, const tki_syntax *at, int64_t value);
int tki_int_leaf(tki_checker *c, const tki_syntax *at, tki_int_kind kind, int which);
int tki_int_pair(tki_checker *c, const tki_syntax *at, tki_int_kind kind, int a, int b);
int tki_int_element(tki_checker *c, const tki_syntax *at, int tensor, const tki_subscript *subscripts);
/* Of a size, with what it follows from. */
int tki_int_size(tki_checker *c, const tki_syntax *at, int size);
/* In a line of `where`: names are sizes. */
int tki_where_value(tki_checker *c, const tki_syntax *value);
/* A sum of indices with constant factors? */
void tki_check_affine(tki_checker *c, const tki_syntax *at, int value, tki_phrase what);
/* Can the case tell the range of each of its parts? */
bool tki_range_is_known(const tki_checker *c, int value);
tki_test tki_make_test(tki_checker *c, const tki_syntax *test, int a, int b);
void tki_add_constraint(tki_checker *c, const tki_syntax *at, tki_relation relation, int a, int b,
                        tki_wrong_kind refusal, const char *name);
void tki_add_check(tki_checker *c, const tki_syntax *at, int value, int limit, tki_wrong_kind refusal,
                   const char *name, const char *of);
/* Its position in refusals[]. */
int tki_add_refusal(tki_checker *c, const tki_syntax *at, tki_wrong_kind kind, const char *name, const char *of);
/* Indices that a or b depends on, without those left out. */
void tki_merge_indices(tki_checker *c, int *count, const int **indices, int more_count, const int *more);
void tki_drop_indices(tki_checker *c, int *count, const int **indices, int drop_count, const int *drop);

/* -- check_values.c ---------------------------------------------------------------------------------------------------- */

tki_value tki_check_value(tki_checker *c, const tki_syntax *value);
int tki_value_node(tki_checker *c, const tki_syntax *at, tki_value value); /* as a real number */
int tki_value_integer_node(tki_checker *c, const tki_syntax *at, tki_value value);
/* Of a line, where it may be argmax, argmin or topk; an integer is one of type TKI_INTEGER. */
int tki_check_line_value(tki_checker *c, const tki_syntax *value);
int tki_make_choice(tki_checker *c, const tki_syntax *at, tki_condition condition, int yes, int no);

/* -- check_axes.c: which indices there are, and over what they range ----------------------------------------------------- */

/* Binds the names of the list, whose ranges follow from these values; opens a level, which tki_close_scope() closes. */
void tki_open_scope(tki_checker *c, const tki_syntax *binders, const tki_syntax *values, const tki_syntax *tests);
void tki_bind(tki_checker *c, const tki_syntax *at, const char *name, int extent, bool written);
void tki_close_scope(tki_checker *c, int scope_count);
int tki_scope_find(const tki_checker *c, const char *name); /* in scopes[]; TKI_NONE */
/* The name of a tensor's axis. */
const char *tki_axis_name(const tki_checker *c, int tensor, int axis);
/* A list of binders: the axes of a line without any, in the order in which they occur. */
const tki_syntax *tki_own_axes(tki_checker *c, const tki_syntax *value);
