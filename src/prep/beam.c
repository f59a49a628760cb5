/* Views of a beam that changes during the scan: a source that wraps the stored views and scales the
 * intensities of each view to the beam of the first flat or of the first i0.
 * Used by: analysis/sinogram.c, pipeline/plan.c, pipeline/plan_output.c. */
#include "prep/prep.h"

#include "array/array.h"
#include "array/file/format.h"
#include "base/cache.h"
#include "scan/file/scan.h"

#include <math.h>

struct fbp_beam {
    size_t n_columns, n_views;
    double i0;           /* intensity without an object of a scan without flats */
    const double *i0s;   /* [n_views] such intensities of all views; NULL: i0, or flats */
    const double *doses; /* [n_views] factors of flat or i0; NULL: 1 */
    /* Images in the row order of the views; `after`: flat after the scan; NULL: none. */
    double *dark, *flat, *after;
    size_t n_pixels;
};

fbp_status fbp_beam_create(struct fbp_beam **out, const struct fbp_scan *scan, char **missing)
{
    const size_t n_views = scan->stored_views ? scan->stored_views : scan->n_views;
    struct fbp_reduction r;
    struct fbp_beam *b = NULL;
    struct fbp_scan last = *scan; /* the scan with the flat after the scan */
    fbp_status st;

    *out = NULL;
    if (!scan->i0s && !scan->doses && !scan->flat_after)
        return FBP_OK;
    if (!fbp_scan_is_intensity(scan) || (scan->i0s && fbp_scan_has_image(scan, FBP_IMAGE_FLAT)) ||
        (scan->flat_after && !scan->flat))
        return FBP_INVALID("%s: %s; correct the scan file", scan->path ? scan->path : "scan",
                           scan->i0s ? "i0 per view excludes a flat, for which \"dose\" is meant"
                           : scan->flat_after ? "the flat before the scan is missing"
                                              : "dose needs a flat or i0");
    fbp_reduction_of(scan, &r);
    FBP_TRY(fbp_calloc((void **)&b, 1, sizeof *b, "a beam"));
    *b = (struct fbp_beam){.n_columns = r.stored.n_columns,
                           .n_views = n_views,
                           .i0 = scan->i0,
                           .i0s = scan->i0s,
                           .doses = scan->doses,
                           .n_pixels = r.stored.n_columns * r.stored.n_rows};
    last.flat = scan->flat_after;
    last.images = NULL;
    FBP_TRY_GOTO(fbp_prep_image(&b->dark, scan, FBP_IMAGE_DARK, &r.stored, false, missing));
    free(*missing);
    *missing = NULL;
    FBP_TRY_GOTO(fbp_prep_image(&b->flat, scan, FBP_IMAGE_FLAT, &r.stored, false, missing));
    free(*missing);
    *missing = NULL;
    FBP_TRY_GOTO(fbp_prep_image(&b->after, &last, FBP_IMAGE_FLAT, &r.stored, false, missing));
    *out = b;
    return FBP_OK;
fail:
    fbp_beam_free(b);
    return st;
}

void fbp_beam_free(struct fbp_beam *b)
{
    if (!b)
        return;
    fbp_free(b->dark);
    fbp_free(b->flat);
    fbp_free(b->after);
    free(b);
}

uint64_t fbp_beam_hash(uint64_t h, const struct fbp_beam *b)
{
    if (b && b->i0s)
        h = fbp_hash(h, b->i0s, b->n_views * sizeof *b->i0s);
    if (b && b->doses)
        h = fbp_hash(h + 1, b->doses, b->n_views * sizeof *b->doses);
    if (b && b->after)
        h = fbp_hash(h + 2, b->after, b->n_pixels * sizeof *b->after);
    return h;
}

/* Scale n samples of a view, of pixels from `pixel` on.  A sample becomes NaN, which is
 * interpolated later, if the beam of its view is not above the dark. */
static void scale(const struct fbp_beam *b, size_t view, size_t pixel, size_t n, float *x)
{
    const double dose = b->doses ? b->doses[view] : 1;
    const double late = b->n_views > 1 ? (double)view / (double)(b->n_views - 1) : 0;

    for (size_t i = 0; i < n; i++, pixel++) {
        const double dark = b->dark ? b->dark[pixel] : 0;
        const double first = (b->flat ? b->flat[pixel] : b->i0) - dark;
        double now = b->i0s ? b->i0s[view] - dark : first;
        if (b->after)
            now += late * (b->after[pixel] - b->flat[pixel]);
        now *= dose;
        if (first > 0)
            x[i] = now > 0 ? (float)(dark + ((double)x[i] - dark) * (first / now)) : NAN;
    }
}

static fbp_status read_steady(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, bool as_float, void *out)
{
    const struct fbp_beam *b = src->state;
    const size_t n = n_rows * b->n_columns;
    float *to = out;

    (void)as_float; /* the samples are floats */
    FBP_TRY(fbp_source_read(src->below, slice0, n_slices, row0, n_rows, FBP_F32, to));
    for (size_t k = 0; k < n_slices; k++)
        scale(b, slice0 + k, row0 * b->n_columns, n, to + k * n);
    return FBP_OK;
}

/* Set up a source of scaled views; what: a struct fbp_beam, which outlives the source. */
static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    src->state = (void *)(uintptr_t)what;
    src->read_block = read_steady;
    fbp_source_like(src, below);
    src->in_order = fbp_source_in_order(below);
    src->unpacks = true;
    src->held_bytes = below->held_bytes;
    src->reader_bytes = below->reader_bytes;
    return fbp_source_wrap_set_up(src, below);
}

fbp_status fbp_source_steady(fbp_source **out, fbp_source *below, const struct fbp_beam *beam)
{
    *out = NULL;
    if (fbp_source_grows(below))
        return FBP_UNSUPPORTED("%s: a beam that changes (lists of i0, doses, two flats) needs the "
                               "complete scan; omit --follow",
                               below->path);
    return fbp_source_wrap(out, set_up, beam, below, false);
}
