/* Importer (fbp_geometry_eprit) and writer of MAT files of EPR laboratories (prj*.mat) as scans of
 * plane integrals: P [samples x delays x projections], real or complex, their axis B [samples],
 * gradient vectors G [projections x 3] in G/cm; files that fbp wrote also contain the unit of B
 * and the requested volume. The frequency at a position t is 2.8025 MHz/G times gradient times t:
 * one axis B serves all views, and views with closer samples have a stronger gradient.
 * fbp_scan_sink_prj() writes such files (fbp simulate).
 * Used by: cli/cmd_simulate.c, scan/geometry_file.c. */
#include "array/file/bytes.h"
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/format/mat.h"
#include "array/sink.h"
#include "base/math.h"
#include "geometry/ranges.h"

#include <string.h>

static const char unit_name[] = "B_unit", mhz[] = "MHz";
static const char size_name[] = "volume_size", voxel_name[] = "volume_voxel_mm",
                  centre_name[] = "volume_centre_mm";

struct found {
    size_t n_samples, n_delays, n_views;
};

/* True if the file has the arrays P, B and G; *out: sizes of P. */
static bool has_arrays(const struct fbp_mat *mat, struct found *out)
{
    const struct fbp_mat_array *p = fbp_mat_find(mat, "P"), *g = fbp_mat_find(mat, "G");

    if (!p || (p->rank != 2 && p->rank != 3) || !fbp_mat_find(mat, "B") || !g || g->rank != 2 ||
        g->sizes[1] != 3)
        return false;
    *out = (struct found){.n_samples = p->sizes[0],
                          .n_delays = p->rank == 3 ? p->sizes[1] : 1,
                          .n_views = p->sizes[p->rank - 1]};
    return true;
}

static fbp_status read_list(const char *path, struct fbp_mat *mat, const char *name, double **out,
                            size_t *n)
{
    struct fbp_mat_array *a;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_mat_read(mat, name, &a));
    if (a && a->complex)
        st = FBP_INVALID("%s: %s is complex; save its real part", path, name);
    if (st == FBP_OK)
        st = fbp_mat_numbers(path, name, a, out, n);
    for (size_t i = 0; st == FBP_OK && i < *n; i++)
        if (!isfinite((*out)[i]))
            st = FBP_INVALID("%s: %s: number %zu is not finite; correct it", path, name, i);
    fbp_mat_free(a);
    return st;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    const char *const names[] = {size_name, voxel_name, centre_name};
    struct found f;
    double *b = NULL, *g = NULL; /* g by columns */
    double volume[3][3];         /* sizes, voxels, centre */
    char unit[8];                /* unit of B; "": not in the file */
    size_t n_b = 0, n_g = 0;
    bool has_volume = true;
    struct fbp_mat *mat;
    struct fbp_axis axis;
    fbp_status st;

    FBP_TRY(fbp_mat_open(path, &mat));
    if (!has_arrays(mat, &f))
        FBP_TRY_GOTO(
            FBP_INVALID("%s: does not contain the arrays P [samples x delays x projections], B and "
                        "G [projections x 3]; name its arrays in a scan file (docs/epr.md)",
                        path));
    FBP_TRY_GOTO(fbp_mat_text(mat, unit_name, unit, sizeof unit));
    for (int i = 0; i < 3 && has_volume; i++)
        FBP_TRY_GOTO(fbp_mat_doubles(mat, names[i], volume[i], 3, &has_volume));
    if (unit[0] && strcmp(unit, mhz) != 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: %s is \"%s\", but B must be in %s; convert it", path,
                                     unit_name, unit, mhz));
    FBP_TRY_GOTO(read_list(path, mat, "B", &b, &n_b));
    FBP_TRY_GOTO(read_list(path, mat, "G", &g, &n_g));
    if (n_b != f.n_samples)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: B has %zu numbers, but P has %zu samples; save arrays that belong together", path,
            n_b, f.n_samples));
    if (n_g != 3 * f.n_views)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: G has %zu gradients, but P has %zu projections; save arrays that belong together",
            path, n_g / 3, f.n_views));
    if (f.n_delays == 0)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: P is empty, because it has no delays; correct the file", path));

    FBP_TRY_GOTO(fbp_preparation_copy(&out->preparation, known->preparation));
    struct fbp_preparation *p = out->preparation;
    const bool fft = p && p->fft;
    if (p)
        p->n_samples = f.n_samples;
    FBP_TRY_GOTO(fbp_preparation_places(path, "B", p, b, n_b, &axis));
    if (p) /* get the axis of prepared rows; with an FFT, times B [us] become frequencies [MHz] */
        FBP_TRY_GOTO(fbp_preparation_axis(path, p, &axis));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, f.n_views));
    out->kind = FBP_PLANES;
    out->panel = (struct fbp_panel){axis.n, f.n_delays};
    const double sign = axis.step > 0 ? 1 : -1;
    for (size_t k = 0; k < f.n_views; k++) {
        double n[3] = {sign * g[k], sign * g[k + f.n_views], sign * g[k + 2 * f.n_views]};
        const double length = fbp_normalise(n);
        if (!(length > 0))
            FBP_TRY_GOTO(FBP_INVALID(
                "%s: G: gradient %zu is 0, which has no direction; remove this projection", path,
                k));
        const double mm = sign * 10 / (FBP_MHZ_PER_GAUSS * length); /* per MHz */
        fbp_plane_view(n, mm * axis.step, mm * axis.first, axis.n, &out->views[k]);
    }
    FBP_TRY_GOTO(fbp_scan_path(&out->projections, NULL, "%s:P?spectra", path));

    /* take the volume's grid from the file, if it is valid */
    struct fbp_grid grid = {.n = {0}};
    for (int i = 0; i < 3 && has_volume; i++) {
        has_volume = volume[0][i] >= 1 && volume[0][i] <= FBP_SIDE_MAX;
        grid.n[i] = has_volume ? (size_t)volume[0][i] : 0;
        grid.voxel_mm[i] = volume[1][i];
        grid.centre_mm[i] = volume[2][i];
    }
    if (has_volume && fbp_check_grid(&grid) == FBP_OK)
        out->volume = grid;
    else
        fbp_message_clear();

    if (unit[0] && fft)
        st = FBP_INVALID(
            "%s: B is in %s, so the rows are spectra, which need no FFT; omit prepare.fft", path,
            unit);
    else if (fft)
        st = fbp_scan_assume(out, path, "dwell_us", "B in us",
                             "the rows are assumed to be time traces");
    else if (!unit[0])
        st = fbp_scan_assume(
            out, path, "spacing_mm", "B in MHz",
            "laboratory programs write MHz for a value that their documents give in cm");
fail:
    fbp_mat_close(mat);
    free(b);
    free(g);
    return st;
}

/* Other programs also store geometries in MAT files: the arrays P, B and G identify this format. */
static fbp_status probe(const char *path, const unsigned char *head, size_t n, bool *is)
{
    struct fbp_mat *mat;
    struct found f;

    if (!fbp_mat_detect(path, head, n))
        return FBP_OK;
    FBP_TRY(fbp_mat_open(path, &mat));
    *is = has_arrays(mat, &f);
    fbp_mat_close(mat);
    return FBP_OK;
}

const struct fbp_geometry_format fbp_geometry_eprit = {
    .name = "eprit",
    .about = "MAT file of an EPR image: P, B and G",
    .extensions = ".mat",
    .probe = probe,
    .load = load,
};

/* Writing: fbp_scan_sink_prj(). */

struct content {
    const struct fbp_scan *scan;
    double gradient; /* magnitude in the first view [G/cm] */
};

/* Get, for view k, the direction n and the position of the first sample relative to the origin, in
 * units of the distance between samples.  Returns this distance [mm]. */
static double axis_of(const struct fbp_scan *scan, size_t k, double n[3], double *first)
{
    const struct fbp_view *view = &scan->views[k];

    for (int i = 0; i < 3; i++)
        n[i] = view->u[i];
    const double tau = fbp_normalise(n);
    *first = fbp_dot(view->d, n) / tau - ((double)scan->panel.n_columns - 1) / 2;
    return tau;
}

static fbp_status layout(const void *context, const char *path, const struct fbp_array_info *info,
                         struct fbp_layout *out)
{
    const struct content *c = context;
    const struct fbp_scan *scan = c->scan;
    const struct fbp_grid *grid = &scan->volume;
    const size_t n_samples = info->n[0], n_views = info->n[2];
    const size_t sizes[3] = {n_samples, info->n[1], n_views};
    struct fbp_mat_maker m = {0};
    double *b = NULL, n[3], first;
    uint64_t bytes = 0;

    FBP_TRY(fbp_mat_check_size(path, info, "a scan file (.json)", &bytes));
    FBP_TRY(fbp_layout_one(out, path));
    FBP_TRY(fbp_mat_spare_others(path, out->data_path));
    FBP_TRY(fbp_calloc((void **)&b, n_samples + 3 * n_views, sizeof *b, "an axis"));
    const fbp_status st = fbp_mat_begin(&m, n_samples + 3 * n_views);
    if (st != FBP_OK) {
        free(b);
        return st;
    }

    /* B in MHz, then G by columns. */
    double *g = b + n_samples;
    const double tau = axis_of(scan, 0, n, &first);
    const double step = tau / 10 * FBP_MHZ_PER_GAUSS * c->gradient;
    for (size_t i = 0; i < scan->panel.n_columns; i++)
        b[i] = (first + (double)i) * step;
    for (size_t k = 0; k < n_views; k++) {
        const double own = tau / axis_of(scan, k, n, &first) * c->gradient;
        for (size_t i = 0; i < 3; i++)
            g[i * n_views + k] = n[i] * own;
    }
    fbp_mat_put_doubles(&m, "B", b, n_samples, 1);
    fbp_mat_put_text(&m, unit_name, mhz);
    fbp_mat_put_doubles(&m, "G", g, n_views, 3);
    if (grid->n[0] > 0) {
        const double size[3] = {(double)grid->n[0], (double)grid->n[1], (double)grid->n[2]};
        fbp_mat_put_doubles(&m, size_name, size, 1, 3);
        fbp_mat_put_doubles(&m, voxel_name, grid->voxel_mm, 1, 3);
        fbp_mat_put_doubles(&m, centre_name, grid->centre_mm, 1, 3);
    }
    fbp_mat_end(&m, "P", info->type, sizes, 3, bytes, out);
    free(b);
    return FBP_OK;
}

fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path, const struct fbp_scan *given,
                             double gradient, const struct fbp_sink_params *params)
{
    static const struct fbp_sink_format prj = {.extensions = ".mat", .layout_with = layout};
    /* Greatest difference between views in the position of sample 0 that counts as equal, in units
     * of the distance between samples. */
    static const double same = 1e-6;

    FBP_REQUIRE(out, path);
    struct fbp_scan scan;
    struct fbp_sink_params own;
    const struct content content = {&scan, gradient};
    double n[3], first, at;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_COPY_IN(scan, &scan, given));
    if (params)
        FBP_TRY(FBP_COPY_IN(sink_params, &own, params));
    FBP_TRY(fbp_check_kind("scan.kind", scan.kind));
    if (fbp_kind_of(scan.kind)->integral != FBP_OVER_PLANES)
        return FBP_UNSUPPORTED("%s: a MAT file of this format stores plane integrals (kind "
                               "planes), not views of kind %s; write a scan file (.json)",
                               path, fbp_kind_of(scan.kind)->name);
    if (params && own.type != FBP_TYPE_NONE && own.type != FBP_F32 && own.type != FBP_F64)
        return FBP_UNSUPPORTED("%s: type %s is not supported for views; choose float32 or float64",
                               path, fbp_type_name(own.type));
    FBP_TRY(fbp_check_scan(&scan));
    FBP_TRY(fbp_check_range(&fbp_range_gradient, "gradient", gradient));
    (void)axis_of(&scan, 0, n, &first);
    for (size_t k = 1; k < scan.n_views; k++) {
        (void)axis_of(&scan, k, n, &at);
        if (!(fabs(at - first) <= same))
            return FBP_UNSUPPORTED(
                "%s: a MAT file has one axis B for all views, but sample 0 is %.6g samples from "
                "the centre in view %zu, and %.6g in view 0 (the centre is the plane through the "
                "origin); write a scan file (.json)",
                path, at, k, first);
    }
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {scan.panel.n_columns, scan.panel.n_rows, scan.n_views},
    };
    return fbp_sink_open_as(out, path, &info, params ? &own : NULL, &prj, &content);
}
