/* DECIDES. Rows of logits: their tables, and their exponentials in intervals. */
#include "exact/exp_row.h"

tk_status tki_exp_row_open(tk_dtype dtype, void **tables)
{
    if (tki_is_tabled(dtype))
        return tki_exp_table_open(dtype, tables);
    const tki_exp_pieces *pieces;
    tk_status status = tki_exp_pieces_open(&pieces);
    *tables = (void *)(uintptr_t)pieces;
    return status;
}

void tki_exp_row_enclose(tki_interval *result, const tki_exp_row *row, int64_t j)
{
    tki_exp_difference_enclose(result, tki_exp_row_value(row, j), row->max);
}
