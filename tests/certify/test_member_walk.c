/* Certificates are written along the table of members: what a kind of subject does not have is left out, and what is missing, or in no row, is
 * found before anything is written. */
#include <stdlib.h>
#include <string.h>

#include "certify/member_walk.h"
#include "tests/certificate_test.h"

static json_t *predicate_of_one(tk_ctx *ctx)
{
    tk_certificate *certificate = small_certificate(ctx);
    json_t *statement = statement_of(certificate), *predicate = json_incref(predicate_of(statement));
    json_decref(statement);
    tk_certificate_destroy(certificate);
    return predicate;
}

/* Values for the members of all kinds, of which each kind takes its own. */
TEST_WITH_CONTEXT(a_kind_takes_its_members)
{
    static const struct {
        const char *object, *name;
        bool of_lowering, of_kernel, of_given;
    } rows[] = {
        {"run", "seed", true, true, false},    {"run", "refusals", true, false, false},
        {"run", "kernel", false, true, false}, {"run", "given", false, false, true},
        {"run", "op", true, true, true},       {"built", "log", false, true, false},
    };
    json_t *values = predicate_of_one(ctx);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!json_object_get(json_object_get(values, rows[i].object), rows[i].name))
            json_object_set_new(json_object_get(values, rows[i].object), rows[i].name, json_object());
    json_t *lowering = tki_members_of_kind("lowering", values), *kernel = tki_members_of_kind("kernel", values),
           *given = tki_members_of_kind("given", values);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *object = rows[i].object, *name = rows[i].name;
        assert_int_equal(json_object_get(json_object_get(lowering, object), name) != NULL, rows[i].of_lowering);
        assert_int_equal(json_object_get(json_object_get(kernel, object), name) != NULL, rows[i].of_kernel);
        assert_int_equal(json_object_get(json_object_get(given, object), name) != NULL, rows[i].of_given);
    }
    assert_null(json_object_get(json_array_get(json_object_get(json_object_get(given, "run"), "trials"), 0), "seed"));
    json_decref(lowering);
    json_decref(kernel);
    json_decref(given);
    json_decref(values);
}

/* Every member of a certificate, one after the other: dropped, it is missing if the table says that it is always there, and else it is not;
 * a further one beside it is in no row. */
static void drop_each(json_t *whole, json_t *object, const char *in, int *always, int *further)
{
    char what[256], of[128];
    for (const tki_member *m = tki_members; m->name; m++) {
        json_t *value = strcmp(m->in, in) != 0 ? NULL : json_object_get(object, m->name);
        if (!value)
            continue;
        json_incref(value);
        json_object_del(object, m->name);
        const bool is_always = m->how & (TKI_SINCE_1 | TKI_SINCE_2);
        *always += is_always;
        assert_int_equal(tki_members_are_missing("lowering", whole, what, sizeof what), is_always);
        if (is_always)
            assert_non_null(strstr(what, m->name));
        json_object_set_new(object, m->name, value);
        tki_member_object(m, of, sizeof of);
        if (of[0] && m->type[0] != '{' && json_is_object(value))
            drop_each(whole, value, of, always, further);
    }
    json_object_set_new(object, "further", json_true());
    json_t *written = tki_members_of_kind("lowering", whole);
    assert_true(tki_members_are_missing("lowering", written, what, sizeof what));
    assert_non_null(strstr(what, "further does not belong to a certificate of kind lowering"));
    json_decref(written);
    json_object_del(object, "further");
    (*further)++;
}

TEST_WITH_CONTEXT(what_is_missing_is_found)
{
    int always = 0, further = 0;
    char what[256];
    json_t *predicate = predicate_of_one(ctx), *written = tki_members_of_kind("lowering", predicate);
    assert_true(json_equal(predicate, written));
    assert_false(tki_members_are_missing("lowering", written, what, sizeof what));
    drop_each(predicate, predicate, "", &always, &further);
    assert_true(always > 50 && further > 8);
    json_decref(written);
    json_decref(predicate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kind_takes_its_members),
                                       cmocka_unit_test(what_is_missing_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
