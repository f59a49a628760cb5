/* 3x4 matrices in plain text, one row of 12 numbers a view. */
#include "scan/file/geometry_format.h"

#include "scan/file/scan_write.h"

#include <math.h>
#include <stdlib.h>

/* (c, r) + (0.5, 0.5) became (c, r): pixel centres at whole numbers, as everywhere in here. */
static void shift_to_centre(double P[12])
{
    for (int i = 0; i < 4; i++) {
        P[i] -= 0.5 * P[8 + i];
        P[4 + i] -= 0.5 * P[8 + i];
    }
}

static fbp_status views_of(struct fbp_scan *out, const char *path,
                           const struct fbp_geometry_known *known, double *matrices, size_t n)
{
    double pitch[2];

    FBP_TRY(fbp_geometry_need_panel(path, known, &out->panel));
    FBP_TRY(fbp_geometry_need_pitch(path, known, pitch));
    FBP_TRY(fbp_geometry_make_views(out, path, known, n));
    for (size_t k = 0; k < n; k++) {
        double *P = matrices + 12 * k;
        if (known->corner)
            shift_to_centre(P);
        if (fbp_view_from_matrix(P, pitch[0], &out->panel, &out->views[k]) != FBP_OK) {
            fbp_message_clear();
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: matrix %zu is that of no camera before the origin: correct it",
                            path, k);
        }
    }
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    double *matrices = NULL;
    size_t n = 0;

    FBP_TRY(fbp_matrices_load(path, &matrices, &n));
    out->kind = FBP_CONE;
    const fbp_status st = views_of(out, path, known, matrices, n);
    free(matrices);
    return st;
}

static fbp_status put_views(struct fbp_writer *w, const struct fbp_scan *scan)
{
    double P[12];

    fprintf(w->f,
            "# (c, r, 1) w = P (x, y, z, 1), row by row, one line a view; mm, whole numbers at "
            "pixel centres\n# %zu x %zu pixels, ",
            scan->panel.n_columns, scan->panel.n_rows);
    fbp_put_number(w, sqrt(scan->views[0].u[0] * scan->views[0].u[0] +
                           scan->views[0].u[1] * scan->views[0].u[1] +
                           scan->views[0].u[2] * scan->views[0].u[2]));
    fputs(" mm apart along rows\n", w->f);
    for (size_t k = 0; k < scan->n_views; k++) {
        FBP_TRY(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        for (int i = 0; i < 12; i++) {
            fputs(i ? " " : "", w->f);
            fbp_put_number(w, P[i]);
        }
        fputc('\n', w->f);
    }
    return FBP_OK;
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    struct fbp_writer w;

    FBP_TRY(fbp_writer_open(&w, path));
    const fbp_status st = put_views(&w, scan);
    return fbp_writer_close(&w, st);
}

const struct fbp_geometry_format fbp_geometry_matrices = {
    .name = "matrices",
    .about = "3x4 matrices, 12 numbers a view",
    .extensions = ".txt",
    .load = load,
    .save = save,
    .saves = FBP_KIND_BIT(FBP_CONE),
    .instead = {[FBP_PARALLEL] =
                    "3x4 matrices need a source, a parallel beam has none: write a scan file"},
};
