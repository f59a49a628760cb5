/* Whole scans of plane integrals in MAT files of EPR laboratories, prj*.mat: P [samples x delays x
 * projections], real or complex, their axis B [samples], gradient vectors G [projections x 3] in
 * gauss a cm. */
#include "array/format/mat/mat_lib.h"
#include "scan/file/geometry_format.h"
#include "scan/format/eprit.h"

#include "array/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "geometry/ranges.h"
#include "scan/file/preparation.h"
#include "scan/file/scan_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a child finds; B, then G by columns, follow. */
struct found {
    size_t n_samples, n_delays, n_views, n_b, n_g;
    bool complex;
    char unit[8];        /* of B; "" where it is not said */
    double volume[3][3]; /* sizes, voxels, centre; sizes 0: it is not said */
};

/* Sizes and classes alone. */
static bool has_arrays(mat_t *mat, struct found *out)
{
    bool p = false, b = false, g = false;
    matvar_t *v;

    while ((v = fbp_mat_next(mat))) {
        const char *name = v->name ? v->name : "";
        if (strcmp(name, "P") == 0 && (v->rank == 2 || v->rank == 3)) {
            p = true;
            *out = (struct found){.n_samples = v->dims[0],
                                  .n_delays = v->rank == 3 ? v->dims[1] : 1,
                                  .n_views = v->dims[v->rank - 1],
                                  .complex = v->isComplex};
        }
        b |= strcmp(name, "B") == 0;
        g |= strcmp(name, "G") == 0 && v->rank == 2 && v->dims[1] == 3;
        Mat_VarFree(v);
    }
    fbp_mat_rewind(mat);
    return p && b && g;
}

static fbp_status read_list(const char *path, mat_t *mat, const char *name, double **out, size_t *n)
{
    matvar_t *v = fbp_mat_read(mat, name);
    fbp_status st = FBP_OK;

    *out = NULL;
    if (v && v->isComplex)
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s is complex: save its real part", path, name);
    if (st == FBP_OK)
        st = fbp_mat_numbers(path, name, v, out, n);
    for (size_t i = 0; st == FBP_OK && i < *n; i++)
        if (!isfinite((*out)[i]))
            st = fbp_fail(FBP_ERR_INVALID, "%s: %s: number %zu is not finite: correct it", path,
                          name, i);
    Mat_VarFree(v);
    return st;
}

/* What this program has written beside them. */
static fbp_status read_more(const char *path, mat_t *mat, struct found *f)
{
    static const char *const names[] = {EPRIT_SIZE, EPRIT_VOXEL, EPRIT_CENTRE};

    fbp_mat_text(mat, EPRIT_UNIT, f->unit, sizeof f->unit);
    bool there = true;
    for (int i = 0; i < 3 && there; i++)
        there = fbp_mat_doubles(mat, names[i], f->volume[i], 3);
    if (!there)
        memset(f->volume, 0, sizeof f->volume);
    if (!f->unit[0] || strcmp(f->unit, EPRIT_MHZ) == 0)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: %s is \"%s\": B is read in %s: convert it", path,
                    EPRIT_UNIT, f->unit, EPRIT_MHZ);
}

/* In a child. */
static fbp_status find_scan(void *arg, struct fbp_blob *reply)
{
    const char *path = arg;
    double *b = NULL, *g = NULL;
    struct found f = {0};
    fbp_status st;
    mat_t *mat;

    FBP_TRY(fbp_mat_open(path, &mat));
    if (!has_arrays(mat, &f))
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID,
                              "%s: has no arrays P [samples x delays x projections], B and G "
                              "[projections x 3]: name its arrays in a scan file (docs/epr.md)",
                              path));
    FBP_TRY_GOTO(read_more(path, mat, &f));
    FBP_TRY_GOTO(read_list(path, mat, "B", &b, &f.n_b));
    FBP_TRY_GOTO(read_list(path, mat, "G", &g, &f.n_g));
    FBP_TRY_GOTO(fbp_blob_put(reply, &f, sizeof f));
    FBP_TRY_GOTO(fbp_blob_put(reply, b, f.n_b * sizeof *b));
    st = fbp_blob_put(reply, g, f.n_g * sizeof *g);
fail:
    free(b);
    free(g);
    Mat_Close(mat);
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

/* Frequencies over the gradient are places. */
static fbp_status make_views(struct fbp_scan *out, const char *path, const struct found *f,
                             const double *g, const struct fbp_axis *axis)
{
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
                       const struct fbp_geometry_known *known, const struct fbp_blob *reply)
{
    double *b = NULL, *g = NULL;
    struct fbp_axis axis;
    struct found f;
    size_t at = 0;
    fbp_status st;

    if (!fbp_blob_take(reply, &at, &f, sizeof f))
        return fbp_fail(FBP_ERR_IO, "%s: its description did not come back", path);
    FBP_TRY(check_sizes(path, &f));
    FBP_TRY_GOTO(fbp_calloc((void **)&b, f.n_b, sizeof *b, "an axis"));
    FBP_TRY_GOTO(fbp_calloc((void **)&g, f.n_g, sizeof *g, "gradients"));
    (void)!fbp_blob_take(reply, &at, b, f.n_b * sizeof *b);
    (void)!fbp_blob_take(reply, &at, g, f.n_g * sizeof *g);
    FBP_TRY_GOTO(fbp_preparation_copy(&out->preparation, known->preparation));
    if (out->preparation)
        out->preparation->n_samples = f.n_samples;
    FBP_TRY_GOTO(read_axis(out, path, b, f.n_b, &axis));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, f.n_views));
    out->kind = FBP_PLANES;
    out->panel = (struct fbp_panel){axis.n, f.n_delays};
    FBP_TRY_GOTO(make_views(out, path, &f, g, &axis));
    out->projections = fbp_format("%s:P?spectra", path);
    if (!out->projections)
        FBP_TRY_GOTO(fbp_fail_nomem(strlen(path), "a path"));
    take_volume(out, &f);
    st = note(out, path, f.unit);
fail:
    free(b);
    free(g);
    return st;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_blob reply = {0};
    fbp_status st = fbp_mat_ask(path, find_scan, &reply);

    if (st == FBP_OK)
        st = take(out, path, known, &reply);
    free(reply.bytes);
    return st;
}

static fbp_status is_one(void *arg, struct fbp_blob *reply)
{
    struct found f = {0};
    mat_t *mat;

    FBP_TRY(fbp_mat_open_to_look(arg, &mat));
    const bool found = has_arrays(mat, &f);
    Mat_Close(mat);
    return fbp_blob_put(reply, &found, sizeof found);
}

/* Other programs keep geometries in MAT files, too: only the arrays tell. */
static fbp_status look_inside(const char *path, const unsigned char *head, size_t n, bool *is)
{
    return fbp_mat_look(path, head, n, is_one, is);
}

const struct fbp_geometry_format fbp_geometry_eprit = {
    .name = "eprit",
    .about = "MAT file of an EPR image: P, B and G",
    .extensions = ".mat",
    .look = look_inside,
    .load = load,
};
