/* What a certificate says in several places has to agree: edits of a kernel's certificate, whose hash is put right. Those of given outputs
 * are in test_given.c, those of verdicts and figures in test_replay.c. */
#include <stdlib.h>
#include <string.h>

#include "certify/members.h"
#include "tests/certificate_test.h"

/* Of a lowering: what follows from other members, or belongs to another kind of subject. */
TEST_WITH_CONTEXT(edits_of_what_follows)
{
    static const struct {
        const char *in, *name, *value; /* of the predicate; in "": of itself */
        const char *says;
    } edits[] = {
        {"", "worker", "shut in", "worker does not belong to a certificate of kind lowering"},
        {"", "approved_by", "somebody", "approved_by does not belong"},
        {"run", "program", "./kernels", "run.program does not belong"},
        {"built", "log", "all is well", "built.log does not belong"},
        {"coverage", "reason", "all lines ran", "its coverage does not fit"},
        {"built", "artifact", "other.so", "its artifact is other.so"},
        {"evidence", NULL, "It was proved.", "its `evidence` does not follow"},
        {"non_claims", NULL, "Nothing else.", "its `non_claims` does not follow"},
    };
    tk_certificate *certificate = small_certificate(ctx);
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate), *predicate = predicate_of(statement);
        json_t *place = edits[i].in[0] ? json_object_get(predicate, edits[i].in) : predicate;
        if (edits[i].name)
            json_object_set_new(place, edits[i].name, json_string(edits[i].value));
        else
            json_array_append_new(place, json_string(edits[i].value));
        tk_certificate *edited = unread(statement);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* Every object has the members of the table, those that are always there, and no others. */
TEST_WITH_CONTEXT(members_at_any_depth)
{
    static const struct {
        const char *path, *value; /* NULL: it is dropped */
        const char *says;
    } edits[] = {
        {"run.trials.0.note", "1", "run.trials.note does not belong to a certificate of kind lowering"},
        {"run.trials.0.found_by", "\"coverage\"", "run.trials.found_by does not belong"},
        {"clauses.1.note", "1", "clauses.note does not belong"},
        {"result.accepted.note", "1", "result.accepted.note does not belong"},
        {"result.ulp_histogram.3.note", "1", "result.ulp_histogram.note does not belong"},
        {"run.domain", "\"normal\"", "run.domain does not belong"},
        {"result.kernel_seconds", NULL, "result.kernel_seconds is missing from a certificate of kind lowering"},
        {"run.seed", NULL, "run.seed is missing"},
        {"clauses.1.checks", NULL, "clauses"},
        {"machine.units", NULL, "machine.units is missing"},
        {"coverage", NULL, "coverage is missing"},
    };
    tk_certificate *certificate = small_certificate(ctx);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *statement = statement_of(certificate);
        char path[64];
        snprintf(path, sizeof path, "%s", edits[i].path);
        char *dot = strrchr(path, '.');
        if (edits[i].value) {
            set_member(predicate_of(statement), path, edits[i].value);
        } else {
            if (dot)
                *dot = 0;
            json_object_del(dot ? member(predicate_of(statement), path) : predicate_of(statement),
                            dot ? dot + 1 : path);
        }
        tk_certificate *edited = unread(statement);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

/* What is shown, or named in a difference, has a title; no member is there twice; objects that types name have members. */
TEST(the_table_is_whole)
{
    for (const tki_member *m = tki_members; m->name; m++) {
        char in[64];
        const bool is_object = strstr(m->type, "object") != NULL;
        assert_int_equal(m->title != NULL, m->page != TKI_PAGE_NONE || m->how & TKI_DIFFED);
        assert_true(m->says[0] && m->says[strlen(m->says) - 1] == '.');
        assert_true(!(m->how & TKI_OUTCOME) || !strcmp(m->in, "trial"));
        tki_member_object(m, in, sizeof in);
        if (is_object && !in[0])
            fail_msg("%s.%s has no members", m->in, m->name);
        for (const tki_member *other = tki_members; other < m; other++)
            if (!strcmp(other->in, m->in) && !strcmp(other->name, m->name))
                fail_msg("%s.%s is there twice", m->in, m->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits_of_what_follows),
                                       cmocka_unit_test(members_at_any_depth), cmocka_unit_test(the_table_is_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
