/* What a certificate says in several places has to agree: edits of a kernel's certificate, whose hash is put right. Those of given outputs
 * are in test_given.c, those of verdicts and figures in test_replay.c. */
#include <stdlib.h>
#include <string.h>

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
        {"coverage", "reason", "all lines ran", "its coverage is not"},
        {"built", "artifact", "other.so", "its artifact is other.so"},
        {"evidence", NULL, "It was proved.", "its evidence are not what"},
        {"non_claims", NULL, "Nothing else.", "its non_claims are not what"},
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
        tk_certificate *edited = parse_sealed(ctx, statement);
        assert_refused(ctx, tk_certificate_agrees(ctx, edited), TK_BAD_FILE, edits[i].says);
        tk_certificate_destroy(edited);
        json_decref(statement);
    }
    tk_certificate_destroy(certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits_of_what_follows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
