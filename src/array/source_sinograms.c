/* A source of views [view][row][column] that reads an array of sinograms [row][view][column]:
 * fbp_source_transpose().
 * Used by: scan/file/scan.c, scan/folder/folder_guess.c. */
#include "array/array.h"
#include "base/base.h"

#include <string.h>

enum { AT_ONCE = 64 }; /* views of a sinogram that are read together */

static fbp_status read_sinograms(fbp_source *src, size_t view0, size_t n_views, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    const size_t row = src->info.n[0] * (as_float ? sizeof(float) : fbp_type_size(src->info.type));
    fbp_status st = FBP_OK;
    char *lines = NULL, *to = out;

    FBP_TRY(fbp_alloc((void **)&lines, AT_ONCE * row, "a part of a sinogram"));
    for (size_t k = 0, n; k < n_views; k += n) {
        n = n_views - k < AT_ONCE ? n_views - k : AT_ONCE;
        for (size_t r = 0; r < n_rows; r++) {
            FBP_TRY_GOTO(
                (as_float ? fbp_source_read(src->below, row0 + r, 1, view0 + k, n, FBP_F32, lines)
                          : fbp_source_read_as_is(src->below, row0 + r, 1, view0 + k, n, lines)));
            for (size_t i = 0; i < n; i++)
                memcpy(to + ((k + i) * n_rows + r) * row, lines + i * row, row);
        }
    }
fail:
    fbp_free(lines);
    return st;
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    (void)what;
    src->read_block = read_sinograms;
    src->info = below->info;
    src->info.n[1] = below->info.n[2];
    src->info.n[2] = below->info.n[1];
    src->unpacks = true;
    src->held_bytes = below->held_bytes;
    src->reader_bytes = below->reader_bytes + AT_ONCE * src->info.n[0] * sizeof(double);
    return fbp_source_wrap_set_up(src, below);
}

fbp_status fbp_source_transpose(fbp_source **views)
{
    if (fbp_source_in_order(*views) || (*views)->unpacks)
        FBP_TRY(fbp_source_hold(views, *views, true));
    return fbp_source_wrap(views, set_up, NULL, *views, true);
}
