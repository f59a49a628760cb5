/* What a geometry file may leave open: panel, pitch, number of views. */
#include "scan/file/geometry_format.h"

#include "base/base.h"
#include "geometry/ranges.h"

fbp_status fbp_geometry_need_panel(const char *path, const struct fbp_geometry_known *known,
                                   struct fbp_panel *out)
{
    if (known->panel.n_columns == 0 || known->panel.n_rows == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: does not say how many pixels the detector has: give --detector CxR "
                        "(in a scan file the projections say it)",
                        path);
    *out = known->panel;
    return FBP_OK;
}

fbp_status fbp_geometry_need_pitch(const char *path, const struct fbp_geometry_known *known,
                                   double out[2])
{
    if (!(known->pitch_mm[0] > 0 && known->pitch_mm[1] > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: does not say how far apart pixels are: give --pitch U,V in mm (in a "
                        "scan file: detector.pitch_mm)",
                        path);
    out[0] = known->pitch_mm[0];
    out[1] = known->pitch_mm[1];
    return FBP_OK;
}

fbp_status fbp_geometry_make_views(struct fbp_scan *out, const char *path,
                                   const struct fbp_geometry_known *known, size_t n)
{
    if ((double)n > FBP_VIEWS_MAX)
        return fbp_because(path, fbp_check_range(&fbp_range_views, "views", (double)n));
    if (n == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: holds no views: is it the right file?", path);
    if (known->n_views && n != known->n_views)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has %zu views, the projections have %zu: they do not belong together",
                        path, n, known->n_views);
    out->n_views = n;
    return fbp_calloc((void **)&out->views, n, sizeof *out->views, "views");
}
