/* DECIDES. Clauses that follow from sizes and tensors. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/case.h"
#include "model/contract_parts.h"
#include "model/made_op.h"

static const struct {
    tk_clause_kind kind;
    const char *ending; /* of the id, behind the op's name */
} usual[] = {{TK_CLAUSE_WRITE, ".WRITE"},
             {TK_CLAUSE_SHAPE, ".SHAPE"},
             {TK_CLAUSE_REPEAT, ".REPEAT"},
             {TK_CLAUSE_INDEX, ".INDEX"},
             {TK_CLAUSE_IN_PLACE, ".INPLACE"}};

static bool follows(const tk_contract *c, tk_clause_kind kind)
{
    bool in_place = false;
    for (int i = 0; i < c->param_count; i++)
        in_place |= c->params[i].output && c->params[i].may_alias >= 0;
    return kind == TK_CLAUSE_IN_PLACE ? in_place : kind != TK_CLAUSE_INDEX || tki_index_param(c) >= 0;
}

static bool lists(const tk_contract *c, tk_clause_kind kind)
{
    for (int i = 0; i < c->clause_count; i++)
        if (c->clauses[i].kind == kind)
            return true;
    return false;
}

/* Words one behind the other: "a", "a and b", "a, b and c". */
typedef struct words {
    char text[TKI_WORDS_ROOM];
    int left; /* that are to come */
} words;

static void add_word(words *w, const char *word)
{
    const size_t length = strlen(w->text);
    snprintf(w->text + length, sizeof w->text - length, "%s%s", word,
             --w->left == 0 ? ""
             : w->left == 1 ? " and "
                            : ", ");
}

/* The names that its text needs: outputs; sizes that do not follow from others; outputs that may share a buffer, each with that. */
static void usual_words(const tk_contract *c, tk_clause_kind kind, words *w)
{
    *w = (words){.left = 0};
    for (int pass = 0; pass < 2; pass++) /* how many there are, and then what they are */
        for (int i = 0; i < (kind == TK_CLAUSE_SHAPE ? c->dim_count : c->param_count); i++) {
            const tk_param *p = kind == TK_CLAUSE_SHAPE ? NULL : &c->params[i];
            char text[2 * TKI_MOST_NAME + 32] = "";
            if (!p && !(c->derived && c->derived[i]))
                snprintf(text, sizeof text, "%s", c->dim_names[i]);
            else if (p && p->output && kind == TK_CLAUSE_WRITE)
                snprintf(text, sizeof text, "%s", p->name);
            else if (p && p->output && kind == TK_CLAUSE_IN_PLACE && p->may_alias >= 0)
                snprintf(text, sizeof text, TKI_IN_PLACE_TEXT("%s", "%s"), p->name, c->params[p->may_alias].name);
            if (text[0] && pass == 0)
                w->left++;
            else if (text[0])
                add_word(w, text);
        }
}

static void usual_id(const tk_contract *c, const char *ending, char *id, size_t size)
{
    snprintf(id, size, "%s%s", c->name, ending);
    for (; *id; id++)
        *id = (char)toupper((unsigned char)*id);
}

static void usual_text(const tk_contract *c, tk_clause_kind kind, char *text, size_t size)
{
    const int index = tki_index_param(c);
    words w;
    usual_words(c, kind, &w);
    switch (kind) {
    case TK_CLAUSE_WRITE: snprintf(text, size, TKI_WRITE_TEXT("%s", TKI_INPUTS_STAY), w.text); break;
    case TK_CLAUSE_SHAPE: snprintf(text, size, TKI_SHAPE_TEXT("%s"), w.text); break;
    case TK_CLAUSE_REPEAT: snprintf(text, size, TKI_REPEAT_TEXT); break;
    case TK_CLAUSE_IN_PLACE: snprintf(text, size, "%s", w.text); break;
    default:
        snprintf(text, size, "%s",
                 c->params[index].rule == TK_INDICES_ENDS
                     ? TKI_INDEX_TEXT("an end beyond what there is, or less than the one before it,")
                     : TKI_INDEX_TEXT("an index out of its range"));
    }
}

bool tki_clauses_of(const tk_contract *c, tki_clauses *all)
{
    all->count = c->clause_count;
    memcpy(all->list, c->clauses, (size_t)c->clause_count * sizeof *all->list);
    char *room = all->room;
    for (size_t u = 0; u < sizeof usual / sizeof *usual; u++) {
        const tk_clause_kind kind = usual[u].kind;
        if (!follows(c, kind))
            continue;
        if (!lists(c, kind) && all->count == TK_MAX_CLAUSES)
            return false;
        if (!lists(c, kind))
            all->list[all->count++] = (tk_clause){.kind = kind};
        const char *id = room;
        usual_id(c, usual[u].ending, room, TKI_ID_ROOM);
        const char *text = room += strlen(room) + 1;
        usual_text(c, kind, room, TKI_WORDS_ROOM + TKI_TEXT_ROOM);
        room += strlen(room) + 1;
        for (int i = 0; i < all->count; i++)
            if (all->list[i].kind == kind) {
                all->list[i].id = all->list[i].id ? all->list[i].id : id;
                all->list[i].text = all->list[i].text ? all->list[i].text : text;
            }
    }
    return true;
}

static const char *wrong_kinds(const tk_contract *c)
{
    for (int i = 0; i < c->clause_count; i++) {
        const tk_clause *clause = &c->clauses[i];
        const bool usual_kind = clause->kind >= TK_CLAUSE_WRITE;
        if ((unsigned)clause->kind > TK_CLAUSE_INDEX || (clause->id ? !clause->id[0] : !usual_kind) ||
            (!clause->text && !usual_kind))
            return "a clause has no valid kind, no id or no text";
    }
    if (!lists(c, TK_CLAUSE_VALUE) && !lists(c, TK_CLAUSE_ERROR))
        return "it has no clause of kind TK_CLAUSE_VALUE or TK_CLAUSE_ERROR";
    if (lists(c, TK_CLAUSE_INDEX) && !follows(c, TK_CLAUSE_INDEX))
        return "it has a clause of kind TK_CLAUSE_INDEX and no input of indices";
    return lists(c, TK_CLAUSE_IN_PLACE) && !follows(c, TK_CLAUSE_IN_PLACE)
               ? "it has a clause of kind TK_CLAUSE_IN_PLACE and no output with may_alias"
               : NULL;
}

/* Whatever a kernel can do wrong fails some clause: a failure without one could not be told from success. */
const char *tki_wrong_clauses(const tk_contract *c)
{
    if (c->clause_count < 1 || c->clause_count > TK_MAX_CLAUSES || !c->clauses)
        return "clause_count is out of range, or `clauses` is NULL";
    const char *wrong = wrong_kinds(c);
    if (wrong)
        return wrong;
    tki_clauses all;
    if (!tki_clauses_of(c, &all))
        return "with those that are added, it has too many clauses";
    for (int i = 0; i < all.count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(all.list[i].id, all.list[k].id))
                return i < c->clause_count ? "two clauses have the same id"
                                           : "a clause has the id of a clause of another kind that is added";
    return NULL;
}
