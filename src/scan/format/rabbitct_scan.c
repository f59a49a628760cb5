/* A RabbitCT data set as a scan. */
#include "array/format/rabbitct.h"
#include "scan/file/geometry_format.h"

#include "base/base.h"
#include "base/text.h"
#include "scan/file/scan_notes.h"

#include <math.h>
#include <string.h>

/* Of the scanner; it is not in the file, and no value depends on it.  Of other panels the width is
 * taken to be the scanner's. */
static const double WIDTH_MM = 1248 * 0.308;

enum { SIDE_MM = 256, DEFAULT_SIZE = 512 };

static fbp_status views_of(struct fbp_scan *scan, const double *matrices)
{
    const double pitch = WIDTH_MM / (double)scan->panel.n_columns;

    FBP_TRY(fbp_calloc((void **)&scan->views, scan->n_views, sizeof *scan->views, "views"));
    FBP_TRY(fbp_calloc((void **)&scan->depths, scan->n_views, sizeof *scan->depths, "depths"));
    for (size_t k = 0; k < scan->n_views; k++) {
        const double *P = matrices + 12 * k;
        if (fbp_view_from_matrix(P, pitch, &scan->panel, &scan->views[k]) != FBP_OK) {
            fbp_message_clear();
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: the matrix of view %zu is that of no camera before the origin: "
                            "the file is damaged, copy it again",
                            scan->path, k);
        }
        scan->depths[k] = fabs(P[11]);
    }
    return FBP_OK;
}

fbp_status fbp_rabbitct_load(struct fbp_scan *out, const char *path)
{
    const double voxel = (double)SIDE_MM / DEFAULT_SIZE;
    struct fbp_rabbitct_info info;
    double *matrices = NULL;
    fbp_status st;

    *out = (struct fbp_scan){.struct_size = sizeof *out};
    FBP_TRY(fbp_rabbitct_probe(path, &info));
    FBP_TRY_GOTO(fbp_rabbitct_matrices(path, &matrices, &out->n_views));
    out->path = fbp_strdup(path);
    out->projections = fbp_strdup(path);
    if (!out->path || !out->projections) {
        st = fbp_fail_nomem(strlen(path), "a path");
        goto fail;
    }
    out->kind = FBP_CONE;
    out->panel = (struct fbp_panel){info.n_columns, info.n_rows};
    out->row_order = FBP_ROWS_BOTTOM_UP;
    out->filtered = true;
    out->volume = (struct fbp_grid){.n = {DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE},
                                    .voxel_mm = {voxel, voxel, voxel}};
    FBP_TRY_GOTO(views_of(out, matrices));
fail:
    free(matrices);
    if (st != FBP_OK)
        fbp_scan_free(out);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)head;
    (void)n;
    return fbp_rabbitct_named(path); /* there is no magic number */
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    (void)known;
    return fbp_rabbitct_load(out, path);
}

const struct fbp_geometry_format fbp_geometry_rabbitct = {
    .name = "rabbitct",
    .about = "RabbitCT's data sets",
    .extensions = ".rctd .rct",
    .detect = detect,
    .load = load,
};
