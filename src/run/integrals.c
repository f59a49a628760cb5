#include "run/integrals.h"

#include "array/array.h"

#include <string.h>

void fbp_integrals_facts(fbp_source *src, const fbp_source *below)
{
    src->info = below->info;
    src->info.type = FBP_F32;
    src->info.scale = src->info.offset = 0;
    src->info.big_endian = false;
}

void fbp_turn_rows(float *rows, size_t n_rows, size_t n)
{
    for (size_t i = 0; i < n_rows / 2; i++) {
        float *a = rows + i * n, *b = rows + (n_rows - 1 - i) * n;
        for (size_t c = 0; c < n; c++) {
            const float x = a[c];
            a[c] = b[c];
            b[c] = x;
        }
    }
}

/* Detector rows [row0, row0 + n) of a view as floats, upwards. */
static fbp_status read_upwards(const struct fbp_ahead *a, fbp_source *below, size_t view,
                               size_t row0, size_t n, float *out)
{
    const size_t nr = a->scan.panel.n_rows, first = a->top_down ? nr - row0 - n : row0;

    FBP_TRY(fbp_source_read(below, view, 1, first, n, out));
    if (a->top_down)
        fbp_turn_rows(out, n, a->scan.panel.n_columns);
    return FBP_OK;
}

fbp_status fbp_integrals_read(const struct fbp_ahead *a, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts)
{
    const size_t nc = a->scan.panel.n_columns, nr = a->scan.panel.n_rows;
    const size_t margin = a->prep.margin_rows, from = row0 > margin ? row0 - margin : 0;
    const size_t end = nr - row0 - n > margin ? row0 + n + margin : nr;
    struct fbp_prep_counts others = {0};

    if (end - from == n)
        work = out;
    FBP_TRY(read_upwards(a, below, view, from, end - from, work));
    for (size_t r = from; r < end; r++)
        fbp_prep_row(&a->prep, r, work + (r - from) * nc,
                     r >= row0 && r < row0 + n ? counts : &others);
    if (a->prep.n_bridges)
        fbp_prep_bridge(&a->prep, from, row0, row0 + n, work);
    if (work != out)
        memcpy(out, work + (row0 - from) * nc, n * nc * sizeof *out);
    return FBP_OK;
}

fbp_status fbp_integrals_read_view(const struct fbp_ahead *a, fbp_source *below, size_t view,
                                   float *work, float *out, struct fbp_prep_counts *counts)
{
    const size_t nc = a->scan.panel.n_columns, nr = a->scan.panel.n_rows;

    if (fbp_ahead_from(a) == FBP_FROM_INTEGRALS)
        return fbp_integrals_read(a, below, view, 0, nr, work, out, counts);
    FBP_TRY(read_upwards(a, below, view, 0, nr, out));
    for (size_t r = 0; r < nr; r++)
        fbp_prep_transmissions(&a->prep, r, out + r * nc, counts);
    fbp_prep_bridge_transmissions(&a->prep, out);
    return FBP_OK;
}
