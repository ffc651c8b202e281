/* SHOWS. The table of the four programs. */
#include "serve/program.h"

#include <string.h>

static const tki_serve_program programs[] = {
    {.name = "gelu-bwd",
     .header_count = 1,
     .headers = {"N"},
     .selector = -1,
     .bad_selector = 3,
     .bad_size = 3,
     .dims = {0},
     .mode_count = 1,
     .modes = {{"gelu_bwd", "", 2, {{"grad_output", 0, 4}, {"input", 1, 5}}, 2}},
     .separator = ' ',
     .field_count = 7,
     .fields = {{"DEVICE_NAME", TKI_SERVE_DEVICE_NAME, 0},
                {"GFX", TKI_SERVE_GFX, 0},
                {"N", TKI_SERVE_HEADER, 0},
                {"GRID", TKI_SERVE_GRID, 0},
                {"BLOCK", TKI_SERVE_BLOCK, 0},
                {"KERNEL_TIME_MS", TKI_SERVE_MILLISECONDS, 0},
                {"RESULTS", TKI_SERVE_ELEMENTS, 0}}},
    {.name = "softmax",
     .header_count = 3,
     .headers = {"MODE", "ROWS", "COLS"},
     .selector = 0,
     .first_mode = 0,
     .bad_selector = 3,
     .bad_size = 4,
     .dims = {1, 2},
     .mode_count = 2,
     .modes = {{"softmax_fwd", "softmax_fwd", 1, {{"input", 0, 5}}, 1},
               {"softmax_bwd", "grad_loss_wrt_logits", 2, {{"grad_output", 0, 6}, {"softmax_output", 1, 7}}, 2}},
     .separator = ',',
     .field_count = 9,
     .fields = {{"BACKEND", TKI_SERVE_LABEL, 0},
                {"DEVICE_NAME", TKI_SERVE_DEVICE_NAME, 0},
                {"GFX", TKI_SERVE_GFX, 0},
                {"N_ROWS", TKI_SERVE_HEADER, 1},
                {"N_COLS", TKI_SERVE_HEADER, 2},
                {"GRID", TKI_SERVE_GRID, 0},
                {"BLOCK", TKI_SERVE_BLOCK, 0},
                {"KERNEL_TIME_MS", TKI_SERVE_MILLISECONDS, 0},
                {"OUTPUT", TKI_SERVE_ELEMENTS, 0}}},
    {.name = "gemm-bw",
     .header_count = 4,
     .headers = {"ID", "M", "N", "K"},
     .selector = 0,
     .first_mode = 1,
     .bad_selector = 3,
     .bad_size = 4,
     .dims = {1, 2, 3},
     .mode_count = 2,
     .modes = {{"gemm_grad_a", "", 2, {{"grad_C", 0, 7}, {"B", 1, 8}}, 2},
               {"gemm_grad_b", "", 2, {{"grad_C", 0, 7}, {"A", 1, 9}}, 2}},
     .separator = ' ',
     .field_count = 12,
     .fields = {{"DEVICE_NAME", TKI_SERVE_DEVICE_NAME, 0},
                {"GFX", TKI_SERVE_GFX, 0},
                {"KERNEL_ID", TKI_SERVE_HEADER, 0},
                {"M", TKI_SERVE_HEADER, 1},
                {"N", TKI_SERVE_HEADER, 2},
                {"K", TKI_SERVE_HEADER, 3},
                {"GRID_X", TKI_SERVE_GRID_X, 0},
                {"GRID_Y", TKI_SERVE_GRID_Y, 0},
                {"BLOCK_X", TKI_SERVE_BLOCK, 0},
                {"BLOCK_Y", TKI_SERVE_BLOCK_Y, 0},
                {"KERNEL_TIME_MS", TKI_SERVE_MILLISECONDS, 0},
                {"RESULTS", TKI_SERVE_ELEMENTS, 0}}},
    {.name = "embedding",
     .header_count = 4,
     .headers = {"QUERIES", "DIM", "VOCAB", "OP"},
     .selector = 3,
     .first_mode = 0,
     .bad_selector = 4,
     .bad_size = 3,
     .dims = {0, 1, 2},
     .mode_count = 2,
     .modes = {{"embedding_fwd", "forward", 2, {{"index", 0, 5}, {"weight", 1, 6}}, 2},
               {"embedding_bwd", "backward", 2, {{"index", 1, 5}, {"grad_output", 0, 6}}, 2}},
     .separator = ' ',
     .field_count = 11,
     .fields = {{"DEVICE_NAME", TKI_SERVE_DEVICE_NAME, 0},
                {"GFX", TKI_SERVE_GFX, 0},
                {"OP", TKI_SERVE_LABEL, 0},
                {"N_QUERIES", TKI_SERVE_HEADER, 0},
                {"EMBEDDING_DIM", TKI_SERVE_HEADER, 1},
                {"VOCAB_SIZE", TKI_SERVE_HEADER, 2},
                {"GRID_X", TKI_SERVE_GRID_X, 0},
                {"GRID_Y", TKI_SERVE_GRID_Y, 0},
                {"BLOCK", TKI_SERVE_BLOCK, 0},
                {"KERNEL_TIME_MS", TKI_SERVE_MILLISECONDS, 0},
                {"OUTPUT", TKI_SERVE_ELEMENTS, 0}}},
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

const tki_serve_program *tki_serve_program_at(int i)
{
    return i >= 0 && i < PROGRAMS ? &programs[i] : NULL;
}

const tki_serve_program *tki_serve_program_find(const char *name)
{
    for (int i = 0; i < PROGRAMS; i++)
        if (!strcmp(name, programs[i].name))
            return &programs[i];
    return NULL;
}
