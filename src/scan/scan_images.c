/* Pictures of a scan from memory. */
#include "scan/file/images.h"
#include "scan/reduce.h"

#include "array/array.h"
#include "base/base.h"
#include "geometry/kind.h"

#include <stdlib.h>

static fbp_status check_size(const struct fbp_panel *panel, const struct fbp_array_info *info,
                             enum fbp_image which)
{
    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows && info->n[2] > 0)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: has %zu columns and %zu rows, the views %zu and %zu: give the picture "
                    "that belongs to this scan",
                    fbp_image_name(which), info->n[0], info->n[1], panel->n_columns, panel->n_rows);
}

static fbp_status read_image(double **out, const struct fbp_panel *panel, enum fbp_image which,
                             fbp_source *source)
{
    const size_t bytes = panel->n_columns * panel->n_rows * sizeof **out;
    fbp_status st;

    *out = NULL;
    if (!source)
        return FBP_OK;
    FBP_TRY(check_size(panel, fbp_source_info(source), which));
    FBP_TRY(fbp_alloc((void **)out, bytes, "an image"));
    st = fbp_source_mean(source, *out);
    if (st != FBP_OK) {
        fbp_free(*out);
        *out = NULL;
    }
    return st;
}

/* `pixels`, which may be NULL, becomes the scan's, whatever comes of it. */
static fbp_status take_image(struct fbp_scan *scan, const struct fbp_panel *panel,
                             enum fbp_image which, double *pixels)
{
    char **const files[FBP_IMAGES] = {&scan->dark, &scan->flat, &scan->bad_pixels};

    if (!scan->images && pixels) {
        const fbp_status st = fbp_calloc((void **)&scan->images, 1, sizeof *scan->images, "images");
        if (st != FBP_OK) {
            fbp_free(pixels);
            return st;
        }
        scan->images->panel = *panel;
    }
    free(*files[which]);
    *files[which] = NULL;
    if (scan->images) {
        fbp_free(scan->images->pixels[which]);
        scan->images->pixels[which] = pixels;
    }
    return FBP_OK;
}

fbp_status fbp_scan_use_image(struct fbp_scan *given, enum fbp_image which, fbp_source *source)
{
    struct fbp_scan own, *const scan = &own;
    struct fbp_reduction r;
    double *pixels;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    FBP_TRY(fbp_check_choice("which", which, FBP_IMAGE_LAST));
    fbp_reduction_of(scan, &r);
    FBP_TRY(read_image(&pixels, &r.stored, which, source));
    const fbp_status st = take_image(scan, &r.stored, which, pixels);
    FBP_GIVE(scan, given, scan);
    return st;
}
