/* The volume of a scan file; what it leaves open comes from the field of view. */
#include "scan/scan_parts.h"

#include <math.h>

static const char *const volume_keys[] = {"size", "voxel_mm", "centre_mm"};

/* What the file gives; n_size, n_voxel, n_centre are 0 where it gives nothing. */
struct wanted {
    double size[3], voxel[3], centre[3];
    size_t n_size, n_voxel, n_centre;
};

static fbp_status one_or_three(const struct fbp_json *o, const char *key,
                               const struct fbp_range *range, double out[3], size_t *n)
{
    FBP_TRY(fbp_json_numbers(o, key, range, 1, 3, out, n));
    if (*n == 2)
        return fbp_json_wrong(o, key, "one number, or three for x, y, z");
    if (*n == 1)
        out[1] = out[2] = out[0];
    return FBP_OK;
}

/* Size alone and voxel alone keep the extent. */
static fbp_status complete(const struct fbp_scan_file *f, const struct wanted *w,
                           struct fbp_grid *g)
{
    for (int i = 0; i < 3; i++) {
        const double extent = (double)g->n[i] * g->voxel_mm[i];
        double n = w->n_size ? w->size[i] : (double)g->n[i];
        if (w->n_voxel)
            g->voxel_mm[i] = w->voxel[i];
        if (w->n_size && !w->n_voxel)
            g->voxel_mm[i] = extent / n;
        if (w->n_voxel && !w->n_size)
            n = fmax(1, ceil(extent / g->voxel_mm[i] - 1e-9));
        if (!(n <= FBP_SIDE_MAX))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: volume.voxel_mm: %g mm voxels make %g of them along %c: give "
                            "larger ones, or a size",
                            f->top.file, g->voxel_mm[i], n, "xyz"[i]);
        g->n[i] = (size_t)n;
    }
    return FBP_OK;
}

fbp_status fbp_scan_read_volume(const struct fbp_scan_file *f)
{
    struct fbp_scan *scan = f->scan;
    struct wanted w = {0};
    struct fbp_json o;

    FBP_TRY(fbp_json_child(&f->top, "volume", "volume.", volume_keys, 3, &o));
    FBP_TRY(one_or_three(&o, "size", &fbp_range_side, w.size, &w.n_size));
    FBP_TRY(one_or_three(&o, "voxel_mm", &fbp_range_pitch, w.voxel, &w.n_voxel));
    FBP_TRY(fbp_json_numbers(&o, "centre_mm", &fbp_range_place, 3, 3, w.centre, &w.n_centre));
    const bool eprit = fbp_scan_is_eprit(f);
    if (w.n_size + w.n_voxel + w.n_centre == 0 && !eprit)
        return FBP_OK;
    if (w.n_size == 1 && scan->panel.n_rows == 1 && !fbp_scan_has_planes(scan))
        w.size[2] = 1; /* one row sees one slice */
    FBP_TRY(fbp_grid_default(fbp_scan_views(scan), &scan->volume));
    FBP_TRY(complete(f, &w, &scan->volume));
    for (int i = 0; i < 3; i++)
        if (w.n_centre || (w.n_size && w.n_voxel))
            scan->volume.centre_mm[i] = w.centre[i];
    for (int i = 0; i < 3 && eprit && !w.n_centre; i++) /* voxel m at (m + 1 - N/2) d */
        scan->volume.centre_mm[i] = scan->volume.voxel_mm[i] / 2;
    return FBP_OK;
}
