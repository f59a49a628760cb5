/* Importer and exporter of 3x4 projection matrices as plain text with 12 numbers per view
 * (fbp_geometry_matrices); importer of RabbitCT's data sets (fbp_geometry_rabbitct,
 * fbp_rabbitct_load(); Rohkohl et al. 2009), which contain matrices and filtered projections.
 * Used by: bench/rabbitct/make.c, scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/format/rabbitct.h"
#include "base/math.h"
#include "base/text.h"
#include "scan/file/text.h"

#include <string.h>

/* Width of the panel of RabbitCT's scanner, which RabbitCT files do not contain.  It is assumed for
 * any number of columns, because the volume does not depend on it. */
static const double RABBITCT_WIDTH_MM = 1248 * 0.308;

enum { RABBITCT_SIDE_MM = 256, RABBITCT_SIZE = 512 };

static fbp_status load_text(struct fbp_scan *out, const char *path,
                            const struct fbp_geometry_known *known)
{
    double *matrices = NULL, pitch[2];
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_matrices_load(path, &matrices, &n));
    FBP_TRY_GOTO(fbp_geometry_need_panel(path, known, &out->panel));
    FBP_TRY_GOTO(fbp_geometry_need_pitch(path, known, pitch));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, n));
    for (size_t k = 0; k < n; k++) {
        double *P = matrices + 12 * k;
        if (known->corner)
            fbp_matrix_from_corner(P);
        if (fbp_view_from_matrix(P, pitch[0], &out->panel, &out->views[k]) != FBP_OK) {
            fbp_message_clear();
            FBP_TRY_GOTO(FBP_INVALID(
                "%s: matrix %zu has no source, or the origin is at depth 0, beside the source; "
                "correct it",
                path, k));
        }
    }
fail:
    free(matrices);
    return st;
}

static fbp_status save_text(const struct fbp_scan *scan, const char *path)
{
    struct fbp_writer w;
    double P[12];
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_writer_open(&w, path));
    fprintf(w.f,
            "# (c, r, 1) w = P (x, y, z, 1), row by row, one line per view; mm, whole numbers at "
            "pixel centres\n# %zu x %zu pixels, ",
            scan->panel.n_columns, scan->panel.n_rows);
    fbp_put_number(&w, fbp_norm(scan->views[0].u));
    fputs(" mm apart along rows\n", w.f);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++) {
        st = fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P);
        for (int i = 0; st == FBP_OK && i < 12; i++) {
            fputs(i ? " " : "", w.f);
            fbp_put_number(&w, P[i]);
        }
        fputc('\n', w.f);
    }
    return fbp_writer_close(&w, st);
}

const struct fbp_geometry_format fbp_geometry_matrices = {
    .name = "matrices",
    .about = "3x4 matrices, 12 numbers per view",
    .extensions = ".txt",
    .load = load_text,
    .save = save_text,
    .saves = FBP_KIND_BIT(FBP_CONE),
    .instead = {[FBP_PARALLEL] =
                    "3x4 matrices need a source, but a parallel beam has none; write a scan file"},
};

fbp_status fbp_rabbitct_load(struct fbp_scan *out, const char *path)
{
    const double voxel = (double)RABBITCT_SIDE_MM / RABBITCT_SIZE;
    struct fbp_rabbitct_info info;
    double *matrices = NULL;
    fbp_status st;

    *out = (struct fbp_scan){.struct_size = sizeof *out};
    FBP_TRY(fbp_rabbitct_probe(path, &info));
    FBP_TRY_GOTO(fbp_rabbitct_matrices(path, &matrices, &out->n_views));
    out->path = fbp_strdup(path);
    out->projections = fbp_strdup(path);
    if (!out->path || !out->projections)
        FBP_TRY_GOTO(fbp_fail_nomem(strlen(path), "a path"));
    out->kind = FBP_CONE;
    out->panel = (struct fbp_panel){info.n_columns, info.n_rows};
    out->row_order = FBP_ROWS_BOTTOM_UP;
    out->filtered = true;
    out->volume = (struct fbp_grid){.n = {RABBITCT_SIZE, RABBITCT_SIZE, RABBITCT_SIZE},
                                    .voxel_mm = {voxel, voxel, voxel}};
    FBP_TRY_GOTO(fbp_calloc((void **)&out->views, out->n_views, sizeof *out->views, "views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->depths, out->n_views, sizeof *out->depths, "depths"));
    const double pitch = RABBITCT_WIDTH_MM / (double)out->panel.n_columns;
    for (size_t k = 0; k < out->n_views; k++) {
        const double *P = matrices + 12 * k;
        if (fbp_view_from_matrix(P, pitch, &out->panel, &out->views[k]) != FBP_OK) {
            fbp_message_clear();
            FBP_TRY_GOTO(
                FBP_INVALID("%s: the matrix of view %zu has no source, or the origin is at depth "
                            "0, beside the source; the file is damaged, copy it again",
                            out->path, k));
        }
        out->depths[k] = fabs(P[11]);
    }
fail:
    free(matrices);
    if (st != FBP_OK)
        fbp_scan_free(out);
    return st;
}

static bool detect_rabbitct(const char *path, const unsigned char *head, size_t n)
{
    (void)head, (void)n;
    return fbp_rabbitct_named(path); /* there is no magic number */
}

static fbp_status load_rabbitct(struct fbp_scan *out, const char *path,
                                const struct fbp_geometry_known *known)
{
    (void)known;
    return fbp_rabbitct_load(out, path);
}

const struct fbp_geometry_format fbp_geometry_rabbitct = {
    .name = "rabbitct",
    .about = "RabbitCT's data sets",
    .extensions = ".rctd .rct",
    .detect = detect_rabbitct,
    .load = load_rabbitct,
};
