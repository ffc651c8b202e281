/* SHOWS. tokitai diff-ckpt: two checkpoints, tensor by tensor, in ulps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shards.h"

typedef struct arguments {
    cli_words checkpoints;
    int64_t within;
    bool json, all;
} arguments;

static const cli_option option_list[] = {
    CLI_ROW(CLI_INT64, "within", "ULPS", within, "Differences of up to this many ulps count as none"),
    CLI_ROW(CLI_FLAG, "all", NULL, all, "List equal tensors too"),
    CLI_JSON,
    {0},
};

typedef struct listing {
    const arguments *a;
    json_t *list; /* of --json */
    cli_table table;
    bool has_head;
    size_t tensors, different;
} listing;

static bool is_different(const arguments *a, const tki_difference *d)
{
    return d->problem || d->nans || (d->differing && (d->worst_ulps > (uint64_t)a->within || a->within == 0));
}

static json_t *index_json(const int64_t *index, int rank)
{
    json_t *list = json_array();
    for (int i = 0; i < rank; i++)
        json_array_append_new(list, json_integer(index[i]));
    return list;
}

static void add_json(listing *l, const tki_difference *d)
{
    json_t *entry = json_pack("{s:o, s:s, s:I, s:b}", "tensor", cli_json_text(d->tensor), "dtype", d->dtype,
                              "elements", (json_int_t)d->elements, "different", is_different(l->a, d));
    if (d->problem) {
        json_object_set_new(entry, "problem", json_string(d->problem));
    } else {
        json_object_set_new(entry, "differing", json_integer(d->differing));
        json_object_set_new(entry, "nans", json_integer(d->nans));
        json_object_set_new(entry, "worst_ulps",
                            d->worst_ulps > INT64_MAX ? json_real((double)d->worst_ulps)
                                                      : json_integer((json_int_t)d->worst_ulps));
    }
    if (d->differing) {
        json_object_set_new(entry, "first", index_json(d->first, d->rank));
        json_object_set_new(entry, "worst", index_json(d->worst, d->rank));
        json_object_set_new(entry, "values", json_pack("[s, s]", d->texts[0], d->texts[1]));
    }
    json_array_append_new(l->list, entry);
}

static void put_place(const tki_difference *d, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < d->rank && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%lld", i ? ", " : "", (long long)d->worst[i]);
    if (at < size)
        snprintf(text + at, size - at, "]: %s, %s", d->texts[0], d->texts[1]);
}

static void add_row(listing *l, const tki_difference *d)
{
    char elements[32], differing[32] = "-", ulps[32] = "-", place[512] = "";
    if (!l->has_head)
        cli_table_head(&l->table);
    l->has_head = true;
    cli_format_count(d->elements, elements, sizeof elements);
    if (!d->problem)
        cli_format_count(d->differing, differing, sizeof differing);
    if (!d->problem)
        snprintf(ulps, sizeof ulps, "%llu", (unsigned long long)d->worst_ulps);
    if (d->differing)
        put_place(d, place, sizeof place);
    if (d->nans)
        snprintf(ulps, sizeof ulps, "NaN");
    const bool wrong = is_different(l->a, d);
    const cli_cell cells[] = {
        {d->dtype, CLI_PLAIN},  {elements, CLI_PLAIN},
        {differing, CLI_PLAIN}, {ulps, wrong ? CLI_WRONG : CLI_PLAIN},
        {d->tensor, CLI_PLAIN}, {d->problem ? d->problem : place, CLI_PLAIN},
    };
    cli_table_row(&l->table, cells);
}

static void take_difference(const tki_difference *d, void *data)
{
    listing *l = data;
    l->tensors++;
    l->different += is_different(l->a, d);
    if (!l->a->all && !d->problem && d->differing == 0)
        return;
    if (l->list)
        add_json(l, d);
    else
        add_row(l, d);
}

static cli_exit finish(listing *l)
{
    const cli_exit result = l->different ? CLI_REFUTED : CLI_HOLDS;
    if (l->list)
        return cli_worse(result, cli_print_json(json_pack("{s:I, s:I, s:o}", "tensors", (json_int_t)l->tensors,
                                                          "different", (json_int_t)l->different, "list", l->list)));
    printf("%zu of %zu tensors differ\n", l->different, l->tensors);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    cli_parse(&cli_diff_ckpt, argc, argv, &a);
    tk_ctx *ctx = cli_open(argv[0]);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_watch_shards();
    cli_progress progress = cli_progress_begin(1);
    tki_checkpoint *checkpoints[2] = {NULL, NULL};
    listing l = {.a = &a, .list = a.json ? json_array() : NULL};
    l.table = cli_table_of("DTYPE=11|#ELEMENTS=15|#DIFFER=15|#WORST ULP=10|TENSOR=30|WORST AT: A, B");
    tk_status status = TK_OK;
    for (int i = 0; i < 2 && status == TK_OK; i++)
        status = tki_checkpoint_open(ctx, &a.checkpoints.list[i], 1, NULL, 0, &checkpoints[i]);
    if (status == TK_OK)
        status = tki_checkpoint_diff(ctx, checkpoints[0], checkpoints[1], take_difference, &l, cli_progress_update,
                                     &progress);
    cli_progress_clear(&progress);
    cli_exit result = cli_exit_with(argv[0], ctx, status);
    if (status == TK_OK)
        result = finish(&l);
    else
        json_decref(l.list);
    for (int i = 0; i < 2; i++)
        tki_checkpoint_close(checkpoints[i]);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_diff_ckpt = {
    .name = "diff-ckpt",
    .summary = "compare two checkpoints tensor by tensor, in ulps",
    .arguments = "SHARD SHARD",
    .words = offsetof(arguments, checkpoints),
    .options = option_list,
    .run = run,
    .doc = "Compares two checkpoints tensor by tensor: how many elements differ in their bits, and by how many ulps "
           "at most. A checkpoint is a safetensors file, an index or a manifest, or a directory of shards; the two "
           "may be cut differently."
           "\vExit status: 0 no difference, or none beyond --within; 1 there is one; 2 wrong usage, or a checkpoint "
           "that cannot be read or does not glue.",
};
