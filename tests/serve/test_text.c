/* The text protocol of the kernel programs: every exit status, strictness, and every value there and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/service.h"
#include "tests/unit_test.h"

enum { LIMIT = 1 << 20, VALUES = 1 << 16 };

typedef struct fixture {
    tk_ctx *ctx;
    tki_service *service;
    char *request;
    const char *reply;
    size_t reply_length;
} fixture;

static void open_program(fixture *f, const char *name, size_t limit)
{
    *f = (fixture){0};
    assert_int_equal(tk_ctx_create(&f->ctx), TK_OK);
    assert_int_equal(tki_service_open(f->ctx, tki_serve_program_find(name), "cpu", limit, &f->service), TK_OK);
}

static void close_program(fixture *f)
{
    tki_service_close(f->service);
    tk_ctx_destroy(f->ctx);
    free(f->request);
}

/* The request in a block of its own with the slack that is asked for and nothing more, for the sanitizers. */
static int ask(fixture *f, const char *text, size_t length)
{
    free(f->request);
    f->request = calloc(length + TKI_TEXT_SLACK, 1);
    assert_non_null(f->request);
    memcpy(f->request, text, length);
    return tki_service_text(f->service, f->request, length, &f->reply, &f->reply_length);
}

typedef struct example {
    const char *program, *request;
    int status;
    const char *says; /* in the reply */
} example;

static const example examples[] = {
    /* gelu-bwd */
    {"gelu-bwd", "1 15360 0", 0, "\nN=1\nGRID=1\nBLOCK="},
    {"gelu-bwd", "2\r\n15360\t15360\f0\v0\n\n", 0, "\nRESULTS=14336 14336\n"},
    {"gelu-bwd", "", 2, "header: N is missing"},
    {"gelu-bwd", " \n", 2, "header: N is missing"},
    {"gelu-bwd", "x 1 2", 2, "N: 'x' is not a 64-bit integer"},
    {"gelu-bwd", "+1 1 2", 2, "N: '+1'"},
    {"gelu-bwd", "1.0 1 2", 2, "N: '1.0'"},
    {"gelu-bwd", "0x1 1 2", 2, "N: '0x1'"},
    {"gelu-bwd", "9223372036854775808 1 2", 2, "N: '9223372036854775808'"},
    {"gelu-bwd", "99999999999999999999999999999999999999999999 1", 2, "N: '99999999999999999999999999999999...'"},
    {"gelu-bwd", "- 1 2", 2, "N: '-'"},
    {"gelu-bwd", "0", 3, "N is 0; it must be positive"},
    {"gelu-bwd", "-9223372036854775808", 3, "N is -9223372036854775808"},
    {"gelu-bwd", "2 1", 4, "grad_output[1] is missing; expected 2"},
    {"gelu-bwd", "2 1 -2 3 4", 4, "grad_output[1]: '-2' is not an integer from 0 to 65535"},
    {"gelu-bwd", "9223372036854775807 1 2 3", 4, "grad_output[3] is missing"},
    {"gelu-bwd", "4611686018427387904 1 2 3", 4, "grad_output[3] is missing"},
    {"gelu-bwd", "2 1 2 3", 5, "input[1] is missing"},
    {"gelu-bwd", "2 1 2 3 65536", 5, "input[1]: '65536'"},
    {"gelu-bwd", "2 1 2 3 65536 ", 5, "input[1]: '65536'"},
    {"gelu-bwd", "2 1 2 3 18446744073709551617", 5, "input[1]: '18446744073709551617'"},
    {"gelu-bwd", "2 1 2 3 1e3", 5, "input[1]: '1e3'"},
    {"gelu-bwd", "2 1 2 3 4\x80 ", 5, "input[1]: '4\\x80'"},
    {"gelu-bwd", "2 1 2 3 4 5", 5, "unexpected '5' after input[1], the last element"},
    {"gelu-bwd", "2 1 2 3 4 rubbish", 5, "unexpected 'rubbish' after input[1]"},
    {"gelu-bwd", "2 1 2 3 000000000000000000004", 0, "RESULTS="},
    /* softmax */
    {"softmax", "0 1 2 0 0", 0, "BACKEND=softmax_fwd\nDEVICE_NAME="},
    {"softmax", "0 1 2 0 0", 0, "\nOUTPUT=14336,14336\n"},
    {"softmax", "1 1 2 0 0 14336 14336", 0, "BACKEND=grad_loss_wrt_logits\n"},
    {"softmax", "0 1", 2, "COLS is missing"},
    {"softmax", "2 1 1 0", 3, "MODE is 2; it must be 0 to 1"},
    {"softmax", "-1 0 0", 3, "MODE is -1"},
    {"softmax", "0 0 1 0", 4, "ROWS is 0"},
    {"softmax", "1 1 -1 0", 4, "COLS is -1"},
    {"softmax", "0 4294967296 4294967296 1", 5, "input[1] is missing"},
    {"softmax", "0 2 2 1 2 3", 5, "input[3] is missing"},
    {"softmax", "0 2 2 1 2 3 4 5", 5, "unexpected '5' after input[3]"},
    {"softmax", "1 2 2 1 2 3", 6, "grad_output[3] is missing"},
    {"softmax", "1 1 2 1 2 3", 7, "softmax_output[1] is missing"},
    {"softmax", "1 1 2 1 2 3 4 ,", 7, "unexpected ',' after softmax_output[1]"},
    /* gemm-bw */
    {"gemm-bw", "1 1 1 1 15360 16384", 0, "KERNEL_ID=1\nM=1\nN=1\nK=1\nGRID_X=1\nGRID_Y=1\nBLOCK_X="},
    {"gemm-bw", "2 1 1 1 15360 16384", 0, "\nRESULTS=16384\n"},
    {"gemm-bw", "1 1 1", 2, "K is missing"},
    {"gemm-bw", "0 1 1 1 1 1", 3, "ID is 0; it must be 1 to 2"},
    {"gemm-bw", "3 0 1 1 1 1", 3, "ID is 3"},
    {"gemm-bw", "1 1 0 1 1 1", 4, "N is 0"},
    {"gemm-bw", "1 2 2 1 1 2 3", 7, "grad_C[3] is missing"},
    {"gemm-bw", "1 1 2 1 1 2 3", 8, "B[1] is missing"},
    {"gemm-bw", "1 1 2 1 1 2 3 4 5", 8, "unexpected '5' after B[1]"},
    {"gemm-bw", "2 2 1 1 1 2 3", 9, "A[1] is missing"},
    {"gemm-bw", "1 1000 1 9000000000000000000 1", 7, "grad_C[1] is missing"},
    /* embedding */
    {"embedding", "1 2 2 0 1 1 2 3 4", 0, "OP=forward\nN_QUERIES=1\nEMBEDDING_DIM=2\nVOCAB_SIZE=2\nGRID_X="},
    {"embedding", "1 2 2 0 1 1 2 3 4", 0, "\nOUTPUT=3 4\n"},
    {"embedding", "1 2 2 1 0 1 2", 0, "OP=backward\n"},
    {"embedding", "1 2 2 1 0 1 2", 0, "\nOUTPUT=1 2 0 0\n"},
    {"embedding", "1 2 2", 2, "OP is missing"},
    {"embedding", "1 0 2 7", 3, "DIM is 0"},
    {"embedding", "1 2 2 2 0 1 2", 4, "OP is 2; it must be 0 to 1"},
    {"embedding", "2 1 1 0 0", 5, "index[1] is missing"},
    {"embedding", "1 1 1 0 2147483648 1", 5, "index[0]: '2147483648' is not a 32-bit integer"},
    {"embedding", "1 1 1 0 -2147483649 1", 5, "index[0]: '-2147483649'"},
    {"embedding", "1 1 2 0 0 1", 6, "weight[1] is missing"},
    {"embedding", "1 1 1 1 0 1 x", 6, "unexpected 'x' after grad_output[0]"},
    {"embedding", "2 1 1 0 0 1 1", 11, "index[1] = 1 is outside [0, 1)"},
    {"embedding", "1 1 1 0 -2147483648 1", 11, "index[0] = -2147483648"},
    {"embedding", "1 1 9223372036854775807 1 0 1", 10, "the limit of 1048576 bytes"},
    {"embedding", "1 1 524289 1 0 1", 10, "the limit of 1048576 bytes"},
};

TEST(every_status)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        fixture f;
        const example *e = &examples[i];
        open_program(&f, e->program, LIMIT);
        int status = ask(&f, e->request, strlen(e->request));
        if (status != e->status || !memmem(f.reply, f.reply_length, e->says, strlen(e->says)))
            fail_msg("%s '%s': status %d, not %d: %.*s", e->program, e->request, status, e->status,
                     (int)f.reply_length, f.reply);
        close_program(&f);
    }
}

TEST(nul_bytes)
{
    static const char after[] = "1 1 2\0", inside[] = "1 1\0 2", before[] = "\0001 1 2";
    fixture f;
    open_program(&f, "gelu-bwd", LIMIT);
    assert_int_equal(ask(&f, after, sizeof after - 1), 5);
    assert_int_equal(ask(&f, inside, sizeof inside - 1), 4);
    assert_int_equal(ask(&f, before, sizeof before - 1), 2);
    assert_int_equal(ask(&f, "1 1 2", 5), 0);
    close_program(&f);
}

/* embedding's forward pass is a copy: what goes in as text comes out as text. One query for each row of one element. */
TEST(every_value_there_and_back)
{
    fixture f;
    size_t size = VALUES * 14 + 64, length = 0, data;
    char *text = malloc(size);
    assert_non_null(text);
    open_program(&f, "embedding", LIMIT);
    length += (size_t)snprintf(text, size, "%d 1 %d 0", VALUES, VALUES);
    for (int i = 0; i < VALUES; i++)
        length += (size_t)snprintf(text + length, size - length, " %d", i);
    data = length + 1;
    for (int i = 0; i < VALUES; i++)
        length += (size_t)snprintf(text + length, size - length, " %d", (i * 20503 + 7) % VALUES);
    assert_int_equal(ask(&f, text, length), 0);
    const char *values = memmem(f.reply, f.reply_length, "\nOUTPUT=", 8);
    assert_non_null(values);
    values += 8;
    assert_int_equal(f.reply_length - (size_t)(values - f.reply), length - data + 1);
    assert_memory_equal(values, text + data, length - data);
    assert_int_equal(values[length - data], '\n');
    close_program(&f);
    free(text);
}

/* Wherever a good request is cut, it is refused with the status of what is missing, and what follows is served. */
TEST(cut_anywhere)
{
    static const char whole[] = "1 2 3 2  10 20 30 40 50 60  70 80 90 100 110 12";
    fixture f;
    open_program(&f, "gemm-bw", LIMIT);
    for (size_t length = 0; length < sizeof whole - 2; length++) {
        int status = ask(&f, whole, length);
        assert_int_equal(status, length < 7 ? 2 : length < 25 ? 7 : 8);
        assert_int_equal(f.reply[f.reply_length - 1], '\n');
    }
    assert_int_equal(ask(&f, whole, sizeof whole - 1), 0);
    close_program(&f);
}

/* The output fits in the limit, its text does not. */
TEST(long_replies)
{
    fixture f;
    open_program(&f, "embedding", 700);
    assert_int_equal(ask(&f, "1 1 300 1 0 65000", 17), 10);
    assert_non_null(strstr(tk_ctx_message(f.ctx), "the reply has"));
    assert_int_equal(ask(&f, "1 1 30 1 0 65000", 16), 0);
    close_program(&f);
}

TEST(programs)
{
    assert_null(tki_serve_program_find("gelu"));
    assert_null(tki_serve_program_at(-1));
    assert_null(tki_serve_program_at(4));
    for (int i = 0; tki_serve_program_at(i); i++) {
        const tki_serve_program *program = tki_serve_program_at(i);
        assert_ptr_equal(tki_serve_program_find(program->name), program);
        for (int m = 0; m < program->mode_count; m++) {
            const tk_contract *contract = tk_contract_find(program->modes[m].op);
            assert_non_null(contract);
            assert_int_equal(program->modes[m].array_count + 1, contract->param_count);
            for (int p = 0; p < contract->param_count; p++)
                assert_int_equal(contract->params[p].output, p == program->modes[m].output);
        }
    }
}

TEST(no_device)
{
    tk_ctx *ctx;
    tki_service *service;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_int_equal(tki_service_open(ctx, tki_serve_program_at(0), "abacus", LIMIT, &service), TK_BAD_ARGUMENT);
    assert_null(service);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status), cmocka_unit_test(nul_bytes),    cmocka_unit_test(every_value_there_and_back),
        cmocka_unit_test(cut_anywhere), cmocka_unit_test(long_replies), cmocka_unit_test(programs),
        cmocka_unit_test(no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
