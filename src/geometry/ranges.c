/* Checks that the numbers of a scan (fbp_check_scan()), a panel or a volume (fbp_check_grid()) lie
 * within the ranges of the public header fbp/ranges.h.
 * Used by: bench/, cli/, array/, phantom/, pipeline/, scan/. */
#include "geometry/ranges.h"

#include "base/threads.h"
#include "geometry/kind.h"

#include <stdio.h>

fbp_status fbp_check_panel(const char *prefix, const struct fbp_panel *panel)
{
    char name[80];

    snprintf(name, sizeof name, "%s.panel.n_columns", prefix);
    FBP_TRY(fbp_check_range(&fbp_range_side, name, (double)panel->n_columns));
    snprintf(name, sizeof name, "%s.panel.n_rows", prefix);
    return fbp_check_range(&fbp_range_side, name, (double)panel->n_rows);
}

fbp_status fbp_check_grid(const struct fbp_grid *g)
{
    double voxels = 1;
    char name[40];

    for (int i = 0; i < 3; i++) {
        if ((double)g->n[i] > FBP_SIDE_MAX)
            return FBP_INVALID(
                "volume: more than %g voxels along %c, of %g mm; give larger voxels, "
                "or a smaller size",
                FBP_SIDE_MAX, "xyz"[i], g -> voxel_mm[i]);
        snprintf(name, sizeof name, "volume.n[%d]", i);
        FBP_TRY(fbp_check_range(&fbp_range_side, name, (double)g->n[i]));
        snprintf(name, sizeof name, "volume.voxel_mm[%d]", i);
        FBP_TRY(fbp_check_range(&fbp_range_pitch, name, g->voxel_mm[i]));
        snprintf(name, sizeof name, "volume.centre_mm[%d]", i);
        FBP_TRY(fbp_check_range(&fbp_range_position, name, g->centre_mm[i]));
        voxels *= (double)g->n[i];
    }
    if (voxels > FBP_SAMPLES_MAX)
        return FBP_INVALID(
            "volume: %zu x %zu x %zu voxels are more than %g; choose a smaller volume", g->n[0],
            g->n[1], g->n[2], FBP_SAMPLES_MAX);
    return FBP_OK;
}

size_t fbp_voxels_along(double extent_mm, double voxel_mm)
{
    return (size_t)fmin(fmax(1, ceil(extent_mm / voxel_mm - 1e-9)), FBP_SIDE_MAX + 1);
}

fbp_status fbp_check_wanted(const struct fbp_grid *g)
{
    struct fbp_grid whole = *g;

    for (int i = 0; i < 3; i++) {
        if (g->n[0] == 0)
            whole.n[i] = 1;
        if (g->voxel_mm[0] == 0)
            whole.voxel_mm[i] = 1;
    }
    return fbp_check_grid(&whole);
}

fbp_status fbp_check_raw(const struct fbp_raw *raw)
{
    static const char *const names[] = {"raw.n[0]", "raw.n[1]", "raw.n[2]"};

    FBP_TRY(fbp_check_choice("raw.type", (long)raw->type, FBP_F64));
    for (int i = 0; i < 3; i++)
        FBP_TRY(fbp_check_optional(&fbp_range_side, names[i], (double)raw->n[i]));
    return fbp_check_range(&fbp_range_header, "raw.header_bytes", (double)raw->header_bytes);
}

fbp_status fbp_check_scan(const struct fbp_scan *scan)
{
    char name[40];

    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    const struct fbp_kind_table *kind = fbp_kind_of(scan->kind);
    const bool planes = kind->integral == FBP_OVER_PLANES;
    FBP_TRY(fbp_check_choice("scan.row_order", (long)scan->row_order, FBP_ROWS_TOP_DOWN));
    FBP_TRY(fbp_check_choice("scan.quadrature", (long)scan->quadrature, FBP_QUADRATURE_GIVEN));
    if (scan->reference && !planes)
        return FBP_INVALID(
            "scan.reference: scans of kind %s have no spectra; set scan.reference to NULL",
            kind->name);
    if ((scan->quadrature != FBP_QUADRATURE_AUTO || scan->plane_weights) && !planes)
        return FBP_INVALID(
            "scan.quadrature: scans of kind %s have no directions with solid angles; "
            "set scan.quadrature to 0",
            kind->name);
    if ((scan->quadrature == FBP_QUADRATURE_GIVEN) != (scan->plane_weights != NULL))
        return FBP_INVALID("scan.plane_weights: must be given if scan.quadrature is "
                           "FBP_QUADRATURE_GIVEN, and only then");
    FBP_TRY(
        fbp_check_choice("scan.angular_weights", (long)scan->angular_weights, FBP_ANGULAR_EQUAL));

    FBP_TRY(fbp_check_range(&fbp_range_views, "scan.n_views", (double)scan->n_views));
    FBP_TRY(fbp_check_panel("scan", &scan->panel));
    if ((double)scan->n_views * (double)scan->panel.n_columns * (double)scan->panel.n_rows >
        FBP_SAMPLES_MAX)
        return FBP_INVALID(
            "scan: %zu views of %zu x %zu pixels are more than %g samples, the limit; "
            "give fewer views or pixels",
            scan->n_views, scan->panel.n_columns, scan->panel.n_rows, FBP_SAMPLES_MAX);
    FBP_TRY(fbp_check_raw(&scan->raw));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "scan.every", (double)scan->every));
    FBP_TRY(fbp_check_optional(&fbp_range_side, "scan.bin", (double)scan->bin));
    if (scan->every || scan->bin || scan->selected)
        FBP_TRY(fbp_check_range(&fbp_range_views, "scan.stored_views", (double)scan->stored_views));
    for (size_t k = 0; scan->selected && k < scan->n_views; k++)
        if (scan->selected[k] >= scan->stored_views ||
            (k > 0 && scan->selected[k] <= scan->selected[k - 1]))
            return FBP_INVALID(
                "scan.selected[%zu]: found %zu, expected ascending numbers below %zu "
                "(stored_views)",
                k, scan->selected[k], scan->stored_views);
    if (scan->every || scan->bin) {
        FBP_TRY(fbp_check_panel("scan.stored", &scan->stored));
    }
    FBP_TRY(fbp_check_optional(&fbp_range_i0, "scan.i0", scan->i0));

    if (!scan->views)
        return FBP_INVALID("scan.views: found NULL, expected %zu views", scan->n_views);
    for (size_t k = 0; k < scan->n_views; k++) {
        FBP_TRY(fbp_check_view(kind, &scan->views[k], k));
        FBP_TRY(fbp_check_cancelled());
        snprintf(name, sizeof name, "scan.depths[%zu]", k);
        if (scan->depths && scan->filtered)
            FBP_TRY(fbp_check_range(&fbp_range_depth, name, scan->depths[k]));
    }
    return scan->volume.n[0] ? fbp_check_grid(&scan->volume) : FBP_OK;
}
