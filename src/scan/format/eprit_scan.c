/* Whole scans of plane integrals in MAT files of EPR laboratories, prj*.mat: P [samples x delays x
 * projections], real or complex, their axis B [samples], gradient vectors G [projections x 3] in
 * gauss a cm. */
#include "array/format/mat/mat5.h"
#include "scan/file/geometry_format.h"
#include "scan/format/eprit.h"

#include "array/array.h"
#include "base/base.h"
#include "base/text.h"
#include "base/math.h"
#include "geometry/ranges.h"
#include "scan/file/preparation.h"
#include "scan/file/scan_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a file holds; b and g: free(). */
struct found {
    size_t n_samples, n_delays, n_views, n_b, n_g;
    double *b, *g;       /* g by columns */
    char unit[8];        /* of B; "" if the file does not state it */
    double volume[3][3]; /* sizes, voxels, centre; sizes 0: not stated */
};

static void clear(struct found *f)
{
    free(f->b);
    free(f->g);
}

/* Does a file have P, B and G? */
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
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s is complex: save its real part", path, name);
    if (st == FBP_OK)
        st = fbp_mat_numbers(path, name, a, out, n);
    for (size_t i = 0; st == FBP_OK && i < *n; i++)
        if (!isfinite((*out)[i]))
            st = fbp_fail(FBP_ERR_INVALID, "%s: %s: number %zu is not finite: correct it", path,
                          name, i);
    fbp_mat_free(a);
    return st;
}

/* What this program has written beside them. */
static fbp_status read_more(const char *path, struct fbp_mat *mat, struct found *f)
{
    static const char *const names[] = {EPRIT_SIZE, EPRIT_VOXEL, EPRIT_CENTRE};
    bool found = true;

    FBP_TRY(fbp_mat_text(mat, EPRIT_UNIT, f->unit, sizeof f->unit));
    for (int i = 0; i < 3 && found; i++)
        FBP_TRY(fbp_mat_doubles(mat, names[i], f->volume[i], 3, &found));
    if (!found)
        memset(f->volume, 0, sizeof f->volume);
    if (!f->unit[0] || strcmp(f->unit, EPRIT_MHZ) == 0)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: %s is \"%s\": B is read in %s: convert it", path,
                    EPRIT_UNIT, f->unit, EPRIT_MHZ);
}

static fbp_status find_scan(const char *path, struct found *f)
{
    struct fbp_mat *mat;
    fbp_status st;

    FBP_TRY(fbp_mat_open(path, &mat));
    if (!has_arrays(mat, f))
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID,
                              "%s: has no arrays P [samples x delays x projections], B and G "
                              "[projections x 3]: name its arrays in a scan file (docs/epr.md)",
                              path));
    FBP_TRY_GOTO(read_more(path, mat, f));
    FBP_TRY_GOTO(read_list(path, mat, "B", &f->b, &f->n_b));
    st = read_list(path, mat, "G", &f->g, &f->n_g);
fail:
    fbp_mat_close(mat);
    return st;
}

static fbp_status check_sizes(const char *path, const struct found *f)
{
    if (f->n_b != f->n_samples)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: B has %zu numbers, but P %zu samples: they do not belong together",
                        path, f->n_b, f->n_samples);
    if (f->n_g != 3 * f->n_views)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: G has %zu gradients, but P %zu projections: they do not belong "
                        "together",
                        path, f->n_g / 3, f->n_views);
    if (f->n_delays == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: P has no delays: it is empty", path);
    return FBP_OK;
}

/* B is of frequencies; of times (us) where rows are to be transformed. */
static fbp_status read_axis(const struct fbp_scan *out, const char *path, const double *b, size_t n,
                            struct fbp_axis *axis)
{
    FBP_TRY(fbp_preparation_places(path, "B", out->preparation, b, n, axis));
    return out->preparation ? fbp_preparation_axis(path, out->preparation, axis) : FBP_OK;
}

/* Frequency divided by the gradient is position. */
static fbp_status make_views(struct fbp_scan *out, const char *path, const struct found *f,
                             const struct fbp_axis *axis)
{
    const double *g = f->g;
    const double sign = axis->step > 0 ? 1 : -1;

    for (size_t k = 0; k < f->n_views; k++) {
        double n[3] = {sign * g[k], sign * g[f->n_views + k], sign * g[2 * f->n_views + k]};
        const double length = fbp_normalise(n);
        if (!(length > 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: G: gradient %zu is 0, which has no direction: leave that "
                            "projection out",
                            path, k);
        const double mm = sign * 10 / (FBP_MHZ_PER_GAUSS * length);
        fbp_plane_view(n, mm * axis->step, mm * axis->first, axis->n, &out->views[k]);
    }
    return FBP_OK;
}

/* The volume, if one is said that can be. */
static void take_volume(struct fbp_scan *out, const struct found *f)
{
    struct fbp_grid grid = {.n = {0}};

    for (int i = 0; i < 3; i++) {
        const double n = f->volume[0][i];
        if (!(n >= 1 && n <= FBP_SIDE_MAX))
            return;
        grid.n[i] = (size_t)n;
        grid.voxel_mm[i] = f->volume[1][i];
        grid.centre_mm[i] = f->volume[2][i];
    }
    if (fbp_check_grid(&grid) == FBP_OK)
        out->volume = grid;
    else
        fbp_message_clear();
}

static fbp_status note(struct fbp_scan *out, const char *path, const char *unit)
{
    if (unit[0] && out->preparation && out->preparation->fft)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: B is in %s: rows are spectra, which take no FFT: leave it out", path,
                        unit);
    if (unit[0])
        return FBP_OK;
    if (out->preparation && out->preparation->fft)
        return fbp_scan_assume(out, path, "dwell_us", "B in us", "rows are taken for time traces");
    return fbp_scan_assume(out, path, "spacing_mm", "B in MHz",
                           "programs of laboratories write MHz where their documents say cm");
}

static fbp_status take(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known, const struct found *f)
{
    struct fbp_axis axis;

    FBP_TRY(check_sizes(path, f));
    FBP_TRY(fbp_preparation_copy(&out->preparation, known->preparation));
    if (out->preparation)
        out->preparation->n_samples = f->n_samples;
    FBP_TRY(read_axis(out, path, f->b, f->n_b, &axis));
    FBP_TRY(fbp_geometry_make_views(out, path, known, f->n_views));
    out->kind = FBP_PLANES;
    out->panel = (struct fbp_panel){axis.n, f->n_delays};
    FBP_TRY(make_views(out, path, f, &axis));
    out->projections = fbp_format("%s:P?spectra", path);
    if (!out->projections)
        return fbp_fail_nomem(strlen(path), "a path");
    take_volume(out, f);
    return note(out, path, f->unit);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct found f = {0};
    fbp_status st = find_scan(path, &f);

    if (st == FBP_OK)
        st = take(out, path, known, &f);
    clear(&f);
    return st;
}

/* Other programs store geometries in MAT files, too: only the arrays show whose it is. */
static fbp_status look_inside(const char *path, const unsigned char *head, size_t n, bool *is)
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
    .look = look_inside,
    .load = load,
};
