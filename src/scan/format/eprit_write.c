/* A whole scan of plane integrals as a MAT file of an EPR laboratory.  The frequency at which a
 * place t is found, 2.8025 MHz/G times gradient times t, is the same in all views: those with
 * samples closer together have a stronger gradient. */
#include "array/format/mat/mat_put.h"
#include "array/sink.h"
#include "scan/format/eprit.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "scan/file/preparation.h"

/* Samples of all views are at the same frequencies to this part of their distance. */
static const double SAME = 1e-6;

struct content {
    const struct fbp_scan *scan;
    double gradient; /* of the first view [G/cm] */
};

/* Direction, distance of samples, and the first one in units of that. */
static double axis_of(const struct fbp_scan *scan, size_t k, double n[3], double *first)
{
    const struct fbp_view *view = &scan->views[k];

    for (int i = 0; i < 3; i++)
        n[i] = view->u[i];
    const double tau = fbp_normalise(n);
    *first = fbp_dot(view->d, n) / tau - ((double)scan->panel.n_columns - 1) / 2;
    return tau;
}

static fbp_status check_axes(const struct fbp_scan *scan, const char *path)
{
    double n[3], first, at;

    (void)axis_of(scan, 0, n, &first);
    for (size_t k = 1; k < scan->n_views; k++) {
        (void)axis_of(scan, k, n, &at);
        if (!(fabs(at - first) <= SAME))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: sample 0 is %.6g samples from the middle of the apparatus in view "
                            "%zu, and %.6g in view 0: such a file has one axis B for all views: "
                            "write a scan file (.json)",
                            path, at, k, first);
    }
    return FBP_OK;
}

/* B in MHz, then G by columns. */
static void fill_axes(const struct content *c, double *b, double *g)
{
    const struct fbp_scan *scan = c->scan;
    const size_t n_views = scan->n_views;
    double n[3], first;
    const double tau = axis_of(scan, 0, n, &first);
    const double step = tau / 10 * FBP_MHZ_PER_GAUSS * c->gradient;

    for (size_t i = 0; i < scan->panel.n_columns; i++)
        b[i] = (first + (double)i) * step;
    for (size_t k = 0; k < n_views; k++) {
        const double own = tau / axis_of(scan, k, n, &first) * c->gradient;
        for (size_t i = 0; i < 3; i++)
            g[i * n_views + k] = n[i] * own;
    }
}

static void put_volume(struct fbp_mat_maker *m, const struct fbp_grid *grid)
{
    const double size[3] = {(double)grid->n[0], (double)grid->n[1], (double)grid->n[2]};

    if (grid->n[0] == 0)
        return;
    fbp_mat_put_doubles(m, EPRIT_SIZE, size, 1, 3);
    fbp_mat_put_doubles(m, EPRIT_VOXEL, grid->voxel_mm, 1, 3);
    fbp_mat_put_doubles(m, EPRIT_CENTRE, grid->centre_mm, 1, 3);
}

static fbp_status layout(const void *context, const char *path, const struct fbp_array_info *info,
                         struct fbp_layout *out)
{
    const struct content *c = context;
    const size_t n_samples = info->n[0], n_views = info->n[2];
    const size_t sizes[3] = {n_samples, info->n[1], n_views};
    struct fbp_mat_maker m = {0};
    double *b = NULL;
    uint64_t bytes = 0;

    FBP_TRY(fbp_mat_check_size(path, info, "a scan file (.json)", &bytes));
    FBP_TRY(fbp_layout_one(out, path));
    FBP_TRY(fbp_mat_spare_others(path, out->data_path));
    FBP_TRY(fbp_calloc((void **)&b, n_samples + 3 * n_views, sizeof *b, "an axis"));
    const fbp_status st = fbp_mat_begin(&m, n_samples + 3 * n_views);
    if (st == FBP_OK) {
        fill_axes(c, b, b + n_samples);
        fbp_mat_put_doubles(&m, "B", b, n_samples, 1);
        fbp_mat_put_text(&m, EPRIT_UNIT, EPRIT_MHZ);
        fbp_mat_put_doubles(&m, "G", b + n_samples, n_views, 3);
        put_volume(&m, &c->scan->volume);
        fbp_mat_end(&m, "P", info->type, sizes, 3, bytes, out);
    }
    free(b);
    return st;
}

static const struct fbp_sink_format prj = {.extensions = ".mat", .layout_with = layout};

static fbp_status check(const struct fbp_scan *scan, const char *path, double gradient,
                        const struct fbp_sink_params *params)
{
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (fbp_kind_of(scan->kind)->integral != FBP_OVER_PLANES)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a MAT file of this sort holds plane integrals (kind planes), not "
                        "views of kind %s: write a scan file (.json)",
                        path, fbp_kind_of(scan->kind)->name);
    if (params && params->type != FBP_TYPE_NONE && params->type != FBP_F32 &&
        params->type != FBP_F64)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: views are float32 or float64, not %s", path,
                        fbp_type_name(params->type));
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_check_range(&fbp_range_gradient, "gradient", gradient));
    return check_axes(scan, path);
}

fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path, const struct fbp_scan *given,
                             double gradient, const struct fbp_sink_params *params)
{
    FBP_GIVEN(out, path);
    struct fbp_scan scan;
    struct fbp_sink_params own;
    const struct content content = {&scan, gradient};

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_TAKE(scan, &scan, given));
    if (params)
        FBP_TRY(FBP_TAKE(sink_params, &own, params));
    FBP_TRY(check(&scan, path, gradient, params ? &own : NULL));
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {scan.panel.n_columns, scan.panel.n_rows, scan.n_views},
    };
    return fbp_sink_open_as(out, path, &info, params ? &own : NULL, &prj, &content);
}
